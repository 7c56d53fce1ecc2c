// OpenMP 5.1's compare form; the gradient goes to the element that won.
// run: n=4 x=1,5,3,4 m=0 --grad m=2
// edge: m = 5
// edge: x.grad = 0 2 0 0
// edge: m.grad = 0
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
