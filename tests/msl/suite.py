"""Kernels as Metal: SPIR-V translated by several versions of SPIRV-Cross, run on the CPU.

`add(runner)` adds these tests to tests/run.py:

    msl/shapes/...   hand-written kernels of the shape in which the fault was reported: those that
                     old translators get wrong are seen to be wrong, so the check is known to bite
    msl/standin/...  barriers, simdgroup functions and atomics of the header and the harness
    msl/naive/...    Retrograd's own kernels with plain loads: wrong on old translators
    msl/TRANSLATOR/FORM/KERNEL  every test kernel's results, gradients and tangents
    msl/check/...    `retrograd check` there, with offsets: primal, adjoint and tangent of each kernel
    msl/slots/...    buffer slots
    msl/many/...     a thousand arrays; forty arrays of mixed types
"""

import glob
import os
import re
import shlex
import shutil
import struct
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "kernels"))
import kernels  # noqa: E402
import many  # noqa: E402
import translators  # noqa: E402

FORMS = ["msl", "msl-offset"]
# The C interface of SPIRV-Cross whose loads stay where they are is later than this one.
LAST_OLD = 64
# Atomics through addresses cannot be translated up to this one (MoltenVK before 1.2.8).
LAST_WITHOUT_ATOMICS = 57
NO_ATOMICS = re.compile(r"No backing variable for atomic operation|no matching function for call to "
                        r"'atomic_")
NO_DOUBLE = re.compile(r"64-bit floats|double")
# C's sin(x) is a function of doubles: where Metal has none, a kernel is tried with sinf(x).
MATHS = re.compile(r"""\b(acos|acosh|asin|asinh|atan|atan2|atanh|cbrt|ceil|copysign|cos|cosh|erf|erfc|exp
    |exp2|expm1|fabs|fdim|floor|fma|fmax|fmin|fmod|hypot|ldexp|lgamma|log|log10|log1p|log2|nearbyint
    |pow|remainder|rint|round|sin|sinh|sqrt|tan|tanh|tgamma|trunc)\(""", re.X)

ARGS = "args=i32:4,pad:12,&x,&xg,i32:4,pad:12,&y,&yg"
X = ["--memory", "x=f32:1,f32:2,f32:3,f32:4", "--memory", "xg=f32*4:0", "--memory", "y=f32*4:0",
     "--memory", "yg=f32*4:1"]
BLOCK = X + ["--memory", ARGS, "--bind", "0.0=args", "--print", "xg"]
ROOT = X + ["--memory", "root=u64:4,&x,&xg,&y,&yg", "--memory", "pc=&root", "--bind", "push=pc",
            "--print", "xg"]
ARENA = ["--memory", "args=i32:4,pad:12,u32:0,u32:4,pad:8,i32:4,pad:12,u32:8,u32:12", "--memory",
         "xg=f32:1,f32:2,f32:3,f32:4,f32*8:0,f32*4:1", "--bind", "0.0=args", "--bind", "0.1=xg",
         "--print", "xg"]
# name: (options, after spirv-opt -O?, right on old translators, right on new ones)
SHAPES = {
    "u64ubo_nonvol": (BLOCK, False, False, False),
    "uvec2ubo_nonvol": (BLOCK, False, False, False),
    "rootpc_nonvol": (ROOT, False, False, False),
    "u64ssbo_vol": (BLOCK, False, False, True),
    "u64ssbo_nonvol": (BLOCK, False, False, True),
    "u64ssbo_fvar": (BLOCK, False, True, True),
    "u64ssbo_fvar-opt": (BLOCK, True, False, True),
    "u64ssbo_cpmem": (BLOCK, False, True, True),
    "u64ssbo_cpmem-opt": (BLOCK, True, True, True),
    "rootpc_cpmem": (ROOT, False, True, True),
    "ptrssbo_nonvol": (BLOCK, False, True, True),
    "arena_nonvol": (ARENA, False, True, True),
}


class Suite:
    def __init__(self, runner):
        self.r = runner
        self.tool = os.path.join(runner.build, "tests", "retrograd_msl")
        self.msl_run = os.path.join(runner.build, "tests", "msl_run")

    def ask(self, t, words, **more):
        return self.r.run(t.command(words), **more)

    # ---- which translators ----

    def present(self):
        found = []
        # The sanitizers' libraries want this system's C library.
        for name in ["system"] if self.r.o.sanitized else translators.NAMES:
            t = translators.get(self.r.build, name)
            if not t.why_not:
                status, out, err = self.ask(t, [self.msl_run, "--version"])
                m = re.search(r"interface \d+\.(\d+)", out)
                if status == 0 and m:
                    t.interface = int(m.group(1))
                    found.append(t)
                    continue
                t.why_not = (err.strip() or "it does not say its version")[:200]
            self.r.skipped("msl", name, t.why_not)
        return found

    # ---- the fault, seen ----

    def shape(self, t, name, options, optimise, right):
        test = f"shapes/{t.name}/{name}"
        stem = name.replace("-opt", "")
        source = os.path.join(HERE, "shapes", stem + ".spvasm")
        spv = os.path.join(self.r.work, f"{t.name}.{name}.spv")
        steps = [["spirv-as", "--target-env", "vulkan1.1", source, "-o", spv]]
        steps += [["spirv-opt", "-O", spv, "-o", spv]] if optimise else []
        for step in steps:
            status, out, err = self.r.run(step)
            if status != 0:
                self.r.failed("msl", test, (err or out)[:200], step)
                return
        command = t.command([self.msl_run, spv] + options)
        status, out, err = self.r.run(command)
        if status != 0 and stem.startswith("rootpc") and t.interface <= LAST_WITHOUT_ATOMICS:
            self.r.skipped("msl", test, "this translator prints no valid Metal for it")
            return
        got = [float(v) for v in out.split()[1:]]
        got = got[4:8] if stem.startswith("arena") else got
        if status != 0:
            self.r.failed("msl", test, err[:300], command)
        elif right and got != [2, 4, 6, 8]:
            self.r.failed("msl", test, f"the gradient is {got}, want [2, 4, 6, 8]", command)
        elif not right and got != [0, 0, 0, 0]:
            self.r.failed("msl", test, f"the gradient is {got}: the fault is not seen", command)
        else:
            self.r.passed("msl")

    def standin(self, t):
        name = f"standin/{t.name}"
        source, spv = os.path.join(HERE, "standin.comp"), os.path.join(self.r.work, t.name + ".spv")
        step = ["glslangValidator", "--target-env", "vulkan1.1", "-V", source, "-o", spv]
        status, out, err = self.r.run(step)
        command = t.command([self.msl_run, spv, "--memory",
                             "b=f32*64:1,f32*64:2,f32*6:0,u32*3:0,f32:0", "--bind", "0.0=b",
                             "--print", "b:u32", "--groups", "2"])
        if status == 0:
            status, out, err = self.r.run(command)
        want = [bits(v) for v in (64, 128, 32, 32, 64, 64)] + [128, bits(192), 0x55555555, bits(1)]
        got = [int(v) for v in out.split()[129:]] if status == 0 else None
        if got != want:
            self.r.failed("msl", name, f"{got}, want {want}: {err[:200]}", command)
        else:
            self.r.passed("msl")

    # ---- kernels ----

    def kernel(self, t, form, k):
        name = f"{t.name}/{form}/{k.name}"
        path = os.path.relpath(k.path)
        for run in k.runs:
            command, (status, out, err) = self.attempt(
                t, lambda p: run.command(self.tool, p, form, "float"), path)
            if self.cannot(t, form, name, err):
                return
            if status != 0:
                self.r.failed("msl", name, last_words(err), command)
                return
            got = kernels.parse_output(out)
            for e in run.expects:
                wrong = "not in the output" if e.name not in got else kernels.differs(
                    got[e.name], kernels.evaluate(e, run), kernels.tolerance(e, "float"))
                if wrong:
                    self.r.failed("msl", name, f"line {e.line}: {e.name}{wrong}", command)
                    return
        self.r.passed("msl")

    def attempt(self, t, words, path):
        """The command and what it gave; if the kernel wants doubles, with sinf for sin."""
        command = t.command(words(path))
        result = self.r.run(command)
        if result[0] != 0 and NO_DOUBLE.search(result[1] + result[2]):
            copy = os.path.join(self.r.work, "float_" + os.path.basename(path))
            if not os.path.exists(copy):
                with open(path) as f:
                    text = MATHS.sub(r"\1f(", f.read())
                part = f"{copy}.{threading.get_ident()}"
                with open(part, "w") as f:
                    f.write(text)
                os.rename(part, copy)
            again = t.command(words(copy))
            more = self.r.run(again)
            if more[0] == 0 or not NO_DOUBLE.search(more[1] + more[2]):
                return again, more
        return command, result

    def cannot(self, t, form, name, err):
        """Reports what no form of the kernel could do there."""
        if NO_ATOMICS.search(err) and form != "msl-offset" and t.interface <= LAST_WITHOUT_ATOMICS:
            self.r.skipped("msl", name, "this translator has no atomics through addresses: a device "
                           "behind it gets offsets")
            return True
        if NO_DOUBLE.search(err) and "Metal source" not in err:
            self.r.skipped("msl", name, "double: Metal has none")
            return True
        if "64-bit atomics" in err:
            self.r.skipped("msl", name, "64-bit atomics: Metal has none that add")
            return True
        return False

    def check(self, t, form, k, i, args):
        name = f"check/{t.name}/{k.name}/{i}"
        command, (status, out, err) = self.attempt(
            t, lambda p: [self.tool, "check", p] + shlex.split(args) + ["--device", form],
            os.path.relpath(k.path))
        if status != 0 and self.cannot(t, form, name, out + err):
            return
        if status == 0 and re.search(r"(?m)^[1-9]\d* passed, 0 failed", out):
            self.r.passed("msl")
        else:
            rows = [l for l in out.split("\n") if re.search(r"\bfail", l, re.I)]
            self.r.failed("msl", name, " | ".join(rows[:3]) or last_words(err or out), command)

    def naive(self, t):
        """Overwriting an output: its gradient is loaded, cleared, used."""
        path = os.path.join(HERE, "naive.c")
        words = [self.tool, "run", path, "square", "n=4", "x=1,2,3,4", "y=zeros", "--mode",
                 "adjoint", "--grad", "y=ones", "--out", "x.grad=-", "--device"]
        for form, right in (("msl", True), ("msl-naive", t.interface > LAST_OLD)):
            name = f"naive/{t.name}/{form}"
            command = t.command(words + [form])
            status, out, err = self.r.run(command)
            got = kernels.parse_output(out).get("x.grad")
            if status != 0:
                self.r.failed("msl", name, last_words(err), command)
            elif (got == [2, 4, 6, 8]) != right:
                self.r.failed("msl", name, f"x.grad is {got}: it should be "
                              f"{'right' if right else 'wrong'}", command)
            else:
                self.r.passed("msl")

    # ---- slots, many arrays ----

    def slots(self, t, path, kernel, mode, form, most):
        name = f"slots/{t.name}/{form}/{kernel}-{mode}"
        command = t.command([self.tool, "slots", path, kernel, "--mode", mode, "--addressing", form])
        status, out, err = self.r.run(command, 400)
        m = re.search(rf"(?m)^{kernel} {mode} slots=(\d+) arrays=(\d+)$", out)
        if status != 0 or not m:
            self.r.failed("msl", name, last_words(err or out), command)
        elif not 1 <= int(m.group(1)) <= most:
            self.r.failed("msl", name, f"{m.group(1)} slots, want at most {most}", command)
        else:
            self.r.passed("msl")

    def many(self, t, form, which):
        name = f"many/{t.name}/{form}/{which}"
        path = os.path.join(self.r.work, f"{which}.c")
        words, expects = many.CASES[which](path)
        command = t.command([self.tool, "run", path] + words + ["--device", form])
        status, out, err = self.r.run(command, 400)
        if self.cannot(t, form, name, err):
            return
        got = kernels.parse_output(out)
        wrong = [f"{n}{kernels.differs(got[n], v, 1e-5)}" if n in got else f"{n} is missing"
                 for n, v in expects.items()
                 if n not in got or kernels.differs(got[n], v, 1e-5)]
        if status != 0:
            self.r.failed("msl", name, last_words(err), [self.tool, "run", path, "..."])
        elif wrong:
            self.r.failed("msl", name, "; ".join(wrong[:3]), [self.tool, "run", path, "..."])
        else:
            self.r.passed("msl")


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def last_words(text):
    lines = [l.strip() for l in text.split("\n") if l.strip()]
    errors = [l for l in lines if "error" in l.lower()]
    return " | ".join((errors or lines[-3:])[:3])[:400] or "(no words)"


def add(runner):
    if not any(runner.wanted(p) for p in names()):
        return
    s = Suite(runner)
    runner.suite("msl")
    if not os.path.exists(s.tool):
        runner.skipped("msl", "all", "it was not built")
        return
    if not shutil.which("clang++"):
        runner.skipped("msl", "all", "clang++ is not there")
        return
    assembler = shutil.which("spirv-as") and shutil.which("spirv-opt")
    if not assembler:
        runner.skipped("msl", "shapes", "spirv-as and spirv-opt are not there")
    runner.skipped("msl", "double", "Metal has no double: kernels are tested with float")
    thousand = os.path.join(runner.work, "thousand.c")
    many.CASES["thousand"](thousand)
    present = s.present()
    alone = len(present) == 1
    for t in present:
        old = t.interface <= LAST_OLD
        for name, (options, optimise, in_old, in_new) in SHAPES.items():
            if assembler:
                runner.add("msl", f"shapes/{t.name}/{name}",
                           lambda t=t, n=name, o=options, z=optimise, g=in_old if old else in_new:
                           s.shape(t, n, o, z, g))
        if shutil.which("glslangValidator"):
            runner.add("msl", f"standin/{t.name}", lambda t=t: s.standin(t))
        runner.add("msl", f"naive/{t.name}", lambda t=t: s.naive(t))
        for number, k in enumerate(kernels.load()):
            if k.devices:
                continue
            # All of them take a quarter of an hour: by default each set has one kernel in four, so
            # that the four sets together have all. RETROGRAD_TEST_ALL=1 or a filter brings them all.
            everything = os.environ.get("RETROGRAD_TEST_ALL") or runner.o.filters
            for which, form in enumerate(FORMS if t.name == "system" else ["msl"]):
                first = 0 if t.name == "system" else 1 + present.index(t)
                if not everything and (number + first + which) % 4:
                    continue
                runner.add("msl", f"{t.name}/{form}/{k.name}",
                           lambda t=t, f=form, k=k: s.kernel(t, f, k))
            for i, args in enumerate(k.checks if t.name != "system" or alone else []):
                if not everything and (number + 1 + present.index(t)) % 4:
                    continue
                runner.add("msl", f"check/{t.name}/{k.name}/{i}",
                           lambda t=t, k=k, i=i, a=args: s.check(t, "msl-offset", k, i, a))
        for form in FORMS:
            for which in many.CASES:
                runner.add("msl", f"many/{t.name}/{form}/{which}",
                           lambda t=t, f=form, w=which: s.many(t, f, w))
        for form, most in (("address", 1), ("offset", 6)):
            for mode in ("primal", "adjoint"):
                runner.add("msl", f"slots/{t.name}/{form}/thousand-{mode}",
                           lambda t=t, f=form, m=mode, n=most:
                           s.slots(t, thousand, "thousand", m, f, n))


def names():
    """Enough names to know whether a filter wants any of these tests."""
    for t in translators.NAMES:
        yield f"msl/standin/{t}"
        yield f"msl/naive/{t}"
        for name in SHAPES:
            yield f"msl/shapes/{t}/{name}"
        for form in FORMS:
            for which in many.CASES:
                yield f"msl/many/{t}/{form}/{which}"
            for p in glob.glob(os.path.join(HERE, "..", "kernels", "*.c")):
                name = os.path.splitext(os.path.basename(p))[0]
                yield f"msl/{t}/{form}/{name}"
                yield f"msl/check/{t}/{name}/0"
        for form in ("address", "offset"):
            for mode in ("primal", "adjoint"):
                yield f"msl/slots/{t}/{form}/thousand-{mode}"
