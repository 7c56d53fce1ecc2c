/* Tasks: a kernel variant as a GPU sees it.
 *
 * The host walks the kernel-level control flow (rg_fn.body and the if, for and loop in it that hold
 * tasks). A task is what the device runs in one go: a `parallel`, or a stretch, that is a run of
 * kernel-level instructions in one region which touch memory or depend on what the device computed
 * (an if, for or loop without a parallel inside is one instruction of a stretch). A stretch runs
 * on a single invocation. Each kernel-level value is known to the host (scalars, extents, loop
 * variables, pure functions of these) or lives in a slot: 8 bytes of device memory, written by the
 * task that computes it. The host reads a slot back only where control flow, a trip count, a range
 * or an extent needs it. alloc and copy at kernel level are the host's: it makes the memory and
 * copies whole arrays. Target-neutral: every GPU emitter and device uses this. */
#ifndef RG_EMIT_TASKS_H
#define RG_EMIT_TASKS_H

#include "ir/ir.h"

typedef struct rg_task {
    rg_iid parallel; /* 0: a stretch */
    rg_rid region;   /* stretch: the kernel-level region that lists it */
    RG_VEC(rg_iid) stretch;
    RG_VEC(rg_val) host_inputs;   /* values that the host passes in the argument block, in order */
    RG_VEC(rg_val) slot_inputs;   /* values read from their slots */
    RG_VEC(rg_val) outputs;       /* values written to their slots (reductions: combined there) */
    RG_VEC(rg_aid) arrays;        /* arrays that it reads or writes, each once */
} rg_task;

typedef struct rg_task_plan {
    RG_VEC(rg_task) tasks;
    uint32_t *task_of; /* [ins.n] task number + 1 of a parallel or of a stretch's first instruction;
                          0 for others */
    bool *in_stretch;  /* [ins.n] kernel-level instruction that belongs to a stretch */
    uint32_t *slot;    /* [vals.n] slot number + 1; 0: known to the host, or inside a task */
    uint32_t nslots;
} rg_task_plan;

rg_task_plan *rg_tasks_plan(rg_arena *a, const rg_fn *f);

/* Layout of one task's argument block; everything 8-byte aligned:
 *   slots      64-bit pointer to (address mode) or byte offset of (offset mode) the slots
 *   ranges     parallel: lo and hi of each range as i64
 *   arrays     for each of task.arrays: pointer or byte offset (u64), then its extents (i64 each)
 *   inputs     host_inputs, 8 bytes each (i32 sign-extended, u32 and bool zero-extended, f32 in the
 *              low word) */
typedef struct rg_task_layout {
    uint32_t size, slots, ranges;
    uint32_t *array;   /* [task.arrays.n] */
    uint32_t *extents; /* [task.arrays.n] */
    uint32_t *input;   /* [task.host_inputs.n] */
} rg_task_layout;

rg_task_layout *rg_task_layout_make(rg_arena *a, const rg_fn *f, const rg_task *t);

#endif
