// Second order through an update in place, a time loop, and a maximum.
// run: x=1,2 e=0 --grad e=1 --dot x=1,0
// edge: x.grad = py: [4*x[0]**3*x[1]**4, 4*x[0]**4*x[1]**3] tol 1e-5
// edge: x.hvp = py: [12*x[0]**2*x[1]**4, 16*x[0]**3*x[1]**3] tol 1e-5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void squares(real x[2], real e[1])
{
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for
        for (int i = 0; i < 2; i++)
            x[i] = x[i] * x[i];
    }
    #pragma omp parallel for
    for (int i = 0; i < 1; i++) {
        #pragma omp atomic compare
        if (x[0] * x[1] > e[i]) { e[i] = x[0] * x[1]; }
    }
}
