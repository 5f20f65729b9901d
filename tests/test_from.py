"""`ctx q … --from -- CMD`: the search that runs is the caller's own, and what is shown of it is it, or a view that loses nothing."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys

import pytest
from harness import Box, program, status_of

import ctx

pytestmark = pytest.mark.once

can_read_toml = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")

NAMES = ["a.py", "b c.py", "d:1:e.js", "f\ng.txt", ".hidden.py", "sub/h.go", "sub/deep/i.c", "sub/.j/k.py", "out/l.py", "-m.py", "n.md", "é.py"]
LINES = [b"def total(x):", b"    return total(x) # Cart", b"class Cart:", b"x = 'total'", b"", b"TOTAL\r", b"caf\xe9 total", "tötal ſ total".encode(), b"Cart total Cart", b"x:12:y"]

FLAGS = {
    "grep": "-n -i -w -l -c -o -v -h -H -s -q -x -E -F -P -L -b -a -I -m2 -A1 -B1 -C1 --null -Z -T --include=*.py --exclude-dir=sub".split(),
    "rg": "-n -i -w -l -c -o -v -N -H -I -q -x -F -S -s -uu --hidden --no-ignore -tpy -g*.py --heading --column --null -m2 -A1 -B1 -C1 -L -a -b".split(),
}
PATTERNS = ["total", "Cart", "total\\|Cart", "total|Cart", "^x", "t.t", "(", "[", "nothing", "\\btotal\\b", "", "é", "total$"]
PATHS = [["."], ["."], ["sub"], ["a.py"], ["a.py", "b c.py"], ["sub", "missing"], ["d:1:e.js"], ["link.py", "."], ["sub/.."], []]


@pytest.fixture
def box(home, tmp_path, monkeypatch):
    """A box whose directory is a work tree with all that makes searches differ."""
    found = Box(home, tmp_path, monkeypatch)
    subprocess.run(["git", "init", "-q", "."], cwd=str(found.work), check=True)
    chance = random.Random(5)
    for name in NAMES:
        path = found.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(chance.choices(LINES, k=12)) + b"\n" * chance.randrange(2))
    (found.work / "binary").write_bytes(b"\0total\n\0" * 9)
    (found.work / ".gitignore").write_text("out/\n")
    (found.work / "link.py").symlink_to("a.py")
    (found.work / "loop").symlink_to(".")
    return found


def searches(count, seed):
    """`count` command lines, and the directory of each."""
    chance = random.Random(seed)
    for _ in range(count):
        tool = chance.choice(sorted(FLAGS))
        flags = chance.sample(FLAGS[tool], chance.randrange(4))
        flags += (["-r"] if chance.random() < 0.8 else []) if tool == "grep" else ["--sort", "path"]
        yield [tool, *flags, "-e", chance.choice(PATTERNS), "--", *chance.choice(PATHS)], chance.choice(["", "", "sub"])


def check(box, argv, cwd, content):
    """One search with ctx and without: the same status, the same stderr, the same lines."""
    options = {"cwd": str(box.work / cwd), "input": b"total\n"}
    plain = box.plain(argv, **options)
    done = box.ctx("q", "refs 'total|Cart' | group file", "--from", "--", *argv, **options)
    assert status_of(done) == status_of(plain), argv
    assert done.stderr == plain.stderr, argv
    if len(plain.stdout) + len(plain.stderr) <= content:
        assert done.stdout == plain.stdout, argv
    if done.stdout == plain.stdout:
        return False
    head, *lines = done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]
    assert re.match(r"\[ctx run:[0-9a-f]{12}\] ", head), (argv, head, len(plain.stdout))
    assert box.bytes(head[9:21], "stdout") == plain.stdout, argv
    wanted = plain.stdout.split(b"\n")
    wanted = wanted[:-1] if not wanted[-1] else wanted
    assert ": %s, " % ctx.plural(len(wanted), "line") in head, argv
    shown = next(line for line in lines if line.startswith("shown: "))
    at = lines.index(shown)
    visible = [ctx.visible(line) for line in wanted]
    body = [line[2:] for line in lines[:at] if line.startswith("  ")]
    assert int(shown.split()[1].replace(",", "")) == len(body), argv
    for line in set(body):
        assert body.count(line) <= visible.count(line), argv
    counts = [int(found.group(1)) for found in (re.match(r"  .*: (\d+)$", line) for line in lines[at + 2 : lines.index("next:")]) if found]
    rest = [int(found.group(1)) for found in (re.match(r"  and (\d+) hits?", line) for line in lines[at:]) if found]
    told = re.search(r"([\d,]+) hits? in", head)
    assert told or "hits and files unknown" in head and not counts, argv
    assert sum(counts) + sum(rest) == (int(told.group(1).replace(",", "")) if told else 0), argv
    return True


TOOLS = pytest.mark.skipif(not (shutil.which("rg") and shutil.which("grep")), reason="the tools are compared")


@TOOLS
def test_a_search_that_fits_is_as_it_was(box):
    for argv, cwd in searches(40, 1):
        check(box, argv, cwd, ctx.BUDGET_CONTENT)


@TOOLS
@can_read_toml
def test_a_search_that_does_not_fit_loses_nothing(box):
    box.config("[budget]\ncontent = 600\n")
    assert sum(check(box, argv, cwd, 600) for argv, cwd in searches(60, 2)) >= 5


@TOOLS
@can_read_toml
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_searches(box):
    for argv, cwd in searches(1000, 3):
        check(box, argv, cwd, ctx.BUDGET_CONTENT)
    box.config("[budget]\ncontent = 600\n")
    for argv, cwd in searches(1000, 4):
        check(box, argv, cwd, 600)


# ── the view


def flood(box, text=b"    return total(x)\n", files=30):
    for i in range(files):
        (box.work / ("f%02d.py" % i)).write_bytes(b"# total\n" + text * 30 + b"def total(x):\n")


def test_definitions_come_first_then_uses_then_mentions(box):
    flood(box)
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-rn", "total", ".")
    text = done.stdout.decode("utf-8", "surrogateescape")
    assert done.returncode == 0 and text.startswith("[ctx run:") and len(text) <= ctx.BUDGET_CONTENT // 3 + 400
    places = [text.index("\n%s:\n" % heading) for heading in ("definitions", "uses", "hits in each file")]
    assert places == sorted(places)
    definitions = text[places[0] : places[1]].split("\n")[2:]
    wrong = [line for line in definitions if "def total" not in line and "class" not in line]
    assert len(definitions) >= 30 and not wrong
    assert text.split("\n")[-3] == "next:"


def test_every_file_has_its_count_shown_or_addressed(box):
    flood(box, files=600)
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-rnw", "total", ".")
    text = done.stdout.decode("utf-8", "surrogateescape")
    blob = re.search(r"\n  and [\d,]+ hits in \d+ more files: .* get (blob:[0-9a-f]{12})\n", text).group(1)
    listed = dict(line.rsplit(b": ", 1) for line in box.ctx("get", blob, "--all").stdout.split(b"\n")[:-1])
    plain = box.plain(["grep", "-rnwc", "total", "."]).stdout.split(b"\n")
    counts = dict(line.rsplit(b":", 1) for line in plain if b":" in line and not line.endswith(b":0"))
    # lines of a name with an LF in it and the line about a binary file name no place
    assert {path: n for path, n in counts.items() if path.startswith(b"./f")}.items() <= listed.items()


@TOOLS
@pytest.mark.parametrize("count", [2, 7, 40, 5000])
def test_a_window_is_kept(box, count):
    flood(box)
    argv = ["rg", "-n", "--sort", "path", "total", "."]
    plain = box.plain(argv).stdout.split(b"\n")[:-1]
    done = box.ctx("q", "--lines", str(count), "refs total | group file", "--from", "--", *argv)
    lines = done.stdout.split(b"\n")[:-1]
    assert done.returncode == 0 and len(lines) <= count
    total = ctx.plural(len(plain), "line").encode()
    address = re.match(rb"\[ctx run:[0-9a-f]{12}\] %s, .* shown; all: .* get (run:[0-9a-f]{12}#stdout)$" % total, lines[0]).group(1)
    assert box.ctx("get", address, "--all").stdout.split(b"\n")[:-1] == plain
    assert b", %d shown;" % (len(lines) - 1) in lines[0]
    shown, visible = [line[2:].decode() for line in lines[1:]], [ctx.visible(line) for line in plain]
    assert all(shown.count(line) <= visible.count(line) for line in shown)
    assert all("def total" in line for line in shown[:30])


@TOOLS
def test_no_search_is_shown_in_more_lines_than_asked(box):
    cut = 0
    for argv, cwd in searches(60, 5):
        options = {"cwd": str(box.work / cwd), "input": b"total\n"}
        plain = box.plain(argv, **options)
        done = box.ctx("q", "--lines", "6", "refs total", "--from", "--", *argv, **options)
        assert (status_of(done), done.stderr) == (status_of(plain), plain.stderr), argv
        if len(plain.stdout.split(b"\n")) <= 7 and plain.stdout[-1:] in (b"", b"\n"):
            assert done.stdout == plain.stdout, argv
        else:
            cut += 1
            assert done.stdout.count(b"\n") <= 6 and box.bytes(done.stdout[9:21].decode(), "stdout") == plain.stdout, argv
    assert cut > 5


@TOOLS
@pytest.mark.parametrize("count", [2, 7, 40, 5000])
def test_a_window_at_the_end_is_kept(box, count):
    flood(box)
    argv = ["rg", "-n", "--sort", "path", "total", "."]
    plain = box.plain(argv).stdout.split(b"\n")[:-1]
    done = box.ctx("q", "--tail", str(count), "refs total | group file", "--from", "--", *argv)
    head, *shown = done.stdout.decode().split("\n")[:-1]
    assert done.returncode == 0 and len(shown) < count
    assert [line[2:] for line in shown] == [ctx.visible(line) for line in plain[len(plain) - len(shown) :]]
    assert ", %d shown;" % len(shown) in head and (len(shown) == count - 1 or count == 5000 and len(shown) > 200)
    address = re.search(r"; all: .* get (run:[0-9a-f]{12}#stdout)$", head).group(1)
    assert box.ctx("get", address, "--all").stdout.split(b"\n")[:-1] == plain
    assert box.ctx("q", "--tail", "5", "--lines", "5", "refs total", "--from", "--", *argv).returncode == 2


def test_a_search_in_one_file_shows_its_definitions_first(box):
    (box.work / "one.py").write_bytes(b"# total\n" + b"    return total(x)\n" * 2000 + b"def total(x):\n")
    for words, first in ((["--lines", "30"], "  2002:def total(x):"), ([], "definitions:")):
        done = box.ctx("q", *words, 'refs "total|Cart" "one.py" | group file', "--from", "--", "grep", "-n", "total\\|Cart", "one.py")
        head, second, *rest = done.stdout.decode().split("\n")[:-1]
        assert "2,002 lines, 2,002 hits in 1 file" in head and second == first
        assert rest[0].startswith("  2:    return" if words else "  2002:def total(x):") and len(rest) < (30 if words else 600)


@pytest.mark.parametrize("command", ["grep -rna total . | grep -av return", "grep -rna total . | grep -av '^./f0' | head -20", "grep -rna total . | grep -aiv DEF | tail -9",
                                     "grep -rna total . | grep -a nothing", "grep -rna total . | grep -a '(' | head -5 2>/dev/null"])  # fmt: skip
def test_what_filters_leave_of_a_search_is_viewed(box, command):
    flood(box, files=100)
    verdict = ctx.judge(command, ctx.Facts("ctx", reads=True, collapse=True))
    changed = ctx.with_edits(command, verdict.edits).replace("| ctx ", "| %s " % " ".join(map(ctx.shell_word, program())))
    assert verdict.fires == 1
    plain, done = (box.plain(["bash", "-c", line]) for line in (command, changed))
    assert (done.returncode, done.stderr) == (plain.returncode, plain.stderr)
    lines = plain.stdout.split(b"\n")[:-1]
    window = int(re.search(r"(?:head|tail) -(\d+)|$", command).group(1) or 5000)
    if done.stdout != plain.stdout:
        assert done.stdout.count(b"\n") <= window
        assert set(lines) <= set(box.bytes(done.stdout[9:21].decode(), "stdout").split(b"\n"))
    else:
        assert len(plain.stdout) <= ctx.BUDGET_CONTENT


@TOOLS
def test_what_is_within_the_window_is_as_it_was(box):
    flood(box)
    for options in (["-m1"], ["-A1", "def total"]):
        argv = ["rg", "-n", "--sort", "path", *options, "total", "f00.py", "f01.py"]
        plain = box.plain(argv)
        done = box.ctx("q", "--lines", str(max(2, plain.stdout.count(b"\n"))), "refs total", "--from", "--", *argv)
        assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, plain.returncode)


def test_context_keeps_its_place(box):
    flood(box)
    argv = ["grep", "-rn", "-A1", "def total", "f00.py", "f01.py", *["f%02d.py" % i for i in range(30)] * 30]
    done = box.ctx("q", "refs total", "--from", "--", *argv)
    lines = done.stdout.decode().split("\n")
    assert lines[1] == "lines:" and lines[2] == "  f00.py:32:def total(x):"
    assert lines[2:4] == ["  " + line for line in box.plain(argv).stdout.decode().split("\n")[:2]]


def test_where_no_symbol_is_resolved_it_says_so(box):
    for i in range(60):
        (box.work / ("f%02d.unknown" % i)).write_bytes(b"total of it\n" * 30)
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-n", "total", *["f%02d.unknown" % i for i in range(60)])
    lines = done.stdout.decode().split("\n")
    assert lines[1:3] == ["no symbol could be resolved: this is a bounded search", "other hits:"]


def test_secrets_of_a_view_are_redacted(box):
    secret = b"ghp_" + b"abcdefghijklmnopqrstuvwxyz0123456789"
    flood(box, b"    return total('%s')\n" % secret)
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-rn", "total", ".")
    assert secret not in done.stdout and b"[redacted:" in done.stdout and b"redacted" in done.stderr and done.returncode == 0


def test_off_and_mistakes(box):
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-n", "total", "a.py", env={"CTX_OFF": "1"})
    assert done.stdout == box.plain(["grep", "-n", "total", "a.py"]).stdout
    for words in (["refs total", "--from"], ["refs total", "--from", "--"], ["nothing", "--from", "--", "true"]):
        assert box.ctx("q", *words).returncode == 2
    assert box.ctx("q", "refs total", "--from", "--", "no-such-program").returncode == 127


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_without_a_store_the_search_passes(box):
    flood(box)
    box.store.mkdir(mode=0o500)
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-rn", "total", ".", env={"TMPDIR": "/nowhere"})
    assert done.stdout == box.plain(["grep", "-rn", "total", "."]).stdout


@TOOLS
@pytest.mark.parametrize("argv", [["rg", "-n", "--color=always"], ["grep", "-rn", "--color=always"], ["grep", "-rZ"], ["rg", "-n0"], ["git", "grep", "-nz"], ["rg", "-n", "--heading"],
                                  ["git", "grep", "-n", "--heading"], ["rg", "-p"], ["rg", "-n0A1"], ["grep", "-rnZA1"]], ids=" ".join)  # fmt: skip
def test_hits_are_counted_however_their_files_are_named(box, argv):
    flood(box, files=60)
    subprocess.run(["git", "add", "."], cwd=str(box.work), check=True)
    names = ["f%02d.py" % i for i in range(60)]
    text = box.ctx("q", "refs total", "--from", "--", *argv, "total", "--", *names).stdout.decode()
    assert " 1,920 hits in 60 files\n" in text and "\n  f07.py: 32\n" in text


@TOOLS
@pytest.mark.parametrize("argv", [["grep", "-c"], ["rg", "-c"], ["git", "grep", "-c"]], ids=" ".join)
def test_numbers_of_hits_are_such(box, argv):
    flood(box, files=600)
    subprocess.run(["git", "add", "."], cwd=str(box.work), check=True)
    (box.work / "f07.py").write_text("nothing\n")
    done = box.ctx("q", "--lines", "5", "refs total", "--from", "--", *argv, "total", "--", *["f%02d.py" % i for i in range(600)])
    assert re.match(rb"\[ctx run:\w+\] [\d,]+ lines, 19,168 hits in 599 files, 4 shown;", done.stdout)


@TOOLS
@pytest.mark.parametrize("argv", [["grep", "-rl"], ["rg", "-l"], ["grep", "-rh"], ["git", "grep", "-l"]], ids=" ".join)
def test_lines_that_show_no_file_are_not_said_to_be_no_hits(box, argv):
    flood(box, text=b"    return total(x)\n", files=600)
    subprocess.run(["git", "add", "."], cwd=str(box.work), check=True)
    done = box.ctx("q", "--lines", "5", "refs total", "--from", "--", *argv, "total")
    assert re.match(rb"\[ctx run:\w+\] [\d,]+ lines, hits and files unknown, \d+ shown; all: ", done.stdout)


def test_a_small_output_beside_a_flood_of_errors_is_as_it_was(box):
    script = "import sys; sys.stderr.write('no\\n' * 9000); print('a.py:1:total'); sys.exit(1)"
    for words in ([sys.executable, "-c", script], [sys.executable, "-c", script.replace("print", "str")]):
        plain, done = box.plain(words), box.ctx("q", "refs total", "--from", "--", *words)
        assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)


@can_read_toml
def test_errors_that_were_shown_already_are_not_shown_again(box):
    box.config("[budget]\nhold = 1\n")
    script = "import sys, time; sys.stderr.write('no\\n'); sys.stderr.flush(); time.sleep(2); print('a.py:1:total\\n' * 9000); sys.stderr.write('end\\n')"
    done = box.ctx("q", "refs total", "--from", "--", sys.executable, "-c", script)
    assert done.stderr == b"no\nend\n" and b"\nhits in each file:\n  a.py: 9000\n" in done.stdout


def test_a_long_row_of_digits_is_no_number_of_hits(box):
    (box.work / "a.py").write_text("1" * 20_000 + "\n")
    done = box.ctx("q", "refs total", "--from", "--", "grep", "-H", "1", "a.py")
    assert done.returncode == 0 and b": 1 line, 1 hit in 1 file\n" in done.stdout
