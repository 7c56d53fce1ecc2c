/* Library functions as SPIR-V functions: each is built as IR when it is first called for, and
 * printed by the same code as everything else. */
#include "emit/mathlib.h"
#include "emit/spirv/function.h"

typedef struct library_function {
    rg_op op;
    rg_type t;
    uint32_t id;
} library_function;

typedef struct rg_spv_maths {
    rg_spv *s;
    RG_VEC(library_function) list;
} rg_spv_maths;

rg_spv_maths *rg_spv_maths_new(rg_spv *s) {
    rg_spv_maths *m = RG_NEW(s->arena, rg_spv_maths);
    m->s = s;
    return m;
}

static rg_type result_type(rg_op op, rg_type t) {
    return op == RG_ILOGB ? RG_I32 : rg_ops[op].type == RG_T_TEST ? RG_BOOL : t;
}

static rg_type operand_type(rg_op op, rg_type t, uint32_t k) {
    return op == RG_LDEXP && k == 1 ? RG_I32 : t;
}

uint32_t rg_spv_maths_call(rg_spv_fn *c, rg_op op, rg_type t, const uint32_t *x) {
    rg_spv_maths *m = c->maths;
    rg_spv *s = m->s;
    if (!rg_math_has(op, t))
        rg_bug(s->arena, "SPIR-V: no way to print '%s' of %s", rg_ops[op].text, rg_type_name(t));
    if (t == RG_F64 && !s->o->caps.i64)
        rg_spv_lacks(c, c->loc, rg_spv_int64_feature);
    uint32_t id = 0, n = (uint32_t)rg_ops[op].operands;
    for (uint32_t k = 0; k < m->list.n; k++)
        if (m->list.at[k].op == op && m->list.at[k].t == t)
            id = m->list.at[k].id;
    if (!id) {
        id = rg_spv_id(s);
        RG_PUSH(s->arena, &m->list, (library_function){op, t, id});
    }
    uint32_t w[4] = {id};
    for (uint32_t k = 0; k < n && k < 3; k++)
        w[k + 1] = x[k];
    return rg_spv_emit(c, SpvOpFunctionCall, rg_spv_value_type(s, result_type(op, t)), w, n + 1);
}

static void print_function(rg_spv_maths *m, library_function q) {
    rg_spv *s = m->s;
    const char *name = rg_format(s->arena, "rg_%s_%s", rg_ops[q.op].text, rg_type_name(q.t));
    rg_fn *f = rg_fn_new(s->arena, NULL, name);
    uint32_t n = (uint32_t)rg_ops[q.op].operands, params[3], types[3];
    rg_val x[3];
    for (uint32_t k = 0; k < n && k < 3; k++)
        x[k] = rg_region_add_arg(f, f->body, operand_type(q.op, q.t, k));
    rg_build *b = rg_b_new(f);
    rg_val r = rg_math_build(b, q.op, q.t, x);
    rg_spv_fn c;
    rg_spv_fn_init(&c, s, m, f);
    for (uint32_t k = 0; k < n && k < 3; k++) {
        params[k] = c.id[x[k]] = rg_spv_id(s);
        types[k] = rg_spv_value_type(s, operand_type(q.op, q.t, k));
    }
    const rg_region *g = &f->regions.at[f->body];
    rg_spv_demand(&c, g->ins.at, g->ins.n);
    rg_spv_region(&c, f->body);
    RG_SPV_DO(&c, SpvOpReturnValue, rg_spv_val(&c, r));
    rg_spv_name(s, q.id, name);
    rg_spv_fn_finish(&c, q.id, rg_spv_value_type(s, result_type(q.op, q.t)), params, types, n);
}

void rg_spv_maths_finish(rg_spv_maths *m) {
    for (uint32_t k = 0; k < m->list.n; k++) /* printing one may ask for others */
        print_function(m, m->list.at[k]);
}
