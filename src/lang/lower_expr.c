/* Values of expressions.
 *
 * && || and ?: become `if` with a result where the part that may be skipped could fault, has
 * effects, or has a derivative that could be infinite; else they are plain logic and selects. */
#include "lang/lower.h"

#include "lang/builtin.h"
#include "lang/check.h"

rg_val rg_lower_convert(rg_lower *l, rg_val v, const rg_ctype *from, const rg_ctype *to) {
    rg_type t = rg_ctype_value(to);
    if (from->kind == to->kind)
        return v;
    if (t == RG_BOOL) {
        rg_type x = rg_type_of(l->fn, v);
        return x == RG_BOOL ? v : rg_b_op2(l->b, RG_NE, v, rg_b_zero(l->b, x));
    }
    v = rg_b_cast(l->b, t, v);
    rg_mem m = rg_ctype_mem(to);
    if (rg_type_mem(t) != m) {
        /* from a type whose values all fit: nothing to wrap */
        bool fits =
            from->kind == RG_C_BOOL || (from->kind == RG_C_CHAR && to->kind == RG_C_SHORT) ||
            (from->kind == RG_C_UCHAR && (to->kind == RG_C_SHORT || to->kind == RG_C_USHORT));
        if (!fits || m == RG_M_F16)
            v = rg_b_wrap(l->b, m, v);
    }
    return v;
}

static bool cheap(const rg_node *n, uint32_t *budget) {
    if (!n)
        return true;
    if (!*budget || !rg_ctype_is_arith(n->type))
        return false;
    --*budget;
    switch (n->kind) {
    case RG_N_INT:
    case RG_N_REAL:
    case RG_N_VAR:
        return true;
    case RG_N_MEMBER: {
        const rg_node *a = n->a;
        while (a->kind == RG_N_MEMBER)
            a = a->a;
        return a->kind == RG_N_VAR;
    }
    case RG_N_NEG:
    case RG_N_NOT:
    case RG_N_BITNOT:
    case RG_N_CAST:
        return cheap(n->a, budget);
    case RG_N_BIN:
        switch (n->op) {
        case RG_DIV:
        case RG_REM:
            if (n->b->kind != RG_N_INT && n->b->kind != RG_N_REAL)
                return false;
            if (n->b->kind == RG_N_INT ? n->b->i == 0 || n->b->i == -1 : n->b->f == 0)
                return false;
            break;
        case RG_SHL:
        case RG_SHR:
            if (n->b->kind != RG_N_INT)
                return false;
            break;
        default:
            break;
        }
        return cheap(n->a, budget) && cheap(n->b, budget);
    case RG_N_CMP:
    case RG_N_LAND:
    case RG_N_LOR:
        return cheap(n->a, budget) && cheap(n->b, budget);
    case RG_N_COND:
        return cheap(n->a, budget) && cheap(n->b, budget) && cheap(n->c, budget);
    case RG_N_MATH: {
        uint32_t f = rg_ops[n->math->op].flags;
        if ((n->math->kind != RG_MATH_OP && n->math->kind != RG_MATH_TEST) || !(f & RG_F_EXACT) ||
            (f & (RG_F_NFX | RG_F_NFY)))
            return false;
        for (uint32_t i = 0; i < n->nargs; i++)
            if (!cheap(n->args[i], budget))
                return false;
        return true;
    }
    default:
        return false;
    }
}

bool rg_is_cheap(const rg_node *n) {
    uint32_t budget = 10;
    return cheap(n, &budget);
}

static bool is_test(const rg_node *n) {
    if (n->kind != RG_N_MATH)
        return false;
    switch (n->math->kind) {
    case RG_MATH_TEST:
    case RG_MATH_CMP:
    case RG_MATH_ISFINITE:
    case RG_MATH_ISNORMAL:
    case RG_MATH_FPCLASS_UNORDERED:
    case RG_MATH_LESSGREATER:
        return true;
    default:
        return false;
    }
}

/* a && b, a || b */
static rg_val lower_logical(rg_lower *l, rg_node *n) {
    bool and = n->kind == RG_N_LAND;
    rg_val a = rg_lower_cond(l, n->a);
    int64_t k;
    if (rg_val_const_int(l->fn, a, &k))
        return (k != 0) == and? rg_lower_cond(l, n->b) : a;
    if (rg_is_cheap(n->b)) {
        rg_val b = rg_lower_cond(l, n->b);
        l->b->loc = n->loc;
        return rg_b_op2(l->b, and? RG_AND : RG_OR, a, b);
    }
    l->b->loc = n->loc;
    rg_iid i = rg_b_if(l->b, a);
    for (uint32_t r = 0; r < 2; r++) {
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[r]);
        rg_val v = (r == 0) == and? rg_lower_cond(l, n->b) : rg_b_bool(l->b, !and);
        rg_b_yield(l->b, &v, 1);
        rg_b_pop(l->b);
    }
    l->b->loc = n->loc;
    rg_b_if_done(l->b, i);
    return rg_result(l->fn, i, 0);
}

/* Pointers into one array compare by their last index. */
static bool pointer_pair(rg_lower *l, rg_node *n, rg_val out[2]) {
    rg_ref p = rg_lower_pointer(l, n->a), q = rg_lower_pointer(l, n->b);
    if (p.bad || q.bad)
        return false;
    bool same = p.array == q.array && p.leaf == q.leaf && p.n == q.n && p.n && !p.vals && !q.vals &&
                p.flat == q.flat && p.flat_at == q.flat_at;
    for (uint32_t i = 0; same && i + 1 < p.n; i++) {
        int64_t x, y;
        same = p.idx[i] == q.idx[i] || (rg_val_const_int(l->fn, p.idx[i], &x) &&
                                        rg_val_const_int(l->fn, q.idx[i], &y) && x == y);
    }
    if (!same) {
        rg_error(l->diags, n->loc, "compare indices instead",
                 "these pointers may point into different arrays");
        return false;
    }
    out[0] = rg_b_cast(l->b, RG_I64, p.idx[p.n - 1]);
    out[1] = rg_b_cast(l->b, RG_I64, q.idx[q.n - 1]);
    return true;
}

rg_val rg_lower_cond(rg_lower *l, rg_node *n) {
    l->b->loc = n->loc;
    rg_val x[2];
    switch (n->kind) {
    case RG_N_CMP:
        x[0] = rg_lower_value(l, n->a);
        x[1] = rg_lower_value(l, n->b);
        l->b->loc = n->loc;
        return rg_b_op2(l->b, (rg_op)n->op, x[0], x[1]);
    case RG_N_PTRCMP:
        if (!pointer_pair(l, n, x))
            return rg_b_bool(l->b, false);
        return rg_b_op2(l->b, (rg_op)n->op, x[0], x[1]);
    case RG_N_NOT:
        x[0] = rg_lower_cond(l, n->a);
        l->b->loc = n->loc;
        return rg_b_op1(l->b, RG_NOT, x[0]);
    case RG_N_LAND:
    case RG_N_LOR:
        return lower_logical(l, n);
    case RG_N_CAST:
        /* no value becomes zero or stops being zero on its way to bool or a wider integer */
        if (n->type->kind == RG_C_BOOL ||
            (rg_ctype_is_int(n->type) && rg_ctype_is_int(n->a->type) &&
             n->type->kind >= n->a->type->kind))
            return rg_lower_cond(l, n->a);
        break;
    case RG_N_MATH:
        if (is_test(n))
            return rg_lower_math(l, n);
        break;
    default:
        break;
    }
    x[0] = rg_lower_value(l, n);
    l->b->loc = n->loc;
    rg_type t = rg_type_of(l->fn, x[0]);
    return t == RG_BOOL ? x[0] : rg_b_op2(l->b, RG_NE, x[0], rg_b_zero(l->b, t));
}

static rg_val lower_conditional(rg_lower *l, rg_node *n) {
    rg_val c = rg_lower_cond(l, n->a);
    int64_t k;
    if (rg_val_const_int(l->fn, c, &k))
        return rg_lower_value(l, k ? n->b : n->c);
    if (rg_is_cheap(n->b) && rg_is_cheap(n->c)) {
        rg_val a = rg_lower_value(l, n->b), b = rg_lower_value(l, n->c);
        l->b->loc = n->loc;
        return rg_b_op3(l->b, RG_SELECT, c, a, b);
    }
    l->b->loc = n->loc;
    rg_iid i = rg_b_if(l->b, c);
    for (uint32_t r = 0; r < 2; r++) {
        rg_b_push(l->b, rg_ins_at(l->fn, i)->region[r]);
        rg_val v = rg_lower_value(l, r ? n->c : n->b);
        rg_b_yield(l->b, &v, 1);
        rg_b_pop(l->b);
    }
    l->b->loc = n->loc;
    rg_b_if_done(l->b, i);
    return rg_result(l->fn, i, 0);
}

/* In an adjoint by the user: p += v onto a gradient, to which other iterations may add. */
static void lower_sum(rg_lower *l, const rg_ref *p, rg_val v, bool minus) {
    if (minus)
        v = rg_b_op1(l->b, RG_NEG, v);
    rg_ref x = rg_place_indexed(l, p);
    rg_b_addto(l->b, x.array, x.leaf, x.idx, v, RG_INS_ACCUM);
}

static rg_node *strip(rg_node *n) {
    while (n->kind == RG_N_CAST && rg_ctype_is_arith(n->type) && rg_ctype_is_arith(n->a->type))
        n = n->a;
    return n;
}

/* x = x + e, x = e + x, x = x - e onto a gradient: e, else NULL. */
static rg_node *added(rg_node *n) {
    rg_node *s = strip(n->b);
    if (s->kind != RG_N_BIN || (s->op != RG_ADD && s->op != RG_SUB))
        return NULL;
    if (rg_node_equal(strip(s->a), n->a))
        return s->b;
    return s->op == RG_ADD && rg_node_equal(strip(s->b), n->a) ? s->a : NULL;
}

static bool lower_assigned_sum(rg_lower *l, rg_node *n) {
    rg_node *e = rg_ctype_is_float(n->type) ? added(n) : NULL;
    if (!e)
        return false;
    rg_ref p = rg_lower_place(l, n->a);
    if (p.bad || !p.cotangent)
        return false;
    rg_val v = rg_lower_value(l, e);
    l->b->loc = n->loc;
    lower_sum(l, &p, rg_lower_convert(l, v, e->type, n->type), strip(n->b)->op == RG_SUB);
    return true;
}

static rg_val lower_update(rg_lower *l, rg_node *n, bool used) {
    const rg_ctype *t = n->a->type;
    rg_val rhs = 0;
    if (n->kind == RG_N_OPASSIGN)
        rhs = rg_lower_value(l, n->b);
    rg_ref p = rg_lower_place(l, n->a);
    l->b->loc = n->loc;
    if (p.cotangent && !p.bad && !used && rg_ctype_is_float(t) &&
        (n->op == RG_ADD || n->op == RG_SUB)) {
        rg_type c = rg_ctype_value(n->compute);
        rg_val v = n->kind == RG_N_INCDEC ? rg_b_real(l->b, c, 1) : rhs;
        lower_sum(l, &p, rg_lower_convert(l, v, n->compute, t), n->op == RG_SUB);
        return 0;
    }
    rg_val old = rg_place_load(l, &p);
    rg_type ct = rg_ctype_value(n->compute);
    if (p.bad)
        return rg_b_zero(l->b, rg_ctype_value(t));
    rg_val x = rg_lower_convert(l, old, t, n->compute);
    if (n->kind == RG_N_INCDEC)
        rhs = rg_type_is_float(ct) ? rg_b_real(l->b, ct, 1) : rg_b_int(l->b, ct, 1);
    rg_val v = rg_lower_convert(l, rg_b_op2(l->b, (rg_op)n->op, x, rhs), n->compute, t);
    rg_place_store(l, &p, v);
    return n->kind == RG_N_INCDEC && n->post ? old : v;
}

static void lower_reduce(rg_lower *l, rg_node *n) {
    const rg_binding *b = n->a->var->bind;
    if (!b || b->kind != RG_BIND_REDUCE)
        return;
    rg_val acc = rg_hidden_get(l, b->array);
    for (uint32_t i = 0; i < n->nargs; i++) {
        rg_val v = b->logical ? rg_lower_cond(l, n->args[i]) : rg_lower_value(l, n->args[i]);
        v = rg_b_cast(l->b, rg_type_of(l->fn, acc), v);
        l->b->loc = n->loc;
        acc = rg_b_red(l->b, b->red, acc, v);
    }
    rg_hidden_set(l, b->array, acc);
}

static rg_val lower_const(rg_lower *l, const rg_ctype *t, int64_t i, double f) {
    rg_type v = rg_ctype_value(t);
    return rg_type_is_float(v) ? rg_b_real(l->b, v, f) : rg_b_int(l->b, v, i);
}

rg_val rg_lower_value(rg_lower *l, rg_node *n) {
    l->b->loc = n->loc;
    rg_val a, b;
    switch (n->kind) {
    case RG_N_INT:
        return lower_const(l, n->type, n->i, 0);
    case RG_N_REAL:
        return lower_const(l, n->type, 0, n->f);
    case RG_N_VAR:
    case RG_N_MEMBER:
    case RG_N_INDEX:
    case RG_N_DEREF:
    case RG_N_LITERAL: {
        rg_ref p = rg_lower_place(l, n);
        l->b->loc = n->loc;
        return rg_place_load(l, &p);
    }
    case RG_N_NEG:
        a = rg_lower_value(l, n->a);
        l->b->loc = n->loc;
        return rg_b_op1(l->b, RG_NEG, a);
    case RG_N_BITNOT:
        a = rg_lower_value(l, n->a);
        l->b->loc = n->loc;
        return rg_b_op1(l->b, RG_NOT, a);
    case RG_N_BIN:
        a = rg_lower_value(l, n->a);
        b = rg_lower_value(l, n->b);
        l->b->loc = n->loc;
        return rg_b_op2(l->b, (rg_op)n->op, a, b);
    case RG_N_NOT:
    case RG_N_CMP:
    case RG_N_LAND:
    case RG_N_LOR:
    case RG_N_PTRCMP:
        return rg_b_cast(l->b, RG_I32, rg_lower_cond(l, n));
    case RG_N_PTRDIFF: {
        rg_val x[2];
        if (!pointer_pair(l, n, x))
            return rg_b_int(l->b, RG_I64, 0);
        return rg_b_op2(l->b, RG_SUB, x[0], x[1]);
    }
    case RG_N_COND:
        return lower_conditional(l, n);
    case RG_N_COMMA:
        rg_lower_effect(l, n->a);
        return rg_lower_value(l, n->b);
    case RG_N_ASSIGN: {
        a = rg_lower_value(l, n->b);
        rg_ref p = rg_lower_place(l, n->a);
        l->b->loc = n->loc;
        rg_place_store(l, &p, a);
        return a;
    }
    case RG_N_OPASSIGN:
    case RG_N_INCDEC:
        return lower_update(l, n, true);
    case RG_N_CAST:
        if (n->type->kind == RG_C_BOOL)
            return rg_lower_cond(l, n->a);
        a = rg_lower_value(l, n->a);
        l->b->loc = n->loc;
        return rg_lower_convert(l, a, n->a->type, n->type);
    case RG_N_CALL: {
        rg_ref unused;
        return rg_lower_call(l, n, &unused);
    }
    case RG_N_MATH:
        a = rg_lower_math(l, n);
        return is_test(n) ? rg_b_cast(l->b, RG_I32, a) : a;
    case RG_N_REDUCE:
        lower_reduce(l, n);
        return rg_b_zero(l->b, rg_ctype_value(n->type));
    default:
        rg_error(l->diags, n->loc, "use an array and an index",
                 "this expression has no value here");
        return rg_b_zero(l->b, rg_ctype_value(n->type));
    }
}

void rg_lower_effect(rg_lower *l, rg_node *n) {
    l->b->loc = n->loc;
    if (n->kind == RG_N_COMMA) {
        rg_lower_effect(l, n->a);
        rg_lower_effect(l, n->b);
    } else if (n->kind == RG_N_CAST && n->type->kind == RG_C_VOID) {
        rg_lower_effect(l, n->a);
    } else if (n->kind == RG_N_CALL) {
        rg_ref unused;
        rg_lower_call(l, n, &unused);
    } else if (n->kind == RG_N_COND &&
               (n->type->kind == RG_C_VOID || !rg_is_cheap(n->b) || !rg_is_cheap(n->c))) {
        rg_iid i = rg_b_if(l->b, rg_lower_cond(l, n->a));
        for (uint32_t r = 0; r < 2; r++) {
            rg_b_push(l->b, rg_ins_at(l->fn, i)->region[r]);
            rg_lower_effect(l, r ? n->c : n->b);
            rg_b_yield(l->b, NULL, 0);
            rg_b_pop(l->b);
        }
        rg_b_if_done(l->b, i);
    } else if (n->kind == RG_N_MATH) {
        rg_lower_math(l, n);
    } else if (l->in_adjoint && n->kind == RG_N_ASSIGN && rg_ctype_is_arith(n->type) &&
               lower_assigned_sum(l, n)) {
        return;
    } else if ((n->kind == RG_N_OPASSIGN || n->kind == RG_N_INCDEC) && rg_ctype_is_arith(n->type)) {
        lower_update(l, n, false);
    } else if (rg_ctype_is_arith(n->type)) {
        rg_lower_value(l, n);
    } else if (n->type->kind == RG_C_PTR) {
        rg_lower_pointer(l, n);
    } else if (n->type->kind == RG_C_STRUCT) {
        rg_lower_place(l, n);
    }
}
