// Indices that look as if iterations met, and are apart for a reason of their own.
// run: n=8 m=2 mode=1 x=0,0,0,0,0,0,0,0 y=1,2,3,4,5,6,7,8 --grad x=1,1,1,1,1,1,1,1
// expect: x = 22 11 30 16 56 29 58 25
// expect: x.grad = 1 2 1 2 1 2 1 2
// check: n=8 m=2 mode=1
// check: n=8 m=4 mode=0
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void apart(int n, int m, int mode, real x[n], const real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n / m; i++)
        for (int j = 0; j < m; j++)
            x[i * m + j] += y[i];
    #pragma omp parallel for
    for (int i = 0; i < n / 4; i++)
        for (int j = 0; j < 4; j++)
            x[i * 4 + 3 - j] += y[i * 4 + j];
    #pragma omp parallel for
    for (int i = 0; i < n; i += 4)
        for (int j = i; j < i + 4 && j < n; j++)
            x[j] += y[j] * y[0];
    #pragma omp parallel for
    for (int i = 0; i < 8; i++)
        x[i % 8] += y[i];
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        switch (mode) {
        case 0:
            x[i] = y[i];
            break;
        case 1:
            if (i > 0)
                x[i - 1] += y[i];
            break;
        }
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (i == 0)
            x[0] += y[1];
        if (i == n - 2)
            x[n - 2] += y[0];
        if (i % 2 == 0 && i + 1 < n)
            x[i] += x[i + 1];
    }
}
