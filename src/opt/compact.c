/* Renumbering: what the body reaches, in program order, is copied into fresh tables. Passes leave
 * instructions, values and operand lists behind that nothing lists any more; this lets them go. The
 * fresh tables are scratch: they are copied back, since they are no longer than those before. */
#include "opt/opt.h"

#include "opt/rewrite.h"

#include <string.h>

typedef struct packer {
    rg_arena *scratch;
    rg_fn *f; /* the old tables */
    rg_fn to; /* the new ones */
    rg_val *val;
    rg_aid *array;
} packer;

static rg_val new_value(packer *p, rg_val old) {
    RG_PUSH(p->scratch, &p->to.vals, *rg_value_at(p->f, old));
    return p->val[old] = p->to.vals.n - 1;
}

static rg_rid pack_region(packer *p, rg_rid r, rg_iid owner) {
    const rg_fn *f = p->f;
    rg_arena *a = p->scratch;
    rg_fn *to = &p->to;
    rg_region *old = rg_region_at(f, r);
    rg_region g = {.owner = owner};
    RG_PUSH(a, &to->regions, g);
    rg_rid fresh = to->regions.n - 1;
    /* The lists themselves are reused: they only get shorter numbers. */
    g.args = old->args;
    g.ins = old->ins;
    for (uint32_t k = 0; k < g.args.n; k++) {
        g.args.at[k] = new_value(p, g.args.at[k]);
        rg_value_at(to, g.args.at[k])->region = fresh;
        rg_value_at(to, g.args.at[k])->index = k;
    }
    for (uint32_t k = 0; k < g.ins.n; k++) {
        rg_ins ins = *rg_ins_at(f, g.ins.at[k]);
        RG_PUSH(a, &to->ins, ins);
        rg_iid i = to->ins.n - 1;
        g.ins.at[k] = i;
        uint32_t opnd = to->pool.n;
        for (uint32_t j = 0; j < ins.nopnd; j++)
            RG_PUSH(a, &to->pool, p->val[f->pool.at[ins.opnd + j]]);
        uint32_t aux = to->pool.n;
        if (ins.op == RG_PARALLEL)
            for (uint32_t j = 0; j < ins.nres; j++)
                RG_PUSH(a, &to->pool, f->pool.at[ins.aux + j]);
        rg_rid region[2] = {0};
        for (int s = 0; s < 2; s++)
            if (ins.region[s])
                region[s] = pack_region(p, ins.region[s], i);
        uint32_t res = to->pool.n;
        for (uint32_t j = 0; j < ins.nres; j++) {
            rg_val v = new_value(p, f->pool.at[ins.res + j]);
            rg_value_at(to, v)->def = i;
            rg_value_at(to, v)->index = j;
            RG_PUSH(a, &to->pool, v);
        }
        rg_ins *n = rg_ins_at(to, i);
        n->parent = fresh;
        n->opnd = ins.nopnd ? opnd : 0;
        n->res = ins.nres ? res : 0;
        n->aux = ins.op == RG_PARALLEL && ins.nres ? aux : 0;
        n->region[0] = region[0];
        n->region[1] = region[1];
        n->array = p->array[ins.array];
        n->array2 = p->array[ins.array2];
    }
    *rg_region_at(to, fresh) = g;
    return fresh;
}

static void find_arrays(const rg_fn *f, rg_rid r, bool *used) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        used[ins->array] = used[ins->array2] = true;
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                find_arrays(f, ins->region[s], used);
    }
}

/* An empty table with room for as many items as v has. */
#define FRESH(scratch, v)                                                                          \
    do {                                                                                           \
        (v)->cap = (v)->n;                                                                         \
        (v)->at = rg_alloc((scratch), (v)->n * sizeof *(v)->at);                                   \
        (v)->n = 1; /* item 0 means none */                                                        \
    } while (0)

/* The items of `from` in the memory of `to`. Operand lists may have been shared, so the pool alone
 * may have grown. */
#define COPY_BACK(a, to, from)                                                                     \
    do {                                                                                           \
        if ((from)->n > (to)->cap) {                                                               \
            (to)->at = rg_alloc((a), (from)->n * sizeof *(to)->at);                                \
            (to)->cap = (from)->n;                                                                 \
        }                                                                                          \
        memcpy((to)->at, (from)->at, (from)->n * sizeof *(to)->at);                                \
        (to)->n = (from)->n;                                                                       \
    } while (0)

static bool compact(rg_fn *f, rg_arena *scratch) {
    rg_arena *a = f->arena;
    packer *p = RG_NEW(scratch, packer);
    p->scratch = scratch;
    p->f = f;
    p->to = *f;
    FRESH(scratch, &p->to.vals);
    FRESH(scratch, &p->to.ins);
    FRESH(scratch, &p->to.regions);
    FRESH(scratch, &p->to.pool);
    p->val = RG_NEW_N(scratch, rg_val, f->vals.n);
    p->array = RG_NEW_N(scratch, rg_aid, f->arrays.n);
    bool *used = RG_NEW_N(scratch, bool, f->arrays.n);
    find_arrays(f, f->body, used);
    uint32_t narrays = 1;
    for (rg_aid k = 1; k < f->arrays.n; k++)
        if (used[k] || rg_array_at(f, k)->kind != RG_ARR_LOCAL)
            p->array[k] = narrays++;
    p->to.body = pack_region(p, f->body, 0);
    for (rg_aid k = 1; k < f->arrays.n; k++) {
        if (!p->array[k])
            continue;
        rg_array array = *rg_array_at(f, k);
        if (array.extents) { /* lists may be shared between arrays */
            rg_val *extents = RG_NEW_N(a, rg_val, array.rank ? array.rank : 1);
            for (uint32_t d = 0; d < array.rank; d++)
                extents[d] = p->val[array.extents[d]];
            array.extents = extents;
        }
        p->to.arrays.at[p->array[k]] = array;
    }
    p->to.arrays.n = narrays;
    for (uint32_t k = 0; k < p->to.params.n; k++)
        p->to.params.at[k].array = p->array[p->to.params.at[k].array];
    f->body = p->to.body;
    f->arrays.n = narrays;
    COPY_BACK(a, &f->vals, &p->to.vals);
    COPY_BACK(a, &f->ins, &p->to.ins);
    COPY_BACK(a, &f->regions, &p->to.regions);
    COPY_BACK(a, &f->pool, &p->to.pool);
    return true;
}

void rg_opt_compact(rg_fn *f) {
    rg_opt_with_scratch(f, compact);
}
