/* Which arrays of an adjoint are the same gradient memory, and what happens to it in a region. */
#ifndef RG_AD_GRADMEM_H
#define RG_AD_GRADMEM_H

#include "ir/ir.h"

/* Are a and b one array, or the data, or the shadows, of parameters bound to one array? */
bool rg_grad_same(const rg_fn *f, const rg_activity *act, rg_aid a, rg_aid b);

typedef RG_VEC(rg_iid) rg_iids;

/* Appends every load, store, addto, rmw and copy in region r and below that touches the memory of
 * array a. */
void rg_grad_accesses(const rg_fn *f, const rg_activity *act, rg_rid r, rg_aid a, rg_arena *scratch,
                      rg_iids *out);
/* The array that access i names of the memory of a (a copy names two). */
rg_aid rg_grad_array(const rg_fn *f, const rg_activity *act, rg_iid i, rg_aid a);
/* May a and b (accesses to the memory of one gradient) touch one element, in different iterations
 * of `loop` if it is given, else in one run of region `shared`? */
bool rg_grad_may_meet(const rg_fn *f, const rg_activity *act, rg_iid a, rg_iid b, rg_rid shared,
                      rg_iid loop);

/* The same element of the same array, by the same values or constants. */
bool rg_grad_same_index(const rg_fn *f, rg_iid a, rg_iid b);
bool rg_grad_same_value(const rg_fn *f, rg_val a, rg_val b);

/* Is v the same for every iteration of the region: defined outside, or pure ops of such? */
bool rg_grad_invariant(const rg_fn *f, rg_val v, rg_rid region);

#endif
