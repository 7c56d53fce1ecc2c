/* Random kernels for the emitter's test: valid, race-free, and without undefined behaviour in C. */
#ifndef RG_TEST_EMIT_C_RANDOM_H
#define RG_TEST_EMIT_C_RANDOM_H

#include "ir/build.h"

/* void f(int n, float k, const float x[n], float y[n][3], float z[4], int q[n], unsigned char m[n])
 */
rg_fn *rg_random_fn(rg_arena *a, rg_ir_module *m, const char *name, uint64_t seed);

#endif
