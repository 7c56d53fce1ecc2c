/* Front-end: kernel C to the IR. */
#ifndef RG_LANG_LANG_H
#define RG_LANG_LANG_H

#include "ir/ir.h"
#include "lang/preprocess.h"

/* Parses, checks and lowers a translation unit. All errors found go to d (several per file); NULL
 * when there were any. Each kernel is valid IR (rg_ir_verify) in which every mutable local scalar
 * is still a rank-0 local array; rg_opt_ssa makes it SSA. */
rg_ir_module *rg_lang_compile(rg_arena *a, rg_sources *s, rg_diags *d, const char *path,
                              const char *text, size_t size, const rg_preprocess_options *o);

#endif
