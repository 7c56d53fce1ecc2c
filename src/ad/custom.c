/* Adjoints that the user wrote: `#pragma retrograd adjoint(f) = f_adjoint`.
 *
 * Of a device function: the result v of a call is wrapped, one `custom` for each scalar argument,
 *     v' = custom n (... custom 1 (v, x1) ..., xn)
 * which is v itself, with the arguments beside it. On the way back its cotangent does not go to v;
 * the adjoint's body, an rg_fn of its own (rg_custom), is put there, with the arguments, the
 * cotangent, and a zero-filled local for each pointer that it adds a gradient through.
 *
 * Of a kernel: the other kernel, its parameters bound anew, is the adjoint. */
#include "ad/custom.h"

#include "ad/start.h"

/* ---- away with the marks ---- */

bool rg_ad_unmark(rg_fn *f) {
    bool any = false;
    rg_val *map = RG_NEW_N(f->arena, rg_val, f->vals.n);
    for (uint32_t r = 1; r < f->regions.n; r++) {
        rg_region *g = rg_region_at(f, r);
        uint32_t n = 0;
        for (uint32_t k = 0; k < g->ins.n; k++) {
            rg_iid i = g->ins.at[k];
            if (rg_ins_at(f, i)->op != RG_CUSTOM) {
                g->ins.at[n++] = i;
                continue;
            }
            map[rg_result(f, i, 0)] = rg_operand(f, i, 0);
            rg_ins_at(f, i)->parent = 0;
            any = true;
        }
        g->ins.n = n;
    }
    if (any)
        rg_fn_replace_uses(f, map);
    return any;
}

/* ---- the body of one function in another ---- */

typedef struct inliner {
    const rg_fn *from;
    rg_fn *g;
    rg_build *b;
    rg_val *map;           /* [from vals] */
    rg_aid *array;         /* [from arrays] */
    const rg_val *scalars; /* [from scalars] */
} inliner;

static void copy_region(inliner *n, rg_rid from);

static void copy_instruction(inliner *n, rg_iid i) {
    const rg_fn *f = n->from;
    rg_fn *g = n->g;
    rg_build *b = n->b;
    const rg_ins ins = *rg_ins_at(f, i);
    b->loc = ins.loc;
    if (ins.op == RG_SCALAR) {
        n->map[rg_result(f, i, 0)] = n->scalars[ins.imm.i];
        return;
    }
    if (ins.op == RG_ALLOC) {
        const rg_ir_array *r = rg_array_at(f, ins.array);
        rg_val ext[RG_MAX_AXES] = {0};
        for (uint32_t k = 0; k < ins.nopnd && k < RG_MAX_AXES; k++)
            ext[k] = n->map[rg_operand(f, i, k)];
        n->array[ins.array] = rg_b_alloc(b, r->name, r->elem, r->rank, ext, r->flags);
        return;
    }
    rg_iid j = rg_ins_new(g, (rg_op)ins.op, ins.loc);
    rg_ins *to = rg_ins_at(g, j);
    to->flags = ins.flags;
    to->array = n->array[ins.array];
    to->array2 = n->array[ins.array2];
    to->leaf = ins.leaf;
    to->imm = ins.imm;
    for (uint32_t k = 0; k < ins.nopnd; k++)
        rg_ins_add_operand(g, j, n->map[rg_operand(f, i, k)]);
    for (uint32_t s = 0; s < 2; s++)
        if (ins.region[s]) {
            rg_rid r = rg_region_new(g, j);
            rg_ins_at(g, j)->region[s] = r;
            for (uint32_t k = 0; k < rg_region_at(f, ins.region[s])->args.n; k++) {
                rg_val a = rg_region_at(f, ins.region[s])->args.at[k];
                n->map[a] = rg_region_add_arg(g, r, rg_type_of(f, a));
                rg_b_name(b, n->map[a], rg_value_at(f, a)->name);
            }
            rg_b_push(b, r);
            copy_region(n, ins.region[s]);
            rg_b_pop(b);
        }
    rg_region_insert(g, b->region, rg_region_at(g, b->region)->ins.n, j);
    for (uint32_t k = 0; k < ins.nres; k++) {
        rg_val r = rg_result(f, i, k);
        n->map[r] = rg_ins_add_result(g, j, rg_type_of(f, r));
        rg_b_name(b, n->map[r], rg_value_at(f, r)->name);
    }
}

static void copy_region(inliner *n, rg_rid from) {
    for (uint32_t k = 0; k < rg_region_at(n->from, from)->ins.n; k++) {
        rg_iid i = rg_region_at(n->from, from)->ins.at[k];
        if (rg_ins_at(n->from, i)->op != RG_YIELD || from != n->from->body)
            copy_instruction(n, i);
    }
}

void rg_ad_custom_call(rg_build *b, const rg_custom *c, const rg_val *x, rg_val bar, rg_val *out) {
    const rg_fn *f = c->fn;
    rg_fn *g = b->fn;
    rg_arena *a = g->arena;
    inliner n = {.from = f, .g = g, .b = b};
    n.map = RG_NEW_N(a, rg_val, f->vals.n);
    n.array = RG_NEW_N(a, rg_aid, f->arrays.n + 1);
    rg_val *scalars = RG_NEW_N(a, rg_val, f->scalars.n + 1);
    rg_val one = rg_b_int(b, RG_I64, 1);
    uint32_t at = 0;
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        if (p->is_array) {
            n.array[p->array] = rg_b_alloc(b, p->name, p->elem, 1, &one, RG_ARR_ZERO);
        } else if (k + 1 == f->params.n) {
            scalars[p->first_scalar] = bar;
        } else {
            for (uint32_t s = 0; s < p->nscalars; s++)
                scalars[p->first_scalar + s] = x[at++];
        }
    }
    n.scalars = scalars;
    copy_region(&n, f->body);
    /* What was added through the pointers; a parameter without one gets nothing. */
    at = 0;
    for (uint32_t k = 0; k + 1 < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        if (p->is_array)
            continue;
        const rg_param *q = &f->params.at[k + 1];
        for (uint32_t s = 0; s < p->nscalars; s++, at++) {
            out[at] = 0;
            if (!q->is_array ||
                !rg_type_is_float(rg_mem_value(f->scalars.at[p->first_scalar + s].mem)))
                continue;
            int64_t inner[8];
            uint32_t ndims;
            uint32_t leaf = rg_scalar_leaf(f, p->first_scalar + s, inner, &ndims);
            rg_val idx[9] = {rg_b_int(b, RG_I64, 0)};
            for (uint32_t d = 0; d < ndims; d++)
                idx[d + 1] = rg_b_int(b, RG_I64, inner[d]);
            out[at] = rg_b_load(b, n.array[q->array], leaf, idx, 0);
        }
    }
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
