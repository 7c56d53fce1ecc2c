void k(int n, float x[n]) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (x[i] < 0)
            break;
        while (x[i] > 3) {
            x[i] -= 1;
            break;
        }
        if (x[i] > 2)
            return;
        if (x[i] > 1)
            continue;
        x[i] = 2;
    }
}

/* expect: 5:13: error: 'break' cannot leave a parallel loop */
/* expect: 11:13: error: 'return' cannot leave a parallel loop */
