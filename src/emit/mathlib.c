/* The library's front, and the functions that are exact: they move bits.
 *
 * One text serves f32 and f64: a function is built from a description of its type (rg_mb),
 * constants are rounded to the type as they are made, and only what depends on the precision
 * differs. Nothing uses a wider type, so f32 functions run on devices without doubles. Products and
 * sums keep their order and are never contracted, which the two-term arithmetic relies on. */
#include "emit/mathlib.h"

#include "emit/mathlib_parts.h"

static rg_mb mb_of(rg_build *b, rg_type t) {
    bool f64 = t == RG_F64;
    return (rg_mb){.b = b,
                   .t = t,
                   .u = f64 ? RG_U64 : RG_U32,
                   .f64 = f64,
                   .mantissa = f64 ? 52 : 23,
                   .bias = f64 ? 1023 : 127};
}

rg_val rg_m_fma(const rg_mb *m, rg_val a, rg_val x, rg_val c) {
    rg_val product = m_mul(m, a, x), sum = m_add(m, product, c);
    rg_fn *f = m->b->fn;
    for (int k = 0; k < 2; k++) {
        rg_val v = k ? sum : product;
        if (f->vals.at[v].def && rg_def_op(f, v) != RG_CONST)
            rg_ins_at(f, f->vals.at[v].def)->flags |= RG_INS_LOOSE;
    }
    return sum;
}

rg_val rg_m_poly(const rg_mb *m, rg_val x, const double *k, int n) {
    rg_val r = m_k(m, k[n - 1]);
    while (--n > 0)
        r = rg_m_fma(m, r, x, m_k(m, k[n - 1]));
    return r;
}

/* ---- two-term arithmetic: Dekker, Knuth ---- */

rg_m2 rg_m_two_sum(const rg_mb *m, rg_val a, rg_val b) {
    rg_val s = m_add(m, a, b), bb = m_sub(m, s, a);
    rg_val e = m_add(m, m_sub(m, a, m_sub(m, s, bb)), m_sub(m, b, bb));
    return (rg_m2){s, e};
}

rg_m2 rg_m_fast_sum(const rg_mb *m, rg_val a, rg_val b) {
    rg_val s = m_add(m, a, b);
    return (rg_m2){s, m_sub(m, b, m_sub(m, s, a))};
}

/* Upper half of the significand. By bits: cannot overflow, and nothing can be contracted. */
static rg_val upper(const rg_mb *m, rg_val a) {
    uint64_t mask = m->f64 ? ~(((uint64_t)1 << 27) - 1) : 0xfffff000u;
    return m_float(m, m_and(m, m_bits(m, a), m_i(m, mask)));
}

rg_m2 rg_m_two_product(const rg_mb *m, rg_val a, rg_val b) {
    rg_val p = m_mul(m, a, b);
    rg_val ah = upper(m, a), al = m_sub(m, a, ah), bh = upper(m, b), bl = m_sub(m, b, bh);
    rg_val e = m_sub(m, m_mul(m, ah, bh), p);
    e = m_add(m, e, m_mul(m, ah, bl));
    e = m_add(m, e, m_mul(m, al, bh));
    e = m_add(m, e, m_mul(m, al, bl));
    return (rg_m2){p, e};
}

rg_m2 rg_m_mul21(const rg_mb *m, rg_m2 a, rg_val b) {
    rg_m2 p = rg_m_two_product(m, a.hi, b);
    return rg_m_fast_sum(m, p.hi, m_add(m, p.lo, m_mul(m, a.lo, b)));
}

rg_m2 rg_m_mul2(const rg_mb *m, rg_m2 a, rg_m2 b) {
    rg_m2 p = rg_m_two_product(m, a.hi, b.hi);
    rg_val cross = m_add(m, m_mul(m, a.hi, b.lo), m_mul(m, a.lo, b.hi));
    return rg_m_fast_sum(m, p.hi, m_add(m, p.lo, cross));
}

rg_m2 rg_m_add2(const rg_mb *m, rg_m2 a, rg_m2 b) {
    rg_m2 s = rg_m_two_sum(m, a.hi, b.hi);
    return rg_m_fast_sum(m, s.hi, m_add(m, s.lo, m_add(m, a.lo, b.lo)));
}

rg_m2 rg_m_add21(const rg_mb *m, rg_m2 a, rg_val b) {
    rg_m2 s = rg_m_two_sum(m, a.hi, b);
    return rg_m_fast_sum(m, s.hi, m_add(m, s.lo, a.lo));
}

rg_m2 rg_m_div2(const rg_mb *m, rg_m2 a, rg_m2 b) {
    rg_val q = m_div(m, a.hi, b.hi);
    rg_m2 p = rg_m_mul21(m, b, q);
    rg_val r = m_sub(m, m_sub(m, a.hi, p.hi), p.lo);
    r = m_add(m, r, a.lo);
    return rg_m_fast_sum(m, q, m_div(m, r, b.hi));
}

/* ---- bits ---- */

static uint64_t sign_mask(const rg_mb *m) {
    return m->f64 ? (uint64_t)1 << 63 : 0x80000000u;
}

rg_val rg_m_inf(const rg_mb *m) {
    return m_float(m, m_i(m, m->f64 ? (uint64_t)0x7ff << 52 : 0x7f800000u));
}
rg_val rg_m_nan(const rg_mb *m) {
    return m_float(m, m_i(m, m->f64 ? (uint64_t)0xfff << 51 : 0x7fc00000u));
}

rg_val rg_m_signbit(const rg_mb *m, rg_val x) {
    return m_ne(m, m_and(m, m_bits(m, x), m_i(m, sign_mask(m))), m_i(m, 0));
}

rg_val rg_m_copysign(const rg_mb *m, rg_val magnitude, rg_val sign) {
    rg_val a = m_and(m, m_bits(m, magnitude), m_i(m, ~sign_mask(m)));
    rg_val s = m_and(m, m_bits(m, sign), m_i(m, sign_mask(m)));
    return m_float(m, m_or(m, a, s));
}

/* 2^k, k in the normal range. */
static rg_val power_of_2(const rg_mb *m, rg_val k) {
    rg_val e = m_cast(m, m->u, m_add(m, k, m_i32(m, m->bias)));
    return m_float(m, m_shl(m, e, m->mantissa));
}

rg_val rg_m_scale_normal(const rg_mb *m, rg_val x, rg_val k) {
    return m_mul(m, x, power_of_2(m, k));
}

static rg_val clamp(const rg_mb *m, rg_val k, int lo, int hi) {
    k = m_sel(m, m_lt(m, k, m_i32(m, lo)), m_i32(m, lo), k);
    return m_sel(m, m_gt(m, k, m_i32(m, hi)), m_i32(m, hi), k);
}

/* Up to three factors. Downwards the first ones stay clear of the subnormals (musl's scalbn), so
 * that only the last multiplication rounds. */
rg_val rg_m_scale(const rg_mb *m, rg_val x, rg_val k) {
    int top = m->bias, down = m->bias - 1 - (m->mantissa + 1);
    k = clamp(m, k, -4 * m->bias, 4 * m->bias);
    for (int n = 0; n < 2; n++) {
        rg_val step = clamp(m, k, -down, top);
        x = m_mul(m, x, power_of_2(m, step));
        k = m_sub(m, k, step);
    }
    return m_mul(m, x, power_of_2(m, clamp(m, k, 1 - m->bias, top)));
}

rg_val rg_m_split(const rg_mb *m, rg_val x, rg_val *k) {
    /* Subnormals are made normal first. */
    rg_val tiny = m_lt(m, x, m_k2(m, 0x1p-126, 0x1p-1022));
    rg_val y = m_sel(m, tiny, m_mul(m, x, m_k2(m, 0x1p25, 0x1p54)), x);
    uint64_t one = m->f64 ? (uint64_t)0x3ff << 52 : 0x3f800000u;
    uint64_t half_root = m->f64 ? 0x3fe6a09e00000000u : 0x3f3504f3u; /* of sqrt(1/2) */
    rg_val u = m_add(m, m_bits(m, y), m_i(m, one - half_root));
    rg_val e = m_sub(m, m_to_int(m, m_shr(m, u, m->mantissa)), m_i32(m, m->bias));
    *k = m_sub(m, e, m_sel(m, tiny, m_i32(m, m->f64 ? 54 : 25), m_i32(m, 0)));
    uint64_t mask = ((uint64_t)1 << m->mantissa) - 1;
    return m_float(m, m_add(m, m_and(m, u, m_i(m, mask)), m_i(m, half_root)));
}

/* ---- exact functions ---- */

static rg_val round_half_away(const rg_mb *m, rg_val x) {
    rg_val t = m_trunc(m, x), d = m_abs(m, m_sub(m, x, t));
    rg_val away = m_add(m, t, rg_m_copysign(m, m_k(m, 1), x));
    rg_val r = m_sel(m, m_ge(m, d, m_k(m, 0.5)), away, t);
    return rg_m_copysign(m, r, x);
}

/* Floor of the base-2 exponent of finite x != 0, as i32. */
static rg_val exponent_of(const rg_mb *m, rg_val x) {
    rg_val ax = m_abs(m, x);
    rg_val tiny = m_lt(m, ax, m_k2(m, 0x1p-126, 0x1p-1022));
    rg_val y = m_sel(m, tiny, m_mul(m, ax, m_k2(m, 0x1p25, 0x1p54)), ax);
    rg_val e = m_to_int(m, m_shr(m, m_bits(m, y), m->mantissa));
    rg_val off = m_sel(m, tiny, m_i32(m, m->bias + (m->f64 ? 54 : 25)), m_i32(m, m->bias));
    return m_sub(m, e, off);
}

static rg_val is_finite(const rg_mb *m, rg_val x) {
    return m_lt(m, m_abs(m, x), rg_m_inf(m));
}

static rg_val int_exponent(const rg_mb *m, rg_val x) {
    rg_val e = exponent_of(m, x);
    e = m_sel(m, m_eq(m, x, m_k(m, 0)), m_i32(m, INT32_MIN), e); /* FP_ILOGB0 of glibc on x86 */
    rg_val no = m_sel(m, m_isnan(m, x), m_i32(m, INT32_MIN), m_i32(m, INT32_MAX));
    return m_sel(m, is_finite(m, x), e, no);
}

static rg_val real_exponent(const rg_mb *m, rg_val x) {
    rg_val e = m_from_int(m, exponent_of(m, x));
    e = m_sel(m, m_eq(m, x, m_k(m, 0)), m_neg(m, rg_m_inf(m)), e);
    return m_sel(m, is_finite(m, x), e, m_abs(m, x));
}

static rg_val step_towards(const rg_mb *m, rg_val x, rg_val y) {
    rg_val u = m_bits(m, x), one = m_i(m, 1);
    rg_val magnitude = m_and(m, u, m_i(m, ~sign_mask(m)));
    rg_val away = m_xor(m, m_lt(m, x, y), rg_m_signbit(m, x));
    rg_val stepped = m_sel(m, away, m_add(m, u, one), m_sub(m, u, one));
    rg_val least = rg_m_copysign(m, m_float(m, one), y);
    rg_val r = m_sel(m, m_eq(m, magnitude, m_i(m, 0)), least, m_float(m, stepped));
    r = m_sel(m, m_eq(m, x, y), y, r);
    rg_val bad = m_or(m, m_isnan(m, x), m_isnan(m, y));
    return m_sel(m, bad, m_add(m, x, y), r);
}

/* |x| mod |y| and the last bit of the quotient, exact: long division, a bit of the quotient at a
 * time, on integer significands. x, y finite, y != 0. */
static rg_val divide(const rg_mb *m, rg_val x, rg_val y, rg_val *odd) {
    rg_build *b = m->b;
    rg_fn *f = b->fn;
    uint64_t implicit = (uint64_t)1 << m->mantissa;
    rg_val ax = m_abs(m, x), ay = m_abs(m, y), parts[2], e[2];
    rg_val in[2] = {ax, ay};
    for (int k = 0; k < 2; k++) {
        rg_val tiny = m_lt(m, in[k], m_k2(m, 0x1p-126, 0x1p-1022));
        rg_val u = m_bits(m, m_sel(m, tiny, m_mul(m, in[k], m_k2(m, 0x1p25, 0x1p54)), in[k]));
        rg_val q = m_to_int(m, m_shr(m, u, m->mantissa));
        e[k] = m_sub(m, q, m_sel(m, tiny, m_i32(m, m->f64 ? 54 : 25), m_i32(m, 0)));
        parts[k] = m_or(m, m_and(m, u, m_i(m, implicit - 1)), m_i(m, implicit));
    }
    /* r = mx; for each exponent above y's: subtract, double */
    rg_val steps = m_sub(m, e[0], e[1]);
    rg_val zero = m_i32(m, 0), none = m_i(m, 0);
    rg_val inits[2] = {parts[0], none};
    rg_iid loop = rg_b_for(b, zero, steps, inits, 2, 0);
    rg_b_push(b, rg_ins_at(f, loop)->region[0]);
    rg_val r = rg_b_arg(b, 1);
    rg_val fits = m_ge(m, r, parts[1]);
    r = m_sel(m, fits, m_sub(m, r, parts[1]), r);
    rg_val next[2] = {m_shl(m, r, 1), none};
    rg_b_yield(b, next, 2);
    rg_b_pop(b);
    r = rg_result(f, loop, 0);
    fits = m_ge(m, r, parts[1]);
    r = m_sel(m, fits, m_sub(m, r, parts[1]), r);
    *odd = fits;
    /* r * 2^(ey - bias - mantissa): both factors exact, so is the result */
    rg_val rest = m_from_int(m, r);
    rg_val scaled = rg_m_scale(m, rest, m_sub(m, e[1], m_i32(m, m->bias + m->mantissa)));
    rg_val below = m_lt(m, ax, ay);
    *odd = m_and(m, fits, m_not(m, below));
    return m_sel(m, below, ax, scaled);
}

static rg_val fmod_remainder(const rg_mb *m, rg_op op, rg_val x, rg_val y) {
    rg_build *b = m->b;
    rg_val ax = m_abs(m, x), ay = m_abs(m, y), inf = rg_m_inf(m);
    rg_val bad = m_or(m, m_isnan(m, y), m_or(m, m_not(m, is_finite(m, x)), m_eq(m, y, m_k(m, 0))));
    rg_val easy = m_or(m, bad, m_eq(m, ay, inf));
    rg_iid i = rg_b_if(b, easy);
    rg_b_push(b, rg_ins_at(b->fn, i)->region[0]);
    rg_val r = m_sel(m, bad, rg_m_nan(m), ax);
    rg_b_yield(b, &r, 1);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(b->fn, i)->region[1]);
    rg_val odd;
    r = divide(m, ax, ay, &odd);
    if (op == RG_REMAINDER) {
        /* nearest quotient, ties to even: is 2 r > y, or = y and the quotient odd? Halving y may
         * lose a subnormal's last bit, so compare r with y - r. */
        rg_val rest = m_sub(m, ay, r);
        rg_val up = m_or(m, m_gt(m, r, rest), m_and(m, m_eq(m, r, rest), odd));
        r = m_sel(m, up, m_neg(m, rest), r);
    }
    rg_b_yield(b, &r, 1);
    rg_b_pop(b);
    rg_b_if_done(b, i);
    r = rg_result(b->fn, i, 0);
    /* The sign of x; of a zero too. */
    rg_val flipped = m_sel(m, rg_m_signbit(m, x), m_neg(m, r), r);
    return m_sel(m, m_isnan(m, x), x, flipped);
}

bool rg_math_has(rg_op op, rg_type t) {
    if (t != RG_F32 && t != RG_F64)
        return false;
    switch (op) {
    case RG_SIGNBIT:
    case RG_COPYSIGN:
    case RG_ROUND:
    case RG_FDIM:
    case RG_NEXTAFTER:
    case RG_LDEXP:
    case RG_ILOGB:
    case RG_LOGB:
    case RG_FMOD:
    case RG_REMAINDER:
    case RG_EXP:
    case RG_EXP2:
    case RG_EXPM1:
    case RG_SINH:
    case RG_COSH:
    case RG_TANH:
    case RG_LOG:
    case RG_LOG2:
    case RG_LOG10:
    case RG_LOG1P:
    case RG_ASINH:
    case RG_ACOSH:
    case RG_ATANH:
    case RG_POW:
    case RG_HYPOT:
    case RG_CBRT:
    case RG_SIN:
    case RG_COS:
    case RG_TAN:
    case RG_ASIN:
    case RG_ACOS:
    case RG_ATAN:
    case RG_ATAN2:
    case RG_ERF:
    case RG_ERFC:
    case RG_TGAMMA:
    case RG_LGAMMA:
    case RG_DIGAMMA:
        return true;
    default:
        return false;
    }
}

rg_val rg_math_build(rg_build *b, rg_op op, rg_type t, const rg_val *x) {
    rg_mb mb = mb_of(b, t), *m = &mb;
    switch (op) {
    case RG_SIGNBIT:
        return rg_m_signbit(m, x[0]);
    case RG_COPYSIGN:
        return rg_m_copysign(m, x[0], x[1]);
    case RG_ROUND:
        return round_half_away(m, x[0]);
    case RG_FDIM: {
        rg_val d = m_sub(m, x[0], x[1]);
        return m_sel(m, m_le(m, x[0], x[1]), m_k(m, 0), d);
    }
    case RG_NEXTAFTER:
        return step_towards(m, x[0], x[1]);
    case RG_LDEXP:
        return rg_m_scale(m, x[0], x[1]);
    case RG_ILOGB:
        return int_exponent(m, x[0]);
    case RG_LOGB:
        return real_exponent(m, x[0]);
    case RG_FMOD:
    case RG_REMAINDER:
        return fmod_remainder(m, op, x[0], x[1]);
    case RG_EXP:
    case RG_EXP2:
    case RG_EXPM1:
    case RG_SINH:
    case RG_COSH:
    case RG_TANH:
        return rg_m_exp(m, op, x[0]);
    case RG_LOG:
    case RG_LOG2:
    case RG_LOG10:
    case RG_LOG1P:
    case RG_ASINH:
    case RG_ACOSH:
    case RG_ATANH:
        return rg_m_log(m, op, x[0]);
    case RG_POW:
    case RG_HYPOT:
        return rg_m_pow(m, op, x[0], x[1]);
    case RG_CBRT:
        return rg_m_pow(m, op, x[0], 0);
    case RG_SIN:
    case RG_COS:
    case RG_TAN:
        return rg_m_trig(m, op, x[0]);
    case RG_ASIN:
    case RG_ACOS:
    case RG_ATAN:
        return rg_m_arc(m, op, x[0], 0);
    case RG_ATAN2:
        return rg_m_arc(m, op, x[0], x[1]);
    case RG_ERF:
    case RG_ERFC:
    case RG_TGAMMA:
    case RG_LGAMMA:
    case RG_DIGAMMA:
        return rg_m_special(m, op, x[0]);
    default:
        rg_bug(b->fn->arena, "'%s' is not in the maths library", rg_ops[op].text);
    }
}
