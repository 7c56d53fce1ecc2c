/* The benchmark's parts: cases.c says what is run, measure.c times it against the hand-written
 * adjoints, peaks.c measures what the machine can do, compile.c times the compiler and launches,
 * bench.c drives and prints. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "retrograd.h"

#include <stddef.h>
#include <stdio.h>

double bench_now(void); /* seconds on the wall */
/* Seconds, for one thread or several: one thread's work is timed by the processor time of the
 * process, which leaves out when others had the core; that of several by the wall, waiting
 * included. */
double bench_clock(int threads);
/* Keeps a result alive that nobody else uses. */
void bench_use(double v);

/* ---- what the machine can do, with a number of threads ---- */

typedef struct bench_peaks {
    double copy;                      /* bytes a second, read plus written */
    double f32, f64;                  /* vector additions and multiplications a second */
    double div32;                     /* vector pairs of 1 / x and sqrt a second, float */
    double sinf_, expf_, exp_, tanh_; /* calls of the C library a second */
} bench_peaks;

void bench_measure_peaks(int threads, bench_peaks *out);

/* Work that an adjoint cannot do without. */
typedef struct bench_work {
    double bytes, f32, f64, div32, sinf_, expf_, exp_, tanh_;
} bench_work;

/* Seconds: the larger of traffic over bandwidth and operations over their peaks. */
double bench_floor(const bench_work *w, const bench_peaks *p);

/* ---- cases ---- */

typedef enum bench_kind { BENCH_INT, BENCH_F32, BENCH_F64, BENCH_ARRAY } bench_kind;

typedef struct bench_arg {
    bench_kind kind;
    int32_t i;
    float f;
    double d;
    rg_dtype dtype; /* arrays: of an element; RG_DTYPE_STRUCT: floats in a struct */
    size_t item;
    size_t rank;
    int64_t shape[3];
    size_t count; /* scalars of type float, double or int in all: struct fields are counted */
    bool active;  /* has a gradient (an array or a scalar) */
    bool output;  /* its cotangent is set before each backward launch */
    void *data, *grad;
} bench_arg;

enum { BENCH_MAX_ARGS = 10 };

typedef struct bench_problem {
    bench_arg arg[BENCH_MAX_ARGS];
    size_t n;
    double kept[2]; /* what a recorded launch keeps for the hand-written adjoint */
} bench_problem;

typedef struct bench_case {
    const char *name, *file, *kernel, *what;
    /* Gradient over objective as the C compiler builds it, one core; 0: none known. */
    double literature;
    bool (*make)(bench_problem *p);    /* false: out of memory */
    void (*primal)(bench_problem *p);  /* the kernel's file, built by the C compiler */
    void (*adjoint)(bench_problem *p); /* by hand */
    void (*work)(const bench_problem *p, bench_work *w);
} bench_case;

extern const bench_case bench_cases[];
extern const size_t bench_n_cases;

void bench_problem_free(bench_problem *p);
/* Sets the cotangents of outputs. */
void bench_seed(bench_problem *p);

/* ---- timings ---- */

/* Two things timed in turns: the least of each, and the median of the ratios of neighbours. */
typedef struct bench_pair {
    double a, b;   /* least seconds */
    double median; /* of a / b */
} bench_pair;

typedef struct bench_result {
    const bench_case *c;
    int threads;
    bench_pair over_primal; /* adjoint, primal: both Retrograd's */
    bench_pair over_cc;     /* adjoint, the C compiler's primal */
    bench_pair over_hand;   /* adjoint, hand-written adjoint */
    bench_pair primal;      /* primal, the C compiler's primal */
    bench_pair whole;       /* recorded launch and adjoint, primal */
    double floor;           /* seconds */
    double error;           /* largest difference to the hand-written gradient, relative */
    char failed[400];       /* why there is no result; "" */
} bench_result;

/* seconds: time to spend on the case. */
void bench_measure(rg_context *ctx, rg_device *dev, const char *dir, const bench_case *c,
                   int threads, const bench_peaks *peaks, double seconds, bench_result *out);
double bench_median(double *v, size_t n); /* sorts v */

typedef struct bench_compile {
    size_t statements; /* 0: springs.c */
    double seconds, median;
    char failed[400];
} bench_compile;

/* From text to the adjoint as C, no C compiler involved. */
void bench_compile_springs(rg_context *ctx, const char *dir, bench_compile *out);
void bench_compile_generated(rg_context *ctx, size_t statements, bench_compile *out);

typedef struct bench_launches {
    double launch, record_backward; /* seconds each, least of several batches */
    char failed[400];
} bench_launches;

void bench_measure_launches(rg_context *ctx, rg_device *dev, const char *dir, bench_launches *out);

#endif
