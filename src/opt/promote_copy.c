/* Copies that involve a rank-0 local, taken apart: `copy` of one element becomes a load and a store
 * for each of its scalars, so that the local can be promoted. */
#include "opt/promote.h"

enum { MAX_SCALARS = 64 };

static bool expandable(const rg_fn *f, const rg_ins *ins) {
    const rg_array *to = rg_array_at(f, ins->array), *from = rg_array_at(f, ins->array2);
    bool local =
        (to->kind == RG_ARR_LOCAL && !to->rank) || (from->kind == RG_ARR_LOCAL && !from->rank);
    if (ins->op != RG_COPY || (ins->flags & RG_INS_KEPT) || !local ||
        ((to->flags | from->flags) & RG_ARR_GROW))
        return false;
    int64_t n = 0;
    for (uint32_t l = 0; l < to->elem->nleaves; l++) {
        const rg_leaf *leaf = &to->elem->leaves[l];
        int64_t m = 1;
        for (uint32_t k = 0; k < leaf->ndims; k++) {
            if (leaf->dims[k] < 0 || leaf->dims[k] > MAX_SCALARS)
                return false;
            m *= leaf->dims[k];
            if (m > MAX_SCALARS)
                return false;
        }
        n += m;
        if (n > MAX_SCALARS)
            return false;
    }
    return true;
}

static bool any_copy(const rg_fn *f, rg_rid r) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if ((ins->op == RG_COPY && expandable(f, ins)) ||
            (ins->region[0] && any_copy(f, ins->region[0])) ||
            (ins->region[1] && any_copy(f, ins->region[1])))
            return true;
    }
    return false;
}

/* One scalar of the element: all loads come before the stores, as in C's assignment of structs. */
static void expand(rg_rewrite *rw, rg_iid i) {
    rg_fn *f = rw->f;
    rg_build *b = &rw->b;
    rg_aid to = rg_ins_at(f, i)->array, from = rg_ins_at(f, i)->array2;
    uint32_t to_rank = rg_array_at(f, to)->rank, from_rank = rg_array_at(f, from)->rank;
    const rg_elem *elem = rg_array_at(f, to)->elem;
    rg_val values[MAX_SCALARS];
    b->loc = rg_ins_at(f, i)->loc;
    for (int storing = 0; storing < 2; storing++) {
        uint32_t n = 0, rank = storing ? to_rank : from_rank;
        for (uint32_t l = 0; l < elem->nleaves; l++) {
            const rg_leaf *leaf = &elem->leaves[l];
            int64_t count = 1;
            for (uint32_t k = 0; k < leaf->ndims; k++)
                count *= leaf->dims[k];
            rg_val *idx = RG_NEW_N(rw->scratch, rg_val, rank + leaf->ndims + 1);
            for (uint32_t k = 0; k < rank; k++)
                idx[k] = rg_operand(f, i, k);
            for (int64_t c = 0; c < count; c++, n++) {
                int64_t rest = c;
                for (uint32_t k = leaf->ndims; k-- > 0; rest /= leaf->dims[k])
                    idx[rank + k] = rg_b_int(b, RG_I64, rest % leaf->dims[k]);
                if (storing)
                    rg_b_store(b, to, l, idx, values[n], 0);
                else
                    values[n] = rg_b_load(b, from, l, idx, 0);
            }
        }
    }
}

static void walk(rg_rewrite *rw, rg_rid r) {
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    for (uint32_t k = 0; k < list.n; k++) {
        const rg_ins *ins = rg_ins_at(rw->f, list.at[k]);
        rg_rid inner[2] = {ins->region[0], ins->region[1]};
        for (int s = 0; s < 2; s++)
            if (inner[s])
                walk(rw, inner[s]);
        if (ins->op == RG_COPY && expandable(rw->f, ins))
            expand(rw, list.at[k]);
        else
            rg_rw_keep(rw, list.at[k]);
    }
    rw->b.region = here;
}

bool rg_promote_expand_copies(rg_fn *f, rg_arena *scratch) {
    if (!any_copy(f, f->body))
        return false;
    walk(rg_rw_new(f, scratch), f->body);
    return true;
}
