/* Races that can be shown by two iterations.
 *
 * No proof that accesses stay apart is asked for: a kernel whose indices nobody can follow is
 * trusted, and checked mode watches it. Here two iterations of a parallel loop are tried, the first
 * ones and some that are a constant of the index apart, and the indices computed in both: a number
 * where all is known, else a sum of values that are the same in both. Where they agree, and the
 * conditions around both accesses hold or are the same for all iterations, the two iterations touch
 * one element, whatever the arguments are; only loops are taken to have a few iterations where
 * their bounds are not constant.
 *
 * A value's form is a constant plus multiples of atoms. An atom is a value that is not taken apart:
 * side 0 when both iterations have the same, else one for each. */
#include "compile/race.h"

#include "ir/eval.h"

#include <string.h>

enum {
    MOST_ATOMS = 5,
    FEW = 4,           /* iterations that a loop without constant bounds is taken to have */
    MOST_APART = 4096, /* iterations between the two */
    MOST_WORK = 400000 /* values looked at for one parallel loop */
};

typedef struct form {
    bool ok;
    int64_t c;
    uint32_t n;
    uint64_t atom[MOST_ATOMS]; /* value * 4 + side, ascending */
    int64_t coef[MOST_ATOMS];
} form;

typedef struct pair { /* of one value in the two iterations */
    form side[2];
} pair;

typedef struct access {
    rg_iid ins;
    bool writes, atomic;
} access;

typedef struct race {
    const rg_fn *f;
    rg_iid parallel;
    rg_rid body;
    uint32_t ranges;
    int64_t at[2][3]; /* the two iterations, counted from the ranges' starts */
    rg_val shifted;   /* variable of a loop inside, `by` further in the second iteration; 0: none */
    int64_t by;
    uint32_t *stamp; /* [values] round in which memo holds it */
    pair *memo;
    uint32_t round, work;
    bool *written; /* [arrays] in the parallel loop */
    RG_VEC(access) list;
    RG_VEC(int64_t) apart;
} race;

/* ---- forms ---- */

static form number(int64_t c) {
    return (form){.ok = true, .c = c};
}

static form atom(rg_val v, unsigned side) {
    form x = {.ok = true, .n = 1};
    x.atom[0] = (uint64_t)v * 4 + side;
    x.coef[0] = 1;
    return x;
}

/* a + k b */
static form add(const form *a, int64_t k, const form *b) {
    form r = {.ok = a->ok && b->ok};
    int64_t t;
    if (!r.ok || __builtin_mul_overflow(k, b->c, &t) || __builtin_add_overflow(a->c, t, &r.c)) {
        r.ok = false;
        return r;
    }
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        bool left = j == b->n || (i < a->n && a->atom[i] <= b->atom[j]);
        bool right = i == a->n || (j < b->n && b->atom[j] <= a->atom[i]);
        int64_t coef = left ? a->coef[i] : 0;
        uint64_t which = left ? a->atom[i] : b->atom[j];
        if (right &&
            (__builtin_mul_overflow(k, b->coef[j], &t) || __builtin_add_overflow(coef, t, &coef))) {
            r.ok = false;
            return r;
        }
        i += left;
        j += right;
        if (!coef)
            continue;
        if (r.n == MOST_ATOMS) {
            r.ok = false;
            return r;
        }
        r.atom[r.n] = which;
        r.coef[r.n++] = coef;
    }
    return r;
}

static bool same(const form *a, const form *b) {
    return a->ok && b->ok && a->c == b->c && a->n == b->n &&
           memcmp(a->atom, b->atom, a->n * sizeof *a->atom) == 0 &&
           memcmp(a->coef, b->coef, a->n * sizeof *a->coef) == 0;
}

static bool known(const form *a) {
    return a->ok && a->n == 0;
}

/* ---- values in the two iterations ---- */

static const pair *eval(race *r, rg_val v);

/* Of a bound hi = atom + c that stands over a constant start, the least that it is taken to be. */
static bool least_of(race *r, uint64_t which, int64_t *out) {
    const rg_fn *f = r->f;
    for (uint32_t k = 0; k < r->ranges; k++) {
        int64_t lo;
        if (!rg_val_const_int(f, rg_operand(f, r->parallel, 2 * k), &lo))
            continue;
        const form *hi = &eval(r, rg_operand(f, r->parallel, 2 * k + 1))->side[0];
        if (!hi->ok || hi->n != 1 || hi->coef[0] != 1 || hi->atom[0] != which)
            continue;
        int64_t trips = FEW;
        for (int s = 0; s < 2; s++)
            if (r->at[s][k] >= trips)
                trips = r->at[s][k] + 1;
        *out = lo + trips - hi->c;
        return true;
    }
    return false;
}

/* Is x >= least for certain? */
static bool at_least(race *r, const form *x, int64_t least) {
    int64_t sum = x->c;
    for (uint32_t k = 0; k < x->n; k++) {
        int64_t low, t;
        if (x->coef[k] < 0 || !least_of(r, x->atom[k], &low) ||
            __builtin_mul_overflow(x->coef[k], low, &t) || __builtin_add_overflow(sum, t, &sum))
            return false;
    }
    return x->ok && sum >= least;
}

/* The truth of a comparison, when it is certain. */
static bool decide(race *r, rg_op op, const form *a, const form *b, int64_t *out) {
    form up = add(b, -1, a), down = add(a, -1, b);
    if (!up.ok || !down.ok)
        return false;
    bool less = at_least(r, &up, 1), not_less = at_least(r, &down, 0);
    bool more = at_least(r, &down, 1), not_more = at_least(r, &up, 0);
    bool equal = up.n == 0 && up.c == 0, differ = less || more;
    switch (op) {
    case RG_LT:
        *out = less;
        return less || not_less;
    case RG_GE:
        *out = not_less;
        return less || not_less;
    case RG_GT:
        *out = more;
        return more || not_more;
    case RG_LE:
        *out = not_more;
        return more || not_more;
    case RG_EQ:
        *out = equal;
        return equal || differ;
    case RG_NE:
        *out = differ;
        return equal || differ;
    default:
        return false;
    }
}

static bool fits(rg_type t, int64_t c) {
    switch (t) {
    case RG_BOOL:
        return c == 0 || c == 1;
    case RG_I32:
        return c == (int64_t)(int32_t)c;
    case RG_U32:
        return c == (int64_t)(uint32_t)c;
    case RG_U64:
        return c >= 0;
    default:
        return true;
    }
}

/* The value of a pure operation on one side; not ok: it has to stay an atom. */
static form compute(race *r, rg_iid d, int s) {
    const rg_fn *f = r->f;
    const rg_ins *i = rg_ins_at(f, d);
    rg_type t = rg_type_of(f, rg_result(f, d, 0)), from = rg_type_of(f, rg_operand(f, d, 0));
    form x[3], bad = {.ok = false}, out = bad;
    if (!rg_type_is_int(from) && from != RG_BOOL)
        return bad;
    bool all = true;
    for (uint32_t k = 0; k < i->nopnd; k++) {
        x[k] = eval(r, rg_operand(f, d, k))->side[s];
        all &= known(&x[k]);
    }
    switch (i->op) {
    case RG_ADD:
        out = add(&x[0], 1, &x[1]);
        break;
    case RG_SUB:
        out = add(&x[0], -1, &x[1]);
        break;
    case RG_NEG:
        out = number(0);
        out = add(&out, -1, &x[0]);
        break;
    case RG_MUL: {
        form zero = number(0);
        if (known(&x[1]))
            out = add(&zero, x[1].c, &x[0]);
        else if (known(&x[0]))
            out = add(&zero, x[0].c, &x[1]);
        break;
    }
    case RG_CAST:
        if (rg_type_is_int(t))
            out = x[0];
        break;
    case RG_SELECT:
        if (known(&x[0]))
            out = x[0].c ? x[1] : x[2];
        break;
    case RG_REM: { /* x % n with 0 <= x < n is x */
        form above = add(&x[1], -1, &x[0]);
        if (known(&x[0]) && x[0].c >= 0 && !known(&x[1]) && at_least(r, &above, 1))
            out = x[0];
        break;
    }
    default: {
        int64_t truth;
        if (t == RG_BOOL && i->nopnd == 2 && decide(r, (rg_op)i->op, &x[0], &x[1], &truth))
            out = number(truth);
        break;
    }
    }
    if (!out.ok && all && (rg_type_is_int(t) || t == RG_BOOL)) {
        rg_const in[3] = {{.i = x[0].c}, {.i = i->nopnd > 1 ? x[1].c : 0}, {.i = 0}}, result;
        if (rg_eval((rg_op)i->op, t, from, i->imm.i, in, &result))
            out = number(result.i);
    }
    if (out.ok && out.n == 0 && !fits(t, out.c))
        return bad;
    return out;
}

static bool operands_agree(race *r, rg_iid d) {
    for (uint32_t k = 0; k < rg_ins_at(r->f, d)->nopnd; k++) {
        const pair *x = eval(r, rg_operand(r->f, d, k));
        if (!same(&x->side[0], &x->side[1]))
            return false;
    }
    return true;
}

/* The argument of a region inside the body: only the variable of a counted loop is followed. */
static pair argument(race *r, rg_val v) {
    const rg_fn *f = r->f;
    pair out = {{atom(v, 1), atom(v, 2)}};
    rg_rid region = rg_value_at(f, v)->region;
    rg_iid owner = rg_region_at(f, region)->owner;
    uint32_t index = rg_value_at(f, v)->index;
    if (owner == r->parallel) {
        if (index < r->ranges)
            for (int s = 0; s < 2; s++) {
                form start = eval(r, rg_operand(f, owner, 2 * index))->side[0];
                start.ok = start.ok && !__builtin_add_overflow(start.c, r->at[s][index], &start.c);
                if (start.ok)
                    out.side[s] = start;
            }
        return out;
    }
    if (rg_ins_at(f, owner)->op != RG_FOR || index != 0)
        return out;
    for (uint32_t k = 0; k < 2; k++) {
        const pair *bound = eval(r, rg_operand(f, owner, k));
        if (!same(&bound->side[0], &bound->side[1]))
            return out;
    }
    out.side[0] = out.side[1] = atom(v, 0);
    if (v == r->shifted)
        out.side[1].c = r->by;
    return out;
}

static pair fresh(race *r, rg_val v) {
    const rg_fn *f = r->f;
    pair apart = {{atom(v, 1), atom(v, 2)}}, one = {{atom(v, 0), atom(v, 0)}};
    rg_iid d = rg_value_at(f, v)->def;
    bool inside = rg_region_inside(f, rg_val_region(f, v), r->body);
    if (!d)
        return inside ? argument(r, v) : one;
    const rg_ins *i = rg_ins_at(f, d);
    if (i->op == RG_CONST && !rg_type_is_float(rg_type_of(f, v))) {
        pair c = {{number(i->imm.i), number(i->imm.i)}};
        return c;
    }
    if (i->op == RG_LOAD && inside && (r->written[i->array] || !operands_agree(r, d)))
        return apart;
    if (i->op == RG_LOAD || i->op == RG_EXTENT || i->op == RG_SCALAR)
        return one;
    if (!rg_op_is_pure((rg_op)i->op) || i->nres != 1 || i->nopnd == 0 || i->nopnd > 3)
        return inside ? apart : one;
    pair out = {{compute(r, d, 0), compute(r, d, 1)}};
    bool agree = (!out.side[0].ok || !out.side[1].ok) && (!inside || operands_agree(r, d));
    for (int s = 0; s < 2; s++)
        if (!out.side[s].ok)
            out.side[s] = agree ? one.side[s] : apart.side[s];
    return out;
}

static const pair *eval(race *r, rg_val v) {
    if (r->stamp[v] != r->round) {
        r->stamp[v] = r->round;
        r->work++;
        pair apart = {{atom(v, 1), atom(v, 2)}};
        r->memo[v] = apart; /* should it lead back to itself */
        pair x = fresh(r, v);
        r->memo[v] = x;
    }
    return &r->memo[v];
}

/* ---- accesses ---- */

/* Does the access happen in iteration s? Certainly, or in all iterations as in one: then *open is
 * an `if` around it whose condition nobody knows and that is not around the access `other` as well.
 * Two such, one for each access, might exclude each other. */
static bool happens(race *r, rg_iid i, int s, rg_iid other, rg_iid *open) {
    const rg_fn *f = r->f;
    for (rg_rid g = rg_ins_at(f, i)->parent; g != r->body;) {
        rg_iid owner = rg_region_at(f, g)->owner;
        const rg_ins *o = rg_ins_at(f, owner);
        if (o->op == RG_IF) {
            const pair *c = eval(r, rg_operand(f, owner, 0));
            if (known(&c->side[s])) {
                if ((c->side[s].c != 0) != (o->region[0] == g))
                    return false;
            } else if (!same(&c->side[0], &c->side[1])) {
                return false;
            } else if (!rg_region_inside(f, rg_ins_at(f, other)->parent, g)) {
                *open = owner;
            }
        } else if (o->op == RG_FOR) {
            const pair *lo = eval(r, rg_operand(f, owner, 0));
            const pair *hi = eval(r, rg_operand(f, owner, 1));
            if (!same(&lo->side[0], &lo->side[1]) || !same(&hi->side[0], &hi->side[1])) {
                form trips = add(&hi->side[s], -1, &lo->side[s]);
                if (!at_least(r, &trips, 1))
                    return false;
            }
        }
        g = o->parent;
    }
    return true;
}

static bool meet(race *r, const access *a, const access *b) {
    const rg_fn *f = r->f;
    const rg_ins *x = rg_ins_at(f, a->ins), *y = rg_ins_at(f, b->ins);
    rg_iid open[2] = {0};
    if (!happens(r, a->ins, 0, b->ins, &open[0]) || !happens(r, b->ins, 1, a->ins, &open[1]) ||
        (open[0] && open[1]))
        return false;
    for (uint32_t k = 0; k < rg_ins_nindices(f, x); k++)
        if (!same(&eval(r, f->pool.at[x->opnd + k])->side[0],
                  &eval(r, f->pool.at[y->opnd + k])->side[1]))
            return false;
    return true;
}

static int64_t trips_of(const rg_fn *f, rg_iid loop, uint32_t k) {
    int64_t lo, hi;
    return rg_val_const_int(f, rg_operand(f, loop, 2 * k), &lo) &&
                   rg_val_const_int(f, rg_operand(f, loop, 2 * k + 1), &hi)
               ? hi - lo
               : INT64_MAX;
}

static void say(race *r, rg_diags *d, const access *a, const access *b) {
    const rg_fn *f = r->f;
    const rg_ins *x = rg_ins_at(f, a->ins), *y = rg_ins_at(f, b->ins);
    const char *name = rg_array_at(f, x->array)->name;
    rg_text which[2] = {{.arena = d->arena}, {.arena = d->arena}};
    for (int s = 0; s < 2; s++) {
        if (r->ranges > 1)
            rg_text_char(&which[s], '(');
        for (uint32_t k = 0; k < r->ranges; k++) {
            int64_t lo = 0;
            rg_val start = rg_operand(f, r->parallel, 2 * k);
            bool fixed = rg_val_const_int(f, start, &lo);
            rg_text_add(&which[s], k ? ", " : "");
            if (fixed || r->at[s][k])
                rg_text_format(&which[s], fixed ? "%lld" : "start + %lld",
                               (long long)(lo + r->at[s][k]));
            else
                rg_text_add(&which[s], "start");
        }
        if (r->ranges > 1)
            rg_text_char(&which[s], ')');
    }
    const char *one = rg_text_str(&which[0]), *other = rg_text_str(&which[1]);
    if (x->loc == y->loc) {
        rg_error(d, x->loc,
                 "put '#pragma omp atomic' before it if it is an update, or give each iteration an "
                 "element of its own",
                 "iterations %s and %s of the parallel loop write the same element of '%s': a race",
                 one, other, name);
        rg_note(d, rg_ins_at(f, r->parallel)->loc, "the parallel loop is here");
        return;
    }
    const char *does = !b->writes ? "reads" : b->atomic ? "updates" : "writes";
    rg_error(d, x->loc,
             b->writes ? "give each iteration elements of its own, or make both updates atomic"
                       : "write into another array, or split the loop into one that reads and one "
                         "that writes",
             "iteration %s of the parallel loop %s an element of '%s' that iteration %s %s: a race",
             one, a->atomic ? "updates" : "writes", name, other, does);
    rg_note(d, y->loc, "iteration %s %s it here", other, does);
}

/* ---- candidates ---- */

static void add_apart(race *r, rg_arena *a, int64_t n) {
    if (n < 1 || n > MOST_APART)
        return;
    for (uint32_t k = 0; k < r->apart.n; k++)
        if (r->apart.at[k] == n)
            return;
    RG_PUSH(a, &r->apart, n);
}

static void collect(race *r, rg_arena *a, rg_rid region) {
    const rg_fn *f = r->f;
    const rg_region *g = rg_region_at(f, region);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid id = g->ins.at[k];
        const rg_ins *i = rg_ins_at(f, id);
        bool atomic = (i->flags & RG_INS_ATOMIC) != 0;
        int64_t c;
        switch (i->op) {
        case RG_LOAD:
            RG_PUSH(a, &r->list, (access){id, false, atomic});
            break;
        case RG_STORE:
        case RG_ADDTO:
        case RG_RMW:
            r->written[i->array] = true;
            RG_PUSH(a, &r->list, (access){id, true, atomic || i->op == RG_RMW});
            break;
        case RG_REM:
            if (rg_val_const_int(f, rg_operand(f, id, 1), &c))
                add_apart(r, a, c);
            break;
        case RG_AND:
            for (uint32_t q = 0; q < 2; q++)
                if (rg_val_const_int(f, rg_operand(f, id, q), &c) && c < MOST_APART)
                    add_apart(r, a, c + 1);
            break;
        default:
            break;
        }
        for (int s = 0; s < 2; s++)
            if (i->region[s])
                collect(r, a, i->region[s]);
    }
}

static bool lives_inside(const race *r, rg_aid a) {
    const rg_fn *f = r->f;
    if (rg_array_at(f, a)->kind != RG_ARR_LOCAL)
        return false;
    for (rg_iid i = 1; i < f->ins.n; i++)
        if (rg_ins_at(f, i)->parent && rg_ins_at(f, i)->op == RG_ALLOC &&
            rg_ins_at(f, i)->array == a)
            return rg_region_inside(f, rg_ins_at(f, i)->parent, r->body);
    return false;
}

/* In the two iterations as they are chosen, and with each loop around the write one or two steps
 * further in the second. */
static bool try(race *r, const access *a, const access *b) {
    const rg_fn *f = r->f;
    r->shifted = 0;
    r->round++;
    if (meet(r, a, b))
        return true;
    for (rg_rid g = rg_ins_at(f, a->ins)->parent; g != r->body;) {
        rg_iid owner = rg_region_at(f, g)->owner;
        g = rg_ins_at(f, owner)->parent;
        if (rg_ins_at(f, owner)->op != RG_FOR)
            continue;
        r->shifted = rg_region_at(f, rg_ins_at(f, owner)->region[0])->args.at[0];
        int64_t trips = trips_of(f, owner, 0);
        for (int64_t by = -2; by <= 2; by++) {
            int64_t size = by < 0 ? -by : by;
            if (!by || size >= trips || (size > 1 && trips == INT64_MAX))
                continue;
            r->by = by;
            r->round++;
            if (meet(r, a, b))
                return true;
        }
    }
    return false;
}

/* All pairs of iterations of interest; true at the first that shows a race of a and b. */
static bool search(race *r, const access *a, const access *b) {
    const rg_fn *f = r->f;
    for (uint32_t k = 0; k < r->ranges; k++)
        for (uint32_t q = 0; q < r->apart.n; q++)
            for (int64_t first = 0; first < 2; first++)
                for (int back = 0; back < 2; back++) {
                    int64_t last = first + r->apart.at[q], trips = trips_of(f, r->parallel, k);
                    if (last >= trips || r->work > MOST_WORK)
                        continue;
                    memset(r->at, 0, sizeof r->at);
                    r->at[back][k] = first;
                    r->at[1 - back][k] = last;
                    if (try(r, a, b))
                        return true;
                }
    return false;
}

/* A race of write number i with another write, or with a read. */
static bool show(race *r, rg_diags *d, uint32_t i, bool reads) {
    const access *x = &r->list.at[i];
    const rg_ins *xi = rg_ins_at(r->f, x->ins);
    if (x->atomic && !reads)
        return false; /* its turn comes as the other one */
    for (uint32_t j = 0; j < r->list.n; j++) {
        const access *y = &r->list.at[j];
        const rg_ins *yi = rg_ins_at(r->f, y->ins);
        if (y->writes == reads || (y->writes && !y->atomic && j < i) || yi->array != xi->array ||
            yi->leaf != xi->leaf || (x->atomic && y->atomic) || !search(r, x, y))
            continue;
        say(r, d, x, y);
        return true;
    }
    return false;
}

static void parallel(const rg_fn *f, rg_iid p, rg_diags *d) {
    rg_arena *a = d->arena;
    race r = {.f = f, .parallel = p, .body = rg_ins_at(f, p)->region[0]};
    r.ranges = (uint32_t)rg_ins_at(f, p)->imm.i;
    r.stamp = RG_NEW_N(a, uint32_t, f->vals.n);
    r.memo = RG_NEW_N(a, pair, f->vals.n);
    r.written = RG_NEW_N(a, bool, f->arrays.n);
    add_apart(&r, a, 1);
    add_apart(&r, a, 2);
    collect(&r, a, r.body);
    bool *own = RG_NEW_N(a, bool, f->arrays.n);
    for (rg_aid k = 1; k < f->arrays.n; k++)
        own[k] = !r.written[k] || lives_inside(&r, k);
    /* Two writes first: of an update, that says more than that what is written is read as well. */
    for (int reads = 0; reads < 2; reads++)
        for (uint32_t i = 0; i < r.list.n; i++)
            if (r.list.at[i].writes && !own[rg_ins_at(f, r.list.at[i].ins)->array] &&
                show(&r, d, i, reads))
                return; /* one is enough: the others come from the same cause, mostly */
}

void rg_race_check(const rg_fn *f, rg_diags *d) {
    for (rg_iid i = 1; i < f->ins.n; i++)
        if (rg_ins_at(f, i)->parent && rg_ins_at(f, i)->op == RG_PARALLEL)
            parallel(f, i, d);
}
