"""The pytest and unittest profiles against real outputs (tests/corpus, made by make_pytest.py) with the runner's own truth."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(p.name for p in CORPUS.iterdir() if re.match("(pt|un|py|ut)_", p.name) and (p / "truth.json").exists())
OWN = [name for name in CASES if name.startswith(("pt_", "un_"))]
WORDS = {
    "error": "errors",
    "expected_failures": "expected failures",
    "unexpected_successes": "unexpected successes",
    "run": None,
    "internal_error": None,
    "interrupted": None,
    "usage_error": None,
    "killed": None,
    "signal": None,
    "timeout": None,
    "note": None,
    "uncaught": None,
}


def read(name: str, stream: str) -> bytes:
    path = CORPUS / name / stream
    if path.exists():
        return path.read_bytes()
    return gzip.decompress((CORPUS / name / (stream + ".gz")).read_bytes())


class Case:
    def __init__(self, name: str) -> None:
        self.name = name
        self.stdout, self.stderr = read(name, "stdout"), read(name, "stderr")
        self.truth = json.loads((CORPUS / name / "truth.json").read_text("utf-8"))
        self.status = self.truth.get("status", self.truth["exit"])
        self.unittest = name.startswith(("un_", "ut_"))

    def parse(self, stdout=None, stderr=None):
        sources = [
            ctx.Source.of_bytes("stdout", self.stdout if stdout is None else stdout),
            ctx.Source.of_bytes("stderr", self.stderr if stderr is None else stderr),
        ]
        return (ctx.parse_unittest if self.unittest else ctx.parse_pytest)(sources, self.status)

    @property
    def sessions(self):
        """The truth of each session: counts and {(kind, identity): [failure, …]}."""
        if "sessions" not in self.truth:
            return [self.shared()]
        found = []
        for session in self.truth["sessions"]:
            failures: dict = {}
            for failure in session["failures"]:
                identity = failure["id"]
                head = failure.get("head")
                if head:  # a subtest: pytest heads it with the name of the test and its description
                    identity += head[min(head.find(mark) for mark in (" [", " (") if mark in head) :]
                if self.truth.get("heads"):  # -q -rN: the output never says the file
                    identity = identity.split("::", 1)[1]
                failures.setdefault((failure["kind"], identity.encode()), []).append(failure)
            found.append((session["counts"], failures))
        return found

    def shared(self):
        """The truth of a case that was not made by make_pytest.py."""
        truth, failures = self.truth, {}
        if self.unittest:
            for identity in truth["identities"]:
                kinds = {f["kind"] for f in truth["failures"] if f["id"] == identity}
                failures["error" if kinds == {"error"} else "failed", identity.encode()] = [{"message": None}]
        for failure in truth.get("failures", ()) if not self.unittest else ():
            identity, sub = failure["id"], failure.get("sub")
            identity = next((i for i in truth["identities"] if i == identity or identity.endswith("/" + i)), identity)
            if sub:
                words = [
                    ("[%s]" % sub["msg"]) if sub["msg"] else "",
                    "(%s)"
                    % ", ".join(
                        "%s=%s" % (k, json.loads('"' + v[1:-1] + '"') if v[0] in "'\"" else v) for k, v in sub["kwargs"].items()
                    )
                    if sub["kwargs"]
                    else "",
                ]
                identity += "".join(" " + word for word in words if word)
            failures.setdefault(("failed" if failure["when"] == "call" else "error", identity.encode()), []).append(
                {"message": None}
            )
        if truth.get("failures_listed"):
            for identity in truth["identities"]:
                failures.setdefault(("failed", identity.encode()), [{"message": None}])
        return truth["outcome"], failures


@pytest.mark.parametrize(("end", "message"), [("Failed: one thing", "Failed: one thing"), ("Failed: one th...", "one thing")])
def test_a_failure_without_traceback_is_told_as_its_summary_tells_it(end, message):
    ruler = lambda title: title.center(80, "=") + "\n"  # noqa: E731
    text = ruler(" test session starts ") + "collected 1 item\n\nt.py F\n\n" + ruler(" FAILURES ") + " test_x ".center(80, "_") + "\none thing\nand more\n"
    text += ruler(" short test summary info ") + "FAILED t.py::test_x - " + end + "\n" + ruler(" 1 failed in 0.01s ")
    (evidence,) = ctx.parse_pytest([ctx.Source.of_bytes("stdout", text.encode())], 1)
    (fact,) = evidence.facts
    assert fact.message.decode() == message and (not fact.quoted or message in text.split("\n")[fact.quoted - 1])


def line_of(case: Case, quote_stream: str, number: int) -> bytes:
    data = case.stdout if quote_stream == "stdout" else case.stderr
    return ctx.clean(data.split(b"\n")[number - 1])


def same_message(told: str, message: str) -> bool:
    """Styles differ in whether they leave out the name of an exception."""
    return told in (
        message,
        message.strip(),
        "AssertionError: " + message,
        message.replace("Failed: ", "", 1),
    ) or message.startswith("ImportError: Failed to import")


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    case = Case(name)
    truth, printed = case.truth, case.stdout + case.stderr
    found = case.parse()
    if truth.get("only") == "none" or truth["family"] not in ("pytest", "unittest"):
        assert found == []
        return
    if truth.get("only") or "usage_error" in truth.get("outcome", {}):
        assert len(found) == 1 and found[0].outcome == "failed" and found[0].notes and found[0].claimed <= 0
        return
    assert len(found) == len(case.sessions)
    for evidence, (counts, failures) in zip(found, case.sessions):
        facts = {(fact.kind, fact.identity): fact for fact in evidence.facts}
        assert len(facts) == len(evidence.facts)
        crashed = truth.get("crashed") or (truth["identities"][0] if "timeout" in truth.get("outcome", {}) else None)
        if crashed:
            assert facts.pop(("error", crashed.encode())).message
        partial = truth.get("partial") or evidence.summary is None
        if partial and "sessions" not in truth:
            failures = {
                (kind, identity): [{"message": None}]
                for kind in ("failed", "error")
                for identity in map(str.encode, truth["identities"])
            }
        assert set(facts) <= set(failures)
        missing = set(failures) - set(facts)
        if evidence.unsure and (
            truth.get("may_unsure") or partial or truth.get("unnamed") or truth.get("identities_not_in_output")
        ):
            missing = set()
        assert not missing
        if evidence.summary and "internal_error" not in counts:
            want = {WORDS.get(word, word): count for word, count in counts.items() if count and WORDS.get(word, word)}
            assert {word: count for word, count in evidence.totals.items() if word not in ("collected", "run")} == want
            failing = sum(evidence.totals.get(word, 0) for word in ("failed", "errors", "failures", "unexpected successes"))
            assert not evidence.facts or evidence.claimed == failing - sum(
                len(same) - 1 for same in failures.values() if case.unittest or same[0].get("id")
            )
            assert evidence.outcome == ("failed" if failing else evidence.outcome)
            assert line_of(case, evidence.summary.stream, evidence.summary.first).endswith(evidence.summary.text)
        if truth.get("unsure") or partial:
            assert evidence.unsure
        elif not truth.get("may_unsure") and not truth.get("ambiguous") and not truth.get("identities_not_in_output"):
            assert evidence.unsure == ""
        for fact in evidence.facts:
            assert not fact.quoted or fact.message in line_of(case, fact.stream, fact.quoted)
            assert fact.first <= fact.quoted <= fact.last or not fact.quoted
            for quote in fact.context:
                assert quote.text in line_of(case, quote.stream, quote.first)
            assert not any(decoy.encode() in fact.location for decoy in truth.get("decoys", ()))
        for key, fact in facts.items() if not partial else ():
            same = failures[key]
            if "_no" not in name or fact.quoted:
                assert any(
                    f["message"] is None or same_message(fact.message.decode("utf-8", "replace"), f["message"]) for f in same
                ), (key, fact.message)
            places = [f.get("location") for f in same]
            if fact.location and not case.unittest and "_line" not in name:
                assert any(p is None or fact.location.decode() in (p, "/tmp/proj/" + p) for p in places), (
                    key,
                    fact.location,
                    places,
                )
            if not fact.location and "_no" not in name:
                assert not any(p and p.encode() in printed and fact.quoted for p in places), (key, places)
        for quote in evidence.notes + evidence.quotes:
            assert quote.text in line_of(case, quote.stream, quote.first)


def shape(found, shift=0):
    return [
        (
            e.totals,
            e.claimed,
            e.outcome,
            e.unsure,
            [
                (
                    f.kind,
                    f.identity,
                    f.location,
                    f.message,
                    f.first - shift,
                    f.last - shift,
                    f.quoted and f.quoted - shift,
                    [(q.first - shift, q.text) for q in f.context],
                )
                for f in e.facts
            ],
        )
        for e in found
    ]


BEFORE = b"""make[1]: Entering directory '/tmp/proj'
python -m pytest tests
py311: commands[0]> pytest
FAILED to connect, retrying = 3 passed =
"""
AFTER = b"""make: *** [Makefile:2: test] Error 1
py311: FAIL code 1 (0.50=setup[0.10]+cmd[0.40] seconds)
evaluation failed :( (0.60 seconds)
"""


@pytest.mark.parametrize(
    "name", [name for name in OWN if not re.search("crash|kill|timeout_thread|exit_v|usage|sigint|conftest|merged", name)]
)
def test_inside_other_output(name):
    case = Case(name)
    plain, stream = case.parse(), "stderr" if case.unittest else "stdout"
    data = case.stderr if case.unittest else case.stdout
    embedded = case.parse(**{stream: BEFORE + data + AFTER})
    assert shape(embedded, BEFORE.count(b"\n")) == shape(plain)


@pytest.mark.parametrize("name", OWN)
def test_carriage_returns(name):
    case = Case(name)
    if b"\r" not in case.stdout + case.stderr:
        assert shape(case.parse(case.stdout.replace(b"\n", b"\r\n"), case.stderr.replace(b"\n", b"\r\n"))) == shape(case.parse())


@pytest.mark.parametrize(
    "name", [name for name in OWN if not re.search("_q|_none|conftest|usage|tbno_rN|crash|prefix|gha", name)]
)
def test_a_margin_before_all_lines(name):
    """Such as a collector puts; where no ruler tells the session from a log, or there is one margin in another, none is believed."""
    case = Case(name)
    stdout, stderr = (b"".join(b"    " + line for line in data.splitlines(True)) for data in (case.stdout, case.stderr))
    assert shape(case.parse(stdout, stderr)) == shape(case.parse())


def names(case: Case):
    """What may be an identity in a part of the output: ids, or where it does not say more, the names that head the failures."""
    for _, failures in case.sessions:
        for _, identity in failures:
            yield identity
            tail = identity.split(b"::", 1)[-1]
            yield tail
            head, bracket, parameters = tail.partition(b"[")
            yield head.replace(b"::", b".") + bracket + parameters
    if case.truth.get("crashed"):
        yield case.truth["crashed"].encode()


# With -s, what a test prints cannot be told from the runner's own lines once the end, which would contradict it, is cut off.
# pt_62_decoys: the subtests plugin of then counts what it does not print, so that a false closing line fits.
CUTTABLE = [
    name
    for name in OWN
    if not re.search(
        "_s$|_s_|only|usage|conftest|log_cli|un_prints|un_buffer|pt_make|two_runs|subtests|custom|crash_xdist|un_39_v|62_decoys",
        name,
    )
]


@settings(deadline=None)
@given(st.data())
def test_cut_anywhere(data):
    case = Case(data.draw(st.sampled_from(CUTTABLE)))
    if len(case.stdout) > 300_000 or case.truth.get("only"):
        return
    full = case.stderr if case.unittest else case.stdout
    end = data.draw(st.integers(0, len(full)))
    start = data.draw(st.sampled_from([0, 0, 0, end // 2]))
    check_cut(case, full, start, end)


def check_cut(case: Case, full: bytes, start: int, end: int) -> None:
    found = case.parse(**{"stderr" if case.unittest else "stdout": full[start:end]})
    allowed = set(names(case))
    if start == 0:
        for evidence in found:
            for fact in evidence.facts:
                assert fact.identity in allowed, (case.name, end, fact.identity)
            if not evidence.unsure:
                assert shape([evidence])[0][0] == shape(case.parse())[0][0], (case.name, end)
    lines = full[start:end].split(b"\n")
    stream = "stderr" if case.unittest else "stdout"
    for evidence in found:
        for fact in evidence.facts:
            assert not fact.quoted or fact.stream != stream or fact.message in ctx.clean(lines[fact.quoted - 1])


@pytest.mark.slow
@pytest.mark.parametrize("name", CUTTABLE)
def test_cut_at_every_line(name):
    case = Case(name)
    full = case.stderr if case.unittest else case.stdout
    if len(full) > 60_000 or case.truth.get("only"):
        pytest.skip("large, or without a session")
    for at in [i + 1 for i, byte in enumerate(full) if byte == 10]:
        check_cut(case, full, 0, at)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"=== test session starts ===",
                b"collected 3 items",
                b"=" * 34 + b" FAILURES " + b"=" * 35,
                b"_" * 33 + b" test_a " + b"_" * 33,
                b"tests/a.py F.F   [100%]",
                b"E   assert 1 == 2",
                b"a.py:3: AssertionError",
                b"-" * 28 + b" Captured stdout call " + b"-" * 29,
                b"FAILED tests/a.py::test_a - assert",
                b"ERROR a.py",
                b"=== short test summary info ===",
                b"=== 1 failed, 2 passed in 0.10s ===",
                b"1 failed in 0.10s",
                b"\x1b[31mFAILED\x1b[0m a.py::b",
                b"FAILED ",
                b"FAILED  - ",
                b"",
                b"\xff\xfe\x00",
                b"E",
                b">",
                b"SUBFAILED",
                b"(i=1) SUBFAIL a.py::x",
                b"Ran 3 tests in 0.1s",
                b"FAILED (failures=1)",
                b"=" * 70,
                b"-" * 70,
                b"FAIL: test_a (m.T)",
                b"ERROR: ",
                b"UNEXPECTED SUCCESS: ",
                b"  + Exception Group Traceback (most recent call last):",
                b"  | a",
                b"Traceback (most recent call last):",
                b'  File "a.py", line 3',
                b"!!! Interrupted !!!",
                b"INTERNALERROR> ",
                b"[gw0] [ 3%] FAILED a.py::b",
                b"a.py::b FAILED",
                b"Fatal Python error: x",
                b"no tests ran in 0.00s",
            ]
        ),
        max_size=40,
    ),
    st.sampled_from([0, 1, 2, None]),
)
def test_any_lines(lines, status):
    for data in (b"\n".join(lines), b"\n".join(lines) + b"\n"):
        for parse in (ctx.parse_pytest, ctx.parse_unittest):
            for evidence in parse([ctx.Source.of_bytes("output", data)], status):
                count = data.count(b"\n") + 1
                for fact in evidence.facts:
                    assert 0 <= fact.first <= fact.last <= count and 0 <= fact.quoted <= count
                assert evidence.claimed >= -1
                assert status == 0 or evidence.outcome != "passed" or evidence.unsure or evidence.notes or status is None


@given(st.binary(max_size=2000), st.sampled_from([0, 1, None]))
def test_any_bytes(data, status):
    assert ctx.parse_pytest([ctx.Source.of_bytes("stdout", data)], status) == [] or b" " in data
    ctx.parse_unittest([ctx.Source.of_bytes("stdout", data)], status)


def test_several_sessions_of_make():
    one, two, three = Case("pt_auto"), Case("pt_pass_q"), Case("pt_q")
    data = b"pytest a\n" + one.stdout + b"pytest -q b\n" + two.stdout + b"pytest -q c\n" + three.stdout + b"pytest d\n" + one.stdout
    found = ctx.parse_pytest([ctx.Source.of_bytes("output", data)], 2)
    assert [e.totals for e in found] == [c.parse()[0].totals for c in (one, two, three, one)]
    assert [len(e.facts) for e in found] == [len(c.parse()[0].facts) for c in (one, two, three, one)]
    assert [e.unsure for e in found] == [""] * 4


def test_exit_status_against_summary():
    case = Case("pt_pass")
    sources = [ctx.Source.of_bytes("stdout", case.stdout)]
    assert ctx.parse_pytest(sources, 0)[0].unsure == ""
    assert "exit status 1" in ctx.parse_pytest(sources, 1)[0].unsure
    failing = [ctx.Source.of_bytes("stdout", Case("pt_q").stdout)]
    assert ctx.parse_pytest(failing, None)[0].unsure == ""
    assert "exit status 0" in ctx.parse_pytest(failing, 0)[0].unsure


def test_markers_occur_in_every_case():
    for name in CASES:
        case = Case(name)
        markers = ctx.UNITTEST_MARKERS if case.unittest else ctx.PYTEST_MARKERS
        if case.parse():
            assert any(marker in case.stdout + b"\n" + case.stderr for marker in markers), name


@pytest.mark.parametrize(
    "text",
    [
        b"12 passed out of 30 candidates\nrun finished, 2 failed in total in 0.10s of time\n",
        b"Tests: 1 failed, 2 passed, 3 total\nTime: 1.2 s\n",
        b"test result: FAILED. 1 passed; 2 failed; finished in 0.02s\n",
        b"  = 3 passed in 1.00s =\n",
        b"# FAILURES =\nFAILED x\n",
        b">>> 3 passed in 0.10s\n",
    ],
)
def test_look_alikes(text):
    assert ctx.parse_pytest([ctx.Source.of_bytes("stdout", text)], 0) == []


# ── projects nobody wrote ───────────────────────────────────────────────────────────────────────────────────────────────────────

RECORDER = """
import json, os
def pytest_unconfigure(config):
    tr = config.pluginmanager.get_plugin("terminalreporter")
    if tr is None or hasattr(config, "workerinput"): return
    with open(os.environ["CTX_TRUTH"], "w") as f:
        json.dump({"counts": {k: len(v) for k, v in tr.stats.items() if k and v},
                   "failures": [[k, str(r.nodeid), getattr(getattr(getattr(r, "longrepr", 0), "reprcrash", 0), "message", None)]
                                for k in ("failed", "error") for r in tr.stats.get(k, [])]}, f)
"""
DECOY_LINES = [
    "=" * 34 + " FAILURES " + "=" * 36,
    "_" * 34 + " test_0 " + "_" * 38,
    "E       AssertionError: ghost",
    "tests/test_ghost.py:3: AssertionError",
    "=" * 27 + " short test summary info " + "=" * 28,
    "FAILED tests/test_ghost.py::test_ghost - no",
    "=" * 29 + " 3 passed in 1.00s " + "=" * 32,
    "1 failed, 2 passed in 0.10s",
    "=" * 28 + " test session starts " + "=" * 31,
    "collected 2 items",
    "-" * 29 + " Captured stdout call " + "-" * 29,
    "plain words",
    "",
    "F",
    "...",
    "ERROR tests/test_ghost.py",
    "!!!!!!! Interrupted !!!!!!!",
    "tests/test_ghost.py::test_ghost FAILED      [ 50%]",
]
OPTIONS = [
    ["--tb=long"],
    ["--tb=short"],
    ["--tb=native"],
    ["--tb=no"],
    ["--tb=line"],
    ["-q"],
    ["-v"],
    ["-vv"],
    ["-rA"],
    ["-rN"],
    ["--showlocals"],
    ["-x"],
    ["--maxfail=2"],
    ["--color=yes"],
    ["--durations=2"],
    ["-s"],
    ["-o", "console_output_style=count"],
    ["-rf"],
    ["--show-capture=no"],
]


def random_project(rnd: random.Random, path: Path):
    for m in range(rnd.randint(1, 3)):
        body = ["import pytest, sys\n"]
        for t in range(rnd.randint(1, 5)):
            decoys = "\n".join(rnd.choices(DECOY_LINES, k=rnd.randint(0, 8)))
            ids = rnd.sample(["a", "b c", "x - y", "[z]", "p::q", "", "é", "= 1 failed =", "t_1", "a] - b"], rnd.randint(1, 3))
            what = rnd.choice(
                [
                    "assert 1 == 2",
                    "pass",
                    "raise ValueError(%r)" % rnd.choice(["short", "with - dash", "l" * 100, "two\nlines", "", decoys]),
                    "pytest.skip('why')",
                    "pytest.fail(%r, pytrace=False)" % ("bare " + rnd.choice(["one", "one\n" + decoys])),
                    "pytest.xfail('known')",
                    "{}['k']",
                    "int('x')",
                ]
            )
            fixture = rnd.choice(["", "", "", "bad", "late"])
            deco = "@pytest.mark.parametrize('v', %r, ids=%r)\n" % (list(range(len(ids))), ids) if rnd.random() < 0.4 else ""
            arguments = ", ".join(filter(None, ["v" if deco else "", fixture]))
            test = "%sdef test_%d(%s):\n    sys.stdout.write(%r)\n    sys.stderr.write(%r)\n    %s\n" % (
                deco,
                t,
                arguments,
                rnd.choice(["", decoys + "\n"]),
                rnd.choice(["", "", decoys + "\n"]),
                what,
            )
            body.append(
                "class TestC%d:\n%s"
                % (
                    t,
                    textwrap.indent(
                        test.replace("(%s)" % arguments, "(self, %s)" % arguments, 1)
                        if arguments
                        else test.replace("()", "(self)", 1),
                        "    ",
                    ),
                )
                if rnd.random() < 0.3
                else test
            )
        body.append(
            "@pytest.fixture\ndef bad():\n    raise OSError('no')\n"
            "@pytest.fixture\ndef late():\n    yield\n    raise OSError('late')\n"
        )
        if rnd.random() < 0.1:
            body.append("import nothing_of_the_kind\n")
        (path / ("test_%s.py" % "mno"[m])).write_text("\n".join(body), "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("CTX_SEEDS", "40"))))
def test_random_projects(seed, tmp_path):
    rnd = random.Random(seed)
    random_project(rnd, tmp_path)
    (tmp_path / "recorder_of_truth.py").write_text(RECORDER)
    options = [word for option in rnd.sample(OPTIONS, rnd.randint(0, 4)) for word in option]
    env = dict(
        os.environ,
        CTX_TRUTH=str(tmp_path / "truth.json"),
        PYTEST_PLUGINS="recorder_of_truth",
        PYTHONPATH=str(tmp_path),
        PYTHONHASHSEED="0",
    )
    for word in [name for name in env if name.startswith(("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER", "FORCE_COLOR", "NO_COLOR"))]:
        del env[word]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options], cwd=tmp_path, env=env, capture_output=True
    )
    truth = json.loads((tmp_path / "truth.json").read_text())
    sources = [ctx.Source.of_bytes("stdout", done.stdout), ctx.Source.of_bytes("stderr", done.stderr)]
    found = ctx.parse_pytest(sources, done.returncode)
    where = "%s\n%s" % (options, done.stdout.decode("utf-8", "replace"))
    if "-s" in options and len(found) != 1:  # whole reports printed among the progress lines
        assert all(evidence.unsure for evidence in found), where
        return
    assert len(found) == 1, where
    evidence = found[0]
    told = {(f.kind, f.identity.decode()) for f in evidence.facts}
    want = {(kind, identity) for kind, identity, _ in truth["failures"]}
    if evidence.unsure:
        event = {identity for _, identity in want} | {identity.split("::", 1)[-1].replace("::", ".") for _, identity in want}
        assert {identity for _, identity in told} <= event or "-s" in options, where
        return
    if {"-q", "-s"} & set(options) and {"-rf", "-rN"} & set(options):  # then the file of a failure need not be printed
        bare = lambda identity: re.sub(r"^test_[mno]\.py::", "", identity).replace("::", ".")  # noqa: E731
        assert sorted((kind, bare(identity)) for kind, identity in told) == sorted(
            {(kind, bare(identity)) for kind, identity in want}
        ), where
        return
    assert told == want, where
    assert {("error" if k == "errors" else k): v for k, v in evidence.totals.items()} == truth["counts"], where
    messages = {}
    for kind, identity, message in truth["failures"]:
        messages.setdefault((kind, identity), []).append(message and message.split("\n")[0])
    lines = done.stdout.split(b"\n")
    for fact in evidence.facts:
        assert not fact.quoted or fact.message in ctx.clean(lines[fact.quoted - 1]), where
        assert b"ghost.py" not in fact.location, where
        if fact.quoted:
            expected = messages[fact.kind, fact.identity.decode()]
            assert any(m is None or same_message(fact.message.decode("utf-8", "replace"), m) for m in expected), (
                fact.message,
                expected,
                where,
            )


def test_what_tests_print_into_the_progress_of_unittest_is_no_doubt():
    """Letters behind a test's own words are not seen, but the blocks are as many as the only closing line counts."""
    block = "=" * 70 + "\nFAIL: test_%s (test_w.Prints)\n" + "-" * 70 + '\nTraceback (most recent call last):\n  File "/w/test_w.py", line 4, in test_%s\n    x\nAssertionError: 1 != 2\n\n'
    text = ".loading 3 rows\nFloading 4 rows F.\n" + block % ("b", "b") + block % ("c", "c") + "-" * 70 + "\nRan 4 tests in 0.001s\n\nFAILED (failures=2)\n"
    (evidence,) = ctx.parse_unittest([ctx.Source.of_bytes("stderr", text.encode())], 1)
    assert evidence.unsure == "" and len(evidence.facts) == evidence.claimed == 2
