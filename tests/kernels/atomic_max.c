// OpenMP 5.1's compare form: what equals the result shares its gradient, the old value counts as one.
// run: n=4 x=1,5,3,4 m=0 --grad m=2
// expect: m = 5
// expect: x.grad = 0 2 0 0
// expect: m.grad = 0
// run: n=4 x=5,1,5,3 m=5 --grad m=3
// edge: x.grad = 1 0 1 0
// edge: m.grad = 1
// run: n=4 x=1,5,3,4 m=7 --grad m=2
// expect: x.grad = 0 0 0 0
// expect: m.grad = 2
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void largest(int n, const real x[n], real m[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] > m[0]) { m[0] = x[i]; }
    }
}
