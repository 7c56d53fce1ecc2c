/* For each point: forward, keeping what the way back needs, then back, into accumulators of the
 * thread. */
#include "hand.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { D = 10, K = 25, TRI = D * (D - 1) / 2, ROW = D + TRI };

typedef struct sums {
    double alphas[K], means[K][D], diagonal[K][D], triangle[K][TRI], logdet[K];
    double gap[8]; /* no false sharing between threads */
} sums;

/* Weights of the softmax of t, times g. */
static void softmax(const double t[K], double g, double w[K]) {
    double top = t[0], sum = 0.0;
    for (int k = 1; k < K; k++)
        if (t[k] > top)
            top = t[k];
    for (int k = 0; k < K; k++) {
        w[k] = exp(t[k] - top);
        sum += w[k];
    }
    double scale = zmul(g, 1.0 / sum);
    for (int k = 0; k < K; k++)
        w[k] = zmul(scale, w[k]);
}

static void point(const double *restrict x, const double *restrict alphas,
                  const double (*restrict means)[D], const double (*restrict icf)[ROW],
                  const double (*restrict q)[D], const double *restrict logdet, double g,
                  sums *restrict s) {
    double xc[K][D], qx[K][D], term[K], weight[K];
    for (int k = 0; k < K; k++) {
        for (int j = 0; j < D; j++) {
            xc[k][j] = x[j] - means[k][j];
            qx[k][j] = q[k][j] * xc[k][j];
        }
        const double *low = icf[k] + D;
#pragma GCC unroll 10
        for (int a = 0; a < D; a++)
#pragma GCC unroll 10
            for (int b = a + 1; b < D; b++)
                qx[k][b] += *low++ * xc[k][a];
        double square = 0.0;
        for (int j = 0; j < D; j++)
            square += qx[k][j] * qx[k][j];
        term[k] = alphas[k] + logdet[k] - 0.5 * square;
    }
    softmax(term, g, weight);
    for (int k = 0; k < K; k++) {
        double qx_b[D], xc_b[D];
        s->alphas[k] += weight[k];
        s->logdet[k] += weight[k];
        for (int j = 0; j < D; j++) {
            qx_b[j] = -weight[k] * qx[k][j];
            xc_b[j] = q[k][j] * qx_b[j];
            s->diagonal[k][j] += qx_b[j] * xc[k][j];
        }
        const double *low = icf[k] + D;
        double *low_b = s->triangle[k];
#pragma GCC unroll 10
        for (int a = 0; a < D; a++)
#pragma GCC unroll 10
            for (int b = a + 1; b < D; b++) {
                *low_b++ += qx_b[b] * xc[k][a];
                xc_b[a] += *low++ * qx_b[b];
            }
        for (int j = 0; j < D; j++)
            s->means[k][j] -= xc_b[j];
    }
}

void gmm_adjoint(int n, const double *alphas, double *alphas_b, const double *means_at,
                 double *means_b, const double *icf_at, double *icf_b, const double *x,
                 double gamma, double mass, double *err_b) {
    const double(*means)[D] = (const void *)means_at;
    const double(*icf)[ROW] = (const void *)icf_at;
    int threads = omp_get_max_threads();
    sums *all = hand_scratch(0, (size_t)threads * sizeof *all);
    double q[K][D], logdet[K], g = *err_b;
    for (int k = 0; k < K; k++) {
        logdet[k] = 0.0;
        for (int j = 0; j < D; j++) {
            logdet[k] += icf[k][j];
            q[k][j] = exp(icf[k][j]);
        }
    }
    memset(all, 0, (size_t)threads * sizeof *all);
#pragma omp parallel num_threads(threads)
    {
        sums *s = &all[omp_get_thread_num()];
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++)
            point(x + (size_t)i * D, alphas, means, icf, (const double(*)[D])q, logdet, g, s);
    }
    double weight[K];
    softmax(alphas, -(double)n * g, weight);
    for (int k = 0; k < K; k++) {
        double logdet_b = -mass * g, frobenius_b = 0.5 * gamma * gamma * g;
        double *out = icf_b + (size_t)k * ROW;
        alphas_b[k] += weight[k];
        for (int t = 0; t < threads; t++) {
            alphas_b[k] += all[t].alphas[k];
            logdet_b += all[t].logdet[k];
        }
        for (int j = 0; j < D; j++) {
            double q_b = 2.0 * frobenius_b * q[k][j];
            for (int t = 0; t < threads; t++) {
                q_b += all[t].diagonal[k][j];
                means_b[k * D + j] += all[t].means[k][j];
            }
            out[j] += zmul(q_b, q[k][j]) + logdet_b;
        }
        for (int j = 0; j < TRI; j++) {
            out[D + j] += 2.0 * frobenius_b * icf[k][D + j];
            for (int t = 0; t < threads; t++)
                out[D + j] += all[t].triangle[k][j];
        }
    }
    *err_b = 0.0;
}
