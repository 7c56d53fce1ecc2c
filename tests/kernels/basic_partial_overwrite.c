// Elements that are not written keep their gradient.
// run: n=4 x=1,2,3,4 y=9,9,9,9 --grad y=1,2,3,4
// expect: y = 2 9 6 9
// expect: y.grad = 0 2 0 4
// expect: x.grad = 2 0 6 0
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void evens(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (i % 2 == 0)
            y[i] = 2 * x[i];
}
