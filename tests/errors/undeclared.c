void k(int n, float x[n]) {
    for (int i = 0; i < n; i++)
        x[i] = y[i] + 1;
    x[i] = 2;
    vec3 v;
    struct s {
        int a;
    } s;
    s.b = 1;
    n.a = 2;
}

/* expect: 3:16: error: 'y' is undeclared */
/* expect: 4:7: error: 'i' is undeclared */
/* expect: 5:5: error: unknown type 'vec3' */
/* expect: 9:7: error: 'struct s' has no field 'b' */
/* expect: 10:6: error: '.a' needs a struct on its left; this is 'int' */
