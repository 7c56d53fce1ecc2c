/* Loops in blocks: checkpointing, before differentiation.
 *
 * A loop of n steps becomes a loop over blocks of steps around one over the steps of a block, and
 * that one again, `levels` times. What a loop saves for its backward sweep it then saves at the
 * start of each block, and, one block at a time, for each part of a block, down to the steps: the
 * levels-th root of n of each, instead of n. Each level runs the steps once more.
 *
 * `#pragma retrograd checkpoint` makes the same two loops when it is lowered; loops that have it
 * are left as they are. Where the sizes are chosen the number of steps is a value, not a number:
 * the same code serves all launches. */
#include "ad/ad.h"

#include "ir/build.h"

static bool listed(const rg_ad_blocks *which, rg_loc loc) {
    for (uint32_t k = 0; k < which->n; k++)
        if (which->at[k] == loc)
            return true;
    return false;
}

/* Steps of a block: n / n^(1/(levels + 1)), rounded up. */
static rg_val block_size(rg_build *b, rg_val n, uint32_t levels) {
    rg_val x = rg_b_cast(b, RG_F64, n);
    double power = (double)levels / (levels + 1);
    x = levels == 1 ? rg_b_op1(b, RG_SQRT, x) : rg_b_op2(b, RG_POW, x, rg_b_real(b, RG_F64, power));
    return rg_b_op2(b, RG_ADD, rg_b_cast(b, RG_I64, x), rg_b_int(b, RG_I64, 1));
}

static void wrap(rg_fn *f, rg_iid loop, uint32_t levels) {
    rg_build *b = rg_b_new(f);
    const rg_ins ins = *rg_ins_at(f, loop);
    rg_val lo = rg_operand(f, loop, 0), hi = rg_operand(f, loop, 1);
    rg_type t = rg_type_of(f, lo);
    uint32_t carried = ins.nres;
    b->loc = ins.loc;
    rg_b_push_before(b, loop);
    rg_val zero = rg_b_int(b, RG_I64, 0), start = rg_b_cast(b, RG_I64, lo);
    rg_val n = rg_b_op2(b, RG_SUB, rg_b_cast(b, RG_I64, hi), start);
    n = rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, lo, hi), n, zero);
    rg_val k = block_size(b, n, levels);
    rg_val last = rg_b_op2(b, RG_SUB, k, rg_b_int(b, RG_I64, 1));
    rg_val count = rg_b_op2(b, RG_DIV, rg_b_op2(b, RG_ADD, n, last), k);
    rg_val *init = RG_NEW_N(f->arena, rg_val, carried + 1);
    for (uint32_t c = 0; c < carried; c++)
        init[c] = rg_operand(f, loop, 2 + c);
    rg_iid outer = rg_b_for(b, zero, count, init, carried,
                            (uint16_t)(RG_INS_CHECKPOINT | (ins.flags & RG_INS_REVERSE)));
    rg_val *by = RG_NEW_N(f->arena, rg_val, f->vals.n);
    for (uint32_t c = 0; c < carried; c++) {
        rg_val was = rg_result(f, loop, c), is = rg_result(f, outer, c);
        by[was] = is;
        rg_value_at(f, is)->name = rg_value_at(f, was)->name;
    }
    rg_fn_replace_uses(f, by);
    rg_region_remove(f, loop);
    rg_rid body = rg_ins_at(f, outer)->region[0];
    rg_b_push(b, body);
    rg_val from = rg_b_op2(b, RG_MUL, rg_b_arg(b, 0), k), to = rg_b_op2(b, RG_ADD, from, k);
    to = rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, to, n), to, n);
    rg_val *opnd = RG_NEW_N(f->arena, rg_val, carried + 2);
    opnd[0] = rg_b_cast(b, t, rg_b_op2(b, RG_ADD, start, from));
    opnd[1] = rg_b_cast(b, t, rg_b_op2(b, RG_ADD, start, to));
    for (uint32_t c = 0; c < carried; c++)
        opnd[2 + c] = rg_b_arg(b, 1 + c);
    rg_region_insert(f, body, rg_region_at(f, body)->ins.n, loop);
    for (uint32_t q = 0; q < carried + 2; q++)
        f->pool.at[rg_ins_at(f, loop)->opnd + q] = opnd[q];
    for (uint32_t c = 0; c < carried; c++)
        opnd[c] = rg_result(f, loop, c);
    rg_b_yield(b, opnd, carried);
    rg_b_pop(b);
    rg_b_pop(b);
    if (levels > 1)
        wrap(f, loop, levels - 1);
}

static bool has_checkpoints(const rg_fn *f, rg_rid r) {
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->flags & RG_INS_CHECKPOINT && (ins->op == RG_FOR || ins->op == RG_LOOP))
            return true;
        for (int s = 0; s < 2; s++)
            if (ins->region[s] && has_checkpoints(f, ins->region[s]))
                return true;
    }
    return false;
}

/* The outermost serial loops of region r. */
static bool outermost(rg_fn *f, rg_rid r, const rg_ad_blocks *which) {
    bool changed = false;
    for (uint32_t k = 0; k < rg_region_at(f, r)->ins.n; k++) {
        rg_iid i = rg_region_at(f, r)->ins.at[k];
        const rg_ins ins = *rg_ins_at(f, i);
        if (ins.op == RG_IF || ins.op == RG_PARALLEL) {
            for (int s = 0; s < 2; s++)
                if (ins.region[s])
                    changed |= outermost(f, ins.region[s], which);
            continue;
        }
        if (ins.op != RG_FOR || (ins.flags & RG_INS_CHECKPOINT) || !listed(which, ins.loc) ||
            has_checkpoints(f, ins.region[0]))
            continue;
        uint32_t before = rg_region_at(f, r)->ins.n;
        wrap(f, i, which->levels);
        k += rg_region_at(f, r)->ins.n - before; /* what was put in front of it */
        changed = true;
    }
    return changed;
}

bool rg_ad_in_blocks(rg_fn *f, const rg_ad_blocks *which) {
    return which && which->levels && outermost(f, f->body, which);
}
