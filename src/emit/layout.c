/* Walks the parameters once, in order; what each one needs is 8 bytes, or the size of a by-value
 * struct rounded up to 8. */
#include "emit/layout.h"

static uint32_t shadows(rg_layout *l, const rg_fn *f, uint32_t param, uint32_t at) {
    /* Gradient, tangent, tangent of the gradient: by the bits, so that the order does not depend
     * on which pass made the array first. */
    for (uint32_t bits = RG_SH_GRAD; bits <= (RG_SH_GRAD | RG_SH_DOT); bits++) {
        for (uint32_t a = 1; a < f->arrays.n; a++) {
            const rg_ir_array *x = &f->arrays.at[a];
            if (x->kind != RG_ARR_SHADOW || x->param != param || x->shadow != bits)
                continue;
            l->array_pointer[a] = at;
            at += 8;
        }
    }
    return at;
}

rg_layout *rg_layout_make(rg_arena *a, const rg_fn *f) {
    rg_layout *l = RG_NEW(a, rg_layout);
    uint32_t np = f->params.n, na = f->arrays.n;
    l->array_pointer = RG_NEW_N(a, uint32_t, na ? na : 1);
    l->param_extents = RG_NEW_N(a, uint32_t, np ? np : 1);
    l->param_value = RG_NEW_N(a, uint32_t, np ? np : 1);
    for (uint32_t i = 0; i < na; i++)
        l->array_pointer[i] = UINT32_MAX;
    uint32_t at = 0;
    for (uint32_t p = 0; p < np; p++) {
        const rg_param *q = &f->params.at[p];
        l->param_extents[p] = UINT32_MAX;
        l->param_value[p] = UINT32_MAX;
        if (q->is_array) {
            l->array_pointer[q->array] = at;
            at = shadows(l, f, p, at + 8);
            l->param_extents[p] = at;
            at += 8 * q->rank;
        } else {
            l->param_value[p] = at;
            at = shadows(l, f, p, at + (q->elem->size + 7) / 8 * 8);
        }
    }
    l->size = at;
    return l;
}
