/* Parallel loops: ranges, what the body may see of the variables around it, reductions. */
#include "lang/lower.h"

typedef struct saved {
    rg_var *var;
    rg_binding *bind;
} saved;

typedef RG_VEC(saved) saved_list;

static void save(rg_lower *l, saved_list *list, rg_var *v) {
    RG_PUSH(l->arena, list, (saved){v, v->bind});
}

static bool has(const rg_clause_var *at, uint32_t n, const rg_var *v) {
    for (uint32_t i = 0; i < n; i++)
        if (at[i].var == v)
            return true;
    return false;
}

/* What the body only reads becomes values before the loop. */
static void snapshot(rg_lower *l, const rg_parallel *par, rg_var *v, saved_list *list) {
    rg_binding *b = v->bind;
    if (!b)
        return;
    if (b->kind == RG_BIND_PTRVAR && b->ptr.array) {
        rg_ref p = b->ptr;
        for (uint32_t i = 0; i < p.n; i++)
            if (b->idx[i])
                p.idx[i] = rg_hidden_get(l, b->idx[i]);
        save(l, list, v);
        rg_bind(l, v, RG_BIND_PTR)->ptr = p;
        return;
    }
    if (b->kind != RG_BIND_LOCAL || !rg_is_flat(v->type) || v->address_taken ||
        rg_var_written(v, par->begin, par->end))
        return;
    rg_ref p = rg_place_var(l, v, par->loc);
    rg_val *vals = rg_place_values(l, &p);
    if (rg_ctype_is_arith(v->type))
        rg_b_name(l->b, vals[0], v->name);
    save(l, list, v);
    rg_bind(l, v, RG_BIND_VALUES)->vals = vals;
}

/* && and || become & and | of zeros and ones: every device has those on integers, atomically. */
static bool is_logical(const rg_clause_var *c) {
    return c->red == RG_RED_LAND || c->red == RG_RED_LOR;
}

static rg_type accumulator_type(const rg_clause_var *c) {
    rg_type t = rg_ctype_value(c->var->type);
    return is_logical(c) || t == RG_BOOL ? RG_I32 : t;
}

static rg_red accumulator_red(const rg_clause_var *c) {
    return c->red == RG_RED_LAND ? RG_RED_AND : c->red == RG_RED_LOR ? RG_RED_OR : c->red;
}

/* firstprivate's value from before the loop: flat ones as values, arrays by reference. */
static rg_binding *outer_of(rg_lower *l, rg_var *v) {
    rg_binding *b = v->bind;
    if (b && b->kind == RG_BIND_LOCAL && rg_is_flat(v->type)) {
        rg_ref p = rg_place_var(l, v, v->loc);
        rg_binding *x = RG_NEW(l->arena, rg_binding);
        x->kind = RG_BIND_VALUES;
        x->vals = rg_place_values(l, &p);
        return x;
    }
    return b;
}

static void bind_private(rg_lower *l, rg_var *v, const rg_binding *outer, bool copy) {
    if (v->type->kind == RG_C_PTR) {
        if (!copy) {
            rg_bind_pointer(l, v, NULL);
            return;
        }
        if (!outer)
            return;
        rg_ref p = outer->ptr;
        if (outer->kind == RG_BIND_PTRVAR)
            for (uint32_t i = 0; i < p.n; i++)
                if (outer->idx[i])
                    p.idx[i] = rg_hidden_get(l, outer->idx[i]);
        rg_bind_pointer(l, v, outer->ptr.array ? &p : NULL);
        return;
    }
    rg_aid old = outer && outer->kind == RG_BIND_LOCAL ? outer->array : 0;
    if (old) { /* the extents are the outer one's, which are values already */
        const rg_array *a = rg_array_at(l->fn, old);
        rg_aid fresh = rg_b_alloc(l->b, v->name, a->elem, a->rank, a->extents, 0);
        rg_bind(l, v, RG_BIND_LOCAL)->array = fresh;
        if (copy)
            rg_b_copy(l->b, fresh, old, NULL, 0);
        return;
    }
    rg_bind_local(l, v, false);
    if (copy && outer && outer->kind == RG_BIND_VALUES) {
        rg_ref to = rg_place_var(l, v, v->loc), from = {.type = v->type, .vals = outer->vals};
        rg_place_copy(l, &to, &from);
    }
}

void rg_lower_parallel(rg_lower *l, rg_stmt *s) {
    rg_parallel *par = s->par;
    if (l->in_adjoint) {
        rg_error(l->diags, s->loc, "use a serial loop, or give the kernel an adjoint of its own",
                 "a parallel loop in the adjoint of a device function");
        return;
    }
    if (l->in_parallel) {
        rg_error(l->diags, s->loc,
                 "call the function outside of the parallel loop, or use a plain for in it",
                 "a parallel loop inside another, through a call");
        for (const rg_frame *f = l->frame; f && f->call; f = f->up)
            rg_note(l->diags, f->call, "'%s' is called here", f->func->name);
        return;
    }
    rg_range range[3];
    rg_type t = RG_I32;
    for (uint32_t k = 0; k < par->collapse; k++) {
        range[k] = rg_lower_range(l, par->loops[k], false);
        l->b->loc = s->loc;
        rg_type x = rg_type_of(l->fn, range[k].lo);
        t = k && x != t ? RG_I64 : x;
    }
    rg_val bounds[6];
    for (uint32_t k = 0; k < par->collapse; k++) {
        bounds[2 * k] = rg_b_cast(l->b, t, range[k].lo);
        bounds[2 * k + 1] = rg_b_cast(l->b, t, range[k].hi);
    }
    saved_list list = {0};
    for (uint32_t i = 0; i < par->reads.n; i++)
        if (!has(par->firstprivates.at, par->firstprivates.n, par->reads.at[i].var))
            snapshot(l, par, par->reads.at[i].var, &list);
    uint32_t nred = par->reductions.n, nfirst = par->firstprivates.n;
    rg_val *init = RG_NEW_N(l->arena, rg_val, nred + 1);
    rg_red *reds = RG_NEW_N(l->arena, rg_red, nred + 1);
    for (uint32_t i = 0; i < nred; i++) {
        const rg_clause_var *c = &par->reductions.at[i];
        rg_ref p = rg_place_var(l, c->var, c->loc);
        rg_val v = rg_place_load(l, &p);
        if (is_logical(c) && rg_type_of(l->fn, v) != RG_BOOL)
            v = rg_b_op2(l->b, RG_NE, v, rg_b_zero(l->b, rg_type_of(l->fn, v)));
        init[i] = rg_b_cast(l->b, accumulator_type(c), v);
        reds[i] = accumulator_red(c);
    }
    rg_binding **first = RG_NEW_N(l->arena, rg_binding *, nfirst + 1);
    for (uint32_t i = 0; i < nfirst; i++)
        first[i] = outer_of(l, par->firstprivates.at[i].var);

    l->b->loc = s->loc;
    rg_iid loop = rg_b_parallel(l->b, bounds, par->collapse, init, reds, nred);
    rg_b_push(l->b, rg_ins_at(l->fn, loop)->region[0]);
    l->in_parallel = true;
    rg_aid first_inside = l->fn->arrays.n;
    rg_frame *f = l->frame;
    rg_aid brk = f->brk, cont = f->cont, returned = f->returned;
    f->brk = f->cont = f->returned = 0;
    for (uint32_t k = 0; k < par->collapse; k++) {
        rg_var *v = par->loops[k]->var;
        rg_val iv = rg_b_arg(l->b, k);
        if (!range[k].start)
            rg_b_name(l->b, iv, v->name);
        save(l, &list, v);
        rg_bind_value(l, v, rg_range_var(l, &range[k], iv, rg_ctype_value(v->type)));
    }
    for (uint32_t i = 0; i < par->privates.n; i++) {
        rg_var *v = par->privates.at[i].var;
        bool loop_var = false;
        for (uint32_t k = 0; k < par->collapse; k++)
            loop_var |= par->loops[k]->var == v;
        if (loop_var)
            continue;
        save(l, &list, v);
        bind_private(l, v, v->bind, false);
    }
    for (uint32_t i = 0; i < nfirst; i++) {
        save(l, &list, par->firstprivates.at[i].var);
        bind_private(l, par->firstprivates.at[i].var, first[i], true);
    }
    for (uint32_t i = 0; i < par->reads.n; i++) {
        /* a struct parameter with arrays inside: a copy of its own costs an iteration less than
         * reading one that a task before had to write */
        rg_var *v = par->reads.at[i].var;
        if (!v->bind || v->bind->kind != RG_BIND_LOCAL || !v->bind->vals)
            continue;
        const rg_val *vals = v->bind->vals;
        save(l, &list, v);
        rg_bind_local(l, v, false);
        rg_store_scalars(l, v, vals);
    }
    rg_aid *acc = RG_NEW_N(l->arena, rg_aid, nred + 1);
    for (uint32_t i = 0; i < nred; i++) {
        const rg_clause_var *c = &par->reductions.at[i];
        save(l, &list, c->var);
        acc[i] = rg_hidden_local(l, c->var->name, accumulator_type(c));
        rg_hidden_set(l, acc[i], rg_b_arg(l->b, par->collapse + i));
        rg_binding *b = rg_bind(l, c->var, RG_BIND_REDUCE);
        b->array = acc[i];
        b->red = accumulator_red(c);
        b->logical = is_logical(c);
    }
    rg_lower_body(l, par->inner);
    l->b->loc = s->loc;
    rg_val *out = RG_NEW_N(l->arena, rg_val, nred + 1);
    for (uint32_t i = 0; i < nred; i++)
        out[i] = rg_hidden_get(l, acc[i]);
    rg_b_yield(l->b, out, nred);
    rg_b_pop(l->b);
    l->in_parallel = false;
    f->brk = brk;
    f->cont = cont;
    f->returned = returned;
    for (uint32_t i = list.n; i-- > 0;)
        list.at[i].var->bind = list.at[i].bind;
    for (uint32_t i = 0; i < nred; i++) {
        const rg_clause_var *c = &par->reductions.at[i];
        if (c->var->bind && c->var->bind->kind == RG_BIND_VALUES)
            continue; /* nothing updates it */
        rg_val v = rg_result(l->fn, loop, i);
        if (c->var->type->kind == RG_C_BOOL)
            v = rg_b_op2(l->b, RG_NE, v, rg_b_zero(l->b, RG_I32));
        v = rg_b_cast(l->b, rg_ctype_value(c->var->type), v);
        if (rg_type_mem(rg_ctype_value(c->var->type)) != rg_ctype_mem(c->var->type))
            v = rg_b_wrap(l->b, rg_ctype_mem(c->var->type), v);
        rg_ref p = rg_place_var(l, c->var, c->loc);
        rg_place_store(l, &p, v);
    }
    rg_find_races(l, loop, first_inside);
}
