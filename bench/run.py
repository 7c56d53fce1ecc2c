#!/usr/bin/env python3
"""Builds and runs the benchmark (docs/benchmarks.md).

    python3 bench/run.py --build build [--json] [--case NAME] [--threads 1|2] [--seconds S]

What is not --build is handed to build/bench/bench.
"""
import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description="Retrograd's benchmark", allow_abbrev=False)
    parser.add_argument("--build", default="build", help="meson's build folder")
    args, rest = parser.parse_known_args()
    here = os.path.dirname(os.path.abspath(__file__))
    made = subprocess.run(["ninja", "-C", args.build, "bench/bench"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        sys.stderr.write(made.stdout)
        sys.stderr.write("bench: cannot be built (it needs a C compiler with OpenMP)\n")
        return 1
    env = dict(os.environ)
    # OpenMP's threads spin after their work; here the other side wants the cores within 3 ms.
    env.setdefault("GOMP_SPINCOUNT", "10000")
    env.setdefault("OMP_DYNAMIC", "false")
    return subprocess.run([os.path.join(args.build, "bench", "bench"), "--dir", here] + rest,
                          env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
