"""get: pages that meet every byte once, addresses that say what they cannot give, live files, JSON, secrets on no page."""

from __future__ import annotations

import json
import os
import re
import shlex

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import ctx

pytest_plugins = ["places"]

TOKEN = b"ghp_" + b"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
BODY = [b"MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I%04d\n" % i for i in range(1200)]
KEY = b"-----BEGIN RSA PRIVATE KEY-----\n" + b"".join(BODY) + b"-----END RSA PRIVATE KEY-----\n"


# ── pages

BYTES = st.one_of(
    st.binary(max_size=300),
    st.sampled_from(
        [
            b"",
            b"a\n",
            b"\n" * 500,
            b"\r\n" * 300,
            b"x" * 3000,
            "ü€😀".encode() * 400,
            b"\0" * 700,
            b"\xf0\x9f\x98" * 300,
            b" " * 70_000,
        ]
    ),
    st.lists(st.text(max_size=80), max_size=30).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass")),
)
CONTENTS = st.lists(BYTES, max_size=4).map(b"".join)


def place_of(data, live=False):
    address = ctx.Address("repo", "a file") if live else ctx.Address("run", "8d8335db6848", "output")
    return ctx.Place(ctx.Source.of_bytes("output", data), address)


def follow(place, arguments):
    """The bytes that the arguments of `get` lead to, as `get` reads them."""
    address, *options = shlex.split(arguments)
    parsed = ctx.parse_address(address)
    assert str(ctx.Address(parsed.kind, parsed.name, parsed.stream)) == str(place.address)
    if options:
        assert options[0] == "--bytes" and len(options) == 2 and not parsed.lines
        return ctx.byte_range(place, options[1])
    place.lines = None
    ctx.select_lines(place, parsed.lines)
    return place.span()


@given(CONTENTS, st.integers(20, 400), st.booleans())
@example(b"x" * 200_000, 100, False)
@example("é".encode() * 100_000, 100, True)
@example(b"\n" * 200_000, 2000, False)
@example(b"a\r\n\r\n", 1, True)
@example(b"\xf0\x9f\x98\x80" * 20, 1, False)
def test_pages_meet_every_byte_once(data, budget, live):
    place = place_of(data, live)
    start, end, met = 0, len(data), b""
    while start < end:
        page = ctx.page_of(place.source, start, end, budget, True)
        assert page.start == start < page.end <= end
        assert page.data == data[page.start : page.end] and page.secrets == 0
        assert len(page.data) <= ctx.PAGE_BYTES
        assert ctx.estimate_tokens(page.data) <= budget or len(page.data) == 1
        met += page.data
        start = page.end
        if start < end:
            assert follow(place, ctx.address_of(place, start, end)) == (start, end)
            assert place.remarks == []
    assert met == data


@given(st.text(min_size=1, max_size=400), st.integers(30, 100))
def test_pages_never_cut_a_character(text, budget):
    data, start = text.encode("utf-8", "surrogatepass"), 0
    while start < len(data):
        page = ctx.page_of(ctx.Source.of_bytes("output", data), start, len(data), budget)
        page.data.decode("utf-8", "surrogatepass")
        start = page.end


@pytest.mark.parametrize("size", [ctx.PAGE_BYTES - 1, ctx.PAGE_BYTES, ctx.PAGE_BYTES + 1])
@pytest.mark.parametrize("text", [" ", "\u3000", " \n"])
def test_a_page_that_is_cut_by_its_size(size, text):
    data = (text * size).encode()[:size]
    page = ctx.page_of(ctx.Source.of_bytes("output", data + b" \n"), 0, size + 2, 10**9)
    assert len(page.data) <= ctx.PAGE_BYTES
    page.data.decode("utf-8", "replace" if text == "\u3000" and page.end == size + 2 else "strict")


def test_whole_lines_where_they_fit():
    data = b"".join(b"line %d\n" % i for i in range(1000))
    page = ctx.page_of(ctx.Source.of_bytes("output", data), 0, len(data), 100)
    assert page.data.endswith(b"\n") and page.data.count(b"\n") > 5
    more = data[: data.index(b"\n", page.end) + 1]
    assert ctx.estimate_tokens(more) > 100


def all_pages(call, shell, *arguments):
    """Every page of `get`, each by the command that the one before printed; the second comes out of a real shell."""
    pages = [call("get", *arguments)]
    while pages[-1].next:
        (line,) = pages[-1].next
        words = shlex.split(line)
        pages.append(shell(line) if len(pages) == 1 else call(*words[words.index("get") :]))
        assert len(pages) < 300
    return pages


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"one\n",
        b"no newline",
        b"".join(b"line %d\n" % i for i in range(9000)),
        b"".join(b"line %d\r\n" % i for i in range(5000)) + b"end",
        b"x" * 60_000 + b"\n" + b"y\n" * 3000,
        "käse\0".encode() * 9000,
    ],
    ids=["empty", "one", "no newline", "lines", "CRLF", "long line", "binary"],
)
def test_following_next_meets_every_byte_once(stored, call, shell, data):
    address = stored(data)
    pages = all_pages(call, shell, address)
    assert b"".join(page.out for page in pages) == data
    assert all(ctx.estimate_tokens(page.out) <= ctx.BUDGET_PAGE and page.status == 0 for page in pages)
    assert all(re.fullmatch("(next: .*\n)?", page.err) for page in pages) or not data
    assert len(pages) == 1 or len(data) > 5000


def test_a_line_of_20_mb(stored, call):
    data = b"".join(b"%07d," % i for i in range(2_500_000))
    address = stored(data)
    page = call("get", address)
    start = len(page.out)
    assert data.startswith(page.out) and page.next[0].endswith("get %s --bytes %d:%d" % (address, start, len(data)))
    page = call("get", address, "--bytes", "19999990:")
    assert page.out == data[19999990:] and not page.next
    page = call("get", address, "--bytes", "10000000:10000005")
    assert page.out == data[10000000:10000005] and not page.next
    assert call("get", address, "--all").out == data


def test_a_json_page(stored, call):
    address = stored(b"a\xff\n" * 5000)
    value = json.loads(call("get", address, "--json").out)
    assert value["text"].encode("utf-8", "surrogateescape") == (b"a\xff\n" * 5000)[: value["bytes"][1]]
    assert (value["address"], value["bytes"][0], value["redacted"], value["remarks"]) == (address, 0, 0, [])
    assert " get " in value["next"]
    value = json.loads(call("get", address, "--json", "--tail", "1").out)
    assert (value["text"], value["next"]) == ("a\udcff\n", "")


def test_a_run_without_selector_is_its_digest_again(stored, call):
    run = stored(b"line\n" * 5000).partition("#")[0]
    done = call("get", run)
    assert done.out.startswith(b"[ctx %s " % run.encode()) and (done.status, done.err) == (0, "")
    assert json.loads(call("get", run, "--json").out) == {"address": run, "text": done.out.decode()}
    assert call("get", run, "--all").out == b"line\n" * 5000
    assert call("get", run, "--tail", "1").out == b"line\n"


# ── selections


@pytest.fixture
def ten(stored):
    """The address of ten lines."""
    return stored(b"".join(b"line %d\n" % i for i in range(1, 11)))


@pytest.mark.parametrize(
    "lines, expected",
    [
        ("1:3", [1, 2, 3]),
        ("1-3", [1, 2, 3]),
        ("5", [5]),
        ("5:5", [5]),
        ("10", [10]),
        ("8:", [8, 9, 10]),
        ("8-", [8, 9, 10]),
        (":2", [1, 2]),
        ("1:10", list(range(1, 11))),
        ("9:99", [9, 10]),
    ],
)
def test_lines(ten, call, lines, expected):
    text = b"".join(b"line %d\n" % i for i in expected)
    for done in (call("get", ten, "--lines", lines), call("get", "%s:%s" % (ten, lines))):
        assert (done.out, done.status) == (text, 0)
        assert done.err == ("ctx get: %s ends at line 10\n" % ten if lines == "9:99" else "")


@pytest.mark.parametrize(
    "options, says",
    [
        (["--lines", "0:5"], "lines '0:5': lines are numbered from 1: write 1-5"),
        (["--lines", "5:2"], "lines '5:2': the last line is before the first: write 2-5"),
        (["--lines", "-3:"], "lines '-3:': not a range: write A-B, counted from 1; the last N lines are --tail N"),
        (["--lines", "-3"], "not a range"),
        (["--lines", "11"], "has no line 11: valid lines are 1-10"),
        (["--lines", "11:20"], "has no line 11: valid lines are 1-10"),
        (["--lines", "1-2@00000000"], "the anchor does not match these lines: leave the anchor out: stored bytes never change"),
        (["--tail", "0"], "--tail '0': not a whole number from 1: write --tail 10"),
        (["--tail", "-1"], "not a whole number"),
        (["--tail"], "--tail needs a value: write --tail N"),
        (["--bytes", "5"], "--bytes '5': not a range: write A:B, counted from 0, up to but not including B"),
        (["--bytes", "5:5"], "nothing there: valid bytes are 0:71"),
        (["--bytes", "9:5"], "nothing there: valid bytes are 0:71"),
        (["--bytes", "71:"], "nothing there: valid bytes are 0:71"),
        (["--bytes", "-5:"], "not a range"),
        (["--lines", "1:2", "--tail", "3"], "--lines and --tail: one selection at a time: drop all but one"),
        (["--grep", "a", "--bytes", "0:1"], "one selection at a time"),
        (["--raw"], "--raw: not allowed here: set raw = true below [redact] in ctx.toml"),
        (["x"], "'x': one at a time"),
    ],
)
def test_refusals(ten, call, options, says):
    done = call("get", ten, *options)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith("ctx get: ") and says in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("option", [["--tail", "3"], ["--bytes", "0:9"], ["--lines", "1:2"]])
def test_lines_in_the_address_and_another_selection(ten, call, option):
    done = call("get", ten + ":1-2", *option)
    assert done.status == 2 and "lines in the address and %s: one selection at a time" % option[0] in done.err


def test_tail_and_bytes(ten, call):
    assert call("get", ten, "--tail", "2").out == b"line 9\nline 10\n"
    assert call("get", ten, "--tail", "99").out.count(b"\n") == 10
    assert call("get", ten, "--bytes", "0:4").out == b"line"
    assert call("get", ten, "--bytes", ":4").out == b"line"
    done = call("get", ten, "--bytes", "63:999")
    assert done.out == b"line 10\n" and done.err == "ctx get: %s ends at byte 71\n" % ten


def test_an_empty_stream(stored, call):
    address = stored(b"")
    done = call("get", address)
    assert (done.status, done.out, done.err) == (0, b"", "ctx get: %s is empty\n" % address)
    for option in (["--lines", "1:1"], ["--bytes", "0:1"]):
        done = call("get", address, *option)
        assert done.status == 2 and "is empty" in done.err
    assert call("get", address, "--tail", "3").out == b""
    assert call("get", address, "--grep", "").status == 1


def test_a_last_line_without_an_end(stored, call):
    address = stored(b"one\ntwo")
    assert call("get", address, "--lines", "2").out == b"two"
    assert call("get", address, "--tail", "1").out == b"two"
    assert "valid lines are 1-2" in call("get", address, "--lines", "3").err


def test_lines_end_at_lf_only(stored, call):
    address = stored("a\rb\u2028c\u0085d\x0ce\x0bf\nsecond\n".encode())
    assert call("get", address, "--lines", "2").out == b"second\n"


def test_an_anchor_of_stored_lines(ten, call):
    anchor = ctx.anchor_of([b"line 2", b"line 3"])
    assert call("get", "%s:2-3@%s" % (ten, anchor)).out == b"line 2\nline 3\n"
    assert call("get", ten, "--lines", "2-3@" + anchor).out == b"line 2\nline 3\n"
    assert call("get", "%s:3-4@%s" % (ten, anchor)).status == 2


def test_four_answers_for_a_handle(ten, call, home):
    run = ten[:16]
    assert call("get", run + "#output", "--tail", "1").out == b"line 10\n"
    assert call("get", "run:" + run[4:10] + "#output", "--tail", "1").out == b"line 10\n"
    done = call("get", "run:ffffffffffff")
    assert done.status == 2 and "never captured here" in done.err
    assert call("get", "blob:ffffffffffff").status == 2
    assert "has no #stdout: it has #output" in call("get", run + "#stdout").err


def test_two_streams_need_a_choice(workspace, call):
    spool = ctx.open_spool("run", ["x"], ctx.default_settings())
    for name, data in (("stdout", b"1\n"), ("stderr", b"2\n"), ("stdout", b"3\n")):
        spool.write(name, memoryview(data))
    run = spool.commit(["stdout", "stderr"], 0, "")
    spool.discard()
    done = call("get", run.handle, "--tail", "1")
    assert done.status == 2 and "more than one stream: add #stdout, #stderr, or #output" in done.err
    done = call("get", run.handle + "#output")
    assert done.out == b"1\n2\n3\n"
    assert "approximate" in done.err
    assert call("get", run.handle + "#stderr").out == b"2\n"


def test_a_partial_run_says_so(workspace, call):
    spool = ctx.open_spool("run", ["x"], ctx.default_settings())
    spool.write("output", memoryview(b"1\n"))
    run = spool.commit(["output"], None, "timeout")
    spool.discard()
    assert call("get", run.handle + "#output").err == "ctx get: this output is partial: timeout\n"


def test_grep(ten, call, shell, stored):
    done = call("get", ten, "--grep", "[3-5]$")
    assert (done.status, done.out) == (0, b"%s\n3:line 3\n4:line 4\n5:line 5\n" % ten.encode())
    assert call("get", ten + ":4-9", "--grep", "[3-5]$").out.count(b"line") == 2
    assert call("get", ten, "--grep", "x").status == 1
    assert call("get", ten, "--grep", "(").status == 2
    address = stored(b"it's a hit\n" * 3000)
    done = call("get", address + ":1-2990", "--grep", "it's")
    seen = done.out.count(b"hit")
    while done.next:
        done = shell(done.next[0]) if seen < 1000 else call(*shlex.split(done.next[0])[2:])
        seen += done.out.count(b"hit")
    assert seen == 2990


# ── JSON

DOCUMENT = b"""\xef\xbb\xbf
 {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\\\j": 5, "k\\"l": 6, " ": 7, "m~n": 8, "\xc3\xa4": [1.10, 1e400,
  12345678901234567890.10, {"deep": [ ]}], "twice": 1, "twice": [true , null], "~1": "\xff"} """


@pytest.mark.parametrize(
    "pointer, expected",
    [
        ("/foo", b'["bar", "baz"]'),
        ("/foo/0", b'"bar"'),
        ("/", b"0"),
        ("/a~1b", b"1"),
        ("/c%d", b"2"),
        ("/e^f", b"3"),
        ("/g|h", b"4"),
        ("/i\\j", b"5"),
        ('/k"l', b"6"),
        ("/ ", b"7"),
        ("/m~0n", b"8"),
        ("/~01", b'"\xff"'),
        ("/ä/0", b"1.10"),
        ("/ä/1", b"1e400"),
        ("/ä/2", b"12345678901234567890.10"),
        ("/ä/3/deep", b"[ ]"),
        ("/twice/0", b"true"),
        ("/twice/1", b"null"),
        ("", DOCUMENT.strip(b"\xef\xbb\xbf \n")),
    ],
)
def test_a_pointer_leads_to_the_very_bytes(stored, call, pointer, expected):
    done = call("get", stored(DOCUMENT), "--pointer", pointer)
    assert (done.status, done.out, done.err) == (0, expected, "")


@pytest.mark.parametrize(
    "pointer, says",
    [
        ("foo", "--pointer 'foo': not a JSON pointer: write /key/0/key"),
        ("/m~n", "not a JSON pointer"),
        ("/fooo", "no key 'fooo': did you mean foo?"),
        ("/xyzzy", "no key 'xyzzy': keys are 'foo', '', 'a/b'"),
        ("/foo/2", "no element '2': valid elements are 0 to 1"),
        ("/foo/-", "no element '-'"),
        ("/foo/00", "no element '00'"),
        ("/foo/²", "no element '²'"),
        ("/foo/0/x", "'x' is below a value that has no parts: stop one step earlier"),
        ("/ä/3/deep/0", "what it is looked for in is empty"),
    ],
)
def test_a_pointer_to_nothing(stored, call, pointer, says):
    done = call("get", stored(DOCUMENT), "--pointer", pointer)
    assert (done.status, done.out) == (2, b"") and says in done.err and done.err.count("\n") == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def paths(value, pointer=""):
    yield pointer, value
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from paths(inner, "%s/%s" % (pointer, str(key).replace("~", "~0").replace("/", "~1")))


@given(JSON, st.booleans(), st.sampled_from([None, 0, 2]))
def test_every_value_of_a_document_has_a_pointer(value, ascii, indent):
    text = json.dumps(value, ensure_ascii=ascii, indent=indent).encode("utf-8", "surrogatepass")
    place = place_of(text)
    for pointer, expected in paths(value):
        start, end = ctx.pointed_at(place, pointer)
        assert json.loads(text[start:end].decode("utf-8", "surrogatepass")) == expected


def test_what_is_no_json_document(stored, call):
    for data, says in (
        (b"", "Expecting value"),
        (b"{", "line 1: Expecting property name"),
        (b"[1,\n2\n3]\n", "line 3: Expecting"),
        (b"{}\n{}\n", "line 2: Extra data"),
        (b"[" * 100_000, "recursion"),
        (b"\xff\xfe[\0]\0", "Expecting value"),
    ):
        done = call("get", stored(data), "--pointer", "/a")
        assert done.status == 2 and done.err.count("\n") == 1, done.err
        assert "is not one JSON document" in done.err and says in done.err


def test_one_document_among_other_lines(stored, call):
    address = stored(b'log line\n{"a": {"b": 1}}\n{"a": 2}\n')
    assert call("get", address, "--pointer", "/a").status == 2
    assert call("get", address + ":2", "--pointer", "/a/b").out == b"1"
    assert call("get", address + ":3-3", "--pointer", "/a").out == b"2"


def test_a_large_value_is_paged(stored, call, shell):
    data = json.dumps({"items": ["number %d" % i for i in range(20_000)], "x": 1}).encode()
    pages = all_pages(call, shell, stored(data), "--pointer", "/items")
    assert json.loads(b"".join(page.out for page in pages)) == ["number %d" % i for i in range(20_000)]


# ── live files


@pytest.fixture
def live(workspace):
    """live(name, bytes) writes a file of the workspace; its address."""

    def write(name, data):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_bytes(data)
        return "repo:" + name

    return write


LINES = [b"line %d\n" % i for i in range(1, 31)]


def anchored(name, first, last, lines=LINES):
    return "repo:%s:%d-%d@%s" % (name, first, last, ctx.anchor_of(lines[first - 1 : last]))


def test_a_live_file_always_prints_anchored(live, call, shell):
    address = live("src/a b.py", b"".join(LINES))
    done = call("get", address)
    assert done.out == b"".join(LINES)
    assert done.err == "ctx get: this is '%s'\n" % anchored("src/a b.py", 1, 30)
    done = call("get", address + ":3-4")
    assert (done.out, done.err) == (b"line 3\nline 4\n", "ctx get: this is '%s'\n" % anchored("src/a b.py", 3, 4))
    live("long", b"x" * 30_000 + b"\n" + b"line\n" * 9000)
    pages = all_pages(call, shell, "repo:long")
    assert b"".join(page.out for page in pages) == b"x" * 30_000 + b"\n" + b"line\n" * 9000
    assert all(re.search("this is repo:long.*@[0-9a-f]{8}\n", page.err) for page in pages)
    assert all(re.search("@[0-9a-f]{8}$", page.next[0]) for page in pages[:-1])


def test_in_place_moved_changed_ambiguous(live, call):
    address = live("a.py", b"".join(LINES))
    wanted = anchored("a.py", 3, 5)
    assert call("get", wanted).out == b"".join(LINES[2:5])
    assert call("get", wanted).err == "ctx get: this is %s\n" % wanted
    live("a.py", b"new\nnew\n" + b"".join(LINES))
    done = call("get", wanted)
    moved = wanted.replace(":3-5@", ":5-7@")
    assert (done.status, done.out) == (0, b"".join(LINES[2:5]))
    assert done.err == "ctx get: moved: now at %s\nctx get: this is %s\n" % (moved, moved)
    live("a.py", b"".join(LINES[2:]))
    assert "now at %s" % wanted.replace(":3-5@", ":1-3@") in call("get", wanted).err
    live("a.py", b"".join(LINES[2:5]))
    assert "now at %s" % wanted.replace(":3-5@", ":1-3@") in call("get", wanted).err
    live("a.py", b"".join(LINES).replace(b"line 4\n", b"LINE 4\n"))
    done = call("get", wanted)
    assert (done.status, done.out) == (2, b"")
    assert done.err == "ctx get: %s: these lines have changed: read the file again: %s\n" % (wanted, address)
    live("a.py", b"new\n" + b"".join(LINES[2:5] + LINES[:9]))
    done = call("get", wanted)
    assert (done.status, done.out) == (2, b"")
    assert "ambiguous" in done.err and ":2-4@" in done.err and ":7-9@" in done.err
    live("a.py", b"".join(LINES + LINES))
    assert call("get", wanted).status == 0  # in place: that there are others does not matter
    live("a.py", b"")
    assert call("get", wanted).status == 2
    os.unlink("a.py")
    assert "no such file" in call("get", wanted).err


def test_line_ends_may_change(live, call):
    live("a.py", b"".join(LINES).replace(b"\n", b"\r\n"))
    assert call("get", anchored("a.py", 3, 5)).out == b"line 3\r\nline 4\r\nline 5\r\n"


def test_100000_equal_lines(live, call):
    live("same", b"same\n" * 100_000)
    lines = [b"same"] * 100_000
    assert call("get", anchored("same", 500, 510, lines)).out == b"same\n" * 11
    wanted = anchored("same", 99_999, 100_000, lines)
    live("same", b"same\n" * 99_999)
    assert "ambiguous" in call("get", wanted).err
    live("same", b"same\n" * 2 + b"other\n" * 99_999)
    assert "now at %s" % wanted.replace("99999-100000", "1-2") in call("get", wanted).err


def test_changed_between_two_reads(live, call):
    data = b"".join(b"line %d of the file\n" % i for i in range(5000))
    live("log", data)
    (line,) = call("get", "repo:log").next
    words = shlex.split(line)[2:]
    live("log", b"one more\n" + data)
    done = call(*words)
    assert "moved: now at" in done.err and data.find(done.out) > 0
    live("log", data.replace(b"4000", b"FOUR"))
    done = call(*words)
    assert done.status == 2 and "these lines have changed" in done.err
    live("log", b"x" * 50_000)
    (line,) = call("get", "repo:log").next
    words = shlex.split(line)[2:]
    assert call(*words).status == 0
    live("log", b"x" * 49_999 + b"y")
    done = call(*words)
    assert done.status == 2 and "these bytes have changed" in done.err


def test_paths(live, call, workspace, tmp_path, monkeypatch):
    live("src/auth.py", b"auth\n")
    live(".git/config", b"secret\n")
    (tmp_path / "outside").write_bytes(b"outside\n")
    (workspace / "inside.py").symlink_to("src/auth.py")
    (workspace / "out.py").symlink_to("../outside")
    (workspace / "up").symlink_to("..")
    (workspace / "loop").symlink_to("loop")
    (workspace / "gone").symlink_to("missing")
    (workspace / "git").symlink_to(".git")
    os.mkfifo(str(workspace / "fifo"))
    for path in ("src/auth.py", "inside.py", "src/../src/auth.py", "./src/auth.py", "src//auth.py", str(workspace / "src/auth.py")):
        done = call("get", "repo:" + path)
        assert (done.status, done.out) == (0, b"auth\n"), path
        assert "this is repo:%s:1-1@" % ("inside.py" if path == "inside.py" else "src/auth.py") in done.err
    for path, says in (
        ("../outside", "leads outside the workspace: name a file below %s" % workspace),
        (str(tmp_path / "outside"), "leads outside the workspace"),
        ("/etc/passwd", "leads outside the workspace"),
        ("out.py", "leads outside the workspace"),
        ("up/outside", "leads outside the workspace"),
        ("src/../../outside", "leads outside the workspace"),
        (".git/config", "git's own files"),
        ("git/config", "git's own files"),
        (".GIT/config", "git's own files"),
        ("src", "is a directory: name a file"),
        (".", "is a directory"),
        ("fifo", "not a regular file"),
        ("src/auht.py", "no such file or directory: did you mean repo:src/auth.py?"),
        ("xyzzy", "check the path; it is relative to %s" % workspace),
        ("gone", "no such file"),
        ("src/auth.py/x", "not a directory"),
        ("loop", "symbolic links"),
        ("a\0b", "not a file name"),
        ("x" * 300, "file name too long"),
    ):
        done = call("get", "repo:" + path)
        assert (done.status, done.out) == (2, b""), path
        assert says in done.err and done.err.count("\n") == 1, (path, done.err)
    monkeypatch.chdir(workspace / "src")
    monkeypatch.setenv("PWD", str(workspace / "src"))
    assert call("get", "repo:src/auth.py").status == 0
    assert "did you mean repo:src/auth.py?" in call("get", "repo:auth.py").err


def test_a_workspace_reached_by_a_link(live, call, workspace, tmp_path, monkeypatch):
    live("a.py", b"a\n")
    (tmp_path / "link").symlink_to(workspace)
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    for path in ("a.py", str(workspace / "a.py"), str(tmp_path / "link" / "a.py")):
        assert call("get", "repo:" + path).out == b"a\n"


def test_a_file_that_cannot_be_read(live, call, monkeypatch):
    address = live("a.py", b"a\n")
    os.chmod("a.py", 0)
    if os.getuid() == 0:  # may read everything
        real = os.open

        def refuse(path, *rest, **more):
            if os.fsdecode(path).endswith("a.py"):
                raise PermissionError(13, "Permission denied")
            return real(path, *rest, **more)

        monkeypatch.setattr(ctx.posix, "open", refuse)
    assert call("get", address).err == "ctx get: repo:a.py: permission denied: make it readable\n"


def test_no_workspace(call, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    monkeypatch.setenv("PWD", "/")
    assert "there is no workspace here" in call("get", "repo:etc/passwd").err


def test_a_large_live_file_that_shrinks_while_it_is_read(live, workspace):
    live("log", b"line\n" * (ctx.SNAPSHOT // 4))
    place = ctx.live_place("log")
    assert place.source.read(0, 5) == b"line\n"
    (workspace / "log").write_bytes(b"")
    with pytest.raises(ctx.CtxError, match="changed while it was read"):
        place.source.read(0, 5)


@given(
    st.lists(st.sampled_from([b"a", b"b", b""]), min_size=1, max_size=12),
    st.lists(st.sampled_from([b"a", b"b", b""]), max_size=12),
    st.data(),
)
def test_an_anchor_finds_its_lines_or_refuses(before, after, data):
    first = data.draw(st.integers(1, len(before)))
    last = data.draw(st.integers(first, len(before)))
    wanted = ctx.Lines(first, last, ctx.anchor_of(before[first - 1 : last]))
    count = last - first + 1
    spots = [i + 1 for i in range(len(after) - count + 1) if after[i : i + count] == before[first - 1 : last]]
    place = place_of(b"".join(line + b"\n" for line in after), True)
    try:
        found = ctx.follow(place, wanted)
    except ctx.CtxError as error:
        assert first not in spots and len(spots) != 1
        assert ("ambiguous" if spots else "have changed") in str(error)
    else:
        assert found.first == (first if first in spots else spots[0])
        assert found.last - found.first + 1 == count
        assert place.remarks == (
            [] if first in spots else ["moved: now at %s" % place.address.at(found.first, found.last, wanted.anchor)]
        )


# ── secrets


def hidden(page):
    """No part of the secrets that is worth anything stands on a page."""
    return TOKEN[4:14] not in page and TOKEN[-10:] not in page and b"MIIEpAIB" not in page and b"cds3xfn" not in page


def test_a_page_with_a_secret_says_so(stored, call):
    address = stored(b"before\ntoken=" + TOKEN + b"\nafter\n")
    done = call("get", address)
    assert done.status == 3
    assert re.fullmatch(rb"before\ntoken=\[redacted:[a-z-]+:[0-9a-f]{6}\]\nafter\n", done.out)
    assert done.err == "ctx get: 1 secret redacted: this is not the stored text\n"
    done = call("get", address, "--lines", "3")
    assert (done.status, done.out, done.err) == (0, b"after\n", "")
    assert call("get", address, "--json").status == 3
    assert json.loads(call("get", address, "--json").out)["redacted"] == 1
    done = call("get", address, "--grep", "token")
    assert done.status == 3 and hidden(done.out)


def test_raw_where_it_is_allowed(stored, call, setting):
    data = b"token=" + TOKEN + b"\n"
    address = stored(data * 500)
    assert call("get", address, "--raw").status == 2
    setting("redact", "raw", True)
    done = call("get", address, "--raw")
    assert done.status == 0 and done.out.startswith(data)
    assert done.next[0].endswith(" --raw")
    assert call("get", address).status == 3


def test_a_secret_cut_by_bytes_shows_no_part_of_itself(stored, call):
    data = b"x" * 50 + b" token=" + TOKEN + b" " + b"y" * 50 + b"\nnext line\n"
    address, start = stored(data), data.index(TOKEN)
    for first in (0, start - 1, start, start + 1, start + 20, start + 39):
        for last in (start + 1, start + 20, start + 39, start + 40, start + 41, len(data) - 12, len(data)):
            if first < last:
                done = call("get", address, "--bytes", "%d:%d" % (first, last))
                touches = first < start + len(TOKEN) and last > start
                assert done.status == (3 if touches else 0), (first, last)
                assert hidden(done.out)
                assert done.out.count(b"[redacted") == touches
                shown = data[first:last].replace(TOKEN[max(0, first - start) : last - start], b"") if touches else data[first:last]
                assert re.sub(rb"\[redacted[^]]*\]", b"", done.out) == shown


@pytest.mark.parametrize("before", [0, 1, 700, 5000, 64 * 1024])
def test_a_private_key_is_hidden_from_every_page_of_it(stored, call, shell, before):
    data = b"other line\n" * before + KEY + b"MIIE is no key\n" * 3
    pages = all_pages(call, shell, stored(data))
    out = b"".join(page.out for page in pages)
    assert hidden(out)
    assert out.count(b"\n") == data.count(b"\n")
    assert out.endswith(b"MIIE is no key\n" * 3) and out.startswith(b"other line\n" * before)
    assert all(page.status == (3 if b"[redacted" in page.out else 0) for page in pages)


def test_any_piece_of_a_private_key_is_hidden(stored, call):
    data = b"before\n" + KEY + b"after\n"
    address = stored(data)
    for options in (
        ["--lines", "900:905"],
        ["--tail", "5"],
        ["--bytes", "3000:3010"],
        ["--bytes", "60003:70007"],
        ["--bytes", "4000:4130"],
    ):
        done = call("get", address, *options)
        assert done.status == 3 and hidden(done.out) and b"0\n" not in done.out, options
    assert call("get", address, "--lines", "1:1").status == 0
    assert call("get", address, "--tail", "1").out == b"after\n"


SECRET_LINES = st.lists(
    st.sampled_from([b"a", b"some text", b"x" * 500, b"t=" + TOKEN, TOKEN + b" " + TOKEN, "ü€".encode() * 40, b""]),
    min_size=1,
    max_size=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(SECRET_LINES, st.integers(100, 300), st.integers(0, 60))
def test_pages_with_secrets_keep_their_budget_and_everything_else(lines, budget, first):
    data = b"\n".join(lines)
    assume(first < len(data))
    source, start, out = ctx.Source.of_bytes("output", data), first, b""
    while start < len(data):
        page = ctx.page_of(source, start, len(data), budget)
        assert ctx.estimate_tokens(page.data) <= budget
        assert (page.secrets > 0) == (b"[redacted" in page.data) == (page.data != data[page.start : page.end])
        out += page.data
        start = page.end
    assert hidden(out)
    expected = data.replace(TOKEN, b"\xfe" * len(TOKEN))[first:].replace(b"\xfe", b"")
    assert re.sub(rb"\[redacted[^]]*\]", b"", out) == expected


def test_marks_longer_than_their_secrets(stored, call, shell):
    data = b"".join(b"password=Xy7#%dq!\n" % i for i in range(3000))
    pages = all_pages(call, shell, stored(data))
    sizes = [ctx.estimate_tokens(page.out) for page in pages]
    assert all(page.status == 3 and b"=[redacted:password:" in page.out and b"=Xy7" not in page.out for page in pages)
    assert sum(page.out.count(b"\n") for page in pages) == 3000
    assert max(sizes) <= ctx.BUDGET_PAGE and min(sizes[:-1]) > ctx.BUDGET_PAGE * 0.6


def test_all_of_it_at_once(stored, call):
    lines = [b"line %d " % i + (TOKEN if i % 5000 == 7 else b"text") + b"\n" for i in range(60_000)]
    done = call("get", stored(b"".join(lines)), "--all")
    assert done.status == 3 and hidden(done.out) and done.out.count(b"[redacted") == 12 and not done.next
    assert re.sub(rb"\[redacted[^]]*\]", TOKEN, done.out) == b"".join(lines)
    assert done.err == "ctx get: 12 secrets redacted: this is not the stored text\n"


# ── lists of runs


def test_runs(stored, call, workspace, monkeypatch):
    done = call("runs")
    assert (done.status, done.out) == (1, b"") and "nothing was captured in this workspace" in done.err
    handles = [stored(b"%d\n" % i * i)[:16] for i in range(1, 5)]
    done = call("runs")
    assert [line.split()[0].decode() for line in done.out.splitlines()] == handles[::-1]
    assert [row["handle"] for row in json.loads(call("runs", "--json").out)] == handles[::-1]
    assert len(call("runs", "-n", "2").out.splitlines()) == 2
    (row,) = json.loads(call("runs", "--json", "-n", "1").out)
    assert (row["bytes"], row["outcome"], row["command"]) == (8, "exit 0", "file")
    (workspace.parent / "other").mkdir()
    monkeypatch.chdir(workspace.parent / "other")
    monkeypatch.setenv("PWD", str(workspace.parent / "other"))
    assert call("runs").status == 1
    assert len(call("runs", "--all").out.splitlines()) == 4


def test_a_run_that_is_not_over(workspace, call):
    spool = ctx.open_spool("run", ["make", "it"], ctx.default_settings())
    spool.write("output", memoryview(b"so far\n"))
    (row,) = json.loads(call("runs", "--json").out)
    assert (row["handle"], row["outcome"], row["bytes"], row["command"]) == ("run:" + spool.alias, "running", 7, "make it")
    done = call("get", row["handle"] + "#output")
    assert (done.out, done.err) == (b"so far\n", "ctx get: this output is partial: running\n")
    spool.discard()


def test_a_command_line_is_listed_safely(workspace, call):
    argv = ["curl", "-H", "Authorization: Bearer " + TOKEN.decode(), "a\nb\x1b[31m", "it's", "x" * 500]
    spool = ctx.open_spool("run", argv, ctx.default_settings())
    spool.write("output", memoryview(b"1\n"))
    spool.commit(["output"], None, "killed")
    spool.discard()
    done = call("runs")
    assert done.out.count(b"\n") == 1 and b"\x1b" not in done.out and hidden(done.out) and b"partial" in done.out
    assert len(done.out) < 400
