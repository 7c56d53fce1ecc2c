// A hidden Markov model: two rows, swapped by an index.
// check: T=4 S=3
#include <math.h>

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

static real lse2(real a, real b) { return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b)); }
void hmm(int T, int S, const real logA[S][S], const real logB[T][S], const real pi[S], real ll[1])
{
    real alpha[2][S];
    int cur = 0;
    for (int s = 0; s < S; s++) alpha[cur][s] = pi[s] + logB[0][s];
    for (int t = 1; t < T; t++, cur ^= 1)
        for (int s = 0; s < S; s++) {
            real acc = alpha[cur][0] + logA[0][s];
            for (int r = 1; r < S; r++) acc = lse2(acc, alpha[cur][r] + logA[r][s]);
            alpha[1 - cur][s] = acc + logB[t][s];
        }
    ll[0] = alpha[cur][0];
    for (int s = 1; s < S; s++) ll[0] = lse2(ll[0], alpha[cur][s]);
}
