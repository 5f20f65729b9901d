"""The failure slice: a test suite that is certain to fail as it did is not run again, and in any doubt it runs.

An agent is played by the hook as Claude Code calls it, and a shell that runs what the hook made of the command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from harness import Box

import ctx

TESTS = """\
import os, unittest
class T(unittest.TestCase):
    def test_count(self):
        with open(os.environ["COUNT"], "a") as file:
            file.write("x")
        with open("value") as file:
            value = file.read()
        self.assertEqual(value, "1\\n")
"""
IDENTITY = "test_it.T.test_count" if sys.version_info >= (3, 11) else "test_count (test_it.T)"  # as unittest prints it
SLICED = "not run again"


class Agent(Box):
    """An agent in a work tree with one failing test, which counts how often it runs; the interpreter is of the agent's own."""

    def __init__(self, home, tmp_path, monkeypatch):
        super().__init__(home, tmp_path, monkeypatch)
        self.count = tmp_path / "count"
        self.venv = tmp_path / "venv"
        self.python = str(self.venv / "bin" / "python")
        self.packages = self.venv / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)
        self.env.update(COUNT=str(self.count), PYTHONDONTWRITEBYTECODE="1", HOME=str(tmp_path))
        for name, text in (("test_it.py", TESTS), ("value", "2\n"), (".gitignore", "ignored\n")):
            (self.work / name).write_text(text)
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]):
            subprocess.run(["git", *words], cwd=str(self.work), check=True)
        (self.work / "value").write_text("3\n")
        self.suite = self.python + " -m unittest"

    def types(self, command, env=None, cwd=None):
        """Give the shell a command line, as the hook changes it; its status and what it prints."""
        payload = {"session_id": "s", "cwd": str(self.work), "permission_mode": "bypassPermissions", "hook_event_name": "PreToolUse",
                   "tool_name": "Bash", "tool_input": {"command": command}}  # fmt: skip
        answer = self.ctx("hook", "claude", "PreToolUse", input=json.dumps(payload).encode()).stdout
        changed = json.loads(answer)["hookSpecificOutput"]["updatedInput"]["command"] if answer else command
        done = self.plain(["bash", "-c", changed], env=env, cwd=cwd or self.work, merged=True)
        return done.returncode, done.stdout.decode()

    def runs(self, command=None, **options):
        """Run the suite; whether it really ran."""
        before = self.counted
        status, text = self.types(command or self.suite, **options)
        assert (SLICED in text) == (self.counted == before)
        return self.counted > before

    @property
    def counted(self):
        return len(self.count.read_text()) if self.count.exists() else 0

    @property
    def entry(self):
        return json.loads((self.store / "ledger").read_text().splitlines()[-1])


@pytest.fixture
def agent(home, tmp_path, monkeypatch):
    return Agent(home, tmp_path, monkeypatch)


def test_the_same_failure_is_shown_and_said_to_be_the_same(agent):
    status, first = agent.types(agent.suite)
    assert agent.counted == 1 and status == 1 and "AssertionError" in first and SLICED not in first
    assert (agent.entry["shape"], agent.entry["rung"]) == ("suite", "failure-slice") and "collapse_fires" not in agent.entry
    status, second = agent.types(agent.suite)
    assert agent.counted == 1 and status == 1
    lines = second.splitlines()
    run = agent.last()
    assert lines[0].startswith("[ctx %s] %s" % (run.handle, SLICED)) and lines[1] == "exit: 1" and IDENTITY in second
    assert "1 failure" in lines[2]
    ways = lines[lines.index("next:") + 1 :]
    assert ways[-1].endswith(" run -- %s" % agent.suite)
    assert (agent.entry["did"], agent.entry["rung"], agent.entry["collapse_fires"]) == ("rewritten", "failure-slice", 1)
    for way in ways:  # they run as printed
        done = agent.plain(["bash", "-c", way], merged=True)
        assert b"AssertionError" in done.stdout
    assert agent.counted == 2


def test_the_second_request_runs(agent):
    assert [agent.runs() for _ in range(5)] == [True, False, True, False, True]


def test_looking_around_changes_nothing(agent):
    agent.runs()
    for command in ("ls", "git status", "git diff", "cat test_it.py | head -3", "rg x . | head -20", "ctx runs"):
        agent.types(command)
    agent.run(["cat", "value"])  # as reads are captured on some hosts
    assert not agent.runs()


def test_the_failures_that_touch_changed_files_are_chosen(agent):
    agent.runs()
    (agent.work / "test_it.py").write_text(TESTS + "    def test_other(self):\n        self.fail()\n")
    assert agent.runs()
    text = agent.types(agent.suite)[1]
    assert SLICED in text and "\n2 failures; shown: 2\n" in text
    subprocess.run(["git", "stash", "-q"], cwd=str(agent.work), check=True)
    (agent.work / "test_more.py").write_text(TESTS)
    assert agent.runs()
    text = agent.types(agent.suite)[1]
    assert "\n2 failures; shown: 1, as the query chose\n" in text and "test_more" in text and "test_it" not in text and " q 'fails run:" in text


# ── each precondition, violated


COMMANDS = [
    "echo 4 > value", "git stash", "git checkout -q -b other", "touch new", "make", "./unknown", "eval ls", "pip install x", "npm run build",
    "rm -f ignored", "git commit -qam x", "'", "x=$(rm -f ignored)", "ctx run -- touch ignored", "bash -c 'touch ignored'",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_may_change_something_between(agent, command):
    agent.runs()
    agent.types(command)
    assert agent.runs()


def test_an_edit_of_which_no_hook_is_told(agent):
    def commit():
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "m"], cwd=str(agent.work), check=True)

    changes = [
        lambda: (agent.work / "value").write_text("5\n"),
        lambda: (agent.work / "test_it.py").write_text(TESTS + "\n"),
        lambda: (agent.work / "new").write_text("x"),
        lambda: (agent.work / "new").write_text("y"),
        lambda: (agent.work / "new").chmod(0o755),
        lambda: subprocess.run(["git", "add", "new"], cwd=str(agent.work), check=True),
        lambda: subprocess.run(["git", "stash", "-q"], cwd=str(agent.work), check=True),
        lambda: subprocess.run(["git", "stash", "pop", "-q"], cwd=str(agent.work), check=True),
        commit,
        lambda: subprocess.run(["git", "checkout", "-q", "HEAD~1"], cwd=str(agent.work), check=True),
    ]
    for change in changes:
        assert agent.runs()
        change()
    assert agent.runs() and not agent.runs()


@pytest.mark.parametrize("line", ["sed -i s/3/4/ value && %s", "git stash; %s", "%s; touch ignored", "%s || rm -f ignored", "%s; %s", "make; %s"])
def test_a_line_that_does_more(agent, line):
    for _ in range(3):
        before = agent.counted
        status, text = agent.types(line.replace("%s", agent.suite))
        assert agent.counted > before and SLICED not in text
    assert agent.runs()


def test_a_checkout_that_comes_back(agent):
    agent.runs()
    agent.types("git stash && git stash pop")
    assert agent.runs()


def test_an_installed_package(agent):
    agent.runs()
    (agent.packages / "new").mkdir()
    assert agent.runs() and not agent.runs()
    assert agent.runs()
    (agent.packages / "new").rmdir()
    assert agent.runs()


def test_another_interpreter(agent):
    agent.runs()
    os.utime(str(agent.venv / "pyvenv.cfg"), (1, 1))
    assert agent.runs() and not agent.runs() and agent.runs()
    assert agent.runs("%s -m unittest" % sys.executable)


@pytest.mark.parametrize("name, text", [("x.pth", "{}\n"), ("x.pth", "../../../../outside\n"), ("__editable___x_finder.py", "MAPPING = {{'x': '{}'}}\n")])
def test_packages_that_lie_elsewhere(agent, tmp_path, name, text):
    (tmp_path / "outside").mkdir()
    (agent.packages / name).write_text(text.format(tmp_path / "outside"))
    assert agent.runs() and agent.runs()
    (agent.packages / name).write_text(text.replace("../../../../outside", str(agent.work)).format(agent.work / "src"))
    assert agent.runs() and not agent.runs()


def test_modules_that_lie_elsewhere(agent, tmp_path):
    for path, again in ((tmp_path / "outside", True), (agent.work / "src", False)):
        assert agent.runs(env={"PYTHONPATH": str(path)}) and agent.runs(env={"PYTHONPATH": str(path)}) == again
        agent.types("make")


def test_another_directory_or_environment_or_command(agent):
    (agent.work / "sub").mkdir()
    for name in ("test_it.py", "value"):
        (agent.work / "sub" / name).write_bytes((agent.work / name).read_bytes())
    agent.runs()
    assert agent.runs(cwd=agent.work / "sub")
    assert agent.runs()
    assert agent.runs(env={"MODE": "x"})
    assert agent.runs("A=1 " + agent.suite)
    assert agent.runs(agent.suite + " -v")
    assert agent.runs(agent.suite + " -v 2>&1") is False  # the same one


def test_a_suite_that_passes_or_flickers(agent):
    (agent.work / "value").write_text("1\n")
    assert all(agent.runs() for _ in range(3))
    (agent.work / "value").write_text("3\n")
    assert agent.runs()
    agent.types("ctx run -- " + agent.suite)  # by force: what it says holds from now on
    assert agent.runs()


@pytest.mark.parametrize("form", ["timeout -s INT 1 %s", "timeout 1 %s"])
def test_a_partial_run(agent, form):
    (agent.work / "test_it.py").write_text(TESTS + "    def test_slow(self):\n        import time; time.sleep(9)\n")
    for _ in range(2):
        assert SLICED not in agent.types(form.replace("%s", agent.suite))[1]
    assert agent.counted == 2


@pytest.mark.parametrize("form", ["%s 2>&1 | tail -50", "%s > ignored 2>&1", "x=$(%s)", "bash -c '%s'", "%s test_it", "%s -k count", "%s &\nwait"])
def test_a_run_that_is_tapped_or_hidden_or_not_of_all(agent, form):
    command = form.replace("%s", agent.suite)
    assert agent.runs(command) and agent.runs(command)
    assert agent.runs()


def test_a_run_that_cannot_be_confirmed(agent):
    (agent.work / "test_it.py").write_text(TESTS + "    def test_exit(self):\n        os._exit(1)\n")
    assert agent.runs() and agent.runs()


def test_age(agent):
    agent.runs()
    notes = agent.store / "suite"
    noted = json.loads(notes.read_text())
    for age, again in ((ctx.SLICE_SECONDS + 1, True), (-60, True), (ctx.SLICE_SECONDS - 60, False)):
        noted["time"] = ctx.now() - age
        notes.write_text(json.dumps(noted) + "\n")
        assert agent.runs() == again


@pytest.mark.parametrize("text", ["", "{}\n", "[]\n", "null\n", '{"time": "x"}\n', '{"run": 1, "tim', "x\n", "\xff\n"])
def test_damaged_notes(agent, text):
    agent.runs()
    (agent.store / "suite").write_text(text)
    assert agent.runs()


def test_evidence_that_is_gone(agent):
    agent.runs()
    for name in os.listdir(str(agent.store / "runs")):
        os.unlink(str(agent.store / "runs" / name))
    assert agent.runs()


def test_a_request_that_was_refused_leaves_nothing_certain(agent):
    agent.runs()
    with (agent.store / "suite").open("a") as file:
        file.write("asked\n")
    assert agent.runs()


def test_without_a_hook_it_runs(agent):
    agent.runs()
    done = agent.ctx("q", "fails last", "--else", "--", *agent.suite.split())
    assert agent.counted == 2 and done.returncode == 1
    agent.ctx("q", "fails last", "--else", "--", *agent.suite.split())
    assert agent.counted == 3


def test_what_starts_while_it_runs_is_noticed(agent):
    (agent.work / "test_it.py").write_text(TESTS.replace("self.assert", "os.unlink(os.environ['NOTES'])\n        self.assert"))
    env = {"NOTES": str(agent.store / "suite")}  # as a hook would that sees another command
    assert agent.runs(env=env) and agent.runs(env=env)


def test_a_file_that_the_suite_writes_is_no_known_content(agent):
    (agent.work / "test_it.py").write_text(TESTS + "    def test_write(self):\n        open('log', 'a').write('x')\n")
    assert agent.runs() and agent.runs()


def test_without_git_it_runs(agent):
    os.rename(str(agent.work / ".git"), str(agent.tmp / "git"))
    assert agent.runs() and agent.runs()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_break_glass(agent):
    agent.config("[guard]\ncollapse = false\n")
    assert all(agent.runs() for _ in range(3))
    assert "collapse_fires" not in agent.entry


def test_off_and_mistakes(agent):
    agent.runs()
    with (agent.store / "suite").open("a") as file:
        file.write("asked\n")
    done = agent.ctx("q", "fails last", "--else", "--", *agent.suite.split(), env={"CTX_OFF": "1"})
    assert agent.counted == 2 and done.returncode == 1
    for words in (["fails last", "--else"], ["fails last", "--else", "--"], ["nothing", "--else", "--", "true"], ["refs x", "--else", "--", "true"]):
        assert agent.ctx("q", *words).returncode == 2
    assert agent.ctx("q", "fails last", "--else", "--", "no-such-program").returncode == 127


def test_a_hook_that_fails_forgets(agent):
    agent.runs()
    agent.ctx("hook", "claude", "PreToolUse", input=b"{")
    assert agent.runs()


# ── what git does not tell


def rewritten_in_place(path, text):
    """Change a file and leave its size and times as they were."""
    info = path.stat()
    path.write_text(text)
    os.utime(str(path), ns=(info.st_atime_ns, info.st_mtime_ns))


@pytest.mark.parametrize("change", ["an ignored file", "in an ignored directory", "assumed unchanged", "skipped", "a link that leads out", "an installed package",
                                    "with its time kept", "settings above", "a new file above", "no more ignored file",
                                    "what is loaded beside settings above", "newer settings above"])  # fmt: skip
def test_an_edit_of_which_git_is_not_told(agent, change):
    packed = agent.packages / "mod.py"
    packed.write_text("x = 1\n")
    ignored, folder, outside, above = agent.work / "ignored", agent.work / "build", agent.tmp / "outside", agent.work.parent / "tox.ini"
    folder.mkdir()
    for path in (ignored, folder / "file", outside, above):
        path.write_text("1\n")
    (agent.work / ".gitignore").write_text("ignored\nbuild/\n")
    (agent.work / "link").symlink_to(outside)
    for words in (["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"]):
        subprocess.run(["git", *words], cwd=str(agent.work), check=True)
    flag = {"assumed unchanged": "--assume-unchanged", "skipped": "--skip-worktree"}.get(change)
    if flag:
        subprocess.run(["git", "update-index", flag, "value"], cwd=str(agent.work), check=True)
    subprocess.run(["git", "config", "core.trustctime", "false"], cwd=str(agent.work), check=True)
    assert agent.runs() and not agent.runs() and agent.runs()
    edits = {
        "an ignored file": lambda: ignored.write_text("2\n"), "in an ignored directory": lambda: rewritten_in_place(folder / "file", "2\n"),
        "a link that leads out": lambda: outside.write_text("2\n"), "an installed package": lambda: packed.write_text("x = 2\n"),
        "with its time kept": lambda: rewritten_in_place(agent.work / "value", "4\n"), "settings above": lambda: above.write_text("2\n"),
        "a new file above": lambda: (agent.work.parent / "pytest.ini").write_text("x"), "no more ignored file": ignored.unlink,
        "what is loaded beside settings above": lambda: (agent.work.parent / "conftest.py").write_text("x"),
        "newer settings above": lambda: (agent.work.parent / "pytest.toml").write_text("x"),
    }  # fmt: skip
    edits.get(change, lambda: (agent.work / "value").write_text("4\n"))()
    assert agent.runs() and not agent.runs()


def test_files_that_cannot_be_known(agent):
    (agent.tmp / "elsewhere").mkdir()
    (agent.work / "folder").symlink_to(agent.tmp / "elsewhere")
    assert agent.runs() and agent.runs()
    (agent.work / "folder").unlink()
    assert agent.runs() and not agent.runs()


@pytest.mark.parametrize("line", ["echo 1 | %s", "%s < value", "%s <<< 1", "cat value | timeout 50 %s"])
def test_what_the_suite_reads_from_the_line(agent, line):
    command = line.replace("%s", agent.suite)
    assert agent.runs(command) and agent.runs(command)


@pytest.mark.parametrize("change", ["umask 077", "ulimit -n 200", "ulimit -S -c 0 -n 100"])
def test_what_a_shell_hands_on_beside_the_environment(agent, change):
    agent.runs()
    assert agent.runs("%s; %s" % (change, agent.suite))


def test_what_a_suite_leaves_behind_for_itself(agent):
    """A file that git ignores, which the suite itself reads the next time."""
    (agent.work / "test_it.py").write_text(TESTS.replace('        self.assert', '        again = os.path.exists("ignored")\n        open("ignored", "w").close()\n        again or self.assert'))
    assert agent.types(agent.suite)[0] == 1 and agent.types(agent.suite)[0] == 0


def test_an_ignored_file_that_is_changed_while_the_suite_runs(agent):
    (agent.work / "ignored").write_text("1\n")
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qam", "m"], cwd=str(agent.work), check=True)
    (agent.work / "test_it.py").write_text(TESTS.replace("        self.assert", "        open('ignored').read() and os.system('echo 2 > ignored')\n        self.assert"))
    assert agent.runs() and agent.runs()


def test_what_python_and_its_tools_keep_is_no_change(agent):
    (agent.work / ".gitignore").write_text("__pycache__\n.pytest_cache\n.coverage\n")
    write = "        os.makedirs('.pytest_cache/v', exist_ok=True)\n        [open(name, 'a').write('x') for name in ('.pytest_cache/v/nodeids', '.coverage')]\n"
    (agent.work / "test_it.py").write_text(TESTS.replace("        self.assert", write + "        self.assert"))
    assert agent.runs(env={"PYTHONDONTWRITEBYTECODE": ""}) and not agent.runs(env={"PYTHONDONTWRITEBYTECODE": ""})


def test_packages_and_settings_in_places_that_are_named(agent, tmp_path):
    folder = tmp_path / "base" / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages"
    folder.mkdir(parents=True)
    env = {"PYTHONUSERBASE": str(tmp_path / "base")}
    assert agent.runs(env=env) and not agent.runs(env=env) and agent.runs(env=env)
    (folder / "mod.py").write_text("x")
    assert agent.runs(env=env)
    for options in ("-c %s/x.ini" % tmp_path, "-c../x.ini", "--rootdir=~/x"):
        assert agent.runs(env={"PYTEST_ADDOPTS": options}) and agent.runs(env={"PYTEST_ADDOPTS": options})
    assert agent.runs(env={"PYTEST_ADDOPTS": "-c%s/x.ini" % agent.work}) and not agent.runs(env={"PYTEST_ADDOPTS": "-c%s/x.ini" % agent.work})


def test_the_paths_that_options_name(monkeypatch):
    monkeypatch.setenv("HOME", "/home/u")
    monkeypatch.setattr(ctx, "home", lambda: "/home/u")
    monkeypatch.setattr(ctx, "cwd", lambda: "/w/x")
    assert list(ctx.places_named(["-c/a/b", "--rootdir=/c", "-q", "tests", "../d", "--o=~/e", "a/b", "--ini=x=/y", "-ox=z,/f"])) == ["/a/b", "/c", "/w/d", "/home/u/e", "/y", "/f"]
