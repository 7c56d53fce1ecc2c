// Parallel loops in a long serial one, which runs in blocks.
// run: steps=24 n=8 u=1,2,3,4,4,3,2,1 c=0.2 --grad u=1,-1,2,-2,1,-1,2,-2 --tape-memory 1000
// expect: u.grad = 0.800187 0.00339526 0.00634529 0.00854938 0.00974016 0.00914978 0.00576671 -1.01113 tol 0.002
// expect: c.grad = -0.434403 tol 0.002
// run: steps=24 n=8 u=1,2,3,4,4,3,2,1 c=0.2 --grad u=1,-1,2,-2,1,-1,2,-2
// expect: u.grad = 0.800187 0.00339526 0.00634529 0.00854938 0.00974016 0.00914978 0.00576671 -1.01113 tol 0.002
// expect: c.grad = -0.434403 tol 0.002
// check:
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void heat(int steps, int n, real u[n], real c)
{
    real v[n];
    for (int s = 0; s < steps; s++) {
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            v[i] = u[i] + c * (u[i - 1] - 2 * u[i] + u[i + 1]) - (real)0.01 * u[i] * u[i];
        #pragma omp parallel for
        for (int i = 1; i < n - 1; i++)
            u[i] = v[i];
    }
}
