// run: n=2 x=0.3,2,0.3,-2,0.3,-2,5.3,-7.2,5.3,-7.2 z=1.5,-0.5,0.7,0.2,-0.4,1,2,2.1,2,2.1 y=zeros --grad y=ones
// expect: y = py: [v ** w for v, w in zip(x[0:2], z[0:2])] + [atan2(v, w) for v, w in zip(x[2:4], z[2:4])] + [hypot(v, w) for v, w in zip(x[4:6], z[4:6])] + [fmod(v, w) for v, w in zip(x[6:8], z[6:8])] + [remainder(v, w) for v, w in zip(x[8:10], z[8:10])] tol 1e-6
// expect: x.grad = py: [w * v ** (w - 1) for v, w in zip(x[0:2], z[0:2])] + [w / (v * v + w * w) for v, w in zip(x[2:4], z[2:4])] + [v / hypot(v, w) for v, w in zip(x[4:6], z[4:6])] + [1, 1, 1, 1]
// expect: z.grad = py: [v ** w * log(v) for v, w in zip(x[0:2], z[0:2])] + [-v / (v * v + w * w) for v, w in zip(x[2:4], z[2:4])] + [w / hypot(v, w) for v, w in zip(x[4:6], z[4:6])] + [-2, 3, -3, 3]
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void two(int n, const real x[5][n], const real z[5][n], real y[5][n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        y[0][i] = pow(x[0][i], z[0][i]);
        y[1][i] = atan2(x[1][i], z[1][i]);
        y[2][i] = hypot(x[2][i], z[2][i]);
        y[3][i] = fmod(x[3][i], z[3][i]);
        y[4][i] = remainder(x[4][i], z[4][i]);
    }
}
