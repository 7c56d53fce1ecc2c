/* The recorded launch keeps its two reductions; the gradient is then one pass. The largest x is
 * only a shift: its own share of the gradient cancels. */
#include "hand.h"

#include <math.h>

void logsumexp_keep(int n, const double *restrict x, double kept[2]) {
    double top = -INFINITY, sum = 0.0;
#pragma omp parallel for reduction(max : top)
    for (int i = 0; i < n; i++)
        top = x[i] > top ? x[i] : top;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    kept[0] = top;
    kept[1] = sum;
}

void logsumexp_adjoint(int n, const double *restrict x, double *restrict x_b, double *y_b,
                       const double kept[2]) {
    double top = kept[0], scale = zmul(*y_b, 1.0 / kept[1]);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x_b[i] += zmul(scale, exp(x[i] - top));
    *y_b = 0.0;
}
