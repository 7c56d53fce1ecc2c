/* Adjoints that the user wrote: `#pragma retrograd adjoint(f) = f_adjoint`.
 *
 * Of a device function: a call is lowered to an `if` that never holds,
 *     if own { the adjoint } else { the function }
 * so that passes keep apart what belongs to the two, and find the adjoint reading what is there
 * before the function runs. In the adjoint `bar` stands for the cotangent of the result, `give`
 * hands a cotangent to a number among the arguments, and `pair` names the arrays that stand for
 * cotangents of arrays (ops.def). On the way back the function's writes are undone, and the first
 * branch is put there, with the arrays of cotangents in the place of those that stood for them.
 *
 * Of a kernel: the other kernel, its parameters bound anew, is the adjoint. */
#include "ad/custom.h"

#include "ad/rules.h"
#include "ad/start.h"

/* ---- away with the marks ---- */

bool rg_ad_unmark(rg_fn *f) {
    bool any = false;
    for (uint32_t i = 1; i < f->ins.n; i++) {
        rg_ins *ins = rg_ins_at(f, i);
        if (ins->op != RG_OWN || !ins->parent)
            continue;
        ins->op = RG_CONST; /* folding does the rest */
        ins->imm.i = 0;
        any = true;
    }
    return any;
}

/* ---- what a function has overwritten, put back ---- */

static void undo(rg_adj *s, rg_rid r);

static bool is_saved(const rg_saved *v) {
    return v->logs.n || v->wholes.n || v->undos.n;
}

static void undo_loop(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_saved *v = s->saved[i];
    if (!is_saved(v))
        return;
    rg_val zero = rg_b_int(b, RG_I64, 0);
    uint16_t order = (ins.flags & RG_INS_REVERSE) ^ RG_INS_REVERSE;
    rg_iid j = rg_b_for(b, zero, v->trips, NULL, 0, order);
    rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
    const rg_region *body = rg_region_at(f, ins.region[0]);
    uint32_t carried = rg_first_carried(f, i);
    rg_val at = rg_b_arg(b, 0);
    if (ins.op == RG_FOR) {
        rg_type t = rg_type_of(f, body->args.at[0]);
        rg_val lo = s->fwd[rg_operand(f, i, 0)];
        s->fwd[body->args.at[0]] = rg_b_op2(b, RG_ADD, lo, rg_b_cast(b, t, at));
    }
    for (uint32_t k = carried; k < body->args.n; k++)
        s->fwd[body->args.at[k]] = rg_b_load(b, v->carried[k - carried], 0, &at, RG_INS_SAVE);
    rg_adj_restore_iteration(s, v, at);
    rg_b_yield(b, NULL, 0);
    rg_b_pop(b);
}

static void undo_branch(rg_adj *s, rg_iid i) {
    const rg_ins ins = *rg_ins_at(s->f, i);
    rg_iid j = rg_b_if(s->b, s->fwd[rg_operand(s->f, i, 0)]);
    for (int k = 0; k < 2; k++) {
        rg_b_push(s->b, rg_ins_at(s->g, j)->region[k]);
        s->in_if++;
        undo(s, ins.region[k]);
        s->in_if--;
        rg_b_yield(s->b, NULL, 0);
        rg_b_pop(s->b);
    }
    rg_b_if_done(s->b, j);
}

static void undo(rg_adj *s, rg_rid r) {
    const rg_fn *f = s->f;
    for (uint32_t k = rg_region_at(f, r)->ins.n - 1; k-- > 0;) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        s->b->loc = ins->loc;
        switch (ins->op) {
        case RG_STORE:
        case RG_ADDTO:
        case RG_RMW:
            rg_adj_undo_write(s, i);
            break;
        case RG_IF:
            undo_branch(s, i);
            break;
        case RG_FOR:
        case RG_LOOP:
            undo_loop(s, i);
            break;
        case RG_PARALLEL:
            rg_adj_restore_snapshot(s, i);
            break;
        default:
            break;
        }
    }
}

/* ---- the adjoint of a call ---- */

typedef struct copier {
    rg_adj *s;
    rg_val bar;
    rg_val *map;     /* [f vals] of the branch, in g */
    rg_aid *array;   /* [f arrays] in g */
    bool *cotangent; /* [f arrays] stands for one; array 0: nobody wants it */
} copier;

static rg_val value(const copier *c, rg_val v) {
    return c->map[v] ? c->map[v] : c->s->fwd[v];
}

static void copy_region(copier *c, rg_rid from);

/* An operation on a cotangent. */
static bool copy_cotangent(copier *c, rg_iid i) {
    const rg_fn *f = c->s->f;
    rg_build *b = c->s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_aid to = c->array[ins.array];
    rg_val idx[RG_MAX_AXES];
    if (ins.op != RG_LOAD && ins.op != RG_STORE && ins.op != RG_ADDTO)
        return false;
    uint32_t n = rg_ins_nindices(f, &ins);
    for (uint32_t k = 0; k < n && k < RG_MAX_AXES; k++)
        idx[k] = value(c, rg_operand(f, i, k));
    if (ins.op == RG_LOAD)
        c->map[rg_result(f, i, 0)] = to ? rg_b_load(b, to, ins.leaf, idx, 0)
                                        : rg_b_zero(b, rg_type_of(f, rg_result(f, i, 0)));
    else if (to && ins.op == RG_STORE)
        rg_b_store(b, to, ins.leaf, idx, value(c, rg_operand(f, i, n)), 0);
    else if (to)
        rg_b_addto(b, to, ins.leaf, idx, value(c, rg_operand(f, i, n)), RG_INS_ACCUM);
    return true;
}

static void copy_instruction(copier *c, rg_iid i) {
    rg_adj *s = c->s;
    const rg_fn *f = s->f;
    rg_fn *g = s->g;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    b->loc = ins.loc;
    switch (ins.op) {
    case RG_BAR:
        c->map[rg_result(f, i, 0)] =
            c->bar ? c->bar : rg_b_zero(b, rg_type_of(f, rg_result(f, i, 0)));
        return;
    case RG_GIVE:
        rg_adj_add_bar(s, rg_operand(f, i, 0), value(c, rg_operand(f, i, 1)));
        return;
    case RG_PAIR:
        return;
    case RG_EXTENT: {
        rg_aid a = c->array[ins.array];
        if (rg_array_at(f, ins.array)->kind == RG_ARR_PARAM)
            a = ins.array;
        c->map[rg_result(f, i, 0)] = rg_b_extent(b, a, (uint32_t)ins.imm.i);
        return;
    }
    case RG_ALLOC: {
        if (c->cotangent[ins.array])
            return;
        const rg_ir_array *r = rg_array_at(f, ins.array);
        rg_val ext[RG_MAX_AXES] = {0};
        for (uint32_t k = 0; k < ins.nopnd && k < RG_MAX_AXES; k++)
            ext[k] = value(c, rg_operand(f, i, k));
        c->array[ins.array] = rg_b_alloc(b, r->name, r->elem, r->rank, ext, r->flags);
        return;
    }
    default:
        break;
    }
    if (c->cotangent[ins.array] && copy_cotangent(c, i))
        return;
    rg_iid j = rg_ins_new(g, (rg_op)ins.op, ins.loc);
    rg_ins *to = rg_ins_at(g, j);
    to->flags = ins.flags;
    to->array = c->array[ins.array];
    to->array2 = c->array[ins.array2];
    to->leaf = ins.leaf;
    to->imm = ins.imm;
    for (uint32_t k = 0; k < ins.nopnd; k++)
        rg_ins_add_operand(g, j, value(c, rg_operand(f, i, k)));
    for (uint32_t r = 0; r < 2; r++)
        if (ins.region[r]) {
            rg_rid inner = rg_region_new(g, j);
            rg_ins_at(g, j)->region[r] = inner;
            for (uint32_t k = 0; k < rg_region_at(f, ins.region[r])->args.n; k++) {
                rg_val a = rg_region_at(f, ins.region[r])->args.at[k];
                c->map[a] = rg_region_add_arg(g, inner, rg_type_of(f, a));
                rg_b_name(b, c->map[a], rg_value_at(f, a)->name);
            }
            rg_b_push(b, inner);
            copy_region(c, ins.region[r]);
            rg_b_pop(b);
        }
    rg_region_insert(g, b->region, rg_region_at(g, b->region)->ins.n, j);
    for (uint32_t k = 0; k < ins.nres; k++) {
        rg_val r = rg_result(f, i, k);
        c->map[r] = rg_ins_add_result(g, j, rg_type_of(f, r));
        rg_b_name(b, c->map[r], rg_value_at(f, r)->name);
    }
}

static void copy_region(copier *c, rg_rid from) {
    const rg_fn *f = c->s->f;
    for (uint32_t k = 0; k < rg_region_at(f, from)->ins.n; k++)
        copy_instruction(c, rg_region_at(f, from)->ins.at[k]);
}

void rg_ad_own_call(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins ins = *rg_ins_at(f, i);
    undo(s, ins.region[1]);
    const rg_region *adjoint = rg_region_at(f, ins.region[0]);
    copier c = {.s = s};
    c.map = RG_NEW_N(s->arena, rg_val, f->vals.n);
    c.array = RG_NEW_N(s->arena, rg_aid, f->arrays.n);
    c.cotangent = RG_NEW_N(s->arena, bool, f->arrays.n);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        c.array[a] = s->data[a];
    bool wanted = false;
    for (uint32_t k = 0; k < adjoint->ins.n; k++) {
        const rg_ins *x = rg_ins_at(f, adjoint->ins.at[k]);
        if (x->op == RG_BAR && !c.bar)
            for (uint32_t q = 0; q < ins.nres; q++)
                if (rg_operand(f, rg_yield_of(f, ins.region[0]), q) ==
                    rg_result(f, adjoint->ins.at[k], 0))
                    c.bar = s->bar[rg_result(f, i, q)];
        if (x->op != RG_PAIR)
            continue;
        c.array[x->array2] = s->grad[x->array];
        c.cotangent[x->array2] = true;
        wanted |= !x->imm.i && s->grad[x->array];
    }
    if (!c.bar && !wanted)
        return;
    for (uint32_t k = 0; k + 1 < adjoint->ins.n; k++)
        copy_instruction(&c, adjoint->ins.at[k]);
}

/* ---- kernels ---- */

rg_fn *rg_ad_custom_kernel(rg_arena *a, const rg_fn *f, const rg_activity *act) {
    rg_fn *g = rg_fn_clone(a, f->adjoint);
    rg_ad_unmark(g);
    g->mode = RG_ADJOINT;
    g->name = f->name;
    g->adjoint = NULL;
    uint32_t n = g->params.n, own = 0;
    uint32_t *to = RG_NEW_N(a, uint32_t, n + 1); /* f's parameter */
    bool *gradient = RG_NEW_N(a, bool, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        to[k] = own;
        if (k > 0 && !gradient[k - 1] && own > 0 && rg_elem_has_float(f->params.at[own - 1].elem) &&
            to[k - 1] == own - 1) {
            gradient[k] = true;
            to[k] = own - 1;
        } else {
            own++;
        }
    }
    rg_param *old = g->params.at;
    g->params.at = NULL;
    g->params.n = g->params.cap = 0;
    for (uint32_t k = 0; k < f->params.n; k++)
        RG_PUSH(a, &g->params, f->params.at[k]);
    for (uint32_t k = 0; k < g->scalars.n; k++)
        g->scalars.at[k].param = to[g->scalars.at[k].param];
    for (uint32_t k = 0; k < n; k++)
        if (!gradient[k] && !old[k].is_array) {
            g->params.at[to[k]].first_scalar = old[k].first_scalar;
            g->params.at[to[k]].nscalars = old[k].nscalars;
        }
    rg_build *b = rg_b_new(g);
    rg_iid first = rg_region_at(g, g->body)->ins.at[0];
    for (uint32_t k = 0; k < n; k++) {
        if (!old[k].is_array)
            continue;
        rg_ir_array *r = rg_array_at(g, old[k].array);
        uint32_t p = to[k];
        r->param = p;
        if (!gradient[k]) {
            g->params.at[p].array = old[k].array;
            r->flags = RG_ARR_CONST | RG_ARR_AFTER;
            if (f->params.at[p].is_array)
                r->flags |= rg_array_at(f, f->params.at[p].array)->flags & RG_ARR_WRITTEN;
            r->name = f->params.at[p].name;
            continue;
        }
        if (act->active[p]) {
            r->kind = RG_ARR_SHADOW;
            r->shadow = RG_SH_GRAD;
            r->flags = 0;
            continue;
        }
        /* Nobody wants it: memory that is forgotten. */
        rg_val ext[RG_MAX_AXES];
        rg_b_push_before(b, first);
        b->loc = r->loc;
        uint32_t rank = r->rank;
        for (uint32_t d = 0; d < rank && d < RG_MAX_AXES; d++)
            ext[d] = f->params.at[p].is_array ? rg_b_extent(b, g->params.at[p].array, d)
                                              : rg_b_int(b, RG_I64, 1);
        rg_b_pop(b);
        rg_iid alloc = rg_ins_new(g, RG_ALLOC, b->loc);
        for (uint32_t d = 0; d < rank && d < RG_MAX_AXES; d++)
            rg_ins_add_operand(g, alloc, ext[d]);
        rg_ins_at(g, alloc)->array = old[k].array;
        uint32_t at = 0;
        while (rg_region_at(g, g->body)->ins.at[at] != first)
            at++;
        rg_region_insert(g, g->body, at, alloc);
        r = rg_array_at(g, old[k].array);
        r->kind = RG_ARR_LOCAL;
        r->flags = RG_ARR_ZERO;
        for (uint32_t d = 0; d < rank && d < RG_MAX_AXES; d++)
            r->extents[d] = ext[d];
    }
    return g;
}
