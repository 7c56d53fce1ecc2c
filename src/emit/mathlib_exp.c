/* Exponentials, logarithms, powers, roots.
 *
 * Algorithms and coefficients of exp, expm1, log, log2, log10, log1p are those of fdlibm (Sun
 * Microsystems, 1993), arranged without branches. pow takes the logarithm to twice the precision:
 * log f = 2/3 s (3 + z + z^2 (3/5 + ...)), s = (f-1)/(f+1), z = s^2. */
#include "emit/mathlib_parts.h"

static const double LN2_HI = 6.93147180369123816490e-01, LN2_LO = 1.90821492927058770002e-10;
static const double LN2_HI_F = 6.9314575195e-01, LN2_LO_F = 1.4286067653e-06;

static rg_val ln2_hi(const rg_mb *m) {
    return m_k2(m, LN2_HI_F, LN2_HI);
}
static rg_val ln2_lo(const rg_mb *m) {
    return m_k2(m, LN2_LO_F, LN2_LO);
}

static rg_val least(const rg_mb *m, rg_val x, double k) {
    return m_sel(m, m_gt(m, x, m_k(m, k)), m_k(m, k), x); /* NaN stays */
}
static rg_val most(const rg_mb *m, rg_val x, double k) {
    return m_sel(m, m_lt(m, x, m_k(m, k)), m_k(m, k), x);
}
/* Far beyond where results overflow, and small enough that half the power of 2 is normal. */
static rg_val in_reach(const rg_mb *m, rg_val x) {
    double k = m->f64 ? 1400 : 170;
    return most(m, least(m, x, k), -k);
}

/* y * 2^k for y near 1 in two steps, of which the first is exact. */
static rg_val scale_twice(const rg_mb *m, rg_val y, rg_val k) {
    rg_val half = m_shr(m, k, 1);
    return rg_m_scale_normal(m, rg_m_scale_normal(m, y, half), m_sub(m, k, half));
}

/* exp(hi - lo), |hi| <= ln 2 / 2 */
static rg_val exp_core(const rg_mb *m, rg_val hi, rg_val lo) {
    static const double P[] = {1.66666666666666019037e-01, -2.77777777770155933842e-03,
                               6.61375632143793436117e-05, -1.65339022054652515390e-06,
                               4.13813679705723846039e-08};
    rg_val x = m_sub(m, hi, lo), z = m_mul(m, x, x);
    rg_val c = m_sub(m, x, m_mul(m, z, rg_m_poly(m, z, P, m->f64 ? 5 : 3)));
    rg_val q = m_div(m, m_mul(m, x, c), m_sub(m, m_k(m, 2), c));
    return m_add(m, m_k(m, 1), m_add(m, m_sub(m, q, lo), hi));
}

/* exp(hi + lo) * 2^more */
static rg_val exp_scaled(const rg_mb *m, rg_val hi, rg_val lo, int more) {
    hi = in_reach(m, hi);
    rg_val n = m_rint(m, m_mul(m, hi, m_k(m, 1.44269504088896338700)));
    rg_val k = m_add(m, m_to_int(m, n), m_i32(m, more));
    rg_val rh = m_sub(m, hi, m_mul(m, n, ln2_hi(m)));
    rg_val rl = m_sub(m, m_mul(m, n, ln2_lo(m)), lo);
    return scale_twice(m, exp_core(m, rh, rl), k);
}

rg_val rg_m_exp2sum(const rg_mb *m, rg_val hi, rg_val lo) {
    return exp_scaled(m, hi, lo, 0);
}

static rg_val exp_base_2(const rg_mb *m, rg_val x) {
    double reach = m->f64 ? 2000 : 240;
    x = most(m, least(m, x, reach), -reach);
    rg_val n = m_rint(m, x), r = m_sub(m, x, n);
    return scale_twice(m, exp_core(m, m_mul(m, r, ln2_hi(m)), m_neg(m, m_mul(m, r, ln2_lo(m)))),
                       m_to_int(m, n));
}

static rg_val expm1_of(const rg_mb *m, rg_val full) {
    static const double Q[] = {1,
                               -3.33333333333331316428e-02,
                               1.58730158725481460165e-03,
                               -7.93650757867487942473e-05,
                               4.00821782732936239552e-06,
                               -2.01099218183624371326e-07};
    rg_val x = in_reach(m, full), one = m_k(m, 1), half = m_k(m, 0.5);
    rg_val n = m_rint(m, m_mul(m, x, m_k(m, 1.44269504088896338700))), k = m_to_int(m, n);
    rg_val hi = m_sub(m, x, m_mul(m, n, ln2_hi(m))), lo = m_mul(m, n, ln2_lo(m));
    x = m_sub(m, hi, lo);
    rg_val c = m_sub(m, m_sub(m, hi, x), lo);
    rg_val hfx = m_mul(m, half, x), hxs = m_mul(m, x, hfx);
    rg_val r1 = rg_m_poly(m, hxs, Q, m->f64 ? 6 : 4);
    rg_val t = m_sub(m, m_k(m, 3), m_mul(m, r1, hfx));
    rg_val e = m_mul(m, hxs, m_div(m, m_sub(m, r1, t), m_sub(m, m_k(m, 6), m_mul(m, x, t))));
    rg_val at_0 = m_sub(m, x, m_sub(m, m_mul(m, x, e), hxs));
    e = m_sub(m, m_sub(m, m_mul(m, x, m_sub(m, e, c)), c), hxs);
    rg_val xe = m_sub(m, x, e), ex = m_sub(m, e, x);
    rg_val at_m1 = m_sub(m, m_mul(m, half, xe), half);
    rg_val at_1 =
        m_sel(m, m_lt(m, x, m_k(m, -0.25)), m_mul(m, m_k(m, -2), m_sub(m, e, m_add(m, x, half))),
              m_add(m, one, m_mul(m, m_k(m, 2), xe)));
    rg_val far = m_sub(m, scale_twice(m, m_sub(m, one, ex), k), one);
    /* 2^-k for 2 <= k <= 60 */
    rg_val kc = m_sel(m, m_gt(m, k, m_i32(m, 60)), m_i32(m, 60), k);
    kc = m_sel(m, m_lt(m, kc, m_i32(m, 2)), m_i32(m, 2), kc);
    rg_val p = rg_m_scale_normal(m, one, m_neg(m, kc));
    rg_val low = m_sub(m, m_sub(m, one, p), ex);
    rg_val high = m_add(m, m_sub(m, x, m_add(m, e, p)), one);
    int middle = m->f64 ? 20 : 23, end = m->f64 ? 56 : 30;
    rg_val near = scale_twice(m, m_sel(m, m_lt(m, k, m_i32(m, middle)), low, high), k);
    rg_val is_far = m_or(m, m_le(m, k, m_i32(m, -2)), m_gt(m, k, m_i32(m, end)));
    rg_val r = m_sel(m, is_far, far, near);
    r = m_sel(m, m_eq(m, k, m_i32(m, 1)), at_1, r);
    r = m_sel(m, m_eq(m, k, m_i32(m, -1)), at_m1, r);
    r = m_sel(m, m_eq(m, k, m_i32(m, 0)), at_0, r);
    return m_sel(m, m_eq(m, full, m_k(m, 0)), full, r); /* the sign of a zero */
}

rg_val rg_m_exp(const rg_mb *m, rg_op op, rg_val x) {
    rg_val ax = m_abs(m, x), one = m_k(m, 1), zero = m_k(m, 0), two = m_k(m, 2), half = m_k(m, 0.5);
    switch (op) {
    case RG_EXP:
        return exp_scaled(m, x, zero, 0);
    case RG_EXP2:
        return exp_base_2(m, x);
    case RG_EXPM1:
        return expm1_of(m, x);
    case RG_SINH: {
        rg_val t = expm1_of(m, least(m, ax, 30));
        rg_val q = m_div(m, t, m_add(m, t, one));
        rg_val small = m_sub(m, m_mul(m, two, t), m_mul(m, t, q)), middle = m_add(m, t, q);
        rg_val r = m_mul(m, half, m_sel(m, m_lt(m, ax, one), small, middle));
        r = m_sel(m, m_lt(m, ax, m_k(m, 22)), r, exp_scaled(m, ax, zero, -1));
        return rg_m_copysign(m, m_sel(m, m_isnan(m, x), x, r), x);
    }
    case RG_COSH: {
        rg_val t = expm1_of(m, least(m, ax, 1)), w = m_add(m, one, t);
        rg_val small = m_add(m, one, m_div(m, m_mul(m, t, t), m_add(m, w, w)));
        rg_val e = exp_scaled(m, least(m, ax, 30), zero, 0);
        rg_val middle = m_add(m, m_mul(m, half, e), m_div(m, half, e));
        rg_val r = m_sel(m, m_lt(m, ax, m_k(m, 0.34)), small, middle);
        r = m_sel(m, m_lt(m, ax, m_k(m, 22)), r, exp_scaled(m, ax, zero, -1));
        return m_sel(m, m_isnan(m, x), x, r);
    }
    default: { /* tanh */
        rg_val big = m_ge(m, ax, one), twice = m_mul(m, two, least(m, ax, 22));
        rg_val t = expm1_of(m, m_sel(m, big, twice, m_neg(m, twice)));
        rg_val d = m_add(m, t, two);
        rg_val r = m_sel(m, big, m_sub(m, one, m_div(m, two, d)), m_neg(m, m_div(m, t, d)));
        return rg_m_copysign(m, m_sel(m, m_isnan(m, x), x, r), x);
    }
    }
}

/* ---- logarithms ---- */

typedef struct logs {
    rg_val f, s, hfsq, R;
} logs;

/* log(1 + f) = f - hfsq + s (hfsq + R) */
static logs log_core(const rg_mb *m, rg_val f) {
    static const double Lg[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                                2.857142874366239149e-01, 2.222219843214978396e-01,
                                1.818357216161805012e-01, 1.531383769920937332e-01,
                                1.479819860511658591e-01};
    logs l = {.f = f};
    l.s = m_div(m, f, m_add(m, m_k(m, 2), f));
    rg_val z = m_mul(m, l.s, l.s);
    l.R = m_mul(m, z, rg_m_poly(m, z, Lg, m->f64 ? 7 : 5));
    l.hfsq = m_mul(m, m_k(m, 0.5), m_mul(m, f, f));
    return l;
}

/* What log gives outside the positive finite numbers. */
static rg_val log_edges(const rg_mb *m, rg_val x, rg_val r) {
    rg_val inf = rg_m_inf(m);
    r = m_sel(m, m_eq(m, x, inf), inf, r);
    r = m_sel(m, m_eq(m, x, m_k(m, 0)), m_neg(m, inf), r);
    r = m_sel(m, m_lt(m, x, m_k(m, 0)), rg_m_nan(m), r);
    return m_sel(m, m_isnan(m, x), x, r);
}

/* log x + more ln 2 */
static rg_val log_of(const rg_mb *m, rg_val x, rg_val more) {
    rg_val k, f = m_sub(m, rg_m_split(m, x, &k), m_k(m, 1));
    if (more)
        k = m_add(m, k, more);
    logs l = log_core(m, f);
    rg_val n = m_from_int(m, k);
    rg_val t = m_add(m, m_mul(m, l.s, m_add(m, l.hfsq, l.R)), m_mul(m, n, ln2_lo(m)));
    rg_val r = m_sub(m, m_mul(m, n, ln2_hi(m)), m_sub(m, m_sub(m, l.hfsq, t), f));
    return log_edges(m, x, r);
}

static rg_val log_base(const rg_mb *m, rg_val x, bool ten) {
    rg_val k, f = m_sub(m, rg_m_split(m, x, &k), m_k(m, 1)), n = m_from_int(m, k);
    logs l = log_core(m, f);
    rg_val hi = m_sub(m, f, l.hfsq);
    uint64_t mask = m->f64 ? ~(uint64_t)0xffffffffu : 0xfffff000u;
    hi = m_float(m, m_and(m, m_bits(m, hi), m_i(m, mask)));
    rg_val lo = m_add(m, m_sub(m, m_sub(m, f, hi), l.hfsq), m_mul(m, l.s, m_add(m, l.hfsq, l.R)));
    rg_val ih = ten ? m_k2(m, 4.3432617188e-01, 4.34294481878168880939e-01)
                    : m_k2(m, 1.4428710938e+00, 1.44269504072144627571e+00);
    rg_val il = ten ? m_k2(m, -3.1689971365e-05, 2.50829467116452752298e-11)
                    : m_k2(m, -1.7605285393e-04, 1.67517131648865118353e-10);
    rg_val vh = m_mul(m, hi, ih);
    rg_val vl = m_add(m, m_mul(m, m_add(m, lo, hi), il), m_mul(m, lo, ih));
    rg_val y = n;
    if (ten) {
        y = m_mul(m, n, m_k2(m, 3.0102920532e-01, 3.01029995663611771306e-01));
        vl = m_add(m, m_mul(m, n, m_k2(m, 7.9034151668e-07, 3.69423907715893078616e-13)), vl);
    }
    rg_val w = m_add(m, y, vh);
    vl = m_add(m, vl, m_add(m, m_sub(m, y, w), vh));
    return log_edges(m, x, m_add(m, vl, w));
}

static rg_val log1p_of(const rg_mb *m, rg_val x) {
    rg_val one = m_k(m, 1), zero = m_k(m, 0), u = m_add(m, one, x), k;
    rg_val f = m_sub(m, rg_m_split(m, u, &k), one), n = m_from_int(m, k);
    /* what 1 + x lost, relative to it */
    rg_val lost = m_sel(m, m_ge(m, k, m_i32(m, 2)), m_sub(m, one, m_sub(m, u, x)),
                        m_sub(m, x, m_sub(m, u, one)));
    rg_val c = m_div(m, lost, u);
    c = m_sel(m, m_lt(m, k, m_i32(m, m->f64 ? 54 : 25)), c, zero);
    rg_val small = m_and(m, m_gt(m, x, m_k(m, -0.29)), m_lt(m, x, m_k(m, 0.41)));
    f = m_sel(m, small, x, f);
    c = m_sel(m, small, zero, c);
    n = m_sel(m, small, zero, n);
    logs l = log_core(m, f);
    rg_val t = m_add(m, m_mul(m, n, ln2_lo(m)), c);
    rg_val r = m_add(m, m_mul(m, l.s, m_add(m, l.hfsq, l.R)), t);
    r = m_add(m, m_add(m, m_sub(m, r, l.hfsq), f), m_mul(m, n, ln2_hi(m)));
    r = log_edges(m, u, r);
    return m_sel(m, m_or(m, m_eq(m, x, zero), m_isnan(m, x)), x, r);
}

rg_val rg_m_log(const rg_mb *m, rg_op op, rg_val x) {
    rg_val ax = m_abs(m, x), one = m_k(m, 1), two = m_k(m, 2), half = m_k(m, 0.5);
    rg_val huge = m_gt(m, ax, m_k(m, 0x1p28)), more = m_sel(m, huge, m_i32(m, 1), m_i32(m, 0));
    switch (op) {
    case RG_LOG:
        return log_of(m, x, 0);
    case RG_LOG2:
        return log_base(m, x, false);
    case RG_LOG10:
        return log_base(m, x, true);
    case RG_LOG1P:
        return log1p_of(m, x);
    case RG_ASINH: {
        rg_val t = m_mul(m, ax, ax), root = m_sqrt(m, m_add(m, t, one));
        rg_val big = m_add(m, m_mul(m, two, ax), m_div(m, one, m_add(m, root, ax)));
        big = log_of(m, m_sel(m, huge, ax, big), more);
        rg_val small = log1p_of(m, m_add(m, ax, m_div(m, t, m_add(m, one, root))));
        rg_val r = m_sel(m, m_gt(m, ax, two), big, small);
        return rg_m_copysign(m, m_sel(m, m_isnan(m, x), x, r), x);
    }
    case RG_ACOSH: {
        rg_val root = m_sqrt(m, m_sub(m, m_mul(m, x, x), one)), t = m_sub(m, x, one);
        rg_val big = m_sub(m, m_mul(m, two, x), m_div(m, one, m_add(m, x, root)));
        big = log_of(m, m_sel(m, huge, x, big), more);
        rg_val tt = m_add(m, m_mul(m, two, t), m_mul(m, t, t));
        rg_val small =
            log1p_of(m, m_add(m, t, m_sqrt(m, m_sel(m, m_ge(m, t, m_k(m, 0)), tt, m_k(m, 0)))));
        rg_val r = m_sel(m, m_gt(m, x, two), big, small);
        r = m_sel(m, m_lt(m, x, one), rg_m_nan(m), r);
        return m_sel(m, m_isnan(m, x), x, r);
    }
    default: { /* atanh */
        rg_val d = m_sub(m, one, ax), t = m_mul(m, two, ax);
        rg_val small = m_add(m, t, m_div(m, m_mul(m, t, ax), d)), big = m_div(m, t, d);
        rg_val r = m_mul(m, half, log1p_of(m, m_sel(m, m_lt(m, ax, half), small, big)));
        r = m_sel(m, m_gt(m, ax, one), rg_m_nan(m), r);
        r = m_sel(m, m_eq(m, ax, one), rg_m_inf(m), r);
        return rg_m_copysign(m, m_sel(m, m_isnan(m, x), x, r), x);
    }
    }
}

/* ---- powers and roots ---- */

rg_m2 rg_m_log2sum(const rg_mb *m, rg_val x) {
    rg_val k, f = m_sub(m, rg_m_split(m, x, &k), m_k(m, 1)), n = m_from_int(m, k);
    rg_m2 d = rg_m_fast_sum(m, m_k(m, 2), f);
    rg_m2 s = rg_m_div2(m, (rg_m2){f, m_k(m, 0)}, d);
    rg_m2 z = rg_m_mul2(m, s, s);
    double k3[12];
    for (int i = 0; i < 12; i++)
        k3[i] = 3.0 / (2 * i + 5);
    rg_val tail = m_mul(m, m_mul(m, z.hi, z.hi), rg_m_poly(m, z.hi, k3, m->f64 ? 12 : 5));
    rg_m2 sum = rg_m_add21(m, rg_m_fast_sum(m, m_k(m, 3), z.hi), m_add(m, z.lo, tail));
    rg_m2 third = {m_k2(m, (double)(2.0f / 3.0f), 2.0 / 3.0),
                   m_k2(m, 2.0 / 3.0 - (double)(2.0f / 3.0f), 0x1.5555555555555p-55)};
    rg_m2 r = rg_m_mul2(m, rg_m_mul2(m, third, s), sum);
    rg_m2 p = {m_mul(m, n, ln2_hi(m)), m_mul(m, n, ln2_lo(m))};
    return rg_m_add2(m, rg_m_fast_sum(m, p.hi, p.lo), r);
}

static rg_val power(const rg_mb *m, rg_val x, rg_val y) {
    rg_val ax = m_abs(m, x), ay = m_abs(m, y), one = m_k(m, 1), zero = m_k(m, 0);
    rg_val inf = rg_m_inf(m), y_up = m_gt(m, y, zero);
    rg_m2 l = rg_m_log2sum(m, ax);
    /* A larger exponent overflows or underflows anyhow, unless x is 1. */
    rg_val yc = least(m, ay, m->f64 ? 0x1p70 : 0x1p40);
    yc = rg_m_copysign(m, yc, y);
    rg_m2 p = rg_m_mul21(m, l, yc);
    rg_val far = m_gt(m, m_abs(m, p.hi), m_k2(m, 160, 1300));
    rg_val lo = m_sel(m, far, zero, p.lo);
    rg_val r = rg_m_exp2sum(m, p.hi, lo);
    rg_val extreme = m_or(m, m_eq(m, ax, zero), m_eq(m, ax, inf));
    rg_val up = m_xor(m, m_eq(m, ax, zero), y_up); /* 0^-, inf^+ */
    r = m_sel(m, extreme, m_sel(m, up, inf, zero), r);
    rg_val grows = m_xor(m, m_lt(m, ax, one), y_up);
    rg_val at_inf = m_sel(m, m_eq(m, ax, one), one, m_sel(m, grows, inf, zero));
    r = m_sel(m, m_eq(m, ay, inf), at_inf, r);
    /* Negative x: the sign of an odd power; a fraction of one has none. */
    rg_val whole = m_or(m, m_eq(m, m_trunc(m, y), y), m_eq(m, ay, inf));
    rg_val half = m_mul(m, y, m_k(m, 0.5));
    rg_val odd = m_and(m, whole, m_ne(m, m_trunc(m, half), half));
    odd = m_and(m, odd, m_ne(m, ay, inf));
    r = m_sel(m, m_and(m, odd, rg_m_signbit(m, x)), m_neg(m, r), r);
    rg_val bad = m_and(m, m_lt(m, x, zero), m_not(m, whole));
    bad = m_and(m, bad, m_not(m, extreme));
    r = m_sel(m, bad, rg_m_nan(m), r);
    r = m_sel(m, m_or(m, m_isnan(m, x), m_isnan(m, y)), m_add(m, x, y), r);
    return m_sel(m, m_or(m, m_eq(m, y, zero), m_eq(m, x, one)), one, r);
}

static rg_val hypotenuse(const rg_mb *m, rg_val x, rg_val y) {
    rg_val ax = m_abs(m, x), ay = m_abs(m, y), inf = rg_m_inf(m), zero = m_k(m, 0);
    rg_val first = m_ge(m, ax, ay), a = m_sel(m, first, ax, ay), b = m_sel(m, first, ay, ax);
    /* Scaled so that squares neither overflow nor underflow. */
    rg_val huge = m_gt(m, a, m_k2(m, 0x1p60, 0x1p500)),
           tiny = m_lt(m, a, m_k2(m, 0x1p-40, 0x1p-400));
    double up = m->f64 ? 0x1p600 : 0x1p80, down = 1 / up;
    rg_val f = m_sel(m, huge, m_k(m, down), m_sel(m, tiny, m_k(m, up), m_k(m, 1)));
    rg_val back = m_sel(m, huge, m_k(m, up), m_sel(m, tiny, m_k(m, down), m_k(m, 1)));
    a = m_mul(m, a, f);
    b = m_mul(m, b, f);
    rg_m2 s = rg_m_add2(m, rg_m_two_product(m, a, a), rg_m_two_product(m, b, b));
    rg_val h = m_sqrt(m, s.hi);
    rg_m2 p = rg_m_two_product(m, h, h);
    rg_val rest = m_add(m, m_sub(m, m_sub(m, s.hi, p.hi), p.lo), s.lo);
    rg_val fixed = m_add(m, h, m_div(m, rest, m_add(m, h, h)));
    rg_val r = m_mul(m, m_sel(m, m_gt(m, h, zero), fixed, h), back);
    r = m_sel(m, m_or(m, m_isnan(m, x), m_isnan(m, y)), m_add(m, x, y), r);
    return m_sel(m, m_or(m, m_eq(m, ax, inf), m_eq(m, ay, inf)), inf, r);
}

/* x = g 2^(3q), g in [0.7, 5.7): a guess from the bits, Halley's iteration, and one Newton step
 * with the residual in two terms. */
static rg_val cube_root(const rg_mb *m, rg_val x) {
    rg_val ax = m_abs(m, x), k, f = rg_m_split(m, ax, &k);
    rg_val q = rg_b_op2(m->b, RG_DIV, m_add(m, k, m_i32(m, 1200)), m_i32(m, 3));
    q = m_sub(m, q, m_i32(m, 400));
    rg_val rest = m_sub(m, k, m_mul(m, q, m_i32(m, 3)));
    rg_val g = rg_m_scale_normal(m, f, rest);
    static const double guess[] = {0.5705, 0.4804, -0.0660, 0.0042};
    rg_val t = rg_m_poly(m, g, guess, 4);
    for (int i = 0; i < (m->f64 ? 3 : 2); i++) {
        rg_val t3 = m_mul(m, m_mul(m, t, t), t);
        rg_val up = m_add(m, t3, m_mul(m, m_k(m, 2), g)),
               down = m_add(m, m_mul(m, m_k(m, 2), t3), g);
        t = m_mul(m, t, m_div(m, up, down));
    }
    rg_m2 c = rg_m_mul21(m, rg_m_two_product(m, t, t), t);
    rg_val d = m_sub(m, m_sub(m, g, c.hi), c.lo);
    t = m_add(m, t, m_div(m, d, m_mul(m, m_k(m, 3), m_mul(m, t, t))));
    rg_val r = rg_m_copysign(m, rg_m_scale_normal(m, t, q), x);
    rg_val same = m_or(m, m_eq(m, x, m_k(m, 0)), m_not(m, m_lt(m, ax, rg_m_inf(m))));
    return m_sel(m, same, x, r);
}

rg_val rg_m_pow(const rg_mb *m, rg_op op, rg_val x, rg_val y) {
    return op == RG_POW ? power(m, x, y) : op == RG_HYPOT ? hypotenuse(m, x, y) : cube_root(m, x);
}
