// A kernel-level while whose condition is read back from memory.
// run: n=3 x=4,2,3 --grad x=1,2,3
// expect: x = 0.584097898288364 0.18571855329741513 0.3463726601069287
// expect: x.grad = 0.2887759714 0.2638187184 0.581058794 tol 1e-07
// check: n=3 x=4,2,3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void until(int n, real x[n])
{
    while (x[0] > 1) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = 0.5f * x[i] + 0.05f * x[i] * x[i];
    }
}
