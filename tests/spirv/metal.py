"""Translates SPIR-V to Metal with each SPIRV-Cross at hand and runs the Metal source on the CPU.

Many kernels are compiled as one C++ file, each in its own namespace, because starting the compiler
costs more than a small kernel does. A kernel is called by four threads, one after another, with
the memory that the caller describes.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


# Interface numbers of SPIRV-Cross's C library, and the versions that `spirv check` speaks of.
INTERFACES = [(54, "1.3.239"), (64, "1.4.304")]


def translators(build=None):
    """[(version, words of a command for a path)]: those of tests/msl where the build has them, else
    the system's spirv-cross; and those that $RETROGRAD_TRANSLATORS names as VERSION=COMMAND,
    separated by ':'."""
    def cli(command):
        return lambda path: [command, "--msl", "--msl-version", "30000", path]

    found = []
    for part in filter(None, os.environ.get("RETROGRAD_TRANSLATORS", "").split(":")):
        version, _, command = part.partition("=")
        found.append((version, cli(command)))
    program = os.path.join(build, "tests", "msl_run") if build else ""
    if found:
        return found
    if os.path.exists(program):
        sys.path.insert(0, os.path.join(HERE, "..", "msl"))
        import translators as msl
        for name in msl.NAMES:
            t = msl.get(build, name)
            if t.why_not:
                print(f"skip translator {name}: {t.why_not}")
                continue
            p = subprocess.run(t.command([program, "--version"]), capture_output=True, text=True)
            m = re.search(r"interface 0\.(\d+)", p.stdout)
            if not m:
                continue
            version = next((v for n, v in INTERFACES if int(m.group(1)) <= n), "1.4.357")
            found.append((version, lambda path, t=t: t.command([program, path, "--text"])))
    elif shutil.which("spirv-cross"):
        found.append((os.environ.get("RETROGRAD_TRANSLATOR_SYSTEM", "system"), cli("spirv-cross")))
    return found


def translate(command, path):
    """(Metal source, None) or (None, why not)."""
    p = subprocess.run(command(path), capture_output=True, text=True, timeout=60)
    if p.returncode != 0 or "kernel void" not in p.stdout:
        return None, (p.stderr.strip().splitlines() or ["no output"])[-1]
    return p.stdout, None


NOT_METAL = re.compile(r"\batomicAdd\(|&\(?reinterpret_cast<device atomic\w+>\(")


# An array type with an operator for each address space, which are all one here: the header has it.
ARRAY = re.compile(r"template<typename T, size_t Num>\nstruct spvUnsafeArray\n\{.*?\n\};\n", re.S)


def wrap(k, source):
    """The kernel in a namespace with a function that calls it with buffers by number."""
    body = "\n".join(l for l in source.splitlines()
                     if not l.startswith(("#include", "#pragma")))
    body = ARRAY.sub("", body)
    m = re.search(r"kernel void (\w+)\((.*?)\)\n\{", body, re.S)
    if not m:
        return None
    calls = []
    for param in re.split(r",\s*(?![^<(]*[>)])", m.group(2)):
        attr = re.search(r"\[\[(\w+)(?:\((\d+)\))?\]\]", param)
        decl = param[:attr.start()].strip()
        what = attr.group(1)
        if what == "buffer":
            ty = decl.rsplit(" ", 1)[0] if "&" in decl else decl
            if "&" in decl:
                ty = decl.split("&")[0].strip()
                calls.append(f"*({ty} *)memory[{attr.group(2)}]")
            else:
                ty = decl.rsplit("*", 1)[0].strip() + " *"
                calls.append(f"({ty})memory[{attr.group(2)}]")
        elif what == "threadgroups_per_grid":
            calls.append("uint3(1, 1, 1)")
        elif what == "thread_position_in_grid":
            calls.append("uint3(thread_, 0, 0)" if "3" in decl else "thread_")
        elif what in ("thread_index_in_threadgroup", "thread_index_in_simdgroup"):
            calls.append("0u")
        else:
            calls.append("uint3(0, 0, 0)")
    return (f"namespace k{k} {{\n{body}\n"
            f"static void call(void **memory, uint thread_) {{ (void)memory, (void)thread_; "
            f"{m.group(1)}({', '.join(calls)}); }}\n}}\n")


def run(jobs, folder=None, sanitize=False):
    """jobs: [(source, setup)]; setup is C++ that fills `void *memory[32]` from static storage and
    prints afterwards: (before, after), or a function that answers it for a source. Returns a line of output, or 'invalid: why', for each."""
    own = folder is None
    folder = folder or tempfile.mkdtemp(prefix="retrograd-metal-")
    results = [None] * len(jobs)
    parts = []
    for k, (source, _) in enumerate(jobs):
        bad = NOT_METAL.search(source)
        part = None if bad else wrap(k, source)
        if part is None:
            results[k] = "invalid: " + (bad.group(0) if bad else "no kernel")
        parts.append(part)
    live = [k for k in range(len(jobs)) if parts[k]]

    def build(ks):
        text = ["#include <metal_stdlib>\n#include <stdio.h>\n#include <stdlib.h>\n"
                "using namespace metal;\n"]
        text += [parts[k] for k in ks]
        for k in ks:
            setup = jobs[k][1]
            before, after = setup(jobs[k][0]) if callable(setup) else setup
            text.append(f"static void job{k}() {{ void *memory[40] = {{0}};\n{before}\n"
                        f"for (uint t = 0; t < 4; t++) k{k}::call(memory, t);\nprintf(\"{k}:\");\n{after}\nputchar('\\n'); fflush(stdout); }}\n")
        text.append("int main(int n, char **from) {\n(void)n;\n"
                    + "".join(f"if (atoi(from[1]) <= {k}) job{k}();\n" for k in ks) + "}\n")
        path = os.path.join(folder, "batch.cpp")
        open(path, "w").write("".join(text))
        exe = os.path.join(folder, "batch")
        p = subprocess.run(["clang++", "-std=c++17", "-O0", "-w", "-ferror-limit=0", "-ffp-contract=off",
                            "-I", os.path.join(HERE, "metal"), path, "-o", exe],
                           capture_output=True, text=True)
        return exe, p, "".join(text)

    for _ in range(3):
        if not live:
            break
        exe, p, text = build(live)
        if p.returncode == 0:
            first = 0
            while first is not None:  # one that dies does not take the others with it
                out = subprocess.run([exe, str(first)], capture_output=True, text=True, timeout=60)
                for line in out.stdout.splitlines():
                    k, _, value = line.partition(":")
                    results[int(k)] = value.strip()
                dead = [k for k in live if results[k] is None]
                first = None
                if out.returncode != 0 and dead:
                    results[dead[0]] = "invalid: died"
                    first = dead[0] + 1
            break
        # Kernels with errors are found by the lines of their namespaces, and left out.
        lines = text.split("\n")
        where, at = {}, None
        for n, l in enumerate(lines, 1):
            m = re.match(r"namespace k(\d+) \{|static void job(\d+)", l)
            if m:
                at = int(m.group(1) or m.group(2))
            where[n] = at
        broken = {}
        for m in re.finditer(r"batch\.cpp:(\d+):\d+: (?:fatal )?error: (.*)", p.stderr):
            broken.setdefault(where.get(int(m.group(1))), m.group(2))
        if not broken or None in broken:
            raise RuntimeError(p.stderr[:2000])
        for k, why in broken.items():
            results[k] = "invalid: " + why
        live = [k for k in live if k not in broken]
    for k in range(len(jobs)):
        if results[k] is None:
            results[k] = "invalid: died"
    if own:
        shutil.rmtree(folder, ignore_errors=True)
    return results
