/* Promotion of memory to SSA: one walk in program order that keeps the current value of every
 * variable found (promote_find.c).
 *
 * Structured control flow needs no phi placement: an if gives a result for each variable that one
 * of its branches stores to, a loop carries each variable that its body stores to, and what nobody
 * reads afterwards is dead code. A variable that was not stored to yet reads as zero.
 *
 * Variables of a loop (an element whose index does not change) are loaded before it and stored
 * after it. When a for may have no iteration, all of that and the for itself go into
 * `if (lo < hi)`: the element need not even exist otherwise. */
#include "opt/opt.h"

#include "opt/forward.h"
#include "opt/promote.h"

typedef struct promoter {
    rg_rewrite *rw;
    rg_fn *f;
    rg_variables *vars;
    rg_val *now; /* by variable; 0: undefined */
} promoter;

static void walk_list(promoter *p, rg_ids list);

static const rg_variable *var_at(const promoter *p, uint32_t v) {
    return &p->vars->list.at[v];
}

static rg_val get(promoter *p, uint32_t v) {
    if (p->now[v])
        return p->now[v];
    return rg_b_zero(&p->rw->b, var_at(p, v)->type);
}

/* Values that are a variable's own take its name; constants and inputs have theirs. */
static void give_name(promoter *p, uint32_t v, rg_val x) {
    const char *name = var_at(p, v)->name;
    rg_op op = rg_def_op(p->f, x);
    if (name && op != RG_CONST && op != RG_SCALAR && op != RG_EXTENT && op != RG_LOAD)
        rg_b_name(&p->rw->b, x, name);
}

static void set(promoter *p, uint32_t v, rg_val x) {
    p->now[v] = x = rg_b_wrap(&p->rw->b, var_at(p, v)->mem, x);
    give_name(p, v, x);
}

static rg_val combine(promoter *p, rg_red kind, rg_val old, rg_val x) {
    rg_build *b = &p->rw->b;
    bool is_bool = rg_type_of(p->f, old) == RG_BOOL;
    switch (kind) {
    case RG_RED_ADD:
        return rg_b_op2(b, is_bool ? RG_OR : RG_ADD, old, x);
    case RG_RED_MUL:
        return rg_b_op2(b, is_bool ? RG_AND : RG_MUL, old, x);
    case RG_RED_MIN:
        if (is_bool)
            return rg_b_op2(b, RG_AND, old, x);
        return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_GT, old, x), x, old);
    case RG_RED_MAX:
        if (is_bool)
            return rg_b_op2(b, RG_OR, old, x);
        return rg_b_op3(b, RG_SELECT, rg_b_op2(b, RG_LT, old, x), x, old);
    case RG_RED_AND:
        return rg_b_op2(b, RG_AND, old, x);
    case RG_RED_OR:
        return rg_b_op2(b, RG_OR, old, x);
    case RG_RED_XOR:
        return rg_b_op2(b, RG_XOR, old, x);
    case RG_RED_LAND:
    case RG_RED_LOR:
        if (!is_bool) {
            rg_val zero = rg_b_zero(b, rg_type_of(p->f, old));
            old = rg_b_op2(b, RG_NE, old, zero);
            x = rg_b_op2(b, RG_NE, x, zero);
            rg_val r = rg_b_op2(b, kind == RG_RED_LAND ? RG_AND : RG_OR, old, x);
            return rg_b_cast(b, rg_type_of(p->f, zero), r);
        }
        return rg_b_op2(b, kind == RG_RED_LAND ? RG_AND : RG_OR, old, x);
    case RG_RED_SET:
        break;
    }
    return x;
}

static void access(promoter *p, rg_iid i, uint32_t v) {
    rg_rewrite *rw = p->rw;
    rg_fn *f = p->f;
    const rg_ins *ins = rg_ins_at(f, i);
    rg_val x = ins->op == RG_LOAD ? 0 : rg_operand(f, i, ins->nopnd - 1), old;
    rg_red kind = (rg_red)ins->imm.i;
    rw->b.loc = ins->loc;
    switch (ins->op) {
    case RG_LOAD:
        rg_rw_set(rw, rg_result(f, i, 0), get(p, v));
        break;
    case RG_STORE:
        set(p, v, x);
        break;
    case RG_ADDTO:
        if (var_at(p, v)->kind == RG_VAR_RED)
            p->now[v] = rg_b_red(&rw->b, RG_RED_ADD, get(p, v), x);
        else
            set(p, v, rg_b_op2(&rw->b, RG_ADD, get(p, v), x));
        break;
    case RG_RMW:
        old = get(p, v);
        bool capture_new = (ins->flags & RG_INS_CAPTURE_NEW) != 0;
        set(p, v, combine(p, kind, old, x));
        if (rg_ins_at(f, i)->nres)
            rg_rw_set(rw, rg_result(f, i, 0), capture_new ? p->now[v] : old);
        break;
    default:
        break;
    }
}

/* Walks region r; its yield is rewritten and gets the values of vars as more operands. */
static void walk_region(promoter *p, rg_rid r, const rg_ids *yielded) {
    rg_rewrite *rw = p->rw;
    rg_rid here = rw->b.region;
    rg_ids list = rg_rw_open(rw, r);
    rg_iid yield = list.at[--list.n];
    walk_list(p, list);
    rg_rw_operands(rw, yield);
    if (yielded && yielded->n) {
        rg_val *v = RG_NEW_N(rw->scratch, rg_val, yielded->n);
        rw->b.loc = rg_ins_at(p->f, yield)->loc;
        for (uint32_t k = 0; k < yielded->n; k++)
            v[k] = get(p, yielded->at[k]);
        rg_opt_append_operands(p->f, yield, v, yielded->n);
    }
    rg_rw_keep(rw, yield);
    rw->b.region = here;
}

static void walk_if(promoter *p, rg_iid i) {
    rg_rewrite *rw = p->rw;
    rg_fn *f = p->f;
    rg_ids s = p->vars->stored[i];
    rg_val *before = RG_NEW_N(rw->scratch, rg_val, s.n), *then = RG_NEW_N(rw->scratch, rg_val, s.n);
    rg_val *result = RG_NEW_N(rw->scratch, rg_val, s.n);
    for (uint32_t k = 0; k < s.n; k++)
        before[k] = p->now[s.at[k]];
    rg_rid first = rg_ins_at(f, i)->region[0], second = rg_ins_at(f, i)->region[1];
    walk_region(p, first, &s);
    for (uint32_t k = 0; k < s.n; k++) {
        then[k] = p->now[s.at[k]];
        p->now[s.at[k]] = before[k];
    }
    walk_region(p, second, &s);
    rg_iid y = rg_yield_of(f, first);
    uint32_t old = rg_ins_at(f, y)->nopnd - s.n;
    rg_opt_append_results(f, i, f->pool.at + rg_ins_at(f, y)->opnd + old, s.n, result);
    for (uint32_t k = 0; k < s.n; k++) {
        if (then[k] == p->now[s.at[k]]) /* undefined or untouched on both sides */
            continue;
        p->now[s.at[k]] = result[k];
        give_name(p, s.at[k], result[k]);
    }
    rg_rw_keep(rw, i);
}

static const rg_val *mapped_index(promoter *p, rg_iid like) {
    uint32_t n = rg_ins_nindices(p->f, rg_ins_at(p->f, like));
    rg_val *idx = RG_NEW_N(p->rw->scratch, rg_val, n);
    for (uint32_t k = 0; k < n; k++)
        idx[k] = rg_rw_val(p->rw, rg_operand(p->f, like, k));
    return idx;
}

/* Before a loop: the initial values of its own variables. */
static void begin_scope(promoter *p, rg_iid i) {
    rg_build *b = &p->rw->b;
    for (uint32_t v = p->vars->of_scope[i]; v; v = var_at(p, v)->next) {
        const rg_variable *x = var_at(p, v);
        b->loc = rg_ins_at(p->f, x->like)->loc;
        p->now[v] = 0;
        if (x->kind == RG_VAR_LOOP && x->load)
            p->now[v] = rg_b_load(b, x->array, x->leaf, mapped_index(p, x->like), 0);
        p->rw->changed = true;
    }
}

/* The condition that parallel i has an iteration. */
static rg_val has_iterations(promoter *p, rg_iid i) {
    rg_build *b = &p->rw->b;
    rg_val all = 0;
    for (uint32_t k = 0; k < (uint32_t)rg_ins_at(p->f, i)->imm.i; k++) {
        rg_val one = rg_b_op2(b, RG_LT, rg_operand(p->f, i, 2 * k), rg_operand(p->f, i, 2 * k + 1));
        all = all ? rg_b_op2(b, RG_AND, all, one) : one;
    }
    return all;
}

static void end_scope(promoter *p, rg_iid i) {
    rg_build *b = &p->rw->b;
    for (uint32_t v = p->vars->of_scope[i]; v; v = var_at(p, v)->next) {
        const rg_variable x = *var_at(p, v);
        const rg_val *idx = mapped_index(p, x.like);
        uint16_t flags = rg_ins_at(p->f, x.like)->flags;
        b->loc = rg_ins_at(p->f, x.like)->loc;
        if (x.kind == RG_VAR_LOOP) {
            rg_b_store(b, x.array, x.leaf, idx, get(p, v), 0);
        } else if (x.kind == RG_VAR_SUM) {
            rg_b_addto(b, x.array, x.leaf, idx, get(p, v), flags);
        } else {
            rg_iid test = 0;
            if (x.guard) {
                test = rg_b_if(b, has_iterations(p, i));
                rg_b_push(b, rg_ins_at(p->f, test)->region[0]);
            }
            rg_b_addto(b, x.array, x.leaf, idx, get(p, v), RG_INS_SCALARIZED);
            if (test) {
                rg_b_yield(b, NULL, 0);
                rg_b_pop(b);
                rg_b_push(b, rg_ins_at(p->f, test)->region[1]);
                rg_b_yield(b, NULL, 0);
                rg_b_pop(b);
            }
        }
    }
}

/* The loop or parallel itself, its carried variables included, appended at the current place. */
static void walk_loop_body(promoter *p, rg_iid i) {
    rg_rewrite *rw = p->rw;
    rg_fn *f = p->f;
    rg_ids s = p->vars->stored[i];
    rg_rid body = rg_ins_at(f, i)->region[0];
    rg_val *x = RG_NEW_N(rw->scratch, rg_val, s.n);
    rw->b.loc = rg_ins_at(f, i)->loc;
    for (uint32_t k = 0; k < s.n; k++)
        x[k] = get(p, s.at[k]);
    uint32_t reds = rg_opt_slots(f, i);
    rg_opt_append_operands(f, i, x, s.n);
    for (uint32_t k = 0; k < s.n; k++) {
        p->now[s.at[k]] = rg_region_add_arg(f, body, rg_type_of(f, x[k]));
        give_name(p, s.at[k], p->now[s.at[k]]);
    }
    if (rg_ins_at(f, i)->op == RG_PARALLEL && s.n) {
        uint32_t at = f->pool.n, old = rg_ins_at(f, i)->aux;
        for (uint32_t k = 0; k < reds + s.n; k++) {
            uint32_t kind = k < reds ? f->pool.at[old + k] : RG_RED_ADD;
            RG_PUSH(f->arena, &f->pool, kind);
        }
        rg_ins_at(f, i)->aux = at;
        rg_ins_at(f, i)->flags |= RG_INS_SCALARIZED;
    }
    walk_region(p, body, &s);
    rg_opt_append_results(f, i, x, s.n, x);
    for (uint32_t k = 0; k < s.n; k++) {
        p->now[s.at[k]] = x[k];
        give_name(p, s.at[k], x[k]);
    }
    rg_rw_keep(rw, i);
}

static void walk_loop(promoter *p, rg_iid i) {
    rg_rewrite *rw = p->rw;
    rg_fn *f = p->f;
    rg_ids s = p->vars->stored[i];
    uint32_t n = rg_opt_slots(f, i);
    bool wrap = false;
    for (uint32_t v = p->vars->of_scope[i]; v; v = var_at(p, v)->next)
        wrap |= !var_at(p, v)->safe;
    wrap = wrap && rg_ins_at(f, i)->op == RG_FOR && !rg_opt_surely_runs(f, i);
    if (!wrap) {
        begin_scope(p, i);
        walk_loop_body(p, i);
        end_scope(p, i);
        return;
    }
    /* Values for the case without iterations: those from before. */
    rg_val *without = RG_NEW_N(rw->scratch, rg_val, n + s.n);
    rg_val *with = RG_NEW_N(rw->scratch, rg_val, n + s.n);
    rw->b.loc = rg_ins_at(f, i)->loc;
    uint32_t m = 0;
    for (uint32_t k = 0; k < n; k++)
        without[m++] = rg_operand(f, i, 2 + k);
    for (uint32_t k = 0; k < s.n; k++)
        if (var_at(p, s.at[k])->scope != i)
            without[m++] = get(p, s.at[k]);
    rg_val test = rg_b_op2(&rw->b, RG_LT, rg_operand(f, i, 0), rg_operand(f, i, 1));
    rg_iid branch = rg_b_if(&rw->b, test);
    rg_b_push(&rw->b, rg_ins_at(f, branch)->region[0]);
    rg_ins_at(f, i)->parent = rw->b.region;
    begin_scope(p, i);
    walk_loop_body(p, i);
    end_scope(p, i);
    m = 0;
    for (uint32_t k = 0; k < n; k++)
        with[m++] = rg_result(f, i, k);
    for (uint32_t k = 0; k < s.n; k++)
        if (var_at(p, s.at[k])->scope != i)
            with[m++] = p->now[s.at[k]];
    rg_b_yield(&rw->b, with, m);
    rg_b_pop(&rw->b);
    rg_b_push(&rw->b, rg_ins_at(f, branch)->region[1]);
    rg_b_yield(&rw->b, without, m);
    rg_b_pop(&rw->b);
    rg_b_if_done(&rw->b, branch);
    m = 0;
    for (uint32_t k = 0; k < n; k++, m++) {
        rg_val out = rg_result(f, branch, m), in = rg_result(f, i, k);
        rg_value_at(f, out)->name = rg_value_at(f, in)->name;
        rg_rw_set(rw, in, out);
    }
    for (uint32_t k = 0; k < s.n; k++)
        if (var_at(p, s.at[k])->scope != i) {
            p->now[s.at[k]] = rg_result(f, branch, m++);
            give_name(p, s.at[k], p->now[s.at[k]]);
        }
}

static void walk_list(promoter *p, rg_ids list) {
    rg_rewrite *rw = p->rw;
    const rg_variables *vars = p->vars;
    for (uint32_t k = 0; k < list.n; k++) {
        rg_iid i = list.at[k];
        const rg_ins *ins = rg_ins_at(p->f, i);
        rg_rw_operands(rw, i);
        if (vars->of_ins[i]) {
            access(p, i, vars->of_ins[i]);
            rw->changed = true;
        } else if (ins->op == RG_IF) {
            begin_scope(p, i);
            walk_if(p, i);
            end_scope(p, i);
        } else if (ins->region[0]) {
            walk_loop(p, i);
        } else {
            if (ins->op == RG_ALLOC)
                for (uint32_t v = 0; v < vars->n_of_array[ins->array]; v++)
                    p->now[vars->of_array[ins->array] + v] = 0;
            rg_rw_keep(rw, i);
        }
    }
}

static bool promote_variables(rg_fn *f, rg_arena *scratch, bool all) {
    bool expanded = rg_promote_expand_copies(f, scratch);
    rg_variables *vars = rg_promote_find(f, scratch, all);
    if (!vars)
        return expanded;
    promoter *p = RG_NEW(scratch, promoter);
    p->rw = rg_rw_new(f, scratch);
    p->f = f;
    p->vars = vars;
    p->now = RG_NEW_N(scratch, rg_val, vars->list.n);
    walk_region(p, f->body, NULL);
    rg_rw_finish(p->rw);
    return p->rw->changed || expanded;
}

static bool scalars(rg_fn *f, rg_arena *scratch) {
    return promote_variables(f, scratch, false);
}

static bool elements(rg_fn *f, rg_arena *scratch) {
    return promote_variables(f, scratch, true);
}

bool rg_promote_scalars(rg_fn *f) {
    return rg_opt_with_scratch(f, scalars);
}

bool rg_opt_promote(rg_fn *f) {
    bool changed = rg_opt_with_scratch(f, elements);
    return rg_opt_with_scratch(f, rg_promote_forward) || changed;
}
