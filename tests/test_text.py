"""Section 7, text: lines, windows, terminal clean-up, what varies, sizes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctx

chunks = st.lists(st.sampled_from([b"", b"a", b"\n", b"\n\n", b"\r\n", b"x" * 700, b"\x85\xe2\x80\xa8\x0c", b"\n" * 3000, b"b" * 66000]), max_size=12).map(b"".join)


def naive_lines(data):
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


@given(chunks)
def test_line_numbers_are_those_of_lf(data):
    source = ctx.Source.of_bytes("output", data)
    lines = naive_lines(data)
    assert source.lines == len(lines)
    for number in {1, 2, len(lines) // 2, len(lines) - 1, len(lines)} - {0, -1}:
        if number <= len(lines):
            assert source.line(number) == lines[number - 1]
            assert source.line_at(source.start_of(number)) == number
    assert source.start_of(len(lines) + 5) == len(data)


@given(chunks, st.integers(1, 2000), st.integers(0, 2000))
def test_slice_is_the_lines_with_their_ends(data, first, more):
    source = ctx.Source.of_bytes("output", data)
    whole = data.split(b"\n")
    text = b"\n".join(whole[first - 1 : first + more])
    if first + more < len(whole):
        text += b"\n"
    assert source.slice(first, first + more) == text


@given(chunks, st.integers(1, 5000))
def test_line_windows_cover_everything_once_and_end_at_line_ends(data, step):
    source = ctx.Source.of_bytes("output", data)
    windows = list(source.line_windows(step=step))
    assert b"".join(piece for _, piece in windows) == data
    at = 0
    for offset, piece in windows:
        assert offset == at and piece
        at += len(piece)
        assert piece.endswith(b"\n") or at == len(data) or len(piece) > 4 * step


@given(st.lists(st.sampled_from([b"ab", b"a", b"b", b"\n", b"abab"]), max_size=60).map(b"".join), st.integers(1, 7))
def test_find_all_sees_across_window_borders(data, step):
    source = ctx.Source.of_bytes("output", data)
    old, ctx.Source.chunks.__defaults__ = ctx.Source.chunks.__defaults__, (step, 0)
    try:
        found = source.find_all([b"ab", b"ba\n", b"zz"])
    finally:
        ctx.Source.chunks.__defaults__ = old
    for literal, hits in zip([b"ab", b"ba\n", b"zz"], found):
        assert hits == [m.start() for m in re.finditer(b"(?=%s)" % re.escape(literal), data)]


def test_find_all_stops_at_its_limit():
    assert ctx.Source.of_bytes("o", b"aaaa").find_all([b"a"], 2) == [[0, 1]]


@pytest.mark.parametrize(
    "raw, shown",
    [
        (b"\x1b[31mred\x1b[0m", b"red"),
        (b"^[[31mred^[[0m", b"red"),
        (b"\x1b]0;title\x07text", b"text"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"10%\r50%\r100%", b"100%"),
        (b"done\r\n", b"done"),
        (b"a\x08_", b"_"),
        (b"plain  \t", b"plain"),
        (b"  kept indent", b"  kept indent"),
        (b"caf\xe9", b"caf\xe9"),
    ],
)
def test_clean_is_what_a_terminal_shows_last(raw, shown):
    assert ctx.clean(raw) == shown


@pytest.mark.parametrize("code", [0, 7, 8, 0x1B, 0x7F, 0x85, 0x9B, 0x200B, 0x202E, 0x2028, 0x2066, 0xFEFF])
def test_visible_spells_out_what_could_deceive(code):
    text = ctx.visible(("a%sb" % chr(code)).encode("utf-8"))
    assert chr(code) not in text and text.startswith("a\\") and text.endswith("b")


def test_visible_keeps_letters_of_all_scripts_and_bytes_that_are_none():
    assert ctx.visible("naïve 漢字 עברית".encode()) == "naïve 漢字 עברית"
    assert ctx.visible(b"caf\xe9") == "caf\\xe9"
    assert ctx.visible(b"[ctx run:8d8335db6848 profile=x]").startswith("\\[ctx ")


@pytest.mark.parametrize(
    "one, two",
    [
        (b"<object at 0x7f12ab34cd56>", b"<object at 0x55aa00ff1122>"),
        (b"/tmp/pytest-of-dev/pytest-12/test_a0/x", b"/tmp/pytest-of-dev/pytest-3/test_a0/x"),
        (b"open /tmp/tmpab12cd34/file.txt", b"open /tmp/tmpzz99yy88/file.txt"),
        (b"worker pid=4711 died", b"worker pid=815 died"),
        (b"refused: 127.0.0.1:43817", b"refused: 127.0.0.1:60001"),
        (b"1 failed in 0.12s", b"1 failed in 13.9s"),
    ],
)
def test_steady_masks_what_differs_between_two_runs(one, two):
    assert ctx.steady(one) == ctx.steady(two)


@pytest.mark.parametrize("line", [b"assert 1.5 == 2.0", b"localhost:8080 refused", b"at line 0x1F", b"/tmp/report.txt", b"error 404 in 3 files", b"10:42: error"])
def test_steady_leaves_values_alone(line):
    assert ctx.steady(line) == line


@pytest.mark.parametrize("size, text", [(0, "0 B"), (999, "999 B"), (1024, "1 KiB"), (4102, "4.01 KiB"), (402 * 1024, "402 KiB"), (1 << 30, "1 GiB"), (1023 * 1024, "0.999 MiB")])
def test_human_sizes(size, text):
    assert ctx.human(size) == text


@given(st.lists(st.sampled_from([b"ab", b"a", b"b", b"\n", b"c"]), max_size=60).map(b"".join), st.integers(1, 7))
def test_holds_sees_across_window_borders(data, step):
    source = ctx.Source.of_bytes("output", data)
    old, ctx.Source.chunks.__defaults__ = ctx.Source.chunks.__defaults__, (step, 0)
    try:
        assert source.holds([b"abca", b"\n\nb"]) == (b"abca" in data or b"\n\nb" in data)
    finally:
        ctx.Source.chunks.__defaults__ = old
