/* The public interface on cpu and ref: arrays, launches, records, tapes, and every kind of bad use.
 * Also the thread pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "retrograd.h"

#include "runtime/pool.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char cache[64];

typedef struct world {
    rg_context *ctx;
    rg_device *dev;
    rg_module *mod;
} world;

static const char *const device_names[] = {"ref", "cpu"};

static world open_world(const char *device, const char *text, int threads) {
    world w = {NULL, NULL, NULL};
    rg_context_options co = {.size = sizeof co, .cache_dir = cache};
    assert_int_equal(rg_context_new(&co, &w.ctx), RG_OK);
    rg_device_options o = {.size = sizeof o, .threads = threads, .cflags = ""};
    assert_int_equal(rg_device_open(w.ctx, device, &o, &w.dev), RG_OK);
    if (text && rg_module_compile(w.dev, "t.c", text, strlen(text), NULL, &w.mod) != RG_OK)
        fail_msg("%s", rg_context_message(w.ctx));
    return w;
}

static void close_world(world w) {
    rg_module_release(w.mod);
    rg_device_release(w.dev);
    rg_context_release(w.ctx);
}

static rg_kernel *kernel(world w, const char *name) {
    rg_kernel *k;
    assert_int_equal(rg_module_kernel(w.mod, name, &k), RG_OK);
    return k;
}

#define OK(w, call)                                                                                \
    do {                                                                                           \
        rg_status s_ = (call);                                                                     \
        if (s_ != RG_OK)                                                                           \
            fail_msg("%s: %s: %s", #call, rg_status_name(s_), rg_context_message((w).ctx));        \
    } while (0)
#define FAILS(w, status, words, call)                                                              \
    do {                                                                                           \
        rg_status s_ = (call);                                                                     \
        const char *m_ = rg_context_message((w).ctx);                                              \
        if (s_ != (status) || !strstr(m_, (words)))                                                \
            fail_msg("%s: %s: %s", #call, rg_status_name(s_), m_);                                 \
    } while (0)

static rg_array *floats(world w, int64_t n, bool gradient, const float *values) {
    rg_array *a;
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 1, &n, gradient, &a));
    if (values)
        OK(w, rg_array_write(a, RG_DATA, values, (size_t)n * sizeof *values));
    return a;
}

static void set_gradient(world w, rg_array *a, float v) {
    float g[64];
    for (int i = 0; i < 64; i++)
        g[i] = v;
    OK(w, rg_array_write(a, RG_GRADIENT, g, rg_array_count(a) * sizeof *g));
}

static float at(world w, rg_array *a, rg_part part, size_t i) {
    float v[64];
    OK(w, rg_array_read(a, part, v, rg_array_count(a) * sizeof *v));
    return v[i];
}

/* ---- the pool ---- */

typedef struct hits {
    int64_t n;
    _Atomic int *count;
    _Atomic int bad;
} hits;

static void count_hits(const rg_cpu_env *env, void *closure, int64_t begin, int64_t end,
                       int thread) {
    hits *h = closure;
    if (thread < 0 || thread >= env->threads || begin < 0 || end > h->n)
        atomic_fetch_add(&h->bad, 1);
    size_t mark = env->mark(env, thread);
    unsigned char *a = env->alloc(env, thread, 100), *b = env->alloc(env, thread, 300000);
    if (!a || !b || (uintptr_t)a % 64 || (uintptr_t)b % 64)
        atomic_fetch_add(&h->bad, 1);
    else
        memset(b, thread, 300000);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&h->count[i], 1);
    if (b && (b[0] != thread || b[299999] != thread))
        atomic_fetch_add(&h->bad, 1);
    env->release(env, thread, mark);
}

static void nothing(const rg_cpu_env *env, void *closure, int64_t begin, int64_t end, int thread) {
    (void)env, (void)closure, (void)begin, (void)end, (void)thread;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pool(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        rg_pool *p = rg_pool_new(NULL, threads);
        const rg_cpu_env *env = rg_pool_env(p);
        for (int64_t n = 0; n < 200; n += 7) {
            hits h = {.n = n, .count = calloc((size_t)n + 1, sizeof(_Atomic int))};
            for (int round = 0; round < 5; round++)
                env->parallel(env, count_hits, &h, n, 1 + n / 11);
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(h.count[i], 5);
            assert_int_equal(h.bad, 0);
            free((void *)h.count);
        }
        double t = seconds();
        for (int i = 0; i < 10000; i++)
            env->parallel(env, nothing, NULL, threads, 1);
        print_message("%d threads: %.2f us a parallel call\n", threads, (seconds() - t) * 100);
        rg_pool_free(p);
    }
}

static void pool_scratch(void **state) {
    (void)state;
    rg_pool *p = rg_pool_new(NULL, 1);
    const rg_cpu_env *env = rg_pool_env(p);
    size_t base = env->mark(env, 0);
    unsigned char *first = env->alloc(env, 0, 10);
    size_t inner = env->mark(env, 0);
    unsigned char *second = env->alloc(env, 0, 10);
    memset(first, 1, 10);
    for (int i = 0; i < 100; i++)
        memset(env->alloc(env, 0, 50000), 2, 50000);
    assert_int_equal(first[9], 1);
    env->release(env, 0, inner);
    assert_ptr_equal(env->alloc(env, 0, 10), second);
    env->release(env, 0, base);
    assert_ptr_equal(env->alloc(env, 0, 10), first);
    assert_null(env->alloc(env, 0, SIZE_MAX / 2));
    assert_non_null(env->alloc(env, 0, 0));
    void *g = env->grow(env, NULL, 100);
    g = env->grow(env, g, 1000);
    assert_null(env->grow(env, g, 0));
    env->fault(env, RG_CPU_FAULT_BOUNDS, 12, "x", 5, 3, 0);
    env->fault(env, RG_CPU_FAULT_SHIFT, 13, "y", 1, 1, 1);
    assert_int_equal(rg_pool_faulted(p).line, 12);
    assert_int_equal(*env->stop, 1);
    rg_pool_begin(p, UINT64_MAX);
    assert_int_equal(rg_pool_faulted(p).what, 0);
    rg_pool_free(p);
}

/* ---- contexts, devices, arrays ---- */

static void basics(void **state) {
    (void)state;
    assert_string_equal(rg_version(), "0.1.0");
    assert_string_equal(rg_status_name(RG_ERROR_INTERNAL), "internal");
    assert_string_equal(rg_status_name((rg_status)99), "unknown");
    assert_int_equal(rg_context_new(NULL, NULL), RG_ERROR_ARGUMENT);
    world w = open_world("ref", NULL, 1);
    size_t n;
    OK(w, rg_device_count(w.ctx, &n));
    assert_true(n >= 2);
    for (size_t i = 0; i < n; i++) {
        rg_device_info info = {.size = sizeof info};
        OK(w, rg_device_describe(w.ctx, i, &info));
        assert_true(info.name[0]);
        assert_true(info.available ? info.description[0] : info.why_not[0]);
    }
    rg_device_info info = {.size = sizeof info};
    FAILS(w, RG_ERROR_ARGUMENT, "there is no device", rg_device_describe(w.ctx, n, &info));
    rg_device *dev;
    FAILS(w, RG_ERROR_DEVICE, "cpu, ref", rg_device_open(w.ctx, "abacus", NULL, &dev));
    rg_device_options o = {.size = sizeof o, .deterministic = true};
    FAILS(w, RG_ERROR_UNSUPPORTED, "deterministic", rg_device_open(w.ctx, "cpu", &o, &dev));
    o = (rg_device_options){.size = sizeof o, .threads = -1};
    FAILS(w, RG_ERROR_ARGUMENT, "threads", rg_device_open(w.ctx, "cpu", &o, &dev));
    assert_int_equal(rg_sync(NULL), RG_ERROR_ARGUMENT);
    assert_string_equal(rg_context_message(NULL), "");
    close_world(w);
}

static void arrays(void **state) {
    (void)state;
    world w = open_world("ref", NULL, 1);
    rg_array *a, *v, *row;
    int64_t shape[3] = {2, 3, 4}, bad[2] = {3, -1}, huge[2] = {INT64_MAX, INT64_MAX};
    OK(w, rg_array_new(w.dev, RG_DTYPE_F64, 3, shape, true, &a));
    assert_int_equal(rg_array_count(a), 24);
    assert_int_equal(rg_array_rank(a), 3);
    assert_int_equal(rg_array_item_size(a), 8);
    assert_true(rg_array_has_gradient(a));
    double d[24], e[24];
    OK(w, rg_array_read(a, RG_DATA, d, sizeof d));
    for (int i = 0; i < 24; i++) {
        assert_true(d[i] == 0);
        d[i] = i;
    }
    OK(w, rg_array_write(a, RG_DATA, d, sizeof d));
    int64_t index[3] = {1, 2, 3};
    OK(w, rg_array_view(a, 1, index, &v));
    OK(w, rg_array_view(v, 1, index, &row)); /* v[1] is a[1][1] */
    assert_int_equal(rg_array_count(row), 4);
    OK(w, rg_array_read(row, RG_DATA, e, 32));
    assert_true(e[0] == 16 && e[3] == 19);
    OK(w, rg_array_write(row, RG_GRADIENT, e, 32));
    OK(w, rg_array_read(a, RG_GRADIENT, e, sizeof e));
    assert_true(e[15] == 0 && e[16] == 16 && e[20] == 0);
    FAILS(w, RG_ERROR_ARGUMENT, "outside axis 1", rg_array_view(a, 2, (int64_t[]){0, 3}, &row));
    FAILS(w, RG_ERROR_ARGUMENT, "4 indices", rg_array_view(a, 4, index, &row));
    rg_array_release(a); /* the views keep the memory */
    OK(w, rg_array_fill_zero(row ? row : v, RG_DATA));
    OK(w, rg_array_read(v, RG_DATA, e, 96));
    FAILS(w, RG_ERROR_ARGUMENT, "8 bytes given", rg_array_read(v, RG_DATA, e, 8));
    void *p;
    OK(w, rg_array_map(v, RG_DATA, &p));
    ((double *)p)[0] = 5;
    OK(w, rg_array_unmap(v, RG_DATA));
    FAILS(w, RG_ERROR_STATE, "not mapped", rg_array_unmap(v, RG_DATA));
    rg_array_release(v);

    FAILS(w, RG_ERROR_ARGUMENT, "negative", rg_array_new(w.dev, RG_DTYPE_F32, 2, bad, false, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "overflows", rg_array_new(w.dev, RG_DTYPE_F32, 2, huge, false, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "axes", rg_array_new(w.dev, RG_DTYPE_F32, 9, huge, false, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "gradient", rg_array_new(w.dev, RG_DTYPE_I32, 3, shape, true, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "item size",
          rg_array_new(w.dev, RG_DTYPE_STRUCT, 3, shape, true, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "null", rg_array_new(w.dev, RG_DTYPE_F32, 1, NULL, false, &a));
    int64_t zero[2] = {INT64_MAX, 0};
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 2, zero, true, &a));
    assert_int_equal(rg_array_count(a), 0);
    OK(w, rg_array_write(a, RG_DATA, NULL, 0));
    OK(w, rg_array_read(a, RG_DATA, NULL, 0));
    rg_array_release(a);
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 0, NULL, false, &a)); /* a scalar */
    assert_int_equal(rg_array_count(a), 1);
    FAILS(w, RG_ERROR_ARGUMENT, "no gradient", rg_array_fill_zero(a, RG_GRADIENT));
    rg_array_release(a);

    float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int64_t four = 4;
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, memory, memory + 4, &a));
    assert_true(at(w, a, RG_DATA, 3) == 4 && at(w, a, RG_GRADIENT, 0) == 5);
    OK(w, rg_array_touch(a));
    rg_array_release(a);
    FAILS(w, RG_ERROR_ARGUMENT, "overlaps",
          rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, memory, memory + 3, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "aligned",
          rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, (char *)memory + 1, NULL, &a));
    FAILS(w, RG_ERROR_ARGUMENT, "null",
          rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, NULL, NULL, &a));
    rg_array_release(NULL);
    rg_array_release(row);
    /* In any order. */
    a = floats(w, 4, true, NULL);
    rg_context_release(w.ctx);
    rg_device_release(w.dev);
    rg_array_release(a);
}

/* ---- launches ---- */

static const char square[] = "void square(int n, const float x[n], float y[n]) {\n"
                             "#pragma omp parallel for\n"
                             "for (int i = 0; i < n; i++) y[i] = x[i] * x[i];\n}\n";

static void launch_and_backward(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++)
        for (int threads = 1; threads <= 2; threads++) {
            world w = open_world(device_names[d], square, threads);
            rg_kernel *k = kernel(w, "square");
            float v[4] = {1, 2, 3, 4};
            int n = 4;
            rg_array *x = floats(w, 4, true, v), *y = floats(w, 4, true, NULL);
            rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
            OK(w, rg_launch(k, args, 3));
            OK(w, rg_sync(w.dev));
            assert_true(at(w, y, RG_DATA, 3) == 16);
            rg_record *r;
            OK(w, rg_record_launch(k, args, 3, &r));
            set_gradient(w, y, 1);
            OK(w, rg_backward(r));
            for (size_t i = 0; i < 4; i++) {
                assert_true(at(w, x, RG_GRADIENT, i) == 2 * v[i]);
                assert_true(at(w, y, RG_GRADIENT, i) == 0); /* overwritten */
            }
            FAILS(w, RG_ERROR_STATE, "has been run", rg_backward(r));
            rg_record_release(r);
            /* Tangent: the gradients hold tangents. */
            set_gradient(w, x, 1);
            OK(w, rg_launch_tangent(k, args, 3));
            assert_true(at(w, y, RG_GRADIENT, 2) == 6);
            rg_array_release(x);
            rg_array_release(y);
            close_world(w);
        }
}

static void bad_arguments(void **state) {
    (void)state;
    world w = open_world("ref", square, 1), other = open_world("ref", NULL, 1);
    rg_kernel *k = kernel(w, "square");
    int n = 4;
    rg_array *x = floats(w, 4, false, NULL), *y = floats(w, 4, false, NULL),
             *three = floats(w, 3, false, NULL), *far = floats(other, 4, false, NULL), *view, *ints,
             *matrix;
    int64_t four = 4, two[2] = {2, 2};
    OK(w, rg_array_new(w.dev, RG_DTYPE_I32, 1, &four, false, &ints));
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 2, two, false, &matrix));
    OK(w, rg_array_view(x, 0, NULL, &view));
#define CALL(a, b, c) rg_launch(k, (rg_arg[]){a, b, c}, 3)
    FAILS(w, RG_ERROR_ARGUMENT, "takes 3 arguments", rg_launch(k, NULL, 0));
    FAILS(w, RG_ERROR_ARGUMENT, "null", rg_launch(k, NULL, 3));
    FAILS(w, RG_ERROR_ARGUMENT, "'x' is null", CALL(RG_VALUE(n), RG_ARRAY(NULL), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "'n' is a value", CALL(RG_ARRAY(x), RG_ARRAY(x), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "'x' is an array", CALL(RG_VALUE(n), RG_VALUE(n), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "has shape [3], but the kernel declares x[n] with n = 4",
          CALL(RG_VALUE(n), RG_ARRAY(three), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "array of int32", CALL(RG_VALUE(n), RG_ARRAY(ints), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "2 axes", CALL(RG_VALUE(n), RG_ARRAY(matrix), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "another device", CALL(RG_VALUE(n), RG_ARRAY(far), RG_ARRAY(y)));
    FAILS(w, RG_ERROR_ARGUMENT, "writes 'y', whose memory overlaps that of 'x'",
          CALL(RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(view)));
    rg_arg gradient = {NULL, &n, y};
    FAILS(w, RG_ERROR_ARGUMENT, "no floats", CALL(gradient, RG_ARRAY(x), RG_ARRAY(y)));
    void *p;
    OK(w, rg_array_map(x, RG_DATA, &p));
    FAILS(w, RG_ERROR_STATE, "mapped", CALL(RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)));
    OK(w, rg_array_unmap(x, RG_DATA));
    OK(w, CALL(RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)));
    n = 0;
    int64_t none = 0;
    rg_array *e1, *e2;
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 1, &none, true, &e1));
    OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 1, &none, true, &e2));
    OK(w, CALL(RG_VALUE(n), RG_ARRAY(e1), RG_ARRAY(e2)));
    rg_kernel *missing;
    FAILS(w, RG_ERROR_ARGUMENT, "the file has: square", rg_module_kernel(w.mod, "cube", &missing));
#ifdef RG_DEBUG_VERIFY
    rg_array_release(view);
    n = 4;
    FAILS(w, RG_ERROR_ARGUMENT, "already released", CALL(RG_VALUE(n), RG_ARRAY(view), RG_ARRAY(y)));
#else
    rg_array_release(view);
#endif
    rg_array *all[] = {x, y, three, far, ints, matrix, e1, e2};
    for (size_t i = 0; i < 8; i++)
        rg_array_release(all[i]);
    close_world(w);
    close_world(other);
}

static void overlapping_gradients(void **state) {
    (void)state;
    world w = open_world("ref", square, 1);
    rg_kernel *k = kernel(w, "square");
    int n = 4;
    int64_t four = 4;
    float m[16] = {0};
    rg_array *x, *y;
    rg_record *r;
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, m, m + 8, &x));
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, m + 4, m + 10, &y));
    rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
    FAILS(w, RG_ERROR_ARGUMENT, "gradients of 'x' and 'y' overlap",
          rg_record_launch(k, args, 3, &r));
    rg_array_release(y);
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, m + 10, m + 4, &y));
    args[2] = RG_ARRAY(y);
    FAILS(w, RG_ERROR_ARGUMENT, "gradient of 'x' overlaps the data of 'y'",
          rg_record_launch(k, args, 3, &r));
    rg_array_release(x);
    rg_array_release(y);
    close_world(w);
}

static void changed_in_between(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], square, 1);
        rg_kernel *k = kernel(w, "square");
        float v[4] = {1, 2, 3, 4};
        int n = 4;
        rg_array *x = floats(w, 4, true, v), *y = floats(w, 4, true, NULL),
                 *z = floats(w, 4, true, NULL);
        rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)},
               again[3] = {RG_VALUE(n), RG_ARRAY(y), RG_ARRAY(z)},
               into_x[3] = {RG_VALUE(n), RG_ARRAY(y), RG_ARRAY(x)};
        rg_record *r, *s;
        OK(w, rg_record_launch(k, args, 3, &r));
        OK(w, rg_record_launch(k, again, 3, &s));
        OK(w, rg_array_write(x, RG_DATA, v, sizeof v));
        set_gradient(w, z, 1);
        OK(w, rg_backward(s)); /* y is as it was */
        assert_true(at(w, y, RG_GRADIENT, 1) == 8);
        FAILS(w, RG_ERROR_STATE, "array 'x' was changed after the launch of kernel 'square'",
              rg_backward(r));
        rg_record_release(r);
        rg_record_release(s);
        OK(w, rg_record_launch(k, args, 3, &r));
        OK(w, rg_array_touch(x));
        FAILS(w, RG_ERROR_STATE, "array 'x' was changed", rg_backward(r));
        rg_record_release(r);
        OK(w, rg_record_launch(k, args, 3, &r));
        OK(w, rg_launch(k, into_x, 3));
        FAILS(w, RG_ERROR_STATE, "array 'x' was changed", rg_backward(r));
        rg_record_release(r);
        /* Overwriting what the adjoint does not read is fine. */
        OK(w, rg_array_write(x, RG_DATA, v, sizeof v));
        OK(w, rg_array_fill_zero(x, RG_GRADIENT));
        OK(w, rg_record_launch(k, args, 3, &r));
        OK(w, rg_array_fill_zero(y, RG_DATA));
        set_gradient(w, y, 1);
        OK(w, rg_backward(r));
        assert_true(at(w, x, RG_GRADIENT, 3) == 8);
        rg_record_release(r);
        rg_array_release(x);
        rg_array_release(y);
        rg_array_release(z);
        close_world(w);
    }
}

/* x is squared in place, three times: x^8. */
static void tape(void **state) {
    (void)state;
    static const char text[] = "void twice(int n, float x[n]) {\n"
                               "#pragma omp parallel for\n"
                               "for (int i = 0; i < n; i++) x[i] = x[i] * x[i];\n}\n";
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], text, 2);
        rg_kernel *k = kernel(w, "twice");
        float v[3] = {1.5f, -1, 0.5f};
        int n = 3;
        rg_array *x = floats(w, 3, true, v);
        rg_arg args[2] = {RG_VALUE(n), RG_ARRAY(x)};
        rg_tape *t;
        OK(w, rg_tape_new(w.ctx, &t));
        for (int i = 0; i < 3; i++)
            OK(w, rg_tape_launch(t, k, args, 2));
        set_gradient(w, x, 1);
        OK(w, rg_tape_backward(t));
        for (size_t i = 0; i < 3; i++) {
            float p = v[i], want = 8 * p * p * p * p * p * p * p;
            assert_true(at(w, x, RG_GRADIENT, i) > want - 1e-3f &&
                        at(w, x, RG_GRADIENT, i) < want + 1e-3f);
        }
        rg_tape_release(t);
        rg_array_release(x);
        close_world(w);
    }
}

/* A tape keeps what a later launch, or the caller, overwrites. */
static void tape_holds(void **state) {
    (void)state;
    world w = open_world("ref", square, 1);
    rg_kernel *k = kernel(w, "square");
    float v[4] = {1, 2, 3, 4}, other[4] = {9, 9, 9, 9};
    int n = 4;
    rg_array *x = floats(w, 4, true, v), *y = floats(w, 4, true, NULL);
    rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
    rg_tape *t;
    OK(w, rg_tape_new(w.ctx, &t));
    OK(w, rg_tape_launch(t, k, args, 3));
    OK(w, rg_array_write(x, RG_DATA, other, sizeof other));
    set_gradient(w, y, 1);
    OK(w, rg_tape_backward(t));
    assert_true(at(w, x, RG_GRADIENT, 3) == 8);
    OK(w, rg_tape_launch(t, k, args, 3));
    OK(w, rg_array_touch(x)); /* too late to keep it */
    FAILS(w, RG_ERROR_STATE, "array 'x' was changed", rg_tape_backward(t));
    rg_tape_release(t); /* with a launch on it */
    rg_array_release(x);
    rg_array_release(y);
    close_world(w);
}

static void lost_dependence(void **state) {
    (void)state;
    world w = open_world("ref", square, 1);
    rg_kernel *k = kernel(w, "square");
    int n = 4;
    rg_array *x = floats(w, 4, true, NULL), *t = floats(w, 4, false, NULL),
             *y = floats(w, 4, true, NULL);
    rg_arg first[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(t)},
           second[3] = {RG_VALUE(n), RG_ARRAY(t), RG_ARRAY(y)};
    rg_record *r;
    OK(w, rg_record_launch(k, second, 3, &r));
    rg_record_release(r);
    OK(w, rg_record_launch(k, first, 3, &r));
    rg_record_release(r);
    OK(w, rg_launch(k, second, 3)); /* not recorded: fine */
    FAILS(w, RG_ERROR_STATE, "'x', which depends on an array with a gradient",
          rg_record_launch(k, second, 3, &r));
    FAILS(w, RG_ERROR_STATE, "tangent", rg_launch_tangent(k, second, 3));
    OK(w, rg_detach(t));
    OK(w, rg_record_launch(k, second, 3, &r));
    rg_record_release(r);
    OK(w, rg_launch(k, first, 3));
    FAILS(w, RG_ERROR_STATE, "'x'", rg_record_launch(k, second, 3, &r));
    OK(w, rg_array_fill_zero(t, RG_DATA));
    OK(w, rg_record_launch(k, second, 3, &r));
    rg_record_release(r);
    rg_array_release(x);
    rg_array_release(t);
    rg_array_release(y);
    close_world(w);
}

/* An array without a gradient that each launch fills before it reads it is no lost dependence. */
static void inner_array(void **state) {
    (void)state;
    static const char text[] = "void f(int n, const float x[n], float t[n], float y[n]) {\n"
                               "#pragma omp parallel for\n"
                               "for (int i = 0; i < n; i++) t[i] = 3 * x[i];\n"
                               "#pragma omp parallel for\n"
                               "for (int i = 0; i < n; i++) y[i] = t[n - 1 - i];\n}\n";
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], text, 1);
        rg_kernel *k = kernel(w, "f");
        int n = 4;
        rg_array *x = floats(w, 4, true, NULL), *t = floats(w, 4, false, NULL),
                 *y = floats(w, 4, true, NULL);
        rg_arg args[4] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(t), RG_ARRAY(y)};
        for (int round = 1; round <= 2; round++) {
            rg_record *r;
            OK(w, rg_record_launch(k, args, 4, &r));
            set_gradient(w, y, 1);
            OK(w, rg_backward(r));
            assert_true(at(w, x, RG_GRADIENT, 0) == 3 * (float)round);
            rg_record_release(r);
        }
        rg_array_release(x);
        rg_array_release(t);
        rg_array_release(y);
        close_world(w);
    }
}

/* y = a * b with both the same array: the gradient has both parts. Scalars tied likewise. */
static void same_array_twice(void **state) {
    (void)state;
    static const char text[] =
        "void mul(int n, float s, float t, const float a[n], const float b[n], float y[n]) {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) y[i] = s * t * a[i] * b[i];\n}\n";
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], text, 2);
        rg_kernel *k = kernel(w, "mul");
        float v[4] = {1, 2, 3, 4}, s = 2;
        int n = 4;
        rg_array *x = floats(w, 4, true, v), *y = floats(w, 4, true, NULL),
                 *g = floats(w, 1, false, NULL);
        rg_arg args[6] = {RG_VALUE(n), RG_VALUE_GRAD(s, g), RG_VALUE_GRAD(s, g),
                          RG_ARRAY(x), RG_ARRAY(x),         RG_ARRAY(y)};
        rg_record *r;
        OK(w, rg_record_launch(k, args, 6, &r));
        set_gradient(w, y, 1);
        OK(w, rg_backward(r));
        assert_true(at(w, x, RG_GRADIENT, 2) == 2 * 3 * 4);
        assert_true(at(w, g, RG_DATA, 0) == 2 * 2 * (1 + 4 + 9 + 16));
        rg_record_release(r);
        rg_array_release(x);
        rg_array_release(y);
        rg_array_release(g);
        close_world(w);
    }
}

static void wrapped_twice(void **state) {
    (void)state;
    world w = open_world("ref", square, 1);
    rg_kernel *k = kernel(w, "square");
    float m[4] = {1, 2, 3, 4}, g[4] = {0}, zero[2] = {0};
    int n = 4;
    int64_t four = 4, two = 2;
    rg_array *x, *part, *y = floats(w, 4, true, NULL);
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, m, g, &x));
    OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &two, m + 2, NULL, &part));
    rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
    rg_record *r;
    OK(w, rg_record_launch(k, args, 3, &r));
    OK(w, rg_array_write(part, RG_DATA, zero, sizeof zero));
    FAILS(w, RG_ERROR_STATE, "array 'x' was changed", rg_backward(r));
    rg_record_release(r);
    rg_array_release(part);
    rg_array_release(x);
    rg_array_release(y);
    close_world(w);
}

static void views_in_launches(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], square, 1);
        rg_kernel *k = kernel(w, "square");
        int n = 2;
        int64_t shape[2] = {4, 2};
        rg_array *u, *row[4];
        OK(w, rg_array_new(w.dev, RG_DTYPE_F32, 2, shape, true, &u));
        float v[8] = {1.5f, 2};
        OK(w, rg_array_write(u, RG_DATA, v, sizeof v));
        rg_tape *t;
        OK(w, rg_tape_new(w.ctx, &t));
        for (int64_t i = 0; i < 4; i++)
            OK(w, rg_array_view(u, 1, &i, &row[i]));
        for (int i = 0; i < 3; i++)
            OK(w, rg_tape_launch(
                      t, k, (rg_arg[]){RG_VALUE(n), RG_ARRAY(row[i]), RG_ARRAY(row[i + 1])}, 3));
        set_gradient(w, row[3], 1);
        OK(w, rg_tape_backward(t));
        assert_true(at(w, row[0], RG_GRADIENT, 1) == 8 * 128);
        rg_tape_release(t);
        for (int i = 0; i < 4; i++)
            rg_array_release(row[i]);
        rg_array_release(u);
        close_world(w);
    }
}

static void structs(void **state) {
    (void)state;
    static const char text[] =
        "typedef struct { float x, y; int id; float m[2][2]; } item;\n"
        "void f(int n, item s, const item a[n], float y[n + 1][2]) {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) y[i][0] = a[i].x * s.y + a[i].m[1][0];\n}\n";
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], text, 1);
        rg_kernel *k = kernel(w, "f");
        rg_param_info p = {.size = sizeof p};
        assert_int_equal(rg_kernel_param_count(k), 4);
        OK(w, rg_kernel_param(k, 2, &p));
        assert_string_equal(p.name, "a");
        assert_string_equal(p.type_name, "item");
        assert_true(p.is_array && p.is_const && p.has_float && p.fields == 0);
        assert_int_equal(p.item_size, 28);
        assert_int_equal(rg_kernel_field_count(k, 2), 7);
        rg_field_info f = {.size = sizeof f};
        OK(w, rg_kernel_field(k, 2, 5, &f));
        assert_string_equal(f.path, ".m[1][0]");
        assert_int_equal(f.offset, 20);
        OK(w, rg_kernel_param(k, 3, &p));
        assert_string_equal(p.extent_text[0], "n + 1");
        int64_t values[4] = {5}, shape[2];
        bool known[4] = {true};
        OK(w, rg_kernel_param_shape(k, 3, values, known, shape));
        assert_true(shape[0] == 6 && shape[1] == 2);
        known[0] = false;
        OK(w, rg_kernel_param_shape(k, 3, values, known, shape));
        assert_true(shape[0] == -1 && shape[1] == 2);
        struct {
            float x, y;
            int id;
            float m[2][2];
        } s = {1, 2, 3, {{0, 0}, {0, 0}}}, a[2] = {{3, 0, 0, {{0, 0}, {5, 0}}}};
        rg_array *aa, *y, *sg;
        int n = 2;
        int64_t two = 2, one = 1, ny[2] = {3, 2};
        OK(w, rg_array_for(k, 2, 1, &two, true, &aa));
        OK(w, rg_array_for(k, 1, 1, &one, false, &sg));
        OK(w, rg_array_for(k, 3, 2, ny, true, &y));
        OK(w, rg_array_write(aa, RG_DATA, a, sizeof a));
        rg_arg args[4] = {RG_VALUE(n), RG_VALUE_GRAD(s, sg), RG_ARRAY(aa), RG_ARRAY(y)};
        rg_record *r;
        OK(w, rg_record_launch(k, args, 4, &r));
        assert_true(at(w, y, RG_DATA, 0) == 11);
        set_gradient(w, y, 1);
        OK(w, rg_backward(r));
        OK(w, rg_array_read(aa, RG_GRADIENT, a, sizeof a));
        assert_true(a[0].x == 2 && a[0].y == 0 && a[1].m[1][0] == 1);
        OK(w, rg_array_read(sg, RG_DATA, &s, sizeof s));
        assert_true(s.y == 3 && s.x == 0);
        rg_record_release(r);
        rg_array_release(aa);
        rg_array_release(sg);
        rg_array_release(y);
        close_world(w);
    }
}

static void faults(void **state) {
    (void)state;
    static const char text[] = "void f(int n, int at, float y[n]) { y[at] = 1; }\n";
    for (int d = 0; d < 2; d++) {
        world w = {NULL, NULL, NULL};
        rg_context_options co = {.size = sizeof co, .cache_dir = cache};
        assert_int_equal(rg_context_new(&co, &w.ctx), RG_OK);
        rg_device_options o = {.size = sizeof o, .checked = true, .cflags = ""};
        OK(w, rg_device_open(w.ctx, device_names[d], &o, &w.dev));
        OK(w, rg_module_compile(w.dev, "t.c", text, strlen(text), NULL, &w.mod));
        rg_kernel *k = kernel(w, "f");
        int n = 4, index = 7;
        rg_array *y = floats(w, 4, false, NULL);
        rg_arg args[3] = {RG_VALUE(n), RG_VALUE(index), RG_ARRAY(y)};
        FAILS(w, RG_ERROR_FAULT, "f:1: ", rg_launch(k, args, 3));
        index = 2;
        FAILS(w, RG_ERROR_FAULT, "7", rg_launch(k, args, 3)); /* sticky */
        FAILS(w, RG_ERROR_FAULT, "7", rg_sync(w.dev));
        OK(w, rg_sync(w.dev));
        OK(w, rg_launch(k, args, 3));
        assert_true(at(w, y, RG_DATA, 2) == 1);
        rg_array_release(y);
        close_world(w);
    }
}

static void sources(void **state) {
    (void)state;
    world w = open_world("cpu", square, 1);
    rg_module *m;
    static const char wrong[] = "void f(int n, float x[n]) { x[0] = y; }\n";
    FAILS(w, RG_ERROR_SOURCE,
          "bad.c:1:", rg_module_compile(w.dev, "bad.c", wrong, sizeof wrong - 1, NULL, &m));
    FAILS(w, RG_ERROR_FILE, "cannot open", rg_module_load(w.dev, "/nowhere.c", NULL, &m));
    rg_kernel *k = kernel(w, "square");
    for (int target = RG_TARGET_C; target <= RG_TARGET_EXPLAIN; target++)
        for (int mode = RG_MODE_PRIMAL; mode <= RG_MODE_TANGENT; mode++) {
            rg_emit_options o = {
                .size = sizeof o, .mode = (rg_kernel_mode)mode, .target = (rg_target)target};
            char *text;
            OK(w, rg_kernel_emit(k, &o, &text));
            assert_non_null(strstr(text, "square"));
            rg_free(w.ctx, text);
            OK(w, rg_kernel_prepare(k, &o));
        }
    rg_emit_options o = {.size = sizeof o, .active = (bool[]){true, true, true}};
    char *text;
    FAILS(w, RG_ERROR_ARGUMENT, "'n' of kernel 'square' holds no floats",
          rg_kernel_emit(k, &o, &text));
    close_world(w);
}

static void outside_preprocessor(void **state) {
    (void)state;
    world w = open_world("ref", NULL, 1);
    static const char text[] = "#include <math.h>\n#define N 3\n"
                               "void f(float x[N]) { for (int i = 0; i < N; i++) x[i] = FACTOR * "
                               "sqrtf(x[i]); }\n";
    rg_module_options o = {.size = sizeof o,
                           .cpp = "cc -E -nostdinc",
                           .defines = (const char *const[]){"FACTOR=2.0f"},
                           .n_defines = 1};
    OK(w, rg_module_compile(w.dev, "p.c", text, sizeof text - 1, &o, &w.mod));
    float v[3] = {1, 4, 9};
    rg_array *x = floats(w, 3, false, v);
    OK(w, rg_launch(kernel(w, "f"), (rg_arg[]){RG_ARRAY(x)}, 1));
    assert_true(at(w, x, RG_DATA, 2) == 6);
    rg_array_release(x);
    rg_module *m;
    o.cpp = "/nowhere/cpp";
    FAILS(w, RG_ERROR_SOURCE, "cannot run the preprocessor",
          rg_module_compile(w.dev, "p.c", text, sizeof text - 1, &o, &m));
    close_world(w);
}

/* Long loops under a tape memory: the gradient's bits are the same, the scratch stays below. */
typedef struct counted {
    size_t now, most;
} counted;

static void *counting_resize(void *user, void *old, size_t old_size, size_t size) {
    counted *c = user;
    c->now = c->now - old_size + size;
    c->most = c->now > c->most ? c->now : c->most;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

static const char march[] =
    "void march(int steps, double h, double x[100]) {\n"
    "    double d[100];\n"
    "    for (int t = 0; t < steps; t++) {\n"
    "        for (int i = 0; i < 100; i++)\n"
    "            d[i] = (x[(i + 1) % 100] - x[(i + 98) % 100]) * x[(i + 99) % 100] - x[i];\n"
    "        for (int i = 0; i < 100; i++)\n"
    "            x[i] += h * d[i];\n"
    "    }\n"
    "}\n"
    "void halve(double x[1], double y[1]) {\n"
    "    double v = x[0];\n"
    "    while (v > 1e-300)\n"
    "        v = v * (1 - 0.01 / (1 + v * v));\n"
    "    y[0] = v;\n"
    "}\n";

/* Gradients to out[0..100) and of h to out[100]; bytes of scratch that the backward launch took. */
static rg_status march_back(uint64_t memory, int steps, double *out, size_t *scratch, char *words) {
    counted c = {0, 0};
    rg_context_options co = {
        .size = sizeof co, .resize = counting_resize, .user = &c, .cache_dir = cache};
    world w = {NULL, NULL, NULL};
    assert_int_equal(rg_context_new(&co, &w.ctx), RG_OK);
    rg_device_options o = {.size = sizeof o, .threads = 1, .cflags = ""};
    OK(w, rg_device_open(w.ctx, "cpu", &o, &w.dev));
    rg_module_options mo = {.size = sizeof mo, .tape_memory = memory};
    OK(w, rg_module_compile(w.dev, "m.c", march, sizeof march - 1, &mo, &w.mod));
    int64_t hundred = 100, one = 1;
    rg_array *x, *hb;
    rg_record *r = NULL;
    OK(w, rg_array_new(w.dev, RG_DTYPE_F64, 1, &hundred, true, &x));
    OK(w, rg_array_new(w.dev, RG_DTYPE_F64, 1, &one, false, &hb));
    double h = 0.001, start[100], ones[100];
    for (int i = 0; i < 100; i++) {
        start[i] = 1 + (i * 37 % 100) * 0.01;
        ones[i] = 1;
    }
    OK(w, rg_array_write(x, RG_DATA, start, sizeof start));
    OK(w, rg_array_write(x, RG_GRADIENT, ones, sizeof ones));
    rg_status s = rg_record_launch(
        kernel(w, "march"), (rg_arg[]){RG_VALUE(steps), RG_VALUE_GRAD(h, hb), RG_ARRAY(x)}, 3, &r);
    snprintf(words, 400, "%s", rg_context_message(w.ctx));
    if (s == RG_OK) {
        size_t before = c.now;
        c.most = c.now;
        OK(w, rg_backward(r));
        *scratch = c.most - before;
        OK(w, rg_array_read(x, RG_GRADIENT, out, 100 * sizeof *out));
        OK(w, rg_array_read(hb, RG_DATA, out + 100, sizeof *out));
        rg_record_release(r);
    }
    rg_array_release(x);
    rg_array_release(hb);
    close_world(w);
    return s;
}

static void tape_memory(void **state) {
    (void)state;
    static double all[101], some[101];
    char words[400];
    size_t scratch = 0;
    const int steps = 20000;
    assert_int_equal(march_back(0, steps, all, &scratch, words), RG_OK);
    assert_true(scratch > (size_t)steps * 800); /* each step */
    static const uint64_t memory[] = {1 << 20, 250000, 60000};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; k++) {
        memset(some, 0, sizeof some);
        assert_int_equal(march_back(memory[k], steps, some, &scratch, words), RG_OK);
        /* Scratch comes in pieces: a first one of 64 KiB, others an eighth larger. */
        if (scratch > memory[k] + memory[k] / 8 + 70000)
            fail_msg("%zu bytes of scratch, %llu allowed", scratch, (unsigned long long)memory[k]);
        assert_memory_equal(all, some, sizeof all);
    }
    assert_int_equal(march_back(2000, steps, some, &scratch, words), RG_ERROR_MEMORY);
    assert_non_null(
        strstr(words, "m.c:3:5: the adjoint of kernel 'march' would save 16000000 bytes"));
    assert_non_null(strstr(words, "--tape-memory"));
}

/* A loop whose length follows from the data is watched while it runs. */
static void tape_memory_of_while(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        world w = open_world("cpu", NULL, 1);
        rg_module_options mo = {.size = sizeof mo, .tape_memory = k ? 1 << 20 : 4096};
        OK(w, rg_module_compile(w.dev, "m.c", march, sizeof march - 1, &mo, &w.mod));
        int64_t one = 1;
        double v = 3;
        rg_array *x, *y;
        rg_record *r;
        OK(w, rg_array_new(w.dev, RG_DTYPE_F64, 1, &one, true, &x));
        OK(w, rg_array_new(w.dev, RG_DTYPE_F64, 1, &one, true, &y));
        OK(w, rg_array_write(x, RG_DATA, &v, sizeof v));
        OK(w, rg_record_launch(kernel(w, "halve"), (rg_arg[]){RG_ARRAY(x), RG_ARRAY(y)}, 2, &r));
        if (k)
            OK(w, rg_backward(r));
        else
            FAILS(w, RG_ERROR_MEMORY, "halve:12: the adjoint would save", rg_backward(r));
        rg_record_release(r);
        rg_array_release(x);
        rg_array_release(y);
        rg_sync(w.dev);
        close_world(w);
    }
}

/* Every allocation fails once, at each place in turn: nothing leaks, nothing crashes. */
typedef struct failing {
    long left;
    size_t live;
} failing;

static void *failing_resize(void *user, void *old, size_t old_size, size_t size) {
    failing *f = user;
    (void)old_size;
    if (size == 0) {
        if (old)
            f->live--;
        free(old);
        return NULL;
    }
    if (f->left == 0)
        return NULL;
    f->left--;
    if (!old)
        f->live++;
    return realloc(old, size);
}

static rg_status whole_life(failing *f, const char *device) {
    rg_context_options co = {
        .size = sizeof co, .resize = failing_resize, .user = f, .cache_dir = cache};
    rg_context *ctx = NULL;
    rg_device *dev = NULL;
    rg_module *mod = NULL;
    rg_kernel *k = NULL;
    rg_array *x = NULL, *y = NULL;
    rg_tape *t = NULL;
    int n = 4;
    int64_t four = 4;
    float ones[4] = {1, 1, 1, 1};
    rg_status s = rg_context_new(&co, &ctx);
    if (s == RG_OK)
        s = rg_device_open(
            ctx, device,
            &(rg_device_options){.size = sizeof(rg_device_options), .threads = 2, .cflags = ""},
            &dev);
    if (s == RG_OK)
        s = rg_module_compile(dev, "t.c", square, strlen(square), NULL, &mod);
    if (s == RG_OK)
        s = rg_module_kernel(mod, "square", &k);
    if (s == RG_OK)
        s = rg_array_new(dev, RG_DTYPE_F32, 1, &four, true, &x);
    if (s == RG_OK)
        s = rg_array_new(dev, RG_DTYPE_F32, 1, &four, true, &y);
    if (s == RG_OK)
        s = rg_array_write(x, RG_DATA, ones, sizeof ones);
    if (s == RG_OK)
        s = rg_tape_new(ctx, &t);
    for (int i = 0; i < 2 && s == RG_OK; i++)
        s = rg_tape_launch(t, k, (rg_arg[]){RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)}, 3);
    if (s == RG_OK)
        s = rg_array_write(x, RG_DATA, ones, sizeof ones);
    if (s == RG_OK)
        s = rg_tape_backward(t);
    rg_tape_release(t);
    rg_array_release(x);
    rg_array_release(y);
    rg_module_release(mod);
    rg_device_release(dev);
    rg_context_release(ctx);
    return s;
}

static void out_of_memory(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        failing all = {.left = -1, .live = 0}; /* also fills the cache */
        assert_int_equal(whole_life(&all, device_names[d]), RG_OK);
        for (long n = 0;; n++) {
            failing f = {.left = n, .live = 0};
            rg_status s = whole_life(&f, device_names[d]);
            assert_int_equal(f.live, 0);
            if (s == RG_OK)
                break;
            if (s != RG_ERROR_MEMORY)
                fail_msg("%s, allocation %ld: %s", device_names[d], n, rg_status_name(s));
            assert_true(n < 100000);
        }
    }
}

static void latency(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        world w = open_world("cpu", square, threads);
        rg_kernel *k = kernel(w, "square");
        int n = 16;
        rg_array *x = floats(w, n, true, NULL), *y = floats(w, n, true, NULL);
        rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
        OK(w, rg_launch(k, args, 3));
        double best = 1;
        for (int round = 0; round < 20; round++) {
            double t = seconds();
            for (int i = 0; i < 1000; i++)
                rg_launch(k, args, 3);
            t = (seconds() - t) / 1000;
            best = t < best ? t : best;
        }
        print_message("%d threads: %.3f us a launch\n", threads, best * 1e6);
        assert_true(best < 5e-6);
        rg_array_release(x);
        rg_array_release(y);
        close_world(w);
    }
}

/* Memory that the caller changes without a word is found when the debug option hashes it. */
static void hashed_memory(void **state) {
    (void)state;
    for (int d = 0; d < 2; d++) {
        world w = open_world(device_names[d], square, 1);
        rg_kernel *k = kernel(w, "square");
        float memory[4] = {1, 2, 3, 4}, gradient[4] = {0};
        int n = 4;
        int64_t four = 4;
        rg_array *x, *y = floats(w, 4, true, NULL);
        OK(w, rg_array_wrap(w.dev, RG_DTYPE_F32, 1, &four, memory, gradient, &x));
        rg_arg args[3] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)};
        rg_record *r;
        for (int hash = 0; hash < 2; hash++) {
            if (hash)
                setenv("RETROGRAD_DEBUG", "hash", 1);
            OK(w, rg_record_launch(k, args, 3, &r));
            memory[2] += 1;
            if (hash)
                FAILS(w, RG_ERROR_STATE,
                      "array 'x' was changed after the launch of kernel 'square' was recorded, "
                      "without rg_array_touch",
                      rg_backward(r));
            else
                OK(w, rg_backward(r)); /* nobody could know */
            rg_record_release(r);
        }
        rg_tape *t;
        OK(w, rg_tape_new(w.ctx, &t));
        OK(w, rg_tape_launch(t, k, args, 3));
        memory[0] = -1;
        FAILS(w, RG_ERROR_STATE, "without rg_array_touch", rg_tape_backward(t));
        rg_tape_release(t);
        OK(w, rg_array_fill_zero(x, RG_GRADIENT));
        set_gradient(w, y, 1);
        OK(w, rg_record_launch(k, args, 3, &r));
        OK(w, rg_backward(r)); /* unchanged: fine */
        assert_true(at(w, x, RG_GRADIENT, 3) == 8);
        rg_record_release(r);
        unsetenv("RETROGRAD_DEBUG");
        rg_array_release(x);
        rg_array_release(y);
        close_world(w);
    }
}

/* Second order of an array that two parameters are, which has one direction and one product, and of
 * captured values; and what as C alone cannot be had. */
static void hvp_of_all(void **state) {
    (void)state;
    static const char text[] = "void sum(int n, const float x[n], const float y[n], float z[n]) {\n"
                               "#pragma omp parallel for\n"
                               "for (int i = 0; i < n; i++) z[i] = x[i] * x[i] * y[i];\n}\n"
                               "void list(int n, const float x[n], float y[n], int c[1]) {\n"
                               "#pragma omp parallel for\n"
                               "for (int i = 0; i < n; i++) {\n int k;\n"
                               "#pragma omp atomic capture\n"
                               "k = c[0]++;\n y[k] = x[i] * x[i];\n}\n}\n"
                               "void tied(float a, float b, float e[1]) { e[0] = a * a * b; }\n";
    world w = open_world("ref", text, 1);
    float v[2] = {1, 2}, d[2] = {1, 3}, k = 2, one_value = 1;
    int n = 2;
    int64_t one = 1;
    rg_array *x = floats(w, 2, true, v), *y = floats(w, 2, true, v), *c;
    rg_array *t = floats(w, 2, false, d), *u = floats(w, 2, false, d),
             *h = floats(w, 2, false, NULL);
    OK(w, rg_array_new(w.dev, RG_DTYPE_I32, 1, &one, false, &c));
    rg_arg twice[4] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(x), RG_ARRAY(y)};
    rg_direction clash[4] = {{0}, {t, h}, {u, NULL}, {0}},
                 shared[4] = {{0}, {t, NULL}, {t, h}, {0}};
    set_gradient(w, y, 1);
    FAILS(w, RG_ERROR_ARGUMENT, "'y' and 'x' are one array, which has one direction",
          rg_hvp(kernel(w, "sum"), twice, clash, 4));
    OK(w, rg_hvp(kernel(w, "sum"), twice, shared, 4));
    for (size_t i = 0; i < 2; i++) {
        assert_true(at(w, x, RG_GRADIENT, i) == 3 * v[i] * v[i]);
        assert_true(at(w, h, RG_DATA, i) == 6 * v[i] * d[i]);
    }
    /* Again: both are added to. */
    set_gradient(w, y, 1);
    OK(w, rg_hvp(kernel(w, "sum"), twice, shared, 4));
    assert_true(at(w, x, RG_GRADIENT, 1) == 24 && at(w, h, RG_DATA, 1) == 72);
    rg_array *g = floats(w, 1, false, NULL), *e = floats(w, 1, true, NULL);
    rg_array *dk = floats(w, 1, false, &one_value), *hk = floats(w, 1, false, NULL);
    rg_arg tied[3] = {RG_VALUE_GRAD(k, g), RG_VALUE_GRAD(k, g), RG_ARRAY(e)};
    rg_direction along[3] = {{dk, hk}, {NULL, NULL}, {0}};
    set_gradient(w, e, 1);
    OK(w, rg_hvp(kernel(w, "tied"), tied, along, 3));
    assert_true(at(w, g, RG_DATA, 0) == 12 && at(w, hk, RG_DATA, 0) == 12);
    rg_arg args[4] = {RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y), RG_ARRAY(c)};
    rg_direction list[4] = {{0}, {t, h}, {0}, {0}};
    OK(w, rg_array_fill_zero(x, RG_GRADIENT));
    OK(w, rg_array_fill_zero(h, RG_DATA));
    set_gradient(w, y, 1);
    OK(w, rg_hvp(kernel(w, "list"), args, list, 4));
    for (size_t i = 0; i < 2; i++) {
        assert_true(at(w, x, RG_GRADIENT, i) == 2 * v[i]);
        assert_true(at(w, h, RG_DATA, i) == 2 * d[i]);
    }
    /* As C: the place of the capture, and several kernels in one file need what each needs. */
    rg_kernel *both[2] = {kernel(w, "sum"), kernel(w, "list")}, *same[2] = {both[0], both[0]};
    rg_emit_options o[2] = {{.size = sizeof *o, .mode = RG_MODE_ADJOINT, .target = RG_TARGET_C},
                            {.size = sizeof *o, .mode = RG_MODE_ADJOINT, .target = RG_TARGET_C}};
    char *out;
    FAILS(w, RG_ERROR_REFUSED, "only a recorded launch keeps", rg_kernels_emit(both, o, 2, &out));
    FAILS(w, RG_ERROR_ARGUMENT, "named twice", rg_kernels_emit(same, o, 2, &out));
    o[1].mode = RG_MODE_TANGENT;
    OK(w, rg_kernels_emit(both, o, 2, &out));
    assert_non_null(strstr(out, "sum_adjoint("));
    assert_non_null(strstr(out, "list_tangent("));
    rg_free(w.ctx, out);
    o[1].target = RG_TARGET_IR;
    FAILS(w, RG_ERROR_ARGUMENT, "as C only", rg_kernels_emit(both, o, 2, &out));
    rg_array *all[] = {x, y, c, t, u, h, g, e, dk, hk};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rg_array_release(all[i]);
    close_world(w);
}

int main(void) {
    snprintf(cache, sizeof cache, "/tmp/retrograd-test-XXXXXX");
    if (!mkdtemp(cache))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(pool),
                                       cmocka_unit_test(pool_scratch),
                                       cmocka_unit_test(basics),
                                       cmocka_unit_test(arrays),
                                       cmocka_unit_test(launch_and_backward),
                                       cmocka_unit_test(bad_arguments),
                                       cmocka_unit_test(overlapping_gradients),
                                       cmocka_unit_test(changed_in_between),
                                       cmocka_unit_test(tape),
                                       cmocka_unit_test(tape_holds),
                                       cmocka_unit_test(lost_dependence),
                                       cmocka_unit_test(inner_array),
                                       cmocka_unit_test(same_array_twice),
                                       cmocka_unit_test(wrapped_twice),
                                       cmocka_unit_test(views_in_launches),
                                       cmocka_unit_test(structs),
                                       cmocka_unit_test(faults),
                                       cmocka_unit_test(sources),
                                       cmocka_unit_test(outside_preprocessor),
                                       cmocka_unit_test(tape_memory),
                                       cmocka_unit_test(tape_memory_of_while),
                                       cmocka_unit_test(hashed_memory),
                                       cmocka_unit_test(hvp_of_all),
                                       cmocka_unit_test(out_of_memory),
                                       cmocka_unit_test(latency)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command) || failed;
}
