/* The parser's state, shared by the files that parse and check.
 *
 * Syntax errors jump to the nearest statement or declaration, which skips ahead and goes on;
 * errors of meaning yield nodes of type <error>, which nothing complains about again. */
#ifndef RG_LANG_PARSE_H
#define RG_LANG_PARSE_H

#include "base/table.h"
#include "lang/ast.h"
#include "lang/builtin.h"

#include <setjmp.h>

/* Keywords and punctuators, by number: comparing them costs nothing. */
typedef enum rg_code {
    RG_K_OTHER, /* constants, names, pragmas */
#define KEYWORD(id, text) RG_K_##id,
#define PUNCT(id, text) RG_P_##id,
#include "lang/codes.def"
#undef KEYWORD
#undef PUNCT
    RG_N_CODES
} rg_code;

typedef enum rg_sym_kind { RG_SYM_VAR, RG_SYM_TYPEDEF, RG_SYM_ENUM, RG_SYM_FUNC } rg_sym_kind;

typedef struct rg_sym {
    rg_sym_kind kind;
    const char *name;
    rg_loc loc;
    uint32_t depth;
    rg_var *var;
    rg_func *func;
    rg_ctype *type;
    int64_t value;
    struct rg_sym *hidden;   /* what it shadows */
    struct rg_sym *in_scope; /* next one declared in the same scope */
    bool is_tag;
} rg_sym;

typedef struct rg_scope {
    struct rg_scope *up;
    rg_sym *syms;
} rg_scope;

typedef struct rg_parser {
    rg_arena *arena;
    rg_diags *diags;
    rg_unit *unit;
    const rg_token *tok; /* all tokens */
    uint16_t *code;      /* code of each */
    uint32_t n, pos;
    rg_table names, tags;
    rg_scope *scope;
    uint32_t depth;   /* of scopes; 0: file */
    uint32_t nesting; /* of the recursion: bounded */
    rg_func *func;
    uint32_t vars;             /* number of variables declared so far */
    uint32_t breakable, loops; /* statements around that break, continue may leave */
    rg_stmt *cases;            /* innermost switch */
    uint32_t in_parallel, in_atomic, parallels;
    uint32_t parallel_breakable; /* a break with no more than this many around would leave it */
    jmp_buf *recover;
    bool in_parameters;
    bool math, stdlib;  /* <math.h>, <stdlib.h> were included: their functions may be called */
    bool tgmath;        /* <tgmath.h> was included: sin(x) goes by its argument */
    int64_t checkpoint; /* pragma waiting for its loop */
    rg_loc checkpoint_loc;
} rg_parser;

/* parse.c: tokens, names, recovery */
static inline rg_code rg_peek(const rg_parser *p) {
    return (rg_code)p->code[p->pos];
}
static inline const rg_token *rg_tok(const rg_parser *p) {
    return &p->tok[p->pos];
}
static inline rg_code rg_peek_at(const rg_parser *p, uint32_t ahead) {
    return p->pos + ahead < p->n ? (rg_code)p->code[p->pos + ahead] : RG_K_OTHER;
}
static inline bool rg_at_end(const rg_parser *p) {
    return p->tok[p->pos].kind == RG_TOK_END;
}
const rg_token *rg_next(rg_parser *p); /* never moves past the end */
bool rg_accept(rg_parser *p, rg_code c);
/* `where` completes "expected ';' ...": "after the declaration" */
void rg_expect(rg_parser *p, rg_code c, const char *where);
const char *rg_tok_text(rg_parser *p, const rg_token *t);
/* The text of tokens from..to-1, spaced as the user spaced them. */
const char *rg_tokens_text(rg_parser *p, uint32_t from, uint32_t to);
bool rg_is_name(const rg_parser *p); /* an identifier that is no keyword */
_Noreturn void rg_syntax_error(rg_parser *p, rg_loc loc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void rg_enter_scope(rg_parser *p);
void rg_leave_scope(rg_parser *p);
rg_sym *rg_find(rg_parser *p, const char *name);
rg_sym *rg_find_tag(rg_parser *p, const char *name);
/* Declares; an error when the scope already has the name and that is not allowed. */
rg_sym *rg_declare(rg_parser *p, rg_sym_kind k, const char *name, rg_loc loc);
rg_sym *rg_declare_tag(rg_parser *p, const char *name, rg_loc loc);
void rg_deeper(rg_parser *p, rg_loc loc); /* bounds recursion; pair with p->nesting-- */
rg_mark rg_here(const rg_parser *p);
/* Skips to after the ';' that ends the statement begun at start, or to the '}' that closes the
 * block around it. */
void rg_skip_statement(rg_parser *p, uint32_t start);

/* parse_decl.c */
bool rg_starts_type(rg_parser *p);
typedef enum rg_storage {
    RG_STORE_TYPEDEF = 1,
    RG_STORE_STATIC = 2,
    RG_STORE_EXTERN = 4,
    RG_STORE_INLINE = 8,
    RG_STORE_OTHER = 16 /* register, auto */
} rg_storage;
rg_ctype *rg_parse_type_name(rg_parser *p);
void rg_parse_unit(rg_parser *p);
/* A declaration inside a function, after which the position is past its ';'. */
rg_stmt *rg_parse_local_declaration(rg_parser *p);
rg_var *rg_var_new(rg_parser *p, const char *name, rg_ctype *t, rg_loc loc);

/* parse_struct.c */
rg_ctype *rg_parse_struct(rg_parser *p);
rg_ctype *rg_parse_enum(rg_parser *p);
rg_ctype *rg_parse_specifiers(rg_parser *p, uint32_t *storage);
typedef struct rg_declarator {
    const char *name; /* NULL: abstract */
    rg_loc loc;
    rg_ctype *type;
    RG_VEC(rg_var *) params; /* of the outermost function type */
} rg_declarator;
rg_declarator rg_parse_declarator(rg_parser *p, rg_ctype *base, bool abstract_ok);

/* parse_init.c */
void rg_parse_initializer(rg_parser *p, rg_var *v);

/* parse_expr.c */
rg_node *rg_parse_expr(rg_parser *p);
rg_node *rg_parse_assign(rg_parser *p);
rg_node *rg_parse_conditional(rg_parser *p);

/* parse_stmt.c */
rg_stmt *rg_parse_block(rg_parser *p); /* after '{', through '}' */
rg_stmt *rg_parse_statement(rg_parser *p);
rg_stmt *rg_stmt_new(rg_parser *p, rg_stmt_kind k, rg_loc loc);

/* pragma.c */
/* At a PRAGMA token inside a function: the statement that it governs, or NULL when it was a hint
 * or an unknown pragma, and nothing but the pragma was consumed. */
rg_stmt *rg_parse_pragma(rg_parser *p);
void rg_parse_file_pragma(rg_parser *p);

/* parse_parallel.c */
/* At what follows the pragma. */
rg_stmt *rg_parse_parallel(rg_parser *p, rg_parallel *par);
/* reduce.c: turns the updates of the parallel loop's reduction variables into REDUCE nodes, and
 * reports every other use. */
void rg_find_reductions(rg_parser *p, rg_stmt *par);
/* parse_atomic.c; compare: `atomic compare` */
rg_stmt *rg_parse_atomic(rg_parser *p, rg_loc loc, rg_atomic_kind kind, bool compare);

/* counted.c: the canonical form of a `for`, in s->counted */
void rg_counted_find(rg_parser *p, rg_stmt *s);

#endif
