// run: n=2 x=0.5,1.5 --grad x=1,1
// expect: x = py: [sin(v * v) for v in x]
// expect: x.grad = py: [cos(v * v) * 2 * v for v in x]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void twice(int n, real x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        x[i] = x[i] * x[i];
        x[i] = sin(x[i]);
    }
}
