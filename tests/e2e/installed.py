"""A host with ctx in it, and what the agent's workspace holds: suites that flood, suites that do not, things to be found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from drive import PATH

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # what users have, not that of an environment
HANDLE = re.compile(r"run:[0-9a-f]{12}\b")

# A suite of pytest that prints some 350 KB: its last failure is what an agent must get to know.
FLOOD = '''
import pytest

@pytest.mark.parametrize("case", range(40))
def test_rates(case):
    for line in range(4000):
        print("rate %02d/%04d: 0.%05d of the limit" % (case, line, case * line))
    assert case % 20 != 7

def test_expiry_of_the_last_token():
    for line in range(2000):
        print("the token %04d was looked at" % line)
    assert False, "token of age 4711 was taken for expired"
'''
SUITE = "pytest tests/test_flood.py"
PROGRAMS = ("pytest", "make", "npm", "cd", "tail", "grep", "seq")  # what the user of the tests allows

MAKEFILE = """\
small:
\t@echo "12 passed"
broken:
\t@echo "1 failed"; exit 3
mark:
\t@touch made
slow:
\t@for i in 1 2 3; do seq -f "$$i: line %05.0f of a log" 2000; sleep 1; done; echo "the end of it"
patient:
\t@for i in 1 2 3; do seq -f "$$i: line %05.0f of a log" 2000; done; sleep 34; echo "the end of it"
"""
JAVASCRIPT = """\
for (let i = 1; i <= 4000; i++) console.log(`ok ${i} - the case number ${i} of the front end`)
console.log("# pass 4000")
"""


# What a host's user has to allow so that addresses can be read: there, no hook of ours lets a command pass.
NEEDED = {"gemini": ("ctx get",), "copilot": ("ctx",)}

# What becomes of an installed hook in an accident.
ACCIDENTS = {
    "crash": "raise SystemExit(2)",
    "hang": "import time; time.sleep(6)",
    "garbage": "print('{\"hookSpecificOutput\": ]')",
    "deleted": None,
}


class Installed:
    """A host, its workspace laid out; `install()` brings ctx in as its setup does."""

    def __init__(self, host):
        self.host = host
        host.write("tests/test_flood.py", FLOOD)
        host.write("Makefile", MAKEFILE)
        host.write("web/package.json", {"name": "web", "version": "1.0.0", "scripts": {"test": "node suite.js"}})
        host.write("web/suite.js", JAVASCRIPT)
        for number in range(60):
            lines = ["line %d: nothing" % line if line % 2 else "needle_%d = %d" % (line, number) for line in range(120)]
            host.write("src/module_%02d.py" % number, "\n".join([*lines, ""]))
        host.write("~/.local/bin/pytest", '#!/bin/sh\nexec %s -m pytest -p no:cacheprovider -p no:rerunfailures "$@"\n' % sys.executable).chmod(0o755)
        host.write("~/.npmrc", "update-notifier=false\nfund=false\n")
        host.write("~/.profile", 'PATH="$HOME/.local/bin:$PATH"\n')
        host.variables["PATH"] = "%s/.local/bin:%s" % (host.home, PATH)

    def install(self):
        """Set ctx up for the host, with a launcher on PATH, as its user does, who also reviews the hooks where the host wants that."""
        self.ctx("setup", self.host.name, "--link")
        return self

    def allow(self):
        """Have the user allow what the tests run, and read addresses where only a rule lets that pass."""
        self.host.allow(*PROGRAMS, *NEEDED.get(self.host.name, ()))

    def spoil(self, source):
        """Replace every program of the installed ctx by a Python `source`, or take it away where that is None."""
        for file in (self.host.home / ".local/state/ctx/builds").glob("**/*"):
            if file.is_file():
                file.unlink()
                if source is not None:
                    file.write_text(source)

    def hasten(self):
        """Have the host wait for a hook no longer than a second, where setup says ten."""
        for file in self.host.home.glob(".*/**/*.json"):
            text = file.read_text()
            if "hook" in text:
                file.write_text(re.sub(r'("timeout(?:Sec)?": 1)0', r"\1", text))

    def ctx(self, *words, check=True):
        """Run ctx as the user does, in the workspace; its stdout, as bytes."""
        variables = {"PATH": self.host.variables["PATH"], "HOME": str(self.host.home)}
        words = [PYTHON, str(ROOT / "ctx.py"), *words]
        done = subprocess.run(words, cwd=str(self.host.work), env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.stdout

    def said(self):
        """What the hook's decisions were, by event, oldest first."""
        return [(entry["event"], entry["did"]) for entry in self.ledger()]

    def stored(self, handle):
        """All bytes behind a handle."""
        return self.ctx("get", handle + "#output", "--all")

    def runs(self):
        """The runs that are kept, newest first."""
        return [json.loads(line) for line in self.ctx("runs", "--json").splitlines()]

    def ledger(self):
        """What the hook noted."""
        return [json.loads(line) for line in (self.host.home / ".local/state/ctx/ledger").read_text().splitlines()]
