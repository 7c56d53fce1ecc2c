/* The known functions: one IR op each, or a few. */
#include "lang/lower.h"

#include "lang/builtin.h"

#include <math.h>

static rg_val real(rg_lower *l, rg_type t, double v) {
    return rg_b_real(l->b, t, v);
}

static rg_val less_than_inf(rg_lower *l, rg_val x) {
    rg_type t = rg_type_of(l->fn, x);
    return rg_b_op2(l->b, RG_LT, rg_b_op1(l->b, RG_FABS, x), real(l, t, (double)INFINITY));
}

/* frexp: fraction in [0.5, 1) and power of two. ilogb gives the power; scaling in two steps keeps
 * the factor representable down to the smallest subnormal. Zero, infinity and NaN: themselves, 0.
 */
static rg_val lower_frexp(rg_lower *l, rg_val x, rg_val *power) {
    rg_type t = rg_type_of(l->fn, x);
    rg_val usual =
        rg_b_op2(l->b, RG_AND, less_than_inf(l, x), rg_b_op2(l->b, RG_NE, x, rg_b_zero(l->b, t)));
    rg_val safe = rg_b_op3(l->b, RG_SELECT, usual, x, real(l, t, 1));
    rg_val e = rg_b_op2(l->b, RG_ADD, rg_b_pure(l->b, RG_ILOGB, RG_I32, &safe, 1, 0),
                        rg_b_int(l->b, RG_I32, 1));
    rg_val half = rg_b_op2(l->b, RG_DIV, e, rg_b_int(l->b, RG_I32, 2));
    rg_val rest = rg_b_op2(l->b, RG_SUB, e, half);
    rg_val f = rg_b_op2(l->b, RG_LDEXP, x, rg_b_op1(l->b, RG_NEG, half));
    f = rg_b_op2(l->b, RG_LDEXP, f, rg_b_op1(l->b, RG_NEG, rest));
    *power = rg_b_op3(l->b, RG_SELECT, usual, e, rg_b_int(l->b, RG_I32, 0));
    return rg_b_op3(l->b, RG_SELECT, usual, f, x);
}

rg_val rg_lower_math(rg_lower *l, rg_node *n) {
    const rg_math *m = n->math;
    rg_val x[3] = {0, 0, 0};
    rg_ref to[3];
    for (uint32_t i = 0; i < n->nargs; i++) {
        if (n->args[i]->type->kind == RG_C_PTR)
            to[i] = rg_lower_pointer(l, n->args[i]);
        else if (rg_ctype_is_arith(n->args[i]->type))
            x[i] = rg_lower_value(l, n->args[i]);
    }
    l->b->loc = n->loc;
    rg_type t = x[0] ? rg_type_of(l->fn, x[0]) : RG_F32;
    switch (m->kind) {
    case RG_MATH_OP:
        return m->nargs == 1   ? rg_b_op1(l->b, m->op, x[0])
               : m->nargs == 2 ? rg_b_op2(l->b, m->op, x[0], x[1])
                               : rg_b_op3(l->b, m->op, x[0], x[1], x[2]);
    case RG_MATH_TEST:
        return rg_b_op1(l->b, m->op, x[0]);
    case RG_MATH_CMP:
    case RG_MATH_SCALE:
        return rg_b_op2(l->b, m->op, x[0], x[1]);
    case RG_MATH_LESSGREATER:
        return rg_b_op2(l->b, RG_OR, rg_b_op2(l->b, RG_LT, x[0], x[1]),
                        rg_b_op2(l->b, RG_GT, x[0], x[1]));
    case RG_MATH_FPCLASS_UNORDERED:
        return rg_b_op2(l->b, RG_OR, rg_b_op1(l->b, RG_ISNAN, x[0]),
                        rg_b_op1(l->b, RG_ISNAN, x[1]));
    case RG_MATH_ISFINITE:
        return less_than_inf(l, x[0]);
    case RG_MATH_ISNORMAL:
        return rg_b_op2(l->b, RG_AND, less_than_inf(l, x[0]),
                        rg_b_op2(l->b, RG_GE, rg_b_op1(l->b, RG_FABS, x[0]),
                                 real(l, t, t == RG_F32 ? 0x1p-126 : 0x1p-1022)));
    case RG_MATH_TOLONG:
        return rg_b_cast(l->b, RG_I64, rg_b_op1(l->b, m->op, x[0]));
    case RG_MATH_INTABS: {
        rg_val neg = rg_b_op2(l->b, RG_LT, x[0], rg_b_zero(l->b, t));
        return rg_b_op3(l->b, RG_SELECT, neg, rg_b_op1(l->b, RG_NEG, x[0]), x[0]);
    }
    case RG_MATH_ILOGB:
        return rg_b_pure(l->b, RG_ILOGB, RG_I32, x, 1, 0);
    case RG_MATH_STOP:
        return rg_b_op1(l->b, RG_STOP, x[0]);
    case RG_MATH_MODF: {
        /* the fraction keeps the sign, also of a zero; of an infinity it is zero */
        rg_val whole = rg_b_op1(l->b, RG_TRUNC, x[0]);
        rg_place_store(l, &to[1], whole);
        rg_val f = rg_b_op2(l->b, RG_SUB, x[0], whole);
        rg_val inf = rg_b_op1(l->b, RG_ISINF, x[0]);
        f = rg_b_op3(l->b, RG_SELECT, inf, rg_b_zero(l->b, t), f);
        return rg_b_op2(l->b, RG_COPYSIGN, f, x[0]);
    }
    case RG_MATH_FREXP: {
        rg_val power;
        rg_val f = lower_frexp(l, x[0], &power);
        rg_place_store(l, &to[1], power);
        return f;
    }
    case RG_MATH_SINCOS:
        rg_place_store(l, &to[1], rg_b_op1(l->b, RG_SIN, x[0]));
        rg_place_store(l, &to[2], rg_b_op1(l->b, RG_COS, x[0]));
        return 0;
    }
    return 0;
}
