/* Control flow of SPIR-V: which block dominates which, and the nest of structured loops. */
#ifndef RG_EMIT_SPIRV_REPAIR_FLOW_H
#define RG_EMIT_SPIRV_REPAIR_FLOW_H

#include "emit/spirv/module_read.h"

typedef struct rg_flow {
    const rg_code *code;
    uint32_t *idom;          /* [blocks] immediate dominator; RG_CODE_NONE: entry, or unreachable */
    uint32_t *enter, *leave; /* [blocks] numbering of the dominator tree; enter 0: unreachable */
    uint32_t *loop;          /* [blocks] header of the innermost loop around, RG_CODE_NONE */
} rg_flow;

rg_flow *rg_flow_new(rg_arena *a, const rg_code *m);
bool rg_flow_reachable(const rg_flow *f, uint32_t block);
bool rg_flow_dominates(const rg_flow *f, uint32_t above, uint32_t below);
/* A loop contains `use` but not `def`, which dominates it. */
bool rg_flow_enters_loop(const rg_flow *f, uint32_t def, uint32_t use);

#endif
