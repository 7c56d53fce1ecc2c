/* Adjoints by pragma: the two functions are found and their signatures compared.
 *
 * Of a device function `T f(A a, const B *b)` it is
 * `static void g(A a, A *a_b, const B *b, B *b_b, T r_b)`, the pointers a_b and b_b only after
 * parameters that hold floats, r_b only if f returns a number. Of a kernel it is a kernel whose
 * parameters are those of f, its arrays const, each that holds floats followed by its gradient (of
 * a value: a pointer). docs/kernel-c.md says it in words. */
#include "lang/custom.h"

#include <string.h>

static rg_func *find(rg_unit *u, const char *name, rg_loc loc) {
    for (uint32_t i = 0; i < u->funcs.n; i++)
        if (!strcmp(u->funcs.at[i]->name, name)) {
            if (u->funcs.at[i]->body)
                return u->funcs.at[i];
            break;
        }
    rg_error(u->diags, loc, "define it in this file", "there is no function '%s'", name);
    return NULL;
}

static bool holds_float(const rg_ctype *t) {
    if (t->kind == RG_C_STRUCT) {
        for (uint32_t i = 0; i < t->st->fields.n; i++)
            if (holds_float(t->st->fields.at[i].type))
                return true;
        return false;
    }
    if (t->kind == RG_C_ARRAY || t->kind == RG_C_PTR)
        return holds_float(t->base);
    return rg_ctype_is_float(t);
}

/* Same but for const. */
static bool same(const rg_ctype *a, const rg_ctype *b) {
    if (a->kind != b->kind)
        return false;
    if (a->kind == RG_C_PTR)
        return same(a->base, b->base);
    if (a->kind == RG_C_ARRAY)
        return same(a->base, b->base) && (a->len < 0 || b->len < 0 || a->len == b->len);
    return a->kind == RG_C_STRUCT ? a->st == b->st : true;
}

static bool is_const(const rg_ctype *t) {
    while (t->kind == RG_C_ARRAY)
        t = t->base;
    return t->is_const;
}

/* Of a device function: is there something whose cotangent an adjoint could start from? */
static bool gives_floats(const rg_func *f) {
    if (rg_ctype_is_float(f->type->base))
        return f->params.n > 0;
    if (f->type->base->kind != RG_C_VOID)
        return false;
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_ctype *t = f->params.at[k]->type;
        if (t->kind == RG_C_PTR && holds_float(t) && !is_const(t->base))
            return true;
    }
    return false;
}

static void wrong(rg_unit *u, const rg_func *f, const rg_func *g, uint32_t k, const char *want) {
    const rg_var *v = k < g->params.n ? g->params.at[k] : NULL;
    rg_error(
        u->diags, v ? v->loc : g->loc,
        f->is_kernel
            ? "its parameters are those of the kernel, arrays const; each that holds floats is "
              "followed by a pointer to its gradient"
            : "its parameters are those of the function, pointers to const, each that holds floats "
              "followed by a pointer to what it gets; the last is the cotangent of the result, "
              "if it has one",
        "'%s' is no adjoint of '%s': parameter %u should be %s", g->name, f->name, k + 1, want);
}

static bool fits(rg_unit *u, const rg_func *f, const rg_func *g) {
    rg_arena *a = u->arena;
    uint32_t k = 0;
    for (uint32_t i = 0; i < f->params.n; i++) {
        const rg_var *p = f->params.at[i], *q = k < g->params.n ? g->params.at[k] : NULL;
        bool array = p->type->kind == RG_C_PTR;
        if (!q || !same(p->type, q->type) || (array && !is_const(q->type->base))) {
            wrong(u, f, g, k,
                  rg_format(a, "'%s' of '%s'%s", p->name, f->name, array ? ", const" : ""));
            return false;
        }
        k++;
        if (!holds_float(p->type))
            continue;
        q = k < g->params.n ? g->params.at[k] : NULL;
        const rg_ctype *to = array ? p->type->base : p->type;
        if (!q || q->type->kind != RG_C_PTR || !same(q->type->base, to) ||
            is_const(q->type->base)) {
            wrong(u, f, g, k, rg_format(a, "a pointer to the gradient of '%s'", p->name));
            return false;
        }
        k++;
    }
    if (!f->is_kernel && f->type->base->kind != RG_C_VOID) {
        const rg_var *q = k < g->params.n ? g->params.at[k] : NULL;
        if (!q || !same(q->type, f->type->base)) {
            wrong(u, f, g, k, "the cotangent of the result, by value");
            return false;
        }
        k++;
    }
    if (k != g->params.n)
        wrong(u, f, g, k, "the last but for none: there are too many");
    return k == g->params.n;
}

void rg_find_adjoints(rg_unit *u) {
    for (uint32_t i = 0; i < u->adjoints.n; i++) {
        const rg_adjoint_pragma *a = &u->adjoints.at[i];
        rg_func *f = find(u, a->of, a->of_loc), *g = find(u, a->by, a->by_loc);
        if (!f || !g)
            continue;
        if (f->adjoint) {
            rg_error(u->diags, a->of_loc, "keep one of the two", "'%s' has an adjoint already",
                     f->name);
            continue;
        }
        if (g->type->base->kind != RG_C_VOID || f == g || g->is_kernel != f->is_kernel) {
            rg_error(u->diags, a->by_loc,
                     f->is_kernel ? "make it a kernel: not static, returning void"
                                  : "make it static, returning void",
                     "'%s' cannot be the adjoint of '%s'", g->name, f->name);
            continue;
        }
        if (!f->is_kernel && !gives_floats(f)) {
            rg_error(
                u->diags, a->of_loc,
                "return one number, or write through pointers and return nothing; a kernel may "
                "have an adjoint of any kind",
                "'%s' does not compute a float or double from its arguments", f->name);
            continue;
        }
        if (fits(u, f, g))
            f->adjoint = g;
    }
}
