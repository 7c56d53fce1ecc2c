/* Copies of whole arrays, taken apart into loads and stores.
 *
 * The adjoint knows none: primals have no copies, and what it copies itself is no value of the
 * primal. A tangent may copy arrays before a loop that takes a min, a max or a product
 * (tangent.c); before it is differentiated in turn, each becomes a parallel loop over its elements.
 */
#include "ad/ad.h"

#include "ad/start.h"
#include "ir/build.h"

enum { RANGES = 3 };

static void leaves(rg_build *b, rg_aid to, rg_aid from, rg_val *idx, uint32_t rank) {
    const rg_elem *elem = rg_array_at(b->fn, to)->elem;
    rg_val zero = rg_b_int(b, RG_I64, 0);
    for (uint32_t l = 0; l < elem->nleaves; l++) {
        const rg_leaf *leaf = &elem->leaves[l];
        for (uint32_t d = 0; d < leaf->ndims; d++) {
            rg_iid loop = rg_b_for(b, zero, rg_b_int(b, RG_I64, leaf->dims[d]), NULL, 0, 0);
            rg_b_push(b, rg_ins_at(b->fn, loop)->region[0]);
            idx[rank + d] = rg_b_arg(b, 0);
        }
        rg_b_store(b, to, l, idx, rg_b_load(b, from, l, idx, 0), 0);
        for (uint32_t d = 0; d < leaf->ndims; d++) {
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
    }
}

static void expand(rg_build *b, const rg_ins *copy) {
    rg_fn *f = b->fn;
    rg_aid to = copy->array, from = copy->array2;
    uint32_t rank = rg_array_at(f, to)->rank, outer = rank < RANGES ? rank : RANGES;
    rg_val idx[2 * RG_MAX_AXES], bounds[2 * RANGES], zero = rg_b_int(b, RG_I64, 0);
    for (uint32_t d = 0; d < outer; d++) {
        bounds[2 * d] = zero;
        bounds[2 * d + 1] = rg_b_extent(b, to, d);
    }
    if (outer) {
        rg_iid loop = rg_b_parallel(b, bounds, outer, NULL, NULL, 0);
        rg_b_push(b, rg_ins_at(f, loop)->region[0]);
        for (uint32_t d = 0; d < outer; d++)
            idx[d] = rg_b_arg(b, d);
    }
    for (uint32_t d = outer; d < rank; d++) {
        rg_iid loop = rg_b_for(b, zero, rg_b_extent(b, to, d), NULL, 0, 0);
        rg_b_push(b, rg_ins_at(f, loop)->region[0]);
        idx[d] = rg_b_arg(b, 0);
    }
    leaves(b, to, from, idx, rank);
    for (uint32_t d = 0; d < rank - outer + (outer != 0); d++) {
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
    }
}

static bool region(rg_build *b, rg_rid r) {
    rg_fn *f = b->fn;
    bool any = false;
    for (uint32_t k = 0; k < rg_region_at(f, r)->ins.n; k++) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        const rg_ins ins = *rg_ins_at(f, i);
        for (int s = 0; s < 2; s++)
            if (ins.region[s])
                any |= region(b, ins.region[s]);
        if (ins.op != RG_COPY || (ins.flags & RG_INS_KEPT))
            continue;
        if (ins.nopnd || rg_array_at(f, ins.array)->flags & RG_ARR_GROW)
            rg_bug(f->arena, "a tangent copies a part of an array");
        uint32_t before = rg_region_at(f, r)->ins.n;
        rg_b_push_before(b, i);
        b->loc = ins.loc;
        expand(b, &ins);
        rg_b_pop(b);
        k += rg_region_at(f, r)->ins.n - before;
        rg_region_remove(f, i);
        k--;
        any = true;
    }
    return any;
}

bool rg_ad_expand_copies(rg_fn *f) {
    return region(rg_b_new(f), f->body);
}
