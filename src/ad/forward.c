/* The forward sweep: copies the primal's instructions into the adjoint.
 *
 * Augmented sweeps leave behind what the backward sweep of the same region needs: loops save the
 * values they carry, one for each iteration; stores to tracked arrays keep what they overwrite.
 * The bodies of loops are swept plainly, since the backward sweep sweeps each iteration again,
 * augmented. Parameter arrays are never written: reads see what f left (or the workspace copy). */
#include "ad/adjoint.h"

#include "ir/affine.h"
#include "ir/meet.h"

static void region(rg_adj *s, rg_rid r, bool augmented);

void rg_adj_indices(rg_adj *s, rg_iid access, rg_val *out) {
    uint32_t n = rg_ins_nindices(s->f, rg_ins_at(s->f, access));
    if (n > RG_MAX_AXES)
        rg_bug(s->arena, "access with too many indices");
    for (uint32_t k = 0; k < n; k++)
        out[k] = s->fwd[rg_operand(s->f, access, k)];
}

static void keep_name(rg_adj *s, rg_val v) {
    rg_b_name(s->b, s->fwd[v], rg_value_at(s->f, v)->name);
}

/* Is the array's life inside the region that this sweep started at? Otherwise an earlier sweep has
 * settled it. */
static bool lives_here(rg_adj *s, rg_aid a) {
    return rg_region_inside(s->f, s->life[a], s->root);
}

static bool meets_others(const rg_ins *ins) {
    return ins->op == RG_RMW || (ins->flags & RG_INS_ATOMIC);
}

bool rg_adj_is_left_out(const rg_adj *s, rg_iid i) {
    const rg_ins *ins = rg_ins_at(s->f, i);
    return s->reversing && meets_others(ins) &&
           !rg_region_inside(s->f, s->life[ins->array], rg_ins_at(s->f, s->reversing)->region[0]);
}

/* The backward sweep of a parallel runs each iteration forward and undoes it, all of them at the
 * same time: what they do together to one element cannot be undone by one of them. It is not done
 * at all, and the element stays as it was before the loop. Nobody may want to see it then. */
static void left_out(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_iid loop = s->reversing;
    rg_rid body = rg_ins_at(f, loop)->region[0];
    s->old[i] = 0;
    rg_access one = rg_access_of(f, i, ins->array);
    for (uint32_t k = 1; k < f->ins.n; k++) {
        const rg_ins *x = rg_ins_at(f, k);
        if (x->op != RG_LOAD || x->array != ins->array || !x->parent || (x->flags & RG_INS_KEPT) ||
            !rg_region_inside(f, x->parent, body))
            continue;
        rg_access other = rg_access_of(f, k, ins->array);
        if (!rg_may_meet(f, &one, &other, body, 0, RG_ORDER_ANY))
            continue;
        rg_adj_refuse(
            s, x->loc, "split the loop into one that updates the array and one that reads it",
            "this reads an element of '%s' that the same parallel loop updates atomically",
            rg_array_at(f, ins->array)->name);
    }
}

bool rg_adj_sets_together(const rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    if (ins->op == RG_STORE && !(ins->flags & RG_INS_ATOMIC))
        return false;
    for (rg_rid r = ins->parent; rg_region_at(f, r)->owner;
         r = rg_ins_at(f, rg_region_at(f, r)->owner)->parent) {
        rg_iid p = rg_region_at(f, r)->owner;
        if (rg_ins_at(f, p)->op != RG_PARALLEL)
            continue;
        if (rg_region_inside(f, s->life[ins->array], r))
            return false; /* the iteration's own */
        return !rg_access_same_iteration(f, i, i, p);
    }
    return false;
}

/* Several iterations may set one element, and another run may find another one the last. */
static bool order_matters(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    bool sets = ins->op == RG_RMW ? ins->imm.i == RG_RED_SET
                                  : ins->op == RG_STORE && (ins->flags & RG_INS_ATOMIC);
    if (!sets || !s->in_parallel)
        return false;
    rg_val v = rg_operand(f, i, ins->nopnd - 1);
    if (rg_def_op(f, v) == RG_CONST)
        return false;
    if (!rg_adj_sets_together(s, i))
        return false;
    rg_adj_refuse(s, ins->loc, "let one iteration alone write the element",
                  "which iteration sets '%s' last may differ when it is run again",
                  rg_array_at(f, ins->array)->name);
    return true;
}

/* Does this sweep change array a of f in g's memory? */
static bool is_swept(rg_adj *s, rg_aid a) {
    if (s->keep[a] == RG_KEEP_NONE || rg_array_at(s->g, s->data[a])->kind != RG_ARR_LOCAL)
        return false;
    return s->keep[a] != RG_KEEP_SETTLED || lives_here(s, a);
}

/* After a loop whose atomic sums another run might round in another way: the launch's. */
static void kept_state(rg_adj *s, rg_iid i) {
    const rg_ins ins = *rg_ins_at(s->f, i);
    if (!is_swept(s, ins.array))
        return;
    rg_val at[RG_MAX_AXES];
    for (uint32_t k = 0; k < ins.nopnd; k++)
        at[k] = s->fwd[rg_operand(s->f, i, k)];
    rg_b_copy(s->b, s->data[ins.array], s->data[ins.array2], at, ins.nopnd);
}

/* Is this an atomic sum in a loop after which the array's kept state follows? Then nobody sees what
 * it would do: the loop may not read what it updates (left_out). */
static bool is_kept(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    if (!meets_others(ins) || ins->op == RG_STORE)
        return false;
    rg_iid loop = i;
    while (loop && rg_ins_at(f, loop)->op != RG_PARALLEL)
        loop = rg_region_at(f, rg_ins_at(f, loop)->parent)->owner;
    if (!loop || rg_region_inside(f, s->life[ins->array], rg_ins_at(f, loop)->region[0]))
        return false;
    const rg_region *g = rg_region_at(f, rg_ins_at(f, loop)->parent);
    bool after = false;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *x = rg_ins_at(f, g->ins.at[k]);
        if (after && x->op == RG_COPY && (x->flags & RG_INS_KEPT) && x->array == ins->array)
            return true;
        after |= g->ins.at[k] == loop;
        if (after && g->ins.at[k] != loop && x->region[0])
            return false;
    }
    return false;
}

static void write(rg_adj *s, rg_iid i, bool augmented) {
    const rg_fn *f = s->f;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_aid a = s->data[ins.array];
    if (!is_swept(s, ins.array)) /* settled: in the user's memory as f left it, or by a sweep */
        return;
    rg_val idx[RG_MAX_AXES], v = s->fwd[rg_operand(f, i, ins.nopnd - 1)];
    rg_adj_indices(s, i, idx);
    if (rg_adj_is_left_out(s, i))
        return left_out(s, i);
    if (ins.op == RG_RMW && s->onto_counting) {
        rg_onto *o = rg_adj_onto_of(s, ins.array, ins.leaf);
        if (o) {
            rg_adj_onto_count_one(s, o, idx, v);
            return;
        }
    }
    if (is_kept(s, i) || order_matters(s, i))
        return;
    if (s->keep[ins.array] == RG_KEEP_TRACKED && (augmented || s->logging)) {
        rg_val old = rg_b_load(s->b, a, ins.leaf, idx, 0);
        if (augmented)
            s->old[i] = old;
        else
            rg_adj_log_store(s, i, idx, old);
    }
    if (ins.op == RG_STORE)
        rg_b_store(s->b, a, ins.leaf, idx, v, ins.flags);
    else if (ins.op == RG_ADDTO)
        rg_b_addto(s->b, a, ins.leaf, idx, v, ins.flags);
    else
        rg_ad_rmw(s->g, rg_b_rmw(s->b, (rg_red)ins.imm.i, a, ins.leaf, idx, v, ins.flags));
}

static void load(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_val idx[RG_MAX_AXES], r = rg_result(f, i, 0);
    if (ins->flags & RG_INS_KEPT) {
        s->fwd[r] = rg_b_zero(s->b, rg_type_of(f, r)); /* nobody looks */
        return;
    }
    rg_adj_indices(s, i, idx);
    s->fwd[r] = rg_b_load(s->b, s->data[ins->array], ins->leaf, idx, ins->flags);
    keep_name(s, r);
}

static void alloc(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    const rg_ir_array *r = rg_array_at(f, ins->array);
    rg_val ext[RG_MAX_AXES] = {0};
    for (uint32_t k = 0; k < ins->nopnd; k++)
        ext[k] = s->fwd[rg_operand(f, i, k)];
    s->data[ins->array] = rg_b_alloc(s->b, r->name, r->elem, r->rank, ext, r->flags);
    rg_array_at(s->g, s->data[ins->array])->loc = r->loc;
}

/* v, computed in branch r or in one inside, before the branch is entered; 0: it cannot be. */
static rg_val ahead(rg_adj *s, rg_rid r, rg_val v, int depth) {
    const rg_fn *f = s->f;
    if (!rg_region_inside(f, rg_val_region(f, v), r))
        return s->fwd[v];
    rg_iid d = rg_value_at(f, v)->def;
    if (!d || depth > 20)
        return 0;
    const rg_ins ins = *rg_ins_at(f, d);
    if (ins.op == RG_EXTENT && rg_array_at(f, ins.array)->kind == RG_ARR_PARAM)
        return rg_b_extent(s->b, ins.array, (uint32_t)ins.imm.i);
    if (ins.op == RG_SCALAR)
        return rg_b_scalar(s->b, (uint32_t)ins.imm.i);
    if (ins.op == RG_CONST)
        return rg_type_is_float(rg_type_of(f, v)) ? rg_b_real(s->b, rg_type_of(f, v), ins.imm.f)
                                                  : rg_b_int(s->b, rg_type_of(f, v), ins.imm.i);
    /* What could fault may be what the branch guards. */
    if (!rg_op_is_pure((rg_op)ins.op) || ins.nopnd > 3 || ins.op == RG_DIV || ins.op == RG_REM ||
        ins.op == RG_SHL || ins.op == RG_SHR)
        return 0;
    rg_val x[3] = {0};
    for (uint32_t k = 0; k < ins.nopnd; k++)
        if ((x[k] = ahead(s, r, rg_operand(f, d, k), depth + 1)) == 0)
            return 0;
    return rg_b_pure(s->b, (rg_op)ins.op, rg_type_of(f, v), x, ins.nopnd, ins.imm.i);
}

/* Arrays that come to life in a branch are needed by the backward sweep of that branch, which is
 * another region: they are made before the `if`. */
static void hoist_allocs(rg_adj *s, rg_rid r, rg_rid outermost) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->op == RG_IF) {
            rg_rid side[2] = {ins->region[0], ins->region[1]};
            if (!rg_is_own_call(f, i))
                hoist_allocs(s, side[0], outermost);
            hoist_allocs(s, side[1], outermost);
        } else if (ins->op == RG_PARALLEL) {
            s->snapshots[i] = (rg_wholes){0};
            rg_adj_snapshot_alloc(s, i);
        } else if (ins->op == RG_ALLOC) {
            for (uint32_t d = 0; d < ins->nopnd; d++) {
                rg_val e = rg_operand(f, i, d);
                rg_val early = ahead(s, outermost, e, 0);
                if (early) {
                    s->fwd[e] = early;
                } else {
                    rg_adj_refuse(
                        s, ins->loc, "declare the array before the `if`",
                        "the size of array '%s' is computed inside the `if` that it is declared in",
                        rg_array_at(f, ins->array)->name);
                }
            }
            alloc(s, i);
        }
    }
}

static void yields(rg_adj *s, rg_rid r) {
    rg_iid y = rg_yield_of(s->f, r);
    uint32_t n = rg_ins_at(s->f, y)->nopnd;
    rg_val *v = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        v[k] = s->fwd[rg_operand(s->f, y, k)];
    rg_b_yield(s->b, v, n);
}

static void results(rg_adj *s, rg_iid i, rg_iid j) {
    for (uint32_t k = 0; k < rg_ins_at(s->f, i)->nres; k++) {
        s->fwd[rg_result(s->f, i, k)] = rg_result(s->g, j, k);
        keep_name(s, rg_result(s->f, i, k));
    }
}

/* A call with an adjoint by the user: the function, here. */
static void own_call(rg_adj *s, rg_iid i, bool augmented) {
    rg_rid r = rg_ins_at(s->f, i)->region[1];
    region(s, r, augmented);
    for (uint32_t k = 0; k < rg_ins_at(s->f, i)->nres; k++)
        s->fwd[rg_result(s->f, i, k)] = s->fwd[rg_operand(s->f, rg_yield_of(s->f, r), k)];
}

static void branch(rg_adj *s, rg_iid i, bool augmented) {
    const rg_ins ins = *rg_ins_at(s->f, i);
    if (rg_is_own_call(s->f, i))
        return own_call(s, i, augmented);
    if (augmented && s->in_if == 0) {
        hoist_allocs(s, ins.region[0], ins.region[0]);
        hoist_allocs(s, ins.region[1], ins.region[1]);
    }
    rg_iid j = rg_b_if(s->b, s->fwd[rg_operand(s->f, i, 0)]);
    s->in_if++;
    for (int k = 0; k < 2; k++) {
        rg_b_push(s->b, rg_ins_at(s->g, j)->region[k]);
        region(s, ins.region[k], augmented);
        yields(s, ins.region[k]);
        rg_b_pop(s->b);
    }
    s->in_if--;
    rg_b_if_done(s->b, j);
    results(s, i, j);
}

static void bind_args(rg_adj *s, rg_rid r) {
    const rg_region *body = rg_region_at(s->f, r);
    for (uint32_t k = 0; k < body->args.n; k++) {
        s->fwd[body->args.at[k]] = rg_b_arg(s->b, k);
        keep_name(s, body->args.at[k]);
    }
}

static rg_aid save_array(rg_adj *s, rg_val arg, rg_val trips) {
    const rg_value *v = rg_value_at(s->f, arg);
    const rg_elem *e = rg_elem_scalar(rg_type_mem(v->type));
    const char *name = rg_format(s->arena, "%s_saved", v->name ? v->name : "carried");
    if (trips && s->in_if == 0)
        return rg_b_alloc(s->b, name, e, 1, &trips, RG_ARR_SAVE);
    return rg_adj_frame_array(s, name, e, 1, RG_ARR_SAVE | RG_ARR_GROW);
}

rg_val rg_adj_trip_count(rg_adj *s, rg_val lo, rg_val hi) {
    rg_build *b = s->b;
    rg_val d = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, hi), rg_b_cast(b, RG_I64, lo));
    rg_val zero = rg_b_int(b, RG_I64, 0);
    return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, lo, hi), d, zero);
}

static void loop(rg_adj *s, rg_iid i, bool augmented) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    bool counted = ins.op == RG_FOR;
    uint32_t first = rg_first_init(f, i), carried = rg_first_carried(f, i), n = ins.nres;
    rg_val *in = RG_NEW_N(s->arena, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        in[k] = s->fwd[rg_operand(f, i, first + k)];
    rg_val lo = 0, hi = 0;
    if (counted) {
        lo = s->fwd[rg_operand(f, i, 0)];
        hi = s->fwd[rg_operand(f, i, 1)];
    }
    rg_saved *v = NULL, *outer = s->logging;
    rg_aid trip = 0;
    if (augmented) {
        v = RG_NEW(s->arena, rg_saved);
        s->saved[i] = v;
        v->carried = RG_NEW_N(s->arena, rg_aid, n + 1);
        if (counted) {
            v->trips = rg_adj_trip_count(s, lo, hi);
        } else {
            trip = rg_adj_frame_array(s, "trips", rg_elem_scalar(RG_M_I64), 0, 0);
            rg_b_store(b, trip, 0, NULL, rg_b_int(b, RG_I64, 0), 0);
        }
        const rg_region *body = rg_region_at(f, ins.region[0]);
        for (uint32_t k = 0; k < n; k++)
            v->carried[k] = save_array(s, body->args.at[carried + k], v->trips);
        rg_adj_prepare_saves(s, i, v);
        s->logging = v;
        if (counted)
            rg_adj_keep_in(s, i, NULL, NULL, 1);
        s->keeping = true;
    }
    rg_iid j =
        counted ? rg_b_for(b, lo, hi, in, n, ins.flags & RG_INS_REVERSE) : rg_b_loop(b, in, n);
    rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
    bind_args(s, ins.region[0]);
    rg_val at = 0;
    if (augmented) {
        if (counted)
            at =
                rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, rg_b_arg(b, 0)), rg_b_cast(b, RG_I64, lo));
        else
            at = rg_b_load(b, trip, 0, NULL, 0);
        for (uint32_t k = 0; k < n; k++)
            rg_b_store(b, v->carried[k], 0, &at, rg_b_arg(b, carried + k), RG_INS_SAVE);
        rg_adj_begin_iteration(s, v, at);
    }
    uint32_t in_if = s->in_if;
    s->in_if = 0;
    region(s, ins.region[0], false);
    s->in_if = in_if;
    if (augmented && !counted)
        rg_b_store(b, trip, 0, NULL, rg_b_op2(b, RG_ADD, at, rg_b_int(b, RG_I64, 1)), 0);
    yields(s, ins.region[0]);
    rg_b_pop(b);
    s->logging = outer;
    if (augmented) {
        s->keeping = false;
        if (!counted)
            v->trips = rg_b_load(b, trip, 0, NULL, 0);
    }
    results(s, i, j);
    if (counted)
        rg_adj_keep(s, i);
}

static void parallel(rg_adj *s, rg_iid i, bool augmented) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    uint32_t first = rg_first_init(f, i), n = ins.nres;
    if (augmented)
        rg_adj_snapshot(s, i);
    rg_val bounds[6];
    for (uint32_t k = 0; k < first; k++)
        bounds[k] = s->fwd[rg_operand(f, i, k)];
    rg_val *in = RG_NEW_N(s->arena, rg_val, n + 1);
    rg_red *reds = RG_NEW_N(s->arena, rg_red, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        in[k] = s->fwd[rg_operand(f, i, first + k)];
        reds[k] = (rg_red)f->pool.at[ins.aux + k];
    }
    rg_iid j = rg_b_parallel(b, bounds, (uint32_t)ins.imm.i, in, reds, n);
    rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
    bind_args(s, ins.region[0]);
    rg_saved *outer = s->logging;
    uint32_t in_if = s->in_if;
    bool keeping = s->keeping;
    s->logging = NULL;
    s->keeping = false;
    s->in_if = 0;
    s->in_parallel = true;
    region(s, ins.region[0], false);
    s->in_parallel = false;
    s->keeping = keeping;
    s->logging = outer;
    s->in_if = in_if;
    yields(s, ins.region[0]);
    rg_b_pop(b);
    results(s, i, j);
}

uint32_t rg_adj_red_index(const rg_fn *f, rg_iid red, rg_iid p) {
    rg_val v = rg_operand(f, red, 0);
    uint32_t ranges = rg_first_carried(f, p);
    for (;;) {
        const rg_value *q = rg_value_at(f, v);
        if (q->def) {
            const rg_ins *d = rg_ins_at(f, q->def);
            if (d->op == RG_RED)
                v = rg_operand(f, q->def, 0);
            else if (d->op == RG_IF)
                v = rg_operand(f, rg_yield_of(f, d->region[0]), q->index);
            else if (d->op == RG_FOR || d->op == RG_LOOP)
                v = rg_operand(f, q->def, rg_first_init(f, q->def) + q->index);
            else
                rg_bug(f->arena, "an accumulator comes from '%s'", rg_ops[d->op].text);
            continue;
        }
        rg_iid owner = rg_region_at(f, q->region)->owner;
        if (owner == p)
            return q->index - ranges;
        v = rg_operand(f, owner, rg_first_init(f, owner) + q->index - rg_first_carried(f, owner));
    }
}

static void red(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_val acc = s->fwd[rg_operand(f, i, 0)], e = s->fwd[rg_operand(f, i, 1)];
    rg_val r = rg_result(f, i, 0);
    rg_type t = rg_type_of(f, r);
    switch (s->red_mode) {
    case RG_RED_AS_IS:
        s->fwd[r] = rg_b_red(b, (rg_red)rg_ins_at(f, i)->imm.i, acc, e);
        break;
    case RG_RED_PASS:
        s->fwd[r] = acc;
        break;
    default: {
        rg_val zero = rg_b_zero(b, t);
        rg_val one = rg_type_is_float(t) ? rg_b_real(b, t, 1) : rg_b_int(b, t, 1);
        if (s->red_mode == RG_RED_TIES) {
            rg_val best = s->red_result[rg_adj_red_index(f, i, s->parallel)];
            rg_type n = rg_type_of(s->g, acc);
            s->fwd[r] = rg_b_red(b, RG_RED_ADD, acc,
                                 rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_EQ, e, best),
                                          rg_b_int(b, n, 1), rg_b_int(b, n, 0)));
        } else {
            rg_val is_zero = rg_b_op2(b, RG_EQ, e, zero);
            if (s->red_mode == RG_RED_ZEROS)
                s->fwd[r] =
                    rg_b_red(b, RG_RED_ADD, acc, rg_b_op3(b, RG_SELECT, is_zero, one, zero));
            else
                s->fwd[r] = rg_b_red(b, RG_RED_MUL, acc, rg_b_op3(b, RG_SELECT, is_zero, one, e));
        }
    }
    }
}

static void instruction(rg_adj *s, rg_iid i, bool augmented) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, i);
    s->b->loc = ins->loc;
    switch (ins->op) {
    case RG_LOAD:
        load(s, i);
        break;
    case RG_RMW:
        if (ins->nres)
            rg_bug(s->arena, "a captured value that was not recorded");
        /* fall through */
    case RG_STORE:
    case RG_ADDTO:
        write(s, i, augmented);
        break;
    case RG_ALLOC:
        if (!(augmented && s->in_if)) /* hoisted */
            alloc(s, i);
        break;
    case RG_COPY:
        if (!(ins->flags & RG_INS_KEPT))
            rg_bug(s->arena, "copy in a primal");
        kept_state(s, i);
        break;
    case RG_IF:
        branch(s, i, augmented);
        break;
    case RG_FOR:
    case RG_LOOP:
        loop(s, i, augmented);
        break;
    case RG_PARALLEL:
        parallel(s, i, augmented);
        break;
    case RG_RED:
        red(s, i);
        break;
    case RG_OWN:
        break;
    case RG_RECORDED: {
        /* The loop that made x need not run again; its backward sweep wants the result too. */
        rg_val x = rg_operand(f, i, 0), y = s->fwd[rg_operand(f, i, 1)];
        s->fwd[rg_result(f, i, 0)] = y;
        if (rg_def_op(f, x) == RG_PARALLEL)
            s->fwd[x] = y;
        break;
    }
    case RG_SCALAR:
        s->fwd[rg_result(f, i, 0)] = rg_b_scalar(s->b, (uint32_t)ins->imm.i);
        keep_name(s, rg_result(f, i, 0));
        break;
    case RG_EXTENT: {
        /* A workspace has its parameter's extents. */
        rg_aid a =
            rg_array_at(f, ins->array)->kind == RG_ARR_PARAM ? ins->array : s->data[ins->array];
        s->fwd[rg_result(f, i, 0)] = rg_b_extent(s->b, a, (uint32_t)ins->imm.i);
        break;
    }
    default: {
        rg_val x[3] = {0}, r = rg_result(f, i, 0);
        for (uint32_t k = 0; k < ins->nopnd && k < 3; k++)
            x[k] = s->fwd[rg_operand(f, i, k)];
        s->fwd[r] = rg_b_pure(s->b, (rg_op)ins->op, rg_type_of(f, r), x, ins->nopnd, ins->imm.i);
        keep_name(s, r);
        rg_adj_keep(s, i);
    }
    }
}

static void region(rg_adj *s, rg_rid r, bool augmented) {
    for (uint32_t k = 0; k + 1 < rg_region_at(s->f, r)->ins.n; k++)
        instruction(s, rg_region_at(s->f, r)->ins.at[k], augmented);
}

void rg_adj_forward(rg_adj *s, rg_rid r, bool augmented) {
    region(s, r, augmented);
}

void rg_adj_forward_one(rg_adj *s, rg_iid i, bool augmented) {
    instruction(s, i, augmented);
}
