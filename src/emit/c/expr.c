/* Expressions. A value prints as its variable, as a literal, or as its operation with its operands
 * inside; parentheses only where C's precedence, or gcc's -Wparentheses, wants them. Every
 * operation keeps its own type: what the IR computes in float is float in C, and literals carry the
 * suffix or cast that says so. */
#include "emit/c/printer.h"

#include <math.h>
#include <string.h>

const char *rg_c_var(const rg_cprint *p, rg_val v) {
    return p->plan->var[v] ? p->plan->vars.at[p->plan->var[v]].name : NULL;
}

/* ---- literals ---- */

void rg_c_literal_int(rg_text *t, rg_type type, int64_t v, bool whole_type) {
    switch (type) {
    case RG_BOOL:
        rg_text_char(t, v ? '1' : '0');
        return;
    case RG_I32:
        if (v == INT32_MIN)
            rg_text_add(t, "INT32_MIN");
        else
            rg_text_format(t, "%lld", (long long)v);
        return;
    case RG_U32:
        rg_text_format(t, "%lluu", (unsigned long long)(uint32_t)v);
        return;
    case RG_U64:
        rg_text_format(t, whole_type ? "(uint64_t)%lluu" : "%lluu",
                       (unsigned long long)(uint64_t)v);
        return;
    default:
        if (v == INT64_MIN)
            rg_text_add(t, "INT64_MIN");
        else
            rg_text_format(t, whole_type ? "(int64_t)%lld" : "%lld", (long long)v);
    }
}

void rg_c_literal_real(rg_text *t, rg_type type, double v) {
    if (isnan(v)) {
        rg_text_add(t, signbit(v) ? "-NAN" : "NAN");
        return;
    }
    if (isinf(v)) {
        rg_text_add(t, v > 0 ? "INFINITY" : "-INFINITY");
        return;
    }
    rg_text_real(t, v, type == RG_F32);
    if (type == RG_F32)
        rg_text_char(t, 'f');
}

static void literal(rg_cprint *p, rg_val v, int least, bool whole_type) {
    const rg_ins *c = &p->f->ins.at[p->f->vals.at[v].def];
    rg_type t = p->f->vals.at[v].type;
    bool real = rg_type_is_float(t);
    if (real && !isfinite(c->imm.f))
        p->helpers->math = true;
    bool minus = real ? signbit(c->imm.f) != 0 : t != RG_U32 && t != RG_U64 && c->imm.i < 0;
    bool cast = whole_type && (t == RG_I64 || t == RG_U64);
    bool paren = (minus || cast) && least > RG_P_UNARY;
    if (paren)
        rg_text_char(p->out, '(');
    if (real)
        rg_c_literal_real(p->out, t, c->imm.f);
    else
        rg_c_literal_int(p->out, t, c->imm.i, whole_type);
    if (paren)
        rg_text_char(p->out, ')');
}

/* ---- what is not computed ---- */

static void scalar(rg_cprint *p, rg_val v) {
    uint32_t k = (uint32_t)p->f->ins.at[p->f->vals.at[v].def].imm.i;
    const rg_scalar *s = &p->f->scalars.at[k];
    if (p->plan->scalar_name[k]) { /* a variable of the value's own type */
        rg_text_add(p->out, p->plan->scalar_name[k]);
        return;
    }
    if (s->mem == RG_M_F16) {
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_text_format(p->out, "rg_half_to_float(%s%s)", p->plan->param_name[s->param], s->path);
        return;
    }
    rg_text_add(p->out, p->plan->param_name[s->param]);
    rg_text_add(p->out, s->path);
}

bool rg_c_extent_const(const rg_fn *f, rg_aid a, uint32_t axis, int64_t *out) {
    const rg_ir_array *x = &f->arrays.at[a];
    if (x->kind == RG_ARR_SHADOW && !f->params.at[x->param].is_array) {
        *out = 1; /* k_b[1] */
        return true;
    }
    if (x->kind == RG_ARR_SHADOW)
        x = &f->arrays.at[f->params.at[x->param].array];
    return x->extents && x->extents[axis] && rg_val_const_int(f, x->extents[axis], out);
}

void rg_c_extent(rg_cprint *p, rg_aid a, uint32_t axis) {
    int64_t n;
    const rg_ir_array *x = &p->f->arrays.at[a];
    if (rg_c_extent_const(p->f, a, axis, &n)) {
        rg_text_format(p->out, "%lld", (long long)n);
        return;
    }
    if (p->plan->extent_name[a] && p->plan->extent_name[a][axis]) {
        rg_text_add(p->out, p->plan->extent_name[a][axis]);
        return;
    }
    const char *s = x->kind == RG_ARR_LOCAL ? NULL : p->f->params.at[x->param].extent_text[axis];
    if (!s) {
        p->helpers->undeclared = a;
        rg_text_format(p->out, "RG_EXTENT_OF_%s_IS_NOT_DECLARED", p->plan->array_name[a]);
        return;
    }
    bool word =
        strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(s);
    rg_text_format(p->out, word ? "(int64_t)%s" : "(int64_t)(%s)", s);
}

/* ---- places in memory ---- */

/* An index: without the cast that only widens it. Whole: at least 64 bits wide. */
static void index_text(rg_cprint *p, rg_val v, int least, bool whole) {
    const rg_fn *f = p->f;
    if (rg_def_op(f, v) == RG_CAST && !p->plan->var[v]) {
        rg_val x = rg_operand(f, f->vals.at[v].def, 0);
        rg_type from = f->vals.at[x].type, to = f->vals.at[v].type;
        if (to == RG_I64 && (from == RG_I32 || from == RG_U32))
            v = x;
    }
    if (!whole) {
        rg_c_expr(p, v, least);
        return;
    }
    int64_t c;
    if (f->vals.at[v].type == RG_I64 && !rg_val_const_int(f, v, &c)) {
        rg_c_expr(p, v, least);
        return;
    }
    rg_text_add(p->out, "(int64_t)");
    rg_c_expr(p, v, RG_P_UNARY);
}

void rg_c_flat_index(rg_cprint *p, rg_iid i, rg_aid a, uint32_t first, uint32_t n) {
    uint32_t rank = p->f->arrays.at[a].rank;
    if (!rank || !n) {
        rg_text_char(p->out, '0');
        return;
    }
    for (uint32_t k = 2; k < rank; k++)
        rg_text_char(p->out, '(');
    for (uint32_t k = 0; k < rank; k++) {
        if (k) {
            rg_text_add(p->out, " * ");
            rg_c_extent(p, a, k);
            if (k < n)
                rg_text_add(p->out, " + ");
        }
        if (k < n) {
            rg_val v = rg_operand(p->f, i, first + k);
            if (rank == 1)
                index_text(p, v, RG_P_ANY, false);
            else if (k == 0)
                index_text(p, v, RG_P_MUL, true);
            else
                index_text(p, v, RG_P_MUL, p->f->vals.at[v].type == RG_U64);
        }
        if (k && k + 1 < rank)
            rg_text_char(p->out, ')');
    }
}

void rg_c_place(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    const rg_ir_array *x = &f->arrays.at[s->array];
    rg_text_add(p->out, p->plan->array_name[s->array]);
    if (p->d->flat || p->flat[s->array]) {
        rg_text_char(p->out, '[');
        rg_c_flat_index(p, i, s->array, 0, x->rank);
        rg_text_char(p->out, ']');
    } else {
        for (uint32_t k = 0; k < x->rank; k++) {
            rg_text_char(p->out, '[');
            index_text(p, rg_operand(f, i, k), RG_P_ANY, false);
            rg_text_char(p->out, ']');
        }
        if (!x->rank && x->kind != RG_ARR_LOCAL)
            rg_text_add(p->out, "[0]");
    }
    const rg_leaf *leaf = rg_ins_leaf(f, s);
    uint32_t k = x->rank;
    for (const char *c = leaf->path; *c; c++) {
        if (*c == '%')
            index_text(p, rg_operand(f, i, k++), RG_P_ANY, false);
        else
            rg_text_char(p->out, *c);
    }
}

/* ---- operations ---- */

static const struct {
    uint8_t op, prec;
} infix[] = {
    {RG_ADD, RG_P_ADD},   {RG_SUB, RG_P_ADD},   {RG_MUL, RG_P_MUL}, {RG_DIV, RG_P_MUL},
    {RG_REM, RG_P_MUL},   {RG_AND, RG_P_AND},   {RG_OR, RG_P_OR},   {RG_XOR, RG_P_XOR},
    {RG_SHL, RG_P_SHIFT}, {RG_SHR, RG_P_SHIFT}, {RG_EQ, RG_P_EQ},   {RG_NE, RG_P_EQ},
    {RG_LT, RG_P_REL},    {RG_LE, RG_P_REL},    {RG_GT, RG_P_REL},  {RG_GE, RG_P_REL},
};

static int infix_prec(rg_op op) {
    for (size_t k = 0; k < sizeof infix / sizeof *infix; k++)
        if (infix[k].op == op)
            return infix[k].prec;
    return 0;
}

static bool is_const(const rg_fn *f, rg_val v) {
    return rg_def_op(f, v) == RG_CONST;
}

/* Operand beside `other`: a literal beside something that has the type need not say its own. */
static void operand(rg_cprint *p, rg_val v, int least, rg_val other) {
    if (is_const(p->f, v)) {
        rg_op o = other ? rg_def_op(p->f, other) : RG_CONST;
        literal(p, v, least, o == RG_CONST || (o == RG_SELECT && !p->plan->var[other]));
    } else
        rg_c_expr(p, v, least);
}

static rg_op folded_op(const rg_cprint *p, rg_val v) {
    return rg_cplan_folded(p->plan, v) ? rg_def_op(p->f, v) : RG_OP_NONE;
}

static void binary(rg_cprint *p, const rg_ins *s, rg_op op, int prec, int least) {
    const rg_fn *f = p->f;
    rg_val x = f->pool.at[s->opnd], y = f->pool.at[s->opnd + 1];
    const char *text = rg_ops[op].c;
    bool logic = f->vals.at[x].type == RG_BOOL;
    int left = prec, right = prec + 1;
    if (prec == RG_P_AND || prec == RG_P_OR || prec == RG_P_XOR) {
        if (logic && op == RG_XOR) {
            text = "!=";
            prec = RG_P_EQ;
            left = right = RG_P_UNARY + 1;
        } else if (logic && !p->d->bit_logic) {
            text = op == RG_AND ? "&&" : "||";
            prec = op == RG_AND ? RG_P_LAND : RG_P_LOR;
            left = folded_op(p, x) == op ? prec : RG_P_OR;
            right = RG_P_OR;
        } else {
            left = folded_op(p, x) == op ? prec : RG_P_UNARY;
            right = RG_P_UNARY;
        }
    } else if (prec == RG_P_SHIFT)
        left = right = RG_P_UNARY;
    else if (prec == RG_P_EQ || prec == RG_P_REL)
        left = right = logic ? RG_P_POSTFIX : RG_P_SHIFT;
    bool paren = prec < least;
    if (paren)
        rg_text_char(p->out, '(');
    bool shift = op == RG_SHL || op == RG_SHR;
    operand(p, x, left, shift ? 0 : y);
    rg_text_char(p->out, ' ');
    rg_text_add(p->out, text);
    rg_text_char(p->out, ' ');
    operand(p, y, right, x);
    if (paren)
        rg_text_char(p->out, ')');
}

static void call(rg_cprint *p, const char *name, bool is_f32, const rg_ins *s) {
    rg_text_add(p->out, name);
    if (is_f32)
        rg_text_add(p->out, p->d->float_suffix);
    rg_text_char(p->out, '(');
    for (uint32_t o = 0; o < s->nopnd; o++) {
        if (o)
            rg_text_add(p->out, ", ");
        rg_c_expr(p, p->f->pool.at[s->opnd + o], RG_P_ASSIGN);
    }
    rg_text_char(p->out, ')');
}

static void not_op(rg_cprint *p, rg_val x, int least) {
    /* !(a < b) reads better the other way round; with floats only == and != can be turned. */
    static const uint8_t turned[][2] = {{RG_EQ, RG_NE}, {RG_NE, RG_EQ}, {RG_LT, RG_GE},
                                        {RG_GE, RG_LT}, {RG_GT, RG_LE}, {RG_LE, RG_GT}};
    const rg_fn *f = p->f;
    rg_op op = folded_op(p, x);
    if (f->vals.at[x].type == RG_BOOL && op) {
        const rg_ins *c = &f->ins.at[f->vals.at[x].def];
        for (size_t k = 0; k < sizeof turned / sizeof *turned; k++) {
            if (turned[k][0] != op)
                continue;
            if (k > 1 && rg_type_is_float(f->vals.at[f->pool.at[c->opnd]].type))
                continue;
            binary(p, c, (rg_op)turned[k][1], infix_prec(op), least);
            return;
        }
    }
    bool paren = least > RG_P_UNARY;
    rg_text_add(p->out, paren ? "(" : "");
    rg_text_char(p->out, f->vals.at[x].type == RG_BOOL ? '!' : '~');
    rg_c_expr(p, x, RG_P_UNARY);
    rg_text_add(p->out, paren ? ")" : "");
}

static void cast(rg_cprint *p, rg_val x, rg_type to, int least) {
    rg_type from = p->f->vals.at[x].type;
    if (to == RG_BOOL) {
        bool paren = least > RG_P_EQ;
        rg_text_add(p->out, paren ? "(" : "");
        operand(p, x, RG_P_SHIFT, 0);
        rg_text_add(p->out, from == RG_F32 ? " != 0.0f" : from == RG_F64 ? " != 0.0" : " != 0");
        rg_text_add(p->out, paren ? ")" : "");
        return;
    }
    bool paren = least > RG_P_UNARY;
    rg_text_add(p->out, paren ? "(" : "");
    rg_text_char(p->out, '(');
    rg_text_add(p->out, p->d->type[to]);
    rg_text_char(p->out, ')');
    rg_c_expr(p, x, RG_P_UNARY);
    rg_text_add(p->out, paren ? ")" : "");
}

static void wrap(rg_cprint *p, rg_val x, rg_mem m, int least) {
    if (m == RG_M_F16) {
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_c_use(p->helpers, RG_H_HALF_STORE);
        rg_text_add(p->out, "rg_half_to_float(rg_half_from_float(");
        rg_c_expr(p, x, RG_P_ASSIGN);
        rg_text_add(p->out, "))");
        return;
    }
    if (m == RG_M_BOOL) {
        cast(p, x, RG_BOOL, least);
        return;
    }
    bool paren = least > RG_P_UNARY;
    rg_type t = p->f->vals.at[x].type;
    rg_text_add(p->out, paren ? "(" : "");
    if (rg_mem_value(m) != t) /* widened back: int64_t kept in 32 bits */
        rg_text_format(p->out, "(%s)", p->d->type[t]);
    rg_text_format(p->out, "(%s)", p->d->mem[m]);
    rg_c_expr(p, x, RG_P_UNARY);
    rg_text_add(p->out, paren ? ")" : "");
}

static void select(rg_cprint *p, const rg_ins *s, int least) {
    const rg_fn *f = p->f;
    rg_val c = f->pool.at[s->opnd], x = f->pool.at[s->opnd + 1], y = f->pool.at[s->opnd + 2];
    bool paren = least > RG_P_COND;
    rg_text_add(p->out, paren ? "(" : "");
    rg_c_expr(p, c, RG_P_LOR);
    rg_text_add(p->out, " ? ");
    operand(p, x, RG_P_LOR, y);
    rg_text_add(p->out, " : ");
    operand(p, y, RG_P_COND, x);
    rg_text_add(p->out, paren ? ")" : "");
}

/* zmul(zmul(c, d), e) is a helper of its own: both tests of a chain rule's two steps choose one
 * result, where two calls would each wait for their own. */
static void zmul(rg_cprint *p, const rg_ins *s, bool is_f32) {
    const rg_fn *f = p->f;
    rg_val x = f->pool.at[s->opnd], y = f->pool.at[s->opnd + 1];
    if (folded_op(p, x) != RG_ZMUL) {
        rg_c_use(p->helpers, is_f32 ? RG_H_ZMUL_F32 : RG_H_ZMUL_F64);
        call(p, is_f32 ? "rg_zmulf" : "rg_zmul", false, s);
        return;
    }
    const rg_ins *inner = &f->ins.at[f->vals.at[x].def];
    rg_c_use(p->helpers, is_f32 ? RG_H_ZMUL2_F32 : RG_H_ZMUL2_F64);
    rg_text_add(p->out, is_f32 ? "rg_zmul2f(" : "rg_zmul2(");
    rg_c_expr(p, f->pool.at[inner->opnd], RG_P_ASSIGN);
    rg_text_add(p->out, ", ");
    rg_c_expr(p, f->pool.at[inner->opnd + 1], RG_P_ASSIGN);
    rg_text_add(p->out, ", ");
    rg_c_expr(p, y, RG_P_ASSIGN);
    rg_text_char(p->out, ')');
}

static void negate(rg_cprint *p, rg_val x, int least) {
    bool paren = least > RG_P_UNARY;
    bool again = folded_op(p, x) == RG_NEG || is_const(p->f, x);
    rg_text_add(p->out, paren ? "(-" : "-");
    rg_c_expr(p, x, again ? RG_P_POSTFIX : RG_P_UNARY);
    rg_text_add(p->out, paren ? ")" : "");
}

void rg_c_op(rg_cprint *p, rg_iid i, int least) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_op op = (rg_op)s->op;
    rg_val x = s->nopnd ? f->pool.at[s->opnd] : 0;
    rg_type t = f->vals.at[f->pool.at[s->res]].type;
    int prec = infix_prec(op);
    if (prec) {
        binary(p, s, op, prec, least);
        return;
    }
    switch (op) {
    case RG_LOAD: {
        bool half = rg_ins_leaf(f, s)->mem == RG_M_F16;
        if (half) {
            rg_c_use(p->helpers, RG_H_HALF_LOAD);
            rg_text_add(p->out, "rg_half_to_float(");
        }
        rg_c_place(p, i);
        if (half)
            rg_text_char(p->out, ')');
        return;
    }
    case RG_CONST:
        literal(p, f->pool.at[s->res], least, false);
        return;
    case RG_SCALAR:
        scalar(p, f->pool.at[s->res]);
        return;
    case RG_EXTENT: {
        bool paren = least > RG_P_UNARY;
        rg_text_add(p->out, paren ? "(" : "");
        rg_c_extent(p, s->array, (uint32_t)s->imm.i);
        rg_text_add(p->out, paren ? ")" : "");
        return;
    }
    case RG_NEG:
        negate(p, x, least);
        return;
    case RG_NOT:
        not_op(p, x, least);
        return;
    case RG_SELECT:
        select(p, s, least);
        return;
    case RG_CAST:
        cast(p, x, t, least);
        return;
    case RG_WRAP:
        wrap(p, x, (rg_mem)s->imm.i, least);
        return;
    case RG_STOP:
        rg_c_expr(p, x, least);
        return;
    case RG_ZMUL:
        zmul(p, s, t == RG_F32);
        return;
    case RG_DIGAMMA:
        rg_c_use(p->helpers, RG_H_DIGAMMA);
        if (t == RG_F32 && least > RG_P_UNARY)
            rg_text_char(p->out, '(');
        if (t == RG_F32)
            rg_text_add(p->out, "(float)");
        call(p, "rg_digamma", false, s);
        if (t == RG_F32 && least > RG_P_UNARY)
            rg_text_char(p->out, ')');
        return;
    case RG_ISNAN:
    case RG_ISINF:
    case RG_SIGNBIT: { /* macros that answer any non-zero number */
        p->helpers->math = true;
        bool paren = least > RG_P_EQ;
        rg_text_add(p->out, paren ? "(" : "");
        call(p, rg_ops[op].c, false, s);
        rg_text_add(p->out, " != 0");
        rg_text_add(p->out, paren ? ")" : "");
        return;
    }
    case RG_FMIN:
    case RG_FMAX:
        if (p->d->own_minmax) {
            bool min = op == RG_FMIN;
            rg_c_use(p->helpers, t == RG_F32 ? (min ? RG_H_FMIN_F32 : RG_H_FMAX_F32)
                                             : (min ? RG_H_FMIN_F64 : RG_H_FMAX_F64));
            call(p, min ? "rg_fmin" : "rg_fmax", t == RG_F32, s);
            return;
        }
        break;
    default:
        break;
    }
    p->helpers->math = true;
    call(p, rg_ops[op].c, x && f->vals.at[x].type == RG_F32, s);
}

void rg_c_expr(rg_cprint *p, rg_val v, int least) {
    const char *name = rg_c_var(p, v);
    if (name)
        rg_text_add(p->out, name);
    else
        rg_c_op(p, p->f->vals.at[v].def, least);
}

void rg_c_not(rg_cprint *p, rg_val v) {
    not_op(p, v, RG_P_ANY);
}

const char *rg_c_expr_text(rg_cprint *p, rg_val v, int least) {
    rg_text t = {.arena = p->arena}, *keep = p->out;
    p->out = &t;
    rg_c_expr(p, v, least);
    p->out = keep;
    return rg_text_str(&t);
}

const char *rg_c_place_text(rg_cprint *p, rg_iid i) {
    rg_text t = {.arena = p->arena}, *keep = p->out;
    p->out = &t;
    rg_c_place(p, i);
    p->out = keep;
    return rg_text_str(&t);
}

/* ---- whole arrays ---- */

const char *rg_c_bare(const char *text) {
    static const char cast[] = "(int64_t)";
    const char *rest = text + sizeof cast - 1;
    if (strncmp(text, cast, sizeof cast - 1) ||
        strspn(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            strlen(rest))
        return text;
    return rest;
}

const char *rg_c_count_text(rg_cprint *p, rg_aid a) {
    return rg_c_count_from_text(p, a, 0);
}

const char *rg_c_count_from_text(rg_cprint *p, rg_aid a, uint32_t first) {
    rg_text t = {.arena = p->arena}, *keep = p->out;
    p->out = &t;
    for (uint32_t k = first; k < p->f->arrays.at[a].rank; k++) {
        int64_t n;
        if (k > first)
            rg_text_add(&t, " * ");
        if (rg_c_extent_const(p->f, a, k, &n)) {
            rg_text_format(&t, "%lld", (long long)(n > 0 ? n : 0));
            continue;
        }
        rg_c_use(p->helpers, RG_H_COUNT);
        rg_text e = {.arena = p->arena};
        p->out = &e;
        rg_c_extent(p, a, k);
        p->out = &t;
        rg_text_format(&t, "rg_count(%s)", rg_c_bare(rg_text_str(&e)));
    }
    p->out = keep;
    return rg_text_str(&t);
}

uint64_t rg_c_small_array(const rg_fn *f, rg_aid a, uint64_t most) {
    const rg_ir_array *x = &f->arrays.at[a];
    uint64_t bytes = x->elem->size;
    if (x->flags & RG_ARR_GROW)
        return 0;
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t n;
        if (!rg_c_extent_const(f, a, k, &n) || n > (int64_t)most)
            return 0;
        bytes *= n > 0 ? (uint64_t)n : 1u;
        if (bytes > most)
            return 0;
    }
    return bytes ? bytes : 1;
}

const char *rg_c_slice_text(rg_cprint *p, rg_iid i, rg_aid a, uint32_t n) {
    const rg_ir_array *x = &p->f->arrays.at[a];
    rg_text t = {.arena = p->arena}, *keep = p->out;
    p->out = &t;
    bool flat = p->d->flat || p->flat[a];
    if (!flat && ((!x->rank && x->kind == RG_ARR_LOCAL) || (n && n == x->rank)))
        rg_text_char(&t, '&');
    rg_text_add(&t, p->plan->array_name[a]);
    if (flat && n) {
        rg_text_add(&t, " + ");
        rg_c_flat_index(p, i, a, 0, n);
    }
    for (uint32_t k = 0; !flat && k < n; k++) {
        rg_text_char(&t, '[');
        index_text(p, rg_operand(p->f, i, k), RG_P_ANY, false);
        rg_text_char(&t, ']');
    }
    p->out = keep;
    return rg_text_str(&t);
}
