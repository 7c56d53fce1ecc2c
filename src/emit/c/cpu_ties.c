/* Where the ties are.
 *
 * The adjoint of a minimum or maximum counts the elements that equal it, and then adds to them. The
 * two loops ask each iteration the same, and few have anything to add. So the first one notes,
 * range by range, where it counted any, and the second runs over that stretch alone. */
#include "emit/c/cpu.h"

/* The same value in the same iteration of loops a and b. */
static bool same(const rg_fn *f, rg_val x, rg_val y, rg_rid a, rg_rid b, int *budget) {
    if (--*budget < 0)
        return false;
    if (!rg_region_inside(f, rg_val_region(f, x), a))
        return x == y;
    const rg_value *v = &f->vals.at[x], *w = &f->vals.at[y];
    if (!v->def || !w->def)
        return !v->def && !w->def && v->region == a && w->region == b && v->index == w->index;
    const rg_ins *p = &f->ins.at[v->def], *q = &f->ins.at[w->def];
    if (p->op != q->op || p->parent != a || q->parent != b || p->nopnd != q->nopnd ||
        p->imm.i != q->imm.i || p->region[0] || rg_type_of(f, x) != rg_type_of(f, y))
        return false;
    if (p->op == RG_LOAD ? p->array != q->array || p->leaf != q->leaf ||
                               !(f->arrays.at[p->array].flags & RG_ARR_CONST)
                         : (rg_ops[p->op].flags & (RG_F_READ | RG_F_WRITE | RG_F_RGN)) != 0)
        return false;
    for (uint32_t k = 0; k < p->nopnd; k++)
        if (!same(f, rg_operand(f, v->def, k), rg_operand(f, w->def, k), a, b, budget))
            return false;
    return true;
}

/* What loop i counts the hits of, if it does nothing else; 0: it is no such loop. */
static rg_val counted(const rg_fn *f, rg_iid i) {
    const rg_ins *q = &f->ins.at[i];
    if (q->nres != 1 || (rg_red)f->pool.at[q->aux] != RG_RED_ADD)
        return 0;
    rg_rid body = q->region[0];
    const rg_region *g = &f->regions.at[body];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *x = &f->ins.at[g->ins.at[k]];
        if (x->region[0] || rg_writes_element(x) || x->op == RG_COPY || x->op == RG_ALLOC)
            return 0;
    }
    rg_val sum = rg_operand(f, rg_yield_of(f, body), 0);
    rg_iid red = f->vals.at[sum].def;
    if (!red || f->ins.at[red].op != RG_RED ||
        rg_operand(f, red, 0) != g->args.at[rg_first_carried(f, i)])
        return 0;
    rg_iid choice = f->vals.at[rg_operand(f, red, 1)].def;
    int64_t one, zero;
    if (!choice || f->ins.at[choice].op != RG_SELECT ||
        !rg_val_const_int(f, rg_operand(f, choice, 1), &one) || one != 1 ||
        !rg_val_const_int(f, rg_operand(f, choice, 2), &zero) || zero != 0)
        return 0;
    return rg_operand(f, choice, 0);
}

/* The condition behind which loop i does all that it does; 0: there is none. */
static rg_val guard(const rg_fn *f, rg_iid i) {
    const rg_ins *q = &f->ins.at[i];
    const rg_region *g = &f->regions.at[q->region[0]];
    rg_iid branch = 0;
    if (q->nres)
        return 0;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid at = g->ins.at[k];
        const rg_ins *x = &f->ins.at[at];
        if (x->op == RG_IF && !branch)
            branch = at;
        else if (x->region[0] || rg_writes_element(x) || x->op == RG_COPY || x->op == RG_ALLOC)
            return 0;
    }
    if (!branch || f->regions.at[f->ins.at[branch].region[1]].ins.n != 1)
        return 0;
    return rg_operand(f, branch, 0);
}

rg_iid rg_cpu_counter_of(const rg_cprint *p, rg_iid loop) {
    const rg_fn *f = p->f;
    const rg_ins *q = &f->ins.at[loop];
    rg_val hit = p->checked || f->mode != RG_ADJOINT ? 0 : guard(f, loop);
    if (!hit)
        return 0;
    const rg_region *g = &f->regions.at[q->parent];
    for (uint32_t k = p->plan->pos[loop]; k-- > 0;) {
        rg_iid i = g->ins.at[k];
        const rg_ins *c = &f->ins.at[i];
        if (c->op != RG_PARALLEL || c->imm.i != q->imm.i)
            continue;
        rg_val what = counted(f, i);
        bool ok = what != 0 && rg_cplan_slot_live(p->plan, i, 0);
        for (uint32_t n = 0; ok && n < 2 * (uint32_t)q->imm.i; n++)
            ok = rg_operand(f, i, n) == rg_operand(f, loop, n);
        int budget = 64;
        if (ok && same(f, what, hit, c->region[0], q->region[0], &budget))
            return i;
    }
    return 0;
}

bool rg_cpu_is_counter(const rg_cprint *p, rg_iid loop) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[f->ins.at[loop].parent];
    if (p->checked || f->mode != RG_ADJOINT || !counted(f, loop))
        return false;
    for (uint32_t k = p->plan->pos[loop] + 1; k < g->ins.n; k++)
        if (f->ins.at[g->ins.at[k]].op == RG_PARALLEL && rg_cpu_counter_of(p, g->ins.at[k]) == loop)
            return true;
    return false;
}
