// A small array of the kernel, each element changed again and again by one iteration: what the adjoint
// keeps of it must not hold the elements of the others.
// check: steps=7
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inner(int steps, const real a[6], real x[6])
{
    real t[6];
    #pragma omp parallel for
    for (int i = 0; i < 6; i++)
        t[i] = x[i];
    #pragma omp parallel for
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 20; j++)
            if (j % 3 != i % 2)
                t[i] = sin(t[i]) * a[i];
    #pragma omp parallel for
    for (int i = 0; i < 6; i++)
        x[i] = t[i] * t[i];
}
