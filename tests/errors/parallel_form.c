void k(int n, float x[n], int m[1]) {
    int i;
    float f;
#pragma omp parallel for
    for (i = 0; i < n; i *= 2)
        x[i] = 1;
#pragma omp parallel for
    for (i = 0; x[i] > 0; i++)
        x[i] = 1;
#pragma omp parallel for
    for (f = 0; f < 3; f++)
        x[0] = 1;
#pragma omp parallel for
    for (i = 0; i < n; i--)
        x[i] = 1;
#pragma omp parallel for
    for (i = 0; i < n; i++)
        i += (int)x[i];
#pragma omp parallel for
    for (i = 0; i < m[0]; i++)
        m[i] = 1;
#pragma omp parallel for
    for (;;)
        x[0] = 1;
#pragma omp parallel for
    while (n)
        x[0] = 1;
#pragma omp parallel for
    for (i = n; i-- > 0;)
        x[i] = 1;
#pragma omp parallel for
    for (short h = 0; h < n; h++)
        x[h] = 1;
}

/* expect: 5:26: error: a parallel loop must be countable: its step must be i++, i--, i += c or i -= c */
/* expect: 8:22: error: a parallel loop must be countable: its condition must compare the variable that the step changes */
/* expect: 11:5: error: a parallel loop must be countable: its variable must be an int, unsigned, long or size_t */
/* expect: 14:19: error: a parallel loop must be countable: its step leads away from its bound */
/* expect: 18:11: error: a parallel loop must be countable: its body changes the loop variable */
/* expect: 20:22: error: a parallel loop must be countable: its bound changes in the body, or may change: keep it in a local before the loop */
/* expect: 23:5: error: a parallel loop must be countable: it needs a condition: i < n */
/* expect: 26:5: error: a 'for' must follow '#pragma omp parallel for' */
/* expect: 29:5: error: a parallel loop must be countable: it needs a start, a condition and a step */
/* expect: 32:5: error: a parallel loop must be countable: its variable must be an int, unsigned, long or size_t */
