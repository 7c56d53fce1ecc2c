/* Parallel loops: their form, and what each outer variable is to them.
 *
 * Everything assigned in the body must be the iteration's own: declared inside, or named in a
 * clause. What is left of outer variables is only read, so lowering loads them before the loop. */
#include "lang/check.h"

static bool in_list(const rg_var *v, const rg_clause_var *at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (at[i].var == v)
            return true;
    return false;
}
#define IN(v, list) in_list((v), (list).at, (list).n)

static bool is_loop_var(const rg_parallel *par, const rg_var *v) {
    for (uint32_t k = 0; k < par->collapse; k++)
        if (par->loops[k] && par->loops[k]->var == v)
            return true;
    return false;
}

typedef struct depends {
    const rg_parallel *par;
    uint32_t upto;
    bool found;
} depends;

static void check_depends(void *user, rg_node *n) {
    depends *d = user;
    if (n->kind == RG_N_VAR)
        for (uint32_t k = 0; k < d->upto; k++)
            d->found |= d->par->loops[k]->var == n->var;
}

/* The associated loops. False when one misses the form. */
static bool find_loops(rg_parser *p, rg_parallel *par, rg_stmt *s) {
    for (uint32_t k = 0; k < par->collapse; k++) {
        if (k) {
            while (s->kind == RG_S_BLOCK && s->n == 1)
                s = s->list[0];
            if (s->kind != RG_S_FOR) {
                rg_error(p->diags, s->loc,
                         "move the statements into the innermost loop, or collapse fewer",
                         "collapse(%u) needs %u loops directly inside one another", par->collapse,
                         par->collapse);
                return false;
            }
        }
        rg_counted *c = s->counted;
        if (c->why) {
            rg_error(p->diags, c->why_loc ? c->why_loc : s->loc,
                     "write it as for (int i = 0; i < n; i++), or remove the pragma",
                     "a parallel loop must be countable: %s", c->why);
            return false;
        }
        if (c->countdown || (!c->lo && !c->declares)) {
            rg_error(p->diags, s->loc,
                     "write it as for (int i = 0; i < n; i++), or remove the pragma",
                     "a parallel loop must be countable: it needs a start, a condition and a step");
            return false;
        }
        if (s->init && s->init->kind == RG_S_DECL && s->init->n != 1) {
            rg_error(p->diags, s->loc, "declare the others before the loop, or inside it",
                     "a parallel loop declares its own variable only");
            return false;
        }
        depends d = {par, k, false};
        rg_node_walk(c->lo, check_depends, &d);
        rg_node_walk(c->hi, check_depends, &d);
        if (d.found) {
            rg_error(p->diags, s->loc,
                     "collapse fewer loops, or run to the largest bound and test inside",
                     "the bounds of collapsed loops must not depend on one another");
            return false;
        }
        par->loops[k] = c;
        par->inner = s->body;
        par->begin = s->begin;
        par->end = s->end;
        s = s->body;
    }
    return true;
}

static void check_clauses(rg_parser *p, const rg_parallel *par) {
    for (uint32_t i = 0; i < par->reductions.n; i++) {
        const rg_clause_var *c = &par->reductions.at[i];
        const rg_ctype *t = c->var->type;
        bool logical = c->red == RG_RED_LAND || c->red == RG_RED_LOR;
        bool bits = c->red == RG_RED_AND || c->red == RG_RED_OR || c->red == RG_RED_XOR;
        if (t->kind == RG_C_ERROR)
            continue;
        if (!rg_ctype_is_arith(t))
            rg_error(p->diags, c->loc, "use '#pragma omp atomic' where its elements are updated",
                     "reduction of '%s', which is not a number", c->var->name);
        else if (t->is_const)
            rg_error(p->diags, c->loc, "drop const", "reduction of '%s', which is const",
                     c->var->name);
        else if (t->kind == RG_C_HALF)
            rg_error(p->diags, c->loc, "sum in a float",
                     "reduction of '%s', which is for storage only", c->var->name);
        else if ((bits || logical) && !rg_ctype_is_int(t))
            rg_error(p->diags, c->loc, "make it an int",
                     "this reduction needs an integer; '%s' is '%s'", c->var->name,
                     rg_ctype_name(p->arena, t));
    }
    for (uint32_t i = 0; i < par->privates.n; i++) {
        const rg_clause_var *c = &par->privates.at[i];
        if (c->var->type->is_const)
            rg_error(p->diags, c->loc, "remove it from the clause", "private '%s' is const",
                     c->var->name);
        if (c->var->is_param && c->var->type->kind == RG_C_PTR)
            rg_error(p->diags, c->loc, "declare a local array inside the loop",
                     "the array parameter '%s' cannot be private", c->var->name);
    }
}

/* Every outer variable that the body assigns or reads. */
static void check_sharing(rg_parser *p, rg_parallel *par, rg_mark header) {
    uint32_t number = ++p->parallels;
    for (uint32_t i = par->begin.writes; i < par->end.writes && !par->doubtful; i++) {
        const rg_write *w = &p->unit->writes.at[i];
        rg_var *v = w->var;
        if (!v || v->id >= header.vars || v->is_static || v->type->kind == RG_C_ARRAY ||
            w->atomic || v->type->kind == RG_C_ERROR || is_loop_var(par, v) ||
            IN(v, par->privates) || IN(v, par->firstprivates) || IN(v, par->reductions))
            continue;
        const char *hint =
            rg_format(p->arena,
                      "declare it inside the loop, or add private(%s), firstprivate(%s) "
                      "or reduction(+: %s)",
                      v->name, v->name, v->name);
        rg_error(p->diags, w->loc, hint,
                 "all iterations assign '%s', which is declared outside the parallel loop: a race",
                 v->name);
        rg_note(p->diags, par->loc, "the parallel loop is here");
    }
    for (uint32_t i = header.refs; i < par->end.refs; i++) {
        const rg_use *u = &p->unit->refs.at[i];
        rg_var *v = u->var;
        if (v->id >= header.vars || v->is_static || is_loop_var(par, v) ||
            v->type->kind == RG_C_ERROR)
            continue;
        bool listed = IN(v, par->privates) || IN(v, par->firstprivates) || IN(v, par->reductions);
        if (par->default_none && !listed && !IN(v, par->shared)) {
            rg_error(p->diags, u->loc, rg_format(p->arena, "add shared(%s)", v->name),
                     "'%s' is in no clause, and default(none) asks for one", v->name);
        }
        if (i < par->begin.refs || IN(v, par->privates) || IN(v, par->reductions))
            continue;
        if (!u->atomic && v->type->kind != RG_C_ARRAY && v->type->kind != RG_C_PTR && !listed &&
            rg_var_written(v, par->begin, par->end))
            for (uint32_t k = 0; k < v->writes.n; k++) {
                uint32_t at = v->writes.at[k];
                if (at >= par->begin.writes && at < par->end.writes &&
                    p->unit->writes.at[at].atomic) {
                    rg_error(p->diags, u->loc,
                             "read it with '#pragma omp atomic read', or use a reduction",
                             "'%s' is read while other iterations update it", v->name);
                    rg_note(p->diags, p->unit->writes.at[at].loc, "the atomic update is here");
                    break;
                }
            }
        if (v->seen == number)
            continue;
        v->seen = number;
        RG_PUSH(p->arena, &par->reads, *u);
    }
}

/* parallel = for, its body under the rules above */
rg_stmt *rg_parse_parallel(rg_parser *p, rg_parallel *par) {
    if (rg_tok(p)->kind == RG_TOK_PRAGMA) {
        rg_stmt *s = rg_parse_pragma(p);
        if (s)
            rg_syntax_error(p, s->loc, NULL, "a 'for' must follow '#pragma omp parallel for'");
    }
    if (rg_peek(p) != RG_K_FOR)
        rg_syntax_error(p, rg_tok(p)->loc, "put the pragma right before the loop",
                        "a 'for' must follow '#pragma omp parallel for'");
    if (p->in_parallel) {
        rg_error(p->diags, par->loc, "use collapse(2) on the outer one, or a plain for inside it",
                 "a parallel loop inside another");
        return rg_parse_statement(p);
    }
    rg_mark header = rg_here(p);
    uint32_t breakable = p->parallel_breakable;
    p->in_parallel++;
    p->parallel_breakable = p->breakable + par->collapse;
    rg_stmt *loop = rg_parse_statement(p);
    p->parallel_breakable = breakable;
    p->in_parallel--;
    rg_stmt *s = rg_stmt_new(p, RG_S_PARALLEL, par->loc);
    s->body = loop;
    s->par = par;
    if (!find_loops(p, par, loop))
        return loop;
    check_clauses(p, par);
    check_sharing(p, par, header);
    rg_find_reductions(p, s);
    return s;
}
