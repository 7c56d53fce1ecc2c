/* switch: a chain of ifs when no section falls through to the next, else sections in order, each
 * entered by its label or by falling in. */
#include "lang/lower.h"

typedef struct section {
    uint32_t first_label, labels; /* indices into the statement list */
    rg_stmt **list;
    uint32_t n;
    bool falls; /* may go on into the next one */
    bool has_default;
} section;

static bool section_ends(const section *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->list[i]->always)
            return true;
    return false;
}

static uint32_t find_sections(rg_lower *l, rg_stmt *s, section *out) {
    uint32_t n = 0, i = 0;
    (void)l;
    rg_stmt *b = s->body;
    while (i < b->n && b->list[i]->kind != RG_S_CASE)
        i++; /* declarations, which hoist takes */
    while (i < b->n) {
        section *x = &out[n++];
        *x = (section){.first_label = i};
        for (; i < b->n && b->list[i]->kind == RG_S_CASE; i++) {
            x->labels++;
            x->has_default |= s->cases.at[b->list[i]->label].is_default;
        }
        x->list = &b->list[i];
        for (; i < b->n && b->list[i]->kind != RG_S_CASE; i++)
            x->n++;
        x->falls = !section_ends(x);
        if (x->n && x->list[x->n - 1]->kind == RG_S_BREAK)
            x->n--; /* what a chain of ifs does anyway */
    }
    if (n)
        out[n - 1].falls = false;
    return n;
}

static rg_val equals(rg_lower *l, rg_val v, int64_t k) {
    return rg_b_op2(l->b, RG_EQ, v, rg_b_int(l->b, rg_type_of(l->fn, v), k));
}

static rg_val matches(rg_lower *l, rg_stmt *s, const section *x, rg_val v) {
    rg_val any = 0;
    for (uint32_t i = 0; i < x->labels; i++) {
        const rg_case *c = &s->cases.at[s->body->list[x->first_label + i]->label];
        if (c->is_default)
            continue;
        rg_val e = equals(l, v, c->value);
        any = any ? rg_b_op2(l->b, RG_OR, any, e) : e;
    }
    return any ? any : rg_b_bool(l->b, false);
}

static void lower_section(rg_lower *l, const section *x) {
    rg_stmt block = {.kind = RG_S_BLOCK, .list = x->list, .n = x->n};
    if (x->n)
        block.loc = x->list[0]->loc;
    rg_lower_stmt(l, &block);
    for (uint32_t i = 0; i < x->n; i++) /* what could not be hoisted ends with its section */
        for (uint32_t k = 0; x->list[i]->kind == RG_S_DECL && k < x->list[i]->n; k++)
            if (x->list[i]->vars[k]->bind && !x->list[i]->vars[k]->bind->hoisted)
                x->list[i]->vars[k]->bind = NULL;
}

/* if (v is in 0) {0} else if (v is in 1) {1} ... else {default} */
static void lower_chain(rg_lower *l, rg_stmt *s, const section *x, uint32_t n, uint32_t k,
                        rg_val v) {
    while (k < n && x[k].has_default)
        k++;
    if (k == n) {
        for (uint32_t i = 0; i < n; i++)
            if (x[i].has_default)
                lower_section(l, &x[i]);
        return;
    }
    rg_iid i = rg_b_if(l->b, matches(l, s, &x[k], v));
    rg_b_push(l->b, rg_ins_at(l->fn, i)->region[0]);
    lower_section(l, &x[k]);
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
    rg_b_push(l->b, rg_ins_at(l->fn, i)->region[1]);
    lower_chain(l, s, x, n, k + 1, v);
    rg_b_yield(l->b, NULL, 0);
    rg_b_pop(l->b);
    rg_b_if_done(l->b, i);
}

static void lower_falling(rg_lower *l, rg_stmt *s, const section *x, uint32_t n, rg_val v) {
    rg_aid in = rg_hidden_local(l, "matched", RG_BOOL);
    rg_hidden_set(l, in, rg_b_bool(l->b, false));
    rg_val none = 0;
    for (uint32_t k = 0; k < n; k++)
        if (x[k].has_default) {
            none = rg_b_bool(l->b, false);
            for (uint32_t j = 0; j < n; j++)
                none = rg_b_op2(l->b, RG_OR, none, matches(l, s, &x[j], v));
            none = rg_b_op1(l->b, RG_NOT, none);
        }
    for (uint32_t k = 0; k < n; k++) {
        rg_val c = rg_b_op2(l->b, RG_OR, rg_hidden_get(l, in), matches(l, s, &x[k], v));
        if (x[k].has_default)
            c = rg_b_op2(l->b, RG_OR, c, none);
        if (l->frame->brk)
            c = rg_b_op2(l->b, RG_AND, c, rg_b_op1(l->b, RG_NOT, rg_hidden_get(l, l->frame->brk)));
        if (l->frame->returned && (s->body->jumps & RG_J_RETURN))
            c = rg_b_op2(l->b, RG_AND, c,
                         rg_b_op1(l->b, RG_NOT, rg_hidden_get(l, l->frame->returned)));
        if (l->frame->cont && (s->body->jumps & RG_J_CONTINUE))
            c = rg_b_op2(l->b, RG_AND, c, rg_b_op1(l->b, RG_NOT, rg_hidden_get(l, l->frame->cont)));
        rg_iid i = rg_b_if(l->b, c);
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[0]);
        lower_section(l, &x[k]);
        rg_hidden_set(l, in, rg_b_bool(l->b, x[k].falls));
        rg_b_yield(l->b, NULL, 0);
        rg_b_pop(l->b);
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[1]);
        rg_b_yield(l->b, NULL, 0);
        rg_b_pop(l->b);
        rg_b_if_done(l->b, i);
    }
}

/* A variable declared in one section may be used in a later one: it comes to life before all. */
static void hoist(rg_lower *l, rg_stmt *s) {
    for (uint32_t i = 0; i < s->body->n; i++) {
        rg_stmt *d = s->body->list[i];
        if (d->kind != RG_S_DECL)
            continue;
        for (uint32_t k = 0; k < d->n; k++) {
            rg_var *v = d->vars[k];
            v->bind = NULL;
            if (v->type->kind != RG_C_PTR && rg_ctype_size(v->type) >= 0) {
                rg_bind_local(l, v, v->zero_rest);
                v->bind->hoisted = true;
            }
        }
    }
}

void rg_lower_switch(rg_lower *l, rg_stmt *s) {
    rg_val v = rg_lower_value(l, s->e);
    l->b->loc = s->loc;
    section *x = RG_NEW_N(l->arena, section, s->body->n + 1);
    uint32_t n = find_sections(l, s, x);
    hoist(l, s);
    rg_aid outer = l->frame->brk;
    l->frame->brk = 0;
    bool falls = false, breaks = false;
    for (uint32_t k = 0; k < n; k++) {
        falls |= x[k].falls;
        for (uint32_t i = 0; i < x[k].n; i++)
            breaks |= (x[k].list[i]->jumps & RG_J_BREAK) != 0;
    }
    if (breaks) {
        l->frame->brk = rg_hidden_local(l, "broken", RG_BOOL);
        rg_hidden_set(l, l->frame->brk, rg_b_bool(l->b, false));
    }
    if (falls)
        lower_falling(l, s, x, n, v);
    else
        lower_chain(l, s, x, n, 0, v);
    l->frame->brk = outer;
}
