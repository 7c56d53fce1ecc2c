/* Tapes: recorded launches, run backward in reverse order. */
#include "runtime/launch.h"
#include "runtime/record.h"

#include <string.h>

struct rg_tape {
    rg_handle handle;
    rg_context *ctx;
    rg_record **records;
    size_t n, cap;
};

rg_status rg_tape_new(rg_context *ctx, rg_tape **out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    if (!out)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "rg_tape_new: out is null");
    *out = NULL;
    rg_tape *t = rg_handle_new(ctx, sizeof *t, RG_MAGIC_TAPE);
    if (!t)
        return RG_ERROR_MEMORY;
    t->ctx = ctx;
    rg_context_retain(ctx);
    *out = t;
    return RG_OK;
}

rg_status rg_tape_launch(rg_tape *t, rg_kernel *k, const rg_arg *args, size_t n) {
    if (!t || rg_handle_fault(&t->handle, RG_MAGIC_TAPE))
        return RG_ERROR_ARGUMENT;
    const char *fault = rg_kernel_fault(k);
    if (fault)
        return rg_fail(t->ctx, RG_ERROR_ARGUMENT, "rg_tape_launch: the kernel is %s", fault);
    if (k->module->ctx != t->ctx)
        return rg_fail(t->ctx, RG_ERROR_ARGUMENT,
                       "rg_tape_launch: kernel '%s' is of another context", k->fn->name);
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 16;
        rg_record **more = rg_ctx_alloc(t->ctx, cap * sizeof *more);
        if (!more)
            return RG_ERROR_MEMORY;
        if (t->n)
            memcpy(more, t->records, t->n * sizeof *more);
        rg_ctx_free(t->ctx, t->records, t->cap * sizeof *more);
        t->records = more;
        t->cap = cap;
    }
    rg_record *r;
    rg_status s = rg_record_make(k, args, n, true, &r);
    if (s == RG_OK)
        t->records[t->n++] = r;
    return s;
}

/* On an error the launches that have not been run backward stay. */
rg_status rg_tape_backward(rg_tape *t) {
    if (!t || rg_handle_fault(&t->handle, RG_MAGIC_TAPE))
        return RG_ERROR_ARGUMENT;
    while (t->n) {
        rg_status s = rg_record_backward(t->records[t->n - 1]);
        if (s != RG_OK)
            return s;
        rg_record_release(t->records[--t->n]);
    }
    return RG_OK;
}

void rg_tape_release(rg_tape *t) {
    if (!t || rg_handle_fault(&t->handle, RG_MAGIC_TAPE))
        return;
    rg_context *ctx = t->ctx;
    while (t->n)
        rg_record_release(t->records[--t->n]);
    rg_ctx_free(ctx, t->records, t->cap * sizeof *t->records);
    t->handle.released = true;
    rg_handle_free(ctx, &t->handle);
    rg_context_drop(ctx);
}
