"""Compilers, builds, linters, type checkers, formatters, packaging tools: facts against what the tools' own machine formats say."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from cases import same_place
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(path.parent.name for path in CORPUS.glob("dg_*/truth.json"))
RUNS = sorted(path.parent.name for path in CORPUS.glob("runners_*/truth.json"))
TRICKY = (
    rb"(?:ab)+$",
    rb"ab?(?:\nc)?d",
    rb"(?i:k)",
    rb"foo\d+ \d+bar",
    rb"[^b]ab",
    rb"(?s:ab.cd)",
    rb"(?:ab|c)d?$",
    rb"a(?=b)\w+ x+",
)
OTHERS = (
    "pt_*",
    "un_*",
    "csv_table",
    "git_*",
    "grep_*",
    "js_jest*",
    "js_mocha*",
    "js_node*",
    "json_minified",
    "k8s_yaml",
    "kubectl_table",
    "log_*",
    "ls_lR",
    "npm_ls_json_deep",
    "sqlite_column",
    "tree",
    "bytes_*",
    "bash_syntax",
    "bin_*",
    "go_test_fail",
    "go_test_json",
)


def read(name, stream):
    path = CORPUS / name / stream
    if path.exists():
        return path.read_bytes()
    packed = CORPUS / name / (stream + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else b""


def load(name):
    """Sources, exit status and truth of a case."""
    sources = [ctx.Source.of_bytes(stream, read(name, stream)) for stream in ("stdout", "stderr")]
    return (
        sources,
        int((CORPUS / name / "exit").read_text()),
        json.loads((CORPUS / name / "truth.json").read_text(encoding="utf-8")),
    )


def parse(text, status=1, stream="output"):
    return ctx.parse_diagnostics([ctx.Source.of_bytes(stream, text)], status)


def check(name, sources, status, truth, numbers=True):
    found = ctx.parse_diagnostics(sources, status)
    facts = [fact for evidence in found for fact in evidence.facts]
    census = b"".join(b"%s\t%s\t%s\n" % (fact.identity, fact.location, fact.message) for fact in facts).decode("utf-8", "replace")
    if not truth["profile"] and not name.startswith("dg_ci"):
        assert found == []
        return found
    assert not truth["profile"] or truth["profile"] in [evidence.profile for evidence in found]
    assert [text for text in truth["identities"] + truth["messages"] if text not in census] == []
    places = {fact.location.decode("utf-8", "replace") for fact in facts if fact.kind != "step"}
    known = set(truth["locations"]) or {""}  # without any, the facts are packages: none has a place
    assert [place for place in sorted(known - places - {""}) if not any(same_place(place, other) for other in places)] == []
    if truth["facts"]:
        assert [place for place in sorted(places - known) if not any(same_place(other, place) for other in known)] == []
        count = sum(1 for fact in facts if fact.kind != "step")
        assert count == truth["facts"] or (truth["fold"] or name.startswith("dg_ci")) and 0 < count
    if status != 0:
        assert all(evidence.outcome != "passed" for evidence in found) or name.startswith("dg_ci")
    for evidence in found:
        assert evidence.unsure == "" and evidence.claimed in (-1, len(evidence.facts))
    if numbers:
        check_numbers(sources, found)
    return found


def check_numbers(sources, found):
    """Every line number leads to the words it is given for."""
    streams = {source.name: source for source in sources}
    for evidence in found:
        for fact in evidence.facts:
            lines = streams[fact.stream].lines
            assert 1 <= fact.first <= fact.last <= lines
            if fact.quoted:
                assert fact.first <= fact.quoted <= fact.last
                assert fact.message in ctx.normal(streams[fact.stream].line(fact.quoted))
            for quote in fact.context:
                assert fact.first <= quote.first <= fact.last and streams[fact.stream].line(quote.first) == quote.text
        for quote in evidence.notes + ([evidence.summary] if evidence.summary else []):
            assert streams[quote.stream].line(quote.first) == quote.text
        for stream, first, last in evidence.span:
            assert 1 <= first <= last <= streams[stream].lines


# ── the corpus ──


@pytest.mark.parametrize("name", CASES)
def test_real_outputs(name):
    check(name, *load(name))


SHARED = [
    "cargo_build_errors",
    "clang_small",
    "cmake_configure_error",
    "flake8_flood",
    "gcc_color",
    "go_build_errors",
    "go_build_errors_e",
    "go_test_vet_stops",
    "javac_semantic",
    "js_eslint_flood",
    "js_eslint_stylish",
    "js_prettier_check",
    "ld_errors",
    "make_zlib_stop",
    "mypy_flood",
    "mypy_pretty",
    "npm_eresolve",
    "npm_etarget",
    "pip_resolver_conflict",
    "pylint_small",
    "pyright_toolz",
    "ruff_grouped",
    "shellcheck_small",
    "ts_tsc_flood",
    "ts_tsc_small",
    "json_ruff",
    "py_traceback",
    "py_syntaxerror",
]


@pytest.mark.parametrize("name", SHARED)
def test_shared_cases(name):
    if not (CORPUS / name / "truth.json").exists():
        pytest.skip("not stored here")
    sources, status, truth = load(name)
    found = ctx.parse_diagnostics(sources, status)
    census = b"".join(
        b"%s\t%s\t%s\n" % (fact.identity, fact.location, fact.message) for evidence in found for fact in evidence.facts
    ).decode("utf-8", "replace")
    assert found and [text for text in truth["identities"] + truth["locations"] if text not in census] == []
    assert all(evidence.unsure == "" for evidence in found)
    check_numbers(sources, found)
    errors = truth["outcome"].get("errors", truth["outcome"].get("errorCount"))
    if errors and truth["family"] not in ("cmake", "prettier"):
        assert sum(fact.kind == "error" for evidence in found for fact in evidence.facts) == errors


@pytest.mark.parametrize("pattern", OTHERS)
def test_no_fact_in_other_outputs(pattern):
    for folder in sorted(CORPUS.glob(pattern)):
        if not (folder / "exit").exists():
            continue
        sources, status, _ = load(folder.name)
        found = [e for e in ctx.parse_diagnostics(sources, status) if e.profile not in ("make/v1", "npm/v1")]
        assert [(folder.name, evidence.profile) for evidence in found if evidence.facts] == []


# ── how the same output may arrive ──

SMALL = [name for name in CASES if not name.endswith("flood") and "json" not in name and "gitlab" not in name]


def changed(sources, change):
    return [ctx.Source.of_bytes(source.name, change(source.read(0, source.size))) for source in sources]


def per_line(prefix):
    return lambda data: b"".join(prefix(number) + line for number, line in enumerate(data.splitlines(True)))


VARIANTS = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "stamped": per_line(lambda number: b"2026-11-30T10:00:%02d.1234567Z " % (number % 60)),
    "columns": per_line(lambda number: b"build\tRun checks\t2026-11-30T10:00:%02d.1234567Z " % (number % 60)),
    "surrounded": lambda data: (
        b"##[group]Run checks\nchecks --all\n##[endgroup]\n" + data + b"\n##[error]Process completed with exit code 1.\n"
        if data
        else data
    ),
    "indented": per_line(lambda number: b"        "),
    "indented_stamped": per_line(lambda number: b"2026-11-30T10:00:%02d.1234567Z     " % (number % 60)),
    "tabbed": per_line(lambda number: b"\t"),
    "coloured": per_line(lambda number: b"\x1b[36m" if number % 2 else b"\x1b[0m"),
}


@pytest.mark.once
@pytest.mark.parametrize("variant", sorted(VARIANTS))
@pytest.mark.parametrize("name", SMALL)
def test_variants(name, variant):
    sources, status, truth = load(name)
    plain = ctx.parse_diagnostics(sources, status)
    found = ctx.parse_diagnostics(changed(sources, VARIANTS[variant]), status)
    assert [
        (e.profile, e.claimed, e.totals, e.outcome, [(f.kind, f.identity, f.location, f.message) for f in e.facts]) for e in found
    ] == [
        (e.profile, e.claimed, e.totals, e.outcome, [(f.kind, f.identity, f.location, f.message) for f in e.facts]) for e in plain
    ]


@pytest.mark.parametrize("name", SMALL)
def test_streams_merged(name):
    sources, status, truth = load(name)
    merged = b"".join(source.read(0, source.size) for source in sources)
    check(name, [ctx.Source.of_bytes("output", merged)], status, truth)


def test_several_tools_in_one_log():
    names = ["dg_mypy", "dg_eslint", "dg_gcc", "dg_tsc", "dg_shellcheck", "dg_cargo"]
    text, lengths = b"", {}
    for name in names:
        sources, _, _ = load(name)
        part = b"".join(source.read(0, source.size) for source in sources)
        lengths[name] = text.count(b"\n") + 1, text.count(b"\n") + part.count(b"\n")
        text += part + b"\n"
    found = {e.profile: e for e in parse(text)}
    for name in names:
        sources, status, truth = load(name)
        alone = next(e for e in ctx.parse_diagnostics(sources, status) if e.profile == truth["profile"])
        there = found[truth["profile"]]
        assert (
            [f.identity for f in there.facts] == [f.identity for f in alone.facts]
            and there.totals == alone.totals
            and there.claimed == alone.claimed
        )
        first, last = lengths[name]
        assert all(first <= span[1] <= span[2] <= last for span in there.span)


# ── the close reading ──

EXPRESSIONS = sorted(
    (
        {
            expression
            for dialect in ctx.DIAGNOSTICS + ctx.PACKAGING + ctx.ANY_DIAGNOSTICS
            for expression in [*dialect.identities, *dialect.locations, *dialect.summary, dialect.success]
        }
        | {
            expression
            for runner in ctx.RUNNERS
            for expression in [
                *runner.heads,
                *runner.closing,
                *(item for pair in runner.lists for item in pair),
                runner.end,
                runner.suites,
            ]
        }
        | set(TRICKY)
    )
    - {b""}
)


def spans(found):
    return [m.span() for m in found]


@pytest.fixture
def sparing(monkeypatch):
    """Literals are looked for first however small the text and however many they are."""
    monkeypatch.setattr(ctx, "_SMALL", -1)
    monkeypatch.setattr(ctx, "_SPARSE", 0)


def test_literals_first_find_what_a_scan_finds(sparing):
    pieces = [read(name, stream) for name in CASES + RUNS for stream in ("stdout", "stderr")]
    text = b"\n".join(piece[:6000] for piece in pieces) + b"\nabab xx\nfoo12 3bar\nK\nab\ncd\n"
    page = ctx._Reading(ctx.Source.of_bytes("output", text), 1, text)
    for expression in EXPRESSIONS:
        expected = re.compile(b"(?m)\n(?:" + expression + b")").finditer(page.text)
        assert spans(page.find(expression)) == spans(expected), expression
    assert sum(bool(ctx._needs(expression)) for expression in EXPRESSIONS) > 0.8 * len(EXPRESSIONS)


def test_literals_that_an_expression_needs():
    assert sorted(ctx._needs(rb"\d+ (?:errors?|warning)\.$")) == [b" error.", b" errors.", b" warning."]
    assert sorted(ctx._needs(rb"[Ee]rror in (?P<path>[^\n]+)")) == [b"Error in ", b"error in "]
    assert ctx._needs(rb"(?P<path>[^\n]+): done") == (b": done",)
    assert ctx._needs(rb"(?:fatal)?[^\n]*") == () and ctx._needs(rb"(?:abc|\d+)") == ()
    assert ctx._needs(rb"\s*error") == (), "which may stand in a later line"
    assert ctx._needs(rb"(?i:error)") == (), "which may be spelt otherwise"


@pytest.mark.parametrize("name", SMALL[::3])
def test_literals_first_tell_the_same(name, sparing, monkeypatch):
    sources, _, _ = load(name)
    found = [ctx.summary_of(ctx.parse_diagnostics(sources, 1))]
    monkeypatch.undo()
    assert found == [ctx.summary_of(ctx.parse_diagnostics(sources, 1))]


@given(
    st.lists(st.sampled_from([b"", b"x", b"error: a", b"y" * 5000, b"\r"]), max_size=60),
    st.lists(st.integers(0, 400_000), max_size=9),
)
def test_numbers_of_lines_in_any_order(lines, places):
    raw = b"\n".join(lines)
    page = ctx._Reading(ctx.Source.of_bytes("output", raw), 7, raw)
    for place in places:
        at = place % len(page.text)
        assert page.line(at) == 6 + page.text.count(b"\n", 0, at + 1)


# ── what is told from what ──


def profile_of(text, status=1):
    return [evidence.profile for evidence in parse(text, status)]


def test_one_spelling_many_tools():
    assert profile_of(b"a.c:3:5: error: expected ';' before '}' token\n") == ["gcc/v1"]
    assert profile_of(b'a.py:3:5: error: Name "x" is not defined  [name-defined]\n') == ["mypy/v1"]
    assert profile_of(b"a.py:3:5: E302 expected 2 blank lines, found 1\n") == ["flake8/v1"]
    assert profile_of(b"a.py:3:5: F401 `os` imported but unused\n") == ["ruff/v1"]
    assert profile_of(b"a.py:3:5: B008 Do not perform function calls\n") == ["diagnostics/v1"]
    assert profile_of(b"a.py:3:5: C0116: Missing function or method docstring (missing-function-docstring)\n") == ["pylint/v1"]
    assert profile_of(b"# example.com/x\n./a.go:3:5: undefined: x\n") == ["go/v1"]
    assert profile_of(b"a.swift:3:5: error: cannot find 'x' in scope\n") == ["swiftc/v1"]
    assert profile_of(b"a.zig:3:5: error: expected ';'\n") == ["diagnostics/v1"]
    assert profile_of(b"C:\\src\\a.cs(3,5): error CS0103: The name 'x' does not exist [C:\\src\\a.csproj]\n") == ["dotnet/v1"]
    assert profile_of(b"C:\\src\\a.ts(3,5): error TS2304: Cannot find name 'x'.\n") == ["tsc/v1"]


def test_windows_paths_keep_their_drive():
    (evidence,) = parse(b"C:\\src dir\\a.cpp:3:5: error: no\n")
    assert evidence.facts[0].identity == b"C:\\src dir\\a.cpp:3:5"


def test_severity_orders_facts():
    text = (
        b"".join(b"a.c:%d:1: warning: unused [-Wunused]\n" % n for n in range(1, 151))
        + b"b.c:1:1: fatal error: x.h: No such file or directory\n"
    )
    (evidence,) = parse(text)
    assert ctx.required_facts(evidence)[0].identity == b"b.c:1:1"
    assert sum(fact.kind == "warning" for fact in evidence.facts) == 150


@pytest.mark.parametrize(
    "text",
    [
        b"src/a.py:12:    return error: x\n",
        b"  a.c:3:5: error: indented, so quoted\n",
        b"> a.c:3:5: error: quoted\n",
        b"| a.c:3:5: error: quoted\n",
        b"E   a.py:3: error: in a traceback\n",
        b"the docs say a.c:3:5: error: x\n",
        b"echo 'a.py:3:5: F401 x'\n",
        b"+a.c:3:5: error: in a diff\n",
        b"12:34:56 INFO error: none\n",
        b"no errors: 0 warnings: 0\n",
        b"https://example.com:80:3: error\n",
        b"Found 3 errors.\n",
        b"3 errors\n",
        b"9 problems (1 error)\n",
        b"src/x.go:12:5:\tfmt.Println(x)\n",
        b"    x_test.go:12: got 1, want 2\n",
        b"note.md:12: error: of a grep\n",
        b"1:1  error  no file above\n",
        b"FAILED: 3 tests\n",
        b"*** done ***\n",
        b"[ERROR] something\n",
    ],
)
def test_decoys_are_no_facts(text):
    assert parse(text) == []


def test_success_is_believed_only_at_the_end_and_never_over_a_failure():
    assert parse(b"Success: no issues found in 3 source files\n", 0)[0].outcome == "passed"
    assert parse(b"Success: no issues found in 3 source files\n" + b"line\n" * 100, 0) == []
    (evidence,) = parse(
        b"a.py:1: error: bad  [misc]\nFound 1 error in 1 file (checked 1 source file)\nSuccess: no issues found in 3 source files\n"
    )
    assert evidence.outcome == "failed"


def test_a_crashed_linter_is_no_success():
    text = (
        b'Traceback (most recent call last):\n  File "/x/lint.py", line 3, in <module>\n    main()\nValueError: bad configuration\n'
    )
    (evidence,) = parse(text, 2)
    assert (
        evidence.outcome == "failed"
        and evidence.facts[0].identity == b"/x/lint.py:3 ValueError"
        and evidence.facts[0].message == b"ValueError: bad configuration"
    )


def test_counts_that_do_not_add_up():
    facts = b"a.py:1: error: bad  [misc]\na.py:2: error: bad  [misc]\n"
    (more,) = parse(facts + b"Found 5 errors in 1 file (checked 1 source file)\n")
    assert more.claimed == 5 and len(more.facts) == 2
    (less,) = parse(facts + b"Found 1 error in 1 file (checked 1 source file)\n")
    assert less.unsure


def test_what_a_header_repeats_is_one_fact():
    part = b"x.h:3:5: warning: unused [-Wunused]\n"
    (evidence,) = parse(part * 3 + b"a.c:1:1: error: no\n")
    assert [fact.identity for fact in evidence.facts] == [b"x.h:3:5 -Wunused", b"a.c:1:1"]


def test_large_outputs_are_sampled_and_say_so():
    filler = b"gcc -Werror -c file.c -o file.o\n" * 400_000
    (evidence,) = parse(filler + b"a.c:3:5: error: here\n" + filler)
    assert (
        [fact.location for fact in evidence.facts] == [b"a.c:3:5"] and evidence.facts[0].first == 400_001 and evidence.unsure == ""
    )
    flood = b"".join(
        b"src/file%d.c:%d:5: warning: something is unused here, which is no good at all [-Wunused]\n" % (n % 97, n)
        for n in range(130_000)
    )
    (evidence,) = parse(flood)
    assert len(flood) > 8 * 1024 * 1024 and 50_000 < len(evidence.facts) < 130_000 and evidence.unsure


PIECES = [read(name, stream) for name in CASES for stream in ("stdout", "stderr")]


@given(
    st.lists(st.tuples(st.integers(0, max(len(PIECES) - 1, 0)), st.integers(0, 5000), st.integers(0, 3000)), max_size=5),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_any_mixture_of_outputs(cuts, status):
    text = b"".join(PIECES[index][start : start + length] for index, start, length in cuts if PIECES)
    sources = [ctx.Source.of_bytes("output", text)]
    found = ctx.parse_diagnostics(sources, status)
    check_numbers(sources, found)
    for evidence in found:
        assert evidence.profile.partition("/")[0] in ctx.CONTRACTS
        kinds = ctx.contract_of(evidence).required
        assert all(fact.kind in kinds and fact.identity for fact in evidence.facts)


SPLIT = {
    "plain": lambda line: line,
    "stamped": lambda line: b"2026-11-30T10:00:00.1234567Z " + line,
    "gitlab": lambda line: b"2026-11-30T10:00:00.123456Z 00O " + line,
    "crlf": lambda line: line + b"\r",
    "ansi in words": lambda line: line if b"\x1b" in line else line[:5] + b"\x1b[1m" + line[5:9] + b"\x1b[0m\x1b[K" + line[9:],
    "cut": lambda line: line[: len(line) - len(line) % 7],
    "indented": lambda line: b"    " + line,
    "quoted": lambda line: b"> " + line,
}
TEXTS = [piece.split(b"\n")[:400] for piece in PIECES if piece]


@given(
    st.lists(st.tuples(st.integers(0, max(len(TEXTS) - 1, 0)), st.integers(0, 400), st.integers(1, 30)), max_size=8),
    st.lists(st.sampled_from(sorted(SPLIT)), min_size=1, max_size=3),
)
@settings(max_examples=150, deadline=None)
def test_no_identity_that_the_output_does_not_hold(cuts, ways):
    """Whatever lines come together, and however a collector dressed them: every part of an identity stands in the output."""
    lines = [line for index, start, count in cuts for line in TEXTS[index][start : start + count]] if TEXTS else []
    text = b"\n".join(SPLIT[ways[number // 10 % len(ways)]](line) for number, line in enumerate(lines))
    found = ctx.parse_diagnostics([ctx.Source.of_bytes("output", text)], 1)
    shown = b"\n".join(ctx.normal(line) for line in text.split(b"\n"))
    for fact in (fact for evidence in found for fact in evidence.facts):
        path = re.sub(rb"(?::\d+)+\Z", b"", fact.location)
        assert path in shown
        rest = fact.identity[len(fact.location) :] if fact.location and fact.identity.startswith(fact.location) else fact.identity
        assert rest.strip() in shown
        assert all(number in shown for number in re.findall(rb":(\d+)", fact.location[len(path) :])) or b'"' in shown


# ── who speaks in front of a line ──

STYLISH = b"/w/src/my dir (x)/a b.js\n  3:9  error  'x' is not defined  no-undef\n\n1 problem\n"
TASKS = ("web:lint: ", "@org/web:lint: ", "@org/web: ", "packages/web lint: ", "web-1  | ", "web.1   | ", "[lint] ", "[0] ")


def dressed(text, before):
    return b"".join(before.encode() + line + b"\n" for line in text.split(b"\n"))


@pytest.mark.parametrize("before", TASKS)
def test_the_name_of_a_task_is_no_part_of_its_lines(before):
    (evidence,) = parse(dressed(STYLISH, before))
    assert [(fact.identity, fact.first) for fact in evidence.facts] == [(b"/w/src/my dir (x)/a b.js:3:9 no-undef", 2)]


def test_what_turbo_says_of_its_cache_is_no_turn():
    one, two = (dressed(STYLISH.replace(b"a b", name), name.decode() + ":lint: ") for name in (b"one", b"two"))
    (evidence,) = parse(b"two:lint: cache miss, executing 0a1b\none:lint: cache hit, replaying logs 0a1b\n" + one + two)
    assert [fact.location for fact in evidence.facts] == [b"/w/src/my dir (x)/%s.js:3:9" % name for name in (b"one", b"two")]


def test_lines_of_tasks_in_turns_stay_as_they_are():
    one, two = (dressed(STYLISH.replace(b"a b", name), name.decode() + ":lint: ").split(b"\n") for name in (b"one", b"two"))
    assert parse(b"\n".join(line for pair in zip(one, two) for line in pair)) == []


@pytest.mark.parametrize("before", ["[ERROR] ", "[error] ", "[INFO] "])
def test_a_level_is_no_task(before):
    assert parse(dressed(STYLISH, before)) == []


def test_an_indented_line_keeps_its_blanks_behind_a_stamp():
    text = dressed(b'  /w/a.py:3:9 - error: Type is bad\n    "x" is no "y" (reportArgumentType)\n', "2026-03-01T10:00:00.123456Z 01O ")
    assert [fact.identity for evidence in parse(text) for fact in evidence.facts] == [b"/w/a.py:3:9 reportArgumentType"]


# ── what is no file ──


@pytest.mark.parametrize("end", [b"no-undef", b"@scope/no-undef", b"eslint(no-undef)", b"Use let instead.    no-undef"])
def test_the_end_of_a_line_is_no_file(end):
    assert parse(end + b"\n  3:9  error  'x' is not defined  no-undef\n") == []


@pytest.mark.parametrize("line", [b"Error at a.c:3:4: error: x", b"in a.c:3:4: error: x", b"from src b.c:3:4: error: x"])
def test_a_sentence_is_no_file(line):
    assert [fact.location for evidence in parse(line + b"\n") for fact in evidence.facts if b" " in fact.location] == []


# ── formats that many tools share ──


SONAR = {"filePath": "Dockerfile", "message": "Use COPY", "textRange": {"startLine": 5, "startColumn": 0, "endLine": 5, "endColumn": 1}}
SAID = {  # by real tools, as they are spelt: the facts, each identity with its place
    "gcc -x c -": ("<stdin>: In function ‘main’:\n<stdin>:1:33: error: expected ‘;’ before ‘}’ token\n", {"<stdin>:1:33": "<stdin>:1:33"}),
    "clang -ferror-limit=1": (
        "a.c:1:2: error: x\nfatal error: too many errors emitted, stopping now [-ferror-limit=]\n2 errors generated.\n",
        {"a.c:1:2": "a.c:1:2", "too many errors emitted, stopping now": ""},
    ),
    "ld.gold": (
        "u.o:u.c:function k: error: undefined reference to 'u1'\nv.o:v.cc:function a::b(int): error: undefined reference to 'u2'\n",
        {"undefined reference to 'u1'": "u.o:u.c:function k", "undefined reference to 'u2'": "v.o:v.cc:function a::b(int)"},
    ),
    "yamllint": (
        "./a.yml\n  3:5       error    too many spaces after colon  (colons)\n  5:1       error    syntax error: expected <block end>, but found '-' (syntax)\n\n",
        {"./a.yml:3:5 colons": "./a.yml:3:5", "./a.yml:5:1 syntax": "./a.yml:5:1"},
    ),
    "yamllint -f github": (
        "::error file=./a.yml,line=3,col=5::3:5 [colons] too many spaces\n::error file=./a.yml,line=5,col=1::5:1 syntax error: expected <block end> (syntax)\n",
        {"./a.yml:3:5 colons": "./a.yml:3:5", "./a.yml:5:1": "./a.yml:5:1"},
    ),
    "pyflakes": (
        "a.py:9:1: assertion is always true, perhaps remove parentheses?\na.py:1:1: 'os' imported but unused\na.py:7:16: 'x' may be undefined, or defined from star imports: t\n",
        {"a.py:9:1": "a.py:9:1", "a.py:1:1": "a.py:1:1", "a.py:7:16": "a.py:7:16"},
    ),
    "hadolint -f sonarqube": (
        json.dumps({"issues": [{"engineId": "Hadolint", "primaryLocation": SONAR, "ruleId": "DL3020", "severity": "CRITICAL"}]}) + "\n",
        {"Dockerfile:5:1 DL3020": "Dockerfile:5:1"},
    ),
    "go build": (
        "go: errors parsing go.mod:\n/w/go.mod:6:2: require a.com/e: version \"v9.9.9\" invalid: should be v0 or v1, not v9\n",
        {"/w/go.mod:6:2": "/w/go.mod:6:2"},
    ),
    "ts-loader of webpack": (
        "ERROR in /w/src/a.ts\n1:9-13\n[tsl] ERROR in /w/src/a.ts(1,10)\n      TS2305: no export.\n\n"
        "ERROR in /w/src/s.ts\n./src/s.ts 3:5-6\n[tsl] ERROR in /w/src/s.ts(3,6)\n      TS1109: Expression expected.\n\nwebpack 5.1.0 compiled with 2 errors in 9 ms\n",
        {"/w/src/a.ts:1:10 TS2305": "/w/src/a.ts:1:10", "/w/src/s.ts:3:6 TS1109": "/w/src/s.ts:3:6"},
    ),
    "vite": (
        "error during build:\nBuild failed with 1 error:\n\n[builtin:vite-transform] Unexpected token\n   ╭─[ src/s.ts:3:6 ]\n   │\n 3 │   c: ,\n",
        {"src/s.ts:3:6": "src/s.ts:3:6"},
    ),
    "tsup": (
        '✘ [ERROR] Unexpected ","\n\n    src/s.ts:3:5:\n      3 │   c: ,\n\nError: Build failed with 1 error:\nsrc/s.ts:3:5: ERROR: Unexpected ","\n',
        {"src/s.ts:3:5": "src/s.ts:3:5"},
    ),
    "biome ci": (
        "src/a b.js format ━━━━━━━━━━\n\n  ✖ File content differs from formatting output\n  \n    1 1 │   const a = 1;\n\nChecked 4 files in 8ms. No fixes applied.\nFound 1 error.\n",
        {"src/a b.js format": "src/a b.js"},
    ),
    "poetry add": ("\nCould not find a matching version of package nosuch-zz\n", {"nosuch-zz": ""}),
    "gem install": ("ERROR:  Could not find a valid gem 'nosuch_zz' (>= 0), here is why:\n          Unable to download data\n", {"nosuch_zz": ""}),
    "uv build": (
        "error: Failed to build `/w/bad`\n  cause: The build backend returned an error\n  cause: Call to `m:x.y` failed (exit status: 1)\n",
        {"Failed to build `/w/bad`": ""},
    ),
    "pip install git+": (
        "error: subprocess-exited-with-error\n\n× git clone --quiet https://h/x.git did not run successfully.\n│ exit code: 128\n╰─> See above for output.\n",
        {"git clone --quiet https://h/x.git": ""},
    ),
}  # fmt: skip


def test_what_esbuild_does_not_show_is_counted():
    (evidence,) = parse("✘ [ERROR] no\n\n    a.ts:3:5:\n\n0 of 2 warnings and 1 of 3 errors shown (disable the message limit)\n".encode())
    assert (len(evidence.facts), evidence.claimed, evidence.totals) == (1, 5, {"warnings": 2, "errors": 3})


@pytest.mark.parametrize("tool", SAID)
def test_what_a_tool_says(tool):
    text, told = SAID[tool]
    found = [(e.claimed, fact) for e in parse(text.encode()) for fact in e.facts]
    assert {fact.identity.decode(): fact.location.decode() for _, fact in found} == told
    assert len(found) == len(told) and {claimed for claimed, _ in found} <= {-1, len(told)}


@pytest.mark.parametrize(
    "line",
    [
        b"::error file=src/a b.js,line=3,col=9,title=no-undef::'x' is not defined",
        b"::error title=no-undef,file=src/a b.js,line=3,endLine=3,col=9,endColumn=10::'x' is not defined",
        b"::error line=3,col=9,file=src/a b.js,title=no-undef::'x' is not defined%0Amore of it",
    ],
)
def test_annotations_of_a_ci_system(line):
    (evidence,) = parse(line + b"\n")
    assert [(fact.identity, fact.message) for fact in evidence.facts] == [(b"src/a b.js:3:9 no-undef", b"'x' is not defined")]


def test_a_summary_that_counts_problems_is_no_success():
    assert parse(b"Checked 4 files in 55ms. No fixes applied.\nFound 4 errors.\n") == []


def test_problems_that_a_summary_counts_by_level_or_in_all():
    line = b"a.js: line 3, col 9, Error - 'x' is not defined. (no-undef)\n"
    assert [evidence.claimed for evidence in parse(line + b"\n1 problem\n")] == [1]
    assert [evidence.claimed for evidence in parse(b"error: x (no-undef) at a.js:3:9:\n\n2 errors and 1 warning found.\n")] == [3]


def test_gold_and_msvc():
    text = b"/usr/bin/ld.gold: error: b.o: multiple definition of 'dup'\nc.c:1: error: undefined reference to 'f'\n"
    assert {fact.identity for evidence in parse(text) for fact in evidence.facts} >= {b"multiple definition of 'dup'"}
    (evidence,) = parse(b"my dir/a.cpp(3,9): error: no such thing\n")
    assert [fact.location for fact in evidence.facts] == [b"my dir/a.cpp:3:9"]


# ── the table, and what users add to it ──


def test_every_tool_has_a_case():
    names = {dialect.name for dialect in ctx.DIAGNOSTICS + ctx.PACKAGING}
    seen = {e.profile.partition("/")[0] for name in CASES for e in ctx.parse_diagnostics(*load(name)[:2])}
    assert names - seen == set()


def test_expressions_of_the_table_begin_within_a_line():
    for dialect in ctx.DIAGNOSTICS + ctx.PACKAGING + ctx.ANY_DIAGNOSTICS:
        for pattern in [
            *dialect.identities,
            *dialect.locations,
            *dialect.summary,
            dialect.success,
            dialect.sign,
            dialect.more,
            dialect.notes,
        ]:
            compiled = re.compile(b"(?m)" + pattern)
            assert not pattern or not pattern.startswith(b"^") or pattern is dialect.sign
            assert (
                set(compiled.groupindex)
                <= {"path", "line", "col", "severity", "code", "message", "identity", "location", "step", "indent", "project"}
                or pattern in dialect.summary
            )


TABLE = {
    "match": ["mytool:"],
    "identities": [r"^(?P<path>[^:\n]+):(?P<line>\d+): mytool: (?P<severity>\w+): (?P<message>.*)$"],
    "severity": {"bad": "error", "meh": "warning"},
    "summary": [r"^mytool: (?P<errors>\d+) bad, (?P<warnings>\d+) meh"],
    "success": "^mytool: all well",
}


def test_a_users_profile():
    dialect = ctx.user_profile("mytool", TABLE)
    text = b"a.x:3: mytool: bad: no\nb.x:4: mytool: meh: hm\nmytool: 1 bad, 1 meh\n"
    (evidence,) = ctx.parse_diagnostics([ctx.Source.of_bytes("output", text)], 1, [dialect])
    assert (
        evidence.profile == "user:mytool/v1"
        and evidence.claimed == 2
        and evidence.totals == {"errors": 1, "warnings": 1}
        and evidence.unsure == ""
    )
    assert [(fact.kind, fact.identity, fact.message, fact.first) for fact in evidence.facts] == [
        ("error", b"a.x:3", b"no", 1),
        ("warning", b"b.x:4", b"hm", 2),
    ]
    (evidence,) = ctx.parse_diagnostics([ctx.Source.of_bytes("output", b"mytool: all well\n")], 0, [dialect])
    assert evidence.outcome == "passed"


def test_a_users_profile_with_files_above():
    dialect = ctx.user_profile(
        "x", {"match": "!", "identities": r"  (?P<line>\d+)! (?P<message>.+)", "locations": r"== (?P<path>\S+) ==$"}
    )
    (evidence,) = ctx.parse_diagnostics([ctx.Source.of_bytes("output", b"== a.q ==\n  3! no\n== b.q ==\n  4! hm\n")], 1, [dialect])
    assert [fact.identity for fact in evidence.facts] == [b"a.q:3", b"b.q:4"]
