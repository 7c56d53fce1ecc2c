/* Preprocessing by an outside program: `cc -E -nostdinc`. */
#ifndef RG_COMPILE_OUTSIDE_H
#define RG_COMPILE_OUTSIDE_H

#include "base/diag.h"
#include "compile/compile.h"

/* The program's output for a text that stands for the file path, in arena memory; NULL with an
 * error in d when it failed. It finds Retrograd's own standard headers. */
const char *rg_outside_preprocess(rg_arena *a, rg_diags *d, const char *path, const char *text,
                                  size_t size, const rg_compile_options *o, size_t *out_size);

#endif
