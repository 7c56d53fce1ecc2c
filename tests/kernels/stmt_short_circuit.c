// The right side of && and || is evaluated only when needed.
// run: n=3 k=0,2,9 x=1,2,3 y=zeros --grad y=1,1,1
// expect: y = 1 6 3
// expect: x.grad = 1 0 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void guard(int n, const int k[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int calls = 0;
        if (k[i] < n && x[k[i]] > 2)
            y[i] = 2 * x[k[i]];
        else
            y[i] = x[i];
        if (k[i] >= n || (calls++, x[k[i]] < 0))
            y[i] += calls;
    }
}
