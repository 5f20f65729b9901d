"""ctx.toml: what is merged over what; whatever is wrong with a file is said with its name, its line and the nearest valid key."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ctx

pytest_plugins = ["places"]

ROOT = Path(__file__).resolve().parent.parent
can_read_toml = pytest.mark.skipif(not (find_spec("tomllib") or find_spec("tomli")), reason="neither tomllib nor tomli")


@pytest.fixture
def user_file(workspace, tmp_path):
    """Where the user's own settings are read from."""
    path = tmp_path / "user" / ".config" / "ctx" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def problem():
    with pytest.raises(ctx.CtxError) as caught:
        ctx.load_config()
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert caught.value.fix
    return str(caught.value)


def changed():
    """The settings that are not the default."""
    default = ctx.default_settings()
    return {"%s.%s" % name: value for name, value in ctx.load_config().items() if value != default[name]}


# ── what holds


def test_no_file_is_needed(workspace):
    assert changed() == {}
    assert ctx.config_files() == [os.environ["HOME"] + "/.config/ctx/config.toml", str(workspace / "ctx.toml")]


@can_read_toml
@pytest.mark.parametrize(
    "text",
    [
        b"[budget]\ninline = 1\n",
        b"\xef\xbb\xbf[budget]\ninline = 1\n",
        b"[budget]\r\ninline = 1\r\n",
        b"\xef\xbb\xbf\r\n[budget] # of a page\r\ninline=1",
        b"budget.inline = 1",
        b"budget = { inline = 1 }",
        b'["budget"]\n"inline" = 1 # one\n',
    ],
    ids=["plain", "BOM", "CRLF", "BOM and CRLF", "dotted", "inline table", "quoted"],
)
def test_one_key_of_a_table_leaves_the_others(workspace, text):
    (workspace / "ctx.toml").write_bytes(text)
    assert changed() == {"budget.inline": 1}


@can_read_toml
def test_the_workspace_is_above_the_user(workspace, user_file):
    user_file.write_text("[budget]\ninline = 1\npage = 500\n[redact]\nraw = true\n")
    (workspace / "ctx.toml").write_text("[budget]\ninline = 2\n")
    assert changed() == {"budget.inline": 2, "budget.page": 500, "redact.raw": True}


@can_read_toml
def test_from_a_directory_below(workspace, monkeypatch):
    (workspace / "ctx.toml").write_text("[store]\ndays = 3\n")
    (workspace / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(workspace / "a" / "b")
    monkeypatch.setenv("PWD", str(workspace / "a" / "b"))
    assert changed() == {"store.days": 3}


@can_read_toml
def test_xdg_config_home(workspace, user_file, tmp_path, monkeypatch):
    user_file.write_text("[budget]\ninline = 1\n")
    there = tmp_path / "there" / "ctx"
    there.mkdir(parents=True)
    (there / "config.toml").write_text("[budget]\ninline = 2\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(there.parent))
    assert changed() == {"budget.inline": 2}
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative/is/to/be/ignored")
    assert changed() == {"budget.inline": 1}


def test_a_file_in_the_place_of_a_directory_is_no_file(workspace, tmp_path):
    (tmp_path / "user" / ".config").write_text("")
    assert changed() == {}


@can_read_toml
def test_an_empty_file(workspace):
    (workspace / "ctx.toml").write_bytes(b"")
    assert changed() == {}


# ── what is wrong


@can_read_toml
@pytest.mark.parametrize(
    "text, line, says",
    [
        ("[budget]\npage = 500\ninlin = 1\n", 3, "[budget] has no key 'inlin': did you mean inline?"),
        ("[budget]\nxyzzy = 1\n", 2, "its keys are inline, content, "),
        ("[redact]\nraw = true\n[budget]\nraw = 1\n", 4, "[budget] has no key 'raw'"),
        ("\n[budgte]\ninline = 1\n", 2, "unknown table [budgte]: did you mean budget?"),
        ("[xyzzy]\n", 1, "tables are budget, guard, plan, redact, store, profile"),
        ("# budget\n\ninline = 1\n", 3, "'inline' stands outside a table: write it below [budget]"),
        ("[[budget]]\ninline = 1\n", 1, "'budget' stands outside a table"),
        ("[budget]\ninline = '1'\n", 2, "[budget] inline must be a whole number: as in inline = 4096"),
        ("[budget]\n\ninline = 1.5\n", 3, "must be a whole number"),
        ("[budget]\ninline = true\n", 2, "must be a whole number"),
        ("[budget]\ninline = [1]\n", 2, "must be a whole number"),
        ("[budget.inline]\nx = 1\n", 1, "must be a whole number"),
        ("[redact]\nraw = 1\n", 2, "[redact] raw must be true or false: as in raw = false"),
        ("[guard]\nunknown = 'leav'\n", 2, "must be one of leave, capture, ask: did you mean leave?"),
        ("[guard]\nunknown = 1\n", 2, "must be text in quotes: as in unknown = \"leave\""),
        ("[budget]\npass = 5\n", 2, "must be from 60 to 1000000000: the default is 120"),
        ("[budget]\ninline = -1\n", 2, "must be from 0"),
        ("[budget]\nhold = 10000000000\n", 2, "must be from 1 to 1000000000"),
        ("[budget]\ninline = 1\ninline 2\n", 3, "not TOML ("),
        ("[budget]\ninline = 1\n[budget]\n", 3, "not TOML ("),
        ("[budget]\ninline =", 2, "not TOML ("),
        ("[budget]\ninline = '''\n\n\n", 2, "not TOML ("),
        ("[budget]\r\ninline = oops\r\n", 2, "not TOML ("),
        ("budget.inlin = 1", 1, "did you mean inline?"),
        ("\nbudget = { inlin = 1 }", 2, "did you mean inline?"),
        ("[budget]\n'a\\nb' = 1", None, "has no key"),
        ("x = " + "[" * 5000, None, "ctx.toml"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_bad_file_is_named_with_its_line(workspace, text, line, says):
    (workspace / "ctx.toml").write_bytes(text.encode())
    found = problem()
    assert found.startswith("%s/ctx.toml:%s" % (workspace, "" if line is None else "%d: " % line)), found
    assert says in found


@can_read_toml
def test_the_file_that_is_wrong_is_the_one_that_is_named(workspace, user_file):
    user_file.write_text("[budget]\ninline = ''\n")
    (workspace / "ctx.toml").write_text("[budget]\ninline = 1\n")
    assert problem().startswith("%s:2: " % user_file)


@can_read_toml
def test_bytes_that_are_not_utf8(workspace):
    (workspace / "ctx.toml").write_bytes(b"[budget]\n# caf\xe9\n")
    assert ":2: not UTF-8: save it as UTF-8" in problem()
    (workspace / "ctx.toml").write_bytes("[budget]\n".encode("utf-16"))
    assert ":1: not UTF-8" in problem()


def test_a_directory_in_its_place(workspace):
    (workspace / "ctx.toml").mkdir()
    assert "ctx.toml: cannot be read (not a regular file)" in problem()


def test_no_permission_to_read_it(workspace, monkeypatch):
    (workspace / "ctx.toml").write_text("")
    (workspace / "ctx.toml").chmod(0)
    if os.getuid() == 0:  # may read everything

        def refuse(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(ctx, "read_file", refuse)
    assert "cannot be read (Permission denied): make it readable" in problem()


def test_an_interpreter_that_cannot_read_toml_says_so(workspace, monkeypatch):
    (workspace / "ctx.toml").write_text("[budget]\n")
    for name in ("tomllib", "tomli"):
        monkeypatch.setitem(sys.modules, name, None)
    what = "%s/ctx.toml: this Python (%d.%d) cannot read TOML" % (workspace, *sys.version_info[:2])
    assert problem() == what + ": use Python 3.11 or newer, or remove the file"


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="has tomllib")
def test_an_old_interpreter_says_so_and_runs_nothing(workspace):
    (workspace / "ctx.toml").write_text("[budget]\n")
    command = [sys.executable, "-I", "-S", str(ROOT / "ctx.py"), "run", "--", "touch", "made"]  # without pytest's tomli
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"cannot read TOML" in done.stderr
    assert not (workspace / "made").exists()


# ── what is printed


@can_read_toml
def test_every_setting_is_printed_and_read_back(workspace):
    other = {bool: lambda value: not value, int: lambda value: value + 7, str: lambda value: "capture", list: lambda value: ["make 'x' \\"]}
    values = {name: other[type(value)](value) for name, value in ctx.default_settings().items()}
    (workspace / "ctx.toml").write_text("\n".join(ctx.settings_text(values)))
    ctx.set_trust(ctx.commands_key(str(workspace / "ctx.toml"), values), True)
    assert ctx.load_config() == values


def test_every_setting_says_what_it_means():
    for name, (default, least, meaning) in ctx.SETTINGS.items():
        assert type(default) in (int, bool, str, list) and meaning and not meaning.endswith(".")
        assert (least is None) == (type(default) is not int) and (least is None or least <= default <= ctx.LARGEST)
        assert isinstance(default, str) == (name in ctx.CHOICES) and default in ctx.CHOICES.get(name, [default])
