"""Random kernels: race-free, free of undefined behaviour, their values of moderate size.

A program is a tree of statements, so that a failing one can be shrunk by leaving nodes out. Three
promises make differences meaningful and gcc's serial run the one right answer:

- In a parallel task each array that is written has one role: `own` (an iteration reads and writes
  its own element or row), `add`, `min` or `max` (this atomic update only), or `scatter` (stores
  through a permutation). Other arrays are read anywhere. Serial code reads and writes anything.
- What is stored in a loop passes through a bounded function, so nothing grows without limit; maths
  functions get arguments inside their domains.
- Signed integers stay small (results are masked), unsigned ones wrap, shifts and divisions are
  guarded, every variable is initialised where it is declared.
"""

import random
import re


class Line:
    def __init__(self, text):
        self.text = text

    def write(self, out, depth):
        out.append("    " * depth + self.text)


class Block:
    """head { body } [else { other }] tail"""

    def __init__(self, head, body, other=None, tail="", before=()):
        self.head, self.body, self.other, self.tail, self.before = head, body, other, tail, before

    def write(self, out, depth):
        pad = "    " * depth
        for b in self.before:
            out.append(pad + b)
        out.append(pad + (self.head + " " if self.head else "") + "{")
        for s in self.body:
            s.write(out, depth + 1)
        if self.other is not None:
            out.append(pad + "} else {")
            for s in self.other:
                s.write(out, depth + 1)
        out.append(pad + "}" + self.tail)


class Program:
    def __init__(self, name):
        self.name = name
        self.head = []      # lines before the functions
        self.functions = [] # (signature, body): the kernel is the last
        self.specs = {}     # of parameters, for the driver
        self.params = []    # (type, name, extents)
        self.exact = True

    def source(self):
        out = list(self.head)
        for signature, body in self.functions:
            out += ["", signature, "{"]
            for s in body:
                s.write(out, 1)
            out.append("}")
        return "\n".join(out) + "\n"

    def wrapper(self):
        args = ", ".join(f"p[{i}]" if e is not None else f"*({t.replace('const ', '')} *)p[{i}]"
                         for i, (t, _, e) in enumerate(self.params))
        return f"{self.name}({args});"


class Var:
    def __init__(self, name, kind, limit=None, assign=True):
        # kind: real, int (small), unsigned, u64, narrow, S0.. ; limit: int below this text/number
        self.name, self.kind, self.limit, self.assign = name, kind, limit, assign


class Array:
    def __init__(self, name, kind, extents, const, local=False):
        self.name, self.kind, self.extents = name, kind, extents
        self.const, self.local = const, local
        self.role = "read"  # in the current task
        self.ready = True   # may be read (locals at kernel level: once written)


HEAD = """#include <math.h>
#include <stdint.h>
#ifndef real
#define real float
#endif
typedef struct { real a, b; } S0;
typedef struct { real v[2]; int k; S0 s; } S1;
static real inv(real v) { return 1 / (1.25f + v * v); }
static real bound(real v) { return v / (1 + fabs(v)); }"""


# Functions with adjoints by pragma, which are the true ones: gradients must be those of a program
# without the pragmas. (name, signature, body, signature of the adjoint, its body)
OWN = [
    ("osum", "static real osum(const real *p, int m, real x)",
     ["real s = 0;", "for (int i = 0; i < m; i++)", "    s += sin(p[i] * x);", "return s;"],
     "static void osum_b(const real *p, real *p_b, int m, real x, real *x_b, real r_b)",
     ["for (int i = 0; i < m; i++) {", "    real c = cos(p[i] * x) * r_b;", "    p_b[i] += c * x;",
      "    *x_b += c * p[i];", "}"]),
    ("omix", "static real omix(const real *p, real *o, real x)",
     ["real t = *o;", "*o = 0.5f * t * *p + x;", "return sin(t + *p);"],
     "static void omix_b(const real *p, real *p_b, const real *o, real *o_b, real x, real *x_b, real r_b)",
     ["real c = cos(*o + *p) * r_b;", "(void)x;", "*x_b = *o_b;",
      "*p_b += 0.5f * *o * *o_b + c;", "*o_b = 0.5f * *p * *o_b + c;"]),
    ("ovec", "static void ovec(real *v, int m, real x)",
     ["for (int i = 0; i < m; i++)", "    v[i] = 0.5f * v[i] + 0.25f * sin(x * v[m - 1 - i]);"],
     "static void ovec_b(const real *v, real *v_b, int m, real x, real *x_b)",
     ["real w[8];", "for (int i = 0; i < m; i++)", "    w[i] = v[i];", "for (int i = 0; i < m; i++)",
      "    w[i] = 0.5f * v[i] + 0.25f * sin(x * w[m - 1 - i]);",
      "for (int i = m - 1; i >= 0; i--) {", "    int j = m - 1 - i;",
      "    real u = j < i ? w[j] : v[j], c = 0.25f * cos(x * u) * v_b[i];",
      "    v_b[i] *= 0.5f;", "    v_b[j] = v_b[j] + c * x;", "    *x_b += c * u;", "}"]),
    ("oline", "static real oline(const S0 *p, real x, const int *at)",
     ["return p[0].a * x + p[0].b * p[0].b * (at[0] & 3);"],
     "static void oline_b(const S0 *p, S0 *p_b, real x, real *x_b, const int *at, real r_b)",
     ["p_b->a += x * r_b;", "p_b->b += 2 * p->b * (at[0] & 3) * r_b;", "*x_b += p->a * r_b;"]),
]


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.seed = seed
        self.p = Program(f"k{seed}")
        self.counter = 0
        self.scopes = [[]]
        self.arrays = []
        self.functions = []  # (name, kind): callable so far
        self.loops = 0       # loops around that break and continue may leave
        self.base = 0        # first scope whose variables may be assigned
        self.repeats = 0     # kernel-level loops around
        self.in_function = None
        self.size = 0
        self.task_index = None # names of the parallel loop's variables
        self.max_size = self.r.choice([25, 45, 70])
        self.returns = None
        self.own = []        # names of functions with an adjoint of their own

    # -- small helpers --
    def chance(self, p):
        return self.r.random() < p

    def pick(self, seq):
        return self.r.choice(seq)

    def name(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def vars(self, kind):
        return [v for s in self.scopes for v in s if v.kind == kind]

    def changeable(self, kind):
        """Variables that may be assigned: in a parallel task only its own."""
        return [v for s in self.scopes[self.base:] for v in s if v.kind == kind and v.assign]

    def declare(self, name, kind, limit=None, assign=True):
        v = Var(name, kind, limit, assign)
        self.scopes[-1].append(v)
        return v

    def growing(self):
        return self.loops or self.repeats

    # -- integers --
    def int_atom(self):
        options = [lambda: str(self.r.randrange(0, 9))]
        ints = self.vars("int") + self.vars("narrow")
        if ints:
            options += [lambda: self.pick(ints).name] * 4
        us = self.vars("unsigned") + self.vars("u64")
        if us:
            options.append(lambda: f"(int)({self.pick(us).name} & 31)")
        structs = self.vars("S1")
        if structs:
            options.append(lambda: self.pick(structs).name + ".k")
        loads = [a for a in self.arrays if a.kind in ("int", "uint8_t", "int16_t")
                 and self.readable(a)]
        if loads:
            options += [lambda: self.load(self.pick(loads))] * 2
        return self.pick(options)()

    def int_expr(self, depth=2):
        if depth == 0 or self.chance(0.3):
            return self.int_atom()
        a, b = self.int_expr(depth - 1), self.int_expr(depth - 1)
        op = self.pick(["+", "-", "*", "&", "|", "^", "%", "/", "<<", ">>", "<", "==", "?", "~",
                        "min", "cast"])
        if op in "%/":
            return f"({a} {op} (({b} & 7) + 1))"
        if op == "<<":
            return f"(({a} & 15) << ({b} & 3))"
        if op == ">>":
            return f"({a} >> ({b} & 3))"
        if op == "?":
            return f"({self.condition(0)} ? {a} : {b})"
        if op == "~":
            return f"(~{a})"
        if op == "min":
            return f"({a} < {b} ? {a} : {b})"
        if op == "cast":
            return f"({self.pick(['int8_t', 'uint8_t', 'int16_t', 'uint16_t'])}){a}"
        if op == "*":
            return f"(({a} & 63) * ({b} & 63))"
        return f"({a} {op} {b})"

    def unsigned_expr(self):
        vs = [v.name for v in self.vars("unsigned") + self.vars("u64")] or ["7u"]
        a = self.pick(vs)
        b = self.pick(vs + [f"(unsigned)({self.int_expr(1)})"])
        op = self.pick(["+", "-", "*", "^", "&", "|", ">>", "<<", "%"])
        if op in (">>", "<<"):
            return f"({a} {op} ({self.int_expr(0)} & 7))"
        if op == "%":
            return f"({a} % 1021u)"
        return f"({a} {op} {b})"

    def index(self, limit):
        """An integer expression below limit (a number, or the text of a parameter)."""
        same = [v.name for v in self.vars("int") if v.limit == limit]
        options = []
        if same:
            options += [lambda: self.pick(same)] * 5
            options.append(lambda: f"({self.pick(same)} + {self.r.randrange(1, 4)}) % {limit}")
            options.append(lambda: f"{limit} - 1 - {self.pick(same)}")
            options.append(lambda: f"({self.pick(same)} + {limit} - 1) % {limit}")
        options.append(lambda: f"(unsigned)({self.int_expr(1)}) % {limit}")
        options.append(lambda: "0")
        if limit == "n":
            lookup = [a for a in self.arrays if a.name in ("idx", "perm") and self.readable(a)]
            if lookup:
                options += [lambda: f"{self.pick(lookup).name}[{self.index('n')}]"]
        if isinstance(limit, int):
            options.append(lambda: str(self.r.randrange(limit)))
        return self.pick(options)()

    # -- memory --
    def readable(self, a):
        return a.ready and a.role in ("read", "own", "free")

    def writable(self, a):
        return not a.const and a.ready and a.role in ("own", "free", "scatter")

    def subscripts(self, a):
        subs = []
        for k, e in enumerate(a.extents):
            if a.role in ("own", "scatter") and k < len(self.task_index or ()):
                sub = self.task_index[k]
                if k == 0 and a.role == "scatter":
                    sub = f"perm[{sub}]"
                elif k == 0 and a.mirror:
                    sub = f"n - 1 - {sub}"
                subs.append(sub)
            elif k == 0 and a.name == "u":
                subs.append("t" if a.role == "read" else "t + 1")
            else:
                subs.append(self.index(e))
        return "".join(f"[{s}]" for s in subs)

    def leaf(self, kind):
        if kind == "S0":
            return self.pick([".a", ".b"])
        if kind == "S1":
            return self.pick([f".v[{self.index(2)}]", ".s.a", ".s.b", ".v[0]"])
        return ""

    def load(self, a):
        return a.name + self.subscripts(a) + self.leaf(a.kind)

    def real_places(self):
        """Assignable real lvalues, as thunks."""
        out = [lambda v=v: v.name for v in self.changeable("real")]
        for kind in ("S0", "S1"):
            out += [lambda v=v, k=kind: v.name + self.leaf(k) for v in self.changeable(kind)]
        out += [lambda a=a: a.name + self.subscripts(a) + self.leaf(a.kind) for a in self.arrays
                if a.kind in ("real", "S0", "S1") and self.writable(a)] * 2
        return out

    # -- reals --
    def literal(self):
        return self.pick(["0.5f", "0.25f", "1.5f", "2", "0.75f", "-0.5f", "0.125f", "1", "0.3f",
                          "0.7"])

    def atom(self):
        options = [self.literal]
        reals = self.vars("real")
        if reals:
            options += [lambda: self.pick(reals).name] * 5
        for kind in ("S0", "S1"):
            vs = self.vars(kind)
            if vs:
                options += [lambda vs=vs, k=kind: self.pick(vs).name + self.leaf(k)] * 2
        arrays = [a for a in self.arrays if a.kind in ("real", "S0", "S1") and self.readable(a)]
        if arrays:
            options += [lambda: self.load(self.pick(arrays))] * 7
        if self.chance(0.3):
            options.append(lambda: f"(real)({self.int_expr(1)} & 7) * 0.25f")
        return self.pick(options)()

    def expr(self, depth=None):
        if depth is None:
            depth = self.pick([1, 2, 2, 3])
        if depth == 0:
            return self.atom()
        e = lambda: self.expr(depth - 1)
        roll = self.r.random()
        if roll < 0.16:
            return f"({e()} + {e()})"
        if roll < 0.26:
            return f"({e()} - {e()})"
        if roll < 0.46:
            return f"{self.group(e())} * {self.group(e())}"
        if roll < 0.51:
            return f"{self.group(e())} / (1.5f + {self.square()})"
        if roll < 0.54:
            return f"-({e()})"
        if roll < 0.60:
            return f"({self.condition(1)} ? {e()} : {e()})"
        if roll < 0.67 and self.functions:
            return self.call(depth)
        if roll < 0.90:
            f = self.pick(["sin", "cos", "tanh", "sqrt", "exp", "log", "fabs", "fmin", "fmax",
                           "atan", "atan2", "hypot", "pow", "inv", "bound", "erf", "expm1", "log1p",
                           "cbrt", "asinh", "sinh", "floor", "asin", "fdim", "copysign", "fmod",
                           "sin", "cos", "sqrt", "exp"])
            return self.math(f, e)
        return self.atom()

    def group(self, text):
        return f"({text})"

    def square(self):
        a = self.atom()
        return f"{self.group(a)} * {self.group(a)}"

    def math(self, f, e):
        if f == "sqrt":
            return f"sqrt(0.5f + {self.square()})"
        if f == "exp":
            return f"exp(bound({e()}))"
        if f == "log":
            return f"log(1.25f + {self.square()})"
        if f == "pow":
            return f"pow(0.5f + fabs({e()}), {self.pick(['2', '1.5f', '-1', 'bound(' + self.atom() + ')'])})"
        if f == "atan2":
            return f"atan2({e()}, 1.5f + {self.square()})"
        if f == "hypot":
            return f"hypot({e()}, 0.5f)"
        if f == "log1p":
            return f"log1p({self.square()})"
        if f == "cbrt":
            return f"cbrt(1.5f + bound({e()}))"
        if f in ("sinh", "expm1"):
            return f"{f}(bound({e()}))"
        if f == "asin":
            return f"asin(0.75f * bound({e()}))"
        if f == "fmod":
            return f"fmod({e()}, 1.5f)"
        if f in ("fmin", "fmax", "fdim", "copysign"):
            return f"{f}({e()}, {self.atom()})"
        return f"{f}({e()})"

    def call(self, depth):
        name, kind = self.pick(self.functions)
        if kind == "scalar":
            return f"{name}({self.expr(depth - 1)}, {self.expr(depth - 1)})"
        if kind == "row":
            rows = [a for a in self.arrays if a.kind == "real" and len(a.extents) == 2
                    and a.extents[1] == "m" and self.readable(a) and a.name != "u"
                    and not (a.role == "own" and len(self.task_index or ()) > 1)]
            if rows:
                a = self.pick(rows)
                first = self.subscripts_first(a)
                return f"{name}(m, {a.name}[{first}], {self.expr(0)})"
        if kind == "struct":
            vs = self.vars("S0")
            if vs:
                return f"{name}({self.pick(vs).name}, {self.expr(0)}).{self.pick('ab')}"
        return self.atom()

    def subscripts_first(self, a):
        if a.role == "own":
            return (f"n - 1 - {self.task_index[0]}" if a.mirror else self.task_index[0])
        return self.index(a.extents[0])

    def bounded(self):
        e = self.expr()
        return self.pick([f"sin({e})", f"bound({e})", f"tanh({e})", f"cos({e})",
                          f"0.5f * bound({e})"])

    def condition(self, depth=1):
        roll = self.r.random()
        if depth and roll < 0.15:
            return f"({self.condition(0)} {self.pick(['&&', '||'])} {self.condition(0)})"
        if depth and roll < 0.2:
            return f"!({self.condition(0)})"
        if roll < 0.55 and depth:
            return f"{self.group(self.expr(1))} {self.pick('<>')} {self.group(self.expr(0))}"
        if roll < 0.8:
            return f"({self.int_atom()} & {self.pick([1, 2, 3])}) {self.pick(['==', '!=', '<'])} {self.r.randrange(3)}"
        return f"{self.atom()} {self.pick(['<', '>', '<=', '>='])} {self.literal()}"

    # -- statements --
    def body(self, count, extra=None):
        """A list of statements in a scope of its own."""
        self.scopes.append([])
        saved = list(self.arrays)
        out = list(extra() if extra else [])
        for _ in range(count):
            out += self.statement()
        self.arrays = saved
        self.scopes.pop()
        return out

    def count(self):
        return self.pick([1, 1, 2, 2, 3])

    def statement(self):
        self.size += 1
        if self.size > self.max_size:
            return self.assign()
        if self.own and self.chance(0.12):
            return self.own_call()
        roll = self.r.random()
        if roll < 0.14:
            return self.local()
        if roll < 0.48:
            return self.assign()
        if roll < 0.56:
            other = self.body(self.count()) if self.chance(0.4) else None
            return [Block(f"if ({self.condition()})", self.body(self.count()), other)]
        if roll < 0.74:
            return self.loop() if self.loops < 3 else self.assign()
        if roll < 0.79:
            return self.switch()
        if roll < 0.84:
            return self.local_array()
        if roll < 0.90:
            return self.int_statement()
        if roll < 0.94 and (self.loops or self.task_index):
            return self.jump()
        if roll < 0.97 and self.in_function and self.returns:
            return [Block(f"if ({self.condition()})", [Line(f"return {self.returns()};")])]
        return self.procedure()

    def jump(self):
        return [Block(f"if ({self.condition()})", [Line(self.pick(["break;", "continue;"] if self.loops else ["continue;"]))])]

    def procedure(self):
        procs = [n for n, k in self.functions if k == "proc"]
        places = self.real_places()
        if not procs or not places:
            return self.assign()
        return [Line(f"{self.pick(procs)}(&{self.pick(places)()}, {self.expr(1)});")]

    def local(self):
        kind = self.pick(["real", "real", "real", "int", "unsigned", "u64", "narrow", "S0", "S1"])
        name = self.name({"real": "v", "int": "a", "unsigned": "b", "u64": "h", "narrow": "c",
                          "S0": "s", "S1": "q"}[kind])
        if kind == "real":
            text = f"real {name} = {self.bounded() if self.growing() else self.expr()};"
        elif kind == "int":
            text = f"int {name} = {self.int_expr()} & 63;"
        elif kind == "unsigned":
            text = f"unsigned {name} = {self.unsigned_expr()};"
        elif kind == "u64":
            text = f"uint64_t {name} = {self.unsigned_expr()} * 6364136223846793005u;"
        elif kind == "narrow":
            t = self.pick(["int8_t", "uint8_t", "int16_t", "uint16_t", "short", "char"])
            t = "signed char" if t == "char" else t
            text = f"{t} {name} = ({t})({self.int_expr()});"
        elif kind == "S0":
            text = f"S0 {name} = {{{self.expr(1)}, {self.expr(1)}}};"
        else:
            text = (f"S1 {name} = {{{{{self.expr(1)}, {self.expr(0)}}}, {self.int_expr(1)} & 7, "
                    f"{{{self.expr(0)}, {self.expr(1)}}}}};")
        if self.chance(0.2):
            hidden = [v.name for s in self.scopes[:-1] for v in s if v.kind == kind and not v.limit
                      and v.assign and re.match(r"[a-z]+\d+$", v.name)]
            taken = {v.name for v in self.scopes[-1]}
            hidden = [h for h in hidden if h not in taken and not re.search(rf"\b{h}\b", text)]
            if hidden:  # what it hides must not be in its own initialiser
                text = text.replace(name, self.pick(hidden), 1)
                name = text.split("=")[0].split()[-1]
        self.declare(name, kind)
        return [Line(text)]

    def local_array(self):
        if len([a for a in self.arrays if a.local]) > 3:
            return self.assign()
        name = self.name("t")
        if self.chance(0.3):
            extent = "m" if self.in_function is None else 3
        else:
            extent = self.r.randrange(2, 5)
        if isinstance(extent, int) and self.chance(0.4):
            values = ", ".join(self.expr(1) for _ in range(extent))
            out = [Line(f"real {name}[{extent}] = {{{values}}};")]
        else:
            out = [Line(f"real {name}[{extent}];")]
            j = self.name("j")
            self.scopes.append([])
            self.declare(j, "int", extent, False)
            self.loops += 1
            out.append(Block(f"for (int {j} = 0; {j} < {extent}; {j}++)",
                             [Line(f"{name}[{j}] = {self.bounded()};")]))
            self.loops -= 1
            self.scopes.pop()
        a = Array(name, "real", [extent], False, True)
        a.role, a.mirror = "free", False
        self.arrays.append(a)
        return out

    def assign(self):
        places = self.real_places()
        adds = [a for a in self.arrays if a.role in ("add", "min", "max")]
        if adds and self.chance(0.4):
            a = self.pick(adds)
            place = a.name + "".join(f"[{self.index(e)}]" for e in a.extents) + self.leaf(a.kind)
            if a.kind == "int":
                return [Block("", [Line("#pragma omp atomic"),
                                   Line(self.pick([f"{place}++;", f"{place} += {self.int_expr()} & 15;",
                                                   f"{place} -= {self.int_atom()} & 3;"]))])]
            if a.role != "add":
                op = "<" if a.role == "min" else ">"
                v = self.name("v")
                return [Block("", [Line(f"real {v} = {self.expr()};"),
                                   Line("#pragma omp atomic compare"),
                                   Line(f"if ({v} {op} {place}) {{ {place} = {v}; }}")])]
            self.p.exact = False
            return [Block("", [Line("#pragma omp atomic"),
                               Line(f"{place} {self.pick(['+=', '+=', '-='])} {self.expr()};")])]
        if not places:
            return self.local()
        place = self.pick(places)()
        op = self.pick(["=", "=", "=", "+=", "+=", "-=", "*=", "/=", "mix", "struct", "whole"])
        if op == "whole":  # a struct at a time
            outs = [(a, v) for a in self.arrays if a.kind in ("S0", "S1") and self.writable(a)
                    for v in self.vars(a.kind)]
            if outs:
                a, v = self.pick(outs)
                return [Line(f"{a.name}{self.subscripts(a)} = {v.name};")]
            op = "="
        if op == "struct":
            vs = self.changeable("S0")
            fs = [n for n, k in self.functions if k == "struct"]
            if not vs or not fs:
                op = "="
            else:
                v = self.pick(vs).name
                return [Line(f"{v} = {self.pick(fs)}({self.pick(self.vars('S0')).name}, {self.expr(1)});")]
        if op == "=":
            value = self.bounded() if self.growing() or self.chance(0.4) else self.expr()
            return [Line(f"{place} = {value};")]
        if op in ("+=", "-="):
            return [Line(f"{place} {op} {self.bounded() if self.growing() else self.expr()};")]
        if op == "*=":
            return [Line(f"{place} *= {self.pick(['cos', 'bound', 'sin'])}({self.expr()});")]
        if op == "/=":
            return [Line(f"{place} /= 1.25f + {self.square()};")]
        return [Line(f"{place} = 0.5f * {place} + 0.5f * {self.bounded()};")]

    def int_statement(self):
        outs = [a for a in self.arrays if a.kind == "int" and self.writable(a)]
        if outs and self.chance(0.5):
            a = self.pick(outs)
            return [Line(f"{a.name}{self.subscripts(a)} = {self.int_expr()};")]
        vs = [v for k in ("int", "unsigned", "u64", "narrow") for v in self.changeable(k)]
        if not vs:
            return self.local()
        v = self.pick(vs)
        if v.kind == "int":
            return [Line(f"{v.name} = ({self.int_expr()}) & 63;")]
        if v.kind == "narrow":
            return [Line(self.pick([f"{v.name}++;", f"{v.name} += {self.int_atom()};",
                                    f"{v.name} ^= {self.r.randrange(128)};"]))]
        return [Line(self.pick([f"{v.name} = {self.unsigned_expr()};", f"{v.name} *= 2654435761u;",
                                f"{v.name} ^= {v.name} >> 3;", f"{v.name}++;"]))]

    def trip(self):
        options = [lambda: str(self.r.randrange(1, 5)), lambda: f"({self.int_atom()} & 3)",
                   lambda: f"1 + ({self.int_atom()} & 1)"]
        if self.in_function is None or self.in_function == "row":
            options += [lambda: "m"] * 3
        return self.pick(options)()

    def loop(self):
        kind = self.pick(["for", "for", "for", "down", "step", "while", "do", "le", "forever"])
        j = self.name("j")
        out = []
        if kind in ("for", "step", "le", "down"):
            bound = self.trip()
            self.scopes.append([])
            self.declare(j, "int", bound if bound == "m" and kind != "le" else None, False)
            self.loops += 1
            b = self.body(self.count())
            self.loops -= 1
            self.scopes.pop()
            head = {"for": f"for (int {j} = 0; {j} < {bound}; {j}++)",
                    "step": f"for (int {j} = 0; {j} < {bound}; {j} += 2)",
                    "le": f"for (int {j} = 1; {j} <= {bound}; ++{j})",
                    "down": f"for (int {j} = {bound} - 1; {j} >= 0; {j}--)"}[kind]
            return [Block(head, b, before=self.checkpoint())]
        self.scopes.append([])
        out.append(Line(f"int {j} = 0;"))
        self.declare(j, "int", None, False)
        self.loops += 1
        cond = self.condition()
        limit = self.r.randrange(2, 6)
        b = [Line(f"{j}++;")] + self.body(self.count())
        self.loops -= 1
        self.scopes.pop()
        if kind == "while":
            out.append(Block(f"while ({j} < {limit} && {cond})", b, before=self.checkpoint()))
        elif kind == "do":
            out.append(Block("do", b, tail=f" while ({j} < {limit} && {cond});"))
        else:
            b.insert(1, Block(f"if ({j} > {limit})", [Line("break;")]))
            out.append(Block("for (;;)", b))
        return out

    def checkpoint(self):
        if not self.chance(0.06):
            return ()
        return (self.pick(["#pragma retrograd checkpoint(1)", "#pragma retrograd checkpoint(2)",
                           "#pragma retrograd checkpoint(3)", "#pragma retrograd checkpoint"]),)

    def switch(self):
        sel = f"{self.int_expr(1)} & 3"
        cases = []
        labels = self.r.sample(["case 0:", "case 1:", "case 2:", "default:"], self.pick([2, 3, 4]))
        for label in labels:
            cases.append(Line(label))
            # no declarations straight after a label, none that a later case jumps over
            cases.append(Block("", self.body(self.pick([1, 1, 2]))))
            if self.chance(0.7):
                cases.append(Line("break;"))
        return [Block(f"switch ({sel})", cases)]

    # -- functions --
    def make_function(self):
        kind = self.pick(["scalar", "scalar", "row", "proc", "struct"])
        name = self.name({"scalar": "f", "row": "g", "proc": "h", "struct": "w"}[kind])
        saved_arrays, saved_scopes, saved_size = self.arrays, self.scopes, self.size
        self.arrays, self.scopes, self.in_function = [], [[]], kind
        self.base = 0
        self.size = max(0, self.max_size - 8)
        self.declare("x", "real")
        if kind == "scalar":
            self.declare("y", "real")
            signature = f"static real {name}(real x, real y)"
            self.returns = lambda: self.bounded()
        elif kind == "row":
            a = Array("p", "real", ["m"], True)
            a.role, a.mirror = "read", False
            self.arrays = [a]
            self.declare("m", "int", None, False)
            signature = f"static real {name}(int m, const real *p, real x)"
            self.returns = lambda: self.bounded()
        elif kind == "proc":
            self.declare("(*o)", "real")
            signature = f"static void {name}(real *o, real x)"
            self.returns = lambda: ""
        else:
            self.declare("s", "S0")
            signature = f"static S0 {name}(S0 s, real x)"
            self.returns = lambda: f"(S0){{{self.bounded()}, x}}"
        b = self.body(self.pick([1, 2, 3, 4]))
        if kind == "proc":
            b.append(Line(f"*o = sin(*o + {self.expr(1)});"))
        elif kind == "struct":
            b += [Line(f"s.a = {self.bounded()};"), Line("return s;")]
        else:
            b.append(Line(f"return {self.bounded()};"))
        self.p.functions.append((signature, b))
        self.functions.append((name, kind))
        self.arrays, self.scopes, self.size = saved_arrays, saved_scopes, saved_size
        self.in_function, self.returns = None, None

    # -- functions that have an adjoint of their own --
    def make_own(self):
        for name, signature, body, adjoint, back in self.r.sample(OWN, self.pick([1, 2, 4])):
            self.p.functions += [(signature, [Line(s) for s in body]), (adjoint, [Line(s) for s in back])]
            self.p.head.append(f"#pragma retrograd adjoint({name}) = {name}_b")
            self.own.append(name)

    def rows(self, write):
        """(array, C for a pointer to what may be read or written whole, its length)"""
        out = []
        for a in self.arrays:
            if a.kind != "real" or a.name in ("u", "tmp") or not (self.writable if write else self.readable)(a):
                continue
            whole = a.local or a.role == "read" or (a.role == "free" and not self.task_index)
            if len(a.extents) == 1 and whole:
                out.append((a, a.name, a.extents[0]))
            elif len(a.extents) == 2 and a.extents[1] == "m" and a.role in ("read", "own", "free") \
                    and not (a.role == "own" and len(self.task_index or ()) > 1):
                out.append((a, f"{a.name}[{self.subscripts_first(a)}]", "m"))
        return out

    def own_call(self):
        f = self.pick(self.own)
        places = self.real_places()
        read, write = self.rows(False), self.rows(True)
        x = self.bounded()
        if not places:
            return self.local()
        if f == "osum" and read:
            a, p, n = self.pick(read)
            return [Line(f"{self.pick(places)()} = bound(osum({p}, {n}, {x}));")]
        if f == "ovec" and write:
            a, p, n = self.pick(write)
            return [Line(f"ovec({p}, {n}, {x});")]
        if f == "omix":
            from_ = [a for a in self.arrays if a.kind == "real" and self.readable(a) and a.name != "u"]
            to = [a for a in self.arrays if a.kind == "real" and self.writable(a) and a.name != "u"]
            pairs = [(a, b) for a in from_ for b in to if a is not b]
            if pairs:
                a, b = self.pick(pairs)
                call = f"omix(&{self.load(a)}, &{self.load(b)}, {x})"
                return [Line(self.pick([f"{call};", f"real {self.name('v')} = {call};",
                                        f"if ({call} > 0.3f) {self.pick(places)()} *= 0.5f;"]))]
        if f == "oline":
            s = [a for a in self.arrays if a.kind == "S0" and self.readable(a)]
            at = [a for a in self.arrays if a.name in ("idx", "perm") and self.readable(a)]
            if s and at:
                return [Line(f"{self.pick(places)()} = bound(oline(&{self.pick(s).name}"
                             f"[{self.index('n')}], {x}, &{self.pick(at).name}[{self.index('n')}]));")]
        return self.assign()

    # -- tasks --
    def task(self, history=False):
        """A parallel loop over i (and j)."""
        arrays = [a for a in self.arrays]
        two = not history and self.chance(0.2)
        reduce = not history and self.chance(0.2)
        outs = [a for a in arrays if not a.const and a.name != "u"]
        for a in arrays:
            a.role, a.mirror = "read", False
        chosen = self.r.sample(outs, min(len(outs), self.pick([1, 1, 2, 3]))) if outs else []
        for a in chosen:
            role = self.pick(["own"] * 6 + ["add", "add", "scatter", "scatter", "min", "max"])
            if a.extents[0] != "n":
                role = "add"
            if two and (len(a.extents) < 2 or a.extents[1] != "m"):
                role = "add"
            if role in ("min", "max") and (a.kind == "int" or not a.ready):
                role = "add"
            if role == "add" and not a.ready:
                role = "read"
            if role == "scatter" and (a.kind != "real" or two or len(a.extents) > 1):
                role = "own"
            if not a.ready and (two or a.extents[0] != "n"):
                role = "read"
            elif not a.ready:
                role = "own"
            a.role = role
            a.mirror = role == "own" and a.ready and self.chance(0.15)
        u = next((a for a in arrays if a.name == "u"), None)
        if u and not history:
            u.role = "none"
        outer = self.loops, self.repeats, self.base
        self.loops, self.repeats, self.base = 0, self.loops + self.repeats, len(self.scopes)
        i = self.name("i")
        j = self.name("j") if two else None
        self.task_index = (i, j) if two else (i,)
        self.scopes.append([])
        self.declare(i, "int", "n", False)
        if two:
            self.declare(j, "int", "m", False)
        first = []
        for a in chosen:  # a kernel-level local array is written in full before it is read
            if not a.ready and a.role == "own":
                a.role = "read"
                first.append(Line(f"{a.name}[{i}] = {self.bounded()};"))
                a.ready, a.role = True, "own"
        clause, last = "", []
        if reduce:
            acc = self.name("r")
            start = self.literal()
            whole = self.chance(0.25)  # of integers
            op = self.pick(["+", "max", "min", "&", "|", "^"] if whole else ["+", "+", "max", "min", "*"])
            if whole:
                start = str(self.r.randrange(16))
                value = f"({self.int_expr()} & 63)"
                last = [Line(f"{acc} = {acc} {'<' if op == 'min' else '>'} {value} ? {acc} : {value};"
                             if op in ("min", "max") else f"{acc} {op}= {value};")]
            elif op == "+":
                last = [Line(f"{acc} += {self.expr()};")]
            elif op == "*":
                last = [Line(f"{acc} *= cos({self.expr()});")]
            else:
                last = [Line(f"{acc} = f{op}({acc}, {self.expr()});")]
            if op in "+*" and not whole:
                self.p.exact = False
            clause = f" reduction({op}:{acc})"
        b = first + self.body(self.pick([1, 2, 3]))
        if history:
            b.append(Line(f"u[t + 1][{i}] = {self.bounded()};"))
        b += last
        self.scopes.pop()
        self.task_index = None
        self.loops, self.repeats, self.base = outer
        head = f"for (int {i} = 0; {i} < n; {i}++)"
        pragma = f"#pragma omp parallel for{' collapse(2)' if two else ''}{clause}"
        if two:
            b = [Block(f"for (int {j} = 0; {j} < m; {j}++)", b)]
        out = []
        for a in arrays:
            a.role = "free"
        if u:
            u.role = "none"
        if reduce:
            out.append(Line(f"{'int' if whole else 'real'} {acc} = {start};"))
            self.declare(acc, "int" if whole else "real", None, not whole)
        out.append(Block(head, b, before=(pragma,)))
        return out

    def serial(self):
        """Serial code at kernel level: everything may be read and written."""
        for a in self.arrays:
            a.role = "free" if a.name != "u" else "none"
            a.mirror = False
        return self.statement()

    def item(self, depth):
        saved = list(self.arrays)
        out = self.item_inside(depth)
        if depth:
            self.arrays = saved
        return out

    def item_inside(self, depth):
        roll = self.r.random()
        if roll < 0.5:
            return self.task()
        if roll < 0.64:
            return self.serial()
        if roll < 0.84 and depth < 2:
            t = self.name("t")
            self.scopes.append([])
            self.declare(t, "int", None, False)
            ready = [a for a in self.arrays if not a.ready]
            self.loops += 1
            saved, body = list(self.arrays), []
            for _ in range(self.pick([1, 2, 2])):
                body += self.item_inside(depth + 1)
            self.arrays = saved
            self.loops -= 1
            for a in ready:
                a.ready = a.ready and False
            self.scopes.pop()
            return [Block(f"for (int {t} = 0; {t} < {self.pick(['steps', '2', '3'])}; {t}++)", body,
                          before=self.checkpoint())]
        if roll < 0.92 and depth < 2:
            self.scopes.append([])
            waiting = [a for a in self.arrays if not a.ready]
            cond = self.pick(["m > 2", "steps != 2", "n & 1"] +
                             [f"{v.name} > 0.25f" for v in self.vars("real")])
            body = self.item(depth + 1)
            for a in waiting:
                a.ready = False
            self.scopes.pop()
            return [Block(f"if ({cond})", body)]
        return self.task()

    def generate(self):
        p, r = self.p, self.r
        p.head = HEAD.split("\n")
        if self.chance(0.25):
            p.head[0] = "#include <tgmath.h>"
        n, m, steps = r.randrange(2, 6), r.randrange(1, 5), r.randrange(1, 4)

        def scalar(t, name, kind, spec=None):
            p.params.append((t, name, None))
            self.declare(name, kind, None, kind != "int")
            if spec is not None:
                p.specs[name] = str(spec)

        def array(t, name, kind, extents, const, spec=None):
            p.params.append((("const " if const else "") + t, name, extents))
            a = Array(name, kind, extents, const)
            a.mirror = False
            self.arrays.append(a)
            if spec is not None:
                p.specs[name] = spec

        for name, value in (("n", n), ("m", m), ("steps", steps)):
            scalar("int", name, "int", value)
        for k in range(r.randrange(0, 3)):
            scalar("real", f"k{k}", "real")
        if self.chance(0.2):
            scalar("S0", "par", "S0")
        array("real", "x", "real", ["n"], True)
        if self.chance(0.5):
            array("real", "xm", "real", ["n", "m"], True)
        if self.chance(0.4):
            array("real", "c", "real", ["m"], True)
        array("int", "idx", "int", ["n"], True, f"mod:{n}")
        array("int", "perm", "int", ["n"], True, "perm")
        if self.chance(0.3):
            array("uint8_t", "bytes", "uint8_t", ["n"], True)
        if self.chance(0.3):
            array("int16_t", "words", "int16_t", ["n"], True)
        if self.chance(0.3):
            array("S0", "sx", "S0", ["n"], True)
        array("real", "y", "real", ["n"], False)
        if self.chance(0.5):
            array("real", "z", "real", ["n"], False)
        if self.chance(0.4):
            array("real", "w", "real", ["n", "m"], False)
        if self.chance(0.3):
            array("S1", "st", "S1", ["n"], False)
        if self.chance(0.3):
            array("int", "count", "int", ["n"], False)
        if self.chance(0.3):
            array("real", "e", "real", [1], False)
        history = self.chance(0.3)
        if history:
            array("real", "u", "real", ["steps + 1", "n"], False)
            self.arrays[-1].role = "none"
        for a in self.arrays:
            if a.name != "u":
                a.role = "free"
        for _ in range(r.randrange(0, 3)):
            self.make_function()
        if self.chance(0.4):
            self.make_own()
        body = []
        if self.chance(0.3):
            body.append(Line(self.pick(["real tmp[n];", "real tmp[6];"])))
            a = Array("tmp", "real", ["n"], False, False)
            a.ready, a.mirror, a.role = False, False, "read"
            self.arrays.append(a)
        style = r.random()
        if style < 0.12:  # nothing but serial code
            for _ in range(self.pick([3, 5, 7])):
                body += self.serial()
        else:
            for k in range(self.pick([1, 2, 2, 3])):
                if k and self.chance(0.06):
                    cond = self.pick(["m > 3", "steps == 2"] +
                                     [f"{v.name} > 0.25f" for v in self.vars("real")])
                    body.append(Block(f"if ({cond})", [Line("return;")]))
                body += self.item(0)
        if history:
            self.scopes.append([])
            self.loops += 1
            tasks = []
            if self.chance(0.3):
                tasks += self.task()
            tasks += self.task(history=True)
            self.loops -= 1
            self.scopes.pop()
            body.append(Block("for (int t = 0; t < steps; t++)", tasks))
        args = []
        for t, name, extents in p.params:
            args.append(f"{t} {name}" + "".join(f"[{e}]" for e in extents or ()))
        p.functions.append((f"void {p.name}({', '.join(args)})", body))
        return p


def generate(seed):
    return Generator(seed).generate()


if __name__ == "__main__":
    import sys
    print(generate(int(sys.argv[1])).source(), end="")
