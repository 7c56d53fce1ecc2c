/* Constant expressions: evaluation on the typed tree, by C's rules for each type.
 *
 * Reads of constants with a known initialiser count, so `static const int n = 4; float a[n];` is
 * an array of constant length here (C makes it a variable-length one of the same length). */
#include "ir/eval.h"
#include "lang/check.h"

static bool eval(const rg_node *n, rg_const *out, uint32_t depth);

static bool eval_cast(const rg_ctype *from, const rg_ctype *to, rg_const x, rg_const *out) {
    rg_type a = rg_ctype_value(from), b = rg_ctype_value(to);
    rg_mem m = rg_ctype_mem(to);
    if (a != b) {
        if (b == RG_BOOL)
            x.i = rg_type_is_float(a) ? x.f != 0 : x.i != 0;
        else if (!rg_eval(RG_CAST, b, a, 0, &x, &x))
            return false;
    }
    *out = rg_eval_wrap(m, x);
    return true;
}

static bool as_bool(const rg_node *n, bool *out, uint32_t depth) {
    rg_const x;
    if (!eval(n, &x, depth))
        return false;
    *out = rg_ctype_is_float(n->type) ? x.f != 0 : x.i != 0;
    return true;
}

static bool eval(const rg_node *n, rg_const *out, uint32_t depth) {
    if (depth > 300 || !rg_ctype_is_arith(n->type))
        return false;
    depth++;
    rg_const x[3];
    rg_type t = rg_ctype_value(n->type);
    bool p, q;
    switch (n->kind) {
    case RG_N_INT:
        out->i = n->i;
        return true;
    case RG_N_REAL:
        out->f = n->f;
        return true;
    case RG_N_VAR: {
        const rg_var *v = n->var;
        if (!v->is_static || !v->ready || v->init.n != 1 || !rg_ctype_is_arith(v->type))
            return false;
        return eval(v->init.at[0].value, out, depth);
    }
    case RG_N_NEG:
        return eval(n->a, x, depth) && rg_eval(RG_NEG, t, t, 0, x, out);
    case RG_N_BITNOT:
        return eval(n->a, x, depth) && rg_eval(RG_NOT, t, t, 0, x, out);
    case RG_N_NOT:
        if (!as_bool(n->a, &p, depth))
            return false;
        out->i = !p;
        return true;
    case RG_N_BIN:
        return eval(n->a, &x[0], depth) && eval(n->b, &x[1], depth) &&
               rg_eval((rg_op)n->op, t, t, 0, x, out);
    case RG_N_CMP:
        if (!eval(n->a, &x[0], depth) || !eval(n->b, &x[1], depth) ||
            !rg_eval((rg_op)n->op, RG_BOOL, rg_ctype_value(n->a->type), 0, x, out))
            return false;
        out->i = out->i != 0;
        return true;
    case RG_N_LAND:
    case RG_N_LOR:
        if (!as_bool(n->a, &p, depth))
            return false;
        if (p == (n->kind == RG_N_LOR)) {
            out->i = p;
            return true;
        }
        if (!as_bool(n->b, &q, depth))
            return false;
        out->i = q;
        return true;
    case RG_N_COND:
        return as_bool(n->a, &p, depth) && eval(p ? n->b : n->c, out, depth);
    case RG_N_CAST:
        return rg_ctype_is_arith(n->a->type) && eval(n->a, x, depth) &&
               eval_cast(n->a->type, n->type, x[0], out);
    case RG_N_MATH:
        if (n->math->kind != RG_MATH_OP)
            return false;
        for (uint32_t i = 0; i < n->nargs; i++)
            if (!eval(n->args[i], &x[i], depth))
                return false;
        return rg_eval(n->math->op, t, t, 0, x, out);
    default:
        return false;
    }
}

bool rg_const_int(rg_parser *p, const rg_node *n, int64_t *out) {
    rg_const x;
    if (rg_ctype_is_int(n->type) && eval(n, &x, 0)) {
        *out = x.i;
        return true;
    }
    if (p && !rg_node_bad(n))
        rg_error(p->diags, n->loc, "use numbers, enum constants, sizeof and const integers",
                 "expected a constant integer");
    return false;
}

bool rg_const_value(const rg_node *n, int64_t *i, double *f) {
    rg_const x;
    if (!eval(n, &x, 0))
        return false;
    if (rg_ctype_is_float(n->type))
        *f = x.f;
    else
        *i = x.i;
    return true;
}
