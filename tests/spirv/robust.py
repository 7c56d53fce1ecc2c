"""`spirv check` and `spirv fix` on modules that are large, broken or random."""
import collections
import concurrent.futures as cf
import glob
import os
import shutil
import subprocess
import time

import bound
import metal
import random_shaders
import shapes

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = 2_000_000  # bytes at least
ROUNDS = 5


# ---- large modules ----

def blocks(count, per):
    """Blocks one after another, each with loads by address, stores, and uses of values of the
    blocks before it."""
    text = shapes.gen("u64ubo", "fadd", "nonvol", "rev").split("\n")
    at = next(n for n, l in enumerate(text) if l.startswith("OpBranch %lcont"))
    out, values = ["%AP = OpAccessChain %pma %args %c0 %c1"], []
    for k in range(count):
        out += [f"%A{k} = OpLoad %u64 %AP", f"%B{k} = OpConvertUToPtr %pf %A{k}"]
        for j in range(per):
            old = values[-(1 + (k * 7 + j * 13) % min(len(values), 300))] if values else "%f0"
            out += [f"%P{k}_{j} = OpPtrAccessChain %pf %B{k} %i",
                    f"%V{k}_{j} = OpLoad %f32 %P{k}_{j} Aligned 4",
                    f"%M{k}_{j} = OpFMul %f32 %V{k}_{j} {old}",
                    f"%Q{k}_{j} = OpPtrAccessChain %pf %B{k} %c1",
                    f"OpStore %Q{k}_{j} %M{k}_{j} Aligned 4"]
            values.append(f"%V{k}_{j}")
        out += [f"%c_{k} = OpFOrdLessThan %bool %V{k}_0 %f0", f"OpSelectionMerge %m_{k} None",
                f"OpBranchConditional %c_{k} %t_{k} %m_{k}", f"%t_{k} = OpLabel",
                f"OpStore %Q{k}_0 %f0 Aligned 4", f"OpBranch %m_{k}", f"%m_{k} = OpLabel"]
    return "\n".join(text[:at] + out + text[at:])


def atomics(count):
    """Float atomics on bound buffers."""
    text = shapes.gen("bound", "fadd", "nonvol", "rev").split("\n")
    at = next(n for n, l in enumerate(text) if l.startswith("OpBranch %lcont"))
    out = []
    for k in range(count):
        name = ("x_data", "x_grad", "y_grad")[k % 3]
        out += [f"%P{k} = OpAccessChain %pfs %bb_{name} %c0 %i",
                f"%O{k} = OpAtomicFAddEXT %f32 %P{k} %c1 %c0 %f0"]
    return "\n".join(text[:at] + out + text[at:])


def timed(*command):
    """(exit status, seconds of processor time): other processes may be busy too."""
    best = None
    for _ in range(ROUNDS):
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        start = time.monotonic()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        used = min(usage.ru_utime + usage.ru_stime, time.monotonic() - start)
        best = used if best is None else min(best, used)
        if best < 1:
            break
    return p.returncode, best


def large_group(t, retrograd, folder):
    if not shutil.which("spirv-as"):
        return t.skip("large: no spirv-as")
    if t.sanitized:
        return t.skip("large: a sanitizer build is not timed")
    for name, text in (("few blocks", blocks(150, 150)), ("many blocks", blocks(5500, 3)),
                       ("atomics", atomics(39000))):
        source, path = (os.path.join(folder, "large." + e) for e in ("spvasm", "spv"))
        open(source, "w").write(text)
        rc, _, err = t.tool("spirv-as", "--target-env", "vulkan1.1", source, "-o", path)
        t.ok(f"large, {name}: assembles", rc == 0, err)
        t.ok(f"large, {name}: 2 MB", os.path.getsize(path) >= LARGE, os.path.getsize(path))
        for words in (["check", path], ["fix", path, "-o", path + ".fixed"]):
            rc, seconds = timed(retrograd, "spirv", *words)
            t.ok(f"large, {name}: {words[0]} answers", rc == (words[0] == "check"), rc)
            t.ok(f"large, {name}: {words[0]} in under a second", seconds < 1, seconds)


# ---- broken modules ----

def seeds(t, folder):
    """Small modules of all the kinds that are repaired."""
    made = []
    if shutil.which("glslangValidator"):
        for source in sorted(glob.glob(os.path.join(HERE, "*", "*.comp"))):
            name = os.path.basename(source)[:-5]
            path = os.path.join(folder, name + ".seed.spv")
            flags = ["-gVS"] if name == "shared" else ["-g"] if name == "call" else []
            rc, out, err = t.tool("glslangValidator", *flags, "-V", "--target-env", "vulkan1.2",
                                  source, "-o", path)
            t.ok(f"mutation: {name} compiles", rc == 0, out + err)
            made.append(path)
            if shutil.which("spirv-opt") and t.tool("spirv-opt", "-O", path, "-o",
                                                    path + ".opt")[0] == 0:
                made.append(path + ".opt")
    if shutil.which("spirv-as"):
        texts = {name: bound.narrow_text(name) for name in bound.NARROWS}
        for shape in ("u64ubo", "ptrssbo", "table", "rootpc"):
            texts[shape] = shapes.gen(shape, "cas" if shape == "table" else "fadd", "nonvol", "rev")
        for name, text in texts.items():
            path = os.path.join(folder, name + ".seed.spv")
            open(path + "asm", "w").write(text)
            t.tool("spirv-as", "--target-env", "vulkan1.1", path + "asm", "-o", path)
            made.append(path)
    return made


def mutation_group(t, retrograd, folder):
    program = os.path.join(t.build, "tests", "spirv_mutate")
    made = seeds(t, folder)
    if not made:
        return t.skip("mutation: no glslangValidator and no spirv-as")
    share, count = ("67", "3000") if t.sanitized else ("17", "40000")
    share, count = os.environ.get("RETROGRAD_MUTATIONS", f"{share} {count}").split()
    p = subprocess.run([program, share, count, *made], capture_output=True, text=True, cwd=folder)
    print(p.stdout, end="")
    t.ok("mutation: an answer for everything", p.returncode == 0,
         f"seeds {made}: status {p.returncode}: {p.stderr[-600:]}")
    # The tool's exit status is 2 for what is refused, and never a signal's.
    broken = os.path.join(folder, "mutated.spv")
    for path in made[:: max(1, len(made) // 4)]:
        data = bytearray(open(path, "rb").read())
        for at in range(20, len(data), max(4, len(data) // 12)):
            data[at] ^= 0xff
            open(broken, "wb").write(data)
            data[at] ^= 0xff
            rc, out, err = t.tool(retrograd, "spirv", "check", broken)
            t.ok(f"mutation: check of {os.path.basename(path)}, byte {at}",
                 rc in (0, 1) or (rc == 2 and "not valid SPIR-V" in err), (rc, out, err))


# ---- random shaders ----

def random_group(t, retrograd, folder):
    """What is wrong as Metal is named, and is right once repaired."""
    need = ["glslangValidator", "spirv-opt", "spirv-val"]
    if not all(shutil.which(n) for n in need) or not t.translators:
        return t.skip("random: " + ", ".join(need) + " and a translator are wanted")
    first, count = 0, 8 if t.sanitized else 24
    if os.environ.get("RETROGRAD_RANDOM"):
        first, count = map(int, os.environ["RETROGRAD_RANDOM"].split())

    def prepare(seed):
        shader = random_shaders.Shader(seed)
        source = os.path.join(folder, f"{seed}.comp")
        open(source, "w").write(shader.glsl)
        plain, optimised = source + ".spv", source + ".opt.spv"
        rc, out, _ = t.tool("glslangValidator", "-V", "--target-env", "vulkan1.1", source, "-o",
                            plain)
        rc = rc or t.tool("spirv-opt", "-O", plain, "-o", optimised)[0]
        if rc:
            return shader, None, out
        return shader, [t.repair(f"{seed}", p) for p in (plain, optimised)], ""

    jobs = []  # (path, named, expected, set-up, fixed)
    with cf.ThreadPoolExecutor(2) as pool:
        for seed, (shader, modules, why) in zip(range(first, first + count),
                                                pool.map(prepare, range(first, first + count))):
            t.ok(f"random {seed} compiles", modules is not None, why)
            for wrong, m in modules or []:
                t.ok(f"random {seed}: checked, fixed, valid, fixed once", wrong is None, wrong)
                for layout in shader.layouts if wrong is None else []:
                    memory = shader.run(layout)
                    if memory is not None:
                        expected = " ".join("%g" % v for v in memory)
                        setup = random_shaders.setup(shader, layout)
                        jobs.append((m.path, m.named, expected, setup, False))
                        jobs.append((m.fixed, m.named, expected, setup, True))
    counts = collections.Counter()
    for version, command in t.translators:
        paths = sorted({j[0] for j in jobs})
        with cf.ThreadPoolExecutor(2) as pool:
            texts = dict(zip(paths, pool.map(lambda p: metal.translate(command, p), paths)))
        live = [j for j in jobs if texts[j[0]][0]]
        answers = []
        for at in range(0, len(live), 150):
            answers += metal.run([(texts[j[0]][0], j[3]) for j in live[at:at + 150]], folder)
        found = dict(zip(map(id, live), answers))
        for j in jobs:
            path, named, expected, _, fixed = j
            answer = found.get(id(j)) or "refused: " + (texts[path][1] or "")
            name = os.path.basename(path)
            if fixed:
                t.ok(f"random {name}: right on {version} after the fix", answer == expected,
                     f"{answer}, not {expected}")
            elif answer != expected:
                counts["wrong"] += 1
                t.ok(f"random {name}: named for {version}", version in named, answer)
            else:
                counts["right, but named" if version in named else "right"] += 1
    print("random: " + ", ".join(f"{n} {k}" for k, n in sorted(counts.items())))
    t.ok("random: something was wrong before", counts["wrong"] > 0 or count < 8)
