/* Scalar types as the command line sees them: names, sizes, reading, writing, printing. */
#ifndef RG_CLI_DTYPE_H
#define RG_CLI_DTYPE_H

#include "retrograd.h"

size_t rg_cli_dtype_size(rg_dtype t);       /* 0 for RG_DTYPE_STRUCT */
const char *rg_cli_dtype_c(rg_dtype t);     /* "float", "unsigned char" */
const char *rg_cli_dtype_numpy(rg_dtype t); /* "float32", "uint8" */
bool rg_cli_dtype_is_float(rg_dtype t);
bool rg_cli_dtype_is_int(rg_dtype t); /* integers, without bool */
bool rg_cli_dtype_is_unsigned(rg_dtype t);

double rg_cli_scalar_get(rg_dtype t, const void *p);      /* integers may round */
int64_t rg_cli_scalar_get_int(rg_dtype t, const void *p); /* u64 as its bits; floats: 0 */
void rg_cli_scalar_set(rg_dtype t, void *p, double v);    /* floats round; ints truncate */
/* False when v (or its bits as uint64 when is_big) does not fit. */
bool rg_cli_scalar_set_int(rg_dtype t, void *p, int64_t v, bool is_big);

/* Parses text as a value of type t. NULL when fine, else what is wrong: "an integer from 0 to
 * 255 is wanted". */
const char *rg_cli_scalar_parse(rg_dtype t, const char *text, void *p);

/* Shortest text that reads back as the same value: "0.1", "-3", "inf", "true" is "1". */
enum { RG_CLI_SCALAR_TEXT = 40 };
void rg_cli_scalar_print(rg_dtype t, const void *p, char out[RG_CLI_SCALAR_TEXT]);

#endif
