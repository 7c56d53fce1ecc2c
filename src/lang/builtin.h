/* The functions of <math.h> and <stdlib.h> that kernel C knows, and rg_stop. */
#ifndef RG_LANG_BUILTIN_H
#define RG_LANG_BUILTIN_H

#include "ir/ir.h"

typedef enum rg_math_kind {
    RG_MATH_OP,     /* one IR op on 1 to 3 floats */
    RG_MATH_TEST,   /* isnan ...: int result */
    RG_MATH_CMP,    /* isgreater ...: int result */
    RG_MATH_TOLONG, /* lround ...: op, then a cast to long */
    RG_MATH_INTABS, /* abs, labs */
    RG_MATH_SCALE,  /* ldexp: (float, int) */
    RG_MATH_ILOGB,
    RG_MATH_MODF,  /* (float, float *) */
    RG_MATH_FREXP, /* (float, int *) */
    RG_MATH_ISFINITE,
    RG_MATH_ISNORMAL,
    RG_MATH_FPCLASS_UNORDERED,
    RG_MATH_LESSGREATER,
    RG_MATH_SINCOS, /* (float, float *, float *) */
    RG_MATH_STOP
} rg_math_kind;

typedef enum rg_math_form {
    RG_FORM_DOUBLE,  /* sin */
    RG_FORM_FLOAT,   /* sinf */
    RG_FORM_GENERIC, /* by the arguments: isnan, and everything under <tgmath.h> */
    RG_FORM_INT,
    RG_FORM_LONG
} rg_math_form;

typedef struct rg_math {
    const char *name; /* as called */
    rg_math_kind kind;
    rg_math_form form;
    rg_op op;
    uint32_t nargs;
} rg_math;

/* NULL when name is none. Entries live in the arena. */
const rg_math *rg_math_find(rg_arena *a, const char *name);
/* Name i (without f) of those that have a double and a float form; NULL after the last. */
const char *rg_math_name(uint32_t i);
/* A function of the C library that cannot run in a kernel: the way out, else NULL. */
const char *rg_library_refusal(const char *name, const char **what);

#endif
