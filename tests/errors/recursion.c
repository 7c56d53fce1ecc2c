static int fact(int k) {
    return k < 2 ? 1 : k * fact(k - 1);
}
static float b(float x);
static float a(float x) {
    return x > 1 ? b(x) : 1;
}
static float b(float x) {
    return a(x - 1);
}
void k(float x[1]) {
    x[0] = (float)fact(3) + a(x[0]);
}

/* expect: 2:28: error: recursion: fact -> fact */
/* expect: 6:20: error: recursion: b -> a -> b */
