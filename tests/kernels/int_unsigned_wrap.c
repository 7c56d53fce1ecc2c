// run: n=6 y=zeros
// expect: y = 4294967295 0 4294967294 2147483648 1 4294967291
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void wrap(int n, long y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        unsigned a = 0, b = 4294967295u;
        switch (i) {
        case 0: y[i] = a - 1; break;
        case 1: y[i] = b + 1; break;
        case 2: y[i] = b * 2; break;
        case 3: y[i] = 1u << 31; break;
        case 4: y[i] = b * b; break;
        case 5: y[i] = -5 + a; break;
        }
    }
}
