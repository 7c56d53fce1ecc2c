#include "ir/sum.h"

uint32_t rg_uses_in(const rg_fn *f, rg_rid r, rg_val v) {
    const rg_region *g = rg_region_at(f, r);
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        for (uint32_t q = 0; q < ins->nopnd; q++)
            n += f->pool.at[ins->opnd + q] == v;
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                n += rg_uses_in(f, ins->region[s], v);
    }
    return n;
}

static bool chain(const rg_fn *f, rg_rid body, rg_val arg, rg_val y) {
    if (y == arg)
        return true;
    rg_iid d = rg_value_at(f, y)->def;
    if (!d || rg_ins_at(f, d)->parent != body || rg_uses_in(f, body, y) != 1)
        return false;
    const rg_ins *ins = rg_ins_at(f, d);
    if (ins->op == RG_RED)
        return ins->imm.i == RG_RED_ADD && chain(f, body, arg, rg_operand(f, d, 0));
    if (ins->op == RG_SUB)
        return chain(f, body, arg, rg_operand(f, d, 0));
    return ins->op == RG_ADD &&
           (chain(f, body, arg, rg_operand(f, d, 0)) || chain(f, body, arg, rg_operand(f, d, 1)));
}

bool rg_is_sum(const rg_fn *f, rg_rid body, rg_val arg, rg_val y) {
    return rg_uses_in(f, body, arg) == 1 && chain(f, body, arg, y);
}
