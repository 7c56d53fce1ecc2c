/* Adjoints written by hand: what an expert in C and OpenMP would write for bench/kernels, with the
 * interface and the edge rules of Retrograd's own (docs/edge-rules.md).
 *
 * Each adds to the gradients x_b of its inputs from the cotangents of its outputs and clears the
 * cotangents of elements that the primal overwrote. Sums of the primal keep their order (the flags
 * allow no other, and so does the primal); sums of the adjoint are free to be reordered, so they
 * may be `simd`. Shared parameters have one accumulator for each thread. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <stddef.h>

typedef struct hand_vec3 {
    float x, y, z;
} hand_vec3;

/* Strong zero: c * d, but 0 if c is. */
static inline float zmulf(float c, float d) {
    float r = c * d;
    return c == 0.0f ? 0.0f : r;
}

static inline double zmul(double c, double d) {
    double r = c * d;
    return c == 0.0 ? 0.0 : r;
}

/* Memory that is kept between calls, zeroed by nobody. Slot: one of 4. NULL: out of memory. */
void *hand_scratch(int slot, size_t bytes);

void axsin_adjoint(int n, float a, float *a_b, const float *x, float *x_b, float *y_b);
void energy_adjoint(int n, int m, const hand_vec3 *pos, hand_vec3 *pos_b, const int (*ends)[2],
                    const float *rest, float *rest_b, float k, float *k_b, const float *e_b);
void heat_adjoint(int h, int w, float c, float *u_b, float *v_b);
void forces_adjoint(int n, float eps, const float *m, const float *p, float *p_b, float *f_b);
void matvec_adjoint(int n, int m, const float *a, float *a_b, const float *x, float *x_b,
                    float *y_b);
void gmm_adjoint(int n, const double *alphas, double *alphas_b, const double *means,
                 double *means_b, const double *icf, double *icf_b, const double *x, double gamma,
                 double mass, double *err_b);
void lstm_adjoint(int s, int t, const double *w, double *w_b, const double *io, double *io_b,
                  const double *x, double *loss_b);
void least_squares_adjoint(int n, int m, const float *a, const float *b, const float *x, float *x_b,
                           float *loss_b);
/* What a recorded launch of log-sum-exp keeps: the largest x, and the sum of exp(x - it). */
void logsumexp_keep(int n, const double *x, double kept[2]);
void logsumexp_adjoint(int n, const double *x, double *x_b, double *y_b, const double kept[2]);

#endif
