/* The printer of the C family: expressions, statements and structure, steered by a dialect.
 *
 * A dialect is a table of spellings and a few functions for what really differs: how parallel loops
 * start, where local arrays live, how memory is shared. A new one is a new table. */
#ifndef RG_EMIT_C_PRINTER_H
#define RG_EMIT_C_PRINTER_H

#include "base/text.h"
#include "emit/c/helpers.h"
#include "emit/c/plan.h"

struct rg_cprint;

typedef struct rg_cdialect {
    const char *type[RG_N_TYPES];
    const char *mem[RG_N_MEMS]; /* f16: what holds its bits */
    const char *float_suffix;   /* maths functions of float */
    bool flat;       /* arrays are one pointer, the index is computed; else C's own arrays */
    bool bit_logic;  /* `and` and `or` of bools as & and |: no branches */
    bool own_minmax; /* fmin and fmax through helpers that vectorise */
    void (*parallel)(struct rg_cprint *p, rg_iid i);
    void (*alloc)(struct rg_cprint *p, rg_iid i);
    /* Around one iteration of a loop's body, and at the end of every region. */
    void (*enter)(struct rg_cprint *p, rg_rid body);
    void (*leave)(struct rg_cprint *p, rg_rid r, bool body);
    void (*hint)(struct rg_cprint *p, rg_iid i); /* a line above a `for`; may be NULL */
    void (*load)(struct rg_cprint *p, rg_iid i); /* atomic, or checked */
    void (*store)(struct rg_cprint *p, rg_iid i);
    void (*addto)(struct rg_cprint *p, rg_iid i);
    void (*rmw)(struct rg_cprint *p, rg_iid i);
    void (*copy)(struct rg_cprint *p, rg_iid i);
    /* Integer division, remainder or shift in checked mode; true when printed. May be NULL. */
    bool (*risky)(struct rg_cprint *p, rg_iid i);
} rg_cdialect;

typedef struct rg_cprint {
    const rg_fn *f;
    rg_cplan *plan;
    const rg_cdialect *d;
    rg_arena *arena;
    rg_text *out;
    int indent;
    rg_chelpers *helpers;
    bool checked;
    bool *flat;     /* [arrays] one pointer although the dialect is not flat */
    uint32_t *mark; /* [vars] scratch of the ordering of yields; all zero between uses */
    void *user;     /* the dialect's own state */
} rg_cprint;

void rg_c_init(rg_cprint *p, rg_arena *a, const rg_fn *f, rg_cplan *plan, const rg_cdialect *d,
               rg_chelpers *h, rg_text *out);

/* Precedences of C, for the `least` that an operand must have to go without parentheses. */
enum {
    RG_P_ANY = 0,
    RG_P_ASSIGN = 1,
    RG_P_COND,
    RG_P_LOR,
    RG_P_LAND,
    RG_P_OR,
    RG_P_XOR,
    RG_P_AND,
    RG_P_EQ,
    RG_P_REL,
    RG_P_SHIFT,
    RG_P_ADD,
    RG_P_MUL,
    RG_P_UNARY,
    RG_P_POSTFIX
};

/* Expression of value v: its variable's name, a literal, or the operation itself. */
void rg_c_expr(rg_cprint *p, rg_val v, int least);
/* The opposite of bool v. */
void rg_c_not(rg_cprint *p, rg_val v);
/* The operation of instruction i, whether or not its result has a variable. */
void rg_c_op(rg_cprint *p, rg_iid i, int least);
/* The element that load, store, addto or rmw i touches; array: its name, NULL for the usual. */
void rg_c_place(rg_cprint *p, rg_iid i);
/* Index into the elements of array a (flat), for n axes from operand `first` of i, and the later
 * axes 0. */
void rg_c_flat_index(rg_cprint *p, rg_iid i, rg_aid a, uint32_t first, uint32_t n);
/* Number of elements along axis, as an int64_t operand of a product. */
void rg_c_extent(rg_cprint *p, rg_aid a, uint32_t axis);
bool rg_c_extent_const(const rg_fn *f, rg_aid a, uint32_t axis, int64_t *out);
void rg_c_literal_int(rg_text *t, rg_type type, int64_t v, bool whole_type);
void rg_c_literal_real(rg_text *t, rg_type type, double v);
/* acc combined with x: both texts; names a maths function or an operator. */
const char *rg_c_combine(rg_cprint *p, rg_red kind, rg_type t, const char *acc, const char *x);
void rg_c_red_identity(rg_cprint *p, rg_red kind, rg_type t);

/* Text of an int64_t that is converted to one anyway: without a cast before a name. */
const char *rg_c_bare(const char *text);
/* Number of elements of array a as a size_t product, "" for one; "rg_count(n) * 3". */
const char *rg_c_count_text(rg_cprint *p, rg_aid a);
/* The same without the axes before `first`. */
const char *rg_c_count_from_text(rg_cprint *p, rg_aid a, uint32_t first);
/* Bytes of array a when all its extents are constants and it is no larger than most; else 0. */
uint64_t rg_c_small_array(const rg_fn *f, rg_aid a, uint64_t most);
/* First element of array a at the n leading indices from operand 0 of copy i. */
const char *rg_c_slice_text(rg_cprint *p, rg_iid i, rg_aid a, uint32_t n);

void rg_c_line(rg_cprint *p); /* starts a line: the indentation */
void rg_c_region(rg_cprint *p, rg_rid r);
void rg_c_instruction(rg_cprint *p, rg_iid i);
/* Assigns what region b of i yields to the variables of i's slots. */
void rg_c_yield(rg_cprint *p, rg_iid i, uint32_t b);
/* Starting values of i's slots. */
void rg_c_inits(rg_cprint *p, rg_iid i);
/* "T name = " or "name = " on a new line. */
void rg_c_define(rg_cprint *p, rg_val v);
/* Header of a counted loop: "for (T i = lo; i < hi; i++)" with texts for the bounds. */
void rg_c_for_header(rg_cprint *p, rg_val iv, const char *lo, const char *hi, bool reverse);
const char *rg_c_expr_text(rg_cprint *p, rg_val v, int least);
const char *rg_c_place_text(rg_cprint *p, rg_iid i);

/* write.c: the value that a store, addto or rmw writes or adds; as what a store puts there. */
rg_val rg_c_stored(const rg_fn *f, const rg_ins *s);
const char *rg_c_stored_text(rg_cprint *p, rg_iid i);
/* An addto that meets no other iteration, as a statement on a line begun. */
void rg_c_plain_add(rg_cprint *p, rg_iid i);
/* The call of the helper that does an rmw (or adds) in one step; now: for its new value. */
void rg_c_call_rmw(rg_cprint *p, rg_iid i, rg_red kind, bool now);
/* A name that nothing else in the function has. */
const char *rg_c_fresh(rg_cprint *p, const char *base);
const char *rg_c_var(const rg_cprint *p, rg_val v); /* name of v's variable, NULL: none */

/* Declarations of the struct types that f's parameters and arrays use. */
void rg_c_structs(rg_text *t, const rg_cdialect *d, const rg_fn *f, bool *done, const char *prefix);
const char *rg_c_elem(const rg_cdialect *d, rg_arena *a, const rg_elem *e, const char *prefix);

#endif
