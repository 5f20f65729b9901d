"""The text profile: which lines of any output are offered, with which numbers, in which order."""

from __future__ import annotations

import gzip
import json
import random
import sys
import tracemalloc
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CORPUS = Path(__file__).parent / "corpus"

Parse = Tuple[str, int, int]


def evidence_of(data: bytes, status: Optional[int] = 1, taken: Sequence[Parse] = ()) -> ctx.Evidence:
    return ctx.parse_text([ctx.Source.of_bytes("output", data)], status, taken)


def quotes_of(data: bytes, status: Optional[int] = 1, taken: Sequence[Parse] = ()) -> List[ctx.Quote]:
    evidence = evidence_of(data, status, taken)
    return evidence.notes + evidence.quotes


def by_line(data: bytes, status: Optional[int] = 1, taken: Sequence[Parse] = ()) -> Dict[int, ctx.Quote]:
    return {quote.first: quote for quote in quotes_of(data, status, taken)}


def best(data: bytes, count: int, status: Optional[int] = 1) -> List[int]:
    """Line numbers of the quotes that a renderer would buy first."""
    quotes = quotes_of(data, status)
    return [quote.first for quote in sorted(quotes, key=lambda quote: (-quote.value, quote.first))[:count]]


def corpus(name: str, stream: str) -> bytes:
    path = CORPUS / name / stream
    return path.read_bytes() if path.exists() else gzip.decompress(path.with_name(stream + ".gz").read_bytes())


def noise(count: int, seed: int = 1) -> List[bytes]:
    """Lines of a log in which nothing is wrong."""
    rng = random.Random(seed)
    shapes = [
        b"GET /api/v1/items/%d 200 %d ms",
        b"INFO worker-%d took job %d",
        b"copying lib/mod%d.py -> build/mod%d.py",
        b"cache hit key=%d shard=%d",
    ]
    return [shapes[int(rng.random() * 4)] % (int(rng.random() * 9999), int(rng.random() * 99)) for _ in range(count)]


# ── line numbers ──


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"working", b"step 7 of 9", b"", b"  indented", b"ok", "données prêtes".encode(), b"\xff\xfe\x80", b"a\tb\tc"]
        ),
        max_size=400,
    ),
    st.lists(st.integers(0, 400), min_size=1, max_size=4, unique=True),
    st.sampled_from([b"\n", b"\r\n"]),
    st.booleans(),
)
def test_errors_in_noise_are_quoted_with_their_numbers(lines: List[bytes], places: List[int], end: bytes, closed: bool) -> None:
    for n, place in enumerate(sorted(places)):
        lines.insert(
            min(place, len(lines)), b"src/mod%d.c:%d:1: error: unknown type name 'name%s'" % (n, n + 1, b"abcd"[n : n + 1] * 3)
        )
    data = end.join(lines) + (end if closed else b"")
    found = by_line(data)
    for number, line in enumerate(data.split(b"\n"), 1):
        if b": error: " in line:
            assert found[number].text == line
            assert found[number].value > 2


def test_only_line_feeds_end_lines() -> None:
    data = "one\u2028two\u0085three\x0cfour\x0bfive\rsix\n".encode() + b"x.py:2: error: second line\n"
    assert by_line(data)[2].text == b"x.py:2: error: second line"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_last_line_without_end_counts(end: bytes) -> None:
    data = end.join([b"fine"] * 30 + [b"fatal: repository not found"])
    assert by_line(data)[31].value >= 8


def test_latin_1_and_stray_bytes_are_kept_as_stored() -> None:
    line = b"caf\xe9.c:3:1: error: \xab undeclared \xbb"
    assert by_line(b"fine\n" * 20 + line + b"\n")[21].text == line


@pytest.mark.parametrize("codec, mark", [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-16-le", b"")])
def test_errors_in_utf_16_are_found(codec: str, mark: bytes) -> None:
    text = "".join("building part %d\r\n" % n for n in range(200)) + "main.cs(3,7): error CS0103: no such name\r\n" + "done\r\n" * 5
    data = mark + text.encode(codec)
    number = next(n for n, line in enumerate(data.split(b"\n"), 1) if "CS0103".encode(codec)[1:-1] in line)
    quote = by_line(data)[number]
    assert quote.value > 5
    assert b"error CS0103: no such name" in ctx.normal(quote.text)


def test_corpus_utf_16_is_text_and_binary_is_not() -> None:
    assert quotes_of(corpus("bytes_utf16", "stdout"))
    for name in ("bin_png", "bin_so"):
        evidence = evidence_of(corpus(name, "stdout"))
        assert (evidence.quotes, evidence.notes, evidence.totals, evidence.unsure) == ([], [], {}, "")


def test_a_few_nuls_do_not_make_text_binary() -> None:
    data = b"\n".join(noise(100)) + b"\nkey\0value\nERROR: broken pipe in \0 worker\n"
    assert by_line(data)[102].value >= 6


def test_binary_stdout_does_not_hide_stderr() -> None:
    sources = [
        ctx.Source.of_bytes("stdout", bytes(range(256)) * 400),
        ctx.Source.of_bytes("stderr", b"convert: unable to open image\n"),
    ]
    evidence = ctx.parse_text(sources, 1)
    assert [(quote.stream, quote.first) for quote in evidence.quotes] == [("stderr", 1)]


def test_empty_output() -> None:
    evidence = ctx.parse_text([ctx.Source.of_bytes("stdout", b""), ctx.Source.of_bytes("stderr", b"")], 1)
    assert (evidence.profile, evidence.facts, evidence.quotes, evidence.claimed, evidence.outcome) == ("text/v1", [], [], -1, "")


@pytest.mark.parametrize("data", [b"\n", b"\n\n\n", b"x", b"\r", b"\x1b[31m\n", b" " * 5000, b"\0", b"\xef\xbb\xbf"])
def test_trifles(data: bytes) -> None:
    evidence_of(data)


# ── what survives (CASES 20) ──


def test_the_odd_line_of_a_quiet_log() -> None:
    lines = [b"2026-03-02 10:%02d:%02d tick %d queue=%d ok" % (n // 60 % 60, n % 60, n, n * 7 % 13) for n in range(20_001)]
    lines[13_570] = b"2026-03-02 10:46:10 replica fell behind by 41 segments"
    assert 13_571 in best(b"\n".join(lines), 3, 0)


def test_errors_and_warnings_of_a_long_log() -> None:
    lines = noise(2500)
    wanted = []
    for n, at in enumerate(range(150, 2500, 300)):
        lines[at] = (b"ERROR db: lost shard %s" if n % 3 == 0 else b"WARN disk: volume %s is nearly full") % (
            b"abcdefgh"[n : n + 1] * 3
        )
        wanted.append(at + 1)
    assert len(wanted) == 8
    assert set(wanted) <= set(best(b"\n".join(lines), 20, 0))


def test_the_odd_row_of_json() -> None:
    rows = [{"id": n, "name": "user%d" % n, "state": "active", "plan": "free" if n % 2 else "paid"} for n in range(300)]
    rows[211]["state"] = "suspended"
    data = json.dumps(rows, indent=1).encode()
    number = next(n for n, line in enumerate(data.split(b"\n"), 1) if b"suspended" in line)
    assert number in best(data, 8, 0)


def test_first_and_last_lines_of_a_log_without_known_words() -> None:
    lines = [b"%s ran for a while" % (bytes([97 + n % 26]) * (n // 26 + 1)) for n in range(300)]
    found = by_line(b"\n".join(lines), 3)
    assert 1 in found and 300 in found
    assert found[300].value > found[1].value


def test_a_single_line_has_its_tail() -> None:
    assert by_line(b"giving no reason")[1].text == b"giving no reason"


def test_the_first_error_precedes_its_cascade() -> None:
    lines = [b"src/f%d.c:%d:5: error: unknown type name 'u%d'" % (n % 7, n, n) for n in range(3000)]
    lines.insert(2000, b"/usr/bin/ld: cannot find -lssl")
    order = best(b"\n".join(lines), 5)
    assert order[0] == 1
    assert 2001 in order


# ── folding and repeats ──


@given(st.integers(1, 9), st.integers(3, 500), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_runs_of_equal_lines_are_one_quote(before: int, count: int, after: int) -> None:
    data = b"\n".join([b"start"] * 1 + noise(before) + [b"retrying: connection refused"] * count + noise(after, 2)) + b"\n"
    quote = by_line(data)[before + 2]
    assert (quote.first, quote.last) == (before + 2, before + 1 + count)
    assert quote.text == b"retrying: connection refused"


def test_equal_lines_with_different_timestamps_fold() -> None:
    lines = [b"2026-03-02T10:00:%02d.5Z waiting for db" % n for n in range(40)]
    assert (1, 40) in [(quote.first, quote.last) for quote in quotes_of(b"\n".join(lines))]


def test_two_equal_lines_are_not_folded() -> None:
    assert all(quote.first == quote.last for quote in quotes_of(b"fail: x\nfail: x\nother\n"))


def test_repeats_of_a_shape_lose_value() -> None:
    lines = [b"lib/a%d.py:%d:80: E501 line too long (%d > 79)" % (n, n, n + 80) for n in range(1, 400)]
    values = [
        quote.value for quote in sorted(quotes_of(b"\n".join(lines)), key=lambda quote: quote.first) if b"E501" in quote.text
    ][:8]
    assert all(a > b for a, b in zip(values, values[1:]))


# ── context ──

TALK = b"""\
Traceback (most recent call last):
  File "app/core.py", line 3, in run
    return go(x)
KeyError: 'tenant'

plain words here
FAILED tests/a.py::b - boom
E       assert 1 == 2
Expected: 3
ok 4 - passes
##[group]Run make
##[endgroup]
##[error]Process completed with exit code 2.
make: *** [Makefile:3: all] Error 2
  12:4  error  Missing semicolon  semi""".split(b"\n")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(TALK), max_size=120))
def test_values_fall_in_the_order_of_purchase(lines: List[bytes]) -> None:
    evidence = evidence_of(b"\n".join(lines))
    values = [quote.value for quote in evidence.quotes]
    assert values == sorted(values, reverse=True)
    assert all(0.5 < value <= 10 for value in values)
    assert len({(quote.stream, quote.first) for quote in evidence.quotes + evidence.notes}) == len(evidence.quotes) + len(
        evidence.notes
    )


def test_context_is_worth_less_than_the_line_it_explains() -> None:
    lines = noise(300)
    lines[150:153] = [b"app/core.py:7:3: error: wrong type for the tenant", b"    total = tenant + 1", b"            ^~~~~~"]
    found = by_line(b"\n".join(lines))
    assert found[151].value > found[152].value > 1


def test_the_users_own_frame_stands_above_the_library() -> None:
    frames = [b'  File "/venv/lib/python3.11/site-packages/lib/mod%d.py", line %d, in f%d' % (n, n, n) for n in range(12)]
    lines = (
        noise(100)
        + [b"Traceback (most recent call last):", b'  File "/app/shop/orders.py", line 42, in total']
        + frames
        + [b"KeyError: 'tenant'"]
    )
    order = best(b"\n".join(lines), 4)
    assert {len(lines), 102} <= set(order)


def test_rows_of_a_grouping_linter_bring_their_file() -> None:
    lines = noise(50) + [b"/app/src/cart.js"] + [b"  %d:1  error  'x%d' is not defined  no-undef" % (n, n) for n in range(1, 30)]
    assert 51 in best(b"\n".join(lines), 3)


# ── CI logs ──


def github(steps: Sequence[Tuple[str, List[bytes], int]]) -> Tuple[bytes, Callable[[bytes], int]]:
    """A raw log of GitHub Actions, and a function from a line's words to its number."""
    out: List[bytes] = []
    for title, lines, status in steps:
        out += [
            b"##[group]Run " + title.encode(),
            b"\x1b[36;1m" + title.encode() + b"\x1b[0m",
            b"\x1b[36;1mtest -f x || echo 'ERROR: x is missing'\x1b[0m",
        ]
        out += [b"shell: /usr/bin/bash -e {0}", b"env:", b"  ON_ERROR: FATAL error: abort", b"##[endgroup]", *lines]
        out += [b"##[error]Process completed with exit code %d." % status] if status else []
    out += [b"Post job cleanup.", b"error: could not delete the cache: permission denied"]
    data = b"\n".join(b"2026-03-02T09:%02d:%02d.1234567Z " % (n // 60 % 60, n % 60) + line for n, line in enumerate(out)) + b"\n"
    return data, lambda words: 1 + next(n for n, line in enumerate(out) if words in line)


def test_a_failing_step_outranks_all_others() -> None:
    data, line = github(
        [
            ("make lint", [b"error: nothing to lint, ignored", *noise(200)], 0),
            ("make test", [*noise(400), b"FAILED tests/test_a.py::test_b - assert 1 == 2", *noise(3, 5)], 2),
        ]
    )
    evidence = evidence_of(data)
    assert [quote.first for quote in evidence.notes] == [line(b"##[error]Process")]
    assert evidence.quotes[0].first == line(b"FAILED tests/test_a.py")
    found = {quote.first: quote.value for quote in evidence.quotes}
    assert line(b"##[group]Run make test") in found
    assert found.get(line(b"nothing to lint"), 0) < 2 and found.get(line(b"could not delete the cache"), 0) < 2


def test_echoed_scripts_and_environments_are_no_evidence() -> None:
    data, line = github([("make test", [b"quiet"], 1)])
    shown = set(by_line(data))
    assert line(b"x is missing") not in shown and line(b"ON_ERROR") not in shown


def test_gitlab_marks_its_failure_after_the_cleanup() -> None:
    lines = [
        b"section_start:1:step_script\r\x1b[0K\x1b[36;1mExecuting\x1b[0;m",
        b"\x1b[32;1m$ make test\x1b[0;m",
        *noise(100),
        b"main.c:3:1: error: bad",
        b"section_end:2:step_script\r\x1b[0K",
    ]
    lines += [
        b"section_start:2:cleanup_file_variables\r\x1b[0KCleaning up",
        b"error: cannot remove volume",
        b"section_end:3:cleanup_file_variables\r\x1b[0K",
        b"\x1b[31;1mERROR: Job failed: exit code 1\x1b[0;m",
    ]
    data = b"\n".join(b"2026-03-02T09:00:00.123456Z 00O " + line for line in lines)
    evidence = evidence_of(data)
    assert evidence.quotes[0].first == 103
    assert evidence.notes[-1].first == len(lines)
    assert 2 in {quote.first for quote in evidence.quotes}


@pytest.mark.parametrize("line, shown", [
    (b"2026-03-02T09:10:11.1234567Z ##[error]boom", b"##[error]boom"),
    (b"\xef\xbb\xbf2026-03-02T09:10:11.1234567Z boom", b"boom"),
    (b"build (ubuntu, 3.11)\tRun tests\t2026-03-02T09:10:11.1Z \x1b[31mboom\x1b[0m", b"boom"),
    (b"2026-03-02T09:10:11.123456Z 01E boom", b"boom"),
    (b"[2026-03-02T09:10:11.123Z] boom", b"boom"),
    (b"2026-03-02 09:10:11,123 ERROR boom", b"ERROR boom"),
    (b"[09:10:11] boom", b"boom"),
    (b"#12 3.456 boom", b"boom"),
    (b" 10%|#   | 1/10\r 90%|### | 9/10\r", b" 90%|### | 9/10"),
    (b"a\tb\tc", b"a\tb\tc"),
    (b"12:4  error", b"12:4  error"),
])  # fmt: skip
def test_normal_form(line: bytes, shown: bytes) -> None:
    assert ctx.normal(line) == shown


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"\x1b[31m",
                b"\x1b]8;;x",
                b"\x1b",
                b"^[[0m",
                b"\r",
                b"\r\n",
                b"\n",
                b"\0",
                b"2026-03-02T09:10:11Z ",
                b"a\tb\t",
                b"section_start:1:x\r",
                b"text",
                b"\xff",
                b"[",
            ]
        ),
        max_size=40,
    )
)
def test_the_normal_form_keeps_every_line(parts: List[bytes]) -> None:
    block = b"".join(parts)
    assert ctx._normal(block, True).count(b"\n") == ctx._normal(block).count(b"\n") == block.count(b"\n")


def test_red_lines_count() -> None:
    lines = noise(200)
    lines[77] = b"\x1b[31mthe tenant is gone\x1b[0m"
    assert 78 in best(b"\n".join(lines), 2)


# ── kinds ──

STRONG = """\
./main.go:9:15: cannot use x (variable of type int) as string value in assignment
panic: runtime error: index out of range [5] with length 3
error[E0308]: mismatched types
thread 'main' panicked at src/main.rs:4:5:
     Summary [   1.204s] 41 tests run: 40 passed, 1 failed, 0 skipped
TypeError: Cannot read properties of undefined (reading 'map')
Error: Cannot find module 'left-pad'
npm ERR! 404 Not Found - GET https://registry.example.com/nope - Not found
 ERR_PNPM_FETCH_404  GET https://registry.example.com/nope: Not Found - 404
src/app.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.
[vite]: Rollup failed to resolve import "left-pad" from "src/main.ts".
FAIL src/app.test.ts > sum > adds
FAILED tests/test_x.py::test_y - AssertionError: boom
ERROR: No matching distribution found for nope==9
Because shop depends on requests (^99.0) which doesn't match any versions, version solving failed.
nox > Session tests-3.9 failed.
would reformat src/app.py
src/app.py:12:80: E501 line too long (91 > 79 characters)
README.md:12 MD013/line-length Line length [Expected: 80; Actual: 120]
[ERROR] /src/Foo.java:[17,9] cannot find symbol
e: file:///app/src/Main.kt:12:5 Unresolved reference: foo
InvoiceTest > roundsHalfUp() FAILED
** BUILD FAILED **
    1 Error(s)
main.c:(.text+0x11): undefined reference to `foo'
ld: symbol(s) not found for architecture arm64
make: *** [Makefile:12: all] Error 2
FAILED: CMakeFiles/app.dir/main.cc.o
CMake Error at CMakeLists.txt:12 (find_package):
[  FAILED  ] Codec.Decodes (1 ms)
not ok 3 - rounds half up
  ✗ rounds half up
Bundler could not find compatible versions for gem "rails":
E: Unable to locate package libfoo-dev
dpkg: error processing package foo (--configure):
Error from server (Forbidden): pods is forbidden: User "ci" cannot list resource "pods"
 ! [rejected]        main -> main (non-fast-forward)
bash: line 3: foo: command not found
Killed
java.lang.OutOfMemoryError: Java heap space
** (CompileError) lib/shop.ex:3: undefined function foo/0
fatal: [web-1]: UNREACHABLE! => {"changed": false}
ERRO[0002] failed to start container
{"level":"error","ts":1700000000,"msg":"cannot bind","error":"address already in use"}
E1130 10:11:12.123456   12 controller.go:114] failed to list pods
2026-03-02 09:11:03 CRITICAL worker crashed
FAIL Required test coverage of 80% not reached. Total coverage: 71.23%
✖ 12 problems (10 errors, 2 warnings)
Tests: 21, Assertions: 58, Failures: 1.
10 vulnerabilities (3 moderate, 7 high)
SUMMARY: AddressSanitizer: heap-use-after-free /src/a.c:3 in f
::error file=app.js,line=1::Missing semicolon
"""

WEAK = """\
tests/test_errors.py::test_error_handling PASSED                 [ 12%]
ok 14 - fails gracefully on invalid input
  ✓ throws an error when the token is invalid (3 ms)
--- PASS: TestErrorPath (0.00s)
test tests::fails_on_error ... ok
Compiling thiserror v1.0.50
Collecting exceptiongroup>=1.0.0rc8
gcc -O2 -Wall -Werror=format -fno-exceptions -c src/error.c -o build/error.o
[INFO] Tests run: 31, Failures: 0, Errors: 0, Skipped: 2
0 errors, 0 warnings
5 passed, 0 failed
continue-on-error: false
copying lib/exceptions.py -> build/lib/exceptions.py
Setting up libgpg-error0:amd64 (1.46-1) ...
GET /error/404 200 12ms
INFO app.errors: error handler registered
DEBUG retry policy on_error=continue
src/exceptions.py           40      2    95%   12-13
Running 12 tests for test/error.test.ts:errors
-rw-r--r-- 1 root root 1234 Jan  1 00:00 error.log
Success: no issues found in 12 source files
exit code: 0
"""


@pytest.mark.parametrize("line", STRONG.splitlines())
def test_lines_that_tell_of_a_failure(line: str) -> None:
    assert ctx._Survey().judge(ctx._normal(line.encode())).value >= 6


@pytest.mark.parametrize("line", WEAK.splitlines())
def test_lines_that_only_name_errors(line: str) -> None:
    assert ctx._Survey().judge(line.encode()).value <= 1


def test_zero_failures_and_three_differ() -> None:
    data = b"\n".join([*noise(60), b"suite a: 0 tests failed", *noise(60), b"suite a: 3 tests failed", *noise(60)])
    found = by_line(data, 0)
    assert found[122].value > 4 * (found[61].value if 61 in found else 0.1)


@pytest.mark.parametrize(
    "name", ["cargo_test_fail", "mypy_pretty", "js_jest_small", "gcc_color", "npm_eresolve", "make_zlib_stop", "injection"]
)
def test_rows_are_tried_whenever_a_stem_is_there(name: str) -> None:
    """The shortcut by roots finds what trying every row would."""
    survey = ctx._Survey()
    for line in set((corpus(name, "stdout") + corpus(name, "stderr")).split(b"\n")):
        text = ctx._normal(line)[:600]
        fits = [row for row in ctx._ROWS if any(stem in text.lower() for stem in row[2].split(b"|")) and ctx._is(row[3:], text)]
        if fits and b"\x1b" not in line and not text.startswith(b"{"):
            assert survey.judge(text).kind in (fits[0][0], "place"), text


def test_a_header_in_the_output_is_merely_text() -> None:
    data = (
        b"[ctx run:000000000000 profile=pytest/v1]\nexit: 0\nfailures:\n  fake\n"
        + b"\n".join(noise(30))
        + b"\nreal.py:3: error: real\n"
    )
    evidence = evidence_of(data)
    assert (evidence.facts, evidence.totals, evidence.outcome, evidence.claimed) == ([], {}, "", -1)
    assert evidence.quotes[0].first == 35


# ── spans that others explain ──


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 30)), max_size=4), st.integers(0, 3))
def test_taken_lines_get_no_quote(spans: List[Tuple[int, int]], kind: int) -> None:
    lines = [
        [b"main.c:%d:1: error: no" % n, b"plain %d" % n, b"FAILED tests/t.py::t%d" % n, b"ERROR x"][(n + kind) % 4]
        for n in range(1, 101)
    ]
    taken = [("output", first, min(100, first + more)) for first, more in spans]
    gone = {number for _, first, last in taken for number in range(first, last + 1)}
    evidence = evidence_of(b"\n".join(lines), 1, [*taken, ("stderr", 1, 100)])
    shown = {number for quote in evidence.quotes + evidence.notes for number in range(quote.first, quote.last + 1)}
    assert not shown & gone
    assert shown or len(gone) == 100
    assert not {number for _, first, last in evidence.span for number in range(first, last + 1)} & gone


def test_all_taken() -> None:
    assert evidence_of(b"error: a\nerror: b\n", 1, [("output", 1, 2)]).quotes == []


# ── robustness ──


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CORPUS.glob("*/exit")) if CORPUS.is_dir() else [])
def test_corpus_lines_are_quoted_as_they_are(name: str) -> None:
    streams = {stream: corpus(name, stream) for stream in ("stdout", "stderr")}
    status = int(corpus(name, "exit"))
    evidence = ctx.parse_text([ctx.Source.of_bytes(stream, data) for stream, data in streams.items()], status)
    lines = {stream: data.split(b"\n") for stream, data in streams.items()}
    assert len(evidence.quotes) <= 400 and len(evidence.notes) <= 3
    for quote in evidence.quotes + evidence.notes:
        stored = lines[quote.stream][quote.first - 1]
        assert quote.text == stored or len(stored) > 4000 and len(quote.text) < 4300
        for number in range(quote.first, quote.last + 1):
            assert ctx.normal(lines[quote.stream][number - 1]) == ctx.normal(stored)


def small(name: str, seed: int) -> bytes:
    data = corpus(name, "stderr") + corpus(name, "stdout")
    rng = random.Random(seed)
    start = int(rng.random() * len(data))
    return data[start : start + int(rng.random() * 20_000)]


@pytest.mark.parametrize(
    "name",
    ["cargo_test_fail", "js_jest_small", "gcc_color", "progress_tqdm", "bytes_utf16", "bin_png", "json_minified", "go_test_json"],
)
def test_cut_anywhere(name: str) -> None:
    for seed in range(25):
        data = small(name, seed)
        lines = data.split(b"\n")
        for quote in quotes_of(data):
            assert quote.text == lines[quote.first - 1] or len(lines[quote.first - 1]) > 4000


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=3000), st.integers(-200, 300))
def test_any_bytes(data: bytes, status: int) -> None:
    evidence = evidence_of(data, status)
    assert evidence.claimed == -1 and evidence.facts == []


def test_the_same_bytes_give_the_same_quotes() -> None:
    data = corpus("cargo_test_nofailfast_flood", "stdout")

    def told() -> Any:
        return [(quote.first, quote.last, quote.value, quote.text) for quote in quotes_of(data)]

    assert told() == told()


def test_timings_do_not_change_the_choice() -> None:
    data = corpus("go_test_fail", "stdout")
    again = data.replace(b"0.00s", b"0.17s").replace(b"0.008s", b"1.234s")
    assert again != data
    assert [(q.first, q.value) for q in quotes_of(data)] == [(q.first, q.value) for q in quotes_of(again)]


# ── clipping ──


def test_clip_keeps_the_start_and_the_error_word() -> None:
    line = b"a" * 300 + b" " + b"b" * 300 + b" fatal: no tenant " + b"c" * 300
    shown = ctx.clip(line, 120)
    assert shown.startswith(b"a" * 40 + " … ".encode()) and b"fatal: no tenant" in shown and shown.endswith(" …".encode())
    assert len(shown) < 140
    assert ctx.clip(line, len(line)) == line
    assert ctx.clip(b"x" * 500, 100) == b"x" * 100 + " …".encode()


@given(st.text(alphabet="aé日🎉 error", max_size=300), st.integers(12, 90))
def test_clip_never_cuts_a_character(text: str, width: int) -> None:
    shown = ctx.clip(text.encode(), width)
    assert len(shown) <= width + 20
    shown.decode()


@given(st.binary(max_size=300), st.integers(12, 90))
def test_clip_takes_any_bytes(line: bytes, width: int) -> None:
    assert len(ctx.clip(line, width)) <= width + 20


# ── large outputs ──


def big(size: int, at: float, needle: Sequence[bytes]) -> Tuple[bytes, int]:
    """About `size` bytes of noise with `needle` in it, and the number of its first line."""
    block = b"\n".join(noise(2000)) + b"\n"
    head = block * int(size * at / len(block))
    return head + b"".join(line + b"\n" for line in needle) + block * int(size * (1 - at) / len(block)), head.count(b"\n") + 1


@pytest.mark.parametrize("at", [0.001, 0.37, 0.9])
def test_the_error_of_a_large_log_is_found(at: float) -> None:
    data, number = big(24 << 20, at, [b"core/pay.py:31: error: tenant missing", b"    total(tenant)"])
    evidence = evidence_of(data)
    assert evidence.quotes[0].first == number
    assert {1, data.count(b"\n")} <= {quote.first for quote in evidence.quotes}
    read = sum(last - first + 1 for _, first, last in evidence.span)
    assert read < data.count(b"\n") / 2
    lines = data.split(b"\n")
    assert all(quote.text == lines[quote.first - 1] for quote in evidence.quotes)


def test_the_failing_step_of_a_large_log_is_read_first() -> None:
    block = b"".join(b"test_error_%d handles errors, FAILs never: Traceback ok\n" % n for n in range(3000))
    noisy = block * ((14 << 20) // len(block))
    data = b"##[group]Run make all\n##[endgroup]\n" + noisy + b"##[group]Run make test\n##[endgroup]\n" + b"quiet\n" * 50
    data += b"the tenant was lost\n##[error]Process completed with exit code 1.\n" + block
    number = data[: data.index(b"the tenant was lost")].count(b"\n") + 1
    assert number in best(data, 12)


def test_one_line_of_20_mb() -> None:
    data = b"x=1;" * (3 << 20) + b" Uncaught TypeError: tenant is not a function " + b"y=2;" * (2 << 20)
    evidence = evidence_of(data)
    assert [(quote.first, quote.last) for quote in evidence.quotes] == [(1, 1)]
    assert b"Uncaught TypeError: tenant" in evidence.quotes[0].text
    assert len(evidence.quotes[0].text) < 5000


def test_many_short_lines() -> None:
    data = b"y\n" * 3_000_000 + b"error: no\n" + b"y\n" * 100_000
    assert evidence_of(data).quotes[0].first == 3_000_001


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["repeating", "all different", "short lines", "one line"])
def test_memory_is_bounded(shape: str) -> None:
    rng = random.Random(3)
    if shape == "repeating":
        data = big(60 << 20, 0.5, [b"error: x"])[0]
    elif shape == "all different":
        words = [bytes(int(rng.random() * 26) + 97 for _ in range(6)) for _ in range(5000)]
        data = b"".join(b"%s error %s %s\n" % tuple(words[int(rng.random() * 5000)] for _ in range(3)) for _ in range(900_000))
    elif shape == "short lines":
        data = b"".join(b"%x\n" % int(rng.random() * 1e9) for _ in range(3_000_000))
    else:
        data = b"error, " * (4 << 20)
    source = ctx.Source.of_bytes("output", data)
    source.counts  # noqa: B018
    tracemalloc.start()
    ctx.parse_text([source], 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def test_nothing_is_compiled_or_imported_early() -> None:
    assert "heapq" not in ctx.__dict__ and "re" not in ctx.__dict__
    assert sys.version_info >= (3, 8)


@given(st.lists(st.sampled_from(["error: x", "all is well", "nothing", "would reformat a", "", "x (segfault)", "giving  up", "timed out"]), min_size=1, max_size=40))
def test_a_line_with_a_root_is_hot(lines):
    low = "\n".join(lines).encode()
    hot = ctx._hot(low, len(lines))
    assert len(hot) == len(lines)
    for flag, line in zip(hot, low.split(b"\n")):
        assert flag or not ctx.rx(ctx._guards()[0]).search(line)
