/* What of a function can be seen from outside: live.c says how that is found. */
#ifndef RG_IR_LIVE_H
#define RG_IR_LIVE_H

#include "ir/ir.h"

typedef struct rg_live {
    bool *ins, *val; /* yields are not marked: they go with their regions */
    bool *array;     /* locals that something live loads */
} rg_live;

/* ignored: [ins] writes that are taken not to be there; may be NULL. */
rg_live rg_fn_live(rg_arena *scratch, const rg_fn *f, const bool *ignored);

#endif
