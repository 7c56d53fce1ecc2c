/* From tasks to entry points.
 *
 *   parallel   loops over the invocation's share (parallel.c), then the reductions
 *   stretch    the instructions, in one invocation; then what others need goes to its slots */
#include "emit/spirv/reduce.h"

uint32_t rg_spv_builtin(rg_spv_fn *c, SpvBuiltIn what, uint32_t type) {
    rg_spv *s = c->s;
    uint32_t variable = 0;
    for (uint32_t k = 0; k < s->inputs.n; k++)
        if (s->inputs.at[k].what == what)
            variable = s->inputs.at[k].variable;
    if (!variable) {
        variable = rg_spv_id(s);
        uint32_t w[] = {rg_spv_pointer(s, SpvStorageClassInput, type), variable,
                        SpvStorageClassInput};
        rg_spv_put(s, &s->types, SpvOpVariable, w, 3);
        rg_spv_decorate1(s, variable, SpvDecorationBuiltIn, what);
        RG_PUSH(s->arena, &s->inputs, (rg_spv_input){what, variable});
    }
    bool listed = false;
    for (uint32_t k = 0; k < c->interface.n; k++)
        listed |= c->interface.at[k] == variable;
    if (!listed)
        RG_PUSH(s->arena, &c->interface, variable);
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    uint32_t v = RG_SPV_OP(c, SpvOpLoad, type, variable);
    c->out = was;
    return v;
}

static void append(rg_spv *s, rg_spv_words *to, const rg_spv_words *from) {
    for (uint32_t k = 0; k < from->n; k++)
        RG_PUSH(s->arena, to, from->at[k]);
}

void rg_spv_fn_finish(rg_spv_fn *c, uint32_t id, uint32_t result, const uint32_t *params,
                      const uint32_t *param_types, uint32_t n) {
    rg_spv *s = c->s;
    uint32_t w[8] = {result};
    for (uint32_t k = 0; k < n && k < 4; k++)
        w[k + 1] = param_types[k];
    uint32_t type = rg_spv_type_words(s, SpvOpTypeFunction, w, n + 1);
    uint32_t head[] = {result, id, SpvFunctionControlMaskNone, type};
    rg_spv_put(s, &s->functions, SpvOpFunction, head, 4);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t p[] = {param_types[k], params[k]};
        rg_spv_put(s, &s->functions, SpvOpFunctionParameter, p, 2);
    }
    rg_spv_put(s, &s->functions, SpvOpLabel, &c->entry_label, 1);
    append(s, &s->functions, &c->vars);
    append(s, &s->functions, &c->entry);
    append(s, &s->functions, &c->code);
    rg_spv_put(s, &s->functions, SpvOpFunctionEnd, NULL, 0);
}

static uint32_t component_x(rg_spv_fn *c, SpvBuiltIn what) {
    uint32_t v = rg_spv_builtin(c, what, c->s->t_v3u);
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    v = RG_SPV_OP(c, SpvOpCompositeExtract, c->s->t_u32, v, 0);
    c->out = was;
    return v;
}

/* ---- what the task is given ---- */

static bool wide(rg_type t) {
    return t == RG_I64 || t == RG_U64;
}

static void take_inputs(rg_spv_fn *c) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    for (uint32_t k = 0; k < c->task->host_inputs.n; k++) {
        rg_val v = c->task->host_inputs.at[k];
        rg_type t = f->vals.at[v].type;
        uint32_t at = c->layout->input[k];
        rg_loc loc = f->vals.at[v].def ? f->ins.at[f->vals.at[v].def].loc : f->loc;
        if (!wide(t) || c->demand[v] & RG_SPV_FULL) {
            rg_spv_check_type(c, t, loc);
            if (wide(t) && !s->o->caps.i64) /* an error was given */
                c->id[v] = rg_spv_null(s, rg_spv_int(s, 64));
            else
                c->id[v] = rg_spv_arg_value(c, at, t);
            rg_spv_name(s, c->id[v], f->vals.at[v].name);
        }
        if (wide(t) && c->demand[v] & RG_SPV_LOW)
            c->low[v] = rg_spv_arg_low(c, at, t);
    }
    c->out = &c->entry;
    for (uint32_t k = 0; k < c->task->slot_inputs.n; k++) {
        rg_val v = c->task->slot_inputs.at[k];
        rg_type t = f->vals.at[v].type;
        rg_loc loc = f->vals.at[v].def ? f->ins.at[f->vals.at[v].def].loc : f->loc;
        uint32_t slot = c->plan->slot[v] - 1;
        if (wide(t) && !(c->demand[v] & RG_SPV_FULL)) {
            c->low[v] = rg_spv_slot_load(c, slot, RG_U32);
            continue;
        }
        rg_spv_check_type(c, t, loc);
        c->id[v] = rg_spv_slot_load(c, slot, t);
        rg_spv_name(s, c->id[v], f->vals.at[v].name);
        if (c->demand[v] & RG_SPV_LOW)
            c->low[v] = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, c->id[v]);
    }
    c->out = &c->code;
}

/* ---- the code ---- */

static void emit_stretch(rg_spv_fn *c) {
    const rg_task *t = c->task;
    for (uint32_t k = 0; k < t->stretch.n; k++)
        rg_spv_instruction(c, t->stretch.at[k]);
    for (uint32_t k = 0; k < t->outputs.n; k++) {
        rg_val v = t->outputs.at[k];
        rg_spv_slot_store(c, c->plan->slot[v] - 1, c->f->vals.at[v].type, rg_spv_val(c, v));
    }
}

static void find_demand(rg_spv_fn *c) {
    const rg_fn *f = c->f;
    if (c->task->parallel) {
        const rg_ins *i = &f->ins.at[c->task->parallel];
        const rg_region *g = &f->regions.at[i->region[0]];
        rg_iid y = rg_yield_of(f, i->region[0]);
        for (uint32_t n = 0; n < i->nres; n++) {
            c->demand[g->args.at[(uint32_t)i->imm.i + n]] |= RG_SPV_FULL;
            c->demand[rg_operand(f, y, n)] |= RG_SPV_FULL;
        }
        rg_spv_demand(c, g->ins.at, g->ins.n);
    } else {
        for (uint32_t k = 0; k < c->task->outputs.n; k++)
            c->demand[c->task->outputs.at[k]] |= RG_SPV_FULL;
        rg_spv_demand(c, c->task->stretch.at, c->task->stretch.n);
    }
}

static void emit_task(rg_spv *s, struct rg_spv_maths *m, const rg_fn *f, const rg_task_plan *plan,
                      uint32_t number, uint64_t bindings[4], uint32_t *workgroup) {
    rg_spv_fn c;
    rg_spv_fn_init(&c, s, m, f);
    c.plan = plan;
    c.task = &plan->tasks.at[number];
    c.layout = rg_task_layout_make(s->arena, f, c.task);
    for (uint32_t k = 0; k < c.task->arrays.n; k++)
        c.arrays[c.task->arrays.at[k]].outer = k + 1;
    for (uint32_t k = 0; k < c.task->scratch.n; k++)
        c.arrays[c.task->scratch.at[k].array].scratch = k + 1;
    find_demand(&c);
    rg_spv_args_begin(&c);
    take_inputs(&c);
    c.workgroup = 1;
    if (c.task->parallel) {
        c.workgroup = s->o->caps.workgroup ? s->o->caps.workgroup : RG_SPV_WORKGROUP;
        uint32_t gid = component_x(&c, SpvBuiltInGlobalInvocationId);
        uint32_t groups = component_x(&c, SpvBuiltInNumWorkgroups);
        uint32_t n = RG_SPV_OP(&c, SpvOpIMul, s->t_u32, groups, rg_spv_u32(s, c.workgroup));
        c.invocation = rg_spv_to_index(&c, gid, false, false);
        c.invocations = rg_spv_to_index(&c, n, false, false);
        rg_spv_parallel(&c);
    } else {
        emit_stretch(&c);
    }
    if (s->o->caps.hide_literals) /* the functions that it calls read it too */
        rg_spv_builtin(&c, SpvBuiltInWorkgroupId, s->t_v3u);
    rg_spv_guard_task(&c);
    rg_spv_do(&c, SpvOpReturn, NULL, 0);
    uint32_t id = rg_spv_id(s);
    const char *name = rg_format(s->arena, "task%u", number);
    rg_spv_name(s, id, name);
    rg_spv_fn_finish(&c, id, s->t_void, NULL, NULL, 0);
    uint32_t head[] = {SpvExecutionModelGLCompute, id};
    rg_spv_put_text(s, &s->entries, SpvOpEntryPoint, head, 2, name, c.interface.at, c.interface.n);
    uint32_t size[] = {id, SpvExecutionModeLocalSize, c.workgroup, 1, 1};
    rg_spv_put(s, &s->modes, SpvOpExecutionMode, size, 5);
    RG_PUSH(s->arena, &s->entry_points, id);
    for (uint32_t k = 0; k < 4; k++)
        bindings[k] = c.bindings[k];
    *workgroup = c.workgroup;
}

static bool has_capability(const rg_spv *s, SpvCapability c) {
    for (uint32_t k = 0; k < s->cap_list.n; k++)
        if (s->cap_list.at[k] == (uint32_t)c)
            return true;
    return false;
}

static void keep_special_values(rg_spv *s) {
    rg_spv_capability(s, SpvCapabilitySignedZeroInfNanPreserve);
    rg_spv_extension(s, "SPV_KHR_float_controls");
    for (uint32_t k = 0; k < s->entry_points.n; k++) {
        uint32_t w[] = {s->entry_points.at[k], SpvExecutionModeSignedZeroInfNanPreserve, 32};
        rg_spv_put(s, &s->modes, SpvOpExecutionMode, w, 3);
        w[2] = 64;
        if (has_capability(s, SpvCapabilityFloat64))
            rg_spv_put(s, &s->modes, SpvOpExecutionMode, w, 3);
    }
}

rg_spirv_module *rg_emit_spirv(rg_arena *a, const rg_fn *f, const rg_task_plan *p,
                               const rg_spirv_options *o, rg_diags *d) {
    uint32_t before = d->errors;
    if (o->index64 && !o->caps.i64) {
        rg_error(d, f->loc, "use smaller arrays",
                 "kernel '%s' needs 64-bit indices, and the device has no 64-bit integers",
                 f->name);
        return NULL;
    }
    for (uint32_t k = 1; k < f->ins.n; k++) {
        const rg_ins *i = &f->ins.at[k];
        if (i->op == RG_EXTENT && f->arrays.at[i->array].flags & RG_ARR_GROW &&
            p->known[rg_result(f, k, 0)]) {
            rg_error(d, i->loc, "run it on the CPU",
                     "kernel '%s' needs the length of an array that grows on the device", f->name);
            return NULL;
        }
    }
    rg_spv *s = rg_spv_new(a, o, d);
    struct rg_spv_maths *m = rg_spv_maths_new(s);
    if (o->caps.addressing == RG_SPIRV_ADDRESS) {
        rg_spv_capability(s, SpvCapabilityPhysicalStorageBufferAddresses);
        rg_spv_extension(s, "SPV_KHR_physical_storage_buffer");
    }
    uint64_t *bindings = RG_NEW_N(a, uint64_t, 4 * p->tasks.n + 4);
    uint32_t *workgroup = RG_NEW_N(a, uint32_t, p->tasks.n + 1);
    for (uint32_t k = 0; k < p->tasks.n; k++)
        emit_task(s, m, f, p, k, bindings + 4 * k, &workgroup[k]);
    rg_spv_maths_finish(m);
    if (o->caps.signed_zero_inf_nan)
        keep_special_values(s);
    if (d->errors != before)
        return NULL;
    rg_spirv_module *out = rg_spv_finish(s);
    out->bindings = bindings;
    out->workgroup = workgroup;
    return out;
}
