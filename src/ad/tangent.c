/* Forward mode: every instruction is copied, followed by the instructions of its derivative.
 *
 *     v = op(x, y)        v_d = op_x(x, y) x_d + op_y(x, y) y_d
 *     store a[i] = v      store a_d[i] = v_d
 *
 * Carried values, results of branches and reductions carry their tangents beside them. A tangent
 * that is known to be zero is no value at all (0). The input may itself be an adjoint: its
 * gradients then get tangents too, which is the Hessian-vector product. */
#include "ad/active.h"
#include "ad/ad.h"
#include "ad/adjoint.h"
#include "ad/captured.h"
#include "ad/rules.h"
#include "ad/start.h"
#include "ir/build.h"

typedef struct tangent {
    const rg_fn *f;
    rg_fn *g;
    rg_build *b;
    rg_arena *arena;
    rg_diags *diags;
    const rg_activity *act;
    rg_varied *varied;
    rg_val *map;           /* [f vals] */
    rg_val *dot;           /* [f vals] 0: zero */
    rg_aid *data, *shadow; /* [f arrays] */
    rg_aid *scalar_shadow; /* [params] */
    rg_adj *reductions; /* inside a parallel whose min, max or product reductions have tangents */
    bool strict;        /* edges */
} tangent;

static void region(tangent *t, rg_rid r);

_Noreturn static void refuse(tangent *t, rg_loc loc, const char *hint, const char *what) {
    rg_fatal(t->diags, loc, hint, "cannot differentiate kernel '%s': %s", t->f->name, what);
}

static rg_val dot_or_zero(tangent *t, rg_val v) {
    return t->dot[v] ? t->dot[v] : rg_b_zero(t->b, rg_type_of(t->f, v));
}

static void name_dot(tangent *t, rg_val v) {
    if (t->dot[v])
        rg_b_name(t->b, t->dot[v], rg_rule_name(t->f, v, "_d", t->arena));
}

static void pure(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    rg_ins ins = *rg_ins_at(f, i);
    rg_val x[3] = {0}, r = rg_result(f, i, 0);
    for (uint32_t k = 0; k < ins.nopnd && k < 3; k++)
        x[k] = t->map[rg_operand(f, i, k)];
    t->map[r] = rg_b_pure(t->b, ins.op, rg_type_of(f, r), x, ins.nopnd, ins.imm.i);
    rg_b_name(t->b, t->map[r], rg_value_at(f, r)->name);
    if (!t->varied->val[r])
        return;
    rg_val d[3] = {0};
    for (uint32_t k = 0; k < ins.nopnd && k < 3; k++)
        d[k] = t->dot[rg_operand(f, i, k)];
    rg_type type = rg_type_of(f, r);
    switch (ins.op) {
    case RG_SELECT:
        if (d[1] || d[2])
            t->dot[r] = rg_b_op3(t->b, RG_SELECT, x[0], d[1] ? d[1] : rg_b_zero(t->b, type),
                                 d[2] ? d[2] : rg_b_zero(t->b, type));
        break;
    case RG_CAST:
        if (d[0])
            t->dot[r] = rg_b_cast(t->b, type, d[0]);
        break;
    case RG_WRAP:
        t->dot[r] = d[0];
        break;
    case RG_RECORDED: /* as the value, so its tangent: recorded, with the cotangent of the other */
        if (d[0] && d[1])
            t->dot[r] = rg_b_op2(t->b, RG_RECORDED, d[0], d[1]);
        break;
    case RG_ZMUL:
        if (d[0])
            t->dot[r] = rg_b_op2(t->b, RG_ZMUL, d[0], x[1]);
        if (d[1])
            t->dot[r] = rg_rule_add(t->b, t->dot[r], rg_b_op2(t->b, RG_ZMUL, x[0], d[1]));
        break;
    default:
        if (rg_ops[ins.op].diff == RG_D_REFUSED) {
            refuse(t, ins.loc,
                   "use a function whose derivative is known, or stop the gradient with rg_stop()",
                   rg_format(t->arena, "'%s' has no derivative here", rg_ops[ins.op].text));
        }
        for (uint32_t k = 0; k < ins.nopnd; k++) {
            rg_val p = d[k] ? rg_rule_partial(t->b, ins.op, k, x, t->map[r], t->strict) : 0;
            if (p)
                t->dot[r] = rg_rule_add(t->b, t->dot[r], rg_rule_apply(t->b, ins.op, k, d[k], p));
        }
    }
    name_dot(t, r);
}

static const rg_val *indices(tangent *t, rg_iid i, rg_val *out) {
    uint32_t n = rg_ins_nindices(t->f, rg_ins_at(t->f, i));
    for (uint32_t k = 0; k < n; k++)
        out[k] = t->map[rg_operand(t->f, i, k)];
    return out;
}

#define ORDER_MATTERS                                                                              \
    "the value that an atomic operation finds has a tangent which depends on the order of the "    \
    "iterations"

/* What the atomic operation i finds has a tangent that is known: none, or that of what the element
 * held before the loop; or it is refused. */
static rg_captured captured(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_iid loop = rg_ad_shared_by(f, rg_ad_life(f, ins->array), i);
    if (!(ins->op == RG_RMW || ins->flags & RG_INS_ATOMIC) || ins->flags & RG_INS_KEPT || !loop ||
        !rg_ad_changes(f, loop, ins->array))
        return RG_CAPTURED_SHIFT;
    rg_captured how = rg_ad_captured(t->arena, f, t->act, i, loop);
    if (how == RG_CAPTURED_ORDER)
        refuse(t, ins->loc, RG_CAPTURED_HINT, ORDER_MATTERS);
    return how;
}

static void memory(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    rg_ins ins = *rg_ins_at(f, i);
    rg_build *b = t->b;
    rg_val idx[16];
    if (rg_ins_nindices(f, &ins) > 16)
        rg_bug(t->arena, "access with more than 16 indices");
    indices(t, i, idx);
    rg_aid a = t->data[ins.array], s = t->shadow[ins.array];
    bool flt = rg_mem_is_float(rg_ins_leaf(f, &ins)->mem);
    rg_val v = ins.nopnd ? rg_operand(f, i, ins.nopnd - 1) : 0;
    switch (ins.op) {
    case RG_LOAD: {
        rg_val r = rg_result(f, i, 0);
        t->map[r] = rg_b_load(b, a, ins.leaf, idx, ins.flags);
        rg_b_name(b, t->map[r], rg_value_at(f, r)->name);
        if (flt && s && captured(t, i) != RG_CAPTURED_CONSTANT)
            t->dot[r] = rg_b_load(b, s, ins.leaf, idx, ins.flags);
        name_dot(t, r);
        break;
    }
    case RG_STORE:
        rg_b_store(b, a, ins.leaf, idx, t->map[v], ins.flags);
        if (flt && s)
            rg_b_store(b, s, ins.leaf, idx, dot_or_zero(t, v), ins.flags);
        break;
    case RG_ADDTO:
        rg_b_addto(b, a, ins.leaf, idx, t->map[v], ins.flags);
        if (flt && s && t->dot[v])
            rg_b_addto(b, s, ins.leaf, idx, t->dot[v], ins.flags);
        break;
    case RG_RMW: {
        rg_onto *o =
            flt && s && t->reductions ? rg_adj_onto_of(t->reductions, ins.array, ins.leaf) : NULL;
        if (flt && s && !o && ins.imm.i == RG_RED_ADD) {
            rg_captured how = captured(t, i);
            rg_val r = rg_result(f, i, 0);
            t->map[r] = rg_b_rmw(b, RG_RED_ADD, a, ins.leaf, idx, t->map[v], ins.flags);
            if (t->dot[v])
                rg_b_addto(b, s, ins.leaf, idx, t->dot[v], RG_INS_ATOMIC);
            if (how == RG_CAPTURED_SHIFT)
                t->dot[r] = rg_b_load(b, s, ins.leaf, idx, 0);
            return;
        }
        if (flt && s && !o) {
            refuse(t, ins.loc, RG_CAPTURED_HINT, ORDER_MATTERS);
            return;
        }
        if (o && t->dot[v])
            rg_b_addto(b, s, ins.leaf, idx,
                       rg_adj_onto_share(t->reductions, o, idx, t->map[v], t->dot[v]),
                       RG_INS_ATOMIC);
        rg_val r = rg_b_rmw(b, (rg_red)ins.imm.i, a, ins.leaf, idx, t->map[v], ins.flags);
        if (ins.nres)
            t->map[rg_result(f, i, 0)] = r;
        else
            rg_ad_rmw(t->g, r);
        break;
    }
    }
}

static void alloc(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    const rg_ins *ins = rg_ins_at(f, i);
    const rg_ir_array *r = rg_array_at(f, ins->array);
    rg_val ext[RG_MAX_AXES];
    for (uint32_t k = 0; k < ins->nopnd; k++)
        ext[k] = t->map[rg_operand(f, i, k)];
    t->data[ins->array] = rg_b_alloc(t->b, r->name, r->elem, r->rank, ext, r->flags);
    if (t->varied->array[ins->array])
        t->shadow[ins->array] = rg_b_alloc(t->b, rg_format(t->arena, "%s_d", r->name), r->elem,
                                           r->rank, ext, r->flags | RG_ARR_ZERO);
}

static void copy(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_val lead[16];
    for (uint32_t k = 0; k < ins->nopnd && k < 16; k++)
        lead[k] = t->map[rg_operand(f, i, k)];
    rg_b_copy(t->b, t->data[ins->array], t->data[ins->array2], lead, ins->nopnd);
    rg_aid d = t->shadow[ins->array], s = t->shadow[ins->array2];
    if (d && s)
        rg_b_copy(t->b, d, s, lead, ins->nopnd);
    else if (d)
        refuse(t, ins->loc, NULL,
               "an array with a tangent is overwritten by a copy of one without");
}

/* Yields of region r: the values and then the tangents of those slots that have one. */
static void yield(tangent *t, rg_iid y, const bool *with, uint32_t skip) {
    const rg_fn *f = t->f;
    uint32_t n = rg_ins_at(f, y)->nopnd, m = 0;
    rg_val *v = RG_NEW_N(t->arena, rg_val, 2 * n + 1);
    for (uint32_t k = 0; k < n; k++)
        v[m++] = t->map[rg_operand(f, y, k)];
    for (uint32_t k = skip; k < n; k++)
        if (with[k - skip])
            v[m++] = dot_or_zero(t, rg_operand(f, y, k));
    rg_b_yield(t->b, v, m);
}

/* What a parallel does with the arrays from outside: bits 1 reads, 2 writes, 8 takes the least, the
 * largest or the product onto its elements. */
static void uses_of(tangent *t, rg_rid r, uint8_t *seen, rg_iid *captures) {
    const rg_fn *f = t->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op == RG_LOAD)
            seen[ins->array] |= 1;
        if (rg_writes_element(ins))
            seen[ins->array] |= 2;
        if (ins->op == RG_RMW) {
            bool sum = ins->imm.i == RG_RED_ADD; /* captured, or it would be an addto */
            if (rg_mem_is_float(rg_ins_leaf(f, ins)->mem) && t->shadow[ins->array] && !sum)
                seen[ins->array] |= 8;
            if (ins->nres)
                *captures = g->ins.at[k];
        }
        for (int n = 0; n < 2; n++)
            if (ins->region[n])
                uses_of(t, ins->region[n], seen, captures);
    }
}

/* A local that starts as array a of f does now. */
static rg_aid copy_of(tangent *t, rg_aid a) {
    const rg_ir_array *r = rg_array_at(t->g, t->data[a]);
    rg_val ext[RG_MAX_AXES] = {0};
    uint32_t rank = r->rank;
    const rg_elem *elem = r->elem;
    const char *name = rg_format(t->arena, "%s_ahead", r->name);
    for (uint32_t d = 0; d < rank; d++)
        ext[d] = rg_b_extent(t->b, t->data[a], d);
    return rg_b_alloc(t->b, name, elem, rank, ext, 0);
}

/* Reductions by min, max or product, also onto elements: the primal's results come first, then
 * counts of ties or zeros (reduce.c, atomic.c); with them the tangent is a sum. The sweeps that
 * find those out run on copies of the arrays that the parallel both reads and writes, and write no
 * other. */
static void other_reductions(tangent *t, rg_iid i, const bool *with) {
    const rg_fn *f = t->f;
    const rg_ins ins = *rg_ins_at(f, i);
    bool any = false, wanted = false;
    for (uint32_t k = 0; k < ins.nres; k++)
        wanted |= with[k] && f->pool.at[ins.aux + k] != RG_RED_ADD;
    t->reductions = NULL;
    uint8_t *seen = RG_NEW_N(t->arena, uint8_t, f->arrays.n);
    rg_iid captures = 0;
    uses_of(t, ins.region[0], seen, &captures);
    rg_adj *s = RG_NEW(t->arena, rg_adj);
    s->f = f;
    s->g = t->g;
    s->b = t->b;
    s->arena = t->arena;
    s->diags = t->diags;
    s->varied = t->varied;
    rg_adj_classify(s);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        any |= (seen[a] & 8) && !rg_region_inside(f, s->life[a], ins.region[0]);
    if (!any && !wanted)
        return;
    if (captures) {
        refuse(t, rg_ins_at(f, captures)->loc,
               "split it into one loop that captures and one that reduces",
               "a value is captured in a parallel loop that also takes a min, a max or a product");
    }
    s->root = ins.region[0];
    s->fwd = t->map;
    s->bar = RG_NEW_N(t->arena, rg_val, f->vals.n);
    s->data = RG_NEW_N(t->arena, rg_aid, f->arrays.n);
    s->old = RG_NEW_N(t->arena, rg_val, f->ins.n);
    s->saved = RG_NEW_N(t->arena, rg_saved *, f->ins.n);
    s->snapshots = RG_NEW_N(t->arena, rg_wholes, f->ins.n);
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        s->data[a] = t->data[a];
        bool inside = rg_region_inside(f, s->life[a], ins.region[0]);
        s->keep[a] = inside ? RG_KEEP_SETTLED : RG_KEEP_NONE;
        if (inside || !((seen[a] & 3) == 3 || (seen[a] & 8)))
            continue;
        s->keep[a] = RG_KEEP_TRACKED;
        s->data[a] = copy_of(t, a);
        RG_PUSH(t->arena, &s->snapshots[i], (rg_whole){a, t->data[a], false});
    }
    rg_adj_onto_find(s, i);
    rg_adj_restore_snapshot(s, i);
    rg_adj_forward_one(s, i, false);
    for (uint32_t k = 0; k < ins.nres; k++)
        if (with[k])
            s->bar[rg_result(f, i, k)] = s->fwd[rg_result(f, i, k)]; /* any value: it is wanted */
    rg_adj_onto_after(s);
    rg_adj_restore_snapshot(s, i);
    rg_adj_prepare_reductions(s, i);
    rg_adj_onto_count(s, i);
    rg_adj_onto_finish(s, t->shadow);
    t->reductions = s;
}

static void structure(tangent *t, rg_iid i) {
    const rg_fn *f = t->f;
    rg_ins ins = *rg_ins_at(f, i);
    rg_build *b = t->b;
    uint32_t n = ins.nres, m = 0;
    bool *with = RG_NEW_N(t->arena, bool, n + 1);
    for (uint32_t k = 0; k < n; k++)
        with[k] = t->varied->val[rg_result(f, i, k)];
    rg_iid j;
    uint32_t skip = ins.op == RG_LOOP ? 1 : 0;
    if (ins.op == RG_IF) {
        j = rg_b_if(b, t->map[rg_operand(f, i, 0)]);
        for (int s = 0; s < 2; s++) {
            rg_b_push(b, rg_ins_at(t->g, j)->region[s]);
            region(t, ins.region[s]);
            yield(t, rg_yield_of(f, ins.region[s]), with, 0);
            rg_b_pop(b);
        }
        rg_b_if_done(b, j);
    } else {
        uint32_t first = rg_first_init(f, i), carried = rg_first_carried(f, i);
        rg_val *in = RG_NEW_N(t->arena, rg_val, 2 * n + 1);
        rg_red *reds = RG_NEW_N(t->arena, rg_red, 2 * n + 1);
        for (uint32_t k = 0; k < n; k++) {
            in[m] = t->map[rg_operand(f, i, first + k)];
            reds[m++] = ins.op == RG_PARALLEL ? (rg_red)f->pool.at[ins.aux + k] : RG_RED_ADD;
        }
        if (ins.op == RG_PARALLEL)
            other_reductions(t, i, with);
        for (uint32_t k = 0; k < n; k++)
            if (with[k]) {
                rg_val init = rg_operand(f, i, first + k);
                in[m] = dot_or_zero(t, init);
                if (ins.op == RG_PARALLEL && reds[k] != RG_RED_ADD)
                    in[m] = rg_adj_red_share(t->reductions, reds[k], k, t->map[init], in[m]);
                reds[m++] = RG_RED_ADD;
            }
        if (ins.op == RG_FOR) {
            j = rg_b_for(b, t->map[rg_operand(f, i, 0)], t->map[rg_operand(f, i, 1)], in, m,
                         ins.flags);
        } else if (ins.op == RG_LOOP) {
            j = rg_b_loop(b, in, m);
        } else {
            rg_val bounds[6];
            for (uint32_t k = 0; k < first; k++)
                bounds[k] = t->map[rg_operand(f, i, k)];
            j = rg_b_parallel(b, bounds, (uint32_t)ins.imm.i, in, reds, m);
        }
        const rg_region *body = rg_region_at(f, ins.region[0]);
        rg_b_push(b, rg_ins_at(t->g, j)->region[0]);
        uint32_t next = carried + n;
        for (uint32_t k = 0; k < body->args.n; k++) {
            rg_val arg = body->args.at[k];
            t->map[arg] = rg_b_arg(b, k);
            rg_b_name(b, t->map[arg], rg_value_at(f, arg)->name);
            if (k >= carried && with[k - carried]) {
                t->dot[arg] = rg_b_arg(b, next++);
                name_dot(t, arg);
            }
        }
        region(t, ins.region[0]);
        yield(t, rg_yield_of(f, ins.region[0]), with, skip);
        rg_b_pop(b);
    }
    m = n;
    for (uint32_t k = 0; k < n; k++) {
        rg_val r = rg_result(f, i, k);
        t->map[r] = rg_result(t->g, j, k);
        rg_b_name(b, t->map[r], rg_value_at(f, r)->name);
        if (with[k]) {
            t->dot[r] = rg_result(t->g, j, m++);
            name_dot(t, r);
        }
    }
}

static void region(tangent *t, rg_rid r) {
    const rg_fn *f = t->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k + 1 < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        t->b->loc = ins->loc;
        switch (ins->op) {
        case RG_LOAD:
        case RG_STORE:
        case RG_ADDTO:
        case RG_RMW:
            memory(t, i);
            break;
        case RG_ALLOC:
            alloc(t, i);
            break;
        case RG_COPY:
            copy(t, i);
            break;
        case RG_IF:
        case RG_FOR:
        case RG_LOOP:
        case RG_PARALLEL:
            structure(t, i);
            break;
        case RG_SCALAR: {
            rg_val v = rg_result(f, i, 0);
            t->map[v] = rg_b_scalar(t->b, (uint32_t)ins->imm.i);
            rg_b_name(t->b, t->map[v], rg_value_at(f, v)->name);
            if (t->varied->val[v]) {
                int64_t at[8];
                rg_val idx[9] = {rg_b_int(t->b, RG_I64, 0)};
                uint32_t n;
                uint32_t leaf = rg_scalar_leaf(f, (uint32_t)ins->imm.i, at, &n);
                for (uint32_t q = 0; q < n; q++)
                    idx[q + 1] = rg_b_int(t->b, RG_I64, at[q]);
                t->dot[v] = rg_b_load(t->b, t->scalar_shadow[f->scalars.at[ins->imm.i].param], leaf,
                                      idx, 0);
                name_dot(t, v);
            }
            break;
        }
        case RG_EXTENT: {
            rg_val v = rg_result(f, i, 0);
            t->map[v] = rg_b_extent(t->b, t->data[ins->array], (uint32_t)ins->imm.i);
            break;
        }
        case RG_RED: {
            rg_val acc = rg_operand(f, i, 0), x = rg_operand(f, i, 1), v = rg_result(f, i, 0);
            t->map[v] = rg_b_red(t->b, (rg_red)ins->imm.i, t->map[acc], t->map[x]);
            if (t->varied->val[v]) {
                rg_val d = dot_or_zero(t, acc), e = t->dot[x];
                rg_red kind = (rg_red)ins->imm.i;
                if (e && kind != RG_RED_ADD)
                    e = rg_adj_red_share(t->reductions, kind,
                                         rg_adj_red_index(f, i, t->reductions->parallel), t->map[x],
                                         e);
                t->dot[v] = e ? rg_b_red(t->b, RG_RED_ADD, d, e) : d;
            }
            break;
        }
        default:
            pure(t, i);
        }
    }
}

rg_fn *rg_ad_tangent(rg_arena *a, const rg_fn *f, const rg_activity *act, const rg_ad_options *o,
                     rg_diags *d) {
    tangent t = {.f = f, .arena = a, .diags = d, .act = act};
    t.strict = o && o->strict_edges;
    t.g = rg_ad_start(a, f, f->mode == RG_ADJOINT ? RG_HVP : RG_TANGENT);
    t.b = rg_b_new(t.g);
    t.varied = rg_ad_varied(a, f, act);
    t.map = RG_NEW_N(a, rg_val, f->vals.n);
    t.dot = RG_NEW_N(a, rg_val, f->vals.n);
    t.data = RG_NEW_N(a, rg_aid, f->arrays.n);
    t.shadow = RG_NEW_N(a, rg_aid, f->arrays.n);
    t.scalar_shadow = RG_NEW_N(a, rg_aid, f->params.n + 1);
    rg_val one = rg_b_int(t.b, RG_I64, 1);
    for (uint32_t k = 0; k < f->params.n; k++)
        if (act->active[k] && rg_elem_has_float(f->params.at[k].elem)) {
            rg_aid s = rg_ad_shadow(t.g, k, RG_SH_DOT, one);
            if (f->params.at[k].is_array)
                t.shadow[f->params.at[k].array] = s;
            else
                t.scalar_shadow[k] = s;
        }
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        const rg_ir_array *r = rg_array_at(f, k);
        if (r->kind == RG_ARR_LOCAL)
            continue;
        t.data[k] = k;
        if (r->kind == RG_ARR_SHADOW && t.varied->array[k]) {
            t.shadow[k] = rg_ad_shadow(t.g, r->param, r->shadow | RG_SH_DOT, one);
        } else if (r->kind == RG_ARR_PARAM && t.varied->array[k] && !t.shadow[k] &&
                   t.varied->loaded[k]) {
            /* Carries dependence inside the kernel but was given no tangent: a temporary one. */
            rg_val ext[RG_MAX_AXES];
            for (uint32_t q = 0; q < r->rank; q++)
                ext[q] = rg_b_extent(t.b, k, q);
            t.shadow[k] =
                rg_b_alloc(t.b, rg_format(a, "%s_d", r->name), r->elem, r->rank, ext, RG_ARR_ZERO);
        }
    }
    region(&t, f->body);
    rg_b_yield(t.b, NULL, 0);
    rg_ad_map_extents(t.g, f, t.map);
    return t.g;
}
