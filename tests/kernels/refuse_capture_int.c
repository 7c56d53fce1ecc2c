// A slot in a list, by an atomic counter: its order differs from run to run.
// refuse-adjoint: @: atomic
// run: n=3 x=1,2,3 c=0 y=zeros
// expect: c = 3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void append(int n, const real x[n], int c[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        #pragma omp atomic capture
        k = c[0]++; // HERE
        y[k] = x[i] * x[i];
    }
}
