#!/usr/bin/env python3
"""What a reader keeps of each case of tests/corpus, with ctx and without it.

    python3 evals/recall.py [--write] [--only PREFIX…] [--misses]

A case's required facts are what truth.json says the output names: the identities of its failures and rows, and the locations of diagnostics
(of a flood, 400 taken evenly). Its critical facts are, of its first 20 failures, the first line of the error and the location; where a truth does
not tell failures apart, the first 20 locations, those of errors before others, each with the message that the truth knows and its line says,
else with the words behind it; where there are none, the identities. Only what the output itself says in one piece is asked for.

Arms, over the same text (stdout, then stderr): all of it; what a host lets in; the last 200 lines; lines with words for errors and two lines round
each, then the end, of the size of our digest; and what `ctx run` prints: the output itself where it is small or an answer, else the digest. A fact is
inline when the arm's text has it, blanks and colours apart; by address when only the census that the digest names has it. A false fact is an identity
of the digest or its census that no truth knows; where the truth cannot tell, truth.json says why, and none is counted.
"""

from __future__ import annotations

import argparse
import datetime
import os
import posix
import re
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import cases  # type: ignore[import-not-found]  # noqa: E402

import ctx  # noqa: E402

RESULT = ROOT / "evals" / "results" / "recall.md"
SETTINGS = ctx.default_settings()
SAMPLE = 400  # required facts of one case that are looked for
FAILURES = 20  # whose critical facts are asked for
MESSAGE = 120  # characters of a message that must be there
WIDTH = 2_000  # bytes of a line that the baselines print

# ── arms ──


def claude(text: bytes, status: int) -> bytes:
    """A failed command: of the first 30,000 characters the first 5,000 and the last; over 30,000, a success: the first 2,000."""
    if status:
        head = text[:30_000]
        return head if len(head) <= 10_000 else head[:5_000] + b"\n" + head[-5_000:]
    return text if len(text) <= 30_000 else text[:2_000]


def codex(text: bytes, status: int) -> bytes:
    """Head and tail of 10,000 tokens, which it takes for 4 bytes each."""
    return text if len(text) <= 40_000 else text[:20_000] + b"\n" + text[-20_000:]


def antigravity(text: bytes, status: int) -> bytes:
    """The last 8 KB."""
    return text[-8_192:]


def tail(text: bytes, status: int) -> bytes:
    """tail -200."""
    return b"\n".join(text.rstrip(b"\n").split(b"\n")[-200:])


ERROR_WORD = re.compile(rb"(?i)error|fail|exception|fatal|panic|traceback|warning")


def grep(text: bytes, tokens: int) -> bytes:
    """Lines with a word for an error and two lines round each, as they come, until two thirds of the tokens are spent; then the end."""
    lines = [line[:WIDTH] for line in text.rstrip(b"\n").split(b"\n")]
    last = take(lines, range(len(lines) - 1, -1, -1), tokens / 3)
    hits = [at for at, line in enumerate(lines) if ERROR_WORD.search(line)]
    near = [other for at in hits for other in range(max(at - 2, 0), min(at + 3, len(lines)))]
    return take(lines, near, tokens * 2 / 3) + b"\n" + last


def take(lines: Sequence[bytes], order: Iterable[int], tokens: float) -> bytes:
    """The lines in `order` until the tokens are spent."""
    kept = set()
    for at in order:
        if at not in kept:
            tokens -= ctx.estimate_tokens(lines[at] + b"\n")
            if tokens < 0:
                break
            kept.add(at)
    return b"\n".join(lines[at] for at in sorted(kept))


ARMS: Dict[str, Callable[[bytes, int], bytes]] = {"raw": lambda text, status: text, "Claude Code": claude, "Codex": codex, "Antigravity": antigravity, "tail -200": tail}

# ── facts ──


class Needle(NamedTuple):
    """A fact as it is looked for: an identity or the words of a message, or a location and its printed form."""

    words: str
    printed: str = ""

    def is_in(self, text: str) -> bool:
        """Whether a text, as `cases.shown` spells it, has it."""
        return bool(cases.holds_place(text, self.words, self.printed) if self.printed else cases.holds(text, self.words))


def words_of(text: str, width: int = 10_000) -> str:
    """A message or an identity as the arms' texts spell it."""
    words: str = cases.shown(text.split("\n")[0].encode("utf-8", "surrogateescape"))
    return words[:width].strip()


def evenly(items: Sequence[Needle], most: int) -> List[Needle]:
    """At most so many of some items, taken evenly."""
    return [items[len(items) * at // most] for at in range(most)] if len(items) > most else list(items)


def required(case: cases.Case, text: str) -> List[Needle]:
    """What a digest owes its reader, as far as the output says it in one piece."""
    needles = [Needle(words_of(head)) for head in case.names().values()]
    if not case.is_listed and ctx.CONTRACTS.get(case.family) is not ctx.CONTRACTS["pytest"]:  # a test is named, a diagnostic placed
        needles += [Needle(words_of(place), words_of(case.printed(place))) for place in case.places()]
    return [needle for needle in evenly(list(dict.fromkeys(needles)), SAMPLE) if needle.words and needle.is_in(text)]


def critical(case: cases.Case, text: str) -> List[Needle]:
    """The first line and the location of the first failures."""
    needles: List[Needle] = []
    if not case.status or case.is_listed:
        return []
    for failure in case.failures()[:FAILURES]:
        place = str(failure.get("location") or "")
        needles += [Needle(words_of(str(failure.get("message") or ""), MESSAGE)), Needle(words_of(place), words_of(case.printed(place)))]
    if not needles and case.places():
        lines = cases.plain(case.output).split("\n")
        places = case.told("panic_locations") or case.told("error_locations") or case.places()
        messages = [message for message in map(words_of, case.told("messages")) if message]
        found = [(place, spoken(case.printed(place), lines)) for place in places[:2000]]
        severe = [pair for pair in found if SEVERE.search(pair[1])] or found
        for place, line in severe[:FAILURES]:
            words = words_of(line.rpartition(case.printed(place))[2])
            said = max((message for message in messages if message in words), key=len, default="") or BARE.sub("", words)
            needles += [Needle(words_of(said, MESSAGE)), Needle(words_of(place), words_of(case.printed(place)))]
    if not needles:
        needles = [Needle(words_of(head)) for head in case.names().values()]
        needles = sorted((needle for needle in needles if needle.is_in(text)), key=lambda needle: cases.place_of(text, needle.words))[:FAILURES]
    return [needle for needle in dict.fromkeys(needles) if len(needle.words) > 2 and needle.is_in(text)]


# an error by its word, or by the letter that pylint and RuboCop have for it
SEVERE = re.compile(r"(?i:\berror\b)|: [EF](?:\d{4})?: ")
# what stands round a message: the rest of its place, its severity and code before it, its code or a ruler behind it
BARE = re.compile(
    r"^[\s:(-]*(?:\d+(?::\d+)?:?(?:\s+|$))?(?:(?:fatal )?(?:error|warning|note|info\w*|style)\b[\s:)]*)?"
    r"(?:[A-Z]{1,4}\d+(?:/[\w-]+)?:? (?:\[\*\] )?|[CWEFR]: (?:\[Correctable\] )?[A-Z]\w+/\w+: )?"
    r"|[\s]+[\[(][\w@/.-]+[\])]$|(?:\s+FIXABLE)?\s*\u2501+$"
)


def spoken(place: str, lines: Sequence[str]) -> str:
    """The first line that says a place and is no header of a diff, "" when none does."""
    return next((line for line in lines if place in line and not line.startswith(("--- ", "+++ ")) and cases.holds(line, place)), "")


# ── cases ──


class Row(NamedTuple):
    """What came of one case: tokens and inline facts by arm, and what ctx keeps by address."""

    name: str
    family: str
    failures: int
    required: int
    critical: int
    tokens: Dict[str, int]
    inline: Dict[str, int]
    critical_inline: Dict[str, int]
    by_address: int
    lost: List[str]
    false: List[str]
    missed: List[str]


def measure(name: str) -> Row:
    """Run one case through all arms."""
    case = cases.Case(name)
    run = case.keep()
    digest, answer = ctx.digest_of(run, SETTINGS, "ctx")
    whole = ctx.passes_whole(len(case.output), case.status, digest, answer, SETTINGS)
    ours = case.output if whole else digest
    texts = {arm: choose(case.output, case.status) for arm, choose in ARMS.items()}
    texts["grep + tail"] = grep(case.output, ctx.estimate_tokens(ours))
    texts["ctx"] = ours
    raw = cases.shown(case.output)
    needed, vital = required(case, raw), critical(case, raw)
    shown = {arm: cases.shown(data) for arm, data in texts.items()}
    inline = {arm: [needle for needle in needed if needle.is_in(text)] for arm, text in shown.items()}
    told = {arm: [needle for needle in vital if needle.is_in(text)] for arm, text in shown.items()}
    census = cases.shown(cases.census_of(digest))
    left = [needle for needle in needed if needle not in inline["ctx"]]
    lost = [needle.words for needle in left if not needle.is_in(census)]
    return Row(
        name,
        case.family,
        len(case.failures()) or len(case.places()) or len(case.names()),
        len(needed),
        len(vital),
        {arm: ctx.estimate_tokens(data) for arm, data in texts.items()},
        {arm: len(found) for arm, found in inline.items()},
        {arm: len(found) for arm, found in told.items()},
        len(left) - len(lost),
        lost,
        cases.false_facts(case, ctx.examine(run.sources(), run.status)),
        [needle.words for needle in vital if needle not in told["ctx"]],
    )


# ── report ──


def share(part: int, whole: int) -> str:
    """A share as percent, and what of."""
    return "–" if not whole else "%.1f%% (%s/%s)" % (100 * part / whole, ctx.commas(part), ctx.commas(whole))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> List[str]:
    """A table of Markdown."""
    return ["| %s |" % " | ".join(str(cell).replace("|", "\\|") for cell in row) for row in (head, ["---"] * len(head), *rows)]


def total(rows: Sequence[Row], pick: Callable[[Row], int]) -> int:
    """The sum over some cases."""
    return sum(map(pick, rows))


def summary(label: str, rows: Sequence[Row]) -> List[str]:
    """One family, or all, as a row of the table."""
    needed = total(rows, lambda row: row.required)
    return [
        label,
        ctx.commas(len(rows)),
        ctx.commas(total(rows, lambda row: row.tokens["raw"])),
        ctx.commas(total(rows, lambda row: row.tokens["ctx"])),
        share(total(rows, lambda row: row.inline["ctx"]), needed),
        share(total(rows, lambda row: row.by_address), needed),
        str(total(rows, lambda row: len(row.lost))),
        str(total(rows, lambda row: len(row.false))),
        share(total(rows, lambda row: row.critical_inline["ctx"]), total(rows, lambda row: row.critical)),
    ]


def arm_rows(rows: Sequence[Row]) -> List[List[str]]:
    """Each arm over all cases."""
    found = []
    for arm in rows[0].tokens:
        tokens = sorted(row.tokens[arm] for row in rows)
        sizes = [ctx.commas(sum(tokens)), ctx.commas(tokens[len(tokens) // 2])]
        required_share = share(sum(row.inline[arm] for row in rows), total(rows, lambda row: row.required))
        critical_share = share(sum(row.critical_inline[arm] for row in rows), total(rows, lambda row: row.critical))
        found.append([arm, *sizes, required_share, critical_share])
    return found


def report(rows: Sequence[Row]) -> str:
    """The page."""
    head = "%s, ctx %s, CPython %s, `evals/recall.py`" % (datetime.date.today().isoformat(), ctx.VERSION, sys.version.split()[0])
    floods = [row for row in rows if row.tokens["ctx"] < row.tokens["raw"]]
    names = ("arm", "tokens", "median", "required facts inline", "critical facts inline")
    lines = ["# What a reader keeps", "", head, "", (__doc__ or "").split("\n\n", 2)[2].strip(), "", "## All %d cases" % len(rows), ""]
    lines += [*table(names, arm_rows(rows)), ""]
    if floods:
        lines += ["## The %d cases that are not shown whole" % len(floods), "", *table(names, arm_rows(floods)), ""]
    columns = ("family", "cases", "raw tokens", "ctx tokens", "required inline", "by address", "lost", "false", "critical inline")
    families: Dict[str, List[Row]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    few = [row for row in rows if row.failures <= FAILURES]
    for label, part in (("up to %d failures" % FAILURES, few), ("more, of which the first %d" % FAILURES, [row for row in rows if row not in few])):
        told = [(arm, sum(row.critical_inline[arm] for row in part)) for arm in rows[0].tokens]
        vital = total(part, lambda row: row.critical)
        lines.append("Critical facts of cases with %s: %s" % (label, ", ".join("%s %s" % (arm, share(kept, vital)) for arm, kept in told) + "."))
    lines += ["", "## By family", "", *table(columns, [summary(name, families[name]) for name in sorted(families)] + [summary("all", rows)]), ""]
    arms = [arm for arm in rows[0].tokens if arm not in ("raw", "ctx")]
    heading = ("case", "raw", "ctx", "required", "inline", "address", "false", "critical", "ctx", *arms)
    lines += ["## By case", "", "Tokens; required facts with ctx; critical facts inline, by arm.", "", *table(heading, [case_row(row, arms) for row in rows])]
    return "\n".join(lines) + "\n"


def case_row(row: Row, arms: Sequence[str]) -> List[str]:
    """One case as a row of the table."""
    sizes = [ctx.commas(row.tokens["raw"]), ctx.commas(row.tokens["ctx"])]
    facts = [row.required, row.inline["ctx"], row.by_address, len(row.false), row.critical, row.critical_inline["ctx"]]
    return [row.name, *sizes, *map(str, facts), *(str(row.critical_inline[arm]) for arm in arms)]


def arguments() -> Tuple[bool, List[str], bool]:
    """--write, --only, --misses."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write evals/results/recall.md")
    parser.add_argument("--only", nargs="*", default=[], metavar="PREFIX", help="only cases whose name begins so")
    parser.add_argument("--misses", action="store_true", help="print what is lost, false, or critical and not inline, instead of tables")
    options = parser.parse_args()
    return options.write, options.only, options.misses


def main() -> None:
    """Measure, and print or write the page."""
    write, only, misses = arguments()
    with tempfile.TemporaryDirectory() as home:
        posix.environ[b"CTX_HOME"] = os.fsencode(home)
        names = [name for name in cases.NAMES if not only or name.startswith(tuple(only))]
        rows = [measure(name) for name in names]
    text = report(rows)
    if misses:
        for row in rows:
            for label, facts in (("lost", row.lost), ("false", row.false), ("critical", row.missed)):
                for fact in facts:
                    print("%-8s %-32s %s" % (label, row.name, fact[:140]))
    else:
        print(text.partition("## By case")[0])
    if write:
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
