/* Promotion of memory to SSA, inside: what the search (promote_find.c) hands to the walk
 * (promote.c). */
#ifndef RG_OPT_PROMOTE_H
#define RG_OPT_PROMOTE_H

#include "opt/rewrite.h"

typedef enum rg_variable_kind {
    RG_VAR_LOCAL, /* a scalar of a local array, for the array's whole life */
    RG_VAR_LOOP,  /* an element that a loop (or an if) reads and writes by an index that does not
                     change: loaded before, stored after */
    RG_VAR_SUM,   /* an element that a loop only adds to, atomically: summed from 0, added once */
    RG_VAR_RED    /* the same in a parallel: a reduction, added once after it */
} rg_variable_kind;

typedef struct rg_variable {
    rg_variable_kind kind;
    rg_aid array;
    uint32_t leaf;
    uint32_t number; /* LOCAL: which element, counted over the array's and the leaf's axes */
    rg_type type;
    rg_mem mem;
    rg_rid home;   /* LOCAL: region of the alloc */
    rg_iid scope;  /* others: the loop, if or parallel */
    uint32_t next; /* next variable of the same scope; 0 ends (variable 0 is unused) */
    rg_iid like;   /* others: an access, for index operands, flags and location */
    bool load;     /* LOOP: the value from before matters */
    bool safe;     /* the element may be read and written whether the loop runs or not */
    bool guard;    /* RED: only if the parallel has an iteration */
    const char *name;
} rg_variable;

typedef struct rg_variables {
    RG_VEC(rg_variable) list; /* [0] unused */
    uint32_t *of_ins;         /* by instruction: the variable that it accesses, 0: none */
    uint32_t *of_scope;       /* by instruction: first variable of that scope */
    rg_ids *stored;           /* by instruction with regions: variables stored inside that are
                                 alive around it, those of its own scope included */
    uint32_t *of_array;       /* by array: first LOCAL variable of it, and how many */
    uint32_t *n_of_array;
} rg_variables;

/* all: elements and reductions too, not rank-0 locals only. NULL when there is nothing to do. */
rg_variables *rg_promote_find(rg_fn *f, rg_arena *scratch, bool all);
/* Copies between a rank-0 local and one element become loads and stores. */
bool rg_promote_expand_copies(rg_fn *f, rg_arena *scratch);

#endif
