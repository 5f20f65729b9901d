#!/usr/bin/env python3
"""Start dist/ctx.pyz on other systems than this: Debian's releases, each with python3 and nothing else, in every way that images start things.

    python3 tests/roots.py [--keep DIR] [PYZ]

Builds the roots with debootstrap (as root, from Debian's archive) below DIR, by default a cache directory, and says what it could not build.
Prints a line for each release and way; exit 0 when all that could be tried went well, 1 when something did not, 2 when nothing could be tried.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASES = ("bullseye", "bookworm", "trixie")
ARCHIVE = [os.environ["CTX_DEBIAN"]] if "CTX_DEBIAN" in os.environ else []  # else the one that debootstrap knows

RUN = "run -- seq 5000"
EMPTY = "env -i PATH=/usr/bin:/bin"
# what is started → how, within the root, with {ctx} for the program; each must end well and print a digest
WAYS = {
    "as an executable": EMPTY + " HOME=/root {ctx} " + RUN,
    "with python3": EMPTY + " HOME=/root python3 {ctx} " + RUN,
    "a second time": EMPTY + " HOME=/root python3 {ctx} " + RUN,
    "without HOME": EMPTY + " python3 {ctx} " + RUN,
    "HOME=/nonexistent": EMPTY + " HOME=/nonexistent python3 {ctx} " + RUN,
    "LANG=C": EMPTY + " HOME=/root LANG=C LC_ALL=C python3 {ctx} " + RUN,
    "no bytecode, safe path": EMPTY + " HOME=/root PYTHONDONTWRITEBYTECODE=1 PYTHONSAFEPATH=1 python3 {ctx} " + RUN,
    "-I -S -E": EMPTY + " HOME=/root python3 -I -S -E {ctx} " + RUN,
}
# the same from outside: how the root is entered, with {root} and {line}
ENTRIES = {
    "an unknown user": ("chroot --userspec=54321:54321 {root} sh -c '{line}'", EMPTY + " HOME=/nonexistent python3 {ctx} " + RUN),
    "no network": ("unshare -n chroot {root} sh -c '{line}'", EMPTY + " HOME=/root python3 {ctx} " + RUN),
    "a read-only root": (
        "unshare -m sh -c \"mount --bind {root} {root} && mount -o remount,ro,bind {root} && mount -t tmpfs -o size=8m none {root}/tmp"
        " && chroot {root} sh -c '{line}'\"",
        EMPTY + " HOME=/root python3 {ctx} " + RUN,
    ),
    "code search": ("chroot {root} sh -c 'mkdir -p /w/.git && cd /w && echo \"def f(): pass\" > a.py && {line}'", EMPTY + " HOME=/root python3 {ctx} outline a.py"),
}


def build(release: str, folder: Path) -> str:
    """Make the root of a release; "" when it is there, else why not."""
    if (folder / "usr/bin/python3").exists():
        return ""
    if not shutil.which("debootstrap"):
        return "debootstrap is not installed"
    if os.geteuid():
        return "only root can build one"
    draft = folder.with_name(folder.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    command = ["debootstrap", "--variant=minbase", "--include=python3", release, str(draft), *ARCHIVE]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1200)
    if done.returncode:
        return done.stdout.decode(errors="replace").strip().split("\n")[-1]
    draft.rename(folder)
    return ""


def attempt(line: str) -> str:
    """Run a line; "" when it ended well and printed what it should, else what is wrong."""
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode or "Traceback" in err or not ("5,000 lines" in out or "5000\n" in out or "def" in out or " f" in out):
        return "exit %d: %s" % (done.returncode, (err or out).strip()[-300:])
    return ""


def main(argv: list) -> int:
    keep = Path(argv[argv.index("--keep") + 1]) if "--keep" in argv else Path(os.environ.get("CTX_TEST_CACHE") or Path.home() / ".cache/ctx-tests") / "roots"
    rest = [word for at, word in enumerate(argv) if word != "--keep" and (not at or argv[at - 1] != "--keep")]
    pyz = Path(rest[0]) if rest else ROOT / "dist" / "ctx.pyz"
    keep.mkdir(parents=True, exist_ok=True)
    tried = bad = 0
    for release in RELEASES:
        root = keep / release
        missing = build(release, root)
        if missing:
            print("%-10s not built: %s" % (release, missing))
            continue
        (root / "opt").mkdir(exist_ok=True)
        shutil.copy(pyz, root / "opt" / "ctx.pyz")
        ways = {name: ("chroot {root} sh -c '{line}'", line) for name, line in WAYS.items()}
        for name, (entry, line) in {**ways, **ENTRIES}.items():
            problem = attempt(entry.format(root=root, line=line.format(ctx="/opt/ctx.pyz")))
            print("%-10s %-24s %s" % (release, name, problem or "ok"), flush=True)
            tried, bad = tried + 1, bad + bool(problem)
    return 2 if not tried else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
