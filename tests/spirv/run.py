#!/usr/bin/env python3
"""The repair of SPIR-V, on modules that nobody here wrote: before, the translated Metal source is
run on the CPU and found wrong where `spirv check` says so; after `spirv fix` it is right, on every
SPIRV-Cross at hand.

    run.py [--build DIR] [--tool RETROGRAD] [GROUP...]

Modules: all shapes of shapes.py; GLSL and HLSL through glslang, as compiled and after spirv-opt -O;
OpenCL C through clang and llvm-spirv; our own emitter with its order rule switched off; random
shaders ($RETROGRAD_RANDOM="FIRST COUNT"); broken modules ($RETROGRAD_MUTATIONS="SHARE COUNT", see
mutate.c); modules of 2 MB. What needs a tool that is not there is skipped by name. The last line is `N passed, N failed, N skipped`.
"""
import argparse
import concurrent.futures as cf
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bound
import metal
import robust
import shapes

passed, failed, skipped = 0, [], []
NAMES = {"1.3.239", "1.4.304", "1.4.357"}


def ok(name, condition, why=""):
    global passed
    if condition:
        passed += 1
    else:
        failed.append(name)
        print(f"FAIL {name}: {why}")


def skip(what):
    skipped.append(what)
    print(f"skip {what}")


def tool(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


# ---- memory of the kernels, and what they ought to leave in it ----

START = {"x": [1, 2, 3, 4], "xg": [0, 10, 20, 30], "y": [100, 101, 102, 103], "yg": [5, 6, 7, 8]}
PRINT = ("float *all[4] = {x, xg, y, yg}; for (float *p : all) "
         "for (int i = 0; i < 4; i++) printf(\" %g\", p[i]);")
FILL = ("static float x[4], xg[4], y[4], yg[4]; for (int i = 0; i < 4; i++) "
        "{ x[i] = i + 1; xg[i] = 10 * i; y[i] = 100 + i; yg[i] = 5 + i; }"
        "static uint64_t a[16]; int *ai = (int *)a; unsigned *au = (unsigned *)a;"
        "(void)ai, (void)au;")


def shape_setup(shape, kind):
    before, after = FILL, PRINT
    if shape in ("u64ubo", "u64ssbo", "ptrubo", "ptrssbo", "uvec2ubo"):
        before += ("ai[0] = 4; ai[8] = 4; a[2] = (uint64_t)x; a[3] = (uint64_t)xg; "
                   "a[6] = (uint64_t)y; a[7] = (uint64_t)yg; memory[0] = a;")
    elif shape == "table":
        before += ("static uint64_t t[4]; t[0] = (uint64_t)x; t[1] = (uint64_t)xg; "
                   "t[2] = (uint64_t)y; t[3] = (uint64_t)yg; ai[0] = 4; ai[8] = 4; au[4] = 0; "
                   "au[5] = 1; au[12] = 2; au[13] = 3; memory[0] = a; memory[1] = t;")
    elif shape == "rootpc":
        before += ("static uint64_t t[5]; t[0] = 4; t[1] = (uint64_t)x; t[2] = (uint64_t)xg; "
                   "t[3] = (uint64_t)y; t[4] = (uint64_t)yg; a[0] = (uint64_t)t; memory[0] = a;")
    elif shape == "arena":
        before += ("static float A[16]; memcpy(A, x, 16); memcpy(A + 4, xg, 16); "
                   "memcpy(A + 8, y, 16); memcpy(A + 12, yg, 16); ai[0] = 4; ai[8] = 4; "
                   "au[4] = 0; au[5] = 4; au[12] = 8; au[13] = 12; memory[0] = a; memory[1] = A; "
                   "memory[2] = A;")
        after = ("memcpy(x, A, 16); memcpy(xg, A + 4, 16); memcpy(y, A + 8, 16); "
                 "memcpy(yg, A + 12, 16);") + after
    else:  # bound: a translator may number only the buffers that are used
        slots = "x, y, y" if kind == "fwd" else "x, xg, yg"
        before += (f"ai[0] = 4; ai[8] = 4; memory[0] = a; float *s[] = {{{slots}}}; "
                   "for (unsigned i = 0; i < sizeof s / sizeof *s; i++) memory[i + 1] = s[i];")
    return before, after


def text(m):
    return " ".join("%g" % v for k in ("x", "xg", "y", "yg") for v in m[k])


def shape_expected(kind):
    m = {k: list(v) for k, v in START.items()}
    for i in range(4):
        if kind == "fwd":
            m["y"][i] = m["x"][i] ** 2
        elif kind == "clr1":
            t, m["x"][i] = m["x"][i], 0
            m["y"][i] = t * t
        elif kind == "copy2":
            m["yg"][i] = m["xg"][i] ** 2
        else:
            j = i if kind == "rev" else 0
            g = m["yg"][j]
            if kind == "rev":
                m["yg"][j] = 0
            m["xg"][i] += 2 * m["x"][i] * g
    return text(m)


BLOCK = (FILL + "a[0] = (uint64_t)x; a[1] = (uint64_t)xg; a[2] = (uint64_t)y; "
         "a[3] = (uint64_t)yg; memory[0] = a;", PRINT)


def glsl_expected(name):
    m = {k: [float(e) for e in v] for k, v in START.items()}
    x, xg, y, yg = (m[k] for k in ("x", "xg", "y", "yg"))
    count = None
    for i in range(4):
        if name in ("overwrite", "address64", "coherent"):
            g, yg[i] = yg[i], 0.0
            xg[i] += 2 * x[i] * g
        elif name == "loop":
            g = yg[i]
            for k in range(3):
                yg[i] = float(k)
                xg[i] += g
        elif name == "branch":
            g = yg[i]
            if i > 0:
                yg[i] = 0.0
            xg[i] += g
        elif name == "call":
            xg[i], yg[i] = yg[i], 0.0
            x[i] = 0.0
        elif name == "atomic":
            g = yg[0]
            yg[0] += 1
            xg[i] += g
        elif name == "clean":
            xg[i] += x[i] * yg[i]
        elif name == "sums":
            s = yg[i]
            yg[i] = 1.0
            xg[i] = s + s * s
        elif name == "chain":
            s = y[int(x[i]) & 3]
            x[i] = 0.0
            y[3] += s
    if name == "swap":
        y[:], yg[:] = yg[:], y[:]
        x[:], xg[:] = xg[:], x[:]
    return text(m)


# ---- before and after ----

class Module:
    def __init__(self, name, path, setup, expected, bits=None):
        self.name, self.path, self.setup, self.expected = name, path, setup, expected
        self.bits = bits  # y[0] counts in bits: not printed as a number
        self.fixed = path + ".fixed"


def repair(retrograd, m, env):
    """Checks, fixes and validates; remembers which translators have been named."""
    rc, out, err = tool(retrograd, "spirv", "check", m.path, "--json")
    if rc not in (0, 1):
        return f"check answers {rc}: {err}"
    m.findings = json.loads(out)["findings"]
    if (rc == 1) != bool(m.findings):
        return f"check answers {rc} with {len(m.findings)} findings"
    m.named = {v for f in m.findings for v in f["translators"]}
    left = any(not f["fixable"] for f in m.findings)
    rc, _, err = tool(retrograd, "spirv", "fix", m.path, "-o", m.fixed)
    if rc != (1 if left else 0):
        return f"fix answers {rc}: {err}"
    before, after = open(m.path, "rb").read(), open(m.fixed, "rb").read()
    if not m.findings and before != after:
        return "a clean module was changed"
    rc, _, err = tool(retrograd, "spirv", "fix", m.fixed, "-o", m.fixed + ".again")
    again = open(m.fixed + ".again", "rb").read()
    os.remove(m.fixed + ".again")
    if again != after:
        return "a second fix changes the module"
    if shutil.which("spirv-val"):
        rc, out, err = tool("spirv-val", "--target-env", env, m.fixed)
        if rc:
            return "spirv-val: " + (out + err).strip()
    return None


def run_all(group, retrograd, modules, folder, env="vulkan1.1"):
    with cf.ThreadPoolExecutor(2) as pool:
        for m, why in zip(modules, pool.map(lambda m: repair(retrograd, m, env), modules)):
            ok(f"{group} {m.name}: checked, fixed, valid, fixed once", why is None, why)
            m.bad = why is not None
    modules = [m for m in modules if not m.bad]
    wrong_before = 0
    for version, command in translators:
        with cf.ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda p: metal.translate(command, p),
                                  [p for m in modules for p in (m.path, m.fixed)]))
        jobs, where = [], []
        answers = [None if s else "refused: " + why for s, why in texts]
        for k, (source, _) in enumerate(texts):
            if source:
                jobs.append((source, modules[k // 2].setup))
                where.append(k)
        for at in range(0, len(jobs), 150):
            for k, line in zip(where[at:at + 150], metal.run(jobs[at:at + 150], folder)):
                answers[k] = line
        for k, m in enumerate(modules):
            was, now = answers[2 * k], answers[2 * k + 1]
            unfixable = {v for f in m.findings if not f["fixable"] for v in f["translators"]}
            if was != m.expected:
                wrong_before += 1
                ok(f"{group} {m.name}: named for {version}",
                   version not in NAMES or version in m.named, f"not named, but: {was}")
            if version not in unfixable:
                ok(f"{group} {m.name}: right on {version} after the fix", now == m.expected,
                   f"{now}, not {m.expected}")
    print(f"{group}: {len(modules)} modules, {wrong_before} wrong translations before")
    if modules and translators:
        ok(f"{group}: something was wrong before", wrong_before > 0 or group == "HLSL")


def shapes_group(retrograd, folder):
    if not shutil.which("spirv-as"):
        return skip("shapes: no spirv-as")
    names = shapes.write_all(folder)

    def assemble(name):
        path = os.path.join(folder, name + ".spv")
        rc, _, err = tool("spirv-as", "--target-env", "vulkan1.1",
                          os.path.join(folder, name + ".spvasm"), "-o", path)
        return None if rc else path

    with cf.ThreadPoolExecutor(2) as pool:
        paths = list(pool.map(assemble, names))
    ok("shapes assemble", None not in paths)
    modules = []
    for name, path in zip(names, paths):
        shape, kind, _, _ = name.split(".")
        modules.append(Module(name, path, shape_setup(shape, kind), shape_expected(kind)))
    run_all("shapes", retrograd, modules, folder)
    left = [m.name for m in modules if not all(f["fixable"] for f in m.findings)]
    ok("shapes: all can be fixed", not left, left)


def glsl_group(retrograd, folder):
    if not shutil.which("glslangValidator"):
        return skip("GLSL: no glslangValidator")
    modules = []
    for f in sorted(os.listdir(os.path.join(HERE, "glsl"))):
        name = f[:-5]
        plain = os.path.join(folder, name + ".spv")
        rc, out, err = tool("glslangValidator", "-g", "-V", "--target-env", "vulkan1.1",
                            os.path.join(HERE, "glsl", f), "-o", plain)
        ok(f"GLSL {name} compiles", rc == 0, out + err)
        setup = BLOCK
        if name == "atomic":  # y[0] counts in integers
            setup = (BLOCK[0] + "memset(y, 0, 4);",
                     "x[3] = x[3] + (*(unsigned *)y == 10 ? 0 : 1000); y[0] = 100;" + PRINT)
        modules.append(Module(name, plain, setup, glsl_expected(name)))
        if shutil.which("spirv-opt"):
            path = os.path.join(folder, name + ".opt.spv")
            ok(f"GLSL {name} optimises", tool("spirv-opt", "-O", plain, "-o", path)[0] == 0)
            modules.append(Module(name + " after spirv-opt -O", path, setup, glsl_expected(name)))
    run_all("GLSL", retrograd, modules, folder)
    lines = [f for m in modules if m.name.startswith("call") for f in m.findings]
    ok("GLSL: source lines are named", all(f["source"] and f["line"] for f in lines), lines)


def hlsl_group(retrograd, folder):
    """HLSL through Debian's glslang has no buffer addresses: nothing to find, nothing changed."""
    if not shutil.which("glslangValidator"):
        return skip("HLSL: no glslangValidator")
    path = os.path.join(folder, "hlsl.spv")
    rc, out, err = tool("glslangValidator", "-D", "-V", "-S", "comp", "-e", "main",
                        "--target-env", "vulkan1.1", os.path.join(HERE, "hlsl", "overwrite.hlsl"),
                        "-o", path)
    ok("HLSL compiles", rc == 0, out + err)

    def setup(source):
        """Translators number the buffers in their own ways."""
        slots = re.findall(r"& (x|x_grad|y_grad)(?:_\d+)? \[\[buffer\((\d)\)\]\]", source)
        names = {"x": "x", "x_grad": "xg", "y_grad": "yg"}
        return FILL + "".join(f"memory[{n}] = {names[v]};" for v, n in slots), PRINT

    run_all("HLSL", retrograd, [Module("overwrite", path, setup, glsl_expected("overwrite"))], folder)
    ok("HLSL: nothing found", tool(retrograd, "spirv", "check", path)[0] == 0)


def opencl_group(retrograd, folder):
    translator = next((t for t in ("llvm-spirv-14", "llvm-spirv-15", "llvm-spirv")
                       if shutil.which(t)), None)
    if not translator or not shutil.which("clang"):
        return skip("OpenCL C: no clang with llvm-spirv")
    bitcode, path = os.path.join(folder, "cl.bc"), os.path.join(folder, "cl.spv")
    rc, out, err = tool("clang", "-target", "spir64", "-cl-std=CL1.2", "-Xclang",
                        "-finclude-default-header", "-O1", "-emit-llvm", "-c", "-o", bitcode,
                        os.path.join(HERE, "opencl", "overwrite.cl"))
    if rc:
        return skip("OpenCL C: clang has no OpenCL headers")
    rc, out, err = tool(translator, bitcode, "-o", path)
    ok("OpenCL C compiles", rc == 0, out + err)
    rc, out, _ = tool(retrograd, "spirv", "check", path, "--json")
    faults = {f["fault"] for f in json.loads(out)["findings"]}
    ok("OpenCL C: a kernel is no shader", rc == 1 and faults == {"not-metal"}, out)
    fixed = path + ".fixed"
    rc, _, _ = tool(retrograd, "spirv", "fix", path, "-o", fixed)
    ok("OpenCL C: left as it is", rc == 1 and open(path, "rb").read() == open(fixed, "rb").read())


def naive_group(retrograd, folder):
    """Our own emitter with its order rule off (a device of test builds): repaired, it is right."""
    device = os.path.join(options.build, "tests", "retrograd_msl")
    if not os.path.exists(device) or not translators:
        return skip("our emitter without its order rule: no tests/retrograd_msl")
    source = os.path.join(HERE, "..", "msl", "naive.c")
    command = [device, "run", source, "square", "n=4", "x=1,2,3,4", "y=zeros", "--mode", "adjoint",
               "--grad", "y=ones", "--out", "x.grad=-", "--device", "msl-naive"]
    env = {**os.environ, "RETROGRAD_CACHE": ""}
    right = "x.grad [4] 2.0 4.0 6.0 8.0"
    was = subprocess.run(command, capture_output=True, text=True, env=env)
    env["RETROGRAD_MSL_FIX"] = "1"
    now = subprocess.run(command, capture_output=True, text=True, env=env)
    ok("naive: wrong before", was.returncode != 0 or numbers(was.stdout) != numbers(right),
       was.stdout + was.stderr)
    ok("naive: right after", numbers(now.stdout) == numbers(right), now.stdout + now.stderr)


class Kit:
    """What groups in files of their own use of this one."""

    def __init__(self, retrograd):
        self.ok, self.skip, self.tool, self.names = ok, skip, tool, NAMES
        self.retrograd, self.build, self.translators = retrograd, options.build, translators
        self.sanitized = options.sanitized

    def check(self, path):
        rc, out, err = tool(self.retrograd, "spirv", "check", path, "--json")
        ok(f"check of {os.path.basename(path)}", rc in (0, 1), err)
        return json.loads(out)["findings"]

    def repair(self, name, path):
        m = Module(name, path, None, None)
        return repair(self.retrograd, m, "vulkan1.1"), m


def numbers(line):
    return [float(w) for w in line.split()[2:]]


def bad_group(retrograd, folder):
    path = os.path.join(folder, "bad.spv")
    good = os.path.join(folder, "good.spv")
    spirv = bytes.fromhex("03022307" "00000100" "00000000" "02000000" "00000000")
    cases = {"empty": b"", "short": spirv[:7], "text": b"not SPIR-V, but text of some length",
             "header only": spirv, "odd size": spirv + b"\0"}
    for name, data in cases.items():
        open(path, "wb").write(data)
        for args in (["check", path], ["fix", path, "-o", good]):
            rc, _, err = tool(retrograd, "spirv", *args)
            ok(f"{args[0]} of {name}: status 2", rc == 2 and "not valid SPIR-V" in err, (rc, err))
    ok("no file: status 2", tool(retrograd, "spirv", "check", path + ".none")[0] == 2)
    ok("no OUT: status 2", tool(retrograd, "spirv", "fix", path)[0] == 2)


def layer_group(retrograd, folder):
    """The layer under an unmodified program on lavapipe, with the validation layer below it."""
    program = os.path.join(options.build, "tests", "layer_test")
    layer = os.path.join(options.build, "src", "layer")
    driver = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
    checks = "/usr/share/vulkan/explicit_layer.d"
    if not os.path.exists(program) or not glob.glob(layer + "/*order.so"):
        return skip("layer: built without Vulkan")
    if not driver or not shutil.which("spirv-opt") or not shutil.which("glslangValidator"):
        return skip("layer: no lavapipe, glslang or spirv-opt")
    validation = os.path.exists(checks + "/VkLayer_khronos_validation.json")
    if not validation:
        skip("layer: no validation layer")
    log = os.path.join(folder, "layer.log")
    for name, repairs in (("branch", 1), ("overwrite", 1), ("clean", 0)):
        path = os.path.join(folder, name + ".layer.spv")
        source = open(os.path.join(HERE, "glsl", name + ".comp")).read()
        # this program hands addresses over in push constants
        source = source.replace("layout(std140, set = 0, binding = 0) uniform",
                                "layout(push_constant) uniform")
        text_path = os.path.join(folder, name + ".comp")
        open(text_path, "w").write(source)
        tool("glslangValidator", "-V", "--target-env", "vulkan1.2", text_path, "-o", path + ".raw")
        rc, _, err = tool("spirv-opt", "-O", path + ".raw", "-o", path)
        env = {**os.environ, "VK_ICD_FILENAMES": driver[0], "VK_DRIVER_FILES": driver[0]}
        plain = subprocess.run([program, path], capture_output=True, text=True, env=env)
        if plain.returncode == 77:
            return skip("layer: the driver has no buffer device addresses")
        if os.path.exists(log):
            os.remove(log)
        env.update({"VK_LAYER_PATH": layer + ":" + checks, "RETROGRAD_ORDER_LOG": log,
                    "VK_INSTANCE_LAYERS": "VK_LAYER_RETROGRAD_order"
                    + (":VK_LAYER_KHRONOS_validation" if validation else "")})
        if validation:
            env["LAYER_TEST_VALIDATION"] = "1"
        under = subprocess.run([program, path], capture_output=True, text=True, env=env)
        ok(f"layer {name}: no validation message", under.returncode == 0, under.stderr)
        ok(f"layer {name}: same results", under.stdout == plain.stdout == glsl_expected(name) + "\n",
           (under.stdout, plain.stdout, glsl_expected(name)))
        lines = open(log).read().splitlines() if os.path.exists(log) else []
        ok(f"layer {name}: modules repaired", len(lines) == repairs, lines)
        off = subprocess.run([program, path], capture_output=True, text=True,
                             env={**env, "RETROGRAD_ORDER": "off"})
        lines = open(log).read().splitlines() if os.path.exists(log) else []
        ok(f"layer {name}: off", off.stdout == plain.stdout and len(lines) == repairs, lines)


def main():
    groups = {"bad": bad_group, "GLSL": glsl_group, "HLSL": hlsl_group, "OpenCL": opencl_group,
              "naive": naive_group, "layer": layer_group, "shapes": shapes_group}
    for name, group in (("bound", bound.bound_group), ("narrow", bound.narrow_group),
                        ("large", robust.large_group), ("mutation", robust.mutation_group),
                        ("random", robust.random_group)):
        groups[name] = lambda tool, folder, group=group: group(Kit(tool), tool, folder)
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=os.path.join(HERE, "..", "..", "build"))
    p.add_argument("--tool")
    p.add_argument("--sanitized", action="store_true", help="a slow build: fewer modules, no times")
    p.add_argument("groups", nargs="*", metavar="GROUP", help=" ".join(groups))
    global options, translators
    options = p.parse_args()
    options.build = os.path.abspath(options.build)
    retrograd = os.path.abspath(options.tool or os.path.join(options.build, "retrograd"))
    if shutil.which("clang++"):
        translators = metal.translators(options.build)
    else:
        skip("running Metal source: no clang++")
    for version, _ in translators:
        print(f"translator {version}")
    with tempfile.TemporaryDirectory(prefix="retrograd-spirv-") as folder:
        for name, group in groups.items():
            if not options.groups or name in options.groups:
                group(retrograd, folder)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


options, translators = None, []

if __name__ == "__main__":
    sys.exit(main())
