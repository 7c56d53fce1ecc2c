/* Stencils: from scattering to gathering.
 *
 * The adjoint of y[i] = f(x[i-1], x[i], x[i+1]) adds to x_b[i-1], x_b[i] and x_b[i+1] in iteration
 * i, and neighbours meet. Turned around, each element of x_b collects what the iterations around it
 * would have added:
 *
 *     parallel i { ..., x_b[i-1] += a(i); x_b[i] += b(i); x_b[i+1] += c(i); y_b[i] = 0 }
 *
 * becomes a parallel over the elements g, which computes a(g+1), b(g) and c(g-1) again, followed by
 * what else the loop did:
 *
 *     parallel g { x_b[g] += a(g+1) + b(g) + c(g-1) };   parallel i { ..., y_b[i] = 0 }
 *
 * The elements that every shift reaches from within the bounds are the interior: no guards, so that
 * compilers vectorise it. The rest, two strips for each axis, tests each shifted iteration.
 *
 * A guard of the source, as in i > 0 ? x[i-1] : 0, that compares i with the loop's bounds makes
 * these bounds narrower for its addto (guard.c): nothing is left of it in the interior. Any other
 * is evaluated for the iteration that the contribution comes from.
 *
 * It is right if what a, b and c load is, in the loop as it was, still what it was before the loop,
 * and if the loop does nothing but add to those elements of x_b. Anything not understood stays a
 * scatter. */
#include "ad/ad.h"
#include "ad/stencil.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/meet.h"

#include <string.h>

enum {
    MAX_RANGES = RG_NEST_RANGES,
    MAX_SLICE = 96,      /* instructions computed again for one contribution */
    MAX_COPIES = 4000,   /* instructions made for one gradient array */
    MAX_SCATTERS = 2000, /* of one parallel */
    MAX_QUESTIONS = 20000,
    MARGIN = 4 * RG_STENCIL_SHIFT /* of numbers to which shifts are added */
};

/* Where the elements of a stencil begin and end, by the loop's bounds: on the axis of range k from
 * lo + first[k] up to hi + last[k] there may be contributions; from lo + from[k] up to hi + to[k]
 * it is certain which. */
typedef struct bounds {
    int64_t first[MAX_RANGES], from[MAX_RANGES], to[MAX_RANGES], last[MAX_RANGES];
} bounds;

typedef struct state {
    rg_fn *f;
    const rg_activity *act;
    rg_arena *scratch;
    rg_build *b;
    rg_nest nest; /* the parallel at hand */
    rg_iid p;
    rg_rid body;
    uint32_t ranges;
    rg_iids writes;       /* all that p writes */
    rg_val *map;          /* [vals.n as it was] copy of a value of p's body */
    uint8_t *checked;     /* [vals.n as it was] */
    rg_iids seen;         /* values that are checked */
    rg_grad_index *index; /* of p's body, which gathering takes addto's out of and no more */
    rg_iids undo;         /* values with a copy, in the order they got it */
    uint32_t *stamp;      /* [vals.n as it was] copy_around: `stamps` where it has been */
    uint32_t stamps;
    rg_iids around;        /* values that it found */
    uint32_t slice;        /* instructions of the slices checked so far */
    const rg_reach *known; /* [ranges] where the iteration that is copied lies, or NULL */
} state;

/* --- what may be gathered ----------------------------------------------------------------- */

static void collect(state *s, rg_rid r, rg_scatters *out) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (rg_writes_element(ins) || ins->op == RG_COPY)
            RG_PUSH(s->scratch, &s->writes, g->ins.at[k]);
        if (ins->op == RG_ADDTO && (ins->flags & RG_INS_ACCUM) && out && out->n < MAX_SCATTERS)
            rg_stencil_scatters(&s->nest, s->scratch, g->ins.at[k], out);
        for (int j = 0; j < 2; j++) /* an addto inside an inner loop is no single contribution */
            if (ins->region[j])
                collect(s, ins->region[j], ins->op == RG_IF ? out : NULL);
    }
}

/* Is what the load reads in an iteration of p what was there before p? */
static bool reads_what_was(const state *s, rg_iid load) {
    const rg_fn *f = s->f;
    rg_aid a = rg_ins_at(f, load)->array;
    for (uint32_t k = 0; k < s->writes.n; k++) {
        rg_iid w = s->writes.at[k];
        const rg_ins *ins = rg_ins_at(f, w);
        if (!rg_grad_same(f, s->act, ins->array, a))
            continue;
        if (rg_grad_may_meet(f, s->act, load, w, rg_ins_at(f, s->p)->parent, s->p))
            return false; /* another iteration writes it */
        rg_rid common = rg_common_region(f, rg_ins_at(f, load)->parent, ins->parent);
        /* In its own iteration a write may come after the load only. Common loops inside p would
         * make "after" a matter of their iterations too. */
        if (rg_loop_around(f, common, s->body))
            return false;
        rg_iid x = rg_ancestor_in(f, load, common), y = rg_ancestor_in(f, w, common);
        const rg_region *g = rg_region_at(f, common);
        bool write_first = false;
        for (uint32_t j = 0; j < g->ins.n && g->ins.at[j] != x; j++)
            write_first = write_first || g->ins.at[j] == y;
        if (write_first && rg_grad_may_meet(f, s->act, load, w, common, 0))
            return false;
    }
    return true;
}

/* Can v be computed again in another parallel: pure ops, loads of what does not change, ifs of
 * such? */
static bool can_copy(state *s, rg_val v) {
    const rg_fn *f = s->f;
    if (!rg_region_inside(f, rg_val_region(f, v), s->body) || s->checked[v])
        return true;
    s->checked[v] = 1;
    RG_PUSH(s->scratch, &s->seen, v);
    const rg_value *value = rg_value_at(f, v);
    if (!value->def) /* a loop variable of p; nothing else has arguments here but accumulators */
        return value->region == s->body && value->index < s->ranges;
    const rg_ins *ins = rg_ins_at(f, value->def);
    if (++s->slice > MAX_SLICE)
        return false;
    if (ins->op == RG_IF) {
        for (int j = 0; j < 2; j++) {
            rg_iid yield = rg_yield_of(f, ins->region[j]);
            for (uint32_t k = 0; k < ins->nres; k++)
                if (!can_copy(s, rg_operand(f, yield, k)))
                    return false;
        }
    } else if (ins->op == RG_LOAD) {
        const rg_array *array = rg_array_at(f, ins->array);
        /* A local of one iteration is not there for another one. */
        for (uint32_t i = 1; array->kind == RG_ARR_LOCAL && i < f->ins.n; i++)
            if (f->ins.at[i].op == RG_ALLOC && f->ins.at[i].array == ins->array &&
                f->ins.at[i].parent && rg_region_inside(f, f->ins.at[i].parent, s->body))
                return false;
        if ((ins->flags & RG_INS_ATOMIC) || !reads_what_was(s, value->def))
            return false;
    } else if (!rg_op_is_pure((rg_op)ins->op)) {
        return false;
    }
    for (uint32_t k = 0; k < ins->nopnd; k++)
        if (!can_copy(s, rg_operand(f, value->def, k)))
            return false;
    return true;
}

/* The contribution's value and the conditions that it stands under. */
static bool can_copy_contribution(state *s, const rg_scatter *x) {
    s->slice = 0;
    while (s->seen.n)
        s->checked[s->seen.at[--s->seen.n]] = 0;
    if (!can_copy(s, rg_operand(s->f, x->addto, rg_ins_at(s->f, x->addto)->nopnd - 1)))
        return false;
    for (uint32_t k = 0; k < x->ntests; k++)
        if (!x->tests[k].exact && !can_copy(s, x->tests[k].c))
            return false;
    return true;
}

/* --- copies ------------------------------------------------------------------------------- */

static void set_copy(state *s, rg_val v, rg_val copy) {
    s->map[v] = copy;
    RG_PUSH(s->scratch, &s->undo, v);
}

/* Copies made in a region are of no use once it is left. */
static void forget(state *s, uint32_t mark) {
    while (s->undo.n > mark)
        s->map[s->undo.at[--s->undo.n]] = 0;
}

static rg_val copy_of(state *s, rg_val v);

/* What v, used in the branches of if i, needs from around the if: copied before it, since copies
 * made in one branch are of no use to the other, and in a chain of ifs would double each time. */
static void copy_around(state *s, rg_val v, rg_iid i) {
    const rg_fn *f = s->f;
    rg_rid r = rg_val_region(f, v);
    if (!rg_region_inside(f, r, s->body) || s->map[v] || s->stamp[v] == s->stamps)
        return;
    s->stamp[v] = s->stamps;
    if (!rg_region_inside(f, r, rg_ins_at(f, i)->region[0]) &&
        !rg_region_inside(f, r, rg_ins_at(f, i)->region[1])) {
        RG_PUSH(s->scratch, &s->around, v);
        return;
    }
    rg_iid def = rg_value_at(f, v)->def;
    const rg_ins *ins = rg_ins_at(f, def);
    for (uint32_t k = 0; k < ins->nopnd; k++)
        copy_around(s, rg_operand(f, def, k), i);
    for (int j = 0; j < 2; j++)
        if (ins->region[j])
            copy_around(s, rg_operand(f, rg_yield_of(f, ins->region[j]), rg_value_at(f, v)->index),
                        i);
}

static void copy_if(state *s, rg_iid i) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_val when = copy_of(s, rg_operand(f, i, 0));
    uint32_t first = s->around.n;
    s->stamps++;
    for (int j = 0; j < 2; j++)
        for (uint32_t k = 0; k < ins.nres; k++)
            copy_around(s, rg_operand(f, rg_yield_of(f, ins.region[j]), k), i);
    for (uint32_t k = first; k < s->around.n; k++)
        copy_of(s, s->around.at[k]);
    s->around.n = first;
    rg_iid c = rg_b_if(b, when);
    rg_val *out = RG_NEW_N(s->scratch, rg_val, ins.nres);
    for (int j = 0; j < 2; j++) {
        uint32_t mark = s->undo.n;
        rg_b_push(b, rg_ins_at(f, c)->region[j]);
        rg_iid yield = rg_yield_of(f, ins.region[j]);
        for (uint32_t k = 0; k < ins.nres; k++)
            out[k] = copy_of(s, rg_operand(f, yield, k));
        rg_b_yield(b, out, ins.nres);
        rg_b_pop(b);
        forget(s, mark);
    }
    rg_b_if_done(b, c);
    for (uint32_t k = 0; k < ins.nres; k++)
        set_copy(s, rg_result(f, i, k), rg_result(f, c, k));
}

static rg_val copy_of(state *s, rg_val v) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_fact fact;
    int64_t c;
    bool truth;
    if (!rg_region_inside(f, rg_val_region(f, v), s->body))
        return v;
    if (s->map[v])
        return s->map[v];
    if (s->known && rg_guard_fact(&s->nest, v, &fact) && rg_guard_known(&fact, s->known, &truth)) {
        set_copy(s, v, rg_b_bool(b, truth));
        return s->map[v];
    }
    rg_iid def = rg_value_at(f, v)->def;
    const rg_ins ins = *rg_ins_at(f, def);
    if (ins.op == RG_IF) {
        if (rg_val_const_int(f, copy_of(s, rg_operand(f, def, 0)), &c)) {
            rg_iid yield = rg_yield_of(f, ins.region[!c]);
            set_copy(s, v, copy_of(s, rg_operand(f, yield, rg_value_at(f, v)->index)));
        } else {
            copy_if(s, def);
        }
        return s->map[v];
    }
    rg_loc outer = b->loc;
    b->loc = ins.loc;
    rg_val *x = RG_NEW_N(s->scratch, rg_val, ins.nopnd + 1), w;
    for (uint32_t k = 0; k < ins.nopnd; k++)
        x[k] = copy_of(s, rg_operand(f, def, k));
    if (ins.op == RG_LOAD)
        w = rg_b_load(b, ins.array, ins.leaf, x, ins.flags);
    else if (ins.op == RG_EXTENT)
        w = rg_b_extent(b, ins.array, (uint32_t)ins.imm.i);
    else
        w = rg_b_pure(b, (rg_op)ins.op, rg_type_of(f, v), x, ins.nopnd, ins.imm.i);
    if (rg_value_at(f, v)->name)
        rg_b_name(b, w, rg_value_at(f, v)->name);
    b->loc = outer;
    set_copy(s, v, w);
    return w;
}

/* --- the gather --------------------------------------------------------------------------- */

/* Where a box of elements lies on the axis of a range. */
typedef enum place {
    WHOLE, /* [lo + first, hi + last) */
    INNER, /* [lo + from, hi + to) */
    LOW,   /* before that */
    HIGH   /* behind it */
} place;

typedef struct box {
    rg_val bound[2 * MAX_RANGES]; /* of the element, less `by` */
    int64_t by[MAX_RANGES];       /* so that the last bound does not overflow */
    place place[MAX_RANGES];
} box;

/* What is the same for all boxes. */
typedef struct plan {
    const rg_stencil *x;
    bounds at;
    rg_type type;                          /* of elements' numbers */
    rg_val lo[MAX_RANGES], hi[MAX_RANGES]; /* of the iterations */
} plan;

/* A scatter in a box. */
typedef struct term {
    const rg_scatter *x;
    rg_reach known[MAX_RANGES]; /* where its iterations lie, once tested */
    uint32_t tested;            /* bit k: on the axis of range k there is something to test */
} term;
typedef RG_VEC(term) terms;

/* A sum, and whether anything was added to it: the element need not exist otherwise. */
typedef struct partial {
    rg_val sum, hit;
} partial;

static partial merge(state *s, partial a, partial b) {
    partial r = {rg_b_acc(s->b, a.sum, b.sum), rg_b_op2(s->b, RG_OR, a.hit, b.hit)};
    return r;
}

static partial nothing(state *s, rg_type t) {
    partial r = {rg_b_zero(s->b, t), rg_b_bool(s->b, false)};
    return r;
}

/* Ends the if i in its branch that adds something; the other one, region[when], adds nothing. */
static partial end_if(state *s, rg_iid i, partial taken, bool when, rg_type t) {
    rg_build *b = s->b;
    int64_t hit = 0;
    bool always = rg_val_const_int(s->f, taken.hit, &hit) && hit;
    rg_val out[2] = {taken.sum, taken.hit};
    uint32_t n = always ? 1 : 2;
    rg_b_yield(b, out, n);
    rg_b_pop(b);
    rg_b_push(b, rg_ins_at(s->f, i)->region[when]);
    partial none = nothing(s, t);
    out[0] = none.sum;
    out[1] = none.hit;
    rg_b_yield(b, out, n);
    rg_b_pop(b);
    rg_b_if_done(b, i);
    if (!always)
        return (partial){rg_result(s->f, i, 0), rg_result(s->f, i, 1)};
    rg_val c = rg_operand(s->f, i, 0);
    return (partial){rg_result(s->f, i, 0), when ? c : rg_b_op1(b, RG_NOT, c)};
}

/* What a scatter contributes, under its tests from the k-th on. */
static partial contribution(state *s, const rg_scatter *x, uint32_t k, rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    for (; k < x->ntests; k++) {
        int64_t known;
        if (x->tests[k].exact)
            continue; /* as the iteration was tested */
        rg_val c = copy_of(s, x->tests[k].c);
        if (!rg_val_const_int(f, c, &known)) {
            bool otherwise = !x->tests[k].truth;
            rg_iid i = rg_b_if(b, c);
            uint32_t mark = s->undo.n;
            rg_b_push(b, rg_ins_at(f, i)->region[otherwise]);
            partial p = contribution(s, x, k + 1, t);
            forget(s, mark);
            return end_if(s, i, p, !otherwise, t);
        }
        if ((known != 0) != x->tests[k].truth)
            return nothing(s, t);
    }
    partial p = {copy_of(s, rg_operand(f, x->addto, rg_ins_at(f, x->addto)->nopnd - 1)),
                 rg_b_bool(b, true)};
    return p;
}

static bool same_reach(const rg_reach *a, const rg_reach *b) {
    return a->from == b->from && a->to == b->to && a->below == b->below && a->above == b->above;
}

/* The same shift and reach on each axis in `axes`? */
static bool same_on(const term *a, const term *b, uint32_t axes) {
    for (uint32_t k = 0; axes >> k; k++)
        if ((axes >> k & 1) &&
            (a->x->shift[k] != b->x->shift[k] || !same_reach(&a->known[k], &b->known[k])))
            return false;
    return true;
}

static bool same_test(const term *a, const term *b) {
    return a->tested == b->tested && same_on(a, b, a->tested);
}

static bool same_iteration(const state *s, const term *a, const term *b) {
    return same_test(a, b) && same_on(a, b, (1u << s->ranges) - 1);
}

/* What is known of the iterations that a shift leads to from a box, without a test. */
static rg_reach reach_of(const bounds *at, place where, uint32_t k, int64_t shift) {
    rg_reach r = {.from = at->first[k] - shift,
                  .to = shift - at->last[k],
                  .below = RG_NO_BOUND,
                  .above = RG_NO_BOUND};
    if (where == INNER || where == HIGH)
        r.from = at->from[k] - shift;
    if (where == INNER)
        r.to = shift - at->to[k];
    if (where == LOW)
        r.below = at->from[k] - shift;
    if (where == HIGH)
        r.above = shift - at->to[k];
    return r;
}

/* false: no iteration that contributes is ever reached from the box. */
static bool enter(const state *s, const plan *m, const box *w, const rg_scatter *x, term *out) {
    *out = (term){.x = x};
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_reach r = reach_of(&m->at, w->place[k], k, x->shift[k]);
        const rg_reach *own = &x->reach[k];
        if (own->below <= r.from || own->above <= r.to || own->from >= r.below ||
            own->to >= r.above)
            return false;
        rg_reach *known = &out->known[k];
        known->from = own->from > r.from ? own->from : r.from;
        known->to = own->to > r.to ? own->to : r.to;
        known->below = own->below < r.below ? own->below : r.below;
        known->above = own->above < r.above ? own->above : r.above;
        if (!same_reach(known, &r))
            out->tested |= 1u << k;
    }
    return true;
}

/* v + by, or what of it the type can hold. */
static rg_val offset(state *s, rg_val v, int64_t by) {
    rg_build *b = s->b;
    rg_type t = rg_type_of(s->f, v);
    rg_range r = rg_range_of(s->f, v), whole = rg_range_of_type(t);
    rg_val sum = rg_b_op2(b, RG_ADD, v, rg_b_int(b, t, by));
    if (by > 0 && r.hi + by > whole.hi) {
        rg_val most = rg_b_int(b, t, (int64_t)whole.hi);
        rg_val over = rg_b_op2(b, RG_GT, v, rg_b_int(b, t, (int64_t)whole.hi - by));
        return rg_b_op3(b, RG_SELECT, over, most, sum);
    }
    if (by < 0 && r.lo + by < whole.lo) {
        rg_val least = rg_b_int(b, t, (int64_t)whole.lo);
        rg_val under = rg_b_op2(b, RG_LT, v, rg_b_int(b, t, (int64_t)whole.lo - by));
        return rg_b_op3(b, RG_SELECT, under, least, sum);
    }
    return sum;
}

/* hi + by, where the loop at hand has an iteration: it is then above the first element. */
static rg_val before_end(state *s, const plan *m, uint32_t k, int64_t by) {
    rg_type t = rg_type_of(s->f, m->hi[k]);
    if (by < 0 && rg_range_of(s->f, m->lo[k]).lo > rg_range_of_type(t).lo + MARGIN)
        return rg_b_op2(s->b, RG_ADD, m->hi[k], rg_b_int(s->b, t, by));
    return offset(s, m->hi[k], by);
}

/* Can the type hold the variable of range k for all elements, whether there is an iteration or not?
 */
static bool holds(const state *s, const plan *m, uint32_t k, int64_t shift) {
    rg_range lo = rg_range_of(s->f, m->lo[k]), hi = rg_range_of(s->f, m->hi[k]);
    rg_range all = rg_range_of_type(m->type);
    return lo.lo + m->at.first[k] - shift >= all.lo && hi.hi - 1 + m->at.last[k] - shift <= all.hi;
}

/* Does the element at[], which is arg[] + w->by, have its term's iteration? The iteration's
 * variable is what is compared where that is possible: it is used in what the test guards, and gcc
 * makes vectors only of loops that compute such indices before the test. */
static rg_val test_of(state *s, const plan *m, const box *w, const term *x, const rg_val *arg,
                      const rg_val *at) {
    rg_build *b = s->b;
    rg_val inside = rg_b_bool(b, true);
    for (uint32_t k = 0; k < s->ranges; k++) {
        if (!(x->tested >> k & 1))
            continue;
        int64_t shift = x->x->shift[k], by = 0;
        rg_reach r = reach_of(&m->at, w->place[k], k, shift);
        const rg_reach *known = &x->known[k];
        rg_val v = arg[k], c[4];
        if (holds(s, m, k, shift))
            v = rg_b_op2(b, RG_SUB, at[k], rg_b_int(b, m->type, shift));
        else
            by = shift - w->by[k];
        uint32_t n = 0;
        if (known->from > r.from)
            c[n++] = rg_b_op2(b, RG_GE, v, offset(s, m->lo[k], known->from + by));
        if (known->to > r.to)
            c[n++] = rg_b_op2(b, RG_LT, v, before_end(s, m, k, by - known->to));
        if (known->below < r.below)
            c[n++] = rg_b_op2(b, RG_LT, v, offset(s, m->lo[k], known->below + by));
        if (known->above < r.above)
            c[n++] = rg_b_op2(b, RG_GE, v, before_end(s, m, k, by - known->above));
        for (uint32_t j = 0; j < n; j++)
            inside = rg_b_op2(b, RG_AND, inside, c[j]);
    }
    return inside;
}

/* p's variables are those of the element at[] less the shift. */
static void set_iteration(state *s, const rg_val *at, const int64_t *shift) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_val by = rg_b_int(b, rg_type_of(f, at[k]), shift[k]);
        rg_val arg = rg_region_at(f, s->body)->args.at[k];
        set_copy(s, arg, rg_b_cast(b, rg_type_of(f, arg), rg_b_op2(b, RG_SUB, at[k], by)));
    }
}

/* All that terms of the iteration of *like contribute. */
static partial shifted(state *s, const terms *all, const term *like, const rg_val *at, rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    uint32_t mark = s->undo.n;
    set_iteration(s, at, like->x->shift);
    s->known = like->known;
    partial sum = nothing(s, t);
    for (uint32_t k = 0; k < all->n; k++) {
        if (!same_iteration(s, &all->at[k], like))
            continue;
        b->loc = rg_ins_at(f, all->at[k].x->addto)->loc;
        sum = merge(s, sum, contribution(s, all->at[k].x, 0, t));
    }
    s->known = NULL;
    forget(s, mark);
    return sum;
}

/* All that stands under the test of term n, if that is the first with this test. */
static partial tested_sum(state *s, const plan *m, const box *w, const terms *all, uint32_t n,
                          const rg_val *arg, const rg_val *at, rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const term *like = &all->at[n];
    for (uint32_t k = 0; k < n; k++)
        if (same_test(&all->at[k], like))
            return nothing(s, t);
    rg_val inside = test_of(s, m, w, like, arg, at);
    int64_t surely = 0;
    bool test = !(rg_val_const_int(f, inside, &surely) && surely);
    rg_iid guard = 0;
    if (test) {
        guard = rg_b_if(b, inside);
        rg_b_push(b, rg_ins_at(f, guard)->region[0]);
    }
    partial sum = nothing(s, t);
    for (uint32_t k = n; k < all->n; k++) {
        bool first = same_test(&all->at[k], like);
        for (uint32_t j = n; first && j < k; j++)
            first = !same_iteration(s, &all->at[j], &all->at[k]);
        if (first)
            sum = merge(s, sum, shifted(s, all, &all->at[k], at, t));
    }
    return test ? end_if(s, guard, sum, 1, t) : sum;
}

/* The element's indices: where they are what is added to exists. */
static void add(state *s, const plan *m, const box *w, const rg_val *arg, const rg_val *at,
                rg_val sum) {
    rg_fn *f = s->f;
    const rg_scatter *x = m->x->like;
    const rg_ins like = *rg_ins_at(f, x->addto);
    uint32_t n = rg_ins_nindices(f, &like), mark = s->undo.n;
    rg_val *idx = RG_NEW_N(s->scratch, rg_val, n + 1);
    s->b->loc = like.loc;
    for (uint32_t k = 0; k < s->ranges; k++) {
        uint32_t axis = m->x->axis[k];
        if (!(m->x->plain >> axis & 1))
            continue;
        rg_type type = rg_type_of(f, rg_operand(f, x->addto, axis));
        idx[axis] = at[k];
        if (w->by[k] && type != m->type) /* the index may be more than at's type holds */
            idx[axis] = rg_b_op2(s->b, RG_ADD, rg_b_cast(s->b, type, arg[k]),
                                 rg_b_int(s->b, type, w->by[k]));
    }
    set_iteration(s, at, x->shift);
    for (uint32_t k = x->nchoices; k-- > 0;)
        set_copy(s, x->choices[k].v, copy_of(s, x->choices[k].is));
    for (uint32_t k = 0; k < n; k++)
        if (!idx[k])
            idx[k] = copy_of(s, rg_operand(f, x->addto, k));
    forget(s, mark);
    rg_b_addto(s->b, like.array, like.leaf, idx, sum, RG_INS_GATHERED);
}

/* One parallel over a box of elements. */
static void gather_box(state *s, const plan *m, const box *w) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_scatters *from = &m->x->all;
    const rg_ins like = *rg_ins_at(f, m->x->like->addto);
    rg_type t = rg_mem_value(rg_ins_leaf(f, &like)->mem);
    terms all = {0};
    for (uint32_t k = 0; k < from->n; k++) {
        term x;
        if (enter(s, m, w, from->at[k], &x))
            RG_PUSH(s->scratch, &all, x);
    }
    if (!all.n)
        return;
    b->loc = like.loc;
    rg_iid p = rg_b_parallel(b, w->bound, s->ranges, NULL, NULL, 0);
    rg_b_push(b, rg_ins_at(f, p)->region[0]);
    rg_val arg[MAX_RANGES], at[MAX_RANGES];
    for (uint32_t k = 0; k < s->ranges; k++) {
        arg[k] = rg_b_arg(b, k);
        at[k] = rg_b_op2(b, RG_ADD, arg[k], rg_b_int(b, m->type, w->by[k]));
        const char *name = rg_value_at(f, rg_region_at(f, s->body)->args.at[k])->name;
        if (name)
            rg_b_name(b, arg[k], name);
    }
    partial total = nothing(s, t);
    for (uint32_t k = 0; k < all.n; k++)
        total = merge(s, total, tested_sum(s, m, w, &all, k, arg, at, t));
    b->loc = like.loc;
    int64_t hit;
    bool test = !rg_val_const_int(f, total.hit, &hit);
    rg_iid i = 0;
    if (test) {
        i = rg_b_if(b, total.hit);
        rg_b_push(b, rg_ins_at(f, i)->region[0]);
    }
    if (test || hit)
        add(s, m, w, arg, at, total.sum);
    if (test) {
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        rg_b_push(b, rg_ins_at(f, i)->region[1]);
        rg_b_yield(b, NULL, 0);
        rg_b_pop(b);
        rg_b_if_done(b, i);
    }
    rg_b_yield(b, NULL, 0);
    rg_b_pop(b);
}

/* hi + by, at least `least`, which is lo + above. */
static rg_val end(state *s, rg_val lo, rg_val hi, int64_t by, rg_val least, int64_t above) {
    rg_build *b = s->b;
    rg_val small = rg_b_op2(b, RG_LT, hi, offset(s, lo, above - by));
    rg_val sum = rg_b_op2(b, RG_ADD, hi, rg_b_int(b, rg_type_of(s->f, hi), by));
    return rg_b_op3(b, RG_SELECT, small, least, sum);
}

static rg_val least(state *s, rg_val a, rg_val b) {
    return rg_b_op3(s->b, RG_SELECT, rg_b_op2(s->b, RG_LT, a, b), a, b);
}

/* The type in which elements are counted: signed, since lo + first may be below zero, and one in
 * which no element of the array is out of reach. */
static rg_type element_type(const state *s, const rg_stencil *x) {
    const rg_fn *f = s->f;
    rg_type t = rg_type_of(f, rg_operand(f, s->p, 0));
    if (t != RG_I32)
        return RG_I64;
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_range lo = rg_range_of(f, rg_operand(f, s->p, 2 * k));
        rg_val v = rg_operand(f, x->like->addto, x->axis[k]);
        bool narrow = (x->plain >> x->axis[k] & 1) && rg_type_of(f, v) == RG_I32;
        if (!narrow && (lo.lo < INT32_MIN + MARGIN || lo.hi > INT32_MAX - MARGIN))
            return RG_I64;
    }
    return t;
}

static void gather(state *s, const rg_stencil *x, const bounds *at) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    plan m = {.x = x, .at = *at, .type = element_type(s, x)};
    box w = {.place = {WHOLE}};
    rg_val inner[2 * MAX_RANGES], whole[2 * MAX_RANGES], low[MAX_RANGES], high[MAX_RANGES];
    int64_t by[MAX_RANGES], inner_by[MAX_RANGES];
    rg_b_push_before(b, s->p);
    b->loc = rg_ins_at(f, x->like->addto)->loc;
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_val lo = m.lo[k] = rg_b_cast(b, m.type, rg_operand(f, s->p, 2 * k));
        rg_val hi = m.hi[k] = rg_b_cast(b, m.type, rg_operand(f, s->p, 2 * k + 1));
        bool fits = rg_range_of(f, hi).hi + at->last[k] <= rg_range_of_type(m.type).hi;
        by[k] = at->last[k] > 0 && !fits ? at->last[k] : 0;
        inner_by[k] = at->to[k] > 0 ? by[k] : 0;
        int64_t o = inner_by[k];
        rg_val from = inner[2 * k] = offset(s, lo, at->from[k] - o);
        rg_val to = inner[2 * k + 1] = end(s, lo, hi, at->to[k] - o, from, at->from[k] - o);
        if (by[k] != o) {
            o = by[k];
            from = offset(s, lo, at->from[k] - o);
            to = end(s, lo, hi, at->to[k] - o, from, at->from[k] - o);
        }
        rg_val first = whole[2 * k] = offset(s, lo, at->first[k] - o);
        rg_val last = whole[2 * k + 1] =
            at->last[k] < o ? end(s, lo, hi, at->last[k] - o, first, at->first[k] - o)
                            : offset(s, hi, at->last[k] - o);
        low[k] = least(s, from, last);
        high[k] = to;
    }
    for (uint32_t k = 0; k < s->ranges; k++) {
        w.place[k] = INNER;
        w.by[k] = inner_by[k];
        w.bound[2 * k] = inner[2 * k];
        w.bound[2 * k + 1] = inner[2 * k + 1];
    }
    gather_box(s, &m, &w);
    for (uint32_t k = 0; k < s->ranges; k++) {
        for (uint32_t j = k; j < s->ranges; j++) {
            w.bound[2 * j] = whole[2 * j];
            w.bound[2 * j + 1] = whole[2 * j + 1];
            w.place[j] = WHOLE;
            w.by[j] = by[j];
        }
        w.bound[2 * k + 1] = low[k];
        w.place[k] = LOW;
        if (at->first[k] < at->from[k])
            gather_box(s, &m, &w);
        w.bound[2 * k] = high[k];
        w.bound[2 * k + 1] = whole[2 * k + 1];
        w.place[k] = HIGH;
        if (at->to[k] < at->last[k])
            gather_box(s, &m, &w);
        w.bound[2 * k] = inner[2 * k];
        w.bound[2 * k + 1] = inner[2 * k + 1];
        w.place[k] = INNER;
        w.by[k] = inner_by[k];
    }
    rg_b_pop(b);
    for (uint32_t k = 0; k < x->all.n; k++)
        if (rg_ins_at(f, x->all.at[k]->addto)->parent)
            rg_region_remove(f, x->all.at[k]->addto);
}

/* Does p nothing but add to the elements that the addto's reach? What it loads or stores of the
 * same array must be other elements, in all iterations: u_b[t + 1][i], when u_b[t] is gathered. */
static bool only_added_to(state *s, const rg_scatters *targets) {
    const rg_fn *f = s->f;
    rg_aid a = rg_ins_at(f, targets->at[0]->addto)->array;
    rg_rid around = rg_ins_at(f, s->p)->parent;
    rg_iids others = rg_grad_others(s->index, s->body, a);
    for (uint32_t k = 0; k < others.n; k++)
        for (uint32_t j = 0; j < targets->n; j++)
            if ((j == 0 || targets->at[j]->addto != targets->at[j - 1]->addto) &&
                rg_grad_may_meet(f, s->act, targets->at[j]->addto, others.at[k], around, 0))
                return false;
    return true;
}

/* Indices of 64 bits are computed again from variables of 32, shifted: can they hold that? */
static bool can_index(const state *s, const rg_stencil *x, const bounds *at) {
    const rg_fn *f = s->f;
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_val v = rg_operand(f, x->like->addto, x->axis[k]);
        rg_type t = rg_type_of(f, rg_operand(f, s->p, 2 * k));
        rg_range lo = rg_range_of(f, rg_operand(f, s->p, 2 * k));
        rg_range hi = rg_range_of(f, rg_operand(f, s->p, 2 * k + 1)), all = rg_range_of_type(t);
        if (!(x->plain >> x->axis[k] & 1) && rg_type_size(t) < rg_type_size(rg_type_of(f, v)) &&
            (lo.lo + at->first[k] - x->like->shift[k] < all.lo ||
             hi.hi - 1 + at->last[k] - x->like->shift[k] > all.hi))
            return false;
    }
    return true;
}

/* So that the interior has every iteration of the scatter on one side of what x tells apart. */
static void narrow(bounds *at, const rg_reach *r, uint32_t k, int64_t shift) {
    const int64_t from = r->below != RG_NO_BOUND && r->below > r->from ? r->below : r->from;
    const int64_t to = r->above != RG_NO_BOUND && r->above > r->to ? r->above : r->to;
    at->from[k] = from + shift > at->from[k] ? from + shift : at->from[k];
    at->to[k] = shift - to < at->to[k] ? shift - to : at->to[k];
}

/* May the scatters be computed again where they are gathered, and is it worth it? */
static bool worth_it(state *s, const rg_stencil *x, bounds *at) {
    bool several = false;
    uint32_t total = 0;
    memset(at, 0, sizeof *at);
    for (uint32_t k = 0; k < x->all.n; k++) {
        const rg_scatter *y = x->all.at[k];
        if (!can_copy_contribution(s, y))
            return false;
        total += s->slice + 8;
        for (uint32_t j = 0; j < s->ranges; j++) {
            int64_t shift = y->shift[j];
            const rg_reach *r = &y->reach[j];
            several = several || shift != x->all.at[0]->shift[j];
            if (k == 0 || r->from + shift < at->first[j])
                at->first[j] = r->from + shift;
            if (k == 0 || shift - r->to > at->last[j])
                at->last[j] = shift - r->to;
            if (k == 0) {
                at->from[j] = r->from + shift;
                at->to[j] = shift - r->to;
            }
            narrow(at, r, j, shift);
        }
        for (uint32_t j = 0; j < s->seen.n; j++) {
            rg_fact fact;
            if (!rg_guard_fact(&s->nest, s->seen.at[j], &fact))
                continue;
            rg_reach r = {.below = RG_NO_BOUND, .above = RG_NO_BOUND};
            *(fact.high ? &r.to : &r.from) = fact.by;
            narrow(at, &r, fact.range, y->shift[fact.range]);
        }
    }
    return several && total * (2 * s->ranges + 1) <= MAX_COPIES;
}

static bool gather_parallel(state *s, rg_iid p) {
    rg_fn *f = s->f;
    bool changed = false;
    s->nest = rg_nest_of(f, p);
    s->p = p;
    s->body = s->nest.body;
    s->ranges = s->nest.ranges;
    s->writes.n = 0;
    rg_scatters found = {0};
    collect(s, s->body, &found);
    if (found.n < 2)
        return false;
    s->index = rg_grad_index_new(f, s->act, s->scratch);
    /* Values of p's body are what is looked up: none is added to it. */
    s->map = RG_NEW_N(s->scratch, rg_val, f->vals.n);
    s->checked = RG_NEW_N(s->scratch, uint8_t, f->vals.n);
    s->stamp = RG_NEW_N(s->scratch, uint32_t, f->vals.n);
    s->stamps = 0;
    s->undo.n = s->seen.n = s->around.n = 0;
    int questions = MAX_QUESTIONS;
    for (uint32_t k = 0; k < found.n; k++) {
        rg_stencil x;
        bounds at;
        if (found.at[k]->taken || !rg_stencil_of(&s->nest, s->scratch, &found, k, &questions, &x) ||
            !only_added_to(s, &x.all) || !worth_it(s, &x, &at) ||
            !rg_stencil_apart(&s->nest, &x, at.first, at.last) || !can_index(s, &x, &at))
            continue;
        gather(s, &x, &at);
        changed = true;
    }
    return changed;
}

static void find_parallels(state *s, rg_rid r, rg_iids *out) {
    const rg_region *g = rg_region_at(s->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(s->f, g->ins.at[k]);
        if (ins->op == RG_PARALLEL) {
            RG_PUSH(s->scratch, out, g->ins.at[k]);
            continue;
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                find_parallels(s, ins->region[j], out);
    }
}

bool rg_ad_gather(rg_fn *f, const rg_activity *act) {
    state s = {.f = f, .act = act, .scratch = f->arena};
    s.b = rg_b_new(f);
    rg_iids parallels = {0};
    find_parallels(&s, f->body, &parallels);
    bool changed = false;
    for (uint32_t k = 0; k < parallels.n; k++)
        changed |= gather_parallel(&s, parallels.at[k]);
    return changed;
}
