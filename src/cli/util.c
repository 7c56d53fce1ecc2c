/* Memory is one list of blocks, freed at the end of main: a command line tool has no other
 * lifetime, and nothing on an error path can leak. */
#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef union block {
    struct {
        union block *next;
    } head;
    long double align;
} block;

static block *blocks;

typedef struct problem {
    struct problem *next;
    const char *text;
} problem;

static problem *problems, **problems_end = &problems;
static size_t problem_count;

void *rg_cli_alloc(size_t n, size_t size) {
    size_t bytes = 0;
    block *b = NULL;
    if (!__builtin_mul_overflow(n, size, &bytes) && bytes < SIZE_MAX - sizeof(block))
        b = calloc(1, sizeof(block) + bytes);
    if (!b) {
        fprintf(stderr, "retrograd: out of memory (%zu items of %zu bytes)\n", n, size);
        exit(RG_CLI_BAD);
    }
    b->head.next = blocks;
    blocks = b;
    return b + 1;
}

void rg_cli_free_all(void) {
    while (blocks) {
        block *next = blocks->head.next;
        free(blocks);
        blocks = next;
    }
    problems = NULL;
    problems_end = &problems;
    problem_count = 0;
}

char *rg_cli_strndup(const char *s, size_t n) {
    char *c = rg_cli_alloc(n + 1, 1);
    memcpy(c, s, n);
    return c;
}

char *rg_cli_strdup(const char *s) {
    return rg_cli_strndup(s, strlen(s));
}

static char *format_list(const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = rg_cli_alloc((size_t)(n < 0 ? 0 : n) + 1, 1);
    if (n > 0)
        vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

char *rg_cli_format(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *s = format_list(fmt, ap);
    va_end(ap);
    return s;
}

void rg_cli_problem(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *s = format_list(fmt, ap);
    va_end(ap);
    for (const problem *p = problems; p; p = p->next)
        if (strcmp(p->text, s) == 0)
            return;
    problem *p = rg_cli_alloc(1, sizeof *p);
    p->text = s;
    *problems_end = p;
    problems_end = &p->next;
    problem_count++;
}

size_t rg_cli_problem_count(void) {
    return problem_count;
}

int rg_cli_problems_flush(void) {
    int status = problem_count ? RG_CLI_BAD : RG_CLI_OK;
    fflush(stdout);
    for (const problem *p = problems; p; p = p->next)
        fprintf(stderr, "retrograd: %s\n", p->text);
    problems = NULL;
    problems_end = &problems;
    problem_count = 0;
    return status;
}

/* Levenshtein distance, with a bound on the length of what is compared. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1];
    size_t na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[nb];
}

const char *rg_cli_nearest(const char *word, const char *const *list) {
    const char *best = NULL;
    size_t n = strlen(word);
    size_t limit = n <= 2 ? 1 : n <= 5 ? 2 : 3;
    for (; *list; list++) {
        size_t d = distance(word, *list);
        if (n >= 2 && strncmp(word, *list, n) == 0)
            d = 1;
        if (d < n && d <= limit) {
            best = *list;
            limit = d ? d - 1 : 0;
            if (!d)
                break;
        }
    }
    return best;
}

double rg_cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *rg_cli_read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        size_t got = fread(text + n, 1, cap - n - 1, f);
        n += got;
        if (got == 0)
            break;
        if (cap - n < 2) {
            char *more = cap > SIZE_MAX / 2 ? NULL : realloc(text, cap * 2);
            if (!more) {
                free(text);
                text = NULL;
                errno = ENOMEM;
                break;
            }
            text = more;
            cap *= 2;
        }
    }
    int failed = ferror(f) ? (errno ? errno : EIO) : 0;
    fclose(f);
    if (!text || failed) {
        free(text);
        errno = failed ? failed : ENOMEM;
        return NULL;
    }
    char *kept = rg_cli_strndup(text, n);
    free(text);
    *size = n;
    return kept;
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014. */
uint64_t rg_cli_rng_next(rg_cli_rng *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double rg_cli_rng_unit(rg_cli_rng *r) {
    return (double)(rg_cli_rng_next(r) >> 11) * 0x1p-53;
}

/* Box and Muller; the second number is dropped, so that the stream has no hidden state. */
double rg_cli_rng_normal(rg_cli_rng *r) {
    double u = 1.0 - rg_cli_rng_unit(r), v = rg_cli_rng_unit(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

uint64_t rg_cli_rng_below(rg_cli_rng *r, uint64_t n) {
    uint64_t reject = (UINT64_MAX - n + 1) % n; /* keeps every answer equally likely */
    uint64_t x;
    do
        x = rg_cli_rng_next(r);
    while (x < reject);
    return x % n;
}

uint64_t rg_cli_hash(const char *s) {
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
    return h;
}
