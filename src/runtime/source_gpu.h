/* A kernel's variant as SPIR-V, and as the Metal source that SPIRV-Cross makes of that. */
#ifndef RG_RUNTIME_SOURCE_GPU_H
#define RG_RUNTIME_SOURCE_GPU_H

#include "runtime/module.h"

#include "base/text.h"

/* Called under the guards of out's arena, the variant's and the module's. What is wrong with the
 * kernel is in v's diagnostics. */
rg_status rg_source_spirv(rg_kernel *k, rg_variant *v, const rg_emit_options *o, rg_text *out);
/* slots: count only; NULL: the texts of all tasks go to out. */
rg_status rg_source_msl(rg_kernel *k, rg_variant *v, const rg_emit_options *o, rg_text *out,
                        rg_slots_info *slots);

#endif
