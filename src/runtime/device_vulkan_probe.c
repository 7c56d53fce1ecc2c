/* What a driver says it can, and what comes out, are two things. Each probe is a small kernel in
 * kernel C, compiled and launched like any other, whose results are known; what it measures is the
 * whole way, emitter, translator, compiler and device. It runs once per version of driver and of
 * Retrograd; the answers are kept in the cache.
 *
 * A probe that fails loses the features it rests on, one at a time, until it passes on a fallback;
 * one that has no fallback either takes its own feature with it (a device without doubles) or rules
 * the addressing mode out. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include "compile/key.h"
#include "compile/version.h"
#include "runtime/array.h"
#include "runtime/cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBES_VERSION = 4, MOST_ARRAYS = 48, N = 4096 };

/* One run of one probe. */
typedef struct trial {
    rg_vk *v;
    rg_module *module;
    rg_kernel *kernel;
    rg_arg args[MOST_ARRAYS];
    rg_array *made[MOST_ARRAYS];
    uint32_t nargs, nmade;
    int32_t n;
    rg_status status;
} trial;

static void use_kernel(trial *t, const char *name) {
    if (t->status == RG_OK)
        t->status = rg_module_kernel(t->module, name, &t->kernel);
    t->nargs = 0;
}

static void value(trial *t, const void *at) {
    t->args[t->nargs++] = (rg_arg){NULL, at, NULL};
}

static rg_array *array(trial *t, rg_dtype type, int64_t n, const void *data, bool gradient) {
    rg_array *a = NULL;
    if (t->status == RG_OK)
        t->status = rg_array_new(t->v->dev, type, 1, &n, gradient, &a);
    if (t->status == RG_OK)
        t->made[t->nmade++] = a;
    if (t->status == RG_OK && data)
        t->status = rg_array_write(a, RG_DATA, data, (size_t)n * rg_dtype_size(type));
    t->args[t->nargs++] = (rg_arg){a, NULL, NULL};
    return a;
}

static void launch(trial *t) {
    if (t->status == RG_OK)
        t->status = rg_launch(t->kernel, t->args, t->nargs);
}

/* Clears `to` when there is no result, so that a check of it fails. */
static bool result(trial *t, rg_array *a, rg_part part, void *to, size_t bytes) {
    if (t->status == RG_OK)
        t->status = rg_array_read(a, part, to, bytes);
    return t->status == RG_OK;
}

/* ---- the probes ---- */

/* clang-format off */
#define PLACES(X)                                                                                  \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17)   \
    X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31) X(32)      \
    X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40)
/* clang-format on */

static const char places_text[] = "void places(int n"
#define X(k) ", float a" #k "[n]"
    PLACES(X)
#undef X
        ") {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) {\n"
#define X(k) "a" #k "[i] = a" #k "[i] * 2 + i + " #k ";\n"
    PLACES(X)
#undef X
        "} }\n";

/* Which: 0 all, else the one in that place. */
static bool place_is_right(trial *t, uint32_t which) {
    float x[16], y[16];
    rg_array *a[40];
    t->n = 16;
    use_kernel(t, "places");
    value(t, &t->n);
    for (uint32_t k = 0; k < 40; k++) {
        for (int i = 0; i < 16; i++)
            x[i] = (float)(100 * (int)k + i);
        a[k] = array(t, RG_DTYPE_F32, 16, x, false);
    }
    launch(t);
    bool ok = true;
    for (uint32_t k = 0; k < 40; k++) {
        if (which && k + 1 != which)
            continue;
        if (!result(t, a[k], RG_DATA, y, sizeof y))
            return false;
        for (int i = 0; i < 16; i++)
            ok &= y[i] == (float)(200 * (int)k + 3 * i + (int)k + 1);
    }
    return ok;
}

static bool place_1(trial *t) {
    return place_is_right(t, 1);
}
static bool place_2(trial *t) {
    return place_is_right(t, 2);
}
static bool place_40(trial *t) {
    return place_is_right(t, 0); /* 40 and all between */
}

static const char order_text[] =
    "void order(int n, float x[n], float y[n], float z[n], int c[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "    float t = y[i]; y[i] = 0; x[i] += t; z[i] = t + 1; int k = c[i]; c[i] = k + 1;\n"
    "    z[i] += k; } }\n"
    "void twice(int n, const float x[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
    "void square(int n, float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = y[i] * y[i]; }\n";

/* A load, the clearing of what was loaded, and then its use: the reverse of any assignment. */
static bool order(trial *t) {
    float x[64], y[64], z[64], g[64];
    int32_t c[64];
    bool ok = true;
    t->n = 64;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i + 3);
        c[i] = 5 * i;
    }
    use_kernel(t, "order");
    value(t, &t->n);
    rg_array *ax = array(t, RG_DTYPE_F32, 64, x, false), *ay = array(t, RG_DTYPE_F32, 64, y, false);
    rg_array *az = array(t, RG_DTYPE_F32, 64, NULL, false);
    rg_array *ac = array(t, RG_DTYPE_I32, 64, c, false);
    launch(t);
    if (!result(t, ax, RG_DATA, x, sizeof x) || !result(t, ay, RG_DATA, y, sizeof y) ||
        !result(t, az, RG_DATA, z, sizeof z) || !result(t, ac, RG_DATA, c, sizeof c))
        return false;
    for (int i = 0; i < 64; i++)
        ok &= x[i] == (float)(3 * i + 3) && y[i] == 0 && z[i] == (float)(7 * i + 4) &&
              c[i] == 5 * i + 1;
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < 64; i++) {
            x[i] = (float)(i + 1);
            g[i] = (float)(3 * i + 1);
        }
        use_kernel(t, way ? "square" : "twice");
        value(t, &t->n);
        ax = way ? NULL : array(t, RG_DTYPE_F32, 64, x, true);
        ay = array(t, RG_DTYPE_F32, 64, x, true);
        rg_record *r = NULL;
        if (t->status == RG_OK)
            t->status = rg_array_write(ay, RG_GRADIENT, g, sizeof g);
        if (t->status == RG_OK)
            t->status = rg_record_launch(t->kernel, t->args, t->nargs, &r);
        if (t->status == RG_OK)
            t->status = rg_backward(r);
        rg_record_release(r);
        if (!result(t, ay, RG_GRADIENT, y, sizeof y) ||
            (ax && !result(t, ax, RG_GRADIENT, x, sizeof x)))
            return false;
        for (int i = 0; i < 64; i++)
            ok &= way ? y[i] == 2 * (float)(i + 1) * g[i] : x[i] == 2 * g[i] && y[i] == 0;
    }
    return ok;
}

static const char atomic_i32_text[] =
    "void atomics(int n, int c[8], unsigned u[8], int seen[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "    int k;\n"
    "#pragma omp atomic capture\n"
    "    k = c[0]++;\n"
    "    seen[k] = 1;\n"
    "#pragma omp atomic\n"
    "    c[1] += 2;\n"
    "#pragma omp atomic\n"
    "    c[2] -= 3;\n"
    "#pragma omp atomic compare\n"
    "    if (i > c[3]) { c[3] = i; }\n"
    "#pragma omp atomic compare\n"
    "    if (i < c[4]) { c[4] = i; }\n"
    "#pragma omp atomic\n"
    "    u[0] += 3u;\n"
    "} }\n"
    "void sums(int n, int r[8]) {\n"
    "    int s = 1, hi = -5, lo = 5, a = -1, o = 0, x = 0, p = 1;\n"
    "#pragma omp parallel for reduction(+:s) reduction(max:hi) reduction(min:lo) reduction(&:a) "
    "reduction(|:o) reduction(^:x) reduction(*:p)\n"
    "for (int i = 0; i < n; i++) {\n"
    "    s += i; hi = i > hi ? i : hi; lo = -i < lo ? -i : lo; a &= i | 8; o |= i; x ^= i;\n"
    "    p *= i % 512 == 7 ? 2 : 1; }\n"
    "r[0] = s; r[1] = hi; r[2] = lo; r[3] = a; r[4] = o; r[5] = x; r[6] = p; }\n";

static bool atomic_i32(trial *t) {
    int32_t c[8] = {0, 0, 0, -7, 9}, u[8] = {0}, seen[N];
    bool ok = true;
    t->n = N;
    use_kernel(t, "atomics");
    value(t, &t->n);
    rg_array *ac = array(t, RG_DTYPE_I32, 8, c, false), *au = array(t, RG_DTYPE_U32, 8, u, false);
    rg_array *as = array(t, RG_DTYPE_I32, N, NULL, false);
    launch(t);
    if (!result(t, ac, RG_DATA, c, sizeof c) || !result(t, au, RG_DATA, u, sizeof u) ||
        !result(t, as, RG_DATA, seen, sizeof seen))
        return false;
    ok &=
        c[0] == N && c[1] == 2 * N && c[2] == -3 * N && c[3] == N - 1 && c[4] == 0 && u[0] == 3 * N;
    for (int i = 0; i < N; i++)
        ok &= seen[i] == 1;
    int32_t r[8] = {0}, want[7] = {1, -5, 5, -1, 0, 0, 1};
    use_kernel(t, "sums");
    value(t, &t->n);
    rg_array *ar = array(t, RG_DTYPE_I32, 8, NULL, false);
    launch(t);
    if (!result(t, ar, RG_DATA, r, sizeof r))
        return false;
    for (int i = 0; i < N; i++) {
        want[0] += i;
        want[3] &= i | 8;
        want[4] |= i;
        want[5] ^= i;
        want[6] *= i % 512 == 7 ? 2 : 1;
    }
    want[1] = N - 1;
    want[2] = -(N - 1);
    for (int i = 0; i < 7; i++)
        ok &= r[i] == want[i];
    return ok;
}

#define ATOMIC_FLOAT(T)                                                                            \
    "void add(int n, " T " e[4]) {\n"                                                              \
    "#pragma omp parallel for\n"                                                                   \
    "for (int i = 0; i < n; i++) {\n"                                                              \
    "#pragma omp atomic\n"                                                                         \
    "    e[i % 4] += (" T ")(i % 8); } }\n"

static const char atomic_f32_text[] = ATOMIC_FLOAT("float");
static const char atomic_f64_text[] = ATOMIC_FLOAT("double");
static const char atomic_f16_text[] = ATOMIC_FLOAT("_Float16");
static const char atomic_i64_text[] = ATOMIC_FLOAT("long long");

static double sum_of(int cell) {
    double s = 0;
    for (int i = 0; i < N; i++)
        if (i % 4 == cell)
            s += i % 8;
    return s;
}

static rg_array *atomic_run(trial *t, rg_dtype type, int n) {
    t->n = n;
    use_kernel(t, "add");
    value(t, &t->n);
    rg_array *e = array(t, type, 4, NULL, false);
    launch(t);
    return e;
}

static bool atomic_f32(trial *t) {
    float e[4];
    bool ok = result(t, atomic_run(t, RG_DTYPE_F32, N), RG_DATA, e, sizeof e);
    for (int i = 0; i < 4; i++)
        ok = ok && (double)e[i] == sum_of(i);
    return ok;
}

static bool atomic_f64(trial *t) {
    double e[4];
    bool ok = result(t, atomic_run(t, RG_DTYPE_F64, N), RG_DATA, e, sizeof e);
    for (int i = 0; i < 4; i++)
        ok = ok && e[i] == sum_of(i);
    return ok;
}

static bool atomic_i64(trial *t) {
    int64_t e[4];
    bool ok = result(t, atomic_run(t, RG_DTYPE_I64, N), RG_DATA, e, sizeof e);
    for (int i = 0; i < 4; i++)
        ok = ok && (double)e[i] == sum_of(i);
    return ok;
}

/* Halves are exact up to 2048: 256 additions give sums of 128 * 3 at most. */
static bool atomic_f16(trial *t) {
    uint16_t e[4];
    bool ok = result(t, atomic_run(t, RG_DTYPE_F16, 256), RG_DATA, e, sizeof e);
    for (int i = 0; i < 4; i++)
        ok = ok && (double)rg_half_to_float(e[i]) == 32 * (double)i + 32 * (double)(i + 4);
    return ok;
}

static const char int64_text[] =
    "void wide(int n, const long long a[n], const unsigned long long b[n], long long r[n],\n"
    "          unsigned long long s[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "    r[i] = a[i] * 3000000019LL + (a[i] >> 7) - a[i] / 1001;\n"
    "    s[i] = (b[i] << 5) ^ (b[i] >> 9) ^ (b[i] % 1000003ULL); } }\n";

static bool int64(trial *t) {
    int64_t a[32], r[32];
    uint64_t b[32], s[32];
    t->n = 32;
    for (int i = 0; i < 32; i++) {
        a[i] = (i % 2 ? -1 : 1) * (1000000007LL * i + 12345678901LL);
        b[i] = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1);
    }
    use_kernel(t, "wide");
    value(t, &t->n);
    array(t, RG_DTYPE_I64, 32, a, false);
    array(t, RG_DTYPE_U64, 32, b, false);
    rg_array *ar = array(t, RG_DTYPE_I64, 32, NULL, false);
    rg_array *as = array(t, RG_DTYPE_U64, 32, NULL, false);
    launch(t);
    if (!result(t, ar, RG_DATA, r, sizeof r) || !result(t, as, RG_DATA, s, sizeof s))
        return false;
    bool ok = true;
    for (int i = 0; i < 32; i++) {
        int64_t shifted = a[i] < 0 ? ~(~a[i] >> 7) : a[i] >> 7;
        uint64_t want = (uint64_t)a[i] * 3000000019u + (uint64_t)shifted - (uint64_t)(a[i] / 1001);
        ok &= (uint64_t)r[i] == want && s[i] == ((b[i] << 5) ^ (b[i] >> 9) ^ (b[i] % 1000003u));
    }
    return ok;
}

static const char double_text[] =
    "void doubles(int n, const double x[n], double y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = (x[i] * x[i] - 0.125) / (x[i] + 3.0); }\n";

static bool doubles(trial *t) {
    double x[32], y[32];
    t->n = 32;
    for (int i = 0; i < 32; i++)
        x[i] = 1.0 / (i + 3);
    use_kernel(t, "doubles");
    value(t, &t->n);
    array(t, RG_DTYPE_F64, 32, x, false);
    rg_array *ay = array(t, RG_DTYPE_F64, 32, NULL, false);
    launch(t);
    bool ok = result(t, ay, RG_DATA, y, sizeof y);
    for (int i = 0; i < 32 && ok; i++) {
        double square = x[i] * x[i], want = (square - 0.125) / (x[i] + 3.0);
        ok = fabs(y[i] - want) <= 1e-15 * fabs(want);
    }
    return ok;
}

static const char narrow_text[] =
    "void narrow(int n, signed char a[n], unsigned char b[n], short c[n], unsigned short d[n],\n"
    "            _Float16 h[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "    a[i] = a[i] - 3 * i; b[i] = b[i] + 7 * i; c[i] = c[i] - 300 * i; d[i] = d[i] + 500 * i;\n"
    "    h[i] = h[i] * 0.5f; } }\n";

static bool narrow(trial *t) {
    int8_t a[60];
    uint8_t b[60];
    int16_t c[60];
    uint16_t d[60], h[60];
    t->n = 60;
    for (int i = 0; i < 60; i++) {
        a[i] = (int8_t)(i - 30);
        b[i] = (uint8_t)(200 + i);
        c[i] = (int16_t)(-1000 * i % 30000);
        d[i] = (uint16_t)(1000 * i);
        h[i] = rg_half_from_float((float)i);
    }
    use_kernel(t, "narrow");
    value(t, &t->n);
    rg_array *aa = array(t, RG_DTYPE_I8, 60, a, false), *ab = array(t, RG_DTYPE_U8, 60, b, false);
    rg_array *ac = array(t, RG_DTYPE_I16, 60, c, false), *ad = array(t, RG_DTYPE_U16, 60, d, false);
    rg_array *ah = array(t, RG_DTYPE_F16, 60, h, false);
    int8_t a2[60];
    uint8_t b2[60];
    int16_t c2[60];
    uint16_t d2[60], h2[60];
    launch(t);
    bool ok = result(t, aa, RG_DATA, a2, sizeof a2) && result(t, ab, RG_DATA, b2, sizeof b2) &&
              result(t, ac, RG_DATA, c2, sizeof c2) && result(t, ad, RG_DATA, d2, sizeof d2) &&
              result(t, ah, RG_DATA, h2, sizeof h2);
    for (int i = 0; i < 60 && ok; i++)
        ok = a2[i] == (int8_t)(a[i] - 3 * i) && b2[i] == (uint8_t)(b[i] + 7 * i) &&
             c2[i] == (int16_t)(c[i] - 300 * i) && d2[i] == (uint16_t)(d[i] + 500 * i) &&
             rg_half_to_float(h2[i]) == 0.5f * (float)i;
    return ok;
}

static const char special_text[] =
    "#include <math.h>\n"
    "void special(int n, float zero, const float x[n], float y[n], float z[n], int k[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "    y[i] = x[i] - x[i];\n"
    "    z[i] = 1.0f / (x[i] * 1.0f);\n"
    "    k[i] = (isnan(x[i]) ? 1 : 0) + (isinf(x[i]) ? 2 : 0) + (x[i] != x[i] ? 4 : 0) +\n"
    "           (isnan(y[i]) ? 8 : 0) + (x[i] < 1.0f ? 16 : 0) + (x[i] * zero == zero ? 32 : 0); } "
    "}\n";

static bool special(trial *t) {
    float x[6] = {1, INFINITY, -INFINITY, NAN, 0.0f, -0.0f}, y[6], z[6];
    int32_t k[6];
    float zero = 0;
    t->n = 6;
    use_kernel(t, "special");
    value(t, &t->n);
    value(t, &zero);
    array(t, RG_DTYPE_F32, 6, x, false);
    rg_array *ay = array(t, RG_DTYPE_F32, 6, NULL, false);
    rg_array *az = array(t, RG_DTYPE_F32, 6, NULL, false);
    rg_array *ak = array(t, RG_DTYPE_I32, 6, NULL, false);
    launch(t);
    if (!result(t, ay, RG_DATA, y, sizeof y) || !result(t, az, RG_DATA, z, sizeof z) ||
        !result(t, ak, RG_DATA, k, sizeof k))
        return false;
    return y[0] == 0 && isnan(y[1]) && isnan(y[2]) && isnan(y[3]) && y[4] == 0 && z[0] == 1 &&
           z[1] == 0 && z[2] == 0 && isnan(z[3]) && z[4] == INFINITY && z[5] == -INFINITY &&
           k[0] == 32 && k[1] == 2 + 8 && k[2] == 2 + 8 + 16 && k[3] == 1 + 4 + 8 &&
           k[4] == 16 + 32 && k[5] == 16 + 32;
}

#define LITERALS(T, name, ZERO, HALF)                                                              \
    "void " name "(int n, const " T " x[n], " T " y[n][14]) {\n"                                   \
    "#pragma omp parallel for\n"                                                                   \
    "for (int i = 0; i < n; i++) {\n"                                                              \
    "    " T " a = x[i], s = " ZERO ", p = " ZERO ", c = " HALF ";\n"                              \
    "    " T " z[2] = {" ZERO "}; z[1] = a;\n"                                                     \
    "    for (int k = 0; k < 3; k++) { s = s * a + k; p += k * a; c -= " HALF " * 0.5f;\n"         \
    "        y[i][11 + k] = c * a; }\n"                                                            \
    "    y[i][0] = a * " ZERO "; y[i][1] = " ZERO " / a; y[i][2] = 1 / (a + " ZERO ");\n"          \
    "    y[i][3] = 1 / (a - " ZERO "); y[i][4] = 1 / (" ZERO " - a); y[i][5] = a / " ZERO ";\n"    \
    "    y[i][6] = a - a; y[i][7] = a / a; y[i][8] = s; y[i][9] = p; y[i][10] = z[0] * z[1]; } "   \
    "}\n"

static const char literals_text[] = LITERALS("float", "literals", "0.0f", "0.5f");
static const char literals_f64_text[] = LITERALS("double", "literals", "0.0", "0.5");

/* What IEEE 754 says of a. */
static void literals_want(double a, double want[14]) {
    double zero = 0, x = a + zero;
    double w[14] = {a * zero,
                    a != 0 ? zero / a : NAN,
                    x == 0 ? INFINITY : 1 / x,
                    a == 0 ? (signbit(a) ? -INFINITY : INFINITY) : 1 / a,
                    a == 0 ? INFINITY : -1 / a,
                    a == 0 || isnan(a) ? NAN : copysign(INFINITY, a),
                    a - a,
                    a != 0 ? a / a : NAN,
                    ((zero * a + 0) * a + 1) * a + 2,
                    ((zero + zero * a) + a) + 2 * a,
                    zero * a,
                    0.25 * a,
                    zero * a,
                    -0.25 * a};
    memcpy(want, w, sizeof w);
}

static bool same_number(double got, double want) {
    if (isnan(want))
        return isnan(got);
    return got == want && (want != 0 || !signbit(got) == !signbit(want));
}

/* Arithmetic with literals, and with what unrolled loops make literals of: a compiler may forget
 * NaN, infinity or -0 there, whatever it does with values that it does not know. */
static bool literals_are_right(trial *t, bool wide) {
    enum { CASES = 6, FORMS = 14 };
    static const double x[CASES] = {2, INFINITY, -INFINITY, NAN, 0.0, -0.0};
    float f[CASES], y[CASES * FORMS];
    double d[CASES * FORMS], want[FORMS];
    int64_t shape[2] = {CASES, FORMS};
    for (int i = 0; i < CASES; i++)
        f[i] = (float)x[i];
    t->n = CASES;
    use_kernel(t, "literals");
    value(t, &t->n);
    array(t, wide ? RG_DTYPE_F64 : RG_DTYPE_F32, CASES, wide ? (const void *)x : f, false);
    rg_array *a = NULL;
    if (t->status == RG_OK)
        t->status =
            rg_array_new(t->v->dev, wide ? RG_DTYPE_F64 : RG_DTYPE_F32, 2, shape, false, &a);
    if (t->status == RG_OK)
        t->made[t->nmade++] = a;
    t->args[t->nargs++] = (rg_arg){a, NULL, NULL};
    launch(t);
    if (!result(t, a, RG_DATA, wide ? (void *)d : y, wide ? sizeof d : sizeof y))
        return false;
    for (int i = 0; i < CASES; i++) {
        literals_want(x[i], want);
        for (int k = 0; k < FORMS; k++) {
            int at = i * FORMS + k;
            if (!same_number(wide ? d[at] : (double)y[at], want[k]))
                return false;
        }
    }
    return true;
}

static bool literals(trial *t) {
    return literals_are_right(t, false);
}
static bool literals_f64(trial *t) {
    return literals_are_right(t, true);
}

static const char contraction_text[] =
    "void contraction(int n, const float a[n], const float b[n], const float c[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = a[i] * b[i] + c[i]; }\n";

/* (1 + 2^-12)^2 rounds to 1 + 2^-11; fused, the 2^-24 would stay. */
static bool contraction(trial *t) {
    float a[4], c[4], y[4];
    t->n = 4;
    for (int i = 0; i < 4; i++) {
        a[i] = 1.0f + 1.0f / 4096;
        c[i] = -(1.0f + 1.0f / 2048);
    }
    use_kernel(t, "contraction");
    value(t, &t->n);
    array(t, RG_DTYPE_F32, 4, a, false);
    array(t, RG_DTYPE_F32, 4, a, false);
    array(t, RG_DTYPE_F32, 4, c, false);
    rg_array *ay = array(t, RG_DTYPE_F32, 4, NULL, false);
    launch(t);
    return result(t, ay, RG_DATA, y, sizeof y) &&
           (t->v->dev->options.contract || t->v->dev->options.fast_math ||
            (y[0] == 0 && y[1] == 0 && y[2] == 0 && y[3] == 0));
}

static const char sum_text[] =
    "void total(int n, const float x[n], float s[3]) {\n"
    "    float sum = 2, hi = -1, lo = 1;\n"
    "#pragma omp parallel for reduction(+:sum) reduction(max:hi) reduction(min:lo)\n"
    "for (int i = 0; i < n; i++) {\n"
    "    sum += x[i]; hi = x[i] > hi ? x[i] : hi; lo = x[i] < lo ? x[i] : lo; }\n"
    "s[0] = sum; s[1] = hi; s[2] = lo; }\n";

static bool subgroup_sum(trial *t) {
    float x[N + 3], s[3];
    double want = 2;
    t->n = N + 3;
    for (int i = 0; i < N + 3; i++) {
        x[i] = (float)(i % 13 - 4);
        want += (double)x[i];
    }
    use_kernel(t, "total");
    value(t, &t->n);
    array(t, RG_DTYPE_F32, N + 3, x, false);
    rg_array *as = array(t, RG_DTYPE_F32, 3, NULL, false);
    launch(t);
    return result(t, as, RG_DATA, s, sizeof s) && (double)s[0] == want && s[1] == 8 && s[2] == -4;
}

static const char far_text[] =
    "void far(int n, int base, float x[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < 64; i++) x[base + i] = x[base + i] + i + 1; }\n";

static bool far_away(trial *t) {
    enum { FAR = 12 << 20 };
    int32_t base = FAR - 64;
    t->n = FAR;
    use_kernel(t, "far");
    value(t, &t->n);
    value(t, &base);
    rg_array *x = array(t, RG_DTYPE_F32, FAR, NULL, false);
    launch(t);
    float y[64];
    if (t->status == RG_OK)
        t->status = rg_device_read(t->v->dev, y, rg_array_data(x) + 4 * (size_t)base, sizeof y);
    bool ok = t->status == RG_OK;
    for (int i = 0; i < 64 && ok; i++)
        ok = y[i] == (float)(i + 1);
    return ok;
}

static const char loops_text[] = "void adds(int n, int m, float c, float y[n]) {\n"
                                 "#pragma omp parallel for\n"
                                 "for (int i = 0; i < n; i++) { float s = 0;\n"
                                 "for (int j = 0; j < m; j++) s += c;\n"
                                 "y[i] = s; } }\n";

/* A driver may end a loop after so many iterations, as llvmpipe does after 65,535. */
static bool long_loops(trial *t) {
    float c = 0.5f, y[4] = {0};
    int32_t m = 200000;
    t->n = 4;
    use_kernel(t, "adds");
    value(t, &t->n);
    value(t, &m);
    value(t, &c);
    rg_array *ay = array(t, RG_DTYPE_F32, 4, NULL, false);
    launch(t);
    return result(t, ay, RG_DATA, y, sizeof y) && y[0] == 100000 && y[3] == 100000;
}

/* ---- running them ---- */

typedef enum cap {
    CAP_NONE,
    CAP_F64,
    CAP_I64,
    CAP_I16,
    CAP_I8,
    CAP_F32_ADD,
    CAP_F64_ADD,
    CAP_I64_ATOMICS,
    CAP_SUBGROUP,
    CAP_INF_NAN,
    CAP_LITERALS,  /* lost: no literal is shown to the driver */
    CAP_LONG_LOOPS /* lost: loops are guarded */
} cap;

static bool *cap_field(rg_spirv_caps *c, cap x) {
    switch (x) {
    case CAP_F64:
        return &c->f64;
    case CAP_I64:
        return &c->i64;
    case CAP_I16:
        return &c->i16;
    case CAP_I8:
        return &c->i8;
    case CAP_F32_ADD:
        return &c->atomic_f32_add;
    case CAP_F64_ADD:
        return &c->atomic_f64_add;
    case CAP_I64_ATOMICS:
        return &c->i64_atomics;
    case CAP_SUBGROUP:
        return &c->subgroup_add;
    case CAP_INF_NAN:
        return &c->signed_zero_inf_nan;
    default:
        return NULL;
    }
}

static bool has_cap(rg_spirv_caps *c, cap x) {
    if (x == CAP_LITERALS)
        return !c->hide_literals;
    return x == CAP_LONG_LOOPS ? !c->loops_end_early : *cap_field(c, x);
}

static void lose_cap(rg_spirv_caps *c, cap x) {
    if (x == CAP_LITERALS)
        c->hide_literals = true;
    else if (x == CAP_LONG_LOOPS)
        c->loops_end_early = true;
    else
        *cap_field(c, x) = false;
}

typedef struct probe {
    const char *name, *text;
    bool (*run)(trial *t);
    cap needs;    /* not run without it */
    cap rests[3]; /* what to do without, in turn, when it fails */
    cap own;      /* what goes when nothing helps; none: the mode is out */
} probe;

static const probe probes[] = {
    {"address in the 1st place", places_text, place_1, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"address in the 2nd place", places_text, place_2, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"address in the 40th place", places_text, place_40, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"load, overwrite, use", order_text, order, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"NaN and inf", special_text, special, CAP_NONE, {CAP_INF_NAN}, CAP_NONE},
    {"float literals", literals_text, literals, CAP_NONE, {CAP_LITERALS, CAP_INF_NAN}, CAP_NONE},
    {"contraction", contraction_text, contraction, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"large offset", far_text, far_away, CAP_NONE, {CAP_NONE}, CAP_NONE},
    {"long loops", loops_text, long_loops, CAP_NONE, {CAP_NONE}, CAP_LONG_LOOPS},
    {"atomics of 32-bit integers", atomic_i32_text, atomic_i32, CAP_NONE, {CAP_SUBGROUP}, CAP_NONE},
    {"atomic add of floats",
     atomic_f32_text,
     atomic_f32,
     CAP_NONE,
     {CAP_F32_ADD, CAP_SUBGROUP},
     CAP_NONE},
    {"subgroup sum", sum_text, subgroup_sum, CAP_NONE, {CAP_SUBGROUP, CAP_F32_ADD}, CAP_NONE},
    {"8- and 16-bit memory", narrow_text, narrow, CAP_NONE, {CAP_I8, CAP_I16}, CAP_NONE},
    {"atomic add of halves", atomic_f16_text, atomic_f16, CAP_NONE, {CAP_I8, CAP_I16}, CAP_NONE},
    {"64-bit integers", int64_text, int64, CAP_I64, {CAP_NONE}, CAP_I64},
    {"atomic add of 64-bit integers",
     atomic_i64_text,
     atomic_i64,
     CAP_I64,
     {CAP_I64_ATOMICS},
     CAP_NONE},
    {"doubles", double_text, doubles, CAP_F64, {CAP_NONE}, CAP_F64},
    {"double literals", literals_f64_text, literals_f64, CAP_F64, {CAP_LITERALS}, CAP_F64},
    {"atomic add of doubles",
     atomic_f64_text,
     atomic_f64,
     CAP_F64,
     {CAP_F64_ADD, CAP_I64_ATOMICS},
     CAP_NONE},
};
enum { PROBES = sizeof probes / sizeof *probes };

static bool try_probe(rg_vk *v, const probe *p, rg_status *status) {
    rg_device *dev = v->dev;
    trial *t = rg_ctx_alloc(v->ctx, sizeof *t);
    *status = RG_ERROR_MEMORY;
    if (!t)
        return false;
    t->v = v;
    t->status = rg_module_compile(dev, "probe.c", p->text, strlen(p->text), NULL, &t->module);
    bool ok = t->status == RG_OK && p->run(t) && t->status == RG_OK;
    *status = t->status;
    for (uint32_t i = 0; i < t->nmade; i++)
        rg_array_release(t->made[i]);
    rg_module_release(t->module);
    rg_ctx_free(v->ctx, t, sizeof *t);
    /* A failure of the probe's launch is the probe's, not of whoever opens the device. */
    dev->error = RG_OK;
    rg_ctx_strfree(v->ctx, dev->error_text);
    dev->error_text = NULL;
    return ok;
}

/* *good: the mode is, with the features left in v->caps. Out of memory is no answer to anything. */
static rg_status try_mode(rg_vk *v, rg_spirv_addressing mode, char failing[48], bool *good) {
    rg_status status;
    *good = false;
    v->caps = v->offered;
    v->caps.addressing = mode;
    for (uint32_t i = 0; i < PROBES; i++) {
        const probe *p = &probes[i];
        if (p->needs && !has_cap(&v->caps, p->needs))
            continue;
        bool ok = try_probe(v, p, &status);
        for (uint32_t k = 0; k < 3 && p->rests[k] && !ok && !v->lost; k++) {
            if (!has_cap(&v->caps, p->rests[k]))
                continue;
            lose_cap(&v->caps, p->rests[k]);
            ok = try_probe(v, p, &status);
        }
        if (ok)
            continue;
        if (status == RG_ERROR_MEMORY)
            return status;
        if (p->own && !v->lost) {
            lose_cap(&v->caps, p->own);
            continue;
        }
        snprintf(failing, 48, "%s", p->name);
        return RG_OK;
    }
    *good = true;
    return RG_OK;
}

/* ---- the answers, kept ---- */

typedef struct answers {
    char magic[16];
    uint32_t size;
    rg_vk_probe probe;
} answers;

static void answers_key(const rg_vk *v, char hex[65]) {
    rg_sha256 h;
    rg_sha256_begin(&h);
    rg_sha256_add_text(&h, "retrograd " RG_VERSION_TEXT " vulkan probe");
    uint32_t facts[5] = {PROBES_VERSION, v->properties.vendorID, v->properties.deviceID,
                         v->properties.driverVersion, v->api_version};
    rg_sha256_add_part(&h, facts, sizeof facts);
    rg_sha256_add_part(&h, v->uuid, sizeof v->uuid);
    rg_sha256_add_text(&h, v->properties.deviceName);
    rg_sha256_add_text(&h, v->driver.driverInfo);
    rg_sha256_add_part(&h, &v->offered, sizeof v->offered);
    unsigned char sum[32];
    rg_sha256_end(&h, sum);
    rg_sha256_hex(sum, hex);
}

static const char answers_magic[16] = "rg-probe";

static void answers_load(rg_vk *v) {
    char hex[65];
    void *data;
    size_t size;
    answers_key(v, hex);
    if (rg_vk_wrap || !rg_cache_load(v->ctx, hex, &data, &size))
        return;
    answers a;
    if (size == sizeof a) {
        memcpy(&a, data, sizeof a);
        if (memcmp(a.magic, answers_magic, sizeof a.magic) == 0 && a.size == sizeof a)
            v->probe = a.probe;
    }
    rg_ctx_free(v->ctx, data, size);
}

static void answers_store(rg_vk *v) {
    char hex[65];
    answers a;
    if (rg_vk_wrap)
        return;
    memset(&a, 0, sizeof a);
    memcpy(a.magic, answers_magic, sizeof a.magic);
    a.size = sizeof a;
    a.probe = v->probe;
    answers_key(v, hex);
    rg_cache_store(v->ctx, hex, &a, sizeof a);
}

/* A probe may lose the device: the next mode deserves a fresh one. */
static rg_status renew(rg_vk *v) {
    rg_vk_probe answered = v->probe;
    char name[sizeof v->name];
    memcpy(name, v->name, sizeof name);
    rg_vk_messages messages = v->messages;
    rg_vk_close(v);
    rg_device *dev = v->dev;
    *v = (rg_vk){.dev = dev, .ctx = dev->ctx};
    v->messages = messages;
    v->probe = answered;
    memcpy(v->name, name, sizeof name);
    return rg_vk_open(v, dev->index);
}

static rg_status measure(rg_vk *v, rg_spirv_addressing mode) {
    rg_vk_probe *p = &v->probe;
    if (p->tried[mode])
        return RG_OK;
    rg_status s = try_mode(v, mode, p->failing[mode], &p->mode_ok[mode]);
    if (s != RG_OK)
        return s;
    p->caps[mode] = v->caps;
    p->tried[mode] = true;
    if (v->lost)
        return renew(v);
    s = rg_vk_finish(v);
    if (s == RG_OK)
        rg_vk_trim(v, 0); /* blocks are of another size in the other mode */
    v->next_size = 0;
    return s;
}

static rg_status forced(rg_vk *v, bool want[2]) {
    const char *env = getenv("RETROGRAD_VULKAN_ADDRESSING");
    want[RG_SPIRV_ADDRESS] = want[RG_SPIRV_OFFSET] = true;
    if (!env || !*env)
        return RG_OK;
    want[RG_SPIRV_ADDRESS] = strcmp(env, "address") == 0;
    want[RG_SPIRV_OFFSET] = strcmp(env, "offset") == 0;
    if (want[0] || want[1])
        return RG_OK;
    return rg_fail(v->ctx, RG_ERROR_ARGUMENT,
                   "RETROGRAD_VULKAN_ADDRESSING is '%s': it must be address or offset", env);
}

rg_status rg_vk_probe_run(rg_vk *v) {
    static const rg_spirv_addressing order_of[2] = {RG_SPIRV_ADDRESS, RG_SPIRV_OFFSET};
    bool want[2];
    rg_status s = forced(v, want);
    if (s != RG_OK)
        return s;
    answers_load(v);
    bool kept = true;
    for (int k = 0; k < 2; k++) {
        rg_spirv_addressing mode = order_of[k];
        rg_vk_probe *p = &v->probe;
        if (!want[mode])
            continue;
        if (mode == RG_SPIRV_ADDRESS && !v->has_address) {
            snprintf(p->failing[mode], sizeof p->failing[mode], "feature bufferDeviceAddress");
            continue;
        }
        kept = kept && p->tried[mode];
        s = measure(v, mode);
        if (s != RG_OK)
            return s;
        if (!v->probe.mode_ok[mode])
            continue;
        v->caps = v->probe.caps[mode];
        if (!kept)
            answers_store(v);
        return RG_OK;
    }
    if (!kept)
        answers_store(v);
    const rg_vk_probe *p = &v->probe;
    if (want[0] && want[1])
        return rg_fail(v->ctx, RG_ERROR_DEVICE,
                       "%s (%s) is refused: it fails the probe '%s' in address mode and '%s' in "
                       "offset mode, so its gradients could be wrong",
                       v->name, v->properties.deviceName, p->failing[RG_SPIRV_ADDRESS],
                       p->failing[RG_SPIRV_OFFSET]);
    rg_spirv_addressing mode = want[RG_SPIRV_ADDRESS] ? RG_SPIRV_ADDRESS : RG_SPIRV_OFFSET;
    return rg_fail(v->ctx, RG_ERROR_DEVICE,
                   "%s (%s) is refused in %s mode, which RETROGRAD_VULKAN_ADDRESSING asks for: it "
                   "fails the probe '%s'",
                   v->name, v->properties.deviceName,
                   mode == RG_SPIRV_ADDRESS ? "address" : "offset", p->failing[mode]);
}

void rg_vk_caps_text(const rg_vk *v, char *out, size_t size) {
    const rg_spirv_caps *c = &v->caps;
    const struct {
        bool has;
        const char *word;
    } words[] = {{c->f64, "f64"},
                 {c->i64, "i64"},
                 {c->i16, "i16"},
                 {c->i8, "i8"},
                 {c->atomic_f32_add, "f32-atomic-add"},
                 {c->atomic_f64_add, "f64-atomic-add"},
                 {c->i64_atomics, "i64-atomics"},
                 {c->signed_zero_inf_nan, "inf-nan"},
                 {c->subgroup_add, "subgroup-add"}};
    size_t n = (size_t)snprintf(out, size, "spirv-%u.%u workgroup-%u", c->version >> 16 & 0xff,
                                c->version >> 8 & 0xff, c->workgroup);
    if (c->loops_end_early && n < size)
        n += (size_t)snprintf(out + n, size - n, " loops-guarded");
    if (c->hide_literals && n < size)
        n += (size_t)snprintf(out + n, size - n, " literals-hidden");
    for (size_t i = 0; i < sizeof words / sizeof *words && n < size; i++)
        if (words[i].has)
            n += (size_t)snprintf(out + n, size - n, " %s", words[i].word);
}

#else
typedef int rg_vk_not_built;
#endif
