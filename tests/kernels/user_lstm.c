// An LSTM with its gates in scratch, its state overwritten in place.
// check: steps=3 n=3 m=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real sigmoid(real x) { return 1 / (1 + exp(-x)); }
void lstm(int steps, int n, int m, const real x[steps][m], const real W[4][n][m], const real U[4][n][n],
          const real b[4][n], real h[n], real c[n])
{
    real g[4][n];
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for collapse(2)
        for (int q = 0; q < 4; q++)
            for (int i = 0; i < n; i++) {
                real s = b[q][i];
                for (int j = 0; j < m; j++) s += W[q][i][j] * x[t][j];
                for (int j = 0; j < n; j++) s += U[q][i][j] * h[j];
                g[q][i] = q == 3 ? tanh(s) : sigmoid(s);
            }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            c[i] = g[0][i] * c[i] + g[1][i] * g[3][i];
            h[i] = g[2][i] * tanh(c[i]);
        }
    }
}
