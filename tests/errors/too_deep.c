#define P4(x) ((((x))))
#define P16(x) P4(P4(P4(P4(x))))
#define P64(x) P16(P16(P16(P16(x))))
#define P256(x) P64(P64(P64(P64(x))))
void k(float x[1]) {
    x[0] = P64(1);
    x[0] = P256(P256(P256(1)));
}

/* expect: 7:17: error: this is nested too deeply */
