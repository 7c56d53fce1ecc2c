void k(int n, float x[n]) {
    switch (n) {
    case 0:;
        float tmp[n];
        tmp[0] = 1;
        break;
    default:
        tmp[0] = 2;
        x[0] = tmp[0];
    }
}

/* expect: 8:9: error: 'tmp' is used where its declaration was not reached */
/* expect: 9:16: error: 'tmp' is used where its declaration was not reached */
