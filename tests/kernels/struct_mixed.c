// Integers and floats in one struct.
// run: n=2 s=full:2 x=3,4 y=zeros --grad y=1,1
// expect: y = 12 16
// expect: x.grad = 4 4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real k; int times; real w; } item;

void mixed(int n, const item s[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < s[i].times; j++)
            y[i] += s[i].k * x[i] - 0 * s[i].w;
    }
}
