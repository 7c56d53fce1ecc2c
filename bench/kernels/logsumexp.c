/* log of the sum of exp(x), safe from overflow. */
#include <math.h>

void logsumexp(int n, const double x[n], double y[1]) {
    double top = -INFINITY, sum = 0.0;
#pragma omp parallel for reduction(max : top)
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += exp(x[i] - top);
    y[0] = top + log(sum);
}
