// An array of structs as a local variable.
// run: n=2 x=0.5,2 y=zeros --grad y=1,3
// expect: y = 3.5 32
// expect: x.grad = 10 84 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a, b; } pair;

void pairs(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        pair p[3];
        for (int j = 0; j < 3; j++) {
            p[j].a = x[i] * (j + 1);
            p[j].b = x[i] + j;
        }
        real s = 0;
        for (int j = 0; j < 3; j++)
            s += p[j].a * p[2 - j].b;
        y[i] = s;
    }
}
