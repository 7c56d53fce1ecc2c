/* For each sequence: forward, keeping all gates, then back without computing any function again. */
#include "hand.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { L = 2, H = 14 };

typedef struct step_kept {
    double forget[L][H], ingate[L][H], outgate[L][H], change[L][H], squashed[L][H];
    double cell[L][H], hidden[L][H]; /* after the step */
    double in[H], e[H], sum;         /* the scaled input; exp of the predictions and their sum */
} step_kept;

typedef struct sums {
    double w[L][8][H], io[3][H];
    double gap[8];
} sums;

static double sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}

static void forward(int t, const double (*restrict w)[8][H], const double (*restrict io)[H],
                    const double (*restrict x)[H], step_kept *restrict kept) {
    static const step_kept start;
    for (int step = 0; step < t; step++) {
        const step_kept *old = step ? kept + step - 1 : &start;
        step_kept *k = kept + step;
        for (int j = 0; j < H; j++)
            k->in[j] = x[step][j] * io[0][j];
        const double *in = k->in;
        for (int l = 0; l < L; l++) {
            for (int j = 0; j < H; j++) {
                k->forget[l][j] = sigmoid(in[j] * w[l][0][j] + w[l][4][j]);
                k->ingate[l][j] = sigmoid(old->hidden[l][j] * w[l][1][j] + w[l][5][j]);
                k->outgate[l][j] = sigmoid(in[j] * w[l][2][j] + w[l][6][j]);
                k->change[l][j] = tanh(old->hidden[l][j] * w[l][3][j] + w[l][7][j]);
                k->cell[l][j] =
                    old->cell[l][j] * k->forget[l][j] + k->ingate[l][j] * k->change[l][j];
                k->squashed[l][j] = tanh(k->cell[l][j]);
                k->hidden[l][j] = k->outgate[l][j] * k->squashed[l][j];
            }
            in = k->hidden[l];
        }
        k->sum = 2.0;
        for (int j = 0; j < H; j++) {
            k->e[j] = exp(in[j] * io[1][j] + io[2][j]);
            k->sum += k->e[j];
        }
    }
}

static void backward(int t, const double (*restrict w)[8][H], const double (*restrict io)[H],
                     const double (*restrict x)[H], const step_kept *restrict kept, double g,
                     sums *restrict s) {
    static const step_kept start;
    double cell_b[L][H] = {{0}}, hidden_b[L][H] = {{0}};
    for (int step = t - 1; step >= 0; step--) {
        const step_kept *old = step ? kept + step - 1 : &start, *k = kept + step;
        double in_b[H], sum_b = 0.0;
        for (int j = 0; j < H; j++)
            sum_b -= g * x[step + 1][j];
        sum_b = zmul(sum_b, 1.0 / k->sum);
        for (int j = 0; j < H; j++) {
            double in = k->hidden[L - 1][j];
            double y_b = g * x[step + 1][j] + zmul(sum_b, k->e[j]);
            s->io[1][j] += y_b * in;
            s->io[2][j] += y_b;
            in_b[j] = y_b * io[1][j];
        }
        for (int l = L - 1; l >= 0; l--) {
            const double *in = l ? k->hidden[l - 1] : k->in;
            for (int j = 0; j < H; j++) {
                double h_b = hidden_b[l][j] + in_b[j], squashed = k->squashed[l][j];
                double f = k->forget[l][j], i = k->ingate[l][j], o = k->outgate[l][j],
                       c = k->change[l][j];
                double c_b = cell_b[l][j] + h_b * o * (1.0 - squashed * squashed);
                double f_b = c_b * old->cell[l][j] * f * (1.0 - f);
                double i_b = c_b * c * i * (1.0 - i);
                double o_b = h_b * squashed * o * (1.0 - o);
                double a_b = c_b * i * (1.0 - c * c);
                double h = old->hidden[l][j], v = in[j];
                s->w[l][0][j] += f_b * v;
                s->w[l][1][j] += i_b * h;
                s->w[l][2][j] += o_b * v;
                s->w[l][3][j] += a_b * h;
                s->w[l][4][j] += f_b;
                s->w[l][5][j] += i_b;
                s->w[l][6][j] += o_b;
                s->w[l][7][j] += a_b;
                cell_b[l][j] = c_b * f;
                hidden_b[l][j] = i_b * w[l][1][j] + a_b * w[l][3][j];
                in_b[j] = f_b * w[l][0][j] + o_b * w[l][2][j];
            }
        }
        for (int j = 0; j < H; j++)
            s->io[0][j] += in_b[j] * x[step][j];
    }
}

void lstm_adjoint(int s, int t, const double *w_at, double *w_b, const double *io_at, double *io_b,
                  const double *x, double *loss_b) {
    const double(*w)[8][H] = (const void *)w_at;
    const double(*io)[H] = (const void *)io_at;
    int threads = omp_get_max_threads();
    sums *all = hand_scratch(0, (size_t)threads * sizeof *all);
    step_kept *kept = hand_scratch(1, (size_t)threads * (size_t)t * sizeof *kept);
    double g = -*loss_b / ((double)s * t);
    memset(all, 0, (size_t)threads * sizeof *all);
#pragma omp parallel num_threads(threads)
    {
        int self = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < s; i++) {
            const double(*seq)[H] = (const void *)(x + (size_t)i * (size_t)(t + 1) * H);
            forward(t, w, io, seq, kept + (size_t)self * (size_t)t);
            backward(t, w, io, seq, kept + (size_t)self * (size_t)t, g, &all[self]);
        }
    }
    for (int i = 0; i < threads; i++) {
        for (int j = 0; j < L * 8 * H; j++)
            w_b[j] += (&all[i].w[0][0][0])[j];
        for (int j = 0; j < 3 * H; j++)
            io_b[j] += (&all[i].io[0][0])[j];
    }
    *loss_b = 0.0;
}
