/* The compiler without a C compiler: from a text to its adjoint as C; and what a launch costs. */
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 9 };

static bool once(rg_context *ctx, const char *path, const char *kernel, double *seconds,
                 bench_compile *out) {
    rg_module *m = NULL;
    rg_kernel *k;
    char *text = NULL;
    rg_emit_options o = {.size = sizeof o, .mode = RG_MODE_ADJOINT, .target = RG_TARGET_C};
    double start = bench_clock(1);
    bool ok = rg_module_load_host(ctx, path, NULL, &m) == RG_OK &&
              rg_module_kernel(m, kernel, &k) == RG_OK && rg_kernel_emit(k, &o, &text) == RG_OK;
    *seconds = bench_clock(1) - start;
    if (!ok)
        snprintf(out->failed, sizeof out->failed, "%.390s", rg_context_message(ctx));
    rg_free(ctx, text);
    rg_module_release(m);
    return ok;
}

static void repeat(rg_context *ctx, const char *path, const char *kernel, size_t n,
                   bench_compile *out) {
    double t[ROUNDS];
    for (size_t i = 0; i < n; i++)
        if (!once(ctx, path, kernel, &t[i], out))
            return;
    out->median = bench_median(t, n);
    out->seconds = t[0];
}

void bench_compile_springs(rg_context *ctx, const char *dir, bench_compile *out) {
    char path[1024];
    memset(out, 0, sizeof *out);
    snprintf(path, sizeof path, "%s/kernels/springs.c", dir);
    repeat(ctx, path, "energy", ROUNDS, out);
}

/* A kernel of n statements: arithmetic on a few locals, loads, an `if` and a loop now and then. */
static void generate(FILE *f, size_t n) {
    fprintf(f, "#include <math.h>\n"
               "void generated(int n, float k, const float x[n], const float w[64], float y[n])\n"
               "{\n"
               "    #pragma omp parallel for\n"
               "    for (int i = 0; i < n; i++) {\n"
               "        float a = x[i], b = k, c = 1.0f, d = 0.5f;\n");
    for (size_t s = 4; s + 1 < n;) {
        unsigned q = (unsigned)(s * 2654435761u >> 7);
        switch (s % 16) {
        case 3:
            fprintf(f, "        d = sinf(a) * b + %u.5f;\n", q % 7);
            s++;
            break;
        case 7:
            fprintf(f,
                    "        if (a > %u.0f) {\n            b = b * c + d;\n        } else {\n"
                    "            c = c - a * 0.25f;\n        }\n",
                    q % 5);
            s += 3;
            break;
        case 12:
            fprintf(f,
                    "        for (int j = 0; j < %u; j++) {\n"
                    "            a = a * 0.5f + w[j] * b;\n        }\n",
                    3 + q % 5);
            s += 2;
            break;
        case 15:
            fprintf(f, "        float t%zu = a * b - c / (1.0f + d * d);\n        a = t%zu;\n", s,
                    s);
            s += 2;
            break;
        default: {
            const char *v = "abcd";
            fprintf(f, "        %c = %c * 0.75f + %c * w[%u];\n", v[q % 4], v[q / 4 % 4],
                    v[q / 16 % 4], q / 64 % 64);
            s++;
        }
        }
    }
    fprintf(f, "        y[i] = a + b + c + d;\n    }\n}\n");
}

void bench_compile_generated(rg_context *ctx, size_t statements, bench_compile *out) {
    char path[] = "/tmp/retrograd-bench-XXXXXX.c";
    memset(out, 0, sizeof *out);
    out->statements = statements;
    int fd = mkstemps(path, 2);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        snprintf(out->failed, sizeof out->failed, "cannot write %s", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    generate(f, statements);
    fclose(f);
    repeat(ctx, path, "generated", statements > 2000 ? 3 : ROUNDS, out);
    if (!getenv("RETROGRAD_BENCH_KEEP"))
        unlink(path);
}

/* ---- launches ---- */

enum { BATCHES = 15, LAUNCHES = 2000, N = 16 };

void bench_measure_launches(rg_context *ctx, rg_device *dev, const char *dir, bench_launches *out) {
    rg_module *m = NULL;
    rg_kernel *k = NULL;
    rg_array *x = NULL, *y = NULL;
    char path[1024];
    int n = N;
    float a = 2.0f;
    const int64_t shape = N;
    memset(out, 0, sizeof *out);
    out->launch = out->record_backward = INFINITY;
    snprintf(path, sizeof path, "%s/kernels/small.c", dir);
    bool ok = rg_module_load(dev, path, NULL, &m) == RG_OK &&
              rg_module_kernel(m, "small", &k) == RG_OK &&
              rg_array_new(dev, RG_DTYPE_F32, 1, &shape, true, &x) == RG_OK &&
              rg_array_new(dev, RG_DTYPE_F32, 1, &shape, true, &y) == RG_OK;
    const rg_arg args[] = {RG_VALUE(n), RG_VALUE(a), RG_ARRAY(x), RG_ARRAY(y)};
    for (int b = 0; ok && b < BATCHES; b++) {
        double start = bench_now();
        for (int i = 0; ok && i < LAUNCHES; i++)
            ok = rg_launch(k, args, 4) == RG_OK;
        ok = ok && rg_sync(dev) == RG_OK;
        double middle = bench_now();
        for (int i = 0; ok && i < LAUNCHES; i++) {
            rg_record *r = NULL;
            ok = rg_record_launch(k, args, 4, &r) == RG_OK && rg_backward(r) == RG_OK;
            rg_record_release(r);
        }
        ok = ok && rg_sync(dev) == RG_OK;
        double end = bench_now();
        if (ok && b) { /* the first one compiles */
            out->launch = fmin(out->launch, (middle - start) / LAUNCHES);
            out->record_backward = fmin(out->record_backward, (end - middle) / LAUNCHES);
        }
    }
    if (!ok)
        snprintf(out->failed, sizeof out->failed, "%.390s", rg_context_message(ctx));
    rg_array_release(x);
    rg_array_release(y);
    rg_module_release(m);
}
