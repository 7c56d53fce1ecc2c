static void clear(int n, float *x) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = 0;
}
void k(int n, float x[n][n]) {
    clear(n, x[0]);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        clear(n, x[i]);
}

/* expect: 2:2: error: a parallel loop inside another, through a call */
