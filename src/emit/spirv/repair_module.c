/* What is wrong with a module as a whole: buffer slots per entry point, and constructs that Metal
 * has nothing for. */
#include "emit/spirv/repair.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

enum { METAL_SLOTS = 31 };

static const struct refused {
    uint32_t capability;
    const char *text;
} refused[] = {
    {SpvCapabilityAddresses, "capability Addresses: OpenCL's pointers; translators take shaders"},
    {SpvCapabilityKernel, "capability Kernel: an OpenCL kernel; translators take shaders"},
    {SpvCapabilityLinkage, "capability Linkage: translators take whole programs"},
    {SpvCapabilityVector16, "capability Vector16: Metal's vectors end at 4"},
    {SpvCapabilityPipes, "capability Pipes: Metal has no pipes"},
    {SpvCapabilityDeviceEnqueue, "capability DeviceEnqueue: Metal kernels launch none"},
    {SpvCapabilityGenericPointer, "capability GenericPointer: Metal has no generic pointers"},
    {SpvCapabilityGeometry, "capability Geometry: Metal has no geometry shaders"},
    {SpvCapabilityInt64Atomics, "capability Int64Atomics: Metal has none but min and max"},
    {SpvCapabilityAtomicFloat64AddEXT, "capability AtomicFloat64AddEXT: Metal has no double"},
    {SpvCapabilityAtomicFloat16AddEXT, "capability AtomicFloat16AddEXT: Metal has no such atomic"},
    {SpvCapabilityAtomicFloat32MinMaxEXT,
     "capability AtomicFloat32MinMaxEXT: Metal has no such atomic"},
    {SpvCapabilityAtomicFloat64MinMaxEXT, "capability AtomicFloat64MinMaxEXT: Metal has no double"},
    {SpvCapabilityAtomicFloat16MinMaxEXT,
     "capability AtomicFloat16MinMaxEXT: Metal has no such atomic"},
    {SpvCapabilityRayTracingKHR, "capability RayTracingKHR: translators take ray queries only"},
};

static void check_constructs(rg_repair *r) {
    const rg_code *m = r->code;
    for (uint32_t k = 0; k < m->functions_at; k++) {
        uint32_t op = m->insts[k].op;
        const char *text = NULL;
        if (op == SpvOpCapability)
            for (size_t n = 0; n < sizeof refused / sizeof refused[0]; n++)
                if (refused[n].capability == rg_code_word(m, k, 1))
                    text = refused[n].text;
        if (op == SpvOpTypeFloat && rg_code_word(m, k, 2) == 64)
            text = "64-bit floating-point numbers: Metal has no double";
        if (text)
            rg_repair_add(r, RG_SPIRV_NOT_METAL, k, r->translators)->text = text;
    }
}

/* Functions that an entry point may run. */
static void spread(const rg_code *m, const uint32_t *function_of, uint32_t entry, bool *runs,
                   uint32_t *list) {
    memset(runs, 0, m->n_functions * sizeof *runs);
    uint32_t n = 0;
    runs[entry] = true;
    list[n++] = entry;
    while (n) {
        const rg_code_function *f = &m->functions[list[--n]];
        for (uint32_t k = f->first; k < f->last; k++) {
            if (m->insts[k].op != SpvOpFunctionCall)
                continue;
            uint32_t id = rg_code_word(m, k, 3);
            uint32_t g = id < m->bound ? function_of[id] : RG_CODE_NONE;
            if (g != RG_CODE_NONE && !runs[g]) {
                runs[g] = true;
                list[n++] = g;
            }
        }
    }
}

static bool used_by(const rg_code *m, uint32_t id, const bool *runs) {
    for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++)
        if (runs[m->blocks[m->block_of[m->uses[u]]].function] && !rg_code_is_debug(m, m->uses[u]))
            return true;
    return false;
}

typedef struct buffer {
    uint32_t id, set, binding, slots;
    bool bound;
} buffer;

/* Variables that become Metal buffers; each element of an array of buffers takes a slot. */
static uint32_t find_buffers(const rg_repair *r, buffer **out) {
    const rg_code *m = r->code;
    uint32_t n = 0, *index = RG_NEW_N(r->arena, uint32_t, m->bound);
    buffer *list = RG_NEW_N(r->arena, buffer, m->n_insts + 1);
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        uint32_t storage, type, length;
        if (m->insts[k].op != SpvOpVariable ||
            !rg_code_pointer(m, m->insts[k].type, &storage, &type) ||
            (storage != SpvStorageClassUniform && storage != SpvStorageClassStorageBuffer &&
             storage != SpvStorageClassPushConstant))
            continue;
        list[n] = (buffer){.id = m->insts[k].result, .slots = 1};
        if (rg_code_def_op(m, type) == SpvOpTypeArray &&
            rg_code_constant(m, rg_code_word(m, m->def[type], 3), &length) && length)
            list[n].slots = length;
        index[list[n].id] = n + 1;
        n++;
    }
    for (uint32_t k = 0; k < m->types_at; k++) {
        uint32_t id = rg_code_word(m, k, 1);
        if (m->insts[k].op != SpvOpDecorate || id >= m->bound || !index[id])
            continue;
        buffer *b = &list[index[id] - 1];
        if (rg_code_word(m, k, 2) == SpvDecorationDescriptorSet)
            b->set = rg_code_word(m, k, 3);
        else if (rg_code_word(m, k, 2) == SpvDecorationBinding) {
            b->binding = rg_code_word(m, k, 3);
            b->bound = true;
        }
    }
    *out = list;
    return n;
}

/* Several variables may share a binding: they take one slot together. */
static bool counted_before(const buffer *list, const bool *used, uint32_t k) {
    for (uint32_t j = k > 4096 ? k : 0; j < k; j++)
        if (used[j] && list[j].bound && list[k].bound && list[j].set == list[k].set &&
            list[j].binding == list[k].binding)
            return true;
    return false;
}

static void check_slots(rg_repair *r) {
    const rg_code *m = r->code;
    buffer *list;
    uint32_t n = find_buffers(r, &list);
    uint64_t most = 1;
    for (uint32_t k = 0; k < n; k++)
        most += list[k].slots;
    if (most <= METAL_SLOTS)
        return;
    uint32_t *function_of = RG_NEW_N(r->arena, uint32_t, m->bound);
    memset(function_of, 0xff, m->bound * sizeof *function_of);
    for (uint32_t f = 0; f < m->n_functions; f++)
        function_of[m->insts[m->functions[f].first].result] = f;
    bool *runs = RG_NEW_N(r->arena, bool, m->n_functions + 1);
    bool *used = RG_NEW_N(r->arena, bool, n + 1);
    uint32_t *stack = RG_NEW_N(r->arena, uint32_t, m->n_functions + 1);
    for (uint32_t k = 0; k < m->types_at; k++) {
        uint32_t id = rg_code_word(m, k, 2);
        if (m->insts[k].op != SpvOpEntryPoint || id >= m->bound || function_of[id] == RG_CODE_NONE)
            continue;
        spread(m, function_of, function_of[id], runs, stack);
        uint64_t slots = 0;
        bool lengths = false;
        for (uint32_t b = 0; b < n; b++) {
            used[b] = used_by(m, list[b].id, runs);
            if (used[b] && !counted_before(list, used, b))
                slots += list[b].slots;
        }
        for (uint32_t f = 0; f < m->n_functions && !lengths; f++)
            for (uint32_t i = m->functions[f].first; runs[f] && i < m->functions[f].last; i++)
                lengths = lengths || m->insts[i].op == SpvOpArrayLength;
        slots += lengths; /* the buffer that tells their sizes */
        if (slots <= METAL_SLOTS)
            continue;
        rg_repair_finding *f = rg_repair_add(r, RG_SPIRV_SLOTS, RG_CODE_NONE, r->translators);
        f->id = id;
        f->text = rg_format(r->arena,
                            "entry point '%s' takes %llu buffer slots, and Metal has %d: reach "
                            "arrays by address, or by offset in one buffer",
                            rg_code_string(m, k, 3), (unsigned long long)slots, METAL_SLOTS);
    }
}

void rg_repair_check_module(rg_repair *r) {
    check_constructs(r);
    check_slots(r);
}
