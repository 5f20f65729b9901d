"""Reads a digest as its reader would, and checks it against what is stored."""

import re

import ctx

QUOTED = re.compile(r"^ {2,}(?:(stdout|stderr|output) )?(\d+)(?:-(\d+))?: (.*?)(?: ×[\d,]+)?$")


def stored_words(line):
    """A stored line as a digest may show it."""
    return ctx.visible(ctx.steady(ctx.redact(ctx.normal(line))[0]))


def check(digest, sources):
    """Assert that every quoted line stands in the store at that number, that the counts add up, and return the numbers of the lines shown."""
    text = digest.decode("utf-8")
    full = [source for source in sources if source.size] or list(sources[:1])
    by_name = {source.name: source for source in full}
    shown = set()
    lines = text.split("\n")
    body = lines[: lines.index("coverage:")]
    for line in body:
        match = QUOTED.match(line)
        if not match:
            continue
        name, first, last, words = match.group(1) or full[0].name, int(match.group(2)), int(match.group(3) or match.group(2)), match.group(4)
        for number in range(first, last + 1):
            whole = stored_words(by_name[name].line(number))
            if words != whole and (" … " in words or words.endswith(" …")):
                pieces = [piece.strip() for piece in words.replace(" …", " … ").split(" … ")]
                assert all(piece in whole for piece in pieces), (words, whole)
            else:
                assert words == whole or (line.startswith("    ") and re.search(r"(?<!\w)%s(?!\w)" % re.escape(words), whole)), (words, whole)
                shown.add((name, number))
    stored = sum(source.lines for source in full)
    omitted = int(re.search(r"^  omitted: ([\d,]+) lines?$", text, re.M).group(1).replace(",", ""))
    assert len(shown) + omitted == stored
    counts = re.search(r"identities: (\d+)/(\d+) · (\d+) inline · (\d+) retrievable · (\d+) unrepresented", text)
    if counts:
        known, claimed, inline, retrievable, unrepresented = map(int, counts.groups())
        assert unrepresented == 0 and inline + retrievable == known <= claimed
    return shown
