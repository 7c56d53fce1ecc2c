/* Literals: from the spelling of a number, character or string to its value and C type. */
#ifndef RG_LANG_LITERAL_H
#define RG_LANG_LITERAL_H

#include "lang/token.h"

typedef struct rg_literal_fault {
    const char *message; /* NULL: none */
    const char *hint;
    bool is_warning; /* the value is good all the same */
} rg_literal_fault;

/* Number: sets kind (INT or FLOAT), value and type of t, and nothing else. When at fault, t is the
 * integer 0. Follows C11 6.4.4.1 and 6.4.4.2, and 0b as C23 has it. Independent of the locale. */
rg_literal_fault rg_literal_number(rg_arena *a, const char *spelling, rg_token *t);

/* Character constant, quotes and prefix included; several characters as gcc takes them. */
rg_literal_fault rg_literal_char(rg_arena *a, const char *spelling, rg_token *t);

/* Contents of a string literal, as UTF-8, appended to out; ends at the first NUL. */
rg_literal_fault rg_literal_string(const char *spelling, rg_text *out);

#endif
