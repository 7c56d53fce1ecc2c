/* One mark over instructions, values and arrays from what the outside can see.
 *
 * Roots are the writes to parameters and their shadows, and what an adjoint by the user gives. A
 * live instruction makes its operands live and whatever decides that it runs (the conditions,
 * bounds and `again` of the instructions around it). A live result or argument of a loop makes that
 * one carried value live: its initial value and what is yielded for it; so a value that only feeds
 * itself is never marked. A live load makes its array live, and a live local array makes the writes
 * to it live, so an array that is only written goes with all its writes. A `loop` is taken to end:
 * without effects it goes as well. */
#include "ir/live.h"

typedef struct marker {
    const rg_fn *f;
    rg_arena *scratch;
    const bool *ignored;
    bool *ins, *val, *array;
    RG_VEC(rg_iid) work_ins;
    RG_VEC(rg_val) work_val;
    RG_VEC(rg_aid) work_array;
    uint32_t *first_writer; /* by array: index + 1 into writers */
    struct {
        rg_iid ins;
        uint32_t next;
    } * writers;
    uint32_t nwriters;
} marker;

static void mark_ins(marker *m, rg_iid i) {
    if (!i || m->ins[i])
        return;
    m->ins[i] = true;
    RG_PUSH(m->scratch, &m->work_ins, i);
}

static void mark_val(marker *m, rg_val v) {
    if (!v || m->val[v])
        return;
    m->val[v] = true;
    RG_PUSH(m->scratch, &m->work_val, v);
}

static void mark_array(marker *m, rg_aid a) {
    if (!a || m->array[a] || rg_array_at(m->f, a)->kind != RG_ARR_LOCAL)
        return;
    m->array[a] = true;
    RG_PUSH(m->scratch, &m->work_array, a);
}

/* Everything that carried value k of a loop, or result k of an if, is made of. */
static void mark_slot(marker *m, rg_iid owner, uint32_t k) {
    const rg_fn *f = m->f;
    const rg_ins *ins = rg_ins_at(f, owner);
    uint32_t at = (rg_ins_at(f, owner)->op == RG_LOOP ? 1 : 0) + k;
    for (int s = 0; s < 2; s++)
        if (ins->region[s])
            mark_val(m, rg_operand(f, rg_yield_of(f, ins->region[s]), at));
    if (ins->op != RG_IF) {
        mark_val(m, rg_operand(f, owner, rg_first_init(f, owner) + k));
        mark_val(m, rg_region_at(f, ins->region[0])->args.at[rg_first_carried(f, owner) + k]);
    }
    if (k < ins->nres)
        mark_val(m, rg_result(f, owner, k));
}

static void visit_ins(marker *m, rg_iid i) {
    const rg_fn *f = m->f;
    const rg_ins *ins = rg_ins_at(f, i);
    mark_ins(m, rg_region_at(f, ins->parent)->owner);
    uint32_t n = ins->nopnd;
    if (ins->op == RG_FOR || ins->op == RG_LOOP || ins->op == RG_PARALLEL)
        n = rg_first_init(f, i);
    for (uint32_t k = 0; k < n; k++)
        mark_val(m, rg_operand(f, i, k));
    switch (ins->op) {
    case RG_LOOP:
        mark_val(m, rg_operand(f, rg_yield_of(f, ins->region[0]), 0));
        break;
    case RG_EXTENT:
    case RG_LOAD:
    case RG_ADDTO:
    case RG_RMW:
    case RG_STORE:
    case RG_ALLOC:
        mark_array(m, ins->array);
        break;
    case RG_COPY:
    case RG_PAIR:
        mark_array(m, ins->array);
        mark_array(m, ins->array2);
        break;
    default:
        break;
    }
}

static void visit_val(marker *m, rg_val v) {
    const rg_fn *f = m->f;
    const rg_value *value = rg_value_at(f, v);
    if (value->def) {
        mark_ins(m, value->def);
        if (rg_ops[rg_ins_at(f, value->def)->op].flags & RG_F_RGN)
            mark_slot(m, value->def, value->index);
        return;
    }
    rg_iid owner = value->region ? rg_region_at(f, value->region)->owner : 0;
    if (!owner)
        return;
    mark_ins(m, owner);
    uint32_t first = rg_first_carried(f, owner);
    if (value->index >= first)
        mark_slot(m, owner, value->index - first);
}

static void add_writer(marker *m, rg_aid a, rg_iid i) {
    m->writers[m->nwriters].ins = i;
    m->writers[m->nwriters].next = m->first_writer[a];
    m->first_writer[a] = ++m->nwriters;
}

static void find_roots(marker *m, rg_rid r) {
    const rg_fn *f = m->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                find_roots(m, ins->region[s]);
        if (ins->op == RG_GIVE || ins->op == RG_PAIR)
            mark_ins(m, i);
        if (!(rg_ops[ins->op].flags & RG_F_WRITE) || (m->ignored && m->ignored[i]))
            continue;
        if (rg_array_at(f, ins->array)->kind == RG_ARR_LOCAL)
            add_writer(m, ins->array, i);
        else
            mark_ins(m, i);
    }
}

rg_live rg_fn_live(rg_arena *scratch, const rg_fn *f, const bool *ignored) {
    marker *m = RG_NEW(scratch, marker);
    m->f = f;
    m->scratch = scratch;
    m->ignored = ignored;
    m->ins = RG_NEW_N(scratch, bool, f->ins.n);
    m->val = RG_NEW_N(scratch, bool, f->vals.n);
    m->array = RG_NEW_N(scratch, bool, f->arrays.n);
    m->first_writer = RG_NEW_N(scratch, uint32_t, f->arrays.n);
    m->writers = rg_alloc(scratch, f->ins.n * sizeof *m->writers);
    find_roots(m, f->body);
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *array = rg_array_at(f, a);
        if (array->kind != RG_ARR_LOCAL && array->extents)
            for (uint32_t k = 0; k < array->rank; k++)
                mark_val(m, array->extents[k]);
    }
    for (;;) {
        if (m->work_val.n) {
            visit_val(m, m->work_val.at[--m->work_val.n]);
        } else if (m->work_ins.n) {
            visit_ins(m, m->work_ins.at[--m->work_ins.n]);
        } else if (m->work_array.n) {
            rg_aid a = m->work_array.at[--m->work_array.n];
            for (uint32_t w = m->first_writer[a]; w; w = m->writers[w - 1].next)
                mark_ins(m, m->writers[w - 1].ins);
        } else {
            break;
        }
    }
    return (rg_live){m->ins, m->val, m->array};
}
