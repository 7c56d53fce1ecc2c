/* Written before it is read: the proof that an array holds its own history.
 *
 * Every pair of a read and a write is taken apart by how the write can come after the read, or
 * unordered with it: for each loop around both, in a later iteration of it with all outer ones
 * equal; and within one iteration of all common loops, further down in the text. Each case is a
 * question to meet.c; one "may be" is a conflict. */
#include "ir/affine.h"
#include "ir/meet.h"

enum { READS = 1, WRITES = 2, MAX_PAIRS = 4000 };

typedef struct entry {
    rg_access x;
    unsigned does;
} entry;

typedef struct history {
    const rg_fn *f;
    rg_aid array;
    rg_rid root; /* one life of the array is one run of this region */
    rg_iid alloc;
    entry *at; /* in the order of the text; counted first, then filled */
    uint32_t n;
} history;

static bool is_used(const rg_fn *f, rg_val v) {
    for (uint32_t i = 1; i < f->ins.n; i++)
        for (uint32_t k = 0; k < f->ins.at[i].nopnd; k++)
            if (f->pool.at[f->ins.at[i].opnd + k] == v)
                return true;
    return false;
}

static unsigned what_it_does(const rg_fn *f, rg_iid i, rg_aid a) {
    const rg_ins *ins = rg_ins_at(f, i);
    switch (ins->op) {
    case RG_LOAD:
        if (ins->flags & RG_INS_KEPT)
            return 0; /* nobody looks at the value */
        return ins->array == a ? READS : 0;
    case RG_STORE:
        return ins->array == a ? WRITES : 0;
    case RG_ADDTO:
        return ins->array == a ? WRITES : 0;
    case RG_RMW:
        if (ins->array != a)
            return 0;
        return is_used(f, rg_result(f, i, 0)) ? READS | WRITES : WRITES;
    case RG_COPY:
        if (ins->flags & RG_INS_KEPT)
            return 0; /* what it writes was there */
        return (ins->array == a ? WRITES : 0u) | (ins->array2 == a ? READS : 0u);
    default:
        return 0;
    }
}

static void collect(history *h, rg_rid r) {
    const rg_fn *f = h->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->op == RG_ALLOC && ins->array == h->array) {
            h->root = r;
            h->alloc = i;
        }
        unsigned does = what_it_does(f, i, h->array);
        if (does) {
            if (h->at)
                h->at[h->n] = (entry){rg_access_of(f, i, h->array), does};
            h->n++;
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                collect(h, ins->region[j]);
    }
}

/* Never both in one run of the region that holds them? An adjoint by the user and its function are,
 * but the adjoint reads what is there before the function runs. */
static bool exclusive(const rg_fn *f, rg_iid a, rg_iid b, rg_rid common) {
    rg_iid x = rg_ancestor_in(f, a, common), y = rg_ancestor_in(f, b, common);
    return x == y && x != a && x != b && rg_ins_at(f, x)->op == RG_IF && !rg_is_own_call(f, x);
}

/* May an instance of b, at or after (or unordered with) one of a, touch a's element? a's entry
 * comes before b's in the text if `in_order`. */
static bool meets_later(const history *h, const entry *a, const entry *b, bool in_order) {
    const rg_fn *f = h->f;
    rg_rid common =
        rg_common_region(f, rg_ins_at(f, a->x.ins)->parent, rg_ins_at(f, b->x.ins)->parent);
    if (in_order && !exclusive(f, a->x.ins, b->x.ins, common) &&
        rg_may_meet(f, &a->x, &b->x, common, 0, RG_ORDER_ANY))
        return true;
    for (rg_iid loop; (loop = rg_loop_around(f, common, h->root)) != 0;) {
        common = rg_ins_at(f, loop)->parent;
        if (rg_may_meet(f, &a->x, &b->x, common, loop, RG_ORDER_LATER))
            return true;
    }
    return false;
}

static bool check(const history *h, rg_iid conflict[2]) {
    for (uint32_t i = 0; i < h->n; i++) {
        for (uint32_t j = 0; j < h->n; j++) {
            /* A read, then a write of the same element. */
            if ((h->at[i].does & READS) && (h->at[j].does & WRITES) &&
                (i == j || meets_later(h, &h->at[i], &h->at[j], i < j))) {
                conflict[0] = h->at[i].x.ins;
                conflict[1] = h->at[j].x.ins;
                return false;
            }
        }
    }
    return true;
}

bool rg_array_once(const rg_fn *f, rg_aid a, rg_iid conflict[2]) {
    history h = {.f = f, .array = a, .root = f->body};
    conflict[0] = conflict[1] = 0;
    collect(&h, f->body);
    if (h.n == 0)
        return true;
    rg_arena *arena = rg_arena_new(NULL);
    if (!arena)
        return false;
    if (RG_GUARD(arena)) {
        rg_arena_free(arena);
        return false;
    }
    h.at = RG_NEW_N(arena, entry, h.n);
    h.n = 0;
    collect(&h, f->body);
    uint64_t reads = 0, writes = 0;
    for (uint32_t k = 0; k < h.n; k++) {
        reads += (h.at[k].does & READS) != 0;
        writes += (h.at[k].does & WRITES) != 0;
    }
    conflict[0] = conflict[1] = h.at[0].x.ins;
    bool once = writes == 0 || (reads * writes <= MAX_PAIRS && check(&h, conflict));
    if (once)
        conflict[0] = conflict[1] = 0;
    rg_arena_free(arena);
    return once;
}
