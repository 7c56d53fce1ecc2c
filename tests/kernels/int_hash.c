// A hash in unsigned arithmetic steers the float work.
// run: n=3 x=0.5,0.7,0.9 y=zeros --grad y=1,1,1
// expect: y = 0.8835678399131461 1.7487201013181664 2.40135347678795
// expect: x.grad = -1.627015053 0.8889078727 1.263530993 tol 1e-07
#include <math.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static uint32_t hash(uint32_t v)
{
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    v ^= v >> 16;
    return v;
}

void noise(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i];
        for (uint32_t j = 0; j < 6; j++) {
            uint32_t h = hash((uint32_t)i * 6 + j);
            s = h & 1 ? s * (1 + (h >> 8) * 5.9604644775390625e-08f) : sin(s);
        }
        y[i] = s;
    }
}
