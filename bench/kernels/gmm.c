/* Log-likelihood of a Gaussian mixture, ADBench's GMM objective: alphas are the logits of the
 * weights, icf holds each inverse covariance factor: the logarithms of its diagonal, then its lower
 * triangle column by column. constant: the terms that depend on sizes only. */
#include <math.h>

enum { D = 10, K = 25, TRI = D * (D - 1) / 2 };

static double logsumexp(const double t[K]) {
    double top = t[0], sum = 0.0;
    for (int k = 1; k < K; k++)
        if (t[k] > top)
            top = t[k];
    for (int k = 0; k < K; k++)
        sum += exp(t[k] - top);
    return log(sum) + top;
}

void gmm(int n, const double alphas[K], const double means[K][D], const double icf[K][D + TRI],
         const double x[n][D], double gamma, double mass, double constant, double err[1]) {
    double q[K][D], logdet[K];
    for (int k = 0; k < K; k++) {
        logdet[k] = 0.0;
        for (int j = 0; j < D; j++) {
            logdet[k] += icf[k][j];
            q[k][j] = exp(icf[k][j]);
        }
    }
    double total = 0.0;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; i++) {
        double term[K];
        for (int k = 0; k < K; k++) {
            double xc[D], qx[D];
            for (int j = 0; j < D; j++) {
                xc[j] = x[i][j] - means[k][j];
                qx[j] = q[k][j] * xc[j];
            }
            for (int a = 0; a < D; a++)
                for (int b = a + 1; b < D; b++)
                    qx[b] += icf[k][D + a * (2 * D - a - 1) / 2 + b - a - 1] * xc[a];
            double square = 0.0;
            for (int j = 0; j < D; j++)
                square += qx[j] * qx[j];
            term[k] = alphas[k] + logdet[k] - 0.5 * square;
        }
        total += logsumexp(term);
    }
    double weights[K], prior = 0.0;
    for (int k = 0; k < K; k++) {
        double frobenius = 0.0;
        weights[k] = alphas[k];
        for (int j = 0; j < D; j++)
            frobenius += q[k][j] * q[k][j];
        for (int j = D; j < D + TRI; j++)
            frobenius += icf[k][j] * icf[k][j];
        prior += 0.5 * gamma * gamma * frobenius - mass * logdet[k];
    }
    err[0] = constant + total - n * logsumexp(weights) + prior;
}
