/* What the addto's of a parallel reach, as polynomials of its loop variables.
 *
 * An index may be a variable plus a constant on an axis of its own, x[i - 1][j], or be made of
 * several variables, x[(i - 1) * n + j]: the strides of the variables (n and 1) are what such
 * addto's have in common, and their differences are multiples of the strides: the shifts.
 *
 * Where the index comes out of a branch or a select, x[i > 0 ? i - 1 : 0], each case is a scatter
 * of its own. Such a case, or x[0] under `if (i == 0)`, need not mention the variable, if there is
 * one iteration only in which it happens: x[0] is x[i] there. */
#include "ad/stencil.h"

#include <string.h>

#include "ir/meet.h"

enum { MAX_CHOICES = 4, MAX_CASES = 16, MAX_PINS = 8 };

typedef struct finder {
    const rg_nest *s;
    rg_arena *scratch;
    rg_iid addto;
    rg_test tests[RG_STENCIL_TESTS];
    rg_choice choices[MAX_CHOICES];
    uint32_t ntests, nchoices;
    rg_scatters *out;
} finder;

/* --- one addto ---------------------------------------------------------------------------- */

/* p with q for the atom v. */
static bool replace(rg_poly *p, rg_val v, const rg_poly *q) {
    rg_poly r = {.constant = p->constant, .ok = true};
    for (uint32_t k = 0; k < p->n; k++) {
        rg_mono m = p->at[k];
        uint32_t j = 0;
        while (j < m.n && m.atom[j] != v)
            j++;
        if (j == m.n) {
            rg_poly_add_mono(&r, &m);
            continue;
        }
        rg_poly rest = {.ok = true}, product;
        if (m.n == 1) {
            rest.constant = m.coef;
        } else {
            memmove(m.atom + j, m.atom + j + 1, (m.n - j - 1) * sizeof *m.atom);
            m.n--;
            rg_poly_add_mono(&rest, &m);
            if (!replace(&rest, v, q))
                return false;
        }
        if (!rg_poly_times(&rest, q, &product))
            return false;
        r = rg_poly_add(&r, 1, &product);
    }
    *p = r;
    return r.ok;
}

static rg_poly index_of(const finder *d, uint32_t k) {
    const rg_fn *f = d->s->f;
    rg_poly p = rg_poly_of(f, rg_operand(f, d->addto, k), true);
    for (uint32_t j = 0; j < d->nchoices && p.ok; j++) {
        rg_poly q = rg_poly_of(f, d->choices[j].is, true);
        p.ok = replace(&p, d->choices[j].v, &q);
    }
    return p;
}

static bool in_body(const finder *d, rg_val v) {
    return rg_region_inside(d->s->f, rg_val_region(d->s->f, v), d->s->body);
}

static bool is_choice(const finder *d, rg_val v) {
    rg_op op = rg_def_op(d->s->f, v);
    return (op == RG_IF || op == RG_SELECT) && in_body(d, v);
}

/* Each term has one variable at most, and else what was there before the loop. */
static bool is_understood(const finder *d, const rg_poly *p) {
    uint32_t range;
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t variables = 0;
        for (uint32_t j = 0; j < p->at[k].n; j++) {
            rg_val v = (rg_val)p->at[k].atom[j];
            if (rg_nest_variable(d->s, v, &range))
                variables++;
            else if (in_body(d, v))
                return false;
        }
        if (variables > 1)
            return false;
    }
    return p->ok;
}

static bool has(const rg_nest *s, const rg_mono *m, uint32_t range, uint32_t *at) {
    for (*at = 0; *at < m->n; ++*at)
        if (m->atom[*at] == rg_region_at(s->f, s->body)->args.at[range])
            return true;
    return false;
}

/* What the variable of a range is multiplied by. */
static rg_poly stride_of(const rg_nest *s, const rg_poly *p, uint32_t range) {
    rg_poly r = {.ok = p->ok};
    for (uint32_t k = 0; k < p->n; k++) {
        rg_mono m = p->at[k];
        uint32_t j;
        if (!has(s, &m, range, &j))
            continue;
        if (m.n == 1) {
            r.constant = m.coef;
            continue;
        }
        memmove(m.atom + j, m.atom + j + 1, (m.n - j - 1) * sizeof *m.atom);
        m.n--;
        rg_poly_add_mono(&r, &m);
    }
    return r;
}

/* Unsigned subtractions that do not wrap where the iterations lie: i - 1 where i > 0. */
static bool settle(const finder *d, rg_poly *p, const rg_reach *reach) {
    const rg_nest *s = d->s;
    const rg_fn *f = s->f;
    int64_t c;
    for (uint32_t k = 0; k < p->n; k++) {
        rg_val v = (rg_val)p->at[k].atom[0];
        if (p->at[k].n != 1 || rg_def_op(f, v) != RG_SUB || !in_body(d, v) ||
            !rg_type_is_unsigned(rg_type_of(f, v)) ||
            !rg_val_const_int(f, rg_operand(f, rg_value_at(f, v)->def, 1), &c) || c < 0)
            continue;
        rg_poly q = rg_poly_of(f, rg_operand(f, rg_value_at(f, v)->def, 0), true);
        uint32_t r;
        if (!q.ok || q.n != 1 || q.at[0].n != 1 || q.at[0].coef != 1 ||
            !rg_nest_variable(s, (rg_val)q.at[0].atom[0], &r) || s->lo[r].n)
            continue;
        int64_t least = 0;
        if (__builtin_add_overflow(s->lo[r].constant, reach[r].from, &least) ||
            __builtin_add_overflow(least, q.constant, &least) || least < c)
            continue;
        const rg_poly by = {.constant = c, .ok = true};
        q = rg_poly_add(&q, -1, &by);
        return replace(p, v, &q) && settle(d, p, reach);
    }
    return p->ok;
}

static rg_poly plus(const rg_poly *p, int64_t by) {
    const rg_poly q = {.constant = by, .ok = true};
    return rg_poly_add(p, 1, &q);
}

/* x, whose index does not tell the iterations of ranges k and up apart: one for each, if they are
 * few. */
static bool pin(finder *d, const rg_scatter *x, uint32_t k) {
    const rg_nest *s = d->s;
    while (k < s->ranges && x->axis[k] != UINT32_MAX)
        k++;
    if (k == s->ranges) {
        if (d->out->n == MAX_CASES)
            return false;
        rg_scatter *y = RG_NEW(d->scratch, rg_scatter);
        *y = *x;
        RG_PUSH(d->scratch, d->out, y);
        return true;
    }
    const rg_reach *r = &x->reach[k];
    bool low = r->below != RG_NO_BOUND;
    if (!low && r->above == RG_NO_BOUND)
        return false;
    int64_t n = low ? r->below - r->from : r->above - r->to;
    if (n > MAX_PINS)
        return false;
    for (int64_t j = 0; j < n; j++) {
        rg_scatter one = *x;
        one.pin[k] = RG_NEW(d->scratch, rg_poly);
        if (low) {
            one.reach[k].from = r->from + j;
            one.reach[k].below = r->from + j + 1;
            *one.pin[k] = plus(&s->lo[k], r->from + j);
        } else {
            one.reach[k].to = r->to + j;
            one.reach[k].above = r->to + j + 1;
            *one.pin[k] = plus(&s->hi[k], -(r->to + j + 1));
        }
        if (!one.pin[k]->ok || !pin(d, &one, k + 1))
            return false;
    }
    return true;
}

static bool finish(finder *d) {
    const rg_nest *s = d->s;
    const rg_fn *f = s->f;
    uint32_t rank = rg_array_at(f, rg_ins_at(f, d->addto)->array)->rank;
    rg_scatter x = {.addto = d->addto, .ntests = d->ntests, .nchoices = d->nchoices};
    x.index = RG_NEW_N(d->scratch, rg_poly, rank + 1);
    x.tests = RG_NEW_N(d->scratch, rg_test, d->ntests + 1);
    x.choices = RG_NEW_N(d->scratch, rg_choice, d->nchoices + 1);
    for (uint32_t k = 0; k < d->nchoices; k++)
        x.choices[k] = d->choices[k];
    for (uint32_t k = 0; k < s->ranges; k++) {
        x.axis[k] = UINT32_MAX;
        x.reach[k] = (rg_reach){.below = RG_NO_BOUND, .above = RG_NO_BOUND};
    }
    for (uint32_t k = 0; k < d->ntests; k++) {
        x.tests[k] = d->tests[k];
        x.tests[k].exact = rg_guard_assume(s, d->tests[k].c, d->tests[k].truth, x.reach);
    }
    for (uint32_t k = 0; k < rank; k++) {
        x.index[k] = index_of(d, k);
        if (rg_grad_invariant(f, rg_operand(f, d->addto, k), s->body)) {
            x.fixed |= 1u << k;
            continue;
        }
        if (!settle(d, &x.index[k], x.reach) || !is_understood(d, &x.index[k]))
            return false;
        for (uint32_t j = 0; j < s->ranges; j++) {
            rg_poly stride = stride_of(s, &x.index[k], j);
            if (stride.n == 0 && stride.constant == 0)
                continue;
            if (x.axis[j] != UINT32_MAX)
                return false;
            x.axis[j] = k;
        }
    }
    return pin(d, &x, 0);
}

/* The first branch or select that is still in an index. */
static rg_val open_choice(const finder *d) {
    const rg_fn *f = d->s->f;
    uint32_t rank = rg_array_at(f, rg_ins_at(f, d->addto)->array)->rank;
    for (uint32_t k = 0; k < rank; k++) {
        if (rg_grad_invariant(f, rg_operand(f, d->addto, k), d->s->body))
            continue;
        rg_poly p = index_of(d, k);
        for (uint32_t j = 0; p.ok && j < p.n; j++)
            for (uint32_t i = 0; i < p.at[j].n; i++)
                if (is_choice(d, (rg_val)p.at[j].atom[i]))
                    return (rg_val)p.at[j].atom[i];
    }
    return 0;
}

static bool cases(finder *d) {
    const rg_fn *f = d->s->f;
    rg_val v = open_choice(d);
    if (!v)
        return finish(d);
    if (d->nchoices == MAX_CHOICES || d->ntests == RG_STENCIL_TESTS)
        return false;
    rg_iid def = rg_value_at(f, v)->def;
    rg_val c = rg_operand(f, def, 0);
    for (uint32_t side = 0; side < 2; side++) {
        bool decided = false, possible = true;
        for (uint32_t k = 0; k < d->ntests; k++)
            if (d->tests[k].c == c) {
                decided = true;
                possible = possible && d->tests[k].truth == !side;
            }
        if (!possible)
            continue;
        rg_val is = rg_def_op(f, v) == RG_SELECT
                        ? rg_operand(f, def, 1 + side)
                        : rg_operand(f, rg_yield_of(f, rg_ins_at(f, def)->region[side]),
                                     rg_value_at(f, v)->index);
        uint32_t ntests = d->ntests;
        if (!decided)
            d->tests[d->ntests++] = (rg_test){.c = c, .truth = !side};
        d->choices[d->nchoices++] = (rg_choice){v, is};
        bool good = d->out->n < MAX_CASES && cases(d);
        d->nchoices--;
        d->ntests = ntests;
        if (!good)
            return false;
    }
    return true;
}

bool rg_stencil_scatters(const rg_nest *s, rg_arena *scratch, rg_iid addto, rg_scatters *out) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, addto);
    const rg_leaf *leaf = rg_ins_leaf(f, ins);
    uint32_t rank = rg_array_at(f, ins->array)->rank, n = rg_ins_nindices(f, ins);
    if ((leaf->mem != RG_M_F32 && leaf->mem != RG_M_F64) || rank > 32)
        return false;
    for (uint32_t k = rank; k < n; k++) /* inside the element */
        if (!rg_grad_invariant(f, rg_operand(f, addto, k), s->body))
            return false;
    finder d = {.s = s, .scratch = scratch, .addto = addto};
    rg_scatters found = {0};
    d.out = &found;
    uint32_t depth = 0;
    for (rg_rid r = ins->parent; r != s->body; r = rg_ins_at(f, rg_region_at(f, r)->owner)->parent)
        depth++;
    if (depth > RG_STENCIL_TESTS)
        return false;
    d.ntests = depth;
    for (rg_rid r = ins->parent; r != s->body;) {
        rg_iid i = rg_region_at(f, r)->owner;
        d.tests[--depth] =
            (rg_test){.c = rg_operand(f, i, 0), .truth = r == rg_ins_at(f, i)->region[0]};
        r = rg_ins_at(f, i)->parent;
    }
    if (!cases(&d))
        return false;
    for (uint32_t k = 0; k < found.n; k++) {
        found.at[k]->cases = found.n;
        RG_PUSH(scratch, out, found.at[k]);
    }
    return true;
}

/* --- several ------------------------------------------------------------------------------ */

/* The term of most atoms: what a stride is known by. */
static const rg_mono *lead(const rg_poly *p) {
    const rg_mono *best = NULL;
    for (uint32_t k = 0; k < p->n; k++)
        if (!best || p->at[k].n > best->n)
            best = &p->at[k];
    return best;
}

static bool is_larger(const rg_poly *a, const rg_poly *b) {
    const rg_mono *x = lead(a), *y = lead(b);
    if (x || y)
        return (x ? x->n : 0) > (y ? y->n : 0);
    return a->constant > b->constant;
}

/* d as a sum of strides of an axis; what is left must be nothing. */
static bool decompose(const rg_nest *s, const rg_stencil *x, uint32_t axis, rg_poly d,
                      int64_t *shift) {
    int64_t last = 0; /* the smallest stride, where it is a number */
    for (uint32_t k = 0; k < s->ranges; k++) {
        uint32_t r = x->order[k];
        if (x->axis[r] == axis && x->stride[r].n == 0)
            last = x->stride[r].constant;
    }
    for (uint32_t k = 0; k < s->ranges && d.ok; k++) {
        uint32_t r = x->order[k];
        if (x->axis[r] != axis)
            continue;
        const rg_poly *by = &x->stride[r];
        const rg_mono *m = lead(by);
        int64_t c = 0;
        if (d.constant > INT64_MAX / 2 || d.constant < INT64_MIN / 2)
            return false;
        if (m) {
            for (uint32_t j = 0; j < d.n; j++)
                if (d.at[j].n == m->n && memcmp(d.at[j].atom, m->atom, m->n * sizeof *m->atom) == 0)
                    c = d.at[j].coef / m->coef;
        } else if (by->constant == last) {
            c = d.constant / by->constant;
        } else { /* to the nearest multiple: what is left may be negative */
            int64_t half = by->constant / 2;
            c = d.constant >= 0 ? (d.constant + half) / by->constant
                                : -((half - d.constant) / by->constant);
        }
        if (c > RG_STENCIL_SHIFT || c < -RG_STENCIL_SHIFT)
            return false;
        shift[r] = c;
        d = rg_poly_add(&d, -c, by);
    }
    return d.ok && d.n == 0 && d.constant == 0;
}

static bool equal(const rg_poly *a, const rg_poly *b) {
    rg_poly d = rg_poly_add(a, -1, b);
    return d.ok && d.n == 0 && d.constant == 0;
}

/* Strides and their order, from a scatter that has all variables; its own shifts are zero, or where
 * nothing but shifts is in an index, those. */
static bool shape(const rg_nest *s, rg_scatter *a, rg_stencil *x) {
    uint32_t rank = rg_array_at(s->f, rg_ins_at(s->f, a->addto)->array)->rank, all = a->fixed;
    for (uint32_t k = 0; k < s->ranges; k++) {
        if (a->axis[k] == UINT32_MAX)
            return false;
        x->axis[k] = a->axis[k];
        x->stride[k] = stride_of(s, &a->index[a->axis[k]], k);
        const rg_poly *by = &x->stride[k];
        if (!by->ok || (by->n ? lead(by)->coef : by->constant) <= 0)
            return false;
        uint32_t j = k;
        for (; j > 0 && is_larger(by, &x->stride[x->order[j - 1]]); j--)
            x->order[j] = x->order[j - 1];
        x->order[j] = k;
        if (a->fixed >> a->axis[k] & 1)
            return false;
        all |= 1u << a->axis[k];
    }
    for (uint32_t k = 0; k < rank; k++)
        if (!(all >> k & 1))
            return false; /* one of several elements, which are not told apart */
    for (uint32_t k = 0; k < s->ranges; k++) {
        uint32_t axis = x->axis[k], n = 0;
        rg_poly base = a->index[axis];
        for (uint32_t j = 0; j < s->ranges; j++) {
            if (x->axis[j] != axis)
                continue;
            rg_poly variable = {.n = 1, .ok = true}, term;
            variable.at[0] =
                (rg_mono){.coef = 1, .n = 1, .atom = {rg_region_at(s->f, s->body)->args.at[j]}};
            if (!rg_poly_times(&variable, &x->stride[j], &term))
                return false;
            base = rg_poly_add(&base, -1, &term);
            n++;
        }
        int64_t shift[RG_NEST_RANGES] = {0};
        bool only = base.ok && decompose(s, x, axis, base, shift);
        a->shift[k] = only ? shift[k] : 0;
        if (only && n == 1 && x->stride[k].n == 0 && x->stride[k].constant == 1)
            x->plain |= 1u << axis;
    }
    return true;
}

/* Does b, shifted, reach what a does? Then its shifts are set. */
static bool fits(const rg_nest *s, const rg_stencil *x, const rg_scatter *a, rg_scatter *b) {
    const rg_fn *f = s->f;
    const rg_ins *p = rg_ins_at(f, a->addto);
    uint32_t n = rg_ins_nindices(f, p), rank = rg_array_at(f, p->array)->rank, moving = 0;
    int64_t shift[RG_NEST_RANGES] = {0};
    for (uint32_t k = 0; k < s->ranges; k++) {
        if (b->axis[k] != UINT32_MAX && b->axis[k] != x->axis[k])
            return false;
        moving |= 1u << x->axis[k];
    }
    for (uint32_t k = 0; k < n; k++)
        if ((k >= rank || !(moving >> k & 1)) &&
            !rg_grad_same_value(f, rg_operand(f, a->addto, k), rg_operand(f, b->addto, k)))
            return false;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (!(moving >> axis & 1))
            continue;
        rg_poly d = rg_poly_add(&b->index[axis], -1, &a->index[axis]);
        for (uint32_t k = 0; k < s->ranges; k++) {
            if (x->axis[k] != axis)
                continue;
            if (b->axis[k] != UINT32_MAX) {
                rg_poly stride = stride_of(s, &b->index[axis], k);
                if (!equal(&stride, &x->stride[k]))
                    return false;
                continue;
            }
            /* stride * (variable - pin) is nothing in the only iteration */
            rg_poly away = {.n = 1, .ok = true}, term;
            away.at[0] =
                (rg_mono){.coef = 1, .n = 1, .atom = {rg_region_at(f, s->body)->args.at[k]}};
            away = rg_poly_add(&away, -1, b->pin[k]);
            if (!rg_poly_times(&away, &x->stride[k], &term))
                return false;
            d = rg_poly_add(&d, 1, &term);
        }
        if (!d.ok || !decompose(s, x, axis, d, shift))
            return false;
    }
    for (uint32_t k = 0; k < s->ranges; k++) {
        shift[k] += a->shift[k];
        if (shift[k] > RG_STENCIL_SHIFT || shift[k] < -RG_STENCIL_SHIFT)
            return false;
    }
    memcpy(b->shift, shift, sizeof shift);
    return true;
}

/* An addto is taken with all of its cases or not at all. */
static void drop_parts(rg_scatters *all) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < all->n; k++) {
        uint32_t have = 0;
        for (uint32_t j = 0; j < all->n; j++)
            have += all->at[j]->addto == all->at[k]->addto;
        all->at[k]->taken = have == all->at[k]->cases;
    }
    for (uint32_t k = 0; k < all->n; k++)
        if (all->at[k]->taken)
            all->at[n++] = all->at[k];
    all->n = n;
}

static int64_t distance(const rg_nest *s, const rg_scatter *x) {
    int64_t sum = 0;
    for (uint32_t k = 0; k < s->ranges; k++)
        sum += x->shift[k] < 0 ? -x->shift[k] : x->shift[k];
    return 8 * sum + x->nchoices;
}

bool rg_stencil_of(const rg_nest *s, rg_arena *scratch, const rg_scatters *all, uint32_t first,
                   int *questions, rg_stencil *out) {
    const rg_fn *f = s->f;
    rg_scatter *a = all->at[first];
    *out = (rg_stencil){0};
    if (!shape(s, a, out))
        return false;
    const rg_ins *p = rg_ins_at(f, a->addto);
    for (uint32_t k = 0; k < all->n; k++) {
        rg_scatter *b = all->at[k];
        const rg_ins *q = rg_ins_at(f, b->addto);
        if (b->taken || q->array != p->array || q->leaf != p->leaf)
            continue;
        if (b != a && (--*questions < 0 || !fits(s, out, a, b)))
            continue;
        RG_PUSH(scratch, &out->all, b);
    }
    drop_parts(&out->all);
    for (uint32_t k = 0; k < out->all.n; k++) {
        const rg_scatter *x = out->all.at[k];
        bool whole = true;
        for (uint32_t j = 0; j < s->ranges; j++)
            whole = whole && x->axis[j] != UINT32_MAX;
        if (whole && (!out->like || distance(s, x) < distance(s, out->like)))
            out->like = x;
    }
    return out->all.n > 1 && out->like;
}

bool rg_stencil_apart(const rg_nest *s, const rg_stencil *x, const int64_t *from,
                      const int64_t *to) {
    for (uint32_t k = s->ranges; k-- > 0;) {
        uint32_t r = x->order[k], outer = k;
        bool innermost = true;
        for (uint32_t j = k + 1; j < s->ranges; j++)
            innermost = innermost && x->axis[x->order[j]] != x->axis[r];
        if (innermost && x->stride[r].n)
            return false; /* it may be zero */
        while (outer-- > 0 && x->axis[x->order[outer]] != x->axis[r])
            ;
        if (outer == UINT32_MAX)
            continue;
        /* All elements of this range lie within one step of the next larger stride. */
        const rg_poly by = {.constant = to[r] - from[r], .ok = true};
        rg_poly width = rg_poly_add(&s->hi[r], -1, &s->lo[r]), all;
        width = rg_poly_add(&width, 1, &by);
        if (!rg_poly_times(&width, &x->stride[r], &all))
            return false;
        rg_poly room = rg_poly_add(&x->stride[x->order[outer]], -1, &all);
        if (!room.ok || room.n || room.constant < 0)
            return false;
    }
    return true;
}
