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
 * Both are made from the same primal here, so that the arrays are the same ones. */
#include "ad/ad.h"

#include "ad/active.h"
#include "ir/build.h"

typedef struct prepare {
    rg_fn *f;
    rg_build *b;
    rg_diags *diags;
    const bool *varied; /* [f arrays] NULL: of no interest */
    rg_rid *life;       /* [f arrays] region in which a local lives; the body for the others */
    bool *used;         /* [f vals] */
    bool recording;
    bool changed, failed;
    uint32_t records;
} prepare;

static void refuse(prepare *p, rg_loc loc, const char *hint, const char *what) {
    rg_error(p->diags, loc, hint, "cannot differentiate kernel '%s': %s", p->f->name, what);
    p->failed = true;
}

/* The parallel around region r that shares array a among its iterations; 0: none. */
static rg_iid shared_by(const prepare *p, rg_rid r, rg_aid a) {
    const rg_fn *f = p->f;
    for (rg_iid o; (o = rg_region_at(f, r)->owner) != 0; r = rg_ins_at(f, o)->parent)
        if (rg_ins_at(f, o)->op == RG_PARALLEL)
            return rg_region_inside(f, p->life[a], rg_ins_at(f, o)->region[0]) ? 0 : o;
    return 0;
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

static uint32_t place_of(const rg_fn *f, rg_iid i) {
    const rg_region *g = rg_region_at(f, rg_ins_at(f, i)->parent);
    uint32_t k = 0;
    while (g->ins.at[k] != i)
        k++;
    return k;
}

static void take_out(prepare *p, rg_iid i) {
    rg_region *g = rg_region_at(p->f, rg_ins_at(p->f, i)->parent);
    uint32_t k = place_of(p->f, i);
    for (; k + 1 < g->ins.n; k++)
        g->ins.at[k] = g->ins.at[k + 1];
    g->ins.n--;
    rg_ins_at(p->f, i)->parent = 0;
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

/* v computed again at the start of the kernel, where the host can compute it too; 0: impossible. */
static rg_val at_start(prepare *p, rg_val v, int depth) {
    rg_fn *f = p->f;
    rg_iid d = rg_value_at(f, v)->def;
    if (!d || depth > 40)
        return 0;
    const rg_ins ins = *rg_ins_at(f, d);
    if (ins.op == RG_SCALAR)
        return rg_b_scalar(p->b, (uint32_t)ins.imm.i);
    if (ins.op == RG_EXTENT)
        return rg_array_at(f, ins.array)->kind == RG_ARR_PARAM
                   ? rg_b_extent(p->b, ins.array, (uint32_t)ins.imm.i)
                   : 0;
    if (ins.op == RG_CONST)
        return rg_type_is_float(rg_type_of(f, v)) ? rg_b_real(p->b, rg_type_of(f, v), ins.imm.f)
                                                  : rg_b_int(p->b, rg_type_of(f, v), ins.imm.i);
    if (!rg_op_is_pure((rg_op)ins.op) || ins.nopnd > 3)
        return 0;
    rg_val x[3] = {0};
    for (uint32_t k = 0; k < ins.nopnd; k++)
        if ((x[k] = at_start(p, rg_operand(f, d, k), depth + 1)) == 0)
            return 0;
    return rg_b_pure(p->b, (rg_op)ins.op, rg_type_of(f, v), x, ins.nopnd, ins.imm.i);
}

typedef struct axis {
    rg_val iv, lo, hi; /* where the loop is */
    rg_val n;          /* iterations, at the kernel's start; i64 */
} axis;

/* max(hi - lo, 0) at the kernel's start. */
static rg_val count_at_start(prepare *p, rg_val lo, rg_val hi) {
    rg_build *b = p->b;
    rg_val l = at_start(p, lo, 0), h = at_start(p, hi, 0);
    if (!l || !h)
        return 0;
    rg_val d = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, h), rg_b_cast(b, RG_I64, l));
    return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, l, h), d, rg_b_int(b, RG_I64, 0));
}

/* The loops around i, innermost first; false: one whose iterations the host cannot count. */
static bool axes_of(prepare *p, rg_iid i, axis *out, uint32_t *n) {
    rg_fn *f = p->f;
    *n = 0;
    rg_rid r = rg_ins_at(f, i)->parent;
    rg_b_push_before(p->b, rg_region_at(f, f->body)->ins.at[0]);
    bool ok = true;
    for (rg_iid o; ok && (o = rg_region_at(f, r)->owner) != 0; r = rg_ins_at(f, o)->parent) {
        const rg_ins ins = *rg_ins_at(f, o);
        if (ins.op == RG_IF)
            continue;
        uint32_t ranges = ins.op == RG_FOR ? 1 : ins.op == RG_PARALLEL ? (uint32_t)ins.imm.i : 0;
        ok = ranges && *n + ranges <= 12;
        for (uint32_t k = ranges; ok && k-- > 0;) {
            axis a = {.iv = rg_region_at(f, r)->args.at[k],
                      .lo = rg_operand(f, o, 2 * k),
                      .hi = rg_operand(f, o, 2 * k + 1)};
            a.n = count_at_start(p, a.lo, a.hi);
            ok = a.n != 0;
            out[(*n)++] = a;
        }
    }
    rg_b_pop(p->b);
    return ok;
}

static rg_aid record_array(prepare *p, rg_iid i, rg_type t, rg_val count) {
    rg_fn *f = p->f;
    const char *name = rg_format(f->arena, "%s_captured_%u",
                                 rg_array_at(f, rg_ins_at(f, i)->array)->name, ++p->records);
    rg_elem *e = rg_elem_scalar(rg_type_mem(t));
    rg_array r = {.name = name,
                  .kind = RG_ARR_PARAM,
                  .flags = p->recording ? RG_ARR_WRITTEN : RG_ARR_CONST,
                  .elem = e,
                  .rank = 1,
                  .param = f->params.n,
                  .loc = rg_ins_at(f, i)->loc};
    r.extents = RG_NEW(f->arena, rg_val);
    r.extents[0] = count;
    rg_aid a = rg_array_new(f, &r);
    rg_param q = {.name = name,
                  .is_array = true,
                  .array = a,
                  .elem = e,
                  .rank = 1,
                  .is_const = !p->recording,
                  .loc = r.loc};
    q.extent_text = RG_NEW_N(f->arena, const char *, 1);
    RG_PUSH(f->arena, &f->params, q);
    return a;
}

/* i's result is what it was at the launch. */
static void record(prepare *p, rg_iid i) {
    rg_fn *f = p->f;
    rg_build *b = p->b;
    const rg_ins ins = *rg_ins_at(f, i);
    const char *name = rg_array_at(f, ins.array)->name;
    if (p->varied && p->varied[ins.array] && rg_mem_is_float(rg_ins_leaf(f, &ins)->mem)) {
        refuse(p, ins.loc,
               "capture an integer (a place or a number), or use a reduction or a serial loop",
               rg_format(f->arena,
                         "the value that this atomic operation finds in '%s' has a gradient which "
                         "depends on the order of the iterations",
                         name));
        return;
    }
    axis axes[12];
    uint32_t n;
    rg_iid start = rg_region_at(f, f->body)->ins.at[0];
    if (!axes_of(p, i, axes, &n)) {
        refuse(p, ins.loc,
               "move it out of the inner loop, or give the loop bounds that follow from the "
               "kernel's parameters",
               rg_format(f->arena,
                         "how often this atomic operation captures a value of '%s' is not known "
                         "before the launch",
                         name));
        return;
    }
    rg_b_push_before(b, start); /* after the counts */
    rg_val count = rg_b_int(b, RG_I64, 1);
    for (uint32_t k = 0; k < n; k++)
        count = rg_b_op2(b, RG_MUL, count, axes[k].n);
    rg_b_pop(b);
    rg_val r = rg_result(f, i, 0);
    rg_type t = rg_type_of(f, r);
    rg_aid a = record_array(p, i, t, count);
    uint32_t next = place_of(f, i) + 1;
    rg_b_push_before(b, rg_region_at(f, ins.parent)->ins.at[next]);
    b->loc = ins.loc;
    rg_val at = rg_b_int(b, RG_I64, 0);
    for (uint32_t k = n; k-- > 0;) {
        rg_val here =
            rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, axes[k].iv), rg_b_cast(b, RG_I64, axes[k].lo));
        at = rg_b_op2(b, RG_ADD, rg_b_op2(b, RG_MUL, at, axes[k].n), here);
    }
    if (p->recording) {
        rg_b_store(b, a, 0, &at, r, 0);
        rg_b_pop(b);
    } else {
        rg_val v = rg_b_load(b, a, 0, &at, 0);
        rg_b_name(b, v, rg_value_at(f, r)->name);
        rg_b_pop(b);
        replace(p, r, v);
        if (ins.op == RG_LOAD)
            take_out(p, i);
        else
            rg_ins_remove_result(f, i, 0);
    }
    p->changed = true;
}

/* Does the parallel loop around atomic load i write its array? Only atomics may. */
static bool changes_meanwhile(const prepare *p, rg_iid i) {
    const rg_fn *f = p->f;
    rg_aid a = rg_ins_at(f, i)->array;
    rg_iid loop = shared_by(p, rg_ins_at(f, i)->parent, a);
    for (uint32_t k = 1; k < f->ins.n && loop; k++) {
        const rg_ins *ins = rg_ins_at(f, k);
        bool writes = ins->op == RG_RMW || ins->op == RG_ADDTO || ins->op == RG_STORE;
        if (ins->parent && writes && ins->array == a &&
            rg_region_inside(f, ins->parent, rg_ins_at(f, loop)->region[0]))
            return true;
    }
    return false;
}

static bool is_captured(const prepare *p, rg_iid i) {
    const rg_ins *ins = rg_ins_at(p->f, i);
    if (ins->op == RG_LOAD)
        return (ins->flags & RG_INS_ATOMIC) && p->used[rg_result(p->f, i, 0)] &&
               changes_meanwhile(p, i);
    return ins->op == RG_RMW && ins->nres && p->used[rg_result(p->f, i, 0)] &&
           shared_by(p, ins->parent, ins->array);
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

static bool has_atomics(const rg_fn *f) {
    bool any = false;
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        any |= ins->parent &&
               (ins->op == RG_RMW || (ins->op == RG_LOAD && ins->flags & RG_INS_ATOMIC));
    }
    return any;
}

uint32_t rg_ad_captures(rg_arena *a, const rg_fn *f) {
    if (!has_atomics(f))
        return 0;
    prepare p = {.f = rg_fn_clone(a, f)};
    uint32_t n = 0;
    learn(&p);
    for (uint32_t i = 1; i < f->ins.n; i++)
        n += rg_ins_at(p.f, i)->parent && is_captured(&p, i);
    return n;
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
    if (!shared_by(p, ins->parent, ins->array)) {
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

rg_fn *rg_ad_recording(rg_arena *a, const rg_fn *f, rg_diags *d) {
    prepare p = {.f = rg_fn_clone(a, f), .diags = d, .recording = true};
    p.b = rg_b_new(p.f);
    learn(&p);
    each(&p, p.f->ins.n, visit_capture);
    return p.failed ? NULL : p.f;
}

rg_fn *rg_ad_prepare(rg_arena *a, const rg_fn *f, const rg_activity *act, rg_mode mode, rg_diags *d,
                     bool *changed) {
    *changed = false;
    rg_fn *c = rg_fn_clone(a, f);
    if (!has_atomics(f))
        return c;
    prepare p = {.f = c, .diags = d};
    p.b = rg_b_new(c);
    learn(&p);
    uint32_t n = c->ins.n;
    if (mode != RG_TANGENT) {
        p.varied = rg_ad_varied(a, c, act)->array;
        each(&p, n, visit_capture);
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
