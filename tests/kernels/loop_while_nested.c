// while in while, both trip counts from data; the inner one's state is carried.
// run: n=3 x=0.3,1.7,4 y=zeros --grad y=1,1,1
// expect: y = 0.14282999515727166 0.8925182305290092 3.5997172357916
// expect: x.grad = 0.4760999839 1.088239211 -1.002348114 tol 1e-07
// check: n=4
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void nested(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real a = x[i], b = 1;
        int outer = 0;
        while (a > 0.2f && outer < 10) {
            real c = a;
            while (c > 0.5f) {
                c *= 0.6f;
                b += c * a;
            }
            a = a * 0.7f - 0.01f * b * c;
            outer++;
        }
        y[i] = a * b;
    }
}
