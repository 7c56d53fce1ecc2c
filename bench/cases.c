/* The cases: sizes and values of the arguments, the work that an adjoint cannot do without, and
 * calls of the kernel built by the C compiler and of the adjoint written by hand. */
#include "bench.h"
#include "hand/hand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kernels' own files, built by the C compiler. */
void axsin(int n, float a, const float *x, float *y);
void energy(int n, int m, const hand_vec3 *pos, const int (*ends)[2], const float *rest, float k,
            float *e);
void heat(int h, int w, float c, const float *u, float *v);
void forces(int n, float eps, const float *m, const float *p, float *f);
void matvec(int n, int m, const float *a, const float *x, float *y);
void gmm(int n, const double *alphas, const double *means, const double *icf, const double *x,
         double gamma, double mass, double constant, double *err);
void lstm(int s, int t, const double *w, const double *io, const double *x, double *loss);
void least_squares(int n, int m, const float *a, const float *b, const float *x, float *loss);
void logsumexp(int n, const double *x, double *y);

/* ---- making arguments ---- */

static uint64_t state;

static double uniform(double lo, double hi) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

static void add_int(bench_problem *p, int v) {
    p->arg[p->n++] = (bench_arg){.kind = BENCH_INT, .i = v};
}

static bool add_f32(bench_problem *p, float v, bool active) {
    bench_arg *a = &p->arg[p->n++];
    *a = (bench_arg){.kind = BENCH_F32, .f = v, .active = active, .count = 1};
    a->grad = active ? calloc(1, 64) : NULL;
    return !active || a->grad;
}

static void add_f64(bench_problem *p, double v) {
    p->arg[p->n++] = (bench_arg){.kind = BENCH_F64, .d = v};
}

static void *zeroed(size_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    void *at = aligned_alloc(64, bytes ? bytes : 64);
    return at ? memset(at, 0, bytes ? bytes : 64) : NULL;
}

enum { PLAIN = 0, ACTIVE = 1, OUTPUT = 2 };

/* fields: scalars in an element. d1, d2: further axes, 0 for none. */
static bench_arg *add_array(bench_problem *p, rg_dtype dtype, size_t fields, int role, int64_t d0,
                            int64_t d1, int64_t d2) {
    bench_arg *a = &p->arg[p->n++];
    size_t scalar = dtype == RG_DTYPE_F64 ? sizeof(double) : sizeof(float);
    *a = (bench_arg){.kind = BENCH_ARRAY,
                     .dtype = fields > 1 ? RG_DTYPE_STRUCT : dtype,
                     .item = fields * scalar,
                     .rank = 1u + (d1 > 0) + (d2 > 0),
                     .shape = {d0, d1, d2},
                     .active = role != PLAIN,
                     .output = role == OUTPUT};
    a->count = (size_t)d0 * (size_t)(d1 ? d1 : 1) * (size_t)(d2 ? d2 : 1) * fields;
    a->data = zeroed(a->count * scalar);
    a->grad = a->active ? zeroed(a->count * scalar) : NULL;
    return a->data && (!a->active || a->grad) ? a : NULL;
}

static bool fill_f32(bench_arg *a, double lo, double hi) {
    for (size_t i = 0; a && i < a->count; i++)
        ((float *)a->data)[i] = (float)uniform(lo, hi);
    return a != NULL;
}

static bool fill_f64(bench_arg *a, double lo, double hi) {
    for (size_t i = 0; a && i < a->count; i++)
        ((double *)a->data)[i] = uniform(lo, hi);
    return a != NULL;
}

void bench_problem_free(bench_problem *p) {
    for (size_t i = 0; i < p->n; i++) {
        free(p->arg[i].data);
        free(p->arg[i].grad);
    }
    memset(p, 0, sizeof *p);
}

void bench_seed(bench_problem *p) {
    for (size_t i = 0; i < p->n; i++) {
        bench_arg *a = &p->arg[i];
        if (!a->output)
            continue;
        for (size_t k = 0; k < a->count; k++) {
            double v = 1.0 + 0.125 * (double)(k & 7);
            if (a->item == sizeof(double) && a->dtype == RG_DTYPE_F64)
                ((double *)a->grad)[k] = v;
            else
                ((float *)a->grad)[k] = (float)v;
        }
    }
}

#define DATA(k) (p->arg[k].data)
#define GRAD(k) (p->arg[k].grad)
#define INT(k) (p->arg[k].i)

/* ---- y = a x + sin x ---- */

static bool axsin_make(bench_problem *p) {
    int n = 1 << 20;
    add_int(p, n);
    return add_f32(p, 1.25f, true) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, n, 0, 0), -3.0, 3.0) &&
           add_array(p, RG_DTYPE_F32, 1, OUTPUT, n, 0, 0);
}

static void axsin_primal(bench_problem *p) {
    axsin(INT(0), p->arg[1].f, DATA(2), DATA(3));
}

static void axsin_hand(bench_problem *p) {
    axsin_adjoint(INT(0), p->arg[1].f, GRAD(1), DATA(2), GRAD(2), GRAD(3));
}

static void axsin_work(const bench_problem *p, bench_work *w) {
    double n = INT(0);
    w->bytes = 20.0 * n; /* x, x_b both ways, y_b both ways */
    w->f32 = 6.0 * n;
    w->sinf_ = n;
}

/* ---- springs: a square mesh with diagonals ---- */

static bool springs_make(bench_problem *p) {
    int side = 256, n = side * side, m = 3 * side * (side - 1) - (side - 1);
    add_int(p, n);
    add_int(p, m);
    bench_arg *pos = add_array(p, RG_DTYPE_F32, 3, ACTIVE, n, 0, 0);
    bench_arg *ends = add_array(p, RG_DTYPE_I32, 1, PLAIN, m, 2, 0);
    bench_arg *rest = add_array(p, RG_DTYPE_F32, 1, ACTIVE, m, 0, 0);
    bool ok = add_f32(p, 2.5f, true);
    bench_arg *e = add_array(p, RG_DTYPE_F32, 1, OUTPUT, 1, 0, 0);
    if (!pos || !ends || !fill_f32(rest, 0.8, 1.2) || !ok || !e)
        return false;
    float *x = pos->data;
    int *end = ends->data, s = 0;
    for (int i = 0; i < n; i++) {
        x[3 * i] = (float)(i % side + uniform(-0.2, 0.2));
        x[3 * i + 1] = (float)(i / side + uniform(-0.2, 0.2));
        x[3 * i + 2] = (float)uniform(-0.2, 0.2);
    }
    for (int i = 0; i < n; i++) {
        int right = i % side + 1 < side, down = i / side + 1 < side;
        const int to[3] = {right ? i + 1 : 0, down ? i + side : 0,
                           right && down ? i + side + 1 : 0};
        for (int k = 0; k < 3; k++)
            if (to[k]) {
                end[2 * s] = i;
                end[2 * s++ + 1] = to[k];
            }
    }
    return s == m;
}

static void springs_primal(bench_problem *p) {
    energy(INT(0), INT(1), DATA(2), DATA(3), DATA(4), p->arg[5].f, DATA(6));
}

static void springs_hand(bench_problem *p) {
    energy_adjoint(INT(0), INT(1), DATA(2), GRAD(2), DATA(3), DATA(4), GRAD(4), p->arg[5].f,
                   GRAD(5), GRAD(6));
}

static void springs_work(const bench_problem *p, bench_work *w) {
    double n = INT(0), m = INT(1);
    w->bytes = 36.0 * n + 20.0 * m;
    w->f32 = 26.0 * m;
    w->div32 = m;
}

/* ---- heat ---- */

static bool heat_make(bench_problem *p) {
    int h = 1024, w = 1024;
    add_int(p, h);
    add_int(p, w);
    return add_f32(p, 0.2f, false) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, h, w, 0), 0.0, 1.0) &&
           add_array(p, RG_DTYPE_F32, 1, OUTPUT, h, w, 0);
}

static void heat_primal(bench_problem *p) {
    heat(INT(0), INT(1), p->arg[2].f, DATA(3), DATA(4));
}

static void heat_hand(bench_problem *p) {
    heat_adjoint(INT(0), INT(1), p->arg[2].f, GRAD(3), GRAD(4));
}

static void heat_work(const bench_problem *p, bench_work *w) {
    double n = (double)INT(0) * INT(1);
    w->bytes = 16.0 * n; /* u_b and v_b, both ways */
    w->f32 = 8.0 * n;
}

/* ---- n-body ---- */

static bool nbody_make(bench_problem *p) {
    int n = 2048;
    add_int(p, n);
    return add_f32(p, 0.01f, false) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, PLAIN, n, 0, 0), 0.5, 1.5) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, 3, n, 0), -1.0, 1.0) &&
           add_array(p, RG_DTYPE_F32, 1, OUTPUT, 3, n, 0);
}

static void nbody_primal(bench_problem *p) {
    forces(INT(0), p->arg[1].f, DATA(2), DATA(3), DATA(4));
}

static void nbody_hand(bench_problem *p) {
    forces_adjoint(INT(0), p->arg[1].f, DATA(2), DATA(3), GRAD(3), GRAD(4));
}

static void nbody_work(const bench_problem *p, bench_work *w) {
    double pairs = (double)INT(0) * INT(0);
    w->f32 = 41.0 * pairs;
    w->div32 = pairs;
}

/* ---- matrix times vector ---- */

static bool matvec_make(bench_problem *p) {
    int n = 2048, m = 1024;
    add_int(p, n);
    add_int(p, m);
    return fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, n, m, 0), -1.0, 1.0) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, m, 0, 0), -1.0, 1.0) &&
           add_array(p, RG_DTYPE_F32, 1, OUTPUT, n, 0, 0);
}

static void matvec_primal(bench_problem *p) {
    matvec(INT(0), INT(1), DATA(2), DATA(3), DATA(4));
}

static void matvec_hand(bench_problem *p) {
    matvec_adjoint(INT(0), INT(1), DATA(2), GRAD(2), DATA(3), GRAD(3), GRAD(4));
}

static void matvec_work(const bench_problem *p, bench_work *w) {
    double n = (double)INT(0) * INT(1);
    w->bytes = 12.0 * n;
    w->f32 = 4.0 * n;
}

/* ---- Gaussian mixture ---- */

enum { GMM_D = 10, GMM_K = 25, GMM_ROW = GMM_D + GMM_D * (GMM_D - 1) / 2 };

static bool gmm_make(bench_problem *p) {
    int n = 10000, mass = 0;
    double gamma = 1.0, pi = acos(-1.0), half = 0.5 * (GMM_D + mass + 1);
    double constant = -0.5 * n * GMM_D * log(2.0 * pi);
    double prior =
        2.0 * half * GMM_D * (log(gamma) - 0.5 * log(2.0)) - 0.25 * GMM_D * (GMM_D - 1) * log(pi);
    for (int j = 1; j <= GMM_D; j++)
        prior -= lgamma(half + 0.5 * (1 - j));
    add_int(p, n);
    bool ok = fill_f64(add_array(p, RG_DTYPE_F64, 1, ACTIVE, GMM_K, 0, 0), -1.0, 1.0) &&
              fill_f64(add_array(p, RG_DTYPE_F64, 1, ACTIVE, GMM_K, GMM_D, 0), 0.0, 1.0) &&
              fill_f64(add_array(p, RG_DTYPE_F64, 1, ACTIVE, GMM_K, GMM_ROW, 0), -0.5, 0.5) &&
              fill_f64(add_array(p, RG_DTYPE_F64, 1, PLAIN, n, GMM_D, 0), 0.0, 1.0);
    add_f64(p, gamma);
    add_f64(p, mass);
    add_f64(p, constant - GMM_K * prior);
    return ok && add_array(p, RG_DTYPE_F64, 1, OUTPUT, 1, 0, 0);
}

static void gmm_primal(bench_problem *p) {
    gmm(INT(0), DATA(1), DATA(2), DATA(3), DATA(4), p->arg[5].d, p->arg[6].d, p->arg[7].d, DATA(8));
}

static void gmm_hand(bench_problem *p) {
    gmm_adjoint(INT(0), DATA(1), GRAD(1), DATA(2), GRAD(2), DATA(3), GRAD(3), DATA(4), p->arg[5].d,
                p->arg[6].d, GRAD(8));
}

static void gmm_work(const bench_problem *p, bench_work *w) {
    double terms = (double)INT(0) * GMM_K, tri = GMM_ROW - GMM_D;
    w->bytes = 8.0 * INT(0) * GMM_D;
    w->f64 = terms * (6.0 * tri + 12.0 * GMM_D);
    w->exp_ = terms;
}

/* ---- LSTM ---- */

enum { LSTM_L = 2, LSTM_H = 14 };

static bool lstm_make(bench_problem *p) {
    int s = 8, t = 256;
    add_int(p, s);
    add_int(p, t);
    return fill_f64(add_array(p, RG_DTYPE_F64, 1, ACTIVE, LSTM_L, 8, LSTM_H), -1.0, 1.0) &&
           fill_f64(add_array(p, RG_DTYPE_F64, 1, ACTIVE, 3, LSTM_H, 0), -1.0, 1.0) &&
           fill_f64(add_array(p, RG_DTYPE_F64, 1, PLAIN, s, t + 1, LSTM_H), 0.0, 1.0) &&
           add_array(p, RG_DTYPE_F64, 1, OUTPUT, 1, 0, 0);
}

static void lstm_primal(bench_problem *p) {
    lstm(INT(0), INT(1), DATA(2), DATA(3), DATA(4), DATA(5));
}

static void lstm_hand(bench_problem *p) {
    lstm_adjoint(INT(0), INT(1), DATA(2), GRAD(2), DATA(3), GRAD(3), DATA(4), GRAD(5));
}

static void lstm_work(const bench_problem *p, bench_work *w) {
    double steps = (double)INT(0) * INT(1), cells = steps * LSTM_L * LSTM_H;
    w->bytes = 16.0 * steps * LSTM_H;
    w->exp_ = 3.0 * cells + steps * LSTM_H;
    w->tanh_ = 2.0 * cells;
    w->f64 = 60.0 * cells;
}

/* ---- least squares ---- */

static bool least_squares_make(bench_problem *p) {
    int n = 2048, m = 512;
    add_int(p, n);
    add_int(p, m);
    return fill_f32(add_array(p, RG_DTYPE_F32, 1, PLAIN, n, m, 0), -1.0, 1.0) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, PLAIN, n, 0, 0), -1.0, 1.0) &&
           fill_f32(add_array(p, RG_DTYPE_F32, 1, ACTIVE, m, 0, 0), -1.0, 1.0) &&
           add_array(p, RG_DTYPE_F32, 1, OUTPUT, 1, 0, 0);
}

static void least_squares_primal(bench_problem *p) {
    least_squares(INT(0), INT(1), DATA(2), DATA(3), DATA(4), DATA(5));
}

static void least_squares_hand(bench_problem *p) {
    least_squares_adjoint(INT(0), INT(1), DATA(2), DATA(3), DATA(4), GRAD(4), GRAD(5));
}

static void least_squares_work(const bench_problem *p, bench_work *w) {
    double n = (double)INT(0) * INT(1);
    w->bytes = 4.0 * n;
    w->f32 = 4.0 * n;
}

/* ---- log-sum-exp ---- */

static bool logsumexp_make(bench_problem *p) {
    int n = 1 << 20;
    add_int(p, n);
    bench_arg *x = add_array(p, RG_DTYPE_F64, 1, ACTIVE, n, 0, 0);
    if (!fill_f64(x, -4.0, 4.0))
        return false;
    logsumexp_keep(n, x->data, p->kept);
    return add_array(p, RG_DTYPE_F64, 1, OUTPUT, 1, 0, 0);
}

static void logsumexp_primal(bench_problem *p) {
    logsumexp(INT(0), DATA(1), DATA(2));
}

static void logsumexp_hand(bench_problem *p) {
    logsumexp_adjoint(INT(0), DATA(1), GRAD(1), GRAD(2), p->kept);
}

static void logsumexp_work(const bench_problem *p, bench_work *w) {
    double n = INT(0);
    w->bytes = 24.0 * n;
    w->f64 = 3.0 * n;
    w->exp_ = n;
}

#define CASE(id, file, kernel, literature, what)                                                   \
    { #id, file, kernel, what, literature, id##_make, id##_primal, id##_hand, id##_work }

const bench_case bench_cases[] = {
    CASE(axsin, "axsin.c", "axsin", 0, "y = a x + sin x, 1M float, x and a active"),
    CASE(springs, "springs.c", "energy", 0, "spring energy, 65,536 points, 195,585 springs, float"),
    CASE(heat, "heat.c", "heat", 0, "heat stencil step, 1024 x 1024 float"),
    CASE(nbody, "nbody.c", "forces", 0, "n-body forces, 2,048 bodies, float"),
    CASE(matvec, "matvec.c", "matvec", 0, "matrix-vector, 2048 x 1024 float, both active"),
    CASE(gmm, "gmm.c", "gmm", 1.87, "Gaussian mixture, d=10 k=25, 10,000 points, double"),
    CASE(lstm, "lstm.c", "lstm", 3.5,
         "LSTM cells, 2 layers of 14, 8 sequences of 256 steps, double"),
    CASE(least_squares, "least_squares.c", "least_squares", 2.0,
         "linear least squares, 2048 x 512 float"),
    CASE(logsumexp, "logsumexp.c", "logsumexp", 0.8, "log-sum-exp, 1M double"),
};
const size_t bench_n_cases = sizeof bench_cases / sizeof *bench_cases;
