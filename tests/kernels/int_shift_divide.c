// run: n=8 y=zeros
// expect: y = -4 -2 -1 2 -3 1152921504606846976 268435455 6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void shifts(int n, long y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int a = -7, b = 2;
        switch (i) {
        case 0: y[i] = a >> 1; break;
        case 1: y[i] = a >> b; break;
        case 2: y[i] = a % b; break;
        case 3: y[i] = -a % 5; break;
        case 4: y[i] = a / b; break;
        case 5: y[i] = 1L << 60; break;
        case 6: y[i] = ~0u >> 4; break;
        case 7: y[i] = ~a; break;
        }
    }
}
