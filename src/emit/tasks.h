/* Tasks: a kernel variant as a GPU sees it.
 *
 * The host walks the kernel-level control flow: rg_fn.body and the if, for and loop in it that hold
 * a parallel (plan.walked). A task is what the device runs in one go: a `parallel`, or a stretch,
 * that is a run of kernel-level instructions in one region which touch memory or depend on what the
 * device computed (an if, for or loop without a parallel inside is one instruction of a stretch). A
 * stretch runs on a single invocation. Each kernel-level value is known to the host (scalars,
 * extents, loop variables, pure functions of these: plan.known) or lives in a slot: 8 bytes of
 * device memory, written by the task that computes it. The host reads a slot back only where
 * control flow, a trip count, a range or an extent needs it. alloc and copy at kernel level are the
 * host's: it makes the memory and copies whole arrays. Target-neutral: every GPU emitter and device
 * uses this.
 *
 * What the host does as it walks a region, instruction by instruction:
 *   in no stretch, known  evaluates it (or later, when something asks for it)
 *   alloc                 memory of the extents (a slot among them is read back); zero if
 *                         RG_ARR_ZERO. RG_ARR_GROW: any capacity, and see `need` below
 *   copy                  whole arrays (or the slice that the leading indices name)
 *   walked if             reads the condition back if it is a slot; its results that are slots are
 *                         copied from the slots (or known values) that the branch yields
 *   walked for, loop      the same for bounds and `again`; a carried value that is a slot is set
 *                         from its initial value, then from what the body yields (all are read
 *                         before any is written), and the results from the last of them
 *   task_of[i] != 0       dispatches task task_of[i] - 1: at a parallel, and at the LAST
 *                         instruction of a stretch; other instructions of a stretch are passed over
 *
 * A dispatch: the host_inputs are evaluated, `need` slots are set to 0, and for a parallel with
 * reductions the slot of each result is set to its initial value (operand rg_first_init + k): the
 * task combines what its iterations give with that. A parallel whose range is empty need not be
 * dispatched: the slots then hold the right results already. Memory that one task writes is
 * visible to the next (the host's barriers); within a task only atomics meet.
 *
 * Scratch: a local array of a task whose size is no small constant has memory in each invocation
 * that runs, so the host decides how many run at once (grid-stride covers the rest), gives for each
 * such array its capacity in elements and memory for each leaf. `need`: an array whose size only
 * the device knows. The task never writes past the capacity (what does not fit is dropped, and
 * loads of it give 0) and leaves the capacity that was asked for, if more than there is, in slot
 * `need` (the largest of all invocations; u32). The host then restores the arrays that the task
 * writes (RG_TASK_WRITE; it keeps copies for tasks with a `need`), takes a larger capacity and
 * dispatches the task again. Arrays of the kernel level that grow (`array_need`) work the same,
 * their contents kept when they are made larger. */
#ifndef RG_EMIT_TASKS_H
#define RG_EMIT_TASKS_H

#include "ir/ir.h"

/* How a task uses an array. */
enum {
    RG_TASK_READ = 1,
    RG_TASK_WRITE = 2,
    RG_TASK_WORDS32 = 4, /* needs a view as 32-bit words: atomics, 8- and 16-bit memory */
    RG_TASK_WORDS64 = 8  /* ... as 64-bit words */
};

/* A local array in scratch. Each leaf of the element is a column of its own. The columns hold
 * values, not memory types: f16 as f32, everything narrower than 32 bits as 32 bits. Element e of
 * invocation i of n, inner index j of the leaf's m:  column[(e * m + j) * n + i]. */
typedef struct rg_task_scratch {
    rg_aid array;
    rg_iid alloc;  /* its operands are the extents, all known to the host unless need is set */
    uint32_t need; /* slot + 1 of `need`; 0: the capacity is the product of the extents (none below
                      0) */
} rg_task_scratch;

typedef struct rg_task {
    rg_iid parallel; /* 0: a stretch */
    rg_rid region;   /* the kernel-level region that lists it */
    RG_VEC(rg_iid) stretch;
    RG_VEC(rg_val)
    host_inputs;                 /* values that the host passes in the argument block, in order;
                                    also `scalar` instructions inside the task */
    RG_VEC(rg_val) slot_inputs;  /* values read from their slots */
    RG_VEC(rg_val) outputs;      /* values written to their slots (reductions: combined there) */
    RG_VEC(rg_aid) arrays;       /* arrays that it reads or writes (not its own), each once */
    RG_VEC(uint8_t) array_use;   /* RG_TASK_ bits, for each of arrays */
    RG_VEC(uint32_t) array_need; /* for each of arrays: slot + 1 of its `need`, or 0 */
    RG_VEC(rg_task_scratch) scratch;
} rg_task;

typedef struct rg_task_plan {
    RG_VEC(rg_task) tasks;
    uint32_t *task_of; /* [ins.n] task number + 1 of a parallel or of a stretch's LAST instruction;
                          0 for others */
    bool *in_stretch;  /* [ins.n] kernel-level instruction that belongs to a stretch */
    bool *walked;      /* [ins.n] kernel-level if, for, loop that the host walks */
    bool *known;       /* [vals.n] kernel-level value known to the host */
    uint32_t *slot;    /* [vals.n] slot number + 1; 0: known to the host, or inside a task */
    uint32_t nslots;   /* the values' and the `need` slots */
} rg_task_plan;

rg_task_plan *rg_tasks_plan(rg_arena *a, const rg_fn *f);

/* Bytes of scratch that one element of column `leaf` takes in one invocation. */
uint32_t rg_task_column_size(const rg_fn *f, const rg_task_scratch *s, uint32_t leaf);

/* Layout of one task's argument block; everything 8-byte aligned. A memory reference is a 64-bit
 * pointer (address mode) or byte offset in its block (offset mode). The same reference is written
 * in several places, because a pointer has a type: the elements', 32-bit words, 64-bit words.
 *   slots32, slots64, slots_f32, slots_f64   the slots
 *   ranges     parallel: lo and hi of each range as i64
 *   arrays     for each of task.arrays: reference, word views if it has them, extents (i64 each)
 *   scratch    for each of task.scratch: capacity (i64), one reference for each leaf
 *   inputs     host_inputs, 8 bytes each (i32 sign-extended, u32 and bool zero-extended, f32 in the
 *              low word): as in slots. Of a slot with a 32-bit type read the low word only */
typedef struct rg_task_layout {
    uint32_t size, slots32, slots64, slots_f32, slots_f64, ranges;
    uint32_t *array;    /* [task.arrays.n] */
    uint32_t *words32;  /* [task.arrays.n] UINT32_MAX: none */
    uint32_t *words64;  /* [task.arrays.n] UINT32_MAX: none */
    uint32_t *extents;  /* [task.arrays.n] */
    uint32_t *capacity; /* [task.scratch.n] */
    uint32_t *column;   /* [task.scratch.n] the first leaf's reference; 8 bytes each */
    uint32_t *input;    /* [task.host_inputs.n] */
} rg_task_layout;

rg_task_layout *rg_task_layout_make(rg_arena *a, const rg_fn *f, const rg_task *t);

#endif
