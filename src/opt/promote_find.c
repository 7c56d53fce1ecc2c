/* Which scalars in memory can be SSA values, in four steps, each linear in the code but for the
 * depth of nesting:
 *
 *   1. local arrays whose every access names its element by constants
 *   2. bottom up: for each region, what happens to each array's leaf in it; at each loop,
 *      parallel and if that gives candidates
 *   3. top down: the outermost candidate wins, and its accesses are its variable's
 *   4. bottom up: which variables each loop and if stores to
 */
#include "opt/effects.h"
#include "opt/promote.h"

#include <string.h>

enum {
    MAX_ELEMENTS = 64 /* of one leaf of a local array */
};

/* What accesses do, as bits. */
enum {
    DOES_LOAD = 1,
    DOES_STORE = 2,
    DOES_ADD = 4,
    DOES_ATOMIC_ADD = 8, /* atomic, or an adjoint's whose way is open */
    DOES_OTHER = 16
};

/* All accesses of one leaf of one array (or class of arrays that may share memory) in a region. */
typedef struct summary {
    uint32_t key;
    rg_iid like; /* one of them */
    bool mixed;  /* by different indices, from several arrays, or in a way we leave alone */
    uint32_t does;
    uint32_t surely;  /* what certainly happens when the region is run */
    uint32_t in_then; /* of the if being merged: what certainly happens in the first branch */
    rg_iid then_of;
} summary;

typedef RG_VEC(summary) summaries;

typedef struct candidate {
    summary s;
    rg_variable_kind kind;
    uint32_t next;
} candidate;

/* A write that certainly came before the place where the walk is. */
typedef struct write {
    rg_iid access;
    rg_rid region;
    uint32_t key;
    uint32_t next; /* the one before of the same key */
} write;

typedef struct finder {
    rg_fn *f;
    rg_arena *scratch;
    rg_order order;
    rg_variables *vars;
    rg_iid *alloc;      /* by array: its alloc */
    uint32_t *allocs;   /* how many */
    uint32_t **element; /* by local array: [nleaves] first variable of the leaf, 0: not promoted */
    rg_effects e;       /* keys only */
    uint32_t *slot_of, *slot_mark; /* by key: place in the summaries being built */
    uint32_t mark;
    RG_VEC(candidate) candidates; /* [0] unused */
    uint32_t *of_owner;           /* by instruction: first candidate */
    uint32_t *active;             /* by key: variable in force */
    RG_VEC(write) writes;         /* [0] unused */
    uint32_t *written;            /* by key: the last one */
} finder;

/* --- 1. locals -----------------------------------------------------------------------------------
 */

static bool constant_count(const rg_fn *f, const rg_array *a, const rg_leaf *leaf, bool all,
                           uint32_t *out) {
    uint64_t n = 1;
    if (!all && (a->rank || leaf->ndims))
        return false;
    for (uint32_t k = 0; k < a->rank + leaf->ndims; k++) {
        int64_t e;
        if (k >= a->rank)
            e = leaf->dims[k - a->rank];
        else if (!rg_val_const_int(f, a->extents[k], &e))
            return false;
        if (e < 0 || e > MAX_ELEMENTS)
            return false;
        n *= (uint64_t)e;
        if (n > MAX_ELEMENTS)
            return false;
    }
    *out = (uint32_t)n;
    return true;
}

/* The element that constant indices name. */
static bool constant_element(const rg_fn *f, rg_iid i, uint32_t *out) {
    const rg_ins *ins = rg_ins_at(f, i);
    const rg_array *a = rg_array_at(f, ins->array);
    const rg_leaf *leaf = rg_ins_leaf(f, ins);
    uint64_t at = 0;
    for (uint32_t k = 0; k < a->rank + leaf->ndims; k++) {
        int64_t e, x;
        if (k >= a->rank)
            e = leaf->dims[k - a->rank];
        else if (!rg_val_const_int(f, a->extents[k], &e))
            return false;
        if (!rg_val_const_int(f, rg_operand(f, i, k), &x) || x < 0 || x >= e)
            return false;
        at = at * (uint64_t)e + (uint64_t)x;
    }
    *out = (uint32_t)at;
    return true;
}

static void find_allocs(finder *d, rg_rid r) {
    const rg_region *g = rg_region_at(d->f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(d->f, g->ins.at[k]);
        if (ins->op == RG_ALLOC) {
            d->alloc[ins->array] = g->ins.at[k];
            d->allocs[ins->array]++;
        }
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                find_allocs(d, ins->region[s]);
    }
}

static rg_rid alloc_region(const finder *d, rg_aid a) {
    return d->allocs[a] == 1 ? rg_ins_at(d->f, d->alloc[a])->parent : 0;
}

/* Takes leaves off the list that some access keeps in memory. */
static void check_accesses(finder *d, rg_rid r) {
    const rg_fn *f = d->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                check_accesses(d, ins->region[s]);
        if (!(rg_ops[ins->op].flags & (RG_F_READ | RG_F_WRITE)) || ins->op == RG_ALLOC)
            continue;
        if (ins->op == RG_COPY || ins->op == RG_PAIR) {
            for (int s = 0; s < 2; s++) {
                rg_aid a = s ? ins->array2 : ins->array;
                if (d->element[a])
                    memset(d->element[a], 0,
                           rg_array_at(f, a)->elem->nleaves * sizeof **d->element);
            }
            continue;
        }
        uint32_t *element = d->element[ins->array];
        if (!element || !element[ins->leaf])
            continue;
        rg_rid home = alloc_region(d, ins->array);
        uint32_t number;
        if (!rg_order_inside(&d->order, r, home) || !constant_element(f, i, &number) ||
            (ins->op != RG_LOAD && d->order.parallel[r] != d->order.parallel[home]))
            element[ins->leaf] = 0;
    }
}

/* "a_x_1": what a scalar of an array is called once it is a value. */
static const char *scalar_name(finder *d, const rg_array *a, const rg_leaf *leaf, uint32_t number) {
    if (!a->name)
        return NULL;
    if (!a->rank && !leaf->ndims && !*leaf->path)
        return a->name;
    char text[160];
    size_t n = 0;
    const char *parts[2] = {a->name, leaf->path};
    for (int p = 0; p < 2; p++)
        for (const char *c = parts[p]; *c && n + 16 < sizeof text; c++) {
            bool word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                        (*c >= '0' && *c <= '9') || *c == '_';
            if (word)
                text[n++] = *c;
            else if (*c == '.')
                text[n++] = '_';
        }
    text[n] = '\0';
    if (a->rank || leaf->ndims)
        return rg_format(d->f->arena, "%s_%u", text, number);
    return rg_strdup(d->f->arena, text);
}

static void find_locals(finder *d, bool all) {
    rg_fn *f = d->f;
    rg_variables *vars = d->vars;
    bool any = false;
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        const rg_array *array = rg_array_at(f, a);
        if (array->kind != RG_ARR_LOCAL || d->allocs[a] != 1 || (array->flags & RG_ARR_GROW) ||
            (!all && array->rank))
            continue;
        d->element[a] = RG_NEW_N(d->scratch, uint32_t, array->elem->nleaves);
        for (uint32_t l = 0; l < array->elem->nleaves; l++) {
            uint32_t n;
            d->element[a][l] = constant_count(f, array, &array->elem->leaves[l], all, &n) && n;
            any |= d->element[a][l] != 0;
        }
    }
    if (!any)
        return;
    check_accesses(d, f->body);
    for (rg_aid a = 1; a < f->arrays.n; a++) {
        if (!d->element[a])
            continue;
        const rg_array *array = rg_array_at(f, a);
        vars->of_array[a] = vars->list.n;
        for (uint32_t l = 0; l < array->elem->nleaves; l++) {
            const rg_leaf *leaf = &array->elem->leaves[l];
            uint32_t n = 0;
            if (!d->element[a][l] || !constant_count(f, array, leaf, all, &n))
                continue;
            d->element[a][l] = vars->list.n;
            for (uint32_t k = 0; k < n; k++)
                RG_PUSH(d->scratch, &vars->list,
                        (rg_variable){.kind = RG_VAR_LOCAL,
                                      .array = a,
                                      .leaf = l,
                                      .number = k,
                                      .type = rg_mem_value(leaf->mem),
                                      .mem = leaf->mem,
                                      .home = alloc_region(d, a),
                                      .name = scalar_name(d, array, leaf, k)});
        }
        vars->n_of_array[a] = vars->list.n - vars->of_array[a];
    }
}

/* --- 2. candidates of loops
 * ------------------------------------------------------------------------ */

static summary *summary_of(finder *d, summaries *list, uint32_t mark, uint32_t key) {
    if (d->slot_mark[key] != mark) {
        d->slot_mark[key] = mark;
        d->slot_of[key] = list->n;
        RG_PUSH(d->scratch, list, (summary){.key = key});
    }
    return &list->at[d->slot_of[key]];
}

static void merge_access(const finder *d, summary *s, rg_iid like, bool mixed) {
    const rg_ins *x = rg_ins_at(d->f, like);
    if (!s->like) {
        s->like = like;
    } else {
        const rg_ins *y = rg_ins_at(d->f, s->like);
        if (x->array != y->array || !rg_opt_same_index(d->f, like, s->like))
            mixed = true;
        /* Sums of different kinds stay apart. */
        uint16_t how = RG_INS_ATOMIC | RG_INS_ACCUM;
        if ((x->flags & how) != (y->flags & how))
            mixed = true;
    }
    s->mixed |= mixed;
}

static uint32_t what_it_does(const rg_ins *ins) {
    uint16_t how = RG_INS_ATOMIC | RG_INS_ACCUM;
    switch (ins->op) {
    case RG_LOAD:
        return ins->flags & how ? DOES_OTHER : DOES_LOAD;
    case RG_STORE:
        return ins->flags & how ? DOES_OTHER : DOES_STORE;
    case RG_ADDTO:
        return ins->flags & RG_INS_PRIVATE ? DOES_OTHER
               : ins->flags & how          ? DOES_ATOMIC_ADD
                                           : DOES_ADD;
    default:
        return DOES_OTHER;
    }
}

static void add_whole(finder *d, summaries *list, uint32_t mark, rg_aid a, rg_iid i) {
    for (uint32_t l = 0; l < rg_array_at(d->f, a)->elem->nleaves; l++) {
        summary *s = summary_of(d, list, mark, d->e.key_base[a] + l);
        s->like = i;
        s->mixed = true;
    }
}

/* Constant indices that lie within constant extents: the element exists whatever happens. */
static bool surely_exists(const rg_fn *f, rg_iid i) {
    const rg_ins *ins = rg_ins_at(f, i);
    const rg_array *a = rg_array_at(f, ins->array);
    for (uint32_t k = 0; k < a->rank; k++) {
        if (!a->extents || !a->extents[k])
            return false;
    }
    uint32_t ignored;
    return constant_element(f, i, &ignored);
}

static bool invariant(const finder *d, rg_iid like, rg_rid body) {
    const rg_fn *f = d->f;
    uint32_t n = rg_ins_nindices(f, rg_ins_at(f, like));
    for (uint32_t k = 0; k < n; k++)
        if (rg_order_inside(&d->order, rg_val_region(f, rg_operand(f, like, k)), body))
            return false;
    return true;
}

static bool outside(const finder *d, const rg_ins *owner, rg_rid home, rg_iid like) {
    for (int s = 0; s < 2; s++)
        if (owner->region[s] && ((home && rg_order_inside(&d->order, home, owner->region[s])) ||
                                 !invariant(d, like, owner->region[s])))
            return false;
    return true;
}

static void find_candidates(finder *d, rg_iid owner, const summaries *body) {
    const rg_fn *f = d->f;
    const rg_ins *o = rg_ins_at(f, owner);
    if (rg_opt_never_runs(f, owner))
        return;
    for (uint32_t k = 0; k < body->n; k++) {
        const summary *s = &body->at[k];
        if (s->mixed || !s->like)
            continue;
        const rg_ins *like = rg_ins_at(f, s->like);
        const rg_array *array = rg_array_at(f, like->array);
        rg_rid home = array->kind == RG_ARR_LOCAL ? alloc_region(d, like->array) : 0;
        if ((array->kind == RG_ARR_LOCAL && !home) || (array->flags & RG_ARR_GROW) ||
            !outside(d, o, home, s->like))
            continue;
        const rg_leaf *leaf = rg_ins_leaf(f, like);
        bool full_width =
            leaf->mem == rg_type_mem(rg_mem_value(leaf->mem)) && leaf->mem != RG_M_BOOL;
        rg_variable_kind kind;
        if (o->op == RG_PARALLEL) {
            if (s->does != DOES_ATOMIC_ADD || !full_width || (like->flags & RG_INS_ACCUM) ||
                (!s->surely && !surely_exists(f, s->like)))
                continue;
            kind = RG_VAR_RED;
        } else if (s->does == DOES_ATOMIC_ADD) {
            if (!full_width || !s->surely || o->op == RG_IF)
                continue;
            kind = RG_VAR_SUM;
        } else {
            if ((s->does & (DOES_OTHER | DOES_ATOMIC_ADD)) || !(s->does & (DOES_STORE | DOES_ADD)))
                continue;
            kind = RG_VAR_LOOP;
        }
        RG_PUSH(d->scratch, &d->candidates,
                (candidate){.s = *s, .kind = kind, .next = d->of_owner[owner]});
        d->of_owner[owner] = d->candidates.n - 1;
    }
}

static void merge_child(finder *d, summaries *list, uint32_t mark, rg_iid owner, int side,
                        const summaries *child) {
    const rg_ins *o = rg_ins_at(d->f, owner);
    bool runs = o->op == RG_FOR || o->op == RG_LOOP ? rg_opt_surely_runs(d->f, owner) : false;
    for (uint32_t k = 0; k < child->n; k++) {
        const summary *c = &child->at[k];
        summary *s = summary_of(d, list, mark, c->key);
        merge_access(d, s, c->like, c->mixed || o->op == RG_PARALLEL);
        s->does |= c->does;
        if (runs)
            s->surely |= c->surely;
        if (o->op == RG_IF && side == 0) {
            s->then_of = owner;
            s->in_then = c->surely;
        } else if (o->op == RG_IF && s->then_of == owner) {
            /* A write in both branches is a write for sure, whichever write it is. */
            uint32_t writes = DOES_STORE | DOES_ADD, both = s->in_then & c->surely;
            if ((s->in_then & writes) && (c->surely & writes))
                both |= DOES_STORE;
            s->surely |= both;
        }
    }
}

static void summarise(finder *d, rg_rid r, summaries *out) {
    const rg_fn *f = d->f;
    const rg_region *g = rg_region_at(f, r);
    /* The children first: they use the marks of their own. */
    RG_VEC(summaries) children = {0};
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *ins = rg_ins_at(f, g->ins.at[k]);
        for (int s = 0; s < 2; s++) {
            if (!ins->region[s])
                continue;
            summaries child = {0};
            summarise(d, ins->region[s], &child);
            RG_PUSH(d->scratch, &children, child);
        }
        if (ins->op == RG_IF) {
            summaries both = {0};
            uint32_t mark = ++d->mark;
            for (int s = 0; s < 2; s++)
                merge_child(d, &both, mark, g->ins.at[k], s,
                            &children.at[children.n - (s ? 1 : 2)]);
            find_candidates(d, g->ins.at[k], &both);
        } else if (ins->region[0]) {
            find_candidates(d, g->ins.at[k], &children.at[children.n - 1]);
        }
    }
    uint32_t mark = ++d->mark, next = 0;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                merge_child(d, out, mark, i, s, &children.at[next++]);
        if (!(rg_ops[ins->op].flags & (RG_F_READ | RG_F_WRITE)) || d->vars->of_ins[i] ||
            ins->op == RG_ALLOC)
            continue;
        if (ins->op == RG_COPY || ins->op == RG_PAIR) {
            add_whole(d, out, mark, ins->array, i);
            add_whole(d, out, mark, ins->array2, i);
            continue;
        }
        summary *s = summary_of(d, out, mark, rg_effects_key(&d->e, ins));
        uint32_t does = what_it_does(ins);
        merge_access(d, s, i, does == DOES_OTHER);
        s->does |= does;
        s->surely |= does;
    }
}

/* --- 3. which access is which variable's
 * ----------------------------------------------------------- */

/* Was the element written before, on every way here and by this same thread? Then one more load and
 * store of it change nothing that anybody can see. near: in region r itself. */
static bool written_before(const finder *d, const candidate *x, rg_rid r, bool near) {
    uint32_t steps = 0;
    for (uint32_t w = d->written[x->s.key]; w && steps < 16; w = d->writes.at[w].next, steps++) {
        rg_iid i = d->writes.at[w].access;
        if (rg_ins_at(d->f, i)->array == rg_ins_at(d->f, x->s.like)->array &&
            d->order.parallel[d->writes.at[w].region] == d->order.parallel[r] &&
            rg_opt_same_index(d->f, i, x->s.like))
            return !near || d->writes.at[w].region == r;
    }
    return false;
}

/* May the loop's element be loaded before the loop and stored after it, once the loop has an
 * iteration? Not where the access may never be made, nor where another thread might see a store
 * that the source does not make. */
static bool made_for_sure(const finder *d, const candidate *x, rg_rid r) {
    rg_aid a = rg_ins_at(d->f, x->s.like)->array;
    rg_iid around = d->order.parallel[r];
    bool alone = !around || (rg_array_at(d->f, a)->kind == RG_ARR_LOCAL &&
                             d->order.parallel[alloc_region(d, a)] == around);
    return x->s.surely && (alone || (x->s.surely & (DOES_STORE | DOES_ADD)));
}

static void assign(finder *d, rg_rid r) {
    const rg_fn *f = d->f;
    rg_variables *vars = d->vars;
    const rg_region *g = rg_region_at(f, r);
    uint32_t writes = d->writes.n;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (ins->region[0]) {
            RG_VEC(uint32_t) here = {0};
            for (uint32_t c = d->of_owner[i]; c; c = d->candidates.at[c].next) {
                const candidate *x = &d->candidates.at[c];
                if (d->active[x->s.key])
                    continue;
                /* Into an if only where the store after it takes the place of one before it. */
                bool is_if = ins->op == RG_IF;
                bool safe = x->kind == RG_VAR_LOOP && written_before(d, x, r, is_if);
                if (x->kind == RG_VAR_LOOP && !safe && (is_if || !made_for_sure(d, x, r)))
                    continue;
                const rg_ins *like = rg_ins_at(f, x->s.like);
                const rg_leaf *leaf = rg_ins_leaf(f, like);
                uint32_t needs = DOES_LOAD | DOES_ADD;
                rg_variable v = {.kind = x->kind,
                                 .array = like->array,
                                 .leaf = like->leaf,
                                 .type = rg_mem_value(leaf->mem),
                                 .mem = leaf->mem,
                                 .scope = i,
                                 .next = vars->of_scope[i],
                                 .like = x->s.like,
                                 .load = safe || (x->s.does & needs) || !(x->s.surely & DOES_STORE),
                                 .safe = safe || x->kind == RG_VAR_RED,
                                 .guard = x->kind == RG_VAR_RED && !surely_exists(f, x->s.like)};
                d->active[x->s.key] = vars->of_scope[i] = vars->list.n;
                RG_PUSH(d->scratch, &vars->list, v);
                RG_PUSH(d->scratch, &here, x->s.key);
            }
            for (int s = 0; s < 2; s++)
                if (ins->region[s])
                    assign(d, ins->region[s]);
            for (uint32_t c = 0; c < here.n; c++)
                d->active[here.at[c]] = 0;
        } else if ((rg_ops[ins->op].flags & (RG_F_READ | RG_F_WRITE)) && !vars->of_ins[i] &&
                   ins->op != RG_ALLOC && ins->op != RG_COPY && ins->op != RG_PAIR) {
            uint32_t key = rg_effects_key(&d->e, ins);
            vars->of_ins[i] = d->active[key];
            if (!d->active[key] && (what_it_does(ins) & (DOES_STORE | DOES_ADD))) {
                RG_PUSH(d->scratch, &d->writes, (write){i, r, key, d->written[key]});
                d->written[key] = d->writes.n - 1;
            }
        }
    }
    while (d->writes.n > writes) {
        const write *w = &d->writes.at[--d->writes.n];
        d->written[w->key] = w->next;
    }
}

static void assign_locals(finder *d, rg_rid r) {
    const rg_fn *f = d->f;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        for (int s = 0; s < 2; s++)
            if (ins->region[s])
                assign_locals(d, ins->region[s]);
        if (!(rg_ops[ins->op].flags & (RG_F_READ | RG_F_WRITE)) || ins->op == RG_ALLOC ||
            ins->op == RG_COPY || ins->op == RG_PAIR)
            continue;
        uint32_t number;
        const uint32_t *element = d->element[ins->array];
        if (element && element[ins->leaf] && constant_element(f, i, &number))
            d->vars->of_ins[i] = element[ins->leaf] + number;
    }
}

/* --- 4. stored where
 * --------------------------------------------------------------------------------- */

typedef RG_VEC(uint32_t) id_list;

static void find_stored(finder *d, rg_rid r, uint32_t *stamp, id_list *out) {
    const rg_fn *f = d->f;
    rg_variables *vars = d->vars;
    const rg_region *g = rg_region_at(f, r);
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        if (!ins->region[0])
            continue;
        id_list s = {0};
        for (int side = 0; side < 2; side++)
            if (ins->region[side])
                find_stored(d, ins->region[side], stamp, &s);
        vars->stored[i] = (rg_ids){s.at, s.n};
    }
    uint32_t now = ++d->mark;
    for (uint32_t k = 0; k < out->n; k++) /* the other branch's */
        stamp[out->at[k]] = now;
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *ins = rg_ins_at(f, i);
        uint32_t single = vars->of_ins[i];
        rg_ids all = ins->region[0] ? vars->stored[i] : (rg_ids){&single, single ? 1 : 0};
        if (ins->op == RG_LOAD)
            continue;
        for (uint32_t j = 0; j < all.n; j++) {
            const rg_variable *v = &vars->list.at[all.at[j]];
            if (stamp[all.at[j]] == now || v->home == r || (v->scope && v->scope == i))
                continue;
            stamp[all.at[j]] = now;
            RG_PUSH(d->scratch, out, all.at[j]);
        }
    }
}

rg_variables *rg_promote_find(rg_fn *f, rg_arena *scratch, bool all) {
    finder *d = RG_NEW(scratch, finder);
    rg_variables *vars = d->vars = RG_NEW(scratch, rg_variables);
    d->f = f;
    d->scratch = scratch;
    d->order = rg_opt_order(f, scratch);
    RG_PUSH(scratch, &vars->list, (rg_variable){0});
    vars->of_ins = RG_NEW_N(scratch, uint32_t, f->ins.n);
    vars->of_scope = RG_NEW_N(scratch, uint32_t, f->ins.n);
    vars->stored = RG_NEW_N(scratch, rg_ids, f->ins.n);
    vars->of_array = RG_NEW_N(scratch, uint32_t, f->arrays.n);
    vars->n_of_array = RG_NEW_N(scratch, uint32_t, f->arrays.n);
    d->alloc = RG_NEW_N(scratch, rg_iid, f->arrays.n);
    d->allocs = RG_NEW_N(scratch, uint32_t, f->arrays.n);
    d->element = RG_NEW_N(scratch, uint32_t *, f->arrays.n);
    d->e = rg_opt_keys(f, scratch);
    find_allocs(d, f->body);
    find_locals(d, all);
    if (vars->list.n > 1)
        assign_locals(d, f->body);
    if (all) {
        d->slot_of = RG_NEW_N(scratch, uint32_t, d->e.keys + 1);
        d->slot_mark = RG_NEW_N(scratch, uint32_t, d->e.keys + 1);
        d->active = RG_NEW_N(scratch, uint32_t, d->e.keys + 1);
        d->of_owner = RG_NEW_N(scratch, uint32_t, f->ins.n);
        d->written = RG_NEW_N(scratch, uint32_t, d->e.keys + 1);
        RG_PUSH(scratch, &d->candidates, (candidate){0});
        RG_PUSH(scratch, &d->writes, (write){0});
        summaries whole = {0};
        summarise(d, f->body, &whole);
        if (d->candidates.n > 1)
            assign(d, f->body);
    }
    if (vars->list.n == 1)
        return NULL;
    uint32_t *stamp = RG_NEW_N(scratch, uint32_t, vars->list.n);
    id_list out = {0};
    find_stored(d, f->body, stamp, &out);
    return vars;
}
