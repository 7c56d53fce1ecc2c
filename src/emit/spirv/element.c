/* Types of array elements as they lie in buffers: real structs with offsets, so that a leaf is
 * reached by an access chain and no translator has to guess. Made once for each element type. */
#include "emit/spirv/function.h"

static uint32_t found(const rg_spv *s, const rg_elem *e, uint32_t of, uint32_t n, uint32_t stride) {
    for (uint32_t k = 0; k < s->laid_out.n; k++) {
        const rg_spv_laid_out *x = &s->laid_out.at[k];
        if (x->elem == e && x->of == of && x->n == n && x->stride == stride)
            return x->type;
    }
    return 0;
}

static uint32_t keep(rg_spv *s, const rg_elem *e, uint32_t of, uint32_t n, uint32_t stride,
                     uint32_t type) {
    RG_PUSH(s->arena, &s->laid_out, (rg_spv_laid_out){e, of, n, stride, type});
    return type;
}

/* Can elements be reached by typed pointers? Else they are read as 32-bit words. */
bool rg_spv_element_plain(const rg_spv *s, const rg_elem *e) {
    const rg_spirv_caps *caps = &s->o->caps;
    for (uint32_t k = 0; k < e->nleaves; k++) {
        uint32_t size = rg_mem_size(e->leaves[k].mem);
        if ((size == 1 && !caps->i8) || (size == 2 && !caps->i16))
            return false;
    }
    return true;
}

static uint32_t scalar(rg_spv *s, rg_mem m) {
    uint32_t size = rg_mem_size(m);
    if (size == 1) {
        rg_spv_capability(s, SpvCapabilityStorageBuffer8BitAccess);
        rg_spv_extension(s, "SPV_KHR_8bit_storage");
    } else if (size == 2) {
        rg_spv_capability(s, SpvCapabilityStorageBuffer16BitAccess);
        rg_spv_extension(s, "SPV_KHR_16bit_storage");
    }
    if (m == RG_M_F32 || m == RG_M_F64)
        return rg_spv_float(s, size * 8);
    return rg_spv_int(s, size * 8); /* halves as their bits */
}

static uint32_t laid_out_array(rg_spv *s, uint32_t of, uint32_t n, uint32_t stride) {
    uint32_t id = found(s, NULL, of, n, stride);
    if (id)
        return id;
    uint32_t count = rg_spv_u32(s, n);
    id = rg_spv_id(s);
    uint32_t w[] = {id, of, count};
    rg_spv_put(s, &s->types, SpvOpTypeArray, w, 3);
    rg_spv_decorate1(s, id, SpvDecorationArrayStride, stride);
    return keep(s, NULL, of, n, stride, id);
}

uint32_t rg_spv_element(rg_spv *s, const rg_elem *e) {
    if (!e->is_struct)
        return scalar(s, e->mem);
    uint32_t id = found(s, e, 0, 0, 0);
    if (id)
        return id;
    uint32_t *w = RG_NEW_N(s->arena, uint32_t, e->nfields + 1);
    for (uint32_t k = 0; k < e->nfields; k++) {
        const rg_field *q = &e->fields[k];
        uint32_t type = rg_spv_element(s, q->type), stride = q->type->size;
        for (uint32_t d = q->ndims; d-- > 0;) {
            type = laid_out_array(s, type, (uint32_t)q->dims[d], stride);
            stride *= (uint32_t)q->dims[d];
        }
        w[k + 1] = type;
    }
    w[0] = id = rg_spv_id(s);
    rg_spv_put(s, &s->types, SpvOpTypeStruct, w, e->nfields + 1);
    rg_spv_name(s, id, e->name);
    for (uint32_t k = 0; k < e->nfields; k++) {
        rg_spv_decorate_member(s, id, k, SpvDecorationOffset, &e->fields[k].offset);
        rg_spv_member_name(s, id, k, e->fields[k].name);
    }
    return keep(s, e, 0, 0, 0, id);
}

uint32_t rg_spv_element_pointer(rg_spv *s, uint32_t type, uint32_t stride) {
    uint32_t id = found(s, NULL, type, 0, stride);
    if (id)
        return id;
    id = rg_spv_pointer(s, SpvStorageClassPhysicalStorageBuffer, type);
    rg_spv_decorate1(s, id, SpvDecorationArrayStride, stride);
    return keep(s, NULL, type, 0, stride, id);
}
