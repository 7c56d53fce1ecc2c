/* Sections are plain word lists, joined at the end. Types and constants are found again by the hash
 * of their words without the result id. */
#include "emit/spirv/module.h"

#include <string.h>

#include "base/table.h"

enum { GENERATOR = 0 }; /* none registered */

rg_spv *rg_spv_new(rg_arena *a, const rg_spirv_options *o, rg_diags *d) {
    rg_spv *s = RG_NEW(a, rg_spv);
    s->arena = a;
    s->o = o;
    s->diags = d;
    s->next = 1;
    s->glsl = rg_spv_id(s);
    rg_spv_capability(s, SpvCapabilityShader);
    s->t_void = rg_spv_type_words(s, SpvOpTypeVoid, NULL, 0);
    s->t_bool = rg_spv_type_words(s, SpvOpTypeBool, NULL, 0);
    s->t_u32 = rg_spv_int(s, 32);
    s->t_f32 = rg_spv_float(s, 32);
    s->t_v2u = RG_SPV_TYPE(s, SpvOpTypeVector, s->t_u32, 2);
    s->t_v3u = RG_SPV_TYPE(s, SpvOpTypeVector, s->t_u32, 3);
    return s;
}

uint32_t rg_spv_id(rg_spv *s) {
    return s->next++;
}

static void push(rg_spv *s, rg_spv_words *w, uint32_t word) {
    RG_PUSH(s->arena, w, word);
}

void rg_spv_put(rg_spv *s, rg_spv_words *w, SpvOp op, const uint32_t *words, uint32_t n) {
    push(s, w, (n + 1) << 16 | (uint32_t)op);
    for (uint32_t k = 0; k < n; k++)
        push(s, w, words[k]);
}

void rg_spv_put_text(rg_spv *s, rg_spv_words *w, SpvOp op, const uint32_t *before, uint32_t nb,
                     const char *text, const uint32_t *after, uint32_t na) {
    size_t len = strlen(text);
    if (len > 4096) /* an instruction has at most 65535 words */
        len = 4096;
    uint32_t nt = (uint32_t)len / 4 + 1;
    push(s, w, (1 + nb + nt + na) << 16 | (uint32_t)op);
    for (uint32_t k = 0; k < nb; k++)
        push(s, w, before[k]);
    for (uint32_t k = 0; k < nt; k++) {
        uint32_t word = 0;
        for (uint32_t c = 0; c < 4 && k * 4 + c < len; c++)
            word |= (uint32_t)(unsigned char)text[k * 4 + c] << (8 * c);
        push(s, w, word);
    }
    for (uint32_t k = 0; k < na; k++)
        push(s, w, after[k]);
}

void rg_spv_capability(rg_spv *s, SpvCapability c) {
    for (uint32_t k = 0; k < s->cap_list.n; k++)
        if (s->cap_list.at[k] == (uint32_t)c)
            return;
    uint32_t word = (uint32_t)c;
    RG_PUSH(s->arena, &s->cap_list, word);
    rg_spv_put(s, &s->caps, SpvOpCapability, &word, 1);
}

void rg_spv_extension(rg_spv *s, const char *name) {
    for (uint32_t k = 0; k < s->ext_list.n; k++)
        if (strcmp(s->ext_list.at[k], name) == 0)
            return;
    RG_PUSH(s->arena, &s->ext_list, name);
    rg_spv_put_text(s, &s->exts, SpvOpExtension, NULL, 0, name, NULL, 0);
}

void rg_spv_decorate(rg_spv *s, uint32_t id, SpvDecoration d) {
    uint32_t w[] = {id, (uint32_t)d};
    rg_spv_put(s, &s->annotations, SpvOpDecorate, w, 2);
}

void rg_spv_decorate1(rg_spv *s, uint32_t id, SpvDecoration d, uint32_t word) {
    uint32_t w[] = {id, (uint32_t)d, word};
    rg_spv_put(s, &s->annotations, SpvOpDecorate, w, 3);
}

void rg_spv_decorate_member(rg_spv *s, uint32_t id, uint32_t member, SpvDecoration d,
                            const uint32_t *word) {
    uint32_t w[] = {id, member, (uint32_t)d, word ? *word : 0};
    rg_spv_put(s, &s->annotations, SpvOpMemberDecorate, w, word ? 4 : 3);
}

void rg_spv_name(rg_spv *s, uint32_t id, const char *name) {
    if (name && *name)
        rg_spv_put_text(s, &s->names, SpvOpName, &id, 1, name, NULL, 0);
}

void rg_spv_member_name(rg_spv *s, uint32_t id, uint32_t member, const char *name) {
    uint32_t w[] = {id, member};
    rg_spv_put_text(s, &s->names, SpvOpMemberName, w, 2, name, NULL, 0);
}

/* ---- one of each ---- */

static void grow_table(rg_spv *s) {
    uint32_t n = s->nslots ? s->nslots * 2 : 256;
    rg_spv_interned *old = s->slots;
    s->slots = RG_NEW_N(s->arena, rg_spv_interned, n);
    for (uint32_t k = 0; k < s->nslots; k++) {
        if (!old[k].id)
            continue;
        uint64_t h = rg_hash_bytes(old[k].section->at + old[k].at, old[k].n * 4u, 0);
        uint32_t at = (uint32_t)h & (n - 1);
        while (s->slots[at].id)
            at = (at + 1) & (n - 1);
        s->slots[at] = old[k];
    }
    s->nslots = n;
}

/* words: the instruction, its result id (words[where]) 0. In the section the id is there, so the
 * key is kept apart, in a list that holds nothing else. */
static uint32_t intern(rg_spv *s, rg_spv_words *section, uint32_t *words, uint32_t n,
                       uint32_t where) {
    if (s->ninterned * 2 >= s->nslots)
        grow_table(s);
    uint64_t h = rg_hash_bytes(words, n * 4u, 0);
    uint32_t at = (uint32_t)h & (s->nslots - 1);
    for (; s->slots[at].id; at = (at + 1) & (s->nslots - 1)) {
        const rg_spv_interned *x = &s->slots[at];
        if (x->n == n && memcmp(x->section->at + x->at, words, n * 4u) == 0)
            return x->id;
    }
    rg_spv_words *key = RG_NEW(s->arena, rg_spv_words);
    for (uint32_t k = 0; k < n; k++)
        push(s, key, words[k]);
    uint32_t id = rg_spv_id(s);
    s->slots[at] = (rg_spv_interned){key, 0, n, id};
    s->ninterned++;
    words[where] = id;
    for (uint32_t k = 0; k < n; k++)
        push(s, section, words[k]);
    return id;
}

uint32_t rg_spv_type_words(rg_spv *s, SpvOp op, const uint32_t *words, uint32_t n) {
    uint32_t *w = RG_NEW_N(s->arena, uint32_t, n + 2);
    w[0] = (n + 2) << 16 | (uint32_t)op;
    for (uint32_t k = 0; k < n; k++)
        w[k + 2] = words[k];
    return intern(s, &s->types, w, n + 2, 1);
}

static uint32_t constant(rg_spv *s, SpvOp op, uint32_t type, const uint32_t *words, uint32_t n) {
    uint32_t w[8] = {(n + 3) << 16 | (uint32_t)op, type};
    for (uint32_t k = 0; k < n; k++)
        w[k + 3] = words[k];
    return intern(s, &s->types, w, n + 3, 2);
}

uint32_t rg_spv_string(rg_spv *s, const char *text) {
    rg_spv_words w = {0};
    uint32_t none = 0;
    rg_spv_put_text(s, &w, SpvOpString, &none, 1, text, NULL, 0);
    return intern(s, &s->strings, w.at, w.n, 1);
}

uint32_t rg_spv_int(rg_spv *s, uint32_t bits) {
    if (bits == 64)
        rg_spv_capability(s, SpvCapabilityInt64);
    else if (bits == 16)
        rg_spv_capability(s, SpvCapabilityInt16);
    else if (bits == 8)
        rg_spv_capability(s, SpvCapabilityInt8);
    return RG_SPV_TYPE(s, SpvOpTypeInt, bits, 0);
}

uint32_t rg_spv_float(rg_spv *s, uint32_t bits) {
    if (bits == 64)
        rg_spv_capability(s, SpvCapabilityFloat64);
    return RG_SPV_TYPE(s, SpvOpTypeFloat, bits);
}

uint32_t rg_spv_pointer(rg_spv *s, SpvStorageClass c, uint32_t type) {
    return RG_SPV_TYPE(s, SpvOpTypePointer, (uint32_t)c, type);
}

uint32_t rg_spv_array(rg_spv *s, uint32_t type, uint32_t n) {
    return RG_SPV_TYPE(s, SpvOpTypeArray, type, rg_spv_u32(s, n));
}

uint32_t rg_spv_value_type(rg_spv *s, rg_type t) {
    switch (t) {
    case RG_BOOL:
        return s->t_bool;
    case RG_I32:
    case RG_U32:
        return s->t_u32;
    case RG_I64:
    case RG_U64:
        return rg_spv_int(s, 64);
    case RG_F32:
        return s->t_f32;
    case RG_F64:
        return rg_spv_float(s, 64);
    default:
        return s->t_void;
    }
}

uint32_t rg_spv_u32(rg_spv *s, uint32_t v) {
    return constant(s, SpvOpConstant, s->t_u32, &v, 1);
}

uint32_t rg_spv_u64(rg_spv *s, uint64_t v) {
    uint32_t w[] = {(uint32_t)v, (uint32_t)(v >> 32)};
    return constant(s, SpvOpConstant, rg_spv_int(s, 64), w, 2);
}

uint32_t rg_spv_const_bool(rg_spv *s, bool v) {
    return constant(s, v ? SpvOpConstantTrue : SpvOpConstantFalse, s->t_bool, NULL, 0);
}

uint32_t rg_spv_const_int(rg_spv *s, rg_type t, int64_t v) {
    if (t == RG_BOOL)
        return rg_spv_const_bool(s, v != 0);
    return rg_type_size(t) == 8 ? rg_spv_u64(s, (uint64_t)v) : rg_spv_u32(s, (uint32_t)v);
}

uint32_t rg_spv_const_real(rg_spv *s, rg_type t, double v) {
    uint32_t w[2];
    if (t == RG_F32) {
        float x = (float)v;
        memcpy(w, &x, sizeof x);
        return constant(s, SpvOpConstant, s->t_f32, w, 1);
    }
    uint64_t bits;
    memcpy(&bits, &v, sizeof v);
    w[0] = (uint32_t)bits;
    w[1] = (uint32_t)(bits >> 32);
    return constant(s, SpvOpConstant, rg_spv_float(s, 64), w, 2);
}

uint32_t rg_spv_null(rg_spv *s, uint32_t type) {
    return constant(s, SpvOpConstantNull, type, NULL, 0);
}

rg_spirv_module *rg_spv_finish(rg_spv *s) {
    rg_spirv_module *m = RG_NEW(s->arena, rg_spirv_module);
    rg_spv_words import = {0}, model = {0};
    bool physical = s->o->caps.addressing == RG_SPIRV_ADDRESS;
    rg_spv_put_text(s, &import, SpvOpExtInstImport, &s->glsl, 1, "GLSL.std.450", NULL, 0);
    uint32_t w[] = {physical ? SpvAddressingModelPhysicalStorageBuffer64
                             : SpvAddressingModelLogical,
                    SpvMemoryModelGLSL450};
    rg_spv_put(s, &model, SpvOpMemoryModel, w, 2);
    const rg_spv_words *sections[] = {&s->caps,        &s->exts,  &import,      &model,
                                      &s->entries,     &s->modes, &s->strings,  &s->names,
                                      &s->annotations, &s->types, &s->functions};
    size_t n = 5;
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++)
        n += sections[k]->n;
    m->words = RG_NEW_N(s->arena, uint32_t, n);
    m->words[0] = SpvMagicNumber;
    m->words[1] = s->o->caps.version ? s->o->caps.version : 0x00010300u;
    m->words[2] = GENERATOR;
    m->words[3] = s->next;
    m->count = 5;
    for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
        if (sections[k]->n)
            memcpy(m->words + m->count, sections[k]->at, sections[k]->n * 4u);
        m->count += sections[k]->n;
    }
    return m;
}
