void k(int n, float x[n], float y[][], float z[n][]) {
    float a[] ;
    float b[2] = {1, 2, 3};
    float c[n] = {0};
    float d[2] = a;
    float e[-1];
    float f[1.5f];
    int g[2] = {[2] = 1};
    struct { int p; } h = {.q = 1};
    int i = {1, 2};
    float j[3];
    j[3] = 1;
    x[0] = sizeof(float[n]);
}

/* expect: 1:34: error: only the first length of an array may be left out */
/* expect: 1:47: error: only the first length of an array may be left out */
/* expect: 2:11: error: the array 'a' has no length */
/* expect: 3:25: error: too many initialisers: 'float [2]' has 2 */
/* expect: 4:18: error: an array whose length is not constant cannot have an initialiser */
/* expect: 5:18: error: an array is initialised with a list in braces */
/* expect: 6:13: error: an array's length cannot be negative */
/* expect: 7:13: error: an array's length must be an integer */
/* expect: 8:17: error: index 2 is outside the array */
/* expect: 9:29: error: 'struct <unnamed>' has no field 'q' */
/* expect: 10:17: error: expected '}' after the initialiser before '2' */
/* expect: 12:7: error: index 3 is outside the array's 3 elements */
/* expect: 13:12: error: sizeof of 'float [n]' is not a constant */
