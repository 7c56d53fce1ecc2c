void k(int n, const float x[n], float y[n], int c[n]) {
    float v;
    int s = 0;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        float w;
#pragma omp atomic
        y[0] /= x[i];
#pragma omp atomic
        y[0] = x[i];
#pragma omp atomic
        y[0] = y[0] + y[0];
#pragma omp atomic
        c[0] += x[i];
#pragma omp atomic
        c[0] <<= 1;
#pragma omp atomic read
        w + 1;
#pragma omp atomic write
        c[0]++;
#pragma omp atomic capture
        w = x[i] + 1;
#pragma omp atomic compare
        if (y[0] == x[i])
            y[0] = 2;
#pragma omp atomic compare
        if (y[0] < x[i])
            y[0] = x[i] + 1;
#pragma omp atomic sometimes
        c[0] += 1;
#pragma omp atomic
        s += 1;
        c[i] = s;
    }
}

/* expect: 8:9: error: this cannot be done atomically: this operator has no atomic form; + - * & | ^ have */
/* expect: 10:9: error: this cannot be done atomically: expected x += e, x -= e, x *= e, x++ or the like */
/* expect: 12:9: error: this cannot be done atomically: the value reads the element that is updated */
/* expect: 14:9: error: this cannot be done atomically: an integer is updated with a floating value: convert it first */
/* expect: 16:9: error: this cannot be done atomically: this operator has no atomic form; + - * & | ^ have */
/* expect: 18:9: error: this cannot be done atomically: expected v = x */
/* expect: 20:9: error: this cannot be done atomically: expected x = e */
/* expect: 22:9: error: this cannot be done atomically: expected x += e, x -= e, x *= e, x++ or the like */
/* expect: 24:9: error: this cannot be done atomically: compare and swap is not supported; min and max are */
/* expect: 27:9: error: this cannot be done atomically: the value compared and the value assigned differ */
/* expect: 29:20: error: unknown clause 'sometimes' of atomic */
/* expect: 33:16: error: 's' is read while other iterations update it */
