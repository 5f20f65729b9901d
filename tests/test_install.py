"""The packed form, builds, and what setup writes into the files of hosts."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

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
    for name in names:
        space, real = packed(), getattr(ctx, name)
        space["__define__"](name)
        value = space[name]
        assert type(value).__name__ == type(real).__name__
        if hasattr(real, "__name__"):
            assert value.__name__ == real.__name__
        else:
            assert value == real or shown(value) == shown(real) or len(value) == len(real), name  # sets have no order


@pytest.mark.parametrize("name", test_corpus.CASES[::17])
def test_digests_are_those_of_the_source(packed, home, monkeypatch, name):
    environment = {b"CTX_HOME": str(home).encode(), b"HOME": str(home).encode(), b"PATH": b"/usr/bin:/bin"}
    monkeypatch.setattr(ctx.posix, "environ", environment)
    module = Module(packed())
    monkeypatch.setattr(test_corpus, "ctx", module)
    data, _ = module.digest_of(test_corpus.Case(name).keep(), test_corpus.SETTINGS, "ctx")
    assert hashlib.sha256(data).hexdigest() == json.loads(test_corpus.DIGESTS.read_text())[name]


def test_what_is_not_used_is_not_loaded(packed):
    space = packed()
    space["__define__"]("find_verb")
    assert space["find_verb"]("runs").name == "runs"
    assert "VERBS" in space and "Capture" not in space and "ROWS" not in space


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


def test_a_build_is_private(built):
    folder = Path(os.path.realpath(built))
    assert folder.parent == built.parent / "builds"
    assert {path.name for path in folder.iterdir()} == {"ctx", "ctx.pyc", "ctx.pack", "hook.pyc", "program", "source"}
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
    answers = [start.communicate(timeout=100) for start in starts]
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
