/* The order of the passes:
 *
 *   ssa   promote rank-0 locals -> fold -> cse -> dce
 *   run   ssa, then rounds of
 *           fold -> cse -> dce -> unroll -> indvar -> promote -> licm
 *         until a round changes nothing, MAX_ROUNDS at most
 *
 * After each pass that changed something `after` is called; tables are compacted between rounds. */
#include "opt/opt.h"

#include "opt/forward.h"

enum { MAX_ROUNDS = 8 };

static bool step(rg_fn *f, const rg_opt_options *o, bool (*pass)(rg_fn *f), const char *name) {
    bool changed = pass(f);
    if (changed && o && o->after)
        o->after(o->user, f, name);
    return changed;
}

static void pack(rg_fn *f, const rg_opt_options *o) {
    rg_opt_compact(f);
    if (o && o->after)
        o->after(o->user, f, "compact");
}

static bool clean(rg_fn *f, const rg_opt_options *o) {
    bool changed = step(f, o, rg_opt_fold, "fold");
    changed |= step(f, o, rg_opt_cse, "cse");
    changed |= step(f, o, rg_opt_dce, "dce");
    return changed;
}

void rg_opt_ssa(rg_fn *f, const rg_opt_options *o) {
    step(f, o, rg_promote_scalars, "promote");
    clean(f, o);
    pack(f, o);
}

void rg_opt_run(rg_fn *f, const rg_opt_options *o) {
    rg_opt_ssa(f, o);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        bool changed = clean(f, o);
        if (!o || !o->no_unroll)
            changed |= step(f, o, rg_opt_unroll, "unroll");
        changed |= step(f, o, rg_opt_indvar, "indvar");
        /* Promotion first: what licm moves may put a loop into a branch, and a loop whose element
         * was written just before needs none. */
        changed |= step(f, o, rg_opt_promote, "promote");
        changed |= step(f, o, rg_opt_licm, "licm");
        if (!changed)
            break;
        pack(f, o);
    }
    for (int round = 0; round < MAX_ROUNDS && clean(f, o); round++)
        ;
    pack(f, o);
}
