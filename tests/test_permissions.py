"""Section 5: what a host's own rules make of a command line, compared with the real clients and with a slow second reading."""

from __future__ import annotations

import functools
import itertools
import json
import posix
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "e2e"))
RECORDED = json.loads((HERE / "corpus" / "claude_permissions.json").read_text())
UNASKED = ("allow", "free")


class World:
    """A machine of its own: system settings, a home, a project with files, links and something outside."""

    def __init__(self, root, monkeypatch):
        self.etc, self.home, self.project, self.outside = (root / name for name in ("etc", "user", "ws", "outside"))
        for folder in (self.etc, self.home, self.project / "src", self.project / ".git", self.outside):
            folder.mkdir(parents=True, exist_ok=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        for path in (self.project / "a.txt", self.project / ".env", self.outside / "b.txt"):
            path.write_text("a\n")
        (self.project / "link").symlink_to(self.outside)
        (self.project / "lf").symlink_to(self.outside / "b.txt")
        monkeypatch.setattr(ctx, "SYSTEM", str(self.etc))
        monkeypatch.setattr(ctx, "CLAUDE_SYSTEM", "")
        monkeypatch.setitem(posix.environ, b"HOME", str(self.home).encode())
        monkeypatch.setitem(posix.environ, b"CTX_HOME", str(root / "store").encode())
        for name in (b"CLAUDE_PROJECT_DIR", b"CLAUDE_CONFIG_DIR", b"CLAUDE_PID", b"CODEX_HOME"):
            monkeypatch.delitem(posix.environ, name, raising=False)

    def write(self, path, content):
        """Put text, or an object as JSON, at `path`, in which ~ and @WS@ and /etc mean this world's."""
        for mark, place in (("~", self.home), ("@WS@", self.project), ("/etc", self.etc)):
            if path.startswith(mark):
                path = str(place) + path[len(mark) :]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, (str, bytes)) else json.dumps(content)
        Path(path).write_bytes(data if isinstance(data, bytes) else data.encode())
        return Path(path)

    def rules(self, host="claude", where=None):
        return ctx.host_rules(host, str(where or self.project), str(self.home))

    def judge(self, text, mode="default", host="claude", where=None):
        text = text.replace("@WS@", str(self.project)).replace("@OUT@", str(self.outside))
        return ctx.permission(host, text, ctx.scan(text), mode, self.rules(host, where))

    def says(self, text, mode="default", host="claude"):
        return self.judge(text, mode, host).decision


@pytest.fixture
def world(tmp_path, monkeypatch):
    return World(tmp_path, monkeypatch)


@pytest.fixture
def claude(world):
    """claude(allow=…, deny=…, ask=…) writes the user's rules and returns the world."""

    def ruled(**lists):
        world.write("~/.claude/settings.json", {"permissions": lists})
        return world

    return ruled


# ── Claude Code


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    """What we say to each recorded command: (rules, mode, command, what the client did, our decision)."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for session in RECORDED["sessions"]:
            world = World(tmp_path_factory.mktemp("recorded"), patch)
            world.write("~/.claude/settings.json", {"permissions": session["rules"]})
            for command, outcome in session["outcomes"]:
                found.append((session["rules"], session["mode"], command, outcome, world.says(command, session["mode"])))
    return found


def test_we_are_never_more_permissive_than_the_real_client(readings):
    assert [row for row in readings if row[4] in UNASKED and row[3] != "ran"] == []


def test_what_the_real_client_denies_is_denied(readings):
    missed = [row for row in readings if row[3] == "denied" and row[1] != "dontAsk" and row[4] != "deny"]
    assert missed == []


PASSIVE = frozenset(("cd", "echo", "export", "true", "source", ".", "printf", "pwd", "set"))


@pytest.mark.once
def test_noisy_runs_are_captured_wherever_the_real_client_runs_them_unasked(tmp_path, monkeypatch):
    """Real lines, and forms of some runs, under rules for their programs. What the client asks about in spite of them is not ours to
    run."""
    (session,) = [session for session in RECORDED["sessions"] if session.get("noisy")]
    world = World(tmp_path, monkeypatch)
    world.write("~/.claude/settings.json", {"permissions": session["rules"]})
    seen = {}
    for command, outcome in session["outcomes"]:
        verdict = ctx.judge(command, ctx.Facts(shadowed=ctx.HOSTS["claude"].shadowed))
        reports = [segment for segment in verdict.segments if segment.kind == "report"]
        active = [segment for segment in verdict.segments if segment.argv and segment.argv[0] not in PASSIVE]
        form = "alone" if len(active) == 1 else "list"
        if outcome == "ran" and reports:
            seen.setdefault(form, []).append((command, bool(verdict.edits) and world.says(command) in UNASKED))
    for form, least, number in (("alone", 0.99, 400), ("list", 0.9, 200)):
        missed = [command for command, captured in seen[form] if not captured]
        assert len(seen[form]) >= number
        assert len(missed) <= (1 - least) * len(seen[form]), missed


def test_much_of_what_the_real_client_runs_is_known_to_run(readings):
    ran = [row for row in readings if row[3] == "ran" and row[1] != "bypassPermissions"]
    known = [row for row in ran if row[4] in UNASKED]
    assert len(known) > 0.5 * len(ran)


@pytest.mark.parametrize(
    "rule, yes, no",
    [
        ("Bash", ["make", "make x"], []),
        ("Bash(*)", ["make", "make x"], []),
        ("Bash(make *)", ["make", "make x"], ["makefile x", "xmake"]),
        ("Bash(make:*)", ["make", "make x"], ["makefile x"]),
        ("Bash(make test)", ["make test"], ["make test x", "make  test", "make"]),
        ("Bash(make t*)", ["make test", "make t x"], ["make"]),
        ("Bash(* --version)", ["make --version", "a b --version"], ["--version", "make --version x"]),
        ("Bash(git * main)", ["git merge main", "git log --all main"], ["git main", "git merge main x"]),
        ("Bash(make", [], ["make"]),
        ("Bash(make \\* x)", [], ["make * x", "make '*' x"]),
        ("bash(make:*)", [], ["make"]),
        ("Read(make)", [], ["make"]),
        ("Bash(run_in_background:true)", [], ["make"]),
    ],
)
def test_an_allow_rule(claude, rule, yes, no):
    world = claude(allow=[rule])
    assert [text for text in yes if world.judge(text).rule != rule or world.says(text) != "allow"] == []
    assert [text for text in no if world.says(text) == "allow"] == []


@pytest.mark.parametrize(
    "text",
    [
        *("make", "make x", "timeout 5 make", "nice -n 5 make", "nohup make", "stdbuf -oL make", "command make", "time make", "CI=1 make"),
        *("make && make x", "make; make", "make | make", "make |& make", "make\nmake", "make 2>&1", "make >/dev/null 2>&1"),
        *("make 2>&1 | tail -40", "make | grep -v ok | tail -n 3", "cd src && make", "cd @WS@/src && make", "ls -la && make"),
        *("make -k 'a or b'", 'make "a b"', "make 'a$b'", "make tests/x.py::test_y", "ctx run -- make", "make || true"),
        *('make | grep -v "^ok\\|no test"', 'make | grep -E "^\\s+x\\b"'),
        *("make *.c", "make -cp .:lib/* X", "make t.py::t[1] t.py::t[2]", "make a\\|b", "make lib/\\*", "timeout 5 make *.c", "! make", "! make 2>&1 | tail"),
        *("# it's a comment\nmake", "make 2>&1\n  # (two\n\n# of them\ncd src\nmake", "make \\\n  -x \\\n  'y' 2>&1 | tail", "make && \\\nmake x", "\tmake"),
        *("make </dev/null", "make 2>&1 </dev/null | tail", "echo --- x ---; make", "make; printf '%s\\n' x", "make | cut -f1 -d' '", "false || make"),
    ],
)
def test_a_line_of_which_every_part_runs_unasked_is_allowed(claude, text):
    assert claude(allow=["Bash(make:*)"]).says(text) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        *("make > out.txt", "make >> out.txt", "make 2> err.txt", "make < a.txt", "make <<< x", "make &", "make & make"),
        *("make $X", 'make "$X"', "make $(make)", "make `make`", "make ~/x", "make {a,b}", "make $'a'$X", "make <(make)"),
        *("(make)", "{ make; }", "if make; then make; fi", "for i in 1; do make; done", "f() { make; }", "[[ -f x ]] && make"),
        *("make && other", "other; make", "make | other", "make\nother", "other | tail", "npx make", "env make", "sudo make", "xargs make"),
        *("FOO=1 make", "PATH=/x make", "LD_PRELOAD=x make", "CTX_OFF=1 make", "make a\\ b", 'make "a\\ b"', 'make "a\\$b"', 'make "a\\\\"', "make =x", "make a\u00a0b"),
        *("'make' x", "exec make", "eval make", "source make && make", "export A=1; make", "set -e; make", "trap x EXIT; make"),
        *("cd .. && make", "cd @OUT@ && make", "cd link && make", "cd src/.. && make", "cd src && cd . && make", "cd && make", "cd - && make"),
        *("cd src && git status && make", "cat lf && make", "cat @OUT@/b.txt; make", "tail -f a.txt; make", "timeout --weird=x 5 make"),
        *("make # x", "make 2>&1 # x", "make &&\n# x\nmake", "# a \\ b\nmake", "# a\\\nmake", "make 2>&1 \\\n -x", "make | \\\n tail", "make\\\n x", "make \\\n\\\n-x"),
        *("make \\\n# x\n-y", "mak* x", "mak[e]", "make *$X", 'make "*$X"', "make ?(x)", "make *\\", "timeout ? make", "CI=* make", "ls '=x'; make", "time ! make"),
        *("make; which a\\+", "make; pwd -", "make; printf *.c", "make; printf -v x y", "make; echo \"rc: $?\"", "make; echo $?", "make; exit", "ls *.c; make", "make < *.c", "make &&\n\n# x\nmake"),
        *("bash -c make", "make; rm -rf src", "make | tee x", "make; sed -i s/a/b/ a.txt", "time -p make", "make 'a", "make\r", "python3 ctx.pyz run -- make"),
        *("bash -c 'ctx run -- make'", "ctx run --log x -- make", "./ctx run -- make", "ctx run --shell make", "make;" * 21),
    ],
)
def test_a_line_that_is_not_plain_runs_unasked_on_no_account(claude, text):
    """The rules allow `make` and the host reads; nothing else is known for certain."""
    assert claude(allow=["Bash(make:*)"]).says(text) in ("none", "ask")


@pytest.mark.parametrize("text", ["EXIT: $?", "rc=$?", "=== lint $? ===", "a $?; b $?", "(it's $?)"])
def test_a_status_in_a_longer_text_is_allowed_by_a_rule(claude, text):
    line = 'make; echo %s"%s"' % ("- " * text.startswith("("), text)
    expected = "none" if text.startswith("(") else "allow"
    assert claude(allow=["Bash(make:*)", "Bash(echo:*)"]).says(line) == expected
    assert claude(allow=["Bash(make:*)"]).says(line) == "none"


@pytest.mark.parametrize("text", ["$?", '"$?"', '"$?x"', '"=$?"', '"1$?"', '"é$?"', '"a$?$?"', '"--a $?"', '"a $X"', '"a"$?""', '"a$?"b', '"a \\$?"', "a$?"])
def test_a_status_that_is_not_in_a_longer_text_is_not(claude, text):
    assert claude(allow=["Bash(make:*)", "Bash(echo:*)"]).says("make; echo " + text) == "none"


@pytest.mark.parametrize("text", ["printf *.c", 'printf "rc: $?"', "printf -x", "! printf a*"])
def test_a_rule_is_not_enough_for_every_word_of_printf(claude, text):
    world = claude(allow=["Bash(make:*)", "Bash(printf:*)"])
    assert [world.says(line) for line in ("make; " + text, "make; printf '%s\\n' x")] == ["none", "allow"]


@pytest.mark.parametrize("rule", ["Bash", "Bash(*)"])
def test_where_everything_is_allowed(claude, rule):
    """Of lines of any form, all but those in which a file may be written or removed: some files are guarded even there."""
    world = claude(allow=[rule])
    forms = ("%s", "(%s)", "if %s; then ls; fi", "for i in 1; do %s; done", "x=$(%s)", "%s &", "bash -c '%s'", "env A=1 %s", "FOO=1 %s", "%s # c")
    runs = ("make $X", "cd .. && git status", "source v; make", "make > .git/x", "rm -rf /zz", "cp a.txt .claude/x", "timeout 5 touch .git/x", "sed -i s/a/b/ x")
    for form in forms:
        said = [world.says(form % run) for run in runs]
        assert said[:3] == ["allow"] * 3, form
        assert set(said[4:]) == {"none"} and (said[3] == "none" or "bash" in form), form
    assert [world.says(text) for text in ("make\r", "make \x0b", "make 'a")] == ["none"] * 3
    assert world.says("alpha\n" * 21) == "none"


@pytest.mark.parametrize("text", ["bash -c 'rm -rf /zz'", "env rm -rf /zz", "env touch .git/x", "bash -c 'make; rm /zz'"])
def test_what_removes_files_is_seen_behind_what_runs_it(claude, text):
    world = claude(allow=["Bash(bash:*)", "Bash(env:*)", "Bash(make:*)"])
    assert [world.says(line) for line in (text, "make && " + text)] == ["none", "none"]
    assert [world.says(line) for line in ("bash -lc 'make; other'", "env A=1 other")] == ["allow", "allow"]


@pytest.mark.parametrize("text", ["watch make", "setsid make", "ionice make", "flock a.txt make", "find . -exec make ;", "find . -delete",
                                  *("%s make" % name for name in ("strace", "ltrace", "unshare", "taskset 1", "chrt 1", "script -c", "nsenter")),
                                  "find . -files0-from a.txt"])  # fmt: skip
def test_programs_that_run_anything_are_covered_by_no_prefix(claude, text):
    program = text.split()[0]
    assert claude(allow=["Bash", "Bash(%s:*)" % program, "Bash(%s *)" % program]).says(text.replace(" ;", " ';'")) == "none"


@pytest.mark.parametrize(
    "text, said",
    [
        *((text, "allow") for text in ("env make", "env A=1 make", "env -i make", "env -u X -v A=1 make", "env -0", "env A=1", "env cat a.txt", "timeout 5 env make")),
        *((text, "none") for text in ("env -S make", "env -vS make", "env --split-string=make", "env - make", "env -C src make", "env --chdir=src make",
                                      "env --unset=X make", "env -uX make", "env -- make", "env -iu X make", "timeout 5 env -S make", "env env -S make")),
        *((text, "none") for text in ("env strace make", "env watch make", "env find . -delete", "env cd @OUT@", "env cat @OUT@/b.txt", "env ls /", "env sudo make")),
    ],
)  # fmt: skip
def test_the_host_looks_behind_few_options_of_env(claude, text, said):
    """What it does not look behind it asks about, whatever is allowed."""
    assert claude(allow=["Bash(env:*)", "Bash(make:*)", "Bash(timeout:*)"]).says(text) == said


@pytest.mark.parametrize("text", ["jq -f x a.txt", "jq 'import \"x\" as x; .' a.txt", "gawk -i inplace 1 a.txt", "git diff --no-index a.txt @OUT@/b.txt"])
def test_what_reads_or_runs_other_files_needs_more_than_a_rule(claude, text):
    world = claude(allow=["Bash(%s:*)" % name for name in ("make", "jq", "gawk", "git")])
    assert [world.says(line) for line in (text, "make; " + text, "make")] == ["none", "none", "allow"]


def test_what_runs_outside_the_sandbox_stays_as_typed(world):
    """With ctx in front it would run inside."""
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash"]}, "sandbox": {"enabled": True, "excludedCommands": ["docker", "make *"]}})
    assert [world.says(text) for text in ("docker build .", "make x", "cd src && make x", "pytest")] == ["ask", "ask", "ask", "allow"]
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash"]}, "sandbox": {"excludedCommands": 3}})
    assert world.says("pytest") == "ask"


@pytest.mark.parametrize("rule", ["Bash(rm:*)", "Bash(rm *)", "Bash(rm x)", "Bash(r*)"])
@pytest.mark.parametrize("list", ["deny", "ask"])
@pytest.mark.parametrize(
    "text",
    [
        *("rm x", "make && rm x", "make; rm x", "make | rm x", "make & rm x", "make\nrm x", "rm x > y", "(rm x)", "{ rm x; }", "! rm x"),
        *("if true; then rm x; fi", "while rm x; do make; done", "echo $(rm x)", "echo `rm x`", 'echo "$(rm x)"', "cat <(rm x)", "f() { rm x; }"),
        *("timeout 5 rm x", "timeout -k 1 -s KILL 5 rm x", "time rm x", "nice -n 5 rm x", "nohup rm x", "stdbuf -oL rm x", "xargs rm x"),
        *("env rm x", "env A=1 rm x", "sudo rm x", "sudo -u root rm x", "FOO=1 rm x", "command rm x", "exec rm x", "setsid rm x", "npx rm x"),
        *("/bin/rm x", "r''m x", "'rm' x", "rm  x", "bash -c 'rm x'", "bash -lc 'make && rm x'", "sh -c \"sh -c 'rm x'\"", "eval rm x"),
        *("find . -exec rm x ;", "timeout 5 nice env bash -c 'rm x'", "uv run rm x", "mise exec -- rm x"),
        *("ctx run -- rm x", "ctx run --shell 'rm x'", "ctx run --shell='rm x'", "python3 /opt/ctx.pyz run -- rm x", "./ctx run -- rm x"),
        *("ctx q 'x' --from -- rm x", "ctx q 'x' --else -- rm x", "ctx run -- timeout 5 rm x", "ctx run -- ctx run -- rm x", "rm x | ctx tap"),
        *("ctx run rm x", "ctx run --stream rm x", "ctx run --timeout 5 rm x", "ctx run --timeout=5 rm x", "ctx run --log f --stream rm x"),
        *("ctx seq --step 'rm x'", "ctx seq --keep-going --step true --step='cd a && rm x'", "ctx wrap rm x", "bash -c \"ctx seq --step 'rm x'\""),
    ],
)
def test_a_rule_that_restricts_holds_wherever_the_command_stands(claude, rule, list, text):
    world = claude(allow=["Bash", "Bash(ctx:*)"], **{list: [rule]})
    text = text.replace(" ;", " ';'") if "-exec" in text else text
    assert (world.says(text), world.judge(text).rule) == (list, rule)
    assert world.says(text, "bypassPermissions") == list


def test_deny_comes_before_ask_and_ask_before_allow(claude):
    world = claude(allow=["Bash(a:*)"], ask=["Bash(a b:*)"], deny=["Bash(a b c)"])
    assert [world.says(text) for text in ("a", "a b", "a b c")] == ["allow", "ask", "deny"]
    assert world.says("a; a b") == "ask"
    assert world.says("a b; a b c") == "deny"


@pytest.mark.parametrize("text", ["cat .env", "head -3 .env", "sed -n 1p .env", "grep x .env", "cat < .env", "cat ./.env", "timeout 5 cat .env; true",
                                  "cd src && cat ../.env", "ctx get repo:.env", "cat a.txt .env | tail", "grep --file=.env x", "grep -f.env x"])  # fmt: skip
@pytest.mark.parametrize("rule", ["Read(./.env)", "Read(.env)", "Read(**/.env)", "Read(.env*)", "Edit(/.env)", "Read(//x/ws/.env)"])
def test_files_that_may_not_be_read_are_not_read_by_commands(claude, rule, text):
    assert claude(allow=["Bash"], deny=[rule]).says(text) == "deny"
    assert claude(allow=["Bash"], ask=[rule]).says(text) == "ask"


@pytest.mark.parametrize("rule", ["Read(./.env)", "Read(**/.env)", "Read(*.env)"])
def test_files_with_similar_names_may_be_read(claude, rule):
    world = claude(allow=["Bash"], deny=[rule])
    assert [world.says(text) for text in ("make test_env", "cat .venv/x", "cat src/environment.py")] == ["allow", "allow", "allow"]


def test_a_rule_about_every_file_is_about_programs_that_read_files(claude):
    world = claude(allow=["Bash"], deny=["Read"])
    assert [world.says(text) for text in ("cat a.txt", "make", "make test", "ls | head")] == ["deny", "allow", "allow", "allow"]


def test_rules_about_files_count_from_the_working_directory(claude):
    world = claude(allow=["Bash"], deny=["Read(src/secret/**)"])
    assert world.judge("cat x", where=world.project / "src" / "secret").decision == "deny"
    assert world.judge("cat x", where=world.project / "src").decision == "allow"


def test_fields_of_a_call_are_not_seen_so_that_rules_about_them_may_hold(claude):
    assert claude(deny=["Bash(run_in_background:true)"], allow=["Bash(make)"]).says("make") == "allow"
    assert claude(ask=["Bash(dangerouslyDisableSandbox:true)"], allow=["Bash(make)"]).says("make") == "ask"
    assert claude(deny=["B*"], allow=["Bash(make)"]).says("make") == "deny"


@pytest.mark.parametrize("mode, allowed, read", [
    ("", "allow", "free"), ("default", "allow", "free"), ("acceptEdits", "allow", "free"), ("dontAsk", "allow", "free"),
    ("bypassPermissions", "allow", "free"), ("plan", "none", "none"), ("auto", "none", "none"), ("unheard-of", "none", "none"),
])  # fmt: skip
def test_modes(claude, mode, allowed, read):
    world = claude(allow=["Bash(make:*)"], deny=["Bash(rm:*)"])
    assert [world.says(text, mode) for text in ("make", "ls", "other", "rm x")] == [allowed, read, "none", "deny"]


@pytest.mark.parametrize("text", ["ctx run -- other", "ctx run --shell other", "ctx seq x", "ctx plan run x", "ctx q x --from -- other", "ctx $V -- x",
                                  "ctx run other", "ctx seq --step make", "ctx seq - < f", "echo make | ctx seq", "ctx wrap claude", "ctx q x --else -- other",
                                  "python3 ctx.pyz run -- other", "bash -c 'ctx run -- other'", "cat <<X | ctx run -- other"])  # fmt: skip
def test_what_ctx_is_asked_to_run_needs_a_rule_of_its_own(claude, text):
    world = claude(allow=["Bash(ctx:*)", "Bash(ctx *)", "Bash(ctx run:*)", "Bash(python3:*)", "Bash(bash:*)", "Bash(cat:*)"])
    assert world.says(text) == "ask"
    assert world.says(text, "dontAsk") == "deny"
    assert world.says(text, "bypassPermissions") == "none"


def test_lists_of_all_layers_merge(world):
    world.write("/etc/claude-code/managed-settings.json", {"permissions": {"deny": ["Bash(a:*)"]}})
    world.write("/etc/claude-code/managed-settings.d/10.json", {"permissions": {"allow": ["Bash(b:*)"]}})
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)", "Bash(c:*)"]}})
    world.write("@WS@/.claude/settings.json", {"permissions": {"allow": ["Bash(d:*)"]}})
    world.write("@WS@/.claude/settings.local.json", {"permissions": {"ask": ["Bash(c x)"], "allow": ["Bash(e:*)"]}})
    assert [world.says(text) for text in ("a", "b", "c", "c x", "d", "e", "f")] == "deny allow allow ask allow allow none".split()


def test_managed_rules_may_be_the_only_ones_that_allow(world):
    world.write("/etc/claude-code/managed-settings.json", {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(a:*)"]}})
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(b:*)"], "deny": ["Bash(a x)"]}})
    assert [world.says(text) for text in ("a", "b", "a x")] == ["allow", "none", "deny"]


def test_where_the_files_stand(world, monkeypatch):
    world.write("@WS@/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert world.judge("a", where=world.project / "src").decision == "allow"
    monkeypatch.setitem(posix.environ, b"CLAUDE_PROJECT_DIR", str(world.project / "src").encode())
    assert world.judge("a", where=world.project / "src").decision == "none"
    world.write("~/elsewhere/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    monkeypatch.setitem(posix.environ, b"CLAUDE_CONFIG_DIR", str(world.home / "elsewhere").encode())
    assert world.says("a") == "allow"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="command lines of other processes are read from /proc")
@pytest.mark.parametrize("flags, decisions", [
    (["--disallowedTools", "Bash(a x:*)", "Bash(c:*)"], "deny allow deny"),
    (["--disallowedTools=Bash(a x:*),Read"], "deny allow none"),
    (["--allowedTools", "Read Bash(c:*)", "--verbose", "Bash(d)"], "allow allow allow"),
    (["--settings", '{"permissions": {"ask": ["Bash(a:*)"]}}'], "ask ask none"),
    (["--settings", "extra.json"], "allow allow allow"),
    (["--settings", "missing.json"], "allow allow none"),
    (["--settings", "{broken"], "ask ask ask"),
    (["--setting-sources", "project,local"], "none none none"),
    (["-p", "--setting-sources=user"], "allow allow none"),
])  # fmt: skip
def test_what_the_client_was_told_on_its_command_line(claude, monkeypatch, flags, decisions):
    world = claude(allow=["Bash(a:*)"])
    world.write("@WS@/extra.json", {"permissions": {"allow": ["Bash(c:*)"]}})
    with subprocess.Popen([sys.executable, "-c", "input()", *flags], stdin=subprocess.PIPE) as client:
        monkeypatch.setitem(posix.environ, b"CLAUDE_PID", str(client.pid).encode())
        while "input()" not in Path("/proc/%d/cmdline" % client.pid).read_text():
            pass
        assert [world.says(text) for text in ("a x", "a", "c")] == decisions.split()
        client.communicate(b"\n")


# ── Codex


def codex_rules(world, *lines, path="~/.codex/rules/default.rules"):
    world.write(path, "\n".join(lines) + "\n")
    return world


def test_codex_prefix_rules(world):
    codex_rules(
        world,
        '# what may run',
        'prefix_rule(pattern=["npm", ["test", "run"]], decision="allow")',
        "prefix_rule(",
        '    pattern = ["git", "push", ],  # )',
        "    decision = 'prompt',",
        '    justification = """why\nnot""",',
        '    match = ["git push", ["git", "push", "x"]], not_match = ["git pull"],',
        ")",
        'prefix_rule(["rm"], decision = "forbidden"); prefix_rule(pattern=["make"])',
        'network_rule(host="example.com", protocol="https", decision="allow")',
        'host_executable(name="git", paths=["/usr/bin/git"])',
    )
    said = [world.says(text, host="codex") for text in ("npm test -- x", "npm run", "npm install", "git push x", "git pull", "rm -f x", "make")]
    assert said == "allow allow none ask none deny allow".split()
    assert world.judge("npm test", host="codex").rule == "npm test|run"
    assert world.says("cd src && make; ls | head", host="codex") == "allow"
    assert world.says("ls -la && git status", host="codex") == "free"
    assert {world.says(text, host="codex") for text in ("make 2>&1", "A=1 make", "time make", "make $X", "make; x", "(make)", "cat < x")} == {"none"}
    assert {world.says(text, host="codex") for text in ("bash -lc 'make; rm x'", "timeout 5 rm x", "/bin/rm x", "ctx run -- rm x", "x=$(rm x)")} == {"deny"}


def test_codex_rules_of_a_project(world):
    codex_rules(world, 'prefix_rule(pattern=["a"])', 'prefix_rule(pattern=["b"], decision="forbidden")', path="@WS@/.codex/rules/x.rules")
    assert [world.says(text, host="codex") for text in ("a", "b", "c")] == ["allow", "deny", "none"]
    assert ctx.permission("codex", "b", ctx.scan("b"), "default", world.rules("codex", world.project / "src")).decision == "deny"


def test_codex_home_and_system_rules(world, monkeypatch):
    codex_rules(world, 'prefix_rule(pattern=["a"])', path="/etc/codex/rules/x.rules")
    codex_rules(world, 'prefix_rule(pattern=["b"])', path="~/moved/rules/x.rules")
    assert [world.says(text, host="codex") for text in ("a", "b")] == ["allow", "none"]
    monkeypatch.setitem(posix.environ, b"CODEX_HOME", str(world.home / "moved").encode())
    assert world.says("b", host="codex") == "allow"
    world.write("/etc/codex/requirements.toml", "[rules]\n")
    assert [world.says(text, host="codex") for text in ("a", "b", "ls")] == ["ask", "ask", "ask"]


STRANGE_CODEX = [
    'x = ["a"]\nprefix_rule(pattern=x)', 'prefix_rule(pattern=["a"] + ["b"])', 'prefix_rule(pattern=["a"], decision="permit")',
    'prefix_rule(pattern=["a"], other=1)', '[prefix_rule(pattern=[x]) for x in ["a"]]', 'load("x", "y")', 'prefix_rule(pattern=("a",))',
    'prefix_rule(pattern=["a" "b"])', 'prefix_rule(pattern=[])', "prefix_rule(pattern=[[]])", 'prefix_rule(pattern=["\\x61"])', 'prefix_rule(pattern=[r"a"])',
    'prefix_rule(pattern=["a"]', 'prefix_rule(pattern=["a"], pattern=["b"])', 'if True:\n  prefix_rule(pattern=["a"])', 'prefix_rule(pattern=["a])',
    "prefix_rule()", 'prefix_rule(pattern="a")', "prefix_rule(pattern=[a])", 'prefix_rule(pattern=["a"]) prefix_rule(pattern=["b"])',
    'prefix_rule(decision="allow", ["a"])', "prefix_rule", "prefix_rule(", "prefix_rule(pattern=[" + "[" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("text", STRANGE_CODEX)
def test_rules_that_are_not_understood_allow_nothing(world, text):
    codex_rules(world, 'prefix_rule(pattern=["make"])', 'prefix_rule(pattern=["rm"], decision="forbidden")', text)
    assert [world.says(line, host="codex") for line in ("make", "ls", "a")] == ["ask", "ask", "ask"]
    assert world.says("rm", host="codex") in ("ask", "deny")


WORDS = st.sampled_from(["a", "b", "git", "x y", "-f", "/bin/git", "é", "$x", "a;b", "'", ""])
PATTERNS = st.lists(st.one_of(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1, max_size=3)
DECISIONS = st.sampled_from(["allow", "prompt", "forbidden", None])


def starlark(value):
    """A text or a list as somebody types it: either quote, maybe over several lines."""
    if isinstance(value, list):
        return "[%s]" % ",\n ".join(map(starlark, value))
    return json.dumps(value, ensure_ascii=False)


def codex_program():
    clients = pytest.importorskip("clients", reason="the clients of the end-to-end tests are not here")
    reason = clients.why_not("codex")
    if reason:
        pytest.skip(reason)
    return clients.program("codex")


@pytest.mark.once
def test_codex_itself_reads_the_same_rules(world):
    """Its own checker, on rule files of every form and a handful of commands each."""
    program = codex_program()
    decisions = {"allow": "allow", "prompt": "ask", "forbidden": "deny", None: None}
    draws = settings(max_examples=20, database=None, derandomize=True)

    @draws
    @given(st.lists(st.tuples(PATTERNS, DECISIONS), max_size=4), st.lists(WORDS.filter(bool), min_size=1, max_size=4))
    def agree(listed, argv):
        text = "".join("prefix_rule(pattern=%s%s)\n" % (starlark(p), ', decision="%s"' % d if d else "") for p, d in listed)
        file = world.write("~/.codex/rules/default.rules", text)
        done = subprocess.run([program, "execpolicy", "check", "--rules", str(file), "--", *argv], capture_output=True, text=True)
        rules = world.rules("codex")
        assert (done.returncode != 0) <= rules.unreadable, text  # what it refuses, we do not read either
        if not rules.unreadable:
            matched = {
                name for name in ("allow", "ask", "deny") if any(ctx.matches_words(rule[1], ctx.Invocation(argv)) for rule in getattr(rules, name))
            }
            strictest = next((name for name in ("deny", "ask", "allow") if name in matched), None)
            assert strictest == decisions[json.loads(done.stdout).get("decision")], (text, argv)

    agree()
    for text in STRANGE_CODEX:
        file = world.write("~/.codex/rules/default.rules", text)
        done = subprocess.run([program, "execpolicy", "check", "--rules", str(file), "--", "a", "b"], capture_output=True, text=True)
        assert done.returncode or world.rules("codex").unreadable, text


# ── Gemini CLI, and the hosts whose rules cannot be seen


def test_gemini_settings(world):
    tools = {"allowed": ["run_shell_command(git status)", "ShellTool(ls)", "read_file"], "exclude": ["run_shell_command(git push)"]}
    world.write("~/.gemini/settings.json", {"tools": tools})
    world.write("@WS@/.gemini/settings.json", {"tools": {"allowed": ["run_shell_command"], "exclude": ["run_shell_command(ls x)"]}})
    texts = ("git status -s", "git statusx", "ls", "ls x", "git push", "git status; git push", "git status > x", "other", "ls && git status")
    assert [world.says(text, host="gemini") for text in texts] == "allow none allow deny deny deny none none allow".split()
    world.write("~/.gemini/settings.json", {"tools": dict(tools, core=["ReadFile"])})
    assert world.says("ls", host="gemini") == "ask"


def test_gemini_policies(world):
    world.write("~/.gemini/policies/a.toml", """\
# mine
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["git status", 'ls']
decision = "allow"
priority = 100

[[rule]]
toolName = ["run_shell_command", "write_file"]
commandPrefix = "npm publish"
decision = "ask_user"
priority = 1
[[rule]]
mcpName = "x"
decision = "deny"
[[safety_checker]]
toolName = "*"
required_context = [
  "environment",
]
[[rule]]
toolName = "run_shell_command"
commandPrefix = "make"
modes = ["yolo"]
decision = "allow"
""")  # fmt: skip
    assert [world.says(text, host="gemini") for text in ("git status", "ls x", "npm publish", "make")] == ["allow", "allow", "ask", "none"]
    world.write("@WS@/.gemini/policies/b.toml", '[[rule]]\ntoolName = "run_shell_command"\ncommandRegex = "rm"\ndecision = "deny"\n')
    assert world.says("ls", host="gemini") == "deny"  # the expression is not evaluated, so it may mean this
    world.write("@WS@/.gemini/policies/b.toml", '[[rule]]\ntoolName = "write_file"\ndecision = "deny"\n')
    assert world.says("ls", host="gemini") == "allow"
    for strange in ("x = 1\n", "[[rule]]\ndecision = 'never'\n", "[[rule]]\na = {}\n", "[[rule]\n", '[[rule]]\na = 1\na = 2\n', "[[rule]]\na.b = \n"):
        world.write("@WS@/.gemini/policies/b.toml", strange)
        assert world.says("ls", host="gemini") == "ask", strange


@pytest.mark.parametrize("host", ["copilot", "antigravity", "opencode", ""])
def test_hosts_whose_rules_are_not_seen(world, host):
    assert [world.says(text, host=host) for text in ("ls", "make", "ctx run -- make")] == ["none", "none", "ask"]


# ── files of rules

HOST_FILES = ("claude", "~/.claude/settings.json"), ("codex", "~/.codex/rules/x.rules"), ("gemini", "~/.gemini/settings.json"), (
    "gemini",
    "~/.gemini/policies/x.toml",
)
GOOD = {
    "~/.claude/settings.json": b'{"permissions": {"allow": ["Bash"]}}',
    "~/.codex/rules/x.rules": b'prefix_rule(pattern=["make"])\n',
    "~/.gemini/settings.json": b'{"tools": {"allowed": ["run_shell_command"]}}',
    "~/.gemini/policies/x.toml": b'[[rule]]\ntoolName="run_shell_command"\ndecision="allow"\n',
}


@pytest.mark.parametrize("host, path", HOST_FILES)
@pytest.mark.parametrize("damage", [
    lambda good: good + b"\xff", lambda good: good[:-3], lambda good: good + b" " * (5 << 20), lambda good: b"[" * 100000, lambda good: b"\0" + good,
    lambda good: good.replace(b'"', b"'", 1), lambda good: b'{"permissions": [], "tools": 1}', lambda good: b"\xef\xbb\xbf" + good,
], ids=["not UTF-8", "cut", "5 MB", "deep", "a NUL", "a quote", "types", "a mark"])  # fmt: skip
def test_damaged_files_allow_nothing(world, host, path, damage):
    world.write(path, GOOD[path])
    assert world.says("make", host=host) == "allow"
    world.write(path, damage(GOOD[path]))
    assert [world.says(text, host=host) for text in ("make", "ls")] == ["ask", "ask"]


@pytest.mark.parametrize("host, path", HOST_FILES)
def test_files_that_cannot_be_read_allow_nothing(world, host, path):
    file = world.write(path, b"")
    file.unlink()
    file.mkdir()  # which no user can read as a file
    assert world.says("make", host=host) == "ask"


@pytest.mark.parametrize("host, path", HOST_FILES)
def test_no_file_makes_the_reader_fail_or_allow(world, host, path):
    """Any text; any piece of a good file with any piece put into it. What is allowed then is what the file says."""
    good = GOOD[path].decode()
    pieces = st.one_of(st.text(max_size=40), st.sampled_from(["[", "]]", "{", '"', "'", "\\", "#", "\n", "=", ",", '"""', "(", ")", "\ud7ff"]))

    @given(st.one_of(pieces, st.tuples(st.integers(0, 99), st.integers(0, 99), pieces).map(lambda t: good[: t[0]] + t[2] + good[t[0] + t[1] % 4 :])))
    def never(text):
        world.write(path, text.encode("utf-8", "replace"))
        decision = world.says("make", host=host)
        assert decision in ("none", "ask") or any(part in text for part in ("make", "Bash", "run_shell_command"))

    never()


@given(st.text(max_size=60), st.sampled_from(["claude", "codex", "gemini", "copilot"]), st.sampled_from(["default", "plan", "dontAsk", "x"]))
def test_any_text_is_judged(text, host, mode):
    rules = ctx.Rules(deny=[["glob", "*a*", "r"]], allow=[["prefix", "b", "s"]])
    assert ctx.permission(host, text, ctx.scan(text), mode, rules).decision in ("deny", "ask", "allow", "free", "none")


def test_long_lines_are_judged_in_linear_time():
    """Wrappers round wrappers, and a rule with many wildcards: neither is tried in every combination."""
    rules = ctx.Rules(deny=[["glob", "*a" * 200 + "b", "r"]], allow=[["any", "", "s"]])
    for text in ("nice " * 800, "timeout 5 " * 400, "sudo -a -b " * 300, "a" * 4000, "bash -c '%s'" % ("a;" * 1900), "$(" * 1000, "-- ctx " * 500):
        ctx.permission("claude", text, ctx.scan(text), "default", rules)
    text = "x" * 5000
    assert ctx.permission("claude", text, ctx.scan(text), "default", rules).decision == "none"
    assert ctx.permission("claude", "ctx run -- " + text, ctx.scan(text), "default", rules).decision == "ask"


@pytest.mark.parametrize("host, path", HOST_FILES)
def test_nothing_is_imported_but_what_the_hook_may(claude, host, path):
    claude().write(path, GOOD[path])
    source = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        import ctx
        before = set(sys.modules)
        rules = ctx.host_rules(sys.argv[2], sys.argv[3], sys.argv[4])
        print(ctx.permission(sys.argv[2], "make; x", ctx.scan("make; x"), "default", rules).decision, *set(sys.modules) - before)
    """
    argv = [sys.executable, "-I", "-S", "-c", source, str(HERE.parent), host, str(claude().project), str(claude().home)]
    decision, *loaded = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    assert decision in ("allow", "none")
    assert set(loaded) <= {"_json", "time"}  # the clock only where files are read afresh


# ── snapshots


def test_a_snapshot_is_used_until_a_file_changes(world, monkeypatch):
    monkeypatch.setattr(ctx, "now", lambda: time.time() + 100)  # the files are old by then
    file = world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert world.says("a") == "allow"
    reads = []
    monkeypatch.setattr(ctx, "read_rules", lambda files: reads.append(files) or [[], [], [], True])
    assert world.says("a") == "allow"
    assert not reads
    file.write_text(json.dumps({"permissions": {"allow": ["Bash(b:*)"]}}))
    assert world.says("a") == "ask"
    assert reads


@pytest.mark.parametrize("path", ["/etc/claude-code/managed-settings.d/z.json", "@WS@/.claude/settings.local.json"])
def test_a_new_file_is_seen(world, monkeypatch, path):
    monkeypatch.setattr(ctx, "now", lambda: time.time() + 100)
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert [world.says("a"), world.says("a")] == ["allow", "allow"]
    world.write(path, {"permissions": {"deny": ["Bash(a:*)"]}})
    assert world.says("a") == "deny"


def test_files_that_have_just_changed_are_read_again(world):
    """Their next change may bear the same time and size."""
    for name in "abab":
        world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(%s:*)" % name]}})
        assert [world.says("a"), world.says("b")] == (["allow", "none"] if name == "a" else ["none", "allow"])


def test_no_snapshot_where_a_sandboxed_command_may_write(world, tmp_path, monkeypatch):
    monkeypatch.setattr(ctx, "now", lambda: time.time() + 100)
    monkeypatch.delitem(posix.environ, b"CTX_HOME")
    monkeypatch.setitem(posix.environ, b"HOME", b"/nonexistent")
    monkeypatch.setitem(posix.environ, b"TMPDIR", str(tmp_path).encode())
    ctx.make_dirs(ctx.temp_root())
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert world.says("a") == "allow"
    assert not list(Path(ctx.temp_root()).rglob("*"))


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b'{"files": [], "made": 1}', b"\xff"])
def test_a_damaged_snapshot_is_not_used(world, monkeypatch, tmp_path, content):
    monkeypatch.setattr(ctx, "now", lambda: time.time() + 100)
    world.write("~/.claude/settings.json", {"permissions": {"allow": ["Bash(a:*)"]}})
    assert world.says("a") == "allow"
    (kept,) = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    kept.write_bytes(content)
    assert world.says("a") == "allow"


# ── a slow second reading


def reference_match(rule, text):
    """Whether `Bash(…)` matches one plain command, by a regular expression."""
    content = re.fullmatch(r"Bash(?:\((.*)\))?", rule).group(1)
    if content in (None, "*"):
        return True
    if content.endswith(":*"):
        content = content[:-2] + " *"
    pattern = ".*".join(map(re.escape, content.split("*")))
    if content.endswith(" *") and content.count("*") == 1:
        pattern = re.escape(content[:-2]) + "( .*)?"
    return re.fullmatch(pattern, text, re.S) is not None


TOOLS = ("a", "b", "ab", "git", "git-x")
ARGUMENTS = ("x", "-x", "--all", "a", "main", "x=y", "t::u[v]")
COMMAND = st.lists(st.sampled_from(ARGUMENTS), max_size=3).flatmap(lambda words: st.sampled_from(TOOLS).map(lambda tool: " ".join([tool, *words])))
RULE = st.one_of(
    COMMAND.map("Bash({})".format), COMMAND.map("Bash({}:*)".format), COMMAND.map("Bash({} *)".format), COMMAND.map("Bash({}*)".format),
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(ARGUMENTS)).map("Bash({0[0]} * {0[1]})".format), st.sampled_from(["Bash", "Bash(*)", "Bash(* x)"]),
)  # fmt: skip
RULE_LIST = st.lists(RULE, max_size=3)
JOIN = st.sampled_from([" && ", " || ", "; ", " | ", " |& ", "\n"])
WRAPPED = st.sampled_from(["{}", "{}", "timeout 5 {}", "nice {}", "CI=1 {}", "{} 2>&1", "{} >/dev/null", "FOO=1 {}", "{} > f", "{} $x", "bash -c '{}'", "ctx run -- {}"])
ALLOWED_FORMS = ("{}", "timeout 5 {}", "nice {}", "CI=1 {}", "{} 2>&1", "{} >/dev/null", "ctx run -- {}")


@given(RULE_LIST, RULE_LIST, RULE_LIST, st.lists(st.tuples(COMMAND, WRAPPED), min_size=1, max_size=3), JOIN)
def test_nothing_runs_unasked_that_a_second_reading_would_stop(allow, ask, deny, parts, join):
    compiled = {name: list(itertools.chain.from_iterable(ctx.claude_rule(rule, name == "allow") for rule in listed))
                for name, listed in (("allow", allow), ("ask", ask), ("deny", deny))}  # fmt: skip
    text = join.join(form.format(command) for command, form in parts)
    found = ctx.permission("claude", text, ctx.scan(text), "default", ctx.Rules(**compiled)).decision
    if any(reference_match(rule, command) for rule in deny for command, _ in parts):
        assert found == "deny"
    elif any(reference_match(rule, command) for rule in ask for command, _ in parts):
        assert found in ("ask", "deny")
    elif found in UNASKED:
        for command, form in parts:
            assert form in ALLOWED_FORMS
            assert any(reference_match(rule, typed) for rule in allow for typed in (command, form.format(command).split(" 2>")[0].split(" >")[0]))


@functools.lru_cache(maxsize=None)
def real_commands():
    import gzip

    with gzip.open(HERE / "corpus" / "commands.jsonl.gz", "rt") as file:
        return [json.loads(line)["command"] for line in itertools.islice(file, 4000)]


def test_of_real_command_lines_only_plain_ones_are_allowed_and_every_part_can_be_denied():
    """Under a rule that matches every command: no redirection to a file, no expansion but of patterns and the status, nothing nested.
    Under one that allows everything: no redirection to a file. Under one that denies a program: each line that starts with it."""
    matching = ctx.Rules(allow=[["glob", "*", "x"]], where="/w", top="/w")
    everything = ctx.Rules(allow=[["any", "", "Bash"]], where="/w", top="/w")
    for text in real_commands():
        line = ctx.scan(text)
        if ctx.permission("claude", text, line, "default", matching).decision in UNASKED:
            stripped = re.sub(r"(?m)^\s*#.*$|'[^']*'|\"[^\"$`]*(\$\?[^\"$`]*)*\"", "", text)
            assert not re.search(r"[$`{]|(^|\s)~|(?<![0-9&>])>(?!&|\s*/dev/null)|<(?!/dev/null)", stripped), text
        if ctx.permission("claude", text, line, "default", everything).decision in UNASKED:
            targets = [r.target.text for command in line.commands for r in command.redirects if ">" in r.op]
            assert all(target.isdigit() or target == "/dev/null" for target in targets), text
        words = [command.words[0].value for command in line.commands if command.words and command.words[0].value]
        for word in set(words[:3]):
            denied = ctx.Rules(deny=[["prefix", word, "x"]], allow=[["any", "", "Bash"]])
            assert len(text) > ctx.COMMAND_LIMIT or ctx.permission("claude", text, line, "default", denied).decision == "deny", (word, text)


@pytest.mark.parametrize("name", ["ctx", "c''tx", 'c"t"x', "c\\tx", "c\\\ntx", "$'c\\x74x'", "/opt/ctx.pyz", '"/a b/ct"x.py', "'ctx'"])
@pytest.mark.parametrize("line", ["%s run -- other", "make && %s run other", "timeout 5 %s seq x", 'eval "%s run other"'])
def test_our_name_is_seen_through_quotes(claude, name, line):
    """Where no rule restricts anything, lines that do not name ctx are not looked into."""
    if "'" in name and "eval" in line or '"' in name and "eval" in line or "$" in name:
        assert ctx.may_name_ctx(line % name)
    else:
        assert claude(allow=["Bash(make:*)"]).says(line % name) == "ask"
    assert not ctx.may_name_ctx("make && pytest -q 'c t x'")
