/* Keys: SHA-256 of everything that a compiled thing depends on.
 *
 * SHA-256 (FIPS 180-4) rather than a fast hash: a key names a file whose code gets run, so nobody
 * should be able to make two texts meet; and rather than a library's, because it is one page. */
#ifndef RG_COMPILE_KEY_H
#define RG_COMPILE_KEY_H

#include <stddef.h>
#include <stdint.h>

typedef struct rg_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} rg_sha256;

void rg_sha256_begin(rg_sha256 *h);
void rg_sha256_add(rg_sha256 *h, const void *data, size_t n);
/* A part of a key: its length goes in first, so that "ab","c" and "a","bc" differ. NULL is none. */
void rg_sha256_add_part(rg_sha256 *h, const void *data, size_t n);
void rg_sha256_add_text(rg_sha256 *h, const char *s);
void rg_sha256_end(rg_sha256 *h, unsigned char out[32]);
/* Lower-case digits and a NUL. */
void rg_sha256_hex(const unsigned char sum[32], char out[65]);

#endif
