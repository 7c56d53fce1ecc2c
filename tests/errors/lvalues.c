void k(int n, float x[n]) {
    float t[3], u[3];
    n + 1 = 2;
    3 = n;
    t = u;
    (n)++;
    n++ ++;
    &3;
    x[0] = (float)n + t[0];
}

/* expect: 3:11: error: the left side is a value, not an object that can be assigned */
/* expect: 4:7: error: the left side is a value, not an object that can be assigned */
/* expect: 5:7: error: an array cannot be assigned as a whole */
/* expect: 7:9: error: the left side is a value, not an object that can be assigned */
/* expect: 8:5: error: '&' needs an object, not a value */
