"""search: the same lines as GNU grep finds, by whichever way they are looked for; pages of hits that meet each hit once."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import ctx

pytest_plugins = ["places"]

# ── patterns and texts

PIECES_OF_TEXT = "a b ab A s K k _ 1 10 . - é ſ \u212a ( \\ | error status=404 aa".split() + [" ", "\r", "\t", "\0"]
RAW = st.sampled_from([piece.encode() for piece in PIECES_OF_TEXT] + [b"\xff", b"\xc3", b"\xa9"])
TEXTS = st.builds(
    lambda lines, end: b"\n".join(map(b"".join, lines)) + end,
    st.lists(st.lists(RAW, max_size=8), max_size=12),
    st.sampled_from([b"", b"\n"]),
)
LETTERS = st.sampled_from("abAskK1_ -")
LITERALS = LETTERS | st.sampled_from(["aa", "error", "status=", "\\.", "\\(", "\\|"])
SETS = st.sampled_from("[ab] [^a] [a-k] [A-Z] [^a-z] []a] [^]a] [[:digit:]] [^[:alpha:]] [[:space:]_] [[:upper:]1] [a-]".split())
EDGES = st.sampled_from(["^", "$", "\\b", "\\<", "\\>"])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{0}", "{1,2}", "{0,1}", "{2,}"])
ATOMS = (
    LITERALS
    | SETS
    | EDGES
    | st.sampled_from([".", "\\w", "\\W", "\\s", "\\S"])
    | st.builds("{}{}".format, LETTERS | SETS, QUANTIFIERS)
)


def grow(inner):
    alternatives = st.lists(inner, min_size=1, max_size=3).map("|".join).map("({})".format)
    return alternatives | st.builds("({}){}".format, inner, QUANTIFIERS) | st.builds("{}{}".format, inner, inner)


# what POSIX and Python agree on, and what only Python has
PATTERNS = st.recursive(ATOMS, grow, max_leaves=6) | st.lists(LITERALS, min_size=1, max_size=4).map("|".join)
PYTHON = st.sampled_from(
    [
        "(?i:a)",
        "(?:a|b)",
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!b)",
        "(?P<n>a)(?P=n)",
        "(a)?(?(1)b|s)",
        "a*?",
        "(a|ab)??b",
        "\\A",
        "\\Z",
        "\\B",
    ]
    + [
        "\\d",
        "\\D",
        "\\x61",
        "\\n",
        "[\\n]",
        "[^\\W]",
        "(?#x)",
        "(?s:.)",
        "(?-i:K)",
        "é",
        "[éſ]",
        "é+",
        "ſ",
        "\u212a",
        "a{,2}",
        "",
        "[[a]",
    ]
    + ["a++", "(?>ab|a)b", "[^1]*+1"] * (sys.version_info >= (3, 11))
)
FLAGS = st.sampled_from(["", "", "", "(?i)", "(?s)", "(?m)", "(?x) ", "(?ix)a # b", "(?a)", "(?L)"])
PYTHON_PATTERNS = st.builds(lambda flags, parts: flags + "".join(parts), FLAGS, st.lists(PATTERNS | PYTHON, min_size=1, max_size=4))


def ways(query):
    """Every way in which a query can look."""
    return ["line"] + ["literal"] * bool(query.literals) + ["sweep"] * bool(query.sweep)


def made(pattern, *flags):
    """A query, or no example where Python knows no such pattern."""
    try:
        return ctx.Query(pattern, *flags)
    except ctx.CtxError:
        return assume(False)


def split(data):
    return data[:-1].split(b"\n") if data.endswith(b"\n") else data.split(b"\n") if data else []


def naive(query, data):
    return [
        number for number, line in enumerate(split(data), 1) if query.regex.search(ctx.fsdecode(line) if query.is_text else line)
    ]


def looked_for(query, data, way=""):
    """Numbers of the lines that a query finds in data, checked against what `hits` says of them and what `count` says."""
    found = []
    way = way or query.way(data, 0, len(data))
    for start, end, spot in query.hits(way, data, 0, len(data)):
        assert data[start - 1 : start] in (b"", b"\n") and data[end : end + 1] in (b"", b"\n")
        assert b"\n" not in data[start:end] and start <= spot <= end
        found.append(data.count(b"\n", 0, start) + 1)
    assert query.count(way, data, 0, len(data)) == len(found)
    return found


# ── every way finds the same


@given(PATTERNS | PYTHON_PATTERNS, TEXTS, st.booleans(), st.booleans())
@example("(?i)error", b"ERROR\n", False, False)
@example("(?i:error)a", b"ERRORa\n", False, False)
@example("(?-i:K)a", b"Ka\nka\n", True, False)
@example("a|b*", b"\nc\n", False, False)
@example("b*", b"abc\n\nd", False, False)
@example("(a|ab){0}b", b"b\nc\n", False, False)
@example("[^1]*+$" if sys.version_info >= (3, 11) else "a", b"abc\nfoo1\n", False, False)
@example("[^1]+1", b"abc\nfoo1\n", False, False)
@example("k", "\u212a\n".encode(), True, False)
@example("s", "ſ\n".encode(), True, False)
@example("é", "É\n".encode(), True, False)
@example("éks", "É\u212aſ\n".encode(), True, False)
@example("i\u0307", "\u0130\n".encode(), True, False)
@example("\udcc3", "é\n".encode(), False, True)
@example("(?x)a b # c", b"ab\n", False, True)
@example("a$", b"a", False, False)
@example("^a", b"b\na", False, False)
@example("", b"\n\n", True, True)
def test_every_way_finds_the_lines_that_match(pattern, data, fold, word):
    query = made(pattern, False, fold, word)
    expected = naive(query, data)
    for way in ways(query):
        assert looked_for(query, data, way) == expected, way


@given(RAW.map(ctx.fsdecode), TEXTS, st.booleans(), st.booleans())
def test_fixed_text(pattern, data, fold, word):
    query = ctx.Query(pattern, True, fold, word)
    found = looked_for(query, data)
    assert found == naive(query, data)
    if not fold and not word:
        assert found == [number for number, line in enumerate(split(data), 1) if ctx.fsencode(pattern) in line]


def in_windows(source, query, lines=None, skip=0, keep=10**9):
    place = ctx.Place(source, ctx.Address("run", "8d8335db6848", "output"), lines)
    return ctx.search_place(place, query, skip, keep)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PATTERNS, TEXTS, st.booleans(), st.integers(0, 4), st.integers(0, 4), st.integers(1, 20), st.integers(1, 40), st.booleans())
def test_windows_and_pages(monkeypatch, tmp_path, pattern, data, fold, skip, keep, window, long_line, on_disk):
    query = made(pattern, False, fold)
    source = ctx.Source.of_bytes("output", data)
    if on_disk and data:
        (tmp_path / "log").write_bytes(data)
        file = ctx.open_file(str(tmp_path / "log"))
        source = ctx.Source("output", file.size, file.read)
    expected = naive(query, data)
    with monkeypatch.context() as patch:
        patch.setattr(ctx, "WINDOW", window)
        patch.setattr(ctx, "LONG_LINE", long_line)
        patch.setenv("TMPDIR", str(tmp_path))
        found = in_windows(source, query, None, skip, keep)
    assert found.count == len(expected)
    assert [source.line_at(start) for start, _, _ in found.spans] == expected[skip : skip + keep]
    if found.spans:
        assert found.after == (expected[skip - 1] if skip else 0)
        assert found.before == (expected[skip + keep] if skip + keep < len(expected) else 0)


@pytest.mark.filterwarnings("ignore:.*multi-threaded")  # of a test runner that has threads; ctx has none
@pytest.mark.parametrize("processors", [1, 2, 3, 8])
@pytest.mark.parametrize("fails", [False, True])
def test_several_processors_count_the_same(monkeypatch, processors, fails):
    data = b"".join(b"%d\n" % (i * i) for i in range(3000)) + b"x" * 5000 + b"7\n" * 3000
    source = ctx.Source.of_bytes("output", data)
    monkeypatch.setattr(ctx, "SHARE", 1000)
    monkeypatch.setattr(ctx, "WINDOW", 500)
    monkeypatch.setattr(ctx, "processors", lambda: processors)
    forked = []

    def fork():
        forked.append(1)
        if fails:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        return os.fork()

    monkeypatch.setattr(ctx.posix, "fork", fork)
    for pattern in ("7", "7|x", "[37]1*$", "^1.*4"):
        query = ctx.Query(pattern)
        expected = naive(query, data)
        for skip, keep in ((0, 0), (0, 20), (0, 10**6), (len(expected) // 2, len(expected) // 4)):
            found = in_windows(source, query, None, skip, keep)
            assert found.count == len(expected)
            assert [source.line_at(span[0]) for span in found.spans] == expected[skip : skip + keep]
            assert found.after == (expected[skip - 1] if skip else 0)
    assert len(forked) == 16 * (processors - 1)


@pytest.mark.filterwarnings("ignore:.*multi-threaded")
def test_a_child_that_dies_is_done_without():
    parent = os.getpid()
    assert ctx.in_child(lambda: 42 if os.getpid() == parent else os._exit(1))() == 42


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("pattern", ["status=(404|500)", "ERROR|Error 7", "a.c$", "^19999 ", "[5-9]{4}"])
def test_ranges_of_lines(pattern, fold, monkeypatch):
    data = b"".join(b"%d Error status=%d abc\n" % (i, i % 700) for i in range(20_000))
    lines = re.compile(pattern.encode(), re.I if fold else 0)
    expected = [number for number, line in enumerate(split(data), 1) if 100 <= number <= 15_000 and lines.search(line)]
    query = ctx.Query(pattern, False, fold)
    source = ctx.Source.of_bytes("output", data)
    for way in ways(query):
        monkeypatch.setattr(ctx.Query, "way", lambda self, text, start, end, way=way: way)
        found = in_windows(source, query, ctx.Lines(100, 15_000))
        assert [source.line_at(span[0]) for span in found.spans] == expected
        assert in_windows(source, query, ctx.Lines(100, 15_000), keep=0).count == len(expected)


@pytest.mark.parametrize(
    "pattern, literals, exact",
    [
        ("error", [b"error"], True),
        ("(error)", [b"error"], True),
        ("(?:error)+", [b"error"], True),
        ("(?:error){2}", [b"error"], False),
        ("error|warning", [b"error", b"warning"], True),
        ("error|warn.*g", [b"error", b"warn"], False),
        ("error|", [], False),
        ("status=(404|500)", [b"status="], False),
        ("a(?:needle)?b", [b"a"], False),
        ("a(needle)b", [b"needle"], False),
        ("a(?:needle)b", [b"aneedleb"], True),
        ("x*", [], False),
        ("", [], True),
        ("a\\nb", [b"a"], False),
        (r"\d+", [], False),
        ("(?i)Error", [b"error"], True),
        ("(?i:Error) x", [b" x"], False),
        ("(?=error).", [], False),
        ("grüße", ["grüße".encode()], True),
    ],
)
def test_what_every_match_must_hold(pattern, literals, exact):
    query = ctx.Query(pattern)
    assert query.literals == literals
    assert query.exact == exact


@pytest.mark.filterwarnings("ignore:.*multi-threaded")
def test_long_lines_are_one_line_each(tmp_path, monkeypatch):
    data = b"x" * 20_000_000 + b"needle" + b"y" * 20_000_000 + b"needle\n" + b"Needle\nz"
    (tmp_path / "log").write_bytes(data)
    file = ctx.open_file(str(tmp_path / "log"))
    source = ctx.Source("output", file.size, file.read)
    for pattern, fold, expected in (
        ("needle", False, [1]),
        ("need[l]e", False, [1]),
        ("needle", True, [1, 2]),
        ("^[a-w]", True, [2]),
        ("z$", False, [3]),
    ):
        found = in_windows(source, ctx.Query(pattern, False, fold))
        assert [source.line_at(span[0]) for span in found.spans] == expected
    assert found.spans == [(len(data) - 1, len(data), len(data) - 1)]


@pytest.mark.parametrize("pattern", ["[a-w ]+[0-9]", "[^,]*;", "(a|b)+z", r"\s\d+\s", "[^a]+[0-9]"])
def test_no_pattern_sees_beyond_its_line(pattern):
    """A set that matches LF would try all of the text from every byte: quadratic in the size of the log, not of its lines."""
    data = b"bbbbbbbbb bbbbbbbbb bbbbbbbbb,\n" * 40_000
    query = ctx.Query(pattern)
    for way in ways(query):
        assert looked_for(query, data, way) == []


# ── grep

GREP = shutil.which("grep")
gnu_grep = pytest.mark.skipif(not GREP or b"GNU" not in subprocess.check_output([GREP, "--version"]), reason="needs GNU grep")


def grep(data, *arguments, locale="C"):
    """(exit status, stdout) of GNU grep over data."""
    environment = {"LC_ALL": locale, "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [GREP, "-a", *arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=60
    )
    return done.returncode, done.stdout


def numbers(lines):
    return [int(line.partition(b":")[0]) for line in lines.split(b"\n")[:-1]]


@gnu_grep
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PATTERNS, TEXTS, st.booleans(), st.booleans())
def test_grep_finds_the_same_lines(pattern, data, fold, word):
    query = made(pattern, False, fold, word)
    assume(not (word and query.regex.search(b"")))  # where the match is empty, grep's -w has its own ideas
    data = data.replace(b"\0", b"0")
    flags = ["-i"] * fold + ["-w"] * word
    status, out = grep(data, "-nE", *flags, "--", ctx.fsencode(pattern))
    assume(status != 2)
    assert looked_for(query, data) == numbers(out)
    assert grep(data, "-cE", *flags, "--", ctx.fsencode(pattern))[1] == b"%d\n" % len(looked_for(query, data))


@gnu_grep
@given(RAW, TEXTS, st.booleans(), st.booleans())
def test_grep_finds_the_same_text(pattern, data, fold, word):
    assume(pattern.isascii() or not (fold or word))
    status, out = grep(data, "-nF", *["-i"] * fold, *["-w"] * word, "-e", pattern.replace(b"\0", b"0"))
    query = ctx.Query(ctx.fsdecode(pattern.replace(b"\0", b"0")), True, fold, word)
    assert looked_for(query, data) == numbers(out)
    assert (status == 0) == bool(out)


@gnu_grep
@pytest.mark.skipif(grep(b"\xc3\xa9\n", "-c", "^.$", locale="C.UTF-8")[1] != b"1\n", reason="needs a UTF-8 locale")
@pytest.mark.parametrize("pattern", ["é", "[éà]", "^é{2}$", "caf.é", "É|ss", "é?x", "größe", "[^é]é"])
def test_grep_has_the_same_characters(pattern):
    words = ["é", "É", "éé", "è", "cafxé", "caféé", "Größe", "grösse", "x", "k", "\u212a", "ss", "SS", "aé"]
    data = ("\n".join(words) + "\n").encode()
    for flags in ([], ["-i"], ["-w"]):
        expected = numbers(grep(data, "-nE", *flags, pattern, locale="C.UTF-8")[1])
        assert looked_for(ctx.Query(pattern, False, "-i" in flags, "-w" in flags), data) == expected


# ── patterns that are none


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a**", "*a", "(?P<", "\\", "a{2,1}", "x{99999999999}", "(?<=a*)b", "[[:digits:]]", "a\nb", "(" * 3000]
)
def test_a_pattern_that_does_not_compile_is_told_in_one_line(pattern):
    with pytest.raises(ctx.CtxError) as caught:
        ctx.Query(pattern)
    assert caught.value.exit_code == 2 and caught.value.fix
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_patterns_that_python_warns_of_warn_nobody(run_ctx, home):
    run_ctx("digest", input=b"[x\n")
    done = run_ctx("search", "[[x]+", "--all")
    assert (done.returncode, done.stderr) == (0, b"")


# ── the verb


def numbers_in(out, mark=b":"):
    """The numbers of the lines on a page: of the hits, or with `-` of what surrounds them."""
    rows = [re.match(rb"(\d+)([:-])", line) for line in out.split(b"\n")]
    return [int(row.group(1)) for row in rows if row and row.group(2) == mark]


@pytest.fixture
def search(call, shell):
    """search(*arguments) runs `ctx search` in this process, with line=LINE a line that it printed in a shell; the answer has
    `numbers` and `around`."""

    def run(*arguments, line=""):
        done = shell(line) if line else call("search", *arguments)
        done.numbers, done.around = numbers_in(done.out), numbers_in(done.out, b"-")
        return done

    return run


def all_pages(search, *arguments, by_shell=True):
    """Every page of a search, each by the line that the one before printed; the second out of a real shell."""
    pages = [search(*arguments)]
    while pages[-1].next:
        (line,) = pages[-1].next
        words = shlex.split(line)
        again = words[words.index("search") + 1 :]
        pages.append(search(line=line) if by_shell and len(pages) == 1 else search(*again))
        assert len(pages) < 200
    return pages


@pytest.mark.parametrize("context", [0, 1, 3])
def test_pages_meet_every_hit_once(stored, search, context):
    lines = [b"hit %d" % i if i % 7 == 3 or i % 50 < 4 else b"other %d" % i for i in range(1, 4001)]
    address = stored(b"\n".join(lines) + b"\n")
    expected = [i for i, line in enumerate(lines, 1) if line.startswith(b"hit")]
    pages = all_pages(search, "^hit", address, "-C", str(context))
    assert len(pages) > 2
    assert [number for page in pages for number in page.numbers] == expected
    shown = {i for page in pages for i in page.numbers + page.around}
    assert shown == {i for hit in expected for i in range(hit - context, hit + context + 1) if 1 <= i <= 4000}
    for page in pages:
        assert page.status == 0
        assert ctx.estimate_tokens(page.out) <= ctx.BUDGET_PAGE
        assert page.out.startswith(address.encode() + b"\n")
        together = sorted(page.numbers + page.around)
        breaks = sum(b - a > 1 for a, b in zip(together, together[1:]))
        assert page.out.count(b"\n--\n") == (breaks if context else 0)


def test_grep_shows_the_same_lines_around(stored, search):
    if not GREP:
        pytest.skip("needs grep")
    data = b"".join(b"%s\n" % (b"x" if i in (3, 4, 9, 20) else b"o%d" % i) for i in range(1, 22))
    address = stored(data)
    for context in range(1, 6):
        assert (
            search("x", address, "-C", str(context)).out == address.encode() + b"\n" + grep(data, "-n", "-C", str(context), "x")[1]
        )


def test_a_pattern_that_the_shell_would_touch_goes_on_as_it_was(stored, search):
    address = stored(b"it's --skip 5 $HOME `x` *\n" * 2000)
    for pattern in ("it's --skip 5 $HOME `x` *", "-", "--skip"):
        arguments = ["-F", "--", pattern, address]
        assert [number for page in all_pages(search, *arguments) for number in page.numbers] == list(range(1, 2001))


def test_the_count_is_complete_though_the_page_is_not(stored, search):
    address = stored(b"x\ny\n" * 5000)
    page = search("x", address)
    assert 0 < len(page.numbers) < 5000
    assert "1-%d of 5,000 matches" % len(page.numbers) in page.err
    assert search("x", address, "--count").out == b"5000\n"
    assert search("x", address, "--count", "--skip", "9").out == b"5000\n"
    value = json.loads(search("x", address, "--json").out)
    assert value["count"] == 5000 and value["shown"] == len(value["lines"]) == len(page.numbers)
    assert value["lines"][0] == {"address": address, "line": 1, "hit": True, "text": "x"}
    assert shlex.split(value["next"])[-3:] == ["--", "x", address]


def test_more_hits_than_are_kept(stored, search, setting):
    setting("budget", "page", 1_000_000)
    pages = all_pages(search, "1", stored(b"1\n" * 3000), by_shell=False)
    assert [len(page.numbers) for page in pages] == [ctx.HITS_KEPT] * 3
    assert [number for page in pages for number in page.numbers] == list(range(1, 3001))


def test_exit_status(stored, search):
    address = stored(b"abc\n")
    assert search("b", address).status == 0
    assert search("x", address).status == 1
    assert search("x", address).out == b""
    assert search("b", address, "--count").status == 0
    assert search("x", address, "--count").status == 1
    assert search("x", address, "--count").out == b"0\n"
    for wrong in (
        ["("],
        ["b", "run:000000"],
        ["b", "repo:missing"],
        ["b", address, "--last"],
        ["b", "--all", "--last"],
        [],
        ["b", address, "-C", "x"],
    ):
        answer = search(*wrong)
        assert answer.status == 2 and answer.out == b"" and answer.err.count("\n") == 1, wrong


def test_several_places(stored, search):
    one, two = stored(b"a\nb\na\n"), stored(b"c\na\n")
    answer = search("a", two, one)
    assert answer.out == ("%s\n2:a\n%s\n1:a\n3:a\n" % (two, one)).encode()
    assert search("a", two, one, "--count").out == ("%s: 1\n%s: 2\ntotal: 3\n" % (two, one)).encode()
    assert search("a", two, one, "--skip", "2").out == ("%s\n3:a\n" % one).encode()
    assert search("a", "--all").out == answer.out
    assert search("a", one + ":2-3").out == ("%s\n3:a\n" % one).encode()
    assert search("b", one + ":2-3", "-C", "9").out == ("%s\n2:b\n3-a\n" % one).encode()
    assert json.loads(search("a", two, one, "--count", "--json").out) == {"count": 3, "places": {one: 2, two: 1}}


def test_a_page_ends_within_any_of_several_places(stored, search):
    places = [stored(b"".join(b"%d hit %d\n" % (k, i) for i in range(400))) for k in range(4)]
    pages = all_pages(search, "hit", *places)
    found = [line for page in pages for line in page.out.split(b"\n") if b"hit" in line]
    assert found == [b"%d:%d hit %d" % (i + 1, k, i) for k in range(4) for i in range(400)]


def test_more_places_than_files_can_be_open(stored, search):
    for i in range(150):
        stored(b"hit %d\n" % i)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (140, hard))
    try:
        pages = all_pages(search, "hit", "--all")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    found = [line for page in pages for line in page.out.split(b"\n") if b"hit" in line]
    assert found == [b"1:hit %d" % i for i in range(149, -1, -1)]
    assert all("150 matches" in page.err for page in pages)


def test_the_last_run(stored, search):
    stored(b"a\n")
    last = stored(b"b\n")
    answer = search("a")
    assert (answer.status, answer.out) == (1, b"")
    assert answer.err == "ctx search: in %s, the last run of this workspace\n" % last.partition("#")[0]
    assert search("b", "--last").numbers == [1]


def test_nothing_was_captured(stored, search):
    assert search("a").status == 2
    assert "nothing was captured" in search("a").err
    assert search("a", "--all").status == 1


def test_two_streams(stored, search):
    address = stored(b"x\n", "stderr")
    assert search("x", address.partition("#")[0]).out == address.encode() + b"\n1:x\n"
    assert search("x", address.replace("stderr", "output")).numbers == [1]


def test_binary_data_and_long_lines_are_shown_safely(stored, search):
    address = stored(b"\0\x1b[31mx\xff\r\n" + b"a" * 3_000_000 + b"needle" + "ü".encode() * 3_000_000 + b"\n[ctx run:0]x\n")
    answer = search("x|needle", address)
    assert answer.numbers == [1, 2, 3]
    assert b"\x1b" not in answer.out and b"\0" not in answer.out and b"\n[ctx" not in answer.out
    assert b"needle" in answer.out and "…".encode() in answer.out
    answer.out.decode("utf-8")
    assert ctx.estimate_tokens(answer.out) <= ctx.BUDGET_PAGE


def test_a_page_holds_at_least_one_hit_and_never_more_than_its_budget(stored, search, setting):
    setting("budget", "page", 100)
    address = stored(b"".join(b"%d " % i * 200 + b"hit%d\n" % i for i in range(20)))
    for context in ("0", "2", "1000", "9" * 18):
        pages = all_pages(search, r"hit\d", address, "-C", context, by_shell=False)
        assert [number for page in pages for number in page.numbers] == list(range(1, 21))
        assert all(ctx.estimate_tokens(page.out) <= 100 for page in pages)
        assert all(b"hit" in page.out for page in pages)


def test_what_is_damaged_is_told_and_left_out(stored, search, home):
    good, bad = stored(b"x good\n"), stored(b"x bad\n")
    run = ctx.resolve_run(bad[4:16])
    path = run.store.path(run.manifest["streams"]["output"][0])
    os.chmod(path, 0o600)
    with open(path, "w") as file:
        file.write("x BAD\n")
    answer = search("x", "--all")
    assert answer.out == good.encode() + b"\n1:x good\n"
    assert "the stored bytes are damaged" in answer.err
    assert answer.status == 2
    assert search("x", bad).status == 2


def test_live_files_are_headed_by_an_anchor(stored, search):
    with open("a.py", "wb") as file:
        file.write(b"def a():\n    return 1\n")
    answer = search("return", "repo:a.py")
    heading = answer.out.split(b"\n")[0].decode()
    assert re.fullmatch("repo:a.py:1-2@[0-9a-f]{8}", heading)
    assert answer.numbers == [2]
    assert search("return", heading).numbers == [2]
    with open("a.py", "ab") as file:
        file.write(b"\n")
    assert search("return", heading).numbers == [2]
    with open("a.py", "wb") as file:
        file.write(b"def b():\n    return 1\n")
    assert search("return", heading).status == 2


# ── secrets

TOKEN = b"ghp_" + b"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
KEY = (
    b"-----BEGIN RSA PRIVATE KEY-----\n"
    + b"MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB\n" * 150
    + b"-----END RSA PRIVATE KEY-----\n"
)


def test_a_hit_that_holds_a_secret_is_redacted(stored, search):
    address = stored(b"token " + TOKEN + b" used\nother used\n")
    answer = search("used", address)
    assert answer.status == 3
    assert TOKEN[4:20] not in answer.out and b"[redacted:github-token:" in answer.out
    assert answer.numbers == [1, 2]
    assert "1 secret redacted" in answer.err
    assert search("other", address).status == 0
    assert json.loads(search("used", address, "--json").out)["redacted"] == 1


def test_a_hit_within_a_private_key_is_redacted(stored, search):
    address = stored(b"x\n" * 40 + KEY + b"MIIEend\n")
    answer = search("MIIE", address + ":150-180")
    assert answer.status == 3
    assert b"MIIE" not in answer.out
    answer = search("MIIE", address, "-C", "2", "--skip", "149")
    assert b"MIIEpA" not in answer.out and b"MIIEend" in answer.out


def test_a_secret_that_a_long_line_cuts_is_redacted(stored, search):
    for before in (0, 100, 395, 790, 805, 100_000):
        for after in (0, 20, 780):
            address = stored(b"x" * before + b" hit " + b"y" * after + b" " + TOKEN + b" " + b"z" * 5000)
            answer = search("hit", address)
            assert TOKEN[4:12] not in answer.out and TOKEN[-8:] not in answer.out
            assert answer.status == (3 if b"[redacted" in answer.out else 0)
