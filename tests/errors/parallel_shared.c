void k(int n, const float x[n], float y[n]) {
    float s = 0, t;
    int last = 0, count = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        t = x[i] * 2;
        y[i] = t;
        s += x[i];
        if (x[i] > 0)
            last = i;
        count++;
        for (last = 0; last < 3; last++)
            y[i] += 1;
    }
    y[0] = s + last + count;
}

/* expect: 6:11: error: all iterations assign 't', which is declared outside the parallel loop: a race */
/* expect: 8:11: error: all iterations assign 's', which is declared outside the parallel loop: a race */
/* expect: 10:18: error: all iterations assign 'last', which is declared outside the parallel loop: a race */
/* expect: 11:14: error: all iterations assign 'count', which is declared outside the parallel loop: a race */
/* expect: 12:19: error: all iterations assign 'last', which is declared outside the parallel loop: a race */
/* expect: 12:38: error: all iterations assign 'last', which is declared outside the parallel loop: a race */
/* expect: 4:2: note: the parallel loop is here */
