/* Loop-invariant code motion. The regions around the current place form a stack of frames; an
 * instruction moves up, frame by frame, as long as its operands are known there:
 *
 *   pure ops     out of the bodies of for, loop and parallel, however often they run; what may
 *                fault (integer division, shifts) moves like a load
 *   loads        out of for and loop, when nothing in it may write the element. A load must not be
 *                made that would not have been: from a for that may have no iteration it moves into
 *                a region between, which with the for becomes `if (lo < hi)`. Never out of a
 *                parallel: on a GPU that would be a task of its own
 *   nothing      out of the branches of an if
 *
 * The region between exists from the start as a frame of its own, so pure ops that depend on such a
 * load stay there as well. */
#include "opt/opt.h"

#include "opt/effects.h"

typedef enum frame_kind { BRANCH, BODY, BETWEEN } frame_kind;

typedef struct frame {
    frame_kind kind;
    rg_rid region;
    rg_iid owner; /* BODY: its loop */
} frame;

typedef struct mover {
    rg_rewrite *rw;
    rg_fn *f;
    rg_effects e;
    RG_VEC(frame) stack;
    uint32_t *place; /* by region: its frame, as index */
    uint32_t nplaces;
} mover;

static void enter(mover *m, frame_kind kind, rg_rid r, rg_iid owner) {
    if (r >= m->nplaces) {
        uint32_t n = m->f->regions.n + m->f->regions.n / 2;
        m->place =
            rg_grow(m->rw->scratch, m->place, m->nplaces * sizeof *m->place, n * sizeof *m->place);
        m->nplaces = n;
    }
    m->place[r] = m->stack.n;
    RG_PUSH(m->rw->scratch, &m->stack, (frame){kind, r, owner});
}

static bool writes(const mover *m, rg_iid owner, uint32_t key) {
    rg_ids t = m->e.touched[owner];
    for (uint32_t k = 0; k < t.n; k++)
        if (t.at[k] == 2 * key + 1)
            return true;
    return false;
}

/* May the pure op be computed where the source would not have? */
static bool speculative(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = rg_ins_at(f, i);
    int64_t c;
    rg_type t = rg_type_of(f, rg_result(f, i, 0));
    switch (ins->op) {
    case RG_DIV:
    case RG_REM:
        if (rg_type_is_float(t))
            return true;
        return rg_val_const_int(f, rg_operand(f, i, 1), &c) && c != 0 && c != -1;
    case RG_SHL:
    case RG_SHR:
        return rg_val_const_int(f, rg_operand(f, i, 1), &c) && c >= 0 &&
               c < 8 * (int64_t)rg_type_size(t);
    default:
        return true;
    }
}

/* The frame that i can move to from the top one. */
static uint32_t target(const mover *m, rg_iid i, bool free_to_move, bool is_load) {
    const rg_fn *f = m->f;
    const rg_ins *ins = rg_ins_at(f, i);
    uint32_t least = 0, at = m->stack.n - 1;
    for (uint32_t k = 0; k < ins->nopnd; k++) {
        uint32_t p = m->place[rg_val_region(f, rg_operand(f, i, k))];
        if (p > least)
            least = p;
    }
    while (at > least) {
        const frame *x = &m->stack.at[at];
        if (x->kind == BRANCH)
            break;
        if (!free_to_move) {
            if (x->kind == BETWEEN || rg_ins_at(f, x->owner)->op == RG_PARALLEL)
                break;
            if (is_load && writes(m, x->owner, rg_effects_key(&m->e, ins)))
                break;
        }
        at--;
    }
    return at;
}

static void walk_region(mover *m, frame_kind kind, rg_rid r, rg_iid owner);

/* The loop goes behind what was moved into `between`, both into `if (lo < hi)`. */
static void wrap(mover *m, rg_iid i, rg_rid between) {
    rg_rewrite *rw = m->rw;
    rg_fn *f = m->f;
    rg_build *b = &rw->b;
    uint32_t n = rg_opt_slots(f, i);
    b->loc = rg_ins_at(f, i)->loc;
    rg_iid branch = rg_b_if(b, rg_b_op2(b, RG_LT, rg_operand(f, i, 0), rg_operand(f, i, 1)));
    rg_ins_at(f, branch)->region[0] = between;
    rg_region_at(f, between)->owner = branch;
    rg_b_push(b, between);
    rg_rw_keep(rw, i);
    rg_val *v = RG_NEW_N(rw->scratch, rg_val, n);
    for (uint32_t k = 0; k < n; k++)
        v[k] = rg_result(f, i, k);
    rg_b_yield(b, v, n);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(f, branch)->region[1]);
    for (uint32_t k = 0; k < n; k++)
        v[k] = rg_operand(f, i, 2 + k);
    rg_b_yield(b, v, n);
    rg_b_pop(b);
    rg_b_if_done(b, branch);
    for (uint32_t k = 0; k < n; k++) {
        rg_val in = rg_result(f, i, k), out = rg_result(f, branch, k);
        rg_value_at(f, out)->name = rg_value_at(f, in)->name;
        rg_rw_set(rw, in, out);
    }
}

static void walk_ins(mover *m, rg_iid i) {
    rg_rewrite *rw = m->rw;
    rg_fn *f = m->f;
    rg_rw_operands(rw, i);
    rg_op op = (rg_op)rg_ins_at(f, i)->op;
    rg_rid inner[2] = {rg_ins_at(f, i)->region[0], rg_ins_at(f, i)->region[1]};
    bool is_load = op == RG_LOAD && !(rg_ins_at(f, i)->flags & RG_INS_ATOMIC);
    if (rg_opt_movable(f, i) || is_load) {
        uint32_t to = target(m, i, !is_load && speculative(f, i), is_load);
        rg_rid here = rw->b.region;
        rw->changed |= to + 1 < m->stack.n;
        rw->b.region = m->stack.at[to].region;
        rg_rw_keep(rw, i);
        rw->b.region = here;
        return;
    }
    rg_rid between = 0;
    if (op == RG_FOR && !rg_opt_surely_runs(f, i) && !rg_opt_never_runs(f, i)) {
        between = rg_region_new(f, 0);
        enter(m, BETWEEN, between, 0);
    }
    for (int s = 0; s < 2; s++)
        if (inner[s])
            walk_region(m, op == RG_IF ? BRANCH : BODY, inner[s], i);
    if (between) {
        m->stack.n--;
        if (rg_region_at(f, between)->ins.n) {
            wrap(m, i, between);
            return;
        }
    }
    rg_rw_keep(rw, i);
}

static void walk_region(mover *m, frame_kind kind, rg_rid r, rg_iid owner) {
    rg_rid here = m->rw->b.region;
    rg_ids list = rg_rw_open(m->rw, r);
    enter(m, kind, r, owner);
    for (uint32_t k = 0; k < list.n; k++)
        walk_ins(m, list.at[k]);
    m->stack.n--;
    m->rw->b.region = here;
}

static bool licm(rg_fn *f, rg_arena *scratch) {
    mover *m = RG_NEW(scratch, mover);
    m->rw = rg_rw_new(f, scratch);
    m->f = f;
    m->e = rg_opt_effects(f, scratch);
    m->nplaces = f->regions.n;
    m->place = RG_NEW_N(scratch, uint32_t, m->nplaces);
    walk_region(m, BRANCH, f->body, 0);
    rg_rw_finish(m->rw);
    return m->rw->changed;
}

bool rg_opt_licm(rg_fn *f) {
    return rg_opt_with_scratch(f, licm);
}
