// How often a while loop captures is not known before the launch.
// refuse-adjoint: @: how often
// run: n=3 x=1,2,3 c=0 y=zeros
// expect: c = 6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void capture(int n, const real x[n], int c[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = x[i];
        while (v > (real)0.5) {
            int k;
            #pragma omp atomic capture
            k = c[0]++; // HERE
            y[i] += v * (real)(k >= 0);
            v -= 1;
        }
    }
}
