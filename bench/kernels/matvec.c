/* y = A x; A and x are active. */
void matvec(int n, int m, const float a[n][m], const float x[m], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int j = 0; j < m; j++)
            sum += a[i][j] * x[j];
        y[i] = sum;
    }
}
