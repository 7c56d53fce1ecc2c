/* May the iterations of a reversed loop run upwards, or in any order at all?
 *
 * The reverse of a loop runs backwards because an iteration may depend on the one before, through a
 * carried value or through memory. Where the primal's iterations are independent, those of its
 * reverse only add to gradients, and forward is as good: C compilers vectorise it without
 * shuffles, and may add the sums that it carries lane by lane. */
#include "ad/adjoint.h"

#include "ir/affine.h"
#include "ir/sum.h"

typedef struct uses {
    bool *read, *written; /* [arrays] from outside the loop */
    bool ordered;
} uses;

static void look(rg_adj *s, rg_rid r, rg_iid loop, uses *u) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    rg_rid body = rg_ins_at(f, loop)->region[0];
    for (uint32_t k = 0; k < g->ins.n && !u->ordered; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        bool outside = ins->array && !rg_region_inside(f, s->life[ins->array], body);
        if (ins->op == RG_LOAD && outside)
            u->read[ins->array] = true;
        if ((ins->op == RG_STORE || ins->op == RG_ADDTO) && outside)
            u->written[ins->array] = true;
        if (ins->op == RG_STORE && outside &&
            !rg_access_injective(f, i, rg_ins_at(f, loop)->parent))
            u->ordered = true;
        if (ins->op == RG_RMW || ins->op == RG_COPY || ins->op == RG_PARALLEL ||
            (ins->op == RG_PAIR && !ins->imm.i))
            u->ordered = true;
        for (int n = 0; n < 2; n++)
            if (ins->region[n])
                look(s, ins->region[n], loop, u);
    }
}

bool rg_adj_any_order(rg_adj *s, rg_iid loop) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, loop);
    if (ins->op != RG_FOR || s->saved[loop]->logs.n || s->saved[loop]->wholes.n ||
        s->saved[loop]->undos.n)
        return false;
    for (uint32_t k = 0; k < ins->nres; k++) {
        /* A sum that the loop carries is linear: its cotangent is the same in all iterations. */
        rg_val y = rg_operand(f, rg_yield_of(f, ins->region[0]), k);
        rg_val arg = rg_region_at(f, ins->region[0])->args.at[rg_first_carried(f, loop) + k];
        if (s->varied->val[rg_result(f, loop, k)] && !rg_is_sum(f, ins->region[0], arg, y))
            return false;
    }
    uses u = {RG_NEW_N(s->arena, bool, f->arrays.n), RG_NEW_N(s->arena, bool, f->arrays.n), false};
    look(s, ins->region[0], loop, &u);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        u.ordered |= u.read[a] && u.written[a];
    return !u.ordered;
}
