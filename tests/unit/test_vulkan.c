/* The Vulkan device, on whatever driver is there (none: a skip that says so): memory, launches in
 * both addressing modes and both ways to reach memory, the probe with faults put between us and the
 * driver, and drivers that fail. Results are compared with the device `ref`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "retrograd.h"

#include "runtime/device_vulkan.h"
#include "spirv_faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef RG_HAVE_VULKAN

static bool present;
static char cache[64];

/* ---- the allocator counts, so that a steady launch can be seen to allocate nothing ---- */

static size_t allocations;

static void *resize(void *user, void *old, size_t old_size, size_t size) {
    (void)user;
    (void)old_size;
    allocations += size != 0;
    if (size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, size);
}

static rg_context *context(const char *cache_dir) {
    rg_context *ctx = NULL;
    rg_context_options o = {.size = sizeof o, .resize = resize, .cache_dir = cache_dir};
    assert_int_equal(rg_context_new(&o, &ctx), RG_OK);
    return ctx;
}

#define OK(ctx, call)                                                                              \
    do {                                                                                           \
        rg_status s_ = (call);                                                                     \
        if (s_ != RG_OK)                                                                           \
            fail_msg("%s: %s: %s", #call, rg_status_name(s_), rg_context_message(ctx));            \
    } while (0)

static rg_module *module(rg_context *ctx, rg_device *dev, const char *text) {
    rg_module *m = NULL;
    OK(ctx, rg_module_compile(dev, "t.c", text, strlen(text), NULL, &m));
    return m;
}

static rg_kernel *kernel(rg_context *ctx, rg_module *m, const char *name) {
    rg_kernel *k = NULL;
    OK(ctx, rg_module_kernel(m, name, &k));
    return k;
}

static rg_array *array(rg_context *ctx, rg_device *dev, rg_dtype t, int64_t n, const void *data,
                       bool gradient) {
    rg_array *a = NULL;
    OK(ctx, rg_array_new(dev, t, 1, &n, gradient, &a));
    if (data)
        OK(ctx, rg_array_write(a, RG_DATA, data, rg_array_count(a) * rg_array_item_size(a)));
    return a;
}

/* ---- a set of kernels, forward and back, on any device ---- */

static const char battery_text[] =
    "#include <math.h>\n"
    "typedef struct { float x, y; unsigned char kind; } particle;\n"
    "void assign(int n, const float x[n], float y[n], float k) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = k * x[i] * x[i] + 1; }\n"
    "void inplace(int n, float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) { float t = y[i] * y[i]; y[i] = t - 2 * y[i]; } }\n"
    "void energy(int n, const float x[n], float e[1]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 1; i < n; i++) { float d = x[i] - x[i - 1];\n"
    "#pragma omp atomic\n"
    "e[0] += 0.5f * d * d; } }\n"
    "void scatter(int n, const int at[n], const float x[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) {\n"
    "#pragma omp atomic\n"
    "y[at[i]] += x[i] * x[(i + 3) % n]; } }\n"
    "void march(int n, int steps, float x[n], float v[n]) {\n"
    "float f[n];\n"
    "for (int t = 0; t < steps; t++) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) f[i] = -x[i] + 0.5f * x[(i + 1) % n];\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) { v[i] += 0.125f * f[i]; x[i] += 0.125f * v[i] * v[i]; } } }\n"
    "void norm(int n, const float x[n], float y[n]) {\n"
    "float s = 0;\n"
    "#pragma omp parallel for reduction(+:s)\n"
    "for (int i = 0; i < n; i++) s += x[i] * x[i];\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = x[i] / (1 + s); }\n"
    "void guard(int n, const float x[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = x[i] > 2 ? sqrtf(x[i] - 2) : x[i] * 0.5f; }\n"
    "void halves(int n, const _Float16 h[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = 3 * h[i] * h[i]; }\n"
    "void parts(int n, const particle p[n], float y[n]) {\n"
    "#pragma omp parallel for\n"
    "for (int i = 0; i < n; i++) y[i] = p[i].kind % 2 ? p[i].x * p[i].y : p[i].x; }\n";

enum { N = 48, OUT = 24 };
typedef struct outcome {
    float at[OUT][N];
    uint32_t n;
} outcome;

static void keep(rg_context *ctx, outcome *o, rg_array *a, rg_part part) {
    assert_true(o->n < OUT && rg_array_count(a) <= N);
    OK(ctx, rg_array_read(a, part, o->at[o->n++], rg_array_count(a) * sizeof(float)));
}

static void seed(rg_context *ctx, rg_array *a, float scale) {
    float g[N];
    for (int i = 0; i < N; i++)
        g[i] = scale * (float)(i % 7 - 2);
    OK(ctx, rg_array_write(a, RG_GRADIENT, g, rg_array_count(a) * sizeof(float)));
}

static void backward(rg_context *ctx, rg_kernel *k, const rg_arg *args, size_t n) {
    rg_record *r = NULL;
    OK(ctx, rg_record_launch(k, args, n, &r));
    OK(ctx, rg_backward(r));
    rg_record_release(r);
}

static void battery(rg_context *ctx, rg_device *dev, outcome *o) {
    rg_module *m = module(ctx, dev, battery_text);
    float x0[N], k = 1.5f;
    int32_t n = N, steps = 3, at[N];
    for (int i = 0; i < N; i++) {
        x0[i] = (float)(i % 11) * 0.25f + 0.125f;
        at[i] = (i * 7) % 5;
    }
    memset(o, 0, sizeof *o);
    static const char *const two[] = {"assign", "energy", "scatter", "march", "norm", "guard"};
    for (size_t w = 0; w < sizeof two / sizeof *two; w++) {
        rg_array *x = array(ctx, dev, RG_DTYPE_F32, N, x0, true);
        rg_array *y = array(ctx, dev, RG_DTYPE_F32, w == 1 ? 1 : N, NULL, true);
        rg_array *ai = array(ctx, dev, RG_DTYPE_I32, N, at, false);
        rg_array *kg = array(ctx, dev, RG_DTYPE_F32, 1, NULL, false);
        seed(ctx, y, 0.5f);
        rg_kernel *q = kernel(ctx, m, two[w]);
        if (w == 0)
            backward(ctx, q,
                     (rg_arg[]){RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y), RG_VALUE_GRAD(k, kg)}, 4);
        else if (w == 2)
            backward(ctx, q, (rg_arg[]){RG_VALUE(n), RG_ARRAY(ai), RG_ARRAY(x), RG_ARRAY(y)}, 4);
        else if (w == 3)
            backward(ctx, q, (rg_arg[]){RG_VALUE(n), RG_VALUE(steps), RG_ARRAY(x), RG_ARRAY(y)}, 4);
        else
            backward(ctx, q, (rg_arg[]){RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y)}, 3);
        keep(ctx, o, y, RG_DATA);
        keep(ctx, o, x, RG_GRADIENT);
        if (w == 0) {
            keep(ctx, o, kg, RG_DATA);
            keep(ctx, o, y, RG_GRADIENT);
        }
        rg_array_release(x);
        rg_array_release(y);
        rg_array_release(ai);
        rg_array_release(kg);
    }
    rg_array *y = array(ctx, dev, RG_DTYPE_F32, N, x0, true);
    seed(ctx, y, 0.25f);
    backward(ctx, kernel(ctx, m, "inplace"), (rg_arg[]){RG_VALUE(n), RG_ARRAY(y)}, 2);
    keep(ctx, o, y, RG_DATA);
    keep(ctx, o, y, RG_GRADIENT);
    OK(ctx, rg_launch_tangent(kernel(ctx, m, "inplace"), (rg_arg[]){RG_VALUE(n), RG_ARRAY(y)}, 2));
    keep(ctx, o, y, RG_GRADIENT);
    rg_array_release(y);
    rg_module_release(m);
}

static void same(const outcome *a, const outcome *b) {
    assert_int_equal(a->n, b->n);
    for (uint32_t k = 0; k < a->n; k++)
        for (int i = 0; i < N; i++) {
            float x = a->at[k][i], y = b->at[k][i];
            if (!(fabsf(x - y) <= 2e-5f * (1 + fabsf(y))))
                fail_msg("result %u, element %d: %g, not %g", k, i, (double)x, (double)y);
        }
}

static outcome *right(void) {
    static outcome o;
    static bool made;
    if (made)
        return &o;
    rg_context *ctx = context("");
    rg_device *dev = NULL;
    OK(ctx, rg_device_open(ctx, "ref", NULL, &dev));
    battery(ctx, dev, &o);
    rg_device_release(dev);
    rg_context_release(ctx);
    made = true;
    return &o;
}

/* ---- opening ---- */

static void set(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static rg_device *open_mode(rg_context *ctx, const char *mode, const char *staging) {
    set("RETROGRAD_VULKAN_ADDRESSING", mode);
    set("RETROGRAD_VULKAN_STAGING", staging);
    rg_device *dev = NULL;
    OK(ctx, rg_device_open(ctx, "vulkan", NULL, &dev));
    set("RETROGRAD_VULKAN_ADDRESSING", NULL);
    set("RETROGRAD_VULKAN_STAGING", NULL);
    return dev;
}

static void quiet(rg_device *dev) {
    const rg_vk *v = dev->state;
    if (v->messages.count)
        fail_msg("the validation layer says %u times: %s", v->messages.count, v->messages.first);
}

static void need_device(void) {
    if (!present)
        skip();
}

static void modes(void **state) {
    (void)state;
    need_device();
    static const char *const way[2] = {"address", "offset"};
    for (int k = 0; k < 4; k++) {
        rg_context *ctx = context(cache);
        rg_device *dev = open_mode(ctx, way[k / 2], k % 2 ? "1" : NULL);
        assert_int_equal(((rg_vk *)dev->state)->caps.addressing,
                         k / 2 ? RG_SPIRV_OFFSET : RG_SPIRV_ADDRESS);
        if (k % 2)
            assert_false(((rg_vk *)dev->state)->direct);
        outcome o;
        battery(ctx, dev, &o);
        same(&o, right());
        quiet(dev);
        rg_device_release(dev);
        rg_context_release(ctx);
    }
}

/* ---- several iterations at a time ---- */

static const char lanes_text[] =
    "void line(int from, int to, int n, const float x[n], float y[n], float s[2]) {\n"
    "float t = 0, m = -1e30f;\n"
    "#pragma omp parallel for reduction(+:t) reduction(max:m)\n"
    "for (int i = from; i < to; i++) { float v = y[i]; y[i] = 0; y[i] += x[i] * x[i];\n"
    "if (v > 0) y[i] += v; t += x[i]; m = m > x[i] ? m : x[i]; }\n"
    "s[0] = t; s[1] = m; }\n"
    "void plane(int h, int w, int i0, int j0, const float x[h][w], float y[h][w], float s[1]) {\n"
    "float t = 0;\n"
    "#pragma omp parallel for collapse(2) reduction(+:t)\n"
    "for (int i = i0; i < h - 1; i++)\n"
    "for (int j = j0; j < w - 1; j++) {\n"
    "y[i][j] += x[i - 1][j] + x[i + 1][j] + 2 * x[i][j - 1] - x[i][j + 1]; t += x[i][j]; }\n"
    "s[0] = t; }\n"
    "void space(int d, int h, int w, const float x[d][h][w], float y[d][h][w]) {\n"
    "#pragma omp parallel for collapse(3)\n"
    "for (long k = 0; k < d; k++)\n"
    "for (long i = 0; i < h; i++)\n"
    "for (long j = 1; j < w; j++) y[k][i][j] = y[k][i][j] * 2 + x[k][i][j - 1]; }\n";

enum { LINE_N = 3000, PLANE_N = 13 * 331 };

typedef struct lanes_outcome {
    float y[3][PLANE_N], s[3][2];
} lanes_outcome;

static rg_array *small_numbers(rg_context *ctx, rg_device *dev, size_t rank, const int64_t *shape) {
    static float v[PLANE_N];
    for (int i = 0; i < PLANE_N; i++)
        v[i] = (float)(i * 37 % 64 - 31); /* sums of them are exact in any order */
    rg_array *a = NULL;
    OK(ctx, rg_array_new(dev, RG_DTYPE_F32, rank, shape, false, &a));
    OK(ctx, rg_array_write(a, RG_DATA, v, rg_array_count(a) * sizeof(float)));
    return a;
}

static void run_lanes(rg_context *ctx, rg_device *dev, int variant, lanes_outcome *o) {
    rg_module *m = module(ctx, dev, lanes_text);
    static const char *const name[3] = {"line", "plane", "space"};
    /* long rows and short ones, beginnings on a line of memory and not */
    int n = LINE_N, from = variant * 5, to = n - variant, h = variant ? 13 : 331, i0 = 1 + variant;
    int w = variant ? 331 : 13, j0 = variant == 2 ? 32 : 1, d = 3, dh = variant ? 5 : 7;
    int dw = variant ? 270 : 30;
    memset(o, 0, sizeof *o);
    for (int k = 0; k < 3; k++) {
        int64_t shape[3][3] = {{n}, {h, w}, {d, dh, dw}}, two = 2, one = 1;
        rg_array *x = small_numbers(ctx, dev, (size_t)k + 1, shape[k]);
        rg_array *y = small_numbers(ctx, dev, (size_t)k + 1, shape[k]);
        rg_array *s = small_numbers(ctx, dev, 1, k ? &one : &two);
        const rg_arg args[3][8] = {
            {RG_VALUE(from), RG_VALUE(to), RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(y), RG_ARRAY(s)},
            {RG_VALUE(h), RG_VALUE(w), RG_VALUE(i0), RG_VALUE(j0), RG_ARRAY(x), RG_ARRAY(y),
             RG_ARRAY(s)},
            {RG_VALUE(d), RG_VALUE(dh), RG_VALUE(dw), RG_ARRAY(x), RG_ARRAY(y)}};
        static const size_t count[3] = {6, 7, 5};
        OK(ctx, rg_launch(kernel(ctx, m, name[k]), args[k], count[k]));
        OK(ctx, rg_array_read(y, RG_DATA, o->y[k], rg_array_count(y) * sizeof(float)));
        OK(ctx, rg_array_read(s, RG_DATA, o->s[k], rg_array_count(s) * sizeof(float)));
        rg_array_release(x);
        rg_array_release(y);
        rg_array_release(s);
    }
    rg_module_release(m);
}

static void lanes(void **state) {
    (void)state;
    need_device();
    static lanes_outcome want[3], got;
    rg_context *ctx = context(cache);
    rg_device *dev = NULL;
    OK(ctx, rg_device_open(ctx, "ref", NULL, &dev));
    for (int v = 0; v < 3; v++)
        run_lanes(ctx, dev, v, &want[v]);
    rg_device_release(dev);
    set("RETROGRAD_VULKAN_LANES", "9");
    assert_int_equal(rg_device_open(ctx, "vulkan", NULL, &dev), RG_ERROR_ARGUMENT);
    static const char *const many[] = {"1", "2", "5", "8"};
    for (int k = 0; k < 4; k++) {
        set("RETROGRAD_VULKAN_LANES", many[k]);
        dev = open_mode(ctx, k % 2 ? "offset" : "address", NULL);
        assert_int_equal(((rg_vk *)dev->state)->caps.lanes, many[k][0] - '0');
        for (int v = 0; v < 3; v++) {
            run_lanes(ctx, dev, v, &got);
            assert_memory_equal(&got, &want[v], sizeof got);
        }
        quiet(dev);
        rg_device_release(dev);
    }
    set("RETROGRAD_VULKAN_LANES", NULL);
    rg_context_release(ctx);
}

static void names(void **state) {
    (void)state;
    rg_context *ctx = context(cache);
    rg_device *dev = NULL;
    static const char *const bad[] = {"vulkan:4000", "vulkan:", "vulkan:x", "cpu:1", "vulkanic"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_int_equal(rg_device_open(ctx, bad[k], NULL, &dev), RG_ERROR_DEVICE);
    rg_device_options o = {.size = sizeof o, .checked = true};
    assert_int_equal(rg_device_open(ctx, "vulkan", &o, &dev), RG_ERROR_UNSUPPORTED);
    set("RETROGRAD_VULKAN_ADDRESSING", "sideways");
    assert_int_equal(rg_device_open(ctx, "vulkan", NULL, &dev),
                     present ? RG_ERROR_ARGUMENT : RG_ERROR_DEVICE);
    set("RETROGRAD_VULKAN_ADDRESSING", NULL);
    size_t n = 0;
    bool listed = false;
    OK(ctx, rg_device_count(ctx, &n));
    for (size_t i = 0; i < n; i++) {
        rg_device_info info = {.size = sizeof info};
        OK(ctx, rg_device_describe(ctx, i, &info));
        if (strcmp(info.name, "vulkan") != 0)
            continue;
        listed = true;
        assert_int_equal(info.available, present);
        if (present)
            assert_true(strlen(info.caps) && strlen(info.addressing));
    }
    assert_true(listed);
    rg_context_release(ctx);
}

/* ---- arrays ---- */

static void arrays(void **state) {
    (void)state;
    need_device();
    for (int staged = 0; staged < 2; staged++) {
        rg_context *ctx = context(cache);
        rg_device *dev = open_mode(ctx, NULL, staged ? "1" : NULL);
        enum { MANY = 2000 };
        static rg_array *many[MANY];
        for (int64_t i = 0; i < MANY; i++) {
            uint8_t fill[300];
            memset(fill, (int)(i % 251), sizeof fill);
            many[i] = array(ctx, dev, RG_DTYPE_U8, i % 300, i % 3 ? fill : NULL, false);
        }
        for (int64_t i = 0; i < MANY; i++) {
            uint8_t got[300];
            OK(ctx, rg_array_read(many[i], RG_DATA, got, (size_t)(i % 300)));
            for (int k = 0; k < i % 300; k++)
                assert_int_equal(got[k], i % 3 ? i % 251 : 0);
        }
        for (int64_t i = 0; i < MANY; i++)
            rg_array_release(many[(i * 1237) % MANY]);
        /* Views that begin at odd bytes, read, written, cleared and mapped. */
        int64_t shape[2] = {7, 5};
        rg_array *a, *row;
        OK(ctx, rg_array_new(dev, RG_DTYPE_U8, 2, shape, false, &a));
        uint8_t bytes[35], want[35];
        for (int i = 0; i < 35; i++)
            bytes[i] = want[i] = (uint8_t)(i + 1);
        OK(ctx, rg_array_write(a, RG_DATA, bytes, 35));
        OK(ctx, rg_array_view(a, 1, (int64_t[]){3}, &row));
        OK(ctx, rg_array_fill_zero(row, RG_DATA));
        memset(want + 15, 0, 5);
        void *seen;
        OK(ctx, rg_array_map(row, RG_DATA, &seen));
        memset(seen, 77, 2);
        OK(ctx, rg_array_unmap(row, RG_DATA));
        want[15] = want[16] = 77;
        OK(ctx, rg_array_read(a, RG_DATA, bytes, 35));
        assert_memory_equal(bytes, want, 35);
        rg_array_release(row);
        rg_array_release(a);
        float mine[4];
        int64_t four = 4;
        assert_int_equal(rg_array_wrap(dev, RG_DTYPE_F32, 1, &four, mine, NULL, &a),
                         RG_ERROR_UNSUPPORTED);
        quiet(dev);
        rg_device_release(dev);
        rg_context_release(ctx);
    }
}

/* Narrow types through views at every alignment; structs; one gradient for two parameters. */
static void launches(void **state) {
    (void)state;
    need_device();
    static const char text[] =
        "typedef struct { float x; unsigned char k; float y[2]; } item;\n"
        "void bytes(int n, unsigned char b[n], short s[n]) {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) { b[i] = b[i] + 3; s[i] = s[i] - b[i]; } }\n"
        "void items(int n, const item p[n], float y[n]) {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) y[i] = p[i].x * p[i].y[p[i].k % 2]; }\n"
        "void dot(int n, const float x[n], const float y[n], float e[1]) {\n"
        "#pragma omp parallel for\n"
        "for (int i = 0; i < n; i++) {\n"
        "#pragma omp atomic\n"
        "e[0] += x[i] * y[i]; } }\n";
    for (int mode = 0; mode < 2; mode++) {
        rg_context *ctx = context(cache);
        rg_device *dev = open_mode(ctx, mode ? "offset" : "address", mode ? "1" : NULL);
        rg_module *m = module(ctx, dev, text);
        int64_t shape[2] = {6, 5};
        uint8_t b[30], b2[30];
        int16_t s[30], s2[30];
        for (int i = 0; i < 30; i++) {
            b[i] = (uint8_t)(9 * i);
            s[i] = (int16_t)(100 * i);
        }
        rg_array *ab, *as, *vb, *vs;
        OK(ctx, rg_array_new(dev, RG_DTYPE_U8, 2, shape, false, &ab));
        OK(ctx, rg_array_new(dev, RG_DTYPE_I16, 2, shape, false, &as));
        OK(ctx, rg_array_write(ab, RG_DATA, b, sizeof b));
        OK(ctx, rg_array_write(as, RG_DATA, s, sizeof s));
        int32_t five = 5;
        for (int64_t r = 0; r < 6; r += 2) {
            OK(ctx, rg_array_view(ab, 1, &r, &vb));
            OK(ctx, rg_array_view(as, 1, &r, &vs));
            OK(ctx, rg_launch(kernel(ctx, m, "bytes"),
                              (rg_arg[]){RG_VALUE(five), RG_ARRAY(vb), RG_ARRAY(vs)}, 3));
            rg_array_release(vb);
            rg_array_release(vs);
        }
        OK(ctx, rg_array_read(ab, RG_DATA, b2, sizeof b2));
        OK(ctx, rg_array_read(as, RG_DATA, s2, sizeof s2));
        for (int i = 0; i < 30; i++) {
            bool done = i / 5 % 2 == 0;
            uint8_t want = (uint8_t)(b[i] + 3);
            assert_int_equal(b2[i], done ? want : b[i]);
            assert_int_equal(s2[i], done ? (int16_t)(s[i] - want) : s[i]);
        }
        rg_array_release(ab);
        rg_array_release(as);

        typedef struct item {
            float x;
            unsigned char k;
            float y[2];
        } item;
        item p[4] = {{2, 0, {3, 4}}, {5, 1, {6, 7}}, {8, 2, {9, 10}}, {11, 3, {12, 13}}}, g[4];
        float y[4];
        int32_t n = 4;
        int64_t four = 4, one = 1;
        rg_array *ap, *ay, *e;
        rg_kernel *items = kernel(ctx, m, "items");
        OK(ctx, rg_array_for(items, 1, 1, &four, true, &ap));
        OK(ctx, rg_array_for(items, 2, 1, &four, true, &ay));
        OK(ctx, rg_array_write(ap, RG_DATA, p, sizeof p));
        OK(ctx, rg_array_write(ay, RG_GRADIENT, (float[]){1, 2, 3, 4}, 16));
        backward(ctx, items, (rg_arg[]){RG_VALUE(n), RG_ARRAY(ap), RG_ARRAY(ay)}, 3);
        OK(ctx, rg_array_read(ay, RG_DATA, y, sizeof y));
        OK(ctx, rg_array_read(ap, RG_GRADIENT, g, sizeof g));
        for (int i = 0; i < 4; i++) {
            int k = p[i].k % 2;
            assert_true(y[i] == p[i].x * p[i].y[k]);
            assert_true(g[i].x == (float)(i + 1) * p[i].y[k]);
            assert_true(g[i].y[k] == (float)(i + 1) * p[i].x && g[i].y[1 - k] == 0);
        }
        rg_array_release(ap);
        /* x is both operands: d(x.x) = 2x. */
        OK(ctx, rg_array_new(dev, RG_DTYPE_F32, 1, &one, true, &e));
        rg_array *x = array(ctx, dev, RG_DTYPE_F32, 4, (float[]){1, 2, 3, 4}, true);
        OK(ctx, rg_array_write(e, RG_GRADIENT, (float[]){1}, 4));
        backward(ctx, kernel(ctx, m, "dot"),
                 (rg_arg[]){RG_VALUE(n), RG_ARRAY(x), RG_ARRAY(x), RG_ARRAY(e)}, 4);
        OK(ctx, rg_array_read(x, RG_GRADIENT, y, sizeof y));
        for (int i = 0; i < 4; i++)
            assert_true(y[i] == 2 * (float)(i + 1));
        rg_array_release(x);
        rg_array_release(ay);
        rg_array_release(e);
        /* Empty arrays and ranges are legal. */
        int32_t none = 0;
        rg_array *z = array(ctx, dev, RG_DTYPE_U8, 0, NULL, false);
        rg_array *w = array(ctx, dev, RG_DTYPE_I16, 0, NULL, false);
        OK(ctx, rg_launch(kernel(ctx, m, "bytes"),
                          (rg_arg[]){RG_VALUE(none), RG_ARRAY(z), RG_ARRAY(w)}, 3));
        OK(ctx, rg_sync(dev));
        rg_array_release(z);
        rg_array_release(w);
        rg_module_release(m);
        quiet(dev);
        rg_device_release(dev);
        rg_context_release(ctx);
    }
}

/* Many launches: no allocation once warm, barriers only where arrays meet, few submissions. */
static void steady(void **state) {
    (void)state;
    need_device();
    rg_context *ctx = context(cache);
    rg_device *dev = open_mode(ctx, NULL, NULL);
    rg_vk *v = dev->state;
    rg_module *m = module(ctx, dev,
                          "void twice(int n, const float x[n], float y[n]) {\n"
                          "#pragma omp parallel for\n"
                          "for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n");
    rg_kernel *k = kernel(ctx, m, "twice");
    enum { PAIRS = 8, LAUNCHES = 800 };
    rg_array *x[PAIRS], *y[PAIRS];
    int32_t n = 16;
    for (int i = 0; i < PAIRS; i++) {
        x[i] = array(ctx, dev, RG_DTYPE_F32, 16, NULL, false);
        y[i] = array(ctx, dev, RG_DTYPE_F32, 16, NULL, false);
        OK(ctx, rg_launch(k, (rg_arg[]){RG_VALUE(n), RG_ARRAY(x[i]), RG_ARRAY(y[i])}, 3));
    }
    OK(ctx, rg_sync(dev));
    size_t before = allocations;
    uint64_t barriers = v->barriers, submissions = v->submissions;
    for (int l = 0; l < LAUNCHES; l++) {
        int i = l % PAIRS;
        OK(ctx, rg_launch(k, (rg_arg[]){RG_VALUE(n), RG_ARRAY(x[i]), RG_ARRAY(y[i])}, 3));
    }
    OK(ctx, rg_sync(dev));
    assert_int_equal(allocations, before);
    /* Each pair is written again after PAIRS launches, and not before. */
    assert_true(v->barriers - barriers <= LAUNCHES / PAIRS + 1);
    assert_true(v->submissions - submissions <= LAUNCHES / RG_VK_FLUSH + 2);
    for (int i = 0; i < PAIRS; i++) {
        rg_array_release(x[i]);
        rg_array_release(y[i]);
    }
    rg_module_release(m);
    quiet(dev);
    rg_device_release(dev);
    rg_context_release(ctx);
}

/* A driver may end long loops early: the result is right, or an error says that it is not. */
static void long_loops(void **state) {
    (void)state;
    need_device();
    rg_context *ctx = context(cache);
    rg_device *dev = open_mode(ctx, NULL, NULL);
    rg_module *m = module(ctx, dev,
                          "void far(int n, int m, float c, float y[n]) {\n"
                          "#pragma omp parallel for\n"
                          "for (int i = 0; i < n; i++) { float s = 0; int j = 0;\n"
                          "while (j < m) { s += c; j++; }\n"
                          "y[i] = s; } }\n");
    for (int k = 0; k < 2; k++) {
        int32_t n = 4, count = k ? 1000 : 150000;
        float c = 0.5f, y[4];
        rg_array *a = array(ctx, dev, RG_DTYPE_F32, 4, NULL, false);
        OK(ctx, rg_launch(kernel(ctx, m, "far"),
                          (rg_arg[]){RG_VALUE(n), RG_VALUE(count), RG_VALUE(c), RG_ARRAY(a)}, 4));
        rg_status s = rg_array_read(a, RG_DATA, y, sizeof y);
        if (s == RG_OK) {
            assert_true(y[0] == 0.5f * (float)count);
        } else {
            assert_int_equal(k, 0);
            assert_int_equal(s, RG_ERROR_DEVICE);
            assert_int_equal(rg_sync(dev), RG_ERROR_DEVICE); /* and that clears it */
        }
        rg_array_release(a);
    }
    rg_module_release(m);
    quiet(dev);
    rg_device_release(dev);
    rg_context_release(ctx);
}

/* ---- faults between us and the driver ---- */

static rg_broken_as fault;
static uint32_t changes;
static PFN_vkCreateShaderModule real_create_module;

static VKAPI_ATTR VkResult VKAPI_CALL create_module(VkDevice d,
                                                    const VkShaderModuleCreateInfo *info,
                                                    const VkAllocationCallbacks *a,
                                                    VkShaderModule *out) {
    size_t n = 0;
    uint32_t *words = rg_spirv_break(info->pCode, info->codeSize / 4, fault, &n, &changes);
    if (!words)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkShaderModuleCreateInfo broken = *info;
    broken.pCode = words;
    broken.codeSize = 4 * n;
    VkResult r = real_create_module(d, &broken, a, out);
    free(words);
    return r;
}

static void wrap_module(rg_vk_api *api) {
    real_create_module = api->CreateShaderModule;
    api->CreateShaderModule = create_module;
}

/* Opens under a fault; whatever opens must be right. NULL: it was refused, and ctx says why. */
static rg_device *open_broken(rg_context *ctx, rg_broken_as f) {
    fault = f;
    changes = 0;
    rg_vk_wrap = wrap_module;
    rg_device *dev = NULL;
    rg_status s = rg_device_open(ctx, "vulkan", NULL, &dev);
    if (s == RG_OK) {
        outcome o;
        battery(ctx, dev, &o);
        same(&o, right());
    } else {
        assert_int_equal(s, RG_ERROR_DEVICE);
        assert_null(dev);
    }
    rg_vk_wrap = NULL;
    return dev;
}

static void faults(void **state) {
    (void)state;
    need_device();
    rg_context *ctx = context("");
    rg_device *dev = open_broken(ctx, RG_FAULT_NONE);
    assert_non_null(dev);
    rg_vk *v = dev->state;
    bool address = v->caps.addressing == RG_SPIRV_ADDRESS, adds = v->caps.atomic_f32_add;
    rg_device_release(dev);

    dev = open_broken(ctx, RG_FAULT_SECOND_ADDRESS);
    assert_non_null(dev);
    v = dev->state;
    assert_int_equal(v->caps.addressing, RG_SPIRV_OFFSET);
    if (address)
        assert_non_null(strstr(v->probe.failing[RG_SPIRV_ADDRESS], "address in the"));
    rg_device_release(dev);

    dev = open_broken(ctx, RG_FAULT_LATE_LOADS);
    assert_non_null(dev);
    v = dev->state;
    if (address) {
        assert_true(changes > 0);
        assert_int_equal(v->caps.addressing, RG_SPIRV_OFFSET);
        assert_string_equal(v->probe.failing[RG_SPIRV_ADDRESS], "load, overwrite, use");
    }
    rg_device_release(dev);

    dev = open_broken(ctx, RG_FAULT_ATOMIC_FLOAT);
    assert_non_null(dev);
    v = dev->state;
    assert_false(v->caps.atomic_f32_add);
    assert_true(changes > 0 || !adds);
    rg_device_release(dev);

    dev = open_broken(ctx, RG_FAULT_LITERALS);
    assert_non_null(dev);
    v = dev->state;
    assert_true(changes > 0);
    assert_true(v->caps.hide_literals);
    rg_device_release(dev);

    dev = open_broken(ctx, RG_FAULT_ATOMICS);
    assert_null(dev);
    assert_non_null(strstr(rg_context_message(ctx), "atomics of 32-bit integers"));

    dev = open_broken(ctx, RG_FAULT_NO_NANS);
    assert_null(dev);
    assert_non_null(strstr(rg_context_message(ctx), "NaN and inf"));
    rg_context_release(ctx);
}

/* ---- MoltenVK's fast maths ---- */

static PFN_vkEnumerateInstanceExtensionProperties real_extensions;
static PFN_vkCreateInstance real_create_instance;
static uint32_t slowed; /* instances made with fast maths off */

static VKAPI_ATTR VkResult VKAPI_CALL with_settings(const char *layer, uint32_t *n,
                                                    VkExtensionProperties *out) {
    VkResult r = real_extensions(layer, n, out);
    if (layer || r != VK_SUCCESS)
        return r;
    if (out)
        snprintf(out[*n].extensionName, sizeof out->extensionName, "VK_EXT_layer_settings");
    ++*n;
    return r;
}

/* Sees the setting, and hands on what this machine's loader knows. */
static VKAPI_ATTR VkResult VKAPI_CALL create_slow(const VkInstanceCreateInfo *info,
                                                  const VkAllocationCallbacks *a, VkInstance *out) {
    VkInstanceCreateInfo rest = *info;
    const char *names[8];
    rest.enabledExtensionCount = 0;
    rest.ppEnabledExtensionNames = names;
    for (uint32_t k = 0; k < info->enabledExtensionCount; k++)
        if (strcmp(info->ppEnabledExtensionNames[k], "VK_EXT_layer_settings") != 0)
            names[rest.enabledExtensionCount++] = info->ppEnabledExtensionNames[k];
    const VkLayerSettingsCreateInfoEXT *s = info->pNext;
    if (s && s->sType == VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT &&
        rest.enabledExtensionCount + 1 == info->enabledExtensionCount) {
        rest.pNext = s->pNext;
        slowed += s->settingCount == 1 && strcmp(s->pSettings->pLayerName, "MoltenVK") == 0 &&
                  strcmp(s->pSettings->pSettingName, "MVK_CONFIG_FAST_MATH_ENABLED") == 0 &&
                  s->pSettings->type == VK_LAYER_SETTING_TYPE_UINT32_EXT &&
                  s->pSettings->valueCount == 1 && *(const uint32_t *)s->pSettings->pValues == 0;
    }
    return real_create_instance(&rest, a, out);
}

static void wrap_settings(rg_vk_api *api) {
    real_extensions = api->EnumerateInstanceExtensionProperties;
    real_create_instance = api->CreateInstance;
    api->EnumerateInstanceExtensionProperties = with_settings;
    api->CreateInstance = create_slow;
}

static void fast_maths(void **state) {
    (void)state;
    need_device();
    rg_vk_wrap_global = wrap_settings;
    slowed = 0;
    rg_context *ctx = context(cache);
    rg_device *dev = open_mode(ctx, NULL, NULL);
    rg_vk_wrap_global = NULL;
    assert_true(slowed > 0);
    quiet(dev);
    rg_device_release(dev);
    rg_context_release(ctx);
}

/* ---- drivers that fail ---- */

static int fail_after; /* calls that still succeed */
static PFN_vkAllocateMemory real_allocate;
static PFN_vkQueueSubmit real_submit;

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice d, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *a,
                                               VkDeviceMemory *out) {
    if (fail_after-- <= 0)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return real_allocate(d, info, a, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue q, uint32_t n, const VkSubmitInfo *info,
                                             VkFence fence) {
    if (fail_after-- <= 0)
        return VK_ERROR_DEVICE_LOST;
    return real_submit(q, n, info, fence);
}

static void failing_driver(void **state) {
    (void)state;
    need_device();
    rg_context *ctx = context(cache);
    rg_device *dev = open_mode(ctx, NULL, NULL);
    rg_vk *v = dev->state;
    real_allocate = v->vk->AllocateMemory;
    v->vk->AllocateMemory = allocate;
    fail_after = 0;
    rg_array *a = NULL;
    int64_t big = 300 << 20;
    assert_int_equal(rg_array_new(dev, RG_DTYPE_U8, 1, &big, false, &a), RG_ERROR_MEMORY);
    assert_non_null(strstr(rg_context_message(ctx), "out of device memory"));
    fail_after = 1 << 30; /* and it goes on */
    outcome o;
    battery(ctx, dev, &o);
    same(&o, right());
    int64_t huge = INT64_MAX / 8;
    assert_int_equal(rg_array_new(dev, RG_DTYPE_U8, 1, &huge, false, &a), RG_ERROR_MEMORY);

    real_submit = v->vk->QueueSubmit;
    v->vk->QueueSubmit = submit;
    fail_after = 0;
    float x[4] = {1, 2, 3, 4};
    rg_module *m = module(ctx, dev,
                          "void f(int n, float x[n]) {\n"
                          "#pragma omp parallel for\n"
                          "for (int i = 0; i < n; i++) x[i] += 1; }\n");
    int64_t four = 4;
    int32_t n = 4;
    OK(ctx, rg_array_new(dev, RG_DTYPE_F32, 1, &four, false, &a));
    OK(ctx, rg_launch(kernel(ctx, m, "f"), (rg_arg[]){RG_VALUE(n), RG_ARRAY(a)}, 2));
    assert_int_equal(rg_sync(dev), RG_ERROR_DEVICE);
    assert_non_null(strstr(rg_context_message(ctx), "lost"));
    assert_int_equal(rg_array_read(a, RG_DATA, x, sizeof x), RG_ERROR_DEVICE);
    rg_sync(dev);
    assert_int_equal(rg_launch(kernel(ctx, m, "f"), (rg_arg[]){RG_VALUE(n), RG_ARRAY(a)}, 2),
                     RG_ERROR_DEVICE);
    rg_array_release(a);
    rg_module_release(m);
    rg_device_release(dev);
    /* Another device of the same process is not touched by that. */
    dev = open_mode(ctx, NULL, NULL);
    battery(ctx, dev, &o);
    same(&o, right());
    rg_device_release(dev);
    rg_context_release(ctx);
}

/* Each allocation of the driver's memory fails in turn, from opening on. */
static void wrap_allocate(rg_vk_api *api) {
    real_allocate = api->AllocateMemory;
    api->AllocateMemory = allocate;
}

static void no_memory(void **state) {
    (void)state;
    need_device();
    for (int k = 0; k < 3; k++) {
        rg_context *ctx = context("");
        rg_device *dev = NULL;
        rg_vk_wrap = wrap_allocate;
        fail_after = k;
        rg_status s = rg_device_open(ctx, "vulkan", NULL, &dev);
        assert_int_equal(s, RG_ERROR_MEMORY);
        assert_true(strlen(rg_context_message(ctx)) > 0);
        rg_vk_wrap = NULL;
        rg_context_release(ctx);
    }
}

/* ---- */

static int setup(void **state) {
    (void)state;
    snprintf(cache, sizeof cache, "/tmp/rg-vulkan-%ld", (long)getpid());
    set("RETROGRAD_VULKAN_VALIDATION", "1");
    present = rg_vk_count() != 0;
    if (present) {
        /* The layers may be missing: the tests then run without them. What else may be wrong with
         * the device is for the tests to find. */
        rg_context *ctx = context(cache);
        rg_device *dev = NULL;
        if (rg_device_open(ctx, "vulkan", NULL, &dev) != RG_OK &&
            strstr(rg_context_message(ctx), "there is no VK_LAYER")) {
            fprintf(stderr, "no validation layer\n");
            set("RETROGRAD_VULKAN_VALIDATION", NULL);
        }
        rg_device_release(dev);
        rg_context_release(ctx);
    } else {
        fprintf(stderr, "skip: there is no Vulkan driver\n");
    }
    return 0;
}

static int teardown(void **state) {
    (void)state;
    rg_context *ctx = context(cache);
    rg_cache_clear(ctx, NULL);
    rg_context_release(ctx);
    rmdir(cache);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),      cmocka_unit_test(arrays),         cmocka_unit_test(launches),
        cmocka_unit_test(modes),      cmocka_unit_test(lanes),          cmocka_unit_test(steady),
        cmocka_unit_test(faults),     cmocka_unit_test(failing_driver), cmocka_unit_test(no_memory),
        cmocka_unit_test(long_loops), cmocka_unit_test(fast_maths),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

#else
int main(void) {
    return 0; /* this build has no Vulkan */
}
#endif
