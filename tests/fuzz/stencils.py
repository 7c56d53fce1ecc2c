"""Random stencils: parallel loops that read arrays around where they stand, under guards of all kinds.

What the adjoint adds to an element is then gathered by the iteration that stands there, or added
atomically (src/ad/gather.c); here every shape must give the right gradient: one to three ranges, rows
of their own or in one axis, guards by if, ?: and clamps, on bounds that may leave no iteration.
fuzz.py --stencils runs these; `python3 tests/fuzz/stencils.py SEED` prints one.
"""

import random

from generate import HEAD, Block, Line, Program

VARS = "ijk"
SIZES = "nml"


class Stencils:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.p = Program(f"k{seed}")
        self.p.head = HEAD.split("\n")

    def chance(self, p):
        return self.r.random() < p

    def place(self, v):
        """An index near v, and the guard under which it lies inside; None: it always does."""
        size = SIZES[VARS.index(v)]
        lo, hi = self.reach[v]  # the loop runs from lo to size - hi
        c = self.r.choice((-3, -2, -1, -1, 0, 0, 0, 1, 1, 2, 3))
        text = v if c == 0 else f"{v} {'+' if c > 0 else '-'} {abs(c)}"
        if c < 0 and lo + c < 0:
            return text, self.r.choice((f"{v} >= {-c}", f"{v} > {-c - 1}", f"!({v} < {-c})",
                                        f"{v} - {-c} >= 0", f"{-c} <= {v}"))
        if c > 0 and hi < c:
            return text, self.r.choice((f"{v} < {size} - {c}", f"{v} <= {size} - {c + 1}",
                                        f"{v} + {c} < {size}", f"{size} - {c} > {v}",
                                        f"{v} + {c} != {size}" if c == 1 and hi == 0 else
                                        f"{v} + {c} <= {size} - 1"))
        return text, None

    def clamped(self, v):
        size = SIZES[VARS.index(v)]
        c = self.r.choice((1, 1, 2))
        return self.r.choice((f"{v} >= {c} ? {v} - {c} : {self.r.choice(('0', v))}",
                              f"{v} < {size} - {c} ? {v} + {c} : {self.r.choice((size + ' - 1', v))}"))

    def access(self, name):
        """Text that reads the array, and the guards it stands under."""
        axes, flat = self.arrays[name]
        order = list(axes)
        parts, guards = [], []
        for v in order:
            if self.chance(0.08) and not flat:
                parts.append(self.clamped(v))
                continue
            text, guard = self.place(v)
            parts.append(text)
            if guard:
                guards.append(guard)
        if not flat:
            return name + "".join(f"[{p}]" for p in parts), guards
        index = parts[0]
        for v, p in zip(order[1:], parts[1:]):
            index = f"({index}) * {SIZES[VARS.index(v)]} + {p}"
        return f"{name}[{index}]", guards

    def extra(self):
        v = self.r.choice(self.vars)
        size = SIZES[VARS.index(v)]
        return self.r.choice((f"{v} != 1", f"{v} == 0", f"{v} == {size} - 1", f"x0[{VARS[0]}] > 0",
                              f"({v} & 1) == 0", f"{v} > 1", f"{v} < {size} / 2", "s > -4"))

    def term(self):
        name = self.r.choice(list(self.arrays))
        text, guards = self.access(name)
        if self.chance(0.12):
            guards.append(self.extra())
        if self.chance(0.35):
            other, more = self.access(self.r.choice(list(self.arrays)))
            text, guards = f"{text} * {other}", guards + more
        factor = self.r.choice(("", "", "0.5f * ", "s * ", "-"))
        self.r.shuffle(guards)
        return factor + text, guards

    def add(self, body):
        text, guards = self.term()
        if not guards:
            body.append(Line(f"t += {text};"))
        elif self.chance(0.5):
            body.append(Line(f"t += {' && '.join(guards)} ? {text} : {self.r.choice(('0', 's', '0.25f'))};"))
        elif self.chance(0.5):
            inner = [Line(f"t += {text};")]
            for g in reversed(guards):
                other = [Line("t -= 0.125f;")] if self.chance(0.15) else None
                inner = [Block(f"if ({g})", inner, other)]
            body += inner
        else:
            body.append(Block(f"if ({' && '.join(guards)})", [Line(f"t += {text};")]))

    def loop(self, out):
        body = [Line("real t = 0;")]
        for _ in range(self.r.randint(1, 5)):
            self.add(body)
        index = "".join(f"[{v}]" for v in self.vars)
        if self.chance(0.2):
            body.append(Line(f"{out}{index} += t;"))
        else:
            body.append(Line(f"{out}{index} = {self.r.choice(('t', 't', 'sin(t)', 'bound(t)'))};"))
        n = len(self.vars)
        parallel = n if self.chance(0.7) else 1
        for d in reversed(range(n)):
            v, size = VARS[d], SIZES[d]
            lo, hi = self.reach[v]
            end = f"{size} - {hi}" if hi else size
            pragma = []
            if d == 0:
                pragma = ["#pragma omp parallel for" + (f" collapse({parallel})" if parallel > 1 else "")]
            body = [Block(f"for (int {v} = {lo}; {v} < {end}; {v}++)", body, before=pragma)]
        return body[0]

    def generate(self):
        n = self.r.choice((1, 1, 2, 2, 2, 3))
        self.vars = VARS[:n]
        self.reach = {v: (self.r.choice((0, 0, 0, 1, 2)), self.r.choice((0, 0, 0, 1, 2)))
                      for v in self.vars}
        self.arrays = {}
        self.p.exact = True
        p = self.p
        params = []

        def scalar(t, name, spec=None):
            p.params.append((t, name, None))
            params.append(f"{t} {name}")
            if spec is not None:
                p.specs[name] = spec

        def array(name, extents, const=True):
            p.params.append(("real", name, extents))
            params.append(f"{'const ' if const else ''}real {name}" + "".join(f"[{e}]" for e in extents))

        for k in range(3):
            scalar("int", SIZES[k], str(self.r.choice((1, 2, 3, 4, 5, 7))))
        scalar("real", "s")
        array("x0", [SIZES[0]])
        self.arrays["x0"] = (self.vars[:1], False)
        if n > 1:
            array("x0b", [SIZES[0], SIZES[1]])
            self.arrays["x0b"] = (self.vars[:2], False)
        array("x1", [SIZES[VARS.index(v)] for v in self.vars])
        self.arrays["x1"] = (self.vars, False)
        if n > 1:
            array("f", [" * ".join(SIZES[VARS.index(v)] for v in self.vars)])
            self.arrays["f"] = (self.vars, True)
        if n > 1 and self.chance(0.3):
            # the variables the other way round, where the sizes allow it
            array("tr", [SIZES[VARS.index(v)] for v in reversed(self.vars)])
            self.arrays["tr"] = (self.vars[::-1], False)
        outs = []
        for k in range(self.r.choice((1, 1, 2))):
            array(f"y{k}", [SIZES[VARS.index(v)] for v in self.vars], False)
            outs.append(f"y{k}")
        steps = []
        for k, out in enumerate(outs):
            steps.append(self.loop(out))
            if k == 0 and len(outs) > 1 and self.chance(0.5):
                self.arrays[out] = (self.vars, False)  # the next loop reads what this one wrote
        p.functions.append((f"void {p.name}({', '.join(params)})", steps))
        return p


def generate(seed):
    return Stencils(seed).generate()


if __name__ == "__main__":
    import sys
    print(generate(int(sys.argv[1])).source(), end="")
