"""query: the algebra of `ctx q`. Everything is checked before anything runs; docs/query.md runs as it stands."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
import time
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
    "TOP/b.js:2\n    return x.y;\n\nTypeError: x\n    at g (TOP/b.js:2:5)\n    at f (TOP/node_modules/tap/a.js:4:1)\n    at TOP/a.js:3:1\n": ["a.js:3", "b.js:2"],
    " \u276f g src/b.ts:4:5\n \u276f src/a.ts:3:1\n": ["src/a.ts:3", "src/b.ts:4"],
    "b.rb:4:in `g': no (ArgumentError)\n\tfrom a.rb:3:in `f'\n": ["a.rb:3", "b.rb:4"],
    "  # ./b.rb:4:in 'Cart#g'\n  # ./a.rb:3:in 'f'\n": ["a.rb:3", "b.rb:4"],
    "panic: no\n\ngoroutine 1 [running]:\nmain.g(...)\n\tTOP/x/b.go:4 +0x1d\nmain.f()\n\tTOP/x/a.go:3\n\t/usr/lib/go/a.go:9 +0x5\n": ["x/a.go:3", "x/b.go:4"],
    "    c_test.go:9: not 3\n    c_test.go:12: nor 4\n": [],
    "thread 'tests::f' panicked at src/b.rs:4:5:\nno\n   1: m::g\n             at ./src/b.rs:4:5\n   2: m::f\n             at ./src/a.rs:3:9\n": ["src/a.rs:3", "src/b.rs:4"],
    "Exception in thread \"main\" java.lang.Error: no\n\tat com.x.B.g(B.java:4)\n\tat com.y.A.f(A.java:3)\n\tat java.base/java.util.A.f(Other.java:1)\n": ["m/com/y/A.java:3", "m/com/x/B.java:4"],
    "PHP Fatal error: no\n#0 TOP/b.php(4): g()\n#1 a.php(3): f()\n": ["a.php:3", "b.php:4"],
    "Failed asserting that 1 is 2.\n\nTOP/b.php:4\nTOP/a.php:3\n": ["a.php:3", "b.php:4"],
    "  ** (Error) no\n      (shop 0.1.0) lib/b.ex:4: Shop.g/1\n      lib/a.exs:3: (file)\n": ["lib/b.ex:4"],
    "   at Shop.B.G() in TOP/b.cs:line 4\n   at Shop.A.F() in TOP/a.cs:line 3\n": ["a.cs:3", "b.cs:4"],
    "no at TOP/b.pl line 4.\n": ["b.pl:4"],
}
FILES = "a.py b.py a.js b.js node_modules/tap/a.js src/a.ts src/b.ts a.rb b.rb x/a.go x/b.go src/a.rs src/b.rs a.php b.php lib/b.ex a.cs b.cs b.pl".split()
FILES += "m/com/y/A.java m/com/z/A.java m/com/x/B.java n/com/z/B.java x/c_test.go y/c_test.go".split()


@pytest.fixture
def files(workspace):
    """A workspace with a file for each frame, and others of the same names."""
    for name in FILES:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("")
    return workspace


@pytest.mark.parametrize("text", FRAMES)
def test_frames_are_those_of_the_workspace_the_deepest_last(files, text):
    assert ctx.frames_in(text.replace("TOP", str(files)).encode(), ctx.TreeReader(str(files))) == FRAMES[text]


def test_an_incomplete_path_is_the_one_file_that_fits_it(files):
    (files / "y" / "c_test.go").write_text("func TestRow(t *testing.T) {\n")
    find = ctx.TreeReader(str(files)).own_file
    assert [find("B.java", hint) for hint in ("com.x.B", "com.z.B.f", "elsewhere")] == ["m/com/x/B.java", "n/com/z/B.java", ""]
    assert [find("c_test.go", hint) for hint in ("TestRow", "example.com/x.TestColumn", "TestColumn")] == ["y/c_test.go", "x/c_test.go", ""]
    assert [find(name, "") for name in ("z/A.java", "A.java", "node_modules/tap/a.js", "/usr/lib/b.py", "", "none.py")] == ["m/com/z/A.java", "", "", "", "", ""]


UNCAUGHT = {
    "a.js": ("Error: not caught", "function f() {\n  throw new Error('not caught');\n}\nf();\n", "node"),
    "a.rb": ("a.rb:2:in `f': not caught (ArgumentError)", "def f\n  raise ArgumentError, 'not caught'\nend\nf\n", "ruby"),
    "a.py": ("ValueError: not caught", "def f():\n    raise ValueError('not caught')\n\n\nf()\n", "python3"),
}


@pytest.mark.parametrize("name", UNCAUGHT)
def test_how_a_program_ended_is_a_failure_where_its_tools_told_of_none(shop, run_ctx, name):
    message, text, program = UNCAUGHT[name]
    if not shutil.which(program):
        pytest.skip("no " + program)
    (shop / name).write_text(text)
    assert run_ctx("run", "--", program, name, cwd=str(shop)).returncode == 1
    rows = ask("fails | shared-cause").rows
    assert [(row["frame"], row["message"]) for row in rows] == [(name + ":2", message)]
    assert any("called from %s:" % name in line for line in column("fails | shared-cause | trace", "text"))


# ── callees

LIBRARY = {
    "python": {
        "shop/__init__.py": "from .cart import total\n",
        "shop/cart.py": 'def total(items):\n    """The sum.\n\n    Of items.\n    """\n    return add(items)\n\n\ndef add(items):\n    # one by one\n    return sum(items)\n',
        "other.py": "def add(items):\n    return 1\n",
        "test_cart.py": "import shop as s\n\n\ndef test_total():\n    found = s.total([1])\n    assert found == 2\n",
    },
    "go": {
        "cart.go": "package shop\n\ntype Cart struct {\n\titems []int\n}\n\nfunc (c Cart) Total() int {\n\treturn add(c.items)\n}\n\nfunc add(items []int) int {\n\treturn len(items)\n}\n",
        "box.go": "package shop\n\ntype Box struct{}\n\nfunc (b Box) Total() int {\n\treturn 0\n}\n",
        "cart_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tcart := Cart{[]int{1}}\n\tif cart.Total() != 2 {\n\t\tt.Errorf(\"no\")\n\t}\n}\n",
    },
    "rust": {
        "src/lib.rs": "pub fn total(items: &[i32]) -> i32 {\n    add(items)\n}\n\nfn add(items: &[i32]) -> i32 {\n    items.len() as i32\n}\n\n#[cfg(test)]\nmod tests {\n"
        "    use super::*;\n\n    #[test]\n    fn sums() {\n        assert_eq!(total(&[1]), 2);\n    }\n}\n",
    },
    "javascript": {
        "package.json": '{"main": "lib/index.js"}\n',
        "lib/index.js": "var total = require('./total');\nmodule.exports = { total: total };\n",
        "lib/total.js": "function add(items) {\n  return items.length;\n}\n\nmodule.exports = function (items) {\n  return add(items);\n};\n",
        "dist/shop.js": "var shop=1;" + "function add(e){return e}" * 100 + "\n",
        "test/total.js": "var shop = require('../');\n\ntest('it', function (t) {\n  t.equal(shop.total([1]), 2);\n});\n",
    },
    "ruby": {
        "lib/cart.rb": "class Cart\n  def initialize(items)\n    @items = items\n  end\n\n  def total\n    add(@items)\n  end\n\n  def add(items)\n    items.size\n  end\nend\n",
        "test/cart_test.rb": "require_relative '../lib/cart'\n\nclass CartTest < Minitest::Test\n  def test_total\n    assert_equal 2, Cart.new([1]).total\n  end\nend\n",
    },
    "java": {
        "main/shop/Cart.java": "package shop;\n\nclass Cart {\n    int total(int[] items) {\n        return add(items);\n    }\n\n    int add(int[] items) {\n        return items.length;\n    }\n}\n",
        "test/shop/CartTest.java": "package shop;\n\nclass CartTest {\n    @Test\n    void totals() {\n        assertEquals(2, new Cart().total(new int[] {1}));\n    }\n}\n",
    },
    "typescript": {
        "src/cart.ts": "export function total(items: number[]): number {\n  return add(items);\n}\n\nfunction add(items: number[]): number {\n  return items.length;\n}\n",
        "src/cart.test.ts": "import { total } from './cart';\n\nit('sums', () => {\n  expect(total([1])).toBe(2);\n});\n",
    },
}
FRAME = {"python": "test_cart.py:6", "go": "cart_test.go:8", "rust": "src/lib.rs:15", "javascript": "test/total.js:4", "ruby": "test/cart_test.rb:5",
         "java": "test/shop/CartTest.java:6", "typescript": "src/cart.test.ts:4"}  # fmt: skip
FAULTY = {"python": "function add  repo:shop/cart.py", "go": "function add  repo:cart.go", "rust": "function add  repo:src/lib.rs", "javascript": "function add  repo:lib/total.js",
          "ruby": "method Cart.add  repo:lib/cart.rb", "java": "method Cart.add  repo:main/shop/Cart.java", "typescript": "function add  repo:src/cart.ts"}  # fmt: skip


def callees_at(top, *frames):
    answer = ctx.Answer("records", ctx.TreeReader(str(top)))
    answer.rows = [{"frame": frame} for frame in frames]
    return [row["text"] for row in ctx.do_callees(answer)]


def lay_out(top, files):
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


@pytest.fixture
def library(shop, request):
    """A workspace of nothing but a small library in one language, committed; the language."""
    shutil.rmtree(shop / ".git")
    for path in shop.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    git("init", "-q", ".")
    lay_out(shop, LIBRARY[request.param])
    git("add", "-A")
    git("commit", "-qm", "a library")
    return request.param


with_grammars = pytest.mark.skipif(not shutil.which("git") or ctx.by_tree_sitter("go", ctx.grammar_query("go"), b"") is None, reason="no git, or no grammars")


@with_grammars
@pytest.mark.parametrize("library", LIBRARY, indirect=True)
def test_what_a_failing_test_calls_is_found_through_several_calls(library, shop):
    lines = callees_at(shop, FRAME[library])
    assert any(line.startswith(FAULTY[library]) for line in lines), lines
    assert not any("only" in line for line in lines if line.startswith(FAULTY[library]))
    assert not any("other.py" in line or "dist/" in line or "test" in line.partition("repo:")[2] for line in lines if " repo:" in line), lines
    if library == "python":  # the text of functions, without what is said of them
        assert "    6      return add(items)" in lines and "    11      return sum(items)" in lines and not any("Of items" in line or "one by one" in line for line in lines)


@with_grammars
@pytest.mark.parametrize("library", LIBRARY, indirect=True)
@pytest.mark.parametrize("is_committed", [True, False])
def test_what_was_changed_last_stands_first_with_its_change(library, shop, is_committed):
    path = shop / FAULTY[library].partition("repo:")[2]
    text = path.read_text()
    path.write_text(re.sub(r"len\(items\)|items\.(len\(\)|length|size)|sum\(items\)", "add(items) + 1", text))
    assert path.read_text() != text
    if is_committed:
        git("commit", "-qam", "a change")
    lines = callees_at(shop, FRAME[library])
    assert lines[0].startswith(FAULTY[library]) and "called at" in lines[1] and (": a change" if is_committed else "not committed") in lines[2]
    assert any("add(items) + 1" in line for line in lines[3:6])


@with_grammars
def test_a_link_to_the_program_finds_the_grammars_beside_it(shop, tmp_path):
    (tmp_path / "ctx").symlink_to(ROOT / "ctx.py")
    (shop / "a.go").write_text("package a\n\nfunc (c Cart) Total() int {\n\treturn 1\n}\n")
    done = subprocess.run([sys.executable, str(tmp_path / "ctx"), "outline", "a.go"], cwd=str(shop), stdout=subprocess.PIPE)
    assert b"method Cart.Total" in done.stdout


def test_the_innermost_definition_has_the_change(shop):
    lay_out(shop, {"a.py": "def outer():\n    x = 1\n    def inner():\n        return x\n    return inner()\n", "test_a.py": "from a import outer\n\n\ndef test():\n    assert outer() == 2\n"})
    git("add", "-A")
    git("commit", "-qm", "a")
    (shop / "a.py").write_text((shop / "a.py").read_text().replace("return x", "return x + 0"))
    lines = callees_at(shop, "test_a.py:5")
    assert lines[0].startswith("function outer.inner  repo:a.py:3-4@") and not any(line.startswith("  last change") for line in lines[3:])


def test_what_only_its_name_links_is_said_to_be(shop):
    lay_out(shop, {"a.py": "def add(x):\n    return x\n", "test_a.py": "def test(a):\n    assert a.add(1) == 2\n"})
    lines = callees_at(shop, "test_a.py:2")
    assert lines[0].endswith("  · by name only") and lines[1].startswith("  called at test_a.py:2: assert a.add(1)")


def test_callees_without_git_without_frames_and_beyond_the_file(shop):
    shutil.rmtree(shop / ".git")
    assert any(line.startswith("method Cart.total  repo:shop.py:8-9@") for line in callees_at(shop, "tests/test_shop.py:7"))
    assert callees_at(shop, "unknown") == callees_at(shop, "none.py:3") == []
    assert callees_at(shop, "shop.py:400") == []


BODIES = {  # the lines that are worth reading, of a function f
    "def f():\n    return 1\n": [1, 2],
    'def f():\n    """Told."""\n    return 1\n': [1, 3],
    'def f():\n    """Told.\n\n    More: of it.\n    """\n\n    # why\n    x = """kept\n    whole"""\n    return x\n': [1, 8, 9, 10],
    "def f(\n    a: int,\n    b='x',\n):\n    'Told.'\n    if a:\n        'kept'\n    return {\n        'b': b,\n    }\n": [1, 2, 3, 4, 6, 7, 8, 9, 10],
    "def f(): return 1\n": [1],
}


@pytest.mark.parametrize("text", BODIES)
def test_the_body_of_a_function_is_its_code(shop, text):
    (shop / "a.py").write_text(text)
    reader = ctx.TreeReader(str(shop))
    symbol = reader.extraction("a.py").named("f")[0]
    assert ctx.callee_body(reader, ctx.Callee("a.py", symbol, 1, ("a.py", 1), "same file")) == BODIES[text]


def test_rows_of_one_s_own_can_be_traced(shop):
    (shop / "data.json").write_text(json.dumps([{"frame": "shop.py:13", "callers": ["shop.py:9", 5]}, {"frame": 7, "callers": ["elsewhere"]}, {"frame": "shop.py:12", "callers": ["none.py:3"]}]))
    lines = column("records repo:data.json | trace", "text")
    assert "  called from shop.py:9: return price_of(self.items, rate)" in lines and "    from 5" in lines and "  called from none.py:3" in lines
    assert column("records repo:data.json | callees", "text") == []


def test_secrets_around_a_frame_and_in_what_it_calls_are_not_shown(shop):
    key = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "".join("MIIEpAIBAAKCAQEA%048d\n" % at for at in range(12)) + "-----END RSA " + "PRIVATE KEY-----"
    lay_out(shop, {"a.py": 'def f():\n    x = """%s"""\n    return x\n' % key, "test_a.py": "from a import f\n\n\ndef test():\n    assert f() == 2\n"})
    (shop / "data.json").write_text('[{"frame": "a.py:8"}]')
    shown = callees_at(shop, "test_a.py:5") + column("records repo:data.json | trace", "text")
    assert any("redacted" in line for line in shown) and not any("MIIEpAIBAAKCAQEA" in line for line in shown), shown


def test_what_callees_does_not_show_is_counted(shop):
    names = ["f%d" % at for at in range(ctx.CALLEES + 3)]
    lay_out(shop, {"a.py": "".join("def %s():\n    return 1\n" % name for name in names), "test_a.py": "from a import *\n\n\ndef test():\n    assert %s\n" % " + ".join(name + "()" for name in names)})
    assert callees_at(shop, "test_a.py:5")[-1] == "and 3 more"


def test_what_more_failures_lead_to_stands_before_what_is_nearer(shop):
    lay_out(shop, {"a.py": "def one(x):\n    return both(x)\n\n\ndef two(x):\n    return both(x)\n\n\ndef both(x):\n    return x\n",
                   "test_a.py": "from a import *\n\n\ndef test_one():\n    assert one(1) == 2\n\n\ndef test_two():\n    assert two(1) == 2\n"})  # fmt: skip
    assert [line.split()[1] for line in callees_at(shop, "test_a.py:5", "test_a.py:9") if "repo:" in line] == ["both", "one", "two"]
    assert [line.split()[1] for line in callees_at(shop, "test_a.py:5") if "repo:" in line] == ["one", "both"]


def test_a_body_that_fits_is_shown_rather_than_part_of_one_that_does_not(shop):
    long = "def long(x):\n%s    return x\n" % "".join("    x += %d\n" % i for i in range(60))
    for call, shown in (("long(short(1))", ["    1  def short(x):", "    2      return x"]), ("long(1)", ["    %d  " % (i + 5) for i in range(ctx.CALLEE_LINES)])):
        lay_out(shop, {"a.py": "def short(x):\n    return x\n\n\n" + long, "test_a.py": "from a import *\n\n\ndef test():\n    assert %s == 2\n" % call})
        lines = [line for line in callees_at(shop, "test_a.py:5") if line.startswith("    ")]
        assert len(lines) == len(shown) and all(line.startswith(start) for line, start in zip(lines, shown))


def test_what_is_around_others_stands_behind_them(shop):
    lay_out(shop, {"a.py": "def outer():\n    x = 1\n\n    def inner():\n        return x\n\n    return inner()\n", "test_a.py": "from a import outer\n\n\ndef test():\n    assert outer() == 2\n"})
    assert [line.split()[1] for line in callees_at(shop, "test_a.py:5") if "repo:" in line] == ["outer.inner", "outer"]


@with_grammars
def test_a_crate_is_known_by_its_name_in_the_tests_beside_it(shop):
    lay_out(shop, {"Cargo.toml": '[package]\nname = "my-sums"\n', "src/lib.rs": "mod deep;\npub fn add(x: i32) -> i32 {\n    deep::one(x)\n}\n", "src/deep.rs": "pub fn one(x: i32) -> i32 {\n    x\n}\n",
                   "tests/t.rs": "use my_sums::{add, other};\n\n#[test]\nfn t() {\n    assert_eq!(add(1), 2);\n}\n",
                   "tests/u.rs": "use another::add;\n\n#[test]\nfn u() {\n    assert_eq!(add(1), 2);\n}\n"})  # fmt: skip
    for frame, is_sure in (("tests/t.rs:5", True), ("tests/u.rs:5", False)):
        lines = [line for line in callees_at(shop, frame) if " repo:" in line]
        assert [line.split()[1] for line in lines] == ["add", "one"] and any("by name only" in line for line in lines) != is_sure


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


def test_many_hits_of_one_file_are_brought_with_one_index_of_its_lines(workspace, call, monkeypatch):
    (workspace / "a.py").write_text("NAME = 1\n" * 3000)
    made = []
    monkeypatch.setattr(ctx.Source, "of_bytes", classmethod(lambda cls, *args, of_bytes=ctx.Source.of_bytes: made.append(args) or of_bytes(*args)))
    done = call("q", "refs NAME | get")
    assert done.status == 0 and done.out.count(b"NAME = 1") > 10 and len(made) < 10


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


# ── whatever is asked, of whatever there is

ODD = [
    {"path": 3, "line": "x", "count": None, "frames": 7, "files": {"a": 1}, "message": 5, "identity": [1]},
    {"path": "shop.py", "line": 13, "count": True, "frames": ["a", "shop.py:3", None], "identity": "shop.py::Cart::total[1]", "callers": "x"},
    {"frame": "shop.py:10", "identities": "zz", "": {"deep": [[[]]]}, "callers": 5},
    {"line": 5, "path": "../../outside", "message": "x", "identity": "/etc/hostname::x", "frames": ["/etc/hostname:1"]},
    *(5, None, "s", [1], [], {}, 1.5, "\ud800 \udc00", {"\udfff": "\ud83d\ude00"}),
]
SOURCES = ["refs total", "refs 'total|Cart' shop.py", "def Cart.total", "callers price_of", "search '(?i)TOTAL'", "files", "files '*.py'", "changed", "changed HEAD~1", "fails", "facts",
           "runs", "commits", "commits 2 shop.py", "records repo:odd.json", "records repo:data.json"]  # fmt: skip
VALUES = ["total", "^t", "3", "use", "shop.py", "-1", "'a b'", "(", ""]
FIELDS = sorted({field for stage in ctx._SOURCE_STAGES + ctx._FURTHER_STAGES for field in stage.fields or ()} | {"file", "frame", "size", "deep"})
ARGUMENTS = {"top": ["", "1", "3", "0"], "in": ["shop.py", "'*.py'", "tests/**", "."], "in-changed": ["", "HEAD~1", "nothing"]}


@st.composite
def pipelines(draw):
    """A query whose stages each take what the one before gives, now and then with a field that is not there."""
    text = draw(st.sampled_from(SOURCES))
    last = ctx.check_query(text)[-1]
    for _ in range(draw(st.integers(0, 5))):
        stage = draw(st.sampled_from([stage for stage in ctx._FURTHER_STAGES if last.gives in stage.takes] or ctx._FURTHER_STAGES))
        argument = draw(st.sampled_from(ARGUMENTS.get(stage.name, [""])))
        if stage.name in ctx._FIELD_STAGES:
            argument = draw(st.sampled_from(last.fields or FIELDS)) if draw(st.integers(0, 9)) else draw(st.sampled_from(FIELDS))
        if stage.name == "where":
            argument += " %s %s" % (draw(st.sampled_from([*ctx._TESTS, "~"])), ctx.shell_word(draw(st.sampled_from(VALUES))))
        text += " | %s %s" % (stage.name, "-" * (stage.name == "sort" and draw(st.booleans())) + argument)
        try:
            last = ctx.check_query(text)[-1]
        except ctx.CtxError:
            break
    return text


def test_whatever_is_asked_is_answered_whole_or_refused_before_it_runs(failed, shop, call):
    (shop / "odd.json").write_text(json.dumps(ODD))

    @given(pipelines())
    def asked(text):
        try:
            ctx.check_query(text)
        except ctx.CtxError:
            done = call("q", text)
            assert (done.status, done.out) == (2, b"") and re.fullmatch(r"ctx q: .+: .+\n", done.err), (text, done.err)
            return
        done = call("q", "--json", text)
        if done.status == 2:  # what only the work tree can tell: a commit that it has not
            assert done.out == b"" and re.fullmatch(r"ctx q: .+: .+\n", done.err), (text, done.err)
            return
        answer = json.loads(done.out)
        assert done.status in ((0, 3) if answer["total"] else (1,)), (text, done.status)
        assert answer["total"] or any(remark.startswith("none: no row came out of ") for remark in answer["remarks"]), text
        kept = call("get", answer["answer"], "--all").out.decode().split("\n")[:-1]
        shown = [ctx.row_text(answer["kind"], row).replace("\n", " ") for row in ({k: v for k, v in row.items() if k != "address"} for row in answer["rows"])]
        assert [sorted(line.split()) for line in kept[: answer["shown"]]] == [sorted(line.split()) for line in shown] and len(kept) >= answer["total"], text
        assert bool(answer["next"]) == (answer["shown"] < answer["total"]) and answer["next"].endswith("#output:%d-" % (answer["shown"] + 1)) == bool(answer["next"]), text
        page = call("q", text)
        assert (page.status, bool(page.next)) == (done.status, bool(answer["next"])), text

    asked()


def test_rows_without_what_a_failure_has_are_causes_of_their_own(shop, call):
    (shop / "odd.json").write_text(json.dumps(ODD))
    for source in ("commits", "records repo:odd.json", "refs total | group file"):
        for stage in ("shared-cause", "trace", "callees", "def", "files | get", "touched", "in-changed", "files | outline"):
            assert call("q", "%s | %s" % (source, stage)).status in (0, 1), (source, stage)


def test_a_failure_can_be_traced_as_its_cause_can(failed):
    causes, fails = (column("fails last | %strace" % stage, "text") for stage in ("shared-cause | ", ""))
    assert {line for line in causes if line.startswith("  > ")} == {line for line in fails if line.startswith("  > ")} != set()
    assert [line for line in fails if line.startswith("  called from shop.py:9")]


def test_no_row_leads_out_of_the_workspace(shop, call):
    (shop.parent / "outside.py").write_text("def secret():\n    return 1\n")
    (shop / "up").symlink_to("..")
    for path in ("../outside.py", str(shop.parent / "outside.py"), "up/outside.py", ".git/config", "tests/../../outside.py"):
        (shop / "data.json").write_text(json.dumps([{"path": path, "line": 1, "frame": path + ":1", "frames": [path + ":1"], "identity": path + "::secret", "message": "m"}]))
        for stages in ("files | get", "files | outline", "trace", "callees", "def", "shared-cause | trace", "def | get"):
            done = call("q", "records repo:data.json | " + stages)
            assert b"secret()" not in done.out and b"return" not in done.out and b"[core]" not in done.out, (path, stages)
    assert "unknown: 1 file was not read (tests/../../outside.py)" in call("q", "records repo:data.json | files | get").err


def test_a_frame_below_another_directory_is_the_workspaces(shop):
    reader = ctx.TreeReader(str(shop))
    assert [reader.own_file(path, "") for path in ("../shop.py", "./../tests/test_shop.py", "../../etc/passwd", "./shop.py")] == ["shop.py", "tests/test_shop.py", "", "shop.py"]


def test_groups_by_number_keep_it(shop):
    for path in ("a", "b"):
        (shop / path).mkdir()
        (shop / path / "c.py").write_text("total\ntotal\n")
    assert ask("refs total | group file | group count").rows[0] == {"value": 2, "count": 3}
    assert {row["value"]: row["count"] for row in ask("refs total | group file | histogram count").rows} == {"2": 3, "1": 2}
    assert column("refs total | group file | group count | sort value", "value") == [1, 2]


def test_what_is_around_many_hits_of_one_file_is_found_at_once(workspace, call):
    (workspace / "a.py").write_text("".join("def f%d():\n    return NAME\n" % i for i in range(20_000)))
    started = time.monotonic()
    assert ask("refs NAME | where in ~ ^f1 | count").rows == [{"count": 11_111}]
    assert time.monotonic() - started < 20


def test_what_is_around_hits_in_files_that_were_not_parsed_is_told_to_be_unknown(workspace, call, monkeypatch):
    monkeypatch.setattr(ctx, "PARSE_FILES", 1)
    for name in "abc":
        (workspace / (name + ".py")).write_text("def f():\n    return NAME\n")
    done = call("q", "refs NAME | where in = f | group in")
    assert done.err == "ctx q: unknown: what is around the lines of 2 files not parsed; name a path to look there\n"


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
