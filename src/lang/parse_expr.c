/* Expressions, by recursive descent; binary operators by precedence climbing. */
#include "lang/check.h"
#include "lang/nearest.h"

#include <math.h>
#include <string.h>

/* expr = assign ("," assign)* */
rg_node *rg_parse_expr(rg_parser *p) {
    rg_node *n = rg_parse_assign(p);
    for (uint32_t terms = 0; rg_peek(p) == RG_P_COMMA; terms++) {
        if (terms == 4000)
            rg_syntax_error(p, rg_tok(p)->loc, "write several statements",
                            "an expression of more than 4000 terms");
        rg_loc loc = rg_next(p)->loc;
        n = rg_check_comma(p, loc, n, rg_parse_assign(p));
    }
    return n;
}

static rg_op assign_op(rg_code c) {
    switch (c) {
    case RG_P_ADD_ASSIGN:
        return RG_ADD;
    case RG_P_SUB_ASSIGN:
        return RG_SUB;
    case RG_P_MUL_ASSIGN:
        return RG_MUL;
    case RG_P_DIV_ASSIGN:
        return RG_DIV;
    case RG_P_REM_ASSIGN:
        return RG_REM;
    case RG_P_AND_ASSIGN:
        return RG_AND;
    case RG_P_OR_ASSIGN:
        return RG_OR;
    case RG_P_XOR_ASSIGN:
        return RG_XOR;
    case RG_P_SHL_ASSIGN:
        return RG_SHL;
    case RG_P_SHR_ASSIGN:
        return RG_SHR;
    default:
        return RG_OP_NONE;
    }
}

/* assign = conditional (("=" | "+=" | "-=" | ...) assign)? */
rg_node *rg_parse_assign(rg_parser *p) {
    rg_deeper(p, rg_tok(p)->loc);
    rg_node *n = rg_parse_conditional(p);
    rg_code c = rg_peek(p);
    if (c == RG_P_ASSIGN) {
        rg_loc loc = rg_next(p)->loc;
        n = rg_check_assign(p, loc, n, rg_parse_assign(p));
    } else if (c >= RG_P_ADD_ASSIGN && c <= RG_P_SHR_ASSIGN) {
        rg_loc loc = rg_next(p)->loc;
        n = rg_check_opassign(p, loc, assign_op(c), n, rg_parse_assign(p));
    }
    p->nesting--;
    return n;
}

typedef struct binop {
    uint8_t prec; /* 0: not a binary operator */
    uint8_t op;   /* rg_op */
} binop;

static binop binary_op(rg_code c) {
    switch (c) {
    case RG_P_LOR:
        return (binop){1, 0};
    case RG_P_LAND:
        return (binop){2, 0};
    case RG_P_OR:
        return (binop){3, RG_OR};
    case RG_P_XOR:
        return (binop){4, RG_XOR};
    case RG_P_AND:
        return (binop){5, RG_AND};
    case RG_P_EQ:
        return (binop){6, RG_EQ};
    case RG_P_NE:
        return (binop){6, RG_NE};
    case RG_P_LT:
        return (binop){7, RG_LT};
    case RG_P_LE:
        return (binop){7, RG_LE};
    case RG_P_GT:
        return (binop){7, RG_GT};
    case RG_P_GE:
        return (binop){7, RG_GE};
    case RG_P_SHL:
        return (binop){8, RG_SHL};
    case RG_P_SHR:
        return (binop){8, RG_SHR};
    case RG_P_ADD:
        return (binop){9, RG_ADD};
    case RG_P_SUB:
        return (binop){9, RG_SUB};
    case RG_P_MUL:
        return (binop){10, RG_MUL};
    case RG_P_DIV:
        return (binop){10, RG_DIV};
    case RG_P_REM:
        return (binop){10, RG_REM};
    default:
        return (binop){0, 0};
    }
}

static rg_node *parse_cast(rg_parser *p);

/* logor = logand ("||" logand)*        ...
 * relational = shift (("<" | "<=" | ">" | ">=") shift)*   ...
 * mul = cast (("*" | "/" | "%") cast)* : ten levels, all left-associative */
static rg_node *parse_binary(rg_parser *p, unsigned least) {
    rg_node *n = parse_cast(p);
    for (uint32_t terms = 0;; terms++) {
        rg_code c = rg_peek(p);
        if (terms == 4000)
            rg_syntax_error(p, rg_tok(p)->loc, "sum in a loop, or in several statements",
                            "an expression of more than 4000 terms");
        binop o = binary_op(c);
        if (o.prec < least || !o.prec)
            return n;
        rg_loc loc = rg_next(p)->loc;
        rg_node *rhs = parse_binary(p, o.prec + 1u);
        if (o.prec <= 2)
            n = rg_check_logical(p, loc, o.prec == 1 ? RG_N_LOR : RG_N_LAND, n, rhs);
        else if (o.prec == 6 || o.prec == 7)
            n = rg_check_compare(p, loc, (rg_op)o.op, n, rhs);
        else
            n = rg_check_binary(p, loc, (rg_op)o.op, n, rhs);
    }
}

/* conditional = logor ("?" expr ":" conditional)? */
rg_node *rg_parse_conditional(rg_parser *p) {
    rg_deeper(p, rg_tok(p)->loc);
    rg_node *n = parse_binary(p, 1);
    if (rg_peek(p) == RG_P_QUESTION) {
        rg_loc loc = rg_next(p)->loc;
        rg_node *a = rg_parse_expr(p);
        rg_expect(p, RG_P_COLON, "of '?:'");
        n = rg_check_cond(p, loc, n, a, rg_parse_conditional(p));
    }
    p->nesting--;
    return n;
}

static bool type_in_parens(rg_parser *p) {
    if (rg_peek(p) != RG_P_LPAREN)
        return false;
    p->pos++;
    bool is = rg_starts_type(p);
    p->pos--;
    return is;
}

static rg_node *parse_unary(rg_parser *p);
static rg_node *parse_postfix_of(rg_parser *p, rg_node *n);

/* cast = "(" type-name ")" cast | "(" type-name ")" "{" initializer "}" | unary */
static rg_node *parse_cast(rg_parser *p) {
    if (!type_in_parens(p))
        return parse_unary(p);
    rg_loc loc = rg_next(p)->loc;
    rg_deeper(p, loc);
    rg_ctype *t = rg_parse_type_name(p);
    rg_expect(p, RG_P_RPAREN, "after the type");
    rg_node *n;
    if (rg_peek(p) == RG_P_LBRACE) {
        rg_var *v = rg_var_new(p, "(literal)", t, loc);
        rg_parse_initializer(p, v);
        n = rg_node_new(p, RG_N_LITERAL, loc, v->type);
        n->var = v;
        if (!p->func)
            rg_error(p->diags, loc, NULL, "a compound literal is only possible inside a function");
        n = parse_postfix_of(p, n);
    } else {
        n = rg_check_cast(p, loc, t, parse_cast(p));
    }
    p->nesting--;
    return n;
}

static rg_node *type_size(rg_parser *p, rg_loc loc, const rg_ctype *t) {
    if (t->kind == RG_C_ERROR)
        return rg_node_error(p, loc);
    int64_t n = rg_ctype_size(t);
    if (n < 0) {
        rg_error(p->diags, loc, "write the length that is meant",
                 "sizeof of '%s' is not a constant", rg_ctype_name(p->arena, t));
        return rg_node_error(p, loc);
    }
    return rg_node_int(p, loc, rg_ctype_basic(RG_C_ULONG), n);
}

/* unary = ("+" | "-" | "*" | "&" | "!" | "~") cast | ("++" | "--") unary
 *       | "sizeof" "(" type-name ")" | "sizeof" unary | "_Alignof" ... | postfix */
static rg_node *parse_unary(rg_parser *p) {
    const rg_token *t = rg_tok(p);
    rg_loc loc = t->loc;
    rg_code c = rg_peek(p);
    rg_node *n;
    rg_deeper(p, loc);
    switch (c) {
    case RG_P_ADD:
        p->pos++;
        n = parse_cast(p);
        if (!rg_node_bad(n) && !rg_ctype_is_arith(n->type)) {
            rg_error(p->diags, loc, NULL, "'+' cannot be applied to '%s'",
                     rg_ctype_name(p->arena, n->type));
            n = rg_node_error(p, loc);
        } else if (!rg_node_bad(n)) {
            /* a value from here on: promoted, and no longer an lvalue */
            n = rg_check_cast(p, loc, rg_ctype_promote(n->type), n);
        }
        break;
    case RG_P_SUB:
        p->pos++;
        n = rg_check_unary(p, loc, RG_N_NEG, parse_cast(p));
        break;
    case RG_P_MUL:
        p->pos++;
        n = rg_check_deref(p, loc, parse_cast(p));
        break;
    case RG_P_AND:
        p->pos++;
        n = rg_check_addr(p, loc, parse_cast(p));
        break;
    case RG_P_NOT:
        p->pos++;
        n = rg_check_unary(p, loc, RG_N_NOT, parse_cast(p));
        break;
    case RG_P_BITNOT:
        p->pos++;
        n = rg_check_unary(p, loc, RG_N_BITNOT, parse_cast(p));
        break;
    case RG_P_INC:
    case RG_P_DEC:
        p->pos++;
        n = rg_check_incdec(p, loc, c == RG_P_INC ? RG_ADD : RG_SUB, false, parse_unary(p));
        break;
    case RG_K_SIZEOF: {
        p->pos++;
        if (type_in_parens(p)) {
            p->pos++;
            rg_ctype *of = rg_parse_type_name(p);
            rg_expect(p, RG_P_RPAREN, "after the type");
            n = type_size(p, loc, of);
        } else {
            /* the operand is not evaluated: what it notes is taken back */
            rg_mark before = rg_here(p);
            rg_node *of = parse_unary(p);
            p->unit->refs.n = before.refs;
            rg_var *base = rg_node_base(of);
            bool param = of->kind == RG_N_VAR && base && base->array_type;
            if (param)
                rg_warning(p->diags, loc, "use the extent that the parameter was declared with",
                           "sizeof of the array parameter '%s' is the size of a pointer",
                           base->name);
            n = type_size(p, loc, of->type);
        }
        break;
    }
    case RG_K_ALIGNOF:
    case RG_K_GENERIC:
        rg_syntax_error(p, loc,
                        c == RG_K_GENERIC ? "name the function for the type: sinf or sin" : NULL,
                        "'%s' is not part of kernel C", t->text);
    default:
        n = parse_postfix_of(p, NULL);
        break;
    }
    p->nesting--;
    return n;
}

static rg_node **parse_arguments(rg_parser *p, uint32_t *count) {
    RG_VEC(rg_node *) args = {0};
    if (rg_peek(p) != RG_P_RPAREN)
        do {
            rg_node *n = rg_parse_assign(p);
            RG_PUSH(p->arena, &args, n);
        } while (rg_accept(p, RG_P_COMMA));
    rg_expect(p, RG_P_RPAREN, "after the arguments");
    *count = args.n;
    return args.at;
}

/* Was the header of library function m included? A C compiler would take the function for one that
 * returns int, or refuse the file. */
static bool is_declared(const rg_parser *p, const char *name, const rg_math *m) {
    if (m->kind == RG_MATH_STOP || !strncmp(name, "__", 2))
        return true;
    return m->kind == RG_MATH_INTABS ? p->stdlib : p->math;
}

/* call = identifier "(" (assign ("," assign)*)? ")" */
static rg_node *parse_call(rg_parser *p, const rg_token *name) {
    rg_loc loc = name->loc;
    const rg_sym *s = rg_find(p, name->text);
    const char *what, *hint = s ? NULL : rg_library_refusal(name->text, &what);
    p->pos++; /* ( */
    if (hint) {
        rg_error(p->diags, loc, hint, "'%s' cannot be called in a kernel: it %s", name->text, what);
        for (uint32_t depth = 1; depth && !rg_at_end(p); p->pos++) {
            if (rg_peek(p) == RG_P_LPAREN)
                depth++;
            else if (rg_peek(p) == RG_P_RPAREN)
                depth--;
        }
        return rg_node_error(p, loc);
    }
    uint32_t n;
    rg_node **args = parse_arguments(p, &n);
    if (s && s->kind == RG_SYM_VAR) {
        rg_error(p->diags, loc, "call the function by its name, under an if or switch",
                 "'%s' is not a function; calls through pointers are not supported", name->text);
        return rg_node_error(p, loc);
    }
    if (s && s->kind == RG_SYM_FUNC && (s->func->is_static || s->func->body || s->func->is_kernel))
        return rg_check_call(p, loc, s->func, args, n);
    const rg_math *m = rg_math_find(p->arena, name->text);
    if (m && p->tgmath && m->form == RG_FORM_DOUBLE) {
        rg_math *generic = RG_NEW(p->arena, rg_math);
        *generic = *m;
        generic->form = RG_FORM_GENERIC;
        m = generic;
    }
    if (m && !s && !is_declared(p, name->text, m)) {
        bool integers = m->kind == RG_MATH_INTABS;
        rg_error(p->diags, loc, integers ? "#include <stdlib.h>" : "#include <math.h>",
                 "'%s' is not declared", name->text);
    }
    if (m)
        return rg_check_math(p, loc, m, args, n);
    size_t len = strlen(name->text);
    if (len > 1 && name->text[len - 1] == 'l' &&
        rg_math_find(p->arena, rg_strndup(p->arena, name->text, len - 1))) {
        rg_error(p->diags, loc, "use the double function, without the l",
                 "'%s' computes in long double, which no device has", name->text);
        return rg_node_error(p, loc);
    }
    if (s && s->kind == RG_SYM_FUNC)
        return rg_check_call(p, loc, s->func, args, n); /* perhaps defined further down */
    rg_error(p->diags, loc,
             rg_hint_function(
                 p, name->text,
                 "define it above in this file, or in an included one, as a static function"),
             "'%s' is not a known function", name->text);
    return rg_node_error(p, loc);
}

/* primary = "(" expr ")" | identifier | call | constant */
static rg_node *parse_primary(rg_parser *p) {
    const rg_token *t = rg_tok(p);
    switch (t->kind) {
    case RG_TOK_INT: {
        p->pos++;
        rg_ckind k = t->is_long ? (t->is_unsigned ? RG_C_ULONG : RG_C_LONG)
                                : (t->is_unsigned ? RG_C_UINT : RG_C_INT);
        return rg_node_int(p, t->loc, rg_ctype_basic(k), (int64_t)t->i);
    }
    case RG_TOK_FLOAT: {
        p->pos++;
        rg_node *n = rg_node_new(p, RG_N_REAL, t->loc,
                                 rg_ctype_basic(t->is_float ? RG_C_FLOAT : RG_C_DOUBLE));
        n->f = t->is_float ? (double)(float)t->f : t->f;
        return n;
    }
    case RG_TOK_STRING:
        rg_syntax_error(p, t->loc, "pass numbers, or use an enum",
                        "strings are not part of kernel C");
    case RG_TOK_PRAGMA:
        rg_syntax_error(p, t->loc, "put the pragma before the whole statement",
                        "#pragma in the middle of an expression");
    default:
        break;
    }
    if (rg_peek(p) == RG_P_LPAREN) {
        p->pos++;
        rg_node *n = rg_parse_expr(p);
        rg_expect(p, RG_P_RPAREN, "after the expression");
        return n;
    }
    if (!rg_is_name(p))
        rg_syntax_error(p, t->loc, NULL, "expected an expression before %s", rg_tok_text(p, t));
    p->pos++;
    if (rg_peek(p) == RG_P_LPAREN)
        return parse_call(p, t);
    const rg_sym *s = rg_find(p, t->text);
    if (!s) {
        if (!strcmp(t->text, "__rg_inf") || !strcmp(t->text, "__rg_nan")) {
            rg_node *n = rg_node_new(p, RG_N_REAL, t->loc, rg_ctype_basic(RG_C_FLOAT));
            n->f = t->text[5] == 'i' ? (double)INFINITY : (double)NAN;
            return n;
        }
        rg_error(p->diags, t->loc,
                 p->in_parameters
                     ? "declare lengths before the arrays that have them: (int n, float x[n])"
                     : rg_hint_variable(p, t->text, "declare it as a parameter or a local"),
                 "'%s' is undeclared", t->text);
        return rg_node_error(p, t->loc);
    }
    switch (s->kind) {
    case RG_SYM_VAR:
        return rg_check_var(p, t->loc, s->var);
    case RG_SYM_ENUM:
        return rg_node_int(p, t->loc, s->type, s->value);
    case RG_SYM_FUNC:
        rg_error(p->diags, t->loc, "call the function by its name, under an if or switch",
                 "'%s' is a function; function pointers are not supported", t->text);
        return rg_node_error(p, t->loc);
    default:
        rg_syntax_error(p, t->loc, NULL, "'%s' is a type; expected an expression", t->text);
    }
}

/* postfix = primary ("[" expr "]" | "." identifier | "->" identifier | "++" | "--")* */
static rg_node *parse_postfix_of(rg_parser *p, rg_node *n) {
    if (!n)
        n = parse_primary(p);
    for (;;) {
        rg_loc loc = rg_tok(p)->loc;
        switch (rg_peek(p)) {
        case RG_P_LBRACK: {
            p->pos++;
            rg_node *i = rg_parse_expr(p);
            rg_expect(p, RG_P_RBRACK, "after the index");
            n = rg_check_index(p, loc, n, i);
            break;
        }
        case RG_P_DOT:
        case RG_P_ARROW: {
            bool arrow = rg_peek(p) == RG_P_ARROW;
            p->pos++;
            const rg_token *f = rg_tok(p);
            if (f->kind != RG_TOK_IDENT)
                rg_syntax_error(p, f->loc, NULL, "expected a field's name before %s",
                                rg_tok_text(p, f));
            p->pos++;
            if (arrow)
                n = rg_check_deref(p, loc, n);
            n = rg_check_member(p, loc, n, f->text, f->loc);
            break;
        }
        case RG_P_INC:
        case RG_P_DEC: {
            rg_op op = rg_peek(p) == RG_P_INC ? RG_ADD : RG_SUB;
            p->pos++;
            n = rg_check_incdec(p, loc, op, true, n);
            break;
        }
        case RG_P_LPAREN:
            rg_syntax_error(p, loc, "call the function by its name, under an if or switch",
                            "only a function's name can be called");
        default:
            return n;
        }
    }
}
