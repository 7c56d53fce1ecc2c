// A sum over a constant: gradient of x zero, c's is the trip count.
// run: n=2 m=500 c=0.5 x=1,2 y=zeros --grad y=1,1
// expect: y = 250 250
// expect: x.grad = 0 0
// expect: c.grad = 1000
// run: n=2 m=100000 c=0.5 x=1,2 y=zeros --grad y=1,1
// long-loops:
// expect: y = 50000 50000
// expect: x.grad = 0 0
// expect: c.grad = 200000
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void constant(int n, int m, real c, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int j = 0; j < m; j++)
            s += c;
        y[i] = s;
    }
}
