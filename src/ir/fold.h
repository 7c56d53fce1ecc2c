/* Folding of one pure op, given its operands: what the builder does as it builds and the folding
 * pass does to instructions that exist already. */
#ifndef RG_IR_FOLD_H
#define RG_IR_FOLD_H

#include "ir/eval.h"
#include "ir/ir.h"

typedef enum rg_fold_kind {
    RG_FOLD_NONE,  /* stays as it is */
    RG_FOLD_VALUE, /* equals value v, of the same type */
    RG_FOLD_CONST, /* equals constant c */
    RG_FOLD_OP     /* equals op (x[0 .. n-1]) with imm: cheaper or plainer, may fold again */
} rg_fold_kind;

typedef struct rg_folded {
    rg_fold_kind kind;
    rg_val v;
    rg_const c;
    rg_op op;
    uint32_t n;
    rg_val x[3];
    /* When late[k] is set, operand k is not x[k] but the constant late_const[k] of type late_type
     * (the caller makes it). */
    bool late[3];
    rg_const late_const;
    rg_type late_type;
    int64_t imm;
} rg_folded;

/* op: a pure op other than const, scalar and extent (those never fold); t: the result's type. The
 * result is the same bits for every input, signed zeros included; NaNs may differ in sign and
 * payload. One exception: zmul(c, d) with a finite constant d becomes a multiplication, whose zero
 * may be negative. Only ops marked EXACT are computed. */
rg_folded rg_fold(const rg_fn *f, rg_op op, rg_type t, const rg_val *x, uint32_t n, int64_t imm);

/* Value of a constant; false when v is none. */
bool rg_val_const(const rg_fn *f, rg_val v, rg_const *out);
/* Can the value not change when it is stored in m and loaded back? */
bool rg_wrap_is_identity(const rg_fn *f, rg_mem m, rg_val x);

#endif
