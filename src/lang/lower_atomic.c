/* Atomic statements. */
#include "lang/lower.h"

static void store_result(rg_lower *l, rg_node *to, rg_val v, const rg_ctype *from) {
    rg_ref p = rg_lower_place(l, to);
    rg_place_store(l, &p, rg_lower_convert(l, v, from, to->type));
}

void rg_lower_atomic(rg_lower *l, rg_stmt *s) {
    rg_atomic *a = s->atomic;
    rg_val v = a->value ? rg_lower_value(l, a->value) : 0;
    rg_ref p = rg_lower_place(l, a->target);
    l->b->loc = a->target->loc;
    if (p.bad)
        return;
    if (p.vals) {
        if (a->kind == RG_A_READ)
            store_result(l, a->result, p.vals[0], a->target->type);
        return;
    }
    p = rg_place_indexed(l, &p);
    if (l->in_adjoint) {
        if (p.cotangent && a->kind == RG_A_UPDATE && a->red == RG_RED_ADD &&
            rg_type_is_float(rg_type_of(l->fn, v)))
            rg_b_addto(l->b, p.array, p.leaf, p.idx, v, RG_INS_ACCUM); /* as without the pragma */
        else
            rg_error(l->diags, a->target->loc,
                     "only sums onto gradients, += and -=, can be atomic in the adjoint of a "
                     "device function",
                     "an atomic operation that is no sum onto a gradient");
        return;
    }
    p.atomic = true;
    uint16_t flags = RG_INS_ATOMIC;
    const rg_binding *red = a->target->kind == RG_N_VAR ? a->target->var->bind : NULL;
    if (red && red->kind == RG_BIND_REDUCE)
        p.atomic = false;
    switch (a->kind) {
    case RG_A_READ:
        store_result(l, a->result, rg_place_load(l, &p), a->target->type);
        break;
    case RG_A_WRITE:
        rg_place_store(l, &p, v);
        break;
    case RG_A_UPDATE:
        if (a->red == RG_RED_ADD && rg_type_of(l->fn, v) != RG_BOOL)
            rg_b_addto(l->b, p.array, p.leaf, p.idx, v, flags);
        else
            rg_b_rmw(l->b, a->red, p.array, p.leaf, p.idx, v, flags);
        break;
    case RG_A_CAPTURE: {
        if (a->after)
            flags |= RG_INS_CAPTURE_NEW;
        rg_val old = rg_b_rmw(l->b, a->red, p.array, p.leaf, p.idx, v, flags);
        store_result(l, a->result, old, a->target->type);
        break;
    }
    }
}
