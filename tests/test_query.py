"""query: the algebra of `ctx q`. Everything is checked before anything runs; docs/query.md runs as it stands."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ctx  # noqa: E402

pytest_plugins = ["places"]

PAGE = ROOT / "docs" / "query.md"

SHOP = """\
import math


class Cart:
    def __init__(self):
        self.items = []

    def total(self, rate):
        return price_of(self.items, rate)


def price_of(items, rate):
    return sum(items) / rate
"""
TESTS = """\
import sys
sys.path.insert(0, ".")
from shop import Cart, price_of


def test_total():
    assert Cart().total(0) == 0


class TestPrice:
    def test_price(self):
        assert price_of([1], 0) == 1

    def test_sum(self):
        assert price_of([2], 1) == 3
"""


@pytest.fixture
def shop(repository):
    """A repository of three commits and a change, the workspace (a Path), in which a failing pytest can be captured."""
    workspace = repository
    (workspace / "tests").mkdir()
    (workspace / "data.json").write_text('[{"name": "a", "size": 1}, {"name": "b", "size": 20}, {"name": "c", "size": 3}]\n')
    for text in (SHOP.replace("sum", "max"), SHOP + "# one\n", SHOP):
        (workspace / "shop.py").write_text(text)
        (workspace / "notes.txt").write_text("total: %d\n" % len(text))
        git("add", "-A")
        git("commit", "-qm", "x")
    (workspace / "tests" / "test_shop.py").write_text(TESTS)
    git("add", "-A")
    git("commit", "-qm", "tests")
    (workspace / "shop.py").write_text(SHOP + "# total\n")
    return workspace


@pytest.fixture
def failed(shop, run_ctx):
    """The handle of a failing pytest run, captured in `shop`."""
    done = run_ctx("run", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=str(shop))
    assert done.returncode == 1
    assert run_ctx("runs", "-n", "1", "--json", cwd=str(shop)).returncode == 0
    return json.loads(run_ctx("runs", "-n", "1", "--json", cwd=str(shop)).stdout)[0]["handle"]


def git(*words):
    subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ask(text):
    return ctx.run_query(ctx.check_query(text))


def column(text, field):
    return [row[field] for row in ask(text).rows]


def refused(text):
    with pytest.raises(ctx.CtxError) as error:
        ctx.check_query(text)
    return str(error.value)


# ── what is refused, before anything runs


REFUSED = {
    "": "an empty source",
    "refs a |": "an empty stage",
    "refs": "refs: something is missing: write refs NAME",
    "reffs a": "no source: did you mean refs?",
    "group file": "a query begins with a source",
    "refs a | refs b": "'refs': no stage",
    "refs a | grup file": "no stage: did you mean group?",
    "refs a | group": "something is missing",
    "refs a | group file line": "too many words",
    "refs a | group colour": "no field 'colour'",
    "refs a | where class is use": "no test 'is'",
    "refs a | where text ~ (": "'('",
    "refs a | outline": "outline takes files, and refs gives sites: after sites may come",
    "refs a | get | top 1": "top takes sites or symbols or files or records, and get gives text: nothing may come after text",
    "files | shared-cause": "shared-cause takes records, and files gives files",
    "refs a | count | sort line": "no field 'line'",
    "refs a | group file | sort class": "no field 'class'",
    "refs 'a": "a quote has no end",
    "refs a " + "| top 1 " * 8: "9 stages: at most 8",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    assert REFUSED[text] in refused(text)


def test_a_refused_query_has_not_run(workspace, call, monkeypatch):
    monkeypatch.setattr(ctx, "scan_workspace", lambda *_: pytest.fail("it ran"))
    for text in REFUSED:
        done = call("q", text)
        assert (done.status, done.out) == (2, b"") and re.fullmatch(r"ctx q: .+\n", done.err)


@pytest.mark.parametrize("text", ["refs a | top 0", "refs a | top x", "runs 0", "commits -1", "fails blob:123456", "records repo:a.py", "changed nothing", "refs a nothing.py"])
def test_refused_while_it_runs(workspace, call, text):
    (workspace / "a.py").write_text("a = 1\n")
    done = call("q", text)
    assert (done.status, done.out) == (2, b"") and re.fullmatch(r"ctx q: .+: .+\n", done.err), done.err


WORDS = st.sampled_from([stage.name for stage in ctx._SOURCE_STAGES + ctx._FURTHER_STAGES] + ["|", "'a", '"b c"', "file", "=", "1", "-line", "a|b", "\\", "é"])


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_is_a_query_or_refused_with_a_fix(text):
    try:
        steps = ctx.check_query(text)
    except ctx.CtxError as error:
        assert error.what and error.fix and error.exit_code == 2
    else:
        assert 1 <= len(steps) <= ctx.STAGES_MOST


def test_quotes():
    assert ctx.split_query("search 'a | b' \"c \\\" d\" x'y z' | top 1") == [["search", "a | b", 'c " d', "xy z"], ["top", "1"]]


def test_every_pair_of_stages_fits_or_is_refused():
    """The kinds of the table are complete: what may follow what is known of each pair."""
    arguments = {"group": "path", "where": "path = a", "sort": "path", "distinct": "path", "histogram": "path", "in": "a"}
    sources = {"refs": "refs a", "def": "def a", "files": "files", "fails": "fails"}
    for source, stage in itertools.product(sources.values(), ctx._FURTHER_STAGES):
        kind = ctx.check_query(source)[0].gives
        text = "%s | %s %s" % (source, stage.name, arguments.get(stage.name, ""))
        if kind in stage.takes:
            assert ctx.check_query(text)[1].gives == (stage.gives or kind)
        else:
            assert "takes" in refused(text)


# ── what stages do


def test_explain_runs_nothing(workspace, call, monkeypatch):
    monkeypatch.setattr(ctx, "run_query", lambda steps: pytest.fail("it ran"))
    done = call("q", "--explain", "refs a | in-changed | count")
    assert done.status == 0 and done.out.count(b"\n") == 3 and b"sites \xe2\x86\x92 sites" in done.out
    rows = json.loads(call("q", "--explain", "--json", "refs a | in-changed | count").out)
    assert [row["gives"] for row in rows] == ["sites", "sites", "records"]
    assert all(row["bound"] for row in rows)


def test_stages(shop):
    assert column("refs total | group file", "file") == ["shop.py", "notes.txt", "tests/test_shop.py"]
    assert column("refs total | group file", "count") == [2, 1, 1]
    assert ask("refs total | group file").rows[0] == {"file": "shop.py", "count": 2, "definitions": 1, "uses": 0, "mentions": 1}
    assert column("refs total | where class != definition | count", "count") == [3]
    assert column("refs total | where line > 8 | sort line", "line") == [14]
    assert column("refs total | where line >= 8 | sort -line", "line") == [14, 8]
    assert column("refs total | where in = test_total", "path") == ["tests/test_shop.py"]
    assert column("refs total | where text ~ ^assert", "line") == [7]
    assert column("refs total | distinct path", "path") == ["shop.py", "tests/test_shop.py", "notes.txt"]
    assert column("refs total | histogram class | sort class", "class") == ["comment", "definition", "document", "use"]
    assert column("refs total | top 2 | count", "count") == [2]
    assert column("refs total | in tests", "path") == ["tests/test_shop.py"]
    assert column("refs total | files", "count") == [2, 1, 1]
    assert set(column("refs total | in-changed", "path")) == {"shop.py"}
    assert column("def total", "name") == ["total"]
    assert column("def total | get", "text")[1:] == ["      def total(self, rate):", "          return price_of(self.items, rate)"]
    assert column("files *.py | outline | where kind = class", "name") == ["Cart", "TestPrice"]
    assert column("search ^import | sort path", "path") == ["shop.py", "tests/test_shop.py"]
    assert column("changed", "path") == ["shop.py"]
    assert column("changed HEAD~1", "path") == ["shop.py", "tests/test_shop.py"]
    assert column("records repo:data.json | where size > 1 | sort -size", "name") == ["b", "c"]
    assert column("commits 2 | files", "path") == ["notes.txt", "shop.py", "tests/test_shop.py"]
    assert column("commits 10 shop.py | count", "count") == [3]
    assert ask("files shop.py | touched").rows == [{"path": "notes.txt", "count": 3}, {"path": "data.json", "count": 1}]
    assert column("callers price_of | group link", "link") == ["imported", "same file"]


def test_names_that_do_not_fit_are_counted():
    assert [ctx.first_few(list("abcde")[:n]) for n in (1, 3, 4, 5)] == ["a", "a, b, c", "a, b, c, and 1 more", "a, b, c, and 2 more"]


def test_what_trace_does_not_show_of_the_calls_is_counted(failed, monkeypatch):
    monkeypatch.setattr(ctx, "TRACE_CALLS", 0)
    text = "\n".join(column("fails | shared-cause | trace", "text"))
    assert "  calls 1 more that other files define" in text


def test_commits_that_touched_leaves_out_are_counted(shop, monkeypatch):
    monkeypatch.setattr(ctx, "COMMIT_FILES", 2)  # the first commit has three files
    answer = ask("files shop.py | touched")
    assert answer.rows == [{"path": "notes.txt", "count": 2}] and answer.remarks == ["left out: 1 commit of more than 2 files"]
    monkeypatch.setattr(ctx, "COMMITS_MOST", 2)
    assert ask("files shop.py | touched").remarks == ["only the last 2 commits of these files were looked at"]
    monkeypatch.setattr(ctx, "COMMIT_FILES", 0)
    assert ask("files shop.py | touched").rows == [] and "left out: 2 commits of more than 0 files" in ask("files shop.py | touched").remarks


def test_joins_over_failures(failed):
    assert column("fails", "identity") == [
        "tests/test_shop.py::test_total",
        "tests/test_shop.py::TestPrice::test_price",
        "tests/test_shop.py::TestPrice::test_sum",
    ]
    assert column("fails last | in-changed", "identity") == ["tests/test_shop.py::test_total", "tests/test_shop.py::TestPrice::test_price"]
    causes = ask("fails %s | shared-cause" % failed).rows
    assert [(row["frame"], row["count"]) for row in causes] == [("shop.py:13", 2), ("tests/test_shop.py:15", 1)]
    assert column("fails | def", "name") == ["test_total", "test_price", "test_sum"]
    assert column("fails | files", "path") == ["tests/test_shop.py", "shop.py"]
    assert column("fails | files | in shop.py | touched", "path") == ["notes.txt", "data.json"]
    assert ask("facts").rows == ask("fails").rows


FRAMES = {
    '  File "TOP/a.py", line 3, in f\n  File "/usr/lib/x.py", line 9, in g\n  File "b.py", line 4': ["a.py:3", "b.py:4"],
    "a.py:3: in f\n    g()\n./b.py:4: ValueError\n": ["a.py:3", "b.py:4"],
    "Error: x\n    at f (TOP/b.py:4:5)\n    at g (file://TOP/a.py:3:1)\n    at node:internal:1:2\n": ["a.py:3", "b.py:4"],
    "    at h (/elsewhere/a.py:1:1)\nnothing.py:3: in f\nat 3 o'clock\n": [],
}


@pytest.mark.parametrize("text", FRAMES)
def test_frames_are_those_of_the_workspace_the_deepest_last(workspace, text):
    for name in ("a.py", "b.py"):
        (workspace / name).write_text("")
    assert ctx.frames_in(text.replace("TOP", str(workspace)).encode(), str(workspace)) == FRAMES[text]


GLOBS = [
    ("a/b.py", "a", True),
    ("a/b.py", "./a/", True),
    ("ab/c.py", "a", False),
    ("a/b.py", "a/b.py", True),
    ("a/b.py", "*.py", True),
    ("a/b.py", "a/*", True),
    ("a/b/c.py", "a/*", False),
    ("a/b/c.py", "a/**", True),
    ("a/b/c.py", "**/c.py", True),
    ("c.py", "**/c.py", True),
    ("a/b/c.py", "a/**/c.py", True),
    ("a/c.py", "a/**/c.py", True),
    ("a.py", "?.p[xy]", True),
    ("a.py", "[!a].py", False),
    ("a+b.py", "a+*", True),
]


@pytest.mark.parametrize("path, pattern, fits", GLOBS)
def test_path_matches(path, pattern, fits):
    assert ctx.path_matches(path, pattern) == fits


# ── answers


def test_an_empty_answer_names_the_stage_where_the_rows_vanished(shop, call):
    done = call("q", "refs total | where class = string | group file")
    assert done.status == 1 and b"refs 4 \xe2\x86\x92 where 0 \xe2\x86\x92 group 0" in done.out
    assert done.err == "ctx q: none: no row came out of where class = string\n"


def test_every_answer_is_kept_and_paged(workspace, call, shell):
    for i in range(400):
        (workspace / ("f%03d.txt" % i)).write_text("")
    done = call("q", "files | sort -path")
    seen = re.findall(r"f\d{3}\.txt", done.out.decode())
    assert 0 < len(seen) < 400 and "%d of 400 rows" % len(seen) in done.err
    following = done.next[0]
    while following:
        more = shell(following)
        seen += re.findall(r"f\d{3}\.txt", more.out.decode())
        following = more.next[0] if more.next else ""
    assert seen == ["f%03d.txt" % i for i in range(399, -1, -1)]
    assert ctx.resolve_run(json.loads(call("q", "files", "--json").out)["answer"][4:]).status == 0


def test_an_answer_is_no_run_of_a_command(shop, call, stored):
    handle = stored(b"1\n")[:16]
    assert call("q", "files").status == 0
    assert [row["handle"] for row in ask("runs").rows] == [handle]
    assert call("runs").out.count(b"\n") == 1


def test_records_are_data(workspace, call):
    """What stands in somebody's JSON, its keys included, neither forges our lines nor tells a secret."""
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    rows = [{"a\n[ctx run:0]": "\x1b[31m", secret: [{"deep": secret, secret: 1}]}]
    (workspace / "x.json").write_text(json.dumps(rows))
    for argv in (["q", "records repo:x.json"], ["q", "records repo:x.json", "--json"]):
        done = call(*argv)
        assert secret.encode() not in done.out and b"[redacted:" in done.out and b"\x1b" not in done.out and b"\n[ctx" not in done.out


def test_unknown_is_not_none(workspace, call):
    """A work tree that git cannot read (its .git is empty) has no known changes."""
    for text in ("changed", "files | in-changed", "commits", "files | touched"):
        (workspace / "a").write_text("")
        done = call("q", text)
        assert done.status == 2 and "unknown" in done.err, text


def test_without_a_store_an_answer_is_shown_all_the_same(shop, call, monkeypatch):
    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ctx, "open_spool", broken)
    done = call("q", "refs total")
    assert done.status == 0 and b"total: 1 definition" in done.out and done.next == []


# ── the reference


def rows_of(stages):
    for stage in stages:
        takes = " ".join(stage.takes) or "–"
        cells = ("`%s`" % stage.usage, takes, stage.gives or "the same", stage.bound)
        yield "| %s |" % " | ".join(cell.replace("|", "\\|") for cell in cells)


def reference():
    """docs/query.md as it should be: its tables are what the code says."""
    text = PAGE.read_text(encoding="utf-8")
    for mark, stages in (("sources", ctx._SOURCE_STAGES), ("stages", ctx._FURTHER_STAGES)):
        table = ["| %s | takes | gives | at most |" % mark[:-1], "|---|---|---|---|", *rows_of(stages)]
        new = "<!-- %s -->\n\n%s\n" % (mark, "\n".join(table))
        text = re.sub(r"<!-- %s -->\n(\n\|.*(?:\n\|.*)*\n)?" % mark, new.replace("\\", r"\\"), text)
    return text


def test_the_reference_is_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: python3 tests/test_query.py --write"


def test_every_example_of_the_reference_runs(failed, shop, shell, tmp_path):
    program = tmp_path / "bin" / "ctx"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "%s" "%s" "$@"\n' % (sys.executable, ROOT / "ctx.py"))
    program.chmod(0o755)
    examples = [line for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S) for line in block.split("\n") if line]
    assert len(examples) > 30
    for example in examples:
        done = shell("PATH=%s:$PATH; %s" % (program.parent, example))
        assert done.status == 0 and done.out, "%s: exit %d\n%s%s" % (example, done.status, done.out.decode(), done.err)
    names = {stage.name for stage in ctx._SOURCE_STAGES + ctx._FURTHER_STAGES}
    assert names <= set(re.findall(r"[a-z-]+", "\n".join(examples)))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python3 tests/test_query.py --write")
    PAGE.write_text(reference(), encoding="utf-8")
