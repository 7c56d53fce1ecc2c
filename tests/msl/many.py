"""Kernels of very many arrays, with what they must give.

CASES[name](path) writes the kernel and returns the words of `retrograd run` after the file, and the
expected numbers by the names of the output.
"""

COUNT = 1000


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def thousand(path):
    """1,000 array parameters, each with a gradient: y[i] = sum of (k mod 7 + 1) a_k[i]^2."""
    n, inputs = 3, COUNT - 1
    names = [f"a{k}" for k in range(inputs)]
    weight = [k % 7 + 1 for k in range(inputs)]
    lines = ["void thousand(int n,"]
    lines += [f"    const float {a}[n]," for a in names]
    lines += ["    float y[n])", "{", "    #pragma omp parallel for",
              "    for (int i = 0; i < n; i++) {", "        float s = 0;"]
    lines += [f"        s += {w} * {a}[i] * {a}[i];" for a, w in zip(names, weight)]
    lines += ["        y[i] = s;", "    }", "}", ""]
    write(path, "\n".join(lines))
    value = [(k % 5 + 1) * 0.25 for k in range(inputs)]
    words = ["thousand", f"n={n}", "y=zeros", "--mode", "adjoint", "--grad", "y=1,2,3",
             "--out", "y=-", "--out", "y.grad=-"]
    for a, v in zip(names, value):
        words += [f"{a}=full:{v}", "--out", f"{a}.grad=-"]
    expects = {"y": [sum(w * v * v for w, v in zip(weight, value))] * n, "y.grad": [0.0] * n}
    for a, v, w in zip(names, value, weight):
        expects[f"{a}.grad"] = [2 * w * v * g for g in (1, 2, 3)]
    return words, expects


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


CASES = {"thousand": thousand, "mixed": mixed}
