static void g_short(const float *x, float *x_b, const float *y) {
    (void)x, (void)x_b, (void)y;
}
static void g_const(const float *x, const float *x_b, const float *y, float *y_b) {
    (void)x, (void)x_b, (void)y, (void)y_b;
}
static void g_written(const float *x, float *x_b, float *y, float *y_b) {
    (void)x, (void)x_b, (void)y, (void)y_b;
}
static void g1(const float *x, float *y) {
    *y = *x;
}
static void g2(const float *x, float *y) {
    *y = *x;
}
static void g3(const float *x, float *y) {
    *y = *x;
}
static void reads(const float *x, int *n) {
    *n = (int)*x;
}
#pragma retrograd adjoint(g1) = g_short
#pragma retrograd adjoint(g2) = g_const
#pragma retrograd adjoint(g3) = g_written
#pragma retrograd adjoint(reads) = g_short
void k(float x[3], float y[3]) {
    g1(x, y);
}

/* expect: 1:13: error: 'g_short' is no adjoint of 'g1': parameter 4 should be a pointer to the gradient of 'y' */
/* expect: way out: its parameters are those of the function, pointers to const, each that holds floats followed by a pointer to what it gets; the last is the cotangent of the result, if it has one */
/* expect: 4:50: error: 'g_const' is no adjoint of 'g2': parameter 2 should be a pointer to the gradient of 'x' */
/* expect: 7:58: error: 'g_written' is no adjoint of 'g3': parameter 3 should be 'y' of 'g3', const */
/* expect: 25:27: error: 'reads' does not compute a float or double from its arguments */
/* expect: way out: return one number, or write through pointers and return nothing; a kernel may have an adjoint of any kind */
