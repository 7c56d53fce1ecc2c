/* Collects remarks, each about a source line, by looking at the finished adjoint next to the
 * primal; then prints them line by line under the source's own text.
 *
 * Re-executed is what both have from the same place: a load of a parameter, or a maths function. */
#include "compile/compile.h"

#include "ad/ad.h"
#include "ir/affine.h"

#include <stdlib.h>
#include <string.h>

typedef struct remark {
    uint32_t file, line, order;
    const char *text;
} remark;

typedef struct explain {
    rg_arena *arena;
    const rg_sources *sources;
    const rg_fn *primal, *adjoint;
    rg_record_counts records;
    RG_VEC(remark) list;
} explain;

static void say(explain *e, rg_loc loc, const char *text) {
    rg_place p = {0, 0, 0};
    if (loc && loc < e->sources->locs.n)
        p = e->sources->locs.at[loc];
    for (uint32_t i = 0; i < e->list.n; i++) {
        const remark *r = &e->list.at[i];
        if (r->file == p.file && r->line == p.line && strcmp(r->text, text) == 0)
            return;
    }
    remark r = {p.file, p.line, e->list.n, text};
    RG_PUSH(e->arena, &e->list, r);
}

static const char *array_name(const rg_fn *f, rg_aid a) {
    const rg_ir_array *x = rg_array_at(f, a);
    return x->name ? x->name : "(unnamed)";
}

/* The gradient's name as the user knows it. */
static const char *gradient_name(explain *e, const rg_fn *f, const rg_ins *i) {
    const rg_ir_array *x = rg_array_at(f, i->array);
    return rg_format(e->arena, "%s.grad", f->params.at[x->param].name);
}

/* The parallel loop that an instruction is in; 0: none. */
static rg_iid parallel_of(const rg_fn *f, rg_iid i) {
    for (rg_rid r = f->ins.at[i].parent; r;) {
        rg_iid owner = rg_region_at(f, r)->owner;
        if (!owner)
            return 0;
        if (f->ins.at[owner].op == RG_PARALLEL)
            return owner;
        r = f->ins.at[owner].parent;
    }
    return 0;
}

static const char *why_atomic(explain *e, const rg_fn *f, rg_iid id) {
    const rg_ins *i = rg_ins_at(f, id);
    for (uint32_t k = 0; k < rg_ins_nindices(f, i); k++) {
        rg_affine a = rg_affine_of(f, rg_operand(f, id, k));
        if (!a.ok)
            return "its index has too many terms to analyse";
        for (uint32_t t = 0; t < a.n; t++) {
            rg_val v = a.term[t];
            if (rg_def_op(f, v) == RG_LOAD)
                return rg_format(e->arena,
                                 "its index is read from '%s', where two iterations may find the "
                                 "same number",
                                 array_name(f, f->ins.at[f->vals.at[v].def].array));
            if (rg_def_op(f, v) != RG_OP_NONE && rg_def_op(f, v) != RG_SCALAR)
                return "its index is computed from values that are not loop variables";
        }
    }
    return "two iterations may add to one element";
}

static void gradients(explain *e) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent)
            continue;
        bool shadow = i->array && (i->op == RG_ADDTO || i->op == RG_STORE || i->op == RG_RMW) &&
                      rg_array_at(g, i->array)->kind == RG_ARR_SHADOW;
        if (!shadow || i->op == RG_STORE)
            continue;
        const char *name = gradient_name(e, g, i), *how;
        if (i->flags & RG_INS_ATOMIC)
            how = rg_format(e->arena, "atomic add to %s: %s", name, why_atomic(e, g, id));
        else if (i->flags & RG_INS_PRIVATE)
            how = rg_format(e->arena,
                            "add to %s in a copy of each thread's own, added together after", name);
        else if (i->flags & RG_INS_SCALARIZED)
            how = rg_format(e->arena,
                            "add to %s: every iteration adds to the same element, so it is summed "
                            "in registers first",
                            name);
        else if (i->flags & RG_INS_GATHERED)
            how =
                rg_format(e->arena,
                          "gathered add to %s: each iteration sums what its own element gets from "
                          "its neighbours",
                          name);
        else if (parallel_of(g, id))
            how = rg_format(e->arena, "plain add to %s: each iteration has elements of its own",
                            name);
        else
            how = rg_format(e->arena, "plain add to %s", name);
        say(e, i->loc, how);
    }
}

static void saves(explain *e) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent || !i->array || (i->op != RG_STORE && i->op != RG_COPY))
            continue;
        const rg_ir_array *x = rg_array_at(g, i->array);
        if (!(x->flags & RG_ARR_SAVE))
            continue;
        unsigned bytes = (unsigned)x->elem->size;
        const char *name = x->name ? x->name : "a carried value";
        if (i->op == RG_COPY)
            say(e, i->loc,
                rg_format(e->arena, "saved: %s, a whole array, %u bytes for each element%s", name,
                          bytes, i->nopnd ? ", for each iteration" : ""));
        else if (x->rank)
            say(e, i->loc,
                rg_format(e->arena, "saved: %s, %u bytes for each iteration%s", name, bytes,
                          x->flags & RG_ARR_GROW ? ", as many as there are" : ""));
        else
            say(e, i->loc, rg_format(e->arena, "saved: %s, %u bytes", name, bytes));
    }
}

static bool is_function(rg_op op) {
    const char *c = rg_ops[op].c;
    return c && ((c[0] >= 'a' && c[0] <= 'z'));
}

static bool again_in(const rg_fn *g, const rg_ins *like, const char *array) {
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent || i->op != like->op || i->loc != like->loc)
            continue;
        if (!array)
            return true;
        const rg_ir_array *x = rg_array_at(g, i->array);
        if (x->kind == RG_ARR_PARAM && x->name && strcmp(x->name, array) == 0)
            return true;
    }
    return false;
}

static void reexecuted(explain *e) {
    const rg_fn *f = e->primal;
    for (rg_iid id = 1; id < f->ins.n; id++) {
        const rg_ins *i = rg_ins_at(f, id);
        if (!i->parent)
            continue;
        if (i->op == RG_LOAD && rg_array_at(f, i->array)->kind == RG_ARR_PARAM) {
            const char *name = array_name(f, i->array);
            if (again_in(e->adjoint, i, name))
                say(e, i->loc, rg_format(e->arena, "re-executed: load of %s", name));
        } else if (is_function((rg_op)i->op) && again_in(e->adjoint, i, NULL)) {
            say(e, i->loc, rg_format(e->arena, "re-executed: %s", rg_ops[i->op].text));
        }
    }
}

/* Record array k, which is parameter q of the adjoint. */
static void recorded(explain *e, uint32_t k, const rg_param *q, bool read) {
    const char *what = "recorded: the value that is captured here, for each iteration";
    if (k >= e->records.captures && !read)
        return;
    if (k >= e->records.captures + e->records.reductions)
        what = rg_format(e->arena,
                         "kept: what this loop's atomic sums leave in the array, %u bytes for each "
                         "element, each time it runs",
                         (unsigned)q->elem->size);
    else if (k >= e->records.captures)
        what = rg_format(e->arena,
                         "kept: the result of this reduction, %u bytes for each time it runs",
                         (unsigned)q->elem->size);
    say(e, q->loc, what);
}

static void arrays(explain *e) {
    const rg_fn *g = e->adjoint;
    for (uint32_t p = 0; p < g->params.n; p++) {
        const rg_param *q = &g->params.at[p];
        if (!q->is_array)
            continue;
        uint32_t flags = rg_array_at(g, q->array)->flags;
        bool read = false;
        for (rg_iid id = 1; id < g->ins.n; id++) {
            const rg_ins *i = rg_ins_at(g, id);
            read |= i->parent && ((i->op == RG_LOAD && i->array == q->array) ||
                                  (i->op == RG_COPY && i->array2 == q->array));
        }
        if (p >= e->primal->params.n) {
            recorded(e, p - e->primal->params.n, q, read);
            continue;
        }
        if (!read)
            continue;
        bool written =
            (rg_array_at(e->primal, e->primal->params.at[p].array)->flags & RG_ARR_WRITTEN) != 0;
        if ((flags & RG_ARR_BEFORE) && written)
            say(e, q->loc,
                rg_format(e->arena, "kept: a copy of '%s' from before the launch, for each record",
                          q->name));
        else if (flags & RG_ARR_AFTER)
            say(e, q->loc,
                rg_format(e->arena, "read by the adjoint: '%s' as the launch left it%s", q->name,
                          written ? "; nothing is kept" : ""));
        else
            say(e, q->loc, rg_format(e->arena, "read by the adjoint: '%s'", q->name));
    }
}

static int by_place(const void *a, const void *b) {
    const remark *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* The text of a line without its indentation. */
static const char *line_text(rg_arena *a, const rg_source_file *f, uint32_t line) {
    if (!f->text || !line)
        return "";
    const char *p = f->text, *end = f->text + f->size;
    for (uint32_t l = 1; l < line && p < end; p++)
        l += *p == '\n';
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    size_t n = 0;
    while (p + n < end && p[n] != '\n' && p[n] != '\r')
        n++;
    return rg_strndup(a, p, n);
}

void rg_explain(rg_unit *u, uint32_t kernel, const rg_variant *adjoint, rg_text *out) {
    explain e = {.arena = out->arena,
                 .sources = u->sources,
                 .primal = u->module->kernels.at[kernel],
                 .adjoint = adjoint->fn};
    e.records = rg_ad_records(out->arena, u->marked[kernel] ? u->marked[kernel] : e.primal);
    arrays(&e);
    saves(&e);
    reexecuted(&e);
    gradients(&e);
    if (e.list.n > 1)
        qsort(e.list.at, e.list.n, sizeof *e.list.at, by_place);
    uint32_t saved = 0, atomics = 0;
    for (uint32_t i = 0; i < e.list.n; i++) {
        saved += strncmp(e.list.at[i].text, "saved", 5) == 0;
        atomics += strncmp(e.list.at[i].text, "atomic", 6) == 0;
    }
    rg_text_format(out, "kernel %s: %u saved, %u atomic\n", e.primal->name, saved, atomics);
    for (uint32_t i = 0; i < e.list.n; i++) {
        const remark *r = &e.list.at[i];
        bool known = r->line && r->file < e.sources->files.n;
        if (i == 0 || r->file != r[-1].file || r->line != r[-1].line) {
            if (known) {
                const rg_source_file *f = &e.sources->files.at[r->file];
                rg_text_format(out, "%s:%u: %s\n", f->path, r->line,
                               line_text(out->arena, f, r->line));
            } else {
                rg_text_add(out, "elsewhere:\n");
            }
        }
        rg_text_format(out, "    %s\n", r->text);
    }
}
