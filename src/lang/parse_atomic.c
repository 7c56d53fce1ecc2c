/* The statements that `#pragma omp atomic` governs, taken apart into target, operator and value. */
#include "lang/check.h"

static rg_node *strip(rg_node *n) {
    while (n->kind == RG_N_CAST && rg_ctype_is_arith(n->type) && rg_ctype_is_arith(n->a->type))
        n = n->a;
    return n;
}

typedef struct mention {
    const rg_node *x;
    bool found;
} mention;

static void look(void *user, rg_node *n) {
    mention *m = user;
    m->found |= rg_node_equal(n, m->x);
}

static bool mentions(rg_node *in, const rg_node *x) {
    mention m = {x, false};
    rg_node_walk(in, look, &m);
    return m.found;
}

static bool red_of(rg_op op, rg_red *red) {
    switch (op) {
    case RG_ADD:
    case RG_SUB:
        *red = RG_RED_ADD;
        return true;
    case RG_MUL:
        *red = RG_RED_MUL;
        return true;
    case RG_AND:
        *red = RG_RED_AND;
        return true;
    case RG_OR:
        *red = RG_RED_OR;
        return true;
    case RG_XOR:
        *red = RG_RED_XOR;
        return true;
    default:
        return false;
    }
}

static const char *set_value(rg_parser *p, rg_atomic *a, rg_node *e) {
    e = strip(e);
    if (rg_node_bad(e))
        return NULL;
    if (rg_ctype_is_int(a->target->type) && !rg_ctype_is_int(e->type) && a->red != RG_RED_SET)
        return "an integer is updated with a floating value: convert it first";
    if (mentions(e, a->target))
        return "the value reads the element that is updated";
    if (a->negate)
        e = rg_check_unary(p, e->loc, RG_N_NEG, e);
    a->value = rg_check_convert(p, e, rg_ctype_basic(a->target->type->kind), "assign");
    return NULL;
}

/* update = x op= e | ++x | x++ | x = x op e | x = e op x */
static const char *match_update(rg_parser *p, rg_node *n, rg_atomic *a) {
    static const char *const form = "expected x += e, x -= e, x *= e, x++ or the like";
    if (n->kind == RG_N_INCDEC) {
        a->target = n->a;
        a->red = RG_RED_ADD;
        a->negate = n->op == RG_SUB;
        return set_value(p, a, rg_node_int(p, n->loc, rg_ctype_basic(RG_C_INT), 1));
    }
    if (n->kind == RG_N_OPASSIGN) {
        a->target = n->a;
        a->negate = n->op == RG_SUB;
        if (!red_of((rg_op)n->op, &a->red))
            return "this operator has no atomic form; + - * & | ^ have";
        return set_value(p, a, n->b);
    }
    if (n->kind != RG_N_ASSIGN)
        return form;
    rg_node *e = strip(n->b);
    a->target = n->a;
    if (e->kind != RG_N_BIN)
        return form;
    bool left = rg_node_equal(strip(e->a), n->a);
    if (!left && !rg_node_equal(strip(e->b), n->a))
        return form;
    if (!red_of((rg_op)e->op, &a->red) || (!left && e->op == RG_SUB))
        return "this operator has no atomic form; + - * & | ^ have";
    a->negate = e->op == RG_SUB;
    return set_value(p, a, left ? e->b : e->a);
}

/* compare = "if" "(" x ("<" | ">") e ")" x "=" e ";" | x "=" x ("<" | ">") e "?" e ":" x ";" */
static const char *match_compare(rg_parser *p, rg_stmt *s, rg_atomic *a) {
    static const char *const form = "expected if (x < e) x = e; or x = x < e ? e : x;";
    rg_node *c, *e;
    bool takes_e; /* when the comparison holds */
    if (s->kind == RG_S_IF && !s->other) {
        rg_stmt *b = s->body;
        while (b->kind == RG_S_BLOCK && b->n == 1)
            b = b->list[0];
        if (b->kind != RG_S_EXPR || b->e->kind != RG_N_ASSIGN)
            return form;
        c = strip(s->e);
        a->target = b->e->a;
        e = b->e->b;
        takes_e = true;
    } else if (s->kind == RG_S_EXPR && s->e->kind == RG_N_ASSIGN &&
               strip(s->e->b)->kind == RG_N_COND) {
        rg_node *q = strip(s->e->b);
        a->target = s->e->a;
        c = strip(q->a);
        takes_e = rg_node_equal(strip(q->c), a->target);
        if (!takes_e && !rg_node_equal(strip(q->b), a->target))
            return form;
        e = takes_e ? q->b : q->c;
    } else {
        return form;
    }
    if (c->kind == RG_N_CMP && c->op == RG_EQ)
        return "compare and swap is not supported; min and max are";
    if (c->kind != RG_N_CMP || c->op == RG_NE)
        return form;
    bool left = rg_node_equal(strip(c->a), a->target);
    if (!left && !rg_node_equal(strip(c->b), a->target))
        return form;
    if (!rg_node_equal(strip(left ? c->b : c->a), strip(e)))
        return "the value compared and the value assigned differ";
    bool less = (c->op == RG_LT || c->op == RG_LE) == left; /* x < e */
    a->red = less == takes_e ? RG_RED_MAX : RG_RED_MIN;
    return set_value(p, a, e);
}

/* capture = v "=" update | "{" v "=" x ";" update "}" | "{" update v "=" x ";" "}"
 *         | "{" v "=" x ";" x "=" e ";" "}" */
static const char *match_capture(rg_parser *p, rg_stmt *s, rg_atomic *a) {
    static const char *const form = "expected v = x++, v = x += e, or { v = x; x += e; }";
    if (s->kind == RG_S_EXPR && s->e->kind == RG_N_ASSIGN) {
        rg_node *u = strip(s->e->b);
        a->result = s->e->a;
        a->after = !(u->kind == RG_N_INCDEC && u->post);
        return match_update(p, u, a);
    }
    if (s->kind != RG_S_BLOCK || s->n != 2 || s->list[0]->kind != RG_S_EXPR ||
        s->list[1]->kind != RG_S_EXPR)
        return form;
    rg_node *one = s->list[0]->e, *two = s->list[1]->e;
    rg_atomic first = *a;
    if (two->kind == RG_N_ASSIGN && !match_update(p, one, &first) &&
        rg_node_equal(strip(two->b), first.target)) {
        *a = first;
        a->after = true;
        a->result = two->a;
        return NULL;
    }
    if (one->kind != RG_N_ASSIGN)
        return form;
    a->result = one->a;
    rg_node *x = strip(one->b);
    rg_atomic second = *a;
    if (!match_update(p, two, &second) && rg_node_equal(second.target, x)) {
        *a = second;
        return NULL;
    }
    if (two->kind != RG_N_ASSIGN || !rg_node_equal(two->a, x))
        return form;
    a->target = two->a;
    a->red = RG_RED_SET;
    return set_value(p, a, two->b);
}

rg_stmt *rg_parse_atomic(rg_parser *p, rg_loc loc, rg_atomic_kind kind, bool compare) {
    rg_atomic *a = RG_NEW(p->arena, rg_atomic);
    a->kind = kind;
    uint32_t first = p->unit->refs.n;
    p->in_atomic++;
    rg_stmt *s = rg_parse_statement(p);
    p->in_atomic--;
    const char *why = NULL;
    bool assign = s->kind == RG_S_EXPR && s->e->kind == RG_N_ASSIGN;
    if (s->kind == RG_S_EXPR && rg_node_bad(s->e))
        return s;
    if (compare && kind != RG_A_UPDATE) {
        why = "compare cannot be combined with read, write or capture";
    } else if (compare) {
        why = match_compare(p, s, a);
    } else if (kind == RG_A_READ) {
        why = assign ? NULL : "expected v = x";
        if (assign) {
            a->result = s->e->a;
            a->target = strip(s->e->b);
        }
    } else if (kind == RG_A_WRITE) {
        why = assign ? NULL : "expected x = e";
        if (assign) {
            a->target = s->e->a;
            a->value = s->e->b;
        }
    } else if (kind == RG_A_CAPTURE) {
        why = match_capture(p, s, a);
    } else {
        why = s->kind == RG_S_EXPR ? match_update(p, s->e, a) : "expected x += e; or the like";
    }
    if (!why && a->target && !rg_ctype_is_arith(a->target->type) && !rg_node_bad(a->target))
        why = "only numbers can be accessed atomically";
    if (!why && a->target && a->target->kind != RG_N_VAR && a->target->kind != RG_N_INDEX &&
        a->target->kind != RG_N_MEMBER && a->target->kind != RG_N_DEREF)
        why = "expected an array's element or a variable";
    if (why) {
        rg_error(p->diags, s->loc ? s->loc : loc,
                 compare
                     ? "write if (x < e) x = e; with x and e the same in both places"
                     : "write x += e, x -= e, x *= e, x++; for min and max use 'atomic compare'",
                 "this cannot be done atomically: %s", why);
        return s;
    }
    /* only the target is accessed atomically, not what the value reads */
    const rg_var *base = a->target ? rg_node_base(a->target) : NULL;
    for (uint32_t i = first; i < p->unit->refs.n; i++)
        p->unit->refs.at[i].atomic &= p->unit->refs.at[i].var == base;
    rg_stmt *x = rg_stmt_new(p, RG_S_ATOMIC, loc);
    x->atomic = a;
    return x;
}
