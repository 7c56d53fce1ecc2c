/* Macros: their definitions and their expansion.
 *
 * Expansion reads lexemes from a stack of lists (the replacement being rescanned on top) above the
 * file itself. A macro is disabled while its replacement is on the stack; its name met meanwhile is
 * marked final, for good. That is C11 6.10.3.4, in time linear in what is produced. */
#ifndef RG_LANG_MACRO_H
#define RG_LANG_MACRO_H

#include "lang/lex.h"

typedef enum rg_macro_kind {
    RG_MACRO_OBJECT,
    RG_MACRO_FUNCTION,
    RG_MACRO_FILE,
    RG_MACRO_LINE,
    RG_MACRO_COUNTER
} rg_macro_kind;

typedef struct rg_macro {
    rg_macro_kind kind;
    rg_name *name;
    rg_loc loc;          /* of the definition */
    uint32_t parameters; /* the variadic one included, which is the last */
    bool variadic;
    bool pastes;   /* ## in the body */
    bool disabled; /* its replacement is being rescanned */
    rg_lexemes body;
} rg_macro;

typedef struct rg_macro_list {
    const rg_lexeme *at, *end;
    rg_loc loc;         /* not 0: the location of all of its lexemes */
    rg_macro *disabled; /* enabled again when the list is done */
    uint8_t space;      /* white space before its first lexeme: RG_LEX_SPACE or 0 */
    bool barrier;       /* nothing is read past the end of this list */
} rg_macro_list;

typedef enum rg_macro_reading {
    RG_MACRO_READING_TEXT,
    RG_MACRO_READING_PAREN,    /* after a function-like macro's name: is this a call? */
    RG_MACRO_READING_ARGUMENTS /* inside a call */
} rg_macro_reading;

typedef struct rg_expander {
    rg_arena *arena;
    rg_names *names;
    rg_sources *sources;
    rg_diags *diags;
    /* The file's next lexeme, directives done. END, again and again, when there is none, or when a
     * call being read may not go on. */
    rg_lexeme (*read)(void *user);
    void *user;
    rg_macro_reading reading;
    RG_VEC(rg_macro_list) lists;
    uint64_t work, counter;
    uint32_t depth;
    bool stop; /* a limit was passed: END from now on */
} rg_expander;

void rg_macro_predefine(rg_expander *ex); /* __FILE__, __LINE__, __COUNTER__ */
/* line: what stands after "#define"; loc is used when it is empty. */
void rg_macro_define(rg_expander *ex, rg_loc loc, const rg_lexemes *line);
/* Errors unless t is a name that a program may define or undefine. */
bool rg_macro_name_is_free(rg_expander *ex, rg_lexeme t, const char *directive);

rg_lexeme rg_macro_next(rg_expander *ex);     /* with macros expanded */
rg_lexeme rg_macro_next_raw(rg_expander *ex); /* without */
void rg_macro_unread(rg_expander *ex, rg_lexeme t);
/* Reads from the list alone until rg_macro_close is called with the value returned. */
uint32_t rg_macro_open(rg_expander *ex, const rg_lexeme *at, uint32_t n);
void rg_macro_close(rg_expander *ex, uint32_t opened);
rg_lexemes rg_macro_expand(rg_expander *ex, const rg_lexeme *at, uint32_t n);

#endif
