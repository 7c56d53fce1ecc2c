typedef struct {
    int a;
} s;
void k(int n, float x[n], s v) {
    x[0] = (float)v;
    v = (s)n;
    n = (int)x;
    x[1] = (struct nothing)n;
    x[2] = *(int *)x;
}

/* expect: 5:12: error: cannot convert 's' to 'float' */
/* expect: 6:9: error: cannot convert 'int' to 's' */
/* expect: 7:9: error: cannot convert 'float *' to 'int': the array behind it could not be followed */
/* expect: 8:13: error: 'struct nothing' is incomplete */
/* expect: 9:13: error: cannot convert 'float *' to 'int *': the array behind it could not be followed */
