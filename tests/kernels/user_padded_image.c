// Extents that are expressions; borders copied in place.
// check: rows=2 cols=3
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

#define PAD 1
void padded(int rows, int cols, real img[rows + 2 * PAD][cols + 2 * PAD], real out[rows * cols])
{
    for (int i = 0; i < rows + 2; i++) { img[i][0] = img[i][1]; img[i][cols + 1] = img[i][cols]; }
    for (int j = 0; j < cols + 2; j++) { img[0][j] = img[1][j]; img[rows + 1][j] = img[rows][j]; }
    #pragma omp parallel for
    for (int p = 0; p < rows * cols; p++) {
        int i = p / cols + PAD, j = p % cols + PAD;
        out[p] = (img[i - 1][j] + img[i + 1][j]) * img[i][j - 1] - img[i][j + 1] * img[i][j];
    }
}
