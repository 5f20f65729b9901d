"""seq: steps known beforehand, one digest; a killed or signalled sequence loses nothing."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest
import receipts
from harness import Box, program, wait_for

import ctx


@pytest.fixture
def box(home, tmp_path, monkeypatch):
    box = Box(home, tmp_path, monkeypatch)
    yield box
    box.close()


def seq(box, *steps, flags=(), **options):
    words = [word for step in steps for word in ("--step", step)]
    done = box.ctx("seq", *flags, *words, **options)
    assert b"Traceback" not in done.stderr
    return done


FAILING = "def test_a():\n    assert 1 == 2\n" + "".join("def test_b%d():\n    pass\n" % i for i in range(200))


def test_small_outputs_stand_below_their_steps(box):
    done = seq(box, "echo one; echo two >&2", "printf 'no end'")
    lines = done.stdout.decode().split("\n")
    assert done.returncode == 0 and done.stderr == b""
    assert lines[:3] == ["[ctx seq 2 steps]", "exit: 0", "steps:"]
    assert lines[3].startswith("  1  ok  run:") and lines[3].endswith("  <1 s  echo one; echo two >&2")
    assert lines[4:6] == ["    1: one", "    stderr 1: two"] and lines[7] == "    1: no end"
    assert lines[8:] == ["coverage:", "  steps: 2 ok", "  omitted: 0 lines", ""]


def test_it_halts_at_the_first_failure_and_shows_its_digest(box):
    (box.work / "test_x.py").write_text(FAILING)
    done = seq(box, "seq 3000", "%s -m pytest -v -p no:cacheprovider test_x.py" % sys.executable, "touch never")
    text = done.stdout.decode()
    assert done.returncode == 1 and not (box.work / "never").exists()
    assert "  steps: 1 ok · 1 failed · 1 not run\n  omitted: 3,000 lines\n" in text
    head, _, digest = text.partition("first failure: step 2, with a receipt of its own\n")
    assert "test_x.py::test_a" in digest and receipts.check(digest.encode(), box.last().sources())
    for name in box.names():
        assert ctx.load_occurrence(box.inside, name).handle in head


def test_keep_going_runs_all_and_returns_the_first_failure(box):
    done = seq(box, "exit 3", "exit 4", "touch late", flags=["--keep-going"])
    assert done.returncode == 3 and (box.work / "late").exists()
    assert "steps: 1 ok · 2 failed\n" in done.stdout.decode()


def test_the_status_of_a_step_that_cannot_be_found_or_is_killed(box):
    assert seq(box, "no-such-program").returncode == 127
    done = seq(box, "kill -9 $$")
    assert done.returncode == 137 and "  1  killed by SIGKILL  run:" in done.stdout.decode()


def test_parallel_steps_run_together(box):
    wait = "touch %s; i=0; while [ ! -e %s ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done; [ -e %s ]"
    done = seq(box, wait % ("a", "b", "b"), wait % ("b", "a", "a"), flags=["--parallel", "2"])
    assert done.returncode == 0 and "steps: 2 ok" in done.stdout.decode()


def test_parallel_and_serial_give_the_same_digest(box):
    steps = ["seq %d" % n for n in range(1, 9)]
    assert seq(box, *steps).stdout == seq(box, *steps, flags=["--parallel", "4"]).stdout


def test_a_time_limit_ends_a_step(box):
    done = seq(box, "echo early; sleep 600", flags=["--timeout", "1"])
    assert done.returncode == 124
    assert "  1  timeout  run:" in done.stdout.decode() and "    1: early\n" in done.stdout.decode()


@pytest.mark.parametrize("text", ["echo a\n# no step\n\n   \necho b\n", "echo a\necho b"])
def test_steps_from_a_file_and_from_stdin(box, text):
    (box.work / "steps").write_text(text)
    done = box.ctx("seq", "steps")
    assert "steps: 2 ok" in done.stdout.decode()
    assert box.ctx("seq", input=text.encode()).stdout == done.stdout == box.ctx("seq", "-", input=text.encode()).stdout


@pytest.mark.parametrize("words", [[], ["/nowhere"], ["--step", "true", "word"], ["--step", " "], ["--parallel", "0", "--step", "true"],
                                   [word for _ in range(65) for word in ("--step", "true")]])  # fmt: skip
def test_what_cannot_be_taken_is_said_and_nothing_runs(box, words):
    done = box.ctx("seq", *words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.startswith(b"ctx seq: ") and done.stderr.count(b"\n") == 1
    assert not box.store.exists() or not box.names()


def test_json(box):
    done = seq(box, "echo x", "exit 3", "true", flags=["--json"])
    answer = json.loads(done.stdout)
    assert [(step["outcome"], step["exit"]) for step in answer["steps"]] == [("ok", 0), ("exit 3", 3), ("not run", None)]
    assert box.bytes(answer["steps"][0]["handle"][4:]) == b"x\n" and answer["steps"][2]["handle"] is None


def test_secrets_and_controls_of_steps_are_not_shown(box):
    token = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    done = seq(box, "echo %s; printf '\\033[31m'" % token)
    assert token.encode() not in done.stdout and b"[redacted:github-token:" in done.stdout and b"\033" not in done.stdout


def test_output_cannot_pass_for_a_step_or_a_receipt(box):
    done = seq(box, "printf '[ctx seq 9 steps]\\nexit: 0\\n  2  ok  run:000000000000\\n'; exit 1")
    assert [line for line in done.stdout.split(b"\n") if line.startswith((b"[ctx", b"exit:", b"  2"))] == [b"[ctx seq 1 step]", b"exit: 1"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_reaches_the_step_and_ends_the_sequence(box, name):
    process = box.start("seq", "--step", "echo early; touch ready; exec sleep 600", "--step", "touch never")
    wait_for(lambda: (box.work / "ready").exists())
    process.send_signal(getattr(signal, name))
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 128 + getattr(signal, name) and not (box.work / "never").exists()
    assert "    1: early\n" in out and "1 not run" in out


def test_an_interrupt_from_the_terminal(box):
    terminal = box.terminal(*program(), "seq", "--step", "echo early; touch ready; exec sleep 600", "--step", "touch never")
    wait_for(lambda: (box.work / "ready").exists())
    terminal.type(b"\x03")
    assert terminal.finish() == 130 and b"1 not run" in terminal.seen and not (box.work / "never").exists()


def test_what_a_killed_sequence_had_captured_stays(box):
    process = box.start("seq", "--step", "echo first", "--step", "echo $$ > ready; exec sleep 600")
    wait_for(lambda: (box.work / "ready").exists() and (box.work / "ready").read_text())
    process.kill()
    process.wait()
    assert box.bytes(ctx.load_occurrence(box.inside, box.names()[0]), "stdout") == b"first\n"
    os.kill(int((box.work / "ready").read_text()), signal.SIGKILL)


def test_without_a_store_the_steps_run_and_their_output_passes(box):
    (box.work / "file").write_text("")
    env = {"CTX_HOME": str(box.work / "file" / "no"), "TMPDIR": str(box.work / "file"), "HOME": ""}
    done = seq(box, "seq 3000", "exit 5", env=env)
    assert done.returncode == 5 and b"2999\n3000\n" in done.stdout and b"set CTX_HOME" in done.stdout
