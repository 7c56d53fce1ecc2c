/* SPIR-V to Metal's language, by SPIRV-Cross as MoltenVK uses it. The C library of SPIRV-Cross is
 * opened when it is first needed: nothing links with it, and a machine without it has everything
 * but this. */
#ifndef RG_COMPILE_MSL_H
#define RG_COMPILE_MSL_H

#include "base/arena.h"

/* Buffers that one Metal kernel can be given. */
enum { RG_MSL_SLOTS = 31 };

typedef struct rg_msl_options {
    uint32_t version; /* of the language: 30000 is 3.0; 0: 3.0 */
    bool ios;
    bool argument_buffers;
} rg_msl_options;

/* Where a resource of the SPIR-V went: [[buffer(at)]]; with argument buffers member `at`, counted
 * from 0, of the argument buffer in [[buffer(set)]]. */
typedef struct rg_msl_binding {
    uint32_t set, binding; /* push constants: set UINT32_MAX */
    uint32_t at;
} rg_msl_binding;

typedef struct rg_msl_source {
    const char *text, *entry; /* entry: the function's name there */
    uint32_t slots;           /* different [[buffer(n)]] */
    uint32_t workgroup[3];
    RG_VEC(rg_msl_binding) bindings;
} rg_msl_source;

typedef struct rg_msl rg_msl;

/* library: NULL for $RETROGRAD_SPIRV_CROSS, else the system's. NULL with *why (in a) when it cannot
 * be opened. */
rg_msl *rg_msl_open(rg_arena *a, const char *library, const char **why);
void rg_msl_close(rg_msl *m);
/* Version of its interface, and of its source where it says so. */
const char *rg_msl_version(const rg_msl *m);

/* The entry point of that name (NULL: the only one), translated. False with *why. */
bool rg_msl_translate(rg_msl *m, rg_arena *a, const uint32_t *words, size_t count,
                      const char *entry, const rg_msl_options *o, rg_msl_source *out,
                      const char **why);
/* Different n in `[[buffer(n)]]` of a Metal source. */
uint32_t rg_msl_slots(const char *text);

#endif
