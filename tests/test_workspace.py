"""workspace: which files are in it, what has changed, and the generation of its content."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import ctx

pytest_plugins = ["places"]

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="no git")


@pytest.fixture
def tree(repository):
    """tree({path: text}, …) commits files one commit after the other in a real repository, the workspace (a Path)."""

    def commit(*commits):
        for files in commits:
            write(repository, files)
            run("add", "-A")
            run("commit", "-q", "-m", " ".join(sorted(files)))
        return repository

    return commit


@pytest.fixture
def unreadable_b(monkeypatch):
    """No directory b can be read, not even by root."""
    scandir = ctx.posix.scandir

    def refuse(path):
        if path.endswith(b"/b/"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(ctx.posix, "scandir", refuse)


def run(*words):
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def write(top, files):
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def listed(top, below=()):
    return sorted(os.fsdecode(path) for batch in ctx.work_files(str(top), below, []) for path in batch)


# ── files


@needs_git
def test_files_are_those_that_git_does_not_ignore(tree):
    top = tree({"a.py": "", ".hidden/b": "", "c d/é\n.txt": "", ".gitignore": "*.log\n/out/\n"})
    write(top, {"x.log": "", "out/y": "", "new.py": "", "c d/z.log": ""})
    (top / "a.py").unlink()
    assert listed(top) == sorted(["a.py", ".hidden/b", "c d/é\n.txt", ".gitignore", "new.py"])
    assert listed(top, ["c d"]) == ["c d/é\n.txt"]


def test_directories_whose_files_are_unknown_are_told(tmp_path, unreadable_b, monkeypatch):
    write(tmp_path, {"a/1": "", "a/2": "", "b/c/3": "", "d/4": ""})
    missed = []
    assert ctx.walked_files(str(tmp_path), [], missed) == [b"a/1", b"a/2", b"d/4"] and missed == [b"b/"]
    monkeypatch.setattr(ctx, "WALK_FILES", 1)
    missed = []
    found = ctx.walked_files(str(tmp_path), [], missed)
    assert len(missed) == 2 and set(found) | {b"a/1", b"a/2", b"d/4"} == {b"a/1", b"a/2", b"d/4"} and len(found) in (1, 2)


def test_a_search_says_which_directories_it_could_not_read(workspace, unreadable_b):
    shutil.rmtree(str(workspace / ".git"))
    write(workspace, {"ctx.toml": "", "a/x.py": "total = 1\n", "b/y.py": "total = 2\n"})
    for text in ("refs total", "search total", "files"):
        answer = ctx.run_query(ctx.check_query(text))
        assert "unknown: 1 file was not read (b/)" in answer.remarks, text
        assert "b/y.py" not in {row["path"] for row in answer.rows}


@needs_git
def test_a_path_is_no_pattern(tree):
    top = tree({"*.py": "", "a.py": ""})
    assert listed(top, ["*.py"]) == ["*.py"]


@needs_git
def test_a_file_in_conflict_is_listed_once(tree):
    top = tree({"a": "1\n"})
    run("checkout", "-q", "-b", "b")
    tree({"a": "2\n"})
    run("checkout", "-q", "-")
    tree({"a": "3\n"})
    assert subprocess.run(["git", "merge", "b"], stdout=subprocess.PIPE).returncode == 1
    assert listed(top) == ["a"]
    assert ctx.changed_files(str(top)) == [b"a"]


def test_without_git_hidden_files_and_links_are_left_out(tmp_path):
    write(tmp_path, {"a/b.py": "", ".venv/c.py": "", "a/.d": "", "e": ""})
    (tmp_path / "f").symlink_to(tmp_path / "a")
    os.mkfifo(str(tmp_path / "g"))
    assert listed(tmp_path) == ["a/b.py", "e"]
    assert listed(tmp_path, ["a", ".venv/c.py"]) == [".venv/c.py", "a/b.py"]


def test_a_broken_repository_is_walked(workspace):
    write(workspace, {"a/b.py": ""})  # whose .git is an empty directory
    assert listed(workspace) == ["a/b.py"]
    assert ctx.changed_files(str(workspace)) is None
    assert ctx.generation(str(workspace)) == ""


def test_paths_are_seen_from_the_working_directory(workspace, monkeypatch):
    write(workspace, {"a/b.py": ""})
    monkeypatch.chdir(workspace / "a")
    monkeypatch.setenv("PWD", str(workspace / "a"))
    assert ctx.below_workspace(str(workspace), ["b.py", "..", "."]) == ["a/b.py", ".", "a"]
    for path in ("../..", "/etc/passwd", "nothing.py"):
        with pytest.raises(ctx.CtxError):
            ctx.below_workspace(str(workspace), [path])


# ── changes


@needs_git
def test_changed_files(tree):
    top = tree({"a": "1", "b": "1", "c": "1", "d e": "1"}, {"a": "2"})
    assert ctx.changed_files(str(top)) == []
    write(top, {"b": "2", "new/f": ""})
    (top / "c").unlink()
    run("mv", "d e", "e d")
    assert ctx.changed_files(str(top)) == [b"b", b"c", b"d e", b"e d", b"new/f"]
    assert ctx.changed_files(str(top), "HEAD~1") == [b"a", b"b", b"c", b"d e", b"e d", b"new/f"]
    assert ctx.changed_files(str(top), "nothing") is None
    assert ctx.changed_files(str(top), "--output=x") is None
    assert not (top / "x").exists()


@needs_git
def test_a_repository_cannot_make_us_run_its_programs(tree, tmp_path):
    top = tree({"a": "1"})
    run("config", "core.fsmonitor", "touch %s; false" % (tmp_path / "ran"))
    assert ctx.changed_files(str(top)) == [] and ctx.generation(str(top))
    assert not (tmp_path / "ran").exists()


@needs_git
def test_commits_and_their_files(tree):
    top = str(tree({"a": "1", "b": "1"}, {"a": "2", "c d": "1"}, {"b": "2"}))
    found = ctx.commit_files(top, 10)
    assert [commit["files"] for commit in found] == [["b"], ["a", "c d"], ["a", "b"]]
    assert [commit["subject"] for commit in found] == ["b", "a c d", "a b"]
    assert [commit["files"] for commit in ctx.commit_files(top, 10, ["c d"])] == [["a", "c d"]]
    assert len(ctx.commit_files(top, 1)) == 1


# ── generation


def edit(top):
    write(top, {"a": "other"})


def edit_again(top):
    write(top, {"changed": "third"})


def stage(top):
    run("add", "changed")


CHANGES = {
    "an edit": edit,
    "an edit of a modified file": edit_again,
    "an edit that keeps size and time": lambda top: (write(top, {"changed": "OTHER"}), os.utime(str(top / "changed"), (1, 1))),
    "a new file": lambda top: write(top, {"d/new": ""}),
    "an edit of a new file": lambda top: write(top, {"untracked": "x"}),
    "a deleted file": lambda top: (top / "a").unlink(),
    "the index": stage,
    "a commit": lambda top: (stage(top), run("commit", "-qm", "x")),
    "a stash": lambda top: run("stash", "-q"),
    "a mode": lambda top: (top / "untracked").chmod(0o755),
    "a link": lambda top: ((top / "untracked").unlink(), (top / "untracked").symlink_to("a")),
    "a checkout": lambda top: run("checkout", "-q", "HEAD~1", "--", "a"),
}


@needs_git
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_makes_another_generation(tree, change):
    top = tree({"a": "0", "changed": "1"}, {"a": "1", ".gitignore": "*.pyc\n"})
    write(top, {"changed": "other", "untracked": ""})
    before = ctx.generation(str(top))
    assert before and ctx.generation(str(top)) == before
    write(top, {"x.pyc": "ignored"})
    os.utime(str(top / "a"), (1, 1))
    assert ctx.generation(str(top)) == before
    change(top)
    assert ctx.generation(str(top)) not in ("", before)


@needs_git
def test_the_same_content_is_the_same_generation(tree):
    top = tree({"a": "1"})
    before = ctx.generation(str(top))
    write(top, {"a": "2"})
    write(top, {"a": "1"})
    assert ctx.generation(str(top)) == before


@needs_git
def test_beyond_its_bounds_a_generation_is_unknown(tree, monkeypatch):
    top = tree({"a": "1"})
    write(top, {"b": "12345", "c": "1"})
    assert ctx.generation(str(top))
    monkeypatch.setattr(ctx, "GENERATION_BYTES", 5)
    assert ctx.generation(str(top)) == ""
    monkeypatch.setattr(ctx, "GENERATION_BYTES", 6)
    assert ctx.generation(str(top))
    monkeypatch.setattr(ctx, "GENERATION_FILES", 1)
    assert ctx.generation(str(top)) == ""


@needs_git
def test_a_changed_submodule_is_unknown(tree, tmp_path):
    top = tree({"a": "1"})
    other = tmp_path / "other"
    shutil.copytree(str(top), str(other))
    run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    run("commit", "-qm", "x")
    assert ctx.generation(str(top))
    write(top / "sub", {"a": "2"})
    assert ctx.generation(str(top)) == ""


@needs_git
def test_before_the_first_commit(tree):
    top = tree()
    write(top, {"a": "1"})
    before = ctx.generation(str(top))
    assert before and ctx.changed_files(str(top)) == [b"a"]
    write(top, {"a": "2"})
    assert ctx.generation(str(top)) not in ("", before)
    assert ctx.commit_files(str(top), 5) is None
