// log(sum(exp(x))): p = softmax, the gradient is p, H d = p (d - <p, d>); and its tangent.
// run: n=3 x=0.5,-1,2 y=0 --grad y=1 --dot x=1,2,3
// edge: x.grad = py: [exp(v) / sum(exp(w) for w in x) for v in x]
// edge: x.hvp = py: [exp(v) / sum(exp(w) for w in x) * (d - sum(exp(w) * e for w, e in zip(x, [1, 2, 3])) / sum(exp(w) for w in x)) for v, d in zip(x, [1, 2, 3])]
// run: n=3 x=0.5,-1,2 y=0 --dot x=1,2,3
// expect: y.dot = py: [sum(exp(w) * e for w, e in zip(x, [1, 2, 3])) / sum(exp(w) for w in x)]
// run: n=3 x=0.5,-1,2 y=0 --grad y=2
// expect: y = py: [log(sum(exp(v) for v in x))]
// expect: x.grad = py: [2 * exp(v) / sum(exp(w) for w in x) for v in x]
// check: n=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void logsumexp(int n, const real x[n], real y[1])
{
    real top = -INFINITY, sum = 0;
    #pragma omp parallel for reduction(max: top)
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    #pragma omp parallel for reduction(+: sum)
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    y[0] = top + log(sum);
}
