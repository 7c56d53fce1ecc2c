/* Rewrites SPIR-V the way a faulty translator would: for tests of what notices. */
#ifndef RG_TESTS_SPIRV_FAULTS_H
#define RG_TESTS_SPIRV_FAULTS_H

#include <stddef.h>
#include <stdint.h>

typedef enum rg_broken_as {
    RG_FAULT_NONE,
    RG_FAULT_LATE_LOADS,     /* a load through a physical pointer is done again after each store */
    RG_FAULT_SECOND_ADDRESS, /* the second pointer of an argument block is the first */
    RG_FAULT_ATOMIC_FLOAT,   /* OpAtomicFAddEXT overwrites */
    RG_FAULT_ATOMICS,        /* so does every atomic; compare-and-swap does nothing */
    RG_FAULT_NO_NANS,        /* no value is ever found to be a NaN */
    RG_FAULT_LITERALS        /* a product with a literal zero is zero, whatever the other factor */
} rg_broken_as;

/* Rewritten copy (free it), or NULL when out of memory; *changes counts the places. */
uint32_t *rg_spirv_break(const uint32_t *words, size_t count, rg_broken_as fault, size_t *out_count,
                         uint32_t *changes);

#endif
