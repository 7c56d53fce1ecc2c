// Neighbours in one axis that are in another row, or that several iterations have in common: not told
// apart by their loop variables, so not gathered.
// check: rows n=5 m=4
// check: rows n=3 m=1
// check: overlap n=4 m=2 w=3
// check: diagonals n=5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void rows(int n, int m, const real f[n * m], real y[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 1; i < n - 1; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = f[i * m + j - 1] * f[i * m + j + 1] + f[i * m + j] * f[(i - 1) * m + j];
}

void overlap(int n, int m, int w, const real f[n * m + w], real y[n][w])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < w; j++)
            y[i][j] = f[i * m + j + 1 - (j == w - 1)] * f[i * m + j];
}

void diagonals(int n, const real f[n + 3], real y[n][3])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            y[i][j] = f[i + j] * (j < 2 ? f[i + j + 1] : 2);
}
