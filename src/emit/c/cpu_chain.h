/* Neighbouring parallel loops that run row by row together. */
#ifndef RG_EMIT_C_CPU_CHAIN_H
#define RG_EMIT_C_CPU_CHAIN_H

#include "emit/c/cpu.h"

typedef struct rg_cpu_link {
    rg_iid i;
    bool tail; /* follows the others, `low` and `high` rows away from what neighbours do */
} rg_cpu_link;

typedef struct rg_cpu_chain {
    rg_cpu_link *link;
    uint32_t n;
    int64_t low, high; /* rows at the ends of a worker's range that tails leave for later */
    rg_iid *between;   /* pure instructions that stand between the loops: print them first */
    uint32_t nbetween;
} rg_cpu_chain;

/* The longest chain that starts with parallel `first`; false: none. */
bool rg_cpu_chain_find(rg_cprint *p, rg_iid first, rg_cpu_chain *out);

extern const char rg_cpu_chain_text[]; /* rg_link and rg_chain_run */

#endif
