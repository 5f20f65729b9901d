"""Every case of tests/corpus, as its reader sees it: verdict, identities, counts, line numbers, receipt, budget, determinism."""

import hashlib
import json
import sys

import cases
import pytest
import receipts
from cases import Case

import ctx

SETTINGS = {key: row[0] for key, row in ctx.SETTINGS.items()}
DIGESTS = cases.CORPUS / "digests.json"  # what each case's digest was when it was last looked at: `python tests/test_corpus.py --write` renews it


@pytest.fixture
def store(home, monkeypatch):
    monkeypatch.setattr(ctx.posix, "environ", {b"CTX_HOME": str(home).encode(), b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"})
    return home


def census_text(digest):
    """All that a digest shows or addresses of its census, as text."""
    return digest + ctx.redact(cases.census_of(digest.encode()))[0].decode("utf-8", "backslashreplace")


@pytest.mark.parametrize("name", cases.NAMES[::6])
def test_case(store, name):
    """A sixth of the cases, on every Python."""
    check_case(name)


@pytest.mark.once
@pytest.mark.parametrize("name", [name for at, name in enumerate(cases.NAMES) if at % 6])
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
    check_truth(case, found, everything)


def check_truth(case, found, everything):
    """No identity missing, none false, no place of a diagnostic missing, and the tool's own counts."""
    known = {fact.identity.decode("utf-8", "surrogateescape") for evidence in found for fact in ctx.required_facts(evidence)}
    places = {fact.location.decode("utf-8", "surrogateescape") for evidence in found for fact in ctx.required_facts(evidence)}
    uncompared = case.truth.get("uncompared", {})
    assert set(uncompared) <= {"identities", "locations", "false", "counts"}
    assert all(case.names()) and all(case.places())
    assert not known & set(case.truth.get("decoys", ()))
    assert cases.false_facts(case, found) == []
    said = cases.Said(everything)
    if "identities" not in uncompared and not any(evidence.unsure for evidence in found):
        names = {name: head for name, head in case.names().items() if name not in known and head not in known}
        assert [name for name, head in names.items() if not any(cases.same_name(identity, name, head) for identity in known) and not said.holds(head)] == []
    if "locations" not in uncompared and any(ctx.contract_of(evidence) is ctx.CONTRACTS["gcc"] for evidence in found):
        found_places = cases.Places(places)
        spots = [place for place in case.places() if place not in places and case.printed(place) not in places]
        assert [spot for spot in spots if not found_places.has(spot) and not said.holds(spot) and not said.holds(case.printed(spot))] == []
    totals = {}
    for evidence in found:
        for label, count in evidence.totals.items():
            totals[label] = totals.get(label, 0) + count
    if "counts" not in uncompared:
        assert {label: totals[label] for label in case.truth.get("outcome", {}) if label in totals} == {
            label: count for label, count in case.truth.get("outcome", {}).items() if label in totals
        }


def write_digests():
    """Renew what each case's digest is."""
    hashes = {}
    for name in cases.NAMES:
        data, _ = ctx.digest_of(Case(name).keep(), SETTINGS, "ctx")
        hashes[name] = hashlib.sha256(data).hexdigest()
    DIGESTS.write_text(json.dumps(hashes, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write_digests()
