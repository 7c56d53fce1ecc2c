"""Random compute shaders in GLSL with buffer_reference, and what they leave in memory.

Four arrays of four floats are read and written through addresses that may be the same, or overlap;
values are small integers, exact in any order of evaluation. Four threads run one after another, as
metal.py runs them.
"""
import random

NAMES = ["x", "xg", "y", "yg"]
# Where the arrays begin in one memory of 16 floats: apart, two the same, overlapping.
LAYOUTS = [(0, 4, 8, 12), (0, 4, 0, 4), (0, 1, 4, 4)]
INDICES = {"i": lambda i, k: i, "(i + 1u) & 3u": lambda i, k: i + 1 & 3, "0": lambda i, k: 0,
           "2": lambda i, k: 2, "3u - i": lambda i, k: 3 - i, "i ^ 1u": lambda i, k: i ^ 1,
           "(i + k) & 3u": lambda i, k: i + k & 3}
# How the arrays are reached; "bound" and "shared" have no addresses, and never overlap.
HEADS = {
    "uvec2 uniform": ("layout(std140, set = 0, binding = 0) uniform Args {{ uvec2 {}; }} args;",
                      "Floats(args.{})"),
    "uint64 uniform": ("layout(std140, set = 0, binding = 0) uniform Args {{ uint64_t {}; }} args;",
                       "Floats(args.{})"),
    "uvec2 buffer": ("layout(std430, set = 0, binding = 0) buffer Args {{ uvec2 {}; }} args;",
                     "Floats(args.{})"),
    "reference buffer": ("layout(std430, set = 0, binding = 0) buffer Args {{ Floats {}; }} args;",
                         "args.{}"),
    "reference uniform": ("layout(std140, set = 0, binding = 0) uniform Args {{ Floats {}; }} args;",
                          "args.{}"),
    "bound": ("layout(std430, set = 0, binding = 0) buffer Args {{ float m[16]; }} args;", "{}"),
    "shared": ("layout(std430, set = 0, binding = 0) buffer Args {{ float m[16]; }} args;\n"
               "shared float s[16];", "{}"),
    "local": ("layout(std430, set = 0, binding = 0) buffer Args {{ float m[16]; }} args;", "{}"),
}
BOUND = {"bound": "args.m", "shared": "s", "local": "s"}


class Shader:
    """A tree of statements, printed as GLSL and run here."""

    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.head = r.choice(sorted(HEADS))
        self.n_vars = 0
        self.left = r.randint(4, 12)
        self.bound = BOUND.get(self.head)
        self.atomics = r.random() < 0.4 and self.head != "local"
        self.body = self.block([], 0)
        self.glsl = self.text()

    def value(self, scope):
        r = self.r
        if scope and r.random() < 0.8:
            a = r.choice(scope)
            if r.random() < 0.5:
                return ("+", a, r.choice(scope))
            return ("v", a)
        return ("c", r.randint(0, 5))

    def place(self):
        return self.r.choice(NAMES), self.r.choice(sorted(INDICES))

    def block(self, scope, depth):
        r, out, scope = self.r, [], list(scope)
        while self.left > 0:
            self.left -= 1
            p = r.random()
            if p < 0.4 or not scope:
                self.n_vars += 1
                out.append(("load", self.n_vars, *self.place()))
                scope.append(self.n_vars)
            elif p < 0.75:
                out.append(("store", *self.place(), self.value(scope)))
            elif p < 0.82 and self.atomics:
                out.append(("atomic", *self.place(), self.value(scope)))
            elif p < 0.84:
                out.append(("barrier",))
            elif p < 0.88:
                out.append(("set", r.choice(scope), self.value(scope)))
            elif p < 0.93 and depth < 2:
                cond = r.choice(["i > 1u", "i == 0u", "v"])
                cond = ("v", r.choice(scope)) if cond == "v" else ("i", cond)
                out.append(("if", cond, self.block(scope, depth + 1),
                            self.block(scope, depth + 1) if r.random() < 0.5 else []))
            elif depth < 2:
                out.append(("for", self.block(scope, depth + 1)))
            if depth and r.random() < 0.3:
                break
        return out

    def text(self):
        head, access = HEADS[self.head]
        names = ", ".join(NAMES)
        lines = ["#version 460", "#extension GL_EXT_buffer_reference : require",
                 "#extension GL_EXT_buffer_reference_uvec2 : require",
                 "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require",
                 "#extension GL_EXT_shader_atomic_float : require", "layout(local_size_x = 4) in;",
                 "layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats "
                 "{ float v[]; };", head.format(names), "void main() {",
                 "uint i = gl_GlobalInvocationID.x;", "const uint k = 0u;"]
        copies = "for (int n = 0; n < 16; n++) "
        if self.head == "local":
            lines.append("float s[16];")
        if self.bound == "s":
            lines.append(copies + "s[n] = args.m[n];")

        def place(name, index):
            if self.bound:
                return f"{self.bound}[{4 * NAMES.index(name)} + ({index})]"
            return access.format(name) + f".v[{index}]"

        def value(v):
            return {"c": lambda: f"{v[1]}.0", "v": lambda: f"v{v[1]}",
                    "+": lambda: f"(v{v[1]} + v{v[2]})"}[v[0]]()

        def put(block):
            for s in block:
                if s[0] == "load":
                    lines.append(f"float v{s[1]} = {place(s[2], s[3])};")
                elif s[0] == "store":
                    lines.append(f"{place(s[1], s[2])} = {value(s[3])};")
                elif s[0] == "atomic":
                    lines.append(f"atomicAdd({place(s[1], s[2])}, {value(s[3])});")
                elif s[0] == "set":
                    lines.append(f"v{s[1]} = {value(s[2])};")
                elif s[0] == "barrier":
                    lines.append("memoryBarrierBuffer();")
                elif s[0] == "if":
                    cond = s[1][1] if s[1][0] == "i" else f"v{s[1][1]} > 3.0"
                    lines.append(f"if ({cond}) {{")
                    put(s[2])
                    lines.append("} else {")
                    put(s[3])
                    lines.append("}")
                else:
                    lines.append("for (uint k = 0u; k < 3u; k++) {")
                    put(s[1])
                    lines.append("}")
        put(self.body)
        if self.bound == "s":
            lines.append(copies + "args.m[n] = s[n];")
        return "\n".join(lines + ["}"]) + "\n"

    @property
    def layouts(self):
        return LAYOUTS[:1] if self.bound else LAYOUTS

    def run(self, layout):
        """The 16 floats of memory afterwards; None when one grew past what floats have exactly."""
        memory = [float(n) for n in range(1, 17)]
        at = dict(zip(NAMES, layout))

        def value(v, vars):
            return {"c": lambda: float(v[1]), "v": lambda: vars[v[1]],
                    "+": lambda: vars[v[1]] + vars[v[2]]}[v[0]]()

        def go(block, vars, i, k):
            for s in block:
                if s[0] == "load":
                    vars[s[1]] = memory[at[s[2]] + INDICES[s[3]](i, k)]
                elif s[0] == "store":
                    memory[at[s[1]] + INDICES[s[2]](i, k)] = value(s[3], vars)
                elif s[0] == "atomic":
                    memory[at[s[1]] + INDICES[s[2]](i, k)] += value(s[3], vars)
                elif s[0] == "set":
                    vars[s[1]] = value(s[2], vars)
                elif s[0] == "if":
                    if s[1][0] == "i":
                        taken = i > 1 if s[1][1] == "i > 1u" else i == 0
                    else:
                        taken = vars[s[1][1]] > 3
                    go(s[2] if taken else s[3], vars, i, k)
                elif s[0] == "for":
                    for n in range(3):
                        go(s[1], vars, i, n)
        for i in range(4):
            go(self.body, {}, i, 0)
        return memory if max(abs(m) for m in memory) < 1 << 23 else None


def setup(shader, layout):
    """C++ for metal.py: fills memory, and prints it."""
    if shader.bound:
        return ("static float m[16]; for (int i = 0; i < 16; i++) m[i] = i + 1; memory[0] = m;",
                "for (float f : m) printf(\" %g\", f);")
    addresses = "".join(f"a[{n}] = (uint64_t)(m + {at});" for n, at in enumerate(layout))
    return ("static float m[16]; for (int i = 0; i < 16; i++) m[i] = i + 1;"
            f"static uint64_t a[4]; {addresses} memory[0] = a;",
            "for (float f : m) printf(\" %g\", f);")
