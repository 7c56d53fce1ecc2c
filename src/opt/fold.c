/* Folding: constants and identities of pure ops (ir/fold.h), and of structure:
 *
 *   if on a constant            the branch takes its place
 *   if whose branches are empty its results become selects; results equal on both sides go
 *   for without iterations      its initial values; with one: its body takes its place
 *   loop that never repeats     its body takes its place
 *   a carried value that is yielded unchanged is its initial value
 *
 * Inside a branch the condition is known: uses of it there become the constant. That knowledge is
 * kept in the map of replaced values while the branch is walked and taken back after it, which is
 * why nothing here shortens chains in the map. */
#include "opt/opt.h"

#include "ir/fold.h"
#include "opt/rewrite.h"

typedef struct folder {
    rg_rewrite *rw;
    rg_fn *f;
    rg_val *late; /* carried values found invariant after their body was walked */
    uint32_t late_cap;
    bool any_late;
    rg_val truth[2]; /* false and true as constants that stand nowhere yet; 0: not needed so far */
} folder;

static void walk_list(folder *d, rg_ids list);

/* One entry for each value that there is now. */
static void grow_late(folder *d) {
    if (d->f->vals.n <= d->late_cap)
        return;
    uint32_t cap = d->f->vals.n + d->f->vals.n / 2;
    d->late =
        rg_grow(d->rw->scratch, d->late, d->late_cap * sizeof *d->late, cap * sizeof *d->late);
    d->late_cap = cap;
}

static void set_late(folder *d, rg_val v, rg_val by) {
    grow_late(d);
    d->late[v] = by;
    d->any_late = true;
}

/* Follows carried values already found invariant. */
static rg_val settled(const folder *d, rg_val v) {
    while (v < d->late_cap && d->late[v])
        v = d->late[v];
    return v;
}

static void fold_pure(folder *d, rg_iid i) {
    rg_fn *f = d->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_val x[3] = {0}, r = rg_result(f, i, 0);
    const rg_array *array = rg_array_at(f, ins->array);
    if (ins->op == RG_EXTENT && array->kind == RG_ARR_LOCAL && !(array->flags & RG_ARR_GROW)) {
        rg_rw_set(d->rw, r, array->extents[ins->imm.i]);
        d->rw->changed = true;
        return;
    }
    if (ins->nopnd == 0 || ins->nopnd > 3) {
        rg_rw_keep(d->rw, i);
        return;
    }
    for (uint32_t k = 0; k < ins->nopnd; k++)
        x[k] = rg_operand(f, i, k);
    rg_folded g = rg_fold(f, (rg_op)ins->op, rg_type_of(f, r), x, ins->nopnd, ins->imm.i);
    if (g.kind == RG_FOLD_NONE) {
        rg_rw_keep(d->rw, i);
        return;
    }
    d->rw->b.loc = ins->loc;
    rg_val by = rg_b_pure(&d->rw->b, (rg_op)ins->op, rg_type_of(f, r), x, ins->nopnd, ins->imm.i);
    const char *name = rg_value_at(f, r)->name;
    rg_op op = rg_def_op(f, by);
    if (name && op != RG_CONST && op != RG_SCALAR)
        rg_b_name(&d->rw->b, by, name);
    rg_rw_set(d->rw, r, by);
    d->rw->changed = true;
}

/* The instructions of region r at the current place; its yielded values then stand for results
 * first... of the instruction that owned it. */
static void inline_region(folder *d, rg_iid owner, rg_rid r, uint32_t first_yielded) {
    rg_rewrite *rw = d->rw;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    rw->b.region = here;
    rg_iid yield = list.at[--list.n];
    walk_list(d, list);
    rg_rw_operands(rw, yield);
    for (uint32_t k = 0; k < rg_ins_at(d->f, owner)->nres; k++)
        rg_rw_set(rw, rg_result(d->f, owner, k), rg_operand(d->f, yield, first_yielded + k));
    rw->changed = true;
}

typedef struct known {
    rg_val v[16];
    rg_val before[16];
    uint32_t n;
} known;

/* Constants for known conditions are put into the kernel's entry at the end, if anything uses them:
 * most conditions are not used again, and a pass that leaves dead code behind never settles. */
static rg_val truth(folder *d, bool value) {
    rg_fn *f = d->f;
    if (!d->truth[value]) {
        rg_iid i = rg_ins_new(f, RG_CONST, 0);
        rg_ins_at(f, i)->imm.i = value;
        d->truth[value] = rg_ins_add_result(f, i, RG_BOOL);
    }
    return d->truth[value];
}

static bool uses(const rg_fn *f, rg_rid r, rg_val v) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        for (uint32_t j = 0; j < ins->nopnd; j++)
            if (f->pool.at[ins->opnd + j] == v)
                return true;
        for (int s = 0; s < 2; s++)
            if (ins->region[s] && uses(f, ins->region[s], v))
                return true;
    }
    return false;
}

static void place_truths(folder *d) {
    for (int value = 0; value < 2; value++) {
        rg_val v = d->truth[value];
        if (!v || !uses(d->f, d->f->body, v))
            continue;
        rg_region_insert(d->f, d->f->body, 0, rg_value_at(d->f, v)->def);
        d->rw->changed = true;
    }
}

/* Within the branch, c has this value, and what follows from it. */
static void assume(folder *d, known *k, rg_val c, bool value, int depth) {
    rg_fn *f = d->f;
    if (k->n == 16 || depth > 6 || rg_def_op(f, c) == RG_CONST)
        return;
    rg_val as = truth(d, value);
    k->v[k->n] = c;
    k->before[k->n++] = c < d->rw->cap ? d->rw->map[c] : 0;
    rg_rw_set(d->rw, c, as);
    rg_iid def = rg_value_at(f, c)->def;
    if (!def)
        return;
    rg_op op = (rg_op)rg_ins_at(f, def)->op;
    if (op == RG_NOT) {
        assume(d, k, rg_operand(f, def, 0), !value, depth + 1);
    } else if ((op == RG_AND && value) || (op == RG_OR && !value)) {
        rg_val x = rg_operand(f, def, 0), y = rg_operand(f, def, 1);
        assume(d, k, x, value, depth + 1);
        assume(d, k, y, value, depth + 1);
    }
}

static void forget(folder *d, known *k) {
    while (k->n) {
        k->n--;
        d->rw->map[k->v[k->n]] = k->before[k->n];
    }
}

static void walk_region(folder *d, rg_rid r, rg_val cond, bool value) {
    rg_rewrite *rw = d->rw;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    known k = {.n = 0};
    if (cond)
        assume(d, &k, cond, value, 0);
    walk_list(d, list);
    forget(d, &k);
    rw->b.region = here;
}

/* Does the region do nothing but make constants? */
static bool only_constants(const rg_fn *f, rg_rid r) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        uint16_t op = rg_ins_at(f, g->ins.at[k])->op;
        if (op != RG_CONST && op != RG_YIELD)
            return false;
    }
    return true;
}

static bool defined_in(const rg_fn *f, rg_val v, rg_rid r) {
    rg_iid def = rg_value_at(f, v)->def;
    return def && rg_ins_at(f, def)->parent == r;
}

static void fold_if(folder *d, rg_iid i) {
    rg_rewrite *rw = d->rw;
    rg_fn *f = d->f;
    rg_const c;
    rg_val cond = rg_operand(f, i, 0);
    rg_rid then = rg_ins_at(f, i)->region[0], other = rg_ins_at(f, i)->region[1];
    if (rg_def_op(f, cond) == RG_NOT) { /* if (!c) a else b: if (c) b else a */
        cond = rg_rw_val(rw, rg_operand(f, rg_value_at(f, cond)->def, 0));
        f->pool.at[rg_ins_at(f, i)->opnd] = cond;
        rg_ins_at(f, i)->region[0] = other;
        rg_ins_at(f, i)->region[1] = then;
        then = rg_ins_at(f, i)->region[0];
        other = rg_ins_at(f, i)->region[1];
        rw->changed = true;
    }
    if (rg_val_const(f, cond, &c)) {
        inline_region(d, i, c.i ? then : other, 0);
        return;
    }
    walk_region(d, then, cond, true);
    walk_region(d, other, cond, false);
    uint32_t n = rg_ins_at(f, i)->nres;
    rg_iid yields[2] = {rg_yield_of(f, then), rg_yield_of(f, other)};
    rw->b.loc = rg_ins_at(f, i)->loc;
    if (only_constants(f, then) && only_constants(f, other)) {
        for (int s = 0; s < 2; s++) {
            rg_rid r = s ? other : then;
            rg_ids list = rg_rw_open(rw, r);
            rw->b.region = rg_ins_at(f, i)->parent;
            for (uint32_t k = 0; k + 1 < list.n; k++)
                rg_rw_keep(rw, list.at[k]);
        }
        for (uint32_t k = 0; k < n; k++) {
            rg_val by = rg_b_op3(&rw->b, RG_SELECT, cond, rg_operand(f, yields[0], k),
                                 rg_operand(f, yields[1], k));
            const char *name = rg_value_at(f, rg_result(f, i, k))->name;
            if (name && rg_def_op(f, by) == RG_SELECT)
                rg_b_name(&rw->b, by, name);
            rg_rw_set(rw, rg_result(f, i, k), by);
        }
        rw->changed = true;
        return;
    }
    if (n) {
        bool *keep = RG_NEW_N(rw->scratch, bool, n);
        for (uint32_t k = 0; k < n; k++) {
            rg_val a = rg_operand(f, yields[0], k), b = rg_operand(f, yields[1], k);
            rg_const x, y;
            keep[k] = true;
            if (a == b) {
                keep[k] = false;
                rg_rw_set(rw, rg_result(f, i, k), a);
            } else if (defined_in(f, a, then) && defined_in(f, b, other) &&
                       rg_type_of(f, a) == rg_type_of(f, b) &&
                       !rg_type_is_float(rg_type_of(f, a)) && rg_val_const(f, a, &x) &&
                       rg_val_const(f, b, &y) && x.i == y.i) {
                keep[k] = false;
                rg_rw_set(rw, rg_result(f, i, k), rg_b_int(&rw->b, rg_type_of(f, a), x.i));
            }
            rw->changed |= !keep[k];
        }
        rg_opt_keep_slots(f, i, keep);
    }
    rg_rw_keep(rw, i);
}

/* Carried values that are yielded as they came (or as they began). */
static void drop_invariant(folder *d, rg_iid i) {
    rg_rewrite *rw = d->rw;
    rg_fn *f = d->f;
    uint32_t n = rg_opt_slots(f, i);
    if (!n)
        return;
    rg_rid body = rg_ins_at(f, i)->region[0];
    rg_iid yield = rg_yield_of(f, body);
    bool *keep = RG_NEW_N(rw->scratch, bool, n);
    for (uint32_t k = 0; k < n; k++) {
        rg_val init = rg_operand(f, i, rg_first_init(f, i) + k);
        rg_val arg = rg_region_at(f, body)->args.at[rg_first_carried(f, i) + k];
        rg_val next = settled(d, rg_operand(f, yield, rg_opt_first_yielded(f, i) + k));
        keep[k] = next != arg && next != settled(d, init);
        if (keep[k])
            continue;
        set_late(d, arg, init);
        rg_rw_set(rw, rg_result(f, i, k), init);
        rw->changed = true;
    }
    rg_opt_keep_slots(f, i, keep);
}

/* One iteration: lo + 1 == hi as constants, or hi is lo + 1. */
static bool runs_once(const rg_fn *f, rg_iid i) {
    rg_const lo, hi;
    if (!rg_val_const(f, rg_operand(f, i, 0), &lo) || !rg_val_const(f, rg_operand(f, i, 1), &hi))
        return false;
    return (uint64_t)hi.i - (uint64_t)lo.i == 1 && !rg_opt_never_runs(f, i);
}

static void fold_loop(folder *d, rg_iid i) {
    rg_rewrite *rw = d->rw;
    rg_fn *f = d->f;
    rg_op op = (rg_op)rg_ins_at(f, i)->op;
    rg_rid body = rg_ins_at(f, i)->region[0];
    uint32_t n = rg_opt_slots(f, i), init = rg_first_init(f, i), first = rg_first_carried(f, i);
    if (op == RG_FOR && rg_opt_never_runs(f, i)) {
        for (uint32_t k = 0; k < n; k++)
            rg_rw_set(rw, rg_result(f, i, k), rg_operand(f, i, init + k));
        rw->changed = true;
        return;
    }
    rg_const again;
    bool once =
        op == RG_FOR ? runs_once(f, i)
        : op == RG_LOOP
            ? rg_val_const(f, rg_rw_val(rw, rg_operand(f, rg_yield_of(f, body), 0)), &again) &&
                  !again.i
            : false;
    if (once) {
        for (uint32_t k = 0; k < n; k++)
            rg_rw_set(rw, rg_region_at(f, body)->args.at[first + k], rg_operand(f, i, init + k));
        if (op == RG_FOR)
            rg_rw_set(rw, rg_region_at(f, body)->args.at[0], rg_operand(f, i, 0));
        inline_region(d, i, body, rg_opt_first_yielded(f, i));
        return;
    }
    walk_region(d, body, 0, false);
    if (op != RG_PARALLEL)
        drop_invariant(d, i);
    rg_rw_keep(rw, i);
}

static void walk_list(folder *d, rg_ids list) {
    rg_rewrite *rw = d->rw;
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k];
        rg_op op = (rg_op)rg_ins_at(d->f, i)->op;
        rg_rw_operands(rw, i);
        if (rg_op_is_pure(op)) {
            fold_pure(d, i);
        } else if (op == RG_IF) {
            /* Its place is known only now: when the region around it was inlined. */
            rg_ins_at(d->f, i)->parent = rw->b.region;
            fold_if(d, i);
        } else if (op == RG_FOR || op == RG_LOOP || op == RG_PARALLEL) {
            rg_ins_at(d->f, i)->parent = rw->b.region;
            fold_loop(d, i);
        } else {
            rg_rw_keep(rw, i);
        }
    }
}

static bool fold(rg_fn *f, rg_arena *scratch) {
    folder *d = RG_NEW(scratch, folder);
    d->rw = rg_rw_new(f, scratch);
    d->f = f;
    d->late_cap = f->vals.n;
    d->late = RG_NEW_N(scratch, rg_val, d->late_cap);
    walk_region(d, f->body, 0, false);
    rg_rw_finish(d->rw);
    if (d->any_late) {
        grow_late(d);
        rg_fn_replace_uses(f, d->late);
    }
    place_truths(d);
    return d->rw->changed;
}

bool rg_opt_fold(rg_fn *f) {
    return rg_opt_with_scratch(f, fold);
}
