"""What every test file shares: `import ctx`, a home of its own, a ctx to run, the tiers."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# What would make ctx, or a pytest that it runs, behave otherwise here than for somebody else.
FOREIGN = (
    *("CTX_", "XDG_", "CLAUDE", "PYTEST_", "COV_CORE_", "CI", "BUILD_NUMBER"),
    *("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "COLUMNS", "LINES"),
)

TIERS = {"fast": ("slow", "once"), "main": ("slow",), "all": ()}  # tier → the marks it leaves out

settings.register_profile("fast", deadline=None, derandomize=True, database=None, max_examples=25)
settings.register_profile("main", deadline=None, derandomize=True, database=None)
settings.register_profile("all", deadline=None, max_examples=1000)


def pytest_addoption(parser):
    help = "fast: what runs on every Python; main: all but the slow ones; all"
    parser.addoption("--tier", choices=sorted(TIERS), default="main", help=help)


def pytest_configure(config):
    settings.load_profile(config.getoption("--tier"))


def pytest_collection_modifyitems(config, items):
    left_out = TIERS[config.getoption("--tier")]
    kept: list = []
    out: list = []
    for item in items:
        (out if any(item.get_closest_marker(mark) for mark in left_out) else kept).append(item)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = kept


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A fresh, not yet existing CTX_HOME (a Path), in an environment without a trace of the user, the host or this pytest."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    user, store, temporary = tmp_path / "user", tmp_path / "store", tmp_path / "tmp"
    user.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("CTX_HOME", str(store))
    monkeypatch.setenv("TMPDIR", str(temporary))  # where a store of last resort may be, which every reader looks into
    return store


@pytest.fixture
def box(home, tmp_path, monkeypatch):
    """A store and a working directory of one's own, with what runs in them: a Box."""
    from harness import Box

    box = Box(home, tmp_path, monkeypatch)
    yield box
    box.close()


@pytest.fixture
def run_ctx(home):
    """run_ctx(*args, input=None, env=None, cwd=None, timeout=60) runs ctx.py in `home` and returns a CompletedProcess of bytes.

    `input` is bytes, by default nothing at all; `env` is laid over the environment, None takes a variable away. The commands that
    ctx runs find this interpreter and its pytest first on PATH."""

    def run(*args, input=None, env=None, cwd=None, timeout=60):
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        variables["PATH"] = os.path.dirname(sys.executable) + os.pathsep + variables.get("PATH", os.defpath)
        for name, value in (env or {}).items():
            variables.pop(name, None)
            if value is not None:
                variables[name] = value
        source = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        return subprocess.run(
            [sys.executable, str(ROOT / "ctx.py"), *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            cwd=cwd,
            timeout=timeout,
            **source,
        )

    return run
