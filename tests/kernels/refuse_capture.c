// The order of captures differs from run to run: not differentiated for now.
// refuse-adjoint: @: atomic
// run: n=3 x=1,2,3 c=0 y=zeros
// expect: c = 6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void capture(int n, const real x[n], real c[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real old;
        #pragma omp atomic capture
        { old = c[0]; c[0] += x[i]; } // HERE
        y[i] = old * old;
    }
}
