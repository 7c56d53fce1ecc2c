typedef static float a;
typedef typedef float b;
struct s {
    static int n;
};
void k(int n, static float x[n], register int m, auto int o, restrict float y[n]) {
    x[0] = (typedef float)1;
    float z[static 3];
    z[0] = x[0];
}

/* expect: 1:9: error: a declaration has one storage class */
/* expect: 2:9: error: a declaration has one storage class */
/* expect: 4:5: error: 'static' has no place here */
/* expect: 6:15: error: 'static' has no place here */
/* expect: 6:50: error: 'auto' has no place here */
/* expect: 6:62: error: 'restrict' qualifies pointers, not what they point to */
/* expect: way out: write it in the brackets, x[restrict n], or drop it */
/* expect: 7:13: error: 'typedef' has no place here */
/* expect: 8:13: error: 'static' has its place in the brackets of a parameter only */
