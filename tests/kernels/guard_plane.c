// Guarded stencils in two and three dimensions, with axes of their own and in one axis.
// run zero_flux: n=2 m=3 u=1,2,3,4,5,6 v=zeros --grad v=1,10,100,0,0,0
// expect: v = 5 3 2 -2 -3 -4
// expect: u.grad = 9 71 -190 1 10 100 tol 1e-07
// check: n=1 m=1 k=1 steps=1
// check: n=5 m=4 k=2 steps=3
#include <math.h>
#include <stddef.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void zero_flux(int n, int m, const real u[n * m], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real c = u[i * m + j];
            real w = j > 0 ? u[i * m + j - 1] : c, e = j < m - 1 ? u[i * m + j + 1] : c;
            real s = i > 0 ? u[(i - 1) * m + j] : c, t = i < n - 1 ? u[(i + 1) * m + j] : c;
            v[i * m + j] = w + e + s + t - 4 * c + (i == 0 && j == 0 ? c : 0);
        }
}

void rows(int n, int m, const real u[n][m], real v[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real s = u[i][j] * u[i][j];
            if (i > 0 && j > 0)
                s += u[i - 1][j - 1] * u[i][j];
            if (i > 0 && j < m - 1)
                s += sin(u[i - 1][j + 1]);
            if (i + 1 < n)
                s *= u[i + 1][j];
            v[i][j] = s;
        }
}

/* inside of a frame: no guard, but rows of one array */
void padded(int n, int m, const real u[(n + 2) * (m + 2)], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            v[(i - 1) * m + (j - 1)] = u[(i - 1) * (m + 2) + j] * u[i * (m + 2) + j - 1]
                                       + u[(i + 1) * (m + 2) + j] * u[i * (m + 2) + j + 1];
}

/* the same numbers, in the loop's other order, 64 bits wide */
void diagonal(long n, long m, const real u[n * m], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++) {
            real s = 0;
            if (i < n - 1 && j < m - 1)
                s = u[(i + 1) * m + (j + 1)] * u[i * m + j];
            if (i > 0 && j > 0)
                s -= u[(i - 1) * m + (j - 1)];
            v[i * m + j] = s;
        }
}

/* shifts and strides are all numbers */
void constant(int n, const real u[n * 4], real v[n * 4])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++) {
            real s = u[i * 4 + j];
            if (j > 0)
                s *= u[i * 4 + j - 1];
            if (i < n - 1 && j > 0)
                s += u[i * 4 + j + 3];
            v[i * 4 + j] = s;
        }
}

void box(int n, int m, int k, const real u[n * m * k], real v[n * m * k])
{
    #pragma omp parallel for collapse(3)
    for (int a = 0; a < n; a++)
        for (int b = 0; b < m; b++)
            for (int c = 0; c < k; c++) {
                int at = (a * m + b) * k + c;
                real s = -6 * u[at];
                s += a > 0 ? u[at - m * k] : 0;
                s += a < n - 1 ? u[at + m * k] : 0;
                s += b > 0 ? u[at - k] : u[at];
                s += b < m - 1 ? u[at + k] : u[at];
                s += c > 0 ? u[at - 1] * u[at] : 0;
                s += c < k - 1 ? u[at + 1] : 0;
                v[at] = s;
            }
}

/* several elements for each cell */
void cells(int n, int m, const real u[n * m * 2], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real s = 0;
            if (j > 0)
                s += u[(i * m + j - 1) * 2] * u[(i * m + j) * 2 + 1];
            if (i > 0)
                s += u[((i - 1) * m + j) * 2 + 1];
            v[i * m + j] = s + u[(i * m + j) * 2];
        }
}

/* one step reads what the one before wrote */
void steps(int n, int m, int steps, real u[steps + 1][n][m], real v[n])
{
    for (int t = 0; t < steps; t++)
        #pragma omp parallel for collapse(2)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                u[t + 1][i][j] = u[t][i][j] * 0.5f + (i > 0 ? u[t][i - 1][j] : 0) * 0.25f
                                 + (j < m - 1 ? u[t][i][j + 1] * u[t][i][j] : 0);
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        v[i] = (i > 0 ? u[steps][i - 1][0] : 0) * u[steps][i][0];
}

void clamped(int n, int m, const real u[n][m], real v[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int up = i > 0 ? i - 1 : 0, left = j > 0 ? j - 1 : 0;
            int down = i < n - 1 ? i + 1 : n - 1, right = j < m - 1 ? j + 1 : m - 1;
            v[i][j] = u[up][left] * u[down][right] + u[up][j] - u[i][right];
        }
}

/* rows meet: (i, m) is (i + 1, 0), so that this stays a scatter */
void too_wide(int n, int m, const real u[n * m + 1], real v[n * m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            v[i * m + j] = u[i * m + j] * u[i * m + j + 1];
}
