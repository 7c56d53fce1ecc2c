// Elements overwritten again and again through an index array.
// check: n=6 idx=3,3,1,0,1,5
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void scatter(int n, const int idx[n], const real x[n], real y[n], real z[n])
{
    for (int i = 0; i < n; i++) {
        y[idx[i]] = y[idx[i]] * x[i] + x[n - 1 - i];
        z[i] = y[idx[n - 1 - i]] * y[i];
        y[i] *= z[i];
    }
}
