void k(int n, float x[n]) {
    for (int i = 0; i < n; i++) {
        x[i] = 1;
    if (n) {
        x[0] = 2;
}

/* expect: 6:1: error: expected '}' before the end of the file */
