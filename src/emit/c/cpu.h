/* The CPU form's parts: kernel functions, tasks, memory. */
#ifndef RG_EMIT_C_CPU_H
#define RG_EMIT_C_CPU_H

#include "emit/c/emit_c.h"
#include "emit/c/printer.h"

extern const char rg_cpu_abi_text[]; /* emit/c/cpu_abi.h */
extern const char rg_cpu_prelude[];  /* what every compiled text starts with */

typedef enum rg_cpu_home { RG_CPU_STACK, RG_CPU_ENV, RG_CPU_GROWS } rg_cpu_home;

typedef struct rg_cpu {
    const char *entry;      /* symbol of this variant */
    const rg_activity *act; /* NULL: no parameters share a gradient */
    rg_text *tasks;         /* functions that come before the one being printed */
    uint32_t ntasks;
    rg_cpu_home *home;      /* [arrays] of locals */
    bool *hoisted;          /* [arrays] memory is taken once per task, not once per iteration */
    bool *own;              /* [arrays] added to in private copies, in this task */
    RG_VEC(rg_aid) growing; /* alive growing arrays, to be freed on the way out */
    uint32_t *counter;      /* [ins] task that counts ties (cpu_ties.c), once it is printed; or 0 */
    bool chains;            /* some chain was printed */
    bool in_task;
    bool alone;       /* print for one thread: nothing is atomic */
    bool maybe_alone; /* a run-time flag says whether there is one thread */
    uint64_t stack;   /* bytes of local arrays on the stack so far */
} rg_cpu;

extern const rg_cdialect rg_cpu_dialect;

void rg_cpu_fail(rg_cprint *p); /* statement that leaves the function with a fault */
const char *rg_cpu_thread(const rg_cprint *p);
void rg_cpu_parallel(rg_cprint *p, rg_iid i);
void rg_cpu_take(rg_cprint *p, rg_iid i, bool zero); /* declares and allocates alloc i's array */
bool rg_cpu_shared(const rg_cprint *p, rg_aid a);    /* may share memory with another parameter's */
int rg_cpu_line(const rg_cprint *p, rg_iid i);

/* cpu_simd.c: a hint to the C compiler above a `for`, or (simd) above the loop of a parallel. */
void rg_cpu_loop_hint(rg_cprint *p, rg_iid i);
bool rg_cpu_simd(rg_cprint *p, rg_iid i);

/* cpu_ties.c: the loop before `loop`, of the same iterations, that counted those in which `loop`
 * has something to do; 0: none. And whether there is such a loop after this one. */
rg_iid rg_cpu_counter_of(const rg_cprint *p, rg_iid loop);
bool rg_cpu_is_counter(const rg_cprint *p, rg_iid loop);

#endif
