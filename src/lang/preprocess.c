/* Files and directives. The work is split like this:
 *
 *   text -> lex -> [directives: here, condition] -> macro -> [tokens: here, literal] -> parser
 *
 * and pulled from the right: the loop in rg_preprocess asks the expander for lexemes, the expander
 * asks read_file for the file's, and read_file does the directives that it meets. */
#include "lang/preprocess.h"

#include "lang/builtin_headers.h"
#include "lang/condition.h"
#include "lang/lex.h"
#include "lang/literal.h"
#include "lang/macro.h"

#include <string.h>

enum {
    BYTES_PER_TOKEN = 2,          /* of ordinary text, to reserve memory by */
    MAX_NESTING = 64,             /* #include within #include */
    MAX_INCLUDES = 20000,         /* in all: files that include one another twice explode */
    MAX_INCLUDED_BYTES = 16 << 20 /* likewise */
};

typedef struct file {
    const char *path;
    rg_lex_text text;
    uint32_t index; /* in the sources */
    bool once;
} file;

typedef struct condition {
    rg_loc loc; /* of the #if */
    bool taken; /* one of its groups was */
    bool past_else;
} condition;

typedef struct frame {
    file *file;
    rg_lexer lexer;
    uint32_t conditions; /* open when the file was entered */
} frame;

typedef struct preprocessor {
    rg_arena *arena;
    rg_sources *sources;
    rg_diags *diags;
    const rg_preprocess_options *options;
    rg_names names;
    rg_expander expander;
    rg_table files;   /* path -> file, so that a file is read and cleaned once */
    rg_table markers; /* path in a line marker -> 1 + index in the sources, as a uint32_t */
    RG_VEC(frame) frames;
    RG_VEC(condition) conditions;
    uint32_t includes;
    uint64_t included_bytes;
    rg_tokens *out;
} preprocessor;

static frame *top(preprocessor *pp) {
    return &pp->frames.at[pp->frames.n - 1];
}

static bool is_word(rg_lexeme t, const char *word) {
    return t.kind == RG_LEX_IDENT && strcmp(t.name->text, word) == 0;
}

/* ---- Lexemes to tokens ---- */

static const char *intern(preprocessor *pp, const char *s) {
    return rg_name_intern(&pp->names, s, strlen(s))->text;
}

static void report(preprocessor *pp, rg_loc loc, rg_literal_fault f) {
    if (f.message && f.is_warning)
        rg_warning(pp->diags, loc, f.hint, "%s", f.message);
    else if (f.message)
        rg_error(pp->diags, loc, f.hint, "%s", f.message);
}

static void report_other(preprocessor *pp, rg_lexeme t) {
    unsigned char c = (unsigned char)t.name->text[0];
    if (c == '\\')
        rg_error(pp->diags, t.loc, "a backslash continues a line only as its last character",
                 "stray '\\'");
    else if (c >= 0x80)
        rg_error(pp->diags, t.loc, "names are made of the letters a-z and A-Z, digits and _",
                 "'%s' outside comments and strings", t.name->text);
    else if (c < 0x20 || c == 0x7f)
        rg_error(pp->diags, t.loc, NULL, "control character 0x%02x", c);
    else
        rg_error(pp->diags, t.loc, "C has no use for this character", "stray '%s'", t.name->text);
}

/* strict: whether what is no C is an error; pragmas of others may say what they want. */
static void emit(preprocessor *pp, rg_lexeme t, bool strict) {
    rg_token token = {.kind = RG_TOK_PUNCT,
                      .loc = t.loc,
                      .text = t.name->text,
                      .space_before = (t.flags & RG_LEX_SPACE) != 0};
    rg_literal_fault f = {NULL, NULL, false};
    switch (t.kind) {
    case RG_LEX_IDENT:
        token.kind = RG_TOK_IDENT;
        break;
    case RG_LEX_NUMBER:
        f = rg_literal_number(pp->arena, t.name->text, &token);
        break;
    case RG_LEX_CHAR:
        f = rg_literal_char(pp->arena, t.name->text, &token);
        break;
    case RG_LEX_STRING: {
        rg_text text = {.arena = pp->arena};
        f = rg_literal_string(t.name->text, &text);
        token.kind = RG_TOK_STRING;
        token.text = intern(pp, rg_text_str(&text));
        break;
    }
    case RG_LEX_OTHER:
        if (strict) {
            report_other(pp, t);
            return;
        }
        break;
    default:
        break;
    }
    if (strict)
        report(pp, t.loc, f);
    RG_PUSH(pp->arena, &pp->out->list, token);
}

/* ---- Pragmas ---- */

static void emit_pragma(preprocessor *pp, rg_loc loc, rg_lexemes words) {
    if (words.n == 1 && is_word(words.at[0], "once")) {
        if (pp->frames.n)
            top(pp)->file->once = true;
        return;
    }
    bool ours = words.n && (is_word(words.at[0], "omp") || is_word(words.at[0], "retrograd"));
    if (ours && words.n > 1) {
        rg_lexeme first = words.at[0];
        rg_lexemes rest = rg_macro_expand(&pp->expander, words.at + 1, words.n - 1);
        words = (rg_lexemes){0};
        RG_PUSH(pp->arena, &words, first);
        for (uint32_t i = 0; i < rest.n; i++)
            RG_PUSH(pp->arena, &words, rest.at[i]);
    }
    RG_PUSH(pp->arena, &pp->out->list,
            (rg_token){.kind = RG_TOK_PRAGMA, .loc = loc, .text = intern(pp, "#pragma")});
    for (uint32_t i = 0; i < words.n; i++)
        emit(pp, words.at[i], ours);
    RG_PUSH(pp->arena, &pp->out->list,
            (rg_token){.kind = RG_TOK_PRAGMA_END, .loc = loc, .text = intern(pp, "")});
}

/* _Pragma ( string ), C11 6.10.9. */
static void pragma_operator(preprocessor *pp, rg_lexeme t) {
    rg_lexeme paren = rg_macro_next(&pp->expander), string = {.kind = RG_LEX_END}, close = string;
    bool good = rg_lexeme_is(paren, '(');
    if (good) {
        string = rg_macro_next(&pp->expander);
        good = string.kind == RG_LEX_STRING;
    } else if (paren.kind != RG_LEX_END) {
        rg_macro_unread(&pp->expander, paren);
    }
    if (good) {
        close = rg_macro_next(&pp->expander);
        good = rg_lexeme_is(close, ')');
    }
    if (!good) {
        rg_error(pp->diags, t.loc, "write _Pragma(\"omp parallel for\")",
                 "_Pragma needs one string in parentheses");
        return;
    }
    /* Only \" and \\ are escapes here. */
    rg_text text = {.arena = pp->arena};
    const char *p = strchr(string.name->text, '"');
    for (p++; *p && *p != '"'; p++) {
        if (p[0] == '\\' && (p[1] == '"' || p[1] == '\\'))
            p++;
        rg_text_char(&text, *p);
    }
    emit_pragma(
        pp, t.loc,
        rg_lex_piece(&pp->names, pp->sources, pp->diags, rg_text_str(&text), text.n, t.loc, false));
}

/* ---- Files ---- */

static file *add_file(preprocessor *pp, const char *path, const char *text, size_t size) {
    file *f = RG_NEW(pp->arena, file);
    f->path = rg_strdup(pp->arena, path);
    f->index = rg_sources_add(pp->sources, path, text, size);
    f->text = rg_lex_clean(pp->arena, pp->sources, pp->diags, f->index, text, size);
    return f;
}

static void enter_file(preprocessor *pp, file *f) {
    rg_lexer lexer = rg_lex_open(&pp->names, pp->sources, pp->diags, f->index, &f->text);
    RG_PUSH(pp->arena, &pp->frames,
            (frame){.file = f, .lexer = lexer, .conditions = pp->conditions.n});
}

static void leave_file(preprocessor *pp) {
    frame *f = top(pp);
    while (pp->conditions.n > f->conditions) {
        condition *c = &pp->conditions.at[--pp->conditions.n];
        rg_error(pp->diags, c->loc, "end it with #endif", "this #if has no #endif");
    }
    pp->frames.n--;
}

static file *read_user_file(preprocessor *pp, const char *path) {
    const rg_preprocess_options *o = pp->options;
    file *f = rg_table_get(&pp->files, path);
    if (f || !o->read)
        return f;
    size_t size = 0;
    const char *text = o->read(o->user, pp->arena, path, &size);
    if (!text)
        return NULL;
    f = add_file(pp, path, text, size);
    rg_table_set(&pp->files, path, f);
    return f;
}

static file *builtin_file(preprocessor *pp, const rg_builtin_header *h) {
    const char *path = rg_format(pp->arena, "<%s>", h->name);
    file *f = rg_table_get(&pp->files, path);
    if (!f) {
        f = add_file(pp, path, h->text, strlen(h->text));
        rg_table_set(&pp->files, path, f);
    }
    return f;
}

/* folder/name, with "." and "x/.." taken out so that #pragma once knows a file again. */
static const char *join_path(preprocessor *pp, const char *folder, size_t n, const char *name) {
    rg_text t = {.arena = pp->arena};
    RG_VEC(size_t) starts = {0}; /* of the parts that ".." may take away */
    rg_text_add_n(&t, folder, n);
    if (n && folder[n - 1] != '/')
        rg_text_char(&t, '/');
    rg_text_add(&t, name);
    const char *p = rg_text_str(&t);
    rg_text out = {.arena = pp->arena};
    if (*p == '/')
        rg_text_char(&out, '/');
    while (*p) {
        size_t part = strcspn(p, "/");
        if (part == 2 && p[0] == '.' && p[1] == '.' && starts.n) {
            out.n = starts.at[--starts.n];
            out.at[out.n] = 0;
        } else if (part && !(part == 1 && *p == '.')) {
            if (!(part == 2 && p[0] == '.' && p[1] == '.'))
                RG_PUSH(pp->arena, &starts, out.n);
            rg_text_add_n(&out, p, part);
            if (p[part])
                rg_text_char(&out, '/');
        }
        p += part;
        p += *p == '/';
    }
    return rg_text_str(&out);
}

static file *find_user_file(preprocessor *pp, const char *name, bool quoted) {
    const rg_preprocess_options *o = pp->options;
    if (name[0] == '/')
        return read_user_file(pp, join_path(pp, "", 0, name));
    file *f = NULL;
    if (quoted) {
        const char *path = top(pp)->file->path, *slash = strrchr(path, '/');
        f = read_user_file(pp, join_path(pp, path, slash ? (size_t)(slash + 1 - path) : 0, name));
    }
    for (uint32_t i = 0; !f && i < o->n_include_dirs; i++)
        f = read_user_file(pp, join_path(pp, o->include_dirs[i], strlen(o->include_dirs[i]), name));
    return f;
}

static void report_no_header(preprocessor *pp, rg_lexeme header, const char *name) {
    static const char *const library[] = {"assert.h", "complex.h", "ctype.h",  "errno.h",
                                          "stdarg.h", "stdio.h",   "stdlib.h", "string.h",
                                          "time.h",   NULL};
    for (int i = 0; library[i]; i++)
        if (strcmp(library[i], name) == 0) {
            rg_error(pp->diags, header.loc,
                     "put what only the C compiler needs between #ifndef __RETROGRAD__ and #endif",
                     "header %s is not available in kernels", header.name->text);
            return;
        }
    rg_text hint = {.arena = pp->arena};
    rg_text_add(&hint, "the built-in headers are");
    for (const rg_builtin_header *h = rg_builtin_headers; h->name; h++)
        rg_text_format(&hint, " <%s>", h->name);
    rg_text_add(&hint, "; others are looked for in the include folders");
    rg_error(pp->diags, header.loc, rg_text_str(&hint), "cannot find header %s", header.name->text);
}

static void include_header(preprocessor *pp, rg_lexeme header) {
    bool quoted = header.name->text[0] == '"';
    const char *name =
        rg_strndup(pp->arena, header.name->text + 1, header.name->size ? header.name->size - 2 : 0);
    const rg_builtin_header *h = rg_builtin_header_find(name);
    file *f = NULL;
    if (quoted && !(h && h->is_ours))
        f = find_user_file(pp, name, true);
    if (!f && h)
        f = builtin_file(pp, h);
    if (!f && !quoted)
        f = find_user_file(pp, name, false);
    if (!f) {
        report_no_header(pp, header, name);
        return;
    }
    if (f->once)
        return;
    pp->included_bytes += f->text.size;
    if (pp->frames.n > MAX_NESTING) {
        pp->expander.stop = true;
        rg_error(pp->diags, header.loc, "does the file include itself? Begin it with #pragma once",
                 "#include is nested more than %d deep", MAX_NESTING);
    } else if (++pp->includes > MAX_INCLUDES || pp->included_bytes > MAX_INCLUDED_BYTES) {
        pp->expander.stop = true;
        rg_error(pp->diags, header.loc, "begin files that are included often with #pragma once",
                 "more than %d files or %d MiB are included", MAX_INCLUDES,
                 MAX_INCLUDED_BYTES >> 20);
    } else {
        enter_file(pp, f);
    }
}

/* ---- Directives ---- */

static rg_lexemes read_line(preprocessor *pp) {
    rg_lexemes line = {0};
    for (;;) {
        rg_lexeme t = rg_lex_next(&top(pp)->lexer);
        if (t.kind == RG_LEX_NEWLINE || t.kind == RG_LEX_END)
            return line;
        RG_PUSH(pp->arena, &line, t);
    }
}

static void skip_line(preprocessor *pp) {
    size_t n;
    bool quiet = top(pp)->lexer.quiet;
    top(pp)->lexer.quiet = true;
    rg_lex_skip_line(&top(pp)->lexer, &n);
    top(pp)->lexer.quiet = quiet;
}

static void expect_end(preprocessor *pp, const char *directive, const rg_lexemes *line,
                       uint32_t used) {
    if (line->n > used)
        rg_warning(pp->diags, line->at[used].loc, "make it a comment",
                   "text after the end of #%s is ignored", directive);
}

/* A header named by macros: C11 6.10.2 p. 4. */
static bool header_of_line(preprocessor *pp, const rg_lexemes *line, rg_lexeme *header) {
    rg_lexemes t = rg_macro_expand(&pp->expander, line->at, line->n);
    if (t.n == 1 && t.at[0].kind == RG_LEX_STRING) {
        *header = t.at[0];
        return header->name->text[0] == '"';
    }
    if (t.n < 3 || !rg_lexeme_is(t.at[0], '<') || !rg_lexeme_is(t.at[t.n - 1], '>'))
        return false;
    rg_text text = {.arena = pp->arena};
    for (uint32_t i = 0; i < t.n; i++)
        rg_text_add(&text, t.at[i].name->text);
    *header = t.at[0];
    header->kind = RG_LEX_STRING;
    header->name = rg_name_intern(&pp->names, text.at, text.n);
    return true;
}

static void directive_include(preprocessor *pp, rg_lexeme name) {
    rg_lexeme header = {.kind = RG_LEX_END};
    bool good = rg_lex_header(&top(pp)->lexer, &header);
    rg_lexemes line = read_line(pp);
    if (good)
        expect_end(pp, "include", &line, 0);
    else
        good = header_of_line(pp, &line, &header);
    if (good && header.name->size > 2)
        include_header(pp, header);
    else if (!pp->expander.stop)
        rg_error(pp->diags, name.loc, "write #include <math.h> or #include \"mine.h\"",
                 "#include needs a header's name");
}

static void directive_undef(preprocessor *pp, rg_lexeme name) {
    rg_lexemes line = read_line(pp);
    rg_lexeme t = line.n ? line.at[0] : (rg_lexeme){.kind = RG_LEX_END, .loc = name.loc};
    if (rg_macro_name_is_free(&pp->expander, t, "undef")) {
        expect_end(pp, "undef", &line, 1);
        t.name->macro = NULL;
    }
}

static void directive_message(preprocessor *pp, rg_lexeme name) {
    size_t n;
    const char *text = rg_lex_skip_line(&top(pp)->lexer, &n);
    int shown = n > 500 ? 500 : (int)n;
    const char *space = n ? " " : "";
    if (is_word(name, "error"))
        rg_error(pp->diags, name.loc, NULL, "#error%s%.*s", space, shown, text);
    else
        rg_warning(pp->diags, name.loc, NULL, "#warning%s%.*s", space, shown, text);
}

/* The source that a line marker names: the user's own file where it can be read, so that errors
 * show its line. */
static uint32_t marker_file(preprocessor *pp, const char *path) {
    const rg_preprocess_options *o = pp->options;
    uint32_t *known = rg_table_get(&pp->markers, path);
    if (!known) {
        size_t size = 0;
        const char *text = NULL;
        if (o->read && path[0] && path[0] != '<')
            text = o->read(o->user, pp->arena, path, &size);
        known = RG_NEW(pp->arena, uint32_t);
        *known = rg_sources_add(pp->sources, path, text, text ? size : 0);
        rg_table_set(&pp->markers, path, known);
    }
    return *known;
}

/* #line 12 "file.c", and # 12 "file.c" 1 3 as compilers write it. */
static void set_line(preprocessor *pp, rg_loc loc, rg_lexemes line, bool is_marker) {
    if (!is_marker)
        line = rg_macro_expand(&pp->expander, line.at, line.n);
    uint64_t number = 0;
    bool good = line.n && line.at[0].kind == RG_LEX_NUMBER;
    for (const char *p = good ? line.at[0].name->text : ""; *p; p++) {
        good = good && *p >= '0' && *p <= '9' && number < INT32_MAX;
        number = good ? number * 10 + (uint64_t)(*p - '0') : number;
    }
    if (line.n > 1 && line.at[1].kind != RG_LEX_STRING)
        good = false;
    if (!good || number > INT32_MAX) {
        if (!pp->expander.stop)
            rg_error(pp->diags, loc, "write #line 12 \"file.c\"", "malformed line number");
        return;
    }
    if (!is_marker)
        expect_end(pp, "line", &line, 2);
    /* The line was read to its end: what the lexer calls its line is the next one. */
    frame *f = top(pp);
    f->lexer.line = (uint32_t)number;
    if (line.n > 1) {
        rg_text path = {.arena = pp->arena};
        report(pp, line.at[1].loc, rg_literal_string(line.at[1].name->text, &path));
        f->lexer.file = marker_file(pp, rg_text_str(&path));
    } else if (f->lexer.file == f->file->index) {
        /* Same name, other numbers: no line of the text may be shown for them. */
        f->lexer.file = rg_sources_add(pp->sources, f->file->path, NULL, 0);
    }
}

/* ---- Conditional groups ---- */

static bool test_name(preprocessor *pp, rg_lexeme name) {
    rg_lexemes line = read_line(pp);
    if (line.n == 0 || line.at[0].kind != RG_LEX_IDENT) {
        rg_error(pp->diags, line.n ? line.at[0].loc : name.loc, NULL,
                 "#%s needs the name of a macro", name.name->text);
        return false;
    }
    expect_end(pp, name.name->text, &line, 1);
    return (line.at[0].name->macro != NULL) == is_word(name, "ifdef");
}

static bool test_expression(preprocessor *pp, rg_lexeme name) {
    rg_lexemes line = read_line(pp);
    return rg_condition_holds(&pp->expander, name.name->text, name.loc, &line);
}

static bool is_if(rg_lexeme t) {
    return is_word(t, "if") || is_word(t, "ifdef") || is_word(t, "ifndef");
}

/* #elif, #else or #endif, for the innermost open #if; true when what follows is to be read. */
static bool next_group(preprocessor *pp, rg_lexeme name) {
    if (pp->conditions.n == top(pp)->conditions) {
        rg_error(pp->diags, name.loc, NULL, "#%s without #if", name.name->text);
        skip_line(pp);
        return true;
    }
    condition *c = &pp->conditions.at[pp->conditions.n - 1];
    if (is_word(name, "endif")) {
        rg_lexemes line = read_line(pp);
        expect_end(pp, "endif", &line, 0);
        pp->conditions.n--;
        return true;
    }
    if (c->past_else) {
        rg_error(pp->diags, name.loc, "an #if has one #else, and that comes last",
                 "#%s after #else", name.name->text);
        rg_note(pp->diags, c->loc, "the #if is here");
    }
    bool holds = !c->taken && !c->past_else;
    if (is_word(name, "else")) {
        rg_lexemes line = read_line(pp);
        expect_end(pp, "else", &line, 0);
        c->past_else = true;
    } else if (holds) {
        holds = test_expression(pp, name);
    } else {
        skip_line(pp);
    }
    c->taken |= holds;
    return holds;
}

/* Passes over groups until one is to be read, or the file ends. */
static void skip_groups(preprocessor *pp) {
    rg_lexer *lx = &top(pp)->lexer;
    uint32_t depth = 0;
    for (;;) {
        lx->quiet = true; /* prose in a skipped group is no error */
        rg_lexeme t = rg_lex_next(lx);
        if (t.kind == RG_LEX_END) {
            lx->quiet = false;
            return;
        }
        if (t.kind == RG_LEX_NEWLINE)
            continue;
        if (rg_lexeme_is(t, '#') && (t.flags & RG_LEX_FIRST)) {
            t = rg_lex_next(lx);
            if (t.kind == RG_LEX_NEWLINE)
                continue;
            bool ends = is_word(t, "endif");
            if (is_if(t)) {
                depth++;
            } else if (depth && ends) {
                depth--;
            } else if (!depth && (ends || is_word(t, "else") || is_word(t, "elif"))) {
                lx->quiet = false;
                if (next_group(pp, t))
                    return;
                continue;
            }
        }
        skip_line(pp);
    }
}

static void directive_if(preprocessor *pp, rg_lexeme name) {
    bool holds = is_word(name, "if") ? test_expression(pp, name) : test_name(pp, name);
    RG_PUSH(pp->arena, &pp->conditions, (condition){.loc = name.loc, .taken = holds});
    if (!holds)
        skip_groups(pp);
}

/* ---- Reading a file ---- */

static bool changes_the_file(rg_lexeme name) {
    return is_word(name, "include") || is_word(name, "pragma");
}

static void directive(preprocessor *pp, rg_lexeme name) {
    bool raw = pp->options->already_preprocessed;
    if (name.kind == RG_LEX_NEWLINE || name.kind == RG_LEX_END)
        return;
    if (name.kind == RG_LEX_NUMBER) {
        rg_lexemes rest = read_line(pp), line = {0};
        RG_PUSH(pp->arena, &line, name);
        for (uint32_t i = 0; i < rest.n; i++)
            RG_PUSH(pp->arena, &line, rest.at[i]);
        set_line(pp, name.loc, line, true);
    } else if (is_word(name, "line")) {
        set_line(pp, name.loc, read_line(pp), false);
    } else if (is_word(name, "pragma")) {
        emit_pragma(pp, name.loc, read_line(pp));
    } else if (raw) {
        rg_error(pp->diags, name.loc, "give the file without the option for preprocessed text",
                 "a directive in text that is already preprocessed");
        skip_line(pp);
    } else if (is_word(name, "define")) {
        rg_lexemes line = read_line(pp);
        rg_macro_define(&pp->expander, name.loc, &line);
    } else if (is_word(name, "undef")) {
        directive_undef(pp, name);
    } else if (is_if(name)) {
        directive_if(pp, name);
    } else if (is_word(name, "elif") || is_word(name, "else") || is_word(name, "endif")) {
        if (!next_group(pp, name))
            skip_groups(pp);
    } else if (is_word(name, "error") || is_word(name, "warning")) {
        directive_message(pp, name);
    } else if (is_word(name, "include")) {
        directive_include(pp, name);
    } else {
        rg_error(pp->diags, name.loc,
                 "known are define undef include if ifdef ifndef elif else endif error warning "
                 "line pragma",
                 "unknown directive #%s", name.name->text);
        skip_line(pp);
    }
}

/* The expander's source: the next lexeme that is not part of a directive. */
static rg_lexeme read_file(void *user) {
    preprocessor *pp = user;
    rg_lexeme end = {.kind = RG_LEX_END};
    while (pp->frames.n && !pp->expander.stop) {
        rg_lexer *lx = &top(pp)->lexer;
        rg_lexer before = *lx;
        rg_lexeme t = rg_lex_next(lx);
        if (t.kind == RG_LEX_NEWLINE)
            continue;
        if (t.kind == RG_LEX_END) {
            if (pp->expander.reading != RG_MACRO_READING_TEXT)
                return t; /* a call ends in the file that it begins in */
            leave_file(pp);
            continue;
        }
        if (!rg_lexeme_is(t, '#') || !(t.flags & RG_LEX_FIRST))
            return t;
        rg_lexeme name = rg_lex_next(lx);
        if (changes_the_file(name) && pp->expander.reading == RG_MACRO_READING_PAREN) {
            *lx = before; /* not a call, then: the directive comes after the name */
            return end;
        }
        if (changes_the_file(name) && pp->expander.reading == RG_MACRO_READING_ARGUMENTS) {
            rg_error(pp->diags, name.loc,
                     is_word(name, "pragma") ? "use _Pragma(\"...\")"
                                             : "include it before the call",
                     "#%s inside the arguments of a macro", name.name->text);
            skip_line(pp);
            continue;
        }
        directive(pp, name);
    }
    return end;
}

/* ---- The whole ---- */

/* Predefined macros and those of the options, as the text of a file of their own: they go through
 * the same checks, and errors in them show where. */
static void define_all(preprocessor *pp) {
    const rg_preprocess_options *o = pp->options;
    static const char predefined[] = "#define __RETROGRAD__ 1\n"
                                     "#define __STDC__ 1\n"
                                     "#define __STDC_VERSION__ 201112L\n"
                                     "#define _OPENMP 201511\n";
    rg_macro_predefine(&pp->expander);
    rg_text given = {.arena = pp->arena};
    for (uint32_t i = 0; i < o->n_defines; i++) {
        const char *value = strchr(o->defines[i], '=');
        size_t name = value ? (size_t)(value - o->defines[i]) : strlen(o->defines[i]);
        rg_text_add(&given, "#define ");
        size_t start = given.n;
        rg_text_add_n(&given, o->defines[i], name);
        rg_text_char(&given, ' ');
        rg_text_add(&given, value ? value + 1 : "1");
        for (char *p = given.at + start; *p; p++)
            if (*p == '\n')
                *p = ' '; /* one definition is one line */
        rg_text_char(&given, '\n');
    }
    enter_file(pp, add_file(pp, "<predefined>", predefined, sizeof predefined - 1));
    read_file(pp);
    if (given.n) {
        enter_file(pp, add_file(pp, "<command line>", given.at, given.n));
        read_file(pp);
    }
}

rg_tokens *rg_preprocess(rg_arena *a, rg_sources *s, rg_diags *d, const char *path,
                         const char *text, size_t size, const rg_preprocess_options *o) {
    static const rg_preprocess_options none = {0};
    preprocessor *pp = RG_NEW(a, preprocessor);
    pp->arena = a;
    pp->sources = s;
    pp->diags = d;
    pp->options = o ? o : &none;
    pp->names.arena = pp->files.arena = pp->markers.arena = a;
    pp->expander = (rg_expander){
        .arena = a, .names = &pp->names, .sources = s, .diags = d, .read = read_file, .user = pp};
    pp->out = RG_NEW(a, rg_tokens);
    pp->out->list.cap = (uint32_t)(size / BYTES_PER_TOKEN) + 8;
    pp->out->list.at = RG_NEW_N(a, rg_token, pp->out->list.cap);
    file *main_file = add_file(pp, path, text, size);
    rg_table_set(&pp->files, join_path(pp, "", 0, path), main_file);
    if (!pp->options->already_preprocessed)
        define_all(pp);
    enter_file(pp, main_file);
    for (;;) {
        rg_lexeme t = rg_macro_next(&pp->expander);
        if (t.kind == RG_LEX_END)
            break;
        if (is_word(t, "_Pragma"))
            pragma_operator(pp, t);
        else
            emit(pp, t, true);
    }
    rg_loc end = pp->out->list.n ? pp->out->list.at[pp->out->list.n - 1].loc
                                 : rg_sources_loc(s, main_file->index, 1, 1);
    RG_PUSH(a, &pp->out->list, (rg_token){.kind = RG_TOK_END, .loc = end, .text = intern(pp, "")});
    return pp->out;
}
