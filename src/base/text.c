#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(rg_text *t, size_t more) {
    if (t->n + more + 1 <= t->cap)
        return;
    size_t cap = t->cap ? t->cap * 2 : 128;
    while (cap < t->n + more + 1)
        cap *= 2;
    t->at = rg_grow(t->arena, t->at, t->cap, cap);
    t->cap = cap;
}

void rg_text_add_n(rg_text *t, const char *s, size_t n) {
    reserve(t, n);
    if (n)
        memcpy(t->at + t->n, s, n);
    t->n += n;
    t->at[t->n] = 0;
}

void rg_text_add(rg_text *t, const char *s) {
    rg_text_add_n(t, s, strlen(s));
}

void rg_text_char(rg_text *t, char c) {
    rg_text_add_n(t, &c, 1);
}

void rg_text_format(rg_text *t, const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n > 0) {
        reserve(t, (size_t)n);
        vsnprintf(t->at + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

const char *rg_text_str(const rg_text *t) {
    return t->at ? t->at : "";
}

void rg_text_real(rg_text *t, double v, bool is_f32) {
    char buf[40];
    if (isnan(v)) {
        rg_text_add(t, "nan");
        return;
    }
    if (isinf(v)) {
        rg_text_add(t, v > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = is_f32 ? 6 : 15; digits <= 17; digits++) {
        snprintf(buf, sizeof buf, "%.*g", digits, v);
        if (is_f32 ? strtof(buf, NULL) == (float)v : strtod(buf, NULL) == v)
            break;
    }
    rg_text_add(t, buf);
    if (!strpbrk(buf, ".e"))
        rg_text_add(t, ".0");
}
