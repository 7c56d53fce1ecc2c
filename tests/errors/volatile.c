static volatile const int flag = 1;
void k(volatile float x[1], float *volatile y) {
    x[0] = 1;
}

/* expect: 1:8: error: 'volatile' is not part of kernel C */
/* expect: 2:8: error: 'volatile' is not part of kernel C */
/* expect: 2:36: error: 'volatile' is not part of kernel C */
