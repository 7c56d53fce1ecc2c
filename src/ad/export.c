/* The backward sweep of a branch uses values that the forward sweep of that branch computed: two
 * regions of two `if`s on the same condition. Here such a value becomes a result of the first `if`
 * (zero when the other branch was taken, where nobody uses it). */
#include "ad/adjoint.h"

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

static rg_val again(rg_fn *g, rg_rid r, uint32_t at, rg_val v) {
    rg_iid i = rg_ins_new(g, RG_CONST, 0);
    rg_val c = rg_ins_add_result(g, i, rg_type_of(g, v));
    rg_ins_at(g, i)->imm = rg_ins_at(g, rg_value_at(g, v)->def)->imm;
    rg_region_insert(g, r, at, i);
    return c;
}

static void region(export *e, rg_rid r) {
    rg_fn *g = e->g;
    for (uint32_t k = 0; k < rg_region_at(g, r)->ins.n; k++) {
        rg_iid i = rg_region_at(g, r)->ins.at[k];
        for (uint32_t q = 0; q < rg_ins_at(g, i)->nopnd; q++) {
            rg_val v = rg_operand(g, i, q);
            if (!rg_region_inside(g, r, rg_val_region(g, v)) && rg_def_op(g, v) == RG_CONST) {
                v = again(g, r, k, v); /* a constant stays one: made again where it is used */
                i = rg_region_at(g, r)->ins.at[++k];
            }
            while (!rg_region_inside(g, r, rg_val_region(g, v)))
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
