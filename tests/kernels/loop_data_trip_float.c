// The number of steps comes from a float: the gradient does not pass through it.
// run: n=3 x=1.5,2.5,3.5 y=zeros --grad y=1,1,1
// expect: y = py: [int(v) * v for v in x]
// expect: x.grad = 1 2 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void steps(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int j = 0; j < (int)x[i]; j++)
            s += x[i];
        y[i] = s;
    }
}
