/* The module is copied instruction by instruction; what is to be rewritten is replaced in its
 * place, keeping its result id, so that names, decorations and line information stay attached.
 *
 * A late value goes through a Function variable that is written at once: a copy is a statement for
 * every translator. A pointer that is printed wrongly goes through a variable too, which gives
 * translators a name to print and to trace it back to. A float atomic becomes a call of a
 * compare-and-swap loop, so that no block has to be split. */
#include "emit/spirv/repair.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

typedef RG_VEC(uint32_t) words;

/* A compare-and-swap loop, by what its atomics say. */
typedef struct helper {
    uint32_t id, f32, scope, semantics;
} helper;

typedef struct writer {
    rg_arena *arena;
    const rg_repair *r;
    const rg_code *m;
    words out, decorations, types, helpers;
    uint32_t bound;
    uint32_t *own;          /* [insts] first id that the rewriting of an instruction owns */
    uint32_t *helper_of;    /* [insts] function that a float atomic becomes a call of */
    words *variables;       /* [functions] */
    uint32_t *function_ptr; /* [old bound] Function pointer to a type; 0: none yet */
    bool *stride;           /* [old bound] pointer types given an ArrayStride */
    uint32_t u32, boolean, zero, physical_u32, function_u32, helper_type;
    RG_VEC(helper) made;
} writer;

static void put(writer *w, words *to, uint32_t word) {
    RG_PUSH(w->arena, to, word);
}

static void emit_n(writer *w, words *to, uint32_t op, const uint32_t *operand, uint32_t n) {
    put(w, to, (n + 1) << 16 | op);
    for (uint32_t k = 0; k < n; k++)
        put(w, to, operand[k]);
}

#define EMIT(w, to, op, ...)                                                                       \
    emit_n((w), (to), (op), (const uint32_t[]){__VA_ARGS__},                                       \
           (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))

/* A type or constant of the module with exactly these operands after its result. */
static uint32_t find(const rg_code *m, uint32_t op, const uint32_t *operand, uint32_t n) {
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        const rg_code_inst *i = &m->insts[k];
        if (i->op == op && i->len == n + 2 &&
            (n == 0 || memcmp(&m->words[i->at + 2], operand, n * sizeof *operand) == 0))
            return i->result;
    }
    return 0;
}

static uint32_t declare(writer *w, uint32_t op, const uint32_t *operand, uint32_t n) {
    uint32_t id = find(w->m, op, operand, n);
    if (id)
        return id;
    id = w->bound++;
    put(w, &w->types, (n + 2) << 16 | op);
    put(w, &w->types, id);
    for (uint32_t k = 0; k < n; k++)
        put(w, &w->types, operand[k]);
    return id;
}

#define DECLARE(w, op, ...)                                                                        \
    declare((w), (op), (const uint32_t[]){__VA_ARGS__},                                            \
            (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)))

static uint32_t u32_type(writer *w) {
    if (!w->u32)
        w->u32 = DECLARE(w, SpvOpTypeInt, 32, 0);
    return w->u32;
}

static uint32_t zero(writer *w) {
    if (w->zero)
        return w->zero;
    uint32_t type = u32_type(w);
    for (uint32_t k = w->m->types_at; k < w->m->functions_at; k++)
        if (w->m->insts[k].op == SpvOpConstant && w->m->insts[k].type == type &&
            rg_code_word(w->m, k, 3) == 0)
            return w->zero = w->m->insts[k].result;
    w->zero = w->bound++;
    EMIT(w, &w->types, SpvOpConstant, type, w->zero, 0);
    return w->zero;
}

static uint32_t function_pointer(writer *w, uint32_t type) {
    if (!w->function_ptr[type]) {
        w->function_ptr[type] = w->bound++;
        EMIT(w, &w->types, SpvOpTypePointer, w->function_ptr[type], SpvStorageClassFunction, type);
    }
    return w->function_ptr[type];
}

/* A Function variable of a type in the function around instruction k, with the given id. */
static void variable(writer *w, uint32_t k, uint32_t id, uint32_t type) {
    uint32_t storage, pointee;
    if (rg_code_pointer(w->m, type, &storage, &pointee) &&
        storage == SpvStorageClassPhysicalStorageBuffer)
        EMIT(w, &w->decorations, SpvOpDecorate, id, SpvDecorationAliasedPointer);
    EMIT(w, &w->variables[w->m->blocks[w->m->block_of[k]].function], SpvOpVariable,
         function_pointer(w, type), id, SpvStorageClassFunction);
}

/* OpPtrAccessChain steps by the stride of the pointer's type: a number's size. */
static void need_stride(writer *w, uint32_t pointer_type) {
    uint32_t storage, pointee = 0;
    if ((w->m->marks[pointer_type] & RG_CODE_STRIDE) || w->stride[pointer_type] ||
        !rg_code_pointer(w->m, pointer_type, &storage, &pointee))
        return;
    w->stride[pointer_type] = true;
    uint32_t op = rg_code_def_op(w->m, pointee);
    uint32_t bits =
        op == SpvOpTypeInt || op == SpvOpTypeFloat ? rg_code_word(w->m, w->m->def[pointee], 2) : 32;
    EMIT(w, &w->decorations, SpvOpDecorate, pointer_type, SpvDecorationArrayStride, bits / 8);
}

/* ---- float atomics ---- */

static void write_helper(writer *w, const helper *h) {
    words *to = &w->helpers;
    uint32_t p = w->bound++, v = w->bound++, entry = w->bound++, var = w->bound++,
             first = w->bound++, head = w->bound++, old = w->bound++, old_f = w->bound++,
             sum = w->bound++, sum_u = w->bound++, got = w->bound++, same = w->bound++,
             merge = w->bound++, cont = w->bound++, last = w->bound++, result = w->bound++;
    EMIT(w, &w->decorations, SpvOpDecorate, p, SpvDecorationAliased);
    EMIT(w, to, SpvOpFunction, h->f32, h->id, SpvFunctionControlMaskNone, w->helper_type);
    EMIT(w, to, SpvOpFunctionParameter, w->physical_u32, p);
    EMIT(w, to, SpvOpFunctionParameter, h->f32, v);
    EMIT(w, to, SpvOpLabel, entry);
    EMIT(w, to, SpvOpVariable, w->function_u32, var, SpvStorageClassFunction);
    EMIT(w, to, SpvOpAtomicLoad, w->u32, first, p, h->scope, w->zero);
    EMIT(w, to, SpvOpStore, var, first);
    EMIT(w, to, SpvOpBranch, head);
    EMIT(w, to, SpvOpLabel, head);
    EMIT(w, to, SpvOpLoad, w->u32, old, var);
    EMIT(w, to, SpvOpBitcast, h->f32, old_f, old);
    EMIT(w, to, SpvOpFAdd, h->f32, sum, old_f, v);
    EMIT(w, to, SpvOpBitcast, w->u32, sum_u, sum);
    EMIT(w, to, SpvOpAtomicCompareExchange, w->u32, got, p, h->scope, h->semantics, w->zero, sum_u,
         old);
    EMIT(w, to, SpvOpStore, var, got);
    EMIT(w, to, SpvOpIEqual, w->boolean, same, got, old);
    EMIT(w, to, SpvOpLoopMerge, merge, cont, SpvLoopControlMaskNone);
    EMIT(w, to, SpvOpBranchConditional, same, merge, cont);
    EMIT(w, to, SpvOpLabel, cont);
    EMIT(w, to, SpvOpBranch, head);
    EMIT(w, to, SpvOpLabel, merge);
    EMIT(w, to, SpvOpLoad, w->u32, last, var);
    EMIT(w, to, SpvOpBitcast, h->f32, result, last);
    EMIT(w, to, SpvOpReturnValue, result);
    emit_n(w, to, SpvOpFunctionEnd, NULL, 0);
}

static uint32_t helper_for(writer *w, uint32_t k) {
    helper h = {.f32 = w->m->insts[k].type,
                .scope = rg_code_word(w->m, k, 4),
                .semantics = rg_code_word(w->m, k, 5)};
    for (uint32_t n = 0; n < w->made.n; n++)
        if (w->made.at[n].f32 == h.f32 && w->made.at[n].scope == h.scope &&
            w->made.at[n].semantics == h.semantics)
            return w->made.at[n].id;
    u32_type(w);
    zero(w);
    if (!w->boolean) {
        w->boolean = declare(w, SpvOpTypeBool, NULL, 0);
        w->physical_u32 =
            DECLARE(w, SpvOpTypePointer, SpvStorageClassPhysicalStorageBuffer, w->u32);
        w->function_u32 = w->u32 < w->m->bound
                              ? function_pointer(w, w->u32)
                              : DECLARE(w, SpvOpTypePointer, SpvStorageClassFunction, w->u32);
        w->helper_type = DECLARE(w, SpvOpTypeFunction, h.f32, w->physical_u32, h.f32);
    }
    h.id = w->bound++;
    RG_PUSH(w->arena, &w->made, h);
    write_helper(w, &h);
    return h.id;
}

/* ---- instructions ---- */

static void plan(writer *w, uint32_t k) {
    const rg_code *m = w->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t pointer;
    w->own[k] = w->bound;
    w->bound += 4;
    switch (w->r->action[k]) {
    case RG_REPAIR_COPY_LOAD:
    case RG_REPAIR_PIN:
        variable(w, k, w->own[k], i->type);
        break;
    case RG_REPAIR_BASE:
        variable(w, k, w->own[k], rg_code_type_of(m, rg_code_word(m, k, 3)));
        break;
    case RG_REPAIR_ATOMIC:
        pointer = rg_code_type_of(m, rg_code_word(m, k, rg_repair_atomic_pointer(i->op)));
        variable(w, k, w->own[k], pointer);
        need_stride(w, pointer);
        zero(w);
        break;
    case RG_REPAIR_FLOAT_ATOMIC:
        variable(w, k, w->own[k], rg_code_type_of(m, rg_code_word(m, k, 3)));
        w->helper_of[k] = helper_for(w, k);
        break;
    default:
        break;
    }
}

/* Decorations of the result apply to the instruction that now makes it. */
static void copy_decorations(writer *w, uint32_t from, uint32_t to) {
    for (uint32_t k = 0; k < w->m->types_at; k++) {
        const rg_code_inst *i = &w->m->insts[k];
        if (i->op != SpvOpDecorate || rg_code_word(w->m, k, 1) != from)
            continue;
        put(w, &w->decorations, w->m->words[i->at]);
        put(w, &w->decorations, to);
        for (uint32_t n = 2; n < i->len; n++)
            put(w, &w->decorations, rg_code_word(w->m, k, n));
    }
}

static void copy_inst(writer *w, uint32_t k, uint32_t replaced, uint32_t with) {
    const rg_code_inst *i = &w->m->insts[k];
    for (uint32_t n = 0; n < i->len; n++)
        put(w, &w->out, n && n == replaced ? with : rg_code_word(w->m, k, n));
}

/* The pointer goes through its variable; answers the id that it is loaded to. */
static uint32_t through(writer *w, uint32_t k, uint32_t pointer) {
    uint32_t var = w->own[k], loaded = w->own[k] + 1;
    EMIT(w, &w->out, SpvOpStore, var, pointer);
    EMIT(w, &w->out, SpvOpLoad, rg_code_type_of(w->m, pointer), loaded, var);
    return loaded;
}

static void rewrite(writer *w, uint32_t k) {
    const rg_code *m = w->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t own = w->own[k], at, pointer, loaded;
    switch (w->r->action[k]) {
    case RG_REPAIR_COPY_LOAD: {
        /* One set of memory operands holds for both sides, whatever the version. */
        uint32_t n = i->len - 4u;
        put(w, &w->out, (3 + n) << 16 | SpvOpCopyMemory);
        put(w, &w->out, own);
        put(w, &w->out, rg_code_word(m, k, 3));
        for (uint32_t x = 0; x < n; x++)
            put(w, &w->out, rg_code_word(m, k, 4 + x));
        EMIT(w, &w->out, SpvOpLoad, i->type, i->result, own);
        break;
    }
    case RG_REPAIR_PIN:
        copy_inst(w, k, 2, own + 1);
        EMIT(w, &w->out, SpvOpStore, own, own + 1);
        EMIT(w, &w->out, SpvOpLoad, i->type, i->result, own);
        break;
    case RG_REPAIR_BASE:
        loaded = through(w, k, rg_code_word(m, k, 3));
        copy_inst(w, k, 3, loaded);
        break;
    case RG_REPAIR_ATOMIC:
        at = rg_repair_atomic_pointer(i->op);
        pointer = rg_code_word(m, k, at);
        loaded = through(w, k, pointer);
        EMIT(w, &w->out, SpvOpPtrAccessChain, rg_code_type_of(m, pointer), own + 2, loaded,
             w->zero);
        copy_inst(w, k, at, own + 2);
        break;
    case RG_REPAIR_FLOAT_ATOMIC:
        loaded = through(w, k, rg_code_word(m, k, 3));
        EMIT(w, &w->out, SpvOpBitcast, w->physical_u32, own + 2, loaded);
        EMIT(w, &w->out, SpvOpFunctionCall, i->type, i->result, w->helper_of[k], own + 2,
             rg_code_word(m, k, 6));
        break;
    default:
        copy_inst(w, k, 0, 0);
        break;
    }
}

static void append(writer *w, const words *from) {
    for (uint32_t k = 0; k < from->n; k++)
        put(w, &w->out, from->at[k]);
}

uint32_t *rg_repair_rewrite(const rg_repair *r, uint32_t *n_words) {
    const rg_code *m = r->code;
    rg_arena *a = r->arena;
    writer w = {.arena = a,
                .r = r,
                .m = m,
                .bound = m->bound,
                .own = RG_NEW_N(a, uint32_t, m->n_insts + 1),
                .helper_of = RG_NEW_N(a, uint32_t, m->n_insts + 1),
                .variables = RG_NEW_N(a, words, m->n_functions + 1),
                .function_ptr = RG_NEW_N(a, uint32_t, m->bound),
                .stride = RG_NEW_N(a, bool, m->bound)};
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        uint32_t storage, pointee;
        if (rg_code_pointer(m, m->insts[k].result, &storage, &pointee) &&
            storage == SpvStorageClassFunction && pointee < m->bound)
            w.function_ptr[pointee] = m->insts[k].result;
    }
    for (uint32_t k = m->functions_at; k < m->n_insts; k++) {
        if (r->action[k] == RG_REPAIR_NONE)
            continue;
        plan(&w, k);
        if (r->action[k] == RG_REPAIR_PIN)
            copy_decorations(&w, m->insts[k].result, w.own[k] + 1);
    }
    for (uint32_t k = 0; k < 5; k++)
        put(&w, &w.out, m->words[k]);
    w.out.at[3] = w.bound;
    uint32_t function = 0;
    for (uint32_t k = 0; k < m->n_insts; k++) {
        if (k == m->types_at)
            append(&w, &w.decorations);
        if (k == m->functions_at)
            append(&w, &w.types);
        rewrite(&w, k);
        if (m->insts[k].op == SpvOpFunctionEnd)
            function++;
        else if (m->insts[k].op == SpvOpLabel &&
                 m->block_of[k] == m->functions[function].first_block)
            append(&w, &w.variables[function]);
    }
    append(&w, &w.helpers);
    *n_words = w.out.n;
    return w.out.at;
}
