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
    default:
        return RG_PRIMAL;
    }
}

/* Fills k->active from the options. */
static rg_status choose(rg_kernel *k, const rg_emit_options *o) {
    rg_context *ctx = k->module->ctx;
    if (!o || o->size < sizeof *o)
        return rg_fail(ctx, RG_ERROR_ARGUMENT, "the options are null or their size is not set");
    if ((unsigned)o->mode > RG_MODE_HVP || (unsigned)o->target > RG_TARGET_MSL ||
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

/* A caller of plain C hands over pointers only, so lengths must follow from the parameters. */
static void emit_plain(rg_variant *v, const rg_activity *act, rg_text *out) {
    if (act->nparams < v->fn->params.n) {
        const char *name = v->fn->name;
        rg_error(&v->diags, v->fn->params.at[act->nparams].loc,
                 "run it through the library (rg_record_launch, rg_backward), or find the value "
                 "without a capture: in a loop before, or with a prefix sum",
                 "the %s of '%s' as C on its own cannot be had: it needs the values that are "
                 "captured here, which only a recorded launch keeps",
                 rg_mode_name(v->fn->mode), name);
        return;
    }
    rg_aid a = rg_emit_c_plain(v->fn, act, out);
    if (!a)
        return;
    const rg_param *p = &v->fn->params.at[rg_array_at(v->fn, a)->param];
    rg_error(&v->diags, p->loc, "declare it with its length: `T x[n]`, n a parameter before it",
             "the %s of '%s' as C needs the length of '%s', which its declaration does not give",
             rg_mode_name(v->fn->mode), v->fn->name, p->name);
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
        emit_plain(v, act, out);
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
    if (s == RG_OK && any && o->mode == RG_MODE_HVP)
        s = rg_launch_program(k, RG_TANGENT, k->active, &p);
    if (s == RG_OK && any && o->mode == RG_MODE_ADJOINT) {
        s = rg_program_get_recording(p, &p);
        if (s == RG_OK)
            s = rg_launch_prepare(k, &p, 1);
    }
    return s;
}
