/* Activity: which values and arrays depend on an active parameter. */
#ifndef RG_AD_ACTIVE_H
#define RG_AD_ACTIVE_H

#include "ir/ir.h"

typedef struct rg_varied {
    bool *val;             /* [vals.n] float value that depends on an active input */
    bool *array;           /* [arrays.n] some float in it may */
    bool *loaded, *stored; /* [arrays.n] accesses in the function (addto, rmw, copy: both kinds) */
} rg_varied;

rg_varied *rg_ad_varied(rg_arena *a, const rg_fn *f, const rg_activity *act);
/* The same with one value in the place of the active inputs: what depends on v. */
rg_varied *rg_ad_varied_by(rg_arena *a, const rg_fn *f, rg_val v);

#endif
