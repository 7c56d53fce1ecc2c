/* Lexer: from a file's characters to C's preprocessing tokens, called lexemes here.
 *
 * The text is first cleaned (C11 5.1.1.2, phase 2): line splices go, and a list remembers where
 * they were, so that positions stay those of the file. Every spelling is interned: a lexeme is 16
 * bytes, spellings are compared by pointer, and a name knows its macro without a look-up. */
#ifndef RG_LANG_LEX_H
#define RG_LANG_LEX_H

#include "base/diag.h"
#include "base/table.h"

struct rg_macro;

typedef struct rg_name {
    const char *text;
    uint32_t size;
    uint16_t parameter;     /* while a macro is being defined: 1 + index of its parameter */
    struct rg_macro *macro; /* NULL when none is defined */
} rg_name;

typedef struct rg_names {
    rg_arena *arena;
    rg_table table;
    rg_name *single[128]; /* names of one character, the most frequent ones */
} rg_names;

rg_name *rg_name_intern(rg_names *names, const char *text, size_t size);

typedef enum rg_lexeme_kind {
    RG_LEX_END,
    RG_LEX_NEWLINE,
    RG_LEX_IDENT,
    RG_LEX_NUMBER, /* a preprocessing number: may be malformed */
    RG_LEX_CHAR,   /* with its quotes and prefix */
    RG_LEX_STRING, /* likewise; a header's name has < > or " " */
    RG_LEX_PUNCT,
    RG_LEX_OTHER, /* a character that C has no use for */
    RG_LEX_EMPTY  /* placemarker of C11 6.10.3.3: seen only while pasting */
} rg_lexeme_kind;

enum {
    RG_LEX_SPACE = 1, /* white space stands before it */
    RG_LEX_FIRST = 2, /* first of its line */
    RG_LEX_FINAL = 4  /* a macro's name that was met inside its own expansion: never expanded */
};

typedef struct rg_lexeme {
    uint8_t kind, flags;
    uint16_t parameter; /* in a macro's body: 1 + index of the parameter it stands for */
    rg_loc loc;
    rg_name *name; /* its spelling; NULL for END, NEWLINE and EMPTY */
} rg_lexeme;

typedef RG_VEC(rg_lexeme) rg_lexemes;

/* Cleaned text: no splices, no NUL but the one at its end. */
typedef struct rg_lex_text {
    const char *at;
    size_t size;
    RG_VEC(uint32_t) splices; /* offsets in the cleaned text where a new line of the file begins */
} rg_lex_text;

typedef struct rg_lexer {
    rg_names *names;
    rg_sources *sources;
    rg_diags *diags;
    const rg_lex_text *text;
    const char *at;
    const char *line_start; /* of the file's line that `at` was last settled on */
    uint32_t splice;        /* splices passed so far */
    uint32_t file, line;    /* as reported: #line changes them */
    rg_loc fixed;           /* not 0: the location of every lexeme (text made by the program) */
    bool first;             /* the next lexeme is the first of its line */
    bool quiet;             /* no errors: skipped group, or a trial */
} rg_lexer;

/* Errors (a NUL byte) go to d, in file `file` of s. */
rg_lex_text rg_lex_clean(rg_arena *a, rg_sources *s, rg_diags *d, uint32_t file, const char *text,
                         size_t size);
/* The text must stay where it is as long as the lexer is used. */
rg_lexer rg_lex_open(rg_names *names, rg_sources *s, rg_diags *d, uint32_t file,
                     const rg_lex_text *text);
rg_lexeme rg_lex_next(rg_lexer *lx);
/* Goes to just before the end of the line (comments may carry it over several); returns the text
 * passed over, trimmed, in *size bytes. */
const char *rg_lex_skip_line(rg_lexer *lx, size_t *size);
/* A header's name, <...> or "...", if one comes next on this line. */
bool rg_lex_header(rg_lexer *lx, rg_lexeme *out);
/* The lexemes of a piece of text that the program made, all at loc. */
rg_lexemes rg_lex_piece(rg_names *names, rg_sources *s, rg_diags *d, const char *text, size_t size,
                        rg_loc loc, bool quiet);

static inline bool rg_lexeme_is(rg_lexeme t, char punct) {
    return t.kind == RG_LEX_PUNCT && t.name->size == 1 && t.name->text[0] == punct;
}

#endif
