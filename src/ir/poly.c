/* Polynomials of integer values, by recursion over their definitions.
 *
 * The one question at each step is whether the machine's result is the mathematical one. Signed
 * arithmetic: yes, the source promises it. Unsigned arithmetic and narrowing conversions: only if
 * the range of the mathematical result fits the type; otherwise the value stays an atom. */
#include "ir/poly.h"

#include <string.h>

/* Both recursions walk a graph as if it were a tree: `steps` bounds the walk, and what lies beyond
 * is unknown. */
enum { POLY_STEPS = 400, RANGE_STEPS = 100 };

/* --- ranges ------------------------------------------------------------------------------- */

rg_range rg_range_of_type(rg_type t) {
    switch (t) {
    case RG_BOOL:
        return (rg_range){0, 1};
    case RG_I32:
        return (rg_range){INT32_MIN, INT32_MAX};
    case RG_U32:
        return (rg_range){0, UINT32_MAX};
    case RG_U64:
        return (rg_range){0, UINT64_MAX};
    default:
        return (rg_range){INT64_MIN, INT64_MAX};
    }
}

static rg_range range_of_mem(rg_mem m) {
    switch (m) {
    case RG_M_I8:
        return (rg_range){INT8_MIN, INT8_MAX};
    case RG_M_U8:
        return (rg_range){0, UINT8_MAX};
    case RG_M_I16:
        return (rg_range){INT16_MIN, INT16_MAX};
    case RG_M_U16:
        return (rg_range){0, UINT16_MAX};
    default:
        return rg_range_of_type(rg_mem_value(m));
    }
}

static bool fits(rg_range r, rg_type t) {
    rg_range whole = rg_range_of_type(t);
    return r.lo >= whole.lo && r.hi <= whole.hi;
}

static rg_wide smaller(rg_wide a, rg_wide b) {
    return a < b ? a : b;
}
static rg_wide larger(rg_wide a, rg_wide b) {
    return a > b ? a : b;
}

static rg_range product(rg_range a, rg_range b) {
    rg_wide p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    return (rg_range){smaller(smaller(p[0], p[1]), smaller(p[2], p[3])),
                      larger(larger(p[0], p[1]), larger(p[2], p[3]))};
}

static rg_range range_at(const rg_fn *f, rg_val v, int *steps);

/* A loop variable lies between its bounds. */
static rg_range range_of_arg(const rg_fn *f, rg_val v, int *steps) {
    const rg_value *value = rg_value_at(f, v);
    rg_range r = rg_range_of_type(value->type);
    rg_iid owner = value->region ? rg_region_at(f, value->region)->owner : 0;
    if (!owner || value->index >= rg_first_carried(f, owner))
        return r;
    rg_range lo = range_at(f, rg_operand(f, owner, 2 * value->index), steps);
    rg_range hi = range_at(f, rg_operand(f, owner, 2 * value->index + 1), steps);
    /* An empty range means code that never runs: any answer is right, an ordered one is safe. */
    return lo.lo <= hi.hi - 1 ? (rg_range){lo.lo, hi.hi - 1} : r;
}

static rg_range range_at(const rg_fn *f, rg_val v, int *steps) {
    rg_type t = rg_type_of(f, v);
    rg_range whole = rg_range_of_type(t), r = whole, x, y;
    rg_iid def = rg_value_at(f, v)->def;
    if (rg_type_is_float(t) || --*steps <= 0)
        return whole;
    if (!def)
        return range_of_arg(f, v, steps);
    const rg_ins *ins = rg_ins_at(f, def);
    int64_t c;
    switch (ins->op) {
    case RG_CONST:
        r.lo = r.hi = t == RG_U64 ? (rg_wide)(uint64_t)ins->imm.i : (rg_wide)ins->imm.i;
        return r;
    case RG_EXTENT: /* no address space is larger */
        return (rg_range){0, (rg_wide)1 << 48};
    case RG_SCALAR:
        return range_of_mem(f->scalars.at[ins->imm.i].mem);
    case RG_LOAD:
    case RG_RMW:
        return range_of_mem(rg_ins_leaf(f, ins)->mem);
    case RG_WRAP:
        return range_of_mem((rg_mem)ins->imm.i);
    case RG_STOP:
        return range_at(f, rg_operand(f, def, 0), steps);
    case RG_CAST:
        if (rg_type_is_float(rg_type_of(f, rg_operand(f, def, 0))))
            return whole;
        r = range_at(f, rg_operand(f, def, 0), steps);
        break;
    case RG_ADD:
    case RG_SUB:
    case RG_MUL:
        x = range_at(f, rg_operand(f, def, 0), steps);
        y = range_at(f, rg_operand(f, def, 1), steps);
        if (ins->op == RG_ADD)
            r = (rg_range){x.lo + y.lo, x.hi + y.hi};
        else if (ins->op == RG_SUB)
            r = (rg_range){x.lo - y.hi, x.hi - y.lo};
        else if (t == RG_U64 && (x.hi > INT64_MAX || y.hi > INT64_MAX))
            return whole; /* the product of two u64 does not fit 127 bits */
        else
            r = product(x, y);
        break;
    case RG_NEG:
        x = range_at(f, rg_operand(f, def, 0), steps);
        r = (rg_range){-x.hi, -x.lo};
        break;
    case RG_SELECT:
        x = range_at(f, rg_operand(f, def, 1), steps);
        y = range_at(f, rg_operand(f, def, 2), steps);
        return (rg_range){smaller(x.lo, y.lo), larger(x.hi, y.hi)};
    case RG_AND:
        for (uint32_t k = 0; k < 2; k++)
            if (rg_val_const_int(f, rg_operand(f, def, k), &c) && c >= 0)
                return (rg_range){0, c};
        return whole;
    case RG_DIV:
    case RG_REM:
        if (!rg_val_const_int(f, rg_operand(f, def, 1), &c) || c <= 0)
            return whole;
        x = range_at(f, rg_operand(f, def, 0), steps);
        if (ins->op == RG_DIV)
            return (rg_range){x.lo / c, x.hi / c};
        return (rg_range){x.lo >= 0 ? 0 : -(rg_wide)(c - 1), x.hi <= 0 ? 0 : c - 1};
    case RG_SHR:
        if (!rg_val_const_int(f, rg_operand(f, def, 1), &c) || c < 0 || c > 62)
            return whole;
        x = range_at(f, rg_operand(f, def, 0), steps);
        return x.lo >= 0 ? (rg_range){x.lo >> c, x.hi >> c} : whole;
    default:
        return whole;
    }
    if (fits(r, t))
        return r;
    if (rg_type_is_unsigned(t) || ins->op == RG_CAST)
        return whole; /* it may wrap */
    r = (rg_range){larger(r.lo, whole.lo), smaller(r.hi, whole.hi)};
    return r.lo <= r.hi ? r : whole;
}

rg_range rg_range_of(const rg_fn *f, rg_val v) {
    int steps = RANGE_STEPS;
    return range_at(f, v, &steps);
}

/* --- polynomials -------------------------------------------------------------------------- */

void rg_poly_add_mono(rg_poly *p, const rg_mono *m) {
    if (!p->ok || m->coef == 0)
        return;
    for (uint32_t k = 0; k < p->n; k++) {
        rg_mono *old = &p->at[k];
        if (old->n != m->n || memcmp(old->atom, m->atom, m->n * sizeof *m->atom) != 0)
            continue;
        if (__builtin_add_overflow(old->coef, m->coef, &old->coef))
            p->ok = false;
        else if (old->coef == 0)
            *old = p->at[--p->n];
        return;
    }
    if (p->n == RG_POLY_MAX)
        p->ok = false;
    else
        p->at[p->n++] = *m;
}

rg_poly rg_poly_add(const rg_poly *p, int64_t k, const rg_poly *q) {
    rg_poly r = *p;
    int64_t c;
    r.ok = p->ok && q->ok && !__builtin_mul_overflow(k, q->constant, &c) &&
           !__builtin_add_overflow(r.constant, c, &r.constant);
    for (uint32_t j = 0; r.ok && j < q->n; j++) {
        rg_mono m = q->at[j];
        if (__builtin_mul_overflow(k, m.coef, &m.coef))
            r.ok = false;
        else
            rg_poly_add_mono(&r, &m);
    }
    return r;
}

static rg_poly constant_poly(int64_t c) {
    rg_poly p;
    p.constant = c;
    p.n = 0;
    p.ok = true;
    return p;
}

static rg_poly atom_poly(rg_val v) {
    rg_poly p = constant_poly(0);
    p.n = 1;
    p.at[0] = (rg_mono){.coef = 1, .n = 1, .atom = {v}};
    return p;
}

static bool times_mono(const rg_mono *a, const rg_mono *b, rg_mono *out) {
    if (a->n + b->n > RG_POLY_DEGREE || __builtin_mul_overflow(a->coef, b->coef, &out->coef))
        return false;
    uint32_t i = 0, j = 0;
    out->n = 0;
    while (i < a->n || j < b->n)
        out->atom[out->n++] =
            j == b->n || (i < a->n && a->atom[i] <= b->atom[j]) ? a->atom[i++] : b->atom[j++];
    return true;
}

bool rg_poly_times(const rg_poly *p, const rg_poly *q, rg_poly *r) {
    *r = constant_poly(0);
    if (!p->ok || !q->ok || __builtin_mul_overflow(p->constant, q->constant, &r->constant))
        return false;
    for (uint32_t k = 0; k < q->n; k++) {
        rg_mono m = q->at[k];
        if (__builtin_mul_overflow(m.coef, p->constant, &m.coef))
            return false;
        rg_poly_add_mono(r, &m);
    }
    for (uint32_t j = 0; j < p->n; j++) {
        rg_mono m = p->at[j];
        if (__builtin_mul_overflow(m.coef, q->constant, &m.coef))
            return false;
        rg_poly_add_mono(r, &m);
        for (uint32_t k = 0; k < q->n; k++) {
            if (!times_mono(&p->at[j], &q->at[k], &m))
                return false;
            rg_poly_add_mono(r, &m);
        }
    }
    return r->ok;
}

/* Is the result of an unsigned operation the mathematical one? */
static bool exact_unsigned(const rg_fn *f, rg_iid def, rg_type t) {
    const rg_ins *ins = rg_ins_at(f, def);
    rg_range x = rg_range_of(f, rg_operand(f, def, 0)), y, r;
    int64_t c;
    if (ins->op == RG_SHL) {
        if (!rg_val_const_int(f, rg_operand(f, def, 1), &c) || c < 0 || c > 62)
            return false;
        return fits((rg_range){x.lo << c, x.hi << c}, t);
    }
    if (ins->op == RG_NEG)
        return false;
    y = rg_range_of(f, rg_operand(f, def, 1));
    if (ins->op == RG_ADD)
        r = (rg_range){x.lo + y.lo, x.hi + y.hi};
    else if (ins->op == RG_SUB)
        r = (rg_range){x.lo - y.hi, x.hi - y.lo};
    else if (x.hi > INT64_MAX || y.hi > INT64_MAX)
        return false;
    else
        r = product(x, y);
    return fits(r, t);
}

static rg_poly poly_at(const rg_fn *f, rg_val v, bool products, int *steps) {
    rg_iid def = rg_value_at(f, v)->def;
    rg_type t = rg_type_of(f, v);
    if (!def || !rg_type_is_int(t) || --*steps <= 0)
        return atom_poly(v);
    const rg_ins *ins = rg_ins_at(f, def);
    rg_poly p, q, r;
    int64_t c;
    switch (ins->op) {
    case RG_CONST:
        return t == RG_U64 && ins->imm.i < 0 ? atom_poly(v) : constant_poly(ins->imm.i);
    case RG_CAST: {
        rg_val x = rg_operand(f, def, 0);
        rg_type from = rg_type_of(f, x);
        if (!rg_type_is_int(from) || !fits(rg_range_of(f, x), t))
            return atom_poly(v);
        return poly_at(f, x, products, steps);
    }
    case RG_NEG:
        if (rg_type_is_unsigned(t))
            return atom_poly(v);
        p = poly_at(f, rg_operand(f, def, 0), products, steps);
        q = constant_poly(0);
        r = rg_poly_add(&q, -1, &p);
        return r.ok ? r : atom_poly(v);
    case RG_ADD:
    case RG_SUB:
    case RG_MUL:
        if (rg_type_is_unsigned(t) && !exact_unsigned(f, def, t))
            return atom_poly(v);
        p = poly_at(f, rg_operand(f, def, 0), products, steps);
        q = poly_at(f, rg_operand(f, def, 1), products, steps);
        if (ins->op != RG_MUL) {
            r = rg_poly_add(&p, ins->op == RG_ADD ? 1 : -1, &q);
            return r.ok ? r : atom_poly(v);
        }
        if (!products && p.n && q.n)
            return atom_poly(v);
        return rg_poly_times(&p, &q, &r) ? r : atom_poly(v);
    case RG_SHL:
        if (!rg_val_const_int(f, rg_operand(f, def, 1), &c) || c < 0 || c > 61 ||
            (rg_type_is_unsigned(t) && !exact_unsigned(f, def, t)))
            return atom_poly(v);
        p = poly_at(f, rg_operand(f, def, 0), products, steps);
        q = constant_poly(0);
        r = rg_poly_add(&q, (int64_t)1 << c, &p);
        return r.ok ? r : atom_poly(v);
    default:
        return atom_poly(v);
    }
}

rg_poly rg_poly_of(const rg_fn *f, rg_val v, bool products) {
    int steps = POLY_STEPS;
    return poly_at(f, v, products, &steps);
}
