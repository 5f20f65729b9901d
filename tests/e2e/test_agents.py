"""What an agent is sent when ctx is in it, asserted on the next request that its model gets.

The first line of each docstring is a row of the receipts in docs/hosts.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import clients
import pytest
from installed import ACCIDENTS, HANDLE, SUITE
from mcp_server import report
from model import Call

pytestmark = pytest.mark.timeout(clients.PATIENCE + 120)  # the first test of a host may have to fetch it
SERVER = str(Path(__file__).resolve().parent / "mcp_server.py")
READS = re.compile(r"^ *(ctx get \S*?:(\d+)-(\d+))$", re.M)


def pages(shown):
    """The commands of a digest that read lines, with the first and the last of these."""
    return [(command, int(first), int(last)) for command, first, last in READS.findall(str(shown).replace("\r", ""))]


def handle_in(shown):
    """The handle in what the model was shown."""
    found = HANDLE.search(str(shown))
    assert found, "no handle in: %s" % shown
    return found.group()


# ── what is contained, and what is left alone ──


def test_small_output_is_untouched(agent):
    """A small command arrives byte for byte as without ctx, with the same status and error mark."""
    host = agent.host
    agent.allow()
    script = [host.shell(command) for command in ("make small", "make broken", "grep -c nothing src/module_00.py")]
    plain = host.run(script)
    agent.install()
    captured = host.run(script)
    for turn in (1, 2, 3):
        (before,), (after,) = plain.seen[turn].results, captured.seen[turn].results
        assert host.output(after) == host.output(before)
        assert after.error == before.error
    assert host.output(captured.seen[2].results[0])[1] == 2  # as make leaves when a command has left with 3


def test_a_failing_flood(agent):
    """A failing test run of 350 KB is a digest with the last failure; an address in it gives the exact lines, in the agent's own shell."""
    host = agent.install().host
    agent.allow()
    session = host.run([host.shell(SUITE), lambda seen: host.shell(pages(seen[1])[0][0])])
    result, page = session.seen[1].results[0], session.seen[2].results[0]
    assert len(result.text) < 4000
    assert "test_expiry_of_the_last_token" in result.text and "token of age 4711 was taken for expired" in result.text
    assert re.search(r"^exit: 1\r?$", result.text, re.M) and result.error in (None, True)
    stored = agent.stored(handle_in(result.text)).decode()
    assert len(stored) > 330_000
    _, first, last = pages(result.text)[0]
    read = host.output(page)[0].split("\n")
    assert read.pop(0 if read[0].startswith("next: ") else -1).startswith("next: ctx get ")  # of stderr, which has no place of its own in some hosts
    assert len(read) > 50 and read == stored.split("\n")[first - 1 : last][: len(read)]


@pytest.mark.hosts("codex")
def test_a_flood_in_code_mode(agent):
    """The same in a script of Codex's newer models, whose other values stay as they are."""
    host = agent.install().host
    host.model = "gpt-6.2-sol"
    text = host.run([host.shell(SUITE)]).text()
    assert text.startswith("Script completed") and "test_expiry_of_the_last_token" in text and len(text) < 4000


def test_a_search(agent):
    """A recursive search of 125 KB becomes per-file counts of everything and a handle."""
    host = agent.install().host
    agent.allow()
    text = host.run([host.shell("grep -rn needle src")]).text()
    assert len(text) < 6000
    assert all("src/module_%02d.py" % number in text for number in range(60))
    lines = agent.stored(handle_in(text)).decode().replace("\r", "").rstrip().split("\n")
    assert len(lines) == 3600 and all(re.fullmatch(r"src/module_\d\d\.py:\d+:needle_\d+ = \d+", line) for line in lines)


@pytest.mark.hosts("claude", "codex", "antigravity")
def test_a_trimmed_suite(agent):
    """`cd web && npm test 2>&1 | tail -40` shows its 40 lines, and all of it is kept."""
    host = agent.install().host
    agent.allow()
    session = host.run([host.shell("cd web && npm test 2>&1 | tail -40")])
    shown, status = host.output(session.seen[1].results[0])
    whole = "".join("ok %d - the case number %d of the front end\n" % (number, number) for number in range(1, 4001)) + "# pass 4000\n"
    assert status == 0 and whole[whole.index("ok 3962 ") :].rstrip() in shown
    assert len(shown.split("\n")) <= 41  # and the line that names the handle
    assert agent.stored(handle_in(shown)).decode().replace("\r", "").endswith(whole)


# ── authority ──


@pytest.mark.hosts("claude", "codex", "gemini", "copilot")
def test_what_is_denied_stays_denied(agent):
    """A rule of the user that denies the original holds."""
    host = agent.install().host
    host.deny("make")
    host.run([host.shell("make mark")])
    assert not (host.work / "made").exists()


@pytest.mark.hosts("claude", "gemini", "copilot")
def test_what_nobody_allowed_is_asked(agent):
    """Without a rule the host refuses or asks, about the original."""
    host = agent.install().host
    host.allow("ls")
    session = host.run([host.shell("make mark")])
    assert not (host.work / "made").exists()
    assert "ctx" not in session.text()


@pytest.mark.hosts("codex")
def test_what_codex_asks_about(agent):
    """Where a rule wants a question, the user is asked about the command as the model typed it."""
    host = agent.install().host
    host.approval = "on-request"
    host.write("~/.codex/rules/default.rules", 'prefix_rule(pattern=["make"], decision="prompt")\n')
    host.trust()
    session, asked = host.converse([host.shell("make mark")], "workspace-write", "decline")
    assert [command.rsplit("'", 2)[1] for command in asked] == ["make mark"]
    assert not (host.work / "made").exists()


@pytest.mark.hosts("codex")
def test_what_codex_runs_outside_the_sandbox(agent):
    """What a rule of the user lets run outside the sandbox still does."""
    host = agent.install().host
    host.write("~/.codex/rules/default.rules", 'prefix_rule(pattern=["make"], decision="allow")\n')
    host.run([host.shell("make mark")], "read-only")
    assert (host.work / "made").exists()


@pytest.mark.hosts("claude")
def test_plan_mode(agent):
    """Plan mode: the search that runs there runs, as it was typed."""
    host = agent.host
    plain = host.run([host.shell("grep -c needle src/module_00.py")], "plan")
    agent.install()
    session = host.run([host.shell("grep -c needle src/module_00.py")], "plan")
    assert session.seen[1].results == plain.seen[1].results
    assert "60" in session.text()


@pytest.mark.hosts("codex")
def test_a_store_that_cannot_be_written(agent):
    """In a sandbox that leaves no place to keep anything, the command still runs, and its output arrives as without ctx."""
    host = agent.host
    script = [host.shell("make small"), host.shell("make broken")]
    plain = host.run(script, "read-only")
    agent.install()
    captured = host.run(script, "read-only")
    for turn in (1, 2):
        (shown, status), (wanted, wanted_status) = (host.output(session.seen[turn].results[0]) for session in (captured, plain))
        # in which order a client reads two streams is chance
        assert (sorted(shown.split("\n")), status) == (sorted(wanted.split("\n")), wanted_status)
    output, status = host.output(captured.seen[2].results[0])
    assert status == 2 and "1 failed" in output.split("\n")


# ── time, and accidents ──


@pytest.mark.hosts("codex")
def test_a_suite_that_takes_its_time(agent):
    """A suite that outlives the first wait is polled to its end: one digest, and everything is kept."""
    host = agent.install().host

    def poll(seen):
        return Call("write_stdin", {"session_id": int(re.search(r"session ID (\d+)", seen[1].text).group(1)), "chars": "", "yield_time_ms": 20000})

    session = host.run([host.shell("make slow", yield_time_ms=500), poll])
    assert "session ID" in session.text(1)
    text, status = host.output(session.seen[2].results[0])
    assert status == 0 and text.startswith("[ctx run:")
    assert agent.stored(handle_in(text)).decode() == slow_output()


@pytest.mark.hosts("claude")
def test_a_suite_that_outlives_the_host_s_patience(agent):
    """A suite that outlives the host's time limit is never silent: the handle is there when it moves to the background; all of it is kept."""
    host = agent.install().host
    agent.allow()
    text = host.run([host.shell("make patient", timeout=31500)]).text()
    assert "background" in text
    assert agent.stored(handle_in(text)).decode() == slow_output()


def slow_output():
    parts = ["".join("%d: line %05d of a log\n" % (part, line) for line in range(1, 2001)) for part in range(1, 4)]
    return "".join(parts) + "the end of it\n"


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_an_accident(agent, accident):
    """A hook that crashes, hangs, prints garbage or was deleted leaves the original command running."""
    host = agent.install().host
    agent.allow()
    agent.spoil(ACCIDENTS[accident])
    agent.hasten()
    session = host.run([host.shell("make small")])
    assert host.output(session.seen[1].results[0]) == ("12 passed", 0)


# ── other results, and what outlasts a compaction ──

REPORT = 7000  # lines: 280 KB


@pytest.mark.hosts("claude", "codex", "gemini")
def test_an_mcp_result(agent):
    """An MCP result of 280 KB is replaced, and kept whole."""
    host = agent.install().host
    host.serve("reports", [sys.executable, SERVER])
    text = host.run([host.tool("reports", "report", lines=REPORT)], "bypass").text()
    assert len(text) < 20_000
    assert agent.stored(handle_in(text)).decode().count(report(REPORT).rstrip()) == 1


@pytest.mark.hosts("claude")
def test_compaction(agent):
    """After a compaction the session is told which evidence it has; the summariser was told to keep the handles."""
    host = agent.install().host
    agent.allow()
    name = "11111111-2222-4333-8444-555555555555"
    handle = handle_in(host.run([host.shell(SUITE)], more=["--session-id", name]).text())
    compacted = host.run([], prompt="/compact", more=["--resume", name])
    assert any(handle in str(body["messages"]) for body in compacted.model.bodies)
    later = host.run([], prompt="go on", more=["--resume", name])
    told = str(later.model.bodies[-1]["messages"])
    assert handle in told and "pytest tests/test_flood.py" in told


@pytest.mark.hosts("codex")
def test_resumption(agent):
    """A session that is resumed is told which evidence it has."""
    host = agent.install().host
    handle = handle_in(host.run([host.shell(SUITE)]).text())
    host.resuming = True
    later = host.run([], prompt="go on")
    assert sum(handle in str(item) for item in later.model.bodies[-1]["input"]) >= 2  # the digest, and the index


def test_setup_and_its_removal(agent):
    """`ctx setup` and `ctx setup --remove` leave the host's files as they were, byte for byte."""
    host = agent.host
    agent.allow()
    before = files_of(host)
    agent.install()
    assert files_of(host) != before
    agent.ctx("setup", "--remove", host.name)
    assert files_of(host) == before


def files_of(host):
    """Every file of a host's below the home, with its bytes."""
    folders = [host.home / name for name in (".claude", ".codex", ".gemini", ".copilot")]
    return {str(file): file.read_bytes() for folder in folders for file in folder.glob("**/*") if file.is_file()}
