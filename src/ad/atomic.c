/* Atomic min, max and product of a parallel loop on elements of an array.
 *
 * They are reductions onto elements, and their rules are those of reduce.c: the values that equal
 * the final one share its cotangent (1/k to each of k, what the element held before counts as one);
 * of a product each value gets the product of the others. So before the backward sweep the loop
 * runs once more and counts, element by element, the ties or the zeros. In the loop nothing else
 * may touch those elements: then neither the final value nor the cotangent changes while it runs,
 * and nothing depends on the order of the iterations.
 *
 * Arrays made here have one axis for each index of the access (the array's axes, the leaf's). */
#include "ad/adjoint.h"

static bool is_product(const rg_onto *o) {
    return o->kind == RG_RED_MUL;
}

static rg_val is_zero(rg_adj *s, rg_val v) {
    return rg_b_op2(s->b, RG_EQ, v, rg_b_zero(s->b, rg_type_of(s->g, v)));
}

static rg_mem value_mem(const rg_adj *s, const rg_onto *o) {
    const rg_ir_array *d = rg_array_at(s->g, s->data[o->array]);
    return rg_type_mem(rg_mem_value(d->elem->leaves[o->leaf].mem));
}

static rg_aid make(rg_adj *s, const rg_onto *o, const char *what, rg_mem mem) {
    const rg_ir_array *d = rg_array_at(s->g, s->data[o->array]);
    const rg_leaf *leaf = &d->elem->leaves[o->leaf];
    rg_val ext[RG_MAX_AXES] = {0};
    uint32_t rank = d->rank;
    for (uint32_t k = 0; k < rank && k < RG_MAX_AXES; k++)
        ext[k] = d->extents[k];
    const char *name = rg_format(s->arena, "%s_%s", rg_array_at(s->f, o->array)->name, what);
    for (uint32_t k = 0; k < leaf->ndims && rank < RG_MAX_AXES; k++)
        ext[rank++] = rg_b_int(s->b, RG_I64, leaf->dims[k]);
    return rg_b_alloc(s->b, name, rg_elem_scalar(mem), rank, ext, 0);
}

static rg_val one_if(rg_adj *s, rg_val hit, rg_type t) {
    rg_val one = rg_type_is_float(t) ? rg_b_real(s->b, t, 1) : rg_b_int(s->b, t, 1);
    return rg_b_op3(s->b, RG_SELECT, hit, one, rg_b_zero(s->b, t));
}

typedef struct loops {
    rg_val idx[RG_MAX_AXES];
    rg_iid parallel;
    uint32_t serial;
} loops;

/* Around what is built until `end`: a walk over all elements of like, made by make. */
static void begin(rg_adj *s, rg_aid like, loops *l) {
    rg_build *b = s->b;
    uint32_t rank = rg_array_at(s->g, like)->rank, ranges = rank < 3 ? rank : 3;
    rg_val zero = rg_b_int(b, RG_I64, 0), bounds[6];
    l->parallel = 0;
    l->serial = 0;
    for (uint32_t k = 0; k < ranges; k++) {
        bounds[2 * k] = zero;
        bounds[2 * k + 1] = rg_array_at(s->g, like)->extents[k];
    }
    if (ranges) {
        l->parallel = rg_b_parallel(b, bounds, ranges, NULL, NULL, 0);
        rg_b_push(b, rg_ins_at(s->g, l->parallel)->region[0]);
        for (uint32_t k = 0; k < ranges; k++)
            l->idx[k] = rg_b_arg(b, k);
    }
    for (uint32_t k = ranges; k < rank; k++) {
        rg_iid i = rg_b_for(b, zero, rg_array_at(s->g, like)->extents[k], NULL, 0, 0);
        rg_b_push(b, rg_ins_at(s->g, i)->region[0]);
        l->idx[k] = rg_b_arg(b, 0);
        l->serial++;
    }
}

static void end(rg_adj *s, const loops *l) {
    for (uint32_t k = 0; k < l->serial + (l->parallel != 0); k++) {
        rg_b_yield(s->b, NULL, 0);
        rg_b_pop(s->b);
    }
}

/* ---- which ---- */

typedef RG_VEC(rg_iid) accesses;

static void collect(const rg_fn *f, rg_rid r, rg_arena *a, accesses *out) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->op == RG_LOAD || rg_writes_element(ins) || ins->op == RG_COPY ||
            ins->op == RG_PAIR)
            RG_PUSH(a, out, i);
        for (int n = 0; n < 2; n++)
            if (ins->region[n])
                collect(f, ins->region[n], a, out);
    }
}

static bool onto_element(const rg_adj *s, rg_iid i, rg_iid parallel) {
    const rg_ins *ins = rg_ins_at(s->f, i);
    return ins->op == RG_RMW && rg_mem_is_float(rg_ins_leaf(s->f, ins)->mem) &&
           s->varied->array[ins->array] &&
           !rg_region_inside(s->f, s->life[ins->array], rg_ins_at(s->f, parallel)->region[0]);
}

void rg_adj_onto_find(rg_adj *s, rg_iid parallel) {
    const rg_fn *f = s->f;
    accesses all = {0};
    collect(f, rg_ins_at(f, parallel)->region[0], s->arena, &all);
    s->onto = (rg_ontos){0};
    for (uint32_t k = 0; k < all.n; k++) {
        const rg_ins *ins = rg_ins_at(f, all.at[k]);
        if (!onto_element(s, all.at[k], parallel) ||
            rg_adj_onto_of(s, ins->array, ins->leaf) != NULL)
            continue;
        rg_onto o = {.array = ins->array, .leaf = ins->leaf, .kind = (rg_red)ins->imm.i};
        bool ok = o.kind == RG_RED_MIN || o.kind == RG_RED_MAX || o.kind == RG_RED_MUL;
        for (uint32_t q = 0; q < all.n; q++) {
            const rg_ins *x = rg_ins_at(f, all.at[q]);
            if (x->op == RG_COPY || x->op == RG_PAIR ? x->array != o.array && x->array2 != o.array
                                                     : x->array != o.array || x->leaf != o.leaf)
                continue;
            ok &= x->op == RG_RMW && (rg_red)x->imm.i == o.kind;
        }
        if (!ok) {
            rg_adj_refuse(s, ins->loc,
                          "let the loop do nothing else with that array: split it into two",
                          "this atomic operation on '%s' stands in a parallel loop that uses the "
                          "array in another way too",
                          rg_array_at(f, ins->array)->name);
        }
        RG_PUSH(s->arena, &s->onto, o);
    }
}

rg_onto *rg_adj_onto_of(const rg_adj *s, rg_aid array, uint32_t leaf) {
    for (uint32_t k = 0; k < s->onto.n; k++)
        if (s->onto.at[k].array == array && s->onto.at[k].leaf == leaf)
            return &s->onto.at[k];
    return NULL;
}

/* ---- counting ---- */

void rg_adj_onto_after(rg_adj *s) {
    for (uint32_t k = 0; k < s->onto.n; k++) {
        rg_onto *o = &s->onto.at[k];
        if (is_product(o))
            continue;
        o->after = make(s, o, "after", value_mem(s, o));
        loops l;
        begin(s, o->after, &l);
        rg_b_store(s->b, o->after, 0, l.idx, rg_b_load(s->b, s->data[o->array], o->leaf, l.idx, 0),
                   0);
        end(s, &l);
    }
}

void rg_adj_onto_count(rg_adj *s, rg_iid p) {
    rg_build *b = s->b;
    if (!s->onto.n)
        return;
    for (uint32_t k = 0; k < s->onto.n; k++) {
        rg_onto *o = &s->onto.at[k];
        rg_type n =
            is_product(o) ? rg_mem_value(value_mem(s, o)) : rg_adj_count_type(s->f, p, RG_RMW);
        o->count = make(s, o, is_product(o) ? "zeros" : "ties", rg_type_mem(n));
        if (is_product(o))
            o->rest = make(s, o, "rest", value_mem(s, o));
        loops l;
        begin(s, o->count, &l);
        rg_val e = rg_b_load(b, s->data[o->array], o->leaf, l.idx, 0);
        rg_type t = rg_type_of(s->g, e);
        rg_val hit = is_product(o) ? is_zero(s, e)
                                   : rg_b_op2(b, RG_EQ, e, rg_b_load(b, o->after, 0, l.idx, 0));
        rg_b_store(b, o->count, 0, l.idx, one_if(s, hit, n), 0);
        if (is_product(o))
            rg_b_store(b, o->rest, 0, l.idx, rg_b_op3(b, RG_SELECT, hit, rg_b_real(b, t, 1), e), 0);
        end(s, &l);
    }
    s->onto_counting = true;
    rg_adj_sweep_parallel(s, p);
    s->onto_counting = false;
}

void rg_adj_onto_count_one(rg_adj *s, rg_onto *o, const rg_val *idx, rg_val v) {
    rg_build *b = s->b;
    rg_val one = rg_b_real(b, rg_type_of(s->g, v), 1);
    rg_val hit =
        is_product(o) ? is_zero(s, v) : rg_b_op2(b, RG_EQ, v, rg_b_load(b, o->after, 0, idx, 0));
    rg_type n = rg_mem_value(rg_array_at(s->g, o->count)->elem->leaves[0].mem);
    rg_b_addto(b, o->count, 0, idx, one_if(s, hit, n), RG_INS_ATOMIC);
    if (is_product(o))
        rg_ad_rmw(s->g, rg_b_rmw(b, RG_RED_MUL, o->rest, 0, idx,
                                 rg_b_op3(b, RG_SELECT, hit, one, v), RG_INS_ATOMIC));
}

/* ---- sharing out ---- */

rg_val rg_adj_onto_share(rg_adj *s, const rg_onto *o, const rg_val *idx, rg_val e, rg_val g) {
    rg_build *b = s->b;
    rg_val count = rg_b_cast(b, rg_type_of(s->g, e), rg_b_load(b, o->count, 0, idx, 0));
    rg_val result = is_product(o) ? 0 : rg_b_load(b, o->after, 0, idx, 0);
    rg_val rest = is_product(o) ? rg_b_load(b, o->rest, 0, idx, 0) : 0;
    return rg_adj_share(s, o->kind, e, g, result, rest ? rest : count, count);
}

void rg_adj_onto_finish(rg_adj *s, const rg_aid *shadow) {
    rg_build *b = s->b;
    for (uint32_t k = 0; k < s->onto.n; k++) {
        const rg_onto *o = &s->onto.at[k];
        if (!shadow[o->array])
            continue;
        loops l;
        begin(s, o->count, &l);
        rg_val e = rg_b_load(b, s->data[o->array], o->leaf, l.idx, 0);
        rg_val g = rg_b_load(b, shadow[o->array], o->leaf, l.idx, 0);
        rg_b_store(b, shadow[o->array], o->leaf, l.idx, rg_adj_onto_share(s, o, l.idx, e, g), 0);
        end(s, &l);
    }
}
