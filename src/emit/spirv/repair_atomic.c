/* Float atomics as compare-and-swap loops on unsigned numbers, in functions of their own, so that
 * no block has to be split: the loops, and the types and variables through which they reach bound
 * buffers and workgroup memory (repair_float.c says why that way). */
#include "emit/spirv/repair_write.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

/* ---- types of unsigned numbers ---- */

/* Members that are said to be reached in no other way now are. */
static bool is_restrict(const rg_code *m, uint32_t k) {
    return m->insts[k].op == SpvOpMemberDecorate && rg_code_word(m, k, 3) == SpvDecorationRestrict;
}

static void copy_type_decorations(rg_writer *w, uint32_t from, uint32_t to) {
    for (uint32_t d = w->decorated_at[from]; d < w->decorated_at[from + 1]; d++)
        if (!is_restrict(w->m, w->decorated[d]))
            rg_writer_decorate_too(w, w->decorated[d], to);
}

static uint32_t mirror_of(rg_writer *w, uint32_t type) {
    const rg_code *m = w->m;
    const rg_code_inst *t = rg_code_def(m, type);
    if (!t)
        return type;
    uint32_t at = m->def[type], inner = rg_code_word(m, at, 2), made;
    switch (t->op) {
    case SpvOpTypeFloat:
        return inner == 32 ? rg_writer_u32(w) : type;
    case SpvOpTypeVector:
        made = rg_writer_mirror(w, inner);
        return made == inner ? type : RG_DECLARE(w, SpvOpTypeVector, made, rg_code_word(m, at, 3));
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
        made = rg_writer_mirror(w, inner);
        if (made == inner)
            return type;
        inner = made;
        made = w->bound++;
        if (t->op == SpvOpTypeArray)
            RG_EMIT(w, &w->types, SpvOpTypeArray, made, inner, rg_code_word(m, at, 3));
        else
            RG_EMIT(w, &w->types, SpvOpTypeRuntimeArray, made, inner);
        copy_type_decorations(w, type, made);
        return made;
    case SpvOpTypeStruct: {
        uint32_t *member = RG_NEW_N(w->arena, uint32_t, t->len);
        bool same = true;
        for (uint32_t k = 2; k < t->len; k++) {
            member[k - 1] = rg_writer_mirror(w, rg_code_word(m, at, k));
            same = same && member[k - 1] == rg_code_word(m, at, k);
        }
        if (same)
            return type;
        made = member[0] = w->bound++;
        rg_writer_emit(w, &w->types, SpvOpTypeStruct, member, t->len - 1u);
        copy_type_decorations(w, type, made);
        return made;
    }
    default:
        return type;
    }
}

uint32_t rg_writer_mirror(rg_writer *w, uint32_t type) {
    if (type >= w->m->bound)
        return type;
    if (!w->mirror[type]) {
        w->mirror[type] = type; /* should a module that is not valid come back here */
        uint32_t storage, pointee, made;
        if (rg_code_pointer(w->m, type, &storage, &pointee)) {
            /* Asked for pointers into workgroup memory only. */
            made = storage == SpvStorageClassWorkgroup ? rg_writer_mirror(w, pointee) : pointee;
            made = made == pointee ? type : RG_DECLARE(w, SpvOpTypePointer, storage, made);
        } else {
            made = mirror_of(w, type);
        }
        w->mirror[type] = made;
    }
    return w->mirror[type];
}

/* ---- variables ---- */

void rg_writer_retype(rg_writer *w, uint32_t variable) {
    const rg_code *m = w->m;
    uint32_t at = m->def[variable], storage, pointee = 0;
    uint32_t type = rg_writer_mirror(w, m->insts[at].type);
    rg_code_pointer(m, m->insts[at].type, &storage, &pointee);
    if (m->insts[at].len > 4) {
        uint32_t none = w->bound++;
        RG_EMIT(w, &w->types, SpvOpConstantNull, rg_writer_mirror(w, pointee), none);
        RG_EMIT(w, &w->types, SpvOpVariable, type, variable, SpvStorageClassWorkgroup, none);
    } else {
        RG_EMIT(w, &w->types, SpvOpVariable, type, variable, SpvStorageClassWorkgroup);
    }
    w->dropped[at] = w->held[variable] = true;
}

/* A second variable of the buffer. Both say that they are aliased, and neither that it is not. */
static uint32_t view_of(rg_writer *w, uint32_t variable) {
    const rg_code *m = w->m;
    if (w->view[variable])
        return w->view[variable];
    uint32_t storage = 0, pointee = 0;
    rg_code_pointer(m, rg_code_type_of(m, variable), &storage, &pointee);
    uint32_t type = RG_DECLARE(w, SpvOpTypePointer, storage, rg_writer_mirror(w, pointee));
    uint32_t view = w->view[variable] = w->bound++;
    RG_EMIT(w, &w->types, SpvOpVariable, type, view, storage);
    bool aliased = false;
    for (uint32_t d = w->decorated_at[variable]; d < w->decorated_at[variable + 1]; d++) {
        uint32_t what = rg_code_word(m, w->decorated[d], 2);
        aliased = aliased || what == SpvDecorationAliased;
        if (what == SpvDecorationRestrict)
            w->dropped[w->decorated[d]] = true;
        else if (what != SpvDecorationAliased)
            rg_writer_decorate_too(w, w->decorated[d], view);
    }
    for (uint32_t d = w->decorated_at[pointee]; d < w->decorated_at[pointee + 1]; d++)
        if (is_restrict(m, w->decorated[d]))
            w->dropped[w->decorated[d]] = true;
    RG_EMIT(w, &w->decorations, SpvOpDecorate, view, SpvDecorationAliased);
    if (!aliased)
        RG_EMIT(w, &w->decorations, SpvOpDecorate, variable, SpvDecorationAliased);
    return view;
}

/* ---- the loop ---- */

static void write_adder(rg_writer *w, const rg_adder *h) {
    rg_words *to = &w->helpers;
    uint32_t p = w->bound++, v = w->bound++, entry = w->bound++, var = w->bound++,
             first = w->bound++, head = w->bound++, old = w->bound++, old_f = w->bound++,
             sum = w->bound++, sum_u = w->bound++, got = w->bound++, same = w->bound++,
             merge = w->bound++, cont = w->bound++, last = w->bound++, result = w->bound++;
    /* Result, then the parameters. */
    uint32_t *signature = RG_NEW_N(w->arena, uint32_t, h->n + 4), n = 0;
    signature[n++] = h->f32;
    if (!h->variable)
        signature[n++] = w->physical_u32;
    for (uint32_t k = 0; k < h->n; k++)
        if (!h->index[k])
            signature[n++] = h->type[k];
    signature[n++] = h->f32;
    RG_EMIT(w, to, SpvOpFunction, h->f32, h->id, SpvFunctionControlMaskNone,
            rg_writer_declare(w, SpvOpTypeFunction, signature, n));
    uint32_t *chain = RG_NEW_N(w->arena, uint32_t, h->n + 3);
    if (h->variable) {
        chain[0] = RG_DECLARE(w, SpvOpTypePointer, h->storage, w->u32);
        chain[1] = p;
        chain[2] = h->variable;
        for (uint32_t k = 0; k < h->n; k++) {
            chain[3 + k] = h->index[k];
            if (!h->index[k]) {
                chain[3 + k] = w->bound++;
                RG_EMIT(w, to, SpvOpFunctionParameter, h->type[k], chain[3 + k]);
            }
        }
    } else {
        RG_EMIT(w, &w->decorations, SpvOpDecorate, p, SpvDecorationAliased);
        RG_EMIT(w, to, SpvOpFunctionParameter, w->physical_u32, p);
    }
    RG_EMIT(w, to, SpvOpFunctionParameter, h->f32, v);
    RG_EMIT(w, to, SpvOpLabel, entry);
    RG_EMIT(w, to, SpvOpVariable, w->function_u32, var, SpvStorageClassFunction);
    if (h->variable)
        rg_writer_emit(w, to, SpvOpAccessChain, chain, h->n + 3);
    RG_EMIT(w, to, SpvOpAtomicLoad, w->u32, first, p, h->scope, w->zero);
    RG_EMIT(w, to, SpvOpStore, var, first);
    RG_EMIT(w, to, SpvOpBranch, head);
    RG_EMIT(w, to, SpvOpLabel, head);
    RG_EMIT(w, to, SpvOpLoad, w->u32, old, var);
    RG_EMIT(w, to, SpvOpBitcast, h->f32, old_f, old);
    RG_EMIT(w, to, SpvOpFAdd, h->f32, sum, old_f, v);
    RG_EMIT(w, to, SpvOpBitcast, w->u32, sum_u, sum);
    RG_EMIT(w, to, SpvOpAtomicCompareExchange, w->u32, got, p, h->scope, h->semantics, w->zero,
            sum_u, old);
    RG_EMIT(w, to, SpvOpStore, var, got);
    RG_EMIT(w, to, SpvOpIEqual, w->boolean, same, got, old);
    RG_EMIT(w, to, SpvOpLoopMerge, merge, cont, SpvLoopControlMaskNone);
    RG_EMIT(w, to, SpvOpBranchConditional, same, merge, cont);
    RG_EMIT(w, to, SpvOpLabel, cont);
    RG_EMIT(w, to, SpvOpBranch, head);
    RG_EMIT(w, to, SpvOpLabel, merge);
    RG_EMIT(w, to, SpvOpLoad, w->u32, last, var);
    RG_EMIT(w, to, SpvOpBitcast, h->f32, result, last);
    RG_EMIT(w, to, SpvOpReturnValue, result);
    rg_writer_emit(w, to, SpvOpFunctionEnd, NULL, 0);
}

/* Where in memory, as an adder finds it. */
static void place(rg_writer *w, rg_adder *h, const rg_repair_path *path) {
    uint32_t *index = RG_NEW_N(w->arena, uint32_t, path->n + 1);
    uint32_t *type = RG_NEW_N(w->arena, uint32_t, path->n + 1);
    for (uint32_t k = 0; k < path->n; k++) {
        if (path->member[k])
            index[k] = path->index[k];
        else
            type[k] = rg_code_type_of(w->m, path->index[k]);
    }
    h->storage = path->storage;
    h->n = path->n;
    h->index = index;
    h->type = type;
    h->variable =
        path->storage == SpvStorageClassWorkgroup ? path->variable : view_of(w, path->variable);
}

static bool alike(const rg_adder *a, const rg_adder *b) {
    return a->f32 == b->f32 && a->scope == b->scope && a->semantics == b->semantics &&
           a->variable == b->variable && a->n == b->n &&
           (a->n == 0 || (memcmp(a->index, b->index, a->n * sizeof *a->index) == 0 &&
                          memcmp(a->type, b->type, a->n * sizeof *a->type) == 0));
}

uint32_t rg_writer_adder(rg_writer *w, uint32_t k) {
    rg_adder h = {.f32 = w->m->insts[k].type,
                  .scope = rg_code_word(w->m, k, 4),
                  .semantics = rg_code_word(w->m, k, 5)};
    rg_writer_u32(w);
    rg_writer_zero(w);
    rg_repair_path path;
    if (w->r->action[k] == RG_REPAIR_VIEW_ATOMIC &&
        rg_repair_path_to(w->arena, w->m, rg_code_word(w->m, k, 3), &path))
        place(w, &h, &path);
    for (uint32_t n = 0; n < w->made.n; n++)
        if (alike(&w->made.at[n], &h))
            return w->made.at[n].id;
    if (!w->boolean)
        w->boolean = rg_writer_declare(w, SpvOpTypeBool, NULL, 0);
    if (!w->function_u32)
        w->function_u32 = rg_writer_function_pointer(w, w->u32);
    if (!h.variable && !w->physical_u32)
        w->physical_u32 =
            RG_DECLARE(w, SpvOpTypePointer, SpvStorageClassPhysicalStorageBuffer, w->u32);
    h.id = w->bound++;
    RG_PUSH(w->arena, &w->made, h);
    write_adder(w, &h);
    return h.id;
}

void rg_writer_call_adder(rg_writer *w, uint32_t k, uint32_t physical) {
    const rg_code *m = w->m;
    rg_repair_path path = {0};
    uint32_t n = 0, *operand;
    if (!physical)
        rg_repair_path_to(w->arena, m, rg_code_word(m, k, 3), &path);
    operand = RG_NEW_N(w->arena, uint32_t, path.n + 5);
    operand[n++] = m->insts[k].type;
    operand[n++] = m->insts[k].result;
    operand[n++] = w->helper_of[k];
    if (physical)
        operand[n++] = physical;
    for (uint32_t x = 0; x < path.n; x++)
        if (!path.member[x])
            operand[n++] = path.index[x];
    operand[n++] = rg_code_word(m, k, 6);
    rg_writer_emit(w, &w->out, SpvOpFunctionCall, operand, n);
}
