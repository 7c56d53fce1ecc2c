/* Integer values as polynomials of values that are not sums or products themselves, and bounds on
 * what an integer value can be. */
#ifndef RG_IR_POLY_H
#define RG_IR_POLY_H

#include "ir/ir.h"

enum { RG_POLY_MAX = 24, RG_POLY_DEGREE = 3 };

/* coef * atom[0] * ... ; atoms are value ids as rg_poly_of makes them, sorted */
typedef struct rg_mono {
    int64_t coef;
    uint32_t n; /* 1 .. RG_POLY_DEGREE */
    uint64_t atom[RG_POLY_DEGREE];
} rg_mono;

typedef struct rg_poly {
    int64_t constant;
    uint32_t n;
    rg_mono at[RG_POLY_MAX]; /* each atom list once, coef non-zero */
    bool ok;                 /* false: overflow, or more than fits */
} rg_poly;

/* products: may monomials have more than one atom? Else a product of two variables is an atom.
 * Exact over the integers: signed arithmetic of the source does not overflow, and what may wrap or
 * be cut is an atom. */
rg_poly rg_poly_of(const rg_fn *f, rg_val v, bool products);
/* p + k * q */
rg_poly rg_poly_add(const rg_poly *p, int64_t k, const rg_poly *q);
/* p * q; false when it does not fit. */
bool rg_poly_times(const rg_poly *p, const rg_poly *q, rg_poly *out);
void rg_poly_add_mono(rg_poly *p, const rg_mono *m);

/* Every value that v can have lies in [lo, hi]. 128 bits: u64 fits and sums do not overflow. */
__extension__ typedef __int128 rg_wide;
typedef struct rg_range {
    rg_wide lo, hi;
} rg_range;
rg_range rg_range_of(const rg_fn *f, rg_val v);
rg_range rg_range_of_type(rg_type t);

#endif
