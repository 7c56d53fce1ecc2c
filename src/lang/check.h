/* Checked construction of expressions: each function takes typed operands, applies C's constraints
 * and conversions, reports what is wrong, and returns a typed node. */
#ifndef RG_LANG_CHECK_H
#define RG_LANG_CHECK_H

#include "lang/parse.h"

rg_node *rg_node_new(rg_parser *p, rg_node_kind k, rg_loc loc, rg_ctype *t);
rg_node *rg_node_error(rg_parser *p, rg_loc loc);
rg_node *rg_node_int(rg_parser *p, rg_loc loc, rg_ctype *t, int64_t v);
static inline bool rg_node_bad(const rg_node *n) {
    return n->type->kind == RG_C_ERROR;
}
rg_node *rg_check_var(rg_parser *p, rg_loc loc, rg_var *v);
rg_node *rg_check_member(rg_parser *p, rg_loc loc, rg_node *a, const char *field, rg_loc at);
rg_node *rg_check_index(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b);
rg_node *rg_check_deref(rg_parser *p, rg_loc loc, rg_node *a);
rg_node *rg_check_addr(rg_parser *p, rg_loc loc, rg_node *a);
rg_node *rg_check_unary(rg_parser *p, rg_loc loc, rg_node_kind k, rg_node *a);
/* +, -, *, /, %, &, |, ^, <<, >> by their IR op */
rg_node *rg_check_binary(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b);
rg_node *rg_check_compare(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b);
rg_node *rg_check_logical(rg_parser *p, rg_loc loc, rg_node_kind k, rg_node *a, rg_node *b);
rg_node *rg_check_cond(rg_parser *p, rg_loc loc, rg_node *c, rg_node *a, rg_node *b);
rg_node *rg_check_comma(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b);
rg_node *rg_check_assign(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b);
rg_node *rg_check_opassign(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b);
rg_node *rg_check_incdec(rg_parser *p, rg_loc loc, rg_op op, bool post, rg_node *a);
rg_node *rg_check_cast(rg_parser *p, rg_loc loc, rg_ctype *t, rg_node *a);
rg_node *rg_check_call(rg_parser *p, rg_loc loc, rg_func *f, rg_node **args, uint32_t n);
rg_node *rg_check_math(rg_parser *p, rg_loc loc, const rg_math *m, rg_node **args, uint32_t n);
/* As if assigned to an object of type t; what: "initialise", "assign", "pass", "return". */
rg_node *rg_check_convert(rg_parser *p, rg_node *a, rg_ctype *t, const char *what);
rg_node *rg_check_condition(rg_parser *p, rg_node *a); /* scalar, else an error */

/* The variable whose object an lvalue lies in (through members and indices); NULL: none. */
rg_var *rg_node_base(const rg_node *lvalue);
/* Does writing the lvalue change the variable itself, rather than what a pointer points to? */
bool rg_node_is_own(const rg_node *lvalue);
void rg_note_write(rg_parser *p, rg_node *lvalue, rg_loc loc);
void rg_note_write_var(rg_parser *p, rg_var *v, rg_loc loc);
/* Same expression, without effects? */
bool rg_node_equal(const rg_node *a, const rg_node *b);
/* Calls visit on n and all nodes below it. */
void rg_node_walk(rg_node *n, void (*visit)(void *user, rg_node *n), void *user);

/* constexpr.c */
bool rg_const_int(rg_parser *p, const rg_node *n, int64_t *out);
bool rg_const_value(const rg_node *n, int64_t *i, double *f); /* by the node's type */

#endif
