#include "lang/literal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const rg_literal_fault fine = {NULL, NULL, false};

static rg_literal_fault fault(const char *message, const char *hint) {
    return (rg_literal_fault){message, hint, false};
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* ---- Floating constants ---- */

static rg_literal_fault float_suffix(rg_arena *a, const char *spelling, const char *suffix,
                                     rg_token *t) {
    if (!*suffix)
        return fine;
    if (strcmp(suffix, "f") == 0 || strcmp(suffix, "F") == 0) {
        t->is_float = true;
        return fine;
    }
    if (strcmp(suffix, "l") == 0 || strcmp(suffix, "L") == 0)
        return fault("long double constants are not supported: no GPU has the type",
                     "drop the suffix; the constant is then a double");
    return fault(
        rg_format(a, "'%s' is not a suffix of a floating constant in '%s'", suffix, spelling),
        "f makes it a float, no suffix a double");
}

/* strtod reads the locale's decimal point, so it is given none: 1.25e3 goes in as 125e1. */
static rg_literal_fault parse_float(rg_arena *a, const char *spelling, bool hex, rg_token *t) {
    rg_text digits = {.arena = a};
    if (hex)
        rg_text_add(&digits, "0x");
    const char *p = spelling + (hex ? 2 : 0);
    int base = hex ? 16 : 10;
    long shift = 0;
    size_t n_digits = 0;
    bool point = false;
    for (; digit_value(*p) < base || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        rg_text_char(&digits, *p);
        n_digits++;
        if (point)
            shift--;
    }
    if (n_digits == 0)
        return fault(rg_format(a, "floating constant '%s' has no digits", spelling), NULL);
    if (hex)
        shift *= 4;
    if (*p == (hex ? 'p' : 'e') || *p == (hex ? 'P' : 'E')) {
        p++;
        bool negative = *p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (digit_value(*p) > 9)
            return fault(rg_format(a, "the exponent of '%s' has no digits", spelling), NULL);
        long e = 0;
        for (; digit_value(*p) <= 9; p++)
            if (e < 100000000) /* far beyond every double, far below overflow */
                e = e * 10 + digit_value(*p);
        shift += negative ? -e : e;
    } else if (hex) {
        return fault(rg_format(a, "hexadecimal floating constant '%s' has no exponent", spelling),
                     "end it with p0, as in 0x1.8p0");
    }
    rg_literal_fault f = float_suffix(a, spelling, p, t);
    if (f.message)
        return f;
    rg_text_format(&digits, "%c%ld", hex ? 'p' : 'e', shift);
    t->kind = RG_TOK_FLOAT;
    /* Straight to float: going through double would round twice. */
    const char *s = rg_text_str(&digits);
    t->f = t->is_float ? (double)strtof(s, NULL) : strtod(s, NULL);
    if (isinf(t->f))
        return fault(
            rg_format(a, "'%s' is too large for a %s", spelling, t->is_float ? "float" : "double"),
            t->is_float ? "drop the f for a double, or write INFINITY"
                        : "write INFINITY, from <math.h>");
    return fine;
}

/* ---- Integer constants ---- */

typedef struct suffix {
    bool is_unsigned, is_long, bad;
} suffix;

static suffix integer_suffix(const char *p) {
    suffix s = {false, false, false};
    for (int part = 0; *p && part < 2; part++) {
        if ((*p == 'u' || *p == 'U') && !s.is_unsigned) {
            s.is_unsigned = true;
            p++;
        } else if ((*p == 'l' || *p == 'L') && !s.is_long) {
            s.is_long = true;
            p += p[1] == p[0] ? 2 : 1; /* ll and LL, not lL */
        }
    }
    s.bad = *p != 0;
    return s;
}

static rg_literal_fault bad_integer(rg_arena *a, const char *spelling, const char *rest, int base) {
    if (base == 8 && (*rest == '8' || *rest == '9'))
        return fault(rg_format(a, "'%c' is not an octal digit, in '%s'", *rest, spelling),
                     "a number that begins with 0 is octal: drop the zero");
    if (base == 2 && digit_value(*rest) < 10)
        return fault(rg_format(a, "'%c' is not a binary digit, in '%s'", *rest, spelling), NULL);
    if (base == 10 && (strcmp(rest, "f") == 0 || strcmp(rest, "F") == 0))
        return fault(rg_format(a, "'%s' is neither an integer nor a float", spelling),
                     "a floating constant needs a point or an exponent, as in 1.0f");
    return fault(rg_format(a, "malformed number '%s'", spelling),
                 "integers may end in u, l, ul, ll or ull");
}

static rg_literal_fault parse_integer(rg_arena *a, const char *spelling, rg_token *t) {
    int base = 10;
    const char *p = spelling;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        base = 16, p += 2;
    else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B'))
        base = 2, p += 2;
    else if (p[0] == '0')
        base = 8;
    const char *first = p;
    uint64_t v = 0;
    bool overflow = false;
    for (; digit_value(*p) < base; p++) {
        uint64_t digit = (uint64_t)digit_value(*p);
        overflow |= v > (UINT64_MAX - digit) / (uint64_t)base;
        v = v * (uint64_t)base + digit;
    }
    suffix s = integer_suffix(p);
    if (p == first || s.bad)
        return bad_integer(a, spelling, p, base);
    if (overflow)
        return fault(rg_format(a, "integer constant '%s' is too large for 64 bits", spelling),
                     "write a floating constant if an approximate value will do");
    /* C11 6.4.4.1, the table after paragraph 5: the first type that holds the value. A decimal
     * constant without u never becomes unsigned. */
    bool may_be_unsigned = s.is_unsigned || base != 10;
    if (!s.is_long && !s.is_unsigned && v <= INT32_MAX) {
        t->is_long = false;
    } else if (!s.is_long && may_be_unsigned && v <= UINT32_MAX) {
        t->is_unsigned = true;
    } else if (!s.is_unsigned && v <= INT64_MAX) {
        t->is_long = true;
    } else if (may_be_unsigned) {
        t->is_long = t->is_unsigned = true;
    } else {
        return fault(
            rg_format(a, "integer constant '%s' is too large for a signed 64-bit type", spelling),
            "add the suffix u if it is meant to be unsigned");
    }
    t->i = v;
    return fine;
}

rg_literal_fault rg_literal_number(rg_arena *a, const char *spelling, rg_token *t) {
    t->kind = RG_TOK_INT;
    t->i = 0;
    t->f = 0;
    t->is_unsigned = t->is_long = t->is_float = false;
    bool hex = spelling[0] == '0' && (spelling[1] == 'x' || spelling[1] == 'X');
    bool binary = spelling[0] == '0' && (spelling[1] == 'b' || spelling[1] == 'B');
    rg_literal_fault f = !binary && strpbrk(spelling, hex ? ".pP" : ".eE")
                             ? parse_float(a, spelling, hex, t)
                             : parse_integer(a, spelling, t);
    if (f.message) {
        *t = (rg_token){
            .kind = RG_TOK_INT, .loc = t->loc, .text = t->text, .space_before = t->space_before};
    }
    return f;
}

/* ---- Characters and strings ---- */

typedef struct reader {
    const char *at, *end;
    bool wide;
    rg_literal_fault fault;
} reader;

/* Spelling to what is between its quotes. An unterminated literal was reported by the lexer. */
static reader open_quoted(const char *spelling) {
    reader r = {.fault = fine};
    r.wide = *spelling == 'L' || *spelling == 'U' || (*spelling == 'u' && spelling[1] != '8');
    while (*spelling != '"' && *spelling != '\'')
        spelling++;
    char quote = *spelling;
    r.at = spelling + 1;
    r.end = r.at + strlen(r.at);
    if (r.end > r.at && r.end[-1] == quote)
        r.end--;
    return r;
}

static uint32_t read_digits(reader *r, int base, int max, int *n) {
    uint32_t v = 0;
    for (*n = 0; r->at < r->end && *n < max && digit_value(*r->at) < base; ++*n)
        v = (v << (base == 16 ? 4 : 3)) | (uint32_t)digit_value(*r->at++);
    return v;
}

/* The character that an escape stands for; *is_code when it is a code point and not a byte. */
static uint32_t read_escape(reader *r, bool *is_code) {
    static const char letters[] = "n\nt\tr\ra\ab\bf\fv\v\\\\''\"\"?\?";
    int n;
    if (r->at == r->end)
        return '\\';
    char c = *r->at;
    if (c >= '0' && c <= '7') {
        uint32_t v = read_digits(r, 8, 3, &n);
        if (v > 255 && !r->wide)
            r->fault = fault("octal escape is too large for a character", "\\377 is the largest");
        return v;
    }
    r->at++;
    for (const char *l = letters; *l; l += 2)
        if (*l == c)
            return (unsigned char)l[1];
    if (c == 'x') {
        while (r->end - r->at > 1 && *r->at == '0' && digit_value(r->at[1]) < 16)
            r->at++; /* leading zeros do not count */
        uint32_t v = read_digits(r, 16, 8, &n);
        if (n == 0)
            r->fault = fault("\\x has no hexadecimal digits", NULL);
        else if ((v > 255 && !r->wide) || (r->at < r->end && digit_value(*r->at) < 16))
            r->fault =
                fault("hexadecimal escape is too large for a character", "\\xff is the largest");
        return v;
    }
    if (c == 'u' || c == 'U') {
        int want = c == 'u' ? 4 : 8;
        uint32_t v = read_digits(r, 16, want, &n);
        if (n < want || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
            r->fault = fault("\\u names no character of Unicode",
                             "write four digits after \\u, eight after \\U");
        *is_code = true;
        return v;
    }
    r->fault = fault("unknown escape sequence after \\", "write \\\\ for a backslash");
    return (unsigned char)c;
}

static uint32_t read_utf8(reader *r) {
    unsigned char c = (unsigned char)*r->at++;
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t v = more == 3 ? c & 7u : more == 2 ? c & 15u : more == 1 ? c & 31u : c;
    while (more-- > 0 && r->at < r->end && ((unsigned char)*r->at & 0xc0) == 0x80)
        v = (v << 6) | ((unsigned char)*r->at++ & 0x3fu);
    return v;
}

static int encode_utf8(uint32_t c, unsigned char out[4]) {
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    int n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (unsigned char)(0x80 | (c & 0x3f));
    out[0] = (unsigned char)((0xf00 >> n & 0xff) | (c & 0xff));
    return n;
}

rg_literal_fault rg_literal_char(rg_arena *a, const char *spelling, rg_token *t) {
    reader r = open_quoted(spelling);
    uint32_t v = 0;
    int n = 0;
    while (r.at < r.end) {
        bool is_code = false;
        uint32_t c;
        if (*r.at == '\\') {
            r.at++;
            c = read_escape(&r, &is_code);
        } else {
            c = r.wide ? read_utf8(&r) : (unsigned char)*r.at++;
        }
        unsigned char bytes[4] = {(unsigned char)c, 0, 0, 0};
        int n_bytes = is_code && !r.wide ? encode_utf8(c, bytes) : 1;
        for (int i = 0; i < n_bytes; i++, n++)
            v = r.wide ? c : (v << 8) | bytes[i];
    }
    int32_t value = (int32_t)v;
    if (n == 1 && !r.wide && v > 127)
        value = (int32_t)v - 256; /* plain char is signed, here and on every device */
    t->kind = RG_TOK_INT;
    t->is_long = false;
    t->is_unsigned = *spelling == 'U';
    t->i = t->is_unsigned ? v : (uint64_t)(int64_t)value;
    if (r.fault.message)
        return r.fault;
    if (n == 0)
        return fault("this character constant is empty", "write '\\0' for the character zero");
    if (n > 1) {
        rg_literal_fault f = {
            rg_format(a, "character constant %s has more than one character", spelling),
            "its value differs between compilers; write a number instead", true};
        return f;
    }
    return fine;
}

rg_literal_fault rg_literal_string(const char *spelling, rg_text *out) {
    reader r = open_quoted(spelling);
    while (r.at < r.end) {
        bool is_code = r.wide;
        uint32_t c = (unsigned char)*r.at++;
        if (c == '\\')
            c = read_escape(&r, &is_code);
        else
            is_code = false;
        if (c == 0)
            break;
        unsigned char bytes[4] = {(unsigned char)c, 0, 0, 0};
        int n = is_code && c <= 0x10ffff ? encode_utf8(c, bytes) : 1;
        rg_text_add_n(out, (const char *)bytes, (size_t)n);
    }
    return r.fault;
}
