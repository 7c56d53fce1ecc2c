// break and continue at kernel level.
// run: n=3 steps=6 x=0.5,0.9,0.7 --grad x=1,2,3
// expect: x = 1.0765062785118822 3.874868891959034 1.8211024554668762
// expect: x.grad = 2.138500055 32.48007892 17.82427957 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void leave(int n, int steps, real x[n])
{
    for (int s = 0; s < steps; s++) {
        if (s == 1)
            continue;
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] * x[i] + 0.4f;
        if (x[1] > 1.9f)
            break;
    }
}
