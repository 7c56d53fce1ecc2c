/* What loops of SPIR-V write: a value that was loaded before a loop and is used in it is printed
 * where it is used, by every translator, and so is read anew in each iteration. */
#ifndef RG_EMIT_SPIRV_REPAIR_LOOP_H
#define RG_EMIT_SPIRV_REPAIR_LOOP_H

#include "emit/spirv/repair_flow.h"

/* Kinds of instructions that may change memory. */
enum {
    RG_W_UNTRACED = 1, /* a store through a physical pointer that is traced to nothing */
    RG_W_BUFFER = 2,   /* ... to a storage buffer, or a store to a bound buffer */
    RG_W_CONSTANT = 4, /* ... to a uniform buffer or push constant */
    RG_W_VARIABLE = 8, /* ... to a Function variable */
    RG_W_ATOMIC = 16,
    RG_W_CALL = 32, /* of a function that writes buffers or images, or waits */
    RG_W_BARRIER = 64,
    RG_W_IMAGE = 128,
    RG_W_ALL = 255,
    /* The others matter in loops only. */
    RG_W_PHYSICAL = 256, /* any write through a physical pointer */
    RG_W_ANY_CALL = 512,
    RG_W_GLOBAL = 1024, /* to Workgroup, Private and Output variables */
    RG_W_KINDS = 11     /* how many */
};

typedef struct rg_loops rg_loops;

/* writes: [insts] RG_W_ bits up to RG_W_ALL. */
rg_loops *rg_loops_new(rg_arena *a, const rg_code *m, const rg_flow *flow, const uint8_t *writes);
/* Some loop begins after the block, in what it dominates. */
bool rg_loops_ahead(const rg_loops *l, uint32_t block);
/* What a load outside of loops has to fear in them, by its pointer: kinds, and the variable whose
 * own writes count too (0: none). Both 0: nothing. */
unsigned rg_loops_fear(rg_loops *l, uint32_t load, uint32_t pointer, uint32_t *variable);
/* A write of these kinds, or to the variable, in a loop around block `use` that does not contain
 * block `def`; RG_CODE_NONE: none. */
uint32_t rg_loops_write(rg_loops *l, uint32_t def, uint32_t use, unsigned kinds, uint32_t variable);

#endif
