/* Planning the C text, in four walks, each linear in the instructions:
 *
 *   uses      who uses what; loops of the shape `while`; what nobody needs
 *   folding   a value with one user, in the same region, without a name, becomes part of that
 *             user's text; a load only if no write stands between
 *   variables out of SSA: each value that is left gets a C variable; carried values, results and
 *             yields share one where the old value is dead when the new one is written (`claim` and
 *             `takeover`), so that `s = s + x` in a loop is one variable and no copy
 *   names     in the same walk as variables: unique among all names in scope, so that inner blocks
 *             never shadow, and siblings can use the same name */
#include "emit/c/plan.h"

#include <stdio.h>
#include <string.h>

#include "ir/build.h"

enum { FOLD_MAX = 14 }; /* operations in one expression */

bool rg_cplan_inline(const rg_fn *f, rg_val v) {
    rg_op op = rg_def_op(f, v);
    if (op == RG_CAST && f->vals.at[v].type == RG_I64) { /* an integer parameter, widened */
        rg_val x = rg_operand(f, f->vals.at[v].def, 0);
        return rg_def_op(f, x) == RG_SCALAR && rg_type_is_int(f->vals.at[x].type);
    }
    return op == RG_CONST || op == RG_SCALAR || op == RG_EXTENT;
}

static uint32_t nslots(const rg_fn *f, rg_iid i) {
    return f->ins.at[i].nres;
}

/* Argument of slot k in the body of for, loop or parallel. */
static rg_val slot_arg(const rg_fn *f, rg_iid i, uint32_t k) {
    const rg_region *r = &f->regions.at[f->ins.at[i].region[0]];
    return r->args.at[rg_first_carried(f, i) + k];
}

static rg_val slot_init(const rg_fn *f, rg_iid i, uint32_t k) {
    return rg_operand(f, i, rg_first_init(f, i) + k);
}

/* What slot k's next value is: operand of the yield of region b. */
static rg_val slot_next(const rg_fn *f, rg_iid i, uint32_t b, uint32_t k) {
    rg_iid y = rg_yield_of(f, f->ins.at[i].region[b]);
    return rg_operand(f, y, k + (f->ins.at[i].op == RG_LOOP ? 1u : 0u));
}

bool rg_cplan_slot_live(const rg_cplan *p, rg_iid i, uint32_t k) {
    return p->live[rg_result(p->f, i, k)];
}

uint32_t rg_cplan_slot_var(const rg_cplan *p, rg_iid i, uint32_t k) {
    return p->var[rg_result(p->f, i, k)];
}

/* ---- uses ---- */

static void count_uses(rg_cplan *p) {
    const rg_fn *f = p->f;
    uint32_t nv = f->vals.n;
    for (uint32_t r = 1; r < f->regions.n; r++)
        for (uint32_t k = 0; k < f->regions.at[r].ins.n; k++) {
            rg_iid i = f->regions.at[r].ins.at[k];
            for (uint32_t o = 0; o < f->ins.at[i].nopnd; o++)
                p->use_at[rg_operand(f, i, o) + 1]++;
        }
    for (uint32_t v = 0; v < nv; v++) {
        p->uses[v] = p->use_at[v + 1];
        p->use_at[v + 1] += p->use_at[v];
    }
    p->use_list = RG_NEW_N(p->arena, rg_iid, p->use_at[nv] + 1);
    uint32_t *fill = RG_NEW_N(p->arena, uint32_t, nv + 1);
    for (uint32_t r = 1; r < f->regions.n; r++)
        for (uint32_t k = 0; k < f->regions.at[r].ins.n; k++) {
            rg_iid i = f->regions.at[r].ins.at[k];
            for (uint32_t o = 0; o < f->ins.at[i].nopnd; o++) {
                rg_val v = rg_operand(f, i, o);
                p->use_list[p->use_at[v] + fill[v]++] = i;
            }
        }
}

/* Is `loop` i the front-end's while? */
static bool while_shape(const rg_cplan *p, rg_iid i, rg_iid *branch) {
    const rg_fn *f = p->f;
    rg_rid b = f->ins.at[i].region[0];
    const rg_region *body = &f->regions.at[b];
    if (body->ins.n < 2)
        return false;
    rg_iid c = body->ins.at[body->ins.n - 2];
    const rg_ins *ic = &f->ins.at[c];
    rg_iid y = rg_yield_of(f, b);
    if (ic->op != RG_IF || rg_operand(f, c, 0) != rg_operand(f, y, 0))
        return false;
    if (rg_def_op(f, rg_operand(f, c, 0)) == RG_CONST)
        return false;
    if (f->regions.at[ic->region[1]].ins.n != 1)
        return false;
    for (uint32_t k = 0; k + 2 < body->ins.n; k++)
        if (f->ins.at[body->ins.at[k]].op == RG_ALLOC)
            return false;
    for (uint32_t k = 0; k < nslots(f, i); k++) {
        rg_val next = slot_next(f, i, 0, k), arg = slot_arg(f, i, k);
        if (next == arg)
            continue;
        const rg_value *n = &f->vals.at[next];
        if (n->def != c || slot_next(f, c, 1, n->index) != arg)
            return false;
    }
    for (uint32_t k = 0; k < ic->nres; k++)
        if (p->uses[rg_result(f, c, k)] != 1)
            return false;
    *branch = c;
    return true;
}

static uint32_t number(rg_cplan *p, rg_rid r, uint32_t at) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *s = &f->ins.at[i];
        p->pos[i] = k;
        p->root[i] = i;
        p->tin[i] = at++;
        if (rg_writes_element(s) || s->op == RG_COPY ||
            (s->op == RG_LOAD && (s->flags & RG_INS_ATOMIC)))
            p->writes[r] = true;
        if (s->op == RG_ALLOC)
            p->allocs[r] = true;
        for (int b = 0; b < 2; b++)
            if (s->region[b]) {
                at = number(p, s->region[b], at);
                p->writes[r] |= p->writes[s->region[b]];
                p->allocs[r] |= p->allocs[s->region[b]];
            }
        p->tout[i] = at - 1;
        rg_iid branch;
        if (s->op == RG_LOOP && while_shape(p, i, &branch)) {
            p->shape[i] = RG_SHAPE_WHILE;
            p->shape[branch] = RG_SHAPE_BODY;
        }
    }
    return at;
}

/* ---- what is needed ---- */

/* From writes to the arguments' memory back to all that they need; a local array's writes count
 * once something reads it. What is not reached is not printed, so that no variable is ever unused.
 */
typedef struct marker {
    rg_cplan *p;
    RG_VEC(rg_val) vals;
    RG_VEC(rg_iid) ins;
    rg_iid *last_write; /* [arrays] chain of the instructions that write a local */
    rg_iid *prev_write; /* [ins] */
    bool *array;        /* [arrays] a local that is read */
} marker;

static void need_ins(marker *m, rg_iid i) {
    if (i && m->p->dead[i]) {
        m->p->dead[i] = false;
        RG_PUSH(m->p->arena, &m->ins, i);
    }
}

static void need_val(marker *m, rg_val v) {
    if (!m->p->live[v]) {
        m->p->live[v] = true;
        RG_PUSH(m->p->arena, &m->vals, v);
    }
}

static void need_array(marker *m, rg_aid a) {
    if (!a || m->array[a])
        return;
    m->array[a] = true;
    for (rg_iid w = m->last_write[a]; w; w = m->prev_write[w])
        need_ins(m, w);
}

static void need_slot(marker *m, rg_iid i, uint32_t k) {
    const rg_fn *f = m->p->f;
    bool branch = f->ins.at[i].op == RG_IF;
    need_ins(m, i);
    need_val(m, rg_result(f, i, k));
    need_val(m, slot_next(f, i, 0, k));
    if (branch)
        need_val(m, slot_next(f, i, 1, k));
    else {
        need_val(m, slot_arg(f, i, k));
        need_val(m, slot_init(f, i, k));
    }
}

static void trace_val(marker *m, rg_val v) {
    const rg_fn *f = m->p->f;
    const rg_value *x = &f->vals.at[v];
    if (x->def) {
        if (f->ins.at[x->def].region[0])
            need_slot(m, x->def, x->index);
        else
            need_ins(m, x->def);
        return;
    }
    rg_iid owner = f->regions.at[x->region].owner;
    uint32_t first = rg_first_carried(f, owner);
    if (x->index >= first)
        need_slot(m, owner, x->index - first);
    else
        need_ins(m, owner);
}

static void trace_ins(marker *m, rg_iid i) {
    const rg_fn *f = m->p->f;
    const rg_ins *s = &f->ins.at[i];
    uint32_t n = s->nopnd;
    need_ins(m, f->regions.at[s->parent].owner);
    if (s->op == RG_YIELD)
        n = 0;
    else if (s->region[0] && s->op != RG_IF)
        n = rg_first_init(f, i);
    for (uint32_t o = 0; o < n; o++)
        need_val(m, rg_operand(f, i, o));
    if (s->op == RG_LOOP) {
        const rg_region *body = &f->regions.at[s->region[0]];
        need_val(m, rg_operand(f, rg_yield_of(f, s->region[0]), 0));
        if (m->p->shape[i] == RG_SHAPE_WHILE)
            need_ins(m, body->ins.at[body->ins.n - 2]);
    }
    for (int b = 0; b < 2; b++)
        if (s->region[b])
            need_ins(m, rg_yield_of(f, s->region[b]));
    if (s->op == RG_LOAD || s->op == RG_RMW || s->op == RG_EXTENT)
        need_array(m, s->array);
    if (s->op == RG_COPY)
        need_array(m, s->array2);
}

static void find_dead(rg_cplan *p) {
    const rg_fn *f = p->f;
    marker m;
    memset(&m, 0, sizeof m);
    m.p = p;
    m.last_write = RG_NEW_N(p->arena, rg_iid, f->arrays.n + 1);
    m.prev_write = RG_NEW_N(p->arena, rg_iid, f->ins.n + 1);
    m.array = RG_NEW_N(p->arena, bool, f->arrays.n + 1);
    for (uint32_t i = 0; i < f->ins.n; i++)
        p->dead[i] = true;
    for (uint32_t r = 1; r < f->regions.n; r++)
        for (uint32_t k = 0; k < f->regions.at[r].ins.n; k++) {
            rg_iid i = f->regions.at[r].ins.at[k];
            const rg_ins *s = &f->ins.at[i];
            if (s->op != RG_STORE && s->op != RG_ADDTO && s->op != RG_RMW && s->op != RG_COPY &&
                s->op != RG_ALLOC)
                continue;
            m.prev_write[i] = m.last_write[s->array];
            m.last_write[s->array] = i;
            if (f->arrays.at[s->array].kind != RG_ARR_LOCAL)
                need_ins(&m, i);
        }
    need_ins(&m, rg_yield_of(f, f->body));
    while (m.ins.n || m.vals.n) {
        if (m.ins.n)
            trace_ins(&m, m.ins.at[--m.ins.n]);
        else
            trace_val(&m, m.vals.at[--m.vals.n]);
    }
}

/* Is operand o of u part of u's text? */
static bool prints_operand(const rg_cplan *p, rg_iid u, uint32_t o) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[u];
    if (p->dead[u])
        return false;
    if (s->op == RG_YIELD) {
        rg_iid owner = f->regions.at[s->parent].owner;
        bool loop = owner && f->ins.at[owner].op == RG_LOOP;
        if (loop && o == 0)
            return p->shape[owner] != RG_SHAPE_WHILE; /* there the `if` before it prints it */
        return rg_cplan_slot_live(p, owner, o - (loop ? 1u : 0u));
    }
    if (s->op == RG_FOR || s->op == RG_LOOP || s->op == RG_PARALLEL) {
        uint32_t first = rg_first_init(f, u);
        return o < first || rg_cplan_slot_live(p, u, o - first);
    }
    return true;
}

/* Uses that are printed, now that it is known what is. */
static void recount(rg_cplan *p) {
    const rg_fn *f = p->f;
    memset(p->uses, 0, f->vals.n * sizeof *p->uses);
    for (uint32_t r = 1; r < f->regions.n; r++)
        for (uint32_t k = 0; k < f->regions.at[r].ins.n; k++) {
            rg_iid i = f->regions.at[r].ins.at[k];
            for (uint32_t o = 0; o < f->ins.at[i].nopnd; o++)
                p->uses[rg_operand(f, i, o)] += prints_operand(p, i, o);
        }
}

/* ---- folding ---- */

/* Does u print v? */
static bool prints(const rg_cplan *p, rg_iid u, rg_val v) {
    const rg_fn *f = p->f;
    for (uint32_t o = 0; o < f->ins.at[u].nopnd; o++)
        if (rg_operand(f, u, o) == v && prints_operand(p, u, o))
            return true;
    return false;
}

static rg_iid only_user(const rg_cplan *p, rg_val v) {
    if (p->uses[v] != 1)
        return 0;
    for (uint32_t k = p->use_at[v]; k < p->use_at[v + 1]; k++)
        if (prints(p, p->use_list[k], v))
            return p->use_list[k];
    return 0;
}

/* first[v]: may be folded as far as it alone is concerned. */
static void candidates(rg_cplan *p, bool *can) {
    const rg_fn *f = p->f;
    uint32_t *size = RG_NEW_N(p->arena, uint32_t, f->vals.n);
    for (uint32_t r = 1; r < f->regions.n; r++) {
        const rg_region *g = &f->regions.at[r];
        for (uint32_t k = 0; k < g->ins.n; k++) {
            rg_iid i = g->ins.at[k];
            const rg_ins *s = &f->ins.at[i];
            bool load = s->op == RG_LOAD && !(s->flags & RG_INS_ATOMIC);
            if (p->dead[i] || s->nres != 1 || !(load || rg_op_is_pure((rg_op)s->op)))
                continue;
            rg_val v = rg_result(f, i, 0);
            if (rg_cplan_inline(f, v))
                continue;
            uint32_t n = 1;
            for (uint32_t o = 0; o < s->nopnd; o++)
                if (can[rg_operand(f, i, o)])
                    n += size[rg_operand(f, i, o)];
            rg_iid u = only_user(p, v);
            size[v] = n;
            can[v] = u && !f->vals.at[v].name && n <= FOLD_MAX && f->ins.at[u].parent == s->parent;
        }
    }
}

static void fold(rg_cplan *p) {
    const rg_fn *f = p->f;
    bool *can = RG_NEW_N(p->arena, bool, f->vals.n);
    candidates(p, can);
    uint32_t *writes = RG_NEW_N(p->arena, uint32_t, f->ins.n + 1);
    for (uint32_t r = 1; r < f->regions.n; r++) {
        const rg_region *g = &f->regions.at[r];
        if (!g->ins.n)
            continue;
        writes[0] = 0; /* writes[k]: instructions before place k that write memory */
        for (uint32_t k = 0; k < g->ins.n; k++) {
            const rg_ins *s = &f->ins.at[g->ins.at[k]];
            bool w = rg_writes_element(s) || s->op == RG_COPY ||
                     (s->op == RG_LOAD && (s->flags & RG_INS_ATOMIC)) ||
                     (s->region[0] && p->writes[s->region[0]]) ||
                     (s->region[1] && p->writes[s->region[1]]);
            writes[k + 1] = writes[k] + w;
        }
        for (uint32_t k = g->ins.n; k-- > 0;) {
            rg_iid i = g->ins.at[k];
            const rg_ins *s = &f->ins.at[i];
            if (s->nres != 1 || s->region[0])
                continue;
            rg_val v = rg_result(f, i, 0);
            if (!can[v])
                continue;
            rg_iid root = p->root[only_user(p, v)];
            rg_op at = (rg_op)f->ins.at[root].op;
            if (s->op == RG_LOAD &&
                (writes[p->pos[root]] != writes[k + 1] || at == RG_FOR || at == RG_PARALLEL))
                continue;
            p->root[i] = root;
        }
    }
}

/* ---- names ---- */

static rg_cname *name_entry(rg_cplan *p, const char *name) {
    rg_cname *e = rg_table_get(&p->names, name);
    if (!e) {
        e = RG_NEW(p->arena, rg_cname);
        e->next = 1;
        rg_table_set(&p->names, name, e);
    }
    return e;
}

/* Names of the IR may have dots; C's may not. */
static const char *identifier(rg_arena *a, const char *base) {
    char *name = rg_strdup(a, base);
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return *name >= '0' && *name <= '9' ? rg_format(a, "v%s", name) : name;
}

const char *rg_cplan_name(rg_cplan *p, const char *base) {
    bool temporary = !base || !*base;
    base = temporary ? "t" : identifier(p->arena, base);
    if (!strncmp(base, "rg_", 3))
        base = rg_format(p->arena, "u%s", base);
    rg_cname *b = name_entry(p, base), *e = b;
    const char *name = base;
    rg_cundo undo = {b, b, b->next};
    if (temporary || e->held)
        do {
            name = rg_format(p->arena, temporary ? "%s%u" : "%s_%u", base, b->next++);
            e = name_entry(p, name);
        } while (e->held);
    e->held = true;
    undo.taken = e;
    RG_PUSH(p->arena, &p->undo, undo);
    return name;
}

static void leave_scope(rg_cplan *p, uint32_t mark) {
    while (p->undo.n > mark) {
        rg_cundo *u = &p->undo.at[--p->undo.n];
        u->taken->held = false;
        u->base->next = u->next;
    }
}

/* ---- variables ---- */

static uint32_t new_var(rg_cplan *p, rg_val v, const char *base) {
    rg_cvar var = {rg_cplan_name(p, base), base, p->f->vals.at[v].type, v};
    RG_PUSH(p->arena, &p->vars, var);
    p->var[v] = p->vars.n - 1;
    return p->vars.n - 1;
}

static bool same_base(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

/* May a value with this name live in variable v? A temporary can live anywhere. */
static bool fits(const rg_cplan *p, const char *name, uint32_t v) {
    return !name || same_base(name, p->vars.at[v].base);
}

/* The instruction of region b in whose subtree u is; 0: none. */
static rg_iid ancestor_in(const rg_fn *f, rg_iid u, rg_rid b) {
    while (u && f->ins.at[u].parent != b)
        u = f->regions.at[f->ins.at[u].parent].owner;
    return u;
}

/* In region b, is `held` not read any more once w, made there by instruction d, is written to the
 * variable that both live in? */
static bool dead_once_made(const rg_cplan *p, rg_val w, rg_val held, rg_rid b) {
    const rg_fn *f = p->f;
    rg_iid d = f->vals.at[w].def;
    const rg_ins *s = &f->ins.at[d];
    if (!held || (s->op == RG_IF && p->shape[d] == RG_SHAPE_BODY))
        return true;
    bool loop = s->region[0] && s->op != RG_IF;
    for (uint32_t k = p->use_at[held]; k < p->use_at[held + 1]; k++) {
        rg_iid u = p->use_list[k], a = ancestor_in(f, u, b);
        if (!a || !prints(p, u, held))
            continue;
        rg_iid root = p->root[a];
        if (p->pos[root] < p->pos[d])
            continue;
        if (root != d)
            return false;
        if (loop && (a != d || u != d || slot_init(f, d, f->vals.at[w].index) != held))
            return false;
    }
    if (loop) { /* as a bound or another initial value it would be read after the write */
        uint32_t n = 0;
        for (uint32_t o = 0; o < s->nopnd; o++)
            n += rg_operand(f, d, o) == held;
        if (n > 1)
            return false;
    }
    return true;
}

/* Region b ends by writing w to variable var, in which `held` lives until then (0: nothing). If w
 * is made in b, nobody else uses it and `held` is not read any more once w is there, w lives in var
 * from the start. */
static void claim(rg_cplan *p, rg_val w, uint32_t var, rg_val held, rg_rid b) {
    const rg_fn *f = p->f;
    rg_iid d = f->vals.at[w].def;
    if (!var || !d || p->var[w] || f->ins.at[d].parent != b || rg_cplan_inline(f, w) ||
        rg_cplan_folded(p, w) || !fits(p, f->vals.at[w].name, var))
        return;
    const rg_ins *s = &f->ins.at[d];
    bool body = s->op == RG_IF && p->shape[d] == RG_SHAPE_BODY;
    if ((p->uses[w] != 1 && !body) || !dead_once_made(p, w, held, b))
        return;
    p->var[w] = var;
    p->held[w] = held;
    if (held)
        p->heir[held] = w;
}

/* r is about to live where v lives. If v's variable is already promised to a later value, r must
 * be out of its way as v was. */
static bool inherit(rg_cplan *p, rg_val r, rg_val v, rg_rid b) {
    rg_val heir = p->heir[v];
    if (!heir || p->f->ins.at[p->f->vals.at[heir].def].parent != b)
        return true;
    if (!dead_once_made(p, heir, r, b))
        return false;
    p->held[heir] = r;
    p->heir[r] = heir;
    return true;
}

/* A value s that is alive before i, and read by i only, whose variable slot k's result can have. */
static rg_val takeover(rg_cplan *p, rg_iid i, uint32_t k) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_val r = rg_result(f, i, k);
    const char *name = f->vals.at[r].name;
    rg_val choice[2];
    uint32_t n = 0;
    if (s->op == RG_IF) {
        choice[n++] = slot_next(f, i, 0, k);
        choice[n++] = slot_next(f, i, 1, k);
    } else {
        choice[n++] = slot_init(f, i, k);
        if (!name)
            name = f->vals.at[slot_arg(f, i, k)].name;
    }
    for (uint32_t c = 0; c < n; c++) {
        rg_val v = choice[c];
        if (!p->var[v] || rg_val_region(f, v) != s->parent)
            continue;
        if (!fits(p, name, p->var[v]))
            continue;
        rg_iid owner = f->vals.at[v].region ? f->regions.at[f->vals.at[v].region].owner : 0;
        if (owner && f->vals.at[v].index < rg_first_carried(f, owner))
            continue; /* a loop's own variable */
        if (s->op != RG_IF) {
            if (p->uses[v] == 1 && inherit(p, r, v, s->parent))
                return v;
            continue;
        }
        bool inside = true;
        for (uint32_t u = p->use_at[v]; inside && u < p->use_at[v + 1]; u++)
            if (prints(p, p->use_list[u], v))
                inside = p->tin[p->root[p->use_list[u]]] >= p->tin[i] &&
                         p->tin[p->root[p->use_list[u]]] <= p->tout[i];
        /* another slot of this `if` may already live there */
        for (uint32_t o = 0; inside && o < s->nres; o++)
            inside = o == k || p->var[rg_result(f, i, o)] != p->var[v];
        if (inside && inherit(p, r, v, s->parent))
            return v;
    }
    return 0;
}

static void name_array(rg_cplan *p, rg_aid a, const char *base, bool extents) {
    const rg_ir_array *x = &p->f->arrays.at[a];
    p->array_name[a] = rg_cplan_name(p, base);
    p->extent_name[a] = RG_NEW_N(p->arena, const char *, x->rank ? x->rank : 1);
    for (uint32_t k = 0; extents && k < x->rank; k++)
        p->extent_name[a][k] = rg_cplan_name(p, rg_format(p->arena, "%s_n%u", p->array_name[a], k));
}

static void plan_region(rg_cplan *p, rg_rid r);

static void plan_structure(rg_cplan *p, rg_iid i) {
    const rg_fn *f = p->f;
    const rg_ins *s = &f->ins.at[i];
    rg_val *held = RG_NEW_N(p->arena, rg_val, s->nres ? s->nres : 1);
    for (uint32_t k = 0; k < s->nres; k++) {
        if (!rg_cplan_slot_live(p, i, k))
            continue;
        rg_val r = rg_result(f, i, k), arg = s->op == RG_IF ? 0 : slot_arg(f, i, k);
        if (!p->var[r]) {
            rg_val old = takeover(p, i, k);
            if (old) {
                p->var[r] = p->var[old];
                held[k] = old;
            } else {
                const char *name = f->vals.at[r].name;
                if (arg && f->vals.at[arg].name)
                    name = f->vals.at[arg].name;
                uint32_t first = s->op == RG_IF ? 2 : 1;
                for (uint32_t b = 0; !name && b < first; b++)
                    name = f->vals.at[slot_next(f, i, b, k)].name;
                new_var(p, r, name);
            }
        } else if (s->op == RG_IF) {
            /* claimed by the region around: what lived there may be read in the branches */
            held[k] = p->held[r];
        }
        if (arg) {
            p->var[arg] = p->var[r];
            held[k] = arg;
        }
    }
    for (uint32_t b = 0; b < 2 && s->region[b]; b++) {
        uint32_t mark = p->undo.n;
        const rg_region *g = &f->regions.at[s->region[b]];
        if (s->op == RG_FOR || s->op == RG_PARALLEL)
            for (uint32_t k = 0; k < rg_first_carried(f, i); k++)
                new_var(p, g->args.at[k],
                        f->vals.at[g->args.at[k]].name ? f->vals.at[g->args.at[k]].name : "i");
        for (uint32_t k = 0; k < s->nres; k++)
            if (rg_cplan_slot_live(p, i, k)) {
                rg_val w = slot_next(f, i, b, k);
                claim(p, w, p->var[rg_result(f, i, k)], held[k], s->region[b]);
            }
        plan_region(p, s->region[b]);
        leave_scope(p, mark);
    }
}

static void plan_region(rg_cplan *p, rg_rid r) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t n = 0; n < g->ins.n; n++) {
        rg_iid i = g->ins.at[n];
        const rg_ins *s = &f->ins.at[i];
        if (p->dead[i] || s->op == RG_YIELD)
            continue;
        if (s->op == RG_ALLOC) {
            const char *name = f->arrays.at[s->array].name;
            name_array(p, s->array, name ? name : "tmp", true);
        } else if (s->region[0]) {
            plan_structure(p, i);
        } else if (s->nres) {
            rg_val v = rg_result(f, i, 0);
            if (p->uses[v] && !rg_cplan_inline(f, v) && p->root[i] == i && !p->var[v])
                new_var(p, v, f->vals.at[v].name);
        }
    }
}

static const char *const shadow_suffix[4] = {"", "_b", "_d", "_bd"};

static void name_params(rg_cplan *p, const rg_cplan_options *o) {
    const rg_fn *f = p->f;
    for (uint32_t q = 0; q < f->params.n; q++) {
        const rg_param *x = &f->params.at[q];
        if (x->is_array) {
            name_array(p, x->array, x->name, false);
            p->param_name[q] = p->array_name[x->array];
        } else
            p->param_name[q] = rg_cplan_name(p, x->name);
    }
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *x = &f->arrays.at[a];
        if (x->kind == RG_ARR_SHADOW)
            name_array(
                p, a,
                rg_format(p->arena, "%s%s", p->param_name[x->param], shadow_suffix[x->shadow & 3]),
                false);
    }
    if (!o->extent_names)
        return;
    for (uint32_t q = 0; q < f->params.n; q++) {
        const rg_param *x = &f->params.at[q];
        for (uint32_t k = 0; x->is_array && k < x->rank; k++)
            p->extent_name[x->array][k] =
                rg_cplan_name(p, rg_format(p->arena, "%s_n%u", p->param_name[q], k));
    }
    for (uint32_t a = 1; a < f->arrays.n; a++)
        if (f->arrays.at[a].kind == RG_ARR_SHADOW && f->params.at[f->arrays.at[a].param].is_array)
            p->extent_name[a] = p->extent_name[f->params.at[f->arrays.at[a].param].array];
    for (uint32_t k = 0; k < f->scalars.n; k++) {
        const rg_scalar *s = &f->scalars.at[k];
        if (!*s->path) {
            p->scalar_name[k] = p->param_name[s->param];
            continue;
        }
        p->scalar_name[k] =
            rg_cplan_name(p, rg_format(p->arena, "%s%s", p->param_name[s->param], s->path));
    }
}

rg_cplan *rg_cplan_make(rg_arena *a, const rg_fn *f, const rg_cplan_options *o) {
    rg_cplan *p = RG_NEW(a, rg_cplan);
    uint32_t nv = f->vals.n + 1, ni = f->ins.n + 1, nr = f->regions.n + 1, na = f->arrays.n + 1;
    p->f = f;
    p->arena = a;
    p->use_at = RG_NEW_N(a, uint32_t, nv + 1);
    p->uses = RG_NEW_N(a, uint32_t, nv);
    p->dead = RG_NEW_N(a, bool, ni);
    p->live = RG_NEW_N(a, bool, nv);
    p->pos = RG_NEW_N(a, uint32_t, ni);
    p->root = RG_NEW_N(a, rg_iid, ni);
    p->tin = RG_NEW_N(a, uint32_t, ni);
    p->tout = RG_NEW_N(a, uint32_t, ni);
    p->writes = RG_NEW_N(a, bool, nr);
    p->allocs = RG_NEW_N(a, bool, nr);
    p->shape = RG_NEW_N(a, uint8_t, ni);
    p->var = RG_NEW_N(a, uint32_t, nv);
    p->held = RG_NEW_N(a, rg_val, nv);
    p->heir = RG_NEW_N(a, rg_val, nv);
    p->array_name = RG_NEW_N(a, const char *, na);
    p->extent_name = RG_NEW_N(a, const char **, na);
    p->scalar_name = RG_NEW_N(a, const char *, f->scalars.n + 1);
    p->param_name = RG_NEW_N(a, const char *, f->params.n + 1);
    p->names.arena = a;
    RG_PUSH(a, &p->vars, (rg_cvar){"", NULL, RG_VOID, 0});
    count_uses(p);
    number(p, f->body, 1);
    find_dead(p);
    recount(p);
    if (o->fold)
        fold(p);
    for (const char *const *w = o->reserved; w && *w; w++)
        name_entry(p, *w)->held = true;
    name_params(p, o);
    plan_region(p, f->body);
    return p;
}
