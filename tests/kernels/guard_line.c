// Stencils whose neighbours are guarded: each form, down to no iteration at all.
// run sum: n=5 x=1,2,3,4,5 y=zeros --grad y=1,10,100,1000,10000
// expect: y = 3 6 9 12 9
// expect: x.grad = 11 111 1110 11100 11000
// run clamped: n=4 x=1,4,9,16 y=zeros --grad y=1,10,100,1000
// expect: y = 3 2 2 -7
// expect: x.grad = 9 81 810 -900
// run upwind: n=5 x=1,3,2,5,4 v=1,-1,1,-1,0 y=zeros --grad y=1,10,100,1000,10000
// expect: y = 0 -1 -1 -1 0
// expect: x.grad = 0 -110 110 -1000 1000 tol 1e-07
// check: n=1 m=2
// check: n=2 m=5
// check: n=9 m=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sum(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] : 0) + x[i] + (i < n - 1 ? x[i + 1] : 0);
}

void ifs(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i] * x[i];
        if (i != 0)
            s += sin(x[i - 1]) * x[i];
        if (i + 1 < n)
            s += x[i + 1] * x[i];
        y[i] = s;
    }
}

/* two guards at once, and a product with another array, which has its own gradient */
void weighted(int n, const real a[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        if (i + 1 < n)
            s += a[i] * x[i + 1];
        if (i > 0 && i < n - 1)
            s += a[i] * x[i - 1] * x[i + 1];
        if (!(i < 2 || i >= n - 1))
            s += a[i - 2] * x[i - 2];
        y[i] = s * x[i];
    }
}

/* the guard in the index */
void clamped(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int l = i > 0 ? i - 1 : 0, r = i < n - 1 ? i + 1 : n - 1;
        y[i] = x[l] - 2 * x[i] + x[r];
    }
}

void clamped_product(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int l = i - 2;
        if (l < 0)
            l = 0;
        int r = i + 1;
        if (r > n - 1)
            r = n - 1;
        y[i] = x[l] * x[i] * x[r];
    }
}

/* the guard is read from memory, and evaluated for the neighbour */
void upwind(int n, const real x[n], const real v[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real d = 0;
        if (v[i] > 0) {
            if (i > 0)
                d = x[i] - x[i - 1];
        } else if (v[i] < 0 && i < n - 1) {
            d = x[i + 1] - x[i];
        }
        y[i] = (v[i] < 0 ? -v[i] : v[i]) * d;
    }
}

/* single iterations at the ends */
void edges(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real d;
        if (i == 0)
            d = n > 1 ? x[1] - x[0] : x[0];
        else if (i == n - 1)
            d = x[n - 1] - x[n - 2];
        else
            d = 0.5f * (x[i + 1] - x[i - 1]);
        y[i] = d * d;
    }
}

void wide(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int k = -3; k <= 3; k++)
            if (i + k >= 0 && i + k < n)
                s += (k + 5) * x[i + k] * x[i];
        y[i] = s;
    }
}

/* the contribution has a guard, the index has none */
void rise(int n, const real x[n + 1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i + 1] > x[i] ? (x[i + 1] - x[i]) * (i > 0 ? 2 : 3) : x[i] * x[i + 1];
}

/* a guard in the middle of the range, or never */
void cut(int n, int m, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[i];
        if (i < m && i > 0)
            s *= x[i - 1];
        if (i >= m && i < n - 1)
            s += x[i + 1];
        y[i] = s;
    }
}

/* more iterations than elements: only the guards keep the accesses inside */
void skip(int n, int m, const real x[n], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++) {
        real s = 1;
        if (i >= 1 && i - 1 < n)
            s += x[i - 1];
        if (i < n)
            s *= 1 + x[i];
        y[i] = s;
    }
}
