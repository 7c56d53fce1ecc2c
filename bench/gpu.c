/* Kernels that fill a graphics card, as fractions of a copy's bytes per second in the same run.
 *
 *     bench_gpu [DEVICE [MEGA]]      DEVICE: vulkan; MEGA: elements in millions (100)
 *
 * The copy is the driver's own from one array to another on the same device, or the kernel
 * y[i] = x[i], whichever is faster. Bytes are those that each kernel must
 * move: every array that it reads once, every array that it writes once, gradients that are added
 * to twice. Times are the least of several rounds of many launches between two rg_sync. */
#include "retrograd.h"

#include "runtime/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char source[] =
    "#include <math.h>\n"
    "typedef struct { float x, y, z; } vec3;\n"
    "void copy(int n, const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) y[i] = x[i];\n"
    "}\n"
    "void axsin(int n, float a, const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) y[i] = a * x[i] + sinf(x[i]);\n"
    "}\n"
    "void heat(int h, int w, float c, const float u[h][w], float v[h][w])\n"
    "{\n"
    "    #pragma omp parallel for collapse(2)\n"
    "    for (int i = 1; i < h - 1; i++)\n"
    "        for (int j = 1; j < w - 1; j++)\n"
    "            v[i][j] = u[i][j] + c * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4.0f * "
    "u[i][j]);\n"
    "}\n"
    "void energy(int n, int m, const vec3 pos[n], const int ends[m][2], const float rest[m], float "
    "k,\n"
    "            float e[1])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int s = 0; s < m; s++) {\n"
    "        vec3 p = pos[ends[s][0]], q = pos[ends[s][1]];\n"
    "        float x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;\n"
    "        float d = sqrtf(x * x + y * y + z * z) - rest[s];\n"
    "        #pragma omp atomic\n"
    "        e[0] += 0.5f * k * d * d;\n"
    "    }\n"
    "}\n"
    "void scale(int n, const float a[1], const float x[n], float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) y[i] = a[0] * x[i];\n"
    "}\n"
    "void tiny(int n, float y[n])\n"
    "{\n"
    "    #pragma omp parallel for\n"
    "    for (int i = 0; i < n; i++) y[i] = 1.0f;\n"
    "}\n";

static rg_context *ctx;
static rg_device *dev;
static rg_module *mod;

static void must(rg_status s, const char *what) {
    if (s == RG_OK)
        return;
    fprintf(stderr, "bench_gpu: %s: %s\n", what, rg_context_message(ctx));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static rg_kernel *kernel(const char *name) {
    rg_kernel *k;
    must(rg_module_kernel(mod, name, &k), name);
    return k;
}

static rg_array *floats(int64_t a, int64_t b, bool gradient) {
    rg_array *x;
    int64_t shape[2] = {a, b};
    must(rg_array_new(dev, RG_DTYPE_F32, b ? 2 : 1, shape, gradient, &x), "array");
    size_t n = rg_array_count(x);
    float *v = malloc(n * sizeof *v);
    if (!v)
        exit(1);
    for (size_t i = 0; i < n; i++)
        v[i] = (float)(i % 1009) * 0.003f - 1.5f;
    must(rg_array_write(x, RG_DATA, v, n * sizeof *v), "write");
    if (gradient)
        must(rg_array_write(x, RG_GRADIENT, v, n * sizeof *v), "write");
    free(v);
    return x;
}

/* Seconds for one: launches when record is false, backward sweeps alone when true. */
static double seconds(rg_kernel *k, const rg_arg *args, size_t n, bool record, int count) {
    double best = 1e30;
    rg_record *r[64];
    for (int round = 0; round < 6; round++) {
        if (record)
            for (int i = 0; i < count; i++)
                must(rg_record_launch(k, args, n, &r[i]), "record");
        must(rg_sync(dev), "sync");
        double t = now();
        for (int i = 0; i < count; i++)
            must(record ? rg_backward(r[i]) : rg_launch(k, args, n),
                 record ? "backward" : "launch");
        must(rg_sync(dev), "sync");
        t = (now() - t) / count;
        if (round && t < best)
            best = t;
        if (record)
            for (int i = 0; i < count; i++)
                rg_record_release(r[i]);
    }
    return best;
}

/* The device's own copy, as fast as it can. */
static double copy_seconds(rg_array *to, rg_array *from) {
    size_t bytes = rg_array_count(to) * sizeof(float);
    double best = 1e30;
    for (int round = 0; round < 6; round++) {
        must(rg_sync(dev), "sync");
        double t = now();
        for (int i = 0; i < 20; i++)
            must(dev->ops->copy(dev, rg_array_data(to), rg_array_data(from), bytes), "copy");
        must(rg_sync(dev), "sync");
        t = (now() - t) / 20;
        if (round && t < best)
            best = t;
    }
    return best;
}

static double copy_rate;

static void row(const char *name, double s, double bytes, double target) {
    double share = bytes / s / copy_rate;
    printf("| %s | %.3f | %.0f | %.2f | %s |\n", name, s * 1e3, bytes / s * 1e-9, share,
           target > 0 ? (share >= target ? "PASS" : "below target") : "");
    fflush(stdout);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "vulkan";
    int n = (int)((argc > 2 ? atof(argv[2]) : 100) * 1e6);
    must(rg_context_new(NULL, &ctx), "context");
    must(rg_device_open(ctx, device, NULL, &dev), "device");
    must(rg_module_compile(dev, "bench_gpu.c", source, strlen(source), NULL, &mod), "compile");
    printf("device %s, %d elements\n\n| case | ms | GB/s | of copy | |\n| --- | --- | --- | --- | "
           "--- |\n",
           device, n);
    float a = 1.5f, c = 0.1f, k = 2;
    const double N = 4.0 * n;
    rg_array *x = floats(n, 0, true), *y = floats(n, 0, true), *g1 = floats(1, 0, false);
    int64_t one = 1;
    rg_array *plain_x = floats(n, 0, false), *plain_y = floats(n, 0, false);
    {
        rg_arg args[] = {RG_VALUE(n), RG_ARRAY(plain_x), RG_ARRAY(plain_y)};
        double driver = copy_seconds(plain_y, plain_x);
        double ours = seconds(kernel("copy"), args, 3, false, 20);
        copy_rate = 2 * N / (driver < ours ? driver : ours);
        row("copy by the driver", driver, 2 * N, 0);
        row("copy y = x", ours, 2 * N, 0);
    }
    {
        rg_arg args[] = {RG_VALUE(n), RG_VALUE(a), RG_ARRAY(x), RG_ARRAY(y)};
        row("a*x + sin x, primal", seconds(kernel("axsin"), args, 4, false, 20), 2 * N, 0.85);
        /* reads x, y_b, x_b; writes y_b (cleared) and x_b */
        row("a*x + sin x, adjoint", seconds(kernel("axsin"), args, 4, true, 20), 5 * N, 0.85);
        rg_arg shared[] = {RG_VALUE(n), RG_VALUE_GRAD(a, g1), RG_ARRAY(plain_x), RG_ARRAY(y)};
        row("the same, gradient of a only", seconds(kernel("axsin"), shared, 4, true, 20), 3 * N,
            0.7);
    }
    {
        rg_array *w = floats(1, 0, true);
        rg_arg args[] = {RG_VALUE(n), RG_ARRAY(w), RG_ARRAY(plain_x), RG_ARRAY(y)};
        row("a[0]*x, gradient of a[0]", seconds(kernel("scale"), args, 4, true, 20), 3 * N, 0.7);
        rg_array_release(w);
    }
    rg_array_release(x);
    rg_array_release(y);
    {
        int h = 32, w; /* rows that begin where a line of memory does, as those of most grids do */
        while ((int64_t)(2 * h) * (2 * h) <= n)
            h *= 2;
        w = n / h / 32 * 32;
        double M = 4.0 * h * w;
        rg_array *u = floats(h, w, true), *v = floats(h, w, true);
        rg_arg args[] = {RG_VALUE(h), RG_VALUE(w), RG_VALUE(c), RG_ARRAY(u), RG_ARRAY(v)};
        row("heat step, primal", seconds(kernel("heat"), args, 5, false, 20), 2 * M, 0.85);
        row("heat step, adjoint", seconds(kernel("heat"), args, 5, true, 20), 4 * M, 0.85);
        rg_array_release(u);
        rg_array_release(v);
    }
    {
        int m = n / 4, points = n / 16;
        rg_kernel *e = kernel("energy");
        rg_array *pos, *ends, *rest = floats(m, 0, false), *out;
        int64_t np = points, shape[2] = {m, 2};
        must(rg_array_for(e, 2, 1, &np, true, &pos), "array");
        must(rg_array_new(dev, RG_DTYPE_I32, 2, shape, false, &ends), "array");
        must(rg_array_new(dev, RG_DTYPE_F32, 1, &one, true, &out), "array");
        int *v = malloc((size_t)m * 8);
        float *p = malloc((size_t)points * 12);
        if (!v || !p)
            return 1;
        for (int i = 0; i < m; i++) { /* neighbours along a line, as a mesh in good order has */
            v[2 * i] = (int)((int64_t)i * points / m);
            v[2 * i + 1] = (v[2 * i] + 1 + i % 37) % points;
        }
        for (int i = 0; i < 3 * points; i++)
            p[i] = (float)(i % 1009) * 0.01f;
        must(rg_array_write(ends, RG_DATA, v, (size_t)m * 8), "write");
        must(rg_array_write(pos, RG_DATA, p, (size_t)points * 12), "write");
        rg_arg args[] = {RG_VALUE(points), RG_VALUE(m), RG_ARRAY(pos), RG_ARRAY(ends),
                         RG_ARRAY(rest),   RG_VALUE(k), RG_ARRAY(out)};
        double M = 12.0 * m + 12.0 * points;
        row("springs energy, primal", seconds(e, args, 7, false, 20), M, 0);
        row("springs energy, adjoint", seconds(e, args, 7, true, 20), M + 24.0 * points, 0);
        free(v);
        free(p);
    }
    {
        int few = 256;
        rg_array *z = floats(few, 0, false);
        rg_arg args[] = {RG_VALUE(few), RG_ARRAY(z)};
        double s = seconds(kernel("tiny"), args, 2, false, 1000);
        printf("\nlaunch, amortised over 1000: %.2f us (target 8) %s\n", s * 1e6,
               s < 8e-6 ? "PASS" : "over target");
        rg_array_release(z);
    }
    rg_array_release(plain_x);
    rg_array_release(plain_y);
    rg_array_release(g1);
    rg_module_release(mod);
    rg_device_release(dev);
    rg_context_release(ctx);
    return 0;
}
