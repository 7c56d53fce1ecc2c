/* Binding: from NAME=VALUE to the arguments of a kernel: extents are solved for, shapes checked,
 * buffers filled. The steps are separate because `check` draws what is not given in between. */
#ifndef RG_CLI_BINDING_H
#define RG_CLI_BINDING_H

#include "args.h"
#include "values.h"

typedef struct rg_cli_param {
    rg_param_info info;
    size_t index;
    rg_cli_layout layout;
    const char *type; /* "float", "vec3" */
    bool is_extent;   /* integer by value that some extent names */
    bool has_value;
    rg_cli_value value;
    bool has_gradient; /* --grad was given, or --dot of a tangent */
    rg_cli_value gradient;
    bool has_direction; /* --dot of a Hessian-vector product */
    rg_cli_value direction;
    bool shape_known; /* arrays; scalars have rank 0 and count 1 */
    int64_t shape[RG_MAX_RANK];
    size_t count;         /* elements */
    void *data;           /* [count], malloc'ed */
    void *seed;           /* [count] incoming gradient or tangent, malloc'ed; NULL: zeros */
    void *direction_seed; /* [count] the same of its direction */
    bool filled;
} rg_cli_param;

typedef struct rg_cli_binding {
    rg_kernel *kernel;
    const char *name;
    size_t n;
    rg_cli_param *params;
} rg_cli_binding;

/* Describes the kernel's parameters. False: reported. */
bool rg_cli_binding_new(rg_kernel *k, rg_context *ctx, rg_cli_binding *out);
void rg_cli_binding_free(rg_cli_binding *b);
/* NULL when there is none. */
rg_cli_param *rg_cli_binding_find(const rg_cli_binding *b, const char *name);
/* Reports "there is no parameter 'nam': did you mean 'name'?". */
void rg_cli_binding_unknown(const rg_cli_binding *b, const char *name);

/* Each of these reports every problem it meets (rg_cli_problem). */
void rg_cli_binding_assign(rg_cli_binding *b, const rg_cli_pairs *values, bool ignore_unknown);
void rg_cli_binding_gradients(rg_cli_binding *b, const char *option, const rg_cli_pairs *values,
                              bool directions);
/* Reads files, evaluates given scalars, solves extents from the arrays' shapes. */
void rg_cli_binding_solve(rg_cli_binding *b);
/* Parameters that have neither a value nor an extent solved for. */
void rg_cli_binding_missing(const rg_cli_binding *b);
/* Shapes of all arrays from the integers; then data. */
void rg_cli_binding_shapes(rg_cli_binding *b);
void rg_cli_binding_fill(rg_cli_binding *b);

/* All of the above for a complete command line. False: problems were reported. */
bool rg_cli_bind(rg_cli_binding *b, const rg_cli_args *a);

/* Declared shape of an array from the integers known so far; -1 where not known. */
bool rg_cli_binding_declared(const rg_cli_binding *b, const rg_cli_param *p, int64_t *shape);
/* Makes room for count elements (zeroed) and marks the shape. False: too large. */
bool rg_cli_param_resize(rg_cli_param *p, size_t rank, const int64_t *shape);
/* "float [n][3]" for messages. */
const char *rg_cli_param_text(const rg_cli_param *p);
bool rg_cli_param_is_int(const rg_cli_param *p); /* integer or bool, by value */
/* Does the C text of an extent mention this name? */
bool rg_cli_mentions(const char *text, const char *name);

#endif
