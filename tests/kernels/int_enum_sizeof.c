// run: n=4 y=zeros
// expect: y = 5 6 4 2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

enum { FIVE = 5, SIX };

void consts(int n, int y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = i == 0 ? FIVE : i == 1 ? SIX : i == 2 ? (int)sizeof(int) : (int)sizeof(short);
}
