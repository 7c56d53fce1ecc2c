/* Results that are computed once and kept, one for each iteration of the loops around them.
 *
 * A loop's iteration is swept forward again by each backward sweep around it: a loop in a loop in a
 * region is swept three times. What is costly there, a function such as exp or a whole inner loop
 * that only makes a number, need not be computed as often: the sweep of the region that the loops
 * stand in stores it, in an array with an axis for each loop, and the sweeps of iterations load it.
 *
 * Whether that pays is known only when the adjoint stands: the first sweep may compute the result
 * for nobody but the store, or the later one may not want it. So both are built, the load beside
 * the computation, and at the end one look at what is live without any of the stores decides: a
 * load takes the computation's place where the value that was stored is wanted anyway by the sweep
 * that stored it, and the computation by the sweep that would load. What is cheap is computed
 * again: a load and a store move more than an addition, a product or a division costs. */
#include "ad/adjoint.h"

#include "ir/live.h"

enum { KEPT_DEPTH = 4 };

/* A division costs about what a store and a load do, when the memory is the nearest cache. */
static bool costly(rg_op op, bool few) {
    return (op >= RG_SIN && op <= RG_LGAMMA) || op == RG_POW || op == RG_ATAN2 || op == RG_HYPOT ||
           (few && (op == RG_DIV || op == RG_SQRT));
}

/* ---- the loops, and room for the results ---- */

bool rg_adj_known_before(const rg_fn *f, rg_val v, rg_iid outermost) {
    return rg_def_op(f, v) == RG_CONST ||
           !rg_region_inside(f, rg_val_region(f, v), rg_ins_at(f, outermost)->region[0]);
}

rg_val rg_adj_bound(rg_adj *s, rg_val v) {
    int64_t c;
    return rg_val_const_int(s->f, v, &c) ? rg_b_int(s->b, rg_type_of(s->f, v), c) : s->fwd[v];
}

/* Iterations of `for` i if both bounds are constants, else -1. */
static int64_t constant_trips(const rg_fn *f, rg_iid i) {
    int64_t lo, hi;
    if (!rg_val_const_int(f, rg_operand(f, i, 0), &lo) ||
        !rg_val_const_int(f, rg_operand(f, i, 1), &hi))
        return -1;
    return hi > lo ? hi - lo : 0;
}

/* An array of constant extents at the start of the frame: the sweeps of a branch use it. */
static rg_aid frame_array(rg_adj *s, const char *name, const rg_elem *elem, const rg_kept *k) {
    rg_fn *g = s->g;
    rg_aid a = rg_adj_frame_array(s, name, elem, k->n, RG_ARR_SAVE);
    rg_iid alloc = rg_region_at(g, s->frame)->ins.at[0];
    for (uint32_t d = 0; d < k->n; d++) {
        rg_iid c = rg_ins_new(g, RG_CONST, s->b->loc);
        rg_val v = rg_ins_add_result(g, c, RG_I64);
        rg_ins_at(g, c)->imm.i = constant_trips(s->f, k->loops[d]);
        rg_region_insert(g, s->frame, 0, c);
        rg_ins_add_operand(g, alloc, v);
        rg_array_at(g, a)->extents[d] = v;
    }
    return a;
}

static rg_aid room(rg_adj *s, const char *name, rg_type t, const rg_kept *k, const rg_val *trips) {
    const rg_elem *elem = rg_elem_scalar(rg_type_mem(t));
    name = rg_format(s->arena, "%s_kept", name);
    return s->in_if ? frame_array(s, name, elem, k)
                    : rg_b_alloc(s->b, name, elem, k->n, trips, RG_ARR_SAVE);
}

/* Instruction i of f, inside the loops of `like`, gets room for its results. */
static void add(rg_adj *s, rg_iid i, const rg_kept *like, const rg_val *trips) {
    const rg_fn *f = s->f;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_kept *k = RG_NEW(s->arena, rg_kept);
    *k = *like;
    /* Only what the sweeps around this one have stored is still there. */
    k->outer = s->kept[i];
    while (k->outer && (k->outer->root == s->root || !rg_region_inside(f, s->root, k->outer->root)))
        k->outer = k->outer->outer;
    k->array = RG_NEW_N(s->arena, rg_aid, ins.nres);
    k->store = RG_NEW_N(s->arena, rg_iid, ins.nres);
    for (uint32_t q = 0; q < ins.nres; q++) {
        const rg_value *v = rg_value_at(f, rg_result(f, i, q));
        k->array[q] =
            room(s, ins.op == RG_FOR && v->name ? v->name : rg_ops[ins.op].text, v->type, k, trips);
    }
    s->kept[i] = k;
}

static void candidates(rg_adj *s, rg_rid r, rg_kept *nest, rg_val *trips, int64_t all) {
    const rg_fn *f = s->f;
    for (uint32_t q = 0; q + 1 < rg_region_at(f, r)->ins.n; q++) {
        rg_iid i = rg_region_at(f, r)->ins.at[q];
        const rg_ins ins = *rg_ins_at(f, i);
        if (ins.op == RG_IF) {
            if (!rg_is_own_call(f, i))
                candidates(s, ins.region[0], nest, trips, all);
            candidates(s, ins.region[1], nest, trips, all);
        } else if (ins.op == RG_FOR) {
            rg_adj_keep_in(s, i, nest, trips, all);
            if (ins.nres)
                add(s, i, nest, trips);
        } else if (costly((rg_op)ins.op, all >= 0) &&
                   rg_type_is_float(rg_type_of(f, rg_result(f, i, 0)))) {
            add(s, i, nest, trips);
        }
    }
}

void rg_adj_keep_in(rg_adj *s, rg_iid loop, rg_kept *nest, rg_val *trips, int64_t all) {
    const rg_fn *f = s->f;
    rg_kept own = {.root = s->root};
    rg_val mine[KEPT_DEPTH];
    if (!nest) {
        nest = &own;
        trips = mine;
    }
    rg_val lo = rg_operand(f, loop, 0), hi = rg_operand(f, loop, 1);
    rg_iid outermost = nest->n ? nest->loops[0] : loop;
    int64_t n = constant_trips(f, loop);
    /* One value for each step of all blocks is what blocks are there to avoid. */
    if (!s->kept || (rg_ins_at(f, loop)->flags & RG_INS_CHECKPOINT) || nest->n == KEPT_DEPTH ||
        !rg_adj_known_before(f, lo, outermost) || !rg_adj_known_before(f, hi, outermost))
        return;
    bool constant = n >= 0 && all >= 0;
    if (constant && (n > RG_KEPT_TRIPS || (all *= n) > RG_KEPT_TRIPS || !all))
        constant = false;
    if (!constant) {
        if (s->in_if || !s->options || !s->options->keep)
            return;
        all = -1;
    }
    nest->loops[nest->n] = loop;
    if (!s->in_if)
        trips[nest->n] = rg_adj_trip_count(s, rg_adj_bound(s, lo), rg_adj_bound(s, hi));
    nest->n++;
    candidates(s, rg_ins_at(f, loop)->region[0], nest, trips, all);
    nest->n--;
}

/* ---- stores and loads ---- */

void rg_adj_place(rg_adj *s, const rg_iid *loops, uint32_t n, rg_val *idx) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    for (uint32_t d = 0; d < n; d++) {
        rg_val iv = rg_region_at(f, rg_ins_at(f, loops[d])->region[0])->args.at[0];
        rg_val lo = rg_adj_bound(s, rg_operand(f, loops[d], 0));
        idx[d] = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, s->fwd[iv]), rg_b_cast(b, RG_I64, lo));
    }
}

void rg_adj_keep(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_kept *k = s->kept ? s->kept[i] : NULL;
    rg_val idx[KEPT_DEPTH];
    uint32_t n = rg_ins_at(f, i)->nres;
    while (k && (k->root == s->root || !rg_region_inside(f, s->root, k->root)) &&
           !(s->keeping && k->root == s->root))
        k = k->outer;
    /* The loads first: they are of what outer sweeps have stored. */
    for (const rg_kept *o = k && k->root == s->root ? k->outer : k; o; o = o->outer) {
        rg_adj_place(s, o->loops, o->n, idx);
        for (uint32_t q = 0; q < n; q++) {
            rg_val r = s->fwd[rg_result(f, i, q)];
            rg_iid def = rg_value_at(s->g, r)->def;
            /* Folded: what was built is a constant, or another value. */
            if (!def || rg_ins_at(s->g, def)->op != rg_ins_at(f, i)->op || !o->store[q])
                continue;
            rg_val l = rg_b_load(s->b, o->array[q], 0, idx, RG_INS_SAVE);
            rg_b_name(s->b, l, rg_value_at(f, rg_result(f, i, q))->name);
            RG_PUSH(s->arena, &s->loads, (rg_kept_load){o->store[q], l, r});
        }
    }
    if (!k || k->root != s->root)
        return;
    rg_adj_place(s, k->loops, k->n, idx);
    for (uint32_t q = 0; q < n; q++) {
        rg_b_store(s->b, k->array[q], 0, idx, s->fwd[rg_result(f, i, q)], RG_INS_SAVE);
        rg_rid here = s->b->region;
        k->store[q] = rg_region_at(s->g, here)->ins.at[rg_region_at(s->g, here)->ins.n - 1];
        RG_PUSH(s->arena, &s->stores, k->store[q]);
    }
}

/* ---- the decision ---- */

static bool *ignoring(rg_adj *s, const rg_val *by) {
    bool *ignored = RG_NEW_N(s->arena, bool, s->g->ins.n);
    for (uint32_t k = 0; k < s->stores.n; k++)
        ignored[s->stores.at[k]] = true;
    for (uint32_t k = 0; by && k < s->loads.n; k++)
        if (by[s->loads.at[k].computed] == s->loads.at[k].loaded)
            ignored[s->loads.at[k].store] = false;
    return ignored;
}

void rg_adj_keep_decide(rg_adj *s) {
    rg_fn *g = s->g;
    if (!s->loads.n)
        return;
    rg_val *by = RG_NEW_N(s->arena, rg_val, g->vals.n);
    rg_live live = rg_fn_live(s->arena, g, ignoring(s, NULL));
    for (uint32_t k = 0; k < s->loads.n; k++) {
        const rg_kept_load *l = &s->loads.at[k];
        rg_val stored = rg_operand(g, l->store, rg_ins_at(g, l->store)->nopnd - 1);
        /* Of several sweeps that stored it the outermost one comes last. */
        if (live.val[stored] && live.val[l->computed])
            by[l->computed] = l->loaded;
    }
    rg_val *map = RG_NEW_N(s->arena, rg_val, g->vals.n);
    for (uint32_t v = 1; v < g->vals.n; v++)
        map[v] = by[v];
    rg_fn_replace_uses(g, map);
    /* An inner loop whose result is loaded but that runs all the same was kept for nothing. */
    live = rg_fn_live(s->arena, g, ignoring(s, by));
    bool back = false;
    map = RG_NEW_N(s->arena, rg_val, g->vals.n);
    for (uint32_t k = 0; k < s->loads.n; k++) {
        const rg_kept_load *l = &s->loads.at[k];
        rg_iid def = rg_value_at(g, l->computed)->def;
        if (by[l->computed] == l->loaded && rg_ins_at(g, def)->op == RG_FOR && live.ins[def]) {
            map[l->loaded] = l->computed;
            back = true;
        }
    }
    if (back)
        rg_fn_replace_uses(g, map);
}
