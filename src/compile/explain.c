/* Collects remarks, each about a source line, by looking at the finished adjoint next to the
 * primal; then prints them line by line under the source's own text.
 *
 * What the adjoint computes without looking at a gradient, at the place and with the operation of
 * something in the primal, it executes again. Promoted is an access that the kernel still had
 * before it was optimised, and has no longer. */
#include "compile/explain.h"

#include "ad/ad.h"
#include "compile/compile.h"
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
    const rg_early *early;
    rg_gradients gradients;
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

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

/* An array of the adjoint by the name of what it stands for in the source. */
static const char *source_name(explain *e, rg_aid a) {
    const rg_ir_array *x = rg_array_at(e->adjoint, a);
    const char *name = array_name(e->adjoint, a);
    if (x->kind == RG_ARR_SHADOW)
        return rg_format(e->arena, "%s.grad", e->adjoint->params.at[x->param].name);
    if (e->gradients.array[a] && ends_with(name, "_b"))
        return rg_format(e->arena, "%.*s.grad", (int)strlen(name) - 2, name);
    if (ends_with(name, "_work"))
        return rg_format(e->arena, "%.*s", (int)strlen(name) - 5, name);
    return name;
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

/* The parallel loop that a local array comes to life in; 0: none. */
static rg_iid parallel_of_array(const rg_fn *f, rg_aid a) {
    for (rg_iid i = 1; i < f->ins.n; i++)
        if (f->ins.at[i].parent && f->ins.at[i].op == RG_ALLOC && f->ins.at[i].array == a)
            return parallel_of(f, i);
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
            if (rg_def_op(f, v) == RG_IF)
                return "its index comes out of a branch";
            if (rg_def_op(f, v) != RG_OP_NONE && rg_def_op(f, v) != RG_SCALAR)
                return "its index is computed from values that are not loop variables";
        }
    }
    return "two iterations may add to one element";
}

/* ---- remarks ---- */

/* The reduction that a value is the sum of, through arithmetic; 0: none. */
static rg_iid reduction_behind(const rg_fn *g, rg_val v, int depth) {
    rg_iid d = rg_value_at(g, v)->def;
    if (!d || depth > 6)
        return 0;
    const rg_ins *i = rg_ins_at(g, d);
    if (i->op == RG_PARALLEL)
        return d;
    if (i->op == RG_FOR || i->op == RG_LOOP) /* what each iteration adds to it */
        return reduction_behind(g,
                                rg_operand(g, rg_yield_of(g, i->region[0]),
                                           rg_value_at(g, v)->index + (i->op == RG_LOOP)),
                                depth + 1);
    if (!rg_op_is_pure((rg_op)i->op))
        return 0;
    for (uint32_t k = 0; k < i->nopnd; k++) {
        rg_iid p = reduction_behind(g, rg_operand(g, d, k), depth + 1);
        if (p)
            return p;
    }
    return 0;
}

static const char *how_added(explain *e, rg_iid id) {
    const rg_fn *g = e->adjoint;
    const rg_ins *i = rg_ins_at(g, id);
    const char *name = source_name(e, i->array);
    rg_val v = rg_operand(g, id, i->nopnd - 1);
    rg_iid p = parallel_of(g, id), sum;
    if (i->flags & RG_INS_ATOMIC && i->flags & RG_INS_PRIVATE)
        return rg_format(
            e->arena, "atomic add to %s, or to a copy of each thread's own where it is small: %s",
            name, why_atomic(e, g, id));
    if (i->flags & RG_INS_ATOMIC)
        return rg_format(e->arena, "atomic add to %s: %s", name, why_atomic(e, g, id));
    if (i->flags & RG_INS_PRIVATE)
        return rg_format(e->arena,
                         "add to %s in a copy of each thread's own, added together after: %s", name,
                         why_atomic(e, g, id));
    if (i->flags & RG_INS_SCALARIZED)
        return rg_format(e->arena,
                         "reduced add to %s: every iteration adds to the same element, so it is "
                         "summed in registers first",
                         name);
    if (i->flags & RG_INS_GATHERED)
        return rg_format(
            e->arena,
            "gathered add to %s: each iteration sums what its own element gets from its "
            "neighbours",
            name);
    if (p && parallel_of_array(g, i->array) == p)
        return rg_format(e->arena, "plain add to %s: each iteration has its own", name);
    if (p)
        return rg_format(e->arena, "plain add to %s: each iteration has elements of its own", name);
    if ((sum = reduction_behind(g, v, 0)) != 0)
        return rg_format(
            e->arena,
            "reduced add to %s: summed in registers over the parallel loop of line %u, "
            "then added once",
            name, rg_sources_line(e->sources, rg_ins_at(g, sum)->loc));
    return rg_format(e->arena, "plain add to %s: outside of parallel loops", name);
}

static void gradients(explain *e) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent || !i->array || !e->gradients.array[i->array])
            continue;
        double zero;
        if (i->op == RG_ADDTO || i->op == RG_RMW)
            say(e, i->loc, how_added(e, id));
        else if (i->op == RG_STORE &&
                 rg_val_const_real(g, rg_operand(g, id, i->nopnd - 1), &zero) && zero == 0)
            say(e, i->loc,
                rg_format(e->arena, "cleared: %s, whose element is overwritten here",
                          source_name(e, i->array)));
        else if (i->op == RG_STORE)
            say(e, i->loc,
                rg_format(e->arena, "set: %s, whose element is overwritten here",
                          source_name(e, i->array)));
    }
}

/* A save of one element in a loop of its own: the loop goes over the whole array. */
static bool saves_whole(const rg_fn *g, rg_iid id) {
    const rg_ins *i = rg_ins_at(g, id);
    rg_iid owner = rg_region_at(g, i->parent)->owner;
    return owner && rg_ins_at(g, owner)->op == RG_FOR && rg_ins_at(g, owner)->loc == i->loc &&
           rg_region_at(g, i->parent)->ins.n <= 6 &&
           rg_def_op(g, rg_operand(g, id, i->nopnd - 1)) == RG_LOAD;
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
        if (i->op == RG_COPY || saves_whole(g, id))
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

/* Does alloc `id` of the adjoint run inside a loop of the same place in the source? */
static bool in_own_loop(const rg_fn *g, rg_iid id) {
    rg_loc loc = rg_ins_at(g, id)->loc;
    for (rg_rid r = rg_ins_at(g, id)->parent; rg_region_at(g, r)->owner;) {
        const rg_ins *o = rg_ins_at(g, rg_region_at(g, r)->owner);
        if (o->loc == loc && (o->op == RG_FOR || o->op == RG_LOOP))
            return true;
        r = o->parent;
    }
    return false;
}

/* Bytes that the loop at loc saves for each iteration, or for each block of them: those that are
 * known, and what there is besides. */
static const char *size_of_saves(explain *e, rg_loc loc, bool inner) {
    const rg_fn *g = e->adjoint;
    uint64_t known = 0;
    rg_text rest = {.arena = e->arena};
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent || i->op != RG_ALLOC || i->loc != loc || in_own_loop(g, id) != inner)
            continue;
        const rg_ir_array *x = rg_array_at(g, i->array);
        if (!(x->flags & RG_ARR_SAVE) || !x->rank)
            continue;
        uint64_t n = x->elem->size;
        int64_t c;
        for (uint32_t k = 1; k < i->nopnd && n; k++)
            n = rg_val_const_int(g, rg_operand(g, id, k), &c) && c >= 0 ? n * (uint64_t)c : 0;
        known += n;
        if (!n)
            rg_text_format(&rest, "%s%u bytes for each element of %s", rest.n ? " and " : "",
                           (unsigned)x->elem->size, x->name ? x->name : "it");
    }
    if (!known)
        return rest.n ? rg_text_str(&rest) : NULL;
    return rg_format(e->arena, "%llu bytes%s%s", (unsigned long long)known, rest.n ? " and " : "",
                     rg_text_str(&rest));
}

/* Is the loop the one over the steps of a block? */
static bool steps_of_block(const rg_fn *f, rg_iid id) {
    rg_iid owner = rg_region_at(f, rg_ins_at(f, id)->parent)->owner;
    return owner && (rg_ins_at(f, owner)->flags & RG_INS_CHECKPOINT) &&
           rg_ins_at(f, owner)->op == rg_ins_at(f, id)->op;
}

static bool outermost(const rg_fn *f, rg_iid id) {
    for (rg_iid o = id; (o = rg_region_at(f, rg_ins_at(f, o)->parent)->owner) != 0;)
        if (rg_ins_at(f, o)->op == RG_FOR || rg_ins_at(f, o)->op == RG_LOOP)
            return false;
    return true;
}

/* What the loops of the source save for their iterations, and in which way. */
static void loops(explain *e) {
    const rg_fn *f = e->primal;
    for (rg_iid id = 1; id < f->ins.n; id++) {
        const rg_ins *i = rg_ins_at(f, id);
        if (!i->parent || (i->op != RG_FOR && i->op != RG_LOOP))
            continue;
        if (i->flags & RG_INS_CHECKPOINT) {
            const char *block = size_of_saves(e, i->loc, false);
            const char *step = size_of_saves(e, i->loc, true);
            if (block || step)
                say(e, i->loc,
                    rg_format(e->arena, "checkpointed: %s for each block, %s for each step of one",
                              block ? block : "nothing", step ? step : "nothing"));
            continue;
        }
        const char *each = size_of_saves(e, i->loc, false);
        if (each && !steps_of_block(f, id))
            say(e, i->loc,
                rg_format(e->arena, "memory: %s for each iteration%s", each,
                          i->op == RG_FOR && outermost(f, id)
                              ? "; checkpointed where that is more than the tape memory"
                              : ""));
    }
}

static void copies(explain *e) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        if (!i->parent || i->op != RG_COPY || rg_array_at(g, i->array)->flags & RG_ARR_SAVE)
            continue;
        const rg_ir_array *to = rg_array_at(g, i->array), *from = rg_array_at(g, i->array2);
        const char *name = source_name(e, i->array);
        if (from->flags & RG_ARR_SAVE)
            say(e, i->loc,
                rg_format(e->arena, "restored: %s, a whole array, from %s", name,
                          array_name(g, i->array2)));
        else if (from->kind == RG_ARR_PARAM && ends_with(array_name(g, i->array), "_work"))
            say(e, from->loc,
                rg_format(
                    e->arena,
                    "copied: %s, %u bytes for each element, to where the sweeps may overwrite "
                    "it",
                    name, (unsigned)to->elem->size));
        else
            say(e, i->loc,
                rg_format(e->arena, "copied: %s to %s, %u bytes for each element",
                          source_name(e, i->array2), name, (unsigned)to->elem->size));
    }
}

/* The words for an instruction of the primal; NULL: not worth any. */
static const char *words_for(explain *e, rg_iid id) {
    const rg_ins *i = rg_ins_at(e->primal, id);
    switch (i->op) {
    case RG_CONST:
    case RG_SCALAR:
    case RG_EXTENT:
    case RG_ALLOC:
    case RG_YIELD:
    case RG_IF:
    case RG_FOR:
    case RG_LOOP:
    case RG_PARALLEL:
    case RG_COPY:
        return NULL;
    case RG_CAST: /* between integers: part of an index */
        return rg_type_is_int(rg_type_of(e->primal, rg_operand(e->primal, id, 0))) &&
                       rg_type_is_int(rg_type_of(e->primal, rg_result(e->primal, id, 0)))
                   ? NULL
                   : "conversion";
    case RG_LOAD:
        return rg_format(e->arena, "load of %s", array_name(e->primal, i->array));
    case RG_STORE:
        return rg_format(e->arena, "store to %s", array_name(e->primal, i->array));
    case RG_ADDTO:
    case RG_RMW:
        return rg_format(e->arena, "update of %s", array_name(e->primal, i->array));
    case RG_RED:
        return "reduction";
    default:
        return rg_ops[i->op].text;
    }
}

/* Is primal instruction i in the adjoint again, and not as part of the way back? */
static bool again(explain *e, const rg_ins *i) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *x = rg_ins_at(g, id);
        if (!x->parent || x->op != i->op || x->loc != i->loc)
            continue;
        bool back = x->array && e->gradients.array[x->array];
        for (uint32_t k = 0; k < x->nres; k++)
            back |= e->gradients.value[rg_result(g, id, k)];
        if (!back &&
            (!i->array || strcmp(source_name(e, x->array), array_name(e->primal, i->array)) == 0))
            return true;
    }
    return false;
}

/* One remark for each line: everything of it that runs again. */
static void reexecuted(explain *e) {
    const rg_fn *f = e->primal;
    typedef struct line {
        rg_loc loc;
        uint32_t file, number;
        rg_text text;
    } line;
    RG_VEC(line) lines = {0};
    for (rg_iid id = 1; id < f->ins.n; id++) {
        const rg_ins *i = rg_ins_at(f, id);
        const char *words =
            i->parent && i->loc && i->loc < e->sources->locs.n ? words_for(e, id) : NULL;
        if (!words || !again(e, i))
            continue;
        rg_place p = e->sources->locs.at[i->loc];
        uint32_t k = 0;
        while (k < lines.n && (lines.at[k].file != p.file || lines.at[k].number != p.line))
            k++;
        if (k == lines.n)
            RG_PUSH(e->arena, &lines, (line){i->loc, p.file, p.line, {.arena = e->arena}});
        rg_text *t = &lines.at[k].text;
        const char *all = t->n ? rg_text_str(t) : "", *at = all;
        size_t n = strlen(words);
        while ((at = strstr(at, words)) != NULL &&
               !((at == all || at[-1] == ' ') && (at[n] == '\0' || at[n] == ',')))
            at++;
        if (!at)
            rg_text_format(t, "%s%s", t->n ? ", " : "", words);
    }
    for (uint32_t k = 0; k < lines.n; k++)
        say(e, lines.at[k].loc,
            rg_format(e->arena, "re-executed: %s", rg_text_str(&lines.at[k].text)));
}

/* Loops and branches: what the adjoint makes of them. */
static void control(explain *e) {
    const rg_fn *g = e->adjoint;
    for (rg_iid id = 1; id < g->ins.n; id++) {
        const rg_ins *i = rg_ins_at(g, id);
        bool loop = i->op == RG_FOR || i->op == RG_LOOP || i->op == RG_PARALLEL;
        if (!i->parent || !loop)
            continue;
        const rg_ins *like = NULL;
        for (rg_iid k = 1; k < e->primal->ins.n && !like; k++) {
            const rg_ins *x = rg_ins_at(e->primal, k);
            if (x->parent && x->loc == i->loc &&
                (x->op == RG_FOR || x->op == RG_LOOP || x->op == RG_PARALLEL))
                like = x;
        }
        if (!like)
            continue;
        if (!rg_explain_goes_back(g, &e->gradients, i->region[0])) {
            if (i->op == like->op)
                say(e, i->loc, "re-executed: the loop");
        } else if (i->op == RG_PARALLEL) {
            say(e, i->loc, "swept backward: in parallel");
        } else {
            say(e, i->loc,
                i->flags & RG_INS_FREE ? "swept backward: in any order"
                                       : "swept backward: the last iteration first");
        }
    }
}

static bool same_line(const explain *e, rg_loc a, rg_loc b) {
    const rg_place *p = &e->sources->locs.at[a], *q = &e->sources->locs.at[b];
    return p->file == q->file && p->line == q->line;
}

static void promoted(explain *e) {
    const rg_fn *f = e->primal;
    for (uint32_t k = 0; k < e->early->n; k++) {
        const rg_access_place *x = &e->early->at[k];
        bool kept = false;
        for (rg_iid id = 1; id < f->ins.n && !kept; id++) {
            const rg_ins *i = rg_ins_at(f, id);
            bool same = i->op == x->op ? i->loc == x->loc
                                       : i->op == RG_ADDTO && same_line(e, i->loc, x->loc);
            kept = i->parent && i->array && same && strcmp(array_name(f, i->array), x->array) == 0;
        }
        if (!kept)
            say(e, x->loc,
                rg_format(e->arena, "promoted: %s stays in a register, no %s here", x->array,
                          x->op == RG_LOAD    ? "load"
                          : x->op == RG_STORE ? "store"
                                              : "update"));
    }
}

void rg_explain_early(rg_arena *a, const rg_fn *f, rg_early *out) {
    for (rg_iid id = 1; id < f->ins.n; id++) {
        const rg_ins *i = rg_ins_at(f, id);
        if (i->parent && i->loc && (i->op == RG_LOAD || i->op == RG_STORE || i->op == RG_ADDTO))
            RG_PUSH(a, out, (rg_access_place){i->loc, i->op, array_name(f, i->array)});
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
        l += *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] != '\n'));
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
                 .adjoint = adjoint->fn,
                 .early = &u->early[kernel]};
    e.records = rg_ad_records(out->arena, u->marked[kernel] ? u->marked[kernel] : e.primal);
    rg_explain_gradients(e.arena, e.adjoint, &e.gradients);
    arrays(&e);
    copies(&e);
    saves(&e);
    promoted(&e);
    control(&e);
    loops(&e);
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
