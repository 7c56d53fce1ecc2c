/* Declarations: the translation unit, functions, constants, locals. */
#include "lang/check.h"

#include <string.h>

rg_var *rg_var_new(rg_parser *p, const char *name, rg_ctype *t, rg_loc loc) {
    rg_var *v = RG_NEW(p->arena, rg_var);
    v->name = name;
    v->type = t;
    v->loc = loc;
    v->id = p->vars++;
    v->func = p->func;
    return v;
}

static void declare_typedef(rg_parser *p, const rg_declarator *d) {
    rg_sym *old = rg_find(p, d->name);
    if (old && old->depth == p->depth && old->kind == RG_SYM_TYPEDEF &&
        rg_ctype_same(old->type, d->type))
        return; /* C11 6.7p3 */
    rg_ctype *t = d->type, *in = rg_ctype_innermost(t, NULL);
    if (in->kind == RG_C_FUNC || (in->kind == RG_C_PTR && in->base->kind == RG_C_FUNC)) {
        rg_error(p->diags, d->loc, "pass an enum and switch over it",
                 "function pointers are not supported");
        t = rg_ctype_basic(RG_C_ERROR);
    }
    for (const rg_ctype *x = t; x->kind == RG_C_ARRAY; x = x->base)
        if (x->len < 0 && t->kind != RG_C_ERROR) {
            rg_error(p->diags, d->loc, "declare the array itself with that length",
                     "the length of an array type must be constant");
            t = rg_ctype_basic(RG_C_ERROR);
        }
    if (t->kind == RG_C_STRUCT && !t->st->name)
        t->st->name = d->name;
    rg_declare(p, RG_SYM_TYPEDEF, d->name, d->loc)->type = t;
}

/* Makes an object's type usable or an error; says what is wrong. */
static rg_ctype *object_type(rg_parser *p, const rg_declarator *d) {
    rg_ctype *in = rg_ctype_innermost(d->type, NULL);
    const char *hint = NULL;
    rg_ctype *to = in->kind == RG_C_PTR ? rg_ctype_innermost(in->base, NULL) : NULL;
    if (to && to->kind == RG_C_FUNC) {
        rg_error(p->diags, d->loc, "call the functions by name, under an if or switch",
                 "function pointers are not supported");
    } else if (to && in != d->type) {
        rg_error(p->diags, d->loc, "keep indices in an array instead",
                 "pointers inside an array cannot be followed");
    } else if (to && (to->kind == RG_C_PTR || to->kind == RG_C_VOID)) {
        hint = to->kind == RG_C_PTR ? "use an array of two axes, or an index"
                                    : "name the type it points to";
        rg_error(p->diags, d->loc, hint, "a pointer of type '%s' cannot be followed",
                 rg_ctype_name(p->arena, in));
    } else if (in->kind == RG_C_VOID) {
        rg_error(p->diags, d->loc, NULL, "'%s' cannot be void", d->name);
    } else if (in->kind == RG_C_STRUCT && !in->st->complete) {
        rg_error(p->diags, d->loc, "define the struct above", "'%s' is incomplete",
                 rg_ctype_name(p->arena, in));
    } else {
        return d->type;
    }
    return rg_ctype_basic(RG_C_ERROR);
}

static void check_constant_init(rg_parser *p, const rg_var *v) {
    for (uint32_t i = 0; i < v->init.n; i++) {
        const rg_node *n = v->init.at[i].value;
        int64_t k;
        double f;
        if (!rg_node_bad(n) && !rg_const_value(n, &k, &f)) {
            rg_error(p->diags, n->loc, "compute it in the kernel, or write the number",
                     "the initialiser of '%s' is not constant", v->name);
            return;
        }
    }
}

/* Constant data: at file scope, or static in a function. */
static rg_var *declare_constant(rg_parser *p, const rg_declarator *d, rg_ctype *t,
                                uint32_t storage) {
    rg_var *v = rg_var_new(p, d->name, t, d->loc);
    v->is_static = true;
    rg_declare(p, RG_SYM_VAR, d->name, d->loc)->var = v;
    rg_ctype *in = rg_ctype_innermost(t, NULL);
    bool bad = t->kind == RG_C_ERROR;
    if (!bad && !in->is_const) {
        rg_error(p->diags, d->loc, "make it const, or pass it to the kernel as a parameter",
                 p->func ? "static variable '%s' is not const"
                         : "global variable '%s' is not const",
                 d->name);
        bad = true;
    } else if (!bad && t->kind == RG_C_PTR) {
        rg_error(p->diags, d->loc, "declare the array itself as const",
                 "a global pointer cannot be followed");
        bad = true;
    } else if (!bad && rg_peek(p) != RG_P_ASSIGN) {
        rg_error(p->diags, d->loc, "give it its value here, or pass it as a parameter",
                 storage & RG_STORE_EXTERN ? "'%s' has its value in another file"
                                           : "constant '%s' has no value",
                 d->name);
        bad = true;
    }
    if (bad)
        v->type = rg_ctype_basic(RG_C_ERROR);
    if (rg_accept(p, RG_P_ASSIGN)) {
        rg_parse_initializer(p, v);
        if (!bad)
            check_constant_init(p, v);
    }
    if (v->type->kind == RG_C_ARRAY && rg_ctype_size(v->type) < 0)
        rg_error(p->diags, d->loc, NULL, "the length of '%s' must be constant", d->name);
    v->ready = !bad;
    return v;
}

static rg_var *declare_local(rg_parser *p, const rg_declarator *d, rg_ctype *t) {
    rg_var *v = rg_var_new(p, d->name, t, d->loc);
    bool init = rg_peek(p) == RG_P_ASSIGN;
    for (rg_ctype *x = t; x->kind == RG_C_ARRAY; x = x->base)
        if (x->len < 0 && !x->len_expr && !(init && x == t)) {
            rg_error(p->diags, d->loc, "give it a length", "the array '%s' has no length", d->name);
            v->type = rg_ctype_basic(RG_C_ERROR);
            break;
        }
    rg_declare(p, RG_SYM_VAR, d->name, d->loc)->var = v;
    if (rg_accept(p, RG_P_ASSIGN))
        rg_parse_initializer(p, v);
    else if (t->is_const && t->kind != RG_C_ERROR && t->kind != RG_C_PTR)
        rg_error(p->diags, d->loc, "initialise it, or drop const", "constant '%s' has no value",
                 d->name);
    v->ready = true;
    return v;
}

/* static-assert = "_Static_assert" "(" conditional ("," string)? ")" ";" */
static void parse_static_assert(rg_parser *p) {
    rg_loc loc = rg_next(p)->loc;
    rg_expect(p, RG_P_LPAREN, "after '_Static_assert'");
    int64_t ok = 1;
    rg_node *n = rg_parse_conditional(p);
    rg_const_int(p, n, &ok);
    const char *text = "";
    if (rg_accept(p, RG_P_COMMA) && rg_tok(p)->kind == RG_TOK_STRING)
        text = rg_next(p)->text;
    rg_expect(p, RG_P_RPAREN, "after the assertion");
    rg_expect(p, RG_P_SEMI, "after the assertion");
    if (!ok)
        rg_error(p->diags, loc, NULL, "static assertion failed: %s", text ? text : "");
}

/* declaration = specifiers (declarator ("=" initializer)? ("," ...)*)? ";" */
rg_stmt *rg_parse_local_declaration(rg_parser *p) {
    rg_stmt *s = rg_stmt_new(p, RG_S_DECL, rg_tok(p)->loc);
    if (rg_peek(p) == RG_K_STATIC_ASSERT) {
        parse_static_assert(p);
        return s;
    }
    uint32_t storage;
    rg_ctype *base = rg_parse_specifiers(p, &storage);
    RG_VEC(rg_var *) vars = {0};
    if (rg_peek(p) != RG_P_SEMI)
        do {
            rg_declarator d = rg_parse_declarator(p, base, false);
            if (storage & RG_STORE_TYPEDEF) {
                declare_typedef(p, &d);
                continue;
            }
            if (d.type->kind == RG_C_FUNC)
                rg_syntax_error(p, d.loc, "declare it at file scope",
                                "a function cannot be declared inside another");
            rg_ctype *t = object_type(p, &d);
            if (storage & (RG_STORE_STATIC | RG_STORE_EXTERN)) {
                declare_constant(p, &d, t, storage);
                continue;
            }
            rg_var *v = declare_local(p, &d, t);
            RG_PUSH(p->arena, &vars, v);
        } while (rg_accept(p, RG_P_COMMA));
    rg_expect(p, RG_P_SEMI, "after the declaration");
    s->vars = vars.at;
    s->n = vars.n;
    return s;
}

static void check_redeclaration(rg_parser *p, const rg_func *old, const rg_declarator *d) {
    bool same = rg_ctype_same(old->type->base, d->type->base) && old->params.n == d->params.n;
    for (uint32_t i = 0; same && i < d->params.n; i++)
        same = rg_ctype_same(old->params.at[i]->type, d->params.at[i]->type);
    if (same)
        return;
    rg_error(p->diags, d->loc, NULL, "'%s' differs from its earlier declaration", d->name);
    rg_note(p->diags, old->loc, "the other declaration is here");
}

static void check_kernel(rg_parser *p, const rg_func *f) {
    for (uint32_t i = 0; i < f->params.n; i++) {
        const rg_var *v = f->params.at[i];
        if (!*v->name)
            rg_error(p->diags, v->loc, "give it a name", "parameter %u of kernel '%s' has no name",
                     i + 1, f->name);
        const rg_ctype *t = v->type->kind == RG_C_PTR ? v->type->base : v->type;
        for (; t->kind == RG_C_ARRAY; t = t->base)
            if (t->len < 0 && !t->len_expr)
                rg_error(p->diags, v->loc, "give the inner axes their lengths: T x[n][m]",
                         "only the first length of an array may be left out");
    }
}

static rg_func *declare_function(rg_parser *p, const rg_declarator *d, uint32_t storage) {
    rg_sym *s = rg_find(p, d->name);
    if (s && s->kind != RG_SYM_FUNC)
        s = NULL;
    rg_func *f = s ? s->func : NULL;
    if (!f) {
        f = RG_NEW(p->arena, rg_func);
        f->name = d->name;
        f->loc = d->loc;
        f->type = d->type;
        f->params.at = d->params.at;
        f->params.n = d->params.n;
        f->params.cap = d->params.cap;
        f->is_stop = !strcmp(d->name, "rg_stop");
        rg_declare(p, RG_SYM_FUNC, d->name, d->loc)->func = f;
        RG_PUSH(p->arena, &p->unit->funcs, f);
    } else {
        check_redeclaration(p, f, d);
    }
    f->is_static |= (storage & (RG_STORE_STATIC | RG_STORE_INLINE)) != 0;
    return f;
}

/* function = specifiers declarator "{" statement* "}" */
static void parse_function(rg_parser *p, rg_func *f, const rg_declarator *d) {
    rg_ctype *result = d->type->base;
    if (f->body) {
        rg_error(p->diags, d->loc, "give one of them another name", "'%s' is defined twice",
                 f->name);
        rg_note(p->diags, f->loc, "the other definition is here");
    }
    if (!f->is_static) {
        f->is_kernel = true;
        if (result->kind != RG_C_VOID)
            rg_error(p->diags, d->loc,
                     "make it static if kernels call it, or return void and write the result to an "
                     "array",
                     "kernel '%s' must return void", f->name);
    }
    rg_ctype *in = rg_ctype_innermost(result, NULL);
    if (result->kind == RG_C_PTR)
        rg_error(p->diags, d->loc, "return an index, or pass the array to where it is used",
                 "'%s' returns a pointer, which cannot be followed", f->name);
    else if (in->kind == RG_C_STRUCT && !in->st->complete)
        rg_error(p->diags, d->loc, "define the struct above", "'%s' is incomplete",
                 rg_ctype_name(p->arena, in));
    f->type = d->type;
    f->loc = d->loc;
    f->params.at = d->params.at;
    f->params.n = d->params.n;
    f->params.cap = d->params.cap;
    if (f->is_kernel)
        check_kernel(p, f);
    p->func = f;
    p->breakable = p->loops = p->in_parallel = p->in_atomic = 0;
    p->cases = NULL;
    rg_enter_scope(p);
    for (uint32_t i = 0; i < f->params.n; i++) {
        rg_var *v = f->params.at[i];
        v->func = f;
        v->ready = true;
        if (*v->name)
            rg_declare(p, RG_SYM_VAR, v->name, v->loc)->var = v;
        else if (!f->is_kernel)
            v->name = "(unnamed)";
    }
    rg_expect(p, RG_P_LBRACE, "before the function's body");
    f->body = rg_parse_block(p);
    rg_leave_scope(p);
    if (result->kind != RG_C_VOID && !f->body->always)
        rg_warning(p->diags, d->loc, "end it with a return",
                   "'%s' can reach its end without a value", f->name);
    p->func = NULL;
}

/* external = function | declaration | ";" */
static void parse_external(rg_parser *p) {
    if (rg_accept(p, RG_P_SEMI))
        return;
    if (rg_tok(p)->kind == RG_TOK_PRAGMA) {
        rg_parse_file_pragma(p);
        return;
    }
    if (rg_peek(p) == RG_K_STATIC_ASSERT) {
        parse_static_assert(p);
        return;
    }
    if (rg_peek(p) >= RG_K_ASM && rg_peek(p) <= RG_K_ASM3)
        rg_syntax_error(p, rg_tok(p)->loc, "write it in C", "assembly is not part of kernel C");
    uint32_t storage;
    rg_ctype *base = rg_parse_specifiers(p, &storage);
    if (rg_accept(p, RG_P_SEMI))
        return;
    do {
        rg_declarator d = rg_parse_declarator(p, base, false);
        if (storage & RG_STORE_TYPEDEF) {
            declare_typedef(p, &d);
            continue;
        }
        if (d.type->kind == RG_C_FUNC) {
            rg_func *f = declare_function(p, &d, storage);
            if (rg_peek(p) == RG_P_LBRACE) {
                parse_function(p, f, &d);
                return;
            }
            continue;
        }
        declare_constant(p, &d, object_type(p, &d), storage);
    } while (rg_accept(p, RG_P_COMMA));
    rg_expect(p, RG_P_SEMI, "after the declaration");
}

/* False when a syntax error was met. */
static bool parse_external_guarded(rg_parser *p) {
    jmp_buf here;
    p->recover = &here;
    if (setjmp(here)) {
        p->recover = NULL;
        return false;
    }
    parse_external(p);
    p->recover = NULL;
    return true;
}

/* unit = external* */
void rg_parse_unit(rg_parser *p) {
    while (!rg_at_end(p)) {
        uint32_t start = p->pos;
        if (parse_external_guarded(p))
            continue;
        while (p->depth > 0)
            rg_leave_scope(p);
        p->func = NULL;
        p->in_parameters = false;
        p->nesting = 0;
        rg_skip_statement(p, start);
        rg_accept(p, RG_P_RBRACE); /* of a body that lost its brace */
    }
}
