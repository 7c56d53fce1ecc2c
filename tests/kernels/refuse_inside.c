// Refused deep inside branches and loops around the parallel loop: the words, and nothing else.
// run: n=1 m=1 x=2 z=3
// expect: z = 63
// refuse-adjoint: @: this reads an element of 'z' that the same parallel loop updates atomically
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void inside(int n, int m, const real x[n], real z[n])
{
    for (int t = 0; t < m;) {
        if (n > 0) {
            if (m > 0) {
                #pragma omp parallel for
                for (int i = 0; i < n; i++) {
                    for (int j = 0; j < 2; j++) {
                        z[i] = z[i] * z[i]; // HERE
                        #pragma omp atomic
                        z[i] += 1 - x[i];
                    }
                }
            }
        }
        t++;
    }
}
