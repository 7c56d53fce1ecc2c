float exp(float);
void k(int n, float x[n], int i[n]) {
    x[0] = sinf(x[0]) + fabs(x[1]) + exp(x[2]) + __builtin_sqrtf(x[3]);
    i[0] = abs(i[0]) + isnan(x[0]);
    x[1] = rg_stop(x[1]);
}

/* expect: 3:12: error: 'sinf' is not declared */
/* expect: way out: #include <math.h> */
/* expect: 3:25: error: 'fabs' is not declared */
/* expect: 4:12: error: 'abs' is not declared */
/* expect: way out: #include <stdlib.h> */
/* expect: 4:24: error: 'isnan' is not declared */
