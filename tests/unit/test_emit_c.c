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
    return (rg_cpu_env){threads,     env_parallel, env_alloc, env_mark,
                        env_release, env_grow,     env_fault, &stopped};
}

/* ---- compiling ---- */

static void *compile(const char *text, const char *name, const char *flags) {
    static int number; /* a loaded library must not be overwritten */
    number++;
    char *file = rg_format(arena, "%s/%s_%d.c", folder, name, number);
    char *object = rg_format(arena, "%s/%s_%d.so", folder, name, number);
    char *log = rg_format(arena, "%s/%s_%d.log", folder, name, number);
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
    unlink(object);
    unlink(log);
    if (!keep)
        unlink(file);
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
        const char *c = p->elem->is_struct         ? p->elem->name
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
    void **array; /* [fn.arrays.n] */
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
            d.extent[a][k] = scalar          ? 1
                             : q->extents[k] ? value_of(f, q->extents[k]).i
                                             : open_extent;
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
            void *so =
                compile(rg_text_str(&t), "plain",
                        omp ? "-std=c99 -Wall -Wextra -O1 -fopenmp" : "-std=c99 -Wall -Wextra -O2");
            for (int with = 0; with < 2; with++) {
                data got = copy_of(fns[k], &in[k]);
                run_plain(fns[k], NULL, so, &got, with ? pool[0] : NULL);
                compare(fns[k], &want[k], &got, omp ? "plain, OpenMP" : "plain");
            }
            if (!omp) /* OpenMP's threads stay: so must its code */
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

/* ---- by hand: one construct each ---- */

static void one(const char *text) {
    const rg_fn *f = read_fn(text);
    through(&f, 1, 6);
}

/* f(int n, T x[n], T y[n]) with a body; @1.x and @2.y, %1 n, %2 0, %3 1, %4 n as i64. */
static const char *frame(const char *mem, const char *locals, const char *body) {
    return rg_format(arena,
                     "kernel f primal\n"
                     " param 0 n: i32\n"
                     " param 1 x: const %s[n] @1\n"
                     " param 2 y: %s[n] @2\n"
                     " scalar $0: i32 of 0 at 0\n"
                     " array @1.x: param 1 const %s[%%4]\n"
                     " array @2.y: param 2 written %s[%%4]\n"
                     "%s{\n"
                     " %%1.n: i32 = scalar $0\n"
                     " %%2: i32 = const 0\n"
                     " %%3: i32 = const 1\n"
                     " %%4: i64 = cast %%1\n"
                     " %%5: i64 = const 0\n"
                     "%s yield\n}\n",
                     mem, mem, mem, mem, locals, body);
}

/* zmul(zmul(c, d), e), one helper in C, for every c, d, e among the numbers that make a difference.
 */
static void test_zmul_of_zmul(void **state) {
    (void)state;
    static const char *const numbers[] = {"0", "-0", "inf", "nan", "1e-30", "-1e30", "2"};
    enum { N = sizeof numbers / sizeof *numbers };
    static const char *const types[] = {"f32", "f64"};
    for (int t = 0; t < 2; t++) {
        rg_text body = {.arena = arena};
        for (int k = 0; k < N; k++)
            rg_text_format(&body, " %%%d: %s = const %s\n", 10 + k, types[t], numbers[k]);
        rg_text_format(&body, " %%9: %s = const 99\n", types[t]);
        for (int k = 0, v = 20; k < N * N * N; k++, v += 10) {
            rg_text_format(&body, " %%%d: i32 = const %d\n", v, k);
            /* the numbers come from memory, so that neither side folds */
            const int operand[3] = {k % N, k / N % N, k / N / N};
            for (int j = 0; j < 3; j++)
                rg_text_format(&body, " store @2.y[%%%d] = %%%d\n %%%d: %s = load @2.y[%%%d]\n", v,
                               10 + operand[j], v + 1 + j, types[t], v);
            rg_text_format(&body, " %%%d: %s = zmul %%%d, %%%d\n", v + 4, types[t], v + 1, v + 2);
            rg_text_format(&body, " %%%d: %s = zmul %%%d, %%%d\n", v + 5, types[t], v + 4, v + 3);
            rg_text_format(&body, " %%%d: bool = isnan %%%d\n", v + 6, v + 5); /* any NaN will do */
            rg_text_format(&body, " %%%d: %s = select %%%d, %%9, %%%d\n", v + 7, types[t], v + 6,
                           v + 5);
            rg_text_format(&body, " store @2.y[%%%d] = %%%d\n", v, v + 7);
        }
        int_argument = N * N * N;
        one(frame(types[t], "", rg_text_str(&body)));
        assert_non_null(strstr(last_plain, t ? "rg_zmul2(" : "rg_zmul2f("));
        int_argument = 5;
    }
}

static void test_structs(void **state) {
    (void)state;
    one("struct v3 { f32 x; f32 y; i16 tag; }\n"
        "struct body { struct v3 at[2]; f64 mass; u8 m[3][2]; bool on; f16 h; }\n"
        "kernel f primal\n"
        " param 0 b: struct body[?] @1\n"
        " param 1 g: struct v3\n"
        " param 2 out: f32[?][3] @2\n"
        " scalar $0: f32 of 1 at 0 \".x\"\n"
        " scalar $1: i16 of 1 at 8 \".tag\"\n"
        " array @1.b: param 0 written struct body[?]\n"
        " array @2.out: param 2 written f32[?, %9]\n"
        "{\n"
        " %1: i32 = const 0\n"
        " %2: i32 = const 1\n"
        " %3: i32 = const 5\n"
        " %4: f32 = scalar $0\n"
        " %5: i32 = scalar $1\n"
        " %6: i32 = const 2\n"
        " %9: i64 = const 3\n"
        " parallel %10.i: i32 = %1 to %3 {\n"
        "  %11: f32 = load @1.b[%10].at[%2].y\n"
        "  %12: f32 = load @1.b[%10].h\n"
        "  %13: f32 = add %11, %12\n"
        "  %14: f64 = load @1.b[%10].mass\n"
        "  %15: f64 = cast %13\n"
        "  %16: f64 = mul %14, %15\n"
        "  store @1.b[%10].mass = %16\n"
        "  store @1.b[%10].h = %13\n"
        "  addto @1.b[%10].at[%1].x += %4\n"
        "  %17: i32 = load @1.b[%10].at[%2].tag\n"
        "  %18: i32 = add %17, %5\n"
        "  store @1.b[%10].at[%1].tag = %18\n"
        "  store @1.b[%10].m[%6][%2] = %18\n"
        "  %19: bool = load @1.b[%10].on\n"
        "  %20: bool = not %19\n"
        "  store @1.b[%10].on = %20\n"
        "  addto @1.b[%10].h += %4\n"
        "  store @2.out[%10, %6] = %13\n"
        "  yield\n"
        " }\n"
        " yield\n"
        "}\n");
}

static void test_reductions(void **state) {
    (void)state;
    static const char *const kinds[] = {"add", "mul", "min", "max"};
    for (int k = 0; k < 4; k++)
        one(frame("f64", "",
                  rg_format(arena,
                            " %%9: f64 = const 0.75\n"
                            " %%10: f64 = parallel %%11.i: i32 = %%2 to %%1, %%14.j: i32 = %%3 to "
                            "%%1 reduce %s %%12: f64 = %%9 {\n"
                            "  %%13: f64 = load @1.x[%%11]\n"
                            "  %%15: bool = lt %%11, %%14\n"
                            "  %%16: f64 = if %%15 {\n"
                            "    %%17: f64 = red %s %%12, %%13\n"
                            "    yield %%17\n"
                            "  } else {\n"
                            "    yield %%12\n"
                            "  }\n"
                            "  yield %%16\n"
                            " }\n"
                            " store @2.y[%%2] = %%10\n",
                            kinds[k], kinds[k])));
    static const char *const ints[] = {"and", "or", "xor", "add"};
    for (int k = 0; k < 4; k++)
        one(frame("u32", "",
                  rg_format(arena,
                            " %%9: u32 = const 21\n"
                            " %%10: u32 = parallel %%11.i: i64 = %%5 to %%4 reduce %s %%12: u32 = "
                            "%%9 {\n"
                            "  %%13: u32 = load @1.x[%%11]\n"
                            "  %%17: u32 = red %s %%12, %%13\n"
                            "  yield %%17\n"
                            " }\n"
                            " store @2.y[%%2] = %%10\n",
                            ints[k], ints[k])));
}

static void test_ranges(void **state) {
    (void)state;
    /* three ranges, the inner ones run-time, then constant; unsigned and reverse loops */
    one("kernel f primal\n"
        " param 0 n: i32\n"
        " param 1 y: i32[n][4][n] @1\n"
        " scalar $0: i32 of 0 at 0\n"
        " array @1.y: param 1 written i32[%3, %4, %3]\n"
        "{\n"
        " %1.n: i32 = scalar $0\n"
        " %2: i32 = const 0\n"
        " %3: i64 = cast %1\n"
        " %4: i64 = const 4\n"
        " %5: i32 = const 4\n"
        " %6: i32 = const 7\n"
        " parallel %10.i: i32 = %2 to %1, %11.j: i32 = %2 to %5, %12.k: i32 = %2 to %1 {\n"
        "  %13: i32 = mul %10, %6\n"
        "  %14: i32 = add %13, %11\n"
        "  %15: i32 = mul %14, %6\n"
        "  %16: i32 = add %15, %12\n"
        "  addto @1.y[%10, %11, %12] += %16\n"
        "  yield\n"
        " }\n"
        " parallel %20.k: i32 = %2 to %1, %21.j: i32 = %2 to %5 {\n"
        "  %22: u32 = const 2\n"
        "  %23: u32 = cast %1\n"
        "  for reverse %24.i: u32 = %22 to %23 {\n"
        "   %25: i32 = cast %24\n"
        "   addto @1.y[%24, %21, %20] += %25\n"
        "   yield\n"
        "  }\n"
        "  yield\n"
        " }\n"
        " yield\n"
        "}\n");
}

static void test_locals(void **state) {
    (void)state;
    /* growing, run-time with two axes, copies whole and by slice, at both levels */
    one(frame("f32",
              " array @3.t: local zero f32[*, *]\n"
              " array @4.g: local grow i32[*]\n"
              " array @5.w: local f32[*]\n"
              " array @6.old: local f32[*]\n"
              " array @7.s: local f32[]\n",
              " %8: f32 = const 1\n alloc @6.old[%4]\n"
              " copy @6.old[] = @2.y[]\n"
              " alloc @7.s[]\n"
              " store @7.s[] = %8\n"
              " parallel %10.i: i32 = %2 to %1 {\n"
              "  alloc @3.t[%4, %4]\n"
              "  alloc @5.w[%4]\n"
              "  alloc @4.g[]\n"
              "  for %11.j: i32 = %2 to %1 {\n"
              "   %12: f32 = load @1.x[%11]\n"
              "   store @3.t[%11, %10] = %12\n"
              "   store @4.g[%11] = %11\n"
              "   yield\n"
              "  }\n"
              "  %30: i64 = extent @4.g, 0\n  %31: f32 = cast %30\n"
              "  store @3.t[%2, %10] = %31\n"
              "  copy @5.w[] = @3.t[%10]\n"
              "  copy @3.t[%3] = @5.w[]\n"
              "  %13: f32 = load @5.w[%10]\n"
              "  %14: f32 = load @3.t[%3, %10]\n"
              "  %15: f32 = add %13, %14\n"
              "  %16: i32 = load @4.g[%10]\n"
              "  %17: f32 = cast %16\n"
              "  %18: f32 = mul %15, %17\n"
              "  %19: f32 = load @6.old[%10]\n"
              "  %20: f32 = add %18, %19\n"
              "  store @2.y[%10] = %20\n"
              "  yield\n"
              " }\n"));
}

static void test_atomics(void **state) {
    (void)state;
    static const char *const mems[] = {"i32", "f32", "u8", "f16", "i64"};
    static const char *const kinds[] = {"add", "mul", "min", "max", "set", "and", "or", "xor"};
    for (int m = 0; m < 5; m++) {
        const char *mem = mems[m], *t = m == 1 || m == 3 ? "f32" : m == 4 ? "i64" : "i32";
        int n = m == 1 || m == 3 ? 5 : 8;
        rg_text body = {.arena = arena};
        for (int k = 0; k < n; k++)
            rg_text_format(&body,
                           "  %%%d: %s = rmw %s%s @2.y[%%20], %%21\n"
                           "  store @2.y[%%20] = %%%d\n"
                           "  %%%d: %s = rmw %s @2.y[%%20], %%21\n",
                           30 + k, t, k % 2 ? "new " : "", kinds[k], 30 + k, 50 + k, t, kinds[k]);
        one(frame(mem, "",
                  rg_format(arena,
                            " parallel %%20.i: i32 = %%2 to %%1 {\n"
                            "  %%21: %s = load atomic @1.x[%%20]\n%s"
                            "  store atomic @2.y[%%20] = %%21\n"
                            "  addto atomic @2.y[%%20] += %%21\n"
                            "  yield\n }\n",
                            t, rg_text_str(&body))));
    }
}

static void test_constants(void **state) {
    (void)state;
    one(frame("f64", "",
              " %10: f64 = const inf\n %11: f64 = const nan\n %12: f64 = const -0.0\n"
              " %13: f64 = const 0.1\n %14: f32 = const 16777216\n %15: f64 = cast %14\n"
              " %16: f64 = copysign %13, %12\n"
              " store @2.y[%2] = %10\n store @2.y[%3] = %11\n"
              " %17: i32 = const 2\n store @2.y[%17] = %16\n"
              " %18: i32 = const 3\n %19: f64 = sub %15, %13\n %20: f64 = neg %12\n"
              " %21: f64 = sub %19, %20\n store @2.y[%18] = %21\n"
              " %22: f64 = digamma %13\n %23: i32 = const 4\n store @2.y[%23] = %22\n"));
    one(frame("i64", "",
              " %10: i64 = const -9223372036854775808\n store @2.y[%2] = %10\n"
              " %11: i64 = const 1\n %12: i32 = const 40\n"
              " %13: bool = lt %1, %12\n %14: i64 = const 5000000000\n"
              " %15: i64 = const 3\n %16: i64 = select %13, %11, %15\n"
              " %17: i64 = shl %16, %12\n store @2.y[%3] = %17\n"
              " %18: i64 = const -3\n %19: i64 = rem %18, %15\n %20: i64 = sub %14, %18\n"
              " %21: i32 = const 2\n store @2.y[%21] = %20\n"));
}

/* ---- the interface of adjoints ---- */

static const char adjoint[] =
    "kernel f adjoint\n"
    " param 0 n: i32\n"
    " param 1 x: const f32[n] @1\n"
    " param 2 k: f32\n"
    " param 3 y: f32[n] @2\n"
    " scalar $0: i32 of 0 at 0\n"
    " scalar $1: f32 of 2 at 0\n"
    " array @1.x: param 1 const before f32[%4]\n"
    " array @2.y: param 3 written f32[%4]\n"
    " array @3.x: shadow 1 grad f32[%4]\n"
    " array @4.k: shadow 2 grad f32[%6]\n"
    " array @5.y: shadow 3 grad f32[%4]\n"
    " array @6.saved: local save f32[*]\n"
    " array @7.big: local f32[*]\n"
    "{\n"
    " %1.n: i32 = scalar $0\n"
    " %2: i32 = const 0\n"
    " %4: i64 = cast %1\n"
    " %5.k: f32 = scalar $1\n"
    " %6: i64 = const 1\n"
    " alloc @7.big[%4]\n"
    " copy @7.big[] = @1.x[]\n"
    " parallel %10.i: i32 = %2 to %1 {\n"
    "  alloc @6.saved[%4]\n"
    "  %11.s: f32 = for %12.j: i32 = %2 to %1 carry %13.s: f32 = %5 {\n"
    "   store save @6.saved[%12] = %13\n"
    "   %14: f32 = load @7.big[%12]\n"
    "   %15: f32 = mul %13, %14\n"
    "   %16.s: f32 = sin %15\n"
    "   yield %16\n"
    "  }\n"
    "  %17.y_b: f32 = load @5.y[%10]\n"
    "  %30: f32 = const 0\n"
    "  %18.s_b: f32 = for reverse %19.j: i32 = %2 to %1 carry %20.s_b: f32 = %17 {\n"
    "   %21.s: f32 = load save @6.saved[%19]\n"
    "   %22: f32 = load @1.x[%19]\n"
    "   %23: f32 = mul %21, %22\n"
    "   %24: f32 = cos %23\n"
    "   %25: f32 = zmul %20, %24\n"
    "   %26: f32 = mul %25, %21\n"
    "   addto private @3.x[%19] += %26\n"
    "   %27.s_b: f32 = mul %25, %22\n"
    "   yield %27\n"
    "  }\n"
    "  addto atomic @4.k[%2] += %18\n"
    "  store @5.y[%10] = %30\n"
    "  yield\n"
    " }\n"
    " yield\n"
    "}\n";

static void test_adjoint(void **state) {
    (void)state;
    one(adjoint);
    assert_non_null(strstr(last_plain,
                           "void f_adjoint(int n, const float x[n], float x_b[n], float "
                           "k, float k_b[1], float y[n],\n"
                           "               float y_b[n], void *scratch)"));
    assert_non_null(strstr(last_plain, "size_t f_adjoint_scratch(int n, const float x[n], float k, "
                                       "float y[n])"));
    assert_non_null(strstr(last_plain, "x: its values from before the call"));
    assert_non_null(strstr(last_plain, "y: not read"));
    assert_non_null(strstr(last_plain, "x_b[j] += t2 * s_1;"));
    /* an active parameter has its place even when the IR lost it */
    const rg_fn *f = read_fn(adjoint);
    uint8_t active[4] = {0, 1, 1, 1};
    uint32_t group[4] = {0, 1, 2, 1};
    rg_activity act = {.nparams = 4, .active = active, .group = group};
    rg_text t = {.arena = arena};
    rg_emit_c_plain(f, &act, &t);
    assert_string_equal(rg_text_str(&t), last_plain);
    /* a primal and its adjoint in one file share types and helpers */
    const rg_fn *both[2] = {read_fn(frame("f32", "", "")), f};
    rg_text file = {.arena = arena};
    uint32_t which;
    rg_emit_c_plain_file(both, NULL, 2, &which, &file);
    dlclose(compile(rg_text_str(&file), "both", "-std=c99 -Wall -Wextra"));
    /* shared gradients lose restrict, others keep it */
    rg_emit_c_options o = {.acts = (const rg_activity *const[]){&act}};
    rg_text cpu = {.arena = arena};
    rg_emit_c_cpu(&f, (const char *const[]){"e"}, 1, &o, &cpu);
    assert_null(strstr(rg_text_str(&cpu), "float *restrict x_b"));
    assert_non_null(strstr(rg_text_str(&cpu), "float *restrict k_b"));
}

/* The bytes that f_adjoint_scratch asks for are enough: nothing past them is touched. */
static void test_scratch(void **state) {
    (void)state;
    const rg_fn *f = read_fn(adjoint);
    int_argument = 100;
    data d = make_data(f, 1);
    rg_text t = {.arena = arena};
    rg_emit_c_plain(f, NULL, &t);
    add_caller(&t, f, NULL);
    void *so = compile(rg_text_str(&t), "scratch", "-std=c99 -Wall -Wextra -O1");
    size_t (*need)(int, void *, float, void *) =
        (size_t(*)(int, void *, float, void *))(uintptr_t)symbol(so, "f_adjoint_scratch");
    size_t n = need(100, NULL, 1, NULL);
    assert_int_equal(n, 2 * 448); /* two arrays of 100 floats in whole cache lines */
    memset(pool[0], 0x5a, n + 64);
    run_plain(f, NULL, so, &d, pool[0]);
    for (size_t k = 0; k < 64; k++)
        assert_int_equal(pool[0][n + k], 0x5a);
    dlclose(so);
    int_argument = 5;
}

/* ---- checked mode ---- */

static void faults(const char *text, int what, int line, const char *name, int64_t a, int64_t b) {
    const rg_fn *f = read_fn(text);
    rg_emit_c_options o = {.checked = true};
    rg_text t = {.arena = arena};
    rg_emit_c_cpu(&f, (const char *const[]){"e"}, 1, &o, &t);
    void *so = compile(rg_text_str(&t), "faults", "-std=gnu11 -O1");
    for (int threads = 1; threads <= WORKERS; threads += 2) {
        data d = make_data(f, 4);
        rg_cpu_env env = env_of(threads);
        rg_cpu_entry *entry = (rg_cpu_entry *)(uintptr_t)symbol(so, "e");
        int rc = entry(&env, argument_block(f, &d));
        assert_true(rc != 0 || fault_what != 0);
        assert_int_equal(fault_what, what);
        assert_int_equal(fault_line, line);
        assert_string_equal(fault_name, name);
        assert_int_equal(fault_a, a);
        assert_int_equal(fault_b, b);
        assert_int_equal(growing, 0);
    }
    dlclose(so);
}

static void test_checked(void **state) {
    (void)state;
    faults(frame("f32", "",
                 " %9: i32 = const -1\n"
                 " parallel %10.i: i32 = %2 to %1 {\n"
                 "  %11: i32 = sub %10, %3\n"
                 "  %12: f32 = load @1.x[%11]  ; k.c:7:3\n"
                 "  store @2.y[%10] = %12\n"
                 "  yield\n }\n"),
           RG_CPU_FAULT_BOUNDS, 7, "x", -1, 5);
    faults(frame("f32", "",
                 " %9: i64 = const 99\n %12: f32 = const 1\n"
                 " store @2.y[%9] = %12  ; k.c:3:1\n"),
           RG_CPU_FAULT_BOUNDS, 3, "y", 99, 5);
    faults(frame("i32", "",
                 " %9: i32 = sub %1, %1\n %10: i32 = div %1, %9  ; k.c:4:1\n"
                 " store @2.y[%2] = %10\n"),
           RG_CPU_FAULT_DIVISION, 4, "", 5, 0);
    faults(frame("i32", "",
                 " %9: i32 = const 35\n %11: i32 = sub %9, %1\n %12: i32 = add %11, %3\n"
                 " %10: i32 = shl %1, %12\n %13: i32 = add %12, %1\n"
                 " %14: i32 = shl %1, %13  ; k.c:5:1\n"
                 " %15: i32 = add %10, %14\n store @2.y[%2] = %15\n"),
           RG_CPU_FAULT_SHIFT, 5, "", 5, 36);
    faults(frame("f32", " array @3.t: local f32[*]\n array @4.g: local grow f32[*]\n",
                 " %9: i64 = const -3\n %8: f32 = const 1\n alloc @4.g[]\n store @4.g[%1] = %8\n"
                 " %10: i64 = mul %4, %9\n alloc @3.t[%10]  ; k.c:6:1\n"
                 " store @3.t[%2] = %8\n %11: f32 = load @3.t[%2]\n %12: f32 = load @4.g[%2]\n"
                 " store @2.y[%2] = %11\n store @2.y[%3] = %12\n"),
           RG_CPU_FAULT_EXTENT, 6, "t", -15, 0);
}

/* ---- the text itself ---- */

static void test_readable(void **state) {
    (void)state;
    one(frame("f32", "",
              " %9: f32 = const 0\n %8: f32 = const 0.5\n"
              " parallel %10.i: i32 = %2 to %1 {\n"
              "  %11.s: f32 = for %12.j: i32 = %2 to %10 carry %13.s: f32 = %9 {\n"
              "   %14: f32 = load @1.x[%12]\n"
              "   %15: f32 = load @1.x[%10]\n"
              "   %16: f32 = mul %14, %15\n"
              "   %17: bool = gt %16, %8\n"
              "   %18: f32 = if %17 {\n    %19: f32 = add %13, %8\n    yield %19\n"
              "   } else {\n    yield %13\n   }\n"
              "   yield %18\n  }\n"
              "  %20.a: f32, %21.b: f32 = for %22.j: i32 = %2 to %1 carry %23.a: f32 = %11, "
              "%24.b: f32 = %8 {\n   yield %24, %23\n  }\n"
              "  %25: f32 = sub %20, %21\n"
              "  store @2.y[%10] = %25\n"
              "  yield\n }\n"));
    static const char want[] = "void f(int n, const float x[n], float y[n])\n"
                               "{\n"
                               "    #pragma omp parallel for\n"
                               "    for (int i = 0; i < n; i++) {\n"
                               "        float s = 0.0f;\n"
                               "        for (int j = 0; j < i; j++) {\n"
                               "            if (x[j] * x[i] > 0.5f) {\n"
                               "                s += 0.5f;\n"
                               "            }\n"
                               "        }\n"
                               "        float a = s;\n"
                               "        float b = 0.5f;\n"
                               "        for (int j = 0; j < n; j++) {\n"
                               "            float a_next = b;\n"
                               "            b = a;\n"
                               "            a = a_next;\n"
                               "        }\n"
                               "        y[i] = a - b;\n"
                               "    }\n"
                               "}\n";
    const char *got = strstr(last_plain, "void f(");
    assert_non_null(got);
    assert_string_equal(got, want);
}

/* The text pasted into kernels is the header: comments and white space apart. */
static void test_abi_text(void **state) {
    (void)state;
    const char *paths[] = {"src/emit/c/cpu_abi.h", "../src/emit/c/cpu_abi.h",
                           "../../src/emit/c/cpu_abi.h"};
    FILE *f = NULL;
    for (int k = 0; k < 3 && !f; k++)
        f = fopen(paths[k], "r");
    if (!f)
        skip();
    static char header[1 << 16];
    size_t n = fread(header, 1, sizeof header - 1, f), to = 0;
    fclose(f);
    header[n] = 0;
    for (size_t k = 0; k < n; k++) {
        if (header[k] == '/' && header[k + 1] == '*') {
            k = (size_t)(strstr(header + k, "*/") - header) + 1;
            continue;
        }
        if (!strchr(" \n\t", header[k]))
            header[to++] = header[k];
    }
    header[to] = 0;
    char *text = rg_strdup(arena, rg_cpu_abi_text);
    to = 0;
    for (const char *c = rg_cpu_abi_text; *c; c++)
        if (!strchr(" \n\t", *c))
            text[to++] = *c;
    text[to] = 0;
    assert_string_equal(text, header);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_readable), TEST(test_constants), TEST(test_zmul_of_zmul), TEST(test_structs),
        TEST(test_ranges),   TEST(test_locals),    TEST(test_reductions),   TEST(test_atomics),
        TEST(test_adjoint),  TEST(test_scratch),   TEST(test_checked),      TEST(test_abi_text),
        TEST(test_random)};
    if (!mkdtemp(folder))
        return 2;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
