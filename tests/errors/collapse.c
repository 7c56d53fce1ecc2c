void k(int n, float x[n][n]) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        x[i][0] = 1;
        for (int j = 0; j < n; j++)
            x[i][j] = 0;
    }
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            x[i][j] = 0;
#pragma omp parallel for collapse(4)
    for (int i = 0; i < n; i++)
        x[i][0] = 0;
#pragma omp parallel for collapse(n)
    for (int i = 0; i < n; i++)
        x[i][0] = 0;
#pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (x[i][j] > 0)
                break;
        }
}

/* expect: 4:9: error: collapse(2) needs 2 loops directly inside one another */
/* expect: 10:9: error: the bounds of collapsed loops must not depend on one another */
/* expect: 12:35: error: collapse(4) is not supported */
/* expect: 15:35: error: expected a constant integer */
/* expect: 22:17: error: 'break' cannot leave a parallel loop */
