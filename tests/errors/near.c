#include <math.h>

typedef struct {
    float x, y;
} vec2;

static float square(float a) {
    return a * a;
}

void k(int n, float data[n]) {
    vec3 v;
    flaot f = 1;
    bool b = 1;
    uint32_t u = 1;
    data[0] = sinff(1) + sqaure(2) + sqrtt(3);
    dtaa[0] = 1;
#pragma omp paralel for
    for (int i = 0; i < n; i++)
        data[i] = 1;
    float s = 0;
#pragma omp parallel for reductoin(+ : s)
    for (int i = 0; i < n; i++)
        s += data[i];
}

/* expect: 12:5: error: unknown type 'vec3' */
/* expect: way out: did you mean 'vec2'? */
/* expect: 13:5: error: unknown type 'flaot' */
/* expect: way out: did you mean 'float'? */
/* expect: 14:5: error: unknown type 'bool' */
/* expect: way out: #include <stdbool.h> */
/* expect: 15:5: error: unknown type 'uint32_t' */
/* expect: way out: #include <stdint.h> */
/* expect: 16:15: error: 'sinff' is not a known function */
/* expect: way out: did you mean 'sinf'? */
/* expect: 16:26: error: 'sqaure' is not a known function */
/* expect: way out: did you mean 'square'? */
/* expect: 16:38: error: 'sqrtt' is not a known function */
/* expect: way out: did you mean 'sqrt'? */
/* expect: 17:5: error: 'dtaa' is undeclared */
/* expect: way out: did you mean 'data'? */
/* expect: 18:13: error: unknown OpenMP directive 'paralel' */
/* expect: way out: did you mean 'parallel'? */
/* expect: 22:26: error: unknown clause 'reductoin' */
/* expect: way out: did you mean 'reduction'? */
