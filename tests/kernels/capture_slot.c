// Slots handed out by an atomic counter: a second run would hand out others, so they are recorded.
// run: n=6 x=2,-1,3,-2,0.5,4 c=0 out=zeros --grad out=1,1,1,1,1,1
// expect: c = 4
// expect: x.grad = 4 0 6 0 1 8
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void compact(int n, const real x[n], int c[1], real out[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) {
            int k;
            #pragma omp atomic capture
            k = c[0]++;
            out[k] = x[i] * x[i];
        }
    }
}
