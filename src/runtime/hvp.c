/* Hessian-vector products: the adjoint of a launch and its tangent, in one call.
 *
 *   tangent   runs the kernel and carries the directions through it
 *   hvp       the adjoint's tangent (variant.c): adds to the gradients, and their derivatives in
 * the direction to the products
 *
 * What the second wants from before the kernel ran (ad.h: RG_ARR_BEFORE) is copied first, values
 * and directions alike. */
#include "runtime/launch.h"

#include <string.h>

typedef struct part {
    unsigned char *dot, *product;
    rg_memory own_dot, own_product; /* what the caller did not give */
    rg_memory before, before_dot;   /* what the kernel overwrites */
} part;

static rg_status bad(const rg_kernel *k, uint32_t i, const char *which, const char *what) {
    return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "kernel '%s': the %s of '%s' %s", k->fn->name,
                   which, k->params[i].name, what);
}

static size_t bytes_of(const rg_kernel *k, const rg_arg *args, uint32_t i) {
    return args[i].array ? args[i].array->bytes : k->params[i].item_size;
}

static bool meet(const unsigned char *a, const unsigned char *b, size_t bytes, size_t other) {
    return a && b && bytes && other && (uintptr_t)a < (uintptr_t)b + other &&
           (uintptr_t)b < (uintptr_t)a + bytes;
}

/* A tangent or product that the caller gave. */
static rg_status check(rg_kernel *k, const rg_arg *args, uint32_t i, rg_array *x,
                       const char *which) {
    const char *fault = rg_handle_fault(&x->handle, RG_MAGIC_ARRAY);
    if (fault)
        return bad(k, i, which, fault);
    if (!k->active[i])
        return bad(k, i, which, "was given, but the argument has no gradient");
    if (x->dev != k->module->dev)
        return bad(k, i, which, "is on another device than the kernel");
    if (x->dtype != k->params[i].dtype || x->item_size != k->params[i].item_size ||
        x->bytes != bytes_of(k, args, i))
        return bad(k, i, which, "must have the type and the shape of the argument");
    if (x->storage->mapped[RG_DATA])
        return bad(k, i, which, "is mapped: call rg_array_unmap first");
    return RG_OK;
}

/* Tangents and products must be apart from each other and from all else. */
static rg_status check_apart(rg_kernel *k, const rg_arg *args, const rg_direction *d) {
    for (uint32_t i = 0; i < k->nparams; i++)
        for (int one = 0; one < 2; one++) {
            rg_array *x = one ? d[i].product : d[i].tangent;
            const char *which = one ? "product" : "direction";
            for (uint32_t j = 0; x && j < k->nparams; j++) {
                const rg_binding *b = &k->bindings[j];
                size_t n = bytes_of(k, args, j);
                rg_array *t = d[j].tangent, *p = d[j].product;
                bool same_t = j == i && !one, same_p = j == i && one;
                if (meet(rg_array_data(x), b->data, x->bytes, n) ||
                    meet(rg_array_data(x), b->shadow, x->bytes, n) ||
                    (t && !same_t &&
                     meet(rg_array_data(x), rg_array_data(t), x->bytes, t->bytes)) ||
                    (p && !same_p && meet(rg_array_data(x), rg_array_data(p), x->bytes, p->bytes)))
                    return bad(k, i, which, "overlaps the memory of something else in the launch");
            }
        }
    return RG_OK;
}

static rg_status make(rg_kernel *k, const rg_arg *args, uint32_t i, rg_array *given, rg_memory *own,
                      unsigned char **at) {
    if (given) {
        *at = rg_array_data(given);
        return RG_OK;
    }
    rg_device *dev = k->module->dev;
    rg_status s = dev->ops->alloc(dev, bytes_of(k, args, i) + 1, own);
    *at = own->at;
    return s;
}

static rg_status copy_of(rg_kernel *k, const rg_arg *args, uint32_t i, const unsigned char *from,
                         rg_memory *out) {
    rg_device *dev = k->module->dev;
    size_t n = bytes_of(k, args, i);
    rg_status s = dev->ops->alloc(dev, n + 1, out);
    return s == RG_OK && n ? dev->ops->copy(dev, out->at, from, n) : s;
}

/* Copies of what must be as it was before the kernel. */
static rg_status keep_before(rg_kernel *k, const rg_arg *args, const rg_program *p, part *parts) {
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param *q = &p->fn->params.at[i];
        if (!q->is_array || !k->params[i].uses.writes)
            continue;
        uint32_t when = rg_array_at(p->fn, q->array)->flags & (RG_ARR_BEFORE | RG_ARR_AFTER);
        if (when == (RG_ARR_BEFORE | RG_ARR_AFTER))
            return rg_fail(k->module->ctx, RG_ERROR_INTERNAL,
                           "internal error: the product of '%s' reads '%s' from before and from "
                           "after the launch (please report this)",
                           k->fn->name, k->params[i].name);
        if (when != RG_ARR_BEFORE)
            continue;
        rg_status s = copy_of(k, args, i, k->bindings[i].data, &parts[i].before);
        if (s == RG_OK && k->active[i])
            s = copy_of(k, args, i, parts[i].dot, &parts[i].before_dot);
        if (s != RG_OK)
            return s;
    }
    return RG_OK;
}

static rg_status before_writes(rg_kernel *k, const rg_arg *args, const rg_direction *d) {
    rg_status s = rg_launch_before_writes(k, args);
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        if (args[i].gradient)
            s = rg_array_before_write(args[i].gradient);
        if (s == RG_OK && d[i].tangent)
            s = rg_array_before_write(d[i].tangent);
        if (s == RG_OK && d[i].product)
            s = rg_array_before_write(d[i].product);
    }
    return s;
}

static void wrote(rg_kernel *k, const rg_arg *args, const rg_direction *d) {
    rg_launch_wrote(k, args);
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (args[i].gradient)
            rg_array_wrote(args[i].gradient, RG_DEPENDS_KEEP);
        if (d[i].tangent)
            rg_array_wrote(d[i].tangent, RG_DEPENDS_KEEP);
        if (d[i].product)
            rg_array_wrote(d[i].product, RG_DEPENDS_KEEP);
    }
}

static rg_status run(rg_kernel *k, const rg_arg *args, const rg_direction *d, part *parts) {
    rg_program *tangent, *product;
    rg_status s = rg_launch_fitting(k, RG_HVP, &product);
    if (s == RG_OK)
        s = rg_launch_program(k, RG_TANGENT, k->active, &tangent);
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        if (!k->active[i])
            continue;
        s = make(k, args, i, d[i].tangent, &parts[i].own_dot, &parts[i].dot);
        if (s == RG_OK)
            s = make(k, args, i, d[i].product, &parts[i].own_product, &parts[i].product);
    }
    if (s == RG_OK)
        s = keep_before(k, args, product, parts);
    if (s == RG_OK)
        s = before_writes(k, args, d);
    if (s != RG_OK)
        return s;
    unsigned char *gradient;
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_binding *b = &k->bindings[i];
        gradient = b->shadow;
        b->shadow = parts[i].dot; /* where the tangent's program looks */
        b->dot = gradient;
    }
    s = rg_launch_run(tangent, k->bindings);
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_binding *b = &k->bindings[i];
        b->shadow = b->dot;
        b->dot = parts[i].before_dot.base ? parts[i].before_dot.at : parts[i].dot;
        b->product = parts[i].product;
        if (parts[i].before.base)
            b->data = parts[i].before.at;
    }
    if (s == RG_OK)
        s = rg_launch_run(product, k->bindings);
    wrote(k, args, d);
    return s;
}

rg_status rg_hvp(rg_kernel *k, const rg_arg *args, const rg_direction *directions, size_t n) {
    rg_status s = rg_launch_bind(k, args, n, RG_USE_TANGENT);
    if (s != RG_OK)
        return s;
    rg_context *ctx = k->module->ctx;
    rg_device *dev = k->module->dev;
    if (n && !directions)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "kernel '%s': the directions are null", k->fn->name);
    if (k->records.captures)
        return rg_fail(ctx, RG_ERROR_UNSUPPORTED,
                       "kernel '%s' captures values atomically, which a Hessian-vector product "
                       "does not record: take differences of gradients",
                       k->fn->name);
    bool any = false;
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        any |= k->active[i];
        if (k->same[i])
            s = rg_fail(ctx, RG_ERROR_UNSUPPORTED,
                        "kernel '%s': '%s' and '%s' are one array, which a Hessian-vector product "
                        "does not support: give them arrays of their own",
                        k->fn->name, k->params[i].name, k->params[k->same[i] - 1].name);
        if (s == RG_OK && directions[i].tangent)
            s = check(k, args, i, directions[i].tangent, "direction");
        if (s == RG_OK && directions[i].product)
            s = check(k, args, i, directions[i].product, "product");
    }
    if (s == RG_OK)
        s = check_apart(k, args, directions);
    if (s != RG_OK)
        return s;
    if (!any)
        return rg_launch(k, args, n);
    size_t size = k->nparams * sizeof(part);
    part *parts = rg_ctx_alloc(ctx, size);
    if (!parts)
        return RG_ERROR_MEMORY;
    memset(parts, 0, size);
    s = run(k, args, directions, parts);
    rg_status done = dev->ops->sync(dev); /* what is freed now is in use until then */
    if (s == RG_OK)
        s = done;
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_memory *own[4] = {&parts[i].own_dot, &parts[i].own_product, &parts[i].before,
                             &parts[i].before_dot};
        for (int m = 0; m < 4; m++)
            if (own[m]->base)
                dev->ops->free(dev, own[m]);
    }
    rg_ctx_free(ctx, parts, size);
    return s;
}
