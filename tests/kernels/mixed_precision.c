// float and double in one kernel.
// run: n=2 x=1.5,2.5 y=zeros --grad y=1,1
// expect: y = py: [v * v * v for v in x]
// expect: x.grad = py: [3 * v * v for v in x]
// noverify:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void mixed(int n, const float x[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        double v = x[i];
        float w = (float)(v * v);
        y[i] = w * v;
    }
}
