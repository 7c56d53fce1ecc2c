/* The beginning that tangent and adjoint share: a function with the primal's parameters. */
#ifndef RG_AD_START_H
#define RG_AD_START_H

#include "ir/ir.h"

/* Parameters, scalars and arrays of f at the same indices; an empty body. Arrays' extents still
 * name f's values: rg_ad_map_extents moves them once the body's values are known. */
enum { RG_MAX_AXES = 16 }; /* axes of an array, as the front-end allows */

rg_fn *rg_ad_start(rg_arena *a, const rg_fn *f, rg_mode mode);
void rg_ad_map_extents(rg_fn *g, const rg_fn *f, const rg_val *map);
/* rg_b_rmw whose result nobody wants. */
void rg_ad_rmw(rg_fn *g, rg_val result);
/* Adds the shadow of parameter p: same shape as its data ([1] for a by-value parameter). one: an
 * i64 constant 1 in g's entry region. */
rg_aid rg_ad_shadow(rg_fn *g, uint32_t p, uint32_t shadow, rg_val one);

#endif
