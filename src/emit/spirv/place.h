/* Where a scalar of an array is: the pointers to it, of whatever width is needed. */
#ifndef RG_EMIT_SPIRV_PLACE_H
#define RG_EMIT_SPIRV_PLACE_H

#include "emit/spirv/function.h"

typedef struct rg_spv_place {
    rg_aid array;
    uint32_t leaf_number;
    const rg_leaf *leaf;
    uint32_t element; /* in the index type */
    uint32_t *inner;  /* [leaf.ndims] in the index type */
    uint32_t guard;   /* bool: within the capacity; 0: sure to be */
    uint32_t need;    /* slot + 1 that hears of an element beyond it */
} rg_spv_place;

/* The scalar that memory instruction i names. */
rg_spv_place rg_spv_place_of(rg_spv_fn *c, rg_iid i);
/* Element number at the first n axes, which operands 0 .. n-1 of i index. */
uint32_t rg_spv_linear(rg_spv_fn *c, rg_iid i, rg_aid a, uint32_t n);
/* Element e of array a; inner is to be filled. */
rg_spv_place rg_spv_place_at(rg_spv_fn *c, rg_aid a, uint32_t leaf, uint32_t element);

/* Plain loads and stores, in the value's type; the guard is minded. */
uint32_t rg_spv_place_load(rg_spv_fn *c, const rg_spv_place *p);
void rg_spv_place_store(rg_spv_fn *c, const rg_spv_place *p, uint32_t v);

/* Pointer to the word of 4 or 8 bytes that holds the scalar; *shift: where it starts in the word
 * (bits; 0: the scalar is the word). is_float: pointer to a float (f32 and f64, and in address mode
 * only where the element's type is plain). */
uint32_t rg_spv_place_word(rg_spv_fn *c, const rg_spv_place *p, bool is_float, uint32_t *shift);

/* Pointer to 32-bit word k of the slots, or 64-bit word. */
uint32_t rg_spv_slot_word(rg_spv_fn *c, uint32_t k, uint32_t bytes, bool is_float);

/* Loads through a pointer to a buffer: by way of a variable where addresses are physical. */
uint32_t rg_spv_read(rg_spv_fn *c, uint32_t type, uint32_t pointer, uint32_t bytes);
void rg_spv_write(rg_spv_fn *c, uint32_t pointer, uint32_t v, uint32_t bytes);

/* Atomics (atomic.c). mem: of the scalar behind the word; float_word: pointer to the float itself,
 * or 0; old and fresh: the scalar's value before and after, or NULL. */
void rg_spv_atomic(rg_spv_fn *c, rg_red kind, rg_mem mem, uint32_t word, uint32_t float_word,
                   uint32_t shift, uint32_t v, uint32_t *old, uint32_t *fresh);
uint32_t rg_spv_atomic_read(rg_spv_fn *c, rg_mem mem, uint32_t word, uint32_t shift);
/* Does the device have atomics of that width (compare-and-swap at least)? Else an error is given.
 */
bool rg_spv_atomic_can(rg_spv_fn *c, rg_mem mem, rg_loc loc);
/* Can the atomic be done on the float itself? */
bool rg_spv_atomic_direct(const rg_spv_fn *c, rg_red kind, rg_mem mem);

/* Between the bits in a word (u32 or u64, at bit 0) and the value. */
uint32_t rg_spv_from_word(rg_spv_fn *c, rg_mem mem, uint32_t word);
uint32_t rg_spv_to_word(rg_spv_fn *c, rg_mem mem, uint32_t v);

#endif
