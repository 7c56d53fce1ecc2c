void k(int n, float x[n]) {
    float helper(float);
    x[0] = helper(x[0]);
}

/* expect: 2:11: error: a function cannot be declared inside another */
/* expect: 3:12: error: 'helper' is not a known function */
