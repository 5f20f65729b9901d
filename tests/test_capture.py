"""Section 12 and the verbs run and tap: a command under ctx behaves as it does without, whatever it does, and its bytes are kept.

Most tests are differentials: the same command with and without ctx, under the same conditions.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import time
from types import SimpleNamespace

import pytest
from harness import LINUX, PYTHON, alive, can_mount, program, python, status_of, wait_for
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctx

linux = pytest.mark.skipif(not LINUX, reason="looks into /proc")


def same(box, command, *flags, **options):
    """Run a command without ctx and with it; fail unless status and bytes are equal. What ctx gave."""
    plain, captured = box.plain(command, **options), box.run(command, *flags, **options)
    assert status_of(captured) == status_of(plain)
    assert captured.stdout == plain.stdout
    assert captured.stderr == plain.stderr
    return captured


def without_core():
    """What a child does first whose death shall leave no core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def executable(path, text, mode=0o755):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


# ── exit status


@pytest.mark.parametrize("number", [0, 1, 2, 3, 42, 123, 124, 125, 126, 127, 128, 137, 255])
def test_the_exit_status_is_the_childs(box, number):
    same(box, ["sh", "-c", "exit %d" % number])


@pytest.mark.parametrize("name", ["KILL", "SEGV", "TERM", "PIPE", "INT", "HUP", "ABRT", "USR1", "ALRM"])
def test_a_death_by_signal_is_128_and_its_number(box, name):
    done = same(box, ["sh", "-c", "echo before; kill -%s $$" % name], preexec_fn=without_core)
    assert done.returncode == 128 + getattr(signal, "SIG" + name)
    assert box.last().partial == "killed by SIG" + name


def test_false_and_true(box):
    same(box, ["false"])
    same(box, ["true"])


# what a shell says: a command as typed → the status it should have; checked against bash where that is here
PROGRAMS = [
    ("./script a 'b c'", 4),
    ("./empty", 0),
    ("./norun", 126),
    ("./folder", 126),
    ("./binary", 126),
    ("./badinterpreter", 127),
    ("./unreadableinterpreter", 126),
    ("./folderinterpreter", 126),
    ("./loop", 126),
    ("./missing", 127),
    ("./norun/below", 126),
    ("nosuchprogram", 127),
    ("inpathnorun", 126),
    ("inpathfolder", 127),
    ("n" * 300, 127),
    ("./" + "n" * 300, 126),
]


@pytest.fixture
def programs(box):
    executable(box.work / "script", 'echo "$0:$1:$2"; [[ a == a ]] && exit 4\n')
    executable(box.work / "empty", "")
    executable(box.work / "norun", "echo hi\n", 0o644)
    executable(box.work / "binary", b"\x7fELF\0\0garbage\n")
    executable(box.work / "badinterpreter", "#!/no/such/interpreter\n")
    executable(box.work / "unreadableinterpreter", "#!%s\n" % (box.work / "norun"))
    executable(box.work / "folderinterpreter", "#!%s\n" % box.work)
    (box.work / "folder").mkdir()
    (box.work / "loop").symlink_to("loop")
    (box.work / "bin" / "inpathfolder").mkdir(parents=True)
    executable(box.work / "bin" / "inpathnorun", "echo hi\n", 0o644)
    box.env["PATH"] = "%s:%s" % (box.work / "bin", box.env["PATH"])
    box.env["SHELL"] = shutil.which("bash") or "/bin/sh"
    return box


@pytest.mark.parametrize("typed, status", PROGRAMS)
def test_a_program_that_cannot_be_started_has_the_status_that_a_shell_gives(programs, typed, status):
    if not shutil.which("bash") and "script" in typed:
        pytest.skip("the script is one for bash")
    words = eval("[%s]" % typed.replace("./script a 'b c'", '"./script", "a", "b c"')) if "'" in typed else [typed]
    done = programs.run(words)
    assert done.returncode == status
    assert done.stderr == b"" if status in (0, 4) else done.stderr.startswith(b"ctx run: '") and done.stderr.count(b"\n") == 1
    if shutil.which("bash") and typed not in ("./badinterpreter",):  # bash before 5.2 says 126
        truth = programs.plain(["bash", "-c", typed + "; exit $?"])
        assert (truth.returncode, truth.stdout) == (status, done.stdout)
    off = programs.run(words, env={"CTX_OFF": "1"})
    assert off.stdout == done.stdout
    assert off.returncode == status or typed == "inpathnorun"


def test_a_script_without_first_line_is_run_by_sh_where_the_shell_is_no_bash(box):
    executable(box.work / "script", 'echo "$0:$1"; exit 4\n')
    done = box.run(["./script", "x"], env={"SHELL": "/bin/zsh"})
    assert (done.returncode, done.stdout) == (4, b"./script:x\n")


def test_an_error_says_what_to_type(box):
    assert b"ctx run --shell 'cd /tmp'" in box.run(["cd", "/tmp"]).stderr
    assert b"builtin" in box.run(["source", "x"]).stderr
    assert b"ctx run --shell 'a | b'" in box.run(["a | b"]).stderr
    assert b"alias" in box.run(["ll"]).stderr
    nothing = box.ctx("run", "--")
    assert nothing.returncode == 2 and b"ctx run -- CMD" in nothing.stderr
    assert box.run(["no\nsuch\x1b[31m"]).stderr.count(b"\n") == 1


def test_a_line_too_long_for_the_system_is_refused_as_it_would_be(box):
    words = ["true", "x" * (131072 - 20)]
    same(box, words)


# ── bytes of small output

SIZES = [0, 1, 4095, 4096, 4097, 6144, 6145]
WRITE = (
    "import os, sys\n"
    "fds, size, status = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])\n"
    "unit = b'line %d of it\\n'\n"
    "data = b''.join(unit % i for i in range(size // 10 + 1))[:size]\n"
    "for i, fd in enumerate(fds):\n"
    "    share = data[i * size // len(fds):(i + 1) * size // len(fds)]\n"
    "    while share: share = share[os.write(int(fd), share):]\n"
    "os._exit(status)\n"
)


def is_digest(data):
    return data.startswith(b"[ctx run:")


@pytest.mark.parametrize("fds", ["1", "2", "12", "1212"])
@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("size", SIZES)
def test_small_output_is_untouched_and_all_output_is_kept(box, size, status, fds):
    command = python(WRITE, fds, str(size), str(status))
    plain, captured = box.plain(command), box.run(command)
    assert captured.returncode == plain.returncode == status
    if size <= (6144 if status else 4096):
        assert (captured.stdout, captured.stderr) == (plain.stdout, plain.stderr)
    elif not is_digest(captured.stdout):  # what no digest makes much smaller
        assert (captured.stdout, captured.stderr) == (plain.stdout, plain.stderr)
    assert box.bytes(box.last(), "stdout") == plain.stdout
    assert box.bytes(box.last(), "stderr") == plain.stderr


@pytest.mark.once
def test_a_digest_takes_the_place_of_a_flood(box):
    done = box.run(["seq", "30000"])
    assert is_digest(done.stdout) and done.stderr == b"" and len(done.stdout) < 4096
    assert box.bytes(box.last()) == b"".join(b"%d\n" % i for i in range(1, 30001))


@pytest.mark.once
@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("size", SIZES)
def test_both_streams_in_one_pipe_keep_their_order(box, size, status):
    source = WRITE.replace("for i, fd", "fds *= 50\nfor i, fd")
    command = python(source, "12", str(size), str(status))
    plain, captured = box.plain(command, merged=True), box.run(command, merged=True)
    assert captured.returncode == plain.returncode
    assert box.bytes(box.last(), "output") == plain.stdout
    if size <= (6144 if status else 4096) or not is_digest(captured.stdout):
        assert captured.stdout == plain.stdout


REDIRECTIONS = {
    "files": ">o 2>e",
    "one file": ">o 2>&1",
    "null": ">/dev/null 2>/dev/null",
    "appended": ">>o 2>>e",
    "stdout closed": ">&- 2>e",
    "stderr closed": "2>&- >o",
    "all closed": "<&- >&- 2>&-",
    "socket": "",
}


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("where", sorted(REDIRECTIONS))
def test_whatever_the_descriptors_are(box, where, status):
    talk = "echo out; echo err >&2; ls /proc/self/fd 2>&1 | wc -l >&2; echo more || exit 9; exit %d" % status
    answers = []
    for words in (["sh", "-c", talk], [*program(), "run", "--", "sh", "-c", talk]):
        for name in "oe":
            (box.work / name).write_text("before\n")
        if where == "socket":
            mine, theirs = socket.socketpair()
            done = box.plain(words, stdout=theirs, stderr=theirs)
            theirs.close()
            data = b"".join(iter(lambda mine=mine: mine.recv(65536), b""))
            mine.close()
            answers.append((done.returncode, data))
            continue
        done = box.plain(["sh", "-c", 'exec "$@" %s' % REDIRECTIONS[where], "sh", *words])
        answers.append((done.returncode, [(box.work / name).read_bytes() for name in "oe"]))
    assert answers[0] == answers[1]


def test_what_is_thrown_away_is_not_kept(box):
    words = [*program(), "run", "--", "sh", "-c", "seq 3000; echo err >&2; exit 3"]
    done = box.plain(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *words])
    assert done.returncode == 3 and box.last().streams == ["stdout"]
    run = ctx.resolve_run(box.last().digest[:12])
    assert box.bytes(run, "stdout") == box.bytes(run, "output") == b"".join(b"%d\n" % i for i in range(1, 3001))
    assert box.ctx("get", run.handle + "#output:5-6").stdout == b"5\n6\n" and box.problems() == []


def test_a_log_does_not_get_the_number_of_a_closed_descriptor(box):
    words = [*program(), "run", "--log", "log", "--", "seq", "3"]
    assert box.plain(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *words]).returncode in (0, 1)
    assert (box.work / "log").read_bytes() == b""  # seq had no stdout to write to


def test_a_terminal(box):
    for words in (["sh", "-c", "echo out; echo err >&2; tty; exit 3"],):
        seen = []
        for command in (words, [*program(), "run", "--", *words]):
            terminal = box.terminal(*command)
            status = terminal.finish()
            seen.append((status, [line for line in terminal.seen.split(b"\r\n") if b"/dev" not in line]))
        assert seen[0] == seen[1]


ODD = {
    "latin-1": "é ü ß\n".encode("latin-1") * 1000,
    "utf-16": "zeile ä\n".encode("utf-16") * 500,
    "nul": b"a\0b\n" * 2000,
    "no final newline": b"line\n" * 2000 + b"the last",
    "separators": "a\u2028b\x0cc\u0085d\r\ne\rf\x0b\n".encode() * 700,
    "only newlines": b"\n" * 5000,
    "invalid": bytes(range(256)) * 40,
    "one byte": b"\xff",
}


@pytest.mark.parametrize("kind", sorted(ODD))
@pytest.mark.parametrize("merged", [False, True])
def test_bytes_are_intact_whatever_they_mean(box, kind, merged):
    (box.work / "data").write_bytes(ODD[kind])
    done = box.run(["cat", "data"], merged=merged)
    assert done.returncode == 0 and b"internal" not in (done.stderr or b"")
    source = box.last().source("output")
    assert source.read(0, source.size) == ODD[kind]
    assert source.lines == ODD[kind].count(b"\n") + (not ODD[kind].endswith(b"\n"))
    if not is_digest(done.stdout):
        assert done.stdout == ODD[kind]


@pytest.mark.once
def test_one_line_of_20_MB(box):
    done = box.run(python("import sys; sys.stdout.write('x' * 20_000_000)"))
    assert done.returncode == 0 and len(done.stdout) < 10_000
    source = box.last().source("stdout")
    assert source.size == 20_000_000 and source.lines == 1
    assert source.read(19_999_990, 20_000_000) == b"x" * 10


@pytest.mark.slow
def test_ten_million_lines(box):
    done = box.run(["seq", "10000000"])
    assert done.returncode == 0 and len(done.stdout) < 10_000
    source = box.last().source("stdout")
    assert source.lines == 10_000_000
    assert source.line(9_999_999) == b"9999999"


@pytest.mark.once
@given(st.lists(st.tuples(st.sampled_from("12"), st.binary(max_size=3000)), max_size=8))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_on_any_stream(box, pieces):
    source = "import os, sys\nfor piece in sys.argv[1:]: os.write(int(piece[0]), bytes.fromhex(piece[1:]))"
    command = python(source, *(fd + data.hex() for fd, data in pieces))
    plain, captured = box.plain(command), box.run(command)
    assert box.bytes(box.last(), "stdout") == plain.stdout
    assert box.bytes(box.last(), "stderr") == plain.stderr
    if not is_digest(captured.stdout):
        assert (captured.stdout, captured.stderr) == (plain.stdout, plain.stderr)


def test_everyday_commands_are_as_they_were(box):
    (box.work / "file").write_text("x\n")
    for line in ("ls -l", "env", "cat file", "uname -a", "git status", "cat missing", "git --version", "id", "date +%Y"):
        if shutil.which(line.split()[0]):
            same(box, line.split())


def test_arguments_are_passed_byte_for_byte(box):
    words = [b"", b" ", b"\xff\xe9", "ä€😀".encode(), b"*", b"$HOME", b"a\nb", b"--", b"-h", b"--timeout", b"'", b'"', b"\\"]
    same(box, [b"printf", b"<%s>\n", *words])
    same(box, [b"printf", b"<%s>\n", *words], env={"LC_ALL": "C"})


LATIN = "en_US.ISO-8859-1"


@pytest.mark.parametrize("locale", ["ASCII", "Latin-1"])
def test_arguments_and_paths_are_bytes_in_any_locale(box, locale, tmp_path):
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    if locale == "Latin-1":
        make = ["localedef", "-i", "en_US", "-f", "ISO-8859-1", str(tmp_path / LATIN)]
        if not shutil.which("localedef") or not box.plain(make).stdout == b"" or not (tmp_path / LATIN).is_dir():
            pytest.skip("no localedef, or no locales to make one of")
        variables = {"LC_ALL": LATIN, "LOCPATH": str(tmp_path)}
    variables["CTX_HOME"] = str(box.work / "é")
    command = [b"printf", b"<%s>\n", "ä€".encode(), b"\xff\xe9"]
    words = [PYTHON, "-S" if program()[1] == "-I" else "-s", program()[-1]]  # without -I: it would not see the variables
    done = box.plain([*words, "run", "--", *command], env=variables)
    assert (done.stdout, done.stderr) == (box.plain(command).stdout, b"")
    assert os.listdir(os.fsencode(str(box.work))) == ["é".encode()]
    done = box.plain([*words, "run", "--", "env", "-0"], env=variables)
    assert done.stdout == box.plain(["env", "-0"], env=variables).stdout


# ── what a child inherits

LOCALES = [
    {"LANG": "C"}, {"LANG": None, "LC_ALL": None, "LC_CTYPE": None}, {"LANG": "POSIX"}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"},
    {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "", "LC_CTYPE": "", "LANG": ""}, {"LANG": "C.UTF-8"}, {"LANG": "xx_XX"},
]  # fmt: skip


@pytest.mark.parametrize("locale", LOCALES, ids=str)
@pytest.mark.parametrize("command", [["env", "-0"], ["env"]])
def test_the_environment_is_as_it_was(box, locale, command):
    box.env.pop("LC_ALL", None)
    same(box, command, env={"ODD": "a\nb=c", "EMPTY": "", **locale})


def test_an_empty_environment_stays_empty(box):
    words = [*program(), "run", "--", shutil.which("env")]
    done = box.plain(["env", "-i", "CTX_HOME=%s" % box.store, *words])
    assert done.stdout == b"CTX_HOME=%s\n" % os.fsencode(box.store)


def test_the_directory_the_mask_and_the_limits(box):
    (box.work / "real").mkdir()
    (box.work / "link").symlink_to("real")
    same(box, ["pwd", "-P"], cwd=box.work / "link")
    same(box, ["sh", "-c", "pwd; umask; ulimit -a"])

    def change():
        os.umask(0o027)
        resource.setrlimit(resource.RLIMIT_NOFILE, (77, 99))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))

    script = "umask; ulimit -n; ulimit -Hn; ulimit -c; ulimit -t; > made; ls -l made | cut -c1-10"
    same(box, ["sh", "-c", script], preexec_fn=change)


def test_a_deleted_working_directory(box):
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$@"'
    for command in (["echo", "hi"], ["sh", "-c", "exit 7"], ["seq", "30000"]):
        plain = box.plain(["sh", "-c", script, "sh", *command])
        done = box.plain(["sh", "-c", script, "sh", *program(), "run", "--", *command])
        assert done.returncode == plain.returncode and done.stderr == plain.stderr
        assert done.stdout == plain.stdout or is_digest(done.stdout)


@linux
def test_open_descriptors_are_inherited_and_none_of_ours(box):
    readable, writable = os.pipe()
    spare = os.open(str(box.work), os.O_RDONLY)
    for fds in ((), (readable, writable), (spare,)):
        same(box, ["ls", "/proc/self/fd"], pass_fds=fds)
    got = box.run(python("import os; os.write(%d, b'through\\n')" % writable), pass_fds=(writable,))
    assert got.returncode == 0 and os.read(readable, 100) == b"through\n"
    for fd in (readable, writable, spare):
        os.close(fd)


@linux
@pytest.mark.parametrize("ignored", ["", "HUP", "INT QUIT", "TERM", "USR1 TSTP"])
@pytest.mark.parametrize("blocked", ["", "USR2 WINCH"])
def test_signal_dispositions_are_as_they_were(box, ignored, blocked):
    def change():
        for name in ignored.split():
            signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [getattr(signal, "SIG" + name) for name in blocked.split()])

    # signals 32 and 33 belong to the C library, whose posix_spawn leaves them ignored, for its programs to set again
    source = (
        "for line in open('/proc/self/status'):\n"
        "    name, _, value = line.partition(':')\n"
        "    if name in ('SigBlk', 'SigIgn', 'SigCgt', 'ShdPnd'): print(name, hex(int(value, 16) & ~0x180000000))\n"
    )
    done = same(box, python(source), preexec_fn=change)
    assert done.stdout.count(b"\n") == 4


def test_process_group_and_session_are_ours(box):
    source = "import os; print(os.getpgid(0), os.getsid(0), os.getppid())"
    process = box.start("run", "--", *python(source), start_new_session=True)
    out = process.communicate(timeout=60)[0]
    assert out.split() == [b"%d" % process.pid] * 3


@linux
def test_a_program_sees_its_name_as_typed(box):
    (box.work / "mycat").symlink_to(shutil.which("cat"))
    for name in ("cat", "./mycat", str(box.work / "mycat"), "../work/mycat"):
        same(box, [name, "/proc/self/cmdline"])


@pytest.mark.parametrize("given_input", [b"", b"y\n", b"y\nn\n", bytes(range(256)) * 20], ids=len)
def test_stdin_reaches_the_child(box, given_input):
    same(box, ["head", "-1"], input=given_input)
    same(box, ["cat"], input=given_input[:4000])


def test_stdin_is_left_where_the_child_left_it(box):
    (box.work / "input").write_bytes(b"one\ntwo\nthree\n")
    script = '{ "$@" sh -c "read line; echo got \\$line"; cat; } < input'
    plain = box.plain(["sh", "-c", script, "sh", "env"])
    done = box.plain(["sh", "-c", script, "sh", *program(), "run", "--"])
    assert done.stdout == plain.stdout == b"got one\ntwo\nthree\n"


def test_a_child_that_never_reads_stdin_does_not_hang(box):
    reader, writer = os.pipe()
    done = box.run(["echo", "done"], stdin=reader, timeout=30)
    assert done.stdout == b"done\n"
    os.close(reader)
    os.close(writer)


# ── the hold rule


def drip(*pieces):
    """Python source that writes pieces with a second's pause between them."""
    return "import os, time\nfor piece in %r:\n    time.sleep(0.7)\n    os.write(1, piece)\n" % (pieces,)


@pytest.mark.once
def test_slow_small_output_is_seen_live_and_nothing_is_added(box):
    box.config("[budget]\nhold = 1\n")
    pieces = [b"line %d\n" % i for i in range(5)]
    process = box.start("run", "--", *python(drip(*pieces) + "time.sleep(600)"))
    got = b""
    while got != b"".join(pieces):
        part = os.read(process.stdout.fileno(), 65536)
        assert part and b"".join(pieces).startswith(got + part)
        got += part
    process.terminate()
    assert process.communicate(timeout=30) == (b"", b"")


def test_what_comes_within_the_hold_is_not_seen_before_its_end(box):
    done = box.run(["sh", "-c", "echo out; sleep 0.3; echo err >&2; sleep 0.3; echo out"])
    assert (done.stdout, done.stderr) == (b"out\nout\n", b"err\n")


@pytest.mark.once
def test_slow_output_flows_on_its_own_streams(box):
    box.config("[budget]\nhold = 1\n")
    same(box, ["sh", "-c", "echo 1; echo 2 >&2; sleep 1.5; echo 3; echo 4 >&2; sleep 0.5; echo 5; exit 3"])


FLOOD = "import time, sys\nprint('x' * 70, flush=True)\nfor i in range(3000): print('line', i, flush=True)\n"


@pytest.mark.once
def test_a_slow_flood_shows_a_handle_that_resolves_while_it_runs_and_ever_after(box):
    box.config("[budget]\nhold = 1\n")
    process = box.start("run", "--", *python(FLOOD + "time.sleep(600)"))
    line = process.stdout.readline()
    assert line.startswith(b"[ctx run:") and b" running " in line and line.endswith(b" so far]\n")
    alias = line[9:21].decode()
    live = ctx.resolve_run(alias)
    assert live.partial == "running" and live.status is None and live.handle == "run:" + alias
    assert box.bytes(alias).startswith(b"x" * 70 + b"\nline 0\n") and box.bytes(alias).endswith(b"\nline 2999\n")
    shown = box.ctx("get", "run:%s#output" % alias, "--tail", "1")
    assert shown.stdout == b"line 2999\n"
    assert b"running" in box.ctx("runs").stdout
    assert process.stdout.readline().startswith(b"[ctx run:%s running" % alias.encode())  # again, after twice the time
    process.terminate()
    rest = process.communicate(timeout=30)[0]
    assert process.returncode == 143
    while rest.startswith(b"[ctx run:%s running" % alias.encode()):
        rest = rest.partition(b"\n")[2]
    assert is_digest(rest) and b"partial" in rest
    run = ctx.resolve_run(alias)
    assert run.digest and run.partial == "interrupted" and ("run:" + run.digest[:12]).encode() in rest
    assert box.bytes(alias).endswith(b"\nline 2999\n") and not box.spooled()


@pytest.mark.once
def test_a_flood_after_a_slow_start_costs_its_head_or_its_digest_but_keeps_all(box):
    box.config("[budget]\nhold = 1\n")
    source = "import time\nprint('starting', flush=True)\ntime.sleep(1.6)\nfor i in range(9000): print('line', i)\n"
    done = box.run(python(source))
    first, status, rest = done.stdout.split(b"\n", 2)
    assert first == b"starting" and b" running " in status and is_digest(rest) and len(rest) < 9000
    assert box.bytes(box.last()) == b"starting\n" + b"".join(b"line %d\n" % i for i in range(9000))


@pytest.mark.once
def test_a_prompt_on_a_terminal_is_seen_and_answered(box):
    script = "printf 'Name? '; read name; printf 'hello %s\\n' $name"
    terminal = box.terminal(*program(), "run", "--", "sh", "-c", script)
    terminal.expect(b"Name? ", 20)
    terminal.type(b"ada\n")
    terminal.expect(b"hello ada")
    assert terminal.finish() == 0
    assert b"[ctx" not in terminal.seen


@pytest.mark.once
def test_a_prompt_after_a_flood_is_seen_too(box):
    script = "seq 3000; printf 'Go on? '; read answer; echo answered $answer; seq 3000"
    terminal = box.terminal(*program(), "run", "--", "sh", "-c", script)
    terminal.expect(b"Go on? ", 20)
    terminal.type(b"y\n")
    assert terminal.finish() == 0
    assert terminal.seen.count(b"Go on? ") <= 2 and b"\r\n1000\r\n" not in terminal.seen
    assert b"\n3000\nGo on? answered y\n1\n" in box.bytes(box.last())


# ── options


def test_stream_shows_everything_live_and_the_digest_last(box):
    process = box.start(
        "run", "--stream", "--", *python("import time\nfor i in range(20000): print('line', i, flush=True)\ntime.sleep(600)")
    )
    got = b""
    while not got.endswith(b"line 19999\n"):
        got += os.read(process.stdout.fileno(), 65536)
    process.terminate()
    rest = process.communicate(timeout=30)[0]
    assert got == b"".join(b"line %d\n" % i for i in range(20000)) and is_digest(rest)
    same(box, ["echo", "small"], "--stream")


def test_shell(box):
    shells = {shell: shutil.which(shell) for shell in ("bash", "zsh", "sh", "dash")}
    line = "printf '%s\\n' \"$0\" | sed 's/.*/[&]/'; exit 5"
    for shell, wanted in (("bash", "bash"), ("zsh", "zsh"), ("sh", "bash"), ("dash", "bash"), (None, "bash")):
        if shell and not shells[shell]:
            continue
        done = box.ctx("run", "--shell", line, env={"SHELL": shells.get(shell)})
        name = shells[wanted] if shell == wanted else "bash" if shells["bash"] else "sh"
        assert (done.returncode, done.stdout) == (5, b"[%s]\n" % name.encode())
    assert box.last().manifest["argv"] == [line] and box.last().manifest["kind"] == "shell"
    done = box.ctx("run", "--shell", line, env={"SHELL": "/no/such/bash"})
    assert done.returncode == 5
    both = box.ctx("run", "--shell", "true", "more")
    assert both.returncode == 2 and b"one text" in both.stderr


def test_shell_without_bash_is_sh(box):
    (box.work / "bin").mkdir()
    (box.work / "bin" / "sh").symlink_to("/bin/sh")
    done = box.ctx("run", "--shell", "echo $0", env={"PATH": str(box.work / "bin"), "SHELL": None})
    assert done.stdout == b"sh\n"


def test_log_and_summary(box):
    (box.work / "log").write_text("old, to be replaced\n")
    (box.work / "summary").write_text("# before\n")
    done = box.run(["seq", "30000"], "--log", "log", "--summary", "summary")
    assert done.returncode == 0 and is_digest(done.stdout)
    assert (box.work / "log").read_bytes() == box.bytes(box.last())
    text = (box.work / "summary").read_bytes()
    assert text.startswith(b"# before\n```\n[ctx run:") and text.endswith(b"```\n") and done.stdout in text
    small = same(box, ["echo", "hi"], "--log", "log", "--summary", "summary")
    assert (box.work / "log").read_bytes() == b"hi\n" == small.stdout
    assert box.run(["true"], "--log", "no/such/dir/log").returncode == 2
    assert box.run(["true"], "--summary", ".").returncode == 2


def test_the_log_is_written_live(box):
    process = box.start("run", "--log", "log", "--", "sh", "-c", "echo early; exec sleep 600")
    wait_for(lambda: (box.work / "log").exists() and (box.work / "log").read_bytes() == b"early\n")
    process.terminate()
    assert process.wait(30) == 143
    process.communicate()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_log_that_cannot_be_written_is_given_up_and_said_once(box):
    done = box.run(["sh", "-c", "echo out; sleep 0.1; echo out; exit 3"], "--log", "/dev/full")
    assert (done.returncode, done.stdout) == (3, b"out\nout\n")
    assert done.stderr.count(b"\n") == 1 and b"--log" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("flags", [(), ("--stream",)])
@pytest.mark.parametrize("count", ["3", "30000"])
def test_a_full_disk_behind_stdout_is_not_taken_for_success(box, flags, count):
    with open("/dev/full", "wb") as full:
        done = box.run(["seq", count], *flags, stdout=full)
        assert done.returncode == 125 and b"No space left" in done.stderr and done.stderr.count(b"\n") == 1
        assert box.run(["sh", "-c", "seq 3; exit 4"], *flags, stdout=full).returncode == 4
    assert box.last().status == 4 and box.bytes(box.last()) == b"1\n2\n3\n"


def test_what_is_off_is_off(box):
    same(box, ["seq", "30000"], env={"CTX_OFF": "1"})
    same(box, ["sh", "-c", "seq 30000; kill -SEGV $$"], env={"CTX_OFF": "1"}, preexec_fn=without_core)
    done = box.ctx("tap", input=b"abc", env={"CTX_OFF": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"abc", b"")
    assert not box.store.exists()
    assert box.run(["seq", "3"], env={"CTX_OFF": "0"}).returncode == 0 and box.store.exists()


def test_a_ctx_inside_a_ctx(box):
    inner = [*program(), "run", "--", "seq", "30000"]
    done = box.run(["sh", "-c", 'echo building; "$@"; exit 3', "sh", *inner])
    assert done.returncode == 3
    inner_run, outer = ctx.load_occurrence(box.inside, box.names()[-1]), ctx.load_occurrence(box.inside, box.names()[0])
    runs = {len(run.manifest["argv"]): run for run in (inner_run, outer)}
    assert runs[2].handle.encode() in done.stdout
    assert runs[2].handle.encode() in box.bytes(runs[max(runs)])


# ── the end of a command


@pytest.mark.once
def test_a_daemon_that_holds_the_pipe_does_not_hold_the_run_nor_die_of_it(box):
    script = "(while [ ! -e stop ]; do sleep 0.05; echo beat; echo beat >> beats; done; echo ended > ended) & echo started"
    started = time.monotonic()
    done = box.run(["sh", "-c", script])
    assert done.returncode == 0 and done.stdout.startswith(b"started\n") and time.monotonic() - started < 60
    before = len((box.work / "beats").read_bytes()) if (box.work / "beats").exists() else 0
    wait_for(lambda: (box.work / "beats").exists() and len((box.work / "beats").read_bytes()) > before + 40)
    (box.work / "stop").write_text("")
    wait_for(lambda: (box.work / "ended").exists())


@pytest.mark.once
def test_a_daemon_that_floods_the_pipe_does_not_hold_the_run(box):
    done = box.run(["sh", "-c", "yes & echo $! > pid; echo started; exit 3"], timeout=60)
    os.kill(int((box.work / "pid").read_text()), signal.SIGKILL)
    assert done.returncode == 3 and b"started\n" in box.bytes(box.last())


@pytest.mark.once
@pytest.mark.parametrize("size", [100_000, 1_000_000, 3_000_000])
def test_everything_that_the_child_wrote_is_read_after_its_end(box, size):
    script = "sleep 600 & echo $! > pid; exec head -c %d /dev/zero" % size
    box.run(["sh", "-c", script], timeout=60)
    os.kill(int((box.work / "pid").read_text()), signal.SIGKILL)
    assert box.last().source("stdout").size == size


def test_a_child_that_closes_its_output_and_goes_on_is_waited_for(box):
    done = box.run(["sh", "-c", "echo first; exec >&- 2>&-; sleep 1; exit 6"])
    assert (done.returncode, done.stdout) == (6, b"first\n")


@pytest.mark.once
def test_a_reader_that_goes_ends_a_child_as_it_would_without_ctx(box):
    box.config("[budget]\nhold = 1\n")
    for flags in ("", "--stream "):
        script = '"$@" run %s-- yes | head -1 > first; echo "${PIPESTATUS[*]}"' % flags
        done = box.plain(["bash", "-c", script, "sh", *program()], timeout=60)
        assert done.stdout == b"141 0\n" and done.stderr == b""
        assert box.last().partial == "reader gone" and box.bytes(box.last()).startswith(b"y\ny\n")


def test_no_digest_is_made_that_nobody_reads(monkeypatch):
    made = []
    monkeypatch.setattr(ctx, "safe_digest", lambda *given: made.append(given) or (b"digest\n", False))
    run = SimpleNamespace(manifest={"streams": {"stdout": ["", ctx.MIB]}})
    for deaf in ({2}, {1}):
        capture = SimpleNamespace(total=ctx.MIB, status=141, deaf=deaf, mode="hold", show=lambda fd, data: None)
        ctx.show_end(capture, run, ctx.default_settings(), -1)
    assert len(made) == 1


@pytest.mark.parametrize("talk", ["echo early >&2; seq 30000", "seq 30000 >&2; seq 30000", "seq 30000; echo late >&2", "seq 500 >&2; exec yes"])
def test_where_stdouts_reader_has_gone_stderr_still_tells(box, talk):
    """As it is where it is small, else by the digest."""
    said = []
    for words in ([], [*program(), "run", "--"]):
        command = ["bash", "-c", '"$@" | true; exit "${PIPESTATUS[0]}"', "sh", *words, "sh", "-c", "sleep 0.5; %s; exit 3" % talk]
        done = box.plain(command, timeout=60)
        said.append((done.returncode, done.stderr))
    assert said[0] == said[1] or (said[0][0] == said[1][0] and is_digest(said[1][1]) and len(said[0][1]) > 100_000)


def test_a_child_that_ignores_SIGPIPE_gets_its_error(box):
    source = (
        "import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
        "try:\n    while True: os.write(1, b'y\\n' * 500)\nexcept BrokenPipeError:\n    os._exit(9)\n"
    )
    script = '"$@" | head -1 > /dev/null; echo "${PIPESTATUS[0]}"'
    done = box.plain(["bash", "-c", script, "sh", *program(), "run", "--stream", "--", *python(source)], timeout=60)
    assert done.stdout == b"9\n"


def test_a_reader_of_stderr_that_goes_ends_the_writer_too(box):
    script = '"$@" run --stream -- sh -c "yes >&2" 2> >(head -1 > first); echo $?'
    done = box.plain(["bash", "-c", script, "sh", *program()], timeout=60)
    assert done.stdout.endswith(b"\n141\n") and box.last().partial == "reader gone"


# ── signals and time


@pytest.mark.once
@linux
@pytest.mark.parametrize("stubborn", ["nobody", "all", "those below"])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_timeout_ends_the_command_and_all_below_it(box, stubborn, terminal):
    own, below = "trap '' TERM;" if stubborn == "all" else "", 'trap "" TERM;' if stubborn != "nobody" else ""
    script = own + "echo early; sh -c '%s while :; do sleep 0.1; done' & echo $! > child; echo $$ > self; wait; sleep 600" % below
    words = [*program(), "run", "--timeout", "1.5", "--", "sh", "-c", script]
    if terminal:
        shown = box.terminal(*words)
        status = shown.finish(60)
        assert b"early" in shown.seen
    else:
        done = box.plain(words, timeout=60)
        status = done.returncode
        assert b"early\n" in done.stdout and done.stderr == b""
    assert status == 124
    run = box.last()
    assert run.partial == "timeout" and run.status == 124 and box.bytes(run).replace(b"\r", b"").startswith(b"early\n")
    for name in ("self", "child"):
        pid = int((box.work / name).read_text())
        wait_for(lambda pid=pid: not alive(pid), 10)


def test_a_timeout_that_is_not_reached_changes_nothing(box):
    same(box, ["sh", "-c", "echo hi; exit 3"], "--timeout", "60")
    same(box, ["sh", "-c", "echo hi; exit 3"], "--timeout=1m")
    for wrong in ("0", "x", "-1", "", "1d", "nan", "inf"):
        assert box.run(["true"], "--timeout", wrong).returncode == 2


@pytest.mark.once
def test_a_timeout_leaves_time_to_report(box):
    source = (
        "import signal, sys, time\n"
        "def end(*_): print('report'); sys.exit(5)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\ntime.sleep(600)\n"
    )
    done = box.run(["sh", "-c", '"$@"; exit', "sh", *python(source)], "--timeout", "2", timeout=60)
    assert done.returncode == 124 and b"ready\nreport\n" in done.stdout


@pytest.mark.once
def test_a_timeout_is_kept_while_nobody_reads(box):
    process = box.start("run", "--stream", "--timeout", "1", "--", "sh", "-c", "echo $$ > self; exec yes")
    pid = int(wait_for(lambda: (box.work / "self").exists() and (box.work / "self").read_text()))
    wait_for(lambda: not alive(pid))
    process.communicate(timeout=30)
    assert process.returncode == 124


@pytest.mark.once
@linux
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "ALRM", "USR1"])
def test_a_signal_is_passed_on_while_nobody_reads(box, name):
    process = box.start("run", "--stream", "--", "sh", "-c", "echo $$ > self; exec yes", start_new_session=True)
    pid = int(wait_for(lambda: (box.work / "self").exists() and (box.work / "self").read_text()))
    time.sleep(0.3)
    process.send_signal(getattr(signal, "SIG" + name))
    wait_for(lambda: not alive(pid))
    process.communicate(timeout=30)
    assert process.returncode == 128 + getattr(signal, "SIG" + name)


@pytest.mark.once
@pytest.mark.skipif(not shutil.which("timeout"), reason="needs timeout(1)")
def test_an_external_timeout(box):
    script = "for i in $(seq 3000); do echo line $i; done; sleep 600 & echo $! > child; wait"
    done = box.plain(["timeout", "3", *program(), "run", "--", "sh", "-c", script], timeout=60)
    assert done.returncode == 124 and is_digest(done.stdout) and b"partial" in done.stdout
    # timeout(1) signals the group: whether the child's death or our own signal is seen first is chance
    assert box.last().partial in ("interrupted", "killed by SIGTERM") and box.bytes(box.last()).endswith(b"line 3000\n")
    wait_for(lambda: not alive(int((box.work / "child").read_text())))


REPORTER = (
    "import os, signal, sys, time\n"
    "count = 0\n"
    "def note(number, frame):\n"
    "    global count\n"
    "    count += 1\n"
    "signal.signal(signal.SIGINT, note)\n"
    "signal.signal(signal.SIGTERM, note)\n"
    "print('ready', flush=True)\n"
    "open('ready', 'w').close()\n"
    "while not count: time.sleep(0.05)\n"
    "for i in range(15):\n"
    "    print('reporting', i, flush=True)\n"
    "    time.sleep(0.1)\n"
    "print('interrupted', count, flush=True)\n"
    "sys.exit(7)\n"
)


def started(box):
    return wait_for(lambda: (box.work / "ready").exists())


@pytest.mark.once
def test_an_interrupt_from_the_terminal_reaches_the_child_once(box):
    terminal = box.terminal(*program(), "run", "--", *python(REPORTER))
    started(box)
    terminal.type(b"\x03")
    assert terminal.finish() == 7
    assert b"interrupted 1\r\n" in terminal.seen
    assert box.last().partial == "interrupted"


@pytest.mark.once
def test_an_interrupt_sent_to_the_group_reaches_the_child_once(box):
    process = box.start("run", "--", *python(REPORTER), start_new_session=True)
    started(box)
    os.killpg(process.pid, signal.SIGINT)
    out = process.communicate(timeout=30)[0]
    assert process.returncode == 7 and out.endswith(b"interrupted 1\n")


@pytest.mark.once
@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_a_signal_sent_to_ctx_alone_reaches_the_child(box, name):
    process = box.start("run", "--", *python(REPORTER), start_new_session=True)
    started(box)
    process.send_signal(getattr(signal, "SIG" + name))
    out = process.communicate(timeout=30)[0]
    assert process.returncode == 7 and out.endswith(b"interrupted 1\n")
    assert box.last().partial == "interrupted"


@pytest.mark.once
def test_an_interrupt_sent_to_ctx_alone_reaches_a_child_that_never_pauses(box):
    process = box.start("run", "--", "sh", "-c", "echo $$ > ready; while :; do echo on; sleep 0.1; done", start_new_session=True)
    started(box)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_harmless_signal_does_not_make_a_run_partial(box):
    source = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: open('got', 'w'))\n"
        "open('ready', 'w')\nwhile not os.path.exists('got'): time.sleep(0.05)\n"
    )
    process = box.start("run", "--", *python(source))
    started(box)
    time.sleep(0.2)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(30) == 0 and box.last().partial == ""
    process.communicate()


@pytest.mark.once
def test_what_was_ignored_is_not_passed_on(box):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    process = box.start("run", "--", "sh", "-c", "> ready; sleep 2; echo survived", preexec_fn=ignore)
    started(box)
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=30)[0] == b"survived\n" and box.last().partial == ""


def test_hanging_up_ends_the_child(box):
    terminal = box.terminal(*program(), "run", "--", "sh", "-c", "echo $$ > ready; sleep 600")
    pid = int(wait_for(lambda: (box.work / "ready").exists() and (box.work / "ready").read_text()))
    os.close(terminal.master)
    wait_for(lambda: not alive(pid))
    assert terminal.process.wait(30) == 129


@pytest.mark.once
def test_a_signal_ends_a_ctx_whose_reader_keeps_it_waiting_after_the_childs_end(box):
    process = box.start("run", "--stream", "--", "sh", "-c", "seq 100000; > ready", start_new_session=True)
    started(box)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert box.bytes(box.last(), "stdout") == b"".join(b"%d\n" % i for i in range(1, 100001))
    process.communicate()


# ── what is kept of too much


@pytest.mark.once
def test_one_run_keeps_its_head_and_its_tail_and_declares_the_gap(box):
    box.config("[store]\nrun_mib = 1\n")
    for merged in (True, False):
        done = box.run(["seq", "1000000"], merged=merged)
        assert is_digest(done.stdout)
        run = box.last()
        ((name, gap),) = run.manifest["gaps"].items()
        data = box.bytes(run, name)
        limit = ctx.MIB if merged else ctx.MIB // 2
        assert len(data) <= limit and len(data) > limit * 0.9
        everything = b"".join(b"%d\n" % i for i in range(1, 1000001))
        head, tail = data[: gap["at"]], data[gap["at"] :]
        assert everything.startswith(head) and everything.endswith(tail)
        assert len(head) + gap["bytes"] + len(tail) == len(everything)
        assert data.count(b"\n") + gap["lines"] == 1000000
        assert head.endswith(b"\n") and everything[len(everything) - len(tail) - 1 :][:1] == b"\n"


@pytest.mark.once
def test_output_at_the_very_limit_has_no_gap(box):
    box.config("[store]\nrun_mib = 1\n")
    for size in (ctx.MIB * 3 // 4, ctx.MIB * 3 // 4 + 1, ctx.MIB):
        box.run(["head", "-c", str(size), "/dev/zero"], merged=True)
        assert "gaps" not in box.last().manifest and box.bytes(box.last()) == bytes(size)
    box.run(["head", "-c", str(ctx.MIB + 1), "/dev/zero"], merged=True)
    assert box.last().manifest["gaps"]["output"] == {"at": ctx.MIB * 3 // 4, "bytes": 1, "lines": 0}


@pytest.mark.once
def test_yes_cannot_fill_the_disk(box):
    box.config("[store]\nrun_mib = 2\n[budget]\nhold = 1\n")
    process = box.start("run", "--", "yes")
    process.stdout.readline()
    sizes = [sum(path.stat().st_size for path in (box.store / "spool").iterdir()) for _ in range(5) if not time.sleep(0.1)]
    process.terminate()
    process.communicate(timeout=30)
    assert max(sizes) <= 2 * ctx.MIB + 4096
    assert sum(path.stat().st_size for path in box.store.rglob("*") if path.is_file()) < 3 * ctx.MIB


# ── a store that cannot be written

needs_mount = pytest.mark.skipif(not can_mount(), reason="needs the right to mount in a namespace of its own")
TALK = ["sh", "-c", "echo out; echo err >&2; seq 5000; exit 3"]


def passes(done, plain):
    """The output passed untouched, and the status held. One line of stderr says why nothing was kept."""
    assert done.returncode == plain.returncode
    assert done.stdout == plain.stdout
    ours = [line for line in done.stderr.splitlines(True) if line.startswith(b"ctx ")]
    assert [b"nothing is kept" in line for line in ours] == [True]
    assert b"".join(line for line in done.stderr.splitlines(True) if line not in ours) == plain.stderr


def nowhere(box, script="", command=TALK):
    """Run a command under ctx in a mount namespace of its own, in which `script` ran first."""
    words = ["unshare", "-m", "sh", "-c", script + ' exec "$@"', "sh", *program(), "run", "--", *command]
    return box.plain(words)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere; the next test mounts a read-only file system instead")
def test_a_directory_that_cannot_be_written(box):
    box.tmp.chmod(0o500)
    (box.work / "ro").mkdir(mode=0o500)
    done = box.run(TALK, env={"CTX_HOME": str(box.work / "ro" / "store")})
    passes(done, box.plain(TALK))


@needs_mount
def test_a_read_only_file_system(box):
    script = "mount -t tmpfs -o ro tmpfs %s; mount -t tmpfs -o ro tmpfs %s;" % (box.work / "ro", box.tmp)
    (box.work / "ro").mkdir()
    box.env["CTX_HOME"] = str(box.work / "ro" / "store")
    passes(nowhere(box, script), box.plain(TALK))


@needs_mount
def test_a_store_that_has_become_read_only_is_still_read(box):
    box.run(["seq", "30000"])
    handle = box.last().handle
    script = "mount --bind %s %s; mount -o remount,ro,bind %s;" % (box.store, box.store, box.store)
    script += "mount -t tmpfs -o ro tmpfs %s;" % box.tmp
    passes(nowhere(box, script), box.plain(TALK))
    words = ["unshare", "-m", "sh", "-c", script + ' exec "$@"', "sh", *program(), "get", handle + "#output:29999-30000"]
    assert box.plain(words).stdout == b"29999\n30000\n"


@pytest.mark.once
@needs_mount
@pytest.mark.parametrize("lines", [5000, 700_000, 2_000_000])
def test_a_file_system_that_fills_up(box, lines):
    (box.store).mkdir()
    command = ["sh", "-c", "echo err >&2; seq %d; exit 3" % lines]
    script = "mount -t tmpfs -o size=4m tmpfs %s; mount -t tmpfs -o ro tmpfs %s;" % (box.store, box.tmp)
    done, plain = nowhere(box, script, command), box.plain(command)
    if lines == 5000:
        assert done.returncode == 3 and b"nothing is kept" not in done.stderr
    else:
        passes(done, plain)


@pytest.mark.once
@needs_mount
def test_a_file_system_that_is_full_from_the_start(box):
    box.store.mkdir()
    script = "mount -t tmpfs -o size=4m tmpfs %s; head -c 8m /dev/zero > %s/filler 2>/dev/null;" % (box.store, box.store)
    script += "mount -t tmpfs -o ro tmpfs %s;" % box.tmp
    passes(nowhere(box, script), box.plain(TALK))


def test_a_limit_on_the_size_of_files(box):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = box.run(TALK, preexec_fn=limit)
    passes(done, box.plain(TALK))


@pytest.fixture
def homeless(box):
    """A box in which no store can be made."""
    (box.work / "file").write_text("")
    (box.tmp / ("ctx-%d" % os.getuid())).write_text("")
    box.env["CTX_HOME"] = str(box.work / "file")
    return box


def test_a_home_that_is_a_file(homeless):
    passes(homeless.run(TALK), homeless.plain(TALK))


def test_without_a_store_small_output_is_all_there_is(homeless):
    small = ["sh", "-c", "echo out; echo err >&2; exit 3"]
    for merged in (False, True):
        for command in (small, ["true"], ["head", "-c", "4096", "/dev/zero"]):
            same(homeless, command, merged=merged)
    done = homeless.ctx("tap", input=b"x" * 4096)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"x" * 4096, b"")


def test_without_a_store_a_flood_is_said_to_be_lost_where_it_is_counted(homeless):
    flood = homeless.run(["seq", "5000"], merged=True).stdout
    assert flood.startswith(b"1\n2\n") and flood.count(b"\n") == 5001 and b"\nctx run: nothing is kept of this run: " in flood
    done = homeless.run(["seq", "5000"], "--log", "log")
    assert done.stdout.count(b"\n") == 5000 and done.stderr.startswith(b"ctx run: nothing is kept of this run: ")
    assert (homeless.work / "log").read_bytes() == done.stdout
    done = homeless.ctx("tap", input=b"x" * 4097)
    assert done.stdout == b"x" * 4097 and done.stderr.startswith(b"ctx tap: nothing is kept of this pipe: ") and done.stderr.count(b"\n") == 1


def test_a_complaint_that_cannot_be_written_leaves_the_commands_status(homeless):
    with open("/dev/full", "wb") as full:
        for command, status in ((["seq", "5000"], 0), (["sh", "-c", "seq 5000; exit 3"], 3)):
            done = homeless.run(command, stderr=full)
            assert done.returncode == status and done.stdout.count(b"\n") == 5000


@pytest.mark.parametrize("most", [5, 6, 8])
def test_without_descriptors_for_a_capture_the_command_still_runs(box, most):
    line = "ulimit -n %d; exec %s run -- sh -c 'seq 5000; exit 3'" % (most, " ".join(program()))
    done = box.plain(["sh", "-c", line])
    assert done.returncode == 3 and done.stdout.endswith(b"\n5000\n")
    assert done.stderr == b"ctx run: nothing is kept of this run: Too many open files\n"


@linux
@pytest.mark.parametrize("size, is_said", [(4096, False), (4096 + 2 * 64, True)])
def test_without_a_store_what_passes_uncounted_is_measured(homeless, size, is_said):
    done = homeless.run(["head", "-c", str(size), "/dev/zero"])
    assert (done.returncode, done.stdout) == (0, bytes(size)) and (b"nothing is kept" in done.stderr) == is_said


def test_without_a_store_what_goes_to_two_places_keeps_its_order(homeless):
    """Both places are ways to one socket, which has what arrives in the order in which it was written."""
    name = str(homeless.work / "socket")
    with contextlib.ExitStack() as stack:
        there, out, err = (stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) for _ in range(3))
        there.bind(name)
        there.settimeout(30)
        out.connect(name)
        err.connect(name)
        homeless.run(["sh", "-c", "for i in 1 2 3 4; do echo out $i; echo err $i >&2; done"], stdout=out, stderr=err)
        assert [there.recv(99) for _ in range(8)] == [b"%s %d\n" % (name, i) for i in (1, 2, 3, 4) for name in (b"out", b"err")]


def test_without_a_store_a_time_limit_holds(homeless):
    done = homeless.run(["sh", "-c", "echo out; exec sleep 600"], "--timeout", "1")
    assert (done.returncode, done.stdout, done.stderr) == (124, b"out\n", b"")


@pytest.mark.parametrize("home", ["/nonexistent", "/dev/null", "relative"])
def test_without_a_home_the_temporary_directory_will_do(box, home):
    done = box.run(["seq", "30000"], env={"CTX_HOME": None, "HOME": home})
    assert is_digest(done.stdout) and done.stderr == b""
    root = box.tmp / ("ctx-%d" % os.getuid())
    assert root.stat().st_mode & 0o777 == 0o700 and not os.path.exists("/nonexistent")
    handle = done.stdout.split()[1].decode()
    assert box.ctx("get", handle + "#stdout:5-6").stdout == b"5\n6\n"  # by a home that has none


def test_nothing_of_a_run_whose_store_failed_is_left(box):
    box.store.mkdir()
    (box.store / "spool").write_text("in the way")
    (box.tmp / ("ctx-%d" % os.getuid())).write_text("")
    passes(box.run(TALK), box.plain(TALK))


# ── tap


def test_tap_passes_bytes_unchanged_and_keeps_them(box):
    for data in (b"", b"x", os.urandom(100_000), b"\n" * 5000):
        done = box.ctx("tap", "--for", "make -j", input=data)
        assert (done.returncode, done.stdout) == (0, data)
        assert box.bytes(box.last()) == data and box.last().status is None
        assert box.last().manifest["argv"] == ["make -j"]
        if len(data) > 4096:
            assert done.stderr.count(b"\n") == 1 and box.last().handle.encode() in done.stderr
        else:
            assert done.stderr == b""


def test_tap_is_unbuffered(box):
    process = box.start("tap", stdin=subprocess.PIPE)
    for piece in (b"a", b"bc\n", b"d"):
        os.write(process.stdin.fileno(), piece)
        assert os.read(process.stdout.fileno(), 100) == piece
    process.communicate()
    assert process.returncode == 0


def test_tap_ends_with_its_reader_and_keeps_what_it_read(box):
    script = 'yes | "$@" tap | head -2; echo "${PIPESTATUS[*]}"'
    done = box.plain(["bash", "-c", script, "sh", *program()], timeout=60)
    assert done.stdout == b"y\ny\n141 0 0\n"
    assert box.last().partial == "reader gone" and box.bytes(box.last()).startswith(b"y\ny\n")


def test_tap_never_fails(box):
    (box.work / "file").write_text("")
    (box.tmp / ("ctx-%d" % os.getuid())).write_text("")
    done = box.ctx("tap", input=b"abc" * 5000, env={"CTX_HOME": str(box.work / "file")})
    assert (done.returncode, done.stdout) == (0, b"abc" * 5000) and done.stderr.count(b"\n") == 1
    with open(os.devnull, "wb") as unreadable:
        done = box.ctx("tap", stdin=unreadable)
        assert done.returncode == 0 and done.stderr.startswith(b"ctx tap: stdin: ") and done.stderr.count(b"\n") == 1
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = box.ctx("tap", input=b"abc", stdout=full)
            assert done.returncode == 0 and b"No space" in done.stderr
    closed = box.plain(["sh", "-c", 'exec "$@" <&-', "sh", *program(), "tap"])
    assert (closed.returncode, closed.stdout) == (0, b"")


@pytest.mark.once
def test_tap_outlives_an_interrupt_like_the_program_before_it(box):
    process = box.start("tap", stdin=subprocess.PIPE, start_new_session=True)
    os.write(process.stdin.fileno(), b"before ")
    assert os.read(process.stdout.fileno(), 100) == b"before "
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert process.communicate(b"after")[0] == b"after"
    assert box.bytes(box.last()) == b"before after"


def test_tap_reads_a_pipe_that_does_not_block(box):
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    process = box.start("tap", stdin=reader)
    time.sleep(0.3)
    os.write(writer, b"late")
    os.close(writer)
    assert process.communicate(timeout=30) == (b"late", b"") and process.returncode == 0
    os.close(reader)


# ── what a run costs

SMALL = {"_sha2", "_sha256", "_signal", "fcntl", "select", "time", "__future__", "posix", "sys"}


@pytest.mark.parametrize("command", [["true"], ["echo", "hi"], ["sh", "-c", "echo a; echo b >&2; exit 3"]])
def test_a_small_run_imports_next_to_nothing(box, command):
    box.run(["true"])  # the store is there
    source = (
        "import sys, marshal\nwith open(sys.argv[1], 'rb') as file: code = marshal.loads(file.read()[16:])\n"
        "words, sys.argv[1:], before = sys.argv[2:], sys.argv[2:], set(sys.modules)\n"
        "import posix\nleave = posix._exit\n"
        "def end(status):\n"
        "    posix.write(posix.open('modules', posix.O_WRONLY | posix.O_CREAT), ' '.join(set(sys.modules) - before).encode())\n"
        "    leave(status)\n"
        "posix._exit = end\n"
        "exec(code, {'__name__': '__main__'})\n"
    )
    done = box.plain([PYTHON, "-I", "-S", "-c", source, program()[-1], "run", "--", *command])
    assert done.returncode in (0, 3), done.stderr
    assert set((box.work / "modules").read_text().split()) <= SMALL


@linux
def test_a_small_run_opens_few_files(box):
    if not shutil.which("strace") or box.plain(["strace", "-o", "/dev/null", "true"]).returncode:
        pytest.skip("needs strace, and the right to use it")
    box.run(["echo", "hi"])
    box.plain(["strace", "-o", "trace", *program(), "run", "--", "echo", "hi"])
    calls = [line for line in (box.work / "trace").read_text().splitlines() if str(box.store) in line]
    assert len(calls) <= 40, "\n".join(calls)


@pytest.mark.once
def test_memory_stays_bounded(box):
    source = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    for line in ("head -c 100m /dev/zero", "for i in $(seq 20000); do echo o; echo e >&2; done"):
        words = [*program(), "run", "--stream", "--", "sh", "-c", line]
        done = box.plain([PYTHON, "-c", source, *words], stderr=subprocess.DEVNULL)
        status, peak = map(int, done.stdout.split())
        assert status == 0 and peak < 64 * 1024


# ── two pipes


@pytest.mark.once
def test_the_order_of_two_pipes_is_kept_where_the_child_paused(box):
    source = (
        "import array, fcntl, os, termios\n"
        "left = array.array('i', [0])\n"
        "for i in range(60):\n"
        "    os.write(1 + i % 2, b'line %d\\n' % i)\n"
        "    left[0] = 1\n"
        "    while left[0]: fcntl.ioctl(1 + i % 2, termios.FIONREAD, left)\n"  # until it has been read
    )
    box.run(python(source))
    run = box.last()
    assert box.bytes(run, "output") == b"".join(b"line %d\n" % i for i in range(60))
    assert box.bytes(run, "stdout") == b"".join(b"line %d\n" % i for i in range(0, 60, 2))


@pytest.mark.once
def test_random_talk_is_replayed_and_kept_exactly(box):
    rng = random.Random(20261130)
    for _ in range(8):
        pieces = [(rng.choice("12"), rng.randrange(1, 1500)) for _ in range(rng.randrange(1, 40))]
        source = "import os, sys\nfor piece in sys.argv[1:]: os.write(int(piece[0]), b'x' * (int(piece[1:]) - 1) + b'\\n')\n"
        command = python(source, *("%s%d" % piece for piece in pieces))
        plain, done = box.plain(command), box.run(command)
        assert box.bytes(box.last(), "stdout") == plain.stdout and box.bytes(box.last(), "stderr") == plain.stderr
        whole = box.bytes(box.last(), "output")
        assert len(whole) == len(plain.stdout) + len(plain.stderr)
        assert whole.count(b"\n") == len(pieces)
        if not is_digest(done.stdout):
            assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
