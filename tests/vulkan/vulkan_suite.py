"""Everything on Vulkan: in both addressing modes, with the validation layer on and silent.

The suites `kernels`, `checks` and `fuzz` of tests/run.py ask here for their devices: `vulkan` there
stands for `vulkan-address` and `vulkan-offset`. `add(runner)` adds what is Vulkan's own:

    vulkan/many/MODE/...   a thousand arrays with gradients, in twenty loops or (with
                           RETROGRAD_TEST_ALL=1) in one; forty of mixed types
    vulkan/cow/MODE        examples/cow lands where it does on the cpu after one step of descent, and its
                           gradient is the same (offset mode with RETROGRAD_TEST_ALL=1)

A driver compiles each kernel, which is most of the time, and the probe's kernels too: so the tests
share a cache of Retrograd's and one of Mesa's, both thrown away at the end.
"""

import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "kernels"))
import kernels  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "..", "msl"))
import many  # noqa: E402

MODES = ["address", "offset"]
LAYER = "libVkLayer_khronos_validation"
# What the validation layer is to write, wherever in a process's life: also at its very end, when
# there is no call left that could return an error.
SETTINGS = """khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn
khronos_validation.log_filename = {}
"""


class Device:
    """One that tests run on: its name in test names, the tool's name for it, its environment."""

    def __init__(self, name, tool_name=None, env=None, is_vulkan=False, description=""):
        self.name, self.tool_name = name, tool_name or name
        self.env, self.is_vulkan, self.description = env or {}, is_vulkan, description

    @property
    def ends_loops(self):
        return "llvmpipe" in self.description


def devices(runner):
    """The devices that runner.o.devices names, Vulkan's two modes apart; reports what is missing."""
    found = []
    for name in runner.o.devices:
        if name == "vulkan":
            found += vulkan(runner)
        else:
            found.append(Device(name))
    return found


def vulkan(runner):
    base = {"RETROGRAD_CACHE": os.path.join(runner.work, "vulkan"),
            "MESA_SHADER_CACHE_DIR": os.path.join(runner.work, "mesa"),
            "XDG_CACHE_HOME": os.path.join(runner.work, "xdg")}
    for folder in base.values():
        os.makedirs(folder, exist_ok=True)
    found, layer = [], {"RETROGRAD_VULKAN_VALIDATION": "1"}
    for mode in MODES:
        env = dict(base, RETROGRAD_VULKAN_ADDRESSING=mode, **layer)
        about = ask(runner, env)
        if not about.get("available") and "validation" in (about.get("why_not") or "") and layer:
            runner.skipped("vulkan", "validation", "the Khronos validation layer is not there")
            layer = {}
            env = dict(base, RETROGRAD_VULKAN_ADDRESSING=mode)
            about = ask(runner, env)
        if about.get("available"):
            found.append(Device(f"vulkan-{mode}", "vulkan", env, True, about["description"]))
        else:
            runner.skipped("vulkan", mode, about.get("why_not") or "no device 'vulkan'")
    return found


def ask(runner, env):
    status, out, err = runner.run([runner.tool, "devices", "--json"], env=env)
    try:
        return [d for d in json.loads(out)["devices"] if d["name"] == "vulkan"][0]
    except (ValueError, KeyError, IndexError):
        return {"why_not": (err or out)[:200]}


def run(runner, command, device, seconds=600):
    """As runner.run; a word of the validation layer makes it a failure."""
    if "RETROGRAD_VULKAN_VALIDATION" not in device.env:
        return runner.run(command, seconds, env=device.env)
    folder = tempfile.mkdtemp(dir=runner.work)
    log, settings = os.path.join(folder, "log"), os.path.join(folder, "vk_layer_settings.txt")
    with open(settings, "w") as f:
        f.write(SETTINGS.format(log))
    status, out, err = runner.run(command, seconds,
                                  env=dict(device.env, VK_LAYER_SETTINGS_PATH=settings))
    try:
        with open(log) as f:
            said = f.read()
    except OSError:
        return status or -1, out, f"error: the validation layer was not there\n{err}"
    if said.strip():
        return status or -1, out, f"error: the validation layer says: {said[:400]}\n{err}"
    return status, out, err


def shown(command, device):
    """The command with what of the environment makes it this device."""
    keys = [k for k in device.env if k.startswith("RETROGRAD_VULKAN")]
    return ["env"] * bool(keys) + [f"{k}={device.env[k]}" for k in keys] + command


# ---- Vulkan's own ----

def add(runner, found):
    for device in found:
        if not device.is_vulkan:
            continue
        mode = device.name.split("-", 1)[1]
        # llvmpipe compiles a loop over a thousand arrays for minutes (LLVM makes each shader a
        # coroutine, and looks at all blocks for each variable), over fifty in less than one second.
        everything = os.environ.get("RETROGRAD_TEST_ALL") or runner.o.filters
        for which in ["shared", "mixed64"] + ["thousand"] * bool(everything):
            runner.add("vulkan", f"many/{mode}/{which}",
                       lambda d=device, m=mode, w=which: many_arrays(runner, d, m, w))
        if mode == "address" or everything:  # half a minute of both cores each
            runner.add("vulkan", f"cow/{mode}", lambda d=device, m=mode: cow(runner, d, m))


def many_arrays(runner, device, mode, which):
    name = f"many/{mode}/{which}"
    path = os.path.join(runner.work, f"{device.name}-{which}.c")
    words, expects = many.MAKERS[which](path)
    status, out, err = run(runner, [runner.tool, "run", path] + words +
                           ["--device", device.tool_name], device, 3600)
    again = shown([runner.tool, "run", path, "..."], device)
    if status != 0:
        runner.failed("vulkan", name, f"status {status}: {last_words(err)}", again)
        return
    got = kernels.parse_output(out)
    wrong = [f"{n}{kernels.differs(got[n], v, 1e-5)}" if n in got else f"{n} is missing"
             for n, v in expects.items() if n not in got or kernels.differs(got[n], v, 1e-5)]
    if wrong:
        runner.failed("vulkan", name, "; ".join(wrong[:3]), again)
    else:
        runner.passed("vulkan")


def landing(text):
    """(gradient of each parameter, where it landed) of what the cow prints."""
    rows = re.findall(r"(?m)^  (\S+) +(-?[\d.]+) +-?[\d.]+ +-?[\d.]+$", text)
    m = re.search(r"landed ([\d.]+) m from the target, launch \((\S+) (\S+) (\S+)\) m/s, "
                  r"stiffness (\S+) N/m", text)
    return [float(g) for _, g in rows], [float(v) for v in m.groups()] if m else None


def cow(runner, device, mode):
    program = os.path.join(runner.build, "examples", "cow", "cow")
    folder = os.path.join(HERE, "..", "..", "examples", "cow")
    command = [program, os.path.join(folder, "spot.obj"), os.path.join(folder, "cow.c"),
               os.path.join(runner.work, f"{device.name}.png"), "--descent", "1", "--device"]
    results = []
    for d in (Device("cpu"), device):
        status, out, err = run(runner, command + [d.tool_name], d, 900)
        results.append(landing(out))
        if status != 0 or not results[-1][1] or len(results[-1][0]) != 4:
            runner.failed("vulkan", f"cow/{mode}", f"{d.name}: {last_words(err or out)}",
                          shown(command + [d.tool_name], d))
            return
    # The body flies and bounces through hundreds of steps in floats: the last digits part.
    (g, at), (h, to) = results
    wrong = [f"{x}, not {y}" for x, y in zip(h + to, g + at) if abs(x - y) > 2e-3 * (1 + abs(y))]
    if wrong:
        runner.failed("vulkan", f"cow/{mode}", "; ".join(wrong),
                      shown(command + [device.tool_name], device))
    else:
        runner.passed("vulkan")


def last_words(text):
    lines = [l.strip() for l in text.split("\n") if l.strip()]
    errors = [l for l in lines if "error" in l.lower()]
    return " | ".join((errors or lines[-3:])[:3])[:400] or "(no words)"
