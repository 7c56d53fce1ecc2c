void k(int n, float x[n], float m[n][n], int *ip, void *any, float **pp) {
    float *p = m;
    float *q = (float *)ip;
    long address = (long)x;
    int *r = x;
    float *list[3];
    float **s = &p;
    x[0] = 1;
}

/* expect: 1:57: error: 'void *' says nothing of what it points to */
/* expect: 1:70: error: a pointer to pointers cannot be followed */
/* expect: 2:16: error: cannot initialise 'float *' from 'float [n] *' */
/* expect: 3:16: error: cannot convert 'int *' to 'float *': the array behind it could not be followed */
/* expect: 4:20: error: cannot convert 'float *' to 'long': the array behind it could not be followed */
/* expect: 5:14: error: cannot initialise 'int *' from 'float *' */
/* expect: 6:12: error: pointers inside an array cannot be followed */
/* expect: 7:13: error: a pointer of type 'float **' cannot be followed */
/* expect: 7:17: error: the address of a pointer cannot be followed */
