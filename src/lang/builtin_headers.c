/* Types and limits are those of LP64 (as docs promise for every device), char is signed, and
 * float and double are IEEE's. Functions are not declared: the checker knows them by name. */
#include "lang/builtin_headers.h"

#include <string.h>

static const char float_h[] = "#pragma once\n"
                              "#define FLT_EVAL_METHOD 0\n"
                              "#define FLT_ROUNDS 1\n"
                              "#define FLT_RADIX 2\n"
                              "#define DECIMAL_DIG 17\n"
                              "#define FLT_DECIMAL_DIG 9\n"
                              "#define DBL_DECIMAL_DIG 17\n"
                              "#define FLT_HAS_SUBNORM 1\n"
                              "#define DBL_HAS_SUBNORM 1\n"
                              "#define FLT_MANT_DIG 24\n"
                              "#define DBL_MANT_DIG 53\n"
                              "#define FLT_DIG 6\n"
                              "#define DBL_DIG 15\n"
                              "#define FLT_MIN_EXP (-125)\n"
                              "#define DBL_MIN_EXP (-1021)\n"
                              "#define FLT_MAX_EXP 128\n"
                              "#define DBL_MAX_EXP 1024\n"
                              "#define FLT_MIN_10_EXP (-37)\n"
                              "#define DBL_MIN_10_EXP (-307)\n"
                              "#define FLT_MAX_10_EXP 38\n"
                              "#define DBL_MAX_10_EXP 308\n"
                              "#define FLT_MAX 0x1.fffffep127f\n"
                              "#define DBL_MAX 0x1.fffffffffffffp1023\n"
                              "#define FLT_MIN 0x1p-126f\n"
                              "#define DBL_MIN 0x1p-1022\n"
                              "#define FLT_EPSILON 0x1p-23f\n"
                              "#define DBL_EPSILON 0x1p-52\n"
                              "#define FLT_TRUE_MIN 0x1p-149f\n"
                              "#define DBL_TRUE_MIN 0x1p-1074\n";

static const char limits_h[] = "#pragma once\n"
                               "#define CHAR_BIT 8\n"
                               "#define MB_LEN_MAX 16\n"
                               "#define SCHAR_MIN (-128)\n"
                               "#define SCHAR_MAX 127\n"
                               "#define UCHAR_MAX 255\n"
                               "#define CHAR_MIN (-128)\n"
                               "#define CHAR_MAX 127\n"
                               "#define SHRT_MIN (-32768)\n"
                               "#define SHRT_MAX 32767\n"
                               "#define USHRT_MAX 65535\n"
                               "#define INT_MIN (-INT_MAX - 1)\n"
                               "#define INT_MAX 2147483647\n"
                               "#define UINT_MAX 4294967295U\n"
                               "#define LONG_MIN (-LONG_MAX - 1L)\n"
                               "#define LONG_MAX 9223372036854775807L\n"
                               "#define ULONG_MAX 18446744073709551615UL\n"
                               "#define LLONG_MIN (-LLONG_MAX - 1LL)\n"
                               "#define LLONG_MAX 9223372036854775807LL\n"
                               "#define ULLONG_MAX 18446744073709551615ULL\n";

/* __rg_inf and __rg_nan are float constants to the checker. */
static const char math_h[] = "#pragma once\n"
                             "typedef float float_t;\n"
                             "typedef double double_t;\n"
                             "#define INFINITY __rg_inf\n"
                             "#define NAN __rg_nan\n"
                             "#define HUGE_VALF __rg_inf\n"
                             "#define HUGE_VAL ((double)__rg_inf)\n"
                             "#define FP_NAN 0\n"
                             "#define FP_INFINITE 1\n"
                             "#define FP_ZERO 2\n"
                             "#define FP_SUBNORMAL 3\n"
                             "#define FP_NORMAL 4\n"
                             "#define M_E 2.7182818284590452354\n"
                             "#define M_LOG2E 1.4426950408889634074\n"
                             "#define M_LOG10E 0.43429448190325182765\n"
                             "#define M_LN2 0.69314718055994530942\n"
                             "#define M_LN10 2.30258509299404568402\n"
                             "#define M_PI 3.14159265358979323846\n"
                             "#define M_PI_2 1.57079632679489661923\n"
                             "#define M_PI_4 0.78539816339744830962\n"
                             "#define M_1_PI 0.31830988618379067154\n"
                             "#define M_2_PI 0.63661977236758134308\n"
                             "#define M_2_SQRTPI 1.12837916709551257390\n"
                             "#define M_SQRT2 1.41421356237309504880\n"
                             "#define M_SQRT1_2 0.70710678118654752440\n"
                             "#pragma retrograd math\n";

static const char omp_h[] = "#pragma once\n";

static const char stdlib_h[] = "#pragma once\n"
                               "#include <stddef.h>\n"
                               "#pragma retrograd stdlib\n";

static const char stdbool_h[] = "#pragma once\n"
                                "#define bool _Bool\n"
                                "#define true 1\n"
                                "#define false 0\n"
                                "#define __bool_true_false_are_defined 1\n";

static const char stddef_h[] = "#pragma once\n"
                               "typedef unsigned long size_t;\n"
                               "typedef long ptrdiff_t;\n"
                               "typedef int wchar_t;\n"
                               "#define NULL ((void *)0)\n";

static const char stdint_h[] = "#pragma once\n"
                               "typedef signed char int8_t;\n"
                               "typedef short int16_t;\n"
                               "typedef int int32_t;\n"
                               "typedef long int64_t;\n"
                               "typedef unsigned char uint8_t;\n"
                               "typedef unsigned short uint16_t;\n"
                               "typedef unsigned int uint32_t;\n"
                               "typedef unsigned long uint64_t;\n"
                               "typedef signed char int_least8_t;\n"
                               "typedef short int_least16_t;\n"
                               "typedef int int_least32_t;\n"
                               "typedef long int_least64_t;\n"
                               "typedef unsigned char uint_least8_t;\n"
                               "typedef unsigned short uint_least16_t;\n"
                               "typedef unsigned int uint_least32_t;\n"
                               "typedef unsigned long uint_least64_t;\n"
                               "typedef signed char int_fast8_t;\n"
                               "typedef long int_fast16_t;\n"
                               "typedef long int_fast32_t;\n"
                               "typedef long int_fast64_t;\n"
                               "typedef unsigned char uint_fast8_t;\n"
                               "typedef unsigned long uint_fast16_t;\n"
                               "typedef unsigned long uint_fast32_t;\n"
                               "typedef unsigned long uint_fast64_t;\n"
                               "typedef long intptr_t;\n"
                               "typedef unsigned long uintptr_t;\n"
                               "typedef long intmax_t;\n"
                               "typedef unsigned long uintmax_t;\n"
                               "#define INT8_MIN (-128)\n"
                               "#define INT16_MIN (-32768)\n"
                               "#define INT32_MIN (-2147483647 - 1)\n"
                               "#define INT64_MIN (-9223372036854775807L - 1)\n"
                               "#define INT8_MAX 127\n"
                               "#define INT16_MAX 32767\n"
                               "#define INT32_MAX 2147483647\n"
                               "#define INT64_MAX 9223372036854775807L\n"
                               "#define UINT8_MAX 255\n"
                               "#define UINT16_MAX 65535\n"
                               "#define UINT32_MAX 4294967295U\n"
                               "#define UINT64_MAX 18446744073709551615UL\n"
                               "#define INT_LEAST8_MIN INT8_MIN\n"
                               "#define INT_LEAST16_MIN INT16_MIN\n"
                               "#define INT_LEAST32_MIN INT32_MIN\n"
                               "#define INT_LEAST64_MIN INT64_MIN\n"
                               "#define INT_LEAST8_MAX INT8_MAX\n"
                               "#define INT_LEAST16_MAX INT16_MAX\n"
                               "#define INT_LEAST32_MAX INT32_MAX\n"
                               "#define INT_LEAST64_MAX INT64_MAX\n"
                               "#define UINT_LEAST8_MAX UINT8_MAX\n"
                               "#define UINT_LEAST16_MAX UINT16_MAX\n"
                               "#define UINT_LEAST32_MAX UINT32_MAX\n"
                               "#define UINT_LEAST64_MAX UINT64_MAX\n"
                               "#define INT_FAST8_MIN INT8_MIN\n"
                               "#define INT_FAST16_MIN INT64_MIN\n"
                               "#define INT_FAST32_MIN INT64_MIN\n"
                               "#define INT_FAST64_MIN INT64_MIN\n"
                               "#define INT_FAST8_MAX INT8_MAX\n"
                               "#define INT_FAST16_MAX INT64_MAX\n"
                               "#define INT_FAST32_MAX INT64_MAX\n"
                               "#define INT_FAST64_MAX INT64_MAX\n"
                               "#define UINT_FAST8_MAX UINT8_MAX\n"
                               "#define UINT_FAST16_MAX UINT64_MAX\n"
                               "#define UINT_FAST32_MAX UINT64_MAX\n"
                               "#define UINT_FAST64_MAX UINT64_MAX\n"
                               "#define INTPTR_MIN INT64_MIN\n"
                               "#define INTPTR_MAX INT64_MAX\n"
                               "#define UINTPTR_MAX UINT64_MAX\n"
                               "#define INTMAX_MIN INT64_MIN\n"
                               "#define INTMAX_MAX INT64_MAX\n"
                               "#define UINTMAX_MAX UINT64_MAX\n"
                               "#define PTRDIFF_MIN INT64_MIN\n"
                               "#define PTRDIFF_MAX INT64_MAX\n"
                               "#define SIZE_MAX UINT64_MAX\n"
                               "#define INT8_C(c) c\n"
                               "#define INT16_C(c) c\n"
                               "#define INT32_C(c) c\n"
                               "#define INT64_C(c) c##L\n"
                               "#define UINT8_C(c) c\n"
                               "#define UINT16_C(c) c\n"
                               "#define UINT32_C(c) c##U\n"
                               "#define UINT64_C(c) c##UL\n"
                               "#define INTMAX_C(c) c##L\n"
                               "#define UINTMAX_C(c) c##UL\n";

/* The pragma (so of <math.h> and <stdlib.h>) reaches the checker also when an outside preprocessor
 * ran. */
static const char tgmath_h[] = "#pragma once\n"
                               "#include <math.h>\n"
                               "#define __RETROGRAD_TGMATH__ 1\n"
                               "#pragma retrograd tgmath\n";

static const char rg_half_h[] = "#pragma once\n"
                                "#define rg_half _Float16\n";

static const char retrograd_kernel_h[] = "#pragma once\n"
                                         "#include <rg_half.h>\n";

const rg_builtin_header rg_builtin_headers[] = {
    {"float.h", float_h, false},     {"limits.h", limits_h, false},
    {"math.h", math_h, false},       {"omp.h", omp_h, false},
    {"stdbool.h", stdbool_h, false}, {"stddef.h", stddef_h, false},
    {"stdint.h", stdint_h, false},   {"stdlib.h", stdlib_h, false},
    {"tgmath.h", tgmath_h, false},   {"retrograd_kernel.h", retrograd_kernel_h, true},
    {"rg_half.h", rg_half_h, true},  {NULL, NULL, false},
};

const rg_builtin_header *rg_builtin_header_find(const char *name) {
    for (const rg_builtin_header *h = rg_builtin_headers; h->name; h++)
        if (strcmp(h->name, name) == 0)
            return h;
    return NULL;
}
