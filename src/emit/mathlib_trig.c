/* Circular functions and their inverses.
 *
 * Arguments are reduced by multiples of pi/2: moderate ones by subtracting parts of pi/2 whose
 * products with the multiple are exact, large ones by multiplying with just those bits of 2/pi that
 * matter (Payne and Hanek), in integers. Kernels on [-pi/4, pi/4] and the arc functions are
 * fdlibm's. */
#include "emit/mathlib_parts.h"

/* x = q pi/2 + (hi + lo), |hi| <= pi/4 or a little more */
typedef struct reduced {
    rg_val q; /* i32; only its last two bits mean something */
    rg_m2 r;
} reduced;

static rg_m2 half_pi(const rg_mb *m) {
    return (rg_m2){m_k2(m, 0x1.921fb6p+0, 0x1.921fb54442d18p+0),
                   m_k2(m, -0x1.777a5cf72cec6p-25, 0x1.1a62633145c07p-54)};
}

/* x - k part, where the product is exact: fused or not, it comes out the same. */
static rg_val minus_part(const rg_mb *m, rg_val x, rg_val k, double part) {
    return rg_m_fma(m, k, m_k(m, -part), x);
}

/* Floats up to 2^13 in magnitude. k has 13 bits and each part of pi/2 has 11, so that all products
 * are exact; so are the first two differences. In the other two the smaller term's bits all fit
 * below the larger one's, or the difference is exact, which makes three operations enough to have
 * the error. Adding 1.5 2^23 rounds to an integer, whose last bits are then the sum's own. */
static reduced reduce_single(const rg_mb *m, rg_val x) {
    const double turn = 0x1.8p23;
    rg_val shifted = rg_m_fma(m, x, m_k(m, 0.63661977236758134308), m_k(m, turn));
    rg_val k = m_sub(m, shifted, m_k(m, turn));
    rg_val hi = minus_part(m, minus_part(m, x, k, 0x1.92p+0), k, 0x1.fb4p-12);
    rg_val lo = m_k(m, 0);
    static const double part[] = {0x1.444p-24, 0x1.68cp-39};
    for (int i = 0; i < 2; i++) {
        rg_val s = minus_part(m, hi, k, part[i]);
        rg_val e = minus_part(m, m_sub(m, hi, s), k, part[i]);
        lo = i ? m_add(m, lo, e) : e;
        hi = s;
    }
    lo = minus_part(m, lo, k, 0x1.1a62633145c07p-54);
    return (reduced){m_cast(m, RG_I32, m_bits(m, shifted)), {hi, lo}};
}

static reduced reduce_moderate(const rg_mb *m, rg_val x) {
    static const double part[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                  0x1.b839a252049c1p-104};
    if (!m->f64)
        return reduce_single(m, x);
    rg_val k = m_rint(m, m_mul(m, x, m_k(m, 0.63661977236758134308)));
    /* The first difference is exact: its terms are within a factor of two, or k is 0. */
    rg_m2 r = {m_sub(m, x, m_mul(m, k, m_k(m, part[0]))), m_k(m, 0)};
    for (int i = 1; i < 4; i++) {
        rg_m2 s = rg_m_two_sum(m, r.hi, m_neg(m, m_mul(m, k, m_k(m, part[i]))));
        r = (rg_m2){s.hi, m_add(m, r.lo, s.lo)};
    }
    return (reduced){m_to_int(m, k), rg_m_fast_sum(m, r.hi, r.lo)};
}

/* Bits of 2/pi after the point. */
static const uint32_t two_over_pi[] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
    0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du};

enum { LIMBS = 6, TABLE = 64 };

/* Limb number `at` of 2/pi, after two limbs of zeros: a tree of selects, a level for each bit. */
static rg_val fetch(const rg_mb *m, rg_val at) {
    rg_val limb[TABLE];
    int n = m->f64 ? 40 : 16;
    limb[0] = limb[1] = m_i(m, 0);
    for (int i = 2; i < n; i++) {
        int k = i - 2;
        uint32_t word = m->f64 ? two_over_pi[k] : two_over_pi[k / 2] >> (k % 2 ? 0 : 16) & 0xffffu;
        limb[i] = m_i(m, word);
    }
    for (int bit = 1; n > 1; bit *= 2, n = (n + 1) / 2) {
        rg_val odd = m_ne(m, m_and(m, at, m_i32(m, bit)), m_i32(m, 0));
        for (int i = 0; i < n; i += 2)
            limb[i / 2] = i + 1 < n ? m_sel(m, odd, limb[i + 1], limb[i]) : limb[i];
    }
    return limb[0];
}

/* Numbers are limbs of half the integer's width, so that products fit. x is finite, and its last
 * bit is worth 2^-32 at least (f32: 2^-12). The product of its significand with a window of 2/pi
 * comes out limb by limb, the least significant first, into a register of three words. */
static reduced reduce_large(const rg_mb *m, rg_val x) {
    rg_build *b = m->b;
    rg_fn *fn = b->fn;
    int width = m->f64 ? 32 : 16;
    uint64_t limb_mask = ((uint64_t)1 << width) - 1, implicit = (uint64_t)1 << m->mantissa;
    rg_val mask = m_i(m, limb_mask), none = m_i(m, 0), u = m_bits(m, m_abs(m, x));
    rg_val e = m_sub(m, m_to_int(m, m_shr(m, u, m->mantissa)), m_i32(m, m->bias + m->mantissa));
    rg_val M = m_or(m, m_and(m, u, m_i(m, implicit - 1)), m_i(m, implicit));
    rg_val m0 = m_and(m, M, mask), m1 = m_shr(m, M, width);
    /* Bits of 2/pi above position e - 2 give multiples of 4 only. Two limbs of zeros come before
     * the point, because e may be negative. */
    rg_val j = m_add(m, e, m_i32(m, 2 * width - 2));
    rg_val first = m_shr(m, j, m->f64 ? 5 : 4), within = m_and(m, j, m_i32(m, width - 1));
    rg_val back = m_sub(m, m_i32(m, width), within);
    rg_val inits[7] = {none, none, none, none, none, none, none};
    rg_iid loop = rg_b_for(b, m_i32(m, 0), m_i32(m, LIMBS + 1), inits, 7, RG_INS_REVERSE);
    rg_b_push(b, rg_ins_at(fn, loop)->region[0]);
    rg_val raw_below = rg_b_arg(b, 1), a_below = rg_b_arg(b, 2), carry = rg_b_arg(b, 3);
    rg_val before = rg_b_arg(b, 4), p0 = rg_b_arg(b, 5), p1 = rg_b_arg(b, 6), p2 = rg_b_arg(b, 7);
    rg_val raw = fetch(m, m_add(m, first, rg_b_arg(b, 0)));
    rg_val a = m_or(m, rg_b_op2(b, RG_SHL, raw, within), rg_b_op2(b, RG_SHR, raw_below, back));
    a = m_and(m, a, mask);
    rg_val x0 = m_mul(m, a, m0), x1 = m_mul(m, a_below, m1);
    /* low half of this limb times m0, high half of the one below times m0, low half of the one
     * below times m1; what is carried has the high half of that */
    rg_val sum = m_add(m, m_and(m, x0, mask), before);
    sum = m_add(m, sum, m_add(m, m_and(m, x1, mask), carry));
    rg_val next[7] = {raw,
                      a,
                      m_add(m, m_shr(m, sum, width), m_shr(m, x1, width)),
                      m_shr(m, x0, width),
                      m_or(m, m_shr(m, p0, width), m_shl(m, p1, width)),
                      m_or(m, m_shr(m, p1, width), m_shl(m, p2, width)),
                      m_or(m, m_shr(m, p2, width), m_shl(m, m_and(m, sum, mask), width))};
    rg_b_yield(b, next, 7);
    rg_b_pop(b);
    rg_val p[3] = {rg_result(fn, loop, 6), rg_result(fn, loop, 5), rg_result(fn, loop, 4)};
    /* p is a fraction of four quarter turns: above a half of one count from the next. */
    rg_val q = m_to_int(m, m_shr(m, p[0], 2 * width - 2));
    rg_val over = m_ne(m, m_and(m, m_shr(m, p[0], 2 * width - 3), m_i(m, 1)), none);
    q = m_add(m, q, m_sel(m, over, m_i32(m, 1), m_i32(m, 0)));
    rg_val flip = m_sel(m, over, m_i(m, m->f64 ? UINT64_MAX : UINT32_MAX), none);
    rg_m2 r = {m_k(m, 0), m_k(m, 0)};
    double weight = 1;
    for (int i = 0; i < 3; i++) {
        rg_val f = m_shl(m, p[i], 2);
        if (i < 2)
            f = m_or(m, f, m_shr(m, p[i + 1], 2 * width - 2));
        f = m_xor(m, f, flip);
        for (int half = 0; half < 2; half++) {
            rg_val limb = half ? m_and(m, f, mask) : m_shr(m, f, width);
            weight /= (double)((uint64_t)1 << width);
            r = rg_m_add21(m, r, m_mul(m, m_from_int(m, limb), m_k(m, weight)));
        }
    }
    r = rg_m_mul2(m, r, half_pi(m));
    rg_val minus = m_xor(m, over, rg_m_signbit(m, x));
    r.hi = m_sel(m, minus, m_neg(m, r.hi), r.hi);
    r.lo = m_sel(m, minus, m_neg(m, r.lo), r.lo);
    q = m_sel(m, rg_m_signbit(m, x), m_neg(m, q), q);
    return (reduced){q, r};
}

static reduced reduce(const rg_mb *m, rg_val x) {
    rg_build *b = m->b;
    rg_val large = m_gt(m, m_abs(m, x), m_k2(m, 0x1p13, 0x1p20));
    large = m_and(m, large, m_lt(m, m_abs(m, x), rg_m_inf(m)));
    rg_iid i = rg_b_if(b, large);
    for (int k = 0; k < 2; k++) {
        rg_b_push(b, rg_ins_at(b->fn, i)->region[k]);
        reduced r = k ? reduce_moderate(m, x) : reduce_large(m, x);
        rg_val out[3] = {r.q, r.r.hi, r.r.lo};
        rg_b_yield(b, out, 3);
        rg_b_pop(b);
    }
    rg_b_if_done(b, i);
    return (reduced){rg_result(b->fn, i, 0), {rg_result(b->fn, i, 1), rg_result(b->fn, i, 2)}};
}

/* In floats few operations decide the error: 1.2 ulp, 1.4 where nothing is fused (over all floats
 * that reduce_single takes). Minimax coefficients on [-pi/4, pi/4]. */
static rg_val sin_single(const rg_mb *m, rg_val x, rg_val y) {
    static const double S[] = {-1.66666666e-01, 8.33332938e-03, -1.98393329e-04, 2.71829255e-06};
    rg_val z = m_mul(m, x, x), p = rg_m_poly(m, z, S, 4);
    return m_add(m, x, rg_m_fma(m, m_mul(m, z, x), p, y));
}

static rg_val cos_single(const rg_mb *m, rg_val x, rg_val y) {
    static const double C[] = {-0.5, 4.16666468e-02, -1.38873660e-03, 2.44382661e-05};
    rg_val z = m_mul(m, x, x), p = rg_m_poly(m, z, C, 4);
    return m_add(m, m_k(m, 1), rg_m_fma(m, z, p, m_neg(m, m_mul(m, x, y))));
}

static rg_val sin_kernel(const rg_mb *m, rg_val x, rg_val y) {
    if (!m->f64)
        return sin_single(m, x, y);
    static const double S[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04,
                               2.75573137070700676789e-06, -2.50507602534068634195e-08,
                               1.58969099521155010221e-10};
    rg_val z = m_mul(m, x, x), v = m_mul(m, z, x), r = rg_m_poly(m, z, S, 5);
    rg_val t = m_sub(m, m_mul(m, z, m_sub(m, m_mul(m, m_k(m, 0.5), y), m_mul(m, v, r))), y);
    t = m_sub(m, t, m_mul(m, v, m_k(m, -1.66666666666666324348e-01)));
    return m_sub(m, x, t);
}

static rg_val cos_kernel(const rg_mb *m, rg_val x, rg_val y) {
    if (!m->f64)
        return cos_single(m, x, y);
    static const double C[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                               2.48015872894767294178e-05, -2.75573143513906633035e-07,
                               2.08757232129817482790e-09, -1.13596475577881948265e-11};
    rg_val one = m_k(m, 1), z = m_mul(m, x, x);
    rg_val r = m_mul(m, z, rg_m_poly(m, z, C, 6));
    rg_val hz = m_mul(m, m_k(m, 0.5), z), w = m_sub(m, one, hz);
    rg_val t = m_add(m, m_sub(m, m_sub(m, one, w), hz), m_sub(m, m_mul(m, z, r), m_mul(m, x, y)));
    return m_add(m, w, t);
}

rg_val rg_m_trig(const rg_mb *m, rg_op op, rg_val x) {
    reduced d = reduce(m, x);
    rg_val s = sin_kernel(m, d.r.hi, d.r.lo), c = cos_kernel(m, d.r.hi, d.r.lo);
    rg_val zero = m_i32(m, 0), inf = rg_m_inf(m);
    rg_val odd = m_ne(m, m_and(m, d.q, m_i32(m, 1)), zero), r;
    if (op == RG_TAN) {
        r = m_div(m, m_sel(m, odd, m_neg(m, c), s), m_sel(m, odd, s, c));
    } else {
        rg_val q = op == RG_COS ? m_add(m, d.q, m_i32(m, 1)) : d.q;
        r = op == RG_COS ? m_sel(m, odd, s, c) : m_sel(m, odd, c, s);
        rg_val minus = m_ne(m, m_and(m, q, m_i32(m, 2)), zero);
        r = m_sel(m, minus, m_neg(m, r), r);
    }
    if (op != RG_COS) /* the sign of a zero */
        r = m_sel(m, m_eq(m, x, m_k(m, 0)), x, r);
    if (!m->f64) /* infinity has come out as NaN */
        return r;
    return m_sel(m, m_lt(m, m_abs(m, x), inf), r, m_sub(m, x, x));
}

rg_val rg_m_sinpi_small(const rg_mb *m, rg_val x) {
    rg_m2 pi = half_pi(m);
    pi.hi = m_mul(m, pi.hi, m_k(m, 2));
    pi.lo = m_mul(m, pi.lo, m_k(m, 2));
    rg_m2 r = rg_m_mul21(m, pi, x);
    return sin_kernel(m, r.hi, r.lo);
}

rg_val rg_m_cospi_small(const rg_mb *m, rg_val x) {
    rg_m2 pi = half_pi(m);
    pi.hi = m_mul(m, pi.hi, m_k(m, 2));
    pi.lo = m_mul(m, pi.lo, m_k(m, 2));
    rg_m2 r = rg_m_mul21(m, pi, x);
    return cos_kernel(m, r.hi, r.lo);
}

/* ---- arc functions ---- */

/* (asin x - x) / x for z = x^2 <= 1/4 */
static rg_val asin_ratio(const rg_mb *m, rg_val z) {
    static const double P[] = {1.66666666666666657415e-01, -3.25565818622400915405e-01,
                               2.01212532134862925881e-01, -4.00555345006794114027e-02,
                               7.91534994289814532176e-04, 3.47933107596021167570e-05};
    static const double Q[] = {1, -2.40339491173441421878e+00, 2.02094576023350569471e+00,
                               -6.88283971605453293030e-01, 7.70381505559019352791e-02};
    return m_div(m, m_mul(m, z, rg_m_poly(m, z, P, 6)), rg_m_poly(m, z, Q, 5));
}

static rg_val asin_acos(const rg_mb *m, bool is_sin, rg_val x) {
    rg_val ax = m_abs(m, x), one = m_k(m, 1), half = m_k(m, 0.5), two = m_k(m, 2);
    rg_m2 h = half_pi(m);
    rg_val small = m_lt(m, ax, half);
    rg_val z = m_sel(m, small, m_mul(m, x, x), m_mul(m, m_sub(m, one, ax), half));
    rg_val R = asin_ratio(m, z);
    /* The root of z to more than its own digits: f + c. */
    rg_val s = m_sqrt(m, z);
    uint64_t mask = m->f64 ? ~(uint64_t)0xffffffffu : 0xfffff000u;
    rg_val f = m_float(m, m_and(m, m_bits(m, s), m_i(m, mask)));
    rg_val c = m_div(m, m_sub(m, z, m_mul(m, f, f)), m_add(m, s, f));
    c = m_sel(m, m_gt(m, s, m_k(m, 0)), c, m_k(m, 0));
    s = m_add(m, f, c);
    rg_val r;
    if (is_sin) {
        rg_val at_small = m_add(m, ax, m_mul(m, ax, R));
        rg_val quarter = m_mul(m, half, h.hi);
        rg_val t = m_sub(m, m_mul(m, m_mul(m, two, s), R), m_sub(m, h.lo, m_mul(m, two, c)));
        t = m_sub(m, t, m_sub(m, quarter, m_mul(m, two, f)));
        r = rg_m_copysign(m, m_sel(m, small, at_small, m_sub(m, quarter, t)), x);
    } else {
        rg_val at_small = m_sub(m, h.hi, m_sub(m, x, m_sub(m, h.lo, m_mul(m, x, R))));
        rg_val sr = m_mul(m, s, R);
        rg_val minus = m_mul(m, two, m_sub(m, h.hi, m_add(m, s, m_sub(m, sr, h.lo))));
        rg_val plus = m_mul(m, two, m_add(m, f, m_add(m, sr, c)));
        r = m_sel(m, small, at_small, m_sel(m, m_lt(m, x, m_k(m, 0)), minus, plus));
    }
    r = m_sel(m, m_gt(m, ax, one), rg_m_nan(m), r);
    return m_sel(m, m_isnan(m, x), x, r);
}

/* atan of a >= 0 */
static rg_val atan_positive(const rg_mb *m, rg_val a) {
    static const double T[] = {
        3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
        6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02};
    static const double limit[] = {0.4375, 0.6875, 1.1875, 2.4375};
    rg_val zero = m_k(m, 0), one = m_k(m, 1), two = m_k(m, 2), x15 = m_k(m, 1.5);
    rg_val up[4] = {m_sub(m, m_add(m, a, a), one), m_sub(m, a, one), m_sub(m, a, x15), m_k(m, -1)};
    rg_val down[4] = {m_add(m, two, a), m_add(m, a, one), m_add(m, one, m_mul(m, x15, a)), a};
    rg_val hi[4] = {m_k2(m, 4.6364760399e-01, 4.63647609000806093515e-01),
                    m_k2(m, 7.8539812565e-01, 7.85398163397448278999e-01),
                    m_k2(m, 9.8279368877e-01, 9.82793723247329054082e-01),
                    m_k2(m, 1.5707962513e+00, 1.57079632679489655800e+00)};
    rg_val lo[4] = {m_k2(m, 5.0121582440e-09, 2.26987774529616870924e-17),
                    m_k2(m, 3.7748947079e-08, 3.06161699786838301793e-17),
                    m_k2(m, 3.4473217170e-08, 1.39033110312309984516e-17),
                    m_k2(m, 7.5497894159e-08, 6.12323399573676603587e-17)};
    rg_val n = up[3], d = down[3], h = hi[3], l = lo[3];
    for (int k = 2; k >= 0; k--) {
        rg_val here = m_lt(m, a, m_k(m, limit[k + 1]));
        n = m_sel(m, here, up[k], n);
        d = m_sel(m, here, down[k], d);
        h = m_sel(m, here, hi[k], h);
        l = m_sel(m, here, lo[k], l);
    }
    rg_val small = m_lt(m, a, m_k(m, limit[0]));
    rg_val x = m_sel(m, small, a, m_div(m, n, d));
    h = m_sel(m, small, zero, h);
    l = m_sel(m, small, zero, l);
    rg_val z = m_mul(m, x, x);
    rg_val s = m_mul(m, x, m_mul(m, z, rg_m_poly(m, z, T, m->f64 ? 11 : 10)));
    /* h - ((x s - l) - x); with h = l = 0 that is x - x s */
    return m_sub(m, h, m_sub(m, m_sub(m, s, l), x));
}

rg_val rg_m_arc(const rg_mb *m, rg_op op, rg_val x, rg_val y) {
    if (op == RG_ASIN || op == RG_ACOS)
        return asin_acos(m, op == RG_ASIN, x);
    if (op == RG_ATAN) {
        rg_val r = rg_m_copysign(m, atan_positive(m, m_abs(m, x)), x);
        return m_sel(m, m_isnan(m, x), x, r);
    }
    /* atan2(x, y): C's names are the other way round */
    rg_val ay = m_abs(m, x), ax = m_abs(m, y), zero = m_k(m, 0), inf = rg_m_inf(m);
    rg_val q = m_div(m, ay, ax);
    q = m_sel(m, m_eq(m, ay, zero), zero, q);
    q = m_sel(m, m_and(m, m_eq(m, ax, inf), m_eq(m, ay, inf)), m_k(m, 1), q);
    rg_val a = atan_positive(m, q);
    rg_m2 h = half_pi(m);
    rg_val pi_hi = m_mul(m, h.hi, m_k(m, 2)), pi_lo = m_mul(m, h.lo, m_k(m, 2));
    rg_val r = m_sel(m, rg_m_signbit(m, y), m_sub(m, pi_hi, m_sub(m, a, pi_lo)), a);
    r = rg_m_copysign(m, r, x);
    return m_sel(m, m_or(m, m_isnan(m, x), m_isnan(m, y)), m_add(m, x, y), r);
}
