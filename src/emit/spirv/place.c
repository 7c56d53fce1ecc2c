/* Four kinds of places: elements in buffers behind typed pointers (address mode), the same as words
 * (offset mode, and 8- and 16-bit memory on devices without it), columns of scratch, and variables
 * of the invocation.
 *
 * Order: what is loaded is copied into a variable of its own by OpCopyMemory. A translator that
 * would print a plain load late, at its use, cannot do so then, however many stores come between.
 * SPIRV-Cross does for physical pointers, and in each of its versions for any memory when a value
 * loaded before a loop is used in it and the memory changes further on there (docs/decisions.md).
 */
#include "emit/spirv/place.h"

static uint32_t op2(rg_spv_fn *c, SpvOp op, uint32_t t, uint32_t a, uint32_t b) {
    return RG_SPV_OP(c, op, t, a, b);
}

static bool const_id(rg_spv_fn *c, uint32_t id, uint64_t v) {
    return id == rg_spv_const_index(c, v);
}

/* a * b and a + b in the index type, without the obvious. */
static uint32_t times(rg_spv_fn *c, uint32_t a, uint32_t b) {
    if (const_id(c, a, 1) || const_id(c, b, 0))
        return b;
    if (const_id(c, b, 1) || const_id(c, a, 0))
        return a;
    return op2(c, SpvOpIMul, c->t_index, a, b);
}
static uint32_t plus(rg_spv_fn *c, uint32_t a, uint32_t b) {
    if (const_id(c, a, 0))
        return b;
    if (const_id(c, b, 0))
        return a;
    return op2(c, SpvOpIAdd, c->t_index, a, b);
}

static uint32_t log2_of(uint32_t bytes) {
    return bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
}

/* ---- arrays ---- */

/* What a variable or a bound buffer holds now. */
static uint32_t read_now(rg_spv_fn *c, uint32_t type, uint32_t pointer) {
    if (c->s->o->caps.naive_loads)
        return RG_SPV_OP(c, SpvOpLoad, type, pointer);
    uint32_t v = rg_spv_variable(c, type);
    RG_SPV_DO(c, SpvOpCopyMemory, v, pointer);
    return RG_SPV_OP(c, SpvOpLoad, type, v);
}

uint32_t rg_spv_extent(rg_spv_fn *c, rg_aid a, uint32_t axis) {
    const rg_ir_array *x = &c->f->arrays.at[a];
    rg_spv_array_state *st = &c->arrays[a];
    int64_t n;
    if (!st->outer) {
        if (st->length)
            return rg_spv_to_index(c, read_now(c, c->s->t_u32, st->length), false, false);
        if (!st->extent || !st->extent[axis])
            rg_bug(c->s->arena, "SPIR-V: array '%s' has no extents yet", x->name);
        return st->extent[axis];
    }
    if (x->extents && x->extents[axis] && rg_val_const_int(c->f, x->extents[axis], &n))
        return rg_spv_const_index(c, (uint64_t)n);
    if (!st->extent)
        st->extent = RG_NEW_N(c->s->arena, uint32_t, x->rank + 1);
    if (!st->extent[axis])
        st->extent[axis] = rg_spv_arg_index(c, c->layout->extents[st->outer - 1] + 8 * axis);
    return st->extent[axis];
}

uint32_t rg_spv_linear(rg_spv_fn *c, rg_iid i, rg_aid a, uint32_t n) {
    uint32_t at = rg_spv_const_index(c, 0);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t index = rg_spv_index(c, rg_operand(c->f, i, k));
        at = k ? plus(c, times(c, at, rg_spv_extent(c, a, k)), index) : index;
    }
    return at;
}

rg_spv_place rg_spv_place_at(rg_spv_fn *c, rg_aid a, uint32_t leaf, uint32_t element) {
    const rg_ir_array *x = &c->f->arrays.at[a];
    rg_spv_array_state *st = &c->arrays[a];
    rg_spv_place p = {
        .array = a, .leaf_number = leaf, .leaf = &x->elem->leaves[leaf], .element = element};
    p.inner = RG_NEW_N(c->s->arena, uint32_t, p.leaf->ndims + 1);
    uint32_t capacity = 0;
    if (st->outer && (x->flags & RG_ARR_GROW)) {
        capacity = rg_spv_extent(c, a, 0);
        p.need = c->task->array_need.at[st->outer - 1];
    } else if (st->scratch && c->task->scratch.at[st->scratch - 1].need) {
        capacity = st->capacity;
        p.need = c->task->scratch.at[st->scratch - 1].need;
    }
    if (capacity)
        p.guard = op2(c, SpvOpULessThan, c->s->t_bool, element, capacity);
    return p;
}

rg_spv_place rg_spv_place_of(rg_spv_fn *c, rg_iid i) {
    const rg_ins *ins = &c->f->ins.at[i];
    uint32_t rank = c->f->arrays.at[ins->array].rank;
    uint32_t element = rg_spv_linear(c, i, ins->array, rank);
    rg_spv_place p = rg_spv_place_at(c, ins->array, ins->leaf, element);
    for (uint32_t d = 0; d < p.leaf->ndims; d++)
        p.inner[d] = rg_spv_index(c, rg_operand(c->f, i, rank + d));
    return p;
}

/* ---- pointers ---- */

/* Type of pointers to `type` in buffers. */
static uint32_t buffer_pointer(rg_spv_fn *c, uint32_t type) {
    return rg_spv_pointer(
        c->s, c->address ? SpvStorageClassPhysicalStorageBuffer : SpvStorageClassStorageBuffer,
        type);
}

/* Indices of the access chain from an element of type e to its leaf number n. */
static uint32_t chain(rg_spv_fn *c, const rg_elem *e, uint32_t n, const uint32_t *inner,
                      uint32_t *out) {
    uint32_t count = 0;
    while (e->is_struct) {
        uint32_t k = 0;
        while (n >= e->fields[k].type->nleaves)
            n -= e->fields[k++].type->nleaves;
        out[count++] = rg_spv_u32(c->s, k);
        for (uint32_t d = 0; d < e->fields[k].ndims; d++)
            out[count++] = *inner++;
        e = e->fields[k].type;
    }
    return count;
}

static uint32_t chain_length(const rg_elem *e, uint32_t n) {
    uint32_t count = 0;
    while (e->is_struct) {
        uint32_t k = 0;
        while (n >= e->fields[k].type->nleaves)
            n -= e->fields[k++].type->nleaves;
        count += 1 + e->fields[k].ndims;
        e = e->fields[k].type;
    }
    return count;
}

/* Address mode: pointer to the leaf in the real type of the element. */
static uint32_t typed_pointer(rg_spv_fn *c, const rg_spv_place *p) {
    rg_spv *s = c->s;
    const rg_elem *e = c->f->arrays.at[p->array].elem;
    rg_spv_array_state *st = &c->arrays[p->array];
    if (!st->base)
        st->base = rg_spv_arg_reference(c, c->layout->array[st->outer - 1], e->size);
    uint32_t type = rg_spv_element(s, e);
    uint32_t at = RG_SPV_OP(c, SpvOpPtrAccessChain, rg_spv_element_pointer(s, type, e->size),
                            st->base, p->element);
    if (!e->is_struct)
        return at;
    uint32_t n = chain_length(e, p->leaf_number);
    uint32_t *w = RG_NEW_N(s->arena, uint32_t, n + 2);
    w[0] = at;
    chain(c, e, p->leaf_number, p->inner, w + 1);
    uint32_t leaf = rg_spv_element(s, rg_elem_scalar(p->leaf->mem));
    return rg_spv_emit(c, SpvOpAccessChain,
                       rg_spv_element_pointer(s, leaf, rg_mem_size(p->leaf->mem)), w, n + 1);
}

/* Number of the word of `bytes` that the scalar is in, from the array's start; *byte: the scalar is
 * narrower than the word, and this is its offset in bytes from there. */
static uint32_t word_number(rg_spv_fn *c, const rg_spv_place *p, uint32_t bytes, uint32_t *byte) {
    const rg_elem *e = c->f->arrays.at[p->array].elem;
    bool narrow = rg_mem_size(p->leaf->mem) < bytes;
    uint32_t unit = narrow ? 1 : bytes;
    uint32_t at = times(c, p->element, rg_spv_const_index(c, e->size / unit));
    at = plus(c, at, rg_spv_const_index(c, p->leaf->offset / unit));
    for (uint32_t d = 0; d < p->leaf->ndims; d++)
        at = plus(
            c, at,
            times(c, p->inner[d], rg_spv_const_index(c, (uint64_t)p->leaf->strides[d] / unit)));
    *byte = 0;
    if (!narrow)
        return at;
    *byte = at;
    return op2(c, SpvOpShiftRightLogical, c->t_index, at, rg_spv_u32(c->s, log2_of(bytes)));
}

/* Pointer to word `number` of an array; first: of bytes, in words. */
static uint32_t view_pointer(rg_spv_fn *c, rg_aid a, uint32_t number, uint32_t bytes,
                             bool is_float) {
    rg_spv *s = c->s;
    rg_spv_array_state *st = &c->arrays[a];
    uint32_t *base = &st->word[log2_of(bytes)];
    uint32_t type = is_float ? rg_spv_float(s, bytes * 8) : rg_spv_int(s, bytes * 8);
    if (c->address) {
        if (!*base) {
            const uint32_t *at = bytes == 8 ? c->layout->words64 : c->layout->words32;
            *base = rg_spv_arg_reference(c, at[st->outer - 1], bytes);
        }
        return RG_SPV_OP(c, SpvOpPtrAccessChain, rg_spv_element_pointer(s, type, bytes), *base,
                         number);
    }
    if (!*base)
        *base = rg_spv_arg_reference(c, c->layout->array[st->outer - 1], bytes);
    uint32_t block = s->o->block_of ? s->o->block_of[a] : 0;
    return RG_SPV_OP(c, SpvOpAccessChain, buffer_pointer(c, type),
                     rg_spv_block(c, block, bytes, is_float), rg_spv_u32(s, 0),
                     plus(c, *base, number));
}

uint32_t rg_spv_place_word(rg_spv_fn *c, const rg_spv_place *p, bool is_float, uint32_t *shift) {
    rg_spv *s = c->s;
    uint32_t size = rg_mem_size(p->leaf->mem), byte;
    bool plain = rg_spv_element_plain(s, c->f->arrays.at[p->array].elem);
    *shift = 0;
    /* The typed pointer has the right type already. */
    bool is_int = !rg_mem_is_float(p->leaf->mem);
    if (c->address && plain && size >= 4 && (is_int || is_float))
        return typed_pointer(c, p);
    uint32_t bytes = size == 8 ? 8 : 4;
    uint32_t number = word_number(c, p, bytes, &byte);
    uint32_t at = view_pointer(c, p->array, number, bytes, is_float);
    if (byte) {
        uint32_t low = op2(c, SpvOpBitwiseAnd, c->t_index, byte, rg_spv_const_index(c, 3));
        if (c->index64)
            low = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, low);
        *shift = op2(c, SpvOpShiftLeftLogical, s->t_u32, low, rg_spv_u32(s, 3));
    }
    return at;
}

uint32_t rg_spv_slot_word(rg_spv_fn *c, uint32_t k, uint32_t bytes, bool is_float) {
    rg_spv *s = c->s;
    const rg_task_layout *l = c->layout;
    bool typed = is_float && c->address;
    uint32_t *base = &c->slots[(bytes == 8) + 2 * typed];
    uint32_t type = is_float ? rg_spv_float(s, bytes * 8) : rg_spv_int(s, bytes * 8);
    if (!*base) {
        uint32_t at = !c->address || bytes == 4 ? l->slots32 : l->slots64;
        if (typed)
            at = bytes == 4 ? l->slots_f32 : l->slots_f64;
        *base = rg_spv_arg_reference(c, at, bytes);
    }
    if (c->address)
        return RG_SPV_OP(c, SpvOpPtrAccessChain, rg_spv_element_pointer(s, type, bytes), *base,
                         rg_spv_u32(s, k));
    return RG_SPV_OP(c, SpvOpAccessChain, buffer_pointer(c, type),
                     rg_spv_block(c, s->o->slots_block, bytes, is_float), rg_spv_u32(s, 0),
                     plus(c, *base, rg_spv_const_index(c, k)));
}

/* ---- plain access ---- */

uint32_t rg_spv_read(rg_spv_fn *c, uint32_t type, uint32_t pointer, uint32_t bytes) {
    if (!c->address)
        return read_now(c, type, pointer);
    if (c->s->o->caps.naive_loads)
        return RG_SPV_OP(c, SpvOpLoad, type, pointer, SpvMemoryAccessAlignedMask, bytes);
    uint32_t v = rg_spv_variable(c, type);
    RG_SPV_DO(c, SpvOpCopyMemory, v, pointer, SpvMemoryAccessAlignedMask, bytes);
    return RG_SPV_OP(c, SpvOpLoad, type, v);
}

void rg_spv_write(rg_spv_fn *c, uint32_t pointer, uint32_t v, uint32_t bytes) {
    if (c->address)
        RG_SPV_DO(c, SpvOpStore, pointer, v, SpvMemoryAccessAlignedMask, bytes);
    else
        RG_SPV_DO(c, SpvOpStore, pointer, v);
}

uint32_t rg_spv_from_word(rg_spv_fn *c, rg_mem mem, uint32_t word) {
    rg_spv *s = c->s;
    uint32_t u = s->t_u32;
    switch (mem) {
    case RG_M_BOOL:
        word = op2(c, SpvOpBitwiseAnd, u, word, rg_spv_u32(s, 0xff));
        return op2(c, SpvOpINotEqual, s->t_bool, word, rg_spv_u32(s, 0));
    case RG_M_F16:
        return rg_spv_half_to_float(c, op2(c, SpvOpBitwiseAnd, u, word, rg_spv_u32(s, 0xffff)));
    case RG_M_F32:
        return RG_SPV_OP(c, SpvOpBitcast, s->t_f32, word);
    case RG_M_F64:
        return RG_SPV_OP(c, SpvOpBitcast, rg_spv_float(s, 64), word);
    case RG_M_I8:
    case RG_M_U8:
    case RG_M_I16:
    case RG_M_U16:
        return rg_spv_wrap(c, mem, RG_I32, word);
    default:
        return word;
    }
}

/* What is above the scalar's bits in the word may be anything. */
uint32_t rg_spv_to_word(rg_spv_fn *c, rg_mem mem, uint32_t v) {
    rg_spv *s = c->s;
    switch (mem) {
    case RG_M_BOOL:
        return RG_SPV_OP(c, SpvOpSelect, s->t_u32, v, rg_spv_u32(s, 1), rg_spv_u32(s, 0));
    case RG_M_F16:
        return rg_spv_half_from_float(c, v);
    case RG_M_F32:
        return RG_SPV_OP(c, SpvOpBitcast, s->t_u32, v);
    case RG_M_F64:
        return RG_SPV_OP(c, SpvOpBitcast, rg_spv_int(s, 64), v);
    default:
        return v;
    }
}

/* Scratch and variables hold values; bool as 0 or 1. */
static rg_mem held_mem(rg_mem m) {
    return rg_mem_size(m) == 8 || m == RG_M_F32 ? m : m == RG_M_F16 ? RG_M_F32 : RG_M_U32;
}

static uint32_t inner_number(rg_spv_fn *c, const rg_spv_place *p) {
    uint32_t at = rg_spv_const_index(c, 0);
    for (uint32_t d = 0; d < p->leaf->ndims; d++)
        at = plus(c, times(c, at, rg_spv_const_index(c, (uint64_t)p->leaf->dims[d])), p->inner[d]);
    return at;
}

/* Number of the scalar in its leaf's column or variable, before the invocations are laced in. */
static uint32_t own_number(rg_spv_fn *c, const rg_spv_place *p) {
    uint64_t m = 1;
    for (uint32_t d = 0; d < p->leaf->ndims; d++)
        m *= (uint64_t)p->leaf->dims[d];
    return plus(c, times(c, p->element, rg_spv_const_index(c, m)), inner_number(c, p));
}

static uint32_t scratch_number(rg_spv_fn *c, const rg_spv_place *p) {
    uint32_t at = own_number(c, p);
    return c->invocations ? plus(c, times(c, at, c->invocations), c->invocation) : at;
}

/* A 64-bit scalar as two 32-bit words: devices without 64-bit integers. */
static bool in_pairs(const rg_spv_fn *c, uint32_t size) {
    return size == 8 && !c->s->o->caps.i64;
}

typedef struct cell {
    uint32_t pointer, second; /* second: of a pair */
    uint32_t type, bytes;
    rg_mem mem;
    bool variable, raw; /* raw: words, to be converted from and to */
    uint32_t shift;     /* raw 32-bit word that holds a narrow scalar */
} cell;

static cell own_cell(rg_spv_fn *c, const rg_spv_place *p) {
    rg_spv *s = c->s;
    const rg_spv_array_state *st = &c->arrays[p->array];
    rg_mem m = held_mem(p->leaf->mem);
    cell l = {.mem = m, .bytes = rg_mem_size(m)};
    l.type = rg_spv_value_type(s, rg_mem_value(m));
    if (!st->scratch) {
        l.variable = true;
        l.pointer =
            RG_SPV_OP(c, SpvOpAccessChain, rg_spv_pointer(s, SpvStorageClassFunction, l.type),
                      st->column[p->leaf_number], own_number(c, p));
        return l;
    }
    uint32_t number = scratch_number(c, p), base = st->column[p->leaf_number];
    if (c->address) {
        l.pointer = RG_SPV_OP(c, SpvOpPtrAccessChain, rg_spv_element_pointer(s, l.type, l.bytes),
                              base, number);
        return l;
    }
    bool pair = in_pairs(c, l.bytes);
    uint32_t bytes = pair ? 4 : l.bytes, type = rg_spv_int(s, bytes * 8);
    uint32_t block = rg_spv_block(c, s->o->scratch_block, bytes, false);
    if (pair)
        number = times(c, number, rg_spv_const_index(c, 2));
    number = plus(c, base, number);
    l.raw = true;
    l.type = type;
    l.pointer =
        RG_SPV_OP(c, SpvOpAccessChain, buffer_pointer(c, type), block, rg_spv_u32(s, 0), number);
    if (pair)
        l.second = RG_SPV_OP(c, SpvOpAccessChain, buffer_pointer(c, type), block, rg_spv_u32(s, 0),
                             plus(c, number, rg_spv_const_index(c, 1)));
    l.bytes = bytes;
    return l;
}

static cell outer_cell(rg_spv_fn *c, const rg_spv_place *p) {
    rg_spv *s = c->s;
    const rg_elem *e = c->f->arrays.at[p->array].elem;
    rg_mem m = p->leaf->mem;
    cell l = {.mem = m, .bytes = rg_mem_size(m)};
    uint32_t byte;
    if (c->address && rg_spv_element_plain(s, e)) {
        l.pointer = typed_pointer(c, p);
        l.type = rg_spv_element(s, rg_elem_scalar(m));
        return l;
    }
    l.raw = true;
    bool has = l.bytes == 4 || (l.bytes == 8 && s->o->caps.i64) ||
               (l.bytes == 2 && s->o->caps.i16) || (l.bytes == 1 && s->o->caps.i8);
    /* In address mode the only view for sure is that of 32-bit words. */
    if (c->address && l.bytes != 4)
        has = false;
    if (has) {
        uint32_t number = word_number(c, p, l.bytes, &byte);
        l.type = rg_spv_int(s, l.bytes * 8);
        l.pointer = view_pointer(c, p->array, number, l.bytes, false);
        return l;
    }
    l.type = s->t_u32;
    if (l.bytes == 8) {
        uint32_t number = times(c, word_number(c, p, 8, &byte), rg_spv_const_index(c, 2));
        l.pointer = view_pointer(c, p->array, number, 4, false);
        l.second = view_pointer(c, p->array, plus(c, number, rg_spv_const_index(c, 1)), 4, false);
    } else {
        l.pointer = rg_spv_place_word(c, p, false, &l.shift);
    }
    l.bytes = 4;
    return l;
}

static uint32_t cell_load(rg_spv_fn *c, const cell *l, rg_mem mem) {
    rg_spv *s = c->s;
    if (l->variable) {
        uint32_t v = read_now(c, l->type, l->pointer);
        return mem == RG_M_BOOL ? op2(c, SpvOpINotEqual, s->t_bool, v, rg_spv_u32(s, 0)) : v;
    }
    uint32_t v = rg_spv_read(c, l->type, l->pointer, l->bytes);
    if (l->second) {
        uint32_t high = rg_spv_read(c, l->type, l->second, l->bytes);
        v = RG_SPV_OP(c, SpvOpCompositeConstruct, s->t_v2u, v, high);
        return RG_SPV_OP(c, SpvOpBitcast, rg_spv_value_type(s, rg_mem_value(l->mem)), v);
    }
    if (l->shift)
        v = op2(c, SpvOpShiftRightLogical, s->t_u32, v, l->shift);
    else if (l->bytes < 4)
        v = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, v);
    /* A typed pointer to a float gives a float. */
    bool as_is = !l->raw && (l->mem == RG_M_F32 || l->mem == RG_M_F64);
    v = as_is ? v : rg_spv_from_word(c, l->mem, v);
    return mem == RG_M_BOOL && l->mem != RG_M_BOOL
               ? op2(c, SpvOpINotEqual, s->t_bool, v, rg_spv_u32(s, 0))
               : v;
}

static void cell_store(rg_spv_fn *c, const cell *l, rg_mem mem, uint32_t v) {
    rg_spv *s = c->s;
    if (mem == RG_M_BOOL && l->mem != RG_M_BOOL)
        v = RG_SPV_OP(c, SpvOpSelect, s->t_u32, v, rg_spv_u32(s, 1), rg_spv_u32(s, 0));
    if (l->variable) {
        RG_SPV_DO(c, SpvOpStore, l->pointer, v);
        return;
    }
    if (l->second) {
        uint32_t pair = RG_SPV_OP(c, SpvOpBitcast, s->t_v2u, v);
        uint32_t a = RG_SPV_OP(c, SpvOpCompositeExtract, s->t_u32, pair, 0);
        uint32_t b = RG_SPV_OP(c, SpvOpCompositeExtract, s->t_u32, pair, 1);
        rg_spv_write(c, l->pointer, a, l->bytes);
        rg_spv_write(c, l->second, b, l->bytes);
        return;
    }
    if (l->raw || (l->mem != RG_M_F32 && l->mem != RG_M_F64))
        v = rg_spv_to_word(c, l->mem, v);
    if (l->shift) {
        /* The neighbours in the word may be written at the same time: clear, then set, each in one
         * step, and only the scalar's own bits. */
        uint32_t size = rg_mem_size(l->mem) * 8;
        uint32_t mask = rg_spv_u32(s, (1u << size) - 1), u = s->t_u32;
        uint32_t one = rg_spv_u32(s, SpvScopeDevice), none = rg_spv_u32(s, 0);
        uint32_t own = op2(c, SpvOpShiftLeftLogical, u, mask, l->shift);
        v = op2(c, SpvOpShiftLeftLogical, u, op2(c, SpvOpBitwiseAnd, u, v, mask), l->shift);
        RG_SPV_OP(c, SpvOpAtomicAnd, u, l->pointer, one, none, RG_SPV_OP(c, SpvOpNot, u, own));
        RG_SPV_OP(c, SpvOpAtomicOr, u, l->pointer, one, none, v);
        return;
    }
    if (l->bytes < 4)
        v = RG_SPV_OP(c, SpvOpUConvert, l->type, v);
    rg_spv_write(c, l->pointer, v, l->bytes);
}

static cell cell_of(rg_spv_fn *c, const rg_spv_place *p) {
    return c->arrays[p->array].outer ? outer_cell(c, p) : own_cell(c, p);
}

uint32_t rg_spv_place_load(rg_spv_fn *c, const rg_spv_place *p) {
    rg_mem m = p->leaf->mem;
    if (!p->guard) {
        cell l = cell_of(c, p);
        return cell_load(c, &l, m);
    }
    uint32_t from = c->block, merge = rg_spv_if(c, p->guard);
    cell l = cell_of(c, p);
    uint32_t v = cell_load(c, &l, m), type = rg_spv_value_type(c->s, rg_mem_value(m));
    uint32_t end = c->block;
    rg_spv_branch(c, merge);
    rg_spv_label(c, merge);
    return rg_spv_phi(c, type, v, end, rg_spv_null(c->s, type), from);
}

void rg_spv_place_store(rg_spv_fn *c, const rg_spv_place *p, uint32_t v) {
    rg_spv *s = c->s;
    if (!p->guard) {
        cell l = cell_of(c, p);
        cell_store(c, &l, p->leaf->mem, v);
        return;
    }
    uint32_t then = rg_spv_id(s), otherwise = rg_spv_id(s), merge = rg_spv_id(s);
    RG_SPV_DO(c, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, p->guard, then, otherwise);
    rg_spv_label(c, then);
    cell l = cell_of(c, p);
    cell_store(c, &l, p->leaf->mem, v);
    rg_spv_branch(c, merge);
    rg_spv_label(c, otherwise);
    if (p->need) {
        uint32_t wanted = plus(c, p->element, rg_spv_const_index(c, 1));
        if (c->index64)
            wanted = RG_SPV_OP(c, SpvOpUConvert, s->t_u32, wanted);
        uint32_t at = rg_spv_slot_word(c, 2 * (p->need - 1), 4, false);
        RG_SPV_OP(c, SpvOpAtomicUMax, s->t_u32, at, rg_spv_u32(s, SpvScopeDevice), rg_spv_u32(s, 0),
                  wanted);
    }
    rg_spv_branch(c, merge);
    rg_spv_label(c, merge);
}
