/* Adjoints by pragma: see custom.c. */
#ifndef RG_AD_CUSTOM_H
#define RG_AD_CUSTOM_H

#include "ad/adjoint.h"

/* The backward sweep of a call of a device function that has an adjoint of its own. */
void rg_ad_own_call(rg_adj *s, rg_iid i);
/* The adjoint of kernel f, which has one of its own. */
rg_fn *rg_ad_custom_kernel(rg_arena *a, const rg_fn *f, const rg_activity *act);

#endif
