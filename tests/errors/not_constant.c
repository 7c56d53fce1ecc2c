static float f(float x) {
    return x;
}
static const float a = f(2);
void k(int n, float x[n]) {
    static const int m = n;
    x[0] = a;
}

/* expect: 4:24: error: the initialiser of 'a' is not constant */
/* expect: 6:26: error: the initialiser of 'm' is not constant */
