/* What a compiled CPU kernel and the runtime agree on. This file is also pasted into the text of
 * every compiled kernel: plain C99, no includes but <stdint.h> and <stddef.h>. */
#ifndef RG_CPU_ABI_H
#define RG_CPU_ABI_H

#include <stddef.h>
#include <stdint.h>

#define RG_CPU_ABI 1

struct rg_cpu_env;

/* Iterations [begin, end) of a task's flattened range, on worker `thread` (0 .. threads-1). */
typedef void rg_cpu_task(const struct rg_cpu_env *env, void *closure, int64_t begin, int64_t end,
                         int thread);

typedef struct rg_cpu_env {
    int threads; /* workers that parallel may use at once */
    /* Runs task over [0, n), cut into at most `threads` contiguous ranges, one per worker, so that
     * a worker's number belongs to one range per call; grain: least iterations worth a worker.
     * Returns when all is done. Called with no other parallel running. */
    void (*parallel)(const struct rg_cpu_env *env, rg_cpu_task *task, void *closure, int64_t n,
                     int64_t grain);
    /* Scratch: a stack of memory for each worker (kernel level: worker 0). alloc gives
     * uninitialised 64-byte aligned memory or NULL (then the kernel reports out of memory by fault
     * and returns); mark/release free all that came after the mark. Memory may move never. */
    void *(*alloc)(const struct rg_cpu_env *env, int thread, size_t bytes);
    size_t (*mark)(const struct rg_cpu_env *env, int thread);
    void (*release)(const struct rg_cpu_env *env, int thread, size_t mark);
    /* Growing arrays: realloc semantics on the C heap (size 0 frees). NULL: out of memory. */
    void *(*grow)(const struct rg_cpu_env *env, void *old, size_t size);
    /* Reports a fault (first one wins; may be called from any worker): what is one of
     * RG_CPU_FAULT_; line in the kernel's source; a, b, c: index, extent, axis (bounds), or
     * operands. name: array. */
    void (*fault)(const struct rg_cpu_env *env, int what, int line, const char *name, int64_t a,
                  int64_t b, int64_t c);
    volatile int *stop; /* non-zero once any worker faulted: long loops may leave early */
} rg_cpu_env;

enum {
    RG_CPU_FAULT_MEMORY = 1, /* a: bytes asked for */
    RG_CPU_FAULT_BOUNDS,     /* a: index, b: extent, c: axis */
    RG_CPU_FAULT_DIVISION,   /* a / b */
    RG_CPU_FAULT_SHIFT,      /* a << b */
    RG_CPU_FAULT_EXTENT      /* a: negative extent of a local array */
};

typedef int rg_cpu_entry(const rg_cpu_env *env, const void *args);

#endif
