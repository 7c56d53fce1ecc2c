/* No device is asked here, so the form is the one that most drivers take: SPIR-V 1.3, float atomics
 * by compare-and-swap, reductions through workgroup memory. Metal has no doubles. */
#include "runtime/source_gpu.h"

#include "compile/msl.h"
#include "emit/spirv/emit_spirv.h"

#include <string.h>

static rg_spirv_module *module_of(rg_kernel *k, rg_variant *v, const rg_emit_options *o,
                                  rg_arena *a, bool metal, rg_task_plan **plan) {
    bool offset = o->addressing == RG_ADDRESSING_OFFSET;
    rg_spirv_options s = {.caps = {.version = 0x00010300,
                                   .addressing = offset ? RG_SPIRV_OFFSET : RG_SPIRV_ADDRESS,
                                   .f64 = !metal,
                                   .i64 = true,
                                   .i16 = true,
                                   .i8 = true,
                                   .signed_zero_inf_nan = true,
                                   .workgroup = 128,
                                   .blocks = 1},
                          .contract = k->module->dev && k->module->dev->options.contract};
    *plan = rg_tasks_plan(a, v->fn);
    return rg_emit_spirv(a, v->fn, *plan, &s, &v->diags);
}

rg_status rg_source_spirv(rg_kernel *k, rg_variant *v, const rg_emit_options *o, rg_text *out) {
    rg_task_plan *plan;
    rg_spirv_module *m = module_of(k, v, o, out->arena, false, &plan);
    if (m)
        rg_text_add_n(out, (const char *)m->words, m->count * sizeof *m->words);
    return RG_OK;
}

static rg_status translate(rg_kernel *k, rg_variant *v, const rg_emit_options *o, rg_msl *msl,
                           rg_text *out, rg_slots_info *slots) {
    rg_context *ctx = k->module->ctx;
    rg_arena *a = out->arena;
    rg_task_plan *plan;
    rg_spirv_module *m = module_of(k, v, o, a, true, &plan);
    if (!m)
        return RG_OK;
    uint32_t most = 0;
    for (uint32_t t = 0; t < plan->tasks.n; t++) {
        rg_msl_source source;
        const char *why = NULL;
        const char *entry = rg_format(a, "task%u", t);
        bool fine = rg_msl_translate(msl, a, m->words, m->count, entry, NULL, &source, &why);
        /* Before MoltenVK 1.2.8 an atomic through an address was refused, or printed on a pointer
         * to const, which Metal refuses. */
        bool old = fine ? !slots && strstr(source.text, "(const device atomic_") != NULL
                        : strstr(why, "backing variable") != NULL;
        if (!fine || old)
            return rg_fail(ctx, RG_ERROR_COMPILER, "%s of '%s' (%s): %s%s", entry, v->fn->name,
                           rg_msl_version(msl), fine ? "an atomic on a constant pointer" : why,
                           old ? "; this version has no atomics through addresses: a later one, or "
                                 "offsets (--addressing offset), translate"
                               : "");
        most = source.slots > most ? source.slots : most;
        if (!slots)
            rg_text_format(out, "%s// %s %s, task %u of %u\n%s", t ? "\n" : "", v->fn->name,
                           rg_mode_name(v->fn->mode), t + 1, plan->tasks.n, source.text);
    }
    if (!slots)
        return RG_OK;
    *slots = (rg_slots_info){
        .size = slots->size, .slots = most, .limit = RG_MSL_SLOTS, .tasks = plan->tasks.n};
    for (uint32_t i = 0; i < k->nparams; i++)
        slots->arrays += k->params[i].is_array;
    return RG_OK;
}

rg_status rg_source_msl(rg_kernel *k, rg_variant *v, const rg_emit_options *o, rg_text *out,
                        rg_slots_info *slots) {
    const char *why = NULL;
    rg_msl *msl = rg_msl_open(out->arena, NULL, &why);
    if (!msl)
        return rg_fail(k->module->ctx, RG_ERROR_COMPILER, "%s", why);
    rg_status s = translate(k, v, o, msl, out, slots);
    rg_msl_close(msl);
    return s;
}
