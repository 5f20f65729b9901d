"""Fixtures of the tests that answer addresses: a workspace, stored bytes, settings, and ctx called within this process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ctx

ROOT = Path(__file__).resolve().parent.parent


class Done:
    """What a call of ctx came to: `next` are the commands that it printed on stderr to go on."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err.decode("utf-8", "surrogateescape")
        self.next = [line[6:] for line in self.err.split("\n") if line.startswith("next: ")]
        assert "Traceback" not in self.err


@pytest.fixture
def workspace(home, tmp_path, monkeypatch):
    """An empty workspace (a Path), and the working directory."""
    top = tmp_path / "work"
    (top / ".git").mkdir(parents=True)
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(top)
    monkeypatch.setenv("PWD", str(top))
    return top


@pytest.fixture
def repository(workspace, monkeypatch):
    """The workspace (a Path) as an empty repository, in which git asks for no name."""
    if not shutil.which("git"):
        pytest.skip("no git")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv("GIT_%s_NAME" % name, "a")
        monkeypatch.setenv("GIT_%s_EMAIL" % name, "a@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    shutil.rmtree(str(workspace / ".git"))
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    return workspace


@pytest.fixture
def stored(workspace):
    """stored(bytes, [stream]) puts them into the store; the address of the stream."""

    def store(data, name="output"):
        time.sleep(0.002)  # runs are ordered by the millisecond
        spool = ctx.open_spool("file", ["file"], ctx.default_settings())
        for at in range(0, len(data), ctx.MIB):
            spool.write(name, memoryview(data)[at : at + ctx.MIB])
        run = spool.commit(["output"] if name == "output" else ["stdout", "stderr"], 0, "")
        spool.discard()
        return "%s#%s" % (run.handle, name)

    return store


@pytest.fixture
def setting(monkeypatch):
    """setting(table, key, value) changes a default, within this process."""

    def change(table, key, value):
        monkeypatch.setitem(ctx.SETTINGS, (table, key), (value, *ctx.SETTINGS[table, key][1:]))

    return change


@pytest.fixture
def call(home, capfdbinary, monkeypatch):
    """call(verb, *arguments) runs a verb of ctx in this process: much faster than to start it."""
    monkeypatch.setattr(sys, "argv", [str(ROOT / "ctx.py")])

    def run(*arguments):
        capfdbinary.readouterr()
        return Done(ctx.main(arguments), *capfdbinary.readouterr())

    return run


@pytest.fixture
def shell(home, monkeypatch):
    """shell(line) is what a real shell makes of a line that ctx printed."""
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])

    def run(line, **options):
        done = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)
        return Done(done.returncode, done.stdout, done.stderr)

    return run
