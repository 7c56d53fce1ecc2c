typedef struct {
    float p, q;
} pair;
static const float table[2] = {1, 2};
void k(int n, const float x[n], const pair v[n], float y[n]) {
    const int m = 3;
    x[0] = 1;
    x[1] += 2;
    x[2]++;
    v[0].p = 1;
    m = 4;
    table[0] = 2;
    float *p = x;
    const float *q = x;
    *q = 1;
    const float z;
    y[0] = z + (float)m + p[0];
}

/* expect: 7:10: error: 'x' is const and cannot be assigned */
/* expect: 8:10: error: 'x' is const and cannot be assigned */
/* expect: 9:9: error: 'x' is const and cannot be assigned */
/* expect: 10:12: error: 'v' is const and cannot be assigned */
/* expect: 11:7: error: 'm' is const and cannot be assigned */
/* expect: 12:14: error: 'table' is const and cannot be assigned */
/* expect: 13:16: error: cannot initialise 'float *' from 'const float *': it would drop const */
/* expect: 15:8: error: 'q' is const and cannot be assigned */
/* expect: 16:17: error: constant 'z' has no value */
