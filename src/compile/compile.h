/* From source text to the variants of a kernel, as IR and as text: no device is needed. */
#ifndef RG_COMPILE_COMPILE_H
#define RG_COMPILE_COMPILE_H

#include "base/diag.h"
#include "ir/ir.h"

typedef struct rg_compile_options {
    const char *const *defines;
    uint32_t n_defines;
    const char *const *include_dirs;
    uint32_t n_include_dirs;
    const char *cpp; /* outside preprocessor, or NULL */
    bool strict_edges;
} rg_compile_options;

/* A compiled translation unit: owns its arena. */
typedef struct rg_unit {
    rg_arena *arena;
    rg_sources *sources;
    rg_diags diags;
    rg_ir_module *module; /* kernels are optimised primals */
    uint64_t key[2];      /* hash of source (all files read), options and Retrograd's version */
    bool strict_edges;
    struct rg_early *early; /* [kernels] their accesses before they were optimised */
    bool recompute; /* adjoints compute functions again rather than keep results of long loops:
                       where memory is further away than arithmetic */
    rg_fn **marked; /* [kernels] with the marks of custom adjoints; NULL: the kernel itself */
} rg_unit;

typedef enum rg_compile_status {
    RG_COMPILED,
    RG_COMPILE_ERRORS,
    RG_COMPILE_MEMORY,
    RG_COMPILE_INTERNAL
} rg_compile_status;

/* Always sets *out unless out of memory: diags hold the errors. Free with rg_unit_free. */
rg_compile_status rg_unit_compile(const rg_allocator *al, const char *path, const char *text,
                                  size_t size, const rg_compile_options *o, rg_unit **out);
void rg_unit_free(rg_unit *u);

/* A variant: its own arena, so that it can be dropped. */
typedef struct rg_variant {
    rg_arena *arena;
    rg_diags diags;
    rg_fn *fn; /* optimised, accumulation decided; NULL when refused */
} rg_variant;

struct rg_ad_blocks;
/* act: which parameters are active and share memory (ignored for PRIMAL). blocks: of adjoints,
 * loops that run in blocks (ad.h); may be NULL. */
rg_compile_status rg_variant_build(rg_unit *u, uint32_t kernel, rg_mode mode,
                                   const rg_activity *act, const struct rg_ad_blocks *blocks,
                                   const rg_allocator *al, rg_variant **out);
void rg_variant_free(rg_variant *v);

/* Per source line: what is saved, re-executed, promoted, how gradients accumulate and why. */
void rg_explain(rg_unit *u, uint32_t kernel, const rg_variant *adjoint, rg_text *out);

#endif
