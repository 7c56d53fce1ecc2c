static float f(float x) {
    return x;
}
static float f(float x) {
    return x;
}
static int g(int);
static float g(float x) {
    return x;
}
void k(int n, float x[n]) {
    int i;
    float i;
    x[0] = f(1);
}
typedef int number;
typedef float number;
enum { A, B, A };

/* expect: 4:14: error: 'f' is defined twice */
/* expect: 8:14: error: 'g' differs from its earlier declaration */
/* expect: 13:11: error: 'i' is already declared in this scope */
/* expect: 17:15: error: 'number' is already declared in this scope */
/* expect: 18:14: error: 'A' is already declared in this scope */
