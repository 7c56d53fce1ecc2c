void k(int n, float x[n]) {
    x[0] = ;
    x[1] = (2 + 3;
    x[2] = x[;
    x[3] = 1 + * 2 / ;
    int 3z;
    float = 2;
    x[4] = 4;
    sizeof();
    x. = 1;
}
void (int n) {
}
float
void second(float y[1]) {
    y[0] = undeclared;
}

/* expect: 6:9: error: malformed number '3z' */
/* expect: 2:12: error: expected an expression before ';' */
/* expect: 3:18: error: expected ')' after the expression before ';' */
/* expect: 4:14: error: expected an expression before ';' */
/* expect: 5:16: error: '*' needs a pointer; this is 'int' */
/* expect: 5:22: error: expected an expression before ';' */
/* expect: 6:9: error: expected a name before '3z' */
/* expect: 7:11: error: expected a name before '=' */
/* expect: 9:12: error: expected an expression before ')' */
/* expect: 10:8: error: expected a field's name before '=' */
/* expect: 12:7: error: expected a name before 'int' */
/* expect: 14:1: error: these type words do not go together */
/* expect: 15:6: error: kernel 'second' must return void */
/* expect: 16:12: error: 'undeclared' is undeclared */
/* expect: 15:6: warning: 'second' can reach its end without a value */
