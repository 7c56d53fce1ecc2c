/* Gathered: the gradient of u at a point takes from the cotangents of its five neighbours in v;
 * those on the rim are outputs of nobody and count as zero. A row of v_b is cleared as soon as the
 * rows around it are done, while it is still in the cache; rows that another thread reads, at the
 * end. */
#include "hand.h"

#include <omp.h>
#include <string.h>

static void gather(int h, int w, float c, float *restrict out, const float *v_b, int i) {
    const float *mid = v_b + (size_t)i * (size_t)w;
    int has_mid = i > 0 && i<h - 1, has_up = i> 1, has_down = i < h - 2;
    const float *up = has_up ? mid - w : NULL, *down = has_down ? mid + w : NULL;
    if (has_mid) {
        out[0] += c * mid[1];
        out[w - 1] += c * mid[w - 2];
    }
    for (int pass = 0; pass < 2; pass++) { /* the columns beside the rim */
        int j = pass ? w - 2 : 1;
        float g = (up ? up[j] : 0.0f) + (down ? down[j] : 0.0f);
        if (has_mid)
            g += (j > 1 ? mid[j - 1] : 0.0f) + (j < w - 2 ? mid[j + 1] : 0.0f) - 4.0f * mid[j];
        out[j] += (has_mid ? mid[j] : 0.0f) + c * g;
        if (w == 3)
            break;
    }
    if (up && down && has_mid) {
#pragma omp simd
        for (int j = 2; j < w - 2; j++)
            out[j] += mid[j] + c * (up[j] + down[j] + mid[j - 1] + mid[j + 1] - 4.0f * mid[j]);
    } else {
        for (int j = 2; j < w - 2; j++) {
            float g = (up ? up[j] : 0.0f) + (down ? down[j] : 0.0f);
            if (has_mid)
                g += mid[j - 1] + mid[j + 1] - 4.0f * mid[j];
            out[j] += (has_mid ? mid[j] : 0.0f) + c * g;
        }
    }
}

static void clear(int h, int w, float *v_b, int i) {
    if (i > 0 && i < h - 1)
        memset(v_b + (size_t)i * (size_t)w + 1, 0, (size_t)(w - 2) * sizeof *v_b);
}

void heat_adjoint(int h, int w, float c, float *u_b, float *v_b) {
    if (h < 3 || w < 3)
        return;
#pragma omp parallel
    {
        int threads = omp_get_num_threads(), self = omp_get_thread_num();
        int lo = (int)((long)h * self / threads), hi = (int)((long)h * (self + 1) / threads);
        for (int i = lo; i < hi; i++) {
            gather(h, w, c, u_b + (size_t)i * (size_t)w, v_b, i);
            if (i - 1 > lo)
                clear(h, w, v_b, i - 1);
        }
#pragma omp barrier
        if (lo < hi)
            clear(h, w, v_b, lo);
        if (hi - 1 > lo)
            clear(h, w, v_b, hi - 1);
    }
}
