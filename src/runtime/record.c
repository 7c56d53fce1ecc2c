/* When a launch is recorded its adjoint is built first, so that whatever must be refused is refused
 * before anything has run. The adjoint's arrays say which values they want (ad.h):
 *
 *   RG_ARR_BEFORE  as before the launch: when the launch overwrites it, a copy is held
 *   RG_ARR_AFTER   as the launch left it
 *
 * Anything else that must still stand is known by its version: a plain record finds a change and
 * says so; a tape's record holds on to the range, and whoever changes it makes the copy.
 *
 * Parameters bound to the same array: each but the first gets a gradient of its own, zeroed, that
 * is added to the shared one when the adjoint has run. So no two gradients of a launch alias, and
 * nothing in the compiler has to know that they might. */
#include "runtime/record.h"

#include "base/table.h"
#include "compile/debug.h"
#include "ir/eval.h"
#include "runtime/launch.h"

#include <string.h>

typedef struct kept {
    rg_array *array;    /* array parameter, or NULL */
    rg_array *gradient; /* of a by-value parameter, or NULL */
    size_t value;       /* offset into the record's values */
    bool wanted;        /* the adjoint reads its data */
    uint64_t hash;      /* of its bytes, when RETROGRAD_DEBUG=hash asks for it; else 0 */
    uint64_t version;   /* that it must still have, when not held */
    rg_held *held;
    uint32_t same; /* 1 + earlier parameter with the same gradient */
} kept;

enum {
    RECORD_ALIGN = 64,
    MOST_KEPT = 256 << 20 /* bytes of what could be had again */
};

struct rg_record {
    rg_handle handle;
    rg_module *module;
    rg_kernel *kernel;
    rg_program *adjoint; /* NULL: nothing is active */
    bool done;
    unsigned char *values;
    rg_recorded *recorded; /* [kernel->records.all] NULL: nothing is */
    rg_memory memory;      /* of all of them */
    kept params[];
};

static void record_drop(rg_record *r) {
    if (--r->handle.refs)
        return;
    rg_module *m = r->module;
    rg_context *ctx = m->ctx;
    rg_context_retain(ctx);
    if (r->memory.base)
        m->dev->ops->free(m->dev, &r->memory);
    rg_ctx_free(ctx, r->recorded, r->kernel->records.all * sizeof *r->recorded);
    for (uint32_t i = 0; i < r->kernel->nparams; i++) {
        rg_held_drop(r->params[i].held);
        if (r->params[i].array)
            rg_array_drop(r->params[i].array);
        if (r->params[i].gradient)
            rg_array_drop(r->params[i].gradient);
    }
    rg_handle_free(ctx, &r->handle);
    rg_module_drop(m);
    rg_context_drop(ctx);
}

static rg_record *record_new(rg_kernel *k, const rg_arg *args) {
    rg_context *ctx = k->module->ctx;
    size_t size = sizeof(rg_record) + k->nparams * sizeof(kept), values = size;
    for (uint32_t i = 0; i < k->nparams; i++)
        if (!k->params[i].is_array)
            size += (k->params[i].item_size + 15) / 16 * 16;
    size += 16;
    rg_record *r = rg_handle_new(ctx, size, RG_MAGIC_RECORD);
    if (!r)
        return NULL;
    r->module = k->module;
    rg_module_retain(k->module);
    r->kernel = k;
    values = (values + 15) / 16 * 16;
    r->values = (unsigned char *)r + values;
    size_t at = 0;
    for (uint32_t i = 0; i < k->nparams; i++) {
        kept *p = &r->params[i];
        p->array = args[i].array;
        p->gradient = args[i].gradient;
        p->same = k->same[i];
        if (p->array)
            rg_array_retain(p->array);
        if (p->gradient)
            rg_array_retain(p->gradient);
        if (!k->params[i].is_array) {
            p->value = at;
            memcpy(r->values + at, args[i].value, k->params[i].item_size);
            at += (k->params[i].item_size + 15) / 16 * 16;
        }
    }
    return r;
}

/* From when the adjoint wants the data of array parameter i: RG_ARR_BEFORE, RG_ARR_AFTER, or 0 for
 * whenever it does not read it. What the launch does not write is the same before and after. */
static rg_status wants(const rg_record *r, uint32_t i, uint32_t *when) {
    *when = 0;
    if (!r->adjoint || !r->adjoint->reads[i])
        return RG_OK;
    const rg_fn *f = r->adjoint->fn;
    uint32_t flags = rg_array_at(f, f->params.at[i].array)->flags;
    *when = flags & (RG_ARR_BEFORE | RG_ARR_AFTER);
    if (!r->kernel->params[i].uses.writes) {
        *when = RG_ARR_AFTER;
        return RG_OK;
    }
    if (*when == RG_ARR_BEFORE || *when == RG_ARR_AFTER)
        return RG_OK;
    return rg_fail(r->module->ctx, RG_ERROR_INTERNAL,
                   "internal error: the adjoint of '%s' reads '%s' without saying whether from "
                   "before or from after the launch (please report this)",
                   r->kernel->fn->name, r->kernel->params[i].name);
}

static rg_status hold(rg_record *r, uint32_t i) {
    kept *p = &r->params[i];
    p->held = rg_array_hold(p->array);
    return p->held ? RG_OK : RG_ERROR_MEMORY;
}

/* What has to be done before the launch overwrites its arrays. */
static rg_status keep_before(rg_record *r) {
    for (uint32_t i = 0; i < r->kernel->nparams; i++) {
        uint32_t when;
        rg_status s = wants(r, i, &when);
        if (s != RG_OK)
            return s;
        r->params[i].wanted = when != 0;
        if (when == RG_ARR_BEFORE && (s = hold(r, i)) != RG_OK)
            return s;
    }
    return RG_OK;
}

/* Memory that the caller may change behind the library's back. */
static uint64_t hash_of(const rg_array *a) {
    return rg_hash_bytes(rg_array_data(a), a->bytes, 1) | 1;
}

static rg_status keep_after(rg_record *r, bool tape) {
    bool hash = rg_debug_asked("hash");
    for (uint32_t i = 0; i < r->kernel->nparams; i++) {
        kept *p = &r->params[i];
        if (!p->wanted || p->held)
            continue;
        p->version = rg_array_version(p->array);
        if (hash && p->array->storage->wrapped)
            p->hash = hash_of(p->array);
        if (tape && hold(r, i) != RG_OK)
            return RG_ERROR_MEMORY;
    }
    return RG_OK;
}

/* Shape and bytes of record array i for the launch being made. */
static rg_status record_shape(const rg_program *adjoint, uint32_t i, int64_t *shape,
                              size_t *bytes) {
    rg_kernel *k = adjoint->kernel;
    const rg_param *p = &adjoint->fn->params.at[k->nparams + i];
    if (!rg_program_record_shape(adjoint, i, shape))
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT,
                       "kernel '%s': how often its atomics capture a value, or its reductions run, "
                       "cannot be computed from these parameters",
                       k->fn->name);
    *bytes = p->elem->size;
    for (uint32_t x = 0; x < p->rank; x++)
        if (shape[x] && *bytes > SIZE_MAX / 4 / (uint64_t)shape[x])
            *bytes = SIZE_MAX / 4;
        else
            *bytes *= (size_t)shape[x];
    return RG_OK;
}

/* Which of what the adjoint reads is kept: all captures, and of the rest, which can be had again by
 * running the kernel, as much as has room. */
static rg_status choose(const rg_program *adjoint, bool *all) {
    rg_kernel *k = adjoint->kernel;
    size_t left = rg_debug_asked("alone") ? 0 : MOST_KEPT;
    *all = true;
    for (uint32_t i = 0; i < k->records.all; i++) {
        int64_t shape[RG_RECORD_AXES];
        size_t bytes = 0;
        k->kept[i] = 1;
        if (i < k->records.captures || !rg_program_reads_record(adjoint, i))
            continue;
        rg_status s = record_shape(adjoint, i, shape, &bytes);
        if (s != RG_OK)
            return s;
        k->kept[i] = bytes <= left;
        if (k->kept[i])
            left -= bytes;
        else
            *all = false;
    }
    return RG_OK;
}

rg_status rg_record_layout(const rg_program *adjoint, rg_recorded *list, size_t *bytes) {
    const rg_kernel *k = adjoint->kernel;
    memset(list, 0, k->records.all * sizeof *list);
    *bytes = 0;
    for (uint32_t i = 0; i < k->records.all; i++) {
        size_t more;
        list[i].offset = *bytes;
        if (!rg_program_reads_record(adjoint, i))
            continue;
        rg_status s = record_shape(adjoint, i, list[i].shape, &more);
        if (s != RG_OK)
            return s;
        if (more >= SIZE_MAX / 4 - *bytes)
            return rg_fail_memory(k->module->ctx);
        *bytes += (more + RECORD_ALIGN) / RECORD_ALIGN * RECORD_ALIGN;
    }
    *bytes += RECORD_ALIGN;
    return RG_OK;
}

/* Memory for what the launch keeps, in one piece; those that the adjoint does not read are empty.
 */
static rg_status keep_records(rg_record *r) {
    rg_kernel *k = r->kernel;
    rg_device *dev = r->module->dev;
    size_t bytes;
    r->recorded = rg_ctx_alloc(r->module->ctx, k->records.all * sizeof *r->recorded);
    if (!r->recorded)
        return RG_ERROR_MEMORY;
    rg_status s = rg_record_layout(r->adjoint, r->recorded, &bytes);
    return s == RG_OK ? dev->ops->alloc(dev, bytes, &r->memory) : s;
}

static void bind_records(rg_record *r) {
    rg_kernel *k = r->kernel;
    for (uint32_t i = 0; r->recorded && i < k->records.all; i++)
        k->bindings[k->nparams + i] = (rg_binding){.data = r->memory.at + r->recorded[i].offset,
                                                   .shape = r->recorded[i].shape};
}

/* The adjoint, and what has to run for it to have what it needs. */
static rg_status programs(rg_kernel *k, rg_program **adjoint, rg_program **primal) {
    bool any = false, all = true;
    for (uint32_t i = 0; i < k->nparams; i++)
        any |= k->active[i];
    *adjoint = *primal = NULL;
    if (!any)
        return rg_launch_program(k, RG_PRIMAL, NULL, primal);
    rg_status s = rg_fit(k, RG_ADJOINT, NULL, adjoint);
    if (s == RG_OK && k->records.all > k->records.captures)
        s = choose(*adjoint, &all);
    if (s == RG_OK && !all)
        s = rg_fit(k, RG_ADJOINT, k->kept, adjoint);
    if (s == RG_OK)
        s = rg_program_get_recording(*adjoint, primal);
    rg_program *both[2] = {*adjoint, *primal};
    return s == RG_OK ? rg_launch_prepare(k, both, 2) : s;
}

rg_status rg_record_make(rg_kernel *k, const rg_arg *args, size_t n, bool tape, rg_record **out) {
    *out = NULL;
    rg_status s = rg_launch_bind(k, args, n, RG_USE_RECORD);
    if (s != RG_OK)
        return s;
    rg_program *primal, *adjoint;
    s = programs(k, &adjoint, &primal);
    if (s != RG_OK)
        return s;
    rg_record *r = record_new(k, args);
    if (!r)
        return RG_ERROR_MEMORY;
    r->adjoint = adjoint;
    s = adjoint && k->records.all ? keep_records(r) : RG_OK;
    bind_records(r);
    if (s == RG_OK)
        s = keep_before(r);
    if (s == RG_OK)
        s = rg_launch_before_writes(k, args);
    if (s == RG_OK) {
        s = rg_launch_run(primal, k->bindings);
        rg_launch_wrote(k, args);
    }
    if (s == RG_OK)
        s = keep_after(r, tape);
    if (s != RG_OK) {
        record_drop(r);
        return s;
    }
    *out = r;
    return RG_OK;
}

/* ---- gradients of parameters that are one array ---- */

static void add_scalar(rg_mem m, void *to, const void *from) {
    if (m == RG_M_F32) {
        float a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a += b;
        memcpy(to, &a, sizeof a);
    } else if (m == RG_M_F64) {
        double a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a += b;
        memcpy(to, &a, sizeof a);
    } else if (m == RG_M_F16) {
        uint16_t a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a = rg_half_from_float(rg_half_to_float(a) + rg_half_to_float(b));
        memcpy(to, &a, sizeof a);
    }
}

static void add_leaf(const rg_leaf *l, uint32_t axis, unsigned char *to,
                     const unsigned char *from) {
    if (axis == l->ndims) {
        add_scalar(l->mem, to, from);
        return;
    }
    for (int64_t i = 0; i < l->dims[axis]; i++)
        add_leaf(l, axis + 1, to + i * l->strides[axis], from + i * l->strides[axis]);
}

static void add_gradient(const rg_elem *e, size_t count, unsigned char *to,
                         const unsigned char *from) {
    for (size_t i = 0; i < count; i++, to += e->size, from += e->size)
        for (uint32_t l = 0; l < e->nleaves; l++)
            add_leaf(&e->leaves[l], 0, to + e->leaves[l].offset, from + e->leaves[l].offset);
}

rg_status rg_record_add(rg_device *dev, const rg_elem *e, size_t count, unsigned char *to,
                        unsigned char *from) {
    size_t bytes = count * e->size;
    if (!dev->ops->read || !bytes) {
        add_gradient(e, count, to, from);
        return RG_OK;
    }
    unsigned char *room = rg_ctx_alloc(dev->ctx, 2 * bytes);
    if (!room)
        return RG_ERROR_MEMORY;
    rg_status s = rg_device_read(dev, room, to, bytes);
    if (s == RG_OK)
        s = rg_device_read(dev, room + bytes, from, bytes);
    if (s == RG_OK) {
        add_gradient(e, count, room, room + bytes);
        s = rg_device_write(dev, to, room, bytes);
    }
    rg_ctx_free(dev->ctx, room, 2 * bytes);
    return s;
}

/* ---- backward ---- */

static size_t gradient_count(const rg_record *r, uint32_t i) {
    return r->params[i].array ? r->params[i].array->count : 1;
}

static rg_status bind_backward(rg_record *r, rg_memory *own) {
    rg_kernel *k = r->kernel;
    rg_context *ctx = r->module->ctx;
    rg_device *dev = r->module->dev;
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param_use *u = &k->params[i];
        kept *p = &r->params[i];
        rg_binding *b = &k->bindings[i];
        *b = (rg_binding){.data = NULL};
        if (!u->is_array) {
            b->value = r->values + p->value;
            if (p->gradient)
                b->shadow = rg_array_data(p->gradient);
        } else {
            b->data = rg_array_data(p->array);
            b->shape = p->array->shape;
            if (r->adjoint->active[i])
                b->shadow = rg_array_grad(p->array);
            if (p->array->storage->mapped[RG_GRADIENT] && b->shadow)
                return rg_fail(ctx, RG_ERROR_STATE,
                               "the backward launch of '%s': the gradient of '%s' is mapped: call "
                               "rg_array_unmap first",
                               k->fn->name, u->name);
            bool copied = p->held && p->held->copied;
            if (copied)
                b->data = p->held->copy.at;
            uint64_t version = p->held ? p->held->version : p->version;
            if (p->wanted && !copied &&
                (rg_array_version(p->array) != version || p->array->storage->mapped[RG_DATA]))
                return rg_fail(ctx, RG_ERROR_STATE,
                               "array '%s' was changed after the launch of kernel '%s' was "
                               "recorded, but the backward launch reads it: run rg_backward before "
                               "changing it, give the kernel an array of its own, or record on a "
                               "tape, which keeps what is overwritten",
                               u->name, k->fn->name);
        }
        if (p->hash && b->data == rg_array_data(p->array) && hash_of(p->array) != p->hash)
            return rg_fail(ctx, RG_ERROR_STATE,
                           "the memory of array '%s' was changed after the launch of kernel '%s' "
                           "was recorded, without rg_array_touch",
                           u->name, k->fn->name);
        if (p->same && b->shadow) {
            rg_status s = dev->ops->alloc(dev, gradient_count(r, i) * u->item_size, &own[i]);
            if (s != RG_OK)
                return s;
            b->shadow = own[i].at;
        }
    }
    return RG_OK;
}

rg_status rg_record_backward(rg_record *r) {
    rg_context *ctx = r->module->ctx;
    rg_device *dev = r->module->dev;
    rg_kernel *k = r->kernel;
    if (r->done)
        return rg_fail(ctx, RG_ERROR_STATE, "this record of kernel '%s' has been run backward",
                       k->fn->name);
    rg_status s = rg_device_state(dev);
    if (s != RG_OK)
        return s;
    if (!r->adjoint) {
        r->done = true;
        return RG_OK;
    }
    size_t own_size = (k->nparams + 1) * sizeof(rg_memory);
    rg_memory *own = rg_ctx_alloc(ctx, own_size);
    if (!own)
        return RG_ERROR_MEMORY;
    s = bind_backward(r, own);
    bind_records(r);
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++)
        if (r->params[i].gradient)
            s = rg_array_before_write(r->params[i].gradient);
    if (s == RG_OK) {
        r->done = true;
        s = rg_launch_run(r->adjoint, k->bindings);
        for (uint32_t i = 0; i < k->nparams; i++)
            if (r->params[i].gradient)
                rg_array_wrote(r->params[i].gradient, RG_DEPENDS_KEEP);
    }
    bool shared = false;
    for (uint32_t i = 0; i < k->nparams; i++)
        shared |= own[i].at != NULL;
    if (shared && s == RG_OK)
        s = dev->ops->sync(dev);
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (!own[i].at)
            continue;
        if (s == RG_OK) {
            kept *p = &r->params[i];
            s = rg_record_add(dev, k->fn->params.at[i].elem, gradient_count(r, i),
                              p->array ? rg_array_grad(p->array) : rg_array_data(p->gradient),
                              own[i].at);
        }
        dev->ops->free(dev, &own[i]);
    }
    rg_ctx_free(ctx, own, own_size);
    return s;
}

/* ---- the public part ---- */

rg_status rg_record_launch(rg_kernel *k, const rg_arg *args, size_t n, rg_record **out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    if (!out)
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "rg_record_launch: out is null");
    return rg_record_make(k, args, n, false, out);
}

rg_status rg_backward(rg_record *r) {
    if (!r || rg_handle_fault(&r->handle, RG_MAGIC_RECORD))
        return RG_ERROR_ARGUMENT;
    return rg_record_backward(r);
}

void rg_record_release(rg_record *r) {
    if (!r || rg_handle_fault(&r->handle, RG_MAGIC_RECORD))
        return;
    r->handle.released = true;
    record_drop(r);
}
