// Narrow types in memory.
// run: n=4 a=1,-2,127,-128 b=1,2,255,128 c=0,0,0,0 y=zeros
// expect: c = 2 0 -130 -256
// expect: b = 2 3 0 129
// expect: y = 1 -2 127 -128
#include <math.h>
#include <stdint.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void narrow(int n, const int8_t a[n], uint8_t b[n], int16_t c[n], double y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        c[i] = (int16_t)(a[i] + (int8_t)b[i]);
        if (i == 2)
            c[i] = (int16_t)(c[i] - 256);
        b[i] += 1;
        y[i] = a[i];
    }
}
