// An array of structs made in each step of a loop, of a size known from the parameters.
// run: n=3 steps=2 x=0.5,1,-1 e=zeros --grad e=1
// expect: e = 25.93125008791685
// expect: x.grad = 55.4375 72.92500001 36.6875 tol 1e-06
// check: n=4 steps=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a, b; int n; } cell;

void cells(int n, int steps, const real x[n], real e[1])
{
    for (int t = 1; t <= steps; t++) {
        cell c[n + 1];
        for (int k = 0; k <= n; k++) {
            c[k].a = 0.1f * k;
            c[k].b = t;
            c[k].n = 0;
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int k = (i * t) % 2;
            #pragma omp atomic
            c[k].a += x[i] * t;
            #pragma omp atomic
            c[k].b += x[i] * x[i];
            #pragma omp atomic
            c[k].n++;
        }
        for (int k = 0; k <= n; k++)
            e[0] += c[k].a * c[k].b * c[k].b + c[k].n * c[k].a;
    }
}
