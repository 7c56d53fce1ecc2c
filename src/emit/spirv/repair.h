/* The repair of SPIR-V for translators to Metal: what they get wrong in a module, and the module
 * rewritten so that they get it right. The public face is in retrograd.h; docs/moltenvk.md has the
 * story. */
#ifndef RG_EMIT_SPIRV_REPAIR_H
#define RG_EMIT_SPIRV_REPAIR_H

#include "emit/spirv/repair_flow.h"
#include "retrograd.h"

/* How an instruction is to be rewritten. */
typedef enum rg_repair_action {
    RG_REPAIR_NONE,
    RG_REPAIR_COPY_LOAD,    /* load -> OpCopyMemory into a Function variable, OpLoad of it */
    RG_REPAIR_PIN,          /* the result goes through a Function variable */
    RG_REPAIR_BASE,         /* PtrAccessChain: the base pointer goes through one */
    RG_REPAIR_ATOMIC,       /* the pointer goes through one, then OpPtrAccessChain 0 */
    RG_REPAIR_FLOAT_ATOMIC, /* a call of a compare-and-swap loop */
    RG_REPAIR_VIEW_ATOMIC,  /* ... that reaches the place through unsigned numbers */
    RG_REPAIR_RETYPE,       /* a pointer into a workgroup variable that becomes unsigned */
    RG_REPAIR_CAST_RESULT,  /* a load from there */
    RG_REPAIR_CAST_VALUE,   /* a store to there, or an exchange */
    RG_REPAIR_WIDEN         /* an 8- or 16-bit load goes through a variable of 32 bits */
} rg_repair_action;

/* A pointer followed to the variable that it leads into, and the indices from there. */
typedef struct rg_repair_path {
    uint32_t variable, storage;
    uint32_t *index, n;
    bool *member; /* [n] the index is that of a struct's member */
} rg_repair_path;
typedef struct rg_repair_places rg_repair_places;

typedef struct rg_repair_finding {
    rg_spirv_fault fault;
    unsigned translators;
    bool fixable;
    uint32_t inst; /* RG_CODE_NONE: the module, or `id` an entry point */
    uint32_t id;
    uint32_t clobber, use; /* instructions, RG_CODE_NONE */
    const char *function;
    const char *text;
} rg_repair_finding;

typedef struct rg_repair {
    rg_arena *arena;
    const rg_code *code;
    unsigned translators; /* those that matter: RG_SPIRV_CROSS_ bits */
    const rg_flow *flow;
    RG_VEC(rg_repair_finding) findings;
    uint8_t *action;  /* [n_insts] rg_repair_action */
    uint32_t actions; /* how many are not NONE */
    bool *retyped;    /* [bound] workgroup variables that become unsigned */
    rg_repair_places *places;
} rg_repair;

rg_repair *rg_repair_check(rg_arena *a, const rg_code *m, unsigned translators);
/* Resources and constructs: part of rg_repair_check. */
void rg_repair_check_module(rg_repair *r);
rg_repair_finding *rg_repair_add(rg_repair *r, rg_spirv_fault fault, uint32_t inst,
                                 unsigned translators);
void rg_repair_act(rg_repair *r, uint32_t inst, rg_repair_action a);

rg_repair_places *rg_repair_places_new(rg_arena *a, const rg_code *m);
/* Why a float atomic there cannot be rewritten: NULL when it can, with the path to it. */
const char *rg_repair_why_not(rg_repair_places *p, uint32_t pointer, rg_repair_path *path);
bool rg_repair_path_to(rg_arena *a, const rg_code *m, uint32_t pointer, rg_repair_path *path);
/* Plans a workgroup variable of floats to become one of unsigned numbers. */
void rg_repair_retype(rg_repair *r, uint32_t variable);
/* The module with the actions carried out; its words in arena memory, in the host's byte order. */
uint32_t *rg_repair_rewrite(const rg_repair *r, uint32_t *n_words);

/* Operand word of an atomic instruction's pointer; 0: op is no atomic. */
uint32_t rg_repair_atomic_pointer(uint32_t op);

#endif
