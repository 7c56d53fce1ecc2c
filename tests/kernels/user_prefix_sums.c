// Prefix sums: serial, in place, and Hillis-Steele.
// check: n=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scan(int n, const real x[n], real y[n])
{
    real sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
        y[i] = sum;
    }
}
void scan_in_place(int n, real x[n])
{
    for (int i = 1; i < n; i++) x[i] += sin(x[i - 1]);
}
void hillis(int n, real x[n])
{
    real t[n];
    for (int step = 1; step < n; step *= 2) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) t[i] = i >= step ? x[i] + x[i - step] : x[i];
        #pragma omp parallel for
        for (int i = 0; i < n; i++) x[i] = t[i];
    }
}
