struct wide {
    float v[999999999999];
};
struct two {
    float a[300000000], b[300000000];
};
void k(int n, float x[n]) {
    float q[2147483647][2147483647];
    q[0][0] = x[0];
}

/* expect: 2:11: error: field 'v' is larger than 2 GiB */
/* expect: way out: make it an array parameter of its own */
/* expect: 4:8: error: the struct is larger than 2 GiB */
/* expect: 8:12: error: the array is larger than any memory */
