/* Builder: every instruction enters a region through `append`, every pure one through
 * rg_b_pure, which checks its types by the op's rule, folds it, and makes it only if it must.
 *
 * A wrong type or shape here is a bug of the caller: rg_bug, never a broken function. */
#include "ir/build.h"

#include <math.h>
#include <string.h>

#include "ir/fold.h"

/* --- tables ------------------------------------------------------------------------------- */

uint32_t rg_pool_add(rg_fn *f, const uint32_t *v, uint32_t n) {
    uint32_t at = f->pool.n;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t item = v[k]; /* v may point into the pool itself */
        const uint32_t *old = f->pool.at;
        bool inside = v >= old && v < old + f->pool.n;
        size_t offset = inside ? (size_t)(v - old) : 0;
        RG_PUSH(f->arena, &f->pool, item);
        if (inside)
            v = f->pool.at + offset;
    }
    return at;
}

rg_val rg_value_new(rg_fn *f, rg_type t) {
    RG_PUSH(f->arena, &f->vals, (rg_value){.type = t});
    return f->vals.n - 1;
}

rg_rid rg_region_new(rg_fn *f, rg_iid owner) {
    RG_PUSH(f->arena, &f->regions, (rg_region){.owner = owner});
    return f->regions.n - 1;
}

rg_val rg_region_add_arg(rg_fn *f, rg_rid r, rg_type t) {
    rg_val v = rg_value_new(f, t);
    rg_region *g = rg_region_at(f, r);
    f->vals.at[v].region = r;
    f->vals.at[v].index = g->args.n;
    RG_PUSH(f->arena, &g->args, v);
    return v;
}

/* A list of the pool, one longer: in place when nothing follows it. */
static uint32_t pool_append(rg_fn *f, uint32_t at, uint32_t n, uint32_t item) {
    if (n == 0 || at + n != f->pool.n)
        at = rg_pool_add(f, f->pool.at + at, n);
    RG_PUSH(f->arena, &f->pool, item);
    return at;
}

/* A copy without item k: the old list may be shared with a copied instruction. */
static uint32_t pool_without(rg_fn *f, uint32_t at, uint32_t n, uint32_t k) {
    uint32_t fresh = rg_pool_add(f, f->pool.at + at, k);
    rg_pool_add(f, f->pool.at + at + k + 1, n - k - 1);
    return fresh;
}

rg_val rg_ins_add_result(rg_fn *f, rg_iid i, rg_type t) {
    rg_val v = rg_value_new(f, t);
    rg_ins *ins = rg_ins_at(f, i);
    f->vals.at[v].def = i;
    f->vals.at[v].index = ins->nres;
    ins->res = pool_append(f, ins->res, ins->nres, v);
    ins->nres++;
    return v;
}

void rg_ins_add_operand(rg_fn *f, rg_iid i, rg_val v) {
    rg_ins *ins = rg_ins_at(f, i);
    ins->opnd = pool_append(f, ins->opnd, ins->nopnd, v);
    ins->nopnd++;
}

void rg_ins_remove_operand(rg_fn *f, rg_iid i, uint32_t k) {
    rg_ins *ins = rg_ins_at(f, i);
    if (k >= ins->nopnd)
        rg_bug(f->arena, "operand %u of %u removed", k, ins->nopnd);
    ins->opnd = pool_without(f, ins->opnd, ins->nopnd, k);
    ins->nopnd--;
}

void rg_ins_remove_result(rg_fn *f, rg_iid i, uint32_t k) {
    rg_ins *ins = rg_ins_at(f, i);
    if (k >= ins->nres)
        rg_bug(f->arena, "result %u of %u removed", k, ins->nres);
    rg_val v = f->pool.at[ins->res + k];
    f->vals.at[v].def = 0;
    f->vals.at[v].index = 0;
    ins->res = pool_without(f, ins->res, ins->nres, k);
    ins->nres--;
    for (uint32_t j = k; j < ins->nres; j++)
        f->vals.at[f->pool.at[ins->res + j]].index = j;
}

void rg_region_remove_arg(rg_fn *f, rg_rid r, uint32_t k) {
    rg_region *g = rg_region_at(f, r);
    if (k >= g->args.n)
        rg_bug(f->arena, "argument %u of %u removed", k, g->args.n);
    f->vals.at[g->args.at[k]].region = 0;
    f->vals.at[g->args.at[k]].index = 0;
    for (uint32_t j = k; j + 1 < g->args.n; j++) {
        g->args.at[j] = g->args.at[j + 1];
        f->vals.at[g->args.at[j]].index = j;
    }
    g->args.n--;
}

rg_iid rg_ins_new(rg_fn *f, rg_op op, rg_loc loc) {
    RG_PUSH(f->arena, &f->ins, (rg_ins){.op = (uint16_t)op, .loc = loc});
    return f->ins.n - 1;
}

void rg_region_insert(rg_fn *f, rg_rid r, uint32_t at, rg_iid i) {
    rg_region *g = rg_region_at(f, r);
    if (at > g->ins.n)
        rg_bug(f->arena, "instruction inserted at %u of %u", at, g->ins.n);
    RG_PUSH(f->arena, &g->ins, i);
    memmove(g->ins.at + at + 1, g->ins.at + at, (g->ins.n - 1 - at) * sizeof *g->ins.at);
    g->ins.at[at] = i;
    rg_ins_at(f, i)->parent = r;
}

void rg_region_remove(rg_fn *f, rg_iid i) {
    rg_region *g = rg_region_at(f, rg_ins_at(f, i)->parent);
    uint32_t k = 0;
    while (g->ins.at[k] != i)
        k++;
    g->ins.n--;
    memmove(g->ins.at + k, g->ins.at + k + 1, (g->ins.n - k) * sizeof *g->ins.at);
    rg_ins_at(f, i)->parent = 0;
}

static rg_val follow(rg_val *map, uint32_t n, rg_val v) {
    rg_val end = v;
    for (uint32_t steps = 0; map[end] && steps < n; steps++)
        end = map[end];
    while (map[v] && map[v] != end) { /* shorten the path for the next one */
        rg_val next = map[v];
        map[v] = end;
        v = next;
    }
    return end;
}

void rg_fn_replace_uses(rg_fn *f, rg_val *map) {
    for (uint32_t i = 1; i < f->ins.n; i++) {
        const rg_ins *ins = rg_ins_at(f, i);
        for (uint32_t k = 0; k < ins->nopnd; k++) {
            rg_val *v = &f->pool.at[ins->opnd + k];
            if (map[*v])
                *v = follow(map, f->vals.n, *v);
        }
    }
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        rg_array *array = rg_array_at(f, a);
        for (uint32_t d = 0; array->extents && d < array->rank; d++)
            if (map[array->extents[d]])
                array->extents[d] = follow(map, f->vals.n, array->extents[d]);
    }
}

rg_aid rg_array_new(rg_fn *f, const rg_array *init) {
    RG_PUSH(f->arena, &f->arrays, *init);
    return f->arrays.n - 1;
}

/* --- position ----------------------------------------------------------------------------- */

rg_build *rg_b_new(rg_fn *f) {
    rg_build *b = RG_NEW(f->arena, rg_build);
    b->fn = f;
    b->region = f->body;
    return b;
}

static void push(rg_build *b, rg_rid r, rg_iid before) {
    RG_PUSH(b->fn->arena, &b->stack, b->region);
    RG_PUSH(b->fn->arena, &b->stack, b->before);
    b->region = r;
    b->before = before;
    b->hint = 0;
}

void rg_b_push(rg_build *b, rg_rid r) {
    push(b, r, 0);
}

void rg_b_push_before(rg_build *b, rg_iid i) {
    push(b, rg_ins_at(b->fn, i)->parent, i);
}

void rg_b_pop(rg_build *b) {
    if (b->stack.n < 2)
        rg_bug(b->fn->arena, "builder popped without a push");
    b->before = b->stack.at[--b->stack.n];
    b->region = b->stack.at[--b->stack.n];
    b->hint = 0;
}

rg_val rg_b_arg(const rg_build *b, uint32_t i) {
    const rg_region *g = rg_region_at(b->fn, b->region);
    if (i >= g->args.n)
        rg_bug(b->fn->arena, "argument %u of a region that has %u", i, g->args.n);
    return g->args.at[i];
}

/* Where the next instruction goes: before b->before, else at the end, but before a yield. */
static uint32_t insertion_point(rg_build *b) {
    const rg_region *g = rg_region_at(b->fn, b->region);
    if (!b->before) {
        bool closed = g->ins.n && rg_ins_at(b->fn, g->ins.at[g->ins.n - 1])->op == RG_YIELD;
        return g->ins.n - closed;
    }
    if (b->hint < g->ins.n && g->ins.at[b->hint] == b->before)
        return b->hint;
    for (uint32_t k = g->ins.n; k-- > 0;)
        if (g->ins.at[k] == b->before)
            return b->hint = k;
    rg_bug(b->fn->arena, "builder: the instruction to insert before is gone");
}

static void append(rg_build *b, rg_iid i) {
    uint32_t at = insertion_point(b);
    rg_region_insert(b->fn, b->region, at, i);
    b->hint = at + 1;
}

static rg_iid new_ins(rg_build *b, rg_op op, const rg_val *x, uint32_t n) {
    rg_iid i = rg_ins_new(b->fn, op, b->loc);
    uint32_t at = rg_pool_add(b->fn, x, n);
    rg_ins_at(b->fn, i)->opnd = at;
    rg_ins_at(b->fn, i)->nopnd = n;
    return i;
}

/* --- pure ops ----------------------------------------------------------------------------- */

/* A constant made a moment ago in this region serves again: enough to keep `0` from flooding a
 * region, and no value gets a longer life than its neighbourhood. */
enum { CONST_WINDOW = 32 };

static rg_val const_value(rg_build *b, rg_type t, rg_const c) {
    rg_fn *f = b->fn;
    const rg_region *g = rg_region_at(f, b->region);
    uint32_t end = insertion_point(b);
    for (uint32_t k = end; k-- > 0 && end - k <= CONST_WINDOW;) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        if (ins->op != RG_CONST || rg_type_of(f, f->pool.at[ins->res]) != t)
            continue;
        /* Bits, not values: -0 is not +0, and a NaN equals itself. */
        if (rg_type_is_float(t) ? memcmp(&ins->imm.f, &c.f, sizeof c.f) == 0 : ins->imm.i == c.i)
            return f->pool.at[ins->res];
    }
    rg_iid i = new_ins(b, RG_CONST, NULL, 0);
    if (rg_type_is_float(t))
        rg_ins_at(f, i)->imm.f = c.f;
    else
        rg_ins_at(f, i)->imm.i = c.i;
    append(b, i);
    return rg_ins_add_result(f, i, t);
}

rg_val rg_b_int(rg_build *b, rg_type t, int64_t v) {
    if (t != RG_BOOL && !rg_type_is_int(t))
        rg_bug(b->fn->arena, "integer constant of type %s", rg_type_name(t));
    rg_const x = {.i = v}, c;
    rg_eval(RG_CAST, t, RG_I64, 0, &x, &c);
    return const_value(b, t, c);
}

rg_val rg_b_real(rg_build *b, rg_type t, double v) {
    if (!rg_type_is_float(t))
        rg_bug(b->fn->arena, "real constant of type %s", rg_type_name(t));
    rg_const c = {.f = t == RG_F32 ? (double)(float)v : v};
    return const_value(b, t, c);
}

rg_val rg_b_zero(rg_build *b, rg_type t) {
    return rg_type_is_float(t) ? rg_b_real(b, t, 0) : rg_b_int(b, t, 0);
}

rg_val rg_b_bool(rg_build *b, bool v) {
    return rg_b_int(b, RG_BOOL, v);
}

static uint32_t class_of(rg_type t) {
    return rg_type_is_float(t) ? RG_F_FLT : t == RG_BOOL ? RG_F_BOO : RG_F_INT;
}

/* Checks the operands against the op's rule; FREE's result is the caller's. */
static void check_types(const rg_build *b, rg_op op, rg_type t, const rg_val *x, uint32_t n) {
    const rg_fn *f = b->fn;
    const rg_op_info *info = &rg_ops[op];
    if (!rg_op_is_pure(op))
        rg_bug(f->arena, "'%s' is not a pure op", info->text);
    if (info->operands != (int)n)
        rg_bug(f->arena, "'%s' with %u operands", info->text, n);
    for (uint32_t k = 0; k < n; k++)
        if (x[k] == 0 || x[k] >= f->vals.n)
            rg_bug(f->arena, "'%s': operand %u is no value", info->text, k);
    bool fine = true;
    switch (info->type) {
    case RG_T_SAME:
        for (uint32_t k = 0; k < n; k++)
            fine = fine && rg_type_of(f, x[k]) == t;
        fine = fine && (class_of(t) & info->flags);
        break;
    case RG_T_CMP:
        fine = t == RG_BOOL && rg_type_of(f, x[0]) == rg_type_of(f, x[1]) &&
               (class_of(rg_type_of(f, x[0])) & info->flags);
        break;
    case RG_T_SEL:
        fine =
            rg_type_of(f, x[0]) == RG_BOOL && rg_type_of(f, x[1]) == t && rg_type_of(f, x[2]) == t;
        break;
    case RG_T_TEST:
        fine = t == RG_BOOL && rg_type_is_float(rg_type_of(f, x[0]));
        break;
    case RG_T_SHIFT:
        fine = rg_type_is_int(t) && rg_type_of(f, x[0]) == t && rg_type_of(f, x[1]) == RG_I32;
        break;
    case RG_T_SCALE:
        fine = rg_type_is_float(t) && rg_type_of(f, x[0]) == t && rg_type_of(f, x[1]) == RG_I32;
        break;
    case RG_T_FREE:
        fine = t != RG_VOID && (op != RG_EXTENT || t == RG_I64) && (op != RG_ILOGB || t == RG_I32);
        break;
    case RG_T_NONE:
        fine = false;
        break;
    }
    if (!fine)
        rg_bug(f->arena, "'%s' on (%s, %s, %s) giving %s", info->text,
               n > 0 ? rg_type_name(rg_type_of(f, x[0])) : "-",
               n > 1 ? rg_type_name(rg_type_of(f, x[1])) : "-",
               n > 2 ? rg_type_name(rg_type_of(f, x[2])) : "-", rg_type_name(t));
}

rg_val rg_b_pure(rg_build *b, rg_op op, rg_type t, const rg_val *x, uint32_t n, int64_t imm) {
    rg_fn *f = b->fn;
    rg_val now[3] = {0};
    if (op == RG_CONST) {
        rg_const c = {.i = imm}; /* the bits, whatever the type */
        return const_value(b, t, c);
    }
    if (n > 3)
        rg_bug(f->arena, "'%s' with %u operands", rg_ops[op].text, n);
    for (uint32_t k = 0; k < n; k++)
        now[k] = x[k];
    for (int rounds = 0; rounds < 16; rounds++) {
        check_types(b, op, t, now, n);
        rg_folded r = rg_fold(f, op, t, now, n, imm);
        if (r.kind == RG_FOLD_VALUE)
            return r.v;
        if (r.kind == RG_FOLD_CONST)
            return const_value(b, t, r.c);
        if (r.kind == RG_FOLD_NONE)
            break;
        op = r.op;
        n = r.n;
        imm = r.imm;
        for (uint32_t k = 0; k < n; k++)
            now[k] = r.late[k] ? const_value(b, r.late_type, r.late_const) : r.x[k];
    }
    rg_iid i = new_ins(b, op, now, n);
    rg_ins_at(f, i)->imm.i = imm;
    append(b, i);
    return rg_ins_add_result(f, i, t);
}

static rg_type result_type(const rg_build *b, rg_op op, const rg_val *x, uint32_t n) {
    if (n == 0 || x[0] == 0 || x[0] >= b->fn->vals.n)
        rg_bug(b->fn->arena, "'%s': operand 0 is no value", rg_ops[op].text);
    switch (rg_ops[op].type) {
    case RG_T_CMP:
    case RG_T_TEST:
        return RG_BOOL;
    case RG_T_SEL:
        return n > 1 && x[1] < b->fn->vals.n ? rg_type_of(b->fn, x[1]) : RG_VOID;
    case RG_T_FREE:
        if (op == RG_ILOGB)
            return RG_I32;
        rg_bug(b->fn->arena, "'%s' has no type of its own", rg_ops[op].text);
    default:
        return rg_type_of(b->fn, x[0]);
    }
}

rg_val rg_b_op1(rg_build *b, rg_op op, rg_val x) {
    return rg_b_pure(b, op, result_type(b, op, &x, 1), &x, 1, 0);
}

rg_val rg_b_op2(rg_build *b, rg_op op, rg_val x, rg_val y) {
    rg_val v[2] = {x, y};
    return rg_b_pure(b, op, result_type(b, op, v, 2), v, 2, 0);
}

rg_val rg_b_op3(rg_build *b, rg_op op, rg_val x, rg_val y, rg_val z) {
    rg_val v[3] = {x, y, z};
    return rg_b_pure(b, op, result_type(b, op, v, 3), v, 3, 0);
}

rg_val rg_b_cast(rg_build *b, rg_type t, rg_val x) {
    return rg_b_pure(b, RG_CAST, t, &x, 1, 0);
}

rg_val rg_b_wrap(rg_build *b, rg_mem m, rg_val x) {
    if (x == 0 || x >= b->fn->vals.n || rg_mem_value(m) != rg_type_of(b->fn, x))
        rg_bug(b->fn->arena, "wrap to %s of a value of another type", rg_mem_name(m));
    if (rg_wrap_is_identity(b->fn, m, x))
        return x;
    return rg_b_pure(b, RG_WRAP, rg_type_of(b->fn, x), &x, 1, (int64_t)m);
}

static bool is_absent(const rg_fn *f, rg_val v) {
    double d;
    return v == 0 || (rg_val_const_real(f, v, &d) && d == 0 && !signbit(d));
}

rg_val rg_b_acc(rg_build *b, rg_val sum, rg_val g) {
    if (is_absent(b->fn, sum))
        return g ? g : sum;
    if (is_absent(b->fn, g))
        return sum;
    return rg_b_op2(b, RG_ADD, sum, g);
}

rg_val rg_b_red(rg_build *b, rg_red kind, rg_val acc, rg_val x) {
    rg_fn *f = b->fn;
    if (rg_type_of(f, acc) != rg_type_of(f, x))
        rg_bug(f->arena, "red of %s into %s", rg_type_name(rg_type_of(f, x)),
               rg_type_name(rg_type_of(f, acc)));
    rg_val v[2] = {acc, x};
    rg_iid i = new_ins(b, RG_RED, v, 2);
    rg_ins_at(f, i)->imm.i = kind;
    append(b, i);
    return rg_ins_add_result(f, i, rg_type_of(f, acc));
}

rg_val rg_b_scalar(rg_build *b, uint32_t scalar) {
    if (scalar >= b->fn->scalars.n)
        rg_bug(b->fn->arena, "scalar %u of %u", scalar, b->fn->scalars.n);
    return rg_b_pure(b, RG_SCALAR, rg_mem_value(b->fn->scalars.at[scalar].mem), NULL, 0, scalar);
}

rg_val rg_b_extent(rg_build *b, rg_aid array, uint32_t axis) {
    if (array == 0 || array >= b->fn->arrays.n || axis >= rg_array_at(b->fn, array)->rank)
        rg_bug(b->fn->arena, "extent %u of array %u", axis, array);
    rg_val v = rg_b_pure(b, RG_EXTENT, RG_I64, NULL, 0, axis);
    rg_ins_at(b->fn, b->fn->vals.at[v].def)->array = array;
    return v;
}

/* --- memory ------------------------------------------------------------------------------- */

static rg_iid new_access(rg_build *b, rg_op op, rg_aid a, uint32_t leaf, const rg_val *idx,
                         uint16_t flags, rg_val value) {
    rg_fn *f = b->fn;
    if (a == 0 || a >= f->arrays.n || leaf >= rg_array_at(f, a)->elem->nleaves)
        rg_bug(f->arena, "'%s' of leaf %u of array %u", rg_ops[op].text, leaf, a);
    const rg_array *array = rg_array_at(f, a);
    uint32_t n = array->rank + array->elem->leaves[leaf].ndims;
    for (uint32_t k = 0; k < n; k++)
        if (idx[k] == 0 || idx[k] >= f->vals.n || !rg_type_is_int(rg_type_of(f, idx[k])))
            rg_bug(f->arena, "'%s' of '%s': index %u is no integer", rg_ops[op].text, array->name,
                   k);
    rg_type t = rg_mem_value(array->elem->leaves[leaf].mem);
    if (op != RG_LOAD && (value == 0 || value >= f->vals.n || rg_type_of(f, value) != t))
        rg_bug(f->arena, "'%s' of '%s' with a value that is no %s", rg_ops[op].text, array->name,
               rg_type_name(t));
    rg_iid i = new_ins(b, op, idx, n);
    if (op != RG_LOAD)
        rg_ins_add_operand(f, i, value);
    rg_ins *ins = rg_ins_at(f, i);
    ins->array = a;
    ins->leaf = leaf;
    ins->flags = flags;
    append(b, i);
    return i;
}

static rg_type access_type(const rg_build *b, rg_iid i) {
    return rg_mem_value(rg_ins_leaf(b->fn, rg_ins_at(b->fn, i))->mem);
}

rg_val rg_b_load(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, uint16_t flags) {
    rg_iid i = new_access(b, RG_LOAD, a, leaf, idx, flags, 0);
    return rg_ins_add_result(b->fn, i, access_type(b, i));
}

void rg_b_store(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v, uint16_t flags) {
    new_access(b, RG_STORE, a, leaf, idx, flags, v);
}

void rg_b_addto(rg_build *b, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v, uint16_t flags) {
    new_access(b, RG_ADDTO, a, leaf, idx, flags, v);
}

rg_val rg_b_rmw(rg_build *b, rg_red kind, rg_aid a, uint32_t leaf, const rg_val *idx, rg_val v,
                uint16_t flags) {
    rg_iid i = new_access(b, RG_RMW, a, leaf, idx, flags, v);
    rg_ins_at(b->fn, i)->imm.i = kind;
    return rg_ins_add_result(b->fn, i, access_type(b, i));
}

rg_aid rg_b_alloc(rg_build *b, const char *name, const rg_elem *elem, uint32_t rank,
                  const rg_val *extents, uint32_t flags) {
    rg_fn *f = b->fn;
    bool grows = (flags & RG_ARR_GROW) != 0;
    rg_array array = {.name = name,
                      .kind = RG_ARR_LOCAL,
                      .flags = flags,
                      .elem = elem,
                      .rank = rank,
                      .loc = b->loc};
    if (grows && rank != 1)
        rg_bug(f->arena, "growing array '%s' of %u axes", name, rank);
    if (rank)
        array.extents = RG_NEW_N(f->arena, rg_val, rank);
    for (uint32_t k = 0; k < rank && !grows; k++) {
        if (rg_type_of(f, extents[k]) != RG_I64)
            rg_bug(f->arena, "alloc of '%s': extent %u is no i64", name, k);
        array.extents[k] = extents[k];
    }
    rg_aid a = rg_array_new(f, &array);
    rg_iid i = new_ins(b, RG_ALLOC, extents, grows ? 0 : rank);
    rg_ins_at(f, i)->array = a;
    append(b, i);
    return a;
}

void rg_b_copy(rg_build *b, rg_aid dst, rg_aid src, const rg_val *lead, uint32_t nlead) {
    rg_fn *f = b->fn;
    uint32_t dst_rank = rg_array_at(f, dst)->rank, src_rank = rg_array_at(f, src)->rank;
    uint32_t more = dst_rank > src_rank ? dst_rank - src_rank : src_rank - dst_rank;
    if (nlead != more || rg_array_at(f, dst)->elem != rg_array_at(f, src)->elem)
        rg_bug(f->arena, "copy from '%s' to '%s': shapes or elements differ",
               rg_array_at(f, src)->name, rg_array_at(f, dst)->name);
    rg_iid i = new_ins(b, RG_COPY, lead, nlead);
    rg_ins_at(f, i)->array = dst;
    rg_ins_at(f, i)->array2 = src;
    append(b, i);
}

/* --- adjoints by the user ------------------------------------------------------------------ */

rg_val rg_b_own(rg_build *b) {
    rg_iid i = new_ins(b, RG_OWN, NULL, 0);
    append(b, i);
    return rg_ins_add_result(b->fn, i, RG_BOOL);
}

rg_val rg_b_bar(rg_build *b, rg_type t) {
    rg_iid i = new_ins(b, RG_BAR, NULL, 0);
    append(b, i);
    return rg_ins_add_result(b->fn, i, t);
}

void rg_b_give(rg_build *b, rg_val x, rg_val g) {
    rg_val v[2] = {x, g};
    append(b, new_ins(b, RG_GIVE, v, 2));
}

void rg_b_pair(rg_build *b, rg_aid a, rg_aid cotangent, bool sums) {
    rg_iid i = new_ins(b, RG_PAIR, NULL, 0);
    rg_ins *ins = rg_ins_at(b->fn, i);
    ins->array = a;
    ins->array2 = cotangent;
    ins->imm.i = sums;
    append(b, i);
}

/* --- structure ---------------------------------------------------------------------------- */

static void add_regions(rg_fn *f, rg_iid i, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        rg_rid r = rg_region_new(f, i);
        rg_ins_at(f, i)->region[k] = r;
    }
}

/* An argument and a result for each carried value. */
static void add_carried(rg_fn *f, rg_iid i, const rg_val *inits, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        rg_type t = rg_type_of(f, inits[k]);
        rg_region_add_arg(f, rg_ins_at(f, i)->region[0], t);
        rg_ins_add_result(f, i, t);
    }
}

rg_iid rg_b_if(rg_build *b, rg_val cond) {
    if (rg_type_of(b->fn, cond) != RG_BOOL)
        rg_bug(b->fn->arena, "if on a value of type %s", rg_type_name(rg_type_of(b->fn, cond)));
    rg_iid i = new_ins(b, RG_IF, &cond, 1);
    add_regions(b->fn, i, 2);
    append(b, i);
    return i;
}

void rg_b_if_done(rg_build *b, rg_iid i) {
    rg_fn *f = b->fn;
    rg_iid yields[2];
    for (uint32_t k = 0; k < 2; k++) {
        const rg_region *g = rg_region_at(f, rg_ins_at(f, i)->region[k]);
        if (g->ins.n == 0 || rg_ins_at(f, g->ins.at[g->ins.n - 1])->op != RG_YIELD)
            rg_bug(f->arena, "if: branch %u has no yield", k);
        yields[k] = g->ins.at[g->ins.n - 1];
    }
    uint32_t n = rg_ins_at(f, yields[0])->nopnd;
    if (rg_ins_at(f, yields[1])->nopnd != n)
        rg_bug(f->arena, "if: branches yield %u and %u values", n, rg_ins_at(f, yields[1])->nopnd);
    for (uint32_t k = 0; k < n; k++) {
        rg_type t = rg_type_of(f, rg_operand(f, yields[0], k));
        if (rg_type_of(f, rg_operand(f, yields[1], k)) != t)
            rg_bug(f->arena, "if: branches yield different types as value %u", k);
        rg_ins_add_result(f, i, t);
    }
}

rg_iid rg_b_for(rg_build *b, rg_val lo, rg_val hi, const rg_val *inits, uint32_t n,
                uint16_t flags) {
    rg_fn *f = b->fn;
    rg_type t = rg_type_of(f, lo);
    if (!rg_type_is_int(t) || rg_type_of(f, hi) != t)
        rg_bug(f->arena, "for from %s to %s", rg_type_name(t), rg_type_name(rg_type_of(f, hi)));
    rg_val bounds[2] = {lo, hi};
    rg_iid i = new_ins(b, RG_FOR, bounds, 2);
    for (uint32_t k = 0; k < n; k++)
        rg_ins_add_operand(f, i, inits[k]);
    rg_ins_at(f, i)->flags = flags;
    add_regions(f, i, 1);
    rg_region_add_arg(f, rg_ins_at(f, i)->region[0], t);
    add_carried(f, i, inits, n);
    append(b, i);
    return i;
}

rg_iid rg_b_loop(rg_build *b, const rg_val *inits, uint32_t n) {
    rg_iid i = new_ins(b, RG_LOOP, inits, n);
    add_regions(b->fn, i, 1);
    add_carried(b->fn, i, inits, n);
    append(b, i);
    return i;
}

rg_iid rg_b_parallel(rg_build *b, const rg_val *bounds, uint32_t ranges, const rg_val *inits,
                     const rg_red *reds, uint32_t nreds) {
    rg_fn *f = b->fn;
    if (ranges < 1 || ranges > 3)
        rg_bug(f->arena, "parallel over %u ranges", ranges);
    rg_type t = rg_type_of(f, bounds[0]);
    for (uint32_t k = 0; k < 2 * ranges; k++)
        if (!rg_type_is_int(t) || rg_type_of(f, bounds[k]) != t)
            rg_bug(f->arena, "parallel: bounds of different types");
    rg_iid i = new_ins(b, RG_PARALLEL, bounds, 2 * ranges);
    for (uint32_t k = 0; k < nreds; k++)
        rg_ins_add_operand(f, i, inits[k]);
    rg_ins_at(f, i)->imm.i = ranges;
    uint32_t aux = f->pool.n;
    for (uint32_t k = 0; k < nreds; k++)
        RG_PUSH(f->arena, &f->pool, (uint32_t)reds[k]);
    rg_ins_at(f, i)->aux = nreds ? aux : 0;
    add_regions(f, i, 1);
    for (uint32_t k = 0; k < ranges; k++)
        rg_region_add_arg(f, rg_ins_at(f, i)->region[0], t);
    add_carried(f, i, inits, nreds);
    append(b, i);
    return i;
}

void rg_b_yield(rg_build *b, const rg_val *v, uint32_t n) {
    rg_region *g = rg_region_at(b->fn, b->region);
    if (g->ins.n && rg_ins_at(b->fn, g->ins.at[g->ins.n - 1])->op == RG_YIELD)
        rg_bug(b->fn->arena, "region yields twice");
    rg_iid i = new_ins(b, RG_YIELD, v, n);
    append(b, i);
}

void rg_b_name(rg_build *b, rg_val v, const char *name) {
    rg_value *value = rg_value_at(b->fn, v);
    if (!value->name)
        value->name = name;
}
