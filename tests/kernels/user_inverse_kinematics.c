// Coordinate descent over a chain of joints.
// check: n=3 links=4 iters=5
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { real c, s, x, y; } frame;
static frame chain(int links, const real *theta, const real *len)
{
    frame f = {1, 0, 0, 0};
    for (int k = 0; k < links; k++) {
        real c = cos(theta[k]), s = sin(theta[k]);
        frame g = {f.c * c - f.s * s, f.s * c + f.c * s, f.x, f.y};
        g.x += len[k] * g.c;
        g.y += len[k] * g.s;
        f = g;
    }
    return f;
}
void ik(int n, int links, int iters, const real target[n][2], const real len[links], real theta[n][links])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real th[links];
        for (int k = 0; k < links; k++) th[k] = theta[i][k];
        for (int it = 0; it < iters; it++)
            for (int k = links - 1; k >= 0; k--) {
                frame e = chain(links, th, len);
                real dx = target[i][0] - e.x, dy = target[i][1] - e.y;
                real g = -(dx * -e.s + dy * e.c);
                th[k] -= 0.1f * g;
            }
        for (int k = 0; k < links; k++) theta[i][k] = th[k];
    }
}
