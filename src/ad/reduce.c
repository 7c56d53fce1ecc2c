/* Reductions that are not sums.
 *
 * min, max: the elements that equal the result share its cotangent evenly (k of them: 1/k each, the
 * initial value counts as one). They are counted in integers: a sum of ones in float stands still
 * at 2^24. Product: each element's derivative is the product of the others; with one zero among
 * them only the zero's is not zero. Both need one more parallel sweep before the backward one,
 * which counts the ties, or the zeros, and multiplies the rest. */
#include "ad/adjoint.h"

static rg_val is_zero(rg_adj *s, rg_val v) {
    return rg_b_op2(s->b, RG_EQ, v, rg_b_zero(s->b, rg_type_of(s->g, v)));
}

/* Sweeps the body of the parallel with `red` doing what mode says; returns the results. */
static void count(rg_adj *s, rg_iid p, rg_red_mode mode, const rg_val *init, rg_red kind,
                  rg_val *out) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, p);
    uint32_t first = rg_first_init(f, p), n = ins.nres;
    rg_val bounds[6];
    for (uint32_t k = 0; k < first; k++)
        bounds[k] = s->fwd[rg_operand(f, p, k)];
    rg_red *reds = RG_NEW_N(s->arena, rg_red, n + 1);
    for (uint32_t k = 0; k < n; k++)
        reds[k] = kind;
    rg_iid j = rg_b_parallel(b, bounds, (uint32_t)ins.imm.i, init, reds, n);
    rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
    const rg_region *body = rg_region_at(f, ins.region[0]);
    for (uint32_t k = 0; k < body->args.n; k++)
        s->fwd[body->args.at[k]] = rg_b_arg(b, k);
    rg_rid frame = s->frame, root = s->root;
    uint32_t in_if = s->in_if;
    s->frame = rg_ins_at(s->g, j)->region[0];
    s->root = ins.region[0];
    s->in_if = 0;
    rg_red_mode before = s->red_mode;
    s->red_mode = mode;
    bool was = s->in_parallel;
    s->in_parallel = true;
    rg_adj_forward(s, ins.region[0], false);
    rg_val *v = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        v[k] = s->fwd[rg_operand(f, rg_yield_of(f, ins.region[0]), k)];
    rg_b_yield(b, v, n);
    s->in_parallel = was;
    s->red_mode = before;
    s->frame = frame;
    s->root = root;
    s->in_if = in_if;
    rg_b_pop(b);
    rg_adj_restore_snapshot(s, p); /* the sweep has written, as the loop did */
    for (uint32_t k = 0; k < n; k++)
        out[k] = rg_result(s->g, j, k);
}

void rg_adj_sweep_parallel(rg_adj *s, rg_iid p) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, p);
    uint32_t first = rg_first_init(f, p), carried = rg_first_carried(f, p);
    rg_val bounds[6];
    for (uint32_t k = 0; k < first; k++)
        bounds[k] = s->fwd[rg_operand(f, p, k)];
    rg_iid j = rg_b_parallel(b, bounds, (uint32_t)ins.imm.i, NULL, NULL, 0);
    rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
    const rg_region *body = rg_region_at(f, ins.region[0]);
    for (uint32_t k = 0; k < body->args.n; k++)
        s->fwd[body->args.at[k]] =
            k < carried ? rg_b_arg(b, k) : rg_b_zero(b, rg_type_of(f, body->args.at[k]));
    rg_rid frame = s->frame, root = s->root;
    uint32_t in_if = s->in_if;
    rg_red_mode before = s->red_mode;
    bool was = s->in_parallel;
    s->frame = rg_ins_at(s->g, j)->region[0];
    s->root = ins.region[0];
    s->in_if = 0;
    s->red_mode = RG_RED_PASS;
    s->in_parallel = true;
    rg_adj_forward(s, ins.region[0], false);
    rg_b_yield(b, NULL, 0);
    s->in_parallel = was;
    s->red_mode = before;
    s->frame = frame;
    s->root = root;
    s->in_if = in_if;
    rg_b_pop(b);
    rg_adj_restore_snapshot(s, p);
}

/* Some instruction `op` of region r stands in a loop in it. */
static bool repeats(const rg_fn *f, rg_rid r, rg_op op, bool in_loop) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *q = rg_ins_at(f, g->ins.at[k]);
        if (q->op == op && in_loop)
            return true;
        for (int n = 0; n < 2; n++)
            if (q->region[n] && repeats(f, q->region[n], op, in_loop || q->op != RG_IF))
                return true;
    }
    return false;
}

rg_type rg_adj_count_type(const rg_fn *f, rg_iid parallel, rg_op op) {
    const rg_ins *q = rg_ins_at(f, parallel);
    rg_val index = rg_region_at(f, q->region[0])->args.at[0];
    bool small = q->imm.i == 1 && rg_type_of(f, index) == RG_I32;
    return small && !repeats(f, q->region[0], op, false) ? RG_U32 : RG_I64;
}

void rg_adj_prepare_reductions(rg_adj *s, rg_iid p) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, p);
    uint32_t first = rg_first_init(f, p), n = ins.nres;
    bool ties = false, product = false;
    s->parallel = p;
    s->red_result = RG_NEW_N(s->arena, rg_val, n + 1);
    s->red_ties = RG_NEW_N(s->arena, rg_val, n + 1);
    s->red_zeros = RG_NEW_N(s->arena, rg_val, n + 1);
    rg_val *init = RG_NEW_N(s->arena, rg_val, n + 1);
    rg_val *ones = RG_NEW_N(s->arena, rg_val, n + 1);
    rg_val *zeros = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        rg_val r = rg_result(f, p, k);
        rg_red kind = (rg_red)f->pool.at[ins.aux + k];
        s->red_result[k] = s->fwd[r];
        rg_type t = rg_type_of(f, r);
        zeros[k] = rg_b_zero(b, t);
        ones[k] = rg_type_is_float(t) ? rg_b_real(b, t, 1) : rg_b_int(b, t, 1);
        init[k] = s->fwd[rg_operand(f, p, first + k)];
        if (!s->bar[r])
            continue;
        ties |= kind == RG_RED_MIN || kind == RG_RED_MAX;
        product |= kind == RG_RED_MUL;
    }
    if (ties) {
        rg_val *start = RG_NEW_N(s->arena, rg_val, n + 1);
        rg_type t = rg_adj_count_type(f, p, RG_RED);
        for (uint32_t k = 0; k < n; k++)
            start[k] = rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_EQ, init[k], s->red_result[k]),
                                rg_b_int(b, t, 1), rg_b_int(b, t, 0));
        count(s, p, RG_RED_TIES, start, RG_RED_ADD, s->red_ties);
        for (uint32_t k = 0; k < n; k++)
            s->red_ties[k] = rg_b_cast(b, rg_type_of(s->g, s->red_result[k]), s->red_ties[k]);
    }
    if (product) {
        rg_val *start = RG_NEW_N(s->arena, rg_val, n + 1),
               *rest = RG_NEW_N(s->arena, rg_val, n + 1);
        for (uint32_t k = 0; k < n; k++)
            start[k] = rg_b_op3(b, RG_SELECT, is_zero(s, init[k]), ones[k], zeros[k]);
        count(s, p, RG_RED_ZEROS, start, RG_RED_ADD, s->red_zeros);
        for (uint32_t k = 0; k < n; k++)
            start[k] = rg_b_op3(b, RG_SELECT, is_zero(s, init[k]), ones[k], init[k]);
        count(s, p, RG_RED_NONZERO, start, RG_RED_MUL, rest);
        for (uint32_t k = 0; k < n; k++)
            if ((rg_red)f->pool.at[ins.aux + k] == RG_RED_MUL)
                s->red_ties[k] = rest[k]; /* the product of all that is not zero */
    }
}

rg_val rg_adj_share(rg_adj *s, rg_red kind, rg_val e, rg_val g, rg_val result, rg_val rest_or_ties,
                    rg_val zeros) {
    rg_build *b = s->b;
    rg_type t = rg_type_of(s->g, e);
    rg_val zero = rg_b_zero(b, t);
    if (kind == RG_RED_MIN || kind == RG_RED_MAX)
        return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_EQ, e, result),
                        rg_b_op2(b, RG_DIV, g, rest_or_ties), zero);
    if (kind == RG_RED_MUL) {
        /* no zero: all / e; e the only zero: the rest; otherwise 0 */
        rg_val none = is_zero(s, zeros);
        rg_val one = rg_b_op2(b, RG_EQ, zeros, rg_b_real(b, t, 1));
        rg_val alone = rg_b_op2(b, RG_AND, one, is_zero(s, e));
        rg_val part = rg_b_op3(b, RG_SELECT, none, rg_b_op2(b, RG_DIV, rest_or_ties, e),
                               rg_b_op3(b, RG_SELECT, alone, rest_or_ties, zero));
        return rg_b_op2(b, RG_ZMUL, g, part);
    }
    return g;
}

rg_val rg_adj_red_share(rg_adj *s, rg_red kind, uint32_t k, rg_val e, rg_val g) {
    return rg_adj_share(s, kind, e, g, s->red_result[k], s->red_ties[k], s->red_zeros[k]);
}

void rg_adj_red_backward(rg_adj *s, rg_iid red, rg_val g) {
    const rg_fn *f = s->f;
    rg_val acc = rg_operand(f, red, 0), e = rg_operand(f, red, 1);
    rg_red kind = (rg_red)rg_ins_at(f, red)->imm.i;
    if (s->varied->val[acc])
        s->bar[acc] = s->bar[acc] ? rg_b_op2(s->b, RG_ADD, s->bar[acc], g) : g;
    if (!s->varied->val[e])
        return;
    rg_val c = g;
    if (kind != RG_RED_ADD)
        c = rg_adj_red_share(s, kind, rg_adj_red_index(f, red, s->parallel), s->fwd[e], g);
    s->bar[e] = s->bar[e] ? rg_b_op2(s->b, RG_ADD, s->bar[e], c) : c;
}
