"""The agents' own programs: pinned packages, checked against the hash that the registry gave for them, kept in a cache.

The cache is $CTX_TEST_CACHE, else ~/.cache/ctx-tests. `python clients.py` fetches what is missing of the packages named (default: all).
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional

CACHE = Path(os.environ.get("CTX_TEST_CACHE") or Path.home() / ".cache" / "ctx-tests")
REQUIREMENTS = Path(__file__).resolve().parent / "antigravity.txt"
PATIENCE = 600  # seconds for one download


class Unreachable(Exception):
    """A registry did not answer; the text is what its client said."""


class Package(NamedTuple):
    """A package of the npm registry, and what runs in it."""

    spec: str  # name@version
    integrity: str  # sha512, base64, as the registry states it
    program: str  # path within the package


PACKAGES: Dict[str, Package] = {
    "claude": Package(
        "@anthropic-ai/claude-code-linux-x64@2.1.332",
        "f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==",
        "claude",
    ),
    "codex": Package(
        "@openai/codex@0.171.0-linux-x64",
        "l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==",
        "vendor/x86_64-unknown-linux-musl/bin/codex",
    ),
    "gemini": Package(
        "@google/gemini-cli@0.61.0",
        "dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
        "bundle/gemini.js",
    ),
    "copilot": Package(
        "@github/copilot-linux-x64@1.0.102",
        "eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==",
        "copilot",
    ),
}
ANTIGRAVITY = "google-antigravity 0.1.22"  # of PyPI; antigravity.txt has its hash and those of what it needs


def version(name: str) -> str:
    """The pinned version of a client."""
    return ANTIGRAVITY.split()[1] if name == "antigravity" else PACKAGES[name].spec.rsplit("@", 1)[1].split("-")[0]


def program(name: str) -> str:
    """The path of a client's program (for Antigravity: of the Python that can import its engine). Raises Unreachable."""
    folder = CACHE / ("%s-%s" % (name, version(name)))
    make = _environment if name == "antigravity" else _unpack
    with _alone():
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=str(CACHE)) as scratch:
                made = make(name, Path(scratch))
                os.rename(str(made), str(folder))
    return str(folder / ("bin/python" if name == "antigravity" else PACKAGES[name].program))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One download at a time, however many test processes there are."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(str(CACHE / "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(name: str, scratch: Path) -> Path:
    """An npm package, without its dependencies: each of these is one self-contained program."""
    package = PACKAGES[name]
    _client(["npm", "pack", "--fetch-retries", "1", package.spec, "--pack-destination", str(scratch)], scratch)
    (archive,) = scratch.glob("*.tgz")
    found = hashlib.sha512()
    with open(str(archive), "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            found.update(chunk)
    if base64.b64encode(found.digest()).decode() != package.integrity:
        raise AssertionError("%s is not what was pinned" % package.spec)
    subprocess.run(["tar", "-xzf", str(archive)], cwd=str(scratch), check=True)
    return scratch / "package"


def _environment(name: str, scratch: Path) -> Path:
    """An environment with the engine of Antigravity."""
    subprocess.run([sys.executable, "-m", "venv", str(scratch / "venv")], check=True)
    install = [str(scratch / "venv/bin/python"), "-m", "pip", "install", "--no-input", "--quiet", "--no-compile"]
    _client([*install, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(REQUIREMENTS)], scratch)
    return scratch / "venv"


def _client(command: List[str], scratch: Path) -> None:
    if not shutil.which(command[0]):
        raise Unreachable("%s is not installed" % command[0])
    try:
        done = subprocess.run(command, cwd=str(scratch), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired as slow:
        raise Unreachable("%s: no answer in %d s" % (command[0], PATIENCE)) from slow
    if done.returncode:
        said = next((line for line in done.stderr.split("\n") if "error" in line.lower()), done.stderr.strip())
        answered = any(sign in done.stderr for sign in ("E404", "EINTEGRITY", "HASHES"))  # then the pins are wrong
        raise (AssertionError if answered else Unreachable)("%s: %s" % (os.path.basename(command[0]), said))


@functools.lru_cache(maxsize=None)
def why_not(name: str) -> Optional[str]:
    """None when the client can be run here, else the reason, for a skip."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "the packages that are pinned are those of Linux on x86-64"
    try:
        program(name)
    except Unreachable as reason:
        return "no %s here: %s" % (name, reason)
    return None


if __name__ == "__main__":
    for name in sys.argv[1:] or [*PACKAGES, "antigravity"]:
        print("%-12s %-9s %s" % (name, version(name), why_not(name) or program(name)))
