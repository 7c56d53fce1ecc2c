/* JSON writer: commas, quotes and indentation; the caller nests properly. */
#ifndef RG_CLI_JSON_H
#define RG_CLI_JSON_H

#include "retrograd.h"

#include <stdio.h>

typedef struct rg_json {
    FILE *file;
    int depth;
    bool first, after_key;
    bool flat; /* the innermost list is on one line */
} rg_json;

rg_json rg_json_open(FILE *file);
void rg_json_close(rg_json *j); /* final newline */
void rg_json_object(rg_json *j);
void rg_json_object_end(rg_json *j);
void rg_json_array(rg_json *j, bool flat);
void rg_json_array_end(rg_json *j);
void rg_json_key(rg_json *j, const char *key);
void rg_json_string(rg_json *j, const char *s); /* NULL: null; bytes that are not UTF-8: U+FFFD */
void rg_json_bool(rg_json *j, bool b);
void rg_json_int(rg_json *j, int64_t v);
/* JSON has no inf and nan: they are written as the strings "inf", "-inf", "nan". */
void rg_json_real(rg_json *j, double v);
void rg_json_scalar(rg_json *j, rg_dtype t, const void *p);

#endif
