"""Measure ctx against the tools it stands beside, as ratios within one run.

    python3 evals/perf.py [ROW…] [--python PATH] [--write]

Each row runs its contenders in turn (A B A B …) and compares medians, so that a busy machine slows both. `--write` keeps the table, dated, in
evals/results/perf.md. Inputs are made in a temporary directory and need about 3 GB there.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import Callable, Dict, List, Optional, Sequence, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MB = 10**6
Row = Tuple[str, str, str]  # what, target, measured


class Bench:
    """A scratch directory with ctx installed in it, its own store, and the interpreter under test."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.dir = tempfile.mkdtemp(prefix="ctx-perf-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "CTX_HOME": self.dir + "/store", "LANG": "C.UTF-8"}
        install = "import sys; sys.path.insert(0, %r); sys.dont_write_bytecode = True; import ctx; print(ctx.install_build())" % ROOT
        self.build = subprocess.check_output([python, "-c", install], env=dict(self.env, CTX_HOME=self.dir + "/installed")).decode().strip()

    def ctx(self, *words: str) -> List[str]:
        """The command line of ctx as it is installed."""
        return [self.build + "/ctx"] + list(words)

    def bare(self) -> List[str]:
        """The command line of an interpreter that does nothing."""
        return [self.python, "-I", "-S", "-c", "pass"]

    def path(self, name: str) -> str:
        return os.path.join(self.dir, name)

    def run(self, argv: Sequence[str], stdin: Optional[str] = None, stdout: str = os.devnull) -> Tuple[float, float, int]:
        """(wall seconds, CPU seconds, peak KiB) of one process."""
        with open(stdin or os.devnull, "rb") as source, open(stdout, "wb") as sink, open(self.dir + "/stderr", "wb") as errors:
            start = time.perf_counter()
            pid = os.posix_spawnp(
                argv[0],
                list(argv),
                self.env,
                file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), fd) for fd, file in enumerate((source, sink, errors))],
            )
            _, _, usage = os.wait4(pid, 0)
        return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def behind(self, producer: Sequence[str], argv: Sequence[str]) -> Tuple[float, float, int]:
        """The same for a process that reads the producer's output from a pipe."""
        read_end, write_end = os.pipe()
        start = time.perf_counter()
        with open(os.devnull, "wb") as sink, open(self.dir + "/stderr", "wb") as errors:
            first = os.posix_spawnp(producer[0], list(producer), self.env, file_actions=[(os.POSIX_SPAWN_DUP2, write_end, 1)])
            os.close(write_end)
            actions = [(os.POSIX_SPAWN_DUP2, read_end, 0), (os.POSIX_SPAWN_DUP2, sink.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)]
            second = os.posix_spawnp(argv[0], list(argv), self.env, file_actions=actions)
            os.close(read_end)
            _, _, usage = os.wait4(second, 0)
            os.waitpid(first, 0)
        return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def turns(count: int, contenders: Dict[str, Callable[[], float]]) -> Dict[str, float]:
    """Medians of the contenders, run in turn."""
    times: Dict[str, List[float]] = {name: [] for name in contenders}
    for _ in range(count):
        for name, act in contenders.items():
            times[name].append(act())
    return {name: statistics.median(values) for name, values in times.items()}


def apart(make: Callable[[str, int], None], path: str, size: int) -> None:
    """Make an input in a process of its own: a child's peak memory begins at what its parent had when it was started."""
    pid = os.fork()
    if pid == 0:
        make(path, size)
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("perf: %s could not be made" % path)


def make_log(path: str, size: int) -> None:
    """A log of about `size` bytes: a million different lines over and over, with one rare line near the end."""
    levels = ["INFO ", "DEBUG", "INFO ", "WARN "]
    lines = [
        "2026-11-30T09:%02d:%02d.%03d %s worker-%d GET /api/v1/orders/%d status=%d took %dms\n"
        % (i // 60000 % 60, i // 1000 % 60, i % 1000, levels[i % 4], i % 17, i * 7919 % 1000003, (200, 200, 200, 304, 404, 200, 500)[i * 31 % 7], i % 977)
        for i in range(200_000)
    ]
    block = "".join(lines).encode()
    with open(path, "wb") as file:
        while file.tell() < size - 1000:
            file.write(block[: size - file.tell() - 1000])
        file.write(b"\n2026-11-30T09:59:59.999 FATAL needle-in-the-haystack orders table is gone\n" + block[: block.rfind(b"\n", 0, 900) + 1])


def make_pytest_log(path: str, size: int) -> None:
    """A report of pytest with 200 failures, whose captured output makes it about `size` bytes."""
    count = 200
    noise = b"".join(b"DEBUG    app.db:db.py:%d SELECT * FROM orders WHERE id = %d -- 0 rows, no error\n" % (i % 400, i * 7919) for i in range(size // count // 74))
    with open(path, "wb") as file:
        file.write(b" test session starts ".center(79, b"=") + b"\nplatform linux -- Python 3.11.7, pytest-9.2.0, pluggy-1.7.0\nrootdir: /srv/app\n")
        file.write(b"collected %d items\n\n" % (count + 10))
        file.write(b"tests/test_orders.py " + b"." * 10 + b"F" * 49 + b" [ 28%]\n" + b"F" * 72 + b" [ 62%]\n" + b"F" * (count - 121) + b" [100%]\n\n")
        file.write(b" FAILURES ".center(79, b"=") + b"\n")
        for i in range(count):
            name = b"test_order_%d" % i
            file.write((b" " + name + b" ").center(79, b"_") + b"\n\n    def " + name + b"():\n>       assert total(%d) == %d\nE       assert %d == %d\n" % (i, i, i + 1, i))
            file.write(b"E        +  where %d = total(%d)\n\ntests/test_orders.py:%d: AssertionError\n" % (i + 1, i, 10 + 3 * i))
            file.write(b" Captured log call ".center(79, b"-") + b"\n" + noise)
        file.write(b" short test summary info ".center(79, b"=") + b"\n")
        for i in range(count):
            file.write(b"FAILED tests/test_orders.py::test_order_%d - assert %d == %d\n" % (i, i + 1, i))
        file.write((b" %d failed, 10 passed in 61.42s (0:01:01) " % count).center(79, b"=") + b"\n")


def keep(bench: Bench, path: str) -> str:
    """Store a file; its handle, with the line index made."""
    bench.behind(["cat", path], bench.ctx("tap"))
    out = subprocess.run(bench.ctx("runs", "-n", "1", "--all"), env=bench.env, stdout=subprocess.PIPE, check=True).stdout
    handle = out.split()[0].decode()
    bench.run(bench.ctx("get", handle + "#output:1-2"))
    return handle


# rows


def row_load(bench: Bench) -> Row:
    bare = [bench.python, "-I", "-S", "-c", "import posix; posix._exit(0)"]  # as ctx ends: what is loaded is not taken down again
    times = turns(60, {"bare": lambda: bench.run(bare)[0], "ctx": lambda: bench.run(bench.ctx("version"))[0]})
    return "`ctx version` over a bare interpreter: start and dispatch", "≤ +3 ms", "%+.2f ms (bare %.1f ms)" % ((times["ctx"] - times["bare"]) * 1000, times["bare"] * 1000)


def row_run_true(bench: Bench) -> Row:
    times = turns(60, {"pass": lambda: bench.run(bench.bare())[0], "run": lambda: bench.run(bench.ctx("run", "--", "true"))[0]})
    return "`ctx run -- true` against `python -I -S -c pass`", "≤ 1.35×", "%.2f× (%.1f ms, %.1f ms)" % (times["run"] / times["pass"], times["run"] * 1000, times["pass"] * 1000)


def row_hook(bench: Bench) -> Row:
    contenders = {"pass": lambda: bench.run(bench.bare())[0]}
    for name, command in HOOK_COMMANDS.items():
        event = {"session_id": "s", "cwd": bench.dir, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
        with open(bench.path(name + ".json"), "w") as file:
            json.dump(event, file)
        words = [bench.python, "-I", "-S", bench.build + "/hook.pyc", "claude", "PreToolUse"]
        contenders[name] = lambda words=words, name=name: bench.run(words, stdin=bench.path(name + ".json"))[0]  # type: ignore[misc]
    times = turns(100, contenders)
    parts = ["%s %.2f×" % (name, times[name] / times["pass"]) for name in HOOK_COMMANDS]
    return "the installed hook, before a command, against `python -I -S -c pass`", "≤ 1.15×", "%s (pass %.1f ms)" % (", ".join(parts), times["pass"] * 1000)


HOOK_COMMANDS = {
    "bounded": "git status --short",
    "noisy": "cd web && FOO=1 timeout 60 npm test 2>&1 | tail -40",
    "1 KiB": " && ".join("pytest -q tests/unit/test_orders_%d.py 2>&1" % i for i in range(24)),
}


def row_pyz(bench: Bench) -> Row:
    """The one file, as a hand-written hook would start it, on each Python at hand."""
    what, target = "`python ctx.pyz hook`, before a command, against `python -c pass`", "≤ 1.5× (3.11), ≤ 1.3× (3.12 on)"
    pyz, event = ROOT + "/dist/ctx.pyz", bench.path("pyz.json")
    if not os.path.exists(pyz):
        return what, target, "not built: python3 build.py"
    sys.path.insert(0, ROOT)
    import build

    with open(event, "w") as file:
        json.dump({"cwd": bench.dir, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": HOOK_COMMANDS["bounded"]}}, file)
    parts = []
    for version, python in sorted(build.interpreters().items()):
        path = bench.python if python.name == "3.11" else python.path
        contenders = {"pass": [path, "-c", "pass"], "hook": [path, pyz, "hook", "claude", "pre"]}
        if version in build.EVERY:
            times = turns(40, {name: partial(first_of, bench.run, words, event) for name, words in contenders.items()})
            parts.append("%s %.2f×" % (python.name, times["hook"] / times["pass"]))
    return what, target, ", ".join(parts)


def first_of(act: Callable[..., Tuple[float, float, int]], *words: object) -> float:
    """The wall seconds of a run."""
    return act(*words)[0]


def row_script(bench: Bench) -> Row:
    script = [bench.python, ROOT + "/ctx.py", "version"]
    times = turns(20, {"script": lambda: bench.run(script)[0], "code": lambda: bench.run(bench.ctx("version"))[0]})
    return "`python ctx.py version` against the installed one", "–", "%.1f× (%.0f ms, %.0f ms)" % (times["script"] / times["code"], times["script"] * 1000, times["code"] * 1000)


def row_capture(bench: Bench) -> Row:
    big, copy = bench.path("big.log"), bench.path("copy.log")
    apart(make_log, big, 500 * MB)
    peak = 0

    def tap() -> float:
        nonlocal peak
        shutil.rmtree(bench.path("store"), ignore_errors=True)
        wall, _, kib = bench.behind(["cat", big], bench.ctx("tap"))
        peak = max(peak, kib)
        return wall

    def tee() -> float:
        if os.path.exists(copy):
            os.unlink(copy)
        return bench.behind(["cat", big], ["tee", copy])[0]

    times = turns(5, {"tee": tee, "tap": tap})
    os.unlink(copy)
    return "capture of 500 MB to a hashed artifact against `tee FILE`", "≤ 1.4×, ≤ 24 MB", "%.2f× (%.2f s, %.2f s), %.1f MB" % (
        times["tap"] / times["tee"],
        times["tap"],
        times["tee"],
        peak * 1024 / MB,
    )


def row_digest(bench: Bench) -> Row:
    log = bench.path("pytest.log")
    apart(make_pytest_log, log, 100 * MB)
    results = []
    for _ in range(5):
        shutil.rmtree(bench.path("store"), ignore_errors=True)
        results.append(bench.run(bench.ctx("digest", log), stdout=bench.path("digest")))
    assert b"200 failed" in open(bench.path("digest"), "rb").read()
    return "digest of a 100 MB pytest log", "≤ 1.2 s of CPU, ≤ 64 MB", "%.2f s, %.1f MB" % (
        statistics.median(cpu for _, cpu, _ in results),
        max(kib for _, _, kib in results) * 1024 / MB,
    )


def row_get(bench: Bench) -> Row:
    big = bench.path("giga.log")
    apart(make_log, big, 1000 * MB)
    handle = keep(bench, big)
    lines = int(subprocess.run(["wc", "-l", big], stdout=subprocess.PIPE, check=True).stdout.split()[0])
    first, last = lines - 1010, lines - 1000
    times = turns(
        5,
        {
            "sed": lambda: bench.run(["sed", "-n", "%d,%dp" % (first, last), big], stdout=bench.path("sed.out"))[0],
            "get": lambda: bench.run(bench.ctx("get", "%s#output:%d-%d" % (handle, first, last)), stdout=bench.path("get.out"))[0],
        },
    )
    assert open(bench.path("sed.out"), "rb").read() == open(bench.path("get.out"), "rb").read() != b""
    os.unlink(big)
    return "`get RUN:A-B` near the end of 1 GB against `sed -n A,Bp`", "≤ 0.05×", "%.3f× (%.0f ms, %.0f ms)" % (
        times["get"] / times["sed"],
        times["get"] * 1000,
        times["sed"] * 1000,
    )


def search_ratio(bench: Bench, path: str, handle: str, name: str, grep: List[str], ours: List[str]) -> str:
    """One pattern counted by both, and our first page of it."""
    contenders: Dict[str, Callable[[], float]] = {
        "grep": lambda: bench.run(["grep", "-c", *grep, path], stdout=bench.path("grep.out"))[0],
        "search": lambda: bench.run(bench.ctx("search", "--count", *ours, handle), stdout=bench.path("search.out"))[0],
        "page": lambda: bench.run(bench.ctx("search", *ours, handle))[0],
    }
    times = turns(5, contenders)
    assert open(bench.path("grep.out"), "rb").read() == open(bench.path("search.out"), "rb").read()
    return "%s %.2f× (page %.2f×)" % (name, times["search"] / times["grep"], times["page"] / times["grep"])


def row_search(bench: Bench) -> Row:
    big = bench.path("big.log")
    if not os.path.exists(big):
        apart(make_log, big, 500 * MB)
    handle = keep(bench, big)
    parts = [
        search_ratio(bench, big, handle, "rare literal", ["-F", "needle-in-the"], ["-F", "needle-in-the"]),
        search_ratio(bench, big, handle, "literal", ["-F", "worker-16"], ["-F", "worker-16"]),
        search_ratio(bench, big, handle, "regular expression", ["-E", "status=(404|500) took 9.7ms"], ["status=(404|500) took 9.7ms"]),
    ]
    return "`search` in 500 MB against GNU `grep -c`, LANG=C.UTF-8", "literal ≤ 1×, with a literal in it ≤ 1.5×", ", ".join(parts)


ROWS = {"load": row_load, "true": row_run_true, "hook": row_hook, "pyz": row_pyz, "script": row_script, "capture": row_capture, "digest": row_digest, "get": row_get, "search": row_search}


def real_python() -> str:
    """An interpreter that is none of a version manager's shims: Debian's, else the one that runs this."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else os.path.realpath(sys.executable)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="of %s (all)" % ", ".join(ROWS))
    parser.add_argument("--python", default=real_python(), help="the interpreter to measure with")
    parser.add_argument("--write", action="store_true", help="keep the table in evals/results/perf.md")
    options = parser.parse_args()
    unknown = [row for row in options.rows if row not in ROWS]
    if unknown:
        parser.error("unknown row %s: rows are %s" % (unknown[0], ", ".join(ROWS)))
    bench = Bench(options.python)
    try:
        version = subprocess.run([options.python, "-V"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
        lines = ["| what | target | measured |", "|---|---|---|"]
        for name in options.rows or ROWS:
            row = "| %s | %s | %s |" % ROWS[name](bench)
            print(row, flush=True)
            lines.append(row)
        if options.write:
            os.makedirs(ROOT + "/evals/results", exist_ok=True)
            with open(ROOT + "/evals/results/perf.md", "w", encoding="utf8") as file:
                file.write("# Performance\n\n%s, %s, %s, %d cores. Made by `evals/perf.py`: medians of runs in turn.\n\n" % (
                    datetime.date.today(), version, platform.system() + " " + platform.machine(), os.cpu_count() or 0))  # fmt: skip
                file.write("\n".join(lines) + "\n")
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)


if __name__ == "__main__":
    main()
