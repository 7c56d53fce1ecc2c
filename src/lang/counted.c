/* The canonical form of a `for`: a variable that runs from one value to another by a constant step
 * and that nothing else changes. Only such a loop can be parallel; a serial one becomes the IR's
 * `for`, any other its `loop`.
 *
 * Where the form is missed, the reason is kept for the message that a parallel loop needs. */
#include "lang/check.h"

#include <stddef.h>

static const rg_node *strip_casts(const rg_node *n) {
    while (n->kind == RG_N_CAST && rg_ctype_is_int(n->type) && rg_ctype_is_int(n->a->type))
        n = n->a;
    return n;
}

static bool is_var(const rg_node *n, const rg_var *v) {
    return n->kind == RG_N_VAR && n->var == v;
}

/* step = ("++" | "--") v | v ("++" | "--") | v ("+=" | "-=") c | v "=" v ("+" | "-") c */
static rg_var *find_step(const rg_node *n, int64_t *step) {
    if (!n)
        return NULL;
    if (n->kind == RG_N_INCDEC && n->a->kind == RG_N_VAR) {
        *step = n->op == RG_ADD ? 1 : -1;
        return n->a->var;
    }
    if (n->kind == RG_N_OPASSIGN && n->a->kind == RG_N_VAR &&
        (n->op == RG_ADD || n->op == RG_SUB) && rg_const_int(NULL, n->b, step) &&
        rg_ctype_is_int(n->compute)) {
        *step = n->op == RG_ADD ? *step : -*step;
        return n->a->var;
    }
    if (n->kind == RG_N_ASSIGN && n->a->kind == RG_N_VAR) {
        const rg_node *s = strip_casts(n->b);
        if (s->kind != RG_N_BIN || (s->op != RG_ADD && s->op != RG_SUB))
            return NULL;
        const rg_node *x = strip_casts(s->a), *y = strip_casts(s->b);
        if (s->op == RG_ADD && is_var(y, n->a->var)) {
            const rg_node *t = x;
            x = y;
            y = t;
        }
        if (!is_var(x, n->a->var) || !rg_const_int(NULL, y, step))
            return NULL;
        *step = s->op == RG_ADD ? *step : -*step;
        return n->a->var;
    }
    return NULL;
}

typedef struct invariance {
    rg_parser *p;
    const rg_stmt *loop;
    const rg_var *v;
    bool ok;
    rg_loc loc;
} invariance;

/* Does the loop's body write through pointers? */
static bool writes_memory(const invariance *x) {
    for (uint32_t i = x->loop->begin.writes; i < x->loop->end.writes; i++)
        if (!x->p->unit->writes.at[i].var)
            return true;
    return false;
}

/* An element of constant data, or of a kernel's const array: a launch refuses written overlaps. */
static bool is_never_written(const rg_node *n) {
    const rg_var *v = rg_node_base(n);
    return v && n->type->is_const &&
           (v->is_static || (v->is_param && v->func && v->func->is_kernel));
}

static void check_invariant(void *user, rg_node *n) {
    invariance *x = user;
    bool ok = true;
    switch (n->kind) {
    case RG_N_VAR: {
        const rg_var *v = n->var;
        ok = v != x->v && !rg_var_written(v, x->loop->begin, x->loop->end) &&
             !(v->address_taken && writes_memory(x));
        break;
    }
    case RG_N_INDEX:
    case RG_N_DEREF:
        ok = n->a->type->kind == RG_C_ARRAY || is_never_written(n) || !writes_memory(x);
        break;
    case RG_N_CALL: /* without pointers it can depend on its arguments only */
        for (uint32_t i = 0; i < n->nargs; i++)
            ok &= n->func->params.at[i]->type->kind != RG_C_PTR ||
                  (rg_ctype_innermost(n->func->params.at[i]->type->base, NULL)->is_const &&
                   !writes_memory(x));
        break;
    case RG_N_MATH:
        ok = n->math->kind != RG_MATH_MODF && n->math->kind != RG_MATH_FREXP &&
             n->math->kind != RG_MATH_SINCOS;
        break;
    case RG_N_ASSIGN:
    case RG_N_OPASSIGN:
    case RG_N_INCDEC:
        ok = false;
        break;
    default:
        break;
    }
    if (!ok && x->ok) {
        x->ok = false;
        x->loc = n->loc;
    }
}

static const char *no(rg_counted *c, rg_loc loc, const char *why) {
    c->why = why;
    c->why_loc = loc;
    return why;
}

/* for (v = lo; v-- > hi;): what stands in the condition is the step. */
static bool find_countdown(const rg_stmt *s, rg_counted *c) {
    const rg_node *e = s->e;
    const rg_node *dec = e, *hi = NULL;
    rg_op rel = RG_GT;
    if (e->kind == RG_N_CMP) {
        dec = strip_casts(e->a);
        hi = e->b;
        rel = (rg_op)e->op;
    }
    if (s->step || dec->kind != RG_N_INCDEC || !dec->post || dec->op != RG_SUB ||
        dec->a->kind != RG_N_VAR || rel != RG_GT)
        return false;
    if (hi && e->a->type->kind != rg_ctype_promote(dec->a->type)->kind)
        return false;
    c->var = dec->a->var;
    c->countdown = true;
    c->step = -1;
    c->rel = RG_GT;
    c->hi = (rg_node *)hi;
    return true;
}

static const char *find(rg_parser *p, rg_stmt *s, rg_counted *c) {
    if (!s->e || s->e->kind == RG_N_ERROR)
        return no(c, s->loc, "it needs a condition: i < n");
    bool countdown = find_countdown(s, c);
    if (!countdown) {
        c->var = find_step(s->step, &c->step);
        if (!c->var)
            return no(c, s->step ? s->step->loc : s->loc,
                      "its step must be i++, i--, i += c or i -= c");
        if (!c->step)
            return no(c, s->step->loc, "its step is zero");
    }
    rg_var *v = c->var;
    if (v->type->kind < RG_C_INT || v->type->kind > RG_C_ULONG)
        return no(c, s->loc, "its variable must be an int, unsigned, long or size_t");
    if (s->init && s->init->kind == RG_S_DECL) {
        for (uint32_t i = 0; i < s->init->n; i++)
            c->declares |= s->init->vars[i] == v;
        if (c->declares && s->init->n == 1 && v->init.n == 1)
            c->lo = v->init.at[0].value;
    } else if (s->init && s->init->e->kind == RG_N_ASSIGN && is_var(s->init->e->a, v)) {
        c->lo = s->init->e->b;
    }
    if (!countdown) {
        rg_node *e = s->e;
        if (e->kind != RG_N_CMP || e->op == RG_EQ)
            return no(
                c, e->loc,
                "its condition must be i < n, <=, >, >= or != with the variable alone on one side");
        bool left = is_var(strip_casts(e->a), v);
        if (!left && !is_var(strip_casts(e->b), v))
            return no(c, e->loc, "its condition must compare the variable that the step changes");
        c->hi = left ? e->b : e->a;
        c->rel = left ? (rg_op)e->op : rg_op_mirrored((rg_op)e->op);
        c->cmp = e->a->type;
    } else {
        c->cmp = v->type;
    }
    if (!rg_ctype_is_int(c->cmp))
        return no(c, s->e->loc, "its bound must be an integer: cast it, (int)");
    bool up = c->step > 0;
    if (c->rel != RG_NE && up != (c->rel == RG_LT || c->rel == RG_LE))
        return no(c, s->e->loc, "its step leads away from its bound");
    if (c->rel == RG_NE && (c->step < -1 || c->step > 1))
        return no(c, s->e->loc, "a condition with != needs a step of 1 or -1");
    bool parallel = p->in_parallel && p->breakable < p->parallel_breakable;
    if (c->rel == RG_NE && rg_ctype_is_unsigned(c->cmp) && !parallel)
        return no(c, s->e->loc, "with !=, an unsigned variable may wrap around");
    int64_t k;
    if (c->cmp->kind != v->type->kind) {
        bool safe = up && (!rg_ctype_is_unsigned(c->cmp) || rg_ctype_is_unsigned(v->type) ||
                           (c->lo && rg_const_int(NULL, c->lo, &k) && k >= 0));
        if (!safe)
            return no(c, s->e->loc,
                      "its variable and its bound have different types: give them the same");
    }
    if (c->rel == RG_GE && rg_ctype_is_unsigned(v->type) && rg_const_int(NULL, c->hi, &k) && k == 0)
        return no(c, s->e->loc, "an unsigned variable is always >= 0, so it never ends");
    if (rg_var_written(v, s->begin, s->end))
        return no(c, v->last_write, "its body changes the loop variable");
    if (v->address_taken)
        return no(c, v->loc, "the address of the loop variable is taken");
    if (c->hi) {
        invariance x = {p, s, v, true, 0};
        rg_node_walk(c->hi, check_invariant, &x);
        if (!x.ok)
            return no(
                c, x.loc,
                "its bound changes in the body, or may change: keep it in a local before the loop");
    }
    return NULL;
}

void rg_counted_find(rg_parser *p, rg_stmt *s) {
    s->counted = RG_NEW(p->arena, rg_counted);
    find(p, s, s->counted);
}
