"""The tests of run.py as a suite of tests/run.py: spirv/GROUP."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = ["bad", "GLSL", "HLSL", "OpenCL", "naive", "bound", "narrow", "layer", "large", "mutation",
          "random", "shapes"]


def add(runner):
    for group in GROUPS:
        runner.add("spirv", group, lambda g=group: run(runner, g))


def run(runner, group):
    command = [sys.executable, os.path.join(HERE, "run.py"), "--build", runner.build, "--tool",
               runner.tool, group] + (["--sanitized"] if runner.o.sanitized else [])
    p = subprocess.run(command, capture_output=True, text=True)
    m = re.search(r"(\d+) passed, (\d+) failed, (\d+) skipped\s*$", p.stdout)
    if not m:
        runner.failed("spirv", group, (p.stderr or p.stdout)[-400:], command)
        return
    passed, failed, skipped = map(int, m.groups())
    runner.passed("spirv", passed)
    lines = p.stdout.splitlines()
    if not passed + failed + skipped or (p.returncode and not any(l.startswith("FAIL ") for l in lines)):
        runner.failed("spirv", group, f"status {p.returncode}: {m.group(0).strip()}", command)
    for line in lines:
        if line.startswith("FAIL "):
            runner.failed("spirv", group, line[5:300], command)
        elif line.startswith("skip "):
            runner.skipped("spirv", group, line[5:300])
