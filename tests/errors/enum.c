enum e { A, B = 3, C = B + 1, D = x, E = 1.5, F };
enum g;
void k(int n, float x[n]) {
    enum e v = C;
    x[0] = v + F;
    x[1] = Z;
    A = 3;
}

/* expect: 1:35: error: 'x' is undeclared */
/* expect: 1:42: error: expected a constant integer */
/* expect: 2:6: error: unknown enum 'g' */
/* expect: 6:12: error: 'Z' is undeclared */
/* expect: 7:7: error: the left side is a value, not an object that can be assigned */
