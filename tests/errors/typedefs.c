typedef float real;
typedef real list[4];
typedef int (*callback)(int);
void k(int n, list x, real y[n]) {
    typedef float row[n];
    real real = 2;
    list t = {1};
    y[0] = real + x[0] + t[1];
}

/* expect: 3:15: error: function pointers are not supported */
/* expect: 5:19: error: the length of an array type must be constant */
