"""Content families: rows and counts of recorded outputs equal what another format of the same tool says; what is none of them stays unread."""

import contextlib
import gzip
import html
import json
import py_compile
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CORPUS = Path(__file__).parent / "corpus"
MADE = sorted(path.parent.name for path in CORPUS.glob("ct_*/truth.json"))


def read(name):
    """(evidence by profile, truth, sources) of a case."""
    folder = CORPUS / name
    sources = []
    for stream in ("stdout", "stderr"):
        path = folder / stream
        data = path.read_bytes() if path.exists() else gzip.decompress((folder / (stream + ".gz")).read_bytes())
        if data:
            sources.append(ctx.Source.of_bytes(stream, data))
    found = {evidence.profile: evidence for evidence in ctx.parse_content(sources, int((folder / "exit").read_text()))}
    return found, json.loads((folder / "truth.json").read_text(encoding="utf8")), sources


def examine(text, status=0):
    """The first evidence in some bytes."""
    return next(iter(ctx.parse_content([ctx.Source.of_bytes("stdout", text)], status)), None)


def rows(evidence, kinds=None):
    return {fact.identity.decode("utf-8", "replace"): fact.message.decode("utf-8", "replace") for fact in evidence.facts if kinds is None or fact.kind in kinds}


@pytest.mark.parametrize("name", MADE)
def test_made(name):
    found, truth, sources = read(name)
    if truth.get("none"):
        assert not found
        return
    evidence = found[truth["profile"]]
    assert not evidence.unsure
    assert {key: evidence.totals.get(key) for key in truth.get("totals", {})} == truth.get("totals", {})
    if truth.get("rows"):
        got = rows(evidence)
        assert set(got) == set(truth["rows"])
        for identity, message in truth["rows"].items():
            assert message is None or got[identity].startswith(message), identity
    if "first" in truth:
        assert evidence.facts[0].identity.decode() == truth["first"]
    if "diff" in truth:
        got = rows(found["git-diff/v1"])
        assert set(got) == set(truth["diff"])
        for path, counts in truth["diff"].items():
            assert counts is None or got[path].endswith(counts), path
        if None not in truth["diff"].values():
            plus = [int(counts[1:].split()[0]) for counts in truth["diff"].values() if counts != "binary"]
            assert found["git-diff/v1"].totals["insertions"] == sum(plus)
    if "objects" in truth:
        assert set(rows(evidence, ("object",))) == set(truth["objects"])
    assert set(truth.get("quoted", ())) <= {quote.first for quote in evidence.quotes}
    if "odd" in truth:
        odd = {fact.identity.decode(): fact.first for fact in evidence.facts if fact.kind == "odd"}
        assert set(odd) == set(truth["odd"])
        for identity, line in truth["odd"].items():
            assert line is None or odd[identity] == line
    for quote in evidence.quotes:
        line = next(source for source in sources if source.name == quote.stream).line(quote.first)
        assert quote.text == line or len(line) > 4000


@pytest.mark.parametrize(
    ("name", "profile", "totals"),
    [
        ("git_log_stat", "git-log/v1", {"commits": 6}),
        ("git_status_many", "git-status/v1", {"staged": 9, "not staged": 17}),
        ("git_status_uall", "git-status/v1", {"staged": 9, "not staged": 17, "untracked": 122}),
        ("ls_lR", "listing/v1", {"directories": 79, "files": 985}),
        ("tree", "listing/v1", {"directories": 79, "files": 985}),
        ("csv_table", "table/v1", {"rows": 40000, "columns": 5}),
        ("kubectl_table", "table/v1", {"rows": 400, "columns": 6}),
        ("sqlite_column", "table/v1", {"rows": 10, "columns": 3}),
        ("k8s_yaml", "yaml/v1", {"Pod": 300}),
        ("log_access", "log/v1", {"lines": 30000, "5xx": 4}),
        ("npm_ls_json_deep", "json/v1", {"keys": 3}),
        ("grep_rn_small", "search/v1", {"hits": 2, "files": 1}),
    ],
)
def test_recorded(name, profile, totals):
    found, truth, _ = read(name)
    evidence = found[profile]
    assert not evidence.unsure
    assert {key: evidence.totals[key] for key in totals} == totals
    true = set(truth["identities"]) - set(truth.get("identities_not_in_output", ()))
    if profile in ("git-log/v1", "listing/v1", "git-status/v1", "search/v1"):
        assert true == set(rows(evidence)) - {"new dir/"}
    needles = set(truth.get("needle_lines", ()))
    shown = {quote.first for quote in evidence.quotes if quote.value > 4} | {fact.first for fact in evidence.facts}
    assert name == "k8s_yaml" and {800, 3802} <= shown or needles <= shown | {quote.first for quote in evidence.quotes}


@pytest.fixture
def changed(tmp_path):
    """A repository with three commits, a staged, a changed and a new file; a call runs a shell line in it: (output, status)."""
    (tmp_path / ".git").mkdir()

    def run(text):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
        env.update({"GIT_%s_%s" % (who, what): "dev@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")})
        done = subprocess.run(["bash", "-c", text], cwd=str(tmp_path), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout, done.returncode

    lines = "".join("line %d\n" % n for n in range(60))
    assert run("rmdir .git; git init -q -b main .")[1] == 0
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(lines)
        assert run("git add . && git commit -qm 'Add %s'" % name)[1] == 0
    (tmp_path / "a.txt").write_text(lines.replace("line 7\n", "line seven\n").replace("line 50\n", ""))
    run("git add a.txt")
    (tmp_path / "b.txt").write_text(lines + "On branch of a tree\n")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "d.txt").write_text("d\n")
    return run


STATUS = ("git-status/v1", {"a.txt", "b.txt", "new/"})
DIFF = ("git-diff/v1", {"b.txt"})
COMMITS = ("git-log/v1", 3)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("git status && git diff", [STATUS, DIFF]),
        ("git diff; git status", [DIFF, STATUS]),
        ("git log; git status", [COMMITS, STATUS]),
        ("git log; git diff", [COMMITS, DIFF]),
        ("git log -p --stat; git status", [COMMITS, ("git-diff/v1", {"a.txt", "b.txt", "c.txt"}), STATUS]),
        ("git log --oneline; git status -s; git diff --stat HEAD", [COMMITS, STATUS, ("git-diff/v1", {"a.txt", "b.txt"})]),
        ("git status -sb; git diff --cached; git diff; git log --oneline", [STATUS, ("git-diff/v1", {"a.txt", "b.txt"}), COMMITS]),
        ("echo == status; git status; echo == diff; git diff", [STATUS, DIFF]),
        ("ls -l; git status", [("listing/v1", {"."}), STATUS]),
    ],
)
def test_commands_in_a_row(changed, line, parts):
    output, status = changed(line)
    source = ctx.Source.of_bytes("output", output)
    found = ctx.examine([source], status)
    assert [evidence.profile for evidence in found] == [profile for profile, _ in parts]
    assert ctx.is_answer(found, status)
    for evidence, (_, names) in zip(found, parts):
        assert len(evidence.facts) == names if isinstance(names, int) else {fact.identity.decode() for fact in evidence.facts} == names
        for fact in evidence.facts:
            assert fact.identity in source.slice(fact.first, fact.last or fact.first) or fact.identity == b"."
        for quote in evidence.quotes:
            assert quote.text == source.line(quote.first)


@pytest.mark.parametrize(
    ("line", "totals"),
    [
        ("git diff --exit-code", {"files": 1, "insertions": 1}),
        ("git diff --no-index a.txt c.txt", {"files": 1, "insertions": 2, "deletions": 1}),
        ("diff a.txt c.txt", {"insertions": 2, "deletions": 1}),
        ("diff -u a.txt c.txt", {"files": 1, "insertions": 2, "deletions": 1}),
        ("cp -r . ../other; rm ../other/c.txt; date >../other/b.txt; diff -r . ../other -x .git; e=$?; rm -r ../other; exit $e", {"files": 1, "insertions": 1, "deletions": 61}),
        ("cp -r . ../other; rm ../other/c.txt; date >../other/b.txt; diff -ru . ../other -x .git; e=$?; rm -r ../other; exit $e", {"files": 1, "insertions": 1, "deletions": 61}),
        ("cmp -l a.txt c.txt 2>/dev/null | head -40; exit 1", {"bytes that differ": 40}),
        ("grep -c zebra *.txt", {"hits": 0, "files": 0, "files without": 3}),
        ("git status; git diff --exit-code", {"staged": 1, "not staged": 1, "untracked": 1}),
    ],
)
def test_a_difference_is_no_failure(changed, line, totals):
    output, status = changed(line)
    found = ctx.examine([ctx.Source.of_bytes("output", output)], status)
    assert status == 1
    assert found[0].totals == totals
    assert ctx.is_answer(found, 1)
    assert not ctx.is_answer(found, 2)


def test_a_patch_is_nobodys_report(changed):
    quoted = b"main.c:(.text+0xa): undefined reference to `missing'\ncollect2: error: ld returned 1 exit status\n" * 40
    for line in ("git add -A; git commit -qm Logs; git show", "git log -p -2", "git diff HEAD~1", "git log -1 -p; git status"):
        output, status = changed("printf '%s' \"$QUOTED\" >>log.txt; ".replace("$QUOTED", quoted.decode().replace("`", "\\`")) + line)
        found = ctx.examine([ctx.Source.of_bytes("output", output)], status)
        assert {evidence.profile for evidence in found} <= {"git-log/v1", "git-diff/v1", "git-status/v1"}, line
    output, status = changed("git log -2; printf '%s' \"$QUOTED\"; exit 1".replace("$QUOTED", quoted.decode().replace("`", "\\`")))
    found = ctx.examine([ctx.Source.of_bytes("output", output)], status)
    assert "linker/v1" in {evidence.profile for evidence in found}


def test_status_1_beside_words_that_nobody_reads_is_a_failure(changed):
    output, status = changed("git diff; echo; echo no such thing; exit 1")
    assert not ctx.is_answer(ctx.examine([ctx.Source.of_bytes("output", output)], status), status)


@pytest.mark.parametrize("name", ["bin_png", "bin_so"])
def test_binary(name):
    found, truth, sources = read(name)
    (fact,) = found["bytes/v1"].facts
    assert truth["outcome"]["kind"].upper() in fact.identity.decode()
    assert fact.message == ("%s bytes" % format(sources[0].size, ",d")).encode()
    assert not found["bytes/v1"].quotes


@pytest.mark.parametrize("name", ["bytes_latin1", "bytes_utf16", "py_traceback", "mypy_pretty", "go_test_json", "cargo_test_fail", "injection", "bash_syntax"])
def test_reports_are_not_content(name):
    assert not read(name)[0]


@pytest.mark.parametrize("name", ["ct_rg_quotes_tools", "ct_rg_vimgrep", "ct_rg_pipe", "ct_rg_pipe_context", "ct_ag", "ct_ag_group"])
def test_what_a_search_quotes_is_no_report(name):
    """The hits quote a compiler, a linker and a linter; none of them ran."""
    _, _, sources = read(name)
    assert {evidence.profile for evidence in ctx.examine(sources, 0)} == {"search/v1"}


def test_hunk_text_is_not_structure():
    text = b"diff --git a/q.sql b/q.sql\nindex 1..2 100644\n--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a/fake\n+++ b/fake\n diff --git a/x b/x\n"
    assert rows(examine(text)) == {"q.sql": "+1 −1"}


def test_a_cut_diff_is_nothing():
    text = b"diff --git a/q b/q\nindex 1..2 100644\n--- a/q\n+++ b/q\n@@ -1,9 +1,9 @@\n-a\n+b\n"
    assert examine(text) is None


def test_names_with_colons_and_context():
    text = b"a-1-b.py-3-x = 1\na-1-b.py:4:y = see c.py:9:z\na-1-b.py-5-foo:6:bar\n--\nd.py:7:y\n"
    evidence = examine(text)
    assert rows(evidence) == {"a-1-b.py": "1 hit", "d.py": "1 hit"}
    assert evidence.totals == {"hits": 2, "files": 2, "lines of context": 2}


def test_quotes_of_a_csv_record_over_lines():
    text = b"id,note\n" + b"".join(b'%d,"a\nb"\n' % i for i in range(30)) + b"x,\n"
    evidence = examine(text)
    assert evidence.totals == {"rows": 31, "columns": 2}
    assert {fact.identity: fact.first for fact in evidence.facts} == {b"id: x": 62, b"note: (empty)": 62}


def test_larger_than_the_window_is_said(monkeypatch):
    monkeypatch.setattr(ctx, "_NEAR_BYTES", 1000)
    evidence = examine(b"".join(b"src/a%d.py:3:x = 1\n" % i for i in range(200)))
    assert evidence.unsure.startswith("sampled")


def test_a_diff_that_the_window_cuts(monkeypatch):
    monkeypatch.setattr(ctx, "_NEAR_BYTES", 1000)
    evidence = examine(b"".join(b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n" % (i, i, i, i) for i in range(60)))
    assert evidence.unsure.startswith("sampled")
    assert rows(evidence)["f3"] == "+1 −1"


def test_a_value_of_several_lines_in_columns_of_sqlite():
    text = "id  name  note\n--  ----  ----\n1   a     one \n          two \n\n2   b     x   \n\n3   c     y   \n\n4   d     z   \n"
    assert examine(text.encode()).totals == {"rows": 4, "columns": 3}


LEVELLED = {  # how loggers begin a line: what they call a level
    "INFO:shop.db:": ("INFO", "ERROR"),  # logging.basicConfig
    "[Mon Nov 30 10:00:00.123456 2026] [core:notice] [pid 12] ": ("notice", "error"),  # Apache
    "2026/11/30 10:00:00 [notice] 31#31: ": ("notice", "error"),  # nginx
    'time="2026-11-30T10:00:00Z" level=info msg=': ("info", "error"),  # logrus
}


@pytest.mark.parametrize("margin", ["", "    "])
@pytest.mark.parametrize("start", LEVELLED)
def test_levels_of_a_log(start, margin):
    usual, bad = LEVELLED[start]
    lines = "".join("%s%srequest %d\n" % (margin, start.replace(usual, bad) if n % 50 == 7 else start, n) for n in range(300))
    evidence = examine(lines.encode())
    assert (evidence.profile, evidence.totals) == ("log/v1", {"lines": 300, bad: 6, usual: 294})


def test_a_log_of_a_command_that_failed_quotes_its_errors():
    lines = [json.dumps({"level": "ERROR" if n == 207 else "INFO", "message": "query failed" if n == 207 else "request %d" % n}) + "\n" for n in range(400)]
    found = ctx.examine([ctx.Source.of_bytes("stdout", "".join(lines).encode())], 1)
    assert found[0].profile == "log/v1" and 208 in {quote.first for evidence in found for quote in evidence.quotes if quote.value > 3}


def test_an_access_log_is_no_search():
    lines = b"".join(b'10.0.0.%d - - [30/Nov/2026:10:00:%02d +0000] "GET /p/%d HTTP/1.1" 200 %d "-" "curl"\n' % (i % 9, i // 9, i, i) for i in range(200))
    assert examine(lines).profile == "log/v1"


RECORDS = [{"id": i, "ok": True, "n": i * 1.5, "tags": ["a", "b"], "who": {"name": "u%d" % (i % 3)}} for i in range(2000)]


def odd_of(document, **form):
    """Pointers of what is odd in a document."""
    evidence = examine(json.dumps(document, **form).encode() + b"\n")
    return evidence, {fact.identity.decode(): fact.first for fact in evidence.facts if fact.kind == "odd"}


@pytest.mark.parametrize("part", [300, 5000, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("around", ["{}", '{"a": 1, "items": {}, "z": null}', '{"deep": [{"items": {}}]}'])
def test_json_is_read_part_by_part(monkeypatch, part, indent, around):
    """Whatever a part holds, all is counted: an odd value, an odd key and a missing one, inside of arrays at any depth."""
    monkeypatch.setattr(ctx, "_JSON_PART", part)
    records = [dict(record) for record in RECORDS]
    records[1777]["ok"] = 1
    records[1234]["note"] = "x], [y"
    text = around.replace("{}", json.dumps(records)) if around != "{}" else json.dumps(records)
    evidence, odd = odd_of(json.loads(text), indent=indent)
    place = {"{}": "", '{"a': "/items", '{"d': "/deep/0/items"}[around[:3] if len(around) > 2 else around]
    assert set(odd) == {place + "/1777/ok", place + "/1234/note"}
    shape = rows(evidence, ("place",))
    if not place:
        assert (evidence.totals, shape["/*/tags"], shape["/*/who/name"]) == ({"items": 2000}, "array ×2000", "string ×2000")


@pytest.mark.parametrize("part", [300, 1 << 20])
def test_json_maps_and_mixed_types(monkeypatch, part):
    monkeypatch.setattr(ctx, "_JSON_PART", part)
    document = {"k%d" % i: {"v": i, "w": [True, 1, "1", None]} for i in range(500)}
    document["k377"]["v"] = "77"
    evidence, odd = odd_of(document)
    assert evidence.totals == {"keys": 500}
    assert set(odd) == {"/k377/v"}
    if part > 300:
        assert rows(evidence, ("place",))["/*/w/*"] == "string ×500, number ×500, boolean ×500, null ×500"


def test_a_json_map_names_its_keys_however_much_the_first_one_holds(monkeypatch):
    monkeypatch.setattr(ctx, "_JSON_PLACES", 40)
    wide = {"a%d" % i: {"b%d" % j: {"c": j} for j in range(6)} for i in range(12)}
    evidence, _ = odd_of({"first": wide, "second": {"x": 1}, "third": [1], "fourth": "y"})
    assert [place for place in rows(evidence, ("place",)) if place.count("/") == 1] == ["/first", "/second", "/third", "/fourth"]
    assert evidence.totals["places not looked into"] > 30


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from(["],", "},{", "*", "/", '"']),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=6),
    max_leaves=40,
)


@settings(deadline=None)
@given(st.lists(JSON, min_size=1, max_size=20) | st.dictionaries(st.text(max_size=4), JSON, min_size=1, max_size=20), st.sampled_from([None, 1]), st.booleans(), st.sampled_from([8, 40, 200, 1 << 18]))
def test_any_json_is_counted_whatever_a_part_holds(document, indent, escaped, part):
    text = json.dumps(document, indent=indent, ensure_ascii=escaped)
    shape, before = ctx._Shape(), ctx._JSON_PART
    ctx._JSON_PART = part
    try:
        assert shape.read(text, 0) == (len(document), len(text))
        with contextlib.suppress(ValueError):  # a key that is cut and longer than a part
            assert ctx._Shape().read(text[: len(text) // 2] or "[", 0)[1] == -1
    finally:
        ctx._JSON_PART = before


@pytest.mark.parametrize("text", [b'[{"a": 1}, {"a": 2}', b'{"a": 1}{"a": 2}\n' * 30, b'[1, 2]]\n', b'{"a": 1},\n{"a": 2}\n' * 20, b"[" * 90_000 + b"\n", b'{"a" 1}\n'])
def test_what_only_begins_like_json(text):
    found = examine(text)
    assert found is None or found.profile != "json/v1"


def test_a_json_document_beyond_the_window(monkeypatch):
    monkeypatch.setattr(ctx, "_NEAR_BYTES", 20_000)
    evidence, odd = odd_of([{"id": i, "state": "bad" if i == 100 else "ok"} for i in range(5000)])
    assert evidence.unsure.startswith("sampled: the first")
    assert set(odd) == {"/100/state"}


def pieces():
    """Blocks of lines of recorded outputs, of each the start, the end and what is between."""
    blocks = []
    for folder in sorted(CORPUS.iterdir()):
        data = b"".join((folder / stream).read_bytes()[-60_000:] for stream in ("stdout", "stderr") if (folder / stream).exists())
        lines = data.split(b"\n")
        blocks += [b"\n".join(lines[at : at + 12]) + b"\n" for at in (0, len(lines) // 3, max(len(lines) - 13, 0))] if folder.is_dir() else []
    return sorted({block for block in blocks if block.strip() and len(block) < 8000})


MARKS = rb"[\s:#(),\[\]]+|\xe2\x80\xba|>"


@pytest.mark.parametrize(
    "around",
    [
        b"%s",
        b"Updating 0a1b2c3..4d5e6f7\nFast-forward\n%s create mode 100644 src/new.py\n",
        b"Auto-merging src/a.py\nMerge made by the 'ort' strategy.\n%s delete mode 100644 src/a.py\n rename src/{c.py => d.py} (96%%)\n",
    ],
)
def test_statistics_as_git_diff_merge_and_pull_print_them(around):
    stat = b" src/a.py (gone)           |  2 --\n src/new.py (new +x)        | 10 ++++++++++\n 2 files changed, 10 insertions(+), 2 deletions(-)\n"
    evidence = examine(around % stat)
    assert rows(evidence) == {"src/a.py": "2 changed", "src/new.py": "10 changed"}
    assert (evidence.totals, evidence.claimed) == ({"files": 2, "insertions": 10, "deletions": 2}, 2)


def test_marks_of_words_and_of_tasks_are_no_sections():
    for line in (b"[-line %d-]{+changed+}", b"[%d] ", b"[lint] "):
        evidence = examine(b"".join((line % n if b"%" in line else line) + b"\nsome text\n" for n in range(20)))
        assert evidence is None or evidence.profile != "document/v1"


def test_a_spelling_checker_and_a_task_are_no_search():
    said = [b"a.md:%d:5 - Unknown word (wrod%d)\n" % (n, n) for n in range(1, 9)]
    assert ctx.parse_searches([ctx.Source.of_bytes("stdout", b"".join(said))], 1) == []
    said = [b"@org/web:   %d:5  error  no\n" % n for n in range(1, 9)]
    assert ctx.parse_searches([ctx.Source.of_bytes("stdout", b"".join(said))], 1) == []


@settings(deadline=None)
@given(st.lists(st.sampled_from(pieces()), min_size=1, max_size=8), st.sampled_from([0, 1, None]))
def test_any_mixture_of_real_lines(blocks, status):
    """Nothing raises; every line number is real; what is said to be wrong is named by words that the output holds (a caret tells a column)."""
    data = b"".join(blocks)
    source = ctx.Source.of_bytes("output", data)
    shown = ctx.strip_ansi(data).replace(b"\r", b"")
    spelt = shown + shown.decode("utf8", "replace").encode("unicode_escape") + shown.replace(b'\\"', b'"').replace(b"\\\\", b"\\") + html.unescape(shown.decode("utf8", "surrogateescape")).encode("utf8", "surrogateescape")
    found = ctx.examine([source], status)
    assert found
    for evidence in found:
        for fact in evidence.facts:
            assert 0 <= fact.first <= fact.last <= source.lines
            if fact.kind in ctx.contract_of(evidence).failing:
                assert all(word in spelt for word in re.split(MARKS, fact.identity) if not word.isdigit()), fact.identity
        assert all(0 < quote.first <= quote.last <= source.lines for quote in evidence.quotes + evidence.notes)
        assert all(0 < first <= last <= source.lines for _, first, last in evidence.span)


CHILD = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import ctx
block = open(sys.argv[2], "rb").read()
def read(start, end):
    out = b""
    while start < end:
        at = start % len(block)
        out += block[at : at + end - start]
        start += len(block[at : at + end - start])
    return out
found = ctx.parse_content([ctx.Source("stdout", 500 << 20, read)], 1)
try:
    peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) >> 10  # what getrusage tells may be the parent's
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20
print(peak, *(evidence.unsure[:7] for evidence in found))
"""


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": %d, "state": "ok", "who": {"name": "u%d", "tags": ["a", "b"]}}\n',
        b'{"id": %d, "who": "u%d"}, ',
        b"%d,user %d,ok,3.5\n",
        b"src/a.py:%d:    total = order %d\n",
        b"pod-%08d   1/1     Running   %dd\n",
        b"2026-11-30T10:00:00 INFO request %d took %d ms\n",
        b"some words about nothing, number %d of %d\n",
    ],
)
def test_memory_is_bounded(tmp_path, line):
    """500 MiB are read in 64 MiB at most, the interpreter and ctx included."""
    first = b"[" if line.endswith(b" ") else b"id,name,state,n\n" if line.startswith(b"%d,") else b"NAME           READY   STATUS    AGE\n" if line.startswith(b"pod") else b""
    block = first
    for i in range(1 << 30):
        if len(block) > 9 << 20:
            break
        block += b"".join(line % (i * 1000 + k, k % 90) for k in range(1000))
    (tmp_path / "block").write_bytes(block)
    py_compile.compile(ctx.__file__, str(tmp_path / "ctx.pyc"))  # compiling takes more room than reading
    done = subprocess.run([sys.executable, "-I", "-S", "-c", CHILD, str(tmp_path), str(tmp_path / "block")], stdout=subprocess.PIPE, check=True)
    size, *unsure = done.stdout.split()
    assert int(size) - (len(block) >> 20) <= 64
    assert set(unsure) <= {b"sampled"}


def test_what_a_message_says_of_files_changed_is_not_what_changed():
    commit = b"commit %s\nAuthor: A <a@b.c>\nDate:   Mon Nov 30 20:25:54 2026 +0000\n\n    Subject\n    \n    the merge said: 3 files changed, 2 insertions(+)\n\n" % (b"1f" * 20)
    for stat, told in ((b"", b"Subject"), (b" a.py | 4 ++++\n 1 file changed, 4 insertions(+)\n", b"Subject (1 file changed, 4 insertions(+))")):
        (evidence,) = ctx.parse_content([ctx.Source.of_bytes("stdout", commit + stat)], 0)
        assert [fact.message for fact in evidence.facts] == [told]


def test_an_object_of_a_stream_ends_where_the_next_document_begins():
    text = b"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  x: |\n    ---\n---\n# nothing\n---\nkind: Deployment\nmetadata: {labels: {app: x}, name: two}\n---\n- a\n- b\n"
    (evidence,) = ctx.parse_content([ctx.Source.of_bytes("stdout", text)], 0)
    assert [(fact.identity, fact.first, fact.last) for fact in evidence.facts if fact.kind == "object"] == [(b"ConfigMap/one", 1, 8), (b"Deployment/two", 11, 13)]
    assert evidence.totals == {"ConfigMap": 1, "Deployment": 1}
