/* Reductions of a parallel. */
#ifndef RG_EMIT_SPIRV_REDUCE_H
#define RG_EMIT_SPIRV_REDUCE_H

#include "emit/spirv/function.h"

/* Value that changes nothing. */
uint32_t rg_spv_identity(rg_spv_fn *c, rg_red kind, rg_type t);
/* Combines v of all invocations with the slot. All of a workgroup must come here together. */
void rg_spv_reduce(rg_spv_fn *c, rg_red kind, rg_type t, uint32_t v, uint32_t slot, rg_loc loc);

#endif
