typedef float (*op)(float);
static float one(float x) {
    return x + 1;
}
static float apply(float (*f)(float), float x) {
    return f(x);
}
void k(float x[1]) {
    float (*p)(float) = one;
    x[0] = apply(one, x[0]) + p(2);
}

/* expect: 1:17: error: function pointers are not supported */
/* expect: 5:28: error: function pointers are not supported */
/* expect: 6:12: error: 'f' is not a function; calls through pointers are not supported */
/* expect: 9:13: error: function pointers are not supported */
/* expect: 9:25: error: 'one' is a function; function pointers are not supported */
/* expect: 10:18: error: 'one' is a function; function pointers are not supported */
/* expect: 10:31: error: 'p' is not a function; calls through pointers are not supported */
