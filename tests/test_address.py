"""Addresses: what every form means, what every malformed one says, and that anchors find the lines they were made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctx

HEX = st.text("0123456789abcdef", min_size=6, max_size=64)
PATHS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1, max_size=30)
ANCHORS = st.sampled_from(["", "00000000", "8d8335db", "ffffffff"])


SPANS = st.tuples(st.integers(1, 10**9), st.integers(0, 10**6)).map(lambda pair: (pair[0], pair[0] + pair[1]))
LINES = st.builds(lambda span, anchor: ctx.Lines(*span, anchor), SPANS, ANCHORS) | st.builds(
    ctx.Lines, st.integers(1, 10**9), st.just(0)
)
ADDRESSES = st.one_of(
    st.builds(ctx.Address, st.just("run"), HEX, st.sampled_from(["", *ctx.STREAMS]), st.none() | LINES),
    st.builds(ctx.Address, st.just("blob"), HEX, st.just(""), st.none() | LINES),
    st.builds(ctx.Address, st.just("repo"), PATHS, st.just(""), LINES),
)


def parts(address):
    lines = address.lines
    return address.kind, address.name, address.stream, lines and (lines.first, lines.last, lines.anchor)


def complaint(call, *args):
    """The one line that an error is; it names the problem and the fix."""
    with pytest.raises(ctx.CtxError) as caught:
        call(*args)
    text = str(caught.value)
    assert caught.value.exit_code == 2
    assert caught.value.what and caught.value.fix, text
    assert "\n" not in text and len(text) < 600
    return text


# ── the grammar


@given(ADDRESSES)
def test_what_is_printed_is_read_back(address):
    assert parts(ctx.parse_address(str(address))) == parts(address)


@pytest.mark.parametrize(
    "text, kind, name, stream, lines",
    [
        ("run:8d8335", "run", "8d8335", "", None),
        ("run:8d8335db6848#stdout", "run", "8d8335db6848", "stdout", None),
        ("run:8d8335db6848#stdout:1280-1300", "run", "8d8335db6848", "stdout", (1280, 1300, "")),
        ("run:8d8335db6848:5", "run", "8d8335db6848", "", (5, 5, "")),
        ("run:8d8335db6848#stderr:5-", "run", "8d8335db6848", "stderr", (5, 0, "")),
        ("run:8d8335db6848#output:5:9", "run", "8d8335db6848", "output", (5, 9, "")),
        ("run:8d8335db6848#output::9", "run", "8d8335db6848", "output", (1, 9, "")),
        ("blob:" + "a" * 64 + ":1-2@deadbeef", "blob", "a" * 64, "", (1, 2, "deadbeef")),
        ("repo:src/a.py", "repo", "src/a.py", "", None),
        ("repo:src/a.py:3-4@deadbeef", "repo", "src/a.py", "", (3, 4, "deadbeef")),
        ("repo:a:5", "repo", "a", "", (5, 5, "")),
        ("repo:a:5:1-", "repo", "a:5", "", (1, 0, "")),
        ("repo:C:/x", "repo", "C:/x", "", None),
        ("repo:a@deadbeef", "repo", "a@deadbeef", "", None),
        ("repo:a b#c", "repo", "a b#c", "", None),
    ],
)
def test_forms(text, kind, name, stream, lines):
    assert parts(ctx.parse_address(text)) == (kind, name, stream, lines)


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "not an address"),
        ("run", "not an address"),
        ("8d8335db6848", "write run:8d8335db6848"),
        ("8d8335db6848#stdout:1-2", "write run:8d8335db6848#stdout:1-2"),
        ("RUN:8d8335", "not an address"),
        ("file:8d8335", "not an address"),
        ("run:", "not a hexadecimal handle"),
        ("run:8d83", "at least 6 digits"),
        ("run:8D8335", "not a hexadecimal handle"),
        ("run:8d8335…", "not a hexadecimal handle"),
        ("run:" + "a" * 65, "not a hexadecimal handle"),
        ("run:8d8335#", "no such stream"),
        ("run:8d8335#stdin", "a run has #stdout and #stderr, or #output"),
        ("blob:8d8335#stdout", "a blob has none"),
        ("run:8d8335#stdout:", "not a range"),
        ("run:8d8335#stdout:x", "not a range"),
        ("run:8d8335#stdout:1-2-3", "not a range"),
        ("run:8d8335#stdout:1:2:3", "not a range"),
        ("run:8d8335#stdout:-3", "the last N lines are --tail N"),
        ("run:8d8335#stdout:0-5", "numbered from 1"),
        ("run:8d8335#stdout:5-2", "write 2-5"),
        ("run:8d8335#stdout:1-2@dead", "not an anchor"),
        ("run:8d8335#stdout:1-2@DEADBEEF", "not an anchor"),
        ("run:8d8335#stdout:1-@deadbeef", "needs both ends"),
        ("run:8d8335#stdout:@deadbeef", "not a range"),
        ("repo:", "no path"),
        ("repo:a:1-2@xyz", "not an anchor"),
        ("repo:a:5-2", "write 2-5"),
        ("run:8d83\n35", "8d83\\n35"),
        ("run:\x1b[31m", "\\x1b"),
    ],
)
def test_malformed(text, says):
    assert says in complaint(ctx.parse_address, text)


@given(st.text(max_size=60) | st.builds("{}:{}".format, st.sampled_from(["run", "blob", "repo"]), st.text(max_size=60)))
def test_anything_else_is_one_line_that_says_what_to_do(text):
    try:
        ctx.parse_address(text)
    except ctx.CtxError:
        complaint(ctx.parse_address, text)


@pytest.mark.parametrize(
    "text, lines",
    [("5", (5, 5)), ("2-7", (2, 7)), ("2:7", (2, 7)), ("2:", (2, 0)), ("2-", (2, 0)), (":7", (1, 7)), ("3:3", (3, 3))],
)
def test_lines(text, lines):
    found = ctx.parse_lines(text)
    assert (found.first, found.last) == lines


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "-",
        "-3",
        "-3:",
        "3:-1",
        "0",
        "0:5",
        ":0",
        "5:0",
        "5:2",
        "a",
        "1:b",
        "1,2",
        "1 2",
        "٣",
        "²",
        "1:²",
        "9" * 19,
        "+1:2",
    ],
)
def test_no_lines(text):
    assert "lines" in complaint(ctx.parse_lines, text)


@pytest.mark.parametrize("text", ["", "5", ":", "-", "-5", "a:b", "1:" + "9" * 5000])
def test_no_pair(text):
    complaint(ctx.parse_pair, text, "--bytes", "write A:B")


def test_errors_stay_short():
    assert len(complaint(ctx.parse_address, "run:" + "x" * 100_000)) < 600


# ── anchors

TEXTS = st.lists(st.sampled_from([b"", b"a", b"b", b"  a", b"\xff\x00", b"long " * 9]), max_size=40)


def naive(lines, count, anchor):
    return [i + 1 for i in range(len(lines) - count + 1) if ctx.anchor_of(lines[i : i + count]) == anchor]


@given(TEXTS, st.data())
def test_the_rolling_search_finds_what_a_naive_one_finds(lines, data):
    count = data.draw(st.integers(1, max(1, len(lines))))
    first = data.draw(st.integers(0, max(0, len(lines) - count)))
    anchor = ctx.anchor_of(lines[first : first + count])
    found = ctx.find_anchored(iter(lines), count, anchor, 1000)
    assert found == naive(lines, count, anchor)
    assert not lines or first + 1 in found
    assert ctx.find_anchored(iter(lines), count, anchor) == found[:3]


@given(TEXTS, TEXTS)
def test_other_lines_have_another_anchor(one, two):
    assert (ctx.anchor_of(one) == ctx.anchor_of(two)) == (one == two)


def test_line_ends_do_not_count_but_empty_lines_do():
    assert ctx.anchor_of([b"a\r\n", b"b\n"]) == ctx.anchor_of([b"a", b"b"])
    anchors = [ctx.anchor_of(lines) for lines in ([], [b""], [b"", b""], [b"", b"a"], [b"a"], [b"a", b""])]
    assert len(set(anchors)) == len(anchors)
    assert all(len(anchor) == 8 and ctx.is_hex(anchor) for anchor in anchors)


def test_an_anchor_never_changes():
    """Anchors stand in prompts and files; a new version must find what an old one printed."""
    assert ctx.anchor_of([b"def f():", b"    return 1"]) == "33a03e45"


def test_more_lines_than_there_are():
    assert ctx.find_anchored(iter([b"a"]), 5, ctx.anchor_of([b"a"])) == []
