/* Algebra on cotangents. What depends on a gradient is the adjoint's own: no bit of the primal, no
 * branch and no index depends on it, so its products may be multiplied in another order.
 *
 *   (g * m) * inv, (g * inv) * m           one product: the factors are the same
 *   v + v + v                             3 * v
 *   g * m + h * m, m of the primal        (g + h) * m
 *   g * -d, zmul(g, -d)                    -(g * d): sums absorb the sign
 *   v + v, with v = zmul(g, 0.5 * d)       zmul(g, d): both sides of x * x, through a square root
 *
 * zmul keeps its operands as they are but for the sign and powers of two: it is no product where
 * one of them is zero and the other infinite. */
#include "ad/ad.h"
#include "ir/build.h"

#include <string.h>

enum { MAX_FACTORS = 6, MAX_DEPTH = 6 };

typedef struct product {
    rg_val factor[MAX_FACTORS]; /* sorted */
    uint32_t n;
    rg_val value;
    uint32_t next; /* in its bucket; index + 1 */
} product;

typedef struct state {
    rg_fn *f;
    rg_arena *scratch;
    rg_build *b;
    uint32_t nvals;        /* as it was */
    RG_VEC(uint8_t) ours;  /* [vals] depends on a gradient */
    uint8_t *memory;       /* [arrays] local that holds such values */
    RG_VEC(uint32_t) uses; /* [vals]; of values made here 1, or what they took over */
    rg_val *map;           /* [nvals] what takes its place */
    uint32_t *bucket;      /* products by their factors */
    uint32_t mask;
    RG_VEC(product) products;
    bool more, changed;
} state;

/* --- what is ours ------------------------------------------------------------------------- */

static void mark(state *s, rg_val v) {
    s->more |= !s->ours.at[v];
    s->ours.at[v] = 1;
}

static void look(state *s, rg_rid r, bool count) {
    const rg_fn *f = s->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        bool ours = false;
        for (uint32_t j = 0; j < ins->nopnd; j++) {
            ours |= s->ours.at[rg_operand(f, i, j)] != 0;
            s->uses.at[rg_operand(f, i, j)] += count;
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                look(s, ins->region[j], count);
        const rg_array *a = ins->array ? rg_array_at(f, ins->array) : NULL;
        switch ((rg_op)ins->op) {
        case RG_LOAD:
        case RG_RMW:
            ours |= (a->kind == RG_ARR_SHADOW && (a->shadow & RG_SH_GRAD)) || s->memory[ins->array];
            /* fallthrough */
        case RG_STORE:
        case RG_ADDTO:
            if (ours && ins->op != RG_LOAD && a->kind == RG_ARR_LOCAL && !s->memory[ins->array])
                s->memory[ins->array] = s->more = true;
            break;
        case RG_COPY:
            if (s->memory[ins->array2] && !s->memory[ins->array])
                s->memory[ins->array] = s->more = true;
            break;
        case RG_IF:
            for (uint32_t q = 0; q < ins->nres; q++)
                for (int j = 0; j < 2; j++)
                    if (s->ours.at[rg_operand(f, rg_yield_of(f, ins->region[j]), q)])
                        mark(s, rg_result(f, i, q));
            continue;
        case RG_FOR:
        case RG_LOOP:
        case RG_PARALLEL:
            for (uint32_t q = 0; q < ins->nres; q++) {
                rg_val arg = rg_region_at(f, ins->region[0])->args.at[rg_first_carried(f, i) + q];
                rg_val y = rg_operand(f, rg_yield_of(f, ins->region[0]), q + (ins->op == RG_LOOP));
                if (!s->ours.at[rg_operand(f, i, rg_first_init(f, i) + q)] && !s->ours.at[y])
                    continue;
                mark(s, arg);
                mark(s, rg_result(f, i, q));
            }
            continue;
        default:
            break;
        }
        for (uint32_t q = 0; ours && q < ins->nres; q++)
            mark(s, rg_result(f, i, q));
    }
}

/* Values made here since the last call. */
static void look_at_new(state *s) {
    const rg_fn *f = s->f;
    while (s->ours.n < f->vals.n) {
        rg_iid d = rg_value_at(f, s->ours.n)->def;
        uint8_t ours = 0;
        for (uint32_t k = 0; k < rg_ins_at(f, d)->nopnd; k++)
            ours |= s->ours.at[rg_operand(f, d, k)];
        RG_PUSH(s->scratch, &s->ours, ours);
    }
}

static uint32_t *uses_of(state *s, rg_val v) {
    while (s->uses.n <= v)
        RG_PUSH(s->scratch, &s->uses, 1);
    return &s->uses.at[v];
}

static rg_iid def_of(const state *s, rg_val v, rg_op op) {
    rg_iid d = rg_value_at(s->f, v)->def;
    return d && rg_ins_at(s->f, d)->op == op ? d : 0;
}

/* --- products ----------------------------------------------------------------------------- */

static uint32_t factors(const state *s, rg_val v, rg_val *out, uint32_t n) {
    rg_iid d = def_of(s, v, RG_MUL);
    if (!d) {
        if (n == MAX_FACTORS)
            return MAX_FACTORS + 1;
        uint32_t at = n;
        for (; at > 0 && out[at - 1] > v; at--)
            out[at] = out[at - 1];
        out[at] = v;
        return n + 1;
    }
    for (uint32_t k = 0; k < 2 && n <= MAX_FACTORS; k++)
        n = factors(s, rg_operand(s->f, d, k), out, n);
    return n;
}

/* A value with the same factors as v; 0: v is the first. */
static rg_val same_product(state *s, rg_val v) {
    product p = {.value = v};
    p.n = factors(s, v, p.factor, 0);
    if (p.n > MAX_FACTORS)
        return 0;
    uint32_t h = p.n;
    for (uint32_t k = 0; k < p.n; k++)
        h = (h ^ p.factor[k]) * 0x9e3779b1u;
    uint32_t *slot = &s->bucket[(h ^ h >> 15) & s->mask];
    for (uint32_t e = *slot; e; e = s->products.at[e - 1].next) {
        const product *q = &s->products.at[e - 1];
        if (q->n == p.n && memcmp(q->factor, p.factor, p.n * sizeof *p.factor) == 0 &&
            rg_type_of(s->f, q->value) == rg_type_of(s->f, v))
            return q->value;
    }
    p.next = *slot;
    RG_PUSH(s->scratch, &s->products, p);
    *slot = s->products.n;
    return 0;
}

static void forget(state *s, uint32_t n) {
    while (s->products.n > n) {
        const product *p = &s->products.at[--s->products.n];
        uint32_t h = p->n;
        for (uint32_t k = 0; k < p->n; k++)
            h = (h ^ p->factor[k]) * 0x9e3779b1u;
        s->bucket[(h ^ h >> 15) & s->mask] = p->next;
    }
}

/* --- signs and powers of two -------------------------------------------------------------- */

/* *v without its sign. */
static bool take_sign(const state *s, rg_val *v) {
    rg_iid d = def_of(s, *v, RG_NEG);
    if (d)
        *v = rg_operand(s->f, d, 0);
    return d != 0;
}

static bool can_double(state *s, rg_val v, int depth) {
    double c;
    const rg_fn *f = s->f;
    rg_iid d = rg_value_at(f, v)->def;
    if (rg_val_const_real(f, v, &c))
        return c == 0 || c == 0.5;
    if (!d || depth == 0 || *uses_of(s, v) != 1)
        return false;
    switch (rg_ins_at(f, d)->op) {
    case RG_NEG:
        return can_double(s, rg_operand(f, d, 0), depth - 1);
    case RG_MUL:
        return can_double(s, rg_operand(f, d, 0), depth - 1) ||
               can_double(s, rg_operand(f, d, 1), depth - 1);
    case RG_ZMUL:
        return can_double(s, rg_operand(f, d, 1), depth - 1);
    case RG_SELECT:
        return can_double(s, rg_operand(f, d, 1), depth - 1) &&
               can_double(s, rg_operand(f, d, 2), depth - 1);
    default:
        return false;
    }
}

static rg_val doubled(state *s, rg_val v, int depth) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    double c;
    rg_iid d = rg_value_at(f, v)->def;
    if (rg_val_const_real(f, v, &c))
        return rg_b_real(b, rg_type_of(f, v), 2 * c);
    rg_val x = rg_operand(f, d, 0), y = rg_ins_at(f, d)->nopnd > 1 ? rg_operand(f, d, 1) : 0;
    switch (rg_ins_at(f, d)->op) {
    case RG_NEG:
        return rg_b_op1(b, RG_NEG, doubled(s, x, depth - 1));
    case RG_MUL:
        if (can_double(s, x, depth - 1))
            return rg_b_op2(b, RG_MUL, doubled(s, x, depth - 1), y);
        return rg_b_op2(b, RG_MUL, x, doubled(s, y, depth - 1));
    case RG_ZMUL:
        return rg_b_op2(b, RG_ZMUL, x, doubled(s, y, depth - 1));
    default: {
        rg_val z = rg_operand(f, d, 2);
        y = doubled(s, y, depth - 1);
        return rg_b_op3(b, RG_SELECT, x, y, doubled(s, z, depth - 1));
    }
    }
}

/* *v = k * (new *v), k a small integer: u + u, 3 * u, or v itself. */
static double take_multiple(const state *s, rg_val *v) {
    double k;
    rg_iid d = def_of(s, *v, RG_ADD);
    if (d && rg_operand(s->f, d, 0) == rg_operand(s->f, d, 1)) {
        *v = rg_operand(s->f, d, 0);
        return 2;
    }
    d = def_of(s, *v, RG_MUL);
    for (uint32_t n = 0; d && n < 2; n++)
        if (rg_val_const_real(s->f, rg_operand(s->f, d, n), &k) && k >= 2 && k <= 16 &&
            k == (int)k) {
            *v = rg_operand(s->f, d, 1 - n);
            return k;
        }
    return 1;
}

/* v = *g * (result) with g ours and the result the primal's, if v is used here only; else 0. */
static rg_val primal_factor(state *s, rg_val v, rg_val *g) {
    rg_iid d = def_of(s, v, RG_MUL);
    if (!d || *uses_of(s, v) != 1)
        return 0;
    rg_val x = rg_operand(s->f, d, 0), y = rg_operand(s->f, d, 1);
    bool one = s->ours.at[x], two = s->ours.at[y];
    if (one == two)
        return 0;
    *g = one ? x : y;
    return one ? y : x;
}

/* What can take the place of instruction i, built before it; 0: nothing. */
static rg_val better(state *s, rg_iid i) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_op op = (rg_op)rg_ins_at(f, i)->op;
    rg_val r = rg_result(f, i, 0);
    if (op != RG_MUL && op != RG_ZMUL && op != RG_ADD)
        return 0;
    if (!rg_type_is_float(rg_type_of(f, r)))
        return 0;
    rg_val x = rg_operand(f, i, 0), y = rg_operand(f, i, 1);
    if (!s->ours.at[r]) {
        if (op == RG_MUL)
            same_product(s, r);
        return 0;
    }
    if (op == RG_ADD) {
        if (x == y && *uses_of(s, x) == 2) { /* both are here */
            *uses_of(s, x) = 1;
            if (can_double(s, x, MAX_DEPTH))
                return doubled(s, x, MAX_DEPTH);
            *uses_of(s, x) = 2;
        }
        rg_val u = x, v = y;
        double k = take_multiple(s, &u) + take_multiple(s, &v);
        if (u == v && k > 2) /* the same term again and again */
            return rg_b_op2(b, RG_MUL, rg_b_real(b, rg_type_of(f, r), k), u);
        rg_val g = 0, h = 0, m = primal_factor(s, x, &g);
        if (m && m == primal_factor(s, y, &h))
            return rg_b_op2(b, RG_MUL, rg_b_op2(b, RG_ADD, g, h), m);
        bool one = take_sign(s, &x), two = take_sign(s, &y);
        if (one && two)
            return rg_b_op1(b, RG_NEG, rg_b_op2(b, RG_ADD, x, y));
        if (one)
            return rg_b_op2(b, RG_SUB, y, x);
        return two ? rg_b_op2(b, RG_SUB, x, y) : 0;
    }
    bool one = take_sign(s, &x), two = take_sign(s, &y);
    rg_val v = r;
    if (one || two)
        v = rg_b_op2(b, op, x, y);
    if (op == RG_MUL && def_of(s, v, RG_MUL)) {
        rg_val same = same_product(s, v);
        v = same ? same : v;
    }
    if (v == r)
        return 0;
    return one != two ? rg_b_op1(b, RG_NEG, v) : v;
}

static void walk(state *s, rg_rid r) {
    rg_fn *f = s->f;
    rg_build *b = s->b;
    rg_region *g = rg_region_at(f, r);
    uint32_t n = g->ins.n, scope = s->products.n;
    rg_iid *list = RG_NEW_N(s->scratch, rg_iid, n);
    memcpy(list, g->ins.at, n * sizeof *list);
    g->ins.n = 0;
    rg_b_push(b, r);
    for (uint32_t k = 0; k < n; k++) {
        rg_iid i = list[k];
        for (uint32_t j = 0; j < rg_ins_at(f, i)->nopnd; j++) {
            rg_val v = rg_operand(f, i, j);
            if (v < s->nvals && s->map[v])
                f->pool.at[rg_ins_at(f, i)->opnd + j] = s->map[v];
        }
        for (int j = 0; j < 2; j++)
            if (rg_ins_at(f, i)->region[j])
                walk(s, rg_ins_at(f, i)->region[j]);
        b->loc = rg_ins_at(f, i)->loc;
        rg_val v = rg_ins_at(f, i)->nres == 1 ? better(s, i) : 0;
        look_at_new(s);
        if (v) {
            rg_val old = rg_result(f, i, 0);
            s->map[old] = v;
            if (v < s->nvals)
                *uses_of(s, v) += *uses_of(s, old);
            else
                *uses_of(s, v) = *uses_of(s, old);
            if (v >= s->nvals && rg_value_at(f, old)->name)
                rg_b_name(b, v, rg_value_at(f, old)->name);
            rg_ins_at(f, i)->parent = 0;
            s->changed = true;
        } else {
            RG_PUSH(f->arena, &rg_region_at(f, r)->ins, i);
        }
    }
    rg_b_pop(b);
    forget(s, scope);
}

bool rg_ad_algebra(rg_fn *f) {
    state s = {.f = f, .scratch = f->arena, .nvals = f->vals.n};
    if (f->mode != RG_ADJOINT)
        return false;
    s.b = rg_b_new(f);
    s.memory = RG_NEW_N(s.scratch, uint8_t, f->arrays.n + 1);
    for (uint32_t v = 0; v < s.nvals; v++) {
        RG_PUSH(s.scratch, &s.uses, 0);
        RG_PUSH(s.scratch, &s.ours, 0);
    }
    s.map = RG_NEW_N(s.scratch, rg_val, s.nvals + 1);
    uint32_t cap = 64;
    while (cap < s.nvals)
        cap *= 2;
    s.bucket = RG_NEW_N(s.scratch, uint32_t, cap);
    s.mask = cap - 1;
    look(&s, f->body, true);
    while (s.more) {
        s.more = false;
        look(&s, f->body, false);
    }
    walk(&s, f->body);
    return s.changed;
}

/* --- what is rarely added ----------------------------------------------------------------- */

/* The condition that v is zero without; 0: none that is rare. *part: v when it holds. */
static rg_val rare(const rg_fn *f, rg_val v, rg_val *part) {
    double zero;
    rg_iid d = rg_value_at(f, v)->def;
    if (!d || rg_ins_at(f, d)->op != RG_SELECT ||
        !rg_val_const_real(f, rg_operand(f, d, 2), &zero) || zero != 0)
        return 0;
    rg_val c = rg_operand(f, d, 0);
    rg_iid e = rg_value_at(f, c)->def;
    if (!e || rg_ins_at(f, e)->op != RG_EQ || !rg_type_is_float(rg_type_of(f, rg_operand(f, e, 0))))
        return 0;
    *part = rg_operand(f, d, 1);
    return c;
}

static bool skip_zeros(rg_fn *f, rg_build *b, rg_rid r) {
    bool changed = false;
    for (uint32_t k = 0; k < rg_region_at(f, r)->ins.n; k++) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        for (int j = 0; j < 2; j++)
            if (rg_ins_at(f, i)->region[j])
                changed |= skip_zeros(f, b, rg_ins_at(f, i)->region[j]);
        const rg_ins ins = *rg_ins_at(f, i);
        rg_val part = 0, c = 0;
        if (ins.op == RG_ADDTO && f->body != r)
            c = rare(f, rg_operand(f, i, ins.nopnd - 1), &part);
        if (!c)
            continue;
        b->loc = ins.loc;
        rg_b_push_before(b, i);
        rg_iid test = rg_b_if(b, c);
        rg_b_pop(b);
        rg_region_remove(f, i);
        rg_region_insert(f, rg_ins_at(f, test)->region[0], 0, i);
        f->pool.at[ins.opnd + ins.nopnd - 1] = part;
        for (int j = 0; j < 2; j++) {
            rg_b_push(b, rg_ins_at(f, test)->region[j]);
            rg_b_yield(b, NULL, 0);
            rg_b_pop(b);
        }
        rg_b_if_done(b, test);
        changed = true;
    }
    return changed;
}

bool rg_ad_skip_zeros(rg_fn *f) {
    return f->mode == RG_ADJOINT && skip_zeros(f, rg_b_new(f), f->body);
}
