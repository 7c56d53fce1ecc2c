/* Helper functions as text. Each is plain C99 that stands alone; what they need of one another is
 * marked where they are asked for (rg_c_use). Read-modify-write helpers are generated for the pair
 * of operator and memory type that occurs. */
#include "emit/c/helpers.h"

void rg_c_use(rg_chelpers *h, rg_chelper which) {
    h->used[which] = true;
    switch (which) {
    case RG_H_DIGAMMA:
    case RG_H_FMIN_F32:
        h->math = true;
        break;
    case RG_H_HALF_LOAD:
    case RG_H_HALF_STORE:
        h->string = true;
        break;
    case RG_H_TAKE:
        h->stdlib = true;
        h->used[RG_H_ROUND] = true;
        h->used[RG_H_HEAP] = true;
        break;
    case RG_H_HEAP:
    case RG_H_GROW:
        h->stdlib = true;
        break;
    default:
        break;
    }
}

static const char *const text[RG_N_HELPERS] = {
    [RG_H_ZMUL_F32] = "/* c * d, but zero when c is: also when d is infinite or not a number. */\n"
                      "static inline float rg_zmulf(float c, float d) {\n"
                      "    float r = c * d;\n"
                      "    return c == 0.0f ? 0.0f : r;\n"
                      "}\n",
    [RG_H_ZMUL_F64] = "/* c * d, but zero when c is: also when d is infinite or not a number. */\n"
                      "static inline double rg_zmul(double c, double d) {\n"
                      "    double r = c * d;\n"
                      "    return c == 0.0 ? 0.0 : r;\n"
                      "}\n",
    [RG_H_ZMUL2_F32] = "/* (c * d) * e, but zero when c or c * d is. */\n"
                       "static inline float rg_zmul2f(float c, float d, float e) {\n"
                       "    float r = c * d, s = r * e;\n"
                       "    return c == 0.0f ? 0.0f : r == 0.0f ? 0.0f : s;\n"
                       "}\n",
    [RG_H_ZMUL2_F64] = "/* (c * d) * e, but zero when c or c * d is. */\n"
                       "static inline double rg_zmul2(double c, double d, double e) {\n"
                       "    double r = c * d, s = r * e;\n"
                       "    return c == 0.0 ? 0.0 : r == 0.0 ? 0.0 : s;\n"
                       "}\n",
    [RG_H_DIGAMMA] =
        "/* Derivative of lgamma: recurrence up to 10, then the asymptotic series. */\n"
        "static inline double rg_digamma(double x) {\n"
        "    double r = 0.0, f;\n"
        "    if (x <= 0.0) {\n"
        "        if (x == floor(x))\n"
        "            return NAN;\n"
        "        r = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - floor(x)));\n"
        "        x = 1.0 - x;\n"
        "    }\n"
        "    for (; x < 10.0; x += 1.0)\n"
        "        r -= 1.0 / x;\n"
        "    f = 1.0 / (x * x);\n"
        "    return r + log(x) - 0.5 / x -\n"
        "           f * (1.0 / 12.0 -\n"
        "                f * (1.0 / 120.0 -\n"
        "                     f * (1.0 / 252.0 -\n"
        "                          f * (1.0 / 240.0 -\n"
        "                               f * (1.0 / 132.0 - f * (691.0 / 32760.0 - f / 12.0))))));\n"
        "}\n",
    [RG_H_HALF_LOAD] =
        "/* IEEE half precision, from its bits. */\n"
        "static inline float rg_half_to_float(uint16_t h) {\n"
        "    uint32_t s = (uint32_t)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 1023u, b;\n"
        "    float f;\n"
        "    if (e == 0u) {\n"
        "        f = (float)m * 5.9604644775390625e-8f;\n"
        "        memcpy(&b, &f, 4);\n"
        "        b |= s;\n"
        "    } else\n"
        "        b = s | (e == 31u ? 0x7f800000u : (e + 112u) << 23) | m << 13;\n"
        "    memcpy(&f, &b, 4);\n"
        "    return f;\n"
        "}\n",
    [RG_H_HALF_STORE] = "/* Bits of the nearest half, ties to even. */\n"
                        "static inline uint16_t rg_half_from_float(float f) {\n"
                        "    uint32_t b, s, a, h;\n"
                        "    memcpy(&b, &f, 4);\n"
                        "    s = (b >> 16) & 0x8000u;\n"
                        "    a = b & 0x7fffffffu;\n"
                        "    if (a > 0x7f800000u)\n"
                        "        h = 0x7e00u | ((a >> 13) & 0x3ffu);\n"
                        "    else if (a >= 0x47800000u)\n"
                        "        h = 0x7c00u;\n"
                        "    else if (a >= 0x38800000u)\n"
                        "        h = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;\n"
                        "    else if (a >= 0x33000000u) {\n"
                        "        uint32_t n = 126u - (a >> 23), m = (a & 0x7fffffu) | 0x800000u;\n"
                        "        h = m >> n;\n"
                        "        m &= (1u << n) - 1u;\n"
                        "        h += m > 1u << (n - 1u) || (m == 1u << (n - 1u) && (h & 1u));\n"
                        "    } else\n"
                        "        h = 0u;\n"
                        "    return (uint16_t)(s | h);\n"
                        "}\n",
    /* As the C library's on x86: the first operand unless the second is smaller or ordered equal,
     * a NaN loses. In this form compilers use vector minimum and blend. */
    [RG_H_FMIN_F32] = "static inline float rg_fminf(float a, float b) {\n"
                      "    float m = a < b ? a : b;\n"
                      "    return b != b ? a : m;\n"
                      "}\n",
    [RG_H_FMIN_F64] = "static inline double rg_fmin(double a, double b) {\n"
                      "    double m = a < b ? a : b;\n"
                      "    return b != b ? a : m;\n"
                      "}\n",
    [RG_H_FMAX_F32] = "static inline float rg_fmaxf(float a, float b) {\n"
                      "    float m = a > b ? a : b;\n"
                      "    return b != b ? a : m;\n"
                      "}\n",
    [RG_H_FMAX_F64] = "static inline double rg_fmax(double a, double b) {\n"
                      "    double m = a > b ? a : b;\n"
                      "    return b != b ? a : m;\n"
                      "}\n",
    [RG_H_COUNT] = "/* A number of elements: none when negative. */\n"
                   "static inline size_t rg_count(int64_t n) {\n"
                   "    return n > 0 ? (size_t)n : 0;\n"
                   "}\n",
    [RG_H_ROUND] = "/* Bytes rounded up to whole cache lines. */\n"
                   "static inline size_t rg_round(size_t bytes) {\n"
                   "    return (bytes + 63) / 64 * 64;\n"
                   "}\n",
    [RG_H_HEAP] = "static void *rg_heap(size_t bytes) {\n"
                  "    void *p = malloc(bytes ? bytes : 1);\n"
                  "    if (!p)\n"
                  "        abort(); /* out of memory: going on would give wrong results */\n"
                  "    return p;\n"
                  "}\n",
    [RG_H_TAKE] = "/* Memory from the scratch at *at, or from the heap when there is none. */\n"
                  "static void *rg_take(char **at, size_t bytes) {\n"
                  "    char *p = *at;\n"
                  "    if (!p)\n"
                  "        return rg_heap(bytes);\n"
                  "    *at = p + rg_round(bytes);\n"
                  "    return p;\n"
                  "}\n"
                  "\n"
                  "/* Gives back what was taken last. */\n"
                  "static void rg_give(char **at, void *p) {\n"
                  "    if (*at)\n"
                  "        *at = p;\n"
                  "    else\n"
                  "        free(p);\n"
                  "}\n",
    [RG_H_GROW] = "/* Makes room for element i of a growing array; new elements are zero. */\n"
                  "static void *rg_grow(void *p, size_t *n, size_t i, size_t size) {\n"
                  "    size_t more = 2 * i + 64, k;\n"
                  "    if (i < *n)\n"
                  "        return p;\n"
                  "    p = realloc(p, more * size);\n"
                  "    if (!p)\n"
                  "        abort(); /* out of memory: going on would give wrong results */\n"
                  "    for (k = *n * size; k < more * size; k++)\n"
                  "        ((char *)p)[k] = 0;\n"
                  "    *n = more;\n"
                  "    return p;\n"
                  "}\n",
    [RG_H_THREADS] = "static inline size_t rg_threads(void) {\n"
                     "#ifdef _OPENMP\n"
                     "    return (size_t)omp_get_max_threads();\n"
                     "#else\n"
                     "    return 1;\n"
                     "#endif\n"
                     "}\n",
    [RG_H_THREAD] = "static inline size_t rg_thread(void) {\n"
                    "#ifdef _OPENMP\n"
                    "    return (size_t)omp_get_thread_num();\n"
                    "#else\n"
                    "    return 0;\n"
                    "#endif\n"
                    "}\n",
};

void rg_c_red_text(rg_text *out, rg_red kind, rg_type t, const char *a, const char *b) {
    static const char *const infix[] = {
        [RG_RED_ADD] = "+", [RG_RED_MUL] = "*",   [RG_RED_AND] = "&", [RG_RED_OR] = "|",
        [RG_RED_XOR] = "^", [RG_RED_LAND] = "&&", [RG_RED_LOR] = "||"};
    switch (kind) {
    case RG_RED_MIN:
        rg_text_format(out, "%s < %s ? %s : %s", b, a, b, a);
        break;
    case RG_RED_MAX:
        rg_text_format(out, "%s > %s ? %s : %s", b, a, b, a);
        break;
    case RG_RED_SET:
        rg_text_add(out, b);
        break;
    default: {
        const char *op = infix[kind];
        if (t == RG_BOOL && kind == RG_RED_ADD)
            op = "||";
        else if (t == RG_BOOL && kind == RG_RED_MUL)
            op = "&&";
        rg_text_format(out, "%s %s %s", a, op, b);
    }
    }
}

static const char *bits_of(rg_mem m) {
    switch (rg_mem_size(m)) {
    case 1:
        return "uint8_t";
    case 2:
        return "uint16_t";
    case 4:
        return "uint32_t";
    default:
        return "uint64_t";
    }
}

static void print_rmw(rg_text *t, rg_red kind, rg_mem m) {
    rg_type type = rg_mem_value(m);
    const char *c = rg_type_c(type), *mc = m == RG_M_F16 ? "uint16_t" : rg_mem_c(m);
    const char *bits = bits_of(m), *name = rg_red_name(kind);
    static const char *const fetch[] = {[RG_RED_ADD] = "__atomic_fetch_add",
                                        [RG_RED_AND] = "__atomic_fetch_and",
                                        [RG_RED_OR] = "__atomic_fetch_or",
                                        [RG_RED_XOR] = "__atomic_fetch_xor",
                                        [RG_RED_SET] = "__atomic_exchange_n"};
    bool direct = !rg_mem_is_float(m) && m != RG_M_BOOL && kind != RG_RED_MUL &&
                  kind != RG_RED_MIN && kind != RG_RED_MAX && kind != RG_RED_LAND &&
                  kind != RG_RED_LOR;
    rg_text_format(t,
                   "/* *p = *p %s v in one step; what *p was (now: is). */\n"
                   "static inline %s rg_atomic_%s_%s(%s *p, %s v, int now) {\n",
                   name, c, name, rg_mem_name(m), mc, c);
    if (direct) { /* in unsigned words, where wrapping is defined */
        rg_text_format(t, "    %s a = %s(p, (%s)v, __ATOMIC_RELAXED);\n    return now ? (%s)(", mc,
                       fetch[kind], mc, mc);
        if (kind == RG_RED_SET)
            rg_text_add(t, "v");
        else if (kind == RG_RED_ADD)
            rg_text_add(t, "(uint64_t)a + (uint64_t)v");
        else
            rg_c_red_text(t, kind, type, "a", "v");
        rg_text_add(t, ") : a;\n}\n");
        return;
    }
    rg_text_format(t,
                   "    typedef %s __attribute__((may_alias)) word;\n"
                   "    word *w = (word *)p, old = __atomic_load_n(w, __ATOMIC_RELAXED), new;\n"
                   "    %s a, b;\n",
                   bits, c);
    if (m != RG_M_F16)
        rg_text_format(t, "    %s x;\n", mc);
    rg_text_add(t, "    do {\n");
    if (m == RG_M_F16)
        rg_text_add(t, "        a = rg_half_to_float(old);\n");
    else
        rg_text_add(t, "        memcpy(&x, &old, sizeof x);\n        a = x;\n");
    rg_text_add(t, "        b = ");
    rg_c_red_text(t, kind, type, "a", "v");
    rg_text_add(t, ";\n");
    if (m == RG_M_F16)
        rg_text_add(t, "        new = rg_half_from_float(b);\n");
    else
        rg_text_format(t, "        x = (%s)b;\n        memcpy(&new, &x, sizeof x);\n", mc);
    rg_text_add(t, "    } while (!__atomic_compare_exchange_n(w, &old, new, 1, __ATOMIC_RELAXED,\n"
                   "                                          __ATOMIC_RELAXED));\n");
    if (m == RG_M_F16)
        rg_text_add(t, "    return now ? rg_half_to_float(new) : a;\n}\n");
    else
        rg_text_add(t, "    return now ? x : a;\n}\n");
}

static void print_access(rg_text *t, rg_mem m, bool store) {
    const char *c = rg_mem_c(m), *bits = bits_of(m);
    if (m == RG_M_F16)
        c = "uint16_t";
    if (store)
        rg_text_format(t,
                       "static inline void rg_atomic_store_%s(%s *p, %s v) {\n"
                       "    typedef %s __attribute__((may_alias)) word;\n"
                       "    word w;\n"
                       "    memcpy(&w, &v, sizeof v);\n"
                       "    __atomic_store_n((word *)p, w, __ATOMIC_RELAXED);\n}\n",
                       rg_mem_name(m), c, c, bits);
    else
        rg_text_format(t,
                       "static inline %s rg_atomic_load_%s(const %s *p) {\n"
                       "    typedef %s __attribute__((may_alias)) word;\n"
                       "    word w = __atomic_load_n((const word *)p, __ATOMIC_RELAXED);\n"
                       "    %s v;\n"
                       "    memcpy(&v, &w, sizeof v);\n"
                       "    return v;\n}\n",
                       c, rg_mem_name(m), c, bits, c);
}

void rg_c_helpers_print(const rg_chelpers *h, rg_text *t) {
    for (int k = 0; k < RG_N_HELPERS; k++)
        if (h->used[k]) {
            rg_text_add(t, text[k]);
            rg_text_char(t, '\n');
        }
    for (int m = 0; m < RG_N_MEMS; m++) {
        for (int k = 0; k <= RG_RED_SET; k++)
            if (h->rmw[k][m]) {
                print_rmw(t, (rg_red)k, (rg_mem)m);
                rg_text_char(t, '\n');
            }
        if (h->atomic_load[m]) {
            print_access(t, (rg_mem)m, false);
            rg_text_char(t, '\n');
        }
        if (h->atomic_store[m]) {
            print_access(t, (rg_mem)m, true);
            rg_text_char(t, '\n');
        }
    }
}
