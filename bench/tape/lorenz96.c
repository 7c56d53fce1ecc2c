/* Lorenz's 1996 model, 100 variables, explicit Euler steps: the adjoint needs the state of every
 * step. docs/benchmarks.md, "A long loop under a tape memory". */
void march(int steps, double h, double force, double x[100]) {
    double d[100];
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < 100; i++)
            d[i] = (x[(i + 1) % 100] - x[(i + 98) % 100]) * x[(i + 99) % 100] - x[i] + force;
        for (int i = 0; i < 100; i++)
            x[i] += h * d[i];
    }
}
