// run: n=2 steps=9 x=0.5,0.7 --grad x=1,2
// expect: x = 1.0133711719652176 1.0307844188990911
// expect: x.grad = 0.1227608621 0.1258922068 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void march(int n, int steps, real x[n])
{
    #pragma retrograd checkpoint(3)
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] + 0.1f * sin(3 * x[i]);
    }
}
