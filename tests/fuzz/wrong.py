"""Wrong programs: right ones (generate.py's, tests/kernels, examples) spoilt at random.

    python3 tests/fuzz/wrong.py --build build --count 300 --seed 1
    python3 tests/fuzz/wrong.py --build build --seed 4711 --reduce   shrinks one program

What must hold for each: no crash (a sanitizer build shows more), an end within seconds, little
memory, and for a refusal the file, line and column, the source line and a caret. What is accepted
although `gcc -std=c99 -fopenmp -fsyntax-only` refuses it is reported too: either C was not kept to,
or gcc's objection belongs in TOLERATED below, with the reason.
"""

import argparse
import concurrent.futures
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import generate  # noqa: E402

BATCH = 40
SECONDS, MEGABYTES = 20, 768

# Errors of gcc that do not speak against a program that Retrograd accepts.
TOLERATED = [
    # a hint; says nothing about a kernel
    "‘#pragma omp declare simd’ must be followed by",
    # in the parameters of a definition it means what [] means
    "‘[*]’ not allowed in other than function prototype scope",
]

TOKEN = re.compile(r'[ \t]+|\n|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
                   r'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>'
                   r'|[<>=!]=|&&|\|\||[-+*/%&|^]=|##|.', re.S)

TYPES = ["int", "float", "double", "unsigned", "char", "void", "short", "long", "long long", "_Bool",
         "struct s", "vec3", "const", "int *", "float *", "size_t", "int8_t", "uint64_t", "_Float16",
         "float[3]", "signed", "unsigned float", "long double", "static", "extern", "volatile",
         "restrict", "inline", "register", "typedef", "union u", "enum e", "auto", "_Complex",
         "long long long", "short double"]
WORDS = TYPES + """ if else for while do switch case default break continue return goto sizeof
 { } ( ) [ ] ; , . -> ++ -- + - * / % & | ^ ~ ! < > <= >= == != && || ? : = += -= *= /= %= <<= >>=
 << >> # ## 0 1 -1 2147483648 0x 0xffffffffffffffff 1e400 1e-400 1.5f 0.5 3u 7ULL 08 'a' '' "s" 1.f.2
 x y n m i undeclared NULL sinf sin fabs M_PI INFINITY rg_stop printf malloc main k 0x1p99999999
 99999999999999999999999999 1.0e _Static_assert _Alignas _Generic asm __asm__ typeof __attribute__
 #pragma #define #include #if #endif \\ @ $ ` \x01 \x7f \xc3\xa9 \xff """.split()

PRAGMAS = ["#pragma omp parallel for", "#pragma omp parallel", "#pragma omp for", "#pragma omp atomic",
           "#pragma omp parallel for collapse(2)", "#pragma omp parallel for collapse(0)",
           "#pragma omp parallel for collapse(99999999999)", "#pragma omp parallel for collapse(n)",
           "#pragma omp parallel for reduction(+:s)", "#pragma omp parallel for reduction(+:",
           "#pragma omp parallel for reduction(@:s)", "#pragma omp parallel for reduction(+:x[:n])",
           "#pragma omp parallel for private(undeclared)", "#pragma omp parallel for private(n)",
           "#pragma omp parallel for default(none)", "#pragma omp parallel for lastprivate(n)",
           "#pragma omp parallel for firstprivate(x) private(x)", "#pragma omp parallel for nowait",
           "#pragma omp atomic read", "#pragma omp atomic write", "#pragma omp atomic capture",
           "#pragma omp atomic compare", "#pragma omp atomic update seq_cst", "#pragma omp critical",
           "#pragma omp barrier", "#pragma omp task", "#pragma omp simd", "#pragma omp", "#pragma",
           "#pragma omp parallel for schedule(", "#pragma omp parallel for schedule(static, -1)",
           "#pragma retrograd", "#pragma retrograd checkpoint", "#pragma retrograd checkpoint(0)",
           "#pragma retrograd checkpoint(-1)", "#pragma retrograd checkpoint(99999999999999999999)",
           "#pragma retrograd adjoint(", "#pragma retrograd adjoint(f) = g",
           "#pragma retrograd adjoint(k) = k", "#pragma once", "#pragma omp target teams distribute",
           "#pragma omp parallel for num_threads(0)", "#pragma omp parallel for if(",
           "#pragma omp threadprivate(x)", "#pragma omp declare simd", "#pragma omp scan"]

STATEMENTS = [
    "goto done;", "done: ;", "int n;", "float n;", "return 1;", "return;", "break;", "continue;",
    "case 1: ;", "default: ;", "undeclared = 1;", "x = y;", "x = 0;", "1 = n;", "n + 1 = 2;",
    "n++++;", "&n = 0;", "*n = 1;", "n[0] = 1;", "n.x = 1;", "n->x = 1;", "y[0][0] = 1;", "y[n] = x;",
    "y[1.5] = 0;", "int q = {1, 2};", "int q[2] = {1, 2, 3};", "int q[-1];", "int q[0];",
    "float q[99999999999];", "float q[n][n][n][n][n][n][n][n][n][n][n][n][n][n];", "int q[] ;",
    "float q[2147483647][2147483647];", "char q[1 << 62];", "int q[2.5];", "int q = q;",
    "float *q;", "float *q = 0;", "float *q = (float *)n;", "float **q;", "void *q = x;", "void q;",
    "const int q = 1; q = 2;", "const int q = 1; q++;", "static int q;", "extern int q;",
    "int f(int);", "int f(int a) { return a; }", "struct z { int a; } q = {1, 2};", "struct z q;",
    "struct z { struct z a; };", "struct { int a; float a; } q;", "union { int a; } q;",
    "enum { A, A };", "enum { B = 1.5 };", "enum { C = 1 / 0 };", "typedef int n;",
    "_Static_assert(0, \"no\");", "_Static_assert(n, \"no\");", "n / 0;", "n % 0;", "n = 1 / 0;",
    "n = 1 << 99;", "n = 1 << -1;", "n = -2147483648 / -1;", "n = 2147483647 + 1;", "n <<= 1.5;",
    "n % 1.5;", "~1.5;", "!x;", "-x;", "x + x;", "x * 2;", "x == y;", "if (x) ;", "while (1) ;",
    "for (;;) ;", "for (int q = 0; ; q++) ;", "do ; while (1);", "for (int n = n; n < n; n++) ;",
    "switch (n) { case 1: case 1: ; }", "switch (n) { case n: ; }", "switch (1.5) { }",
    "switch (n) { default: default: ; }", "switch (n) int q = 1;", "sizeof(void);", "sizeof(int[n]);",
    "sizeof x;", "sin();", "sin(1, 2);", "sin(x);", "sin = 1;", "sin;", "printf(\"%d\", n);",
    "undeclared(n);", "n();", "x();", "malloc(4);", "(int)x;", "(float *)x;", "(void)n = 1;",
    "(struct z)n;", "n ? x : y;", "n ? x : 1;", "n, x = 1;", "n ? ;", "{", "}", "((((", "))))", "/*",
    "\"", "'", "#", "\\", "asm(\"nop\");", "n = rg_stop(x);", "n = rg_stop();", "y[0] = y;",
    "int q = sizeof(q) / 0;", "n = x[2147483648];", "n = x[-1];", "n = (&n)[5];", "n = *&n;",
    "float q[3]; q[3] = 1;", "float q[3]; q[-1] = 1;", "float q[n]; q = x;", "n = 'ab';",
    "n = '\\xfffffffff';", "n = \"a\"[0];", "int a, a;", "int a; { int a; } int a;", "int 3;",
    "float f = 1e99999;", "float f = 0x1.8p9999999999;", "int f = 0xfffffffffffffffff;", "else ;",
    "float f = .;", "float f = 1..2;", "struct { float v[1 << 30]; } q[1 << 30];",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q++) y[0] = q;",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q++) n = q;",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q++) q = 3;",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q *= 2) ;",
    "#pragma omp parallel for\nfor (int q = 0; q < q; q++) ;",
    "#pragma omp parallel for\nfor (float q = 0; q < 10; q++) ;",
    "#pragma omp parallel for\nfor (int q = 0; q != 10; q += 3) break;",
    "#pragma omp parallel for\nfor (;;) ;", "#pragma omp parallel for\nn = 1;",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q += 0) ;",
    "#pragma omp parallel for\nfor (int q = 0; q < 10; q++) return;",
    "#pragma omp parallel for reduction(+:n)\nfor (int q = 0; q < 9; q++) n = q;",
    "#pragma omp parallel for reduction(+:n)\nfor (int q = 0; q < 9; q++) y[q] = n;",
    "#pragma omp atomic\ny[0] = 1;", "#pragma omp atomic\ny[0] += y[0];", "#pragma omp atomic\n;",
    "#pragma omp atomic\nif (n) y[0] += 1;", "#pragma omp atomic\n{ y[0] += 1; y[1] += 1; }",
    "#pragma omp atomic capture\ny[0] = x[0];", "#pragma omp atomic capture\n{ }",
]

TOPS = ["int global;", "const int c;", "static float s;", "extern const float e;", "int (*fp)(int);",
        "void k(int n);", "void k(float n) {}", "static void r(void) { r(); }", "int f(void) { }",
        "static float g(float a) { }", "static float g(float a) { return; }", "void v(void) { return 1; }",
        "struct s { };", "struct s { int n; };", "struct s { int a[]; };", "struct s { float *p; };",
        "typedef struct s s; struct t { s a; };", "typedef int t; typedef float t;", "int main(void) { }",
        "const float T[2] = {1, 2, 3};", "const int T[] = {};", "const int T[3] = {[5] = 1};",
        "const int A = A;", "const int A = B; const int B = A;", "#error stop", "#include <stdio.h>",
        "#include \"missing.h\"", "#include", "#include <math.h", "#define", "#define X(", "#define X X",
        "#if", "#if 1", "#else", "#endif", "#elif 1", "#if 1 / 0\n#endif", "#if (\n#endif", "#undef",
        "#line 99999999999", "#line 7 \"other.c\"", "# 12 \"nowhere.c\" 1", "#ifdef", "#if 2 >\n#endif",
        "#define defined 1", "#define int float", "#define void int", "#define n", "#define x y",
        "#define for while", "#define const", "#define F(a, ...) a##__VA_ARGS__\nint F(1", "@", ";",
        "void v(int n, float x[m], int m) { }", "void v(float x[]) { x[0][0] = 1; }", "};", "{}",
        "void v(float x[0]) { x[0] = 1; }", "void v(float x[-1]) { }", "void v(float x[1 << 40]) { }",
        "void v(int n, float x[n][n][n][n][n][n][n][n][n][n][n][n][n]) { x[0] = 1; }",
        "void v(float x[][]) { }", "void v(void x) { }", "void v(x) int x; { }", "void v(int, int) { }",
        "void v(float **x) { }", "void v(float *x, ...) { }", "void v(const float x[2]) { x[0] = 1; }",
        "inline float w(float a) { return a; } void v(float x[1]) { x[0] = w(x[0]); }",
        "static int p(int a) { return q(a); } static int q(int a) { return p(a); } "
        "void v(int x[1]) { x[0] = p(1); }",
        "#pragma retrograd adjoint(inv) = inv", "#pragma retrograd adjoint(bound) = missing",
        "#pragma omp parallel for", "_Static_assert(sizeof(int) == 8, \"size\");", "enum e;",
        "typedef float f4 __attribute__((vector_size(16)));", "void v() { }", "void (v)(int n) { }"]


def tokens(text):
    return TOKEN.findall(text)


def solid(toks):
    """Positions of the tokens that are not blank."""
    return [i for i, t in enumerate(toks) if t.strip()]


class Spoiler:
    def __init__(self, seed, corpus):
        self.r = random.Random(seed)
        self.corpus = corpus
        self.seed = seed

    def base(self):
        if self.r.random() < 0.5:
            return generate.generate(self.r.randrange(1, 100000)).source()
        with open(self.r.choice(self.corpus)) as f:
            return f.read()

    def make(self):
        text = self.base()
        for _ in range(self.r.choice([1, 1, 1, 2, 2, 3, 5])):
            text = self.r.choice([self.token_edit] * 4 + [
                self.statement, self.statement, self.statement, self.top, self.pragma, self.clause,
                self.identifier, self.identifier, self.types, self.types, self.no_declaration,
                self.index, self.index, self.constness, self.truncate, self.bytes, self.deep,
                self.huge, self.extent, self.splice, self.bomb, self.line_edit, self.include,
                self.struct])(text)
            if len(text) > 400000:
                break
        data = text.encode("utf-8", "surrogateescape")
        return data

    # -- tokens and bytes --
    def token_edit(self, text):
        toks = tokens(text)
        at = solid(toks)
        if not at:
            return text
        i, j = self.r.choice(at), self.r.choice(at)
        how = self.r.randrange(7)
        if how == 0:
            del toks[i]
        elif how == 1:
            toks.insert(i, toks[i] + " ")
        elif how == 2:
            toks[i], toks[j] = toks[j], toks[i]
        elif how == 3:
            toks[i] = self.r.choice(WORDS)
        elif how == 4:
            toks.insert(i, f" {self.r.choice(WORDS)} ")
        elif how == 5:
            toks[i] = toks[j]
        else:
            del toks[i:i + self.r.randrange(2, 12)]
        return "".join(toks)

    def line_edit(self, text):
        lines = text.split("\n")
        i, j = self.r.randrange(len(lines)), self.r.randrange(len(lines))
        how = self.r.randrange(4)
        if how == 0:
            del lines[i]
        elif how == 1:
            lines.insert(i, lines[j])
        elif how == 2:
            lines[i], lines[j] = lines[j], lines[i]
        else:
            lines[i] += "\\"
        return "\n".join(lines)

    def truncate(self, text):
        return text[:self.r.randrange(len(text) + 1)]

    def bytes(self, text):
        b = bytearray(text.encode("utf-8", "surrogateescape"))
        for _ in range(self.r.choice([1, 1, 3, 20])):
            i = self.r.randrange(len(b) + 1)
            x = self.r.choice([0, 1, 9, 10, 11, 12, 13, 26, 27, 34, 39, 64, 92, 127, 128, 0xc3, 0xff,
                               self.r.randrange(256)])
            if self.r.random() < 0.5 and i < len(b):
                b[i] = x
            else:
                b.insert(i, x)
        if self.r.random() < 0.1:
            b = b"\xef\xbb\xbf" + b
        if self.r.random() < 0.1:
            b = b.replace(b"\n", self.r.choice([b"\r\n", b"\r", b"\\\n"]))
        return bytes(b).decode("utf-8", "surrogateescape")

    def splice(self, text):
        other = tokens(self.base())
        mine = tokens(text)
        i, j = self.r.randrange(len(mine) + 1), self.r.randrange(len(other) + 1)
        return "".join(mine[:i] + other[j:j + self.r.choice([5, 50, 5000])] + mine[i:])

    # -- places in the text --
    def place(self, text, pattern):
        found = list(re.finditer(pattern, text))
        return self.r.choice(found) if found else None

    def put(self, text, what):
        """After a semicolon or an opening brace."""
        m = self.place(text, r"[;{]\s*\n")
        return text if not m else text[:m.end()] + what + "\n" + text[m.end():]

    def statement(self, text):
        return self.put(text, self.r.choice(STATEMENTS))

    def pragma(self, text):
        return self.put(text, self.r.choice(PRAGMAS))

    def top(self, text):
        m = self.place(text, r"(?m)^(?=\S)")
        what = self.r.choice(TOPS)
        return text + what if not m else text[:m.start()] + what + "\n" + text[m.start():]

    def clause(self, text):
        m = self.place(text, r"#pragma omp[^\n]*")
        if not m:
            return self.pragma(text)
        line = m.group(0)
        how = self.r.randrange(4)
        if how == 0:
            line = self.r.choice(PRAGMAS)
        elif how == 1:
            line = re.sub(r" (collapse|reduction|private|firstprivate)\([^)]*\)", "", line)
        elif how == 2:
            line += self.r.choice([" collapse(2)", " collapse(3)", " reduction(+:n)", " private(x)",
                                   " reduction(*:x)", " firstprivate(undeclared)", " default(none)",
                                   " reduction(max:y)", " (", ")", " foo", " ordered", " linear(n)",
                                   " private()", " reduction(+:)", " reduction(-:n) reduction(+:n)",
                                   " simd", " shared(n) private(n)", " device(0)", " capture"])
        else:
            line = ""
        return text[:m.start()] + line + text[m.end():]

    def identifier(self, text):
        toks = tokens(text)
        at = [i for i, t in enumerate(toks) if re.match(r"[A-Za-z_]\w*$", t)]
        if len(at) < 2:
            return text
        i, j = self.r.choice(at), self.r.choice(at)
        if self.r.random() < 0.3:  # everywhere
            a, b = toks[i], toks[j]
            return "".join(b if t == a else t for t in toks)
        toks[i] = self.r.choice([toks[j], toks[i] + "_", "undeclared"])
        return "".join(toks)

    def types(self, text):
        m = self.place(text, r"\b(int|float|real|REAL|double|unsigned|void|vec3|S0|S1|static|const)\b")
        if not m:
            return text
        return text[:m.start()] + self.r.choice(TYPES) + text[m.end():]

    def no_declaration(self, text):
        m = self.place(text, r"\b(?:int|float|real|double|unsigned|uint64_t|S0) (?=\w+ = )")
        return text if not m else text[:m.start()] + text[m.end():]

    def index(self, text):
        """The races among others: an index that no longer varies, or varies too little."""
        m = self.place(text, r"\[([^\][\n]+)\]")
        if not m:
            return text
        what = self.r.choice(["0", "n", "n - 1", "i / 2", "i & 1", "-1", "99999999999", "1.5", "x",
                              "y[0]", "i, j", "", "i][0", "i++", "idx[i]", "(char)i", "i = 0", "*x",
                              "1 / 0", "1ull << 63", "n++", "sizeof(int)", "'a'"])
        return text[:m.start(1)] + what + text[m.end(1):]

    def constness(self, text):
        if self.r.random() < 0.5:
            m = self.place(text, r"\bconst ")
            return text if not m else text[:m.start()] + text[m.end():]
        m = self.place(text, r"\b(?=(int|float|real|REAL|double|S0|vec3) )")
        return text if not m else text[:m.start()] + "const " + text[m.start():]

    def extent(self, text):
        m = self.place(text, r"(?<=\w)\[(n|m|\d+|steps \+ 1)\](?=[,)\[;])")
        if not m:
            return text
        what = self.r.choice(["-1", "0", "2147483647", "2147483648", "9223372036854775807", "1 << 31",
                              "n * n * n * n", "later", "1.5", "x", "n][n][n][n][n][n][n][n][n][n][n",
                              "sizeof(int[n])", "f(n)", "n = 1", "", "static n", "const", "*", "n / 0",
                              "18446744073709551615u", "restrict static n", "n ? n : m", "-n"])
        return text[:m.start(1)] + what + text[m.end(1):]

    def include(self, text):
        return re.sub(r"#include[^\n]*", "", text, count=self.r.choice([0, 1]))

    def struct(self, text):
        m = self.place(text, r"struct[^{;]*\{([^}]*)\}")
        if not m:
            return self.top(text)
        inside = self.r.choice(["", m.group(1) * 2, m.group(1) + "int *p;", "int a : 3;", "int;",
                                m.group(1) + "struct { int q; };", "float v[" + "9" * 12 + "];",
                                "float v[n];", "void v;", "int f(void);", m.group(1) + "int z[];",
                                "struct { struct { struct { float v[4]; } a[4]; } b[4]; } c[4];"])
        return text[:m.start(1)] + inside + text[m.end(1):]

    # -- size --
    def deep(self, text):
        n = self.r.choice([10, 100, 490, 600, 3000, 20000])
        r = self.r.randrange(27)
        if r == 0:
            return self.put(text, "n = " + "(" * n + "1" + ")" * n + ";")
        if r == 1:
            return self.put(text, "{" * n + "}" * n)
        if r == 2:
            return self.put(text, "if (n) " * n + "n = 1;")
        if r == 3:
            return self.put(text, "n = " + "-" + " -" * n + "1;")
        if r == 4:
            return self.put(text, "n = " + "x[" * n + "0" + "]" * n + ";")
        if r == 5:
            return self.put(text, "n = " + "n ? " * n + "1" + " : 0" * n + ";")
        if r == 6:
            return self.put(text, "n = 1" + " + n" * n + ";")
        if r == 7:
            return self.put(text, "for (int q = 0; q < 2; q++) " * min(n, 3000) + ";")
        if r == 8:
            return self.put(text, "n = " + "(int)" * n + "1.5;")
        if r == 9:
            return text + "struct { " * n + "int a; " + "} b; " * n
        if r == 10:
            return text + "\n#if 1" * n + "\n#endif" * (n - self.r.randrange(2))
        if r == 11:
            return self.put(text, "n = " + "sin(" * n + "1" + ")" * n + ";")
        if r == 12:
            return self.put(text, "switch (n) " * n + ";")
        if r == 13:
            return self.put(text, "int *" + "*" * n + "q;")
        if r == 14:
            return self.put(text, "n = n" + " = n" * n + ";")
        if r == 15:
            return self.put(text, "if (n) ; else " * n + "n = 1;")
        if r == 16:
            return self.put(text, "float q[2] = " + "{" * n + "1" + "}" * n + ";")
        if r == 17:
            return self.put(text, "int q" + "[1]" * n + ";")
        if r == 18:
            return text + "void deep(" + "int f(" * n + "int a" + ")" * n + ") { }"
        if r == 19:
            return text + "int " + "(" * n + "deep" + ")" * n + ";"
        if r == 20:
            return text + "\n#if " + "(" * n + "1" + ")" * n + "\n#endif"
        if r == 21:
            return text + "\n#if " + "!" * n + "1\n#endif\n#if 1 ? " + "1 ? " * n + "1\n#endif"
        if r == 22:
            return text + "\n#define W(x) x\n" + self.put("void w(int n) {\n}", "n = " + "W(" * n + "1" +
                                                         ")" * n + ";")
        if r == 23:  # structs that double
            return text + "struct d0 { float a; };" + "".join(
                f"struct d{i + 1} {{ struct d{i} a, b; }};" for i in range(min(n, 100))) + \
                f"void d(struct d{min(n, 100)} x[1]) {{ x[0] = x[0]; }}"
        if r == 24:
            return text + "static float c0(float x) { return x; }" + "".join(
                f"static float c{i + 1}(float x) {{ return c{i}(x) + c{i}(x + 1); }}"
                for i in range(min(n, 40))) + f"void c(float x[1]) {{ x[0] = c{min(n, 40)}(x[0]); }}"
        if r == 25:
            return self.put(text, "n = " + "sizeof " * n + "n;")
        return self.put(text, "float big[1 << 20] = {" + "1, " * n + "[1048575] = 2, [1 << 30] = 1};")

    def huge(self, text):
        m = self.place(text, r"(?<![\w.])\d+\.?\d*f?\b")
        if not m:
            return text
        what = self.r.choice(["9" * 400, "0." + "0" * 400 + "1", "1e" + "9" * 30, "0x" + "f" * 40, "1e400",
                              "2147483648", "-2147483648", "9223372036854775808", "0777777777777777777777777",
                              "1e-46f", "3.4e38f", "1e39f", "0x1p-1075", "0x.p1", "0b1012", "1u1", "1.5e",
                              "1" + "'000", "1_000", "08", "1.5lf", "0xg", "1ull", "1lul", "1fu", ".5.5"])
        return text[:m.start()] + what + text[m.end():]

    def bomb(self, text):
        """Macros that grow without end."""
        n = self.r.choice([5, 20, 60])
        r = self.r.randrange(5)
        if r == 0:
            lines = ["#define A0 n +"] + [f"#define A{i + 1} A{i} A{i}" for i in range(n)]
            use = f"n = A{n} 1;"
        elif r == 1:
            lines = ["#define F0(x) x x"] + [f"#define F{i + 1}(x) F{i}(F{i}(x))" for i in range(n)]
            use = f"F{n}(;)"
        elif r == 2:
            lines, use = ["#define A B", "#define B A C", "#define C(x) A(x) C"], "n = A(1)(2)(3);"
        elif r == 3:
            lines = ["#define CAT(a, b) a##b", "#define S(x) #x"]
            use = f"n = CAT(CAT(1, 2), 3) + CAT(n, ) CAT(+, +) CAT(/, /) CAT(\", \") S({self.r.choice(WORDS)});"
        else:
            lines = [f'#include "{self.seed}.c"']
            use = ";"
        return "\n".join(lines) + "\n" + self.put(text, use)


# ---- running ----

WHERE = re.compile(rb"^(.+?):(\d+):(\d+): (error|warning|note): (.+)$")


def bad_words(message, path):
    """What a refusal lacks; None when it has all: for each error its place, its line and a caret (but
    for a file that only a #line names)."""
    lines = message.split(b"\n")
    errors = 0
    for i, line in enumerate(lines):
        if re.match(rb"(error|warning|note): ", line):
            return f"no place: {line[:200]!r}"
        m = WHERE.match(line)
        if not m or m.group(4) == b"warning":
            continue
        errors += m.group(4) == b"error"
        if int(m.group(2)) < 1 or int(m.group(3)) < 1:
            return f"line or column 0: {line[:200]!r}"
        if m.group(1) != path.encode() and not os.path.exists(m.group(1)):
            continue
        if i + 2 >= len(lines) or not re.match(rb" {4}[ \t.]*\^$", lines[i + 2]):
            return f"no source line and caret: {line[:200]!r}"
        if len(line) > 1600:
            return f"a message of {len(line)} bytes"
    return None if errors else f"no error in it: {message[:200]!r}"


def gcc_objects(path):
    r = subprocess.run(["gcc", "-std=c99", "-D_GNU_SOURCE", "-fopenmp", "-fsyntax-only", "-w",
                        "-Werror=implicit-function-declaration", "-Werror=implicit-int",
                        "-Werror=incompatible-pointer-types", "-Werror=int-conversion",
                        "-Werror=discarded-qualifiers", "-Werror=return-type", "-fmax-errors=1",
                        "-I" + os.path.join(ROOT, "include"), path],
                       capture_output=True, text=True, errors="replace", timeout=60)
    if r.returncode == 0:
        return None
    errors = [l for l in r.stderr.split("\n") if "error: " in l or "internal compiler" in l]
    words = errors[0] if errors else r.stderr[:200]
    return None if any(t in words for t in TOLERATED) else words


def run(paths, driver, gcc=True):
    """{path: (verdict, words)}: accepted, refused, lax, crash, slow, words, memory or status."""
    results, waiting = {}, list(paths)
    folder = os.path.dirname(paths[0])
    while waiting:
        manifest = os.path.join(folder, "manifest")
        with open(manifest, "w") as f:
            f.write("\n".join(waiting) + "\n")
        env = dict(os.environ, FUZZ_SECONDS=str(SECONDS), FUZZ_MEGABYTES=str(MEGABYTES))
        r = subprocess.run([driver, manifest], capture_output=True, env=env)
        at, now = 0, None
        out = r.stdout
        while at < len(out):
            end = out.find(b"\n", at)
            end = len(out) if end < 0 else end
            words = out[at:end].decode(errors="replace").split()
            at = end + 1
            if words[0] == "begin":
                now = words[1]
            elif words[0] == "accepted":
                results[now] = ("accepted", f"{words[1]} ms {words[2]} MB")
            elif words[0] == "leaked":
                results[now] = ("crash", " ".join(words))
            else:
                message = out[at:at + int(words[3])]
                at += int(words[3]) + 1
                if words[0] in ("source", "refused"):
                    lack = bad_words(message, now)
                    results[now] = ("words", lack) if lack else \
                        ("refused", message.split(b"\n")[0].decode(errors="replace"))
                else:
                    results[now] = (words[0], message[:300].decode(errors="replace"))
        if r.returncode == 0:
            break
        if now and now not in results:
            name = signal.Signals(-r.returncode).name if r.returncode < 0 else f"exit {r.returncode}"
            tail = [l for l in r.stderr.decode(errors="replace").split("\n")
                    if "ERROR" in l or "runtime error" in l or re.search(r"#[0-4] ", l)]
            results[now] = ("slow" if name == "SIGALRM" else "crash", f"{name} {' '.join(tail)[:600]}")
        elif not now:
            return {p: ("crash", r.stderr.decode(errors="replace")[-300:]) for p in waiting}
        waiting = [p for p in waiting if p not in results]
    for p in paths:
        # what stands behind #ifndef __RETROGRAD__ only gcc sees
        if gcc and results[p][0] == "accepted" and b"__RETROGRAD__" not in open(p, "rb").read():
            words = gcc_objects(p)
            if words:
                results[p] = ("lax", words)
    return results


GOOD = ("accepted", "refused")


def corpus():
    return sorted(glob.glob(os.path.join(ROOT, "tests", "kernels", "*.c")) +
                  glob.glob(os.path.join(ROOT, "examples", "*.c")))


def run_seeds(seeds, driver, sources):
    folder = tempfile.mkdtemp(prefix="retrograd-wrong-")
    try:
        for s in seeds:
            with open(os.path.join(folder, f"{s}.c"), "wb") as f:
                f.write(Spoiler(s, sources).make())
        results = run([os.path.join(folder, f"{s}.c") for s in seeds], driver)
        return {int(os.path.basename(p)[:-2]): r for p, r in results.items()}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kind(words):
    words = re.sub(r"^\S+:\d+:\d+: ", "", words)
    return re.sub(r"'[^']*'|‘[^’]*’|\d+|0x\w+", "_", words)[:60]


def reduce(seed, driver, sources, seconds):
    folder = tempfile.mkdtemp(prefix="retrograd-wrong-")
    path = os.path.join(folder, f"{seed}.c")

    def verdict(data):
        with open(path, "wb") as f:
            f.write(data)
        return run([path], driver)[path]
    data = Spoiler(seed, sources).make()
    first = verdict(data)
    print(f"{first[0]}: {first[1]}", file=sys.stderr)
    end = time.time() + seconds

    def same(data):
        v = verdict(data)
        return v[0] == first[0] and (v[0] == "slow" or kind(v[1]) == kind(first[1]))
    for split in (lambda t: t.split("\n"), tokens, list):
        parts = split(data.decode("utf-8", "surrogateescape"))
        join = "\n".join if split(data.decode("utf-8", "surrogateescape")) and "\n" not in parts \
            and len(parts) > 1 and split is not tokens and split is not list else "".join
        if split is list and len(parts) > 400:
            break
        size = max(1, len(parts) // 2)
        while size and time.time() < end:
            at, cut = 0, False
            while at < len(parts) and time.time() < end:
                attempt = parts[:at] + parts[at + size:]
                if same(join(attempt).encode("utf-8", "surrogateescape")):
                    parts, cut = attempt, True
                else:
                    at += size
            size = size if cut and size == 1 else size // 2
        data = join(parts).encode("utf-8", "surrogateescape")
    last = verdict(data)
    sys.stdout.buffer.write(data)
    print(f"\n/* {last[0]}: {last[1]} */")
    shutil.rmtree(folder, ignore_errors=True)


def main(argv=None):
    a = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--build", default="build")
    a.add_argument("--count", type=int, default=300)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    a.add_argument("--reduce", action="store_true", help="shrink the program of --seed")
    a.add_argument("--show", action="store_true", help="print the program of --seed")
    a.add_argument("--seconds", type=float, default=300, help="how long --reduce may take")
    o = a.parse_args(argv)
    driver = os.path.join(o.build, "tests", "fuzz_wrong")
    sources = corpus()
    if o.show:
        sys.stdout.buffer.write(Spoiler(o.seed, sources).make())
        return 0
    if not os.path.exists(driver):
        print(f"{driver} is missing: build first")
        return 2
    if o.reduce:
        reduce(o.seed, driver, sources, o.seconds)
        return 0
    seeds = list(range(o.seed, o.seed + o.count))
    batches = [seeds[i:i + BATCH] for i in range(0, len(seeds), BATCH)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for part in pool.map(lambda b: run_seeds(b, driver, sources), batches):
            results.update(part)
            if sys.stderr.isatty():
                print(f"\r{len(results)} programs", end="", file=sys.stderr)
    count = {}
    for s in sorted(results):
        verdict, words = results[s]
        count[verdict] = count.get(verdict, 0) + 1
        if verdict not in GOOD:
            print(f"{verdict} seed {s}: {words}")
    bad = sum(n for v, n in count.items() if v not in GOOD)
    print(f"wrong programs: {len(results)}, {count.get('refused', 0)} refused, "
          f"{count.get('accepted', 0)} accepted, {bad} badly "
          f"({', '.join(f'{n} {v}' for v, n in sorted(count.items()) if v not in GOOD) or 'none'})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
