void k(int n, float x[n]) {
    float *p = malloc(4 * n);
    memset(x, 0, 4 * n);
    memcpy(x, x, 4);
    free(p);
}

/* expect: 2:16: error: 'malloc' cannot be called in a kernel: it allocates memory */
/* expect: 3:5: error: 'memset' cannot be called in a kernel: it sets bytes */
/* expect: 4:5: error: 'memcpy' cannot be called in a kernel: it copies bytes */
/* expect: 5:5: error: 'free' cannot be called in a kernel: it frees memory */
