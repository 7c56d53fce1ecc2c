/* VALUE: a number, a list of numbers, a .npy file, or a generator (docs/cli.md). */
#ifndef RG_CLI_VALUES_H
#define RG_CLI_VALUES_H

#include "npy.h"
#include "retrograd.h"

typedef enum rg_cli_value_kind {
    RG_VALUE_NUMBER,
    RG_VALUE_LIST, /* 1,2.5,3 */
    RG_VALUE_NPY,
    RG_VALUE_ZEROS,
    RG_VALUE_ONES,
    RG_VALUE_IOTA,
    RG_VALUE_FULL,
    RG_VALUE_RAND,
    RG_VALUE_RANDN
} rg_cli_value_kind;

typedef struct rg_cli_value {
    rg_cli_value_kind kind;
    const char *text;     /* as given */
    const char **numbers; /* NUMBER, FULL: one; LIST: all */
    size_t n_numbers;
    bool has_seed, has_shape;
    uint64_t seed;
    size_t rank;
    int64_t shape[RG_NPY_MAX_RANK];
    rg_npy npy; /* NPY: read by rg_cli_value_load */
} rg_cli_value;

/* NULL when fine, else what is wrong with the text. */
const char *rg_cli_value_parse(const char *text, rg_cli_value *out);
/* NPY: reads the file, sets the shape. Others: nothing. NULL when fine. */
const char *rg_cli_value_load(rg_cli_value *v);
void rg_cli_value_free(rg_cli_value *v);

/* Where the scalars of an element are. */
typedef struct rg_cli_layout {
    size_t item_size;
    size_t n; /* scalars of an element */
    const rg_field_info *fields;
    rg_dtype dtype; /* of all scalars; RG_DTYPE_STRUCT when they differ */
} rg_cli_layout;

/* Fills count elements at `to` (zeroed before). `salt` sets apart arrays that are drawn with no
 * seed of their own. floats_only: other scalars stay zero (gradients). NULL when fine. */
const char *rg_cli_value_fill(const rg_cli_value *v, const rg_cli_layout *l, size_t count,
                              const char *salt, bool floats_only, void *to);

/* "[2,3]" */
const char *rg_cli_shape_text(size_t rank, const int64_t *shape);

#endif
