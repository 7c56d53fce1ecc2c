/* The C emitter against the interpreter: each kernel is printed as plain C and in the CPU form
 * (unchecked and checked), compiled with the system's compiler, loaded, and run on the same data,
 * alone and with several workers; results must agree. Plain C must compile without a warning, with
 * and without OpenMP. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "emit/c/cpu.h"
#include "emit/c/cpu_abi.h"
#include "emit/c/emit_c.h"
#include "emit/layout.h"
#include "emit_c_random.h"
#include "ir/eval.h"
#include "ir/interp.h"
#include "ir/print.h"
#include "ir/verify.h"

static rg_arena *arena;
static char folder[] = "/tmp/rg_emit_c_XXXXXX";

static int setup(void **state) {
    (void)state;
    arena = rg_arena_new(NULL);
    return arena ? 0 : -1;
}
static int teardown(void **state) {
    (void)state;
    rg_arena_free(arena);
    return 0;
}

/* ---- a small worker pool: ranges run one after another, each with its own worker number ---- */

enum { POOL = 1 << 22, WORKERS = 3 };
static _Alignas(64) char pool[WORKERS][POOL];
static size_t pool_top[WORKERS];
static int stopped, fault_what, fault_line, growing;
static char fault_name[64];
static int64_t fault_a, fault_b, fault_c;

static void env_parallel(const rg_cpu_env *env, rg_cpu_task *task, void *closure, int64_t n,
                         int64_t grain) {
    (void)grain;
    int64_t each = (n + env->threads - 1) / env->threads;
    for (int t = 0; t < env->threads; t++) {
        int64_t begin = each * t, end = begin + each < n ? begin + each : n;
        if (begin < end)
            task(env, closure, begin, end, t);
    }
}
static void *env_alloc(const rg_cpu_env *env, int thread, size_t bytes) {
    (void)env;
    size_t at = (pool_top[thread] + 63) / 64 * 64;
    if (bytes > POOL || at > POOL - bytes)
        return NULL;
    pool_top[thread] = at + bytes;
    memset(pool[thread] + at, 0xa5, bytes);
    return pool[thread] + at;
}
static size_t env_mark(const rg_cpu_env *env, int thread) {
    (void)env;
    return pool_top[thread];
}
static void env_release(const rg_cpu_env *env, int thread, size_t mark) {
    (void)env;
    assert_true(mark <= pool_top[thread]);
    pool_top[thread] = mark;
}
static void *env_grow(const rg_cpu_env *env, void *old, size_t size) {
    (void)env;
    growing += !old && size ? 1 : old && !size ? -1 : 0;
    if (!size) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}
static void env_fault(const rg_cpu_env *env, int what, int line, const char *name, int64_t a,
                      int64_t b, int64_t c) {
    (void)env;
    if (stopped)
        return;
    stopped = 1;
    fault_what = what;
    fault_line = line;
    snprintf(fault_name, sizeof fault_name, "%s", name);
    fault_a = a;
    fault_b = b;
    fault_c = c;
}
static rg_cpu_env env_of(int threads) {
    memset(pool_top, 0, sizeof pool_top);
    stopped = fault_what = growing = 0;
    return (rg_cpu_env){threads,   env_parallel, env_alloc, env_mark,
                        env_release, env_grow,   env_fault, &stopped};
}

/* ---- compiling ---- */

static void *compile(const char *text, const char *name, const char *flags) {
    char *file = rg_format(arena, "%s/%s.c", folder, name);
    char *object = rg_format(arena, "%s/%s.so", folder, name);
    char *log = rg_format(arena, "%s/%s.log", folder, name);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    const char *cc = getenv("CC");
    const char *keep = getenv("RG_KEEP");
    int rc = system(rg_format(arena,
                              "%s %s -fno-builtin -ffp-contract=off -shared -fPIC %s -o %s -lm > "
                              "%s 2>&1",
                              cc ? cc : "cc", flags, file, object, log));
    f = fopen(log, "r");
    char line[400];
    bool said = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    if (rc || said) {
        if (keep)
            printf("kept %s\n", file);
        else
            printf("%s\n", text);
        fail_msg("%s: %s", name, said ? line : "compiler failed");
    }
    void *so = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fail_msg("%s", dlerror());
    return so;
}

static void *symbol(void *so, const char *name) {
    void *p = dlsym(so, name);
    if (!p)
        fail_msg("no symbol %s", name);
    return p;
}

/* A function void rg_call(void **args) that passes args[k] to the kernel's parameters. */
static void add_caller(rg_text *t, const rg_fn *f, const rg_activity *act) {
    static const char *const tail[] = {"", "_tangent", "_adjoint", "_hvp"};
    rg_text_format(t, "\nvoid rg_call(void **rg_a);\nvoid rg_call(void **rg_a) { %s%s(", f->name,
                   tail[f->mode]);
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        const char *c = p->elem->is_struct ? p->elem->name
                        : p->elem->mem == RG_M_F16 ? "uint16_t"
                                                   : rg_mem_c(p->elem->mem);
        if (p->is_array)
            rg_text_format(t, "%srg_a[%u]", n ? ", " : "", n);
        else
            rg_text_format(t, "%s*(%s *)rg_a[%u]", n ? ", " : "", c, n);
        n++;
        for (uint32_t a = 1; a < f->arrays.n; a++)
            if (f->arrays.at[a].kind == RG_ARR_SHADOW && f->arrays.at[a].param == k)
                rg_text_format(t, ", rg_a[%u]", n++);
    }
    (void)act;
    if (f->mode != RG_PRIMAL)
        rg_text_format(t, ", rg_a[%u]", n);
    rg_text_add(t, "); }\n");
}

/* ---- data ---- */

typedef struct data {
    void **array;     /* [fn.arrays.n] */
    size_t *bytes;
    int64_t **extent; /* [fn.arrays.n][rank] */
    void **scalar;    /* [fn.params.n] */
} data;

static int64_t int_argument = 5;

static rg_const value_of(const rg_fn *f, rg_val v) {
    const rg_ins *s = &f->ins.at[f->vals.at[v].def];
    if (s->op == RG_CONST)
        return (rg_const){.i = s->imm.i};
    if (s->op == RG_SCALAR)
        return (rg_const){.i = int_argument};
    rg_const x[3] = {{0}}, r = {0};
    for (uint32_t o = 0; o < s->nopnd && o < 3; o++)
        x[o] = value_of(f, f->pool.at[s->opnd + o]);
    rg_eval((rg_op)s->op, f->vals.at[v].type,
            s->nopnd ? f->vals.at[f->pool.at[s->opnd]].type : RG_VOID, s->imm.i, x, &r);
    return r;
}

static void fill(const rg_elem *e, char *at, uint64_t *seed) {
    for (uint32_t l = 0; l < e->nleaves; l++) {
        const rg_leaf *leaf = &e->leaves[l];
        int64_t n = 1;
        for (uint32_t k = 0; k < leaf->ndims; k++)
            n *= leaf->dims[k];
        for (int64_t k = 0; k < n; k++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            int64_t i = (int64_t)(*seed >> 59);
            double d = (double)(int64_t)(*seed >> 40) / (1 << 23) - 1.0;
            char *p = at + leaf->offset + k * (int64_t)rg_mem_size(leaf->mem);
            switch (leaf->mem) {
            case RG_M_F32:
                *(float *)(void *)p = (float)d;
                break;
            case RG_M_F64:
                *(double *)(void *)p = d;
                break;
            case RG_M_F16:
                *(uint16_t *)(void *)p = rg_half_from_float((float)d);
                break;
            case RG_M_BOOL:
                *(bool *)p = i & 1;
                break;
            default:
                memcpy(p, &i, rg_mem_size(leaf->mem));
            }
        }
    }
}

static data make_data(const rg_fn *f, int64_t open_extent) {
    data d;
    uint64_t seed = 12345;
    d.array = RG_NEW_N(arena, void *, f->arrays.n + 1);
    d.bytes = RG_NEW_N(arena, size_t, f->arrays.n + 1);
    d.extent = RG_NEW_N(arena, int64_t *, f->arrays.n + 1);
    d.scalar = RG_NEW_N(arena, void *, f->params.n + 1);
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *x = &f->arrays.at[a];
        if (x->kind == RG_ARR_LOCAL)
            continue;
        bool scalar = !f->params.at[x->param].is_array;
        const rg_ir_array *q = scalar ? x : &f->arrays.at[f->params.at[x->param].array];
        size_t n = 1;
        d.extent[a] = RG_NEW_N(arena, int64_t, x->rank + 1);
        for (uint32_t k = 0; k < x->rank; k++) {
            d.extent[a][k] = scalar ? 1 : q->extents[k] ? value_of(f, q->extents[k]).i : open_extent;
            n *= (size_t)d.extent[a][k];
        }
        d.bytes[a] = n * x->elem->size;
        d.array[a] = rg_alloc(arena, d.bytes[a] + 1);
        for (size_t k = 0; k < n; k++)
            fill(x->elem, (char *)d.array[a] + k * x->elem->size, &seed);
    }
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        if (p->is_array)
            continue;
        d.scalar[k] = rg_alloc(arena, p->elem->size);
        fill(p->elem, d.scalar[k], &seed);
        if (!p->elem->is_struct && !rg_mem_is_float(p->elem->mem) && p->elem->mem != RG_M_BOOL)
            memcpy(d.scalar[k], &int_argument, p->elem->size);
    }
    return d;
}

static data copy_of(const rg_fn *f, const data *d) {
    data c = *d;
    c.array = RG_NEW_N(arena, void *, f->arrays.n + 1);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        if (d->array[a]) {
            c.array[a] = rg_alloc(arena, d->bytes[a] + 1);
            memcpy(c.array[a], d->array[a], d->bytes[a]);
        }
    return c;
}

static bool near(double x, double y) {
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= 2e-5 * (1 + fabs(x));
}

static void compare(const rg_fn *f, const data *want, const data *got, const char *how) {
    for (uint32_t a = 1; a < f->arrays.n; a++) {
        const rg_ir_array *x = &f->arrays.at[a];
        if (x->kind == RG_ARR_LOCAL)
            continue;
        for (size_t at = 0; at + x->elem->size <= want->bytes[a]; at += x->elem->size)
            for (uint32_t l = 0; l < x->elem->nleaves; l++) {
                const rg_leaf *leaf = &x->elem->leaves[l];
                int64_t n = 1;
                for (uint32_t k = 0; k < leaf->ndims; k++)
                    n *= leaf->dims[k];
                for (int64_t k = 0; k < n; k++) {
                    uint32_t size = rg_mem_size(leaf->mem);
                    size_t p = at + leaf->offset + (size_t)k * size;
                    const char *w = (const char *)want->array[a] + p;
                    const char *g = (const char *)got->array[a] + p;
                    bool same = !memcmp(w, g, size);
                    double x0 = 0, y0 = 0;
                    if (leaf->mem == RG_M_F32) {
                        x0 = (double)*(const float *)(const void *)w;
                        y0 = (double)*(const float *)(const void *)g;
                        same = near(x0, y0);
                    } else if (leaf->mem == RG_M_F64) {
                        x0 = *(const double *)(const void *)w;
                        y0 = *(const double *)(const void *)g;
                        same = near(x0, y0);
                    }
                    if (!same) {
                        rg_text t = {.arena = arena};
                        rg_ir_print(f, &t);
                        if (getenv("RG_KEEP"))
                            printf("%s\n", rg_text_str(&t));
                        fail_msg("%s, %s: array %s differs at byte %zu: %g, not %g", f->name, how,
                                 x->name, p, y0, x0);
                    }
                }
            }
    }
}

/* ---- one kernel through every form ---- */

static void *argument_block(const rg_fn *f, const data *d) {
    rg_layout *l = rg_layout_make(arena, f);
    char *block = rg_alloc(arena, l->size + 8);
    for (uint32_t a = 1; a < f->arrays.n; a++)
        if (d->array[a])
            memcpy(block + l->array_pointer[a], &d->array[a], 8);
    for (uint32_t k = 0; k < f->params.n; k++) {
        const rg_param *p = &f->params.at[k];
        if (p->is_array)
            memcpy(block + l->param_extents[k], d->extent[p->array], 8 * p->rank);
        else
            memcpy(block + l->param_value[k], d->scalar[k], p->elem->size);
    }
    return block;
}

static void run_plain(const rg_fn *f, const rg_activity *act, void *so, const data *d,
                      void *scratch) {
    void *args[64];
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->params.n; k++) {
        args[n++] = f->params.at[k].is_array ? d->array[f->params.at[k].array] : d->scalar[k];
        for (uint32_t a = 1; a < f->arrays.n; a++)
            if (f->arrays.at[a].kind == RG_ARR_SHADOW && f->arrays.at[a].param == k)
                args[n++] = d->array[a];
    }
    (void)act;
    args[n] = scratch;
    void (*call)(void **) = (void (*)(void **))(uintptr_t)symbol(so, "rg_call");
    call(args);
}

static const char *last_plain;

static void through(const rg_fn *const *fns, uint32_t n, int64_t open_extent) {
    const char **names = RG_NEW_N(arena, const char *, n);
    data *in = RG_NEW_N(arena, data, n), *want = RG_NEW_N(arena, data, n);
    for (uint32_t k = 0; k < n; k++) {
        rg_text why = {.arena = arena};
        if (!rg_ir_verify(fns[k], &why))
            fail_msg("%s: %s", fns[k]->name, rg_text_str(&why));
        names[k] = rg_format(arena, "entry_%u", k);
        in[k] = make_data(fns[k], open_extent);
        want[k] = copy_of(fns[k], &in[k]);
        rg_interp_array *arrays = RG_NEW_N(arena, rg_interp_array, fns[k]->arrays.n + 1);
        for (uint32_t a = 1; a < fns[k]->arrays.n; a++)
            arrays[a] = (rg_interp_array){want[k].array[a], want[k].extent[a]};
        rg_interp_args args = {.arrays = arrays,
                               .scalars = (const void *const *)want[k].scalar,
                               .max_steps = 10000000};
        rg_loc loc;
        if (!rg_interp(fns[k], &args, &why, &loc))
            fail_msg("%s: %s", fns[k]->name, rg_text_str(&why));
    }
    for (int checked = 0; checked < 2; checked++) {
        rg_text t = {.arena = arena};
        rg_emit_c_options o = {.checked = checked};
        rg_emit_c_cpu(fns, names, n, &o, &t);
        void *so = compile(rg_text_str(&t), checked ? "checked" : "cpu",
                           checked ? "-std=gnu11 -O0" : "-std=gnu11 -O1");
        for (uint32_t k = 0; k < n; k++)
            for (int threads = 1; threads <= WORKERS; threads += 2) {
                data got = copy_of(fns[k], &in[k]);
                rg_cpu_env env = env_of(threads);
                rg_cpu_entry *entry = (rg_cpu_entry *)(uintptr_t)symbol(so, names[k]);
                int rc = entry(&env, argument_block(fns[k], &got));
                if (rc || fault_what)
                    fail_msg("%s: fault %d at line %d: %s %lld %lld", fns[k]->name, fault_what,
                             fault_line, fault_name, (long long)fault_a, (long long)fault_b);
                assert_int_equal(growing, 0);
                for (int w = 0; w < WORKERS; w++)
                    assert_int_equal(pool_top[w], 0);
                compare(fns[k], &want[k], &got,
                        rg_format(arena, "cpu%s, %d workers", checked ? " checked" : "", threads));
            }
        dlclose(so);
    }
    for (uint32_t k = 0; k < n; k++)
        for (int omp = 0; omp < 2; omp++) {
            rg_text t = {.arena = arena};
            rg_emit_c_plain(fns[k], NULL, &t);
            last_plain = rg_strdup(arena, rg_text_str(&t));
            add_caller(&t, fns[k], NULL);
            void *so = compile(rg_text_str(&t), "plain",
                               omp ? "-std=c99 -Wall -Wextra -O1 -fopenmp"
                                   : "-std=c99 -Wall -Wextra -O2");
            for (int with = 0; with < 2; with++) {
                data got = copy_of(fns[k], &in[k]);
                run_plain(fns[k], NULL, so, &got, with ? pool[0] : NULL);
                compare(fns[k], &want[k], &got, omp ? "plain, OpenMP" : "plain");
            }
            dlclose(so);
        }
}

static const rg_fn *read_fn(const char *text) {
    rg_diags d = {.arena = arena};
    rg_text out = {.arena = arena};
    rg_ir_module *m = rg_ir_read(arena, &d, "t.ir", text, strlen(text));
    rg_diags_render(&d, &out);
    if (!m)
        fail_msg("%s", rg_text_str(&out));
    return m->kernels.at[0];
}

static void test_random(void **state) {
    (void)state;
    const char *from = getenv("RG_SEED"), *count = getenv("RG_COUNT");
    uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
    uint32_t n = count ? (uint32_t)atoi(count) : 12;
    rg_ir_module *m = RG_NEW(arena, rg_ir_module);
    m->arena = arena;
    const rg_fn **fns = RG_NEW_N(arena, const rg_fn *, n);
    for (uint32_t k = 0; k < n; k++)
        fns[k] = rg_random_fn(arena, m, rg_format(arena, "f%llu", (unsigned long long)(seed + k)),
                              seed + k);
    through(fns, n, 5);
}
