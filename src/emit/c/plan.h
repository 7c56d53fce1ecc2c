/* The plan of a function's C text: what is a statement, what is an expression inside another
 * statement, which C variable each value lives in, and every name. Made once, printed any number of
 * times. */
#ifndef RG_EMIT_C_PLAN_H
#define RG_EMIT_C_PLAN_H

#include "base/table.h"
#include "ir/ir.h"

/* A C variable: one or more SSA values that are never alive together. */
typedef struct rg_cvar {
    const char *name;
    const char *base; /* the source's name, NULL for a temporary */
    rg_type type;
    rg_val first; /* the value at whose definition it is declared */
} rg_cvar;

/* A name, whether something in scope has it, and the next number to try behind it. */
typedef struct rg_cname {
    bool held;
    uint32_t next;
} rg_cname;
typedef struct rg_cundo {
    rg_cname *taken, *base;
    uint32_t next;
} rg_cundo;

enum { /* shape of a `loop` */
       RG_SHAPE_PLAIN,
       RG_SHAPE_WHILE, /* loop { ..; r = if c { b } else { args }; yield c, r } */
       RG_SHAPE_BODY   /* the `if` of such a loop: its then-branch is the rest of the body */
};

typedef struct rg_cplan {
    const rg_fn *f;
    rg_arena *arena;
    uint32_t *use_at;     /* [vals + 1] */
    rg_iid *use_list;     /* users of v: use_list[use_at[v] .. use_at[v + 1]) */
    uint32_t *uses;       /* [vals] uses that are printed */
    bool *live;           /* [vals] needed; for a carried value: its slot */
    bool *dead;           /* [ins] not printed: nothing that can be seen depends on it */
    uint32_t *pos;        /* [ins] place in its region's list */
    rg_iid *root;         /* [ins] the statement in whose text it is printed: itself if it is one */
    uint32_t *tin, *tout; /* [ins] first and last number in a walk of its subtree */
    bool *writes;         /* [regions] some instruction inside writes memory */
    bool *allocs;         /* [regions] some alloc inside (nested loops included) */
    uint8_t *shape;       /* [ins] RG_SHAPE_ */
    uint32_t *var;        /* [vals] index into vars; 0: none (an expression, or never used) */
    rg_val *held;         /* [vals] what lived in its variable before, and may be read meanwhile */
    rg_val *heir;         /* [vals] what its variable is promised to next */
    RG_VEC(rg_cvar) vars;
    const char **array_name;   /* [arrays] */
    const char ***extent_name; /* [arrays][rank] variable that holds an extent */
    const char **scalar_name;  /* [scalars] variable that holds a by-value leaf (flat dialects) */
    const char **param_name;   /* [params] */
    /* names in scope */
    rg_table names;
    RG_VEC(rg_cundo) undo;
} rg_cplan;

typedef struct rg_cplan_options {
    bool fold;         /* single-use values become part of expressions */
    bool extent_names; /* arrays' extents and by-value leaves have variables of their own */
    const char *const *reserved; /* NULL-terminated: names that no variable may take */
    const rg_activity *act;      /* parameters whose shadows have names even when the IR has none */
} rg_cplan_options;

rg_cplan *rg_cplan_make(rg_arena *a, const rg_fn *f, const rg_cplan_options *o);

/* A name like base that nothing in scope has; it goes out of scope with the region. */
const char *rg_cplan_name(rg_cplan *p, const char *base);

/* Printed in place, wherever it is used: constants, by-value parameters, extents. */
bool rg_cplan_inline(const rg_fn *f, rg_val v);
/* Part of the expression of its only user. */
static inline bool rg_cplan_folded(const rg_cplan *p, rg_val v) {
    rg_iid d = p->f->vals.at[v].def;
    return d && p->root[d] != d;
}
/* Is slot k (carried value, result, accumulator) of i printed at all? */
bool rg_cplan_slot_live(const rg_cplan *p, rg_iid i, uint32_t k);
/* C variable of slot k of a structured instruction. */
uint32_t rg_cplan_slot_var(const rg_cplan *p, rg_iid i, uint32_t k);

#endif
