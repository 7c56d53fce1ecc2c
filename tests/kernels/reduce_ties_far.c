// The elements that equal the largest: two far apart, two close together, one, none, the start.
// run: n=25000 a=100 b=20000 w=0,2,2 y=0 --grad y=1
// edge: w.grad = 0 0.5 0.5
// run: n=25000 a=9001 b=9005 w=0,2,2 y=0 --grad y=1
// edge: w.grad = 0 0.5 0.5
// run: n=25000 a=24999 b=0 w=0,2,1 y=0 --grad y=1
// expect: w.grad = 0 1 0
// run: n=16384 a=-1 b=-1 w=2,3,3 y=0 --grad y=1
// edge: w.grad = 1 0 0
// run: n=25000 a=12000 b=-1 w=-4,-3,0 y=0 --grad y=1
// edge: w.grad = 0 0.5 0
// run: n=0 a=0 b=4 w=1,2,3 y=0 --grad y=1
// expect: w.grad = 0 0 0
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void largest(int n, int a, int b, const real w[3], real y[1])
{
    real m = -3;
    #pragma omp parallel for reduction(max: m)
    for (int i = 0; i < n; i++) {
        real v = w[i == a ? 1 : i == b ? 2 : 0];
        m = v > m ? v : m;
    }
    y[0] = m;
}
