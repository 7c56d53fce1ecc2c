/* Statements and structure. A region prints its instructions that are statements, then assigns what
 * it yields. Yields are parallel assignments: they are ordered so that no variable is overwritten
 * before it was read, and go through temporaries only when they swap. */
#include "emit/c/printer.h"

#include <string.h>

void rg_c_init(rg_cprint *p, rg_arena *a, const rg_fn *f, rg_cplan *plan, const rg_cdialect *d,
               rg_chelpers *h, rg_text *out) {
    memset(p, 0, sizeof *p);
    p->f = f;
    p->plan = plan;
    p->d = d;
    p->arena = a;
    p->out = out;
    p->helpers = h;
    p->flat = RG_NEW_N(a, bool, f->arrays.n + 1);
    p->mark = RG_NEW_N(a, uint32_t, plan->vars.n + 1);
}

void rg_c_line(rg_cprint *p) {
    for (int k = 0; k < p->indent; k++)
        rg_text_add_n(p->out, "    ", 4);
}

const char *rg_c_fresh(rg_cprint *p, const char *base) {
    const char *name = base;
    for (unsigned k = 1; rg_table_get(&p->plan->names, name); k++)
        name = rg_format(p->arena, "%s_%u", base, k);
    rg_table_set(&p->plan->names, name, RG_NEW(p->arena, rg_cname));
    return name;
}

void rg_c_define(rg_cprint *p, rg_val v) {
    const rg_cvar *x = &p->plan->vars.at[p->plan->var[v]];
    rg_c_line(p);
    if (x->first == v) {
        rg_text_add(p->out, p->d->type[x->type]);
        rg_text_char(p->out, ' ');
    }
    rg_text_add(p->out, x->name);
    rg_text_add(p->out, " = ");
}

/* ---- yields ---- */

typedef struct assignment {
    uint32_t var; /* target */
    rg_val value;
    uint32_t waits; /* others that still read the target's old value */
    bool done;
    uint32_t reads, nreads; /* the list of what it reads: targets of others */
} assignment;

typedef struct assignments {
    assignment *at;
    uint32_t n;
    RG_VEC(uint32_t) reads;
} assignments;

static void collect(rg_cprint *p, assignments *l, uint32_t j, rg_val v) {
    uint32_t var = p->plan->var[v];
    if (var) {
        if (p->mark[var] && p->mark[var] - 1 != j)
            RG_PUSH(p->arena, &l->reads, p->mark[var] - 1);
        return;
    }
    if (!rg_cplan_folded(p->plan, v))
        return;
    const rg_ins *s = &p->f->ins.at[p->f->vals.at[v].def];
    for (uint32_t o = 0; o < s->nopnd; o++)
        collect(p, l, j, p->f->pool.at[s->opnd + o]);
}

/* V = V + x prints as V += x. */
static bool compound(rg_cprint *p, uint32_t var, rg_op op, rg_val x, rg_val y) {
    static const struct {
        uint8_t op;
        bool either;
        const char *text;
    } forms[] = {
        {RG_ADD, true, "+="}, {RG_SUB, false, "-="}, {RG_MUL, true, "*="}, {RG_DIV, false, "/="}};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        if (forms[k].op != op)
            continue;
        if (p->plan->var[x] != var) {
            if (!forms[k].either || p->plan->var[y] != var)
                return false;
            y = x;
        }
        rg_text_format(p->out, "%s %s ", p->plan->vars.at[var].name, forms[k].text);
        rg_c_expr(p, y, RG_P_ASSIGN);
        return true;
    }
    return false;
}

static void assign(rg_cprint *p, uint32_t var, rg_val v) {
    const rg_fn *f = p->f;
    rg_c_line(p);
    if (!p->plan->var[v] && rg_cplan_folded(p->plan, v)) {
        const rg_ins *s = &f->ins.at[f->vals.at[v].def];
        if (s->nopnd == 2 &&
            compound(p, var, (rg_op)s->op, f->pool.at[s->opnd], f->pool.at[s->opnd + 1])) {
            rg_text_add(p->out, ";\n");
            return;
        }
    }
    rg_text_format(p->out, "%s = ", p->plan->vars.at[var].name);
    rg_c_expr(p, v, RG_P_ASSIGN);
    rg_text_add(p->out, ";\n");
}

static void release(assignments *l, uint32_t j, uint32_t *ready, uint32_t *nready) {
    for (uint32_t k = 0; k < l->at[j].nreads; k++) {
        uint32_t t = l->reads.at[l->at[j].reads + k];
        if (--l->at[t].waits == 0 && !l->at[t].done)
            ready[(*nready)++] = t;
    }
    l->at[j].nreads = 0;
}

static void assign_all(rg_cprint *p, assignments *l) {
    for (uint32_t j = 0; j < l->n; j++)
        p->mark[l->at[j].var] = j + 1;
    for (uint32_t j = 0; j < l->n; j++) {
        l->at[j].reads = l->reads.n;
        collect(p, l, j, l->at[j].value);
        l->at[j].nreads = l->reads.n - l->at[j].reads;
        for (uint32_t k = 0; k < l->at[j].nreads; k++)
            l->at[l->reads.at[l->at[j].reads + k]].waits++;
    }
    for (uint32_t j = 0; j < l->n; j++)
        p->mark[l->at[j].var] = 0;
    uint32_t *ready = RG_NEW_N(p->arena, uint32_t, l->n), nready = 0, left = l->n;
    const char **held = RG_NEW_N(p->arena, const char *, l->n);
    for (uint32_t j = l->n; j-- > 0;)
        if (!l->at[j].waits)
            ready[nready++] = j;
    for (uint32_t next = 0; left;) {
        while (nready) {
            uint32_t j = ready[--nready];
            l->at[j].done = true;
            left--;
            if (held[j]) {
                rg_c_line(p);
                rg_text_format(p->out, "%s = %s;\n", p->plan->vars.at[l->at[j].var].name, held[j]);
            } else
                assign(p, l->at[j].var, l->at[j].value);
            release(l, j, ready, &nready);
        }
        if (!left)
            break;
        /* a cycle: read one of its values early */
        while (l->at[next].done || held[next] || !l->at[next].nreads)
            next++;
        const rg_cvar *x = &p->plan->vars.at[l->at[next].var];
        held[next] = rg_c_fresh(p, rg_format(p->arena, "%s_next", x->name));
        rg_c_line(p);
        rg_text_format(p->out, "%s %s = ", p->d->type[x->type], held[next]);
        rg_c_expr(p, l->at[next].value, RG_P_ASSIGN);
        rg_text_add(p->out, ";\n");
        release(l, next, ready, &nready);
    }
}

static rg_val yielded(const rg_fn *f, rg_iid i, uint32_t b, uint32_t k) {
    rg_iid y = rg_yield_of(f, f->ins.at[i].region[b]);
    return rg_operand(f, y, k + (f->ins.at[i].op == RG_LOOP ? 1u : 0u));
}

void rg_c_yield(rg_cprint *p, rg_iid i, uint32_t b) {
    const rg_ins *s = &p->f->ins.at[i];
    if (!s->nres)
        return;
    assignments l = {.at = RG_NEW_N(p->arena, assignment, s->nres)};
    for (uint32_t k = 0; k < s->nres; k++) {
        if (!rg_cplan_slot_live(p->plan, i, k))
            continue;
        uint32_t var = rg_cplan_slot_var(p->plan, i, k);
        rg_val v = yielded(p->f, i, b, k);
        if (p->plan->var[v] != var)
            l.at[l.n++] = (assignment){.var = var, .value = v};
    }
    if (l.n == 1)
        assign(p, l.at[0].var, l.at[0].value);
    else if (l.n)
        assign_all(p, &l);
}

void rg_c_inits(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    uint32_t first = rg_first_init(f, i);
    for (uint32_t k = 0; k < f->ins.at[i].nres; k++) {
        if (!rg_cplan_slot_live(p->plan, i, k))
            continue;
        rg_val init = rg_operand(f, i, first + k), r = rg_result(f, i, k);
        if (p->plan->var[init] == p->plan->var[r])
            continue;
        rg_c_define(p, r);
        rg_c_expr(p, init, RG_P_ASSIGN);
        rg_text_add(p->out, ";\n");
    }
}

/* ---- structure ---- */

static void print_if(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    for (uint32_t k = 0; k < s->nres; k++) {
        rg_val r = rg_result(f, i, k);
        uint32_t var = p->plan->var[r];
        if (!p->plan->live[r] || p->plan->vars.at[var].first != r)
            continue;
        rg_c_line(p);
        rg_text_format(p->out, "%s %s;\n", p->d->type[p->plan->vars.at[var].type],
                       p->plan->vars.at[var].name);
    }
    size_t start = p->out->n;
    rg_c_line(p);
    rg_text_add(p->out, "if (");
    rg_val c = rg_operand(f, i, 0);
    rg_c_expr(p, c, RG_P_ANY);
    rg_text_add(p->out, ") {\n");
    size_t body = p->out->n;
    p->indent++;
    rg_c_region(p, s->region[0]);
    rg_c_yield(p, i, 0);
    p->d->leave(p, s->region[0], false);
    p->indent--;
    bool empty = p->out->n == body;
    if (empty) { /* only the other branch does something: turn the condition */
        p->out->n = start;
        rg_c_line(p);
        rg_text_add(p->out, "if (");
        rg_c_not(p, c);
        rg_text_add(p->out, ") {\n");
    } else {
        rg_c_line(p);
        start = p->out->n;
        rg_text_add(p->out, "} else {\n");
    }
    body = p->out->n;
    p->indent++;
    rg_c_region(p, s->region[1]);
    rg_c_yield(p, i, 1);
    p->d->leave(p, s->region[1], false);
    p->indent--;
    if (p->out->n == body && !empty) {
        p->out->n = start;
        rg_text_add(p->out, "}\n");
        return;
    }
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

static void loop_body(rg_cprint *p, rg_iid i, rg_rid r) {
    p->d->enter(p, r);
    rg_c_region(p, r);
    rg_c_yield(p, i, 0);
    p->d->leave(p, r, true);
}

void rg_c_for_header(rg_cprint *p, rg_val iv, const char *lo, const char *hi, bool reverse) {
    const char *name = rg_c_var(p, iv);
    rg_type t = p->f->vals.at[iv].type;
    const char *type = p->d->type[t];
    if (!reverse)
        rg_text_format(p->out, "for (%s %s = %s; %s < %s; %s++)", type, name, lo, name, hi, name);
    else if (rg_type_is_unsigned(t))
        rg_text_format(p->out, "for (%s %s = %s; %s-- > %s;)", type, name, hi, name, lo);
    else
        rg_text_format(p->out, "for (%s %s = %s - 1; %s >= %s; %s--)", type, name, hi, name, lo,
                       name);
}

static void print_for(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    bool reverse = (s->flags & RG_INS_REVERSE) != 0;
    rg_c_inits(p, i);
    const char *lo = rg_c_expr_text(p, rg_operand(f, i, 0), reverse ? RG_P_SHIFT : RG_P_ASSIGN);
    const char *hi = rg_c_expr_text(p, rg_operand(f, i, 1), reverse ? RG_P_ADD : RG_P_SHIFT);
    int64_t n;
    rg_val iv = f->regions.at[s->region[0]].args.at[0];
    if (reverse && !rg_type_is_unsigned(f->vals.at[iv].type) &&
        rg_val_const_int(f, rg_operand(f, i, 1), &n) && n > INT32_MIN && n <= INT32_MAX) {
        if (p->d->hint)
            p->d->hint(p, i);
        rg_c_line(p);
        rg_text_format(p->out, "for (%s %s = %lld; %s >= %s; %s--) {\n",
                       p->d->type[f->vals.at[iv].type], rg_c_var(p, iv), (long long)n - 1,
                       rg_c_var(p, iv), lo, rg_c_var(p, iv));
    } else {
        if (p->d->hint)
            p->d->hint(p, i);
        rg_c_line(p);
        rg_c_for_header(p, iv, lo, hi, reverse);
        rg_text_add(p->out, " {\n");
    }
    p->indent++;
    loop_body(p, i, s->region[0]);
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

/* Does v's text read a variable that the end of loop i assigns? */
static bool reads_carried(rg_cprint *p, rg_iid i, rg_val v) {
    const rg_fn *f = p->f;
    uint32_t var = p->plan->var[v];
    if (var) {
        for (uint32_t k = 0; k < f->ins.at[i].nres; k++)
            if (rg_cplan_slot_live(p->plan, i, k) && rg_cplan_slot_var(p->plan, i, k) == var &&
                p->plan->var[yielded(f, i, 0, k)] != var)
                return true;
        return false;
    }
    if (!rg_cplan_folded(p->plan, v))
        return false;
    const rg_ins *s = &f->ins.at[f->vals.at[v].def];
    if (s->op == RG_LOAD)
        return true; /* keep it where it is */
    for (uint32_t o = 0; o < s->nopnd; o++)
        if (reads_carried(p, i, f->pool.at[s->opnd + o]))
            return true;
    return false;
}

static void print_while(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    const rg_region *body = &f->regions.at[s->region[0]];
    rg_iid branch = body->ins.at[body->ins.n - 2];
    rg_val c = rg_operand(f, branch, 0);
    size_t start = p->out->n;
    rg_c_line(p);
    rg_text_add(p->out, "for (;;) {\n");
    size_t before = p->out->n;
    p->indent++;
    rg_c_region(p, s->region[0]);
    if (p->out->n == before) {
        p->out->n = start;
        p->indent--;
        rg_c_line(p);
        rg_text_add(p->out, "while (");
        rg_c_expr(p, c, RG_P_ANY);
        rg_text_add(p->out, ") {\n");
        p->indent++;
    } else {
        rg_c_line(p);
        rg_text_add(p->out, "if (");
        rg_c_not(p, c);
        rg_text_add(p->out, ")\n");
        p->indent++;
        rg_c_line(p);
        rg_text_add(p->out, "break;\n");
        p->indent--;
    }
    rg_rid then = f->ins.at[branch].region[0];
    p->d->enter(p, then);
    rg_c_region(p, then);
    rg_c_yield(p, branch, 0);
    p->d->leave(p, then, true);
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

static void print_loop(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_c_inits(p, i);
    if (p->plan->shape[i] == RG_SHAPE_WHILE) {
        print_while(p, i);
        return;
    }
    rg_c_line(p);
    rg_text_add(p->out, "for (;;) {\n");
    p->indent++;
    rg_val again = rg_operand(f, rg_yield_of(f, s->region[0]), 0);
    p->d->enter(p, s->region[0]);
    rg_c_region(p, s->region[0]);
    const char *text = NULL;
    if (reads_carried(p, i, again)) {
        text = rg_c_fresh(p, "again");
        rg_c_line(p);
        rg_text_format(p->out, "%s %s = ", p->d->type[RG_BOOL], text);
        rg_c_expr(p, again, RG_P_ASSIGN);
        rg_text_add(p->out, ";\n");
    }
    rg_c_yield(p, i, 0);
    p->d->leave(p, s->region[0], true);
    int64_t c;
    if (!rg_val_const_int(f, again, &c) || !c) {
        rg_c_line(p);
        if (rg_val_const_int(f, again, &c))
            rg_text_add(p->out, "break;\n");
        else {
            rg_text_add(p->out, "if (");
            if (text)
                rg_text_format(p->out, "!%s", text);
            else
                rg_c_not(p, again);
            rg_text_add(p->out, ")\n");
            p->indent++;
            rg_c_line(p);
            rg_text_add(p->out, "break;\n");
            p->indent--;
        }
    }
    p->indent--;
    rg_c_line(p);
    rg_text_add(p->out, "}\n");
}

/* ---- plain statements ---- */

const char *rg_c_combine(rg_cprint *p, rg_red kind, rg_type t, const char *acc, const char *x) {
    rg_text out = {.arena = p->arena};
    rg_c_red_text(&out, kind, t, acc, x);
    return rg_text_str(&out);
}

void rg_c_red_identity(rg_cprint *p, rg_red kind, rg_type t) {
    bool real = rg_type_is_float(t);
    if (kind == RG_RED_MUL || kind == RG_RED_LAND)
        rg_text_add(p->out, "1");
    else if (real && (kind == RG_RED_MIN || kind == RG_RED_MAX)) {
        p->helpers->math = true;
        rg_text_add(p->out, kind == RG_RED_MIN ? "INFINITY" : "-INFINITY");
    } else if (kind == RG_RED_AND)
        rg_text_format(p->out, t == RG_BOOL ? "1" : "(%s)-1", p->d->type[t]);
    else if (kind == RG_RED_MIN)
        rg_text_add(p->out, t == RG_I32   ? "INT32_MAX"
                            : t == RG_U32 ? "UINT32_MAX"
                            : t == RG_I64 ? "INT64_MAX"
                            : t == RG_U64 ? "UINT64_MAX"
                                          : "1");
    else if (kind == RG_RED_MAX)
        rg_text_add(p->out, t == RG_I32 ? "INT32_MIN" : t == RG_I64 ? "INT64_MIN" : "0");
    else
        rg_text_add(p->out, "0");
}

static void print_red(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    rg_val acc = rg_operand(f, i, 0), x = rg_operand(f, i, 1), r = rg_result(f, i, 0);
    if (!p->plan->var[r])
        return;
    rg_type t = f->vals.at[r].type;
    rg_red kind = (rg_red)f->ins.at[i].imm.i;
    static const char *const forms[] = {[RG_RED_ADD] = "+=",
                                        [RG_RED_MUL] = "*=",
                                        [RG_RED_AND] = "&=",
                                        [RG_RED_OR] = "|=",
                                        [RG_RED_XOR] = "^="};
    bool simple = kind == RG_RED_ADD || kind == RG_RED_MUL || kind == RG_RED_AND ||
                  kind == RG_RED_OR || kind == RG_RED_XOR;
    if (simple && t != RG_BOOL && p->plan->var[acc] == p->plan->var[r]) {
        rg_c_line(p);
        rg_text_format(p->out, "%s %s ", rg_c_var(p, r), forms[kind]);
        rg_c_expr(p, x, RG_P_ASSIGN);
        rg_text_add(p->out, ";\n");
        return;
    }
    const char *v = rg_c_expr_text(p, x, RG_P_UNARY);
    if ((kind == RG_RED_MIN || kind == RG_RED_MAX) && rg_cplan_folded(p->plan, x)) {
        const char *name = rg_c_fresh(p, "v");
        rg_c_line(p);
        rg_text_format(p->out, "%s %s = %s;\n", p->d->type[t], name, v);
        v = name;
    }
    rg_c_define(p, r);
    rg_text_format(p->out, "%s;\n",
                   rg_c_combine(p, kind, t, rg_c_expr_text(p, acc, RG_P_UNARY), v));
}

static void print_pure(rg_cprint *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_val r = rg_result(f, i, 0);
    uint32_t var = p->plan->var[r];
    if (!var)
        return;
    if (p->plan->vars.at[var].first != r && s->nopnd == 2) {
        size_t start = p->out->n;
        rg_c_line(p);
        if (compound(p, var, (rg_op)s->op, rg_operand(f, i, 0), rg_operand(f, i, 1))) {
            rg_text_add(p->out, ";\n");
            return;
        }
        p->out->n = start;
    }
    rg_c_define(p, r);
    rg_c_op(p, i, RG_P_ASSIGN);
    rg_text_add(p->out, ";\n");
}

void rg_c_instruction(rg_cprint *p, rg_iid i) {
    const rg_ins *s = &p->f->ins.at[i];
    switch ((rg_op)s->op) {
    case RG_YIELD:
        break;
    case RG_IF:
        if (p->plan->shape[i] != RG_SHAPE_BODY)
            print_if(p, i);
        break;
    case RG_FOR:
        print_for(p, i);
        break;
    case RG_LOOP:
        print_loop(p, i);
        break;
    case RG_PARALLEL:
        p->d->parallel(p, i);
        break;
    case RG_ALLOC:
        p->d->alloc(p, i);
        break;
    case RG_STORE:
        p->d->store(p, i);
        break;
    case RG_ADDTO:
        p->d->addto(p, i);
        break;
    case RG_RMW:
        p->d->rmw(p, i);
        break;
    case RG_COPY:
        p->d->copy(p, i);
        break;
    case RG_RED:
        print_red(p, i);
        break;
    case RG_LOAD:
        if (p->plan->var[rg_result(p->f, i, 0)] && (p->checked || (s->flags & RG_INS_ATOMIC))) {
            p->d->load(p, i);
            break;
        }
        print_pure(p, i);
        break;
    case RG_DIV:
    case RG_REM:
    case RG_SHL:
    case RG_SHR:
        if (p->checked && p->d->risky && p->plan->var[rg_result(p->f, i, 0)] && p->d->risky(p, i))
            break;
        print_pure(p, i);
        break;
    default:
        print_pure(p, i);
    }
}

void rg_c_region(rg_cprint *p, rg_rid r) {
    const rg_region *g = &p->f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        if (!p->plan->dead[i] && p->plan->root[i] == i)
            rg_c_instruction(p, i);
    }
}

/* ---- struct types ---- */

const char *rg_c_elem(const rg_cdialect *d, rg_arena *a, const rg_elem *e, const char *prefix) {
    return e->is_struct ? rg_format(a, "%s%s", prefix, e->name) : d->mem[e->mem];
}

static void struct_type(rg_text *t, const rg_cdialect *d, const rg_elem *e, bool *done,
                        const char *prefix) {
    if (!e->is_struct || done[e->index])
        return;
    done[e->index] = true;
    for (uint32_t k = 0; k < e->nfields; k++)
        struct_type(t, d, e->fields[k].type, done, prefix);
    rg_text_format(t, "typedef struct %s%s {\n", prefix, e->name);
    for (uint32_t k = 0; k < e->nfields; k++) {
        const rg_field *x = &e->fields[k];
        rg_text_format(t, "    %s %s", rg_c_elem(d, t->arena, x->type, prefix), x->name);
        for (uint32_t n = 0; n < x->ndims; n++)
            rg_text_format(t, "[%lld]", (long long)x->dims[n]);
        rg_text_add(t, ";\n");
    }
    rg_text_format(t, "} %s%s;\n\n", prefix, e->name);
}

void rg_c_structs(rg_text *t, const rg_cdialect *d, const rg_fn *f, bool *done,
                  const char *prefix) {
    for (uint32_t k = 0; k < f->params.n; k++)
        struct_type(t, d, f->params.at[k].elem, done, prefix);
    for (uint32_t k = 1; k < f->arrays.n; k++)
        struct_type(t, d, f->arrays.at[k].elem, done, prefix);
}
