/* Affine forms, and the questions about accesses that the passes ask: each is one or a few
 * questions to meet.c about two instances of an access. */
#include "ir/affine.h"

#include "ir/meet.h"
#include "ir/poly.h"

rg_affine rg_affine_of(const rg_fn *f, rg_val v) {
    rg_affine a = {0};
    rg_poly p = rg_poly_of(f, v, false);
    if (!p.ok || p.n > RG_AFFINE_MAX)
        return a;
    a.ok = true;
    a.constant = p.constant;
    for (uint32_t k = 0; k < p.n; k++) {
        uint32_t at = a.n++;
        rg_val term = (rg_val)p.at[k].atom[0];
        for (; at > 0 && a.term[at - 1] > term; at--) {
            a.term[at] = a.term[at - 1];
            a.coef[at] = a.coef[at - 1];
        }
        a.term[at] = term;
        a.coef[at] = p.at[k].coef;
    }
    return a;
}

bool rg_affine_difference(const rg_affine *a, const rg_affine *b, int64_t *out) {
    if (!a->ok || !b->ok || a->n != b->n)
        return false;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->term[k] != b->term[k] || a->coef[k] != b->coef[k])
            return false;
    return !__builtin_sub_overflow(b->constant, a->constant, out);
}

bool rg_access_disjoint(const rg_fn *f, rg_iid a, rg_iid b) {
    rg_access x = rg_access_of(f, a, rg_ins_at(f, a)->array);
    rg_access y = rg_access_of(f, b, rg_ins_at(f, b)->array);
    return !rg_may_meet(f, &x, &y, f->body, 0, RG_ORDER_ANY);
}

bool rg_access_injective(const rg_fn *f, rg_iid access, rg_rid scope) {
    rg_access x = rg_access_of(f, access, rg_ins_at(f, access)->array);
    rg_rid r = rg_ins_at(f, access)->parent;
    for (rg_iid loop; (loop = rg_loop_around(f, r, scope)) != 0;) {
        r = rg_ins_at(f, loop)->parent;
        if (rg_may_meet(f, &x, &x, r, loop, RG_ORDER_OTHER))
            return false;
    }
    return true;
}

bool rg_access_same_iteration(const rg_fn *f, rg_iid a, rg_iid b, rg_iid p) {
    rg_access x = rg_access_of(f, a, rg_ins_at(f, a)->array);
    rg_access y = rg_access_of(f, b, rg_ins_at(f, b)->array);
    const rg_array *one = rg_array_at(f, rg_ins_at(f, a)->array);
    const rg_array *other = rg_array_at(f, rg_ins_at(f, b)->array);
    if (one->rank != other->rank || one->elem != other->elem)
        return false;
    return !rg_may_meet(f, &x, &y, rg_ins_at(f, p)->parent, p, RG_ORDER_OTHER);
}

bool rg_val_invariant(const rg_fn *f, rg_val v, rg_rid region, int *steps) {
    if (!rg_region_inside(f, rg_val_region(f, v), region))
        return true;
    rg_iid def = rg_value_at(f, v)->def;
    if (!def || --*steps <= 0 || !rg_op_is_pure((rg_op)rg_ins_at(f, def)->op))
        return false;
    for (uint32_t k = 0; k < rg_ins_at(f, def)->nopnd; k++)
        if (!rg_val_invariant(f, rg_operand(f, def, k), region, steps))
            return false;
    return true;
}

bool rg_access_uniform(const rg_fn *f, rg_iid access, rg_iid p) {
    rg_rid region = rg_ins_at(f, p)->region[0];
    rg_access x = rg_access_of(f, access, rg_ins_at(f, access)->array);
    int steps = 200;
    for (uint32_t k = 0; k < x.nindices; k++)
        if (!rg_val_invariant(f, f->pool.at[x.at + k], region, &steps))
            return false;
    return x.leaf != UINT32_MAX;
}
