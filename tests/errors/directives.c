void k(int n, float x[n]) {
#pragma omp critical
    x[0] += 1;
#pragma omp sections
    x[0] += 1;
#pragma omp task
    x[0] += 1;
#pragma omp barrier
#pragma omp single
    x[0] += 1;
#pragma omp for
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel
    x[0] += 1;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp ordered
    x[0] += 1;
#pragma omp whatever
    x[0] += 1;
#pragma omp simd
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma GCC ivdep
    for (int i = 0; i < n; i++)
        x[i] = 1;
}
#pragma omp threadprivate(k)
#pragma omp declare reduction(f : float : omp_out += omp_in)

/* expect: 2:13: error: OpenMP's 'critical' is not supported */
/* expect: 4:13: error: OpenMP's 'sections' is not supported */
/* expect: 6:13: error: OpenMP's 'task' is not supported */
/* expect: 8:13: error: OpenMP's 'barrier' is not supported */
/* expect: 9:13: error: OpenMP's 'single' is not supported */
/* expect: 11:13: error: OpenMP's 'for' is not supported */
/* expect: 14:13: error: 'parallel' without 'for' is not supported */
/* expect: 16:13: error: OpenMP's 'target' is not supported */
/* expect: 19:13: error: OpenMP's 'ordered' is not supported */
/* expect: 21:13: error: unknown OpenMP directive 'whatever' */
/* expect: 30:2: error: an OpenMP pragma outside of a function */
/* expect: 31:13: error: 'declare reduction' is not supported */
