/* What the parts of the maths library share: short names for building, and one another. */
#ifndef RG_EMIT_MATHLIB_PARTS_H
#define RG_EMIT_MATHLIB_PARTS_H

#include "ir/build.h"

/* A float type and the integer of its width, with the numbers that describe them. */
typedef struct rg_mb {
    rg_build *b;
    rg_type t, u; /* float, unsigned integer */
    bool f64;
    int mantissa; /* explicit bits: 23, 52 */
    int bias;     /* 127, 1023 */
} rg_mb;

static inline rg_val m_k(const rg_mb *m, double v) {
    return rg_b_real(m->b, m->t, v);
}
/* A constant that differs: f32, f64. */
static inline rg_val m_k2(const rg_mb *m, double single, double full) {
    return rg_b_real(m->b, m->t, m->f64 ? full : single);
}
static inline rg_val m_i(const rg_mb *m, uint64_t v) { /* of the integer type */
    return rg_b_int(m->b, m->u, (int64_t)v);
}
static inline rg_val m_i32(const rg_mb *m, int32_t v) {
    return rg_b_int(m->b, RG_I32, v);
}
#define M_OP2(name, OP)                                                                            \
    static inline rg_val name(const rg_mb *m, rg_val a, rg_val c) {                                \
        return rg_b_op2(m->b, OP, a, c);                                                           \
    }
M_OP2(m_add, RG_ADD)
M_OP2(m_sub, RG_SUB)
M_OP2(m_mul, RG_MUL)
M_OP2(m_div, RG_DIV)
M_OP2(m_and, RG_AND)
M_OP2(m_or, RG_OR)
M_OP2(m_xor, RG_XOR)
M_OP2(m_lt, RG_LT)
M_OP2(m_le, RG_LE)
M_OP2(m_gt, RG_GT)
M_OP2(m_ge, RG_GE)
M_OP2(m_eq, RG_EQ)
M_OP2(m_ne, RG_NE)
#undef M_OP2
#define M_OP1(name, OP)                                                                            \
    static inline rg_val name(const rg_mb *m, rg_val a) {                                          \
        return rg_b_op1(m->b, OP, a);                                                              \
    }
M_OP1(m_neg, RG_NEG)
M_OP1(m_not, RG_NOT)
M_OP1(m_abs, RG_FABS)
M_OP1(m_sqrt, RG_SQRT)
M_OP1(m_rint, RG_RINT)
M_OP1(m_trunc, RG_TRUNC)
M_OP1(m_floor, RG_FLOOR)
M_OP1(m_isnan, RG_ISNAN)
#undef M_OP1
static inline rg_val m_sel(const rg_mb *m, rg_val c, rg_val a, rg_val b) {
    return rg_b_op3(m->b, RG_SELECT, c, a, b);
}
static inline rg_val m_shl(const rg_mb *m, rg_val a, int n) {
    return rg_b_op2(m->b, RG_SHL, a, rg_b_int(m->b, RG_I32, n));
}
static inline rg_val m_shr(const rg_mb *m, rg_val a, int n) {
    return rg_b_op2(m->b, RG_SHR, a, rg_b_int(m->b, RG_I32, n));
}
static inline rg_val m_bits(const rg_mb *m, rg_val x) {
    return rg_b_pure(m->b, RG_BITCAST, m->u, &x, 1, 0);
}
static inline rg_val m_float(const rg_mb *m, rg_val bits) {
    return rg_b_pure(m->b, RG_BITCAST, m->t, &bits, 1, 0);
}
static inline rg_val m_cast(const rg_mb *m, rg_type t, rg_val x) {
    return rg_b_cast(m->b, t, x);
}
static inline rg_val m_to_int(const rg_mb *m, rg_val x) { /* to i32 */
    return rg_b_cast(m->b, RG_I32, x);
}
static inline rg_val m_from_int(const rg_mb *m, rg_val x) {
    return rg_b_cast(m->b, m->t, x);
}
/* a x + c, which the device may round once or twice: only where both will do. */
rg_val rg_m_fma(const rg_mb *m, rg_val a, rg_val x, rg_val c);
/* k[0] + x * (k[1] + x * ...) */
rg_val rg_m_poly(const rg_mb *m, rg_val x, const double *k, int n);

/* A number as the unevaluated sum of two of its type. */
typedef struct rg_m2 {
    rg_val hi, lo;
} rg_m2;
rg_m2 rg_m_two_sum(const rg_mb *m, rg_val a, rg_val b);
rg_m2 rg_m_fast_sum(const rg_mb *m, rg_val a, rg_val b);    /* |a| >= |b| or a == 0 */
rg_m2 rg_m_two_product(const rg_mb *m, rg_val a, rg_val b); /* no overflow in 2^27 (2^12) a or b */
rg_m2 rg_m_mul2(const rg_mb *m, rg_m2 a, rg_m2 b);
rg_m2 rg_m_mul21(const rg_mb *m, rg_m2 a, rg_val b);
rg_m2 rg_m_add2(const rg_mb *m, rg_m2 a, rg_m2 b);
rg_m2 rg_m_add21(const rg_mb *m, rg_m2 a, rg_val b);
rg_m2 rg_m_div2(const rg_mb *m, rg_m2 a, rg_m2 b);

rg_val rg_m_inf(const rg_mb *m);
rg_val rg_m_nan(const rg_mb *m);
rg_val rg_m_signbit(const rg_mb *m, rg_val x);
rg_val rg_m_copysign(const rg_mb *m, rg_val magnitude, rg_val sign);
/* x * 2^k for i32 k, correctly rounded once; |k| up to twice the exponent range. */
rg_val rg_m_scale(const rg_mb *m, rg_val x, rg_val k);
/* x * 2^k where the result is normal and so is 2^k. */
rg_val rg_m_scale_normal(const rg_mb *m, rg_val x, rg_val k);
/* Finite x > 0 (subnormal too) = f * 2^k with f in [sqrt(1/2), sqrt(2)): returns f, sets *k (i32).
 */
rg_val rg_m_split(const rg_mb *m, rg_val x, rg_val *k);

/* exp of hi + lo; |hi| may be anything, NaN too. */
rg_val rg_m_exp2sum(const rg_mb *m, rg_val hi, rg_val lo);
/* log of finite x > 0 to about twice the precision. */
rg_m2 rg_m_log2sum(const rg_mb *m, rg_val x);
rg_val rg_m_exp(const rg_mb *m, rg_op op, rg_val x); /* exp exp2 expm1 sinh cosh tanh */
rg_val rg_m_log(const rg_mb *m, rg_op op, rg_val x); /* log log2 log10 log1p asinh acosh atanh */
rg_val rg_m_pow(const rg_mb *m, rg_op op, rg_val x, rg_val y); /* pow hypot; cbrt: y 0 */
rg_val rg_m_trig(const rg_mb *m, rg_op op, rg_val x);          /* sin cos tan */
rg_val rg_m_arc(const rg_mb *m, rg_op op, rg_val x, rg_val y); /* asin acos atan atan2 */
rg_val rg_m_special(const rg_mb *m, rg_op op, rg_val x);       /* erf erfc tgamma lgamma digamma */
/* sin(pi x) for |x| <= 1/4, and cos(pi x). */
rg_val rg_m_sinpi_small(const rg_mb *m, rg_val x);
rg_val rg_m_cospi_small(const rg_mb *m, rg_val x);

#endif
