// Softmax attention: a run-time local array, a running maximum.
// check: n=4 d=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void attention(int n, int d, const real q[n][d], const real k[n][d], const real v[n][d], real out[n][d])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s[n];
        real top = -INFINITY, sum = 0;
        for (int j = 0; j < n; j++) {
            s[j] = 0;
            for (int c = 0; c < d; c++) s[j] += q[i][c] * k[j][c];
            s[j] /= sqrt((real)d);
            top = fmax(top, s[j]);
        }
        for (int j = 0; j < n; j++) {
            s[j] = exp(s[j] - top);
            sum += s[j];
        }
        for (int c = 0; c < d; c++) out[i][c] = 0;
        for (int j = 0; j < n; j++)
            for (int c = 0; c < d; c++) out[i][c] += s[j] / sum * v[j][c];
    }
}
