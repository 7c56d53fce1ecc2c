void k(int n, int m, const float x[n], float y[n], int c[1]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[0] = x[i];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[j] += x[i];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        y[m - 1] += x[i];
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        if (i == 0)
            c[0] = 1;
#pragma omp parallel for
    for (int i = 0; i < 1; i++)
        c[0] = 1;
}

/* expect: 4:14: error: all iterations of the parallel loop write the same element of 'y': a race */
/* expect: 11:18: error: all iterations of the parallel loop write the same element of 'y': a race */
/* expect: 2:2: note: the parallel loop is here */
