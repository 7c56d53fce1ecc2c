/* What every command needs: memory for the life of the process, growing text, and a list of
 * problems, so that a user sees all that is wrong with a command line at once. */
#ifndef RG_CLI_UTIL_H
#define RG_CLI_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses of the tool. */
enum { RG_CLI_OK = 0, RG_CLI_FAILED = 1, RG_CLI_BAD = 2 };

/* Zeroed; lives until rg_cli_free_all. Ends the process with status 2 when memory is out. */
void *rg_cli_alloc(size_t n, size_t size);
char *rg_cli_strdup(const char *s);
char *rg_cli_strndup(const char *s, size_t n);
char *rg_cli_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void rg_cli_free_all(void);

/* A line of what is wrong, without a final newline; kept until printed. */
void rg_cli_problem(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
size_t rg_cli_problem_count(void);
/* Prints "retrograd: ..." for each, on stderr, and forgets them. RG_CLI_BAD if there were any. */
int rg_cli_problems_flush(void);

/* The name of list (NULL-terminated) that word may have been meant to be, or NULL. */
const char *rg_cli_nearest(const char *word, const char *const *list);

/* Seconds since some fixed moment. */
double rg_cli_now(void);

/* Whole contents of a file, NUL-terminated; NULL with errno set. */
char *rg_cli_read_file(const char *path, size_t *size);

/* Deterministic random numbers, the same on every machine (splitmix64). */
typedef struct rg_cli_rng {
    uint64_t state;
} rg_cli_rng;
uint64_t rg_cli_rng_next(rg_cli_rng *r);
double rg_cli_rng_unit(rg_cli_rng *r);                /* [0, 1) */
double rg_cli_rng_normal(rg_cli_rng *r);              /* mean 0, deviation 1 */
uint64_t rg_cli_rng_below(rg_cli_rng *r, uint64_t n); /* 0 .. n-1; n > 0 */
uint64_t rg_cli_hash(const char *s);

#endif
