/* Evaluation of one op on constants.
 *
 * Integers are computed as 64-bit patterns and brought back to their type by `wrap_int`, so that
 * overflow wraps and nothing here is undefined. Floats are computed in the type of the result: an
 * f32 sine is sinf of a float, never the rounded sine of a double. */
#include "ir/eval.h"

#include <math.h>
#include <string.h>

static int64_t wrap_int(rg_type t, uint64_t u) {
    switch (t) {
    case RG_BOOL:
        return u != 0;
    case RG_I32:
        return (int64_t)(int32_t)(uint32_t)u;
    case RG_U32:
        return (int64_t)(uint32_t)u;
    default:
        return (int64_t)u;
    }
}

static unsigned type_bits(rg_type t) {
    return t == RG_BOOL ? 1 : t == RG_I32 || t == RG_U32 ? 32 : 64;
}

static bool eval_int_division(rg_type t, bool remainder, int64_t x, int64_t y, int64_t *out) {
    if (y == 0)
        return false;
    if (rg_type_is_unsigned(t)) {
        uint64_t a = (uint64_t)x, b = (uint64_t)y;
        *out = (int64_t)(remainder ? a % b : a / b);
        return true;
    }
    if (y == -1 && x == (t == RG_I32 ? (int64_t)INT32_MIN : INT64_MIN))
        return false;
    *out = remainder ? x % y : x / y;
    return true;
}

static bool eval_shift(rg_op op, rg_type t, int64_t x, int64_t count, int64_t *out) {
    if (count < 0 || count >= (int64_t)type_bits(t))
        return false;
    if (op == RG_SHL)
        *out = wrap_int(t, (uint64_t)x << count);
    else if (rg_type_is_unsigned(t))
        *out = wrap_int(t, (uint64_t)x >> count);
    else /* arithmetic, written so that it does not depend on the compiler */
        *out = x >= 0 ? (int64_t)((uint64_t)x >> count) : (int64_t) ~(~(uint64_t)x >> count);
    return true;
}

static bool eval_int(rg_op op, rg_type t, const rg_const *x, rg_const *out) {
    uint64_t a = (uint64_t)x[0].i, b = (uint64_t)(rg_ops[op].operands > 1 ? x[1].i : 0);
    switch (op) {
    case RG_ADD:
        out->i = wrap_int(t, a + b);
        return true;
    case RG_SUB:
        out->i = wrap_int(t, a - b);
        return true;
    case RG_MUL:
        out->i = wrap_int(t, a * b);
        return true;
    case RG_DIV:
    case RG_REM:
        return eval_int_division(t, op == RG_REM, x[0].i, x[1].i, &out->i);
    case RG_NEG:
        out->i = wrap_int(t, 0 - a);
        return true;
    case RG_AND:
        out->i = wrap_int(t, a & b);
        return true;
    case RG_OR:
        out->i = wrap_int(t, a | b);
        return true;
    case RG_XOR:
        out->i = wrap_int(t, a ^ b);
        return true;
    case RG_NOT:
        out->i = t == RG_BOOL ? !a : wrap_int(t, ~a);
        return true;
    case RG_SHL:
    case RG_SHR:
        return eval_shift(op, t, x[0].i, x[1].i, &out->i);
    default:
        return false;
    }
}

static bool eval_compare(rg_op op, rg_type xt, const rg_const *x, rg_const *out) {
    int less, equal; /* less: -1 none, an unordered pair is neither less, equal nor greater */
    int greater;
    if (rg_type_is_float(xt)) {
        less = x[0].f < x[1].f;
        equal = x[0].f == x[1].f;
        greater = x[0].f > x[1].f;
    } else if (rg_type_is_unsigned(xt)) {
        less = (uint64_t)x[0].i < (uint64_t)x[1].i;
        equal = x[0].i == x[1].i;
        greater = !less && !equal;
    } else {
        less = x[0].i < x[1].i;
        equal = x[0].i == x[1].i;
        greater = !less && !equal;
    }
    switch (op) {
    case RG_EQ:
        out->i = equal;
        return true;
    case RG_NE:
        out->i = !equal;
        return true;
    case RG_LT:
        out->i = less;
        return true;
    case RG_LE:
        out->i = less || equal;
        return true;
    case RG_GT:
        out->i = greater;
        return true;
    case RG_GE:
        out->i = greater || equal;
        return true;
    default:
        return false;
    }
}

/* Truncates and saturates: what the unchecked device code does too, so that a fold never differs
 * from a run. */
static int64_t int_from_float(rg_type t, double v) {
    if (isnan(v))
        return 0;
    v = trunc(v);
    switch (t) {
    case RG_BOOL:
        return v != 0;
    case RG_I32:
        return v <= -2147483648.0 ? INT32_MIN : v >= 2147483647.0 ? INT32_MAX : (int64_t)v;
    case RG_U32:
        return v <= 0 ? 0 : v >= 4294967295.0 ? (int64_t)UINT32_MAX : (int64_t)v;
    case RG_I64:
        return v < -9223372036854775808.0   ? INT64_MIN
               : v >= 9223372036854775808.0 ? INT64_MAX
                                            : (int64_t)v;
    default:
        return v <= 0                        ? 0
               : v >= 18446744073709551616.0 ? (int64_t)UINT64_MAX
                                             : (int64_t)(uint64_t)v;
    }
}

static rg_const eval_cast(rg_type t, rg_type xt, rg_const x) {
    rg_const r = {0};
    if (rg_type_is_float(xt)) {
        if (t == RG_F32)
            r.f = (double)(float)x.f;
        else if (t == RG_F64)
            r.f = x.f;
        else if (t == RG_BOOL)
            r.i = x.f != 0; /* NaN is true, and so is 0.5 */
        else
            r.i = int_from_float(t, x.f);
    } else if (t == RG_F32) /* one rounding, not two by way of double */
        r.f = rg_type_is_unsigned(xt) ? (double)(float)(uint64_t)x.i : (double)(float)x.i;
    else if (t == RG_F64)
        r.f = rg_type_is_unsigned(xt) ? (double)(uint64_t)x.i : (double)x.i;
    else
        r.i = wrap_int(t, (uint64_t)x.i);
    return r;
}

/* Ops whose f64 and f32 forms differ by libm's suffix only. */
/* clang-format off */
#define LIBM1(X)                                                                                   \
    X(FABS, fabs) X(SQRT, sqrt) X(FLOOR, floor) X(CEIL, ceil) X(TRUNC, trunc) X(ROUND, round)      \
    X(RINT, rint) X(SIN, sin) X(COS, cos) X(TAN, tan) X(ASIN, asin) X(ACOS, acos) X(ATAN, atan)    \
    X(SINH, sinh) X(COSH, cosh) X(TANH, tanh) X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh)      \
    X(EXP, exp) X(EXP2, exp2) X(EXPM1, expm1) X(LOG, log) X(LOG2, log2) X(LOG10, log10)            \
    X(LOG1P, log1p) X(CBRT, cbrt) X(ERF, erf) X(ERFC, erfc) X(TGAMMA, tgamma) X(LGAMMA, lgamma)    \
    X(LOGB, logb)
#define LIBM2(X)                                                                                   \
    X(POW, pow) X(ATAN2, atan2) X(HYPOT, hypot) X(FMOD, fmod) X(REMAINDER, remainder)              \
    X(FMIN, fmin) X(FMAX, fmax) X(FDIM, fdim) X(COPYSIGN, copysign) X(NEXTAFTER, nextafter)
/* clang-format on */

static bool eval_f32(rg_op op, const rg_const *x, rg_const *out) {
    int n = rg_ops[op].operands;
    float a = (float)x[0].f, b = n > 1 && op != RG_LDEXP ? (float)x[1].f : 0;
    float r;
    switch (op) {
    case RG_ADD:
        r = a + b;
        break;
    case RG_SUB:
        r = a - b;
        break;
    case RG_MUL:
        r = a * b;
        break;
    case RG_DIV:
        r = a / b;
        break;
    case RG_NEG:
        r = -a;
        break;
    case RG_FMA:
        r = fmaf(a, b, (float)x[2].f);
        break;
    case RG_ZMUL:
        r = a == 0 ? 0 : a * b;
        break;
    case RG_LDEXP:
        r = ldexpf(a, (int)x[1].i);
        break;
    case RG_DIGAMMA:
        r = (float)rg_digamma(x[0].f);
        break;
#define X(id, fn)                                                                                  \
    case RG_##id:                                                                                  \
        r = fn##f(a);                                                                              \
        break;
        LIBM1(X)
#undef X
#define X(id, fn)                                                                                  \
    case RG_##id:                                                                                  \
        r = fn##f(a, b);                                                                           \
        break;
        LIBM2(X)
#undef X
    default:
        return false;
    }
    out->f = (double)r;
    return true;
}

static bool eval_f64(rg_op op, const rg_const *x, rg_const *out) {
    int n = rg_ops[op].operands;
    double a = x[0].f, b = n > 1 && op != RG_LDEXP ? x[1].f : 0;
    double r;
    switch (op) {
    case RG_ADD:
        r = a + b;
        break;
    case RG_SUB:
        r = a - b;
        break;
    case RG_MUL:
        r = a * b;
        break;
    case RG_DIV:
        r = a / b;
        break;
    case RG_NEG:
        r = -a;
        break;
    case RG_FMA:
        r = fma(a, b, x[2].f);
        break;
    case RG_ZMUL:
        r = a == 0 ? 0 : a * b;
        break;
    case RG_LDEXP:
        r = ldexp(a, (int)x[1].i);
        break;
    case RG_DIGAMMA:
        r = rg_digamma(a);
        break;
#define X(id, fn)                                                                                  \
    case RG_##id:                                                                                  \
        r = fn(a);                                                                                 \
        break;
        LIBM1(X)
#undef X
#define X(id, fn)                                                                                  \
    case RG_##id:                                                                                  \
        r = fn(a, b);                                                                              \
        break;
        LIBM2(X)
#undef X
    default:
        return false;
    }
    out->f = r;
    return true;
}

static rg_const eval_bitcast(rg_type t, rg_type xt, rg_const x) {
    rg_const r = x;
    if (rg_type_is_float(t) == rg_type_is_float(xt))
        r.i = rg_type_is_float(t) ? x.i : wrap_int(t, (uint64_t)x.i);
    else if (xt == RG_F32) {
        float v = (float)x.f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        r.i = wrap_int(t, bits);
    } else if (t == RG_F32) {
        uint32_t bits = (uint32_t)x.i;
        float v;
        memcpy(&v, &bits, sizeof v);
        r.f = (double)v;
    } /* f64: the union does it */
    return r;
}

bool rg_eval(rg_op op, rg_type t, rg_type xt, int64_t imm, const rg_const *x, rg_const *out) {
    rg_const r = {0};
    switch (op) {
    case RG_EQ:
    case RG_NE:
    case RG_LT:
    case RG_LE:
    case RG_GT:
    case RG_GE:
        if (!eval_compare(op, xt, x, &r))
            return false;
        break;
    case RG_SELECT:
        r = x[0].i ? x[1] : x[2];
        break;
    case RG_ISNAN:
        r.i = isnan(x[0].f) != 0;
        break;
    case RG_ISINF:
        r.i = isinf(x[0].f) != 0;
        break;
    case RG_SIGNBIT:
        r.i = signbit(x[0].f) != 0;
        break;
    case RG_CAST:
        r = eval_cast(t, xt, x[0]);
        break;
    case RG_BITCAST:
        r = eval_bitcast(t, xt, x[0]);
        break;
    case RG_WRAP:
        r = rg_eval_wrap((rg_mem)imm, x[0]);
        break;
    case RG_STOP:
        r = x[0];
        break;
    case RG_ILOGB:
        r.i = xt == RG_F32 ? ilogbf((float)x[0].f) : ilogb(x[0].f);
        break;
    case RG_RED:
        r = rg_eval_red((rg_red)imm, t, x[0], x[1]);
        break;
    default:
        if (t == RG_F32) {
            if (!eval_f32(op, x, &r))
                return false;
        } else if (t == RG_F64) {
            if (!eval_f64(op, x, &r))
                return false;
        } else if (!eval_int(op, t, x, &r)) {
            return false;
        }
    }
    *out = r;
    return true;
}

rg_const rg_eval_red(rg_red kind, rg_type t, rg_const a, rg_const b) {
    rg_const r = a, x[2] = {a, b}, less;
    switch (kind) {
    case RG_RED_ADD:
        if (t == RG_BOOL)
            r.i = a.i || b.i;
        else
            rg_eval(RG_ADD, t, t, 0, x, &r);
        break;
    case RG_RED_MUL:
        if (t == RG_BOOL)
            r.i = a.i && b.i;
        else
            rg_eval(RG_MUL, t, t, 0, x, &r);
        break;
    case RG_RED_MIN: /* OpenMP's combiner: in < out ? in : out */
        eval_compare(RG_GT, t, x, &less);
        r = less.i ? b : a;
        break;
    case RG_RED_MAX:
        eval_compare(RG_LT, t, x, &less);
        r = less.i ? b : a;
        break;
    case RG_RED_AND:
        r.i = wrap_int(t, (uint64_t)a.i & (uint64_t)b.i);
        break;
    case RG_RED_OR:
        r.i = wrap_int(t, (uint64_t)a.i | (uint64_t)b.i);
        break;
    case RG_RED_XOR:
        r.i = wrap_int(t, (uint64_t)a.i ^ (uint64_t)b.i);
        break;
    case RG_RED_LAND:
        r.i = a.i && b.i;
        break;
    case RG_RED_LOR:
        r.i = a.i || b.i;
        break;
    case RG_RED_SET:
        r = b;
        break;
    }
    return r;
}

rg_const rg_red_identity(rg_red kind, rg_type t) {
    rg_const r = {0};
    bool is_float = rg_type_is_float(t);
    switch (kind) {
    case RG_RED_MUL:
    case RG_RED_LAND:
        if (is_float)
            r.f = 1;
        else
            r.i = 1;
        break;
    case RG_RED_MIN:
        if (is_float)
            r.f = (double)INFINITY;
        else
            r.i = t == RG_BOOL  ? 1
                  : t == RG_I32 ? INT32_MAX
                  : t == RG_U32 ? (int64_t)UINT32_MAX
                  : t == RG_I64 ? INT64_MAX
                                : (int64_t)UINT64_MAX;
        break;
    case RG_RED_MAX:
        if (is_float)
            r.f = -(double)INFINITY;
        else
            r.i = t == RG_I32 ? INT32_MIN : t == RG_I64 ? INT64_MIN : 0;
        break;
    case RG_RED_AND:
        r.i = wrap_int(t, UINT64_MAX);
        break;
    case RG_RED_ADD:
    case RG_RED_OR:
    case RG_RED_XOR:
    case RG_RED_LOR:
    case RG_RED_SET:
        break;
    }
    return r;
}

rg_const rg_eval_wrap(rg_mem m, rg_const x) {
    rg_const r = x;
    switch (m) {
    case RG_M_BOOL:
        r.i = x.i != 0;
        break;
    case RG_M_I8:
        r.i = (int8_t)(uint8_t)(uint64_t)x.i;
        break;
    case RG_M_U8:
        r.i = (uint8_t)(uint64_t)x.i;
        break;
    case RG_M_I16:
        r.i = (int16_t)(uint16_t)(uint64_t)x.i;
        break;
    case RG_M_U16:
        r.i = (uint16_t)(uint64_t)x.i;
        break;
    case RG_M_I32:
        r.i = wrap_int(RG_I32, (uint64_t)x.i);
        break;
    case RG_M_U32:
        r.i = wrap_int(RG_U32, (uint64_t)x.i);
        break;
    case RG_M_F16:
        r.f = (double)rg_half_to_float(rg_half_from_float((float)x.f));
        break;
    case RG_M_F32:
        r.f = (double)(float)x.f;
        break;
    case RG_M_I64:
    case RG_M_U64:
    case RG_M_F64:
    case RG_N_MEMS:
        break;
    }
    return r;
}

float rg_half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, m = h & 0x3ffu;
    if (exponent == 0) { /* zero and subnormals: m * 2^-24, exact */
        float v = (float)m * 0x1p-24f;
        return sign ? -v : v;
    }
    uint32_t bits =
        exponent == 31 ? sign | 0x7f800000u | m << 13 : sign | (exponent + 112) << 23 | m << 13;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t rg_half_from_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) /* NaN: keep the top of the payload, make it quiet */
        return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
    if (magnitude >= 0x477ff000u) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (magnitude < 0x33000001u) /* 2^-25 and less round to zero */
        return (uint16_t)sign;
    uint32_t m, shift, base;
    if (magnitude < 0x38800000u) { /* subnormal half */
        m = (magnitude & 0x7fffffu) | 0x800000u;
        shift = 126 - (magnitude >> 23); /* 14 .. 24 */
        base = 0;
    } else {
        m = magnitude & 0x7fffffu;
        shift = 13;
        base = ((magnitude >> 23) - 112) << 10;
    }
    uint32_t kept = m >> shift, rest = m & ((1u << shift) - 1), half = 1u << (shift - 1);
    if (rest > half || (rest == half && (kept & 1)))
        kept++; /* a carry runs into the exponent, as it should */
    return (uint16_t)(sign | (base + kept));
}

/* Reflection to positive arguments, the recurrence up to 10, then the asymptotic series with
 * Bernoulli numbers (Abramowitz and Stegun 6.3.18). */
double rg_digamma(double x) {
    const double pi = 3.14159265358979323846;
    double r = 0;
    if (isnan(x) || x == -(double)INFINITY)
        return (double)NAN;
    if (x == 0)
        return signbit(x) ? (double)INFINITY : -(double)INFINITY;
    if (x < 0) {
        double fraction = x - floor(x);
        if (fraction == 0)
            return (double)NAN;
        /* tan(pi x) has period 1: reduce before multiplying by pi. */
        if (fraction > 0.5)
            fraction -= 1;
        r = -pi / tan(pi * fraction);
        x = 1 - x;
    }
    while (x < 10) {
        r -= 1 / x;
        x += 1;
    }
    double s = 1 / (x * x);
    double series =
        s * (1.0 / 12 -
             s * (1.0 / 120 -
                  s * (1.0 / 252 -
                       s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760 - s * (1.0 / 12)))))));
    return r + log(x) - 0.5 / x - series;
}
