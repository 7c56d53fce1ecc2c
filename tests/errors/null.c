#include <stddef.h>
void k(int n, float x[n]) {
    if (x == NULL)
        return;
    if (!x)
        return;
    float *p = 0;
    float *q = NULL;
    if (x && n)
        x[0] = 1;
}

/* expect: 3:14: error: a null pointer cannot be followed or compared */
/* expect: 5:10: error: a pointer cannot be tested for null */
/* expect: 7:16: error: a null or numeric pointer cannot be followed */
/* expect: 8:16: error: a null pointer cannot be followed or compared */
/* expect: 9:9: error: a pointer cannot be tested for null */
