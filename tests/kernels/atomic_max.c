// OpenMP 5.1's compare form: not differentiated, and said so.
// refuse-adjoint: @: atomic
// run: n=4 x=1,5,3,4 m=0
// expect: m = 5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void largest(int n, const real x[n], real m[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic compare
        if (x[i] > m[0]) { m[0] = x[i]; } // HERE
    }
}
