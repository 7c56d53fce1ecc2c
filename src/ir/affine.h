/* Affine views of index expressions, and what they prove about accesses. */
#ifndef RG_IR_AFFINE_H
#define RG_IR_AFFINE_H

#include "ir/ir.h"

/* value = constant + sum of coef[k] * term[k]; terms are SSA values that are not affine themselves
 * (loop variables, scalars, loads ...), sorted by value id, each once, coef non-zero. 64-bit
 * arithmetic: the caller's index does not wrap (signed), unsigned that may wrap is a term. */
enum { RG_AFFINE_MAX = 8 };
typedef struct rg_affine {
    int64_t constant;
    uint32_t n;
    rg_val term[RG_AFFINE_MAX];
    int64_t coef[RG_AFFINE_MAX];
    bool ok; /* false: more terms than fit, or overflow */
} rg_affine;

rg_affine rg_affine_of(const rg_fn *f, rg_val v);
/* b - a is this constant? */
bool rg_affine_difference(const rg_affine *a, const rg_affine *b, int64_t *out);
/* Can two accesses of the same array (instructions a and b: load, store, addto, rmw) be proven to
 * touch different memory in whatever iterations of the loops around them? */
bool rg_access_disjoint(const rg_fn *f, rg_iid a, rg_iid b);
/* Do different iterations of the loops (for, loop, parallel) between region `scope` (exclusive)
 * and the access touch different elements? */
bool rg_access_injective(const rg_fn *f, rg_iid access, rg_rid scope);
/* Do the accesses a and b (to arrays of the same shape, maybe one) touch the same element only
 * when the iteration of `parallel` p they are in is the same one? */
bool rg_access_same_iteration(const rg_fn *f, rg_iid a, rg_iid b, rg_iid p);
/* Is v the same in all iterations of the region: defined outside, or made of such by pure ops, of
 * which *steps at most are looked through? */
bool rg_val_invariant(const rg_fn *f, rg_val v, rg_rid region, int *steps);
/* Same element for all iterations of p? */
bool rg_access_uniform(const rg_fn *f, rg_iid access, rg_iid p);

/* Is each element of array a done with being written before any load of it (for a local: in the
 * life of one alloc)? Then it can be read again as f left it. On false, conflict[0] is a load (or
 * an rmw whose result is used) and conflict[1] a write that may come after it, or unordered with
 * it, to the same element. Elements that are never written may be read at any time, and writes
 * alone (also two to one element, in any order) are no conflict. */
bool rg_array_once(const rg_fn *f, rg_aid a, rg_iid conflict[2]);

#endif
