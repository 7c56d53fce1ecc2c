#include <math.h>
typedef struct {
    float x;
} s;
static float f(float a, int b) {
    return a;
}
static void g(const float *p, float *q) {
    q[0] = p[0];
}
void k(int n, const float x[n], float y[n], s v, float m[n][n]) {
    y[0] = f(1);
    y[1] = f(1, 2, 3);
    y[2] = f(v, 1);
    y[3] = sinf();
    y[4] = sinf(v);
    g(y, x);
    g(m, y);
    y[5] = n(2);
    y[6] = g(x, y);
    f = 3;
}

/* expect: 12:12: error: 'f' takes 2 arguments, not 1 */
/* expect: 13:12: error: 'f' takes 2 arguments, not 3 */
/* expect: 14:14: error: cannot pass 'float' from 's' */
/* expect: 15:12: error: 'sinf' takes 1 argument, not 0 */
/* expect: 16:17: error: 'sinf' takes numbers; this is 's' */
/* expect: 17:10: error: cannot pass 'float *' from 'const float *': it would drop const */
/* expect: 18:7: error: cannot pass 'const float *' from 'float [n] *' */
/* expect: 19:12: error: 'n' is not a function; calls through pointers are not supported */
/* expect: 20:12: error: cannot assign 'float' from 'void' */
/* expect: 21:5: error: 'f' is a function; function pointers are not supported */
