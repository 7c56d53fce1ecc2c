/* SPIR-V emitter: one module for all tasks of a variant; entry point k is named "task<k>" (k from
 * 0). Dispatch one-dimensional workgroups, any number of them (x only): the tasks stride over their
 * range. A stretch is one workgroup. Memory of arrays must be padded to a multiple of 8 bytes. */
#ifndef RG_EMIT_SPIRV_H
#define RG_EMIT_SPIRV_H

#include "base/diag.h"
#include "emit/tasks.h"

typedef enum rg_spirv_addressing {
    RG_SPIRV_ADDRESS, /* the argument block (set 0, binding 0, storage buffer) holds pointer-typed
                         members (PhysicalStorageBuffer64) */
    RG_SPIRV_OFFSET   /* it holds byte offsets into memory blocks, which are bound as runtime arrays
                         of words: binding 1 + 4 * b + log2(word bytes) for block b. Descriptors
                         that a task does not use need not be valid (rg_spirv_module.bindings) */
} rg_spirv_addressing;

/* What the device was measured to do right (runtime probe); false: use a fallback. */
typedef struct rg_spirv_caps {
    uint32_t version; /* 0x00010300 ... */
    rg_spirv_addressing addressing;
    bool f64, i64; /* arithmetic and storage of that type */
    bool i16, i8;  /* arithmetic, and storage in buffers (addresses need both) */
    bool f16;      /* not used: halves are converted by integer arithmetic */
    bool atomic_f32_add, atomic_f64_add, i64_atomics;
    bool signed_zero_inf_nan; /* SignedZeroInfNanPreserve 32 (and 64) */
    bool subgroup_add;        /* OpGroupNonUniformFAdd and friends, in compute */
    uint32_t workgroup;       /* size of one-dimensional workgroups; 0: 128 */
    uint32_t lanes;           /* iterations that an invocation may take at a time; 0: 1 */
    uint32_t blocks;          /* offset mode: memory blocks bound */
    bool loops_end_early;     /* the driver ends long loops early: each loop that did not come to
                                 its end stores 1 in slot guard_slot */
    bool hide_literals;       /* the driver computes with literals as if there were no NaN, infinity
                                 and -0: it is shown no float whose value it can work out */
    bool naive_loads; /* test builds only: plain loads through physical pointers, the known-bad form
                       */
} rg_spirv_caps;

typedef struct rg_spirv_options {
    rg_spirv_caps caps;
    bool index64;  /* 64-bit element offsets and flattened ranges: some array passes 2^31 - 1
                      elements or (offset mode) its block 2^31 words, or a range 2^30 iterations */
    bool contract; /* allow contraction of a*b+c: NoContraction is left out */
    const uint32_t *block_of; /* offset mode: [arrays.n] block of each array; NULL: all 0 */
    uint32_t slots_block, scratch_block; /* offset mode */
    uint32_t guard_slot;                 /* with loops_end_early */
} rg_spirv_options;

typedef struct rg_spirv_module {
    uint32_t *words;
    size_t count;
    uint64_t *bindings;  /* [tasks][4] bit b of word b / 64: binding b is used by the task */
    uint32_t *workgroup; /* [tasks] invocations of one workgroup: 1 for a stretch */
} rg_spirv_module;

/* Module in arena a. NULL with errors in d when the device cannot do it (a double without f64):
 * they name the line and the feature. */
rg_spirv_module *rg_emit_spirv(rg_arena *a, const rg_fn *f, const rg_task_plan *p,
                               const rg_spirv_options *o, rg_diags *d);

/* Iterations that an invocation of task t takes at a time while there are enough. */
uint32_t rg_spirv_lanes(const rg_fn *f, const rg_task *t, const rg_spirv_caps *caps);

#endif
