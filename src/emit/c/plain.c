/* Plain C: the form that people read and ship.
 *
 * Arrays are C's own, parameters are declared as the user declared them, parallel loops carry
 * OpenMP pragmas. Local arrays whose size the integer parameters fix come from the caller's scratch
 * (a bump allocator, one share for each thread in parallel loops), all others from the heap. The
 * body is printed first, so that the head knows which helpers and headers it needs. */
#include <string.h>

#include "emit/c/emit_c.h"
#include "emit/c/printer.h"

enum { STACK_ARRAY = 4096, STACK_TOTAL = 65536 };

typedef enum home { IN_C, IN_SCRATCH, ON_HEAP, GROWS } home;

typedef struct plain {
    const rg_activity *act;
    home *home;          /* [arrays] of locals */
    bool *extents;       /* [arrays] the text needs all its extents as variables */
    const char **size;   /* [arrays] GROWS: variable that counts its elements */
    const char *at;      /* where scratch stands; changes inside parallel loops */
    const char *scratch; /* the parameter */
    bool pragmas;
    bool in_parallel;
    rg_cprint *params_only;      /* prints extents without variables */
    RG_VEC(const char *) sizes;  /* of kernel-level scratch arrays: "rg_round(...)" */
    RG_VEC(const char *) shares; /* of each parallel loop: bytes for a thread */
    RG_VEC(rg_iid) share_of;     /* which parallel loop */
} plain;

static void pragma(rg_cprint *p, const char *text) {
    ((plain *)p->user)->pragmas = true;
    rg_c_line(p);
    rg_text_format(p->out, "#pragma omp %s\n", text);
}

/* ---- local arrays ---- */

/* Does v depend on by-value parameters only, and is its text short? */
static bool params_only(const rg_fn *f, rg_val v, int *budget) {
    rg_iid d = f->vals.at[v].def;
    if (!d || --*budget < 0)
        return false;
    const rg_ins *s = &f->ins.at[d];
    if (s->op == RG_CONST || s->op == RG_SCALAR)
        return true;
    if (s->op == RG_EXTENT)
        return f->arrays.at[s->array].kind != RG_ARR_LOCAL;
    if (!rg_op_is_pure((rg_op)s->op))
        return false;
    for (uint32_t o = 0; o < s->nopnd; o++)
        if (!params_only(f, f->pool.at[s->opnd + o], budget))
            return false;
    return true;
}

/* Bytes of the array that alloc i makes, as the scratch function says it. */
static const char *static_bytes(rg_cprint *p, rg_iid i) {
    const plain *s = p->user;
    const rg_ir_array *x = &p->f->arrays.at[p->f->ins.at[i].array];
    rg_text t = {.arena = p->arena};
    rg_text_add(&t, "rg_round(");
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t n;
        rg_val v = rg_operand(p->f, i, k);
        if (rg_val_const_int(p->f, v, &n)) {
            rg_text_format(&t, "%lld * ", (long long)(n > 0 ? n : 0));
            continue;
        }
        rg_c_use(p->helpers, RG_H_COUNT);
        rg_text_format(&t, "rg_count(%s) * ",
                       rg_c_bare(rg_c_expr_text(s->params_only, v, RG_P_ASSIGN)));
    }
    rg_text_format(&t, "sizeof(%s))", rg_c_elem(p->d, p->arena, x->elem, ""));
    rg_c_use(p->helpers, RG_H_ROUND);
    return rg_text_str(&t);
}

static void classify(rg_cprint *p, rg_rid r, uint64_t *stack, rg_text *share) {
    plain *s = p->user;
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *q = &f->ins.at[i];
        if (p->plan->dead[i])
            continue;
        if (q->op == RG_COPY)
            s->extents[q->array] = s->extents[q->array2] = true;
        if (q->op == RG_EXTENT)
            s->extents[q->array] = true;
        if (q->op == RG_ALLOC) {
            const rg_ir_array *x = &f->arrays.at[q->array];
            uint64_t bytes = rg_c_small_array(f, q->array, STACK_ARRAY);
            bool fixed = true;
            int budget = 100;
            for (uint32_t o = 0; o < q->nopnd; o++)
                fixed = fixed && params_only(f, rg_operand(f, i, o), &budget);
            if (x->flags & RG_ARR_GROW)
                s->home[q->array] = GROWS;
            else if (!x->rank || (bytes && *stack + bytes <= STACK_TOTAL)) {
                s->home[q->array] = IN_C;
                *stack += bytes;
            } else if (fixed && f->mode != RG_PRIMAL) {
                s->home[q->array] = IN_SCRATCH;
                const char *size = static_bytes(p, i);
                if (share)
                    rg_text_format(share, "%s%s", share->n ? " + " : "", size);
                else
                    RG_PUSH(p->arena, &s->sizes, size);
            } else
                s->home[q->array] = ON_HEAP;
        }
        if (q->op == RG_PARALLEL && p->plan->allocs[q->region[0]]) {
            rg_text mine = {.arena = p->arena};
            classify(p, q->region[0], stack, &mine);
            if (mine.n) {
                RG_PUSH(p->arena, &s->shares, rg_text_str(&mine));
                RG_PUSH(p->arena, &s->share_of, i);
            }
            continue;
        }
        for (int b = 0; b < 2; b++)
            if (q->region[b])
                classify(p, q->region[b], stack, share);
    }
}

static void alloc(rg_cprint *p, rg_iid i) {
    plain *s = p->user;
    const rg_fn *f = p->f;
    rg_aid a = f->ins.at[i].array;
    const rg_ir_array *x = &f->arrays.at[a];
    const char *name = p->plan->array_name[a], *type = rg_c_elem(p->d, p->arena, x->elem, "");
    bool zero = (x->flags & RG_ARR_ZERO) != 0;
    if (s->home[a] == GROWS) {
        s->size[a] = rg_c_fresh(p, rg_format(p->arena, "%s_size", name));
        rg_c_line(p);
        rg_text_format(p->out, "%s *%s = NULL;\n", type, name);
        rg_c_line(p);
        rg_text_format(p->out, "size_t %s = 0;\n", s->size[a]);
        if (s->extents[a]) {
            rg_c_line(p);
            rg_text_format(p->out, "int64_t %s = 0;\n", p->plan->extent_name[a][0]);
        }
        p->helpers->stdlib = true;
        return;
    }
    if (s->home[a] == IN_C) {
        rg_c_line(p);
        rg_text_format(p->out, "%s %s", type, name);
        for (uint32_t k = 0; k < x->rank; k++) {
            int64_t n = 1;
            rg_val_const_int(f, rg_operand(f, i, k), &n);
            rg_text_format(p->out, "[%lld]", (long long)(n > 0 ? n : 1));
        }
        if (zero)
            rg_text_add(p->out, !x->rank && !x->elem->is_struct ? " = 0" : " = {0}");
        rg_text_add(p->out, ";\n");
        return;
    }
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t n;
        if (rg_c_extent_const(f, a, k, &n) || (!k && !s->extents[a])) {
            p->plan->extent_name[a][k] = NULL;
            continue;
        }
        if (k)
            p->flat[a] = true;
        rg_c_line(p);
        rg_text_format(p->out, "const int64_t %s = ", p->plan->extent_name[a][k]);
        rg_c_expr(p, rg_operand(f, i, k), RG_P_ASSIGN);
        rg_text_add(p->out, ";\n");
    }
    rg_text bytes = {.arena = p->arena};
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t n;
        if (rg_c_extent_const(f, a, k, &n)) {
            rg_text_format(&bytes, "%lld * ", (long long)(n > 0 ? n : 0));
            continue;
        }
        rg_c_use(p->helpers, RG_H_COUNT);
        rg_text_format(&bytes, "rg_count(%s) * ",
                       p->plan->extent_name[a][k]
                           ? p->plan->extent_name[a][k]
                           : rg_c_bare(rg_c_expr_text(p, rg_operand(f, i, k), RG_P_ASSIGN)));
    }
    rg_text_format(&bytes, "sizeof(%s)", type);
    rg_c_line(p);
    if (x->rank < 2 || p->flat[a])
        rg_text_format(p->out, "%s *%s = ", type, name);
    else {
        rg_text_format(p->out, "%s (*%s)", type, name);
        for (uint32_t k = 1; k < x->rank; k++) {
            int64_t n = 1;
            rg_val_const_int(f, rg_operand(f, i, k), &n);
            rg_text_format(p->out, "[%lld]", (long long)(n > 0 ? n : 1));
        }
        rg_text_add(p->out, " = ");
    }
    if (s->home[a] == IN_SCRATCH) {
        rg_c_use(p->helpers, RG_H_TAKE);
        rg_text_format(p->out, "rg_take(&%s, %s);\n", s->at, rg_text_str(&bytes));
    } else {
        rg_c_use(p->helpers, RG_H_HEAP);
        rg_text_format(p->out, "rg_heap(%s);\n", rg_text_str(&bytes));
    }
    if (zero) {
        p->helpers->string = true;
        rg_c_line(p);
        rg_text_format(p->out, "memset(%s, 0, %s);\n", name, rg_text_str(&bytes));
    }
}

static void enter(rg_cprint *p, rg_rid body) {
    (void)p;
    (void)body;
}

static void leave(rg_cprint *p, rg_rid r, bool body) {
    (void)body;
    const plain *s = p->user;
    const rg_region *g = &p->f->regions.at[r];
    for (uint32_t k = p->plan->allocs[r] ? g->ins.n : 0; k-- > 0;) {
        const rg_ins *q = &p->f->ins.at[g->ins.at[k]];
        if (q->op != RG_ALLOC || s->home[q->array] == IN_C || p->plan->dead[g->ins.at[k]])
            continue;
        rg_c_line(p);
        if (s->home[q->array] == IN_SCRATCH)
            rg_text_format(p->out, "rg_give(&%s, %s);\n", s->at, p->plan->array_name[q->array]);
        else
            rg_text_format(p->out, "free(%s);\n", p->plan->array_name[q->array]);
    }
}

/* ---- memory ---- */

static rg_mem mem_of(const rg_fn *f, rg_iid i) {
    return rg_ins_leaf(f, &f->ins.at[i])->mem;
}

/* A store past the end of a growing array makes room first. */
static void make_room(rg_cprint *p, rg_iid i) {
    const plain *s = p->user;
    rg_aid a = p->f->ins.at[i].array;
    if (p->f->arrays.at[a].kind != RG_ARR_LOCAL || s->home[a] != GROWS)
        return;
    rg_c_use(p->helpers, RG_H_GROW);
    const char *name = p->plan->array_name[a];
    rg_c_line(p);
    rg_text_format(p->out, "%s = rg_grow(%s, &%s, (size_t)%s, sizeof *%s);\n", name, name,
                   s->size[a], rg_c_expr_text(p, rg_operand(p->f, i, 0), RG_P_UNARY), name);
    if (!s->extents[a])
        return;
    const char *n = p->plan->extent_name[a][0];
    const char *index = rg_c_expr_text(p, rg_operand(p->f, i, 0), RG_P_UNARY);
    rg_c_line(p);
    rg_text_format(p->out, "if (%s <= (int64_t)%s)\n", n, index);
    p->indent++;
    rg_c_line(p);
    rg_text_format(p->out, "%s = (int64_t)%s + 1;\n", n, index);
    p->indent--;
}

/* Declares v without a value when its variable starts here. */
static void declare(rg_cprint *p, rg_val v) {
    const rg_cvar *x = &p->plan->vars.at[p->plan->var[v]];
    if (x->first != v)
        return;
    rg_c_line(p);
    rg_text_format(p->out, "%s %s;\n", p->d->type[x->type], x->name);
}

static void load(rg_cprint *p, rg_iid i) {
    rg_val v = rg_result(p->f, i, 0);
    if (mem_of(p->f, i) == RG_M_F16) {
        p->helpers->atomic_load[RG_M_F16] = true;
        p->helpers->string = true;
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_c_define(p, v);
        rg_text_format(p->out, "rg_half_to_float(rg_atomic_load_f16(&%s));\n",
                       rg_c_place_text(p, i));
        return;
    }
    declare(p, v);
    pragma(p, "atomic read");
    rg_c_line(p);
    rg_text_format(p->out, "%s = %s;\n", rg_c_var(p, v), rg_c_place_text(p, i));
}

static void store(rg_cprint *p, rg_iid i) {
    const rg_ins *s = &p->f->ins.at[i];
    bool half = mem_of(p->f, i) == RG_M_F16;
    make_room(p, i);
    const char *v = rg_c_stored_text(p, i);
    if ((s->flags & RG_INS_ATOMIC) && half) {
        p->helpers->atomic_store[RG_M_F16] = true;
        p->helpers->string = true;
        rg_c_line(p);
        rg_text_format(p->out, "rg_atomic_store_f16(&%s, %s);\n", rg_c_place_text(p, i), v);
        return;
    }
    if (s->flags & RG_INS_ATOMIC)
        pragma(p, "atomic write");
    rg_c_line(p);
    rg_c_place(p, i);
    rg_text_format(p->out, " = %s;\n", v);
}

static void addto(rg_cprint *p, rg_iid i) {
    const plain *st = p->user;
    bool atomic = (p->f->ins.at[i].flags & (RG_INS_ATOMIC | RG_INS_PRIVATE)) && st->in_parallel;
    bool call = atomic && mem_of(p->f, i) == RG_M_F16; /* OpenMP has no atomic for it */
    make_room(p, i);
    if (atomic && !call)
        pragma(p, "atomic");
    rg_c_line(p);
    if (call)
        rg_c_call_rmw(p, i, RG_RED_ADD, false);
    else
        rg_c_plain_add(p, i);
}

static void rmw(rg_cprint *p, rg_iid i) {
    static const char *const ops[] = {[RG_RED_ADD] = "+=", [RG_RED_MUL] = "*=", [RG_RED_AND] = "&=",
                                      [RG_RED_OR] = "|=",  [RG_RED_XOR] = "^=", [RG_RED_SET] = "="};
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_red kind = (rg_red)s->imm.i;
    rg_mem m = mem_of(f, i);
    rg_val r = s->nres && p->plan->var[rg_result(f, i, 0)] ? rg_result(f, i, 0) : 0;
    bool now = (s->flags & RG_INS_CAPTURE_NEW) != 0;
    bool omp = kind != RG_RED_MIN && kind != RG_RED_MAX && kind != RG_RED_LAND &&
               kind != RG_RED_LOR && m != RG_M_F16 && m != RG_M_BOOL;
    if (!omp) {
        if (r)
            rg_c_define(p, r);
        else
            rg_c_line(p);
        rg_c_call_rmw(p, i, kind, now);
        return;
    }
    const char *place = rg_c_place_text(p, i);
    const char *v = rg_c_expr_text(p, rg_c_stored(f, s), RG_P_ASSIGN);
    if (!r) {
        pragma(p, kind == RG_RED_SET ? "atomic write" : "atomic");
        rg_c_line(p);
        rg_text_format(p->out, "%s %s %s;\n", place, ops[kind], v);
        return;
    }
    declare(p, r);
    pragma(p, "atomic capture");
    rg_c_line(p);
    if (now && kind == RG_RED_SET) /* the new value is known: OpenMP has no form for it */
        rg_text_format(p->out, "{ %s = %s; %s = %s; }\n", rg_c_var(p, r), place, place, v);
    else if (now)
        rg_text_format(p->out, "{ %s %s %s; %s = %s; }\n", place, ops[kind], v, rg_c_var(p, r),
                       place);
    else
        rg_text_format(p->out, "{ %s = %s; %s %s %s; }\n", rg_c_var(p, r), place, place, ops[kind],
                       v);
    if (now && kind == RG_RED_SET) {
        rg_c_line(p);
        rg_text_format(p->out, "%s = %s;\n", rg_c_var(p, r), v);
    }
}

static void copy(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    uint32_t to = f->arrays.at[s->array].rank, from = f->arrays.at[s->array2].rank;
    p->helpers->string = true;
    const char *count = rg_c_count_text(p, to < from ? s->array : s->array2);
    rg_c_line(p);
    rg_text_format(p->out, "memcpy(%s, %s, %s%ssizeof(%s));\n",
                   rg_c_slice_text(p, i, s->array, to > from ? to - from : 0),
                   rg_c_slice_text(p, i, s->array2, from > to ? from - to : 0), count,
                   *count ? " * " : "", rg_c_elem(p->d, p->arena, f->arrays.at[s->array].elem, ""));
}

/* ---- parallel loops ---- */

static void parallel(rg_cprint *p, rg_iid i) {
    static const char *const ops[] = {"+", "*", "min", "max", "&", "|", "^", "&&", "||", "+"};
    plain *s = p->user;
    const rg_fn *f = p->f;
    const rg_ins *q = &f->ins.at[i];
    uint32_t ranges = (uint32_t)q->imm.i;
    const rg_region *body = &f->regions.at[q->region[0]];
    rg_c_inits(p, i);
    const char *share = NULL, *outer = s->at;
    for (uint32_t k = 0; k < s->share_of.n; k++)
        if (s->share_of.at[k] == i) {
            share = rg_c_fresh(p, "share");
            rg_c_line(p);
            rg_text_format(p->out, "const size_t %s = %s;\n", share, s->shares.at[k]);
        }
    rg_text clauses = {.arena = p->arena};
    rg_text_add(&clauses, "parallel for");
    if (ranges > 1)
        rg_text_format(&clauses, " collapse(%u)", ranges);
    for (uint32_t k = 0; k < q->nres; k++) {
        if (!rg_cplan_slot_live(p->plan, i, k))
            continue;
        rg_val r = rg_result(f, i, k);
        rg_red kind = (rg_red)f->pool.at[q->aux + k];
        const char *op = ops[kind];
        if (f->vals.at[r].type == RG_BOOL && (kind == RG_RED_ADD || kind == RG_RED_OR))
            op = "||";
        else if (f->vals.at[r].type == RG_BOOL && (kind == RG_RED_MUL || kind == RG_RED_AND))
            op = "&&";
        rg_text_format(&clauses, " reduction(%s: %s)", op, rg_c_var(p, r));
    }
    pragma(p, rg_text_str(&clauses));
    for (uint32_t k = 0; k < ranges; k++) {
        rg_c_line(p);
        rg_c_for_header(p, body->args.at[k],
                        rg_c_expr_text(p, rg_operand(f, i, 2 * k), RG_P_ASSIGN),
                        rg_c_expr_text(p, rg_operand(f, i, 2 * k + 1), RG_P_SHIFT), false);
        rg_text_add(p->out, k + 1 < ranges ? "\n" : " {\n");
        p->indent++;
    }
    if (share) {
        s->at = rg_c_fresh(p, "mine");
        rg_c_use(p->helpers, RG_H_THREAD);
        rg_c_line(p);
        rg_text_format(p->out, "char *%s = %s ? %s + rg_thread() * %s : NULL;\n", s->at, outer,
                       outer, share);
    }
    s->in_parallel = true;
    rg_c_region(p, q->region[0]);
    rg_c_yield(p, i, 0);
    leave(p, q->region[0], true);
    s->in_parallel = false;
    s->at = outer;
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
    p->indent -= (int)ranges - 1;
}

static const rg_cdialect dialect = {
    .type = {"void", "bool", "int", "unsigned", "int64_t", "uint64_t", "float", "double"},
    .mem = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "unsigned", "int64_t",
            "uint64_t", "uint16_t", "float", "double"},
    .float_suffix = "f",
    .parallel = parallel,
    .alloc = alloc,
    .enter = enter,
    .leave = leave,
    .load = load,
    .store = store,
    .addto = addto,
    .rmw = rmw,
    .copy = copy,
};

/* ---- the head ---- */

static const char *const suffix[4] = {"", "_b", "_d", "_bd"};

typedef struct shadows {
    rg_aid array[4];     /* by shadow bits; 0: the IR has none */
    const char *name[4]; /* NULL: not part of the interface */
} shadows;

static shadows shadows_of(rg_cprint *p, uint32_t param) {
    const plain *s = p->user;
    shadows sh = {{0}, {NULL}};
    for (uint32_t a = 1; a < p->f->arrays.n; a++) {
        const rg_ir_array *x = &p->f->arrays.at[a];
        if (x->kind == RG_ARR_SHADOW && x->param == param) {
            sh.array[x->shadow & 3] = a;
            sh.name[x->shadow & 3] = p->plan->array_name[a];
        }
    }
    bool active = s->act && param < s->act->nparams && s->act->active[param];
    for (uint32_t bits = 1; active && bits <= 3; bits++) {
        bool has = p->f->mode == RG_HVP || (p->f->mode == RG_ADJOINT && bits == RG_SH_GRAD) ||
                   (p->f->mode == RG_TANGENT && bits == RG_SH_DOT);
        if (has && !sh.name[bits])
            sh.name[bits] = rg_c_fresh(
                p, rg_format(p->arena, "%s%s", p->plan->param_name[param], suffix[bits]));
    }
    return sh;
}

static const char *array_declaration(rg_cprint *p, const rg_param *x, const char *name,
                                     bool is_const) {
    rg_text t = {.arena = p->arena};
    rg_text_format(&t, "%s%s ", is_const ? "const " : "", rg_c_elem(p->d, p->arena, x->elem, ""));
    bool open = x->rank && !x->extent_text[0];
    rg_text_format(&t, open ? (x->rank > 1 ? "(*%s)" : "*%s") : "%s", name);
    for (uint32_t k = open ? 1 : 0; k < x->rank; k++)
        rg_text_format(&t, "[%s]", x->extent_text[k] ? x->extent_text[k] : "");
    return rg_text_str(&t);
}

typedef struct parameters {
    RG_VEC(const char *) list;
} parameters;

static void print_head(rg_cprint *p, rg_text *out, const char *result, const char *name,
                       const parameters *q) {
    size_t start = out->n;
    rg_text_format(out, "%s %s(", result, name);
    size_t column = out->n - start, at = column;
    if (!q->list.n)
        rg_text_add(out, "void");
    for (uint32_t k = 0; k < q->list.n; k++) {
        size_t n = strlen(q->list.at[k]);
        if (k)
            rg_text_char(out, ',');
        if (k && at + n + 3 > 96) {
            rg_text_char(out, '\n');
            for (size_t c = 0; c < column; c++)
                rg_text_char(out, ' ');
            at = column;
        } else if (k)
            rg_text_char(out, ' ');
        rg_text_add(out, q->list.at[k]);
        at += n + 2;
    }
    rg_text_add(out, ")");
    (void)p;
}

/* Which parameters and shadows the printed instructions touch. */
typedef struct touched {
    bool *param; /* by value */
    bool *array;
    bool *stored, *added, *loaded; /* [arrays] */
} touched;

static touched find_touched(rg_cprint *p) {
    const rg_fn *f = p->f;
    touched t;
    t.param = RG_NEW_N(p->arena, bool, f->params.n + 1);
    t.array = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t.stored = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t.added = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t.loaded = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    for (uint32_t r = 1; r < f->regions.n; r++)
        for (uint32_t k = 0; k < f->regions.at[r].ins.n; k++) {
            rg_iid i = f->regions.at[r].ins.at[k];
            const rg_ins *s = &f->ins.at[i];
            if (p->plan->dead[i])
                continue;
            if (s->op == RG_SCALAR && p->plan->uses[rg_result(f, i, 0)])
                t.param[f->scalars.at[s->imm.i].param] = true;
            if (s->op == RG_EXTENT || !s->array)
                continue;
            t.array[s->array] = t.array[s->array2] = true;
            t.loaded[s->array] |= s->op == RG_LOAD || s->op == RG_RMW;
            t.loaded[s->array2] = true;
            t.stored[s->array] |= s->op == RG_STORE || s->op == RG_COPY || s->op == RG_RMW;
            t.added[s->array] |= s->op == RG_ADDTO;
        }
    return t;
}

static void comment(rg_cprint *p, rg_text *out, const touched *t, const char *name) {
    static const char *const what[] = {"Primal", "Tangent", "Adjoint", "Tangent of the adjoint"};
    const rg_fn *f = p->f;
    const plain *s = p->user;
    if (f->mode == RG_PRIMAL)
        return;
    rg_text_format(out, "/* %s of %s.%s\n", what[f->mode], f->name,
                   f->mode == RG_ADJOINT || f->mode == RG_HVP
                       ? " Adds to the gradients of what was read, and writes no array of values.\n"
                         " * No gradient may share memory with another one, or with values."
                       : " Runs it too.");
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *x = &f->params.at[k];
        if (x->is_array && f->mode != RG_TANGENT) {
            const rg_ir_array *a = &f->arrays.at[x->array];
            bool before = (a->flags & RG_ARR_BEFORE) != 0, after = (a->flags & RG_ARR_AFTER) != 0;
            rg_text_format(out, " *   %s: %s\n", p->plan->param_name[k],
                           !t->array[x->array] ? "not read"
                           : before            ? "its values from before the call"
                           : after             ? "its values from after the call"
                                               : "its values, which the call does not change");
        }
        shadows sh = shadows_of(p, k);
        for (uint32_t bits = 1; bits < 4; bits++) {
            rg_aid a = sh.array[bits];
            if (!sh.name[bits])
                continue;
            static const char *const kind[] = {"", "gradient", "tangent",
                                               "tangent of the gradient"};
            rg_text_format(out, " *   %s: %s of %s", sh.name[bits], kind[bits],
                           p->plan->param_name[k]);
            if (!a || !t->array[a])
                rg_text_add(out, "; not touched");
            else {
                uint32_t when = f->arrays.at[a].flags & (RG_ARR_BEFORE | RG_ARR_AFTER);
                if (t->loaded[a])
                    rg_text_add(out, when == RG_ARR_BEFORE  ? "; read, from before the call"
                                     : when == RG_ARR_AFTER ? "; read, from after the call"
                                                            : "; read");
                if (t->stored[a])
                    rg_text_add(out, f->mode == RG_TANGENT ? "; written"
                                                           : "; zero afterwards where overwritten");
                if (t->added[a])
                    rg_text_add(out, "; added to");
            }
            rg_text_char(out, '\n');
        }
    }
    rg_text_format(out, " *   %s: %s_scratch(parameters of %s) bytes, or NULL to use the heap */\n",
                   s->scratch, name, f->name);
}

/* The scratch function has only the parameters for neighbours. */
static const char *unlike_params(rg_cprint *p, const char *name) {
    for (uint32_t k = 0; k < p->f->params.n; k++)
        if (!strcmp(p->plan->param_name[k], name))
            return unlike_params(p, rg_format(p->arena, "%s_", name));
    return name;
}

static void print_scratch(rg_cprint *p, rg_text *out, const char *name, const parameters *q) {
    const plain *s = p->user;
    const rg_fn *f = p->f;
    rg_text_format(out, "/* Bytes of scratch that %s uses%s. */\n", name,
                   s->shares.n ? " with the current number of threads" : "");
    print_head(p, out, "size_t", rg_format(p->arena, "%s_scratch", name), q);
    rg_text_add(out, "\n{\n");
    for (uint32_t k = 0; k < f->params.n; k++)
        rg_text_format(out, "    (void)%s;\n", p->plan->param_name[k]);
    if (!s->sizes.n && !s->shares.n) {
        rg_text_add(out, "    return 0;\n}\n\n");
        return;
    }
    const char *bytes = unlike_params(p, "bytes"), *share = unlike_params(p, "share");
    rg_text_format(out, "    size_t %s = 0;\n", bytes);
    if (s->shares.n > 1)
        rg_text_format(out, "    size_t %s = 0;\n", share);
    for (uint32_t k = 0; k < s->sizes.n; k++)
        rg_text_format(out, "    %s += %s;\n", bytes, s->sizes.at[k]);
    for (uint32_t k = 0; k < s->shares.n; k++) {
        if (s->shares.n == 1) {
            rg_text_format(out, "    size_t %s = %s;\n", share, s->shares.at[k]);
            break;
        }
        rg_text_format(out, "    if (%s < %s)\n        %s = %s;\n", share, s->shares.at[k], share,
                       s->shares.at[k]);
    }
    if (s->shares.n) {
        rg_c_use(p->helpers, RG_H_THREADS);
        rg_text_format(out, "    %s += rg_threads() * %s;\n", bytes, share);
    }
    rg_text_format(out, "    return %s;\n}\n\n", bytes);
}

static const char *const reserved[] = {
    "auto",     "break",    "case",    "char",     "const",    "continue", "default",  "do",
    "double",   "else",     "enum",    "extern",   "float",    "for",      "goto",     "if",
    "inline",   "int",      "long",    "register", "restrict", "return",   "short",    "signed",
    "sizeof",   "static",   "struct",  "switch",   "typedef",  "union",    "unsigned", "void",
    "volatile", "while",    "bool",    "true",     "false",    "size_t",   "int8_t",   "uint8_t",
    "int16_t",  "uint16_t", "int32_t", "uint32_t", "int64_t",  "uint64_t", "NULL",     "INFINITY",
    "NAN",      "memcpy",   "memset",  "malloc",   "realloc",  "free",     "abort",    "isnan",
    "isinf",    "signbit",  NULL};

/* C's words, the maths functions, the struct types and the function's own names. */
static const char *const *words(rg_arena *a, const rg_fn *f, const char *name) {
    RG_VEC(const char *) v = {0};
    for (const char *const *w = reserved; *w; w++)
        RG_PUSH(a, &v, *w);
    for (int op = 1; op < RG_N_OPS; op++) {
        const char *c = rg_ops[op].c;
        if (c && ((*c >= 'a' && *c <= 'z'))) {
            RG_PUSH(a, &v, c);
            RG_PUSH(a, &v, rg_format(a, "%sf", c));
        }
    }
    for (uint32_t k = 0; k < f->params.n; k++)
        if (f->params.at[k].elem->is_struct)
            RG_PUSH(a, &v, f->params.at[k].elem->name);
    for (uint32_t k = 1; k < f->arrays.n; k++)
        if (f->arrays.at[k].elem->is_struct)
            RG_PUSH(a, &v, f->arrays.at[k].elem->name);
    RG_PUSH(a, &v, name);
    RG_PUSH(a, &v, NULL);
    return v.at;
}

static void includes(const rg_chelpers *h, bool pragmas, rg_text *out) {
    if (h->math)
        rg_text_add(out, "#include <math.h>\n");
    rg_text_add(out, "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    if (h->stdlib)
        rg_text_add(out, "#include <stdlib.h>\n");
    if (h->string)
        rg_text_add(out, "#include <string.h>\n");
    if (h->used[RG_H_THREADS] || h->used[RG_H_THREAD])
        rg_text_add(out, "#ifdef _OPENMP\n#include <omp.h>\n#endif\n");
    rg_text_char(out, '\n');
    if (pragmas)
        rg_text_add(out, "#if defined(__GNUC__) && !defined(_OPENMP)\n"
                         "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n"
                         "#endif\n\n");
}

/* One function, with its scratch function, into out; what the head of the file needs is left in
 * helpers and pragmas. */
static void print_function(const rg_fn *f, const rg_activity *act, rg_chelpers *helpers,
                           bool *pragmas, rg_text *out) {
    static const char *const tail[] = {"", "_tangent", "_adjoint", "_hvp"};
    rg_arena *a = out->arena;
    const char *name = rg_format(a, "%s%s", f->name, tail[f->mode]);
    rg_cplan_options o = {.fold = true, .reserved = words(a, f, name)};
    rg_cplan *plan = rg_cplan_make(a, f, &o);
    rg_text body = {.arena = a}, scratch = {.arena = a};
    rg_cprint print, inline_print;
    rg_c_init(&print, a, f, plan, &dialect, helpers, &body);
    plain state;
    memset(&state, 0, sizeof state);
    state.act = act;
    state.home = RG_NEW_N(a, home, f->arrays.n + 1);
    state.extents = RG_NEW_N(a, bool, f->arrays.n + 1);
    state.size = RG_NEW_N(a, const char *, f->arrays.n + 1);
    print.user = &state;
    rg_cplan bare = *plan; /* the same without variables */
    bare.var = RG_NEW_N(a, uint32_t, f->vals.n + 1);
    rg_c_init(&inline_print, a, f, &bare, &dialect, helpers, &body);
    inline_print.user = &state;
    state.params_only = &inline_print;

    bool own = f->mode != RG_PRIMAL;
    state.scratch = rg_c_fresh(&print, "scratch");
    touched t = find_touched(&print);
    parameters all, given;
    memset(&all, 0, sizeof all);
    memset(&given, 0, sizeof given);
    RG_VEC(const char *) idle = {0};
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *x = &f->params.at[k];
        const char *pn = plan->param_name[k];
        const char *text = x->is_array
                               ? array_declaration(&print, x, pn, x->is_const)
                               : rg_format(a, "%s %s", rg_c_elem(&dialect, a, x->elem, ""), pn);
        RG_PUSH(a, &all.list, text);
        RG_PUSH(a, &given.list, text);
        if (x->is_array ? !t.array[x->array] : !t.param[k])
            RG_PUSH(a, &idle, pn);
        shadows sh = shadows_of(&print, k);
        for (uint32_t bits = 1; bits < 4; bits++) {
            if (!sh.name[bits])
                continue;
            RG_PUSH(a, &all.list,
                    x->is_array ? array_declaration(&print, x, sh.name[bits], false)
                                : rg_format(a, "%s %s[1]", rg_c_elem(&dialect, a, x->elem, ""),
                                            sh.name[bits]));
            if (!sh.array[bits] || !t.array[sh.array[bits]])
                RG_PUSH(a, &idle, sh.name[bits]);
        }
    }
    if (own)
        RG_PUSH(a, &all.list, rg_format(a, "void *%s", state.scratch));

    uint64_t stack = 0;
    classify(&print, f->body, &stack, NULL);
    bool uses_scratch = state.sizes.n || state.shares.n;
    print.indent = 1;
    rg_text_add(&body, "\n{\n");
    for (uint32_t k = 0; k < idle.n; k++)
        rg_text_format(&body, "    (void)%s;\n", idle.at[k]);
    if (own && !uses_scratch)
        rg_text_format(&body, "    (void)%s;\n", state.scratch);
    if (uses_scratch) {
        state.at = rg_c_fresh(&print, "at");
        rg_text_format(&body, "    char *%s = %s;\n", state.at, state.scratch);
    }
    rg_c_region(&print, f->body);
    leave(&print, f->body, false);
    rg_text_add(&body, "}\n");
    if (own)
        print_scratch(&print, &scratch, name, &given);

    *pragmas |= state.pragmas;
    rg_text_add(out, rg_text_str(&scratch));
    comment(&print, out, &t, name);
    print_head(&print, out, "void", name, &all);
    rg_text_add(out, rg_text_str(&body));
}

static uint32_t highest_struct(const rg_fn *f) {
    uint32_t most = f->module ? f->module->structs.n : 0;
    for (uint32_t k = 0; k < f->params.n; k++)
        if (f->params.at[k].elem->is_struct && f->params.at[k].elem->index >= most)
            most = f->params.at[k].elem->index + 1;
    for (uint32_t k = 1; k < f->arrays.n; k++)
        if (f->arrays.at[k].elem->is_struct && f->arrays.at[k].elem->index >= most)
            most = f->arrays.at[k].elem->index + 1;
    return most;
}

rg_aid rg_emit_c_plain_file(const rg_fn *const *fns, const rg_activity *const *acts, uint32_t n,
                            uint32_t *which, rg_text *out) {
    rg_arena *a = out->arena;
    rg_chelpers helpers;
    memset(&helpers, 0, sizeof helpers);
    bool pragmas = false;
    uint32_t most = 0;
    for (uint32_t k = 0; k < n; k++)
        if (highest_struct(fns[k]) > most)
            most = highest_struct(fns[k]);
    bool *done = RG_NEW_N(a, bool, most + 1);
    rg_text structs = {.arena = a}, functions = {.arena = a};
    for (uint32_t k = 0; k < n; k++) {
        rg_c_structs(&structs, &dialect, fns[k], done, "");
        if (k)
            rg_text_char(&functions, '\n');
        print_function(fns[k], acts ? acts[k] : NULL, &helpers, &pragmas, &functions);
        if (helpers.undeclared) {
            *which = k;
            return helpers.undeclared;
        }
    }
    includes(&helpers, pragmas, out);
    rg_text_add(out, rg_text_str(&structs));
    rg_c_helpers_print(&helpers, out);
    rg_text_add(out, rg_text_str(&functions));
    return 0;
}

rg_aid rg_emit_c_plain(const rg_fn *f, const rg_activity *act, rg_text *out) {
    uint32_t which;
    return rg_emit_c_plain_file(&f, &act, 1, &which, out);
}
