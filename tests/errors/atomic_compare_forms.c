/* all of these are fine: nothing is expected */
void k(int n, const float x[n], float y[n], int c[n]) {
    int s = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float w;
        int v;
#pragma omp atomic compare
        if (y[0] < x[i]) { y[0] = x[i]; }
#pragma omp atomic compare
        if (x[i] < y[1])
            y[1] = x[i];
#pragma omp atomic compare
        y[2] = x[i] > y[2] ? x[i] : y[2];
#pragma omp atomic compare seq_cst
        y[3] = y[3] > x[i] ? x[i] : y[3];
#pragma omp atomic read
        w = y[4];
#pragma omp atomic capture relaxed
        v = c[0] += 2;
#pragma omp atomic capture
        {
            v = c[1];
            c[1] = v;
        }
#pragma omp atomic update hint(0)
        s = 1 + s;
        (void)w;
        (void)v;
    }
    c[2] = s;
}
