/* Can two accesses of one array touch the same element? */
#ifndef RG_IR_MEET_H
#define RG_IR_MEET_H

#include "ir/ir.h"

typedef struct rg_access {
    rg_iid ins;
    uint32_t leaf; /* UINT32_MAX: all of the element, and of the axes that have no index */
    uint32_t nindices;
    uint32_t at; /* pool offset of the indices */
} rg_access;

/* What instruction i (load, store, addto, rmw, or a copy that names array a) does to array a. */
rg_access rg_access_of(const rg_fn *f, rg_iid i, rg_aid a);

typedef enum rg_order {
    RG_ORDER_ANY,   /* no relation beyond the common region */
    RG_ORDER_LATER, /* b's iteration of the loop comes after a's, or unordered with it (parallel) */
    RG_ORDER_OTHER  /* their iterations of the loop differ */
} rg_order;

/* False only if it is proven that no run has an instance of a and one of b that touch the same
 * element, both inside the same run of region `shared`, their iterations of `loop` related by
 * `order`. loop: a for, loop or parallel listed in `shared` around both, or 0 with RG_ORDER_ANY.
 * The arrays behind a and b have the same shape and element type. */
bool rg_may_meet(const rg_fn *f, const rg_access *a, const rg_access *b, rg_rid shared, rg_iid loop,
                 rg_order order);

enum { RG_ACCESSES = 64 };

/* The loads, stores and addtos of region r and all in it, appended to out[RG_ACCESSES]. False: more
 * than fit, or something in it cannot be judged by its accesses (copies, atomic operations, arrays
 * made there or growing; loops that are not counted, and with counted = false those that are). */
bool rg_accesses_in(const rg_fn *f, rg_rid r, bool counted, rg_iid *out, uint32_t *n);

/* Innermost region that both lie in. */
rg_rid rg_common_region(const rg_fn *f, rg_rid a, rg_rid b);
/* The instruction of region r that is i or holds it. */
rg_iid rg_ancestor_in(const rg_fn *f, rg_iid i, rg_rid r);
/* Innermost for, loop or parallel around region r, inside region `root` (exclusive); 0: none. */
rg_iid rg_loop_around(const rg_fn *f, rg_rid r, rg_rid root);
static inline bool rg_is_loop(const rg_fn *f, rg_iid i) {
    uint16_t op = rg_ins_at(f, i)->op;
    return op == RG_FOR || op == RG_LOOP || op == RG_PARALLEL;
}

#endif
