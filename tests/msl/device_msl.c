/* Devices for tests: what a kernel does on Metal behind MoltenVK, on the CPU. The tasks' SPIR-V is
 * translated to Metal by SPIRV-Cross and run by harness.c; the host's part is the runtime's own.
 *
 *     msl         addresses in the argument block
 *     msl-offset  offsets into one block that is bound as words
 *     msl-args    addresses, through Metal argument buffers
 *     msl-naive   addresses with plain loads: the form that old translators get wrong
 *
 * All memory comes from one region, which in offset mode is the block. */
#include "runtime/module.h"

#include "emit/spirv/emit_spirv.h"
#include "harness.h"
#include "runtime/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REGION = 256 << 20, ALIGN = 64, SIMD = 32, WORKGROUP = 64, MOST_GROUPS = 3, SLOTS = 31 };

typedef struct hole {
    size_t begin, end;
} hole;
typedef struct state {
    rg_device *dev;
    rg_arena *arena;
    rg_msl *msl;
    rg_msl_options translate;
    rg_spirv_caps caps;
    unsigned char *region;
    hole *holes; /* sorted, apart */
    uint32_t nholes, cap;
} state;

typedef struct program {
    struct program *next; /* in its module */
    state *s;
    rg_arena *arena;
    rg_program *p;
    const rg_fn *fn;
    rg_task_plan *plan;
    rg_task_layout **layouts;
    rg_msl_source *sources;
    msl_code *code; /* of all programs that were made ready together; the first one's own */
    uint32_t first; /* this one's first task there */
    bool owns;
    rg_walk *walk;
    unsigned char **at; /* [arrays.n] */
    uint64_t *bytes;    /* [arrays.n] */
    rg_memory *own;     /* [arrays.n] local arrays */
    rg_memory *saved;   /* [arrays.n] */
    rg_memory slots, saved_slots;
} program;

/* ---- memory ---- */

static rg_status take(state *s, size_t bytes, rg_memory *out) {
    size_t size = (bytes + 8 + ALIGN - 1) / ALIGN * ALIGN;
    for (uint32_t i = 0; i < s->nholes; i++) {
        hole *h = &s->holes[i];
        if (h->end - h->begin < size)
            continue;
        *out = (rg_memory){s->region + h->begin, s->region + h->begin, size};
        memset(out->at, 0, size);
        h->begin += size;
        if (h->begin == h->end) {
            memmove(h, h + 1, (s->nholes - i - 1) * sizeof *h);
            s->nholes--;
        }
        return RG_OK;
    }
    return rg_fail(s->dev->ctx, RG_ERROR_MEMORY, "the test device has no %zu bytes left", bytes);
}

static void put_back(state *s, rg_memory *m) {
    if (!m->base)
        return;
    size_t begin = (size_t)((unsigned char *)m->base - s->region), end = begin + m->base_size;
    *m = (rg_memory){NULL, NULL, 0};
    uint32_t i = 0;
    while (i < s->nholes && s->holes[i].begin < begin)
        i++;
    if (i && s->holes[i - 1].end == begin) {
        s->holes[i - 1].end = end;
        if (i < s->nholes && s->holes[i].begin == end) {
            s->holes[i - 1].end = s->holes[i].end;
            memmove(&s->holes[i], &s->holes[i + 1], (s->nholes - i - 1) * sizeof *s->holes);
            s->nholes--;
        }
        return;
    }
    if (i < s->nholes && s->holes[i].begin == end) {
        s->holes[i].begin = begin;
        return;
    }
    if (s->nholes == s->cap) {
        hole *more = realloc(s->holes, 2 * s->cap * sizeof *more);
        if (!more)
            return; /* the memory is lost, until the device is closed */
        s->holes = more;
        s->cap *= 2;
    }
    memmove(&s->holes[i + 1], &s->holes[i], (s->nholes - i) * sizeof *s->holes);
    s->holes[i] = (hole){begin, end};
    s->nholes++;
}

static rg_status device_alloc(rg_device *dev, size_t bytes, rg_memory *out) {
    return take(dev->state, bytes, out);
}

static void device_free(rg_device *dev, rg_memory *m) {
    put_back(dev->state, m);
}

/* ---- opening ---- */

static void describe(rg_context *ctx, rg_device_info *out) {
    (void)ctx;
    rg_arena *a = rg_arena_new(NULL);
    const char *why = "out of memory";
    rg_msl *m = a ? rg_msl_open(a, NULL, &why) : NULL;
    out->available = m != NULL;
    if (m)
        snprintf(out->description, sizeof out->description, "%.150s", rg_msl_version(m));
    else
        snprintf(out->why_not, sizeof out->why_not, "%.150s", why);
    rg_msl_close(m);
    rg_arena_free(a);
}

static void close_state(state *s) {
    if (!s)
        return;
    rg_msl_close(s->msl);
    if (s->region)
        munmap(s->region, REGION);
    free(s->holes);
    rg_arena_free(s->arena);
    free(s);
}

static rg_status open_form(rg_device *dev, rg_spirv_addressing addressing, bool args, bool naive) {
    state *s = calloc(1, sizeof *s);
    if (!s)
        return rg_fail_memory(dev->ctx);
    s->dev = dev;
    s->arena = rg_arena_new(NULL);
    s->holes = calloc(64, sizeof *s->holes);
    void *region = mmap(NULL, REGION, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s->region = region == MAP_FAILED ? NULL : region;
    if (!s->arena || !s->holes || !s->region) {
        close_state(s);
        return rg_fail_memory(dev->ctx);
    }
    s->cap = 64;
    s->nholes = 1;
    s->holes[0] = (hole){ALIGN, REGION};
    const char *why = NULL;
    s->msl = rg_msl_open(s->arena, NULL, &why);
    if (!s->msl) {
        rg_status st = rg_fail(dev->ctx, RG_ERROR_DEVICE, "%s", why);
        close_state(s);
        return st;
    }
    s->translate.argument_buffers = args;
    /* What MoltenVK says of an Apple GPU, but for float atomics where the translator is too old to
     * print them. */
    unsigned major = 0, minor = 0;
    sscanf(rg_msl_version(s->msl), "SPIRV-Cross C interface %u.%u", &major, &minor);
    s->caps = (rg_spirv_caps){.version = 0x00010300,
                              .addressing = addressing,
                              .i64 = true,
                              .i16 = true,
                              .i8 = true,
                              .atomic_f32_add = minor >= 60,
                              .signed_zero_inf_nan = true,
                              .subgroup_add = true,
                              .workgroup = WORKGROUP,
                              .blocks = 1,
                              .naive_loads = naive};
    dev->state = s;
    return RG_OK;
}

static rg_status open_address(rg_device *dev) {
    return open_form(dev, RG_SPIRV_ADDRESS, false, false);
}
static rg_status open_offset(rg_device *dev) {
    return open_form(dev, RG_SPIRV_OFFSET, false, false);
}
static rg_status open_args(rg_device *dev) {
    return open_form(dev, RG_SPIRV_ADDRESS, true, false);
}
static rg_status open_naive(rg_device *dev) {
    return open_form(dev, RG_SPIRV_ADDRESS, false, true);
}

static void close_device(rg_device *dev) {
    close_state(dev->state);
}

/* ---- programs ---- */

static void program_free(program *g) {
    if (g->owns)
        msl_code_free(g->code);
    rg_arena_free(g->arena);
}

/* Everything but the code. d outlives a throw: an emitter may find too many errors. */
static rg_status fill(program *g, rg_diags *d) {
    state *s = g->s;
    rg_context *ctx = s->dev->ctx;
    rg_arena *a = g->arena;
    rg_program *p = g->p;
    rg_unit *unit = p->kernel->module->unit;
    const rg_fn *f = g->fn = p->fn;
    g->plan = rg_tasks_plan(a, f);
    uint32_t n = g->plan->tasks.n;
    rg_spirv_options o = {.caps = s->caps};
    rg_spirv_module *m = rg_emit_spirv(a, f, g->plan, &o, d);
    if (!m || d->errors)
        return rg_refuse(ctx, d, unit->arena, RG_ERROR_REFUSED);
    const char *fix = getenv("RETROGRAD_MSL_FIX");
    void *fixed = NULL;
    size_t size = m->count * 4;
    if (fix && *fix) {
        /* what `retrograd spirv fix` makes of it: for the naive form */
        if (rg_spirv_fix(m->words, size, NULL, &fixed, &size, NULL) != RG_OK)
            return rg_fail(ctx, RG_ERROR_INTERNAL, "the module could not be repaired");
        m->words = memcpy(rg_alloc(a, size), fixed, size);
        m->count = size / 4;
        rg_spirv_free(NULL, fixed);
    }
    g->layouts = RG_NEW_N(a, rg_task_layout *, n + 1);
    g->sources = RG_NEW_N(a, rg_msl_source, n + 1);
    for (uint32_t t = 0; t < n; t++) {
        const char *why = NULL;
        g->layouts[t] = rg_task_layout_make(a, f, &g->plan->tasks.at[t]);
        if (!rg_msl_translate(s->msl, a, m->words, m->count, rg_format(a, "task%u", t),
                              &s->translate, &g->sources[t], &why))
            return rg_fail(ctx, RG_ERROR_COMPILER, "task %u of '%s': %s", t, f->name, why);
        if (g->sources[t].slots > SLOTS)
            return rg_fail(ctx, RG_ERROR_COMPILER, "task %u of '%s' needs %u buffer slots", t,
                           f->name, g->sources[t].slots);
    }
    g->at = RG_NEW_N(a, unsigned char *, f->arrays.n + 1);
    g->bytes = RG_NEW_N(a, uint64_t, f->arrays.n + 1);
    g->own = RG_NEW_N(a, rg_memory, f->arrays.n + 1);
    g->saved = RG_NEW_N(a, rg_memory, f->arrays.n + 1);
    return RG_OK;
}

static const rg_walk_ops walk_ops;

static rg_status prepare_one(rg_device *dev, rg_program *p, program **out) {
    *out = NULL;
    rg_arena *a = rg_arena_new(NULL);
    if (!a)
        return rg_fail_memory(dev->ctx);
    rg_module *m = p->kernel->module;
    rg_arena *volatile where = a;
    rg_diags d = {.arena = a, .sources = m->unit->sources};
    int thrown = RG_GUARD(a);
    if (!thrown && (thrown = RG_GUARD(m->unit->arena)) != 0)
        where = m->unit->arena;
    if (!thrown && p->variant && (thrown = RG_GUARD(p->variant->arena)) != 0)
        where = p->variant->arena;
    volatile rg_status s = RG_OK;
    if (thrown == RG_THROW_ERRORS) {
        s = rg_refuse(dev->ctx, &d, m->unit->arena, RG_ERROR_REFUSED);
    } else if (thrown) {
        s = rg_fail_thrown(dev->ctx, where, thrown);
    } else {
        program *g = RG_NEW(a, program);
        *g = (program){.s = dev->state, .arena = a, .p = p};
        s = fill(g, &d);
        if (s == RG_OK) {
            g->walk = rg_walk_new(a, g->fn, g->plan, &walk_ops, g);
            *out = g;
        }
    }
    if (s != RG_OK)
        rg_arena_free(a);
    return s;
}

/* One run of the compiler for all programs of the list. */
static rg_status compile(rg_device *dev, program *list) {
    rg_arena *a = list->arena;
    if (RG_GUARD(a))
        return rg_fail_memory(dev->ctx);
    RG_VEC(rg_msl_source) all = {0};
    for (program *g = list; g; g = g->next) {
        g->first = all.n;
        for (uint32_t t = 0; t < g->plan->tasks.n; t++)
            RG_PUSH(a, &all, g->sources[t]);
    }
    const char *why = NULL;
    msl_code *code = msl_code_new(a, all.at, all.n, &why);
    if (!code)
        return rg_fail(dev->ctx, RG_ERROR_COMPILER, "%s", why);
    for (program *g = list; g; g = g->next) {
        g->code = code;
        g->owns = g == list;
        g->p->entry = g;
        g->p->ready = true;
    }
    return RG_OK;
}

static rg_status prepare(rg_device *dev, rg_program *const *p, uint32_t n) {
    rg_status s = RG_OK;
    program *list = NULL, *last = NULL;
    for (uint32_t i = 0; i < n && s == RG_OK; i++) {
        program *g = NULL;
        if (p[i]->ready)
            continue;
        s = prepare_one(dev, p[i], &g);
        if (!g)
            continue;
        if (last)
            last->next = g;
        else
            list = g;
        last = g;
    }
    if (list && s == RG_OK)
        s = compile(dev, list);
    if (s != RG_OK) {
        for (program *g = list, *next; g; g = next) {
            next = g->next;
            program_free(g);
        }
    } else if (list) {
        rg_module *m = list->p->kernel->module;
        last->next = m->code;
        m->code = list;
    }
    return s;
}

static void unload(rg_device *dev, void *list) {
    (void)dev;
    for (program *g = list, *next; g; g = next) {
        next = g->next;
        program_free(g);
    }
}

/* ---- the walker's calls ---- */

static uint64_t reference(const program *g, const unsigned char *at) {
    if (!at)
        return 0;
    return g->s->caps.addressing == RG_SPIRV_OFFSET ? (uint64_t)(at - g->s->region)
                                                    : (uint64_t)(uintptr_t)at;
}

static void put(unsigned char *block, uint32_t at, uint64_t v) {
    if (at != UINT32_MAX)
        memcpy(block + at, &v, sizeof v);
}

/* Everything but scratch. */
static rg_status fill_block(program *g, uint32_t t, unsigned char *block) {
    const rg_task *task = &g->plan->tasks.at[t];
    const rg_task_layout *l = g->layouts[t];
    put(block, l->slots32, reference(g, g->slots.at));
    put(block, l->slots64, reference(g, g->slots.at));
    put(block, l->slots_f32, reference(g, g->slots.at));
    put(block, l->slots_f64, reference(g, g->slots.at));
    rg_status s = RG_OK;
    rg_const c;
    if (task->parallel) {
        uint32_t ranges = (uint32_t)rg_ins_at(g->fn, task->parallel)->imm.i;
        for (uint32_t k = 0; k < 2 * ranges && s == RG_OK; k++) {
            s = rg_walk_value(g->walk, rg_operand(g->fn, task->parallel, k), &c);
            put(block, l->ranges + 8 * k, (uint64_t)c.i);
        }
    }
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        rg_aid a = task->arrays.at[k];
        put(block, l->array[k], reference(g, g->at[a]));
        put(block, l->words32[k], reference(g, g->at[a]));
        put(block, l->words64[k], reference(g, g->at[a]));
        for (uint32_t x = 0; x < rg_array_at(g->fn, a)->rank; x++)
            put(block, l->extents[k] + 8 * x, (uint64_t)g->walk->extents[a][x]);
    }
    for (uint32_t k = 0; k < task->host_inputs.n && s == RG_OK; k++) {
        rg_val v = task->host_inputs.at[k];
        s = rg_walk_value(g->walk, v, &c);
        if (s == RG_OK)
            put(block, l->input[k], rg_walk_bits(rg_type_of(g->fn, v), c));
    }
    return s;
}

static rg_status run_task(program *g, uint32_t t, uint64_t iterations, unsigned char *block,
                          rg_memory *columns) {
    const rg_task *task = &g->plan->tasks.at[t];
    const rg_task_layout *l = g->layouts[t];
    const rg_msl_source *source = &g->sources[t];
    uint64_t per = source->workgroup[0];
    uint64_t groups = task->parallel ? (iterations + per - 1) / per : 1;
    if (groups > MOST_GROUPS)
        groups = MOST_GROUPS; /* the rest is strided over */
    rg_status s = fill_block(g, t, block);
    for (uint32_t k = 0, c = 0; k < task->scratch.n && s == RG_OK; k++) {
        const rg_task_scratch *x = &task->scratch.at[k];
        uint64_t room = g->walk->scratch[t][k];
        put(block, l->capacity[k], room);
        for (uint32_t j = 0; j < rg_array_at(g->fn, x->array)->elem->nleaves && s == RG_OK; j++) {
            uint64_t size = rg_task_column_size(g->fn, x, j) * room * groups * per;
            s = take(g->s, (size_t)size, &columns[c]);
            put(block, l->column[k] + 8 * j, reference(g, columns[c].at));
            c++;
        }
    }
    if (s != RG_OK)
        return s;
    void *buffers[SLOTS + 1] = {NULL}, *table[16] = {NULL};
    for (uint32_t i = 0; i < source->bindings.n; i++) {
        const rg_msl_binding *b = &source->bindings.at[i];
        void *what = b->binding == 0 ? (void *)block : g->s->region;
        if (b->at >= SLOTS || (g->s->translate.argument_buffers && b->at >= 16))
            continue;
        if (g->s->translate.argument_buffers) {
            table[b->at] = what;
            buffers[b->set] = table;
        } else {
            buffers[b->at] = what;
        }
    }
    const char *why = NULL;
    if (!msl_code_run(g->code, g->first + t, buffers, (uint32_t)groups, SIMD, &why))
        return rg_fail(g->s->dev->ctx, RG_ERROR_DEVICE, "task %u: %s", t, why);
    return RG_OK;
}

static rg_status dispatch(void *user, uint32_t t, uint64_t iterations) {
    program *g = user;
    const rg_task *task = &g->plan->tasks.at[t];
    uint32_t n = 0;
    for (uint32_t k = 0; k < task->scratch.n; k++)
        n += rg_array_at(g->fn, task->scratch.at[k].array)->elem->nleaves;
    rg_memory *columns = calloc(n + 1, sizeof *columns);
    unsigned char *block = calloc(1, g->layouts[t]->size + 16);
    rg_status s = columns && block ? run_task(g, t, iterations, block, columns)
                                   : rg_fail_memory(g->s->dev->ctx);
    for (uint32_t k = 0; k < n && columns; k++)
        put_back(g->s, &columns[k]);
    free(columns);
    free(block);
    return s;
}

static rg_status alloc_array(void *user, rg_aid a, uint64_t bytes, uint64_t keep, bool zero) {
    program *g = user;
    rg_memory m;
    rg_status s = take(g->s, (size_t)bytes, &m);
    if (s != RG_OK)
        return s;
    if (!zero) /* whoever reads it before writing finds out */
        memset(m.at, 0xff, (size_t)bytes);
    if (keep)
        memcpy(m.at, g->at[a], (size_t)(keep < bytes ? keep : bytes));
    put_back(g->s, &g->own[a]);
    g->own[a] = m;
    g->at[a] = m.at;
    g->bytes[a] = bytes;
    return RG_OK;
}

static rg_status copy_array(void *user, rg_aid to, uint64_t to_at, rg_aid from, uint64_t from_at,
                            uint64_t bytes) {
    program *g = user;
    memmove(g->at[to] + to_at, g->at[from] + from_at, (size_t)bytes);
    return RG_OK;
}

static rg_status read_slot(void *user, uint32_t slot, uint64_t *bits) {
    program *g = user;
    memcpy(bits, g->slots.at + 8 * (size_t)slot, 8);
    return RG_OK;
}

static rg_status write_slot(void *user, uint32_t slot, uint64_t bits) {
    program *g = user;
    memcpy(g->slots.at + 8 * (size_t)slot, &bits, 8);
    return RG_OK;
}

static rg_status copy_slot(void *user, uint32_t to, uint32_t from) {
    program *g = user;
    memcpy(g->slots.at + 8 * (size_t)to, g->slots.at + 8 * (size_t)from, 8);
    return RG_OK;
}

static void drop(void *user, uint32_t t) {
    program *g = user;
    (void)t;
    for (uint32_t a = 1; a < g->fn->arrays.n; a++)
        put_back(g->s, &g->saved[a]);
    put_back(g->s, &g->saved_slots);
}

static rg_status keep(program *g, rg_memory *saved, const unsigned char *at, uint64_t bytes) {
    rg_status s = take(g->s, (size_t)bytes, saved);
    if (s == RG_OK && bytes)
        memcpy(saved->at, at, (size_t)bytes);
    return s;
}

static rg_status save(void *user, uint32_t t) {
    program *g = user;
    const rg_task *task = &g->plan->tasks.at[t];
    rg_status s = keep(g, &g->saved_slots, g->slots.at, 8ull * g->walk->nslots);
    for (uint32_t k = 0; k < task->arrays.n && s == RG_OK; k++)
        if (task->array_use.at[k] & RG_TASK_WRITE) {
            rg_aid a = task->arrays.at[k];
            s = keep(g, &g->saved[a], g->at[a], g->bytes[a]);
        }
    return s;
}

static rg_status restore(void *user, uint32_t t) {
    program *g = user;
    const rg_task *task = &g->plan->tasks.at[t];
    memcpy(g->slots.at, g->saved_slots.at, 8 * (size_t)g->walk->nslots);
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        rg_aid a = task->arrays.at[k];
        /* What has grown since is as long as it was, and more. */
        uint64_t room = g->saved[a].base ? g->saved[a].base_size : 0;
        uint64_t n = room < g->bytes[a] ? room : g->bytes[a];
        if (n)
            memcpy(g->at[a], g->saved[a].at, (size_t)n);
    }
    return RG_OK;
}

static rg_status walk_fail(void *user, rg_status s, rg_loc loc, const char *words) {
    program *g = user;
    rg_unit *unit = g->p->kernel->module->unit;
    return rg_fail(g->s->dev->ctx, s, "%s:%u: %s", g->fn->name, rg_sources_line(unit->sources, loc),
                   words);
}

static const rg_walk_ops walk_ops = {.dispatch = dispatch,
                                     .alloc = alloc_array,
                                     .copy = copy_array,
                                     .read_slot = read_slot,
                                     .write_slot = write_slot,
                                     .copy_slot = copy_slot,
                                     .save = save,
                                     .restore = restore,
                                     .drop = drop,
                                     .fail = walk_fail};

/* ---- launching ---- */

static rg_status launch(rg_device *dev, rg_program *p, const rg_binding *args) {
    program *g = p->entry;
    state *s = dev->state;
    static const int64_t one[1] = {1}; /* a scalar's gradient has one element */
    for (uint32_t i = 0; i < p->npointers; i++) {
        const rg_pointer *q = &p->pointers[i];
        const rg_binding *b = &args[q->param];
        const rg_ir_array *x = rg_array_at(g->fn, q->array);
        const int64_t *shape = b->shape ? b->shape : one;
        g->at[q->array] = rg_pointer_at(q, b);
        g->bytes[q->array] = x->elem->size;
        for (uint32_t k = 0; k < x->rank; k++) {
            g->walk->extents[q->array][k] = shape[k];
            g->bytes[q->array] *= (uint64_t)shape[k];
        }
    }
    for (uint32_t i = 0; i < p->kernel->nparams; i++)
        p->scalars[i] = args[i].value;
    g->walk->scalars = p->scalars;
    rg_status st = take(s, 8 * (size_t)g->walk->nslots, &g->slots);
    if (st == RG_OK)
        st = rg_walk_run(g->walk);
    put_back(s, &g->slots);
    for (uint32_t a = 1; a < g->fn->arrays.n; a++)
        put_back(s, &g->own[a]);
    return st;
}

static rg_status sync_device(rg_device *dev) {
    (void)dev;
    return RG_OK;
}

#define MSL_DEVICE(device_name, device_open)                                                       \
    {                                                                                              \
        .name = device_name, .describe = describe, .open = device_open, .close = close_device,     \
        .alloc = device_alloc, .free = device_free, .copy = rg_host_copy, .zero = rg_host_zero,    \
        .prepare = prepare, .launch = launch, .sync = sync_device, .unload = unload                \
    }
static const rg_device_ops msl = MSL_DEVICE("msl", open_address);
static const rg_device_ops msl_offset = MSL_DEVICE("msl-offset", open_offset);
static const rg_device_ops msl_args = MSL_DEVICE("msl-args", open_args);
static const rg_device_ops msl_naive = MSL_DEVICE("msl-naive", open_naive);

/* device.c looks here for devices that are no part of the library. */
const rg_device_ops *const rg_devices_more[] = {&msl, &msl_offset, &msl_args, &msl_naive, NULL};
