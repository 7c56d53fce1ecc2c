/* Forwarding through memory: for each leaf of each array (class), the few elements whose value is
 * known at this point, as a list that is never changed in place: leaving a region puts the lists
 * from before it back, then what the region wrote is forgotten.
 *
 * A fact made by a store remembers the store for as long as nothing may have read it; when the same
 * element is stored again in the same region the first store goes. Lists are cut at MAX_FACTS, so
 * the walk is linear. A second walk turns load + add + store into addto, where neither the load nor
 * the sum has another use. */
#include "opt/forward.h"

#include "ir/affine.h"
#include "opt/effects.h"

enum { MAX_FACTS = 16 };

typedef struct fact {
    const struct fact *next;
    rg_iid access; /* whose indices these are */
    rg_val value;  /* as stored: not yet wrapped to the memory's type */
    rg_iid store;  /* a store nobody read so far, in region; 0: none */
    rg_rid region;
} fact;

typedef struct change {
    uint32_t key;
    const fact *before;
} change;

typedef struct forwarder {
    rg_rewrite *rw;
    rg_fn *f;
    bool to_addto; /* second walk */
    rg_effects e;
    const fact **known; /* by key */
    RG_VEC(change) log;
    uint32_t *uses; /* by value that existed before the walk */
    uint32_t nuses;
    bool *dead;         /* by instruction that existed before */
    rg_affine **affine; /* by value that existed before: made when first asked for */
    uint32_t naffine;
} forwarder;

static void set_known(forwarder *w, uint32_t key, const fact *list) {
    if (w->known[key] == list)
        return;
    RG_PUSH(w->rw->scratch, &w->log, (change){key, w->known[key]});
    w->known[key] = list;
}

static void roll_back(forwarder *w, uint32_t to) {
    while (w->log.n > to) {
        const change *c = &w->log.at[--w->log.n];
        w->known[c->key] = c->before;
    }
}

static uint32_t key_of(const forwarder *w, const rg_ins *ins) {
    return rg_effects_key(&w->e, ins);
}

/* v as base + offset, through additions of constants. */
static rg_val base_of(const rg_fn *f, rg_val v, int64_t *offset) {
    *offset = 0;
    for (int steps = 0; steps < 16; steps++) {
        rg_iid d = rg_value_at(f, v)->def;
        int64_t c;
        if (!d)
            break;
        uint16_t op = rg_ins_at(f, d)->op;
        if (op == RG_CAST) {
            rg_val x = rg_operand(f, d, 0);
            if (rg_type_of(f, x) != RG_I32 || rg_type_of(f, v) != RG_I64)
                break;
            v = x; /* signed sums do not overflow: widening first or last is the same */
            continue;
        }
        if (op == RG_CONST) {
            *offset += rg_ins_at(f, d)->imm.i;
            return 0;
        }
        if (op != RG_ADD && op != RG_SUB)
            break;
        if (rg_val_const_int(f, rg_operand(f, d, 1), &c)) {
            *offset += op == RG_ADD ? c : -c;
            v = rg_operand(f, d, 0);
        } else if (op == RG_ADD && rg_val_const_int(f, rg_operand(f, d, 0), &c)) {
            *offset += c;
            v = rg_operand(f, d, 1);
        } else {
            break;
        }
        if (c > INT32_MAX || c < INT32_MIN)
            return UINT32_MAX;
    }
    return v;
}

static const rg_affine *affine_of(const forwarder *w, rg_val v) {
    if (v >= w->naffine)
        return NULL;
    if (!w->affine[v]) {
        w->affine[v] = RG_NEW(w->rw->scratch, rg_affine);
        *w->affine[v] = rg_affine_of(w->f, v);
    }
    return w->affine[v];
}

/* Do two index values provably differ whenever both are computed? */
static bool differs(const forwarder *w, rg_val a, rg_val b) {
    if (a == b)
        return false;
    int64_t x, y;
    rg_val p = base_of(w->f, a, &x), q = base_of(w->f, b, &y);
    if (p == q && p != UINT32_MAX)
        return x != y;
    const rg_affine *s = affine_of(w, a), *t = affine_of(w, b);
    int64_t difference;
    return s && t && rg_affine_difference(s, t, &difference) && difference != 0;
}

static bool disjoint(const forwarder *w, rg_iid a, rg_iid b) {
    const rg_fn *f = w->f;
    const rg_ins *x = rg_ins_at(f, a), *y = rg_ins_at(f, b);
    if (x->array != y->array)
        return false;
    for (uint32_t k = 0; k < rg_ins_nindices(f, x); k++)
        if (differs(w, rg_operand(f, a, k), rg_operand(f, b, k)))
            return true;
    return false;
}

static const fact *find(const forwarder *w, uint32_t key, rg_iid i) {
    for (const fact *x = w->known[key]; x; x = x->next)
        if (rg_ins_at(w->f, x->access)->array == rg_ins_at(w->f, i)->array &&
            rg_opt_same_index(w->f, x->access, i))
            return x;
    return NULL;
}

static const fact *push(forwarder *w, const fact *next, fact x) {
    fact *y = RG_NEW(w->rw->scratch, fact);
    *y = x;
    y->next = next;
    return y;
}

/* i writes its element: forgets what it may have changed. i == 0: all of the key. */
static void forget(forwarder *w, uint32_t key, rg_iid i) {
    const fact *keep = NULL;
    bool same = true;
    for (const fact *x = w->known[key]; x && i; x = x->next) {
        if (disjoint(w, x->access, i))
            keep = push(w, keep, *x);
        else
            same = false;
    }
    if (!same || !i)
        set_known(w, key, keep);
}

/* i may read what is in memory now: stores that it may read must stay. i == 0: all of the key. */
static void has_read(forwarder *w, uint32_t key, rg_iid i) {
    bool any = false;
    for (const fact *x = w->known[key]; x; x = x->next)
        any |= x->store != 0;
    if (!any)
        return;
    const fact *list = NULL;
    for (const fact *x = w->known[key]; x; x = x->next) {
        fact y = *x;
        if (!i || !disjoint(w, x->access, i))
            y.store = 0;
        list = push(w, list, y);
    }
    set_known(w, key, list);
}

static void learn(forwarder *w, uint32_t key, rg_iid i, rg_val value, bool store) {
    const fact *list = w->known[key];
    uint32_t n = 0;
    for (const fact *x = list; x; x = x->next)
        n++;
    if (n >= MAX_FACTS) {
        /* The list's order is arbitrary; a fresh start costs less than choosing. */
        list = NULL;
    }
    set_known(
        w, key,
        push(w, list,
             (fact){
                 .access = i, .value = value, .store = store ? i : 0, .region = w->rw->b.region}));
}

static uint32_t uses_of(const forwarder *w, rg_val v) {
    return v < w->nuses ? w->uses[v] : UINT32_MAX;
}

static void replace(forwarder *w, rg_val v, rg_val by) {
    rg_rw_set(w->rw, v, by);
    if (by < w->nuses && v < w->nuses)
        w->uses[by] += w->uses[v];
    w->rw->changed = true;
}

static bool load(forwarder *w, rg_iid i) {
    rg_fn *f = w->f;
    const rg_ins *ins = rg_ins_at(f, i);
    uint32_t key = key_of(w, ins);
    const fact *x = find(w, key, i);
    if (x && !w->to_addto) {
        w->rw->b.loc = ins->loc;
        rg_val v = rg_b_wrap(&w->rw->b, rg_ins_leaf(f, ins)->mem, x->value);
        replace(w, rg_result(f, i, 0), v);
        rg_op op = rg_def_op(f, v);
        const char *name = rg_value_at(f, rg_result(f, i, 0))->name;
        if (name && op != RG_CONST && op != RG_SCALAR)
            rg_b_name(&w->rw->b, v, name);
        return false;
    }
    has_read(w, key, i);
    if (!x)
        learn(w, key, i, rg_result(f, i, 0), false);
    return true;
}

/* x[i] + v, v + x[i] or x[i] - v whose load is used only there: v (negated if need be), else 0. */
static rg_val added(forwarder *w, rg_iid i, const fact *x) {
    rg_fn *f = w->f;
    rg_val sum = rg_operand(f, i, rg_ins_at(f, i)->nopnd - 1);
    rg_iid d = rg_value_at(f, sum)->def;
    if (!d || !x || rg_ins_at(f, x->access)->op != RG_LOAD || uses_of(w, sum) != 1)
        return 0;
    uint16_t op = rg_ins_at(f, d)->op;
    if (op != RG_ADD && op != RG_SUB)
        return 0;
    rg_val a = rg_operand(f, d, 0), b = rg_operand(f, d, 1);
    rg_val loaded = rg_result(f, x->access, 0);
    if (uses_of(w, loaded) != 1 || x->value != loaded)
        return 0;
    w->rw->b.loc = rg_ins_at(f, i)->loc;
    if (a == loaded)
        return op == RG_ADD ? b : rg_b_op1(&w->rw->b, RG_NEG, b);
    return op == RG_ADD && b == loaded ? a : 0;
}

static bool store(forwarder *w, rg_iid i) {
    rg_fn *f = w->f;
    rg_ins *ins = rg_ins_at(f, i);
    uint32_t key = key_of(w, ins);
    rg_val v = rg_operand(f, i, ins->nopnd - 1);
    const fact *x = find(w, key, i);
    if (w->to_addto) {
        rg_val by = added(w, i, x);
        ins = rg_ins_at(f, i);
        if (by) {
            ins->op = RG_ADDTO;
            f->pool.at[ins->opnd + ins->nopnd - 1] = by;
            w->rw->changed = true;
            forget(w, key, i);
            return true;
        }
    } else if (x && x->value == v) {
        w->rw->changed = true; /* it holds v already */
        return false;
    } else if (x && x->store && x->region == w->rw->b.region) {
        w->dead[x->store] = true;
        w->rw->changed = true;
    }
    forget(w, key, i);
    learn(w, key, i, v, !w->to_addto);
    return true;
}

/* An addto to an element that was just stored: one store of the sum. */
static void addto(forwarder *w, rg_iid i) {
    rg_fn *f = w->f;
    rg_ins *ins = rg_ins_at(f, i);
    uint32_t key = key_of(w, ins);
    const fact *x = find(w, key, i);
    bool plain = !(ins->flags & (RG_INS_ATOMIC | RG_INS_ACCUM | RG_INS_PRIVATE));
    if (!plain || w->to_addto || !x || !x->store || x->region != w->rw->b.region) {
        forget(w, key, plain ? i : 0);
        return;
    }
    rg_val v = rg_operand(f, i, ins->nopnd - 1);
    w->rw->b.loc = ins->loc;
    rg_val old = rg_b_wrap(&w->rw->b, rg_ins_leaf(f, ins)->mem, x->value);
    rg_val sum = rg_b_op2(&w->rw->b, RG_ADD, old, v);
    w->dead[x->store] = true;
    ins = rg_ins_at(f, i);
    ins->op = RG_STORE;
    f->pool.at[ins->opnd + ins->nopnd - 1] = sum;
    w->rw->changed = true;
    forget(w, key, i);
    learn(w, key, i, sum, true);
}

static void whole(forwarder *w, rg_aid a, bool written) {
    for (uint32_t l = 0; l < rg_array_at(w->f, a)->elem->nleaves; l++) {
        if (written)
            forget(w, w->e.key_base[a] + l, 0);
        else
            has_read(w, w->e.key_base[a] + l, 0);
    }
}

static void walk_region(forwarder *w, rg_rid r) {
    rg_rewrite *rw = w->rw;
    rg_fn *f = w->f;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k];
        rg_rw_operands(rw, i);
        const rg_ins *ins = rg_ins_at(f, i);
        rg_op op = (rg_op)ins->op;
        bool atomic = (ins->flags & RG_INS_ATOMIC) != 0, keep = true;
        rg_rid inner[2] = {ins->region[0], ins->region[1]};
        if (inner[0]) {
            rg_ids t = w->e.touched[i];
            for (int s = 0; s < 2; s++) {
                uint32_t log = w->log.n;
                if (!inner[s])
                    continue;
                if (op == RG_PARALLEL)
                    for (uint32_t q = 0; q < w->e.keys; q++)
                        set_known(w, q, NULL);
                for (uint32_t q = 0; q < t.n && op != RG_IF; q++)
                    if (t.at[q] & 1)
                        set_known(w, t.at[q] / 2, NULL);
                walk_region(w, inner[s]);
                roll_back(w, log);
            }
            for (uint32_t q = 0; q < t.n; q++) {
                if (t.at[q] & 1)
                    forget(w, t.at[q] / 2, 0);
                else
                    has_read(w, t.at[q] / 2, 0);
            }
        } else if (op == RG_LOAD && !atomic) {
            keep = load(w, i);
        } else if (op == RG_STORE && !atomic) {
            keep = store(w, i);
        } else if (op == RG_ADDTO) {
            addto(w, i);
        } else if (op == RG_ALLOC) {
            whole(w, ins->array, true);
        } else if (op == RG_COPY) {
            whole(w, ins->array2, false);
            whole(w, ins->array, true);
        } else if (op == RG_PAIR) {
            whole(w, ins->array, true);
            whole(w, ins->array2, true);
        } else if (rg_ops[op].flags & (RG_F_READ | RG_F_WRITE)) {
            forget(w, key_of(w, ins), 0);
        }
        if (keep)
            rg_rw_keep(rw, i);
    }
    rw->b.region = here;
}

/* --- around the walk
 * ------------------------------------------------------------------------------- */

static void count_uses(forwarder *w, rg_rid r) {
    const rg_fn *f = w->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        for (uint32_t j = 0; j < ins->nopnd; j++)
            w->uses[f->pool.at[ins->opnd + j]]++;
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                count_uses(w, ins->region[s]);
    }
}

static void sweep(const forwarder *w, rg_rid r) {
    rg_region *g = rg_region_at(w->f, r);
    uint32_t to = 0;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(w->f, i);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                sweep(w, ins->region[s]);
        if (ins->op != RG_STORE || !w->dead[i])
            g->ins.at[to++] = i;
    }
    g->ins.n = to;
}

static bool forward_once(rg_fn *f, rg_arena *scratch, bool to_addto) {
    forwarder *w = RG_NEW(scratch, forwarder);
    w->rw = rg_rw_new(f, scratch);
    w->f = f;
    w->to_addto = to_addto;
    w->e = rg_opt_effects(f, scratch);
    w->known = RG_NEW_N(scratch, const fact *, w->e.keys + 1);
    w->nuses = f->vals.n;
    w->uses = RG_NEW_N(scratch, uint32_t, w->nuses);
    w->naffine = f->vals.n;
    w->affine = RG_NEW_N(scratch, rg_affine *, w->naffine);
    w->dead = RG_NEW_N(scratch, bool, f->ins.n);
    count_uses(w, f->body);
    walk_region(w, f->body);
    if (!to_addto && w->rw->changed)
        sweep(w, f->body);
    rg_rw_finish(w->rw);
    return w->rw->changed;
}

bool rg_promote_forward(rg_fn *f, rg_arena *scratch) {
    bool forwarded = forward_once(f, scratch, false);
    return forward_once(f, scratch, true) || forwarded;
}
