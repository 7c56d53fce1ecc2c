template <typename T>
void a(T *x);

class point;

void b(float &x) {
    x = 1;
}

__global__ void c(float *x);

void d(std::vector x);

void e(int n, float x[n]) {
    float *p = nullptr;
    x[threadIdx.x] = 1;
    x[0] = true;
}

/* expect: 1:1: error: unknown type 'template' */
/* expect: way out: kernels are C, not C++: plain functions and structs */
/* expect: 4:1: error: unknown type 'class' */
/* expect: 6:14: error: references are C++, not C */
/* expect: way out: pass an array of one element: float x[1] */
/* expect: 10:1: error: unknown type '__global__' */
/* expect: 12:8: error: unknown type 'std' */
/* expect: 15:16: error: 'nullptr' is undeclared */
/* expect: 16:7: error: 'threadIdx' is undeclared */
/* expect: 17:12: error: 'true' is undeclared */
/* expect: way out: #include <stdbool.h> */
