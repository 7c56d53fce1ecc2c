/* Float atomics in memory that has no physical address: which of them can be made right, and how.
 *
 * In a bound buffer, the pointer is followed back to the buffer's variable. The buffer gets a
 * second variable with the same set and binding whose numbers are unsigned, and the same indices
 * lead to the same place in it: SPIRV-Cross makes one Metal buffer of the two (since September
 * 2022), so no slot is taken. In workgroup memory there is no second view: the variable itself
 * becomes one of unsigned numbers, and what goes in and out of it is cast. Metal has no float
 * atomics there at all, whatever the translator. */
#include "emit/spirv/repair.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

enum { MOST_INDICES = 64, MOST_NESTING = 255 }; /* the second is Vulkan's own */

struct rg_repair_places {
    const rg_code *m;
    rg_arena *arena;
    uint8_t *bound;  /* [bound] 1: has a set, 2: has a binding, 4: is in a decoration group */
    uint8_t *shared; /* [bound] workgroup variables: 0 not looked at, 1 can be retyped, 2 cannot */
    uint16_t *depth; /* [bound] how deeply a type is nested */
    bool *matrix;    /* [bound] a type has a matrix in it */
    uint32_t *list;  /* [bound] pointers still to follow */
};

/* Types are defined after what they are made of. */
static void find_traits(rg_repair_places *p) {
    const rg_code *m = p->m;
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        const rg_code_inst *t = &m->insts[k];
        uint32_t parts = t->op == SpvOpTypeStruct ? t->len
                         : t->op == SpvOpTypeArray || t->op == SpvOpTypeRuntimeArray ||
                                 t->op == SpvOpTypeVector || t->op == SpvOpTypeMatrix
                             ? 3
                             : 0;
        if (parts && t->op == SpvOpTypeMatrix)
            p->matrix[t->result] = true;
        for (uint32_t n = 2; n < parts; n++) {
            uint32_t inner = rg_code_word(m, k, n);
            /* Not defined before: the module is not valid, and the type not touched. */
            uint32_t below = inner < m->bound && m->def[inner] < k ? p->depth[inner] : MOST_NESTING;
            if (p->depth[t->result] <= below)
                p->depth[t->result] = (uint16_t)(below < MOST_NESTING ? below + 1 : MOST_NESTING);
            if (inner < m->bound && p->matrix[inner])
                p->matrix[t->result] = true;
        }
    }
}

rg_repair_places *rg_repair_places_new(rg_arena *a, const rg_code *m) {
    rg_repair_places *p = RG_NEW(a, rg_repair_places);
    p->m = m;
    p->arena = a;
    p->bound = RG_NEW_N(a, uint8_t, m->bound);
    p->shared = RG_NEW_N(a, uint8_t, m->bound);
    p->depth = RG_NEW_N(a, uint16_t, m->bound);
    p->matrix = RG_NEW_N(a, bool, m->bound);
    p->list = RG_NEW_N(a, uint32_t, m->bound);
    find_traits(p);
    for (uint32_t k = 0; k < m->types_at; k++) {
        uint32_t op = m->insts[k].op, id = rg_code_word(m, k, 1), what = rg_code_word(m, k, 2);
        if (op == SpvOpDecorate && id < m->bound)
            p->bound[id] |= what == SpvDecorationDescriptorSet ? 1
                            : what == SpvDecorationBinding     ? 2
                                                               : 0;
        for (uint32_t w = 2; op == SpvOpGroupDecorate && w < m->insts[k].len; w++)
            if (rg_code_word(m, k, w) < m->bound)
                p->bound[rg_code_word(m, k, w)] |= 4;
    }
    return p;
}

/* The parts of a type, each defined before it; 0: there is none, or the module is not valid. */
static uint32_t part(const rg_code *m, uint32_t type, uint32_t k) {
    uint32_t id = rg_code_word(m, m->def[type], k);
    return id < m->bound && m->def[id] < m->def[type] ? id : 0;
}

static bool is_float32(const rg_code *m, uint32_t type) {
    return rg_code_def_op(m, type) == SpvOpTypeFloat && rg_code_word(m, m->def[type], 2) == 32;
}

/* Of what a pointer leads to after one more index; 0: not followed. A matrix has no counterpart in
 * integers. */
static uint32_t step(const rg_code *m, uint32_t type, uint32_t index) {
    uint32_t member;
    switch (rg_code_def_op(m, type)) {
    case SpvOpTypeStruct:
        return rg_code_constant(m, index, &member) && member < m->insts[m->def[type]].len - 2u
                   ? part(m, type, 2 + member)
                   : 0;
    case SpvOpTypeArray:
    case SpvOpTypeRuntimeArray:
    case SpvOpTypeVector:
        return part(m, type, 2);
    default:
        return 0;
    }
}

bool rg_repair_path_to(rg_arena *a, const rg_code *m, uint32_t pointer, rg_repair_path *path) {
    uint32_t chain[MOST_INDICES], n = 0, n_index = 0;
    *path = (rg_repair_path){0};
    for (;;) {
        const rg_code_inst *d = rg_code_def(m, pointer);
        if (!d)
            return false;
        if (d->op == SpvOpVariable)
            break;
        bool is_chain = d->op == SpvOpAccessChain || d->op == SpvOpInBoundsAccessChain;
        uint32_t from = rg_code_word(m, m->def[pointer], 3);
        if ((!is_chain && d->op != SpvOpCopyObject) || n == MOST_INDICES || from >= m->bound)
            return false;
        if (is_chain) {
            chain[n++] = m->def[pointer];
            n_index += d->len - 4u;
        }
        pointer = from;
    }
    uint32_t type;
    path->variable = pointer;
    if (!rg_code_pointer(m, rg_code_type_of(m, pointer), &path->storage, &type) ||
        n_index > MOST_INDICES)
        return false;
    path->index = RG_NEW_N(a, uint32_t, n_index + 1);
    path->member = RG_NEW_N(a, bool, n_index + 1);
    while (n-- > 0)
        for (uint32_t k = 4; k < m->insts[chain[n]].len; k++) {
            uint32_t index = rg_code_word(m, chain[n], k);
            path->member[path->n] = rg_code_def_op(m, type) == SpvOpTypeStruct;
            type = rg_code_def(m, type) ? step(m, type, index) : 0;
            if (!type)
                return false;
            path->index[path->n++] = index;
        }
    return is_float32(m, type);
}

/* ---- workgroup memory ---- */

/* A value of the type goes in and out as it is, or after a cast. */
static bool is_castable(const rg_code *m, uint32_t type) {
    uint32_t op = rg_code_def_op(m, type);
    return op == SpvOpTypeInt || op == SpvOpTypeFloat || op == SpvOpTypeBool ||
           op == SpvOpTypeVector;
}

static bool use_is_fine(const rg_code *m, uint32_t use, uint32_t id, bool *leads_on) {
    const rg_code_inst *i = &m->insts[use];
    uint32_t at = rg_repair_atomic_pointer(i->op), n = 0;
    *leads_on = false;
    for (uint32_t w = 1; w < i->len; w++)
        n += rg_code_is_id(m, use, w) && rg_code_word(m, use, w) == id;
    if (n != 1)
        return false;
    if (at)
        return rg_code_word(m, use, at) == id && i->op != SpvOpAtomicFMinEXT &&
               i->op != SpvOpAtomicFMaxEXT;
    switch (i->op) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpCopyObject:
        *leads_on = true;
        return rg_code_word(m, use, 3) == id;
    case SpvOpLoad:
        return is_castable(m, i->type);
    case SpvOpStore:
        return rg_code_word(m, use, 1) == id &&
               is_castable(m, rg_code_type_of(m, rg_code_word(m, use, 2)));
    default:
        return rg_code_is_debug(m, use);
    }
}

static bool can_retype(rg_repair_places *p, uint32_t variable) {
    const rg_code *m = p->m;
    uint32_t storage, type, n = 0;
    uint32_t initial = rg_code_word(m, m->def[variable], 4);
    if (!rg_code_pointer(m, rg_code_type_of(m, variable), &storage, &type) || type >= m->bound ||
        p->matrix[type] || m->def[variable] >= m->functions_at ||
        (initial && rg_code_def_op(m, initial) != SpvOpConstantNull))
        return false;
    p->list[n++] = variable;
    while (n) {
        uint32_t id = p->list[--n];
        for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++) {
            bool leads_on;
            if (!use_is_fine(m, m->uses[u], id, &leads_on))
                return false;
            /* One base each, so every pointer is listed once. */
            if (leads_on && n < m->bound)
                p->list[n++] = m->insts[m->uses[u]].result;
        }
    }
    return true;
}

void rg_repair_retype(rg_repair *r, uint32_t variable) {
    const rg_code *m = r->code;
    rg_repair_places *p = r->places;
    uint32_t n = 0;
    if (r->retyped[variable])
        return;
    r->retyped[variable] = true;
    p->list[n++] = variable;
    while (n) {
        uint32_t id = p->list[--n];
        for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++) {
            uint32_t use = m->uses[u], op = m->insts[use].op;
            rg_repair_action a = RG_REPAIR_RETYPE;
            if (op == SpvOpLoad || op == SpvOpAtomicLoad)
                a = RG_REPAIR_CAST_RESULT;
            else if (op == SpvOpStore || op == SpvOpAtomicStore || op == SpvOpAtomicExchange)
                a = RG_REPAIR_CAST_VALUE;
            else if (op == SpvOpAtomicFAddEXT)
                a = RG_REPAIR_VIEW_ATOMIC;
            else if (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain ||
                     op == SpvOpCopyObject)
                p->list[n++] = m->insts[use].result;
            else
                continue;
            rg_repair_act(r, use, a);
        }
    }
}

/* ---- */

const char *rg_repair_why_not(rg_repair_places *p, uint32_t pointer, rg_repair_path *path) {
    const rg_code *m = p->m;
    bool followed = rg_repair_path_to(p->arena, m, pointer, path);
    uint32_t v = path->variable, storage, type;
    if (!v || !rg_code_pointer(m, rg_code_type_of(m, v), &storage, &type) || type >= m->bound ||
        p->depth[type] >= MOST_NESTING)
        return "its pointer cannot be followed to a variable: inline the function that it is a "
               "parameter of (spirv-opt --inline-entry-points-exhaustive)";
    bool buffer = storage == SpvStorageClassStorageBuffer ||
                  (storage == SpvStorageClassUniform && m->marks[type] & RG_CODE_BUFFER_BLOCK);
    if (storage == SpvStorageClassWorkgroup) {
        if (p->shared[v] == 0)
            p->shared[v] = can_retype(p, v) ? 1 : 2;
        if (!followed || p->shared[v] == 2)
            return "its variable cannot become one of integers, for it has a matrix, or is read or "
                   "written as a whole or through a function's parameter";
        return NULL;
    }
    if (!buffer)
        return "add by compare and exchange through integers";
    if (!followed)
        return "it is in a matrix, or more than an access chain leads to it: bind the buffer as "
               "integers too, and add by compare and exchange";
    if (rg_code_def_op(m, type) != SpvOpTypeStruct)
        return "its buffer is one of an array, which translators cannot bind a second time: add by "
               "compare and exchange through integers";
    if (p->bound[v] != 3)
        return "its buffer has no set and binding of its own";
    return NULL;
}
