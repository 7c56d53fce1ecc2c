/* Checked construction of operators and conversions: C11 6.5 for this subset.
 *
 * Every function tolerates operands of type <error> and passes the type on, so one mistake gives
 * one message. Arrays keep their type; whoever needs a pointer treats them as one to their first
 * element. */
#include "lang/check.h"

#include <string.h>

rg_node *rg_node_new(rg_parser *p, rg_node_kind k, rg_loc loc, rg_ctype *t) {
    rg_node *n = RG_NEW(p->arena, rg_node);
    n->kind = (uint8_t)k;
    n->loc = loc;
    n->type = t;
    return n;
}

rg_node *rg_node_error(rg_parser *p, rg_loc loc) {
    return rg_node_new(p, RG_N_ERROR, loc, rg_ctype_basic(RG_C_ERROR));
}

rg_node *rg_node_int(rg_parser *p, rg_loc loc, rg_ctype *t, int64_t v) {
    rg_node *n = rg_node_new(p, RG_N_INT, loc, t);
    n->i = v;
    return n;
}

static const char *type_name(rg_parser *p, const rg_ctype *t) {
    return rg_ctype_name(p->arena, t);
}

/* What a pointer or array points to; NULL for others. */
static rg_ctype *pointee(const rg_ctype *t) {
    return t->kind == RG_C_PTR || t->kind == RG_C_ARRAY ? t->base : NULL;
}

static rg_node *cast_node(rg_parser *p, rg_node *a, rg_ctype *t) {
    if (a->type->kind == t->kind && t->kind != RG_C_PTR)
        return a;
    rg_node *n = rg_node_new(p, RG_N_CAST, a->loc, t);
    n->a = a;
    return n;
}

static bool is_lvalue(const rg_node *n) {
    switch (n->kind) {
    case RG_N_VAR:
    case RG_N_INDEX:
    case RG_N_DEREF:
    case RG_N_LITERAL:
    case RG_N_ERROR:
        return true;
    case RG_N_MEMBER:
        return is_lvalue(n->a);
    default:
        return false;
    }
}

rg_var *rg_node_base(const rg_node *n) {
    for (;;) {
        switch (n->kind) {
        case RG_N_VAR:
        case RG_N_LITERAL:
            return n->var;
        case RG_N_MEMBER:
        case RG_N_INDEX:
        case RG_N_DEREF:
        case RG_N_ADDR:
        case RG_N_PTRADD:
        case RG_N_CAST:
        case RG_N_INCDEC:
            n = n->a;
            break;
        default:
            return NULL;
        }
    }
}

bool rg_node_is_own(const rg_node *n) {
    for (;;) {
        switch (n->kind) {
        case RG_N_VAR:
        case RG_N_LITERAL:
            return true;
        case RG_N_MEMBER:
            n = n->a;
            break;
        case RG_N_INDEX:
        case RG_N_DEREF:
            if (n->a->type->kind != RG_C_ARRAY)
                return false;
            n = n->a;
            break;
        default:
            return false;
        }
    }
}

void rg_note_write_var(rg_parser *p, rg_var *v, rg_loc loc) {
    RG_PUSH(p->arena, &v->writes, p->unit->writes.n);
    v->last_write = loc;
    RG_PUSH(p->arena, &p->unit->writes, (rg_write){v, loc, p->in_atomic > 0});
}

void rg_note_write(rg_parser *p, rg_node *lvalue, rg_loc loc) {
    rg_var *v = rg_node_base(lvalue);
    if (v && rg_node_is_own(lvalue))
        rg_note_write_var(p, v, loc);
    else /* through a pointer: nobody's own */
        RG_PUSH(p->arena, &p->unit->writes, (rg_write){NULL, loc, p->in_atomic > 0});
}

/* The object of an array or of &x is reachable through a pointer to non-const from here on. */
static void note_escape(rg_parser *p, rg_node *n, rg_loc loc) {
    rg_var *v = rg_node_base(n);
    if (v && rg_node_is_own(n)) {
        v->address_taken = true;
        rg_note_write_var(p, v, loc);
    } else {
        RG_PUSH(p->arena, &p->unit->writes, (rg_write){NULL, loc, false});
    }
}

rg_node *rg_check_var(rg_parser *p, rg_loc loc, rg_var *v) {
    rg_node *n = rg_node_new(p, RG_N_VAR, loc, v->type);
    n->var = v;
    RG_PUSH(p->arena, &p->unit->refs, (rg_use){v, loc, p->in_atomic > 0, n});
    if (v->is_static && p->func) {
        rg_func *f = p->func;
        bool listed = false;
        for (uint32_t i = f->statics.n; i-- > 0 && !listed;)
            listed = f->statics.at[i] == v;
        if (!listed)
            RG_PUSH(p->arena, &f->statics, v);
    }
    return n;
}

rg_node *rg_check_member(rg_parser *p, rg_loc loc, rg_node *a, const char *field, rg_loc at) {
    if (rg_node_bad(a))
        return a;
    if (a->type->kind != RG_C_STRUCT) {
        rg_ctype *to = pointee(a->type);
        rg_error(p->diags, loc, to && to->kind == RG_C_STRUCT ? "write -> instead of ." : NULL,
                 "'.%s' needs a struct on its left; this is '%s'", field, type_name(p, a->type));
        return rg_node_error(p, loc);
    }
    const rg_cstruct *s = a->type->st;
    for (uint32_t i = 0; i < s->fields.n; i++)
        if (!strcmp(s->fields.at[i].name, field)) {
            rg_ctype *t = s->fields.at[i].type;
            rg_node *n = rg_node_new(p, RG_N_MEMBER, loc,
                                     a->type->is_const ? rg_ctype_const(p->arena, t) : t);
            n->a = a;
            n->field = i;
            return n;
        }
    rg_text list = {.arena = p->arena};
    for (uint32_t i = 0; i < s->fields.n; i++)
        rg_text_format(&list, "%s%s", i ? ", " : "its fields are ", s->fields.at[i].name);
    rg_error(p->diags, at, rg_text_str(&list), "'%s' has no field '%s'", type_name(p, a->type),
             field);
    return rg_node_error(p, loc);
}

rg_node *rg_check_index(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b) {
    if (rg_node_bad(a) || rg_node_bad(b))
        return rg_node_error(p, loc);
    if (!pointee(a->type) && pointee(b->type)) { /* 3[x] */
        rg_node *t = a;
        a = b;
        b = t;
    }
    rg_ctype *to = pointee(a->type);
    if (!to) {
        rg_error(p->diags, loc, NULL, "'%s' cannot be indexed", type_name(p, a->type));
        return rg_node_error(p, loc);
    }
    if (!rg_ctype_is_int(b->type)) {
        rg_error(p->diags, b->loc, "convert it: (int)", "an index must be an integer; this is '%s'",
                 type_name(p, b->type));
        return rg_node_error(p, loc);
    }
    if (a->type->kind == RG_C_ARRAY && a->type->len >= 0) {
        int64_t k;
        if (rg_const_int(NULL, b, &k) && (k < 0 || k >= a->type->len)) {
            rg_error(p->diags, b->loc, NULL, "index %lld is outside the array's %lld elements",
                     (long long)k, (long long)a->type->len);
            return rg_node_error(p, loc);
        }
    }
    rg_node *n = rg_node_new(p, RG_N_INDEX, loc, to);
    n->a = a;
    n->b = cast_node(p, b, rg_ctype_promote(b->type));
    return n;
}

rg_node *rg_check_deref(rg_parser *p, rg_loc loc, rg_node *a) {
    if (rg_node_bad(a))
        return a;
    rg_ctype *to = pointee(a->type);
    if (!to) {
        rg_error(p->diags, loc, NULL, "'*' needs a pointer; this is '%s'", type_name(p, a->type));
        return rg_node_error(p, loc);
    }
    rg_node *n = rg_node_new(p, RG_N_DEREF, loc, to);
    n->a = a;
    return n;
}

rg_node *rg_check_addr(rg_parser *p, rg_loc loc, rg_node *a) {
    if (rg_node_bad(a))
        return a;
    if (!is_lvalue(a)) {
        rg_error(p->diags, loc, "store it in a local first", "'&' needs an object, not a value");
        return rg_node_error(p, loc);
    }
    if (a->type->kind == RG_C_PTR) {
        rg_error(p->diags, loc, "return the new pointer's index instead",
                 "the address of a pointer cannot be followed");
        return rg_node_error(p, loc);
    }
    rg_node *n = rg_node_new(p, RG_N_ADDR, loc, rg_ctype_ptr(p->arena, a->type));
    n->a = a;
    rg_var *v = rg_node_base(a);
    if (v && rg_node_is_own(a) && !a->type->is_const) {
        v->address_taken = true;
        n->i = (int64_t)p->unit->writes.n + 1;
        rg_note_write_var(p, v, loc);
    }
    return n;
}

/* &x given to a pointer to const: what looked like a write was none. */
static void take_back_write(rg_parser *p, rg_node *addr) {
    if (addr->kind != RG_N_ADDR || !addr->i)
        return;
    uint32_t mark = (uint32_t)addr->i - 1;
    rg_var *v = p->unit->writes.at[mark].var;
    if (!v)
        return;
    p->unit->writes.at[mark].var = NULL;
    for (uint32_t i = v->writes.n; i-- > 0;)
        if (v->writes.at[i] == mark) {
            memmove(&v->writes.at[i], &v->writes.at[i + 1],
                    (v->writes.n - 1 - i) * sizeof(uint32_t));
            v->writes.n--;
            return;
        }
}

rg_node *rg_check_condition(rg_parser *p, rg_node *a) {
    if (rg_node_bad(a) || rg_ctype_is_arith(a->type))
        return a;
    bool ptr = pointee(a->type) != NULL;
    rg_error(p->diags, a->loc,
             ptr ? "arrays always exist here: remove the test, or pass a flag"
                 : "compare one of its fields",
             ptr ? "a pointer cannot be tested for null"
                 : "a condition needs a number; this is '%s'",
             type_name(p, a->type));
    return rg_node_error(p, a->loc);
}

rg_node *rg_check_unary(rg_parser *p, rg_loc loc, rg_node_kind k, rg_node *a) {
    if (rg_node_bad(a))
        return a;
    if (k == RG_N_NOT) {
        a = rg_check_condition(p, a);
        if (rg_node_bad(a))
            return a;
        rg_node *n = rg_node_new(p, k, loc, rg_ctype_basic(RG_C_INT));
        n->a = a;
        return n;
    }
    bool ok = k == RG_N_BITNOT ? rg_ctype_is_int(a->type) : rg_ctype_is_arith(a->type);
    if (!ok) {
        rg_error(p->diags, loc, NULL, "'%s' cannot be applied to '%s'",
                 k == RG_N_BITNOT ? "~" : "-", type_name(p, a->type));
        return rg_node_error(p, loc);
    }
    rg_ctype *t = rg_ctype_promote(a->type);
    rg_node *n = rg_node_new(p, k, loc, t);
    n->a = cast_node(p, a, t);
    return n;
}

static const char *op_text(rg_op op) {
    switch (op) {
    case RG_SHL:
        return "<<";
    case RG_SHR:
        return ">>";
    default:
        return rg_ops[op].c;
    }
}

static rg_node *bad_operands(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b) {
    const char *hint = NULL;
    if (a->type->kind == RG_C_STRUCT || b->type->kind == RG_C_STRUCT)
        hint = "write a static function that works on the fields";
    else if (op == RG_REM)
        hint = "use fmod or fmodf";
    rg_error(p->diags, loc, hint, "'%s' cannot be applied to '%s' and '%s'", op_text(op),
             type_name(p, a->type), type_name(p, b->type));
    return rg_node_error(p, loc);
}

rg_node *rg_check_binary(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b) {
    if (rg_node_bad(a) || rg_node_bad(b))
        return rg_node_error(p, loc);
    rg_ctype *x = pointee(a->type), *y = pointee(b->type);
    if (x || y) {
        if ((op == RG_ADD || op == RG_SUB) && x && rg_ctype_is_int(b->type)) {
            rg_node *n = rg_node_new(p, RG_N_PTRADD, loc, rg_ctype_ptr(p->arena, x));
            n->a = a;
            n->b = cast_node(p, b, rg_ctype_promote(b->type));
            n->post = op == RG_SUB;
            return n;
        }
        if (op == RG_ADD && y && rg_ctype_is_int(a->type))
            return rg_check_binary(p, loc, op, b, a);
        if (op == RG_SUB && x && y && rg_ctype_same(x, y)) {
            rg_node *n = rg_node_new(p, RG_N_PTRDIFF, loc, rg_ctype_basic(RG_C_LONG));
            n->a = a;
            n->b = b;
            return n;
        }
        return bad_operands(p, loc, op, a, b);
    }
    if (!rg_ctype_is_arith(a->type) || !rg_ctype_is_arith(b->type))
        return bad_operands(p, loc, op, a, b);
    bool ints =
        op == RG_REM || op == RG_AND || op == RG_OR || op == RG_XOR || op == RG_SHL || op == RG_SHR;
    if (ints && (!rg_ctype_is_int(a->type) || !rg_ctype_is_int(b->type)))
        return bad_operands(p, loc, op, a, b);
    rg_node *n;
    if (op == RG_SHL || op == RG_SHR) {
        rg_ctype *t = rg_ctype_promote(a->type);
        n = rg_node_new(p, RG_N_BIN, loc, t);
        n->a = cast_node(p, a, t);
        n->b = cast_node(p, b, rg_ctype_basic(RG_C_INT));
        int64_t k;
        if (rg_const_int(NULL, b, &k) && (k < 0 || k >= 8 * rg_ctype_size(t)))
            rg_error(p->diags, b->loc, NULL, "shift by %lld is outside the %lld bits of '%s'",
                     (long long)k, (long long)(8 * rg_ctype_size(t)), type_name(p, t));
    } else {
        rg_ctype *t = rg_ctype_common(a->type, b->type);
        n = rg_node_new(p, RG_N_BIN, loc, t);
        n->a = cast_node(p, a, t);
        n->b = cast_node(p, b, t);
        int64_t k;
        if ((op == RG_DIV || op == RG_REM) && rg_ctype_is_int(t) && rg_const_int(NULL, b, &k) && !k)
            rg_error(p->diags, b->loc, NULL, "integer division by zero");
    }
    n->op = (uint8_t)op;
    return n;
}

rg_node *rg_check_compare(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b) {
    if (rg_node_bad(a) || rg_node_bad(b))
        return rg_node_error(p, loc);
    rg_ctype *x = pointee(a->type), *y = pointee(b->type);
    if (x || y) {
        if (x && y && rg_ctype_same(x, y)) {
            rg_node *n = rg_node_new(p, RG_N_PTRCMP, loc, rg_ctype_basic(RG_C_INT));
            n->a = a;
            n->b = b;
            n->op = (uint8_t)op;
            return n;
        }
        rg_error(p->diags, loc, "arrays always exist here: remove the test, or pass a flag",
                 "a pointer can only be compared with a pointer into the same array");
        return rg_node_error(p, loc);
    }
    if (!rg_ctype_is_arith(a->type) || !rg_ctype_is_arith(b->type))
        return bad_operands(p, loc, op, a, b);
    rg_ctype *t = rg_ctype_common(a->type, b->type);
    rg_node *n = rg_node_new(p, RG_N_CMP, loc, rg_ctype_basic(RG_C_INT));
    n->a = cast_node(p, a, t);
    n->b = cast_node(p, b, t);
    n->op = (uint8_t)op;
    return n;
}

rg_node *rg_check_logical(rg_parser *p, rg_loc loc, rg_node_kind k, rg_node *a, rg_node *b) {
    a = rg_check_condition(p, a);
    b = rg_check_condition(p, b);
    if (rg_node_bad(a) || rg_node_bad(b))
        return rg_node_error(p, loc);
    rg_node *n = rg_node_new(p, k, loc, rg_ctype_basic(RG_C_INT));
    n->a = a;
    n->b = b;
    return n;
}

rg_node *rg_check_cond(rg_parser *p, rg_loc loc, rg_node *c, rg_node *a, rg_node *b) {
    c = rg_check_condition(p, c);
    if (rg_node_bad(a) || rg_node_bad(b) || rg_node_bad(c))
        return rg_node_error(p, loc);
    rg_ctype *t;
    rg_ctype *x = pointee(a->type), *y = pointee(b->type);
    if (rg_ctype_is_arith(a->type) && rg_ctype_is_arith(b->type)) {
        /* half and half stay half for storing, but arithmetic is float's: promote like any other */
        t = rg_ctype_common(a->type, b->type);
        a = cast_node(p, a, t);
        b = cast_node(p, b, t);
    } else if (x && y && rg_ctype_same(x, y)) {
        t = rg_ctype_ptr(p->arena, x->is_const ? x : y);
    } else if (a->type->kind == b->type->kind && rg_ctype_same(a->type, b->type)) {
        t = a->type;
    } else {
        rg_error(p->diags, loc, NULL, "the two results of '?:' do not fit: '%s' and '%s'",
                 type_name(p, a->type), type_name(p, b->type));
        return rg_node_error(p, loc);
    }
    rg_node *n = rg_node_new(p, RG_N_COND, loc, t);
    n->a = c;
    n->b = a;
    n->c = b;
    return n;
}

rg_node *rg_check_comma(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b) {
    rg_node *n = rg_node_new(p, RG_N_COMMA, loc, b->type);
    n->a = a;
    n->b = b;
    return n;
}

rg_node *rg_check_convert(rg_parser *p, rg_node *a, rg_ctype *t, const char *what) {
    if (rg_node_bad(a) || t->kind == RG_C_ERROR)
        return a;
    if (rg_ctype_is_arith(t) && rg_ctype_is_arith(a->type))
        return cast_node(p, a, t);
    if (t->kind == RG_C_STRUCT && a->type->kind == RG_C_STRUCT && t->st == a->type->st)
        return a;
    rg_ctype *from = pointee(a->type);
    if (t->kind == RG_C_PTR && from) {
        if (!rg_ctype_same(t->base, from)) {
            uint32_t axes = 0;
            rg_ctype *in = rg_ctype_innermost(from, &axes);
            bool flat = axes && rg_ctype_same(in, t->base);
            rg_error(
                p->diags, a->loc,
                flat ? "declare the parameter as one-dimensional, T x[n * m], and index it yourself"
                     : NULL,
                "cannot %s '%s' from '%s'", what, type_name(p, t), type_name(p, a->type));
            return rg_node_error(p, a->loc);
        }
        rg_ctype *to_in = rg_ctype_innermost(t->base, NULL),
                 *from_in = rg_ctype_innermost(from, NULL);
        if (from_in->is_const && !to_in->is_const) {
            rg_error(p->diags, a->loc, "add const to the pointer, or drop it from the array",
                     "cannot %s '%s' from '%s': it would drop const", what, type_name(p, t),
                     type_name(p, a->type));
            return rg_node_error(p, a->loc);
        }
        if (to_in->is_const)
            take_back_write(p, a);
        else if (a->type->kind == RG_C_ARRAY)
            note_escape(p, a, a->loc);
        else
            RG_PUSH(p->arena, &p->unit->writes, (rg_write){NULL, a->loc, false});
        return cast_node(p, a, t);
    }
    if (t->kind == RG_C_PTR && rg_ctype_is_int(a->type)) {
        rg_error(p->diags, a->loc, "point it at an array element where it is declared",
                 "a null or numeric pointer cannot be followed");
        return rg_node_error(p, a->loc);
    }
    rg_error(p->diags, a->loc, NULL, "cannot %s '%s' from '%s'", what, type_name(p, t),
             type_name(p, a->type));
    return rg_node_error(p, a->loc);
}

static bool check_writable(rg_parser *p, rg_loc loc, rg_node *a) {
    if (rg_node_bad(a))
        return false;
    if (!is_lvalue(a)) {
        rg_error(p->diags, loc, NULL,
                 "the left side is a value, not an object that can be assigned");
        return false;
    }
    if (a->type->kind == RG_C_ARRAY) {
        rg_error(p->diags, loc, "copy the elements in a loop",
                 "an array cannot be assigned as a whole");
        return false;
    }
    if (a->type->is_const) {
        rg_var *v = rg_node_base(a);
        const char *hint = "drop const from its declaration, or write to another array";
        rg_error(p->diags, loc, hint, "'%s' is const and cannot be assigned",
                 v ? v->name : "the object");
        if (v)
            rg_note(p->diags, v->loc, "it is declared here");
        return false;
    }
    return true;
}

rg_node *rg_check_assign(rg_parser *p, rg_loc loc, rg_node *a, rg_node *b) {
    if (!check_writable(p, loc, a))
        return rg_node_error(p, loc);
    b = rg_check_convert(p, b, a->type, "assign");
    rg_note_write(p, a, loc);
    if (rg_node_bad(b))
        return b;
    if (a->kind == RG_N_VAR && a->type->kind == RG_C_PTR && rg_node_base(b) != a->var)
        a->var->reseated = true;
    rg_node *n = rg_node_new(p, RG_N_ASSIGN, loc, a->type);
    n->a = a;
    n->b = b;
    return n;
}

rg_node *rg_check_opassign(rg_parser *p, rg_loc loc, rg_op op, rg_node *a, rg_node *b) {
    if (!check_writable(p, loc, a))
        return rg_node_error(p, loc);
    /* the operation's own checks, and its type */
    rg_node *sum = rg_check_binary(p, loc, op, a, b);
    rg_note_write(p, a, loc);
    if (rg_node_bad(sum))
        return sum;
    rg_node *n = rg_node_new(p, RG_N_OPASSIGN, loc, a->type);
    n->a = a;
    n->b = sum->b;
    n->op = (uint8_t)op;
    n->compute = sum->type;
    return n;
}

rg_node *rg_check_incdec(rg_parser *p, rg_loc loc, rg_op op, bool post, rg_node *a) {
    if (!check_writable(p, loc, a))
        return rg_node_error(p, loc);
    if (!rg_ctype_is_arith(a->type) && a->type->kind != RG_C_PTR) {
        rg_error(p->diags, loc, NULL, "'%s' cannot be applied to '%s'", op == RG_ADD ? "++" : "--",
                 type_name(p, a->type));
        return rg_node_error(p, loc);
    }
    rg_note_write(p, a, loc);
    rg_node *n = rg_node_new(p, RG_N_INCDEC, loc, a->type);
    n->a = a;
    n->op = (uint8_t)op;
    n->post = post;
    n->compute = rg_ctype_promote(a->type);
    return n;
}

rg_node *rg_check_cast(rg_parser *p, rg_loc loc, rg_ctype *t, rg_node *a) {
    if (rg_node_bad(a) || t->kind == RG_C_ERROR)
        return a;
    rg_ctype *from = pointee(a->type);
    if (t->kind == RG_C_VOID) {
        rg_node *n = rg_node_new(p, RG_N_CAST, loc, t);
        n->a = a;
        return n;
    }
    if (rg_ctype_is_arith(t) && rg_ctype_is_arith(a->type)) {
        rg_node *n = rg_node_new(p, RG_N_CAST, loc, rg_ctype_basic(t->kind));
        n->a = a;
        return n;
    }
    if (t->kind == RG_C_PTR && from && rg_ctype_same(t->base, from))
        return rg_check_convert(p, a, t, "cast to");
    if (t->kind == RG_C_PTR && rg_ctype_is_int(a->type) && t->base->kind == RG_C_VOID) {
        rg_error(p->diags, loc, "arrays always exist here: remove the test, or pass a flag",
                 "a null pointer cannot be followed or compared");
        return rg_node_error(p, loc);
    }
    if (t->kind == RG_C_PTR || from) {
        bool ints = rg_ctype_is_int(t) || rg_ctype_is_int(a->type);
        rg_error(p->diags, loc,
                 ints ? "use indices instead of addresses"
                      : "declare the array with the type that it is used with",
                 "cannot convert '%s' to '%s': the array behind it could not be followed",
                 type_name(p, a->type), type_name(p, t));
        return rg_node_error(p, loc);
    }
    rg_error(p->diags, loc, NULL, "cannot convert '%s' to '%s'", type_name(p, a->type),
             type_name(p, t));
    return rg_node_error(p, loc);
}

bool rg_node_equal(const rg_node *a, const rg_node *b) {
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind || a->op != b->op || a->post != b->post)
        return false;
    switch (a->kind) {
    case RG_N_INT:
        return a->i == b->i;
    case RG_N_REAL:
        return a->f == b->f;
    case RG_N_VAR:
        return a->var == b->var;
    case RG_N_MEMBER:
        return a->field == b->field && rg_node_equal(a->a, b->a);
    case RG_N_CAST:
        return a->type->kind == b->type->kind && rg_node_equal(a->a, b->a);
    case RG_N_ASSIGN:
    case RG_N_OPASSIGN:
    case RG_N_INCDEC:
    case RG_N_LITERAL:
    case RG_N_ERROR:
        return false;
    case RG_N_CALL:
    case RG_N_MATH: {
        if (a->kind == RG_N_MATH ? strcmp(a->math->name, b->math->name) != 0 : a->func != b->func)
            return false;
        for (uint32_t i = 0; i < a->nargs; i++)
            if (!rg_node_equal(a->args[i], b->args[i]))
                return false;
        return true;
    }
    default:
        return rg_node_equal(a->a, b->a) && rg_node_equal(a->b, b->b) && rg_node_equal(a->c, b->c);
    }
}

void rg_node_walk(rg_node *n, void (*visit)(void *user, rg_node *n), void *user) {
    if (!n)
        return;
    visit(user, n);
    rg_node_walk(n->a, visit, user);
    rg_node_walk(n->b, visit, user);
    rg_node_walk(n->c, visit, user);
    if (n->kind == RG_N_CALL || n->kind == RG_N_MATH || n->kind == RG_N_REDUCE)
        for (uint32_t i = 0; i < n->nargs; i++)
            rg_node_walk(n->args[i], visit, user);
}
