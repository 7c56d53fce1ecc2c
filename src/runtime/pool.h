/* Threads and scratch memory of the CPU device: what stands behind an rg_cpu_env. */
#ifndef RG_RUNTIME_POOL_H
#define RG_RUNTIME_POOL_H

#include "base/arena.h"
#include "emit/c/cpu_abi.h"

typedef struct rg_pool rg_pool;

/* threads: the caller's included, 1 to RG_POOL_MAX. Threads start at the first parallel call that
 * needs them. NULL when out of memory. The allocator may be NULL. */
enum { RG_POOL_MAX = 256 };
rg_pool *rg_pool_new(const rg_allocator *allocator, int threads);
void rg_pool_free(rg_pool *p);
/* From here on every parallel call is split among the threads, however short it is: for tests. */
void rg_pool_split(rg_pool *p);

/* The environment to run an entry in. Only one entry may run at a time. */
const rg_cpu_env *rg_pool_env(rg_pool *p);

typedef struct rg_pool_fault {
    int what, line; /* RG_CPU_FAULT_, 0: none */
    const char *name;
    int64_t a, b, c;
} rg_pool_fault;

/* The first fault since the last rg_pool_begin. */
rg_pool_fault rg_pool_faulted(const rg_pool *p);
/* Before each entry: empties scratch (keeping its memory) and forgets the fault. An array that
 * grows may have `most` bytes. */
void rg_pool_begin(rg_pool *p, uint64_t most);

#endif
