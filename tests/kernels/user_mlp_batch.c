// A batch through two layers; the hidden layer lives in scratch.
// check: batch=3 in=4 hid=5 outn=2
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real relu(real x) { return x > 0 ? x : 0.01f * x; }
void mlp(int batch, int in, int hid, int outn, const real x[batch][in], const real w1[hid][in], const real b1[hid],
         const real w2[outn][hid], const real b2[outn], const real y[batch][outn], real loss[1])
{
    real h[batch][hid];
    real total = 0;
    #pragma omp parallel for collapse(2)
    for (int b = 0; b < batch; b++)
        for (int j = 0; j < hid; j++) {
            real s = b1[j];
            for (int i = 0; i < in; i++) s += w1[j][i] * x[b][i];
            h[b][j] = tanh(s) + relu(s);
        }
    #pragma omp parallel for collapse(2) reduction(+ : total)
    for (int b = 0; b < batch; b++)
        for (int k = 0; k < outn; k++) {
            real s = b2[k];
            for (int j = 0; j < hid; j++) s += w2[k][j] * h[b][j];
            real d = s - y[b][k];
            total += d * d;
        }
    loss[0] = total / batch;
}
