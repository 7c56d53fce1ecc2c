void half(int n, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[i / 2] += x[i];
}
void mod(int n, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 4; i < n; i++)
        y[i % 8] += x[i];
}
void inner(int n, int m, const float x[n][m], float y[m]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] += x[i][j];
}
void collapsed(int n, int m, const float x[n][m], float y[n]) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += x[i][j];
}
void stencil(int n, float x[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (i > 0 && i < n - 1)
            x[i] = 0.5f * (x[i] + x[i + 1]);
}
void wrap(int n, float x[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        x[i] = x[(i + 1) % n];
}
void convolve(int n, int first, const float x[n], float y[n + 2]) {
#pragma omp parallel for
    for (int i = first; i < n; i++)
        for (int k = 0; k < 3; k++)
            y[i + k] += x[i];
}
void looked_up(int n, const int at[n], const float x[n][3], float y[n]) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            y[at[i]] += x[i][k];
}
void half_atomic(int n, const float x[n], float y[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
        y[i] += x[i];
        if (i > 0)
            y[i - 1] = 1;
    }
}

/* expect: 4:18: error: iterations 0 and 1 of the parallel loop write the same element of 'y': a race */
/* expect: 2:2: note: the parallel loop is here */
/* expect: way out: put '#pragma omp atomic' before it if it is an update, or give each iteration an element of its own */
/* expect: 9:18: error: iterations 4 and 12 of the parallel loop write the same element of 'y': a race */
/* expect: 15:18: error: iterations 0 and 1 of the parallel loop write the same element of 'y': a race */
/* expect: 21:18: error: iterations (0, 0) and (0, 1) of the parallel loop write the same element of 'y': a race */
/* expect: 27:18: error: iteration 2 of the parallel loop writes an element of 'x' that iteration 1 reads: a race */
/* expect: 27:36: note: iteration 1 reads it here */
/* expect: way out: write into another array, or split the loop into one that reads and one that writes */
/* expect: 32:14: error: iteration 1 of the parallel loop writes an element of 'x' that iteration 0 reads: a race */
/* expect: 38:22: error: iterations start and start + 1 of the parallel loop write the same element of 'y': a race */
/* expect: 44:22: error: iterations (0, 0) and (0, 1) of the parallel loop write the same element of 'y': a race */
/* expect: 52:22: error: iteration 1 of the parallel loop writes an element of 'y' that iteration 0 updates: a race */
/* expect: 50:10: note: iteration 0 updates it here */
