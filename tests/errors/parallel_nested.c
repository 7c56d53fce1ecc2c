static void clear(int n, float *x) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
void k(int n, float x[n][n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp parallel for
        for (int j = 0; j < n; j++)
            x[i][j] = 0;
    }
}

/* expect: 9:2: error: a parallel loop inside another */
