/* The interpreter: executes a function of any mode directly. Always bounds-checked: it is the
 * device `ref` and the oracle for every pass. */
#ifndef RG_IR_INTERP_H
#define RG_IR_INTERP_H

#include "base/text.h"
#include "ir/ir.h"

/* Memory behind one PARAM or SHADOW array. */
typedef struct rg_interp_array {
    void *data;             /* elements in C layout; NULL only when it has none */
    const int64_t *extents; /* [rank], the argument's real shape */
} rg_interp_array;

typedef struct rg_interp_args {
    const rg_interp_array *arrays; /* [fn.arrays.n], filled for PARAM and SHADOW entries */
    const void *const *scalars;    /* [fn.params.n] the value of each by-value parameter */
    uint64_t max_steps;            /* instructions; 0: no limit */
    bool races;                    /* track accesses of parallel iterations and report races */
    /* Memory for locals, NULL: malloc. Everything is freed before return. */
    const rg_allocator *allocator;
} rg_interp_args;

/* False on a fault (index out of bounds, division by zero, bad shift, uninitialised extent, race,
 * step limit, out of memory): out gets "kernel:line: what, with the values" and *loc its place.
 * Parallel iterations run one after another, in order. */
bool rg_interp(const rg_fn *f, const rg_interp_args *args, rg_text *out, rg_loc *loc);

#endif
