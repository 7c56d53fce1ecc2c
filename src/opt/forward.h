/* Values that memory is known to hold, within promotion. */
#ifndef RG_OPT_FORWARD_H
#define RG_OPT_FORWARD_H

#include "opt/rewrite.h"

/* Store to load and load to load forwarding, stores that are overwritten before anyone reads them,
 * and load + add + store to addto. */
bool rg_promote_forward(rg_fn *f, rg_arena *scratch);
/* Rank-0 locals only. */
bool rg_promote_scalars(rg_fn *f);
#endif
