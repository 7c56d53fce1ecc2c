/* A forward fixpoint without regard to order: a value is varied if an operand through which its op
 * can be differentiated is; an array if a varied value is ever written to it. Regions' arguments
 * and results follow what is carried and yielded. */
#include "ad/active.h"

typedef struct walk {
    const rg_fn *f;
    const rg_activity *act;
    rg_varied *v;
    bool changed;
} walk;

static void set(walk *w, rg_val v, bool on) {
    if (on && !w->v->val[v] && rg_type_is_float(rg_type_of(w->f, v))) {
        w->v->val[v] = true;
        w->changed = true;
    }
}

static void set_array(walk *w, rg_aid a, bool on) {
    if (on && !w->v->array[a]) {
        w->v->array[a] = true;
        w->changed = true;
    }
}

static void structure(walk *w, rg_iid i) {
    const rg_fn *f = w->f;
    const rg_ins *ins = rg_ins_at(f, i);
    const bool *val = w->v->val;
    if (ins->op == RG_IF) {
        rg_iid y0 = rg_yield_of(f, ins->region[0]), y1 = rg_yield_of(f, ins->region[1]);
        for (uint32_t k = 0; k < ins->nres; k++)
            set(w, rg_result(f, i, k), val[rg_operand(f, y0, k)] || val[rg_operand(f, y1, k)]);
        return;
    }
    uint32_t init = rg_first_init(f, i), carried = rg_first_carried(f, i);
    uint32_t skip = ins->op == RG_LOOP ? 1 : 0;
    rg_iid y = rg_yield_of(f, ins->region[0]);
    for (uint32_t k = 0; k < ins->nres; k++) {
        rg_val arg = rg_region_at(f, ins->region[0])->args.at[carried + k];
        bool on = val[rg_operand(f, i, init + k)] || val[rg_operand(f, y, skip + k)];
        set(w, arg, on);
        set(w, rg_result(f, i, k), on);
    }
}

/* What the adjoint of call i, which the user wrote, may give something to: if any of it is varied,
 * so is what the call gives back, whatever the function itself computes it from. */
static bool gives(walk *w, rg_rid r) {
    const rg_fn *f = w->f;
    const rg_region *g = rg_region_at(f, r);
    bool any = false;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        any |= (ins->op == RG_GIVE && w->v->val[rg_operand(f, g->ins.at[k], 0)]) ||
               (ins->op == RG_PAIR && w->v->array[ins->array]);
    }
    return any;
}

static void own_call(walk *w, rg_iid i) {
    const rg_fn *f = w->f;
    rg_rid r = rg_ins_at(f, i)->region[0];
    const rg_region *g = rg_region_at(f, r);
    if (!gives(w, r))
        return;
    for (uint32_t k = 0; k < rg_ins_at(f, i)->nres; k++)
        set(w, rg_result(f, i, k), true);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op == RG_PAIR && !ins->imm.i)
            set_array(w, ins->array, true);
    }
}

static void visit(walk *w, rg_iid i) {
    const rg_fn *f = w->f;
    const rg_ins *ins = rg_ins_at(f, i);
    const bool *val = w->v->val;
    switch (ins->op) {
    case RG_SCALAR:
        if (f->scalars.at[ins->imm.i].param < w->act->nparams)
            set(w, rg_result(f, i, 0), w->act->active[f->scalars.at[ins->imm.i].param]);
        break;
    case RG_LOAD:
        w->v->loaded[ins->array] = true;
        set(w, rg_result(f, i, 0), w->v->array[ins->array]);
        break;
    case RG_STORE:
    case RG_ADDTO:
        w->v->stored[ins->array] = true;
        set_array(w, ins->array, val[rg_operand(f, i, ins->nopnd - 1)]);
        break;
    case RG_RMW:
        w->v->stored[ins->array] = true;
        if (ins->nres)
            w->v->loaded[ins->array] = true;
        set_array(w, ins->array, val[rg_operand(f, i, ins->nopnd - 1)]);
        if (ins->nres)
            set(w, rg_result(f, i, 0), w->v->array[ins->array]);
        break;
    case RG_COPY:
        w->v->stored[ins->array] = true;
        w->v->loaded[ins->array2] = true;
        set_array(w, ins->array, w->v->array[ins->array2]);
        break;
    case RG_IF:
    case RG_FOR:
    case RG_LOOP:
    case RG_PARALLEL:
        structure(w, i);
        if (rg_is_own_call(f, i))
            own_call(w, i);
        break;
    case RG_PAIR: /* for its gradient */
        w->v->loaded[ins->array] = true;
        break;
    case RG_YIELD:
    case RG_ALLOC:
        break;
    default:
        if (ins->nres == 0 || rg_ops[ins->op].diff == RG_D_NONDIFF)
            break;
        for (uint32_t k = 0; k < ins->nopnd; k++)
            set(w, rg_result(f, i, 0), val[rg_operand(f, i, k)]);
    }
}

static void region(walk *w, rg_rid r) {
    const rg_region *g = rg_region_at(w->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        for (int s = 0; s < 2; s++)
            if (rg_ins_at(w->f, i)->region[s])
                region(w, rg_ins_at(w->f, i)->region[s]);
        visit(w, i);
    }
}

static rg_varied *start(rg_arena *a, const rg_fn *f) {
    rg_varied *v = RG_NEW(a, rg_varied);
    v->val = RG_NEW_N(a, bool, f->vals.n);
    v->array = RG_NEW_N(a, bool, f->arrays.n);
    v->loaded = RG_NEW_N(a, bool, f->arrays.n);
    v->stored = RG_NEW_N(a, bool, f->arrays.n);
    return v;
}

static void spread(walk *w) {
    do {
        w->changed = false;
        region(w, w->f->body);
    } while (w->changed);
}

rg_varied *rg_ad_varied(rg_arena *a, const rg_fn *f, const rg_activity *act) {
    walk w = {f, act, start(a, f), false};
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        const rg_ir_array *r = rg_array_at(f, k);
        if (r->kind != RG_ARR_LOCAL && rg_elem_has_float(r->elem) && r->param < act->nparams)
            w.v->array[k] = act->active[r->param];
    }
    spread(&w);
    return w.v;
}

rg_varied *rg_ad_varied_by(rg_arena *a, const rg_fn *f, rg_val v) {
    rg_activity none = {.nparams = 0};
    walk w = {f, &none, start(a, f), false};
    set(&w, v, true);
    spread(&w);
    return w.v;
}
