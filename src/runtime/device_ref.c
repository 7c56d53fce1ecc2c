/* The device `ref`: interprets the IR, always checked, one launch at a time, in the calling thread.
 * It needs no compiler, and is what the others are compared with. */
#include "runtime/module.h"

#include <stdio.h>
#include <string.h>

static void describe(rg_context *ctx, rg_device_info *out) {
    (void)ctx;
    out->available = true;
    snprintf(out->description, sizeof out->description, "interpreter, always checked");
}

static rg_status open_device(rg_device *dev) {
    (void)dev;
    return RG_OK;
}

static void close_device(rg_device *dev) {
    (void)dev;
}

static rg_status prepare(rg_device *dev, rg_program *const *p, uint32_t n) {
    (void)dev;
    for (uint32_t i = 0; i < n; i++)
        p[i]->ready = true;
    return RG_OK;
}

static rg_status launch(rg_device *dev, rg_program *p, const rg_binding *args) {
    rg_context *ctx = dev->ctx;
    for (uint32_t i = 0; i < p->npointers; i++) {
        const rg_pointer *q = &p->pointers[i];
        const rg_binding *b = &args[q->param];
        static const int64_t one[1] = {1}; /* a scalar's gradient has one element */
        p->arrays[q->array] = (rg_interp_array){rg_pointer_at(q, b), b->shape ? b->shape : one};
    }
    for (uint32_t i = 0; i < p->kernel->nparams; i++)
        p->scalars[i] = args[i].value;
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a)
        return rg_fail_memory(ctx);
    volatile rg_status s = RG_OK;
    int thrown = RG_GUARD(a);
    if (!thrown) {
        rg_text words = {.arena = a};
        rg_loc loc = 0;
        rg_interp_args in = {.arrays = p->arrays,
                             .scalars = p->scalars,
                             .races = dev->options.races,
                             .allocator = &ctx->allocator};
        if (!rg_interp(p->fn, &in, &words, &loc))
            s = rg_fail(ctx,
                        strstr(rg_text_str(&words), "out of memory") ? RG_ERROR_MEMORY
                                                                     : RG_ERROR_FAULT,
                        "%s", rg_text_str(&words));
    } else {
        s = rg_fail_thrown(ctx, a, thrown);
    }
    rg_arena_free(a);
    return s;
}

static rg_status sync_device(rg_device *dev) {
    (void)dev;
    return RG_OK;
}

static void unload(rg_device *dev, void *code) {
    (void)dev;
    (void)code;
}

const rg_device_ops rg_device_ref = {
    "ref", describe,     open_device, close_device, rg_host_alloc, rg_host_free, rg_host_copy, NULL,
    NULL,  rg_host_zero, prepare,     launch,       sync_device,   unload,       NULL};
