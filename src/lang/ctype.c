/* C types: construction, C's conversion rules, and the way to the IR's element types. */
#include "lang/ctype.h"

#include "base/text.h"

#include <string.h>

rg_ctype *rg_ctype_basic(rg_ckind k) {
    static rg_ctype basic[RG_C_DOUBLE + 1] = {
        {.kind = RG_C_ERROR}, {.kind = RG_C_VOID},   {.kind = RG_C_BOOL},   {.kind = RG_C_CHAR},
        {.kind = RG_C_UCHAR}, {.kind = RG_C_SHORT},  {.kind = RG_C_USHORT}, {.kind = RG_C_INT},
        {.kind = RG_C_UINT},  {.kind = RG_C_LONG},   {.kind = RG_C_ULONG},  {.kind = RG_C_HALF},
        {.kind = RG_C_FLOAT}, {.kind = RG_C_DOUBLE},
    };
    return &basic[k];
}

rg_ctype *rg_ctype_new(rg_arena *a, rg_ckind k) {
    rg_ctype *t = RG_NEW(a, rg_ctype);
    t->kind = k;
    t->len = -1;
    return t;
}

rg_ctype *rg_ctype_const(rg_arena *a, rg_ctype *t) {
    if (t->is_const || t->kind == RG_C_ERROR)
        return t;
    rg_ctype *c = RG_NEW(a, rg_ctype);
    *c = *t;
    if (t->kind == RG_C_ARRAY)
        c->base = rg_ctype_const(a, t->base); /* C11 6.7.3p9: it is the element that is const */
    c->is_const = true;
    return c;
}

rg_ctype *rg_ctype_ptr(rg_arena *a, rg_ctype *to) {
    rg_ctype *t = rg_ctype_new(a, RG_C_PTR);
    t->base = to;
    return t;
}

rg_ctype *rg_ctype_array(rg_arena *a, rg_ctype *elem, int64_t len) {
    rg_ctype *t = rg_ctype_new(a, RG_C_ARRAY);
    t->base = elem;
    t->len = len;
    t->is_const = elem->is_const;
    return t;
}

bool rg_ctype_is_unsigned(const rg_ctype *t) {
    switch (t->kind) {
    case RG_C_BOOL:
    case RG_C_UCHAR:
    case RG_C_USHORT:
    case RG_C_UINT:
    case RG_C_ULONG:
        return true;
    default:
        return false;
    }
}

bool rg_ctype_same(const rg_ctype *a, const rg_ctype *b) {
    if (a == b || a->kind == RG_C_ERROR || b->kind == RG_C_ERROR)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case RG_C_STRUCT:
        return a->st == b->st;
    case RG_C_PTR:
        return rg_ctype_same(a->base, b->base);
    case RG_C_ARRAY: /* lengths that are not constant are the launch's business */
        return (a->len < 0 || b->len < 0 || a->len == b->len) && rg_ctype_same(a->base, b->base);
    default:
        return true;
    }
}

rg_ctype *rg_ctype_promote(rg_ctype *t) {
    if (t->kind >= RG_C_BOOL && t->kind < RG_C_INT)
        return rg_ctype_basic(RG_C_INT);
    if (t->kind == RG_C_HALF)
        return rg_ctype_basic(RG_C_FLOAT);
    return t->kind <= RG_C_DOUBLE ? rg_ctype_basic(t->kind) : t;
}

rg_ctype *rg_ctype_common(rg_ctype *a, rg_ctype *b) {
    rg_ckind x = rg_ctype_promote(a)->kind, y = rg_ctype_promote(b)->kind;
    if (x == RG_C_ERROR || y == RG_C_ERROR)
        return rg_ctype_basic(RG_C_ERROR);
    /* INT < UINT < LONG < ULONG < FLOAT < DOUBLE: with 32-bit int and 64-bit long the larger kind
     * is the result of C11 6.3.1.8 in every case */
    return rg_ctype_basic(x > y ? x : y);
}

rg_mem rg_ctype_mem(const rg_ctype *t) {
    static const rg_mem mem[] = {
        [RG_C_BOOL] = RG_M_BOOL, [RG_C_CHAR] = RG_M_I8,    [RG_C_UCHAR] = RG_M_U8,
        [RG_C_SHORT] = RG_M_I16, [RG_C_USHORT] = RG_M_U16, [RG_C_INT] = RG_M_I32,
        [RG_C_UINT] = RG_M_U32,  [RG_C_LONG] = RG_M_I64,   [RG_C_ULONG] = RG_M_U64,
        [RG_C_HALF] = RG_M_F16,  [RG_C_FLOAT] = RG_M_F32,  [RG_C_DOUBLE] = RG_M_F64};
    return rg_ctype_is_arith(t) ? mem[t->kind] : RG_M_I32;
}

rg_type rg_ctype_value(const rg_ctype *t) {
    return rg_mem_value(rg_ctype_mem(t));
}

uint32_t rg_ctype_leaves(const rg_ctype *t) {
    while (t->kind == RG_C_ARRAY)
        t = t->base;
    return t->kind == RG_C_STRUCT ? t->st->nleaves : 1;
}

static int64_t align_of(const rg_ctype *t) {
    while (t->kind == RG_C_ARRAY)
        t = t->base;
    if (t->kind != RG_C_STRUCT)
        return t->kind == RG_C_PTR ? 8 : rg_mem_size(rg_ctype_mem(t));
    int64_t most = 1;
    for (uint32_t i = 0; i < t->st->fields.n; i++) {
        int64_t al = align_of(t->st->fields.at[i].type);
        most = al > most ? al : most;
    }
    return most;
}

int64_t rg_ctype_size(const rg_ctype *t) {
    switch (t->kind) {
    case RG_C_ERROR:
        return 1;
    case RG_C_VOID:
    case RG_C_FUNC:
        return -1;
    case RG_C_PTR:
        return 8;
    case RG_C_ARRAY: {
        int64_t n = rg_ctype_size(t->base), out;
        if (t->len < 0 || n < 0 || __builtin_mul_overflow(n, t->len, &out))
            return -1;
        return out;
    }
    case RG_C_STRUCT: {
        int64_t at = 0;
        for (uint32_t i = 0; i < t->st->fields.n; i++) {
            const rg_ctype *f = t->st->fields.at[i].type;
            int64_t al = align_of(f), n = rg_ctype_size(f);
            at = (at + al - 1) / al * al + n;
        }
        int64_t al = align_of(t);
        return (at + al - 1) / al * al;
    }
    default:
        return rg_mem_size(rg_ctype_mem(t));
    }
}

rg_ctype *rg_ctype_innermost(rg_ctype *t, uint32_t *axes) {
    uint32_t n = 0;
    while (t->kind == RG_C_ARRAY) {
        t = t->base;
        n++;
    }
    if (axes)
        *axes = n;
    return t;
}

static const char *unique_name(rg_module *m, const char *want) {
    const char *name = want ? want : "rg_struct";
    for (uint32_t k = want ? 0 : 1;; k++) {
        const char *try = k ? rg_format(m->arena, "%s_%u", name, k) : name;
        bool taken = false;
        for (uint32_t i = 0; i < m->structs.n && !taken; i++)
            taken = !strcmp(m->structs.at[i]->name, try);
        if (!taken)
            return try;
    }
}

rg_elem *rg_ctype_elem(rg_module *m, rg_ctype *t) {
    if (t->kind != RG_C_STRUCT)
        return rg_elem_scalar(rg_ctype_mem(t));
    rg_cstruct *s = t->st;
    if (s->elem)
        return s->elem;
    rg_elem *e = RG_NEW(m->arena, rg_elem);
    e->is_struct = true;
    e->nfields = s->fields.n;
    e->fields = RG_NEW_N(m->arena, rg_field, e->nfields + 1);
    for (uint32_t i = 0; i < e->nfields; i++) {
        rg_field *f = &e->fields[i];
        uint32_t axes;
        rg_ctype *in = rg_ctype_innermost(s->fields.at[i].type, &axes);
        f->name = s->fields.at[i].name;
        f->type = rg_ctype_elem(m, in);
        f->ndims = axes;
        f->dims = RG_NEW_N(m->arena, int64_t, axes + 1);
        rg_ctype *x = s->fields.at[i].type;
        for (uint32_t k = 0; k < axes; k++, x = x->base)
            f->dims[k] = x->len;
    }
    e->name = unique_name(m, s->name ? s->name : s->tag);
    e->index = m->structs.n;
    rg_elem_finish(m->arena, e);
    s->elem = e;
    RG_PUSH(m->arena, &m->structs, e);
    return e;
}

const char *rg_ctype_name(rg_arena *a, const rg_ctype *t) {
    static const char *const names[] = {"<error>",       "void",  "_Bool",          "char",
                                        "unsigned char", "short", "unsigned short", "int",
                                        "unsigned int",  "long",  "unsigned long",  "_Float16",
                                        "float",         "double"};
    const char *c = t->is_const ? "const " : "";
    switch (t->kind) {
    case RG_C_STRUCT:
        if (t->st->name && t->st->name != t->st->tag)
            return rg_format(a, "%s%s", c, t->st->name);
        return rg_format(a, "%sstruct %s", c, t->st->tag ? t->st->tag : "<unnamed>");
    case RG_C_PTR: {
        const char *to = rg_ctype_name(a, t->base);
        bool star = to[strlen(to) - 1] == '*';
        return rg_format(a, "%s%s*%s", to, star ? "" : " ", t->is_const ? " const" : "");
    }
    case RG_C_ARRAY: {
        rg_text x = {.arena = a};
        const rg_ctype *in = t;
        while (in->kind == RG_C_ARRAY)
            in = in->base;
        rg_text_add(&x, rg_ctype_name(a, in));
        rg_text_char(&x, ' ');
        for (; t->kind == RG_C_ARRAY; t = t->base) {
            if (t->len >= 0)
                rg_text_format(&x, "[%lld]", (long long)t->len);
            else
                rg_text_format(&x, "[%s]", t->len_text ? t->len_text : "");
        }
        return rg_text_str(&x);
    }
    case RG_C_FUNC:
        return "function";
    default:
        return rg_format(a, "%s%s", c, names[t->kind]);
    }
}
