// Newton iterations in a do-while, as many as it takes.
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void roots(int n, const real a[n], const real b[n], real x[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real y = 1, step;
        int it = 0;
        do {
            real f = y * y * y + (a[i] * a[i] + 1) * y - b[i];
            step = f / (3 * y * y + a[i] * a[i] + 1);
            y -= step;
        } while (fabs(step) > 1e-5f && ++it < 30);
        x[i] = y;
    }
}
