// Unsigned and 64-bit loop variables.
// run: n=4 x=1,2,3,4 y=zeros --grad y=1,1,1,1
// expect: y = 82.26959880613089 285.75999543339015 814.7623865653396 1938.7151673907397
// expect: x.grad = 356.7855975 583.2711931 774.8655869 1619.557572 tol 1e-07
#include <math.h>
#include <stdint.h>
#include <stddef.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void unsigneds(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 1;
        for (unsigned j = 3; j > 0; j--)
            s = s * x[i] + j;
        for (size_t k = 0; k < 2; k++)
            s += x[k] * s * 0.1f;
        for (int64_t k = 3; k >= 1; k -= 2)
            s += x[k] * k;
        for (uint8_t b = 254; b != 2; b += 2)
            s *= 1 + 0.01f * x[i] * b;
        y[i] = s;
    }
}
