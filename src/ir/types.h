/* Types: of values, of memory, and of array elements with their scalar leaves. */
#ifndef RG_IR_TYPES_H
#define RG_IR_TYPES_H

#include "base/arena.h"

/* Types of values. */
typedef enum rg_type {
    RG_VOID,
    RG_BOOL,
    RG_I32,
    RG_U32,
    RG_I64,
    RG_U64,
    RG_F32,
    RG_F64,
    RG_N_TYPES
} rg_type;

/* Types of memory. Loaded values: 8 and 16 bits extend to i32 (C's promotion: u8 and u16 too, but
 * as i32), f16 to f32. */
typedef enum rg_mem {
    RG_M_BOOL,
    RG_M_I8,
    RG_M_U8,
    RG_M_I16,
    RG_M_U16,
    RG_M_I32,
    RG_M_U32,
    RG_M_I64,
    RG_M_U64,
    RG_M_F16,
    RG_M_F32,
    RG_M_F64,
    RG_N_MEMS
} rg_mem;

rg_type rg_mem_value(rg_mem m);    /* type of a loaded value */
uint32_t rg_mem_size(rg_mem m);    /* bytes; also the alignment */
const char *rg_mem_name(rg_mem m); /* "f32", "u8" ... */
const char *rg_mem_c(rg_mem m);    /* "float", "unsigned char", "long long" -> "int64_t" ... */
rg_mem rg_type_mem(rg_type t);     /* memory type that holds a value as it is */
uint32_t rg_type_size(rg_type t);
const char *rg_type_name(rg_type t); /* "f32" */
const char *rg_type_c(rg_type t);    /* "float", "int64_t" */
static inline bool rg_type_is_float(rg_type t) {
    return t == RG_F32 || t == RG_F64;
}
static inline bool rg_type_is_int(rg_type t) {
    return t >= RG_I32 && t <= RG_U64;
}
static inline bool rg_type_is_unsigned(rg_type t) {
    return t == RG_U32 || t == RG_U64 || t == RG_BOOL;
}
static inline bool rg_mem_is_float(rg_mem m) {
    return m >= RG_M_F16;
}

/* A scalar inside an element: path ".m[%][%].x", one % for each of its own axes. */
typedef struct rg_leaf {
    rg_mem mem;
    uint32_t offset;  /* bytes from the element's start, all inner indices 0 */
    uint32_t ndims;   /* axes inside the element */
    int64_t *dims;    /* [ndims] */
    int64_t *strides; /* [ndims], bytes */
    const char *path; /* "" for a scalar element */
} rg_leaf;

typedef struct rg_field {
    const char *name;
    struct rg_elem *type;
    uint32_t ndims; /* fixed array inside the struct */
    int64_t *dims;
    uint32_t offset;
} rg_field;

/* Element type of an array, or the type of a by-value parameter: a scalar or a struct. */
typedef struct rg_elem {
    bool is_struct;
    rg_mem mem;       /* scalar */
    const char *name; /* struct: the typedef's or tag's name, always set and unique in a module */
    uint32_t nfields;
    rg_field *fields;
    uint32_t size, align; /* natural C layout */
    uint32_t nleaves;
    rg_leaf *leaves; /* in order of offset; built by rg_elem_finish */
    uint32_t index;  /* place in the module's list of struct types; UINT32_MAX: scalar */
} rg_elem;

rg_elem *rg_elem_scalar(rg_mem m); /* static storage: one per memory type, ready made */
/* Lays out a struct whose fields have name, type, ndims and dims; fills offsets, size, leaves. */
void rg_elem_finish(rg_arena *a, rg_elem *e);
/* Does any leaf hold a float? */
bool rg_elem_has_float(const rg_elem *e);

#endif
