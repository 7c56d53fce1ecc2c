/* Lowering: from the checked tree to the IR.
 *
 * A mutable scalar or struct becomes a rank-0 local array; what never changes after its
 * initialiser is bound to SSA values at once. An object's position is a place: an array, a leaf of
 * its element, and the indices so far; a pointer's value is the place that it points at, so
 * pointers vanish here. Jumps become flags (lower_stmt.c). Device functions are lowered anew at
 * each call with their parameters bound to the arguments. */
#ifndef RG_LANG_LOWER_H
#define RG_LANG_LOWER_H

#include "ir/build.h"
#include "lang/ast.h"

enum { RG_PLACE_AXES = 12 };

typedef struct rg_ref {
    rg_ctype *type; /* of the object there */
    bool bad;       /* an error was reported */
    bool steps;     /* the last index may move: it is an element of an array */
    bool atomic;
    bool cotangent; /* in an adjoint by the user: of an array's element; += is the adjoint's own */
    bool sums;      /* ... which can only be added to */
    const rg_val *vals; /* not NULL: no memory, these are the values of its leaves */
    rg_aid array;
    uint32_t leaf; /* first leaf of the object */
    uint32_t n;
    rg_val idx[RG_PLACE_AXES];
    /* &m[0][0] walks over several axes: this many, from that one on. The index of the last of them
     * counts through all, the others are 0, until the object is loaded or stored. */
    uint32_t flat, flat_at;
} rg_ref;

typedef enum rg_binding_kind {
    RG_BIND_VALUES, /* vals: one per leaf */
    RG_BIND_LOCAL,  /* array */
    RG_BIND_PTR,    /* ptr: a pointer that never moves */
    RG_BIND_PTRVAR, /* ptr, with each index in a hidden local; array 0: not pointed yet */
    RG_BIND_REDUCE  /* array: the accumulator's local */
} rg_binding_kind;

typedef struct rg_binding {
    rg_binding_kind kind;
    rg_val *vals; /* LOCAL: of a by-value parameter that is never written: its scalars */
    rg_aid array;
    rg_ref ptr;
    rg_aid idx[RG_PLACE_AXES]; /* PTRVAR: 0 where the index is ptr's and never changes */
    rg_red red;
    bool logical;  /* REDUCE: the values count as 0 or 1 */
    rg_loc set_at; /* PTRVAR: where it got its array */
    bool hoisted;  /* LOCAL: came to life before the switch around its declaration */
} rg_binding;

typedef struct rg_frame {
    struct rg_frame *up;
    const rg_func *func;
    rg_loc call;     /* 0: the kernel itself */
    rg_aid returned; /* flag, 0: not needed */
    rg_aid result;   /* rank-0 local, 0: the value is in `value` */
    rg_val value;
    rg_ref place;     /* struct result */
    rg_aid brk, cont; /* flags of the innermost loop or switch; 0: none */
} rg_frame;

typedef struct rg_lower {
    rg_arena *arena;
    rg_diags *diags;
    rg_unit *unit;
    rg_fn *fn;
    rg_build *b;
    rg_frame *frame;
    bool in_parallel;
    bool in_own;     /* in a function that has an adjoint by the user, or in that adjoint */
    bool in_adjoint; /* in the latter */
    uint32_t depth;  /* of branches */
    bool too_large;  /* reported */
} rg_lower;

/* lower.c */
bool rg_lower_unit(rg_unit *u);
rg_val rg_lower_call(rg_lower *l, rg_node *n, rg_ref *result);
/* The body of f, whose parameters are bound. */
rg_val rg_lower_function(rg_lower *l, rg_func *f, rg_loc call, rg_ref *result);
rg_binding *rg_bind(rg_lower *l, rg_var *v, rg_binding_kind k);
void rg_bind_value(rg_lower *l, rg_var *v, rg_val x);
void rg_bind_number(rg_lower *l, rg_var *v, rg_val x); /* a parameter, which may be assigned */
/* Binds v to a fresh local object; zero: starts as zero. */
void rg_bind_local(rg_lower *l, rg_var *v, bool zero);
void rg_bind_place(rg_lower *l, rg_var *v, const rg_ref *from); /* to a copy of a struct */
/* Stores the scalars of a by-value parameter with arrays inside into its local. */
void rg_store_scalars(rg_lower *l, rg_var *v, const rg_val *vals);
void rg_bind_pointer(rg_lower *l, rg_var *v, const rg_ref *to);
void rg_lower_decl(rg_lower *l, rg_var *v);
/* Stores the initialiser's pairs into v's object. */
void rg_lower_init(rg_lower *l, rg_var *v);
/* One scalar leaf after another, none of them in an array inside: may be SSA values. */
bool rg_is_flat(const rg_ctype *t);
rg_aid rg_hidden_local(rg_lower *l, const char *name, rg_type t);
void rg_hidden_set(rg_lower *l, rg_aid a, rg_val v);
rg_val rg_hidden_get(rg_lower *l, rg_aid a);

/* lower_custom.c: a call of a function that has an adjoint by the user. given: its arguments. */
typedef struct rg_given {
    rg_val *vals; /* of a number or a struct: its leaves */
    rg_ref at;    /* of a pointer */
} rg_given;
rg_val rg_lower_own_call(rg_lower *l, rg_node *n, const rg_given *given);

/* lower_place.c */
rg_ref rg_lower_place(rg_lower *l, rg_node *n);   /* lvalues, and struct values of any kind */
rg_ref rg_lower_pointer(rg_lower *l, rg_node *n); /* where a pointer or array points */
rg_ref rg_place_var(rg_lower *l, rg_var *v, rg_loc loc);
rg_ref rg_place_bad(rg_lower *l, rg_ctype *t);
rg_ref rg_place_field(rg_ref p, const rg_ctype *st, uint32_t field);
rg_ref rg_place_shift(rg_lower *l, rg_ref p, rg_val by, bool minus, rg_loc loc);
rg_ref rg_place_decay(rg_lower *l, rg_ref p, rg_loc loc);
/* With an index for each axis, for an access. */
rg_ref rg_place_indexed(rg_lower *l, const rg_ref *p);
rg_val rg_place_load(rg_lower *l, const rg_ref *p);
void rg_place_store(rg_lower *l, const rg_ref *p, rg_val v);
void rg_place_copy(rg_lower *l, const rg_ref *to, const rg_ref *from);
/* The leaves of a flat object, loaded. */
rg_val *rg_place_values(rg_lower *l, const rg_ref *p);
void rg_pointer_assign(rg_lower *l, rg_var *v, const rg_ref *to, rg_loc loc);

/* lower_expr.c */
rg_val rg_lower_value(rg_lower *l, rg_node *n); /* arithmetic types */
rg_val rg_lower_cond(rg_lower *l, rg_node *n);  /* bool */
void rg_lower_effect(rg_lower *l, rg_node *n);  /* value unused */
rg_val rg_lower_convert(rg_lower *l, rg_val v, const rg_ctype *from, const rg_ctype *to);
bool rg_is_cheap(const rg_node *n); /* may be computed without being needed */

/* lower_math.c */
rg_val rg_lower_math(rg_lower *l, rg_node *n); /* tests: bool */

/* lower_stmt.c */
void rg_lower_stmt(rg_lower *l, rg_stmt *s);
void rg_lower_body(rg_lower *l, rg_stmt *s); /* a loop's: with a fresh flag for continue */

/* lower_loop.c */
void rg_lower_for(rg_lower *l, rg_stmt *s);
void rg_lower_while(rg_lower *l, rg_stmt *s); /* while, do, and any for */
/* An upward range lo..hi for the loop, and how its variable follows from the IR's. */
typedef struct rg_range {
    rg_val lo, hi; /* of one integer type */
    rg_val start;  /* not 0: var = start + iv * step */
    int64_t step;
    bool reverse;
    rg_val final; /* the variable's value after the loop; 0: not asked for */
} rg_range;
rg_range rg_lower_range(rg_lower *l, const rg_counted *c, bool final);
rg_val rg_range_var(rg_lower *l, const rg_range *r, rg_val iv, rg_type t);

/* lower_switch.c, lower_atomic.c, lower_parallel.c */
void rg_lower_switch(rg_lower *l, rg_stmt *s);
void rg_lower_atomic(rg_lower *l, rg_stmt *s);
void rg_lower_parallel(rg_lower *l, rg_stmt *s);

/* race.c: stores that every iteration of the parallel loop makes to one element */
void rg_find_races(rg_lower *l, rg_iid parallel, rg_aid first_inside);

#endif
