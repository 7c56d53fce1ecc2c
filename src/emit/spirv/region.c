/* Structure: a region becomes blocks. An if is a selection whose results are phis in the merge
 * block; a for tests in its header; a loop tests in its continue block. Every value of the IR is
 * one id, and for 64-bit integers a second one for the low half, when indices ask for no more. */
#include "emit/spirv/function.h"

/* ---- which halves of 64-bit integers are needed ---- */

static bool is_wide(const rg_spv_fn *c, rg_val v) {
    rg_type t = c->f->vals.at[v].type;
    return t == RG_I64 || t == RG_U64;
}

static bool ask(rg_spv_fn *c, rg_val v, uint8_t what) {
    if (!is_wide(c, v) || (c->demand[v] & what) == what)
        return false;
    c->demand[v] |= what;
    return true;
}

/* Can the low half be made from the operands' low halves? */
static bool low_suffices(const rg_spv_fn *c, const rg_ins *i) {
    switch (i->op) {
    case RG_ADD:
    case RG_SUB:
    case RG_MUL:
    case RG_NEG:
    case RG_AND:
    case RG_OR:
    case RG_XOR:
    case RG_NOT:
    case RG_SELECT:
    case RG_STOP:
        return true;
    case RG_CAST: {
        rg_type from = c->f->vals.at[c->f->pool.at[i->opnd]].type;
        return rg_type_is_int(from) || from == RG_BOOL;
    }
    default:
        return false;
    }
}

static bool demand_region(rg_spv_fn *c, rg_rid r);

static bool demand_ins(rg_spv_fn *c, rg_iid id) {
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    bool changed = false;
    uint8_t index = c->index64 ? RG_SPV_FULL : RG_SPV_LOW;
    uint32_t lists = 0, first = 0, skip = 0;
    switch (i->op) {
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW: {
        uint32_t n = rg_ins_nindices(f, i);
        for (uint32_t k = 0; k < i->nopnd; k++)
            changed |= ask(c, rg_operand(f, id, k), k < n ? index : RG_SPV_FULL);
        if (i->nres && c->demand[rg_result(f, id, 0)] & RG_SPV_LOW)
            changed |= ask(c, rg_result(f, id, 0), RG_SPV_FULL);
        return changed;
    }
    case RG_ALLOC:
    case RG_COPY:
        for (uint32_t k = 0; k < i->nopnd; k++)
            changed |= ask(c, rg_operand(f, id, k), index);
        return changed;
    case RG_IF:
        lists = 2;
        break;
    case RG_FOR:
        first = 2;
        lists = 1;
        changed |= ask(c, rg_operand(f, id, 0), RG_SPV_FULL);
        changed |= ask(c, rg_operand(f, id, 1), RG_SPV_FULL);
        changed |= ask(c, f->regions.at[i->region[0]].args.at[0], RG_SPV_FULL);
        break;
    case RG_LOOP:
        lists = skip = 1;
        break;
    case RG_YIELD: /* its region's owner asks */
        return false;
    default: {
        bool low = i->nres && is_wide(c, rg_result(f, id, 0)) && low_suffices(c, i);
        uint8_t got = i->nres ? c->demand[rg_result(f, id, 0)] : 0;
        if (i->nres && !low && got & RG_SPV_LOW)
            changed |= ask(c, rg_result(f, id, 0), RG_SPV_FULL);
        uint8_t want = low ? got : RG_SPV_FULL;
        if (i->op == RG_CAST && i->nres && !is_wide(c, rg_result(f, id, 0)) &&
            rg_type_is_int(f->vals.at[rg_result(f, id, 0)].type))
            want = RG_SPV_LOW;
        if (i->op == RG_SCALAR || i->op == RG_EXTENT)
            return changed;
        for (uint32_t k = 0; k < i->nopnd; k++)
            changed |= ask(c, rg_operand(f, id, k), want);
        return changed;
    }
    }
    /* Carried values and results are one thing. */
    uint32_t arg = i->op == RG_IF ? 0 : rg_first_carried(f, id);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val v = rg_result(f, id, n);
        if (!is_wide(c, v))
            continue;
        uint8_t want = c->demand[v];
        if (i->op != RG_IF) {
            rg_val a = f->regions.at[i->region[0]].args.at[arg + n];
            want |= c->demand[a];
            changed |= ask(c, a, want);
            changed |= ask(c, rg_operand(f, id, first + n), want);
        }
        changed |= ask(c, v, want);
        for (uint32_t b = 0; b < lists; b++)
            changed |= ask(c, rg_operand(f, rg_yield_of(f, i->region[b]), n + skip), want);
    }
    for (uint32_t b = 0; b < lists; b++)
        changed |= demand_region(c, i->region[b]);
    return changed;
}

static bool demand_region(rg_spv_fn *c, rg_rid r) {
    const rg_region *g = &c->f->regions.at[r];
    bool changed = false;
    for (uint32_t k = g->ins.n; k-- > 0;)
        changed |= demand_ins(c, g->ins.at[k]);
    return changed;
}

void rg_spv_demand(rg_spv_fn *c, const rg_iid *list, uint32_t n) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t k = n; k-- > 0;)
            changed |= demand_ins(c, list[k]);
    }
}

/* ---- values that two blocks hand over ---- */

/* The one id of v that phis carry: the whole, or the low half when only that is asked for. */
static bool carries_low(const rg_spv_fn *c, rg_val v) {
    return is_wide(c, v) && !(c->demand[v] & RG_SPV_FULL);
}

static uint32_t carried(rg_spv_fn *c, rg_val v, bool low) {
    return low ? rg_spv_low(c, v) : rg_spv_val(c, v);
}

static uint32_t carried_type(rg_spv_fn *c, rg_val v) {
    return carries_low(c, v) ? c->s->t_u32 : rg_spv_value_type(c->s, c->f->vals.at[v].type);
}

static void set_name(rg_spv_fn *c, rg_val v, uint32_t id) {
    if (c->f->vals.at[v].name)
        rg_spv_name(c->s, id, c->f->vals.at[v].name);
}

static void set(rg_spv_fn *c, rg_val v, uint32_t id) {
    if (carries_low(c, v))
        c->low[v] = id;
    else
        c->id[v] = id;
    set_name(c, v, id);
}

/* Once phis are done: the low half of what is carried whole. */
static void split(rg_spv_fn *c, rg_val v) {
    if (is_wide(c, v) && c->demand[v] == (RG_SPV_FULL | RG_SPV_LOW))
        c->low[v] = RG_SPV_OP(c, SpvOpUConvert, c->s->t_u32, c->id[v]);
}

/* A value that nothing asks for may have no id at all. */
static bool asked(const rg_spv_fn *c, rg_val v) {
    return !is_wide(c, v) || c->demand[v];
}

/* ---- structure ---- */

static void emit_if(rg_spv_fn *c, rg_iid id) {
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    bool has[2];
    uint32_t label[2], end[2], merge = rg_spv_id(c->s), from = c->block;
    uint32_t *yields[2];
    for (uint32_t b = 0; b < 2; b++) {
        has[b] = f->regions.at[i->region[b]].ins.n > 1;
        label[b] = has[b] ? rg_spv_id(c->s) : merge;
        yields[b] = RG_NEW_N(c->s->arena, uint32_t, i->nres + 1);
        end[b] = from;
    }
    if (!has[0] && !has[1]) { /* two ways to one block are no selection */
        has[0] = true;
        label[0] = rg_spv_id(c->s);
    }
    uint32_t cond = rg_spv_val(c, rg_operand(f, id, 0));
    RG_SPV_DO(c, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, cond, label[0], label[1]);
    for (uint32_t b = 0; b < 2; b++) {
        if (has[b]) {
            rg_spv_label(c, label[b]);
            rg_spv_region(c, i->region[b]);
        }
        rg_iid y = rg_yield_of(f, i->region[b]);
        for (uint32_t n = 0; n < i->nres; n++)
            if (asked(c, rg_result(f, id, n)))
                yields[b][n] = carried(c, rg_operand(f, y, n), carries_low(c, rg_result(f, id, n)));
        if (has[b]) {
            end[b] = c->block;
            rg_spv_branch(c, merge);
        }
    }
    rg_spv_label(c, merge);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val v = rg_result(f, id, n);
        if (asked(c, v))
            set(c, v,
                rg_spv_phi(c, carried_type(c, v), yields[0][n], end[0], yields[1][n], end[1]));
    }
    for (uint32_t n = 0; n < i->nres; n++)
        split(c, rg_result(f, id, n));
}

/* Phis of a loop header are written before the values from the back edge have ids: those ids are
 * put in afterwards. */

static uint32_t open_phi(rg_spv_fn *c, uint32_t type, uint32_t init, uint32_t from,
                         uint32_t next_label, uint32_t *at) {
    uint32_t id = rg_spv_phi(c, type, init, from, 0, next_label);
    *at = c->out->n - 2;
    return id;
}

static uint32_t *open_carried(rg_spv_fn *c, rg_iid id, uint32_t from, uint32_t next_label) {
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    uint32_t first = rg_first_init(f, id), arg = rg_first_carried(f, id);
    const rg_region *g = &f->regions.at[i->region[0]];
    uint32_t *at = RG_NEW_N(c->s->arena, uint32_t, i->nres + 1);
    uint32_t *inits = RG_NEW_N(c->s->arena, uint32_t, i->nres + 1);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val a = g->args.at[arg + n];
        if (asked(c, a))
            inits[n] = carried(c, rg_operand(f, id, first + n), carries_low(c, a));
    }
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val a = g->args.at[arg + n];
        if (asked(c, a))
            set(c, a, open_phi(c, carried_type(c, a), inits[n], from, next_label, &at[n]));
    }
    return at;
}

static void close_carried(rg_spv_fn *c, rg_iid id, const uint32_t *at, uint32_t skip) {
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    rg_iid y = rg_yield_of(f, i->region[0]);
    uint32_t arg = rg_first_carried(f, id);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val a = f->regions.at[i->region[0]].args.at[arg + n];
        if (asked(c, a))
            c->out->at[at[n]] = carried(c, rg_operand(f, y, n + skip), carries_low(c, a));
    }
}

static void split_args(rg_spv_fn *c, rg_rid r) {
    const rg_region *g = &c->f->regions.at[r];
    for (uint32_t n = 0; n < g->args.n; n++)
        split(c, g->args.at[n]);
}

/* ---- loops that the driver may end (caps.loops_end_early) ---- */

static bool guarded(const rg_spv_fn *c) {
    return c->s->o->caps.loops_end_early && c->plan;
}

/* 1, which no compiler knows: the number of workgroups in y. What it is mixed into is computed
 * anew, and not replaced by what must hold after the loop. */
static uint32_t opaque_one(rg_spv_fn *c) {
    rg_spv *s = c->s;
    uint32_t groups = rg_spv_builtin(c, SpvBuiltInNumWorkgroups, s->t_v3u);
    rg_spv_words *was = c->out;
    c->out = &c->entry;
    uint32_t one = RG_SPV_OP(c, SpvOpCompositeExtract, s->t_u32, groups, 1);
    c->out = was;
    return one;
}

/* After a loop that `ended` early: says so in the slot. */
static void guard_loop(rg_spv_fn *c, uint32_t ended) {
    rg_spv *s = c->s;
    uint32_t store = rg_spv_id(s), merge = rg_spv_id(s);
    RG_SPV_DO(c, SpvOpSelectionMerge, merge, SpvSelectionControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, ended, store, merge);
    rg_spv_label(c, store);
    rg_spv_slot_store(c, s->o->guard_slot, RG_U32, rg_spv_u32(s, 1));
    rg_spv_branch(c, merge);
    rg_spv_label(c, merge);
}

/* A counted loop's counter is short of its end. */
void rg_spv_guard_for(rg_spv_fn *c, rg_type t, uint32_t low, uint32_t high) {
    rg_spv *s = c->s;
    if (!guarded(c))
        return;
    uint32_t st = rg_spv_value_type(s, t), one = opaque_one(c);
    uint32_t zero = RG_SPV_OP(c, SpvOpISub, s->t_u32, one, rg_spv_u32(s, 1));
    if (rg_type_size(t) == 8)
        zero = RG_SPV_OP(c, SpvOpUConvert, st, zero);
    low = RG_SPV_OP(c, SpvOpIAdd, st, low, zero);
    bool is_unsigned = rg_type_is_unsigned(t);
    guard_loop(c,
               RG_SPV_OP(c, is_unsigned ? SpvOpULessThan : SpvOpSLessThan, s->t_bool, low, high));
}

/* At the end of a task: a loop of two iterations. A driver that has counted enough iterations of
 * any loop before, also of those without a guard of their own (library functions,
 * compare-and-swap), ends this one after the first. */
void rg_spv_guard_task(rg_spv_fn *c) {
    rg_spv *s = c->s;
    if (!guarded(c))
        return;
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block, one = opaque_one(c), at;
    uint32_t two = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, one, one);
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t count = open_phi(c, s->t_u32, rg_spv_u32(s, 0), from, next, &at);
    uint32_t more = RG_SPV_OP(c, SpvOpULessThan, s->t_bool, count, two);
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, merge);
    rg_spv_label(c, body);
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    uint32_t stepped = RG_SPV_OP(c, SpvOpIAdd, s->t_u32, count, one);
    c->out->at[at] = stepped;
    rg_spv_branch(c, header);
    rg_spv_label(c, merge);
    rg_spv_guard_for(c, RG_U32, count, two);
}

static void emit_for(rg_spv_fn *c, rg_iid id) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    bool reverse = (i->flags & RG_INS_REVERSE) != 0;
    rg_val iv = f->regions.at[i->region[0]].args.at[0];
    rg_type t = f->vals.at[iv].type;
    rg_spv_check_type(c, t, i->loc);
    uint32_t st = rg_spv_value_type(s, t), one = rg_spv_const_int(s, t, 1);
    uint32_t lo = rg_spv_val(c, rg_operand(f, id, 0)), hi = rg_spv_val(c, rg_operand(f, id, 1));
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block, iv_at;
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    /* Downwards the counter is one more than the loop variable, so that it never passes lo. */
    uint32_t count = open_phi(c, st, reverse ? hi : lo, from, next, &iv_at);
    uint32_t *at = open_carried(c, id, from, next);
    bool is_unsigned = rg_type_is_unsigned(t);
    uint32_t more = RG_SPV_OP(c, is_unsigned ? SpvOpULessThan : SpvOpSLessThan, s->t_bool,
                              reverse ? lo : count, reverse ? count : hi);
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, merge);
    rg_spv_label(c, body);
    uint32_t stepped = 0;
    if (reverse)
        stepped = RG_SPV_OP(c, SpvOpISub, st, count, one);
    c->id[iv] = reverse ? stepped : count;
    set_name(c, iv, c->id[iv]);
    split_args(c, i->region[0]);
    rg_spv_region(c, i->region[0]);
    close_carried(c, id, at, 0);
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    if (!reverse)
        stepped = RG_SPV_OP(c, SpvOpIAdd, st, count, one);
    c->out->at[iv_at] = stepped;
    rg_spv_branch(c, header);
    rg_spv_label(c, merge);
    rg_spv_guard_for(c, t, reverse ? lo : count, reverse ? count : hi);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val a = f->regions.at[i->region[0]].args.at[1 + n], r = rg_result(f, id, n);
        c->id[r] = c->id[a];
        c->low[r] = carries_low(c, a) ? c->low[a] : 0;
        split(c, r); /* the argument's own low half was made in the body */
    }
}

/* The same with the condition at the head, carried there in a value of its own: if the driver ends
 * the loop, it still says that the loop goes on. */
static void emit_guarded_loop(rg_spv_fn *c, rg_iid id) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block, going_at, one = opaque_one(c), none = rg_spv_u32(s, 0);
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t going = open_phi(c, s->t_u32, one, from, next, &going_at);
    uint32_t *at = open_carried(c, id, from, next);
    uint32_t more = RG_SPV_OP(c, SpvOpINotEqual, s->t_bool, going, none);
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    RG_SPV_DO(c, SpvOpBranchConditional, more, body, merge);
    rg_spv_label(c, body);
    split_args(c, i->region[0]);
    rg_spv_region(c, i->region[0]);
    close_carried(c, id, at, 1);
    uint32_t again = rg_spv_val(c, rg_operand(f, rg_yield_of(f, i->region[0]), 0));
    uint32_t zero = RG_SPV_OP(c, SpvOpISub, s->t_u32, one, rg_spv_u32(s, 1));
    uint32_t still = RG_SPV_OP(c, SpvOpSelect, s->t_u32, again, one, zero);
    c->out->at[going_at] = still;
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    rg_spv_branch(c, header);
    rg_spv_label(c, merge);
    uint32_t left = RG_SPV_OP(c, SpvOpIMul, s->t_u32, going, one);
    guard_loop(c, RG_SPV_OP(c, SpvOpINotEqual, s->t_bool, left, none));
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val a = f->regions.at[i->region[0]].args.at[n], r = rg_result(f, id, n);
        c->id[r] = c->id[a];
        c->low[r] = carries_low(c, a) ? c->low[a] : 0;
        split(c, r);
    }
}

static void emit_loop(rg_spv_fn *c, rg_iid id) {
    if (guarded(c)) {
        emit_guarded_loop(c, id);
        return;
    }
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    rg_iid y = rg_yield_of(f, i->region[0]);
    uint32_t header = rg_spv_id(s), body = rg_spv_id(s), next = rg_spv_id(s), merge = rg_spv_id(s);
    uint32_t from = c->block;
    rg_spv_branch(c, header);
    rg_spv_label(c, header);
    uint32_t *at = open_carried(c, id, from, next);
    RG_SPV_DO(c, SpvOpLoopMerge, merge, next, SpvLoopControlMaskNone);
    rg_spv_branch(c, body);
    rg_spv_label(c, body);
    split_args(c, i->region[0]);
    rg_spv_region(c, i->region[0]);
    close_carried(c, id, at, 1);
    uint32_t again = rg_spv_val(c, rg_operand(f, y, 0));
    rg_spv_branch(c, next);
    rg_spv_label(c, next);
    RG_SPV_DO(c, SpvOpBranchConditional, again, header, merge);
    rg_spv_label(c, merge);
    for (uint32_t n = 0; n < i->nres; n++) {
        rg_val v = rg_operand(f, y, n + 1), r = rg_result(f, id, n);
        if (!asked(c, r))
            continue;
        if (carries_low(c, r))
            c->low[r] = rg_spv_low(c, v);
        else
            c->id[r] = rg_spv_val(c, v);
        split(c, r);
    }
}

void rg_spv_instruction(rg_spv_fn *c, rg_iid id) {
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    if (i->op == RG_CONST || i->op == RG_YIELD)
        return;
    rg_spv_line(c, i->loc);
    switch (i->op) {
    case RG_IF:
        emit_if(c, id);
        return;
    case RG_FOR:
        emit_for(c, id);
        return;
    case RG_LOOP:
        emit_loop(c, id);
        return;
    case RG_LOAD:
        rg_spv_load(c, id);
        break;
    case RG_STORE:
        rg_spv_store(c, id);
        return;
    case RG_ADDTO:
        rg_spv_addto(c, id);
        return;
    case RG_RMW:
        rg_spv_rmw(c, id);
        break;
    case RG_ALLOC:
        rg_spv_alloc(c, id);
        return;
    case RG_COPY:
        rg_spv_copy(c, id);
        return;
    case RG_SCALAR: /* an input: given before */
        return;
    case RG_EXTENT: {
        rg_val v = rg_result(f, id, 0);
        uint32_t n = rg_spv_extent(c, i->array, (uint32_t)i->imm.i);
        if (c->demand[v] & RG_SPV_FULL) {
            rg_spv_check_type(c, RG_I64, i->loc);
            c->id[v] = c->index64 ? n : RG_SPV_OP(c, SpvOpSConvert, rg_spv_int(c->s, 64), n);
        }
        if (c->demand[v] & RG_SPV_LOW)
            c->low[v] = c->index64 ? RG_SPV_OP(c, SpvOpUConvert, c->s->t_u32, n) : n;
        return;
    }
    default: {
        rg_val v = rg_result(f, id, 0);
        if (!asked(c, v))
            return;
        if (carries_low(c, v)) {
            c->low[v] = rg_spv_pure_low(c, id);
            return;
        }
        c->id[v] = rg_spv_pure(c, id);
        break;
    }
    }
    if (i->nres) {
        rg_val v = rg_result(f, id, 0);
        split(c, v);
        if (f->vals.at[v].name && c->id[v])
            set_name(c, v, c->id[v]);
    }
}

void rg_spv_region(rg_spv_fn *c, rg_rid r) {
    for (uint32_t k = 0; k < c->f->regions.at[r].ins.n; k++)
        rg_spv_instruction(c, c->f->regions.at[r].ins.at[k]);
}
