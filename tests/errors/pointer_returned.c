static float *pick(float *p) {
    return p + 1;
}
void k(float x[2]) {
    x[0] = *pick(x);
}

/* expect: 1:15: error: 'pick' returns a pointer, which cannot be followed */
