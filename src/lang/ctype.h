/* C types of kernel C, as the parser and the checker see them.
 *
 * An LP64 machine whatever the host is: long and long long have 64 bits, plain char is signed.
 * Types are immutable once built and compared by rg_ctype_same; const is part of the object that
 * stands for a type, never of its identity. */
#ifndef RG_LANG_CTYPE_H
#define RG_LANG_CTYPE_H

#include "ir/ir.h"

typedef enum rg_ckind {
    RG_C_ERROR, /* an error was already reported: every use is silently accepted */
    RG_C_VOID,
    RG_C_BOOL,
    RG_C_CHAR,
    RG_C_UCHAR,
    RG_C_SHORT,
    RG_C_USHORT,
    RG_C_INT,
    RG_C_UINT,
    RG_C_LONG,
    RG_C_ULONG,
    RG_C_HALF,
    RG_C_FLOAT,
    RG_C_DOUBLE,
    RG_C_STRUCT,
    RG_C_ARRAY,
    RG_C_PTR,
    RG_C_FUNC
} rg_ckind;

struct rg_node;
struct rg_ctype;

typedef struct rg_cfield {
    const char *name;
    struct rg_ctype *type;
    uint32_t first_leaf; /* index of its first scalar among the struct's */
    rg_loc loc;
} rg_cfield;

typedef struct rg_cstruct {
    const char *tag;  /* NULL: none */
    const char *name; /* first typedef's name, else the tag */
    RG_VEC(rg_cfield) fields;
    bool complete;
    uint32_t nleaves;
    rg_elem *elem; /* made on first use by rg_ctype_elem */
    rg_loc loc;
} rg_cstruct;

typedef struct rg_ctype {
    rg_ckind kind;
    bool is_const;
    struct rg_ctype *base;    /* array: element; pointer: pointee; function: result */
    int64_t len;              /* array: constant length; -1: not constant or not given */
    struct rg_node *len_expr; /* array: length when it is not constant */
    const char *len_text;     /* array: the length as the user wrote it; NULL: "[]" */
    rg_cstruct *st;
    RG_VEC(struct rg_var *) params; /* function */
} rg_ctype;

rg_ctype *rg_ctype_basic(rg_ckind k); /* static storage */
rg_ctype *rg_ctype_const(rg_arena *a, rg_ctype *t);
rg_ctype *rg_ctype_ptr(rg_arena *a, rg_ctype *to);
rg_ctype *rg_ctype_array(rg_arena *a, rg_ctype *elem, int64_t len);
rg_ctype *rg_ctype_new(rg_arena *a, rg_ckind k);

static inline bool rg_ctype_is_int(const rg_ctype *t) {
    return t->kind >= RG_C_BOOL && t->kind <= RG_C_ULONG;
}
static inline bool rg_ctype_is_float(const rg_ctype *t) {
    return t->kind >= RG_C_HALF && t->kind <= RG_C_DOUBLE;
}
static inline bool rg_ctype_is_arith(const rg_ctype *t) {
    return t->kind >= RG_C_BOOL && t->kind <= RG_C_DOUBLE;
}
static inline bool rg_ctype_is_error(const rg_ctype *t) {
    return t->kind == RG_C_ERROR;
}
bool rg_ctype_is_unsigned(const rg_ctype *t);
bool rg_ctype_same(const rg_ctype *a, const rg_ctype *b);
/* Integer promotion; half becomes float. */
rg_ctype *rg_ctype_promote(rg_ctype *t);
/* The usual arithmetic conversions. */
rg_ctype *rg_ctype_common(rg_ctype *a, rg_ctype *b);

rg_mem rg_ctype_mem(const rg_ctype *t);    /* arithmetic types only */
rg_type rg_ctype_value(const rg_ctype *t); /* arithmetic types only */
/* Scalars inside one object of type t: 1 for arithmetic types, those of a struct; arrays count
 * their element's. */
uint32_t rg_ctype_leaves(const rg_ctype *t);
/* Bytes; -1 when not constant (or not an object type). */
int64_t rg_ctype_size(const rg_ctype *t);
/* The IR's element type for an arithmetic or struct type; structs are registered in m. */
rg_elem *rg_ctype_elem(rg_module *m, rg_ctype *t);
/* As a user would write it: "const float *". */
const char *rg_ctype_name(rg_arena *a, const rg_ctype *t);
/* Innermost element of an array type and the number of its axes. */
rg_ctype *rg_ctype_innermost(rg_ctype *t, uint32_t *axes);

#endif
