/* The device `cpu`: the CPU form of emit/c, compiled by the system's C compiler, run by a thread
 * pool. A launch runs to its end before the call returns, which is one way to be asynchronous and
 * in order; its error is returned by the launch, and sticks until rg_sync.
 *
 * What one first use needs is compiled in one go: the variant that was asked for and the primals of
 * the module's other kernels, which will be wanted soon. */
#include "runtime/module.h"

#include "compile/debug.h"
#include "emit/c/emit_c.h"
#include "runtime/cc.h"
#include "runtime/pool.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_BATCH = 64
}; /* of primals compiled along: a file of more kernels is compiled in parts */

typedef struct code {
    struct code *next;
    void *handle;
} code;

static int cores(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > RG_POOL_MAX ? RG_POOL_MAX : (int)n;
}

static void describe(rg_context *ctx, rg_device_info *out) {
    (void)ctx;
    static const char machine[] =
#if defined(__x86_64__)
        "x86-64";
#elif defined(__aarch64__)
        "arm64";
#elif defined(__riscv)
        "riscv";
#elif defined(__powerpc64__)
        "ppc64";
#else
        "cpu";
#endif
    rg_arena *a = rg_arena_new(NULL);
    if (!a || RG_GUARD(a)) {
        rg_arena_free(a);
        snprintf(out->why_not, sizeof out->why_not, "out of memory");
        return;
    }
    const char *cc = getenv("CC"), *why = NULL;
    const char *version = rg_cc_version(a, cc && *cc ? cc : "cc", &why);
    out->available = version != NULL;
    if (version)
        snprintf(out->description, sizeof out->description, "%s, %d thread%s, %.*s", machine,
                 cores(), cores() == 1 ? "" : "s", (int)strcspn(version, "\n"), version);
    else
        snprintf(out->why_not, sizeof out->why_not, "%s", why);
    rg_arena_free(a);
}

static rg_status open_device(rg_device *dev) {
    if (dev->options.races)
        return rg_fail(dev->ctx, RG_ERROR_UNSUPPORTED,
                       "the cpu device does not look for races: the device 'ref' does");
    int threads = dev->options.threads;
    const char *env = getenv("RETROGRAD_THREADS");
    if (!threads && env && *env) {
        char *end;
        long n = strtol(env, &end, 10);
        if (*end || n < 1 || n > RG_POOL_MAX)
            return rg_fail(dev->ctx, RG_ERROR_ARGUMENT,
                           "RETROGRAD_THREADS is '%s': it must be a number from 1 to %d", env,
                           (int)RG_POOL_MAX);
        threads = (int)n;
    }
    dev->lanes = (uint32_t)(threads ? threads : cores());
    dev->state = rg_pool_new(&dev->ctx->allocator, (int)dev->lanes);
    if (dev->state && rg_debug_asked("split"))
        rg_pool_split(dev->state);
    return dev->state ? RG_OK : rg_fail_memory(dev->ctx);
}

static void close_device(rg_device *dev) {
    rg_pool_free(dev->state);
}

/* ---- compiling ---- */

static rg_status compile_batch(rg_device *dev, rg_arena *a, rg_program *const *p, uint32_t n) {
    rg_module *m = p[0]->kernel->module;
    const rg_fn **fns = RG_NEW_N(a, const rg_fn *, n);
    const char **names = RG_NEW_N(a, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        fns[i] = p[i]->fn;
        names[i] =
            rg_format(a, "rg_entry_%s_%s_%u", p[i]->kernel->fn->name, rg_mode_name(p[i]->mode), i);
    }
    /* No two gradients of a launch are one (record.c). */
    const rg_activity apart = {0}, **acts = RG_NEW_N(a, const rg_activity *, n);
    for (uint32_t i = 0; i < n; i++)
        acts[i] = &apart;
    rg_emit_c_options o = {.checked = dev->options.checked, .acts = acts};
    rg_text text = {.arena = a};
    rg_emit_c_cpu(fns, names, n, &o, &text);
    rg_debug_text("cpu", rg_text_str(&text));
    code *c = rg_ctx_alloc(dev->ctx, sizeof *c);
    if (!c)
        return RG_ERROR_MEMORY;
    /* Nothing below throws past rg_cc_load but that itself: hang the record up first. */
    c->next = m->code;
    m->code = c;
    rg_status s = rg_cc_load(dev, a, text.at, text.n, &c->handle);
    if (s != RG_OK)
        return s;
    void *entries[2 * MAX_BATCH];
    for (uint32_t i = 0; i < n; i++) {
        entries[i] = dlsym(c->handle, names[i]);
        if (!entries[i])
            return rg_fail(dev->ctx, RG_ERROR_INTERNAL, "the compiled kernel has no '%s'",
                           names[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        p[i]->entry = entries[i];
        p[i]->ready = true;
    }
    return RG_OK;
}

static rg_status prepare(rg_device *dev, rg_program *const *p, uint32_t n) {
    rg_program *batch[2 * MAX_BATCH];
    volatile uint32_t count = 0;
    rg_module *m = p[0]->kernel->module;
    for (uint32_t i = 0; i < n && count < MAX_BATCH; i++)
        if (!p[i]->ready)
            batch[count++] = p[i];
    uint32_t wanted = count;
    for (uint32_t i = 0; i < m->nkernels && count - wanted < MAX_BATCH; i++) {
        rg_program *q;
        bool known = false;
        if (m->kernels[i].primal && m->kernels[i].primal->ready)
            continue;
        rg_status s = rg_program_get(&m->kernels[i], RG_PRIMAL, NULL, &q);
        if (s != RG_OK)
            return s;
        for (uint32_t j = 0; j < wanted; j++)
            known |= batch[j] == q;
        if (!known)
            batch[count++] = q;
    }
    if (!count)
        return RG_OK;
    rg_arena *a = rg_arena_new(&dev->ctx->allocator);
    if (!a)
        return rg_fail_memory(dev->ctx);
    /* Emitting may throw in the arena of what it reads. */
    rg_arena *volatile where = a;
    int thrown = RG_GUARD(a);
    if (!thrown && (thrown = RG_GUARD(m->unit->arena)) != 0)
        where = m->unit->arena;
    for (volatile uint32_t i = 0; i < count && !thrown; i = i + 1)
        if (batch[i]->variant && (thrown = RG_GUARD(batch[i]->variant->arena)) != 0)
            where = batch[i]->variant->arena;
    rg_status s =
        thrown ? rg_fail_thrown(dev->ctx, where, thrown) : compile_batch(dev, a, batch, count);
    rg_arena_free(a);
    return s;
}

static void unload(rg_device *dev, void *list) {
    for (code *c = list, *next; c; c = next) {
        next = c->next;
        if (c->handle)
            dlclose(c->handle);
        rg_ctx_free(dev->ctx, c, sizeof *c);
    }
}

/* ---- running ---- */

static rg_status fault_words(rg_device *dev, const rg_program *p, rg_pool_fault f) {
    rg_context *ctx = dev->ctx;
    const char *kernel = p->kernel->fn->name, *name = f.name ? f.name : "?";
    long long a = f.a, b = f.b, c = f.c;
    switch (f.what) {
    case RG_CPU_FAULT_MEMORY:
        if (rg_mode_goes_back(p->mode) && (uint64_t)a > p->kernel->module->tape_memory)
            return rg_fail(ctx, RG_ERROR_MEMORY,
                           "%s:%d: the adjoint would save %lld bytes in '%s' for the steps of this "
                           "loop, but the tape memory is %llu bytes: put '#pragma retrograd "
                           "checkpoint' before the loop, or allow more (tape_memory, "
                           "--tape-memory)",
                           kernel, f.line, a, name,
                           (unsigned long long)p->kernel->module->tape_memory);
        return rg_fail(ctx, RG_ERROR_MEMORY, "%s:%d: out of memory: %lld bytes for '%s'", kernel,
                       f.line, a, name);
    case RG_CPU_FAULT_BOUNDS:
        return rg_fail(ctx, RG_ERROR_FAULT,
                       "%s:%d: index %lld is out of bounds: axis %lld of '%s' has %lld elements",
                       kernel, f.line, a, c, name, b);
    case RG_CPU_FAULT_DIVISION:
        return rg_fail(ctx, RG_ERROR_FAULT, "%s:%d: integer division %lld / %lld", kernel, f.line,
                       a, b);
    case RG_CPU_FAULT_SHIFT:
        return rg_fail(ctx, RG_ERROR_FAULT, "%s:%d: shift of %lld by %lld", kernel, f.line, a, b);
    case RG_CPU_FAULT_EXTENT:
        return rg_fail(ctx, RG_ERROR_FAULT, "%s:%d: array '%s' has a negative extent: %lld", kernel,
                       f.line, name, a);
    default:
        return rg_fail(ctx, RG_ERROR_INTERNAL, "%s:%d: the compiled kernel failed (%d)", kernel,
                       f.line, f.what);
    }
}

static rg_status launch(rg_device *dev, rg_program *p, const rg_binding *args) {
    unsigned char *block = p->block;
    const rg_layout *l = p->layout;
    for (uint32_t i = 0; i < p->npointers; i++) {
        const rg_pointer *q = &p->pointers[i];
        uint64_t at = (uintptr_t)rg_pointer_at(q, &args[q->param]);
        memcpy(block + q->offset, &at, sizeof at);
    }
    for (uint32_t i = 0; i < p->fn->params.n; i++) {
        const rg_param *q = &p->fn->params.at[i];
        if (l->param_extents[i] != UINT32_MAX && q->rank)
            memcpy(block + l->param_extents[i], args[i].shape, q->rank * sizeof(int64_t));
        if (l->param_value[i] != UINT32_MAX)
            memcpy(block + l->param_value[i], args[i].value, q->elem->size);
    }
    rg_pool *pool = dev->state;
    rg_cpu_entry *entry;
    memcpy(&entry, &p->entry, sizeof entry);
    bool saves = rg_mode_goes_back(p->mode);
    rg_pool_begin(pool, saves ? p->kernel->module->tape_memory : UINT64_MAX);
    int r = entry(rg_pool_env(pool), block);
    rg_pool_fault f = rg_pool_faulted(pool);
    return r == 0 && f.what == 0 ? RG_OK : fault_words(dev, p, f);
}

static rg_status sync_device(rg_device *dev) {
    (void)dev; /* a launch is over when it returns */
    return RG_OK;
}

const rg_device_ops rg_device_cpu = {
    "cpu", describe,     open_device, close_device, rg_host_alloc, rg_host_free, rg_host_copy, NULL,
    NULL,  rg_host_zero, prepare,     launch,       sync_device,   unload,       NULL};
