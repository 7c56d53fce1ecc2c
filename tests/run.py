#!/usr/bin/env python3
"""Runs all tests. Needs nothing but Python, cc and the build.

    tests/run.py [--build DIR] [--sanitized] [--jobs N] [--fuzz N] [FILTER...]

A test's name is SUITE/NAME, the suites being unit, cli, errors, kernels, checks, msl, spirv, vulkan,
fuzz and wrong; only tests whose name contains one of the FILTERs are run. A failure is one line with what
is wrong and one with what to run to see it again. The last line is `N passed, N failed[, N skipped]`.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "kernels"))
import kernels  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "msl"))
import suite as msl  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "spirv"))
import repair_suite  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "vulkan"))
import vulkan_suite as vulkan  # noqa: E402


class Suite:
    def __init__(self, name):
        self.name, self.passed, self.failed, self.skipped, self.seconds = name, 0, 0, 0, 0.0


class Runner:
    def __init__(self, options):
        self.o = options
        self.build = os.path.abspath(options.build)
        self.tool = os.path.join(self.build, "retrograd")
        self.suites, self.jobs = {}, []
        self.lock = threading.Lock()
        self.work = tempfile.mkdtemp(prefix="retrograd-tests-")

    def wanted(self, name):
        return not self.o.filters or any(f in name for f in self.o.filters)

    def suite(self, name):
        return self.suites.setdefault(name, Suite(name))

    def add(self, suite, name, job):
        if self.wanted(f"{suite}/{name}"):
            self.suite(suite)
            self.jobs.append((suite, name, job))

    def passed(self, suite, n=1):
        with self.lock:
            self.suites[suite].passed += n

    def failed(self, suite, name, what, command=None, n=1):
        with self.lock:
            self.suites[suite].failed += n
            print(f"FAIL {suite}/{name}: {what}")
            if command:
                print("     " + (command if isinstance(command, str) else shlex.join(command)))
            sys.stdout.flush()

    def skipped(self, suite, name, why):
        with self.lock:
            self.suite(suite).skipped += 1
            print(f"skip {suite}/{name}: {why}")

    def run(self, command, seconds=600, cwd=None, env=None):
        """(status, stdout, stderr) with a cache of its own: every test runs cold."""
        cache = tempfile.mkdtemp(dir=self.work)
        full = {**os.environ, "RETROGRAD_CACHE": cache, **(env or {})}
        try:
            r = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=cwd,
                               timeout=seconds, env=full)
            return r.returncode, r.stdout, r.stderr
        except subprocess.TimeoutExpired:
            return -1, "", f"no end after {seconds} s"
        finally:
            shutil.rmtree(cache, ignore_errors=True)

    # ---- suites ----

    def unit(self):
        found = sorted(glob.glob(os.path.join(self.build, "tests", "unit_test_*")))
        programs = [p for p in found if os.path.isfile(p) and os.access(p, os.X_OK)]
        if not programs:
            self.skipped("unit", "all", "no unit tests were built: is cmocka installed?")
        for program in programs:
            name = os.path.basename(program)[len("unit_test_"):]
            self.add("unit", name, lambda p=program, n=name: self.unit_one(p, n))

    def unit_one(self, program, name):
        status, out, err = self.run([program], cwd=ROOT)
        text = out + err
        good = len(re.findall(r"(?m)^\[       OK \]", text))
        bad = sorted(set(re.findall(r"(?m)^\[  FAILED  \] (\w+)$", text)))
        self.passed("unit", good)
        for skipped in sorted(set(re.findall(r"(?m)^\[  SKIPPED \] (\w+)$", text))):
            self.skipped("unit", f"{name}/{skipped}", "what it needs is not here (its own output says what)")
        if bad:
            why = re.findall(r"(?m)^(?:\[  ERROR   \] --- )(.*)$", text)
            self.failed("unit", name, f"{' '.join(bad)}: {' / '.join(why)[:300]}", program,
                        len(bad))
        elif status != 0 or good == 0:
            self.failed("unit", name, f"status {status}: {last_words(text)}", program)

    def cli(self):
        for script in sorted(glob.glob(os.path.join(HERE, "cli", "*.sh"))):
            name = os.path.splitext(os.path.basename(script))[0]
            self.add("cli", name, lambda s=script, n=name: self.cli_one(s, n))

    def cli_one(self, script, name):
        command = ["sh", script, self.tool]
        status, out, err = self.run(command, 600)
        good = len(re.findall(r"(?m)^ok\b", out))
        bad = re.findall(r"(?m)^FAIL\b:? *(.*)$", out)
        self.passed("cli", good)
        for b in bad:
            self.failed("cli", name, b, command)
        if not bad and (status != 0 or good == 0):
            self.failed("cli", name, f"status {status}: {last_words(out + err)}", command)

    def errors(self):
        for path in sorted(glob.glob(os.path.join(HERE, "errors", "*.c"))):
            name = os.path.splitext(os.path.basename(path))[0]
            self.add("errors", name, lambda p=path, n=name: self.error_one(p, n))

    def error_one(self, path, name):
        with open(path) as f:
            text = f.read()
        want = [" ".join(w.split()) for w in re.findall(r"/\*\s*expect:\s*(.*?)\s*\*/", text, re.S)]
        args = re.search(r"/\*\s*args:\s*(.*?)\s*\*/", text)
        command = [self.tool, "emit", path] + (shlex.split(args.group(1)) if args else
                                               ["--target", "ir"])
        status, out, err = self.run(command)
        got = []
        for line in err.split("\n"):
            m = re.match(re.escape(path) + r":(\d+:\d+: (?:error|warning|note): .*)$", line)
            if m:
                got.append(" ".join(m.group(1).split()))
            elif line.startswith("    way out: "):
                got.append(" ".join(line.split()))
        got_errors = [g for g in got if ": error: " in g]
        missing = [w for w in want if w not in got]
        extra = [g for g in got_errors if g not in want]
        if missing or extra:
            self.failed("errors", name, f"wanted {missing}, got {extra or last_words(err)}", command)
        elif status != 2 and any(": error: " in w for w in want):
            self.failed("errors", name, f"exit status {status}, wanted 2", command)
        else:
            self.passed("errors")

    def kernels(self):
        examples = [kernels.Kernel(p) for p in sorted(glob.glob(os.path.join(ROOT, "examples", "*.c")))]
        for k in kernels.load() + examples:
            for device in self.devices:
                if k.devices and device.tool_name not in k.devices:
                    continue
                for real in ("float", "double"):
                    name = f"{k.name}/{device.name}/{real}"
                    self.add("kernels", name,
                             lambda k=k, d=device, r=real, n=name: self.kernel_one(k, d, r, n))
            for device in [vulkan.Device("ref")] + [d for d in self.devices if d.is_vulkan]:
                for i, args in enumerate(k.checks):
                    if device.is_vulkan and i in k.in_order:
                        continue
                    name = f"{k.name}/{i}" + (f"/{device.name}" if device.is_vulkan else "")
                    self.add("checks", name,
                             lambda k=k, a=args, d=device, n=name: self.check_one(k, a, d, n))

    def kernel_one(self, k, device, real, name):
        path = os.path.relpath(k.path)
        shown = lambda c: vulkan.shown(c, device)
        left_out = None
        commands = [(run, c) for run in k.runs
                    for c in run.commands(self.tool, path, device.tool_name, real)]
        for run, command in commands:
            status, out, err = vulkan.run(self, command, device)
            command = shown(command)
            if device.is_vulkan and "--checked" in run.options:
                if status == 0 or "checked" not in err:
                    self.failed("kernels", name, "checked mode is for cpu and ref, and was taken",
                                command)
                    return
                continue
            if status != 0 and run.long_loops and device.ends_loops and \
                    "the driver ended a long loop" in err:
                left_out = "not on llvmpipe: loops of more than 65,535 iterations, and it says so"
                continue
            if status != 0:
                self.failed("kernels", name, last_words(err), command)
                return
            got = kernels.parse_output(out)
            for e in run.expects:
                if e.name not in got:
                    self.failed("kernels", name, f"{e.name} is not in the output", command)
                    return
                wrong = kernels.differs(got[e.name], kernels.evaluate(e, run),
                                        kernels.tolerance(e, real))
                if wrong:
                    self.failed("kernels", name, f"line {e.line}: {e.name}{wrong}", command)
                    return
        for line, text in k.refusals:
            run = k.runs[0]
            command = [self.tool, "run", path, run.kernel] + \
                [f"{a}={v}" for a, v in run.values.items()] + \
                ["-D", f"REAL={real}", "--device", device.tool_name, "--mode", "adjoint"]
            status, out, err = vulkan.run(self, command, device)
            command = shown(command)
            if status == 0 or f"{os.path.basename(path)}:{line}:" not in err or text not in err:
                self.failed("kernels", name, f"wanted a refusal at line {line} saying '{text}', "
                            f"got status {status}: {last_words(err)}", command)
                return
        if left_out:
            self.skipped("kernels", name, left_out)
        else:
            self.passed("kernels")

    def check_one(self, k, args, device, name):
        command = [self.tool, "check", os.path.relpath(k.path)] + shlex.split(args) + \
            ["--device", device.tool_name]
        status, out, err = vulkan.run(self, command, device)
        command = vulkan.shown(command, device)
        if status == 0 and re.search(r"(?m)^[1-9]\d* passed, 0 failed", out):
            self.passed("checks")
        else:
            rows = [l for l in out.split("\n") if re.search(r"\bfail", l, re.I)]
            self.failed("checks", name, " | ".join(rows[:3]) or last_words(err or out), command)

    def fuzz(self):
        """Random programs, right ones and wrong ones: of either a few hundred."""
        count = self.o.fuzz if self.o.fuzz is not None else 50 if self.o.sanitized else 300
        first = 1
        on_host = [d for d in self.devices if not d.is_vulkan]
        if self.wanted("fuzz") and on_host and count:
            self.fuzz_on(",".join(d.name for d in on_host), on_host[0], first, count)
            if any(d.name == "cpu" for d in on_host):
                self.fuzz_on("cpu+checked", on_host[0], 100001, count // 6 + 1)
            self.fuzz_on(",".join(d.name for d in on_host), on_host[0], 1, count // 5 + 1,
                         ["--stencils"])
        # A driver compiles each program for seconds: other programs in each mode, and few.
        for device in [d for d in self.devices if d.is_vulkan and self.wanted("fuzz")]:
            some = min(count, 4) if self.o.sanitized else (count + 19) // 20
            if some:
                self.fuzz_on("vulkan", device, first, some)
            first += some
        if self.wanted("wrong") and count:
            self.fuzz_wrong(count)

    def fuzz_on(self, names, device, seed, count, more=()):
        s = self.suite("fuzz")
        begun = time.time()
        command = [sys.executable, os.path.join(HERE, "fuzz", "fuzz.py"), "--build", self.build,
                   "--count", str(count), "--jobs", str(self.o.jobs), "--devices", names, *more]
        status, out, err = vulkan.run(self, command + ["--seed", str(seed)], device, 1200)
        shown = lambda c: vulkan.shown(c, device)
        s.seconds += time.time() - begun

        m = re.search(r"(?m)^fuzz: (\d+) programs, (\d+) passed, (\d+) wrong, (\d+) crashed, "
                      r"(\d+) refused", out)
        if not m or (device.is_vulkan and err.startswith("error: the validation layer")):
            self.failed("fuzz", "run", f"status {status}: {last_words(out + err)}", shown(command))
            return
        passed = int(m.group(2))
        self.passed("fuzz", passed)
        for line in out.split("\n"):
            f = re.match(r"(pass|fail|refused|crash|gcc) seed (\d+): (.*)$", line)
            if f:
                again = command[:4] + ["--devices", names, "--seed", f.group(2), *more, "--reduce"]
                self.failed("fuzz", f"seed {f.group(2)}", f"{f.group(1)} {f.group(3)[:300]}",
                            shown(again))
        print(f"{device.name}: " * device.is_vulkan +
              [l for l in out.split("\n") if l.startswith("fuzz: ")][0])

    def fuzz_wrong(self, count):
        s = self.suite("wrong")
        command = [sys.executable, os.path.join(HERE, "fuzz", "wrong.py"), "--build", self.build]
        begun = time.time()
        status, out, err = self.run(command + ["--count", str(count), "--jobs", str(self.o.jobs)],
                                    1200)
        s.seconds += time.time() - begun
        m = re.search(r"(?m)^wrong programs: (\d+), (\d+) refused, (\d+) accepted, (\d+) badly", out)
        if not m:
            self.failed("wrong", "run", f"status {status}: {last_words(out + err)}", command)
            return
        self.passed("wrong", int(m.group(2)) + int(m.group(3)))
        for line in out.split("\n"):
            f = re.match(r"(\w+) seed (\d+): (.*)$", line)
            if f:
                self.failed("wrong", f"seed {f.group(2)}", f"{f.group(1)} {f.group(3)[:300]}",
                            command + ["--seed", f.group(2), "--reduce"])
        print([l for l in out.split("\n") if l.startswith("wrong programs: ")][0])

    # ---- all of it ----

    def main(self):
        begun = time.time()
        try:
            if not os.path.exists(self.tool):
                print(f"{self.tool} is missing: run make first\n0 passed, 1 failed")
                return 1
            self.devices = vulkan.devices(self)
            self.unit()
            self.cli()
            self.errors()
            self.kernels()
            vulkan.add(self, self.devices)
            msl.add(self)
            repair_suite.add(self)

            def timed(job):
                suite, name, call = job
                start = time.time()
                try:
                    call()
                except Exception as e:  # a fault of the test itself
                    self.failed(suite, name, f"the test itself failed: {e!r}")
                with self.lock:
                    self.suites[suite].seconds += time.time() - start
            # the long ones first
            order = {"cli": 0, "checks": 1, "unit": 2, "kernels": 3, "errors": 4}
            self.jobs.sort(key=lambda j: order.get(j[0], 5))
            with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
                list(pool.map(timed, self.jobs))
            self.fuzz()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        passed = failed = skipped = 0
        for s in self.suites.values():
            print(f"{s.name}: {s.passed} passed, {s.failed} failed"
                  + (f", {s.skipped} skipped" if s.skipped else "") + f" ({s.seconds:.0f} s)")
            passed, failed, skipped = passed + s.passed, failed + s.failed, skipped + s.skipped
        if passed + failed == 0:
            print("no test has such a name")
            failed = 1
        print(f"in {time.time() - begun:.0f} s on {self.o.jobs} cores")
        print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
        return 1 if failed else 0


def last_words(text):
    lines = [l.strip() for l in text.split("\n") if l.strip()]
    errors = [l for l in lines if "error" in l.lower()]
    return " | ".join((errors or lines[-3:])[:3])[:400] or "(no words)"


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--sanitized", action="store_true", help="a slow build: fewer random programs")
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    p.add_argument("--fuzz", type=int, help="number of random programs (default 300)")
    p.add_argument("--devices", type=lambda s: s.split(","),
                   help="default ref,cpu,vulkan; with --sanitized ref,cpu")
    p.add_argument("filters", nargs="*")
    options = p.parse_args()
    if not options.devices:
        options.devices = ["ref", "cpu"] + ["vulkan"] * (not options.sanitized)
    return Runner(options).main()


if __name__ == "__main__":
    sys.exit(main())
