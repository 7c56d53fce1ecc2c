/* The headers that are part of the compiler: compiling needs no C library's headers. */
#ifndef RG_LANG_BUILTIN_HEADERS_H
#define RG_LANG_BUILTIN_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rg_builtin_header {
    const char *name; /* "math.h" */
    const char *text; /* C, NUL-terminated */
    bool is_ours;     /* goes before a file of that name: the file is for other compilers */
} rg_builtin_header;

/* Ends with a NULL name; the standard ones come first, each group in alphabetical order. */
extern const rg_builtin_header rg_builtin_headers[];

const rg_builtin_header *rg_builtin_header_find(const char *name); /* NULL when there is none */

#endif
