/* The order of the passes:
 *
 *   ssa   promote rank-0 locals -> fold -> cse -> dce
 *   run   ssa, then rounds of
 *           fold -> cse -> dce -> unroll -> indvar -> promote -> dse -> licm
 *         until a round changes nothing, MAX_ROUNDS at most
 *
 * A pass that found nothing to do is left out until another one has changed something. After each
 * pass that changed something `after` is called; tables are compacted between rounds. */
#include "opt/opt.h"

#include "opt/forward.h"

enum { MAX_ROUNDS = 8 };

enum { SCALARS, FOLD, CSE, DCE, UNROLL, INDVAR, PROMOTE, DSE, LICM, N_PASSES };

static const struct {
    bool (*run)(rg_fn *f);
    const char *name;
} passes[N_PASSES] = {
    [SCALARS] = {rg_promote_scalars, "promote"},
    [FOLD] = {rg_opt_fold, "fold"},
    [CSE] = {rg_opt_cse, "cse"},
    [DCE] = {rg_opt_dce, "dce"},
    [UNROLL] = {rg_opt_unroll, "unroll"},
    [INDVAR] = {rg_opt_indvar, "indvar"},
    [PROMOTE] = {rg_opt_promote, "promote"},
    [DSE] = {rg_opt_dse, "dse"},
    [LICM] = {rg_opt_licm, "licm"},
};

typedef struct pipeline {
    rg_fn *f;
    const rg_opt_options *o;
    uint32_t changes;           /* 1, and one more for each pass that changed something */
    uint32_t packed;            /* `changes` when the tables were compacted last; 0: not yet */
    uint32_t settled[N_PASSES]; /* `changes` when the pass found nothing to do; 0: not yet */
} pipeline;

static bool step(pipeline *p, int pass) {
    if (p->settled[pass] == p->changes)
        return false;
    if (!passes[pass].run(p->f)) {
        p->settled[pass] = p->changes;
        return false;
    }
    p->changes++;
    if (p->o && p->o->after)
        p->o->after(p->o->user, p->f, passes[pass].name);
    return true;
}

static void pack(pipeline *p) {
    if (p->packed == p->changes)
        return;
    rg_opt_compact(p->f);
    p->packed = p->changes;
    if (p->o && p->o->after)
        p->o->after(p->o->user, p->f, "compact");
}

static bool clean(pipeline *p) {
    bool changed = step(p, FOLD);
    changed |= step(p, CSE);
    changed |= step(p, DCE);
    return changed;
}

static void ssa(pipeline *p) {
    step(p, SCALARS);
    clean(p);
    pack(p);
}

void rg_opt_ssa(rg_fn *f, const rg_opt_options *o) {
    pipeline p = {.f = f, .o = o, .changes = 1};
    ssa(&p);
}

void rg_opt_run(rg_fn *f, const rg_opt_options *o) {
    pipeline p = {.f = f, .o = o, .changes = 1};
    ssa(&p);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool changed = clean(&p);
        if (!o || !o->no_unroll)
            changed |= step(&p, UNROLL);
        changed |= step(&p, INDVAR);
        /* Promotion first: what licm moves may put a loop into a branch, and a loop whose element
         * was written just before needs none. */
        changed |= step(&p, PROMOTE);
        changed |= step(&p, DSE);
        changed |= step(&p, LICM);
        if (!changed)
            break;
        pack(&p);
    }
    for (int round = 0; round < MAX_ROUNDS && clean(&p); round++)
        ;
    pack(&p);
}
