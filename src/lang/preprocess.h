/* Preprocessor: from a file's text to the tokens of the translation unit. */
#ifndef RG_LANG_PREPROCESS_H
#define RG_LANG_PREPROCESS_H

#include "lang/token.h"

typedef struct rg_preprocess_options {
    const char *const *defines; /* "NAME" or "NAME=TEXT" */
    uint32_t n_defines;
    const char *const *include_dirs; /* searched after the including file's own folder */
    uint32_t n_include_dirs;
    bool already_preprocessed; /* text comes from an outside cpp: only line markers and pragmas */
    /* Reads a file for #include: contents in arena memory, NUL-terminated; NULL when absent. */
    const char *(*read)(void *user, rg_arena *a, const char *path, size_t *size);
    void *user;
} rg_preprocess_options;

/* Predefined: __RETROGRAD__=1, __STDC__=1, __STDC_VERSION__=201112L, _OPENMP=201511. Errors go to
 * d; the returned list is complete up to the last thing understood and always ends with RG_TOK_END.
 */
rg_tokens *rg_preprocess(rg_arena *a, rg_sources *s, rg_diags *d, const char *path,
                         const char *text, size_t size, const rg_preprocess_options *o);

#endif
