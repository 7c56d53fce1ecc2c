/* A SPIR-V module in the making: sections, ids, and one copy of each type and constant. */
#ifndef RG_EMIT_SPIRV_MODULE_H
#define RG_EMIT_SPIRV_MODULE_H

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "base/diag.h"
#include "emit/spirv/emit_spirv.h"

typedef RG_VEC(uint32_t) rg_spv_words;

typedef struct rg_spv_interned {
    rg_spv_words *section;
    uint32_t at, n; /* its words in the section */
    uint32_t id;
} rg_spv_interned;

/* A variable over a memory block, and the type of an element in buffers: made once for all tasks.
 */
typedef struct rg_spv_bound {
    uint32_t binding;
    bool is_float;
    uint32_t variable;
} rg_spv_bound;
typedef struct rg_spv_laid_out {
    const rg_elem *elem;    /* a struct, or NULL: a pointer to `of` */
    uint32_t of, n, stride; /* array of n, pointer (n == 0) */
    uint32_t type;
} rg_spv_laid_out;

typedef struct rg_spv_shared {
    uint32_t type, id; /* workgroup memory: an element for each invocation */
} rg_spv_shared;
typedef struct rg_spv_input {
    SpvBuiltIn what;
    uint32_t variable;
} rg_spv_input;

enum { RG_SPV_WORKGROUP = 128 }; /* when the device has no preference */

typedef struct rg_spv {
    rg_arena *arena;
    rg_diags *diags;
    const rg_spirv_options *o;
    rg_spv_words caps, exts, entries, modes, strings, names, annotations, types, functions;
    uint32_t next; /* the next free id */
    uint32_t glsl; /* GLSL.std.450 */
    RG_VEC(uint32_t) cap_list;
    RG_VEC(const char *) ext_list;
    rg_spv_interned *slots; /* hash table of types, constants and strings */
    uint32_t nslots, ninterned;
    RG_VEC(rg_spv_bound) blocks;
    RG_VEC(rg_spv_laid_out) laid_out;
    RG_VEC(rg_spv_shared) shared;
    RG_VEC(rg_spv_input) inputs;
    RG_VEC(uint32_t) entry_points;
    RG_VEC(const char *) lacking; /* features that an error was given for */
    uint32_t t_void, t_bool, t_u32, t_f32, t_v2u, t_v3u;
} rg_spv;

rg_spv *rg_spv_new(rg_arena *a, const rg_spirv_options *o, rg_diags *d);
/* Header and sections in the order that SPIR-V wants. */
rg_spirv_module *rg_spv_finish(rg_spv *s);

uint32_t rg_spv_id(rg_spv *s);
void rg_spv_put(rg_spv *s, rg_spv_words *w, SpvOp op, const uint32_t *words, uint32_t n);
void rg_spv_put_text(rg_spv *s, rg_spv_words *w, SpvOp op, const uint32_t *before, uint32_t nb,
                     const char *text, const uint32_t *after, uint32_t na);
void rg_spv_capability(rg_spv *s, SpvCapability c);
void rg_spv_extension(rg_spv *s, const char *name);
void rg_spv_decorate(rg_spv *s, uint32_t id, SpvDecoration d);
void rg_spv_decorate1(rg_spv *s, uint32_t id, SpvDecoration d, uint32_t word);
void rg_spv_decorate_member(rg_spv *s, uint32_t id, uint32_t member, SpvDecoration d,
                            const uint32_t *word);
void rg_spv_name(rg_spv *s, uint32_t id, const char *name);
void rg_spv_member_name(rg_spv *s, uint32_t id, uint32_t member, const char *name);
uint32_t rg_spv_string(rg_spv *s, const char *text);

/* Types and constants; the same one is made once. */
uint32_t rg_spv_type_words(rg_spv *s, SpvOp op, const uint32_t *words, uint32_t n);
#define RG_SPV_TYPE(s, op, ...)                                                                    \
    rg_spv_type_words((s), (op), (const uint32_t[]){__VA_ARGS__},                                  \
                      sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
uint32_t rg_spv_int(rg_spv *s, uint32_t bits); /* unsigned: signs are the instructions' business */
uint32_t rg_spv_float(rg_spv *s, uint32_t bits);
uint32_t rg_spv_pointer(rg_spv *s, SpvStorageClass c, uint32_t type);
uint32_t rg_spv_array(rg_spv *s, uint32_t type, uint32_t n); /* no layout: not for buffers */
uint32_t rg_spv_value_type(rg_spv *s, rg_type t);
uint32_t rg_spv_u32(rg_spv *s, uint32_t v);
uint32_t rg_spv_u64(rg_spv *s, uint64_t v);
uint32_t rg_spv_const_bool(rg_spv *s, bool v);
uint32_t rg_spv_const_int(rg_spv *s, rg_type t, int64_t v);
uint32_t rg_spv_const_real(rg_spv *s, rg_type t, double v);
uint32_t rg_spv_null(rg_spv *s, uint32_t type);

#endif
