"""What an agent is sent when ctx is in it, asserted on the next request that its model gets."""

from __future__ import annotations

import re
import shlex

import pytest
from installed import HANDLE, PROGRAMS, SUITE

REPORT = "ctx get "


def test_a_small_command_arrives_as_it_would_without_ctx(agent):
    """small output, exit status and is_error are those of a run without ctx"""
    host = agent.host
    host.allow(*PROGRAMS)
    script = [host.shell("make small"), host.shell("make broken"), host.shell("grep -c nothing src/module_00.py Makefile")]
    plain = host.run(script)
    agent.install()
    captured = host.run(script)
    for turn in (1, 2, 3):
        (before,), (after,) = plain.seen[turn].results, captured.seen[turn].results
        assert host.output(after) == host.output(before)
        assert after.error == before.error
    assert host.output(captured.seen[2].results[0])[1] == 2  # what make makes of 3


def test_a_failing_flood_becomes_a_digest_with_its_last_failure(agent):
    """a failing test run of 350 KB is a digest, which names the last failure and the status; its address gives the exact lines"""
    host = agent.install().host
    host.allow(*PROGRAMS)
    session = host.run([host.shell(SUITE), lambda seen: host.shell(next_step(seen[1]))])
    result, page = session.seen[1].results[0], session.seen[2].results[0]
    assert len(result.text) < 6000
    assert "test_expiry_of_the_last_token" in result.text and "token of age 4711 was taken for expired" in result.text
    assert re.search(r"^exit: 1\r?$", result.text, re.M)
    stored = agent.stored(HANDLE.search(result.text).group())
    assert len(stored) > 340_000
    assert host.output(page)[0] == addressed(stored, next_step(session.seen[1]))


def next_step(seen):
    """The first command that a digest names for what comes next."""
    found = re.search(r"^next:\n +(\S.*)$", str(seen).replace("\r", ""), re.M)
    assert found, "no digest: %s" % seen
    return found.group(1)


def addressed(stored, step):
    """The lines that an address ends in, as a page shows them."""
    first, last = map(int, re.search(r":(\d+)-(\d+)", shlex.split(step)[-1]).groups())
    return "\n".join(stored.decode().split("\n")[first - 1 : last]).rstrip()
