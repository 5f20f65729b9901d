#!/usr/bin/env python3
"""The tooling of ctx: sets up what the tests need, and runs them.

    python3 build.py test [--all] [PYTEST ARGUMENT ...]    lint, types, the tests; the fast ones on every other Python too
    python3 build.py bench [ARGUMENT ...]                  the measurements of evals/perf.py

Standard library only, CPython 3.8 or newer. Exit status: 0 all well, 1 something failed, 2 usage or setup.
"""
from __future__ import annotations

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
EVERY = tuple((3, minor) for minor in range(8, 14))  # the fast part runs on each of these
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
            fast_part(report, found[version], arguments)
    return report.close()


def fast_part(report: Report, python: Python, arguments: List[str]) -> None:
    """Compile ctx.py and run the fast tests on one more interpreter. One that can have no environment only compiles; it is said."""
    name = "fast tests on %s" % python.name
    report.command("compile on %s" % python.name, python.path, "-I", "-W", "error", "-c", COMPILE, str(ROOT / "ctx.py"))
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


COMMANDS = {"test": test, "bench": bench}


def main(argv: List[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        print("build: say which: " + " or ".join("`python3 build.py %s`" % name for name in COMMANDS), file=sys.stderr)
        return 2
    try:
        return COMMANDS[argv[0]](argv[1:])
    except Trouble as trouble:
        print("build: %s" % trouble, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
