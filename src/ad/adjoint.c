/* Reverse mode.
 *
 * The adjoint of a region is its forward sweep (forward.c) followed by its backward sweep, which
 * visits the instructions in reverse and adds to cotangents ("bars"):
 *
 *     v = op(x, y)     x_b += op_x(x, y) v_b;  y_b += op_y(x, y) v_b
 *     v = load a[i]    a_b[i] += v_b
 *     store a[i] = v   v_b += a_b[i];  a_b[i] = 0
 *     a[i] += v        v_b += a_b[i]
 *     if c             if c, with the backward sweep of the branch that was taken
 *     for, loop        the iterations in reverse order: what the iteration carried in is loaded
 *                      again, memory goes back to the iteration's start, the body is swept forward
 *                      (augmented) and backward
 *     parallel         a parallel: each iteration is swept forward again, then backward
 *
 * Cotangents of values from outside a region travel through it as carried values (for, loop), as
 * results (if), or as sum reductions (parallel). What turns out to be unused is left to dead-code
 * elimination: that is what decides which values are saved and which code is run again. */
#include "ad/adjoint.h"

#include "ad/custom.h"
#include "ad/rules.h"

#include <stdarg.h>
#include <stdio.h>

static void backward(rg_adj *s, rg_rid r);

void rg_adj_refuse(rg_adj *s, rg_loc loc, const char *hint, const char *fmt, ...) {
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    rg_fatal(s->diags, loc, hint, "cannot differentiate kernel '%s': %s", s->f->name, buf);
}

void rg_adj_add_bar(rg_adj *s, rg_val v, rg_val g) {
    if (!g || !s->varied->val[v])
        return;
    s->bar[v] = rg_rule_add(s->b, s->bar[v], g);
    rg_b_name(s->b, s->bar[v], rg_rule_name(s->f, v, "_b", s->arena));
}

static rg_val bar_or_zero(rg_adj *s, rg_val v) {
    return s->bar[v] ? s->bar[v] : rg_b_zero(s->b, rg_type_of(s->f, v));
}

/* ---- the varied values from outside that a region uses ---- */

typedef RG_VEC(rg_val) values;

static void captured_in(rg_adj *s, rg_rid r, rg_rid outer, bool *seen, values *out) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        for (uint32_t q = 0; q < ins->nopnd; q++) {
            rg_val v = rg_operand(f, i, q);
            if (!s->varied->val[v] || seen[v] || rg_region_inside(f, rg_val_region(f, v), outer))
                continue;
            seen[v] = true;
            RG_PUSH(s->arena, out, v);
        }
        for (int n = 0; n < 2; n++)
            if (ins->region[n])
                captured_in(s, ins->region[n], outer, seen, out);
    }
}

static values captured(rg_adj *s, rg_iid i) {
    values out = {0};
    bool *seen = s->seen;
    for (int n = 0; n < 2; n++) {
        rg_rid r = rg_ins_at(s->f, i)->region[n];
        if (!r)
            continue;
        /* Values of the sibling branch are not in sight here: each region is judged by itself. */
        captured_in(s, r, r, seen, &out);
    }
    for (uint32_t k = 0; k < out.n; k++)
        seen[out.at[k]] = false;
    return out;
}

/* ---- instructions ---- */

static void pure(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_build *b = s->b;
    if (ins.nres != 1)
        return;
    rg_val r = rg_result(f, i, 0), g = s->bar[r];
    if (!g || !s->varied->val[r])
        return;
    rg_val x[3] = {0};
    for (uint32_t k = 0; k < ins.nopnd && k < 3; k++)
        x[k] = s->fwd[rg_operand(f, i, k)];
    switch (ins.op) {
    case RG_SELECT: {
        rg_val zero = rg_b_zero(b, rg_type_of(f, r));
        if (s->varied->val[rg_operand(f, i, 1)])
            rg_adj_add_bar(s, rg_operand(f, i, 1), rg_b_op3(b, RG_SELECT, x[0], g, zero));
        if (s->varied->val[rg_operand(f, i, 2)])
            rg_adj_add_bar(s, rg_operand(f, i, 2), rg_b_op3(b, RG_SELECT, x[0], zero, g));
        return;
    }
    case RG_CAST:
        if (s->varied->val[rg_operand(f, i, 0)])
            rg_adj_add_bar(s, rg_operand(f, i, 0),
                           rg_b_cast(b, rg_type_of(f, rg_operand(f, i, 0)), g));
        return;
    case RG_WRAP:
    case RG_RECORDED:
        rg_adj_add_bar(s, rg_operand(f, i, 0), g);
        return;
    case RG_ZMUL:
        rg_adj_add_bar(s, rg_operand(f, i, 0), rg_b_op2(b, RG_ZMUL, g, x[1]));
        rg_adj_add_bar(s, rg_operand(f, i, 1), rg_b_op2(b, RG_ZMUL, x[0], g));
        return;
    default:
        break;
    }
    if (rg_ops[ins.op].diff == RG_D_REFUSED) {
        rg_adj_refuse(
            s, ins.loc,
            "use a function whose derivative is known, or stop the gradient with rg_stop()",
            "'%s' has no derivative here", rg_ops[ins.op].text);
    }
    if (ins.op == RG_MUL && rg_operand(f, i, 0) == rg_operand(f, i, 1)) {
        /* x * x: (g + g) * x, exactly the sum of the two contributions */
        rg_adj_add_bar(s, rg_operand(f, i, 0),
                       rg_b_op2(b, RG_MUL, rg_b_op2(b, RG_ADD, g, g), x[0]));
        return;
    }
    for (uint32_t k = 0; k < ins.nopnd && k < 3; k++) {
        rg_val v = rg_operand(f, i, k);
        if (!s->varied->val[v])
            continue;
        rg_val p = rg_rule_partial(b, (rg_op)ins.op, k, x, s->fwd[r],
                                   s->options && s->options->strict_edges);
        if (p)
            rg_adj_add_bar(s, v, rg_rule_apply(b, (rg_op)ins.op, k, g, p));
    }
}

/* Tracked memory as it was before write i. */
void rg_adj_undo_write(rg_adj *s, rg_iid i) {
    const rg_ins ins = *rg_ins_at(s->f, i);
    rg_val idx[RG_MAX_AXES];
    if (!s->old[i] || s->keep[ins.array] != RG_KEEP_TRACKED)
        return;
    rg_adj_indices(s, i, idx);
    rg_b_store(s->b, s->data[ins.array], ins.leaf, idx, s->old[i], 0);
}

static void memory(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_build *b = s->b;
    rg_aid grad = s->grad[ins.array];
    bool flt = rg_mem_is_float(rg_ins_leaf(f, &ins)->mem);
    rg_val idx[RG_MAX_AXES];
    rg_adj_indices(s, i, idx);
    if (ins.op == RG_LOAD) {
        rg_val r = rg_result(f, i, 0);
        if (flt && grad && s->bar[r])
            rg_b_addto(b, grad, ins.leaf, idx, s->bar[r], RG_INS_ACCUM);
        return;
    }
    rg_val v = rg_operand(f, i, ins.nopnd - 1);
    rg_adj_undo_write(s, i);
    if (!flt || !grad)
        return;
    if (ins.op == RG_RMW) {
        const rg_onto *o = rg_adj_onto_of(s, ins.array, ins.leaf);
        if (!o)
            rg_bug(s->arena, "an atomic operation outside of a parallel loop");
        if (s->varied->val[v])
            rg_adj_add_bar(
                s, v,
                rg_adj_onto_share(s, o, idx, s->fwd[v], rg_b_load(b, grad, ins.leaf, idx, 0)));
        return;
    }
    if (ins.op == RG_STORE && s->varied->val[v] && rg_adj_sets_together(s, i)) {
        rg_adj_refuse(s, ins.loc, "let one iteration alone write the element, or use a reduction",
                      "which iteration sets '%s' last, and so has its gradient, is not known",
                      rg_array_at(f, ins.array)->name);
    }
    if (s->varied->val[v])
        rg_adj_add_bar(s, v, rg_b_load(b, grad, ins.leaf, idx, 0));
    if (ins.op == RG_STORE)
        rg_b_store(b, grad, ins.leaf, idx, rg_b_zero(b, rg_type_of(f, v)), 0);
}

static void scalar(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_val v = rg_result(f, i, 0);
    uint32_t sc = (uint32_t)rg_ins_at(f, i)->imm.i;
    rg_aid grad = s->scalar_grad[f->scalars.at[sc].param];
    if (!grad || !s->bar[v])
        return;
    int64_t at[8];
    uint32_t n;
    uint32_t leaf = rg_scalar_leaf(f, sc, at, &n);
    rg_val idx[9] = {rg_b_int(s->b, RG_I64, 0)};
    for (uint32_t k = 0; k < n; k++)
        idx[k + 1] = rg_b_int(s->b, RG_I64, at[k]);
    rg_b_addto(s->b, grad, leaf, idx, s->bar[v], RG_INS_ACCUM);
}

/* Gradients of the locals that come to life in region r: zero when its backward sweep starts. */
static void local_gradients(rg_adj *s, rg_rid r) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op != RG_ALLOC || !s->varied->array[ins->array])
            continue;
        const rg_ir_array *q = rg_array_at(f, ins->array);
        rg_val ext[RG_MAX_AXES] = {0};
        for (uint32_t d = 0; d < ins->nopnd; d++)
            ext[d] = s->fwd[rg_operand(f, g->ins.at[k], d)];
        s->grad[ins->array] = rg_b_alloc(s->b, rg_format(s->arena, "%s_b", q->name), q->elem,
                                         q->rank, ext, (q->flags & RG_ARR_GROW) | RG_ARR_ZERO);
    }
}

static rg_val *snapshot_bars(rg_adj *s, const values *c) {
    rg_val *v = RG_NEW_N(s->arena, rg_val, c->n + 1);
    for (uint32_t k = 0; k < c->n; k++)
        v[k] = s->bar[c->at[k]];
    return v;
}

static void branch(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    values c = captured(s, i);
    rg_val *before = snapshot_bars(s, &c);
    rg_iid j = rg_b_if(b, s->fwd[rg_operand(f, i, 0)]);
    for (int n = 0; n < 2; n++) {
        rg_b_push(b, rg_ins_at(s->g, j)->region[n]);
        rg_iid y = rg_yield_of(f, ins.region[n]);
        s->in_if++;
        for (uint32_t k = 0; k < ins.nres; k++)
            rg_adj_add_bar(s, rg_operand(f, y, k), s->bar[rg_result(f, i, k)]);
        backward(s, ins.region[n]);
        s->in_if--;
        rg_val *out = RG_NEW_N(s->arena, rg_val, c.n + 1);
        for (uint32_t k = 0; k < c.n; k++) {
            out[k] = bar_or_zero(s, c.at[k]);
            s->bar[c.at[k]] = before[k];
        }
        rg_b_yield(b, out, c.n);
        rg_b_pop(b);
    }
    rg_b_if_done(b, j);
    for (uint32_t k = 0; k < c.n; k++) {
        s->bar[c.at[k]] = rg_result(s->g, j, k);
        rg_b_name(b, s->bar[c.at[k]], rg_rule_name(f, c.at[k], "_b", s->arena));
    }
}

/* Cotangents that a reversed loop carries: of its carried values that are varied, then of what it
 * captures. */
static void loop(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_saved *v = s->saved[i];
    bool counted = ins.op == RG_FOR;
    uint32_t first = rg_first_init(f, i), carried = rg_first_carried(f, i), n = ins.nres, m = 0;
    uint32_t skip = counted ? 0 : 1;
    const rg_rid body = ins.region[0];
    values c = captured(s, i);
    rg_val *in = RG_NEW_N(s->arena, rg_val, n + c.n + 1);
    for (uint32_t k = 0; k < n; k++)
        if (s->varied->val[rg_result(f, i, k)])
            in[m++] = bar_or_zero(s, rg_result(f, i, k));
    for (uint32_t k = 0; k < c.n; k++)
        in[m++] = bar_or_zero(s, c.at[k]);
    rg_val lo, hi;
    if (counted) {
        lo = s->fwd[rg_operand(f, i, 0)];
        hi = s->fwd[rg_operand(f, i, 1)];
    } else {
        lo = rg_b_int(b, RG_I64, 0);
        hi = v->trips;
    }
    uint16_t order = (ins.flags & RG_INS_REVERSE) ^ RG_INS_REVERSE;
    if (rg_adj_any_order(s, i))
        order = RG_INS_FREE;
    rg_iid j = rg_b_for(b, lo, hi, in, m, order);
    rg_rid gbody = rg_ins_at(s->g, j)->region[0];
    rg_b_push(b, gbody);
    rg_rid frame = s->frame, root = s->root;
    uint32_t in_if = s->in_if;
    s->frame = gbody;
    s->root = body;
    s->in_if = 0;
    rg_val iv = rg_b_arg(b, 0);
    rg_val at =
        counted ? rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, iv), rg_b_cast(b, RG_I64, lo)) : iv;
    if (counted) {
        rg_val fiv = rg_region_at(f, body)->args.at[0];
        s->fwd[fiv] = iv;
        rg_b_name(b, iv, rg_value_at(f, fiv)->name);
    }
    for (uint32_t k = 0; k < n; k++) {
        rg_val arg = rg_region_at(f, body)->args.at[carried + k];
        s->fwd[arg] = rg_b_load(b, v->carried[k], 0, &at, RG_INS_SAVE);
        rg_b_name(b, s->fwd[arg], rg_value_at(f, arg)->name);
        s->bar[arg] = 0;
    }
    rg_adj_restore_iteration(s, v, at);
    rg_adj_forward(s, body, true);
    /* The body's own values start without a cotangent: only what is carried has one. */
    m = 1;
    rg_val *pass = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        if (s->varied->val[rg_result(f, i, k)])
            pass[k] = rg_b_arg(b, m++);
    for (uint32_t k = 0; k < c.n; k++) {
        s->bar[c.at[k]] = rg_b_arg(b, m++);
        rg_b_name(b, s->bar[c.at[k]], rg_rule_name(f, c.at[k], "_b", s->arena));
    }
    rg_iid y = rg_yield_of(f, body);
    for (uint32_t k = 0; k < n; k++)
        if (pass[k])
            rg_adj_add_bar(s, rg_operand(f, y, skip + k), pass[k]);
    backward(s, body);
    rg_val *out = RG_NEW_N(s->arena, rg_val, n + c.n + 1);
    m = 0;
    for (uint32_t k = 0; k < n; k++)
        if (pass[k]) {
            rg_val arg = rg_region_at(f, body)->args.at[carried + k];
            out[m++] = bar_or_zero(s, arg);
            s->bar[arg] = 0;
        }
    for (uint32_t k = 0; k < c.n; k++)
        out[m++] = bar_or_zero(s, c.at[k]);
    rg_b_yield(b, out, m);
    rg_b_pop(b);
    s->frame = frame;
    s->root = root;
    s->in_if = in_if;
    for (uint32_t k = 0; k < c.n; k++)
        s->bar[c.at[k]] = 0;
    m = 0;
    uint32_t total = 0;
    for (uint32_t k = 0; k < n; k++)
        total += pass[k] != 0;
    for (uint32_t k = 0; k < c.n; k++)
        s->bar[c.at[k]] = rg_result(s->g, j, total + k);
    for (uint32_t k = 0; k < n; k++)
        if (pass[k])
            rg_adj_add_bar(s, rg_operand(f, i, first + k), rg_result(s->g, j, m++));
}

static void parallel(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    uint32_t first = rg_first_init(f, i), carried = rg_first_carried(f, i), n = ins.nres;
    const rg_rid body = ins.region[0];
    rg_adj_onto_find(s, i);
    rg_adj_onto_after(s);
    rg_adj_restore_snapshot(s, i);
    rg_adj_prepare_reductions(s, i);
    rg_adj_onto_count(s, i);
    values c = captured(s, i);
    rg_val bounds[6];
    for (uint32_t k = 0; k < first; k++)
        bounds[k] = s->fwd[rg_operand(f, i, k)];
    rg_val *in = RG_NEW_N(s->arena, rg_val, c.n + 1);
    rg_red *reds = RG_NEW_N(s->arena, rg_red, c.n + 1);
    rg_val *outer = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        outer[k] = s->bar[rg_result(f, i, k)];
    for (uint32_t k = 0; k < c.n; k++) {
        in[k] = bar_or_zero(s, c.at[k]);
        reds[k] = RG_RED_ADD;
    }
    rg_iid j = rg_b_parallel(b, bounds, (uint32_t)ins.imm.i, in, reds, c.n);
    rg_rid gbody = rg_ins_at(s->g, j)->region[0];
    rg_b_push(b, gbody);
    rg_rid frame = s->frame, root = s->root;
    uint32_t in_if = s->in_if;
    rg_red_mode mode = s->red_mode;
    s->frame = gbody;
    s->root = body;
    s->in_if = 0;
    s->in_parallel = true;
    s->reversing = i;
    s->red_mode = RG_RED_PASS;
    for (uint32_t k = 0; k < carried; k++) {
        rg_val arg = rg_region_at(f, body)->args.at[k];
        s->fwd[arg] = rg_b_arg(b, k);
        rg_b_name(b, s->fwd[arg], rg_value_at(f, arg)->name);
    }
    for (uint32_t k = 0; k < n; k++) {
        rg_val arg = rg_region_at(f, body)->args.at[carried + k];
        s->fwd[arg] = s->red_result[k];
        s->bar[arg] = 0;
    }
    rg_adj_forward(s, body, true);
    for (uint32_t k = 0; k < c.n; k++)
        s->bar[c.at[k]] = 0;
    rg_iid y = rg_yield_of(f, body);
    for (uint32_t k = 0; k < n; k++)
        rg_adj_add_bar(s, rg_operand(f, y, k), outer[k]);
    backward(s, body);
    rg_val *out = RG_NEW_N(s->arena, rg_val, c.n + 1);
    for (uint32_t k = 0; k < c.n; k++) {
        rg_val acc = rg_b_arg(b, carried + k);
        out[k] = s->bar[c.at[k]] ? rg_b_red(b, RG_RED_ADD, acc, s->bar[c.at[k]]) : acc;
    }
    rg_b_yield(b, out, c.n);
    rg_b_pop(b);
    s->frame = frame;
    s->root = root;
    s->in_if = in_if;
    s->in_parallel = false;
    s->reversing = 0;
    s->red_mode = mode;
    rg_adj_onto_finish(s, s->grad);
    s->onto = (rg_ontos){0};
    for (uint32_t k = 0; k < c.n; k++) {
        s->bar[c.at[k]] = rg_result(s->g, j, k);
        rg_b_name(b, s->bar[c.at[k]], rg_rule_name(f, c.at[k], "_b", s->arena));
    }
    for (uint32_t k = 0; k < n; k++) {
        rg_val init = rg_operand(f, i, first + k);
        rg_red kind = (rg_red)f->pool.at[ins.aux + k];
        s->bar[rg_region_at(f, body)->args.at[carried + k]] = 0;
        if (outer[k] && s->varied->val[init])
            rg_adj_add_bar(s, init, rg_adj_red_share(s, kind, k, s->fwd[init], outer[k]));
    }
}

static void backward(rg_adj *s, rg_rid r) {
    const rg_fn *f = s->f;
    local_gradients(s, r);
    for (uint32_t k = rg_region_at(f, r)->ins.n - 1; k-- > 0;) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        s->b->loc = ins->loc;
        switch (ins->op) {
        case RG_LOAD:
        case RG_STORE:
        case RG_ADDTO:
        case RG_RMW:
            memory(s, i);
            break;
        case RG_SCALAR:
            scalar(s, i);
            break;
        case RG_IF:
            if (rg_is_own_call(f, i))
                rg_ad_own_call(s, i);
            else
                branch(s, i);
            break;
        case RG_FOR:
        case RG_LOOP:
            loop(s, i);
            break;
        case RG_PARALLEL:
            parallel(s, i);
            break;
        case RG_RED:
            if (s->bar[rg_result(f, i, 0)])
                rg_adj_red_backward(s, i, s->bar[rg_result(f, i, 0)]);
            break;
        case RG_OWN:
            break;
        case RG_ALLOC:
        case RG_EXTENT:
            break;
        default:
            pure(s, i);
        }
        for (uint32_t q = 0; q < ins->nres; q++)
            s->bar[rg_result(f, i, q)] = 0;
    }
}

/* ---- the whole kernel ---- */

/* Extent of a parameter: a constant where it is declared so. */
static rg_val declared(rg_adj *s, rg_aid a, uint32_t k) {
    int64_t c;
    rg_val e = rg_array_at(s->f, a)->extents[k];
    return e && rg_val_const_int(s->f, e, &c) ? rg_b_int(s->b, RG_I64, c) : rg_b_extent(s->b, a, k);
}

/* The array whose extents are those of a: of a tangent, the parameter's. */
static rg_aid shape_of(const rg_adj *s, rg_aid a) {
    const rg_ir_array *r = rg_array_at(s->f, a);
    bool array = r->kind == RG_ARR_SHADOW && s->f->params.at[r->param].is_array;
    return array ? s->f->params.at[r->param].array : a;
}

static void array_copy_of(rg_adj *s, rg_aid a) {
    /* Read, then overwritten: a workspace that starts as the parameter's old value. */
    const rg_ir_array *r = rg_array_at(s->g, a);
    rg_val ext[RG_MAX_AXES] = {0};
    uint32_t rank = r->rank;
    const char *name = rg_format(s->arena, "%s_work", r->name);
    const rg_elem *elem = r->elem;
    for (uint32_t k = 0; k < rank; k++)
        ext[k] = declared(s, shape_of(s, a), k);
    s->data[a] = rg_b_alloc(s->b, name, elem, rank, ext, 0);
    rg_b_copy(s->b, s->data[a], a, NULL, 0);
    rg_array_at(s->g, a)->flags |= RG_ARR_BEFORE;
}

/* Of a tangent: the cotangents of the tangents are the gradients, those of the values what the
 * tangent of the adjoint would have as the tangents of the gradients. */
static void shadows_of_tangents(rg_adj *s, rg_val one) {
    const rg_fn *f = s->f;
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *r = rg_array_at(f, a);
        if (r->kind == RG_ARR_SHADOW && s->act->active[r->param])
            s->grad[a] = rg_ad_shadow(s->g, r->param, RG_SH_GRAD, one);
    }
}

static void parameters(rg_adj *s) {
    const rg_fn *f = s->f;
    rg_val one = rg_b_int(s->b, RG_I64, 1);
    bool tangent = f->mode == RG_TANGENT;
    if (tangent)
        shadows_of_tangents(s, one);
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        if (!s->act->active[k] || !rg_elem_has_float(p->elem))
            continue;
        rg_aid g = rg_ad_shadow(s->g, k, tangent ? RG_SH_GRAD | RG_SH_DOT : RG_SH_GRAD, one);
        if (p->is_array)
            s->grad[p->array] = g;
        else
            s->scalar_grad[k] = g;
    }
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        if (rg_array_at(f, a)->kind == RG_ARR_LOCAL)
            continue;
        s->data[a] = a;
        if (s->varied->stored[a])
            rg_array_at(s->g, a)->flags |= RG_ARR_WRITTEN;
        if (s->keep[a] == RG_KEEP_TRACKED)
            array_copy_of(s, a);
        else if (s->keep[a] == RG_KEEP_SETTLED)
            rg_array_at(s->g, a)->flags |= RG_ARR_AFTER;
        if (!s->grad[a] && s->varied->array[a] && s->varied->loaded[a]) {
            /* Carries dependence inside the kernel but was given no gradient: a temporary one. */
            const rg_ir_array *r = rg_array_at(s->g, a);
            rg_val ext[RG_MAX_AXES] = {0};
            const char *name = rg_format(s->arena, "%s_b", r->name);
            uint32_t rank = r->rank;
            const rg_elem *elem = r->elem;
            for (uint32_t d = 0; d < rank; d++)
                ext[d] = rg_b_extent(s->b, shape_of(s, a), d);
            s->grad[a] = rg_b_alloc(s->b, name, elem, rank, ext, RG_ARR_ZERO);
        }
    }
}

rg_fn *rg_ad_adjoint(rg_arena *a, const rg_fn *f, const rg_activity *act, const rg_ad_options *o,
                     rg_diags *d) {
    rg_adj s = {.f = f, .arena = a, .diags = d, .act = act, .options = o};
    s.g = rg_ad_start(a, f, f->mode == RG_TANGENT ? RG_HVP : RG_ADJOINT);
    s.b = rg_b_new(s.g);
    s.varied = rg_ad_varied(a, f, act);
    rg_adj_classify(&s);
    s.fwd = RG_NEW_N(a, rg_val, f->vals.n);
    s.bar = RG_NEW_N(a, rg_val, f->vals.n);
    s.seen = RG_NEW_N(a, bool, f->vals.n);
    s.data = RG_NEW_N(a, rg_aid, f->arrays.n);
    s.grad = RG_NEW_N(a, rg_aid, f->arrays.n);
    s.scalar_grad = RG_NEW_N(a, rg_aid, f->params.n + 1);
    s.saved = RG_NEW_N(a, rg_saved *, f->ins.n);
    s.old = RG_NEW_N(a, rg_val, f->ins.n);
    s.kept = RG_NEW_N(a, rg_kept *, f->ins.n);
    s.snapshots = RG_NEW_N(a, rg_wholes, f->ins.n);
    s.root = f->body;
    s.frame = s.g->body;
    parameters(&s);
    rg_adj_forward(&s, f->body, true);
    backward(&s, f->body);
    rg_b_yield(s.b, NULL, 0);
    rg_ad_map_extents(s.g, f, s.fwd);
    rg_adj_keep_decide(&s);
    rg_adj_export(s.g);
    return s.g;
}

void rg_ad_needs(rg_fn *f) {
    bool *read = RG_NEW_N(f->arena, bool, f->arrays.n);
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->parent)
            continue;
        if (ins->op == RG_LOAD || ins->op == RG_RMW || ins->op == RG_ADDTO)
            read[ins->array] = true;
        if (ins->op == RG_COPY)
            read[ins->array2] = true;
    }
    /* A tangent is wanted from the same time as its value, where it does not say from when. */
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *r = rg_array_at(f, a);
        if (read[a] && !(r->flags & (RG_ARR_BEFORE | RG_ARR_AFTER)) && r->kind == RG_ARR_SHADOW &&
            r->shadow == RG_SH_DOT && f->params.at[r->param].is_array)
            read[f->params.at[r->param].array] = true;
    }
    for (uint32_t a = 1; a < f->arrays.n; a++)
        if (!read[a])
            rg_array_at(f, a)->flags &= ~(uint32_t)(RG_ARR_BEFORE | RG_ARR_AFTER);
}
