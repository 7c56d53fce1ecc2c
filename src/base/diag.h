/* Diagnostics: errors, warnings and notes with file:line:col, the source line and a caret.
 *
 * A source location is an index into the table that rg_sources keeps: 0 means unknown. */
#ifndef RG_BASE_DIAG_H
#define RG_BASE_DIAG_H

#include "base/arena.h"
#include "base/text.h"

typedef uint32_t rg_loc; /* index into rg_sources.locs; 0: unknown */

typedef struct rg_source_file {
    const char *path; /* as the user named it */
    const char *text; /* NUL-terminated contents; NULL when not at hand (a line marker's file) */
    size_t size;
    RG_VEC(uint32_t) lines; /* offset of each line's first byte; built on first use */
} rg_source_file;

typedef struct rg_place {
    uint32_t file;      /* index into files */
    uint32_t line, col; /* from 1; col counts bytes */
} rg_place;

typedef struct rg_sources {
    rg_arena *arena;
    RG_VEC(rg_source_file) files;
    RG_VEC(rg_place) locs; /* locs.at[0] is the unknown place */
} rg_sources;

typedef enum rg_severity { RG_NOTE, RG_WARNING, RG_ERROR } rg_severity;

typedef struct rg_diag {
    rg_severity severity;
    rg_loc loc;
    const char *message; /* one line, lower case start, no final dot: "'x' is undeclared" */
    const char *hint;    /* the way out, or NULL */
} rg_diag;

typedef struct rg_diags {
    rg_arena *arena;
    rg_sources *sources;
    RG_VEC(rg_diag) list;
    uint32_t errors;
    uint32_t max_errors; /* after this many, rg_error throws RG_THROW_ERRORS; 0 means 50 */
} rg_diags;

rg_sources *rg_sources_new(rg_arena *a);
uint32_t rg_sources_add(rg_sources *s, const char *path, const char *text, size_t size);
/* Same place as the last one added returns the same index. */
rg_loc rg_sources_loc(rg_sources *s, uint32_t file, uint32_t line, uint32_t col);
/* "file:line:col" of loc, or "<unknown>". In arena memory. */
const char *rg_sources_where(const rg_sources *s, rg_arena *a, rg_loc loc);
uint32_t rg_sources_line(const rg_sources *s, rg_loc loc); /* 0 when unknown */

/* hint may be NULL. An identical diagnostic at the same place is added once. */
void rg_error(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* An error after which going on would only bring more of the same: throws RG_THROW_ERRORS. */
_Noreturn void rg_fatal(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void rg_warning(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A note belongs to the diagnostic before it: "the other access is here". */
void rg_note(rg_diags *d, rg_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As a C compiler prints them:
 *   f.c:3:5: error: 'x' is undeclared
 *       x = 1;
 *       ^
 *       way out: declare it as a parameter or a local
 */
void rg_diags_render(const rg_diags *d, rg_text *out);

#endif
