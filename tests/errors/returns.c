static float none(float x) {
    x += 1;
}
static float empty(float x) {
    return;
}
static void full(float x) {
    return x;
}
void k(float x[1]) {
    full(x[0]);
    x[0] = none(1) + empty(2);
    return 1;
}

/* expect: 1:14: warning: 'none' can reach its end without a value */
/* expect: 5:5: error: 'empty' must return a value of type 'float' */
/* expect: 8:5: error: 'full' returns void; it cannot return a value */
/* expect: 13:5: error: 'k' returns void; it cannot return a value */
