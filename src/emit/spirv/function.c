/* Three word lists make a function: its variables, which SPIR-V wants first, what is loaded once in
 * the first block whenever it turns out to be needed, and the code. */
#include "emit/spirv/function.h"

#include <math.h>

const char rg_spv_int64_feature[] = "64-bit integers (shaderInt64)";

void rg_spv_fn_init(rg_spv_fn *c, rg_spv *s, struct rg_spv_maths *m, const rg_fn *f) {
    *c = (rg_spv_fn){.s = s, .maths = m, .f = f};
    c->address = s->o->caps.addressing == RG_SPIRV_ADDRESS;
    c->index64 = s->o->index64;
    c->t_index = c->index64 ? rg_spv_int(s, 64) : s->t_u32;
    c->id = RG_NEW_N(s->arena, uint32_t, f->vals.n + 1);
    c->low = RG_NEW_N(s->arena, uint32_t, f->vals.n + 1);
    c->demand = RG_NEW_N(s->arena, uint8_t, f->vals.n + 1);
    c->arrays = RG_NEW_N(s->arena, rg_spv_array_state, f->arrays.n + 1);
    c->out = &c->code;
    c->entry_label = c->block = rg_spv_id(s);
}

void rg_spv_do(rg_spv_fn *c, SpvOp op, const uint32_t *words, uint32_t n) {
    rg_spv_put(c->s, c->out, op, words, n);
}

uint32_t rg_spv_emit(rg_spv_fn *c, SpvOp op, uint32_t type, const uint32_t *words, uint32_t n) {
    uint32_t id = rg_spv_id(c->s);
    uint32_t head[] = {(n + 3) << 16 | (uint32_t)op, type, id};
    for (uint32_t k = 0; k < 3; k++)
        RG_PUSH(c->s->arena, c->out, head[k]);
    for (uint32_t k = 0; k < n; k++)
        RG_PUSH(c->s->arena, c->out, words[k]);
    return id;
}

uint32_t rg_spv_ext(rg_spv_fn *c, uint32_t which, uint32_t type, const uint32_t *x, uint32_t n) {
    uint32_t w[6] = {c->s->glsl, which};
    for (uint32_t k = 0; k < n && k < 4; k++)
        w[k + 2] = x[k];
    return rg_spv_emit(c, SpvOpExtInst, type, w, n + 2);
}

uint32_t rg_spv_exact(rg_spv_fn *c, uint32_t id) {
    if (!c->s->o->contract || !c->plan)
        rg_spv_decorate(c->s, id, SpvDecorationNoContraction);
    return id;
}

void rg_spv_label(rg_spv_fn *c, uint32_t label) {
    RG_SPV_DO(c, SpvOpLabel, label);
    c->block = label;
    c->loc = 0; /* OpLine ends with the block */
}

void rg_spv_branch(rg_spv_fn *c, uint32_t label) {
    RG_SPV_DO(c, SpvOpBranch, label);
}

uint32_t rg_spv_if(rg_spv_fn *c, uint32_t cond) {
    uint32_t then = rg_spv_id(c->s), merge = rg_spv_id(c->s);
    RG_SPV_DO(c, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, cond, then, merge);
    rg_spv_label(c, then);
    return merge;
}

uint32_t rg_spv_variable(rg_spv_fn *c, uint32_t type) {
    uint32_t id = rg_spv_id(c->s);
    uint32_t w[] = {rg_spv_pointer(c->s, SpvStorageClassFunction, type), id,
                    SpvStorageClassFunction};
    rg_spv_put(c->s, &c->vars, SpvOpVariable, w, 3);
    return id;
}

uint32_t rg_spv_phi(rg_spv_fn *c, uint32_t type, uint32_t a, uint32_t from_a, uint32_t b,
                    uint32_t from_b) {
    return RG_SPV_OP(c, SpvOpPhi, type, a, from_a, b, from_b);
}

void rg_spv_line(rg_spv_fn *c, rg_loc loc) {
    const rg_sources *src = c->f->module ? c->f->module->sources : NULL;
    if (!src || !loc || loc == c->loc || loc >= src->locs.n || c->out != &c->code)
        return;
    const rg_place *p = &src->locs.at[loc];
    if (p->file >= src->files.n || !p->line)
        return;
    RG_SPV_DO(c, SpvOpLine, rg_spv_string(c->s, src->files.at[p->file].path), p->line, p->col);
    c->loc = loc;
}

void rg_spv_lacks(rg_spv_fn *c, rg_loc loc, const char *feature) {
    /* Once for each feature: a kernel in doubles would say it on every line. */
    for (uint32_t k = 0; k < c->s->lacking.n; k++)
        if (c->s->lacking.at[k] == feature)
            return;
    RG_PUSH(c->s->arena, &c->s->lacking, feature);
    rg_error(c->s->diags, loc ? loc : c->f->loc, "use a device that has them, or a narrower type",
             "kernel '%s' needs %s, which the device does not have", c->f->name, feature);
}

void rg_spv_check_type(rg_spv_fn *c, rg_type t, rg_loc loc) {
    static const char floats[] = "64-bit floats (shaderFloat64)";
    if (t == RG_F64 && !c->s->o->caps.f64)
        rg_spv_lacks(c, loc, floats);
    if ((t == RG_I64 || t == RG_U64) && !c->s->o->caps.i64)
        rg_spv_lacks(c, loc, rg_spv_int64_feature);
}

/* ---- literals that the driver must not see (caps.hide_literals) ---- */

/* 0, which no compiler knows: workgroups are dispatched in x only. */
uint32_t rg_spv_zero_bits(rg_spv_fn *c) {
    if (!c->zero_bits) {
        uint32_t group = rg_spv_builtin(c, SpvBuiltInWorkgroupId, c->s->t_v3u);
        rg_spv_words *was = c->out;
        c->out = &c->entry;
        c->zero_bits = RG_SPV_OP(c, SpvOpCompositeExtract, c->s->t_u32, group, 1);
        c->out = was;
    }
    return c->zero_bits;
}

static uint32_t zero(rg_spv_fn *c, rg_type t) {
    uint32_t *id = &c->zero[t == RG_F64];
    if (!*id) {
        uint32_t b = rg_spv_zero_bits(c);
        rg_spv_words *was = c->out;
        c->out = &c->entry;
        if (t == RG_F64)
            *id = RG_SPV_OP(c, SpvOpFConvert, rg_spv_float(c->s, 64), zero(c, RG_F32));
        else
            *id = RG_SPV_OP(c, SpvOpBitcast, c->s->t_f32, b);
        c->out = was;
    }
    return *id;
}

uint32_t rg_spv_real(rg_spv_fn *c, rg_type t, double v) {
    rg_spv *s = c->s;
    /* In the maths library only zeros meet what a driver gets wrong. */
    if (!s->o->caps.hide_literals || (v != 0 && !c->plan))
        return rg_spv_const_real(s, t, v);
    uint32_t z = zero(c, t), type = rg_spv_value_type(s, t);
    if (v == 0 && !signbit(v))
        return z;
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    if (v == 0)
        z = RG_SPV_OP(c, SpvOpFNegate, type, z);
    else
        z = rg_spv_exact(c, RG_SPV_OP(c, SpvOpFAdd, type, rg_spv_const_real(s, t, v), z));
    c->out = was;
    return z;
}

uint32_t rg_spv_hide_real(rg_spv_fn *c, rg_type t, uint32_t x) {
    if (!c->s->o->caps.hide_literals)
        return x;
    return rg_spv_exact(c, RG_SPV_OP(c, SpvOpFAdd, rg_spv_value_type(c->s, t), x, zero(c, t)));
}

uint32_t rg_spv_hide_bits(rg_spv_fn *c, rg_type t, uint32_t x) {
    if (!c->s->o->caps.hide_literals)
        return x;
    uint32_t type = rg_spv_value_type(c->s, t), z = rg_spv_zero_bits(c);
    if (rg_type_size(t) == 8)
        z = RG_SPV_OP(c, SpvOpUConvert, type, z);
    return RG_SPV_OP(c, SpvOpBitwiseXor, type, x, z);
}

/* ---- values ---- */

uint32_t rg_spv_val(rg_spv_fn *c, rg_val v) {
    if (c->id[v])
        return c->id[v];
    const rg_fn *f = c->f;
    rg_type t = f->vals.at[v].type;
    if (rg_def_op(f, v) == RG_CONST) {
        const rg_ins *i = &f->ins.at[f->vals.at[v].def];
        rg_spv_check_type(c, t, i->loc);
        c->id[v] =
            rg_type_is_float(t) ? rg_spv_real(c, t, i->imm.f) : rg_spv_const_int(c->s, t, i->imm.i);
        return c->id[v];
    }
    rg_bug(c->s->arena, "SPIR-V: value %%%u of '%s' has no id", v, f->name);
}

uint32_t rg_spv_low(rg_spv_fn *c, rg_val v) {
    const rg_fn *f = c->f;
    if (rg_type_size(f->vals.at[v].type) != 8)
        return rg_spv_val(c, v);
    if (c->low[v])
        return c->low[v];
    int64_t n;
    if (rg_val_const_int(f, v, &n))
        return rg_spv_u32(c->s, (uint32_t)n);
    rg_bug(c->s->arena, "SPIR-V: value %%%u of '%s' has no low half", v, f->name);
}

uint32_t rg_spv_const_index(rg_spv_fn *c, uint64_t v) {
    return c->index64 ? rg_spv_u64(c->s, v) : rg_spv_u32(c->s, (uint32_t)v);
}

uint32_t rg_spv_to_index(rg_spv_fn *c, uint32_t id, bool wide, bool is_signed) {
    if (wide == c->index64)
        return id;
    return RG_SPV_OP(c, wide || !is_signed ? SpvOpUConvert : SpvOpSConvert, c->t_index, id);
}

uint32_t rg_spv_index(rg_spv_fn *c, rg_val v) {
    rg_type t = c->f->vals.at[v].type;
    int64_t n;
    if (rg_val_const_int(c->f, v, &n))
        return rg_spv_const_index(c, (uint64_t)n);
    if (!c->index64)
        return rg_spv_low(c, v);
    return rg_spv_to_index(c, rg_spv_val(c, v), rg_type_size(t) == 8, !rg_type_is_unsigned(t));
}
