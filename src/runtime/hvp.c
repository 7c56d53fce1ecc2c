/* Hessian-vector products: the adjoint of a launch and its tangent, in one call.
 *
 *   tangent   runs the kernel and carries the directions through it
 *   hvp       the adjoint's tangent, or the tangent's adjoint (variant.c): adds to the gradients,
 *             and their derivatives in the direction to the products
 *
 * What the second wants from before the kernel ran (ad.h: RG_ARR_BEFORE) is copied first, values
 * and directions alike. What the first captures atomically it records, and the tangents of that.
 *
 * Arguments that are one array have one direction and one product: those of the first of them. As
 * in record.c each but the first gets a gradient and a product of its own, added when all has run.
 */
#include "runtime/record.h"

#include <string.h>

typedef struct part {
    rg_direction d;
    unsigned char *dot, *product;
    rg_memory own_dot, own_product; /* what the caller did not give, or shares */
    rg_memory own_gradient;
    rg_memory before, before_dot; /* what the kernel overwrites */
} part;

typedef struct product {
    part *parts;           /* [params] */
    rg_recorded *recorded; /* [records.all] */
    rg_memory records, record_dots;
} product;

static uint32_t first_of(const rg_kernel *k, uint32_t i) {
    return k->same[i] ? k->same[i] - 1 : i;
}

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
static rg_status check_apart(rg_kernel *k, const rg_arg *args, const part *parts) {
    for (uint32_t i = 0; i < k->nparams; i++)
        for (int one = 0; one < 2; one++) {
            rg_array *x = one ? parts[i].d.product : parts[i].d.tangent;
            const char *which = one ? "product" : "direction";
            for (uint32_t j = 0; x && j < k->nparams; j++) {
                const rg_binding *b = &k->bindings[j];
                size_t n = bytes_of(k, args, j);
                rg_array *t = parts[j].d.tangent, *p = parts[j].d.product;
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

/* The directions by argument, those of one array together. */
static rg_status sort_directions(rg_kernel *k, const rg_direction *d, part *parts) {
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_direction *to = &parts[first_of(k, i)].d;
        bool clash = (d[i].tangent && to->tangent && d[i].tangent != to->tangent) ||
                     (d[i].product && to->product && d[i].product != to->product);
        if (clash)
            return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT,
                           "kernel '%s': '%s' and '%s' are one array, which has one direction and "
                           "one product: give them to one of the two",
                           k->fn->name, k->params[i].name, k->params[first_of(k, i)].name);
        if (d[i].tangent)
            to->tangent = d[i].tangent;
        if (d[i].product)
            to->product = d[i].product;
    }
    return RG_OK;
}

static rg_status own(rg_kernel *k, const rg_arg *args, uint32_t i, rg_memory *m,
                     unsigned char **at) {
    rg_device *dev = k->module->dev;
    rg_status s = dev->ops->alloc(dev, bytes_of(k, args, i) + 1, m);
    *at = m->at;
    return s;
}

static rg_status make_part(rg_kernel *k, const rg_arg *args, uint32_t i, part *parts) {
    part *p = &parts[i];
    unsigned char *gradient;
    rg_status s;
    if (k->same[i]) {
        p->dot = parts[first_of(k, i)].dot;
        s = own(k, args, i, &p->own_product, &p->product);
        return s == RG_OK ? own(k, args, i, &p->own_gradient, &gradient) : s;
    }
    p->dot = p->d.tangent ? rg_array_data(p->d.tangent) : NULL;
    p->product = p->d.product ? rg_array_data(p->d.product) : NULL;
    s = p->dot ? RG_OK : own(k, args, i, &p->own_dot, &p->dot);
    return s != RG_OK || p->product ? s : own(k, args, i, &p->own_product, &p->product);
}

static rg_status copy_of(rg_kernel *k, const rg_arg *args, uint32_t i, const unsigned char *from,
                         rg_memory *out) {
    rg_device *dev = k->module->dev;
    size_t n = bytes_of(k, args, i);
    rg_status s = dev->ops->alloc(dev, n + 1, out);
    return s == RG_OK && n ? dev->ops->copy(dev, out->at, from, n) : s;
}

/* From when the program wants array a of its function: before the kernel, and not after. */
static rg_status wants_before(const rg_kernel *k, const rg_fn *f, rg_aid a, bool *before) {
    uint32_t when = rg_array_at(f, a)->flags & (RG_ARR_BEFORE | RG_ARR_AFTER);
    *before = when == RG_ARR_BEFORE;
    if (when != (RG_ARR_BEFORE | RG_ARR_AFTER))
        return RG_OK;
    return rg_fail(k->module->ctx, RG_ERROR_INTERNAL,
                   "internal error: the product of '%s' reads '%s' from before and from after the "
                   "launch (please report this)",
                   k->fn->name, rg_array_at(f, a)->name);
}

/* The array of parameter i's tangent; 0: none. */
static rg_aid tangent_of(const rg_fn *f, uint32_t i) {
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *r = rg_array_at(f, a);
        if (r->kind == RG_ARR_SHADOW && r->shadow == RG_SH_DOT && r->param == i)
            return a;
    }
    return 0;
}

/* Copies of what must be as it was before the kernel. A tangent that does not say is wanted from
 * the same time as its value. */
static rg_status keep_before(rg_kernel *k, const rg_arg *args, const rg_program *p, part *parts) {
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param *q = &p->fn->params.at[i];
        bool data, dot;
        if (!q->is_array || !k->params[i].uses.writes)
            continue;
        rg_aid t = tangent_of(p->fn, i);
        rg_status s = wants_before(k, p->fn, q->array, &data);
        dot = data;
        if (s == RG_OK && t && p->mode == RG_ADJOINT_OF_TANGENT)
            s = wants_before(k, p->fn, t, &dot);
        if (s == RG_OK && data)
            s = copy_of(k, args, i, k->bindings[i].data, &parts[i].before);
        if (s == RG_OK && dot && k->active[i])
            s = copy_of(k, args, i, parts[i].dot, &parts[i].before_dot);
        if (s != RG_OK)
            return s;
    }
    return RG_OK;
}

static rg_status before_writes(rg_kernel *k, const rg_arg *args, const part *parts) {
    rg_status s = rg_launch_before_writes(k, args);
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        if (args[i].gradient)
            s = rg_array_before_write(args[i].gradient);
        if (s == RG_OK && parts[i].d.tangent)
            s = rg_array_before_write(parts[i].d.tangent);
        if (s == RG_OK && parts[i].d.product)
            s = rg_array_before_write(parts[i].d.product);
    }
    return s;
}

static void wrote(rg_kernel *k, const rg_arg *args, const part *parts) {
    rg_launch_wrote(k, args);
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (args[i].gradient)
            rg_array_wrote(args[i].gradient, RG_DEPENDS_KEEP);
        if (parts[i].d.tangent)
            rg_array_wrote(parts[i].d.tangent, RG_DEPENDS_KEEP);
        if (parts[i].d.product)
            rg_array_wrote(parts[i].d.product, RG_DEPENDS_KEEP);
    }
}

/* Room for what the tangent captures and for its tangents. */
static rg_status make_records(rg_kernel *k, const rg_program *p, product *out) {
    rg_device *dev = k->module->dev;
    size_t bytes;
    if (!k->records.all)
        return RG_OK;
    out->recorded = rg_ctx_alloc(k->module->ctx, k->records.all * sizeof *out->recorded);
    if (!out->recorded)
        return RG_ERROR_MEMORY;
    rg_status s = rg_record_layout(p, out->recorded, &bytes);
    if (s == RG_OK)
        s = dev->ops->alloc(dev, bytes, &out->records);
    if (s == RG_OK)
        s = dev->ops->alloc(dev, bytes, &out->record_dots);
    for (uint32_t i = 0; i < k->records.all && s == RG_OK; i++) {
        unsigned char *dots = out->record_dots.at + out->recorded[i].offset;
        k->bindings[k->nparams + i] =
            (rg_binding){.data = out->records.at + out->recorded[i].offset,
                         .shadow = dots, /* for the tangent */
                         .dot = dots,    /* for the product */
                         .shape = out->recorded[i].shape};
    }
    return s;
}

/* Adds what the arguments that are one array got to the first of them. */
static rg_status add_shared(rg_kernel *k, const rg_arg *args, part *parts) {
    rg_device *dev = k->module->dev;
    bool any = false;
    for (uint32_t i = 0; i < k->nparams; i++)
        any |= parts[i].own_gradient.base != NULL;
    rg_status s = any ? dev->ops->sync(dev) : RG_OK;
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        if (!parts[i].own_gradient.base)
            continue;
        const rg_elem *e = k->fn->params.at[i].elem;
        uint32_t to = first_of(k, i);
        size_t count = args[i].array ? args[i].array->count : 1;
        s = rg_record_add(dev, e, count, k->bindings[to].shadow, parts[i].own_gradient.at);
        if (s == RG_OK)
            s = rg_record_add(dev, e, count, parts[to].product, parts[i].product);
    }
    return s;
}

static rg_status run(rg_kernel *k, const rg_arg *args, rg_mode mode, product *out) {
    part *parts = out->parts;
    rg_program *tangent, *second;
    rg_status s = rg_launch_fitting(k, mode, &second);
    if (s == RG_OK)
        s = rg_program_get_recording(second, &tangent);
    if (s == RG_OK)
        s = rg_launch_prepare(k, &tangent, 1);
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++)
        if (k->active[i])
            s = make_part(k, args, i, parts);
    if (s == RG_OK)
        s = make_records(k, second, out);
    if (s == RG_OK)
        s = keep_before(k, args, second, parts);
    if (s == RG_OK)
        s = before_writes(k, args, parts);
    if (s != RG_OK)
        return s;
    for (uint32_t i = 0; i < k->nparams; i++) {
        rg_binding *b = &k->bindings[i];
        unsigned char *gradient = b->shadow;
        b->shadow = parts[i].dot; /* where the tangent's program looks */
        b->dot = parts[i].own_gradient.base ? parts[i].own_gradient.at : gradient;
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
        s = rg_launch_run(second, k->bindings);
    if (s == RG_OK)
        s = add_shared(k, args, parts);
    wrote(k, args, parts);
    return s;
}

static rg_status check_directions(rg_kernel *k, const rg_arg *args, const rg_direction *d,
                                  part *parts) {
    rg_status s = RG_OK;
    for (uint32_t i = 0; i < k->nparams && s == RG_OK; i++) {
        if (d[i].tangent)
            s = check(k, args, i, d[i].tangent, "direction");
        if (s == RG_OK && d[i].product)
            s = check(k, args, i, d[i].product, "product");
    }
    if (s == RG_OK)
        s = sort_directions(k, d, parts);
    return s == RG_OK ? check_apart(k, args, parts) : s;
}

static rg_status second_order(rg_kernel *k, const rg_arg *args, const rg_direction *directions,
                              size_t n, rg_mode mode) {
    rg_status s = rg_launch_bind(k, args, n, RG_USE_TANGENT);
    if (s != RG_OK)
        return s;
    rg_context *ctx = k->module->ctx;
    rg_device *dev = k->module->dev;
    if (n && !directions)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "kernel '%s': the directions are null", k->fn->name);
    bool any = false;
    for (uint32_t i = 0; i < k->nparams; i++)
        any |= k->active[i];
    size_t size = (k->nparams + 1) * sizeof(part);
    product p = {.parts = rg_ctx_alloc(ctx, size)};
    if (!p.parts)
        return RG_ERROR_MEMORY;
    memset(p.parts, 0, size);
    s = check_directions(k, args, directions, p.parts);
    if (s != RG_OK || !any) {
        rg_ctx_free(ctx, p.parts, size);
        return s == RG_OK ? rg_launch(k, args, n) : s;
    }
    s = run(k, args, mode, &p);
    rg_status done = dev->ops->sync(dev); /* what is freed now is in use until then */
    if (s == RG_OK)
        s = done;
    for (uint32_t i = 0; i < k->nparams; i++) {
        part *x = &p.parts[i];
        rg_memory *own_memory[5] = {&x->own_dot, &x->own_product, &x->own_gradient, &x->before,
                                    &x->before_dot};
        for (int m = 0; m < 5; m++)
            if (own_memory[m]->base)
                dev->ops->free(dev, own_memory[m]);
    }
    if (p.records.base)
        dev->ops->free(dev, &p.records);
    if (p.record_dots.base)
        dev->ops->free(dev, &p.record_dots);
    rg_ctx_free(ctx, p.recorded, k->records.all * sizeof *p.recorded);
    rg_ctx_free(ctx, p.parts, size);
    return s;
}

rg_status rg_hvp(rg_kernel *k, const rg_arg *args, const rg_direction *directions, size_t n) {
    return second_order(k, args, directions, n, RG_HVP);
}

rg_status rg_adjoint_of_tangent(rg_kernel *k, const rg_arg *args, const rg_direction *directions,
                                size_t n) {
    return second_order(k, args, directions, n, RG_ADJOINT_OF_TANGENT);
}
