// Layer normalisation in place.
// check: n=3 d=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void layernorm(int n, int d, real x[n][d], const real gamma[d], const real beta[d], real eps)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real m = 0, v = 0;
        for (int j = 0; j < d; j++) m += x[i][j];
        m /= d;
        for (int j = 0; j < d; j++) {
            real c = x[i][j] - m;
            v += c * c;
        }
        real r = 1 / sqrt(v / d + eps * eps + 1e-3f);
        for (int j = 0; j < d; j++) x[i][j] = gamma[j] * (x[i][j] - m) * r + beta[j];
    }
}
