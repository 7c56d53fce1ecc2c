void k(int n, float x[n], float y[n]) {
    float s = 0, p = 1;
#pragma omp parallel for schedule(
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for schedule(sometimes, 4)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for num_threads(threads)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for if (n > 100 && x) num_threads()
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for reduction(*: p p) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma omp parallel for schedule(monotonic: dynamic, 4) if(parallel: n > 100) num_threads(n / 2)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp simd
    y[0] = s;
#pragma omp declare simd
    y[1] = p;
}

/* expect: 3:34: error: the '(' of 'schedule' is not closed */
/* expect: 6:35: error: unknown schedule 'sometimes' */
/* expect: way out: use static, dynamic, guided, auto or runtime */
/* expect: 9:38: error: 'threads' is undeclared */
/* expect: 12:41: error: a pointer cannot be tested for null */
/* expect: 12:55: error: 'num_threads' has no argument */
/* expect: 15:41: error: expected ')' in 'reduction' */
/* expect: 21:13: error: '#pragma omp simd' is not before a loop */
/* expect: 23:13: error: 'declare simd' stands before a function */
