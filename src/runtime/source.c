/* The text of a kernel's variants, and compiling them ahead. */
#include "runtime/launch.h"
#include "runtime/source_gpu.h"

#include "emit/c/emit_c.h"
#include "ir/print.h"

#include <string.h>

static rg_mode mode_of(rg_kernel_mode m) {
    switch (m) {
    case RG_MODE_ADJOINT:
        return RG_ADJOINT;
    case RG_MODE_TANGENT:
        return RG_TANGENT;
    case RG_MODE_HVP:
        return RG_HVP;
    case RG_MODE_ADJOINT_OF_TANGENT:
        return RG_ADJOINT_OF_TANGENT;
    default:
        return RG_PRIMAL;
    }
}

/* Fills k->active from the options. */
static rg_status choose(rg_kernel *k, const rg_emit_options *o) {
    rg_context *ctx = k->module->ctx;
    if (!o || o->size < sizeof *o)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the options are null or their size is not set");
    if ((unsigned)o->mode > RG_MODE_ADJOINT_OF_TANGENT || (unsigned)o->target > RG_TARGET_MSL ||
        (unsigned)o->addressing > RG_ADDRESSING_OFFSET)
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       "the options name no mode, no target or no addressing");
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (o->active && o->active[i] && !k->params[i].has_float)
            return rg_fail(ctx, RG_ERROR_ARGUMENT,
                           "parameter '%s' of kernel '%s' holds no floats: it cannot be active",
                           k->params[i].name, k->fn->name);
        k->active[i] = o->active ? o->active[i] : k->params[i].has_float;
    }
    return RG_OK;
}

/* Kernels as C on their own. A caller hands over pointers only, so lengths must follow from the
 * parameters, and nothing may come from a record. */
static void emit_plain(const rg_fn *const *fns, const rg_activity *const *acts, uint32_t n,
                       rg_diags *d, rg_text *out) {
    for (uint32_t i = 0; i < n; i++)
        if (acts[i]->nparams < fns[i]->params.n) {
            rg_error(d, fns[i]->params.at[acts[i]->nparams].loc,
                     "run it through the library (rg_record_launch and rg_backward, rg_hvp), or "
                     "find the value "
                     "without a capture: in a loop before, or with a prefix sum",
                     "the %s of '%s' as C on its own cannot be had: it needs the values that are "
                     "captured here, which only a recorded launch keeps",
                     rg_mode_name(fns[i]->mode), fns[i]->name);
            return;
        }
    uint32_t which = 0;
    rg_aid a = rg_emit_c_plain_file(fns, acts, n, &which, out);
    if (!a)
        return;
    const rg_fn *f = fns[which];
    const rg_param *p = &f->params.at[rg_array_at(f, a)->param];
    rg_error(d, p->loc, "declare it with its length: `T x[n]`, n a parameter before it",
             "the %s of '%s' as C needs the length of '%s', which its declaration does not give",
             rg_mode_name(f->mode), f->name, p->name);
}

static rg_status emit(rg_kernel *k, rg_variant *v, const rg_emit_options *o, const rg_activity *act,
                      rg_text *out) {
    rg_emit_c_options plain = {.acts = &act};
    if (k->module->dev)
        plain.checked = k->module->dev->options.checked;
    const char *name =
        rg_format(out->arena, "rg_entry_%s_%s_0", k->fn->name, rg_mode_name(v->fn->mode));
    const rg_fn *fns[1] = {v->fn};
    switch (o->target) {
    case RG_TARGET_C:
        emit_plain(fns, &act, 1, &v->diags, out);
        break;
    case RG_TARGET_IR:
        rg_ir_print(v->fn, out);
        break;
    case RG_TARGET_CPU:
        rg_emit_c_cpu(fns, &name, 1, &plain, out);
        break;
    case RG_TARGET_EXPLAIN:
        rg_explain(k->module->unit, k->index, v, out);
        break;
    case RG_TARGET_SPIRV:
        return rg_source_spirv(k, v, o, out);
    case RG_TARGET_MSL:
        return rg_source_msl(k, v, o, out, NULL);
    }
    return RG_OK;
}

/* A text to out, or a count of slots to slots. */
static rg_status produce(rg_kernel *k, const rg_emit_options *o, char **out, rg_slots_info *slots) {
    rg_context *ctx = k->module->ctx;
    rg_status s = choose(k, o);
    if (s != RG_OK)
        return s;
    rg_activity act = {.nparams = k->nparams, .active = k->active, .group = NULL};
    act.alone = o->target == RG_TARGET_C; /* its interface has no place for what a record keeps */
    /* What is explained is the adjoint, whatever the mode. */
    bool explain = !slots && o->target == RG_TARGET_EXPLAIN;
    rg_mode mode = explain ? RG_ADJOINT : mode_of(o->mode);
    rg_variant *v;
    s = rg_kernel_variant(k, mode, &act, NULL, &v);
    if (s != RG_OK)
        return s;
    rg_arena *a = rg_arena_new(&ctx->allocator);
    if (!a) {
        rg_variant_free(v);
        return rg_fail_memory(ctx);
    }
    rg_arena *volatile where = a;
    int thrown = RG_GUARD(a);
    if (!thrown && (thrown = RG_GUARD(v->arena)) != 0)
        where = v->arena;
    if (!thrown && (thrown = RG_GUARD(k->module->unit->arena)) != 0)
        where = k->module->unit->arena;
    volatile rg_status result = RG_OK;
    if (thrown == RG_THROW_ERRORS) {
        result = rg_refuse(ctx, &v->diags, k->module->unit->arena, RG_ERROR_REFUSED);
    } else if (thrown) {
        result = rg_fail_thrown(ctx, where, thrown);
    } else {
        rg_text text = {.arena = a};
        result = slots ? rg_source_msl(k, v, o, &text, slots) : emit(k, v, o, &act, &text);
        if (v->diags.errors)
            result = rg_refuse(ctx, &v->diags, k->module->unit->arena, RG_ERROR_REFUSED);
        if (result == RG_OK && !slots) {
            *out = rg_ctx_gift_bytes(ctx, text.at, text.n);
            if (o->length)
                *o->length = text.n;
            if (!*out)
                result = RG_ERROR_MEMORY;
        }
    }
    rg_arena_free(a);
    rg_variant_free(v);
    return result;
}

rg_status rg_kernel_emit(rg_kernel *k, const rg_emit_options *o, char **out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    if (!out)
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT, "rg_kernel_emit: out is null");
    *out = NULL;
    return produce(k, o, out, NULL);
}

/* Everything of several variants in one arena, so that one guard is enough. */
typedef struct together {
    rg_arena *arena;
    rg_diags diags;
    rg_variant **variants; /* kept: the copies share their names */
    const rg_fn **fns;
    const rg_activity **acts;
    uint32_t n;
} together;

static rg_status add_variant(together *t, rg_kernel *k, const rg_emit_options *o) {
    rg_context *ctx = k->module->ctx;
    rg_status s = choose(k, o);
    if (s != RG_OK)
        return s;
    if (o->target != RG_TARGET_C)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "several kernels go into one file as C only");
    rg_activity act = {.nparams = k->nparams, .active = k->active, .alone = true};
    rg_variant *v;
    s = rg_kernel_variant(k, mode_of(o->mode), &act, NULL, &v);
    if (s != RG_OK)
        return s;
    int thrown = RG_GUARD(t->arena);
    if (thrown) {
        rg_variant_free(v);
        return rg_fail_thrown(ctx, t->arena, thrown);
    }
    rg_activity *kept = RG_NEW(t->arena, rg_activity);
    *kept = act;
    kept->active = RG_NEW_N(t->arena, uint8_t, k->nparams + 1);
    if (k->nparams)
        memcpy(kept->active, k->active, k->nparams);
    t->fns[t->n] = rg_fn_clone(t->arena, v->fn);
    t->acts[t->n] = kept;
    t->variants[t->n++] = v;
    return RG_OK;
}

static rg_status print_together(together *t, rg_context *ctx, rg_unit *unit, char **out,
                                size_t *length) {
    rg_arena *volatile where = t->arena;
    int thrown = RG_GUARD(t->arena);
    if (!thrown && (thrown = RG_GUARD(unit->arena)) != 0)
        where = unit->arena;
    if (thrown)
        return rg_fail_thrown(ctx, where, thrown);
    rg_text text = {.arena = t->arena};
    emit_plain(t->fns, t->acts, t->n, &t->diags, &text);
    if (t->diags.errors)
        return rg_refuse(ctx, &t->diags, unit->arena, RG_ERROR_REFUSED);
    *out = rg_ctx_gift_bytes(ctx, text.at, text.n);
    if (length)
        *length = text.n;
    return *out ? RG_OK : RG_ERROR_MEMORY;
}

static bool room_for(together *t, size_t n) {
    if (RG_GUARD(t->arena))
        return false;
    t->variants = RG_NEW_N(t->arena, rg_variant *, n + 1);
    t->fns = RG_NEW_N(t->arena, const rg_fn *, n + 1);
    t->acts = RG_NEW_N(t->arena, const rg_activity *, n + 1);
    return true;
}

rg_status rg_kernels_emit(rg_kernel *const *kernels, const rg_emit_options *options, size_t n,
                          char **out) {
    if (!kernels || !n || rg_kernel_fault(kernels[0]))
        return RG_ERROR_ARGUMENT;
    rg_module *m = kernels[0]->module;
    rg_context *ctx = m->ctx;
    if (!out || !options || n > m->nkernels)
        return rg_fail(ctx, RG_ERROR_ARGUMENT,
                       "rg_kernels_emit: out or options are null, or there are fewer kernels");
    *out = NULL;
    for (size_t i = 0; i < n; i++) {
        if (rg_kernel_fault(kernels[i]))
            return RG_ERROR_ARGUMENT;
        if (kernels[i]->module != m)
            return rg_fail(ctx, RG_ERROR_ARGUMENT, "the kernels are not of one module");
        for (size_t j = 0; j < i; j++)
            if (kernels[j] == kernels[i])
                return rg_fail(ctx, RG_ERROR_ARGUMENT, "kernel '%s' is named twice",
                               kernels[i]->fn->name);
    }
    together t = {.arena = rg_arena_new(&ctx->allocator)};
    if (!t.arena)
        return rg_fail_memory(ctx);
    t.diags.arena = t.arena;
    t.diags.sources = m->unit->sources;
    rg_status s = room_for(&t, n) ? RG_OK : rg_fail_memory(ctx);
    for (size_t i = 0; s == RG_OK && i < n; i++)
        s = add_variant(&t, kernels[i], &options[i]);
    if (s == RG_OK)
        s = print_together(&t, ctx, m->unit, out, options[0].length);
    for (uint32_t i = 0; i < t.n; i++)
        rg_variant_free(t.variants[i]);
    rg_arena_free(t.arena);
    return s;
}

rg_status rg_kernel_slots(rg_kernel *k, const rg_emit_options *o, rg_slots_info *out) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    if (!out || out->size < sizeof *out)
        return rg_fail(k->module->ctx, RG_ERROR_ARGUMENT,
                       "rg_kernel_slots: out is null or its size not set");
    return produce(k, o, NULL, out);
}

rg_status rg_kernel_prepare(rg_kernel *k, const rg_emit_options *o) {
    if (rg_kernel_fault(k))
        return RG_ERROR_ARGUMENT;
    rg_context *ctx = k->module->ctx;
    if (!k->module->dev)
        return rg_fail(ctx, RG_ERROR_STATE, "kernel '%s' was loaded without a device", k->fn->name);
    rg_status s = choose(k, o);
    if (s != RG_OK)
        return s;
    bool any = false;
    for (uint32_t i = 0; i < k->nparams; i++)
        any |= k->active[i];
    /* A launch with nothing active runs the primal alone. */
    rg_program *p;
    s = rg_launch_program(k, any ? mode_of(o->mode) : RG_PRIMAL, k->active, &p);
    if (s == RG_OK && any && rg_mode_goes_back(mode_of(o->mode))) {
        s = rg_program_get_recording(p, &p);
        if (s == RG_OK)
            s = rg_launch_prepare(k, &p, 1);
    }
    return s;
}
