/* What the parts of the rewriter share: the sections of the new module as they grow. */
#ifndef RG_EMIT_SPIRV_REPAIR_WRITE_H
#define RG_EMIT_SPIRV_REPAIR_WRITE_H

#include "emit/spirv/repair.h"

typedef RG_VEC(uint32_t) rg_words;

/* A compare-and-swap loop, by what its atomics say and how it finds its place: by a physical
 * pointer that is handed over (variable 0), or in a variable, by members and by
 * indices that are handed over. */
typedef struct rg_adder {
    uint32_t id, f32, scope, semantics;
    uint32_t variable, storage, n;
    const uint32_t *index; /* [n] constants that choose members, 0: handed over */
    const uint32_t *type;  /* [n] of those handed over */
} rg_adder;

typedef struct rg_writer {
    rg_arena *arena;
    const rg_repair *r;
    const rg_code *m;
    rg_words out, decorations, types, helpers;
    uint32_t bound;
    uint32_t *own;          /* [insts] first id that the rewriting of an instruction owns */
    uint32_t *helper_of;    /* [insts] function that a float atomic becomes a call of */
    uint32_t *wide_of;      /* [old bound] variable that keeps a narrow value widened */
    bool *reads_wide;       /* [insts] an operand is such a value */
    rg_words *variables;    /* [functions] */
    uint32_t *function_ptr; /* [old bound] Function pointer to a type; 0: none yet */
    bool *stride;           /* [old bound] pointer types given an ArrayStride */
    uint32_t *mirror;       /* [old bound] the type with unsigned numbers for floats; 0: not yet */
    uint32_t *view;         /* [old bound] a buffer's second variable, of unsigned numbers */
    bool *held;             /* [old bound] declared after all others */
    bool *dropped;          /* [insts] not copied: said otherwise, or elsewhere */
    uint32_t *decorated_at, *decorated; /* decorations of id x: decorated[decorated_at[x] ..) */
    uint32_t u32, boolean, zero, physical_u32, function_u32;
    RG_VEC(rg_adder) made;
    RG_VEC(uint32_t) declared; /* where in types each of them begins */
} rg_writer;

void rg_writer_put(rg_writer *w, rg_words *to, uint32_t word);
void rg_writer_emit(rg_writer *w, rg_words *to, uint32_t op, const uint32_t *operand, uint32_t n);
#define RG_EMIT(w, to, op, ...)                                                                    \
    rg_writer_emit((w), (to), (op), (const uint32_t[]){__VA_ARGS__},                               \
                   (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))
/* A type with these operands: the module's own, or one declared. */
uint32_t rg_writer_declare(rg_writer *w, uint32_t op, const uint32_t *operand, uint32_t n);
#define RG_DECLARE(w, op, ...)                                                                     \
    rg_writer_declare((w), (op), (const uint32_t[]){__VA_ARGS__},                                  \
                      (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))
/* Puts a decoration, instruction k, again for another id. */
void rg_writer_decorate_too(rg_writer *w, uint32_t k, uint32_t to);
uint32_t rg_writer_u32(rg_writer *w);
uint32_t rg_writer_zero(rg_writer *w);
uint32_t rg_writer_function_pointer(rg_writer *w, uint32_t type);

/* The same type with unsigned numbers where it has 32-bit floats, outside of matrices; the type
 * itself when it has none. */
uint32_t rg_writer_mirror(rg_writer *w, uint32_t type);
/* Declares a workgroup variable again, as one of unsigned numbers. */
void rg_writer_retype(rg_writer *w, uint32_t variable);
/* The function that adds in place of float atomic k; made when there is none yet. */
uint32_t rg_writer_adder(rg_writer *w, uint32_t k);
/* The call of it in place of the atomic. */
void rg_writer_call_adder(rg_writer *w, uint32_t k, uint32_t physical);

#endif
