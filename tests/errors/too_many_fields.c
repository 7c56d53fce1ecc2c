#define TWICE(a, b) struct b { struct a x, y; };
struct s0 {
    float v;
};
TWICE(s0, s1) TWICE(s1, s2) TWICE(s2, s3) TWICE(s3, s4) TWICE(s4, s5) TWICE(s5, s6) TWICE(s6, s7)
TWICE(s7, s8) TWICE(s8, s9) TWICE(s9, s10) TWICE(s10, s11) TWICE(s11, s12) TWICE(s12, s13)
TWICE(s13, s14) TWICE(s14, s15) TWICE(s15, s16) TWICE(s16, s17) TWICE(s17, s18) TWICE(s18, s19)
void k(struct s19 x[1]) { x[0] = x[0]; }

/* expect: 6:76: error: a struct of more than 4096 fields, those of its structs counted */
/* expect: way out: use arrays inside the struct, or several structs */
