/* Tokens: what the preprocessor hands to the parser. */
#ifndef RG_LANG_TOKEN_H
#define RG_LANG_TOKEN_H

#include "base/diag.h"

typedef enum rg_tok_kind {
    RG_TOK_END,    /* end of the file */
    RG_TOK_IDENT,  /* identifier or keyword: text is interned, keywords are found by the parser */
    RG_TOK_INT,    /* integer or character constant: i, is_unsigned, is_long */
    RG_TOK_FLOAT,  /* floating constant: f, is_float (f suffix) */
    RG_TOK_STRING, /* string literal: text is its contents (only pragmas and errors meet them) */
    RG_TOK_PUNCT,  /* punctuator: text is its spelling */
    RG_TOK_PRAGMA, /* "#pragma" or _Pragma: the tokens up to PRAGMA_END are its words */
    RG_TOK_PRAGMA_END
} rg_tok_kind;

typedef struct rg_token {
    rg_tok_kind kind;
    rg_loc loc;       /* where the user's text has it; for a macro's expansion, the macro's use */
    const char *text; /* interned: equal spellings are equal pointers within one token list */
    uint64_t i;
    double f;
    /* C's type of an integer constant on an LP64 machine (long = long long = 64 bits): after the
     * rules of C11 6.4.4.1 for its base, suffix and value. */
    bool is_unsigned, is_long;
    bool is_float;     /* float constant rather than double */
    bool space_before; /* white space stood before it: for printing */
} rg_token;

typedef struct rg_tokens {
    RG_VEC(rg_token) list; /* ends with RG_TOK_END */
} rg_tokens;

#endif
