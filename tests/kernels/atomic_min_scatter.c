// The least of each bin, in a time loop that goes on with it.
// run: n=5 m=2 bin=0,1,0,1,0 x=3,5,2,4,6 y=9,1 --grad y=1,1
// expect: x.grad = 0.5 4 16 0 0 tol 0.0001
// expect: y.grad = 0 14 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void least(int n, int m, const int bin[n], const real x[n], real y[m])
{
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int b = bin[i] < 0 || bin[i] >= m ? 0 : bin[i];
            real v = x[i] * (real)(t + 1);
            #pragma omp atomic compare
            if (v < y[b]) { y[b] = v; }
        }
        #pragma omp parallel for
        for (int j = 0; j < m; j++)
            y[j] = y[j] * y[j] + (real)0.5 * x[j];
    }
}
