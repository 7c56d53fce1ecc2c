/* Memory in the CPU form: local arrays, accesses, atomics, and the checks of checked mode.
 *
 * Local arrays are on the C stack when small and constant, else in the worker's scratch, marked and
 * released around each iteration; growing ones are on the heap, freed at the end of their scope and
 * on every way out. In checked mode nothing is folded, so that each operand is a name and can be
 * printed twice: in the check and in the access. */
#include "emit/c/cpu.h"

#include <string.h>

enum { STACK_ARRAY = 4096, STACK_TOTAL = 65536 };

int rg_cpu_line(const rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    if (!f->module || !f->module->sources)
        return 0;
    return (int)rg_sources_line(f->module->sources, f->ins.at[i].loc);
}

const char *rg_cpu_thread(const rg_cprint *p) {
    return ((const rg_cpu *)p->user)->in_task ? "rg_thread" : "0";
}

void rg_cpu_fail(rg_cprint *p) {
    const rg_cpu *s = p->user;
    rg_text_add(p->out, "{\n");
    p->indent++;
    for (uint32_t k = s->growing.n; k-- > 0;) {
        rg_c_line(p);
        rg_text_format(p->out, "rg_env->grow(rg_env, %s, 0);\n",
                       p->plan->array_name[s->growing.at[k]]);
    }
    rg_c_line(p);
    rg_text_add(p->out, s->in_task ? "return;\n" : "return 1;\n");
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

/* ---- local arrays ---- */

void rg_cpu_take(rg_cprint *p, rg_iid i, bool zero) {
    const rg_fn *f = p->f;
    rg_aid a = f->ins.at[i].array;
    const rg_ir_array *x = &f->arrays.at[a];
    const char *name = p->plan->array_name[a], *type = rg_c_elem(p->d, p->arena, x->elem, "rg_s_");
    for (uint32_t k = 0; k < x->rank; k++) {
        int64_t n;
        if (rg_c_extent_const(f, a, k, &n))
            continue;
        rg_c_line(p);
        rg_text_format(p->out, "const int64_t %s = ", p->plan->extent_name[a][k]);
        bool save = (x->flags & RG_ARR_SAVE) != 0; /* of a loop that may be empty */
        if (save)
            rg_text_add(p->out, "rg_at_least_0(");
        rg_c_expr(p, rg_operand(f, i, k), RG_P_ASSIGN);
        rg_text_add(p->out, save ? ");\n" : ";\n");
    }
    rg_c_line(p);
    rg_text_format(p->out, "%s *%s = rg_new(rg_env, %s, %d, \"%s\", sizeof(%s), %d, %u, ", type,
                   name, rg_cpu_thread(p), rg_cpu_line(p, i), name, type, zero, x->rank);
    rg_text_add(p->out, x->rank ? "(const int64_t[]){" : "NULL");
    for (uint32_t k = 0; k < x->rank; k++) {
        if (k)
            rg_text_add(p->out, ", ");
        rg_c_extent(p, a, k);
    }
    rg_text_add(p->out, x->rank ? "});\n" : ");\n");
    rg_c_line(p);
    rg_text_format(p->out, "if (!%s) ", name);
    rg_cpu_fail(p);
}

static void alloc(rg_cprint *p, rg_iid i) {
    rg_cpu *s = p->user;
    const rg_fn *f = p->f;
    rg_aid a = f->ins.at[i].array;
    const rg_ir_array *x = &f->arrays.at[a];
    const char *name = p->plan->array_name[a], *type = rg_c_elem(p->d, p->arena, x->elem, "rg_s_");
    bool zero = (x->flags & RG_ARR_ZERO) != 0;
    switch (s->home[a]) {
    case RG_CPU_GROWS:
        rg_c_line(p);
        rg_text_format(p->out, "%s *%s = NULL;\n", type, name);
        rg_c_line(p);
        rg_text_format(p->out, "int64_t %s = 0, rg_room_%u = 0;\n", p->plan->extent_name[a][0], a);
        RG_PUSH(p->arena, &s->growing, a);
        return;
    case RG_CPU_STACK: {
        uint64_t n = rg_c_small_array(f, a, UINT32_MAX) / (x->elem->size ? x->elem->size : 1);
        rg_c_line(p);
        rg_text_format(p->out, "%s %s[%llu]%s;\n", type, name, (unsigned long long)(n ? n : 1),
                       zero ? " = {0}" : "");
        return;
    }
    case RG_CPU_ENV:
        if (!s->hoisted[a])
            rg_cpu_take(p, i, zero);
        else if (zero) {
            rg_c_line(p);
            const char *count = rg_c_count_text(p, a);
            rg_text_format(p->out, "rg_clear(%s, %s%ssizeof *%s);\n", name, count,
                           *count ? " * " : "", name);
        }
    }
}

/* Memory taken in region r for each iteration: not by nested loops, which see to themselves. */
static bool takes(const rg_cprint *p, rg_rid r) {
    const rg_cpu *s = p->user;
    const rg_region *g = &p->f->regions.at[r];
    for (uint32_t k = 0; p->plan->allocs[r] && k < g->ins.n; k++) {
        const rg_ins *q = &p->f->ins.at[g->ins.at[k]];
        if (p->plan->dead[g->ins.at[k]])
            continue;
        if (q->op == RG_ALLOC && s->home[q->array] == RG_CPU_ENV && !s->hoisted[q->array])
            return true;
        if (q->op == RG_IF && (takes(p, q->region[0]) || takes(p, q->region[1])))
            return true;
    }
    return false;
}

static void enter(rg_cprint *p, rg_rid body) {
    if (p->checked) {
        rg_c_line(p);
        rg_text_add(p->out, "if (*rg_env->stop) ");
        rg_cpu_fail(p);
    }
    if (!takes(p, body))
        return;
    rg_c_line(p);
    rg_text_format(p->out, "const size_t rg_mark_%u = rg_env->mark(rg_env, %s);\n", body,
                   rg_cpu_thread(p));
}

static void leave(rg_cprint *p, rg_rid r, bool body) {
    rg_cpu *s = p->user;
    const rg_region *g = &p->f->regions.at[r];
    for (uint32_t k = p->plan->allocs[r] ? g->ins.n : 0; k-- > 0;) {
        const rg_ins *q = &p->f->ins.at[g->ins.at[k]];
        if (q->op != RG_ALLOC || s->home[q->array] != RG_CPU_GROWS || p->plan->dead[g->ins.at[k]])
            continue;
        rg_c_line(p);
        rg_text_format(p->out, "rg_env->grow(rg_env, %s, 0);\n", p->plan->array_name[q->array]);
        s->growing.n--;
    }
    if (body && takes(p, r)) {
        rg_c_line(p);
        rg_text_format(p->out, "rg_env->release(rg_env, %s, rg_mark_%u);\n", rg_cpu_thread(p), r);
    }
}

/* ---- accesses ---- */

static const rg_leaf *leaf_of(const rg_fn *f, rg_iid i) {
    return rg_ins_leaf(f, &f->ins.at[i]);
}

/* "if (in bounds) ", for the n first indices, before an access or copy. */
static void check_axes(rg_cprint *p, rg_iid i, rg_aid a, uint32_t n, const rg_leaf *leaf) {
    const rg_fn *f = p->f;
    uint32_t rank = f->arrays.at[a].rank, all = n + (leaf ? leaf->ndims : 0);
    if (!p->checked || !all)
        return;
    rg_text_add(p->out, "if (");
    for (uint32_t k = 0; k < all; k++) {
        rg_text_format(p->out, "%srg_in(rg_env, %d, \"%s\", %u, (int64_t)%s, ", k ? " && " : "",
                       rg_cpu_line(p, i), p->plan->array_name[a], k,
                       rg_c_expr_text(p, rg_operand(f, i, k), RG_P_UNARY));
        if (k < rank)
            rg_c_extent(p, a, k);
        else
            rg_text_format(p->out, "%lld", (long long)leaf->dims[k - rank]);
        rg_text_char(p->out, ')');
    }
    rg_text_add(p->out, ") ");
}

static void check(rg_cprint *p, rg_iid i) {
    rg_aid a = p->f->ins.at[i].array;
    check_axes(p, i, a, p->f->arrays.at[a].rank, leaf_of(p->f, i));
}

static bool atomic_here(const rg_cprint *p, rg_iid i) {
    const rg_cpu *s = p->user;
    return s->in_task && !s->alone && (p->f->ins.at[i].flags & RG_INS_ATOMIC);
}

/* A value that is set only if nothing faults. A variable that it shares with an earlier value keeps
 * that one till then: `i = next[i]` and `q = q / d` still read it. */
static void declare_zero(rg_cprint *p, rg_val v) {
    if (p->plan->vars.at[p->plan->var[v]].first != v)
        return;
    rg_c_define(p, v);
    rg_text_add(p->out, "0;\n");
}

static void load(rg_cprint *p, rg_iid i) {
    rg_val v = rg_result(p->f, i, 0);
    rg_mem m = leaf_of(p->f, i)->mem;
    bool half = m == RG_M_F16;
    if (p->checked) {
        declare_zero(p, v);
        rg_c_line(p);
        check(p, i);
        rg_text_format(p->out, "%s = ", rg_c_var(p, v));
    } else
        rg_c_define(p, v);
    if (half)
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
    rg_text_add(p->out, half ? "rg_half_to_float(" : "");
    if (atomic_here(p, i)) {
        p->helpers->atomic_load[m] = true;
        rg_text_format(p->out, "rg_atomic_load_%s(&", rg_mem_name(m));
        rg_c_place(p, i);
        rg_text_char(p->out, ')');
    } else
        rg_c_place(p, i);
    rg_text_add(p->out, half ? ");\n" : ";\n");
}

/* A store past the end of a growing array makes room first. */
static void make_room(rg_cprint *p, rg_iid i) {
    const rg_cpu *s = p->user;
    rg_aid a = p->f->ins.at[i].array;
    if (p->f->arrays.at[a].kind != RG_ARR_LOCAL || s->home[a] != RG_CPU_GROWS)
        return;
    bool here = false;
    for (uint32_t k = 0; k < s->growing.n; k++)
        here |= s->growing.at[k] == a;
    if (!here) { /* several iterations at once cannot move one array */
        rg_text_format(p->out, "#error \"%s grows inside a parallel loop\"\n",
                       p->plan->array_name[a]);
        return;
    }
    const char *name = p->plan->array_name[a], *n = p->plan->extent_name[a][0];
    const char *index = rg_c_expr_text(p, rg_operand(p->f, i, 0), RG_P_UNARY);
    rg_c_line(p);
    rg_text_format(p->out, "if ((int64_t)%s >= %s) {\n", index, n);
    p->indent++;
    rg_c_line(p);
    rg_text_format(p->out,
                   "void *rg_moved = rg_more(rg_env, %s, &rg_room_%u, (int64_t)%s, sizeof *%s, %d, "
                   "\"%s\");\n",
                   name, a, index, name, rg_cpu_line(p, i), name);
    rg_c_line(p);
    rg_text_add(p->out, "if (!rg_moved) ");
    rg_cpu_fail(p);
    rg_c_line(p);
    rg_text_format(p->out, "%s = rg_moved;\n", name);
    rg_c_line(p);
    rg_text_format(p->out, "%s = (int64_t)%s + 1;\n", n, index);
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

static void store(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    rg_mem m = leaf_of(f, i)->mem;
    make_room(p, i);
    const char *v = rg_c_stored_text(p, i);
    rg_c_line(p);
    check(p, i);
    if (atomic_here(p, i)) {
        p->helpers->atomic_store[m] = true;
        rg_text_format(p->out, "rg_atomic_store_%s(&%s, %s);\n", rg_mem_name(m),
                       rg_c_place_text(p, i), v);
        return;
    }
    rg_c_place(p, i);
    rg_text_format(p->out, " = %s;\n", v);
}

static void addto(rg_cprint *p, rg_iid i) {
    const rg_cpu *s = p->user;
    const rg_ins *q = &p->f->ins.at[i];
    bool shared = s->in_task && !s->alone && (q->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE));
    make_room(p, i);
    rg_c_line(p);
    check(p, i);
    if (!shared) {
        rg_c_plain_add(p, i);
        return;
    }
    if (s->own[q->array])
        rg_text_format(p->out, "if (rg_own_%u) ", q->array);
    else if (s->maybe_alone)
        rg_text_add(p->out, "if (rg_alone) ");
    else {
        rg_c_call_rmw(p, i, RG_RED_ADD, false);
        return;
    }
    if (p->checked)
        rg_text_add(p->out, "{ ");
    rg_c_plain_add(p, i);
    rg_c_line(p);
    rg_text_add(p->out, p->checked ? "} else " : "else ");
    rg_c_call_rmw(p, i, RG_RED_ADD, false);
}

static void rmw(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_cpu *st = p->user;
    const rg_ins *s = &f->ins.at[i];
    rg_red kind = (rg_red)s->imm.i;
    rg_mem m = leaf_of(f, i)->mem;
    rg_val r = s->nres && p->plan->var[rg_result(f, i, 0)] ? rg_result(f, i, 0) : 0;
    bool now = (s->flags & RG_INS_CAPTURE_NEW) != 0, half = m == RG_M_F16;
    bool atomic = st->in_task && !st->alone;
    if (r && (p->checked || !atomic))
        declare_zero(p, r);
    if (atomic) {
        if (r && !p->checked)
            rg_c_define(p, r);
        else
            rg_c_line(p);
        check(p, i);
        if (r && p->checked)
            rg_text_format(p->out, "%s = ", rg_c_var(p, r));
        rg_c_call_rmw(p, i, kind, now);
        return;
    }
    rg_type t = f->vals.at[rg_c_stored(f, s)].type;
    rg_c_line(p);
    check(p, i);
    rg_text_add(p->out, "{\n");
    p->indent++;
    const char *place = rg_c_place_text(p, i);
    if (half) {
        rg_c_use(p->helpers, RG_H_HALF_LOAD);
        rg_c_use(p->helpers, RG_H_HALF_STORE);
    }
    const char *read = half ? rg_format(p->arena, "rg_half_to_float(%s)", place) : place;
    rg_c_line(p);
    rg_text_format(p->out, "const %s rg_old = %s, rg_by = %s;\n", p->d->type[t], read,
                   rg_c_expr_text(p, rg_c_stored(f, s), RG_P_ASSIGN));
    rg_c_line(p);
    rg_text_format(p->out, half ? "%s = rg_half_from_float(%s);\n" : "%s = %s;\n", place,
                   rg_c_combine(p, kind, t, "rg_old", "rg_by"));
    if (r) {
        rg_c_line(p);
        rg_text_format(p->out, "%s = %s;\n", rg_c_var(p, r), now ? read : "rg_old");
    }
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

static void copy(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    uint32_t to = f->arrays.at[s->array].rank, from = f->arrays.at[s->array2].rank;
    const char *count = rg_c_count_text(p, to < from ? s->array : s->array2);
    rg_c_line(p);
    if (to > from)
        check_axes(p, i, s->array, to - from, NULL);
    else
        check_axes(p, i, s->array2, from - to, NULL);
    bool apart = s->array != s->array2 && (f->arrays.at[s->array].kind == RG_ARR_LOCAL ||
                                           f->arrays.at[s->array2].kind == RG_ARR_LOCAL);
    rg_text_format(p->out, "%s(%s, %s, %s%ssizeof(%s));\n", apart ? "rg_copy_apart" : "rg_copy",
                   rg_c_slice_text(p, i, s->array, to > from ? to - from : 0),
                   rg_c_slice_text(p, i, s->array2, from > to ? from - to : 0), count,
                   *count ? " * " : "",
                   rg_c_elem(p->d, p->arena, f->arrays.at[s->array].elem, "rg_s_"));
}

/* ---- what may fault besides memory ---- */

static bool risky(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_val r = rg_result(f, i, 0);
    rg_type t = f->vals.at[r].type;
    if (!rg_type_is_int(t))
        return false;
    const char *x = rg_c_expr_text(p, rg_operand(f, i, 0), RG_P_UNARY);
    const char *y = rg_c_expr_text(p, rg_operand(f, i, 1), RG_P_UNARY);
    bool division = s->op == RG_DIV || s->op == RG_REM;
    declare_zero(p, r);
    rg_c_line(p);
    if (!division)
        rg_text_format(p->out, "if (%s < 0 || %s >= %u)\n", y, y, rg_type_size(t) * 8);
    else if (rg_type_is_unsigned(t))
        rg_text_format(p->out, "if (%s == 0)\n", y);
    else
        rg_text_format(p->out, "if (%s == 0 || (%s == -1 && %s == %s))\n", y, y, x,
                       t == RG_I32 ? "INT32_MIN" : "INT64_MIN");
    p->indent++;
    rg_c_line(p);
    rg_text_format(p->out, "rg_env->fault(rg_env, %s, %d, \"\", (int64_t)%s, (int64_t)%s, 0);\n",
                   division ? "RG_CPU_FAULT_DIVISION" : "RG_CPU_FAULT_SHIFT", rg_cpu_line(p, i), x,
                   y);
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "else\n");
    p->indent++;
    rg_c_line(p);
    rg_text_format(p->out, "%s = ", rg_c_var(p, r));
    rg_c_op(p, i, RG_P_ASSIGN);
    rg_text_add(p->out, ";\n");
    p->indent--;
    return true;
}

const rg_cdialect rg_cpu_dialect = {
    .type = {"void", "bool", "int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double"},
    .mem = {"bool", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
            "uint64_t", "uint16_t", "float", "double"},
    .float_suffix = "f",
    .flat = true,
    .bit_logic = true,
    .own_minmax = true,
    .parallel = rg_cpu_parallel,
    .alloc = alloc,
    .enter = enter,
    .leave = leave,
    .hint = rg_cpu_loop_hint,
    .load = load,
    .store = store,
    .addto = addto,
    .rmw = rmw,
    .copy = copy,
    .risky = risky,
};
