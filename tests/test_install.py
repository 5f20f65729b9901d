"""The packed form, builds, and what setup writes into the files of hosts."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import cases
import pytest
import test_corpus
from hypothesis import given
from hypothesis import strategies as st

import build
import ctx

pytest_plugins = ["places"]

ROOT = Path(__file__).resolve().parent.parent
SOURCE = (ROOT / "ctx.py").read_bytes()


# ── the packed form


@pytest.fixture(scope="module")
def packed():
    """packed() is a fresh namespace of this source, unpacked."""
    data = ctx.pack(SOURCE)

    def namespace():
        return ctx.unpack(lambda offset, size: data[offset : offset + size], str(ROOT / "ctx.py"))

    return namespace


class Module:
    """A namespace that is read as a module: names are defined when they are asked for."""

    def __init__(self, space):
        self.__dict__ = space

    def __getattr__(self, name):
        self.__dict__["__define__"](name)
        return self.__dict__[name]


def pack_of(text):
    """The namespace of a small source."""
    data = ctx.pack(text.encode())
    return ctx.unpack(lambda offset, size: data[offset : offset + size], "small.py")


def shown(value):
    """A value as text, without the addresses of what has no other."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def test_every_definition_can_be_the_first(packed):
    names = [name for names, _ in ctx.definitions(SOURCE) for name in names if name != "__main__"]
    assert len(names) > 800
    spec = importlib.util.spec_from_file_location("ctx", ctx.__file__)
    untouched = importlib.util.module_from_spec(spec)  # no other test has left anything in its tables
    spec.loader.exec_module(untouched)
    for name in names:
        space, real = packed(), getattr(untouched, name)
        space["__define__"](name)
        value = space[name]
        assert type(value).__name__ == type(real).__name__
        if hasattr(real, "__name__"):
            assert value.__name__ == real.__name__
        else:
            assert value == real or shown(value) == shown(real) or len(value) == len(real), name  # sets have no order


@pytest.mark.parametrize("name", cases.NAMES[::17])
def test_digests_are_those_of_the_source(packed, home, monkeypatch, name):
    environment = {b"CTX_HOME": str(home).encode(), b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"}
    monkeypatch.setattr(ctx.posix, "environ", environment)
    module = Module(packed())
    monkeypatch.setattr(cases, "ctx", module)
    data, _ = module.digest_of(cases.Case(name).keep(), test_corpus.SETTINGS, "ctx")
    assert hashlib.sha256(data).hexdigest() == json.loads(test_corpus.DIGESTS.read_text())[name]


def test_what_is_not_used_is_not_loaded(packed):
    space = packed()
    space["__define__"]("find_verb")
    assert space["find_verb"]("runs").name == "runs"
    assert "VERBS" in space and "Capture" not in space and "ROWS" not in space


@pytest.mark.parametrize(
    "command, reads",
    [
        ("git status --short", 2),
        ("rm -rf build && echo \"it's \\\"gone\\\"\"", 2),
        ("bash -lc 'rg -n x src; find . -name y'", 3),
        ("cd web && CI=1 timeout 60 env npm test 2>&1 | tail -40", 5),
        ("cat y && pytest -q tests/a.py && make", 5),
    ],
)
def test_what_a_hook_uses_comes_in_a_few_pieces(home, monkeypatch, tmp_path, command, reads):
    data, seen = ctx.pack(SOURCE), []
    for name in ("ctx", "pytest", "make"):
        (tmp_path / name).touch(0o700)
    variables = {b"PATH": str(tmp_path).encode(), b"HOME": str(home).encode(), b"CTX_HOME": str(home / "store").encode()}
    monkeypatch.setattr(ctx.posix, "environ", variables)

    def read(offset, size):
        seen.append(offset)
        return data[offset : offset + size]

    payload = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "cwd": str(tmp_path)})
    for _ in range(2):  # the first keeps a snapshot of the rules
        seen.clear()
        space = ctx.unpack(read, str(tmp_path / "ctx"))
        space["__define__"]("hook_entry")
        assert space["hook"]("claude", "PreToolUse", payload.encode(), variables) == b""
    assert len(seen) == len(set(seen)) <= reads and 24 not in seen  # where the index is


def test_what_comes_in_a_piece_can_be_the_first_of_it(packed):
    head = packed()
    head["__define__"]("hook_entry")
    behind = [name for name, value in head.items() if getattr(value, "__code__", None) is ctx.undefined.__code__]
    assert {"authority", "by_shell", "inner_texts"} <= {*behind, "inner_texts"} and len(behind) > 20
    for name in (*behind, "inner_texts", "Grant", "MUTATING", "runs_of"):
        if name not in ("_json", "posix", "sys"):
            space = packed()
            space["__define__"]("hook_entry")
            scanner, held = space["Scanner"], space.get(name)
            space["__define__"](name)
            assert space[name] is not held and space["Scanner"] is scanner


def test_what_came_with_another_is_not_loaded_again(packed):
    space = packed()
    space["__define__"]("hook_entry")
    held = space["by_targets"]
    space["__define__"]("by_shell")
    came, words = space["by_targets"], space["MUTATING"]
    assert came is not held and held.__code__ is ctx.undefined.__code__
    reading = held("make", space["rule_for"]("make"), ["make", "deploy"], 0)
    assert reading.kind == "mutation" and held.__code__ is came.__code__ and space["MUTATING"] is words


def test_a_hook_that_fails_notes_where(packed, home, monkeypatch):
    monkeypatch.setattr(ctx.posix, "environ", {b"HOME": str(home).encode(), b"CTX_HOME": str(home / "store").encode(), b"PATH": b""})
    left = []
    space = packed()
    space["__define__"]("hook_entry")
    space.update(read_input=lambda: b"[]", set_alarm=lambda *_: None, write_all=lambda fd, data: left.append(data))
    monkeypatch.setattr(ctx.posix, "_exit", sys.exit)
    with pytest.raises(SystemExit, match="0"):
        space["hook_main"](["claude", "PreToolUse"], lambda: None)
    noted = json.loads((home / "store" / "ledger").read_text())
    assert left == [b""] and noted["did"] == "failed" and noted["why"].startswith("ValueError in read_call (line ")


def test_a_pack_has_the_same_bytes_wherever_it_is_made(home, monkeypatch, tmp_path):
    monkeypatch.setattr(ctx.posix, "environ", {b"CTX_HOME": b"/nowhere", b"HOME": b"", b"PATH": b"", b"CLAUDE_PID": b"1"})
    one = ctx.pack(SOURCE)
    monkeypatch.setattr(sys, "argv", ["-c"])
    monkeypatch.chdir(tmp_path)
    assert ctx.pack(SOURCE) == one and ctx.posix.environ[b"CLAUDE_PID"] == b"1"


def test_a_function_keeps_its_identity(packed):
    space = pack_of("def f(a, b=2, *, c=3):\n    return a, b, c\n\nTABLE = [f]\n\ndef call():\n    return TABLE[0](1), TABLE[0] is f\n")
    space["__define__"]("call")
    assert space["call"]() == ((1, 2, 3), True)
    assert space["TABLE"][0] is space["f"] and space["f"](1, c=4) == (1, 2, 4)


def test_a_change_of_a_table_is_part_of_it():
    space = pack_of("T = {'a': 1}\nT['b'] = 2\nT.update(dict.fromkeys('cd', 3))\n\ndef f():\n    return T\n")
    space["__define__"]("f")
    assert space["f"]() == {"a": 1, "b": 2, "c": 3, "d": 3}


def test_a_class_sees_what_stands_below_it():
    space = pack_of("class A:\n    def f(self):\n        return B, LATER\n\nLATER = [A()]\n\nclass B(A):\n    pass\n")
    space["__define__"]("A")
    assert space["A"]().f() == (space["B"], space["LATER"])


def test_a_variable_that_functions_set():
    space = pack_of("_seen = 0\n\ndef count():\n    global _seen\n    _seen += 1\n    return _seen\n")
    space["__define__"]("count")
    assert [space["count"](), space["count"]()] == [1, 2]


@pytest.mark.parametrize("line", ["print(3)", "for x in ():\n    pass", "f()", "del f"])
def test_a_statement_that_defines_nothing_is_refused(line):
    with pytest.raises(ctx.CtxError, match="line 3: a statement that defines nothing"):
        ctx.pack(("def f():\n    pass\n%s\n" % line).encode())


# ── builds


@pytest.fixture
def built(run_ctx, home):
    """The link to a build, made by this interpreter."""
    made = subprocess.run([sys.executable, "-c", "import ctx; print(ctx.install_build())"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    link = Path(made.stdout.decode().strip())
    assert link == home / "current"
    return link


def run(words, **options):
    """Run something; a CompletedProcess of bytes."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)


@pytest.mark.parametrize("words, reads", [("version", 2), ("run -- true", 3), ("run -- sh -c 'echo out; exit 3'", 3)])
def test_what_a_run_of_small_output_uses_comes_in_a_few_pieces(built, words, reads):
    script = (
        "import os, posix, sys\n"
        "sys.path.append(sys.argv.pop(1))\n"
        "import ctx\n"
        "del sys.path[-1]\n"
        "data, seen = ctx.read_file(sys.argv.pop(1)), []\n"
        "posix._exit = lambda status: os.write(2, repr((status, seen)).encode())\n"
        "ctx.unpack(lambda at, size: (seen.append(at), data[at : at + size])[1], '/ctx')['__define__']('__main__')\n"
    )
    argv = [sys.executable, "-IS", "-c", script, str(ROOT), os.path.join(os.path.realpath(built), "ctx.pack"), *shlex.split(words)]
    for _ in range(2):  # the first finds no store
        done = run(argv)
    status, seen = ast.literal_eval(done.stderr.decode())
    assert status == (3 if "exit" in words else 0) and len(seen) <= reads and 24 not in seen


def test_a_build_is_private(built):
    folder = Path(os.path.realpath(built))
    assert folder.parent == built.parent / "builds"
    assert {path.name for path in folder.iterdir()} == {"ctx", "ctx.py", "ctx.pyc", "ctx.pack", "hook.pyc"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in [folder, *folder.rglob("*")])


def test_the_launcher_does_what_the_source_does(built, run_ctx, tmp_path):
    line = "for i in $(seq 4000); do echo line $i; done; exit 3"
    for words in (["version"], ["run", "--", "sh", "-c", "echo out; echo err >&2; exit 7"], ["runs", "--json"], ["xyzzy"], ["help", "get"]):
        source, launched = run_ctx(*words, cwd=tmp_path), run([built / "ctx", *words], cwd=tmp_path)
        assert (launched.returncode, launched.stderr) == (source.returncode, source.stderr)
        assert launched.stdout == source.stdout or words[0] == "runs"
    digest = run([built / "ctx", "run", "--", "sh", "-c", line], cwd=tmp_path)
    assert digest.returncode == 3
    assert digest.stdout.startswith(b"[ctx run:")
    following = digest.stdout.decode().split("next:\n")[1].splitlines()[0]
    assert following.startswith("  %s get run:" % (built / "ctx"))
    again = run(["sh", "-c", following], cwd=tmp_path)
    assert again.returncode == 0 and b"line " in again.stdout


def test_on_the_path_it_is_called_by_its_name(built, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ctx").symlink_to(built / "ctx")
    env = dict(os.environ, PATH="%s:%s" % (tmp_path / "bin", os.environ["PATH"]))
    digest = run(["ctx", "run", "--", "sh", "-c", "for i in $(seq 4000); do echo line $i; done"], cwd=tmp_path, env=env)
    assert "\n  ctx get run:" in digest.stdout.decode()


def test_the_launcher_loads_no_site(built):
    text = (built / "ctx").read_text()
    assert text.startswith("#!%s -IS\n" % os.path.realpath(sys.executable))


def test_other_bytecode_falls_back_to_the_source(built):
    for damage in (b"\0\0\r\n", None):
        code = built / "ctx.pyc"
        if damage is None:
            code.unlink()
        else:
            code.write_bytes(damage + code.read_bytes()[4:])
        done = run([built / "ctx", "version"])
        assert (done.returncode, done.stderr) == (0, b"") and done.stdout.startswith(b"ctx ")


@pytest.mark.once
def test_another_python_starts_the_build(built):
    expected = run([built / "ctx", "version"]).stdout.split()[1]
    for python in [python for version, python in build.interpreters().items() if version >= (3, 8)]:
        done = run([python.path, "-I", "-S", built / "ctx", "version"])
        assert done.stdout.decode() == "ctx %s (Python %s)\n" % (expected.decode(), python.full), done.stderr


@pytest.mark.once
def test_twenty_first_starts_at_once(home):
    script = "import ctx; print(ctx.install_build())"
    starts = [subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(20)]
    answers = [start.communicate(timeout=400) for start in starts]
    assert set(answers) == {(b"%s/current\n" % str(home).encode(), b"")}
    assert len(list((home / "builds").iterdir())) == 1
    assert run([home / "current" / "ctx", "version"]).returncode == 0


def test_older_builds_are_collected_after_a_grace(built, home, monkeypatch):
    monkeypatch.setitem(ctx.posix.environ, b"CTX_HOME", str(home).encode())
    current = os.path.realpath(built)
    for name, age in (("old-a70d", ctx.BUILD_GRACE + 9), ("young-a70d", ctx.BUILD_GRACE - 99), (".tmp-123456", ctx.BUILD_GRACE + 9)):
        shutil.copytree(current, home / "builds" / name)
        os.utime(home / "builds" / name, (ctx.now() - age,) * 2)
    os.utime(current, (0, 0))
    ctx.collect_builds(str(home / "builds"), current)
    assert sorted(path.name for path in (home / "builds").iterdir()) == sorted(["young-a70d", os.path.basename(current)])


def test_the_grace_begins_when_a_build_is_replaced(built, monkeypatch, home):
    monkeypatch.setitem(ctx.posix.environ, b"CTX_HOME", str(home).encode())
    old = os.path.realpath(built)
    os.utime(old, (0, 0))
    monkeypatch.setattr(ctx, "own_source", lambda: SOURCE + b"#")
    ctx.install_build()
    assert os.path.realpath(built) != old
    assert run([Path(old) / "ctx", "version"]).returncode == 0


@pytest.mark.parametrize("folder", ["with a blank", "with 'quotes' and a blank", "long" * 40])
def test_an_interpreter_that_no_first_line_can_name(home, monkeypatch, tmp_path, folder):
    python = tmp_path / folder / "python3"
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setitem(ctx.posix.environ, b"CTX_HOME", str(home).encode())
    monkeypatch.setattr(ctx, "own_python", lambda: str(python))
    launcher = Path(ctx.install_build()) / "ctx"
    assert launcher.read_text().startswith("#!/bin/sh\n")
    done = run([launcher, "run", "--", "sh", "-c", "echo $#; exit 4", "a", "b c"])
    assert (done.returncode, done.stdout, done.stderr) == (4, b"1\n", b"")


def test_a_running_command_outlives_its_build(built, tmp_path):
    go, gone = tmp_path / "go", os.path.realpath(built)
    os.mkfifo(go)
    line = "cat %s > /dev/null; for i in $(seq 4000); do echo line $i; done" % go
    start = subprocess.Popen([str(built / "ctx"), "run", "--", "sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(go, "w"):  # the command runs now
        shutil.rmtree(gone)
    out, err = start.communicate(timeout=60)
    assert (start.returncode, err) == (0, b"")
    assert out.startswith(b"[ctx run:")


def test_nowhere_to_install(home, monkeypatch, tmp_path):
    monkeypatch.setattr(ctx, "state_roots", lambda: [ctx.temp_root()])
    monkeypatch.setitem(ctx.posix.environ, b"TMPDIR", str(tmp_path).encode())
    with pytest.raises(ctx.CtxError, match="is only temporary: set HOME, or CTX_HOME"):
        ctx.install_build()


# ── JSON as its owner wrote it

blanks = st.sampled_from(["", "", " ", "\n", "\n  ", "\t", " // note, {\n", "/* \n ] */", "\r\n"])
words = st.text("abc\"\\é\n\u2028", max_size=4)
scalars = st.none() | st.booleans() | st.integers(-99, 99) | words


@st.composite
def odd_json(draw, value):
    """A value as somebody might have typed it: (text)."""
    if isinstance(value, (dict, list)):
        parts = []
        for item in value.items() if isinstance(value, dict) else value:
            key = "%s%s:%s" % (json.dumps(item[0]), draw(blanks), draw(blanks)) if isinstance(value, dict) else ""
            parts.append(draw(blanks) + key + draw(odd_json(item[1] if isinstance(value, dict) else item)) + draw(blanks))
        comma = "," + draw(blanks) if parts and draw(st.booleans()) else ""
        return ("{%s}" if isinstance(value, dict) else "[%s]") % (",".join(parts) + comma + ("" if parts else draw(blanks)))
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8)
handlers = st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.sampled_from(["x", "rtk hook"])}), min_size=1, max_size=2)})
hooks = st.fixed_dictionaries({}, optional={"PreToolUse": st.lists(handlers, min_size=1, max_size=2), "Stop": st.lists(handlers, min_size=1, max_size=2)})
documents = st.fixed_dictionaries({}, optional={"a": values, "env": values, "hooks": hooks.filter(bool), "z": values})


def read(text):
    """A text as ctx reads it, without places."""
    return ctx.JsonText(text).root.plain()


@given(values.flatmap(lambda value: st.tuples(st.just(value), odd_json(value))), blanks, blanks)
def test_json_of_any_shape_is_read(pair, before, after):
    value, text = pair
    assert read(before + text + after) == value


@given(values, st.sampled_from([None, 1, 2, 4, "\t"]))
def test_plain_json_is_read_as_python_reads_it(value, indent):
    text = json.dumps(value, indent=indent)
    assert read(text) == json.loads(text)


@given(st.text("{}[],:\"\\/*\n a1", max_size=20))
def test_what_is_no_json_is_refused(text):
    try:
        expected = json.loads(text)
    except ValueError:
        try:
            read(text)
        except ctx.CtxError as error:
            assert str(error).startswith("line ")
    else:
        assert read(text) == expected


def test_deep_nesting_is_refused():
    with pytest.raises(ctx.CtxError, match="line 1: not JSON"):
        read("[" * 100000)


def with_ours(document, host):
    """A document with our hooks in it, made with Python's means."""
    document = json.loads(json.dumps(document))
    for (groups, event), value in ctx.hook_entries(host, "/build"):
        document.setdefault(groups, {}).setdefault(event, []).append(value)
    return document


@given(documents.flatmap(lambda value: st.tuples(st.just(value), odd_json(value))), st.sampled_from(["claude", "codex", "gemini", "antigravity"]))
def test_hooks_are_added_and_nothing_else_changes(pair, host):
    document, text = pair
    done = ctx.with_hooks(text, host, "/build")
    assert read(done) == with_ours(document, host)
    assert list(read(done))[: len(document)] == list(document)
    left = ctx.without_hooks(done)
    assert read(left) == document
    for comment in ("// note, {", "/* \n ] */"):
        assert done.count(comment) == left.count(comment) == text.count(comment)
    assert ctx.without_hooks(text) == text


@given(documents.filter(lambda document: all(document.values())), st.sampled_from([1, 2, 4, "\t", None]), st.booleans(), st.booleans())
def test_of_usual_json_not_a_byte_changes(document, indent, dos, bom):
    text = "\ufeff" * bom + json.dumps(document, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if dos else text
    done = ctx.with_hooks(text, "claude", "/build")
    assert ctx.without_hooks(done) == text
    if indent and document:
        assert json.loads(done.lstrip("\ufeff")) == with_ours(document, "claude")
        assert done == ("\ufeff" * bom + json.dumps(with_ours(document, "claude"), indent=indent, ensure_ascii=False) + "\n").replace("\n", "\r\n" if dos else "\n")


# ── setup


@pytest.fixture
def user(run_ctx, home, monkeypatch):
    """The home directory that setup writes into."""
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return Path(os.environ["HOME"])


def tree(folder):
    """Every file below a directory: path → (bytes, mode, link); directories, too."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = (content, info.st_mode)
    return found


STYLES = {
    "missing": None,
    "empty": b"",
    "blank": b" \n\n",
    "object": b"{}",
    "object on two lines": b"{\n}\n",
    "usual": b'{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls)"]\n  }\n}\n',
    "hooks": b'{\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{"hooks": [{"type": "command", "command": "x"}]}\n\t\t]\n\t},\n\t"z": 1\n}',
    "empty hooks": b'{"hooks": {"PreToolUse": []}}',
    "comments": b'// first\n{\n  "a": 1, // one\n  /* two */ "b": [1, 2,],\n  // last\n}\n// end',
    "bom and crlf": b'\xef\xbb\xbf{\r\n    "a": "\xc3\xa9\xe2\x80\xa8"\r\n}\r\n',
    "flat": b'{"a":1}',
    "twice": b'{"hooks": 3, "hooks": {}}',
}


@pytest.mark.parametrize("host", list(ctx.SETUPS))
@pytest.mark.parametrize("style", list(STYLES))
def test_remove_gives_every_byte_back(user, call, host, style):
    path = user / ctx.SETUPS[host].folder / ctx.SETUPS[host].user
    if STYLES[style] is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(STYLES[style])
        path.chmod(0o640)
    before = tree(user)
    file = ctx.host_file(host, False)
    file.write(file.wanted("/build"))
    done = ctx.host_file(host, False)
    assert done.missing("/build") == [] and done.wanted("/build") == done.text
    assert STYLES[style] is None or path.stat().st_mode & 0o777 == 0o640
    expected = {event: ctx.hook_command(host, event, "/build") for event in ctx.HOSTS[host].events}
    assert sorted(command for command in ctx.commands_in(done.text) if command != "x") == sorted(expected.values())
    done.write(done.before)
    assert tree(user) == before


def test_setup_says_what_it_writes_and_does_it_once(user, run_ctx):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_bytes(STYLES["usual"])
    shown = run_ctx("setup", "--print")
    assert (shown.returncode, settings.read_bytes()) == (0, STYLES["usual"])
    assert shown.stdout.startswith(b"claude: %s\n" % str(settings).encode())
    done = run_ctx("setup")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(shown.stdout)
    after = settings.read_bytes()
    assert b'"permissions": {\n    "allow": ["Bash(ls)"]\n  }' in after
    again = run_ctx("setup", "claude")
    assert again.stdout.startswith(b"claude: nothing to do in ")
    assert settings.read_bytes() == after
    assert run_ctx("setup", "--remove").returncode == 0
    assert settings.read_bytes() == STYLES["usual"]


def test_what_the_user_changes_afterwards_stays(user, run_ctx):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_bytes(STYLES["comments"])
    assert run_ctx("setup", "claude").returncode == 0
    settings.write_bytes(settings.read_bytes().replace(b'"a": 1', b'"a": 7'))
    assert run_ctx("setup", "claude").stdout.startswith(b"claude: nothing to do")
    assert run_ctx("setup", "--remove", "claude").returncode == 0
    assert read(settings.read_text()) == {"a": 7, "b": [1, 2]}
    assert all(comment in settings.read_bytes() for comment in (b"// first", b"// one", b"/* two */", b"// last", b"// end"))


def test_a_file_that_the_host_wrote_anew(user, run_ctx):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_bytes(STYLES["hooks"])
    assert run_ctx("setup", "claude").returncode == 0
    settings.write_text(json.dumps(dict(json.loads(settings.read_text()), model="x"), indent=2))
    assert run_ctx("setup", "--remove", "claude").returncode == 0
    assert json.loads(settings.read_text()) == dict(json.loads(STYLES["hooks"]), model="x")


@pytest.mark.parametrize("found", [{"hooks": {}}, {"hooks": {"PreToolUse": [], "Stop": []}}, {"hooks": {"PreToolUse": [{"hooks": []}]}}, {}])
def test_what_was_empty_before_stays_in_a_file_that_was_written_anew(user, run_ctx, found):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_text(json.dumps(found))
    assert run_ctx("setup", "claude").returncode == 0
    settings.write_text(json.dumps(dict(json.loads(settings.read_text()), model="x"), indent=2))
    assert run_ctx("setup", "--remove", "claude").returncode == 0
    assert json.loads(settings.read_text()) == dict(found, model="x")


def test_doctor_finds_hooks_of_another_python(user, run_ctx):
    """One host is set up by one Python, another host by another: what is installed is for the second."""
    (user / ".claude").mkdir()
    run_ctx("setup", "claude")
    settings = user / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace(os.path.realpath(sys.executable), "/bin/sh"))
    done = run_ctx("doctor")
    assert done.returncode == 1 and b"its hooks are for another Python than what is installed, and slow\n        fix: ctx setup claude" in done.stdout
    assert run_ctx("setup", "claude").returncode == 0 and run_ctx("doctor").returncode == 0


def test_what_would_be_written_is_not_shown_where_it_would_not_be(user, run_ctx):
    (user / "file").write_text("")
    for words in ([], ["--print"]):
        done = run_ctx("setup", "claude", *words, env={"CTX_HOME": str(user / "file"), "TMPDIR": str(user)})
        assert done.returncode == 2 and done.stdout == b"" and b"is only temporary: set HOME, or CTX_HOME" in done.stderr


def test_how_to_get_on_the_path_is_said_as_ctx_was_started(user, run_ctx):
    assert re.search(rb"ctx is not on PATH: \S*python\S* \S+/ctx\.py setup --link makes", run_ctx("setup", "claude").stdout)


def test_hooks_of_another_build_are_replaced(user, run_ctx):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_text(ctx.with_hooks(STYLES["usual"].decode(), "claude", "/gone"))
    assert run_ctx("setup", "claude").returncode == 0
    assert "/gone" not in settings.read_text()
    assert run_ctx("setup", "--remove", "claude").returncode == 0
    assert settings.read_bytes() == STYLES["usual"]


def test_a_link_stays_a_link(user, run_ctx):
    (user / "dotfiles").mkdir()
    (user / ".claude").mkdir()
    (user / "dotfiles" / "claude.json").write_bytes(b"{}")
    (user / ".claude" / "settings.json").symlink_to("../dotfiles/claude.json")
    assert run_ctx("setup", "claude").returncode == 0
    assert os.readlink(user / ".claude" / "settings.json") == "../dotfiles/claude.json"
    assert b"hook.pyc" in (user / "dotfiles" / "claude.json").read_bytes()
    assert run_ctx("setup", "claude", "--remove").returncode == 0
    assert (user / "dotfiles" / "claude.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    "content, says",
    [
        (b'{\n  "a": 1\n  "b": 2\n}', 'line 3: not JSON at \'"b": 2\': mend the file, then try again'),
        (b"[]", "it is no object"),
        (b'{"hooks": []}', "hooks is no object"),
        (b'{"hooks": {"PreToolUse": {}}}', "hooks.PreToolUse is no list"),
        (b"\xff\xfe{\0}\0", "mend the file"),
        (b"{", "line 1: not JSON at the end"),
    ],
)
def test_what_cannot_be_understood_is_left_alone(user, run_ctx, content, says):
    for host, name in (("gemini", ".gemini/settings.json"), ("claude", ".claude/settings.json")):
        (user / name).parent.mkdir()
        (user / name).write_bytes(content if host == "claude" else b"{}")
    before = tree(user)
    done = run_ctx("setup", "gemini", "claude")
    assert done.returncode == 2
    assert done.stderr.startswith(b"ctx setup: %s: " % str(user / ".claude/settings.json").encode()) and says.encode() in done.stderr
    assert (done.stderr.count(b"\n"), tree(user)) == (1, before)


def test_a_read_only_file_is_left_alone(user, run_ctx):
    (user / ".claude").mkdir()
    settings = user / ".claude" / "settings.json"
    settings.write_bytes(b"{}")
    settings.chmod(0o444)
    done = run_ctx("setup", "claude")
    assert (done.returncode, settings.read_bytes()) == (2, b"{}")
    assert b"it is read-only: make it writable, or write it yourself: ctx setup claude --print" in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
@pytest.mark.parametrize("words", [["setup", "claude"], ["setup", "claude", "--print"], ["setup", "--remove", "claude"], ["doctor"], ["why", "ls", "--host", "claude"]])
def test_what_is_no_file_is_neither_waited_for_nor_replaced(user, run_ctx, kind, words):
    settings = user / ".claude" / "settings.json"
    settings.parent.mkdir()
    {"pipe": os.mkfifo, "directory": os.mkdir, "device": lambda path: os.symlink("/dev/null", path)}[kind](settings)
    before = os.lstat(settings), os.stat("/dev/null")
    done = run_ctx(*words)
    if words[0] != "why":
        assert done.returncode == {"setup": 2, "doctor": 1}[words[0]] and b"settings.json: not a regular file" in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    assert [info.st_mode for info in before] == [os.lstat(settings).st_mode, os.stat("/dev/null").st_mode]


def test_setups_at_once_leave_what_one_leaves(user, run_ctx):
    """The directory that the first of them makes is remembered by all, so that it goes with the file."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: run_ctx("setup", "claude"), range(4)))
    assert [each.returncode for each in done] == [0] * 4 and sum(b"nothing to do" in each.stdout for each in done) == 3
    assert run_ctx("setup", "--remove", "claude").returncode == 0 and not (user / ".claude").exists()


def test_a_secret_beside_the_hooks_is_not_shown(user, run_ctx):
    (user / ".claude").mkdir()
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (user / ".claude" / "settings.json").write_text('{\n  "env": {"GH_TOKEN": "%s"}\n}\n' % secret)
    for words in (["--print"], [], ["--remove"]):
        done = run_ctx("setup", "claude", *words)
        assert done.returncode == 0 and b"[redacted:github-token:" in done.stdout and secret.encode() not in done.stdout


def test_hosts_that_are_not_there(user, run_ctx, tmp_path):
    (tmp_path / "codex").mkdir()
    done = run_ctx("setup", env={"PATH": "/nowhere"}, cwd=tmp_path)
    assert done.stderr == b"ctx setup: no agent host found: name one: ctx setup claude | codex | antigravity | gemini | copilot\n"
    assert b"did you mean claude?" in run_ctx("setup", "cluade").stderr


def test_other_places_of_settings(user, run_ctx, tmp_path):
    assert run_ctx("setup", "claude", env={"CLAUDE_CONFIG_DIR": str(tmp_path / "c")}).returncode == 0
    assert run_ctx("setup", "codex", env={"CODEX_HOME": str(tmp_path / "x")}).returncode == 0
    assert (tmp_path / "c" / "settings.json").exists() and (tmp_path / "x" / "hooks.json").exists()
    assert not (user / ".claude").exists() and not (user / ".codex").exists()


@pytest.mark.parametrize("host, needs", [("codex", "type /hooks"), ("gemini", "tools.allowed"), ("copilot", "--allow-tool"), ("antigravity", "update it")])
def test_what_is_left_to_the_user_is_named(user, run_ctx, host, needs):
    (line,) = [line for line in run_ctx("setup", host).stdout.decode().split("\n") if line.startswith("left to you: ") and "on PATH" not in line]
    assert needs in line
    assert b"left to you" not in run_ctx("setup", host, "--remove").stdout


TOML = b'model = "x" # mine\n\n[[hooks.PreToolUse]]\nmatcher = "^Bash$"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "x"'


@pytest.mark.parametrize("content", [TOML, TOML + b"\n", TOML.replace(b"\n", b"\r\n") + b"\r\n"])
def test_codex_with_hooks_in_its_config(user, run_ctx, content):
    (user / ".codex").mkdir()
    config = user / ".codex" / "config.toml"
    config.write_bytes(content)
    done = run_ctx("setup", "codex")
    assert done.returncode == 0
    assert b"left to you: Codex runs a hook only when you have trusted it" in done.stdout
    assert config.read_bytes().startswith(content)
    tomllib = pytest.importorskip("tomllib")
    hooks = tomllib.loads(config.read_text())["hooks"]
    assert set(hooks) == set(ctx.HOSTS["codex"].events)
    assert [row["matcher"] for row in hooks["PreToolUse"]] == ["^Bash$", "Bash"]
    assert run_ctx("setup", "codex").stdout.startswith(b"codex: nothing to do")
    config.write_bytes(config.read_bytes() + b"\n[z]\n")
    assert run_ctx("setup", "codex", "--remove").returncode == 0
    assert config.read_bytes().rstrip() == content.rstrip() + b"\n" * 2 + b"[z]" or b"[z]" in config.read_bytes()
    assert not (user / ".codex" / "hooks.json").exists()
    assert tomllib.loads(config.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "x"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_a_config_of_codex_that_cannot_take_hooks(user, run_ctx):
    (user / ".codex").mkdir()
    (user / ".codex" / "config.toml").write_bytes(b"[hooks]\nPreToolUse = 3\n")
    done = run_ctx("setup", "codex")
    assert done.returncode == 2
    assert (user / ".codex" / "config.toml").read_bytes() == b"[hooks]\nPreToolUse = 3\n"


def test_a_project_names_no_path(user, run_ctx, built, tmp_path):
    (tmp_path / "work" / ".git").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ctx").symlink_to(built / "ctx")
    done = run_ctx("setup", "--project", *ctx.SETUPS, cwd=tmp_path / "work", env={"PATH": "%s:/usr/bin:/bin" % (tmp_path / "bin")})
    assert done.returncode == 0, done.stdout
    for host, setup in ctx.SETUPS.items():
        text = (tmp_path / "work" / setup.project).read_text()
        assert "ctx hook %s " % host in text
        assert str(user) not in text and "/usr" not in text and str(ROOT) not in text
    without = run_ctx("setup", "--project", "claude", cwd=tmp_path / "work", env={"PATH": "/usr/bin:/bin"})
    assert without.returncode == 1 and b"claude PreToolUse: it does not answer" in without.stdout
    assert run_ctx("setup", "--project", "--remove", *ctx.SETUPS, cwd=tmp_path / "work").returncode == 0
    assert [path.name for path in (tmp_path / "work").iterdir()] == [".git"]


def test_the_launcher_on_the_path(user, run_ctx):
    done = run_ctx("setup", "claude", "--link")
    assert done.returncode == 0 and b"left to you: put ~/.local/bin on PATH\n" in done.stdout
    assert run([user / ".local" / "bin" / "ctx", "version"]).returncode == 0
    assert run_ctx("setup", "claude", "--remove", "--link").returncode == 0
    assert not (user / ".local" / "bin" / "ctx").exists()
    (user / ".local" / "bin" / "ctx").write_text("theirs")
    done = run_ctx("setup", "claude", "--link")
    assert done.returncode == 2 and b"is there already, and not ours" in done.stderr
    assert (user / ".local" / "bin" / "ctx").read_text() == "theirs"


@pytest.mark.once
@pytest.mark.slow
def test_twenty_setups_at_once(user, home):
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_bytes(STYLES["comments"])
    words = [sys.executable, str(ROOT / "ctx.py"), "setup", "claude"]
    starts = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(20)]
    assert [start.communicate(timeout=100)[1] for start in starts] == [b""] * 20
    assert {start.returncode for start in starts} == {0}
    file = ctx.host_file("claude", False)
    assert len(ctx.commands_in(file.text)) == len(ctx.HOSTS["claude"].events)
    file.write(file.before)
    assert (user / ".claude" / "settings.json").read_bytes() == STYLES["comments"]


# ── what a host runs


def line_of(host, event, build):
    """What a host makes of a hook: (status, stdout) of its line, for a call that runs the tests."""
    tool = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}, "toolCall": {"name": "run_command", "args": {"CommandLine": "pytest -q"}}}
    payload = dict({"cwd": "/", "permission_mode": "bypassPermissions", "hook_event_name": event}, **(tool if event == "PreToolUse" else {}))
    done = run(["/bin/sh", "-c", ctx.hook_command(host, event, str(build))], input=json.dumps(payload).encode())
    return done.returncode, done.stdout


def command_of(answer):
    """The command that a hook of Claude puts in the place of pytest."""
    return json.loads(answer)["hookSpecificOutput"]["updatedInput"]["command"]


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A PATH with a pytest on it."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "pytest").write_text("#!/bin/sh\n")
    (tmp_path / "tools" / "pytest").chmod(0o755)
    (tmp_path / "tools" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", "%s:/usr/bin:/bin" % (tmp_path / "tools"))


def test_a_hook_inserts_the_launcher(built, tools):
    status, answer = line_of("claude", "PreToolUse", built)
    assert (status, command_of(answer)) == (0, "%s/ctx run -- pytest -q" % built)


@pytest.mark.parametrize("break_it", ["magic", "gone", "python"])
def test_behind_the_hook_stands_the_source(built, tools, monkeypatch, break_it):
    """It gets the whole call, and inserts what certainly starts: itself."""
    hook = built / "hook.pyc"
    if break_it == "magic":
        hook.write_bytes(b"\0\0\r\n" + hook.read_bytes()[4:])
    elif break_it == "gone":
        hook.unlink()
    else:
        monkeypatch.setattr(ctx, "own_python", lambda: "/gone/python3")
    status, answer = line_of("claude", "PreToolUse", built)
    assert status == 0
    assert command_of(answer).endswith("%s/ctx.py run -- pytest -q" % built)


@pytest.mark.parametrize("host", list(ctx.SETUPS))
@pytest.mark.parametrize("build", ["/gone", ""])
def test_behind_all_stands_the_neutral_answer(host, build, tools):
    for event in ctx.HOSTS[host].events:
        neutral = ctx.HOSTS[host].neutral.get(event, b"")
        assert line_of(host, event, build) == (0, neutral + b"\n" * bool(neutral))


# ── wrap


FAKE = """#!%s
import json, os, signal, sys
argv = sys.argv[1:]
settings = open(argv[argv.index("--settings") + 1]).read() if "--settings" in argv else ""
signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
print(json.dumps({"argv": argv, "settings": settings}), flush=True)
if argv[-1] == "wait":
    signal.pause()
if argv[-1] == "die":
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(7)
"""


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Hosts that tell how they were started, on PATH."""
    (tmp_path / "bin").mkdir()
    for name in ("claude", "codex"):
        (tmp_path / "bin" / name).write_text(FAKE % sys.executable)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", "%s:/usr/bin:/bin" % (tmp_path / "bin"))


def test_wrap_claude(user, run_ctx, fakes, home):
    done = run_ctx("wrap", "claude", "--", "-p", "go")
    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (7, b"")
    assert told["argv"][0] == "--settings" and told["argv"][2:] == ["-p", "go"]
    settings = json.loads(told["settings"])
    assert set(settings["hooks"]) == set(ctx.HOSTS["claude"].events)
    assert settings["permissions"] == {"deny": ["Grep", "Glob"]}
    assert not os.path.exists(told["argv"][1]) and list(user.iterdir()) == []
    assert run_ctx("wrap", "claude", "die").returncode == 137
    refused = run_ctx("wrap", "claude", "--settings=x")
    assert refused.returncode == 2 and b"--settings: ctx needs it for its hooks" in refused.stderr


def test_wrap_passes_signals_on(user, fakes, home):
    start = subprocess.Popen([sys.executable, str(ROOT / "ctx.py"), "wrap", "claude", "wait"], stdout=subprocess.PIPE)
    told = json.loads(start.stdout.readline())
    start.terminate()
    assert start.wait(60) == 9
    start.stdout.close()
    assert not os.path.exists(told["argv"][1])


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_wrap_codex(user, run_ctx, fakes, home):
    import tomllib

    done = run_ctx("wrap", "codex", "exec", "go")
    argv = json.loads(done.stdout)["argv"]
    flags, rest = [argv[at + 1] for at, word in enumerate(argv) if word == "-c"], argv[2 * argv.count("-c") :]
    assert (done.returncode, rest) == (7, ["exec", "go"])
    hooks = tomllib.loads("\n".join(flags))["hooks"]
    assert set(hooks) == set(ctx.HOSTS["codex"].events)
    assert hooks["PreToolUse"][0]["hooks"][0]["command"] == ctx.hook_command("codex", "PreToolUse", str(home / "current"))


@pytest.mark.parametrize("host", ["gemini", "copilot", "antigravity"])
def test_hosts_that_cannot_be_wrapped(run_ctx, host):
    done = run_ctx("wrap", host)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "ctx wrap: %s takes no settings for one session: ctx setup %s, and ctx setup --remove %s when it is over\n" % (host, host, host)


# ── doctor


def found(run_ctx, **options):
    """What doctor finds that is not well: (exit status, {check: [(state, what, fix)]})."""
    done = run_ctx("doctor", "--json", **options)
    rows = json.loads(done.stdout)
    assert all(row["fix"] for row in rows if row["state"] != "ok")
    text = run_ctx("doctor", **options).stdout.decode()
    assert all(row["what"] in text and row["fix"] in text for row in rows)
    return done.returncode, {row["check"]: (row["state"], row["what"], row["fix"]) for row in rows if row["state"] != "ok"}


def test_doctor_of_what_is_well(user, run_ctx, tmp_path):
    assert run_ctx("setup", "claude").returncode == 0
    assert found(run_ctx, cwd=tmp_path) == (0, {})


def test_doctor_finds_hooks_missing(user, run_ctx, tmp_path):
    (user / ".claude").mkdir()
    status, rows = found(run_ctx, cwd=tmp_path)
    assert (status, rows["claude"]) == (1, ("problem", "it has no hooks of ctx", "ctx setup claude"))
    assert run_ctx("setup", "claude").returncode == 0
    text = (user / ".claude" / "settings.json").read_text()
    (user / ".claude" / "settings.json").write_text(ctx.JsonText(text).without(["hooks", "PreToolUse"]))
    assert "ctx has hooks for 4 of 5 events" in found(run_ctx, cwd=tmp_path)[1]["claude"][1]


def test_doctor_finds_a_stale_path(user, run_ctx, tmp_path):
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_text(ctx.with_hooks("{}", "claude", "/gone"))
    status, rows = found(run_ctx, cwd=tmp_path)
    assert status == 1 and "a hook names /gone/hook.pyc, which is gone" in rows["claude"][1]


def test_doctor_finds_hooks_that_are_not_trusted(user, run_ctx, tmp_path):
    assert run_ctx("setup", "codex").returncode == 0
    assert "it skips hooks that are not trusted" in found(run_ctx, cwd=tmp_path)[1]["codex"][1]
    record = '[hooks.state."%s:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n' % (user / ".codex" / "hooks.json")
    (user / ".codex" / "config.toml").write_text(record)
    assert found(run_ctx, cwd=tmp_path) == (0, {})


@pytest.mark.parametrize("matcher, is_seen", [("Bash", True), ("", True), ("Ba.*|Read", True), ("Write", False), ("(", False)])
def test_doctor_finds_another_rewriting_hook(user, run_ctx, tmp_path, matcher, is_seen):
    (user / ".claude").mkdir()
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": "rtk hook claude"}]}
    (user / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    assert run_ctx("setup", "claude").returncode == 0
    status, rows = found(run_ctx, cwd=tmp_path)
    assert (status, "claude" in rows) == (0, is_seen)
    assert not is_seen or rows["claude"][0] == "doubt" and "'rtk hook claude' may rewrite commands, too" in rows["claude"][1]


BROAD = ["Bash(ctx run:*)", "Bash(ctx *)", "Bash(ctx:*)", "Bash(ctx run *)", "Bash(/home/u/.local/bin/ctx run:*)"]


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
@pytest.mark.parametrize("rule", [*BROAD, "Bash(ctx get:*)", "Bash(ctx run pytest:*)", "Bash"])
def test_doctor_finds_rules_that_are_too_broad(user, run_ctx, tmp_path, rule, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".claude").mkdir()
    (tmp_path / name).write_text(json.dumps({"permissions": {"allow": [rule], "deny": ["Bash(ctx run:*)"]}}))
    rows = json.loads(run_ctx("doctor", "--json", cwd=tmp_path, env={"CLAUDE_CONFIG_DIR": str(tmp_path)}).stdout)
    what = "%s: the rule '%s' lets every command run unasked" % (tmp_path / name, rule)
    assert [row["what"] for row in rows if "unasked" in row["what"]] == [what] * (rule in BROAD)


def test_doctor_finds_a_shim(user, run_ctx, tmp_path):
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "python3").symlink_to(sys.executable)
    (user / ".claude").mkdir()
    group = {"matcher": "Write", "hooks": [{"type": "command", "command": "python3 /opt/ctx.pyz hook"}]}
    (user / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    rows = json.loads(run_ctx("doctor", "--json", env={"PATH": str(tmp_path / "shims")}, cwd=tmp_path).stdout)
    assert [row for row in rows if "%s is a version manager's shim" % (tmp_path / "shims" / "python3") in row["what"]]


def test_doctor_finds_mistakes_in_settings(user, run_ctx, tmp_path):
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_text("{")
    status, rows = found(run_ctx, cwd=tmp_path)
    assert status == 1 and "not JSON" in rows["claude"][1]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_doctor_finds_mistakes_in_the_configuration(user, run_ctx, tmp_path):
    assert run_ctx("setup", "claude").returncode == 0
    (tmp_path / "ctx.toml").write_text("[guard]\nunknwon = 1\n")
    status, rows = found(run_ctx, cwd=tmp_path)
    assert status == 1 and "unknwon" in rows["config"][1]


def test_doctor_finds_a_build_that_is_not_this_program(user, run_ctx, tmp_path, home):
    assert run_ctx("setup", "claude").returncode == 0
    source = home / "current" / "ctx.py"
    source.write_bytes(source.read_bytes() + b"#\n")
    assert found(run_ctx, cwd=tmp_path)[1]["build"][0] == "doubt"
    launcher = home / "current" / "ctx"
    launcher.write_text(launcher.read_text().replace(os.path.realpath(sys.executable), "/gone/python3"))
    assert "/gone/python3, which starts it, is gone" in found(run_ctx, cwd=tmp_path)[1]["build"][1]


def test_doctor_where_nothing_can_be_kept(user, run_ctx, tmp_path):
    (tmp_path / "file").write_text("")
    env = {"CTX_HOME": str(tmp_path / "file" / "x"), "TMPDIR": str(tmp_path / "file")}
    rows = json.loads(run_ctx("doctor", "--json", env=env, cwd=tmp_path).stdout)
    assert rows[0]["check"] == "store" and rows[0]["state"] == "problem" and rows[0]["fix"]


# ── why


@pytest.mark.parametrize(
    "host, mode, rules, says",
    [
        ("", "", {}, ["class: noisy", "why: captures pytest"]),
        ("claude", "default", {}, ["why: the host asks the user first", "the host: none", "runs: pytest -q"]),
        ("claude", "default", {"allow": ["Bash(pytest:*)"]}, ["why: captures pytest", "the host: allow", "its rule: Bash(pytest:*)"]),
        ("claude", "default", {"deny": ["Bash(pytest:*)"]}, ["why: a rule of the host says deny", "runs: pytest -q"]),
        ("claude", "plan", {"allow": ["Bash(pytest:*)"]}, ["runs: pytest -q"]),
        ("claude", "bypassPermissions", {}, ["why: captures pytest"]),
    ],
)
def test_why_for_a_host(user, run_ctx, tools, tmp_path, host, mode, rules, says):
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))
    flags = (["--host", host] if host else []) + (["--mode", mode] if mode else [])
    done = run_ctx("why", "pytest -q", *flags, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert set(says) <= set(lines)
    if host:
        runs = line_of_command(host, mode, "pytest -q", run_ctx, tmp_path)
        assert ("runs: pytest -q" in lines) == (runs is None)


def line_of_command(host, mode, command, run_ctx, folder):
    """What the hook of Claude puts in the place of a command line, None if it leaves it."""
    payload = {"cwd": str(folder), "permission_mode": mode, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
    done = run_ctx("hook", host, "PreToolUse", input=json.dumps(payload).encode(), cwd=folder)
    answer = json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
    return answer.get("updatedInput", {}).get("command")


def test_why_of_what_is_collapsed(user, run_ctx, tools, tmp_path):
    assert " q 'refs x | group file' --from -- grep -rn x ." in run_ctx("why", "--host", "codex", "grep -rn x .", cwd=tmp_path).stdout.decode()


def test_why_of_a_host_that_is_none(run_ctx):
    assert b"unknown host 'cluade': did you mean claude?" in run_ctx("why", "ls", "--host", "cluade").stderr
    assert b"write --host claude --mode plan" in run_ctx("why", "ls", "--mode", "plan").stderr


# ── installing from elsewhere


def test_an_archive_is_installed_too(built, user, tmp_path):
    """Its name says nothing; a build installs itself again; where there is no source, it is said."""
    import zipfile

    with zipfile.ZipFile(tmp_path / "tool", "w") as archive:
        archive.writestr("__main__.py", "import sys; code = compile(__loader__.get_data('ctx.py'), 'ctx.py', 'exec')\n"
                         "exec(code, {'__name__': '__main__', '__file__': sys.argv[0]})")  # fmt: skip
        archive.writestr("ctx.py", SOURCE + b"# another\n")
    before = os.path.realpath(built)
    assert run([sys.executable, tmp_path / "tool", "setup", "claude"]).returncode == 0
    assert (built / "ctx.py").read_bytes() == SOURCE + b"# another\n"
    installed = os.path.realpath(built)
    assert installed != before
    assert run([built / "ctx", "setup", "claude"]).returncode == 0
    assert os.path.realpath(built) == installed
    for name in ("ctx.py", "ctx.pyz"):
        (built / name).unlink()
    done = run([built / "ctx", "setup", "claude"])
    assert done.returncode == 2 and b"its source is not there" in done.stderr


def test_setup_where_nothing_can_be_written(user, run_ctx, tmp_path):
    (user / ".claude").mkdir()
    (user / ".claude" / "settings.json").write_bytes(b"{}")
    (tmp_path / "file").write_text("")
    before = tree(user)
    done = run_ctx("setup", "claude", env={"CTX_HOME": str(tmp_path / "file" / "x"), "TMPDIR": str(tmp_path / "file")})
    assert done.returncode == 2 and done.stderr.startswith(b"ctx setup: ") and done.stderr.count(b"\n") == 1
    assert tree(user) == before
