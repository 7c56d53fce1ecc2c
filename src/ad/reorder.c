/* Reversed loops that need not run downwards.
 *
 * order.c decides that when a reversed loop is built, from the primal, and has to count what the
 * loop puts back in memory. Much of that turns out to be dead. Here the finished loop is looked at:
 * if it carries nothing, and no element that it writes is touched by another of its iterations, it
 * runs upwards, which C compilers vectorise without shuffles. */
#include "ad/ad.h"
#include "ad/gradmem.h"

enum { ACCESSES = 64 };

typedef struct body {
    rg_iid at[ACCESSES];
    uint32_t n;
} body;

static bool collect(const rg_fn *f, rg_rid r, body *out) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        switch (ins->op) {
        case RG_LOAD:
        case RG_STORE:
        case RG_ADDTO:
            if (out->n == ACCESSES || (rg_array_at(f, ins->array)->flags & RG_ARR_GROW))
                return false;
            out->at[out->n++] = i;
            break;
        case RG_ALLOC:
        case RG_COPY:
        case RG_RMW:
        case RG_LOOP:
        case RG_PARALLEL:
            return false;
        default:
            break;
        }
        for (int s = 0; s < 2; s++)
            if (ins->region[s] && !collect(f, ins->region[s], out))
                return false;
    }
    return true;
}

static bool independent(const rg_fn *f, const rg_activity *act, rg_iid loop) {
    const rg_ins *ins = rg_ins_at(f, loop);
    body all = {.n = 0};
    if (!collect(f, ins->region[0], &all))
        return false;
    for (uint32_t k = 0; k < all.n; k++) {
        if (rg_ins_at(f, all.at[k])->op == RG_LOAD)
            continue;
        for (uint32_t n = 0; n < all.n; n++)
            if (rg_grad_same(f, act, rg_ins_at(f, all.at[k])->array,
                             rg_ins_at(f, all.at[n])->array) &&
                rg_grad_may_meet(f, act, all.at[k], all.at[n], ins->parent, loop))
                return false;
    }
    return true;
}

bool rg_ad_reorder(rg_fn *f, const rg_activity *act) {
    bool changed = false;
    for (rg_iid i = 1; i < f->ins.n; i++) {
        rg_ins *ins = rg_ins_at(f, i);
        if (!ins->parent || ins->op != RG_FOR || ins->nres || !(ins->flags & RG_INS_REVERSE) ||
            !independent(f, act, i))
            continue;
        ins->flags &= (uint16_t)~RG_INS_REVERSE;
        changed = true;
    }
    return changed;
}
