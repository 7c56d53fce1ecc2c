/* What `retrograd explain` looks at: a kernel before it was optimised, and its finished adjoint. */
#ifndef RG_COMPILE_EXPLAIN_H
#define RG_COMPILE_EXPLAIN_H

#include "ir/ir.h"

typedef struct rg_access_place {
    rg_loc loc;
    uint16_t op;
    const char *array;
} rg_access_place;

typedef struct rg_early {
    rg_access_place *at;
    uint32_t n, cap;
} rg_early;

/* The loads, stores and updates of f, which is in SSA form and nothing else yet. */
void rg_explain_early(rg_arena *a, const rg_fn *f, rg_early *out);

typedef struct rg_gradients {
    bool *value; /* [values] computed from some gradient */
    bool *array; /* [arrays] a gradient, of a parameter or of a local */
} rg_gradients;

void rg_explain_gradients(rg_arena *a, const rg_fn *g, rg_gradients *out);
/* Does a region hold anything that has to do with gradients? Then it is part of the way back. */
bool rg_explain_goes_back(const rg_fn *g, const rg_gradients *e, rg_rid region);

#endif
