/* Systems of linear inequalities over integers, and the proof that one has no solution. */
#ifndef RG_IR_LINEAR_H
#define RG_IR_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

enum { RG_LINEAR_VARS = 32, RG_LINEAR_ROWS = 128 };

/* constant + sum of coef[k] * variable k, >= 0 or = 0 */
typedef struct rg_linear_row {
    int64_t constant;
    int64_t coef[RG_LINEAR_VARS];
    bool equal;
} rg_linear_row;

typedef struct rg_linear {
    uint32_t nvars, nrows;
    rg_linear_row row[RG_LINEAR_ROWS];
} rg_linear;

/* Adds a row; one that does not fit is left out, which only makes the system easier to solve. */
void rg_linear_add(rg_linear *s, const rg_linear_row *row);
/* True: no integers satisfy all rows. False: some do, or no proof was found. s is used up. */
bool rg_linear_infeasible(rg_linear *s);

#endif
