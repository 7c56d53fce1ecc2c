/* The front-end, from text to IR:
 *
 *   text --preprocess--> tokens --parse + check--> typed tree --check_unit--> --lower--> IR
 *
 * Lowering starts only when the whole unit is free of errors. */
#include "lang/lang.h"

#include "lang/check.h"
#include "lang/custom.h"
#include "lang/lower.h"

#include <string.h>

typedef struct word {
    const char *text;
    uint16_t code;
} word;

static void number_tokens(rg_parser *p) {
    static word words[] = {
#define KEYWORD(id, text) {text, RG_K_##id},
#define PUNCT(id, text) {text, RG_P_##id},
#include "lang/codes.def"
#undef KEYWORD
#undef PUNCT
    };
    rg_table t = {.arena = p->arena};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        rg_table_set(&t, words[i].text, &words[i]);
    p->code = RG_NEW_N(p->arena, uint16_t, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->tok[i].kind != RG_TOK_IDENT && p->tok[i].kind != RG_TOK_PUNCT)
            continue;
        const word *w = rg_table_get(&t, p->tok[i].text);
        if (w)
            p->code[i] = w->code;
    }
}

typedef struct chain {
    struct chain *up;
    const rg_func *func;
} chain;

/* Recursion, and calls of functions without a body. */
static void check_calls(rg_unit *u, rg_func *f, chain *up) {
    chain here = {up, f};
    f->visit = 1;
    for (uint32_t i = 0; i < f->calls.n; i++) {
        rg_func *g = f->calls.at[i].func;
        if (!g->body) {
            rg_error(u->diags, f->calls.at[i].loc, "define it in this file, or in an included one",
                     "'%s' is called but has no body", g->name);
            continue;
        }
        if (g->visit == 1) {
            rg_text cycle = {.arena = u->arena};
            uint32_t n = 0;
            const chain *c = &here;
            const rg_func *names[16];
            for (; c && n < 16; c = c->up) {
                names[n++] = c->func;
                if (c->func == g)
                    break;
            }
            while (n-- > 0)
                rg_text_format(&cycle, "%s -> ", names[n]->name);
            rg_text_add(&cycle, g->name);
            rg_error(u->diags, f->calls.at[i].loc,
                     "write it as a loop, with an array as the stack if it needs one",
                     "recursion: %s", rg_text_str(&cycle));
            continue;
        }
        if (!g->visit)
            check_calls(u, g, &here);
    }
    f->visit = 2;
}

static void check_unit(rg_unit *u) {
    for (uint32_t i = 0; i < u->funcs.n; i++) {
        rg_func *f = u->funcs.at[i];
        if (!f->body)
            continue;
        if (!f->visit)
            check_calls(u, f, NULL);
        uint32_t n = f->body->n;
        f->tail_only = true;
        for (uint32_t k = 0; k < n; k++)
            if ((f->body->list[k]->jumps & RG_J_RETURN) &&
                !(k + 1 == n && f->body->list[k]->kind == RG_S_RETURN))
                f->tail_only = false;
    }
}

static rg_module *compile(rg_arena *a, rg_sources *s, rg_diags *d, const char *path,
                          const char *text, size_t size, const rg_preprocess_options *o) {
    static const rg_preprocess_options none = {0};
    uint32_t before = d->errors;
    const rg_tokens *tokens = rg_preprocess(a, s, d, path, text, size, o ? o : &none);
    rg_parser p = {.arena = a, .diags = d, .tok = tokens->list.at, .n = tokens->list.n};
    p.names.arena = p.tags.arena = a;
    p.unit = RG_NEW(a, rg_unit);
    p.unit->arena = a;
    p.unit->diags = d;
    p.unit->module = RG_NEW(a, rg_module);
    p.unit->module->arena = a;
    p.unit->module->sources = s;
    p.scope = RG_NEW(a, rg_scope);
    number_tokens(&p);
    rg_parse_unit(&p);
    check_unit(p.unit);
    rg_find_adjoints(p.unit);
    if (d->errors == before)
        rg_lower_unit(p.unit);
    return d->errors == before ? p.unit->module : NULL;
}

rg_module *rg_lang_compile(rg_arena *a, rg_sources *s, rg_diags *d, const char *path,
                           const char *text, size_t size, const rg_preprocess_options *o) {
    /* too many errors end the compilation, not the caller: its guard is kept and put back */
    const uint32_t before = d->errors;
    jmp_buf *guard = rg_arena_guard(a), outer;
    memcpy(&outer, guard, sizeof outer);
    int code = setjmp(*guard);
    if (code) {
        memcpy(rg_arena_guard(a), &outer, sizeof outer);
        bool reported = d->errors > before; /* what follows from an error is no fault of its own */
        if (code != RG_THROW_ERRORS && !(code == RG_THROW_INTERNAL && reported))
            rg_arena_throw(a, code);
        return NULL;
    }
    rg_module *m = compile(a, s, d, path, text, size, o);
    memcpy(rg_arena_guard(a), &outer, sizeof outer);
    return m;
}
