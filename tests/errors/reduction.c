void k(int n, const float x[n], float y[n]) {
    float s = 0, m = 0;
    int c = 0;
    const float f = 0;
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++) {
        s += x[i];
        y[i] = s;
    }
#pragma omp parallel for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s *= x[i];
#pragma omp parallel for reduction(max : m)
    for (int i = 0; i < n; i++)
        if (x[i] < m)
            m = x[i];
#pragma omp parallel for reduction(+ : c)
    for (int i = 0; i < n; i++)
        c += x[i];
#pragma omp parallel for reduction(/ : s)
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma omp parallel for reduction(+ : y)
    for (int i = 0; i < n; i++)
        y[0] += x[i];
#pragma omp parallel for reduction(+ : y[:n])
    for (int i = 0; i < n; i++)
        y[i] += x[i];
#pragma omp parallel for reduction(& : m) reduction(+ : f)
    for (int i = 0; i < n; i++)
        y[i] = 1;
#pragma omp parallel for reduction(+ s)
    for (int i = 0; i < n; i++)
        s += x[i];
#pragma omp parallel for reduction(&& : c)
    for (int i = 0; i < n; i++)
        if (x[i] < 0)
            c = 0;
    y[0] = s + m + c + f;
}

/* expect: 8:16: error: reduction variable 's' is used outside of its update */
/* expect: 12:9: error: reduction variable 's' is used outside of its update */
/* expect: 15:20: error: reduction variable 'm' is used outside of its update */
/* expect: 19:9: error: reduction variable 'c' is used outside of its update */
/* expect: 20:36: error: '/' is not an operator of reductions */
/* expect: 23:40: error: reduction of 'y', which is not a number */
/* expect: 26:40: error: 'reduction' of part of the array 'y' is not supported */
/* expect: 29:40: error: this reduction needs an integer; 'm' is 'float' */
/* expect: 29:57: error: reduction of 'f', which is const */
/* expect: 32:38: error: expected ':' in 'reduction' */
/* expect: 34:11: error: all iterations assign 's', which is declared outside the parallel loop: a race */
/* expect: 38:13: error: reduction variable 'c' is used outside of its update */
