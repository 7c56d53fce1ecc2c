/* Differentiation: from a kernel to its tangent or adjoint, IR to IR. */
#ifndef RG_AD_AD_H
#define RG_AD_AD_H

#include "base/diag.h"
#include "ir/ir.h"

typedef struct rg_ad_options {
    bool strict_edges; /* one-sided limits instead of the conventional zeros */
    bool keep; /* costly results are kept in loops of any length, not computed twice (kept.c) */
} rg_ad_options;

/* New function in arena a, or NULL with errors in d that name lines and the way out. The primal is
 * optimised SSA (rg_opt_run) and is not changed.
 * Tangent: runs f and its derivative: shadows RG_SH_DOT of all active parameters.
 * The adjoint of a tangent has the shadows of a Hessian-vector product: RG_SH_GRAD is the cotangent
 * of RG_SH_DOT, both together that of the parameter itself. Adjoint: writes no parameter array,
 * adds to the shadows RG_SH_GRAD (and clears those of overwritten elements); sets
 * RG_ARR_BEFORE/AFTER on the arrays that it reads. */
rg_fn *rg_ad_tangent(rg_arena *a, const rg_fn *f, const rg_activity *act, const rg_ad_options *o,
                     rg_diags *d);
rg_fn *rg_ad_adjoint(rg_arena *a, const rg_fn *f, const rg_activity *act, const rg_ad_options *o,
                     rg_diags *d);

/* What comes before differentiation (prepare.c): a copy of f whose atomics that meet nobody are
 * plain operations. For adjoints, captured values and, unless act->alone, the results of reductions
 * and of atomic sums are read from record arrays: parameters after f's own, which the kernel that
 * rg_ad_recording makes of the same f has filled. act covers f's own parameters. Their extents are
 * known from f's parameters. */
rg_fn *rg_ad_prepare(rg_arena *a, const rg_fn *f, const rg_activity *act, rg_mode mode, rg_diags *d,
                     bool *changed);
/* wanted: which of the record arrays to fill; NULL: all (act->wanted: which of them to read). */
rg_fn *rg_ad_recording(rg_arena *a, const rg_fn *f, const uint8_t *wanted, rg_diags *d);
/* How many record arrays there are: first those of captured values, then of reductions, then arrays
 * after atomic sums. */
typedef struct rg_record_counts {
    uint32_t captures, reductions, all;
} rg_record_counts;
rg_record_counts rg_ad_records(rg_arena *scratch, const rg_fn *f);

/* Long loops that are to run in blocks of steps, saving at the start of each block (blocks.c). */
typedef struct rg_ad_blocks {
    uint32_t levels;  /* of loops around each; 0: none */
    const rg_loc *at; /* [n] where the loops stand in the source */
    uint32_t n;
} rg_ad_blocks;
/* Rewrites a primal before it is differentiated: only outermost serial loops. */
bool rg_ad_in_blocks(rg_fn *f, const rg_ad_blocks *which);

/* Before a tangent is differentiated: whole-array copies become loops (copies.c). */
bool rg_ad_expand_copies(rg_fn *f);

/* Takes the marks of custom adjoints (RG_CUSTOM) away: for everything but differentiation. */
bool rg_ad_unmark(rg_fn *f);

/* Clears RG_ARR_BEFORE/AFTER of parameter arrays that f no longer reads. Run after optimisation. */
void rg_ad_needs(rg_fn *f);

/* Decides how each RG_INS_ACCUM addto accumulates: plain, reduced, private copies, gathered, or
 * atomic. Proofs by ir/affine.h over all parameters that share a gradient (act->group). Run after
 * the adjoint was optimised. */
bool rg_ad_accumulate(rg_fn *f, const rg_activity *act);
/* The user's own atomic sums: where a parallel does nothing but add to an array, each thread may
 * add to a copy of its own. For functions of any mode, after all other passes. */
bool rg_ad_privatise(rg_fn *f, const rg_activity *act);
/* Adjoints: shares the products of cotangents, moves signs into sums. Before the two above. */
bool rg_ad_algebra(rg_fn *f);
/* Adjoints: what is added where two floats are equal, as at the ties of a max, is added under a
 * test: the other elements are not touched. After the above. */
bool rg_ad_skip_zeros(rg_fn *f);
/* Adjoints: reversed loops whose iterations are independent run upwards. After optimisation. */
bool rg_ad_reorder(rg_fn *f, const rg_activity *act);
/* Stencils: turns scattered addto's of a parallel whose indices are loop variables times strides,
 * plus constants, guarded or not, into a gather. */
bool rg_ad_gather(rg_fn *f, const rg_activity *act);

#endif
