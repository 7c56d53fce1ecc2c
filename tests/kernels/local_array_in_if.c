// An array with a run-time extent that lives inside an if.
// run: n=2 m=3 k=1,0 x=0.3,0.7 z=1,2 --grad z=1,1
// expect: z = 1.09 2
// expect: x.grad = 0.6 0 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inside(int n, int m, const int k[n], const real x[n], real z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (k[i] == 1) {
            real t[m];
            for (int j = 0; j < m; j++)
                t[j] = x[i] * j;
            for (int j = 0; j < m; j++)
                z[i] += t[j] * t[m - 1 - j];
        }
    }
}
