/* What is done to a kernel before it is differentiated.
 *
 * An atomic operation outside of every parallel loop that shares its array meets nobody: it is
 * taken apart into load, operation and store. An atomic sum whose result nobody uses is an addto.
 *
 * A value that an atomic operation captured (and what an atomic load found while others changed it)
 * depends on the order of the iterations, and another run would find another one. So such values
 * are recorded: for each place that captures, the kernel gets one more parameter, an array with an
 * element for each time that the place may be reached; position in the loops around it = index. The
 * recording kernel stores what it captured, the kernel that is differentiated loads it instead.
 * Both are made from the same primal here, so that the arrays are the same ones.
 *
 * The results of reductions are recorded in the same way: another run might add in another order,
 * and would cost another pass over the data. */
#include "ad/ad.h"

#include "ad/captured.h"
#include "ad/recorded.h"
#include "ir/affine.h"

/* A parallel loop and an array that later code reads, onto whose elements several iterations add or
 * multiply floats: rounding depends on their order. */
typedef struct sum {
    rg_iid loop;
    rg_aid array;
} sum;

typedef struct prepare {
    rg_fn *f;
    rg_build *b;
    rg_diags *diags;
    const rg_activity *act; /* NULL: gradients are of no interest */
    const bool *varied;     /* [f arrays] */
    rg_rid *life;           /* [f arrays] region in which a local lives; the body for the others */
    bool *used;             /* [f vals] */
    rg_records records;
    RG_VEC(sum) sums;
    bool changed, failed;
} prepare;

static void refuse(prepare *p, rg_loc loc, const char *hint, const char *what) {
    rg_error(p->diags, loc, hint, "cannot differentiate kernel '%s': %s", p->f->name, what);
    p->failed = true;
}

/* The parallel around i that shares array a among its iterations; 0: none. */
static rg_iid shared_by(const prepare *p, rg_iid i, rg_aid a) {
    return rg_ad_shared_by(p->f, p->life[a], i);
}

static rg_val combine(rg_build *b, rg_red kind, rg_val old, rg_val v) {
    rg_type t = rg_type_of(b->fn, v);
    bool boolean = t == RG_BOOL;
    rg_val zero = rg_b_zero(b, t);
    switch (kind) {
    case RG_RED_ADD:
        return rg_b_op2(b, boolean ? RG_OR : RG_ADD, old, v);
    case RG_RED_MUL:
        return rg_b_op2(b, boolean ? RG_AND : RG_MUL, old, v);
    case RG_RED_MIN:
        return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, v, old), v, old);
    case RG_RED_MAX:
        return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_GT, v, old), v, old);
    case RG_RED_AND:
        return rg_b_op2(b, RG_AND, old, v);
    case RG_RED_OR:
        return rg_b_op2(b, RG_OR, old, v);
    case RG_RED_XOR:
        return rg_b_op2(b, RG_XOR, old, v);
    case RG_RED_LAND:
    case RG_RED_LOR: {
        rg_op op = kind == RG_RED_LAND ? RG_AND : RG_OR;
        if (boolean)
            return rg_b_op2(b, op, old, v);
        rg_val c = rg_b_op2(b, op, rg_b_op2(b, RG_NE, old, zero), rg_b_op2(b, RG_NE, v, zero));
        return rg_b_cast(b, t, c);
    }
    case RG_RED_SET:
        break;
    }
    return v;
}

static void replace(prepare *p, rg_val v, rg_val by) {
    rg_val *map = RG_NEW_N(p->f->arena, rg_val, p->f->vals.n);
    map[v] = by;
    rg_fn_replace_uses(p->f, map);
}

static void take_out(prepare *p, rg_iid i) {
    rg_region_remove(p->f, i);
    p->changed = true;
}

/* Nobody else is at this element: load, operate, store. */
static void expand(prepare *p, rg_iid i) {
    rg_fn *f = p->f;
    rg_build *b = p->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_val idx[16], v = rg_operand(f, i, ins.nopnd - 1);
    for (uint32_t k = 0; k + 1 < ins.nopnd && k < 16; k++)
        idx[k] = rg_operand(f, i, k);
    rg_b_push_before(b, i);
    b->loc = ins.loc;
    rg_val old = rg_b_load(b, ins.array, ins.leaf, idx, 0);
    rg_val now = combine(b, (rg_red)ins.imm.i, old, v);
    rg_b_store(b, ins.array, ins.leaf, idx, now, 0);
    rg_b_pop(b);
    if (ins.nres)
        replace(p, rg_result(f, i, 0), ins.flags & RG_INS_CAPTURE_NEW ? now : old);
    take_out(p, i);
}

/* v, which was recorded of i's result; its cotangent is that of what the element held before. */
static rg_val shifted(prepare *p, rg_iid i, rg_val v) {
    rg_fn *f = p->f;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_val idx[16];
    for (uint32_t k = 0; k < rg_ins_nindices(f, &ins) && k < 16; k++)
        idx[k] = rg_operand(f, i, k);
    rg_iid d = rg_value_at(f, v)->def;
    const rg_region *g = rg_region_at(f, rg_ins_at(f, d)->parent);
    rg_b_push_before(p->b, g->ins.at[rg_record_place_of(f, d) + 1]);
    rg_val x = rg_b_load(p->b, ins.array, ins.leaf, idx, RG_INS_ATOMIC | RG_INS_KEPT);
    v = rg_b_op2(p->b, RG_RECORDED, x, v);
    rg_b_pop(p->b);
    return v;
}

/* i's result is what it was at the launch. */
static void record(prepare *p, rg_iid i) {
    rg_fn *f = p->f;
    const rg_ins ins = *rg_ins_at(f, i);
    const char *name = rg_array_at(f, ins.array)->name;
    rg_captured how = RG_CAPTURED_CONSTANT;
    if (p->act && p->varied[ins.array] && rg_mem_is_float(rg_ins_leaf(f, &ins)->mem))
        how = rg_ad_captured(f->arena, f, p->act, i, shared_by(p, i, ins.array));
    if (how == RG_CAPTURED_ORDER) {
        refuse(p, ins.loc, RG_CAPTURED_HINT,
               rg_format(f->arena,
                         "the value that this atomic operation finds in '%s' has a gradient which "
                         "depends on the order of the iterations",
                         name));
        return;
    }
    rg_val r = rg_result(f, i, 0), v;
    if (!rg_record_value(&p->records, i, r, rg_format(f->arena, "%s_captured", name), &v)) {
        refuse(p, ins.loc,
               "move it out of the inner loop, or give the loop bounds that follow from the "
               "kernel's parameters",
               rg_format(f->arena,
                         "how often this atomic operation captures a value of '%s' is not known "
                         "before the launch",
                         name));
        return;
    }
    p->changed = true;
    if (p->records.recording)
        return;
    if (how == RG_CAPTURED_SHIFT)
        v = shifted(p, i, v);
    replace(p, r, v);
    if (ins.op == RG_LOAD)
        take_out(p, i);
    else
        rg_ins_remove_result(f, i, 0);
}

/* The results of the parallel loop's reductions are those of the launch, for all that comes after;
 * the mark says so to the adjoint, which still differentiates the loop (forward.c). Where it is not
 * known how often the loop runs, it runs again. */
static void visit_reduction(prepare *p, rg_iid i) {
    rg_fn *f = p->f;
    if (rg_ins_at(f, i)->op != RG_PARALLEL)
        return;
    for (uint32_t k = 0; k < rg_ins_at(f, i)->nres; k++) {
        rg_val r = rg_result(f, i, k), v;
        const char *name = rg_value_at(f, r)->name;
        if (!p->used[r])
            continue;
        if (!rg_record_value(&p->records, i, r, rg_format(f->arena, "%s_kept", name ? name : "sum"),
                             &v))
            return;
        p->changed = true;
        if (!v)
            continue;
        rg_b_push_before(p->b, rg_region_at(f, rg_ins_at(f, rg_value_at(f, v)->def)->parent)
                                   ->ins.at[rg_record_place_of(f, rg_value_at(f, v)->def) + 1]);
        rg_val mark = rg_b_op2(p->b, RG_RECORDED, v, v);
        rg_b_name(p->b, mark, name);
        rg_b_pop(p->b);
        replace(p, r, mark);
        f->pool.at[rg_ins_at(f, rg_value_at(f, mark)->def)->opnd] = r;
    }
}

static bool is_captured(const prepare *p, rg_iid i) {
    const rg_ins *ins = rg_ins_at(p->f, i);
    if (ins->op == RG_LOAD)
        return (ins->flags & RG_INS_ATOMIC) && p->used[rg_result(p->f, i, 0)] &&
               rg_ad_changes(p->f, shared_by(p, i, ins->array), ins->array);
    return ins->op == RG_RMW && ins->nres && p->used[rg_result(p->f, i, 0)] &&
           shared_by(p, i, ins->array);
}

static void learn(prepare *p) {
    rg_fn *f = p->f;
    p->life = RG_NEW_N(f->arena, rg_rid, f->arrays.n);
    p->used = RG_NEW_N(f->arena, bool, f->vals.n);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        p->life[a] = f->body;
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->parent)
            continue;
        if (ins->op == RG_ALLOC)
            p->life[ins->array] = ins->parent;
        for (uint32_t k = 0; k < ins->nopnd; k++)
            p->used[rg_operand(f, i, k)] = true;
    }
}

/* Does each iteration of the loop have the elements that update i writes for itself? Two updates
 * that meet each other in different iterations leave a sum that depends on their order, also where
 * neither meets itself. */
static bool order_is_known(const rg_fn *f, rg_iid i, rg_iid loop) {
    const rg_ins *a = rg_ins_at(f, i);
    for (uint32_t j = 1; j < f->ins.n; j++) {
        const rg_ins *b = rg_ins_at(f, j);
        if (b->parent && rg_writes_element(b) && b->array == a->array && b->leaf == a->leaf &&
            rg_region_inside(f, b->parent, rg_ins_at(f, loop)->region[0]) &&
            !rg_access_same_iteration(f, i, j, loop))
            return false;
    }
    return true;
}

static void find_sums(prepare *p, bool alone) {
    rg_fn *f = p->f;
    bool *loaded = RG_NEW_N(f->arena, bool, f->arrays.n);
    for (uint32_t i = 1; i < f->ins.n; i++)
        if (rg_ins_at(f, i)->parent && rg_ins_at(f, i)->op == RG_LOAD)
            loaded[rg_ins_at(f, i)->array] = true;
    for (uint32_t i = 1; i < f->ins.n && !alone; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        bool adds = ins->op == RG_ADDTO && ins->flags & RG_INS_ATOMIC;
        bool other = ins->op == RG_RMW && (ins->imm.i == RG_RED_ADD || ins->imm.i == RG_RED_MUL);
        if (!ins->parent || !(adds || other) || !loaded[ins->array] ||
            !rg_mem_is_float(rg_ins_leaf(f, ins)->mem))
            continue;
        sum x = {shared_by(p, i, ins->array), ins->array};
        bool known = !x.loop || order_is_known(f, i, x.loop);
        for (uint32_t k = 0; k < p->sums.n; k++)
            known |= p->sums.at[k].loop == x.loop && p->sums.at[k].array == x.array;
        if (!known)
            RG_PUSH(f->arena, &p->sums, x);
    }
}

/* After such a loop the array is as the launch left it. */
static void keep_sums(prepare *p) {
    for (uint32_t k = 0; k < p->sums.n; k++) {
        const sum *x = &p->sums.at[k];
        const char *name = rg_array_at(p->f, x->array)->name;
        p->changed |= rg_record_state(&p->records, x->loop, x->array,
                                      rg_format(p->f->arena, "%s_kept", name));
    }
}

static bool has_atomics(const rg_fn *f) {
    bool any = false;
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        any |= ins->parent && (ins->op == RG_RMW || ((ins->op == RG_LOAD || ins->op == RG_ADDTO) &&
                                                     ins->flags & RG_INS_ATOMIC));
    }
    return any;
}

static void each(prepare *p, uint32_t n, void (*visit)(prepare *, rg_iid)) {
    for (uint32_t i = 1; i < n && !p->failed; i++)
        if (rg_ins_at(p->f, i)->parent)
            visit(p, i);
}

static void visit_capture(prepare *p, rg_iid i) {
    if (is_captured(p, i))
        record(p, i);
}

static void visit_rest(prepare *p, rg_iid i) {
    rg_fn *f = p->f;
    rg_ins *ins = rg_ins_at(f, i);
    if (ins->op != RG_RMW)
        return;
    if (!shared_by(p, i, ins->array)) {
        expand(p, i);
        return;
    }
    if (ins->nres)
        rg_ins_remove_result(f, i, 0);
    if (ins->imm.i == RG_RED_ADD && rg_type_of(f, rg_operand(f, i, ins->nopnd - 1)) != RG_BOOL) {
        rg_ins_at(f, i)->op = RG_ADDTO;
        rg_ins_at(f, i)->imm.i = 0;
        rg_ins_at(f, i)->flags = RG_INS_ATOMIC;
        p->changed = true;
    }
}

static prepare start(rg_fn *f, rg_diags *d) {
    prepare p = {.f = f, .diags = d, .b = rg_b_new(f)};
    p.records = (rg_records){.f = f, .b = p.b};
    learn(&p);
    return p;
}

static bool has_reductions(const rg_fn *f) {
    bool any = false;
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        any |= ins->parent && ins->op == RG_PARALLEL && ins->nres;
    }
    return any;
}

/* All record arrays: first those that the adjoint cannot be without. */
static rg_record_counts all_records(prepare *p, bool alone) {
    uint32_t n = p->f->ins.n;
    rg_record_counts c = {0};
    find_sums(p, alone); /* before captured indices become loads for the adjoint */
    each(p, n, visit_capture);
    c.captures = p->records.n;
    if (!alone)
        each(p, n, visit_reduction);
    c.reductions = p->records.n - c.captures;
    if (!p->failed)
        keep_sums(p);
    c.all = p->records.n;
    return c;
}

rg_record_counts rg_ad_records(rg_arena *a, const rg_fn *f) {
    rg_record_counts c = {0};
    if (!has_atomics(f) && !has_reductions(f))
        return c;
    rg_diags none = {.arena = a};
    prepare p = start(rg_fn_clone(a, f), &none);
    p.records.recording = true;
    c = all_records(&p, false);
    if (!p.failed)
        return c;
    c = (rg_record_counts){0};
    for (uint32_t i = 1; i < f->ins.n; i++) /* the adjoint will be refused */
        c.captures += rg_ins_at(f, i)->parent && is_captured(&p, i);
    c.all = c.captures;
    return c;
}

rg_fn *rg_ad_recording(rg_arena *a, const rg_fn *f, const uint8_t *wanted, rg_diags *d) {
    prepare p = start(rg_fn_clone(a, f), d);
    p.records.recording = true;
    p.records.wanted = wanted;
    all_records(&p, false);
    return p.failed ? NULL : p.f;
}

rg_fn *rg_ad_prepare(rg_arena *a, const rg_fn *f, const rg_activity *act, rg_mode mode, rg_diags *d,
                     bool *changed) {
    *changed = false;
    rg_fn *c = rg_fn_clone(a, f);
    bool alone = mode != RG_ADJOINT || act->alone;
    if (!has_atomics(f) && (alone || !has_reductions(f)))
        return c;
    prepare p = start(c, d);
    uint32_t n = c->ins.n;
    if (mode != RG_TANGENT) {
        p.act = act;
        p.varied = rg_ad_varied(a, c, act)->array;
        p.records.wanted = act->wanted;
        all_records(&p, alone);
        if (p.failed)
            return NULL;
        learn(&p);
        each(&p, n, visit_rest);
    } else {
        for (uint32_t i = 1; i < n; i++)
            if (rg_ins_at(c, i)->parent && rg_ins_at(c, i)->op == RG_RMW && !is_captured(&p, i))
                visit_rest(&p, i);
    }
    *changed = p.changed;
    return p.failed ? NULL : c;
}
