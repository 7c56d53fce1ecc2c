/* The adjoint loads y's gradient, clears it, and uses what it loaded. */
void square(int n, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}
