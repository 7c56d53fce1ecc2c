/* Dead code: what live.h does not mark goes, carried values and results of branches one by one. */
#include "opt/opt.h"

#include "ir/live.h"
#include "opt/rewrite.h"

typedef struct marker {
    rg_fn *f;
    rg_arena *scratch;
    rg_live live;
} marker;

static bool is_live(const marker *m, rg_iid i) {
    return rg_ins_at(m->f, i)->op == RG_YIELD || m->live.ins[i];
}

static bool sweep(marker *m, rg_rid r) {
    rg_fn *f = m->f;
    rg_region *g = rg_region_at(f, r);
    uint32_t to = 0;
    bool changed = false;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        if (!is_live(m, i)) {
            changed = true;
            continue;
        }
        g->ins.at[to++] = i;
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->region[0])
            continue;
        uint32_t slots = rg_opt_slots(f, i);
        if (slots) {
            bool *keep = RG_NEW_N(m->scratch, bool, slots);
            for (uint32_t s = 0; s < slots; s++) {
                keep[s] = m->live.val[rg_result(f, i, s)];
                changed |= !keep[s];
            }
            rg_opt_keep_slots(f, i, keep);
        }
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                changed |= sweep(m, ins->region[s]);
    }
    g->ins.n = to;
    return changed;
}

static bool dce(rg_fn *f, rg_arena *scratch) {
    marker m = {f, scratch, rg_fn_live(scratch, f, NULL)};
    return sweep(&m, f->body);
}

bool rg_opt_dce(rg_fn *f) {
    return rg_opt_with_scratch(f, dce);
}
