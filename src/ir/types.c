/* Types: small tables, and the layout of structs.
 *
 * A struct is laid out as the natural C ABI does on every target (size and alignment of a scalar
 * are equal), then flattened once into its leaves: the scalars that memory instructions name. */
#include "ir/types.h"

typedef struct mem_info {
    const char *name, *c;
    rg_type value;
    uint32_t size;
} mem_info;

static const mem_info mems[RG_N_MEMS] = {
    [RG_M_BOOL] = {"bool", "bool", RG_BOOL, 1},        [RG_M_I8] = {"i8", "signed char", RG_I32, 1},
    [RG_M_U8] = {"u8", "unsigned char", RG_I32, 1},    [RG_M_I16] = {"i16", "short", RG_I32, 2},
    [RG_M_U16] = {"u16", "unsigned short", RG_I32, 2}, [RG_M_I32] = {"i32", "int", RG_I32, 4},
    [RG_M_U32] = {"u32", "unsigned int", RG_U32, 4},   [RG_M_I64] = {"i64", "int64_t", RG_I64, 8},
    [RG_M_U64] = {"u64", "uint64_t", RG_U64, 8},       [RG_M_F16] = {"f16", "rg_half", RG_F32, 2},
    [RG_M_F32] = {"f32", "float", RG_F32, 4},          [RG_M_F64] = {"f64", "double", RG_F64, 8},
};

static const rg_mem type_mems[RG_N_TYPES] = {
    [RG_VOID] = RG_M_BOOL, [RG_BOOL] = RG_M_BOOL, [RG_I32] = RG_M_I32, [RG_U32] = RG_M_U32,
    [RG_I64] = RG_M_I64,   [RG_U64] = RG_M_U64,   [RG_F32] = RG_M_F32, [RG_F64] = RG_M_F64,
};

rg_type rg_mem_value(rg_mem m) {
    return mems[m].value;
}
uint32_t rg_mem_size(rg_mem m) {
    return mems[m].size;
}
const char *rg_mem_name(rg_mem m) {
    return mems[m].name;
}
const char *rg_mem_c(rg_mem m) {
    return mems[m].c;
}
rg_mem rg_type_mem(rg_type t) {
    return type_mems[t];
}
uint32_t rg_type_size(rg_type t) {
    return t == RG_VOID ? 0 : mems[type_mems[t]].size;
}
const char *rg_type_name(rg_type t) {
    return t == RG_VOID ? "void" : mems[type_mems[t]].name;
}
const char *rg_type_c(rg_type t) {
    return t == RG_VOID ? "void" : mems[type_mems[t]].c;
}

#define SCALAR_LEAF(m) [m] = {{.mem = m, .path = ""}}
static rg_leaf scalar_leaves[RG_N_MEMS][1] = {
    SCALAR_LEAF(RG_M_BOOL), SCALAR_LEAF(RG_M_I8),  SCALAR_LEAF(RG_M_U8),  SCALAR_LEAF(RG_M_I16),
    SCALAR_LEAF(RG_M_U16),  SCALAR_LEAF(RG_M_I32), SCALAR_LEAF(RG_M_U32), SCALAR_LEAF(RG_M_I64),
    SCALAR_LEAF(RG_M_U64),  SCALAR_LEAF(RG_M_F16), SCALAR_LEAF(RG_M_F32), SCALAR_LEAF(RG_M_F64),
};
#define SCALAR_ELEM(m, n)                                                                          \
    [m] = {.mem = m,                                                                               \
           .size = n,                                                                              \
           .align = n,                                                                             \
           .nleaves = 1,                                                                           \
           .leaves = scalar_leaves[m],                                                             \
           .index = UINT32_MAX}
static rg_elem scalar_elems[RG_N_MEMS] = {
    SCALAR_ELEM(RG_M_BOOL, 1), SCALAR_ELEM(RG_M_I8, 1),  SCALAR_ELEM(RG_M_U8, 1),
    SCALAR_ELEM(RG_M_I16, 2),  SCALAR_ELEM(RG_M_U16, 2), SCALAR_ELEM(RG_M_I32, 4),
    SCALAR_ELEM(RG_M_U32, 4),  SCALAR_ELEM(RG_M_I64, 8), SCALAR_ELEM(RG_M_U64, 8),
    SCALAR_ELEM(RG_M_F16, 2),  SCALAR_ELEM(RG_M_F32, 4), SCALAR_ELEM(RG_M_F64, 8),
};

rg_elem *rg_elem_scalar(rg_mem m) {
    return &scalar_elems[m];
}

static uint64_t round_up(uint64_t n, uint32_t align) {
    return (n + align - 1) / align * align;
}

/* One leaf of the struct for each leaf of the field, with the field's axes in front. */
static void add_field_leaves(rg_arena *a, rg_elem *e, const rg_field *field) {
    const rg_elem *t = field->type;
    for (uint32_t k = 0; k < t->nleaves; k++) {
        const rg_leaf *inner = &t->leaves[k];
        rg_leaf *leaf = &e->leaves[e->nleaves++];
        leaf->mem = inner->mem;
        leaf->offset = field->offset + inner->offset;
        leaf->ndims = field->ndims + inner->ndims;
        leaf->dims = RG_NEW_N(a, int64_t, leaf->ndims);
        leaf->strides = RG_NEW_N(a, int64_t, leaf->ndims);
        int64_t stride = t->size;
        for (uint32_t d = field->ndims; d-- > 0;) {
            leaf->dims[d] = field->dims[d];
            leaf->strides[d] = stride;
            stride *= field->dims[d];
        }
        for (uint32_t d = 0; d < inner->ndims; d++) {
            leaf->dims[field->ndims + d] = inner->dims[d];
            leaf->strides[field->ndims + d] = inner->strides[d];
        }
        const char *axes = "";
        for (uint32_t d = 0; d < field->ndims; d++)
            axes = rg_format(a, "%s[%%]", axes);
        leaf->path = rg_format(a, ".%s%s%s", field->name, axes, inner->path);
    }
}

void rg_elem_finish(rg_arena *a, rg_elem *e) {
    if (!e->is_struct) {
        const rg_elem *s = &scalar_elems[e->mem];
        e->size = s->size;
        e->align = s->align;
        e->nleaves = 1;
        e->leaves = s->leaves;
        e->index = UINT32_MAX;
        return;
    }
    uint64_t size = 0;
    uint32_t align = 1, nleaves = 0;
    for (uint32_t k = 0; k < e->nfields; k++) {
        rg_field *field = &e->fields[k];
        uint64_t bytes = field->type->size;
        for (uint32_t d = 0; d < field->ndims; d++) {
            if (field->dims[d] <= 0 || field->dims[d] > INT32_MAX ||
                bytes * (uint64_t)field->dims[d] > INT32_MAX)
                rg_bug(a, "struct '%s': field '%s' is larger than 2 GiB", e->name, field->name);
            bytes *= (uint64_t)field->dims[d];
        }
        size = round_up(size, field->type->align);
        field->offset = (uint32_t)size;
        size += bytes;
        if (size > INT32_MAX)
            rg_bug(a, "struct '%s' is larger than 2 GiB", e->name);
        if (field->type->align > align)
            align = field->type->align;
        nleaves += field->type->nleaves;
    }
    e->align = align;
    e->size = (uint32_t)round_up(size, align);
    e->leaves = RG_NEW_N(a, rg_leaf, nleaves);
    e->nleaves = 0;
    for (uint32_t k = 0; k < e->nfields; k++)
        add_field_leaves(a, e, &e->fields[k]);
}

bool rg_elem_has_float(const rg_elem *e) {
    for (uint32_t k = 0; k < e->nleaves; k++)
        if (rg_mem_is_float(e->leaves[k].mem))
            return true;
    return false;
}
