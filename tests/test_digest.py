"""What a reader gets from whole commands: digests, what changed since last time, facts, diff."""

import json
import re
import sys

import pytest

pytestmark = pytest.mark.once

SUITE = """
import pytest
@pytest.mark.parametrize("i", range(60))
def test_x(i):
    print("noise \\n" * 400)
    assert i % %d
def test_y():
    assert %d
"""


@pytest.fixture
def suite(tmp_path):
    """suite(modulus, y) writes a test file that fails for multiples of the modulus, and for y = 0."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ctx.toml").write_text("")

    def write(modulus, y):
        (folder / "test_a.py").write_text(SUITE.replace("%d", str(modulus), 1).replace("%d", str(y), 1))
        return folder

    return write


def pytest_run(run_ctx, folder, *options):
    return run_ctx("run", *options, "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", cwd=folder)


def handle(output):
    return re.match(rb"\[ctx (run:\w{12}) profile=pytest/v1\]\n", output).group(1).decode()


def test_a_failing_suite_of_real_pytest(run_ctx, suite):
    done = pytest_run(run_ctx, suite(9, 0))
    assert done.returncode == 1 and done.stderr == b""
    text = done.stdout.decode()
    assert "outcome: 8 failed · 53 passed" in text
    for i in range(0, 60, 9):
        assert "  test_a.py::test_x[%d]  test_a.py:6" % i in text
    assert "identities: 8/8 · 8 inline · 0 retrievable · 0 unrepresented" in text
    again = run_ctx("get", handle(done.stdout), cwd=suite(9, 0))
    assert again.stdout == done.stdout
    command = re.search(r"next:\n  .* get (\S+)\n", text).group(1)
    section = run_ctx("get", command, cwd=suite(9, 0)).stdout.decode()
    assert "test_x[0]" in section and section.rstrip().endswith("noise")


def test_a_passing_suite_spends_little(run_ctx, suite):
    done = run_ctx("run", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", cwd=suite(61, 1), env={"COLUMNS": "200"})
    text = done.stdout.decode()
    assert done.returncode == 1 and "outcome: 1 failed · 60 passed" in text  # 0 is a multiple of everything
    done = run_ctx("run", "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "-k", "not 0", cwd=suite(61, 1), env={"COLUMNS": "200"})
    import ctx

    assert done.returncode == 0 and ctx.estimate_tokens(done.stdout) <= 120


def test_what_changed_since_the_last_run_stands_last(run_ctx, suite):
    first = pytest_run(run_ctx, suite(9, 0))
    assert b"\ndelta:" not in first.stdout
    second = pytest_run(run_ctx, suite(5, 1))
    block = second.stdout[second.stdout.index(b"\ndelta:") :].decode()
    assert block.startswith("\ndelta: 6 fixed · 10 new · 2 still failing since %s\n  new: test_a.py::test_x[5]\n" % handle(first.stdout))
    import ctx

    assert ctx.estimate_tokens(block.encode()) <= 66
    third = pytest_run(run_ctx, suite(5, 1))
    assert "\ndelta: 12 still failing · nothing changed since " in third.stdout.decode()
    assert b"\ndelta:" not in pytest_run(run_ctx, suite(5, 1), "--no-delta").stdout
    (suite(5, 1) / "ctx.toml").write_text("[budget]\ndelta = false\n")
    assert b"\ndelta:" not in pytest_run(run_ctx, suite(5, 1)).stdout


def test_diff_tells_what_broke_and_what_was_mended(run_ctx, suite):
    one = handle(pytest_run(run_ctx, suite(9, 0)).stdout)
    two = handle(pytest_run(run_ctx, suite(5, 1)).stdout)
    done = run_ctx("diff", one, two)
    text = done.stdout.decode()
    assert done.returncode == 1 and text.startswith("[diff %s → %s]\nexit: 1\nfailed: 8 → 12\npassed: 53 → 49\nnew: 10\n" % (one, two))
    assert re.search(r"\nfixed: 6\n  test_a.py::test_x\[9\]  .*%s#stdout:\d+-\d+\n" % one, text)
    value = json.loads(run_ctx("diff", "--json", one, two).stdout)
    assert [fact["identity"] for fact in value["groups"]["still"]] == ["test_a.py::test_x[0]", "test_a.py::test_x[45]"]
    same = run_ctx("diff", one, one)
    assert same.returncode == 0 and b"new:" not in same.stdout
    assert run_ctx("diff", one).returncode == 2 and run_ctx("diff", one, two + "#stdout").returncode == 2


def test_facts_list_every_fact_and_fact_is_the_whole_section(run_ctx, suite):
    run = handle(pytest_run(run_ctx, suite(9, 0)).stdout)
    rows = run_ctx("get", run, "--facts").stdout.decode().splitlines()
    assert len(rows) == 8 and re.match(r"failed  test_a.py::test_x\[0\]  test_a.py:6  #stdout:\d+-\d+$", rows[0])
    facts = json.loads(run_ctx("get", run, "--facts", "--json").stdout)["facts"]
    section = run_ctx("get", run, "--fact", "test_a.py::test_y").stdout.decode()
    first, last = facts[-1]["lines"]
    assert section.count("\n") == last - first + 1 and "assert 0" in section
    assert run_ctx("get", run, "--fact", "test_x").returncode == 2 and run_ctx("get", run, "--fact", "no such").returncode == 2


def test_what_the_caller_throws_away_is_in_no_digest(run_ctx, tmp_path):
    line = "%s %s run -- sh -c 'seq 9000; seq 10 >&2; exit 3' 2>/dev/null" % (sys.executable, __file__.replace("tests/test_digest.py", "ctx.py"))
    done = run_ctx("run", "--shell", line + "; echo status $?", cwd=tmp_path)
    assert b"stderr" not in done.stdout and b"status 3" in done.stdout


@pytest.mark.parametrize(
    "line, kind, runs",
    [
        ("frobnicate now", "unknown", None),
        ("cd src && pytest -q; echo $?", "noisy", "cd src && {ctx} run -- pytest -q; echo $?"),
        ("rm -rf build", "mutation", None),
        ("ls -la", "bounded", None),
    ],
)
def test_why_tells_what_the_guard_makes_of_a_line(run_ctx, line, kind, runs):
    done = run_ctx("why", line, "--json")
    value = json.loads(done.stdout)
    assert done.returncode == 0 and value["class"] == kind
    assert re.sub(r"(python3|/\S*python\S*) /\S*ctx\.py", "{ctx}", value["runs"]) == (runs or line)
    assert ("class: %s\nwhy: " % kind).encode() in run_ctx("why", line).stdout
