/* A parallel call publishes a job and its ranges; whoever is free claims the next range by one
 * compare-and-swap on `claim` (generation, ranges, next). The range's number is the worker number
 * it runs under, so that the calling thread may take the ranges that sleeping workers have not come
 * to: it never waits for a thread that has not begun. A claim can only succeed for the job that is
 * running, because its generation is part of the word, so a late worker reads no stale job.
 *
 * Workers spin a little after a job, because the next one mostly comes at once, then sleep. */
#include "runtime/pool.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPIN = 2000, FIRST_CHUNK = 64 * 1024, ALIGN = 64, MAX_CHUNKS = 128, DOUBLED = 1 << 20 };

typedef struct chunk {
    unsigned char *at; /* 64-byte aligned */
    void *base;        /* as allocated */
    size_t size, base_size;
    size_t start; /* place of its first byte in the worker's stack */
} chunk;

typedef struct stack { /* one worker's scratch; chunks grow, so few are enough */
    chunk chunks[MAX_CHUNKS];
    int n;       /* chunks that exist */
    int current; /* the one in use */
    size_t used; /* bytes of the current one */
    char pad[64];
} stack;

struct rg_pool {
    rg_cpu_env env; /* first: the callbacks find the pool from it */
    rg_allocator allocator;
    int threads, started; /* threads: fewer than `capacity` once one would not start */
    int capacity;
    bool split;  /* tests: no loop is too short for several threads */
    pid_t owner; /* the process that started the threads: a fork has none of them */
    pthread_t *ids;

    char pad0[64];          /* keeps the words that all threads fight for in lines of their own */
    _Atomic uint64_t claim; /* generation << 32 | ranges << 16 | next */
    rg_cpu_task *task;
    void *closure;
    int64_t n;
    char pad1[64];
    _Atomic int unfinished;
    _Atomic int sleepers;
    _Atomic bool stopping;
    bool caller_waits; /* under lock */

    pthread_mutex_t lock;
    pthread_cond_t work, done;

    pthread_mutex_t memory_lock; /* the caller's allocator need not be thread-safe */
    pthread_mutex_t fault_lock;
    rg_pool_fault fault;
    volatile int stop;
    uint64_t most; /* bytes of an array that grows */
    stack *stacks; /* [threads] */
};

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static rg_pool *pool_of(const rg_cpu_env *env) {
    return (rg_pool *)(uintptr_t)env;
}

/* ---- scratch ---- */

static void *resize(rg_pool *p, void *old, size_t old_size, size_t size) {
    if (p->allocator.resize)
        return p->allocator.resize(p->allocator.user, old, old_size, size);
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

static void chunk_drop(rg_pool *p, chunk *c) {
    resize(p, c->base, c->base_size, 0);
}

/* A chunk after the current one that holds `size` bytes. */
static chunk *chunk_next(rg_pool *p, stack *s, size_t size) {
    size_t start = 0, want = FIRST_CHUNK;
    int next = 0;
    if (s->n) {
        const chunk *c = &s->chunks[s->current];
        start = c->start + c->size;
        /* Small ones double; a large array, or what follows one, takes little more than it asks. */
        want = size < FIRST_CHUNK && c->size <= DOUBLED ? c->size * 2 : (start + size) / 8;
        next = s->current + 1;
    }
    if (next < s->n && s->chunks[next].size >= size) {
        s->chunks[next].start = start;
        s->current = next;
        s->used = 0;
        return &s->chunks[next];
    }
    if (next == MAX_CHUNKS || size > SIZE_MAX / 4)
        return NULL;
    if (want < size)
        want = (size + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&p->memory_lock);
    while (s->n > next) /* too small, and nothing lives in them */
        chunk_drop(p, &s->chunks[--s->n]);
    void *base = resize(p, NULL, 0, want + ALIGN);
    if (!base && want > size) {
        want = (size + ALIGN - 1) / ALIGN * ALIGN;
        base = resize(p, NULL, 0, want + ALIGN);
    }
    pthread_mutex_unlock(&p->memory_lock);
    if (!base)
        return NULL;
    uintptr_t at = ((uintptr_t)base + ALIGN - 1) / ALIGN * ALIGN;
    s->chunks[next] = (chunk){(unsigned char *)at, base, want, want + ALIGN, start};
    s->n = next + 1;
    s->current = next;
    s->used = 0;
    return &s->chunks[next];
}

static void *env_alloc(const rg_cpu_env *env, int thread, size_t bytes) {
    rg_pool *p = pool_of(env);
    stack *s = &p->stacks[thread];
    if (bytes > SIZE_MAX / 4)
        return NULL;
    size_t size = bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
    chunk *c = s->n ? &s->chunks[s->current] : NULL;
    if (!c || c->size - s->used < size) {
        c = chunk_next(p, s, size);
        if (!c)
            return NULL;
    }
    void *at = c->at + s->used;
    s->used += size;
    return at;
}

static size_t env_mark(const rg_cpu_env *env, int thread) {
    const stack *s = &pool_of(env)->stacks[thread];
    return s->n ? s->chunks[s->current].start + s->used : 0;
}

static void env_release(const rg_cpu_env *env, int thread, size_t mark) {
    stack *s = &pool_of(env)->stacks[thread];
    if (!s->n)
        return;
    while (s->current > 0 && s->chunks[s->current].start > mark)
        s->current--;
    s->used = mark - s->chunks[s->current].start;
}

static void *env_grow(const rg_cpu_env *env, void *old, size_t size) {
    if (size == 0) {
        free(old);
        return NULL;
    }
    return size > pool_of(env)->most ? NULL : realloc(old, size);
}

static void env_fault(const rg_cpu_env *env, int what, int line, const char *name, int64_t a,
                      int64_t b, int64_t c) {
    rg_pool *p = pool_of(env);
    pthread_mutex_lock(&p->fault_lock);
    if (!p->fault.what)
        p->fault = (rg_pool_fault){what, line, name, a, b, c};
    p->stop = 1;
    pthread_mutex_unlock(&p->fault_lock);
}

/* ---- threads ---- */

/* Runs ranges of the current job until none is left, or `most` are done. */
static void run_ranges(rg_pool *p, int most) {
    uint64_t c = atomic_load_explicit(&p->claim, memory_order_acquire);
    while (most > 0) {
        uint64_t ranges = (c >> 16) & 0xffff, next = c & 0xffff;
        if (next >= ranges)
            return;
        if (!atomic_compare_exchange_weak_explicit(&p->claim, &c, c + 1, memory_order_acq_rel,
                                                   memory_order_acquire))
            continue;
        int64_t n = p->n, each = n / (int64_t)ranges, extra = n % (int64_t)ranges,
                r = (int64_t)next;
        int64_t begin = r * each + (r < extra ? r : extra);
        int64_t end = begin + each + (r < extra ? 1 : 0);
        p->task(&p->env, p->closure, begin, end, (int)next);
        most--;
        if (atomic_fetch_sub_explicit(&p->unfinished, 1, memory_order_acq_rel) == 1) {
            pthread_mutex_lock(&p->lock);
            if (p->caller_waits)
                pthread_cond_signal(&p->done);
            pthread_mutex_unlock(&p->lock);
        }
        c = atomic_load_explicit(&p->claim, memory_order_acquire);
    }
}

static bool work_waits(rg_pool *p) {
    uint64_t c = atomic_load_explicit(&p->claim, memory_order_acquire);
    return (c & 0xffff) < ((c >> 16) & 0xffff) ||
           atomic_load_explicit(&p->stopping, memory_order_acquire);
}

static void *worker(void *argument) {
    rg_pool *p = argument;
    while (!atomic_load_explicit(&p->stopping, memory_order_acquire)) {
        run_ranges(p, INT_MAX);
        int spins = 0;
        while (!work_waits(p) && spins < SPIN) {
            relax();
            spins++;
        }
        if (spins < SPIN)
            continue;
        pthread_mutex_lock(&p->lock);
        atomic_fetch_add(&p->sleepers, 1);
        while (!work_waits(p))
            pthread_cond_wait(&p->work, &p->lock);
        atomic_fetch_sub(&p->sleepers, 1);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* Fewer threads than asked for is no error: the caller runs what nobody else does. */
static void start_threads(rg_pool *p) {
    pid_t here = getpid();
    if (p->owner != here) {
        pthread_mutex_init(&p->lock, NULL);
        pthread_mutex_init(&p->memory_lock, NULL);
        pthread_mutex_init(&p->fault_lock, NULL);
        pthread_cond_init(&p->work, NULL);
        pthread_cond_init(&p->done, NULL);
        atomic_store(&p->sleepers, 0);
        p->started = 0;
        p->owner = here;
    }
    while (p->started < p->threads - 1) {
        if (pthread_create(&p->ids[p->started], NULL, worker, p) != 0) {
            p->threads = p->started + 1; /* do not try at each launch */
            p->env.threads = p->threads;
            break;
        }
        p->started++;
    }
}

static void env_parallel(const rg_cpu_env *env, rg_cpu_task *task, void *closure, int64_t n,
                         int64_t grain) {
    rg_pool *p = pool_of(env);
    if (n <= 0)
        return;
    if (grain < 1 || p->split)
        grain = 1;
    if (n <= grain || p->threads == 1) {
        task(env, closure, 0, n, 0);
        return;
    }
    if (p->started < p->threads - 1 || p->owner != getpid())
        start_threads(p);
    int64_t ranges = n / grain + (n % grain != 0);
    if (ranges > p->threads)
        ranges = p->threads;
    p->task = task;
    p->closure = closure;
    p->n = n;
    atomic_store_explicit(&p->unfinished, (int)ranges, memory_order_relaxed);
    uint64_t generation = (atomic_load_explicit(&p->claim, memory_order_relaxed) >> 32) + 1;
    /* Sequentially consistent with the count of sleepers: either the sleeper sees the work, or the
     * caller sees the sleeper. */
    atomic_store(&p->claim, generation << 32 | (uint64_t)ranges << 16);
    if (atomic_load(&p->sleepers)) {
        pthread_mutex_lock(&p->lock);
        if (ranges == 2)
            pthread_cond_signal(&p->work);
        else
            pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
    }
    run_ranges(p, p->split ? 1 : INT_MAX); /* others shall have their part */
    for (int spins = 0; spins < SPIN; spins++) {
        if (!atomic_load_explicit(&p->unfinished, memory_order_acquire))
            break;
        relax();
    }
    if (atomic_load_explicit(&p->unfinished, memory_order_acquire)) {
        pthread_mutex_lock(&p->lock);
        p->caller_waits = true;
        while (atomic_load_explicit(&p->unfinished, memory_order_acquire))
            pthread_cond_wait(&p->done, &p->lock);
        p->caller_waits = false;
        pthread_mutex_unlock(&p->lock);
    }
}

/* ---- life ---- */

void rg_pool_split(rg_pool *p) {
    p->split = true;
}

rg_pool *rg_pool_new(const rg_allocator *allocator, int threads) {
    threads = threads < 1 ? 1 : threads > RG_POOL_MAX ? RG_POOL_MAX : threads;
    rg_pool head = {.threads = threads, .capacity = threads};
    if (allocator)
        head.allocator = *allocator;
    rg_pool *p = resize(&head, NULL, 0, sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->allocator = head.allocator;
    p->stacks = resize(p, NULL, 0, (size_t)threads * sizeof *p->stacks);
    p->ids = resize(p, NULL, 0, (size_t)threads * sizeof *p->ids);
    if (!p->stacks || !p->ids) {
        if (p->stacks)
            resize(p, p->stacks, (size_t)threads * sizeof *p->stacks, 0);
        if (p->ids)
            resize(p, p->ids, (size_t)threads * sizeof *p->ids, 0);
        resize(&head, p, sizeof *p, 0);
        return NULL;
    }
    memset(p->stacks, 0, (size_t)threads * sizeof *p->stacks);
    p->threads = p->capacity = threads;
    p->env = (rg_cpu_env){threads,     env_parallel, env_alloc, env_mark,
                          env_release, env_grow,     env_fault, &p->stop};
    p->owner = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->memory_lock, NULL);
    pthread_mutex_init(&p->fault_lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    return p;
}

void rg_pool_free(rg_pool *p) {
    if (!p)
        return;
    size_t threads = (size_t)p->capacity;
    rg_pool head = {.allocator = p->allocator};
    if (p->owner == getpid()) {
        pthread_mutex_lock(&p->lock);
        atomic_store(&p->stopping, true);
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->lock);
        for (int i = 0; i < p->started; i++)
            pthread_join(p->ids[i], NULL);
        pthread_mutex_destroy(&p->lock);
        pthread_mutex_destroy(&p->memory_lock);
        pthread_mutex_destroy(&p->fault_lock);
        pthread_cond_destroy(&p->work);
        pthread_cond_destroy(&p->done);
    }
    for (size_t t = 0; t < threads; t++)
        for (int i = 0; i < p->stacks[t].n; i++)
            chunk_drop(p, &p->stacks[t].chunks[i]);
    resize(p, p->stacks, threads * sizeof *p->stacks, 0);
    resize(p, p->ids, threads * sizeof *p->ids, 0);
    resize(&head, p, sizeof *p, 0);
}

const rg_cpu_env *rg_pool_env(rg_pool *p) {
    return &p->env;
}

rg_pool_fault rg_pool_faulted(const rg_pool *p) {
    return p->fault;
}

void rg_pool_begin(rg_pool *p, uint64_t most) {
    p->most = most;
    /* An entry that ended well has released what its workers took. */
    int dirty = p->fault.what ? p->capacity : 1;
    for (int t = 0; t < dirty; t++) {
        p->stacks[t].current = 0;
        p->stacks[t].used = 0;
    }
    p->fault.what = 0;
    p->stop = 0;
}
