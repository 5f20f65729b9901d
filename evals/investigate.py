"""Measure what it takes to have a faulty line and its caller in view: raw commands by a fixed procedure, against `ctx ask`.

    python3 evals/investigate.py [--cache DIR] [--parser PYTHON] [--write]

Faults are put one at a time into public packages, fetched once into DIR by pip and npm. `--parser` names a Python that has pytest, and that runs
ctx (with tree-sitter and the grammars, if it has them). `--write` keeps the table, dated, in evals/results/investigate.md.

The raw procedure, one command a call, until the goal is reached or CALLS are spent:
1. run the tests;
2. `sed -n` ten lines around each place in the package that the output names, the last one first;
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
PYTEST = "%s -B -m pytest -q -p no:cacheprovider %s"
PACKAGES = {  # name: (how it is fetched, what, its tests)
    "toolz": ("pip", "toolz==1.0.0", PYTEST % ("PYTHON", "toolz")),
    "more-itertools": ("pip", "more-itertools==10.5.0", PYTEST % ("PYTHON", "tests/test_more.py")),
    "minimist": ("npm", "minimist@1.2.8", "node ../node_modules/tape/bin/tape test/*.js"),
    "qs": ("npm", "qs@6.13.0", "node ../node_modules/tape/bin/tape test/*.js"),
}
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
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary=:all:", what]
            subprocess.run(pip if tool == "pip" else ["npm", "pack", "--silent", what], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            (file,) = os.listdir(folder)
            with tarfile.open(os.path.join(folder, file)) as archive:
                archive.extractall(os.path.join(folder, "x"))  # of a pinned version, from the registry itself
            (inner,) = os.listdir(os.path.join(folder, "x"))
            os.rename(os.path.join(folder, "x", inner), os.path.join(cache, name))


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
        return any(not re.search(r"(def|function) %s\(" % self.function, line) for line in calls)

    def follow(self, text: str) -> None:
        """Step 3: look up the names that some lines call, the lowest first."""
        names = re.findall(r"\b([A-Za-z_]\w*)\(", "\n".join(reversed(text.split("\n"))))
        for name in dict.fromkeys(names):
            if self.has_line or self.calls >= CALLS:
                return
            found = self.run("grep -rnE '(def|function) %s\\b' --include=*.py --include=*.js ." % name)
            for path, number in re.findall(r"(?m)^([^:\n]+):(\d+):", found)[:1]:
                if not self.has_line:
                    self.run("sed -n %s,%dp %s" % (number, int(number) + 39, path))

    def places(self, text: str) -> Iterator[Tuple[str, int]]:
        """The places in the package that an output names, the last one first."""
        found = re.findall(r"([\w./-]+\.(?:py|js)):(\d+)", text)
        for path, number in reversed(list(dict.fromkeys(found))):
            path = os.path.relpath(os.path.join(self.top, path), self.top)
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


def with_ctx(search: Search, tests: str, program: str) -> bool:
    """The same goal with ctx; whether the faulty function is in the first answer."""
    search.run("%s run --shell '%s'" % (program, tests))
    answer = search.run("%s ask --intent diagnose" % program)
    is_first = bool(re.search(r"(function|method) ([\w.]+\.)?%s\b" % search.function, answer)) or search.has_line
    for address in dict.fromkeys(re.findall(r"calls .*  (repo:\S+)", answer)):
        if not search.has_line and search.calls < CALLS:
            search.run("%s get %s" % (program, address))
    search.follow(answer)
    if search.has_line and not search.has_call:
        search.run("%s callers %s" % (program, search.function))
    return is_first


def measure(cache: str, python: str) -> List[Dict[str, str]]:
    """A row for each fault."""
    rows = []
    for package, file, function, before, after in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            top = os.path.join(folder, package)
            shutil.copytree(os.path.join(cache, package), top)
            os.symlink(os.path.join(cache, "node_modules"), os.path.join(folder, "node_modules"))
            for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", package]):
                subprocess.run(["git", *words], cwd=top, check=True)
            with open(os.path.join(top, file), encoding="utf-8") as source:
                text = source.read()
            assert text.count(before) == 1, (package, file, before, text.count(before))
            with open(os.path.join(top, file), "w", encoding="utf-8") as target:
                target.write(text.replace(before, after))
            subprocess.run(["git", "-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qam", "a change"], cwd=top, check=True)
            os.environ["CTX_HOME"] = os.path.join(folder, "store")
            tests, program = PACKAGES[package][2].replace("PYTHON", python), "%s %s/ctx.py" % (python, ROOT)
            plain, asked = Search(top, file, after, function), Search(top, file, after, function)
            raw(plain, tests)
            is_first = with_ctx(asked, tests, program)
            row = {"fault": "%s `%s`" % (package, function), "first": "yes" if is_first else "no"}
            for name, search in (("raw", plain), ("ctx", asked)):
                row.update({name + " calls": str(search.calls), name + " tokens": str(search.tokens), name + " goal": "yes" if search.has_line and search.has_call else "no"})
            rows.append(row)
            print(row, flush=True)
    return rows


def table(rows: List[Dict[str, str]]) -> List[str]:
    """The rows as Markdown, and what they come to."""
    heads = ["fault", "raw tokens", "raw calls", "raw goal", "ctx tokens", "ctx calls", "ctx goal", "first"]
    lines = ["| fault | raw: tokens | calls | goal | ctx: tokens | calls | goal | function in the first answer |", "|---" * 8 + "|"]
    lines += ["| %s |" % " | ".join(row[head] for head in heads) for row in rows]
    totals = {head: sum(int(row[head]) for row in rows) for head in heads if head.endswith(("tokens", "calls"))}
    yes = {head: sum(row[head] == "yes" for row in rows) for head in ("raw goal", "ctx goal", "first")}
    lines.append("")
    lines.append("The faulty function is in the first answer in %d of %d. The goal is reached in %d with raw commands, in %d with ctx. In all ctx takes %d%% of the tokens and "
                 "%d%% of the calls." % (yes["first"], len(rows), yes["raw goal"], yes["ctx goal"], 100 * totals["ctx tokens"] // totals["raw tokens"],
                                         100 * totals["ctx calls"] // totals["raw calls"]))  # fmt: skip
    return lines


def main() -> None:
    """Measure, print, and keep with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "ctx-investigate"))
    parser.add_argument("--parser", default=sys.executable)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    fetch(os.path.abspath(options.cache))
    lines = table(measure(os.path.abspath(options.cache), options.parser))
    text = "# Investigating seeded faults\n\n%s, `python3 evals/investigate.py`. The procedure stands at its head, the faults in its table.\n\n%s\n" % (
        datetime.date.today().isoformat(), "\n".join(lines))  # fmt: skip
    print(text)
    if options.write:
        with open(os.path.join(ROOT, "evals", "results", "investigate.md"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
