"""Float atomics on bound buffers and in workgroup memory, and numbers too narrow for a variable:
what is named before `spirv fix`, and what the result does as Metal, through MoltenVK's bindings with
and without argument buffers, and on lavapipe under the validation layer.
"""
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
START = {"x": [1, 2, 3, 4], "xg": [0, 10, 20, 30], "y": [100, 101, 102, 103], "yg": [5, 6, 7, 8]}
EXPECTED = {
    "buffers": "13 16 19 22 0 20 22 32 100 102 102 108 10 12 14 16",
    "shared": "1 2 3 4 12 14 10 11 16 16 16 16 100 101 0 0",
}
# What the source of the oldest and of newer translators must not say.
WRONG = re.compile(r"\batomicAdd\(|\(threadgroup atomic_float")


def lavapipe(build, path):
    """(what the module leaves in memory, validation messages), or None."""
    program = os.path.join(build, "tests", "layer_test")
    driver = glob.glob("/usr/share/vulkan/icd.d/lvp_icd*.json")
    checks = "/usr/share/vulkan/explicit_layer.d"
    if not os.path.exists(program) or not driver:
        return None
    env = {**os.environ, "VK_ICD_FILENAMES": driver[0], "VK_DRIVER_FILES": driver[0]}
    if os.path.exists(checks + "/VkLayer_khronos_validation.json"):
        env.update({"VK_LAYER_PATH": checks, "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
                    "LAYER_TEST_VALIDATION": "1"})
    p = subprocess.run([program, path], capture_output=True, text=True, env=env)
    return None if p.returncode == 77 else (p.stdout.strip(), p.stderr)


BINDINGS = ["--bind", "0.0=x", "--bind", "0.1=xg", "--bind", "0.2=y", "--bind", "0.3=yg"]
ADDRESSES = ["--memory", "args=&x,&xg,&y,&yg", "--bind", "0.0=args"]


def as_metal(build, path, bindings):
    """[(translator, options, source, slots, values)] as tests/msl runs it."""
    sys.path.insert(0, os.path.join(HERE, "..", "msl"))
    import translators
    program = os.path.join(build, "tests", "msl_run")
    words = list(bindings)
    for name, values in START.items():
        words += ["--memory", name + "=" + ",".join(f"f32:{v}" for v in values), "--print", name]
    for name in translators.NAMES:
        t = translators.get(build, name)
        if t.why_not:
            continue
        for more in ([], ["--argument-buffers"]):
            def call(*options):
                p = subprocess.run(t.command([program, path, *more, *options]),
                                   capture_output=True, text=True)
                return p.stdout if p.returncode == 0 else p.stdout + p.stderr
            values = " ".join(l.split(" ", 1)[1] for l in call(*words).splitlines() if " " in l)
            yield name, " ".join(more), call("--text"), call("--slots"), values


def bound_group(t, retrograd, folder):
    if not shutil.which("glslangValidator") or not shutil.which("spirv-val"):
        return t.skip("bound: no glslangValidator or spirv-val")
    for name, expected in EXPECTED.items():
        # 1.0 has Uniform and BufferBlock, 1.2's entry points list buffers; with debug information
        # and without.
        for env, flags in (("vulkan1.0", []), ("vulkan1.2", []), ("vulkan1.2", ["-gVS"])):
            what = f"bound {name} {env} {' '.join(flags)}"
            path = os.path.join(folder, f"{name}.{env}.{len(flags)}.spv")
            fixed = path + ".fixed"
            rc, out, err = t.tool("glslangValidator", *flags, "-V", "--target-env", env,
                                  os.path.join(HERE, "bound", name + ".comp"), "-o", path)
            t.ok(f"{what} compiles", rc == 0, out + err)
            findings = t.check(path)
            kinds = {(f["fault"], f["fixable"]) for f in findings}
            t.ok(f"{what}: named", kinds == {("float-atomic", True)}, kinds)
            named = {v for f in findings for v in f["translators"]}
            everywhere = {"1.3.239"} if name == "buffers" else t.names
            t.ok(f"{what}: named for its translators", named == everywhere, named)
            if flags:
                t.ok(f"{what}: lines", all(f["source"] and f["line"] for f in findings), findings)
            rc, _, err = t.tool(retrograd, "spirv", "fix", path, "-o", fixed)
            t.ok(f"{what}: fixed", rc == 0, err)
            rc, out, err = t.tool("spirv-val", "--target-env", env, fixed)
            t.ok(f"{what}: valid", rc == 0, out + err)
            t.tool(retrograd, "spirv", "fix", fixed, "-o", fixed + ".again")
            t.ok(f"{what}: fixed once",
                 open(fixed, "rb").read() == open(fixed + ".again", "rb").read())
            if not flags:
                for p in (path, fixed):
                    answer = lavapipe(t.build, p)
                    if answer is None:
                        t.skip("bound: no lavapipe")
                        break
                    t.ok(f"{what}: on lavapipe", answer == (expected, ""), answer)
            if not t.translators:
                continue
            before = list(as_metal(t.build, path, BINDINGS))
            t.ok(f"{what}: wrong before", any(WRONG.search(b[2]) for b in before))
            for b, a in zip(before, as_metal(t.build, fixed, BINDINGS)):
                which = f"{what} on {a[0]} {a[1]}"
                t.ok(f"{which}: what Metal has", not WRONG.search(a[2]), a[2])
                t.ok(f"{which}: as many slots", "slots=" in a[3] and a[3] == b[3], (b[3], a[3]))
                t.ok(f"{which}: right", a[4] == expected, a[4])


# ---- narrow numbers ----

# Stores a number as the narrow type, loads it, overwrites it, and converts it in a branch further
# on; integers are copied as they are too.
NARROW = """
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpCapability StorageBuffer{bits}BitAccess
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpExtension "SPV_KHR_physical_storage_buffer"
OpExtension "SPV_KHR_{bits}bit_storage"
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main "main" %gid
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 8
OpMemberDecorate %block 2 Offset 16
OpMemberDecorate %block 3 Offset 24
OpDecorate %args DescriptorSet 0
OpDecorate %args Binding 0
OpDecorate %pn ArrayStride {stride}
OpDecorate %pf ArrayStride 4
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
{types}
%v3 = OpTypeVector %u32 3
%pn = OpTypePointer PhysicalStorageBuffer %narrow
%pf = OpTypePointer PhysicalStorageBuffer %f32
%pv3 = OpTypePointer Input %v3
%pu = OpTypePointer Input %u32
%block = OpTypeStruct %u64 %u64 %u64 %u64
%pblock = OpTypePointer Uniform %block
%pu64 = OpTypePointer Uniform %u64
%gid = OpVariable %pv3 Input
%args = OpVariable %pblock Uniform
%u0 = OpConstant %u32 0
%u1 = OpConstant %u32 1
%u2 = OpConstant %u32 2
%u3 = OpConstant %u32 3
%u200 = OpConstant %u32 200
%f7 = OpConstant %f32 7
%main = OpFunction %void None %fn
%entry = OpLabel
%pgx = OpAccessChain %pu %gid %u0
%i = OpLoad %u32 %pgx
%pa0 = OpAccessChain %pu64 %args %u0
%a0 = OpLoad %u64 %pa0
%x = OpConvertUToPtr %pf %a0
%pa2 = OpAccessChain %pu64 %args %u2
%a2 = OpLoad %u64 %pa2
%y = OpConvertUToPtr %pn %a2
%pa3 = OpAccessChain %pu64 %args %u3
%a3 = OpLoad %u64 %pa3
%yg = OpConvertUToPtr %pn %a3
%n = OpIAdd %u32 %u200 %i
{make}
%p = OpPtrAccessChain %pn %y %i
OpStore %p %made Aligned {align}
%v = OpLoad %narrow %p Aligned {align}
OpStore %p %none Aligned {align}
%px = OpPtrAccessChain %pf %x %i
%big = OpUGreaterThan %bool %i %u1
OpSelectionMerge %after None
OpBranchConditional %big %yes %no
%yes = OpLabel
{use}
OpStore %px %f Aligned 4
OpBranch %after
%no = OpLabel
OpStore %px %f7 Aligned 4
OpBranch %after
%after = OpLabel
{copy}
OpReturn
OpFunctionEnd
"""
INTEGER = """%none = OpUConvert %narrow %u0
%made = OpUConvert %narrow %n"""
COPY = """%q = OpPtrAccessChain %pn %yg %i
OpStore %q %v Aligned {align}"""
# name: bits, align, types, use, and what the number is read as by Python
NARROWS = {
    "u8": (8, 1, "%narrow = OpTypeInt 8 0", "%w = OpUConvert %u32 %v\n%f = OpConvertUToF %f32 %w",
           "B"),
    "i8": (8, 1, "%narrow = OpTypeInt 8 1", "%w = OpSConvert %i32 %v\n%f = OpConvertSToF %f32 %w",
           "b"),
    "u16": (16, 2, "%narrow = OpTypeInt 16 0",
            "%w = OpUConvert %u32 %v\n%f = OpConvertUToF %f32 %w", "H"),
    "f16": (16, 2, "%narrow = OpTypeFloat 16", "%f = OpFConvert %f32 %v", "e"),
    "f16v2": (16, 4, "%f16 = OpTypeFloat 16\n%narrow = OpTypeVector %f16 2\n"
              "%f32v2 = OpTypeVector %f32 2",
              "%w = OpFConvert %f32v2 %v\n%f = OpCompositeExtract %f32 %w 1", "e"),
}


def narrow_text(name):
    bits, align, types, use, _ = NARROWS[name]
    if types.startswith("%narrow = OpTypeInt"):
        make, copy = INTEGER, COPY.format(align=align)
        if types.endswith("1"):
            make = make.replace("OpUConvert", "OpSConvert")
    elif name == "f16":
        make = ("%nf = OpConvertUToF %f32 %n\n%made = OpFConvert %narrow %nf\n"
                "%zf = OpConvertUToF %f32 %u0\n%none = OpFConvert %narrow %zf")
        copy = ""
    else:
        make = ("%nf = OpConvertUToF %f32 %n\n%nv = OpCompositeConstruct %f32v2 %f7 %nf\n"
                "%made = OpFConvert %narrow %nv\n%zf = OpConvertUToF %f32 %u0\n"
                "%zv = OpCompositeConstruct %f32v2 %zf %zf\n%none = OpFConvert %narrow %zv")
        copy = ""
    return NARROW.format(bits=bits, align=align, stride=align, types=types, make=make, use=use,
                         copy=copy)


def narrow_expected(name):
    bits, align, _, _, code = NARROWS[name]
    m = {k: bytearray(struct.pack("<4f", *v)) for k, v in START.items()}
    x = [7.0, 7.0]
    for i in range(4):
        number = 200 + i
        raw = struct.pack("<e", number) if code == "e" else struct.pack("<I", number)[:align]
        m["y"][align * i:align * (i + 1)] = bytes(align)
        if code != "e":
            m["yg"][align * i:align * (i + 1)] = raw
        if i > 1:
            x.append(float(struct.unpack("<" + code, raw)[0]))
    m["x"] = bytearray(struct.pack("<4f", *x))
    return " ".join("%g" % v for k in m for v in struct.unpack("<4f", m[k]))


def narrow_group(t, retrograd, folder):
    if not shutil.which("spirv-as") or not shutil.which("spirv-val"):
        return t.skip("narrow: no spirv-as or spirv-val")
    for name in NARROWS:
        text, path = (os.path.join(folder, "narrow." + name + e) for e in (".spvasm", ".spv"))
        open(text, "w").write(narrow_text(name))
        rc, _, err = t.tool("spirv-as", "--target-env", "vulkan1.1", text, "-o", path)
        t.ok(f"narrow {name} assembles", rc == 0, err)
        rc, out, err = t.tool("spirv-val", "--target-env", "vulkan1.1", path)
        t.ok(f"narrow {name} is valid", rc == 0, out + err)
        why, m = t.repair(name, path)
        t.ok(f"narrow {name}: checked, fixed, valid, fixed once", why is None, why)
        t.ok(f"narrow {name}: named", m.named == t.names and all(f["fixable"] for f in m.findings),
             m.findings)
        if not t.translators:
            continue
        for b, a in zip(as_metal(t.build, path, ADDRESSES),
                        as_metal(t.build, m.fixed, ADDRESSES)):
            right = narrow_expected(name)
            t.ok(f"narrow {name} on {a[0]}: wrong before", numbers(b[4]) != numbers(right), b[4])
            t.ok(f"narrow {name} on {a[0]}: right", numbers(a[4]) == numbers(right), a[4])


def numbers(text):
    """Those that are printed in full, as the few digits of others."""
    try:
        return ["%g" % float(w) for w in text.split()]
    except ValueError:
        return text
