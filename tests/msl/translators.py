"""The versions of SPIRV-Cross that Metal sources are made with: the system's, and those of Debian
13 and of Debian's unstable suite where their packages can be had. The packages are unpacked beside
the build and never installed. Each brings the C library that it was built for, so a program runs
with all of it through that library's own loader.
"""

import fcntl
import os
import shutil
import subprocess

SUITES = {"debian13": "trixie", "sid": "sid"}
NAMES = ["system"] + list(SUITES)
PACKAGES = ["libspirv-cross-c-shared0", "libc6", "libstdc++6", "libgcc-s1"]


class Translator:
    def __init__(self, name, prefix=(), why_not=None):
        self.name, self.prefix, self.why_not = name, list(prefix), why_not

    def command(self, words):
        return self.prefix + list(words)


class Missing(Exception):
    pass


def call(words, seconds, **more):
    try:
        r = subprocess.run(words, capture_output=True, text=True, errors="replace",
                           timeout=seconds, **more)
    except FileNotFoundError:
        raise Missing(f"{words[0]} is not there")
    except subprocess.TimeoutExpired:
        raise Missing(f"{words[0]} took more than {seconds} s")
    if r.returncode != 0:
        text = (r.stderr.strip() or r.stdout.strip() or f"status {r.returncode}").split("\n")
        raise Missing(f"{os.path.basename(words[0])}: {text[-1][:200]}")
    return r.stdout


def debian_site():
    """Where this machine gets Debian's packages from."""
    out = call(["apt-get", "indextargets", "--format", "$(SITE)|$(COMPONENT)",
                "Created-By: Packages"], 20)
    for line in out.split("\n"):
        site, _, component = line.partition("|")
        if component == "main" and site.rstrip("/").endswith("/debian"):
            return site
    raise Missing("this machine's apt knows no archive of Debian's")


def apt(folder, words, seconds):
    state = os.path.join(folder, "apt")
    for sub in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(state, sub), exist_ok=True)
    options = {"Dir::State": f"{state}/state", "Dir::State::status": "/dev/null",
               "Dir::Cache": f"{state}/cache", "Dir::Etc::sourcelist": f"{state}/sources.list",
               "Dir::Etc::sourceparts": "/dev/null/none", "Acquire::Retries": "1",
               "Acquire::http::Timeout": "20", "Acquire::Languages": "none",
               "APT::Sandbox::User": "root", "APT::Architecture": architecture()}
    flags = [w for k, v in options.items() for w in ("-o", f"{k}={v}")]
    return call(["apt-get"] + flags + words, seconds, cwd=folder)


def architecture():
    return call(["dpkg", "--print-architecture"], 20).strip()


def fetch(folder, suite):
    """Unpacks the suite's packages into folder/suite."""
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    site = debian_site()
    os.makedirs(os.path.join(folder, "apt"), exist_ok=True)
    signed = f" [signed-by={keys}]" if os.path.exists(keys) else ""
    with open(os.path.join(folder, "apt", "sources.list"), "w") as f:
        f.write("".join(f"deb{signed} {site} {s} main\n" for s in SUITES.values()))
    if not os.path.exists(os.path.join(folder, "apt", "updated")):
        apt(folder, ["update"], 300)
        open(os.path.join(folder, "apt", "updated"), "w").close()
    new = os.path.join(folder, suite + ".new")
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    apt(folder, ["download"] + [f"{p}/{suite}" for p in PACKAGES], 300)
    for name in os.listdir(folder):
        if name.endswith(".deb"):
            call(["dpkg", "-x", os.path.join(folder, name), new], 60)
            os.remove(os.path.join(folder, name))
    os.rename(new, os.path.join(folder, suite))


def prefix_of(root):
    """Words that run a program with the libraries under root."""
    folders, loader = [], None
    for where, _, names in os.walk(root):
        for n in names:
            if n.startswith("ld-linux") and os.path.isfile(os.path.join(where, n)):
                loader = loader or os.path.join(where, n)
            if n in ("libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libspirv-cross-c-shared.so.0"):
                if where not in folders:
                    folders.append(where)
    if not loader or not folders:
        raise Missing("the unpacked packages lack a loader or a library")
    return [loader, "--library-path", ":".join(folders)]


def get(build, name):
    """The translator of that name; one that is not to be had says why."""
    if name == "system":
        return Translator(name)
    folder = os.path.join(os.path.abspath(build), "translators")
    suite = SUITES[name]
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(os.path.join(folder, suite)):
                fetch(folder, suite)
        return Translator(name, prefix_of(os.path.join(folder, suite)))
    except (Missing, OSError) as e:
        return Translator(name, why_not=f"Debian's {suite} packages cannot be had: {e}")
