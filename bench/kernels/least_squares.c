/* Half the squared residual of a linear model; x is active, the data are not. */
void least_squares(int n, int m, const float a[n][m], const float b[n], const float x[m],
                   float loss[1]) {
    float total = 0.0f;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        float r = -b[i];
        for (int j = 0; j < m; j++)
            r += a[i][j] * x[j];
        total += 0.5f * r * r;
    }
    loss[0] = total;
}
