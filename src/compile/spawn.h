/* Running an outside program (a C compiler, a preprocessor): no shell, text in, text out. */
#ifndef RG_COMPILE_SPAWN_H
#define RG_COMPILE_SPAWN_H

#include "base/text.h"

typedef struct rg_words {
    RG_VEC(const char *) list;
} rg_words;

/* Splits a command line at blanks; '...' and "..." keep blanks, \ keeps the next character. */
void rg_words_split(rg_arena *a, rg_words *w, const char *command);
void rg_words_add(rg_arena *a, rg_words *w, const char *word);

typedef struct rg_spawned {
    int error;        /* errno when the program could not be started (ENOENT: not found) */
    int status;       /* exit status; 128 + signal when killed; -1 when nobody can tell */
    rg_text out, err; /* what it wrote */
} rg_spawned;

/* Runs words in the current folder with the environment of this process. in: its standard input. */
void rg_spawn(rg_arena *a, rg_words *words, const char *in, size_t in_size, rg_spawned *result);
/* Full path of a program as execvp would find it, or NULL. */
const char *rg_spawn_find(rg_arena *a, const char *program);
/* A fresh folder of ours (mode 0700) in dir, or in $TMPDIR or /tmp when dir is NULL; NULL: errno.
 */
const char *rg_temp_folder(rg_arena *a, const char *dir);

#endif
