// Device functions that write through pointers.
// run: n=2 x=0.5,2 y=zeros --grad y=1,1
// expect: y = py: [sin(v) * cos(v) + sin(v) for v in x]
// expect: x.grad = py: [cos(v) ** 2 - sin(v) ** 2 + cos(v) for v in x]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static void both(real v, real *s, real *c)
{
    *s = sin(v);
    *c = cos(v);
}

static void addto(real *a, const real *b)
{
    *a += *b;
}

void pair(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s, c;
        both(x[i], &s, &c);
        y[i] = s * c;
        addto(&y[i], &s);
    }
}
