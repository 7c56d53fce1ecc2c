/* log of the sum of exp(x), safe from overflow. */
#include <math.h>

void logsumexp(int n, const float x[n], float y[1])
{
    float top = -INFINITY, sum = 0.0f;
    #pragma omp parallel for reduction(max : top)
    for (int i = 0; i < n; i++)
        top = fmaxf(top, x[i]);
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += expf(x[i] - top);
    y[0] = top + logf(sum);
}
