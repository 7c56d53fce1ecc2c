void k(float x[n], int n) {
    x[0] = 1;
}
void k2(float f, float x[f]) {
    x[0] = 1;
}
void k3(int n, float (*x)[]) {
    x[0][0] = 1;
}
void k4(int, float x[3]) {
    x[0] = 1;
}

/* expect: 1:16: error: 'n' is undeclared */
/* expect: 4:26: error: an array's length must be an integer */
/* expect: 7:24: error: only the first length of an array may be left out */
/* expect: 10:12: error: parameter 1 of kernel 'k4' has no name */
