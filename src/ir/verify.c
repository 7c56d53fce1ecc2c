/* Verify: one walk over the regions from the body, with a mark on every value that is in scope.
 *
 * A value comes into scope when the walk passes its definition and leaves when its region ends,
 * so "defined earlier, in this region or one around it" is a look at the mark. Tables are checked
 * from both sides: an instruction's results point back at it, a region's owner lists it, and what
 * the walk never reached must not claim to be listed. */
#include "ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct walk {
    const rg_fn *f;
    char message[400];
    uint8_t *in_scope;    /* [vals.n] */
    uint8_t *seen;        /* [ins.n] */
    uint8_t *seen_region; /* [regions.n] */
    uint8_t *alive;       /* [arrays.n] parameter, or local whose alloc is in scope */
    uint8_t *allocated;   /* [arrays.n] some alloc names it */
    uint8_t *accumulator; /* [vals.n] state of a reduction: only red, carried slots and yields */
    uint8_t *held;        /* [arrays.n] rank-0 local in which an accumulator waits for promotion */
    rg_iid at;            /* instruction being checked */
    rg_iid parallel;      /* the parallel around, or none */
} walk;

static bool fault(walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fault(walk *w, const char *fmt, ...) {
    const rg_fn *f = w->f;
    const char *op = w->at == 0                           ? ""
                     : rg_ins_at(f, w->at)->op < RG_N_OPS ? rg_ops[rg_ins_at(f, w->at)->op].text
                                                          : "unknown op";
    va_list args;
    char what[256];
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (w->at)
        snprintf(w->message, sizeof w->message, "instruction %u (%s): %s", w->at, op, what);
    else
        snprintf(w->message, sizeof w->message, "%s", what);
    return false;
}

static uint32_t class_of(rg_type t) {
    return rg_type_is_float(t) ? RG_F_FLT : t == RG_BOOL ? RG_F_BOO : RG_F_INT;
}

static bool check_list(walk *w, uint32_t at, uint32_t n, const char *what) {
    if (n && (at == 0 || at > w->f->pool.n || n > w->f->pool.n - at))
        return fault(w, "its %s are outside the pool", what);
    return true;
}

static bool check_operands(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (!check_list(w, ins->opnd, ins->nopnd, "operands"))
        return false;
    for (uint32_t k = 0; k < ins->nopnd; k++) {
        rg_val v = f->pool.at[ins->opnd + k];
        if (v == 0 || v >= f->vals.n)
            return fault(w, "operand %u is no value", k);
        if (!w->in_scope[v])
            return fault(w, "operand %u, value %u, is not in scope", k, v);
    }
    return true;
}

static bool check_results(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (!check_list(w, ins->res, ins->nres, "results"))
        return false;
    for (uint32_t k = 0; k < ins->nres; k++) {
        rg_val v = f->pool.at[ins->res + k];
        if (v == 0 || v >= f->vals.n)
            return fault(w, "result %u is no value", k);
        const rg_value *value = rg_value_at(f, v);
        if (value->def != w->at || value->region != 0 || value->index != k)
            return fault(w, "result %u, value %u, does not point back at it", k, v);
        if (value->type <= RG_VOID || value->type >= RG_N_TYPES)
            return fault(w, "result %u has no type", k);
        if (w->in_scope[v])
            return fault(w, "value %u is defined twice", v);
    }
    return true;
}

static rg_type opnd_type(const walk *w, const rg_ins *ins, uint32_t k) {
    return rg_type_of(w->f, w->f->pool.at[ins->opnd + k]);
}
static rg_type res_type(const walk *w, const rg_ins *ins, uint32_t k) {
    return rg_type_of(w->f, w->f->pool.at[ins->res + k]);
}

static bool check_const(walk *w, const rg_ins *ins, rg_type t) {
    int64_t i = ins->imm.i;
    if (t == RG_F32 && ins->imm.f == ins->imm.f && (double)(float)ins->imm.f != ins->imm.f)
        return fault(w, "constant is no f32");
    if ((t == RG_BOOL && i != 0 && i != 1) || (t == RG_I32 && (i < INT32_MIN || i > INT32_MAX)) ||
        (t == RG_U32 && (i < 0 || i > (int64_t)UINT32_MAX)))
        return fault(w, "constant does not fit its type %s", rg_type_name(t));
    return true;
}

static bool check_pure(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    const rg_op_info *info = &rg_ops[ins->op];
    if (info->operands >= 0 && (uint32_t)info->operands != ins->nopnd)
        return fault(w, "%u operands, not %d", ins->nopnd, info->operands);
    if (ins->nres != 1)
        return fault(w, "%u results, not 1", ins->nres);
    rg_type t = res_type(w, ins, 0);
    bool fine = true;
    switch (info->type) {
    case RG_T_SAME:
        for (uint32_t k = 0; k < ins->nopnd; k++)
            fine = fine && opnd_type(w, ins, k) == t;
        fine = fine && (class_of(t) & info->flags);
        break;
    case RG_T_CMP:
        fine = t == RG_BOOL && opnd_type(w, ins, 0) == opnd_type(w, ins, 1) &&
               (class_of(opnd_type(w, ins, 0)) & info->flags);
        break;
    case RG_T_SEL:
        fine = opnd_type(w, ins, 0) == RG_BOOL && opnd_type(w, ins, 1) == t &&
               opnd_type(w, ins, 2) == t;
        break;
    case RG_T_TEST:
        fine = t == RG_BOOL && rg_type_is_float(opnd_type(w, ins, 0));
        break;
    case RG_T_SHIFT:
        fine = rg_type_is_int(t) && opnd_type(w, ins, 0) == t && opnd_type(w, ins, 1) == RG_I32;
        break;
    case RG_T_SCALE:
        fine = rg_type_is_float(t) && opnd_type(w, ins, 0) == t && opnd_type(w, ins, 1) == RG_I32;
        break;
    case RG_T_FREE:
    case RG_T_NONE:
        break;
    }
    if (!fine)
        return fault(w, "operand or result types break its rule (result %s)", rg_type_name(t));
    switch (ins->op) {
    case RG_CONST:
        return check_const(w, ins, t);
    case RG_SCALAR:
        if (ins->imm.i < 0 || ins->imm.i >= (int64_t)f->scalars.n)
            return fault(w, "there is no scalar %lld", (long long)ins->imm.i);
        if (rg_mem_value(f->scalars.at[ins->imm.i].mem) != t)
            return fault(w, "scalar %lld is no %s", (long long)ins->imm.i, rg_type_name(t));
        break;
    case RG_EXTENT:
        if (ins->array == 0 || ins->array >= f->arrays.n || ins->imm.i < 0 ||
            ins->imm.i >= (int64_t)rg_array_at(f, ins->array)->rank || t != RG_I64)
            return fault(w, "bad extent");
        if (!w->alive[ins->array])
            return fault(w, "array '%s' is not allocated here", rg_array_at(f, ins->array)->name);
        break;
    case RG_WRAP:
        if (ins->imm.i < 0 || ins->imm.i >= RG_N_MEMS || rg_mem_value((rg_mem)ins->imm.i) != t)
            return fault(w, "wraps a %s to another memory type", rg_type_name(t));
        break;
    case RG_BITCAST:
        if (t == RG_BOOL || opnd_type(w, ins, 0) == RG_BOOL ||
            rg_type_size(t) != rg_type_size(opnd_type(w, ins, 0)))
            return fault(w, "takes a value of the result's size");
        break;
    case RG_ILOGB:
        if (t != RG_I32 || !rg_type_is_float(opnd_type(w, ins, 0)))
            return fault(w, "takes a float and gives an i32");
        break;
    case RG_RED:
        if (ins->imm.i < 0 || ins->imm.i >= RG_RED_SET)
            return fault(w, "no reduction of kind %lld", (long long)ins->imm.i);
        break;
    default:
        break;
    }
    return true;
}

static bool check_access(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (ins->array == 0 || ins->array >= f->arrays.n)
        return fault(w, "names no array");
    const rg_array *array = rg_array_at(f, ins->array);
    if (ins->leaf >= array->elem->nleaves)
        return fault(w, "'%s' has no leaf %u", array->name, ins->leaf);
    if (!w->alive[ins->array])
        return fault(w, "array '%s' is not allocated here", array->name);
    /* What was there before is dropped from an rmw once nobody asks for it. */
    uint32_t n = rg_ins_nindices(f, ins), values = ins->op != RG_LOAD,
             results = ins->op == RG_LOAD || (ins->op == RG_RMW && ins->nres);
    if (ins->nopnd != n + values || ins->nres != results)
        return fault(w, "'%s' takes %u indices: %u operands, %u results", array->name, n,
                     ins->nopnd, ins->nres);
    for (uint32_t k = 0; k < n; k++)
        if (!rg_type_is_int(opnd_type(w, ins, k)))
            return fault(w, "index %u of '%s' is no integer", k, array->name);
    rg_type t = rg_mem_value(rg_ins_leaf(f, ins)->mem);
    if (values && opnd_type(w, ins, n) != t)
        return fault(w, "'%s' holds %s, not %s", array->name, rg_type_name(t),
                     rg_type_name(opnd_type(w, ins, n)));
    if (results && res_type(w, ins, 0) != t)
        return fault(w, "'%s' holds %s, not %s", array->name, rg_type_name(t),
                     rg_type_name(res_type(w, ins, 0)));
    if (ins->op != RG_LOAD && (array->flags & RG_ARR_CONST))
        return fault(w, "'%s' is const", array->name);
    if (ins->op == RG_ADDTO && t == RG_BOOL)
        return fault(w, "addto of a bool");
    if (ins->op == RG_RMW && (ins->imm.i < 0 || ins->imm.i > RG_RED_SET))
        return fault(w, "no operator of kind %lld", (long long)ins->imm.i);
    return true;
}

static bool check_alloc(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (ins->array == 0 || ins->array >= f->arrays.n ||
        rg_array_at(f, ins->array)->kind != RG_ARR_LOCAL)
        return fault(w, "names no local array");
    const rg_array *array = rg_array_at(f, ins->array);
    if (w->allocated[ins->array])
        return fault(w, "'%s' is allocated twice", array->name);
    bool grows = (array->flags & RG_ARR_GROW) != 0;
    if (grows && array->rank != 1)
        return fault(w, "growing array '%s' has %u axes", array->name, array->rank);
    if (ins->nopnd != (grows ? 0 : array->rank) || ins->nres)
        return fault(w, "'%s' has %u axes, %u extents given", array->name, array->rank, ins->nopnd);
    for (uint32_t k = 0; k < ins->nopnd; k++) {
        if (opnd_type(w, ins, k) != RG_I64)
            return fault(w, "extent %u of '%s' is no i64", k, array->name);
        if (!array->extents || array->extents[k] != f->pool.at[ins->opnd + k])
            return fault(w, "extent %u of '%s' is not what its table entry says", k, array->name);
    }
    w->allocated[ins->array] = 1;
    return true;
}

/* Both arrays of the instruction exist here. */
static bool check_arrays(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    rg_aid ids[2] = {ins->array, ins->array2};
    for (int k = 0; k < 2; k++) {
        if (ids[k] == 0 || ids[k] >= f->arrays.n)
            return fault(w, "names no array");
        if (!w->alive[ids[k]])
            return fault(w, "array '%s' is not allocated here", rg_array_at(f, ids[k])->name);
    }
    return true;
}

static bool check_copy(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (!check_arrays(w, ins))
        return false;
    const rg_array *to = rg_array_at(f, ins->array), *from = rg_array_at(f, ins->array2);
    uint32_t more = to->rank > from->rank ? to->rank - from->rank : from->rank - to->rank;
    if (to->elem != from->elem)
        return fault(w, "elements of '%s' and '%s' differ", to->name, from->name);
    if (to->flags & RG_ARR_CONST)
        return fault(w, "'%s' is const", to->name);
    if (ins->nopnd != more || ins->nres)
        return fault(w, "%u leading indices, not %u", ins->nopnd, more);
    for (uint32_t k = 0; k < more; k++)
        if (!rg_type_is_int(opnd_type(w, ins, k)))
            return fault(w, "index %u is no integer", k);
    return true;
}

static bool check_pair(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    if (!check_arrays(w, ins))
        return false;
    const rg_array *x = rg_array_at(f, ins->array), *g = rg_array_at(f, ins->array2);
    if (x->elem != g->elem || x->rank != g->rank || g->kind != RG_ARR_LOCAL)
        return fault(w, "'%s' cannot be the cotangent of '%s'", g->name, x->name);
    return (!ins->nopnd && !ins->nres) || fault(w, "it has operands or results");
}

static bool check_give(walk *w, const rg_ins *ins) {
    if (ins->nopnd != 2 || ins->nres || opnd_type(w, ins, 0) != opnd_type(w, ins, 1) ||
        !rg_type_is_float(opnd_type(w, ins, 0)))
        return fault(w, "takes two floats of one type");
    return true;
}

static const rg_ins *yield_of(walk *w, rg_rid r) {
    const rg_region *g = rg_region_at(w->f, r);
    return rg_ins_at(w->f, g->ins.at[g->ins.n - 1]);
}

/* Types of region arguments, yields and results against the initial values. */
static bool check_carried(walk *w, const rg_ins *ins, uint32_t skip_yield) {
    const rg_fn *f = w->f;
    uint32_t init = rg_first_init(f, w->at), arg = rg_first_carried(f, w->at);
    const rg_region *g = rg_region_at(f, ins->region[0]);
    uint32_t n = ins->nopnd - init;
    const rg_ins *yield = yield_of(w, ins->region[0]);
    if (g->args.n != arg + n || ins->nres != n || yield->nopnd != skip_yield + n)
        return fault(w, "%u initial values, %u region arguments, %u results, %u yields", n,
                     g->args.n - arg, ins->nres, yield->nopnd - skip_yield);
    for (uint32_t k = 0; k < n; k++) {
        rg_type t = opnd_type(w, ins, init + k);
        if (rg_type_of(f, g->args.at[arg + k]) != t || res_type(w, ins, k) != t ||
            opnd_type(w, yield, skip_yield + k) != t)
            return fault(w, "carried value %u changes its type", k);
    }
    return true;
}

static bool walk_region(walk *w, rg_rid r, rg_iid owner);

static bool check_if(walk *w, const rg_ins *ins) {
    if (ins->nopnd != 1 || opnd_type(w, ins, 0) != RG_BOOL)
        return fault(w, "takes one bool");
    for (int k = 0; k < 2; k++)
        if (rg_region_at(w->f, ins->region[k])->args.n)
            return fault(w, "its branches have arguments");
    for (int k = 0; k < 2; k++) {
        const rg_ins *yield = yield_of(w, ins->region[k]);
        if (yield->nopnd != ins->nres)
            return fault(w, "branch %d yields %u values, %u results", k, yield->nopnd, ins->nres);
        for (uint32_t j = 0; j < ins->nres; j++)
            if (opnd_type(w, yield, j) != res_type(w, ins, j))
                return fault(w, "branch %d yields another type as value %u", k, j);
    }
    return true;
}

static bool check_for(walk *w, const rg_ins *ins) {
    const rg_region *g = rg_region_at(w->f, ins->region[0]);
    if (ins->nopnd < 2 || !rg_type_is_int(opnd_type(w, ins, 0)) ||
        opnd_type(w, ins, 1) != opnd_type(w, ins, 0) || g->args.n < 1 ||
        rg_type_of(w->f, g->args.at[0]) != opnd_type(w, ins, 0))
        return fault(w, "bounds and loop variable are not of one integer type");
    return check_carried(w, ins, 0);
}

static bool check_loop(walk *w, const rg_ins *ins) {
    const rg_ins *yield = yield_of(w, ins->region[0]);
    if (yield->nopnd < 1 || opnd_type(w, yield, 0) != RG_BOOL)
        return fault(w, "its first yield is no bool");
    return check_carried(w, ins, 1);
}

static bool check_parallel_bounds(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    int64_t ranges = ins->imm.i;
    if (ranges < 1 || ranges > 3)
        return fault(w, "over %lld ranges", (long long)ranges);
    const rg_region *g = rg_region_at(f, ins->region[0]);
    if (ins->nopnd < 2 * (uint32_t)ranges || g->args.n < (uint32_t)ranges)
        return fault(w, "bounds or loop variables are missing");
    rg_type t = opnd_type(w, ins, 0);
    for (uint32_t k = 0; k < 2 * (uint32_t)ranges; k++)
        if (!rg_type_is_int(t) || opnd_type(w, ins, k) != t)
            return fault(w, "bounds are not of one integer type");
    for (uint32_t k = 0; k < (uint32_t)ranges; k++)
        if (rg_type_of(f, g->args.at[k]) != t)
            return fault(w, "loop variable %u has another type than the bounds", k);
    uint32_t nreds = ins->nopnd - 2 * (uint32_t)ranges;
    if (!check_list(w, ins->aux, nreds, "reductions"))
        return false;
    for (uint32_t k = 0; k < nreds; k++)
        if (f->pool.at[ins->aux + k] >= RG_RED_SET)
            return fault(w, "reduction %u is of no known kind", k);
    return true;
}

/* Accumulators flow from a parallel's arguments through red's first operand, if results, and
 * carried values back to its yield. Marks them inside region r and checks every other use. kind:
 * accumulators in flight, by value. */
static bool check_accumulators(walk *w, rg_rid r, uint8_t *kind) {
    const rg_fn *f = w->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t j = 0; j < g->ins.n; j++) {
        rg_iid i = g->ins.at[j];
        const rg_ins *ins = rg_ins_at(f, i);
        w->at = i;
        uint32_t init = rg_first_init(f, i), arg = rg_first_carried(f, i);
        for (uint32_t k = 0; k < ins->nopnd; k++) {
            rg_val v = f->pool.at[ins->opnd + k];
            if (!kind[v])
                continue;
            bool fine = ins->op == RG_YIELD || (ins->op == RG_RED && k == 0) ||
                        ((ins->op == RG_FOR || ins->op == RG_LOOP) && k >= init);
            if (ins->op == RG_STORE && f->arrays.at[ins->array].kind == RG_ARR_LOCAL &&
                !f->arrays.at[ins->array].rank) {
                fine = true;
                w->held[ins->array] = kind[v];
            }
            if (!fine)
                return fault(w, "accumulator %u is used by something else than red", v);
            if (ins->op == RG_RED && kind[v] != (uint8_t)(ins->imm.i + 1))
                return fault(w, "red of another kind than its accumulator's");
        }
        if (ins->op == RG_STORE && w->held[ins->array] &&
            kind[f->pool.at[ins->opnd + ins->nopnd - 1]] != w->held[ins->array])
            return fault(w, "something else than its accumulator is stored");
        if (ins->op == RG_LOAD && w->held[ins->array])
            kind[rg_result(f, i, 0)] = w->held[ins->array];
        if (ins->op == RG_RED) {
            rg_val acc = rg_operand(f, i, 0);
            if (!kind[acc])
                return fault(w, "its first operand is no accumulator");
            kind[rg_result(f, i, 0)] = kind[acc];
        } else if (ins->op == RG_IF) {
            for (int b = 0; b < 2; b++)
                if (!check_accumulators(w, ins->region[b], kind))
                    return false;
            w->at = i;
            const rg_ins *y[2] = {yield_of(w, ins->region[0]), yield_of(w, ins->region[1])};
            for (uint32_t k = 0; k < ins->nres; k++) {
                uint8_t a = kind[f->pool.at[y[0]->opnd + k]], b = kind[f->pool.at[y[1]->opnd + k]];
                if (a != b)
                    return fault(w, "result %u is an accumulator in one branch only", k);
                kind[f->pool.at[ins->res + k]] = a;
            }
        } else if (ins->op == RG_FOR || ins->op == RG_LOOP) {
            for (uint32_t k = init; k < ins->nopnd; k++) {
                uint8_t a = kind[f->pool.at[ins->opnd + k]];
                kind[rg_region_at(f, ins->region[0])->args.at[arg + k - init]] = a;
                kind[f->pool.at[ins->res + k - init]] = a;
            }
            if (!check_accumulators(w, ins->region[0], kind))
                return false;
            w->at = i;
            const rg_ins *y = yield_of(w, ins->region[0]);
            for (uint32_t k = 0; k < ins->nres; k++)
                if (kind[f->pool.at[y->opnd + k + (ins->op == RG_LOOP)]] !=
                    kind[f->pool.at[ins->res + k]])
                    return fault(w, "carried value %u is an accumulator on one side only", k);
            if (ins->op == RG_LOOP && kind[f->pool.at[y->opnd]])
                return fault(w, "its condition is an accumulator");
        }
    }
    return true;
}

static bool check_parallel(walk *w, const rg_ins *ins) {
    const rg_fn *f = w->f;
    rg_iid i = w->at;
    if (!check_carried(w, ins, 0))
        return false;
    uint32_t ranges = (uint32_t)ins->imm.i;
    const rg_region *g = rg_region_at(f, ins->region[0]);
    for (uint32_t k = 0; k < ins->nres; k++)
        w->accumulator[g->args.at[ranges + k]] = (uint8_t)(f->pool.at[ins->aux + k] + 1);
    if (!check_accumulators(w, ins->region[0], w->accumulator))
        return false;
    w->at = i;
    const rg_ins *y = yield_of(w, ins->region[0]);
    for (uint32_t k = 0; k < ins->nres; k++)
        if (w->accumulator[f->pool.at[y->opnd + k]] != f->pool.at[ins->aux + k] + 1)
            return fault(w, "yield %u is no accumulator of its reduction", k);
    return true;
}

static bool check_ins(walk *w, rg_iid i) {
    const rg_ins *ins = rg_ins_at(w->f, i);
    rg_op op = (rg_op)ins->op;
    if (op == RG_OP_NONE || op >= RG_N_OPS)
        return fault(w, "there is no op %u", op);
    if (!check_operands(w, ins) || !check_results(w, ins))
        return false;
    uint32_t regions = op == RG_IF ? 2 : op == RG_FOR || op == RG_LOOP || op == RG_PARALLEL ? 1 : 0;
    for (uint32_t k = 0; k < 2; k++) {
        rg_rid r = ins->region[k];
        if ((r != 0) != (k < regions))
            return fault(w, "it owns the wrong number of regions");
        if (r >= w->f->regions.n || (r && rg_region_at(w->f, r)->owner != i))
            return fault(w, "region %u does not point back at it", r);
    }
    switch (op) {
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW:
        return check_access(w, ins);
    case RG_ALLOC:
        return check_alloc(w, ins);
    case RG_COPY:
        return check_copy(w, ins);
    case RG_PAIR:
        return check_pair(w, ins);
    case RG_GIVE:
        return check_give(w, ins);
    case RG_YIELD:
        return ins->nres == 0 || fault(w, "yield has results");
    case RG_RED:
        if (!w->parallel)
            return fault(w, "red outside parallel");
        return check_pure(w, ins);
    case RG_PARALLEL:
        if (w->parallel)
            return fault(w, "parallel inside parallel");
        return check_parallel_bounds(w, ins);
    case RG_IF:
    case RG_FOR:
    case RG_LOOP:
        return true;
    default:
        return check_pure(w, ins);
    }
}

static bool walk_ins(walk *w, rg_iid i) {
    const rg_fn *f = w->f;
    const rg_ins *ins = rg_ins_at(f, i);
    w->at = i;
    if (!check_ins(w, i))
        return false;
    rg_iid outer = w->parallel;
    if (ins->op == RG_PARALLEL)
        w->parallel = i;
    for (int k = 0; k < 2; k++)
        if (ins->region[k] && !walk_region(w, ins->region[k], i))
            return false;
    w->parallel = outer;
    w->at = i;
    switch (ins->op) {
    case RG_IF:
        return check_if(w, ins);
    case RG_FOR:
        return check_for(w, ins);
    case RG_LOOP:
        return check_loop(w, ins);
    case RG_PARALLEL:
        return check_parallel(w, ins);
    default:
        return true;
    }
}

static bool walk_region(walk *w, rg_rid r, rg_iid owner) {
    const rg_fn *f = w->f;
    const rg_region *g = rg_region_at(f, r);
    w->at = owner;
    if (w->seen_region[r])
        return fault(w, "region %u has two owners", r);
    w->seen_region[r] = 1;
    for (uint32_t k = 0; k < g->args.n; k++) {
        rg_val v = g->args.at[k];
        if (v == 0 || v >= f->vals.n)
            return fault(w, "argument %u of region %u is no value", k, r);
        const rg_value *value = rg_value_at(f, v);
        if (value->def || value->region != r || value->index != k)
            return fault(w, "argument %u of region %u does not point back at it", k, r);
        if (value->type <= RG_VOID || value->type >= RG_N_TYPES)
            return fault(w, "argument %u of region %u has no type", k, r);
        w->in_scope[v] = 1;
    }
    if (g->ins.n == 0)
        return fault(w, "region %u is empty", r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        w->at = owner;
        if (i == 0 || i >= f->ins.n)
            return fault(w, "region %u lists no instruction at %u", r, k);
        w->at = i;
        const rg_ins *ins = rg_ins_at(f, i);
        if (w->seen[i])
            return fault(w, "it is listed twice");
        w->seen[i] = 1;
        if (ins->parent != r)
            return fault(w, "it is listed in region %u but its parent is %u", r, ins->parent);
        if ((ins->op == RG_YIELD) != (k + 1 == g->ins.n))
            return fault(w, "region %u must end with its only yield", r);
        if (!walk_ins(w, i))
            return false;
        for (uint32_t j = 0; j < ins->nres; j++)
            w->in_scope[f->pool.at[ins->res + j]] = 1;
        if (ins->op == RG_ALLOC)
            w->alive[ins->array] = 1;
    }
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        /* The yield's operands are looked at by the owner, but only their types. */
        for (uint32_t j = 0; j < ins->nres; j++)
            w->in_scope[f->pool.at[ins->res + j]] = 0;
        if (ins->op == RG_ALLOC)
            w->alive[ins->array] = 0;
    }
    for (uint32_t k = 0; k < g->args.n; k++)
        w->in_scope[g->args.at[k]] = 0;
    return true;
}

static bool check_tables(walk *w) {
    const rg_fn *f = w->f;
    w->at = 0;
    if (f->vals.n == 0 || f->ins.n == 0 || f->regions.n == 0 || f->arrays.n == 0)
        return fault(w, "a table lacks its reserved entry");
    if (f->body == 0 || f->body >= f->regions.n || rg_region_at(f, f->body)->owner ||
        rg_region_at(f, f->body)->args.n)
        return fault(w, "its body is no region without owner and arguments");
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_array *array = rg_array_at(f, a);
        if (!array->elem)
            return fault(w, "array %u has no element type", a);
        if (array->kind != RG_ARR_LOCAL && array->param >= f->params.n)
            return fault(w, "array '%s' belongs to no parameter", array->name);
        w->alive[a] = array->kind != RG_ARR_LOCAL;
    }
    return true;
}

/* Declared extents of parameters are values of the body. */
static bool check_extents(walk *w) {
    const rg_fn *f = w->f;
    w->at = 0;
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_array *array = rg_array_at(f, a);
        if (array->kind == RG_ARR_LOCAL)
            continue;
        for (uint32_t d = 0; array->extents && d < array->rank; d++) {
            rg_val v = array->extents[d];
            if (v == 0)
                continue;
            if (v >= f->vals.n || rg_type_of(f, v) != RG_I64 || !rg_value_at(f, v)->def ||
                !w->seen[rg_value_at(f, v)->def] || rg_val_region(f, v) != f->body)
                return fault(w, "extent %u of '%s' is no i64 of the kernel's body", d, array->name);
        }
    }
    return true;
}

bool rg_ir_verify(const rg_fn *f, rg_text *out) {
    walk w = {.f = f};
    rg_arena *a = rg_arena_new(NULL);
    if (!a)
        rg_arena_throw(out->arena, RG_THROW_MEMORY);
    if (RG_GUARD(a)) {
        rg_arena_free(a);
        rg_arena_throw(out->arena, RG_THROW_MEMORY);
    }
    w.in_scope = RG_NEW_N(a, uint8_t, f->vals.n + 1);
    w.seen = RG_NEW_N(a, uint8_t, f->ins.n + 1);
    w.seen_region = RG_NEW_N(a, uint8_t, f->regions.n + 1);
    w.alive = RG_NEW_N(a, uint8_t, f->arrays.n + 1);
    w.allocated = RG_NEW_N(a, uint8_t, f->arrays.n + 1);
    w.accumulator = RG_NEW_N(a, uint8_t, f->vals.n + 1);
    w.held = RG_NEW_N(a, uint8_t, f->arrays.n + 1);
    bool fine = check_tables(&w) && walk_region(&w, f->body, 0);
    if (fine) {
        w.at = rg_yield_of(f, f->body);
        fine = rg_ins_at(f, w.at)->nopnd == 0 || fault(&w, "the body yields values");
    }
    fine = fine && check_extents(&w);
    rg_arena_free(a);
    if (!fine) /* only now: adding to `out` may throw to its owner */
        rg_text_format(out, "%s: %s", f->name ? f->name : "kernel", w.message);
    return fine;
}
