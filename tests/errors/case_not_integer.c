void k(int n, int x[n]) {
    switch (n) {
    case 1.5:
        x[0] = 1;
        break;
    case (int)2.5:
        x[0] = 2;
    }
}

/* expect: 3:10: error: expected a constant integer */
