// run: n=3 a=9007199254740993,-1,4611686018427387904 y=zeros
// expect: y = 9007199254740995 1 4611686018427387906
#include <math.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void big(int n, const int64_t a[n], uint64_t y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = (uint64_t)a[i] + 2;
}
