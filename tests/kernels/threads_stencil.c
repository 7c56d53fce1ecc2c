// Enough rows for several threads: the gradients that one thread clears are read by its neighbour.
// noverify:
// run line: n=5003 x=iota y=zeros --grad y=iota
// expect: y.grad = py: [k if k < 3 or k >= n - 2 else 0 for k in range(n)]
// expect: x.grad = py: [sum(c * (k + s) for s, c in ((3, 2), (1, 1), (-2, 5)) if 3 <= k + s < n - 2) for k in range(n)]
// run plane: h=200 w=70 x=iota y=zeros --grad y=iota
// expect: y.grad = py: [k if k // w < 1 or k // w >= h - 1 or k % w < 1 or k % w >= w - 1 else 0 for k in range(h * w)]
// expect: x.grad = py: [sum(c * (k + s * w + t) for s, t, c in ((1, 0, 2), (-1, 0, 3), (0, 1, 1), (0, -1, 1), (0, 0, -4)) if 1 <= k // w + s < h - 1 and 1 <= k % w + t < w - 1) for k in range(h * w)]
// run box: n=40 m=9 x=iota y=zeros --grad y=iota
// expect: x.grad = py: [sum((k + s) for s, in1 in ((4 * m, -1), (-4 * m, 1)) if 1 <= k // (4 * m) - in1 < n - 1) for k in range(n * 4 * m)]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void line(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 3; i < n - 2; i++)
        y[i] = 2 * x[i - 3] + x[i - 1] + 5 * x[i + 2];
}

void plane(int h, int w, const real x[h][w], real y[h][w])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++)
            y[i][j] = 2 * x[i - 1][j] + 3 * x[i + 1][j] + x[i][j - 1] + x[i][j + 1] - 4 * x[i][j];
}

void box(int n, int m, const real x[n][4][m], real y[n][4][m])
{
    #pragma omp parallel for collapse(3)
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < m; k++)
                y[i][j][k] = x[i - 1][j][k] + x[i + 1][j][k];
}
