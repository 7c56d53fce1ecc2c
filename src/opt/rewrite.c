/* Rewriting walks. The scratch arena of a pass must go even when the pass throws into the arena of
 * the function: both guards are caught here, and the caller's guard is put back before the throw
 * goes on. */
#include "opt/rewrite.h"

#include <string.h>

bool rg_opt_with_scratch(rg_fn *f, bool (*pass)(rg_fn *f, rg_arena *scratch)) {
    rg_arena *scratch = rg_arena_child(f->arena);
    if (!scratch)
        rg_arena_throw(f->arena, RG_THROW_MEMORY);
    jmp_buf callers;
    memcpy(&callers, rg_arena_guard(f->arena), sizeof callers);
    volatile bool changed = false, inner = false;
    volatile int code = RG_GUARD(f->arena);
    if (!code) {
        code = RG_GUARD(scratch);
        inner = code != 0;
        if (!code)
            changed = pass(f, scratch);
    }
    memcpy(rg_arena_guard(f->arena), &callers, sizeof callers);
    if (code == RG_THROW_INTERNAL && inner) {
        char text[512];
        const char *message = rg_arena_message(scratch);
        strncpy(text, message ? message : "", sizeof text - 1);
        text[sizeof text - 1] = '\0';
        rg_arena_free(scratch);
        rg_bug(f->arena, "%s", text);
    }
    rg_arena_free(scratch);
    if (code)
        rg_arena_throw(f->arena, code);
    return changed;
}

rg_rewrite *rg_rw_new(rg_fn *f, rg_arena *scratch) {
    rg_rewrite *rw = RG_NEW(scratch, rg_rewrite);
    rw->f = f;
    rw->scratch = scratch;
    rw->b.fn = f;
    rw->b.region = f->body;
    rw->cap = f->vals.n;
    rw->map = RG_NEW_N(scratch, rg_val, rw->cap);
    return rw;
}

rg_val rg_rw_val(const rg_rewrite *rw, rg_val v) {
    while (v < rw->cap && rw->map[v])
        v = rw->map[v];
    return v;
}

void rg_rw_set(rg_rewrite *rw, rg_val v, rg_val by) {
    if (v >= rw->cap) {
        uint32_t cap = rw->f->vals.n + rw->f->vals.n / 2;
        rw->map = rg_grow(rw->scratch, rw->map, rw->cap * sizeof *rw->map, cap * sizeof *rw->map);
        rw->cap = cap;
    }
    rw->map[v] = v == by ? 0 : by;
}

rg_ids rg_rw_open(rg_rewrite *rw, rg_rid r) {
    rg_region *g = rg_region_at(rw->f, r);
    rg_ids list = {NULL, g->ins.n};
    if (g->ins.n) {
        list.at = RG_NEW_N(rw->scratch, uint32_t, g->ins.n);
        memcpy(list.at, g->ins.at, g->ins.n * sizeof *list.at);
    }
    g->ins.n = 0;
    rw->b.region = r;
    return list;
}

void rg_rw_operands(rg_rewrite *rw, rg_iid i) {
    rg_fn *f = rw->f;
    rg_ins *ins = rg_ins_at(f, i);
    uint32_t *v = f->pool.at + ins->opnd;
    for (uint32_t k = 0; k < ins->nopnd; k++)
        v[k] = rg_rw_val(rw, v[k]);
    if (ins->op == RG_ALLOC) {
        rg_array *a = rg_array_at(f, ins->array);
        for (uint32_t k = 0; k < a->rank && k < ins->nopnd; k++)
            a->extents[k] = v[k];
    }
}

void rg_rw_keep(rg_rewrite *rw, rg_iid i) {
    rg_fn *f = rw->f;
    RG_PUSH(f->arena, &rg_region_at(f, rw->b.region)->ins, i);
    rg_ins_at(f, i)->parent = rw->b.region;
}

void rg_rw_finish(rg_rewrite *rw) {
    rg_fn *f = rw->f;
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        rg_array *array = rg_array_at(f, a);
        if (array->kind != RG_ARR_LOCAL && array->extents)
            for (uint32_t k = 0; k < array->rank; k++)
                array->extents[k] = rg_rw_val(rw, array->extents[k]);
    }
}

uint32_t rg_opt_first_yielded(const rg_fn *f, rg_iid owner) {
    return rg_ins_at(f, owner)->op == RG_LOOP ? 1 : 0;
}

uint32_t rg_opt_slots(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = rg_ins_at(f, i);
    return ins->op == RG_IF ? ins->nres : ins->nopnd - rg_first_init(f, i);
}

void rg_opt_append_operands(rg_fn *f, rg_iid i, const rg_val *v, uint32_t n) {
    if (!n)
        return;
    uint32_t old = rg_ins_at(f, i)->nopnd, from = rg_ins_at(f, i)->opnd;
    uint32_t at = f->pool.n;
    for (uint32_t k = 0; k < old + n; k++) {
        uint32_t x = k < old ? f->pool.at[from + k] : v[k - old];
        RG_PUSH(f->arena, &f->pool, x);
    }
    rg_ins_at(f, i)->opnd = at;
    rg_ins_at(f, i)->nopnd = old + n;
}

void rg_opt_append_results(rg_fn *f, rg_iid i, const rg_val *like, uint32_t n, rg_val *out) {
    if (!n)
        return;
    uint32_t old = rg_ins_at(f, i)->nres, from = rg_ins_at(f, i)->res;
    uint32_t at = f->pool.n;
    for (uint32_t k = 0; k < old + n; k++) {
        uint32_t x;
        if (k < old) {
            x = f->pool.at[from + k];
        } else {
            x = rg_value_new(f, rg_type_of(f, like[k - old]));
            rg_value_at(f, x)->def = i;
            rg_value_at(f, x)->index = k;
            out[k - old] = x;
        }
        RG_PUSH(f->arena, &f->pool, x);
    }
    rg_ins_at(f, i)->res = at;
    rg_ins_at(f, i)->nres = old + n;
}

/* Keeps the entries first + k of a pool list with keep[k], and all before first. */
static uint32_t filter(uint32_t *list, uint32_t n, uint32_t first, const bool *keep) {
    uint32_t to = first < n ? first : n;
    for (uint32_t k = first; k < n; k++)
        if (keep[k - first])
            list[to++] = list[k];
    return to;
}

void rg_opt_keep_slots(rg_fn *f, rg_iid i, const bool *keep) {
    rg_ins *ins = rg_ins_at(f, i);
    uint32_t slots = rg_opt_slots(f, i), all = 0;
    for (uint32_t k = 0; k < slots; k++)
        all += keep[k];
    if (all == slots)
        return;
    for (int side = 0; side < 2; side++) {
        if (!ins->region[side])
            continue;
        rg_ins *yield = rg_ins_at(f, rg_yield_of(f, ins->region[side]));
        yield->nopnd =
            filter(f->pool.at + yield->opnd, yield->nopnd, rg_opt_first_yielded(f, i), keep);
    }
    if (ins->op != RG_IF) {
        rg_region *body = rg_region_at(f, ins->region[0]);
        body->args.n = filter(body->args.at, body->args.n, rg_first_carried(f, i), keep);
        for (uint32_t k = 0; k < body->args.n; k++)
            rg_value_at(f, body->args.at[k])->index = k;
        if (ins->op == RG_PARALLEL)
            filter(f->pool.at + ins->aux, slots, 0, keep);
        ins->nopnd = filter(f->pool.at + ins->opnd, ins->nopnd, rg_first_init(f, i), keep);
    }
    ins->nres = filter(f->pool.at + ins->res, ins->nres, 0, keep);
    for (uint32_t k = 0; k < ins->nres; k++)
        rg_value_at(f, f->pool.at[ins->res + k])->index = k;
}

bool rg_opt_same_value(const rg_fn *f, rg_val a, rg_val b) {
    int64_t x = 0, y = 0;
    return a == b || (rg_type_of(f, a) == rg_type_of(f, b) && rg_val_const_int(f, a, &x) &&
                      rg_val_const_int(f, b, &y) && x == y);
}

bool rg_opt_same_index(const rg_fn *f, rg_iid a, rg_iid b) {
    const rg_ins *x = rg_ins_at(f, a), *y = rg_ins_at(f, b);
    uint32_t n = rg_ins_nindices(f, x);
    if (n != rg_ins_nindices(f, y))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        rg_val p = f->pool.at[x->opnd + k], q = f->pool.at[y->opnd + k];
        int64_t c, d;
        /* Indices may be of different integer types; as constants they are numbers. */
        if (p != q && !(rg_val_const_int(f, p, &c) && rg_val_const_int(f, q, &d) && c == d))
            return false;
    }
    return true;
}

/* Does cond being true imply lo < hi? */
static bool implies_less(const rg_fn *f, rg_val cond, rg_val lo, rg_val hi, int depth) {
    rg_iid d = rg_value_at(f, cond)->def;
    if (!d || depth > 8)
        return false;
    const rg_ins *ins = rg_ins_at(f, d);
    if (ins->op == RG_LT || ins->op == RG_GT) {
        rg_val x = rg_operand(f, d, ins->op == RG_GT), y = rg_operand(f, d, ins->op == RG_LT);
        return rg_opt_same_value(f, x, lo) && rg_opt_same_value(f, y, hi);
    }
    return ins->op == RG_AND && (implies_less(f, rg_operand(f, d, 0), lo, hi, depth + 1) ||
                                 implies_less(f, rg_operand(f, d, 1), lo, hi, depth + 1));
}

/* -1 unknown, else whether constants lo and hi give an iteration. */
static int constant_trip(const rg_fn *f, rg_iid i) {
    int64_t lo, hi;
    rg_val l = rg_operand(f, i, 0), h = rg_operand(f, i, 1);
    if (l == h)
        return 0;
    if (!rg_val_const_int(f, l, &lo) || !rg_val_const_int(f, h, &hi))
        return -1;
    if (rg_type_of(f, l) == RG_U64)
        return (uint64_t)lo < (uint64_t)hi;
    return lo < hi;
}

bool rg_opt_surely_runs(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = rg_ins_at(f, i);
    if (ins->op == RG_LOOP)
        return true;
    if (ins->op != RG_FOR)
        return false;
    int known = constant_trip(f, i);
    if (known >= 0)
        return known;
    rg_val lo = rg_operand(f, i, 0), hi = rg_operand(f, i, 1);
    for (rg_rid r = ins->parent; r;) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner)
            break;
        const rg_ins *o = rg_ins_at(f, owner);
        if (o->op == RG_IF && o->region[0] == r &&
            implies_less(f, rg_operand(f, owner, 0), lo, hi, 0))
            return true;
        r = o->parent;
    }
    return false;
}

bool rg_opt_never_runs(const rg_fn *f, rg_iid i) {
    return rg_ins_at(f, i)->op == RG_FOR && constant_trip(f, i) == 0;
}

bool rg_opt_movable(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = rg_ins_at(f, i);
    return rg_op_is_pure((rg_op)ins->op) &&
           !(ins->op == RG_EXTENT && rg_array_at(f, ins->array)->kind == RG_ARR_LOCAL);
}

/* May the parameter be bound to the same memory as another one? */
static bool may_be_shared(const rg_fn *f, const rg_array *shadow) {
    const rg_param *p = &f->params.at[shadow->param];
    return p->is_array && !(rg_array_at(f, p->array)->flags & RG_ARR_WRITTEN);
}

rg_aid rg_opt_alias_class(const rg_fn *f, rg_aid a) {
    const rg_array *x = rg_array_at(f, a);
    if (x->kind != RG_ARR_SHADOW || !may_be_shared(f, x))
        return a;
    for (rg_aid c = 1; c < a; c++) {
        const rg_array *y = rg_array_at(f, c);
        if (y->kind == RG_ARR_SHADOW && y->shadow == x->shadow && y->elem == x->elem &&
            may_be_shared(f, y))
            return c;
    }
    return a;
}

static void order_region(const rg_fn *f, rg_order *o, rg_rid r, rg_iid parallel, uint32_t *n) {
    o->enter[r] = ++*n;
    o->parallel[r] = parallel;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                order_region(f, o, ins->region[s], ins->op == RG_PARALLEL ? g->ins.at[k] : parallel,
                             n);
    }
    o->leave[r] = ++*n;
}

rg_order rg_opt_order(const rg_fn *f, rg_arena *scratch) {
    rg_order o = {RG_NEW_N(scratch, uint32_t, f->regions.n),
                  RG_NEW_N(scratch, uint32_t, f->regions.n),
                  RG_NEW_N(scratch, rg_iid, f->regions.n)};
    uint32_t n = 0;
    order_region(f, &o, f->body, 0, &n);
    return o;
}
