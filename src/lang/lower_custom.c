/* Calls of functions whose adjoint the user wrote: an `if` that never holds, with the adjoint in
 * its first branch and the function in its second (src/ad/custom.c says what becomes of it).
 *
 * The adjoint's parameters are bound to the arguments like the function's own. Those through which
 * it gives gradients are bound to stand-ins: a number's to a local that starts at zero, a pointer's
 * to an array of the shape of the one that it points into, at the same place in it. */
#include "lang/lower.h"

typedef struct pair {
    rg_aid array, cotangent;
    bool sums;
} pair;

typedef struct own {
    rg_lower *l;
    rg_node *call;
    RG_VEC(pair) pairs;
} own;

static bool is_const(const rg_ctype *t) {
    while (t->kind == RG_C_ARRAY)
        t = t->base;
    return t->is_const;
}

static bool holds_float(const rg_ctype *t) {
    while (t->kind == RG_C_ARRAY || t->kind == RG_C_PTR)
        t = t->base;
    if (t->kind != RG_C_STRUCT)
        return rg_ctype_is_float(t);
    for (uint32_t i = 0; i < t->st->fields.n; i++)
        if (holds_float(t->st->fields.at[i].type))
            return true;
    return false;
}

/* ---- one array for two pointers ---- */

/* Do the pointers surely never lead to one object? */
static bool apart(const rg_lower *l, const rg_ref *p, const rg_ref *q) {
    if (p->array != q->array || p->leaf + rg_ctype_leaves(p->type) <= q->leaf ||
        q->leaf + rg_ctype_leaves(q->type) <= p->leaf)
        return true;
    uint32_t n = p->flat ? p->flat_at : p->n - p->steps, m = q->flat ? q->flat_at : q->n - q->steps;
    for (uint32_t k = 0; k < n && k < m; k++) {
        int64_t x, y;
        if (rg_val_const_int(l->fn, p->idx[k], &x) && rg_val_const_int(l->fn, q->idx[k], &y) &&
            x != y)
            return true;
    }
    return false;
}

/* An adjoint is written for arrays that are apart. */
static void check_apart(rg_lower *l, const rg_node *call, const rg_given *given) {
    const rg_func *f = call->func;
    for (uint32_t i = 0; i < call->nargs; i++) {
        const rg_ctype *t = f->params.at[i]->type;
        if (t->kind != RG_C_PTR || is_const(t->base) || given[i].at.bad)
            continue;
        for (uint32_t k = 0; k < call->nargs; k++) {
            if (k == i || f->params.at[k]->type->kind != RG_C_PTR || given[k].at.bad ||
                apart(l, &given[i].at, &given[k].at))
                continue;
            rg_error(
                l->diags, call->args[k]->loc,
                "copy one of them to a local array, or call a function whose adjoint is derived",
                "'%s' of '%s', which writes through '%s' and has an adjoint of its own, may be "
                "the same memory",
                f->params.at[k]->name, f->name, f->params.at[i]->name);
            return;
        }
    }
}

/* ---- the adjoint's parameters ---- */

/* The stand-in for the gradient of a number or a struct: *v is its only element. */
static rg_aid bind_gradient(rg_lower *l, rg_var *v) {
    rg_val one = rg_b_int(l->b, RG_I64, 1);
    const rg_elem *e = rg_ctype_elem(l->unit->module, v->type->base);
    rg_ref p = {.type = v->type->base, .steps = true, .n = 1};
    p.array = rg_b_alloc(l->b, v->name, e, 1, &one, RG_ARR_ZERO);
    p.idx[0] = rg_b_int(l->b, RG_I32, 0);
    rg_bind_pointer(l, v, &p);
    return p.array;
}

static void bind_cotangent(own *o, rg_var *v, const rg_ref *at, bool sums) {
    rg_lower *l = o->l;
    rg_ref p = *at;
    if (!p.bad) {
        uint32_t k = 0;
        while (k < o->pairs.n && o->pairs.at[k].array != at->array)
            k++;
        if (k == o->pairs.n) {
            const rg_array *a = rg_array_at(l->fn, at->array);
            const rg_elem *elem = a->elem;
            uint32_t rank = a->rank;
            rg_val ext[RG_PLACE_AXES] = {0};
            for (uint32_t d = 0; d < rank && d < RG_PLACE_AXES; d++)
                ext[d] = rg_b_extent(l->b, at->array, d);
            pair x = {at->array, rg_b_alloc(l->b, v->name, elem, rank, ext, 0), true};
            RG_PUSH(l->arena, &o->pairs, x);
        }
        o->pairs.at[k].sums &= sums;
        p.array = o->pairs.at[k].cotangent;
        p.cotangent = true;
        p.sums = sums;
    }
    rg_bind_pointer(l, v, &p);
}

static void give(rg_lower *l, const rg_ctype *t, const rg_val *x, rg_aid gradient) {
    const rg_elem *e = rg_array_at(l->fn, gradient)->elem;
    rg_val zero = rg_b_int(l->b, RG_I32, 0);
    for (uint32_t k = 0; k < rg_ctype_leaves(t); k++)
        if (rg_type_is_float(rg_mem_value(e->leaves[k].mem)))
            rg_b_give(l->b, x[k], rg_b_load(l->b, gradient, k, &zero, 0));
}

static void lower_adjoint(own *o, const rg_given *given, rg_val bar) {
    rg_lower *l = o->l;
    const rg_func *f = o->call->func;
    rg_func *g = f->adjoint;
    rg_aid *gradient = RG_NEW_N(l->arena, rg_aid, f->params.n + 1);
    uint32_t at = 0;
    for (uint32_t k = 0; k < f->params.n; k++) {
        rg_ctype *t = f->params.at[k]->type;
        rg_var *v = g->params.at[at++], *b = holds_float(t) ? g->params.at[at++] : NULL;
        l->b->loc = v->loc;
        if (t->kind == RG_C_PTR) {
            rg_bind_pointer(l, v, &given[k].at);
            if (b)
                bind_cotangent(o, b, &given[k].at, is_const(t->base));
            continue;
        }
        if (rg_ctype_is_arith(t)) {
            rg_bind_number(l, v, given[k].vals[0]);
        } else {
            rg_ref p = {.type = v->type, .vals = given[k].vals};
            rg_bind_place(l, v, &p);
        }
        if (b)
            gradient[k] = bind_gradient(l, b);
    }
    if (bar)
        rg_bind_number(l, g->params.at[at], bar);
    for (uint32_t k = 0; k < o->pairs.n; k++) /* not known before, wanted after: */
        rg_b_pair(l->b, o->pairs.at[k].array, o->pairs.at[k].cotangent, o->pairs.at[k].sums);
    rg_ref nothing;
    rg_lower_function(l, g, o->call->loc, &nothing);
    for (uint32_t k = 0; k < o->pairs.n; k++)
        rg_b_pair(l->b, o->pairs.at[k].array, o->pairs.at[k].cotangent, o->pairs.at[k].sums);
    for (uint32_t k = 0; k < f->params.n; k++)
        if (gradient[k])
            give(l, f->params.at[k]->type, given[k].vals, gradient[k]);
}

rg_val rg_lower_own_call(rg_lower *l, rg_node *n, const rg_given *given) {
    rg_func *f = n->func;
    rg_ctype *rt = f->type->base;
    rg_build *b = l->b;
    own o = {.l = l, .call = n};
    rg_ref nothing;
    check_apart(l, n, given);
    for (uint32_t k = 0; k < f->params.n; k++)
        if (f->params.at[k]->type->kind != RG_C_PTR && !given[k].vals) {
            rg_error(l->diags, f->params.at[k]->loc, "pass the numbers one by one, or a pointer",
                     "a struct with an array inside is passed to '%s', which has an adjoint of its "
                     "own",
                     f->name);
            return rg_ctype_is_arith(rt) ? rg_b_zero(b, rg_ctype_value(rt)) : 0;
        }
    l->in_own = true;
    b->loc = n->loc;
    rg_iid i = rg_b_if(b, rg_b_own(b));
    rg_b_push(b, rg_ins_at(l->fn, i)->region[0]);
    rg_val v = rg_ctype_is_arith(rt) ? rg_b_bar(b, rg_ctype_value(rt)) : 0;
    l->in_adjoint = true;
    lower_adjoint(&o, given, v);
    l->in_adjoint = false;
    rg_b_yield(b, &v, v != 0);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(l->fn, i)->region[1]);
    v = rg_lower_function(l, f, n->loc, &nothing);
    rg_b_yield(b, &v, v != 0);
    rg_b_pop(b);
    l->in_own = false;
    b->loc = n->loc;
    rg_b_if_done(b, i);
    return v ? rg_result(l->fn, i, 0) : 0;
}
