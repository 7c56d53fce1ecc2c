/* One explicit step of the heat equation on the inside of an h x w grid. */
void heat(int h, int w, float c, const float u[h][w], float v[h][w]) {
#pragma omp parallel for collapse(2)
    for (int i = 1; i < h - 1; i++)
        for (int j = 1; j < w - 1; j++)
            v[i][j] = u[i][j] +
                      c * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4.0f * u[i][j]);
}
