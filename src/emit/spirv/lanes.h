/* Several iterations of a parallel loop in step.
 *
 * A graphics card reaches its memory's bandwidth only with many loads under way, more than one
 * for each thread that it can hold; and what a thread loads waits behind its stores when the
 * compiler cannot know that they differ. So an invocation takes up to four iterations of a simple
 * body at once, its lanes: each instruction is printed for all of them before the next, and the
 * loads that may come first do. Iterations of a parallel loop are independent, so any order is
 * right. */
#ifndef RG_EMIT_SPIRV_LANES_H
#define RG_EMIT_SPIRV_LANES_H

#include "emit/spirv/function.h"

/* What the values of the function are called in one lane. */
typedef struct rg_spv_lane {
    uint32_t *id, *low;
} rg_spv_lane;

rg_spv_lane *rg_spv_lanes_new(rg_spv_fn *c, uint32_t n);
/* What is printed between the two is for this lane. */
void rg_spv_lane_enter(rg_spv_fn *c, const rg_spv_lane *l);
void rg_spv_lane_leave(rg_spv_fn *c);
/* The instructions of region r, for n lanes. */
void rg_spv_lanes_region(rg_spv_fn *c, rg_rid r, const rg_spv_lane *lane, uint32_t n);

#endif
