// What is captured is compared only; the sum's gradient goes to what was added.
// run: n=4 x=1,2,3,4 c=0.5 k=0 --grad c=2
// expect: c = 30.5
// expect: k = 4
// expect: x.grad = 4 8 12 16
// expect: c.grad = 2
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void count(int n, const real x[n], real c[1], int k[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real old;
        #pragma omp atomic capture
        { old = c[0]; c[0] += x[i] * x[i]; }
        if (old < 1e6f) {
            #pragma omp atomic
            k[0]++;
        }
    }
}
