/* Races that are plain to see: a store that every iteration of a parallel loop makes, under no
 * condition, to an element whose indices are the same for all of them.
 *
 * A scalar that all iterations share is one element: any store of it is refused. What else depends
 * on data or on conditions is left to checked mode. */
#include "lang/lower.h"

typedef struct races {
    rg_lower *l;
    rg_iid parallel;
    rg_rid body;
    rg_aid first_inside; /* arrays from here on came to life in the body */
} races;

/* The same for all iterations? */
static bool invariant(const races *r, rg_val v, uint32_t depth) {
    const rg_fn *f = r->l->fn;
    if (!rg_region_inside(f, rg_val_region(f, v), r->body))
        return true;
    rg_iid d = rg_value_at(f, v)->def;
    if (!d || depth > 8)
        return false;
    const rg_ins *i = rg_ins_at(f, d);
    if (!rg_op_is_pure((rg_op)i->op))
        return false;
    for (uint32_t k = 0; k < i->nopnd; k++)
        if (!invariant(r, rg_operand(f, d, k), depth + 1))
            return false;
    return true;
}

static void check_store(races *r, rg_iid i, bool sometimes) {
    const rg_fn *f = r->l->fn;
    const rg_ins *x = rg_ins_at(f, i);
    if ((x->op != RG_STORE && x->op != RG_ADDTO) || (x->flags & RG_INS_ATOMIC))
        return;
    if (x->array >= r->first_inside)
        return;
    uint32_t nidx = rg_ins_nindices(f, x);
    if (sometimes && nidx)
        return; /* the condition may single out one iteration; checked mode sees */
    for (uint32_t k = 0; k < nidx; k++)
        if (!invariant(r, rg_operand(f, i, k), 0))
            return;
    rg_error(
        r->l->diags, x->loc,
        "put '#pragma omp atomic' before it if it is an update, use a reduction, or move it out of "
        "the loop",
        "all iterations of the parallel loop write the same element of '%s': a race",
        f->arrays.at[x->array].name);
    rg_note(r->l->diags, rg_ins_at(f, r->parallel)->loc, "the parallel loop is here");
}

static void look(races *r, rg_rid region, bool sometimes) {
    const rg_fn *f = r->l->fn;
    const rg_region *g = rg_region_at(f, region);
    for (uint32_t i = 0; i < g->ins.n; i++) {
        const rg_ins *x = rg_ins_at(f, g->ins.at[i]);
        switch (x->op) {
        case RG_FOR:
            look(r, x->region[0], sometimes);
            break;
        case RG_IF:
            if (!rg_is_own_call(f, g->ins.at[i]))
                look(r, x->region[0], true);
            look(r, x->region[1], !rg_is_own_call(f, g->ins.at[i]) || sometimes);
            break;
        case RG_LOOP:
            look(r, x->region[0], sometimes);
            break;
        default:
            check_store(r, g->ins.at[i], sometimes);
            break;
        }
    }
}

void rg_find_races(rg_lower *l, rg_iid parallel, rg_aid first_inside) {
    const rg_fn *f = l->fn;
    const rg_ins *p = rg_ins_at(f, parallel);
    for (int64_t k = 0; k < p->imm.i; k++) { /* one iteration cannot race with itself */
        int64_t lo, hi;
        if (!rg_val_const_int(f, rg_operand(f, parallel, (uint32_t)(2 * k)), &lo) ||
            !rg_val_const_int(f, rg_operand(f, parallel, (uint32_t)(2 * k + 1)), &hi) ||
            hi - lo > 1)
            break;
        if (k + 1 == p->imm.i)
            return;
    }
    races r = {l, parallel, p->region[0], first_inside};
    look(&r, p->region[0], false);
}
