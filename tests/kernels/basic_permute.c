// Stores through an index array.
// run: n=4 p=2,0,3,1 x=1,2,3,4 y=zeros --grad y=1,10,100,1000
// expect: y = 4 16 1 9
// expect: x.grad = 200 4 6000 80
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void permute(int n, const int p[n], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[p[i]] = x[i] * x[i];
}
