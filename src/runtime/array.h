/* Arrays: a type, a shape, and a piece of a storage. Views share the storage of their array.
 *
 * A storage remembers, for each range of bytes that was ever written, a version (a count that only
 * goes up) and whether what stands there depends on something that has a gradient. Whoever is about
 * to change a range says so first (rg_storage_before_write): a tape that still needs what stands
 * there gets a copy of it, which all its records share. */
#ifndef RG_RUNTIME_ARRAY_H
#define RG_RUNTIME_ARRAY_H

#include "runtime/device.h"

#include "retrograd.h"

typedef struct rg_span {
    size_t begin, end; /* bytes */
    uint64_t version;
    bool depends;
} rg_span;

/* What a tape's record needs of a storage: a range as it was at a version. */
typedef struct rg_held {
    struct rg_held *next; /* in the storage's list, until the range changed */
    struct rg_storage *storage;
    uint32_t refs;
    size_t begin, end;
    uint64_t version;
    bool copied; /* the range has changed: `copy` is what it was */
    rg_memory copy;
} rg_held;

typedef struct rg_storage {
    uint32_t refs;
    rg_device *dev;
    rg_memory part[2]; /* RG_DATA, RG_GRADIENT */
    size_t bytes;
    uint32_t mapped[2]; /* maps by part, of any view */
    void *seen[2];      /* mapped parts of memory that the host cannot see */
    bool wrapped;
    struct rg_storage *next_wrapped;
    uint64_t clock;
    rg_span *spans; /* sorted, disjoint; what is in none was never written */
    size_t nspans, cap;
    rg_held *held;
} rg_storage;

struct rg_array {
    rg_handle handle;
    rg_device *dev;
    rg_storage *storage;
    size_t begin; /* bytes into the storage */
    size_t bytes, count, item_size;
    rg_dtype dtype;
    size_t rank;
    int64_t shape[RG_MAX_RANK];
};

size_t rg_dtype_size(rg_dtype t); /* 0: struct or unknown */
const char *rg_dtype_name(rg_dtype t);
bool rg_dtype_is_float(rg_dtype t);

static inline unsigned char *rg_array_data(const rg_array *a) {
    return a->storage->part[RG_DATA].at + a->begin;
}
static inline unsigned char *rg_array_grad(const rg_array *a) {
    unsigned char *g = a->storage->part[RG_GRADIENT].at;
    return g ? g + a->begin : NULL;
}

void rg_array_retain(rg_array *a);
void rg_array_drop(rg_array *a);
/* "[2, 3]", in arena memory. */
const char *rg_shape_text(rg_arena *arena, size_t rank, const int64_t *shape);

typedef enum rg_depends { RG_DEPENDS_KEEP, RG_DEPENDS_CLEAR, RG_DEPENDS_SET } rg_depends;

/* Latest version in an array's range; does any of it depend on something with a gradient? */
uint64_t rg_array_version(const rg_array *a);
bool rg_array_depends(const rg_array *a);
/* Before and after its data changes. The first makes room for the second, which cannot fail. */
rg_status rg_array_before_write(rg_array *a);
void rg_array_wrote(rg_array *a, rg_depends depends);

/* A hold on the array's data as it is now; NULL when out of memory. */
rg_held *rg_array_hold(rg_array *a);
void rg_held_drop(rg_held *h);

#endif
