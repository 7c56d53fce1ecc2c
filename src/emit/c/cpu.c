#include "emit/c/emit_c.h"
void rg_emit_c_cpu(const rg_fn *const *fns, const char *const *entry_names, uint32_t n,
                   const rg_emit_c_options *o, rg_text *out) {(void)fns;(void)entry_names;(void)n;(void)o;(void)out;}
