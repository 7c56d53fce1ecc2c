asm("nop");
void k(float x[1]) {
    asm("nop");
    __asm__("nop");
    x[0] = 1;
}

/* expect: 1:1: error: assembly is not part of kernel C */
/* expect: 3:5: error: assembly is not part of kernel C */
/* expect: 4:5: error: assembly is not part of kernel C */
