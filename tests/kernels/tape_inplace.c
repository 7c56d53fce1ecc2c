// An array updated in place by a loop that runs downwards, in blocks, in blocks of blocks, and in
// one more level.
// run: n=1000 x=1,0.5,0.25,2 k=0.5 --grad x=1,2,3,4 --tape-memory 8K
// expect: x.grad = 0.843253 1.40893 2.45062 1.88856 tol 0.002
// expect: k.grad = 2.58753 tol 0.002
// run: n=1000 x=1,0.5,0.25,2 k=0.5 --grad x=1,2,3,4 --tape-memory 3000
// expect: x.grad = 0.843253 1.40893 2.45062 1.88856 tol 0.002
// expect: k.grad = 2.58753 tol 0.002
// run: n=1000 x=1,0.5,0.25,2 k=0.5 --grad x=1,2,3,4 --tape-memory 1500
// expect: x.grad = 0.843253 1.40893 2.45062 1.88856 tol 0.002
// expect: k.grad = 2.58753 tol 0.002
// run: n=1000 x=1,0.5,0.25,2 k=0.5 --grad x=1,2,3,4
// expect: x.grad = 0.843253 1.40893 2.45062 1.88856 tol 0.002
// expect: k.grad = 2.58753 tol 0.002
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void steps(int n, real x[4], real k)
{
    for (int t = n - 1; t >= 0; t--) {
        real last = x[3];
        for (int j = 3; j > 0; j--)
            x[j] += (real)0.001 * (sin(x[j] * k) * x[j - 1] - x[j]);
        x[0] += (real)0.001 * (last * k - x[0] * t / n);
    }
}
