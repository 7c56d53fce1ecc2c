#!/usr/bin/env python3
"""Runs a compute kernel of a SPIR-V module as Metal would, on the CPU: translated to Metal by
SPIRV-Cross as MoltenVK does, compiled by clang++ with a stand-in for <metal_stdlib>, its threads
emulated.

    run_msl.py [--build DIR] [--translators NAME,NAME|all] MODULE.spv OPTIONS...

The translators are system (default), debian13 and sid; the last two are fetched once, if they can
be. For each, what the kernel did is printed under a line `== NAME`. Exit status: 0 when all of them
ran, 1 when one failed, 3 when one is not to be had.

OPTIONS, which may be repeated where that makes sense:

  --entry NAME            the entry point (default: the only one)
  --memory NAME=ITEM,...  memory: each ITEM is TYPE:VALUE, TYPE*COUNT:VALUE, pad:BYTES, or &OTHER or
                          &OTHER+BYTES, the address of other memory. TYPE: i8 u8 i16 u16 i32 u32 i64
                          u64 f32 f64; items are aligned as in C
  --bind SET.BINDING=NAME binds memory; push=NAME the push constants
  --print NAME[:TYPE]     prints memory afterwards, as TYPE (default f32): NAME v0 v1 ...
  --groups N              threadgroups (default 1); their size is the module's
  --simd N                threads of a simdgroup (default 32)
  --text                  prints the Metal source
  --version               prints the version of the translator
  --slots                 prints slots=N, the buffer slots that it takes
  --argument-buffers      through Metal argument buffers
  --ios, --msl-version N  other options of the translation (20300: 2.3)
With no --bind the kernel is translated, not run.

Example: y[i] = x[i]^2 with the addresses of x and y in a block {n, x, y}:

    run_msl.py square.spv --memory 'args=i32:3,pad:4,&x,&y' --memory x=f32:1,f32:2,f32:3 \\
        --memory y=f32*3:0 --bind 0.0=args --print y

$RETROGRAD_MSL_KEEP=1 keeps the compiled source and says where.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import translators  # noqa: E402


def run(build, translator, words, seconds=120):
    """(status, stdout, stderr) of msl_run with those words."""
    program = os.path.join(os.path.abspath(build), "tests", "msl_run")
    r = subprocess.run(translator.command([program] + list(words)), capture_output=True, text=True,
                       errors="replace", timeout=seconds)
    return r.returncode, r.stdout, r.stderr


def main(argv):
    build, names, words = os.path.join(HERE, "..", "..", "build"), ["system"], []
    at = 0
    while at < len(argv):
        w = argv[at]
        if w in ("--help", "-h"):
            print(__doc__.strip())
            return 0
        if w in ("--build", "--translators") and at + 1 < len(argv):
            at += 1
            if w == "--build":
                build = argv[at]
            else:
                names = translators.NAMES if argv[at] == "all" else argv[at].split(",")
        else:
            words.append(w)
        at += 1
    unknown = [n for n in names if n not in translators.NAMES]
    if unknown or not words:
        print(f"run_msl.py: unknown translator {unknown[0]}" if unknown else
              "run_msl.py: a SPIR-V module is wanted; see --help", file=sys.stderr)
        return 2
    worst = 0
    for n in names:
        t = translators.get(build, n)
        print(f"== {n}")
        if t.why_not:
            print(f"skipped: {t.why_not}")
            worst = max(worst, 3)
            continue
        status, out, err = run(build, t, words)
        sys.stdout.write(out)
        sys.stdout.flush()
        sys.stderr.write(err)
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
