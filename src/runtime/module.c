#include "runtime/module.h"

#include "ad/ad.h"
#include "ir/eval.h"
#include "runtime/array.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const rg_dtype dtype_of[RG_N_MEMS] = {
    [RG_M_BOOL] = RG_DTYPE_BOOL, [RG_M_I8] = RG_DTYPE_I8,   [RG_M_U8] = RG_DTYPE_U8,
    [RG_M_I16] = RG_DTYPE_I16,   [RG_M_U16] = RG_DTYPE_U16, [RG_M_I32] = RG_DTYPE_I32,
    [RG_M_U32] = RG_DTYPE_U32,   [RG_M_I64] = RG_DTYPE_I64, [RG_M_U64] = RG_DTYPE_U64,
    [RG_M_F16] = RG_DTYPE_F16,   [RG_M_F32] = RG_DTYPE_F32, [RG_M_F64] = RG_DTYPE_F64};

/* ---- extents ---- */

static int64_t load_int(rg_mem m, const void *at) {
    switch (m) {
    case RG_M_BOOL:
    case RG_M_U8: {
        uint8_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    case RG_M_I8: {
        int8_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    case RG_M_I16: {
        int16_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    case RG_M_U16: {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    case RG_M_I32: {
        int32_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    case RG_M_U32: {
        uint32_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    default: {
        int64_t v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    }
}

static rg_const load_scalar(rg_mem m, const void *at) {
    rg_const c = {0};
    if (m == RG_M_F64) {
        memcpy(&c.f, at, sizeof c.f);
    } else if (m == RG_M_F32) {
        float v;
        memcpy(&v, at, sizeof v);
        c.f = (double)v;
    } else if (m == RG_M_F16) {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        c.f = (double)rg_half_to_float(v);
    } else {
        c.i = load_int(m, at);
    }
    return c;
}

/* Extents are pure expressions of by-value parameters (and of other arrays' extents). */
enum { DEPTH = 127, ENDS = 128, LAST = 256 }; /* ENDS: variables of loops have values as well */

static bool evaluate(const rg_fn *f, rg_val v, const void *const *values,
                     const int64_t *const *shapes, int depth, rg_const *out);

/* The first value of a loop's variable, or its last. */
static bool loop_variable(const rg_fn *f, rg_val v, const void *const *values,
                          const int64_t *const *shapes, int depth, rg_const *out) {
    const rg_value *x = rg_value_at(f, v);
    rg_iid owner = x->def || !x->region ? 0 : rg_region_at(f, x->region)->owner;
    rg_const hi;
    if (!owner || !(depth & ENDS) || (depth & DEPTH) > 64 ||
        (rg_ins_at(f, owner)->op != RG_FOR && rg_ins_at(f, owner)->op != RG_PARALLEL) ||
        x->index >= rg_first_carried(f, owner))
        return false;
    uint32_t at = 2 * x->index;
    if (!evaluate(f, rg_operand(f, owner, at), values, shapes, depth + 1, out) ||
        !evaluate(f, rg_operand(f, owner, at + 1), values, shapes, depth + 1, &hi))
        return false;
    if ((depth & LAST) && hi.i > out->i)
        out->i = hi.i - 1;
    return true;
}

static bool evaluate(const rg_fn *f, rg_val v, const void *const *values,
                     const int64_t *const *shapes, int depth, rg_const *out) {
    rg_iid id = f->vals.at[v].def;
    if (!id || (depth & DEPTH) > 64)
        return loop_variable(f, v, values, shapes, depth, out);
    const rg_ins *i = rg_ins_at(f, id);
    if (i->op == RG_CONST) {
        if (rg_type_is_float(rg_type_of(f, v)))
            out->f = i->imm.f;
        else
            out->i = i->imm.i;
        return true;
    }
    if (i->op == RG_SCALAR) {
        const rg_scalar *s = &f->scalars.at[i->imm.i];
        if (!values[s->param])
            return false;
        *out = load_scalar(s->mem, (const char *)values[s->param] + s->offset);
        return true;
    }
    if (i->op == RG_EXTENT) {
        const rg_ir_array *a = rg_array_at(f, i->array);
        if (!shapes || a->kind == RG_ARR_LOCAL || !shapes[a->param])
            return false;
        out->i = shapes[a->param][i->imm.i];
        return true;
    }
    if (!rg_op_is_pure((rg_op)i->op) || i->nopnd > 3)
        return false;
    rg_const x[3];
    for (uint32_t k = 0; k < i->nopnd; k++)
        if (!evaluate(f, rg_operand(f, id, k), values, shapes, depth + 1, &x[k]))
            return false;
    rg_type xt = i->nopnd ? rg_type_of(f, rg_operand(f, id, 0)) : RG_VOID;
    return rg_eval((rg_op)i->op, rg_type_of(f, v), xt, i->imm.i, x, out);
}

bool rg_extent_value(const rg_kernel *k, const rg_extent *e, const void *const *values,
                     const int64_t *const *shapes, int64_t *out) {
    switch (e->kind) {
    case RG_EXTENT_CONST:
        *out = e->value;
        return true;
    case RG_EXTENT_SCALAR:
        if (!values[e->param])
            return false;
        *out = load_int(e->mem, (const char *)values[e->param] + e->offset);
        return true;
    case RG_EXTENT_VALUE: {
        rg_const c;
        if (!evaluate(k->fn, e->val, values, shapes, 0, &c))
            return false;
        *out = c.i;
        return true;
    }
    default:
        return false;
    }
}

static rg_extent extent_plan(const rg_fn *f, rg_val v) {
    rg_extent e = {.kind = RG_EXTENT_FREE};
    if (!v)
        return e;
    e.kind = RG_EXTENT_VALUE;
    e.val = v;
    if (rg_val_const_int(f, v, &e.value)) {
        e.kind = RG_EXTENT_CONST;
        return e;
    }
    /* A widening cast keeps the value, and load_int gives it wide. */
    if (rg_def_op(f, v) == RG_CAST) {
        rg_val x = rg_operand(f, f->vals.at[v].def, 0);
        if (rg_type_of(f, x) == RG_I32 || rg_type_of(f, x) == RG_U32)
            v = x;
    }
    if (rg_def_op(f, v) == RG_SCALAR) {
        const rg_scalar *s = &f->scalars.at[f->ins.at[f->vals.at[v].def].imm.i];
        if (!rg_mem_is_float(s->mem)) {
            e.kind = RG_EXTENT_SCALAR;
            e.param = s->param;
            e.offset = s->offset;
            e.mem = s->mem;
        }
    }
    return e;
}

/* ---- modules ---- */

static void kernel_init(rg_module *m, uint32_t index) {
    rg_arena *a = m->arena;
    rg_kernel *k = &m->kernels[index];
    const rg_fn *f = m->unit->module->kernels.at[index];
    k->handle = (rg_handle){RG_MAGIC_KERNEL, 1, false, sizeof *k, NULL};
    k->module = m;
    k->index = index;
    k->fn = f;
    k->nparams = f->params.n;
    k->params = RG_NEW_N(a, rg_param_use, k->nparams + 1);
    k->records = rg_ad_records(a, m->unit->marked[index] ? m->unit->marked[index] : f);
    k->bindings = RG_NEW_N(a, rg_binding, k->nparams + k->records.all + 1);
    k->kept = RG_NEW_N(a, uint8_t, k->records.all + 1);
    k->active = RG_NEW_N(a, uint8_t, k->nparams + 1);
    k->values = RG_NEW_N(a, const void *, k->nparams + 1);
    k->shapes = RG_NEW_N(a, const int64_t *, k->nparams + 1);
    k->same = RG_NEW_N(a, uint32_t, k->nparams + 1);
    for (uint32_t i = 0; i < k->nparams; i++) {
        const rg_param *p = &f->params.at[i];
        rg_param_use *u = &k->params[i];
        u->name = p->name ? p->name : "?";
        u->is_array = p->is_array;
        u->has_float = rg_elem_has_float(p->elem);
        u->uses = rg_uses_of(f, i);
        u->dtype = p->elem->is_struct ? RG_DTYPE_STRUCT : dtype_of[p->elem->mem];
        u->item_size = p->elem->size;
        u->rank = p->is_array ? p->rank : 0;
        u->extents = RG_NEW_N(a, rg_extent, u->rank + 1);
        const rg_val *extents = p->is_array ? rg_array_at(f, p->array)->extents : NULL;
        for (uint32_t x = 0; x < u->rank; x++)
            u->extents[x] = extent_plan(f, extents ? extents[x] : 0);
    }
}

/* The diagnostics as the message; returns status. */
rg_status rg_refuse(rg_context *ctx, const rg_diags *d, rg_arena *sources, rg_status status) {
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a)
        return rg_fail_memory(ctx);
    volatile rg_status s = status;
    int thrown = RG_GUARD(a);
    if (!thrown)
        thrown = RG_GUARD(sources); /* the index of a file's lines is made on first use */
    if (!thrown) {
        rg_text t = {.arena = a};
        rg_diags_render(d, &t);
        while (t.n && t.at[t.n - 1] == '\n')
            t.at[--t.n] = 0;
        rg_fail(ctx, s, "%s", rg_text_str(&t));
    } else {
        s = rg_fail_memory(ctx);
    }
    rg_arena_free(a);
    return s;
}

static bool sound(const char *const *list, size_t n) {
    if (n > 100000 || (n && !list))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!list[i])
            return false;
    return true;
}

static const uint64_t TAPE_MEMORY = UINT64_C(1) << 30;

static rg_status compile(rg_context *ctx, rg_device *dev, const char *path, const char *text,
                         size_t size, const rg_module_options *o, rg_module **out) {
    if (!out || !path || (!text && size))
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "%s is null",
                       !out    ? "the place for the new module"
                       : !path ? "the file's name"
                               : "the text");
    *out = NULL;
    if (o && o->size < sizeof *o)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the module options' size is not set");
    if (o && (!sound(o->defines, o->n_defines) || !sound(o->include_dirs, o->n_include_dirs)))
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the module options' lists make no sense");
    rg_compile_options c = {0};
    if (o)
        c = (rg_compile_options){o->defines,      (uint32_t)o->n_defines,
                                 o->include_dirs, (uint32_t)o->n_include_dirs,
                                 o->cpp,          o->strict_edges};
    rg_unit *unit;
    rg_compile_status compiled =
        rg_unit_compile(&ctx->allocator, path, text ? text : "", size, &c, &unit);
    rg_status s = RG_OK;
    if (compiled == RG_COMPILE_MEMORY)
        return rg_fail_memory(ctx);
    if (compiled == RG_COMPILE_ERRORS)
        s = rg_refuse(ctx, &unit->diags, unit->arena, RG_ERROR_SOURCE);
    else if (compiled == RG_COMPILE_INTERNAL)
        s = rg_fail_thrown(ctx, unit->arena, RG_THROW_INTERNAL);
    if (s != RG_OK) {
        rg_unit_free(unit);
        return s;
    }
    rg_module *m = rg_handle_new(ctx, sizeof *m, RG_MAGIC_MODULE);
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!m || !a || RG_GUARD(a)) {
        if (a)
            rg_arena_free(a);
        rg_unit_free(unit);
        if (m)
            rg_handle_free(ctx, &m->handle);
        return rg_fail_memory(ctx);
    }
    m->nkernels = unit->module->kernels.n;
    m->ctx = ctx;
    m->tape_memory = o && o->tape_memory ? o->tape_memory : TAPE_MEMORY;
    m->unit = unit;
    unit->recompute = dev && dev->ops->read; /* a card of its own */
    m->arena = a;
    m->kernels = RG_NEW_N(a, rg_kernel, m->nkernels + 1);
    for (uint32_t i = 0; i < m->nkernels; i++)
        kernel_init(m, i);
    rg_context_retain(ctx);
    m->dev = dev;
    if (dev)
        rg_device_retain(dev);
    /* Warnings are all that a success has to say. */
    rg_fail(ctx, RG_OK, "%s", "");
    if (unit->diags.list.n)
        rg_refuse(ctx, &unit->diags, unit->arena, RG_OK);
    *out = m;
    return RG_OK;
}

static rg_status load(rg_context *ctx, rg_device *dev, const char *path, const rg_module_options *o,
                      rg_module **out) {
    if (!path)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the file's name is null");
    FILE *f = fopen(path, "rb");
    if (!f)
        return rg_fail(ctx, RG_ERROR_FILE, "cannot open '%s': %s", path, strerror(errno));
    char *text = NULL;
    size_t n = 0, cap = 0;
    rg_status s = RG_OK;
    const rg_allocator *al = &ctx->allocator;
    for (;;) {
        if (n == cap) {
            size_t grown = cap ? cap * 2 : 16384;
            char *more = al->resize(al->user, text, cap, grown);
            if (!more) {
                s = rg_fail_memory(ctx);
                break;
            }
            text = more;
            cap = grown;
        }
        size_t k = fread(text + n, 1, cap - n, f);
        n += k;
        if (!k)
            break;
    }
    if (s == RG_OK && ferror(f))
        s = rg_fail(ctx, RG_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
    fclose(f);
    if (s == RG_OK)
        s = compile(ctx, dev, path, text, n, o, out);
    if (text)
        al->resize(al->user, text, cap, 0);
    return s;
}

rg_status rg_module_load(rg_device *dev, const char *path, const rg_module_options *o,
                         rg_module **out) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return RG_ERROR_ARGUMENT;
    return load(dev->ctx, dev, path, o, out);
}

rg_status rg_module_load_host(rg_context *ctx, const char *path, const rg_module_options *o,
                              rg_module **out) {
    if (!ctx || rg_handle_fault(&ctx->handle, RG_MAGIC_CONTEXT))
        return RG_ERROR_ARGUMENT;
    return load(ctx, NULL, path, o, out);
}

rg_status rg_module_compile(rg_device *dev, const char *path, const char *text, size_t size,
                            const rg_module_options *o, rg_module **out) {
    if (!dev || rg_handle_fault(&dev->handle, RG_MAGIC_DEVICE))
        return RG_ERROR_ARGUMENT;
    return compile(dev->ctx, dev, path, text, size, o, out);
}

void rg_module_retain(rg_module *m) {
    m->handle.refs++;
}

void rg_module_drop(rg_module *m) {
    if (--m->handle.refs)
        return;
    rg_context *ctx = m->ctx;
    for (uint32_t i = 0; i < m->nkernels; i++)
        for (rg_program *p = m->kernels[i].programs; p; p = p->next)
            rg_variant_free(p->variant);
    rg_arena_free(m->arena);
    rg_unit_free(m->unit);
    if (m->dev) {
        if (m->code)
            m->dev->ops->unload(m->dev, m->code);
        rg_device_drop(m->dev);
    }
    rg_handle_free(ctx, &m->handle);
    rg_context_drop(ctx);
}

void rg_module_release(rg_module *m) {
    if (!m || rg_handle_fault(&m->handle, RG_MAGIC_MODULE))
        return;
    m->handle.released = true;
    for (uint32_t i = 0; i < m->nkernels; i++)
        m->kernels[i].handle.released = true;
    rg_module_drop(m);
}

rg_status rg_module_kernel(rg_module *m, const char *name, rg_kernel **out) {
    if (!m || rg_handle_fault(&m->handle, RG_MAGIC_MODULE))
        return RG_ERROR_ARGUMENT;
    if (!name || !out)
        return rg_fail(m->ctx, RG_ERROR_ARGUMENT, "rg_module_kernel: %s is null",
                       name ? "out" : "name");
    *out = NULL;
    for (uint32_t i = 0; i < m->nkernels; i++)
        if (strcmp(m->kernels[i].fn->name, name) == 0) {
            *out = &m->kernels[i];
            return RG_OK;
        }
    char list[300] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < m->nkernels && n < sizeof list - 1; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
                              m->kernels[i].fn->name);
    return rg_fail(m->ctx, RG_ERROR_ARGUMENT, "there is no kernel '%s'; the file has: %s", name,
                   m->nkernels ? list : "none");
}

size_t rg_module_kernel_count(const rg_module *m) {
    return !m || rg_handle_fault(&m->handle, RG_MAGIC_MODULE) ? 0 : m->nkernels;
}

rg_kernel *rg_module_kernel_at(rg_module *m, size_t i) {
    return i < rg_module_kernel_count(m) ? &m->kernels[i] : NULL;
}

/* ---- kernels ---- */

const char *rg_kernel_fault(const rg_kernel *k) {
    return rg_handle_fault(k ? &k->handle : NULL, RG_MAGIC_KERNEL);
}

const char *rg_kernel_name(const rg_kernel *k) {
    return rg_kernel_fault(k) ? "" : k->fn->name;
}

size_t rg_kernel_param_count(const rg_kernel *k) {
    return rg_kernel_fault(k) ? 0 : k->nparams;
}

static rg_status no_param(const rg_kernel *k, size_t i) {
    return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "kernel '%s' has no parameter %zu: it has %u",
                   k->fn->name, i, k->nparams);
}

rg_status rg_kernel_param(const rg_kernel *k, size_t i, rg_param_info *out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    if (i >= k->nparams)
        return no_param(k, i);
    if (!out || out->size < sizeof *out)
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT,
                       "rg_kernel_param: out is null or its size not set");
    const rg_param *p = &k->fn->params.at[i];
    const rg_param_use *u = &k->params[i];
    *out = (rg_param_info){.size = out->size,
                           .name = u->name,
                           .is_array = u->is_array,
                           .is_const = p->is_const,
                           .dtype = u->dtype,
                           .item_size = u->item_size,
                           .rank = u->rank,
                           .has_float = u->has_float,
                           .field_dtype = u->dtype,
                           .extent_text = (const char *const *)p->extent_text,
                           .type_name = p->elem->is_struct ? p->elem->name : NULL};
    if (p->elem->is_struct && p->elem->nleaves) {
        bool one = true;
        rg_mem mem = p->elem->leaves[0].mem;
        for (uint32_t l = 0; l < p->elem->nleaves; l++)
            one = one && p->elem->leaves[l].mem == mem;
        if (one) {
            out->fields = rg_kernel_field_count(k, i);
            out->field_dtype = dtype_of[mem];
        }
    }
    return RG_OK;
}

static size_t dims_count(const rg_field *f) {
    size_t n = 1;
    for (uint32_t d = 0; d < f->ndims; d++)
        n *= (size_t)f->dims[d];
    return n;
}

static size_t scalar_count(const rg_elem *e) {
    if (!e->is_struct)
        return 1;
    size_t n = 0;
    for (uint32_t i = 0; i < e->nfields; i++)
        n += dims_count(&e->fields[i]) * scalar_count(e->fields[i].type);
    return n;
}

size_t rg_kernel_field_count(const rg_kernel *k, size_t param) {
    if (rg_kernel_fault(k) || param >= k->nparams)
        return 0;
    return scalar_count(k->fn->params.at[param].elem);
}

/* Appends to the path, as far as there is room. */
static void path_add(rg_field_info *out, const char *s) {
    size_t n = strlen(out->path);
    snprintf(out->path + n, sizeof out->path - n, "%s", s);
}

/* Scalar number n of e, in the order of memory. */
static void field_find(const rg_elem *e, size_t n, rg_field_info *out) {
    if (!e->is_struct) {
        out->dtype = dtype_of[e->mem];
        return;
    }
    for (uint32_t i = 0; i < e->nfields; i++) {
        const rg_field *f = &e->fields[i];
        size_t each = scalar_count(f->type), all = dims_count(f) * each;
        if (n >= all) {
            n -= all;
            continue;
        }
        size_t element = n / each, rest = dims_count(f);
        out->offset += f->offset + element * f->type->size;
        path_add(out, ".");
        path_add(out, f->name);
        for (uint32_t d = 0; d < f->ndims; d++) {
            char text[32];
            rest /= (size_t)f->dims[d];
            snprintf(text, sizeof text, "[%zu]", element / rest % (size_t)f->dims[d]);
            path_add(out, text);
        }
        field_find(f->type, n % each, out);
        return;
    }
}

rg_status rg_kernel_field(const rg_kernel *k, size_t param, size_t field, rg_field_info *out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    if (param >= k->nparams)
        return no_param(k, param);
    if (!out || out->size < sizeof *out)
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT,
                       "rg_kernel_field: out is null or its size not set");
    if (field >= rg_kernel_field_count(k, param))
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "parameter '%s' has no field %zu",
                       k->params[param].name, field);
    *out = (rg_field_info){.size = out->size};
    field_find(k->fn->params.at[param].elem, field, out);
    return RG_OK;
}

rg_status rg_kernel_param_shape(const rg_kernel *k, size_t i, const int64_t *values,
                                const bool *known, int64_t *shape) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    rg_context *ctx = k->module->ctx;
    if (i >= k->nparams)
        return no_param(k, i);
    if (!k->params[i].is_array)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "parameter '%s' is no array", k->params[i].name);
    if ((!values && k->nparams) || (!shape && k->params[i].rank))
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "rg_kernel_param_shape: values or shape is null");
    /* As the parameter's type stores them: the first bytes on a little-endian machine. */
    const void **at = rg_ctx_alloc(ctx, (k->nparams + 1) * sizeof *at);
    if (!at)
        return RG_ERROR_MEMORY;
    for (uint32_t p = 0; p < k->nparams; p++) {
        const rg_param_use *u = &k->params[p];
        bool integer = !u->is_array && u->dtype <= RG_DTYPE_U64;
        at[p] = integer && (!known || known[p]) ? &values[p] : NULL;
    }
    for (uint32_t x = 0; x < k->params[i].rank; x++)
        if (!rg_extent_value(k, &k->params[i].extents[x], at, NULL, &shape[x]))
            shape[x] = -1;
    rg_ctx_free(ctx, at, (k->nparams + 1) * sizeof *at);
    return RG_OK;
}

rg_status rg_array_for(rg_kernel *k, size_t param, size_t rank, const int64_t *shape, bool gradient,
                       rg_array **out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    rg_context *ctx = k->module->ctx;
    if (param >= k->nparams)
        return no_param(k, param);
    const rg_param_use *u = &k->params[param];
    if (!k->module->dev)
        return rg_fail(ctx, RG_ERROR_STATE, "the module was loaded without a device");
    if (gradient && !u->has_float)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "'%s' holds no floats: it cannot have a gradient",
                       u->name);
    if (u->dtype == RG_DTYPE_STRUCT)
        return rg_array_new_struct(k->module->dev, u->item_size, rank, shape, gradient, out);
    return rg_array_new(k->module->dev, u->dtype, rank, shape, gradient, out);
}

/* ---- programs ---- */

rg_status rg_kernel_variant(rg_kernel *k, rg_mode mode, const rg_activity *act,
                            const rg_ad_blocks *blocks, rg_variant **out) {
    rg_context *ctx = k->module->ctx;
    rg_variant *v = NULL;
    rg_compile_status c =
        rg_variant_build(k->module->unit, k->index, mode, act, blocks, &ctx->allocator, &v);
    rg_status s = RG_OK;
    if (c == RG_COMPILE_MEMORY)
        s = rg_fail_memory(ctx);
    else if (c == RG_COMPILE_ERRORS)
        s = rg_refuse(ctx, &v->diags, k->module->unit->arena, RG_ERROR_REFUSED);
    else if (c == RG_COMPILE_INTERNAL)
        s = rg_fail_thrown(ctx, v->arena, RG_THROW_INTERNAL);
    if (s != RG_OK) {
        rg_variant_free(v);
        v = NULL;
    }
    *out = v;
    return s;
}

/* What a program is made for; NULL where that makes no difference. */
typedef struct want {
    rg_kernel *kernel;
    rg_mode mode;
    const uint8_t *active; /* [params] */
    const uint8_t *wanted; /* [record arrays] */
    const rg_ad_blocks *blocks;
} want;

enum { SMALL_SAVE = 65536 }; /* bytes that need not be counted, where they are known */

static bool is_loop(const rg_fn *primal, rg_loc loc) {
    for (rg_iid i = 1; i < primal->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(primal, i);
        if (ins->parent && ins->loc == loc && (ins->op == RG_FOR || ins->op == RG_LOOP))
            return true;
    }
    return false;
}

/* Not the copies that are made before a parallel loop: those are one for each array. */
static void find_saves(rg_arena *a, rg_program *p) {
    const rg_fn *f = p->fn;
    RG_VEC(rg_iid) list = {0};
    for (rg_iid i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->parent || ins->op != RG_ALLOC)
            continue;
        const rg_ir_array *x = rg_array_at(f, ins->array);
        if (!(x->flags & RG_ARR_SAVE) || (x->flags & RG_ARR_GROW) ||
            !is_loop(p->kernel->fn, ins->loc))
            continue;
        int64_t n = (int64_t)x->elem->size, c;
        for (uint32_t k = 0; k < ins->nopnd && n; k++) {
            bool known = rg_val_const_int(f, rg_operand(f, i, k), &c);
            n = known && c >= 0 && c <= SMALL_SAVE && n * c <= SMALL_SAVE ? n * c : 0;
        }
        if (!n)
            RG_PUSH(a, &list, i);
    }
    p->saves = list.at;
    p->nsaves = list.n;
}

/* In the module's arena, under its guard. */
static rg_program *program_new(const want *w, rg_variant *variant) {
    rg_kernel *k = w->kernel;
    rg_arena *a = k->module->arena;
    rg_program *p = RG_NEW(a, rg_program);
    p->kernel = k;
    p->mode = w->mode;
    p->active = RG_NEW_N(a, uint8_t, k->nparams + 1);
    if (w->active && k->nparams)
        memcpy(p->active, w->active, k->nparams);
    if (w->wanted) {
        p->wanted = RG_NEW_N(a, uint8_t, k->records.all + 1);
        memcpy(p->wanted, w->wanted, k->records.all);
    }
    const rg_fn *f = p->fn = variant ? variant->fn : k->fn;
    p->layout = rg_layout_make(a, f);
    p->pointers = RG_NEW_N(a, rg_pointer, f->arrays.n + 1);
    for (uint32_t i = 1; i < f->arrays.n; i++) {
        const rg_ir_array *x = rg_array_at(f, i);
        if (x->kind == RG_ARR_LOCAL || p->layout->array_pointer[i] == UINT32_MAX)
            continue;
        bool shadow = x->kind == RG_ARR_SHADOW, hvp = f->mode == RG_HVP;
        p->pointers[p->npointers++] =
            (rg_pointer){.offset = p->layout->array_pointer[i],
                         .array = i,
                         .param = x->param,
                         .shadow = shadow,
                         .dot = shadow && hvp && x->shadow == RG_SH_DOT,
                         .product = shadow && hvp && x->shadow == (RG_SH_GRAD | RG_SH_DOT)};
    }
    p->reads = RG_NEW_N(a, uint8_t, k->nparams + 1);
    for (uint32_t i = 0; i < k->nparams; i++)
        p->reads[i] = k->params[i].is_array && rg_uses_of(f, i).reads;
    if (rg_mode_goes_back(p->mode) && k->records.all) {
        p->records = RG_NEW_N(a, uint8_t, k->records.all + 1);
        for (uint32_t i = k->nparams; i < f->params.n; i++)
            p->records[i - k->nparams] = rg_uses_of(f, i).reads;
    }
    if (rg_mode_goes_back(p->mode))
        find_saves(a, p);
    p->block = rg_alloc(a, p->layout->size + 8);
    p->arrays = RG_NEW_N(a, rg_interp_array, f->arrays.n + 1);
    p->scalars = RG_NEW_N(a, const void *, k->nparams + 1);
    p->variant = variant; /* last: before this the caller still has to free it */
    return p;
}

bool rg_program_record_shape(const rg_program *p, uint32_t i, int64_t *shape) {
    const rg_kernel *k = p->kernel;
    const rg_fn *f = p->fn;
    const rg_ir_array *a = rg_array_at(f, f->params.at[k->nparams + i].array);
    rg_const c;
    for (uint32_t x = 0; x < a->rank; x++) {
        if (!evaluate(f, a->extents[x], k->values, k->shapes, 0, &c) || c.i < 0)
            return false;
        shape[x] = c.i;
    }
    return true;
}

bool rg_program_value(const rg_program *p, rg_val v, bool last, int64_t *out) {
    rg_const c;
    bool known =
        evaluate(p->fn, v, p->kernel->values, p->kernel->shapes, ENDS | (last ? LAST : 0), &c);
    *out = known ? c.i : 0;
    return known;
}

static bool same(const uint8_t *a, const uint8_t *b, uint32_t n) {
    return !n || memcmp(a, b, n) == 0;
}

static uint32_t levels_of(const want *w) {
    return w->blocks ? w->blocks->levels : 0;
}

static bool is_wanted(const rg_program *p, const want *w) {
    return p->mode == w->mode && p->blocks == levels_of(w) && !p->wanted == !w->wanted &&
           (!w->active || same(p->active, w->active, w->kernel->nparams)) &&
           (!w->wanted || same(p->wanted, w->wanted, w->kernel->records.all));
}

static rg_status get(const want *w, rg_program **out) {
    rg_kernel *k = w->kernel;
    if (w->mode == RG_PRIMAL && k->primal) {
        *out = k->primal;
        return RG_OK;
    }
    for (rg_program *p = k->programs; p && w->mode != RG_PRIMAL; p = p->next)
        if (is_wanted(p, w)) {
            *out = p;
            return RG_OK;
        }
    rg_variant *variant = NULL;
    if (w->mode != RG_PRIMAL) {
        uint8_t *copy = rg_ctx_alloc(k->module->ctx, k->nparams + 1u);
        if (!copy)
            return RG_ERROR_MEMORY;
        memset(copy, 0, k->nparams);
        if (w->active && k->nparams)
            memcpy(copy, w->active, k->nparams);
        /* No groups: parameters that share a gradient get separate memory for it, added together
         * after the launch (record.c). */
        rg_activity act = {.nparams = k->nparams, .active = copy, .wanted = w->wanted};
        rg_status s = rg_kernel_variant(k, w->mode, &act, w->blocks, &variant);
        rg_ctx_free(k->module->ctx, copy, k->nparams + 1u);
        if (s != RG_OK)
            return s;
    }
    int thrown = RG_GUARD(k->module->arena);
    if (thrown) {
        rg_variant_free(variant);
        return rg_fail_thrown(k->module->ctx, k->module->arena, thrown);
    }
    rg_program *p = program_new(w, variant);
    p->blocks = levels_of(w);
    if (w->mode == RG_PRIMAL) {
        k->primal = p;
    } else {
        p->next = k->programs;
        k->programs = p;
    }
    *out = p;
    return RG_OK;
}

rg_status rg_program_get(rg_kernel *k, rg_mode mode, const uint8_t *active, rg_program **out) {
    want w = {.kernel = k, .mode = mode, .active = mode == RG_PRIMAL ? NULL : active};
    return get(&w, out);
}

rg_status rg_program_get_as(rg_kernel *k, rg_mode mode, const uint8_t *active,
                            const uint8_t *wanted, const rg_ad_blocks *blocks, rg_program **out) {
    want w = {.kernel = k, .mode = mode, .active = active, .wanted = wanted, .blocks = blocks};
    return get(&w, out);
}

bool rg_program_reads_record(const rg_program *p, uint32_t i) {
    return p->records && p->records[i];
}

rg_status rg_program_get_recording(const rg_program *p, rg_program **out) {
    rg_kernel *k = p->kernel;
    bool any = false;
    for (uint32_t i = 0; i < k->records.all && p->records; i++)
        any |= p->records[i];
    want w = {.kernel = k, .mode = any ? RG_RECORD : RG_PRIMAL, .wanted = any ? p->records : NULL};
    if (p->mode != RG_ADJOINT) {
        w.mode = any ? RG_RECORD_TANGENT : RG_TANGENT;
        w.active = p->active;
    }
    return get(&w, out);
}
