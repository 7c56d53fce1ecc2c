static void put(float *p, float v) {
    if (v > 0)
        *p = v;
}
void k(int n, const float x[n], float y[n]) {
    float s = 0;
    float *p = &s;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        put(p, x[i]);
    y[0] = s;
}

/* expect: 3:12: error: all iterations of the parallel loop write the same element of 's': a race */
/* expect: 8:2: note: the parallel loop is here */
