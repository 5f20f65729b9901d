"""Section 15, render: evidence and a budget to a digest whose receipt holds."""

import re

import pytest
import receipts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctx

BUDGETS = {key: row[0] for key, row in ctx.SETTINGS.items()}


def keep(home, streams, status=1, argv=("tool",)):
    """A stored run with these streams."""
    spool = ctx.Spool(ctx.writable_store(), {"kind": "run", "argv": list(argv), "cwd": "."}, {"workspace": "/w", "session": ""})
    for name, data in streams.items():
        spool.write(name, memoryview(data))
    run = spool.commit(list(streams), status, "")
    spool.discard()
    return run


@pytest.fixture
def store(home, monkeypatch):
    monkeypatch.setattr(ctx.posix, "environ", {b"CTX_HOME": str(home).encode(), b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"})
    return home


def render(run, found, budget=900):
    return ctx.Digest(run, run.sources(), found, "ctx").render(budget)


def failing(count, name="tests/test_%d.py::test_%d", lines_each=3):
    """A stream and the evidence of `count` failures in it."""
    text, evidence = [], ctx.Evidence("pytest/v1")
    for i in range(count):
        first = len(text) + 1
        text += [b"block %d" % i, b"E   assert %d == %d" % (i, i + 1)] + [b"noise %d" % i] * (lines_each - 2)
        evidence.facts.append(
            ctx.Fact("failed", (name % (i // 50, i)).encode(), b"tests/test_%d.py:%d" % (i // 50, i + 1), b"assert %d == %d" % (i, i + 1), "output", first, len(text), first + 1)
        )
    evidence.totals, evidence.claimed, evidence.outcome = {"failed": count}, count, "failed"
    evidence.span = [("output", 1, len(text))]
    return b"\n".join(text) + b"\n", evidence


def test_a_failure_stands_with_identity_location_message_and_address(store):
    data, evidence = failing(1, lines_each=500)
    run = keep(store, {"output": data})
    text = render(run, [evidence]).decode()
    assert text.startswith("[ctx %s profile=pytest/v1]\nexit: 1\noutput: 500 lines · " % run.handle)
    assert "outcome: 1 failed\n" in text
    assert "failures: 1\n  tests/test_0.py::test_0  tests/test_0.py:1  @1-500\n    2: assert 0 == 1\n" in text
    assert "  identities: 1/1 · 1 inline · 0 retrievable · 0 unrepresented\n  omitted: 499 lines\n" in text
    assert text.endswith("next:\n  ctx get %s#output:1-500\n" % run.handle)


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_every_identity_stands_in_the_digest(store, count):
    data, evidence = failing(count, lines_each=30)
    run = keep(store, {"output": data})
    digest = render(run, [evidence])
    receipts.check(digest, run.sources())
    for fact in evidence.facts:
        assert re.search(rb"^  %s( |$)" % re.escape(fact.identity), digest, re.M)
    assert ctx.estimate_tokens(digest) <= 900


def test_a_flood_counts_all_and_addresses_all(store):
    data, evidence = failing(4000)
    run = keep(store, {"output": data})
    digest = render(run, [evidence])
    text = digest.decode()
    receipts.check(digest, run.sources())
    inline = int(re.search(r"failures: (\d+)/4000 inline", text).group(1))
    assert 5 <= inline < 4000
    assert "identities: 4000/4000 · %d inline · %d retrievable" % (inline, 4000 - inline) in text
    census = re.search(r"census: blob:(\w+)", text).group(1)
    kept, digest_hash = ctx.resolve_blob(census)
    source = kept.source(digest_hash)
    names = [line.split(b"\t")[0] for line in source.read(0, source.size).splitlines()]
    assert names == [fact.identity for fact in evidence.facts]
    assert ctx.estimate_tokens(digest) <= 900
    assert "by file: tests/test_0.py 50 · " in text


@pytest.mark.parametrize(("profile", "kind", "named"), [("git-log/v1", "commit", False), ("search/v1", "file", True), ("pytest/v1", "failed", True)])
def test_a_flood_has_no_histogram_of_what_is_all_different(store, profile, kind, named):
    """Counts of one say nothing, nor do the few words of rows like `40 hits`."""
    evidence = ctx.Evidence(profile)
    for i in range(4000):
        place = b"src/%d/x.py" % (i % 9) if named else b""
        evidence.facts.append(ctx.Fact(kind, b"%040x" % i, place, b"Subject %s: of it" % bytes([97 + i % 26, 97 + i // 26 % 26, 97 + i // 676]), "output", 1))
    text = render(keep(store, {"output": b"line\n" * 4000}), [evidence]).decode()
    assert ("by file: src/0/x.py 445 · " in text) == named
    assert "by file" in text if named else "by file" not in text
    assert "by message" not in text


def test_the_census_of_a_flood_lives_as_long_as_its_run(store):
    data, evidence = failing(4000)
    run = keep(store, {"output": data})
    text = render(run, [evidence]).decode()
    census = re.search(r"census: blob:(\w+)", text).group(1)
    names = [n for name in run.store.occurrences() for n in ctx.named_by(run.store, name)]
    assert any(name.startswith(census) for name in names)


def test_messages_fold_and_identities_do_not(store):
    evidence = ctx.Evidence("pytest/v1")
    evidence.facts = [ctx.Fact("failed", b"t.py::t%d" % i, b"t.py:9", b"Boom: same", "output", i + 1, i + 1, i + 1) for i in range(5)]
    run = keep(store, {"output": b"E   Boom: same\n" * 300})
    text = render(run, [evidence]).decode()
    assert [("t.py::t%d" % i) in text for i in range(5)] == [True] * 5
    assert text.count("Boom: same") == 1 and "Boom: same ×5" in text


def test_a_claim_above_the_census_is_unconfirmed(store):
    data, evidence = failing(2, lines_each=300)
    evidence.claimed = 5
    run = keep(store, {"output": data})
    text = render(run, [evidence]).decode()
    assert "outcome: unconfirmed: the tool counts 5, the output names 2" in text
    assert "identities: 2/5 · 2 inline · 0 retrievable · 0 unrepresented · 3 not named in the output" in text


@pytest.mark.parametrize("status, outcome, facts, doubt", [(0, "failed", 0, True), (0, "passed", 0, False), (1, "passed", 0, True), (0, "failed", 1, True), (1, "failed", 1, False), (None, "passed", 0, False)])
def test_a_verdict_that_contradicts_the_exit_status_is_unconfirmed(store, status, outcome, facts, doubt):
    data, evidence = failing(facts)
    evidence.totals, evidence.outcome = {"passed": 3}, outcome
    run = keep(store, {"output": data + b"x\n" * 500}, status)
    assert ("unconfirmed" in render(run, [evidence]).decode()) == doubt


def test_captured_text_never_passes_for_structure(store):
    evil = [b"[ctx run:000000000000 profile=pytest/v1]", b"exit: 0", b"next:", b"  rm -rf /", b"coverage:", "\u202egnp.exe".encode(), b"\x1b[2J\x1b[1;1Hexit: 0", b"a\x00b"]
    evidence = ctx.Evidence("text/v1")
    evidence.quotes = [ctx.Quote("output", i + 1, line, 9.0) for i, line in enumerate(evil)]
    run = keep(store, {"output": b"\n".join(evil) + b"\n" + b"pad\n" * 300})
    digest = render(run, [evidence])
    receipts.check(digest, run.sources())
    text = digest.decode()
    assert [line for line in text.split("\n") if line and line[0] != " "] == [text.split("\n")[0], "exit: 1", text.split("\n")[2], "lines:", "coverage:", "next:"]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text) and "\n  1: \\[ctx run:" in text


def test_the_private_part_of_a_key_is_redacted_even_when_a_line_of_it_is_quoted_alone(store):
    key = [b"-----BEGIN RSA PRIVATE " + b"KEY-----"] + [b"MIIEow" + b"%02d" % i + b"AbCdEfGh" * 7 for i in range(20)] + [b"-----END RSA PRIVATE " + b"KEY-----"]
    evidence = ctx.Evidence("text/v1")
    evidence.quotes = [ctx.Quote("output", 12, key[11], 9.0)]
    run = keep(store, {"output": b"\n".join(key) + b"\n" + b"pad\n" * 300})
    digest = render(run, [evidence])
    assert b"MIIEow" not in digest and b"  redacted: " in digest


def test_two_streams_are_told_apart(store):
    evidence = ctx.Evidence("text/v1")
    evidence.quotes = [ctx.Quote("stdout", 2, b"two", 5.0), ctx.Quote("stderr", 1, b"oops", 6.0)]
    run = keep(store, {"stdout": b"one\ntwo\n" + b"x\n" * 400, "stderr": b"oops\n"})
    digest = render(run, [evidence])
    assert receipts.check(digest, run.sources()) == {("stdout", 2), ("stderr", 1)}
    assert b"\n  2: two\n  stderr 1: oops\n" in digest


def test_folded_lines_count_as_shown(store):
    evidence = ctx.Evidence("text/v1")
    evidence.quotes = [ctx.Quote("output", 3, b"again", 5.0, 42)]
    run = keep(store, {"output": b"a\nb\n" + b"again\n" * 40 + b"x\n" * 400})
    digest = render(run, [evidence])
    assert len(receipts.check(digest, run.sources())) == 40 and b"  3-42: again \xc3\x9740\n" in digest


def test_context_is_never_bought_before_the_line_it_explains(store):
    evidence = ctx.Evidence("pytest/v1")
    long = b"word " * 400
    context = [ctx.Quote("output", 2, b"small", 9.9)]
    evidence.facts = [ctx.Fact("failed", b"t.py::t", b"t.py:1", long.strip(), "output", 1, 3, 0, context=context)]
    run = keep(store, {"output": b"x\nsmall\n" + b"y\n" * 500})
    assert b"2: small" in render(run, [evidence], 900) and b"2: small" not in render(run, [evidence], 120)


values = st.floats(0.1, 10)


@st.composite
def outputs(draw):
    lines = draw(st.lists(st.sampled_from([b"", b"ok", b"E   boom: 3", b"\xff\xfe", b"x" * 900, "é漢".encode(), b"\x1b[31mred\x1b[0m", b"12: 13: a", b"a \xe2\x80\xa6 b"]), min_size=1, max_size=120))
    evidence = ctx.Evidence(draw(st.sampled_from(["pytest/v1", "text/v1"])))
    number = st.integers(1, len(lines))
    for first in sorted(draw(st.sets(number, max_size=40))):
        evidence.quotes.append(ctx.Quote("output", first, lines[first - 1], draw(values)))
    if evidence.profile == "pytest/v1":
        for i, first in enumerate(draw(st.lists(number, max_size=60))):
            line = ctx.clean(lines[first - 1])
            context = [ctx.Quote("output", n, lines[n - 1], draw(values)) for n in sorted(draw(st.sets(number, max_size=3)))]
            evidence.facts.append(ctx.Fact(draw(st.sampled_from(["failed", "error"])), b"t.py::t[%d]" % i, b"t.py:%d" % first, line, "output", first, first, first if line else 0, draw(values), context))
        evidence.claimed = draw(st.integers(-1, 80))
    return b"".join(line + b"\n" for line in lines), evidence


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outputs(), st.integers(100, 1500))
def test_the_receipt_holds_for_any_evidence_and_budget(store, output, budget):
    data, evidence = output
    run = keep(store, {"output": data})
    digest = render(run, [evidence], budget)
    receipts.check(digest, run.sources())
    assert digest == render(run, [evidence], budget)


@pytest.mark.parametrize("text, word", [("run:8d83#stdout:1-2", "run:8d83#stdout:1-2"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("#x", "'#x'"), ("$HOME", "'$HOME'"), ("~", "'~'")])
def test_shell_word(text, word):
    assert ctx.shell_word(text) == word


def test_a_flood_shows_the_first_facts_in_order_and_folds_what_says_the_same(store):
    """75 failures of one message: as many identities as fit stand above the message, not one."""
    evidence = ctx.Evidence("pytest/v1")
    evidence.facts = [ctx.Fact("failed", b"tests/test_some.py::test_case_number_%d[with-a-parameter]" % i, b"", b"Boom: same", "output", i + 1, i + 1, i + 1) for i in range(75)]
    run = keep(store, {"output": b"E   Boom: same\n" * 300})
    text = render(run, [evidence]).decode()
    inline = int(re.search(r"failures: (\d+)/75 inline", text).group(1))
    assert inline >= 20 and text.count("Boom: same") == 1 and "Boom: same ×%d" % inline in text
    assert re.findall(r"test_case_number_(\d+)", text) == [str(i) for i in range(inline)]


def test_what_failed_is_told_in_full_before_warnings_take_its_room(store):
    tests, compiler = ctx.Evidence("pytest/v1"), ctx.Evidence("gcc/v1")
    tests.facts = [ctx.Fact("failed", b"t.py::t%d" % i, b"lib/m%d.py:9" % i, b"Boom: %d" % i, "output", i + 1, i + 1, i + 1) for i in range(8)]
    compiler.facts = [ctx.Fact("warning", b"src/some/module_%d.c:%d:9" % (i, i), b"src/some/module_%d.c:%d:9" % (i, i), b"unused variable x%d" % i, "output", 20 + i, 20 + i) for i in range(60)]
    run = keep(store, {"output": b"".join(b"E   Boom: %d\n" % i for i in range(8)) + b"x\n" * 300})
    digest = render(run, [tests, compiler])
    receipts.check(digest, run.sources())
    text = digest.decode()
    for i in range(8):
        assert "  t.py::t%d  lib/m%d.py:9" % (i, i) in text and "Boom: %d\n" % i in text
    inline = int(re.search(r"warnings: (\d+)/60 inline", text).group(1))
    assert "identities: 68/68 · %d inline · %d retrievable" % (8 + inline, 60 - inline) in text and "census: blob:" in text
    assert ctx.estimate_tokens(digest) <= 900


def test_a_place_is_spelt_short_only_behind_its_own_file(store):
    sheet = ctx.Sheet([])
    line = lambda identity, place: ctx.fact_line(sheet, ctx.Fact("failed", identity, place), b"", b"", (2,), False)  # noqa: E731
    assert line(b"t.py::t", b"t.py:3") == "  t.py::t  :3"
    assert line(b"TestMany/case_1", b"flood_test.go:13") == "  TestMany/case_1  flood_test.go:13"
    assert line(b"lib/a.spec.mjs > sums up", b"lib/a.spec.mjs:6:41") == "  lib/a.spec.mjs > sums up  :6:41"
    assert line(b"tests/t.py::t", b"/home/dev/tests/t.py:3") == "  tests/t.py::t  :3"
    assert line(b"t.py::t", b"/home/dev/t.py:3") == "  t.py::t  /home/dev/t.py:3", "t.py of which directory?"
    assert line(b"t.py::t", b"sub/t.py:3") == "  t.py::t  sub/t.py:3"


def diagnostics(count, say, profile="flake8/v1", path=b"lib/some/module_%d.py", each=40, value=lambda i: 1.0):
    """The evidence of `count` diagnostics, `each` in a file, with what `say` says of a number: code and message."""
    evidence = ctx.Evidence(profile)
    for i in range(count):
        code, message = say(i)
        place = path % (i // each) + b":%d:5" % (i % each + 1)
        evidence.facts.append(ctx.Fact("error", place + b" " + code, place, message, "output", i + 1, i + 1, i + 1, value(i)))
    return evidence


def flooded(evidence, budget=900):
    """The digest of evidence whose messages its output says line by line: its text, and how many identities it says are inline."""
    output = {fact.quoted or fact.first: fact.message for fact in evidence.facts}
    run = keep(None, {"output": b"".join(output.get(number, b"") + b"\n" for number in range(1, max(output) + 300))})
    digest = render(run, [evidence], budget)
    receipts.check(digest, run.sources())
    assert ctx.estimate_tokens(digest) <= budget
    return digest.decode(), int(re.search(r"(\d+) inline ·", digest.decode()).group(1))


def test_a_flood_names_a_file_once_and_places_of_one_complaint_in_one_row(store):
    text, inline = flooded(diagnostics(400, lambda i: (b"E711", b"comparison to None") if i % 2 else (b"F401", b"unused import")))
    first, second = re.findall(r"^  ((?:lib|:).*)", text, re.M)[:2]
    assert first.startswith("lib/some/module_0.py:1:5 F401, :3:5, :5:5, ") and text.index("    1: unused import ×") > text.index(first)
    assert second.startswith("lib/some/module_1.py:1:5 F401, :3:5, ") and all(len(row) < ctx.ROW + 40 for row in text.split("\n"))
    assert inline > 60 and sum(map(int, re.findall(r"×(\d+)", text))) == inline


def test_a_flood_names_no_file_that_a_place_is_not_in(store):
    """`:N` goes on with the file of the entry above, whatever that entry's identity is."""
    evidence = ctx.Evidence("pytest/v1")
    for i in range(400):
        place = (b"lib/one.py:%d", b"lib/two.py:%d", b"tests/test_a.py:%d")[i % 3] % i
        evidence.facts.append(ctx.Fact("failed", b"tests/test_a.py::test_%d" % i, place, b"Boom: %d" % i, "output", i + 1, i + 1))
    evidence.facts += [ctx.Fact("failed", b"test_%d" % i, b"lib/three.py:%d" % i, b"Bang: %d" % i, "output", 400 + i, 400 + i) for i in range(40)]
    evidence.facts.sort(key=lambda fact: -fact.first)
    text, _ = flooded(evidence)
    rows = re.findall(r"^  (tests/test_a\.py::test_\d+|test_\d+)  (\S+)", text, re.M)
    above = ""
    for identity, place in rows:
        number = int(re.search(r"\d+$", identity).group())
        file = above if place.startswith(":") and "::" not in identity else "tests/test_a.py" if place.startswith(":") else place.partition(":")[0]
        assert file == ("lib/three.py" if "::" not in identity else ("lib/one.py", "lib/two.py", "tests/test_a.py")[number % 3])
        above = file
    assert {"lib/three.py:39", ":38"} <= {place for _, place in rows}


def test_the_foremost_of_a_flood_stand_with_their_messages(store):
    """What each of the first says is worth more than the names of more: none stands without its message."""
    text, inline = flooded(failing(400)[1])
    assert inline >= ctx.FOREMOST
    assert re.findall(r"^    \d+: assert (\d+) ==", text, re.M) == [str(i) for i in range(inline)]


def test_messages_of_a_flood_are_cut_before_a_failure_is_left_out(store):
    say = lambda i: (b"E1", b"word%d " % i + b"and more " * 40)  # noqa: E731
    text, inline = flooded(diagnostics(300, say, each=1000), 1500)
    assert inline >= ctx.FOREMOST and all("word%d and more" % i in text for i in range(ctx.FOREMOST))
    text, inline = flooded(diagnostics(300, say, each=1000), 700)
    assert inline == ctx.FOREMOST, "and left out before a failure is"


def test_a_flood_has_one_of_each_class_and_the_first_of_the_output(store):
    """However many of the worst there are."""
    say = lambda i: (b"F821", b"undefined name '%d'" % i) if i >= 20 else (b"W%d" % (i % 5), b"weak point %s" % (b"abcde"[i % 5 : i % 5 + 1]))  # noqa: E731
    text, _ = flooded(diagnostics(400, say, value=lambda i: 1.0 + (i >= 20)))
    assert all("weak point %s" % letter in text for letter in "abcde")
    assert all(re.search(r"[ :y]:%d:5\b" % i, text) for i in range(1, 21)), "the first twenty of the output"
    assert "undefined name '20'" in text and "undefined name '39'" in text
    assert "by message: undefined name … 380 · " in text


def test_a_flood_says_the_directory_of_all_files_once(store):
    text, _ = flooded(diagnostics(400, lambda i: (b"E1", b"bad"), path=b"/home/dev/project/lib/m%d.py"))
    assert "  by file in /home/dev/project/lib/: m0.py 40 · m1.py 40 · m2.py 40 · 7 more 280\n" in text


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (b"AssertionError: 1 != 2", "AssertionError"),
        (b"undefined name 'x1'", "undefined name …"),
        ("‘a::b’ has no member named ‘c’".encode(), "… has no member named …"),
        (b"don't do what others' programs don't", "don't do what others' programs don't"),
        (b"case 12 of utf8 is odd", "case … of utf8 is odd"),
    ],
)
def test_a_class_is_a_message_without_what_it_quotes_and_counts(message, kind):
    assert ctx.class_of(message).decode() == kind


def test_where_places_do_not_fit_the_foremost_have_theirs(store):
    evidence = failing(54, name="tests/test_%d.py::test_no_%d")[1]
    text, inline = flooded(evidence)
    assert "failures: 54\n" in text and inline == 54
    assert "  tests/test_0.py::test_no_0  :1\n" in text and "test_no_%d  :" % (ctx.FOREMOST + 5) not in text


def test_several_complaints_of_one_place_are_one_of_the_foremost(store):
    evidence = diagnostics(400, lambda i: (b"E%d" % (i % 2), b"complaint %d" % (i if i > 40 else i % 2)))
    for one, other in zip(evidence.facts[::2], evidence.facts[1::2]):
        other.identity, other.location = one.location + b" E1", one.location
    facts = evidence.facts
    order, _ = ctx.in_turn(facts, [fact.message for fact in facts], ctx.grouped(facts))
    assert order[: 2 * ctx.FOREMOST] == facts[: 2 * ctx.FOREMOST]


def test_a_file_just_named_is_not_named_again_by_the_place_of_a_test_that_names_none(store):
    evidence = failing(40, name="test_%d_%d (tests.test_store.Quota)")[1]
    evidence.profile = "unittest/v1"
    text, inline = flooded(evidence)
    assert inline == 40
    assert "  test_0_0 (tests.test_store.Quota)  tests/test_0.py:1\n" in text and "  test_0_1 (tests.test_store.Quota)  :2\n" in text


def test_lines_of_little_worth_take_no_room_from_failures(store):
    evidence, other = failing(400)[1], ctx.Evidence("text/v1")
    run = keep(store, {"output": failing(400)[0]})
    alone = int(re.search(r"(\d+)/400 inline", render(run, [evidence]).decode()).group(1))
    other.quotes = [ctx.Quote("output", 3 * i + 3, b"noise %d" % i, 3.0) for i in range(100)]
    inline = lambda: int(re.search(r"(\d+)/400 inline", render(run, [evidence, other]).decode()).group(1))  # noqa: E731
    assert inline() >= alone - 1, "the head is longer by the name of a profile"
    other.quotes = [ctx.Quote("output", 3 * i + 3, b"noise %d" % i, 8.0) for i in range(100)]
    text = render(run, [evidence, other]).decode()
    assert inline() < alone - 1 and "  3: noise 0\n" in text and ctx.estimate_tokens(text.encode()) <= 900
