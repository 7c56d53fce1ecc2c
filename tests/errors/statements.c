void k(int n, float x[n]) {
    break;
    continue;
    case 1:
    x[0] = 1
    x[1] = 2;
    if (n)
        else x[2] = 3;
    for (int i = 0; i < n) x[i] = 0;
    do x[0] = 1; until (n);
    x[0] = (1 + 2;
    x[3] = 4;
    switch (x[0]) {
    case 1: break;
    }
    switch (n) {
    case 1: break;
    case 1: break;
    default: break;
    default: break;
    case 2: if (n) { case 3: x[0] = 1; }
    }
    switch (n) { x[0] = 1; case 1: break; }
    if (n) int z = 3;
}

/* expect: 2:5: error: 'break' outside of a loop */
/* expect: 3:5: error: 'continue' outside of a loop */
/* expect: 4:5: error: 'case' outside of a switch */
/* expect: 6:5: error: expected ';' after the statement before 'x' */
/* expect: 8:9: error: 'else' without 'if' */
/* expect: 9:26: error: expected ';' after the loop's condition before ')' */
/* expect: 10:18: error: expected 'while' after the body of 'do' */
/* expect: 11:18: error: expected ')' after the expression before ';' */
/* expect: 13:14: error: 'switch' needs an integer; this is 'float' */
/* expect: 18:5: error: two cases of the same value */
/* expect: 20:5: error: two defaults in one switch */
/* expect: 21:22: error: 'case' inside a statement of the switch */
/* expect: 23:18: error: nothing before the first case is ever reached */
/* expect: 24:12: error: a declaration cannot stand here without a block */
