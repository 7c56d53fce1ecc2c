/* Prints a function in the text form of docs/ir.md.
 *
 * Values and arrays keep the numbers that they have in the tables, so that a dump taken before a
 * pass can be compared with the one taken after it, and a debugger finds %12 at vals.at[12]; the
 * name, when there is one, is only an addition. Numbers of instructions and regions mean nothing to
 * a reader and are not shown. What a dump is most wanted for is a function that is wrong: an
 * instruction whose operands do not fit its op is printed as a plain list behind "malformed", which
 * the reader refuses, instead of being read past its end here. */
#include "ir/print.h"

#include <string.h>

typedef struct printer {
    const rg_fn *f;
    rg_text *out;
} printer;

const char *rg_ir_ins_word(uint32_t bit) {
    static const char *const word[16] = {
        "atomic",     "reverse",  "new",  "private", "accum",  "save",   "scalarized", "free",
        "checkpoint", "gathered", "kept", "flag11",  "flag12", "flag13", "flag14",     "flag15"};
    return bit < 16 ? word[bit] : NULL;
}

const char *rg_ir_array_word(uint32_t bit) {
    static const char *const word[16] = {"const",  "zero",   "grow",   "save",  "written", "before",
                                         "after",  "flag7",  "flag8",  "flag9", "flag10",  "flag11",
                                         "flag12", "flag13", "flag14", "flag15"};
    return bit < 16 ? word[bit] : NULL;
}

static void put(printer *p, const char *s) {
    rg_text_add(p->out, s);
}

static bool is_plain(const char *s, const char *more) {
    if (!*s)
        return false;
    for (; *s; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
              *s == '_' || strchr(more, *s)))
            return false;
    return true;
}

static void put_quoted(printer *p, const char *s) {
    rg_text_char(p->out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            rg_text_format(p->out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            rg_text_format(p->out, "\\x%02x", c);
        else
            rg_text_char(p->out, *s);
    }
    rg_text_char(p->out, '"');
}

static void put_name(printer *p, const char *s) {
    if (!s)
        s = "";
    if (is_plain(s, ".$"))
        put(p, s);
    else
        put_quoted(p, s);
}

static void put_loc(printer *p, rg_loc loc) {
    const rg_sources *s = p->f->module ? p->f->module->sources : NULL;
    if (s && loc && loc < s->locs.n && s->locs.at[loc].file < s->files.n) {
        const rg_place *at = &s->locs.at[loc];
        const char *path = s->files.at[at->file].path;
        put(p, "  ; ");
        if (is_plain(path, "./+-"))
            put(p, path);
        else
            put_quoted(p, path);
        rg_text_format(p->out, ":%u:%u", at->line, at->col);
    }
    put(p, "\n");
}

static void put_val(printer *p, rg_val v) {
    rg_text_format(p->out, "%%%u", v);
    if (v && v < p->f->vals.n && p->f->vals.at[v].name) {
        put(p, ".");
        put_name(p, p->f->vals.at[v].name);
    }
}

static void put_def(printer *p, rg_val v) {
    put_val(p, v);
    put(p, ": ");
    put(p, v < p->f->vals.n ? rg_type_name(p->f->vals.at[v].type) : "void");
}

static void put_array(printer *p, rg_aid a) {
    rg_text_format(p->out, "@%u", a);
    if (a && a < p->f->arrays.n) { /* an array always has a name, if an empty one */
        put(p, ".");
        put_name(p, p->f->arrays.at[a].name);
    }
}

static void put_elem(printer *p, const rg_elem *e) {
    if (!e) {
        put(p, "void");
    } else if (e->is_struct) {
        put(p, "struct ");
        put_name(p, e->name);
    } else {
        put(p, rg_mem_name(e->mem));
    }
}

static void put_ins_flags(printer *p, uint32_t flags) {
    for (uint32_t b = 0; b < 16; b++)
        if (flags & (1u << b))
            rg_text_format(p->out, " %s", rg_ir_ins_word(b));
}

static void put_vals(printer *p, const uint32_t *v, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        if (k)
            put(p, ", ");
        put_val(p, v[k]);
    }
}

static void indent(printer *p, uint32_t depth) {
    for (uint32_t k = 0; k < depth; k++)
        put(p, "  ");
}

/* Do the counts of i's operands, regions and their arguments fit its op, and exist? */
static bool well_formed(const rg_fn *f, const rg_ins *i) {
    if (i->op >= RG_N_OPS || i->op == RG_OP_NONE)
        return false;
    const rg_op_info *info = &rg_ops[i->op];
    if (info->operands >= 0 && i->nopnd != (uint32_t)info->operands)
        return false;
    uint32_t want = i->op == RG_IF ? 2 : info->flags & RG_F_RGN ? 1 : 0;
    for (uint32_t k = 0; k < want; k++)
        if (!i->region[k] || i->region[k] >= f->regions.n)
            return false;
    uint32_t args = want ? f->regions.at[i->region[0]].args.n : 0;
    switch (i->op) {
    case RG_CONST:
        return i->nres == 1;
    case RG_EXTENT:
    case RG_ALLOC:
        return i->array && i->array < f->arrays.n;
    case RG_COPY:
    case RG_PAIR:
        return i->array && i->array < f->arrays.n && i->array2 && i->array2 < f->arrays.n;
    case RG_LOAD:
    case RG_STORE:
    case RG_ADDTO:
    case RG_RMW: {
        if (!i->array || i->array >= f->arrays.n)
            return false;
        const rg_array *a = &f->arrays.at[i->array];
        return a->elem && i->leaf < a->elem->nleaves &&
               i->nopnd == rg_ins_nindices(f, i) + (i->op != RG_LOAD);
    }
    case RG_FOR:
        return i->nopnd >= 2 && args == i->nopnd - 1;
    case RG_LOOP:
        return args == i->nopnd;
    case RG_PARALLEL: {
        uint32_t n = (uint32_t)i->imm.i;
        return i->imm.i >= 1 && i->imm.i <= 3 && i->nopnd >= 2 * n && args == i->nopnd - n;
    }
    default:
        return true;
    }
}

static void put_const(printer *p, const rg_ins *i) {
    rg_val r = p->f->pool.at[i->res];
    rg_type t = r < p->f->vals.n ? p->f->vals.at[r].type : RG_VOID;
    put(p, " ");
    if (rg_type_is_float(t))
        rg_text_real(p->out, i->imm.f, t == RG_F32);
    else if (t == RG_BOOL && (i->imm.i == 0 || i->imm.i == 1))
        put(p, i->imm.i ? "true" : "false");
    else if (t == RG_U64)
        rg_text_format(p->out, "%llu", (unsigned long long)i->imm.i);
    else
        rg_text_format(p->out, "%lld", (long long)i->imm.i);
}

/* @1.pos[%5.i, %6].m[%7].x: the leaf's path with its indices in place. */
static void put_access(printer *p, const rg_ins *i) {
    const rg_array *a = &p->f->arrays.at[i->array];
    const uint32_t *idx = &p->f->pool.at[i->opnd];
    uint32_t k = a->rank;
    put(p, " ");
    put_array(p, i->array);
    put(p, "[");
    put_vals(p, idx, a->rank);
    put(p, "]");
    for (const char *s = a->elem->leaves[i->leaf].path; *s; s++) {
        if (*s == '%' && k < i->nopnd)
            put_val(p, idx[k++]);
        else
            rg_text_char(p->out, *s);
    }
}

static void put_copy_side(printer *p, const rg_ins *i, rg_aid a, bool leads) {
    put_array(p, a);
    put(p, "[");
    if (leads)
        put_vals(p, &p->f->pool.at[i->opnd], i->nopnd);
    put(p, "]");
}

/* What stands between the op's flags and the end of the line or the opening brace. */
static void put_operands(printer *p, const rg_ins *i) {
    const rg_fn *f = p->f;
    const uint32_t *x = &f->pool.at[i->opnd];
    const rg_region *g = i->region[0] ? &f->regions.at[i->region[0]] : NULL;
    switch (i->op) {
    case RG_CONST:
        put_const(p, i);
        return;
    case RG_SCALAR:
        rg_text_format(p->out, " $%lld", (long long)i->imm.i);
        return;
    case RG_EXTENT:
        put(p, " ");
        put_array(p, i->array);
        rg_text_format(p->out, ", %lld", (long long)i->imm.i);
        return;
    case RG_PAIR:
        put(p, " ");
        put_array(p, i->array);
        put(p, ", ");
        put_array(p, i->array2);
        rg_text_format(p->out, ", %lld", (long long)i->imm.i);
        return;
    case RG_WRAP:
        rg_text_format(p->out, " %s",
                       i->imm.i >= 0 && i->imm.i < RG_N_MEMS ? rg_mem_name((rg_mem)i->imm.i) : "?");
        break;
    case RG_RED:
    case RG_RMW:
        rg_text_format(p->out, " %s",
                       i->imm.i >= 0 && i->imm.i <= RG_RED_SET ? rg_red_name((rg_red)i->imm.i)
                                                               : "?");
        if (i->op == RG_RED)
            break;
        put_access(p, i);
        put(p, ", ");
        put_val(p, x[i->nopnd - 1]);
        return;
    case RG_LOAD:
        put_access(p, i);
        return;
    case RG_STORE:
    case RG_ADDTO:
        put_access(p, i);
        put(p, i->op == RG_STORE ? " = " : " += ");
        put_val(p, x[i->nopnd - 1]);
        return;
    case RG_ALLOC:
        put(p, " ");
        put_array(p, i->array);
        put(p, "[");
        put_vals(p, x, i->nopnd);
        put(p, "]");
        return;
    case RG_COPY: {
        bool to = f->arrays.at[i->array].rank > f->arrays.at[i->array2].rank;
        put(p, " ");
        put_copy_side(p, i, i->array, to);
        put(p, " = ");
        put_copy_side(p, i, i->array2, !to);
        return;
    }
    case RG_FOR:
        put(p, " ");
        put_def(p, g->args.at[0]);
        put(p, " = ");
        put_val(p, x[0]);
        put(p, " to ");
        put_val(p, x[1]);
        for (uint32_t k = 2; k < i->nopnd; k++) {
            put(p, k == 2 ? " carry " : ", ");
            put_def(p, g->args.at[k - 1]);
            put(p, " = ");
            put_val(p, x[k]);
        }
        return;
    case RG_LOOP:
        for (uint32_t k = 0; k < i->nopnd; k++) {
            put(p, k == 0 ? " carry " : ", ");
            put_def(p, g->args.at[k]);
            put(p, " = ");
            put_val(p, x[k]);
        }
        return;
    case RG_PARALLEL: {
        uint32_t n = (uint32_t)i->imm.i;
        for (uint32_t k = 0; k < n; k++) {
            put(p, k == 0 ? " " : ", ");
            put_def(p, g->args.at[k]);
            put(p, " = ");
            put_val(p, x[2 * k]);
            put(p, " to ");
            put_val(p, x[2 * k + 1]);
        }
        for (uint32_t k = 2 * n; k < i->nopnd; k++) {
            uint32_t kind = f->pool.at[i->aux + k - 2 * n];
            rg_text_format(p->out, "%s%s ", k == 2 * n ? " reduce " : ", ",
                           kind <= RG_RED_SET ? rg_red_name((rg_red)kind) : "?");
            put_def(p, g->args.at[k - n]);
            put(p, " = ");
            put_val(p, x[k]);
        }
        return;
    }
    default:
        break;
    }
    for (uint32_t k = 0; k < i->nopnd; k++) {
        put(p, k == 0 ? " " : ", ");
        put_val(p, x[k]);
    }
}

static void put_region(printer *p, rg_rid r, uint32_t depth);

static void put_ins(printer *p, rg_iid id, uint32_t depth) {
    const rg_fn *f = p->f;
    const rg_ins *i = &f->ins.at[id];
    indent(p, depth);
    for (uint32_t k = 0; k < i->nres; k++) {
        if (k)
            put(p, ", ");
        put_def(p, f->pool.at[i->res + k]);
    }
    if (i->nres)
        put(p, " = ");
    bool fine = well_formed(f, i);
    if (!fine)
        put(p, "malformed ");
    put(p, i->op < RG_N_OPS && i->op ? rg_ops[i->op].text : "none");
    put_ins_flags(p, i->flags);
    if (fine) {
        put_operands(p, i);
    } else {
        for (uint32_t k = 0; k < i->nopnd; k++) {
            put(p, k == 0 ? " " : ", ");
            put_val(p, f->pool.at[i->opnd + k]);
        }
    }
    if (i->region[0] && i->region[0] < f->regions.n && depth < 1000) {
        put(p, " {");
        put_loc(p, i->loc);
        put_region(p, i->region[0], depth + 1);
        indent(p, depth);
        if (i->op == RG_IF && i->region[1] && i->region[1] < f->regions.n) {
            put(p, "} else {\n");
            put_region(p, i->region[1], depth + 1);
            indent(p, depth);
        }
        put(p, "}\n");
    } else {
        put_loc(p, i->loc);
    }
}

static void put_region(printer *p, rg_rid r, uint32_t depth) {
    for (uint32_t k = 0; k < p->f->regions.at[r].ins.n; k++)
        put_ins(p, p->f->regions.at[r].ins.at[k], depth);
}

/* The C text of a declared extent; quoted when brackets, quotes or blanks at its ends would make it
 * read back differently. */
static void put_extent_text(printer *p, const char *s) {
    size_t n = strlen(s);
    if (is_plain(s, " +-*/%()<>&|^~!=:,.?") && s[0] != ' ' && s[n - 1] != ' ' && s[0] != '?')
        put(p, s);
    else
        put_quoted(p, s);
}

static void put_param(printer *p, uint32_t k) {
    const rg_param *m = &p->f->params.at[k];
    rg_text_format(p->out, "  param %u ", k);
    put_name(p, m->name);
    put(p, m->is_const ? ": const " : ": ");
    put_elem(p, m->elem);
    if (m->is_array) {
        for (uint32_t x = 0; x < m->rank; x++) {
            put(p, "[");
            if (m->extent_text && m->extent_text[x])
                put_extent_text(p, m->extent_text[x]);
            else
                put(p, "?");
            put(p, "]");
        }
        put(p, " ");
        put_array(p, m->array);
    }
    put_loc(p, m->loc);
}

static void put_scalar(printer *p, uint32_t k) {
    const rg_scalar *s = &p->f->scalars.at[k];
    rg_text_format(p->out, "  scalar $%u: %s of %u at %u", k, rg_mem_name(s->mem), s->param,
                   s->offset);
    if (s->path && *s->path) {
        put(p, " ");
        put_quoted(p, s->path);
    }
    put(p, "\n");
}

static void put_array_line(printer *p, rg_aid k) {
    const rg_array *a = &p->f->arrays.at[k];
    put(p, "  array ");
    put_array(p, k);
    switch (a->kind) {
    case RG_ARR_PARAM:
        rg_text_format(p->out, ": param %u", a->param);
        break;
    case RG_ARR_SHADOW:
        rg_text_format(p->out, ": shadow %u", a->param);
        break;
    case RG_ARR_LOCAL:
        put(p, ": local");
        break;
    }
    if (a->shadow & RG_SH_GRAD)
        put(p, " grad");
    if (a->shadow & RG_SH_DOT)
        put(p, " dot");
    for (uint32_t b = 0; b < 16; b++)
        if (a->flags & (1u << b))
            rg_text_format(p->out, " %s", rg_ir_array_word(b));
    put(p, " ");
    put_elem(p, a->elem);
    put(p, "[");
    for (uint32_t x = 0; x < a->rank; x++) {
        if (x)
            put(p, ", ");
        if (a->kind == RG_ARR_LOCAL)
            put(p, "*");
        else if (a->extents && a->extents[x])
            put_val(p, a->extents[x]);
        else
            put(p, "?");
    }
    put(p, "]");
    put_loc(p, a->loc);
}

static void put_fn(printer *p) {
    const rg_fn *f = p->f;
    put(p, "kernel ");
    put_name(p, f->name);
    rg_text_format(p->out, " %s", rg_mode_name(f->mode));
    put_loc(p, f->loc);
    for (uint32_t k = 0; k < f->params.n; k++)
        put_param(p, k);
    for (uint32_t k = 0; k < f->scalars.n; k++)
        put_scalar(p, k);
    for (uint32_t k = 1; k < f->arrays.n; k++)
        put_array_line(p, k);
    put(p, "{\n");
    if (f->body && f->body < f->regions.n)
        put_region(p, f->body, 1);
    put(p, "}\n");
}

static void put_structs(printer *p, const rg_ir_module *m) {
    for (uint32_t k = 0; m && k < m->structs.n; k++) {
        const rg_elem *e = m->structs.at[k];
        put(p, "struct ");
        put_name(p, e->name);
        put(p, " {");
        for (uint32_t x = 0; x < e->nfields; x++) {
            put(p, " ");
            put_elem(p, e->fields[x].type);
            put(p, " ");
            put_name(p, e->fields[x].name);
            for (uint32_t d = 0; d < e->fields[x].ndims; d++)
                rg_text_format(p->out, "[%lld]", (long long)e->fields[x].dims[d]);
            put(p, ";");
        }
        put(p, " }\n");
    }
}

void rg_ir_print(const rg_fn *f, rg_text *out) {
    printer p = {f, out};
    put_structs(&p, f->module);
    put_fn(&p);
}

void rg_ir_print_module(const rg_ir_module *m, rg_text *out) {
    printer p = {NULL, out};
    put_structs(&p, m);
    for (uint32_t k = 0; k < m->kernels.n; k++) {
        p.f = m->kernels.at[k];
        if (k || m->structs.n)
            put(&p, "\n");
        put_fn(&p);
    }
}
