// Long loops in blocks, because their steps do not fit the tape memory: what they carry, and the
// results of functions that are kept for each step.
// run: n=200 x=0.5,1,1.5,2 k=0.75 y=zeros --grad y=1,2,3,4 --tape-memory 2K
// expect: x.grad = 0.609301 2.31816 4.84455 7.56137 tol 0.002
// expect: k.grad = 0.029989 tol 0.002
// run: n=200 x=0.5,1,1.5,2 k=0.75 y=zeros --grad y=1,2,3,4
// expect: x.grad = 0.609301 2.31816 4.84455 7.56137 tol 0.002
// expect: k.grad = 0.029989 tol 0.002
// run: n=0 x=0.5,1,1.5,2 k=0.75 y=zeros --grad y=1,2,3,4 --tape-memory 1
// expect: x.grad = 1 2 3 4 tol 0.002
// expect: k.grad = 0 tol 0.002
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void relax(int n, const real x[4], real k, real y[4])
{
    #pragma omp parallel for
    for (int i = 0; i < 4; i++) {
        real a = x[i], b = 0;
        for (int t = 0; t < n; t++) {
            real u = tanh(k * a - b);
            b += (real)0.01 * u * a;
            a -= (real)0.02 * u * exp(-b);
        }
        y[i] = a + b;
    }
}
