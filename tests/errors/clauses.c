void k(int n, float x[n], const float y[n]) {
    float t = 0, u = 0;
    const int c = 1;
#pragma omp parallel for lastprivate(t)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for ordered
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for linear(u : 1) nowait
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for private(t) firstprivate(t)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for private(nothing) private(x) private(c)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for default(none) shared(x)
    for (int i = 0; i < n; i++)
        x[i] = u;
#pragma omp parallel for default(private) strange(3)
    for (int i = 0; i < n; i++)
        x[i] = 1;
#pragma omp parallel for schedule(dynamic, 4) num_threads(n) if (n > 3) proc_bind(close)
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

/* expect: 4:26: error: clause 'lastprivate' is not supported */
/* expect: 7:26: error: clause 'ordered' is not supported */
/* expect: 10:26: error: clause 'linear' is not supported */
/* expect: 10:40: error: clause 'nowait' is not supported */
/* expect: 13:50: error: 't' is in two clauses */
/* expect: 16:34: error: 'nothing' in 'private' is not a variable */
/* expect: 16:51: error: the array parameter 'x' cannot be private */
/* expect: 16:62: error: private 'c' is const */
/* expect: 20:25: error: 'n' is in no clause, and default(none) asks for one */
/* expect: 21:16: error: 'u' is in no clause, and default(none) asks for one */
/* expect: 22:34: error: 'default(private)' is not supported */
/* expect: 22:43: error: unknown clause 'strange' */
