/* The module is copied instruction by instruction; what is to be rewritten is replaced in its
 * place, keeping its result id, so that names, decorations and line information stay attached.
 *
 * A late value goes through a Function variable that is written at once: a copy is a statement for
 * every translator. A pointer that is printed wrongly goes through a variable too, which gives
 * translators a name to print and to trace it back to. A number too narrow for a variable is
 * widened first, and narrowed again where it is used. Float atomics are in repair_atomic.c. */
#include "emit/spirv/repair_write.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

void rg_writer_put(rg_writer *w, rg_words *to, uint32_t word) {
    RG_PUSH(w->arena, to, word);
}

void rg_writer_emit(rg_writer *w, rg_words *to, uint32_t op, const uint32_t *operand, uint32_t n) {
    rg_writer_put(w, to, (n + 1) << 16 | op);
    for (uint32_t k = 0; k < n; k++)
        rg_writer_put(w, to, operand[k]);
}

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

uint32_t rg_writer_declare(rg_writer *w, uint32_t op, const uint32_t *operand, uint32_t n) {
    uint32_t id = find(w->m, op, operand, n);
    if (id)
        return id;
    for (uint32_t k = 0; k < w->declared.n; k++) {
        const uint32_t *at = &w->types.at[w->declared.at[k]];
        if (at[0] == ((n + 2) << 16 | op) &&
            (n == 0 || memcmp(at + 2, operand, n * sizeof *operand) == 0))
            return at[1];
    }
    id = w->bound++;
    RG_PUSH(w->arena, &w->declared, w->types.n);
    rg_writer_put(w, &w->types, (n + 2) << 16 | op);
    rg_writer_put(w, &w->types, id);
    for (uint32_t k = 0; k < n; k++)
        rg_writer_put(w, &w->types, operand[k]);
    return id;
}

uint32_t rg_writer_u32(rg_writer *w) {
    if (!w->u32)
        w->u32 = RG_DECLARE(w, SpvOpTypeInt, 32, 0);
    return w->u32;
}

uint32_t rg_writer_zero(rg_writer *w) {
    if (w->zero)
        return w->zero;
    uint32_t type = rg_writer_u32(w);
    for (uint32_t k = w->m->types_at; k < w->m->functions_at; k++)
        if (w->m->insts[k].op == SpvOpConstant && w->m->insts[k].type == type &&
            rg_code_word(w->m, k, 3) == 0)
            return w->zero = w->m->insts[k].result;
    w->zero = w->bound++;
    RG_EMIT(w, &w->types, SpvOpConstant, type, w->zero, 0);
    return w->zero;
}

uint32_t rg_writer_function_pointer(rg_writer *w, uint32_t type) {
    if (type >= w->m->bound)
        return RG_DECLARE(w, SpvOpTypePointer, SpvStorageClassFunction, type);
    if (!w->function_ptr[type]) {
        w->function_ptr[type] = w->bound++;
        RG_EMIT(w, &w->types, SpvOpTypePointer, w->function_ptr[type], SpvStorageClassFunction,
                type);
    }
    return w->function_ptr[type];
}

/* A Function variable of a type in the function around instruction k, with the given id. */
static void variable(rg_writer *w, uint32_t k, uint32_t id, uint32_t type) {
    uint32_t storage, pointee;
    if (rg_code_pointer(w->m, type, &storage, &pointee) &&
        storage == SpvStorageClassPhysicalStorageBuffer)
        RG_EMIT(w, &w->decorations, SpvOpDecorate, id, SpvDecorationAliasedPointer);
    RG_EMIT(w, &w->variables[w->m->blocks[w->m->block_of[k]].function], SpvOpVariable,
            rg_writer_function_pointer(w, type), id, SpvStorageClassFunction);
}

/* OpPtrAccessChain steps by the stride of the pointer's type: a number's size. */
static void need_stride(rg_writer *w, uint32_t pointer_type) {
    uint32_t storage, pointee = 0;
    if ((w->m->marks[pointer_type] & RG_CODE_STRIDE) || w->stride[pointer_type] ||
        !rg_code_pointer(w->m, pointer_type, &storage, &pointee))
        return;
    w->stride[pointer_type] = true;
    uint32_t op = rg_code_def_op(w->m, pointee);
    uint32_t bits =
        op == SpvOpTypeInt || op == SpvOpTypeFloat ? rg_code_word(w->m, w->m->def[pointee], 2) : 32;
    RG_EMIT(w, &w->decorations, SpvOpDecorate, pointer_type, SpvDecorationArrayStride, bits / 8);
}

/* ---- instructions ---- */

/* The word of a store or an exchange that holds the value. */
static uint32_t value_at(uint32_t op) {
    return op == SpvOpStore ? 2 : op == SpvOpAtomicStore ? 4 : 6;
}

static uint32_t value_stored(const rg_code *m, uint32_t k) {
    return rg_code_word(m, k, value_at(m->insts[k].op));
}

/* The 32-bit type that has all values of a narrow one, scalar or vector. */
static uint32_t wide(rg_writer *w, uint32_t type) {
    uint32_t at = w->m->def[type];
    switch (w->m->insts[at].op) {
    case SpvOpTypeVector:
        return RG_DECLARE(w, SpvOpTypeVector, wide(w, rg_code_word(w->m, at, 2)),
                          rg_code_word(w->m, at, 3));
    case SpvOpTypeInt:
        return RG_DECLARE(w, SpvOpTypeInt, 32, rg_code_word(w->m, at, 3));
    default:
        return RG_DECLARE(w, SpvOpTypeFloat, 32);
    }
}

static uint32_t conversion(const rg_code *m, uint32_t type) {
    if (rg_code_def_op(m, type) == SpvOpTypeVector)
        type = rg_code_word(m, m->def[type], 2);
    if (rg_code_def_op(m, type) == SpvOpTypeFloat)
        return SpvOpFConvert;
    return rg_code_word(m, m->def[type], 3) ? SpvOpSConvert : SpvOpUConvert;
}

static void plan(rg_writer *w, uint32_t k) {
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
        rg_writer_zero(w);
        break;
    case RG_REPAIR_FLOAT_ATOMIC:
        variable(w, k, w->own[k], rg_code_type_of(m, rg_code_word(m, k, 3)));
        w->helper_of[k] = rg_writer_adder(w, k);
        break;
    case RG_REPAIR_VIEW_ATOMIC:
        w->helper_of[k] = rg_writer_adder(w, k);
        break;
    case RG_REPAIR_RETYPE:
    case RG_REPAIR_CAST_RESULT:
        rg_writer_mirror(w, i->type);
        break;
    case RG_REPAIR_CAST_VALUE:
        rg_writer_mirror(w, rg_code_type_of(m, value_stored(m, k)));
        break;
    case RG_REPAIR_WIDEN:
        variable(w, k, w->own[k], wide(w, i->type));
        w->wide_of[i->result] = w->own[k];
        for (uint32_t u = m->uses_at[i->result]; u < m->uses_at[i->result + 1]; u++)
            w->reads_wide[m->uses[u]] = !rg_code_is_debug(m, m->uses[u]);
        break;
    default:
        break;
    }
}

void rg_writer_decorate_too(rg_writer *w, uint32_t k, uint32_t to) {
    for (uint32_t n = 0; n < w->m->insts[k].len; n++)
        rg_writer_put(w, &w->decorations, n == 1 ? to : rg_code_word(w->m, k, n));
}

/* Decorations of the result apply to the instruction that now makes it. */
static void copy_decorations(rg_writer *w, uint32_t from, uint32_t to) {
    for (uint32_t d = w->decorated_at[from]; d < w->decorated_at[from + 1]; d++)
        rg_writer_decorate_too(w, w->decorated[d], to);
}

/* The instruction with other words in up to two places, 0: none. */
static void copy_with(rg_writer *w, uint32_t k, uint32_t at, uint32_t with, uint32_t also,
                      uint32_t also_with) {
    const rg_code_inst *i = &w->m->insts[k];
    for (uint32_t n = 0; n < i->len; n++) {
        uint32_t word = rg_code_word(w->m, k, n);
        if (n)
            word = n == at ? with : n == also ? also_with : word;
        rg_writer_put(w, &w->out, word);
    }
}

static void copy_inst(rg_writer *w, uint32_t k, uint32_t replaced, uint32_t with) {
    copy_with(w, k, replaced, with, 0, 0);
}

/* An instruction that reads narrow values which are kept widened. */
static void copy_narrowed(rg_writer *w, uint32_t k) {
    const rg_code *m = w->m;
    uint32_t len = m->insts[k].len, *word = RG_NEW_N(w->arena, uint32_t, len);
    for (uint32_t n = 0; n < len; n++) {
        uint32_t id = word[n] = rg_code_word(m, k, n);
        if (n == 0 || !rg_code_is_id(m, k, n) || id >= m->bound || !w->wide_of[id])
            continue;
        uint32_t type = rg_code_type_of(m, id), loaded = w->bound++;
        word[n] = w->bound++;
        RG_EMIT(w, &w->out, SpvOpLoad, wide(w, type), loaded, w->wide_of[id]);
        RG_EMIT(w, &w->out, conversion(m, type), type, word[n], loaded);
    }
    for (uint32_t n = 0; n < len; n++)
        rg_writer_put(w, &w->out, word[n]);
}

/* Entry points list the variables that they reach, from version 1.4 on. */
static void copy_entry_point(rg_writer *w, uint32_t k) {
    const rg_code *m = w->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t first = 3, start = w->out.n;
    while (first < i->len && rg_code_word(m, k, first) & 0xff &&
           rg_code_word(m, k, first) & 0xff00 && rg_code_word(m, k, first) & 0xff0000 &&
           rg_code_word(m, k, first) & 0xff000000)
        first++;
    copy_inst(w, k, 0, 0);
    for (uint32_t n = first + 1; m->version >= 0x10400 && n < i->len; n++) {
        uint32_t id = rg_code_word(m, k, n);
        if (id < m->bound && w->view[id])
            rg_writer_put(w, &w->out, w->view[id]);
    }
    w->out.at[start] = (w->out.n - start) << 16 | SpvOpEntryPoint;
}

/* What is declared after all others takes along what debug information says about it. */
static void hold(rg_writer *w, uint32_t k) {
    const rg_code *m = w->m;
    bool says = false;
    for (uint32_t n = 5; m->insts[k].op == SpvOpExtInst && n < m->insts[k].len; n++) {
        uint32_t id = rg_code_word(m, k, n);
        says = says || (id < m->bound && w->held[id]);
    }
    if (!says)
        return;
    w->dropped[k] = w->held[m->insts[k].result] = true;
    for (uint32_t n = 0; n < m->insts[k].len; n++)
        rg_writer_put(w, &w->types, rg_code_word(m, k, n));
}

/* The pointer goes through its variable; answers the id that it is loaded to. */
static uint32_t through(rg_writer *w, uint32_t k, uint32_t pointer) {
    uint32_t var = w->own[k], loaded = w->own[k] + 1;
    RG_EMIT(w, &w->out, SpvOpStore, var, pointer);
    RG_EMIT(w, &w->out, SpvOpLoad, rg_code_type_of(w->m, pointer), loaded, var);
    return loaded;
}

/* A store or an exchange into unsigned numbers. */
static void rewrite_store(rg_writer *w, uint32_t k) {
    const rg_code *m = w->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t own = w->own[k], at = value_at(i->op), value = rg_code_word(m, k, at);
    uint32_t type = rg_code_type_of(m, value), cast = rg_writer_mirror(w, type);
    if (cast == type) {
        copy_inst(w, k, 0, 0);
        return;
    }
    RG_EMIT(w, &w->out, SpvOpBitcast, cast, own, value);
    if (!i->result) {
        copy_inst(w, k, at, own);
        return;
    }
    uint32_t start = w->out.n;
    copy_with(w, k, at, own, 1, cast);
    w->out.at[start + 2] = own + 1;
    RG_EMIT(w, &w->out, SpvOpBitcast, type, i->result, own + 1);
}

static void rewrite(rg_writer *w, uint32_t k) {
    const rg_code *m = w->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t own = w->own[k], at, pointer, loaded, type;
    switch (w->r->action[k]) {
    case RG_REPAIR_COPY_LOAD: {
        /* One set of memory operands holds for both sides, whatever the version. */
        uint32_t n = i->len - 4u;
        rg_writer_put(w, &w->out, (3 + n) << 16 | SpvOpCopyMemory);
        rg_writer_put(w, &w->out, own);
        rg_writer_put(w, &w->out, rg_code_word(m, k, 3));
        for (uint32_t x = 0; x < n; x++)
            rg_writer_put(w, &w->out, rg_code_word(m, k, 4 + x));
        RG_EMIT(w, &w->out, SpvOpLoad, i->type, i->result, own);
        break;
    }
    case RG_REPAIR_PIN:
        copy_inst(w, k, 2, own + 1);
        RG_EMIT(w, &w->out, SpvOpStore, own, own + 1);
        RG_EMIT(w, &w->out, SpvOpLoad, i->type, i->result, own);
        break;
    case RG_REPAIR_BASE:
        loaded = through(w, k, rg_code_word(m, k, 3));
        copy_inst(w, k, 3, loaded);
        break;
    case RG_REPAIR_ATOMIC:
        at = rg_repair_atomic_pointer(i->op);
        pointer = rg_code_word(m, k, at);
        loaded = through(w, k, pointer);
        RG_EMIT(w, &w->out, SpvOpPtrAccessChain, rg_code_type_of(m, pointer), own + 2, loaded,
                w->zero);
        copy_inst(w, k, at, own + 2);
        break;
    case RG_REPAIR_FLOAT_ATOMIC:
        loaded = through(w, k, rg_code_word(m, k, 3));
        RG_EMIT(w, &w->out, SpvOpBitcast, w->physical_u32, own + 2, loaded);
        rg_writer_call_adder(w, k, own + 2);
        break;
    case RG_REPAIR_VIEW_ATOMIC:
        rg_writer_call_adder(w, k, 0);
        break;
    case RG_REPAIR_RETYPE:
        copy_inst(w, k, 1, rg_writer_mirror(w, i->type));
        break;
    case RG_REPAIR_CAST_RESULT:
        type = rg_writer_mirror(w, i->type);
        copy_with(w, k, 1, type, 2, type == i->type ? i->result : own);
        if (type != i->type)
            RG_EMIT(w, &w->out, SpvOpBitcast, i->type, i->result, own);
        break;
    case RG_REPAIR_CAST_VALUE:
        rewrite_store(w, k);
        break;
    case RG_REPAIR_WIDEN:
        copy_inst(w, k, 0, 0);
        RG_EMIT(w, &w->out, conversion(m, i->type), wide(w, i->type), own + 1, i->result);
        RG_EMIT(w, &w->out, SpvOpStore, own, own + 1);
        break;
    default:
        if (w->reads_wide[k])
            copy_narrowed(w, k);
        else if (i->op == SpvOpEntryPoint)
            copy_entry_point(w, k);
        else if (!w->dropped[k])
            copy_inst(w, k, 0, 0);
        break;
    }
}

static void append(rg_writer *w, const rg_words *from) {
    for (uint32_t k = 0; k < from->n; k++)
        rg_writer_put(w, &w->out, from->at[k]);
}

static void index_decorations(rg_writer *w) {
    const rg_code *m = w->m;
    w->decorated_at = RG_NEW_N(w->arena, uint32_t, m->bound + 2);
    w->decorated = RG_NEW_N(w->arena, uint32_t, m->types_at + 1);
    for (int pass = 0; pass < 2; pass++) {
        /* Counted one place on; after the second pass every id's end stands where it began. */
        for (uint32_t k = 0; k < m->types_at; k++) {
            uint32_t op = m->insts[k].op, id = rg_code_word(m, k, 1);
            if ((op != SpvOpDecorate && op != SpvOpMemberDecorate) || id >= m->bound)
                continue;
            if (pass == 0)
                w->decorated_at[id + 2]++;
            else
                w->decorated[w->decorated_at[id + 1]++] = k;
        }
        for (uint32_t id = 2; pass == 0 && id < m->bound + 2; id++)
            w->decorated_at[id] += w->decorated_at[id - 1];
    }
}

uint32_t *rg_repair_rewrite(const rg_repair *r, uint32_t *n_words) {
    const rg_code *m = r->code;
    rg_arena *a = r->arena;
    rg_writer w = {.arena = a,
                   .r = r,
                   .m = m,
                   .bound = m->bound,
                   .own = RG_NEW_N(a, uint32_t, m->n_insts + 1),
                   .helper_of = RG_NEW_N(a, uint32_t, m->n_insts + 1),
                   .wide_of = RG_NEW_N(a, uint32_t, m->bound),
                   .reads_wide = RG_NEW_N(a, bool, m->n_insts + 1),
                   .mirror = RG_NEW_N(a, uint32_t, m->bound),
                   .view = RG_NEW_N(a, uint32_t, m->bound),
                   .dropped = RG_NEW_N(a, bool, m->n_insts + 1),
                   .held = RG_NEW_N(a, bool, m->bound),
                   .variables = RG_NEW_N(a, rg_words, m->n_functions + 1),
                   .function_ptr = RG_NEW_N(a, uint32_t, m->bound),
                   .stride = RG_NEW_N(a, bool, m->bound)};
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        uint32_t storage, pointee;
        if (rg_code_pointer(m, m->insts[k].result, &storage, &pointee) &&
            storage == SpvStorageClassFunction && pointee < m->bound)
            w.function_ptr[pointee] = m->insts[k].result;
    }
    index_decorations(&w);
    for (uint32_t id = 0; id < m->bound; id++)
        if (r->retyped[id])
            rg_writer_retype(&w, id);
    for (uint32_t k = m->types_at; k < m->functions_at; k++)
        hold(&w, k);
    for (uint32_t k = m->functions_at; k < m->n_insts; k++) {
        if (r->action[k] == RG_REPAIR_NONE)
            continue;
        plan(&w, k);
        if (r->action[k] == RG_REPAIR_PIN)
            copy_decorations(&w, m->insts[k].result, w.own[k] + 1);
    }
    for (uint32_t k = 0; k < 5; k++)
        rg_writer_put(&w, &w.out, m->words[k]);
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
    w.out.at[3] = w.bound;
    *n_words = w.out.n;
    return w.out.at;
}
