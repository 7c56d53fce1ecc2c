// A square root by Newton's method, differentiated as what it computes and not as it does it; structs
// by value, an integer argument, a loop in the adjoint, calls in a branch and in a loop.
// run: n=3 x=4,9,2 y=zeros --grad y=1,1,1
// expect: x.grad = 86.97253468 176.9928112 50.92913308 tol 0.0001
// check:
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real a, b; } pair;

static real root(pair p, int rounds)
{
    real v = p.a + p.b, r = v > 1 ? v : 1;
    for (int i = 0; i < rounds; i++) {
        real d = (r * r - v) / (2 * r);
        if (fabs(d) < (real)1e-12)
            break;
        r -= d;
    }
    return r;
}

#pragma retrograd adjoint(root) = root_adjoint
static void root_adjoint(pair p, pair *p_b, int rounds, real r_b)
{
    real g = 0;
    for (int i = 0; i < 2; i++)
        g += r_b / (4 * root(p, rounds));
    p_b->a += g;
    p_b->b += g;
}

void roots(int n, const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real s = 0;
        for (int j = 1; j < 3; j++) {
            pair p = {x[i] * x[i] + (real)0.5, x[i] * (real)j};
            if (x[i] > 0)
                s += root(p, 30) * (real)j;
        }
        y[i] = s * s;
    }
}
