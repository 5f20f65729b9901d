"""What the tests of state, store, capture and crashes share: a ctx of its own to run, the same command without it, a terminal."""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import posix
import py_compile
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import ctx

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
LINUX = sys.platform == "linux"


@functools.lru_cache(maxsize=None)
def program():
    """The words that start ctx from bytecode, as an installed one starts."""
    folder = tempfile.mkdtemp(prefix="ctx-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiled = os.path.join(folder, "ctx.pyc")
    py_compile.compile(str(ROOT / "ctx.py"), compiled, doraise=True)
    # older Pythons read ctx.toml with the tomli of the environment
    return [PYTHON, "-I", "-S", compiled] if sys.version_info >= (3, 11) else [PYTHON, "-s", compiled]


def python(source, *arguments):
    """The words that run Python source."""
    return [PYTHON, "-I", "-S", "-c", source, *arguments]


def wait_for(true, seconds=30):
    """Wait until `true()` is; its value. Fails the test after some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = true()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("waited %s s for %s" % (seconds, true))


def status_of(done):
    """The exit status as a shell tells it."""
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def alive(pid):
    """Whether a process still runs (a zombie does not)."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return not LINUX


class Box:
    """A store, a home, a temporary directory and a working directory that nobody else knows, and a ctx in them."""

    def __init__(self, home, tmp_path, monkeypatch):
        self.store, self.work, self.tmp = home, tmp_path / "work", tmp_path / "tmp"
        self.work.mkdir()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        self.env.update(PATH=os.path.dirname(PYTHON) + os.pathsep + self.env["PATH"])
        self.env.update(TMPDIR=str(self.tmp), CTX_HOME=str(self.store))
        self.env.pop("PWD", None)
        for name in list(posix.environ):  # what `import ctx` in this process sees
            if name.startswith((b"CTX_", b"XDG_", b"CLAUDE", b"CODEX", b"GEMINI", b"COPILOT")) or name == b"PWD":
                monkeypatch.delitem(posix.environ, name)
        for name in ("CTX_HOME", "TMPDIR", "HOME", "PATH"):
            monkeypatch.setitem(posix.environ, name.encode(), self.env[name].encode())
        monkeypatch.chdir(self.work)
        self.started = []
        for name in ("SIGINT", "SIGQUIT", "SIGHUP"):  # ignored where the tests run in the background
            if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
                signal.signal(getattr(signal, name), signal.SIG_DFL)

    def config(self, text):
        """Write the ctx.toml of the working directory."""
        (self.work / "ctx.toml").write_text(text)

    def plain(self, command, **options):
        """Run a command without ctx."""
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        if options.pop("merged", False):
            options.update(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options["env"] = {name: value for name, value in {**self.env, **(options.get("env") or {})}.items() if value is not None}
        return subprocess.run(command, cwd=options.pop("cwd", self.work), timeout=options.pop("timeout", 100), **options)

    def ctx(self, *words, **options):
        """Run a verb."""
        return self.plain([*program(), *words], **options)

    def run(self, command, *flags, **options):
        """Run a command under `ctx run`."""
        return self.ctx("run", *flags, "--", *command, **options)

    def start(self, *words, **options):
        """Start a verb; a Popen."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options["env"] = {**self.env, **options.get("env", {})}
        self.started.append(subprocess.Popen([*program(), *words], cwd=options.pop("cwd", self.work), **options))
        return self.started[-1]

    def terminal(self, *words):
        """Start words on a terminal of their own."""
        terminal = Terminal(words, self.env, self.work)
        self.started.append(terminal.process)
        return terminal

    def close(self):
        """End what a test that failed has left."""
        for process in self.started:
            if process.poll() is None:
                process.kill()

    @property
    def inside(self):
        """The store, as this process sees it."""
        return ctx.Store(str(self.store))

    def names(self):
        """The occurrences, oldest first."""
        return self.inside.occurrences()

    def last(self):
        """The newest run."""
        return ctx.load_occurrence(self.inside, self.names()[-1])

    def bytes(self, run, name="output"):
        """All bytes of a stream, as stored."""
        source = (run if isinstance(run, ctx.Run) else ctx.resolve_run(run)).source(name)
        return source.read(0, source.size)

    def spooled(self):
        """What is left in the spool."""
        return ctx.list_dir(str(self.store / "spool"))

    def problems(self):
        """What doctor finds."""
        return ctx.verify_store(self.inside)[1]

    def temporaries(self):
        """Temporary files that are left in the store."""
        return [str(path) for path in self.store.rglob("*.tmp-*")]


class Terminal:
    """A command on a terminal of its own, in its foreground."""

    def __init__(self, words, env, cwd):
        self.master, slave = os.openpty()

        def claim():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        ends = {"stdin": slave, "stdout": slave, "stderr": slave}
        self.process = subprocess.Popen(words, env=env, cwd=cwd, start_new_session=True, preexec_fn=claim, **ends)
        os.close(slave)
        self.seen = b""

    def read(self, seconds):
        """Take in what the terminal shows within some time; False at its end."""
        if select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # EIO: the last user has gone
                return False
            self.seen += data
            return bool(data)
        return True

    def expect(self, text, seconds=30):
        """Wait until the terminal shows a text; what was shown with it."""
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            if not self.read(0.05):
                break
        assert text in self.seen, self.seen
        return self.seen

    def type(self, data):
        """Type on it."""
        os.write(self.master, data)

    def finish(self, seconds=30):
        """Wait for the command's end; its exit status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        status = self.process.wait(1)
        while self.read(0.1) and select.select([self.master], [], [], 0)[0]:
            pass
        os.close(self.master)
        return status


def can_mount():
    """Whether this user may mount a file system in a namespace of its own."""
    if not LINUX or not shutil.which("unshare") or not shutil.which("mount"):
        return False
    probe = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /mnt"]
    return subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
