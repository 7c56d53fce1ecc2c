/* Hints above loops of the CPU form.
 *
 * `#pragma omp simd` where the adjoint's own sums may be added in any order (RG_INS_FREE, and the
 * reductions of parallel loops in adjoints) and no two iterations touch the same element: without
 * it the C compiler has to keep the order of the additions and cannot vectorise. Never over a loop
 * of the primal: its sums keep the source's order.
 *
 * `#pragma GCC unroll` over loops of few constant trips: small matrices become straight-line code.
 * Not over those that make vectors by themselves.
 */
#include "emit/c/cpu.h"

#include "ir/affine.h"
#include "ir/meet.h"
#include "ir/poly.h"
#include "ir/sum.h"

enum { UNROLL_TRIPS = 16, UNROLL_SIZE = 2048, VECTOR_TRIPS = 8 };

typedef struct accesses {
    rg_iid at[RG_ACCESSES];
    uint32_t n;
} accesses;

/* Does y come from arg by min or max alone? Those give the same in any order (but for the sign of a
 * zero): a NaN loses against any value, so no lane ever holds one. */
static bool is_extreme(const rg_fn *f, rg_rid body, rg_val arg, rg_val y, rg_red kind) {
    while (y != arg) {
        rg_iid d = f->vals.at[y].def;
        if (!d || f->ins.at[d].op != RG_RED || f->ins.at[d].imm.i != (int64_t)kind ||
            f->ins.at[d].parent != body || rg_uses_in(f, body, y) != 1)
            return false;
        y = rg_operand(f, d, 0);
    }
    return rg_uses_in(f, body, arg) == 1;
}

/* Sums, least and largest values only: clauses for the live ones to out; false otherwise. */
static bool reductions(rg_cprint *p, rg_iid i, rg_text *out, bool *extreme) {
    static const char *const signs[] = {
        [RG_RED_ADD] = "+", [RG_RED_MIN] = "min", [RG_RED_MAX] = "max"};
    const rg_fn *f = p->f;
    const rg_ins *q = &f->ins.at[i];
    rg_rid body = q->region[0];
    for (uint32_t k = 0; k < q->nres; k++) {
        if (!rg_cplan_slot_live(p->plan, i, k))
            continue;
        rg_val arg = f->regions.at[body].args.at[rg_first_carried(f, i) + k];
        rg_val y = rg_operand(f, rg_yield_of(f, body), k);
        rg_red kind = q->op == RG_PARALLEL ? (rg_red)f->pool.at[q->aux + k] : RG_RED_ADD;
        if (kind == RG_RED_MIN || kind == RG_RED_MAX) {
            if (!is_extreme(f, body, arg, y, kind) || rg_type_of(f, arg) == RG_BOOL)
                return false;
            *extreme = true;
        } else if (kind != RG_RED_ADD || !rg_is_sum(f, body, arg, y)) {
            return false;
        }
        rg_text_format(out, " reduction(%s : %s)", signs[kind],
                       p->plan->vars.at[rg_cplan_slot_var(p->plan, i, k)].name);
    }
    return true;
}

static bool apart(rg_cprint *p, rg_iid loop, const accesses *all) {
    const rg_fn *f = p->f;
    const rg_cpu *s = p->user;
    rg_rid shared = f->ins.at[loop].parent;
    for (uint32_t k = 0; k < all->n; k++) {
        const rg_ins *a = &f->ins.at[all->at[k]];
        if (a->op == RG_LOAD)
            continue;
        if (s->in_task && !s->alone && (a->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE)))
            return false; /* printed as an atomic */
        if (a->flags & RG_INS_ATOMIC && !(a->flags & RG_INS_PRIVATE))
            return false;
        for (uint32_t n = 0; n < all->n; n++) {
            const rg_ins *b = &f->ins.at[all->at[n]];
            if (b->array != a->array || b->leaf != a->leaf)
                continue;
            rg_access x = rg_access_of(f, all->at[k], a->array),
                      y = rg_access_of(f, all->at[n], b->array);
            if (rg_may_meet(f, &x, &y, shared, loop, RG_ORDER_OTHER))
                return false;
        }
    }
    return true;
}

static int64_t constant_trips(const rg_fn *f, rg_iid i) {
    int64_t lo, hi;
    if (f->ins.at[i].op != RG_FOR || !rg_val_const_int(f, rg_operand(f, i, 0), &lo) ||
        !rg_val_const_int(f, rg_operand(f, i, 1), &hi) || hi <= lo || hi - lo > UNROLL_TRIPS)
        return 0;
    return hi - lo;
}

/* Is v fixed once the loops of few constant trips around it are unrolled? */
static bool settled(const rg_fn *f, rg_val v) {
    rg_affine a = rg_affine_of(f, v);
    for (uint32_t k = 0; a.ok && k < a.n; k++) {
        const rg_value *x = &f->vals.at[a.term[k]];
        if (x->def || x->index || !constant_trips(f, f->regions.at[x->region].owner))
            return false;
    }
    return a.ok;
}

/* Most trips of a loop that unrolling fixes, as those over a triangle of a matrix; 0: no such. */
static int64_t most_trips(const rg_fn *f, rg_iid i) {
    int64_t n = constant_trips(f, i);
    if (n || f->ins.at[i].op != RG_FOR)
        return n;
    rg_range lo = rg_range_of(f, rg_operand(f, i, 0)), hi = rg_range_of(f, rg_operand(f, i, 1));
    n = hi.hi > lo.lo && hi.hi - lo.lo <= UNROLL_TRIPS ? (int64_t)(hi.hi - lo.lo) : 0;
    return n && settled(f, rg_operand(f, i, 0)) && settled(f, rg_operand(f, i, 1)) ? n : 0;
}

/* Instructions when all that can be is unrolled; past UNROLL_SIZE it does not matter how far. */
static int64_t unrolled_size(rg_cprint *p, rg_rid r) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    int64_t n = 0;
    for (uint32_t k = 0; k < g->ins.n && n <= UNROLL_SIZE; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *q = &f->ins.at[i];
        int64_t trips = q->op == RG_FOR ? most_trips(f, i) : 1;
        if (q->op == RG_LOOP || q->op == RG_PARALLEL || q->op == RG_ALLOC)
            return UNROLL_SIZE + 1;
        if (q->op == RG_FOR && !trips)
            trips = UNROLL_TRIPS / 2; /* bounded by an outer loop's variable, most likely */
        else if (q->op == RG_FOR && !constant_trips(f, i))
            trips = (trips + 1) / 2;
        n++;
        for (int s = 0; s < 2; s++)
            if (q->region[s])
                n += trips * unrolled_size(p, q->region[s]);
    }
    return n;
}

bool rg_cpu_simd(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *q = &f->ins.at[i];
    accesses all = {.n = 0};
    rg_text names = {.arena = p->arena};
    bool extreme = false,
         own = q->op == RG_PARALLEL ? f->mode == RG_ADJOINT : (q->flags & RG_INS_FREE) != 0;
    if (!own || p->checked || !rg_accesses_in(f, q->region[0], false, all.at, &all.n) ||
        !reductions(p, i, &names, &extreme) || !names.n || !apart(p, i, &all))
        return false;
    rg_c_line(p);
    rg_text_format(p->out, extreme ? "RG_NOT_CLANG(omp simd%s)\n" : "#pragma omp simd%s\n",
                   rg_text_str(&names));
    return true;
}

/* Will the C compiler see that the loop's iterations are independent? Straight-line code it would
 * only piece together again, pair by pair. */
static bool vectors(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *q = &f->ins.at[i];
    accesses all = {.n = 0};
    return !q->nres && rg_accesses_in(f, q->region[0], false, all.at, &all.n) && apart(p, i, &all);
}

void rg_cpu_loop_hint(rg_cprint *p, rg_iid i) {
    int64_t trips = most_trips(p->f, i);
    bool triangle = trips && !constant_trips(p->f, i); /* too short for vectors with a rest */
    if (!triangle && rg_cpu_simd(p, i))
        return;
    if (trips < 2 || p->checked || (!triangle && trips >= VECTOR_TRIPS && vectors(p, i)))
        return;
    if (trips * unrolled_size(p, p->f->ins.at[i].region[0]) > UNROLL_SIZE)
        return;
    rg_c_line(p);
    rg_text_format(p->out, "#pragma GCC unroll %d\n", UNROLL_TRIPS);
}
