/* Memory of the interpreter.
 *
 * An array id has one instance at a time, because parallel iterations run one after another: a
 * local's buffer is used again by the next alloc of the same array, so a million allocs in a loop
 * take the memory of the largest. Memory that alloc leaves undefined is filled with NaNs (and, as
 * integers, numbers that are no index), so that a use of it shows.
 *
 * Races: a hash table, keyed by the address of the scalar touched, remembers for each of the four
 * ways to touch it (read or write, plain or atomic) two different iterations that did: two are
 * enough to name one that is not the current iteration. Keying by address also finds races through
 * two parameters that are bound to the same memory. */
#include "ir/interp_memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than this for locals is reported instead of asked from the system, which might grant it and
 * kill the process at first use. */
static const size_t MAX_LOCAL_BYTES = (size_t)1 << 33;

typedef enum touch_kind { PLAIN_WRITE, ATOMIC_WRITE, PLAIN_READ, ATOMIC_READ, N_TOUCH } touch_kind;

typedef struct rg_imem_touch {
    uint64_t key;
    uint64_t parallel;       /* entry belongs to this one */
    uint64_t by[N_TOUCH][2]; /* 1 + iteration; 0: none */
} touch;

/* ---- faults ---- */

bool rg_imem_fault(rg_imem *m, rg_loc loc, const char *fmt, ...) {
    if (m->faulted)
        return false;
    m->faulted = true;
    m->loc = loc;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(m->message, sizeof m->message, fmt, ap);
    va_end(ap);
    return false;
}

static const char *array_name(const rg_imem *m, rg_aid a) {
    const char *name = m->f->arrays.at[a].name;
    return name && *name ? name : "an array";
}

/* "x[3][4].m[1]": where byte offset `at`, the start of the given leaf, lies. */
static void place_name(const rg_imem *m, rg_aid id, const rg_leaf *leaf, size_t at, char *out,
                       size_t size) {
    const rg_array *a = &m->f->arrays.at[id];
    size_t n = 0, element = a->elem->size ? at / a->elem->size : 0;
    size_t unit = 1;
    for (uint32_t k = 1; k < a->rank; k++)
        unit *= (size_t)m->arrays[id].extents[k];
    n += (size_t)snprintf(out, size, "%.80s", array_name(m, id));
    for (uint32_t k = 0; k < a->rank && n < size; k++) {
        n += (size_t)snprintf(out + n, size - n, "[%zu]", element / unit);
        element %= unit;
        if (k + 1 < a->rank)
            unit /= (size_t)m->arrays[id].extents[k + 1];
    }
    int64_t rest = a->elem->size ? (int64_t)(at % a->elem->size) - leaf->offset : 0;
    uint32_t d = 0;
    for (const char *s = leaf->path; *s && n + 1 < size; s++) {
        if (*s == '%' && d < leaf->ndims) {
            n += (size_t)snprintf(out + n, size - n, "%" PRId64, rest / leaf->strides[d]);
            rest %= leaf->strides[d++];
        } else {
            out[n++] = *s;
            out[n] = '\0';
        }
    }
}

static void int_text(rg_type t, int64_t v, char out[24]) {
    if (t == RG_U64)
        snprintf(out, 24, "%" PRIu64, (uint64_t)v);
    else
        snprintf(out, 24, "%" PRId64, v);
}

/* "7", or "(1, 7)" in a parallel of several ranges. */
static void iteration_name(const rg_imem *m, uint64_t iteration, char out[80]) {
    char iv[3][24];
    for (uint32_t k = m->ranges; k-- > 0;) {
        uint64_t at = (uint64_t)m->lo[k] + iteration % m->count[k];
        int_text(m->range_type, (int64_t)at, iv[k]);
        iteration /= m->count[k];
    }
    if (m->ranges == 1)
        snprintf(out, 80, "%s", iv[0]);
    else if (m->ranges == 2)
        snprintf(out, 80, "(%s, %s)", iv[0], iv[1]);
    else
        snprintf(out, 80, "(%s, %s, %s)", iv[0], iv[1], iv[2]);
}

/* ---- buffers ---- */

static void *libc_resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

void *rg_imem_resize(rg_imem *m, void *old, size_t old_size, size_t size) {
    if (!old && size == 0)
        return NULL;
    return m->allocator.resize(m->allocator.user, old, old_size, size);
}

/* Bytes of an array with these extents, false when no object is that large. */
static bool bytes_of(const rg_elem *e, const int64_t *extents, uint32_t rank, size_t *out) {
    const size_t most = PTRDIFF_MAX;
    size_t n = e->size;
    bool large = false;
    for (uint32_t k = 0; k < rank; k++) {
        if (extents[k] == 0) {
            *out = 0;
            return true;
        }
        if ((uint64_t)extents[k] > most || n > most / (size_t)extents[k])
            large = true;
        else
            n *= (size_t)extents[k];
    }
    *out = n;
    return !large;
}

static void fill(const rg_imem *m, rg_aid id, size_t from, size_t to) {
    static const uint32_t garbage = 0x7ffa5a5au; /* NaN as f32, and twice as f64 */
    const rg_imem_array *s = &m->arrays[id];
    if (from >= to)
        return;
    if (m->f->arrays.at[id].flags & RG_ARR_ZERO) {
        memset(s->data + from, 0, to - from);
    } else if (s->words) {
        for (size_t k = from; k < to; k += sizeof garbage)
            memcpy(s->data + k, &garbage, sizeof garbage);
    } else {
        memset(s->data + from, 0xff, to - from);
    }
}

/* Makes room for `bytes`; the old contents stay when `keep`. */
static bool reserve(rg_imem *m, rg_aid id, size_t bytes, bool keep, rg_loc loc) {
    rg_imem_array *s = &m->arrays[id];
    if (bytes <= s->capacity)
        return true;
    size_t want = keep && bytes < s->capacity * 2 ? s->capacity * 2 : bytes;
    if (want > MAX_LOCAL_BYTES || m->local_bytes - s->capacity > MAX_LOCAL_BYTES - want)
        return rg_imem_fault(m, loc, "out of memory: local array %.80s of %zu bytes",
                             array_name(m, id), bytes);
    m->local_bytes -= s->capacity;
    if (!keep) {
        rg_imem_resize(m, s->data, s->capacity, 0);
        s->data = NULL;
        s->capacity = 0;
    }
    unsigned char *data = rg_imem_resize(m, s->data, s->capacity, want);
    if (!data) {
        m->local_bytes += s->capacity;
        return rg_imem_fault(m, loc, "out of memory: local array %.80s of %zu bytes",
                             array_name(m, id), bytes);
    }
    s->data = data;
    s->capacity = want;
    m->local_bytes += want;
    return true;
}

/* RG_ARR_GROW: makes its axis at least n long. */
static bool grow(rg_imem *m, rg_aid id, int64_t n, rg_loc loc) {
    rg_imem_array *s = &m->arrays[id];
    const rg_elem *e = m->f->arrays.at[id].elem;
    size_t bytes;
    if (n <= s->extents[0])
        return true;
    if (!bytes_of(e, &n, 1, &bytes))
        return rg_imem_fault(m, loc,
                             "out of memory: local array %.80s grows to %" PRId64 " elements",
                             array_name(m, id), n);
    if (!reserve(m, id, bytes, true, loc))
        return false;
    fill(m, id, (size_t)s->extents[0] * e->size, bytes);
    s->extents[0] = n;
    return true;
}

static bool small_float(const rg_elem *e) {
    for (uint32_t k = 0; k < e->nleaves; k++)
        if (e->leaves[k].mem == RG_M_F16)
            return true;
    return false;
}

static bool init_argument(rg_imem *m, rg_aid id) {
    const rg_array *a = &m->f->arrays.at[id];
    rg_imem_array *s = &m->arrays[id];
    const rg_interp_array *arg = m->args->arrays ? &m->args->arrays[id] : NULL;
    if (!arg || (a->rank && !arg->extents))
        return true; /* a fault only if it is used */
    for (uint32_t k = 0; k < a->rank; k++) {
        s->extents[k] = arg->extents[k];
        if (s->extents[k] < 0)
            return rg_imem_fault(m, a->loc, "extent %" PRId64 " of array %.80s (axis %u)",
                                 s->extents[k], array_name(m, id), k);
    }
    size_t bytes;
    if (!bytes_of(a->elem, s->extents, a->rank, &bytes))
        return rg_imem_fault(m, a->loc, "array %.80s is too large", array_name(m, id));
    s->data = arg->data;
    s->key = (uint64_t)(uintptr_t)arg->data;
    s->live = true;
    return true;
}

bool rg_imem_init(rg_imem *m, const rg_fn *f, const rg_interp_args *args) {
    *m = (rg_imem){.f = f, .args = args, .allocator = {libc_resize, NULL}};
    if (args->allocator && args->allocator->resize)
        m->allocator = *args->allocator;
    for (uint32_t k = 1; k < f->arrays.n; k++)
        m->n_extents += f->arrays.at[k].rank;
    m->vals = rg_imem_resize(m, NULL, 0, (f->vals.n + 1) * sizeof *m->vals);
    m->arrays = rg_imem_resize(m, NULL, 0, (f->arrays.n + 1) * sizeof *m->arrays);
    m->extents = rg_imem_resize(m, NULL, 0, (m->n_extents + 1) * sizeof *m->extents);
    if (m->vals)
        memset(m->vals, 0, (f->vals.n + 1) * sizeof *m->vals);
    if (m->arrays)
        memset(m->arrays, 0, (f->arrays.n + 1) * sizeof *m->arrays);
    if (!m->vals || !m->arrays || !m->extents)
        return rg_imem_fault(m, f->loc, "out of memory");
    memset(m->extents, 0, (m->n_extents + 1) * sizeof *m->extents);
    int64_t *extents = m->extents;
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        const rg_array *a = &f->arrays.at[k];
        m->arrays[k].extents = extents;
        extents += a->rank;
        m->arrays[k].words = a->elem->align >= 4 && !small_float(a->elem);
        /* A local may move when it grows: it is known by its number, far from any address. */
        m->arrays[k].key = (uint64_t)1 << 63 | (uint64_t)k << 40;
        if (a->kind != RG_ARR_LOCAL && !init_argument(m, k))
            return false;
    }
    return true;
}

void rg_imem_free(rg_imem *m) {
    for (uint32_t k = 1; m->arrays && k < m->f->arrays.n; k++)
        if (m->arrays[k].capacity)
            rg_imem_resize(m, m->arrays[k].data, m->arrays[k].capacity, 0);
    rg_imem_resize(m, m->vals, (m->f->vals.n + 1) * sizeof *m->vals, 0);
    rg_imem_resize(m, m->arrays, (m->f->arrays.n + 1) * sizeof *m->arrays, 0);
    rg_imem_resize(m, m->extents, (m->n_extents + 1) * sizeof *m->extents, 0);
    rg_imem_resize(m, m->touched, m->touched_cap * sizeof *m->touched, 0);
}

/* ---- races ---- */

static touch *find_touch(touch *table, size_t cap, uint64_t key, uint64_t parallel) {
    uint64_t h = key * 0x9e3779b97f4a7c15u; /* Fibonacci hashing */
    for (size_t k = (size_t)(h >> 32) & (cap - 1);; k = (k + 1) & (cap - 1))
        if (table[k].parallel != parallel || table[k].key == key)
            return &table[k];
}

static touch *touch_of(rg_imem *m, uint64_t key) {
    if (m->touched_n * 2 >= m->touched_cap) {
        size_t cap = m->touched_cap ? m->touched_cap * 2 : 1024;
        touch *table = rg_imem_resize(m, NULL, 0, cap * sizeof *table);
        if (!table)
            return NULL;
        memset(table, 0, cap * sizeof *table);
        for (size_t k = 0; k < m->touched_cap; k++)
            if (m->touched[k].parallel == m->parallel)
                *find_touch(table, cap, m->touched[k].key, m->parallel) = m->touched[k];
        rg_imem_resize(m, m->touched, m->touched_cap * sizeof *table, 0);
        m->touched = table;
        m->touched_cap = cap;
    }
    touch *t = find_touch(m->touched, m->touched_cap, key, m->parallel);
    if (t->parallel != m->parallel) {
        *t = (touch){.key = key, .parallel = m->parallel};
        m->touched_n++;
    }
    return t;
}

static bool race_fault(rg_imem *m, rg_aid id, const rg_leaf *leaf, size_t at, rg_loc loc,
                       uint64_t other, touch_kind before, touch_kind now) {
    static const char *const did[N_TOUCH] = {"wrote", "atomically wrote", "read",
                                             "atomically read"};
    static const char *const does[N_TOUCH] = {"writes", "atomically writes", "reads",
                                              "atomically reads"};
    char place[256], first[80], second[80];
    place_name(m, id, leaf, at, place, sizeof place);
    iteration_name(m, other, first);
    iteration_name(m, m->iteration, second);
    return rg_imem_fault(m, loc, "race on %s: iteration %s %s it and iteration %s %s it", place,
                         first, did[before], second, does[now]);
}

static bool check_race(rg_imem *m, rg_aid id, const rg_leaf *leaf, size_t at, touch_kind now,
                       rg_loc loc) {
    static const bool conflict[N_TOUCH][N_TOUCH] = {
        [PLAIN_WRITE] = {true, true, true, true},
        [ATOMIC_WRITE] = {[PLAIN_WRITE] = true, [PLAIN_READ] = true},
        [PLAIN_READ] = {[PLAIN_WRITE] = true, [ATOMIC_WRITE] = true},
        [ATOMIC_READ] = {[PLAIN_WRITE] = true},
    };
    const rg_imem_array *s = &m->arrays[id];
    if (!m->args->races || !m->parallel ||
        (m->f->arrays.at[id].kind == RG_ARR_LOCAL && s->born == m->parallel))
        return true;
    touch *t = touch_of(m, s->key + at);
    if (!t)
        return rg_imem_fault(m, loc, "out of memory");
    uint64_t me = m->iteration + 1;
    for (int k = 0; k < N_TOUCH; k++)
        for (int w = 0; conflict[now][k] && w < 2; w++)
            if (t->by[k][w] && t->by[k][w] != me)
                return race_fault(m, id, leaf, at, loc, t->by[k][w] - 1, (touch_kind)k, now);
    if (!t->by[now][0])
        t->by[now][0] = me;
    else if (t->by[now][0] != me && !t->by[now][1])
        t->by[now][1] = me;
    return true;
}

/* How a read or write counts: an addto whose accumulation is not decided yet, or that may go to a
 * private copy, never conflicts with another one. */
static touch_kind write_kind(const rg_ins *i) {
    bool atomic =
        i->op == RG_RMW || (i->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE | RG_INS_ACCUM)) != 0;
    return atomic ? ATOMIC_WRITE : PLAIN_WRITE;
}

/* ---- accesses ---- */

static rg_const read_mem(rg_mem mem, const unsigned char *p) {
    rg_const v = {.i = 0};
    switch (mem) {
    case RG_M_BOOL:
        v.i = *p != 0;
        return v;
    case RG_M_I8:
        v.i = (int8_t)*p;
        return v;
    case RG_M_U8:
        v.i = *p;
        return v;
#define READ(M, T, field, expr)                                                                    \
    case M: {                                                                                      \
        T x;                                                                                       \
        memcpy(&x, p, sizeof x);                                                                   \
        v.field = expr;                                                                            \
        return v;                                                                                  \
    }
        READ(RG_M_I16, int16_t, i, x)
        READ(RG_M_U16, uint16_t, i, x)
        READ(RG_M_I32, int32_t, i, x)
        READ(RG_M_U32, uint32_t, i, x)
        READ(RG_M_I64, int64_t, i, x)
        READ(RG_M_U64, uint64_t, i, (int64_t)x)
        READ(RG_M_F16, uint16_t, f, (double)rg_half_to_float(x))
        READ(RG_M_F32, float, f, (double)x)
        READ(RG_M_F64, double, f, x)
#undef READ
    default:
        return v;
    }
}

static void write_mem(rg_mem mem, unsigned char *p, rg_const v) {
    switch (mem) {
    case RG_M_BOOL:
        *p = v.i != 0;
        return;
    case RG_M_I8:
    case RG_M_U8:
        *p = (unsigned char)v.i;
        return;
#define WRITE(M, T, expr)                                                                          \
    case M: {                                                                                      \
        T x = (T)(expr);                                                                           \
        memcpy(p, &x, sizeof x);                                                                   \
        return;                                                                                    \
    }
        WRITE(RG_M_I16, uint16_t, v.i)
        WRITE(RG_M_U16, uint16_t, v.i)
        WRITE(RG_M_I32, uint32_t, v.i)
        WRITE(RG_M_U32, uint32_t, v.i)
        WRITE(RG_M_I64, int64_t, v.i)
        WRITE(RG_M_U64, int64_t, v.i)
        WRITE(RG_M_F16, uint16_t, rg_half_from_float((float)v.f))
        WRITE(RG_M_F32, float, v.f)
        WRITE(RG_M_F64, double, v.f)
#undef WRITE
    default:
        return;
    }
}

static bool is_outside(rg_type t, int64_t v, int64_t extent) {
    return t == RG_U64 ? (uint64_t)v >= (uint64_t)extent : v < 0 || v >= extent;
}

static bool index_fault(rg_imem *m, const rg_ins *i, rg_aid id, const char *path, rg_type t,
                        int64_t v, int64_t extent, uint32_t axis) {
    char index[24];
    int_text(t, v, index);
    if (extent == 0)
        return rg_imem_fault(m, i->loc, "index %s of %.80s%.80s, which is empty (axis %u)", index,
                             array_name(m, id), path, axis);
    return rg_imem_fault(m, i->loc, "index %s of %.80s%.80s is outside 0..%" PRId64 " (axis %u)",
                         index, array_name(m, id), path, extent - 1, axis);
}

static bool check_live(rg_imem *m, const rg_ins *i, rg_aid id) {
    if (m->arrays[id].live)
        return true;
    bool local = m->f->arrays.at[id].kind == RG_ARR_LOCAL;
    return rg_imem_fault(m, i->loc,
                         local ? "local array %.80s is used before it is allocated"
                               : "array %.80s was not given",
                         array_name(m, id));
}

static bool check_data(rg_imem *m, const rg_ins *i, rg_aid id) {
    if (m->arrays[id].data)
        return true;
    return rg_imem_fault(m, i->loc, "array %.80s has no data", array_name(m, id));
}

/* Linear number of the element at the first n of the array's axes. */
static bool locate_axes(rg_imem *m, const rg_ins *i, rg_aid id, const uint32_t *idx, uint32_t n,
                        bool may_grow, size_t *out) {
    const rg_array *a = &m->f->arrays.at[id];
    const rg_imem_array *s = &m->arrays[id];
    size_t at = 0;
    if (!s->live && !check_live(m, i, id))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        int64_t v = m->vals[idx[k]].i;
        rg_type t = m->f->vals.at[idx[k]].type;
        if (is_outside(t, v, s->extents[k])) {
            if (!may_grow || !(a->flags & RG_ARR_GROW) || v < 0 || v == INT64_MAX)
                return index_fault(m, i, id, "", t, v, s->extents[k], k);
            if (!grow(m, id, v + 1, i->loc))
                return false;
        }
        at = at * (size_t)s->extents[k] + (size_t)v;
    }
    *out = at;
    return true;
}

/* The scalar that a memory instruction names. */
static unsigned char *locate(rg_imem *m, const rg_ins *i, bool may_grow, size_t *offset) {
    const rg_array *a = &m->f->arrays.at[i->array];
    const rg_leaf *leaf = &a->elem->leaves[i->leaf];
    const uint32_t *idx = &m->f->pool.at[i->opnd];
    size_t at;
    if (!locate_axes(m, i, i->array, idx, a->rank, may_grow, &at))
        return NULL;
    at = at * a->elem->size + leaf->offset;
    for (uint32_t d = 0; d < leaf->ndims; d++) {
        rg_val x = idx[a->rank + d];
        int64_t v = m->vals[x].i;
        rg_type t = m->f->vals.at[x].type;
        if (is_outside(t, v, leaf->dims[d])) {
            index_fault(m, i, i->array, leaf->path, t, v, leaf->dims[d], a->rank + d);
            return NULL;
        }
        at += (size_t)(v * leaf->strides[d]);
    }
    if (!m->arrays[i->array].data && !check_data(m, i, i->array))
        return NULL;
    *offset = at;
    return m->arrays[i->array].data + at;
}

bool rg_imem_scalar(rg_imem *m, const rg_ins *i, rg_const *out) {
    const rg_scalar *s = &m->f->scalars.at[i->imm.i];
    const unsigned char *p = m->args->scalars ? m->args->scalars[s->param] : NULL;
    if (!p)
        return rg_imem_fault(m, i->loc, "parameter %.80s has no value",
                             m->f->params.at[s->param].name);
    *out = read_mem(s->mem, p + s->offset);
    return true;
}

bool rg_imem_extent(rg_imem *m, const rg_ins *i, rg_const *out) {
    if (!check_live(m, i, i->array))
        return false;
    out->i = m->arrays[i->array].extents[i->imm.i];
    return true;
}

bool rg_imem_load(rg_imem *m, const rg_ins *i, rg_const *out) {
    const rg_leaf *leaf = rg_ins_leaf(m->f, i);
    size_t at;
    const unsigned char *p = locate(m, i, false, &at);
    if (!p || !check_race(m, i->array, leaf, at,
                          i->flags & RG_INS_ATOMIC ? ATOMIC_READ : PLAIN_READ, i->loc))
        return false;
    *out = read_mem(leaf->mem, p);
    return true;
}

bool rg_imem_store(rg_imem *m, const rg_ins *i) {
    const rg_leaf *leaf = rg_ins_leaf(m->f, i);
    size_t at;
    unsigned char *p = locate(m, i, true, &at);
    if (!p || !check_race(m, i->array, leaf, at, write_kind(i), i->loc))
        return false;
    write_mem(leaf->mem, p, m->vals[m->f->pool.at[i->opnd + i->nopnd - 1]]);
    return true;
}

bool rg_imem_addto(rg_imem *m, const rg_ins *i) {
    const rg_leaf *leaf = rg_ins_leaf(m->f, i);
    size_t at;
    unsigned char *p = locate(m, i, false, &at);
    if (!p || !check_race(m, i->array, leaf, at, write_kind(i), i->loc))
        return false;
    rg_const v = m->vals[m->f->pool.at[i->opnd + i->nopnd - 1]];
    v = rg_eval_red(RG_RED_ADD, rg_mem_value(leaf->mem), read_mem(leaf->mem, p), v);
    write_mem(leaf->mem, p, v);
    return true;
}

bool rg_imem_rmw(rg_imem *m, const rg_ins *i, rg_const *out) {
    const rg_leaf *leaf = rg_ins_leaf(m->f, i);
    size_t at;
    unsigned char *p = locate(m, i, false, &at);
    if (!p || !check_race(m, i->array, leaf, at, write_kind(i), i->loc))
        return false;
    rg_const old = read_mem(leaf->mem, p);
    rg_const v = m->vals[m->f->pool.at[i->opnd + i->nopnd - 1]];
    if (i->imm.i != RG_RED_SET)
        v = rg_eval_red((rg_red)i->imm.i, rg_mem_value(leaf->mem), old, v);
    write_mem(leaf->mem, p, v);
    *out = i->flags & RG_INS_CAPTURE_NEW ? read_mem(leaf->mem, p) : old;
    return true;
}

bool rg_imem_alloc(rg_imem *m, const rg_ins *i) {
    const rg_array *a = &m->f->arrays.at[i->array];
    rg_imem_array *s = &m->arrays[i->array];
    s->live = true;
    s->born = m->parallel;
    if (a->flags & RG_ARR_GROW) {
        s->extents[0] = 0;
        return true;
    }
    for (uint32_t k = 0; k < a->rank; k++) {
        s->extents[k] = m->vals[m->f->pool.at[i->opnd + k]].i;
        if (s->extents[k] < 0)
            return rg_imem_fault(m, i->loc, "extent %" PRId64 " of local array %.80s",
                                 s->extents[k], array_name(m, i->array));
    }
    size_t bytes;
    if (!bytes_of(a->elem, s->extents, a->rank, &bytes))
        return rg_imem_fault(m, i->loc, "local array %.80s is too large", array_name(m, i->array));
    if (!reserve(m, i->array, bytes, false, i->loc))
        return false;
    fill(m, i->array, 0, bytes);
    return true;
}

/* Every scalar of the n elements from `first` on, for the race table. */
static bool check_race_block(rg_imem *m, rg_aid id, size_t first, size_t n, touch_kind now,
                             rg_loc loc) {
    const rg_elem *e = m->f->arrays.at[id].elem;
    if (!m->args->races || !m->parallel)
        return true;
    for (size_t k = first; k < first + n; k++)
        for (uint32_t l = 0; l < e->nleaves; l++) {
            const rg_leaf *leaf = &e->leaves[l];
            size_t inner = 1;
            for (uint32_t d = 0; d < leaf->ndims; d++)
                inner *= (size_t)leaf->dims[d];
            for (size_t x = 0; x < inner; x++) {
                size_t at = k * e->size + leaf->offset, rest = x;
                for (uint32_t d = leaf->ndims; d-- > 0;) {
                    at += rest % (size_t)leaf->dims[d] * (size_t)leaf->strides[d];
                    rest /= (size_t)leaf->dims[d];
                }
                if (!check_race(m, id, leaf, at, now, loc))
                    return false;
            }
        }
    return true;
}

bool rg_imem_copy(rg_imem *m, const rg_ins *i) {
    const rg_array *to = &m->f->arrays.at[i->array], *from = &m->f->arrays.at[i->array2];
    rg_imem_array *t = &m->arrays[i->array], *s = &m->arrays[i->array2];
    const uint32_t *idx = &m->f->pool.at[i->opnd];
    uint32_t lead_to = to->rank > from->rank ? to->rank - from->rank : 0;
    uint32_t lead_from = from->rank > to->rank ? from->rank - to->rank : 0;
    uint32_t axes = to->rank - lead_to;
    size_t at_to, at_from, n = 1;
    if (!locate_axes(m, i, i->array2, idx, lead_from, false, &at_from) ||
        !locate_axes(m, i, i->array, idx, lead_to, true, &at_to))
        return false;
    /* A whole array that grows takes the length of what is copied into it. */
    if (to->flags & RG_ARR_GROW && axes == 1) {
        if (!grow(m, i->array, s->extents[lead_from], i->loc))
            return false;
        t->extents[0] = s->extents[lead_from];
    }
    for (uint32_t k = 0; k < axes; k++) {
        if (t->extents[lead_to + k] != s->extents[lead_from + k])
            return rg_imem_fault(m, i->loc,
                                 "copy of %.80s into %.80s: extents %" PRId64 " and %" PRId64
                                 " differ (axis %u)",
                                 array_name(m, i->array2), array_name(m, i->array),
                                 s->extents[lead_from + k], t->extents[lead_to + k], lead_to + k);
        n *= (size_t)t->extents[lead_to + k];
    }
    if (n == 0 || to->elem->size == 0)
        return true;
    if (!check_data(m, i, i->array) || !check_data(m, i, i->array2) ||
        !check_race_block(m, i->array2, at_from * n, n, PLAIN_READ, i->loc) ||
        !check_race_block(m, i->array, at_to * n, n, PLAIN_WRITE, i->loc))
        return false;
    memmove(t->data + at_to * n * to->elem->size, s->data + at_from * n * to->elem->size,
            n * to->elem->size);
    return true;
}
