static float f(float x) {
    return x;
}
#pragma retrograd adjoint(f) = g
#pragma retrograd strange
void k(int n, float x[n]) {
#pragma retrograd checkpoint(8)
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
#pragma retrograd checkpoint(0)
    for (int i = 1; i < n; i++)
        x[i] += x[i - 1];
#pragma retrograd checkpoint
    for (int i = 1; i < n; i++)
        x[i] = f(x[i - 1]);
}

/* expect: 5:19: error: unknown pragma 'retrograd strange' */
/* expect: 10:30: error: checkpoint(0) is not positive */
/* expect: 4:32: error: there is no function 'g' */
