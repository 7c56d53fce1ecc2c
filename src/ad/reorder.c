/* Reversed loops that need not run downwards.
 *
 * order.c decides that when a reversed loop is built, from the primal, and has to count what the
 * loop puts back in memory. Much of that turns out to be dead. Here the finished loop is looked at:
 * if it carries nothing, and no element that it writes is touched by another of its iterations, it
 * runs upwards, which C compilers vectorise without shuffles. */
#include "ad/ad.h"
#include "ad/gradmem.h"
#include "ir/meet.h"

static bool independent(const rg_fn *f, const rg_activity *act, rg_iid loop) {
    const rg_ins *ins = rg_ins_at(f, loop);
    rg_iid all[RG_ACCESSES];
    uint32_t count = 0;
    if (!rg_accesses_in(f, ins->region[0], true, all, &count))
        return false;
    for (uint32_t k = 0; k < count; k++) {
        if (rg_ins_at(f, all[k])->op == RG_LOAD)
            continue;
        for (uint32_t n = 0; n < count; n++)
            if (rg_grad_same(f, act, rg_ins_at(f, all[k])->array, rg_ins_at(f, all[n])->array) &&
                rg_grad_may_meet(f, act, all[k], all[n], ins->parent, loop))
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
