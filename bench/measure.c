/* One case on one device. Retrograd's launches and the hand-written code work on the same memory
 * and take turns, so that a busy machine slows both alike. Each turn is primal, then adjoint: both
 * sides find the caches as their own primal left them. */
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MIN_ROUNDS = 7, MAX_ROUNDS = 400 };
/* Seconds that each side runs its primal before it is timed: a core that slept is slow at first,
 * and the side with the slower primal would be given more time to wake it. */
static const double WARM = 3e-3;

typedef struct session {
    rg_context *ctx;
    rg_device *dev;
    int threads;
    rg_module *module;
    rg_kernel *kernel;
    rg_array *arrays[2 * BENCH_MAX_ARGS];
    size_t n_arrays;
    rg_arg args[BENCH_MAX_ARGS];
} session;

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *v, size_t n) {
    qsort(v, n, sizeof *v, by_value);
    return n ? v[n / 2] : NAN;
}

static bool fail(const session *s, const char *what, bench_result *out) {
    snprintf(out->failed, sizeof out->failed, "%s: %.300s", what, rg_context_message(s->ctx));
    return false;
}

static bool wrap(session *s, bench_problem *p, bench_result *out) {
    const int64_t one = 1;
    for (size_t i = 0; i < p->n; i++) {
        bench_arg *a = &p->arg[i];
        rg_array **at = &s->arrays[s->n_arrays];
        rg_status st = RG_OK;
        switch (a->kind) {
        case BENCH_INT:
            s->args[i] = RG_VALUE(a->i);
            break;
        case BENCH_F32:
            s->args[i] = RG_VALUE(a->f);
            break;
        case BENCH_F64:
            s->args[i] = RG_VALUE(a->d);
            break;
        case BENCH_ARRAY:
            st =
                a->dtype == RG_DTYPE_STRUCT
                    ? rg_array_wrap_struct(s->dev, a->item, a->rank, a->shape, a->data, a->grad, at)
                    : rg_array_wrap(s->dev, a->dtype, a->rank, a->shape, a->data, a->grad, at);
            if (st == RG_OK)
                s->args[i] = RG_ARRAY(*at);
            break;
        }
        if (a->kind == BENCH_F32 && a->active) {
            st = rg_array_wrap(s->dev, RG_DTYPE_F32, 1, &one, a->grad, NULL, at);
            s->args[i].gradient = *at;
        }
        if (st != RG_OK)
            return fail(s, "array", out);
        s->n_arrays += *at != NULL;
    }
    return true;
}

static bool primal(session *s, bench_problem *p, double *seconds, bench_result *out) {
    double start = bench_clock(s->threads);
    if (rg_launch(s->kernel, s->args, p->n) != RG_OK || rg_sync(s->dev) != RG_OK)
        return fail(s, "launch", out);
    *seconds = bench_clock(s->threads) - start;
    return true;
}

/* seconds: of the recorded launch, and of the adjoint. */
static bool adjoint(session *s, bench_problem *p, double *record, double *seconds,
                    bench_result *out) {
    rg_record *r = NULL;
    double start = bench_clock(s->threads);
    if (rg_record_launch(s->kernel, s->args, p->n, &r) != RG_OK || rg_sync(s->dev) != RG_OK) {
        fail(s, "record", out);
        rg_record_release(r);
        return false;
    }
    double middle = bench_clock(s->threads);
    bool ok = rg_backward(r) == RG_OK && rg_sync(s->dev) == RG_OK;
    double end = bench_clock(s->threads);
    *record = middle - start;
    *seconds = end - middle;
    if (!ok)
        fail(s, "backward", out);
    rg_record_release(r);
    return ok;
}

/* ---- the same gradient? ---- */

static void clear_gradients(bench_problem *p) {
    for (size_t i = 0; i < p->n; i++) {
        const bench_arg *a = &p->arg[i];
        size_t scalar = a->kind == BENCH_ARRAY && a->dtype == RG_DTYPE_F64 ? 8 : 4;
        if (a->grad)
            memset(a->grad, 0, a->count * scalar);
    }
}

static double element(const bench_arg *a, const void *at, size_t k) {
    return a->kind == BENCH_ARRAY && a->dtype == RG_DTYPE_F64 ? ((const double *)at)[k]
                                                              : (double)((const float *)at)[k];
}

static bool compare(session *s, bench_problem *p, const bench_case *c, bench_result *out) {
    void *mine[BENCH_MAX_ARGS] = {NULL};
    double ignored;
    bool ok = true;
    clear_gradients(p);
    bench_seed(p);
    ok = adjoint(s, p, &ignored, &ignored, out);
    for (size_t i = 0; i < p->n && ok; i++) {
        const bench_arg *a = &p->arg[i];
        size_t bytes = a->count * (a->kind == BENCH_ARRAY && a->dtype == RG_DTYPE_F64 ? 8u : 4u);
        if (!a->grad)
            continue;
        mine[i] = malloc(bytes ? bytes : 1);
        if (mine[i])
            memcpy(mine[i], a->grad, bytes);
        else
            ok = false;
    }
    clear_gradients(p);
    bench_seed(p);
    c->primal(p);
    c->adjoint(p);
    for (size_t i = 0; i < p->n && ok; i++) {
        const bench_arg *a = &p->arg[i];
        double most = 0.0, worst = 0.0;
        for (size_t k = 0; a->grad && k < a->count; k++) {
            double x = element(a, mine[i], k), y = element(a, a->grad, k);
            most = fmax(most, fabs(y));
            worst = isfinite(x) ? fmax(worst, fabs(x - y)) : INFINITY;
        }
        double tolerance = a->dtype == RG_DTYPE_F64 ? 1e-6 : 2e-3;
        double error = worst / (most > 0.0 ? most : 1.0);
        out->error = fmax(out->error, error);
        if (!(error <= tolerance)) {
            snprintf(out->failed, sizeof out->failed,
                     "gradient of argument %zu differs from the hand-written one by %.3g of its "
                     "largest element",
                     i, error);
            ok = false;
        }
    }
    for (size_t i = 0; i < p->n; i++)
        free(mine[i]);
    return ok;
}

/* ---- timing ---- */

/* Threads that spin after their work would take cores from the other side. */
static void rest(int threads) {
    struct timespec t = {0, 3000000};
    if (threads > 1)
        nanosleep(&t, NULL);
}

static double least(const double *v, size_t n) {
    double m = INFINITY;
    for (size_t i = 0; i < n; i++)
        m = fmin(m, v[i]);
    return m;
}

static bench_pair pair(const double *a, const double *b, size_t n) {
    double ratio[MAX_ROUNDS];
    for (size_t i = 0; i < n; i++)
        ratio[i] = a[i] / b[i];
    return (bench_pair){least(a, n), least(b, n), bench_median(ratio, n)};
}

static bool rounds(session *s, bench_problem *p, const bench_case *c, int threads, double seconds,
                   bench_result *out) {
    enum { PRIMAL, ADJOINT, WHOLE, CC, HAND, SERIES };
    static double t[SERIES][MAX_ROUNDS];
    double begin = bench_now(), record, warm;
    size_t n = 0;
    /* Clock speed and caches settle. */
    if (!primal(s, p, &warm, out))
        return false;
    while (n < MAX_ROUNDS && (n < MIN_ROUNDS || bench_now() - begin < seconds)) {
        for (int side = 0; side < 2; side++) {
            bench_seed(p);
            rest(threads);
            if ((side ^ (int)(n & 1)) == 0) {
                double start = bench_now();
                do {
                    if (!primal(s, p, &warm, out))
                        return false;
                } while (bench_now() - start < WARM);
                if (!primal(s, p, &t[PRIMAL][n], out) ||
                    !adjoint(s, p, &record, &t[ADJOINT][n], out))
                    return false;
                t[WHOLE][n] = record + t[ADJOINT][n];
            } else {
                double start = bench_now();
                do {
                    c->primal(p);
                } while (bench_now() - start < WARM);
                start = bench_clock(threads);
                c->primal(p);
                double middle = bench_clock(threads);
                c->adjoint(p);
                t[HAND][n] = bench_clock(threads) - middle;
                t[CC][n] = middle - start;
            }
        }
        n++;
    }
    out->over_primal = pair(t[ADJOINT], t[PRIMAL], n);
    out->over_hand = pair(t[ADJOINT], t[HAND], n);
    out->over_cc = pair(t[ADJOINT], t[CC], n);
    out->primal = pair(t[PRIMAL], t[CC], n);
    out->whole = pair(t[WHOLE], t[PRIMAL], n);
    return true;
}

void bench_measure(rg_context *ctx, rg_device *dev, const char *dir, const bench_case *c,
                   int threads, const bench_peaks *peaks, double seconds, bench_result *out) {
    bench_problem p = {.n = 0};
    bench_work work = {0};
    session s = {.ctx = ctx, .dev = dev, .threads = threads};
    char path[1024];
    memset(out, 0, sizeof *out);
    out->c = c;
    out->threads = threads;
    omp_set_num_threads(threads);
    snprintf(path, sizeof path, "%s/kernels/%s", dir, c->file);
    if (!c->make(&p))
        snprintf(out->failed, sizeof out->failed, "out of memory");
    else if (rg_module_load(dev, path, NULL, &s.module) != RG_OK)
        fail(&s, "load", out);
    else if (rg_module_kernel(s.module, c->kernel, &s.kernel) != RG_OK)
        fail(&s, "kernel", out);
    else if (wrap(&s, &p, out) && compare(&s, &p, c, out)) {
        rounds(&s, &p, c, threads, seconds, out);
        c->work(&p, &work);
        out->floor = bench_floor(&work, peaks);
    }
    for (size_t i = 0; i < s.n_arrays; i++)
        rg_array_release(s.arrays[i]);
    rg_module_release(s.module);
    bench_problem_free(&p);
}
