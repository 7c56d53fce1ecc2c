/* Reductions: finds the updates of each reduction variable in a parallel loop's body.
 *
 * An update is a statement of the form s op= e, s = s op e, ++s, s = fmax(s, e),
 * s = s < e ? e : s, or if (s < e) s = e. It becomes one node with the values to combine; the
 * uses of s inside it are counted. Any use that was not counted is an error. */
#include "lang/check.h"

typedef struct finder {
    rg_parser *p;
    const rg_clause_var *c;
    RG_VEC(rg_node *) counted; /* uses of the variable inside updates */
    RG_VEC(rg_node *) values;  /* of the update being matched */
} finder;

static rg_node *strip(rg_node *n) {
    while (n->kind == RG_N_CAST && rg_ctype_is_arith(n->type) && rg_ctype_is_arith(n->a->type))
        n = n->a;
    return n;
}

static bool is_var(const finder *f, rg_node *n) {
    n = strip(n);
    return n->kind == RG_N_VAR && n->var == f->c->var;
}

static void count(finder *f, rg_node *n) {
    rg_node *v = strip(n);
    RG_PUSH(f->p->arena, &f->counted, v);
}

static void uses_var(void *user, rg_node *n) {
    finder *f = user;
    if (n->kind == RG_N_VAR && n->var == f->c->var)
        f->values.cap = UINT32_MAX;
}

static bool mentions(finder *f, rg_node *n) {
    finder g = *f;
    rg_node_walk(n, uses_var, &g);
    return g.values.cap == UINT32_MAX;
}

static bool add_value(finder *f, rg_node *n, bool negate) {
    const rg_ctype *t = f->c->var->type;
    bool logical = f->c->red == RG_RED_LAND || f->c->red == RG_RED_LOR;
    if (!rg_ctype_is_arith(n->type))
        return false;
    /* int += float rounds after each sum: not what adding rounded values gives */
    if (!logical && rg_ctype_is_int(t) && !rg_ctype_is_int(n->type))
        return false;
    if (logical) {
        n = rg_check_condition(f->p, n);
    } else {
        if (negate)
            n = rg_check_unary(f->p, n->loc, RG_N_NEG, n);
        n = rg_check_convert(f->p, n, rg_ctype_basic(t->kind), "assign");
    }
    RG_PUSH(f->p->arena, &f->values, n);
    return true;
}

static bool op_fits(rg_red red, rg_op op) {
    switch (op) {
    case RG_ADD:
    case RG_SUB:
        return red == RG_RED_ADD;
    case RG_MUL:
        return red == RG_RED_MUL;
    case RG_AND:
        return red == RG_RED_AND;
    case RG_OR:
        return red == RG_RED_OR;
    case RG_XOR:
        return red == RG_RED_XOR;
    default:
        return false;
    }
}

/* The right side of s = ...: s itself, or an operation with one such side. */
static bool match_value(finder *f, rg_node *n) {
    n = strip(n);
    if (is_var(f, n)) {
        count(f, n);
        return true;
    }
    rg_red red = f->c->red;
    if (n->kind == RG_N_BIN && op_fits(red, (rg_op)n->op)) {
        if (mentions(f, n->a))
            return match_value(f, n->a) && add_value(f, n->b, n->op == RG_SUB);
        return n->op != RG_SUB && match_value(f, n->b) && add_value(f, n->a, false);
    }
    if ((n->kind == RG_N_LAND && red == RG_RED_LAND) ||
        (n->kind == RG_N_LOR && red == RG_RED_LOR)) {
        if (mentions(f, n->a))
            return match_value(f, n->a) && add_value(f, n->b, false);
        return match_value(f, n->b) && add_value(f, n->a, false);
    }
    if (n->kind == RG_N_MATH && n->math->kind == RG_MATH_OP &&
        ((n->math->op == RG_FMIN && red == RG_RED_MIN) ||
         (n->math->op == RG_FMAX && red == RG_RED_MAX))) {
        uint32_t k = mentions(f, n->args[0]) ? 0 : 1;
        return match_value(f, n->args[k]) && add_value(f, n->args[1 - k], false);
    }
    if (n->kind == RG_N_COND && (red == RG_RED_MIN || red == RG_RED_MAX)) {
        rg_node *c = strip(n->a);
        if (c->kind != RG_N_CMP || c->op == RG_EQ || c->op == RG_NE)
            return false;
        bool left = is_var(f, c->a);
        rg_node *e = strip(left ? c->b : c->a);
        bool then = is_var(f, n->b); /* s when the condition holds */
        if (!left && !is_var(f, c->b))
            return false;
        if (!is_var(f, then ? n->b : n->c) || !rg_node_equal(strip(then ? n->c : n->b), e))
            return false;
        bool greater = (c->op == RG_GT || c->op == RG_GE) == left; /* s > e */
        if ((greater == then) != (red == RG_RED_MAX))
            return false;
        count(f, left ? c->a : c->b);
        count(f, then ? n->b : n->c);
        return add_value(f, e, false);
    }
    return false;
}

static void make_reduce(finder *f, rg_node *n) {
    rg_node *var = n->a;
    *n = (rg_node){.kind = RG_N_REDUCE,
                   .op = (uint8_t)f->c->red,
                   .loc = n->loc,
                   .type = f->c->var->type,
                   .a = var};
    n->args = f->values.at;
    n->nargs = f->values.n;
}

static void match(finder *f, rg_node *n) {
    if (!n)
        return;
    if (n->kind == RG_N_COMMA) {
        match(f, n->a);
        match(f, n->b);
        return;
    }
    if (n->kind == RG_N_CAST && n->type->kind == RG_C_VOID) {
        match(f, n->a);
        return;
    }
    bool assigns = n->kind == RG_N_ASSIGN || n->kind == RG_N_OPASSIGN || n->kind == RG_N_INCDEC;
    if (!assigns || n->a->kind != RG_N_VAR || n->a->var != f->c->var)
        return;
    f->values.at = NULL;
    f->values.n = f->values.cap = 0;
    uint32_t before = f->counted.n;
    bool ok = false;
    if (n->kind == RG_N_INCDEC) {
        rg_node *one = rg_node_int(f->p, n->loc, rg_ctype_basic(RG_C_INT), 1);
        ok = f->c->red == RG_RED_ADD && add_value(f, one, n->op == RG_SUB);
    } else if (n->kind == RG_N_OPASSIGN) {
        ok = op_fits(f->c->red, (rg_op)n->op) && add_value(f, strip(n->b), n->op == RG_SUB);
    } else {
        ok = mentions(f, n->b) && match_value(f, n->b);
    }
    if (!ok) {
        f->counted.n = before;
        return;
    }
    count(f, n->a);
    make_reduce(f, n);
}

/* if (s < e) s = e; */
static bool match_if(finder *f, rg_stmt *s) {
    if (s->other || (f->c->red != RG_RED_MIN && f->c->red != RG_RED_MAX))
        return false;
    rg_stmt *b = s->body;
    while (b->kind == RG_S_BLOCK && b->n == 1)
        b = b->list[0];
    if (b->kind != RG_S_EXPR || b->e->kind != RG_N_ASSIGN || !is_var(f, b->e->a))
        return false;
    rg_node *c = strip(s->e);
    if (c->kind != RG_N_CMP || c->op == RG_EQ || c->op == RG_NE)
        return false;
    bool left = is_var(f, c->a);
    if (!left && !is_var(f, c->b))
        return false;
    rg_node *e = strip(left ? c->b : c->a);
    if (!rg_node_equal(e, strip(b->e->b)))
        return false;
    bool less = (c->op == RG_LT || c->op == RG_LE) == left; /* s < e: s grows */
    if (less != (f->c->red == RG_RED_MAX))
        return false;
    f->values.at = NULL;
    f->values.n = f->values.cap = 0;
    if (!add_value(f, e, false))
        return false;
    count(f, left ? c->a : c->b);
    count(f, b->e->a);
    rg_node *n = b->e;
    make_reduce(f, n);
    s->kind = RG_S_EXPR;
    s->e = n;
    s->body = NULL;
    s->jumps = 0;
    return true;
}

static void walk(finder *f, rg_stmt *s) {
    if (!s)
        return;
    switch (s->kind) {
    case RG_S_EXPR:
        match(f, s->e);
        return;
    case RG_S_IF:
        if (match_if(f, s))
            return;
        break;
    case RG_S_FOR:
        walk(f, s->init);
        match(f, s->step);
        break;
    default:
        break;
    }
    walk(f, s->body);
    walk(f, s->other);
    if (s->kind == RG_S_BLOCK)
        for (uint32_t i = 0; i < s->n; i++)
            walk(f, s->list[i]);
}

void rg_find_reductions(rg_parser *p, rg_stmt *s) {
    rg_parallel *par = s->par;
    static const char *const forms[] = {
        [RG_RED_ADD] = "%s += e or %s -= e",
        [RG_RED_MUL] = "%s *= e",
        [RG_RED_MIN] = "%s = fmin(%s, e) or if (e < %s) %s = e",
        [RG_RED_MAX] = "%s = fmax(%s, e) or if (e > %s) %s = e",
        [RG_RED_AND] = "%s &= e",
        [RG_RED_OR] = "%s |= e",
        [RG_RED_XOR] = "%s ^= e",
        [RG_RED_LAND] = "%s = %s && e",
        [RG_RED_LOR] = "%s = %s || e",
    };
    for (uint32_t i = 0; i < par->reductions.n; i++) {
        finder f = {.p = p, .c = &par->reductions.at[i]};
        const rg_var *v = f.c->var;
        if (!rg_ctype_is_arith(v->type))
            continue;
        walk(&f, par->inner);
        for (uint32_t k = 0; k < f.counted.n; k++)
            f.counted.at[k]->post = true; /* free in a VAR node: marks it as counted */
        for (uint32_t k = par->begin.refs; k < par->end.refs; k++) {
            const rg_use *u = &p->unit->refs.at[k];
            if (u->var != v)
                continue;
            if (u->node->post)
                continue;
            rg_text form = {.arena = p->arena};
            for (const char *c = forms[f.c->red]; *c; c++) {
                if (*c == '%' && c[1] == 's') {
                    rg_text_add(&form, v->name);
                    c++;
                } else {
                    rg_text_char(&form, *c);
                }
            }
            rg_error(p->diags, u->loc,
                     rg_format(p->arena, "update it as a statement, %s; read it after the loop",
                               rg_text_str(&form)),
                     "reduction variable '%s' is used outside of its update", v->name);
            break;
        }
    }
}
