// Guarded stencils of enough rows for several threads.
// noverify:
// run sum: n=5003 x=iota y=zeros --grad y=iota
// expect: x.grad = py: [sum(k + s for s in (-1, 0, 1) if 0 <= k + s < n) for k in range(n)]
// run zero_flux: n=70 m=90 u=iota v=zeros --grad v=iota
// expect: u.grad = py: [sum((k + s * m + t if 0 <= k // m + s < n and 0 <= k % m + t < m else k) - k for s, t in ((1, 0), (-1, 0), (0, 1), (0, -1))) for k in range(n * m)]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sum(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] : 0) + x[i] + (i < n - 1 ? x[i + 1] : 0);
}

void zero_flux(int n, int m, const real u[n * m], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real c = u[i * m + j];
            real w = j > 0 ? u[i * m + j - 1] : c, e = j < m - 1 ? u[i * m + j + 1] : c;
            real s = i > 0 ? u[(i - 1) * m + j] : c, t = i < n - 1 ? u[(i + 1) * m + j] : c;
            v[i * m + j] = w + e + s + t - 4 * c;
        }
}
