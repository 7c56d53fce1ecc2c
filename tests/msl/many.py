"""Kernels of very many arrays, with what they must give.

CASES[name](path) writes the kernel and returns the words of `retrograd run` after the file, and the
expected numbers by the names of the output.
"""

COUNT = 1000


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def thousand(path, loops=1):
    """1,000 array parameters, each with a gradient: y[l][i] = sum of (k mod 7 + 1) a_k[i]^2, over
    one loop's share of the arrays."""
    n, inputs = 3, COUNT - 1
    names = [f"a{k}" for k in range(inputs)]
    weight = [k % 7 + 1 for k in range(inputs)]
    lines = ["void thousand(int n,"]
    lines += [f"    const float {a}[n]," for a in names]
    lines += [f"    float y[{loops}][n])", "{"]
    for l in range(loops):
        lines += ["    #pragma omp parallel for", "    for (int i = 0; i < n; i++) {",
                  "        float s = 0;"]
        lines += [f"        s += {w} * {a}[i] * {a}[i];"
                  for a, w in list(zip(names, weight))[l::loops]]
        lines += [f"        y[{l}][i] = s;", "    }"]
    lines += ["}", ""]
    write(path, "\n".join(lines))
    value = [(k % 5 + 1) * 0.25 for k in range(inputs)]
    words = ["thousand", f"n={n}", "y=zeros", "--mode", "adjoint", "--grad",
             "y=" + ",".join(["1,2,3"] * loops), "--out", "y=-", "--out", "y.grad=-"]
    for a, v in zip(names, value):
        words += [f"{a}=full:{v}", "--out", f"{a}.grad=-"]
    squares = [w * v * v for w, v in zip(weight, value)]
    expects = {"y": [sum(squares[l::loops]) for l in range(loops) for _ in range(n)],
               "y.grad": [0.0] * n * loops}
    for a, v, w in zip(names, value, weight):
        expects[f"{a}.grad"] = [2 * w * v * g for g in (1, 2, 3)]
    return words, expects


def shared(path):
    """The same in twenty loops: llvmpipe takes minutes for one of a thousand arrays, as its square."""
    return thousand(path, 20)


TYPES = ["rg_half", "float", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
         "int64_t", "record"]


def mixed(path):
    """Forty arrays of ten types, structs of mixed fields among them."""
    n, rounds = 3, 4
    head = ["#include <stdint.h>", "#include <rg_half.h>", "",
            "typedef struct { float w; int8_t t; rg_half h; int16_t u[2]; } record;", "",
            "void mixed(int n,"]
    body = []
    words = ["mixed", f"n={n}", "--mode", "adjoint", "--out", "y=-", "--grad", "y=1,2,4"]
    expects, total = {}, 0.0
    for r in range(rounds):
        names = {t: f"{'xwbcdefgls'[i]}{r}" for i, t in enumerate(TYPES)}
        head += [f"    const {t} {names[t]}[n]," for t in TYPES]
        value = {t: i % 3 + 1 + r % 2 for i, t in enumerate(TYPES)}
        words += [f"{names[t]}=full:{value[t]}" for t in TYPES]
        half, real, record = names["rg_half"], names["float"], names["record"]
        ints = [names[t] for t in TYPES if "int" in t]
        factor = " + ".join(f"{i}[i]" for i in ints)
        body += [f"        s += {half}[i] * {real}[i] * ({factor});",
                 f"        s += {record}[i].w * {record}[i].t + {record}[i].h * {record}[i].u[1];"]
        sum_ints = sum(value[t] for t in TYPES if "int" in t)
        h, f, s = value["rg_half"], value["float"], value["record"]
        total += h * f * sum_ints + 2 * s * s
        grads = {half: [f * sum_ints], real: [h * sum_ints], record: [s, 0, s, 0, 0]}
        for name, g in grads.items():
            if name == record:
                continue  # of fields of different types nothing is printed
            words += ["--out", f"{name}.grad=-"]
            expects[f"{name}.grad"] = [v * w for w in (1, 2, 4) for v in g]
    words += ["y=zeros"]
    head += ["    float y[n])", "{", "    #pragma omp parallel for",
             "    for (int i = 0; i < n; i++) {", "        float s = 0;"]
    write(path, "\n".join(head + body + ["        y[i] = s;", "    }", "}", ""]))
    expects["y"] = [total] * n
    return words, expects


INTEGERS = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]


def mixed64(path):
    """Forty arrays from half to double and int8 to uint64, with structs of one type and of several.

    The gradients of the structs of several types, which cannot be printed, go through memory: one
    loop writes them, another reads their neighbours, and what comes back is seen in plain arrays.
    """
    n, rounds, g = 3, 3, [1, 2, 4]
    head = ["#include <stdint.h>", "#include <rg_half.h>", "",
            "typedef struct { double x, y; } pair;",
            "typedef struct { float w; int8_t t; rg_half h; int16_t u[2]; double d; } record;", "",
            "void mixed64(int n,"]
    first, second = [], []
    words = ["mixed64", f"n={n}", "y=zeros", "--mode", "adjoint", "--out", "y=-", "--grad",
             "y=" + ",".join(map(str, g))]
    expects, total = {}, 0.0
    for r in range(rounds):
        ints = [f"i{k}_{r}" for k in range(len(INTEGERS))]
        head += [f"    const rg_half h{r}[n], const float w{r}[n], const double d{r}[n],",
                 f"    const pair p{r}[n], record s{r}[n],"]
        head += [f"    const {t} {i}[n]," for t, i in zip(INTEGERS, ints)]
        h, w, d, p = 1 + r, 2 + r, 3 - r, 2
        value = [(k + r) % 4 + 1 for k in range(len(ints))]
        words += [f"h{r}=full:{h}", f"w{r}=full:{w}", f"d{r}=full:{d}", f"p{r}=full:{p}",
                  f"s{r}=zeros"] + [f"{i}=full:{v}" for i, v in zip(ints, value)]
        first += [f"        s{r}[i].w = 2 * w{r}[i]; s{r}[i].h = h{r}[i]; s{r}[i].d = d{r}[i];",
                  f"        s{r}[i].t = i0_{r}[i]; s{r}[i].u[0] = 0; s{r}[i].u[1] = i2_{r}[i];"]
        second += [f"        s += h{r}[i] * w{r}[i] * ({' + '.join(f'{i}[i]' for i in ints)});",
                   f"        s += d{r}[i] * p{r}[i].x * p{r}[i].y;",
                   f"        s += s{r}[j].w * s{r}[j].t + s{r}[j].h * s{r}[j].u[1] + "
                   f"s{r}[j].d * s{r}[j].w;"]
        total += h * w * sum(value) + d * p * p + 2 * w * value[0] + h * value[2] + d * 2 * w
        before = [g[(i - 1) % n] for i in range(n)]  # of the y that reads the record
        both = list(zip(g, before))
        grads = {f"h{r}": [a * w * sum(value) + b * value[2] for a, b in both],
                 f"w{r}": [a * h * sum(value) + b * 2 * (value[0] + d) for a, b in both],
                 f"d{r}": [a * p * p + b * 2 * w for a, b in both],
                 f"p{r}": [a * d * p for a in g for _ in "xy"]}
        for name, v in grads.items():
            words += ["--out", f"{name}.grad=-"]
            expects[f"{name}.grad"] = v
    loop = ["    #pragma omp parallel for", "    for (int i = 0; i < n; i++) {"]
    write(path, "\n".join(head + ["    double y[n])", "{"] + loop + first + ["    }"] + loop +
                          ["        int j = (i + 1) % n;", "        double s = 0;"] + second +
                          ["        y[i] = s;", "    }", "}", ""]))
    expects["y"] = [total] * n
    return words, expects


CASES = {"thousand": thousand, "mixed": mixed}  # for every device
MAKERS = dict(CASES, shared=shared, mixed64=mixed64)  # the last one for devices with doubles
