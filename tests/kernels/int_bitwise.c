// run: n=6 y=zeros
// expect: y = 8 14 6 1 0 -13
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void bits(int n, int y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int a = 12, b = 10;
        y[i] = i == 0 ? a & b : i == 1 ? a | b : i == 2 ? a ^ b : i == 3 ? a && b : i == 4 ? !a : ~a;
    }
}
