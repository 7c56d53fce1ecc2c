// A small interpreter: registers in a local array, jumps.
// check: n=6
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

typedef struct { int op; int a, b; } instr;
void vm(int n, int len, const instr code[len], const real x[n], real y[n])
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) {
        real r[4] = {x[i], 1, 0.5f, -x[i]};
        for (int pc = 0; pc < len; pc++) {
            int a = code[pc].a & 3, b = code[pc].b & 3;
            switch (code[pc].op) {
            case 0: r[a] += r[b]; break;
            case 1: r[a] *= r[b];
            case 2: r[a] = sin(r[a]); break;
            case 3: { real t = r[a]; r[a] = r[b]; r[b] = t; } break;
            case 4: if (r[a] > 0) pc++; break;
            default: r[0] = r[0] * 0.5f + r[b];
            }
        }
        y[i] = r[0] + r[1] * r[2] - r[3];
    }
}
