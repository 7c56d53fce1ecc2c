/* Rewriting walks: what every pass here shares.
 *
 * A pass walks the regions in program order. Opening a region takes its list of instructions away
 * and leaves it empty; the pass then appends again what it keeps, changed or not, and may build new
 * instructions in between with the ordinary builder. An instruction that owns regions is appended
 * after they were walked, so while a loop's body is being rebuilt the end of the region around it
 * is the place just before the loop.
 *
 * A value that was replaced has an entry in `map`; uses come after definitions, so one walk that
 * looks up every operand is enough. */
#ifndef RG_OPT_REWRITE_H
#define RG_OPT_REWRITE_H

#include "ir/build.h"
#include "ir/ir.h"

typedef struct rg_rewrite {
    rg_fn *f;
    rg_arena *scratch;
    rg_build b;   /* positioned in the region being rebuilt */
    rg_val *map;  /* 0: not replaced */
    uint32_t cap; /* entries of map */
    bool changed;
} rg_rewrite;

typedef struct rg_ids {
    uint32_t *at;
    uint32_t n;
} rg_ids;

/* Runs pass with an arena that goes when it returns or throws (the throw goes on to f's arena). */
bool rg_opt_with_scratch(rg_fn *f, bool (*pass)(rg_fn *f, rg_arena *scratch));

rg_rewrite *rg_rw_new(rg_fn *f, rg_arena *scratch);
/* What v stands for now. */
rg_val rg_rw_val(const rg_rewrite *rw, rg_val v);
void rg_rw_set(rg_rewrite *rw, rg_val v, rg_val by);
/* Takes the list of region r away and makes its end the place where b appends. */
rg_ids rg_rw_open(rg_rewrite *rw, rg_rid r);
/* Looks up all operands of i; extents of the array follow when i is an alloc. */
void rg_rw_operands(rg_rewrite *rw, rg_iid i);
/* Appends i to the current region. */
void rg_rw_keep(rg_rewrite *rw, rg_iid i);
/* Looks up the extents of parameters: at the end of a walk. */
void rg_rw_finish(rg_rewrite *rw);

/* Operand of a region's yield that belongs to carried value 0: 1 in a loop, else 0. */
uint32_t rg_opt_first_yielded(const rg_fn *f, rg_iid owner);
/* Number of carried values (for if: of results). */
uint32_t rg_opt_slots(const rg_fn *f, rg_iid i);
void rg_opt_append_operands(rg_fn *f, rg_iid i, const rg_val *v, uint32_t n);
/* Makes n results of i with the types of like[]; out gets them. */
void rg_opt_append_results(rg_fn *f, rg_iid i, const rg_val *like, uint32_t n, rg_val *out);
/* Removes the carried values (of an if: the results) k with !keep[k], all at once. */
void rg_opt_keep_slots(rg_fn *f, rg_iid i, const bool *keep);

/* Same value: the same id or equal constants. */
bool rg_opt_same_value(const rg_fn *f, rg_val a, rg_val b);
/* Same index vector of two accesses of arrays with equal axes. */
bool rg_opt_same_index(const rg_fn *f, rg_iid a, rg_iid b);
/* A `loop`, or a for that provably has an iteration when it is reached: constant bounds, or inside
 * the branch of an if that tested lo < hi. */
bool rg_opt_surely_runs(const rg_fn *f, rg_iid i);
/* Does the for provably have no iteration? */
bool rg_opt_never_runs(const rg_fn *f, rg_iid i);

/* Is i a pure op that gives the same wherever it stands in the scope of its operands? Not the
 * extent of a local array: that needs the array, and one that grows changes it. */
bool rg_opt_movable(const rg_fn *f, rg_iid i);

/* Two arrays may share memory only if they are the same, or both are shadows of parameters that
 * the kernel does not write (those may be bound to one array, which then has one gradient). The
 * class is the same number for arrays that may; always <= the array's own number. */
rg_aid rg_opt_alias_class(const rg_fn *f, rg_aid a);

/* Position of each region in a walk of the whole function: inner is inside (or equal to) outer
 * when enter[outer] <= enter[inner] < leave[outer]. Regions that are not reached have 0. */
typedef struct rg_order {
    uint32_t *enter, *leave;
    rg_iid *parallel; /* the parallel around each region, 0: kernel level */
} rg_order;
rg_order rg_opt_order(const rg_fn *f, rg_arena *scratch);
static inline bool rg_order_inside(const rg_order *o, rg_rid inner, rg_rid outer) {
    return o->enter[outer] <= o->enter[inner] && o->enter[inner] < o->leave[outer];
}

#endif
