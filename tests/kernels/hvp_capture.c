// Second order through atomic captures: the tangent records what was captured, and its tangents.
// run lists: n=4 x=1,2,3,4 y=zeros c=0 e=0 --grad e=1 --dot x=1,1,0,2
// expect: e = 200
// edge: x.grad = 6 24 54 96
// edge: x.hvp = 12 24 0 96
// run counts: n=3 x=1,2,3 s=2 y=zeros --grad y=1,1,1 --dot s=1 --dot x=0,1,0
// expect: y = 8 16 24
// edge: x.grad = 8 8 8
// edge: s.grad = 72
// edge: x.hvp = 12 12 12
// edge: s.hvp = 84
// run steps: n=3 x=1,2,3 y=1,1,1 c=zeros --grad y=1,1,1 --dot x=1,1,1 --dot y=0,1,0
// edge: x.grad = py: [2*a for a in (1,2,3)]
// edge: x.hvp = 2 6 2
// check: lists --second-order
// check: counts --second-order
// check: steps --second-order
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void lists(int n, const real x[n], real y[n], int c[1], real e[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int k;
        #pragma omp atomic capture
        k = c[0]++;
        y[k] = x[i] * x[i] * x[i] * 2;
    }
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        #pragma omp atomic
        e[0] += y[i];
    }
}

/* A captured float with a gradient: that of what the element held before. */
void counts(int n, const real x[n], real s[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v;
        #pragma omp atomic capture
        { v = s[0]; s[0] += 0; }
        y[i] = v * v * v * x[i];
    }
}

/* In a time loop that overwrites what it reads. */
void steps(int n, const real x[n], real y[n], int c[2])
{
    for (int t = 0; t < 2; t++) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            int k;
            #pragma omp atomic capture
            k = c[t]++;
            if (t)
                y[i] = y[i] * (real)(k >= 0);
            else
                y[i] = y[i] * x[i] * x[i];
        }
    }
}
