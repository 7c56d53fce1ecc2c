_Static_assert(sizeof(int) == 4, "int has 32 bits");
_Static_assert(sizeof(long) == 4, "long has 32 bits");
void k(int n, float x[n]) {
    _Static_assert(1 + 1 == 3, "sums");
    x[0] = 1;
}

/* expect: 2:1: error: static assertion failed: long has 32 bits */
/* expect: 4:5: error: static assertion failed: sums */
