/* Row by row: the residual again, then its row into x_b while it is in the cache. */
#include "hand.h"

#include <omp.h>
#include <string.h>

void least_squares_adjoint(int n, int m, const float *restrict a, const float *restrict b,
                           const float *restrict x, float *restrict x_b, float *loss_b) {
    int threads = omp_get_max_threads();
    float *copies = hand_scratch(0, (size_t)threads * (size_t)m * sizeof *copies);
    float g = *loss_b;
#pragma omp parallel num_threads(threads)
    {
        int self = omp_get_thread_num();
        float *restrict to = self ? copies + (size_t)self * (size_t)m : x_b;
        if (self)
            memset(to, 0, (size_t)m * sizeof *to);
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            const float *restrict row = a + (size_t)i * (size_t)m;
            float r = -b[i];
            for (int j = 0; j < m; j++)
                r += row[j] * x[j];
            float r_b = g * r;
#pragma omp simd
            for (int j = 0; j < m; j++)
                to[j] += r_b * row[j];
        }
    }
    for (int t = 1; t < threads; t++)
        for (int j = 0; j < m; j++)
            x_b[j] += copies[(size_t)t * (size_t)m + (size_t)j];
    *loss_b = 0.0f;
}
