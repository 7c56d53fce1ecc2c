/* Atomics: one instruction where SPIR-V and the device have it, else compare-and-swap on the word
 * that holds the scalar; never a plain read and write. */
#include "emit/spirv/place.h"

static bool float_add(const rg_spv_fn *c, rg_red kind, rg_mem mem) {
    return kind == RG_RED_ADD && ((mem == RG_M_F32 && c->s->o->caps.atomic_f32_add) ||
                                  (mem == RG_M_F64 && c->s->o->caps.atomic_f64_add));
}

bool rg_spv_atomic_direct(const rg_spv_fn *c, rg_red kind, rg_mem mem) {
    return float_add(c, kind, mem);
}

static SpvOp int_op(rg_red kind, rg_mem mem) {
    bool is_unsigned = mem == RG_M_U32 || mem == RG_M_U64;
    switch (kind) {
    case RG_RED_ADD:
        return SpvOpAtomicIAdd;
    case RG_RED_MIN:
        return is_unsigned ? SpvOpAtomicUMin : SpvOpAtomicSMin;
    case RG_RED_MAX:
        return is_unsigned ? SpvOpAtomicUMax : SpvOpAtomicSMax;
    case RG_RED_AND:
        return SpvOpAtomicAnd;
    case RG_RED_OR:
        return SpvOpAtomicOr;
    case RG_RED_XOR:
        return SpvOpAtomicXor;
    case RG_RED_SET:
        return SpvOpAtomicExchange;
    default:
        return SpvOpNop;
    }
}

static uint32_t scope(rg_spv_fn *c) {
    return rg_spv_u32(c->s, SpvScopeDevice);
}
static uint32_t relaxed(rg_spv_fn *c) {
    return rg_spv_u32(c->s, SpvMemorySemanticsMaskNone);
}

bool rg_spv_atomic_can(rg_spv_fn *c, rg_mem mem, rg_loc loc) {
    bool ok = rg_mem_size(mem) < 8 || (c->s->o->caps.i64_atomics && c->s->o->caps.i64);
    if (!ok)
        rg_spv_lacks(c, loc, "64-bit atomics (shaderBufferInt64Atomics)");
    return ok;
}

/* The word with the scalar's bits replaced by those of v. */
static uint32_t insert(rg_spv_fn *c, rg_mem mem, uint32_t word, uint32_t shift, uint32_t v) {
    rg_spv *s = c->s;
    uint32_t u = s->t_u32, mask = rg_spv_u32(s, (1u << rg_mem_size(mem) * 8) - 1);
    uint32_t own = RG_SPV_OP(c, SpvOpShiftLeftLogical, u, mask, shift);
    uint32_t keep = RG_SPV_OP(c, SpvOpBitwiseAnd, u, word, RG_SPV_OP(c, SpvOpNot, u, own));
    v = RG_SPV_OP(c, SpvOpBitwiseAnd, u, v, mask);
    v = RG_SPV_OP(c, SpvOpShiftLeftLogical, u, v, shift);
    return RG_SPV_OP(c, SpvOpBitwiseOr, u, keep, v);
}

uint32_t rg_spv_atomic_read(rg_spv_fn *c, rg_mem mem, uint32_t word, uint32_t shift) {
    rg_spv *s = c->s;
    bool wide = rg_mem_size(mem) == 8;
    if (wide)
        rg_spv_capability(s, SpvCapabilityInt64Atomics);
    uint32_t type = wide ? rg_spv_int(s, 64) : s->t_u32;
    uint32_t v = RG_SPV_OP(c, SpvOpAtomicLoad, type, word, scope(c), relaxed(c));
    if (shift)
        v = RG_SPV_OP(c, SpvOpShiftRightLogical, s->t_u32, v, shift);
    return rg_spv_from_word(c, mem, v);
}

/* Reads the word, then tries to replace it until nothing came between. */
static void swap_loop(rg_spv_fn *c, rg_red kind, rg_mem mem, uint32_t pointer, uint32_t shift,
                      uint32_t v, uint32_t *old_out, uint32_t *fresh_out) {
    rg_spv *s = c->s;
    rg_type vt = rg_mem_value(mem);
    uint32_t type = rg_mem_size(mem) == 8 ? rg_spv_int(s, 64) : s->t_u32;
    uint32_t first = RG_SPV_OP(c, SpvOpAtomicLoad, type, pointer, scope(c), relaxed(c));
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block;
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t word = rg_spv_phi(c, type, first, from, 0, next);
    uint32_t at = c->out->n - 2;
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    rg_spv_branch(c, body);
    rg_spv_label(c, body);
    uint32_t bits = shift ? RG_SPV_OP(c, SpvOpShiftRightLogical, type, word, shift) : word;
    uint32_t old = rg_spv_from_word(c, mem, bits);
    uint32_t fresh = rg_spv_combine(c, kind, vt, old, v);
    uint32_t put = rg_spv_to_word(c, mem, fresh);
    if (shift)
        put = insert(c, mem, word, shift, put);
    uint32_t seen = RG_SPV_OP(c, SpvOpAtomicCompareExchange, type, pointer, scope(c), relaxed(c),
                              relaxed(c), put, word);
    c->out->at[at] = seen;
    uint32_t done = RG_SPV_OP(c, SpvOpIEqual, s->t_bool, seen, word);
    RG_SPV_DO(c, SpvOpBranchConditional, done, merge, next);
    rg_spv_label(c, next);
    rg_spv_branch(c, header);
    rg_spv_label(c, merge);
    if (old_out)
        *old_out = old;
    if (fresh_out)
        *fresh_out = rg_spv_wrap(c, mem, vt, fresh);
}

void rg_spv_atomic(rg_spv_fn *c, rg_red kind, rg_mem mem, uint32_t word, uint32_t float_word,
                   uint32_t shift, uint32_t v, uint32_t *old, uint32_t *fresh) {
    rg_spv *s = c->s;
    bool wide = rg_mem_size(mem) == 8, is_float = rg_mem_is_float(mem);
    rg_type vt = rg_mem_value(mem);
    uint32_t type = rg_spv_value_type(s, vt);
    if (float_word && float_add(c, kind, mem)) {
        rg_spv_capability(s, wide ? SpvCapabilityAtomicFloat64AddEXT
                                  : SpvCapabilityAtomicFloat32AddEXT);
        rg_spv_extension(s, "SPV_EXT_shader_atomic_float_add");
        uint32_t r = RG_SPV_OP(c, SpvOpAtomicFAddEXT, type, float_word, scope(c), relaxed(c), v);
        if (old)
            *old = r;
        if (fresh)
            *fresh = rg_spv_combine(c, kind, vt, r, v);
        return;
    }
    if (wide)
        rg_spv_capability(s, SpvCapabilityInt64Atomics);
    SpvOp op = int_op(kind, mem);
    bool direct = rg_mem_size(mem) >= 4 && op != SpvOpNop && (!is_float || kind == RG_RED_SET);
    if (!direct) {
        swap_loop(c, kind, mem, word, shift, v, old, fresh);
        return;
    }
    uint32_t bits = rg_spv_to_word(c, mem, v);
    uint32_t wt = wide ? rg_spv_int(s, 64) : s->t_u32;
    uint32_t r = RG_SPV_OP(c, op, wt, word, scope(c), relaxed(c), bits);
    r = rg_spv_from_word(c, mem, r);
    if (old)
        *old = r;
    if (fresh)
        *fresh = rg_spv_combine(c, kind, vt, r, v);
}
