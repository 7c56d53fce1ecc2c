// Narrow integers, wrap-around, a staircase of floats.
// check: n=6
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void quant(int n, const real x[n], const int8_t q[n], const uint16_t w[n], uint8_t out[n], int64_t acc[1], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int v = (int)(x[i] * 100);
        out[i] = (uint8_t)(v & 0xff) ^ (uint8_t)q[i];
        #pragma omp atomic
        acc[0] += (int64_t)w[i] << 3;
        y[i] = x[i] * q[i] + (real)w[i] * x[i] + (v % 7) + (unsigned char)300;
        y[i] += (int8_t)(q[i] * 100) * x[i];
        y[i] += ~q[i] + !q[i] + (q[i] >> 1) * x[i];
    }
}
