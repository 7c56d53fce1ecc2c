// Function-like macros, pasting, conditionals.
// run: n=2 x=3,2 y=zeros --grad y=1,1
// expect: y = py: [v ** 3 + v for v in x]
// expect: x.grad = py: [3 * v * v + 1 for v in x]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define CUBE(v) ((v) * (v) * (v))
#define CAT(a, b) a##b
#if defined(CUBE) && !defined(NOPE)
#define PLUS +
#elif 1
#error "not reached"
#endif

void macros(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real CAT(va, lue) = x[i];
        y[i] = CUBE(value) PLUS value;
    }
}
