/* Two accesses meet if some assignment of integers to the loop variables and scalars of both
 * satisfies: the indices are equal on each axis, each loop variable is within its bounds, and the
 * conditions around each access hold.
 *
 * A value that is defined inside a loop below the common region has one unknown for each of the
 * two accesses ("sides" 1 and 2); one defined above is the same for both (side 0). Products are
 * unknowns of their own; an equation that contains products with a common factor n, such as
 * (t + 1 - t') * n + (i - i') = 0, falls apart into t + 1 = t' and i = i' once |i - i'| < n is
 * proven from the bounds. */
#include "ir/meet.h"

#include <string.h>

#include "ir/linear.h"
#include "ir/poly.h"

rg_access rg_access_of(const rg_fn *f, rg_iid i, rg_aid a) {
    const rg_ins *ins = rg_ins_at(f, i);
    rg_access x = {.ins = i, .leaf = UINT32_MAX, .at = ins->opnd};
    if (ins->op == RG_COPY) {
        /* The operands are the leading indices of the array that has more axes. */
        rg_aid other = ins->array == a ? ins->array2 : ins->array;
        if (rg_array_at(f, a)->rank > rg_array_at(f, other)->rank)
            x.nindices = ins->nopnd;
        return x;
    }
    x.leaf = ins->leaf;
    x.nindices = rg_ins_nindices(f, ins);
    return x;
}

bool rg_accesses_in(const rg_fn *f, rg_rid r, bool counted, rg_iid *out, uint32_t *n) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        switch (ins->op) {
        case RG_LOAD:
        case RG_STORE:
        case RG_ADDTO:
            if (*n == RG_ACCESSES || (rg_array_at(f, ins->array)->flags & RG_ARR_GROW))
                return false;
            out[(*n)++] = i;
            break;
        case RG_FOR:
            if (!counted)
                return false;
            break;
        case RG_ALLOC:
        case RG_COPY:
        case RG_RMW:
        case RG_LOOP:
        case RG_PARALLEL:
            return false;
        default:
            break;
        }
        for (int s = 0; s < 2; s++)
            if (ins->region[s] && !rg_accesses_in(f, ins->region[s], counted, out, n))
                return false;
    }
    return true;
}

rg_rid rg_common_region(const rg_fn *f, rg_rid a, rg_rid b) {
    while (!rg_region_inside(f, b, a))
        a = rg_ins_at(f, rg_region_at(f, a)->owner)->parent;
    return a;
}

rg_iid rg_ancestor_in(const rg_fn *f, rg_iid i, rg_rid r) {
    while (i && rg_ins_at(f, i)->parent != r)
        i = rg_region_at(f, rg_ins_at(f, i)->parent)->owner;
    return i;
}

rg_iid rg_loop_around(const rg_fn *f, rg_rid r, rg_rid root) {
    while (r != root) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner || rg_is_loop(f, owner))
            return owner;
        r = rg_ins_at(f, owner)->parent;
    }
    return 0;
}

/* --- the system --------------------------------------------------------------------------- */

typedef struct question {
    const rg_fn *f;
    rg_rid shared;
    bool contradiction;          /* found while adding */
    rg_mono var[RG_LINEAR_VARS]; /* coef unused; atoms carry their side */
    rg_linear s;
} question;

/* An atom of the system: value id * 4 + side. */
static uint64_t sided(rg_val v, unsigned side) {
    return (uint64_t)v * 4 + side;
}

/* Has v one value for both accesses? */
static bool is_shared(const question *y, rg_val v) {
    const rg_fn *f = y->f;
    rg_rid r = rg_val_region(f, v);
    while (!rg_region_inside(f, y->shared, r)) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner || rg_is_loop(f, owner))
            return false;
        r = rg_ins_at(f, owner)->parent;
    }
    return true;
}

/* A polynomial of values becomes one of sided atoms. */
static rg_poly take_side(const question *y, const rg_poly *p, unsigned side) {
    rg_poly r;
    r.constant = p->constant;
    r.n = 0;
    r.ok = p->ok;
    for (uint32_t k = 0; r.ok && k < p->n; k++) {
        rg_mono m = p->at[k];
        for (uint32_t j = 0; j < m.n; j++) {
            rg_val v = (rg_val)m.atom[j];
            m.atom[j] = sided(v, is_shared(y, v) ? 0 : side);
            for (uint32_t i = j; i > 0 && m.atom[i] < m.atom[i - 1]; i--) {
                uint64_t swap = m.atom[i];
                m.atom[i] = m.atom[i - 1];
                m.atom[i - 1] = swap;
            }
        }
        rg_poly_add_mono(&r, &m);
    }
    return r;
}

static rg_poly poly_of(const question *y, rg_val v, unsigned side) {
    rg_poly p = rg_poly_of(y->f, v, true);
    return take_side(y, &p, side);
}

static rg_poly difference(const rg_poly *a, const rg_poly *b) {
    return rg_poly_add(a, -1, b);
}

/* The unknown for a monomial; its range goes into the system when it is new. -1: no room. */
static int variable(question *y, const rg_mono *m) {
    for (uint32_t k = 0; k < y->s.nvars; k++)
        if (y->var[k].n == m->n && memcmp(y->var[k].atom, m->atom, m->n * sizeof *m->atom) == 0)
            return (int)k;
    if (y->s.nvars == RG_LINEAR_VARS)
        return -1;
    uint32_t k = y->s.nvars++;
    y->var[k] = *m;
    rg_linear_row row;
    memset(&row, 0, sizeof row);
    if (m->n > 1) {
        bool positive = true;
        for (uint32_t j = 0; j < m->n; j++)
            positive = positive && rg_range_of(y->f, (rg_val)(m->atom[j] / 4)).lo >= 0;
        if (positive) {
            row.coef[k] = 1;
            rg_linear_add(&y->s, &row);
        }
        return (int)k;
    }
    rg_val v = (rg_val)(m->atom[0] / 4);
    rg_range r = rg_range_of(y->f, v), whole = rg_range_of_type(rg_type_of(y->f, v));
    if (r.lo >= -INT32_MAX && (r.lo > whole.lo || r.lo == 0)) {
        row.coef[k] = 1;
        row.constant = -(int64_t)r.lo;
        rg_linear_add(&y->s, &row);
    }
    if (r.hi <= INT32_MAX && r.hi < whole.hi) {
        row.coef[k] = -1;
        row.constant = (int64_t)r.hi;
        rg_linear_add(&y->s, &row);
    }
    return (int)k;
}

static bool row_of(question *y, const rg_poly *p, bool equal, rg_linear_row *row) {
    if (!p->ok)
        return false;
    memset(row, 0, sizeof *row);
    row->constant = p->constant;
    row->equal = equal;
    for (uint32_t k = 0; k < p->n; k++) {
        int v = variable(y, &p->at[k]);
        if (v < 0)
            return false;
        row->coef[v] = p->at[k].coef;
    }
    return true;
}

/* p >= 0, or p = 0. What does not fit is left out: the system only gets weaker. */
static void add_row(question *y, const rg_poly *p, bool equal) {
    rg_linear_row row;
    if (p->ok && p->n == 0 && (equal ? p->constant != 0 : p->constant < 0))
        y->contradiction = true;
    else if (row_of(y, p, equal, &row))
        rg_linear_add(&y->s, &row);
}

/* Is p >= 0 impossible? */
static bool never_non_negative(question *y, const rg_poly *p) {
    rg_linear_row row;
    if (!row_of(y, p, false, &row))
        return false;
    rg_linear copy;
    copy.nvars = y->s.nvars;
    copy.nrows = y->s.nrows;
    memcpy(copy.row, y->s.row, y->s.nrows * sizeof *y->s.row);
    rg_linear_add(&copy, &row);
    return rg_linear_infeasible(&copy);
}

/* Is |rest| < stride for certain? */
static bool is_below(question *y, const rg_poly *rest, const rg_poly *stride) {
    rg_poly up = rg_poly_add(rest, -1, stride), zero = {.ok = true};
    rg_poly down = rg_poly_add(&zero, -1, rest);
    down = rg_poly_add(&down, -1, stride);
    return never_non_negative(y, &up) && never_non_negative(y, &down);
}

static void add_equality(question *y, const rg_poly *e, int depth);

/* e = q * n + rest with a shared symbolic n. */
static bool split_by_atom(question *y, const rg_poly *e, uint64_t n, int depth) {
    rg_poly q = {.ok = true}, rest = {.constant = e->constant, .ok = true};
    for (uint32_t k = 0; k < e->n; k++) {
        rg_mono m = e->at[k];
        uint32_t j = 0;
        while (j < m.n && m.atom[j] != n)
            j++;
        if (j == m.n) {
            rg_poly_add_mono(&rest, &m);
        } else if (m.n == 1) {
            q.constant += m.coef; /* one monomial is n itself: no overflow */
        } else {
            memmove(m.atom + j, m.atom + j + 1, (m.n - j - 1) * sizeof *m.atom);
            m.n--;
            rg_poly_add_mono(&q, &m);
        }
    }
    rg_poly stride = {.ok = true};
    rg_poly_add_mono(&stride, &(rg_mono){.coef = 1, .n = 1, .atom = {n}});
    if (!is_below(y, &rest, &stride))
        return false;
    add_equality(y, &q, depth - 1);
    add_equality(y, &rest, depth - 1);
    return true;
}

/* e = q * c + rest with a constant c; `round` moves the constant's remainder below zero. */
static bool split_by_constant(question *y, const rg_poly *e, int64_t c, int round, int depth) {
    rg_poly q = {.ok = true}, rest = {.ok = true};
    for (uint32_t k = 0; k < e->n; k++) {
        rg_mono m = e->at[k];
        if (m.coef % c == 0) {
            m.coef /= c;
            rg_poly_add_mono(&q, &m);
        } else {
            rg_poly_add_mono(&rest, &m);
        }
    }
    q.constant = e->constant / c;
    rest.constant = e->constant % c;
    if (round && rest.constant) {
        int64_t up = rest.constant > 0 ? 1 : -1;
        if (__builtin_add_overflow(q.constant, up, &q.constant))
            return false;
        rest.constant -= up * c;
    }
    if (rest.n == 0 && rest.constant == 0)
        return false; /* a multiple: the linear solver divides by itself */
    rg_poly stride = {.constant = c, .ok = true};
    if (!is_below(y, &rest, &stride))
        return false;
    add_equality(y, &q, depth - 1);
    add_equality(y, &rest, depth - 1);
    return true;
}

static void add_equality(question *y, const rg_poly *e, int depth) {
    if (!e->ok || y->contradiction)
        return;
    if (depth > 0) {
        for (uint32_t k = 0; k < e->n; k++)
            for (uint32_t j = 0; e->at[k].n > 1 && j < e->at[k].n; j++)
                if (e->at[k].atom[j] % 4 == 0 && split_by_atom(y, e, e->at[k].atom[j], depth))
                    return;
        for (uint32_t k = 0; k < e->n; k++) {
            int64_t c = e->at[k].coef;
            if (c == INT64_MIN || (c = c < 0 ? -c : c) < 2)
                continue;
            if (split_by_constant(y, e, c, 0, depth) || split_by_constant(y, e, c, 1, depth))
                return;
        }
    }
    add_row(y, e, true);
}

/* --- facts -------------------------------------------------------------------------------- */

static void add_condition(question *y, rg_val c, bool truth, unsigned side, int depth) {
    const rg_fn *f = y->f;
    rg_iid def = rg_value_at(f, c)->def;
    if (!def || depth <= 0)
        return;
    const rg_ins *ins = rg_ins_at(f, def);
    switch (ins->op) {
    case RG_NOT:
        add_condition(y, rg_operand(f, def, 0), !truth, side, depth - 1);
        return;
    case RG_AND:
    case RG_OR:
        if (truth == (ins->op == RG_AND))
            for (uint32_t k = 0; k < 2; k++)
                add_condition(y, rg_operand(f, def, k), truth, side, depth - 1);
        return;
    case RG_EQ:
    case RG_NE:
    case RG_LT:
    case RG_LE:
    case RG_GT:
    case RG_GE:
        break;
    default:
        return;
    }
    if (!rg_type_is_int(rg_type_of(f, rg_operand(f, def, 0))))
        return;
    rg_poly a = poly_of(y, rg_operand(f, def, 0), side);
    rg_poly b = poly_of(y, rg_operand(f, def, 1), side);
    rg_poly a_minus_b = difference(&a, &b), b_minus_a = difference(&b, &a);
    if (!a_minus_b.ok || !b_minus_a.ok)
        return;
    rg_poly one = {.constant = 1, .ok = true}, p;
    bool greater = truth == (ins->op == RG_GT || ins->op == RG_GE);
    bool strict = truth == (ins->op == RG_LT || ins->op == RG_GT);
    if (ins->op == RG_EQ || ins->op == RG_NE) {
        if (truth == (ins->op == RG_EQ))
            add_row(y, &a_minus_b, true);
        return;
    }
    p = greater ? a_minus_b : b_minus_a;
    if (strict)
        p = difference(&p, &one);
    add_row(y, &p, false);
}

static void add_bounds(question *y, rg_iid loop, unsigned side) {
    const rg_fn *f = y->f;
    const rg_ins *ins = rg_ins_at(f, loop);
    uint32_t ranges = ins->op == RG_FOR ? 1 : (uint32_t)ins->imm.i;
    rg_poly one = {.constant = 1, .ok = true};
    for (uint32_t k = 0; k < ranges; k++) {
        rg_poly iv = poly_of(y, rg_region_at(f, ins->region[0])->args.at[k], side);
        rg_poly lo = poly_of(y, rg_operand(f, loop, 2 * k), side);
        rg_poly hi = poly_of(y, rg_operand(f, loop, 2 * k + 1), side);
        rg_poly above = difference(&iv, &lo), below = difference(&hi, &iv);
        below = difference(&below, &one);
        add_row(y, &above, false);
        add_row(y, &below, false);
    }
}

/* What holds where instruction i runs: the bounds and conditions around it. Those around the
 * shared region are the same for both sides, so side 2 skips them. */
static void add_context(question *y, rg_iid i, unsigned side) {
    const rg_fn *f = y->f;
    rg_rid r = rg_ins_at(f, i)->parent;
    while (side == 1 || !rg_region_inside(f, y->shared, r)) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner)
            return;
        const rg_ins *ins = rg_ins_at(f, owner);
        if (ins->op == RG_FOR || ins->op == RG_PARALLEL)
            add_bounds(y, owner, side);
        else if (ins->op == RG_IF)
            add_condition(y, rg_operand(f, owner, 0), ins->region[0] == r, side, 8);
        r = ins->parent;
    }
}

/* Carried integers that grow (shrink) by a constant in each iteration: later is larger. */
static void add_carried_order(question *y, rg_iid loop, unsigned earlier, unsigned later) {
    const rg_fn *f = y->f;
    const rg_ins *ins = rg_ins_at(f, loop);
    const rg_region *g = rg_region_at(f, ins->region[0]);
    uint32_t first = rg_first_carried(f, loop);
    rg_iid yield = rg_yield_of(f, ins->region[0]);
    for (uint32_t k = first; ins->op != RG_PARALLEL && k < g->args.n; k++) {
        rg_type t = rg_type_of(f, g->args.at[k]);
        if (!rg_type_is_int(t) || rg_type_is_unsigned(t))
            continue;
        rg_val next = rg_operand(f, yield, k - first + (ins->op == RG_LOOP));
        rg_poly p = rg_poly_of(f, next, false);
        if (!p.ok || p.n != 1 || p.at[0].coef != 1 || p.at[0].atom[0] != g->args.at[k])
            continue;
        rg_poly a = poly_of(y, g->args.at[k], earlier), b = poly_of(y, g->args.at[k], later);
        rg_poly step = p.constant < 0 ? difference(&a, &b) : difference(&b, &a);
        rg_poly least = {.constant = p.constant < 0 ? -p.constant : p.constant, .ok = true};
        if (p.constant == INT64_MIN)
            continue;
        step = difference(&step, &least);
        add_row(y, &step, p.constant == 0);
    }
}

/* --- asking ---------------------------------------------------------------------------- */

static void start(question *y, const rg_fn *f, rg_rid shared, const rg_access *a,
                  const rg_access *b) {
    y->f = f;
    y->shared = shared;
    y->contradiction = false;
    y->s.nvars = y->s.nrows = 0;
    add_context(y, a->ins, 1);
    add_context(y, b->ins, 2);
}

static bool finish(question *y, const rg_access *a, const rg_access *b) {
    uint32_t n = a->nindices < b->nindices ? a->nindices : b->nindices;
    for (uint32_t k = 0; k < n && !y->contradiction; k++) {
        rg_poly p = poly_of(y, y->f->pool.at[a->at + k], 1);
        rg_poly q = poly_of(y, y->f->pool.at[b->at + k], 2);
        rg_poly e = difference(&p, &q);
        add_equality(y, &e, 6);
    }
    return !y->contradiction && !rg_linear_infeasible(&y->s);
}

/* Side `later` is in a later iteration of a for, or has the larger k-th index of a parallel. */
static void add_iv_order(question *y, rg_iid loop, uint32_t k, unsigned later) {
    const rg_fn *f = y->f;
    const rg_ins *ins = rg_ins_at(f, loop);
    rg_val iv = rg_region_at(f, ins->region[0])->args.at[k];
    rg_poly one = {.constant = 1, .ok = true};
    rg_poly a = poly_of(y, iv, 3 - later), b = poly_of(y, iv, later);
    bool down = ins->op == RG_FOR && (ins->flags & RG_INS_REVERSE);
    rg_poly p = down ? difference(&a, &b) : difference(&b, &a);
    p = difference(&p, &one);
    add_row(y, &p, false);
}

bool rg_may_meet(const rg_fn *f, const rg_access *a, const rg_access *b, rg_rid shared, rg_iid loop,
                 rg_order order) {
    question y;
    if (a->leaf != b->leaf && a->leaf != UINT32_MAX && b->leaf != UINT32_MAX)
        return false;
    if (order == RG_ORDER_ANY) {
        start(&y, f, shared, a, b);
        return finish(&y, a, b);
    }
    const rg_ins *ins = rg_ins_at(f, loop);
    bool both = order == RG_ORDER_OTHER || ins->op == RG_PARALLEL;
    uint32_t ranges = ins->op == RG_PARALLEL ? (uint32_t)ins->imm.i : 1;
    for (uint32_t k = 0; k < ranges; k++) {
        for (unsigned later = 2; later >= (both ? 1u : 2u); later--) {
            start(&y, f, shared, a, b);
            if (ins->op != RG_LOOP)
                add_iv_order(&y, loop, k, later);
            add_carried_order(&y, loop, 3 - later, later);
            if (finish(&y, a, b))
                return true;
        }
    }
    return false;
}
