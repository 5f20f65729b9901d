"""Section 2: paths, files that nobody sees half of, where the store may be, the workspace, JSON."""

from __future__ import annotations

import json
import os
import posix
import pwd
import subprocess
import tempfile
import threading

import pytest
from harness import ROOT, Box, python
from hypothesis import given
from hypothesis import strategies as st

import ctx


@pytest.fixture
def box(home, tmp_path, monkeypatch):
    box = Box(home, tmp_path, monkeypatch)
    yield box
    box.close()


@pytest.fixture
def setenv(box, monkeypatch):
    """setenv(NAME=value or None) changes what `getenv` sees."""

    def change(**values):
        for name, value in values.items():
            if value is None:
                monkeypatch.delitem(posix.environ, name.encode(), raising=False)
            else:
                monkeypatch.setitem(posix.environ, name.encode(), value.encode())

    return change


# ── names and directories


@given(st.binary())
def test_every_name_survives_the_way_through_text(name):
    assert ctx.fsencode(ctx.fsdecode(name)) == name


def test_random_names_are_random():
    assert len({ctx.urandom_hex() for _ in range(1000)}) == 1000
    assert all(len(ctx.urandom_hex()) == 12 for _ in range(10))


def test_directories_are_made_with_their_parents_and_only_for_us(tmp_path):
    ctx.make_dirs(str(tmp_path / "a" / "b" / "c"))
    ctx.make_dirs(str(tmp_path / "a" / "b" / "c"))
    assert (tmp_path / "a" / "b" / "c").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_file_in_the_way_of_a_directory_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        ctx.make_dirs(str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError):
        ctx.make_dirs(str(tmp_path / "file" / "below"))


def test_a_dangling_link_in_the_way_of_a_directory_is_an_error(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OSError):
        ctx.make_dirs(str(tmp_path / "link" / "below"))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a directory in which mkdir says ENOENT")
def test_a_directory_that_can_never_be_made_is_an_error_and_no_endless_recursion():
    with pytest.raises(OSError):
        ctx.make_dirs("/proc/ctx/store")


def test_many_may_make_the_same_directory(tmp_path):
    for attempt in range(20):
        target, errors = str(tmp_path / str(attempt) / "a" / "b" / "c"), []

        def make(target=target, errors=errors):
            try:
                ctx.make_dirs(target)
            except OSError as error:
                errors.append(error)

        threads = [threading.Thread(target=make) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not errors and os.path.isdir(target)


# ── files


def test_a_file_is_replaced_as_a_whole_and_leaves_nothing_beside_it(tmp_path):
    path = str(tmp_path / "file")
    ctx.write_atomic(path, b"old")
    ctx.write_atomic(path, iter([b"n", b"", b"ew"]), 0o400)
    assert ctx.read_file(path) == b"new"
    assert os.stat(path).st_mode & 0o777 == 0o400
    assert os.listdir(tmp_path) == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_no_temporary(tmp_path):
    path = str(tmp_path / "file")
    ctx.write_atomic(path, b"old")

    def chunks():
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError):
        ctx.write_atomic(path, chunks())
    assert ctx.read_file(path) == b"old"
    assert os.listdir(tmp_path) == ["file"]


@given(st.binary(max_size=300_000))
def test_what_is_written_is_read(data):
    path = os.path.join(tempfile.gettempdir(), "ctx-test-%d" % os.getpid())
    try:
        ctx.write_atomic(path, data)
        assert ctx.read_file(path) == data
    finally:
        ctx.remove(path)


def test_short_and_refused_writes_are_gone_on_with(tmp_path):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data, got = os.urandom(1 << 20), []

    def read():
        while True:
            part = os.read(reader, 10_000)
            if not part:
                return
            got.append(part)

    thread = threading.Thread(target=read)
    thread.start()
    ctx.write_all(writer, data)
    os.close(writer)
    thread.join()
    os.close(reader)
    assert b"".join(got) == data


@pytest.mark.once
def test_lines_that_many_append_are_whole(tmp_path):
    path = str(tmp_path / "journal")
    source = "import ctx, sys\nfor i in range(200): ctx.append_line(sys.argv[1], sys.argv[2] * 40)"
    here = {**os.environ, "PYTHONPATH": os.path.dirname(ctx.__file__)}
    writers = [subprocess.Popen([python("")[0], "-c", source, path, letter], env=here) for letter in "abcdef"]
    assert [writer.wait() for writer in writers] == [0] * 6
    lines = ctx.read_file(path).decode().splitlines()
    assert len(lines) == 1200 and all(len(set(line)) == 1 and len(line) == 40 for line in lines)


def test_a_span_is_whole_or_as_long_as_the_file(tmp_path):
    path = str(tmp_path / "file")
    ctx.write_atomic(path, b"0123456789")
    file = ctx.open_file(path)
    assert file.read(2, 5) == b"234" and file.read(8, 20) == b"89" and file.read(20, 30) == b""
    assert b"".join(file.chunks()) == b"0123456789"


def test_short_reads_are_gone_on_with(tmp_path, monkeypatch):
    class Short:
        """The module posix, whose reads return less than they could."""

        def __getattr__(self, name):
            return getattr(posix, name)

        def pread(self, fd, size, at):
            return posix.pread(fd, min(size, 3), at)

    ctx.write_atomic(str(tmp_path / "file"), b"0123456789")
    file = ctx.open_file(str(tmp_path / "file"))
    monkeypatch.setattr(ctx, "posix", Short())
    assert file.read(1, 9) == b"12345678" and file.read(5, 50) == b"56789"


def test_a_nameless_file_has_no_name_and_grows(box):
    file = ctx.nameless_file(str(box.tmp))
    file.append(b"one ")
    file.append(b"two")
    assert file.read(0, file.size) == b"one two"
    assert os.listdir(box.tmp) == []


def test_a_nameless_file_finds_another_place(box):
    file = ctx.nameless_file("/nowhere/at/all")
    file.append(b"x")
    assert file.size == 1


def test_descriptors_are_closed_with_their_last_user(tmp_path):
    ctx.write_atomic(str(tmp_path / "file"), b"x")
    fd = ctx.open_file(str(tmp_path / "file")).fd
    with pytest.raises(OSError):
        os.fstat(fd)


def test_locks_are_shared_or_exclusive_and_end_with_their_block(tmp_path):
    path = str(tmp_path / "lock")
    with ctx.Lock(path) as one, ctx.Lock(path, wait=False) as two:
        assert one.held and two.held
        with ctx.Lock(path, exclusive=True, wait=False) as three:
            assert not three.held
    with ctx.Lock(path, exclusive=True, wait=False) as four:
        assert four.held


# ── where the store is


def test_the_first_root_is_what_the_user_says(box, setenv):
    assert ctx.state_roots() == [str(box.store), "%s/ctx-%d" % (box.tmp, os.getuid())]
    setenv(CTX_HOME="relative/./store")
    assert ctx.state_roots()[0] == str(box.work / "relative" / "store")
    setenv(CTX_HOME=None, XDG_STATE_HOME="/state/")
    assert ctx.state_roots()[0] == "/state/ctx"
    setenv(XDG_STATE_HOME="not/absolute")
    assert ctx.state_roots()[0] == posix.environ[b"HOME"].decode() + "/.local/state/ctx"


def test_a_home_that_is_not_there_is_not_made(box, setenv, tmp_path):
    setenv(CTX_HOME=None, HOME=str(tmp_path / "nonexistent"))
    assert ctx.state_roots() == [ctx.temp_root()]
    setenv(HOME="relative")
    assert ctx.state_roots() == [ctx.temp_root()]


def test_without_HOME_the_password_file_tells(setenv, monkeypatch):
    setenv(HOME=None)
    try:
        wanted = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a user without a name, as in some containers
        wanted = ""
    assert ctx.home() == wanted


def test_only_a_directory_of_ours_alone_is_ours(tmp_path):
    good = tmp_path / "good"
    good.mkdir(mode=0o700)
    assert ctx.is_ours(str(good))
    (tmp_path / "link").symlink_to(good)
    assert not ctx.is_ours(str(tmp_path / "link"))
    good.chmod(0o770)
    assert not ctx.is_ours(str(good))
    assert not ctx.is_ours(str(tmp_path / "missing"))
    (tmp_path / "file").write_text("")
    assert not ctx.is_ours(str(tmp_path / "file"))
    assert os.getuid() == 0 or not ctx.is_ours("/")


# ── the working directory and the workspace


def test_the_working_directory_is_named_as_the_shell_names_it(box, setenv, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(box.work)
    assert ctx.cwd() == str(box.work)
    for shown, wanted in ((tmp_path / "link", tmp_path / "link"), (tmp_path, box.work), (box.work / ".." / "work", box.work)):
        setenv(PWD=str(shown))
        assert ctx.cwd() == str(wanted)
    hidden = tmp_path / ".hidden"
    hidden.symlink_to(box.work)
    setenv(PWD=str(hidden))
    assert ctx.cwd() == str(hidden)


def test_a_deleted_working_directory_is_the_root(box, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ctx.cwd() == "/"
    assert ctx.workspace() == ""


@pytest.mark.parametrize(
    "path, wanted",
    [("/a//b/", "/a/b"), ("/a/./b", "/a/b"), ("/a/../b", "/b"), ("/../..", "/"), ("/", "/"), ("x", "WORK/x"), ("../x", "UP/x")],
)
def test_paths_are_made_absolute(box, path, wanted):
    assert ctx.absolute(path) == wanted.replace("WORK", str(box.work)).replace("UP", str(box.work.parent))


def test_the_workspace_is_the_work_tree_then_the_nearest_ctx_toml(box, monkeypatch, setenv):
    deep = box.work / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert ctx.workspace() == str(deep)
    (box.work / "a" / "ctx.toml").write_text("")
    assert ctx.workspace() == str(box.work / "a")
    (box.work / ".git").mkdir()
    assert ctx.workspace() == str(box.work / "a"), "an empty .git, as sandboxes leave it behind, is no repository"
    (box.work / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert ctx.workspace() == str(box.work)
    (box.work / "a" / ".git").write_text("gitdir: elsewhere\n")
    assert ctx.workspace() == str(box.work / "a")


def test_a_home_and_the_root_are_no_workspace(box, setenv, monkeypatch):
    user = box.work / "user"
    (user / "project").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(user)], check=True)
    setenv(HOME=str(user) + "/")
    assert ctx.workspace(str(user)) == ""
    assert ctx.workspace(str(user / "project")) == str(user / "project")
    assert ctx.workspace("/") == ""


@pytest.mark.parametrize(
    "root, path, wanted",
    [("/w", "/w", "."), ("/w", "/w/a/b", "a/b"), ("/w", "/wide", "/wide"), ("", "/x", "/x"), ("/w", "/x", "/x")],
)
def test_paths_are_told_relative_to_the_workspace(root, path, wanted):
    assert ctx.relative_to(root, path) == wanted


def test_the_session_is_what_a_host_says(setenv):
    assert ctx.session() == ""
    setenv(CODEX_THREAD_ID="thread")
    assert ctx.session() == "thread"
    setenv(CLAUDE_CODE_SESSION_ID="claude")
    assert ctx.session() == "claude"
    setenv(CTX_SESSION="mine")
    assert ctx.session() == "mine"


# ── JSON

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_json_is_what_the_standard_library_reads_and_writes(value):
    text = ctx.to_json(value)
    assert json.loads(text) == value
    assert text == json.dumps(value, sort_keys=True, separators=(",", ":"))
    assert ctx.from_json(text.encode()) == value


def quickly(text):
    """What the quick reader makes of a text, as one that tells values of different types apart; "" where it leaves it to the other."""
    try:
        return repr(ctx.quick_json(text))
    except (ValueError, IndexError):
        return ""


@given(VALUES, st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]), st.booleans(), st.data())
def test_what_is_read_quickly_is_read_right(value, signs, ascii_only, data):
    text = json.dumps(value, separators=signs, ensure_ascii=ascii_only)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from([*'"\\{}[],: 01-.e_', "true", "\u0663", ""])) + text[at + data.draw(st.integers(0, 2)) :]
    found = quickly(text)
    assert not found or found == repr(json.loads(text))


@pytest.mark.parametrize("value", [{}, [], {"a": {"b": [1, -2, True, None, "x"]}, "c": 'say "hi" \\ \n é'}, [[], {}, [{}]], {"": ""}, "x" * 8000])
@pytest.mark.parametrize("signs", [(",", ":"), (", ", ": ")])
def test_what_hosts_tell_is_read_quickly(value, signs):
    assert quickly(json.dumps(value, separators=signs, ensure_ascii=False)) == repr(value)


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", '{"a"}', '{"a":1,}', "[1,]", "[,1]", "[1 2]", "{1:2}", "{'a':1}", '{"a":1}}', '"', '"\\', '"a" "b"', "[01]", "[1_0]", "[+1]", "[\u0663]", "nul", "[-0]",
     "[1.5]", '["\t"]', '["\\u0041"]', '["\\x"]', '{"a":"' + "x" * 9000 + '"}'],
)  # fmt: skip
def test_what_is_not_simple_is_left_to_the_other_reader(text):
    assert quickly(text) == ""


@pytest.mark.parametrize("text", ["plain", 'a "quoted" word', "back\\slash", "two\nlines"])
def test_common_text_is_written_without_loading_anything(text):
    script = "import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True; import ctx\nprint(ctx.to_json(sys.argv[2]), '_json' in sys.modules)"
    done = subprocess.run(python(script, str(ROOT), text), stdout=subprocess.PIPE, timeout=60)
    assert done.stdout.decode() == "%s False\n" % json.dumps(text)


def test_a_line_tells_how_large_its_file_is(tmp_path):
    path = str(tmp_path / "new" / "folder" / "file")
    assert [ctx.append_line(path, line) for line in ("one", "three", "")] == [4, 10, 11]
    assert ctx.read_file(path) == b"one\nthree\n\n"


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff" * 40, b"N", b"[\x01\x00\x00\x00", b"i\x01\x00\x00\x00"])
def test_a_damaged_snapshot_is_none(box, data):
    (box.work / "ctx.toml").write_text("")
    snapshot = ctx.Snapshot("kind", [str(box.work / "ctx.toml")])
    assert snapshot.load() is None and snapshot.keep({"a": [1, None, "é"]}) and snapshot.load() == {"a": [1, None, "é"]}
    ctx.write_atomic(snapshot.path, data)
    assert snapshot.load() is None


@given(st.binary())
def test_bytes_that_are_no_text_survive_json(data):
    assert ctx.fsencode(ctx.from_json(ctx.to_json(ctx.fsdecode(data)).encode())) == data


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"a":', b"[" * 100_000, b"{} {}"])
def test_what_is_no_json_is_a_ValueError(data):
    with pytest.raises(ValueError):
        ctx.from_json(data)


# ── descriptors


@pytest.mark.parametrize("closed", ["0", "1", "2", "0 1", "0 1 2", ""])
def test_closed_standard_descriptors_are_held_and_stay_closed_for_children(box, closed):
    source = (
        "import ctx, os, sys\n"
        "[os.close(int(fd)) for fd in sys.argv[1].split()]\n"
        "ctx.hold_standard_descriptors()\n"
        "kinds = [os.fstat(fd).st_rdev == os.stat('/dev/null').st_rdev for fd in (0, 1, 2)]\n"
        "passed = [os.get_inheritable(fd) for fd in (0, 1, 2)]\n"
        "open('answer', 'w').write(repr((kinds, passed)))\n"
    )
    env = {"PYTHONPATH": os.path.dirname(ctx.__file__)}
    box.plain([python("")[0], "-c", source, closed], env=env, check=True, stdin=subprocess.PIPE)
    kinds, passed = eval((box.work / "answer").read_text())
    assert kinds == [str(fd) in closed for fd in (0, 1, 2)]
    assert passed == [str(fd) not in closed for fd in (0, 1, 2)]


@pytest.mark.parametrize("text", ["", "{", "{1", '{"a" 1}', "// x", "[1 2]", '"\\x"', "nul"])
def test_what_is_no_json_is_a_value_error(text):
    """In a bare interpreter: older scanners take their error from the `json` module, which is not loaded there."""
    script = "import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True; import ctx\ntry: ctx.from_json(sys.argv[2])\nexcept ValueError: print('refused')"
    done = subprocess.run(python(script, str(ROOT), text), stdout=subprocess.PIPE, timeout=60)
    assert done.stdout == b"refused\n"
