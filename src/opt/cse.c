/* Common subexpressions: a hash table of what was computed in this region or one around it, undone
 * when the region is left.
 *
 * A load is an expression too, with the version of its memory as one more operand: each write gives
 * the array's leaf a new version, entering a loop gives one to everything that the loop writes, and
 * so does leaving any region. Versions are never used twice. */
#include "opt/opt.h"

#include <string.h>

#include "base/table.h"
#include "opt/effects.h"

typedef struct entry {
    uint64_t hash;
    rg_iid ins;
    uint32_t version;
    uint32_t next; /* in its bucket; index + 1 */
} entry;

typedef struct merger {
    rg_rewrite *rw;
    rg_fn *f;
    uint32_t *bucket;
    uint32_t mask;
    RG_VEC(entry) entries;
    rg_effects e;
    uint32_t *version; /* by key */
    uint32_t last_version;
} merger;

static uint32_t key_of(const merger *m, rg_aid a, uint32_t leaf) {
    return m->e.key_base[a] + leaf;
}

/* New versions for all that a structured instruction writes. */
static void bump(merger *m, const rg_ids *touched) {
    for (uint32_t k = 0; k < touched->n; k++)
        if (touched->at[k] & 1)
            m->version[touched->at[k] / 2] = ++m->last_version;
}

/* --- the table ----------------------------------------------------------------------------------
 */

/* Do the operands commute? fmin and fmax of (+0, -0) may give either zero, so for them the order
 * that the source wrote counts. */
static bool either_order(const rg_ins *ins) {
    return (rg_ops[ins->op].flags & RG_F_COMM) && ins->nopnd == 2 && ins->op != RG_FMIN &&
           ins->op != RG_FMAX;
}

static uint64_t hash_ins(const merger *m, rg_iid i, uint32_t version) {
    const rg_ins *ins = rg_ins_at(m->f, i);
    uint64_t h = ((uint64_t)ins->op << 32) ^ ((uint64_t)ins->array << 8) ^ ins->leaf;
    h = (h ^ (uint64_t)ins->imm.i) * 0x9e3779b97f4a7c15u;
    h ^= (uint64_t)version << 20;
    h ^= (uint64_t)rg_type_of(m->f, rg_result(m->f, i, 0)) << 50;
    if (either_order(ins)) {
        uint32_t x = rg_operand(m->f, i, 0), y = rg_operand(m->f, i, 1);
        h += ((uint64_t)(x < y ? x : y) << 32 | (x < y ? y : x)) * 0xbf58476d1ce4e5b9u;
        return h ^ (h >> 31);
    }
    for (uint32_t k = 0; k < ins->nopnd; k++)
        h = ((h ^ (h >> 29)) + rg_operand(m->f, i, k)) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 31);
}

static bool equal_ins(const merger *m, rg_iid a, rg_iid b) {
    const rg_fn *f = m->f;
    const rg_ins *x = rg_ins_at(f, a), *y = rg_ins_at(f, b);
    if (x->op != y->op || x->nopnd != y->nopnd || x->array != y->array || x->leaf != y->leaf ||
        memcmp(&x->imm, &y->imm, sizeof x->imm) != 0 ||
        rg_type_of(f, rg_result(f, a, 0)) != rg_type_of(f, rg_result(f, b, 0)))
        return false;
    if (either_order(x) && rg_operand(f, a, 0) == rg_operand(f, b, 1) &&
        rg_operand(f, a, 1) == rg_operand(f, b, 0))
        return true;
    return !x->nopnd ||
           memcmp(f->pool.at + x->opnd, f->pool.at + y->opnd, x->nopnd * sizeof(uint32_t)) == 0;
}

/* An equal instruction that dominates i, else 0 and i is entered. */
static rg_iid find_or_add(merger *m, rg_iid i, uint32_t version) {
    uint64_t h = hash_ins(m, i, version);
    uint32_t *slot = &m->bucket[h & m->mask];
    for (uint32_t e = *slot; e; e = m->entries.at[e - 1].next) {
        const entry *x = &m->entries.at[e - 1];
        if (x->hash == h && x->version == version && equal_ins(m, x->ins, i))
            return x->ins;
    }
    RG_PUSH(m->rw->scratch, &m->entries,
            (entry){.hash = h, .ins = i, .version = version, .next = *slot});
    *slot = m->entries.n;
    return 0;
}

static void leave_scope(merger *m, uint32_t n) {
    while (m->entries.n > n) {
        const entry *e = &m->entries.at[--m->entries.n];
        m->bucket[e->hash & m->mask] = e->next;
    }
}

static void replace(merger *m, rg_iid i, rg_iid by) {
    rg_fn *f = m->f;
    rg_val old = rg_result(f, i, 0), now = rg_result(f, by, 0);
    rg_rw_set(m->rw, old, now);
    rg_op op = rg_def_op(f, now);
    if (rg_value_at(f, old)->name && op != RG_CONST && op != RG_SCALAR)
        rg_b_name(&m->rw->b, now, rg_value_at(f, old)->name);
    m->rw->changed = true;
}

/* --- equal carried values -----------------------------------------------------------------------
 */

/* Carried values with the same initial and the same next value are equal throughout, as are results
 * of an if that both branches yield the same values for. first: earlier slot that slot k repeats.
 */
static void merge_slots(merger *m, rg_iid i) {
    rg_rewrite *rw = m->rw;
    rg_fn *f = m->f;
    uint32_t n = rg_opt_slots(f, i);
    const rg_ins *ins = rg_ins_at(f, i);
    if (n < 2 || ins->op == RG_PARALLEL)
        return;
    uint32_t cap = 4;
    while (cap < 2 * n)
        cap *= 2;
    uint32_t *table = RG_NEW_N(rw->scratch, uint32_t, cap);
    bool *keep = RG_NEW_N(rw->scratch, bool, n);
    rg_iid yield[2];
    for (int s = 0; s < 2; s++)
        yield[s] = ins->region[s] ? rg_yield_of(f, ins->region[s]) : 0;
    bool is_if = ins->op == RG_IF;
    uint32_t at = rg_opt_first_yielded(f, i);
    for (uint32_t k = 0; k < n; k++) {
        rg_val a = rg_operand(f, yield[0], at + k);
        rg_val b = is_if ? rg_operand(f, yield[1], k) : rg_operand(f, i, rg_first_init(f, i) + k);
        uint32_t h = (a * 0x9e3779b9u) ^ (b * 0x85ebca6bu);
        h ^= h >> 15;
        keep[k] = true;
        for (;; h++) {
            uint32_t *slot = &table[h & (cap - 1)];
            if (!*slot) {
                *slot = k + 1;
                break;
            }
            uint32_t e = *slot - 1;
            rg_val c = rg_operand(f, yield[0], at + e);
            rg_val d =
                is_if ? rg_operand(f, yield[1], e) : rg_operand(f, i, rg_first_init(f, i) + e);
            if (a == c && b == d) {
                keep[k] = false;
                rg_rw_set(rw, rg_result(f, i, k), rg_result(f, i, e));
                if (!is_if) {
                    const rg_region *body = rg_region_at(f, ins->region[0]);
                    uint32_t first = rg_first_carried(f, i);
                    rg_rw_set(rw, body->args.at[first + k], body->args.at[first + e]);
                }
                rw->changed = true;
                break;
            }
        }
    }
    rg_opt_keep_slots(f, i, keep);
}

/* --- the walk ------------------------------------------------------------------------------------
 */

static void walk_region(merger *m, rg_rid r) {
    rg_rewrite *rw = m->rw;
    rg_fn *f = m->f;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    uint32_t scope = m->entries.n;
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k], same = 0;
        rg_rw_operands(rw, i);
        const rg_ins *ins = rg_ins_at(f, i);
        rg_op op = (rg_op)ins->op;
        if (rg_opt_movable(f, i)) {
            same = find_or_add(m, i, 0);
        } else if (op == RG_LOAD && !(ins->flags & RG_INS_ATOMIC)) {
            same = find_or_add(m, i, m->version[key_of(m, ins->array, ins->leaf)]);
        } else if (ins->region[0]) {
            const rg_ids *w = &m->e.touched[i];
            if (op == RG_IF) {
                uint32_t *before = RG_NEW_N(rw->scratch, uint32_t, w->n);
                for (uint32_t j = 0; j < w->n; j++)
                    before[j] = m->version[w->at[j] / 2];
                walk_region(m, ins->region[0]);
                for (uint32_t j = 0; j < w->n; j++)
                    m->version[w->at[j] / 2] = before[j];
                walk_region(m, rg_ins_at(f, i)->region[1]);
                merge_slots(m, i);
            } else {
                bump(m, w);
                /* A load is not worth a value passed from the host's side to each iteration. */
                for (uint32_t j = 0; op == RG_PARALLEL && j < m->e.keys; j++)
                    m->version[j] = ++m->last_version;
                /* The operands of the body's yield are still the old ones: those that are arguments
                 * or come from outside can be compared, the rest in the next round. */
                merge_slots(m, i);
                walk_region(m, rg_ins_at(f, i)->region[0]);
            }
            bump(m, w);
        } else if (op == RG_ALLOC || op == RG_COPY || op == RG_PAIR) {
            for (int s = 0; s < (op == RG_PAIR ? 2 : 1); s++) {
                rg_aid a = s ? ins->array2 : ins->array;
                for (uint32_t l = 0; l < rg_array_at(f, a)->elem->nleaves; l++)
                    m->version[key_of(m, a, l)] = ++m->last_version;
            }
        } else if (rg_ops[op].flags & RG_F_WRITE) {
            m->version[key_of(m, ins->array, ins->leaf)] = ++m->last_version;
        }
        if (same)
            replace(m, i, same);
        else
            rg_rw_keep(rw, i);
    }
    leave_scope(m, scope);
    rw->b.region = here;
}

static bool cse(rg_fn *f, rg_arena *scratch) {
    merger *m = RG_NEW(scratch, merger);
    m->rw = rg_rw_new(f, scratch);
    m->f = f;
    uint32_t cap = 64;
    while (cap < f->ins.n)
        cap *= 2;
    m->bucket = RG_NEW_N(scratch, uint32_t, cap);
    m->mask = cap - 1;
    m->e = rg_opt_effects(f, scratch);
    m->version = RG_NEW_N(scratch, uint32_t, m->e.keys + 1);
    walk_region(m, f->body);
    rg_rw_finish(m->rw);
    return m->rw->changed;
}

bool rg_opt_cse(rg_fn *f) {
    return rg_opt_with_scratch(f, cse);
}
