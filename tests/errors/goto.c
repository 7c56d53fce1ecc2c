void k(int n, float x[n]) {
again:
    x[0] += 1;
    if (x[0] < 3)
        goto again;
}

/* expect: 2:1: error: labels are not part of kernel C */
/* expect: 5:9: error: goto is not part of kernel C */
