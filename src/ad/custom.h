/* Adjoints by pragma: see custom.c. */
#ifndef RG_AD_CUSTOM_H
#define RG_AD_CUSTOM_H

#include "ad/ad.h"
#include "ad/rules.h"

/* The adjoint of a device function, here: x its scalar arguments in order, bar the cotangent of its
 * result; out[k]: what x[k] gets, 0: nothing. */
void rg_ad_custom_call(rg_build *b, const rg_custom *c, const rg_val *x, rg_val bar, rg_val *out);
/* The adjoint of kernel f, which has one of its own. */
rg_fn *rg_ad_custom_kernel(rg_arena *a, const rg_fn *f, const rg_activity *act);

#endif
