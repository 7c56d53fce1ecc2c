#include "hand.h"

#include <math.h>

void axsin_adjoint(int n, float a, float *a_b, const float *restrict x, float *restrict x_b,
                   float *restrict y_b) {
    float sum = 0.0f;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        float g = y_b[i];
        sum += g * x[i];
        x_b[i] += a * g + zmulf(g, cosf(x[i]));
        y_b[i] = 0.0f;
    }
    *a_b += sum;
}
