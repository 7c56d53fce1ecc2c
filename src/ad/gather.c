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
 * It is right if what a, b and c load is, in the loop as it was, still what it was before the loop,
 * and if the loop does nothing but add to those elements of x_b. Anything not understood stays a
 * scatter. */
#include "ad/ad.h"
#include "ad/gradmem.h"
#include "ir/affine.h"
#include "ir/build.h"
#include "ir/meet.h"

enum {
    MAX_RANGES = 3,
    MAX_SLICE = 96,    /* instructions computed again for one contribution */
    MAX_COPIES = 4000, /* instructions made for one gradient array */
    MAX_SHIFT = 1 << 20
};

/* One addto: to element (iv[k] + shift[k]) on axis axis[k] for each range k. */
typedef struct scatter {
    rg_iid addto;
    uint32_t axis[MAX_RANGES];
    int64_t shift[MAX_RANGES];
} scatter;
typedef RG_VEC(scatter) scatters;

typedef struct state {
    rg_fn *f;
    const rg_activity *act;
    rg_arena *scratch;
    rg_build *b;
    rg_iid p; /* the parallel at hand */
    rg_rid body;
    uint32_t ranges, all_axes; /* all_axes: a bit for each range */
    rg_iids writes;            /* all that p writes */
    rg_val *map;               /* [vals.n as it was] copy of a value of p's body */
    uint8_t *checked;          /* [vals.n as it was] */
    rg_iids seen;              /* values that are checked */
    rg_grad_index *index;      /* of p's body, which gathering takes addto's out of and no more */
    rg_iids undo;              /* values with a copy, in the order they got it */
    uint32_t slice;            /* instructions of the slices checked so far */
} state;

/* --- what may be gathered ----------------------------------------------------------------- */

static bool classify(const state *s, rg_iid addto, scatter *out) {
    const rg_fn *f = s->f;
    const rg_ins *ins = rg_ins_at(f, addto);
    uint32_t rank = rg_array_at(f, ins->array)->rank, n = rg_ins_nindices(f, ins), found = 0;
    const rg_leaf *leaf = rg_ins_leaf(f, ins);
    if (leaf->mem != RG_M_F32 && leaf->mem != RG_M_F64)
        return false;
    out->addto = addto;
    for (uint32_t k = 0; k < n; k++) {
        rg_val v = rg_operand(f, addto, k);
        if (rg_grad_invariant(f, v, s->body))
            continue;
        rg_affine a = rg_affine_of(f, v);
        if (k >= rank || !a.ok || a.n != 1 || a.coef[0] != 1 || a.constant > MAX_SHIFT ||
            a.constant < -MAX_SHIFT)
            return false;
        const rg_value *iv = rg_value_at(f, a.term[0]);
        if (iv->region != s->body || iv->index >= s->ranges || (found >> iv->index & 1))
            return false;
        found |= 1u << iv->index;
        out->axis[iv->index] = k;
        out->shift[iv->index] = a.constant;
    }
    return found == (1u << s->ranges) - 1;
}

/* Same array, and apart from the shifts the same element? */
static bool same_target(const state *s, const scatter *a, const scatter *b) {
    const rg_fn *f = s->f;
    const rg_ins *x = rg_ins_at(f, a->addto), *y = rg_ins_at(f, b->addto);
    if (x->array != y->array || x->leaf != y->leaf)
        return false;
    uint32_t n = rg_ins_nindices(f, x), moving = 0;
    for (uint32_t k = 0; k < s->ranges; k++) {
        if (a->axis[k] != b->axis[k])
            return false;
        moving |= 1u << a->axis[k];
    }
    for (uint32_t k = 0; k < n; k++)
        if (!(moving >> k & 1) &&
            !rg_grad_same_value(f, rg_operand(f, a->addto, k), rg_operand(f, b->addto, k)))
            return false;
    return true;
}

/* The same shift on each axis in `axes`? */
static bool same_shift(const scatter *a, const scatter *b, uint32_t axes) {
    for (uint32_t k = 0; axes >> k; k++)
        if ((axes >> k & 1) && a->shift[k] != b->shift[k])
            return false;
    return true;
}

static void collect(state *s, rg_rid r, scatters *out) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        scatter x = {0};
        if (ins->op == RG_STORE || ins->op == RG_ADDTO || ins->op == RG_RMW || ins->op == RG_COPY)
            RG_PUSH(s->scratch, &s->writes, g->ins.at[k]);
        if (ins->op == RG_ADDTO && (ins->flags & RG_INS_ACCUM) && out &&
            classify(s, g->ins.at[k], &x))
            RG_PUSH(s->scratch, out, x);
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

/* The contribution's value and the conditions it stands under. */
static bool can_copy_contribution(state *s, rg_iid addto) {
    const rg_fn *f = s->f;
    s->slice = 0;
    while (s->seen.n)
        s->checked[s->seen.at[--s->seen.n]] = 0;
    if (!can_copy(s, rg_operand(f, addto, rg_ins_at(f, addto)->nopnd - 1)))
        return false;
    for (rg_iid i = rg_region_at(f, rg_ins_at(f, addto)->parent)->owner; i != s->p;
         i = rg_region_at(f, rg_ins_at(f, i)->parent)->owner)
        if (!can_copy(s, rg_operand(f, i, 0)))
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

static void copy_if(state *s, rg_iid i) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins ins = *rg_ins_at(f, i);
    rg_iid c = rg_b_if(b, copy_of(s, rg_operand(f, i, 0)));
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
    if (!rg_region_inside(f, rg_val_region(f, v), s->body))
        return v;
    if (s->map[v])
        return s->map[v];
    rg_iid def = rg_value_at(f, v)->def;
    const rg_ins ins = *rg_ins_at(f, def);
    if (ins.op == RG_IF) {
        copy_if(s, def);
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

/* Elements of a gradient: from bound[2 * k] up to bound[2 * k + 1] on the axis of range k. */
typedef struct box {
    rg_val bound[2 * MAX_RANGES];
    uint32_t guarded; /* bit k: a shifted iteration may lie outside range k */
    uint32_t past;    /* bit k: but not below its start */
    /* The same for all boxes: */
    rg_val lo[MAX_RANGES], hi[MAX_RANGES];     /* of the iterations */
    int64_t low[MAX_RANGES], high[MAX_RANGES]; /* least and greatest shift */
} box;

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

/* What `addto` contributes, under the ifs of region r and above that it stands in. */
static partial contribution(state *s, rg_iid addto, rg_rid r, rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_iid i = rg_ancestor_in(f, addto, r);
    if (i == addto) {
        partial p = {copy_of(s, rg_operand(f, addto, rg_ins_at(f, addto)->nopnd - 1)),
                     rg_b_bool(b, true)};
        return p;
    }
    bool otherwise = !rg_region_inside(f, rg_ins_at(f, addto)->parent, rg_ins_at(f, i)->region[0]);
    rg_iid c = rg_b_if(b, copy_of(s, rg_operand(f, i, 0)));
    uint32_t mark = s->undo.n;
    rg_b_push(b, rg_ins_at(f, c)->region[otherwise]);
    partial p = contribution(s, addto, rg_ins_at(f, i)->region[otherwise], t);
    forget(s, mark);
    return end_if(s, c, p, !otherwise, t);
}

/* Is all->at[k] the first with its shifts on the axes in `axes`? */
static bool is_first(const scatters *all, uint32_t k, uint32_t axes) {
    for (uint32_t j = 0; j < k; j++)
        if (same_shift(&all->at[j], &all->at[k], axes))
            return false;
    return true;
}

/* All that is added with the shift of *like, computed in the region of the element `at`. */
static partial shifted(state *s, const scatters *all, const scatter *like, const rg_val *at,
                       rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    uint32_t mark = s->undo.n;
    for (uint32_t k = 0; k < s->ranges; k++) {
        rg_val by = rg_b_int(b, rg_type_of(f, at[k]), like->shift[k]);
        rg_val arg = rg_region_at(f, s->body)->args.at[k];
        set_copy(s, arg, rg_b_cast(b, rg_type_of(f, arg), rg_b_op2(b, RG_SUB, at[k], by)));
    }
    partial sum = nothing(s, t);
    for (uint32_t k = 0; k < all->n; k++) {
        if (!same_shift(&all->at[k], like, s->all_axes))
            continue;
        b->loc = rg_ins_at(f, all->at[k].addto)->loc;
        sum = merge(s, sum, contribution(s, all->at[k].addto, s->body, t));
    }
    forget(s, mark);
    return sum;
}

/* All that is added with the shift of *like on the axes in w->guarded; one test stands before all
 * of it. */
static partial guarded_sum(state *s, const scatters *all, const scatter *like, const rg_val *at,
                           const box *w, rg_type t) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_val inside = rg_b_bool(b, true);
    for (uint32_t k = 0; k < s->ranges; k++) {
        /* The element g lies in [lo + low, hi + high), and past the start in [lo + high, ...). */
        int64_t by = like->shift[k];
        bool below = ((w->guarded & ~w->past) >> k & 1) != 0 && by > w->low[k];
        bool above = (w->guarded >> k & 1) != 0 && by < w->high[k];
        rg_val iv = rg_b_op2(b, RG_SUB, at[k], rg_b_int(b, rg_type_of(f, at[k]), by));
        if (below)
            inside = rg_b_op2(b, RG_AND, inside, rg_b_op2(b, RG_GE, iv, w->lo[k]));
        if (above)
            inside = rg_b_op2(b, RG_AND, inside, rg_b_op2(b, RG_LT, iv, w->hi[k]));
    }
    rg_iid guard = 0;
    int64_t surely = 0;
    bool test = !(rg_val_const_int(f, inside, &surely) && surely);
    if (test) {
        guard = rg_b_if(b, inside);
        rg_b_push(b, rg_ins_at(f, guard)->region[0]);
    }
    partial sum = nothing(s, t);
    for (uint32_t k = 0; k < all->n; k++)
        if (same_shift(&all->at[k], like, w->guarded) && is_first(all, k, s->all_axes))
            sum = merge(s, sum, shifted(s, all, &all->at[k], at, t));
    return test ? end_if(s, guard, sum, 1, t) : sum;
}

/* One parallel over a box of elements. */
static void gather_box(state *s, const scatters *all, const box *w, const rg_val *fixed) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins like = *rg_ins_at(f, all->at[0].addto);
    rg_type t = rg_mem_value(rg_ins_leaf(f, &like)->mem);
    b->loc = like.loc;
    rg_iid p = rg_b_parallel(b, w->bound, s->ranges, NULL, NULL, 0);
    rg_b_push(b, rg_ins_at(f, p)->region[0]);
    rg_val at[MAX_RANGES];
    for (uint32_t k = 0; k < s->ranges; k++) {
        at[k] = rg_b_arg(b, k);
        const char *name = rg_value_at(f, rg_region_at(f, s->body)->args.at[k])->name;
        if (name)
            rg_b_name(b, at[k], name);
    }
    partial total = nothing(s, t);
    for (uint32_t k = 0; k < all->n; k++)
        if (is_first(all, k, w->guarded))
            total = merge(s, total, guarded_sum(s, all, &all->at[k], at, w, t));
    b->loc = like.loc;
    uint32_t n = rg_ins_nindices(f, &like);
    rg_val *idx = RG_NEW_N(s->scratch, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++)
        idx[k] = fixed[k];
    for (uint32_t k = 0; k < s->ranges; k++)
        idx[all->at[0].axis[k]] = at[k];
    int64_t always;
    bool test = !(rg_val_const_int(f, total.hit, &always) && always);
    rg_iid i = 0;
    if (test) {
        i = rg_b_if(b, total.hit);
        rg_b_push(b, rg_ins_at(f, i)->region[0]);
    }
    rg_b_addto(b, like.array, like.leaf, idx, total.sum, RG_INS_GATHERED);
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

static void remove_from_region(rg_fn *f, rg_iid i) {
    rg_region *g = rg_region_at(f, rg_ins_at(f, i)->parent);
    uint32_t k = 0;
    while (g->ins.at[k] != i)
        k++;
    for (; k + 1 < g->ins.n; k++)
        g->ins.at[k] = g->ins.at[k + 1];
    g->ins.n--;
    rg_ins_at(f, i)->parent = 0;
}

static rg_val shifted_bound(state *s, rg_val v, int64_t by) {
    return rg_b_op2(s->b, RG_ADD, v, rg_b_int(s->b, rg_type_of(s->f, v), by));
}

static rg_val least(state *s, rg_val a, rg_val b) {
    return rg_b_op3(s->b, RG_SELECT, rg_b_op2(s->b, RG_LT, a, b), a, b);
}
static rg_val most(state *s, rg_val a, rg_val b) {
    return rg_b_op3(s->b, RG_SELECT, rg_b_op2(s->b, RG_LT, a, b), b, a);
}

static void gather(state *s, const scatters *all) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    const rg_ins like = *rg_ins_at(f, all->at[0].addto);
    box w = {0};
    rg_val first[MAX_RANGES], last[MAX_RANGES], from[MAX_RANGES], to[MAX_RANGES];
    rg_b_push_before(b, s->p);
    b->loc = like.loc;
    for (uint32_t k = 0; k < s->ranges; k++) {
        int64_t low = all->at[0].shift[k], high = low;
        for (uint32_t j = 1; j < all->n; j++) {
            low = all->at[j].shift[k] < low ? all->at[j].shift[k] : low;
            high = all->at[j].shift[k] > high ? all->at[j].shift[k] : high;
        }
        rg_val v = rg_operand(f, s->p, 2 * k);
        /* Elements are counted in a signed type: lo + low may be below zero. */
        rg_type t = rg_type_is_unsigned(rg_type_of(f, v)) ? RG_I64 : rg_type_of(f, v);
        rg_val lo = w.lo[k] = rg_b_cast(b, t, v);
        rg_val hi = w.hi[k] = rg_b_cast(b, t, rg_operand(f, s->p, 2 * k + 1));
        w.low[k] = low;
        w.high[k] = high;
        first[k] = shifted_bound(s, lo, low); /* the elements reached: [first, last) */
        last[k] = shifted_bound(s, hi, high);
        from[k] = shifted_bound(s, lo, high); /* those reached by every shift: [from, to) */
        to[k] = most(s, from[k], shifted_bound(s, hi, low));
    }
    uint32_t n = rg_ins_nindices(f, &like);
    rg_val *fixed = RG_NEW_N(s->scratch, rg_val, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        bool moving = false;
        for (uint32_t j = 0; j < s->ranges; j++)
            moving = moving || all->at[0].axis[j] == k;
        fixed[k] = moving ? 0 : copy_of(s, rg_operand(f, all->at[0].addto, k));
    }
    for (uint32_t k = 0; k < s->ranges; k++) {
        w.bound[2 * k] = from[k];
        w.bound[2 * k + 1] = to[k];
    }
    gather_box(s, all, &w, fixed);
    for (uint32_t k = 0; k < s->ranges; k++) {
        w.guarded = 1u << k;
        for (uint32_t j = k + 1; j < s->ranges; j++) {
            w.bound[2 * j] = first[j];
            w.bound[2 * j + 1] = last[j];
            w.guarded |= 1u << j;
        }
        w.bound[2 * k] = first[k];
        w.bound[2 * k + 1] = least(s, from[k], last[k]);
        gather_box(s, all, &w, fixed);
        w.bound[2 * k] = to[k];
        w.bound[2 * k + 1] = last[k];
        w.past = 1u << k;
        gather_box(s, all, &w, fixed);
        w.past = 0;
        w.bound[2 * k] = from[k];
        w.bound[2 * k + 1] = to[k];
    }
    forget(s, 0);
    rg_b_pop(b);
    for (uint32_t k = 0; k < all->n; k++)
        remove_from_region(f, all->at[k].addto);
}

/* Does p nothing but add to the elements that the addto's reach? What it loads or stores of the
 * same array must be other elements, in all iterations: u_b[t + 1][i], when u_b[t] is gathered. */
static bool only_added_to(state *s, const scatters *targets) {
    const rg_fn *f = s->f;
    rg_aid a = rg_ins_at(f, targets->at[0].addto)->array;
    rg_rid around = rg_ins_at(f, s->p)->parent;
    rg_iids others = rg_grad_others(s->index, s->body, a);
    for (uint32_t k = 0; k < others.n; k++)
        for (uint32_t j = 0; j < targets->n; j++)
            if (rg_grad_may_meet(f, s->act, targets->at[j].addto, others.at[k], around, 0))
                return false;
    return true;
}

static bool worth_it(state *s, const scatters *all) {
    bool several = false;
    uint32_t total = 0;
    for (uint32_t k = 0; k < all->n; k++) {
        several = several || !same_shift(&all->at[0], &all->at[k], s->all_axes);
        if (!can_copy_contribution(s, all->at[k].addto))
            return false;
        total += s->slice + 8;
    }
    return several && total * (2 * s->ranges + 1) <= MAX_COPIES;
}

static bool gather_parallel(state *s, rg_iid p) {
    rg_fn *f = s->f;
    bool changed = false;
    s->p = p;
    s->body = rg_ins_at(f, p)->region[0];
    s->ranges = (uint32_t)rg_ins_at(f, p)->imm.i;
    s->all_axes = (1u << s->ranges) - 1;
    s->writes.n = 0;
    scatters found = {0};
    collect(s, s->body, &found);
    if (found.n < 2)
        return false;
    s->index = rg_grad_index_new(f, s->act, s->scratch);
    /* Values of p's body are what is looked up: none is added to it. */
    s->map = RG_NEW_N(s->scratch, rg_val, f->vals.n);
    s->checked = RG_NEW_N(s->scratch, uint8_t, f->vals.n);
    s->undo.n = s->seen.n = 0;
    for (uint32_t k = 0; k < found.n; k++) {
        if (!found.at[k].addto)
            continue;
        scatters all = {0};
        scatter like = found.at[k];
        for (uint32_t j = k; j < found.n; j++) {
            if (!found.at[j].addto || !same_target(s, &like, &found.at[j]))
                continue;
            RG_PUSH(s->scratch, &all, found.at[j]);
            found.at[j].addto = 0;
        }
        if (all.n < 2)
            continue;
        if (!only_added_to(s, &all) || !worth_it(s, &all))
            continue;
        gather(s, &all);
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
