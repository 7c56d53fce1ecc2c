// Second order, in both orders, through products, maxima and minima, onto elements too, and a loop that
// overwrites what it read.
// run folds: n=3 x=1,2,3 k=2 e=zeros --grad e=1,1 --dot x=1,0,1 --dot k=1
// expect: e = 12 18
// edge: x.grad = 12 6 16
// edge: x.hvp = 10 11 16
// edge: k.grad = 15
// edge: k.hvp = 14
// run marches: n=2 x=0.5,1 y=1,2 --grad y=1,1 --dot x=1,1 --dot y=0,1
// edge: x.grad = 0.75 48
// edge: x.hvp = 3 192
// edge: y.grad = 0.5 32
// edge: y.hvp = 3 144
// run onto: n=4 x=3,1,2,5 y=-1 z=9 p=2 --grad y=1 --grad z=2 --grad p=1 --dot x=1,1,1,1 --dot p=1
// edge: x.grad = 20 66 30 22
// edge: x.hvp = 44 104 61 30
// edge: p.grad = 30
// edge: p.hvp = 61
// check: folds --second-order
// check: marches --second-order
// check: onto n=4 --second-order
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void folds(int n, const real x[n], real k, real e[2])
{
    real p = k, m = -9;
    #pragma omp parallel for reduction(*: p)
    for (int i = 0; i < n; i++)
        p *= x[i];
    #pragma omp parallel for reduction(max: m)
    for (int i = 0; i < n; i++) {
        real v = x[i] * x[i] * k;
        m = v > m ? v : m;
    }
    e[0] += p;
    e[1] += m;
}

void marches(int n, const real x[n], real y[n])
{
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            y[i] = y[i] * y[i] * x[i];
    }
}

void onto(int n, const real x[n], real y[1], real z[1], real p[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v = x[i] * x[i], w = v * x[i];
        #pragma omp atomic compare
        if (y[0] < v) { y[0] = v; }
        #pragma omp atomic compare
        if (w < z[0]) { z[0] = w; }
        #pragma omp atomic
        p[0] *= x[i];
    }
}
