#include <math.h>
void k(int n, float x[n]) {
    printf("%f\n", x[0]);
    x[0] = rand();
    x[1] = sinl(x[0]);
    x[2] = exp10(x[0]);
    x[3] = mystery(x[0]);
    exit(1);
    x[4] = omp_get_thread_num();
}

/* expect: 3:5: error: 'printf' cannot be called in a kernel: it prints */
/* expect: 4:12: error: 'rand' cannot be called in a kernel: it has hidden state */
/* expect: 5:12: error: 'sinl' computes in long double, which no device has */
/* expect: 6:12: error: 'exp10' cannot be called in a kernel: it is not part of C */
/* expect: 7:12: error: 'mystery' is not a known function */
/* expect: 8:5: error: 'exit' cannot be called in a kernel: it ends the program */
/* expect: 9:12: error: 'omp_get_thread_num' cannot be called in a kernel: it depends on the thread */
