/* What SPIRV-Cross does with a load decides what is named here.
 *
 * A load becomes an expression, printed where its value is used, and again at each further use; so
 * do conversions, arithmetic and element addresses made from it, until something is a statement: a
 * store, a call, a branch, or arithmetic used twice or inside a deeper loop, which becomes a
 * temporary. A load is registered with the variable its pointer was traced back to; a write then
 * forces what is registered into temporaries before it. A pointer made from an integer is traced to
 * nothing, so a load through it is printed late, whatever was written meanwhile.
 *
 *   pointer traced to                 the load is in order against
 *   a storage buffer (not Restrict)   all writes, but those through a uniform or push constant
 *   a Function variable               writes through untraced pointers and through variables
 *   anything else, or nothing         no write
 *
 * From 1.4.357 on, volatile loads are statements, and integers are traced as well as pointers.
 * The question for each load is thus: is there a path load -> write -> use, with the use found
 * through such expressions, that does not pass the load again?
 *
 * What is forced is what was registered when the write is printed. A value from before a loop that
 * is used in it above a write is printed in the loop by then: wrong from the second iteration on,
 * for loads of every kind of memory (repair_loop.c), in all versions. */
#include "emit/spirv/repair.h"
#include "emit/spirv/repair_loop.h"

#include <spirv/unified1/spirv.h>
#include <string.h>

/* What a pointer is traced to. */
typedef enum origin { O_NOTHING, O_BUFFER, O_CONSTANT, O_VARIABLE } origin;

typedef struct checker {
    rg_repair *r;
    rg_arena *arena;
    const rg_code *m;
    uint8_t *writes;       /* [insts] RG_W_ bits */
    uint32_t *next_write;  /* [insts] next writing instruction in the block, from this one on */
    uint8_t *impure;       /* [functions] */
    uint8_t *reads;        /* [functions] READS_ bits */
    uint32_t *function_of; /* [bound] function by id, RG_CODE_NONE */
    uint32_t *seen_value, now;
    uint32_t *list; /* values still to follow */
    /* Writes on the paths from block `from` on, of the kinds `kinds`: [blocks]. */
    uint32_t from;
    unsigned kinds;
    uint32_t *reached, reach_now, *reached_by, *queue;
    uint64_t work;
    rg_loops *loops;
    const uint8_t *needs; /* [bound] NEEDS_ bits of types */
    unsigned able;        /* NEEDS_ bits of what the module declares */
} checker;

enum { READS_PHYSICAL = 1, READS_OTHERS = 2 }; /* through pointers; memory not its own */
enum { NEEDS_INT8 = 1, NEEDS_INT16 = 2, NEEDS_FLOAT16 = 4 };
enum { WORK_LIMIT = 60000000, CONE_LIMIT = 20000 };

uint32_t rg_repair_atomic_pointer(uint32_t op) {
    switch (op) {
    case SpvOpAtomicStore:
    case SpvOpAtomicFlagClear:
        return 1;
    case SpvOpAtomicLoad:
    case SpvOpAtomicExchange:
    case SpvOpAtomicCompareExchange:
    case SpvOpAtomicCompareExchangeWeak:
    case SpvOpAtomicIIncrement:
    case SpvOpAtomicIDecrement:
    case SpvOpAtomicIAdd:
    case SpvOpAtomicISub:
    case SpvOpAtomicSMin:
    case SpvOpAtomicUMin:
    case SpvOpAtomicSMax:
    case SpvOpAtomicUMax:
    case SpvOpAtomicAnd:
    case SpvOpAtomicOr:
    case SpvOpAtomicXor:
    case SpvOpAtomicFlagTestAndSet:
    case SpvOpAtomicFMinEXT:
    case SpvOpAtomicFMaxEXT:
    case SpvOpAtomicFAddEXT:
        return 3;
    default:
        return 0;
    }
}

/* What a module must be able to do with values of its types to keep them in variables. Types are
 * defined after what they are made of, so one pass has them all. */
static uint8_t *find_needs(rg_arena *a, const rg_code *m) {
    uint8_t *needs = RG_NEW_N(a, uint8_t, m->bound);
    for (uint32_t k = m->types_at; k < m->functions_at; k++) {
        const rg_code_inst *t = &m->insts[k];
        uint32_t bits = rg_code_word(m, k, 2), parts = 0;
        if (t->op == SpvOpTypeInt)
            needs[t->result] = bits == 8 ? NEEDS_INT8 : bits == 16 ? NEEDS_INT16 : 0;
        else if (t->op == SpvOpTypeFloat)
            needs[t->result] = bits == 16 ? NEEDS_FLOAT16 : 0;
        else if (t->op == SpvOpTypeVector || t->op == SpvOpTypeMatrix || t->op == SpvOpTypeArray)
            parts = 3;
        else if (t->op == SpvOpTypeStruct)
            parts = t->len;
        for (uint32_t n = 2; n < parts; n++)
            if (rg_code_word(m, k, n) < m->bound)
                needs[t->result] |= needs[rg_code_word(m, k, n)];
    }
    return needs;
}

rg_repair_finding *rg_repair_add(rg_repair *r, rg_spirv_fault fault, uint32_t inst,
                                 unsigned translators) {
    rg_repair_finding f = {.fault = fault,
                           .translators = translators,
                           .inst = inst,
                           .clobber = RG_CODE_NONE,
                           .use = RG_CODE_NONE,
                           .function = "",
                           .text = ""};
    if (inst != RG_CODE_NONE) {
        f.id = r->code->insts[inst].result;
        uint32_t b = r->code->block_of[inst];
        if (b != RG_CODE_NONE) {
            uint32_t first = r->code->functions[r->code->blocks[b].function].first;
            f.function = rg_code_name(r->code, r->code->insts[first].result);
        }
    }
    RG_PUSH(r->arena, &r->findings, f);
    return &r->findings.at[r->findings.n - 1];
}

void rg_repair_act(rg_repair *r, uint32_t inst, rg_repair_action a) {
    if (r->action[inst] == RG_REPAIR_NONE)
        r->actions++;
    r->action[inst] = (uint8_t)a;
}

/* ---- pointers ---- */

static bool is_chain(uint32_t op) {
    return op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain || op == SpvOpPtrAccessChain ||
           op == SpvOpInBoundsPtrAccessChain;
}

static bool storage_of(const rg_code *m, uint32_t pointer, uint32_t *storage) {
    uint32_t pointee;
    return rg_code_pointer(m, rg_code_type_of(m, pointer), storage, &pointee);
}

static bool is_physical(const rg_code *m, uint32_t pointer) {
    uint32_t storage;
    return storage_of(m, pointer, &storage) && storage == SpvStorageClassPhysicalStorageBuffer;
}

static origin origin_of_variable(const rg_code *m, uint32_t id) {
    uint32_t at = m->def[id], storage = 0, pointee = 0;
    rg_code_pointer(m, m->insts[at].type, &storage, &pointee);
    switch (storage) {
    case SpvStorageClassStorageBuffer:
        return (m->marks[id] & RG_CODE_RESTRICT) ? O_NOTHING : O_BUFFER;
    case SpvStorageClassUniform:
        return pointee < m->bound && (m->marks[pointee] & RG_CODE_BUFFER_BLOCK) ? O_BUFFER
                                                                                : O_CONSTANT;
    case SpvStorageClassPushConstant:
        return O_CONSTANT;
    case SpvStorageClassFunction:
        return O_VARIABLE;
    default:
        return O_NOTHING;
    }
}

/* integers: trace through conversions from them too, as newer translators do. */
static origin origin_of(const rg_code *m, uint32_t id, bool integers) {
    for (int steps = 0; steps < 1000; steps++) {
        const rg_code_inst *d = rg_code_def(m, id);
        if (!d)
            return O_NOTHING;
        uint32_t at = m->def[id], storage;
        if (d->op == SpvOpVariable)
            return origin_of_variable(m, id);
        if (d->op == SpvOpFunctionParameter)
            return storage_of(m, id, &storage) && storage == SpvStorageClassFunction ? O_VARIABLE
                                                                                     : O_NOTHING;
        bool conversion = d->op == SpvOpConvertUToPtr || d->op == SpvOpBitcast;
        if (!is_chain(d->op) && d->op != SpvOpCopyObject && d->op != SpvOpLoad &&
            !(conversion && integers))
            return O_NOTHING;
        id = rg_code_word(m, at, 3);
    }
    return O_NOTHING;
}

static bool constant_word(const rg_code *m, uint32_t inst, uint32_t k, uint32_t *v) {
    return rg_code_constant(m, rg_code_word(m, inst, k), v);
}

/* An index as a sum of an id (0: none) and a constant. */
static uint32_t split_index(const rg_code *m, uint32_t id, uint32_t *plus) {
    *plus = 0;
    if (rg_code_constant(m, id, plus))
        return 0;
    uint32_t type = rg_code_type_of(m, id), op = rg_code_def_op(m, id), v;
    if ((op != SpvOpIAdd && op != SpvOpISub) || rg_code_def_op(m, type) != SpvOpTypeInt ||
        rg_code_word(m, m->def[type], 2) != 32)
        return id;
    uint32_t at = m->def[id], a = rg_code_word(m, at, 3), b = rg_code_word(m, at, 4);
    if (rg_code_constant(m, b, &v)) {
        *plus = op == SpvOpIAdd ? v : 0 - v;
        return a;
    }
    if (op == SpvOpIAdd && rg_code_constant(m, a, &v)) {
        *plus = v;
        return b;
    }
    return id;
}

/* Two element addresses whose first different indices, from the same base, differ by a constant
 * never meet. */
static bool apart(const rg_code *m, uint32_t a, uint32_t b) {
    if (!is_chain(rg_code_def_op(m, a)) || !is_chain(rg_code_def_op(m, b)))
        return false;
    uint32_t x = m->def[a], y = m->def[b];
    if (m->insts[x].op != m->insts[y].op || rg_code_word(m, x, 3) != rg_code_word(m, y, 3) ||
        rg_code_type_of(m, rg_code_word(m, x, 3)) == 0)
        return false;
    for (uint32_t k = 4; k < m->insts[x].len && k < m->insts[y].len; k++) {
        uint32_t v, w;
        if (rg_code_word(m, x, k) == rg_code_word(m, y, k))
            continue;
        return split_index(m, rg_code_word(m, x, k), &v) ==
                   split_index(m, rg_code_word(m, y, k), &w) &&
               v != w;
    }
    return false;
}

/* ---- what writes ---- */

static unsigned store_kind(const rg_code *m, uint32_t pointer) {
    uint32_t storage = SpvStorageClassMax;
    if (!storage_of(m, pointer, &storage))
        return RG_W_UNTRACED;
    switch (storage) {
    case SpvStorageClassPhysicalStorageBuffer:
        if (rg_code_def_op(m, pointer) == SpvOpFunctionParameter)
            return RG_W_BUFFER;
        switch (origin_of(m, pointer, false)) {
        case O_BUFFER:
            return RG_W_BUFFER;
        case O_CONSTANT:
            return RG_W_CONSTANT;
        case O_VARIABLE:
            return RG_W_VARIABLE;
        default:
            return RG_W_UNTRACED;
        }
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniform:
        return RG_W_BUFFER;
    case SpvStorageClassImage:
        return RG_W_IMAGE;
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassWorkgroup:
    case SpvStorageClassInput:
    case SpvStorageClassOutput:
        return 0;
    default:
        return RG_W_UNTRACED;
    }
}

static unsigned write_kind(const checker *c, uint32_t k) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t semantics = 0, at = rg_repair_atomic_pointer(i->op);
    if (at) {
        unsigned kind = store_kind(m, rg_code_word(m, k, at)) ? (unsigned)RG_W_ATOMIC : 0;
        if (i->op != SpvOpAtomicLoad)
            return kind;
        /* An acquiring load makes others' writes visible. */
        return constant_word(m, k, 5, &semantics) && !(semantics & 0x1e) ? 0 : kind;
    }
    switch (i->op) {
    case SpvOpStore:
    case SpvOpCopyMemory:
    case SpvOpCopyMemorySized:
        return store_kind(m, rg_code_word(m, k, 1));
    case SpvOpImageWrite:
        return RG_W_IMAGE;
    case SpvOpControlBarrier:
    case SpvOpMemoryBarrier:
        return RG_W_BARRIER;
    case SpvOpFunctionCall: {
        uint32_t f = c->function_of[rg_code_word(m, k, 3)];
        return f == RG_CODE_NONE || c->impure[f] ? (unsigned)RG_W_CALL : 0;
    }
    default:
        return 0;
    }
}

static unsigned reads_by(const rg_code *m, uint32_t pointer) {
    uint32_t storage;
    if (!storage_of(m, pointer, &storage))
        return 0;
    switch (storage) {
    case SpvStorageClassPhysicalStorageBuffer:
        return READS_PHYSICAL;
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniform:
    case SpvStorageClassWorkgroup:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
        return READS_OTHERS;
    default:
        return 0;
    }
}

/* Which functions write memory or wait, and which read it, themselves or by calls. */
static void summarise(checker *c) {
    const rg_code *m = c->m;
    for (uint32_t id = 0; id < m->bound; id++)
        c->function_of[id] = RG_CODE_NONE;
    for (uint32_t f = 0; f < m->n_functions; f++) {
        c->function_of[m->insts[m->functions[f].first].result] = f;
        c->impure[f] = m->functions[f].n_blocks == 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < m->n_functions; f++) {
            bool impure = c->impure[f];
            unsigned reads = c->reads[f];
            for (uint32_t k = m->functions[f].first; k < m->functions[f].last; k++) {
                const rg_code_inst *i = &m->insts[k];
                if (m->block_of[k] == RG_CODE_NONE)
                    continue;
                impure = impure || write_kind(c, k) != 0;
                if (i->op == SpvOpLoad)
                    reads |= reads_by(m, rg_code_word(m, k, 3));
                if (i->op == SpvOpFunctionCall) {
                    uint32_t g = c->function_of[rg_code_word(m, k, 3)];
                    reads |= g != RG_CODE_NONE ? c->reads[g] : 0u;
                }
            }
            changed = changed || impure != c->impure[f] || reads != c->reads[f];
            c->impure[f] = impure;
            c->reads[f] = (uint8_t)reads;
        }
    }
}

static void find_writes(checker *c) {
    const rg_code *m = c->m;
    for (uint32_t b = 0; b < m->n_blocks; b++) {
        uint32_t next = RG_CODE_NONE;
        for (uint32_t k = m->blocks[b].last + 1; k-- > m->blocks[b].label;) {
            c->writes[k] = (uint8_t)write_kind(c, k);
            if (c->writes[k])
                next = k;
            c->next_write[k] = next;
        }
    }
}

/* ---- paths ---- */

/* First write of these kinds in [k, end) of a block that may change what `pointer` leads to. */
static uint32_t write_in(checker *c, uint32_t k, uint32_t end, unsigned kinds, uint32_t pointer) {
    while (k < end) {
        uint32_t w = c->next_write[k];
        c->work++;
        if (w == RG_CODE_NONE || w >= end)
            break;
        uint32_t op = c->m->insts[w].op, at = rg_repair_atomic_pointer(op);
        if (op == SpvOpStore || op == SpvOpCopyMemory)
            at = 1;
        if ((c->writes[w] & kinds) &&
            !(pointer && at && apart(c->m, pointer, rg_code_word(c->m, w, at))))
            return w;
        k = w + 1;
    }
    return RG_CODE_NONE;
}

/* For every block that `from` dominates: a write on some path from the end of `from` to its
 * beginning that does not pass `from` again. Paths to a block that `from` dominates stay among the
 * blocks that it dominates. */
static void reach(checker *c, uint32_t from, unsigned kinds) {
    if (c->from == from && c->kinds == kinds)
        return;
    c->from = from;
    c->kinds = kinds;
    c->reach_now++;
    uint32_t n = 0, head = 0;
    const rg_code *m = c->m;
    /* A block is queued at most twice: when reached, and when reached by way of a write. */
    for (uint32_t b = from, by = RG_CODE_NONE;;) {
        for (uint32_t s = 0; s < m->blocks[b].n_succ; s++) {
            uint32_t to = m->succs[m->blocks[b].first_succ + s];
            c->work++;
            if (to == from || !rg_flow_dominates(c->r->flow, from, to))
                continue;
            bool fresh = c->reached[to] != c->reach_now;
            if (!fresh && (c->reached_by[to] != RG_CODE_NONE || by == RG_CODE_NONE))
                continue;
            c->reached[to] = c->reach_now;
            c->reached_by[to] = by;
            c->queue[n++] = to;
        }
        if (head == n)
            break;
        b = c->queue[head++];
        by = c->reached_by[b];
        if (by == RG_CODE_NONE)
            by = write_in(c, m->blocks[b].label, m->blocks[b].last, kinds, 0);
    }
}

/* A write of these kinds between instructions load and use, RG_CODE_NONE: none. */
static uint32_t write_between(checker *c, uint32_t load, uint32_t use, unsigned kinds,
                              uint32_t pointer) {
    const rg_code *m = c->m;
    uint32_t from = m->block_of[load], to = m->block_of[use];
    if (from == to && use > load)
        return write_in(c, load + 1, use, kinds, pointer);
    uint32_t w = write_in(c, load + 1, m->blocks[from].last, kinds, pointer);
    if (w == RG_CODE_NONE && from != to)
        w = write_in(c, m->blocks[to].label, use, kinds, pointer);
    if (w != RG_CODE_NONE || from == to)
        return w;
    reach(c, from, kinds);
    return c->reached[to] == c->reach_now ? c->reached_by[to] : RG_CODE_NONE;
}

/* ---- values ---- */

/* The translator counts how often such a result is read, to make it a temporary. */
static bool is_counted(uint32_t op) {
    return (op >= SpvOpConvertFToU && op <= SpvOpFConvert) || op == SpvOpBitcast ||
           (op >= SpvOpSNegate && op <= SpvOpBitCount);
}

/* A temporary for sure: read twice, or in a loop that it is outside of. */
static bool is_temporary(const checker *c, uint32_t k) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    if (!is_counted(i->op))
        return false;
    uint32_t n = 0;
    for (uint32_t u = m->uses_at[i->result]; u < m->uses_at[i->result + 1]; u++) {
        uint32_t use = m->uses[u];
        uint32_t op = m->insts[use].op;
        /* Components taken out may be put together again into one read. */
        if (rg_code_is_debug(m, use) || !rg_flow_reachable(c->r->flow, m->block_of[use]) ||
            op == SpvOpCompositeExtract || op == SpvOpCompositeConstruct || op == SpvOpCopyObject)
            continue;
        if (++n >= 2)
            return true;
        if (op != SpvOpPhi && rg_flow_enters_loop(c->r->flow, m->block_of[k], m->block_of[use]))
            return true;
    }
    return false;
}

/* An expression that is printed only where its result is used. */
static bool is_expression(const checker *c, uint32_t k) {
    const rg_code_inst *i = &c->m->insts[k];
    if (!i->result || i->op == SpvOpPhi || rg_repair_atomic_pointer(i->op))
        return false;
    if (i->op == SpvOpFunctionCall)
        return c->writes[k] == 0;
    return !is_temporary(c, k);
}

/* Writes that may come between a load and its uses: on any path, or by loops. */
typedef struct fear {
    unsigned kinds, in_loops;
    uint32_t pointer;  /* of the load, 0 */
    uint32_t variable; /* whose writes in loops count too, 0 */
} fear;

typedef struct late {
    uint32_t write, use; /* RG_CODE_NONE: in order */
} late;

static uint32_t write_before(checker *c, uint32_t load, uint32_t use, const fear *f) {
    const rg_code *m = c->m;
    uint32_t w = f->kinds ? write_between(c, load, use, f->kinds, f->pointer) : RG_CODE_NONE;
    return w != RG_CODE_NONE ? w
                             : rg_loops_write(c->loops, m->block_of[load], m->block_of[use],
                                              f->in_loops, f->variable);
}

/* Too intricate to follow in the time there is: any write of the function counts. */
static late any_write(checker *c, uint32_t k, const fear *f) {
    const rg_code_function *in = &c->m->functions[c->m->blocks[c->m->block_of[k]].function];
    for (uint32_t b = in->first_block; b < in->first_block + in->n_blocks; b++) {
        const rg_code_block *block = &c->m->blocks[b];
        uint32_t w = write_in(c, block->label, block->last, f->kinds, 0);
        if (w == RG_CODE_NONE && block->loop)
            w = rg_loops_write(c->loops, c->m->block_of[k], b, f->in_loops, f->variable);
        if (w != RG_CODE_NONE)
            return (late){w, block->last};
    }
    return (late){RG_CODE_NONE, RG_CODE_NONE};
}

/* Follows the value of instruction k through expressions to statements. */
static late find_late(checker *c, uint32_t k, const fear *f) {
    const rg_code *m = c->m;
    late none = {RG_CODE_NONE, RG_CODE_NONE};
    if ((!f->kinds && !f->in_loops && !f->variable) ||
        !rg_flow_reachable(c->r->flow, m->block_of[k]))
        return none;
    uint32_t n = 0, followed = 0;
    c->now++;
    c->list[n++] = m->insts[k].result;
    c->seen_value[m->insts[k].result] = c->now;
    while (n) {
        uint32_t id = c->list[--n];
        for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++) {
            uint32_t use = m->uses[u];
            c->work++;
            if (rg_code_is_debug(m, use) || !rg_flow_reachable(c->r->flow, m->block_of[use]))
                continue;
            if (is_expression(c, use)) {
                uint32_t result = m->insts[use].result;
                if (c->seen_value[result] != c->now && followed++ < CONE_LIMIT) {
                    c->seen_value[result] = c->now;
                    c->list[n++] = result;
                }
                if (followed < CONE_LIMIT)
                    continue;
            }
            if (m->insts[use].op != SpvOpPhi) {
                uint32_t w = write_before(c, k, use, f);
                if (w != RG_CODE_NONE)
                    return (late){w, use};
                continue;
            }
            /* A phi reads at the end of the block that the value comes from. */
            for (uint32_t p = 3; p + 1 < m->insts[use].len; p += 2) {
                uint32_t label = rg_code_word(m, use, p + 1);
                if (rg_code_word(m, use, p) != id || rg_code_def_op(m, label) != SpvOpLabel)
                    continue;
                uint32_t b = m->block_of[m->def[label]];
                if (!rg_flow_reachable(c->r->flow, b))
                    continue;
                uint32_t w = write_before(c, k, m->blocks[b].last, f);
                if (w != RG_CODE_NONE)
                    return (late){w, use};
            }
        }
        if (c->work > WORK_LIMIT && followed > 64)
            return any_write(c, k, f);
    }
    return none;
}

static const char *write_words(const rg_code *m, uint32_t k) {
    switch (m->insts[k].op) {
    case SpvOpStore:
        return "a store";
    case SpvOpCopyMemory:
    case SpvOpCopyMemorySized:
        return "a copy";
    case SpvOpFunctionCall:
        return "a call";
    case SpvOpControlBarrier:
    case SpvOpMemoryBarrier:
        return "a barrier";
    case SpvOpImageWrite:
        return "an image write";
    default:
        return "an atomic";
    }
}

static unsigned kinds_unordered(origin o) {
    switch (o) {
    case O_BUFFER:
        return RG_W_CONSTANT;
    case O_VARIABLE:
        return RG_W_BUFFER | RG_W_CONSTANT | RG_W_ATOMIC | RG_W_CALL | RG_W_IMAGE;
    default:
        return RG_W_ALL;
    }
}

/* A narrow number can be kept widened when the module does nothing with it but convert it, or
 * store it as it is: the way to 32 bits and back keeps every integer, but not every bit of a float
 * (a translator may flush the small ones). */
static bool can_widen(const rg_code *m, uint32_t k) {
    uint32_t type = m->insts[k].type, id = m->insts[k].result;
    if (rg_code_def_op(m, type) == SpvOpTypeVector)
        type = rg_code_word(m, m->def[type], 2);
    uint32_t of = rg_code_def_op(m, type);
    if (of != SpvOpTypeInt && of != SpvOpTypeFloat)
        return false;
    for (uint32_t u = m->uses_at[id]; u < m->uses_at[id + 1]; u++) {
        uint32_t op = m->insts[m->uses[u]].op;
        bool converts = op >= SpvOpConvertFToU && op <= SpvOpFConvert;
        bool copies = of == SpvOpTypeInt && (op == SpvOpStore || op == SpvOpCopyObject);
        if (!converts && !copies && !rg_code_is_debug(m, m->uses[u]))
            return false;
    }
    return true;
}

static bool has_capability(const rg_code *m, uint32_t capability) {
    for (uint32_t k = 0; k < m->types_at; k++)
        if (m->insts[k].op == SpvOpCapability && rg_code_word(m, k, 1) == capability)
            return true;
    return false;
}

static bool same(const fear *a, const fear *b) {
    return a->kinds == b->kinds && a->in_loops == b->in_loops && a->variable == b->variable;
}

/* What a value has to fear with older and with newer translators. */
static void fears(checker *c, uint32_t k, fear *older, fear *newer) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    *older = *newer = (fear){.kinds = RG_W_ALL, .in_loops = RG_W_ALL};
    if (i->op == SpvOpFunctionCall) {
        uint32_t f = c->function_of[rg_code_word(m, k, 3)];
        older->kinds = newer->kinds = c->reads[f] & READS_PHYSICAL ? RG_W_ALL : 0;
        older->in_loops = newer->in_loops = RG_W_ALL | RG_W_GLOBAL | RG_W_ANY_CALL;
        return;
    }
    if (i->op == SpvOpImageRead) {
        older->kinds = newer->kinds = 0;
        older->in_loops = newer->in_loops = RG_W_IMAGE | RG_W_ATOMIC | RG_W_CALL;
        return;
    }
    uint32_t pointer = older->pointer = newer->pointer = rg_code_word(m, k, 3);
    if (!is_physical(m, pointer)) {
        older->kinds = 0;
        older->in_loops = rg_loops_fear(c->loops, k, pointer, &older->variable);
        *newer = *older;
        return;
    }
    older->kinds = kinds_unordered(origin_of(m, pointer, false));
    bool is_volatile = i->len > 4 && rg_code_word(m, k, 4) & SpvMemoryAccessVolatileMask;
    origin traced = origin_of(m, pointer, true);
    newer->kinds = is_volatile || traced == O_BUFFER ? 0 : kinds_unordered(traced);
    if (is_volatile)
        newer->in_loops = 0;
}

static const char *value_words(const rg_code *m, uint32_t k, bool physical) {
    switch (m->insts[k].op) {
    case SpvOpFunctionCall:
        return physical ? "what the call read through a physical pointer" : "what the call read";
    case SpvOpImageRead:
        return "what was read of an image";
    default:
        return physical ? "the value loaded through a physical pointer" : "the value loaded";
    }
}

static void check_value(checker *c, uint32_t k) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    bool is_load = i->op == SpvOpLoad;
    fear before, now;
    fears(c, k, &before, &now);
    unsigned wrong = 0;
    unsigned older = RG_SPIRV_CROSS_1_3_239 | RG_SPIRV_CROSS_1_4_304;
    late where = find_late(c, k, &before);
    if (where.write != RG_CODE_NONE)
        wrong |= older;
    late also = same(&before, &now) ? where : find_late(c, k, &now);
    if (also.write != RG_CODE_NONE)
        wrong |= RG_SPIRV_CROSS_1_4_357;
    wrong &= c->r->translators;
    if (!wrong)
        return;
    if (where.write == RG_CODE_NONE)
        where = also;
    bool physical = is_load ? is_physical(m, before.pointer) : before.kinds != 0;
    rg_repair_finding *f = rg_repair_add(
        c->r, i->op == SpvOpFunctionCall ? RG_SPIRV_CALL_LATE : RG_SPIRV_LOAD_LATE, k, wrong);
    f->clobber = where.write;
    f->use = where.use;
    if (c->needs[i->type] & ~c->able) {
        f->fixable = is_load && can_widen(m, k);
        if (f->fixable)
            rg_repair_act(c->r, k, RG_REPAIR_WIDEN);
    } else {
        f->fixable = true;
        /* What the Vulkan memory model adds to a load does not go with a copy to a variable. */
        uint32_t simple = SpvMemoryAccessVolatileMask | SpvMemoryAccessAlignedMask |
                          SpvMemoryAccessNontemporalMask;
        bool copy = is_load && !(rg_code_word(m, k, 4) & ~simple);
        rg_repair_act(c->r, k, copy ? RG_REPAIR_COPY_LOAD : RG_REPAIR_PIN);
    }
    bool in_loop = rg_flow_enters_loop(c->r->flow, m->block_of[k], m->block_of[where.write]) &&
                   rg_flow_enters_loop(c->r->flow, m->block_of[k], m->block_of[where.use]);
    f->text =
        rg_format(c->arena, "%s %s %s that may change it%s", value_words(m, k, physical),
                  in_loop ? "before a loop is used in the loop, which has" : "is used after",
                  write_words(m, where.write),
                  f->fixable ? ""
                             : "; its narrow type cannot be kept in a variable, and it is not "
                               "only converted: convert it right after the load");
}

/* ---- how pointers are printed ---- */

/* The text of an expression has an index in it. */
static bool has_index(const checker *c, uint32_t id, int depth, int *budget) {
    const rg_code *m = c->m;
    const rg_code_inst *d = rg_code_def(m, id);
    if (!d || m->block_of[m->def[id]] == RG_CODE_NONE || d->op == SpvOpVariable ||
        d->op == SpvOpPhi || rg_repair_atomic_pointer(d->op))
        return false;
    uint32_t at = m->def[id];
    if (depth > 24 || --*budget < 0)
        return true;
    if (is_temporary(c, at))
        return false;
    if (d->op == SpvOpPtrAccessChain || d->op == SpvOpInBoundsPtrAccessChain)
        return true;
    if (d->op == SpvOpAccessChain || d->op == SpvOpInBoundsAccessChain) {
        uint32_t storage, type = 0;
        rg_code_pointer(m, rg_code_type_of(m, rg_code_word(m, at, 3)), &storage, &type);
        for (uint32_t k = 4; k < d->len; k++) {
            uint32_t member;
            if (rg_code_def_op(m, type) != SpvOpTypeStruct || !constant_word(m, at, k, &member))
                return true;
            type = rg_code_word(m, m->def[type], 2 + member);
        }
        return has_index(c, rg_code_word(m, at, 3), depth + 1, budget);
    }
    for (uint32_t k = 1; k < d->len; k++)
        if (rg_code_is_id(m, at, k) && has_index(c, rg_code_word(m, at, k), depth + 1, budget))
            return true;
    return false;
}

static void check_chain(checker *c, uint32_t k) {
    const rg_code *m = c->m;
    uint32_t base = rg_code_word(m, k, 3), op = rg_code_def_op(m, base);
    if (!(c->r->translators & RG_SPIRV_CROSS_1_3_239) || is_chain(op) || !is_physical(m, base))
        return;
    int budget = 200;
    if (!has_index(c, base, 0, &budget))
        return;
    rg_repair_finding *f = rg_repair_add(c->r, RG_SPIRV_INDEX_IN_CAST, k, RG_SPIRV_CROSS_1_3_239);
    f->fixable = true;
    f->text = "the element's index is printed inside the expression of the pointer it belongs to, "
              "which has an index of its own";
    rg_repair_act(c->r, k, RG_REPAIR_BASE);
}

static bool is_traced(const rg_code *m, uint32_t id) {
    for (int steps = 0; steps < 1000; steps++) {
        uint32_t op = rg_code_def_op(m, id);
        if (op == SpvOpVariable || op == SpvOpFunctionParameter)
            return true;
        if (!is_chain(op) && op != SpvOpCopyObject && op != SpvOpLoad)
            return false;
        id = rg_code_word(m, m->def[id], 3);
    }
    return false;
}

static bool is_float32(const rg_code *m, uint32_t type) {
    return rg_code_def_op(m, type) == SpvOpTypeFloat && rg_code_word(m, m->def[type], 2) == 32;
}

/* A float atomic in memory without a physical address. */
static void check_float_atomic(checker *c, uint32_t k, uint32_t pointer) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t storage = 0;
    storage_of(m, pointer, &storage);
    bool shared = storage == SpvStorageClassWorkgroup;
    uint32_t value =
        i->op == SpvOpAtomicStore ? rg_code_type_of(m, rg_code_word(m, k, 4)) : i->type;
    unsigned wrong = c->r->translators & (shared ? RG_SPIRV_CROSS_ALL : RG_SPIRV_CROSS_1_3_239);
    if (!wrong || !is_float32(m, value) || (!shared && i->op != SpvOpAtomicFAddEXT))
        return;
    rg_repair_path path;
    const char *why_not = rg_repair_why_not(c->r->places, pointer, &path);
    rg_repair_finding *f = rg_repair_add(c->r, RG_SPIRV_FLOAT_ATOMIC, k, wrong);
    f->fixable = !why_not;
    f->text = rg_format(c->arena, "%s%s%s",
                        shared ? "a float atomic in workgroup memory, where Metal has none"
                               : "OpAtomicFAddEXT is printed as GLSL's atomicAdd",
                        why_not ? "; " : "", why_not ? why_not : "");
    if (why_not)
        return;
    if (shared)
        rg_repair_retype(c->r, path.variable);
    else
        rg_repair_act(c->r, k, RG_REPAIR_VIEW_ATOMIC);
}

static void check_atomic(checker *c, uint32_t k, uint32_t at) {
    const rg_code *m = c->m;
    const rg_code_inst *i = &m->insts[k];
    uint32_t pointer = rg_code_word(m, k, at), made = rg_code_def_op(m, pointer);
    unsigned wanted = c->r->translators;
    bool physical = is_physical(m, pointer);
    while (made == SpvOpCopyObject) {
        uint32_t from = rg_code_word(m, m->def[pointer], 3);
        if (from >= m->bound || m->def[from] >= m->def[pointer])
            break;
        pointer = from;
        made = rg_code_def_op(m, pointer);
    }
    unsigned older = (RG_SPIRV_CROSS_1_3_239 | RG_SPIRV_CROSS_1_4_304) & wanted;
    if (physical && !is_chain(made) && made != SpvOpFunctionParameter && older) {
        rg_repair_finding *f = rg_repair_add(c->r, RG_SPIRV_ATOMIC_POINTER, k, older);
        f->fixable = true;
        f->text = "the atomic's pointer comes from no access chain: the address of the pointer is "
                  "printed instead of the pointer";
        rg_repair_act(c->r, k, RG_REPAIR_ATOMIC);
    } else if (physical && i->op != SpvOpAtomicFAddEXT && !is_traced(m, pointer) &&
               (wanted & RG_SPIRV_CROSS_1_3_239)) {
        rg_repair_finding *f =
            rg_repair_add(c->r, RG_SPIRV_ATOMIC_REFUSED, k, RG_SPIRV_CROSS_1_3_239);
        f->fixable = true;
        f->text = "the atomic's pointer was made from an integer or another pointer type: "
                  "\"no backing variable for atomic operation\"";
        rg_repair_act(c->r, k, RG_REPAIR_ATOMIC);
    }
    if (physical && i->op == SpvOpAtomicFAddEXT && (wanted & RG_SPIRV_CROSS_1_3_239) &&
        is_float32(m, i->type)) {
        rg_repair_finding *f =
            rg_repair_add(c->r, RG_SPIRV_FLOAT_ATOMIC, k, RG_SPIRV_CROSS_1_3_239);
        f->fixable = true;
        f->text = "OpAtomicFAddEXT is printed as GLSL's atomicAdd";
        rg_repair_act(c->r, k, RG_REPAIR_FLOAT_ATOMIC);
    } else if (!physical) {
        check_float_atomic(c, k, rg_code_word(m, k, at));
    }
}

rg_repair *rg_repair_check(rg_arena *a, const rg_code *m, unsigned translators) {
    rg_repair *r = RG_NEW(a, rg_repair);
    r->arena = a;
    r->code = m;
    r->translators = translators;
    r->flow = rg_flow_new(a, m);
    r->action = RG_NEW_N(a, uint8_t, m->n_insts + 1);
    r->retyped = RG_NEW_N(a, bool, m->bound);
    r->places = rg_repair_places_new(a, m);
    checker c = {.r = r,
                 .arena = a,
                 .m = m,
                 .writes = RG_NEW_N(a, uint8_t, m->n_insts + 1),
                 .next_write = RG_NEW_N(a, uint32_t, m->n_insts + 1),
                 .impure = RG_NEW_N(a, uint8_t, m->n_functions + 1),
                 .reads = RG_NEW_N(a, uint8_t, m->n_functions + 1),
                 .function_of = RG_NEW_N(a, uint32_t, m->bound),
                 .seen_value = RG_NEW_N(a, uint32_t, m->bound),
                 .list = RG_NEW_N(a, uint32_t, m->bound),
                 .from = RG_CODE_NONE,
                 .reached = RG_NEW_N(a, uint32_t, m->n_blocks + 1),
                 .reached_by = RG_NEW_N(a, uint32_t, m->n_blocks + 1),
                 .queue = RG_NEW_N(a, uint32_t, 2 * (size_t)m->n_blocks + 2)};
    c.able = (has_capability(m, SpvCapabilityInt8) ? NEEDS_INT8 : 0u) |
             (has_capability(m, SpvCapabilityInt16) ? NEEDS_INT16 : 0u) |
             (has_capability(m, SpvCapabilityFloat16) ? NEEDS_FLOAT16 : 0u);
    c.needs = find_needs(a, m);
    summarise(&c);
    find_writes(&c);
    c.loops = rg_loops_new(a, m, r->flow, c.writes);
    for (uint32_t k = m->functions_at; k < m->n_insts; k++) {
        const rg_code_inst *i = &m->insts[k];
        if (m->block_of[k] == RG_CODE_NONE)
            continue;
        uint32_t at = rg_repair_atomic_pointer(i->op);
        if (at) {
            check_atomic(&c, k, at);
        } else if (i->op == SpvOpLoad) {
            if (is_physical(m, rg_code_word(m, k, 3)) || rg_loops_ahead(c.loops, m->block_of[k]))
                check_value(&c, k);
        } else if (i->op == SpvOpImageRead) {
            if (rg_loops_ahead(c.loops, m->block_of[k]))
                check_value(&c, k);
        } else if (i->op == SpvOpFunctionCall) {
            uint32_t f = c.function_of[rg_code_word(m, k, 3)];
            if (f != RG_CODE_NONE && !c.impure[f] && c.reads[f] &&
                rg_code_def_op(m, i->type) != SpvOpTypeVoid)
                check_value(&c, k);
        } else if (i->op == SpvOpPtrAccessChain || i->op == SpvOpInBoundsPtrAccessChain) {
            check_chain(&c, k);
        }
    }
    rg_repair_check_module(r);
    return r;
}
