/* The maths library against the C library in a wider type: each function is built as IR and run by
 * the interpreter on random arguments of every size, on the ranges where it is hard, and on special
 * values. Bounds in ulps, the same as in docs/maths.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/mathlib.h"
#include "ir/eval.h"
#include "ir/interp.h"
#include "ir/verify.h"

typedef long double wide;

static wide wide_digamma(wide x) {
    wide r = 0;
    if (x < 0) {
        wide f = x - rintl(x);
        const wide pi = 3.14159265358979323846264338327950288L;
        r = -pi / tanl(pi * f);
        x = 1 - x;
    }
    while (x < 30) {
        r -= 1 / x;
        x += 1;
    }
    wide s = 1 / (x * x);
    return r + logl(x) - 0.5L / x -
           s * (1.0L / 12 -
                s * (1.0L / 120 - s * (1.0L / 252 - s * (1.0L / 240 - s * (1.0L / 132)))));
}
static wide wide_ilogb(wide x) {
    return ilogbl(x);
}
static wide wide_signbit(wide x) {
    return signbit(x) != 0;
}

typedef struct test_case {
    rg_op op;
    wide (*one)(wide);
    wide (*two)(wide, wide);
    double ulp32, ulp64; /* bounds */
    double lo, hi;       /* range that gets half of the points */
    double zero;         /* absolute error near zeros that have no relative one, in ulps of 1 */
} test_case;

static const test_case cases[] = {
    {RG_SIN, sinl, NULL, 2, 2, -40, 40, 0},
    {RG_COS, cosl, NULL, 2, 2, -40, 40, 0},
    {RG_TAN, tanl, NULL, 4, 4, -40, 40, 0},
    {RG_ASIN, asinl, NULL, 2, 2, -1, 1, 0},
    {RG_ACOS, acosl, NULL, 2, 2, -1, 1, 0},
    {RG_ATAN, atanl, NULL, 2, 2, -4, 4, 0},
    {RG_SINH, sinhl, NULL, 3, 3, -5, 5, 0},
    {RG_COSH, coshl, NULL, 3, 3, -5, 5, 0},
    {RG_TANH, tanhl, NULL, 3, 3, -3, 3, 0},
    {RG_ASINH, asinhl, NULL, 3, 3, -4, 4, 0},
    {RG_ACOSH, acoshl, NULL, 3, 3, 1, 4, 0},
    {RG_ATANH, atanhl, NULL, 3, 3, -1, 1, 0},
    {RG_EXP, expl, NULL, 2, 2, -80, 80, 0},
    {RG_EXP2, exp2l, NULL, 2, 2, -120, 120, 0},
    {RG_EXPM1, expm1l, NULL, 2, 2, -4, 4, 0},
    {RG_LOG, logl, NULL, 2, 2, 0, 4, 0},
    {RG_LOG2, log2l, NULL, 2, 2, 0, 4, 0},
    {RG_LOG10, log10l, NULL, 2, 2, 0, 4, 0},
    {RG_LOG1P, log1pl, NULL, 2, 2, -1, 4, 0},
    {RG_CBRT, cbrtl, NULL, 1, 1, -9, 9, 0},
    {RG_ERF, erfl, NULL, 2, 2, -4, 4, 0},
    {RG_ERFC, erfcl, NULL, 4, 4, -4, 9, 0},
    {RG_TGAMMA, tgammal, NULL, 8, 8, -20, 30, 0},
    {RG_LGAMMA, lgammal, NULL, 4, 4, -8, 20, 16},
    {RG_DIGAMMA, wide_digamma, NULL, 4, 4, -8, 20, 64},
    {RG_ROUND, roundl, NULL, 0, 0, -9, 9, 0},
    {RG_LOGB, logbl, NULL, 0, 0, -9, 9, 0},
    {RG_ILOGB, wide_ilogb, NULL, 0, 0, -9, 9, 0},
    {RG_SIGNBIT, wide_signbit, NULL, 0, 0, -9, 9, 0},
    {RG_POW, NULL, powl, 2, 2, 0, 10, 0},
    {RG_ATAN2, NULL, atan2l, 2, 2, -4, 4, 0},
    {RG_HYPOT, NULL, hypotl, 1, 1, -4, 4, 0},
    {RG_FMOD, NULL, fmodl, 0, 0, -20, 20, 0},
    {RG_REMAINDER, NULL, remainderl, 0, 0, -20, 20, 0},
    {RG_FDIM, NULL, fdiml, 0.5, 0.5, -4, 4, 0},
    {RG_COPYSIGN, NULL, copysignl, 0, 0, -4, 4, 0},
};

static uint64_t seed = 88172645463325252u;
static uint64_t next_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
static double uniform(double lo, double hi) {
    return lo + (hi - lo) * (double)(next_bits() >> 11) * 0x1p-53;
}

static const double special[] = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 -0.5,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 1.5,
                                 -1.5,
                                 4,
                                 10,
                                 100,
                                 -100,
                                 0.25,
                                 0.75,
                                 1e-3,
                                 1e-30,
                                 -1e-30,
                                 1e30,
                                 -1e30,
                                 INFINITY,
                                 -(double)INFINITY,
                                 NAN,
                                 1e-40,
                                 1e38,
                                 88.5,
                                 89.5,
                                 -87,
                                 -104,
                                 128,
                                 -150,
                                 1.57079637050628662109375,
                                 3.1415927410125732421875,
                                 0x1.0p-149,
                                 0x1p-126,
                                 1.0000001,
                                 0.99999994,
                                 0x1.fffffep127};
static const double special64[] = {709.5,
                                   710,
                                   -745,
                                   -746,
                                   1e300,
                                   -1e300,
                                   1e-310,
                                   5e-324,
                                   0x1.fffffffffffffp1023,
                                   6381956970095103.0 * 0x1p797,
                                   1023,
                                   1024,
                                   -1074,
                                   -1075,
                                   171.5,
                                   172};

static double random_argument(const test_case *t, rg_type type, int k) {
    double x;
    if (k % 2) {
        x = uniform(t->lo, t->hi);
    } else {
        uint64_t bits = next_bits();
        if (type == RG_F32) {
            uint32_t low = (uint32_t)bits;
            float v;
            memcpy(&v, &low, sizeof v);
            return (double)v;
        }
        memcpy(&x, &bits, sizeof x);
    }
    return type == RG_F32 ? (double)(float)x : x;
}

/* void f(const T x[n], const T y[n], R out[n]) */
static rg_fn *build(rg_arena *a, rg_op op, rg_type t, rg_type result) {
    rg_fn *f = rg_fn_new(a, NULL, rg_ops[op].text);
    rg_build *b = rg_b_new(f);
    rg_val count = rg_b_int(b, RG_I64, 4096);
    rg_aid arrays[3];
    for (int k = 0; k < 3; k++) {
        rg_val *e = RG_NEW(a, rg_val);
        *e = count;
        rg_mem mem = rg_type_mem(k == 2 ? result : t);
        rg_ir_array init = {.name = k == 0   ? "x"
                                    : k == 1 ? "y"
                                             : "out",
                            .kind = RG_ARR_PARAM,
                            .elem = rg_elem_scalar(mem),
                            .rank = 1,
                            .extents = e,
                            .param = (uint32_t)k};
        arrays[k] = rg_array_new(f, &init);
        rg_param p = {
            .name = init.name, .is_array = true, .array = arrays[k], .elem = init.elem, .rank = 1};
        RG_PUSH(a, &f->params, p);
    }
    rg_val bounds[2] = {rg_b_int(b, RG_I64, 0), count};
    rg_iid loop = rg_b_parallel(b, bounds, 1, NULL, NULL, 0);
    rg_b_push(b, rg_ins_at(f, loop)->region[0]);
    rg_val i = rg_b_arg(b, 0);
    rg_val x[2] = {rg_b_load(b, arrays[0], 0, &i, 0), rg_b_load(b, arrays[1], 0, &i, 0)};
    rg_val r = rg_math_build(b, op, t, x);
    rg_b_store(b, arrays[2], 0, &i, r, 0);
    rg_b_yield(b, NULL, 0);
    rg_b_pop(b);
    rg_b_yield(b, NULL, 0);
    rg_text why = {.arena = a};
    if (!rg_ir_verify(f, &why))
        fail_msg("%s: %s", rg_ops[op].text, rg_text_str(&why));
    return f;
}

static double get(const void *data, rg_type t, int k) {
    switch (t) {
    case RG_F32:
        return (double)((const float *)data)[k];
    case RG_F64:
        return ((const double *)data)[k];
    case RG_I32:
        return ((const int32_t *)data)[k];
    default:
        return ((const unsigned char *)data)[k];
    }
}

static wide ulp_of(rg_type t, wide v) {
    int e = v == 0 ? -5000 : ilogbl(fabsl(v));
    int least = t == RG_F32 ? -126 : -1022, digits = t == RG_F32 ? 23 : 52;
    return ldexpl(1, (e < least ? least : e) - digits);
}

enum { N = 4096 };

static void check(const test_case *t, rg_type type, int rounds) {
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    if (RG_GUARD(a))
        fail_msg("%s: %s", rg_ops[t->op].text, rg_arena_message(a));
    rg_type result = t->op == RG_ILOGB ? RG_I32 : t->op == RG_SIGNBIT ? RG_BOOL : type;
    rg_fn *f = build(a, t->op, type, result);
    static double x[N], y[N], out[N]; /* room for floats too */
    int64_t extents[1] = {N};
    rg_interp_array arrays[4] = {{0}, {x, extents}, {y, extents}, {out, extents}};
    rg_interp_args args = {.arrays = arrays};
    double bound = type == RG_F32 ? t->ulp32 : t->ulp64;
    wide worst = 0;
    double worst_x = 0, worst_y = 0;
    int ns = sizeof special / sizeof *special, n64 = sizeof special64 / sizeof *special64;
    int all = ns + (type == RG_F64 ? n64 : 0);
    for (int round = 0; round < rounds; round++) {
        for (int k = 0; k < N; k++) {
            int at = round ? all * all : k; /* the first round: special values, in pairs */
            double u = random_argument(t, type, k), v = random_argument(t, type, k + (k / 2) % 2);
            if (round == 0 && at < all * all) {
                int p = at % all, q = at / all;
                u = p < ns ? special[p] : special64[p - ns];
                v = q < ns ? special[q] : special64[q - ns];
            }
            if (type == RG_F32) {
                ((float *)x)[k] = (float)u;
                ((float *)y)[k] = (float)v;
            } else {
                x[k] = u;
                y[k] = v;
            }
        }
        rg_text why = {.arena = a};
        if (!rg_interp(f, &args, &why, NULL))
            fail_msg("%s", rg_text_str(&why));
        for (int k = 0; k < N; k++) {
            double u = get(x, type, k), v = get(y, type, k), got = get(out, result, k);
            wide want = t->one ? t->one(u) : t->two(u, v);
            if (t->op == RG_DIGAMMA && (u == 0 || isinf(u)))
                want = u == 0 ? (signbit(u) ? INFINITY : -INFINITY) : u > 0 ? INFINITY : NAN;
            if (t->op == RG_DIGAMMA && u < 0 && floor(u) == u)
                want = NAN;
            if (t->op == RG_TGAMMA && isinf(u) && u < 0)
                want = NAN;
            double rounded = result == RG_F32 ? (double)(float)want : (double)want;
            if ((isnan(rounded) && isnan(got)) || rounded == got) {
                bool sign =
                    rg_type_is_float(result) && !isnan(got) && signbit(rounded) != signbit(got);
                if (sign && t->op != RG_FDIM)
                    fail_msg("%s(%a, %a) = %a, not %a: sign", rg_ops[t->op].text, u, v, got,
                             rounded);
                continue;
            }
            wide error = fabsl((wide)got - want) / ulp_of(type, want);
            if (isnan(rounded) || isnan(got) || isinf(rounded) || isinf(got)) {
                /* One ulp from the largest number is infinity. */
                double most = type == RG_F32 ? 0x1.fffffcp127 : 0x1.ffffffffffff8p1023;
                if (!(fabsl(want) > most && fabs(got) > most))
                    error = INFINITY;
            }
            if (t->zero > 0 && error < INFINITY) {
                wide absolute = fabsl((wide)got - want) / ulp_of(type, 1);
                if (absolute < t->zero)
                    continue;
            }
            if (error > worst) {
                worst = error;
                worst_x = u;
                worst_y = v;
            }
        }
    }
    if (getenv("RG_VERBOSE"))
        printf("%-10s %s  %.2Lf ulp at %a %a (%g)\n", rg_ops[t->op].text, rg_type_name(type), worst,
               worst_x, worst_y, worst_x);
    else if (worst > (wide)bound)
        fail_msg("%s of %s: %.2Lf ulp at %a, %a; the bound is %g", rg_ops[t->op].text,
                 rg_type_name(type), worst, worst_x, worst_y, bound);
    rg_arena_free(a);
}

static void test_accuracy(void **state) {
    (void)state;
    const char *n = getenv("RG_ROUNDS"), *only = getenv("RG_ONLY");
    int rounds = n ? atoi(n) : 4;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (only && strcmp(only, rg_ops[cases[k].op].text) != 0)
            continue;
        check(&cases[k], RG_F32, rounds);
        check(&cases[k], RG_F64, rounds);
    }
}

static void check_steps(rg_type t) {
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    if (RG_GUARD(a))
        fail_msg("%s", rg_arena_message(a));
    rg_fn *f = build(a, RG_NEXTAFTER, t, t);
    static double x[N], y[N], out[N];
    int64_t extents[1] = {N};
    rg_interp_array arrays[4] = {{0}, {x, extents}, {y, extents}, {out, extents}};
    rg_interp_args args = {.arrays = arrays};
    int ns = sizeof special / sizeof *special;
    for (int k = 0; k < N; k++) {
        double u = special[k % ns], v = special[k / ns % ns];
        if (t == RG_F32) {
            ((float *)x)[k] = (float)u;
            ((float *)y)[k] = (float)v;
        } else {
            x[k] = u;
            y[k] = v;
        }
    }
    assert_true(rg_interp(f, &args, NULL, NULL));
    for (int k = 0; k < N; k++) {
        double u = get(x, t, k), v = get(y, t, k), got = get(out, t, k);
        double want = t == RG_F32 ? (double)nextafterf((float)u, (float)v) : nextafter(u, v);
        if (!(isnan(want) && isnan(got)) && memcmp(&want, &got, sizeof got) != 0)
            fail_msg("nextafter(%a, %a) = %a, not %a", u, v, got, want);
    }
    rg_arena_free(a);
}

static void test_steps(void **state) {
    (void)state;
    check_steps(RG_F32);
    check_steps(RG_F64);
}

static void test_ldexp(void **state) {
    (void)state;
    rg_arena *a = rg_arena_new(NULL);
    assert_non_null(a);
    if (RG_GUARD(a))
        fail_msg("%s", rg_arena_message(a));
    /* By constant folding: every op of the library folds, so a constant comes out. */
    static const int powers[] = {0,    1,     -1,    10,    -10,  100,  -100, 127,
                                 -126, 128,   -127,  -149,  -150, -151, 200,  -200,
                                 1023, -1022, -1074, -1075, 2100, -2100};
    for (rg_type t = RG_F32; t <= RG_F64; t++)
        for (size_t k = 0; k < sizeof special / sizeof *special; k++)
            for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
                double u = t == RG_F32 ? (double)(float)special[k] : special[k];
                rg_fn *f = rg_fn_new(a, NULL, "ldexp");
                rg_build *b = rg_b_new(f);
                rg_val x[2] = {rg_b_real(b, t, u), rg_b_int(b, RG_I32, powers[p])};
                rg_val r = rg_math_build(b, RG_LDEXP, t, x);
                static double got; /* static: it stands across the guard's setjmp */
                double want =
                    t == RG_F32 ? (double)ldexpf((float)u, powers[p]) : ldexp(u, powers[p]);
                assert_true(rg_val_const_real(f, r, &got));
                if (!(isnan(want) && isnan(got)) && memcmp(&want, &got, sizeof got) != 0)
                    fail_msg("ldexp(%a, %d) = %a, not %a", u, powers[p], got, want);
            }
    rg_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_ldexp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
