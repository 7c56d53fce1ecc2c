struct __attribute__((packed)) s {
    char c;
    float f;
};
typedef float four __attribute__((vector_size(16)));
typedef struct {
    float x __attribute__((__aligned__(16)));
} wide;
__attribute__((always_inline)) static inline float twice(float x) { return 2 * x; }
void k(float x[1] __attribute__((unused)), struct s a, wide w) {
    _Alignas(16) float y = twice(x[0]);
    x[0] = y + a.f + w.x;
}

/* expect: 1:23: error: the attribute 'packed' is not part of kernel C */
/* expect: way out: remove it: types have the layout that C gives them */
/* expect: 5:35: error: the attribute 'vector_size' is not part of kernel C */
/* expect: 7:28: error: the attribute '__aligned__' is not part of kernel C */
/* expect: 11:5: error: '_Alignas' is not part of kernel C */
