// Many iterations add to what an earlier loop has read: its old value must come back for that loop.
// run: n=6 m=2 x=1,2,3,4,5,6 c=0.5,0.25 y=zeros --grad x=1,1,1,1,1,1
// expect: x.grad = 0.444507948 0.1008346892 0.5942179648 0.1193914174 0.7439279817 0.1379481455 tol 0.0001
// expect: c.grad = 16.80931194 9.038945307 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void undo(int n, int m, real x[n], real c[m], real y[n])
{
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = c[i % m] * x[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            #pragma omp atomic
            c[i % m] += (real)0.01 * y[i] * y[i];
        }
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] = x[i] * c[i % m];
    }
}
