"""Measure code search: what it costs beside ripgrep, what it finds beside ctags and ripgrep, how many tokens its answers take.

    python3 evals/search.py [cost|quality|tokens …] [--cache DIR] [--parser PYTHON] [--names N] [--write]

The trees are public packages, fetched once into DIR by pip and npm (default: a directory beside the temporary ones). `--parser` names a Python
with tree-sitter and the grammars, for the rows that parse; without it Python files are parsed by `ast`, others not at all. `--write` keeps the
tables, dated, in evals/results/search.md. Labels are those of Universal Ctags, which shares no code with ctx.
"""

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from typing import Any, Dict, List, Sequence, Set, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGES = {  # name: (how it is fetched, its file, ctags' language, the kinds that are definitions)
    "django": ("pip", "django==5.1.4", "Python", "cfmv"),
    "sympy": ("pip", "sympy==1.13.3", "Python", "cfmv"),
    "viem": ("npm", "viem@2.21.0", "TypeScript", "cefimgn"),
    "usb": ("npm", "usb@2.14.0", "C,C++", "cdefgmnpstuv"),
}
ENDINGS = {"Python": (".py",), "TypeScript": (".ts",), "C,C++": (".c", ".h", ".cc", ".cpp")}
RARE, COMMON = "posify", "simplify"  # names of sympy: in a dozen files, in hundreds
ROUNDS = 15


def fetch(cache: str) -> None:
    """Fetch and unpack each package once, below `cache`."""
    os.makedirs(cache, exist_ok=True)
    for name, (tool, what, _, _) in PACKAGES.items():
        target = os.path.join(cache, name)
        if os.path.isdir(target):
            continue
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", what]
            subprocess.run(pip if tool == "pip" else ["npm", "pack", "--silent", what], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            (file,) = os.listdir(folder)
            path = os.path.join(folder, file)
            with zipfile.ZipFile(path) if tool == "pip" else tarfile.open(path) as archive:
                archive.extractall(os.path.join(folder, "x"))
            os.rename(os.path.join(folder, "x"), target)


def labels(top: str, language: str, kinds: str) -> Dict[str, Set[Tuple[str, int]]]:
    """What ctags calls a definition: name → (path, line)."""
    options = ["--languages=" + language, "--output-format=json", "--fields=+nK", "--kinds-all=*", "-R", "-f", "-", "."]
    listing = subprocess.run(["ctags", *options], cwd=top, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    letters = {"class": "c", "function": "f", "member": "m", "method": "m", "variable": "v", "constant": "v", "macro": "d", "enumerator": "e", "enum": "g"}
    letters.update(interface="i", alias="a", struct="s", typedef="t", union="u", prototype="p", namespace="n", property="p")
    found: Dict[str, Set[Tuple[str, int]]] = {}
    for line in listing.splitlines():
        tag = json.loads(line)
        if letters.get(tag.get("kind", ""), "?") in kinds and not tag["name"].startswith("__anon"):
            found.setdefault(tag["name"], set()).add((tag["path"][2:] if tag["path"].startswith("./") else tag["path"], tag["line"]))
    return found


def ripgrep(top: str, name: str) -> List[str]:
    """The lines that ripgrep finds for a word, as it prints them for a program."""
    done = subprocess.run(["rg", "-n", "-w", "-F", "--sort", "path", "--", name], cwd=top, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace").split("\n")[:-1]


def sample(names: Sequence[str], count: int) -> List[str]:
    """`count` names at even distances."""
    ordered = sorted(names)
    return [ordered[i * len(ordered) // count] for i in range(min(count, len(ordered)))]


class Asked:
    """A ctx that answers in JSON: bytecode in a directory of its own, with the grammars beside it."""

    def __init__(self, python: Sequence[str]) -> None:
        self.dir = tempfile.mkdtemp(prefix="ctx-search-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir, "CTX_HOME": self.dir + "/store", "LANG": "C.UTF-8"}
        self.python = list(python)
        shutil.copytree(ROOT + "/grammars", self.dir + "/grammars")
        compile_it = "import py_compile, sys; py_compile.compile(sys.argv[1], sys.argv[2], doraise=True, optimize=2)"
        subprocess.run([self.python[0], "-c", compile_it, ROOT + "/ctx.py", self.dir + "/ctx.pyc"], check=True)

    def argv(self, *words: str) -> List[str]:
        """The command line of a verb."""
        return [*self.python, self.dir + "/ctx.pyc", *words]

    def __call__(self, top: str, *words: str) -> Tuple[bytes, bytes]:
        """(stdout, stderr) of a verb in a directory."""
        done = subprocess.run(self.argv(*words), cwd=top, env=dict(self.env, PWD=top), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout, done.stderr

    def close(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.dir)


def workspace_of(top: str) -> str:
    """The tree as a work tree of git, since that is what people have; made once."""
    if not os.path.isdir(os.path.join(top, ".git")):
        subprocess.run(["git", "init", "-q", top], check=True)
        subprocess.run(["git", "-C", top, "add", "-A"], check=True, stderr=subprocess.DEVNULL)
    return top


# ── what it costs


def cost(cache: str, parser: str, _: int) -> List[str]:
    """Whole processes, in turn, medians."""
    top = os.path.join(cache, "tree")
    if not os.path.isdir(top):
        os.makedirs(top)
        for name in ("django", "sympy", "viem"):
            shutil.copytree(os.path.join(cache, name), os.path.join(top, name), ignore=shutil.ignore_patterns(".git", "*.mo", "*.po"))
    workspace_of(top)
    files = [os.path.join(folder, name) for folder, _, names in os.walk(top) if ".git" not in folder.split(os.sep) for name in names]
    contenders: Dict[str, Tuple[Asked, bool]] = {"standard library alone": (Asked([sys.executable, "-I", "-S"]), True)}
    if parser:
        asked = Asked([parser, "-I"])
        contenders["tree-sitter, nothing cached"] = (asked, True)
        contenders["tree-sitter, parsed before"] = (asked, False)
    rows = ["%d files, %.0f MB; %d rounds in turn, medians." % (len(files), sum(map(os.path.getsize, files)) / 1e6, ROUNDS), ""]
    rows += ["| `ctx refs` against `rg -n -w` | %s, ms | ratio | %s, ms | ratio |" % (RARE, COMMON), "|---|---|---|---|---|"]
    times: Dict[Tuple[str, str], List[float]] = {}
    for _round in range(ROUNDS):
        for word in (RARE, COMMON):
            times.setdefault(("rg", word), []).append(seconds(["rg", "-n", "-w", word, "."], top, dict(os.environ)))
            for label, (asked, is_cold) in contenders.items():
                if is_cold:
                    shutil.rmtree(asked.dir + "/store/symbols", ignore_errors=True)
                times.setdefault((label, word), []).append(seconds(asked.argv("refs", word), top, dict(asked.env, PWD=top)))
    for label in ("rg", *contenders):
        cells = []
        for word in (RARE, COMMON):
            median = statistics.median(times[label, word])
            cells += ["%.0f" % (1000 * median), "%.2f" % (median / statistics.median(times["rg", word]))]
        rows.append("| %s | %s |" % (label, " | ".join(cells)))
    for asked in {id(asked): asked for asked, _cold in contenders.values()}.values():
        asked.close()
    return rows


def seconds(argv: Sequence[str], top: str, env: Dict[str, str]) -> float:
    """How long one process takes."""
    start = time.perf_counter()
    subprocess.run(argv, cwd=top, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


# ── what it finds


def quality(cache: str, parser: str, count: int) -> List[str]:
    """Definitions beside those of ctags, lines beside those of ripgrep."""
    asked = Asked([parser, "-I"] if parser else [sys.executable, "-I", "-S"])
    rows = ["| package | names | definitions by ctags | found | told by ctx | of these by ctags | lines by rg | of these in refs |", "|---|---|---|---|---|---|---|---|"]
    notes: List[str] = []
    for name, (_, _, language, kinds) in PACKAGES.items():
        top = workspace_of(os.path.join(cache, name))
        truth = labels(top, language, kinds)
        wanted = found = told = right = lines = held = 0
        names = sample([name for name in truth if name.isidentifier()], count)
        for word in names:
            places = [place for place in all_definitions(asked, top, word) if place[0].endswith(ENDINGS[language])]
            missing = [label for label in truth[word] if not any(is_at(place, label) for place in places)]
            extra = [place for place in places if not any(is_at(place, label) for label in truth[word])]
            wanted, found = wanted + len(truth[word]), found + len(truth[word]) - len(missing)
            told, right = told + len(places), right + len(places) - len(extra)
            notes += ["%s %s not found: %s:%d" % (name, word, *label) for label in sorted(missing)] + ["%s %s only ctx: %s:%d" % (name, word, *place[:2]) for place in extra]
            hits = {tuple(line.split(":", 2)[:2]) for line in ripgrep(top, word) if line.count(":") > 1}
            refs = all_rows(asked, top, word)
            lines, held = lines + len(hits), held + len(hits & refs)
        rows.append("| %s | %d | %d | %d | %d | %d | %d | %d |" % (name, len(names), wanted, found, told, right, lines, held))
    asked.close()
    for note in notes[:60]:
        print(note, file=sys.stderr)
    return rows


def is_at(place: Tuple[str, int, int], label: Tuple[str, int]) -> bool:
    """Whether a definition from line to line is the one at a line: at its head, where its name stands."""
    path, first, last = place
    return path == label[0] and (first <= label[1] <= min(last, first + 5) or label[1] == last)  # a typedef has its name at its end


def every_row(asked: Asked, top: str, *words: str) -> Tuple[List[Dict[str, Any]], List[str]]:
    """The rows of an answer where they fit a page, else the lines in which all of them are kept."""
    value = json.loads(asked(top, *words, "--json")[0] or b"{}")
    if not value.get("next"):
        return value.get("rows", []), []
    return [], asked(top, "get", value["answer"] + "#output", "--all")[0].decode("utf-8", "replace").split("\n")


def all_definitions(asked: Asked, top: str, word: str) -> List[Tuple[str, int, int]]:
    """(path, first line, last line) of every definition that ctx tells of."""
    rows, lines = every_row(asked, top, "def", word)
    kept = [re.match(r"(.*?):(\d+)-(\d+): ", line) for line in lines]
    return [(row["path"], row["line"], row["last"]) for row in rows] + [(found[1], int(found[2]), int(found[3])) for found in kept if found]


def all_rows(asked: Asked, top: str, word: str) -> Set[Tuple[str, ...]]:
    """(path, line) of every row of refs."""
    rows, lines = every_row(asked, top, "refs", word)
    return {(row["path"], str(row["line"])) for row in rows} | {tuple(line.split(":", 2)[:2]) for line in lines if re.match(r".*?:\d+:[a-z]+: ?", line)}


# ── what it says, in tokens


def tokens(cache: str, parser: str, count: int) -> List[str]:
    """The first page of `refs` beside the raw search and its first 50 lines: tokens, and how many definitions each shows."""
    sys.path.insert(0, ROOT)
    import ctx

    asked = Asked([parser, "-I"] if parser else [sys.executable, "-I", "-S"])
    rows = ["| package | names | raw, tokens | first 50 lines | page of refs | definitions | in 50 lines | on the page |", "|---|---|---|---|---|---|---|---|"]
    for name, (_, _, language, kinds) in PACKAGES.items():
        top = workspace_of(os.path.join(cache, name))
        truth = labels(top, language, kinds)
        sums = [0] * 6
        names = [word for word in sample([name for name in truth if name.isidentifier()], 4 * count) if len(ripgrep(top, word)) >= 10][:count]
        for word in names:
            raw = ripgrep(top, word)
            page = asked(top, "refs", word)[0]
            spots = [(row["path"], row["line"], row["line"]) for row in json.loads(asked(top, "refs", word, "--json")[0])["rows"]]
            head = {tuple(line.split(":", 2)[:2]) for line in raw[:50]}
            sums[0] += ctx.estimate_tokens("\n".join(raw).encode())
            sums[1] += ctx.estimate_tokens("\n".join(raw[:50]).encode())
            sums[2] += ctx.estimate_tokens(page)
            sums[3] += len(truth[word])
            sums[4] += sum((path, str(line)) in head for path, line in truth[word])
            sums[5] += sum(any(is_at((path, line, last + 5), label) for path, line, last in spots) for label in truth[word])
        rows.append("| %s | %d | %s |" % (name, len(names), " | ".join(format(n, ",d") for n in sums)))
    asked.close()
    return rows


PARTS = {"cost": cost, "quality": quality, "tokens": tokens}


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("parts", nargs="*", choices=[*PARTS, []])
    options.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "ctx-search-cache"))
    options.add_argument("--parser", default="")
    options.add_argument("--names", type=int, default=60)
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    fetch(chosen.cache)
    lines = ["# Code search", "", "%s, Python %s, %s." % (datetime.date.today(), platform.python_version(), platform.machine()), ""]
    for part in chosen.parts or PARTS:
        lines += ["## " + part, "", (PARTS[part].__doc__ or ""), "", *PARTS[part](chosen.cache, chosen.parser, chosen.names), ""]
        print("\n".join(lines[-8:]), flush=True)
    if chosen.write:
        with open(os.path.join(ROOT, "evals", "results", "search.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


if __name__ == "__main__":
    main()
