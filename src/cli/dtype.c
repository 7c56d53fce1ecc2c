/* One switch per direction; everything else goes through those. Half floats are converted in
 * software: not every C compiler has the type. */
#include "dtype.h"

#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct type {
    const char *c, *numpy;
    size_t size;
    int64_t lo;
    uint64_t hi;
} types[] = {
    [RG_DTYPE_BOOL] = {"bool", "bool", 1, 0, 1},
    [RG_DTYPE_I8] = {"signed char", "int8", 1, INT8_MIN, INT8_MAX},
    [RG_DTYPE_U8] = {"unsigned char", "uint8", 1, 0, UINT8_MAX},
    [RG_DTYPE_I16] = {"short", "int16", 2, INT16_MIN, INT16_MAX},
    [RG_DTYPE_U16] = {"unsigned short", "uint16", 2, 0, UINT16_MAX},
    [RG_DTYPE_I32] = {"int", "int32", 4, INT32_MIN, INT32_MAX},
    [RG_DTYPE_U32] = {"unsigned int", "uint32", 4, 0, UINT32_MAX},
    [RG_DTYPE_I64] = {"long", "int64", 8, INT64_MIN, INT64_MAX},
    [RG_DTYPE_U64] = {"unsigned long", "uint64", 8, 0, UINT64_MAX},
    [RG_DTYPE_F16] = {"half", "float16", 2, 0, 0},
    [RG_DTYPE_F32] = {"float", "float32", 4, 0, 0},
    [RG_DTYPE_F64] = {"double", "float64", 8, 0, 0},
    [RG_DTYPE_STRUCT] = {"struct", "struct", 0, 0, 0},
};

size_t rg_cli_dtype_size(rg_dtype t) {
    return types[t].size;
}

const char *rg_cli_dtype_c(rg_dtype t) {
    return types[t].c;
}

const char *rg_cli_dtype_numpy(rg_dtype t) {
    return types[t].numpy;
}

bool rg_cli_dtype_is_float(rg_dtype t) {
    return t == RG_DTYPE_F16 || t == RG_DTYPE_F32 || t == RG_DTYPE_F64;
}

bool rg_cli_dtype_is_int(rg_dtype t) {
    return t >= RG_DTYPE_I8 && t <= RG_DTYPE_U64;
}

bool rg_cli_dtype_is_unsigned(rg_dtype t) {
    return t == RG_DTYPE_BOOL || t == RG_DTYPE_U8 || t == RG_DTYPE_U16 || t == RG_DTYPE_U32 ||
           t == RG_DTYPE_U64;
}

static double half_get(uint16_t h) {
    double sign = h & 0x8000 ? -1.0 : 1.0;
    int e = (h >> 10) & 31;
    double m = h & 0x3ff;
    if (e == 31)
        return m > 0 ? (double)NAN : sign * HUGE_VAL;
    return sign * (e ? ldexp(1024 + m, e - 25) : ldexp(m, -24));
}

/* Rounds to nearest, ties to even. */
static uint16_t half_set(double v) {
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double a = fabs(v);
    if (isnan(v))
        return (uint16_t)(sign | 0x7e00);
    if (a == 0)
        return sign;
    if (a >= 65520)
        return (uint16_t)(sign | 0x7c00);
    int e;
    frexp(a, &e); /* a = m 2^e, m in [0.5, 1) */
    int step = e < -13 ? -24 : e - 11;
    double units = nearbyint(ldexp(a, -step)); /* 0 .. 2048 */
    unsigned u = (unsigned)units;
    if (step == -24)
        return (uint16_t)(sign | u); /* subnormal; 1024 carries into the exponent by itself */
    return (uint16_t)(sign | (((unsigned)(step + 24) << 10) + u));
}

#define LOAD(T)                                                                                    \
    T x;                                                                                           \
    memcpy(&x, p, sizeof x)

double rg_cli_scalar_get(rg_dtype t, const void *p) {
    switch (t) {
    case RG_DTYPE_F16: {
        LOAD(uint16_t);
        return half_get(x);
    }
    case RG_DTYPE_F32: {
        LOAD(float);
        return (double)x;
    }
    case RG_DTYPE_F64: {
        LOAD(double);
        return x;
    }
    case RG_DTYPE_U64: {
        LOAD(uint64_t);
        return (double)x;
    }
    default:
        return (double)rg_cli_scalar_get_int(t, p);
    }
}

int64_t rg_cli_scalar_get_int(rg_dtype t, const void *p) {
    switch (t) {
    case RG_DTYPE_BOOL:
    case RG_DTYPE_U8: {
        LOAD(uint8_t);
        return x;
    }
    case RG_DTYPE_I8: {
        LOAD(int8_t);
        return x;
    }
    case RG_DTYPE_I16: {
        LOAD(int16_t);
        return x;
    }
    case RG_DTYPE_U16: {
        LOAD(uint16_t);
        return x;
    }
    case RG_DTYPE_I32: {
        LOAD(int32_t);
        return x;
    }
    case RG_DTYPE_U32: {
        LOAD(uint32_t);
        return x;
    }
    case RG_DTYPE_I64:
    case RG_DTYPE_U64: {
        LOAD(int64_t);
        return x;
    }
    default:
        return 0;
    }
}

bool rg_cli_scalar_set_int(rg_dtype t, void *p, int64_t v, bool is_big) {
    if (rg_cli_dtype_is_float(t)) {
        rg_cli_scalar_set(t, p, is_big ? (double)(uint64_t)v : (double)v);
        return true;
    }
    if (t == RG_DTYPE_STRUCT || (is_big && t != RG_DTYPE_U64) || (!is_big && v < types[t].lo) ||
        (!is_big && v > 0 && (uint64_t)v > types[t].hi))
        return false;
    uint64_t bits = (uint64_t)v;
    memcpy(p, &bits, types[t].size); /* little-endian, as all that Retrograd runs on */
    return true;
}

void rg_cli_scalar_set(rg_dtype t, void *p, double v) {
    if (t == RG_DTYPE_F16) {
        uint16_t h = half_set(v);
        memcpy(p, &h, sizeof h);
    } else if (t == RG_DTYPE_F32) {
        float f = (float)v;
        memcpy(p, &f, sizeof f);
    } else if (t == RG_DTYPE_F64) {
        memcpy(p, &v, sizeof v);
    } else if (t != RG_DTYPE_STRUCT) {
        double lo = (double)types[t].lo, hi = (double)types[t].hi;
        v = isnan(v) ? 0 : v < lo ? lo : v > hi ? hi : v;
        uint64_t bits = v < 0 ? (uint64_t)(int64_t)v : v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
        memcpy(p, &bits, types[t].size);
    }
}

const char *rg_cli_scalar_parse(rg_dtype t, const char *text, void *p) {
    char *end;
    errno = 0;
    bool blank = *text == '\0' || *text == ' ' || *text == '\t' || *text == '\n';
    if (rg_cli_dtype_is_float(t)) {
        double v = blank ? 0 : strtod(text, &end);
        if (blank || *end)
            return "a number is wanted";
        /* Straight to float: going through double would round twice. */
        if (t == RG_DTYPE_F32) {
            float f = strtof(text, NULL);
            if (isinf(f) && !isinf(v))
                return "the number does not fit a float";
            memcpy(p, &f, sizeof f);
            return NULL;
        }
        if (errno == ERANGE && isinf(v))
            return "the number does not fit a double";
        if (t == RG_DTYPE_F16 && fabs(v) >= 65520 && !isinf(v))
            return "the number does not fit a half float";
        rg_cli_scalar_set(t, p, v);
        return NULL;
    }
    if (t == RG_DTYPE_STRUCT)
        return "a struct takes a generator or a .npy file";
    if (t == RG_DTYPE_BOOL && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)) {
        rg_cli_scalar_set_int(t, p, text[0] == 't', false);
        return NULL;
    }
    bool negative = *text == '-';
    int base = strncmp(text + negative, "0x", 2) == 0 ? 16 : 10;
    bool fits, number = !blank;
    if (negative) {
        int64_t v = blank ? 0 : strtoll(text, &end, base);
        number = number && end != text && !*end;
        fits = number && errno != ERANGE && rg_cli_scalar_set_int(t, p, v, false);
    } else {
        uint64_t v = blank ? 0 : strtoull(text, &end, base);
        number = number && end != text && !*end;
        fits = number && errno != ERANGE &&
               rg_cli_scalar_set_int(t, p, (int64_t)v, v > (uint64_t)INT64_MAX);
    }
    if (!number || !fits)
        return rg_cli_format("an integer from %lld to %llu is wanted", (long long)types[t].lo,
                             (unsigned long long)types[t].hi);
    return NULL;
}

static bool same_value(rg_dtype t, const void *p, const char *text) {
    unsigned char back[8] = {0};
    if (t == RG_DTYPE_F16) {
        uint16_t h = half_set(strtod(text, NULL));
        memcpy(back, &h, sizeof h);
    } else if (t == RG_DTYPE_F32) {
        float f = strtof(text, NULL);
        memcpy(back, &f, sizeof f);
    } else {
        double d = strtod(text, NULL);
        memcpy(back, &d, sizeof d);
    }
    return memcmp(back, p, rg_cli_dtype_size(t)) == 0;
}

void rg_cli_scalar_print(rg_dtype t, const void *p, char out[RG_CLI_SCALAR_TEXT]) {
    if (!rg_cli_dtype_is_float(t)) {
        int64_t v = rg_cli_scalar_get_int(t, p);
        if (t == RG_DTYPE_U64)
            snprintf(out, RG_CLI_SCALAR_TEXT, "%llu", (unsigned long long)v);
        else
            snprintf(out, RG_CLI_SCALAR_TEXT, "%lld", (long long)v);
        return;
    }
    double v = rg_cli_scalar_get(t, p);
    if (isnan(v) || isinf(v)) {
        snprintf(out, RG_CLI_SCALAR_TEXT, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    int most = t == RG_DTYPE_F64 ? 17 : t == RG_DTYPE_F32 ? 9 : 5;
    for (int digits = t == RG_DTYPE_F64   ? 15
                      : t == RG_DTYPE_F32 ? 6
                                          : 3;
         digits <= most; digits++) {
        snprintf(out, RG_CLI_SCALAR_TEXT, "%.*g", digits, v);
        if (same_value(t, p, out))
            break;
    }
}
