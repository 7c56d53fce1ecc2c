/* Conditions as bounds of a parallel's loop variables.
 *
 * A guard of a stencil, i > 0 or i + 1 < n, compares the loop variable with a number that lies at a
 * constant distance from the loop's start or end: with start 0 the first is i >= lo + 1, with end n
 * the second i < hi - 1. Such a condition need not be evaluated to know where it holds. Anything
 * else (i < n / 2, b[i] > 0) is no bound. */
#include "ad/guard.h"

enum { MAX_DEPTH = 12 };

bool rg_nest_variable(const rg_nest *s, rg_val v, uint32_t *range) {
    const rg_value *x = rg_value_at(s->f, v);
    *range = x->index;
    return !x->def && x->region == s->body && x->index < s->ranges;
}

rg_nest rg_nest_of(const rg_fn *f, rg_iid parallel) {
    const rg_ins *ins = rg_ins_at(f, parallel);
    rg_nest s = {.f = f, .p = parallel, .body = ins->region[0], .ranges = (uint32_t)ins->imm.i};
    for (uint32_t k = 0; k < s.ranges; k++) {
        s.lo[k] = rg_poly_of(f, rg_operand(f, parallel, 2 * k), true);
        s.hi[k] = rg_poly_of(f, rg_operand(f, parallel, 2 * k + 1), true);
    }
    return s;
}

static bool difference(const rg_poly *a, const rg_poly *b, int64_t *out) {
    rg_poly d = rg_poly_add(a, -1, b);
    *out = d.constant;
    return d.ok && d.n == 0;
}

/* As rg_poly_of; besides, where the body runs a range's end is above its start, so that a constant
 * can be taken from it without wrapping: i < n - 1 with i and n unsigned. */
static rg_poly poly_of(const rg_nest *s, rg_val v) {
    const rg_fn *f = s->f;
    rg_poly p = rg_poly_of(f, v, true);
    int64_t c, same;
    if (rg_def_op(f, v) != RG_SUB || !rg_type_is_unsigned(rg_type_of(f, v)) || p.n != 1 ||
        p.at[0].n != 1 || p.at[0].atom[0] != v ||
        !rg_val_const_int(f, rg_operand(f, rg_value_at(f, v)->def, 1), &c) || c < 0)
        return p;
    rg_poly end = rg_poly_of(f, rg_operand(f, rg_value_at(f, v)->def, 0), true);
    for (uint32_t k = 0; k < s->ranges; k++)
        if (difference(&end, &s->hi[k], &same) && same == 0 && s->lo[k].n == 0 &&
            s->lo[k].constant >= c - 1) {
            const rg_poly by = {.constant = c, .ok = true};
            return rg_poly_add(&end, -1, &by);
        }
    return p;
}

/* d = sign * (a range's variable) + rest */
static bool split(const rg_nest *s, const rg_poly *d, uint32_t *range, int64_t *sign,
                  rg_poly *rest) {
    bool found = false;
    *rest = (rg_poly){.constant = d->constant, .ok = d->ok};
    for (uint32_t k = 0; d->ok && k < d->n; k++) {
        const rg_mono *m = &d->at[k];
        uint32_t other = 0;
        if (m->n == 1 && rg_nest_variable(s, (rg_val)m->atom[0], &other)) {
            if (found || (m->coef != 1 && m->coef != -1))
                return false;
            found = true;
            *range = other;
            *sign = m->coef;
        } else {
            rg_poly_add_mono(rest, m);
        }
    }
    return found && rest->ok;
}

bool rg_guard_fact(const rg_nest *s, rg_val v, rg_fact *out) {
    const rg_fn *f = s->f;
    rg_op op = rg_def_op(f, v);
    if (op != RG_LT && op != RG_LE && op != RG_GT && op != RG_GE && op != RG_EQ && op != RG_NE)
        return false;
    rg_iid def = rg_value_at(f, v)->def;
    if (!rg_type_is_int(rg_type_of(f, rg_operand(f, def, 0))))
        return false;
    rg_poly a = poly_of(s, rg_operand(f, def, 0)), b = poly_of(s, rg_operand(f, def, 1));
    rg_poly d = rg_poly_add(&a, -1, &b), rest, zero = {.ok = true};
    int64_t sign = 0;
    if (!split(s, &d, &out->range, &sign, &rest))
        return false;
    /* i op e */
    rg_poly e = sign > 0 ? rg_poly_add(&zero, -1, &rest) : rest;
    op = sign > 0 ? op : rg_op_mirrored(op);
    int64_t low = 0, high = 0; /* e = lo + low = hi - high */
    bool has_low = difference(&e, &s->lo[out->range], &low);
    bool has_high = difference(&s->hi[out->range], &e, &high);
    if (op == RG_EQ || op == RG_NE) { /* the first iteration, the last one */
        has_low = has_low && low == 0;
        has_high = has_high && high == 1;
        out->high = !has_low;
        out->by = 1;
        out->negated = op == RG_EQ;
        return has_low || has_high;
    }
    if (op == RG_GT || op == RG_LE) { /* i >= e + 1, i < e + 1 */
        has_low = has_low && !__builtin_add_overflow(low, 1, &low);
        has_high = has_high && !__builtin_sub_overflow(high, 1, &high);
    }
    has_low = has_low && low <= RG_GUARD_REACH;
    has_high = has_high && high <= RG_GUARD_REACH;
    if (!has_low && !has_high)
        return false;
    out->high = !has_low || (has_high && high < low);
    out->by = out->high ? high : low;
    out->by = out->by > 0 ? out->by : 0;
    out->negated = out->high == (op == RG_GT || op == RG_GE);
    return true;
}

static void narrow(rg_reach *r, const rg_fact *x, bool truth) {
    int64_t by = x->by;
    if (truth != x->negated) {
        int64_t *least = x->high ? &r->to : &r->from;
        *least = by > *least ? by : *least;
    } else {
        int64_t *most = x->high ? &r->above : &r->below;
        *most = by < *most ? by : *most;
    }
}

static bool assume(const rg_nest *s, rg_val c, bool truth, rg_reach *reach, int depth);

/* c is x where t holds, else y: && and || are of this form. */
static bool assume_choice(const rg_nest *s, rg_val t, rg_val x, rg_val y, bool truth,
                          rg_reach *reach, int depth) {
    int64_t known;
    bool all;
    if (rg_val_const_int(s->f, y, &known) && (known != 0) != truth) {
        all = assume(s, t, true, reach, depth);
        return assume(s, x, truth, reach, depth) && all;
    }
    if (rg_val_const_int(s->f, x, &known) && (known != 0) != truth) {
        all = assume(s, t, false, reach, depth);
        return assume(s, y, truth, reach, depth) && all;
    }
    return false;
}

static bool assume(const rg_nest *s, rg_val c, bool truth, rg_reach *reach, int depth) {
    const rg_fn *f = s->f;
    rg_iid def = rg_value_at(f, c)->def;
    rg_fact x;
    int64_t known;
    if (!def || depth-- <= 0)
        return false;
    switch (rg_ins_at(f, def)->op) {
    case RG_CONST:
        return rg_val_const_int(f, c, &known) && (known != 0) == truth;
    case RG_NOT:
        return assume(s, rg_operand(f, def, 0), !truth, reach, depth);
    case RG_AND:
    case RG_OR: {
        if (truth != (rg_ins_at(f, def)->op == RG_AND))
            return false;
        bool all = assume(s, rg_operand(f, def, 0), truth, reach, depth);
        return assume(s, rg_operand(f, def, 1), truth, reach, depth) && all;
    }
    case RG_SELECT:
        return assume_choice(s, rg_operand(f, def, 0), rg_operand(f, def, 1), rg_operand(f, def, 2),
                             truth, reach, depth);
    case RG_IF: {
        uint32_t k = rg_value_at(f, c)->index;
        rg_iid then = rg_yield_of(f, rg_ins_at(f, def)->region[0]);
        rg_iid other = rg_yield_of(f, rg_ins_at(f, def)->region[1]);
        return assume_choice(s, rg_operand(f, def, 0), rg_operand(f, then, k),
                             rg_operand(f, other, k), truth, reach, depth);
    }
    default:
        if (!rg_guard_fact(s, c, &x))
            return false;
        narrow(&reach[x.range], &x, truth);
        return true;
    }
}

bool rg_guard_assume(const rg_nest *s, rg_val c, bool truth, rg_reach *reach) {
    return assume(s, c, truth, reach, MAX_DEPTH);
}

bool rg_guard_known(const rg_fact *x, const rg_reach *reach, bool *out) {
    const rg_reach *r = &reach[x->range];
    if (x->high ? r->to >= x->by : r->from >= x->by)
        *out = !x->negated;
    else if (x->high ? r->above <= x->by : r->below <= x->by)
        *out = x->negated;
    else
        return false;
    return true;
}
