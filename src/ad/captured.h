/* What an atomic operation finds in an array whose floats have gradients. */
#ifndef RG_AD_CAPTURED_H
#define RG_AD_CAPTURED_H

#include "ad/active.h"

typedef enum rg_captured {
    RG_CAPTURED_CONSTANT, /* nothing that has a gradient depends on it */
    RG_CAPTURED_SHIFT,    /* the element before the loop plus what has no gradient */
    RG_CAPTURED_ORDER     /* its derivative depends on the order of the iterations */
} rg_captured;

/* The way out of the last. */
#define RG_CAPTURED_HINT                                                                           \
    "capture an integer (a place or a number) or rg_stop() of the value, or use a reduction or a " \
    "serial loop"

/* i: an rmw with a result, or an atomic load, of an element that iterations of `loop` share. */
rg_captured rg_ad_captured(rg_arena *a, const rg_fn *f, const rg_activity *act, rg_iid i,
                           rg_iid loop);
/* The parallel around i whose iterations share array a; 0: none. */
rg_iid rg_ad_shared_by(const rg_fn *f, rg_rid life, rg_iid i);
/* The region in which a local array lives; the body for all others. */
rg_rid rg_ad_life(const rg_fn *f, rg_aid a);
/* Do iterations of the loop change array a? */
bool rg_ad_changes(const rg_fn *f, rg_iid loop, rg_aid a);

#endif
