"""Kernel tests: the directives at the top of tests/kernels/*.c, and what they are checked with.

    // run [KERNEL]: ARGS      arguments of `retrograd run`, as on its command line
    // expect: NAME[.grad|.dot] = V V ...  |  py: EXPRESSION      [tol T]
    // edge: the same, but a convention (docs/edge-rules.md) that differences do not confirm
    // check: ARGS             `retrograd check FILE ARGS` must pass
    // check-in-order: ARGS    the same, but the order of iterations, which is open, shows in the results:
    //                         not on devices whose threads run at once
    // refuse-adjoint: LINE|@: TEXT   differentiating is an error there, saying TEXT; @ is the line
    //                         marked HERE
    // long-loops:             the run above has loops that some drivers end early: there an error that
    //                         says so is wanted, and no result
    // noverify:               the file's types do not follow REAL: skip the outside confirmation
    // devices: ref            only there (default: every device)

A run with --grad and --dot is of second order, in both orders. `expect` lines belong to the `run` line
above them. In an EXPRESSION the run's inputs are lists (or
numbers) by their names, beside everything in Python's math.

As a program it confirms the expectations without Retrograd: gcc builds each kernel in double, and
central differences (with one Richardson step) give every gradient.

    python3 tests/kernels/kernels.py [--fill] [FILE...]      --fill writes the values of `= ?`
"""

import ctypes
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Expect:
    def __init__(self, name, text, tol, edge, line):
        self.name, self.text, self.tol, self.edge, self.line = name, text, tol, edge, line


class Run:
    def __init__(self, kernel, args, line):
        self.kernel, self.args, self.line = kernel, args, line
        self.values, self.grads, self.dots, self.options = {}, {}, {}, []
        self.expects, self.long_loops, self.own_adjoint = [], False, False
        words = shlex.split(args)
        at = 0
        while at < len(words):
            into = self.values
            if words[at] in ("--edges", "--tape-memory"):
                self.options += words[at:at + 2]
                at += 2
                continue
            if words[at] == "--checked":
                self.options.append(words[at])
                at += 1
                continue
            if words[at] in ("--grad", "--dot"):
                into = self.grads if words[at] == "--grad" else self.dots
                at += 1
            name, value = words[at].split("=", 1)
            into[name] = value
            at += 1

    @property
    def mode(self):
        if self.grads and self.dots:
            return "hvp"
        if self.grads or any(e.name.endswith(".grad") for e in self.expects):
            return "adjoint"
        return "tangent" if self.dots else "primal"

    def commands(self, tool, path, device, real):
        """The run; of second order also in the other order, but where an adjoint is the user's."""
        out = [self.command(tool, path, device, real)]
        if self.mode == "hvp" and not self.own_adjoint:
            out.append(self.command(tool, path, device, real, "adjoint-of-tangent"))
        return out

    def command(self, tool, path, device, real, mode=None):
        words = [tool, "run", path, self.kernel] + [f"{k}={v}" for k, v in self.values.items()]
        words += ["-D", f"REAL={real}", "--device", device, "--mode", mode or self.mode] + self.options
        for k, v in self.grads.items():
            words += ["--grad", f"{k}={v}"]
        for k, v in self.dots.items():
            words += ["--dot", f"{k}={v}"]
        for e in self.expects:
            words += ["--out", f"{e.name}=-"]
        return words


class Kernel:
    """One file and its directives."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.runs, self.checks, self.refusals = [], [], []
        self.in_order = set()  # of checks, by number
        self.noverify, self.devices = False, None
        with open(path) as f:
            self.lines = f.read().split("\n")
        self.functions = re.findall(r"(?m)^void (\w+)\(", "\n".join(self.lines))
        for number, line in enumerate(self.lines, 1):
            m = re.match(r"// (run|expect|edge|check-in-order|check|refuse-adjoint|long-loops|noverify"
                         r"|devices)\b ?(\w*):(.*)$", line)
            if not m:
                continue
            kind, word, rest = m.group(1), m.group(2), m.group(3).strip()
            if kind == "run":
                self.runs.append(Run(word or self.functions[0], rest, number))
            elif kind in ("expect", "edge"):
                tol = 0.0
                t = re.search(r"\s+tol (\S+)$", rest)
                if t:
                    tol, rest = float(t.group(1)), rest[:t.start()]
                name, text = rest.split("=", 1)
                self.runs[-1].expects.append(
                    Expect(name.strip(), text.strip(), tol, kind == "edge", number))
            elif kind in ("check", "check-in-order"):
                if kind == "check-in-order":
                    self.in_order.add(len(self.checks))
                self.checks.append(rest)
            elif kind == "refuse-adjoint":
                where, text = rest.split(":", 1)
                if where == "@":
                    where = [i for i, l in enumerate(self.lines, 1) if "// HERE" in l][0]
                self.refusals.append((int(where), text.strip()))
            elif kind == "long-loops":
                self.runs[-1].long_loops = True
            elif kind == "noverify":
                self.noverify = True
            else:
                self.devices = rest.split()
        for run in self.runs:
            run.own_adjoint = any("retrograd adjoint" in line for line in self.lines)


def load(names=()):
    if names:
        return [Kernel(n) for n in names]
    return [Kernel(os.path.join(HERE, f)) for f in sorted(os.listdir(HERE)) if f.endswith(".c")]


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


def evaluate(expect, run):
    """The expected numbers of a directive."""
    if not expect.text.startswith("py:"):
        return [number(t) for t in expect.text.split()]
    names = {k: getattr(math, k) for k in dir(math) if k[0] != "_"}
    names.update(zip=zip, int=int, abs=abs, sum=sum, len=len, range=range)
    for k, v in run.values.items():
        if re.match(r"[-+.\d]", v):
            parts = [number(t) for t in v.split(",")]
            names[k] = parts if "," in v else parts[0]
    return list(eval(expect.text[3:].strip(), names))


def differs(got, want, tol):
    """None when all numbers agree, else what is wrong. NaN equals NaN."""
    if len(got) != len(want):
        return f"{len(got)} numbers, want {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        if isinstance(g, int) and isinstance(w, int):
            if g == w:
                continue
        elif g == w or (math.isnan(g) and math.isnan(w)):
            continue
        elif abs(g - w) <= tol * max(1.0, abs(w)):
            continue
        return f"[{i}] is {g!r}, want {w!r}"
    return None


def parse_output(text):
    """`NAME [shape] v0 v1 ...` lines, by name."""
    out = {}
    for line in text.split("\n"):
        m = re.match(r"(\S+) \[([\d,]*)\] ?(.*)$", line)
        if m:
            words = [{"true": "1", "false": "0"}.get(w, w) for w in m.group(3).split()]
            out[m.group(1)] = [number(w) for w in words]
    return out


def tolerance(expect, real):
    return max(expect.tol, 2e-5 if real == "float" else 1e-10)


# ---- confirmation without Retrograd ----

CTYPES = {
    "real": ctypes.c_double, "double": ctypes.c_double, "float": ctypes.c_float,
    "int": ctypes.c_int, "long": ctypes.c_long, "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8, "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64, "unsigned": ctypes.c_uint,
    "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32,
}


class Unknown(Exception):
    pass


def struct_fields(source, name, types):
    m = re.search(r"typedef struct \{([^}]*)\} " + name + ";", source)
    if not m:
        raise Unknown(name)
    fields = []
    for decl in m.group(1).split(";"):
        decl = decl.strip()
        if not decl:
            continue
        base, rest = decl.split(" ", 1)
        for d in rest.split(","):
            dm = re.match(r"\s*(\w+)((?:\[\d+\])*)", d)
            t = ctype(source, base, types)
            for extent in reversed(re.findall(r"\d+", dm.group(2))):
                t = t * int(extent)
            fields.append((dm.group(1), t))
    return fields


def ctype(source, name, types):
    if name in CTYPES:
        return CTYPES[name]
    if name not in types:
        types[name] = type(name, (ctypes.Structure,),
                           {"_fields_": struct_fields(source, name, types)})
    return types[name]


def leaves(t, offset=0):
    """(offset, scalar type) of each scalar, in the order of memory."""
    if isinstance(t, type) and issubclass(t, ctypes.Structure):
        for name, ft in t._fields_:
            yield from leaves(ft, offset + getattr(t, name).offset)
    elif hasattr(t, "_length_"):
        for i in range(t._length_):
            yield from leaves(t._type_, offset + i * ctypes.sizeof(t._type_))
    else:
        yield offset, t


class Argument:
    def __init__(self, source, text, types, known):
        m = re.match(r"(const\s+)?(\w+)\s+(\*restrict |\*)?(\(\*)?(\w+)\)?((?:\[[^\]]*\])*)$",
                     text.strip())
        if not m:
            raise Unknown(text)
        self.type_name, self.name = m.group(2), m.group(5)
        self.pointer = bool(m.group(3) or m.group(4))
        self.extents = re.findall(r"\[([^\]]*)\]", m.group(6))
        self.is_array = self.pointer or bool(self.extents)
        self.type = ctype(source, self.type_name, types)

    def allocate(self, values, known):
        self.count = 1
        if self.pointer:
            shape = values.get(self.name, "").split(":")[-1]
            for n in shape.split("x"):
                self.count *= int(n)
        else:
            for e in self.extents:
                self.count *= int(eval(e.replace("/", "//"), {}, known))
        size = ctypes.sizeof(self.type)
        self.memory = ctypes.create_string_buffer(max(1, self.count * size))
        self.scalars = [(i * size + o, t) for i in range(self.count) for o, t in leaves(self.type)]

    def get(self):
        return [t.from_buffer(self.memory, o).value for o, t in self.scalars]

    def put(self, values):
        for (o, t), v in zip(self.scalars, values):
            t.from_buffer(self.memory, o).value = v

    def floats(self):
        return [i for i, (o, t) in enumerate(self.scalars) if t is ctypes.c_double]


def fill(text, n):
    kind, _, rest = text.partition(":")
    if kind == "iota":
        return list(range(n))
    if kind in ("zeros", "ones"):
        return [int(kind == "ones")] * n
    if kind == "full":
        return [number(rest.split(":")[0])] * n
    if kind == "rand":
        return [((i * 7919 + 13) % 101) / 101 for i in range(n)]
    parts = [number(t) for t in text.split(",")]
    parts = parts * n if len(parts) == 1 else parts
    assert len(parts) == n, f"{text}: {len(parts)} given, {n} wanted"
    return parts


class Reference:
    """A kernel as gcc builds it with REAL=double."""

    def __init__(self, kernel, function, folder):
        source = "\n".join(kernel.lines)
        m = re.search(r"(?m)^void " + function + r"\(([^)]*(?:\(\*\w+\)[^)]*)?)\)\s*\{", source)
        params = [p.strip() for p in re.split(r",(?![^\[]*\])", m.group(1).replace("\n", " "))]
        types = {}
        self.args = [Argument(source, p, types, {}) for p in params]
        cast = ", ".join(f"p[{i}]" if a.is_array else f"*({a.type_name} *)p[{i}]"
                         for i, a in enumerate(self.args))
        stem = os.path.join(folder, f"{kernel.name}_{function}")
        with open(stem + ".c", "w") as f:
            f.write(f'#include "{kernel.path}"\nvoid rg_call(void **p) {{ {function}({cast}); }}\n')
        subprocess.run(["cc", "-w", "-O1", "-ffp-contract=off", "-std=gnu11", "-DREAL=double",
                        "-shared", "-fPIC", "-o", stem + ".so", stem + ".c", "-lm"], check=True)
        self.call = ctypes.CDLL(stem + ".so").rg_call

    def prepare(self, run):
        known = {a.name: int(run.values[a.name]) for a in self.args
                 if not a.is_array and a.type_name == "int"}
        for a in self.args:
            a.allocate(run.values, known)
        self.inputs = [fill(run.values[a.name], len(a.scalars)) for a in self.args]

    def run(self, inputs):
        for a, v in zip(self.args, inputs):
            a.put([t(x).value if t is not ctypes.c_double else x for (o, t), x in zip(a.scalars, v)])
        # memory of by-value arguments is not written; arrays hold the results
        p = (ctypes.c_void_p * len(self.args))(
            *[ctypes.cast(a.memory, ctypes.c_void_p).value for a in self.args])
        self.call(p)
        return [a.get() for a in self.args]

    def along(self, which, index, h):
        inputs = [list(v) for v in self.inputs]
        inputs[which][index] += h
        return self.run(inputs)

    def derivative(self, which, index, weights):
        def slope(h):
            up, down = self.along(which, index, h), self.along(which, index, -h)
            return sum(w * (u - d) for ws, us, ds in zip(weights, up, down)
                       for w, u, d in zip(ws, us, ds) if w) / (2 * h)
        h = 2e-4
        return (4 * slope(h / 2) - slope(h)) / 3

    def gradients(self, run):
        weights = []
        for a in self.args:
            w = fill(run.grads.get(a.name, "zeros"), len(a.scalars)) if a.is_array else [0]
            floats = set(a.floats())
            weights.append([v if i in floats else 0 for i, v in enumerate(w)])
        out = {}
        for k, a in enumerate(self.args):
            g = [0.0] * len(a.scalars)
            for i in a.floats():
                g[i] = self.derivative(k, i, weights) + (0 if a.is_array else 0)
            out[a.name] = g
        return out

    def tangents(self, run):
        dots = {a.name: fill(run.dots.get(a.name, "zeros"), len(a.scalars)) for a in self.args}
        h = 1e-5
        sides = []
        for s in (h, -h):
            sides.append(self.run([[v + s * d if d and i in a.floats() else v
                                    for i, (v, d) in enumerate(zip(vs, dots[a.name]))]
                                   for a, vs in zip(self.args, self.inputs)]))
        return {a.name: [(u - d) / (2 * h) for u, d in zip(us, ds)]
                for a, us, ds in zip(self.args, *sides)}


def confirm(kernel, folder, write):
    """Problems found, and how many expectations were confirmed."""
    problems, confirmed = [], 0
    if kernel.noverify:
        return problems, 0
    for run in kernel.runs:
        wanted = [e for e in run.expects if not e.edge]
        if not wanted or any(":" in v and v.startswith("rand") for v in run.values.values()):
            continue
        try:
            ref = Reference(kernel, run.kernel, folder)
            ref.prepare(run)
        except (Unknown, AssertionError) as e:
            problems.append(f"{kernel.name}:{run.line}: {e!r}")
            continue
        results = {a.name: v for a, v in zip(ref.args, ref.run(ref.inputs))}
        gradients = ref.gradients(run) if run.mode == "adjoint" else {}
        tangents = ref.tangents(run) if run.mode == "tangent" else {}
        for e in wanted:
            name, _, part = e.name.partition(".")
            got = {"": results, "grad": gradients, "dot": tangents}[part][name]
            if e.text == "?":
                values = " ".join("0" if abs(v) < 1e-9 and part else repr(v if not part else
                                  float(f"{v:.10g}")).removesuffix(".0") for v in got)
                tol = f" tol {max(e.tol, 1e-7):g}" if part else (f" tol {e.tol:g}" if e.tol else "")
                if write:
                    text = kernel.lines[e.line - 1]
                    kernel.lines[e.line - 1] = text[:text.index("=")] + "= " + values + tol
                else:
                    problems.append(f"{kernel.name}:{e.line}: not filled")
                confirmed += 1
                continue
            wrong = differs(got, evaluate(e, run), max(e.tol, 1e-6 if part else 1e-10))
            if wrong:
                problems.append(f"{kernel.name}:{e.line}: {e.name} by gcc and differences: {wrong}")
            confirmed += 1
    if write:
        with open(kernel.path, "w") as f:
            f.write("\n".join(kernel.lines))
    return problems, confirmed


def main(argv):
    write = "--fill" in argv
    problems, confirmed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for kernel in load([os.path.abspath(a) for a in argv if not a.startswith("--")]):
            try:
                p, c = confirm(kernel, folder, write)
            except Exception as e:
                p, c = [f"{kernel.name}: {e!r}"], 0
            problems += p
            confirmed += c
    print("\n".join(problems + [f"{confirmed} confirmed, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
