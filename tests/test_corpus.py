"""Every case of tests/corpus, as its reader sees it: verdict, identities, counts, line numbers, receipt, budget, determinism."""

import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

import pytest
import receipts

import ctx

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted({path.parent.name for path in CORPUS.glob("*/truth.json*")})
SETTINGS = {key: row[0] for key, row in ctx.SETTINGS.items()}
DIGESTS = CORPUS / "digests.json"  # what each case's digest was when it was last looked at: `python tests/test_corpus.py --write` renews it


def stream(folder, name):
    """The bytes of a case's stream, from its file or its compressed file."""
    if (folder / (name + ".gz")).exists():
        return gzip.decompress((folder / (name + ".gz")).read_bytes())
    return (folder / name).read_bytes() if (folder / name).exists() else b""


class Case:
    """One recorded command: what it printed, and what is known to be true of it."""

    def __init__(self, name):
        folder = CORPUS / name
        self.streams = {stream_name: stream(folder, stream_name) for stream_name in ("stdout", "stderr")}
        self.status = int((folder / "exit").read_text())
        self.command = (folder / "cmd").read_text().strip()
        self.truth = json.loads(stream(folder, "truth.json"))

    def keep(self):
        """The case as a stored run."""
        spool = ctx.Spool(ctx.writable_store(), {"kind": "shell", "argv": [self.command], "cwd": "."}, {"workspace": "/w", "session": ""})
        for name, data in self.streams.items():
            if data:
                spool.write(name, memoryview(data))
        run = spool.commit(["stdout", "stderr"], self.status, "")
        spool.discard()
        return run

    def told(self, key):
        """What the truth lists under `key`, less what the output does not show."""
        hidden = set(self.truth.get(key + "_not_in_output", ()))
        return [item for item in self.truth.get(key, ()) if item not in hidden]


@pytest.fixture
def store(home, monkeypatch):
    monkeypatch.setattr(ctx.posix, "environ", {b"CTX_HOME": str(home).encode(), b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"})
    return home


def census_text(digest):
    """All identities that a digest shows or addresses, as text."""
    match = re.search(r"census: blob:(\w+)", digest)
    if not match:
        return digest
    store, name = ctx.resolve_blob(match.group(1))
    source = store.source(name)
    return digest + ctx.redact(source.read(0, source.size))[0].decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("name", CASES[::6])
def test_case(store, name):
    """A sixth of the cases, on every Python."""
    check_case(name)


@pytest.mark.once
@pytest.mark.parametrize("name", [name for at, name in enumerate(CASES) if at % 6])
def test_other_case(store, name):
    """The other cases, on one Python."""
    check_case(name)


def check_case(name):
    """All that must hold for a case's digest."""
    case = Case(name)
    run = case.keep()
    found = ctx.examine(run.sources(), run.status)
    profiles = [evidence.profile for evidence in found]
    if case.truth.get("profile"):
        assert case.truth["profile"] in profiles
    data, answer = ctx.digest_of(run, SETTINGS, "ctx")
    text = data.decode("utf-8")
    size = sum(map(len, case.streams.values()))
    assert ctx.digest_of(run, SETTINGS, "ctx") == (data, answer)
    assert hashlib.sha256(data).hexdigest() == json.loads(DIGESTS.read_text())[name], "another digest than before, or than on another Python"
    if size > SETTINGS["budget", "inline"]:
        assert ctx.estimate_tokens(data) <= SETTINGS["budget", "fail"] * 1.05
    if size:
        receipts.check(data, run.sources())
    assert "\nexit: %d\n" % case.status in text
    facts = [fact for evidence in found for fact in ctx.required_facts(evidence)]
    everything = census_text(text)
    sources = {source.name: source for source in run.sources()}
    for fact in facts[:: 1 + len(facts) // 2000]:
        assert ctx.visible(ctx.redact(fact.identity)[0]) in everything
        if fact.quoted:
            line = ctx.normal(sources[fact.stream].line(fact.quoted))
            assert ctx.clean(fact.message) in line
    if case.truth.get("family") in ("pytest", "unittest"):
        check_tests(case, [evidence for evidence in found if evidence.profile.startswith(("pytest/", "unittest/"))])


def check_tests(case, found):
    """For pytest and unittest: no identity missing, none false, and the tool's own counts.

    A subtest's identity begins with its test's; a test whose file the output never names goes by the head of its failure.
    """
    failures = [failure for session in case.truth.get("sessions", ()) for failure in session["failures"]]
    names = {failure["id"]: failure.get("head") or failure["id"] for failure in failures}
    names.update((item, item) for item in case.told("identities"))
    crashed = case.truth.get("crashed", "")
    known = {fact.identity.decode("utf-8", "surrogateescape") for evidence in found for fact in ctx.required_facts(evidence)}
    assert not known & set(case.truth.get("decoys", ()))
    for identity in known:
        assert any(is_named(identity, name, head) for name, head in names.items()) or crashed in identity
    missing = [name for name, head in names.items() if not any(is_named(identity, name, head) for identity in known)]
    assert not missing or any(evidence.unsure for evidence in found)
    totals = {}
    for evidence in found:
        for label, count in evidence.totals.items():
            totals[label] = totals.get(label, 0) + count
    for label, count in case.truth.get("outcome", {}).items():
        if label in totals:
            assert totals[label] == count, label


def is_named(identity, name, head):
    """Whether an identity is the test `name`, one of its subtests, or the head of its failure."""
    return identity in (name, head) or identity.startswith(name + " ") or name.endswith((identity, identity + "]"))


def write_digests():
    """Renew what each case's digest is."""
    hashes = {}
    for name in CASES:
        data, _ = ctx.digest_of(Case(name).keep(), SETTINGS, "ctx")
        hashes[name] = hashlib.sha256(data).hexdigest()
    DIGESTS.write_text(json.dumps(hashes, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write_digests()
