// Atomic updates in an inner loop, their sums overwritten later: there is nothing of them to undo.
// run: n=4 m=2 k=1.5 x=1,2,3,4 w=ones --grad w=ones
// expect: w = 4 1 6 1 8 1 10 1
// expect: k.grad = 14
// expect: x.grad = 2 2 2 2
// expect: w.grad = 2 1 2 1 2 1 2 1
// check: n=4 m=3
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scaled(int n, int m, real k, const real x[n], real w[n][m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j += 2) {
            #pragma omp atomic
            w[i][j] += x[i];
        }
    for (int i = 0; i < n; i++)
        w[i][0] = ((real)0.5 + k) * w[i][0];
}
