"""ctx.py is a book read from top to bottom: this holds its order, its sizes and what it may import (DESIGN §1).

`violations` reads a source and names what breaks the rules. A small source that keeps them all, broken once per rule, shows that
each check can fail.
"""
from __future__ import annotations

import ast
import builtins
import re
import subprocess
import symtable
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ORDER = (
    "prelude state shell guard permissions hosts text address config redact store capture evidence profiles render retrieve"
    " workspace symbols query plans account gates install cli"
).split()
HOOK_PATH_SECTIONS = 6
HOOK_PATH_END = "— end of the hook path —"

ALLOWED_IMPORTS = {"sys", "posix", "__future__"}
ALLOWED_LOADED = {"sys", "posix", "__future__"}
ALLOWED_LOADED_BY_HOOK = ALLOWED_LOADED | {"_signal", "_json"}

SECTION_LINES = {"profiles": 1800}  # of logic; every other section:
SECTION_LINES_ELSE = 1000
FILE_LINES = 8000

RULE = r"# ─{20,}\n"
BANNER = re.compile(RULE + r"# (?P<number>\d+) · (?P<name>\w+)\n(?P<blurb>(?:# (?!─).*\n)+)" + RULE)
CONTENTS = re.compile(r"^ +(\d+)  ([a-z]+) {2,}\S", re.M)


class Section:
    """A section of a source: its banner, and its own text at its own line numbers."""

    def __init__(self, number, name, blurb, source, start, end):
        self.number, self.name, self.blurb = number, name, blurb
        self.first, self.last = source.count("\n", 0, start) + 1, source.count("\n", 0, end)
        self.text = "\n" * (self.first - 1) + source[start:end]

    def __str__(self):
        return "%d %s" % (self.number, self.name)


def sections(source):
    """The sections in the order of the text. What stands above the first banner belongs to the first."""
    banners = list(BANNER.finditer(source))
    ends = [banner.start() for banner in banners[1:]] + [len(source)]
    starts = [0] + ends[:-1]
    return [Section(int(b["number"]), b["name"], b["blurb"], source, *span) for b, *span in zip(banners, starts, ends)]


# ── what the checks look at ──


def scopes(table):
    """A symbol table and all those inside it."""
    yield table
    for child in table.get_children():
        yield from scopes(child)


def names(section):
    """(defined, used): the names of module level that a section binds, and those it loads anywhere, annotations included.

    A section's text is a module of its own here, so Python itself says which names are global."""
    text = section.text.replace("from __future__ import annotations", "")  # else annotations are no code
    top, *inner = scopes(symtable.symtable(text, str(section), "exec"))
    defined = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    defined |= {s.get_name() for table in inner for s in table.get_symbols() if s.is_declared_global() and s.is_assigned()}
    used = {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    used |= {s.get_name() for table in inner for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return defined, used


def hook_path_ends(source):
    """The line numbers of the comment that ends the hook path: one, if all is well."""
    return [number for number, line in enumerate(source.splitlines(), 1) if line.startswith("#") and HOOK_PATH_END in line]


def line_of(section, name):
    nodes = ast.walk(ast.parse(section.text))
    return min((node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == name), default=section.first)


def executed(nodes, fallback=False):
    """(node, inside try/except?) for everything that runs when the module is loaded."""
    for node in nodes:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from executed(node.orelse, fallback)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            outside = node.args.defaults + [default for default in node.args.kw_defaults if default]
            yield from executed(outside + getattr(node, "decorator_list", []), fallback)
        else:
            yield node, fallback
            yield from executed(ast.iter_child_nodes(node), fallback or isinstance(node, ast.Try))


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or "."] if isinstance(node, ast.ImportFrom) else []


def data_lines(tree):
    """Line numbers of the tables: assignments of module level to a literal of more than one line."""
    literal = (ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Constant, ast.BinOp, ast.Call)
    tables = (node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, literal))
    return {line for node in tables if node.end_lineno > node.lineno for line in range(node.lineno, node.end_lineno + 1)}


# ── the checks ──


def check_banners(parts, docstring):
    """Order and form of the banners; the table of contents."""
    for before, section in zip([None, *parts], parts):
        if ORDER.index(section.name) + 1 != section.number if section.name in ORDER else True:
            yield "banner: %s is not a section of DESIGN §1" % section
        if before and before.number >= section.number:
            yield "order: %s stands after %s" % (section, before)
        blurb = " ".join(line[2:] for line in section.blurb.splitlines())
        if not blurb.endswith(".") or len(re.findall(r"\.(?= |$)", blurb)) > 2:
            yield "banner: %s says something other than one or two sentences" % section
    contents = [(int(number), name) for number, name in CONTENTS.findall(docstring)]
    if contents != [(section.number, section.name) for section in parts]:
        yield "contents: the docstring lists %s" % contents


def check_layers(parts):
    """A section uses only names of its own and of the sections above it; each name is defined by one section."""
    uses = {section: names(section) for section in parts}
    home = {}
    for section, (defined, _) in uses.items():
        for name in sorted(defined):
            if name in home:
                yield "layers: %s is defined in %s and again in %s" % (name, home[name], section)
            home.setdefault(name, section)
    for section, (_, used) in uses.items():
        for name in sorted(used):
            if name in home and home[name].number > section.number:
                yield "layers: %s, line %d, uses %s of %s" % (section, line_of(section, name), name, home[name])
            if name not in home and not hasattr(builtins, name) and not re.fullmatch("__[a-z]+__", name):
                yield "layers: %s, line %d, uses %s, which nobody defines" % (section, line_of(section, name), name)


def check_loading(tree):
    """No import and no compiled expression at module level."""
    for node, fallback in executed(tree.body):
        for module in imported(node):
            if module not in ALLOWED_IMPORTS and not fallback:
                yield "import: line %d imports %s at module level" % (node.lineno, module)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile":
            yield "regex: line %d compiles at module level" % node.lineno


def check_sizes(parts, tree, decisions):
    """Sizes, tables of data not counted; `size of NAME` in docs/decisions.md lifts a limit."""
    data = data_lines(tree)
    sizes = [(section.name, len(set(range(section.first, section.last + 1)) - data)) for section in parts]
    limits = [(name, size, SECTION_LINES.get(name, SECTION_LINES_ELSE)) for name, size in sizes]
    for name, size, limit in [*limits, ("ctx.py", sum(size for _, size in sizes), FILE_LINES)]:
        excuse = "size of " + name
        if size > limit and excuse not in decisions:
            yield "size: %s has %d lines of logic, over %d, and docs/decisions.md does not say `%s`" % (name, size, limit, excuse)


def check_docstrings(tree):
    """Every public function and class says what it is."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and not ast.get_docstring(node):
            yield "docstring: line %d, %s has none" % (node.lineno, node.name)


def check_hook_path(source, parts):
    """The line that ends the hook path stands between its sections and the others."""
    after = [section for section in parts if section.number > HOOK_PATH_SECTIONS]
    places = hook_path_ends(source)
    before = [section.first for section in parts if section.number <= HOOK_PATH_SECTIONS]
    if after and not (len(places) == 1 and max(before, default=0) < places[0] < after[0].first):
        yield "hook path: its end should stand once, above %s; it stands at %s" % (after[0], places or "no line")


def violations(source, decisions=""):
    """Every rule that `source` breaks, one line each."""
    parts, tree = sections(source), ast.parse(source)
    found = list(check_banners(parts, ast.get_docstring(tree, clean=False) or ""))
    found += [*check_layers(parts), *check_loading(tree), *check_sizes(parts, tree, decisions)]
    return found + [*check_docstrings(tree), *check_hook_path(source, parts)]


def loaded(source, tmp_path):
    """The modules that loading `source` brings into a bare interpreter."""
    (tmp_path / "source.py").write_text(source, encoding="utf-8")
    program = (
        "import sys; code = compile(open(sys.argv[1], 'rb').read(), 'ctx.py', 'exec'); before = set(sys.modules)\n"
        "exec(code, {'__name__': 'ctx', '__file__': sys.argv[1]}); sys.stdout.write(' '.join(set(sys.modules) - before))"
    )
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path / "source.py")]
    return set(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60).stdout.decode().split())


# ── ctx.py ──


@pytest.fixture(scope="module")
def source():
    return (ROOT / "ctx.py").read_text(encoding="utf-8")


def test_ctx_keeps_the_rules(source):
    decisions = ROOT / "docs" / "decisions.md"
    found = violations(source, decisions.read_text(encoding="utf-8") if decisions.exists() else "")
    assert not found, "\n".join(found)


def test_the_hook_path_loads_alone(source, tmp_path):
    (end,) = hook_path_ends(source)
    prefix = "".join(source.splitlines(keepends=True)[: end - 1])
    assert loaded(prefix, tmp_path) <= ALLOWED_LOADED_BY_HOOK


def test_the_whole_module_loads_nothing(source, tmp_path):
    assert loaded(source, tmp_path) <= ALLOWED_LOADED


# ── the checks themselves ──

GOOD = '''\
"""A tool.

     1  prelude      limits
     7  text         lines
    11  store        blobs
"""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List

try:
    import posix
except ImportError:
    import os as posix

LINE
# 1 · prelude
# Knows the limits. Never knows files.
LINE
LIMIT = 3


def low(text: List[str], tail=LIMIT) -> str:
    """Lowered."""
    return text[0].lower()


# — end of the hook path —

LINE
# 7 · text
# Knows lines, which may
# take two lines to say.
LINE
def split(text: str) -> Page:
    """Lines."""
    import re

    high = re.compile("a")
    return [low(part) for part in high.split(text)]


class Page:
    """A page."""

    size = LIMIT


LINE
# 11 · store
# Knows blobs.
LINE
WORDS = {
    "a": 1,
    "b": 2,
}
_state = None


def high(blob: bytes) -> int:
    """Size."""
    global _state
    _state = split(sys.argv[0])
    return WORDS["a"] + posix.getpid()
'''.replace("LINE\n", "# " + "─" * 100 + "\n")


def test_a_good_source_breaks_no_rule():
    assert violations(GOOD) == []


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("# 7 · text", "# 7 · words", "banner: 7 words is not"),
        ("# 7 · text", "# 8 · text", "banner: 8 text is not"),
        ("# Knows blobs.", "# Knows. Knows. Knows.", "banner: 11 store says"),
        ("# Knows blobs.", "# Knows blobs", "banner: 11 store says"),
        ("# 1 · prelude", "# 10 · redact", "order: 7 text stands after 10 redact"),
        ("11  store  ", "12  capture", "contents: "),
        ("     7  text         lines\n", "", "contents: "),
        ("return text[0].lower()", "return split(text)", "uses split of 7 text"),
        ("tail=LIMIT", "tail=WORDS", "uses WORDS of 11 store"),
        ("LIMIT = 3", "LIMIT = [high for low in ()]", "uses high of 11 store"),
        ("size = LIMIT", "size = WORDS", "uses WORDS of 11 store"),
        ("class Page:", "class Page(high):", "uses high of 11 store"),
        ("class Page:", "@high\nclass Page:", "uses high of 11 store"),
        ("text: List[str]", "text: Page", "1 prelude, line 27, uses Page of 7 text"),
        ("-> Page", "-> Missing", "uses Missing, which nobody defines"),
        ("return text[0].lower()", "return lambda: _state", "uses _state of 11 store"),
        ("_state = None", "LIMIT = None", "LIMIT is defined in 1 prelude and again in 11 store"),
        ("import sys\n", "import sys, json\n", "imports json at module level"),
        ("import sys\n", "import sys\nfrom os import path\n", "imports os at module level"),
        ("size = LIMIT", "import os", "imports os at module level"),
        ("if TYPE_CHECKING:", "if sys:", "imports typing at module level"),
        ("LIMIT = 3", 'LIMIT = sys.compile("a")', "compiles at module level"),
        ("size = LIMIT", 'size = sys.compile("a")', "compiles at module level"),
        ("tail=LIMIT", 'tail=sys.compile("a")', "compiles at module level"),
        ('    """Lowered."""\n', "", "low has none"),
        ('    """A page."""\n', "", "Page has none"),
        ("# " + HOOK_PATH_END + "\n", "", "hook path: "),
        ("# Knows blobs.\n", "# Knows blobs.\n# " + HOOK_PATH_END + "\n", "hook path: "),
        ("LIMIT = 3\n", "LIMIT = 3\n" + "\n" * 1000, "size: prelude has 1"),
        ("WORDS = {\n", "\n" * 8000 + "WORDS = {\n", "size: ctx.py has 8"),
    ],
)
def test_each_check_can_fail(old, new, complaint):
    assert GOOD.count(old) == 1
    found = violations(GOOD.replace(old, new))
    assert any(complaint in line for line in found), found


def test_tables_are_not_counted_and_a_decision_lifts_a_limit():
    assert violations(GOOD.replace('    "a": 1,\n', '    "a": 1,\n' * 9000)) == []
    long = GOOD.replace("LIMIT = 3\n", "LIMIT = 3\n" + "\n" * 1000)
    assert violations(long, "* size of prelude: 1,020 lines, for a reason\n") == []


def test_profiles_may_be_longer():
    longer = GOOD.replace("11 · store", "14 · profiles").replace("11  store   ", "14  profiles") + "\n" * 1700
    assert violations(longer) == []
    assert "over 1800" in violations(longer + "\n" * 200)[0]


def test_an_import_while_loading_is_seen(tmp_path):
    assert loaded(GOOD, tmp_path) <= ALLOWED_LOADED
    assert "json" in loaded(GOOD + "high(b'')\n_state = __import__('json')\n", tmp_path)
    assert "os" in loaded(GOOD.replace("LIMIT = 3", "LIMIT = 3 + len(__import__('os').sep)"), tmp_path)
