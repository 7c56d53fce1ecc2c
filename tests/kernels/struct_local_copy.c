// run: n=2 x=0.5,2 y=zeros --grad y=1,1
// expect: y = 0.19047986942189807 102007.40638269017
// expect: x.grad = 0.9248797605 765706.2998 tol 1e-07
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real re, im; } cplx;

static cplx mul(cplx a, cplx b)
{
    return (cplx){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

void julia(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        cplx z = {.re = x[i], .im = 0.1f}, c = {0.2f, -0.3f};
        for (int k = 0; k < 3; k++) {
            z = mul(z, z);
            z.re += c.re;
            z.im += c.im * x[i];
        }
        y[i] = z.re * z.re + z.im * z.im;
    }
}
