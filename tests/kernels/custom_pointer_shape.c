// What only an adjoint of one's own can say: gradients clipped in place by a function that does
// nothing, a gradient for a function that is a constant almost everywhere, and one that goes nowhere.
// run clipped: n=3 x=1,2,3 y=zeros --grad y=1,5,-7
// expect: y = 1 4 9
// edge: x.grad = 2 4 -4
// run rounded: n=3 x=1.25,2.75,3 y=zeros --grad y=1,2,3
// expect: y = 1 3 3
// edge: x.grad = 1 2 3
// run halves: n=2 x=4,6 y=zeros --grad y=1,1
// expect: y = 12 18
// edge: x.grad = 2 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static void clip(real *v, int n)
{
    (void)v, (void)n;
}
static void clip_adjoint(const real *v, real *v_b, int n)
{
    (void)v;
    for (int i = 0; i < n; i++)
        v_b[i] = fmin((real)2, fmax((real)-2, v_b[i]));
}
#pragma retrograd adjoint(clip) = clip_adjoint

void clipped(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real w[2] = {x[i], x[i]};
        clip(w, 2);
        y[i] = w[0] * w[1];
    }
}

static real nearest(const real *x)
{
    return rint(*x);
}
static void nearest_adjoint(const real *x, real *x_b, real r_b)
{
    (void)x;
    *x_b += r_b;
}
#pragma retrograd adjoint(nearest) = nearest_adjoint

void rounded(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = nearest(x + i);
}

/* b gets nothing, whatever it adds to the result. */
static real sum(const real *a, const real *b)
{
    return *a + *b;
}
static void sum_adjoint(const real *a, real *a_b, const real *b, real *b_b, real r_b)
{
    (void)a, (void)b, (void)b_b;
    *a_b += r_b;
}
#pragma retrograd adjoint(sum) = sum_adjoint

void halves(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = 2 * x[i], b = x[i];
        y[i] = sum(&a, &b);
    }
}
