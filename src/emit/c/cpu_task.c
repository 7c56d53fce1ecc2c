/* Parallel loops in the CPU form.
 *
 *   struct E_cN    what the loop captures: pointers, scalars, bounds, places for partial results
 *   E_bN[s]        the loop over [begin, end) of the flattened ranges: a function of its own whose
 *                  array parameters are `restrict`, the innermost loop a plain counted one
 *   E_tN           the task: unpacks the closure, prepares private copies, calls E_bN
 *
 * and in the kernel (cpu_launch.c) the closure is filled and handed to env->parallel.
 *
 * Loops with atomics are printed twice: for several threads, and (E_bNs) for one, or when every
 * shared gradient is added to in private copies. Large bodies are printed once, with flags.
 *
 * Private copies: worker 0 adds to the gradient itself, each other worker to a copy that it
 * cleared; the copies are added up in worker order. So for a fixed number of workers results
 * repeat. */
#include "emit/c/cpu_task.h"

#include <string.h>

enum { TWICE_MAX = 1000 }; /* instructions of a body that is printed twice */

static bool inside(const rg_task *t, rg_val v) {
    return rg_region_inside(t->p->f, rg_val_region(t->p->f, v), t->body);
}

static void need_extent(rg_task *t, rg_aid a, uint32_t axis) {
    const rg_fn *f = t->p->f;
    const rg_ir_array *x = &f->arrays.at[a];
    int64_t n;
    if (rg_c_extent_const(f, a, axis, &n))
        return;
    if (x->kind == RG_ARR_SHADOW)
        a = f->params.at[x->param].array;
    if (!t->has_extent[a])
        t->has_extent[a] = RG_NEW_N(t->p->arena, bool, x->rank);
    t->has_extent[a][axis] = true;
}

static void need_array(rg_task *t, rg_aid a, bool write, bool all_axes) {
    const rg_fn *f = t->p->f;
    t->has_array[a] = true;
    t->writes[a] |= write;
    for (uint32_t k = all_axes || t->p->checked ? 0 : 1; k < f->arrays.at[a].rank; k++)
        need_extent(t, a, k);
}

static void narrow_slice(rg_task *t, rg_iid i, bool first);

static double weight_of(rg_op op) {
    if (op >= RG_SIN && op <= RG_NEXTAFTER)
        return 15;
    return op == RG_DIV || op == RG_REM || op == RG_SQRT ? 5 : 1;
}

static void scan(rg_task *t, rg_rid r, double times) {
    rg_cprint *p = t->p;
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *q = &f->ins.at[i];
        if (p->plan->dead[i])
            continue;
        t->n++;
        t->work += times * weight_of((rg_op)q->op);
        for (uint32_t o = 0; o < q->nopnd; o++) {
            rg_val v = rg_operand(f, i, o);
            const rg_ins *d = f->vals.at[v].def ? &f->ins.at[f->vals.at[v].def] : NULL;
            if (d && d->op == RG_CAST && rg_cplan_inline(f, v))
                d = &f->ins.at[f->vals.at[f->pool.at[d->opnd]].def];
            if (d && d->op == RG_SCALAR)
                t->has_scalar[d->imm.i] = true;
            else if (d && d->op == RG_EXTENT)
                need_extent(t, d->array, (uint32_t)d->imm.i);
            else if (p->plan->var[v] && !inside(t, v))
                t->has_var[p->plan->var[v]] = true;
        }
        switch ((rg_op)q->op) {
        case RG_LOAD:
            need_array(t, q->array, false, false);
            t->not_own[q->array] = true;
            t->atomics |= (q->flags & RG_INS_ATOMIC) != 0;
            break;
        case RG_STORE:
        case RG_RMW:
            need_array(t, q->array, true, false);
            t->not_own[q->array] = true;
            t->atomics |= q->op == RG_RMW || (q->flags & RG_INS_ATOMIC);
            break;
        case RG_ADDTO: {
            need_array(t, q->array, true, false);
            rg_mem m = rg_ins_leaf(f, q)->mem;
            const rg_elem *e = f->arrays.at[q->array].elem;
            bool sum = m == RG_M_F32 || m == RG_M_F64;
            for (uint32_t l = 0; l < e->nleaves; l++)
                sum = sum && e->leaves[l].mem == m;
            sum = sum && e->size % rg_mem_size(m) == 0;
            if (!(q->flags & RG_INS_PRIVATE) || !sum) {
                t->not_own[q->array] = true;
                t->atomics |= (q->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE)) != 0;
            } else {
                bool seen = false;
                for (uint32_t o = 0; o < t->own.n; o++)
                    seen |= t->own.at[o] == q->array;
                if (!seen)
                    RG_PUSH(p->arena, &t->own, q->array);
                narrow_slice(t, i, !seen);
                t->own_weight += times;
            }
            break;
        }
        case RG_COPY:
            need_array(t, q->array, true, true);
            need_array(t, q->array2, false, true);
            t->not_own[q->array] = t->not_own[q->array2] = true;
            break;
        default:
            break;
        }
        for (int b = 0; b < 2; b++)
            if (q->region[b])
                scan(t, q->region[b],
                     q->op == RG_IF ? times * 0.7 : times * (times < 4096 ? 16 : 1));
    }
}

static void narrow_slice(rg_task *t, rg_iid i, bool first) {
    const rg_fn *f = t->p->f;
    rg_aid a = f->ins.at[i].array;
    uint32_t rank = f->arrays.at[a].rank, n = 0;
    if (first) {
        t->lead[a] = rank ? rank - 1 : 0;
        t->lead_index[a] = RG_NEW_N(t->p->arena, rg_val, rank + 1);
        for (uint32_t k = 0; k < rank; k++)
            t->lead_index[a][k] = rg_operand(f, i, k);
    }
    while (n < t->lead[a] && rg_operand(f, i, n) == t->lead_index[a][n] &&
           !inside(t, t->lead_index[a][n]))
        n++;
    t->lead[a] = n;
}

/* Arrays with accesses of other kinds in this loop cannot be added to in private. */
static void settle_own(rg_task *t) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->own.n; k++) {
        if (t->not_own[t->own.at[k]])
            t->atomics = true;
        else
            t->own.at[n++] = t->own.at[k];
    }
    t->own.n = n;
}

static void find_captures(rg_task *t) {
    rg_cprint *p = t->p;
    const rg_fn *f = p->f;
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *x = &f->arrays.at[a];
        const char *e = rg_c_elem(p->d, p->arena, x->elem, "rg_s_");
        if (t->has_array[a])
            RG_PUSH(p->arena, &t->caps,
                    (rg_capture){rg_format(p->arena, "%s%s *%s", t->writes[a] ? "" : "const ", e,
                                           rg_cpu_shared(p, a) ? "" : "restrict "),
                                 p->plan->array_name[a]});
        for (uint32_t k = 0; t->has_extent[a] && k < x->rank; k++)
            if (t->has_extent[a][k])
                RG_PUSH(p->arena, &t->caps, (rg_capture){"int64_t ", p->plan->extent_name[a][k]});
    }
    for (uint32_t k = 0; k < f->scalars.n; k++)
        if (t->has_scalar[k])
            RG_PUSH(p->arena, &t->caps,
                    (rg_capture){
                        rg_format(p->arena, "%s ", p->d->type[rg_mem_value(f->scalars.at[k].mem)]),
                        p->plan->scalar_name[k]});
    for (uint32_t k = 1; k < p->plan->vars.n; k++)
        if (t->has_var[k]) {
            const rg_cvar *x = &p->plan->vars.at[k];
            RG_PUSH(p->arena, &t->caps,
                    (rg_capture){rg_format(p->arena, "%s ", p->d->type[x->type]), x->name});
        }
}

/* Arrays that the loop's own body makes are no captures. */
static void drop_locals(rg_task *t, rg_rid r) {
    const rg_fn *f = t->p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; t->p->plan->allocs[r] && k < g->ins.n; k++) {
        const rg_ins *q = &f->ins.at[g->ins.at[k]];
        if (q->op == RG_ALLOC) {
            t->has_array[q->array] = false;
            t->has_extent[q->array] = NULL;
            t->not_own[q->array] = true;
        }
        for (int b = 0; b < 2; b++)
            if (q->region[b])
                drop_locals(t, q->region[b]);
    }
}

/* ---- memory that is taken once per task ---- */

static bool outside(const rg_task *t, rg_val v, int *budget) {
    const rg_cplan *plan = t->p->plan;
    if (--*budget < 0)
        return false;
    if (rg_cplan_inline(t->p->f, v))
        return true;
    if (plan->var[v])
        return !inside(t, v);
    const rg_ins *d = &t->p->f->ins.at[t->p->f->vals.at[v].def];
    if (!rg_op_is_pure((rg_op)d->op))
        return false;
    for (uint32_t o = 0; o < d->nopnd; o++)
        if (!outside(t, t->p->f->pool.at[d->opnd + o], budget))
            return false;
    return true;
}

static bool hoistable(const rg_task *t, rg_iid i) {
    const rg_cpu *s = t->p->user;
    const rg_ins *q = &t->p->f->ins.at[i];
    int budget = 50;
    if (q->op != RG_ALLOC || s->home[q->array] != RG_CPU_ENV || t->p->plan->dead[i])
        return false;
    for (uint32_t o = 0; o < q->nopnd; o++)
        if (!outside(t, rg_operand(t->p->f, i, o), &budget))
            return false;
    return true;
}

static void hoist(rg_task *t) {
    rg_cprint *p = t->p;
    rg_cpu *s = p->user;
    const rg_region *g = &p->f->regions.at[t->body];
    bool any = false;
    for (uint32_t k = 0; p->plan->allocs[t->body] && k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        if (!hoistable(t, i))
            continue;
        if (!any) {
            rg_c_line(p);
            rg_text_add(p->out, "const size_t rg_mark = rg_env->mark(rg_env, rg_thread);\n");
        }
        any = true;
        s->hoisted[p->f->ins.at[i].array] = true;
        rg_cpu_take(p, i, false);
    }
}

static bool any_hoisted(const rg_task *t) {
    const rg_cpu *s = t->p->user;
    const rg_region *g = &t->p->f->regions.at[t->body];
    for (uint32_t k = 0; t->p->plan->allocs[t->body] && k < g->ins.n; k++) {
        const rg_ins *q = &t->p->f->ins.at[g->ins.at[k]];
        if (q->op == RG_ALLOC && s->hoisted[q->array])
            return true;
    }
    return false;
}

/* ---- the loop ---- */

uint32_t rg_task_ranges(const rg_task *t) {
    return (uint32_t)t->p->f->ins.at[t->i].imm.i;
}

const char *rg_task_index_type(const rg_task *t, uint32_t k) {
    const rg_fn *f = t->p->f;
    return t->p->d->type[f->vals.at[f->regions.at[t->body].args.at[k]].type];
}

/* Lower bound of range k inside the task. */
static const char *low(const rg_task *t, uint32_t k) {
    int64_t c;
    rg_val v = rg_operand(t->p->f, t->i, 2 * k);
    if (rg_val_const_int(t->p->f, v, &c))
        return rg_c_expr_text(t->p, v, RG_P_POSTFIX);
    return rg_format(t->p->arena, "rg_lo%u", k);
}

/* Iterations of range k when constant, else -1. */
int64_t rg_task_constant_count(const rg_task *t, uint32_t k) {
    int64_t lo, hi;
    const rg_fn *f = t->p->f;
    if (!rg_val_const_int(f, rg_operand(f, t->i, 2 * k), &lo) ||
        !rg_val_const_int(f, rg_operand(f, t->i, 2 * k + 1), &hi) || lo < -1000000 ||
        hi > 1000000000 || lo > hi)
        return -1;
    return hi - lo;
}

/* Short constant inner ranges are whole loops inside each index of the outermost one. */
bool rg_task_outer_only(const rg_task *t) {
    int64_t n = 1;
    for (uint32_t k = 1; k < rg_task_ranges(t); k++) {
        int64_t c = rg_task_constant_count(t, k);
        if (c < 0 || c > 64)
            return false;
        n *= c;
    }
    return n <= 64;
}

static const char *iv(const rg_task *t, uint32_t k) {
    return rg_c_var(t->p, t->p->f->regions.at[t->body].args.at[k]);
}

static void open_loop(rg_task *t, uint32_t k, const char *begin, const char *end) {
    rg_cprint *p = t->p;
    const char *type = rg_task_index_type(t, k), *name = iv(t, k);
    rg_c_line(p);
    rg_text_format(p->out, "const %s rg_end%u = (%s)(%s + (%s)%s);\n", type, k, type, low(t, k),
                   type, end);
    if (k + 1 == rg_task_ranges(t))
        rg_cpu_simd(p, t->i);
    rg_c_line(p);
    rg_text_format(p->out, "for (%s %s = (%s)(%s + (%s)%s); %s < rg_end%u; %s++) {\n", type, name,
                   type, low(t, k), type, begin, name, k, name);
    p->indent++;
}

void rg_cpu_close(rg_cprint *p) {
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

static void iteration(rg_task *t) {
    rg_cprint *p = t->p;
    p->d->enter(p, t->body);
    rg_c_region(p, t->body);
    rg_c_yield(p, t->i, 0);
    p->d->leave(p, t->body, true);
}

static void loops(rg_task *t) {
    rg_cprint *p = t->p;
    uint32_t n = rg_task_ranges(t);
    if (n == 1 || rg_task_outer_only(t)) {
        open_loop(t, 0, "rg_begin", "rg_end");
        for (uint32_t k = 1; k < n; k++)
            open_loop(t, k, "0",
                      rg_format(p->arena, "%lld", (long long)rg_task_constant_count(t, k)));
        iteration(t);
        for (uint32_t k = 0; k < n; k++)
            rg_cpu_close(p);
        return;
    }
    /* Start in the middle of a row, go on row by row; only the first division is one. */
    rg_c_line(p);
    if (n == 2)
        rg_text_add(p->out, "int64_t rg_q0 = rg_begin / rg_n1, rg_q1 = rg_begin % rg_n1;\n");
    else {
        rg_text_add(p->out, "int64_t rg_q0 = rg_begin / (rg_n1 * rg_n2);\n");
        rg_c_line(p);
        rg_text_add(p->out,
                    "int64_t rg_q1 = rg_begin / rg_n2 % rg_n1, rg_q2 = rg_begin % rg_n2;\n");
    }
    uint32_t last = n - 1;
    rg_c_line(p);
    rg_text_add(p->out, "for (int64_t rg_left = rg_end - rg_begin; rg_left > 0;) {\n");
    p->indent++;
    rg_c_line(p);
    rg_text_format(p->out,
                   "const int64_t rg_m = rg_n%u - rg_q%u < rg_left ? rg_n%u - rg_q%u : rg_left;\n",
                   last, last, last, last);
    for (uint32_t k = 0; k < last; k++) {
        rg_c_line(p);
        rg_text_format(p->out, "const %s %s = (%s)(%s + (%s)rg_q%u);\n", rg_task_index_type(t, k),
                       iv(t, k), rg_task_index_type(t, k), low(t, k), rg_task_index_type(t, k), k);
    }
    rg_c_line(p);
    rg_text_format(p->out, "const int64_t rg_row = rg_q%u + rg_m;\n", last);
    open_loop(t, last, rg_format(p->arena, "rg_q%u", last), "rg_row");
    iteration(t);
    rg_cpu_close(p);
    rg_c_line(p);
    rg_text_format(p->out, "rg_left -= rg_m;\n");
    rg_c_line(p);
    rg_text_format(p->out, "rg_q%u = 0;\n", last);
    rg_c_line(p);
    if (n == 2)
        rg_text_add(p->out, "rg_q0++;\n");
    else {
        rg_text_add(p->out, "if (++rg_q1 == rg_n1) {\n");
        p->indent++;
        rg_c_line(p);
        rg_text_add(p->out, "rg_q1 = 0;\n");
        rg_c_line(p);
        rg_text_add(p->out, "rg_q0++;\n");
        rg_cpu_close(p);
    }
    rg_cpu_close(p);
}

bool rg_task_any_slot(const rg_task *t) {
    for (uint32_t k = 0; k < t->p->f->ins.at[t->i].nres; k++)
        if (rg_cplan_slot_live(t->p->plan, t->i, k))
            return true;
    return false;
}

/* Bounds that the loop function needs, as captures. */
static void bound_captures(rg_task *t) {
    rg_cprint *p = t->p;
    for (uint32_t k = 0; k < rg_task_ranges(t); k++) {
        int64_t c;
        if (!rg_val_const_int(p->f, rg_operand(p->f, t->i, 2 * k), &c))
            RG_PUSH(p->arena, &t->caps,
                    (rg_capture){rg_format(p->arena, "%s ", rg_task_index_type(t, k)),
                                 rg_format(p->arena, "rg_lo%u", k)});
        if (k && !rg_task_outer_only(t))
            RG_PUSH(p->arena, &t->caps, (rg_capture){"int64_t ", rg_format(p->arena, "rg_n%u", k)});
    }
}

static void print_loop_function(rg_task *t, uint32_t id, const char *tail, bool alone, bool flags) {
    rg_cprint *p = t->p;
    rg_cpu *s = p->user;
    const rg_ins *q = &p->f->ins.at[t->i];
    rg_text out = {.arena = p->arena}, *keep = p->out;
    int indent = p->indent;
    p->out = &out;
    p->indent = 1;
    rg_text_format(&out,
                   "static RG_APART void %s_b%u%s(const rg_cpu_env *rg_env, int "
                   "rg_thread,\n    int64_t rg_begin, int64_t rg_end",
                   s->entry, id, tail);
    for (uint32_t k = 0; k < t->caps.n; k++)
        rg_text_format(&out, ",\n    %s%s", t->caps.at[k].type, t->caps.at[k].name);
    if (flags) {
        rg_text_add(&out, ",\n    const int rg_alone");
        for (uint32_t k = 0; k < t->own.n; k++)
            rg_text_format(&out, ",\n    const int rg_own_%u", t->own.at[k]);
    }
    if (rg_task_any_slot(t))
        rg_text_format(&out, ",\n    struct %s_r%u *rg_part", s->entry, id);
    rg_text_add(&out, ") {\n    (void)rg_env, (void)rg_thread;\n");
    if (flags)
        rg_text_add(&out, "    (void)rg_alone;\n");
    for (uint32_t k = 0; k < q->nres; k++) {
        if (!rg_cplan_slot_live(p->plan, t->i, k))
            continue;
        const rg_cvar *x = &p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, k)];
        /* A worker may come here several times (chains). */
        rg_text_format(&out, "    %s %s = rg_part->%s;\n", p->d->type[x->type], x->name, x->name);
    }
    s->in_task = true;
    s->alone = alone;
    s->maybe_alone = flags && !alone;
    for (uint32_t k = 0; k < t->own.n; k++)
        s->own[t->own.at[k]] = flags;
    uint32_t growing = s->growing.n, start = growing;
    RG_VEC(rg_aid) outer = {0};
    for (uint32_t k = 0; k < growing; k++)
        RG_PUSH(p->arena, &outer, s->growing.at[k]);
    s->growing.n = 0; /* the kernel's own are not the task's to free */
    uint64_t stack = s->stack;
    hoist(t);
    loops(t);
    if (any_hoisted(t))
        rg_text_add(&out, "    rg_env->release(rg_env, rg_thread, rg_mark);\n");
    s->stack = stack;
    s->growing.n = start;
    for (uint32_t k = 0; k < start; k++)
        s->growing.at[k] = outer.at[k];
    if (t->counter) {
        const char *name = p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, 0)].name;
        rg_text_format(&out,
                       "    if (%s != rg_part->%s) {\n"
                       "        if (rg_begin < rg_part->rg_from) rg_part->rg_from = rg_begin;\n"
                       "        if (rg_end > rg_part->rg_to) rg_part->rg_to = rg_end;\n"
                       "    }\n",
                       name, name);
    }
    for (uint32_t k = 0; k < q->nres; k++)
        if (rg_cplan_slot_live(p->plan, t->i, k)) {
            const char *name = p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, k)].name;
            rg_text_format(&out, "    rg_part->%s = %s;\n", name, name);
        }
    rg_text_add(&out, "}\n\n");
    for (uint32_t k = 0; k < t->own.n; k++)
        s->own[t->own.at[k]] = false;
    s->in_task = s->alone = s->maybe_alone = false;
    p->out = keep;
    p->indent = indent;
    rg_text_add(s->tasks, rg_text_str(&out));
}

const char *rg_task_elem_type(const rg_task *t, rg_aid a) {
    return rg_c_elem(t->p->d, t->p->arena, t->p->f->arrays.at[a].elem, "rg_s_");
}

static const char *pointer_name(const rg_task *t, const rg_capture *c, rg_aid *own) {
    for (uint32_t k = 0; k < t->own.n; k++)
        if (c->name == t->p->plan->array_name[t->own.at[k]]) {
            *own = t->own.at[k];
            return rg_format(t->p->arena, "rg_to_%u", *own);
        }
    return rg_format(t->p->arena, "c->%s", c->name);
}

static void print_task(rg_task *t, uint32_t id, bool twice, bool flags) {
    rg_cprint *p = t->p;
    const rg_cpu *s = p->user;
    rg_text *o = s->tasks;
    rg_text_format(
        o,
        "static void %s_t%u(const rg_cpu_env *env, void *closure, int64_t begin, int64_t "
        "end, int thread) {\n    const struct %s_c%u *c = closure;\n",
        s->entry, id, s->entry, id);
    for (uint32_t k = 0; k < t->own.n; k++) {
        rg_aid a = t->own.at[k];
        rg_text_format(o,
                       "    %s *rg_to_%u = c->%s;\n"
                       "    if (c->rg_own_%u && thread) {\n"
                       "        rg_to_%u = (void *)(c->rg_copy_%u + (size_t)(thread - 1) * "
                       "c->rg_size_%u);\n"
                       "        memset(rg_to_%u, 0, c->rg_size_%u);\n"
                       "        c->rg_used[thread] = 1;\n",
                       rg_task_elem_type(t, a), a, p->plan->array_name[a], a, a, a, a, a, a);
        if (t->lead[a])
            rg_text_format(o, "        rg_to_%u = (void *)((uintptr_t)rg_to_%u - c->rg_skip_%u);\n",
                           a, a, a);
        rg_text_add(o, "    }\n");
    }
    if (t->counter)
        rg_text_format(o,
                       "    for (int64_t all = end; begin < all; begin = end) {\n"
                       "        end = all - begin > %d ? begin + %d : all;\n",
                       RG_TIES_BLOCK, RG_TIES_BLOCK);
    for (int v = twice ? 0 : 1; v < 2; v++) {
        rg_text_format(o,
                       v ? "    %s_b%u(env, thread, begin, end"
                         : "    if (c->rg_simple) {\n        %s_b%us(env, thread, begin, end",
                       s->entry, id);
        for (uint32_t k = 0; k < t->caps.n; k++) {
            rg_aid a = 0;
            rg_text_format(o, ", %s", pointer_name(t, &t->caps.at[k], &a));
        }
        if (v && flags) {
            rg_text_add(o, ", c->rg_alone");
            for (uint32_t k = 0; k < t->own.n; k++)
                rg_text_format(o, ", c->rg_own_%u", t->own.at[k]);
        }
        if (rg_task_any_slot(t))
            rg_text_add(o, ", c->rg_part + thread");
        rg_text_add(o, v ? ");\n" : ");\n        return;\n    }\n");
    }
    if (t->counter)
        rg_text_add(o, "    }\n");
    rg_text_add(o, "}\n\n");
}

static void print_structs(rg_task *t, uint32_t id) {
    rg_cprint *p = t->p;
    const rg_cpu *s = p->user;
    const rg_ins *q = &p->f->ins.at[t->i];
    rg_text *o = s->tasks;
    if (rg_task_any_slot(t)) { /* a cache line at least for each worker */
        rg_text_format(o, "struct %s_r%u {\n", s->entry, id);
        for (uint32_t k = 0; k < q->nres; k++)
            if (rg_cplan_slot_live(p->plan, t->i, k)) {
                const rg_cvar *x = &p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, k)];
                rg_text_format(o, "    %s %s;\n", p->d->type[x->type], x->name);
            }
        rg_text_format(o, "%s} __attribute__((aligned(64)));\n",
                       t->counter ? "    int64_t rg_from, rg_to;\n" : "");
    }
    rg_text_format(o, "struct %s_c%u {\n    int rg_simple, rg_alone;\n    char *rg_used;\n",
                   s->entry, id);
    for (uint32_t k = 0; k < t->caps.n; k++) {
        const char *type = t->caps.at[k].type, *r = strstr(type, "restrict ");
        rg_text_format(o, "    %.*s%s;\n", (int)(r ? r - type : (long)strlen(type)), type,
                       t->caps.at[k].name);
    }
    for (uint32_t k = 0; k < t->own.n; k++) {
        rg_aid a = t->own.at[k];
        rg_text_format(o,
                       "    int rg_own_%u;\n    char *rg_copy_%u;\n    size_t rg_size_%u, "
                       "rg_skip_%u;\n",
                       a, a, a, a);
    }
    if (rg_task_any_slot(t))
        rg_text_format(o, "    struct %s_r%u *rg_part;\n", s->entry, id);
    rg_text_add(o, "};\n");
}

rg_task *rg_task_prepare(rg_cprint *p, rg_iid i) {
    rg_cpu *s = p->user;
    const rg_fn *f = p->f;
    rg_task *t = RG_NEW(p->arena, rg_task);
    t->p = p;
    t->i = i;
    t->id = ++s->ntasks;
    t->body = f->ins.at[i].region[0];
    t->has_array = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t->writes = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t->not_own = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    t->lead = RG_NEW_N(p->arena, uint32_t, f->arrays.n + 1);
    t->lead_index = RG_NEW_N(p->arena, rg_val *, f->arrays.n + 1);
    t->has_extent = RG_NEW_N(p->arena, bool *, f->arrays.n + 1);
    t->has_scalar = RG_NEW_N(p->arena, bool, f->scalars.n + 1);
    t->has_var = RG_NEW_N(p->arena, bool, p->plan->vars.n + 1);
    t->counter = rg_cpu_is_counter(p, i);
    if (t->counter)
        s->counter[i] = t->id;
    scan(t, t->body, 1);
    drop_locals(t, t->body);
    settle_own(t);
    find_captures(t);
    bound_captures(t);
    t->special = t->atomics || t->own.n;
    bool twice = t->special && t->n <= TWICE_MAX;
    bool flags = t->special && (t->own.n || !twice);
    print_structs(t, t->id);
    if (twice)
        print_loop_function(t, t->id, "s", true, false);
    print_loop_function(t, t->id, "", !t->special, flags);
    print_task(t, t->id, twice, flags);
    return t;
}
