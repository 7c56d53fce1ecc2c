/* Breaks SPIR-V modules and has them checked and repaired: whatever the bytes, there is an answer,
 * soon and without a fault (a sanitizer build says more about those).
 *
 *     mutate SHARE COUNT MODULE.spv...
 *
 * flips each bit of each module, or one in SHARE of them, then makes COUNT modules by a few random
 * changes each: words replaced by other words, opcodes, small numbers or noise, lines cut or
 * repeated. What is still SPIR-V must be repaired to SPIR-V with nothing left to repair, which a
 * second repair leaves alone. Prints what it did; exit status 1 on the first module that fails,
 * which stays behind as broken.spv. */
#include "retrograd.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 1 << 15, SECONDS = 20 };

static uint32_t words[MOST_WORDS];
static size_t n_words;
static unsigned long valid, refused;
static uint64_t state = 1;

static uint32_t next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static void keep(void) {
    FILE *f = fopen("broken.spv", "wb");
    if (f) {
        fwrite(words, 4, n_words, f);
        fclose(f);
    }
}

static void out_of_time(int s) {
    (void)s;
    static const char text[] = "mutate: an answer took too long\n";
    keep();
    _exit(write(2, text, sizeof text - 1) < 0 ? 3 : 1);
}

static void need(bool fine, const char *what) {
    if (fine)
        return;
    keep();
    fprintf(stderr, "mutate: %s\n", what);
    exit(1);
}

static void try_one(void) {
    rg_spirv_report *r;
    void *out, *again;
    size_t size, size_again;
    alarm(SECONDS);
    rg_status s = rg_spirv_fix(words, n_words * 4, NULL, &out, &size, &r);
    need(s == RG_OK || s == RG_ERROR_SOURCE || s == RG_ERROR_REFUSED, rg_status_name(s));
    need((s == RG_OK) == (*rg_spirv_report_message(r) == 0), "a refusal without a reason");
    if (s == RG_OK) {
        valid++;
        for (size_t k = 0; k < rg_spirv_report_count(r); k++) {
            rg_spirv_finding f = {.size = sizeof f};
            rg_spirv_report_finding(r, k, &f);
            need(!f.fixable, "something fixable is left");
        }
        rg_spirv_report_release(r);
        s = rg_spirv_fix(out, size, NULL, &again, &size_again, &r);
        need(s == RG_OK, "what was repaired is no SPIR-V");
        need(size == size_again && memcmp(out, again, size) == 0, "a second repair changes it");
        rg_spirv_free(NULL, again);
    } else {
        refused++;
    }
    rg_spirv_free(NULL, out);
    rg_spirv_report_release(r);
}

static void change(void) {
    size_t at = 5 + next() % (n_words - 5), from = 5 + next() % (n_words - 5);
    size_t count = 1 + next() % 8;
    switch (next() % 8) {
    case 0:
        words[at] = next() << 1 ^ next();
        break;
    case 1:
        words[at] ^= 1u << next() % 32;
        break;
    case 2:
    case 3:
        words[at] = words[from];
        break;
    case 4:
        words[at] = next() % 128;
        break;
    case 5:
        words[at] = (words[at] & 0xffff0000u) | next() % 400;
        break;
    case 6: /* cut */
        if (at + count < n_words && n_words > 16) {
            memmove(&words[at], &words[at + count], (n_words - at - count) * 4);
            n_words -= count;
        }
        break;
    default: /* repeat */
        if (n_words + count < MOST_WORDS && from + count < n_words) {
            memmove(&words[at + count], &words[at], (n_words - at) * 4);
            memmove(&words[at], &words[from < at ? from : from + count], count * 4);
            n_words += count;
        }
        break;
    }
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    unsigned long share = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10), flips = 0;
    if (share == 0)
        return 2;
    signal(SIGALRM, out_of_time);
    for (int k = 3; k < argc; k++) {
        FILE *f = fopen(argv[k], "rb");
        if (!f || fseek(f, 0, SEEK_END) != 0 || ftell(f) > (long)sizeof words || ftell(f) < 64)
            return 2;
        fclose(f);
    }
    for (unsigned long n = 0; n < count + (unsigned long)(argc - 3); n++) {
        bool flip = n < (unsigned long)(argc - 3);
        FILE *f = fopen(argv[3 + (flip ? n : next() % (unsigned)(argc - 3))], "rb");
        if (!f)
            return 2;
        n_words = fread(words, 4, MOST_WORDS, f);
        fclose(f);
        for (size_t bit = n % share; flip && bit < n_words * 32; bit += share, flips++) {
            words[bit / 32] ^= 1u << bit % 32;
            try_one();
            words[bit / 32] ^= 1u << bit % 32;
        }
        for (uint32_t changes = 1 + next() % 4; !flip && changes; changes--)
            change();
        if (!flip)
            try_one();
    }
    printf("%lu flips, %lu random changes: %lu repaired, %lu refused\n", flips, count, valid,
           refused);
    return 0;
}
