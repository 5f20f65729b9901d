"""The command line: its grammar, its help, and that whatever is typed or broken comes to one line that says what to do."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctx

pytest_plugins = ["places"]

ROOT = Path(__file__).resolve().parent.parent
NAMES = [verb.name for verb in ctx.VERBS]
SILENT = ("run", "tap", "export", "init", "help", "hook", "setup", "wrap")  # verbs that report nothing of their own
APART = ("run", "tap", "export", "init", "hook")  # verbs that act outside this process, or end it
can_read_toml = pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")


def verb(
    name="get",
    options=(("-i", "", "x"), ("-F", "", "x"), ("-n", "N", "x"), ("--bytes", "A:B", "x"), ("--all", "", "x")),
    is_command=False,
):
    return ctx.Verb(name, name, "x", lambda options, words: 0, options, "", (), is_command)


def one_line(done, status=2):
    """A call was refused, in one line that names the problem and what to do."""
    assert (done.status, done.out) == (status, b""), done.err
    assert re.fullmatch(r"ctx [a-z]+: .+: .+\n", done.err), done.err
    return done.err


# ── the grammar


@pytest.mark.parametrize(
    "argv, options, words",
    [
        ([], {}, []),
        (["a", "b"], {}, ["a", "b"]),
        (["-i", "a"], {"-i": ""}, ["a"]),
        (["a", "-i"], {"-i": ""}, ["a"]),
        (["-iF", "a"], {"-i": "", "-F": ""}, ["a"]),
        (["-iFn5"], {"-i": "", "-F": "", "-n": "5"}, []),
        (["-n", "5"], {"-n": "5"}, []),
        (["-n5"], {"-n": "5"}, []),
        (["-n", "-5"], {"-n": "-5"}, []),
        (["-n", "--"], {"-n": "--"}, []),
        (["--bytes", "1:2"], {"--bytes": "1:2"}, []),
        (["--bytes=1:2"], {"--bytes": "1:2"}, []),
        (["--bytes=a=b"], {"--bytes": "a=b"}, []),
        (["--bytes="], {"--bytes": ""}, []),
        (["--all", "--all"], {"--all": ""}, []),
        (["-", "--", "-i", "--"], {}, ["-", "-i", "--"]),
        ([""], {}, [""]),
        (["a", "--help", "b"], {"--help": ""}, []),
        (["-h"], {"--help": ""}, []),
    ],
)
def test_options(argv, options, words):
    assert ctx.parse_options(verb(), argv) == (options, words)


@pytest.mark.parametrize(
    "argv, options, words",
    [
        (["-i", "pytest", "-q", "--all"], {"-i": ""}, ["pytest", "-q", "--all"]),
        (["--", "-i", "--", "x"], {}, ["-i", "--", "x"]),
        (["x", "--", "--help"], {}, ["x", "--", "--help"]),
        (["-n", "5", "x", "-h"], {"-n": "5"}, ["x", "-h"]),
    ],
)
def test_a_command_line_of_somebody_else(argv, options, words):
    assert ctx.parse_options(verb(is_command=True), argv) == (options, words)


@pytest.mark.parametrize(
    "argv, says",
    [
        (["--byte", "1:2"], "unknown option '--byte': did you mean --bytes?"),
        (["--byte=1:2"], "did you mean --bytes?"),
        (["-x"], "unknown option '-x': options are --all, --bytes, -F, -i, -n"),
        (["-ix"], "unknown option '-x'"),
        (["-i-"], "unknown option '-i-': write -i alone"),
        (["--all=yes"], "--all takes no value: write --all alone"),
        (["--bytes"], "--bytes needs a value: write --bytes A:B"),
        (["-n"], "-n needs a value: write -n N"),
        (["-n", "1", "-n", "2"], "-n is given twice: write it once"),
        (["--\n"], "unknown option '--\\n'"),
    ],
)
def test_wrong_options(argv, says):
    with pytest.raises(ctx.CtxError) as caught:
        ctx.parse_options(verb(), argv)
    assert says in str(caught.value) and caught.value.exit_code == 2


@given(
    st.lists(
        st.sampled_from(["-i", "-iF", "-n", "-n5", "--bytes", "--bytes=1", "--all", "--", "-", "a", "", "-h", "--x", "-ii"])
        | st.text(max_size=6)
    )
)
def test_options_and_words_account_for_everything(argv):
    try:
        options, words = ctx.parse_options(verb(), argv)
    except ctx.CtxError as error:
        assert error.fix
        return
    assert set(options) <= {"-i", "-F", "-n", "--bytes", "--all", "--help"}
    if "--help" not in options:
        assert [word for word in argv if not word.startswith("-") and word not in options.values()] == [
            word for word in words if not word.startswith("-") and word not in options.values()
        ]


@pytest.mark.parametrize(
    "text, seconds", [("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("0.5", 0.5), (".5", 0.5), ("480h", 1728000)]
)
def test_times(text, seconds):
    assert ctx.seconds_option({"--timeout": text}, "--timeout") == seconds
    assert ctx.seconds_option({}, "--timeout") == 0


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "-1", "s", ".", "1.2.3", "1d", "1e3", "inf", "nan", "²", "481h", "9" * 400, "0.0001"]
)
def test_no_times(text):
    with pytest.raises(ctx.CtxError, match="write seconds, as in --timeout 90, or 1.5m, or 2h"):
        ctx.seconds_option({"--timeout": text}, "--timeout")


# ── verbs


@pytest.mark.parametrize(
    "argv, says",
    [
        (["serach"], "ctx help: unknown verb 'serach': did you mean search?"),
        (["xyzzy"], "unknown verb 'xyzzy': ctx help lists them"),
        (["Run"], "did you mean run?"),
        (["--json"], "unknown option '--json': options stand behind the verb, as in ctx runs --json"),
        (["run"], "ctx run: no command: write ctx run -- CMD ARGS…, or ctx run --shell 'LINE'"),
        (["run", "--"], "no command"),
        (["run", "--", ""], "no command"),
        (["run", "--shell", "a", "b"], "--shell takes one text, and 'b' follows it: put the whole line in quotes"),
        (["run", "--timeout", "x", "--", "true"], "--timeout 'x': not a time"),
        (["run", "--log", "/", "--", "true"], "--log '/': Is a directory: name a file that can be written"),
        (["run", "--summary", "/missing/x", "--", "true"], "--summary '/missing/x': No such file or directory"),
        (["tap", "x"], "ctx tap: 'x': nothing is expected here: write CMD | ctx tap --for 'CMD'"),
        (["digest", "a", "b"], "'b': one at a time: join them: cat a b | ctx digest"),
        (["digest", "missing"], "'missing': No such file or directory: name a file that can be read, or - for stdin"),
        (["digest", "/"], "'/': is a directory: name a file in it"),
        (["digest", "a\0b"], "embedded null"),
        (["get"], "ctx get: something is missing: write ctx get run:HEX"),
        (["get", "xyzzy"], "'xyzzy': not an address"),
        (["search"], "ctx search: no pattern"),
        (["runs", "x"], "'x': nothing is expected here"),
        (["runs", "-n", "0"], "-n '0': not a whole number from 1: write -n 10"),
        (["pin", "--remove"], "--remove: no run"),
        (["pin", "blob:123456"], "'blob:123456': only whole runs: write run:HEX"),
        (["pin", "run:123456#stdout"], "only whole runs"),
        (["export"], "no run: write ctx export run:HEX… -o FILE.tar"),
        (["export", "run:123456", "--raw"], "--raw: not allowed here"),
        (["import", "missing"], "'missing': No such file or directory"),
        (["import", "a", "b"], "one at a time"),
        (["help", "serach"], "did you mean search?"),
        (["help", "run", "get"], "'get': one at a time: write ctx help run"),
        (["version", "x"], "'x': nothing is expected here"),
        (["version", "--js"], "did you mean --json?"),
        (["version", "--hlep"], "did you mean --help?"),
        (["init", "--force"], "unknown option '--force': it takes none"),
    ],
)
def test_wrong_usage(workspace, call, argv, says):
    assert says in one_line(call(*argv))


def test_a_file_that_is_no_export(workspace, call):
    Path("x.tar").write_bytes(os.urandom(1000))
    assert "not a file that ctx export wrote" in one_line(call("import", "x.tar"))
    Path("x.tar").write_bytes(b"")
    assert "not a file that ctx export wrote" in one_line(call("import", "x.tar"))


@pytest.mark.parametrize("folder", [b"new\nline", b"no utf-8 \xff", b"it's #1"])
def test_the_way_back_runs_as_printed_wherever_the_program_stands(tmp_path, folder):
    program = os.path.join(os.fsencode(tmp_path), folder, b"ctx.py")
    os.mkdir(os.path.dirname(program))
    shutil.copy(os.fsencode(ROOT / "ctx.py"), program)
    options = {"env": {"PATH": os.environ["PATH"], "CTX_HOME": str(tmp_path / "store")}, "stdout": subprocess.PIPE, "timeout": 60}
    done = subprocess.run([sys.executable, program, "run", "--", "sh", "-c", "seq 5000; exit 3"], **options)
    line = done.stdout.split(b"next:\n  ")[1].split(b"\n")[0]
    assert done.returncode == 3 and subprocess.run(["bash", "-c", line], **options).stdout.startswith(b"1\n2\n")


@pytest.mark.parametrize("name", NAMES)
def test_help(call, name):
    pages = [call("help", name), call(name, "--help"), call(name, "-h")]
    assert [page.status for page in pages] == [0, 0, 0]
    assert pages[0].out == pages[1].out == pages[2].out
    lines = pages[0].out.decode().split("\n")
    assert lines[0].startswith("usage: ctx %s" % name) and "examples:" in lines
    assert max(map(len, lines)) <= 160


@pytest.mark.parametrize("argv", [(), ("help",), ("-h",), ("--help",)])
def test_overview(call, argv):
    done = call(*argv)
    assert done.status == 0
    listed = re.findall(r"^  ([a-z]+) +\S", done.out.decode(), re.M)
    assert listed == NAMES


@pytest.mark.parametrize("argv", [("version",), ("-V",), ("--version",)])
def test_version(call, argv):
    assert call(*argv).out == ("ctx %s (Python %d.%d.%d)\n" % (ctx.VERSION, *sys.version_info[:3])).encode()


@pytest.mark.parametrize("verb", ctx.VERBS, ids=NAMES)
def test_every_verb_and_option_is_documented(verb):
    """The page names every option that the code asks for, and says of each what it does."""
    page = "\n".join(ctx.help_page(verb))
    code = verb.act.__code__
    asked = {text for text in code.co_consts if isinstance(text, str) and re.fullmatch("--?[a-z-]+", text)}
    assert asked - {"-", "--"} <= {flag for flag, _, _ in verb.options}
    assert verb.summary and verb.examples and all(example.startswith(("ctx ", "seq ", "printf ", "echo ")) for example in verb.examples)
    for flag, metavar, meaning in verb.options:
        assert re.match("--[a-z-]+$|-[a-zA-Z]$", flag) and meaning
        assert "  %s %s" % (flag, metavar) in page
    assert any(flag == "--json" for flag, _, _ in verb.options) != (verb.name in SILENT)


PROFILE = "[profile.mytool]\nmatch = 'mytool:'\nidentities = '(?P<path>[^:]+):(?P<line>[0-9]+): mytool: (?P<message>.*)'\n"
PLAN = '{"schema": "ctx.plan/v1", "nodes": [{"id": "all", "query": "files"}, {"id": "number", "query": "@all | count"}]}'
EXAMPLES = [(verb.name, example) for verb in ctx.VERBS for example in verb.examples]


def test_every_example_runs(workspace, stored, shell, tmp_path):
    """In the order of the help pages, in one workspace: what one example makes, a later one may use."""
    program = tmp_path / "bin" / "ctx"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "%s" "%s" "$@"\n' % (sys.executable, ROOT / "ctx.py"))
    program.chmod(0o755)
    (workspace / "test_it.py").write_text("def test_it():\n    pass\n")
    (workspace / "Makefile").write_text("all:\n\t@echo made\n")
    (workspace / "data.json").write_text('{"items": [1, 2]}\n')
    (workspace / "plan.json").write_text(PLAN)
    (workspace / "shop.py").write_text("class Cart:\n    x = 1\n\n    def total(self):\n        return 1  # TODO\n\n\ndef total():\n    return total()\n")
    handle = stored(b"".join(b"%d\n" % i for i in range(1, 1001)))[4:16]
    (workspace / "sample.txt").write_text("a.x:3: mytool: no\n")
    for name, example in EXAMPLES:
        if name == "profile":
            (workspace / "ctx.toml").write_text(PROFILE)
            if sys.version_info < (3, 11):
                continue
        done = shell("PATH=%s:$PATH; %s" % (shlex.quote(str(program.parent)), example.replace("{run}", handle)))
        assert done.status == 0, "ctx help %s: %s: exit %d\n%s%s" % (name, example, done.status, done.out.decode(), done.err)


JSON_CALLS = [
    ["digest", "file", "--json"],
    ["seq", "--step", "true", "--json"],
    ["plan", "check", "plan.json", "--json"],
    ["plan", "price", "plan.json", "--json"],
    ["plan", "run", "plan.json", "--json"],
    ["plan", "trust", "--json"],
    ["ask", "--symbol", "f", "--intent", "locate", "--json"],
    ["ask", "f and g()", "--intent", "impact", "--json"],
    ["get", "RUN", "--json"],
    ["get", "RUN#output", "--json"],
    ["get", "RUN#output", "--grep", "5$", "--json"],
    ["get", "repo:file", "--json"],
    ["get", "RUN", "--facts", "--json"],
    ["diff", "RUN", "RUN", "--json"],
    ["search", "--json", "5"],
    ["search", "--json", "--count", "5"],
    ["search", "--json", "xyzzy", "--all"],
    ["refs", "x", "--json"],
    ["def", "f", "--json"],
    ["callers", "f", "--json"],
    ["outline", "a.py", "--json"],
    ["q", "files", "--json"],
    ["q", "files | count", "--explain", "--json"],
    ["runs", "--json"],
    ["pin", "--json"],
    ["pin", "RUN", "--json"],
    ["pin", "--remove", "RUN", "--json"],
    ["gc", "--json"],
    ["doctor", "--json"],
    ["config", "--json"],
    ["profile", "list", "--json"],
    ["profile", "trust", "--json"],
    ["why", "pytest -q", "--json"],
    ["version", "--json"],
    ["import", "runs.tar", "--json"],
]


@pytest.mark.parametrize("argv", JSON_CALLS, ids=" ".join)
def test_json_is_one_line_that_parses(workspace, stored, call, argv):
    handle = stored(b"\xff\n" + b"".join(b"%d\n" % i for i in range(1, 1001)))[:16]
    Path("file").write_bytes(b"1\n2\n")
    Path("a.py").write_bytes(b"def f():\n    return f(x)\n")
    Path("plan.json").write_text(PLAN)
    assert call("export", handle, "-o", "runs.tar").status == 0
    done = call(*[word.replace("RUN", handle) for word in argv])
    assert done.status in (0, 1) and done.out.count(b"\n") == 1 and done.out.isascii()
    json.loads(done.out)


def test_json_covers_every_verb_that_has_it():
    assert {argv[0] for argv in JSON_CALLS} == {
        verb.name for verb in ctx.VERBS if any(flag == "--json" for flag, _, _ in verb.options)
    }


# ── what the verbs do


def test_pin(stored, call):
    run = stored(b"1\n")[:16]
    assert (call("pin").status, call("pin").out) == (1, b"")
    assert call("pin", run).out == b"%s pinned\n" % run.encode()
    assert call("pin").out == run.encode() + b"\n"
    assert call("pin", "--remove", run).out == b"%s unpinned\n" % run.encode()
    assert call("pin", "--remove", run).status == 0
    assert call("pin").status == 1


def test_config_and_init(workspace, call):
    before = call("config")
    assert before.status == 0 and b"\ninline = 4096  # bytes of output" in before.out
    done = call("init")
    assert done.status == 0 and str(workspace / "ctx.toml").encode() in done.out
    assert "is there already" in one_line(call("init"))


@can_read_toml
def test_what_init_writes_is_a_valid_config(workspace, call):
    call("init")
    assert ctx.load_config() == ctx.default_settings()
    text = (workspace / "ctx.toml").read_text()
    (workspace / "ctx.toml").write_text(re.sub(r"(?m)^# ([a-z_]+ = )", r"\1", text))
    assert ctx.read_config("ctx.toml") == ctx.default_settings()
    assert call("config").out.decode().startswith("# %s\n" % (workspace / "ctx.toml"))


@can_read_toml
def test_a_bad_config_stops_every_verb_that_reads_it_but_never_a_pipe(workspace, stored, call, run_ctx):
    run = stored(b"1\n")[:16]
    (workspace / "ctx.toml").write_text("[budget]\ninlin = 1\n")
    for argv in (
        ["get", run],
        ["search", "x"],
        ["runs"],
        ["gc"],
        ["config"],
        ["digest"],
        ["export", run],
        ["run", "--", "touch", "made"],
    ):
        assert "ctx.toml:2: [budget] has no key 'inlin': did you mean inline?" in one_line(call(*argv))
    assert not (workspace / "made").exists()
    done = run_ctx("tap", input=b"passes\n", cwd=str(workspace))
    assert (done.returncode, done.stdout) == (0, b"passes\n")
    assert b"ctx.toml:2: " in done.stderr and done.stderr.count(b"\n") == 1


def test_digest_of_a_file_and_of_stdin(workspace, call, run_ctx):
    Path("log").write_bytes(b"line\n" * 5000)
    done = call("digest", "log")
    assert done.status == 0 and done.out.startswith(b"[ctx run:")
    again = run_ctx("digest", input=b"line\n" * 5000, cwd=str(workspace))
    assert again.stdout.startswith(b"[ctx run:") and again.returncode == 0
    assert [name for name in os.listdir(os.environ["CTX_HOME"] + "/spool") if not name.startswith(".")] == []


def test_a_store_that_cannot_be_written(workspace, call, monkeypatch):
    Path("log").write_bytes(b"line\n" * 5000)
    Path("blocked").write_text("")
    monkeypatch.setenv("CTX_HOME", str(workspace / "blocked"))
    monkeypatch.setenv("TMPDIR", str(workspace / "blocked"))
    assert "set CTX_HOME to a directory that can be written" in one_line(call("digest", "log"))
    for argv in (["import", "log"], ["digest", "log"]):
        assert "set CTX_HOME to a directory that can be written" in one_line(call(*argv))


def test_a_store_that_can_only_be_read(stored, call, monkeypatch):
    run = stored(b"1\n")[:16]

    def refuse(path, *rest):
        raise OSError(30, "Read-only file system", path)

    monkeypatch.setattr(ctx, "write_atomic", refuse)
    for argv in (["pin", run], ["gc"]):
        assert "Read-only file system (" in call(*argv).err and call(*argv).status == 2
    assert call("get", run + "#output").out == b"1\n"


def test_a_command_needs_no_dashes(workspace, run_ctx):
    done = run_ctx("run", "printf", "%s|", "-q", "--", "--json", cwd=str(workspace))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"-q|--|--json|", b"")
    assert run_ctx("run", "--timeout", "60", "sh", "-c", "exit 3", cwd=str(workspace)).returncode == 3


def test_export_and_import(stored, call, monkeypatch, tmp_path):
    secret = b"ghp_" + b"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    run = stored(b"1\n")[:16]
    assert call("export", run, "-o", "plain.tar").status == 0
    done = call("export", stored(b"token " + secret + b"\n")[:16], "-o", "secret.tar")
    assert done.status == 3 and "1 secret redacted" in done.err
    assert secret not in Path("secret.tar").read_bytes()
    assert "Is a directory" in one_line(call("export", run, "-o", "/"))
    monkeypatch.setenv("CTX_HOME", str(tmp_path / "another"))
    assert call("import", "plain.tar").out == run.encode() + b"\n"
    assert call("get", run + "#output").out == b"1\n"
    (handle,) = json.loads(call("import", "secret.tar", "--json").out)
    assert b"[redacted:" in call("get", handle + "#output").out


def test_an_export_hides_what_a_list_hides(workspace, call):
    """A secret that only the word before gives away, too."""
    call("run", "--", "true", "--password", "hunter2x", "plain")
    listed = call("runs", "-n", "1").out
    assert b"--password [redacted:password:" in listed
    assert call("export", listed.split()[0].decode(), "-o", "run.tar").status == 3
    kept = Path("run.tar").read_bytes()
    assert b'["true","--password","[redacted:password:' in kept and b"hunter2x" not in kept


# ── whatever is broken


@pytest.fixture
def ctx_line(home, workspace):
    """ctx_line(shell line with {ctx} in it) runs it in bash; (status, stdout, stderr)."""

    def run(line, **options):
        command = "%s %s" % (shlex.quote(sys.executable), shlex.quote(str(ROOT / "ctx.py")))
        done = subprocess.run(
            ["bash", "-c", line.replace("{ctx}", command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options
        )
        assert b"Traceback" not in done.stderr and b"internal error" not in done.stderr, done.stderr
        assert b"\x1b" not in done.stdout + done.stderr
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "surrogateescape")

    return run


REPORTERS = [
    "get {run}",
    "get {run}#output --all",
    "search 9",
    "search 9 --count",
    "runs",
    "pin {run}",
    "gc",
    "doctor",
    "config",
    "version",
    "help",
    "digest log",
]


@pytest.mark.parametrize("words", REPORTERS)
def test_stdout_that_cannot_be_written(stored, ctx_line, words):
    run = stored(b"".join(b"%d\n" % i for i in range(30_000)))[:16]
    Path("log").write_bytes(b"1\n" * 5000)
    words = words.format(run=run)
    status, _, err = ctx_line("{ctx} %s > /dev/full" % words)
    assert status == 2 and "stdout: No space left on device" in err
    status, _, err = ctx_line("{ctx} %s >&-" % words)
    assert status == 2 and "stdout is closed: leave it open" in err
    status, _, err = ctx_line("{ctx} %s | head -0; exit ${PIPESTATUS[0]}" % words)
    assert status in (0, 141) and "stdout" not in err
    status, out, _ = ctx_line("{ctx} %s 2>&-" % words)
    assert status == 0 and out
    assert ctx_line("{ctx} %s <&-" % words)[0] == 0


def test_a_reader_that_has_gone_ends_a_long_answer(stored, ctx_line):
    run = stored(b"x" * 99 + b"\n" * 400_000)
    assert ctx_line("{ctx} get %s --all | head -1 > /dev/null; exit ${PIPESTATUS[0]}" % run)[0] == 141


def test_stdin_that_cannot_be_read(workspace, ctx_line):
    for words in ("digest", "import"):
        status, out, err = ctx_line("{ctx} %s <&-" % words)
        assert (status, out) == (2, b"") and "stdin is closed: name a file" in err
    assert ctx_line("{ctx} import < /dev/urandom")[0] == 2
    status, out, err = ctx_line("head -c 100000 /dev/urandom | {ctx} digest")
    assert status == 0 and out.startswith(b"[ctx run:")


def test_arguments_that_are_no_utf8(workspace, ctx_line):
    for words in (
        "get $'\\xff'",
        "search $'\\xff'",
        "$'\\xff'",
        "runs $'--\\xff'",
        "get repo:$'\\xff'",
        "digest $'\\xff'",
        "help $'\\xe9'",
    ):
        status, out, err = ctx_line("{ctx} " + words)
        assert status == 2 and out == b"" and err.count("\n") == 1
    Path(os.fsdecode(b"caf\xe9")).write_bytes(b"one\n")
    status, out, err = ctx_line("{ctx} get repo:$'caf\\xe9'")
    assert (status, out) == (0, b"one\n")
    address = re.search("this is (.*)", err).group(1)
    assert address.isascii() and ctx_line("{ctx} get " + address)[:2] == (0, b"one\n")
    Path(os.fsdecode(b"caf\xe9")).write_bytes(b"one\n" * 5000)
    (line,) = [line[6:] for line in ctx_line("{ctx} get repo:$'caf\\xe9'")[2].split("\n") if line.startswith("next: ")]
    assert ctx_line(line)[0] == 0
    assert ctx_line("{ctx} run -- printf %s $'\\xff'")[1] == b"\xff"
    assert ctx_line("{ctx} run --log $'l\\xf6g' -- echo one")[0] == 0
    assert Path(os.fsdecode(b"l\xf6g")).read_bytes() == b"one\n"


@pytest.mark.parametrize(
    "variables", ["LC_ALL=C", "LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0", "LANG= LC_ALL=", "LC_ALL=C.UTF-8", "LC_ALL=xx_XX"]
)
def test_any_locale_gives_the_same(stored, ctx_line, variables):
    run = stored("käse\n".encode() * 3000)[:16]
    expected = [ctx_line("{ctx} " + words) for words in ("help", "get %s" % run, "search ä %s" % run, "get ä")]
    for words, answer in zip(("help", "get %s" % run, "search ä %s" % run, "get ä"), expected):
        assert ctx_line("%s {ctx} %s" % (variables, words)) == answer
    assert ctx_line("%s {ctx} run -- printf ä" % variables)[1] == "ä".encode()


def test_no_colour_is_ever_printed(stored, ctx_line):
    run = stored(b"\x1b[31mred\x1b[0m\n" * 2000)[:16]
    for words in ("help", "help run", "runs", "get %s" % run, "search red", "doctor", "config", "frob"):
        for variables in ("", "FORCE_COLOR=1 CLICOLOR_FORCE=1 TERM=xterm-256color", "NO_COLOR=1"):
            ctx_line("%s {ctx} %s" % (variables, words))  # which asserts it


def test_a_working_directory_that_is_gone(workspace, ctx_line):
    for words in ("runs", "config", "version", "get repo:x", "search x --all"):
        assert ctx_line("mkdir gone; cd gone; rmdir ../gone; {ctx} %s" % words)[0] in (0, 1, 2)


def test_debug_shows_where(workspace, call, monkeypatch, capfdbinary):
    def broken(options, words):
        raise ZeroDivisionError("on\npurpose \x1b[31m")

    monkeypatch.setattr(ctx.find_verb("version"), "act", broken)
    done = call("version")
    assert done.status == 125
    assert done.err == "ctx version: internal error: ZeroDivisionError: on\\npurpose \\x1b[31m (CTX_DEBUG=1 shows where)\n"
    monkeypatch.setenv("CTX_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call("version")


def test_an_error_shows_no_secret(workspace, call):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    for argv in (["get", "run:" + secret], ["digest", secret], ["runs", secret], ["get", "repo:" + secret]):
        assert secret[4:20] not in one_line(call(*argv))


WORDS = st.one_of(
    st.sampled_from(NAMES + [flag for verb in ctx.VERBS for flag, _, _ in verb.options] + ["--", "-", "-h", "", "=", "--json=1"]),
    st.sampled_from(
        [
            "run:RUN",
            "run:RUN#output",
            "run:RUN#output:1-5",
            "run:RU",
            "blob:RUN",
            "repo:file",
            "repo:.",
            "repo:",
            "run:",
            "file",
            ".",
            "/dev/null",
        ]
    ),
    st.sampled_from(
        ["5", "0", "-1", "1:5", "5:", "/a", "(", "[a-", "a|b", "\n", "\x1b[31m", "\udcff", "\0", "ſ", "9" * 30, "x" * 5000]
    ),
    st.text(max_size=8),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from([name for name in NAMES if name not in APART]) | WORDS, st.lists(WORDS, max_size=4)
)
def test_nothing_that_is_typed_breaks_it(stored, call, first, rest):
    handle = stored(b"line a\n\xff b\n" * 50)[4:16]
    Path("file").write_bytes(b'{"a": 1}\n')
    argv = [word.replace("RUN", handle) for word in [first, *rest]]
    if argv[0] in APART:
        return
    done = call(*argv)
    assert done.status in (0, 1, 2, 3), (argv, done.err)
    assert "internal error" not in done.err and "\x1b" not in done.err and b"\x1b" not in done.out
    lines = done.err.split("\n")
    assert lines.pop() == "" and all(line.startswith(("ctx ", "next: ")) for line in lines)
    if done.status == 2 and "damaged" not in done.err:
        assert done.out == b"" and re.search(": .*: ", lines[-1])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from(["digest", "import"]))
def test_binary_junk_on_stdin(workspace, run_ctx, data, name):
    done = run_ctx(name, input=data, cwd=str(workspace))
    assert done.returncode == (0 if name == "digest" else 2)
    assert b"Traceback" not in done.stderr and b"internal error" not in done.stderr
    assert done.stderr.count(b"\n") == (name == "import")
