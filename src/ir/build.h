/* Builder: appends instructions at the end of a region (before its yield, when it has one), or
 * inserts them before a given instruction.
 *
 * Pure instructions are folded as they are built (constants, x+0, select of a constant, ...), so
 * the value returned may be an existing one. Regions nest by rg_b_push and rg_b_pop:
 *
 *     rg_iid loop = rg_b_for(b, lo, hi, inits, n, 0);
 *     rg_b_push(b, rg_ins_at(f, loop)->region[0]);
 *     rg_val iv = rg_b_arg(b, 0), acc = rg_b_arg(b, 1);
 *     ...
 *     rg_b_yield(b, &next, 1);
 *     rg_b_pop(b);
 *     rg_val sum = rg_result(f, loop, 0);
 */
#ifndef RG_IR_BUILD_H
#define RG_IR_BUILD_H

#include "ir/ir.h"

typedef struct rg_build {
    rg_fn *fn;
    rg_rid region;
    rg_loc loc;    /* given to each instruction built */
    rg_iid before; /* instructions go before this one; 0: at the end */
    uint32_t hint; /* where `before` was last seen in its region */
    RG_VEC(uint32_t) stack;
} rg_build;

rg_build *rg_b_new(rg_fn *f); /* positioned in the body */
void rg_b_push(rg_build *b, rg_rid r);
void rg_b_push_before(rg_build *b, rg_iid i); /* into i's region, in front of i */
void rg_b_pop(rg_build *b);
rg_val rg_b_arg(const rg_build *b, uint32_t i); /* argument i of the current region */

rg_val rg_b_int(rg_build *b, rg_type t, int64_t v); /* bool and integers; wraps to t */
rg_val rg_b_real(rg_build *b, rg_type t, double v); /* rounds to t */
rg_val rg_b_zero(rg_build *b, rg_type t);
rg_val rg_b_bool(rg_build *b, bool v);

rg_val rg_b_op1(rg_build *b, rg_op op, rg_val x);
rg_val rg_b_op2(rg_build *b, rg_op op, rg_val x, rg_val y);
rg_val rg_b_op3(rg_build *b, rg_op op, rg_val x, rg_val y, rg_val z);
rg_val rg_b_cast(rg_build *b, rg_type t, rg_val x); /* C's conversion; none if same */
rg_val rg_b_wrap(rg_build *b, rg_mem m, rg_val x);  /* none when x cannot change */
/* Sum of cotangents: what is none (0) or a literal +0 does not count, so that 0 + g is g itself. */
rg_val rg_b_acc(rg_build *b, rg_val sum, rg_val g);
rg_val rg_b_red(rg_build *b, rg_red kind, rg_val acc, rg_val x);
rg_val rg_b_scalar(rg_build *b, uint32_t scalar);
rg_val rg_b_extent(rg_build *b, rg_aid array, uint32_t axis);
/* Any op by its number, operands and result type: for passes that copy instructions. */
rg_val rg_b_pure(rg_build *b, rg_op op, rg_type t, const rg_val *x, uint32_t n, int64_t imm);

rg_val rg_b_load(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, uint16_t flags);
void rg_b_store(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v, uint16_t flags);
void rg_b_addto(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v, uint16_t flags);
rg_val rg_b_rmw(rg_build *b, rg_red kind, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v,
                uint16_t flags);
/* Local array: makes its table entry and the alloc. extents: rank i64 values. */
rg_aid rg_b_alloc(rg_build *b, const char *name, const rg_elem *elem, uint32_t rank,
                  const rg_val *extents, uint32_t flags);
void rg_b_copy(rg_build *b, rg_aid dst, rg_aid src, const rg_val *lead, uint32_t nlead);

/* Adjoints by the user: see ops.def. */
rg_val rg_b_own(rg_build *b);
rg_val rg_b_bar(rg_build *b, rg_type t);
void rg_b_give(rg_build *b, rg_val x, rg_val g);
void rg_b_pair(rg_build *b, rg_aid a, rg_aid cotangent, bool sums);

/* Structure: the instruction with its (empty) regions and their arguments; the results exist for
 * all but `if`, whose results are made by rg_b_if_done from what its branches yielded. */
rg_iid rg_b_if(rg_build *b, rg_val cond);
void rg_b_if_done(rg_build *b, rg_iid i);
rg_iid rg_b_for(rg_build *b, rg_val lo, rg_val hi, const rg_val *inits, uint32_t n, uint16_t flags);
rg_iid rg_b_loop(rg_build *b, const rg_val *inits, uint32_t n);
/* bounds: lo0 hi0 lo1 hi1 ...; all of one integer type */
rg_iid rg_b_parallel(rg_build *b, const rg_val *bounds, uint32_t ranges, const rg_val *inits,
                     const rg_red *reds, uint32_t nreds);
void rg_b_yield(rg_build *b, const rg_val *v, uint32_t n);

void rg_b_name(rg_build *b, rg_val v, const char *name); /* keeps the first name given */

/* Raw access for passes. */
uint32_t rg_pool_add(rg_fn *f, const uint32_t *v, uint32_t n); /* offset of the copy */
rg_val rg_value_new(rg_fn *f, rg_type t);                      /* no definition yet */
rg_rid rg_region_new(rg_fn *f, rg_iid owner);
rg_val rg_region_add_arg(rg_fn *f, rg_rid r, rg_type t);
/* Appends a result to i (and nothing to its yields: the caller does). */
rg_val rg_ins_add_result(rg_fn *f, rg_iid i, rg_type t);
void rg_ins_add_operand(rg_fn *f, rg_iid i, rg_val v);
void rg_ins_remove_operand(rg_fn *f, rg_iid i, uint32_t k);
void rg_ins_remove_result(rg_fn *f, rg_iid i, uint32_t k);
void rg_region_remove_arg(rg_fn *f, rg_rid r, uint32_t k);
/* A new instruction, in no region yet. */
rg_iid rg_ins_new(rg_fn *f, rg_op op, rg_loc loc);
void rg_region_insert(rg_fn *f, rg_rid r, uint32_t at, rg_iid i);
void rg_region_remove(rg_fn *f, rg_iid i); /* i is in no region then, and may be inserted again */
/* Replaces every use by map[v] where map[v] is not 0 (map has vals.n entries), chains followed. */
void rg_fn_replace_uses(rg_fn *f, rg_val *map);
rg_aid rg_ir_array_new(rg_fn *f, const rg_ir_array *init);
#ifndef RETROGRAD_H
#define rg_array_new rg_ir_array_new
#endif

#endif
