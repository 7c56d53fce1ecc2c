// run: n=6 y=zeros
// expect: y = -1 1 255 65535 -128 1
#include <math.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void promotion(int n, long y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        int8_t s = -1;
        uint8_t u = 255;
        uint16_t w = 65535;
        switch (i) {
        case 0: y[i] = s; break;
        case 1: y[i] = s < u; break;
        case 2: y[i] = (uint8_t)s; break;
        case 3: y[i] = (uint16_t)(w + 65536); break;
        case 4: y[i] = (int8_t)(u - 127); break;
        case 5: y[i] = -1 > 1u; break;
        }
    }
}
