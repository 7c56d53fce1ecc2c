/* The maths library: functions that some device lacks or computes too loosely, written once as IR
 * out of plain arithmetic, so that they give the same on every device. Bounds: docs/maths.md. */
#ifndef RG_EMIT_MATHLIB_H
#define RG_EMIT_MATHLIB_H

#include "ir/build.h"

/* Is op on type t (RG_F32, RG_F64; the type of its first operand) in the library? */
bool rg_math_has(rg_op op, rg_type t);
/* Builds op(x...) at the builder's place and returns its value. f64 needs 64-bit integers. */
rg_val rg_math_build(rg_build *b, rg_op op, rg_type t, const rg_val *x);

#endif
