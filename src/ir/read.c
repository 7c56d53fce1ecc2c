/* Reads the text form of docs/ir.md back into functions.
 *
 * A recursive descent over characters, one function for each rule of the grammar, its rule above
 * it. The first error ends the reading: it is recorded with its place and jumps back to rg_ir_read;
 * everything built so far stays in the arena. What comes out has only valid indices (values,
 * arrays, leaves, struct types, parameters) and operand counts that fit their ops, so that any code
 * that walks it is safe; whether types and scopes fit is for rg_ir_verify to say.
 *
 * The text may be hostile: numbers of values, which size a table, nesting, which recurses, and what
 * structs multiply out to are bounded here. */
#include "ir/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "ir/build.h"

enum {
    MAX_DEPTH = 200,      /* regions inside one another */
    MAX_VALUES = 1 << 20, /* highest number of a value, unless the text is longer than this */
    MAX_LEAVES = 1 << 16, /* scalars of one struct type */
    MAX_LEAF_AXES = 32,   /* axes inside an element */
    MAX_RANK = 32         /* axes of an array */
};

typedef RG_VEC(uint32_t) ids;

typedef struct def { /* a result that is yet to be defined */
    rg_val v;
    rg_type type;
    const char *name;
    const char *at;
} def;
typedef RG_VEC(def) defs;

/* Defined further down: a parameter's array (axis is UINT32_MAX), the value of an extent. */
typedef struct pending {
    rg_aid array;
    uint32_t axis;
    rg_val v;
    const char *label;
    const char *at;
} pending;

typedef struct reader {
    rg_arena *a;
    rg_diags *d;
    rg_sources *sources;
    uint32_t file; /* of this text */
    const char *start, *p, *end;
    rg_module *m;
    rg_fn *f;
    rg_table structs; /* name to rg_elem */
    rg_table paths;   /* path to 1 + index of its source file */
    RG_VEC(pending) pending;
    uint32_t depth;
    jmp_buf fail;
} reader;

/* ---- characters, words and numbers ---- */

_Noreturn static void fail_at(reader *r, const char *at, const char *what) {
    uint32_t line = 1, col = 1;
    for (const char *q = r->start; q < at && q < r->end; q++) {
        col++;
        if (*q == '\n') {
            line++;
            col = 1;
        }
    }
    rg_error(r->d, rg_sources_loc(r->sources, r->file, line, col), NULL, "%s", what);
    longjmp(r->fail, 1);
}

_Noreturn static void fail(reader *r, const char *what) {
    fail_at(r, r->p, what);
}

static char peek(const reader *r) {
    return r->p < r->end ? *r->p : '\0';
}

static void blanks(reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
    if (peek(r) == '#') /* a comment runs to the end of the line */
        while (r->p < r->end && *r->p != '\n')
            r->p++;
}

/* Where the next thing stands: what an error about it points at. */
static const char *here(reader *r) {
    blanks(r);
    return r->p;
}

/* Blank lines and comments too. */
static void blank_lines(reader *r) {
    for (blanks(r); peek(r) == '\n'; blanks(r))
        r->p++;
}

static bool accept(reader *r, const char *s) {
    size_t n = strlen(s);
    blanks(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, s, n) != 0)
        return false;
    r->p += n;
    return true;
}

static void expect(reader *r, const char *s) {
    if (!accept(r, s))
        fail(r, rg_format(r->a, "expected '%s'", s));
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_name_char(char c) {
    return is_word_char(c) || c == '.' || c == '$';
}

/* A whole word, or nothing. */
static bool accept_word(reader *r, const char *s) {
    size_t n = strlen(s);
    blanks(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, s, n) != 0)
        return false;
    if (r->p + n < r->end && is_name_char(r->p[n]))
        return false;
    r->p += n;
    return true;
}

static void expect_word(reader *r, const char *s) {
    if (!accept_word(r, s))
        fail(r, rg_format(r->a, "expected '%s'", s));
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* quoted: '"' (character | \" | \\ | \xHH)* '"' */
static const char *quoted(reader *r) {
    const char *at = r->p++;
    rg_text t = {.arena = r->a};
    for (;;) {
        if (r->p >= r->end || *r->p == '\n')
            fail_at(r, at, "this text has no closing quote");
        char c = *r->p++;
        if (c == '"')
            break;
        if (c == '\\') {
            char e = peek(r);
            if (e == 'x' && r->end - r->p >= 3 && hex_digit(r->p[1]) >= 0 &&
                hex_digit(r->p[2]) >= 0) {
                c = (char)(hex_digit(r->p[1]) * 16 + hex_digit(r->p[2]));
                r->p += 3;
            } else if (e == '"' || e == '\\') {
                c = e;
                r->p++;
            } else {
                fail(r, "unknown escape in quoted text");
            }
        }
        if (c == '\0')
            fail(r, "a NUL byte in quoted text");
        rg_text_char(&t, c);
    }
    return rg_text_str(&t);
}

/* name: (letter | digit | '_' | '.' | '$')+ | quoted */
static const char *name(reader *r, const char *what) {
    if (peek(r) == '"')
        return quoted(r);
    const char *s = r->p;
    while (r->p < r->end && is_name_char(*r->p))
        r->p++;
    if (r->p == s)
        fail(r, rg_format(r->a, "expected %s", what));
    return rg_strndup(r->a, s, (size_t)(r->p - s));
}

static uint64_t number(reader *r, uint64_t max, const char *what) {
    const char *at = here(r);
    uint64_t v = 0;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
        uint64_t digit = (uint64_t)(*r->p - '0');
        if (digit > max || v > (max - digit) / 10)
            fail_at(r, at, rg_format(r->a, "%s is too large", what));
        v = v * 10 + digit;
        r->p++;
    }
    if (r->p == at)
        fail(r, rg_format(r->a, "expected %s", what));
    return v;
}

/* line end: ('; ' path ':' line ':' column)? ('#' comment)? newline */
static rg_loc end_of_line(reader *r) {
    rg_loc loc = 0;
    if (accept(r, ";")) {
        blanks(r);
        const char *path;
        if (peek(r) == '"') {
            path = quoted(r);
        } else {
            const char *s = r->p;
            while (r->p < r->end && (is_word_char(*r->p) || memchr("./+-", *r->p, 4)))
                r->p++;
            if (r->p == s)
                fail(r, "expected the path of a source file");
            path = rg_strndup(r->a, s, (size_t)(r->p - s));
        }
        expect(r, ":");
        uint32_t line = (uint32_t)number(r, UINT32_MAX, "a line number");
        expect(r, ":");
        uint32_t col = (uint32_t)number(r, UINT32_MAX, "a column number");
        uintptr_t file = (uintptr_t)rg_table_get(&r->paths, path);
        if (!file) {
            file = (uintptr_t)rg_sources_add(r->sources, path, NULL, 0) + 1;
            rg_table_set(&r->paths, path, (void *)file);
        }
        loc = rg_sources_loc(r->sources, (uint32_t)(file - 1), line, col);
    }
    blanks(r);
    if (r->p < r->end && *r->p != '\n')
        fail(r, "expected the end of the line");
    if (r->p < r->end)
        r->p++;
    return loc;
}

/* ---- types ---- */

static bool accept_mem(reader *r, rg_mem *out) {
    for (int m = 0; m < RG_N_MEMS; m++)
        if (accept_word(r, rg_mem_name((rg_mem)m))) {
            *out = (rg_mem)m;
            return true;
        }
    return false;
}

static rg_mem mem_type(reader *r) {
    rg_mem m;
    if (!accept_mem(r, &m))
        fail(r, "expected a memory type");
    return m;
}

static rg_type value_type(reader *r) {
    for (int t = RG_VOID + 1; t < RG_N_TYPES; t++)
        if (accept_word(r, rg_type_name((rg_type)t)))
            return (rg_type)t;
    fail(r, "expected the type of a value");
}

/* elem: memory type | 'struct' name */
static const rg_elem *elem(reader *r) {
    rg_mem m;
    if (accept_mem(r, &m))
        return rg_elem_scalar(m);
    expect_word(r, "struct");
    const char *at = here(r);
    const rg_elem *e = rg_table_get(&r->structs, name(r, "the name of a struct type"));
    if (!e)
        fail_at(r, at, "unknown struct type");
    return e;
}

/* struct: 'struct' name '{' (elem name ('[' number ']')* ';')* '}' line-end
 * The layout is checked here, before rg_elem_finish computes it. */
static void struct_type(reader *r) {
    rg_elem *e = RG_NEW(r->a, rg_elem);
    RG_VEC(rg_field) fields = {0};
    uint64_t size = 0, leaves = 0;
    const char *at = here(r);
    e->is_struct = true;
    e->name = name(r, "the name of the struct type");
    if (rg_table_get(&r->structs, e->name))
        fail_at(r, at, "this struct type is defined twice");
    expect(r, "{");
    while (!accept(r, "}")) {
        rg_field f = {0};
        RG_VEC(int64_t) dims = {0};
        union {
            const rg_elem *in;
            rg_elem *out;
        } type = {elem(r)}; /* fields may not change their type, whatever the pointer says */
        f.type = type.out;
        at = here(r);
        f.name = name(r, "the name of a field");
        for (const char *s = f.name; *s; s++)
            if (!is_word_char(*s))
                fail_at(r, at, "the name of a field is a C identifier");
        for (uint32_t k = 0; k < fields.n; k++)
            if (strcmp(fields.at[k].name, f.name) == 0)
                fail_at(r, at, "this field is defined twice");
        uint64_t bytes = f.type->size;
        while (accept(r, "[")) {
            int64_t n = (int64_t)number(r, INT32_MAX, "an extent");
            bytes *= (uint64_t)n;
            if (n == 0 || bytes > INT32_MAX)
                fail_at(r, at, "this field has no elements, or too many");
            RG_PUSH(r->a, &dims, n);
            expect(r, "]");
        }
        expect(r, ";");
        for (uint32_t k = 0; k < f.type->nleaves; k++)
            if (f.type->leaves[k].ndims + dims.n > MAX_LEAF_AXES)
                fail_at(r, at, "this field has too many axes");
        f.dims = dims.at;
        f.ndims = dims.n;
        size += bytes + f.type->align; /* no less than what padding adds */
        leaves += f.type->nleaves;
        if (size > INT32_MAX / 2 || leaves > MAX_LEAVES)
            fail_at(r, at, "this struct type is too large");
        RG_PUSH(r->a, &fields, f);
    }
    e->fields = fields.at;
    e->nfields = fields.n;
    rg_elem_finish(r->a, e);
    e->index = r->m->structs.n;
    RG_PUSH(r->a, &r->m->structs, e);
    rg_table_set(&r->structs, e->name, e);
    end_of_line(r);
}

/* ---- references ---- */

/* value: '%' number ('.' name)? */
static rg_val value_id(reader *r, const char **label) {
    expect(r, "%");
    size_t most = (size_t)(r->end - r->start);
    const char *at = here(r);
    rg_val v = (rg_val)number(r, most > MAX_VALUES ? most : MAX_VALUES, "the number of a value");
    if (v == 0)
        fail_at(r, at, "values are numbered from 1");
    *label = NULL;
    if (peek(r) == '.') {
        r->p++;
        *label = name(r, "the name of a value");
    }
    return v;
}

static void check_defined(reader *r, rg_val v, const char *label, const char *at) {
    const rg_fn *f = r->f;
    if (v >= f->vals.n || f->vals.at[v].type == RG_VOID)
        fail_at(r, at, rg_format(r->a, "%%%u is not defined above", v));
    const char *is = f->vals.at[v].name;
    if (label && (!is || strcmp(is, label) != 0))
        fail_at(r, at, rg_format(r->a, "%%%u is not named '%.60s'", v, label));
}

static rg_val value(reader *r) {
    const char *label;
    const char *at = here(r);
    rg_val v = value_id(r, &label);
    check_defined(r, v, label, at);
    return v;
}

/* definition: value ':' type */
static def definition(reader *r) {
    def d = {0};
    d.at = here(r);
    d.v = value_id(r, &d.name);
    expect(r, ":");
    d.type = value_type(r);
    return d;
}

static rg_value *define(reader *r, const def *d) {
    rg_fn *f = r->f;
    while (f->vals.n <= d->v)
        RG_PUSH(r->a, &f->vals, (rg_value){0});
    rg_value *v = &f->vals.at[d->v];
    if (v->type != RG_VOID)
        fail_at(r, d->at, rg_format(r->a, "%%%u is defined twice", d->v));
    v->type = d->type;
    v->name = d->name;
    return v;
}

static void define_arg(reader *r, rg_rid region, const def *d) {
    rg_value *v = define(r, d);
    rg_region *g = &r->f->regions.at[region];
    v->region = region;
    v->index = g->args.n;
    RG_PUSH(r->a, &g->args, d->v);
}

/* array: '@' number ('.' name)? */
static rg_aid array_id(reader *r, const char **label) {
    expect(r, "@");
    rg_aid a = (rg_aid)number(r, UINT32_MAX, "the number of an array");
    *label = NULL;
    if (peek(r) == '.') {
        r->p++;
        *label = name(r, "the name of an array");
    }
    return a;
}

static void check_array(reader *r, rg_aid a, const char *label, const char *at) {
    if (a == 0 || a >= r->f->arrays.n)
        fail_at(r, at, rg_format(r->a, "there is no array @%u", a));
    const char *is = r->f->arrays.at[a].name;
    if (label && (!is || strcmp(is, label) != 0))
        fail_at(r, at, rg_format(r->a, "@%u is not named '%.60s'", a, label));
}

static rg_aid array(reader *r) {
    const char *label;
    const char *at = here(r);
    rg_aid a = array_id(r, &label);
    check_array(r, a, label, at);
    return a;
}

/* ---- instructions ---- */

static void values(reader *r, ids *out) {
    blanks(r);
    if (peek(r) != '%')
        return;
    do
        RG_PUSH(r->a, out, value(r));
    while (accept(r, ","));
}

/* access: array '[' values ']' path, where each [%] of the leaf's path holds a value */
static void access(reader *r, rg_ins *i, ids *out) {
    i->array = array(r);
    const rg_array *a = &r->f->arrays.at[i->array];
    expect(r, "[");
    const char *at = here(r);
    values(r, out);
    expect(r, "]");
    if (out->n != a->rank)
        fail_at(r, at, rg_format(r->a, "@%u has %u axes, not %u", i->array, a->rank, out->n));
    rg_text path = {.arena = r->a};
    at = here(r);
    while (peek(r) == '.' || peek(r) == '[') {
        if (*r->p == '.') {
            do
                rg_text_char(&path, *r->p++);
            while (r->p < r->end && is_word_char(*r->p));
        } else {
            r->p++;
            RG_PUSH(r->a, out, value(r));
            expect(r, "]");
            rg_text_add(&path, "[%]");
        }
    }
    for (uint32_t k = 0; k < a->elem->nleaves; k++)
        if (strcmp(a->elem->leaves[k].path, rg_text_str(&path)) == 0) {
            i->leaf = k;
            return;
        }
    fail_at(
        r, at,
        rg_format(r->a, "an element of @%u has no scalar '%.200s'", i->array, rg_text_str(&path)));
}

/* constant: 'true' | 'false' | integer | real | 'inf' | '-inf' | 'nan' */
static void constant(reader *r, rg_type t, rg_ins *i) {
    char buf[64], *rest;
    size_t n = 0;
    const char *at = here(r);
    while (r->p < r->end && (is_name_char(*r->p) || *r->p == '-' || *r->p == '+') &&
           n < sizeof buf - 1)
        buf[n++] = *r->p++;
    buf[n] = '\0';
    if (rg_type_is_float(t)) {
        i->imm.f = t == RG_F32 ? (double)strtof(buf, &rest) : strtod(buf, &rest);
        if (n == 0 || *rest)
            fail_at(r, at, "expected a number");
        return;
    }
    if (t == RG_BOOL && (strcmp(buf, "true") == 0 || strcmp(buf, "false") == 0)) {
        i->imm.i = buf[0] == 't';
        return;
    }
    r->p = at;
    bool minus = t != RG_U64 && peek(r) == '-';
    r->p += minus;
    uint64_t max = t == RG_U64   ? UINT64_MAX
                   : t == RG_I64 ? (uint64_t)INT64_MAX + minus
                   : t == RG_U32 ? UINT32_MAX
                   : t == RG_I32 ? (uint64_t)INT32_MAX + minus
                                 : 1;
    if (minus && (t == RG_U32 || t == RG_BOOL))
        fail_at(r, at, "expected a constant that its type can hold");
    uint64_t v = number(r, max, "a constant");
    i->imm.i = (int64_t)(minus ? 0 - v : v);
}

static rg_red red_kind(reader *r, rg_red last) {
    for (int k = RG_RED_ADD; k <= (int)last; k++)
        if (accept_word(r, rg_red_name((rg_red)k)))
            return (rg_red)k;
    fail(r, "expected an operator: add, mul, min, max, and, or, xor, land, lor");
}

static void region(reader *r, rg_rid id);

/* carried: definition '=' value (',' definition '=' value)* */
static void carried(reader *r, defs *args, ids *out) {
    do {
        RG_PUSH(r->a, args, definition(r));
        expect(r, "=");
        RG_PUSH(r->a, out, value(r));
    } while (accept(r, ","));
}

/* range: definition '=' value 'to' value */
static void range(reader *r, defs *args, ids *out) {
    RG_PUSH(r->a, args, definition(r));
    expect(r, "=");
    RG_PUSH(r->a, out, value(r));
    expect_word(r, "to");
    RG_PUSH(r->a, out, value(r));
}

/* for: range ('carry' carried)?
 * loop: ('carry' carried)?
 * parallel: range (',' range)* ('reduce' operator definition '=' value (',' ...)*)? */
static void loop_head(reader *r, rg_ins *i, defs *args, ids *out, ids *reds) {
    if (i->op == RG_FOR)
        range(r, args, out);
    if (i->op != RG_PARALLEL) {
        if (accept_word(r, "carry"))
            carried(r, args, out);
        return;
    }
    do {
        const char *at = here(r);
        if (++i->imm.i > 3)
            fail_at(r, at, "a parallel has at most three ranges");
        range(r, args, out);
    } while (accept(r, ","));
    if (!accept_word(r, "reduce"))
        return;
    do {
        RG_PUSH(r->a, reds, (uint32_t)red_kind(r, RG_RED_LOR));
        RG_PUSH(r->a, args, definition(r));
        expect(r, "=");
        RG_PUSH(r->a, out, value(r));
    } while (accept(r, ","));
}

static void copy_sides(reader *r, rg_ins *i, ids *out) {
    ids lead[2] = {{0}, {0}};
    const char *at = here(r);
    i->array = array(r);
    expect(r, "[");
    values(r, &lead[0]);
    expect(r, "]");
    expect(r, "=");
    i->array2 = array(r);
    expect(r, "[");
    values(r, &lead[1]);
    expect(r, "]");
    uint32_t n = r->f->arrays.at[i->array].rank, m = r->f->arrays.at[i->array2].rank;
    if (lead[0].n != (n > m ? n - m : 0) || lead[1].n != (m > n ? m - n : 0))
        fail_at(r, at, "the leading indices do not make up for the axes that one side has more");
    *out = lead[n > m ? 0 : 1];
}

/* What follows the op and its flags, for all ops without regions. */
static void operands(reader *r, rg_ins *i, const defs *res, ids *out) {
    switch (i->op) {
    case RG_CONST:
        if (res->n != 1)
            fail(r, "a constant has one result");
        constant(r, res->at[0].type, i);
        return;
    case RG_SCALAR: {
        expect(r, "$");
        const char *at = here(r);
        i->imm.i = (int64_t)number(r, UINT32_MAX, "the number of a scalar");
        if (i->imm.i >= r->f->scalars.n)
            fail_at(r, at, "there is no such scalar");
        return;
    }
    case RG_EXTENT: {
        i->array = array(r);
        expect(r, ",");
        const char *at = here(r);
        i->imm.i = (int64_t)number(r, UINT32_MAX, "an axis");
        if (i->imm.i >= r->f->arrays.at[i->array].rank)
            fail_at(r, at, "the array has no such axis");
        return;
    }
    case RG_PAIR:
        i->array = array(r);
        expect(r, ",");
        i->array2 = array(r);
        expect(r, ",");
        i->imm.i = (int64_t)number(r, 1, "1 if there are only sums, or 0");
        return;
    case RG_WRAP:
        i->imm.i = mem_type(r);
        break;
    case RG_RED:
        i->imm.i = red_kind(r, RG_RED_LOR);
        break;
    case RG_LOAD:
        access(r, i, out);
        return;
    case RG_STORE:
    case RG_ADDTO:
        access(r, i, out);
        expect(r, i->op == RG_STORE ? "=" : "+=");
        RG_PUSH(r->a, out, value(r));
        return;
    case RG_RMW:
        i->imm.i = red_kind(r, RG_RED_SET);
        access(r, i, out);
        expect(r, ",");
        RG_PUSH(r->a, out, value(r));
        return;
    case RG_ALLOC: {
        i->array = array(r);
        const rg_array *a = &r->f->arrays.at[i->array];
        expect(r, "[");
        const char *at = here(r);
        values(r, out);
        expect(r, "]");
        if (a->kind != RG_ARR_LOCAL)
            fail_at(r, at, "only a local array is allocated");
        if (out->n != (a->flags & RG_ARR_GROW ? 0 : a->rank))
            fail_at(r, at, rg_format(r->a, "@%u has %u axes", i->array, a->rank));
        if (out->n)
            memcpy(a->extents, out->at, out->n * sizeof *out->at);
        return;
    }
    case RG_COPY:
        copy_sides(r, i, out);
        return;
    default:
        break;
    }
    const char *at = here(r);
    values(r, out);
    if (rg_ops[i->op].operands >= 0 && out->n != (uint32_t)rg_ops[i->op].operands)
        fail_at(r, at,
                rg_format(r->a, "%s has %d operands, not %u", rg_ops[i->op].text,
                          rg_ops[i->op].operands, out->n));
}

/* instruction: (definition (',' definition)* '=')? op flag* operands ('{' ... '}')? line-end
 * True for a yield, which ends its region. */
static bool instruction(reader *r, rg_rid parent) {
    rg_fn *f = r->f;
    defs res = {0}, args = {0};
    ids out = {0}, reds = {0};
    rg_ins ins = {0};
    blanks(r);
    if (peek(r) == '%') {
        do
            RG_PUSH(r->a, &res, definition(r));
        while (accept(r, ","));
        expect(r, "=");
    }
    const char *at = here(r);
    while (r->p < r->end && is_word_char(*r->p))
        r->p++;
    ins.op = (uint16_t)rg_op_find(at, (size_t)(r->p - at));
    if (ins.op == RG_OP_NONE || r->p == at)
        fail_at(r, at, "expected an operation");
    for (uint32_t b = 0; b < 16; b++)
        if (accept_word(r, rg_ir_ins_word(b)))
            ins.flags = (uint16_t)(ins.flags | (1u << b));

    bool has_regions = (rg_ops[ins.op].flags & RG_F_RGN) != 0;
    if (!has_regions || ins.op == RG_IF)
        operands(r, &ins, &res, &out);
    else
        loop_head(r, &ins, &args, &out, &reds);

    if (has_regions)
        expect(r, "{");
    rg_iid id = rg_ins_new(f, (rg_op)ins.op, end_of_line(r));
    rg_ins *i = &f->ins.at[id];
    ins.loc = i->loc;
    ins.opnd = rg_pool_add(f, out.at, out.n);
    ins.nopnd = out.n;
    ins.aux = reds.n ? rg_pool_add(f, reds.at, reds.n) : 0;
    *i = ins;
    rg_region_insert(f, parent, f->regions.at[parent].ins.n, id);

    for (int k = 0; has_regions && k < (ins.op == RG_IF ? 2 : 1); k++) {
        if (k == 1) {
            expect_word(r, "else");
            expect(r, "{");
            end_of_line(r);
        }
        rg_rid g = rg_region_new(f, id);
        f->ins.at[id].region[k] = g;
        for (uint32_t x = 0; x < args.n; x++)
            define_arg(r, g, &args.at[x]);
        region(r, g);
    }
    if (has_regions)
        end_of_line(r);

    ids results = {0};
    for (uint32_t k = 0; k < res.n; k++) {
        rg_value *v = define(r, &res.at[k]);
        v->def = id;
        v->index = k;
        RG_PUSH(r->a, &results, res.at[k].v);
    }
    f->ins.at[id].res = rg_pool_add(f, results.at, results.n);
    f->ins.at[id].nres = results.n;
    return ins.op == RG_YIELD;
}

/* region: instruction* '}' */
static void region(reader *r, rg_rid id) {
    if (++r->depth > MAX_DEPTH)
        fail(r, "regions are nested too deep");
    bool ended = false;
    for (;;) {
        blank_lines(r);
        const char *at = here(r);
        if (accept(r, "}")) {
            if (!ended)
                fail_at(r, at, "a region ends with a yield");
            break;
        }
        if (ended)
            fail(r, "expected '}' after the yield");
        if (r->p >= r->end)
            fail(r, "the text ends inside a region");
        ended = instruction(r, id);
    }
    r->depth--;
}

/* ---- the head of a kernel ---- */

/* param: 'param' number name ':' 'const'? elem ('[' extent ']')* array? line-end
 * extent: '?' | quoted | any text up to the bracket */
static void param(reader *r) {
    rg_param m = {0};
    RG_VEC(const char *) extents = {0};
    const char *at = here(r);
    if (number(r, UINT32_MAX, "the number of a parameter") != r->f->params.n)
        fail_at(r, at, "parameters are numbered in their order, from 0");
    blanks(r);
    m.name = name(r, "the name of a parameter");
    expect(r, ":");
    m.is_const = accept_word(r, "const");
    m.elem = elem(r);
    while (accept(r, "[")) {
        const char *s = r->p, *text = NULL;
        if (extents.n == MAX_RANK)
            fail(r, "too many axes");
        if (peek(r) == '"') {
            text = quoted(r);
        } else {
            while (r->p < r->end && *r->p != ']' && *r->p != '\n' && *r->p != '\0')
                r->p++;
            if (r->p == s)
                fail(r, "expected an extent, or '?'");
            if (r->p - s != 1 || *s != '?')
                text = rg_strndup(r->a, s, (size_t)(r->p - s));
        }
        RG_PUSH(r->a, &extents, text);
        expect(r, "]");
    }
    blanks(r);
    if (peek(r) == '@') {
        const char *label;
        at = here(r);
        m.is_array = true;
        m.array = array_id(r, &label);
        RG_PUSH(r->a, &r->pending, (pending){m.array, UINT32_MAX, 0, label, at});
    } else if (extents.n) {
        fail(r, "expected the parameter's array");
    }
    m.rank = extents.n;
    m.extent_text = extents.at;
    m.loc = end_of_line(r);
    RG_PUSH(r->a, &r->f->params, m);
}

/* scalar: 'scalar' '$' number ':' memory type 'of' number 'at' number quoted? line-end */
static void scalar(reader *r) {
    rg_fn *f = r->f;
    rg_scalar s = {.path = ""};
    expect(r, "$");
    const char *at = here(r);
    if (number(r, UINT32_MAX, "the number of a scalar") != f->scalars.n)
        fail_at(r, at, "scalars are numbered in their order, from 0");
    expect(r, ":");
    s.mem = mem_type(r);
    expect_word(r, "of");
    at = here(r);
    s.param = (uint32_t)number(r, UINT32_MAX, "the number of a parameter");
    if (s.param >= f->params.n || f->params.at[s.param].is_array)
        fail_at(r, at, "there is no such by-value parameter above");
    rg_param *m = &f->params.at[s.param];
    if (m->nscalars && m->first_scalar + m->nscalars != f->scalars.n)
        fail_at(r, at, "the scalars of a parameter stand together");
    expect_word(r, "at");
    at = here(r);
    s.offset = (uint32_t)number(r, UINT32_MAX, "an offset");
    if (s.offset > m->elem->size || m->elem->size - s.offset < rg_mem_size(s.mem))
        fail_at(r, at, "this scalar is not within its parameter");
    blanks(r);
    if (peek(r) == '"')
        s.path = quoted(r);
    if (m->nscalars++ == 0)
        m->first_scalar = f->scalars.n;
    end_of_line(r);
    RG_PUSH(r->a, &f->scalars, s);
}

/* array: 'array' array ':' ('param' number | 'shadow' number | 'local') ('grad' | 'dot')* flag*
 *        elem '[' (extent (',' extent)*)? ']' line-end
 * extent: value | '?' | '*' */
static void array_line(reader *r) {
    rg_fn *f = r->f;
    rg_array a = {0};
    RG_VEC(rg_val) extents = {0};
    const char *at = here(r);
    rg_aid id = array_id(r, &a.name);
    if (id != f->arrays.n)
        fail_at(r, at, rg_format(r->a, "expected array @%u", f->arrays.n));
    if (!a.name)
        fail(r, "expected the name of the array");
    expect(r, ":");
    if (accept_word(r, "local")) {
        a.kind = RG_ARR_LOCAL;
    } else {
        a.kind = RG_ARR_PARAM;
        if (accept_word(r, "shadow"))
            a.kind = RG_ARR_SHADOW;
        else
            expect_word(r, "param");
        at = here(r);
        a.param = (uint32_t)number(r, UINT32_MAX, "the number of a parameter");
        if (a.param >= f->params.n)
            fail_at(r, at, "there is no such parameter above");
    }
    if (accept_word(r, "grad"))
        a.shadow |= RG_SH_GRAD;
    if (accept_word(r, "dot"))
        a.shadow |= RG_SH_DOT;
    for (uint32_t b = 0; b < 16; b++)
        if (accept_word(r, rg_ir_array_word(b)))
            a.flags |= 1u << b;
    a.elem = elem(r);
    expect(r, "[");
    if (!accept(r, "]")) {
        do {
            const char *label;
            rg_val v = 0;
            at = here(r);
            if (extents.n == MAX_RANK)
                fail(r, "too many axes");
            if (peek(r) == '%' && a.kind != RG_ARR_LOCAL) {
                v = value_id(r, &label);
                RG_PUSH(r->a, &r->pending, (pending){id, extents.n, v, label, at});
            } else {
                expect(r, a.kind == RG_ARR_LOCAL ? "*" : "?");
            }
            RG_PUSH(r->a, &extents, v);
        } while (accept(r, ","));
        expect(r, "]");
    }
    if (a.flags & RG_ARR_GROW && (a.kind != RG_ARR_LOCAL || extents.n != 1))
        fail(r, "what grows is a local array of one axis");
    a.rank = extents.n;
    a.extents = extents.at;
    a.loc = end_of_line(r);
    RG_PUSH(r->a, &f->arrays, a);
}

/* kernel: 'kernel' name mode line-end (param | scalar | array)* '{' newline region line-end */
static void kernel(reader *r) {
    blanks(r);
    rg_fn *f = r->f = rg_fn_new(r->a, r->m, name(r, "the name of the kernel"));
    r->pending.n = 0;
    int mode = RG_PRIMAL;
    while (mode <= RG_HVP && !accept_word(r, rg_mode_name((rg_mode)mode)))
        mode++;
    if (mode > RG_HVP)
        fail(r, "expected primal, tangent, adjoint or hvp");
    f->mode = (rg_mode)mode;
    f->loc = end_of_line(r);
    for (;;) {
        blank_lines(r);
        if (accept_word(r, "param"))
            param(r);
        else if (accept_word(r, "scalar"))
            scalar(r);
        else if (accept_word(r, "array"))
            array_line(r);
        else if (accept(r, "{"))
            break;
        else
            fail(r, "expected 'param', 'scalar', 'array' or '{'");
    }
    end_of_line(r);
    r->depth = 0;
    region(r, f->body);
    end_of_line(r);
    for (uint32_t k = 0; k < r->pending.n; k++) {
        const pending *q = &r->pending.at[k];
        if (q->axis == UINT32_MAX)
            check_array(r, q->array, q->label, q->at);
        else
            check_defined(r, q->v, q->label, q->at);
    }
    RG_PUSH(r->a, &r->m->kernels, f);
}

rg_module *rg_ir_read(rg_arena *a, rg_diags *d, const char *path, const char *text, size_t size) {
    reader *r = RG_NEW(a, reader);
    r->a = a;
    r->d = d;
    r->m = RG_NEW(a, rg_module);
    r->m->arena = a;
    if (!d->sources)
        d->sources = rg_sources_new(a);
    r->sources = r->m->sources = d->sources;
    r->structs.arena = r->paths.arena = a;
    for (uint32_t k = r->sources->files.n; k-- > 0;) /* the first of equal paths wins */
        rg_table_set(&r->paths, r->sources->files.at[k].path, (void *)((uintptr_t)k + 1));
    r->file = rg_sources_add(r->sources, path, text, size);
    r->start = r->p = text;
    r->end = text + size;
    if (setjmp(r->fail))
        return NULL;
    for (;;) {
        blank_lines(r);
        if (r->p >= r->end)
            return r->m;
        if (accept_word(r, "struct"))
            struct_type(r);
        else if (accept_word(r, "kernel"))
            kernel(r);
        else
            fail(r, "expected 'struct' or 'kernel'");
    }
}
