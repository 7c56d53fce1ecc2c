void k(float x[1]) {
    x[0] = _Generic(x[0], float: 1, default: 2);
    x[0] = _Alignof(float);
    typeof(x[0]) y = 1;
    x[0] = y;
}

/* expect: 2:12: error: '_Generic' is not part of kernel C */
/* expect: 3:12: error: '_Alignof' is not part of kernel C */
/* expect: 4:5: error: 'typeof' is not part of kernel C */
/* expect: 5:12: error: 'y' is undeclared */
