/* One element for each time that a place in the kernel may be reached: how often follows from the
 * loops around it, whose bounds must be known from the kernel's parameters; the position in them is
 * the index. A branch around it only leaves elements unused. */
#include "ad/recorded.h"

uint32_t rg_record_place_of(const rg_fn *f, rg_iid i) {
    const rg_region *g = rg_region_at(f, rg_ins_at(f, i)->parent);
    uint32_t k = 0;
    while (g->ins.at[k] != i)
        k++;
    return k;
}

/* v computed again at the start of the kernel, where the host can compute it too; 0: impossible. */
static rg_val at_start(rg_records *p, rg_val v, int depth) {
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
    rg_val iv, lo; /* where the loop is */
    rg_val n;      /* iterations, at the kernel's start; i64 */
} axis;

/* max(hi - lo, 0) at the kernel's start. */
static rg_val count_at_start(rg_records *p, rg_val lo, rg_val hi) {
    rg_build *b = p->b;
    rg_val l = at_start(p, lo, 0), h = at_start(p, hi, 0);
    if (!l || !h)
        return 0;
    rg_val d = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, h), rg_b_cast(b, RG_I64, l));
    return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, l, h), d, rg_b_int(b, RG_I64, 0));
}

/* What v, made of sums, has as the factor of iv; 0: none. */
static rg_val factor_of(const rg_fn *f, rg_val v, rg_val iv, int depth) {
    rg_iid d = rg_value_at(f, v)->def;
    if (!d || depth > 8)
        return 0;
    const rg_ins *ins = rg_ins_at(f, d);
    if (ins->op == RG_CAST)
        return factor_of(f, rg_operand(f, d, 0), iv, depth + 1);
    rg_val k = 0;
    for (uint32_t q = 0; q < 2 && !k; q++) {
        if (ins->op == RG_ADD)
            k = factor_of(f, rg_operand(f, d, q), iv, depth + 1);
        else if (ins->op == RG_MUL && rg_operand(f, d, q) == iv)
            k = rg_operand(f, d, 1 - q);
    }
    return k;
}

/* The loop over the steps of a block between checkpoints has bounds that follow from the block's
 * number. As many steps as there are from one block to the next: a block has no more of them. */
static rg_val block_at_start(rg_records *p, rg_iid steps) {
    rg_fn *f = p->f;
    rg_iid blocks = rg_region_at(f, rg_ins_at(f, steps)->parent)->owner;
    if (!blocks || rg_ins_at(f, blocks)->op != RG_FOR || rg_ins_at(f, steps)->op != RG_FOR ||
        !(rg_ins_at(f, blocks)->flags & RG_INS_CHECKPOINT))
        return 0;
    rg_val number = rg_region_at(f, rg_ins_at(f, blocks)->region[0])->args.at[0];
    rg_val k = factor_of(f, rg_operand(f, steps, 0), number, 0);
    rg_val n = k ? at_start(p, k, 0) : 0;
    return n ? rg_b_cast(p->b, RG_I64, n) : 0;
}

enum { MOST_AXES = 12 };

/* The loops around i, innermost first; false: one whose iterations the host cannot count. */
static bool axes_of(rg_records *p, rg_iid i, axis *out, uint32_t *n) {
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
        ok = ranges && *n + ranges <= MOST_AXES;
        for (uint32_t k = ranges; ok && k-- > 0;) {
            axis a = {.iv = rg_region_at(f, r)->args.at[k], .lo = rg_operand(f, o, 2 * k)};
            a.n = count_at_start(p, a.lo, rg_operand(f, o, 2 * k + 1));
            if (!a.n)
                a.n = block_at_start(p, o);
            ok = a.n != 0;
            out[(*n)++] = a;
        }
    }
    rg_b_pop(p->b);
    return ok;
}

typedef struct place {
    axis axes[MOST_AXES];
    uint32_t n;
    rg_val count; /* at the kernel's start; i64 */
} place;

static bool place_of(rg_records *p, rg_iid i, place *out) {
    rg_iid start = rg_region_at(p->f, p->f->body)->ins.at[0];
    if (!axes_of(p, i, out->axes, &out->n))
        return false;
    rg_b_push_before(p->b, start); /* after the counts */
    out->count = rg_b_int(p->b, RG_I64, 1);
    for (uint32_t k = 0; k < out->n; k++)
        out->count = rg_b_op2(p->b, RG_MUL, out->count, out->axes[k].n);
    rg_b_pop(p->b);
    return true;
}

/* Goes to the place after i, and says where it is in the loops around it. */
static rg_val open_after(rg_records *p, rg_iid i, const place *x) {
    rg_build *b = p->b;
    uint32_t next = rg_record_place_of(p->f, i) + 1;
    rg_b_push_before(b, rg_region_at(p->f, rg_ins_at(p->f, i)->parent)->ins.at[next]);
    b->loc = rg_ins_at(p->f, i)->loc;
    rg_val at = rg_b_int(b, RG_I64, 0);
    for (uint32_t k = x->n; k-- > 0;) {
        const axis *a = &x->axes[k];
        rg_val here = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, a->iv), rg_b_cast(b, RG_I64, a->lo));
        at = rg_b_op2(b, RG_ADD, rg_b_op2(b, RG_MUL, at, a->n), here);
    }
    return at;
}

/* extents: of the axes after the first, which is the place's. */
static rg_aid new_array(rg_records *p, rg_iid i, const char *name, const rg_elem *e, const place *x,
                        uint32_t rank, const rg_val *extents) {
    rg_fn *f = p->f;
    name = rg_format(f->arena, "%s_%u", name, ++p->n);
    rg_array r = {.name = name,
                  .kind = RG_ARR_PARAM,
                  .flags = p->recording ? RG_ARR_WRITTEN : RG_ARR_CONST,
                  .elem = e,
                  .rank = rank + 1,
                  .param = f->params.n,
                  .loc = rg_ins_at(f, i)->loc};
    r.extents = RG_NEW_N(f->arena, rg_val, rank + 1);
    r.extents[0] = x->count;
    for (uint32_t k = 0; k < rank; k++)
        r.extents[k + 1] = extents[k];
    rg_aid a = rg_array_new(f, &r);
    rg_param q = {.name = name,
                  .is_array = true,
                  .array = a,
                  .elem = e,
                  .rank = rank + 1,
                  .is_const = !p->recording,
                  .loc = r.loc};
    q.extent_text = RG_NEW_N(f->arena, const char *, rank + 1);
    RG_PUSH(f->arena, &f->params, q);
    return a;
}

/* Is the array made last to be used? */
static bool is_wanted(const rg_records *p) {
    return !p->wanted || p->wanted[p->n - 1];
}

bool rg_record_value(rg_records *p, rg_iid i, rg_val v, const char *name, rg_val *loaded) {
    rg_fn *f = p->f;
    rg_build *b = p->b;
    place x;
    *loaded = 0;
    if (!place_of(p, i, &x))
        return false;
    const rg_elem *e = rg_elem_scalar(rg_type_mem(rg_type_of(f, v)));
    rg_aid a = new_array(p, i, name, e, &x, 0, NULL);
    if (!is_wanted(p))
        return true;
    rg_val at = open_after(p, i, &x);
    if (p->recording) {
        rg_b_store(b, a, 0, &at, v, 0);
    } else {
        *loaded = rg_b_load(b, a, 0, &at, 0);
        rg_b_name(b, *loaded, rg_value_at(f, v)->name);
    }
    rg_b_pop(b);
    return true;
}

/* The array's extents at the kernel's start; false: they are not known there. */
static bool extents_at_start(rg_records *p, rg_aid a, rg_val *out) {
    rg_fn *f = p->f;
    const rg_ir_array r = *rg_array_at(f, a);
    if (r.flags & RG_ARR_GROW || r.rank > MOST_AXES)
        return false;
    rg_b_push_before(p->b, rg_region_at(f, f->body)->ins.at[0]);
    bool ok = true;
    for (uint32_t k = 0; k < r.rank && ok; k++) {
        out[k] = r.kind == RG_ARR_PARAM ? rg_b_extent(p->b, a, k) : at_start(p, r.extents[k], 0);
        ok = out[k] != 0;
    }
    rg_b_pop(p->b);
    return ok;
}

bool rg_record_state(rg_records *p, rg_iid i, rg_aid a, const char *name) {
    place x;
    rg_val extents[MOST_AXES];
    if (!place_of(p, i, &x) || !extents_at_start(p, a, extents))
        return false;
    const rg_ir_array r = *rg_array_at(p->f, a);
    rg_aid kept = new_array(p, i, name, r.elem, &x, r.rank, extents);
    if (!is_wanted(p))
        return true;
    rg_val at = open_after(p, i, &x);
    if (p->recording)
        rg_b_copy(p->b, kept, a, &at, 1);
    else
        rg_b_copy(p->b, a, kept, &at, 1);
    if (!p->recording)
        rg_ins_at(p->f, p->f->ins.n - 1)->flags = RG_INS_KEPT;
    rg_b_pop(p->b);
    return true;
}
