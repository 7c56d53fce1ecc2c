/* The header is a Python dictionary of three known keys; a reader for just that is enough, and
 * nothing is allocated before the sizes in it have been checked against the file's. */
#include "npy.h"

#include "dtype.h"
#include "util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char magic[6] = "\x93NUMPY";

static const struct descr {
    const char *text;
    rg_dtype dtype;
} descrs[] = {
    {"|b1", RG_DTYPE_BOOL}, {"|i1", RG_DTYPE_I8},  {"|u1", RG_DTYPE_U8},  {"<i2", RG_DTYPE_I16},
    {"<u2", RG_DTYPE_U16},  {"<i4", RG_DTYPE_I32}, {"<u4", RG_DTYPE_U32}, {"<i8", RG_DTYPE_I64},
    {"<u8", RG_DTYPE_U64},  {"<f2", RG_DTYPE_F16}, {"<f4", RG_DTYPE_F32}, {"<f8", RG_DTYPE_F64},
};
enum { N_DESCRS = sizeof descrs / sizeof descrs[0] };

typedef struct reader {
    const char *at, *end;
    char *error;
    size_t error_size;
} reader;

static bool fail(reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(reader *r, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (r->error_size)
        vsnprintf(r->error, r->error_size, fmt, ap);
    va_end(ap);
    return false;
}

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool accept(reader *r, char c) {
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool accept_word(reader *r, const char *word) {
    size_t n = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* 'text' or "text", with no escapes. */
static bool quoted(reader *r, char *out, size_t size) {
    char q = accept(r, '\'') ? '\'' : accept(r, '"') ? '"' : 0;
    if (!q)
        return fail(r, "its header is damaged: a quoted word is missing");
    size_t n = 0;
    for (; r->at < r->end && *r->at != q; r->at++) {
        if (n + 1 >= size || *r->at < ' ' || *r->at == '\\')
            return fail(r, "its header is damaged: a quoted word is odd");
        out[n++] = *r->at;
    }
    out[n] = 0;
    if (!accept(r, q))
        return fail(r, "its header is damaged: a quote is not closed");
    return true;
}

static bool read_descr(reader *r, rg_npy *out) {
    char text[16];
    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return fail(r, "it holds a structured type: give the fields as a trailing axis of one "
                       "plain type");
    if (!quoted(r, text, sizeof text))
        return false;
    char plain[16];
    memcpy(plain, text, sizeof plain);
    /* "=" is what the writing machine used; "|" and "<" are the same for single bytes. */
    if (plain[0] && strcmp(plain + 2, "1") == 0 && (plain[0] == '<' || plain[0] == '>'))
        plain[0] = '|';
    for (size_t i = 0; i < N_DESCRS; i++)
        if (strcmp(plain, descrs[i].text) == 0) {
            out->dtype = descrs[i].dtype;
            return true;
        }
    if (text[0] == '>')
        return fail(r,
                    "it is big-endian ('%s'): convert it with a.astype(a.dtype.newbyteorder("
                    "'<'))",
                    text);
    if (text[0] == '|' && text[1] == 'O')
        return fail(r, "it holds Python objects: convert it to a numeric type");
    return fail(r, "its type '%s' is none that kernels have", text);
}

static bool read_shape(reader *r, rg_npy *out) {
    out->rank = 0;
    if (!accept(r, '('))
        return fail(r, "its header is damaged: the shape is no tuple");
    while (!accept(r, ')')) {
        skip_space(r);
        if (r->at == r->end || *r->at < '0' || *r->at > '9')
            return fail(r, "its header is damaged: the shape holds something else than sizes");
        int64_t v = 0;
        for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *r->at - '0', &v))
                return fail(r, "its shape is too large");
        accept(r, 'L'); /* NumPy under Python 2 */
        if (out->rank == RG_NPY_MAX_RANK)
            return fail(r, "it has more than %d axes", RG_NPY_MAX_RANK);
        out->shape[out->rank++] = v;
        if (!accept(r, ',')) {
            if (!accept(r, ')'))
                return fail(r, "its header is damaged: the shape is not closed");
            break;
        }
    }
    return true;
}

static bool read_header(reader *r, rg_npy *out) {
    bool descr = false, order = false, shape = false;
    char key[24];
    if (!accept(r, '{'))
        return fail(r, "its header is damaged: no dictionary");
    while (!accept(r, '}')) {
        if (!quoted(r, key, sizeof key))
            return false;
        if (!accept(r, ':'))
            return fail(r, "its header is damaged: '%s' has no value", key);
        if (strcmp(key, "descr") == 0 && !descr) {
            descr = true;
            if (!read_descr(r, out))
                return false;
        } else if (strcmp(key, "fortran_order") == 0 && !order) {
            order = true;
            if (accept_word(r, "True"))
                return fail(r, "it is in Fortran order: save np.ascontiguousarray(a)");
            if (!accept_word(r, "False"))
                return fail(r, "its header is damaged: fortran_order is neither True nor False");
        } else if (strcmp(key, "shape") == 0 && !shape) {
            shape = true;
            if (!read_shape(r, out))
                return false;
        } else {
            return fail(r, "its header is damaged: '%s' is unknown or there twice", key);
        }
        if (!accept(r, ',')) {
            if (!accept(r, '}'))
                return fail(r, "its header is damaged: the dictionary is not closed");
            break;
        }
    }
    skip_space(r);
    if (r->at != r->end)
        return fail(r, "its header is damaged: something follows the dictionary");
    if (!descr || !order || !shape)
        return fail(r, "its header is damaged: '%s' is missing",
                    !descr   ? "descr"
                    : !order ? "fortran_order"
                             : "shape");
    return true;
}

bool rg_npy_parse(const void *bytes, size_t size, rg_npy *out, char *error, size_t error_size) {
    const unsigned char *b = bytes;
    reader r = {.error = error, .error_size = error_size};
    memset(out, 0, sizeof *out);
    if (size < 10 || memcmp(b, magic, sizeof magic) != 0)
        return fail(&r, "it is no .npy file");
    if (b[6] < 1 || b[6] > 3)
        return fail(&r, "it has version %d.%d of the format; 1 to 3 are known", b[6], b[7]);
    size_t head = b[6] == 1 ? 10 : 12;
    if (size < head)
        return fail(&r, "it is cut short");
    size_t length = b[8] | (size_t)b[9] << 8;
    if (head == 12)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > size - head)
        return fail(&r, "it is cut short: the header has %zu bytes, %zu are there", length,
                    size - head);
    r.at = (const char *)b + head;
    r.end = r.at + length;
    if (!read_header(&r, out))
        return false;
    size_t count = 1, want;
    bool empty = false;
    for (size_t i = 0; i < out->rank; i++)
        empty = empty || out->shape[i] == 0;
    for (size_t i = 0; i < out->rank && !empty; i++)
        if (__builtin_mul_overflow(count, (size_t)out->shape[i], &count))
            return fail(&r, "its shape is too large");
    count = empty ? 0 : count;
    if (__builtin_mul_overflow(count, rg_cli_dtype_size(out->dtype), &want))
        return fail(&r, "its shape is too large");
    size_t have = size - head - length;
    if (have != want)
        return fail(&r, "its shape wants %zu bytes, %zu are there%s", want, have,
                    have < want ? ": it is cut short" : "");
    const unsigned char *data = b + head + length;
    if (out->dtype == RG_DTYPE_BOOL)
        for (size_t i = 0; i < count; i++)
            if (data[i] > 1)
                return fail(&r, "element %zu is %d, which is no bool", i, data[i]);
    out->data = malloc(want ? want : 1);
    if (!out->data)
        return fail(&r, "out of memory (%zu bytes)", want);
    memcpy(out->data, data, want);
    out->count = count;
    return true;
}

bool rg_npy_read(const char *path, rg_npy *out, char *error, size_t error_size) {
    size_t size;
    memset(out, 0, sizeof *out);
    char *bytes = rg_cli_read_file(path, &size);
    if (!bytes) {
        snprintf(error, error_size, "%s", strerror(errno));
        return false;
    }
    return rg_npy_parse(bytes, size, out, error, error_size);
}

void rg_npy_free(rg_npy *a) {
    free(a->data);
    a->data = NULL;
}

bool rg_npy_write(const char *path, rg_dtype dtype, size_t rank, const int64_t *shape,
                  const void *data, char *error, size_t error_size) {
    char header[512];
    const char *descr = NULL;
    size_t n, count = 1;
    for (size_t i = 0; i < N_DESCRS; i++)
        if (descrs[i].dtype == dtype)
            descr = descrs[i].text;
    if (!descr || rank > RG_NPY_MAX_RANK) {
        snprintf(error, error_size, "NumPy has no such type");
        return false;
    }
    n = (size_t)snprintf(header, sizeof header,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t i = 0; i < rank; i++) {
        n += (size_t)snprintf(header + n, sizeof header - n, i ? ", %lld" : "%lld",
                              (long long)shape[i]);
        count *= (size_t)shape[i];
    }
    n += (size_t)snprintf(header + n, sizeof header - n, "%s), }", rank == 1 ? "," : "");
    while ((10 + n + 1) % 64) /* data starts at a multiple of 64 bytes */
        header[n++] = ' ';
    header[n++] = '\n';
    unsigned char head[10] = {0, 0, 0, 0, 0, 0, 1, 0, (unsigned char)n, (unsigned char)(n >> 8)};
    memcpy(head, magic, sizeof magic);
    FILE *f = fopen(path, "wb");
    size_t bytes = count * rg_cli_dtype_size(dtype);
    bool ok = f && fwrite(head, 1, sizeof head, f) == sizeof head && fwrite(header, 1, n, f) == n &&
              fwrite(data, 1, bytes, f) == bytes;
    int why = errno;
    if (f && fclose(f) != 0 && ok) {
        ok = false;
        why = errno;
    }
    if (!ok)
        snprintf(error, error_size, "%s", strerror(why));
    return ok;
}
