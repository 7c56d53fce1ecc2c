/* Which values and arrays of an adjoint depend on gradients: all others belong to a forward sweep.
 */
#include "compile/explain.h"

static bool taint(bool *what, bool by) {
    bool news = by && !*what;
    *what |= by;
    return news;
}

static bool spread_over(const rg_fn *g, rg_gradients *e, rg_iid id) {
    const rg_ins *i = rg_ins_at(g, id);
    bool news = false, any = false;
    for (uint32_t k = 0; k < i->nopnd; k++)
        any |= e->value[rg_operand(g, id, k)];
    switch (i->op) {
    case RG_LOAD:
        any = e->array[i->array];
        break;
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW:
        news |= taint(&e->array[i->array], e->value[rg_operand(g, id, i->nopnd - 1)]);
        any = e->array[i->array];
        break;
    case RG_COPY:
        news |= taint(&e->array[i->array], e->array[i->array2]);
        break;
    case RG_IF:
    case RG_FOR:
    case RG_LOOP:
    case RG_PARALLEL:
        for (int s = 0; s < 2; s++) {
            if (!i->region[s])
                continue;
            rg_iid y = rg_yield_of(g, i->region[s]);
            uint32_t skip = i->op == RG_LOOP;
            for (uint32_t k = 0; k < i->nres; k++)
                news |= taint(&e->value[rg_result(g, id, k)], e->value[rg_operand(g, y, k + skip)]);
            uint32_t first = i->op == RG_IF ? 0 : rg_first_carried(g, id);
            const rg_region *r = rg_region_at(g, i->region[s]);
            for (uint32_t k = first; k < r->args.n; k++)
                news |= taint(&e->value[r->args.at[k]],
                              e->value[rg_operand(g, id, rg_first_init(g, id) + k - first)] ||
                                  e->value[rg_operand(g, y, k - first + skip)]);
        }
        return news;
    default:
        break;
    }
    for (uint32_t k = 0; k < i->nres; k++)
        news |= taint(&e->value[rg_result(g, id, k)], any);
    return news;
}

void rg_explain_gradients(rg_arena *a, const rg_fn *g, rg_gradients *out) {
    out->value = RG_NEW_N(a, bool, g->vals.n);
    out->array = RG_NEW_N(a, bool, g->arrays.n);
    for (rg_aid k = 1; k < g->arrays.n; k++)
        out->array[k] = rg_array_at(g, k)->kind == RG_ARR_SHADOW;
    for (bool news = true; news;) {
        news = false;
        for (rg_iid id = 1; id < g->ins.n; id++)
            if (rg_ins_at(g, id)->parent)
                news |= spread_over(g, out, id);
    }
}

bool rg_explain_goes_back(const rg_fn *g, const rg_gradients *e, rg_rid region) {
    const rg_region *r = rg_region_at(g, region);
    for (uint32_t k = 0; k < r->ins.n; k++) {
        rg_iid id = r->ins.at[k];
        const rg_ins *i = rg_ins_at(g, id);
        if (i->array && e->array[i->array])
            return true;
        for (uint32_t q = 0; q < i->nres; q++)
            if (e->value[rg_result(g, id, q)])
                return true;
        for (int s = 0; s < 2; s++)
            if (i->region[s] && rg_explain_goes_back(g, e, i->region[s]))
                return true;
    }
    return false;
}
