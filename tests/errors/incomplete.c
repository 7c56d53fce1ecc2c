struct later;
void k(struct later x[1]) {
}
struct empty {
};
struct twice {
    int a;
    float a;
};
static void f(void x) {
}
void k2(float x[1]) {
    struct nowhere y;
    void z;
}

/* expect: 2:21: error: 'struct later' is incomplete */
/* expect: 4:8: error: a struct without fields is not C */
/* expect: 8:11: error: the struct already has a field 'a' */
/* expect: 10:20: error: a parameter cannot be void */
/* expect: 13:20: error: 'struct nowhere' is incomplete */
/* expect: 14:10: error: 'z' cannot be void */
