/* The path of a small launch: no allocation, no search beyond the kernel's last variant. */
#include "runtime/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

typedef struct words {
    char at[400];
    size_t n;
} words;

static void add(words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(words *w, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(w->at + w->n, sizeof w->at - w->n, fmt, args);
    va_end(args);
    if (n > 0)
        w->n = w->n + (size_t)n < sizeof w->at ? w->n + (size_t)n : sizeof w->at - 1;
}

static rg_status bad(const rg_kernel *k, uint32_t i, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static rg_status bad(const rg_kernel *k, uint32_t i, const char *fmt, ...) {
    words w = {.n = 0};
    va_list args;
    va_start(args, fmt);
    vsnprintf(w.at, sizeof w.at, fmt, args);
    va_end(args);
    return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "kernel '%s': argument '%s' %s", k->fn->name,
                   k->params[i].name, w.at);
}

/* "argument 'x' has shape [3], but the kernel declares x[n] with n = 4" */
static rg_status bad_shape(const rg_kernel *k, uint32_t i, const rg_arg *arg, const int64_t *want) {
    const rg_param *p = &k->fn->params.at[i];
    words w = {.n = 0};
    for (size_t x = 0; x < arg->array->rank; x++)
        add(&w, "%s%lld", x ? ", " : "", (long long)arg->array->shape[x]);
    add(&w, "], but the kernel declares %s", p->name);
    for (uint32_t x = 0; x < p->rank; x++)
        add(&w, "[%s]", p->extent_text && p->extent_text[x] ? p->extent_text[x] : "");
    bool any = false;
    for (uint32_t x = 0; x < p->rank; x++) {
        const char *text = p->extent_text ? p->extent_text[x] : NULL;
        bool again = false;
        for (uint32_t y = 0; y < x && text; y++)
            again |= p->extent_text[y] && strcmp(p->extent_text[y], text) == 0;
        if (!text || again || k->params[i].extents[x].kind == RG_EXTENT_CONST)
            continue;
        add(&w, "%s%s = %lld", any ? ", " : " with ", text, (long long)want[x]);
        any = true;
    }
    return bad(k, i, "has shape [%s", w.at);
}

/* ---- checks ---- */

static rg_status bind_array(rg_kernel *k, uint32_t i, const rg_arg *arg) {
    const rg_param_use *u = &k->params[i];
    rg_array *a = arg->array;
    if (!a)
        return bad(k, i, arg->value ? "is an array, but a value was given" : "is null");
    const char *fault = rg_handle_fault(&a->handle, RG_MAGIC_ARRAY);
    if (fault)
        return bad(k, i, "is %s", fault);
    if (arg->value || arg->gradient)
        return bad(k, i, "is an array: value and gradient must be null");
    if (a->dev != k->module->dev)
        return bad(k, i, "is on another device than the kernel");
    if (a->dtype != u->dtype)
        return bad(k, i, "is an array of %s, but the kernel takes %s%s", rg_dtype_name(a->dtype),
                   rg_dtype_name(u->dtype),
                   u->dtype == RG_DTYPE_STRUCT ? " (rg_array_for makes one)" : "");
    if (a->item_size != u->item_size)
        return bad(k, i, "has items of %zu bytes, but the kernel's have %zu", a->item_size,
                   u->item_size);
    if (a->rank != u->rank)
        return bad(k, i, "has %zu axes, but the kernel takes %u", a->rank, u->rank);
    if (a->storage->mapped[RG_DATA])
        return rg_fail(k->module->ctx, RG_ERROR_STATE,
                       "kernel '%s': argument '%s' is mapped: call rg_array_unmap first",
                       k->fn->name, u->name);
    unsigned char *g = rg_array_grad(a);
    k->bindings[i] = (rg_binding){.data = rg_array_data(a), .shadow = g, .shape = a->shape};
    k->shapes[i] = a->shape;
    k->active[i] = g && u->has_float;
    return RG_OK;
}

static rg_status bind_value(rg_kernel *k, uint32_t i, const rg_arg *arg) {
    const rg_param_use *u = &k->params[i];
    if (!arg->value)
        return bad(k, i, arg->array ? "is a value, but an array was given" : "is null");
    if (arg->array)
        return bad(k, i, "is a value: array must be null");
    rg_array *g = arg->gradient;
    if (g) {
        const char *fault = rg_handle_fault(&g->handle, RG_MAGIC_ARRAY);
        if (fault)
            return bad(k, i, "has a gradient array that is %s", fault);
        if (!u->has_float)
            return bad(k, i, "holds no floats: it cannot have a gradient");
        if (g->dev != k->module->dev)
            return bad(k, i, "has a gradient on another device than the kernel");
        if (g->dtype != u->dtype || g->item_size != u->item_size || g->count != 1)
            return bad(k, i, "needs a gradient array of shape [1] and type %s",
                       rg_dtype_name(u->dtype));
        if (g->storage->mapped[RG_DATA])
            return rg_fail(k->module->ctx, RG_ERROR_STATE,
                           "kernel '%s': the gradient of '%s' is mapped: call rg_array_unmap first",
                           k->fn->name, u->name);
    }
    k->bindings[i] = (rg_binding){.shadow = g ? rg_array_data(g) : NULL, .value = arg->value};
    k->values[i] = arg->value;
    k->active[i] = g != NULL;
    return RG_OK;
}

static rg_status check_shapes(rg_kernel *k, const rg_arg *args) {
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param_use *u = &k->params[i];
        if (!u->is_array)
            continue;
        bool fits = true;
        int64_t want[RG_MAX_RANK];
        for (uint32_t x = 0; x < u->rank; x++) {
            const rg_extent *e = &u->extents[x];
            int64_t v = 0;
            if (e->kind == RG_EXTENT_CONST) {
                v = e->value;
            } else if (e->kind == RG_EXTENT_FREE) {
                v = args[i].array->shape[x];
            } else if (e->kind == RG_EXTENT_SCALAR) {
                rg_extent_value(k, e, k->values, NULL, &v);
            } else if (!rg_extent_value(k, e, k->values, k->shapes, &v)) {
                return bad(k, i,
                           "has an extent with no value (division by zero, or a bad shift) "
                           "for these parameters");
            }
            want[x] = v;
            fits &= args[i].array->shape[x] == v;
        }
        if (!fits)
            return bad_shape(k, i, &args[i], want);
    }
    return RG_OK;
}

static bool meet(const unsigned char *a, size_t an, const unsigned char *b, size_t bn) {
    return an && bn && (uintptr_t)a < (uintptr_t)b + bn && (uintptr_t)b < (uintptr_t)a + an;
}

static size_t data_size(const rg_arg *args, uint32_t i) {
    return args[i].array ? args[i].array->bytes : 0;
}

static size_t shadow_size(const rg_kernel *k, const rg_arg *args, uint32_t i) {
    return !k->active[i] ? 0 : args[i].array ? args[i].array->bytes : k->params[i].item_size;
}

static rg_status check_overlaps(rg_kernel *k, const rg_arg *args, rg_launch_use use) {
    rg_context *ctx = k->module->ctx;
    const rg_binding *b = k->bindings;
    const char *name = k->fn->name;
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (!k->params[i].is_array || !k->params[i].uses.writes)
            continue;
        for (uint32_t j = 0; j < k->nparams; j++)
            if (j != i && meet(b[i].data, data_size(args, i), b[j].data, data_size(args, j)))
                return rg_fail(ctx, RG_ERROR_ARGUMENT,
                               "kernel '%s' writes '%s', whose memory overlaps that of '%s': give "
                               "them separate arrays",
                               name, k->params[i].name, k->params[j].name);
    }
    if (use == RG_USE_PLAIN)
        return RG_OK;
    for (uint32_t i = 0; i < k->nparams; i++) {
        k->same[i] = 0;
        size_t size = shadow_size(k, args, i);
        if (!size)
            continue;
        if (args[i].array && args[i].array->storage->mapped[RG_GRADIENT])
            return rg_fail(ctx, RG_ERROR_STATE,
                           "kernel '%s': the gradient of '%s' is mapped: call rg_array_unmap first",
                           name, k->params[i].name);
        for (uint32_t j = 0; j < k->nparams; j++) {
            if (meet(b[i].shadow, size, b[j].data, data_size(args, j)))
                return rg_fail(ctx, RG_ERROR_ARGUMENT,
                               "kernel '%s': the gradient of '%s' overlaps the data of '%s'", name,
                               k->params[i].name, k->params[j].name);
            if (j >= i || !meet(b[i].shadow, size, b[j].shadow, shadow_size(k, args, j)))
                continue;
            /* Two parameters may be the same array, or tied scalars; anything else is a slip. */
            if (b[i].shadow != b[j].shadow || size != shadow_size(k, args, j) ||
                b[i].data != b[j].data)
                return rg_fail(ctx, RG_ERROR_ARGUMENT,
                               "kernel '%s': the gradients of '%s' and '%s' overlap", name,
                               k->params[j].name, k->params[i].name);
            if (!k->same[i])
                k->same[i] = j + 1;
        }
    }
    return RG_OK;
}

/* Reading what depends on something with a gradient, but has none, would lose its part. */
static rg_status check_dependence(rg_kernel *k, const rg_arg *args, rg_launch_use use) {
    bool any = false;
    for (uint32_t i = 0; i < k->nparams; i++)
        any |= k->active[i];
    for (uint32_t i = 0; i < k->nparams && any; i++) {
        const rg_param_use *u = &k->params[i];
        if (!u->is_array || !u->has_float || k->active[i] || !u->uses.reads)
            continue;
        if (rg_array_depends(args[i].array))
            return rg_fail(k->module->ctx, RG_ERROR_STATE,
                           "kernel '%s' reads '%s', which depends on an array with a gradient but "
                           "has none itself: its part of the %s would be lost. Create it with a "
                           "gradient, or call rg_detach on it to cut the dependence",
                           k->fn->name, u->name, use == RG_USE_TANGENT ? "tangent" : "gradient");
    }
    return RG_OK;
}

rg_status rg_launch_bind(rg_kernel *k, const rg_arg *args, size_t n, rg_launch_use use) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    rg_context *ctx = k->module->ctx;
    if (!k->module->dev)
        return rg_fail(ctx, RG_ERROR_STATE, "kernel '%s' was loaded without a device", k->fn->name);
    rg_status s = rg_device_state(k->module->dev);
    if (s != RG_OK)
        return s;
    if (n != k->nparams)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "kernel '%s' takes %u arguments, but %zu were given",
                       k->fn->name, k->nparams, n);
    if (n && !args)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "kernel '%s': the arguments are null", k->fn->name);
    for (uint32_t i = 0; i < k->nparams; i++) {
        s = k->params[i].is_array ? bind_array(k, i, &args[i]) : bind_value(k, i, &args[i]);
        if (s != RG_OK)
            return s;
    }
    s = check_shapes(k, args);
    if (s == RG_OK)
        s = check_overlaps(k, args, use);
    if (s == RG_OK && use != RG_USE_PLAIN)
        s = check_dependence(k, args, use);
    return s;
}

/* ---- versions ---- */

rg_status rg_launch_before_writes(rg_kernel *k, const rg_arg *args) {
    for (uint32_t i = 0; i < k->nparams; i++)
        if (k->params[i].is_array && k->params[i].uses.writes) {
            rg_status s = rg_array_before_write(args[i].array);
            if (s != RG_OK)
                return s;
        }
    return RG_OK;
}

void rg_launch_wrote(rg_kernel *k, const rg_arg *args) {
    bool depends = false;
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param_use *u = &k->params[i];
        if (!u->has_float || !u->uses.reads)
            continue;
        depends |= k->active[i] || (u->is_array && rg_array_depends(args[i].array));
    }
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param_use *u = &k->params[i];
        if (!u->is_array || !u->uses.writes)
            continue;
        bool carries = u->has_float && !k->active[i] && depends;
        rg_array_wrote(args[i].array, carries          ? RG_DEPENDS_SET
                                      : u->uses.covers ? RG_DEPENDS_CLEAR
                                                       : RG_DEPENDS_KEEP);
    }
}

/* ---- running ---- */

rg_status rg_launch_prepare(rg_kernel *k, rg_program *const *programs, uint32_t n) {
    rg_program *p[5];
    uint32_t m = 0;
    rg_status s = rg_program_get(k, RG_PRIMAL, NULL, &p[m++]);
    if (s != RG_OK)
        return s;
    bool ready = p[0]->ready;
    for (uint32_t i = 0; i < n; i++) {
        ready &= programs[i]->ready;
        if (programs[i] != p[0])
            p[m++] = programs[i];
    }
    return ready ? RG_OK : k->module->dev->ops->prepare(k->module->dev, p, m);
}

rg_status rg_launch_program(rg_kernel *k, rg_mode mode, const uint8_t *active, rg_program **out) {
    rg_status s = rg_program_get(k, mode, active, out);
    return s == RG_OK ? rg_launch_prepare(k, out, 1) : s;
}

rg_status rg_launch_fitting(rg_kernel *k, rg_mode mode, rg_program **out) {
    rg_status s = rg_fit(k, mode, NULL, out);
    return s == RG_OK ? rg_launch_prepare(k, out, 1) : s;
}

rg_status rg_launch_run(rg_program *p, const rg_binding *bindings) {
    rg_device *dev = p->kernel->module->dev;
    rg_status s = dev->ops->launch(dev, p, bindings);
    return s == RG_OK ? RG_OK : rg_device_stick(dev, s);
}

rg_status rg_launch(rg_kernel *k, const rg_arg *args, size_t n) {
    rg_status s = rg_launch_bind(k, args, n, RG_USE_PLAIN);
    rg_program *p = NULL;
    if (s == RG_OK)
        s = rg_launch_program(k, RG_PRIMAL, NULL, &p);
    if (s == RG_OK)
        s = rg_launch_before_writes(k, args);
    if (s != RG_OK)
        return s;
    s = rg_launch_run(p, k->bindings);
    rg_launch_wrote(k, args); /* even when it failed on its way */
    return s;
}

rg_status rg_launch_tangent(rg_kernel *k, const rg_arg *args, size_t n) {
    rg_status s = rg_launch_bind(k, args, n, RG_USE_TANGENT);
    rg_program *p = NULL;
    bool any = false;
    for (uint32_t i = 0; s == RG_OK && i < k->nparams; i++)
        any |= k->active[i];
    if (s == RG_OK)
        s = rg_launch_program(k, any ? RG_TANGENT : RG_PRIMAL, k->active, &p);
    if (s == RG_OK)
        s = rg_launch_before_writes(k, args);
    if (s != RG_OK)
        return s;
    s = rg_launch_run(p, k->bindings);
    rg_launch_wrote(k, args);
    return s;
}
