typedef struct s s;
void k(int n, float x[n]) {
    float t[n];
    x[0] = sizeof t;
    x[1] = sizeof(s);
    x[2] = sizeof x;
    x[3] = sizeof(x[0]);
}

/* expect: 4:12: error: sizeof of 'float [n]' is not a constant */
/* expect: 5:19: error: 'struct s' is incomplete */
/* expect: 6:12: warning: sizeof of the array parameter 'x' is the size of a pointer */
