/* A parallel loop as a task of the CPU form (cpu_task.c), and how the kernel launches it
 * (cpu_launch.c). */
#ifndef RG_EMIT_C_CPU_TASK_H
#define RG_EMIT_C_CPU_TASK_H

#include "emit/c/cpu.h"

enum { RG_TIES_BLOCK = 4096 }; /* iterations that a counter of ties tells apart from others */

typedef struct rg_capture {
    const char *type, *name;
} rg_capture;

typedef struct rg_task {
    rg_cprint *p;
    rg_iid i;
    uint32_t id;
    rg_rid body;
    RG_VEC(rg_capture) caps;
    bool *has_array, *writes;
    bool *has_scalar, *has_var;
    bool **has_extent;  /* [arrays] NULL or [rank] */
    RG_VEC(rg_aid) own; /* candidates for private copies */
    bool *not_own;
    /* Leading axes on which all private adds of an array have one index, the same for the whole
     * loop (u_b[t][...]): only that slice is copied. */
    uint32_t *lead;
    rg_val **lead_index;
    bool counter;      /* notes where it counted any (cpu_ties.c) */
    bool special;      /* atomics or private copies: printed with flags, or twice */
    bool atomics;      /* some access is atomic whatever is private */
    double own_weight; /* executions of private adds for each iteration, guessed */
    uint32_t n;        /* instructions */
    double work;       /* for each iteration, guessed */
} rg_task;

/* Prints the task of parallel loop i, before the kernel, and says what it needs. */
rg_task *rg_task_prepare(rg_cprint *p, rg_iid i);

uint32_t rg_task_ranges(const rg_task *t);
const char *rg_task_index_type(const rg_task *t, uint32_t k);
int64_t rg_task_constant_count(const rg_task *t, uint32_t k); /* of range k; -1: not constant */
bool rg_task_outer_only(const rg_task *t); /* inner ranges are whole in each outer index */
bool rg_task_any_slot(const rg_task *t);   /* it has results */
const char *rg_task_elem_type(const rg_task *t, rg_aid a);
void rg_cpu_close(rg_cprint *p); /* a block */

#endif
