"""Measure what it takes to have a faulty line and its caller in view: raw commands by a fixed procedure, against `ctx ask`.

    python3 evals/investigate.py [--cache DIR] [--parser PYTHON] [--write]

Faults are put one at a time into public packages, fetched once into DIR by pip, npm and apt-get; Go and Rust are needed, too. `--parser` names a Python
that has pytest, and that runs ctx (with tree-sitter and the grammars, if it has them). `--write` keeps the table, dated, in evals/results/investigate.md.

Each fault is looked for twice: committed on top of the package, and committed together with it, where no history tells what was changed last. The raw
procedure asks no history, so it is the same for both.

The raw procedure, one command a call, until the goal is reached or CALLS are spent:
1. run the tests;
2. `sed -n` ten lines around each place in the package that the output names, the last one first (a bare file name is taken for the one file that has it);
3. for each name that is called in what step 2 showed, the lowest first: `grep -rn` of what defines it, then `sed -n` of 40 lines from there;
4. once the faulty line is in view, `grep -rn 'NAME('` if no call of its function has been seen.

With ctx: `ctx run -- TESTS`, `ctx ask --intent diagnose`; if the faulty line is not in view, `ctx get` of the definitions that the answer names, in
their order, then step 3; if no call has been seen, `ctx callers`. What both have in view counts as text: the faulty line, and a line that calls its
function other than the definition.
"""

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import Dict, Iterator, List, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import ctx  # noqa: E402

CALLS = 20
TAPE = ["tape@5.9.0", "side-channel@1.0.6", "object-inspect@1.13.2", "iconv-lite@0.6.3", "safer-buffer@2.1.2", "es-value-fixtures@1.4.2", "for-each@0.3.3",
        "has-symbols@1.0.3", "has-override-mistake@1.0.1", "has-property-descriptors@1.0.2", "mock-property@1.0.3"]  # fmt: skip
PYTEST = "python3 -B -m pytest -q -p no:cacheprovider "
PACKAGES = {  # name: (how it is fetched, what, its tests)
    "toolz": ("pip", "toolz==1.0.0", PYTEST + "toolz"),
    "more-itertools": ("pip", "more-itertools==10.5.0", PYTEST + "tests/test_more.py"),
    "minimist": ("npm", "minimist@1.2.8", "node ../node_modules/tape/bin/tape test/*.js"),
    "qs": ("npm", "qs@6.13.0", "node ../node_modules/tape/bin/tape test/*.js"),
    "glob": ("apt-get", "golang-github-gobwas-glob-dev=0.2.3+git20180208.19c076c-2", "go test ./..."),
    "strsim": ("apt-get", "librust-strsim-dev=0.10.0-1", "cargo test --offline"),
}
IN_DEBIAN = {"glob": "usr/share/gocode/src/github.com/gobwas/glob", "strsim": "usr/share/cargo/registry/strsim-0.10.0"}
DEFINES = r"(def|function|fn|func)( \([^)]*\))? %s\b"
FAULTS = [  # package, file, function, what stands there, what is put in its place
    ("toolz", "toolz/itertoolz.py", "take_nth", "return itertools.islice(seq, 0, None, n)", "return itertools.islice(seq, 1, None, n)"),
    ("toolz", "toolz/itertoolz.py", "isdistinct", "return len(seq) == len(set(seq))", "return len(seq) >= len(set(seq))"),
    ("toolz", "toolz/itertoolz.py", "count", "return sum(1 for i in seq)", "return sum(i for i in seq)"),
    ("toolz", "toolz/dicttoolz.py", "valfilter", "if predicate(v):", "if not predicate(v):"),
    ("toolz", "toolz/dicttoolz.py", "update_in", "inner[k] = func(default)", "inner[k] = func(d[k])"),
    ("more-itertools", "more_itertools/more.py", "intersperse", "return islice(interleave(repeat(e), iterable), 1, None)",
     "return islice(interleave(repeat(e), iterable), 0, None)"),
    ("more-itertools", "more_itertools/more.py", "padded", "yield islice(iterable_with_repeat, n - 1)", "yield islice(iterable_with_repeat, n)"),
    ("more-itertools", "more_itertools/more.py", "divide", "stop += q + 1 if i <= r else q", "stop += q + 1 if i < r else q"),
    ("more-itertools", "more_itertools/more.py", "mark_ends", "yield i == 0, True, a", "yield i == 0, False, a"),
    ("minimist", "index.js", "isNumber", "if (typeof x === 'number') { return true; }", "if (typeof x === 'number') { return x.digits.length; }"),
    ("minimist", "index.js", "hasKey", "return key in o;", "return key in o.keys;"),
    ("minimist", "index.js", "setKey", "o[lastKey] = [o[lastKey], value];", "o[lastKey] = [value, o[lastKey]];"),
    ("qs", "lib/utils.js", "arrayToObject", "obj[i] = source[i];", "obj[i + 1] = source[i];"),
    ("qs", "lib/utils.js", "merge", "return [target, source];", "return [source, target];"),
    ("qs", "lib/parse.js", "parseArrayValue", "return val.split(',');", "return val.items.split(',');"),
    ("glob", "match/row.go", "matchAll", "idx += next + 1", "idx += next"),
    ("glob", "syntax/lexer/lexer.go", "fetchRange", "if !seenNot && r == char_range_not {", "if seenNot && r == char_range_not {"),
    ("glob", "syntax/lexer/lexer.go", "shift", "ret = (*i)[0]", "ret = (*i)[1]"),
    ("glob", "compiler/compiler.go", "leastChildren", "if idx == -1 || (len(n.Children) < min) {", "if idx == -1 || (len(n.Children) > min) {"),
    ("glob", "util/runes/runes.go", "IndexLastRune", "for i := len(s) - 1; i >= 0; i-- {", "for i := len(s) - 1; i > 0; i-- {"),
    ("strsim", "src/lib.rs", "generic_jaro_winkler", "(0.1 * prefix_length as f64", "(0.2 * prefix_length as f64"),
    ("strsim", "src/lib.rs", "generic_hamming", "if x != y { count += 1 }", "if x == y { count += 1 }"),
    ("strsim", "src/lib.rs", "osa_distance", "prev_two_distances[j - 1] + 1", "prev_two_distances[j - 1] + 2"),
    ("strsim", "src/lib.rs", "flat_index", "j * width + i", "j * width + i * width"),
]  # fmt: skip


def fetch(cache: str) -> None:
    """Fetch and unpack each package once, below `cache`, with what its tests need."""
    os.makedirs(cache, exist_ok=True)
    if not os.path.isdir(cache + "/node_modules"):
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", cache, *TAPE], check=True, stdout=subprocess.DEVNULL)
    for name, (tool, what, _) in PACKAGES.items():
        if os.path.isdir(os.path.join(cache, name)):
            continue
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            os.rename(FETCHERS[tool](what, folder, IN_DEBIAN.get(name, "")), os.path.join(cache, name))
    if not os.path.exists(cache + "/glob/go.mod"):  # Debian's has none
        with open(cache + "/glob/go.mod", "w", encoding="utf-8") as file:
            file.write("module github.com/gobwas/glob\n\ngo 1.16\n")


def fetch_archive(command: List[str], folder: str) -> str:
    """Fetch an archive by a command and unpack it below `folder`; the directory that it holds."""
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (file,) = os.listdir(folder)
    with tarfile.open(os.path.join(folder, file)) as archive:
        archive.extractall(os.path.join(folder, "x"))  # of a pinned version, from the registry itself
    (inner,) = os.listdir(os.path.join(folder, "x"))
    return os.path.join(folder, "x", inner)


def from_pip(what: str, folder: str, _: str) -> str:
    """A source archive of PyPI, unpacked."""
    return fetch_archive([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", what], folder)


def from_npm(what: str, folder: str, _: str) -> str:
    """A package of npm, unpacked."""
    return fetch_archive(["npm", "pack", "--silent", what], folder)


def from_debian(what: str, folder: str, inside: str) -> str:
    """The directory `inside` of a package of Debian."""
    subprocess.run(["apt-get", "download", "-q", what], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (file,) = os.listdir(folder)
    subprocess.run(["dpkg-deb", "-x", file, "x"], cwd=folder, check=True)
    return os.path.join(folder, "x", inside)


FETCHERS = {"pip": from_pip, "npm": from_npm, "apt-get": from_debian}


class Search:
    """What one way of searching has seen of a package with a fault in it, and what that took."""

    def __init__(self, top: str, file: str, line: str, function: str) -> None:
        self.top, self.file, self.line, self.function = top, file, line.strip(), function
        self.calls = self.tokens = 0
        self.seen = ""

    def run(self, command: str) -> str:
        """Run one command, and take in what it prints."""
        done = subprocess.run(["bash", "-c", command], cwd=self.top, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode("utf-8", "replace")
        self.calls += 1
        self.tokens += ctx.estimate_tokens(command.encode()) + ctx.estimate_tokens(done.stdout)
        self.seen += text + "\n"
        return text

    @property
    def has_line(self) -> bool:
        """Whether the faulty line is in view."""
        return self.line in self.seen

    @property
    def has_call(self) -> bool:
        """Whether a call of the faulty function is in view."""
        calls = (line for line in self.seen.split("\n") if re.search(r"\b%s\(" % self.function, line))
        return any(not re.search(DEFINES % self.function, line) for line in calls)

    def follow(self, text: str) -> None:
        """Step 3: look up the names that some lines call, the lowest first."""
        names = re.findall(r"\b([A-Za-z_]\w*)\(", "\n".join(reversed(text.split("\n"))))
        for name in dict.fromkeys(names):
            if self.has_line or self.calls >= CALLS:
                return
            found = self.run("grep -rnE '%s' --include=*.{py,js,go,rs} ." % (DEFINES % name))
            for path, number in re.findall(r"(?m)^([^:\n]+):(\d+):", found)[:1]:
                if not self.has_line:
                    self.run("sed -n %s,%dp %s" % (number, int(number) + 39, path))

    def places(self, text: str) -> Iterator[Tuple[str, int]]:
        """The places in the package that an output names, the last one first."""
        found = re.findall(r"([\w./-]+\.(?:py|js|go|rs)):(\d+)", text)
        for path, number in reversed(list(dict.fromkeys(found))):
            named = [os.path.join(folder, path) for folder, _, files in os.walk(self.top) if path in files]
            path = os.path.relpath(named[0] if len(named) == 1 else os.path.join(self.top, path), self.top)
            if not path.startswith("..") and os.path.exists(os.path.join(self.top, path)):
                yield path, int(number)


def raw(search: Search, tests: str) -> None:
    """The fixed procedure."""
    shown = []
    for path, number in search.places(search.run(tests)):
        if search.has_line or search.calls >= 4:
            break
        shown.append(search.run("sed -n %d,%dp %s" % (max(1, number - 10), number + 10, path)))
    for text in shown:
        search.follow(text)
    if search.has_line and not search.has_call:
        search.run("grep -rn '%s(' ." % search.function)


def with_ctx(search: Search, tests: str) -> bool:
    """The same goal with ctx; whether the faulty function is in the first answer."""
    search.run("ctx run --shell '%s'" % tests)
    answer = search.run("ctx ask --intent diagnose")
    is_first = bool(re.search(r"(function|method) ([\w.]+\.)?%s\b" % search.function, answer)) or search.has_line
    for address in dict.fromkeys(re.findall(r"(?:function|method) .*?  (repo:\S+)", answer)):
        if not search.has_line and search.calls < CALLS:
            search.run("ctx get %s" % address)
    search.follow(answer)
    if search.has_line and not search.has_call:
        search.run("ctx callers %s" % search.function)
    return is_first


def commit(top: str, message: str) -> None:
    """Commit everything below a directory."""
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", message]):
        subprocess.run(["git", *words], cwd=top, check=True)


def laid_out(cache: str, folder: str, fault: Tuple[str, str, str, str, str], has_history: bool) -> str:
    """A package with a fault in it, below `folder`: in a commit of its own, or in that of the package."""
    package, file, _, before, after = fault
    top = os.path.join(folder, package)
    shutil.copytree(os.path.join(cache, package), top)
    os.symlink(os.path.join(cache, "node_modules"), os.path.join(folder, "node_modules"))
    with open(top + "/.gitignore", "a", encoding="utf-8") as ignored:
        ignored.write("/target/\n")
    if has_history:
        commit(top, package)
    with open(os.path.join(top, file), encoding="utf-8") as source:
        text = source.read()
    assert text.count(before) == 1, (package, file, before, text.count(before))
    with open(os.path.join(top, file), "w", encoding="utf-8") as target:
        target.write(text.replace(before, after))
    commit(top, "a change" if has_history else package)
    return top


WAYS = ("raw", "ctx", "ctx without history")


def measure(cache: str) -> List[Dict[str, str]]:
    """A row for each fault."""
    rows = []
    for fault in FAULTS:
        package, _, function, _, after = fault
        row = {"fault": "%s `%s`" % (package, function)}
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                search = Search(laid_out(cache, folder, fault, way == "ctx"), fault[1], after, function)
                os.environ["CTX_HOME"] = os.path.join(folder, "store")
                if way == "raw":
                    raw(search, PACKAGES[package][2])
                else:
                    row[way + " first"] = "yes" if with_ctx(search, PACKAGES[package][2]) else "no"
                row.update({way + " tokens": str(search.tokens), way + " calls": str(search.calls), way + " goal": "yes" if search.has_line and search.has_call else "no"})
        rows.append(row)
        print(row, flush=True)
    return rows


def table(rows: List[Dict[str, str]]) -> List[str]:
    """The rows as Markdown, and what they come to."""
    heads = [way + " " + what for way in WAYS for what in ("tokens", "calls", "goal", "first") if (way, what) != ("raw", "first")]
    lines = ["| fault | %s |" % " | ".join(head.replace(" first", ": function in the first answer") for head in heads), "|---" * (len(heads) + 1) + "|"]
    lines += ["| %s |" % " | ".join(row[head] for head in ["fault", *heads]) for row in rows]
    totals = {head: sum(int(row[head]) for row in rows) for head in heads if head.endswith(("tokens", "calls"))}
    yes = {head: sum(row[head] == "yes" for row in rows) for head in heads}
    for way in WAYS[1:]:
        lines += ["", "%s: the faulty function is in the first answer in %d of %d; the goal is reached in %d, with raw commands in %d. In all %d%% of the tokens and %d%% of the "
                  "calls; fewer tokens than raw in %d, more in %d." % (
                      way, yes[way + " first"], len(rows), yes[way + " goal"], yes["raw goal"], 100 * totals[way + " tokens"] // totals["raw tokens"],
                      100 * totals[way + " calls"] // totals["raw calls"], sum(int(row[way + " tokens"]) < int(row["raw tokens"]) for row in rows),
                      sum(int(row[way + " tokens"]) > int(row["raw tokens"]) for row in rows))]  # fmt: skip
    return lines


def on_path(folder: str, python: str) -> None:
    """Put `python3` and `ctx` in front of PATH, as they are called where both are installed."""
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/python3", "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec "%s" "$@"\n' % python)
    os.chmod(folder + "/python3", 0o755)
    if not os.path.lexists(folder + "/ctx"):
        os.symlink(os.path.join(ROOT, "ctx.py"), folder + "/ctx")
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]


def main() -> None:
    """Measure, print, and keep with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "ctx-investigate"))
    parser.add_argument("--parser", default=sys.executable)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    cache = os.path.abspath(options.cache)
    fetch(cache)
    on_path(cache + "/bin", options.parser)
    lines = table(measure(cache))
    text = "# Investigating seeded faults\n\n%s, `python3 evals/investigate.py`. The procedure stands at its head, the faults in its table.\n\n%s\n" % (
        datetime.date.today().isoformat(), "\n".join(lines))  # fmt: skip
    print(text)
    if options.write:
        with open(os.path.join(ROOT, "evals", "results", "investigate.md"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
