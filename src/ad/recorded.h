/* Record arrays: what a recorded launch keeps for its adjoint. */
#ifndef RG_AD_RECORDED_H
#define RG_AD_RECORDED_H

#include "ir/build.h"

/* The kernel of the recorded launch and the one that is differentiated make the same record arrays,
 * in the same order: parameters after the kernel's own. */
typedef struct rg_records {
    rg_fn *f;
    rg_build *b;
    bool recording;        /* stores, for the launch; else loads, for the adjoint */
    const uint8_t *wanted; /* [arrays made] the others are made, but not used; NULL: all are */
    uint32_t n;            /* made so far */
} rg_records;

/* A new record array with an element for each time that instruction i can be reached, of v's type,
 * where i has just computed v. After i, v is stored to it, or *loaded is what was stored. False:
 * how often is not known before the launch; then f is as it was but for dead code. */
bool rg_record_value(rg_records *r, rg_iid i, rg_val v, const char *name, rg_val *loaded);
/* The same for all of array a, as i leaves it: copied to the record array, or from there with
 * RG_INS_KEPT. False also when its size is not known before the launch. */
bool rg_record_state(rg_records *r, rg_iid i, rg_aid a, const char *name);

/* Index of i in its region. */
uint32_t rg_record_place_of(const rg_fn *f, rg_iid i);

#endif
