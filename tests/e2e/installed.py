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

@pytest.mark.parametrize("case", range(70))
def test_rates(case):
    for line in range(90):
        print("rate %03d/%03d: 0.%06d of the limit" % (case, line, case * line))
    assert case * 7 % 5 != 1

def test_expiry_of_the_last_token():
    token = {"valid": False, "age": 4711}
    assert token["valid"], "token of age 4711 was taken for expired"
'''
PYTEST = "pytest tests/test_flood.py"
LAST_FAILURE = "test_expiry_of_the_last_token"

MAKEFILE = """\
small:
\t@echo "12 passed"
broken:
\t@echo "1 failed"; exit 3
flood:
\t@seq -f 'line %06.0f of the log, which is long' 9000; exit 4
"""
JAVASCRIPT = """\
for (let i = 1; i <= 4000; i++) console.log(`ok ${i} - the case number ${i} of the front end`)
console.log("# pass 4000")
"""


def hooks_of_claude(host, line):
    tool = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
    host.settings({"hooks": {event: [{"matcher": "*" * (event in tool), "hooks": [{"type": "command", "command": line % (event, ":"), "timeout": 10}]}]
                             for event in (*tool, "SessionStart", "PreCompact")}})


def hooks_of_codex(host, line):
    events = ("PreToolUse", "PostToolUse", "SessionStart")
    host.write("~/.codex/hooks.json", {"hooks": {event: [{"hooks": [{"type": "command", "command": line % (event, ":"), "timeout": 10}]}] for event in events}})


def hooks_of_gemini(host, line):
    events = ("BeforeTool", "AfterTool", "SessionStart")
    host.settings({"hooks": {event: [{"matcher": "*", "hooks": [{"type": "command", "command": line % (event, ":"), "timeout": 10000}]}] for event in events}})


def hooks_of_copilot(host, line):
    events = ("preToolUse", "postToolUse")
    host.write("~/.copilot/hooks/ctx.json", {"version": 1, "hooks": {event: [{"type": "command", "bash": line % (event, ":"), "timeoutSec": 10}] for event in events}})


def hooks_of_antigravity(host, line):
    neutral = "echo '{\"decision\":\"ask\"}'"
    hook = {"type": "command", "command": line % ("PreToolUse", neutral), "timeout": 10}
    host.write("~/.gemini/config/hooks.json", {"ctx": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}})


HOOKS = {"claude": hooks_of_claude, "codex": hooks_of_codex, "gemini": hooks_of_gemini, "copilot": hooks_of_copilot, "antigravity": hooks_of_antigravity}


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
        host.write("~/.local/bin/pytest", '#!/bin/sh\nexec %s -m pytest -p no:cacheprovider "$@"\n' % sys.executable).chmod(0o755)
        host.write("~/.profile", 'PATH="$HOME/.local/bin:$PATH"\n')
        host.variables["PATH"] = "%s/.local/bin:%s" % (host.home, PATH)

    def install(self):
        """Set ctx up for the host, and a launcher on PATH."""
        build = "import sys; sys.path.insert(0, %r); import ctx; print(ctx.install_build())" % str(ROOT)
        variables = {"PATH": PATH, "HOME": str(self.host.home)}
        current = subprocess.check_output([PYTHON, "-c", build], env=variables, text=True).strip()
        (self.host.home / ".local/bin/ctx").symlink_to(current + "/ctx")
        line = "%s -I -S %s/hook.pyc %s %%s || %%s" % (PYTHON, current, self.host.name)
        HOOKS[self.host.name](self.host, line)
        return self

    def ctx(self, *words, check=True):
        """Run ctx as the user does, in the workspace; its stdout, as bytes."""
        variables = {"PATH": self.host.variables["PATH"], "HOME": str(self.host.home)}
        words = [PYTHON, str(ROOT / "ctx.py"), *words]
        done = subprocess.run(words, cwd=str(self.host.work), env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.stdout

    def stored(self, handle):
        """All bytes behind a handle."""
        return self.ctx("get", handle + "#output", "--all")

    def runs(self):
        """The runs that are kept, newest first."""
        return [json.loads(line) for line in self.ctx("runs", "--json").splitlines()]

    def ledger(self):
        """What the hook noted."""
        files = sorted((self.host.home / ".local/state/ctx").glob("ledger*"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]
