/* The walk mirrors the interpreter (ir/interp.c): a region is run from its first instruction to its
 * yield; what a yield hands back is taken completely before any argument is overwritten, through
 * spare slots where two of the values live in slots. */
#include "runtime/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_GROW = 256, FIRST_SCRATCH = 64 };

static rg_status run_region(rg_walk *w, rg_rid r);

/* ---- values ---- */

uint64_t rg_walk_bits(rg_type t, rg_const c) {
    uint64_t bits = 0;
    if (t == RG_F32) {
        float v = (float)c.f;
        uint32_t word;
        memcpy(&word, &v, sizeof word);
        bits = word;
    } else if (t == RG_F64) {
        memcpy(&bits, &c.f, sizeof bits);
    } else if (t == RG_U32) {
        bits = (uint32_t)c.i;
    } else if (t == RG_BOOL) {
        bits = c.i != 0;
    } else {
        bits = (uint64_t)c.i;
    }
    return bits;
}

rg_const rg_walk_from_bits(rg_type t, uint64_t bits) {
    rg_const c = {.i = 0};
    uint32_t low = (uint32_t)bits;
    if (t == RG_F32) {
        float v;
        memcpy(&v, &low, sizeof v);
        c.f = (double)v;
    } else if (t == RG_F64) {
        memcpy(&c.f, &bits, sizeof c.f);
    } else if (t == RG_U32) {
        c.i = low;
    } else if (t == RG_I32) {
        c.i = (int32_t)low;
    } else if (t == RG_BOOL) {
        c.i = low != 0;
    } else {
        c.i = (int64_t)bits;
    }
    return c;
}

static bool in_slot(const rg_walk *w, rg_val v) {
    return w->plan->slot[v] != 0;
}

static uint32_t slot_of(const rg_walk *w, rg_val v) {
    return w->plan->slot[v] - 1;
}

static rg_const read_scalar(rg_mem m, const unsigned char *p) {
    rg_const c = {.i = 0};
    uint64_t bits = 0;
    memcpy(&bits, p, rg_mem_size(m)); /* little-endian: the low bytes */
    switch (m) {
    case RG_M_BOOL:
        c.i = (bits & 0xff) != 0;
        break;
    case RG_M_I8:
        c.i = (int8_t)bits;
        break;
    case RG_M_I16:
        c.i = (int16_t)bits;
        break;
    case RG_M_I32:
        c.i = (int32_t)bits;
        break;
    case RG_M_F16:
        c.f = (double)rg_half_to_float((uint16_t)bits);
        break;
    case RG_M_F32:
        return rg_walk_from_bits(RG_F32, bits);
    case RG_M_F64:
        return rg_walk_from_bits(RG_F64, bits);
    default:
        c.i = (int64_t)bits;
        break;
    }
    return c;
}

/* Constants and parameters are known wherever they stand, inside tasks too. */
static bool immediate(const rg_walk *w, rg_val v, rg_const *out) {
    rg_op op = rg_def_op(w->f, v);
    if (op != RG_CONST && op != RG_SCALAR)
        return false;
    const rg_ins *i = rg_ins_at(w->f, w->f->vals.at[v].def);
    if (op == RG_SCALAR) {
        const rg_scalar *s = &w->f->scalars.at[i->imm.i];
        *out = read_scalar(s->mem, (const unsigned char *)w->scalars[s->param] + s->offset);
    } else if (rg_type_is_float(rg_type_of(w->f, v))) {
        out->f = i->imm.f;
    } else {
        out->i = i->imm.i;
    }
    return true;
}

rg_status rg_walk_value(rg_walk *w, rg_val v, rg_const *out) {
    if (immediate(w, v, out))
        return RG_OK;
    if (in_slot(w, v) && !w->known[v]) {
        uint64_t bits = 0;
        rg_status s = w->ops->read_slot(w->user, slot_of(w, v), &bits);
        if (s != RG_OK)
            return s;
        w->vals[v] = rg_walk_from_bits(rg_type_of(w->f, v), bits);
        w->known[v] = true;
    }
    *out = w->vals[v];
    return RG_OK;
}

/* to[k] = from[k], all at once. */
static rg_status move(rg_walk *w, const uint32_t *to, const uint32_t *from, uint32_t n) {
    rg_status s = RG_OK;
    uint32_t slots = 0; /* written */
    for (uint32_t k = 0; k < n; k++) {
        w->by_slot[k] = in_slot(w, from[k]) && in_slot(w, to[k]) && !w->known[from[k]];
        if (in_slot(w, to[k]))
            slots += !w->by_slot[k] || slot_of(w, to[k]) != slot_of(w, from[k]);
    }
    for (uint32_t k = 0; k < n && s == RG_OK; k++) {
        if (!w->by_slot[k])
            s = rg_walk_value(w, from[k], &w->moved[k]);
        else if (slots > 1 && slot_of(w, to[k]) != slot_of(w, from[k]))
            s = w->ops->copy_slot(w->user, w->plan->nslots + k, slot_of(w, from[k]));
    }
    for (uint32_t k = 0; k < n && s == RG_OK; k++) {
        rg_val v = to[k];
        if (w->by_slot[k]) {
            uint32_t a = slot_of(w, v), b = slot_of(w, from[k]);
            if (a != b)
                s = w->ops->copy_slot(w->user, a, slots > 1 ? w->plan->nslots + k : b);
            w->known[v] = false;
            continue;
        }
        if (in_slot(w, v)) {
            if (!in_slot(w, from[k]) || slot_of(w, v) != slot_of(w, from[k]))
                s = w->ops->write_slot(w->user, slot_of(w, v),
                                       rg_walk_bits(rg_type_of(w->f, v), w->moved[k]));
            w->known[v] = true;
        }
        w->vals[v] = w->moved[k];
    }
    return s;
}

/* ---- memory ---- */

static const char *array_name(const rg_walk *w, rg_aid a) {
    const char *name = rg_array_at(w->f, a)->name;
    return name && *name ? name : "an array";
}

static rg_status fail_array(rg_walk *w, const rg_ins *i, rg_status s, const char *what,
                            int64_t value) {
    char words[200];
    snprintf(words, sizeof words, "local array '%.80s' %s%" PRId64, array_name(w, i->array), what,
             value);
    return w->ops->fail(w->user, s, i->loc, words);
}

bool rg_walk_count(const rg_walk *w, rg_aid a, uint64_t *out) {
    uint64_t n = 1;
    bool fits = true;
    for (uint32_t k = 0; k < rg_array_at(w->f, a)->rank; k++) {
        uint64_t e = (uint64_t)w->extents[a][k];
        if (e == 0) {
            *out = 0;
            return true;
        }
        fits = fits && !__builtin_mul_overflow(n, e, &n);
    }
    *out = n;
    return fits && n <= (uint64_t)INT64_MAX;
}

/* RG_ARR_GROW: makes room for n elements; doubling, so that a loop that appends stays linear. Its
 * extent is the room that there is. */
static rg_status grow(rg_walk *w, const rg_ins *i, rg_aid id, int64_t n) {
    const rg_ir_array *a = rg_array_at(w->f, id);
    uint64_t size = a->elem->size ? a->elem->size : 1, have = (uint64_t)w->extents[id][0] * size;
    uint64_t need;
    if (n <= w->extents[id][0])
        return RG_OK;
    if (n < 2 * w->extents[id][0])
        n = 2 * w->extents[id][0];
    if (__builtin_mul_overflow((uint64_t)n, size, &need) || need > (uint64_t)INT64_MAX / 4)
        return fail_array(w, i, RG_ERROR_MEMORY, "is too large: elements ", n);
    if (need > w->capacity[id]) {
        rg_status s = w->ops->alloc(w->user, id, need, have, (a->flags & RG_ARR_ZERO) != 0);
        if (s != RG_OK)
            return s;
        w->capacity[id] = need;
    }
    w->extents[id][0] = n;
    return RG_OK;
}

static rg_status run_alloc(rg_walk *w, const rg_ins *i) {
    const rg_ir_array *a = rg_array_at(w->f, i->array);
    if (a->flags & RG_ARR_GROW) {
        w->extents[i->array][0] = 0;
        w->capacity[i->array] = 0;
        return grow(w, i, i->array, FIRST_GROW);
    }
    for (uint32_t k = 0; k < a->rank; k++) {
        rg_const c;
        rg_status s = rg_walk_value(w, w->f->pool.at[i->opnd + k], &c);
        if (s != RG_OK)
            return s;
        /* A save array of a loop that does not run is empty. */
        if (c.i < 0 && !(a->flags & RG_ARR_SAVE))
            return fail_array(w, i, RG_ERROR_FAULT, "has a negative extent: ", c.i);
        w->extents[i->array][k] = c.i < 0 ? 0 : c.i;
    }
    uint64_t n, bytes;
    if (!rg_walk_count(w, i->array, &n) || __builtin_mul_overflow(n, a->elem->size, &bytes) ||
        bytes > (uint64_t)INT64_MAX)
        return fail_array(w, i, RG_ERROR_MEMORY, "is too large: axes ", a->rank);
    return w->ops->alloc(w->user, i->array, bytes, 0, (a->flags & RG_ARR_ZERO) != 0);
}

/* Linear number of the sub-array at the n leading indices. */
static rg_status locate(rg_walk *w, const rg_ins *i, rg_aid id, uint32_t n, bool may_grow,
                        uint64_t *out) {
    const rg_ir_array *a = rg_array_at(w->f, id);
    uint64_t at = 0;
    for (uint32_t k = 0; k < n; k++) {
        rg_const c;
        rg_status s = rg_walk_value(w, w->f->pool.at[i->opnd + k], &c);
        if (s == RG_OK && may_grow && (a->flags & RG_ARR_GROW) && c.i >= 0 && c.i < INT64_MAX)
            s = grow(w, i, id, c.i + 1);
        if (s != RG_OK)
            return s;
        if (c.i < 0 || c.i >= w->extents[id][k])
            return fail_array(w, i, RG_ERROR_FAULT, "is copied at an index outside it: ", c.i);
        at = at * (uint64_t)w->extents[id][k] + (uint64_t)c.i;
    }
    *out = at;
    return RG_OK;
}

static rg_status run_copy(rg_walk *w, const rg_ins *i) {
    const rg_ir_array *to = rg_array_at(w->f, i->array), *from = rg_array_at(w->f, i->array2);
    uint32_t lead_to = to->rank > from->rank ? to->rank - from->rank : 0;
    uint32_t lead_from = from->rank > to->rank ? from->rank - to->rank : 0;
    uint32_t axes = to->rank - lead_to;
    const int64_t *te = w->extents[i->array], *se = w->extents[i->array2];
    uint64_t at_to, at_from, n = 1;
    rg_status s = locate(w, i, i->array2, lead_from, false, &at_from);
    if (s == RG_OK)
        s = locate(w, i, i->array, lead_to, true, &at_to);
    if (s == RG_OK && (to->flags & RG_ARR_GROW) && axes == 1) {
        s = grow(w, i, i->array, se[lead_from]);
        w->extents[i->array][0] = se[lead_from];
    }
    if (s != RG_OK)
        return s;
    for (uint32_t k = 0; k < axes; k++) {
        if (te[lead_to + k] != se[lead_from + k])
            return fail_array(w, i, RG_ERROR_FAULT,
                              "is copied with another extent: ", se[lead_from + k]);
        n *= (uint64_t)te[lead_to + k];
    }
    uint64_t bytes = n * to->elem->size;
    if (!bytes)
        return RG_OK;
    return w->ops->copy(w->user, i->array, at_to * bytes, i->array2, at_from * bytes, bytes);
}

/* ---- tasks ---- */

static bool has_need(const rg_task *t) {
    bool any = false;
    for (uint32_t k = 0; k < t->scratch.n; k++)
        any |= t->scratch.at[k].need != 0;
    for (uint32_t k = 0; k < t->arrays.n; k++)
        any |= t->array_need.at[k] != 0;
    return any;
}

/* Capacities of the task's own arrays: a product of extents, or what was enough last time. */
static rg_status set_scratch(rg_walk *w, uint32_t t) {
    const rg_task *task = &w->plan->tasks.at[t];
    for (uint32_t k = 0; k < task->scratch.n; k++) {
        const rg_task_scratch *s = &task->scratch.at[k];
        uint64_t n = 1;
        if (s->need) {
            if (!w->scratch[t][k])
                w->scratch[t][k] = FIRST_SCRATCH;
            continue;
        }
        const rg_ins *i = rg_ins_at(w->f, s->alloc);
        for (uint32_t x = 0; x < i->nopnd; x++) {
            rg_const c;
            rg_status e = rg_walk_value(w, w->f->pool.at[i->opnd + x], &c);
            if (e != RG_OK)
                return e;
            if (c.i <= 0)
                n = 0;
            else if (__builtin_mul_overflow(n, (uint64_t)c.i, &n))
                return fail_array(w, i, RG_ERROR_MEMORY, "is too large: an axis of ", c.i);
        }
        w->scratch[t][k] = n;
    }
    return RG_OK;
}

static rg_status need_of(rg_walk *w, uint32_t slot, uint64_t *out) {
    uint64_t bits = 0;
    rg_status s = w->ops->read_slot(w->user, slot, &bits);
    *out = (uint32_t)bits;
    return s;
}

/* What did not fit gets room for twice as much; *again when there was any. */
static rg_status meet_needs(rg_walk *w, uint32_t t, bool *again) {
    const rg_task *task = &w->plan->tasks.at[t];
    *again = false;
    for (uint32_t k = 0; k < task->scratch.n; k++) {
        const rg_task_scratch *x = &task->scratch.at[k];
        uint64_t need;
        if (!x->need)
            continue;
        rg_status s = need_of(w, x->need - 1, &need);
        if (s != RG_OK)
            return s;
        if (need <= w->scratch[t][k])
            continue;
        *again = true;
        w->scratch[t][k] = need > 2 * w->scratch[t][k] ? need : 2 * w->scratch[t][k];
    }
    for (uint32_t k = 0; k < task->arrays.n; k++) {
        uint64_t need;
        if (!task->array_need.at[k])
            continue;
        rg_status s = need_of(w, task->array_need.at[k] - 1, &need);
        if (s != RG_OK)
            return s;
        rg_aid a = task->arrays.at[k];
        if (need <= (uint64_t)w->extents[a][0])
            continue;
        *again = true;
        rg_ins at = {.array = a};
        s = grow(w, &at, a, (int64_t)need);
        if (s != RG_OK)
            return s;
    }
    return RG_OK;
}

static rg_status clear_needs(rg_walk *w, const rg_task *task) {
    rg_status s = RG_OK;
    for (uint32_t k = 0; k < task->scratch.n && s == RG_OK; k++)
        if (task->scratch.at[k].need)
            s = w->ops->write_slot(w->user, task->scratch.at[k].need - 1, 0);
    for (uint32_t k = 0; k < task->arrays.n && s == RG_OK; k++)
        if (task->array_need.at[k])
            s = w->ops->write_slot(w->user, task->array_need.at[k] - 1, 0);
    return s;
}

static rg_status dispatch(rg_walk *w, uint32_t t, uint64_t iterations) {
    const rg_task *task = &w->plan->tasks.at[t];
    rg_status s = set_scratch(w, t);
    bool needs = has_need(task), again = false;
    if (needs && s == RG_OK)
        s = w->ops->save(w->user, t);
    do {
        if (s == RG_OK && again)
            s = w->ops->restore(w->user, t);
        if (s == RG_OK && needs)
            s = clear_needs(w, task);
        if (s == RG_OK)
            s = w->ops->dispatch(w->user, t, iterations);
        if (s == RG_OK && needs)
            s = meet_needs(w, t, &again);
    } while (s == RG_OK && again);
    if (needs)
        w->ops->drop(w->user, t);
    for (uint32_t k = 0; k < task->outputs.n; k++)
        w->known[task->outputs.at[k]] = false;
    return s;
}

/* ---- structure ---- */

static uint64_t trip_count(rg_type t, int64_t lo, int64_t hi) {
    bool none = t == RG_U64 ? (uint64_t)hi <= (uint64_t)lo : hi <= lo;
    return none ? 0 : (uint64_t)hi - (uint64_t)lo;
}

/* Reductions are combined in their results' slots, which begin with the initial values. */
static rg_status run_parallel(rg_walk *w, rg_iid id, uint32_t t) {
    const rg_ins *i = rg_ins_at(w->f, id);
    uint32_t ranges = (uint32_t)i->imm.i;
    uint64_t n = 1;
    bool fits = true, empty = false;
    rg_status s = RG_OK;
    for (uint32_t k = 0; k < ranges && s == RG_OK; k++) {
        rg_const lo, hi;
        rg_val v = rg_operand(w->f, id, 2 * k);
        s = rg_walk_value(w, v, &lo);
        if (s == RG_OK)
            s = rg_walk_value(w, rg_operand(w->f, id, 2 * k + 1), &hi);
        if (s != RG_OK)
            break;
        uint64_t trips = trip_count(rg_type_of(w->f, v), lo.i, hi.i);
        empty |= trips == 0;
        fits = fits && !__builtin_mul_overflow(n, trips, &n);
    }
    if (s == RG_OK && i->nres)
        s = move(w, &w->f->pool.at[i->res], &w->f->pool.at[i->opnd + 2 * ranges], i->nres);
    if (s != RG_OK || empty)
        return s;
    if (!fits)
        return w->ops->fail(w->user, RG_ERROR_FAULT, i->loc,
                            "a parallel loop has more than 2^64 iterations");
    return dispatch(w, t, n);
}

static rg_status run_if(rg_walk *w, rg_iid id) {
    const rg_ins *i = rg_ins_at(w->f, id);
    rg_const c;
    rg_status s = rg_walk_value(w, rg_operand(w->f, id, 0), &c);
    if (s != RG_OK)
        return s;
    rg_rid r = i->region[c.i ? 0 : 1];
    s = run_region(w, r);
    if (s != RG_OK || !i->nres)
        return s;
    return move(w, &w->f->pool.at[i->res],
                &w->f->pool.at[rg_ins_at(w->f, rg_yield_of(w->f, r))->opnd], i->nres);
}

static rg_status run_for(rg_walk *w, rg_iid id) {
    const rg_ins *i = rg_ins_at(w->f, id);
    const rg_region *g = rg_region_at(w->f, i->region[0]);
    rg_val iv = g->args.at[0];
    rg_const lo, hi;
    rg_status s = rg_walk_value(w, rg_operand(w->f, id, 0), &lo);
    if (s == RG_OK)
        s = rg_walk_value(w, rg_operand(w->f, id, 1), &hi);
    if (s == RG_OK && i->nres)
        s = move(w, g->args.at + 1, &w->f->pool.at[i->opnd + 2], i->nres);
    uint64_t trips = s == RG_OK ? trip_count(rg_type_of(w->f, iv), lo.i, hi.i) : 0;
    const uint32_t *yielded =
        &w->f->pool.at[rg_ins_at(w->f, rg_yield_of(w->f, i->region[0]))->opnd];
    for (uint64_t k = 0; k < trips && s == RG_OK; k++) {
        w->vals[iv].i =
            (int64_t)(i->flags & RG_INS_REVERSE ? (uint64_t)hi.i - 1 - k : (uint64_t)lo.i + k);
        if (in_slot(w, iv)) {
            w->known[iv] = true;
            s = w->ops->write_slot(w->user, slot_of(w, iv),
                                   rg_walk_bits(rg_type_of(w->f, iv), w->vals[iv]));
        }
        if (s == RG_OK)
            s = run_region(w, i->region[0]);
        if (s == RG_OK && i->nres)
            s = move(w, g->args.at + 1, yielded, i->nres);
    }
    if (s == RG_OK && i->nres)
        s = move(w, &w->f->pool.at[i->res], g->args.at + 1, i->nres);
    return s;
}

static rg_status run_loop(rg_walk *w, rg_iid id) {
    const rg_ins *i = rg_ins_at(w->f, id);
    const rg_region *g = rg_region_at(w->f, i->region[0]);
    const uint32_t *yielded =
        &w->f->pool.at[rg_ins_at(w->f, rg_yield_of(w->f, i->region[0]))->opnd];
    rg_status s = i->nres ? move(w, g->args.at, &w->f->pool.at[i->opnd], i->nres) : RG_OK;
    rg_const again = {.i = 1};
    while (again.i && s == RG_OK) {
        s = run_region(w, i->region[0]);
        if (s == RG_OK)
            s = rg_walk_value(w, yielded[0], &again);
        if (s == RG_OK && i->nres)
            s = move(w, g->args.at, yielded + 1, i->nres);
    }
    if (s == RG_OK && i->nres)
        s = move(w, &w->f->pool.at[i->res], g->args.at, i->nres);
    return s;
}

/* ---- instructions ---- */

/* What C leaves undefined (a division by zero) gives 0 here: nothing that is defined depends on
 * it. */
static rg_status run_pure(rg_walk *w, const rg_ins *i) {
    rg_const x[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
    for (uint32_t k = 0; k < i->nopnd && k < 3; k++) {
        rg_status s = rg_walk_value(w, w->f->pool.at[i->opnd + k], &x[k]);
        if (s != RG_OK)
            return s;
    }
    rg_val r = w->f->pool.at[i->res];
    rg_type xt = i->nopnd ? rg_type_of(w->f, w->f->pool.at[i->opnd]) : RG_VOID;
    w->vals[r].i = 0;
    rg_const out;
    if (rg_eval((rg_op)i->op, rg_type_of(w->f, r), xt, i->imm.i, x, &out))
        w->vals[r] = out;
    return RG_OK;
}

static rg_status run_ins(rg_walk *w, rg_iid id) {
    const rg_fn *f = w->f;
    const rg_ins *i = rg_ins_at(f, id);
    uint32_t t = w->plan->task_of[id];
    if (t)
        return i->op == RG_PARALLEL ? run_parallel(w, id, t - 1) : dispatch(w, t - 1, 1);
    if (w->plan->in_stretch[id])
        return RG_OK;
    rg_val r = i->nres ? f->pool.at[i->res] : 0;
    switch (i->op) {
    case RG_CONST:
    case RG_SCALAR:
        return RG_OK; /* read where they are used */
    case RG_EXTENT:
        w->vals[r].i = w->extents[i->array][i->imm.i];
        break;
    case RG_ALLOC:
        return run_alloc(w, i);
    case RG_COPY:
        return run_copy(w, i);
    case RG_IF:
        return run_if(w, id);
    case RG_FOR:
        return run_for(w, id);
    case RG_LOOP:
        return run_loop(w, id);
    case RG_YIELD: /* read by the region's owner */
        return RG_OK;
    default: {
        if (!rg_op_is_pure((rg_op)i->op))
            return w->ops->fail(w->user, RG_ERROR_INTERNAL, i->loc,
                                "the task plan leaves an access to memory to the host");
        rg_status s = run_pure(w, i);
        if (s != RG_OK)
            return s;
    }
    }
    return RG_OK;
}

static rg_status run_region(rg_walk *w, rg_rid r) {
    const rg_region *g = rg_region_at(w->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_status s = run_ins(w, g->ins.at[k]);
        if (s != RG_OK)
            return s;
    }
    return RG_OK;
}

rg_walk *rg_walk_new(rg_arena *a, const rg_fn *f, const rg_task_plan *plan, const rg_walk_ops *ops,
                     void *user) {
    rg_walk *w = RG_NEW(a, rg_walk);
    *w = (rg_walk){.f = f, .plan = plan, .ops = ops, .user = user};
    w->vals = RG_NEW_N(a, rg_const, f->vals.n + 1);
    w->known = RG_NEW_N(a, bool, f->vals.n + 1);
    w->extents = RG_NEW_N(a, int64_t *, f->arrays.n + 1);
    w->capacity = RG_NEW_N(a, uint64_t, f->arrays.n + 1);
    for (uint32_t k = 1; k < f->arrays.n; k++)
        w->extents[k] = RG_NEW_N(a, int64_t, rg_array_at(f, k)->rank + 1);
    w->scratch = RG_NEW_N(a, uint64_t *, plan->tasks.n + 1);
    for (uint32_t k = 0; k < plan->tasks.n; k++)
        w->scratch[k] = RG_NEW_N(a, uint64_t, plan->tasks.at[k].scratch.n + 1);
    uint32_t most = 0;
    for (uint32_t k = 1; k < f->ins.n; k++)
        if (f->ins.at[k].nres > most)
            most = f->ins.at[k].nres;
    w->moved = RG_NEW_N(a, rg_const, most + 1);
    w->by_slot = RG_NEW_N(a, bool, most + 1);
    w->nslots = plan->nslots ? plan->nslots + most : 0;
    return w;
}

rg_status rg_walk_run(rg_walk *w) {
    if (w->plan->nslots)
        memset(w->known, 0, w->f->vals.n * sizeof *w->known);
    memset(w->capacity, 0, w->f->arrays.n * sizeof *w->capacity);
    return run_region(w, w->f->body);
}
