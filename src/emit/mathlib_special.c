/* Error functions (fdlibm's rational approximations) and the gamma functions.
 *
 * Gamma functions: the argument is raised by the recurrence to where Stirling's series is exact
 * enough, all in two-term arithmetic; lgamma near its zeros 1 and 2 is its Taylor series. */
#include "emit/mathlib_parts.h"

static rg_val erf_pair(const rg_mb *m, rg_val x, bool complement) {
    static const double pp[] = {1.28379167095512558561e-01, -3.25042107247001499370e-01,
                                -2.84817495755985104766e-02, -5.77027029648944159157e-03,
                                -2.37630166566501626084e-05};
    static const double qq[] = {1,
                                3.97917223959155352819e-01,
                                6.50222499887672944485e-02,
                                5.08130628187576562776e-03,
                                1.32494738004321644526e-04,
                                -3.96022827877536812320e-06};
    static const double pa[] = {-2.36211856075265944077e-03, 4.14856118683748331666e-01,
                                -3.72207876035701323847e-01, 3.18346619901161753674e-01,
                                -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                                -2.16637559486879084300e-03};
    static const double qa[] = {1,
                                1.06420880400844228286e-01,
                                5.40397917702171048937e-01,
                                7.18286544141962662868e-02,
                                1.26171219808761642112e-01,
                                1.36370839120290507362e-02,
                                1.19844998467991074170e-02};
    static const double ra[] = {-9.86494403484714822705e-03, -6.93858572707181764372e-01,
                                -1.05586262253232909814e+01, -6.23753324503260060396e+01,
                                -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                                -8.12874355063065934246e+01, -9.81432934416914548592e+00};
    static const double sa[] = {1,
                                1.96512716674392571292e+01,
                                1.37657754143519042600e+02,
                                4.34565877475229228821e+02,
                                6.45387271733267880336e+02,
                                4.29008140027567833386e+02,
                                1.08635005541779435134e+02,
                                6.57024977031928170135e+00,
                                -6.04244152148580987438e-02};
    static const double rb[] = {-9.86494292470009928597e-03, -7.99283237680523006574e-01,
                                -1.77579549177547519889e+01, -1.60636384855821916062e+02,
                                -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                                -4.83519191608651397019e+02};
    static const double sb[] = {1,
                                3.03380607434824582924e+01,
                                3.25792512996573918826e+02,
                                1.53672958608443695994e+03,
                                3.19985821950859553908e+03,
                                2.55305040643316442583e+03,
                                4.74528541206955367215e+02,
                                -2.24409524465858183362e+01};
    rg_val ax = m_abs(m, x), zero = m_k(m, 0), one = m_k(m, 1), half = m_k(m, 0.5);
    /* |x| < 0.84375 */
    rg_val z = m_mul(m, x, x);
    rg_val y = m_div(m, rg_m_poly(m, z, pp, 5), rg_m_poly(m, z, qq, 6)), xy = m_mul(m, x, y);
    rg_val near = m_add(m, x, xy);
    if (complement)
        near = m_sel(m, m_lt(m, x, m_k(m, 0.25)), m_sub(m, one, near),
                     m_sub(m, half, m_add(m, m_sub(m, x, half), xy)));
    /* < 1.25 */
    rg_val s = m_sub(m, ax, one);
    rg_val pq = m_div(m, rg_m_poly(m, s, pa, 7), rg_m_poly(m, s, qa, 7));
    rg_val erx = m_k(m, 8.45062911510467529297e-01);
    rg_val e1 = m_add(m, erx, pq), c1 = m_sub(m, m_sub(m, one, erx), pq);
    /* beyond: erfc = exp(-x^2 - 0.5625 + R/S) / x */
    rg_val far = m_sel(m, m_lt(m, ax, m_k(m, 28)), ax, m_k(m, 28));
    far = m_sel(m, m_gt(m, far, one), far, one);
    rg_val w = m_div(m, one, m_mul(m, far, far));
    rg_val first = m_lt(m, far, m_k(m, 1 / 0.35));
    rg_val R = m_sel(m, first, rg_m_poly(m, w, ra, 8), rg_m_poly(m, w, rb, 7));
    rg_val S = m_sel(m, first, rg_m_poly(m, w, sa, 9), rg_m_poly(m, w, sb, 8));
    rg_m2 sq = rg_m_two_product(m, far, far);
    rg_m2 t = rg_m_two_sum(m, m_neg(m, sq.hi), m_sub(m, m_div(m, R, S), m_k(m, 0.5625)));
    t = rg_m_fast_sum(m, t.hi, m_sub(m, t.lo, sq.lo));
    rg_val c2 = m_div(m, rg_m_exp2sum(m, t.hi, t.lo), far);
    rg_val middle = m_lt(m, ax, m_k(m, 1.25)), r;
    if (complement) {
        rg_val tail = m_sel(m, middle, c1, c2),
               minus = m_sel(m, middle, m_add(m, one, e1), m_sub(m, m_k(m, 2), c2));
        r = m_sel(m, m_lt(m, x, zero), minus, tail);
    } else {
        r = m_sel(m, middle, e1, m_sub(m, one, c2));
        r = rg_m_copysign(m, r, x);
    }
    r = m_sel(m, m_lt(m, ax, m_k(m, 0.84375)), near, r);
    return m_sel(m, m_isnan(m, x), x, r);
}

/* ---- gamma ---- */

static const double STIRLING[] = {
    0.083333333333333333333,   -0.0027777777777777777778, 0.00079365079365079365079,
    -0.0005952380952380952381, 0.00084175084175084175084, -0.0019175269175269175269,
    0.0064102564102564102564,  -0.02955065359477124183,   0.17964437236883057316};

static rg_val shifted_to(const rg_mb *m) {
    return m_k(m, m->f64 ? 14 : 6);
}

/* y >= 1/2: raises it above shifted_to; *product: y (y+1) ... of what was passed. */
static rg_m2 raise(const rg_mb *m, rg_val y, rg_m2 *product) {
    rg_build *b = m->b;
    rg_fn *f = b->fn;
    rg_val inits[4] = {y, m_k(m, 0), m_k(m, 1), m_k(m, 0)};
    rg_val n = m_to_int(m, m_sub(m, m_add(m, shifted_to(m), m_k(m, 1)), m_floor(m, y)));
    rg_iid loop = rg_b_for(b, m_i32(m, 0), n, inits, 4, 0);
    rg_b_push(b, rg_ins_at(f, loop)->region[0]);
    rg_m2 at = {rg_b_arg(b, 1), rg_b_arg(b, 2)}, p = {rg_b_arg(b, 3), rg_b_arg(b, 4)};
    p = rg_m_mul2(m, p, at);
    at = rg_m_add21(m, at, m_k(m, 1));
    rg_val next[4] = {at.hi, at.lo, p.hi, p.lo};
    rg_b_yield(b, next, 4);
    rg_b_pop(b);
    *product = (rg_m2){rg_result(f, loop, 2), rg_result(f, loop, 3)};
    return (rg_m2){rg_result(f, loop, 0), rg_result(f, loop, 1)};
}

/* log gamma of y above shifted_to: (y - 1/2) log y - y + log(2 pi)/2 + series */
static rg_m2 stirling(const rg_mb *m, rg_m2 y) {
    rg_m2 l = rg_m_log2sum(m, y.hi);
    l = rg_m_add21(m, l, m_div(m, y.lo, y.hi));
    rg_m2 a = rg_m_mul2(m, rg_m_add21(m, y, m_k(m, -0.5)), l);
    a = rg_m_add2(m, a, (rg_m2){m_neg(m, y.hi), m_neg(m, y.lo)});
    double h = 0x1.d67f1c864beb5p-1;
    rg_m2 c = {m_k2(m, (double)(float)h, h), m_k2(m, h - (double)(float)h, -0x1.65b5a1b7ff5dfp-55)};
    a = rg_m_add2(m, a, c);
    rg_val r = m_div(m, m_k(m, 1), y.hi), r2 = m_mul(m, r, r);
    return rg_m_add21(m, a, m_mul(m, r, rg_m_poly(m, r2, STIRLING, m->f64 ? 9 : 4)));
}

/* sin(pi x) as what is left of x by whole numbers gives it. */
static rg_val sin_pi(const rg_mb *m, rg_val x) {
    rg_val half = m_k(m, 0.5);
    rg_val n = m_rint(m, x), f = m_sub(m, x, n), af = m_abs(m, f);
    rg_val small = m_le(m, af, m_k(m, 0.25));
    rg_val s = rg_m_sinpi_small(m, m_sel(m, small, af, m_k(m, 0)));
    rg_val c = rg_m_cospi_small(m, m_sel(m, small, m_k(m, 0), m_sub(m, half, af)));
    rg_val r = rg_m_copysign(m, m_sel(m, small, s, c), f);
    rg_val h = m_mul(m, n, half);
    rg_val odd = m_ne(m, m_trunc(m, h), h);
    return m_sel(m, odd, m_neg(m, r), r);
}

static rg_val pi_of(const rg_mb *m) {
    return m_k(m, 0x1.921fb54442d18p+1);
}

static rg_val gamma_of(const rg_mb *m, rg_val x) {
    rg_val one = m_k(m, 1), zero = m_k(m, 0), inf = rg_m_inf(m);
    double top = m->f64 ? 172 : 36, bottom = m->f64 ? -190 : -60;
    rg_val minus = m_lt(m, x, m_k(m, 0.5));
    rg_val xc = m_sel(m, m_gt(m, x, m_k(m, top)), m_k(m, top), x);
    xc = m_sel(m, m_lt(m, xc, m_k(m, bottom)), m_k(m, bottom), xc);
    /* 1 - x is exact to twice the digits */
    rg_m2 y = rg_m_two_sum(m, m_sel(m, minus, one, xc), m_sel(m, minus, m_neg(m, xc), zero));
    rg_m2 p, raised = raise(m, y.hi, &p);
    raised = rg_m_add21(m, raised, y.lo);
    /* the product at y.hi + y.lo: first order is enough for the tiny lo */
    rg_m2 l = stirling(m, raised);
    /* where it is large, exp in two halves, so that nothing overflows on the way */
    rg_val big = m_gt(m, l.hi, m_k2(m, 80, 650)), half = m_k(m, 0.5);
    rg_val hi = m_sel(m, big, m_mul(m, l.hi, half), l.hi);
    rg_val lo = m_sel(m, big, m_mul(m, l.lo, half), l.lo);
    rg_val e = rg_m_exp2sum(m, hi, lo), again = m_sel(m, big, e, one);
    rg_val g = m_mul(m, m_div(m, e, p.hi), again);
    g = m_sub(m, g, m_mul(m, g, m_div(m, p.lo, p.hi)));
    /* gamma(x) = pi / (sin(pi x) gamma(1 - x)) */
    rg_val s = sin_pi(m, xc);
    rg_val r1 = m_div(m, m_div(m, m_mul(m, pi_of(m), m_div(m, p.hi, e)), s), again);
    rg_val r = m_sel(m, minus, r1, g);
    r = m_sel(m, m_gt(m, x, m_k2(m, 35.1, 171.7)), inf, r);
    /* 1 / x - 0.577..., where x is too small for the sine */
    rg_val tiny = m_lt(m, m_abs(m, x), m_k2(m, 0x1p-40, 0x1p-80));
    r = m_sel(m, tiny, m_div(m, one, x), r);
    r = m_sel(m, m_lt(m, x, m_k(m, bottom)), rg_m_copysign(m, zero, sin_pi(m, x)), r);
    rg_val whole = m_and(m, m_eq(m, m_floor(m, x), x), m_lt(m, x, zero));
    r = m_sel(m, whole, rg_m_nan(m), r);
    r = m_sel(m, m_eq(m, x, zero), rg_m_copysign(m, inf, x), r);
    r = m_sel(m, m_eq(m, x, m_neg(m, inf)), rg_m_nan(m), r);
    return m_sel(m, m_isnan(m, x), x, r);
}

/* Taylor series of lgamma at 1 and at 2, in e = x - 1, x - 2 (from the linear term on). */
static rg_val lgamma_near(const rg_mb *m, rg_val e, bool two) {
    static const double at_1[] = {
        -0.57721566490153286061,  0.82246703342411321824,   -0.40068563438653142847,
        0.27058080842778454788,   -0.20738555102867398527,  0.16955717699740818995,
        -0.14404989676884611812,  0.12550966952474304242,   -0.11133426586956469049,
        0.10009945751278180853,   -0.090954017145829042233, 0.083353840546109004025,
        -0.076932516411352191473, 0.071432946295361336059,  -0.066668705882420468033,
        0.062500955141213040742,  -0.058823978658684582339, 0.055555767627403611102,
        -0.052631679379616660734, 0.05000004769810169364,   -0.047619070330142227991,
        0.045454556293204669442};
    static const double at_2[] = {
        0.42278433509846713939,     0.32246703342411321824,    -0.067352301053198095133,
        0.020580808427784547879,    -0.0073855510286739852663, 0.0028905103307415232858,
        -0.0011927539117032609771,  0.00050966952474304242234, -0.00022315475845357937976,
        0.000099457512781808533715, -0.0000449262367381331417, 0.000020507212775670691553,
        -9.439488275268395904e-6,   4.3748667899074878042e-6,  -2.0392157538013662368e-6,
        9.5514121304074198329e-7,   -4.4924691987645660433e-7};
    if (two)
        return m_mul(m, e, rg_m_poly(m, e, at_2, m->f64 ? 17 : 9));
    return m_mul(m, e, rg_m_poly(m, e, at_1, m->f64 ? 22 : 11));
}

static rg_val log_gamma(const rg_mb *m, rg_val x) {
    rg_val one = m_k(m, 1), two = m_k(m, 2), zero = m_k(m, 0), inf = rg_m_inf(m), ax = m_abs(m, x);
    rg_val minus = m_lt(m, x, m_k(m, 0.5));
    /* x < 1/2: log(pi / |sin(pi x)|) - lgamma(1 - x) */
    rg_m2 y = rg_m_two_sum(m, m_sel(m, minus, one, x), m_sel(m, minus, m_neg(m, x), zero));
    rg_val far = m_k2(m, 0x1p60, 0x1p400);
    rg_val yc = m_sel(m, m_gt(m, y.hi, far), far, y.hi);
    rg_m2 p, raised = raise(m, yc, &p);
    raised = rg_m_add21(m, raised, y.lo);
    rg_m2 l = stirling(m, raised), lp = rg_m_log2sum(m, p.hi);
    lp = rg_m_add21(m, lp, m_div(m, p.lo, p.hi));
    l = rg_m_add2(m, l, (rg_m2){m_neg(m, lp.hi), m_neg(m, lp.lo)});
    rg_val huge = m_mul(m, y.hi, m_sub(m, rg_m_log(m, RG_LOG, y.hi), one));
    rg_val big = m_gt(m, y.hi, far);
    l.hi = m_sel(m, big, huge, l.hi);
    l.lo = m_sel(m, big, zero, l.lo);
    /* near the zeros, with e exact */
    rg_val e1 = m_sel(m, minus, m_neg(m, x), m_sub(m, x, one)), e2 = m_sub(m, y.hi, two);
    rg_val near_1 = m_lt(m, m_abs(m, e1), m_k(m, 0.1875));
    rg_val near_2 = m_lt(m, m_abs(m, e2), m_k(m, 0.25));
    l.hi = m_sel(m, near_1, lgamma_near(m, e1, false), l.hi);
    l.hi = m_sel(m, near_2, lgamma_near(m, e2, true), l.hi);
    l.lo = m_sel(m, m_or(m, near_1, near_2), zero, l.lo);
    rg_val plus = m_add(m, l.hi, l.lo);
    /* log(pi / |sin pi x|); sin underflows for tiny x before x does: take x itself out */
    rg_val s = m_abs(m, sin_pi(m, x));
    rg_val tiny = m_lt(m, ax, m_k2(m, 0x1p-40, 0x1p-70));
    rg_val q = m_div(m, pi_of(m), m_sel(m, tiny, one, s));
    rg_m2 ls = rg_m_log2sum(m, m_sel(m, tiny, m_sel(m, m_eq(m, x, zero), one, ax), q));
    ls.hi = m_sel(m, tiny, m_neg(m, ls.hi), ls.hi);
    ls.lo = m_sel(m, tiny, m_neg(m, ls.lo), ls.lo);
    rg_m2 d = rg_m_add2(m, ls, (rg_m2){m_neg(m, l.hi), m_neg(m, l.lo)});
    rg_val r = m_sel(m, minus, m_add(m, d.hi, d.lo), plus);
    rg_val pole = m_and(m, m_eq(m, m_floor(m, x), x), m_le(m, x, zero));
    r = m_sel(m, m_or(m, pole, m_eq(m, ax, inf)), inf, r);
    return m_sel(m, m_isnan(m, x), x, r);
}

/* Reflection, recurrence, asymptotic series (Abramowitz and Stegun 6.3.18). */
static rg_val digamma_of(const rg_mb *m, rg_val x) {
    static const double B[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                               1.0 / 132, -691.0 / 32760, 1.0 / 12};
    rg_build *b = m->b;
    rg_fn *f = b->fn;
    rg_val one = m_k(m, 1), zero = m_k(m, 0), half = m_k(m, 0.5), inf = rg_m_inf(m);
    rg_val minus = m_lt(m, x, zero);
    rg_val fraction = m_sub(m, x, m_rint(m, x));
    /* pi / tan(pi f): for |f| > 1/4 as the tangent of the rest */
    rg_val af = m_abs(m, fraction), small = m_le(m, af, m_k(m, 0.25));
    rg_val v = m_sel(m, small, af, m_sub(m, half, af));
    rg_val s = rg_m_sinpi_small(m, v), c = rg_m_cospi_small(m, v);
    rg_val cot = m_div(m, m_sel(m, small, c, s), m_sel(m, small, s, c));
    cot = rg_m_copysign(m, m_mul(m, pi_of(m), cot), fraction);
    rg_val start = m_sel(m, minus, m_neg(m, cot), zero);
    rg_val y = m_sel(m, minus, m_sub(m, one, x), x);
    rg_val n = m_to_int(m, m_sub(m, m_k(m, m->f64 ? 11 : 7), m_floor(m, y)));
    rg_val inits[3] = {y, start, zero};
    rg_iid loop = rg_b_for(b, m_i32(m, 0), n, inits, 3, 0);
    rg_b_push(b, rg_ins_at(f, loop)->region[0]);
    rg_val at = rg_b_arg(b, 1);
    rg_m2 sum = rg_m_add21(m, (rg_m2){rg_b_arg(b, 2), rg_b_arg(b, 3)}, m_neg(m, m_div(m, one, at)));
    rg_val next[3] = {m_add(m, at, one), sum.hi, sum.lo};
    rg_b_yield(b, next, 3);
    rg_b_pop(b);
    y = rg_result(f, loop, 0);
    rg_m2 r = {rg_result(f, loop, 1), rg_result(f, loop, 2)};
    rg_val i = m_div(m, one, y), i2 = m_mul(m, i, i);
    rg_val series = m_add(m, m_mul(m, half, i), m_mul(m, i2, rg_m_poly(m, i2, B, m->f64 ? 7 : 4)));
    r = rg_m_add2(m, r, rg_m_log2sum(m, m_sel(m, m_lt(m, y, inf), y, one)));
    rg_val d = m_add(m, r.hi, m_sub(m, r.lo, series));
    d = m_sel(m, m_eq(m, x, inf), inf, d);
    rg_val tiny = m_lt(m, m_abs(m, x), m_k2(m, 0x1p-40, 0x1p-80));
    d = m_sel(m, tiny, m_neg(m, m_div(m, one, x)), d);
    rg_val whole = m_and(m, minus, m_eq(m, m_floor(m, x), x));
    d = m_sel(m, whole, rg_m_nan(m), d);
    d = m_sel(m, m_eq(m, x, zero), m_neg(m, rg_m_copysign(m, inf, x)), d);
    return m_sel(m, m_isnan(m, x), x, d);
}

rg_val rg_m_special(const rg_mb *m, rg_op op, rg_val x) {
    switch (op) {
    case RG_ERF:
    case RG_ERFC:
        return erf_pair(m, x, op == RG_ERFC);
    case RG_TGAMMA:
        return gamma_of(m, x);
    case RG_LGAMMA:
        return log_gamma(m, x);
    default:
        return digamma_of(m, x);
    }
}
