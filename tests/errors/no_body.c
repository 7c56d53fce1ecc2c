static float missing(float x);
void k(float x[1]) {
    x[0] = missing(x[0]);
}

/* expect: 3:12: error: 'missing' is called but has no body */
