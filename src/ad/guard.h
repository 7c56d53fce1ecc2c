/* Conditions as bounds of a parallel's loop variables. */
#ifndef RG_AD_GUARD_H
#define RG_AD_GUARD_H

#include "ir/ir.h"
#include "ir/poly.h"

enum {
    RG_NEST_RANGES = 3,
    RG_GUARD_REACH = 64 /* iterations from a range's end that a condition may tell apart */
};
#define RG_NO_BOUND INT64_MAX

/* A parallel. */
typedef struct rg_nest {
    const rg_fn *f;
    rg_iid p;
    rg_rid body;
    uint32_t ranges;
    rg_poly lo[RG_NEST_RANGES], hi[RG_NEST_RANGES];
} rg_nest;

rg_nest rg_nest_of(const rg_fn *f, rg_iid parallel);
/* Is v the variable of a range? */
bool rg_nest_variable(const rg_nest *s, rg_val v, uint32_t *range);

/* Iterations of one range: lo + from <= i < hi - to, and i < lo + below, i >= hi - above where
 * these are not RG_NO_BOUND. */
typedef struct rg_reach {
    int64_t from, to, below, above;
} rg_reach;

/* A bool that says where the iteration lies: i >= lo + by, or with `high` i < hi - by; `negated`:
 * the opposite. by >= 0. */
typedef struct rg_fact {
    uint32_t range;
    bool high, negated;
    int64_t by;
} rg_fact;

/* Of a value of the parallel's body; false: it is none, or not known to be one. */
bool rg_guard_fact(const rg_nest *s, rg_val v, rg_fact *out);
/* Narrows reach[ranges] to where c is `truth`, as far as that is understood; true: that is all that
 * c says. */
bool rg_guard_assume(const rg_nest *s, rg_val c, bool truth, rg_reach *reach);
/* What the fact is wherever the iteration lies within `reach`; false: it depends. */
bool rg_guard_known(const rg_fact *x, const rg_reach *reach, bool *out);

#endif
