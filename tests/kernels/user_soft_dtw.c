// Soft dynamic time warping: a table filled in order.
// check: n=4 m=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real softmin(real a, real b, real c, real g)
{
    real m = fmin(a, fmin(b, c));
    return m - g * log(exp((m - a) / g) + exp((m - b) / g) + exp((m - c) / g));
}
void dtw(int n, int m, const real x[n], const real y[m], real d[1])
{
    real D[n + 1][m + 1];
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) D[i][j] = 1e3f;
    D[0][0] = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            real c = x[i - 1] - y[j - 1];
            D[i][j] = c * c + softmin(D[i - 1][j], D[i][j - 1], D[i - 1][j - 1], 0.7f);
        }
    d[0] = D[n][m];
}
