/* The parser's foundation: tokens by number, names and scopes, recovery from errors.
 *
 * Names live in one table from spelling to innermost declaration; each declaration remembers what
 * it hides, so leaving a scope is a walk over its own declarations and a lookup is one probe. */
#include "lang/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const rg_token *rg_next(rg_parser *p) {
    const rg_token *t = &p->tok[p->pos];
    if (t->kind != RG_TOK_END)
        p->pos++;
    return t;
}

bool rg_accept(rg_parser *p, rg_code c) {
    if (rg_peek(p) != c)
        return false;
    p->pos++;
    return true;
}

const char *rg_tok_text(rg_parser *p, const rg_token *t) {
    switch (t->kind) {
    case RG_TOK_END:
        return "the end of the file";
    case RG_TOK_STRING:
        return "a string";
    case RG_TOK_PRAGMA:
        return "#pragma";
    case RG_TOK_PRAGMA_END:
        return "the end of the line";
    case RG_TOK_INT:
    case RG_TOK_FLOAT:
        return t->text ? rg_format(p->arena, "'%s'", t->text) : "a number";
    default:
        return rg_format(p->arena, "'%s'", t->text);
    }
}

static const char *const code_text[RG_N_CODES] = {
    "",
#define KEYWORD(id, text) text,
#define PUNCT(id, text) text,
#include "lang/codes.def"
#undef KEYWORD
#undef PUNCT
};

void rg_expect(rg_parser *p, rg_code c, const char *where) {
    if (rg_accept(p, c))
        return;
    const rg_token *t = rg_tok(p);
    /* a missing ';' is best shown where it belongs: after the token before */
    rg_syntax_error(p, t->loc, NULL, "expected '%s' %s before %s", code_text[c], where,
                    rg_tok_text(p, t));
}

const char *rg_tokens_text(rg_parser *p, uint32_t from, uint32_t to) {
    rg_text x = {.arena = p->arena};
    for (uint32_t i = from; i < to; i++) {
        const rg_token *t = &p->tok[i];
        if (i > from && t->space_before)
            rg_text_char(&x, ' ');
        if (t->kind == RG_TOK_INT)
            rg_text_format(&x, t->is_unsigned ? "%lluu" : "%llu", (unsigned long long)t->i);
        else if (t->kind == RG_TOK_FLOAT)
            rg_text_real(&x, t->f, t->is_float);
        else
            rg_text_add(&x, t->text);
    }
    return rg_text_str(&x);
}

bool rg_is_name(const rg_parser *p) {
    return rg_tok(p)->kind == RG_TOK_IDENT && rg_peek(p) == RG_K_OTHER;
}

void rg_syntax_error(rg_parser *p, rg_loc loc, const char *hint, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char buf[512];
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    rg_error(p->diags, loc, hint, "%s", buf);
    if (!p->recover)
        rg_arena_throw(p->arena, RG_THROW_ERRORS);
    longjmp(*p->recover, 1);
}

enum { MOST_NESTED = 1500 }; /* of the parser's functions: some 500 parentheses */

void rg_deeper(rg_parser *p, rg_loc loc) {
    if (++p->nesting > MOST_NESTED) /* what follows could only be misread */
        rg_fatal(p->diags, loc, "split it into several statements or functions",
                 "this is nested too deeply");
}

void rg_enter_scope(rg_parser *p) {
    rg_scope *s = RG_NEW(p->arena, rg_scope);
    s->up = p->scope;
    p->scope = s;
    p->depth++;
}

void rg_leave_scope(rg_parser *p) {
    for (rg_sym *s = p->scope->syms; s; s = s->in_scope)
        rg_table_set(s->is_tag ? &p->tags : &p->names, s->name, s->hidden);
    p->scope = p->scope->up;
    p->depth--;
}

rg_sym *rg_find(rg_parser *p, const char *name) {
    return rg_table_get(&p->names, name);
}

rg_sym *rg_find_tag(rg_parser *p, const char *name) {
    return rg_table_get(&p->tags, name);
}

static rg_sym *declare(rg_parser *p, rg_table *in, rg_sym_kind k, const char *name, rg_loc loc) {
    rg_sym *s = RG_NEW(p->arena, rg_sym);
    s->kind = k;
    s->name = name;
    s->loc = loc;
    s->depth = p->depth;
    s->hidden = rg_table_get(in, name);
    s->is_tag = in == &p->tags;
    s->in_scope = p->scope->syms;
    p->scope->syms = s;
    rg_table_set(in, name, s);
    return s;
}

rg_sym *rg_declare(rg_parser *p, rg_sym_kind k, const char *name, rg_loc loc) {
    rg_sym *old = rg_find(p, name);
    if (old && old->depth == p->depth) {
        rg_error(p->diags, loc, "give one of them another name",
                 "'%s' is already declared in this scope", name);
        rg_note(p->diags, old->loc, "the other declaration is here");
    }
    return declare(p, &p->names, k, name, loc);
}

rg_sym *rg_declare_tag(rg_parser *p, const char *name, rg_loc loc) {
    return declare(p, &p->tags, RG_SYM_TYPEDEF, name, loc);
}

rg_mark rg_here(const rg_parser *p) {
    return (rg_mark){p->unit->writes.n, p->unit->refs.n, p->vars};
}

void rg_skip_statement(rg_parser *p, uint32_t start) {
    uint32_t braces = 0;
    for (uint32_t i = start; i < p->pos; i++) {
        if (p->code[i] == RG_P_LBRACE)
            braces++;
        else if (p->code[i] == RG_P_RBRACE && braces)
            braces--;
    }
    for (; !rg_at_end(p); p->pos++) {
        rg_code c = rg_peek(p);
        if (c == RG_P_LBRACE) {
            braces++;
        } else if (c == RG_P_RBRACE) {
            if (!braces)
                return;
            if (!--braces && rg_peek_at(p, 1) != RG_P_SEMI && rg_peek_at(p, 1) != RG_P_COMMA) {
                p->pos++;
                return;
            }
        } else if (c == RG_P_SEMI && !braces) {
            p->pos++;
            return;
        }
    }
}
