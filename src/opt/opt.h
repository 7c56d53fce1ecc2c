/* Passes over the IR. Each is one file named after what it does and returns whether it changed f.
 * All keep source locations and names. */
#ifndef RG_OPT_OPT_H
#define RG_OPT_OPT_H

#include "base/text.h"
#include "ir/ir.h"

bool rg_opt_fold(rg_fn *f); /* constants, identities, constant branches, empty loops */
bool rg_opt_cse(rg_fn *f);  /* equal pure ops; loads with no store between; dominance by region */
bool rg_opt_dce(rg_fn *f);  /* unused ops, results, carried values; locals never loaded */
/* Pure ops out of for, loop and parallel; loads of what the loop does not write out of for and
 * loop, behind `if (lo < hi)` where the loop may have no iteration. Out of a parallel no load
 * moves: on a GPU that would be a task of its own. */
bool rg_opt_licm(rg_fn *f);
/* Memory to SSA: rank-0 locals and constant-index elements of small local arrays; elements whose
 * index does not change in a loop; store to load forwarding; stores that are overwritten unread;
 * load + add + store to addto; atomic addto to an element that is the same throughout a parallel to
 * a reduction, throughout a loop to one addto after it. */
bool rg_opt_promote(rg_fn *f);
/* Writes to a local array that nobody reads before it is overwritten as a whole. */
bool rg_opt_dse(rg_fn *f);
bool rg_opt_unroll(rg_fn *f); /* for loops of constant trip count <= 8 and small bodies */
bool rg_opt_indvar(rg_fn *f); /* carried integers that step by a constant become affine in the iv */

/* Removes instructions, values and pool entries that nothing reaches: renumbers. */
void rg_opt_compact(rg_fn *f);

typedef struct rg_opt_options {
    /* Called after each pass that changed something: verify, dump, count. May be NULL. */
    void (*after)(void *user, rg_fn *f, const char *pass);
    void *user;
    bool no_unroll;
    /* Keep every float operation exactly as written: always true today; contraction is the
     * emitters' business. */
} rg_opt_options;

/* Just promotion of rank-0 locals and cleaning: what the front-end's output needs to be SSA. */
void rg_opt_ssa(rg_fn *f, const rg_opt_options *o);
/* The usual pipeline, until nothing changes (bounded). */
void rg_opt_run(rg_fn *f, const rg_opt_options *o);

#endif
