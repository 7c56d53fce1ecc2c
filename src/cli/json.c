/* The state is what must come before the next value: nothing, a comma, or a new line. */
#include "json.h"

#include "dtype.h"

#include <math.h>
#include <string.h>

rg_json rg_json_open(FILE *file) {
    return (rg_json){.file = file, .first = true};
}

void rg_json_close(rg_json *j) {
    fputc('\n', j->file);
}

static void line(rg_json *j) {
    fputc('\n', j->file);
    for (int i = 0; i < j->depth; i++)
        fputs("  ", j->file);
}

static void before(rg_json *j) {
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (!j->first)
        fputs(j->flat ? ", " : ",", j->file);
    if (j->depth && !j->flat)
        line(j);
    j->first = false;
}

static void open_level(rg_json *j, char c, bool flat) {
    before(j);
    fputc(c, j->file);
    j->depth++;
    j->first = true;
    j->flat = flat;
}

static void close_level(rg_json *j, char c) {
    j->depth--;
    if (!j->first && !j->flat)
        line(j);
    fputc(c, j->file);
    j->first = false;
    j->flat = false;
}

void rg_json_object(rg_json *j) {
    open_level(j, '{', false);
}

void rg_json_object_end(rg_json *j) {
    close_level(j, '}');
}

void rg_json_array(rg_json *j, bool flat) {
    open_level(j, '[', flat);
}

void rg_json_array_end(rg_json *j) {
    close_level(j, ']');
}

/* Length of the UTF-8 sequence at s, 0 when it is not one. */
static size_t utf8(const unsigned char *s) {
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : (s[0] & 0xf0) == 0xe0       ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void quoted(rg_json *j, const char *text) {
    fputc('"', j->file);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8(s);
        if (*s == '"' || *s == '\\')
            fprintf(j->file, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", j->file);
        else if (*s == '\t')
            fputs("\\t", j->file);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(j->file, "\\u%04x", *s);
        else if (n == 0)
            fputs("\\ufffd", j->file);
        else
            fwrite(s, 1, n, j->file);
        s += n ? n : 1;
    }
    fputc('"', j->file);
}

void rg_json_key(rg_json *j, const char *key) {
    before(j);
    quoted(j, key);
    fputs(": ", j->file);
    j->after_key = true;
}

void rg_json_string(rg_json *j, const char *s) {
    before(j);
    if (s)
        quoted(j, s);
    else
        fputs("null", j->file);
}

void rg_json_bool(rg_json *j, bool b) {
    before(j);
    fputs(b ? "true" : "false", j->file);
}

void rg_json_int(rg_json *j, int64_t v) {
    before(j);
    fprintf(j->file, "%lld", (long long)v);
}

void rg_json_real(rg_json *j, double v) {
    rg_json_scalar(j, RG_DTYPE_F64, &v);
}

void rg_json_scalar(rg_json *j, rg_dtype t, const void *p) {
    char text[RG_CLI_SCALAR_TEXT];
    rg_cli_scalar_print(t, p, text);
    before(j);
    bool finite = !rg_cli_dtype_is_float(t) || isfinite(rg_cli_scalar_get(t, p));
    fprintf(j->file, finite ? "%s" : "\"%s\"", text);
}
