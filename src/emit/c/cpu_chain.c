/* Chains: neighbouring parallel loops of an adjoint that sweep memory once, together.
 *
 * A worker of a chain takes a range of rows (iterations of the outermost ranges) and runs all loops
 * on a few rows at a time, so that what one loop left in the cache the next one finds there, and
 * the workers meet once for the whole chain. It is right if whatever two loops both touch, one of
 * them writing, they touch in iterations whose rows differ by known constants: an index of either
 * access is its loop's row plus a constant, and the difference of the constants is the distance.
 *
 * Loops whose distances to all before them are 0 are the heads. The others are the tails: they
 * follow at the largest distance, and the rows at the ends of a worker's range, which its
 * neighbours' heads still touch, wait until all heads are done. An adjoint's stencil clears the
 * cotangent that it gathers from in this way: with row r gathered, row r - 1 is cleared. */
#include "emit/c/cpu_chain.h"

#include "ir/affine.h"
#include "ir/meet.h"

#include <string.h>

enum { MAX_LINKS = 16, MAX_ACCESSES = 48, MAX_DISTANCE = 16, MAX_QUESTIONS = 32 };

typedef struct touch {
    rg_iid ins;
    rg_aid array;
    uint32_t leaf;
    bool writes;
    uint32_t rows;  /* bit k: index k is the row plus shift[k] */
    int64_t *shift; /* [rank] */
} touch;

typedef struct member {
    rg_iid i;
    bool tail;
    RG_VEC(touch) all;
} member;

typedef struct finder {
    rg_cprint *p;
    RG_VEC(member) members;
    int64_t low, high;
    int questions;
} finder;

static bool is_local_to(const rg_fn *f, rg_aid a, rg_rid r) {
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        const rg_ins *q = &f->ins.at[g->ins.at[k]];
        if (q->op == RG_ALLOC && q->array == a)
            return true;
        for (int b = 0; b < 2; b++)
            if (q->region[b] && is_local_to(f, a, q->region[b]))
                return true;
    }
    return false;
}

/* The accesses of loop m that others can see; false: it cannot be in a chain. */
static bool collect(finder *s, member *m, rg_rid r) {
    const rg_fn *f = s->p->f;
    const rg_region *g = &f->regions.at[r];
    rg_rid body = f->ins.at[m->i].region[0];
    rg_val row = f->regions.at[body].args.at[0];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *q = &f->ins.at[i];
        if (s->p->plan->dead[i])
            continue;
        if (q->op == RG_RMW || q->op == RG_COPY)
            return false;
        if (q->op == RG_LOAD || q->op == RG_STORE || q->op == RG_ADDTO) {
            if (q->flags & (RG_INS_ATOMIC | RG_INS_PRIVATE))
                return false;
            const rg_ir_array *x = &f->arrays.at[q->array];
            if (x->kind == RG_ARR_LOCAL && is_local_to(f, q->array, body))
                continue;
            if (x->flags & RG_ARR_GROW || x->rank > 32 || m->all.n == MAX_ACCESSES)
                return false;
            touch t = {.ins = i, .array = q->array, .leaf = q->leaf, .writes = q->op != RG_LOAD};
            t.shift = RG_NEW_N(s->p->arena, int64_t, x->rank + 1);
            for (uint32_t d = 0; d < x->rank; d++) {
                rg_affine a = rg_affine_of(f, rg_operand(f, i, d));
                if (!a.ok || a.n != 1 || a.term[0] != row || a.coef[0] != 1)
                    continue;
                t.rows |= 1u << d;
                t.shift[d] = a.constant;
            }
            RG_PUSH(s->p->arena, &m->all, t);
        }
        for (int b = 0; b < 2; b++)
            if (q->region[b] && !collect(s, m, q->region[b]))
                return false;
    }
    return true;
}

/* Can the arrays be the same memory? *alike: then with the same axes. */
static bool same_memory(const finder *s, rg_aid a, rg_aid b, bool *alike) {
    const rg_fn *f = s->p->f;
    const rg_ir_array *x = &f->arrays.at[a], *y = &f->arrays.at[b];
    *alike = x->rank == y->rank && x->elem == y->elem;
    if (a == b)
        return true;
    return x->kind != RG_ARR_LOCAL && y->kind != RG_ARR_LOCAL && rg_cpu_shared(s->p, a) &&
           rg_cpu_shared(s->p, b);
}

/* How far the row of y's iteration lies above that of x's when they touch one element. */
static bool distance(const touch *x, const touch *y, int64_t *out) {
    for (uint32_t d = 0, both = x->rows & y->rows; both; d++, both >>= 1)
        if (both & 1)
            return !__builtin_sub_overflow(x->shift[d], y->shift[d], out);
    return false;
}

/* Adds loop n's distances to those of loop m before it. *near: they share rows of some array. */
static bool relate(finder *s, const member *m, member *n, bool *near) {
    const rg_fn *f = s->p->f;
    for (uint32_t j = 0; j < m->all.n; j++)
        for (uint32_t k = 0; k < n->all.n; k++) {
            const touch *x = &m->all.at[j], *y = &n->all.at[k];
            bool alike;
            int64_t by = 0;
            if (!same_memory(s, x->array, y->array, &alike))
                continue;
            bool known = alike && distance(x, y, &by);
            *near |= known && by <= MAX_DISTANCE && by >= -MAX_DISTANCE;
            if ((!x->writes && !y->writes) || (alike && x->leaf != y->leaf))
                continue;
            if (!alike)
                return false;
            if (!known) {
                rg_access one = rg_access_of(f, x->ins, x->array);
                rg_access other = rg_access_of(f, y->ins, y->array);
                if (--s->questions < 0 ||
                    rg_may_meet(f, &one, &other, f->ins.at[m->i].parent, 0, RG_ORDER_ANY))
                    return false;
                continue;
            }
            if (by > MAX_DISTANCE || by < -MAX_DISTANCE || (m->tail && by))
                return false;
            n->tail |= m->tail || by;
            s->low = by > s->low ? by : s->low;
            s->high = -by > s->high ? -by : s->high;
        }
    return true;
}

static bool join(finder *s, rg_iid i) {
    member n = {.i = i};
    int64_t low = s->low, high = s->high;
    bool near = s->members.n == 0, good = collect(s, &n, s->p->f->ins.at[i].region[0]);
    for (uint32_t k = 0; good && k < s->members.n; k++)
        good = relate(s, &s->members.at[k], &n, &near);
    /* A tail keeps its distance to heads that come later in the text too: those it does not meet
     * need none. A head that meets a tail is one. */
    if (!good || !near) {
        s->low = low;
        s->high = high;
        return false;
    }
    RG_PUSH(s->p->arena, &s->members, n);
    return true;
}

static bool depends(const finder *s, rg_iid i) {
    const rg_fn *f = s->p->f;
    for (uint32_t k = 0; k < f->ins.at[i].nopnd; k++) {
        rg_iid def = f->vals.at[rg_operand(f, i, k)].def;
        for (uint32_t j = 0; def && j < s->members.n; j++)
            if (s->members.at[j].i == def)
                return true;
    }
    return false;
}

/* Do values outside a body, or what is computed from them, come from the chain's results? */
static bool body_depends(const finder *s, rg_rid r) {
    const rg_fn *f = s->p->f;
    const rg_region *g = &f->regions.at[r];
    for (uint32_t k = 0; k < g->ins.n; k++) {
        rg_iid i = g->ins.at[k];
        if (depends(s, i))
            return true;
        for (int b = 0; b < 2; b++)
            if (f->ins.at[i].region[b] && body_depends(s, f->ins.at[i].region[b]))
                return true;
    }
    return false;
}

bool rg_cpu_chain_find(rg_cprint *p, rg_iid first, rg_cpu_chain *out) {
    const rg_fn *f = p->f;
    const rg_region *g = &f->regions.at[f->ins.at[first].parent];
    finder s = {.p = p, .questions = MAX_QUESTIONS};
    memset(out, 0, sizeof *out);
    if (p->checked || (f->mode != RG_ADJOINT && f->mode != RG_HVP))
        return false;
    uint32_t k = 0;
    while (g->ins.at[k] != first)
        k++;
    RG_VEC(rg_iid) between = {0}, since = {0};
    for (; k < g->ins.n && s.members.n < MAX_LINKS; k++) {
        rg_iid i = g->ins.at[k];
        const rg_ins *q = &f->ins.at[i];
        if (p->plan->dead[i])
            continue;
        if (depends(&s, i))
            break;
        if (q->op == RG_PARALLEL) {
            if (body_depends(&s, q->region[0]) || !join(&s, i))
                break;
            for (uint32_t j = 0; j < since.n; j++)
                RG_PUSH(p->arena, &between, since.at[j]);
            since.n = 0;
        } else if (rg_op_is_pure((rg_op)q->op)) {
            /* Moves before the chain, unless its variable held something that a loop may read. */
            uint32_t var = p->plan->var[rg_result(f, i, 0)];
            if (var && p->plan->vars.at[var].first != rg_result(f, i, 0))
                break;
            RG_PUSH(p->arena, &since, i);
        } else {
            break;
        }
    }
    if (s.members.n < 2)
        return false;
    out->n = s.members.n;
    out->link = RG_NEW_N(p->arena, rg_cpu_link, out->n);
    for (uint32_t j = 0; j < out->n; j++)
        out->link[j] = (rg_cpu_link){s.members.at[j].i, s.members.at[j].tail};
    out->low = s.low;
    out->high = s.high;
    out->nbetween = between.n;
    out->between = between.at;
    return true;
}

/* Rows of `rg_link`s are counted from the first row of the chain. `inner`: indices of the task for
 * each row. */
const char rg_cpu_chain_text[] =
    "/* Loops that run row by row together: first all heads, then, some rows behind, the tails. "
    "*/\n"
    "typedef struct rg_link {\n"
    "    rg_cpu_task *task;\n"
    "    void *closure;\n"
    "    int64_t lo, rows, inner, grain;\n"
    "    int tail;\n"
    "    int64_t whole;\n"
    "} rg_link;\n"
    "struct rg_chain {\n"
    "    const rg_link *links;\n"
    "    int n;\n"
    "    int64_t lo, rows, block, low, high, *rest;\n"
    "};\n"
    "static void rg_chain_rows(const rg_cpu_env *env, const struct rg_chain *c, int tail,\n"
    "                          int64_t from, int64_t to, int thread) {\n"
    "    for (int k = 0; k < c->n; k++) {\n"
    "        const rg_link *l = &c->links[k];\n"
    "        int64_t a = from - l->lo, b = to - l->lo;\n"
    "        a = a > 0 ? a : 0;\n"
    "        b = b < l->rows ? b : l->rows;\n"
    "        if (l->tail == tail && a < b)\n"
    "            l->task(env, l->closure, a * l->inner, b * l->inner, thread);\n"
    "    }\n"
    "}\n"
    "static void rg_chain_task(const rg_cpu_env *env, void *closure, int64_t begin, int64_t end,\n"
    "                          int thread) {\n"
    "    const struct rg_chain *c = closure;\n"
    "    int64_t from = begin ? begin + c->low : 0, to = end < c->rows ? end - c->high : end;\n"
    "    from = from < end ? from : end;\n"
    "    int64_t done = from;\n"
    "    for (int64_t a = begin, b; a < end; a = b) {\n"
    "        b = end - a > c->block ? a + c->block : end;\n"
    "        rg_chain_rows(env, c, 0, a, b, thread);\n"
    "        int64_t ready = b < end ? b - c->high : to;\n"
    "        ready = ready < to ? ready : to;\n"
    "        if (ready > done) {\n"
    "            rg_chain_rows(env, c, 1, done, ready, thread);\n"
    "            done = ready;\n"
    "        }\n"
    "    }\n"
    "    if (c->rest) {\n"
    "        int64_t *r = c->rest + 4 * thread;\n"
    "        r[0] = begin;\n"
    "        r[1] = from;\n"
    "        r[2] = done;\n"
    "        r[3] = end;\n"
    "    }\n"
    "}\n"
    "static void rg_chain_rest(const rg_cpu_env *env, void *closure, int64_t begin, int64_t end,\n"
    "                          int thread) {\n"
    "    const struct rg_chain *c = closure;\n"
    "    for (const int64_t *r = c->rest + 4 * begin; r < c->rest + 4 * end; r += 2)\n"
    "        if (r[0] < r[1])\n"
    "            rg_chain_rows(env, c, 1, r[0], r[1], thread);\n"
    "}\n"
    "/* 0 after a fault. alone: only where one thread runs it all. */\n"
    "static RG_UNUSED int rg_chain_run(const rg_cpu_env *env, rg_link *links, int n, int64_t low,\n"
    "                                  int64_t high, int alone) {\n"
    "    int64_t lo = INT64_MAX, hi = INT64_MIN, most = 1, sum = 0, inner = 1, grain = INT64_MAX;\n"
    "    for (int k = 0; k < n; k++) {\n"
    "        const rg_link *l = &links[k];\n"
    "        if (!l->rows)\n"
    "            continue;\n"
    "        lo = l->lo < lo ? l->lo : lo;\n"
    "        hi = l->lo + l->rows > hi ? l->lo + l->rows : hi;\n"
    "        sum += l->rows;\n"
    "        most = l->rows * l->inner > most ? l->rows * l->inner : most;\n"
    "        int64_t row = l->whole * l->inner, g = l->grain / l->inner;\n"
    "        inner = row > inner ? row : inner;\n"
    "        grain = g < grain ? g : grain;\n"
    "    }\n"
    "    if (lo >= hi)\n"
    "        return 1;\n"
    "    int64_t rows = hi - lo;\n"
    "    int good = env->threads == 1 || (!alone && rows >= 8 * (int64_t)env->threads);\n"
    "    good = good && rows / 2 <= sum;\n"
    "    for (int k = 0; k < n && env->threads > 1; k++) { /* else the work is not even */\n"
    "        const rg_link *l = &links[k];\n"
    "        good = good && (l->rows >= rows - rows / 8 || l->rows * l->inner <= most / 16);\n"
    "    }\n"
    "    if (!good) {\n"
    "        for (int k = 0; k < n && !*env->stop; k++)\n"
    "            if (links[k].rows)\n"
    "                env->parallel(env, links[k].task, links[k].closure,\n"
    "                              links[k].rows * links[k].inner, links[k].grain);\n"
    "        return !*env->stop;\n"
    "    }\n"
    "    for (int k = 0; k < n; k++)\n"
    "        links[k].lo = links[k].rows ? links[k].lo - lo : 0;\n"
    "    struct rg_chain c = {links, n, lo, rows, 4096 / inner, low, high, NULL};\n"
    "    c.block = c.block > 0 ? c.block : 1;\n"
    "    const size_t mark = env->mark(env, 0);\n"
    "    if (env->threads > 1 && (low || high)) {\n"
    "        c.rest = rg_new(env, 0, 0, \"\", 4 * sizeof *c.rest, 1, 1,\n"
    "                        (const int64_t[]){env->threads});\n"
    "        if (!c.rest)\n"
    "            return 0;\n"
    "    }\n"
    "    env->parallel(env, rg_chain_task, &c, rows, grain > 0 ? grain : 1);\n"
    "    int64_t each = (low + high) * inner;\n"
    "    if (c.rest && !*env->stop)\n"
    "        env->parallel(env, rg_chain_rest, &c, env->threads, each < 8192 ? 8192 / each : 1);\n"
    "    env->release(env, 0, mark);\n"
    "    return !*env->stop;\n"
    "}\n"
    "\n";
