/* Statements. The IR has no jumps, so:
 *
 *   if (c) continue; rest    =>  if (c) {} else { rest }
 *   any other jump           =>  flag = true, and what follows runs only if (!flag)
 *
 * A loop's condition includes its break flag. Flags are hidden rank-0 locals; promotion turns them
 * into values and dead ones vanish. */
#include "lang/lower.h"

void rg_hidden_set(rg_lower *l, rg_aid a, rg_val v) {
    rg_b_store(l->b, a, 0, NULL, v, 0);
}

rg_val rg_hidden_get(rg_lower *l, rg_aid a) {
    return rg_b_load(l->b, a, 0, NULL, 0);
}

rg_aid rg_hidden_local(rg_lower *l, const char *name, rg_type t) {
    return rg_b_alloc(l->b, name, rg_elem_scalar(rg_type_mem(t)), 0, NULL, 0);
}

/* True where none of the jumps was taken; 0: there is nothing to test. */
static rg_val not_jumped(rg_lower *l, uint32_t jumps) {
    const rg_frame *f = l->frame;
    const rg_aid flags[] = {jumps & RG_J_BREAK ? f->brk : 0, jumps & RG_J_CONTINUE ? f->cont : 0,
                            jumps & RG_J_RETURN ? f->returned : 0};
    rg_val any = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (flags[i]) {
            rg_val v = rg_hidden_get(l, flags[i]);
            any = any ? rg_b_op2(l->b, RG_OR, any, v) : v;
        }
    return any ? rg_b_op1(l->b, RG_NOT, any) : 0;
}

enum { MOST_BRANCHES = 1000 };

static void lower_list(rg_lower *l, rg_stmt **list, uint32_t n);

static void in_branch(rg_lower *l, rg_iid i, uint32_t r, rg_stmt *s, rg_stmt **rest, uint32_t n) {
    rg_b_push(l->b, rg_ins_at(l->fn, i)->region[r]);
    if (l->depth < MOST_BRANCHES) {
        l->depth++;
        if (s)
            rg_lower_stmt(l, s);
        lower_list(l, rest, n);
        l->depth--;
    } else {
        rg_error(l->diags, l->b->loc, "move some of them into a static function",
                 "more than %d branches inside one another, counting what follows an early exit",
                 MOST_BRANCHES);
    }
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
}

/* if (c) { ... jump } with statements after it. False: not of this form. */
static bool lower_early_out(rg_lower *l, rg_stmt *s, rg_stmt **rest, uint32_t n) {
    if (s->kind != RG_S_IF || !s->jumps)
        return false;
    bool then = s->body->always, other = s->other && s->other->always;
    if (then == other || (then ? s->other && s->other->jumps : s->body->jumps != 0))
        return false;
    rg_val c = rg_lower_cond(l, s->e);
    l->b->loc = s->loc;
    rg_iid i = rg_b_if(l->b, c);
    in_branch(l, i, 0, s->body, rest, other ? n : 0);
    in_branch(l, i, 1, s->other, rest, then ? n : 0);
    l->b->loc = s->loc;
    rg_b_if_done(l->b, i);
    return true;
}

static void lower_list(rg_lower *l, rg_stmt **list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        rg_stmt *s = list[i];
        uint32_t after = n - i - 1;
        if (after && lower_early_out(l, s, list + i + 1, after))
            return;
        rg_lower_stmt(l, s);
        if (s->always) /* nothing below is reached: case labels are the switch's own */
            return;
        if (!s->jumps || !after)
            continue;
        rg_val go = not_jumped(l, s->jumps);
        if (!go)
            continue;
        rg_iid k = rg_b_if(l->b, go);
        in_branch(l, k, 0, NULL, list + i + 1, after);
        in_branch(l, k, 1, NULL, NULL, 0);
        rg_b_if_done(l->b, k);
        return;
    }
}

static void lower_if(rg_lower *l, rg_stmt *s) {
    rg_val c = rg_lower_cond(l, s->e);
    int64_t k;
    if (rg_val_const_int(l->fn, c, &k)) {
        if (k || s->other)
            rg_lower_stmt(l, k ? s->body : s->other);
        return;
    }
    l->b->loc = s->loc;
    rg_iid i = rg_b_if(l->b, c);
    in_branch(l, i, 0, s->body, NULL, 0);
    in_branch(l, i, 1, s->other, NULL, 0);
    l->b->loc = s->loc;
    rg_b_if_done(l->b, i);
}

static void lower_return(rg_lower *l, rg_stmt *s) {
    rg_frame *f = l->frame;
    if (s->e) {
        if (rg_ctype_is_arith(s->e->type)) {
            rg_val v = rg_lower_value(l, s->e);
            l->b->loc = s->loc;
            if (f->result)
                rg_hidden_set(l, f->result, v);
            else
                f->value = v;
        } else {
            rg_ref p = rg_lower_place(l, s->e);
            l->b->loc = s->loc;
            if (f->result) {
                rg_ref to = {.type = s->e->type, .array = f->result};
                rg_place_copy(l, &to, &p);
            } else {
                f->place = p;
            }
        }
    }
    if (f->returned)
        rg_hidden_set(l, f->returned, rg_b_bool(l->b, true));
}

void rg_lower_body(rg_lower *l, rg_stmt *s) {
    rg_aid outer = l->frame->cont;
    l->frame->cont = 0;
    if (s->jumps & RG_J_CONTINUE) {
        l->frame->cont = rg_hidden_local(l, "continued", RG_BOOL);
        rg_hidden_set(l, l->frame->cont, rg_b_bool(l->b, false));
    }
    rg_lower_stmt(l, s);
    l->frame->cont = outer;
}

void rg_lower_stmt(rg_lower *l, rg_stmt *s) {
    l->b->loc = s->loc;
    switch (s->kind) {
    case RG_S_EMPTY:
    case RG_S_CASE:
        break;
    case RG_S_EXPR:
        rg_lower_effect(l, s->e);
        break;
    case RG_S_DECL:
        for (uint32_t i = 0; i < s->n; i++)
            rg_lower_decl(l, s->vars[i]);
        break;
    case RG_S_BLOCK:
        lower_list(l, s->list, s->n);
        break;
    case RG_S_IF:
        lower_if(l, s);
        break;
    case RG_S_FOR:
        rg_lower_for(l, s);
        break;
    case RG_S_WHILE:
    case RG_S_DO:
        rg_lower_while(l, s);
        break;
    case RG_S_SWITCH:
        rg_lower_switch(l, s);
        break;
    case RG_S_BREAK:
        if (l->frame->brk)
            rg_hidden_set(l, l->frame->brk, rg_b_bool(l->b, true));
        break;
    case RG_S_CONTINUE:
        if (l->frame->cont)
            rg_hidden_set(l, l->frame->cont, rg_b_bool(l->b, true));
        break;
    case RG_S_RETURN:
        lower_return(l, s);
        break;
    case RG_S_PARALLEL:
        rg_lower_parallel(l, s);
        break;
    case RG_S_ATOMIC:
        rg_lower_atomic(l, s);
        break;
    default:
        break;
    }
}
