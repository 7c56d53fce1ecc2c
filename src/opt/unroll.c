/* Unrolling of short counted loops, innermost first: the body is built again for each iteration,
 * folding as it goes, so indices into small arrays become constants. */
#include "opt/opt.h"

#include "opt/rewrite.h"

enum { MAX_TRIPS = 8, MAX_INSTRUCTIONS = 256 };

typedef struct unroller {
    rg_rewrite *rw;
    rg_aid *array; /* by array: its copy in the iteration being built, 0: itself */
    uint32_t narrays;
} unroller;

static void copy_list(unroller *u, const rg_iid *list, uint32_t n);

static void copy_name(unroller *u, rg_val from, rg_val to) {
    const char *name = rg_value_at(u->rw->f, from)->name;
    rg_op op = rg_def_op(u->rw->f, to);
    if (name && op != RG_CONST && op != RG_SCALAR)
        rg_b_name(&u->rw->b, to, name);
}

static rg_aid array_copy(const unroller *u, rg_aid a) {
    return a < u->narrays && u->array[a] ? u->array[a] : a;
}

static void copy_pure(unroller *u, rg_iid i) {
    rg_fn *f = u->rw->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_val r = rg_result(f, i, 0), by, x[3] = {0};
    for (uint32_t k = 0; k < ins->nopnd && k < 3; k++)
        x[k] = rg_rw_val(u->rw, rg_operand(f, i, k));
    if (ins->op == RG_EXTENT)
        by = rg_b_extent(&u->rw->b, array_copy(u, ins->array), (uint32_t)ins->imm.i);
    else
        by = rg_b_pure(&u->rw->b, (rg_op)ins->op, rg_type_of(f, r), x, ins->nopnd, ins->imm.i);
    rg_rw_set(u->rw, r, by);
    copy_name(u, r, by);
}

static rg_rid copy_region(unroller *u, rg_rid old, rg_iid owner) {
    rg_rewrite *rw = u->rw;
    rg_fn *f = rw->f;
    rg_rid r = rg_region_new(f, owner);
    for (uint32_t k = 0; k < rg_region_at(f, old)->args.n; k++) {
        rg_val from = rg_region_at(f, old)->args.at[k];
        rg_val to = rg_region_add_arg(f, r, rg_type_of(f, from));
        rg_value_at(f, to)->name = rg_value_at(f, from)->name;
        rg_rw_set(rw, from, to);
    }
    rg_rid here = rw->b.region;
    rw->b.region = r;
    copy_list(u, rg_region_at(f, old)->ins.at, rg_region_at(f, old)->ins.n);
    rw->b.region = here;
    return r;
}

static void copy_ins(unroller *u, rg_iid i) {
    rg_rewrite *rw = u->rw;
    rg_fn *f = rw->f;
    rg_iid n = rg_ins_new(f, (rg_op)rg_ins_at(f, i)->op, rg_ins_at(f, i)->loc);
    rg_ins ins = *rg_ins_at(f, i);
    uint32_t opnd = f->pool.n;
    for (uint32_t k = 0; k < ins.nopnd; k++)
        RG_PUSH(f->arena, &f->pool, rg_rw_val(rw, rg_operand(f, i, k)));
    if (ins.op == RG_ALLOC) {
        rg_array copy = *rg_array_at(f, ins.array);
        copy.extents = copy.rank ? RG_NEW_N(f->arena, rg_val, copy.rank) : NULL;
        for (uint32_t k = 0; k < copy.rank && k < ins.nopnd; k++)
            copy.extents[k] = f->pool.at[opnd + k];
        rg_aid a = rg_array_new(f, &copy);
        if (ins.array >= u->narrays) { /* itself a copy made by an inner loop */
            uint32_t more = f->arrays.n * 2;
            u->array = rg_grow(rw->scratch, u->array, u->narrays * sizeof *u->array,
                               more * sizeof *u->array);
            u->narrays = more;
        }
        u->array[ins.array] = a;
    }
    ins.array = array_copy(u, ins.array);
    ins.array2 = array_copy(u, ins.array2);
    ins.opnd = opnd;
    ins.res = ins.nres = 0;
    for (int s = 0; s < 2; s++)
        if (ins.region[s])
            ins.region[s] = copy_region(u, ins.region[s], n);
    *rg_ins_at(f, n) = ins;
    const rg_ins *old = rg_ins_at(f, i);
    uint32_t nres = old->nres;
    if (nres) {
        rg_val *out = RG_NEW_N(rw->scratch, rg_val, nres);
        rg_val *like = RG_NEW_N(rw->scratch, rg_val, nres);
        for (uint32_t k = 0; k < nres; k++)
            like[k] = rg_result(f, i, k);
        rg_opt_append_results(f, n, like, nres, out);
        for (uint32_t k = 0; k < nres; k++) {
            rg_value_at(f, out[k])->name = rg_value_at(f, like[k])->name;
            rg_rw_set(rw, like[k], out[k]);
        }
    }
    rg_rw_keep(rw, n);
}

static void copy_list(unroller *u, const rg_iid *list, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const rg_ins *ins = rg_ins_at(u->rw->f, list[k]);
        u->rw->b.loc = ins->loc;
        if (rg_op_is_pure((rg_op)ins->op))
            copy_pure(u, list[k]);
        else
            copy_ins(u, list[k]);
    }
}

/* Instructions in region r; UINT32_MAX when it holds something that is never copied. */
static uint32_t size_of(const rg_fn *f, rg_rid r) {
    const rg_region *g = rg_region_at(f, r);
    uint64_t n = 0;
    for (uint32_t k = 0; k < g->ins.n && n < UINT32_MAX; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        n += ins->op != RG_CONST && ins->op != RG_YIELD;
        if (ins->op == RG_PARALLEL)
            return UINT32_MAX;
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                n += size_of(f, ins->region[s]);
    }
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static bool constant_trips(const rg_fn *f, rg_iid i, uint64_t *trips, int64_t *first, bool *down) {
    int64_t lo, hi;
    if (!rg_val_const_int(f, rg_operand(f, i, 0), &lo) ||
        !rg_val_const_int(f, rg_operand(f, i, 1), &hi))
        return false;
    *trips = rg_opt_never_runs(f, i) ? 0 : (uint64_t)hi - (uint64_t)lo;
    *down = (rg_ins_at(f, i)->flags & RG_INS_REVERSE) != 0;
    *first = *down ? (int64_t)((uint64_t)hi - 1) : lo;
    return *trips <= MAX_TRIPS && !(rg_ins_at(f, i)->flags & RG_INS_CHECKPOINT);
}

static void walk_region(unroller *u, rg_rid r) {
    rg_rewrite *rw = u->rw;
    rg_fn *f = rw->f;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k];
        rg_rw_operands(rw, i);
        rg_rid body = rg_ins_at(f, i)->region[0], other = rg_ins_at(f, i)->region[1];
        if (body)
            walk_region(u, body);
        if (other)
            walk_region(u, other);
        uint64_t trips;
        int64_t first;
        bool down;
        if (rg_ins_at(f, i)->op != RG_FOR || !constant_trips(f, i, &trips, &first, &down) ||
            size_of(f, body) > MAX_INSTRUCTIONS / (trips ? trips : 1)) {
            rg_rw_keep(rw, i);
            continue;
        }
        uint32_t n = rg_opt_slots(f, i);
        const rg_region *g = rg_region_at(f, body);
        rg_ids copied = {g->ins.at, g->ins.n - 1};
        rg_iid yield = g->ins.at[g->ins.n - 1];
        rg_val *now = RG_NEW_N(rw->scratch, rg_val, n);
        rg_type t = rg_type_of(f, rg_operand(f, i, 0));
        for (uint32_t s = 0; s < n; s++)
            now[s] = rg_operand(f, i, 2 + s);
        for (uint64_t trip = 0; trip < trips; trip++) {
            int64_t iv = (int64_t)((uint64_t)first + (down ? 0 - trip : trip));
            rw->b.loc = rg_ins_at(f, i)->loc;
            rg_rw_set(rw, rg_region_at(f, body)->args.at[0], rg_b_int(&rw->b, t, iv));
            for (uint32_t s = 0; s < n; s++)
                rg_rw_set(rw, rg_region_at(f, body)->args.at[1 + s], now[s]);
            copy_list(u, copied.at, copied.n);
            for (uint32_t s = 0; s < n; s++)
                now[s] = rg_rw_val(rw, rg_operand(f, yield, s));
        }
        for (uint32_t s = 0; s < n; s++)
            rg_rw_set(rw, rg_result(f, i, s), now[s]);
        rw->changed = true;
    }
    rw->b.region = here;
}

static bool unroll(rg_fn *f, rg_arena *scratch) {
    unroller *u = RG_NEW(scratch, unroller);
    u->rw = rg_rw_new(f, scratch);
    u->narrays = f->arrays.n;
    u->array = RG_NEW_N(scratch, rg_aid, u->narrays);
    walk_region(u, f->body);
    rg_rw_finish(u->rw);
    return u->rw->changed;
}

bool rg_opt_unroll(rg_fn *f) {
    return rg_opt_with_scratch(f, unroll);
}
