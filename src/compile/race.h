/* Races that can be shown by two iterations. */
#ifndef RG_COMPILE_RACE_H
#define RG_COMPILE_RACE_H

#include "ir/ir.h"

/* Adds an error, with both accesses, for each parallel loop of f (in SSA form) of which two
 * iterations are found that touch one element, one of them with a plain write. */
void rg_race_check(const rg_fn *f, rg_diags *d);

#endif
