/* How each gradient contribution (RG_INS_ACCUM addto) accumulates.
 *
 * First, what adds to one and the same element in every iteration of a loop (a weight's gradient)
 * leaves the loop: the loop carries a sum, a parallel loop reduces it, and one addto follows:
 *
 *     for ... { ... x_b[k] += v ... }     ->   s = for ... carry s = 0 { ... s + v ... }
 *                                              if (s != 0) x_b[k] += s
 *
 * The test stands there because the loop may never have reached the addto, and then the element
 * need not exist. Then each addto that is left inside a parallel is plain if no other access to the
 * same gradient memory can touch its element from another iteration; otherwise it is atomic, and
 * may go to a private copy if the parallel does nothing but add to that gradient. */
#include "ad/ad.h"
#include "ad/gradmem.h"
#include "ir/build.h"

enum {
    MAX_REDUCTIONS = 32,   /* of one parallel */
    MAX_QUESTIONS = 100000 /* proofs tried in one function; beyond, addto's stay atomic */
};

typedef struct state {
    rg_fn *f;
    const rg_activity *act;
    rg_arena *scratch;
    rg_rid *life; /* [arrays.n] region in which the array comes to life; the body if not local */
    rg_build *b;
    rg_iids accums; /* the undecided addto's, in the order of the text */
    rg_grad_index *index;
    uint8_t *holds; /* [nholds] of `sum`, all 0 in between */
    uint32_t nholds;
    int questions;
    bool changed;
} state;

static void collect(state *s, rg_rid r) {
    const rg_region *g = rg_region_at(s->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(s->f, g->ins.at[k]);
        if (ins->op == RG_ADDTO && (ins->flags & RG_INS_ACCUM))
            RG_PUSH(s->scratch, &s->accums, g->ins.at[k]);
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                collect(s, ins->region[j]);
    }
}

static rg_iid owner_of(const rg_fn *f, rg_iid i) {
    return rg_region_at(f, rg_ins_at(f, i)->parent)->owner;
}

static rg_iid parallel_around(const rg_fn *f, rg_iid i) {
    while (i && rg_ins_at(f, i)->op != RG_PARALLEL)
        i = owner_of(f, i);
    return i;
}

static void find_lives(state *s) {
    const rg_fn *f = s->f;
    s->life = RG_NEW_N(s->scratch, rg_rid, f->arrays.n);
    for (uint32_t a = 0; a < f->arrays.n; a++)
        s->life[a] = f->body;
    for (uint32_t i = 1; i < f->ins.n; i++)
        if (f->ins.at[i].op == RG_ALLOC && f->ins.at[i].parent)
            s->life[f->ins.at[i].array] = f->ins.at[i].parent;
}

/* --- sums that leave their loop ----------------------------------------------------------- */

static bool may_meet(state *s, rg_iid a, rg_iid b, rg_rid shared, rg_iid loop) {
    return --s->questions <= 0 || rg_grad_may_meet(s->f, s->act, a, b, shared, loop);
}

/* Can the addto be delayed to the end of the loop? Other additions commute with it. */
static bool only_added_to(state *s, rg_iid addto, rg_iid loop) {
    const rg_ins *ins = rg_ins_at(s->f, loop);
    rg_iids others = rg_grad_others(s->index, ins->region[0], rg_ins_at(s->f, addto)->array);
    for (uint32_t k = 0; k < others.n; k++)
        if (may_meet(s, addto, others.at[k], ins->parent, 0))
            return false;
    return true;
}

static bool index_is_invariant(const state *s, rg_iid addto, rg_rid body) {
    const rg_ins *ins = rg_ins_at(s->f, addto);
    uint32_t n = rg_ins_nindices(s->f, ins);
    for (uint32_t k = 0; k < n; k++)
        if (!rg_grad_invariant(s->f, rg_operand(s->f, addto, k), body))
            return false;
    return !rg_region_inside(s->f, s->life[ins->array], body);
}

/* The outermost loop, up to the parallel around it, that adds to one element only; 0: none. */
static rg_iid loop_to_leave(state *s, rg_iid addto) {
    const rg_fn *f = s->f;
    rg_iid best = 0;
    for (rg_iid i = owner_of(f, addto); i; i = owner_of(f, i)) {
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->op == RG_IF)
            continue;
        if (!index_is_invariant(s, addto, ins->region[0]) || !only_added_to(s, addto, i))
            break;
        if (ins->op == RG_PARALLEL && ins->nres >= MAX_REDUCTIONS)
            break;
        best = i;
        if (ins->op == RG_PARALLEL)
            break;
    }
    return best;
}

/* The sum that goes through a loop, in place of the addto's in `targets`. */
typedef struct sum {
    uint8_t *holds; /* [ins.n as it was] a target, or an instruction with one inside */
    uint32_t n;
    bool reduces; /* in a parallel: by red */
    rg_type type;
} sum;

static rg_val thread(state *s, const sum *m, rg_rid r, rg_val acc) {
    rg_fn *f = s->f;
    for (uint32_t k = 0; k < rg_region_at(f, r)->ins.n; k++) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        if (i >= m->n || !m->holds[i])
            continue;
        rg_op op = (rg_op)rg_ins_at(f, i)->op;
        if (op == RG_ADDTO) { /* becomes acc + value, in its place */
            rg_val value = rg_operand(f, i, rg_ins_at(f, i)->nopnd - 1);
            rg_iid add = rg_ins_new(f, m->reduces ? RG_RED : RG_ADD, rg_ins_at(f, i)->loc);
            if (m->reduces)
                rg_ins_at(f, add)->imm.i = RG_RED_ADD;
            rg_ins_add_operand(f, add, acc);
            rg_ins_add_operand(f, add, value);
            rg_ins_at(f, add)->parent = r;
            rg_ins_at(f, i)->parent = 0;
            rg_region_at(f, r)->ins.at[k] = add;
            acc = rg_ins_add_result(f, add, m->type);
        } else if (op == RG_IF) {
            for (int j = 0; j < 2; j++) {
                rg_rid branch = rg_ins_at(f, i)->region[j];
                rg_val out = thread(s, m, branch, acc);
                rg_ins_add_operand(f, rg_yield_of(f, branch), out);
            }
            acc = rg_ins_add_result(f, i, m->type);
        } else { /* for, loop, or the parallel itself */
            rg_rid body = rg_ins_at(f, i)->region[0];
            rg_ins_add_operand(f, i, acc);
            rg_val arg = rg_region_add_arg(f, body, m->type);
            rg_val out = thread(s, m, body, arg);
            rg_ins_add_operand(f, rg_yield_of(f, body), out);
            acc = rg_ins_add_result(f, i, m->type);
        }
    }
    return acc;
}

static void add_reduction_kind(rg_fn *f, rg_iid parallel) {
    rg_ins *ins = rg_ins_at(f, parallel);
    uint32_t n = ins->nres, at = f->pool.n;
    for (uint32_t k = 0; k < n; k++)
        RG_PUSH(f->arena, &f->pool, f->pool.at[ins->aux + k]);
    RG_PUSH(f->arena, &f->pool, (uint32_t)RG_RED_ADD);
    ins->aux = at;
}

/* v, or its computation again where the builder stands. */
static rg_val outside(state *s, rg_val v, rg_rid region) {
    rg_fn *f = s->f;
    if (!rg_region_inside(f, rg_val_region(f, v), region))
        return v;
    rg_iid def = rg_value_at(f, v)->def;
    const rg_ins ins = *rg_ins_at(f, def);
    rg_val x[3] = {0};
    for (uint32_t k = 0; k < ins.nopnd && k < 3; k++)
        x[k] = outside(s, rg_operand(f, def, k), region);
    if (ins.op == RG_EXTENT)
        return rg_b_extent(s->b, ins.array, (uint32_t)ins.imm.i);
    rg_val w = rg_b_pure(s->b, (rg_op)ins.op, rg_type_of(f, v), x, ins.nopnd, ins.imm.i);
    if (rg_value_at(f, v)->name)
        rg_b_name(s->b, w, rg_value_at(f, v)->name);
    return w;
}

static rg_iid next_of(const rg_fn *f, rg_iid i) {
    const rg_region *g = rg_region_at(f, rg_ins_at(f, i)->parent);
    uint32_t k = 0;
    while (g->ins.at[k] != i)
        k++;
    return g->ins.at[k + 1];
}

/* Does the loop, once begun, surely reach the addto? Then its element exists. */
static bool surely_reached(const rg_fn *f, rg_iid addto, rg_iid loop) {
    for (rg_iid i = owner_of(f, addto);; i = owner_of(f, i)) {
        const rg_ins *ins = rg_ins_at(f, i);
        int64_t lo, hi;
        uint32_t ranges = ins->op == RG_FOR ? 1 : ins->op == RG_PARALLEL ? (uint32_t)ins->imm.i : 0;
        if (ins->op == RG_IF)
            return false;
        for (uint32_t k = 0; k < ranges; k++)
            if (!rg_val_const_int(f, rg_operand(f, i, 2 * k), &lo) ||
                !rg_val_const_int(f, rg_operand(f, i, 2 * k + 1), &hi) || lo >= hi)
                return false;
        if (i == loop)
            return true;
    }
}

static void leave_loop(state *s, const rg_iids *targets, rg_iid loop) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_iid first = targets->at[0];
    const rg_ins like = *rg_ins_at(f, first);
    rg_rid body = rg_ins_at(f, loop)->region[0];
    bool parallel = rg_ins_at(f, loop)->op == RG_PARALLEL;
    /* A gradient of a by-value parameter always exists. */
    const rg_array *array = rg_array_at(f, like.array);
    bool exists = (array->kind == RG_ARR_SHADOW && !f->params.at[array->param].is_array) ||
                  surely_reached(f, first, loop);
    sum m = {.n = f->ins.n, .reduces = parallel, .type = rg_mem_value(rg_ins_leaf(f, &like)->mem)};
    if (s->nholds < m.n) {
        s->holds = rg_grow(s->scratch, s->holds, s->nholds, 2 * (size_t)m.n);
        s->nholds = 2 * m.n;
    }
    m.holds = s->holds;
    rg_iids held = {0};
    for (uint32_t k = 0; k < targets->n; k++)
        for (rg_iid i = targets->at[k]; i != loop && !m.holds[i]; i = owner_of(f, i)) {
            m.holds[i] = 1;
            RG_PUSH(s->scratch, &held, i);
        }
    b->loc = like.loc;
    rg_b_push_before(b, loop);
    rg_val zero = rg_b_zero(b, m.type);
    rg_b_pop(b);
    if (parallel)
        add_reduction_kind(f, loop);
    rg_ins_add_operand(f, loop, zero);
    rg_val arg = rg_region_add_arg(f, body, m.type);
    rg_val out = thread(s, &m, body, arg);
    for (uint32_t k = 0; k < held.n; k++)
        m.holds[held.at[k]] = 0;
    rg_ins_add_operand(f, rg_yield_of(f, body), out);
    rg_val total = rg_ins_add_result(f, loop, m.type);
    if (array->name)
        rg_b_name(b, total, rg_format(f->arena, "%s_sum", array->name));

    rg_b_push_before(b, next_of(f, loop));
    rg_iid test = 0;
    if (!exists) {
        test = rg_b_if(b, rg_b_op2(b, RG_NE, total, rg_b_zero(b, m.type)));
        rg_b_push(b, rg_ins_at(f, test)->region[0]);
    }
    uint32_t n = rg_ins_nindices(f, &like);
    rg_val *idx = RG_NEW_N(s->scratch, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        idx[k] = outside(s, f->pool.at[like.opnd + k], body);
    rg_b_addto(b, like.array, like.leaf, idx, total,
               (uint16_t)(like.flags | (parallel ? RG_INS_SCALARIZED : 0)));
    if (!exists) {
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        rg_b_push(b, rg_ins_at(f, test)->region[1]);
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        rg_b_if_done(b, test);
    }
    rg_b_pop(b);
    s->changed = true;
}

static void leave_loops(state *s) {
    rg_fn *f = s->f;
    rg_iid *leaves = RG_NEW_N(s->scratch, rg_iid, s->accums.n);
    for (uint32_t k = 0; k < s->accums.n; k++)
        leaves[k] = loop_to_leave(s, s->accums.at[k]);
    for (uint32_t k = 0; k < s->accums.n; k++) {
        rg_iid loop = leaves[k];
        /* The parallel may have got its fill meanwhile. */
        if (!loop ||
            (rg_ins_at(f, loop)->op == RG_PARALLEL && rg_ins_at(f, loop)->nres >= MAX_REDUCTIONS))
            continue;
        rg_iids targets = {0};
        for (uint32_t j = k; j < s->accums.n; j++) {
            if (leaves[j] != loop || !rg_grad_same_index(f, s->accums.at[k], s->accums.at[j]))
                continue;
            RG_PUSH(s->scratch, &targets, s->accums.at[j]);
            leaves[j] = j == k ? loop : 0;
        }
        leave_loop(s, &targets, loop);
        leaves[k] = 0;
    }
}

/* --- plain, atomic or private ------------------------------------------------------------- */

static uint16_t decide(state *s, rg_iid addto) {
    const rg_fn *f = s->f;
    rg_iid p = parallel_around(f, addto);
    rg_aid a = rg_ins_at(f, addto)->array;
    if (!p || rg_region_inside(f, s->life[a], rg_ins_at(f, p)->region[0]))
        return 0;
    rg_rid body = rg_ins_at(f, p)->region[0];
    rg_iids all = rg_grad_accesses(s->index, body, a);
    bool apart = true;
    for (uint32_t k = 0; k < all.n && apart; k++)
        apart = !may_meet(s, addto, all.at[k], rg_ins_at(f, p)->parent, p);
    if (apart)
        return 0;
    return rg_grad_others(s->index, body, a).n == 0 ? RG_INS_ATOMIC | RG_INS_PRIVATE
                                                    : RG_INS_ATOMIC;
}

bool rg_ad_accumulate(rg_fn *f, const rg_activity *act) {
    state s = {.f = f, .act = act, .scratch = f->arena, .questions = MAX_QUESTIONS};
    s.b = rg_b_new(f);
    find_lives(&s);
    collect(&s, f->body);
    s.index = rg_grad_index_new(f, act, s.scratch);
    leave_loops(&s);
    s.accums.n = 0;
    collect(&s, f->body);
    s.index = rg_grad_index_new(f, act, s.scratch);
    /* All decisions before any flag changes: they look at all addto's alike. */
    uint16_t *how = RG_NEW_N(s.scratch, uint16_t, s.accums.n);
    s.questions = MAX_QUESTIONS;
    for (uint32_t k = 0; k < s.accums.n; k++)
        how[k] = decide(&s, s.accums.at[k]);
    for (uint32_t k = 0; k < s.accums.n; k++) {
        rg_ins *ins = rg_ins_at(f, s.accums.at[k]);
        uint16_t off = RG_INS_ACCUM | RG_INS_ATOMIC | RG_INS_PRIVATE;
        ins->flags = (uint16_t)((ins->flags & ~off) | how[k]);
        s.changed = true;
    }
    return s.changed;
}

/* Arrays that instructions below r do more to than add. */
static void other_uses(const rg_fn *f, rg_rid r, bool *other) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op != RG_ADDTO) {
            other[ins->array] = true;
            other[ins->array2] = true;
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                other_uses(f, ins->region[j], other);
    }
}

static void privatise(state *s, rg_rid r, const bool *other) {
    const rg_fn *f = s->f;
    for (uint32_t k = 0; k < rg_region_at(f, r)->ins.n; k++) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        rg_ins *ins = rg_ins_at(f, i);
        bool *here = NULL;
        if (ins->op == RG_PARALLEL) {
            here = RG_NEW_N(s->scratch, bool, f->arrays.n);
            other_uses(f, ins->region[0], here);
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                privatise(s, ins->region[j], here ? here : other);
        if (ins->op != RG_ADDTO || !other || (ins->flags & RG_INS_PRIVATE) ||
            !(ins->flags & RG_INS_ATOMIC))
            continue;
        bool only_sums = true;
        for (uint32_t a = 1; a < f->arrays.n && only_sums; a++)
            only_sums = !other[a] || !rg_grad_same(f, s->act, a, ins->array);
        if (only_sums) {
            ins->flags |= RG_INS_PRIVATE;
            s->changed = true;
        }
    }
}

bool rg_ad_privatise(rg_fn *f, const rg_activity *act) {
    state s = {.f = f, .act = act, .scratch = f->arena};
    privatise(&s, f->body, NULL);
    return s.changed;
}
