"""Random kernels through Retrograd, against gcc: see generate.py for what they are, driver.c for
what is compared.

    python3 tests/fuzz/fuzz.py --build build --count 300 --seed 1
    python3 tests/fuzz/fuzz.py --build build --seed 4711 --reduce   shrinks one failing program

It ends with the counts, the share of programs accepted and the share of gradients not zero.
"""

import argparse
import concurrent.futures
import copy
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import generate  # noqa: E402
import stencils  # noqa: E402

BATCH = 25

# How many units in the last place a function may be off where it comes from Retrograd's maths library:
# docs/maths.md's bound, and one for the C library's own error. What is not named is exact.
BOUNDS = {"sin": 2, "cos": 2, "tan": 4, "asin": 2, "acos": 2, "atan": 2, "atan2": 2, "sinh": 3,
          "cosh": 3, "tanh": 3, "asinh": 3, "acosh": 3, "atanh": 3, "exp": 2, "exp2": 2, "expm1": 2,
          "log": 2, "log2": 2, "log10": 2, "log1p": 2, "pow": 2, "cbrt": 1, "hypot": 1, "erf": 2,
          "erfc": 4, "tgamma": 8}
OPERANDS = {"atan2": 2, "pow": 2, "hypot": 2}


def noise():
    """C for the linker's --wrap: with fuzz_noise set, functions are off by as much as they may be, at
    random, and fma rounds twice or not. What a program's results do then is what a device with
    that library may do to them; a program without such functions does nothing, and must be exact."""
    out = ["#include <math.h>", "unsigned long long fuzz_noise;",
           "static double draw(void) {",
           "    fuzz_noise = fuzz_noise * 6364136223846793005u + 1442695040888963407u;",
           "    return (double)(fuzz_noise >> 40) / 8388608.0 - 1.0;", "}"]
    for t, f in (("double", ""), ("float", "f")):
        out.append(f"static {t} off{f}({t} y, int most) {{\n"
                   f"    if (!fuzz_noise || !isfinite(y) || y == 0) return y;\n"
                   f"    int n = (int)rint(draw() * most);\n"
                   f"    for (; n > 0; n--) y = nextafter{f}(y, (({t})INFINITY));\n"
                   f"    for (; n < 0; n++) y = nextafter{f}(y, -(({t})INFINITY));\n"
                   f"    return y;\n}}")
        for name, most in BOUNDS.items():
            x = ["x", "y"][:OPERANDS.get(name, 1)]
            params = ", ".join(f"{t} {v}" for v in x)
            out.append(f"{t} __real_{name}{f}({params});\n{t} __wrap_{name}{f}({params}) {{ return "
                       f"off{f}(__real_{name}{f}({', '.join(x)}), {most + 1}); }}")
        out.append(f"{t} __real_fma{f}({t} x, {t} y, {t} z);\n{t} __wrap_fma{f}({t} x, {t} y, {t} z) {{"
                   f" return fuzz_noise && draw() < 0 ? x * y + z : __real_fma{f}(x, y, z); }}")
    return "\n".join(out) + "\n"


WRAPPED = [f"-Wl,--wrap={n}{f}" for n in list(BOUNDS) + ["fma"] for f in ("", "f")]


def merged(programs, folder):
    """One C file with every program twice: real = float and real = double."""
    out = ["#include <math.h>", "#include <stdint.h>"]
    for p in programs:
        names = ["S0", "S1", "inv", "bound", p.name]
        for signature, _ in p.functions[:-1]:
            names.append(re.search(r"(\w+)\(", signature).group(1))
        for real, tag in (("float", "f"), ("double", "d")):
            out += [f"#define {n} {n}_{p.name}{tag}" for n in names]
            out += [f"#define real {real}", f'#include "{folder}/{p.name}.c"']
            out.append(f"void {p.name}{'_'}{tag}(void **p) {{ {p.wrapper()} }}")
            out += [f"#undef {n}" for n in names + ["real"]]
    return "\n".join(out) + "\n"


def compile_batch(programs, folder):
    """Path of the shared library, or None with the compiler's words."""
    units = [os.path.join(folder, "noise.c")]
    with open(units[0], "w") as f:
        f.write(noise())
    for tag, wanted in (("plain", False), ("generic", True)):
        some = [p for p in programs if ("tgmath" in p.head[0]) == wanted]
        if some:
            path = os.path.join(folder, f"batch_{tag}.c")
            with open(path, "w") as f:
                f.write(merged(some, folder))
            units.append(path)
    lib = os.path.join(folder, "batch.so")
    r = subprocess.run(["gcc", "-w", "-O1", "-ffp-contract=off", "-std=gnu11", "-shared", "-fPIC",
                        "-fno-builtin",  # constants through libm, not correctly rounded
                        "-Werror=return-type", "-Werror=implicit-function-declaration", "-o", lib]
                       + WRAPPED + units + ["-lm"], capture_output=True, text=True)
    return (lib, "") if r.returncode == 0 else (None, r.stderr)


def run_programs(programs, driver, devices, seconds=None):
    """{name: (verdict, words)} for each program."""
    folder = tempfile.mkdtemp(prefix="retrograd-fuzz-")
    results = {}
    # A graphics driver may take its time to compile a program.
    seconds = seconds or (600 if any(d.startswith("vulkan") for d in devices) else 60)
    try:
        for p in programs:
            with open(os.path.join(folder, p.name + ".c"), "w") as f:
                f.write(p.source())
        lib, words = compile_batch(programs, folder)
        if not lib:
            return {p.name: ("gcc", words[:400]) for p in programs}
        waiting = list(programs)
        while waiting:
            manifest = os.path.join(folder, "manifest")
            with open(manifest, "w") as f:
                for p in waiting:
                    specs = " ".join(f"{k}={v}" for k, v in p.specs.items())
                    f.write(f"{p.name} {folder}/{p.name}.c {'exact' if p.exact else 'sums'} "
                            f"{p.name[1:]} {specs}\n")
            # the loops are short: without this each would run on one thread
            env = dict(os.environ, FUZZ_SECONDS=str(seconds), TMPDIR=folder)
            env.setdefault("RETROGRAD_DEBUG", "split")
            r = subprocess.run([driver, lib, manifest] + devices, capture_output=True, text=True,
                               env=env, errors="replace")
            last = None
            for line in r.stdout.split("\n"):
                words = line.split(" ", 2)
                if words[0] == "begin":
                    last = words[1]
                elif words[0] in ("pass", "fail", "refused"):
                    results[words[1]] = (words[0], words[2] if len(words) > 2 else "")
            if r.returncode == 0:
                for p in waiting:
                    results.setdefault(p.name, ("fail", "no verdict"))
                break
            if last is None or last in results:
                # not one kernel's doing
                for p in waiting:
                    results.setdefault(p.name, ("crash", r.stderr[-400:]))
                break
            how = signal.Signals(-r.returncode).name if r.returncode < 0 else f"exit {r.returncode}"
            tail = [l for l in r.stderr.split("\n") if "ERROR" in l or "runtime error" in l
                    or "#1 " in l or "#0 " in l]
            results[last] = ("crash", f"{how} {' '.join(tail)[:300]}")
            waiting = [p for p in waiting if p.name not in results]
        return results
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- shrinking ----

def edits(program):
    """Functions that each cut something from a copy of the program, larger cuts first."""
    def lists(statements, path):
        yield path, statements
        for i, s in enumerate(statements):
            if isinstance(s, generate.Block):
                yield from lists(s.body, path + [(i, "body")])
                if s.other is not None:
                    yield from lists(s.other, path + [(i, "other")])
    cuts = []
    for f in range(len(program.functions) - 1):
        cuts.append(("function", f, None, None, 10000))
    for f, (_, body) in enumerate(program.functions):
        for path, statements in lists(body, []):
            n = len(statements)
            size = n
            while size >= 1:
                for start in range(0, n, size):
                    cuts.append(("cut", f, path, (start, start + size), size * 100 - len(path)))
                size //= 2
            for i, s in enumerate(statements):
                if isinstance(s, generate.Block):
                    cuts.append(("unwrap", f, path, i, 50))
                    if s.other is not None:
                        cuts.append(("no else", f, path, i, 60))
                    if s.before:
                        cuts.append(("no pragma", f, path, i, 10))
    cuts.sort(key=lambda c: -c[4])
    return cuts


def apply_edit(program, edit):
    kind, f, path, what, _ = edit
    p = copy.deepcopy(program)
    if kind == "function":
        del p.functions[f]
        return p
    statements = p.functions[f][1]
    for i, side in path:
        statements = getattr(statements[i], side)
    if kind == "cut":
        del statements[what[0]:what[1]]
    elif kind == "unwrap":
        statements[what:what + 1] = statements[what].body + (statements[what].other or [])
    elif kind == "no else":
        statements[what].other = None
    else:
        statements[what].before = ()
    return p


def simplify_expression(text):
    """Shorter forms of a statement: a parenthesised part becomes a constant, or its inside stands
    alone."""
    for m in re.finditer(r"\(", text):
        depth, end = 0, None
        for i in range(m.start(), len(text)):
            depth += text[i] == "("
            depth -= text[i] == ")"
            if depth == 0:
                end = i + 1
                break
        if end is None or end - m.start() < 6:
            continue
        call = re.search(r"\w+$", text[:m.start()])
        start = call.start() if call else m.start()
        if start == 0:
            continue
        yield text[:start] + "0.5f" + text[end:]
        yield text[:start] + "(" + text[m.start() + 1:end - 1] + ")" + text[end:]


def expression_edits(program):
    def lines(statements):
        for s in statements:
            if isinstance(s, generate.Line):
                yield s
            else:
                yield from lines(s.body)
                yield from lines(s.other or [])
    for f, (_, body) in enumerate(program.functions):
        for n, s in enumerate(lines(body)):
            if "#pragma" in s.text:
                continue
            for text in simplify_expression(s.text):
                p = copy.deepcopy(program)
                list(lines(p.functions[f][1]))[n].text = text
                yield p


def same_failure(a, b):
    """Same verdict, and the same thing compared or refused (first two words after the name)."""
    if a[0] != b[0]:
        return False
    if a[0] == "crash":
        return True
    x, y = a[1].split(), b[1].split()
    if a[0] == "refused":
        strip = lambda t: re.sub(r"[^a-z ]", "", re.sub(r"\S*\d\S*", "", t.split("error:")[-1]))[:40]
        return x[1:2] == y[1:2] and strip(a[1]) == strip(b[1])
    return x[1:2] == y[1:2]


def reduce(program, driver, devices, seconds):
    verdict = run_programs([program], driver, devices, 10)[program.name]
    if verdict[0] == "pass":
        print("it passes")
        return
    print(f"{verdict[0]} {verdict[1]}", file=sys.stderr)
    word = verdict[1].split()
    if word and "/" in word[0]:
        devices = [word[0].split("/")[0]]
    tries, progress, end = 0, True, time.time() + seconds

    def attempt(candidate):
        nonlocal tries
        tries += 1
        if time.time() > end:
            return False
        try:
            v = run_programs([candidate], driver, devices, 10)[program.name]
        except Exception:
            return False
        return same_failure(verdict, v)

    while progress and tries < 3000:
        progress = False
        at = 0
        while True:
            cuts = edits(program)
            if at >= len(cuts):
                break
            candidate = apply_edit(program, cuts[at])
            if attempt(candidate):
                program, progress = candidate, True
            else:
                at += 1
        again = True
        while again:
            again = False
            for candidate in expression_edits(program):
                if len(candidate.source()) < len(program.source()) and attempt(candidate):
                    program, again, progress = candidate, True, True
                    break
    print(program.source(), end="")
    print("/* " + " ".join(run_programs([program], driver, devices, 10)[program.name]) + " */")
    print("/* " + " ".join(f"{k}={v}" for k, v in program.specs.items()) + f" ({tries} tries) */")


def main(argv=None):
    a = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--build", default="build")
    a.add_argument("--count", type=int, default=300)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--devices", default="ref,cpu")
    a.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    a.add_argument("--driver", help="default: BUILD/tests/fuzz_driver")
    a.add_argument("--reduce", action="store_true", help="shrink the program of --seed")
    a.add_argument("--seconds", type=float, default=600, help="how long --reduce may take")
    a.add_argument("--stencils", action="store_true", help="loops that read around where they stand")
    o = a.parse_args(argv)
    make = stencils.generate if o.stencils else generate.generate
    driver = o.driver or os.path.join(o.build, "tests", "fuzz_driver")
    devices = o.devices.split(",")
    if not os.path.exists(driver):
        print(f"{driver} is missing: build first")
        return 2
    if o.reduce:
        reduce(make(o.seed), driver, devices, o.seconds)
        return 0
    results = {}
    seeds = list(range(o.seed, o.seed + o.count))
    batches = [seeds[i:i + BATCH] for i in range(0, len(seeds), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        work = [pool.submit(lambda b: run_programs([make(s) for s in b], driver,
                                                   devices), b) for b in batches]
        for done, w in enumerate(concurrent.futures.as_completed(work), 1):
            results.update(w.result())
            if sys.stderr.isatty():
                print(f"\r{done * BATCH} programs", end="", file=sys.stderr)
    count = {"pass": 0, "fail": 0, "refused": 0, "crash": 0, "gcc": 0}
    shares, kinks = [], 0
    for name in sorted(results, key=lambda n: int(n[1:])):
        verdict, words = results[name]
        count[verdict] += 1
        if verdict == "pass":
            shares.append(float(re.search(r"share=(\S+)", words).group(1)))
            kinks += "kink" in words
        else:
            print(f"{verdict} seed {name[1:]}: {words}")
    total = len(results)
    accepted = total - count["refused"] - count["gcc"]
    share = sum(shares) / len(shares) if shares else 0
    print(f"fuzz: {total} programs, {count['pass']} passed, {count['fail']} wrong, "
          f"{count['crash']} crashed, {count['refused']} refused "
          f"({100 * accepted / max(1, total):.1f}% accepted, 99% wanted); "
          f"{100 * share:.0f}% of gradients not zero; {kinks} at kinks only")
    wrong = count["fail"] + count["crash"] + count["gcc"]
    return 1 if wrong or accepted < 0.99 * total else 0


if __name__ == "__main__":
    sys.exit(main())
