/* Evaluation of one pure op on constants: the meaning of each op, used by folding and by the
 * interpreter. */
#ifndef RG_IR_EVAL_H
#define RG_IR_EVAL_H

#include "ir/ir.h"

typedef union rg_const {
    int64_t i; /* bool, i32 (sign-extended), u32 (zero-extended), i64, u64 (bits) */
    double f;  /* f64; f32 as the double that equals it */
} rg_const;

/* False when the result is not defined: integer division by zero or INT_MIN / -1, shift count out
 * of range (checked mode reports these; unchecked code may do anything C does). Signed overflow
 * wraps. A cast of a float out of the integer's range saturates, NaN gives 0. imm: the
 * instruction's (scalar ops only: WRAP's memory type, RED's kind). t: the result's type; xt: the
 * type of the first operand (of the compared ones for CMP). f32 results are computed in float
 * precision with the float function of libm (sinf), f64 ones with the double function. */
bool rg_eval(rg_op op, rg_type t, rg_type xt, int64_t imm, const rg_const *x, rg_const *out);
rg_const rg_eval_red(rg_red r, rg_type t, rg_const a, rg_const b);
rg_const rg_red_identity(rg_red r, rg_type t);
/* Value as stored in memory type m and loaded back. */
rg_const rg_eval_wrap(rg_mem m, rg_const x);
/* IEEE half: bits to float and float to bits, round to nearest even. */
float rg_half_to_float(uint16_t h);
uint16_t rg_half_from_float(float f);
double rg_digamma(double x); /* accuracy about 1e-14 relative away from its zeros */

#endif
