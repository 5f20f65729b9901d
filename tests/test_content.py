"""Content families: rows and counts of recorded outputs equal what another format of the same tool says; what is none of them stays unread."""

import gzip
import json
from pathlib import Path

import pytest

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
            assert got[path].endswith(counts), path
        plus = [int(counts[1:].split()[0]) for counts in truth["diff"].values() if counts != "binary"]
        assert found["git-diff/v1"].totals["insertions"] == sum(plus)
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
