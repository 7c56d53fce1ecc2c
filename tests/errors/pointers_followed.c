void two_arrays(int n, float x[n], float y[n]) {
    float *p = x;
    if (n > 3)
        p = y;
    p[0] = 1;
    float *q = n > 3 ? x : y;
    q[0] = 2;
    x[0] = (float)(x - y);
    if (x < y)
        x[1] = 1;
}
void unset(int n, float x[n]) {
    float *p;
    p[0] = 1;
}
static void zero(float *p) {
    p[1] = 0;
}
void single(int n, float x[n]) {
    float s = 1;
    zero(&s);
    x[0] = s;
}
/* expect: 4:11: error: the pointer 'p' may point into two arrays, 'x' and 'y' */
/* expect: 6:22: error: the pointer may point into two arrays */
/* expect: 8:22: error: these pointers may point into different arrays */
/* expect: 9:11: error: these pointers may point into different arrays */
/* expect: 14:5: error: the pointer 'p' is used before it points anywhere */
/* expect: 17:6: error: this pointer points to a single object and cannot move */
