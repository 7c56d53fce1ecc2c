/* Induction variables: a carried integer that a counted loop changes by the same amount each time
 * is computed from the loop's own variable: init + (iv - lo) * step. Integers wrap, so this is
 * exact; it leaves nothing for the adjoint to save, and indices made of it are affine. */
#include "opt/opt.h"

#include "opt/rewrite.h"

/* The yielded value is arg + step or arg - step with a step from outside: step, else 0. */
static rg_val step_of(const rg_rewrite *rw, rg_rid body, rg_val arg, rg_val next, bool *minus) {
    const rg_fn *f = rw->f;
    rg_iid d = rg_value_at(f, next)->def;
    if (!d || (rg_ins_at(f, d)->op != RG_ADD && rg_ins_at(f, d)->op != RG_SUB))
        return 0;
    *minus = rg_ins_at(f, d)->op == RG_SUB;
    rg_val x = rg_operand(f, d, 0), y = rg_operand(f, d, 1);
    if (!*minus && y == arg) {
        y = x;
        x = arg;
    }
    if (x != arg || y == arg)
        return 0;
    int64_t c;
    if (rg_val_const_int(f, y, &c))
        return y; /* wherever it stands, it can be made again */
    return rg_region_inside(f, rg_val_region(f, y), body) ? 0 : rg_rw_val(rw, y);
}

static rg_val made_again(rg_rewrite *rw, rg_val v) {
    int64_t c;
    return rg_val_const_int(rw->f, v, &c) ? rg_b_int(&rw->b, rg_type_of(rw->f, v), c) : v;
}

/* init + count * step */
static rg_val value_after(rg_rewrite *rw, rg_val init, rg_val count, rg_val step, bool minus) {
    rg_val moved = rg_b_op2(&rw->b, RG_MUL, count, made_again(rw, step));
    return rg_b_op2(&rw->b, minus ? RG_SUB : RG_ADD, init, moved);
}

static void walk_region(rg_rewrite *rw, rg_rid r);

static void walk_list(rg_rewrite *rw, rg_ids list);

static void walk_for(rg_rewrite *rw, rg_iid i) {
    rg_fn *f = rw->f;
    rg_rid body = rg_ins_at(f, i)->region[0], here = rw->b.region;
    uint32_t n = rg_opt_slots(f, i);
    bool *keep = RG_NEW_N(rw->scratch, bool, n), any = false;
    rg_val *step = RG_NEW_N(rw->scratch, rg_val, n);
    bool *minus = RG_NEW_N(rw->scratch, bool, n);
    rg_iid yield = rg_yield_of(f, body);
    for (uint32_t k = 0; k < n; k++) {
        rg_val arg = rg_region_at(f, body)->args.at[1 + k];
        if (rg_type_is_int(rg_type_of(f, arg)))
            step[k] = step_of(rw, body, arg, rg_operand(f, yield, k), &minus[k]);
        keep[k] = !step[k];
        any |= !keep[k];
    }
    if (!any) {
        walk_region(rw, body);
        rg_rw_keep(rw, i);
        return;
    }
    bool down = (rg_ins_at(f, i)->flags & RG_INS_REVERSE) != 0;
    rg_val lo = rg_operand(f, i, 0), hi = rg_operand(f, i, 1);
    rg_val iv = rg_region_at(f, body)->args.at[0];
    rg_ids list = rg_rw_open(rw, body);
    rw->b.loc = rg_ins_at(f, i)->loc;
    for (uint32_t k = 0; k < n; k++) {
        if (keep[k])
            continue;
        rg_val arg = rg_region_at(f, body)->args.at[1 + k];
        rg_type t = rg_type_of(f, arg);
        rg_val done; /* iterations before this one */
        if (down) {
            rg_val last =
                rg_b_op2(&rw->b, RG_SUB, rg_b_cast(&rw->b, t, hi), rg_b_int(&rw->b, t, 1));
            done = rg_b_op2(&rw->b, RG_SUB, last, rg_b_cast(&rw->b, t, iv));
        } else {
            done = rg_b_op2(&rw->b, RG_SUB, rg_b_cast(&rw->b, t, iv), rg_b_cast(&rw->b, t, lo));
        }
        rg_val by = value_after(rw, rg_operand(f, i, 2 + k), done, step[k], minus[k]);
        const char *name = rg_value_at(f, arg)->name;
        if (name && rg_def_op(f, by) != RG_CONST && rg_def_op(f, by) != RG_SCALAR)
            rg_b_name(&rw->b, by, name);
        rg_rw_set(rw, arg, by);
    }
    walk_list(rw, list);
    rw->b.region = here;
    rw->b.loc = rg_ins_at(f, i)->loc;
    for (uint32_t k = 0; k < n; k++) {
        if (keep[k])
            continue;
        rg_type t = rg_type_of(f, rg_result(f, i, k));
        rg_val trips = rg_b_op2(&rw->b, RG_SUB, rg_b_cast(&rw->b, t, hi), rg_b_cast(&rw->b, t, lo));
        if (!rg_opt_surely_runs(f, i))
            trips = rg_b_op3(&rw->b, RG_SELECT, rg_b_op2(&rw->b, RG_LT, lo, hi), trips,
                             rg_b_zero(&rw->b, t));
        rg_val by = value_after(rw, rg_operand(f, i, 2 + k), trips, step[k], minus[k]);
        rg_rw_set(rw, rg_result(f, i, k), by);
    }
    rg_opt_keep_slots(f, i, keep);
    rg_rw_keep(rw, i);
    rw->changed = true;
}

static void walk_list(rg_rewrite *rw, rg_ids list) {
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k];
        rg_rw_operands(rw, i);
        rg_rid inner[2] = {rg_ins_at(rw->f, i)->region[0], rg_ins_at(rw->f, i)->region[1]};
        if (rg_ins_at(rw->f, i)->op == RG_FOR) {
            walk_for(rw, i);
            continue;
        }
        for (int s = 0; s < 2; s++)
            if (inner[s])
                walk_region(rw, inner[s]);
        rg_rw_keep(rw, i);
    }
}

static void walk_region(rg_rewrite *rw, rg_rid r) {
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    walk_list(rw, list);
    rw->b.region = here;
}

static bool indvar(rg_fn *f, rg_arena *scratch) {
    rg_rewrite *rw = rg_rw_new(f, scratch);
    walk_region(rw, f->body);
    rg_rw_finish(rw);
    return rw->changed;
}

bool rg_opt_indvar(rg_fn *f) {
    return rg_opt_with_scratch(f, indvar);
}
