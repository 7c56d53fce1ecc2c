/* Pure operations. Those that are one instruction are found by the names that ops.def gives for
 * floats, signed and unsigned integers; the others are written out here or come from the maths
 * library. */
#include <string.h>

#include "emit/spirv/function.h"

typedef struct opcode {
    const char *name;
    SpvOp op;
} opcode;

static const opcode opcodes[] = {
#define X(n)                                                                                       \
    { #n, SpvOp##n }
    X(FAdd),
    X(IAdd),
    X(FSub),
    X(ISub),
    X(FMul),
    X(IMul),
    X(FDiv),
    X(SDiv),
    X(UDiv),
    X(SRem),
    X(UMod),
    X(FNegate),
    X(SNegate),
    X(LogicalAnd),
    X(LogicalOr),
    X(LogicalNotEqual),
    X(LogicalNot),
    X(BitwiseAnd),
    X(BitwiseOr),
    X(BitwiseXor),
    X(Not),
    X(ShiftLeftLogical),
    X(ShiftRightArithmetic),
    X(ShiftRightLogical),
    X(FOrdEqual),
    X(IEqual),
    X(FUnordNotEqual),
    X(INotEqual),
    X(FOrdLessThan),
    X(SLessThan),
    X(ULessThan),
    X(FOrdLessThanEqual),
    X(SLessThanEqual),
    X(ULessThanEqual),
    X(FOrdGreaterThan),
    X(SGreaterThan),
    X(UGreaterThan),
    X(FOrdGreaterThanEqual),
    X(SGreaterThanEqual),
    X(UGreaterThanEqual),
    X(Select)
#undef X
};

/* Word number k of ops.def's text. */
static bool word_is(const char *text, uint32_t k, const char *name) {
    for (; k; k--) {
        text = strchr(text, ' ');
        if (!text)
            return false;
        text++;
    }
    size_t n = strlen(name);
    return strncmp(text, name, n) == 0 && (text[n] == ' ' || text[n] == '\0');
}

static SpvOp find_opcode(rg_op op, rg_type t) {
    uint32_t k = rg_type_is_float(t) || t == RG_BOOL ? 0 : rg_type_is_unsigned(t) ? 2 : 1;
    const char *text = rg_ops[op].spirv;
    for (uint32_t n = 0; n < sizeof opcodes / sizeof *opcodes; n++)
        if (word_is(text, k, opcodes[n].name))
            return opcodes[n].op;
    return SpvOpNop;
}

static const opcode extended[] = {
    {"Fma", (SpvOp)GLSLstd450Fma},
    {"FAbs", (SpvOp)GLSLstd450FAbs},
    {"Sqrt", (SpvOp)GLSLstd450Sqrt},
    {"Floor", (SpvOp)GLSLstd450Floor},
    {"Ceil", (SpvOp)GLSLstd450Ceil},
    {"Trunc", (SpvOp)GLSLstd450Trunc},
    {"RoundEven", (SpvOp)GLSLstd450RoundEven},
};

static uint32_t op1(rg_spv_fn *c, SpvOp op, uint32_t t, uint32_t a) {
    return RG_SPV_OP(c, op, t, a);
}
static uint32_t op2(rg_spv_fn *c, SpvOp op, uint32_t t, uint32_t a, uint32_t b) {
    return RG_SPV_OP(c, op, t, a, b);
}
static uint32_t select(rg_spv_fn *c, uint32_t t, uint32_t cond, uint32_t a, uint32_t b) {
    return RG_SPV_OP(c, SpvOpSelect, t, cond, a, b);
}

/* Bits of a float as an unsigned integer of the same width. */
static uint32_t bits(rg_spv_fn *c, rg_type t, uint32_t x) {
    return op1(c, SpvOpBitcast, t == RG_F32 ? c->s->t_u32 : rg_spv_int(c->s, 64), x);
}

static uint32_t magnitude(rg_spv_fn *c, rg_type t, uint32_t x) {
    uint32_t b = bits(c, t, x);
    if (t == RG_F32)
        return op2(c, SpvOpBitwiseAnd, c->s->t_u32, b, rg_spv_u32(c->s, 0x7fffffffu));
    return op2(c, SpvOpBitwiseAnd, rg_spv_int(c->s, 64), b, rg_spv_u64(c->s, UINT64_MAX >> 1));
}

static uint32_t infinity_bits(rg_spv_fn *c, rg_type t) {
    return t == RG_F32 ? rg_spv_u32(c->s, 0x7f800000u) : rg_spv_u64(c->s, (uint64_t)0x7ff << 52);
}

/* On bits, so that no driver's idea of finite maths can remove it. A device with doubles but no
 * 64-bit integers is asked. */
static bool has_bits(const rg_spv_fn *c, rg_type t) {
    return t == RG_F32 || c->s->o->caps.i64;
}

static uint32_t is_nan(rg_spv_fn *c, rg_type t, uint32_t x) {
    if (!has_bits(c, t))
        return op1(c, SpvOpIsNan, c->s->t_bool, x);
    return op2(c, SpvOpUGreaterThan, c->s->t_bool, magnitude(c, t, x), infinity_bits(c, t));
}

static uint32_t is_inf(rg_spv_fn *c, rg_type t, uint32_t x) {
    if (!has_bits(c, t))
        return op1(c, SpvOpIsInf, c->s->t_bool, x);
    return op2(c, SpvOpIEqual, c->s->t_bool, magnitude(c, t, x), infinity_bits(c, t));
}

static uint32_t is_zero(rg_spv_fn *c, rg_type t, uint32_t x) {
    if (!has_bits(c, t))
        return op2(c, SpvOpFOrdEqual, c->s->t_bool, x, rg_spv_const_real(c->s, t, 0));
    return op2(c, SpvOpIEqual, c->s->t_bool, magnitude(c, t, x),
               t == RG_F32 ? rg_spv_u32(c->s, 0) : rg_spv_u64(c->s, 0));
}

/* C's fmin and fmax: the first operand unless the second is beyond it; a NaN loses. */
static uint32_t min_max(rg_spv_fn *c, rg_type t, SpvOp beyond, uint32_t a, uint32_t b) {
    uint32_t bo = c->s->t_bool;
    uint32_t other = op2(c, SpvOpLogicalOr, bo, op2(c, beyond, bo, b, a), is_nan(c, t, a));
    return select(c, rg_spv_value_type(c->s, t), other, b, a);
}

/* ---- conversions ---- */

/* Truncated and saturated, NaN to 0: as the interpreter and C on most machines. */
static uint32_t float_to_int(rg_spv_fn *c, rg_type from, rg_type to, uint32_t x) {
    rg_spv *s = c->s;
    bool is_unsigned = rg_type_is_unsigned(to), wide = rg_type_size(to) == 8;
    uint32_t t = rg_spv_value_type(s, to), bo = s->t_bool;
    double top = wide          ? is_unsigned ? 18446744073709551616.0 : 9223372036854775808.0
                 : is_unsigned ? 4294967296.0
                               : 2147483648.0;
    uint32_t r = op1(c, is_unsigned ? SpvOpConvertFToU : SpvOpConvertFToS, t, x);
    uint32_t high = op2(c, SpvOpFOrdGreaterThanEqual, bo, x, rg_spv_const_real(s, from, top));
    uint32_t low =
        op2(c, SpvOpFOrdLessThanEqual, bo, x, rg_spv_const_real(s, from, is_unsigned ? 0 : -top));
    uint64_t most = is_unsigned ? UINT64_MAX : (uint64_t)INT64_MAX,
             least = is_unsigned ? 0 : (uint64_t)1 << 63;
    if (!wide) {
        most = is_unsigned ? UINT32_MAX : INT32_MAX;
        least = is_unsigned ? 0 : (uint64_t)1 << 31;
    }
    r = select(c, t, high, rg_spv_const_int(s, to, (int64_t)most), r);
    r = select(c, t, low, rg_spv_const_int(s, to, (int64_t)least), r);
    return select(c, t, is_nan(c, from, x), rg_spv_const_int(s, to, 0), r);
}

static uint32_t cast(rg_spv_fn *c, rg_type to, rg_type from, uint32_t x) {
    rg_spv *s = c->s;
    uint32_t t = rg_spv_value_type(s, to);
    if (to == from)
        return x;
    if (rg_type_is_float(from)) {
        if (rg_type_is_float(to))
            return op1(c, SpvOpFConvert, t, x);
        if (to == RG_BOOL)
            return op1(c, SpvOpLogicalNot, t, is_zero(c, from, x));
        return float_to_int(c, from, to, x);
    }
    if (to == RG_BOOL)
        return op2(c, SpvOpINotEqual, t, x, rg_spv_const_int(s, from, 0));
    if (from == RG_BOOL) {
        if (rg_type_is_float(to))
            return select(c, t, x, rg_spv_real(c, to, 1), rg_spv_real(c, to, 0));
        return select(c, t, x, rg_spv_const_int(s, to, 1), rg_spv_const_int(s, to, 0));
    }
    if (rg_type_is_float(to)) {
        SpvOp convert = rg_type_is_unsigned(from) ? SpvOpConvertUToF : SpvOpConvertSToF;
        return rg_spv_hide_real(c, to, op1(c, convert, t, x));
    }
    if (rg_type_size(to) == rg_type_size(from))
        return x;
    if (rg_type_size(to) < rg_type_size(from) || rg_type_is_unsigned(from))
        return op1(c, SpvOpUConvert, t, x);
    return op1(c, SpvOpSConvert, t, x);
}

uint32_t rg_spv_half_to_float(rg_spv_fn *c, uint32_t x) {
    rg_spv *s = c->s;
    uint32_t u = s->t_u32, f = s->t_f32;
    uint32_t sign = op2(c, SpvOpShiftLeftLogical, u,
                        op2(c, SpvOpBitwiseAnd, u, x, rg_spv_u32(s, 0x8000)), rg_spv_u32(s, 16));
    uint32_t rest = op2(c, SpvOpBitwiseAnd, u, x, rg_spv_u32(s, 0x7fff));
    uint32_t moved = op2(c, SpvOpShiftLeftLogical, u, rest, rg_spv_u32(s, 13));
    /* normal: exponent moved by 112; infinity and NaN: by 224; subnormal: m * 2^-24, exact */
    uint32_t top = op2(c, SpvOpUGreaterThanEqual, s->t_bool, rest, rg_spv_u32(s, 0x7c00));
    uint32_t by = select(c, u, top, rg_spv_u32(s, 224u << 23), rg_spv_u32(s, 112u << 23));
    uint32_t normal = op2(c, SpvOpIAdd, u, moved, by);
    uint32_t small = op1(c, SpvOpConvertUToF, f, rest);
    small = rg_spv_exact(c, op2(c, SpvOpFMul, f, small, rg_spv_const_real(s, RG_F32, 0x1p-24)));
    uint32_t is_small = op2(c, SpvOpULessThan, s->t_bool, rest, rg_spv_u32(s, 0x400));
    uint32_t b = select(c, u, is_small, op1(c, SpvOpBitcast, u, small), normal);
    return op1(c, SpvOpBitcast, f, op2(c, SpvOpBitwiseOr, u, b, sign));
}

uint32_t rg_spv_half_from_float(rg_spv_fn *c, uint32_t x) {
    rg_spv *s = c->s;
    uint32_t u = s->t_u32, bo = s->t_bool;
    uint32_t b = op1(c, SpvOpBitcast, u, x);
    uint32_t sign =
        op2(c, SpvOpBitwiseAnd, u, op2(c, SpvOpShiftRightLogical, u, b, rg_spv_u32(s, 16)),
            rg_spv_u32(s, 0x8000));
    uint32_t m = op2(c, SpvOpBitwiseAnd, u, b, rg_spv_u32(s, 0x7fffffff));
    uint32_t at13 = op2(c, SpvOpShiftRightLogical, u, m, rg_spv_u32(s, 13));
    /* normal halves: round to even by adding just under half and the last bit kept */
    uint32_t odd = op2(c, SpvOpBitwiseAnd, u, at13, rg_spv_u32(s, 1));
    uint32_t n = op2(c, SpvOpIAdd, u, op2(c, SpvOpIAdd, u, m, odd),
                     rg_spv_u32(s, 0u - 0x38000000u + 0xfffu));
    n = op2(c, SpvOpShiftRightLogical, u, n, rg_spv_u32(s, 13));
    /* subnormal: the significand shifted right by 126 - exponent (14 to 24), ties to even */
    uint32_t e = op2(c, SpvOpShiftRightLogical, u, m, rg_spv_u32(s, 23));
    uint32_t shift = op2(c, SpvOpISub, u, rg_spv_u32(s, 126), e);
    uint32_t in_range = op2(c, SpvOpULessThanEqual, bo, shift, rg_spv_u32(s, 24));
    shift = select(c, u, in_range, shift, rg_spv_u32(s, 25));
    uint32_t frac =
        op2(c, SpvOpBitwiseOr, u, op2(c, SpvOpBitwiseAnd, u, m, rg_spv_u32(s, 0x7fffff)),
            rg_spv_u32(s, 0x800000));
    uint32_t kept = op2(c, SpvOpShiftRightLogical, u, frac, shift);
    uint32_t one = op2(c, SpvOpShiftLeftLogical, u, rg_spv_u32(s, 1), shift);
    uint32_t half = op2(c, SpvOpShiftRightLogical, u, one, rg_spv_u32(s, 1));
    uint32_t rest = op2(c, SpvOpBitwiseAnd, u, frac, op2(c, SpvOpISub, u, one, rg_spv_u32(s, 1)));
    uint32_t over = op2(c, SpvOpUGreaterThan, bo, rest, half);
    uint32_t tie = op2(c, SpvOpLogicalAnd, bo, op2(c, SpvOpIEqual, bo, rest, half),
                       op2(c, SpvOpINotEqual, bo,
                           op2(c, SpvOpBitwiseAnd, u, kept, rg_spv_u32(s, 1)), rg_spv_u32(s, 0)));
    uint32_t up =
        select(c, u, op2(c, SpvOpLogicalOr, bo, over, tie), rg_spv_u32(s, 1), rg_spv_u32(s, 0));
    uint32_t small = op2(c, SpvOpIAdd, u, kept, up);
    uint32_t r = select(c, u, op2(c, SpvOpULessThan, bo, m, rg_spv_u32(s, 0x38800000u)), small, n);
    r = select(c, u, op2(c, SpvOpUGreaterThanEqual, bo, m, rg_spv_u32(s, 0x477ff000u)),
               rg_spv_u32(s, 0x7c00), r);
    uint32_t payload = op2(c, SpvOpBitwiseOr, u, rg_spv_u32(s, 0x7e00),
                           op2(c, SpvOpBitwiseAnd, u, at13, rg_spv_u32(s, 0x1ff)));
    r = select(c, u, op2(c, SpvOpUGreaterThan, bo, m, rg_spv_u32(s, 0x7f800000u)), payload, r);
    return op2(c, SpvOpBitwiseOr, u, sign, r);
}

uint32_t rg_spv_wrap(rg_spv_fn *c, rg_mem m, rg_type t, uint32_t x) {
    rg_spv *s = c->s;
    if (m == RG_M_F16 && t == RG_F32)
        return rg_spv_half_to_float(c, rg_spv_half_from_float(c, x));
    uint32_t size = rg_mem_size(m) * 8;
    if (size >= 32 || t == RG_BOOL || rg_type_is_float(t))
        return x;
    if (m == RG_M_U8 || m == RG_M_U16)
        return op2(c, SpvOpBitwiseAnd, s->t_u32, x, rg_spv_u32(s, (1u << size) - 1));
    uint32_t by = rg_spv_u32(s, 32 - size);
    return op2(c, SpvOpShiftRightArithmetic, s->t_u32,
               op2(c, SpvOpShiftLeftLogical, s->t_u32, x, by), by);
}

/* ---- operators of reductions ---- */

uint32_t rg_spv_combine(rg_spv_fn *c, rg_red kind, rg_type t, uint32_t a, uint32_t b) {
    uint32_t st = rg_spv_value_type(c->s, t), bo = c->s->t_bool;
    bool is_float = rg_type_is_float(t), is_unsigned = rg_type_is_unsigned(t);
    switch (kind) {
    case RG_RED_ADD:
        if (t == RG_BOOL)
            return op2(c, SpvOpLogicalOr, bo, a, b);
        return is_float ? rg_spv_exact(c, op2(c, SpvOpFAdd, st, a, b))
                        : op2(c, SpvOpIAdd, st, a, b);
    case RG_RED_MUL:
        if (t == RG_BOOL)
            return op2(c, SpvOpLogicalAnd, bo, a, b);
        return is_float ? rg_spv_exact(c, op2(c, SpvOpFMul, st, a, b))
                        : op2(c, SpvOpIMul, st, a, b);
    case RG_RED_MIN:
    case RG_RED_MAX: {
        bool min = kind == RG_RED_MIN;
        if (t == RG_BOOL)
            return op2(c, min ? SpvOpLogicalAnd : SpvOpLogicalOr, bo, a, b);
        SpvOp op = is_float      ? min ? SpvOpFOrdLessThan : SpvOpFOrdGreaterThan
                   : is_unsigned ? min ? SpvOpULessThan : SpvOpUGreaterThan
                   : min         ? SpvOpSLessThan
                                 : SpvOpSGreaterThan;
        return select(c, st, op2(c, op, bo, b, a), b, a);
    }
    case RG_RED_AND:
        return op2(c, t == RG_BOOL ? SpvOpLogicalAnd : SpvOpBitwiseAnd, st, a, b);
    case RG_RED_OR:
        return op2(c, t == RG_BOOL ? SpvOpLogicalOr : SpvOpBitwiseOr, st, a, b);
    case RG_RED_XOR:
        return op2(c, t == RG_BOOL ? SpvOpLogicalNotEqual : SpvOpBitwiseXor, st, a, b);
    case RG_RED_LAND:
    case RG_RED_LOR: {
        uint32_t x = cast(c, RG_BOOL, t, a), y = cast(c, RG_BOOL, t, b);
        uint32_t r = op2(c, kind == RG_RED_LAND ? SpvOpLogicalAnd : SpvOpLogicalOr, bo, x, y);
        return cast(c, t, RG_BOOL, r);
    }
    default:
        return b;
    }
}

uint32_t rg_spv_math(rg_spv_fn *c, rg_op op, rg_type t, const uint32_t *x) {
    return rg_spv_maths_call(c, op, t, x);
}

/* ---- one instruction ---- */

static uint32_t bitcast(rg_spv_fn *c, rg_type to, rg_type from, uint32_t x) {
    if (rg_type_is_float(to) == rg_type_is_float(from))
        return x;
    if (rg_type_is_float(to))
        x = rg_spv_hide_bits(c, from, x);
    return op1(c, SpvOpBitcast, rg_spv_value_type(c->s, to), x);
}

uint32_t rg_spv_pure(rg_spv_fn *c, rg_iid id) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    rg_op op = (rg_op)i->op;
    rg_type t = f->vals.at[rg_result(f, id, 0)].type;
    rg_type xt = i->nopnd ? f->vals.at[rg_operand(f, id, 0)].type : RG_VOID;
    uint32_t st, x[3] = {0}, n = i->nopnd;
    rg_spv_check_type(c, t, i->loc);
    st = rg_spv_value_type(s, t);
    if (op == RG_CAST && rg_type_is_int(t) && rg_type_size(t) == 4 && rg_type_is_int(xt))
        return rg_spv_low(c, rg_operand(f, id, 0));
    for (uint32_t k = 0; k < n && k < 3; k++)
        x[k] = rg_spv_val(c, rg_operand(f, id, k));
    switch (op) {
    case RG_ZMUL: {
        uint32_t product = rg_spv_exact(c, op2(c, SpvOpFMul, st, x[0], x[1]));
        return select(c, st, is_zero(c, t, x[0]), rg_spv_real(c, t, 0), product);
    }
    case RG_EQ:
        if (xt == RG_BOOL)
            return op2(c, SpvOpLogicalEqual, st, x[0], x[1]);
        break;
    case RG_NE:
        if (xt == RG_BOOL)
            return op2(c, SpvOpLogicalNotEqual, st, x[0], x[1]);
        break;
    case RG_ISNAN:
        return is_nan(c, xt, x[0]);
    case RG_ISINF:
        return is_inf(c, xt, x[0]);
    case RG_FMIN:
        return min_max(c, t, SpvOpFOrdLessThan, x[0], x[1]);
    case RG_FMAX:
        return min_max(c, t, SpvOpFOrdGreaterThan, x[0], x[1]);
    case RG_CAST:
        return cast(c, t, xt, x[0]);
    case RG_BITCAST:
        return bitcast(c, t, xt, x[0]);
    case RG_WRAP:
        return rg_spv_wrap(c, (rg_mem)i->imm.i, t, x[0]);
    case RG_STOP:
        return x[0];
    case RG_RED:
        return rg_spv_combine(c, (rg_red)i->imm.i, t, x[0], x[1]);
    default:
        break;
    }
    const char *text = rg_ops[op].spirv;
    if (strncmp(text, "ext ", 4) == 0)
        for (uint32_t k = 0; k < sizeof extended / sizeof *extended; k++)
            if (strcmp(text + 4, extended[k].name) == 0) {
                uint32_t r = rg_spv_ext(c, (uint32_t)extended[k].op, st, x, n);
                return op == RG_FMA || op == RG_SQRT ? rg_spv_exact(c, r) : r;
            }
    SpvOp direct = find_opcode(op, rg_ops[op].type == RG_T_CMP ? xt : t);
    if (op == RG_SELECT)
        direct = SpvOpSelect;
    if (direct == SpvOpNop)
        return rg_spv_maths_call(c, op, xt, x);
    uint32_t r = rg_spv_emit(c, direct, st, x, n);
    /* Comparisons too: a driver may else turn a*b == 0 into a == 0 || b == 0, which 0*inf is not.
     */
    bool compares = rg_ops[op].type == RG_T_CMP && rg_type_is_float(xt);
    if (direct == SpvOpFAdd || direct == SpvOpFSub || direct == SpvOpFMul || direct == SpvOpFDiv ||
        compares)
        if (!(i->flags & RG_INS_LOOSE))
            rg_spv_exact(c, r);
    return r;
}

/* Low 32 bits of a 64-bit result, from the low 32 bits of the operands. */
uint32_t rg_spv_pure_low(rg_spv_fn *c, rg_iid id) {
    rg_spv *s = c->s;
    const rg_fn *f = c->f;
    const rg_ins *i = &f->ins.at[id];
    uint32_t u = s->t_u32, x[3] = {0};
    rg_type xt = i->nopnd ? f->vals.at[rg_operand(f, id, 0)].type : RG_VOID;
    if (i->op == RG_CAST) {
        rg_val v = rg_operand(f, id, 0);
        if (rg_type_is_int(xt))
            return rg_spv_low(c, v);
        return cast(c, RG_U32, xt, rg_spv_val(c, v));
    }
    if (i->op == RG_SELECT)
        return select(c, u, rg_spv_val(c, rg_operand(f, id, 0)),
                      rg_spv_low(c, rg_operand(f, id, 1)), rg_spv_low(c, rg_operand(f, id, 2)));
    for (uint32_t k = 0; k < i->nopnd && k < 3; k++)
        x[k] = rg_spv_low(c, rg_operand(f, id, k));
    if (i->op == RG_STOP)
        return x[0];
    return rg_spv_emit(c, find_opcode((rg_op)i->op, RG_I32), u, x, i->nopnd);
}
