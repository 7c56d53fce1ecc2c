/* ADBench's LSTM over a batch of sequences: L layers of H cells with elementwise gates, a
 * softmax-like prediction of the next input at each step. w: four rows of weights and four of
 * biases (forget, in, out, change); io: the scale of the input, then scale and bias of the output.
 */
#include <math.h>

enum { L = 2, H = 14 };

static double sigmoid(double x) {
    return 1.0 / (1.0 + exp(-x));
}

void lstm(int s, int t, const double w[L][8][H], const double io[3][H], const double x[s][t + 1][H],
          double loss[1]) {
    double total = 0.0;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < s; i++) {
        double cell[L][H], hidden[L][H];
        for (int l = 0; l < L; l++)
            for (int j = 0; j < H; j++)
                cell[l][j] = hidden[l][j] = 0.0;
        for (int step = 0; step < t; step++) {
            double in[H];
            for (int j = 0; j < H; j++)
                in[j] = x[i][step][j] * io[0][j];
            for (int l = 0; l < L; l++)
                for (int j = 0; j < H; j++) {
                    double forget = sigmoid(in[j] * w[l][0][j] + w[l][4][j]);
                    double ingate = sigmoid(hidden[l][j] * w[l][1][j] + w[l][5][j]);
                    double outgate = sigmoid(in[j] * w[l][2][j] + w[l][6][j]);
                    double change = tanh(hidden[l][j] * w[l][3][j] + w[l][7][j]);
                    cell[l][j] = cell[l][j] * forget + ingate * change;
                    hidden[l][j] = outgate * tanh(cell[l][j]);
                    in[j] = hidden[l][j];
                }
            double sum = 2.0;
            for (int j = 0; j < H; j++)
                sum += exp(in[j] * io[1][j] + io[2][j]);
            double norm = log(sum);
            for (int j = 0; j < H; j++)
                total += x[i][step + 1][j] * (in[j] * io[1][j] + io[2][j] - norm);
        }
    }
    loss[0] = -total / (s * t);
}
