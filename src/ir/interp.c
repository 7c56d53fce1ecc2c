/* The interpreter: walks the regions of a function.
 *
 * Every SSA value has one cell, found by its number; a region that runs again simply writes its
 * cells again, and a region's arguments are cells that its owner fills. What a yield hands back is
 * read completely before any argument is written, because an argument may be handed on to another
 * one. Memory is interp_memory.c's, the meaning of the ops rg_eval's. */
#include "ir/interp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ir/interp_memory.h"

typedef struct interp {
    rg_imem m; /* first: its functions take &in->m */
    const rg_fn *f;
    uint64_t steps, max_steps;
    rg_const *yielded; /* room for the operands of any yield */
    size_t n_yielded;
} interp;

static bool run_region(interp *in, rg_rid region);

/* Why rg_eval has no answer, with the values. */
static bool eval_fault(interp *in, const rg_ins *i, const rg_const *x, rg_type t) {
    bool is_unsigned = t == RG_U64;
    char a[24] = "", b[24] = "";
    if (!rg_type_is_float(t)) {
        snprintf(a, sizeof a, is_unsigned ? "%" PRIu64 : "%" PRId64, x[0].i);
        snprintf(b, sizeof b, is_unsigned ? "%" PRIu64 : "%" PRId64, x[1].i);
    }
    switch (i->op) {
    case RG_DIV:
    case RG_REM:
        if (x[1].i == 0)
            return rg_imem_fault(&in->m, i->loc, "division of %s by zero", a);
        return rg_imem_fault(&in->m, i->loc, "division of %s by %s overflows", a, b);
    case RG_SHL:
    case RG_SHR:
        return rg_imem_fault(&in->m, i->loc, "shift of %s by %" PRId64 " is outside 0..%u", a,
                             x[1].i, rg_type_size(t) * 8 - 1);
    default:
        return rg_imem_fault(&in->m, i->loc, "%s has no result", rg_ops[i->op].text);
    }
}

static bool run_pure(interp *in, const rg_ins *i) {
    const rg_fn *f = in->f;
    const uint32_t *opnd = &f->pool.at[i->opnd];
    rg_const x[3] = {{.i = 0}, {.i = 0}, {.i = 0}}, out = {.i = 0};
    for (uint32_t k = 0; k < i->nopnd && k < 3; k++)
        x[k] = in->m.vals[opnd[k]];
    rg_val r = f->pool.at[i->res];
    rg_type xt = i->nopnd ? f->vals.at[opnd[0]].type : RG_VOID;
    if (!rg_eval((rg_op)i->op, f->vals.at[r].type, xt, i->imm.i, x, &out))
        return eval_fault(in, i, x, xt);
    in->m.vals[r] = out;
    return true;
}

/* The values that region r's yield hands back, in in->yielded. */
static uint32_t take_yield(interp *in, rg_rid r) {
    const rg_ins *y = &in->f->ins.at[rg_yield_of(in->f, r)];
    const uint32_t *opnd = &in->f->pool.at[y->opnd];
    for (uint32_t k = 0; k < y->nopnd; k++)
        in->yielded[k] = in->m.vals[opnd[k]];
    return y->nopnd;
}

static void set_all(interp *in, const uint32_t *to, const rg_const *from, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        in->m.vals[to[k]] = from[k];
}

/* Cells of the carried arguments, first filled from i's operands. */
static const uint32_t *init_carried(interp *in, rg_iid id, uint32_t *n) {
    const rg_ins *i = &in->f->ins.at[id];
    uint32_t first = rg_first_init(in->f, id);
    const uint32_t *opnd = &in->f->pool.at[i->opnd + first];
    const rg_region *g = &in->f->regions.at[i->region[0]];
    *n = i->nopnd - first;
    if (*n == 0)
        return NULL;
    const uint32_t *args = g->args.at + rg_first_carried(in->f, id);
    for (uint32_t k = 0; k < *n; k++)
        in->m.vals[args[k]] = in->m.vals[opnd[k]];
    return args;
}

static void carried_to_results(interp *in, const rg_ins *i, const uint32_t *args) {
    const uint32_t *res = &in->f->pool.at[i->res];
    for (uint32_t k = 0; k < i->nres; k++)
        in->m.vals[res[k]] = in->m.vals[args[k]];
}

static uint64_t trip_count(rg_type t, int64_t lo, int64_t hi) {
    bool none = t == RG_U64 ? (uint64_t)hi <= (uint64_t)lo : hi <= lo;
    return none ? 0 : (uint64_t)hi - (uint64_t)lo;
}

static bool run_if(interp *in, const rg_ins *i) {
    rg_rid r = i->region[in->m.vals[in->f->pool.at[i->opnd]].i ? 0 : 1];
    if (!run_region(in, r))
        return false;
    if (i->nres) {
        take_yield(in, r);
        set_all(in, &in->f->pool.at[i->res], in->yielded, i->nres);
    }
    return true;
}

static bool run_for(interp *in, rg_iid id) {
    const rg_ins *i = &in->f->ins.at[id];
    rg_rid r = i->region[0];
    rg_val iv = in->f->regions.at[r].args.at[0];
    int64_t lo = in->m.vals[rg_operand(in->f, id, 0)].i;
    int64_t hi = in->m.vals[rg_operand(in->f, id, 1)].i;
    uint64_t trips = trip_count(in->f->vals.at[iv].type, lo, hi);
    uint32_t n;
    const uint32_t *args = init_carried(in, id, &n);
    for (uint64_t k = 0; k < trips; k++) {
        in->m.vals[iv].i =
            (int64_t)(i->flags & RG_INS_REVERSE ? (uint64_t)hi - 1 - k : (uint64_t)lo + k);
        if (!run_region(in, r))
            return false;
        if (n) {
            take_yield(in, r);
            set_all(in, args, in->yielded, n);
        }
    }
    carried_to_results(in, i, args);
    return true;
}

static bool run_loop(interp *in, rg_iid id) {
    const rg_ins *i = &in->f->ins.at[id];
    uint32_t n;
    const uint32_t *args = init_carried(in, id, &n);
    bool again;
    do {
        if (!run_region(in, i->region[0]))
            return false;
        take_yield(in, i->region[0]);
        again = in->yielded[0].i != 0;
        set_all(in, args, in->yielded + 1, n);
    } while (again);
    carried_to_results(in, i, args);
    return true;
}

static bool run_parallel(interp *in, rg_iid id) {
    const rg_ins *i = &in->f->ins.at[id];
    rg_imem *m = &in->m;
    rg_rid r = i->region[0];
    const uint32_t *ivs = in->f->regions.at[r].args.at;
    bool empty = false;
    uint64_t at[3] = {0, 0, 0};
    uint32_t n;
    const uint32_t *args = init_carried(in, id, &n);
    m->ranges = (uint32_t)i->imm.i;
    m->range_type = in->f->vals.at[ivs[0]].type;
    for (uint32_t k = 0; k < m->ranges; k++) {
        m->lo[k] = m->vals[rg_operand(in->f, id, 2 * k)].i;
        m->count[k] =
            trip_count(m->range_type, m->lo[k], m->vals[rg_operand(in->f, id, 2 * k + 1)].i);
        empty |= m->count[k] == 0;
    }
    m->parallel = ++m->parallels;
    m->touched_n = 0;
    for (m->iteration = 0; !empty; m->iteration++) {
        for (uint32_t k = 0; k < m->ranges; k++)
            m->vals[ivs[k]].i = (int64_t)((uint64_t)m->lo[k] + at[k]);
        if (!run_region(in, r))
            return false;
        if (n) {
            take_yield(in, r);
            set_all(in, args, in->yielded, n);
        }
        uint32_t k = m->ranges; /* the last range runs fastest */
        while (k > 0 && ++at[k - 1] == m->count[k - 1])
            at[--k] = 0;
        empty = k == 0;
    }
    m->parallel = 0;
    carried_to_results(in, i, args);
    return true;
}

static bool run_ins(interp *in, rg_iid id) {
    const rg_ins *i = &in->f->ins.at[id];
    const uint32_t *res = &in->f->pool.at[i->res];
    rg_const *vals = in->m.vals;
    rg_const old;
    switch (i->op) {
    case RG_CONST:
        if (rg_type_is_float(in->f->vals.at[*res].type))
            vals[*res].f = i->imm.f;
        else
            vals[*res].i = i->imm.i;
        return true;
    case RG_SCALAR:
        return rg_imem_scalar(&in->m, i, &vals[*res]);
    case RG_EXTENT:
        return rg_imem_extent(&in->m, i, &vals[*res]);
    case RG_LOAD:
        return rg_imem_load(&in->m, i, &vals[*res]);
    case RG_STORE:
        return rg_imem_store(&in->m, i);
    case RG_ADDTO:
        return rg_imem_addto(&in->m, i);
    case RG_RMW:
        return rg_imem_rmw(&in->m, i, i->nres ? &vals[*res] : &old);
    case RG_ALLOC:
        return rg_imem_alloc(&in->m, i);
    case RG_COPY:
        return rg_imem_copy(&in->m, i);
    case RG_RED:
        vals[*res] = rg_eval_red((rg_red)i->imm.i, in->f->vals.at[*res].type,
                                 vals[rg_operand(in->f, id, 0)], vals[rg_operand(in->f, id, 1)]);
        return true;
    case RG_IF:
        return run_if(in, i);
    case RG_FOR:
        return run_for(in, id);
    case RG_LOOP:
        return run_loop(in, id);
    case RG_PARALLEL:
        return run_parallel(in, id);
    case RG_YIELD: /* read by the region's owner */
        return true;
    default:
        return run_pure(in, i);
    }
}

static bool run_region(interp *in, rg_rid region) {
    const rg_region *g = &in->f->regions.at[region];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        if (in->max_steps && ++in->steps > in->max_steps)
            return rg_imem_fault(&in->m, in->f->ins.at[g->ins.at[k]].loc,
                                 "stopped after %" PRIu64 " instructions", in->max_steps);
        if (!run_ins(in, g->ins.at[k]))
            return false;
    }
    return true;
}

static bool run_body(interp *in) {
    for (uint32_t k = 1; k < in->f->ins.n; k++)
        if (in->f->ins.at[k].op == RG_YIELD && in->f->ins.at[k].nopnd > in->n_yielded)
            in->n_yielded = in->f->ins.at[k].nopnd;
    in->yielded = rg_imem_resize(&in->m, NULL, 0, (in->n_yielded + 1) * sizeof *in->yielded);
    if (!in->yielded)
        return rg_imem_fault(&in->m, in->f->loc, "out of memory");
    return run_region(in, in->f->body);
}

bool rg_interp(const rg_fn *f, const rg_interp_args *args, rg_text *out, rg_loc *loc) {
    interp in = {.f = f, .max_steps = args->max_steps};
    bool ok = rg_imem_init(&in.m, f, args) && run_body(&in);
    rg_imem_resize(&in.m, in.yielded, (in.n_yielded + 1) * sizeof *in.yielded, 0);
    rg_imem_free(&in.m);
    /* Only now: adding text may run out of memory, and then does not come back here. */
    if (!ok) {
        uint32_t line = f->module ? rg_sources_line(f->module->sources, in.m.loc) : 0;
        if (loc)
            *loc = in.m.loc;
        if (out && line)
            rg_text_format(out, "%s:%u: %s", f->name, line, in.m.message);
        else if (out)
            rg_text_format(out, "%s: %s", f->name, in.m.message);
    }
    return ok;
}
