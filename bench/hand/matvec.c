/* Row by row: both gradients take the row while it is in the cache. x_b is shared: threads but the
 * first have a copy. */
#include "hand.h"

#include <omp.h>
#include <string.h>

void matvec_adjoint(int n, int m, const float *restrict a, float *restrict a_b,
                    const float *restrict x, float *restrict x_b, float *restrict y_b) {
    int threads = omp_get_max_threads();
    float *copies = hand_scratch(0, (size_t)threads * (size_t)m * sizeof *copies);
#pragma omp parallel num_threads(threads)
    {
        int self = omp_get_thread_num();
        float *restrict to = self ? copies + (size_t)self * (size_t)m : x_b;
        if (self)
            memset(to, 0, (size_t)m * sizeof *to);
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++) {
            const float *restrict row = a + (size_t)i * (size_t)m;
            float *restrict row_b = a_b + (size_t)i * (size_t)m;
            float g = y_b[i];
            y_b[i] = 0.0f;
#pragma omp simd
            for (int j = 0; j < m; j++) {
                row_b[j] += g * x[j];
                to[j] += g * row[j];
            }
        }
    }
    for (int t = 1; t < threads; t++)
        for (int j = 0; j < m; j++)
            x_b[j] += copies[(size_t)t * (size_t)m + (size_t)j];
}
