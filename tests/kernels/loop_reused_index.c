// A value that takes the place of the one it is computed from: i = next[i], q = q / d.
// run: n=5 m=2 head=4,3 next=-1,-1,0,1,2 x=1,2,3,4,5 y=zeros z=zeros --grad y=1,2
// expect: y = 35 20
// expect: z = 4 3
// expect: x.grad = 2 8 6 16 10
// run: n=5 m=2 head=4,3 next=-1,-1,0,1,2 x=1,2,3,4,5 y=zeros z=zeros --grad y=1,2 --checked
// expect: y = 35 20
// expect: z = 4 3
// expect: x.grad = 2 8 6 16 10
// check: n=5 m=2 head=4,3 next=-1,-1,0,1,2
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

void lists(int n, int m, const int head[m], const int next[n], const real x[n], real y[m], int z[m])
{
    #pragma omp parallel for
    for (int k = 0; k < m; k++) {
        real s = 0;
        for (int i = head[k]; i >= 0; i = next[i])
            s += x[i] * x[i];
        y[k] = s;
        int q = 1000, steps = 0;
        while (q > 5) {
            q = q / (4 + 6 * k);
            steps++;
        }
        z[k] = steps;
    }
}
