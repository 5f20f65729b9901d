"""The one file: it starts on every Python there is, from anywhere, whatever the machine refuses it; the same inputs give the same bytes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from harness import can_mount

import build

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parent.parent
BASE = os.path.realpath(getattr(sys, "_base_executable", sys.executable))  # has nothing installed that came inside of the file
TOOLS = os.environ.get("CTX_BUILD_PYTHON", sys.executable)  # has shiv


def packed(folder, pythons):
    """Packs of ctx.py by some interpreters."""
    folder.mkdir(exist_ok=True)
    for python in pythons:
        build.packed_by(build.probe(python), folder)
    return folder


def made(target, packs, *options):
    subprocess.run([TOOLS, str(ROOT / "build.py"), "archive", str(packs), *options, "-o", str(target)], check=True, stdout=subprocess.PIPE)
    return target


@pytest.fixture(scope="module")
def pythons():
    return [python.path for version, python in sorted(build.interpreters().items()) if version >= (3, 8)]


@pytest.fixture(scope="module")
def packs(tmp_path_factory, pythons):
    return packed(tmp_path_factory.mktemp("packs"), pythons)


@pytest.fixture(scope="module")
def slim(tmp_path_factory, packs):
    return made(tmp_path_factory.mktemp("slim") / "ctx.pyz", packs, "--slim")


@pytest.fixture(scope="module")
def full(tmp_path_factory, packs):
    """With the grammars of one platform."""
    return made(tmp_path_factory.mktemp("full") / "ctx.pyz", packs, "--platform", "linux-x86_64")


@pytest.fixture(params=["slim", "full"])
def pyz(request):
    return request.getfixturevalue(request.param)


def start(command, home, *, env=None, **options):
    """Run a command in an environment that has nothing but a PATH and, unless None, a HOME."""
    variables = {"PATH": os.defpath, **({} if home is None else {"HOME": str(home)}), **(env or {})}
    return subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **options)


def test_it_starts_on_every_python(pyz, pythons, tmp_path):
    for python in pythons:
        for _ in range(2):  # from what is inside; from what the first start has kept
            done = start([python, str(pyz), "version"], tmp_path)
            assert done.stderr == b"" and re.fullmatch(rb"ctx [\d.]+ \(Python [\d.]+\)\n", done.stdout)


def test_it_runs_captures_and_reads_back(pyz, pythons, tmp_path):
    for python in pythons:
        done = start([python, str(pyz), "run", "--", "seq", "5000"], tmp_path)
        assert done.returncode == 0 and done.stdout.startswith(b"[ctx run:") and done.stderr == b""
        line = done.stdout.decode().split("next:\n  ")[1].split("\n")[0]
        assert start(["sh", "-c", line], tmp_path).stdout.startswith(b"1\n2\n3\n")
        assert start([python, str(pyz), "run", "--", "sh", "-c", "exit 7"], tmp_path).returncode == 7


def test_it_is_an_executable_file(pyz, tmp_path):
    assert os.access(pyz, os.X_OK) and start([str(pyz), "version"], tmp_path, env={"PATH": os.path.dirname(sys.executable) + ":" + os.defpath}).returncode == 0


def test_the_hook_answers_from_it(pyz, pythons, tmp_path):
    event = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git commit -m x"}, "cwd": str(tmp_path)}).encode()
    for python in pythons:
        for words in (["hook", "claude", "pre"], ["hook"]):
            done = subprocess.run([python, str(pyz), *words], input=event, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"HOME": str(tmp_path)}, timeout=60)
            assert (done.returncode, done.stderr) == (0, b"")


def test_the_hook_answers_without_decompressing(full, pythons, tmp_path):
    event = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git status"}, "cwd": str(tmp_path)}).encode()
    for python in pythons:
        done = subprocess.run([python, "-I", "-S", "-v", str(full), "hook"], input=event, stderr=subprocess.PIPE, env={"HOME": str(tmp_path)}, timeout=60)
        assert done.returncode == 0 and b"import 'marshal'" in done.stderr and b"import 'zlib'" not in done.stderr


@pytest.mark.parametrize("flags", [["-I"], ["-S"], ["-E"], ["-I", "-S", "-E"], ["-O"], ["-OO"], ["-X", "utf8=0"], ["-B"]], ids=" ".join)
def test_flags_of_the_interpreter(pyz, tmp_path, flags):
    assert start([sys.executable, *flags, str(pyz), "version"], tmp_path).returncode == 0


@pytest.mark.parametrize("how", ["working directory", "PYTHONPATH", "relative PYTHONPATH", "beside the script"])
@pytest.mark.parametrize("words", [["run", "--", "seq", "5000"], ["runs"], ["why", "make"], ["outline", "re.py"], ["hook", "claude", "PreToolUse"]], ids=lambda words: words[0])
def test_modules_of_a_project_are_not_imported(slim, tmp_path, how, words):
    """Neither by the one file nor by ctx.py; which is what PYTHONPATH is for, and so the command itself still sees it."""
    for name in ("json", "re", "typing", "zipimport", "tree_sitter", "select", "fcntl", "ast", "subprocess", "tomllib"):
        (tmp_path / (name + ".py")).write_text("raise SystemExit('a module of the project: %s')\n" % name)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("x")
    env = {"PYTHONPATH": {"PYTHONPATH": str(tmp_path), "relative PYTHONPATH": "."}[how]} if "PYTHONPATH" in how else {}
    for program in (slim, ROOT / "ctx.py"):
        if how == "beside the script":
            program = shutil.copy(program, tmp_path)
        command = [BASE, "-S", str(program), *words]  # what is installed here may import at the start of the interpreter
        done = start(command, tmp_path / "home", env={**env, "CTX_HOME": str(tmp_path / "store")}, cwd=tmp_path)
        assert b"a module of the project" not in done.stdout + done.stderr and done.returncode in (0, 1), done.stderr


@pytest.mark.parametrize("home", ["none", "missing", "read-only", "a file"])
def test_a_home_that_cannot_be_used(pyz, tmp_path, home):
    place = {"none": None, "missing": tmp_path / "missing", "a file": tmp_path / "file", "read-only": tmp_path / "closed"}[home]
    if home == "a file":
        place.write_text("")
    if home == "read-only":
        place.mkdir(mode=0o500)
    env = {"TMPDIR": str(tmp_path), "LANG": "C", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"}
    for _ in range(2):
        done = start([sys.executable, str(pyz), "run", "--", "echo", "fine"], place, env=env)
        assert (done.returncode, done.stdout) == (0, b"fine\n")
    assert not (tmp_path / "missing").exists()


def test_nothing_is_left_in_the_working_directory(pyz, tmp_path):
    (tmp_path / "work").mkdir()
    start([sys.executable, str(pyz), "version"], tmp_path, cwd=tmp_path / "work")
    assert not list((tmp_path / "work").iterdir())


def test_twenty_first_starts_at_once(slim, tmp_path):
    env = {"PATH": os.defpath, "HOME": str(tmp_path)}
    started = [subprocess.Popen([sys.executable, str(slim), "version"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(20)]
    ended = [process.communicate(timeout=100) for process in started]
    assert {process.returncode for process in started} == {0} and {err for _, err in ended} == {b""} and len({out for out, _ in ended}) == 1
    assert len(list((tmp_path / ".local/state/ctx/bytecode").iterdir())) == 1


def test_bytecode_that_was_cut_off_or_is_another_users_is_not_run(slim, tmp_path):
    start([sys.executable, str(slim), "version"], tmp_path)
    (kept,) = (tmp_path / ".local/state/ctx/bytecode").iterdir()
    for data in (b"", kept.read_bytes()[:5000], b"garbage"):
        kept.chmod(0o600)
        kept.write_bytes(data)
        done = start([sys.executable, str(slim), "version"], tmp_path)
        assert done.returncode == 0 and done.stderr == b""


def test_bytecode_of_the_build_before_is_collected(slim, tmp_path):
    folder = tmp_path / ".local/state/ctx/bytecode"
    start([sys.executable, str(slim), "version"], tmp_path)
    (kept,) = folder.iterdir()
    other = folder / ("000000000000" + kept.name[12:])
    kept.rename(other)
    start([sys.executable, str(slim), "version"], tmp_path)
    assert [path.name for path in folder.iterdir()] == [kept.name]


@pytest.mark.parametrize("verb", [["run", "--", "sh", "-c"], ["seq", "--step"], ["tap"]], ids=" ".join)
@pytest.mark.parametrize("how", ["by another", "in its place"])
def test_it_can_be_replaced_while_it_runs(full, slim, tmp_path, how, verb):
    """Also where its bytes are written over, as cp does."""
    program = tmp_path / "ctx.pyz"
    shutil.copy(full, program)
    script = "sleep 0.3; touch %s/ready; while [ ! -e %s/go ]; do sleep 0.05; done; seq 5000" % (tmp_path, tmp_path)
    command = [sys.executable, str(program), *verb] + [script] * (verb != ["tap"])
    producer = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) if verb == ["tap"] else None
    process = subprocess.Popen(command, stdin=producer and producer.stdout, env={"PATH": os.defpath, "HOME": str(tmp_path)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (tmp_path / "ready").exists():
        time.sleep(0.05)
    if how == "by another":
        shutil.copy(slim, tmp_path / "new")
        (tmp_path / "new").rename(program)
    else:
        shutil.copy(slim, program)
    (tmp_path / "go").touch()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and b"Traceback" not in err
    assert b"ctx tap: 23.3 KiB kept as run:" in err if producer else err == b"" and b"5,000 lines" in out
    if producer:
        producer.wait()


@pytest.mark.timeout(600)
def test_the_same_inputs_give_the_same_bytes(tmp_path, full, packs, pythons, monkeypatch):
    assert made(tmp_path / "ctx.pyz", packs, "--platform", "linux-x86_64").read_bytes() == full.read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONHASHSEED", "77")
    again = packed(tmp_path / "again", pythons)
    assert {path.name: path.read_bytes() for path in again.iterdir()} == {path.name: path.read_bytes() for path in packs.iterdir()}


@pytest.mark.parametrize("text, date", [("0", (1980, 1, 1)), ("1767225600", (2026, 1, 1)), ("soon", None), ("-1", None), ("", None), ("9" * 20, None)])
def test_the_date_inside(monkeypatch, text, date):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    if date:
        assert build.moment()[:3] == date
    else:
        with pytest.raises(build.Trouble, match="SOURCE_DATE_EPOCH"):
            build.moment()


def test_its_checksum_stands_beside_it(pyz):
    digest, name = Path(str(pyz) + ".sha256").read_text().split()
    assert digest == hashlib.sha256(pyz.read_bytes()).hexdigest() and name == pyz.name


def test_sizes(slim, full):
    """Those of the whole file and the slim one are checked as they are built; one platform takes a fifth of what the packs leave."""
    assert build.LIMITS == {False: 20_000_000, True: 400_000} and slim.stat().st_size <= build.LIMITS[True]
    with zipfile.ZipFile(full) as archive:
        assert len(archive.namelist()) <= 60 and sum(info.compress_size for info in archive.infolist() if info.filename.startswith("vendor/")) <= 3_000_000


def test_a_file_that_grew_too_large_is_no_build(tmp_path, monkeypatch, packs):
    monkeypatch.setattr(build, "LIMITS", {True: 1000})
    monkeypatch.setattr(build, "write_archive", lambda target, *_: target.write_bytes(bytes(1001)))
    with pytest.raises(build.Trouble, match="larger than the 1,000 bytes"):
        build.archive([str(packs), "--slim", "-o", str(tmp_path / "x.pyz")])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_whole_file_has_a_set_for_each_platform(tmp_path, packs):
    """Of one system in one archive, so that what all its platforms have is stored once; it is within its limit, or made() fails."""
    with zipfile.ZipFile(made(tmp_path / "ctx.pyz", packs)) as archive:
        found = set()
        for system in ("linux", "macos"):
            with tarfile.open(fileobj=io.BytesIO(archive.read("vendor/%s.tar.xz" % system))) as tar:
                found |= {name.split("/")[0] for name in tar.getnames() if name.endswith(".so")}
    assert found == set(build.PLATFORMS)


def test_it_lists_its_parts_and_their_licences(full, slim, tmp_path):
    packages, wheels = build.pinned()
    parts = json.loads(start([sys.executable, str(full), "version", "--build", "--json"], tmp_path).stdout)["parts"]
    assert {part["name"]: part["version"] for part in parts} == packages
    assert {wheel: digest for part in parts for wheel, digest in part["wheels"].items()} == wheels
    assert {part["licence"] for part in parts} == {"MIT", "MIT License"}
    texts = start([sys.executable, str(full), "version", "--licenses"], tmp_path).stdout
    assert b"Apache License" in texts and texts.count(b"Permission is hereby granted") >= len(packages)
    assert b"tree-sitter" not in start([sys.executable, str(slim), "version", "--build"], tmp_path).stdout


CODE = "class Box {\n  open (a) {\n    return a\n  }\n}\n" * 3


def outline(pyz, home, python=BASE, **options):
    """The engine that told the outline of a JavaScript file, and how many symbols it found."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    (work / "box.js").write_text(CODE)
    done = start([python, str(pyz), "outline", "box.js", "--json"], options.pop("user", home), cwd=work, **options)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done
    answer = json.loads(done.stdout)
    return answer["engine"].split()[0], answer["total"]


def test_grammars_are_unpacked_for_the_pythons_that_can_use_them(full, slim, pythons, tmp_path):
    for python in pythons:
        version = tuple(int(part) for part in subprocess.check_output([python, "-c", "import sys; print(*sys.version_info[:2])"]).split())
        for _ in range(2):
            assert outline(full, tmp_path, python) == ("tree-sitter" if version >= (3, 10) else "lexical", 6)
        shutil.rmtree(tmp_path / ".local/state/ctx/symbols", ignore_errors=True)
    assert outline(slim, tmp_path / "work", user=tmp_path / "none")[0] == "lexical"


def test_twenty_first_uses_of_a_grammar_at_once(full, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "box.js").write_text(CODE)
    command, env = [BASE, str(full), "outline", "box.js", "--json"], {"PATH": os.defpath, "HOME": str(tmp_path)}
    started = [subprocess.Popen(command, env=env, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(20)]
    ended = [process.communicate(timeout=100) for process in started]
    assert {json.loads(out)["engine"].split()[0] for out, _ in ended} == {"tree-sitter"} and {err for _, err in ended} == {b""}
    assert len(list((tmp_path / ".local/state/ctx/vendored").iterdir())) == 1


def test_a_home_without_room_for_grammars(full, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    engine, count = outline(full, tmp_path, user=closed, env={"TMPDIR": str(closed)})
    assert count == 6 and (engine == "lexical" or os.geteuid() == 0)


@pytest.mark.skipif(not can_mount(), reason="nothing can be mounted here")
@pytest.mark.parametrize("options", ["noexec", "size=1m"])
def test_a_store_where_grammars_cannot_be_loaded_or_kept(full, tmp_path, options):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "box.js").write_text(CODE)
    line = "mount -t tmpfs -o %s none %s && cd %s && exec %s %s outline box.js --json" % (options, home, tmp_path, BASE, full)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home)}
    done = subprocess.run(["unshare", "-m", "sh", "-c", line], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and answer["engine"].split()[0] == "lexical" and answer["total"] == 6


def test_its_place_is_seen_from_the_working_directory(packs, tmp_path):
    done = subprocess.run([TOOLS, str(ROOT / "build.py"), "archive", str(packs), "--slim", "-o", "x.pyz"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 0 and sorted(os.listdir(tmp_path)) == ["x.pyz", "x.pyz.sha256"]


@pytest.mark.parametrize("words", [["--fast"], ["--platform", "amiga", "-o", "x"], ["-o"], ["--slim", "x"]])
def test_what_build_cannot_take(words):
    done = subprocess.run([sys.executable, str(ROOT / "build.py"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    assert done.returncode == 2 and b"linux-x86_64" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("debootstrap"), reason="needs root and debootstrap")
def test_other_systems(full):
    done = subprocess.run([sys.executable, str(ROOT / "tests" / "roots.py"), str(full)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout.decode()
