// Lists linked by atomic exchange, walked by the next loop.
// run: n=4 m=2 cell=0,1,0,0 x=1,2,3,4 head=-1,-1 next=zeros y=zeros --grad y=1,10
// expect: y = 26 4
// expect: x.grad = 2 40 6 8
// check: cell=0,1,0,1,0 n=5 m=2 head=-1,-1
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void lists(int n, int m, const int cell[n], const real x[n], int head[m], int next[n], real y[m])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int old;
        #pragma omp atomic capture
        { old = head[cell[i]]; head[cell[i]] = i; }
        next[i] = old;
    }
    #pragma omp parallel for
    for (int c = 0; c < m; c++) {
        real s = 0;
        for (int i = head[c]; i >= 0; i = next[i])
            s += x[i] * x[i];
        y[c] = s;
    }
}
