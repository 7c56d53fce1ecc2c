#include "lang/lex.h"

#include <string.h>

rg_name *rg_name_intern(rg_names *names, const char *text, size_t size) {
    unsigned char c = size == 1 ? (unsigned char)text[0] : 128;
    if (c < 128 && names->single[c])
        return names->single[c];
    names->table.arena = names->arena;
    rg_name *name = rg_table_get_n(&names->table, text, size);
    if (!name) {
        name = RG_NEW(names->arena, rg_name);
        name->text = rg_strndup(names->arena, text, size);
        name->size = (uint32_t)size;
        rg_table_set(&names->table, name->text, name);
    }
    if (c < 128)
        names->single[c] = name;
    return name;
}

/* ---- Cleaning ---- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* A carriage return alone ends a line too, as gcc and clang have it: were it a blank, a comment
 * would go on over what every editor shows as the next line. Length of the line's end at p, 0 if
 * none. */
static size_t line_end_length(const char *p, const char *end) {
    if (*p == '\n')
        return 1;
    return *p != '\r' ? 0 : p + 1 < end && p[1] == '\n' ? 2 : 1;
}

/* Length of the splice at p, 0 if none. As in gcc and clang, blanks may stand between the backslash
 * and the end of the line: nobody means anything else by it. */
static size_t splice_length(const char *p, const char *end) {
    const char *q = p + 1;
    while (q < end && is_blank(*q) && *q != '\r')
        q++;
    size_t n = q < end ? line_end_length(q, end) : 0;
    return n ? (size_t)(q - p) + n : 0;
}

rg_lex_text rg_lex_clean(rg_arena *a, rg_sources *s, rg_diags *d, uint32_t file, const char *text,
                         size_t size) {
    rg_lex_text clean = {0};
    char *out = rg_alloc(a, size + 1);
    const char *p = text, *end = text + size, *line_start = text;
    uint32_t line = 1;
    size_t n = 0, copied = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark says nothing */
        memcpy(out, "   ", 3);
        n = copied = 3;
        p += 3;
    }
    bool has_nul = memchr(p, 0, (size_t)(end - p)) != NULL;
    bool has_backslash = memchr(p, '\\', (size_t)(end - p)) != NULL;
    bool has_return = memchr(p, '\r', (size_t)(end - p)) != NULL;
    if (!has_nul && !has_backslash && !has_return) {
        memcpy(out + n, p, size - copied);
        n = size;
        p = end;
    }
    while (p < end) {
        size_t skip = *p == '\\' ? splice_length(p, end) : 0;
        if (skip) {
            RG_PUSH(a, &clean.splices, (uint32_t)n);
            p += skip;
            line++;
            line_start = p;
            continue;
        }
        if (*p == 0) {
            if (has_nul)
                rg_fatal(d, rg_sources_loc(s, file, line, (uint32_t)(p - line_start) + 1),
                         "save the file as ASCII or UTF-8 text", "the text has a NUL byte");
            has_nul = false; /* one report is enough */
        }
        size_t ends = line_end_length(p, end);
        if (ends) {
            out[n++] = '\n';
            p += ends;
            line++;
            line_start = p;
        } else {
            out[n++] = *p ? *p : ' ';
            p++;
        }
    }
    clean.at = out;
    clean.size = n;
    return clean;
}

rg_lexer rg_lex_open(rg_names *names, rg_sources *s, rg_diags *d, uint32_t file,
                     const rg_lex_text *text) {
    return (rg_lexer){.names = names,
                      .sources = s,
                      .diags = d,
                      .text = text,
                      .at = text->at,
                      .line_start = text->at,
                      .file = file,
                      .line = 1,
                      .first = true};
}

/* ---- Positions ---- */

/* Brings line and line_start up to p, which lies on the cleaned line that `at` is on. */
static void settle(rg_lexer *lx, const char *p) {
    const rg_lex_text *t = lx->text;
    while (lx->splice < t->splices.n && t->at + t->splices.at[lx->splice] <= p) {
        lx->line++;
        lx->line_start = t->at + t->splices.at[lx->splice++];
    }
}

static rg_loc loc_at(rg_lexer *lx, const char *p) {
    if (lx->fixed)
        return lx->fixed;
    settle(lx, p);
    return rg_sources_loc(lx->sources, lx->file, lx->line, (uint32_t)(p - lx->line_start) + 1);
}

static void pass_newline(rg_lexer *lx) {
    settle(lx, lx->at);
    lx->at++;
    lx->line++;
    lx->line_start = lx->at;
}

/* ---- White space ---- */

static bool at_comment(const rg_lexer *lx) {
    return lx->at[0] == '/' && (lx->at[1] == '*' || lx->at[1] == '/');
}

static void skip_comment(rg_lexer *lx) {
    if (lx->at[1] == '/') {
        const char *end = strchr(lx->at, '\n');
        lx->at = end ? end : lx->text->at + lx->text->size;
        return;
    }
    rg_loc start = lx->quiet ? 0 : loc_at(lx, lx->at);
    lx->at += 2;
    while (*lx->at && !(lx->at[0] == '*' && lx->at[1] == '/')) {
        if (*lx->at == '\n')
            pass_newline(lx);
        else
            lx->at++;
    }
    if (*lx->at)
        lx->at += 2;
    else if (!lx->quiet)
        rg_error(lx->diags, start, "close it with */", "this comment never ends");
}

static bool skip_blanks(rg_lexer *lx) {
    const char *start = lx->at;
    for (;;) {
        if (is_blank(*lx->at))
            lx->at++;
        else if (at_comment(lx))
            skip_comment(lx);
        else
            return lx->at != start;
    }
}

/* ---- Lexemes ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char *end_of_ident(const char *p) {
    while (is_letter(*p) || is_digit(*p))
        p++;
    return p;
}

static const char *end_of_number(const char *p) {
    for (p++; is_letter(*p) || is_digit(*p) || *p == '.'; p++)
        if (strchr("eEpP", *p) && (p[1] == '+' || p[1] == '-'))
            p++;
    return p;
}

/* From the opening quote to after the closing one, or to the end of the line. */
static const char *end_of_quoted(const char *p, bool *closed) {
    char quote = *p++;
    while (*p && *p != '\n' && *p != quote)
        p += p[0] == '\\' && p[1] && p[1] != '\n' ? 2 : 1;
    *closed = *p == quote;
    return *closed ? p + 1 : p;
}

static int punct_length(const char *p) {
    char b = p[1];
    switch (p[0]) {
    case '[':
    case ']':
    case '(':
    case ')':
    case '{':
    case '}':
    case '~':
    case '?':
    case ';':
    case ',':
        return 1;
    case '.':
        return b == '.' && p[2] == '.' ? 3 : 1;
    case '-':
        return b == '>' || b == '-' || b == '=' ? 2 : 1;
    case '+':
    case '&':
    case '|':
        return b == p[0] || b == '=' ? 2 : 1;
    case '*':
    case '/':
    case '^':
    case '!':
    case '=':
        return b == '=' ? 2 : 1;
    case '%':
        if (b == ':')
            return p[2] == '%' && p[3] == ':' ? 4 : 2;
        return b == '=' || b == '>' ? 2 : 1;
    case '<':
        if (b == '<')
            return p[2] == '=' ? 3 : 2;
        return b == '=' || b == ':' || b == '%' ? 2 : 1;
    case '>':
        if (b == '>')
            return p[2] == '=' ? 3 : 2;
        return b == '=' ? 2 : 1;
    case ':':
        return b == '>' ? 2 : 1;
    case '#':
        return b == '#' ? 2 : 1;
    default:
        return 0;
    }
}

/* Digraphs get the spelling they stand for, so that nobody after this has to know them. */
static rg_name *punct_name(rg_lexer *lx, const char *p, int n) {
    static const char digraphs[][2][5] = {{"<:", "["}, {":>", "]"}, {"<%", "{"},
                                          {"%>", "}"}, {"%:", "#"}, {"%:%:", "##"}};
    if (n > 1 && (p[0] == '%' || p[0] == '<' || p[0] == ':'))
        for (size_t i = 0; i < sizeof digraphs / sizeof digraphs[0]; i++)
            if (strlen(digraphs[i][0]) == (size_t)n && memcmp(digraphs[i][0], p, (size_t)n) == 0)
                return rg_name_intern(lx->names, digraphs[i][1], strlen(digraphs[i][1]));
    return rg_name_intern(lx->names, p, (size_t)n);
}

static bool is_quote(char c) {
    return c == '"' || c == '\'';
}

/* Length of a literal's prefix, when the quote comes right after it. */
static size_t prefix_length(const char *p) {
    if ((*p == 'L' || *p == 'u' || *p == 'U') && is_quote(p[1]))
        return 1;
    return p[0] == 'u' && p[1] == '8' && p[2] == '"' ? 2 : 0;
}

rg_lexeme rg_lex_next(rg_lexer *lx) {
    rg_lexeme t = {.kind = RG_LEX_END};
    if (skip_blanks(lx))
        t.flags |= RG_LEX_SPACE;
    if (lx->first)
        t.flags |= RG_LEX_FIRST | RG_LEX_SPACE;
    const char *p = lx->at, *end;
    t.loc = loc_at(lx, p);
    if (!*p)
        return t;
    if (*p == '\n') {
        t.kind = RG_LEX_NEWLINE;
        pass_newline(lx);
        lx->first = true;
        return t;
    }
    lx->first = false;
    size_t prefix = prefix_length(p);
    int n;
    if (prefix || is_quote(*p)) {
        bool closed;
        end = end_of_quoted(p + prefix, &closed);
        bool is_char = p[prefix] == '\'';
        t.kind = is_char ? RG_LEX_CHAR : RG_LEX_STRING;
        if (!closed && !lx->quiet)
            rg_error(lx->diags, t.loc,
                     is_char ? "close it with ' on the same line"
                             : "close it with \" on the same line",
                     "this %s never ends", is_char ? "character constant" : "string");
    } else if (is_letter(*p)) {
        t.kind = RG_LEX_IDENT;
        end = end_of_ident(p);
    } else if (is_digit(*p) || (*p == '.' && is_digit(p[1]))) {
        t.kind = RG_LEX_NUMBER;
        end = end_of_number(p);
    } else if ((n = punct_length(p)) != 0) {
        t.kind = RG_LEX_PUNCT;
        t.name = punct_name(lx, p, n);
        lx->at = p + n;
        return t;
    } else {
        t.kind = RG_LEX_OTHER;
        end = p + 1;
        while ((unsigned char)*p >= 0xc0 && ((unsigned char)*end & 0xc0) == 0x80)
            end++; /* a UTF-8 sequence stays whole */
    }
    t.name = rg_name_intern(lx->names, p, (size_t)(end - p));
    lx->at = end;
    return t;
}

const char *rg_lex_skip_line(rg_lexer *lx, size_t *size) {
    while (is_blank(*lx->at))
        lx->at++;
    const char *start = lx->at;
    while (*lx->at && *lx->at != '\n') {
        if (at_comment(lx)) {
            skip_comment(lx);
        } else if (is_quote(*lx->at)) {
            /* An apostrophe in prose must not hide the end of the line, but a comment that seems
             * to begin inside a string must not begin. */
            bool closed;
            lx->at = end_of_quoted(lx->at, &closed);
        } else {
            lx->at++;
        }
    }
    const char *end = lx->at;
    while (end > start && is_blank(end[-1]))
        end--;
    *size = (size_t)(end - start);
    return start;
}

bool rg_lex_header(rg_lexer *lx, rg_lexeme *out) {
    skip_blanks(lx);
    const char *p = lx->at;
    if (*p != '<' && *p != '"')
        return false;
    const char *end = p + 1;
    char close = *p == '<' ? '>' : '"';
    while (*end && *end != '\n' && *end != close)
        end++;
    if (*end != close)
        return false;
    end++;
    *out = (rg_lexeme){.kind = RG_LEX_STRING,
                       .flags = RG_LEX_SPACE,
                       .loc = loc_at(lx, p),
                       .name = rg_name_intern(lx->names, p, (size_t)(end - p))};
    lx->at = end;
    return true;
}

rg_lexemes rg_lex_piece(rg_names *names, rg_sources *s, rg_diags *d, const char *text, size_t size,
                        rg_loc loc, bool quiet) {
    rg_lexemes list = {0};
    char *copy = rg_strndup(names->arena, text, size);
    rg_lex_text clean = {.at = copy, .size = size};
    rg_lexer lx = rg_lex_open(names, s, d, 0, &clean);
    lx.fixed = loc;
    lx.quiet = quiet;
    lx.first = false;
    for (;;) {
        rg_lexeme t = rg_lex_next(&lx);
        if (t.kind == RG_LEX_END)
            return list;
        if (t.kind != RG_LEX_NEWLINE)
            RG_PUSH(names->arena, &list, t);
    }
}
