#include "lang/macro.h"

#include <string.h>

enum {
    MAX_WORK = 1 << 22,   /* lexemes moved by expansion, in one translation unit */
    BYTES_PER_LEXEME = 4, /* what text made by # and ## counts as */
    MAX_DEPTH = 200,      /* calls inside arguments of calls */
    MAX_PARAMETERS = 1000
};

static bool is_hash_hash(rg_lexeme t) {
    return t.kind == RG_LEX_PUNCT && strcmp(t.name->text, "##") == 0;
}

static bool is_ellipsis(rg_lexeme t) {
    return t.kind == RG_LEX_PUNCT && strcmp(t.name->text, "...") == 0;
}

/* ---- Definitions ---- */

void rg_macro_predefine(rg_expander *ex) {
    static const struct {
        const char *name;
        rg_macro_kind kind;
    } own[] = {{"__FILE__", RG_MACRO_FILE},
               {"__LINE__", RG_MACRO_LINE},
               {"__COUNTER__", RG_MACRO_COUNTER}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        rg_macro *m = RG_NEW(ex->arena, rg_macro);
        m->kind = own[i].kind;
        m->name = rg_name_intern(ex->names, own[i].name, strlen(own[i].name));
        m->name->macro = m;
    }
}

bool rg_macro_name_is_free(rg_expander *ex, rg_lexeme t, const char *directive) {
    if (t.kind != RG_LEX_IDENT) {
        rg_error(ex->diags, t.loc, NULL, "#%s needs the name of a macro", directive);
        return false;
    }
    bool own = t.name->macro && t.name->macro->kind >= RG_MACRO_FILE;
    if (own || strcmp(t.name->text, "defined") == 0 || strcmp(t.name->text, "__VA_ARGS__") == 0 ||
        strcmp(t.name->text, "_Pragma") == 0) {
        rg_error(ex->diags, t.loc, "choose another name", "#%s cannot change '%s'", directive,
                 t.name->text);
        return false;
    }
    return true;
}

typedef struct parameters {
    RG_VEC(rg_name *) names;
    bool variadic;
    bool bad;
} parameters;

static void add_parameter(rg_expander *ex, parameters *ps, rg_lexeme t, rg_name *name) {
    if (name->parameter) {
        rg_error(ex->diags, t.loc, "give each parameter a name of its own",
                 "two parameters are called '%s'", name->text);
        ps->bad = true;
    } else if (ps->names.n == MAX_PARAMETERS) {
        rg_error(ex->diags, t.loc, NULL, "a macro has more than %d parameters", MAX_PARAMETERS);
        ps->bad = true;
    } else {
        RG_PUSH(ex->arena, &ps->names, name);
        name->parameter = (uint16_t)ps->names.n;
    }
}

/* From after the opening parenthesis; returns the index after the closing one. */
static uint32_t parse_parameters(rg_expander *ex, const rg_lexemes *line, uint32_t i,
                                 parameters *ps) {
    rg_lexeme end = {.kind = RG_LEX_END, .loc = line->at[i - 1].loc};
    rg_name *va_args = rg_name_intern(ex->names, "__VA_ARGS__", 11);
#define AT(k) ((k) < line->n ? line->at[k] : end)
    if (rg_lexeme_is(AT(i), ')'))
        return i + 1;
    while (!ps->bad) {
        rg_lexeme t = AT(i);
        i++;
        if (is_ellipsis(t)) {
            add_parameter(ex, ps, t, va_args);
            ps->variadic = true;
        } else if (t.kind == RG_LEX_IDENT && t.name != va_args) {
            add_parameter(ex, ps, t, t.name);
            if (is_ellipsis(AT(i))) { /* GNU: a variadic parameter with a name */
                ps->variadic = true;
                i++;
            }
        } else {
            break;
        }
        t = AT(i);
        i++;
        if (rg_lexeme_is(t, ')'))
            return i;
        if (!rg_lexeme_is(t, ',') || ps->variadic)
            break;
    }
#undef AT
    if (!ps->bad)
        rg_error(ex->diags, line->at[i - 1 < line->n ? i - 1 : line->n - 1].loc,
                 "write #define NAME(a, b) or #define NAME(a, ...)",
                 "malformed parameters of macro '%s'", line->at[0].name->text);
    ps->bad = true;
    return i;
}

static bool parse_body(rg_expander *ex, rg_macro *m, const rg_lexemes *line, uint32_t i) {
    rg_name *va_args = rg_name_intern(ex->names, "__VA_ARGS__", 11);
    for (uint32_t first = i; i < line->n; i++) {
        rg_lexeme t = line->at[i];
        if (i == first)
            t.flags &= (uint8_t)~RG_LEX_SPACE;
        if (t.kind == RG_LEX_IDENT) {
            t.parameter = t.name->parameter;
            if (t.name == va_args && !t.parameter) {
                rg_error(ex->diags, t.loc, "end the parameters with ...",
                         "__VA_ARGS__ in a macro that is not variadic");
                return false;
            }
        }
        if (m->kind == RG_MACRO_FUNCTION && rg_lexeme_is(t, '#') &&
            (i + 1 == line->n || line->at[i + 1].kind != RG_LEX_IDENT ||
             !line->at[i + 1].name->parameter)) {
            rg_error(ex->diags, t.loc, NULL, "# is not followed by a parameter of macro '%s'",
                     m->name->text);
            return false;
        }
        if (is_hash_hash(t)) {
            if (i == first || i + 1 == line->n) {
                rg_error(ex->diags, t.loc, "## stands between two tokens",
                         "## at the %s of macro '%s'", i == first ? "beginning" : "end",
                         m->name->text);
                return false;
            }
            m->pastes = true;
        }
        RG_PUSH(ex->arena, &m->body, t);
    }
    return true;
}

/* C11 6.10.3 p. 2: the same kind, parameters, tokens, and white space in the same places. */
static bool same_definition(const rg_macro *a, const rg_macro *b) {
    if (a->kind != b->kind || a->parameters != b->parameters || a->variadic != b->variadic ||
        a->body.n != b->body.n)
        return false;
    for (uint32_t i = 0; i < a->body.n; i++) {
        rg_lexeme s = a->body.at[i], t = b->body.at[i];
        if (s.kind != t.kind || s.parameter != t.parameter || (s.name != t.name && !s.parameter) ||
            (s.flags & RG_LEX_SPACE) != (t.flags & RG_LEX_SPACE))
            return false;
    }
    return true;
}

/* The user may replace what our own headers define (M_PI, say, which ISO C leaves free). */
static bool is_from_builtin(const rg_expander *ex, const rg_macro *m) {
    const char *where = rg_sources_where(ex->sources, ex->arena, m->loc);
    return where[0] == '<';
}

void rg_macro_define(rg_expander *ex, rg_loc loc, const rg_lexemes *line) {
    if (line->n == 0) {
        rg_error(ex->diags, loc, NULL, "#define needs the name of a macro");
        return;
    }
    if (!rg_macro_name_is_free(ex, line->at[0], "define"))
        return;
    rg_macro *m = RG_NEW(ex->arena, rg_macro);
    m->name = line->at[0].name;
    m->loc = line->at[0].loc;
    parameters ps = {0};
    uint32_t i = 1;
    if (line->n > 1 && rg_lexeme_is(line->at[1], '(') && !(line->at[1].flags & RG_LEX_SPACE)) {
        m->kind = RG_MACRO_FUNCTION;
        i = parse_parameters(ex, line, 2, &ps);
    }
    m->parameters = ps.names.n;
    m->variadic = ps.variadic;
    bool good = !ps.bad && parse_body(ex, m, line, i);
    for (uint32_t k = 0; k < ps.names.n; k++)
        ps.names.at[k]->parameter = 0;
    if (!good)
        return;
    rg_macro *old = m->name->macro;
    if (old && !same_definition(old, m) && !is_from_builtin(ex, old)) {
        rg_warning(ex->diags, m->loc, "use #undef first", "macro '%s' is redefined", m->name->text);
        rg_note(ex->diags, old->loc, "the definition before is here");
    }
    m->name->macro = m;
}

/* ---- The stack of lists ---- */

static void push_list(rg_expander *ex, rg_macro_list list) {
    RG_PUSH(ex->arena, &ex->lists, list);
}

static void pop_list(rg_expander *ex) {
    rg_macro *m = ex->lists.at[--ex->lists.n].disabled;
    if (m)
        m->disabled = false;
}

uint32_t rg_macro_open(rg_expander *ex, const rg_lexeme *at, uint32_t n) {
    push_list(ex, (rg_macro_list){.at = at, .end = n ? at + n : at, .barrier = true});
    return ex->lists.n - 1;
}

void rg_macro_close(rg_expander *ex, uint32_t opened) {
    while (ex->lists.n > opened)
        pop_list(ex);
}

void rg_macro_unread(rg_expander *ex, rg_lexeme t) {
    rg_lexeme *one = RG_NEW(ex->arena, rg_lexeme);
    *one = t;
    push_list(ex, (rg_macro_list){.at = one, .end = one + 1});
}

static bool spend(rg_expander *ex, rg_loc loc, uint64_t n) {
    ex->work += n;
    if (ex->work > MAX_WORK && !ex->stop) {
        ex->stop = true;
        rg_fatal(ex->diags, loc, "look for macros that double what they are given",
                 "macro expansion passes its limit of %d tokens", MAX_WORK);
    }
    return !ex->stop;
}

static rg_lexeme mark_final(rg_lexeme t) {
    if (t.kind == RG_LEX_IDENT && t.name->macro && t.name->macro->disabled)
        t.flags |= RG_LEX_FINAL;
    return t;
}

rg_lexeme rg_macro_next_raw(rg_expander *ex) {
    while (!ex->stop && ex->lists.n) {
        rg_macro_list *top = &ex->lists.at[ex->lists.n - 1];
        if (top->at < top->end) {
            rg_lexeme t = *top->at++;
            if (top->loc)
                t.loc = top->loc;
            t.flags |= top->space;
            top->space = 0;
            return mark_final(t);
        }
        if (top->barrier)
            return (rg_lexeme){.kind = RG_LEX_END};
        pop_list(ex);
    }
    if (ex->stop)
        return (rg_lexeme){.kind = RG_LEX_END};
    return ex->read(ex->user);
}

rg_lexemes rg_macro_expand(rg_expander *ex, const rg_lexeme *at, uint32_t n) {
    rg_lexemes out = {.at = RG_NEW_N(ex->arena, rg_lexeme, n), .cap = n};
    uint32_t opened = rg_macro_open(ex, at, n);
    for (;;) {
        rg_lexeme t = rg_macro_next(ex);
        if (t.kind == RG_LEX_END)
            break;
        RG_PUSH(ex->arena, &out, t);
    }
    rg_macro_close(ex, opened);
    return out;
}

/* ---- Calls ---- */

typedef struct argument {
    uint32_t start, n; /* in the call's tokens */
    bool is_expanded;
    rg_lexemes expanded;
} argument;

typedef struct call {
    rg_macro *macro;
    rg_loc loc; /* of the macro's name */
    rg_lexemes tokens;
    RG_VEC(argument) arguments;
} call;

static bool wrong_count(rg_expander *ex, const call *c) {
    const rg_macro *m = c->macro;
    uint32_t given = c->arguments.n, least = m->parameters - (m->variadic ? 1 : 0);
    if (m->variadic ? given >= least : given == m->parameters)
        return false;
    rg_error(ex->diags, c->loc, NULL, "macro '%s' takes %s%u argument%s, but is given %u",
             m->name->text, m->variadic ? "at least " : "", least, least == 1 ? "" : "s", given);
    rg_note(ex->diags, m->loc, "'%s' is defined here", m->name->text);
    return true;
}

/* Reads the arguments; the opening parenthesis has been read. */
static bool read_arguments(rg_expander *ex, call *c) {
    const rg_macro *m = c->macro;
    uint32_t depth = 0, start = 0;
    rg_macro_reading before = ex->reading;
    ex->reading = RG_MACRO_READING_ARGUMENTS;
    for (;;) {
        rg_lexeme t = rg_macro_next_raw(ex);
        if (t.kind == RG_LEX_END) {
            ex->reading = before;
            if (!ex->stop) {
                rg_error(ex->diags, c->loc, "close the call with )",
                         "the call of macro '%s' never ends", m->name->text);
                rg_note(ex->diags, m->loc, "'%s' is defined here", m->name->text);
            }
            return false;
        }
        bool closes = rg_lexeme_is(t, ')') && depth == 0;
        bool in_rest = m->variadic && c->arguments.n + 1 == m->parameters;
        if (closes || (rg_lexeme_is(t, ',') && depth == 0 && !in_rest)) {
            RG_PUSH(ex->arena, &c->arguments, (argument){.start = start, .n = c->tokens.n - start});
            start = c->tokens.n;
            if (closes)
                break;
            continue;
        }
        if (rg_lexeme_is(t, '('))
            depth++;
        else if (rg_lexeme_is(t, ')'))
            depth--;
        RG_PUSH(ex->arena, &c->tokens, t);
    }
    ex->reading = before;
    if (m->parameters == 0 && c->arguments.n == 1 && c->tokens.n == 0)
        c->arguments.n = 0;
    if (!spend(ex, c->loc, c->tokens.n) || wrong_count(ex, c))
        return false;
    if (c->arguments.n < m->parameters) /* GNU and C23: nothing at all for the ... */
        RG_PUSH(ex->arena, &c->arguments, (argument){.start = start});
    return true;
}

static const rg_lexemes *expanded_argument(rg_expander *ex, call *c, uint32_t index) {
    argument *g = &c->arguments.at[index];
    if (!g->is_expanded) {
        g->is_expanded = true;
        if (ex->depth >= MAX_DEPTH) {
            ex->stop = true;
            rg_error(ex->diags, c->loc, NULL, "macro calls are nested more than %d deep",
                     MAX_DEPTH);
            return &g->expanded;
        }
        ex->depth++;
        if (g->n)
            g->expanded = rg_macro_expand(ex, c->tokens.at + g->start, g->n);
        ex->depth--;
    }
    return &g->expanded;
}

static rg_lexeme stringify(rg_expander *ex, call *c, uint32_t index) {
    const argument *g = &c->arguments.at[index];
    rg_text text = {.arena = ex->arena};
    rg_text_char(&text, '"');
    for (uint32_t i = 0; i < g->n; i++) {
        rg_lexeme t = c->tokens.at[g->start + i];
        if (i && (t.flags & RG_LEX_SPACE))
            rg_text_char(&text, ' ');
        bool quoted = t.kind == RG_LEX_STRING || t.kind == RG_LEX_CHAR;
        for (const char *p = t.name->text; *p; p++) {
            if (quoted && (*p == '"' || *p == '\\'))
                rg_text_char(&text, '\\');
            rg_text_char(&text, *p);
        }
    }
    size_t slashes = 0; /* a stray backslash at the end would hide the closing quote */
    while (text.at[text.n - 1 - slashes] == '\\')
        slashes++;
    if (slashes % 2)
        text.at[--text.n] = 0;
    rg_text_char(&text, '"');
    spend(ex, c->loc, text.n / BYTES_PER_LEXEME);
    return (rg_lexeme){
        .kind = RG_LEX_STRING, .loc = c->loc, .name = rg_name_intern(ex->names, text.at, text.n)};
}

/* Appends to out what pasting its last lexeme and right gives. */
static void paste(rg_expander *ex, rg_lexemes *out, rg_lexeme right, rg_loc loc) {
    rg_lexeme *left = &out->at[out->n - 1];
    if (right.kind == RG_LEX_EMPTY)
        return;
    if (left->kind == RG_LEX_EMPTY) {
        right.flags = (uint8_t)((right.flags & ~RG_LEX_SPACE) | (left->flags & RG_LEX_SPACE));
        *left = right;
        return;
    }
    rg_text text = {.arena = ex->arena};
    rg_text_add_n(&text, left->name->text, left->name->size);
    rg_text_add_n(&text, right.name->text, right.name->size);
    if (!spend(ex, loc, text.n / BYTES_PER_LEXEME))
        return;
    rg_lexemes list = rg_lex_piece(ex->names, ex->sources, ex->diags, text.at, text.n, loc, true);
    if (list.n != 1 || list.at[0].name->size != text.n) {
        rg_error(ex->diags, loc, "## must form a single name, number or operator",
                 "pasting '%s' and '%s' does not give a token", left->name->text, right.name->text);
        RG_PUSH(ex->arena, out, right);
        return;
    }
    list.at[0].flags = left->flags & RG_LEX_SPACE;
    *left = list.at[0];
}

typedef struct substitution {
    rg_lexemes out;
    rg_loc loc;
    bool pasting; /* ## came before */
} substitution;

/* Adds a piece of the replacement. space: whether white space comes before it. */
static void add_piece(rg_expander *ex, substitution *s, const rg_lexeme *at, uint32_t n,
                      uint8_t space) {
    static const rg_lexeme empty = {.kind = RG_LEX_EMPTY};
    if (!spend(ex, s->loc, n + 1u))
        return;
    if (n == 0) {
        at = &empty;
        n = 1;
    }
    for (uint32_t i = 0; i < n; i++) {
        rg_lexeme t = at[i];
        t.parameter = 0;
        if (i == 0)
            t.flags = (uint8_t)((t.flags & ~RG_LEX_SPACE) | space);
        if (i == 0 && s->pasting)
            paste(ex, &s->out, t, s->loc);
        else
            RG_PUSH(ex->arena, &s->out, t);
    }
    s->pasting = false;
}

/* The replacement of a call, C11 6.10.3.1 to 6.10.3.3. */
static rg_lexemes substitute(rg_expander *ex, call *c) {
    const rg_macro *m = c->macro;
    substitution s = {.loc = c->loc};
    s.out.cap = m->body.n + c->tokens.n + 1; /* a guess that is seldom too small */
    s.out.at = RG_NEW_N(ex->arena, rg_lexeme, s.out.cap);
    for (uint32_t i = 0; i < m->body.n && !ex->stop; i++) {
        rg_lexeme t = m->body.at[i];
        t.loc = c->loc;
        uint8_t space = t.flags & RG_LEX_SPACE;
        if (is_hash_hash(t)) {
            s.pasting = true;
            continue;
        }
        bool pastes_next = i + 1 < m->body.n && is_hash_hash(m->body.at[i + 1]);
        if (m->variadic && pastes_next && rg_lexeme_is(t, ',') &&
            m->body.at[i + 2].parameter == m->parameters) {
            /* GNU: in ", ## __VA_ARGS__" the comma goes when there are no arguments. */
            i += 2;
            if (c->arguments.at[m->parameters - 1].n == 0) {
                add_piece(ex, &s, NULL, 0, space);
                continue;
            }
            add_piece(ex, &s, &t, 1, space);
            const rg_lexemes *rest = expanded_argument(ex, c, m->parameters - 1);
            add_piece(ex, &s, rest->at, rest->n, m->body.at[i].flags & RG_LEX_SPACE);
        } else if (m->kind == RG_MACRO_FUNCTION && rg_lexeme_is(t, '#')) {
            rg_lexeme string = stringify(ex, c, m->body.at[++i].parameter - 1u);
            add_piece(ex, &s, &string, 1, space);
        } else if (!t.parameter) {
            add_piece(ex, &s, &t, 1, space);
        } else if (s.pasting || pastes_next) {
            const argument *g = &c->arguments.at[t.parameter - 1u];
            add_piece(ex, &s, g->n ? c->tokens.at + g->start : NULL, g->n, space);
        } else {
            const rg_lexemes *g = expanded_argument(ex, c, t.parameter - 1u);
            add_piece(ex, &s, g->at, g->n, space);
        }
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.out.n; i++)
        if (s.out.at[i].kind != RG_LEX_EMPTY)
            s.out.at[n++] = s.out.at[i];
    s.out.n = n;
    return s.out;
}

/* ---- Expansion ---- */

static rg_lexeme own_value(rg_expander *ex, rg_lexeme t) {
    rg_text text = {.arena = ex->arena};
    rg_macro_kind kind = t.name->macro->kind;
    if (kind == RG_MACRO_FILE) {
        const rg_place *p = &ex->sources->locs.at[t.loc];
        rg_text_char(&text, '"');
        for (const char *q = p->file < ex->sources->files.n ? ex->sources->files.at[p->file].path
                                                            : "";
             *q; q++) {
            if (*q == '"' || *q == '\\')
                rg_text_char(&text, '\\');
            rg_text_char(&text, *q);
        }
        rg_text_char(&text, '"');
    } else if (kind == RG_MACRO_LINE) {
        rg_text_format(&text, "%u", rg_sources_line(ex->sources, t.loc));
    } else {
        rg_text_format(&text, "%llu", (unsigned long long)ex->counter++);
    }
    t.kind = kind == RG_MACRO_FILE ? RG_LEX_STRING : RG_LEX_NUMBER;
    t.name = rg_name_intern(ex->names, text.at, text.n);
    return t;
}

static void push_replacement(rg_expander *ex, rg_macro *m, rg_lexeme name, const rg_lexemes *list,
                             rg_loc loc) {
    if (!spend(ex, name.loc, list->n + 1u))
        return;
    m->disabled = true;
    push_list(ex, (rg_macro_list){.at = list->at,
                                  .end = list->n ? list->at + list->n : list->at,
                                  .loc = loc,
                                  .disabled = m,
                                  .space = name.flags & RG_LEX_SPACE});
}

/* True when t's replacement (or nothing) has taken its place. */
static bool replace(rg_expander *ex, rg_lexeme t) {
    call c = {.macro = t.name->macro, .loc = t.loc};
    rg_macro *m = c.macro;
    if (m->kind == RG_MACRO_OBJECT && !m->pastes) {
        push_replacement(ex, m, t, &m->body, t.loc);
        return true;
    }
    if (m->kind == RG_MACRO_FUNCTION) {
        rg_macro_reading before = ex->reading;
        ex->reading = RG_MACRO_READING_PAREN;
        rg_lexeme paren = rg_macro_next_raw(ex);
        ex->reading = before;
        if (!rg_lexeme_is(paren, '(')) {
            if (paren.kind != RG_LEX_END)
                rg_macro_unread(ex, paren);
            return false;
        }
        c.arguments.cap = m->parameters + 1; /* so many as a rule: calls are too many to waste */
        c.arguments.at = RG_NEW_N(ex->arena, argument, c.arguments.cap);
        if (!read_arguments(ex, &c))
            return true;
    }
    rg_lexemes list = substitute(ex, &c);
    push_replacement(ex, m, t, &list, 0);
    return true;
}

rg_lexeme rg_macro_next(rg_expander *ex) {
    for (;;) {
        rg_lexeme t = rg_macro_next_raw(ex);
        if (t.kind != RG_LEX_IDENT || !t.name->macro || (t.flags & RG_LEX_FINAL))
            return t;
        if (t.name->macro->kind >= RG_MACRO_FILE)
            return own_value(ex, t);
        if (!replace(ex, t))
            return t;
    }
}
