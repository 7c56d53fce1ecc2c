void k(float x[1]) {
    const char *s = "text";
    x[0] = 1;
}

/* expect: 2:21: error: strings are not part of kernel C */
