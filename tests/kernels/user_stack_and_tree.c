// A pairwise sum in place; a stack.
// check: n=7
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void tree_sum(int n, const real x[n], real out[1])
{
    real t[n];
    for (int i = 0; i < n; i++) t[i] = x[i] * x[i];
    for (int m = n; m > 1; m = (m + 1) / 2)
        for (int i = 0; i < m / 2; i++) t[i] = t[i] + t[m - 1 - i] * 0.5f + t[i] * t[m - 1 - i];
    out[0] = t[0];
}
void stack(int n, const real x[n], real out[1])
{
    real st[32];
    int top = 0;
    for (int i = 0; i < n; i++) {
        st[top++] = x[i];
        while (top >= 2 && st[top - 1] > st[top - 2]) {
            real b = st[--top], a = st[--top];
            st[top++] = a * b - 0.3f;
        }
    }
    real s = 0;
    while (top > 0) s = s * 0.5f + st[--top];
    out[0] = s;
}
