/* The iterations of a parallel task, divided among its invocations:
 *
 *   for (flat = invocation; flat < total; flat += invocations) { loop variables; body }
 *
 * and before it, where the device gains by it, the same for several iterations at a time (lanes.h),
 * which then takes most of them. Then each invocation's partial results go into the reductions. */
#include "emit/spirv/lanes.h"
#include "emit/spirv/reduce.h"

static bool wide(rg_type t) {
    return t == RG_I64 || t == RG_U64;
}

typedef struct range {
    uint32_t lo, lo_low; /* as the loop variable's type; its low half */
    uint32_t count;      /* index type */
} range;

static range take_range(rg_spv_fn *c, uint32_t k, rg_type t) {
    rg_spv *s = c->s;
    uint32_t at = c->layout->ranges + 16 * k;
    bool whole = wide(t) && s->o->caps.i64;
    range r = {.lo_low = rg_spv_arg_low(c, at, RG_I64)};
    r.lo = whole ? rg_spv_arg_value(c, at, RG_I64) : r.lo_low;
    uint32_t hi = whole ? rg_spv_arg_value(c, at + 8, RG_I64) : rg_spv_arg_low(c, at + 8, RG_I64);
    uint32_t type = whole ? rg_spv_int(s, 64) : s->t_u32;
    SpvOp less = rg_type_is_unsigned(t) ? SpvOpULessThan : SpvOpSLessThan;
    uint32_t some = RG_SPV_OP(c, less, s->t_bool, r.lo, hi);
    uint32_t n = RG_SPV_OP(c, SpvOpISub, type, hi, r.lo);
    uint32_t zero = whole ? rg_spv_u64(s, 0) : rg_spv_u32(s, 0);
    n = RG_SPV_OP(c, SpvOpSelect, type, some, n, zero);
    r.count = rg_spv_to_index(c, n, whole, false);
    return r;
}

static void set_iv(rg_spv_fn *c, rg_val iv, const range *r, uint32_t at, rg_loc loc) {
    rg_spv *s = c->s;
    rg_type t = c->f->vals.at[iv].type;
    uint32_t low = c->index64 ? 0 : at;
    if (wide(t) && c->demand[iv] & RG_SPV_FULL) {
        rg_spv_check_type(c, t, loc);
        uint32_t type = rg_spv_int(s, 64);
        uint32_t x = c->index64 ? at : RG_SPV_OP(c, SpvOpUConvert, type, at);
        if (s->o->caps.i64)
            c->id[iv] = RG_SPV_OP(c, SpvOpIAdd, type, r->lo, x);
        else
            c->id[iv] = rg_spv_null(s, type); /* an error was given */
        rg_spv_name(s, c->id[iv], c->f->vals.at[iv].name);
    }
    if (!wide(t) || c->demand[iv] & RG_SPV_LOW) {
        if (!low)
            low = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, at);
        low = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, r->lo_low, low);
        rg_spv_name(s, low, c->f->vals.at[iv].name);
        if (wide(t))
            c->low[iv] = low;
        else
            c->id[iv] = low;
    }
}

/* The loops over a task's iterations. `full` takes several at a time, its lanes: with one range
 * they are a stride of all invocations apart, so that neighbours load neighbours; with more they
 * follow one another along the range before the last, its rows, and the division that finds the
 * place is done once for all. Neighbouring invocations begin where a line of memory does, if the
 * arrays' rows do: cards are slow at stores to a line that others are still loading. `left` takes
 * the rest one at a time: one range, what full has not come to and the head in front of it; more
 * ranges, the last rows, then the columns at both ends of the other rows. */
typedef struct walk {
    range r[3];
    uint32_t ranges, total, lanes;
    bool left;
    uint32_t head;                              /* iterations of the last range before full's */
    uint32_t columns, edges;                    /* left: of the last range, full's and the others */
    uint32_t rows_total, rows_taken, rows_left; /* left: iterations in the last rows; rows */
} walk;

enum { LINE = 32, LONG = 256 };

static void left_parts(rg_spv_fn *c, const walk *w, uint32_t flat, uint32_t part[3]) {
    uint32_t it = c->t_index, b = c->s->t_bool, n = w->ranges, none = rg_spv_const_index(c, 0);
    uint32_t *column = &part[n - 1], all = w->r[n - 1].count;
    if (n == 1) {
        uint32_t x = RG_SPV_OP(c, SpvOpIAdd, it, flat, w->head);
        uint32_t past = RG_SPV_OP(c, SpvOpUGreaterThanEqual, b, x, all);
        part[0] = RG_SPV_OP(c, SpvOpSelect, it, past, RG_SPV_OP(c, SpvOpISub, it, x, all), x);
        return;
    }
    uint32_t in_rows = RG_SPV_OP(c, SpvOpULessThan, b, flat, w->rows_total);
    uint32_t beyond = RG_SPV_OP(c, SpvOpISub, it, flat, w->rows_total);
    flat = RG_SPV_OP(c, SpvOpSelect, it, in_rows, flat, beyond);
    uint32_t width = RG_SPV_OP(c, SpvOpSelect, it, in_rows, all, w->edges);
    *column = RG_SPV_OP(c, SpvOpUMod, it, flat, width);
    uint32_t row = RG_SPV_OP(c, SpvOpUDiv, it, flat, width);
    if (n == 3) {
        uint32_t rows = RG_SPV_OP(c, SpvOpSelect, it, in_rows, w->rows_left, w->rows_taken);
        part[0] = RG_SPV_OP(c, SpvOpUDiv, it, row, rows);
        row = RG_SPV_OP(c, SpvOpUMod, it, row, rows);
    }
    uint32_t before = RG_SPV_OP(c, SpvOpSelect, it, in_rows, w->rows_taken, none);
    part[n - 2] = RG_SPV_OP(c, SpvOpIAdd, it, row, before);
    uint32_t at_end = RG_SPV_OP(c, SpvOpUGreaterThanEqual, b, *column, w->head);
    uint32_t skips =
        RG_SPV_OP(c, SpvOpLogicalAnd, b, at_end, RG_SPV_OP(c, SpvOpLogicalNot, b, in_rows));
    uint32_t skip = RG_SPV_OP(c, SpvOpSelect, it, skips, w->columns, none);
    *column = RG_SPV_OP(c, SpvOpIAdd, it, *column, skip);
}

/* Loop variables of the lane at iteration, or group of iterations, number `flat`. */
static void set_ivs(rg_spv_fn *c, const rg_region *g, const walk *w, uint32_t flat, uint32_t lane,
                    rg_loc loc) {
    uint32_t rest = flat, part[3] = {flat, flat, flat}, it = c->t_index, n = w->ranges;
    if (w->left) {
        left_parts(c, w, flat, part);
    } else {
        for (uint32_t k = n; k-- > 1;) { /* the last range runs fastest */
            part[k] = RG_SPV_OP(c, SpvOpUMod, it, rest, w->r[k].count);
            rest = RG_SPV_OP(c, SpvOpUDiv, it, rest, w->r[k].count);
        }
        part[0] = rest;
    }
    if (n > 1 && w->lanes > 1) {
        uint32_t *row = &part[n - 2];
        *row = RG_SPV_OP(c, SpvOpIMul, it, *row, rg_spv_const_index(c, w->lanes));
        if (lane)
            *row = RG_SPV_OP(c, SpvOpIAdd, it, *row, rg_spv_const_index(c, lane));
    }
    for (uint32_t k = 0; k < n && k < 3; k++)
        set_iv(c, g->args.at[k], &w->r[k], part[k], loc);
}

/* One loop. flat: its first iteration, and on return the one that is next; acc: [nres]
 * accumulators, likewise. */
static void emit_walk(rg_spv_fn *c, const walk *w, uint32_t *flat, uint32_t *acc) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[c->task->parallel];
    const rg_region *g = &f->regions.at[i->region[0]];
    rg_iid y = rg_yield_of(f, i->region[0]);
    uint32_t ranges = w->ranges, lanes = w->lanes, it = c->t_index, nres = i->nres;
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block, *at = RG_NEW_N(s->arena, uint32_t, nres * lanes + 1);
    uint32_t *phi = RG_NEW_N(s->arena, uint32_t, nres * lanes + 1);
    rg_spv_lane *lane = rg_spv_lanes_new(c, lanes);
    bool apart = ranges == 1 && lanes > 1;
    uint32_t span = c->invocations, ahead = 0;
    for (uint32_t u = 1; u < lanes && apart; u++) {
        ahead = span;
        span = RG_SPV_OP(c, SpvOpIAdd, it, span, c->invocations);
    }
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t first = rg_spv_phi(c, it, *flat, from, 0, next), first_at = c->out->n - 2;
    for (uint32_t u = 0; u < lanes; u++)
        for (uint32_t n = 0; n < nres; n++) {
            rg_val v = g->args.at[ranges + n];
            rg_type t = f->vals.at[v].type;
            uint32_t start = u ? rg_spv_identity(c, (rg_red)f->pool.at[i->aux + n], t) : acc[n];
            phi[u * nres + n] = rg_spv_phi(c, rg_spv_value_type(s, t), start, from, 0, next);
            at[u * nres + n] = c->out->n - 2;
            lane[u].id[v] = phi[u * nres + n];
            rg_spv_name(s, phi[u * nres + n], f->vals.at[v].name);
        }
    uint32_t last = ahead ? RG_SPV_OP(c, SpvOpIAdd, it, first, ahead) : first;
    uint32_t more = RG_SPV_OP(c, SpvOpULessThan, s->t_bool, last, w->total);
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, merge);
    rg_spv_label(c, body);
    for (uint32_t u = 0, k = first; u < lanes; u++) {
        if (u && apart)
            k = RG_SPV_OP(c, SpvOpIAdd, it, k, c->invocations);
        rg_spv_lane_enter(c, &lane[u]);
        set_ivs(c, g, w, k, u, i->loc);
        rg_spv_lane_leave(c);
    }
    rg_spv_lanes_region(c, i->region[0], lane, lanes);
    for (uint32_t u = 0; u < lanes; u++) {
        rg_spv_lane_enter(c, &lane[u]);
        for (uint32_t n = 0; n < nres; n++)
            c->out->at[at[u * nres + n]] = rg_spv_val(c, rg_operand(f, y, n));
        rg_spv_lane_leave(c);
    }
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    uint32_t stepped = RG_SPV_OP(c, SpvOpIAdd, it, first, span);
    c->out->at[first_at] = stepped;
    rg_spv_branch(c, header);
    rg_spv_label(c, merge);
    *flat = first;
    for (uint32_t n = 0; n < nres; n++) {
        rg_type t = f->vals.at[g->args.at[ranges + n]].type;
        acc[n] = phi[n];
        for (uint32_t u = 1; u < lanes; u++)
            acc[n] =
                rg_spv_combine(c, (rg_red)f->pool.at[i->aux + n], t, acc[n], phi[u * nres + n]);
    }
}

static uint32_t iterations(rg_spv_fn *c, const walk *w) {
    uint32_t total = w->r[0].count;
    for (uint32_t k = 1; k < w->ranges; k++)
        total = RG_SPV_OP(c, SpvOpIMul, c->t_index, total, w->r[k].count);
    return total;
}

/* A range that begins `by` iterations later. */
static void begin_later(rg_spv_fn *c, range *r, uint32_t by) {
    bool narrow = r->lo == r->lo_low;
    uint32_t low = c->index64 ? RG_SPV_OP(c, SpvOpUConvert, c->s->t_u32, by) : by;
    r->lo_low = RG_SPV_OP(c, SpvOpIAdd, c->s->t_u32, r->lo_low, low);
    if (narrow) {
        r->lo = r->lo_low;
        return;
    }
    uint32_t whole = rg_spv_int(c->s, 64);
    r->lo = RG_SPV_OP(c, SpvOpIAdd, whole, r->lo,
                      c->index64 ? by : RG_SPV_OP(c, SpvOpUConvert, whole, by));
}

/* Divides all iterations between the two loops. */
static void divide(rg_spv_fn *c, const walk *all, walk *full, walk *left) {
    rg_spv *s = c->s;
    uint32_t it = c->t_index, n = all->ranges, none = rg_spv_const_index(c, 0);
    const range *last = &all->r[n - 1];
    uint32_t is_long =
        RG_SPV_OP(c, SpvOpUGreaterThanEqual, s->t_bool, last->count, rg_spv_const_index(c, LONG));
    uint32_t head = RG_SPV_OP(c, SpvOpISub, s->t_u32, rg_spv_u32(s, 0), last->lo_low);
    head = RG_SPV_OP(c, SpvOpBitwiseAnd, s->t_u32, head, rg_spv_u32(s, LINE - 1));
    head = RG_SPV_OP(c, SpvOpSelect, it, is_long, rg_spv_to_index(c, head, false, false), none);
    uint32_t columns = RG_SPV_OP(c, SpvOpISub, it, last->count, head);
    begin_later(c, &full->r[n - 1], head);
    left->left = true;
    left->head = head;
    if (n == 1) {
        full->r[0].count = full->total = columns;
        return;
    }
    uint32_t lines =
        RG_SPV_OP(c, SpvOpBitwiseAnd, it, columns, rg_spv_const_index(c, ~(uint64_t)(LINE - 1)));
    columns = RG_SPV_OP(c, SpvOpSelect, it, is_long, lines, columns);
    uint32_t rows = all->r[n - 2].count, lanes = rg_spv_const_index(c, full->lanes);
    uint32_t groups = RG_SPV_OP(c, SpvOpUDiv, it, rows, lanes);
    /* Where there is one iteration for each invocation at most, lanes would only wait. */
    uint32_t few = RG_SPV_OP(c, SpvOpULessThanEqual, s->t_bool, all->total, c->invocations);
    groups = RG_SPV_OP(c, SpvOpSelect, it, few, none, groups);
    full->r[n - 1].count = columns;
    full->r[n - 2].count = groups;
    full->total = iterations(c, full);
    left->columns = columns;
    left->edges = RG_SPV_OP(c, SpvOpISub, it, last->count, columns);
    left->rows_taken = RG_SPV_OP(c, SpvOpIMul, it, groups, lanes);
    left->rows_left = RG_SPV_OP(c, SpvOpISub, it, rows, left->rows_taken);
    left->rows_total = RG_SPV_OP(c, SpvOpIMul, it, left->rows_left, last->count);
    left->total = RG_SPV_OP(c, SpvOpIMul, it, left->rows_taken, left->edges);
    if (n == 3) {
        uint32_t outer = all->r[0].count;
        left->rows_total = RG_SPV_OP(c, SpvOpIMul, it, left->rows_total, outer);
        left->total = RG_SPV_OP(c, SpvOpIMul, it, left->total, outer);
    }
    left->total = RG_SPV_OP(c, SpvOpIAdd, it, left->total, left->rows_total);
}

void rg_spv_parallel(rg_spv_fn *c) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    rg_iid id = c->task->parallel;
    const rg_ins *i = &f->ins.at[id];
    const rg_region *g = &f->regions.at[i->region[0]];
    rg_type t = f->vals.at[g->args.at[0]].type, counter = c->index64 ? RG_U64 : RG_U32;
    walk all = {.ranges = (uint32_t)i->imm.i, .lanes = 1};
    for (uint32_t k = 0; k < all.ranges && k < 3; k++)
        all.r[k] = take_range(c, k, t);
    uint32_t *acc = RG_NEW_N(s->arena, uint32_t, i->nres + 1), flat = c->invocation;
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_type at_type = f->vals.at[g->args.at[all.ranges + n]].type;
        rg_spv_check_type(c, at_type, i->loc);
        acc[n] = rg_spv_identity(c, (rg_red)f->pool.at[i->aux + n], at_type);
    }
    all.total = iterations(c, &all);
    walk full = all, left = all;
    full.lanes = rg_spirv_lanes(f, c->task, &s->o->caps);
    if (full.lanes > 1) {
        divide(c, &all, &full, &left);
        emit_walk(c, &full, &flat, acc);
        if (all.ranges > 1) { /* with one range, left goes on where full stopped */
            rg_spv_guard_for(c, counter, flat, full.total);
            flat = c->invocation;
        }
    }
    emit_walk(c, &left, &flat, acc);
    rg_spv_guard_for(c, counter, flat, left.total);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_spv_line(c, i->loc);
        rg_spv_reduce(c, (rg_red)f->pool.at[i->aux + n],
                      f->vals.at[g->args.at[all.ranges + n]].type, acc[n],
                      c->plan->slot[rg_result(f, id, n)] - 1, i->loc);
    }
}
