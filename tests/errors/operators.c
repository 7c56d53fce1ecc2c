typedef struct {
    float x;
} s;
void k(int n, float x[n], s v, s y[n]) {
    x[0] = x[1] % x[2];
    x[0] = ~x[0];
    x[0] = x[1] << 2;
    x[0] = v + v;
    y[0] = -v;
    x[x[0]] = 1;
    n[n] = 2;
    *n = 3;
    x[0] = v;
    v = x[0];
    if (v)
        x[0] = 1;
    x[0] = n ? v : 1;
    x[0] = 1 << 40;
    n = n / 0;
    n = n % 0;
    x = x * 2;
}

/* expect: 5:17: error: '%' cannot be applied to 'float' and 'float' */
/* expect: 6:12: error: '~' cannot be applied to 'float' */
/* expect: 7:17: error: '<<' cannot be applied to 'float' and 'int' */
/* expect: 8:14: error: '+' cannot be applied to 's' and 's' */
/* expect: 9:12: error: '-' cannot be applied to 's' */
/* expect: 10:8: error: an index must be an integer; this is 'float' */
/* expect: 11:6: error: 'int' cannot be indexed */
/* expect: 12:5: error: '*' needs a pointer; this is 'int' */
/* expect: 13:12: error: cannot assign 'float' from 's' */
/* expect: 14:10: error: cannot assign 's' from 'float' */
/* expect: 15:9: error: a condition needs a number; this is 's' */
/* expect: 17:14: error: the two results of '?:' do not fit: 's' and 'int' */
/* expect: 18:17: error: shift by 40 is outside the 32 bits of 'int' */
/* expect: 19:13: error: integer division by zero */
/* expect: 20:13: error: integer division by zero */
/* expect: 21:11: error: '*' cannot be applied to 'float *' and 'int' */
