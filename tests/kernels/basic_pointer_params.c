// T *x and T (*x)[3].
// run: n=2 x=rand:2x3 --grad x=ones:2x3
// expect: x.grad = 3 3 3 3 3 3 tol 1e-6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void rows(int n, real (*x)[3])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            x[i][j] = 3 * x[i][j] + 1;
}
