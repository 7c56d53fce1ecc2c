/* The argument block, and in offset mode the memory blocks.
 *
 * Address mode: one struct with the members of the task's layout, references as pointers to the
 * elements' type. Offset mode: an array of 32-bit words, so that no member needs a 64-bit type; the
 * memory blocks are runtime arrays of words, one variable for each width that is used, all of them
 * aliases of the same memory. */
#include "emit/spirv/function.h"

#include <string.h>

static void member(rg_spv_fn *c, uint32_t offset, uint32_t type, const char *name) {
    RG_PUSH(c->s->arena, &c->members, (rg_spv_member){offset, type, name, 0});
}

/* A pointer. The known-bad form for tests has a 64-bit integer instead, made a pointer once it is
 * loaded: it is what old translators lose the order of loads for. */
static void reference(rg_spv_fn *c, uint32_t offset, uint32_t type, const char *name) {
    bool naive = c->s->o->caps.naive_loads;
    RG_PUSH(c->s->arena, &c->members,
            (rg_spv_member){offset, naive ? rg_spv_int(c->s, 64) : type, name, naive ? type : 0});
}

static uint32_t word_pointer(rg_spv *s, uint32_t bits) {
    return rg_spv_element_pointer(s, rg_spv_int(s, bits), bits / 8);
}

static const char *suffixed(rg_spv_fn *c, const char *name, const char *suffix) {
    return rg_format(c->s->arena, "%s%s", name ? name : "", suffix);
}

static void list_members(rg_spv_fn *c) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_task *t = c->task;
    const rg_task_layout *l = c->layout;
    bool i64 = s->o->caps.i64;
    uint32_t whole = i64 ? rg_spv_int(s, 64) : s->t_u32; /* an i64, or its low half */
    reference(c, l->slots32, word_pointer(s, 32), "slots");
    if (i64)
        reference(c, l->slots64, word_pointer(s, 64), "slots64");
    if (s->o->caps.atomic_f32_add)
        reference(c, l->slots_f32, rg_spv_element_pointer(s, rg_spv_float(s, 32), 4), "slots_f32");
    if (s->o->caps.atomic_f64_add)
        reference(c, l->slots_f64, rg_spv_element_pointer(s, rg_spv_float(s, 64), 8), "slots_f64");
    if (t->parallel)
        for (uint32_t k = 0; k < (uint32_t)f->ins.at[t->parallel].imm.i; k++) {
            member(c, l->ranges + 16 * k, whole, rg_format(s->arena, "lo%u", k));
            member(c, l->ranges + 16 * k + 8, whole, rg_format(s->arena, "hi%u", k));
        }
    for (uint32_t k = 0; k < t->arrays.n; k++) {
        const rg_ir_array *a = &f->arrays.at[t->arrays.at[k]];
        if (t->array_use.at[k] & (RG_TASK_READ | RG_TASK_WRITE)) {
            if (rg_spv_element_plain(s, a->elem))
                reference(c, l->array[k],
                          rg_spv_element_pointer(s, rg_spv_element(s, a->elem), a->elem->size),
                          a->name);
            if (l->words32[k] != UINT32_MAX)
                reference(c, l->words32[k], word_pointer(s, 32), suffixed(c, a->name, "_words"));
            if (l->words64[k] != UINT32_MAX && i64)
                reference(c, l->words64[k], word_pointer(s, 64), suffixed(c, a->name, "_words64"));
        }
        for (uint32_t d = 0; d < a->rank; d++)
            member(c, l->extents[k] + 8 * d, whole,
                   rg_format(s->arena, "%s_extent%u", a->name ? a->name : "", d));
    }
    for (uint32_t k = 0; k < t->scratch.n; k++) {
        const rg_ir_array *a = &f->arrays.at[t->scratch.at[k].array];
        member(c, l->capacity[k], whole, suffixed(c, a->name, "_capacity"));
        for (uint32_t n = 0; n < a->elem->nleaves; n++) {
            rg_type vt = rg_mem_value(a->elem->leaves[n].mem);
            uint32_t type = vt == RG_BOOL ? s->t_u32 : rg_spv_value_type(s, vt);
            reference(c, l->column[k] + 8 * n,
                      rg_spv_element_pointer(s, type, rg_type_size(vt) == 8 ? 8 : 4),
                      suffixed(c, a->name, a->elem->leaves[n].path));
        }
    }
    for (uint32_t k = 0; k < t->host_inputs.n; k++) {
        const rg_value *v = &f->vals.at[t->host_inputs.at[k]];
        uint32_t type = v->type == RG_BOOL ? s->t_u32
                        : rg_type_is_float(v->type) || rg_type_size(v->type) == 4
                            ? rg_spv_value_type(s, v->type)
                            : whole;
        member(c, l->input[k], type, v->name ? v->name : "input");
    }
}

void rg_spv_block_interface(rg_spv_fn *c, uint32_t variable) {
    if (c->s->o->caps.version < 0x00010400)
        return;
    for (uint32_t k = 0; k < c->interface.n; k++)
        if (c->interface.at[k] == variable)
            return;
    RG_PUSH(c->s->arena, &c->interface, variable);
}

/* A struct type of its own with Block, its variable bound at set 0. */
static uint32_t bound(rg_spv_fn *c, uint32_t type, uint32_t binding, const char *name) {
    rg_spv *s = c->s;
    uint32_t id = rg_spv_id(s), w[] = {rg_spv_pointer(s, SpvStorageClassStorageBuffer, type), id,
                                       SpvStorageClassStorageBuffer};
    rg_spv_decorate(s, type, SpvDecorationBlock);
    rg_spv_put(s, &s->types, SpvOpVariable, w, 3);
    rg_spv_decorate1(s, id, SpvDecorationDescriptorSet, 0);
    rg_spv_decorate1(s, id, SpvDecorationBinding, binding);
    rg_spv_name(s, id, name);
    return id;
}

/* struct { T words[]; } */
static uint32_t words_struct(rg_spv *s, uint32_t type, uint32_t bytes) {
    uint32_t array = rg_spv_id(s), st = rg_spv_id(s), zero = 0;
    uint32_t w[] = {array, type}, v[] = {st, array};
    rg_spv_put(s, &s->types, SpvOpTypeRuntimeArray, w, 2);
    rg_spv_decorate1(s, array, SpvDecorationArrayStride, bytes);
    rg_spv_put(s, &s->types, SpvOpTypeStruct, v, 2);
    rg_spv_decorate_member(s, st, 0, SpvDecorationOffset, &zero);
    return st;
}

void rg_spv_args_begin(rg_spv_fn *c) {
    rg_spv *s = c->s;
    uint32_t type;
    c->bindings[0] |= 1;
    if (c->address) {
        list_members(c);
        uint32_t *w = RG_NEW_N(s->arena, uint32_t, c->members.n + 1);
        w[0] = type = rg_spv_id(s);
        for (uint32_t k = 0; k < c->members.n; k++)
            w[k + 1] = c->members.at[k].type;
        rg_spv_put(s, &s->types, SpvOpTypeStruct, w, c->members.n + 1);
        for (uint32_t k = 0; k < c->members.n; k++) {
            rg_spv_decorate_member(s, type, k, SpvDecorationOffset, &c->members.at[k].offset);
            rg_spv_member_name(s, type, k, c->members.at[k].name ? c->members.at[k].name : "m");
        }
    } else {
        type = words_struct(s, s->t_u32, 4);
        rg_spv_decorate_member(s, type, 0, SpvDecorationNonWritable, NULL);
    }
    rg_spv_name(s, type, "arguments");
    c->args = bound(c, type, 0, "args");
    /* Not NonWritable in address mode: SPIRV-Cross 1.3.239 would print atomics on the addresses in
     * it as atomics on constants, which Metal refuses. */
    if (!c->address)
        rg_spv_decorate(s, c->args, SpvDecorationNonWritable);
    rg_spv_block_interface(c, c->args);
}

/* Loads the member at offset, whatever its type, in the first block. */
static uint32_t load_member(rg_spv_fn *c, uint32_t offset, uint32_t *type) {
    uint32_t lo = 0, hi = c->members.n;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (c->members.at[mid].offset <= offset)
            lo = mid;
        else
            hi = mid;
    }
    if (lo >= c->members.n || c->members.at[lo].offset != offset)
        rg_bug(c->s->arena, "SPIR-V: no argument at offset %u", offset);
    *type = c->members.at[lo].type;
    uint32_t p =
        RG_SPV_OP(c, SpvOpAccessChain, rg_spv_pointer(c->s, SpvStorageClassStorageBuffer, *type),
                  c->args, rg_spv_u32(c->s, lo));
    uint32_t id = RG_SPV_OP(c, SpvOpLoad, *type, p);
    if (!c->members.at[lo].pointer)
        return id;
    *type = c->members.at[lo].pointer;
    return RG_SPV_OP(c, SpvOpConvertUToPtr, *type, id);
}

static uint32_t load_word(rg_spv_fn *c, uint32_t offset) {
    rg_spv *s = c->s;
    uint32_t p =
        RG_SPV_OP(c, SpvOpAccessChain, rg_spv_pointer(s, SpvStorageClassStorageBuffer, s->t_u32),
                  c->args, rg_spv_u32(s, 0), rg_spv_u32(s, offset / 4));
    return RG_SPV_OP(c, SpvOpLoad, s->t_u32, p);
}

static uint32_t load_pair(rg_spv_fn *c, uint32_t offset, uint32_t type) {
    uint32_t a = load_word(c, offset), b = load_word(c, offset + 4);
    uint32_t v = RG_SPV_OP(c, SpvOpCompositeConstruct, c->s->t_v2u, a, b);
    return RG_SPV_OP(c, SpvOpBitcast, type, v);
}

uint32_t rg_spv_arg_value(rg_spv_fn *c, uint32_t offset, rg_type t) {
    rg_spv *s = c->s;
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    uint32_t id, type = rg_spv_value_type(s, t), got;
    if (c->address)
        id = load_member(c, offset, &got);
    else if (rg_type_size(t) == 8)
        id = load_pair(c, offset, type);
    else {
        id = load_word(c, offset);
        if (t == RG_F32)
            id = RG_SPV_OP(c, SpvOpBitcast, type, id);
    }
    if (t == RG_BOOL)
        id = RG_SPV_OP(c, SpvOpINotEqual, s->t_bool, id, rg_spv_u32(s, 0));
    c->out = was;
    return id;
}

uint32_t rg_spv_arg_low(rg_spv_fn *c, uint32_t offset, rg_type t) {
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    uint32_t id, got = 0;
    (void)t;
    if (c->address) {
        id = load_member(c, offset, &got);
        if (got != c->s->t_u32)
            id = RG_SPV_OP(c, SpvOpUConvert, c->s->t_u32, id);
    } else {
        id = load_word(c, offset);
    }
    c->out = was;
    return id;
}

uint32_t rg_spv_arg_index(rg_spv_fn *c, uint32_t offset) {
    return c->index64 ? rg_spv_arg_value(c, offset, RG_I64) : rg_spv_arg_low(c, offset, RG_I64);
}

uint32_t rg_spv_arg_reference(rg_spv_fn *c, uint32_t offset, uint32_t bytes) {
    rg_spv *s = c->s;
    rg_spv_words *was = c->out;
    uint32_t id, got, shift = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    c->out = &c->entry;
    if (c->address) {
        id = load_member(c, offset, &got);
    } else if (c->index64) {
        id = load_pair(c, offset, c->t_index);
        if (shift)
            id = RG_SPV_OP(c, SpvOpShiftRightLogical, c->t_index, id, rg_spv_u32(s, shift));
    } else {
        id = load_word(c, offset);
        if (shift) {
            uint32_t high = load_word(c, offset + 4);
            id = RG_SPV_OP(c, SpvOpShiftRightLogical, s->t_u32, id, rg_spv_u32(s, shift));
            high = RG_SPV_OP(c, SpvOpShiftLeftLogical, s->t_u32, high, rg_spv_u32(s, 32 - shift));
            id = RG_SPV_OP(c, SpvOpBitwiseOr, s->t_u32, id, high);
        }
    }
    c->out = was;
    return id;
}

/* ---- memory blocks ---- */

uint32_t rg_spv_block(rg_spv_fn *c, uint32_t block, uint32_t bytes, bool is_float) {
    rg_spv *s = c->s;
    uint32_t shift = bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
    uint32_t binding = 1 + 4 * block + shift;
    for (uint32_t k = 0; k < s->blocks.n; k++)
        if (s->blocks.at[k].binding == binding && s->blocks.at[k].is_float == is_float) {
            c->bindings[binding / 64 & 3] |= (uint64_t)1 << binding % 64;
            rg_spv_block_interface(c, s->blocks.at[k].variable);
            return s->blocks.at[k].variable;
        }
    if (bytes == 1) {
        rg_spv_capability(s, SpvCapabilityStorageBuffer8BitAccess);
        rg_spv_extension(s, "SPV_KHR_8bit_storage");
    } else if (bytes == 2) {
        rg_spv_capability(s, SpvCapabilityStorageBuffer16BitAccess);
        rg_spv_extension(s, "SPV_KHR_16bit_storage");
    }
    uint32_t type =
        words_struct(s, is_float ? rg_spv_float(s, bytes * 8) : rg_spv_int(s, bytes * 8), bytes);
    uint32_t id =
        bound(c, type, binding,
              rg_format(s->arena, "block%u_%s%u", block, is_float ? "f" : "w", bytes * 8));
    rg_spv_decorate(s, id, SpvDecorationAliased);
    RG_PUSH(s->arena, &s->blocks, (rg_spv_bound){binding, is_float, id});
    c->bindings[binding / 64 & 3] |= (uint64_t)1 << binding % 64;
    rg_spv_block_interface(c, id);
    return id;
}
