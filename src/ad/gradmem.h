/* Which arrays of an adjoint are the same gradient memory, and what happens to it in a region. */
#ifndef RG_AD_GRADMEM_H
#define RG_AD_GRADMEM_H

#include "ir/ir.h"

/* Are a and b one array, or the data, or the shadows, of parameters bound to one array? */
bool rg_grad_same(const rg_fn *f, const rg_activity *act, rg_aid a, rg_aid b);

typedef RG_VEC(rg_iid) rg_iids;

/* Loads, stores, addto's, rmw's and copies, found by the region they are in or below and the memory
 * they touch. A region is walked once, when it is first asked for; what a caller removes from the
 * function later stays in the lists. */
typedef struct rg_grad_index rg_grad_index;
rg_grad_index *rg_grad_index_new(const rg_fn *f, const rg_activity *act, rg_arena *scratch);
/* Every access in region r and below to the memory of array a, in the order of the text. */
rg_iids rg_grad_accesses(rg_grad_index *x, rg_rid r, rg_aid a);
/* Those among them that do more than add. */
rg_iids rg_grad_others(rg_grad_index *x, rg_rid r, rg_aid a);
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
