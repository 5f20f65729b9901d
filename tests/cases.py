"""The cases of tests/corpus: what a command printed, and what is known to be true of it (truth.json), whatever the family.

Kinds of truth: `sessions` of failures (pt_, un_), `identities` `locations` `messages` `failures` as printed, less `…_not_in_output`,
`rows` `odd` `diff` `objects` of content (ct_); `other` holds identities of further tools in the same output. What of a case cannot be compared stands
under `uncompared`: {identities, locations, false or counts: why}.
"""

import gzip
import json
import os
import re
from pathlib import Path

import ctx

# families whose output is the answer
LISTS = (
    *("binary", "bytes", "git", "git-blame", "git-diff", "git-log", "git-status", "json", "listing", "log", "logs", "progress"),
    *("search", "sql", "table", "yaml"),
)
CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted({path.parent.name for path in CORPUS.glob("*/truth.json*")})


def stored(name, file):
    """One file of a case, unpacked where it is kept packed; empty where the case has none."""
    path = CORPUS / name / file
    if path.exists():
        return path.read_bytes()
    packed = CORPUS / name / (file + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else b""


class Case:
    """One recorded command: what it printed, and what is known to be true of it."""

    def __init__(self, name):
        self.name = name
        self.streams = {stream: stored(name, stream) for stream in ("stdout", "stderr")}
        self.status = int(stored(name, "exit"))
        self.command = stored(name, "cmd").decode().strip()
        self.truth = json.loads(stored(name, "truth.json"))
        self.family = self.truth.get("family") or self.truth.get("profile", "text/v1").partition("/")[0]

    def keep(self):
        """The case as a stored run."""
        spool = ctx.Spool(ctx.writable_store(), {"kind": "shell", "argv": [self.command], "cwd": "."}, {"workspace": "/w", "session": ""})
        for name, data in self.streams.items():
            if data:
                spool.write(name, memoryview(data))
        run = spool.commit(["stdout", "stderr"], self.status, "")
        spool.discard()
        return run

    @property
    def output(self):
        """Both streams, as a host shows them."""
        parts = [data if data.endswith(b"\n") or not data else data + b"\n" for data in self.streams.values()]
        return b"".join(parts)

    def told(self, key):
        """What the truth lists under `key`, less what the output does not show."""
        hidden = set(self.truth.get(key + "_not_in_output", ()))
        return [item for item in self.truth.get(key, ()) if item not in hidden]

    def failures(self):
        """The failures that the truth tells one by one, across sessions: dicts with id, and maybe head, message, location."""
        found = [failure for session in self.truth.get("sessions", ()) for failure in session["failures"]]
        return found + [failure for failure in self.truth.get("failures", ()) if isinstance(failure, dict)]

    def names(self):
        """{identity: how it is printed} of everything that the output names."""
        found = {failure["id"]: failure.get("head") or failure["id"] for failure in self.failures() if "sessions" in self.truth}
        found.update((item, item) for key in ("rows", "odd", "diff", "objects") for item in self.truth.get(key) or ())
        found.update((item, item) for key in ("identities", "other") for item in self.told(key))
        return found

    @property
    def is_listed(self):
        """Whether the output lists things rather than reports them: its locations are then no facts of their own."""
        return self.family in LISTS

    def places(self):
        """Every location, as the truth spells it."""
        return self.told("locations")

    def printed(self, place):
        """A location as the output spells it."""
        return self.truth.get("locations_as_printed", {}).get(place, place)


def same_place(truth, found):
    """Whether two spellings name one place: the output may add the directory, the truth may lack the column."""
    return (
        truth == found
        or found.startswith(truth + ":")
        or found.endswith("/" + truth)
        or truth.endswith("/" + found)
        or os.path.normpath(truth) == os.path.normpath(found)
    )


class Places:
    """Locations, among which others are looked up that may be spelt otherwise."""

    def __init__(self, places):
        self.by_file = {}
        for place in places:
            self.by_file.setdefault(self.file(place), []).append(place)

    @staticmethod
    def file(place):
        """The last part of a location's path, which all spellings share."""
        return place.rpartition("/")[2].partition(":")[0]

    def has(self, place):
        """Whether a location found in the output is one of these, which the truth tells, or the other way round."""
        return any(same_place(one, place) or same_place(place, one) for one in self.by_file.get(self.file(place), ()))


def same_name(identity, name, head):
    """Whether an identity is the test `name`, one of its subtests, or the head of its failure."""
    return identity in (name, head) or identity.startswith(name + " ") or name.endswith((identity, identity + "]"))


def folded(text):
    """Whitespace runs as one space."""
    return " ".join(text.split())


class Said:
    """A digest with its census, in which texts are looked for."""

    def __init__(self, text):
        self.text = folded(text)

    def holds(self, words):
        """Whether the text has some words, as a digest spells them."""
        needle = shown(words.encode("utf-8", "surrogateescape"))
        return holds(self.text, needle)


def shown(data):
    """Bytes as a digest may spell them, for comparing: no secrets, no colours, what varies masked, whitespace folded."""
    lines = ctx.strip_ansi(ctx.redact(data)[0]).split(b"\n")
    return folded(" ".join(ctx.visible(ctx.steady(line)) for line in lines))


def holds(text, needle):
    """Whether a text says `needle`, not merely as the start of a longer word or number."""
    return place_of(text, needle) >= 0


def place_of(text, needle):
    """Where a text first says `needle` so, -1 where it never does."""
    at = text.find(needle)
    while at >= 0:
        after = text[at + len(needle) : at + len(needle) + 1]
        if not (needle[-1:].isalnum() and (after.isalnum() or after == "_")):
            break
        at = text.find(needle, at + 1)
    return at


def holds_place(text, place, printed):
    """Whether a text says a location: as the truth or the output spells it, or the file and, elsewhere, line and column."""
    if holds(text, place) or holds(text, printed) or holds(text, os.path.normpath(place)):
        return True
    m = re.match(r"(.+?):(\d+)(?::(\d+))?$", re.sub(r'^"(.*)", line (\d+)$', r"\1:\2", place))
    if not m or not holds(text, m.group(1)):
        return False
    path, line, column = m.groups()
    spellings = ["line %s" % line, ":%s" % line] if column is None else ["%s:%s" % (line, column), "%s,%s" % (line, column)]
    return any(holds(text, spelling) for spelling in spellings)


def plain(data):
    """Bytes as text without colours."""
    return ctx.strip_ansi(data).decode("utf-8", "replace")


def census_of(digest):
    """The bytes of the census that a digest addresses, none where it needs none."""
    m = re.search(rb"census: blob:(\w+)", digest)
    if not m:
        return b""
    store, name = ctx.resolve_blob(m.group(1).decode())
    source = store.source(name)
    return source.read(0, source.size)


def false_facts(case, found):
    """The required facts that the truth does not know, as text; none where the truth says that it cannot tell."""
    if "false" in case.truth.get("uncompared", ()):
        return []
    names, places = case.names(), case.places()
    exact = {*names, *names.values()}
    spelt = {*places, *map(case.printed, places)}
    known_places = Places(spelt)
    needles, crashed = set(case.truth.get("needle_lines", ())), case.truth.get("crashed", "")
    false = []
    for profile, fact in ((evidence.profile, fact) for evidence in found for fact in ctx.required_facts(evidence)):
        identity, place = (text.decode("utf-8", "surrogateescape") for text in (fact.identity, fact.location))
        if identity in exact or (crashed and crashed in identity) or any(same_name(identity, name, head) for name, head in names.items()):
            continue
        if not profile.startswith(("pytest/", "unittest/")):  # where a test goes by its name alone
            if place in spelt or fact.first in needles or (place and known_places.has(place)) or any(len(name) > 2 and name in identity for name in names):
                continue
        false.append(identity)
    return false
