int counter;
static float scale = 2;
float *where;
extern const int limit;
const float empty;
const int fine = 3;
static const float computed = undefined_name;
void k(int n, float x[n]) {
    static int calls = 0;
    static const float w[2] = {1, 2};
    x[0] = w[fine & 1] * scale + (float)calls;
}

/* expect: 1:5: error: global variable 'counter' is not const */
/* expect: 2:14: error: global variable 'scale' is not const */
/* expect: 3:8: error: global variable 'where' is not const */
/* expect: 4:18: error: 'limit' has its value in another file */
/* expect: 5:13: error: constant 'empty' has no value */
/* expect: 7:31: error: 'undefined_name' is undeclared */
/* expect: 9:16: error: static variable 'calls' is not const */
