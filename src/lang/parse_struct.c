/* Declaration specifiers, struct and enum types, declarators. */
#include "lang/check.h"
#include "lang/nearest.h"

#include <string.h>

bool rg_starts_type(rg_parser *p) {
    rg_code c = rg_peek(p);
    if (c >= RG_K_VOID && c <= RG_K_EXTENSION && c != RG_K_ALIGNOF && c != RG_K_GENERIC)
        return true;
    if (!rg_is_name(p))
        return false;
    const rg_sym *s = rg_find(p, rg_tok(p)->text);
    return s && s->kind == RG_SYM_TYPEDEF;
}

static void skip_parens(rg_parser *p) {
    rg_expect(p, RG_P_LPAREN, "here");
    for (uint32_t depth = 1; depth && !rg_at_end(p); p->pos++) {
        if (rg_peek(p) == RG_P_LPAREN)
            depth++;
        else if (rg_peek(p) == RG_P_RPAREN)
            depth--;
    }
}

/* Attributes that change how an object lies in memory, or what a type is. */
static bool changes_layout(const char *name) {
    static const char *const all[] = {"packed",
                                      "aligned",
                                      "vector_size",
                                      "mode",
                                      "ext_vector_type",
                                      "address_space",
                                      "scalar_storage_order",
                                      "transparent_union",
                                      NULL};
    while (*name == '_')
        name++;
    for (uint32_t i = 0; all[i]; i++)
        if (!strncmp(name, all[i], strlen(all[i])) &&
            name[strlen(all[i]) + strspn(name + strlen(all[i]), "_")] == '\0')
            return true;
    return false;
}

/* attribute = "__attribute__" "(" ... ")" : ignored, like any hint, unless it means something */
static void skip_attributes(rg_parser *p) {
    while (rg_accept(p, RG_K_ATTRIBUTE)) {
        uint32_t start = p->pos;
        skip_parens(p);
        for (uint32_t i = start; i < p->pos; i++)
            if (p->tok[i].kind == RG_TOK_IDENT && changes_layout(p->tok[i].text))
                rg_error(p->diags, p->tok[i].loc,
                         "remove it: types have the layout that C gives them",
                         "the attribute '%s' is not part of kernel C", p->tok[i].text);
    }
}

static void refuse(rg_parser *p, const char *hint) {
    const rg_token *t = rg_tok(p);
    rg_error(p->diags, t->loc, hint, "'%s' is not part of kernel C", t->text);
}

/* The storage class of keyword c. Parameters, fields and casts (allowed false) take register only.
 */
static uint32_t add_storage(rg_parser *p, rg_code c, uint32_t before, bool allowed) {
    const rg_token *t = rg_tok(p);
    if (!allowed && c != RG_K_REGISTER)
        rg_error(p->diags, t->loc, "remove it", "'%s' has no place here", t->text);
    else if (before & ~(uint32_t)RG_STORE_INLINE)
        rg_error(p->diags, t->loc, "keep one of them", "a declaration has one storage class");
    switch (c) {
    case RG_K_TYPEDEF:
        return RG_STORE_TYPEDEF;
    case RG_K_STATIC:
        return RG_STORE_STATIC;
    case RG_K_EXTERN:
        return RG_STORE_EXTERN;
    default:
        return RG_STORE_OTHER;
    }
}

/* specifiers = ("void" | "int" | ... | struct | enum | typedef-name | "const" | "static" | ...)+
 *
 * Counts each keyword in its own digit, so that any order of "unsigned long long int" is one
 * comparison. */
rg_ctype *rg_parse_specifiers(rg_parser *p, uint32_t *storage) {
    enum {
        VOID = 1,
        BOOL = 1 << 2,
        CHAR = 1 << 4,
        SHORT = 1 << 6,
        INT = 1 << 8,
        LONG = 1 << 10,
        FLOAT = 1 << 12,
        DOUBLE = 1 << 14,
        HALF = 1 << 16,
        OTHER = 1 << 18,
        SIGNED = 1 << 20,
        UNSIGNED = 1 << 22
    };
    uint32_t count = 0, store = 0;
    bool is_const = false;
    rg_ctype *t = NULL;
    rg_loc loc = rg_tok(p)->loc;
    while (rg_starts_type(p)) {
        rg_code c = rg_peek(p);
        if (c == RG_K_OTHER) { /* a typedef's name, unless a type came before */
            if (count)
                break;
            t = rg_find(p, rg_tok(p)->text)->type;
            count += OTHER;
            p->pos++;
            continue;
        }
        switch (c) {
        case RG_K_STRUCT:
        case RG_K_ENUM:
            t = c == RG_K_STRUCT ? rg_parse_struct(p) : rg_parse_enum(p);
            count += OTHER;
            continue;
        case RG_K_UNION:
            rg_syntax_error(p, rg_tok(p)->loc,
                            "use a struct; to reinterpret bits, convert by arithmetic",
                            "unions are not part of kernel C");
        case RG_K_VOID:
            count += VOID;
            break;
        case RG_K_BOOL:
            count += BOOL;
            break;
        case RG_K_CHAR:
            count += CHAR;
            break;
        case RG_K_SHORT:
            count += SHORT;
            break;
        case RG_K_INT:
            count += INT;
            break;
        case RG_K_LONG:
            count += LONG;
            break;
        case RG_K_FLOAT:
            count += FLOAT;
            break;
        case RG_K_DOUBLE:
            count += DOUBLE;
            break;
        case RG_K_HALF:
            count += HALF;
            break;
        case RG_K_SIGNED:
            count += SIGNED;
            break;
        case RG_K_UNSIGNED:
            count += UNSIGNED;
            break;
        case RG_K_CONST:
        case RG_K_CONST2:
            is_const = true;
            break;
        case RG_K_TYPEDEF:
        case RG_K_STATIC:
        case RG_K_EXTERN:
        case RG_K_REGISTER:
        case RG_K_AUTO:
            store |= add_storage(p, c, store, storage != NULL);
            break;
        case RG_K_INLINE:
        case RG_K_INLINE2:
        case RG_K_INLINE3:
        case RG_K_NORETURN:
            store |= RG_STORE_INLINE;
            break;
        case RG_K_RESTRICT:
        case RG_K_RESTRICT2:
        case RG_K_RESTRICT3:
            rg_error(p->diags, rg_tok(p)->loc,
                     "write it in the brackets, x[restrict n], or drop it",
                     "'restrict' qualifies pointers, not what they point to");
            break;
        case RG_K_EXTENSION:
            break;
        case RG_K_ATTRIBUTE:
            skip_attributes(p);
            continue;
        case RG_K_ALIGNAS:
            refuse(p, "remove it: types have the layout that C gives them");
            p->pos++;
            skip_parens(p);
            continue;
        case RG_K_VOLATILE:
        case RG_K_VOLATILE2:
            refuse(p, "remove it; what iterations share goes through '#pragma omp atomic'");
            break;
        case RG_K_ATOMIC:
            refuse(p, "use '#pragma omp atomic' before the access");
            p->pos++;
            if (rg_peek(p) == RG_P_LPAREN)
                skip_parens(p);
            continue;
        case RG_K_THREAD:
            refuse(p, "declare the variable inside the parallel loop: each iteration has its own");
            break;
        case RG_K_COMPLEX:
        case RG_K_IMAGINARY:
            refuse(p, "use a struct of two numbers and static functions for its arithmetic");
            break;
        case RG_K_STATIC_ASSERT:
            rg_syntax_error(p, rg_tok(p)->loc, NULL, "'_Static_assert' is not possible here");
        default: /* typeof */
            rg_syntax_error(p, rg_tok(p)->loc, "name the type", "'%s' is not part of kernel C",
                            rg_tok(p)->text);
        }
        p->pos++;
    }
    if (storage)
        *storage = store;
    rg_ckind k;
    switch (count) {
    case OTHER:
        return is_const ? rg_ctype_const(p->arena, t) : t;
    case VOID:
        k = RG_C_VOID;
        break;
    case BOOL:
        k = RG_C_BOOL;
        break;
    case CHAR:
    case SIGNED + CHAR:
        k = RG_C_CHAR;
        break;
    case UNSIGNED + CHAR:
        k = RG_C_UCHAR;
        break;
    case SHORT:
    case SHORT + INT:
    case SIGNED + SHORT:
    case SIGNED + SHORT + INT:
        k = RG_C_SHORT;
        break;
    case UNSIGNED + SHORT:
    case UNSIGNED + SHORT + INT:
        k = RG_C_USHORT;
        break;
    case INT:
    case SIGNED:
    case SIGNED + INT:
        k = RG_C_INT;
        break;
    case UNSIGNED:
    case UNSIGNED + INT:
        k = RG_C_UINT;
        break;
    case LONG:
    case LONG + INT:
    case LONG + LONG:
    case LONG + LONG + INT:
    case SIGNED + LONG:
    case SIGNED + LONG + INT:
    case SIGNED + LONG + LONG:
    case SIGNED + LONG + LONG + INT:
        k = RG_C_LONG;
        break;
    case UNSIGNED + LONG:
    case UNSIGNED + LONG + INT:
    case UNSIGNED + LONG + LONG:
    case UNSIGNED + LONG + LONG + INT:
        k = RG_C_ULONG;
        break;
    case HALF:
        k = RG_C_HALF;
        break;
    case FLOAT:
        k = RG_C_FLOAT;
        break;
    case DOUBLE:
        k = RG_C_DOUBLE;
        break;
    case LONG + DOUBLE:
        rg_error(p->diags, loc, "use double", "long double exists on no device");
        k = RG_C_ERROR;
        break;
    case 0:
        if (rg_is_name(p))
            rg_syntax_error(
                p, rg_tok(p)->loc,
                rg_hint_type(p, rg_tok(p)->text, "declare it with typedef or struct first"),
                "unknown type '%s'", rg_tok(p)->text);
        rg_syntax_error(p, loc, NULL, "expected a type before %s", rg_tok_text(p, rg_tok(p)));
    default:
        rg_error(p->diags, loc, NULL, "these type words do not go together");
        k = RG_C_ERROR;
        break;
    }
    t = rg_ctype_basic(k);
    return is_const ? rg_ctype_const(p->arena, t) : t;
}

enum { LARGEST_STRUCT = INT32_MAX, MOST_LEAVES = 4096 };

static void parse_fields(rg_parser *p, rg_cstruct *s) {
    while (rg_peek(p) != RG_P_RBRACE) {
        if (rg_at_end(p))
            rg_syntax_error(p, rg_tok(p)->loc, NULL, "expected '}' at the end of the struct");
        rg_ctype *base = rg_parse_specifiers(p, NULL);
        if (rg_peek(p) == RG_P_SEMI) {
            rg_syntax_error(p, rg_tok(p)->loc, "give it a name and use x.name.field",
                            "a struct's field needs a name");
        }
        do {
            rg_declarator d = {.type = base, .loc = rg_tok(p)->loc};
            if (rg_peek(p) != RG_P_COLON)
                d = rg_parse_declarator(p, base, false);
            if (rg_peek(p) == RG_P_COLON)
                rg_syntax_error(p, d.loc, "use a plain integer, with shifts and masks",
                                "bit-fields are not part of kernel C");
            rg_ctype *in = rg_ctype_innermost(d.type, NULL);
            if (in->kind == RG_C_PTR) {
                rg_error(p->diags, d.loc,
                         "keep the array a parameter of its own, or store an index",
                         "a pointer inside a struct cannot be followed");
                d.type = rg_ctype_basic(RG_C_ERROR);
            } else if (in->kind == RG_C_VOID || in->kind == RG_C_FUNC ||
                       (in->kind == RG_C_STRUCT && !in->st->complete)) {
                rg_error(p->diags, d.loc, NULL, "field '%s' has incomplete type '%s'", d.name,
                         rg_ctype_name(p->arena, d.type));
                d.type = rg_ctype_basic(RG_C_ERROR);
            } else if (d.type->kind == RG_C_ARRAY && rg_ctype_size(d.type) < 0) {
                rg_error(p->diags, d.loc, "give it a constant length, or use an array parameter",
                         "the length of an array inside a struct must be constant");
                d.type = rg_ctype_basic(RG_C_ERROR);
            } else if (rg_ctype_size(d.type) > LARGEST_STRUCT) {
                rg_error(p->diags, d.loc, "make it an array parameter of its own",
                         "field '%s' is larger than 2 GiB", d.name);
                d.type = rg_ctype_basic(RG_C_ERROR);
            }
            for (uint32_t i = 0; i < s->fields.n; i++)
                if (!strcmp(s->fields.at[i].name, d.name))
                    rg_error(p->diags, d.loc, NULL, "the struct already has a field '%s'", d.name);
            RG_PUSH(p->arena, &s->fields, (rg_cfield){d.name, d.type, s->nleaves, d.loc});
            s->nleaves += rg_ctype_leaves(d.type);
            if (s->nleaves > MOST_LEAVES) /* structs of structs double with each line */
                rg_fatal(p->diags, d.loc, "use arrays inside the struct, or several structs",
                         "a struct of more than %d fields, those of its structs counted",
                         MOST_LEAVES);
        } while (rg_accept(p, RG_P_COMMA));
        rg_expect(p, RG_P_SEMI, "after the field");
    }
    p->pos++;
}

/* struct = "struct" identifier? ("{" (specifiers declarator ("," declarator)* ";")* "}")? */
rg_ctype *rg_parse_struct(rg_parser *p) {
    p->pos++;
    skip_attributes(p);
    const rg_token *tag = rg_is_name(p) ? rg_next(p) : NULL;
    rg_loc loc = tag ? tag->loc : rg_tok(p)->loc;
    rg_sym *s = tag ? rg_find_tag(p, tag->text) : NULL;
    bool body = rg_peek(p) == RG_P_LBRACE;
    if (!tag && !body)
        rg_syntax_error(p, loc, NULL, "expected a struct's name or '{'");
    if (s && s->type->kind != RG_C_STRUCT) {
        rg_error(p->diags, loc, NULL, "'%s' is the name of an enum", tag->text);
        s = NULL;
    }
    rg_ctype *t;
    if (s && !(body && s->depth != p->depth)) {
        t = s->type;
        if (body && t->st->complete) {
            rg_error(p->diags, loc, NULL, "struct '%s' is defined twice", tag->text);
            rg_note(p->diags, s->loc, "the other definition is here");
        }
    } else {
        t = rg_ctype_new(p->arena, RG_C_STRUCT);
        t->st = RG_NEW(p->arena, rg_cstruct);
        t->st->tag = tag ? tag->text : NULL;
        t->st->loc = loc;
        if (tag)
            rg_declare_tag(p, tag->text, loc)->type = t;
    }
    if (body) {
        p->pos++;
        rg_deeper(p, loc);
        if (!t->st->complete)
            parse_fields(p, t->st);
        else
            parse_fields(p, RG_NEW(p->arena, rg_cstruct));
        if (!t->st->fields.n)
            rg_error(p->diags, loc, "give it a field", "a struct without fields is not C");
        t->st->complete = true;
        if (rg_ctype_size(t) > LARGEST_STRUCT) {
            rg_error(p->diags, loc, "make its large arrays parameters of their own",
                     "the struct is larger than 2 GiB");
            t->st->fields.n = 0;
            t->st->nleaves = 0;
        }
        p->nesting--;
        skip_attributes(p);
    }
    return t;
}

/* enum = "enum" identifier? ("{" identifier ("=" conditional)? ("," ...)* ","? "}")?
 *
 * As gcc does: an enum is unsigned int unless some constant is negative; constants are int. */
rg_ctype *rg_parse_enum(rg_parser *p) {
    p->pos++;
    const rg_token *tag = rg_is_name(p) ? rg_next(p) : NULL;
    rg_loc loc = tag ? tag->loc : rg_tok(p)->loc;
    if (!rg_accept(p, RG_P_LBRACE)) {
        if (!tag)
            rg_syntax_error(p, loc, NULL, "expected an enum's name or '{'");
        rg_sym *s = rg_find_tag(p, tag->text);
        if (!s || s->type->kind == RG_C_STRUCT)
            rg_syntax_error(p, loc, NULL, "unknown enum '%s'", tag->text);
        return s->type;
    }
    int64_t value = 0;
    bool negative = false;
    while (rg_peek(p) != RG_P_RBRACE) {
        if (!rg_is_name(p))
            rg_syntax_error(p, rg_tok(p)->loc, NULL, "expected an enum constant's name before %s",
                            rg_tok_text(p, rg_tok(p)));
        const rg_token *name = rg_next(p);
        if (rg_accept(p, RG_P_ASSIGN)) {
            rg_node *n = rg_parse_conditional(p);
            rg_const_int(p, n, &value);
        }
        if (value != (int64_t)(int32_t)value)
            rg_error(p->diags, name->loc, NULL, "'%s' does not fit in int", name->text);
        negative |= value < 0;
        rg_sym *s = rg_declare(p, RG_SYM_ENUM, name->text, name->loc);
        s->type = rg_ctype_basic(RG_C_INT);
        s->value = value++;
        if (!rg_accept(p, RG_P_COMMA))
            break;
    }
    rg_expect(p, RG_P_RBRACE, "after the enum's constants");
    rg_ctype *t = rg_ctype_basic(negative ? RG_C_INT : RG_C_UINT);
    if (tag)
        rg_declare_tag(p, tag->text, loc)->type = t;
    return t;
}

static rg_ctype *type_suffix(rg_parser *p, rg_ctype *t, rg_declarator *d);

/* parameters = "(" ("void" | specifiers declarator ("," specifiers declarator)*)? ")" */
static rg_ctype *parse_parameters(rg_parser *p, rg_ctype *result, rg_declarator *d) {
    rg_ctype *t = rg_ctype_new(p->arena, RG_C_FUNC);
    t->base = result;
    d->params.n = 0;
    rg_deeper(p, rg_tok(p)->loc);
    if (rg_peek(p) == RG_K_VOID && rg_peek_at(p, 1) == RG_P_RPAREN)
        p->pos++;
    rg_enter_scope(p);
    bool outer = p->in_parameters;
    p->in_parameters = true;
    while (rg_peek(p) != RG_P_RPAREN) {
        if (rg_peek(p) == RG_P_ELLIPSIS)
            rg_syntax_error(p, rg_tok(p)->loc, "use an array and its length",
                            "functions with any number of arguments are not part of kernel C");
        rg_code after = rg_peek_at(p, 1);
        if (rg_is_name(p) && !rg_starts_type(p) && (after == RG_P_COMMA || after == RG_P_RPAREN))
            rg_fatal(p->diags, rg_tok(p)->loc, "write each parameter with its type: (int n, ...)",
                     "parameter '%s' has no type", rg_tok(p)->text);
        rg_ctype *base = rg_parse_specifiers(p, NULL);
        if (rg_peek(p) == RG_P_AND)
            rg_syntax_error(p, rg_tok(p)->loc, "pass an array of one element: float x[1]",
                            "references are C++, not C");
        rg_declarator x = rg_parse_declarator(p, base, true);
        rg_ctype *pt = x.type, *array = NULL;
        rg_ctype *in = rg_ctype_innermost(pt, NULL);
        if (in->kind == RG_C_FUNC || (in->kind == RG_C_PTR && in->base->kind == RG_C_FUNC)) {
            rg_error(p->diags, x.loc, "pass an enum and switch over it",
                     "function pointers are not supported");
            pt = rg_ctype_basic(RG_C_ERROR);
        } else if (pt->kind == RG_C_ARRAY) {
            array = pt;
            pt = rg_ctype_ptr(p->arena, pt->base);
        } else if (pt->kind == RG_C_VOID) {
            rg_error(p->diags, x.loc, NULL, "a parameter cannot be void");
            pt = rg_ctype_basic(RG_C_ERROR);
        }
        if (pt->kind == RG_C_PTR) {
            rg_ctype *to = rg_ctype_innermost(pt->base, NULL);
            if (to->kind == RG_C_PTR) {
                rg_error(p->diags, x.loc, "use an array of two axes: T x[n][m]",
                         "a pointer to pointers cannot be followed");
                pt = rg_ctype_basic(RG_C_ERROR);
            } else if (to->kind == RG_C_VOID) {
                rg_error(p->diags, x.loc, "give the array its element type",
                         "'void *' says nothing of what it points to");
                pt = rg_ctype_basic(RG_C_ERROR);
            }
        }
        rg_ctype *whole = rg_ctype_innermost(pt->kind == RG_C_PTR ? pt->base : pt, NULL);
        if (whole->kind == RG_C_STRUCT && !whole->st->complete) {
            rg_error(p->diags, x.loc, "define the struct above", "'%s' is incomplete",
                     rg_ctype_name(p->arena, whole));
            pt = rg_ctype_basic(RG_C_ERROR);
        }
        rg_var *v = rg_var_new(p, x.name ? x.name : "", pt, x.loc);
        v->array_type = array;
        v->is_param = true;
        if (x.name)
            rg_declare(p, RG_SYM_VAR, x.name, x.loc)->var = v;
        RG_PUSH(p->arena, &d->params, v);
        if (!rg_accept(p, RG_P_COMMA))
            break;
    }
    p->in_parameters = outer;
    p->nesting--;
    rg_expect(p, RG_P_RPAREN, "after the parameters");
    rg_leave_scope(p);
    return t;
}

/* type-suffix = "(" parameters | ("[" ("static" | "const" | "restrict")* assign? "]")* */
static rg_ctype *type_suffix(rg_parser *p, rg_ctype *t, rg_declarator *d) {
    if (rg_accept(p, RG_P_LPAREN))
        return parse_parameters(p, t, d);
    if (rg_peek(p) != RG_P_LBRACK)
        return t;
    rg_loc loc = rg_next(p)->loc;
    rg_deeper(p, loc);
    while (rg_peek(p) == RG_K_STATIC ||
           (rg_peek(p) >= RG_K_CONST && rg_peek(p) <= RG_K_RESTRICT3)) {
        if (!p->in_parameters)
            rg_error(p->diags, rg_tok(p)->loc, "remove it",
                     "'%s' has its place in the brackets of a parameter only", rg_tok(p)->text);
        p->pos++;
    }
    int64_t len = -1;
    rg_node *expr = NULL;
    const char *text = NULL;
    if (rg_peek(p) == RG_P_MUL && rg_peek_at(p, 1) == RG_P_RBRACK) {
        p->pos++; /* [*]: any length */
    } else if (rg_peek(p) != RG_P_RBRACK) {
        uint32_t from = p->pos;
        expr = rg_parse_assign(p);
        text = rg_tokens_text(p, from, p->pos);
        if (!rg_node_bad(expr) && !rg_ctype_is_int(expr->type)) {
            rg_error(p->diags, expr->loc, NULL, "an array's length must be an integer");
            expr = rg_node_error(p, expr->loc);
        }
        if (rg_const_int(NULL, expr, &len)) {
            if (len < 0)
                rg_error(p->diags, expr->loc, NULL, "an array's length cannot be negative");
            expr = NULL;
            len = len < 0 ? 1 : len;
        }
    }
    rg_expect(p, RG_P_RBRACK, "after the length");
    t = type_suffix(p, t, d);
    p->nesting--;
    if (t->kind == RG_C_FUNC) {
        rg_error(p->diags, loc, NULL, "functions cannot be elements of an array");
        t = rg_ctype_basic(RG_C_ERROR);
    }
    if (t->kind == RG_C_ARRAY && t->len < 0 && !t->len_expr && !t->len_text) {
        rg_error(p->diags, loc, "give the inner axes their lengths: T x[n][m]",
                 "only the first length of an array may be left out");
        t = rg_ctype_basic(RG_C_ERROR);
    }
    if (t->kind == RG_C_VOID) {
        rg_error(p->diags, loc, NULL, "an array needs an element type");
        t = rg_ctype_basic(RG_C_ERROR);
    }
    if (t->kind == RG_C_ERROR)
        return t;
    rg_ctype *a = rg_ctype_array(p->arena, t, len);
    if (len > 0 && rg_ctype_size(t) > 0 && rg_ctype_size(a) < 0) {
        rg_error(p->diags, loc, "give it fewer elements", "the array is larger than any memory");
        return rg_ctype_basic(RG_C_ERROR);
    }
    a->len_expr = expr;
    a->len_text = text;
    return a;
}

/* declarator = ("*" ("const" | "restrict")*)* ("(" declarator ")" | identifier)? type-suffix */
rg_declarator rg_parse_declarator(rg_parser *p, rg_ctype *t, bool abstract_ok) {
    while (rg_accept(p, RG_P_MUL)) {
        t = rg_ctype_ptr(p->arena, t);
        for (;; p->pos++) {
            rg_code c = rg_peek(p);
            if (c == RG_K_CONST || c == RG_K_CONST2)
                t->is_const = true;
            else if (c == RG_K_VOLATILE || c == RG_K_VOLATILE2)
                refuse(p, "remove it; what iterations share goes through '#pragma omp atomic'");
            else if (c < RG_K_RESTRICT || c > RG_K_RESTRICT3)
                break;
        }
    }
    skip_attributes(p);
    rg_declarator d = {.loc = rg_tok(p)->loc};
    bool nested = rg_peek(p) == RG_P_LPAREN;
    if (nested && abstract_ok) { /* "(" of parameters, not of a declarator: int (int) */
        rg_code c = rg_peek_at(p, 1);
        nested = c == RG_P_MUL || c == RG_P_LPAREN || c == RG_P_LBRACK ||
                 (c == RG_K_OTHER && p->tok[p->pos + 1].kind == RG_TOK_IDENT);
        if (nested && c == RG_K_OTHER) {
            const rg_sym *s = rg_find(p, p->tok[p->pos + 1].text);
            nested = !(s && s->kind == RG_SYM_TYPEDEF);
        }
    }
    if (nested) {
        /* what is inside applies to what follows: read it twice, the second time with the type */
        uint32_t start = ++p->pos, depth = 1;
        for (; depth && !rg_at_end(p); p->pos++) {
            if (rg_peek(p) == RG_P_LPAREN)
                depth++;
            else if (rg_peek(p) == RG_P_RPAREN)
                depth--;
        }
        rg_declarator outer = {0};
        t = type_suffix(p, t, &outer);
        uint32_t end = p->pos;
        p->pos = start;
        rg_deeper(p, d.loc);
        d = rg_parse_declarator(p, t, abstract_ok);
        p->nesting--;
        rg_expect(p, RG_P_RPAREN, "after the declarator");
        p->pos = end;
        if (d.type->kind == RG_C_FUNC && !d.params.n)
            d.params.at = outer.params.at, d.params.n = outer.params.n,
            d.params.cap = outer.params.cap;
        return d;
    }
    if (rg_is_name(p)) {
        d.name = rg_next(p)->text;
    } else if (!abstract_ok) {
        rg_syntax_error(p, d.loc, NULL, "expected a name before %s", rg_tok_text(p, rg_tok(p)));
    }
    d.type = type_suffix(p, t, &d);
    skip_attributes(p);
    return d;
}

/* type-name = specifiers abstract-declarator */
rg_ctype *rg_parse_type_name(rg_parser *p) {
    rg_loc loc = rg_tok(p)->loc;
    rg_ctype *base = rg_parse_specifiers(p, NULL);
    rg_declarator d = rg_parse_declarator(p, base, true);
    if (d.name)
        rg_syntax_error(p, d.loc, NULL, "a name cannot be declared here");
    if (d.type->kind == RG_C_STRUCT && !d.type->st->complete) {
        rg_error(p->diags, loc, "define the struct above", "'%s' is incomplete",
                 rg_ctype_name(p->arena, d.type));
        return rg_ctype_basic(RG_C_ERROR);
    }
    return d.type;
}
