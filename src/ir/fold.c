/* Folding of one pure op: first constants by evaluation, then identities, by the kind of the type.
 *
 * Float identities are those that IEEE arithmetic keeps for every input: x * 1, x / 1, x - (+0),
 * x + (-0), -(-x). Not x + 0, which turns -0 into +0, not x - x, not x * 0. */
#include "ir/fold.h"

#include <math.h>

bool rg_val_const(const rg_fn *f, rg_val v, rg_const *out) {
    if (rg_def_op(f, v) != RG_CONST)
        return false;
    const rg_ins *ins = &f->ins.at[f->vals.at[v].def];
    if (rg_type_is_float(f->vals.at[v].type))
        out->f = ins->imm.f;
    else
        out->i = ins->imm.i;
    return true;
}

static rg_folded no_fold(void) {
    return (rg_folded){.kind = RG_FOLD_NONE};
}
static rg_folded to_value(rg_val v) {
    return (rg_folded){.kind = RG_FOLD_VALUE, .v = v};
}
static rg_folded to_int(int64_t i) {
    return (rg_folded){.kind = RG_FOLD_CONST, .c = {.i = i}};
}
static rg_folded to_real(double d) {
    return (rg_folded){.kind = RG_FOLD_CONST, .c = {.f = d}};
}
static rg_folded to_op1(rg_op op, rg_val x) {
    return (rg_folded){.kind = RG_FOLD_OP, .op = op, .n = 1, .x = {x, 0, 0}};
}
static rg_folded to_op2(rg_op op, rg_val x, rg_val y) {
    return (rg_folded){.kind = RG_FOLD_OP, .op = op, .n = 2, .x = {x, y, 0}};
}
static rg_folded to_op3(rg_op op, rg_val x, rg_val y, rg_val z) {
    return (rg_folded){.kind = RG_FOLD_OP, .op = op, .n = 3, .x = {x, y, z}};
}

/* Operand k of v's defining instruction, when that is op. */
static rg_val operand_of(const rg_fn *f, rg_val v, rg_op op, uint32_t k) {
    return rg_def_op(f, v) == op ? rg_operand(f, f->vals.at[v].def, k) : 0;
}

static bool is_real(const rg_fn *f, rg_val v, double d) {
    rg_const c;
    return rg_type_is_float(rg_type_of(f, v)) && rg_val_const(f, v, &c) && c.f == d &&
           signbit(c.f) == signbit(d);
}
static bool is_int(const rg_fn *f, rg_val v, int64_t i) {
    rg_const c;
    return !rg_type_is_float(rg_type_of(f, v)) && rg_val_const(f, v, &c) && c.i == i;
}

static unsigned int_bits(rg_type t) {
    return t == RG_BOOL ? 1 : t == RG_I32 || t == RG_U32 ? 32 : 64;
}
static int64_t all_ones(rg_type t) {
    return t == RG_BOOL ? 1 : t == RG_U32 ? (int64_t)UINT32_MAX : -1;
}

static rg_folded fold_float(const rg_fn *f, rg_op op, const rg_val *x) {
    rg_const c;
    rg_val v;
    switch (op) {
    case RG_ADD:
        for (int k = 0; k < 2; k++) {
            if (is_real(f, x[k], -0.0))
                return to_value(x[!k]);
            if ((v = operand_of(f, x[k], RG_NEG, 0)))
                return to_op2(RG_SUB, x[!k], v);
        }
        break;
    case RG_SUB:
        if (is_real(f, x[1], 0.0))
            return to_value(x[0]);
        if (is_real(f, x[0], -0.0))
            return to_op1(RG_NEG, x[1]);
        if ((v = operand_of(f, x[1], RG_NEG, 0)))
            return to_op2(RG_ADD, x[0], v);
        break;
    case RG_MUL:
        for (int k = 0; k < 2; k++) {
            if (is_real(f, x[k], 1.0))
                return to_value(x[!k]);
            if (is_real(f, x[k], -1.0))
                return to_op1(RG_NEG, x[!k]);
        }
        break;
    case RG_DIV:
        if (is_real(f, x[1], 1.0))
            return to_value(x[0]);
        if (is_real(f, x[1], -1.0))
            return to_op1(RG_NEG, x[0]);
        break;
    case RG_NEG:
        if ((v = operand_of(f, x[0], RG_NEG, 0)))
            return to_value(v);
        break;
    case RG_FABS:
        if ((v = operand_of(f, x[0], RG_NEG, 0)))
            return to_op1(RG_FABS, v);
        if (operand_of(f, x[0], RG_FABS, 0))
            return to_value(x[0]);
        break;
    case RG_FMA:
        for (int k = 0; k < 2; k++)
            if (is_real(f, x[k], 1.0))
                return to_op2(RG_ADD, x[!k], x[2]);
        break;
    case RG_ZMUL:
        if (rg_val_const(f, x[0], &c))
            return c.f == 0 ? to_real(0) : to_op2(RG_MUL, x[0], x[1]);
        if (rg_val_const(f, x[1], &c) && isfinite(c.f))
            return to_op2(RG_MUL, x[0], x[1]);
        break;
    default:
        break;
    }
    return no_fold();
}

/* y + (-c) is y - c, y - (-c) is y + c, for signed types. */
static rg_folded fold_negative_constant(const rg_fn *f, rg_op op, rg_type t, const rg_val *x) {
    rg_const c;
    int64_t least = t == RG_I32 ? INT32_MIN : INT64_MIN;
    if (rg_type_is_unsigned(t) || !rg_val_const(f, x[1], &c) || c.i >= 0 || c.i == least)
        return no_fold();
    rg_folded r = to_op2(op == RG_ADD ? RG_SUB : RG_ADD, x[0], 0);
    r.late[1] = true;
    r.late_const.i = -c.i;
    r.late_type = t;
    return r;
}

/* (y + c1) + c2 and its kin. Signed sums must not overflow where the source did not, so that code
 * printed as C stays defined; unsigned ones wrap. */
static rg_folded fold_int_sum(const rg_fn *f, rg_op op, rg_type t, const rg_val *x) {
    rg_val base = 0;
    rg_const outer, inner;
    if (rg_val_const(f, x[1], &outer))
        base = x[0];
    else if (op == RG_ADD && rg_val_const(f, x[0], &outer))
        base = x[1];
    if (!base)
        return no_fold();
    rg_folded plain = fold_negative_constant(f, op, t, x);
    if (plain.kind != RG_FOLD_NONE)
        return plain;
    rg_op base_op = rg_def_op(f, base);
    if (base_op != RG_ADD && base_op != RG_SUB)
        return no_fold();
    rg_val y = rg_operand(f, f->vals.at[base].def, 0), c = rg_operand(f, f->vals.at[base].def, 1);
    if (!rg_val_const(f, c, &inner)) {
        if (base_op != RG_ADD || !rg_val_const(f, y, &inner))
            return no_fold();
        y = c;
    }
    if (rg_val_const(f, y, &(rg_const){0}))
        return no_fold();
    int64_t a = inner.i, b = outer.i, sum;
    if (rg_type_is_unsigned(t)) {
        uint64_t u = (base_op == RG_SUB ? 0 - (uint64_t)a : (uint64_t)a) +
                     (op == RG_SUB ? 0 - (uint64_t)b : (uint64_t)b);
        sum = t == RG_U32 ? (int64_t)(uint32_t)u : (int64_t)u;
        rg_folded r = to_op2(RG_ADD, y, 0);
        r.late[1] = true;
        r.late_const.i = sum;
        r.late_type = t;
        return r;
    }
    int64_t least = t == RG_I32 ? INT32_MIN : INT64_MIN, most = t == RG_I32 ? INT32_MAX : INT64_MAX;
    if (a == least || b == least)
        return no_fold();
    if (base_op == RG_SUB)
        a = -a;
    if (op == RG_SUB)
        b = -b;
    if (__builtin_add_overflow(a, b, &sum) || sum <= least || sum > most)
        return no_fold();
    rg_folded r = to_op2(sum < 0 ? RG_SUB : RG_ADD, y, 0);
    r.late[1] = true;
    r.late_const.i = sum < 0 ? -sum : sum;
    r.late_type = t;
    return r;
}

static rg_folded fold_int(const rg_fn *f, rg_op op, rg_type t, const rg_val *x) {
    rg_val v;
    switch (op) {
    case RG_ADD:
        for (int k = 0; k < 2; k++) {
            if (is_int(f, x[k], 0))
                return to_value(x[!k]);
            if ((v = operand_of(f, x[k], RG_NEG, 0)))
                return to_op2(RG_SUB, x[!k], v);
        }
        return fold_int_sum(f, op, t, x);
    case RG_SUB:
        if (is_int(f, x[1], 0))
            return to_value(x[0]);
        if (x[0] == x[1])
            return to_int(0);
        if (is_int(f, x[0], 0))
            return to_op1(RG_NEG, x[1]);
        if ((v = operand_of(f, x[1], RG_NEG, 0)))
            return to_op2(RG_ADD, x[0], v);
        for (uint32_t k = 0; k < 2; k++) /* (a + b) - a */
            if (operand_of(f, x[0], RG_ADD, k) == x[1])
                return to_value(operand_of(f, x[0], RG_ADD, 1 - k));
        if (operand_of(f, x[0], RG_SUB, 0) == x[1])
            return to_op1(RG_NEG, operand_of(f, x[0], RG_SUB, 1));
        return fold_int_sum(f, op, t, x);
    case RG_MUL:
        for (int k = 0; k < 2; k++) {
            if (is_int(f, x[k], 0))
                return to_int(0);
            if (is_int(f, x[k], 1))
                return to_value(x[!k]);
        }
        break;
    case RG_DIV:
        if (is_int(f, x[1], 1))
            return to_value(x[0]);
        break;
    case RG_REM:
        if (is_int(f, x[1], 1))
            return to_int(0);
        break;
    case RG_NEG:
        if ((v = operand_of(f, x[0], RG_NEG, 0)))
            return to_value(v);
        if (rg_def_op(f, x[0]) == RG_SUB)
            return to_op2(RG_SUB, operand_of(f, x[0], RG_SUB, 1), operand_of(f, x[0], RG_SUB, 0));
        break;
    case RG_AND:
    case RG_OR:
        if (x[0] == x[1])
            return to_value(x[0]);
        for (int k = 0; k < 2; k++) {
            if (is_int(f, x[k], 0))
                return op == RG_AND ? to_int(0) : to_value(x[!k]);
            if (is_int(f, x[k], all_ones(t)))
                return op == RG_AND ? to_value(x[!k]) : to_int(all_ones(t));
            if (operand_of(f, x[k], RG_NOT, 0) == x[!k])
                return to_int(op == RG_AND ? 0 : all_ones(t));
        }
        break;
    case RG_XOR:
        if (x[0] == x[1])
            return to_int(0);
        for (int k = 0; k < 2; k++) {
            if (is_int(f, x[k], 0))
                return to_value(x[!k]);
            if (is_int(f, x[k], all_ones(t)))
                return to_op1(RG_NOT, x[!k]);
        }
        break;
    case RG_SHL:
    case RG_SHR:
        if (is_int(f, x[1], 0))
            return to_value(x[0]);
        if (is_int(f, x[0], 0)) {
            rg_const c;
            if (rg_val_const(f, x[1], &c) && c.i >= 0 && c.i < (int64_t)int_bits(t))
                return to_int(0);
        }
        break;
    default:
        break;
    }
    return no_fold();
}

static rg_folded fold_not(const rg_fn *f, rg_type t, rg_val x) {
    rg_val v = operand_of(f, x, RG_NOT, 0);
    if (v)
        return to_value(v);
    if (t != RG_BOOL)
        return no_fold();
    /* !(a < b) is a >= b for integers only: a NaN makes both false. */
    static const struct {
        rg_op op, inverse;
        bool floats;
    } inverses[] = {{RG_EQ, RG_NE, true},  {RG_NE, RG_EQ, true},  {RG_LT, RG_GE, false},
                    {RG_GE, RG_LT, false}, {RG_GT, RG_LE, false}, {RG_LE, RG_GT, false}};
    for (unsigned k = 0; k < sizeof inverses / sizeof *inverses; k++) {
        if (rg_def_op(f, x) != inverses[k].op)
            continue;
        rg_val a = operand_of(f, x, inverses[k].op, 0), b = operand_of(f, x, inverses[k].op, 1);
        if (inverses[k].floats || !rg_type_is_float(rg_type_of(f, a)))
            return to_op2(inverses[k].inverse, a, b);
    }
    return no_fold();
}

static rg_folded fold_compare(const rg_fn *f, rg_op op, const rg_val *x) {
    rg_type xt = rg_type_of(f, x[0]);
    if (rg_type_is_float(xt))
        return op != RG_EQ && op != RG_NE && op != RG_LE && op != RG_GE && x[0] == x[1]
                   ? to_int(0) /* x < x: false for NaN too */
                   : no_fold();
    if (x[0] == x[1])
        return to_int(op == RG_EQ || op == RG_LE || op == RG_GE);
    if (op == RG_EQ || op == RG_NE) {
        for (int k = 0; k < 2; k++) {
            rg_const c;
            if (!rg_val_const(f, x[k], &c))
                continue;
            rg_val other = x[!k];
            /* (int)b != 0 is b: C's idea of truth, spelled out. */
            rg_val b = operand_of(f, other, RG_CAST, 0);
            if (xt != RG_BOOL && b && rg_type_of(f, b) == RG_BOOL) {
                if (c.i != 0 && c.i != 1)
                    return to_int(op == RG_NE);
                other = b;
            } else if (xt != RG_BOOL) {
                continue;
            }
            return (c.i != 0) == (op == RG_EQ) ? to_value(other) : to_op1(RG_NOT, other);
        }
    }
    if (rg_type_is_unsigned(xt)) {
        if (is_int(f, x[1], 0) && (op == RG_LT || op == RG_GE))
            return to_int(op == RG_GE);
        if (is_int(f, x[0], 0) && (op == RG_GT || op == RG_LE))
            return to_int(op == RG_LE);
    }
    return no_fold();
}

static rg_folded fold_select(const rg_fn *f, rg_type t, const rg_val *x) {
    rg_const c;
    rg_val v;
    if (x[1] == x[2])
        return to_value(x[1]);
    if (rg_val_const(f, x[0], &c))
        return to_value(c.i ? x[1] : x[2]);
    if (rg_val_const(f, x[1], &c)) {
        rg_const d;
        if (rg_val_const(f, x[2], &d)) {
            bool same =
                rg_type_is_float(t) ? c.f == d.f && signbit(c.f) == signbit(d.f) : c.i == d.i;
            if (same)
                return to_value(x[1]);
        }
    }
    if ((v = operand_of(f, x[0], RG_NOT, 0)))
        return to_op3(RG_SELECT, v, x[2], x[1]);
    for (uint32_t k = 1; k < 3; k++) { /* select(c, select(c, a, b), d) */
        if (operand_of(f, x[k], RG_SELECT, 0) == x[0]) {
            v = operand_of(f, x[k], RG_SELECT, k);
            return k == 1 ? to_op3(RG_SELECT, x[0], v, x[2]) : to_op3(RG_SELECT, x[0], x[1], v);
        }
    }
    if (t == RG_BOOL) {
        if (is_int(f, x[1], 1))
            return to_op2(RG_OR, x[0], x[2]);
        if (is_int(f, x[2], 0))
            return to_op2(RG_AND, x[0], x[1]);
        if (is_int(f, x[1], 0) && is_int(f, x[2], 1))
            return to_op1(RG_NOT, x[0]);
    }
    return no_fold();
}

/* Type a converted to b and then to c: is that the direct conversion from a to c? */
static bool cast_chain_is_direct(rg_type a, rg_type b, rg_type c) {
    if (a == RG_BOOL) /* 0 or 1 in any type */
        return true;
    if (b == RG_BOOL)
        return false;
    if (a == RG_F32 && b == RG_F64) /* exact, so nothing was lost on the way */
        return true;
    if (rg_type_is_int(a) && b == RG_F64) {
        if (int_bits(a) != 32)
            return false;
        /* Every 32-bit value is a double: one rounding remains, and back to an integer nothing
         * changes if the value is one of c's. */
        return rg_type_is_float(c) || c == RG_BOOL || c == a || c == RG_I64 ||
               (a == RG_U32 && c == RG_U64);
    }
    if (rg_type_is_int(a) && rg_type_is_int(b)) {
        if (c == RG_BOOL) /* only low bits being cut could make a non-zero value zero */
            return int_bits(b) >= int_bits(a);
        if (rg_type_is_int(c))
            return int_bits(b) >= int_bits(c) ||
                   (int_bits(a) < int_bits(b) && (a == RG_U32 || b == RG_I64));
        /* To a float: the middle value must equal the first. */
        return int_bits(a) < int_bits(b) && (a == RG_U32 || b == RG_I64);
    }
    return false;
}

static rg_folded fold_cast(const rg_fn *f, rg_type t, rg_val x) {
    rg_type b = rg_type_of(f, x);
    if (b == t)
        return to_value(x);
    rg_val inner = operand_of(f, x, RG_CAST, 0);
    if (!inner)
        return no_fold();
    rg_type a = rg_type_of(f, inner);
    if (!cast_chain_is_direct(a, b, t))
        return no_fold();
    return a == t ? to_value(inner) : to_op1(RG_CAST, inner);
}

/* Range of the integers that memory type m holds, when it is narrower than its value. */
static bool narrow_range(rg_mem m, int64_t *least, int64_t *most) {
    switch (m) {
    case RG_M_I8:
        *least = INT8_MIN, *most = INT8_MAX;
        return true;
    case RG_M_U8:
        *least = 0, *most = UINT8_MAX;
        return true;
    case RG_M_I16:
        *least = INT16_MIN, *most = INT16_MAX;
        return true;
    case RG_M_U16:
        *least = 0, *most = UINT16_MAX;
        return true;
    default:
        return false;
    }
}

bool rg_wrap_is_identity(const rg_fn *f, rg_mem m, rg_val x) {
    int64_t least = 0, most = 0, inner_least = 0, inner_most = 0;
    bool narrow = narrow_range(m, &least, &most);
    if (!narrow && m != RG_M_F16)
        return true; /* as wide as the value's own type */
    rg_iid def = f->vals.at[x].def;
    if (!def)
        return false;
    const rg_ins *ins = &f->ins.at[def];
    rg_mem inner;
    switch (ins->op) {
    case RG_LOAD:
    case RG_RMW:
        inner = rg_ins_leaf(f, ins)->mem;
        break;
    case RG_WRAP:
        inner = (rg_mem)ins->imm.i;
        break;
    case RG_SCALAR:
        inner = f->scalars.at[ins->imm.i].mem;
        break;
    case RG_CAST:
        return narrow && rg_type_of(f, rg_operand(f, def, 0)) == RG_BOOL;
    case RG_CONST:
        return narrow && ins->imm.i >= least && ins->imm.i <= most;
    default:
        return false;
    }
    if (m == RG_M_F16)
        return inner == RG_M_F16;
    return narrow_range(inner, &inner_least, &inner_most) && inner_least >= least &&
           inner_most <= most;
}

rg_folded rg_fold(const rg_fn *f, rg_op op, rg_type t, const rg_val *x, uint32_t n, int64_t imm) {
    if (n == 0 || n > 3 || !rg_op_is_pure(op))
        return no_fold();
    if (rg_ops[op].flags & RG_F_EXACT) {
        rg_const c[3] = {{0}}, r;
        uint32_t known = 0;
        while (known < n && rg_val_const(f, x[known], &c[known]))
            known++;
        if (known == n && rg_eval(op, t, rg_type_of(f, x[0]), imm, c, &r))
            return (rg_folded){.kind = RG_FOLD_CONST, .c = r};
    }
    switch (op) {
    case RG_EQ:
    case RG_NE:
    case RG_LT:
    case RG_LE:
    case RG_GT:
    case RG_GE:
        return fold_compare(f, op, x);
    case RG_SELECT:
        return fold_select(f, t, x);
    case RG_CAST:
        return fold_cast(f, t, x[0]);
    case RG_WRAP:
        return rg_wrap_is_identity(f, (rg_mem)imm, x[0]) ? to_value(x[0]) : no_fold();
    case RG_STOP:
        return operand_of(f, x[0], RG_STOP, 0) ? to_value(x[0]) : no_fold();
    case RG_NOT:
        return fold_not(f, t, x[0]);
    default:
        return rg_type_is_float(t) ? fold_float(f, op, x) : fold_int(f, op, t, x);
    }
}
