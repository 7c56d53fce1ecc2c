// Where no other iteration can come between, a capture is a load and a store.
// run: n=3 x=1,2,3 s=0.5 c=0 --grad x=1,1,1
// expect: x.grad = 10.5 13.5 5.5 tol 0.0001
// expect: s.grad = 6 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void running(int n, real x[n], real s[1], int c[1])
{
    for (int i = 0; i < n; i++) {
        real before;
        int k;
        #pragma omp atomic capture
        { before = s[0]; s[0] += x[i] * x[i]; }
        #pragma omp atomic capture
        k = c[0]++;
        x[i] = before * x[i] + (real)k;
    }
}
