/* Overwritten values whose places need not be saved.
 *
 * Where every write to an array in a loop's iteration stands in the loop's body, or in counted
 * loops there, and its index follows from their variables, the iteration is undone by running those
 * loops in reverse, with nothing in them but the stores, each putting back what it overwrote. The
 * old values are an array with an axis for each loop: no count of entries, no indices, no growing.
 */
#include "ad/adjoint.h"

#include "ir/affine.h"

enum { UNDO_DEPTH = 3, UNDO_STEPS = 40, NEARLY = 8 };

/* Can v be computed again at the start of an iteration of the loop with this body: from its
 * variable, from what it carries, from outside, and from the variables of loops in it? */
static bool computable(const rg_fn *f, rg_val v, rg_rid body, int *budget) {
    if (!rg_region_inside(f, rg_val_region(f, v), body))
        return true;
    const rg_value *q = rg_value_at(f, v);
    if (!q->def)
        return q->region == body ||
               (rg_ins_at(f, rg_region_at(f, q->region)->owner)->op == RG_FOR && q->index == 0);
    const rg_ins *ins = rg_ins_at(f, q->def);
    if (!rg_op_is_pure((rg_op)ins->op) || --*budget < 0)
        return false;
    for (uint32_t k = 0; k < ins->nopnd; k++)
        if (!computable(f, rg_operand(f, q->def, k), body, budget))
            return false;
    return true;
}

/* depth: loops between the body and region r; UINT32_MAX: not loops alone. */
static bool undoable(const rg_fn *f, rg_rid r, rg_iid loop, rg_aid a, uint32_t depth) {
    rg_rid body = rg_ins_at(f, loop)->region[0];
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (rg_writes_element(ins) && ins->array == a) {
            if (depth > UNDO_DEPTH || ins->op == RG_RMW)
                return false;
            int budget = UNDO_STEPS;
            for (uint32_t q = 0; q < rg_ins_nindices(f, ins); q++)
                if (!computable(f, rg_operand(f, i, q), body, &budget))
                    return false;
        }
        bool nest = ins->op == RG_FOR && depth < UNDO_DEPTH &&
                    rg_adj_known_before(f, rg_operand(f, i, 0), loop) &&
                    rg_adj_known_before(f, rg_operand(f, i, 1), loop);
        for (int n = 0; n < 2; n++)
            if (ins->region[n] &&
                !undoable(f, ins->region[n], loop, a, nest ? depth + 1 : UINT32_MAX))
                return false;
    }
    return true;
}

bool rg_adj_undoable(const rg_fn *f, rg_iid loop, rg_aid a, bool nested) {
    /* Not nested: no loop counts as one. */
    return undoable(f, rg_ins_at(f, loop)->region[0], loop, a, nested ? 0 : UNDO_DEPTH);
}

void rg_adj_undo_add(rg_adj *s, rg_iid loop, rg_iid store, rg_saved *out) {
    const rg_fn *f = s->f;
    for (uint32_t k = 0; k < out->undos.n; k++)
        if (out->undos.at[k].store == store)
            return;
    const rg_ins ins = *rg_ins_at(f, store);
    rg_undo u = {.store = store};
    rg_rid body = rg_ins_at(f, loop)->region[0];
    for (rg_rid r = ins.parent; r != body; r = rg_ins_at(f, rg_region_at(f, r)->owner)->parent)
        u.n++;
    uint32_t n = u.n;
    for (rg_rid r = ins.parent; r != body; r = rg_ins_at(f, rg_region_at(f, r)->owner)->parent)
        u.loops[--n] = rg_region_at(f, r)->owner;
    rg_val trips[UNDO_DEPTH + 1] = {out->trips};
    const rg_elem *e = rg_elem_scalar(rg_ins_leaf(f, &ins)->mem);
    const char *name = rg_format(s->arena, "%s_old", rg_array_at(f, ins.array)->name);
    if (out->trips && !s->in_if) {
        for (uint32_t k = 0; k < u.n; k++)
            trips[k + 1] = rg_adj_trip_count(s, rg_adj_bound(s, rg_operand(f, u.loops[k], 0)),
                                             rg_adj_bound(s, rg_operand(f, u.loops[k], 1)));
        u.old = rg_b_alloc(s->b, name, e, u.n + 1, trips, RG_ARR_SAVE);
    } else {
        u.old = rg_adj_frame_array(s, name, e, 1, RG_ARR_SAVE | RG_ARR_GROW);
    }
    RG_PUSH(s->arena, &out->undos, u);
}

bool rg_adj_undo_log(rg_adj *s, rg_iid store, rg_val old) {
    for (uint32_t n = 0; n < s->logging->undos.n; n++) {
        const rg_undo *u = &s->logging->undos.at[n];
        if (u->store != store)
            continue;
        rg_val at[UNDO_DEPTH + 1] = {s->logging->at};
        rg_adj_place(s, u->loops, u->n, at + 1);
        rg_b_store(s->b, u->old, 0, at, old, RG_INS_SAVE);
        return true;
    }
    return false;
}

/* v of f, inside the loop's body, computed from what is known at an iteration's start. */
static rg_val compute(rg_adj *s, rg_val v, rg_rid body) {
    const rg_fn *f = s->f;
    const rg_value *q = rg_value_at(f, v);
    if (!q->def || !rg_region_inside(f, rg_val_region(f, v), body))
        return s->fwd[v];
    const rg_ins *ins = rg_ins_at(f, q->def);
    rg_val x[3] = {0};
    if (ins->op == RG_CONST)
        return rg_type_is_float(q->type) ? rg_b_real(s->b, q->type, ins->imm.f)
                                         : rg_b_int(s->b, q->type, ins->imm.i);
    for (uint32_t k = 0; k < ins->nopnd && k < 3; k++)
        x[k] = compute(s, rg_operand(f, q->def, k), body);
    return rg_b_pure(s->b, (rg_op)ins->op, q->type, x, ins->nopnd, ins->imm.i);
}

static bool holds(const rg_fn *f, const rg_saved *v, rg_rid r) {
    for (uint32_t n = 0; n < v->undos.n; n++)
        if (rg_region_inside(f, rg_ins_at(f, v->undos.at[n].store)->parent, r))
            return true;
    return false;
}

static void undo_region(rg_adj *s, rg_rid r, rg_rid body, const rg_saved *v, rg_val k) {
    const rg_fn *f = s->f;
    rg_build *b = s->b;
    for (uint32_t q = rg_region_at(f, r)->ins.n; q-- > 0;) {
        rg_iid i = rg_region_at(f, r)->ins.at[q];
        const rg_ins ins = *rg_ins_at(f, i);
        if (ins.op == RG_FOR && holds(f, v, ins.region[0])) {
            uint16_t order = (ins.flags & RG_INS_REVERSE) ^ RG_INS_REVERSE;
            rg_iid j = rg_b_for(b, rg_adj_bound(s, rg_operand(f, i, 0)),
                                rg_adj_bound(s, rg_operand(f, i, 1)), NULL, 0, order);
            rg_b_push(b, rg_ins_at(s->g, j)->region[0]);
            s->fwd[rg_region_at(f, ins.region[0])->args.at[0]] = rg_b_arg(b, 0);
            undo_region(s, ins.region[0], body, v, k);
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
        for (uint32_t n = 0; rg_writes_element(&ins) && n < v->undos.n; n++) {
            const rg_undo *u = &v->undos.at[n];
            if (u->store != i)
                continue;
            rg_val idx[RG_MAX_AXES], at[UNDO_DEPTH + 1] = {k};
            for (uint32_t x = 0; x < rg_ins_nindices(f, &ins); x++)
                idx[x] = compute(s, rg_operand(f, i, x), body);
            rg_adj_place(s, u->loops, u->n, at + 1);
            rg_b_store(b, s->data[ins.array], ins.leaf, idx,
                       rg_b_load(b, u->old, 0, at, RG_INS_SAVE), 0);
        }
    }
}

void rg_adj_undo(rg_adj *s, rg_iid loop, const rg_saved *v, rg_val k) {
    rg_rid body = rg_ins_at(s->f, loop)->region[0];
    if (v->undos.n)
        undo_region(s, body, body, v, k);
}

/* ---- is a copy as cheap? ---- */

/* Does the index run over about all of an axis of that extent, in one of the loops in the body? */
static bool about_all(const rg_fn *f, rg_val index, rg_val extent, rg_rid body) {
    rg_affine at = rg_affine_of(f, index), all, hi;
    if (!extent || !at.ok || at.n != 1 || at.coef[0] != 1)
        return false;
    const rg_value *iv = rg_value_at(f, at.term[0]);
    rg_iid owner = iv->def ? 0 : rg_region_at(f, iv->region)->owner;
    int64_t lo, rest, n, top;
    if (!owner || rg_ins_at(f, owner)->op != RG_FOR || iv->index != 0 || iv->region == body ||
        !rg_region_inside(f, iv->region, body) ||
        !rg_val_const_int(f, rg_operand(f, owner, 0), &lo))
        return false;
    if (rg_val_const_int(f, extent, &n) && rg_val_const_int(f, rg_operand(f, owner, 1), &top))
        return (top - lo) * 2 >= n;
    all = rg_affine_of(f, extent);
    hi = rg_affine_of(f, rg_operand(f, owner, 1));
    return lo >= -NEARLY && lo <= NEARLY && all.ok && hi.ok &&
           rg_affine_difference(&hi, &all, &rest) && rest >= -NEARLY && rest <= NEARLY;
}

bool rg_adj_sweeps(const rg_fn *f, rg_iid loop, rg_aid a) {
    const rg_ir_array *x = rg_array_at(f, a);
    rg_rid body = rg_ins_at(f, loop)->region[0];
    if (!x->rank || x->elem->nleaves > 4)
        return false;
    for (rg_iid i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->parent || !rg_writes_element(ins) || ins->array != a ||
            !rg_region_inside(f, ins->parent, body) || rg_ins_leaf(f, ins)->ndims)
            continue;
        bool all = true;
        for (uint32_t k = 0; k < x->rank && all; k++)
            all = about_all(f, rg_operand(f, i, k), x->extents[k], body);
        if (all)
            return true;
    }
    return false;
}
