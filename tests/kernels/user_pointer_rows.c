// Pointers to rows and moving pointers.
// check: n=4 m=3
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real dotp(int m, const real *a, const real *b)
{
    real s = 0;
    while (m--) s += *a++ * *b++;
    return s;
}
void gram(int n, int m, const real x[n][m], real g[n][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            g[i][j] = dotp(m, x[i], x[j]);
}
void triples(int n, const real (*x)[3], real (*y)[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        const real *p = x[i];
        real *q = y[i];
        q[0] = p[1] * p[2];
        q[1] = p[2] * p[0];
        q[2] = p[0] * p[1] + *(p + 2);
    }
}
void walk(int n, real *x)
{
    for (real *p = x; p < x + n; p++) *p = *p * *p + 1;
}
