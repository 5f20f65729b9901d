#!/usr/bin/env python3
"""The tooling of ctx: sets up what the tests need, and runs them.

    python3 build.py [--slim] [--platform NAME] [-o FILE]   dist/ctx.pyz, the one file
    python3 build.py test [--all] [PYTEST ARGUMENT ...]    lint, types, the tests; the fast ones on 3.8 (--all: on all) too
    python3 build.py bench [ARGUMENT ...]                  the measurements of evals/perf.py

Standard library only, CPython 3.8 or newer. Exit status: 0 all well, 1 something failed, 2 usage or setup.
"""
from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from xml.etree import ElementTree

Version = Tuple[int, ...]

ROOT = Path(__file__).resolve().parent
MAIN = ((3, 13), (3, 12), (3, 11))  # the whole suite runs on the first of these that is found
EVERY = tuple((3, minor) for minor in range(8, 14))  # ctx.py compiles on each of these, and with --all the fast tests run on it
OLDEST_PYTHON = (3, 8)  # on this one they always run
FLOOR_OF_TOOLS = (3, 10)  # what requirements.txt is resolved for; requirements-oldest.txt reaches down to 3.8
SOURCES = ("ctx.py", "build.py", "evals")  # type-checked, at the target that pyproject.toml names

PROBE = """
import os, sys
try:
    import ensurepip, venv
    able = "venv"
except ImportError:
    able = "bare"
path = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
print("%d.%d.%d" % sys.version_info[:3], sys.implementation.name, able, path)
"""
COMPILE = """
import sys
with open(sys.argv[1], "rb") as source:
    compile(source.read(), sys.argv[1], "exec")
"""


class Trouble(Exception):
    """Setup cannot go on; the text says what to do."""


class Python(NamedTuple):
    """An interpreter."""

    path: str  # as it calls itself, so never a shim, and never one of an environment
    full: str  # its version, "3.11.7"
    able: bool  # to make an environment with pip in it

    @property
    def version(self) -> Version:
        return tuple(int(part) for part in self.full.split(".")[:2])

    @property
    def name(self) -> str:
        return "%d.%d" % self.version


class Counts(NamedTuple):
    """What pytest counted."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __str__(self) -> str:
        return "%d passed, %d failed, %d skipped" % self


# ── interpreters ──


def probe(program: str) -> Optional[Python]:
    """What `program` is, or None where it is no working CPython (a shim of a version that is not selected, for one)."""
    try:
        answer = subprocess.check_output([program, "-c", PROBE], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        full, kind, able, path = answer.decode().strip().split(" ", 3)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Python(path, full, able == "venv") if kind == "cpython" else None


def candidates() -> Iterator[str]:
    """Programs that may be a Python: those on PATH, those that pyenv keeps, this one."""
    names = ["python%d.%d" % version for version in EVERY] + ["python3"]
    for name in names:
        for folder in os.get_exec_path():
            if os.access(os.path.join(folder, name), os.X_OK):
                yield os.path.join(folder, name)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(pyenv.glob("versions/3.*/bin/python3")))
    yield sys.executable


def interpreters() -> Dict[Version, Python]:
    """Version → interpreter: the first one found, unless a later one can make environments and it cannot."""
    found: Dict[Version, Python] = {}
    for program in dict.fromkeys(candidates()):
        python = probe(program)
        if python and (python.version not in found or python.able > found[python.version].able):
            found[python.version] = python
    return found


def main_python(found: Dict[Version, Python]) -> Python:
    """The interpreter of the whole suite: the newest of MAIN, else the running one. Raises Trouble when that is too old."""
    preferred = [version for version in (*MAIN, sys.version_info[:2]) if version in found and version >= FLOOR_OF_TOOLS]
    if not preferred:
        here, floor = "%d.%d" % sys.version_info[:2], "%d.%d" % FLOOR_OF_TOOLS
        raise Trouble("the tests need CPython %s or newer, this is %s: install one (ctx itself is fine with 3.8)" % (floor, here))
    return found[next((version for version in preferred if found[version].able), preferred[0])]


# ── environments ──


def environment(python: Python, folder: Path, requirements: str) -> str:
    """The Python of an environment that holds `requirements`; made anew when they or the interpreter changed. Raises Trouble."""
    wanted = hashlib.sha256((ROOT / requirements).read_bytes() + repr(python).encode()).hexdigest()
    stamp, inside = folder / "made-from", str(folder / "bin" / "python")
    with open(ROOT / ".venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (stamp.exists() and stamp.read_text() == wanted):
            print("\nbuild: setting up %s with Python %s (%s)" % (folder.relative_to(ROOT), python.full, python.path), flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            create(python, folder)
            install = [inside, "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
            pinned = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", requirements]
            quietly(install + pinned, "pip could not install %s, see above: it needs a package index, this once" % requirements)
            stamp.write_text(wanted)
    return inside


def create(python: Python, folder: Path) -> None:
    """An empty environment with pip. Debian's Python makes none before python3-venv is installed; `virtualenv` will do."""
    if python.able:
        return quietly([python.path, "-m", "venv", str(folder)], "python -m venv failed")
    if shutil.which("virtualenv"):
        return quietly(["virtualenv", "--quiet", "--python", python.path, str(folder)], "virtualenv failed")
    cure = "`apt-get install python3-venv` (Debian, Ubuntu), or install virtualenv"
    raise Trouble("%s lacks venv or ensurepip: %s" % (python.path, cure))


def quietly(command: Sequence[str], complaint: str) -> None:
    """Run `command`; what it says is shown only when it fails. Raises Trouble(complaint)."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.stdout.write(done.stdout.decode(errors="replace"))
        raise Trouble(complaint)


# ── the steps of `test` ──


class Report:
    """Runs the steps one after another, whatever becomes of the earlier ones, and sums them up."""

    def __init__(self) -> None:
        self.lines: List[str] = []
        self.failures: List[str] = []
        self.counts: List[Counts] = []

    def step(self, name: str, work: Callable[[], Tuple[bool, str]]) -> None:
        """Do `work`, which answers whether it went well and a word on how."""
        print("\n── %s ──" % name, flush=True)
        start = time.monotonic()
        good, word = work()
        self.note(name, good, "%6.1f s  %s" % (time.monotonic() - start, word))

    def note(self, name: str, good: bool, word: str) -> None:
        """A line of the summary."""
        self.lines.append(("%-24s %-6s %s" % (name, "ok" if good else "FAILED", word)).rstrip())
        if not good:
            self.failures.append(name)

    def command(self, name: str, *command: str) -> None:
        """A step that is one command."""
        self.step(name, lambda: (run(*command) == 0, ""))

    def pytest(self, name: str, python: str, tier: str, arguments: Sequence[str], empty_is_fine: bool) -> None:
        """A step that is a pytest run; its counts are kept."""

        def work() -> Tuple[bool, str]:
            with tempfile.TemporaryDirectory() as scratch:
                junit = os.path.join(scratch, "junit.xml")
                workers = str(os.cpu_count() or 1)
                status = run(python, "-m", "pytest", "-q", "-n", workers, "--tier", tier, "--junitxml", junit, *arguments)
                counts = read_counts(junit)
            self.counts.append(counts)
            return status == 0 or (status == 5 and empty_is_fine), str(counts)

        self.step(name, work)

    def close(self) -> int:
        """Print the summary; the exit status."""
        print("\n── summary ──\n" + "\n".join(self.lines))
        if self.failures:
            print("build: FAILED: " + ", ".join(self.failures))
        print(Counts(*map(sum, zip(*self.counts))), flush=True)
        return 1 if self.failures else 0


def run(*command: str) -> int:
    """The exit status of `command`, which speaks for itself."""
    return subprocess.call(command, cwd=ROOT, stdin=subprocess.DEVNULL)


JUNIT = ("tests", "failures", "errors", "skipped")


def read_counts(junit: str) -> Counts:
    """The counts in a JUnit file; zeros where pytest did not get as far as writing one."""
    if not os.path.exists(junit):
        return Counts()
    suites = list(ElementTree.parse(junit).iter("testsuite"))
    tests, failures, errors, skipped = (sum(int(suite.get(key, 0)) for suite in suites) for key in JUNIT)
    return Counts(tests - failures - errors - skipped, failures + errors, skipped)


def test(arguments: List[str]) -> int:
    """`build.py test`: everything on one interpreter, the fast part on the others."""
    tier = "all" if "--all" in arguments else "main"
    arguments = [argument for argument in arguments if argument != "--all"]
    found = interpreters()
    main = main_python(found)
    python = environment(main, ROOT / ".venv", "requirements.txt")
    report = Report()
    report.command("lint", python, "-m", "ruff", "check", "--output-format", "concise", ".")
    report.command("types", python, "-m", "mypy", *(source for source in SOURCES if (ROOT / source).exists()))
    report.pytest("tests on %s" % main.name, python, tier, arguments, False)
    for version in EVERY:
        if version in found and version != main.version:
            fast_part(report, found[version], arguments, tier == "all" or version == OLDEST_PYTHON)
    return report.close()


def fast_part(report: Report, python: Python, arguments: List[str], is_run: bool) -> None:
    """Compile ctx.py and, if `is_run`, run the fast tests on one more interpreter. One that can have no environment only compiles; it is said."""
    name = "fast tests on %s" % python.name
    report.command("compile on %s" % python.name, python.path, "-I", "-W", "error", "-c", COMPILE, str(ROOT / "ctx.py"))
    if not is_run:
        return
    try:
        inside = environment(python, ROOT / ".venvs" / python.name, "requirements-oldest.txt")
    except Trouble as trouble:
        report.note(name, not python.able, "not run: %s" % trouble)
    else:
        report.pytest(name, inside, "fast", ["-p", "no:cacheprovider", *arguments], bool(arguments))


def bench(arguments: List[str]) -> int:
    """`build.py bench`: the measurements, on a real interpreter, without an environment."""
    program = ROOT / "evals" / "perf.py"
    if not program.exists():
        raise Trouble("evals/perf.py is not there: nothing to measure with")
    return run(main_python(interpreters()).path, str(program), *arguments)


# ── the one file ──

PINS = ROOT / "grammars" / "grammars.toml"
WHEELS = ROOT / ".venv.wheels"  # what was downloaded, kept for the next build
OLDEST = (3, 10)  # that a wheel of a grammar fits; one of tree-sitter itself names its Python
PLATFORMS: Dict[str, Tuple[str, ...]] = {  # name → what pip calls it, best first
    "linux-x86_64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_5_x86_64", "manylinux1_x86_64"),
    "linux-aarch64": ("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "musl-x86_64": ("musllinux_1_2_x86_64", "musllinux_1_1_x86_64"),
    "macos-arm64": ("macosx_11_0_arm64", "macosx_11_0_universal2", "macosx_10_9_universal2"),
    "macos-x86_64": ("macosx_10_15_x86_64", "macosx_10_9_x86_64", "macosx_10_9_universal2"),
}
LIMITS = {False: 20_000_000, True: 400_000}  # bytes that the file may have: whole, slim
EPOCH = 1767225600  # the date of what is inside, where SOURCE_DATE_EPOCH does not say: the first second of 2026
INTERPRETER = "/usr/bin/env python3"

# What each interpreter is asked for: ctx.py as a pack, and the code that starts it, in files named by its bytecode's magic number.
PACK = """
import sys
sys.path.insert(0, sys.argv[1])
import ctx
source = ctx.read_file(sys.argv[1] + "/ctx.py")
for suffix, data in ((".pack", ctx.pack(source)), (".code", ctx.bytecode(source, "run_pack(archive, archive, entry, start, size)")[16:])):
    with open("%s/%s%s" % (sys.argv[2], ctx.magic_number()[:2].hex(), suffix), "wb") as file:
        file.write(data)
"""

# Begins every start and is compiled by each, hence short. Where a pack starts in the file is known when that is written.
ENTRY = """\
import marshal
import sys
from _frozen_importlib_external import MAGIC_NUMBER

read, archive, magic = __loader__.get_data, __loader__.archive, MAGIC_NUMBER[:2].hex()
(start, size), entry, key = %r.get(magic, (0, 0)), "__main__", %r
if sys.argv[1:2] == ["hook"]:
    entry = "hook_entry"
    del sys.argv[1]
code = read("%%s/%%s" %% (archive, "fast/" + magic if start else "slow.py"))
exec(marshal.loads(code) if start else compile(code, "slow.py", "exec"))
"""

# For a Python whose bytecode is not inside: the source, compiled once and kept in the directory where runs are.
SLOW = """\
import os

user, state = os.path.expanduser("~"), os.environ.get("XDG_STATE_HOME", "")
homes = [os.environ.get("CTX_HOME", ""), state and state + "/ctx", os.path.isdir(user) and user + "/.local/state/ctx"]
folders = [home + "/bytecode" for home in homes if home and home[0] == "/"]
name, code = "/%s-%s" % (key, magic), None
for folder in folders:
    try:
        with open(folder + name, "rb") as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                code = marshal.loads(file.read())
                break
    except (OSError, ValueError, EOFError, TypeError):
        pass
else:
    code = compile(read(archive + "/ctx.py"), "ctx.py", "exec")
    for folder in folders:
        draft = "%s%s.%s" % (folder, name, os.urandom(6).hex())
        try:
            os.makedirs(folder, 0o700, True)
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(marshal.dumps(code))
            os.rename(draft, folder + name)
            for other in os.listdir(folder):
                if other.endswith(magic) and "/" + other != name:  # of a build that this one replaced
                    os.remove("%s/%s" % (folder, other))
            break
        except OSError:
            if os.path.exists(draft):
                os.remove(draft)
if entry == "hook_entry":
    sys.argv.insert(1, "hook")
exec(code, {"__name__": "__main__", "__file__": archive, "__loader__": __loader__})
"""


class Part(NamedTuple):
    """A vendored package."""

    name: str
    version: str
    licence: str
    text: str  # of the licence
    wheels: Dict[str, str]  # file name → SHA-256


def dist(arguments: List[str]) -> int:
    """`build.py [--slim] [--platform NAME] [-o FILE]`: the one file. Runs again inside of the environment, which has shiv."""
    options(arguments)
    found = interpreters()
    python = environment(main_python(found), ROOT / ".venv", "requirements.txt")
    with tempfile.TemporaryDirectory() as scratch:
        for version in EVERY:
            if version in found:
                packed_by(found[version], Path(scratch))
            else:
                print("build: no Python %d.%d here: it will start from source" % version)
        return subprocess.call([python, str(ROOT / "build.py"), "archive", scratch, *arguments], stdin=subprocess.DEVNULL)


def packed_by(python: Python, folder: Path) -> None:
    """Put the pack of ctx.py for an interpreter into a folder. Hashes are the same each time, since sets of constants are written in the
    order of these (before 3.11). Raises Trouble."""
    command = [python.path, "-s", "-S", "-B", "-X", "no_debug_ranges", "-c", PACK, str(ROOT), str(folder)]
    quietly(["env", "-u", "PYTHONPATH", "PYTHONHASHSEED=0", *command], "ctx.py could not be packed by Python %s" % python.name)


def moment() -> Tuple[int, ...]:
    """The date of what is inside, as a zip has it: from 1980 on. Raises Trouble."""
    text = os.environ.get("SOURCE_DATE_EPOCH", str(EPOCH))
    if not text.isdigit() or len(text) > 10:
        raise Trouble("SOURCE_DATE_EPOCH=%s: write seconds since 1970" % text)
    return time.gmtime(max(int(text), 315532800))[:6]


def archive(arguments: List[str]) -> int:
    """The second half of `dist`: what needs the environment's own packages."""
    scratch, told = Path(arguments[0]), options(arguments[1:])
    slim: bool = told.slim
    target: Path = told.target or ROOT / "dist" / ("ctx-slim.pyz" if slim else "ctx.pyz")
    target.parent.mkdir(parents=True, exist_ok=True)
    parts, sets = ([], {}) if slim else vendored(told.platform or list(PLATFORMS))
    write_archive(target, scratch, slim, parts, sets)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    Path(str(target) + ".sha256").write_text("%s  %s\n" % (digest, target.name))
    size, limit = target.stat().st_size, LIMITS[slim]
    print("%s: %s bytes, sha256 %s" % (target, format(size, ","), digest))
    if size > limit:
        raise Trouble("%s is larger than the %s bytes that it may have" % (target.name, format(limit, ",")))
    return 0


def options(arguments: Sequence[str]) -> argparse.Namespace:
    """What `build.py` is told; where it cannot be understood, the usage and exit status 2."""
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slim", action="store_true", help="without tree-sitter and its grammars")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="with the grammars for this one; may be repeated")
    parser.add_argument("-o", dest="target", metavar="FILE", type=Path, help="instead of dist/ctx.pyz")
    return parser.parse_args(arguments)


def write_archive(target: Path, scratch: Path, slim: bool, parts: List[Part], sets: Dict[str, bytes]) -> None:
    """Write the file. Packs come first and are stored, not compressed: a start reads what it needs of one, from its place in the file."""
    import zipfile

    from shiv.builder import write_file_prefix, write_to_zipapp  # type: ignore[import-untyped]

    date = moment()
    source = (ROOT / "ctx.py").read_bytes()
    places: Dict[str, Tuple[int, int]] = {}
    draft = target.with_name(target.name + ".draft")
    with open(draft, "wb") as file:
        write_file_prefix(file, INTERPRETER)
        with zipfile.ZipFile(file, "w") as whole:

            def add(name: str, data: bytes, kind: int = zipfile.ZIP_DEFLATED) -> None:
                write_to_zipapp(whole, name, data, date, kind)

            for path in () if slim else sorted(scratch.glob("*.pack")):
                start = file.tell() + 30 + len("fast/" + path.name)  # behind its local header, which has a fixed part of 30 bytes
                places[path.stem] = start, path.stat().st_size
                add("fast/" + path.name, path.read_bytes(), zipfile.ZIP_STORED)
                add("fast/" + path.stem, path.with_suffix(".code").read_bytes(), zipfile.ZIP_STORED)
            key = hashlib.sha256(source).hexdigest()[:12]
            add("__main__.py", (ENTRY % (places, key)).encode(), zipfile.ZIP_STORED)  # so that a start needs no zlib
            for name, data in archive_texts(source, key, parts).items():
                add(name, data)
            for name, data in sorted(sets.items()):
                add("vendor/%s.tar.xz" % name, data, zipfile.ZIP_STORED)
    draft.chmod(0o755)
    draft.replace(target)


def archive_texts(source: bytes, key: str, parts: List[Part]) -> Dict[str, bytes]:
    """What stands in the archive as text: name → contents."""
    import json

    listed = [part._asdict() for part in parts]
    texts = "\n\n".join("%s %s\n\n%s" % (part.name, part.version, part.text) for part in parts)
    files = {"slow.py": SLOW.encode(), "ctx.py": source, "LICENSE": (ROOT / "LICENSE").read_bytes(), "LICENSES.vendored": texts.encode()}
    files["build.json"] = json.dumps({"key": key, "parts": [{k: v for k, v in part.items() if k != "text"} for part in listed]}, indent=1).encode()
    files.update(("grammars/" + path.name, path.read_bytes()) for path in sorted((ROOT / "grammars").glob("*.scm")))
    return files


def pinned() -> Tuple[Dict[str, str], Dict[str, str]]:
    """The packages (name → version) and their wheels (file name → SHA-256) of grammars.toml."""
    try:
        import tomllib
    except ImportError:
        import tomli as tomllib
    with open(PINS, "rb") as file:
        packages = tomllib.load(file)["packages"]
    wheels = {wheel: digest for package in packages.values() for wheel, digest in package["wheels"].items()}
    return {name: package["version"] for name, package in packages.items()}, wheels


def fetch(wheel: str, digest: str, platform: str) -> Path:
    """One wheel in WHEELS, downloaded unless it is there. Raises Trouble."""
    path = WHEELS / wheel
    if not path.exists():
        download(wheel, digest, platform)
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise Trouble("%s is not what %s pins: remove it" % (path, PINS.name))
    return path


def download(wheel: str, digest: str, platform: str) -> None:
    """Let pip get a wheel for a platform. Raises Trouble."""
    name, version, tag = wheel.split("-")[:3]
    python = (3, int(tag[3:])) if name == "tree_sitter" else OLDEST
    tags = [word for tag in PLATFORMS[platform] for word in ("--platform", tag)]
    with tempfile.TemporaryDirectory(dir=WHEELS) as folder:
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text("%s==%s --hash=sha256:%s\n" % (name.replace("_", "-"), version, digest))
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--implementation", "cp",
                   "--python-version", "%d.%d" % python, "--abi", "cp%d%d" % python, "--abi", "abi3", *tags, "-d", folder, "-r", str(wanted)]  # fmt: skip
        quietly(command, "%s could not be downloaded, see above: it needs a package index, this once" % wheel)
        (Path(folder) / wheel).replace(WHEELS / wheel)


def fits(wheel: str, platform: str) -> bool:
    """Whether a wheel is for a platform, by its name."""
    return any(tag in wheel[:-4].split("-")[-1].split(".") for tag in PLATFORMS[platform])


def vendored(chosen: Sequence[str]) -> Tuple[List[Part], Dict[str, bytes]]:
    """What is inside besides ctx itself: the packages, and their files as a compressed tar for each system, with a directory for each
    platform of it: parse tables are the same on all of them, so together they take half of the room. Raises Trouble."""
    import zipfile

    packages, wheels = pinned()
    WHEELS.mkdir(exist_ok=True)
    parts: List[Part] = []
    sets: Dict[str, Dict[str, bytes]] = {"linux": {}, "macos": {}}
    for platform in chosen:
        members = sets["macos" if platform.startswith("macos") else "linux"]
        for wheel, digest in wheels.items():
            if not fits(wheel, platform):
                continue
            with zipfile.ZipFile(fetch(wheel, digest, platform)) as opened:
                members.update(("%s/%s" % (platform, name), opened.read(name)) for name in opened.namelist() if is_needed(name))
    for name, version in packages.items():
        own = {wheel: digest for wheel, digest in wheels.items() if wheel.startswith("%s-%s-" % (name.replace("-", "_"), version))}
        parts.append(part_of(name, version, own))
    return parts, {system: tarred(members) for system, members in sets.items() if members}


def is_needed(name: str) -> bool:
    """Whether a file of a wheel is used when it runs."""
    return name.endswith((".so", "/__init__.py"))


def tarred(members: Dict[str, bytes]) -> bytes:
    """Files as a tar, compressed as one, those of the same name beside each other; the same bytes for the same files."""
    import io
    import lzma
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(members, key=lambda name: [*name.split("/")[1:], name]):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(members[name]), 0o600
            tar.addfile(entry, io.BytesIO(members[name]))
    return lzma.compress(buffer.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def part_of(name: str, version: str, wheels: Dict[str, str]) -> Part:
    """A package's licence, as its wheel has it."""
    import email
    import zipfile

    here = [WHEELS / wheel for wheel in wheels if (WHEELS / wheel).exists()]
    with zipfile.ZipFile(here[0]) as opened:
        names = opened.namelist()
        about = email.message_from_bytes(opened.read(next(name for name in names if name.endswith(".dist-info/METADATA"))))
        texts = [opened.read(name).decode() for name in names if ".dist-info/" in name and "LICENSE" in name.upper().rpartition("/")[2]]
    classified = [text.rpartition(" :: ")[2] for text in about.get_all("Classifier", []) if text.startswith("License ::")]
    licence = next(filter(None, (about.get("License-Expression"), about.get("License"), *classified)), "see its text")
    return Part(name, version, licence, "\n".join(texts) or "%s\n" % licence, wheels)


COMMANDS = {"test": test, "bench": bench, "archive": archive}


def main(argv: List[str]) -> int:
    name, arguments = (argv[0], argv[1:]) if argv and not argv[0].startswith("-") else ("", argv)
    if name and name not in COMMANDS:
        print("build: say which: `python3 build.py`, `python3 build.py test` or `python3 build.py bench`", file=sys.stderr)
        return 2
    try:
        return COMMANDS[name](arguments) if name else dist(arguments)
    except Trouble as trouble:
        print("build: %s" % trouble, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
