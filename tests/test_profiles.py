"""[profile.NAME]: what users may write, that it is told where it is wrong, that no expression hangs, and that a workspace's is not used
before it is trusted."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctx

pytest_plugins = ["places"]

needs_toml = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
ROOT = Path(__file__).resolve().parent.parent

TABLE = {
    "match": ["mytool:"],
    "identities": [r"^(?P<path>[^:\n]+):(?P<line>\d+): mytool: (?P<severity>\w+): (?P<message>.*)$"],
    "severity": {"bad": "error", "meh": "warning"},
    "summary": [r"^mytool: (?P<errors>\d+) bad, (?P<warnings>\d+) meh"],
    "success": "^mytool: all well",
}
TEXT = r"""
[profile.mytool]
match = ["mytool:"]
identities = ['^(?P<path>[^:]+):(?P<line>\d+): mytool: (?P<severity>\w+): (?P<message>.*)$']
severity = { bad = "error", meh = "warning" }
summary = ['^mytool: (?P<errors>\d+) bad, (?P<warnings>\d+) meh']
success = "^mytool: all well"
"""
SAMPLE = b"starting\na.x:3: mytool: bad: no\n\nb.x:4: mytool: meh: hm\nmytool: 1 bad, 1 meh\n"


@pytest.fixture
def sample(monkeypatch, tmp_path):
    """sample(bytes) is what stdin holds."""

    def give(data):
        path = tmp_path / "sample"
        path.write_bytes(data)
        monkeypatch.setattr(ctx, "open_input", lambda name: ctx.posix.open(str(path), ctx.posix.O_RDONLY))

    return give


def mistake(**change):
    """The first thing that is wrong with a changed profile: (key, what, how to mend it)."""
    return ctx.profile_mistake("mytool", {**TABLE, **change})


# ── what may be written


def test_a_good_profile_has_no_mistake():
    assert ctx.profile_mistake("mytool", TABLE)[1:] == ("", "")
    assert ctx.profile_mistake("mytool", {"match": "x", "identities": "(?P<identity>x)"})[1:] == ("", "")


@pytest.mark.parametrize(
    "change, key, words",
    [
        ({"colour": "red"}, "colour", "has no key 'colour'"),
        ({"match": []}, "match", "must be a text or a list of texts"),
        ({"match": 3}, "match", "must be a text or a list of texts"),
        ({"match": ["a", 3]}, "match", "must be a text"),
        ({"match": "x" * 201}, "match", "too large"),
        ({"match": ["x"] * 21}, "match", "too large"),
        ({"identities": ["(?P<path>("]}, "identities", "identities: missing )"),
        ({"identities": ["(?P<path>x)", "(?P<path>["]}, "identities", "identities[1]: unterminated"),
        ({"identities": ["abc"]}, "identities", "identities name no identity or path"),
        ({"identities": ["(?P<path>x)(?P<colum>y)"]}, "identities", "unknown group 'colum'"),
        ({"identities": ["(?P<message>x)"], "locations": ["(?P<path>x)"]}, "identities", "name no identity or line or path"),
        ({"locations": ["x"]}, "locations", "locations name no path"),
        ({"severity": {"bad": "awful"}}, "severity", "severity must be a table of levels by word"),
        ({"severity": {"bad": ["error"]}}, "severity", "severity must be a table"),
        ({"severity": "error"}, "severity", "severity must be a table"),
        ({"summary": ["[0-9"]}, "summary", "summary: unterminated"),
        ({"success": 3}, "success", "must be a text"),
        ({"success": "(?P=path)"}, "success", "success: "),
        ({"success": "(?i)x"}, "success", "success: "),
        ({"more": "(a+)+b"}, "more", "could take very long"),
    ],
)
def test_mistakes(change, key, words):
    where, what, fix = mistake(**change)
    assert (where, words in what, bool(fix)) == ("mytool." + key, True, True), what


def test_the_nearest_key_is_named():
    assert mistake(sumary="x")[2] == "did you mean summary?"
    assert mistake(identities="(?P<path>x)(?P<colum>y)")[2] == "did you mean col?"


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 41, "a/b", "ü", "user:x"])
def test_names(name):
    assert "no name for a profile" in ctx.profile_mistake(name, TABLE)[1]


# ── expressions that could hang


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a|a*)*",
        r".*.*x",
        r"(?:a+b?)+c",
        r"(?P<x>a+)(?P=x)",
        r".*a.*a.*b",
        r"(?:x{1,90}){1,90}y",
        r"(?:a|a)" * 14 + "b",
        r"a?" * 14 + "b",
        r"(?:a|ab)(?:c|bcd)(?:d*)(?:.*)(?:.*)x",
        r"(?:\w+\s?)+x",
        r"(?=.*.*x)y",
        r"(?i:[a-z]+[A-Z]+[a-z]+x)",
        r"[^a]*[^b]*[^c]*x",
    ],
)
def test_expressions_that_could_take_for_ever(pattern):
    assert ctx.judge_expression(pattern.encode())[0] == ctx.TOO_FREE


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<path>[^:\n]+):(?P<line>\d+):(?P<col>\d+): (?P<severity>error|warning|warn): (?P<message>.*)$",
        r"(?P<path>[^:]+):(?P<line>\d+)(?::(?P<col>\d+))?: (?P<message>.*?) \[(?P<code>[\w-]+)\]$",
        r"\s*(?P<line>\d+)\s+(?P<message>\S.*)",
        r"(?P<path>.+)\((?P<line>\d+),(?P<col>\d+)\): (?P<message>.*)",
        r"(?:\w+\.)+(?P<identity>\w+) FAILED",
        r"(?P<path>\S+) - (?P<message>.*)",
        r"https?://[^/ ]+/x{2,5}y",
        r"(?:[ab]c)*d",
    ],
)
def test_expressions_that_are_fast(pattern):
    assert ctx.judge_expression(pattern.encode())[0] == ""


PIECES = st.sampled_from(["a", "b", ".", "[^a]", "\\w", "(?:ab)", "(?:a|b)", "(?:a|ab)", "(?:a*b)"])
PARTS = st.builds(lambda piece, times: piece + times, PIECES, st.sampled_from(["", "?", "*", "+", "*?", "{0,3}"]))


def tries(pattern, text):
    """How often a matcher that tries everything, as Python's does, gets to the end of a pattern that then does not fit."""
    ends = [0]
    compiled = [re.compile(part) for part in pattern]
    count = 0
    for part in compiled:
        ends = [end for at in ends for end in range(at, len(text) + 1) if part.fullmatch(text, at, end)]
        count += len(ends)
        if count > 10**6:
            break
    return count


@given(st.lists(PARTS, min_size=1, max_size=5), st.text("ab", min_size=1, max_size=12))
def test_ways_bound_what_is_tried(parts, text):
    """Between the parts of an expression there are never more ways than were counted, times the parts."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parser = getattr(re, "_parser", None) or __import__("sre_parse")
        counted = ctx.ways(parser.parse(("".join(parts) + "X").encode()), frozenset())
    live = tries([*parts, "X"], text)
    assert live <= counted * (len(text) + 1) * len(parts)


# ── in ctx.toml


@needs_toml
@pytest.mark.parametrize(
    "text, line, says",
    [
        (TEXT + "sumary = 'x'\n", 8, "[profile.mytool] has no key 'sumary': did you mean summary?"),
        (TEXT.replace("'^mytool", "'^(mytool"), 6, "[profile.mytool] summary: missing ), unterminated"),
        ("[profile.mytool]\nmatch = 'x'\n", 1, "identities must be a text"),
        ("[profile]\nmatch = 'x'\n", 2, "'match' stands outside a profile"),
        ("[profile.'a b']\nmatch = 'x'\n", None, "'a b' is no name for a profile"),
        ("[profil.x]\nmatch = 'x'\n", 1, "unknown table [profil]: did you mean profile?"),
        ("[profile.x.severity]\na = 'b'\n[profile.x]\nmatch='x'\nidentities='(?P<path>x)'\n", 1, "severity must be"),
    ],
)
def test_a_bad_profile_is_named_with_its_line(workspace, text, line, says):
    (workspace / "ctx.toml").write_text(text)
    with pytest.raises(ctx.CtxError) as caught:
        ctx.load_config()
    assert str(caught.value).startswith("%s/ctx.toml:%s" % (workspace, "%d: " % line if line else ""))
    assert says in str(caught.value) and caught.value.exit_code == 2


@needs_toml
def test_a_bad_profile_stops_a_run_before_it_starts(workspace, run_ctx):
    (workspace / "ctx.toml").write_text(TEXT + "sumary = 'x'\n")
    done = run_ctx("run", "--", "touch", "made")
    assert (done.returncode, done.stdout) == (2, b"") and b"did you mean summary?" in done.stderr
    assert not (workspace / "made").exists()


def names_of(settings):
    return list(ctx.profile_tables(settings))


@needs_toml
def test_a_workspaces_profiles_need_trust(workspace, call):
    (workspace / "ctx.toml").write_text(TEXT)
    assert names_of(ctx.load_config()) == []
    done = call("profile", "list")
    assert b"untrusted" in done.out and "profile trust" in done.err
    done = call("profile", "trust")
    assert done.status == 0 and b"[profile.mytool] success = " in done.out and b"trusted until one of them changes" in done.out
    assert names_of(ctx.load_config()) == ["mytool"]
    assert b" trusted " in call("profile", "list").out
    (workspace / "ctx.toml").write_text("[budget]\npage = 500\n" + TEXT)
    assert names_of(ctx.load_config()) == ["mytool"], "what is trusted are the profiles, not the file"
    (workspace / "ctx.toml").write_text(TEXT.replace("all well", "all good"))
    assert names_of(ctx.load_config()) == []
    (workspace / "ctx.toml").write_text(TEXT)
    assert call("profile", "trust", "--remove").status == 0
    assert names_of(ctx.load_config()) == []


@needs_toml
def test_ones_own_profiles_need_no_trust(workspace, tmp_path, call):
    own = tmp_path / "user" / ".config" / "ctx" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(TEXT)
    assert names_of(ctx.load_config()) == ["mytool"]
    assert b" own " in call("profile", "list").out
    (workspace / "ctx.toml").write_text(TEXT.replace("mytool:", "other:"))
    assert ctx.profile_tables(ctx.load_config())["mytool"]["match"] == ["mytool:"], "an untrusted one does not displace it"
    assert call("profile", "trust").status == 0
    assert ctx.profile_tables(ctx.load_config())["mytool"]["match"] == ["other:"]


@needs_toml
def test_a_record_in_a_shared_directory_of_somebody_else_is_not_believed(workspace, tmp_path, monkeypatch, call):
    (workspace / "ctx.toml").write_text(TEXT)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    key = ctx.profiles_key(ctx.read_config(str(workspace / "ctx.toml")))
    record = Path(ctx.trust_record(ctx.temp_root(), key))
    record.parent.mkdir(parents=True)
    record.write_text("")
    record.parent.parent.chmod(0o777)
    assert names_of(ctx.load_config()) == []
    record.parent.parent.chmod(0o700)
    assert names_of(ctx.load_config()) == ["mytool"]


def test_nothing_to_trust(workspace, call):
    done = call("profile", "trust")
    assert (done.status, done.out) == (1, b"") and "no profiles" in done.err
    assert call("profile", "list").status == 1


@needs_toml
def test_trust_runs_nothing_and_leaves_a_sound_store(workspace, call):
    (workspace / "ctx.toml").write_text(TEXT)
    assert call("profile", "trust").status == 0
    assert call("doctor").status == 0 and call("gc").status == 0
    assert names_of(ctx.load_config()) == ["mytool"]


# ── check


@needs_toml
def test_check_tries_an_untrusted_one(workspace, call, sample):
    (workspace / "ctx.toml").write_text(TEXT)
    sample(SAMPLE)
    done = call("profile", "check", "mytool")
    assert done.status == 0
    assert done.out.decode() == (
        "profile mytool: 2 facts; the tool counts 1 errors · 1 warnings\n"
        "  2: error  a.x:3  no\n  4: warning  b.x:4  hm\nnot read: 1 of 5 lines\n  1: starting\n"
    )
    value = json.loads(call("profile", "check", "mytool", "--json").out)
    assert value["totals"] == {"errors": 1, "warnings": 1} and value["unread"] == [{"line": 1, "text": "starting"}]
    assert [fact["identity"] for fact in value["facts"]] == ["a.x:3", "b.x:4"] and value["problem"] == ""


@needs_toml
@pytest.mark.parametrize(
    "text, says",
    [
        (b"nothing\n", "nothing was found"),
        (b"", "nothing was found"),
        (b"a.x:3: mytool: bad: no\nmytool: 3 bad, 0 meh\n", "the tool counts 3, the output names 1"),
    ],
)
def test_check_fails_where_it_does_not_agree(workspace, call, sample, text, says):
    (workspace / "ctx.toml").write_text(TEXT)
    sample(text)
    done = call("profile", "check", "mytool")
    assert done.status == 1 and "problem: " + says in done.out.decode()


@needs_toml
def test_check_of_success(workspace, call, sample):
    (workspace / "ctx.toml").write_text(TEXT)
    sample(b"mytool: all well\n")
    assert call("profile", "check", "mytool").out == b"profile mytool: 0 facts\nnot read: 0 of 1 line\n"


@needs_toml
def test_check_says_what_it_cannot_do(workspace, call):
    (workspace / "ctx.toml").write_text(TEXT)
    for argv, says in (
        (("check",), "write ctx profile check NAME < SAMPLE"),
        (("check", "mytol"), "did you mean mytool?"),
        (("chekc",), "did you mean check?"),
    ):
        done = call("profile", *argv)
        assert done.status == 2 and says in done.err


@needs_toml
def test_check_redacts(workspace, call, sample):
    (workspace / "ctx.toml").write_text(TEXT)
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    sample(b"x %s\na.x:3: mytool: bad: %s\n" % (token.encode(), token.encode()))
    for argv in ((), ("--json",)):
        done = call("profile", "check", "mytool", *argv)
        assert token not in done.out.decode() and b"[redacted:" in done.out


# ── in a digest

FLOOD = b"".join(b"src/a%d.x:%d: mytool: %s: thing %d is wrong\n" % (i, i, b"meh" if i % 3 else b"bad", i) for i in range(1, 121))
FLOOD += b"mytool: 40 bad, 80 meh\n"


def digest(data, settings, status=1):
    spool = ctx.open_spool("run", ["mytool"], ctx.default_settings())
    spool.write("output", memoryview(data))
    run = spool.commit(["output"], status, "")
    spool.discard()
    return run, ctx.digest_of(run, settings, "ctx")[0].decode()


def test_a_digest_with_a_profile(workspace):
    settings = {**ctx.default_settings(), ("profile", "mytool"): TABLE}
    run, text = digest(FLOOD, settings)
    assert text.startswith("[ctx %s profile=user:mytool/v1]\nexit: 1\n" % run.handle)
    assert "\noutcome: 40 errors · 80 warnings\n" in text
    assert re.search(r"identities: 120/120 · \d+ inline · \d+ retrievable · 0 unrepresented", text)
    assert digest(FLOOD, settings)[1] == text
    assert ctx.facts_of(run, settings)["facts"][0]["profile"] == "user:mytool/v1"
    assert "user:" not in digest(FLOOD, ctx.default_settings())[1]


def test_facts_that_were_kept_are_those_of_the_same_profiles(workspace):
    settings = {**ctx.default_settings(), ("profile", "mytool"): TABLE}
    run, _ = digest(FLOOD * 200, ctx.default_settings())
    for _ in range(2):
        profiles = {name: {fact["profile"] for fact in ctx.facts_of(run, these)["facts"]} for name, these in (("with", settings), ("without", ctx.default_settings()))}
        assert "user:mytool/v1" in profiles["with"] and "user:mytool/v1" not in profiles["without"]


def test_two_tools_in_one_output(workspace):
    """A user's lines are not the built-in profiles' as well, and theirs stay theirs."""
    settings = {**ctx.default_settings(), ("profile", "mytool"): TABLE}
    data = FLOOD + b"".join(b"src/b%d.c:%d:1: error: expected ';'\n" % (i, i) for i in range(1, 40))
    _, text = digest(data, settings)
    assert "identities: 159/159" in text and "profile=user:mytool/v1+gcc/v1" in text


def test_a_profile_named_like_one_of_ours_has_its_own_contract(workspace):
    for name in ("ctx", "text", "git-diff"):
        _, text = digest(FLOOD, {**ctx.default_settings(), ("profile", name): TABLE})
        assert "profile=user:%s/v1" % name in text and "errors" in text


@needs_toml
def test_a_trusted_profile_is_used_by_run(workspace, run_ctx):
    (workspace / "ctx.toml").write_text(TEXT)
    (workspace / "out").write_bytes(FLOOD * 5)
    assert b"user:mytool" not in run_ctx("run", "--shell", "cat out; exit 1").stdout
    assert run_ctx("profile", "trust").returncode == 0
    done = run_ctx("run", "--shell", "cat out; exit 1")
    assert done.returncode == 1 and b" profile=user:mytool/v1]" in done.stdout
    handle = re.search(rb"run:\w+", done.stdout).group().decode()
    assert b"user:mytool/v1" in run_ctx("get", handle, "--facts", "--json").stdout


# ── the guide

GUIDE = ROOT / "docs" / "profiles.md"
BLOCK = re.compile(r"^```(toml|text|console)\n(.*?)^```$", re.M | re.S)


@needs_toml
def test_the_guide(workspace, call, sample):
    """Each toml block is ctx.toml, each text block the sample behind it, and what the console shows is what is printed."""
    for kind, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        if kind == "toml":
            (workspace / "ctx.toml").write_text(text)
        elif kind == "text":
            sample(text.encode())
        else:
            for part in text.split("$ ctx ")[1:]:
                line, _, shown = part.partition("\n")
                done = call(*line.partition(" <")[0].split())
                printed = (done.out.decode() + done.err).replace(str(workspace), "~/project")
                assert printed == shown, line
