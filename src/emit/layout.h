/* Layout of the argument block: the same on all devices, once per kernel variant.
 *
 * In the order of the parameters: for an array parameter one 64-bit pointer for its data and one
 * for each shadow (gradient, tangent, tangent of the gradient) that the variant has, then its
 * extents as i64 (all axes); for a by-value parameter its value (aligned to 8), then one pointer
 * for each shadow. Everything is 8-byte aligned. */
#ifndef RG_EMIT_LAYOUT_H
#define RG_EMIT_LAYOUT_H

#include "ir/ir.h"

typedef struct rg_layout {
    uint32_t size;           /* bytes */
    uint32_t *array_pointer; /* [fn.arrays.n] offset of the pointer; UINT32_MAX: a local */
    uint32_t *param_extents; /* [fn.params.n] offset of the first extent; UINT32_MAX: by value */
    uint32_t *param_value;   /* [fn.params.n] offset of the value; UINT32_MAX: an array */
} rg_layout;

rg_layout *rg_layout_make(rg_arena *a, const rg_fn *f);

#endif
