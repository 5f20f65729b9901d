#!/usr/bin/env python3
"""What the agents do, established with the agents themselves: runs each against a scripted model and writes docs/hosts.md.

    python3 evals/hosts.py [--only facts|receipts]

The facts are what ctx's decisions rest on; the receipts are the end-to-end tests, host by host. The programs are those that
tests/e2e/clients.py pins; the prompts of a terminal need tmux. Nothing leaves the machine once the packages are there.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import clients  # noqa: E402
from drive import HOSTS, Claude, Codex, Host  # noqa: E402
from model import Model  # noqa: E402

PAGE = ROOT / "docs" / "hosts.md"
NAMES = {"claude": "Claude Code", "codex": "Codex", "antigravity": "Antigravity", "gemini": "Gemini CLI", "copilot": "Copilot CLI"}

# Answers as the table in the file that it is given says: command → [decision or null, replacement or null].
HOOK = """
import json, sys
call = json.load(sys.stdin)
with open(sys.argv[1] + ".told", "w") as file:
    file.write(call["permission_mode"])
with open(sys.argv[1]) as file:
    decision, replacement = json.load(file).get(call["tool_input"]["command"], (None, None))
answer = {"hookEventName": "PreToolUse"}
if decision:
    answer["permissionDecision"] = decision
if replacement:
    answer["updatedInput"] = {**call["tool_input"], "command": replacement}
if len(answer) > 1:
    print(json.dumps({"hookSpecificOutput": answer}))
"""
# What stands for ctx where only the host's rules are looked at: `ctx run -- X` runs X, anything else says what it was called with.
STAND_IN = """#!/bin/sh
if [ "$1" = run ]; then shift 2; exec "$@"; fi
echo ctx "$@"
"""
MAKEFILE = "check:\n\t@touch made\n"
Answer = Tuple[Optional[str], Optional[str]]


def lay(host: Host, command: str, answer: Answer) -> None:
    """A workspace whose `make check` leaves a file, a `ctx` on PATH, and a hook that gives one answer to one command."""
    host.write("Makefile", MAKEFILE)
    host.write("~/.local/bin/ctx", STAND_IN).chmod(0o755)
    host.write("~/.profile", 'PATH="$HOME/.local/bin:$PATH"\n')
    host.variables["PATH"] = "%s/.local/bin:/usr/local/bin:/usr/bin:/bin" % host.home
    (host.place / "hook.py").write_text(HOOK)
    (host.place / "answers.json").write_text(json.dumps({command: answer}))
    host.hook(shlex.join([sys.executable, "-I", "-S", str(host.place / "hook.py"), str(host.place / "answers.json")]))


def versions() -> str:
    """The agents with their versions."""
    return ", ".join("%s %s" % (name, clients.version(key)) for key, name in NAMES.items())


def told(host: Host) -> str:
    """The permission mode that the hook was told."""
    return (host.place / "answers.json.told").read_text()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table in Markdown."""
    yield "| %s |" % " | ".join(head)
    yield "|%s" % ("---|" * len(head))
    for row in rows:
        yield "| %s |" % " | ".join(cell.replace("|", "\\|") for cell in row)
    yield ""


def code(text: str) -> str:
    return "`%s`" % text if text else "–"


# ── Codex: what does the hook's allow do to approvals, rules and the sandbox? ──


class Situation(NamedTuple):
    """One call under one policy. `rule` is the decision of a prefix rule for `subject`, "" for none."""

    approval: str
    sandbox: str
    rule: str = ""
    subject: str = "make"
    escalate: bool = False


SITUATIONS = (
    Situation("untrusted", "workspace-write"),
    Situation("untrusted", "read-only"),
    Situation("on-request", "workspace-write"),
    Situation("on-request", "read-only"),
    Situation("on-request", "workspace-write", escalate=True),
    Situation("on-request", "workspace-write", "prompt"),
    Situation("on-request", "workspace-write", "forbidden"),
    Situation("on-request", "read-only", "allow"),
    Situation("on-request", "workspace-write", "prompt", "ctx"),
    Situation("on-request", "workspace-write", "forbidden", "ctx"),
    Situation("never", "workspace-write"),
    Situation("never", "read-only"),
    Situation("never", "workspace-write", escalate=True),
    Situation("never", "workspace-write", "prompt"),
    Situation("never", "workspace-write", "forbidden"),
    Situation("never", "read-only", "allow"),
)
ANSWERS: Dict[str, Answer] = {
    "no hook answer": (None, None),
    "allow": ("allow", None),
    "allow, rewritten": ("allow", "ctx run -- make check"),
}


def codex_outcome(place: Path, situation: Situation, answer: Answer) -> str:
    """What came of `make check`: asked about, refused, failed in the sandbox, or ran."""
    host = Codex(place)
    host.approval = situation.approval
    lay(host, "make check", answer)
    if situation.rule:
        host.write("~/.codex/rules/default.rules", 'prefix_rule(pattern=["%s"], decision="%s")\n' % (situation.subject, situation.rule))
    host.trust()
    more = {"sandbox_permissions": "require_escalated", "justification": "to see"} if situation.escalate else {}
    session, asked = host.converse([host.shell("make check", **more)], situation.sandbox, "decline")
    if asked:
        return "asked: " + ", ".join(code(re.sub(r"^/bin/bash -lc '(.*)'$", r"\1", command)) for command in asked)
    if (host.work / "made").exists():
        return "ran"
    return "stopped by the sandbox" if "Read-only file system" in session.text() else "refused"


def codex_facts(scratch: Path) -> Iterator[str]:
    """The section on Codex."""
    rows, neutral = [], 0
    for number, situation in enumerate(SITUATIONS):
        found = [codex_outcome(scratch / ("%d-%d" % (number, n)), situation, answer) for n, answer in enumerate(ANSWERS.values())]
        neutral += found[0] == found[1]
        rule = code('pattern=["%s"], decision="%s"' % (situation.subject, situation.rule)) if situation.rule else "none"
        rows.append([situation.approval, situation.sandbox, rule, "yes" if situation.escalate else "no", *found])
    yield "### Codex: does a hook's `allow` suppress an approval?"
    yield ""
    yield "The model runs `make check`; `codex app-server` shows what the user would have been asked (every question is declined here)."
    yield "An answer of `allow` without a rewrite changed the outcome in %d of %d situations." % (len(SITUATIONS) - neutral, len(SITUATIONS))
    yield ""
    yield from table(["approval policy", "sandbox", "prefix rule", "asks for escalation", *ANSWERS], rows)
    yield "`approval_policy = \"untrusted\"` in the configuration: %s." % untrusted(scratch / "untrusted")
    yield "What `exec` does where `app-server` would ask: %s." % refused(scratch / "exec")
    yield "Stored when the user picks the lasting answer for the rewritten command: %s." % amended(scratch / "amended")
    yield "The hook's payload says `permission_mode` = %s." % ", ".join(payload_modes(scratch / "modes"))
    yield ""
    yield CODEX_MEANS


def untrusted(place: Path) -> str:
    host = Codex(place)
    host.approval = "untrusted"
    session = host.run([host.shell("true")])
    return code(session.err.strip().split("\n")[-1]) if session.status else "accepted"


def refused(place: Path) -> str:
    host = Codex(place)
    host.approval = "on-request"
    lay(host, "make check", ("allow", "ctx run -- make check"))
    host.write("~/.codex/rules/default.rules", 'prefix_rule(pattern=["ctx"], decision="prompt")\n')
    return code(host.run([host.shell("make check")], "workspace-write").text().split("\n")[-1][:160])


def amended(place: Path) -> str:
    host = Codex(place)
    host.approval = "on-request"
    lay(host, "make check", ("allow", "ctx run -- make check"))
    host.trust()
    decision = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ctx", "run", "--", "make", "check"]}}
    call = host.shell("make check", sandbox_permissions="require_escalated", justification="to see")
    host.converse([call], "workspace-write", decision)
    return code((host.home / ".codex/rules/default.rules").read_text().strip())


def payload_modes(place: Path) -> Iterator[str]:
    for approval in ("untrusted", "on-request", "never"):
        host = Codex(place / approval)
        host.approval = approval
        lay(host, "true", (None, None))
        host.trust()
        host.converse([host.shell("true")], "workspace-write")
        yield "`%s` under `%s`" % (told(host), approval)


CODEX_MEANS = """So on Codex:

* `allow` is neutral: approvals, prefix rules and the sandbox stay in force, and apply to the rewritten text, and only to that.
* ctx therefore reads the rules itself and leaves alone what a `prompt` or `forbidden` rule names: rewritten, it would run.
* It also leaves alone what an `allow` rule names: such a command runs outside the sandbox, its rewritten form inside.
* A call that asks for escalation cannot be told from another by the hook; the user is then asked about the rewritten text.
"""

# ── Claude Code: which modes obey the hook's allow? ──

GET = "ctx get run:0123456789ab"
MODES = ("default", "acceptEdits", "dontAsk", "auto", "plan")
QUESTIONS: Tuple[Tuple[str, str, Answer, Dict[str, List[str]]], ...] = (
    ("store reader, no answer", GET, (None, None), {}),
    ("store reader, allow", GET, ("allow", None), {}),
    ("store reader, allow, ask rule `Bash(ctx get:*)`", GET, ("allow", None), {"ask": ["Bash(ctx get:*)"]}),
    ("store reader, no answer, allow rule `Bash(ctx get:*)`", GET, (None, None), {"allow": ["Bash(ctx get:*)"]}),
    ("read-only command, rewritten, no decision", "ls", (None, "ctx run -- ls"), {}),
    ("read-only command, rewritten, allow", "ls", ("allow", "ctx run -- ls"), {}),
    ("`make check`, rewritten, no decision, allow rule for it", "make check", (None, "ctx run -- make check"), {"allow": ["Bash(make check)"]}),
    ("`make check`, rewritten, allow, allow rule for it", "make check", ("allow", "ctx run -- make check"), {"allow": ["Bash(make check)"]}),
)


def claude_outcome(place: Path, mode: str, command: str, answer: Answer, rules: Dict[str, List[str]]) -> str:
    host = Claude(place)
    lay(host, command, answer)
    host.rules(**rules)
    (result,) = host.run([host.shell(command)], mode).seen[1].results
    return "refused" if result.error else "ran"


def claude_facts(scratch: Path) -> Iterator[str]:
    """The section on Claude Code."""
    rows = []
    for number, (label, command, answer, rules) in enumerate(QUESTIONS):
        found = [claude_outcome(scratch / ("%d-%s" % (number, mode)), mode, command, answer, rules) for mode in MODES]
        rows.append([label, *found])
    yield "### Claude Code: does `ctx get …` run unasked when the hook answers allow?"
    yield ""
    yield "With `-p`, where what would be asked is refused. Plan and auto modes put a command that no rule, no allow and no list of"
    yield "read-only commands covers before a classifier on the provider's side; a scripted model has none, and it is refused."
    yield ""
    yield from table(["the hook's answer", *(code(mode) for mode in MODES)], rows)
    if not shutil.which("tmux"):
        return
    yield "### Claude Code: what the terminal's prompt stores"
    yield ""
    yield "In a terminal, in the mode that a fresh installation starts in and in `default` (“manual”); the user picks “don't ask again”."
    yield ""
    prompts = [claude_prompt(scratch / ("prompt-%d" % number), *case) for number, case in enumerate(PROMPTS)]
    yield from table(["started in", "hook is told", "the model runs", "the hook's answer", "the user is asked", "second answer", "stored"], prompts)
    yield CLAUDE_MEANS


CLAUDE_MEANS = """So on Claude Code:

* A simple call of a store reader runs unasked with our allow in every mode but plan, where only a rule of the user lets it.
* A fresh installation starts in **auto** mode. Allow is obeyed there as in `default`; a rewrite without it goes before the classifier,
  even if the user's rules allow the original.
* A rewrite without a decision, where a prompt follows, makes “don't ask again” store `Bash(ctx run *)`, which is a licence for
  everything. It must not be made.
"""

PROMPTS: Tuple[Tuple[str, str, Answer], ...] = (
    ("", "make check", (None, "ctx run -- make check")),
    ("default", "make check", (None, None)),
    ("default", "make check", (None, "ctx run -- make check")),
    ("default", "cd web && make check", (None, "cd web && ctx run -- make check")),
    ("default", "make check", ("allow", "ctx run -- make check")),
    ("default", GET, ("allow", None)),
)
OFFER = re.compile(r"^[ ❯]*2\. (Yes, .*)$", re.M)
BOX = re.compile(r"^╌+\n(.*?)\n╌+$", re.M | re.S)


def claude_prompt(place: Path, mode: str, command: str, answer: Answer) -> List[str]:
    """Run a command in the terminal client and take the second answer of its prompt; a row of the table."""
    host = Claude(place)
    lay(host, command, answer)
    host.write("web/Makefile", MAKEFILE)
    with Model([host.shell(command)]) as model:
        with host.terminal([*(["--permission-mode", mode] if mode else []), "go"], model.url) as screen:
            shown = screen.wait(lambda text: "Do you want to proceed" in text or "Auto mode can't" in text or 1 in model.seen)
            offer = OFFER.search(shown)
            if offer:
                screen.keys("2")
                screen.wait(lambda text: 1 in model.seen)
    box = BOX.search(shown)
    ran = "nothing, it ran" if 1 in model.seen else "that its classifier does not answer"
    stored = host.work / ".claude" / "settings.local.json"
    rules = json.loads(stored.read_text())["permissions"]["allow"] if stored.exists() else []
    said = [answer[0] or "no decision", "rewritten" if answer[1] else "not rewritten"]
    return [
        mode or "as installed",
        code(told(host)),
        code(command),
        ", ".join(said),
        code(box.group(1).strip()) if box else ran,
        offer.group(1).strip() if offer else "–",
        ", ".join(map(code, rules)) or "–",
    ]


# ── what the shell of each is like ──

LOOK = """\
one=no tty=no
[ /proc/self/fd/1 -ef /proc/self/fd/2 ] && one=yes
[ -t 1 ] && tty=yes
echo ctx=$(command -v ctx) grep=$(type -t grep) find=$(type -t find) rg=$(type -t rg) one=$one tty=$tty
"""
LOOKED = re.compile(r"ctx=(\S*) grep=(\w*) find=(\w*) rg=(\w*) one=(\w+) tty=(\w+)")


def looked(host: Host) -> Sequence[str]:
    host.write("look.sh", LOOK)
    found = LOOKED.search(host.run([host.shell(". ./look.sh")], "bypass").text())
    return found.groups() if found else [""] * 6


def shell_facts(scratch: Path) -> Iterator[str]:
    """The section on shells."""
    rows = []
    for name in HOSTS:
        ahead, profile = HOSTS[name](scratch / (name + "-path")), HOSTS[name](scratch / (name + "-profile"))
        for host in (ahead, profile):
            host.write("~/.local/bin/ctx", STAND_IN).chmod(0o755)
        ahead.variables["PATH"] = "%s/.local/bin:/usr/local/bin:/usr/bin:/bin" % ahead.home
        profile.write("~/.profile", 'PATH="$HOME/.local/bin:$PATH"\n')
        first, *others = looked(ahead)
        rows.append([NAMES[name], "yes" if first else "no", "yes" if looked(profile)[0] else "no", *(kind or "–" for kind in others)])
    yield "### The shell that runs a command"
    yield ""
    head = ["finds a program on the agent's own PATH", "on the PATH of ~/.profile only", "grep is a", "find is a", "rg is a"]
    yield from table(["", *head, "stdout and stderr are one file", "a terminal"], rows)


# ── the receipts ──

TESTS = ROOT / "tests" / "e2e" / "test_agents.py"
# Why there is no test of an assertion with a host, by both.
NOT_POSSIBLE = {
    ("test_a_trimmed_suite", "gemini"): "shown, not kept: its policy is about the text that runs, so ctx rewrites nothing",
    ("test_a_trimmed_suite", "copilot"): "shown, not kept: a hook cannot know what the user allowed, so ctx rewrites nothing",
    ("test_what_is_denied_stays_denied", "antigravity"): "the engine has no rules of its own",
    ("test_what_nobody_allowed_is_asked", "codex"): "see the next row",
    ("test_what_nobody_allowed_is_asked", "antigravity"): "the engine has no rules of its own",
    ("test_an_mcp_result", "antigravity"): "its hooks cannot replace a result",
    ("test_an_mcp_result", "copilot"): "not tried",
    ("test_compaction", "codex"): "its hooks have no say in a compaction; see the next row",
    ("test_compaction", "antigravity"): "no such event",
    ("test_compaction", "gemini"): "not tried",
    ("test_compaction", "copilot"): "not tried",
    ("test_resumption", "claude"): "not tried; see the row above",
    ("test_resumption", "antigravity"): "no such event",
    ("test_resumption", "gemini"): "not tried",
    ("test_resumption", "copilot"): "not tried",
}


def receipts() -> Iterator[str]:
    """The part of the page that the end-to-end tests fill."""
    with tempfile.TemporaryDirectory(prefix="ctx-hosts-") as scratch:
        report = Path(scratch) / "report.xml"
        pytest = [sys.executable, "-m", "pytest", "-q", "--tier", "all", "--junitxml", str(report), str(TESTS)]
        subprocess.run(pytest, cwd=str(ROOT), check=False, stdout=subprocess.DEVNULL)
        found = outcomes(report)
    yield "## Receipts"
    yield ""
    yield "%s. %s. ctx was installed by `ctx setup`; the permission modes are the default ones but where a row says otherwise." % (
        datetime.date.today(), versions()
    )  # fmt: skip
    yield "“seen”: asserted on what the model was sent next. Antigravity is its engine, with the lines of `hooks.json` run by the driver."
    yield ""
    rows = []
    for test in ast.parse(TESTS.read_text()).body:
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
            says = (ast.get_docstring(test) or "").split("\n")[0]
            rows.append([says, *(cell(found, test.name, host) for host in NAMES)])
    yield from table(["", *NAMES.values()], rows)
    yield RECEIPTS_MEAN


RECEIPTS_MEAN = """What the rows do not say:

* Gemini CLI and Copilot CLI run `ctx get …` only if a rule of the user allows it (`ctx get` there, `shell(ctx:*)` here), as the tests have it:
  a hook's allow is not enough, or must not be given where the hook cannot see what the user denied.
* Gemini CLI shows a replaced result as an error, whatever the command's status; the digest tells that.
* Antigravity's user is asked about the rewritten text.
* In Codex's read-only sandbox nothing can be kept: a captured command runs, and its output arrives, as without ctx.
"""


def outcomes(report: Path) -> Dict[Tuple[str, str], List[str]]:
    """(test, host) → its outcomes, one for each variant of the test."""
    found: Dict[Tuple[str, str], List[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        test, _, host = case.attrib["name"].rstrip("]").replace("-", "[").partition("[")
        outcome = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "seen")
        found.setdefault((test, host.split("[")[0]), []).append(outcome)
    return found


def cell(found: Dict[Tuple[str, str], List[str]], test: str, host: str) -> str:
    """What one cell of the receipts says."""
    outcome = set(found.get((test, host), []))
    if not outcome:
        return NOT_POSSIBLE.get((test, host), "–")
    return "seen" if outcome == {"seen"} else "**%s**" % ", ".join(sorted(outcome - {"seen"}))


# ── the page ──

INTRODUCTION = """# Hosts

What ctx takes for granted about the agents it works in, as seen with the agents themselves: their own programs, at pinned versions, in a
fresh home, driven by a scripted model on loopback (`tests/e2e`). `python3 evals/hosts.py` wrote this page; when an agent contradicts it,
believe the agent and run it again.
"""


def facts() -> Iterator[str]:
    """The part of the page that was established by experiment."""
    yield "## Established"
    yield ""
    yield "%s. %s." % (datetime.date.today(), versions())
    yield ""
    with tempfile.TemporaryDirectory(prefix="ctx-hosts-") as scratch:
        yield from codex_facts(Path(scratch) / "codex")
        yield from claude_facts(Path(scratch) / "claude")
        yield from shell_facts(Path(scratch) / "shells")


PARTS = {"facts": facts, "receipts": receipts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="the other part of the page stays as it is")
    only = parser.parse_args().only
    kept = dict(zip(PARTS, re.split("^(?=## )", PAGE.read_text(), flags=re.M)[1:])) if only else {}
    made = {name: "\n".join(part()) for name, part in PARTS.items() if only in (None, name)}
    parts = [{**kept, **made}.get(name, "").rstrip() for name in PARTS]
    PAGE.write_text("\n\n".join([INTRODUCTION.rstrip(), *filter(None, parts)]) + "\n")


if __name__ == "__main__":
    main()
