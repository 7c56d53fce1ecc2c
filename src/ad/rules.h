/* Derivative rules: builds the partial derivatives that ops.def states. */
#ifndef RG_AD_RULES_H
#define RG_AD_RULES_H

#include "ir/build.h"

/* Partial derivative of r = op(x[0..]) to operand k; 0 (none) when it is identically zero. */
rg_val rg_rule_partial(rg_build *b, rg_op op, uint32_t k, const rg_val x[3], rg_val r, bool strict);
/* c * partial, by zmul where the partial can be infinite or NaN: the cotangent's (or tangent's)
 * contribution through operand k. */
rg_val rg_rule_apply(rg_build *b, rg_op op, uint32_t k, rg_val c, rg_val partial);
/* sum + g, where 0 (none) stands for zero. */
rg_val rg_rule_add(rg_build *b, rg_val sum, rg_val g);
/* A name for the derivative of v: "x_b" for suffix "_b"; NULL when v has none. */
const char *rg_rule_name(const rg_fn *f, rg_val v, const char *suffix, rg_arena *a);
/* The leaf and inner indices (i64 constants, written to idx) of scalar s in its parameter. */
uint32_t rg_scalar_leaf(const rg_fn *f, uint32_t s, int64_t idx[8], uint32_t *n);

#endif
