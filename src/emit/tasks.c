/* Planning: three walks over the function.
 *
 *   1. which kernel-level if, for and loop the host walks, and which values it knows: a fixed point
 *      that starts from "all" and takes away (a carried value is known if its initial value and
 *      what the body yields are)
 *   2. stretches: maximal runs of device instructions in a kernel-level region; what the host knows
 *      may lie between them
 *   3. for each task: what it takes, gives and touches; a value needs a slot when the device
 *      computes it in one task and anything else uses it */
#include "emit/tasks.h"

enum { PRIVATE_ARRAY = 4096, PRIVATE_TOTAL = 16384 };

typedef struct planner {
    const rg_fn *f;
    rg_arena *arena;
    rg_task_plan *plan;
    bool *has_parallel; /* [ins] */
    bool *kernel_level; /* [regions] */
    uint32_t *task_in;  /* [ins] task + 1 that runs it, nested ones too; 0: the host */
    uint32_t *seen;     /* [vals] task + 1 that has it among its inputs */
    uint32_t *array_at; /* [arrays] place + 1 in the current task's list */
    bool *own;          /* [arrays] allocated inside a task */
    uint32_t private_bytes;
} planner;

static uint32_t nregions(const rg_ins *i) {
    return i->region[0] ? i->region[1] ? 2 : 1 : 0;
}

static bool find_parallel(planner *p, rg_rid r) {
    const rg_region *g = &p->f->regions.at[r];
    bool any = false;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *i = &p->f->ins.at[g->ins.at[k]];
        bool here = i->op == RG_PARALLEL;
        for (uint32_t n = 0; i->op != RG_PARALLEL && n < nregions(i); n++)
            here |= find_parallel(p, i->region[n]);
        p->has_parallel[g->ins.at[k]] = here;
        any |= here;
    }
    return any;
}

/* Marks the kernel-level regions; every value in them starts as known. */
static void enter(planner *p, rg_rid r) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    p->kernel_level[r] = true;
    for (uint32_t k = 0; k < g->args.n; k++)
        p->plan->known[g->args.at[k]] = true;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid id = g->ins.at[k];
        const rg_ins *i = &f->ins.at[id];
        bool walked = i->op != RG_PARALLEL && nregions(i) && p->has_parallel[id];
        bool known = walked || i->op == RG_CONST || i->op == RG_SCALAR || i->op == RG_EXTENT ||
                     rg_op_is_pure((rg_op)i->op) || i->op == RG_RED;
        p->plan->walked[id] = walked;
        for (uint32_t n = 0; n < i->nres; n++)
            p->plan->known[rg_result(f, id, n)] = known;
        for (uint32_t n = 0; walked && n < nregions(i); n++)
            enter(p, i->region[n]);
    }
}

static bool lose(planner *p, rg_val v) {
    bool had = p->plan->known[v];
    p->plan->known[v] = false;
    return had;
}

static bool narrow_known(planner *p, rg_rid r) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    const bool *known = p->plan->known;
    bool changed = false;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid id = g->ins.at[k];
        const rg_ins *i = &f->ins.at[id];
        if (p->plan->walked[id]) {
            for (uint32_t n = 0; n < nregions(i); n++)
                changed |= narrow_known(p, i->region[n]);
            uint32_t first = i->op == RG_IF ? 0 : rg_first_init(f, id);
            uint32_t arg = i->op == RG_IF ? 0 : rg_first_carried(f, id);
            uint32_t skip = i->op == RG_LOOP ? 1 : 0; /* `again` */
            for (uint32_t n = 0; n < i->nres; n++) {
                bool ok = known[rg_operand(f, rg_yield_of(f, i->region[0]), n + skip)];
                if (i->op == RG_IF)
                    ok &= known[rg_operand(f, rg_yield_of(f, i->region[1]), n)];
                else
                    ok &= known[rg_operand(f, id, first + n)];
                if (ok)
                    continue;
                changed |= lose(p, rg_result(f, id, n));
                if (i->op != RG_IF)
                    changed |= lose(p, f->regions.at[i->region[0]].args.at[arg + n]);
            }
        } else if (i->nres == 1 && known[rg_result(f, id, 0)]) {
            bool ok = true;
            for (uint32_t n = 0; n < i->nopnd; n++)
                ok &= known[rg_operand(f, id, n)];
            if (!ok)
                changed |= lose(p, rg_result(f, id, 0));
        }
    }
    return changed;
}

/* ---- stretches ---- */

static void mark_inside(planner *p, rg_iid id, uint32_t task) {
    const rg_ins *i = &p->f->ins.at[id];
    p->task_in[id] = task;
    for (uint32_t n = 0; n < nregions(i); n++) {
        const rg_region *g = &p->f->regions.at[i->region[n]];
        for (uint32_t k = 0; k < g->ins.n; k++) {
            mark_inside(p, g->ins.at[k], task);
            if (p->f->ins.at[g->ins.at[k]].op == RG_ALLOC)
                p->own[p->f->ins.at[g->ins.at[k]].array] = true;
        }
    }
}

static void find_tasks(planner *p, rg_rid r) {
    const rg_fn *f = p->f;
    rg_task_plan *plan = p->plan;
    const rg_region *g = &f->regions.at[r];
    uint32_t open = 0; /* task + 1 of the stretch being built */
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid id = g->ins.at[k];
        const rg_ins *i = &f->ins.at[id];
        bool breaks =
            plan->walked[id] || i->op == RG_PARALLEL || i->op == RG_COPY || i->op == RG_YIELD;
        bool idle = false; /* the host's, and no reason to end the stretch */
        if (i->op == RG_ALLOC) {
            idle = true;
            for (uint32_t n = 0; n < i->nopnd; n++)
                breaks |= !plan->known[rg_operand(f, id, n)];
        } else if (!breaks && !nregions(i) && i->nres == 1) {
            idle = plan->known[rg_result(f, id, 0)];
        }
        if (breaks) {
            open = 0;
            if (i->op == RG_PARALLEL) {
                rg_task t = {.parallel = id, .region = r};
                RG_PUSH(p->arena, &plan->tasks, t);
                plan->task_of[id] = plan->tasks.n;
                mark_inside(p, id, plan->tasks.n);
            }
            for (uint32_t n = 0; plan->walked[id] && n < nregions(i); n++)
                find_tasks(p, i->region[n]);
        } else if (!idle) {
            if (!open) {
                rg_task t = {.region = r};
                RG_PUSH(p->arena, &plan->tasks, t);
                open = plan->tasks.n;
            }
            rg_task *t = &plan->tasks.at[open - 1];
            if (t->stretch.n)
                plan->task_of[t->stretch.at[t->stretch.n - 1]] = 0;
            RG_PUSH(p->arena, &t->stretch, id);
            plan->task_of[id] = open;
            plan->in_stretch[id] = true;
            mark_inside(p, id, open);
        }
    }
}

/* ---- slots ---- */

static void give_slot(planner *p, rg_val v) {
    if (!p->plan->slot[v])
        p->plan->slot[v] = ++p->plan->nslots;
}

/* The task that computes v; 0: the host, or a value that is carried. */
static uint32_t task_of_value(const planner *p, rg_val v) {
    const rg_value *x = &p->f->vals.at[v];
    return x->def ? p->task_in[x->def] : p->task_in[p->f->regions.at[x->region].owner];
}

static bool at_kernel_level(const planner *p, rg_val v) {
    return p->kernel_level[rg_val_region(p->f, v)];
}

static void find_slots(planner *p) {
    const rg_fn *f = p->f;
    for (rg_iid id = 1; id < f->ins.n; id++) {
        const rg_ins *i = &f->ins.at[id];
        if (!i->parent)
            continue;
        bool level = p->kernel_level[i->parent];
        if (level && (p->plan->walked[id] || i->op == RG_PARALLEL))
            for (uint32_t n = 0; n < i->nres; n++)
                if (!p->plan->known[rg_result(f, id, n)])
                    give_slot(p, rg_result(f, id, n));
        if (level && p->plan->walked[id] && i->op != RG_IF) {
            const rg_region *g = &f->regions.at[i->region[0]];
            for (uint32_t n = 0; n < g->args.n; n++)
                if (!p->plan->known[g->args.at[n]])
                    give_slot(p, g->args.at[n]);
        }
        /* What a parallel names itself (bounds, initial values) is the host's business. */
        uint32_t user = level && !p->plan->in_stretch[id] ? 0 : p->task_in[id];
        for (uint32_t n = 0; n < i->nopnd; n++) {
            rg_val v = rg_operand(f, id, n);
            if (at_kernel_level(p, v) && !p->plan->known[v] &&
                (!user || task_of_value(p, v) != user))
                give_slot(p, v);
        }
    }
}

/* ---- what each task takes, gives and touches ---- */

static void take_value(planner *p, rg_task *t, uint32_t number, rg_val v) {
    if (!at_kernel_level(p, v) || p->seen[v] == number || rg_def_op(p->f, v) == RG_CONST)
        return;
    if (p->plan->known[v]) {
        p->seen[v] = number;
        RG_PUSH(p->arena, &t->host_inputs, v);
    } else if (task_of_value(p, v) != number) {
        p->seen[v] = number;
        RG_PUSH(p->arena, &t->slot_inputs, v);
    }
}

static uint8_t word_views(const rg_elem *e, const rg_leaf *leaf, bool atomic) {
    uint8_t use = 0;
    for (uint32_t k = 0; k < e->nleaves; k++)
        if (rg_mem_size(e->leaves[k].mem) < 4)
            use |= RG_TASK_WORDS32;
    if (atomic)
        use |= rg_mem_size(leaf->mem) == 8 ? RG_TASK_WORDS64 : RG_TASK_WORDS32;
    return use;
}

static void take_array(planner *p, rg_task *t, rg_aid a, uint8_t use, bool grows) {
    if (p->own[a])
        return;
    if (!p->array_at[a]) {
        RG_PUSH(p->arena, &t->arrays, a);
        RG_PUSH(p->arena, &t->array_use, 0);
        RG_PUSH(p->arena, &t->array_need, 0);
        p->array_at[a] = t->arrays.n;
    }
    t->array_use.at[p->array_at[a] - 1] |= use;
    uint32_t *need = &t->array_need.at[p->array_at[a] - 1];
    if (grows && (p->f->arrays.at[a].flags & RG_ARR_GROW) && !*need)
        *need = ++p->plan->nslots;
}

static bool is_atomic(const rg_ins *i) {
    return i->op == RG_RMW || (i->flags & RG_INS_ATOMIC) ||
           (i->op == RG_ADDTO && (i->flags & (RG_INS_PRIVATE | RG_INS_ACCUM)));
}

uint32_t rg_task_column_size(const rg_fn *f, const rg_task_scratch *s, uint32_t leaf) {
    const rg_leaf *l = &f->arrays.at[s->array].elem->leaves[leaf];
    uint32_t n = rg_mem_size(l->mem) == 8 ? 8 : 4;
    for (uint32_t k = 0; k < l->ndims; k++)
        n *= (uint32_t)l->dims[k];
    return n;
}

/* An array of the task's own: in variables of the invocation when small, else in scratch. */
static void take_alloc(planner *p, rg_task *t, rg_iid id) {
    const rg_fn *f = p->f;
    const rg_ins *i = &f->ins.at[id];
    const rg_ir_array *a = &f->arrays.at[i->array];
    rg_task_scratch s = {.array = i->array, .alloc = id};
    bool constant = !(a->flags & RG_ARR_GROW), known = constant;
    uint64_t bytes = 0, count = 1;
    for (uint32_t k = 0; k < a->elem->nleaves; k++)
        bytes += rg_task_column_size(f, &s, k);
    for (uint32_t k = 0; k < i->nopnd; k++) {
        rg_val v = rg_operand(f, id, k);
        int64_t n;
        known &= (at_kernel_level(p, v) && p->plan->known[v]) || rg_def_op(f, v) == RG_CONST;
        if (!rg_val_const_int(f, v, &n))
            constant = false;
        else if (n <= 0)
            count = 0;
        else if (count)
            count = (uint64_t)n > PRIVATE_ARRAY / count ? PRIVATE_ARRAY + 1 : count * (uint64_t)n;
    }
    if (constant && bytes * count <= PRIVATE_ARRAY &&
        p->private_bytes + bytes * count <= PRIVATE_TOTAL) {
        p->private_bytes += (uint32_t)(bytes * count);
        return;
    }
    if (!known)
        s.need = ++p->plan->nslots;
    RG_PUSH(p->arena, &t->scratch, s);
}

static void take(planner *p, rg_task *t, uint32_t number, rg_iid id) {
    const rg_fn *f = p->f;
    const rg_ins *i = &f->ins.at[id];
    if (id != t->parallel)
        for (uint32_t n = 0; n < i->nopnd; n++)
            take_value(p, t, number, rg_operand(f, id, n));
    switch (i->op) {
    case RG_SCALAR:
        if (p->seen[rg_result(f, id, 0)] != number) {
            p->seen[rg_result(f, id, 0)] = number;
            RG_PUSH(p->arena, &t->host_inputs, rg_result(f, id, 0));
        }
        break;
    case RG_EXTENT:
        take_array(p, t, i->array, 0, false);
        break;
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW: {
        uint8_t use = i->op == RG_LOAD    ? RG_TASK_READ
                      : i->op == RG_STORE ? RG_TASK_WRITE
                                          : RG_TASK_READ | RG_TASK_WRITE;
        const rg_elem *e = f->arrays.at[i->array].elem;
        use |= word_views(e, &e->leaves[i->leaf], is_atomic(i));
        take_array(p, t, i->array, use, i->op != RG_LOAD);
        break;
    }
    case RG_COPY: {
        const rg_elem *e = f->arrays.at[i->array].elem;
        uint8_t views = word_views(e, NULL, false);
        take_array(p, t, i->array, RG_TASK_WRITE | views, true);
        take_array(p, t, i->array2, RG_TASK_READ | views, false);
        break;
    }
    case RG_ALLOC:
        take_alloc(p, t, id);
        break;
    default:
        break;
    }
    for (uint32_t n = 0; n < nregions(i); n++) {
        const rg_region *g = &f->regions.at[i->region[n]];
        for (uint32_t k = 0; k < g->ins.n; k++)
            take(p, t, number, g->ins.at[k]);
    }
}

static void fill_task(planner *p, uint32_t number) {
    const rg_fn *f = p->f;
    rg_task *t = &p->plan->tasks.at[number - 1];
    p->private_bytes = 0;
    if (t->parallel) {
        const rg_ins *i = &f->ins.at[t->parallel];
        take(p, t, number, t->parallel);
        for (uint32_t n = 0; n < i->nres; n++)
            RG_PUSH(p->arena, &t->outputs, rg_result(f, t->parallel, n));
    }
    for (uint32_t k = 0; k < t->stretch.n; k++) {
        rg_iid id = t->stretch.at[k];
        take(p, t, number, id);
        for (uint32_t n = 0; n < f->ins.at[id].nres; n++)
            if (p->plan->slot[rg_result(f, id, n)])
                RG_PUSH(p->arena, &t->outputs, rg_result(f, id, n));
    }
    for (uint32_t k = 0; k < t->arrays.n; k++)
        p->array_at[t->arrays.at[k]] = 0;
}

rg_task_plan *rg_tasks_plan(rg_arena *a, const rg_fn *f) {
    rg_task_plan *plan = RG_NEW(a, rg_task_plan);
    planner p = {.f = f, .arena = a, .plan = plan};
    plan->task_of = RG_NEW_N(a, uint32_t, f->ins.n + 1);
    plan->in_stretch = RG_NEW_N(a, bool, f->ins.n + 1);
    plan->walked = RG_NEW_N(a, bool, f->ins.n + 1);
    plan->known = RG_NEW_N(a, bool, f->vals.n + 1);
    plan->slot = RG_NEW_N(a, uint32_t, f->vals.n + 1);
    p.has_parallel = RG_NEW_N(a, bool, f->ins.n + 1);
    p.kernel_level = RG_NEW_N(a, bool, f->regions.n + 1);
    p.task_in = RG_NEW_N(a, uint32_t, f->ins.n + 1);
    p.seen = RG_NEW_N(a, uint32_t, f->vals.n + 1);
    p.array_at = RG_NEW_N(a, uint32_t, f->arrays.n + 1);
    p.own = RG_NEW_N(a, bool, f->arrays.n + 1);
    find_parallel(&p, f->body);
    enter(&p, f->body);
    while (narrow_known(&p, f->body))
        ;
    find_tasks(&p, f->body);
    find_slots(&p);
    for (uint32_t k = 0; k < plan->tasks.n; k++)
        fill_task(&p, k + 1);
    return plan;
}

rg_task_layout *rg_task_layout_make(rg_arena *a, const rg_fn *f, const rg_task *t) {
    rg_task_layout *l = RG_NEW(a, rg_task_layout);
    l->array = RG_NEW_N(a, uint32_t, t->arrays.n + 1);
    l->words32 = RG_NEW_N(a, uint32_t, t->arrays.n + 1);
    l->words64 = RG_NEW_N(a, uint32_t, t->arrays.n + 1);
    l->extents = RG_NEW_N(a, uint32_t, t->arrays.n + 1);
    l->capacity = RG_NEW_N(a, uint32_t, t->scratch.n + 1);
    l->column = RG_NEW_N(a, uint32_t, t->scratch.n + 1);
    l->input = RG_NEW_N(a, uint32_t, t->host_inputs.n + 1);
    uint32_t at = 32;
    l->slots32 = 0;
    l->slots64 = 8;
    l->slots_f32 = 16;
    l->slots_f64 = 24;
    l->ranges = at;
    if (t->parallel)
        at += 16 * (uint32_t)f->ins.at[t->parallel].imm.i;
    for (uint32_t k = 0; k < t->arrays.n; k++) {
        l->array[k] = at;
        at += 8;
        l->words32[k] = l->words64[k] = UINT32_MAX;
        if (t->array_use.at[k] & RG_TASK_WORDS32) {
            l->words32[k] = at;
            at += 8;
        }
        if (t->array_use.at[k] & RG_TASK_WORDS64) {
            l->words64[k] = at;
            at += 8;
        }
        l->extents[k] = at;
        at += 8 * f->arrays.at[t->arrays.at[k]].rank;
    }
    for (uint32_t k = 0; k < t->scratch.n; k++) {
        l->capacity[k] = at;
        l->column[k] = at + 8;
        at += 8 + 8 * f->arrays.at[t->scratch.at[k].array].elem->nleaves;
    }
    for (uint32_t k = 0; k < t->host_inputs.n; k++, at += 8)
        l->input[k] = at;
    l->size = at;
    return l;
}
