// Types of constants.
// run: n=7 y=zeros
// expect: y = 1 0 2147483648 -1 97 255 8
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void literals(int n, long y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        switch (i) {
        case 0: y[i] = -1 < 0L; break;
        case 1: y[i] = -1 < 0u; break;
        case 2: y[i] = 2147483648; break;
        case 3: y[i] = (int)0xffffffff; break;
        case 4: y[i] = 'a'; break;
        case 5: y[i] = 0xff; break;
        case 6: y[i] = 010; break;
        }
    }
}
