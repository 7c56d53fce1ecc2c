// run: n=5 x=1,-2,3,-4,5 c=0 y=zeros --grad y=ones
// expect: c = 3
// expect: y = 2 -4 6 -8 10
// expect: x.grad = 2 2 2 2 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void count(int n, const real x[n], int c[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] > 0) {
            #pragma omp atomic
            c[0]++;
        }
        y[i] = 2 * x[i];
    }
}
