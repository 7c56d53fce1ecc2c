/* A loop's iteration is swept forward again by each backward sweep around it: a loop in a loop in a
 * region is swept three times. Where the loops have few constant trips, results of costly functions
 * are saved by the region's own sweep, in an array with an axis for each loop, and the sweeps of
 * iterations inside load them. Memory: at most KEPT_TRIPS values for each such operation. */
#include "ad/adjoint.h"

enum { KEPT_TRIPS = 512, KEPT_DEPTH = 4 };

static bool costly(rg_op op) {
    return (op >= RG_SIN && op <= RG_LGAMMA) || op == RG_POW || op == RG_ATAN2;
}

/* The loops between region root and instruction i, outermost first; 0 when there is none or one of
 * them is not of the kind. */
static uint32_t loops_between(const rg_fn *f, rg_iid i, rg_rid root, rg_iid *out, int64_t *trips) {
    rg_iid found[KEPT_DEPTH];
    uint32_t n = 0;
    int64_t all = 1, lo, hi;
    for (rg_rid r = rg_ins_at(f, i)->parent; r != root;) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner)
            return 0;
        const rg_ins *o = rg_ins_at(f, owner);
        if (o->op == RG_FOR) {
            if (n == KEPT_DEPTH || !rg_val_const_int(f, rg_operand(f, owner, 0), &lo) ||
                !rg_val_const_int(f, rg_operand(f, owner, 1), &hi) || hi <= lo ||
                hi - lo > KEPT_TRIPS || (all *= hi - lo) > KEPT_TRIPS)
                return 0;
            found[n++] = owner;
        } else if (o->op != RG_IF) {
            return 0;
        }
        r = o->parent;
    }
    for (uint32_t k = 0; k < n; k++) {
        out[k] = found[n - 1 - k];
        rg_val_const_int(f, rg_operand(f, out[k], 0), &lo);
        rg_val_const_int(f, rg_operand(f, out[k], 1), &hi);
        trips[k] = hi - lo;
    }
    return n;
}

static void place(rg_adj *s, const rg_iid *loops, uint32_t n, rg_val *idx) {
    const rg_fn *f = s->f;
    for (uint32_t k = 0; k < n; k++) {
        int64_t lo = 0;
        rg_val iv = rg_region_at(f, rg_ins_at(f, loops[k])->region[0])->args.at[0];
        rg_val_const_int(f, rg_operand(f, loops[k], 0), &lo);
        idx[k] =
            rg_b_op2(s->b, RG_SUB, rg_b_cast(s->b, RG_I64, s->fwd[iv]), rg_b_int(s->b, RG_I64, lo));
    }
}

/* An array of constant extents at the start of the frame. */
static rg_aid frame_array(rg_adj *s, const char *name, const rg_elem *elem, uint32_t rank,
                          const int64_t *trips) {
    rg_fn *g = s->g;
    rg_aid a = rg_adj_frame_array(s, name, elem, rank, RG_ARR_SAVE);
    rg_iid alloc = rg_region_at(g, s->frame)->ins.at[0];
    for (uint32_t k = 0; k < rank; k++) {
        rg_iid c = rg_ins_new(g, RG_CONST, s->b->loc);
        rg_val v = rg_ins_add_result(g, c, RG_I64);
        rg_ins_at(g, c)->imm.i = trips[k];
        rg_region_insert(g, s->frame, 0, c);
        rg_ins_add_operand(g, alloc, v);
        rg_array_at(g, a)->extents[k] = v;
    }
    return a;
}

bool rg_adj_load_kept(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    rg_rid saver = s->kept ? s->kept[i].root : 0; /* tangents keep nothing */
    if (!saver || s->root == saver || !rg_region_inside(f, s->root, saver))
        return false;
    rg_iid loops[KEPT_DEPTH];
    int64_t trips[KEPT_DEPTH];
    rg_val idx[KEPT_DEPTH], r = rg_result(f, i, 0);
    uint32_t n = loops_between(f, i, saver, loops, trips);
    place(s, loops, n, idx);
    s->fwd[r] = rg_b_load(s->b, s->kept[i].array, 0, idx, RG_INS_SAVE);
    rg_b_name(s->b, s->fwd[r], rg_value_at(f, r)->name);
    return true;
}

void rg_adj_keep(rg_adj *s, rg_iid i) {
    const rg_fn *f = s->f;
    if (!s->kept || !costly((rg_op)rg_ins_at(f, i)->op) || s->root == f->body)
        return;
    rg_iid loops[KEPT_DEPTH];
    int64_t trips[KEPT_DEPTH];
    uint32_t n = loops_between(f, i, s->root, loops, trips);
    if (!n)
        return;
    rg_val r = rg_result(f, i, 0), idx[KEPT_DEPTH];
    const rg_elem *elem = rg_elem_scalar(rg_type_mem(rg_type_of(f, r)));
    s->kept[i].root = s->root;
    s->kept[i].array = frame_array(
        s, rg_format(s->arena, "%s_kept", rg_ops[rg_ins_at(f, i)->op].text), elem, n, trips);
    place(s, loops, n, idx);
    rg_b_store(s->b, s->kept[i].array, 0, idx, s->fwd[r], RG_INS_SAVE);
}
