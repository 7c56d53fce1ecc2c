/* Effects, bottom up: an instruction with regions touches what is in them. A stamp for each item
 * keeps the lists free of repeats. */
#include "opt/effects.h"

typedef struct collector {
    const rg_fn *f;
    rg_arena *scratch;
    rg_effects *e;
    uint32_t *stamp, mark;
} collector;

static void add(collector *c, uint32_t item, rg_ids *out, uint32_t *cap) {
    if (c->stamp[item] == c->mark)
        return;
    c->stamp[item] = c->mark;
    if (out->n == *cap) {
        uint32_t more = *cap ? *cap * 2 : 8;
        out->at = rg_grow(c->scratch, out->at, *cap * sizeof *out->at, more * sizeof *out->at);
        *cap = more;
    }
    out->at[out->n++] = item;
}

static void collect(collector *c, rg_rid r, rg_ids *out, uint32_t *cap) {
    const rg_fn *f = c->f;
    rg_effects *e = c->e;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        uint32_t n = 0;
        for (int s = 0; s < 2; s++)
            if (rg_ins_at(f, i)->region[s])
                collect(c, rg_ins_at(f, i)->region[s], &e->touched[i], &n);
    }
    c->mark++;
    for (uint32_t k = 0; k < out->n; k++) /* the other branch's */
        c->stamp[out->at[k]] = c->mark;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->region[0]) {
            rg_ids t = e->touched[g->ins.at[k]];
            for (uint32_t j = 0; j < t.n; j++)
                add(c, t.at[j], out, cap);
        } else if (ins->op == RG_ALLOC || ins->op == RG_COPY || ins->op == RG_PAIR) {
            for (int s = 0; s < (ins->op == RG_ALLOC ? 1 : 2); s++) {
                rg_aid a = s ? ins->array2 : ins->array;
                uint32_t written = s == 0 || ins->op == RG_PAIR;
                for (uint32_t l = 0; l < rg_array_at(f, a)->elem->nleaves; l++)
                    add(c, 2 * (e->key_base[a] + l) + written, out, cap);
            }
        } else if (rg_ops[ins->op].flags & (RG_F_READ | RG_F_WRITE)) {
            uint32_t written = (rg_ops[ins->op].flags & RG_F_WRITE) != 0;
            add(c, 2 * rg_effects_key(e, ins) + written, out, cap);
        }
    }
}

rg_effects rg_opt_keys(const rg_fn *f, rg_arena *scratch) {
    rg_effects e = {.key_base = RG_NEW_N(scratch, uint32_t, f->arrays.n)};
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        rg_aid c = rg_opt_alias_class(f, a);
        e.key_base[a] = c == a ? e.keys : e.key_base[c];
        if (c == a)
            e.keys += rg_array_at(f, a)->elem->nleaves;
    }
    return e;
}

rg_effects rg_opt_effects(const rg_fn *f, rg_arena *scratch) {
    rg_effects e = rg_opt_keys(f, scratch);
    e.touched = RG_NEW_N(scratch, rg_ids, f->ins.n);
    collector c = {.f = f, .scratch = scratch, .e = &e};
    c.stamp = RG_NEW_N(scratch, uint32_t, 2 * e.keys + 1);
    rg_ids all = {0};
    uint32_t cap = 0;
    collect(&c, f->body, &all, &cap);
    return e;
}
