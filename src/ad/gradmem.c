/* Gradient memory: a parameter's shadow (and its data) is its own memory unless the launch bound
 * several parameters to one array; a local is its own. */
#include "ad/gradmem.h"

#include "ir/meet.h"

bool rg_grad_same(const rg_fn *f, const rg_activity *act, rg_aid a, rg_aid b) {
    const rg_array *x = rg_array_at(f, a), *y = rg_array_at(f, b);
    if (a == b)
        return true;
    if (x->kind == RG_ARR_LOCAL || x->kind != y->kind || x->shadow != y->shadow)
        return false;
    if (x->param == y->param)
        return true;
    return act && act->group && x->param < act->nparams && y->param < act->nparams &&
           act->group[x->param] == act->group[y->param];
}

rg_aid rg_grad_array(const rg_fn *f, const rg_activity *act, rg_iid i, rg_aid a) {
    const rg_ins *ins = rg_ins_at(f, i);
    switch (ins->op) {
    case RG_COPY:
        if (rg_grad_same(f, act, ins->array, a))
            return ins->array;
        return rg_grad_same(f, act, ins->array2, a) ? ins->array2 : 0;
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW:
        return rg_grad_same(f, act, ins->array, a) ? ins->array : 0;
    default:
        return 0;
    }
}

void rg_grad_accesses(const rg_fn *f, const rg_activity *act, rg_rid r, rg_aid a, rg_arena *scratch,
                      rg_iids *out) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        if (rg_grad_array(f, act, i, a))
            RG_PUSH(scratch, out, i);
        for (int j = 0; j < 2; j++)
            if (rg_ins_at(f, i)->region[j])
                rg_grad_accesses(f, act, rg_ins_at(f, i)->region[j], a, scratch, out);
    }
}

bool rg_grad_may_meet(const rg_fn *f, const rg_activity *act, rg_iid a, rg_iid b, rg_rid shared,
                      rg_iid loop) {
    rg_aid x = rg_ins_at(f, a)->array, y = rg_grad_array(f, act, b, x);
    if (rg_ins_at(f, a)->op == RG_COPY || !y)
        return true;
    const rg_array *one = rg_array_at(f, x), *other = rg_array_at(f, y);
    if (one->rank != other->rank || one->elem != other->elem)
        return true;
    rg_access p = rg_access_of(f, a, x), q = rg_access_of(f, b, y);
    return rg_may_meet(f, &p, &q, shared, loop, loop ? RG_ORDER_OTHER : RG_ORDER_ANY);
}

bool rg_grad_same_index(const rg_fn *f, rg_iid a, rg_iid b) {
    const rg_ins *x = rg_ins_at(f, a), *y = rg_ins_at(f, b);
    if (x->array != y->array || x->leaf != y->leaf)
        return false;
    uint32_t n = rg_ins_nindices(f, x);
    for (uint32_t k = 0; k < n; k++)
        if (!rg_grad_same_value(f, rg_operand(f, a, k), rg_operand(f, b, k)))
            return false;
    return true;
}

bool rg_grad_same_value(const rg_fn *f, rg_val a, rg_val b) {
    int64_t x = 0, y = 0;
    return a == b || (rg_val_const_int(f, a, &x) && rg_val_const_int(f, b, &y) && x == y);
}

static bool invariant(const rg_fn *f, rg_val v, rg_rid region, int *steps) {
    if (!rg_region_inside(f, rg_val_region(f, v), region))
        return true;
    rg_iid def = rg_value_at(f, v)->def;
    if (!def || --*steps <= 0 || !rg_op_is_pure((rg_op)rg_ins_at(f, def)->op))
        return false;
    for (uint32_t k = 0; k < rg_ins_at(f, def)->nopnd; k++)
        if (!invariant(f, rg_operand(f, def, k), region, steps))
            return false;
    return true;
}

bool rg_grad_invariant(const rg_fn *f, rg_val v, rg_rid region) {
    int steps = 64;
    return invariant(f, v, region, &steps);
}
