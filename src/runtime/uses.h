/* What a kernel does to its parameters, seen from outside: which arrays it reads from before the
 * launch, which it writes, and which it surely overwrites as a whole. */
#ifndef RG_RUNTIME_USES_H
#define RG_RUNTIME_USES_H

#include "retrograd.h"

#include "ir/ir.h"

typedef struct rg_uses {
    bool reads;  /* may load what stood there before */
    bool writes; /* stores, adds or swaps */
    bool covers; /* writes every element before it reads any */
} rg_uses;

rg_uses rg_uses_of(const rg_fn *f, uint32_t param);

#endif
