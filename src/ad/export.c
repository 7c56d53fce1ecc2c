/* The backward sweep of a branch uses values that the forward sweep of that branch computed: two
 * regions of two `if`s on the same condition. Here such a value becomes a result of the first `if`
 * (zero when the other branch was taken, where nobody uses it).
 *
 * Integers that a few cheap operations make of what both branches see are made again instead: what
 * comes out of a branch is opaque, while an index like i - 1 says which iterations can meet. */
#include "ad/adjoint.h"

enum { MAX_AGAIN = 12 }; /* operations for one integer that is made again */

typedef struct export {
    rg_fn *g;
    rg_val *lifted; /* [vals at start] the result that carries a value out of its branch */
    uint32_t n;
}
export;

static rg_val zero_before_yield(rg_fn *g, rg_rid r, rg_type t) {
    rg_iid i = rg_ins_new(g, RG_CONST, 0);
    rg_val v = rg_ins_add_result(g, i, t);
    rg_region_insert(g, r, rg_region_at(g, r)->ins.n - 1, i);
    return v;
}

static rg_val lift(export *e, rg_val v) {
    rg_fn *g = e->g;
    if (v < e->n && e->lifted[v])
        return e->lifted[v];
    rg_rid r = rg_val_region(g, v);
    rg_iid owner = rg_region_at(g, r)->owner;
    if (!owner || rg_ins_at(g, owner)->op != RG_IF)
        rg_bug(g->arena, "value %u is used outside of its region", v);
    rg_type t = rg_type_of(g, v);
    for (int k = 0; k < 2; k++) {
        rg_rid side = rg_ins_at(g, owner)->region[k];
        rg_val out = side == r ? v : zero_before_yield(g, side, t);
        rg_ins_add_operand(g, rg_yield_of(g, side), out);
    }
    rg_val res = rg_ins_add_result(g, owner, t);
    rg_value_at(g, res)->name = rg_value_at(g, v)->name;
    if (v >= e->n) {
        uint32_t n = v + 1 + e->n;
        e->lifted = rg_grow(g->arena, e->lifted, e->n * sizeof *e->lifted, n * sizeof *e->lifted);
        e->n = n;
    }
    e->lifted[v] = res;
    return res;
}

static bool in_sight(const rg_fn *g, rg_rid r, rg_val v) {
    return rg_region_inside(g, r, rg_val_region(g, v));
}

/* Is v a constant, or an integer that is cheap to make again in region r? What is costly, or has no
 * result for some operands, was computed once and that is enough. */
static bool is_cheap(const rg_fn *g, rg_rid r, rg_val v, int *left) {
    rg_iid def = rg_value_at(g, v)->def;
    if (in_sight(g, r, v))
        return true;
    if (!def || --*left < 0)
        return false;
    switch (rg_ins_at(g, def)->op) {
    case RG_CONST:
        return true;
    case RG_ADD:
    case RG_SUB:
    case RG_MUL:
    case RG_NEG:
    case RG_CAST:
    case RG_WRAP:
        break;
    default:
        return false;
    }
    if (!rg_type_is_int(rg_type_of(g, v)))
        return false;
    for (uint32_t k = 0; k < rg_ins_at(g, def)->nopnd; k++)
        if (!is_cheap(g, r, rg_operand(g, def, k), left))
            return false;
    return true;
}

/* v, made again in region r before its instruction *at, which moves on. */
static rg_val again(rg_fn *g, rg_rid r, uint32_t *at, rg_val v) {
    if (in_sight(g, r, v))
        return v;
    const rg_value of = *rg_value_at(g, v);
    const rg_ins old = *rg_ins_at(g, of.def);
    rg_val x[2] = {0};
    for (uint32_t k = 0; k < old.nopnd; k++)
        x[k] = again(g, r, at, rg_operand(g, of.def, k));
    rg_iid i = rg_ins_new(g, (rg_op)old.op, old.op == RG_CONST ? 0 : old.loc);
    for (uint32_t k = 0; k < old.nopnd; k++)
        rg_ins_add_operand(g, i, x[k]);
    rg_ins_at(g, i)->imm = old.imm;
    rg_val w = rg_ins_add_result(g, i, of.type);
    rg_value_at(g, w)->name = of.name;
    rg_region_insert(g, r, (*at)++, i);
    return w;
}

static void region(export *e, rg_rid r) {
    rg_fn *g = e->g;
    for (uint32_t k = 0; k < rg_region_at(g, r)->ins.n; k++) {
        rg_iid i = rg_region_at(g, r)->ins.at[k];
        for (uint32_t q = 0; q < rg_ins_at(g, i)->nopnd; q++) {
            rg_val v = rg_operand(g, i, q);
            int left = MAX_AGAIN;
            if (!in_sight(g, r, v) && is_cheap(g, r, v, &left))
                v = again(g, r, &k, v);
            while (!in_sight(g, r, v))
                v = lift(e, v);
            g->pool.at[rg_ins_at(g, i)->opnd + q] = v;
            if (rg_ins_at(g, i)->op == RG_ALLOC) /* the table says what the instruction says */
                rg_array_at(g, rg_ins_at(g, i)->array)->extents[q] = v;
        }
        for (int s = 0; s < 2; s++)
            if (rg_ins_at(g, i)->region[s])
                region(e, rg_ins_at(g, i)->region[s]);
    }
}

void rg_adj_export(rg_fn *g) {
    export e = {g, RG_NEW_N(g->arena, rg_val, g->vals.n), g->vals.n};
    region(&e, g->body);
}
