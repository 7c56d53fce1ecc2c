/* Serial loops: the IR's `for` where the count is known at the start, else its `loop`. */
#include "lang/lower.h"

enum { UNCOUNTED_BLOCK = 1024 }; /* steps between checkpoints of a loop that is not counted */

static rg_val plus(rg_lower *l, rg_val v, int64_t k) {
    return k ? rg_b_op2(l->b, RG_ADD, v, rg_b_int(l->b, rg_type_of(l->fn, v), k)) : v;
}

/* The bound in the variable's type. The comparison may be made in a wider one, or in an unsigned
 * one of the same width: clamped from below by the start, the bound fits. */
static rg_val bound_in(rg_lower *l, rg_val hi, rg_val lo, rg_type t, const rg_ctype *cmp) {
    rg_type c = rg_ctype_value(cmp);
    if (c == t)
        return hi;
    rg_val start = rg_b_cast(l->b, c, lo);
    rg_val empty = rg_b_op2(l->b, RG_LT, hi, start);
    return rg_b_cast(l->b, t, rg_b_op3(l->b, RG_SELECT, empty, start, hi));
}

/* (to - from + round) / step in 64 bits: not positive when there is no iteration. */
static rg_val trip_count(rg_lower *l, rg_val from, rg_val to, int64_t step, int64_t round,
                         rg_type t) {
    rg_val n = rg_b_op2(l->b, RG_SUB, rg_b_cast(l->b, RG_I64, to), rg_b_cast(l->b, RG_I64, from));
    n = rg_b_op2(l->b, RG_DIV, plus(l, n, round), rg_b_int(l->b, RG_I64, step));
    if (rg_type_is_unsigned(t)) { /* a negative count would be a huge one */
        rg_val zero = rg_b_int(l->b, RG_I64, 0);
        n = rg_b_op3(l->b, RG_SELECT, rg_b_op2(l->b, RG_LT, n, zero), zero, n);
    }
    return rg_b_cast(l->b, t, n);
}

rg_range rg_lower_range(rg_lower *l, const rg_counted *c, bool final) {
    rg_type t = rg_ctype_value(c->var->type);
    rg_range r = {.step = 1};
    rg_val lo, hi;
    if (c->lo) {
        lo = rg_lower_value(l, c->lo);
    } else {
        rg_ref p = rg_place_var(l, c->var, l->b->loc);
        lo = rg_place_load(l, &p);
    }
    hi = c->hi ? rg_lower_value(l, c->hi) : rg_b_zero(l->b, t);
    if (c->step > 0) {
        if (c->rel == RG_LE)
            hi = plus(l, hi, 1);
        hi = bound_in(l, hi, lo, t, c->cmp);
        if (c->step == 1) {
            r.lo = lo;
            r.hi = hi;
            if (final)
                r.final = rg_b_op3(l->b, RG_SELECT, rg_b_op2(l->b, RG_LT, lo, hi), hi, lo);
            return r;
        }
        r.lo = rg_b_zero(l->b, t);
        r.hi = trip_count(l, lo, hi, c->step, c->step - 1, t);
    } else {
        rg_val low = c->rel == RG_GE || c->countdown ? hi : plus(l, hi, 1); /* the lowest value */
        if (c->step == -1) {
            rg_val top = c->countdown ? lo : plus(l, lo, 1);
            r.lo = low;
            r.hi = top;
            r.reverse = true;
            if (final) {
                rg_val some = rg_b_op2(l->b, RG_LT, low, top);
                /* the countdown's test has already decremented */
                rg_val last = plus(l, low, -1);
                r.final =
                    rg_b_op3(l->b, RG_SELECT, some, last, c->countdown ? plus(l, lo, -1) : lo);
            }
            return r;
        }
        r.lo = rg_b_zero(l->b, t);
        r.hi = trip_count(l, low, lo, -c->step, -c->step, t);
    }
    r.start = lo;
    r.step = c->step;
    if (final) {
        rg_val none = rg_b_op2(l->b, RG_LE, r.hi, r.lo);
        rg_val past =
            rg_b_op2(l->b, RG_ADD, lo, rg_b_op2(l->b, RG_MUL, r.hi, rg_b_int(l->b, t, r.step)));
        r.final = rg_b_op3(l->b, RG_SELECT, none, lo, past);
    }
    return r;
}

rg_val rg_range_var(rg_lower *l, const rg_range *r, rg_val iv, rg_type t) {
    iv = rg_b_cast(l->b, t, iv);
    if (!r->start)
        return iv;
    return rg_b_op2(l->b, RG_ADD, r->start, rg_b_op2(l->b, RG_MUL, iv, rg_b_int(l->b, t, r->step)));
}

/* `checkpoint(k)`: the loop becomes a loop over blocks of k steps around one over the steps of a
 * block. Differentiation then saves the state at the start of each block and, one block at a time,
 * that of each step. */
static rg_val block_size(rg_lower *l, const rg_stmt *s, rg_val n) {
    if (s->checkpoint > 0)
        return rg_b_int(l->b, RG_I64, s->checkpoint);
    /* ceil(sqrt(n)): as many blocks as steps in each */
    rg_val root = rg_b_op1(l->b, RG_SQRT, rg_b_cast(l->b, RG_F64, n));
    return plus(l, rg_b_cast(l->b, RG_I64, root), 1);
}

typedef struct blocks {
    rg_iid loop; /* 0: none */
} blocks;

/* Opens the loop over blocks; *r becomes the range of one. */
static blocks open_blocks(rg_lower *l, const rg_stmt *s, rg_range *r) {
    blocks x = {0};
    if (!s->checkpoint)
        return x;
    rg_build *b = l->b;
    rg_type t = rg_type_of(l->fn, r->lo);
    rg_val zero = rg_b_int(b, RG_I64, 0), lo = rg_b_cast(b, RG_I64, r->lo);
    rg_val n = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, r->hi), lo);
    n = rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, r->lo, r->hi), n, zero);
    rg_val k = block_size(l, s, n);
    rg_val count = rg_b_op2(b, RG_DIV, rg_b_op2(b, RG_ADD, n, plus(l, k, -1)), k);
    x.loop = rg_b_for(b, zero, count, NULL, 0,
                      (uint16_t)(RG_INS_CHECKPOINT | (r->reverse ? RG_INS_REVERSE : 0)));
    rg_b_push(b, rg_ins_at(l->fn, x.loop)->region[0]);
    rg_val from = rg_b_op2(b, RG_MUL, rg_b_arg(b, 0), k), to = rg_b_op2(b, RG_ADD, from, k);
    to = rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, to, n), to, n);
    r->lo = rg_b_cast(b, t, rg_b_op2(b, RG_ADD, lo, from));
    r->hi = rg_b_cast(b, t, rg_b_op2(b, RG_ADD, lo, to));
    return x;
}

static void close_blocks(rg_lower *l, const blocks *x) {
    if (!x->loop)
        return;
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
}

void rg_lower_for(rg_lower *l, rg_stmt *s) {
    const rg_counted *c = s->counted;
    if (c->why || (s->body->jumps & (RG_J_BREAK | RG_J_RETURN))) {
        rg_lower_while(l, s);
        return;
    }
    rg_var *v = c->var;
    if (s->init && !c->lo)
        rg_lower_stmt(l, s->init);
    l->b->loc = s->loc;
    rg_range r = rg_lower_range(l, c, !c->declares);
    l->b->loc = s->loc;
    rg_binding *outer = v->bind;
    blocks x = open_blocks(l, s, &r);
    rg_iid i = rg_b_for(l->b, r.lo, r.hi, NULL, 0, r.reverse ? RG_INS_REVERSE : 0);
    rg_b_push(l->b, rg_ins_at(l->fn, i)->region[0]);
    rg_val iv = rg_b_arg(l->b, 0);
    if (!r.start)
        rg_b_name(l->b, iv, v->name);
    rg_bind_value(l, v, rg_range_var(l, &r, iv, rg_ctype_value(v->type)));
    rg_aid brk = l->frame->brk;
    l->frame->brk = 0;
    rg_lower_body(l, s->body);
    l->frame->brk = brk;
    l->b->loc = s->loc;
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
    close_blocks(l, &x);
    v->bind = outer;
    if (r.final && outer) {
        rg_ref p = rg_place_var(l, v, s->loc);
        rg_place_store(l, &p, r.final);
    }
}

/* again = c and no flag */
static rg_val unless(rg_lower *l, rg_val c, rg_aid flag) {
    return flag ? rg_b_op2(l->b, RG_AND, c, rg_b_op1(l->b, RG_NOT, rg_hidden_get(l, flag))) : c;
}

void rg_lower_while(rg_lower *l, rg_stmt *s) {
    rg_frame *f = l->frame;
    if (s->init)
        rg_lower_stmt(l, s->init);
    l->b->loc = s->loc;
    rg_aid outer = f->brk;
    f->brk = 0;
    if (s->body->jumps & RG_J_BREAK) {
        f->brk = rg_hidden_local(l, "broken", RG_BOOL);
        rg_hidden_set(l, f->brk, rg_b_bool(l->b, false));
    }
    rg_aid returned = s->body->jumps & RG_J_RETURN ? f->returned : 0;
    if (s->kind == RG_S_DO && s->e->kind == RG_N_INT && !s->e->i) { /* do { } while (0): no loop */
        rg_lower_body(l, s->body);
        f->brk = outer;
        return;
    }
    rg_aid more = 0, steps = 0;
    if (s->checkpoint) { /* a loop over blocks around it; how many is not known before */
        more = rg_hidden_local(l, "more", RG_BOOL);
        steps = rg_hidden_local(l, "steps", RG_I64);
        rg_iid outer_loop = rg_b_loop(l->b, NULL, 0);
        rg_ins_at(l->fn, outer_loop)->flags |= RG_INS_CHECKPOINT;
        rg_b_push(l->b, rg_ins_at(l->fn, outer_loop)->region[0]);
        rg_hidden_set(l, steps, rg_b_int(l->b, RG_I64, 0));
    }
    rg_iid loop = rg_b_loop(l->b, NULL, 0);
    rg_b_push(l->b, rg_ins_at(l->fn, loop)->region[0]);
    rg_val again;
    if (s->kind == RG_S_DO) {
        rg_lower_body(l, s->body);
        l->b->loc = s->loc;
        if (!f->brk && !returned) {
            again = rg_lower_cond(l, s->e);
        } else {
            rg_val go = unless(l, unless(l, rg_b_bool(l->b, true), f->brk), returned);
            rg_iid i = rg_b_if(l->b, go);
            for (uint32_t r = 0; r < 2; r++) {
                rg_b_push(l->b, rg_ins_at(l->fn, i)->region[r]);
                rg_val c = r ? rg_b_bool(l->b, false) : rg_lower_cond(l, s->e);
                rg_b_yield(l->b, &c, 1);
                rg_b_pop(l->b);
            }
            rg_b_if_done(l->b, i);
            again = rg_result(l->fn, i, 0);
        }
    } else {
        rg_val c = s->e ? rg_lower_cond(l, s->e) : rg_b_bool(l->b, true);
        l->b->loc = s->loc;
        rg_iid i = rg_b_if(l->b, c);
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[0]);
        rg_lower_body(l, s->body);
        l->b->loc = s->loc;
        if (s->step) {
            bool jumps = f->brk || returned;
            rg_iid k = 0;
            if (jumps) {
                k = rg_b_if(l->b, unless(l, unless(l, rg_b_bool(l->b, true), f->brk), returned));
                rg_b_push(l->b, rg_ins_at(l->fn, k)->region[0]);
            }
            rg_lower_effect(l, s->step);
            if (jumps) {
                rg_b_yield(l->b, NULL, 0);
                rg_b_pop(l->b);
                rg_b_push(l->b, rg_ins_at(l->fn, k)->region[1]);
                rg_b_yield(l->b, NULL, 0);
                rg_b_pop(l->b);
                rg_b_if_done(l->b, k);
            }
        }
        rg_b_yield(l->b, NULL, 0);
        rg_b_pop(l->b);
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[1]);
        rg_b_yield(l->b, NULL, 0);
        rg_b_pop(l->b);
        rg_b_if_done(l->b, i);
        again = unless(l, unless(l, c, f->brk), returned);
    }
    l->b->loc = s->loc;
    if (steps) {
        rg_hidden_set(l, more, again);
        rg_val n = plus(l, rg_hidden_get(l, steps), 1);
        rg_hidden_set(l, steps, n);
        rg_val k = rg_b_int(l->b, RG_I64, s->checkpoint > 0 ? s->checkpoint : UNCOUNTED_BLOCK);
        again = rg_b_op2(l->b, RG_AND, again, rg_b_op2(l->b, RG_LT, n, k));
    }
    rg_b_yield(l->b, &again, 1);
    rg_b_pop(l->b);
    if (steps) {
        rg_val a = rg_hidden_get(l, more);
        rg_b_yield(l->b, &a, 1);
        rg_b_pop(l->b);
    }
    f->brk = outer;
}
