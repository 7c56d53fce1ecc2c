// A sorting network of fmin and fmax.
// check: n=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define SWAP(a, b) do { real lo = fmin(v[a], v[b]), hi = fmax(v[a], v[b]); v[a] = lo; v[b] = hi; } while (0)
void sort5(int n, const real x[n][5], const real w[5], real median[n], real weighted[1])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real v[5];
        for (int k = 0; k < 5; k++) v[k] = x[i][k];
        SWAP(0, 3); SWAP(1, 4); SWAP(0, 2); SWAP(1, 3); SWAP(0, 1); SWAP(2, 4); SWAP(1, 2); SWAP(3, 4); SWAP(2, 3);
        median[i] = v[2];
        real s = 0;
        for (int k = 0; k < 5; k++) s += w[k] * v[k];
        #pragma omp atomic
        weighted[0] += s;
    }
}
