/* Parallel loops in the CPU form: what the kernel does with the tasks of cpu_task.c. It fills their
 * closures, hands them to env->parallel, alone or as the links of a chain, and combines what comes
 * back: results of reductions, private copies of gradients. */
#include "emit/c/cpu_chain.h"
#include "emit/c/cpu_task.h"

static void line(rg_cprint *p, const char *text) {
    rg_c_line(p);
    rg_text_add(p->out, text);
    rg_text_char(p->out, '\n');
}

/* Number of iterations of range k, and its lower bound. */
static void print_bounds(rg_task *t) {
    rg_cprint *p = t->p;
    for (uint32_t k = 0; k < rg_task_ranges(t); k++) {
        const char *type = rg_task_index_type(t, k);
        rg_c_line(p);
        rg_text_format(p->out, "const %s rg_lo%u = %s, rg_hi%u = %s;\n", type, k,
                       rg_c_expr_text(p, rg_operand(p->f, t->i, 2 * k), RG_P_ASSIGN), k,
                       rg_c_expr_text(p, rg_operand(p->f, t->i, 2 * k + 1), RG_P_ASSIGN));
        rg_c_line(p);
        rg_text_format(p->out,
                       "const int64_t rg_n%u = rg_hi%u > rg_lo%u ? (int64_t)rg_hi%u - "
                       "(int64_t)rg_lo%u : 0;\n",
                       k, k, k, k, k);
    }
    rg_c_line(p);
    rg_text_add(p->out, "const int64_t rg_all = rg_n0");
    for (uint32_t k = 1; k < rg_task_ranges(t); k++)
        rg_text_format(p->out, " * rg_n%u", k);
    rg_text_add(p->out, ";\n");
}

/* Bytes of the array before the slice that is added to. */
static void print_skip(rg_task *t, rg_aid a) {
    rg_cprint *p = t->p;
    if (!t->lead[a])
        return;
    rg_c_line(p);
    rg_text_format(p->out, "rg_c.rg_skip_%u = (", a);
    for (uint32_t k = 0; k < t->lead[a]; k++) {
        const char *rest = rg_c_count_from_text(p, a, k + 1);
        rg_text_format(p->out, "%s(size_t)(%s)%s%s", k ? " + " : "",
                       rg_c_expr_text(p, t->lead_index[a][k], RG_P_ASSIGN), *rest ? " * " : "",
                       rest);
    }
    rg_text_format(p->out, ") * sizeof(%s);\n", rg_task_elem_type(t, a));
}

static void print_copies(rg_task *t) {
    rg_cprint *p = t->p;
    double weight = t->own_weight > 1 ? t->own_weight : 1;
    long long per = (long long)(4 * (weight < 1e6 ? weight : 1e6));
    line(p, "if (rg_env->threads > 1) {");
    p->indent++;
    rg_c_line(p);
    rg_text_add(p->out, "rg_c.rg_used = rg_new(rg_env, 0, 0, \"\", 1, 1, 1, (const "
                        "int64_t[]){rg_env->threads});\n");
    rg_c_line(p);
    rg_text_add(p->out, "if (!rg_c.rg_used) ");
    rg_cpu_fail(p);
    for (uint32_t k = 0; k < t->own.n; k++) {
        rg_aid a = t->own.at[k];
        const char *count = rg_c_count_from_text(p, a, t->lead[a]);
        print_skip(t, a);
        rg_c_line(p);
        rg_text_format(p->out, "rg_c.rg_size_%u = (%s%ssizeof(%s) + 63) / 64 * 64;\n", a, count,
                       *count ? " * " : "", rg_task_elem_type(t, a));
        rg_c_line(p);
        rg_text_format(p->out,
                       "rg_c.rg_own_%u = rg_few(rg_c.rg_size_%u / %u, rg_env->threads, rg_all, "
                       "%lld, rg_c.rg_size_%u);\n",
                       a, a, rg_mem_size(p->f->arrays.at[a].elem->leaves[0].mem), per, a);
        rg_c_line(p);
        rg_text_format(p->out, "if (rg_c.rg_own_%u) {\n", a);
        p->indent++;
        rg_c_line(p);
        rg_text_format(p->out,
                       "rg_c.rg_copy_%u = rg_new(rg_env, 0, 0, \"\", rg_c.rg_size_%u, 0, 1, (const "
                       "int64_t[]){rg_env->threads - 1});\n",
                       a, a);
        rg_c_line(p);
        rg_text_format(p->out, "if (!rg_c.rg_copy_%u) ", a);
        rg_cpu_fail(p);
        rg_cpu_close(p);
    }
    rg_cpu_close(p);
}

static void print_merge(rg_task *t) {
    rg_cprint *p = t->p;
    for (uint32_t k = 0; k < t->own.n; k++) {
        rg_aid a = t->own.at[k];
        rg_mem m = p->f->arrays.at[a].elem->leaves[0].mem;
        const char *count = rg_c_count_from_text(p, a, t->lead[a]);
        rg_c_line(p);
        rg_text_format(p->out, "if (rg_c.rg_own_%u)\n", a);
        p->indent++;
        rg_c_line(p);
        rg_text_format(p->out,
                       "rg_merge_%s(rg_env, (void *)((char *)%s + rg_c.rg_skip_%u), "
                       "rg_c.rg_copy_%u, rg_c.rg_size_%u, rg_c.rg_used, (int64_t)(%s%ssizeof(%s) / "
                       "%u));\n",
                       rg_mem_name(m), p->plan->array_name[a], a, a, a, count, *count ? " * " : "",
                       rg_task_elem_type(t, a), rg_mem_size(m));
        p->indent--;
    }
}

/* Places for the workers' partial results. */
static void print_parts(rg_task *t) {
    rg_cprint *p = t->p;
    const rg_cpu *s = p->user;
    const rg_ins *q = &p->f->ins.at[t->i];
    rg_c_line(p);
    rg_text_format(p->out,
                   "rg_c.rg_part = rg_new(rg_env, 0, 0, \"\", sizeof(struct %s_r%u), 0, 1, "
                   "(const int64_t[]){rg_env->threads});\n",
                   s->entry, t->id);
    rg_c_line(p);
    rg_text_add(p->out, "if (!rg_c.rg_part) ");
    rg_cpu_fail(p);
    line(p, "for (int rg_k = 0; rg_k < rg_env->threads; rg_k++) {");
    p->indent++;
    for (uint32_t k = 0; k < q->nres; k++)
        if (rg_cplan_slot_live(p->plan, t->i, k)) {
            const rg_cvar *x = &p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, k)];
            rg_c_line(p);
            rg_text_format(p->out, "rg_c.rg_part[rg_k].%s = ", x->name);
            rg_c_red_identity(p, (rg_red)p->f->pool.at[q->aux + k], x->type);
            rg_text_add(p->out, ";\n");
        }
    if (t->counter)
        line(p, "rg_c.rg_part[rg_k].rg_from = INT64_MAX, rg_c.rg_part[rg_k].rg_to = 0;");
    rg_cpu_close(p);
}

/* Declares and fills the closure rg_c. */
static void print_closure(rg_task *t) {
    rg_cprint *p = t->p;
    const rg_cpu *s = p->user;
    rg_c_line(p);
    rg_text_format(p->out, "struct %s_c%u rg_c = {.rg_simple = 0", s->entry, t->id);
    for (uint32_t k = 0; k < t->caps.n; k++)
        rg_text_format(p->out, ", .%s = %s", t->caps.at[k].name, t->caps.at[k].name);
    rg_text_add(p->out, "};\n");
}

/* Declares what the loop's results go to. */
static void print_results(rg_task *t) {
    rg_cprint *p = t->p;
    rg_c_inits(p, t->i);
    if (!t->counter)
        return;
    rg_c_line(p);
    rg_text_format(p->out, "int64_t rg_from_%u = INT64_MAX, rg_to_%u = 0;\n", t->id, t->id);
}

/* Adds the workers' partial results up; parts: where they are. */
static void print_combine(rg_task *t, const char *parts) {
    rg_cprint *p = t->p;
    const rg_ins *q = &p->f->ins.at[t->i];
    line(p, "for (int rg_k = 0; rg_k < rg_env->threads; rg_k++) {");
    p->indent++;
    for (uint32_t k = 0; k < q->nres; k++)
        if (rg_cplan_slot_live(p->plan, t->i, k)) {
            const rg_cvar *x = &p->plan->vars.at[rg_cplan_slot_var(p->plan, t->i, k)];
            rg_c_line(p);
            rg_text_format(p->out, "%s = %s;\n", x->name,
                           rg_c_combine(p, (rg_red)p->f->pool.at[q->aux + k], x->type, x->name,
                                        rg_format(p->arena, "%s[rg_k].%s", parts, x->name)));
        }
    if (t->counter) {
        rg_c_line(p);
        rg_text_format(p->out,
                       "if (%s[rg_k].rg_from < rg_from_%u) rg_from_%u = %s[rg_k].rg_from;\n", parts,
                       t->id, t->id, parts);
        rg_c_line(p);
        rg_text_format(p->out, "if (%s[rg_k].rg_to > rg_to_%u) rg_to_%u = %s[rg_k].rg_to;\n", parts,
                       t->id, t->id, parts);
    }
    rg_cpu_close(p);
}

/* Indices that are worth a thread. */
static long long grain_of(const rg_task *t) {
    double grain = 20000 / (t->work > 1 ? t->work : 1);
    if (rg_task_outer_only(t))
        for (uint32_t k = 1; k < rg_task_ranges(t); k++)
            grain /= (double)(rg_task_constant_count(t, k) > 0 ? rg_task_constant_count(t, k) : 1);
    return (long long)(grain < 1 ? 1 : grain);
}

static void print_alone(rg_cprint *p, rg_iid i) {
    const rg_cpu *s = p->user;
    rg_task *t = rg_task_prepare(p, i);
    rg_iid counter = rg_cpu_counter_of(p, i);
    uint32_t where = counter ? s->counter[counter] : 0;
    print_results(t);
    line(p, "{");
    p->indent++;
    print_bounds(t);
    line(p, "if (rg_all > 0) {");
    p->indent++;
    print_closure(t);
    bool memory = t->own.n || rg_task_any_slot(t);
    if (memory)
        line(p, "const size_t rg_mark = rg_env->mark(rg_env, 0);");
    if (t->special) {
        line(p, "rg_c.rg_alone = rg_env->threads <= 1;");
        line(p, "rg_c.rg_simple = rg_c.rg_alone;");
    }
    if (t->own.n) {
        print_copies(t);
        rg_c_line(p);
        rg_text_add(p->out, "rg_c.rg_simple = rg_c.rg_alone");
        if (!t->atomics) {
            rg_text_add(p->out, " || (1");
            for (uint32_t k = 0; k < t->own.n; k++)
                rg_text_format(p->out, " && rg_c.rg_own_%u", t->own.at[k]);
            rg_text_char(p->out, ')');
        }
        rg_text_add(p->out, ";\n");
    }
    if (rg_task_any_slot(t))
        print_parts(t);
    if (where) { /* few, and close together: not worth several threads */
        rg_c_line(p);
        rg_text_format(p->out, "if (rg_to_%u - rg_from_%u <= %d) {\n", where, where,
                       2 * RG_TIES_BLOCK);
        rg_c_line(p);
        rg_text_format(p->out,
                       "    if (rg_from_%u < rg_to_%u) %s_t%u(rg_env, &rg_c, rg_from_%u, rg_to_%u, "
                       "0);\n",
                       where, where, s->entry, t->id, where, where);
        line(p, "} else");
    }
    rg_c_line(p);
    rg_text_format(p->out, "rg_env->parallel(rg_env, %s_t%u, &rg_c, %s, %lld);\n", s->entry, t->id,
                   rg_task_outer_only(t) ? "rg_n0" : "rg_all", grain_of(t));
    rg_c_line(p);
    rg_text_add(p->out, "if (*rg_env->stop) ");
    rg_cpu_fail(p);
    if (rg_task_any_slot(t))
        print_combine(t, "rg_c.rg_part");
    if (t->own.n)
        print_merge(t);
    if (memory)
        line(p, "rg_env->release(rg_env, 0, rg_mark);");
    rg_cpu_close(p);
    rg_cpu_close(p);
}

/* Fills the closure of loop k of a chain, and its link. */
static void print_link(rg_task *t, uint32_t chain, uint32_t k, bool tail) {
    rg_cprint *p = t->p;
    const rg_cpu *s = p->user;
    int64_t whole = 1;
    for (uint32_t d = 1; d < rg_task_ranges(t); d++)
        whole *= rg_task_outer_only(t) ? rg_task_constant_count(t, d) : 1;
    line(p, "{");
    p->indent++;
    print_bounds(t);
    print_closure(t);
    if (rg_task_any_slot(t))
        print_parts(t);
    rg_c_line(p);
    rg_text_format(p->out, "rg_closure_%u = rg_c;\n", t->id);
    rg_c_line(p);
    rg_text_format(p->out, "rg_links_%u[%u] = (rg_link){%s_t%u, &rg_closure_%u, (int64_t)rg_lo0, ",
                   chain, k, s->entry, t->id, t->id);
    rg_text_format(p->out, "rg_all > 0 ? rg_n0 : 0, %s, %lld, %d, %lld};\n",
                   rg_task_outer_only(t) ? "1" : "rg_all > 0 ? rg_all / rg_n0 : 1", grain_of(t),
                   tail, (long long)whole);
    rg_cpu_close(p);
}

static void print_chain(rg_cprint *p, const rg_cpu_chain *c) {
    rg_cpu *s = p->user;
    bool slots = false;
    s->chains = true;
    for (uint32_t k = 0; k < c->nbetween; k++) {
        if (p->plan->root[c->between[k]] == c->between[k])
            rg_c_instruction(p, c->between[k]);
        p->plan->dead[c->between[k]] = true;
    }
    rg_task **t = RG_NEW_N(p->arena, rg_task *, c->n);
    for (uint32_t k = 0; k < c->n; k++) {
        t[k] = rg_task_prepare(p, c->link[k].i);
        p->plan->dead[c->link[k].i] = true;
        slots |= rg_task_any_slot(t[k]);
    }
    uint32_t id = t[0]->id;
    rg_c_line(p);
    rg_text_format(p->out, "rg_link rg_links_%u[%u];\n", id, c->n);
    if (slots) {
        rg_c_line(p);
        rg_text_format(p->out, "const size_t rg_chain_mark_%u = rg_env->mark(rg_env, 0);\n", id);
    }
    for (uint32_t k = 0; k < c->n; k++) {
        rg_c_line(p);
        rg_text_format(p->out, "struct %s_c%u rg_closure_%u;\n", s->entry, t[k]->id, t[k]->id);
        print_results(t[k]);
        print_link(t[k], id, k, c->link[k].tail);
    }
    /* Sums are split among workers as those of the loop by itself are. */
    rg_c_line(p);
    rg_text_format(p->out, "if (!rg_chain_run(rg_env, rg_links_%u, %u, %lld, %lld, %d)) ", id, c->n,
                   (long long)c->low, (long long)c->high, slots);
    rg_cpu_fail(p);
    for (uint32_t k = 0; k < c->n; k++)
        if (rg_task_any_slot(t[k]))
            print_combine(t[k], rg_format(p->arena, "rg_closure_%u.rg_part", t[k]->id));
    if (slots) {
        rg_c_line(p);
        rg_text_format(p->out, "rg_env->release(rg_env, 0, rg_chain_mark_%u);\n", id);
    }
}

void rg_cpu_parallel(rg_cprint *p, rg_iid i) {
    rg_cpu_chain c;
    if (rg_cpu_chain_find(p, i, &c))
        print_chain(p, &c);
    else
        print_alone(p, i);
}
