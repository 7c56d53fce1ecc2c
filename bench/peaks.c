/* What the machine can do, measured with the flags that the kernels are built with: the floor of a
 * benchmark is its traffic or its operations over these. */
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 6, PASSES = 6, LANES = 128 };

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_clock(int threads) {
    struct timespec t;
    clock_gettime(threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile double sink;

void bench_use(double v) {
    sink = v;
}

/* a += b moves as many bytes as it says: what is written was read, so no line is fetched unasked.
 */
static double update_seconds(float *restrict a, const float *restrict b, size_t n) {
    double start = bench_clock(omp_get_max_threads());
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        a[i] += b[i];
    return bench_clock(omp_get_max_threads()) - start;
}

static double copy_seconds(float *restrict a, const float *restrict b, size_t n) {
    double start = bench_clock(omp_get_max_threads());
#pragma omp parallel
    {
        size_t threads = (size_t)omp_get_num_threads(), self = (size_t)omp_get_thread_num();
        size_t lo = n * self / threads, hi = n * (self + 1) / threads;
        memcpy(a + lo, b + lo, (hi - lo) * sizeof *a);
    }
    return bench_clock(omp_get_max_threads()) - start;
}

static double bandwidth(void) {
    double best = 0.0;
    const size_t sizes[] = {1u << 20, 1u << 22};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        float *a = aligned_alloc(64, n * sizeof *a), *b = aligned_alloc(64, n * sizeof *b);
        if (a && b) {
            memset(a, 0, n * sizeof *a);
            memset(b, 0, n * sizeof *b);
            for (int r = 0; r < REPEAT; r++) {
                double rate = 12.0 * (double)n / update_seconds(a, b, n);
                double copy = 8.0 * (double)n / copy_seconds(a, b, n);
                best = fmax(best, fmax(rate, copy));
            }
            bench_use((double)a[n / 2]);
        }
        free(a);
        free(b);
    }
    return best;
}

/* Independent chains of v = v * a + b: LANES of them keep every unit busy. */
#define PEAK(name, type)                                                                           \
    static double name(size_t rounds) {                                                            \
        type sum = 0;                                                                              \
        _Pragma("omp parallel reduction(+ : sum)") {                                               \
            type v[LANES];                                                                         \
            for (int k = 0; k < LANES; k++)                                                        \
                v[k] = (type)k;                                                                    \
            for (size_t r = 0; r < rounds; r++)                                                    \
                _Pragma("omp simd") for (int k = 0; k < LANES; k++) v[k] =                         \
                    v[k] * (type)0.5 + (type)0.25;                                                 \
            for (int k = 0; k < LANES; k++)                                                        \
                sum += v[k];                                                                       \
        }                                                                                          \
        bench_use((double)sum);                                                                    \
        return 2.0 * LANES * (double)rounds;                                                       \
    }
PEAK(peak_f32, float)
PEAK(peak_f64, double)

static double peak_div32(size_t rounds) {
    float sum = 0.0f;
#pragma omp parallel reduction(+ : sum)
    {
        float v[LANES];
        for (int k = 0; k < LANES; k++)
            v[k] = 1.0f + (float)k;
        for (size_t r = 0; r < rounds / 16; r++)
#pragma omp simd
            for (int k = 0; k < LANES; k++)
                v[k] = 1.0f / sqrtf(v[k]);
        for (int k = 0; k < LANES; k++)
            sum += v[k];
    }
    bench_use((double)sum);
    return LANES * (double)(rounds / 16);
}

#define CALLS(name, type, call)                                                                    \
    static double name(size_t rounds) {                                                            \
        type sum = 0;                                                                              \
        _Pragma("omp parallel reduction(+ : sum)") for (size_t r = 0; r < rounds; r++) {           \
            type x = (type)(r & 1023) * (type)-0.005;                                              \
            sum += call(x);                                                                        \
        }                                                                                          \
        bench_use((double)sum);                                                                    \
        return (double)rounds;                                                                     \
    }
CALLS(calls_sinf, float, sinf)
CALLS(calls_expf, float, expf)
CALLS(calls_exp, double, exp)
CALLS(calls_tanh, double, tanh)

/* Units of work a second and thread, times threads: each thread does what f counts. */
static double rate(double (*f)(size_t), size_t rounds, int threads) {
    double best = 0.0;
    for (int r = 0; r < REPEAT; r++) {
        double start = bench_clock(threads), done = f(rounds);
        best = fmax(best, done * threads / (bench_clock(threads) - start));
    }
    return best;
}

void bench_measure_peaks(int threads, bench_peaks *out) {
    memset(out, 0, sizeof *out);
    omp_set_num_threads(threads);
    for (int pass = 0; pass < PASSES; pass++) { /* spread over time: the machine may be busy */
        out->copy = fmax(out->copy, bandwidth());
        out->f32 = fmax(out->f32, rate(peak_f32, 20000, threads));
        out->f64 = fmax(out->f64, rate(peak_f64, 20000, threads));
        out->div32 = fmax(out->div32, rate(peak_div32, 60000, threads));
        out->sinf_ = fmax(out->sinf_, rate(calls_sinf, 100000, threads));
        out->expf_ = fmax(out->expf_, rate(calls_expf, 100000, threads));
        out->exp_ = fmax(out->exp_, rate(calls_exp, 100000, threads));
        out->tanh_ = fmax(out->tanh_, rate(calls_tanh, 50000, threads));
    }
}

/* Units work side by side; calls of the C library use the same ones as arithmetic, and are counted
 * alone. */
double bench_floor(const bench_work *w, const bench_peaks *p) {
    double calls =
        w->sinf_ / p->sinf_ + w->expf_ / p->expf_ + w->exp_ / p->exp_ + w->tanh_ / p->tanh_;
    double arithmetic = fmax(w->f32 / p->f32 + w->f64 / p->f64, w->div32 / p->div32);
    return fmax(w->bytes / p->copy, fmax(arithmetic, calls));
}
