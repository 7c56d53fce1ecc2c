static float sum(int n, ...) {
    return 0;
}
void k(float x[1]) {
    x[0] = 1;
}

/* expect: 1:25: error: functions with any number of arguments are not part of kernel C */
