/* A launch: the walker walks, and what it asks for becomes commands: a task is an argument block in
 * the ring, a descriptor set that is there already, and a dispatch. Nothing is allocated on the way
 * but the kernel's local arrays, which come from the blocks and go back when the launch is
 * recorded: work is in order, so whoever gets the memory next waits for it. */
#include "runtime/device_vulkan.h"

#ifdef RG_HAVE_VULKAN

#include <string.h>

enum { SCRATCH_BUDGET = 256 << 20, GROUPS_OF_REDUCTION = 4096, GROUPS_THAT_FILL = 1024 };

/* What the driver is told: an address, or an offset into its block. */
static uint64_t reference(const rg_vk *v, const void *at) {
    uint64_t offset = rg_vk_offset_of(at);
    return v->caps.addressing == RG_SPIRV_ADDRESS ? v->blocks[rg_vk_block_of(at)].address + offset
                                                  : offset;
}

static void put(unsigned char *block, uint32_t at, uint64_t value) {
    memcpy(block + at, &value, sizeof value);
}

/* ---- where things are ---- */

/* Number, among the blocks bound, of the one that `at` lies in. */
static uint32_t bind_block(rg_vk_places *x, const void *at) {
    uint32_t b = rg_vk_block_of(at);
    for (uint32_t i = 0; i < x->nblocks; i++)
        if (x->blocks[i] == b)
            return i;
    x->blocks[x->nblocks] = b;
    return x->nblocks++;
}

/* What the largest number in an index of the array counts: elements, or the bytes before a scalar
 * that is narrower than a word and may have to be reached through one. */
static uint64_t index_unit(const rg_fn *f, rg_aid a) {
    const rg_elem *e = rg_array_at(f, a)->elem;
    for (uint32_t l = 0; l < e->nleaves; l++)
        if (rg_mem_size(e->leaves[l].mem) < 4)
            return e->size;
    return 1;
}

static void find_places(rg_vk_program *p, uint32_t t, const rg_memory *scratch,
                        uint64_t iterations) {
    const rg_vk *v = p->v;
    const rg_task *task = &p->plan->tasks.at[t];
    rg_vk_task *q = &p->tasks[t];
    rg_vk_places *x = &q->places;
    bool offset = v->caps.addressing == RG_SPIRV_OFFSET;
    x->nblocks = x->slots = x->scratch = 0;
    x->index64 = iterations >= (uint64_t)1 << 30;
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        rg_aid a = task->arrays.at[k];
        uint64_t n = 0;
        if (!rg_walk_count(p->walk, a, &n) || n > INT32_MAX / index_unit(p->fn, a))
            x->index64 = true;
        x->block_of[k] = 0;
        if (!offset)
            continue;
        x->block_of[k] = bind_block(x, p->at[a]);
        if (v->blocks[rg_vk_block_of(p->at[a])].size > INT32_MAX)
            x->index64 = true;
    }
    if (!offset)
        return;
    if (q->slots)
        x->slots = bind_block(x, p->slots.at);
    if (scratch->base)
        x->scratch = bind_block(x, scratch->at);
}

/* ---- scratch ---- */

static rg_status scratch_bytes(rg_vk_program *p, uint32_t t, uint64_t *out) {
    const rg_task *task = &p->plan->tasks.at[t];
    uint64_t sum = 0;
    for (uint32_t k = 0; k < task->scratch.n; k++) {
        const rg_task_scratch *s = &task->scratch.at[k];
        for (uint32_t l = 0; l < rg_array_at(p->fn, s->array)->elem->nleaves; l++) {
            uint64_t bytes;
            if (__builtin_mul_overflow(p->walk->scratch[t][k], rg_task_column_size(p->fn, s, l),
                                       &bytes) ||
                __builtin_add_overflow(sum, bytes, &sum) || sum > (uint64_t)INT64_MAX / 4)
                return rg_fail(p->v->ctx, RG_ERROR_MEMORY,
                               "kernel '%s': local array '%s' is too large for a thread",
                               p->fn->name, rg_array_at(p->fn, s->array)->name);
        }
    }
    *out = sum;
    return RG_OK;
}

/* Columns begin at multiples of 64 bytes. */
static uint64_t column_bytes(const rg_vk_program *p, uint32_t t, uint32_t k, uint32_t leaf,
                             uint64_t threads) {
    const rg_task_scratch *s = &p->plan->tasks.at[t].scratch.at[k];
    uint64_t n = p->walk->scratch[t][k] * rg_task_column_size(p->fn, s, leaf) * threads;
    return (n + 63) / 64 * 64;
}

static uint64_t scratch_total(const rg_vk_program *p, uint32_t t, uint64_t threads) {
    const rg_task *task = &p->plan->tasks.at[t];
    uint64_t sum = 0;
    for (uint32_t k = 0; k < task->scratch.n; k++)
        for (uint32_t l = 0; l < rg_array_at(p->fn, task->scratch.at[k].array)->elem->nleaves; l++)
            sum += column_bytes(p, t, k, l, threads);
    return sum;
}

/* ---- a task ---- */

static rg_status fill_block(rg_vk_program *p, uint32_t t, const rg_memory *scratch,
                            uint64_t threads, unsigned char *block) {
    const rg_vk *v = p->v;
    const rg_fn *f = p->fn;
    const rg_task *task = &p->plan->tasks.at[t];
    const rg_task_layout *l = p->tasks[t].layout;
    uint64_t slots = p->slots.base ? reference(v, p->slots.at) : 0;
    put(block, l->slots32, slots);
    put(block, l->slots64, slots);
    put(block, l->slots_f32, slots);
    put(block, l->slots_f64, slots);
    if (task->parallel) {
        uint32_t n = 2 * (uint32_t)rg_ins_at(f, task->parallel)->imm.i;
        for (uint32_t k = 0; k < n; k++) {
            rg_const c;
            rg_status s = rg_walk_value(p->walk, rg_operand(f, task->parallel, k), &c);
            if (s != RG_OK)
                return s;
            put(block, l->ranges + 8 * k, (uint64_t)c.i);
        }
    }
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        rg_aid a = task->arrays.at[k];
        uint64_t at = p->at[a] ? reference(v, p->at[a]) : 0;
        put(block, l->array[k], at);
        if (l->words32[k] != UINT32_MAX)
            put(block, l->words32[k], at);
        if (l->words64[k] != UINT32_MAX)
            put(block, l->words64[k], at);
        uint32_t rank = rg_array_at(f, a)->rank;
        if (rank)
            memcpy(block + l->extents[k], p->walk->extents[a], rank * sizeof(int64_t));
    }
    const unsigned char *column = scratch->at;
    for (uint32_t k = 0; k < task->scratch.n; k++) {
        put(block, l->capacity[k], p->walk->scratch[t][k]);
        uint32_t n = rg_array_at(f, task->scratch.at[k].array)->elem->nleaves;
        for (uint32_t leaf = 0; leaf < n; leaf++) {
            /* Local arrays without an element have no memory. */
            put(block, l->column[k] + 8 * leaf, scratch->base ? reference(v, column) : 0);
            if (scratch->base)
                column += column_bytes(p, t, k, leaf, threads);
        }
    }
    for (uint32_t k = 0; k < task->host_inputs.n; k++) {
        rg_const c;
        rg_val x = task->host_inputs.at[k];
        rg_status s = rg_walk_value(p->walk, x, &c);
        if (s != RG_OK)
            return s;
        put(block, l->input[k], rg_walk_bits(rg_type_of(f, x), c));
    }
    return RG_OK;
}

static void touch(rg_vk_program *p, uint32_t t, const rg_memory *scratch, uint64_t scratch_size) {
    const rg_task *task = &p->plan->tasks.at[t];
    rg_vk_task *q = &p->tasks[t];
    uint32_t n = 0;
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        rg_aid a = task->arrays.at[k];
        uint8_t use = task->array_use.at[k];
        if (!(use & (RG_TASK_READ | RG_TASK_WRITE)))
            continue;
        /* 8- and 16-bit memory may be reached by its whole words. */
        uintptr_t begin = (uintptr_t)p->at[a] & ~(uintptr_t)7;
        uintptr_t end = ((uintptr_t)p->at[a] + p->bytes[a] + 7) & ~(uintptr_t)7;
        q->touches[n++] = (rg_vk_touch){begin, end, (use & RG_TASK_WRITE) != 0};
    }
    if (q->slots) {
        uintptr_t at = (uintptr_t)p->slots.at;
        bool write = task->outputs.n != 0;
        for (uint32_t k = 0; k < task->scratch.n; k++)
            write |= task->scratch.at[k].need != 0;
        for (uint32_t k = 0; k < task->arrays.n; k++)
            write |= task->array_need.at[k] != 0;
        /* Guards alone do not count: whoever stores there stores the same. */
        if (write || task->slot_inputs.n)
            q->touches[n++] = (rg_vk_touch){at, at + p->slots.base_size, write};
    }
    if (scratch->base) {
        uintptr_t at = (uintptr_t)scratch->at;
        q->touches[n++] = (rg_vk_touch){at, at + scratch_size, true};
    }
    rg_vk_touch_begin(p->v, q->touches, n);
}

static rg_status dispatch_with(rg_vk_program *p, uint32_t t, uint64_t iterations, uint64_t each,
                               rg_memory *scratch) {
    rg_vk *v = p->v;
    rg_vk_task *q = &p->tasks[t];
    uint32_t workgroup = q->pipelines ? q->pipelines->workgroup : v->caps.workgroup;
    uint64_t groups = (iterations + workgroup - 1) / workgroup, threads, size = 0;
    uint64_t most = v->properties.limits.maxComputeWorkGroupCount[0];
    const rg_task *task = &p->plan->tasks.at[t];
    uint64_t fill = v->few ? 1 : GROUPS_THAT_FILL;
    if (q->lanes > 1 && groups > fill) {
        uint64_t fewer = (groups + q->lanes - 1) / q->lanes;
        groups = fewer > fill ? fewer : fill;
    }
    if (task->outputs.n && groups > GROUPS_OF_REDUCTION)
        groups = GROUPS_OF_REDUCTION; /* each thread takes many, and few meet in the atomic */
    if (groups > most)
        groups = most;
    if (each) {
        uint64_t fit = SCRATCH_BUDGET / each / workgroup;
        if (groups > fit)
            groups = fit ? fit : 1;
    }
    threads = groups * workgroup;
    rg_status s = RG_OK;
    if (each) {
        size = scratch_total(p, t, threads);
        s = rg_vk_alloc(v, size, scratch);
    }
    if (s != RG_OK)
        return s;
    find_places(p, t, scratch, iterations);
    if (v->caps.addressing == RG_SPIRV_OFFSET && !q->places.nblocks)
        return RG_OK; /* it touches no memory, so nobody can tell */
    rg_vk_pipeline *pipeline;
    rg_vk_set *set;
    s = rg_vk_pipeline_get(v, p, t, &pipeline);
    if (s == RG_OK && pipeline->workgroup != workgroup)
        s = rg_fail(v->ctx, RG_ERROR_INTERNAL, "the workgroups of task %u differ", t);
    if (s == RG_OK)
        s = rg_vk_set_get(v, q, pipeline->layout, &set);
    unsigned char *block;
    uint32_t offset;
    if (s == RG_OK)
        s = rg_vk_ring(v, q->class, q->layout->size, &block, &offset);
    if (s == RG_OK)
        s = fill_block(p, t, scratch, threads, block);
    if (s == RG_OK) /* a value read back on the way has closed the command buffer */
        s = rg_vk_begin(v);
    if (s != RG_OK)
        return s;
    touch(p, t, scratch, size);
    VkCommandBuffer cb = v->frames[v->frame].commands;
    if (v->bound != pipeline->pipeline) {
        v->vk->CmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
        v->bound = pipeline->pipeline;
    }
    v->vk->CmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout->pipeline, 0,
                                 1, &set->set, 1, &offset);
    v->vk->CmdDispatch(cb, (uint32_t)groups, 1, 1);
    v->dispatches++;
    if (++v->recorded >= RG_VK_FLUSH)
        s = rg_vk_flush(v);
    return s;
}

static rg_status dispatch(void *user, uint32_t t, uint64_t iterations) {
    rg_vk_program *p = user;
    uint64_t each = 0;
    rg_status s = scratch_bytes(p, t, &each);
    rg_memory scratch = {NULL, NULL, 0};
    if (s == RG_OK)
        s = dispatch_with(p, t, iterations, each, &scratch);
    rg_vk_free(p->v, &scratch);
    return s;
}

/* ---- what else the walker asks for ---- */

static rg_status alloc(void *user, rg_aid a, uint64_t bytes, uint64_t keep, bool zero) {
    rg_vk_program *p = user;
    rg_vk *v = p->v;
    rg_memory *m = &p->own[a], old = *m;
    rg_status s = RG_OK;
    if (keep || !m->base || m->base_size < bytes || m->base_size / 4 > bytes + RG_VK_ALIGN) {
        if (!keep)
            rg_vk_free(v, m);
        s = rg_vk_alloc(v, bytes, m);
        if (s != RG_OK && keep)
            *m = old;
        if (s == RG_OK && keep) {
            s = rg_vk_copy(v, m->at, old.at, keep);
            rg_vk_free(v, &old);
        }
    }
    if (s == RG_OK && zero)
        s = rg_vk_zero(v, m->at + keep, bytes - keep);
    p->at[a] = m->at;
    p->bytes[a] = bytes;
    return s;
}

static rg_status copy(void *user, rg_aid to, uint64_t to_at, rg_aid from, uint64_t from_at,
                      uint64_t bytes) {
    rg_vk_program *p = user;
    return rg_vk_copy(p->v, p->at[to] + to_at, p->at[from] + from_at, bytes);
}

static unsigned char *slot_at(const rg_vk_program *p, uint32_t slot) {
    return p->slots.at + 8 * (size_t)slot;
}

static rg_status read_slot(void *user, uint32_t slot, uint64_t *bits) {
    rg_vk_program *p = user;
    return rg_vk_read(p->v, bits, slot_at(p, slot), sizeof *bits);
}

static rg_status write_slot(void *user, uint32_t slot, uint64_t bits) {
    rg_vk_program *p = user;
    rg_vk *v = p->v;
    unsigned char *at = slot_at(p, slot);
    rg_vk_touch t = {(uintptr_t)at, (uintptr_t)at + 8, true};
    rg_status s = rg_vk_begin(v);
    if (s != RG_OK)
        return s;
    rg_vk_touch_begin(v, &t, 1);
    v->vk->CmdUpdateBuffer(v->frames[v->frame].commands, v->blocks[rg_vk_block_of(at)].buffer,
                           rg_vk_offset_of(at), sizeof bits, &bits);
    v->recorded++;
    return RG_OK;
}

static rg_status copy_slot(void *user, uint32_t to, uint32_t from) {
    rg_vk_program *p = user;
    return rg_vk_copy(p->v, slot_at(p, to), slot_at(p, from), 8);
}

static rg_status save(void *user, uint32_t t) {
    rg_vk_program *p = user;
    rg_vk *v = p->v;
    const rg_task *task = &p->plan->tasks.at[t];
    rg_status s = RG_OK;
    for (uint32_t k = 0; k < task->arrays.n && s == RG_OK; k++) {
        rg_aid a = task->arrays.at[k];
        if (!(task->array_use.at[k] & RG_TASK_WRITE) || !p->bytes[a])
            continue;
        s = rg_vk_alloc(v, p->bytes[a], &p->saved[a]);
        if (s == RG_OK)
            s = rg_vk_copy(v, p->saved[a].at, p->at[a], p->bytes[a]);
    }
    if (s == RG_OK)
        s = rg_vk_alloc(v, p->slots.base_size, &p->saved_slots);
    if (s == RG_OK)
        s = rg_vk_copy(v, p->saved_slots.at, p->slots.at, p->slots.base_size);
    return s;
}

static rg_status restore(void *user, uint32_t t) {
    rg_vk_program *p = user;
    rg_vk *v = p->v;
    const rg_task *task = &p->plan->tasks.at[t];
    rg_status s = RG_OK;
    for (uint32_t k = 0; k < task->arrays.n && s == RG_OK; k++) {
        rg_aid a = task->arrays.at[k];
        const rg_memory *m = &p->saved[a];
        /* One that grows may be larger now: what was saved is its beginning. */
        uint64_t n = m->base_size < p->bytes[a] ? m->base_size : p->bytes[a];
        if (m->base)
            s = rg_vk_copy(v, p->at[a], m->at, n);
    }
    if (s == RG_OK)
        s = rg_vk_copy(v, p->slots.at, p->saved_slots.at, p->slots.base_size);
    return s;
}

static void drop(void *user, uint32_t t) {
    rg_vk_program *p = user;
    const rg_task *task = &p->plan->tasks.at[t];
    for (uint32_t k = 0; k < task->arrays.n; k++)
        rg_vk_free(p->v, &p->saved[task->arrays.at[k]]);
    rg_vk_free(p->v, &p->saved_slots);
}

static rg_status fail(void *user, rg_status s, rg_loc loc, const char *words) {
    rg_vk_program *p = user;
    uint32_t line = p->fn->module ? rg_sources_line(p->fn->module->sources, loc) : 0;
    return rg_fail(p->v->ctx, s, "%s:%u: %s", p->fn->name, line, words);
}

const rg_walk_ops *rg_vk_walk_ops(void) {
    static const rg_walk_ops ops = {dispatch,  alloc, copy,    read_slot, write_slot,
                                    copy_slot, save,  restore, drop,      fail};
    return &ops;
}

/* ---- a launch ---- */

/* Views may begin at any byte; what is reached by words must begin at one. */
static rg_status bind(rg_vk_program *p, const rg_binding *args) {
    const rg_program *q = p->program;
    rg_vk *v = p->v;
    for (uint32_t i = 0; i < q->npointers; i++) {
        const rg_pointer *x = &q->pointers[i];
        const rg_binding *b = &args[x->param];
        const rg_ir_array *a = rg_array_at(p->fn, x->array);
        int64_t *extents = p->walk->extents[x->array];
        uint64_t n = a->elem->size;
        for (uint32_t k = 0; k < a->rank; k++) {
            extents[k] = b->shape ? b->shape[k] : 1;
            n *= (uint64_t)extents[k];
        }
        unsigned char *at = rg_pointer_at(x, b);
        p->at[x->array] = at;
        p->bytes[x->array] = n;
        uint8_t use = p->use[x->array];
        uintptr_t align = use & RG_TASK_WORDS64 ? 8 : use & RG_TASK_WORDS32 ? 4 : 1;
        if ((uintptr_t)at % align == 0)
            continue;
        rg_status s = rg_vk_alloc(v, n, &p->own[x->array]);
        if (s == RG_OK)
            s = rg_vk_copy(v, p->own[x->array].at, at, n);
        if (s != RG_OK)
            return s;
        p->at[x->array] = p->own[x->array].at;
    }
    return RG_OK;
}

static rg_status unbind(rg_vk_program *p, const rg_binding *args, rg_status s) {
    const rg_program *q = p->program;
    for (uint32_t i = 0; i < q->npointers; i++) {
        const rg_pointer *x = &q->pointers[i];
        const rg_memory *m = &p->own[x->array];
        if (!m->base || s != RG_OK)
            continue;
        unsigned char *at = rg_pointer_at(x, &args[x->param]);
        /* Copies of the host's walk write too, so not only what tasks write. */
        if (!(rg_array_at(p->fn, x->array)->flags & RG_ARR_CONST))
            s = rg_vk_copy(p->v, at, m->at, p->bytes[x->array]);
    }
    for (uint32_t k = 1; k < p->fn->arrays.n; k++)
        rg_vk_free(p->v, &p->own[k]);
    return s;
}

rg_status rg_vk_launch(rg_vk *v, rg_vk_program *p, const rg_binding *args) {
    if (v->lost)
        return rg_vk_begin(v); /* says so */
    for (uint32_t i = 0; i < p->program->kernel->nparams; i++)
        p->program->scalars[i] = args[i].value;
    p->walk->scalars = p->program->scalars;
    if (v->caps.loops_end_early && !p->guarded) {
        p->guarded = true;
        p->next_guarded = v->guarded;
        v->guarded = p;
    }
    rg_status s = bind(p, args);
    if (s == RG_OK)
        s = rg_walk_run(p->walk);
    return unbind(p, args, s);
}

rg_status rg_vk_guards(rg_vk *v) {
    rg_status s = RG_OK;
    while (v->guarded) {
        rg_vk_program *p = v->guarded;
        uint64_t bits = 0;
        v->guarded = p->next_guarded;
        p->guarded = false;
        rg_status r = rg_vk_read(v, &bits, slot_at(p, p->guard), sizeof bits);
        if (r == RG_OK && bits) {
            r = write_slot(p, p->guard, 0);
            if (r == RG_OK)
                r = rg_fail(v->ctx, RG_ERROR_DEVICE,
                            "%s (%s): the driver ended a long loop of kernel '%s' before its end, "
                            "so the results are wrong: split the loop, or use the device 'cpu'",
                            v->name, v->properties.deviceName, p->name);
        }
        if (s == RG_OK)
            s = r;
    }
    return s;
}

#else
typedef int rg_vk_not_built;
#endif
