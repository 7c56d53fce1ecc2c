/* Pragmas: OpenMP's directives and clauses, and Retrograd's own.
 *
 * Hints are read and dropped; what would change the meaning and is not supported is refused by
 * name. Pragmas of other compilers are ignored, as every C compiler does. */
#include "lang/check.h"
#include "lang/nearest.h"

#include <string.h>

static bool in_pragma(const rg_parser *p) {
    return rg_tok(p)->kind != RG_TOK_PRAGMA_END && !rg_at_end(p);
}

static void skip_pragma(rg_parser *p) {
    while (in_pragma(p))
        p->pos++;
    if (!rg_at_end(p))
        p->pos++;
}

static bool at_word(const rg_parser *p, const char *word) {
    return rg_tok(p)->kind == RG_TOK_IDENT && !strcmp(rg_tok(p)->text, word);
}

static bool accept_word(rg_parser *p, const char *word) {
    if (!at_word(p, word))
        return false;
    p->pos++;
    return true;
}

/* Skips "( ... )" if it is there. */
static void skip_argument(rg_parser *p) {
    if (rg_peek(p) != RG_P_LPAREN)
        return;
    uint32_t depth = 0;
    do {
        if (rg_peek(p) == RG_P_LPAREN)
            depth++;
        else if (rg_peek(p) == RG_P_RPAREN)
            depth--;
        p->pos++;
    } while (depth && in_pragma(p));
}

typedef struct refusal {
    const char *name, *hint;
} refusal;

static const refusal directives[] = {
    {"for", "write '#pragma omp parallel for'"},
    {"critical", "use '#pragma omp atomic' for the update"},
    {"sections", "write the parts one after another; each may hold parallel loops"},
    {"section", "write the parts one after another; each may hold parallel loops"},
    {"single", "put the statement between two parallel loops"},
    {"master", "put the statement between two parallel loops"},
    {"masked", "put the statement between two parallel loops"},
    {"barrier", "end the parallel loop and begin another"},
    {"ordered", "use a serial loop"},
    {"task", "use a parallel loop over the tasks"},
    {"taskloop", "use '#pragma omp parallel for'"},
    {"taskwait", "remove it: parallel loops end together"},
    {"taskgroup", "use a parallel loop over the tasks"},
    {"target", "use '#pragma omp parallel for'; the device is chosen at launch"},
    {"teams", "use '#pragma omp parallel for'; the device is chosen at launch"},
    {"distribute", "use '#pragma omp parallel for'; the device is chosen at launch"},
    {"flush", "use '#pragma omp atomic'"},
    {"threadprivate", "declare the variable inside the parallel loop"},
    {"scan", "write the prefix sum as parallel loops, or as a serial loop"},
    {"loop", "use '#pragma omp parallel for'"},
    {"cancel", "put what follows under an if"},
    {NULL, NULL},
};

static const refusal clauses[] = {
    {"lastprivate", "compute the last value after the loop"},
    {"linear", "compute the variable from the loop variable"},
    {"copyin", "use firstprivate"},
    {"copyprivate", "use shared"},
    {"ordered", "use a serial loop"},
    {"nowait", "remove it: one parallel loop ends before the next begins"},
    {"in_reduction", "use reduction"},
    {"task_reduction", "use reduction"},
    {"depend", "write the loops in the order that they depend on each other"},
    {"map", "remove it: arrays are already where the kernel runs"},
    {"device", "remove it: the device is chosen at launch"},
    {NULL, NULL},
};

static const char *const hints[] = {"schedule",    "num_threads", "proc_bind", "simdlen",
                                    "safelen",     "if",          "aligned",   "order",
                                    "nontemporal", "allocate",    "hint",      NULL};

/* A hint's argument is dropped, but has to be there, and what names variables has to be right. */
static void parse_hint(rg_parser *p, const char *name) {
    static const char *const with_value[] = {"num_threads", "if", "simdlen", "safelen", NULL};
    static const char *const kinds[] = {"static", "dynamic", "guided", "auto", "runtime", NULL};
    uint32_t open = p->pos;
    if (rg_peek(p) != RG_P_LPAREN) {
        rg_error(p->diags, rg_tok(p)->loc, NULL, "expected '(' after '%s'", name);
        return;
    }
    skip_argument(p);
    if (p->code[p->pos - 1] != RG_P_RPAREN || p->pos - open < 3) {
        rg_error(p->diags, p->tok[open].loc, "complete it, or remove it",
                 p->code[p->pos - 1] != RG_P_RPAREN ? "the '(' of '%s' is not closed"
                                                    : "'%s' has no argument",
                 name);
        return;
    }
    uint32_t end = p->pos;
    p->pos = open + 1;
    if (!strcmp(name, "schedule")) {
        const rg_token *kind = rg_tok(p);
        for (uint32_t i = open; i + 1 < end; i++) /* modifiers, as in monotonic:dynamic */
            if (p->code[i] == RG_P_COLON)
                kind = &p->tok[i + 1];
        bool known = false;
        for (uint32_t i = 0; kinds[i]; i++)
            known |= kind->text && !strcmp(kinds[i], kind->text);
        if (!known)
            rg_error(p->diags, kind->loc, "use static, dynamic, guided, auto or runtime",
                     "unknown schedule %s", rg_tok_text(p, kind));
    }
    for (uint32_t i = 0; with_value[i]; i++)
        if (!strcmp(with_value[i], name)) {
            if (rg_tok(p)->kind == RG_TOK_IDENT && rg_peek_at(p, 1) == RG_P_COLON)
                p->pos += 2; /* if(parallel: condition) */
            rg_mark before = rg_here(p);
            rg_node *n = rg_parse_assign(p);
            p->unit->refs.n = before.refs; /* it is never evaluated */
            if (!rg_node_bad(n))
                rg_check_condition(p, n);
            if (p->pos != end - 1)
                rg_error(p->diags, rg_tok(p)->loc, NULL, "expected ')' in '%s'", name);
        }
    p->pos = end;
}

static bool is_hint(const char *name) {
    for (uint32_t i = 0; hints[i]; i++)
        if (!strcmp(hints[i], name))
            return true;
    return false;
}

static const char *hint_of(const refusal *list, const char *name) {
    for (; list->name; list++)
        if (!strcmp(list->name, name))
            return list->hint;
    return NULL;
}

static const rg_clause_var *find_clause_var(const rg_parallel *par, const rg_var *v) {
#define LOOK(list)                                                                                 \
    for (uint32_t i = 0; i < par->list.n; i++)                                                     \
        if (par->list.at[i].var == v)                                                              \
            return &par->list.at[i];
    LOOK(reductions)
    LOOK(privates)
    LOOK(firstprivates)
    LOOK(shared)
#undef LOOK
    return NULL;
}

/* list = identifier ("," identifier)* ")" */
static void parse_list(rg_parser *p, rg_parallel *par, const char *clause, rg_red red) {
    do {
        const rg_token *t = rg_tok(p);
        if (!rg_is_name(p)) {
            rg_error(p->diags, t->loc, NULL, "expected a variable's name in '%s'", clause);
            return;
        }
        p->pos++;
        const rg_sym *s = rg_find(p, t->text);
        if (!s || s->kind != RG_SYM_VAR) {
            rg_error(p->diags, t->loc, "name a variable declared before the loop",
                     "'%s' in '%s' is not a variable", t->text, clause);
        } else if (rg_peek(p) == RG_P_LBRACK) {
            rg_error(p->diags, t->loc, "use '#pragma omp atomic' where its elements are updated",
                     "'%s' of part of the array '%s' is not supported", clause, t->text);
            while (in_pragma(p) && rg_peek(p) != RG_P_RPAREN)
                p->pos++;
        } else {
            rg_clause_var c = {s->var, t->loc, red};
            if (find_clause_var(par, s->var))
                rg_error(p->diags, t->loc, "name it in one clause only", "'%s' is in two clauses",
                         t->text);
            else if (!strcmp(clause, "reduction"))
                RG_PUSH(p->arena, &par->reductions, c);
            else if (!strcmp(clause, "private"))
                RG_PUSH(p->arena, &par->privates, c);
            else if (!strcmp(clause, "firstprivate"))
                RG_PUSH(p->arena, &par->firstprivates, c);
            else
                RG_PUSH(p->arena, &par->shared, c);
        }
    } while (rg_accept(p, RG_P_COMMA));
}

/* reduction = "(" ("+" | "*" | "-" | "&" | "|" | "^" | "&&" | "||" | "min" | "max") ":" list ")" */
static void parse_reduction(rg_parser *p, rg_parallel *par) {
    const rg_token *t = rg_tok(p);
    rg_red red = RG_RED_ADD;
    switch (rg_peek(p)) {
    case RG_P_ADD:
    case RG_P_SUB: /* means the same as + */
        red = RG_RED_ADD;
        break;
    case RG_P_MUL:
        red = RG_RED_MUL;
        break;
    case RG_P_AND:
        red = RG_RED_AND;
        break;
    case RG_P_OR:
        red = RG_RED_OR;
        break;
    case RG_P_XOR:
        red = RG_RED_XOR;
        break;
    case RG_P_LAND:
        red = RG_RED_LAND;
        break;
    case RG_P_LOR:
        red = RG_RED_LOR;
        break;
    default:
        if (at_word(p, "min"))
            red = RG_RED_MIN;
        else if (at_word(p, "max"))
            red = RG_RED_MAX;
        else
            rg_error(p->diags, t->loc, "use + * min max & | ^ && or ||",
                     "%s is not an operator of reductions", rg_tok_text(p, t));
        break;
    }
    p->pos++;
    if (!rg_accept(p, RG_P_COLON)) {
        rg_error(p->diags, rg_tok(p)->loc, "write reduction(+: sum)",
                 "expected ':' in 'reduction'");
        return;
    }
    parse_list(p, par, "reduction", red);
}

static void parse_clause(rg_parser *p, rg_parallel *par) {
    const rg_token *t = rg_tok(p);
    const char *name = t->text;
    if (t->kind != RG_TOK_IDENT) {
        rg_error(p->diags, t->loc, NULL, "expected a clause before %s", rg_tok_text(p, t));
        p->pos++;
        return;
    }
    p->pos++;
    const char *hint = hint_of(clauses, name);
    if (hint) {
        par->doubtful = true;
        rg_error(p->diags, t->loc, hint, "clause '%s' is not supported", name);
        skip_argument(p);
        return;
    }
    if (is_hint(name)) {
        parse_hint(p, name);
        return;
    }
    bool list =
        !strcmp(name, "shared") || !strcmp(name, "private") || !strcmp(name, "firstprivate");
    bool other =
        !strcmp(name, "reduction") || !strcmp(name, "default") || !strcmp(name, "collapse");
    if (!list && !other) {
        static const char *const all[] = {"private",     "firstprivate", "shared",
                                          "reduction",   "default",      "collapse",
                                          "num_threads", "schedule",     NULL};
        par->doubtful = true;
        rg_error(p->diags, t->loc, rg_hint_word(p, name, all, "remove it"), "unknown clause '%s'",
                 name);
        skip_argument(p);
        return;
    }
    uint32_t open = p->pos, errors = p->diags->errors;
    if (!rg_accept(p, RG_P_LPAREN)) {
        rg_error(p->diags, rg_tok(p)->loc, NULL, "expected '(' after '%s'", name);
        return;
    }
    if (list) {
        parse_list(p, par, name, RG_RED_ADD);
    } else if (!strcmp(name, "reduction")) {
        parse_reduction(p, par);
    } else if (!strcmp(name, "default")) {
        if (accept_word(p, "none"))
            par->default_none = true;
        else if (!accept_word(p, "shared"))
            rg_error(p->diags, rg_tok(p)->loc, "use default(none) or default(shared)",
                     "'default(%s)' is not supported", rg_tok(p)->text ? rg_tok(p)->text : "");
    } else {
        int64_t n = 1;
        rg_node *k = rg_parse_conditional(p);
        if (rg_const_int(p, k, &n) && (n < 1 || n > 3)) {
            rg_error(p->diags, k->loc, "collapse up to three loops; the others run inside",
                     "collapse(%lld) is not supported", (long long)n);
            n = 1;
        }
        par->collapse = (uint32_t)n;
    }
    if (!rg_accept(p, RG_P_RPAREN)) {
        if (errors == p->diags->errors)
            rg_error(p->diags, rg_tok(p)->loc, NULL, "expected ')' in '%s'", name);
        p->pos = open;
        skip_argument(p);
    }
}

static rg_parallel *parse_clauses(rg_parser *p, rg_loc loc) {
    rg_parallel *par = RG_NEW(p->arena, rg_parallel);
    par->collapse = 1;
    par->loc = loc;
    while (in_pragma(p)) {
        if (!rg_accept(p, RG_P_COMMA))
            parse_clause(p, par);
    }
    skip_pragma(p);
    return par;
}

/* atomic = "atomic" ("update" | "read" | "write" | "capture" | "compare" | memory-order | hint)* */
static rg_stmt *parse_atomic_pragma(rg_parser *p, rg_loc loc) {
    rg_atomic_kind kind = RG_A_UPDATE;
    bool compare = false;
    while (in_pragma(p)) {
        const rg_token *t = rg_tok(p);
        if (rg_accept(p, RG_P_COMMA) || accept_word(p, "update"))
            continue;
        if (accept_word(p, "read"))
            kind = RG_A_READ;
        else if (accept_word(p, "write"))
            kind = RG_A_WRITE;
        else if (accept_word(p, "capture"))
            kind = RG_A_CAPTURE;
        else if (accept_word(p, "compare"))
            compare = true;
        else if (accept_word(p, "seq_cst") || accept_word(p, "relaxed") ||
                 accept_word(p, "acq_rel") || accept_word(p, "acquire") ||
                 accept_word(p, "release"))
            continue;
        else if (accept_word(p, "hint"))
            skip_argument(p);
        else {
            rg_error(p->diags, t->loc, "remove it", "unknown clause %s of atomic",
                     rg_tok_text(p, t));
            break;
        }
    }
    skip_pragma(p);
    return rg_parse_atomic(p, loc, kind, compare);
}

static rg_stmt *parse_omp(rg_parser *p, rg_loc loc) {
    const rg_token *t = rg_tok(p);
    if (accept_word(p, "atomic"))
        return parse_atomic_pragma(p, loc);
    if (accept_word(p, "simd") || /* a hint; its clauses say nothing that a serial loop breaks */
        accept_word(p, "unroll") || accept_word(p, "tile")) {
        skip_pragma(p);
        if (rg_peek(p) != RG_K_FOR && (*t->text == 's' || rg_tok(p)->kind != RG_TOK_PRAGMA))
            rg_error(p->diags, t->loc, "write it right before a for loop, or remove it",
                     "'#pragma omp %s' is not before a loop", t->text);
        return NULL;
    }
    if (accept_word(p, "declare")) {
        if (p->func && at_word(p, "simd"))
            rg_error(p->diags, t->loc, "move it, or write '#pragma omp simd' before a loop",
                     "'declare simd' stands before a function");
        else if (!at_word(p, "simd"))
            rg_error(p->diags, t->loc, "use one of the operators + * min max & | ^ && ||",
                     "'declare %s' is not supported", rg_tok(p)->text ? rg_tok(p)->text : "");
        skip_pragma(p);
        return NULL;
    }
    if (accept_word(p, "parallel")) {
        if (accept_word(p, "for")) {
            accept_word(p, "simd");
            return rg_parse_parallel(p, parse_clauses(p, loc));
        }
        rg_error(p->diags, t->loc, "write '#pragma omp parallel for' before the loop",
                 "'parallel' without 'for' is not supported");
        skip_pragma(p);
        return NULL;
    }
    static const char *const all[] = {"parallel", "simd", "atomic", NULL};
    static const char use[] = "use 'parallel for', 'simd' or 'atomic'";
    const char *name = t->kind == RG_TOK_IDENT ? t->text : "";
    const char *hint = hint_of(directives, name);
    if (!in_pragma(p))
        rg_error(p->diags, loc, use, "'#pragma omp' wants a directive");
    else
        rg_error(p->diags, t->loc, hint ? hint : rg_hint_word(p, name, all, use),
                 hint ? "OpenMP's '%s' is not supported" : "unknown OpenMP directive '%s'", name);
    skip_pragma(p);
    return NULL;
}

/* adjoint = "adjoint" "(" function ")" "=" function */
static void parse_adjoint(rg_parser *p, rg_loc loc, bool inside) {
    rg_adjoint_pragma a = {0};
    bool ok = !inside && rg_accept(p, RG_P_LPAREN) && rg_tok(p)->kind == RG_TOK_IDENT;
    if (ok) {
        a.of_loc = rg_tok(p)->loc;
        a.of = rg_tok(p)->text;
        p->pos++;
        ok = rg_accept(p, RG_P_RPAREN) && rg_accept(p, RG_P_ASSIGN) &&
             rg_tok(p)->kind == RG_TOK_IDENT;
    }
    if (!ok) {
        rg_error(p->diags, loc, "write it outside of functions, with two functions of this file",
                 "expected '#pragma retrograd adjoint(f) = f_adjoint'");
        return;
    }
    a.by_loc = rg_tok(p)->loc;
    a.by = rg_tok(p)->text;
    p->pos++;
    RG_PUSH(p->arena, &p->unit->adjoints, a);
}

static void parse_retrograd(rg_parser *p, bool inside) {
    const rg_token *t = rg_tok(p);
    if (accept_word(p, "tgmath")) {
        p->tgmath = true;
    } else if (accept_word(p, "math")) {
        p->math = true;
    } else if (accept_word(p, "stdlib")) {
        p->stdlib = true;
    } else if (accept_word(p, "checkpoint")) {
        int64_t k = 0;
        rg_node *n = NULL;
        if (rg_accept(p, RG_P_LPAREN)) {
            n = rg_parse_conditional(p);
            if (rg_const_int(p, n, &k) && k < 1)
                rg_error(p->diags, n->loc, "give the number of steps between checkpoints",
                         "checkpoint(%lld) is not positive", (long long)k);
        } else {
            k = -1; /* as many blocks as steps in each */
        }
        if (!inside)
            rg_error(p->diags, t->loc, "write it right before a loop inside a kernel",
                     "expected '#pragma retrograd checkpoint(k)' before a loop");
        p->checkpoint = k > 0 || !n ? k : 0;
    } else if (accept_word(p, "adjoint")) {
        parse_adjoint(p, t->loc, inside);
    } else {
        rg_error(p->diags, t->loc, "use checkpoint(k) or adjoint(f) = g",
                 "unknown pragma 'retrograd %s'", t->kind == RG_TOK_IDENT ? t->text : "");
    }
    skip_pragma(p);
}

rg_stmt *rg_parse_pragma(rg_parser *p) {
    rg_loc loc = rg_next(p)->loc;
    if (accept_word(p, "omp"))
        return parse_omp(p, loc);
    if (accept_word(p, "retrograd"))
        parse_retrograd(p, true);
    else
        skip_pragma(p);
    return NULL;
}

void rg_parse_file_pragma(rg_parser *p) {
    rg_loc loc = rg_next(p)->loc;
    if (accept_word(p, "retrograd")) {
        parse_retrograd(p, false);
    } else if (accept_word(p, "omp") && !at_word(p, "declare")) {
        rg_error(p->diags, loc, "move it into the kernel, before the statement that it is about",
                 "an OpenMP pragma outside of a function");
        skip_pragma(p);
    } else if (at_word(p, "declare")) {
        parse_omp(p, loc);
    } else {
        skip_pragma(p);
    }
}
