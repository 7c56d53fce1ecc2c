/* y = a x + sin x, one thread for each element; x and a are active. */
#include <math.h>

void axsin(int n, float a, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + sinf(x[i]);
}
