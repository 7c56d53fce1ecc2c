/* Memory of the interpreter: arrays, checked accesses, races. */
#ifndef RG_IR_INTERP_MEMORY_H
#define RG_IR_INTERP_MEMORY_H

#include "ir/eval.h"
#include "ir/interp.h"

typedef struct rg_imem_array {
    unsigned char *data;
    int64_t *extents; /* [rank] of the argument, or as the last alloc made them */
    size_t capacity;  /* bytes of a local's buffer, which later allocs use again */
    uint64_t key;     /* added to an offset, names the byte for the race table */
    uint64_t born;    /* number of the parallel in which alloc last ran; 0: outside */
    bool live;        /* argument given, alloc has run */
    bool words;       /* uninitialised memory may be filled by 32-bit words */
} rg_imem_array;

typedef struct rg_imem {
    const rg_fn *f;
    const rg_interp_args *args;
    rg_allocator allocator;
    rg_const *vals;        /* [f->vals.n] */
    rg_imem_array *arrays; /* [f->arrays.n] */
    int64_t *extents;      /* of all arrays together */
    size_t n_extents;
    size_t local_bytes;

    /* The parallel that is running (0: none) and its iteration. */
    uint64_t parallel, parallels;
    uint64_t iteration;
    uint32_t ranges;
    rg_type range_type;
    int64_t lo[3];
    uint64_t count[3];

    struct rg_imem_touch *touched; /* hash table by key, entries of older parallels are free */
    size_t touched_cap, touched_n;

    bool faulted;
    rg_loc loc;
    char message[640];
} rg_imem;

/* All return false on a fault, which m then describes (the first one stays). */
bool rg_imem_init(rg_imem *m, const rg_fn *f, const rg_interp_args *args);
void rg_imem_free(rg_imem *m);
void *rg_imem_resize(rg_imem *m, void *old, size_t old_size, size_t size);

bool rg_imem_scalar(rg_imem *m, const rg_ins *i, rg_const *out);
bool rg_imem_extent(rg_imem *m, const rg_ins *i, rg_const *out);
bool rg_imem_load(rg_imem *m, const rg_ins *i, rg_const *out);
bool rg_imem_store(rg_imem *m, const rg_ins *i);
bool rg_imem_addto(rg_imem *m, const rg_ins *i);
bool rg_imem_rmw(rg_imem *m, const rg_ins *i, rg_const *out);
bool rg_imem_alloc(rg_imem *m, const rg_ins *i);
bool rg_imem_copy(rg_imem *m, const rg_ins *i);

bool rg_imem_fault(rg_imem *m, rg_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
