/* Floats of parameters as doubles, and how what a check finds goes into its report. */
#include "check_floats.h"

#include "dtype.h"

#include <math.h>
#include <stdlib.h>

size_t rg_check_floats(const rg_cli_param *p) {
    size_t n = 0;
    for (size_t f = 0; f < p->layout.n; f++)
        n += rg_cli_dtype_is_float(p->layout.fields[f].dtype);
    return n * p->count;
}

void rg_check_floats_get(const rg_cli_param *p, const void *items, double *to) {
    const unsigned char *item = items;
    for (size_t e = 0; e < p->count; e++, item += p->info.item_size)
        for (size_t f = 0; f < p->layout.n; f++)
            if (rg_cli_dtype_is_float(p->layout.fields[f].dtype))
                *to++ =
                    rg_cli_scalar_get(p->layout.fields[f].dtype, item + p->layout.fields[f].offset);
}

void rg_check_floats_set(const rg_cli_param *p, void *items, double *values) {
    unsigned char *item = items;
    for (size_t e = 0; e < p->count; e++, item += p->info.item_size)
        for (size_t f = 0; f < p->layout.n; f++)
            if (rg_cli_dtype_is_float(p->layout.fields[f].dtype)) {
                void *at = item + p->layout.fields[f].offset;
                rg_cli_scalar_set(p->layout.fields[f].dtype, at, *values);
                *values++ = rg_cli_scalar_get(p->layout.fields[f].dtype, at);
            }
}

void *rg_check_room(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fputs("retrograd: out of memory\n", stderr);
        exit(RG_CLI_BAD);
    }
    return p;
}

void rg_check_note(rg_check_cell *c, rg_check_state state, double error, const char *note) {
    if (c->state == RG_CHECK_FAIL && state != RG_CHECK_FAIL)
        return;
    if (c->state == state && !(error > c->error) && !isnan(error))
        return;
    if (c->state == RG_CHECK_PASS && state == RG_CHECK_SKIP)
        return; /* something was decided */
    *c = (rg_check_cell){state, error, note};
}

void rg_check_test(rg_check_cell *c, double error, double limit, const char *note) {
    bool pass = error <= limit; /* NaN fails */
    rg_check_note(c, pass ? RG_CHECK_PASS : RG_CHECK_FAIL, error, pass ? NULL : note);
}

const char *rg_check_message(const rg_cli_session *s, rg_status st) {
    const char *m = rg_context_message(s->ctx);
    return rg_cli_strdup(m && *m ? m : rg_status_name(st));
}

double rg_check_largest(const double *v, size_t n) {
    double most = 0;
    for (size_t c = 0; v && c < n; c++)
        most = fmax(most, fabs(v[c]));
    return most;
}
