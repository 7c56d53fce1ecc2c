float norm(int n, const float x[n]) {
    return x[0];
}
int main(void) {
    return 0;
}

/* expect: 1:7: error: kernel 'norm' must return void */
/* expect: 4:5: error: kernel 'main' must return void */
