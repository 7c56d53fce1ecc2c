/* NumPy's .npy files, as far as kernels need them: versions 1 to 3, little-endian, C order, plain
 * types. Anything else is refused with the reason and the way out.
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef RG_CLI_NPY_H
#define RG_CLI_NPY_H

#include "retrograd.h"

enum { RG_NPY_MAX_RANK = RG_MAX_RANK + 1 }; /* one more: the fields of a struct */

typedef struct rg_npy {
    rg_dtype dtype;
    size_t rank;
    int64_t shape[RG_NPY_MAX_RANK];
    size_t count; /* elements */
    void *data;   /* malloc'ed, C order; release with rg_npy_free */
} rg_npy;

/* False with what is wrong in error (without the file's name). */
bool rg_npy_parse(const void *bytes, size_t size, rg_npy *out, char *error, size_t error_size);
bool rg_npy_read(const char *path, rg_npy *out, char *error, size_t error_size);
void rg_npy_free(rg_npy *a);
bool rg_npy_write(const char *path, rg_dtype dtype, size_t rank, const int64_t *shape,
                  const void *data, char *error, size_t error_size);

#endif
