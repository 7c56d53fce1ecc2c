/* What the parts of the reverse mode share. How it works: adjoint.c. */
#ifndef RG_AD_ADJOINT_H
#define RG_AD_ADJOINT_H

#include "ad/active.h"
#include "ad/ad.h"
#include "ad/start.h"
#include "ir/build.h"

/* How the value of an array that f writes is known on the way back. */
typedef enum rg_keep {
    RG_KEEP_NONE,    /* never loaded, or never written: nothing to do */
    RG_KEEP_SETTLED, /* no write follows a load of the same element: read it as f left it */
    RG_KEEP_TRACKED  /* overwritten elements are saved and put back */
} rg_keep;

/* A tracked array (leaf) in a loop: a log of what an iteration overwrote. */
typedef struct rg_log {
    rg_aid array; /* of f */
    uint32_t leaf;
    rg_aid counter; /* rank-0 i64 local of g: entries so far */
    rg_aid starts;  /* entries at the start of each iteration */
    rg_aid old;     /* overwritten values */
    rg_aid *index;  /* [axes] where they were */
    uint32_t axes;
} rg_log;

/* A store in a loop's body, or in a nest of counted loops there, whose place can be computed again:
 * only the value that it overwrites is saved. */
typedef struct rg_undo {
    rg_iid store; /* of f */
    rg_aid old;   /* [trips][trips of each loop of the nest], or growing where there is no nest */
    uint32_t n;
    rg_iid loops[3]; /* of f, outermost first */
} rg_undo;

/* A whole tracked array saved once for each iteration: where a parallel in the loop writes it. */
typedef struct rg_whole {
    rg_aid array;  /* of f */
    rg_aid copies; /* one more axis, the iteration; or growing: iteration after iteration */
    bool grows;    /* the number of iterations is not known before the loop */
} rg_whole;

typedef RG_VEC(rg_whole) rg_wholes;

/* What the forward sweep of a loop leaves for its backward sweep. */
typedef struct rg_saved {
    rg_aid *carried; /* [carried args] save arrays of g */
    rg_val trips;    /* i64 of g */
    rg_iid loop;     /* of f */
    RG_VEC(rg_log) logs;
    RG_VEC(rg_undo) undos; /* in the order of the text */
    rg_val at;             /* i64 of g: the iteration, inside its forward sweep */
    rg_wholes wholes;
} rg_saved;

/* An array (leaf) onto whose elements a parallel loop multiplies, or takes the least or largest. */
typedef struct rg_onto {
    rg_aid array; /* of f */
    uint32_t leaf;
    rg_red kind;
    rg_aid after; /* of g: min, max: the final values */
    rg_aid count; /* how many values equal it; of a product: how many are zero */
    rg_aid rest;  /* the product of those that are not zero */
} rg_onto;

typedef RG_VEC(rg_onto) rg_ontos;

/* Results of one instruction that the sweep of a region stored: one for each iteration of the loops
 * between the two. */
typedef struct rg_kept {
    struct rg_kept *outer; /* stored by a sweep around this one, too */
    rg_rid root;           /* region of f */
    uint32_t n;
    rg_iid loops[4]; /* of f, outermost first */
    rg_aid *array;   /* [results] of g */
    rg_iid *store;   /* [results] of g */
} rg_kept;

/* `loaded` may take the place of `computed`; both are values of g, and store stored the former. */
typedef struct rg_kept_load {
    rg_iid store;
    rg_val loaded, computed;
} rg_kept_load;

/* Loops with at most so many iterations in all are always worth it. */
enum { RG_KEPT_TRIPS = 512 };

typedef enum rg_red_mode {
    RG_RED_AS_IS,   /* the primal's */
    RG_RED_PASS,    /* nothing: the accumulator passes */
    RG_RED_TIES,    /* counts elements that equal the result */
    RG_RED_NONZERO, /* multiplies those that are not zero */
    RG_RED_ZEROS    /* counts those that are */
} rg_red_mode;

typedef struct rg_adj {
    const rg_fn *f; /* primal */
    rg_fn *g;       /* adjoint being built */
    rg_build *b;
    rg_arena *arena;
    rg_diags *diags;
    const rg_activity *act;
    const rg_ad_options *options;
    rg_varied *varied;
    rg_keep *keep;       /* [f arrays] */
    rg_val *fwd;         /* [f vals] copy in g, of the latest forward sweep */
    rg_val *bar;         /* [f vals] cotangent so far; 0: zero */
    rg_aid *data;        /* [f arrays] array of g that stands for it; 0: none yet */
    rg_aid *grad;        /* [f arrays] its gradient; 0: none */
    rg_aid *scalar_grad; /* [params] */
    rg_saved **saved;    /* [f ins] loops */
    bool *seen;          /* [f vals] scratch of captured() */
    /* Results that deeper sweeps load instead of computing them again: kept.c. */
    rg_kept **kept; /* [f ins] innermost sweep first; NULL: nothing is kept */
    bool keeping;   /* this sweep stores what is kept for its root */
    RG_VEC(rg_kept_load) loads;
    RG_VEC(rg_iid) stores; /* of g: all that are for loads only */
    rg_val *old;           /* [f ins] store, addto: the value that it overwrote */
    rg_wholes *snapshots;  /* [f ins] parallel: tracked arrays as they were before it */
    rg_rid *life;      /* [f arrays] region of f that holds its alloc; the body for parameters */
    rg_rid root;       /* region of f that the current forward sweep started at */
    rg_rid frame;      /* region of g that holds what outlives an if */
    uint32_t in_if;    /* ifs of g between frame and here */
    rg_saved *logging; /* plain sweep inside this loop: log what is overwritten */
    bool in_parallel;
    rg_iid reversing; /* parallel of f whose backward sweep this is; 0: none */
    rg_ontos onto;    /* of the parallel being reversed, or counted */
    bool onto_counting;
    /* Counting sweeps over a parallel's body: what `red` becomes. */
    rg_red_mode red_mode;
    rg_iid parallel;                           /* of f, being swept backward or counted */
    rg_val *red_result, *red_ties, *red_zeros; /* [its reductions] */
} rg_adj;

_Noreturn void rg_adj_refuse(rg_adj *s, rg_loc loc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds g to the cotangent of v, if v has one. */
void rg_adj_add_bar(rg_adj *s, rg_val v, rg_val g);
/* Puts back what tracked memory held before write i. */
void rg_adj_undo_write(rg_adj *s, rg_iid i);

/* forward.c: is write i one that the iterations of the parallel being reversed do together, and
 * that is therefore not done in its sweep? */
bool rg_adj_is_left_out(const rg_adj *s, rg_iid i);
/* Copies region r into the current region of g. augmented: loops in it save what their
 * backward sweep needs, stores keep what they overwrite. */
void rg_adj_forward(rg_adj *s, rg_rid r, bool augmented);
void rg_adj_forward_one(rg_adj *s, rg_iid i, bool augmented); /* one instruction */
/* May several iterations of the parallel around it set one element by this atomic store (or rmw)?
 */
bool rg_adj_sets_together(const rg_adj *s, rg_iid access);
void rg_adj_indices(rg_adj *s, rg_iid access, rg_val *out);
/* max(hi - lo, 0) as i64. */
rg_val rg_adj_trip_count(rg_adj *s, rg_val lo, rg_val hi);
/* The reduction that a `red` belongs to: index among the parallel's reductions. */
uint32_t rg_adj_red_index(const rg_fn *f, rg_iid red, rg_iid parallel);

/* kept.c: costly results, computed once for each sweep of the region around their loops. keep_in:
 * before a loop (nest NULL: not inside another that it was called for), makes room. keep: after the
 * results of i were computed, stores and loads. decide: at the end. */
void rg_adj_keep_in(rg_adj *s, rg_iid loop, rg_kept *nest, rg_val *trips, int64_t all);
void rg_adj_keep(rg_adj *s, rg_iid i);
void rg_adj_keep_decide(rg_adj *s);
/* Of nests of `for`: was v of f computed before the loop is entered, or is it a constant? Such a v
 * in g. And the place in an array with an axis for each loop of the nest. */
bool rg_adj_known_before(const rg_fn *f, rg_val v, rg_iid loop);
rg_val rg_adj_bound(rg_adj *s, rg_val v);
void rg_adj_place(rg_adj *s, const rg_iid *loops, uint32_t n, rg_val *idx);

/* undo.c: writes whose place can be computed again. undoable: is every write to the array in the
 * loop one, directly in its body, or (nested) in counted loops there too? */
bool rg_adj_undoable(const rg_fn *f, rg_iid loop, rg_aid a, bool nested);
void rg_adj_undo_add(rg_adj *s, rg_iid loop, rg_iid store, rg_saved *out);
bool rg_adj_undo_log(rg_adj *s, rg_iid store, rg_val old);
void rg_adj_undo(rg_adj *s, rg_iid loop, const rg_saved *v, rg_val k);
/* Does a write to the array in the loop's body sweep over about all of it? */
bool rg_adj_sweeps(const rg_fn *f, rg_iid loop, rg_aid a);

/* state.c: saving and restoring tracked arrays */
void rg_adj_classify(rg_adj *s);
/* Makes the save arrays for the tracked arrays from outside that a loop writes. */
void rg_adj_prepare_saves(rg_adj *s, rg_iid loop, rg_saved *out);
void rg_adj_begin_iteration(rg_adj *s, rg_saved *v, rg_val k);
void rg_adj_log_store(rg_adj *s, rg_iid access, const rg_val *idx, rg_val old);
void rg_adj_restore_iteration(rg_adj *s, rg_saved *v, rg_val k);
void rg_adj_snapshot_alloc(rg_adj *s, rg_iid parallel);
void rg_adj_snapshot(rg_adj *s, rg_iid parallel);
void rg_adj_restore_snapshot(rg_adj *s, rg_iid parallel);
/* A local of g without operands at the start of the frame: lives across ifs. */
rg_aid rg_adj_frame_array(rg_adj *s, const char *name, const rg_elem *elem, uint32_t rank,
                          uint32_t flags);

/* order.c: may the reverse of a loop run in any order? (after its forward sweep) */
bool rg_adj_any_order(rg_adj *s, rg_iid loop);

/* reduce.c: min, max and product reductions */
void rg_adj_prepare_reductions(rg_adj *s, rg_iid parallel);
/* Integers that can count how often instruction `op` runs in the loop. */
rg_type rg_adj_count_type(const rg_fn *f, rg_iid parallel, rg_op op);
void rg_adj_red_backward(rg_adj *s, rg_iid red, rg_val g);
rg_val rg_adj_red_share(rg_adj *s, rg_red kind, uint32_t k, rg_val e, rg_val g);
/* e's part of cotangent g. min, max: result, ties; product: rest (the product of all that are not
 * zero), zeros. */
rg_val rg_adj_share(rg_adj *s, rg_red kind, rg_val e, rg_val g, rg_val result, rg_val rest_or_ties,
                    rg_val zeros);
/* Sweeps parallel p forward, its reductions passing. */
void rg_adj_sweep_parallel(rg_adj *s, rg_iid p);

/* atomic.c: min, max and products onto elements. find, after (the arrays hold what the parallel
 * left), count (they hold what was before it), then share for each value, and finish for what the
 * elements held before: shadow is [f arrays]. */
void rg_adj_onto_find(rg_adj *s, rg_iid parallel);
rg_onto *rg_adj_onto_of(const rg_adj *s, rg_aid array, uint32_t leaf);
void rg_adj_onto_after(rg_adj *s);
void rg_adj_onto_count(rg_adj *s, rg_iid parallel);
void rg_adj_onto_count_one(rg_adj *s, rg_onto *o, const rg_val *idx, rg_val v);
rg_val rg_adj_onto_share(rg_adj *s, const rg_onto *o, const rg_val *idx, rg_val e, rg_val g);
void rg_adj_onto_finish(rg_adj *s, const rg_aid *shadow);

/* export.c: values used outside the branch that computes them become results of its if. */
void rg_adj_export(rg_fn *g);

#endif
