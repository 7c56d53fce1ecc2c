/* The known functions: one row each; forms (double, float, generic) follow from the spelling.
 *
 * "sinf" is sin's float form; "__rg_tg_sin" (what <tgmath.h> makes of sin) its generic form. */
#include "lang/builtin.h"

#include <string.h>

typedef struct row {
    const char *name;
    rg_math_kind kind;
    rg_op op;
    uint32_t nargs;
} row;

static const row rows[] = {
    {"sqrt", RG_MATH_OP, RG_SQRT, 1},
    {"fabs", RG_MATH_OP, RG_FABS, 1},
    {"floor", RG_MATH_OP, RG_FLOOR, 1},
    {"ceil", RG_MATH_OP, RG_CEIL, 1},
    {"trunc", RG_MATH_OP, RG_TRUNC, 1},
    {"round", RG_MATH_OP, RG_ROUND, 1},
    {"rint", RG_MATH_OP, RG_RINT, 1},
    {"nearbyint", RG_MATH_OP, RG_RINT, 1},
    {"sin", RG_MATH_OP, RG_SIN, 1},
    {"cos", RG_MATH_OP, RG_COS, 1},
    {"tan", RG_MATH_OP, RG_TAN, 1},
    {"asin", RG_MATH_OP, RG_ASIN, 1},
    {"acos", RG_MATH_OP, RG_ACOS, 1},
    {"atan", RG_MATH_OP, RG_ATAN, 1},
    {"sinh", RG_MATH_OP, RG_SINH, 1},
    {"cosh", RG_MATH_OP, RG_COSH, 1},
    {"tanh", RG_MATH_OP, RG_TANH, 1},
    {"asinh", RG_MATH_OP, RG_ASINH, 1},
    {"acosh", RG_MATH_OP, RG_ACOSH, 1},
    {"atanh", RG_MATH_OP, RG_ATANH, 1},
    {"exp", RG_MATH_OP, RG_EXP, 1},
    {"exp2", RG_MATH_OP, RG_EXP2, 1},
    {"expm1", RG_MATH_OP, RG_EXPM1, 1},
    {"log", RG_MATH_OP, RG_LOG, 1},
    {"log2", RG_MATH_OP, RG_LOG2, 1},
    {"log10", RG_MATH_OP, RG_LOG10, 1},
    {"log1p", RG_MATH_OP, RG_LOG1P, 1},
    {"logb", RG_MATH_OP, RG_LOGB, 1},
    {"cbrt", RG_MATH_OP, RG_CBRT, 1},
    {"erf", RG_MATH_OP, RG_ERF, 1},
    {"erfc", RG_MATH_OP, RG_ERFC, 1},
    {"tgamma", RG_MATH_OP, RG_TGAMMA, 1},
    {"lgamma", RG_MATH_OP, RG_LGAMMA, 1},
    {"pow", RG_MATH_OP, RG_POW, 2},
    {"atan2", RG_MATH_OP, RG_ATAN2, 2},
    {"hypot", RG_MATH_OP, RG_HYPOT, 2},
    {"fmod", RG_MATH_OP, RG_FMOD, 2},
    {"remainder", RG_MATH_OP, RG_REMAINDER, 2},
    {"fmin", RG_MATH_OP, RG_FMIN, 2},
    {"fmax", RG_MATH_OP, RG_FMAX, 2},
    {"fdim", RG_MATH_OP, RG_FDIM, 2},
    {"copysign", RG_MATH_OP, RG_COPYSIGN, 2},
    {"nextafter", RG_MATH_OP, RG_NEXTAFTER, 2},
    {"fma", RG_MATH_OP, RG_FMA, 3},
    {"lround", RG_MATH_TOLONG, RG_ROUND, 1},
    {"llround", RG_MATH_TOLONG, RG_ROUND, 1},
    {"lrint", RG_MATH_TOLONG, RG_RINT, 1},
    {"llrint", RG_MATH_TOLONG, RG_RINT, 1},
    {"ldexp", RG_MATH_SCALE, RG_LDEXP, 2},
    {"scalbn", RG_MATH_SCALE, RG_LDEXP, 2},
    {"scalbln", RG_MATH_SCALE, RG_LDEXP, 2},
    {"ilogb", RG_MATH_ILOGB, RG_ILOGB, 1},
    {"modf", RG_MATH_MODF, RG_TRUNC, 2},
    {"frexp", RG_MATH_FREXP, RG_ILOGB, 2},
    {"sincos", RG_MATH_SINCOS, RG_SIN, 3},
};

/* Names of one form only. */
static const rg_math fixed[] = {
    {"isnan", RG_MATH_TEST, RG_FORM_GENERIC, RG_ISNAN, 1},
    {"isinf", RG_MATH_TEST, RG_FORM_GENERIC, RG_ISINF, 1},
    {"signbit", RG_MATH_TEST, RG_FORM_GENERIC, RG_SIGNBIT, 1},
    {"isfinite", RG_MATH_ISFINITE, RG_FORM_GENERIC, RG_OP_NONE, 1},
    {"isnormal", RG_MATH_ISNORMAL, RG_FORM_GENERIC, RG_OP_NONE, 1},
    {"isgreater", RG_MATH_CMP, RG_FORM_GENERIC, RG_GT, 2},
    {"isgreaterequal", RG_MATH_CMP, RG_FORM_GENERIC, RG_GE, 2},
    {"isless", RG_MATH_CMP, RG_FORM_GENERIC, RG_LT, 2},
    {"islessequal", RG_MATH_CMP, RG_FORM_GENERIC, RG_LE, 2},
    {"islessgreater", RG_MATH_LESSGREATER, RG_FORM_GENERIC, RG_NE, 2},
    {"isunordered", RG_MATH_FPCLASS_UNORDERED, RG_FORM_GENERIC, RG_ISNAN, 2},
    {"abs", RG_MATH_INTABS, RG_FORM_INT, RG_NEG, 1},
    {"labs", RG_MATH_INTABS, RG_FORM_LONG, RG_NEG, 1},
    {"llabs", RG_MATH_INTABS, RG_FORM_LONG, RG_NEG, 1},
    {"rg_stop", RG_MATH_STOP, RG_FORM_GENERIC, RG_STOP, 1},
};

static const row *find_row(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == n && !memcmp(rows[i].name, name, n))
            return &rows[i];
    return NULL;
}

const rg_math *rg_math_find(rg_arena *a, const char *name) {
    static const char *const prefixes[] = {"__rg_tg_", "__rg_", "__builtin_"};
    rg_math_form form = RG_FORM_DOUBLE;
    const char *base = name;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (!strncmp(name, prefixes[i], n)) {
            base = name + n;
            form = i == 0 ? RG_FORM_GENERIC : RG_FORM_DOUBLE;
            break;
        }
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!strcmp(fixed[i].name, base))
            return &fixed[i];
    size_t n = strlen(base);
    const row *r = find_row(base, n);
    if (!r && n > 1 && base[n - 1] == 'f' && form != RG_FORM_GENERIC) {
        r = find_row(base, n - 1);
        form = RG_FORM_FLOAT;
    }
    if (!r)
        return NULL;
    rg_math *m = RG_NEW(a, rg_math);
    *m = (rg_math){base, r->kind, form, r->op, r->nargs};
    return m;
}

const char *rg_math_name(uint32_t i) {
    return i < sizeof rows / sizeof *rows ? rows[i].name : NULL;
}

const char *rg_library_refusal(const char *name, const char **what) {
    static const struct {
        const char *name, *what, *hint;
    } known[] = {
        {"malloc", "allocates memory", "declare a local array instead: float tmp[n];"},
        {"calloc", "allocates memory", "declare a local array instead: float tmp[n];"},
        {"realloc", "allocates memory", "declare a local array large enough"},
        {"alloca", "allocates memory", "declare a local array instead: float tmp[n];"},
        {"free", "frees memory", "local arrays end with their block: remove the call"},
        {"printf", "prints", "write the value to an array and print it on the host"},
        {"fprintf", "prints", "write the value to an array and print it on the host"},
        {"puts", "prints", "write the value to an array and print it on the host"},
        {"putchar", "prints", "write the value to an array and print it on the host"},
        {"memcpy", "copies bytes", "assign the elements in a loop"},
        {"memmove", "copies bytes", "assign the elements in a loop"},
        {"memset", "sets bytes", "assign the elements in a loop"},
        {"exit", "ends the program", "return from the kernel, and tell the host through an array"},
        {"abort", "ends the program", "return from the kernel, and tell the host through an array"},
        {"assert", "ends the program", "check on the host, or run in checked mode"},
        {"rand", "has hidden state",
         "pass random numbers in an array, or compute them from a seed"},
        {"srand", "has hidden state",
         "pass random numbers in an array, or compute them from a seed"},
        {"time", "depends on the host", "pass the time as a parameter"},
        {"clock", "depends on the host", "pass the time as a parameter"},
        {"qsort", "takes a function pointer", "write the sort as a static function"},
        {"setjmp", "jumps", "use flags and return"},
        {"longjmp", "jumps", "use flags and return"},
        {"va_start", "takes arguments of any number", "use an array and its length"},
        {"exp10", "is not part of C", "use pow(10, x)"},
        {"omp_get_thread_num", "depends on the thread", "use the loop variable"},
        {"omp_get_num_threads", "depends on the machine", "pass what it is for as a parameter"},
        {"omp_get_max_threads", "depends on the machine", "pass what it is for as a parameter"},
        {"omp_get_wtime", "depends on the host", "measure around the launch"},
        {"sincosl", "is in long double", "use sin and cos"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            *what = known[i].what;
            return known[i].hint;
        }
    return NULL;
}
