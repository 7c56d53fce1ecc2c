/* Model: one kernel of a build by the C compiler, with the binding's values in that build's own
 * layout; evaluated, and differentiated by differences. */
#ifndef RG_CLI_CHECK_MODEL_H
#define RG_CLI_CHECK_MODEL_H

#include "check_build.h"

typedef struct rg_model_param {
    size_t item_size;
    size_t *offsets;       /* [layout.n] */
    size_t n_floats;       /* float scalars of an element */
    size_t *floats;        /* [n_floats] their field indices */
    unsigned char *base;   /* values before the launch */
    unsigned char *out[3]; /* after it: at the point, and at two points around it */
} rg_model_param;

typedef struct rg_model {
    const rg_check_build *build;
    const rg_cli_binding *binding;
    rg_check_call call;
    rg_model_param *params;
    void **args;
} rg_model;

bool rg_model_new(const rg_check_build *build, const rg_cli_binding *b, rg_model *out);
void rg_model_free(rg_model *m);

/* Float scalars of parameter i: count * n_floats, in memory order. */
size_t rg_model_floats(const rg_model *m, size_t i);
/* Copies the binding's data in. */
void rg_model_load(rg_model *m);
/* Runs once in a child process. NULL when that went well, else what happened. */
const char *rg_model_probe(rg_model *m);
/* Runs at the point, into out[0]; rg_stop's values are kept. */
void rg_model_run(rg_model *m);
/* Field f of element e of parameter i after rg_model_run. */
double rg_model_get(const rg_model *m, size_t i, size_t e, size_t f);
int64_t rg_model_get_int(const rg_model *m, size_t i, size_t e, size_t f);

typedef struct rg_model_slope {
    double value;       /* derivative of the weighted sum of all outputs */
    double error;       /* its estimated error */
    double steepest;    /* no slope above this could have been seen with the smallest step */
    double left, right; /* one-sided slopes at the smallest step */
    bool kink;          /* they differ for good */
    bool finite;
} rg_model_slope;

/* weights[j]: [rg_model_floats(j)] for array parameters, NULL: zeros. direction:
 * [rg_model_floats(i)]. Wants rg_model_run before. */
rg_model_slope rg_model_derivative(rg_model *m, size_t i, const double *direction,
                                   const double *const *weights);

#endif
