/* Gradient memory: a parameter's shadow (and its data) is its own memory unless the launch bound
 * several parameters to one array; a local is its own. */
#include "ad/gradmem.h"

#include "ir/affine.h"
#include "ir/meet.h"

#include <stdlib.h>

bool rg_grad_same(const rg_fn *f, const rg_activity *act, rg_aid a, rg_aid b) {
    const rg_array *x = rg_array_at(f, a), *y = rg_array_at(f, b);
    if (a == b)
        return true;
    if (x->kind == RG_ARR_LOCAL || x->kind != y->kind || x->shadow != y->shadow)
        return false;
    if (x->param == y->param)
        return true;
    return act && act->group && x->param < act->nparams && y->param < act->nparams &&
           act->group[x->param] == act->group[y->param];
}

rg_aid rg_grad_array(const rg_fn *f, const rg_activity *act, rg_iid i, rg_aid a) {
    const rg_ins *ins = rg_ins_at(f, i);
    switch (ins->op) {
    case RG_COPY:
        if (rg_grad_same(f, act, ins->array, a))
            return ins->array;
        return rg_grad_same(f, act, ins->array2, a) ? ins->array2 : 0;
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW:
        return rg_grad_same(f, act, ins->array, a) ? ins->array : 0;
    default:
        return 0;
    }
}

/* --- accesses by region and memory -------------------------------------------------------- */

typedef struct access {
    uint32_t class; /* of the memory */
    uint32_t at;    /* position in the text */
    rg_iid ins;
} access;

/* Of one region: accesses to one memory stand together, class[k]'s from first[k] to first[k + 1];
 * those that do more than add again in a list of their own. */
typedef struct contents {
    uint32_t n;
    uint32_t *class;               /* [n] rising */
    uint32_t *first, *first_other; /* [n + 1] */
    rg_iid *all, *others;
} contents;

struct rg_grad_index {
    const rg_fn *f;
    rg_arena *scratch;
    uint32_t *class; /* [narrays] equal for arrays that are the same memory (rg_grad_same) */
    uint32_t narrays, nregions;
    contents **of; /* [nregions] NULL: not walked yet */
};

/* What makes an array the memory that it is. */
typedef struct memory {
    uint32_t kind, shadow, grouped, id;
    rg_aid array;
} memory;

static int compare(uint32_t x, uint32_t y) {
    return x < y ? -1 : x > y;
}

static int same_memory(const memory *x, const memory *y) {
    int c = compare(x->kind, y->kind);
    c = c ? c : compare(x->shadow, y->shadow);
    c = c ? c : compare(x->grouped, y->grouped);
    return c ? c : compare(x->id, y->id);
}

static int by_memory(const void *a, const void *b) {
    const memory *x = a, *y = b;
    int c = same_memory(x, y);
    return c ? c : compare(x->array, y->array);
}

static int by_class(const void *a, const void *b) {
    const access *x = a, *y = b;
    int c = compare(x->class, y->class);
    return c ? c : compare(x->at, y->at);
}

rg_grad_index *rg_grad_index_new(const rg_fn *f, const rg_activity *act, rg_arena *scratch) {
    rg_grad_index *x = RG_NEW(scratch, rg_grad_index);
    *x = (rg_grad_index){.f = f, .scratch = scratch};
    x->narrays = f->arrays.n;
    x->nregions = f->regions.n;
    x->class = RG_NEW_N(scratch, uint32_t, x->narrays);
    x->of = RG_NEW_N(scratch, contents *, x->nregions);
    memory *m = RG_NEW_N(scratch, memory, x->narrays);
    for (rg_aid a = 0; a < x->narrays; a++) {
        const rg_array *array = rg_array_at(f, a);
        bool local = array->kind == RG_ARR_LOCAL || a == 0;
        bool grouped = !local && act && act->group && array->param < act->nparams;
        m[a] = (memory){.kind = local ? RG_ARR_LOCAL : array->kind,
                        .shadow = local ? 0 : array->shadow,
                        .grouped = grouped,
                        .id = local     ? a
                              : grouped ? act->group[array->param]
                                        : array->param,
                        .array = a};
    }
    qsort(m, x->narrays, sizeof *m, by_memory);
    for (uint32_t k = 0; k < x->narrays; k++)
        x->class[m[k].array] =
            k && same_memory(&m[k - 1], &m[k]) == 0 ? x->class[m[k - 1].array] : m[k].array;
    return x;
}

typedef RG_VEC(access) accesses;

static void walk(const rg_grad_index *x, rg_rid r, accesses *out) {
    const rg_region *g = rg_region_at(x->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(x->f, g->ins.at[k]);
        uint32_t class = x->class[ins->array], class2 = x->class[ins->array2];
        switch (ins->op) {
        case RG_COPY:
            if (class2 != class)
                RG_PUSH(x->scratch, out, (access){class2, out->n, g->ins.at[k]});
            RG_PUSH(x->scratch, out, (access){class, out->n, g->ins.at[k]});
            break;
        case RG_LOAD:
        case RG_STORE:
        case RG_ADDTO:
        case RG_RMW:
            RG_PUSH(x->scratch, out, (access){class, out->n, g->ins.at[k]});
            break;
        default:
            break;
        }
        for (int j = 0; j < 2; j++)
            if (ins->region[j])
                walk(x, ins->region[j], out);
    }
}

static contents *contents_of(rg_grad_index *x, rg_rid r) {
    contents *c = x->of[r];
    if (c)
        return c;
    accesses seen = {0};
    walk(x, r, &seen);
    if (seen.n)
        qsort(seen.at, seen.n, sizeof *seen.at, by_class);
    c = x->of[r] = RG_NEW(x->scratch, contents);
    for (uint32_t k = 0; k < seen.n; k++)
        c->n += k == 0 || seen.at[k].class != seen.at[k - 1].class;
    c->class = RG_NEW_N(x->scratch, uint32_t, c->n);
    c->first = RG_NEW_N(x->scratch, uint32_t, c->n + 1);
    c->first_other = RG_NEW_N(x->scratch, uint32_t, c->n + 1);
    c->all = RG_NEW_N(x->scratch, rg_iid, seen.n);
    c->others = RG_NEW_N(x->scratch, rg_iid, seen.n);
    uint32_t n = 0, others = 0;
    for (uint32_t k = 0; k < seen.n; k++) {
        if (k == 0 || seen.at[k].class != seen.at[k - 1].class) {
            c->class[n] = seen.at[k].class;
            c->first[n] = k;
            c->first_other[n++] = others;
        }
        c->all[k] = seen.at[k].ins;
        if (rg_ins_at(x->f, seen.at[k].ins)->op != RG_ADDTO)
            c->others[others++] = seen.at[k].ins;
    }
    c->first[n] = seen.n;
    c->first_other[n] = others;
    return c;
}

/* Where the memory of a is among the classes of region r; c->n: it is not touched. */
static uint32_t position(const rg_grad_index *x, const contents *c, rg_aid a) {
    uint32_t lo = 0, hi = c->n, class = x->class[a];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (c->class[mid] < class)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->class[lo] == class ? lo : c->n;
}

rg_iids rg_grad_accesses(rg_grad_index *x, rg_rid r, rg_aid a) {
    const contents *c = contents_of(x, r);
    uint32_t k = position(x, c, a);
    if (k == c->n)
        return (rg_iids){0};
    return (rg_iids){.at = c->all + c->first[k], .n = c->first[k + 1] - c->first[k]};
}

rg_iids rg_grad_others(rg_grad_index *x, rg_rid r, rg_aid a) {
    const contents *c = contents_of(x, r);
    uint32_t k = position(x, c, a);
    if (k == c->n)
        return (rg_iids){0};
    return (rg_iids){.at = c->others + c->first_other[k],
                     .n = c->first_other[k + 1] - c->first_other[k]};
}

bool rg_grad_may_meet(const rg_fn *f, const rg_activity *act, rg_iid a, rg_iid b, rg_rid shared,
                      rg_iid loop) {
    rg_aid x = rg_ins_at(f, a)->array, y = rg_grad_array(f, act, b, x);
    if (rg_ins_at(f, a)->op == RG_COPY || !y)
        return true;
    const rg_array *one = rg_array_at(f, x), *other = rg_array_at(f, y);
    if (one->rank != other->rank || one->elem != other->elem)
        return true;
    rg_access p = rg_access_of(f, a, x), q = rg_access_of(f, b, y);
    return rg_may_meet(f, &p, &q, shared, loop, loop ? RG_ORDER_OTHER : RG_ORDER_ANY);
}

bool rg_grad_same_index(const rg_fn *f, rg_iid a, rg_iid b) {
    const rg_ins *x = rg_ins_at(f, a), *y = rg_ins_at(f, b);
    if (x->array != y->array || x->leaf != y->leaf)
        return false;
    uint32_t n = rg_ins_nindices(f, x);
    for (uint32_t k = 0; k < n; k++)
        if (!rg_grad_same_value(f, rg_operand(f, a, k), rg_operand(f, b, k)))
            return false;
    return true;
}

bool rg_grad_same_value(const rg_fn *f, rg_val a, rg_val b) {
    int64_t x = 0, y = 0;
    return a == b || (rg_val_const_int(f, a, &x) && rg_val_const_int(f, b, &y) && x == y);
}

bool rg_grad_invariant(const rg_fn *f, rg_val v, rg_rid region) {
    int steps = 64;
    return rg_val_invariant(f, v, region, &steps);
}
