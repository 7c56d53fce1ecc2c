void k(n, x)
int n;
float *x;
{
    x[0] = 1;
}

/* expect: 1:8: error: parameter 'n' has no type */
/* expect: way out: write each parameter with its type: (int n, ...) */
