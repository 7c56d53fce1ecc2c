union u {
    int i;
    float f;
};
struct bits {
    int a : 3;
};
struct linked {
    struct linked *next;
};
struct holds {
    float *data;
};
struct open {
    int n;
    float rest[];
};
void k1(long double x[1]) {
}
void k2(_Complex float x[1]) {
}
void k3(_Atomic int x[1]) {
}
_Thread_local int t;
void k4(unsigned float x[1]) {
}

/* expect: 1:1: error: unions are not part of kernel C */
/* expect: 6:9: error: bit-fields are not part of kernel C */
/* expect: 9:20: error: a pointer inside a struct cannot be followed */
/* expect: 12:12: error: a pointer inside a struct cannot be followed */
/* expect: 16:11: error: the length of an array inside a struct must be constant */
/* expect: 18:9: error: long double exists on no device */
/* expect: 20:9: error: '_Complex' is not part of kernel C */
/* expect: 22:9: error: '_Atomic' is not part of kernel C */
/* expect: 24:1: error: '_Thread_local' is not part of kernel C */
/* expect: 24:19: error: global variable 't' is not const */
/* expect: 25:9: error: these type words do not go together */
