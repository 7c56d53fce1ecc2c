#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

rg_sources *rg_sources_new(rg_arena *a) {
    rg_sources *s = RG_NEW(a, rg_sources);
    s->arena = a;
    RG_PUSH(a, &s->locs, (rg_place){0, 0, 0});
    return s;
}

uint32_t rg_sources_add(rg_sources *s, const char *path, const char *text, size_t size) {
    RG_PUSH(s->arena, &s->files,
            (rg_source_file){.path = rg_strdup(s->arena, path), .text = text, .size = size});
    return s->files.n - 1;
}

rg_loc rg_sources_loc(rg_sources *s, uint32_t file, uint32_t line, uint32_t col) {
    if (s->locs.n > 1) {
        const rg_place *last = &s->locs.at[s->locs.n - 1];
        if (last->file == file && last->line == line && last->col == col)
            return s->locs.n - 1;
    }
    RG_PUSH(s->arena, &s->locs, (rg_place){file, line, col});
    return s->locs.n - 1;
}

static const rg_place *place_of(const rg_sources *s, rg_loc loc) {
    if (!s || loc == 0 || loc >= s->locs.n || s->locs.at[loc].file >= s->files.n)
        return NULL;
    return &s->locs.at[loc];
}

const char *rg_sources_where(const rg_sources *s, rg_arena *a, rg_loc loc) {
    const rg_place *p = place_of(s, loc);
    if (!p)
        return "<unknown>";
    return rg_format(a, "%s:%u:%u", s->files.at[p->file].path, p->line, p->col);
}

uint32_t rg_sources_line(const rg_sources *s, rg_loc loc) {
    const rg_place *p = place_of(s, loc);
    return p ? p->line : 0;
}

static const char *source_line(const rg_sources *s, const rg_place *p, size_t *n) {
    rg_source_file *f = &s->files.at[p->file];
    *n = 0;
    if (!f->text || p->line == 0)
        return NULL;
    if (f->lines.n == 0) {
        RG_PUSH(s->arena, &f->lines, 0);
        for (size_t i = 0; i < f->size; i++) /* a carriage return alone ends a line as well */
            if (f->text[i] == '\n' ||
                (f->text[i] == '\r' && (i + 1 == f->size || f->text[i + 1] != '\n')))
                RG_PUSH(s->arena, &f->lines, (uint32_t)(i + 1));
    }
    if (p->line > f->lines.n)
        return NULL;
    const char *start = f->text + f->lines.at[p->line - 1];
    const char *end = f->text + f->size;
    const char *q = start;
    while (q < end && *q != '\n' && *q != '\r')
        q++;
    *n = (size_t)(q - start);
    return start;
}

static void add(rg_diags *d, rg_severity sev, rg_loc loc, const char *hint, const char *fmt,
                va_list ap) {
    char buf[1024];
    vsnprintf(buf, sizeof buf, fmt, ap);
    for (uint32_t i = 0; i < d->list.n && sev != RG_NOTE; i++)
        if (d->list.at[i].loc == loc && loc && d->list.at[i].severity == sev &&
            strcmp(d->list.at[i].message, buf) == 0)
            return;
    RG_PUSH(d->arena, &d->list,
            (rg_diag){sev, loc, rg_strdup(d->arena, buf), hint ? rg_strdup(d->arena, hint) : NULL});
    if (sev == RG_ERROR && ++d->errors >= (d->max_errors ? d->max_errors : 50))
        rg_arena_throw(d->arena, RG_THROW_ERRORS);
}

void rg_error(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(d, RG_ERROR, loc, hint, fmt, ap);
    va_end(ap);
}

void rg_fatal(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(d, RG_ERROR, loc, hint, fmt, ap);
    va_end(ap);
    rg_arena_throw(d->arena, RG_THROW_ERRORS);
}

void rg_warning(rg_diags *d, rg_loc loc, const char *hint, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(d, RG_WARNING, loc, hint, fmt, ap);
    va_end(ap);
}

void rg_note(rg_diags *d, rg_loc loc, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add(d, RG_NOTE, loc, NULL, fmt, ap);
    va_end(ap);
}

/* The line, or the part of it around the column, and a caret below. */
static void show_line(rg_text *out, const char *line, size_t n, uint32_t col) {
    enum { WIDE = 160, BEFORE = 100 };
    size_t at = col ? col - 1 : 0, from = 0, to = n;
    if (at > n)
        at = n;
    if (n > WIDE) {
        from = at > BEFORE ? at - BEFORE : 0;
        to = n - from > WIDE ? from + WIDE : n;
        while (from && ((unsigned char)line[from] & 0xc0) == 0x80) /* whole characters of UTF-8 */
            from--;
        while (to < n && ((unsigned char)line[to] & 0xc0) == 0x80)
            to++;
    }
    rg_text_add(out, from ? "    ..." : "    ");
    for (size_t c = from; c < to; c++) { /* control characters would upset a terminal */
        unsigned char x = (unsigned char)line[c];
        rg_text_char(out, (x < ' ' && x != '\t') || x == 127 ? '?' : line[c]);
    }
    rg_text_add(out, to < n ? "...\n" : "\n");
    rg_text_add(out, from ? "       " : "    ");
    for (size_t c = from; c < at; c++)
        if (((unsigned char)line[c] & 0xc0) != 0x80)
            rg_text_char(out, line[c] == '\t' ? '\t' : ' ');
    rg_text_add(out, "^\n");
}

void rg_diags_render(const rg_diags *d, rg_text *out) {
    static const char *const word[] = {"note", "warning", "error"};
    for (uint32_t i = 0; i < d->list.n; i++) {
        const rg_diag *g = &d->list.at[i];
        const rg_place *p = place_of(d->sources, g->loc);
        if (p)
            rg_text_format(out, "%s:%u:%u: ", d->sources->files.at[p->file].path, p->line, p->col);
        rg_text_format(out, "%s: %s\n", word[g->severity], g->message);
        size_t n = 0;
        const char *line = p ? source_line(d->sources, p, &n) : NULL;
        if (line)
            show_line(out, line, n, p->col);
        if (g->hint)
            rg_text_format(out, "    way out: %s\n", g->hint);
    }
}
