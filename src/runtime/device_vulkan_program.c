/* variant --tasks--> plan --emit--> SPIR-V --driver, with its cache--> a pipeline for each task
 *
 * In address mode a task has one pipeline. In offset mode it has one for each assignment of its
 * arrays to the blocks that a dispatch binds: nearly always the one where all are in one block,
 * which is made ahead; others are made when they are met.
 *
 * Descriptor sets do not name arrays: they bind the ring of argument blocks (at a dynamic offset)
 * and whole blocks, so a few of them serve every launch. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include "compile/debug.h"
#include "compile/key.h"
#include "compile/version.h"
#include "runtime/cache.h"

#include <stdio.h>
#include <string.h>

enum { POOL_SETS = 64, POOL_BLOCKS = 1024 };

/* ---- the driver's cache ---- */

static void cache_key(const rg_vk *v, char hex[65]) {
    rg_sha256 h;
    rg_sha256_begin(&h);
    rg_sha256_add_text(&h, "retrograd " RG_VERSION_TEXT " vulkan pipelines");
    rg_sha256_add_part(&h, v->uuid, sizeof v->uuid);
    uint32_t facts[3] = {v->properties.vendorID, v->properties.deviceID,
                         v->properties.driverVersion};
    rg_sha256_add_part(&h, facts, sizeof facts);
    unsigned char sum[32];
    rg_sha256_end(&h, sum);
    rg_sha256_hex(sum, hex);
}

rg_status rg_vk_programs_open(rg_vk *v) {
    char hex[65];
    cache_key(v, hex);
    void *data = NULL;
    size_t size = 0;
    rg_cache_load(v->ctx, hex, &data, &size);
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = size,
                                      .pInitialData = data};
    VkResult r = v->vk->CreatePipelineCache(v->device, &info, NULL, &v->pipeline_cache);
    if (r != VK_SUCCESS && size) { /* it does not like what was kept */
        info.initialDataSize = 0;
        info.pInitialData = NULL;
        r = v->vk->CreatePipelineCache(v->device, &info, NULL, &v->pipeline_cache);
    }
    rg_ctx_free(v->ctx, data, size);
    if (r == VK_SUCCESS)
        return RG_OK;
    v->pipeline_cache = VK_NULL_HANDLE;
    return rg_vk_fail(v, "vkCreatePipelineCache", r);
}

static void keep_cache(rg_vk *v) {
    size_t size = 0;
    if (!v->pipelines_new || v->lost || !v->ctx->cache_dir ||
        v->vk->GetPipelineCacheData(v->device, v->pipeline_cache, &size, NULL) != VK_SUCCESS ||
        !size)
        return;
    size_t room = size;
    void *data = rg_ctx_alloc(v->ctx, room);
    if (data &&
        v->vk->GetPipelineCacheData(v->device, v->pipeline_cache, &size, data) == VK_SUCCESS) {
        char hex[65];
        cache_key(v, hex);
        rg_cache_store(v->ctx, hex, data, size); /* or not: the next process compiles again */
    }
    rg_ctx_free(v->ctx, data, room);
    v->pipelines_new = false;
}

void rg_vk_programs_close(rg_vk *v) {
    if (v->pipeline_cache) {
        keep_cache(v);
        v->vk->DestroyPipelineCache(v->device, v->pipeline_cache, NULL);
    }
    v->pipeline_cache = VK_NULL_HANDLE;
    for (rg_vk_set *s = v->sets, *next; s; s = next) {
        next = s->next;
        rg_ctx_free(v->ctx, s, sizeof *s + s->nblocks * sizeof *s->blocks);
    }
    v->sets = NULL;
    for (rg_vk_pool *p = v->pools, *next; p; p = next) {
        next = p->next;
        v->vk->DestroyDescriptorPool(v->device, p->pool, NULL);
        rg_ctx_free(v->ctx, p, sizeof *p);
    }
    v->pools = NULL;
    for (rg_vk_layout *l = v->layouts, *next; l; l = next) {
        next = l->next;
        if (l->pipeline)
            v->vk->DestroyPipelineLayout(v->device, l->pipeline, NULL);
        if (l->set)
            v->vk->DestroyDescriptorSetLayout(v->device, l->set, NULL);
        rg_ctx_free(v->ctx, l, sizeof *l);
    }
    v->layouts = NULL;
}

/* ---- layouts and sets ---- */

static rg_status layout_get(rg_vk *v, uint32_t nblocks, rg_vk_layout **out) {
    for (rg_vk_layout *l = v->layouts; l; l = l->next)
        if (l->nblocks == nblocks) {
            *out = l;
            return RG_OK;
        }
    uint32_t n = 1 + 4 * nblocks;
    const VkPhysicalDeviceLimits *most = &v->properties.limits;
    if (n > most->maxPerStageDescriptorStorageBuffers || n > most->maxPerStageResources)
        return rg_fail(v->ctx, RG_ERROR_DEVICE,
                       "%s (%s): the arrays of one launch lie in %u memory blocks, which takes %u "
                       "bindings: the device has %u",
                       v->name, v->properties.deviceName, nblocks, n,
                       most->maxPerStageDescriptorStorageBuffers);
    rg_vk_layout *l = rg_ctx_alloc(v->ctx, sizeof *l);
    VkDescriptorSetLayoutBinding *b = rg_ctx_alloc(v->ctx, n * sizeof *b);
    if (!l || !b) {
        rg_ctx_free(v->ctx, l, sizeof *l);
        rg_ctx_free(v->ctx, b, n * sizeof *b);
        return RG_ERROR_MEMORY;
    }
    l->nblocks = nblocks;
    for (uint32_t i = 0; i < n; i++)
        b[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                              .descriptorType =
                                                  i ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                                    : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                              .descriptorCount = 1,
                                              .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = n,
                                           .pBindings = b};
    const char *call = "vkCreateDescriptorSetLayout";
    VkResult r = v->vk->CreateDescriptorSetLayout(v->device, &set, NULL, &l->set);
    rg_ctx_free(v->ctx, b, n * sizeof *b);
    if (r != VK_SUCCESS) {
        l->set = VK_NULL_HANDLE;
    } else {
        VkPipelineLayoutCreateInfo pipeline = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &l->set};
        call = "vkCreatePipelineLayout";
        r = v->vk->CreatePipelineLayout(v->device, &pipeline, NULL, &l->pipeline);
        if (r != VK_SUCCESS)
            v->vk->DestroyDescriptorSetLayout(v->device, l->set, NULL);
    }
    if (r != VK_SUCCESS) {
        rg_ctx_free(v->ctx, l, sizeof *l);
        return rg_vk_fail(v, call, r);
    }
    l->next = v->layouts;
    v->layouts = l;
    *out = l;
    return RG_OK;
}

static rg_status set_allocate(rg_vk *v, const rg_vk_layout *l, VkDescriptorSet *out) {
    for (int attempt = 0;; attempt++) {
        rg_vk_pool *p = v->pools;
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = p ? p->pool : VK_NULL_HANDLE,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &l->set};
        VkResult r =
            p ? v->vk->AllocateDescriptorSets(v->device, &info, out) : VK_ERROR_OUT_OF_POOL_MEMORY;
        if (r == VK_SUCCESS)
            return RG_OK;
        if (attempt || (r != VK_ERROR_OUT_OF_POOL_MEMORY && r != VK_ERROR_FRAGMENTED_POOL))
            return rg_vk_fail(v, "vkAllocateDescriptorSets", r);
        uint32_t blocks = 4 * l->nblocks > POOL_BLOCKS ? 4 * l->nblocks : POOL_BLOCKS;
        VkDescriptorPoolSize sizes[2] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, POOL_SETS},
                                         {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, blocks}};
        VkDescriptorPoolCreateInfo make = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                           .maxSets = POOL_SETS,
                                           .poolSizeCount = 2,
                                           .pPoolSizes = sizes};
        p = rg_ctx_alloc(v->ctx, sizeof *p);
        if (!p)
            return RG_ERROR_MEMORY;
        r = v->vk->CreateDescriptorPool(v->device, &make, NULL, &p->pool);
        if (r != VK_SUCCESS) {
            rg_ctx_free(v->ctx, p, sizeof *p);
            return rg_vk_fail(v, "vkCreateDescriptorPool", r);
        }
        p->next = v->pools;
        v->pools = p;
    }
}

static void set_write(rg_vk *v, const rg_vk_set *s) {
    VkDescriptorBufferInfo ring = {v->ring.buffer, 0, (VkDeviceSize)256 << s->class};
    VkWriteDescriptorSet w = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                              .dstSet = s->set,
                              .descriptorCount = 1,
                              .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                              .pBufferInfo = &ring};
    v->vk->UpdateDescriptorSets(v->device, 1, &w, 0, NULL);
    for (uint32_t i = 0; i < 4 * s->nblocks; i++) {
        VkDescriptorBufferInfo block = {v->blocks[s->blocks[i / 4]].buffer, 0, VK_WHOLE_SIZE};
        w.dstBinding = 1 + i;
        w.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        w.pBufferInfo = &block;
        v->vk->UpdateDescriptorSets(v->device, 1, &w, 0, NULL);
    }
}

static bool set_fits(const rg_vk_set *s, uint32_t class, const rg_vk_places *x) {
    return s->class == class && s->nblocks == x->nblocks &&
           (!x->nblocks || memcmp(s->blocks, x->blocks, x->nblocks * sizeof *x->blocks) == 0);
}

rg_status rg_vk_set_get(rg_vk *v, rg_vk_task *t, rg_vk_layout *layout, rg_vk_set **out) {
    const rg_vk_places *x = &t->places;
    if (t->last_set && set_fits(t->last_set, t->class, x)) {
        *out = t->last_set;
        return RG_OK;
    }
    rg_vk_set *free_one = NULL;
    for (rg_vk_set *s = v->sets; s; s = s->next) {
        if (set_fits(s, t->class, x)) {
            *out = t->last_set = s;
            return RG_OK;
        }
        if (s->class == UINT32_MAX && s->nblocks == x->nblocks)
            free_one = s;
    }
    rg_vk_set *s = free_one;
    if (!s) {
        size_t size = sizeof *s + x->nblocks * sizeof *s->blocks;
        s = rg_ctx_alloc(v->ctx, size);
        if (!s)
            return RG_ERROR_MEMORY;
        rg_status e = set_allocate(v, layout, &s->set);
        if (e != RG_OK) {
            rg_ctx_free(v->ctx, s, size);
            return e;
        }
        s->nblocks = x->nblocks;
        s->next = v->sets;
        v->sets = s;
    }
    s->class = t->class;
    if (x->nblocks)
        memcpy(s->blocks, x->blocks, x->nblocks * sizeof *x->blocks);
    set_write(v, s);
    *out = t->last_set = s;
    return RG_OK;
}

/* ---- pipelines ---- */

/* What the emitter has to say, as the message. */
static rg_status refused(rg_vk *v, const rg_diags *d, rg_arena *a) {
    rg_text t = {.arena = a};
    rg_diags_render(d, &t);
    while (t.n && t.at[t.n - 1] == '\n')
        t.at[--t.n] = 0;
    return rg_fail(v->ctx, RG_ERROR_DEVICE, "%s (%s) cannot run this kernel:\n%s", v->name,
                   v->properties.deviceName, rg_text_str(&t));
}

static rg_status make_pipeline(rg_vk *v, rg_vk_program *p, uint32_t t, VkShaderModule module,
                               uint32_t workgroup) {
    rg_vk_task *task = &p->tasks[t];
    const rg_vk_places *x = &task->places;
    uint32_t n = p->plan->tasks.at[t].arrays.n;
    rg_vk_pipeline *made = RG_NEW(p->arena, rg_vk_pipeline);
    made->places = *x;
    made->places.blocks = NULL;
    made->places.block_of = RG_NEW_N(p->arena, uint32_t, n + 1);
    if (n)
        memcpy(made->places.block_of, x->block_of, n * sizeof *x->block_of);
    made->workgroup = workgroup;
    rg_status s = layout_get(v, x->nblocks, &made->layout);
    if (s != RG_OK)
        return s;
    char name[32];
    snprintf(name, sizeof name, "task%u", t);
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = name},
        .layout = made->layout->pipeline};
    VkResult r = v->vk->CreateComputePipelines(v->device, v->pipeline_cache, 1, &info, NULL,
                                               &made->pipeline);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkCreateComputePipelines", r);
    v->pipelines_new = true;
    made->next = task->pipelines;
    task->pipelines = made;
    return RG_OK;
}

/* Emits the module for the places of task t and makes its pipeline; with `all`, of every task. */
static rg_status build(rg_vk *v, rg_vk_program *p, uint32_t t, bool all, rg_arena *a) {
    const rg_vk_places *x = &p->tasks[t].places;
    const rg_task *task = &p->plan->tasks.at[t];
    uint32_t *block_of = RG_NEW_N(a, uint32_t, p->fn->arrays.n + 1);
    for (uint32_t k = 0; k < task->arrays.n && !all; k++)
        block_of[task->arrays.at[k]] = x->block_of[k];
    rg_spirv_options o = {.caps = v->caps,
                          .index64 = x->index64,
                          .contract = v->dev->options.contract || v->dev->options.fast_math,
                          .block_of = block_of,
                          .slots_block = x->slots,
                          .scratch_block = x->scratch,
                          .guard_slot = p->guard};
    o.caps.blocks = x->nblocks;
    rg_diags d = {.arena = a, .sources = p->fn->module ? p->fn->module->sources : NULL};
    rg_spirv_module *m = rg_emit_spirv(a, p->fn, p->plan, &o, &d);
    if (!m)
        return refused(v, &d, a);
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = m->count * sizeof *m->words,
                                     .pCode = m->words};
    VkShaderModule module;
    VkResult r = v->vk->CreateShaderModule(v->device, &info, NULL, &module);
    if (r != VK_SUCCESS)
        return rg_vk_fail(v, "vkCreateShaderModule", r);
    /* The program's arena may throw: the module goes first. */
    jmp_buf outer;
    memcpy(&outer, rg_arena_guard(p->arena), sizeof outer);
    volatile rg_status s = RG_OK;
    volatile int thrown = RG_GUARD(p->arena);
    if (!thrown) {
        uint32_t first = all ? 0 : t, last = all ? p->plan->tasks.n : t + 1;
        for (volatile uint32_t k = first; k < last && s == RG_OK; k = k + 1)
            s = make_pipeline(v, p, k, module, m->workgroup[k] ? m->workgroup[k] : 1);
    }
    v->vk->DestroyShaderModule(v->device, module, NULL);
    memcpy(rg_arena_guard(p->arena), &outer, sizeof outer);
    if (thrown)
        return rg_fail_thrown(v->ctx, p->arena, thrown);
    return s;
}

static rg_status build_guarded(rg_vk *v, rg_vk_program *p, uint32_t t, bool all) {
    rg_arena *a = rg_arena_new(&v->ctx->allocator);
    if (!a)
        return rg_fail_memory(v->ctx);
    /* Emitting may throw in the arena of what it reads. */
    rg_arena *volatile where = a;
    rg_arena *unit = p->program->kernel->module->unit->arena;
    int thrown = RG_GUARD(a);
    if (!thrown && (thrown = RG_GUARD(unit)) != 0)
        where = unit;
    if (!thrown && p->program->variant && (thrown = RG_GUARD(p->program->variant->arena)) != 0)
        where = p->program->variant->arena;
    rg_status s = thrown ? rg_fail_thrown(v->ctx, where, thrown) : build(v, p, t, all, a);
    rg_arena_free(a);
    return s;
}

rg_status rg_vk_pipeline_get(rg_vk *v, rg_vk_program *p, uint32_t t, rg_vk_pipeline **out) {
    rg_vk_task *task = &p->tasks[t];
    const rg_vk_places *x = &task->places;
    uint32_t n = p->plan->tasks.at[t].arrays.n;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (rg_vk_pipeline **link = &task->pipelines; *link; link = &(*link)->next) {
            rg_vk_pipeline *q = *link;
            if (q->places.index64 != x->index64 || q->places.nblocks != x->nblocks ||
                q->places.slots != x->slots || q->places.scratch != x->scratch ||
                (n && memcmp(q->places.block_of, x->block_of, n * sizeof *x->block_of) != 0))
                continue;
            *link = q->next;
            q->next = task->pipelines;
            task->pipelines = q;
            *out = q;
            return RG_OK;
        }
        rg_status s = build_guarded(v, p, t, false);
        if (s != RG_OK)
            return s;
    }
    return rg_fail(v->ctx, RG_ERROR_INTERNAL, "a pipeline that was made is not found");
}

/* ---- programs ---- */

static void program_fill(rg_vk *v, rg_vk_program *p) {
    rg_arena *a = p->arena;
    const rg_fn *f = p->fn;
    p->narrays = f->arrays.n;
    snprintf(p->name, sizeof p->name, "%.60s", f->name);
    p->plan = rg_tasks_plan(a, f);
    p->walk = rg_walk_new(a, f, p->plan, rg_vk_walk_ops(), p);
    p->tasks = RG_NEW_N(a, rg_vk_task, p->plan->tasks.n + 1);
    p->at = RG_NEW_N(a, unsigned char *, f->arrays.n + 1);
    p->bytes = RG_NEW_N(a, uint64_t, f->arrays.n + 1);
    p->use = RG_NEW_N(a, uint8_t, f->arrays.n + 1);
    p->own = RG_NEW_N(a, rg_memory, f->arrays.n + 1);
    p->saved = RG_NEW_N(a, rg_memory, f->arrays.n + 1);
    for (uint32_t t = 0; t < p->plan->tasks.n; t++) {
        const rg_task *task = &p->plan->tasks.at[t];
        rg_vk_task *q = &p->tasks[t];
        q->layout = rg_task_layout_make(a, f, task);
        q->lanes = rg_spirv_lanes(f, task, &v->caps);
        while ((uint32_t)256 << q->class < q->layout->size && q->class < 24)
            q->class ++;
        q->slots = task->slot_inputs.n || task->outputs.n || v->caps.loops_end_early;
        for (uint32_t k = 0; k < task->scratch.n; k++)
            q->slots |= task->scratch.at[k].need != 0;
        for (uint32_t k = 0; k < task->arrays.n; k++) {
            q->slots |= task->array_need.at[k] != 0;
            p->use[task->arrays.at[k]] |= task->array_use.at[k];
        }
        q->touches = RG_NEW_N(a, rg_vk_touch, task->arrays.n + 3);
        q->places.block_of = RG_NEW_N(a, uint32_t, task->arrays.n + 1);
        q->places.blocks = RG_NEW_N(a, uint32_t, task->arrays.n + 3);
        q->places.nblocks = v->caps.addressing == RG_SPIRV_OFFSET ? 1 : 0;
    }
}

static void program_free(rg_vk *v, rg_vk_program *p) {
    for (uint32_t t = 0; p->tasks && t < p->plan->tasks.n; t++)
        for (rg_vk_pipeline *q = p->tasks[t].pipelines; q; q = q->next)
            v->vk->DestroyPipeline(v->device, q->pipeline, NULL);
    for (uint32_t k = 1; p->saved && k < p->narrays; k++) {
        rg_vk_free(v, &p->own[k]);
        rg_vk_free(v, &p->saved[k]);
    }
    rg_vk_free(v, &p->slots);
    rg_vk_free(v, &p->saved_slots);
    rg_arena_free(p->arena);
    rg_ctx_free(v->ctx, p, sizeof *p);
}

rg_status rg_vk_prepare(rg_vk *v, rg_program *program) {
    rg_module *m = program->kernel->module;
    rg_vk_program *p = rg_ctx_alloc(v->ctx, sizeof *p);
    if (!p)
        return RG_ERROR_MEMORY;
    *p = (rg_vk_program){.v = v, .program = program, .fn = program->fn};
    p->arena = rg_arena_new(&v->ctx->allocator);
    if (!p->arena) {
        rg_ctx_free(v->ctx, p, sizeof *p);
        return rg_fail_memory(v->ctx);
    }
    rg_status s = RG_OK;
    int thrown = RG_GUARD(p->arena);
    if (thrown)
        s = rg_fail_thrown(v->ctx, p->arena, thrown);
    else
        program_fill(v, p);
    uint32_t slots = s == RG_OK ? p->walk->nslots : 0;
    p->guard = slots;
    if (v->caps.loops_end_early)
        slots++;
    if (s == RG_OK && slots)
        s = rg_vk_alloc(v, 8 * (uint64_t)slots, &p->slots);
    if (s == RG_OK && slots)
        s = rg_vk_zero(v, p->slots.at, p->slots.base_size);
    if (s == RG_OK && p->plan->tasks.n)
        s = build_guarded(v, p, 0, true);
    if (s != RG_OK) {
        program_free(v, p);
        return s;
    }
    p->next = m->code;
    m->code = p;
    program->entry = p;
    program->ready = true;
    return RG_OK;
}

void rg_vk_unload(rg_vk *v, rg_vk_program *list) {
    /* Nothing may still run; what went wrong is for the next sync to say. */
    rg_status s = list ? rg_vk_finish(v) : RG_OK;
    if (list && s == RG_OK)
        s = rg_vk_guards(v);
    rg_device_stick(v->dev, s);
    for (rg_vk_program *p = list, *next; p; p = next) {
        next = p->next;
        for (rg_vk_program **link = &v->guarded; p->guarded && *link; link = &(*link)->next_guarded)
            if (*link == p) {
                *link = p->next_guarded;
                break;
            }
        program_free(v, p);
    }
}

#else
typedef int rg_vk_not_built;
#endif
