// The results of so many reductions would need 16 GB: they are computed again. None of them runs.
// run: n=3 steps=2000000000 go=0 x=1,2,3 y=zeros --grad y=1,1
// expect: y = 0 14
// expect: x.grad = 2 4 6
// run: n=3 steps=2 go=1 x=1,2,3 y=zeros --grad y=1,1
// expect: y = 24 14
// expect: x.grad = 26 16 14 tol 1e-07
// check: n=3 steps=3
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void sums(int n, int steps, int go, const real x[n], real y[2])
{
    real s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i] * x[i];
    y[1] = s;
    y[0] = 0;
    if (go == 1)
        for (int t = 0; t < steps; t++) {
            real p = 2;
            #pragma omp parallel for reduction(*: p)
            for (int i = 0; i < n; i++)
                p *= x[i];
            y[0] += p;
        }
}
