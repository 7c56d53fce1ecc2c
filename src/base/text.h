/* Text: a growing string in an arena. */
#ifndef RG_BASE_TEXT_H
#define RG_BASE_TEXT_H

#include "base/arena.h"

typedef struct rg_text {
    rg_arena *arena;
    char *at; /* NUL-terminated once anything was added; NULL before */
    size_t n, cap;
} rg_text;

void rg_text_add(rg_text *t, const char *s);
void rg_text_add_n(rg_text *t, const char *s, size_t n);
void rg_text_char(rg_text *t, char c);
void rg_text_format(rg_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const char *rg_text_str(const rg_text *t); /* never NULL */

/* Shortest decimal text that reads back as exactly v (as float when is_f32), always with a '.',
 * an exponent, or inf/nan spelled "inf", "-inf", "nan". */
void rg_text_real(rg_text *t, double v, bool is_f32);

#endif
