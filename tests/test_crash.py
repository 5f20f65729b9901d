"""Sections 11 and 12 under kill -9 and a full disk, at every point where that can happen.

`Faults` stands in for the module `posix` inside ctx and counts the calls that change anything in the store. A scenario runs in a
forked process that dies, or whose disk is full, at the first such call, then at the second, and so on, until it gets through; after
each, the store must open, have nothing wrong, and know every handle that was acknowledged. What a process only reads leaves nothing
behind, so these are all the points there are. The tests with random instants do the same to whole processes from outside.
"""

from __future__ import annotations

import io
import os
import posix
import random
import re
import shutil
import signal
import threading
import time

import pytest
from harness import can_mount, program, python, wait_for

import ctx

DAY = 86400
pytestmark = pytest.mark.once

LARGE = b"".join(b"line %d of a large stream\n" % i for i in range(60_000))  # 1.6 MB: hashed as it comes, indexed, compressed
COLD = LARGE[:100_000]  # enough to be compressed
CHANGING = frozenset("open write rename link unlink mkdir utime chmod".split())


class Faults:
    """The module `posix`, until its `at`-th call (from 1) that changes anything below `root`: then it kills this process, or fails
    with `error`, once or from then on. `half` lets that call, if it is a write, write half of its bytes first."""

    def __init__(self, root, at, error=0, forever=False, half=False):
        self.root, self.at, self.error, self.forever, self.half, self.count = str(root), at, error, forever, half, 0

    def __getattr__(self, name):
        real = getattr(posix, name)
        if name not in CHANGING or (name == "unlink" and self.error):  # files can be removed from a full disk
            return real

        def call(*args, **options):
            inside = args[0] > 2 if isinstance(args[0], int) else args[0].startswith(self.root)
            if not inside or (name == "open" and not args[1] & os.O_CREAT):
                return real(*args, **options)
            self.count += 1
            if self.count == self.at or (self.forever and self.count > self.at):
                if self.half and name == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                if not self.error:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(self.error, os.strerror(self.error))
            return real(*args, **options)

        return call


def in_process(box, scenario, faults):
    """Run a scenario in a process of its own, under faults: (wait status, what it said on 1, what it said on 2)."""
    out, err = box.tmp / "out", box.tmp / "err"
    pid = os.fork()
    if not pid:
        status = 86
        try:
            for fd, path in ((1, out), (2, err)):
                os.dup2(os.open(str(path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), fd)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            ctx.posix = faults
            status = scenario() or 0
        except BaseException as error:
            os.write(2, ("DRIVER %r\n" % (error,)).encode())
        finally:
            os._exit(status)
    status = os.waitpid(pid, 0)[1]
    return status, out.read_bytes(), err.read_bytes()


def each_point(box, scenario, check, prepare, **faults):
    """Run a scenario with the fault at one call after another; `check(status, out, err)` looks after each. How many there were."""
    for at in range(1, 1000):
        prepare()
        status, out, err = in_process(box, scenario, Faults(box.store, at, **faults))
        assert b"DRIVER" not in err, (at, err)
        check(status, out, err)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return at
    raise AssertionError("no end")


def fresh(box):
    """Prepare an empty store."""

    def prepare():
        shutil.rmtree(box.store, ignore_errors=True)
        box.inside.prepare()

    return prepare


def settle(box):
    """What the next ctx does: adopt orphans; then doctor must have nothing to say."""
    if box.store.exists():
        box.inside.prepare()
        ctx.adopt_orphans(box.inside)
        assert box.problems() == []
        assert [name for name in box.spooled() if not name.startswith(".tmp-")] == []


def tell(*words):
    """Acknowledge: what is said here must be true for ever."""
    os.write(1, " ".join(map(str, words)).encode() + b"\n")


def kept(store, pieces, argv=("cmd",), names=("stdout", "stderr"), tells=False):
    """Commit a run, in pieces."""
    spool = ctx.Spool(store, {"kind": "run", "argv": list(argv), "cwd": "."}, {"workspace": "/w", "session": ""})
    size = dict.fromkeys(names, 0)
    for name, data in pieces:
        spool.write(name, memoryview(data))
        size[name] += len(data)
        if tells:
            tell(spool.alias, name, size[name])
    run = spool.commit(names, 0, "")
    if tells:
        for name in names:
            tell(run.digest, name, size[name])
    spool.discard()
    return run


PIECES = [("stdout", LARGE[:1000]), ("stderr", b"warning\n" * 100), ("stdout", LARGE[1000:]), ("stderr", b"end\n")]
WHOLE = {"stdout": LARGE, "stderr": b"warning\n" * 100 + b"end\n"}


def check_told(box, out):
    """Every handle that was acknowledged leads to at least the bytes that were there then, and to no other ones."""
    for line in out.decode().splitlines():
        handle, name, size = line.split()
        run = ctx.resolve_run(handle[:12])
        data = box.bytes(run, name)
        assert WHOLE[name].startswith(data) and len(data) >= int(size)
        assert run.partial in ("", "killed")
        if len(handle) == 64:
            assert run.digest == handle and data == WHOLE[name] and not run.partial


def capture(box):
    """A scenario: one run is captured, and acknowledged as it comes."""

    def scenario():
        kept(box.inside, PIECES, tells=True)

    return scenario


def collection(box):
    """A scenario: retention."""

    def scenario():
        ctx.collect(box.inside, 14, ctx.GIB)

    return scenario


# ── kill -9 at every point


@pytest.mark.parametrize("half", [False, True])
def test_a_capture_killed_at_any_call(box, half):
    def check(status, out, err):
        settle(box)
        check_told(box, out)
        assert len(box.names()) <= 1

    points = each_point(box, capture(box), check, fresh(box), half=half)
    assert points > 20


def test_the_capture_of_a_run_that_is_there_already_killed_at_any_call(box):
    def prepare():
        fresh(box)()
        kept(box.inside, PIECES)

    def check(status, out, err):
        settle(box)
        check_told(box, out)
        assert box.bytes(ctx.load_occurrence(box.inside, box.names()[0]), "stdout") == LARGE

    each_point(box, capture(box), check, prepare)


def test_the_making_of_a_store_killed_at_any_call(box):
    def check(status, out, err):
        kept(ctx.writable_store(), PIECES)
        settle(box)
        assert len(box.names()) == 1

    each_point(box, lambda: box.inside.prepare(), check, lambda: shutil.rmtree(box.store, ignore_errors=True))


def test_the_verb_killed_at_any_call(box):
    """The whole of `ctx run`, with its digest and what follows behind it."""

    def check(status, out, err):
        settle(box)
        for handle in re.findall(rb"run:([0-9a-f]{12})\b(?=[ #\]])", out):
            assert box.bytes(handle.decode(), "stdout") == b"".join(b"%d\n" % i for i in range(1, 4001))

    each_point(box, lambda: ctx.main(["run", "--", "seq", "4000"]), check, fresh(box))


def test_an_adoption_killed_at_any_call(box):
    template = box.tmp / "template"
    fresh(box)()
    spool = ctx.Spool(box.inside, {"kind": "run", "argv": ["x"], "cwd": "."}, {"workspace": "/w", "session": ""})
    for name, data in PIECES:
        spool.write(name, memoryview(data))
    shutil.copytree(box.store, template)

    def prepare():
        shutil.rmtree(box.store)
        shutil.copytree(template, box.store)

    def check(status, out, err):
        settle(box)
        assert len(box.names()) == 1
        run = ctx.resolve_run(spool.alias)
        assert run.partial == "killed" and run.status is None
        assert {name: box.bytes(run, name) for name in WHOLE} == WHOLE
        assert box.spooled() == []

    each_point(box, lambda: ctx.adopt_orphans(box.inside) * 0, check, prepare)


def make_old(box, seconds):
    for base, _, names in os.walk(str(box.store)):
        for name in names:
            path = os.path.join(base, name)
            os.utime(path, (time.time() - seconds,) * 2)


@pytest.mark.parametrize("half", [False, True])
def test_a_collection_killed_at_any_call(box, half):
    template = box.tmp / "template"
    fresh(box)()
    old = kept(box.inside, [("stdout", COLD), ("stderr", b"old\n")], ["old"])
    pinned = kept(box.inside, [("stdout", COLD), ("stderr", b"pinned\n")], ["pinned"])
    ctx.write_atomic("%s/pins/%s" % (box.inside.root, pinned.digest[:12]), b"")
    box.inside.put(b"garbage\n" * 5000)
    make_old(box, 20 * DAY)
    cold = kept(box.inside, [("stdout", COLD + b"cold\n"), ("stderr", b"cold\n")], ["cold"])
    census = ctx.keep_derived(cold, b"census\n" * 20_000)
    make_old(box, 2 * DAY)
    for name in box.names():
        if name.endswith(old.digest[:12]) or name.endswith(pinned.digest[:12]):
            os.utime(str(box.store / "runs" / name), (time.time() - 20 * DAY,) * 2)
    shutil.copytree(box.store, template)

    def prepare():
        shutil.rmtree(box.store)
        shutil.copytree(template, box.store)

    def check(status, out, err):
        settle(box)
        assert box.bytes(pinned.digest[:12], "stdout") == COLD and box.bytes(pinned.digest[:12], "stderr") == b"pinned\n"
        assert box.bytes(cold.digest[:12], "stdout") == COLD + b"cold\n"
        assert ctx.resolve_blob(census[:12])[1] == census and box.inside.source(census).size == 140_000
        done = ctx.collect(box.inside, 14, ctx.GIB)
        assert box.problems() == [] and box.bytes(cold.digest[:12], "stdout") == COLD + b"cold\n"
        with pytest.raises(ctx.CtxError):
            ctx.resolve_run(old.digest[:12])
        assert done["bytes"] >= 0

    each_point(box, collection(box), check, prepare, half=half)


def test_an_import_killed_at_any_call(box, tmp_path):
    elsewhere = ctx.Store(str(tmp_path / "elsewhere"))
    elsewhere.prepare()
    run = kept(elsewhere, PIECES)
    out = io.BytesIO()
    ctx.export_runs([run], out, True, print)
    data = out.getvalue()

    def scenario():
        ctx.import_runs(box.inside, io.BytesIO(data))
        tell(run.digest, "stdout", len(LARGE))

    def check(status, out, err):
        settle(box)
        check_told(box, out)
        assert ctx.import_runs(box.inside, io.BytesIO(data)) == [run.handle]
        assert box.bytes(run.digest[:12], "output").startswith(LARGE[:1000] + b"warning")

    each_point(box, scenario, check, fresh(box))


def test_the_keeping_of_a_census_killed_at_any_call(box):
    runs = []

    def prepare():
        fresh(box)()
        runs[:] = [kept(box.inside, PIECES)]

    def scenario():
        tell(ctx.keep_derived(runs[0], b"census\n" * 1000))

    def check(status, out, err):
        settle(box)
        make_old(box, DAY)
        ctx.collect(box.inside, 14, ctx.GIB)
        for digest in out.decode().split():
            assert box.inside.source(digest).size == 7000
        check_told(box, b"%s stdout 5\n" % runs[0].digest.encode())

    each_point(box, scenario, check, prepare)


# ── a disk that is full from some point on, or an error that passes


@pytest.mark.parametrize("number, forever", [(28, True), (28, False), (5, True), (5, False)])
def test_a_capture_whose_store_fails_at_any_call(box, number, forever):
    """ENOSPC or EIO at any call that writes: output and status are as without ctx, or there is a digest and all is kept."""
    whole = b"".join(b"%d\n" % i for i in range(1, 4001))
    seen = set()

    def check(status, out, err):
        assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3, (status, err)
        if out.startswith(b"[ctx run:"):
            settle(box)
            assert box.bytes(out[9:21].decode(), "stdout") == whole
            assert err == b""
            seen.add("digest")
        else:
            assert out == whole and err.count(b"\n") == 1 and b"ctx run: " in err
            settle(box)
            seen.add("passed")
        if box.store.exists():
            kept(box.inside, PIECES)
            settle(box)

    for at in range(1, 40):
        fresh(box)()
        (box.tmp / ("ctx-%d" % os.getuid())).write_text("")  # no way out to the temporary directory
        faults = Faults(box.store, at, number, forever)
        check(*in_process(box, lambda: ctx.main(["run", "--", "sh", "-c", "seq 4000; exit 3"]), faults))
    assert seen == {"digest", "passed"}


# ── kill -9 at random instants, from outside

TALKER = (
    "import os, sys, time\n"
    "for i in range(int(sys.argv[2])):\n"
    "    os.write(1, b'%s out %d %s\\n' % (sys.argv[1].encode(), i, b'x' * 60))\n"
    "    os.write(2, b'%s err %d\\n' % (sys.argv[1].encode(), i))\n"
    "    time.sleep(0.01)\n"
)
SHORT, LONG = 150, 6000  # lines: what ends about when it is killed, and what never gets so far


def talk(name, count):
    out = b"".join(b"%s out %d %s\n" % (name, i, b"x" * 60) for i in range(count))
    return {"stdout": out, "stderr": b"".join(b"%s err %d\n" % (name, i) for i in range(count))}


def killed_at_random(box, count, seed):
    """Kill half of the captures at some time around their end, and half some time after they have told their handle."""
    box.config("[budget]\nhold = 1\n")
    rng = random.Random(seed)
    outputs: dict = {}

    def victim(i, process, moment):
        outputs[i] = process.stdout.readline() if i % 2 else b""
        time.sleep(moment)
        process.kill()
        outputs[i] += process.stdout.read()
        process.communicate()

    for batch in range(0, count, 8):
        threads = []
        for i in range(batch, min(batch + 8, count)):
            process = box.start("run", "--", *python(TALKER, "run%d" % i, str(LONG if i % 2 else SHORT)))
            threads.append(
                threading.Thread(target=victim, args=(i, process, rng.uniform(0.0, 0.8) if i % 2 else rng.uniform(0.1, 2.6)))
            )
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        for i in range(batch, min(batch + 8, count)):
            handles = re.findall(rb"^\[ctx run:([0-9a-f]{12}) ", outputs[i], re.M)
            assert handles or not i % 2
            for handle in handles:
                run = ctx.resolve_run(handle.decode())
                for name, data in talk(b"run%d" % i, LONG if i % 2 else SHORT).items():
                    got = box.bytes(run, name)
                    assert data.startswith(got) and (got == data or run.partial == "killed")
        assert box.run(["echo", "next"]).stdout == b"next\n"  # adopts them
        assert box.problems() == [] and [name for name in box.spooled() if not name.startswith(".tmp-")] == []
    runs = [ctx.load_occurrence(box.inside, name) for name in box.names()]
    killed = [run for run in runs if run.partial == "killed"]
    assert len(killed) >= count // 2
    for run in killed:
        name, lines = run.manifest["argv"][-2:]
        for stream, data in talk(name.encode(), int(lines)).items():
            assert data.startswith(box.bytes(run, stream))


def test_captures_killed_at_random_instants(box):
    killed_at_random(box, 40, 20261130)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_captures_killed_at_many_random_instants(box):
    killed_at_random(box, 240, 2)


def collections_killed_at_random(box, count, seed):
    rng = random.Random(seed)
    box.inside.prepare()
    for i in range(6):
        kept(box.inside, [("stdout", LARGE + b"%d" % i), ("stderr", b"x\n")], [str(i)])
    for i in range(count):
        kept(box.inside, [("stdout", LARGE + b"new %d" % i), ("stderr", b"x\n")], ["new", str(i)])
        make_old(box, 2 * DAY)
        for name in box.names()[:1] if i % 5 == 0 else []:
            os.utime(str(box.store / "runs" / name), (time.time() - 20 * DAY,) * 2)
        process = box.start("gc")
        time.sleep(rng.uniform(0.0, 0.6))
        process.kill()
        process.communicate()
        assert box.problems() == []
    for name in box.names():
        run = ctx.load_occurrence(box.inside, name)
        wanted = LARGE + " ".join(run.manifest["argv"]).encode()
        assert box.bytes(run, "stdout") == wanted
    assert box.ctx("gc").returncode == 0 and box.problems() == []


def test_collections_killed_at_random_instants(box):
    collections_killed_at_random(box, 15, 3)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_collections_killed_at_many_random_instants(box):
    collections_killed_at_random(box, 200, 4)


# ── what is left behind


def test_an_orphan_is_found_before_and_after_its_adoption(box):
    box.config("[budget]\nhold = 1\n")
    process = box.start("run", "--", *python("import time\nfor i in range(2000): print('line', i, flush=True)\ntime.sleep(600)"))
    line = process.stdout.readline()
    alias = line[9:21].decode()
    process.kill()
    process.wait()
    shown = box.ctx("get", "run:%s#output" % alias, "--tail", "1")
    assert shown.stdout == b"line 1999\n" and b"killed" in shown.stderr
    assert b"killed" in box.ctx("get", "run:%s#stdout" % alias).stderr
    box.run(["true"])
    run = ctx.resolve_run(alias)
    assert run.partial == "killed" and run.status is None
    assert box.bytes(run, "stdout").endswith(b"line 1999\n") and box.spooled() == []
    digest = box.ctx("get", "run:" + alias)
    assert digest.returncode == 0 and b"partial" in digest.stdout
    process.communicate()


def test_a_live_run_is_not_adopted(box):
    source = "import time\nfor i in range(2000): print('line', i, flush=True)\nopen('said', 'w')\ntime.sleep(600)"
    process = box.start("run", "--", *python(source))
    wait_for(lambda: (box.work / "said").exists())
    for _ in range(3):
        box.run(["true"])
        assert box.ctx("gc").returncode == 0
    assert len(box.spooled()) == 2 and ctx.adopt_orphans(box.inside) == 0
    process.terminate()
    process.communicate()
    partial = [ctx.load_occurrence(box.inside, name).partial for name in box.names()]
    assert box.spooled() == [] and partial == ["interrupted", "", "", ""]


def test_an_orphan_without_output_leaves_nothing(box):
    box.inside.prepare()
    spool = ctx.Spool(box.inside, {"kind": "run", "argv": [], "cwd": "."}, {"workspace": "/w", "session": ""})
    spool.open()
    os.close(spool.meta)
    assert ctx.adopt_orphans(box.inside) == 0 and box.spooled() == [] and box.names() == []


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount in a namespace of its own")
def test_many_runs_on_a_file_system_that_fills_up(box):
    """4 MB, a first writer, then five at once, then a collection: whoever got a digest finds the bytes, all others saw their output.

    Five at once may all find it full; the first alone fits, and all together never do."""
    box.store.mkdir()
    script = (
        "mount -t tmpfs -o size=4m tmpfs %s; mount -t tmpfs -o ro tmpfs %s\n" % (box.store, box.tmp)
        + '"$@" run -- seq 10000 99999 > out.0.0 2> err.0.0\n'
        + "for round in 1 2 3; do for i in 1 2 3 4 5; do\n"
        + '  "$@" run -- seq ${i}0000 ${i}99999 > out.$round.$i 2> err.$round.$i &\n'
        + "done; wait; done\n"
        + '"$@" doctor --store > doctor; "$@" gc; "$@" doctor --store >> doctor\n'
        + 'for file in out.*; do case $(head -c 9 $file) in "[ctx run:") h=$(head -c 21 $file | tail -c 12)\n'
        + '  "$@" get run:$h#stdout --all > got.${file#out.} 2> goterr.${file#out.};; esac; done\n'
    )
    done = box.plain(["unshare", "-m", "sh", "-c", script, "sh", *program()], timeout=110)
    assert b"Traceback" not in done.stderr
    digests = passed = 0
    for turn, i in [(0, 0), *((turn, i) for turn in (1, 2, 3) for i in (1, 2, 3, 4, 5))]:
        out, err = ((box.work / ("%s.%d.%d" % (name, turn, i))).read_bytes() for name in ("out", "err"))
        whole = b"".join(b"%d\n" % n for n in range(max(i, 1) * 10000, i * 100000 + 100000))
        if out.startswith(b"[ctx run:"):
            digests += 1
            assert (box.work / ("got.%d.%d" % (turn, i))).read_bytes() == whole
        else:
            passed += 1
            assert out == whole and b"nothing is kept" in err and err.count(b"\n") == 1
    report = (box.work / "doctor").read_text()
    assert digests and passed and "damaged" not in report and "missing" not in report


def test_the_driver_itself_kills(box):
    status, _, _ = in_process(box, box.inside.prepare, Faults(box.store, 3))
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    status, _, err = in_process(box, box.inside.prepare, Faults(box.store, 3, 28))
    assert os.WEXITSTATUS(status) == 86 and b"No space" in err
