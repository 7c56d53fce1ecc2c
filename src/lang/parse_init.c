/* Initialisers: from braces and designators to a list of stores of scalars and structs.
 *
 * First a tree is built with a node for each subobject that gets a value; then it is flattened to
 * (lvalue, value) pairs in the order of the text, later ones overriding earlier ones as C says. */
#include "lang/check.h"

#include <string.h>

typedef struct ini {
    rg_ctype *type;
    rg_node *value;
    struct ini **kids; /* [n] */
    uint32_t n;
} ini;

static ini *ini_new(rg_parser *p, rg_ctype *t) {
    ini *x = RG_NEW(p->arena, ini);
    x->type = t;
    return x;
}

static uint32_t kid_count(const rg_ctype *t) {
    if (t->kind == RG_C_STRUCT)
        return t->st->fields.n;
    return t->kind == RG_C_ARRAY && t->len >= 0 ? (uint32_t)t->len : UINT32_MAX;
}

static ini *kid(rg_parser *p, ini *x, uint32_t i) {
    if (i >= x->n) {
        uint32_t n = x->n ? x->n : 4;
        while (n <= i)
            n *= 2;
        x->kids = rg_grow(p->arena, x->kids, x->n * sizeof *x->kids, n * sizeof *x->kids);
        x->n = n;
    }
    if (!x->kids[i])
        x->kids[i] = ini_new(p, x->type->kind == RG_C_STRUCT ? x->type->st->fields.at[i].type
                                                             : x->type->base);
    return x->kids[i];
}

static bool is_aggregate(const rg_ctype *t) {
    return t->kind == RG_C_STRUCT || t->kind == RG_C_ARRAY;
}

static void parse_ini(rg_parser *p, ini *x);
static void parse_list(rg_parser *p, ini *x, bool braces, uint32_t from, rg_node *pending);

/* Takes one expression for x, which may be its first scalar deep inside. */
static void take_value(rg_parser *p, ini *x, rg_node *value) {
    if (!value)
        value = rg_parse_assign(p);
    if (x->type->kind == RG_C_ARRAY ||
        (x->type->kind == RG_C_STRUCT &&
         !(value->type->kind == RG_C_STRUCT && rg_ctype_same(value->type, x->type)) &&
         !rg_node_bad(value))) {
        parse_list(p, x, false, 0, value);
        return;
    }
    x->kids = NULL;
    x->n = 0;
    x->value = rg_check_convert(p, value, x->type, "initialise");
}

/* designator = ("[" conditional "]" | "." identifier)+ "=" ; returns the subobject of x that it
 * names, and the index of x's own element in *at. */
static ini *parse_designator(rg_parser *p, ini *x, uint32_t *at) {
    ini *y = x;
    for (bool first = true;; first = false) {
        uint32_t i = 0;
        rg_loc loc = rg_tok(p)->loc;
        if (rg_accept(p, RG_P_LBRACK)) {
            int64_t k = 0;
            rg_node *n = rg_parse_conditional(p);
            rg_const_int(p, n, &k);
            rg_expect(p, RG_P_RBRACK, "after the index");
            if (y->type->kind != RG_C_ARRAY)
                rg_syntax_error(p, loc, NULL, "'[%lld]' needs an array", (long long)k);
            if (k < 0 || k > 1 << 24 || (y->type->len >= 0 && k >= y->type->len))
                rg_syntax_error(p, loc, NULL, "index %lld is outside the array", (long long)k);
            i = (uint32_t)k;
        } else if (rg_accept(p, RG_P_DOT)) {
            const rg_token *f = rg_next(p);
            if (y->type->kind != RG_C_STRUCT)
                rg_syntax_error(p, loc, NULL, "'.%s' needs a struct", f->text);
            const rg_cstruct *s = y->type->st;
            for (i = 0; i < s->fields.n && strcmp(s->fields.at[i].name, f->text) != 0; i++) {
            }
            if (i == s->fields.n)
                rg_syntax_error(p, f->loc, NULL, "'%s' has no field '%s'",
                                rg_ctype_name(p->arena, y->type), f->text);
        } else {
            rg_expect(p, RG_P_ASSIGN, "after the designator");
            return y;
        }
        if (first)
            *at = i;
        y = kid(p, y, i);
    }
}

/* list = item ("," item)* ","? ; item = designator? initializer
 * Without braces it stops when x is full, leaving the comma that follows. */
static void parse_list(rg_parser *p, ini *x, bool braces, uint32_t from, rg_node *pending) {
    uint32_t count = kid_count(x->type);
    for (uint32_t i = from;; i++) {
        if (braces && rg_peek(p) == RG_P_RBRACE && !pending)
            return;
        ini *y = NULL;
        if (!pending && (rg_peek(p) == RG_P_LBRACK || rg_peek(p) == RG_P_DOT)) {
            if (!braces)
                return; /* the designator belongs to the enclosing braces */
            y = parse_designator(p, x, &i);
        }
        if (!y) {
            if (i >= count) {
                if (!braces)
                    return;
                rg_syntax_error(p, rg_tok(p)->loc, NULL, "too many initialisers: '%s' has %u",
                                rg_ctype_name(p->arena, x->type), count);
            }
            y = kid(p, x, i);
        }
        if (pending)
            take_value(p, y, pending);
        else
            parse_ini(p, y);
        pending = NULL;
        if (!braces) {
            if (i + 1 >= count || rg_peek(p) != RG_P_COMMA || rg_peek_at(p, 1) == RG_P_RBRACE ||
                rg_peek_at(p, 1) == RG_P_DOT || rg_peek_at(p, 1) == RG_P_LBRACK)
                return;
            p->pos++;
        } else if (!rg_accept(p, RG_P_COMMA)) {
            return;
        }
    }
}

/* initializer = "{" list? "}" | assign */
static void parse_ini(rg_parser *p, ini *x) {
    if (rg_peek(p) != RG_P_LBRACE) {
        take_value(p, x, NULL);
        return;
    }
    rg_loc loc = rg_next(p)->loc;
    rg_deeper(p, loc);
    if (!is_aggregate(x->type)) { /* int i = {3}; */
        parse_ini(p, x);
        rg_accept(p, RG_P_COMMA);
    } else {
        x->value = NULL;
        if (rg_peek(p) != RG_P_RBRACE)
            parse_list(p, x, true, 0, NULL);
    }
    rg_expect(p, RG_P_RBRACE, "after the initialiser");
    p->nesting--;
}

/* Pairs for x, whose lvalue is target; clears *full when some scalar of it gets no value. */
static void flatten(rg_parser *p, rg_var *v, ini *x, rg_node *target, bool *full) {
    if (x->value) {
        RG_PUSH(p->arena, &v->init, (rg_init){target, x->value});
        /* a struct given as a whole may still have fields overridden after it */
    }
    if (!is_aggregate(x->type)) {
        *full &= x->value != NULL;
        return;
    }
    uint32_t count = kid_count(x->type);
    if (!x->value && count == UINT32_MAX)
        *full = false;
    for (uint32_t i = 0; i < x->n && i < count; i++) {
        ini *y = x->kids[i];
        if (!y) {
            *full &= x->value != NULL;
            continue;
        }
        rg_node *t;
        if (x->type->kind == RG_C_STRUCT) {
            t = rg_node_new(p, RG_N_MEMBER, target->loc, y->type);
            t->field = i;
        } else {
            t = rg_node_new(p, RG_N_INDEX, target->loc, y->type);
            t->b = rg_node_int(p, target->loc, rg_ctype_basic(RG_C_INT), i);
        }
        t->a = target;
        flatten(p, v, y, t, full);
    }
    if (!x->value && x->n < count)
        *full = false;
}

void rg_parse_initializer(rg_parser *p, rg_var *v) {
    rg_loc loc = rg_tok(p)->loc;
    ini *x = ini_new(p, v->type);
    bool braces = rg_peek(p) == RG_P_LBRACE;
    v->has_init = true;
    if (v->type->kind == RG_C_ERROR) {
        /* read it for its own errors: anything fits */
        if (!braces) {
            rg_parse_assign(p);
            return;
        }
        uint32_t depth = 0;
        do {
            if (rg_peek(p) == RG_P_LBRACE)
                depth++;
            else if (rg_peek(p) == RG_P_RBRACE)
                depth--;
            p->pos++;
        } while (depth && !rg_at_end(p));
        return;
    }
    if (v->type->kind == RG_C_ARRAY) {
        if (!braces)
            rg_syntax_error(p, loc, "write { ... }, or copy the elements in a loop",
                            "an array is initialised with a list in braces");
        if (v->type->len_expr)
            rg_syntax_error(p, loc, "give it a constant length, or fill it in a loop",
                            "an array whose length is not constant cannot have an initialiser");
    }
    parse_ini(p, x);
    if (v->type->kind == RG_C_ARRAY && v->type->len < 0) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < x->n; i++)
            if (x->kids[i])
                n = i + 1;
        if (!n)
            rg_syntax_error(p, loc, NULL, "the array would have no elements");
        v->type = rg_ctype_array(p->arena, v->type->base, n);
        x->type = v->type;
    }
    rg_node *target = rg_node_new(p, RG_N_VAR, loc, v->type);
    target->var = v;
    bool full = true;
    flatten(p, v, x, target, &full);
    v->zero_rest = !full;
}
