#include "ad/start.h"

#include "ir/build.h"

rg_fn *rg_ad_start(rg_arena *a, const rg_fn *f, rg_mode mode) {
    rg_fn *g = rg_fn_new(a, f->module, f->name);
    g->mode = mode;
    g->loc = f->loc;
    for (uint32_t k = 0; k < f->params.n; k++)
        RG_PUSH(a, &g->params, f->params.at[k]);
    for (uint32_t k = 0; k < f->scalars.n; k++)
        RG_PUSH(a, &g->scalars, f->scalars.at[k]);
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        rg_ir_array r = *rg_array_at(f, k);
        r.extents = RG_NEW_N(a, rg_val, r.rank ? r.rank : 1);
        rg_aid id = rg_array_new(g, &r);
        if (id != k)
            rg_bug(a, "array table does not start empty");
    }
    return g;
}

void rg_ad_map_extents(rg_fn *g, const rg_fn *f, const rg_val *map) {
    for (uint32_t k = 1; k < f->arrays.n; k++) {
        const rg_ir_array *r = rg_array_at(f, k);
        if (r->kind == RG_ARR_LOCAL)
            continue;
        for (uint32_t d = 0; d < r->rank; d++)
            rg_array_at(g, k)->extents[d] = r->extents[d] ? map[r->extents[d]] : 0;
    }
    for (uint32_t k = f->arrays.n; k < g->arrays.n; k++) {
        rg_ir_array *r = rg_array_at(g, k);
        const rg_param *p = &g->params.at[r->param];
        if (r->kind == RG_ARR_SHADOW && p->is_array)
            for (uint32_t d = 0; d < r->rank; d++)
                r->extents[d] = rg_array_at(g, p->array)->extents[d];
    }
}

void rg_ad_rmw(rg_fn *g, rg_val result) {
    rg_ins_remove_result(g, rg_value_at(g, result)->def, 0);
}

rg_aid rg_ad_shadow(rg_fn *g, uint32_t p, uint32_t shadow, rg_val one) {
    const rg_param *q = &g->params.at[p];
    static const char *const suffix[] = {"", "_b", "_d", "_bd"};
    rg_ir_array r = {.kind = RG_ARR_SHADOW, .shadow = shadow, .elem = q->elem, .param = p};
    r.name = rg_format(g->arena, "%s%s", q->name, suffix[shadow & 3]);
    r.rank = q->is_array ? q->rank : 1;
    r.extents = RG_NEW_N(g->arena, rg_val, r.rank ? r.rank : 1);
    if (!q->is_array)
        r.extents[0] = one;
    r.loc = q->loc;
    return rg_array_new(g, &r);
}
