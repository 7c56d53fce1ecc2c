/* Small functions that C text may need, each printed only when it is used. */
#ifndef RG_EMIT_C_HELPERS_H
#define RG_EMIT_C_HELPERS_H

#include "base/text.h"
#include "ir/ir.h"

typedef enum rg_chelper {
    RG_H_ZMUL_F32,
    RG_H_ZMUL_F64,
    RG_H_ZMUL2_F32,
    RG_H_ZMUL2_F64,
    RG_H_DIGAMMA,
    RG_H_HALF_LOAD,
    RG_H_HALF_STORE,
    RG_H_FMIN_F32,
    RG_H_FMIN_F64,
    RG_H_FMAX_F32,
    RG_H_FMAX_F64,
    RG_H_COUNT,
    RG_H_ROUND,
    RG_H_HEAP,
    RG_H_TAKE,
    RG_H_GROW,
    RG_H_THREADS,
    RG_H_THREAD,
    RG_N_HELPERS
} rg_chelper;

typedef struct rg_chelpers {
    bool used[RG_N_HELPERS];
    bool rmw[RG_RED_SET + 1][RG_N_MEMS]; /* atomic read-modify-write, returns old or new */
    bool atomic_load[RG_N_MEMS], atomic_store[RG_N_MEMS];
    bool math, string, stdlib; /* headers */
    rg_aid undeclared; /* an array whose extent is needed, but stands in no declaration; 0: none */
} rg_chelpers;

void rg_c_use(rg_chelpers *h, rg_chelper which);
/* Those in use, in an order that suits them. cpu: the shapes that vectorise. */
void rg_c_helpers_print(const rg_chelpers *h, rg_text *t);
/* Text of `a op b` for reduction kind on value type t. */
void rg_c_red_text(rg_text *out, rg_red kind, rg_type t, const char *a, const char *b);

#endif
