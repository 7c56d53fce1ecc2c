/* As little work as a launch can have. */
void small(int n, float a, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i] = a * x[i];
}
