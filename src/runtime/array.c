#include "runtime/array.h"

#include <stdio.h>
#include <string.h>

/* ---- types and shapes ---- */

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {{"bool", 1},    {"int8", 1},    {"uint8", 1}, {"int16", 2},  {"uint16", 2},
              {"int32", 4},   {"uint32", 4},  {"int64", 8}, {"uint64", 8}, {"float16", 2},
              {"float32", 4}, {"float64", 8}, {"struct", 0}};

size_t rg_dtype_size(rg_dtype t) {
    return (size_t)t <= RG_DTYPE_STRUCT ? dtypes[t].size : 0;
}

const char *rg_dtype_name(rg_dtype t) {
    return (size_t)t <= RG_DTYPE_STRUCT ? dtypes[t].name : "unknown";
}

bool rg_dtype_is_float(rg_dtype t) {
    return t == RG_DTYPE_F16 || t == RG_DTYPE_F32 || t == RG_DTYPE_F64;
}

const char *rg_shape_text(rg_arena *arena, size_t rank, const int64_t *shape) {
    rg_text t = {.arena = arena};
    rg_text_char(&t, '[');
    for (size_t i = 0; i < rank; i++)
        rg_text_format(&t, "%s%lld", i ? ", " : "", (long long)shape[i]);
    rg_text_char(&t, ']');
    return rg_text_str(&t);
}

static bool multiply(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out) && *out <= SIZE_MAX / 4;
}

/* ---- spans ---- */

/* First span that ends after `at`. */
static size_t span_find(const rg_storage *s, size_t at) {
    size_t lo = 0, hi = s->nspans;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->spans[mid].end <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static uint64_t storage_version(const rg_storage *s, size_t begin, size_t end) {
    uint64_t v = 0;
    for (size_t i = span_find(s, begin); i < s->nspans && s->spans[i].begin < end; i++)
        if (s->spans[i].version > v)
            v = s->spans[i].version;
    return v;
}

static bool storage_depends(const rg_storage *s, size_t begin, size_t end) {
    for (size_t i = span_find(s, begin); i < s->nspans && s->spans[i].begin < end; i++)
        if (s->spans[i].depends)
            return true;
    return false;
}

/* Room for what one write can add: it splits the span that it falls into in two. */
static bool storage_reserve(rg_storage *s) {
    if (s->cap - s->nspans >= 2)
        return true;
    rg_context *ctx = s->dev->ctx;
    size_t cap = s->cap ? s->cap * 2 : 4;
    rg_span *spans = rg_ctx_alloc(ctx, cap * sizeof *spans);
    if (!spans)
        return false;
    if (s->nspans)
        memcpy(spans, s->spans, s->nspans * sizeof *spans);
    rg_ctx_free(ctx, s->spans, s->cap * sizeof *spans);
    s->spans = spans;
    s->cap = cap;
    return true;
}

static void storage_wrote(rg_storage *s, size_t begin, size_t end, rg_depends depends) {
    if (begin == end)
        return;
    size_t first = span_find(s, begin), last = first;
    bool any = false;
    while (last < s->nspans && s->spans[last].begin < end)
        any |= s->spans[last++].depends;
    rg_span with[3];
    size_t n = 0;
    if (first < last && s->spans[first].begin < begin) {
        with[n] = s->spans[first];
        with[n++].end = begin;
    }
    with[n++] = (rg_span){begin, end, ++s->clock,
                          depends == RG_DEPENDS_SET || (depends == RG_DEPENDS_KEEP && any)};
    if (first < last && s->spans[last - 1].end > end) {
        with[n] = s->spans[last - 1];
        with[n++].begin = end;
    }
    memmove(s->spans + first + n, s->spans + last, (s->nspans - last) * sizeof *s->spans);
    memcpy(s->spans + first, with, n * sizeof *with);
    s->nspans = s->nspans - (last - first) + n;
}

/* ---- holds ---- */

static rg_status storage_before_write(rg_storage *s, size_t begin, size_t end) {
    rg_held **link = &s->held;
    while (*link) {
        rg_held *h = *link;
        /* A range that rg_array_touch has spoiled is past saving: its holders will be told. */
        if (h->begin >= end || h->end <= begin ||
            storage_version(s, h->begin, h->end) != h->version) {
            link = &h->next;
            continue;
        }
        rg_device *dev = s->dev;
        rg_status e = dev->ops->alloc(dev, h->end - h->begin, &h->copy);
        if (e == RG_OK) {
            e = dev->ops->copy(dev, h->copy.at, s->part[RG_DATA].at + h->begin, h->end - h->begin);
            if (e != RG_OK)
                dev->ops->free(dev, &h->copy);
        }
        if (e != RG_OK)
            return e;
        h->copied = true;
        *link = h->next;
        h->next = NULL;
    }
    return storage_reserve(s) ? RG_OK : RG_ERROR_MEMORY;
}

static void storage_drop(rg_storage *s);

rg_held *rg_array_hold(rg_array *a) {
    rg_storage *s = a->storage;
    size_t begin = a->begin, end = a->begin + a->bytes;
    uint64_t version = storage_version(s, begin, end);
    for (rg_held *h = s->held; h; h = h->next)
        if (h->begin == begin && h->end == end && h->version == version) {
            h->refs++;
            return h;
        }
    rg_held *h = rg_ctx_alloc(s->dev->ctx, sizeof *h);
    if (!h)
        return NULL;
    *h = (rg_held){
        .next = s->held, .storage = s, .refs = 1, .begin = begin, .end = end, .version = version};
    s->held = h;
    s->refs++;
    return h;
}

void rg_held_drop(rg_held *h) {
    if (!h || --h->refs)
        return;
    rg_storage *s = h->storage;
    if (h->copied) {
        s->dev->ops->free(s->dev, &h->copy);
    } else {
        rg_held **link = &s->held;
        while (*link != h)
            link = &(*link)->next;
        *link = h->next;
    }
    rg_ctx_free(s->dev->ctx, h, sizeof *h);
    storage_drop(s);
}

/* ---- storages ---- */

static rg_storage *storage_new(rg_device *dev, size_t bytes) {
    rg_storage *s = rg_ctx_alloc(dev->ctx, sizeof *s);
    if (!s)
        return NULL;
    s->refs = 1;
    s->dev = dev;
    s->bytes = bytes;
    rg_device_retain(dev);
    return s;
}

static void storage_drop(rg_storage *s) {
    if (--s->refs)
        return;
    rg_device *dev = s->dev;
    if (s->wrapped) {
        rg_storage **link = &dev->wrapped;
        while (*link != s)
            link = &(*link)->next_wrapped;
        *link = s->next_wrapped;
    } else {
        for (int i = 0; i < 2; i++)
            if (s->part[i].base)
                dev->ops->free(dev, &s->part[i]);
    }
    for (int i = 0; i < 2; i++)
        rg_ctx_free(dev->ctx, s->seen[i], s->bytes);
    rg_ctx_free(dev->ctx, s->spans, s->cap * sizeof *s->spans);
    rg_ctx_free(dev->ctx, s, sizeof *s);
    rg_device_drop(dev);
}

/* The caller may wrap the same memory twice: what happens to one wrap happens to the others. */
static bool storage_shares(const rg_storage *s, const rg_storage *other, size_t *begin,
                           size_t *end) {
    if (other == s)
        return false;
    uintptr_t at = (uintptr_t)s->part[RG_DATA].at, base = (uintptr_t)other->part[RG_DATA].at;
    uintptr_t lo = at + *begin > base ? at + *begin : base;
    uintptr_t hi = at + *end < base + other->bytes ? at + *end : base + other->bytes;
    if (lo >= hi)
        return false;
    *begin = lo - base;
    *end = hi - base;
    return true;
}

uint64_t rg_array_version(const rg_array *a) {
    return storage_version(a->storage, a->begin, a->begin + a->bytes);
}

bool rg_array_depends(const rg_array *a) {
    return storage_depends(a->storage, a->begin, a->begin + a->bytes);
}

rg_status rg_array_before_write(rg_array *a) {
    rg_storage *s = a->storage;
    rg_status e = storage_before_write(s, a->begin, a->begin + a->bytes);
    if (!s->wrapped)
        return e;
    for (rg_storage *o = s->dev->wrapped; o && e == RG_OK; o = o->next_wrapped) {
        size_t begin = a->begin, end = a->begin + a->bytes;
        if (storage_shares(s, o, &begin, &end))
            e = storage_before_write(o, begin, end);
    }
    return e;
}

void rg_array_wrote(rg_array *a, rg_depends depends) {
    rg_storage *s = a->storage;
    storage_wrote(s, a->begin, a->begin + a->bytes, depends);
    if (!s->wrapped)
        return;
    for (rg_storage *o = s->dev->wrapped; o; o = o->next_wrapped) {
        size_t begin = a->begin, end = a->begin + a->bytes;
        if (storage_shares(s, o, &begin, &end))
            storage_wrote(o, begin, end, depends);
    }
}

/* ---- arrays ---- */

static rg_status make(rg_device *dev, rg_dtype dtype, size_t item_size, size_t rank,
                      const int64_t *shape, rg_array **out) {
    rg_context *ctx = dev->ctx;
    if (!out)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the place for the new array is null");
    *out = NULL;
    if ((unsigned)dtype > RG_DTYPE_STRUCT || item_size == 0)
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       dtype == RG_DTYPE_STRUCT
                           ? "a struct array needs its item size: use rg_array_for or "
                             "rg_array_new_struct"
                           : "%d is no rg_dtype",
                       (int)dtype);
    if (rank > RG_MAX_RANK || (rank && !shape))
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       rank > RG_MAX_RANK ? "%zu axes: %d is the most" : "the shape is null", rank,
                       (int)RG_MAX_RANK);
    size_t count = 1, bytes;
    bool fits = true, empty = false;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return rg_fail(ctx, RG_ERROR_ARGUMENT, "axis %zu of the shape is negative: %lld", i,
                           (long long)shape[i]);
        empty |= shape[i] == 0;
    }
    for (size_t i = 0; i < rank && !empty; i++)
        fits = fits && multiply(count, (size_t)shape[i], &count);
    if (empty)
        count = 0;
    if (!fits || !multiply(count, item_size, &bytes))
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the shape's size in bytes overflows");
    rg_array *a = rg_handle_new(ctx, sizeof *a, RG_MAGIC_ARRAY);
    if (!a)
        return RG_ERROR_MEMORY;
    a->dev = dev;
    rg_device_retain(dev);
    a->dtype = dtype;
    a->item_size = item_size;
    a->rank = rank;
    if (rank)
        memcpy(a->shape, shape, rank * sizeof *shape);
    a->count = count;
    a->bytes = bytes;
    *out = a;
    return RG_OK;
}

static rg_status make_own(rg_device *dev, rg_dtype dtype, size_t item_size, size_t rank,
                          const int64_t *shape, bool gradient, rg_array **out) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return RG_ERROR_ARGUMENT;
    if (gradient && dtype != RG_DTYPE_STRUCT && !rg_dtype_is_float(dtype))
        return rg_fail(dev->ctx, RG_ERROR_ARGUMENT, "an array of %s cannot have a gradient",
                       rg_dtype_name(dtype));
    rg_status s = make(dev, dtype, item_size, rank, shape, out);
    if (s != RG_OK)
        return s;
    rg_array *a = *out;
    *out = NULL;
    a->storage = storage_new(dev, a->bytes);
    s = a->storage ? RG_OK : RG_ERROR_MEMORY;
    for (int part = 0; part < (gradient ? 2 : 1) && s == RG_OK; part++)
        s = dev->ops->alloc(dev, a->bytes, &a->storage->part[part]);
    if (s != RG_OK)
        rg_array_drop(a);
    else
        *out = a;
    return s;
}

rg_status rg_array_new(rg_device *dev, rg_dtype dtype, size_t rank, const int64_t *shape,
                       bool gradient, rg_array **out) {
    return make_own(dev, dtype, rg_dtype_size(dtype), rank, shape, gradient, out);
}

rg_status rg_array_new_struct(rg_device *dev, size_t item_size, size_t rank, const int64_t *shape,
                              bool gradient, rg_array **out) {
    return make_own(dev, RG_DTYPE_STRUCT, item_size, rank, shape, gradient, out);
}

static rg_status wrap(rg_device *dev, rg_dtype dtype, size_t item_size, size_t rank,
                      const int64_t *shape, void *data, void *gradient, rg_array **out) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return RG_ERROR_ARGUMENT;
    if (out)
        *out = NULL;
    if (dev->ops->read)
        return rg_fail(dev->ctx, RG_ERROR_UNSUPPORTED,
                       "the device '%s' has memory of its own: make an array with rg_array_new and "
                       "fill it with rg_array_write",
                       dev->ops->name);
    if (gradient && dtype != RG_DTYPE_STRUCT && !rg_dtype_is_float(dtype))
        return rg_fail(dev->ctx, RG_ERROR_ARGUMENT, "an array of %s cannot have a gradient",
                       rg_dtype_name(dtype));
    rg_status s = make(dev, dtype, item_size, rank, shape, out);
    if (s != RG_OK)
        return s;
    rg_array *a = *out;
    *out = NULL;
    size_t align = dtype == RG_DTYPE_STRUCT ? 1 : item_size;
    if (!data && a->bytes)
        s = rg_fail(dev->ctx, RG_ERROR_ARGUMENT, "the memory to wrap is null");
    else if ((uintptr_t)data % align || (uintptr_t)gradient % align)
        s = rg_fail(dev->ctx, RG_ERROR_ARGUMENT, "the memory to wrap is not aligned to %zu bytes",
                    align);
    else if (gradient && (uintptr_t)gradient < (uintptr_t)data + a->bytes &&
             (uintptr_t)data < (uintptr_t)gradient + a->bytes)
        s = rg_fail(dev->ctx, RG_ERROR_ARGUMENT, "the gradient's memory overlaps the data's");
    else if (!(a->storage = storage_new(dev, a->bytes)))
        s = RG_ERROR_MEMORY;
    if (s != RG_OK) {
        rg_array_drop(a);
        return s;
    }
    a->storage->part[RG_DATA].at = data;
    a->storage->part[RG_GRADIENT].at = gradient;
    a->storage->wrapped = true;
    a->storage->next_wrapped = dev->wrapped;
    dev->wrapped = a->storage;
    /* What another wrap of this memory knows holds here too. */
    bool depends = false;
    for (rg_storage *o = a->storage->next_wrapped; o; o = o->next_wrapped) {
        size_t begin = 0, end = a->bytes;
        if (storage_shares(a->storage, o, &begin, &end))
            depends |= storage_depends(o, begin, end);
    }
    if (depends) {
        if (storage_reserve(a->storage)) {
            storage_wrote(a->storage, 0, a->bytes, RG_DEPENDS_SET);
        } else {
            rg_array_drop(a);
            return RG_ERROR_MEMORY;
        }
    }
    *out = a;
    return RG_OK;
}

rg_status rg_array_wrap(rg_device *dev, rg_dtype dtype, size_t rank, const int64_t *shape,
                        void *data, void *gradient, rg_array **out) {
    return wrap(dev, dtype, rg_dtype_size(dtype), rank, shape, data, gradient, out);
}

rg_status rg_array_wrap_struct(rg_device *dev, size_t item_size, size_t rank, const int64_t *shape,
                               void *data, void *gradient, rg_array **out) {
    return wrap(dev, RG_DTYPE_STRUCT, item_size, rank, shape, data, gradient, out);
}

static rg_status check(const rg_array *a) {
    return !a || rg_handle_fault(&a->handle, RG_MAGIC_ARRAY) ? RG_ERROR_ARGUMENT : RG_OK;
}

rg_status rg_array_view(rg_array *a, size_t n, const int64_t *indices, rg_array **out) {
    if (check(a) != RG_OK)
        return RG_ERROR_ARGUMENT;
    rg_context *ctx = a->dev->ctx;
    if (n > a->rank || (n && !indices))
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "a view with %zu %s of an array of %zu axes", n,
                       n == 1 ? "index" : "indices", a->rank);
    size_t at = 0, step = a->bytes;
    for (size_t i = 0; i < n; i++) {
        if (indices[i] < 0 || indices[i] >= a->shape[i])
            return rg_fail(ctx, RG_ERROR_ARGUMENT,
                           "index %lld is outside axis %zu of the array, which has %lld elements",
                           (long long)indices[i], i, (long long)a->shape[i]);
        step /= (size_t)a->shape[i];
        at += (size_t)indices[i] * step;
    }
    rg_status s = make(a->dev, a->dtype, a->item_size, a->rank - n, a->shape + n, out);
    if (s != RG_OK)
        return s;
    (*out)->storage = a->storage;
    (*out)->begin = a->begin + at;
    a->storage->refs++;
    return RG_OK;
}

void rg_array_retain(rg_array *a) {
    a->handle.refs++;
}

void rg_array_drop(rg_array *a) {
    if (--a->handle.refs)
        return;
    rg_device *dev = a->dev;
    rg_context *ctx = dev->ctx;
    rg_context_retain(ctx); /* the device may be its last user but us */
    if (a->storage)
        storage_drop(a->storage);
    rg_device_drop(dev);
    rg_handle_free(ctx, &a->handle);
    rg_context_drop(ctx);
}

void rg_array_release(rg_array *a) {
    if (check(a) != RG_OK)
        return;
    a->handle.released = true;
    rg_array_drop(a);
}

size_t rg_array_rank(const rg_array *a) {
    return check(a) == RG_OK ? a->rank : 0;
}
const int64_t *rg_array_shape(const rg_array *a) {
    return check(a) == RG_OK ? a->shape : NULL;
}
rg_dtype rg_array_dtype(const rg_array *a) {
    return check(a) == RG_OK ? a->dtype : RG_DTYPE_STRUCT;
}
size_t rg_array_item_size(const rg_array *a) {
    return check(a) == RG_OK ? a->item_size : 0;
}
size_t rg_array_count(const rg_array *a) {
    return check(a) == RG_OK ? a->count : 0;
}
bool rg_array_has_gradient(const rg_array *a) {
    return check(a) == RG_OK && a->storage->part[RG_GRADIENT].at;
}

/* ---- access ---- */

/* Checks an access and waits for the launches before it. */
static rg_status access_begin(rg_array *a, rg_part part) {
    if (check(a) != RG_OK)
        return RG_ERROR_ARGUMENT;
    if (part != RG_DATA && part != RG_GRADIENT)
        return rg_fail(a->dev->ctx, RG_ERROR_ARGUMENT, "%d is no rg_part", (int)part);
    if (part == RG_GRADIENT && !rg_array_has_gradient(a))
        return rg_fail(a->dev->ctx, RG_ERROR_ARGUMENT, "the array has no gradient");
    rg_status s = a->dev->ops->sync(a->dev);
    return s == RG_OK ? rg_device_state(a->dev) : rg_device_stick(a->dev, s);
}

static rg_status access_whole(rg_array *a, rg_part part, const void *memory, size_t bytes) {
    rg_status s = access_begin(a, part);
    if (s != RG_OK)
        return s;
    if (bytes != a->bytes)
        return rg_fail(a->dev->ctx, RG_ERROR_ARGUMENT, "%zu bytes given: the array has %zu", bytes,
                       a->bytes);
    if (!memory && bytes)
        return rg_fail(a->dev->ctx, RG_ERROR_ARGUMENT, "the memory is null");
    return RG_OK;
}

static unsigned char *place(const rg_array *a, rg_part part) {
    return part == RG_DATA ? rg_array_data(a) : rg_array_grad(a);
}

rg_status rg_array_write(rg_array *a, rg_part part, const void *from, size_t bytes) {
    rg_status s = access_whole(a, part, from, bytes);
    if (s == RG_OK && part == RG_DATA)
        s = rg_array_before_write(a);
    if (s == RG_OK && bytes)
        s = rg_device_write(a->dev, place(a, part), from, bytes);
    if (s == RG_OK && part == RG_DATA)
        rg_array_wrote(a, RG_DEPENDS_CLEAR);
    return s;
}

rg_status rg_array_read(rg_array *a, rg_part part, void *to, size_t bytes) {
    rg_status s = access_whole(a, part, to, bytes);
    if (s == RG_OK && bytes)
        s = rg_device_read(a->dev, to, place(a, part), bytes);
    return s;
}

rg_status rg_array_fill_zero(rg_array *a, rg_part part) {
    rg_status s = access_begin(a, part);
    if (s == RG_OK && part == RG_DATA)
        s = rg_array_before_write(a);
    if (s == RG_OK && a->bytes)
        s = a->dev->ops->zero(a->dev, place(a, part), a->bytes);
    if (s == RG_OK && part == RG_DATA)
        rg_array_wrote(a, RG_DEPENDS_CLEAR);
    return s;
}

/* The host's copy of a part goes with the last map of it. */
static void see_no_more(rg_storage *s, rg_part part) {
    if (s->mapped[part])
        return;
    rg_ctx_free(s->dev->ctx, s->seen[part], s->bytes);
    s->seen[part] = NULL;
}

rg_status rg_array_map(rg_array *a, rg_part part, void **out) {
    rg_status s = access_begin(a, part);
    if (s != RG_OK)
        return s;
    if (!out)
        return rg_fail(a->dev->ctx, RG_ERROR_ARGUMENT, "rg_array_map: out is null");
    *out = NULL;
    if (part == RG_DATA && (s = rg_array_before_write(a)) != RG_OK)
        return s;
    rg_storage *g = a->storage;
    if (a->dev->ops->read) {
        if (!g->seen[part] && (g->seen[part] = rg_ctx_alloc(a->dev->ctx, g->bytes)) == NULL)
            return RG_ERROR_MEMORY;
        if (!g->mapped[part] && g->bytes)
            s = rg_device_read(a->dev, g->seen[part], g->part[part].at, g->bytes);
        if (s != RG_OK) {
            see_no_more(g, part);
            return s;
        }
    }
    g->mapped[part]++;
    *out = a->dev->ops->read ? (unsigned char *)g->seen[part] + a->begin : place(a, part);
    return RG_OK;
}

rg_status rg_array_unmap(rg_array *a, rg_part part) {
    if (check(a) != RG_OK)
        return RG_ERROR_ARGUMENT;
    if ((part != RG_DATA && part != RG_GRADIENT) || !a->storage->mapped[part])
        return rg_fail(a->dev->ctx, RG_ERROR_STATE, "rg_array_unmap: that part is not mapped");
    /* A record made while it was mapped may have taken hold of it. */
    rg_status s = part == RG_DATA ? rg_array_before_write(a) : RG_OK;
    if (s != RG_OK)
        return s;
    rg_storage *g = a->storage;
    if (g->seen[part] && a->bytes)
        s = rg_device_write(a->dev, place(a, part), (unsigned char *)g->seen[part] + a->begin,
                            a->bytes);
    if (s != RG_OK)
        return s;
    g->mapped[part]--;
    see_no_more(g, part);
    if (part == RG_DATA)
        rg_array_wrote(a, RG_DEPENDS_KEEP);
    return RG_OK;
}

rg_status rg_array_touch(rg_array *a) {
    if (check(a) != RG_OK)
        return RG_ERROR_ARGUMENT;
    /* What a tape holds has changed already: its copy would be of the new values. So the hold stays
     * as it is, with the old version, and the backward launch finds that out. */
    if (!storage_reserve(a->storage))
        return RG_ERROR_MEMORY;
    if (a->storage->wrapped)
        for (rg_storage *o = a->dev->wrapped; o; o = o->next_wrapped)
            if (!storage_reserve(o))
                return RG_ERROR_MEMORY;
    rg_array_wrote(a, RG_DEPENDS_KEEP);
    return RG_OK;
}

rg_status rg_detach(rg_array *a) {
    if (check(a) != RG_OK)
        return RG_ERROR_ARGUMENT;
    rg_storage *s = a->storage;
    size_t end = a->begin + a->bytes;
    /* Versions stay: only the mark goes. Spans that reach past the array are split. */
    for (size_t i = span_find(s, a->begin); i < s->nspans && s->spans[i].begin < end; i++) {
        rg_span old = s->spans[i];
        if (!old.depends)
            continue;
        if (!storage_reserve(s))
            return RG_ERROR_MEMORY;
        rg_span with[3];
        size_t n = 0;
        if (old.begin < a->begin)
            with[n++] = (rg_span){old.begin, a->begin, old.version, true};
        with[n++] = (rg_span){old.begin > a->begin ? old.begin : a->begin,
                              old.end < end ? old.end : end, old.version, false};
        if (old.end > end)
            with[n++] = (rg_span){end, old.end, old.version, true};
        memmove(s->spans + i + n, s->spans + i + 1, (s->nspans - i - 1) * sizeof *s->spans);
        memcpy(s->spans + i, with, n * sizeof *with);
        s->nspans += n - 1;
        i += n - 1;
    }
    return RG_OK;
}
