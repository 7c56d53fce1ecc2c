// Guards of unsigned and 64-bit variables, of loops that begin elsewhere, and what they must not
// be taken for.
// run counted: n=5 x=1,2,3,4,5 f=1,2,3,4,5 y=zeros --grad y=1,10,100,1000,10000
// expect: f = 3 7 11 15 19
// expect: y = 3 4 9 21 25
// expect: x.grad = 21 321 4300 54000 51000 tol 1e-07
// run overwritten: n=4 x=1,2,3,4 y=1,-1,2,3 --grad y=1,10,100,1000
// expect: y = 2 3 7 13
// expect: x.grad = 0 201 3110 1000
// expect: y.grad = 4 -60 200 3000
// check: n=0 a=5 b=5 k=0 row=0
// check: n=6 a=2 b=6 order=3,0,5,1,4,2 k=2 row=2
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void unsigned_int(unsigned n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (unsigned i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] : 0) * x[i] + (i < n - 1 ? x[i + 1] : 0);
}

void sizes(size_t n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) {
        real s = x[i];
        if (i)
            s += x[i - 1] * x[i];
        if (i + 1 < n)
            s += x[i + 1];
        y[i] = s;
    }
}

void wide_index(int n, const real x[n + 2], const int32_t f[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[(long)i + 1];
        if (f[i] > 0)
            s *= x[(long)i + 2];
        y[i] = s * x[(size_t)i];
    }
}

void narrow_index(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        int k = (int)i;
        y[i] = (k > 0 ? x[k - 1] : 1) * (k < n - 1 ? x[k + 1] : 2);
    }
}

void part(int a, int b, const real x[9], real y[9])
{
    #pragma omp parallel for
    for (int i = a; i < b; i++)
        y[i] = (i > a ? x[i - 1] * x[i] : 0) + (i < b - 1 ? x[i + 1] : x[i])
               + (i > 0 ? x[i - 1] : 0);
}

void offset(int n, int a, const real x[n + a], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i + a] * (i > 0 ? x[i + a - 1] : 1);
}

void strided(int n, const real x[2 * n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[2 * i - 2] : 0) * x[2 * i] + (i < n - 1 ? x[2 * i + 3] : 0) * x[2 * i + 1];
}

void doubles(int n, const double x[n], float y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (float)((i > 0 ? x[i - 1] : 0) * x[i]) + (i < n - 1 ? (float)x[i + 1] : 0);
}

typedef struct { real x, v[2]; } point;

void structs(int n, const point p[n], point q[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        point l = p[i], r = p[i];
        if (i > 0)
            l = p[i - 1];
        if (i < n - 1)
            r = p[i + 1];
        q[i].x = l.x * r.v[1] - p[i].x;
        q[i].v[0] = r.x + l.v[0];
        q[i].v[1] = l.v[1];
    }
}

void downwards(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = n - 1; i >= 0; i--)
        y[i] = (i > 0 ? x[i - 1] : 0) * x[i] + (i < n - 1 ? x[i + 1] : 0);
}

/* one array from two loops, and one that is two parameters' */
void two(int n, const real x[n], const real w[n], real y[n], real z[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] : 0) * (i > 0 ? w[i - 1] : 0) + x[i] * w[i];
    #pragma omp parallel for
    for (int i = 0; i < n - 1; i++)
        if (i > 0)
            z[i] = x[i - 1] * y[i] + w[i + 1] * y[i + 1];
}

/* the guard's number is counted by the iteration itself */
void counted(int n, const real x[n], int32_t f[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        f[i] = f[i] * 3 + i;
        real s = x[i];
        if (f[i] % 2 && i > 0)
            s += x[i - 1] * x[i];
        if (f[i] % 3 == 0 && i < n - 1)
            s += x[i + 1];
        y[i] = s;
    }
}

/* y is read, then written */
void overwritten(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real old = y[i];
        if (old > 0 && i > 0)
            y[i] = old * x[i - 1] + x[i];
        else if (i < n - 1)
            y[i] = old * old * x[i + 1];
    }
}

/* x is read by one loop and written by the next */
void read_first(int n, real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[i - 1] * x[i] : 0) + (i < n - 1 ? x[i + 1] * x[i + 1] : 0);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = i > 0 ? y[i - 1] * x[i] : y[i];
}

/* guarded, but by a list */
void list(int n, const int32_t order[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[order[i] > 0 ? order[i] - 1 : 0] : 0) * x[i]
               + (i < n - 1 ? x[order[i]] : 0);
}

/* what must not be divided where the guard does not hold */
void divided(int n, int k, const real x[3][n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = x[0][i];
        if (k != 0) {
            if (i > 0)
                s += x[4 / k][i - 1] * x[0][i];
            if (i < n - 1)
                s += x[4 / k][i + 1];
        }
        y[i] = s;
    }
}

void rows(int n, int row, const real x[3][n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (i > 0 ? x[4 / row][i - 1] : 1) * x[4 / row][i]
               * (i < n - 1 ? x[4 / row][i + 1] : 1);
}
