/* Grows a kernel by adding random instructions to a region: operations on values in scope, loads
 * and stores whose indices are reduced to the array's extents, and nested structure with carried
 * values. In a parallel loop an iteration stores only to its own row, and adds atomically to z. */
#include "emit_c_random.h"

#include <string.h>

typedef struct gen {
    rg_build *b;
    rg_fn *f;
    uint64_t state;
    RG_VEC(rg_val) scope;
    rg_aid x, y, z, q, m;
    rg_val n, n64, zero;
    rg_val row;            /* this iteration's own index; 0 outside of parallel loops */
    RG_VEC(rg_aid) locals; /* one axis of at least 4 elements */
    int budget;
    bool in_parallel;
} gen;

static uint32_t pick(gen *g, uint32_t n) {
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return (uint32_t)(g->state >> 33) % n;
}

static void add(gen *g, rg_val v) {
    static const char *const names[] = {"a", "b", "s", "i", "y1", "rg_x"};
    if (!v)
        return;
    if (pick(g, 3) == 0 && rg_def_op(g->f, v) != RG_CONST)
        rg_b_name(g->b, v, names[pick(g, 6)]);
    RG_PUSH(g->f->arena, &g->scope, v);
}

static rg_val any(gen *g, rg_type t) {
    for (int tries = 0; tries < 12; tries++) {
        rg_val v =
            g->scope.n ? g->scope.at[g->scope.n - 1 - pick(g, g->scope.n < 9 ? g->scope.n : 9)] : 0;
        if (v && rg_type_of(g->f, v) == t)
            return v;
    }
    for (uint32_t k = g->scope.n; k-- > 0;)
        if (rg_type_of(g->f, g->scope.at[k]) == t && pick(g, 3))
            return g->scope.at[k];
    if (t == RG_F32 || t == RG_F64)
        return rg_b_real(g->b, t, (double)pick(g, 9) * 0.25 - 1.0);
    return rg_b_int(g->b, t, t == RG_BOOL ? pick(g, 2) : pick(g, 7));
}

/* Small numbers, so that nothing overflows: x % 64. */
static rg_val small(gen *g, rg_type t) {
    return rg_b_op2(g->b, RG_REM, any(g, t), rg_b_int(g->b, t, 61));
}

/* An index below n. */
static rg_val index_of(gen *g, rg_val n) {
    if (g->row && pick(g, 3) == 0)
        return rg_type_of(g->f, g->row) == RG_I32 && n == g->n ? g->row : rg_b_int(g->b, RG_I32, 1);
    rg_val u = rg_b_cast(g->b, RG_U32, any(g, RG_I32));
    return rg_b_op2(g->b, RG_REM, u, rg_b_cast(g->b, RG_U32, n));
}

static rg_val bounded(gen *g, rg_val v) {
    /* keeps floats tame: sin */
    return rg_b_op1(g->b, RG_SIN, v);
}

static void region(gen *g, int depth, int length);

static void structure(gen *g, int depth) {
    rg_build *b = g->b;
    uint32_t kind = pick(g, 3), n = pick(g, 4), mark = g->scope.n, locals = g->locals.n;
    rg_type types[4];
    rg_val inits[4], next[4];
    static const rg_type choice[] = {RG_F32, RG_F32, RG_I32, RG_BOOL, RG_F64, RG_U32};
    for (uint32_t k = 0; k < n; k++) {
        types[k] = choice[pick(g, 6)];
        inits[k] = any(g, types[k]);
    }
    rg_iid i;
    if (kind == 0) {
        i = rg_b_if(b, any(g, RG_BOOL));
        for (int side = 0; side < 2; side++) {
            rg_b_push(b, rg_ins_at(g->f, i)->region[side]);
            if (pick(g, 3))
                region(g, depth + 1, 4);
            for (uint32_t k = 0; k < n; k++)
                next[k] = pick(g, 3) ? any(g, types[k]) : inits[k];
            rg_b_yield(b, next, n);
            rg_b_pop(b);
            g->scope.n = mark;
            g->locals.n = locals;
        }
        rg_b_if_done(b, i);
    } else {
        uint32_t first = 0;
        if (kind == 1) {
            bool u = pick(g, 2), reverse = pick(g, 2);
            rg_type t = u ? RG_U32 : RG_I32;
            i = rg_b_for(b, rg_b_int(b, t, pick(g, 2)), rg_b_cast(b, t, g->n), inits, n,
                         reverse ? RG_INS_REVERSE : 0);
            first = 1;
        } else {
            /* counts down a fuel of its own, so that it ends */
            inits[n] = rg_b_int(b, RG_I32, 3);
            types[n] = RG_I32;
            i = rg_b_loop(b, inits, n + 1);
        }
        rg_b_push(b, rg_ins_at(g->f, i)->region[0]);
        for (uint32_t k = 0; k < n; k++)
            add(g, rg_b_arg(b, first + k));
        if (kind == 1)
            add(g, rg_b_arg(b, 0));
        if (kind == 2 && pick(g, 2)) { /* while */
            rg_val fuel = rg_b_arg(b, n);
            if (pick(g, 2))
                region(g, depth + 1, 2);
            rg_val c = rg_b_op2(b, RG_GT, fuel, g->zero);
            rg_iid w = rg_b_if(b, c);
            uint32_t inner = g->scope.n, inner_locals = g->locals.n;
            rg_b_push(b, rg_ins_at(g->f, w)->region[0]);
            region(g, depth + 1, 4);
            for (uint32_t k = 0; k < n; k++)
                next[k] = any(g, types[k]);
            rg_val out[5];
            for (uint32_t k = 0; k < n; k++)
                out[k] = next[k];
            out[n] = rg_b_op2(b, RG_SUB, fuel, rg_b_int(b, RG_I32, 1));
            rg_b_yield(b, out, n + 1);
            rg_b_pop(b);
            g->scope.n = inner;
            g->locals.n = inner_locals;
            rg_b_push(b, rg_ins_at(g->f, w)->region[1]);
            for (uint32_t k = 0; k <= n; k++)
                out[k] = g->f->regions.at[rg_ins_at(g->f, i)->region[0]].args.at[k];
            rg_b_yield(b, out, n + 1);
            rg_b_pop(b);
            rg_b_if_done(b, w);
            rg_val y[6] = {c};
            for (uint32_t k = 0; k <= n; k++)
                y[k + 1] = rg_result(g->f, w, k);
            rg_b_yield(b, y, n + 2);
        } else {
            region(g, depth + 1, 5);
            rg_val y[6];
            uint32_t at = 0;
            if (kind == 2) {
                rg_val fuel = rg_b_op2(b, RG_SUB, rg_b_arg(b, n), rg_b_int(b, RG_I32, 1));
                rg_val c = rg_b_op2(b, RG_GT, fuel, g->zero);
                if (pick(g, 2))
                    c = rg_b_op2(b, RG_AND, c, any(g, RG_BOOL));
                y[at++] = c;
                for (uint32_t k = 0; k < n; k++)
                    y[at++] = any(g, types[k]);
                y[at++] = fuel;
            } else
                for (uint32_t k = 0; k < n; k++)
                    y[at++] = any(g, types[k]);
            rg_b_yield(b, y, at);
        }
        rg_b_pop(b);
        g->scope.n = mark;
        g->locals.n = locals;
    }
    for (uint32_t k = 0; k < n; k++)
        add(g, rg_result(g->f, i, k));
}

static void memory(gen *g) {
    rg_build *b = g->b;
    rg_val idx[2];
    rg_val own = g->row ? g->row : rg_b_int(b, RG_I32, 2);
    switch (pick(g, 9)) {
    case 0:
        idx[0] = index_of(g, g->n);
        add(g, rg_b_load(b, g->x, 0, idx, 0));
        break;
    case 1:
        idx[0] = own;
        idx[1] = index_of(g, rg_b_int(b, RG_I32, 3));
        add(g, rg_b_load(b, g->y, 0, idx, 0));
        break;
    case 2:
        idx[0] = own;
        idx[1] = index_of(g, rg_b_int(b, RG_I32, 3));
        rg_b_store(b, g->y, 0, idx, bounded(g, any(g, RG_F32)), 0);
        break;
    case 3:
        idx[0] = index_of(g, rg_b_int(b, RG_I32, 4));
        rg_b_addto(b, g->z, 0, idx, bounded(g, any(g, RG_F32)),
                   pick(g, 2) ? RG_INS_ATOMIC : RG_INS_ATOMIC | RG_INS_PRIVATE);
        break;
    case 4:
        idx[0] = own;
        rg_b_store(b, g->q, 0, idx, small(g, RG_I32), 0);
        break;
    case 5:
        idx[0] = own;
        add(g, rg_b_load(b, g->m, 0, idx, 0));
        break;
    case 6:
        idx[0] = own;
        rg_b_store(b, g->m, 0, idx, any(g, RG_I32), 0);
        break;
    case 7: {
        rg_elem *e = rg_elem_scalar(pick(g, 2) ? RG_M_F32 : RG_M_F64);
        rg_val n = pick(g, 2)
                       ? rg_b_int(b, RG_I64, 4)
                       : rg_b_op2(b, RG_ADD, g->n64, rg_b_int(b, RG_I64, pick(g, 2) ? 1 : 2000));
        rg_aid l = rg_b_alloc(b, "t", e, 1, &n, RG_ARR_ZERO);
        RG_PUSH(g->f->arena, &g->locals, l);
        break;
    }
    default:
        if (!g->locals.n)
            break;
        {
            rg_aid l = g->locals.at[pick(g, g->locals.n)];
            rg_type t = rg_mem_value(rg_array_at(g->f, l)->elem->mem);
            idx[0] = index_of(g, rg_b_int(b, RG_I32, 4));
            if (pick(g, 2))
                add(g, rg_b_load(b, l, 0, idx, 0));
            else if (pick(g, 2))
                rg_b_store(b, l, 0, idx, bounded(g, any(g, t)), 0);
            else
                rg_b_addto(b, l, 0, idx, bounded(g, any(g, t)), 0);
        }
    }
}

static void operation(gen *g) {
    rg_build *b = g->b;
    static const rg_op floats[] = {RG_ADD, RG_SUB, RG_MUL, RG_FMIN, RG_FMAX, RG_ZMUL};
    static const rg_op ints[] = {RG_ADD, RG_SUB, RG_MUL, RG_AND, RG_OR, RG_XOR};
    static const rg_op unary[] = {RG_NEG, RG_FABS, RG_FLOOR, RG_SIN, RG_COS, RG_TANH, RG_STOP};
    static const rg_op compare[] = {RG_EQ, RG_NE, RG_LT, RG_LE, RG_GT, RG_GE};
    rg_type ft = pick(g, 3) ? RG_F32 : RG_F64;
    rg_type it = (rg_type[]){RG_I32, RG_U32, RG_I64, RG_U64}[pick(g, 4)];
    switch (pick(g, 12)) {
    case 0:
    case 1:
        add(g, rg_b_op2(b, floats[pick(g, 6)], bounded(g, any(g, ft)), any(g, ft)));
        break;
    case 2:
        add(g, rg_b_op1(b, unary[pick(g, 7)], any(g, ft)));
        break;
    case 3:
        add(g, rg_b_op2(b, ints[pick(g, 6)], small(g, it), small(g, it)));
        break;
    case 4: {
        rg_type t = pick(g, 2) ? ft : it;
        add(g, rg_b_op2(b, compare[pick(g, 6)], any(g, t), any(g, t)));
        break;
    }
    case 5: {
        rg_type t = pick(g, 2) ? ft : it;
        add(g, rg_b_op3(b, RG_SELECT, any(g, RG_BOOL), any(g, t), any(g, t)));
        break;
    }
    case 6:
        add(g, rg_b_op2(b,
                        pick(g, 2)   ? RG_AND
                        : pick(g, 2) ? RG_OR
                                     : RG_XOR,
                        any(g, RG_BOOL), any(g, RG_BOOL)));
        break;
    case 7:
        add(g, rg_b_op1(b, RG_NOT, any(g, pick(g, 2) ? RG_BOOL : it)));
        break;
    case 8:
        add(g, rg_b_cast(b, it, pick(g, 2) ? any(g, RG_I32) : any(g, RG_BOOL)));
        break;
    case 9:
        add(g,
            rg_b_cast(b, ft, pick(g, 2) ? small(g, it) : any(g, ft == RG_F32 ? RG_F64 : RG_F32)));
        break;
    case 10:
        add(g, rg_b_op2(b, pick(g, 2) ? RG_SHR : RG_SHL,
                        rg_b_op2(b, RG_AND, any(g, it), rg_b_int(b, it, 255)),
                        rg_b_int(b, RG_I32, pick(g, 9))));
        break;
    default:
        add(g, rg_b_wrap(b, pick(g, 2) ? RG_M_U8 : RG_M_I16, any(g, RG_I32)));
    }
}

static void region(gen *g, int depth, int length) {
    int n = 1 + (int)pick(g, (uint32_t)length);
    for (int k = 0; k < n && g->budget > 0; k++) {
        g->budget--;
        uint32_t what = pick(g, 10);
        if (what < 2 && depth < 4)
            structure(g, depth);
        else if (what < 6)
            memory(g);
        else
            operation(g);
    }
}

static void parallel(gen *g) {
    rg_build *b = g->b;
    uint32_t mark = g->scope.n, locals = g->locals.n, nred = pick(g, 3);
    bool two = pick(g, 2) != 0;
    rg_red kinds[2];
    rg_val inits[2];
    for (uint32_t k = 0; k < nred; k++) {
        kinds[k] = pick(g, 2) ? RG_RED_ADD : pick(g, 2) ? RG_RED_MIN : RG_RED_MAX;
        inits[k] = any(g, RG_F32);
    }
    /* rows times one column: an iteration's row is its own */
    rg_val bounds[4] = {g->zero, g->n, rg_b_int(b, RG_I32, 2), rg_b_int(b, RG_I32, 3)};
    if (two && pick(g, 2)) {
        bounds[2] = g->zero;
        bounds[3] = g->n;
        bounds[0] = rg_b_int(b, RG_I32, 1);
        bounds[1] = rg_b_int(b, RG_I32, 2);
    }
    rg_iid i = rg_b_parallel(b, bounds, two ? 2 : 1, inits, kinds, nred);
    rg_b_push(b, rg_ins_at(g->f, i)->region[0]);
    g->row = rg_b_arg(b, two && bounds[3] == g->n ? 1 : 0);
    rg_aid outer[64]; /* arrays of the kernel are shared: not for random stores */
    for (uint32_t k = 0; k < locals && k < 64; k++)
        outer[k] = g->locals.at[k];
    g->locals.n = 0;
    g->in_parallel = true;
    add(g, g->row);
    region(g, 1, 9);
    rg_val acc[2];
    for (uint32_t k = 0; k < nred; k++) {
        acc[k] = rg_b_arg(b, (two ? 2 : 1) + k);
        rg_iid c = rg_b_if(b, any(g, RG_BOOL));
        rg_b_push(b, rg_ins_at(g->f, c)->region[0]);
        rg_val more = rg_b_red(b, kinds[k], acc[k], bounded(g, any(g, RG_F32)));
        rg_b_yield(b, &more, 1);
        rg_b_pop(b);
        rg_b_push(b, rg_ins_at(g->f, c)->region[1]);
        rg_b_yield(b, &acc[k], 1);
        rg_b_pop(b);
        rg_b_if_done(b, c);
        acc[k] = rg_b_red(b, kinds[k], rg_result(g->f, c, 0), bounded(g, any(g, RG_F32)));
    }
    rg_b_yield(b, acc, nred);
    rg_b_pop(b);
    g->in_parallel = false;
    g->row = 0;
    g->scope.n = mark;
    g->locals.n = locals;
    for (uint32_t k = 0; k < locals && k < 64; k++)
        g->locals.at[k] = outer[k];
    for (uint32_t k = 0; k < nred; k++)
        add(g, rg_result(g->f, i, k));
}

static rg_aid param(rg_fn *f, const char *name, rg_mem m, uint32_t rank, const rg_val *extents,
                    const char *const *text, bool is_const) {
    rg_param p = {.name = name,
                  .is_array = true,
                  .elem = rg_elem_scalar(m),
                  .rank = rank,
                  .is_const = is_const};
    p.extent_text = RG_NEW_N(f->arena, const char *, rank);
    for (uint32_t k = 0; k < rank; k++)
        p.extent_text[k] = text[k];
    rg_ir_array x = {.name = name,
                     .kind = RG_ARR_PARAM,
                     .elem = p.elem,
                     .rank = rank,
                     .param = f->params.n,
                     .flags = is_const ? RG_ARR_CONST : RG_ARR_WRITTEN};
    x.extents = RG_NEW_N(f->arena, rg_val, rank);
    for (uint32_t k = 0; k < rank; k++)
        x.extents[k] = extents[k];
    rg_aid a = rg_array_new(f, &x);
    p.array = a;
    RG_PUSH(f->arena, &f->params, p);
    return a;
}

rg_fn *rg_random_fn(rg_arena *a, rg_ir_module *m, const char *name, uint64_t seed) {
    rg_fn *f = rg_fn_new(a, m, name);
    rg_build *b = rg_b_new(f);
    gen g;
    memset(&g, 0, sizeof g);
    g.b = b;
    g.f = f;
    g.state = seed * 0x9e3779b97f4a7c15u + 1;
    RG_PUSH(a, &f->params,
            (rg_param){.name = "n", .elem = rg_elem_scalar(RG_M_I32), .nscalars = 1});
    RG_PUSH(a, &f->params,
            (rg_param){
                .name = "k", .elem = rg_elem_scalar(RG_M_F32), .first_scalar = 1, .nscalars = 1});
    RG_PUSH(a, &f->scalars, (rg_scalar){.param = 0, .mem = RG_M_I32, .path = ""});
    RG_PUSH(a, &f->scalars, (rg_scalar){.param = 1, .mem = RG_M_F32, .path = ""});
    g.n = rg_b_scalar(b, 0);
    g.n64 = rg_b_cast(b, RG_I64, g.n);
    g.zero = rg_b_int(b, RG_I32, 0);
    rg_val three[2] = {g.n64, rg_b_int(b, RG_I64, 3)}, four = rg_b_int(b, RG_I64, 4);
    g.x = param(f, "x", RG_M_F32, 1, &g.n64, (const char *[]){"n"}, true);
    g.y = param(f, "y", RG_M_F32, 2, three, (const char *[]){"n", "3"}, false);
    g.z = param(f, "z", RG_M_F32, 1, &four, (const char *[]){"4"}, false);
    g.q = param(f, "q", RG_M_I32, 1, &g.n64, (const char *[]){"n"}, false);
    g.m = param(f, "m", RG_M_U8, 1, &g.n64, (const char *[]){"n"}, false);
    add(&g, rg_b_scalar(b, 1));
    add(&g, g.n);
    for (int k = 0; k < 3; k++) {
        g.budget = 25;
        region(&g, 1, 6);
        g.budget = 40;
        parallel(&g);
    }
    rg_val at = rg_b_int(b, RG_I32, 0);
    rg_b_addto(b, g.z, 0, &at, bounded(&g, any(&g, RG_F32)), 0);
    rg_b_yield(b, NULL, 0);
    return f;
}
