// Ties of a max and of a min in every step of a loop; the second step's data depends on the first.
// run: n=4 steps=2 x=3,1,3,1 y=0 --grad y=1
// expect: y = 8
// edge: x.grad = 1 1 1 1
// run: n=4 steps=1 x=3,1,3,3 y=0 --grad y=3
// expect: y = 4
// edge: x.grad = 1 3 1 1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void range(int n, int steps, const real x[n], real y[1])
{
    real a = 0;
    for (int t = 0; t < steps; t++) {
        real top = -1e30f, low = 1e30f;
        #pragma omp parallel for reduction(max: top) reduction(min: low)
        for (int i = 0; i < n; i++) {
            top = fmax(top, x[i]);
            low = fmin(low, x[i]);
        }
        a = a + top + low;
    }
    y[0] = a;
}
