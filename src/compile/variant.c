/* primal:   a copy
 * tangent:  rg_ad_tangent -> optimised
 * adjoint:  rg_ad_adjoint -> optimised -> stencils gathered, accumulation decided -> optimised
 * adjoint of tangent: that, in the other order; it does without adjoints by the user
 * hvp:      the tangent of the optimised adjoint; for what atomics captured it wants a tangent that
 *           records
 *
 * Differentiation adds to the unit's table of source locations too, so both arenas are guarded. */
#include "compile/compile.h"

#include "ad/ad.h"
#include "ad/custom.h"
#include "compile/debug.h"
#include "opt/opt.h"

#include <string.h>

static void optimise(rg_fn *f) {
    rg_opt_options opt = rg_debug_opt();
    rg_opt_run(f, &opt);
}

/* Decides how gradients accumulate; cleans up after. */
static void accumulate(rg_fn *f, const rg_activity *act) {
    bool changed = rg_ad_algebra(f);
    rg_ad_reorder(f, act);
    rg_debug_stage(f, "algebra");
    if (rg_ad_gather(f, act)) {
        changed = true;
        rg_ad_algebra(f); /* on the sums that gathering has made */
        rg_debug_stage(f, "gather");
    }
    changed |= rg_ad_accumulate(f, act);
    changed |= rg_ad_skip_zeros(f);
    rg_debug_stage(f, "accumulate");
    if (changed)
        optimise(f);
}

/* The activity of a function that has record arrays after the kernel's parameters; dots: what they
 * hold has tangents, which are recorded as well. */
static rg_activity with_records(rg_arena *a, const rg_activity *act, const rg_fn *f, bool dots) {
    uint32_t n = f->params.n;
    rg_activity x = {.nparams = n, .active = RG_NEW_N(a, uint8_t, n + 1), .own = act->nparams};
    if (act->group)
        x.group = RG_NEW_N(a, uint32_t, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        bool own = k < act->nparams;
        x.active[k] = own ? act->active[k] : dots && rg_elem_has_float(f->params.at[k].elem);
        if (x.group) /* numbers that no other parameter has */
            x.group[k] = own ? act->group[k] : UINT32_MAX - k;
    }
    return x;
}

static rg_fn *build(rg_variant *v, const rg_unit *u, const rg_fn *f, rg_mode mode,
                    const rg_activity *act, const rg_ad_blocks *blocks) {
    rg_ad_options o = {.strict_edges = u->strict_edges, .keep = !u->recompute};
    rg_arena *a = v->arena;
    if (mode == RG_PRIMAL || mode == RG_RECORD) {
        rg_fn *primal =
            mode == RG_PRIMAL ? rg_fn_clone(a, f) : rg_ad_recording(a, f, act->wanted, &v->diags);
        if (!primal)
            return NULL;
        if (rg_ad_unmark(primal) || mode == RG_RECORD)
            optimise(primal);
        rg_debug_stage(primal, "prepare");
        rg_ad_privatise(primal, act);
        return primal;
    }
    bool prepared, recording = mode == RG_RECORD_TANGENT;
    if (recording) {
        rg_fn *primal = rg_ad_recording(a, f, act->wanted, &v->diags);
        if (!primal)
            return NULL;
        rg_ad_unmark(primal);
        optimise(primal);
        f = primal;
        mode = RG_TANGENT;
    }
    bool twice = mode == RG_ADJOINT_OF_TANGENT;
    if (f->adjoint && mode != RG_TANGENT && !twice) {
        rg_fn *own = rg_ad_custom_kernel(a, f, act);
        rg_debug_stage(own, "ad");
        optimise(own);
        if (mode == RG_HVP) {
            own = rg_ad_tangent(a, own, act, &o, &v->diags);
            if (!own || v->diags.errors)
                return NULL;
            optimise(own);
        }
        rg_ad_needs(own);
        rg_ad_privatise(own, act);
        rg_debug_stage(own, "final");
        return own;
    }
    f = rg_ad_prepare(a, f, act, mode, &v->diags, &prepared);
    if (!f)
        return NULL;
    rg_activity all = with_records(a, act, f, recording);
    rg_activity dots = with_records(a, act, f, true);
    act = &all;
    rg_debug_stage((rg_fn *)f, "prepare");
    if (twice)
        prepared |= rg_ad_unmark((rg_fn *)f);
    if (prepared)
        optimise((rg_fn *)f);
    if (mode != RG_TANGENT && rg_ad_in_blocks((rg_fn *)f, blocks)) {
        rg_debug_stage((rg_fn *)f, "blocks");
        optimise((rg_fn *)f);
    }
    rg_fn *g = mode == RG_TANGENT ? rg_ad_tangent(a, f, act, &o, &v->diags)
               : twice            ? rg_ad_tangent(a, f, &dots, &o, &v->diags)
                                  : rg_ad_adjoint(a, f, act, &o, &v->diags);
    if (g && twice && !v->diags.errors) {
        rg_debug_stage(g, "ad");
        optimise(g);
        if (rg_ad_expand_copies(g))
            optimise(g);
        g = rg_ad_adjoint(a, g, act, &o, &v->diags);
    }
    if (!g || v->diags.errors)
        return NULL;
    rg_debug_stage(g, "ad");
    optimise(g);
    if (mode == RG_HVP) {
        g = rg_ad_tangent(a, g, &dots, &o, &v->diags);
        if (!g || v->diags.errors)
            return NULL;
        rg_debug_stage(g, "ad");
        optimise(g);
    }
    if (mode != RG_TANGENT) {
        accumulate(g, act);
        rg_ad_needs(g);
    }
    rg_ad_privatise(g, act);
    rg_debug_stage(g, "final");
    return g;
}

rg_compile_status rg_variant_build(rg_unit *u, uint32_t kernel, rg_mode mode,
                                   const rg_activity *act, const rg_ad_blocks *blocks,
                                   const rg_allocator *al, rg_variant **out) {
    *out = NULL;
    rg_arena *a = rg_arena_new(al);
    if (!a)
        return RG_COMPILE_MEMORY;
    rg_variant *volatile v = NULL;
    volatile bool in_unit = false; /* where an internal error's words are */
    int thrown = RG_GUARD(a);
    if (!thrown) {
        thrown = RG_GUARD(u->arena);
        in_unit = thrown != 0;
    }
    if (!thrown) {
        v = RG_NEW(a, rg_variant);
        v->arena = a;
        v->diags.arena = a;
        v->diags.sources = u->sources;
        v->fn = build(v, u,
                      mode != RG_PRIMAL && mode != RG_TANGENT && u->marked[kernel]
                          ? u->marked[kernel]
                          : u->module->kernels.at[kernel],
                      mode, act, blocks);
    }
    if (!v || thrown == RG_THROW_MEMORY) {
        rg_arena_free(a);
        return RG_COMPILE_MEMORY;
    }
    *out = v;
    if (thrown == RG_THROW_INTERNAL) {
        v->fn = NULL;
        if (in_unit) { /* the caller looks in the variant's arena */
            int again = RG_GUARD(a);
            if (!again)
                rg_bug(a, "%s", rg_arena_message(u->arena));
        }
        return RG_COMPILE_INTERNAL;
    }
    if (thrown || v->diags.errors || !v->fn) {
        v->fn = NULL;
        return v->diags.errors ? RG_COMPILE_ERRORS : RG_COMPILE_INTERNAL;
    }
    return RG_COMPILED;
}

void rg_variant_free(rg_variant *v) {
    if (v)
        rg_arena_free(v->arena);
}
