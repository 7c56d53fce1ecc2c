/* Sums that a loop carries. */
#ifndef RG_IR_SUM_H
#define RG_IR_SUM_H

#include "ir/ir.h"

/* Uses of v in region r and below. */
uint32_t rg_uses_in(const rg_fn *f, rg_rid r, rg_val v);
/* Is y = arg + ... (or - ..., or red add) with no other use of arg or of the partial sums in the
 * loop's body? Then the iterations' contributions may be added in any order. */
bool rg_is_sum(const rg_fn *f, rg_rid body, rg_val arg, rg_val y);

#endif
