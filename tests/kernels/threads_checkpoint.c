// Checkpoints of a loop inside a parallel one: of the iteration's own element, not of all.
// check: steps=23
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inner(int steps, const real a[6], real x[6])
{
    #pragma omp parallel for
    for (int i = 0; i < 6; i++) {
        #pragma retrograd checkpoint(4)
        for (int j = 0; j < steps; j++)
            if (j % 3 != i % 2)
                x[i] = sin(x[i]) * a[i];
    }
}
