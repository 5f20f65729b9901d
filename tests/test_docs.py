"""docs/cli.md is what the code says; `python3 tests/test_docs.py --write` writes it anew."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ctx  # noqa: E402

PAGE = ROOT / "docs" / "cli.md"

HEAD = """\
# The command line of ctx

Generated from the code by `python3 tests/test_docs.py --write`. `ctx help VERB` prints the same.

Exit status: that of `run` is the command's own, `tap` always exits 0; elsewhere 0 found or fine, 1 nothing found or different, 2 a mistake,
told in one line on stderr as `ctx VERB: what: what to do`, 3 done, but secrets were redacted. Everything but the answer itself goes to stderr:
remarks, and lines that begin with `next: `, each of which runs as printed.
"""


def table(head, rows):
    """A table of Markdown; `|` in a cell is escaped."""
    lines = [head, tuple("---" for _ in head), *rows]
    return ["| %s |" % " | ".join(cell.replace("|", "\\|") for cell in row) for row in lines]


def section(verb):
    """What the page says of one verb."""
    lines = [
        "## ctx %s" % verb.name,
        "",
        verb.summary[0].upper() + verb.summary[1:] + ".",
        "",
        "```",
        "ctx " + verb.usage,
        "```",
        "",
    ]
    if verb.text:
        lines += [verb.text.strip("\n"), ""]
    if verb.options:
        lines += table(
            ("option", ""), [("`%s`" % " ".join(filter(None, (flag, metavar))), meaning) for flag, metavar, meaning in verb.options]
        ) + [""]
    examples = [example.replace("{run}", "8d8335db6848") for example in verb.examples]
    return [*lines, "```sh", *examples, "```", ""]


def settings():
    """What the page says of ctx.toml."""
    lines = [
        "## ctx.toml",
        "",
        "In the workspace, over `~/.config/ctx/config.toml`, over these defaults. An unknown key or a bad value stops every verb.",
        "",
    ]
    rows = [("`[%s] %s`" % name, "`%s`" % ctx.to_json(default), meaning) for name, (default, _, meaning) in ctx.SETTINGS.items()]
    return lines + table(("setting", "default", ""), rows)


def page():
    """docs/cli.md as it should be."""
    lines = [HEAD]
    for verb in ctx.VERBS:
        lines += section(verb)
    return "\n".join(lines + settings()) + "\n"


def test_the_reference_is_what_the_code_says():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python3 tests/test_docs.py --write"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python3 tests/test_docs.py --write")
    PAGE.write_text(page(), encoding="utf-8")
