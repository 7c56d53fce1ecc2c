/* Reductions: each invocation has a partial result; the workgroup's are combined in shared memory
 * (sums of floats and integers first within each subgroup), and one invocation combines the
 * outcome with the slot, atomically. */
#include "emit/spirv/reduce.h"

#include "ir/eval.h"

static uint32_t scope(rg_spv_fn *c) {
    return rg_spv_u32(c->s, SpvScopeWorkgroup);
}

static void barrier(rg_spv_fn *c) {
    RG_SPV_DO(c, SpvOpControlBarrier, scope(c), scope(c),
              rg_spv_u32(c->s, SpvMemorySemanticsAcquireReleaseMask |
                                   SpvMemorySemanticsWorkgroupMemoryMask));
}

uint32_t rg_spv_identity(rg_spv_fn *c, rg_red kind, rg_type t) {
    rg_const r = rg_red_identity(kind, t);
    return rg_type_is_float(t) ? rg_spv_real(c, t, r.f) : rg_spv_const_int(c->s, t, r.i);
}

/* Shared memory for one value of each invocation; bools as words. */
static uint32_t shared(rg_spv_fn *c, uint32_t type) {
    rg_spv *s = c->s;
    for (uint32_t k = 0; k < s->shared.n; k++)
        if (s->shared.at[k].type == type) {
            rg_spv_block_interface(c, s->shared.at[k].id);
            return s->shared.at[k].id;
        }
    uint32_t n = s->o->caps.workgroup ? s->o->caps.workgroup : RG_SPV_WORKGROUP;
    uint32_t p = rg_spv_pointer(s, SpvStorageClassWorkgroup, rg_spv_array(s, type, n));
    uint32_t id = rg_spv_id(s), w[] = {p, id, SpvStorageClassWorkgroup};
    rg_spv_put(s, &s->types, SpvOpVariable, w, 3);
    rg_spv_name(s, id, "partial");
    RG_PUSH(s->arena, &s->shared, (rg_spv_shared){type, id});
    rg_spv_block_interface(c, id);
    return id;
}

static uint32_t cell(rg_spv_fn *c, uint32_t array, uint32_t type, uint32_t at) {
    return RG_SPV_OP(c, SpvOpAccessChain, rg_spv_pointer(c->s, SpvStorageClassWorkgroup, type),
                     array, at);
}

static uint32_t get(rg_spv_fn *c, uint32_t array, uint32_t type, rg_type t, uint32_t at) {
    uint32_t v = RG_SPV_OP(c, SpvOpLoad, type, cell(c, array, type, at));
    return t == RG_BOOL ? RG_SPV_OP(c, SpvOpINotEqual, c->s->t_bool, v, rg_spv_u32(c->s, 0)) : v;
}

static void put(rg_spv_fn *c, uint32_t array, uint32_t type, rg_type t, uint32_t at, uint32_t v) {
    if (t == RG_BOOL)
        v = RG_SPV_OP(c, SpvOpSelect, c->s->t_u32, v, rg_spv_u32(c->s, 1), rg_spv_u32(c->s, 0));
    RG_SPV_DO(c, SpvOpStore, cell(c, array, type, at), v);
}

/* Sum over the subgroup, then over the subgroups: invocation 0 has it. */
static uint32_t subgroup_sum(rg_spv_fn *c, rg_type t, uint32_t v, uint32_t local) {
    rg_spv *s = c->s;
    uint32_t type = rg_spv_value_type(s, t), array = shared(c, type);
    rg_spv_capability(s, SpvCapabilityGroupNonUniform);
    rg_spv_capability(s, SpvCapabilityGroupNonUniformArithmetic);
    uint32_t subgroup = rg_spv_u32(s, SpvScopeSubgroup);
    uint32_t number = rg_spv_builtin(c, SpvBuiltInSubgroupId, s->t_u32);
    uint32_t count = rg_spv_builtin(c, SpvBuiltInNumSubgroups, s->t_u32);
    v = RG_SPV_OP(c, rg_type_is_float(t) ? SpvOpGroupNonUniformFAdd : SpvOpGroupNonUniformIAdd,
                  type, subgroup, SpvGroupOperationReduce, v);
    uint32_t chosen = RG_SPV_OP(c, SpvOpGroupNonUniformElect, s->t_bool, subgroup);
    uint32_t merge = rg_spv_if(c, chosen);
    put(c, array, type, t, number, v);
    rg_spv_branch(c, merge);
    rg_spv_label(c, merge);
    barrier(c);
    /* Few subgroups: one invocation adds them up; the others run no iteration. */
    uint32_t first = RG_SPV_OP(c, SpvOpIEqual, s->t_bool, local, rg_spv_u32(s, 0));
    uint32_t n = RG_SPV_OP(c, SpvOpSelect, s->t_u32, first, count, rg_spv_u32(s, 0));
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), end = rg_spv_id(s);
    uint32_t from = c->block;
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t k = rg_spv_phi(c, s->t_u32, rg_spv_u32(s, 0), from, 0, next), k_at = c->out->n - 2;
    uint32_t sum = rg_spv_phi(c, type, rg_spv_identity(c, RG_RED_ADD, t), from, 0, next);
    uint32_t sum_at = c->out->n - 2;
    uint32_t more = RG_SPV_OP(c, SpvOpULessThan, s->t_bool, k, n);
    RG_SPV_DO(c, SpvOpLoopMerge, end, next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, end);
    rg_spv_label(c, body);
    uint32_t x = rg_spv_combine(c, RG_RED_ADD, t, sum, get(c, array, type, t, k));
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    uint32_t k1 = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, k, rg_spv_u32(s, 1));
    c->out->at[k_at] = k1;
    c->out->at[sum_at] = x;
    rg_spv_branch(c, header);
    rg_spv_label(c, end);
    return sum;
}

/* Halves the number of partial results until one is left. */
static uint32_t tree(rg_spv_fn *c, rg_red kind, rg_type t, uint32_t v, uint32_t local) {
    rg_spv *s = c->s;
    uint32_t type = t == RG_BOOL ? s->t_u32 : rg_spv_value_type(s, t);
    uint32_t array = shared(c, type), n = c->workgroup, half = 1;
    while (half * 2 < n)
        half *= 2;
    put(c, array, type, t, local, v);
    for (; half && n > 1; half /= 2) {
        barrier(c);
        /* in the first round n may be no power of two */
        uint32_t most = n - half < half ? n - half : half;
        uint32_t mine = RG_SPV_OP(c, SpvOpULessThan, s->t_bool, local, rg_spv_u32(s, most));
        uint32_t merge = rg_spv_if(c, mine);
        uint32_t other = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, local, rg_spv_u32(s, half));
        uint32_t a = get(c, array, type, t, local), b = get(c, array, type, t, other);
        put(c, array, type, t, local, rg_spv_combine(c, kind, t, a, b));
        rg_spv_branch(c, merge);
        rg_spv_label(c, merge);
        n = half;
    }
    barrier(c);
    return get(c, array, type, t, rg_spv_u32(s, 0));
}

void rg_spv_reduce(rg_spv_fn *c, rg_red kind, rg_type t, uint32_t v, uint32_t slot, rg_loc loc) {
    rg_spv *s = c->s;
    uint32_t local = rg_spv_builtin(c, SpvBuiltInLocalInvocationIndex, s->t_u32);
    /* Over 64-bit integers it would want the feature shaderSubgroupExtendedTypes. */
    bool wide = t == RG_I64 || t == RG_U64;
    bool sum = kind == RG_RED_ADD && t != RG_BOOL && !wide && s->o->caps.subgroup_add;
    uint32_t all = sum ? subgroup_sum(c, t, v, local) : tree(c, kind, t, v, local);
    uint32_t first = RG_SPV_OP(c, SpvOpIEqual, s->t_bool, local, rg_spv_u32(s, 0));
    uint32_t merge = rg_spv_if(c, first);
    rg_spv_slot_combine(c, slot, kind, t, all, loc);
    rg_spv_branch(c, merge);
    rg_spv_label(c, merge);
    barrier(c); /* the next reduction uses the same shared memory */
}
