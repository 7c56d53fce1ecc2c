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
            ok = a.n != 0;
            out[(*n)++] = a;
        }
    }
    rg_b_pop(p->b);
    return ok;
}

static rg_aid new_array(rg_records *p, rg_iid i, const char *name, rg_type t, rg_val count) {
    rg_fn *f = p->f;
    const rg_elem *e = rg_elem_scalar(rg_type_mem(t));
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

bool rg_record_value(rg_records *p, rg_iid i, rg_val v, const char *name, rg_val *loaded) {
    rg_fn *f = p->f;
    rg_build *b = p->b;
    axis axes[MOST_AXES];
    uint32_t n;
    rg_iid start = rg_region_at(f, f->body)->ins.at[0];
    *loaded = 0;
    if (!axes_of(p, i, axes, &n))
        return false;
    rg_b_push_before(b, start); /* after the counts */
    rg_val count = rg_b_int(b, RG_I64, 1);
    for (uint32_t k = 0; k < n; k++)
        count = rg_b_op2(b, RG_MUL, count, axes[k].n);
    rg_b_pop(b);
    rg_aid a =
        new_array(p, i, rg_format(f->arena, "%s_%u", name, p->n + 1), rg_type_of(f, v), count);
    bool stored = p->recording && (!p->wanted || p->wanted[p->n]);
    p->n++;
    if (p->recording && !stored)
        return true;
    uint32_t next = rg_record_place_of(f, i) + 1;
    rg_b_push_before(b, rg_region_at(f, rg_ins_at(f, i)->parent)->ins.at[next]);
    b->loc = rg_ins_at(f, i)->loc;
    rg_val at = rg_b_int(b, RG_I64, 0);
    for (uint32_t k = n; k-- > 0;) {
        rg_val here =
            rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, axes[k].iv), rg_b_cast(b, RG_I64, axes[k].lo));
        at = rg_b_op2(b, RG_ADD, rg_b_op2(b, RG_MUL, at, axes[k].n), here);
    }
    if (stored) {
        rg_b_store(b, a, 0, &at, v, 0);
    } else {
        *loaded = rg_b_load(b, a, 0, &at, 0);
        rg_b_name(b, *loaded, rg_value_at(f, v)->name);
    }
    rg_b_pop(b);
    return true;
}
