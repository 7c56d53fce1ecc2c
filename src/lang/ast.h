/* The tree of a translation unit, typed as it is built.
 *
 * Expressions are rg_node with every implicit conversion made explicit as a CAST node, so lowering
 * never has to know C's conversion rules. Statements are rg_stmt. The parser numbers variable uses
 * and writes in textual order (rg_marks): "is x assigned in this loop's body" is a question about
 * an interval, answered without walking the tree again. */
#ifndef RG_LANG_AST_H
#define RG_LANG_AST_H

#include "lang/ctype.h"
#include "lang/token.h"

typedef struct rg_node rg_node;
typedef struct rg_stmt rg_stmt;
typedef struct rg_var rg_var;
typedef struct rg_func rg_func;
struct rg_binding; /* lowering's: what a variable stands for */

typedef enum rg_node_kind {
    RG_N_ERROR,
    RG_N_INT,      /* i */
    RG_N_REAL,     /* f */
    RG_N_VAR,      /* var */
    RG_N_MEMBER,   /* a . field */
    RG_N_INDEX,    /* a[b]; a is an array or a pointer */
    RG_N_DEREF,    /* *a */
    RG_N_ADDR,     /* &a */
    RG_N_NEG,      /* -a */
    RG_N_BITNOT,   /* ~a */
    RG_N_NOT,      /* !a */
    RG_N_BIN,      /* a op b, both of the result's type; shifts: b is promoted on its own */
    RG_N_CMP,      /* a op b, both of one type; the result is int */
    RG_N_LAND,     /* a && b */
    RG_N_LOR,      /* a || b */
    RG_N_COND,     /* a ? b : c */
    RG_N_COMMA,    /* a, b */
    RG_N_ASSIGN,   /* a = b */
    RG_N_OPASSIGN, /* a op= b; b has the type `compute`, in which the operation is done */
    RG_N_INCDEC,   /* ++ or --: op ADD or SUB; post */
    RG_N_CAST,     /* (type)a */
    RG_N_CALL,     /* func(args) */
    RG_N_MATH,     /* math(args), args converted to what it takes */
    RG_N_PTRADD,   /* pointer a + integer b; post: minus */
    RG_N_PTRDIFF,  /* a - b */
    RG_N_PTRCMP,   /* a op b on pointers */
    RG_N_LITERAL,  /* compound literal: var with its initialiser */
    RG_N_REDUCE    /* update of the reduction variable a by args in turn; op: rg_red */
} rg_node_kind;

struct rg_math; /* builtin.h */

struct rg_node {
    uint8_t kind; /* rg_node_kind */
    bool post;    /* INCDEC: value before; PTRADD: subtract */
    uint8_t op;   /* rg_op */
    rg_loc loc;
    rg_ctype *type;
    rg_ctype *compute;
    rg_node *a, *b, *c;
    union {
        int64_t i;
        double f;
        rg_var *var;
        uint32_t field;
        struct {
            union {
                rg_func *func;
                const struct rg_math *math;
            };
            rg_node **args;
            uint32_t nargs;
        };
    };
};

/* One scalar or struct stored by an initialiser: target is an lvalue of the variable. */
typedef struct rg_init {
    rg_node *target, *value;
} rg_init;

struct rg_var {
    const char *name;
    rg_ctype *type;       /* of a parameter: after adjustment to a pointer */
    rg_ctype *array_type; /* of a parameter declared as an array: the type as declared */
    rg_loc loc;
    uint32_t id;   /* order of declaration */
    rg_func *func; /* whose parameter or local; NULL: at file scope */
    bool is_param;
    bool is_static;     /* constant data: lives at kernel level */
    bool ready;         /* static: its initialiser was seen */
    bool has_init;      /* declared with an initialiser */
    bool reseated;      /* pointer: assigned from something else than itself */
    bool zero_rest;     /* the initialiser leaves something out: all starts as zero */
    bool address_taken; /* &x, or an array passed on or kept in a pointer */
    RG_VEC(rg_init) init;
    RG_VEC(uint32_t) writes; /* marks of the writes other than the initialiser, ascending */
    rg_loc last_write;
    struct rg_binding *bind;
    uint32_t seen; /* number of the parallel loop that last counted it */
};

/* A place in the order of the text. */
typedef struct rg_mark {
    uint32_t writes, refs, vars;
} rg_mark;

typedef struct rg_use {
    rg_var *var;
    rg_loc loc;
    bool atomic; /* in the statement of an atomic construct */
    const rg_node *node;
} rg_use;

typedef struct rg_write {
    rg_var *var;
    rg_loc loc;
    bool atomic; /* by the statement of an atomic construct */
} rg_write;

typedef enum rg_stmt_kind {
    RG_S_EMPTY,
    RG_S_EXPR,
    RG_S_DECL,  /* vars */
    RG_S_BLOCK, /* list */
    RG_S_IF,
    RG_S_FOR, /* init, cond, step, body */
    RG_S_WHILE,
    RG_S_DO,
    RG_S_SWITCH, /* e; body; cases */
    RG_S_CASE,   /* a label before what follows in its block: case index, or the default */
    RG_S_BREAK,
    RG_S_CONTINUE,
    RG_S_RETURN,
    RG_S_PARALLEL, /* body: the outermost for; par */
    RG_S_ATOMIC    /* atomic */
} rg_stmt_kind;

enum { RG_J_BREAK = 1, RG_J_CONTINUE = 2, RG_J_RETURN = 4 };

/* A canonical loop: v runs from lo by step while v rel hi. */
typedef struct rg_counted {
    rg_var *var;
    rg_node *lo;   /* of var's type */
    rg_node *hi;   /* of the comparison's type */
    rg_ctype *cmp; /* type that the comparison is made in */
    rg_op rel;     /* LT LE GT GE NE, with the variable on the left */
    int64_t step;
    bool declares;   /* the variable belongs to the loop */
    bool countdown;  /* for (v = lo; v-- > hi;) */
    const char *why; /* NULL: canonical; else what is missing */
    rg_loc why_loc;
} rg_counted;

typedef struct rg_clause_var {
    rg_var *var;
    rg_loc loc;
    rg_red red;
} rg_clause_var;

typedef struct rg_parallel {
    uint32_t collapse;
    rg_counted *loops[3];
    rg_stmt *inner; /* body of the innermost associated loop */
    RG_VEC(rg_clause_var) reductions, privates, firstprivates, shared;
    bool default_none;
    bool doubtful;        /* a clause was not understood: who shares what is not known */
    rg_mark begin, end;   /* of the innermost body */
    RG_VEC(rg_use) reads; /* outer variables that the body uses, each once */
    rg_loc loc;
} rg_parallel;

typedef enum rg_atomic_kind {
    RG_A_UPDATE, /* target op= value */
    RG_A_READ,   /* result = target */
    RG_A_WRITE,  /* target = value */
    RG_A_CAPTURE /* result = target before or after the update */
} rg_atomic_kind;

typedef struct rg_atomic {
    rg_atomic_kind kind;
    rg_red red;                       /* RG_RED_SET: exchange */
    bool negate;                      /* -=: the value is subtracted */
    bool after;                       /* capture: the value after */
    rg_node *target, *value, *result; /* value has target's type */
} rg_atomic;

typedef struct rg_case {
    int64_t value;
    bool is_default;
    rg_loc loc;
} rg_case;

struct rg_stmt {
    uint8_t kind;
    uint8_t jumps; /* RG_J_: may leave to that target */
    bool always;   /* never completes normally */
    rg_loc loc;
    rg_node *e; /* expression, condition, returned value, switch value */
    rg_node *step;
    rg_stmt *init;
    rg_stmt *body, *other;
    rg_stmt **list;
    uint32_t n;
    rg_var **vars;         /* DECL */
    RG_VEC(rg_case) cases; /* SWITCH */
    uint32_t label;        /* CASE: index into the switch's cases */
    rg_mark begin, end;    /* of the body of a loop */
    rg_counted *counted;   /* FOR */
    rg_parallel *par;
    rg_atomic *atomic;
    int64_t checkpoint; /* steps between checkpoints; -1: about sqrt of all; 0: no pragma */
};

typedef struct rg_callee {
    rg_func *func;
    rg_loc loc;
} rg_callee;

struct rg_func {
    const char *name;
    rg_loc loc;
    rg_ctype *type;
    RG_VEC(rg_var *) params;
    rg_stmt *body; /* NULL: only declared */
    bool is_static, is_kernel;
    bool is_stop; /* named rg_stop: stops the gradient */
    RG_VEC(rg_callee) calls;
    RG_VEC(rg_var *) statics; /* constant data that it uses, each once */
    uint32_t visit;           /* for walks over calls: 0 new, 1 open, 2 done */
    bool tail_only;           /* its only return is its last statement */
    rg_func *adjoint;         /* by pragma; NULL: derived */
};

/* `#pragma retrograd adjoint(of) = by`, until all functions are known. */
typedef struct rg_adjoint_pragma {
    const char *of, *by;
    rg_loc of_loc, by_loc;
} rg_adjoint_pragma;

typedef struct rg_unit {
    rg_arena *arena;
    rg_diags *diags;
    rg_module *module;
    RG_VEC(rg_func *) funcs; /* in order of first declaration */
    RG_VEC(rg_adjoint_pragma) adjoints;
    RG_VEC(rg_use) refs;     /* every use of a variable, in order of the text */
    RG_VEC(rg_write) writes; /* every write of one */
} rg_unit;

/* Is var written between two marks? */
static inline bool rg_var_written(const rg_var *v, rg_mark from, rg_mark to) {
    uint32_t lo = 0, hi = v->writes.n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (v->writes.at[mid] < from.writes)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < v->writes.n && v->writes.at[lo] < to.writes;
}

#endif
