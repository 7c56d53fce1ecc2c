// A while loop with a break, in a parallel loop, in blocks of three.
// run: n=3 x0=0.5,1,2 y=zeros --grad y=1,2,3
// expect: x0.grad = 218.5291901 488.3436737 343.5395508 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void grow(int n, const real x0[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s[3] = {x0[i], 1, 2};
        int it = 0;
        #pragma retrograd checkpoint(3)
        while (s[0] < 20) {
            s[it % 3] += (real)0.5 * s[(it + 1) % 3];
            it++;
            if (it > 20)
                break;
        }
        y[i] = s[0] * s[1];
    }
}
