/* v = x; x += e: v is what x held before the loop, plus the e of those iterations that came first.
 *
 * Which came first is not known afterwards, so v's cotangent cannot be given to their e. It need
 * not be where no e has a gradient: then all of it goes to what x held before the loop, whatever
 * the order was. And where nothing that has a gradient depends on v (it is compared, made an
 * integer, or stored where no gradient is), there is no cotangent. The value itself is recorded by
 * the launch in all cases (prepare.c). */
#include "ad/captured.h"

rg_rid rg_ad_life(const rg_fn *f, rg_aid a) {
    for (uint32_t i = 1; i < f->ins.n && rg_array_at(f, a)->kind == RG_ARR_LOCAL; i++)
        if (rg_ins_at(f, i)->parent && rg_ins_at(f, i)->op == RG_ALLOC &&
            rg_ins_at(f, i)->array == a)
            return rg_ins_at(f, i)->parent;
    return f->body;
}

rg_iid rg_ad_shared_by(const rg_fn *f, rg_rid life, rg_iid i) {
    rg_rid r = rg_ins_at(f, i)->parent;
    for (rg_iid o; (o = rg_region_at(f, r)->owner) != 0; r = rg_ins_at(f, o)->parent)
        if (rg_ins_at(f, o)->op == RG_PARALLEL)
            return rg_region_inside(f, life, rg_ins_at(f, o)->region[0]) ? 0 : o;
    return 0;
}

static bool writes(const rg_fn *f, rg_iid i, rg_iid loop, rg_aid a) {
    const rg_ins *ins = rg_ins_at(f, i);
    return ins->parent && (ins->op == RG_RMW || ins->op == RG_ADDTO || ins->op == RG_STORE) &&
           ins->array == a && rg_region_inside(f, ins->parent, rg_ins_at(f, loop)->region[0]);
}

bool rg_ad_changes(const rg_fn *f, rg_iid loop, rg_aid a) {
    for (uint32_t i = 1; i < f->ins.n && loop; i++)
        if (writes(f, i, loop, a))
            return true;
    return false;
}

/* Does the loop only add to the array, and nothing that has a gradient? */
static bool adds_constants(const rg_fn *f, const rg_varied *varied, rg_iid loop, rg_aid a) {
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (!writes(f, i, loop, a))
            continue;
        bool adds = ins->op == RG_ADDTO || (ins->op == RG_RMW && ins->imm.i == RG_RED_ADD);
        if (!adds || varied->val[rg_operand(f, i, ins->nopnd - 1)])
            return false;
    }
    return true;
}

rg_captured rg_ad_captured(rg_arena *a, const rg_fn *f, const rg_activity *act, rg_iid i,
                           rg_iid loop) {
    const rg_varied *by = rg_ad_varied_by(a, f, rg_result(f, i, 0));
    bool matters = false;
    for (rg_aid k = 1; k < f->arrays.n; k++) {
        const rg_ir_array *r = rg_array_at(f, k);
        matters |= by->array[k] && r->kind != RG_ARR_LOCAL &&
                   r->param < (act->own ? act->own : act->nparams) && act->active[r->param];
    }
    if (!matters)
        return RG_CAPTURED_CONSTANT;
    return adds_constants(f, rg_ad_varied(a, f, act), loop, rg_ins_at(f, i)->array)
               ? RG_CAPTURED_SHIFT
               : RG_CAPTURED_ORDER;
}
