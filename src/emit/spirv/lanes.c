/* A body is simple when it is straight, but for ifs. The loads that come first are those of arrays
 * that nothing before them in the body writes, and whose indices can be known then; with them
 * comes what the indices need. Distinct arrays never overlap where one is written: the runtime
 * refuses that, and gives gradients that are one memory of their own. */
#include "emit/spirv/lanes.h"

#include <string.h>

enum { INSTRUCTIONS_MOST = 160, LIBRARY_CALL = 24, LOADS_MOST = 32 };

rg_spv_lane *rg_spv_lanes_new(rg_spv_fn *c, uint32_t n) {
    rg_arena *a = c->s->arena;
    uint32_t vals = c->f->vals.n + 1;
    rg_spv_lane *l = RG_NEW_N(a, rg_spv_lane, n);
    for (uint32_t u = 0; u < n; u++) {
        l[u].id = n > 1 ? RG_NEW_N(a, uint32_t, vals) : c->id;
        l[u].low = n > 1 ? RG_NEW_N(a, uint32_t, vals) : c->low;
        if (n > 1) { /* what is known outside of the loop */
            memcpy(l[u].id, c->id, vals * sizeof *c->id);
            memcpy(l[u].low, c->low, vals * sizeof *c->low);
        }
    }
    return l;
}

void rg_spv_lane_enter(rg_spv_fn *c, const rg_spv_lane *l) {
    c->outside = (rg_spv_names){c->id, c->low};
    c->id = l->id;
    c->low = l->low;
}

void rg_spv_lane_leave(rg_spv_fn *c) {
    c->id = c->outside.id;
    c->low = c->outside.low;
}

/* ---- how many ---- */

typedef struct census {
    uint32_t instructions, loads;
    bool simple;
} census;

static void count(const rg_fn *f, rg_rid r, census *n) {
    const rg_region *g = &f->regions.at[r];
    uint32_t before;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *i = &f->ins.at[g->ins.at[k]];
        n->instructions++;
        switch (i->op) {
        case RG_FOR:
        case RG_LOOP:
        case RG_ALLOC:
        case RG_COPY:
        case RG_RMW:
            n->simple = false;
            return;
        case RG_IF:
            before = n->loads;
            for (uint32_t b = 0; b < 2; b++)
                count(f, i->region[b], n);
            if (n->loads != before) /* they cannot come first */
                n->simple = false;
            break;
        case RG_LOAD:
        case RG_ADDTO:
            n->loads++;
            break;
        default:
            if (strcmp(rg_ops[i->op].spirv, "lib") == 0)
                n->instructions += LIBRARY_CALL;
        }
        if (f->arrays.at[i->array].flags & RG_ARR_GROW)
            n->simple = false;
    }
}

uint32_t rg_spirv_lanes(const rg_fn *f, const rg_task *t, const rg_spirv_caps *caps) {
    if (caps->lanes < 2 || !t->parallel)
        return 1;
    census n = {.simple = true};
    count(f, f->ins.at[t->parallel].region[0], &n);
    if (!n.simple || n.instructions > INSTRUCTIONS_MOST || n.loads > LOADS_MOST / 2)
        return 1;
    uint32_t most = n.loads ? LOADS_MOST / n.loads : caps->lanes;
    return caps->lanes < most ? caps->lanes : most;
}

/* ---- what comes first ---- */

typedef struct plan {
    rg_spv_fn *c;
    const rg_region *g;
    bool *first;   /* [g.ins] printed before the others */
    bool *written; /* [arrays] by an instruction so far */
} plan;

static bool touches_memory(const rg_ins *i) {
    return (rg_ops[i->op].flags & (RG_F_READ | RG_F_WRITE)) != 0;
}

/* Place + 1 in the body of the instruction that makes v; 0: it comes from outside. */
static uint32_t place_of(const uint32_t *place, const rg_fn *f, rg_val v) {
    rg_iid d = f->vals.at[v].def;
    return d ? place[d] : 0;
}

static void written_in(const rg_fn *f, rg_rid r, bool *written) {
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *i = &f->ins.at[g->ins.at[k]];
        if (rg_ops[i->op].flags & RG_F_WRITE)
            written[i->array] = true;
        for (uint32_t b = 0; b < 2; b++)
            if (i->region[b])
                written_in(f, i->region[b], written);
    }
}

static bool *find_first(rg_spv_fn *c, const rg_region *g) {
    const rg_fn *f = c->f;
    rg_arena *a = c->s->arena;
    bool *first = RG_NEW_N(a, bool, g->ins.n + 1), *can = RG_NEW_N(a, bool, g->ins.n + 1);
    bool *written = RG_NEW_N(a, bool, f->arrays.n + 1);
    uint32_t *place = RG_NEW_N(a, uint32_t, f->ins.n + 1);
    for (uint32_t k = 0; k < g->ins.n; k++)
        place[g->ins.at[k]] = k + 1;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid id = g->ins.at[k];
        const rg_ins *i = &f->ins.at[id];
        bool load = i->op == RG_LOAD || (i->op == RG_ADDTO && rg_spv_addto_plain(c, id));
        bool pure = !touches_memory(i) && !i->region[0] && i->nres && i->op != RG_EXTENT;
        uint32_t n = load ? rg_ins_nindices(f, i) : i->nopnd;
        can[k] = pure || (load && !written[i->array] && !(i->flags & RG_INS_ATOMIC));
        for (uint32_t j = 0; j < n && can[k]; j++) {
            uint32_t p = place_of(place, f, rg_operand(f, id, j));
            can[k] = !p || (can[p - 1] && f->ins.at[g->ins.at[p - 1]].op != RG_ADDTO);
        }
        first[k] = can[k] && load;
        if (rg_ops[i->op].flags & RG_F_WRITE)
            written[i->array] = true;
        for (uint32_t b = 0; b < 2; b++)
            if (i->region[b])
                written_in(f, i->region[b], written);
    }
    for (uint32_t k = g->ins.n; k-- > 0;) { /* and what their indices are made of */
        rg_iid id = g->ins.at[k];
        const rg_ins *i = &f->ins.at[id];
        uint32_t n = touches_memory(i) ? rg_ins_nindices(f, i) : i->nopnd;
        for (uint32_t j = 0; j < n && first[k]; j++) {
            uint32_t p = place_of(place, f, rg_operand(f, id, j));
            if (p)
                first[p - 1] = true;
        }
    }
    return first;
}

void rg_spv_lanes_region(rg_spv_fn *c, rg_rid r, const rg_spv_lane *lane, uint32_t n) {
    if (n == 1) {
        rg_spv_region(c, r);
        return;
    }
    const rg_fn *f = c->f;
    const rg_region *g = &f->regions.at[r];
    bool *first = find_first(c, g);
    rg_spv_addition *half = RG_NEW_N(c->s->arena, rg_spv_addition, g->ins.n * n + 1);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < g->ins.n; k++) {
            rg_iid id = g->ins.at[k];
            bool split = first[k] && f->ins.at[id].op == RG_ADDTO;
            if (first[k] != (pass == 0) && !split)
                continue;
            for (uint32_t u = 0; u < n; u++) {
                rg_spv_lane_enter(c, &lane[u]);
                if (split && pass == 0)
                    half[k * n + u] = rg_spv_addto_begin(c, id);
                else if (split)
                    rg_spv_addto_end(c, id, &half[k * n + u]);
                else
                    rg_spv_instruction(c, id);
                rg_spv_lane_leave(c);
            }
        }
}
