void k(int n, float x[n]) { // an old Mac ends this line    y = 1;
    x[0] = z;
}

/* expect: 2:5: error: 'y' is undeclared */
/* expect: 3:12: error: 'z' is undeclared */
