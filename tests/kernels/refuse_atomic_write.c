// Which of the iterations writes last differs from run to run, and so would its gradient.
// refuse-adjoint: @: which iteration sets
// run: n=1 x=5 m=0
// expect: m = 5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void last(int n, const real x[n], real m[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic write
        m[0] = x[i]; // HERE
    }
}
