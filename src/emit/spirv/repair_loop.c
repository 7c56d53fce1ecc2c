/* A structured loop is an interval of the dominator tree's numbering, less that of its merge block:
 * with the writes of each kind, and those to each variable, in the order of that numbering, a
 * search among them tells whether a loop has one. */
#include "emit/spirv/repair_loop.h"

#include "emit/spirv/repair.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint32_t enter, inst;
} entry;
typedef RG_VEC(entry) entries;

struct rg_loops {
    rg_arena *arena;
    const rg_code *m;
    const rg_flow *flow;
    bool *ahead;               /* [blocks] */
    entries kinds[RG_W_KINDS]; /* writes of each kind, by enter */
    entries *of;               /* [bound] writes to a variable or parameter, by enter */
    bool *listed;              /* [bound] of is made */
    bool *shared;              /* [bound] another variable may be the same buffer */
    bool *constant;            /* [bound] the module writes nothing there */
    uint32_t *list;            /* pointers still to follow */
};

static bool storage_of(const rg_code *m, uint32_t pointer, uint32_t *storage, uint32_t *pointee) {
    return rg_code_pointer(m, rg_code_type_of(m, pointer), storage, pointee);
}

/* The pointer that an instruction writes through, 0: it is no such instruction. */
static uint32_t written(const rg_code *m, uint32_t k) {
    uint32_t op = m->insts[k].op;
    if (op == SpvOpStore || op == SpvOpCopyMemory || op == SpvOpCopyMemorySized)
        return rg_code_word(m, k, 1);
    uint32_t at = rg_repair_atomic_pointer(op);
    return at && op != SpvOpAtomicLoad ? rg_code_word(m, k, at) : 0;
}

static unsigned more_kinds(const rg_code *m, uint32_t k) {
    uint32_t storage, pointee, pointer = written(m, k);
    if (m->insts[k].op == SpvOpFunctionCall)
        return RG_W_ANY_CALL;
    if (!pointer || !storage_of(m, pointer, &storage, &pointee))
        return 0;
    if (storage == SpvStorageClassPhysicalStorageBuffer)
        return RG_W_PHYSICAL;
    return storage == SpvStorageClassWorkgroup || storage == SpvStorageClassPrivate ||
                   storage == SpvStorageClassOutput
               ? RG_W_GLOBAL
               : 0;
}

static int by_binding(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    for (int k = 0; k < 3; k++)
        if (x[k] != y[k])
            return x[k] < y[k] ? -1 : 1;
    return 0;
}

/* Variables that are aliased, or of one set and binding; and those of which the module says that it
 * writes nothing there: not by addresses either, since nothing else is aliased either. */
static void find_shared(rg_loops *l) {
    const rg_code *m = l->m;
    uint32_t(*place)[3] = rg_alloc(l->arena, (m->bound + 1) * sizeof *place), n = 0;
    uint32_t *index = RG_NEW_N(l->arena, uint32_t, m->bound);
    for (uint32_t k = m->types_at; k < m->functions_at; k++)
        if (m->insts[k].op == SpvOpVariable) {
            place[n][0] = place[n][1] = RG_CODE_NONE;
            place[n][2] = m->insts[k].result;
            index[m->insts[k].result] = ++n;
        }
    uint32_t *constant = RG_NEW_N(l->arena, uint32_t, m->bound); /* members of a type */
    for (uint32_t k = 0; k < m->types_at; k++) {
        uint32_t id = rg_code_word(m, k, 1), what = rg_code_word(m, k, 2);
        if (m->insts[k].op == SpvOpMemberDecorate && id < m->bound)
            constant[id] += rg_code_word(m, k, 3) == SpvDecorationNonWritable;
        if (m->insts[k].op != SpvOpDecorate || id >= m->bound || !index[id])
            continue;
        if (what == SpvDecorationAliased)
            l->shared[id] = true;
        else if (what == SpvDecorationNonWritable)
            l->constant[id] = true;
        else if (what == SpvDecorationDescriptorSet || what == SpvDecorationBinding)
            place[index[id] - 1][what == SpvDecorationBinding] = rg_code_word(m, k, 3);
    }
    if (n)
        qsort(place, n, sizeof *place, by_binding);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t id = place[k][2], storage, type;
        if (storage_of(m, id, &storage, &type) && rg_code_def_op(m, type) == SpvOpTypeStruct &&
            m->insts[m->def[type]].len > 2 && constant[type] >= m->insts[m->def[type]].len - 2u)
            l->constant[id] = true;
    }
    for (uint32_t k = 1; k < n; k++)
        if (place[k][1] != RG_CODE_NONE && place[k - 1][0] == place[k][0] &&
            place[k - 1][1] == place[k][1])
            l->shared[place[k - 1][2]] = l->shared[place[k][2]] = true;
}

rg_loops *rg_loops_new(rg_arena *a, const rg_code *m, const rg_flow *flow, const uint8_t *writes) {
    rg_loops *l = RG_NEW(a, rg_loops);
    l->arena = a;
    l->m = m;
    l->flow = flow;
    l->ahead = RG_NEW_N(a, bool, m->n_blocks + 1);
    l->of = RG_NEW_N(a, entries, m->bound);
    l->listed = RG_NEW_N(a, bool, m->bound);
    l->shared = RG_NEW_N(a, bool, m->bound);
    l->constant = RG_NEW_N(a, bool, m->bound);
    l->list = RG_NEW_N(a, uint32_t, m->bound);
    bool any = false;
    uint32_t *at = RG_NEW_N(a, uint32_t, 2 * m->n_blocks + 2);
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        at[flow->enter[b]] = b + 1;
        if (!m->blocks[b].loop || !flow->enter[b])
            continue;
        any = true;
        for (uint32_t up = flow->idom[b]; up != RG_CODE_NONE && !l->ahead[up]; up = flow->idom[up])
            l->ahead[up] = true;
    }
    if (!any)
        return l;
    find_shared(l);
    for (uint32_t n = 1; n < 2 * m->n_blocks + 2; n++) {
        if (!at[n])
            continue;
        const rg_code_block *b = &m->blocks[at[n] - 1];
        for (uint32_t k = b->label; k <= b->last; k++) {
            unsigned kinds = writes[k] | more_kinds(m, k);
            for (unsigned bit = 0; kinds >> bit; bit++)
                if (kinds >> bit & 1)
                    RG_PUSH(a, &l->kinds[bit], ((entry){n, k}));
        }
    }
    return l;
}

bool rg_loops_ahead(const rg_loops *l, uint32_t block) {
    return l->ahead[block];
}

/* ---- writes to a variable ---- */

static int by_enter(const void *a, const void *b) {
    const entry *x = a, *y = b;
    return x->enter != y->enter ? (x->enter < y->enter ? -1 : 1)
                                : (x->inst > y->inst) - (x->inst < y->inst);
}

static void list_writes(rg_loops *l, uint32_t variable) {
    const rg_code *m = l->m;
    entries *to = &l->of[variable];
    uint32_t n = 0;
    if (l->listed[variable])
        return;
    l->listed[variable] = true;
    l->list[n++] = variable;
    while (n) {
        uint32_t id = l->list[--n];
        for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++) {
            uint32_t use = m->uses[u], op = m->insts[use].op;
            bool leads_on = op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain ||
                            op == SpvOpPtrAccessChain || op == SpvOpInBoundsPtrAccessChain ||
                            op == SpvOpCopyObject;
            /* Each has one base, so no pointer is listed twice. */
            if (leads_on && rg_code_word(m, use, 3) == id && n < m->bound &&
                (u == m->uses_at[id] || m->uses[u - 1] != use))
                l->list[n++] = m->insts[use].result;
            /* What is handed on may be written through. */
            else if (!leads_on && !rg_code_is_debug(m, use) && op != SpvOpLoad &&
                     op != SpvOpAtomicLoad && l->flow->enter[m->block_of[use]] &&
                     !((op == SpvOpCopyMemory || op == SpvOpCopyMemorySized) &&
                       rg_code_word(m, use, 1) != id))
                RG_PUSH(l->arena, to, ((entry){l->flow->enter[m->block_of[use]], use}));
        }
    }
    if (to->n)
        qsort(to->at, to->n, sizeof *to->at, by_enter);
}

/* The variable or parameter that a pointer leads into; 0: it cannot be followed. */
static uint32_t root_of(const rg_code *m, uint32_t pointer) {
    for (int steps = 0; steps < 1000; steps++) {
        uint32_t op = rg_code_def_op(m, pointer);
        if (op == SpvOpVariable || op == SpvOpFunctionParameter)
            return pointer;
        if (op != SpvOpAccessChain && op != SpvOpInBoundsAccessChain && op != SpvOpCopyObject)
            return 0;
        pointer = rg_code_word(m, m->def[pointer], 3);
    }
    return 0;
}

/* Another function than the load's writes to the variable. */
static bool written_elsewhere(const rg_loops *l, uint32_t load, uint32_t variable) {
    const rg_code *m = l->m;
    uint32_t own = m->blocks[m->block_of[load]].function;
    const entries *e = &l->of[variable];
    for (uint32_t k = 0; k < e->n; k++)
        if (m->blocks[m->block_of[e->at[k].inst]].function != own)
            return true;
    return false;
}

unsigned rg_loops_fear(rg_loops *l, uint32_t load, uint32_t pointer, uint32_t *variable) {
    const rg_code *m = l->m;
    uint32_t storage, pointee;
    *variable = 0;
    if (!l->ahead[m->block_of[load]] || !storage_of(m, pointer, &storage, &pointee))
        return 0;
    unsigned all = 0, own = 0;
    switch (storage) {
    case SpvStorageClassUniform:
        if (pointee >= m->bound)
            return 0;
        /* A member's type does not say what block it is in; its variable's does. */
        break;
    case SpvStorageClassStorageBuffer:
        break;
    case SpvStorageClassWorkgroup:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
    case SpvStorageClassFunction:
        all = RG_W_GLOBAL | RG_W_ANY_CALL;
        break;
    default:
        return 0;
    }
    if (!all) {
        all = RG_W_ALL | RG_W_ANY_CALL;
        own = RG_W_PHYSICAL;
    }
    uint32_t root = root_of(m, pointer);
    if (!root ||
        (rg_code_def_op(m, root) == SpvOpFunctionParameter && storage != SpvStorageClassFunction))
        return storage == SpvStorageClassUniform && !root ? 0 : all;
    if (storage == SpvStorageClassUniform) {
        uint32_t block = 0, element;
        storage_of(m, root, &storage, &block);
        while ((rg_code_def_op(m, block) == SpvOpTypeArray ||
                rg_code_def_op(m, block) == SpvOpTypeRuntimeArray) &&
               (element = rg_code_word(m, m->def[block], 2)) < m->bound &&
               m->def[element] < m->def[block])
            block = element;
        if (block >= m->bound || !(m->marks[block] & RG_CODE_BUFFER_BLOCK))
            return 0;
    }
    if (l->shared[root])
        return all;
    if (l->constant[root])
        return 0;
    list_writes(l, root);
    *variable = root;
    return own | (written_elsewhere(l, load, root) ? (unsigned)RG_W_ANY_CALL : 0u);
}

/* ---- loops ---- */

/* The first entry with from <= enter < to. */
static uint32_t within(const entries *e, uint32_t from, uint32_t to) {
    uint32_t low = 0, high = e->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (e->at[mid].enter < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low < e->n && e->at[low].enter < to ? e->at[low].inst : RG_CODE_NONE;
}

static uint32_t in_loop(const rg_loops *l, const entries *e, uint32_t header) {
    const rg_flow *f = l->flow;
    uint32_t merge = l->m->blocks[header].merge, end = f->leave[header] + 1;
    if (merge == RG_CODE_NONE || !rg_flow_dominates(f, header, merge))
        return within(e, f->enter[header], end);
    uint32_t k = within(e, f->enter[header], f->enter[merge]);
    return k != RG_CODE_NONE ? k : within(e, f->leave[merge], end);
}

uint32_t rg_loops_write(rg_loops *l, uint32_t def, uint32_t use, unsigned kinds,
                        uint32_t variable) {
    uint32_t outermost = RG_CODE_NONE;
    if (!l->ahead[def] || (!kinds && !variable))
        return RG_CODE_NONE;
    for (uint32_t in = l->m->blocks[use].loop ? use : l->flow->loop[use]; in != RG_CODE_NONE;
         in = l->flow->loop[in])
        if (in != def && rg_flow_dominates(l->flow, def, in))
            outermost = in;
    if (outermost == RG_CODE_NONE)
        return RG_CODE_NONE;
    for (unsigned bit = 0; kinds >> bit; bit++) {
        uint32_t k = kinds >> bit & 1 ? in_loop(l, &l->kinds[bit], outermost) : RG_CODE_NONE;
        if (k != RG_CODE_NONE)
            return k;
    }
    return variable ? in_loop(l, &l->of[variable], outermost) : RG_CODE_NONE;
}
