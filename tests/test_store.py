"""Section 11: blobs, runs, retention, other machines. What is damaged is reported and never returned as good."""

from __future__ import annotations

import gzip
import io
import json
import os
import posix
import random
import shutil
import subprocess
import tarfile
import threading
import time

import pytest
from harness import program
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx

HOUR, DAY = 3600, 86400


@pytest.fixture
def store(box):
    box.inside.prepare()
    return box.inside


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A store for properties, which share it."""
    store = ctx.Store(str(tmp_path_factory.mktemp("shared") / "store"))
    store.prepare()
    return store


def keep(store, streams, status=0, argv=("cmd",), partial="", kind="run", record=None, limit=ctx.RUN_LIMIT):
    """Commit a run with these streams: {name: bytes or list of bytes}, or a list of (name, bytes) in order of arrival."""
    spool = ctx.Spool(store, {"kind": kind, "argv": list(argv), "cwd": "."}, record or {"workspace": "/w", "session": ""}, limit)
    pieces = streams if isinstance(streams, list) else [(name, data) for name, data in streams.items()]
    for name, data in pieces:
        spool.write(name, memoryview(data))
    names = ["output"] if any(name == "output" for name, _ in pieces) else ["stdout", "stderr"]
    run = spool.commit(names, status, partial)
    spool.discard()
    return run


def data_of(run, name="output"):
    source = run.source(name)
    return source.read(0, source.size)


def age(path, seconds):
    """Make a file older."""
    info = os.stat(path)
    os.utime(path, (info.st_atime - seconds, info.st_mtime - seconds))


def age_all(store, seconds):
    """Make everything in a store older."""
    for folder in ("objects", "runs", "spool"):
        for base, _, names in os.walk(os.path.join(store.root, folder)):
            for name in names:
                age(os.path.join(base, name), seconds)


def collected(store, days=14, quota=ctx.GIB, compress=-1):
    return ctx.collect(store, days, quota, compress)


def error_of(call, *words):
    with pytest.raises(ctx.CtxError) as caught:
        call(*words)
    assert caught.value.exit_code == 2 and caught.value.fix
    return str(caught.value)


# over 4 MiB, so it has an index, and is not hashed at each reading
LARGE = b"".join(b"line %d of a large stream\n" % i for i in range(250_000))
MIDDLE = LARGE[: 2 * ctx.MIB]
SMALL = b"one\ntwo\nthree\n"


# ── blobs


@given(st.binary(max_size=5000))
def test_what_is_put_is_got(shared, data):
    digest = shared.put(data)
    assert digest == shared.put(data)
    source = shared.source(digest, len(data))
    assert source.read(0, source.size) == data and source.size == len(data)
    assert shared.blobs(digest[:6]) == [digest] if data else digest == ctx.EMPTY


@given(st.integers(0, 300_000), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_what_is_captured_is_got_however_it_arrives(shared, size, rng):
    data, at = rng.getrandbits(8 * size + 8).to_bytes(size + 1, "big")[:size], 0
    spool = ctx.Spool(shared, {"kind": "run", "argv": [], "cwd": "."}, {"workspace": "/w", "session": ""})
    while at < size:
        step = rng.randrange(1, 100_000)
        spool.write("output", memoryview(data[at : at + step]))
        at += step
    run = spool.commit(["output"], 0, "")
    spool.discard()
    assert data_of(run) == data


def test_equal_bytes_are_kept_once_and_equal_evidence_is_one_run(store):
    first, again = keep(store, {"output": LARGE}), keep(store, {"output": LARGE})
    other = keep(store, {"output": LARGE}, status=1)
    assert first.digest == again.digest != other.digest
    assert len(store.occurrences()) == 3
    blobs = [digest for folder in ctx.list_dir(store.root + "/objects") for digest in store.blobs(folder)]
    assert len(blobs) == 3  # the stream, two manifests


def test_what_is_committed_again_is_young_again(store):
    """No collection that began before the commit may take it."""
    keep(store, [("stdout", LARGE), ("stderr", SMALL)])
    age_all(store, 20 * DAY)
    run = keep(store, [("stdout", LARGE), ("stderr", SMALL)])
    for digest in (run.digest, *(digest for digest, _ in run.manifest["streams"].values())):
        assert time.time() - os.stat(store.path(digest)).st_mtime < DAY
        assert ctx.delete_blob(store, digest) == 0


def test_a_file_may_be_put_twice(store):
    path = store.root + "/spool/file"
    ctx.write_atomic(path, SMALL)
    for _ in range(2):
        store.put_file(path, ctx.sha256(SMALL).hexdigest())
    assert store.source(ctx.sha256(SMALL).hexdigest()).size == len(SMALL) and os.path.exists(path)
    assert not [name for _, _, names in os.walk(store.root) for name in names if ".tmp-" in name]


def test_files_are_for_nobody_else(store):
    keep(store, {"output": SMALL})
    for base, folders, names in os.walk(store.root):
        assert all(os.stat(os.path.join(base, name)).st_mode & 0o777 == 0o700 for name in folders)
        assert all(os.stat(os.path.join(base, name)).st_mode & 0o077 == 0 for name in names)
    blobs = [digest for folder in ctx.list_dir(store.root + "/objects") for digest in store.blobs(folder)]
    assert all(os.stat(store.path(digest)).st_mode & 0o777 == 0o400 for digest in blobs)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o027])
def test_the_mask_opens_nothing(box, umask):
    old = os.umask(umask)
    try:
        box.inside.prepare()
        keep(box.inside, {"output": SMALL})
    finally:
        os.umask(old)
    test_files_are_for_nobody_else(box.inside)


def test_a_link_less_file_system_will_do(store, monkeypatch):
    class Linkless:
        """The module posix on a file system without hard links."""

        def __getattr__(self, name):
            return getattr(posix, name)

        def link(self, *_):
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(ctx, "posix", Linkless())
    run = keep(store, [("stdout", LARGE), ("stderr", SMALL), ("stdout", b"end\n")])
    again = keep(store, [("stderr", SMALL), ("stdout", LARGE), ("stdout", b"end\n")])
    assert again.digest == run.digest and data_of(run, "stdout") == LARGE + b"end\n"
    assert data_of(again, "output") == LARGE + SMALL + b"end\n"  # the first order stays
    assert ctx.verify_store(store)[1] == [] and ctx.list_dir(store.root + "/spool") == []
    assert not [name for base, _, names in os.walk(store.root) for name in names if ".tmp-" in name]


# ── lines


def naive_counts(data):
    counts = [data.count(b"\n", 0, at) for at in range(0, len(data), ctx.BLOCK)]
    return counts + [data.count(b"\n")]


def at_borders(rng, size):
    """Text whose LFs stand around the borders of blocks."""
    data = bytearray(b"x" * size)
    for border in range(0, size + 1, ctx.BLOCK):
        for at in range(border - 2, border + 3):
            if 0 <= at < size and rng.random() < 0.5:
                data[at] = 10
    for _ in range(rng.randrange(50)):
        data[rng.randrange(size)] = 10
    return bytes(data)


@pytest.mark.once
@given(st.integers(-2, 2), st.integers(16, 24), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_a_line_index_counts_as_one_counts_by_hand(shared, off, blocks, rng):
    data = at_borders(rng, blocks * ctx.BLOCK + off)
    digest = shared.put(data)
    for _ in range(2):  # counted, then read back
        source = shared.source(digest)
        assert list(source.counts) == naive_counts(data)
        lines = data.split(b"\n")
        assert source.lines == len(lines) - (not lines[-1])
        for number in (1, 2, len(lines) // 2, len(lines) - 1):
            if number:
                assert source.line(number) == lines[number - 1]
    assert os.path.exists(shared.path(digest) + ".lines") == (len(data) >= ctx.INDEX_FROM)


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "garbage", "other size"])
def test_a_damaged_index_is_made_anew(store, harm):
    run = keep(store, {"output": LARGE})
    good = list(run.source("output").counts)
    path = store.path(run.manifest["streams"]["output"][0]) + ".lines"
    data = bytearray(ctx.read_file(path))
    if harm == "flip":
        data[-20] ^= 1
    os.chmod(path, 0o600)
    other = data.replace(b" %d " % len(LARGE), b" 1234567 ")
    with open(path, "wb") as file:
        file.write({"flip": data, "cut": data[:-8], "empty": b"", "garbage": b"x" * len(data), "other size": other}[harm])
    assert list(run.source("output").counts) == good
    assert list(run.source("output").counts) == good


# ── two streams

PIECES = st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(min_size=1, max_size=300)), max_size=60)


@given(PIECES, st.integers(0, 10_000), st.integers(0, 10_000))
def test_two_streams_are_read_in_the_order_in_which_they_arrived(shared, pieces, start, end):
    # the order belongs to the run, and the first record of it stays: so no two of these runs may be the same
    argv = [ctx.urandom_hex()]
    run = keep(shared, pieces, argv=argv)
    whole = b"".join(data for _, data in pieces)
    assert data_of(run) == whole
    assert data_of(run, "stdout") == b"".join(data for name, data in pieces if name == "stdout")
    source = run.source("output")
    start, end = sorted((start % (len(whole) + 1), end % (len(whole) + 1)))
    assert source.read(start, end) == whole[start:end] and source.read(start, len(whole) + 9) == whole[start:]
    assert source.lines == whole.count(b"\n") + (not whole.endswith(b"\n") and bool(whole))


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1 << 40))))
def test_the_order_of_arrival_packs_and_unpacks(segments):
    packed = b"".join(ctx.pack_segment(which, length) for which, length in segments)
    assert list(ctx.unpack_order(packed)) == segments
    for cut in range(1, min(4, len(packed))):
        assert list(ctx.unpack_order(packed[:-cut])) == segments[: len(list(ctx.unpack_order(packed[:-cut])))]


def test_an_order_from_a_stranger_is_harmless():
    started = time.process_time()
    for data in (b"\x80" * 1_000_000, b"\xff" * 300 + b"\x01", b""):
        assert all(length < 1 << 70 for _, length in ctx.unpack_order(data))
    assert time.process_time() - started < 30


def test_the_first_order_stays(store):
    first = keep(store, [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")])
    again = keep(store, [("stderr", b"b\n"), ("stdout", b"a\nc\n")])
    assert first.digest == again.digest and data_of(again) == b"a\nb\nc\n"


def test_without_its_order_a_run_shows_one_stream_after_the_other(store):
    run = keep(store, [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")])
    os.remove(store.path(run.digest) + ".order")
    assert data_of(run) == b"a\nc\nb\n"


def test_the_record_of_the_order_is_bounded(store):
    spool = ctx.Spool(store, {"kind": "run", "argv": [], "cwd": "."}, {"workspace": "/w", "session": ""})
    for i in range(600_000):
        spool.arrived(i % 2, 1)
    assert len(spool.order) <= ctx.ORDER_LIMIT + 10


# ── damage: reported, never returned as good, healed by the same command


def harm(path, how):
    os.chmod(path, 0o600)
    data = bytearray(ctx.read_file(path))
    if how == "missing":
        os.remove(path)
        return
    if how == "flipped":
        data[len(data) // 2] ^= 0x20
    with open(path, "wb") as file:
        file.write({"flipped": data, "truncated": data[: len(data) // 2], "empty": b"", "longer": data + b"more\n"}[how])


@pytest.mark.once
@pytest.mark.parametrize("how", ["missing", "flipped", "truncated", "empty", "longer"])
@pytest.mark.parametrize("size", ["small", "middle", "large", "large and indexed", "manifest", "cold"])
def test_a_damaged_blob_is_reported_never_returned_and_healed_by_the_next_run(box, store, how, size):
    data = {"small": SMALL, "middle": MIDDLE, "manifest": SMALL}.get(size, LARGE)
    run = keep(store, {"output": data})
    digest = run.digest if size == "manifest" else run.manifest["streams"]["output"][0]
    path = store.path(digest)
    if size == "large and indexed":
        assert run.source("output").lines == 250_000
    if size == "cold":
        age_all(store, 2 * DAY)
        assert collected(store)["compressed"] == len(LARGE)
        path += ".z"
    harm(path, how)
    if (size, how) == ("cold", "longer"):  # what was stored is all there
        assert data_of(run) == data
        return
    if size == "manifest":
        problem = error_of(ctx.resolve_run, run.digest[:12])
    else:
        problem = error_of(ctx.resolve_run(run.digest[:12]).source, "output")
    assert ("damaged" in problem) or (how == "missing" and "not in the store" in problem)
    assert [line for line in ctx.verify_store(store)[1] if digest[:12] in line]
    done = box.ctx("get", "run:%s#output" % run.digest[:12], "--all")
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\n") == 1
    assert box.ctx("doctor", "--store").returncode == 1
    again = keep(store, {"output": data})
    assert again.digest == run.digest and data_of(ctx.resolve_run(run.digest[:12])) == data
    if size != "cold":  # there the damaged compressed bytes lie behind the good ones
        assert ctx.verify_store(store)[1] == []


def test_a_blob_that_cannot_be_read_is_not_called_missing(store, monkeypatch):
    run = keep(store, {"output": SMALL})

    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(ctx, "open_file", refuse)
    assert "Permission denied" in error_of(run.source, "output")


def test_a_damaged_run_in_one_root_is_read_from_another(box, store):
    spare = ctx.Store(ctx.temp_root())
    spare.prepare()
    keep(spare, {"output": SMALL})
    time.sleep(0.002)
    run = keep(store, {"output": SMALL})
    harm(store.path(run.digest), "truncated")
    assert data_of(ctx.resolve_run(run.digest[:12])) == SMALL


def test_a_manifest_that_is_none_is_damage(store):
    good = keep(store, {"output": SMALL}).manifest
    stream = good["streams"]["output"]
    streams = [
        {"output": ["../../../../etc/passwd", 5]},
        {"other": stream},
        {"output": stream[:1] + ["5"]},
        {"stderr": stream},
        {},
        [],
    ]
    wrong = [[], 1, None, {}, {"streams": {}}, *(dict(good, streams=value) for value in streams)]
    for key, values in {
        "argv": [[1], "x"],
        "exit": ["0", True],
        "partial": [5],
        "gaps": [[], {"output": {}}],
        "kind": [None],
    }.items():
        wrong += [dict(good, **{key: value}) for value in values]
    for value in wrong:
        digest = store.put(ctx.to_json(value).encode())
        assert "damaged" in error_of(ctx.read_manifest, store, digest)
    assert ctx.is_manifest(good)


def test_a_manifest_that_lies_about_a_size_is_damage(store):
    good = keep(store, {"output": SMALL}).manifest
    lie = dict(good, streams={"output": [good["streams"]["output"][0], len(SMALL) + 1]})
    run = ctx.read_manifest(store, store.put(ctx.to_json(lie).encode()))
    assert "damaged" in error_of(run.source, "output")


# ── addresses: found, ambiguous, collected, never captured


def plant(store, alias, run, when="20261130T120000000"):
    """An occurrence of that name, without a run."""
    ctx.write_atomic("%s/runs/%s-%s-%s" % (store.root, when, alias, run), b"torn")


def test_four_different_answers(store):
    run = keep(store, {"output": SMALL})
    handle = run.digest[:12]
    for length in range(6, 13):
        assert ctx.resolve_run(handle[:length]).digest == run.digest
    assert ctx.resolve_run(run.digest).digest == run.digest
    assert ctx.resolve_run(run.alias).digest == run.digest
    plant(store, "aaaaaaaaaaaa", handle[:6] + "ffffff")
    text = error_of(ctx.resolve_run, handle[:6])
    assert "ambiguous" in text and handle in text and handle[:6] + "ffffff" in text
    assert ctx.resolve_run(handle).digest == run.digest
    never = "%012x" % (int(handle, 16) ^ (1 << 47))
    assert "never captured" in error_of(ctx.resolve_run, never)
    assert "never captured" in error_of(ctx.resolve_run, run.digest[:20] + ("0" if run.digest[20] != "0" else "1"))
    age_all(store, 15 * DAY)
    assert collected(store)["runs"] == 2
    assert "collected" in error_of(ctx.resolve_run, handle)
    assert "collected" in error_of(ctx.resolve_run, handle[:8])
    assert "collected" in error_of(ctx.resolve_run, run.alias)
    assert "never captured" in error_of(ctx.resolve_run, never)


def test_four_answers_for_a_blob(store):
    run = keep(store, {"output": SMALL})
    digest = run.manifest["streams"]["output"][0]
    for length in (6, 12, 64):
        assert ctx.resolve_blob(digest[:length])[1] == digest
    other = digest[:6] + "f" * 58
    os.link(store.path(digest), store.path(other))
    text = error_of(ctx.resolve_blob, digest[:6])
    assert "ambiguous" in text and other[:12] in text
    os.remove(store.path(other))
    assert "never captured" in error_of(ctx.resolve_blob, "0" * 12)
    age_all(store, 15 * DAY)
    assert collected(store)["blobs"] == 2
    assert "collected" in error_of(ctx.resolve_blob, digest[:12])


def test_the_command_line_gives_the_same_answers(box, store):
    run = keep(store, {"output": SMALL})
    assert box.ctx("get", "run:%s#output" % run.digest[:8]).stdout == SMALL
    assert b"never captured" in box.ctx("get", "run:012345678901").stderr
    plant(store, "bbbbbbbbbbbb", run.digest[:6] + "eeeeee")
    assert b"ambiguous" in box.ctx("get", "run:" + run.digest[:6]).stderr
    age_all(store, 15 * DAY)
    assert box.ctx("gc").returncode == 0
    gone = box.ctx("get", "run:" + run.digest[:12])
    assert gone.returncode == 2 and b"collected" in gone.stderr and gone.stderr.count(b"\n") == 1


def test_every_root_is_read(box, store):
    spare = ctx.Store(ctx.temp_root())
    spare.prepare()
    run = keep(spare, {"output": SMALL})
    assert data_of(ctx.resolve_run(run.digest[:12])) == SMALL
    assert [place.root for place in ctx.stores()] == [store.root, spare.root]


def test_a_live_run_is_found_before_and_after_it_ends(store):
    spool = ctx.Spool(store, {"kind": "run", "argv": ["x"], "cwd": "."}, {"workspace": "/w", "session": ""})
    spool.write("stdout", memoryview(SMALL))
    live = ctx.resolve_run(spool.alias[:8])
    assert live.partial == "running" and live.status is None and live.streams == ["stdout", "stderr"]
    assert data_of(live, "stdout") == SMALL and data_of(live, "stderr") == b"" and data_of(live) == SMALL
    spool.write("stdout", memoryview(SMALL))
    assert data_of(live) == SMALL * 2
    run = spool.commit(["stdout", "stderr"], 0, "")
    assert ctx.resolve_run(spool.alias).digest == run.digest  # both are there now
    spool.discard()
    assert data_of(live) == SMALL * 2 and data_of(live, "stderr") == b""  # held by one who found it before
    plant(store, "cccccccccccc", "dddddddddddd")
    other = ctx.Spool(store, {"kind": "run", "argv": ["x"], "cwd": "."}, {"workspace": "/w", "session": ""})
    other.alias = "cccccccccccd"
    other.write("output", memoryview(SMALL))
    assert "ambiguous" in error_of(ctx.resolve_run, "cccccccc") and data_of(ctx.resolve_run("cccccccccccd")) == SMALL
    other.discard()


# ── occurrences


@pytest.mark.parametrize("torn", [b"", b"{", b'{"run":', b"\x00" * 100, b"[]", b"null", b'{"run":5}', b"\xff\xfe", b"[" * 50_000])
def test_a_torn_occurrence_loses_its_circumstances_but_not_its_run(box, store, torn):
    run = keep(store, [("stdout", SMALL), ("stderr", b"x\n")])
    name = store.occurrences()[-1]
    ctx.write_atomic("%s/runs/%s" % (store.root, name), torn)
    for word in (run.digest[:12], run.alias):
        assert data_of(ctx.resolve_run(word), "stdout") == SMALL
    assert box.ctx("runs", "--all").returncode == 0
    assert [line for line in ctx.verify_store(store)[1] if "torn" in line]
    age_all(store, DAY)
    assert collected(store) == {"runs": 0, "blobs": 0, "bytes": 0, "compressed": 0}
    assert data_of(ctx.resolve_run(run.digest[:12]), "stderr") == b"x\n"


@pytest.mark.once
def test_garbage_in_the_store_is_passed_over(box, store):
    run = keep(store, {"output": SMALL}, record={"workspace": str(box.work), "session": ""})
    for name in ("", "x", "a-b-c", ".tmp-123", "20261130T120000000-aaaaaaaaaaaa-bbbbbbbbbbbb", "é-ü-ß", "x" * 44):
        if name:
            (box.store / "runs" / name).write_bytes(b"garbage")
    for name in ("x", "zz", ".tmp-x"):
        (box.store / "objects" / name).write_bytes(b"garbage")
    (box.store / "objects" / "ab").mkdir(exist_ok=True)
    (box.store / "objects" / "ab" / "short").write_bytes(b"garbage")
    (box.store / "spool" / "half.meta").write_bytes(b"{")
    (box.store / "spool" / "lost.stdout").write_bytes(b"{")
    (box.store / "pins" / "not a run").write_bytes(b"")
    (box.store / "journal").write_bytes(b"\xff\xfe\n" + b"x" * 100 + b"\ntorn")
    assert data_of(ctx.resolve_run(run.digest[:12])) == SMALL
    assert "never captured" in error_of(ctx.resolve_run, "012345678901")
    for words in (("runs", "--all"), ("gc",), ("search", "two"), ("get", run.handle)):
        done = box.ctx(*words)
        assert done.returncode == 0, (words, done.stderr)
    assert b"internal" not in box.ctx("doctor").stderr
    assert ctx.last_run()[0].digest == run.digest


def test_a_torn_last_line_of_the_journal_is_left_out(store):
    run = keep(store, {"output": SMALL})
    with open(store.root + "/journal", "ab") as file:
        file.write(b"collected-0123456789")
    assert len(store.journal()) == 1
    assert "never captured" in error_of(ctx.resolve_run, "0123456789")
    assert ctx.resolve_run(run.digest[:12])
    os.remove(store.root + "/journal")
    assert ctx.resolve_run(run.digest[:12]) and "never" in error_of(ctx.resolve_run, "0123456789")


@pytest.mark.once
def test_a_long_journal_is_shortened(store):
    with open(store.root + "/journal", "w") as file:
        file.write("".join("line %d\n" % i for i in range(500_000)))
    ctx.shorten_journal(store)
    lines = store.journal()
    assert len(lines) == 250_000 and lines[-1] == "line 499999"


def test_the_last_run_is_that_of_the_session_then_of_the_workspace(box, store, monkeypatch):
    here = {"workspace": str(box.work), "session": ""}
    assert "--last" in error_of(ctx.last_run)
    first = keep(store, {"output": b"1"}, record=here)
    time.sleep(0.002)
    keep(store, {"output": b"2"}, record={"workspace": "/elsewhere", "session": "me"})
    assert (ctx.last_run()[0].digest, ctx.last_run()[1]) == (first.digest, "workspace")
    monkeypatch.setitem(posix.environ, b"CTX_SESSION", b"me")
    time.sleep(0.002)
    keep(store, {"output": b"3"}, record=here)
    run, scope = ctx.last_run()
    assert (data_of(run), scope) == (b"2", "session")
    monkeypatch.setitem(posix.environ, b"CTX_SESSION", b"other")
    assert data_of(ctx.last_run()[0]) == b"3"


# ── retention


def test_runs_go_by_age_and_their_blobs_with_them(store):
    old, new = keep(store, {"output": LARGE}), keep(store, {"output": SMALL})
    for name in store.occurrences():
        if name.endswith(old.digest[:12]):
            age("%s/runs/%s" % (store.root, name), 15 * DAY)
    age(store.path(old.digest), 15 * DAY)
    age(store.path(old.manifest["streams"]["output"][0]), 15 * DAY)
    done = collected(store)
    assert (done["runs"], done["blobs"]) == (1, 2) and done["bytes"] >= len(LARGE)
    assert data_of(ctx.resolve_run(new.digest[:12])) == SMALL
    assert ctx.verify_store(store)[1] == []


def test_a_blob_that_a_kept_run_names_stays(store):
    old, new = keep(store, {"output": LARGE}, status=1), keep(store, {"output": LARGE}, status=0)
    age_all(store, 15 * DAY)
    (name,) = [name for name in store.occurrences() if name.endswith(new.digest[:12])]
    os.utime("%s/runs/%s" % (store.root, name))
    assert collected(store)["runs"] == 1
    assert data_of(ctx.resolve_run(new.digest[:12])) == LARGE and "collected" in error_of(ctx.resolve_run, old.digest[:12])


def test_the_quota_takes_the_oldest_first_and_the_young_never(store):
    runs = []
    for _ in range(6):
        runs.append(keep(store, {"output": os.urandom(100_000)}))
        time.sleep(0.002)
    assert collected(store, quota=1)["runs"] == 0  # all are younger than an hour
    age_all(store, 2 * HOUR)
    assert collected(store, quota=350_000)["runs"] == 3
    for run in runs[:3]:
        assert "collected" in error_of(ctx.resolve_run, run.digest[:12])
    for run in runs[3:]:
        assert ctx.resolve_run(run.digest[:12]).source("output").size == 100_000
    keep(store, {"output": os.urandom(100_000)})
    assert collected(store, quota=1)["runs"] == 3 and len(store.occurrences()) == 1


def test_a_long_run_that_has_just_ended_is_young(store):
    spool = ctx.Spool(store, {"kind": "run", "argv": [], "cwd": "."}, {"workspace": "/w", "session": ""})
    spool.started -= 20 * DAY
    spool.write("output", memoryview(SMALL))
    age(spool.base + ".output", 10 * DAY)  # its output came early
    run = spool.commit(["output"], 0, "")
    spool.discard()
    assert ctx.delete_blob(store, run.manifest["streams"]["output"][0]) == 0
    assert collected(store, quota=1)["runs"] == 0 and data_of(ctx.resolve_run(run.digest[:12])) == SMALL


def test_what_is_pinned_stays(box, store):
    run, other = keep(store, {"output": LARGE}), keep(store, {"output": SMALL})
    assert box.ctx("pin", run.handle).returncode == 0
    assert box.ctx("pin").stdout.split() == [run.handle.encode()]
    age_all(store, 400 * DAY)
    assert collected(store, quota=1)["runs"] == 1
    assert data_of(ctx.resolve_run(run.digest[:12])) == LARGE and "collected" in error_of(ctx.resolve_run, other.digest[:12])
    assert box.ctx("pin", "--remove", run.handle).returncode == 0
    age_all(store, 400 * DAY)
    assert collected(store)["runs"] == 1


def test_what_was_derived_from_a_run_stays_with_it(store):
    run = keep(store, {"output": LARGE})
    census = ctx.keep_derived(run, b"census\n" * 1000)
    assert ctx.keep_derived(run, b"census\n" * 1000) == census
    other = ctx.keep_derived(run, b"another\n")
    assert ctx.derived_from(store, run.digest) == [census, other]
    loose = store.put(b"nobody names this\n")
    age_all(store, DAY)
    assert collected(store)["blobs"] == 1 and store.blobs(loose) == []
    assert store.source(census).size == 7000 and store.source(other).size == 8
    age_all(store, 20 * DAY)
    done = collected(store)
    assert done["runs"] == 1 and done["blobs"] == 4 and store.blobs(census) == []
    assert not [name for _, _, names in os.walk(store.root + "/objects") for name in names]


def test_a_torn_list_of_what_was_derived_is_read_as_far_as_it_goes(store):
    run = keep(store, {"output": SMALL})
    first = ctx.keep_derived(run, b"first")
    with open(store.path(run.digest) + ".keeps", "ab") as file:
        file.write(b"0123456789abc")  # a disk that was full
    second = ctx.keep_derived(run, b"second")
    assert ctx.derived_from(store, run.digest) == [first, second]


def test_cold_streams_are_compressed_and_read_back(store):
    run = keep(store, {"output": LARGE})
    small = keep(store, {"output": SMALL})
    digest = run.manifest["streams"]["output"][0]
    lines = run.source("output").lines
    assert collected(store)["compressed"] == 0
    age_all(store, 2 * DAY)
    mtime = os.stat(store.path(digest)).st_mtime_ns
    assert collected(store)["compressed"] == len(LARGE)
    assert not os.path.exists(store.path(digest)) and os.stat(store.path(digest) + ".z").st_size < len(LARGE) // 3
    packed = os.stat(store.path(digest) + ".z")
    assert packed.st_mtime_ns == mtime and packed.st_mode & 0o777 == 0o400
    assert data_of(run) == LARGE and run.source("output").lines == lines and data_of(small) == SMALL
    index = os.stat(store.path(digest) + ".lines").st_mtime_ns
    assert run.source("output").line(200_000) == b"line 199999 of a large stream"
    assert os.stat(store.path(digest) + ".lines").st_mtime_ns == index  # it was not counted again
    assert ctx.verify_store(store)[1] == [] and collected(store)["compressed"] == 0
    again = keep(store, {"output": LARGE})  # warm again
    assert again.digest == run.digest and data_of(again) == LARGE
    age_all(store, 20 * DAY)
    assert collected(store)["blobs"] == 4


@pytest.mark.once
def test_a_large_zero_stream_is_thawed_in_little_memory(store):
    data = bytes(50 * ctx.MIB)
    run = keep(store, {"output": data})
    age_all(store, 2 * DAY)
    collected(store)
    packed = store.path(run.manifest["streams"]["output"][0]) + ".z"
    assert os.stat(packed).st_size < ctx.MIB
    sizes = []
    real = ctx.OpenFile.append
    try:
        ctx.OpenFile.append = lambda self, piece: (sizes.append(len(piece)), real(self, piece))[1]
        assert ctx.hash_of(store.thaw(run.manifest["streams"]["output"][0])) == run.manifest["streams"]["output"][0]
    finally:
        ctx.OpenFile.append = real
    assert max(sizes) <= ctx.CHUNK


def test_compression_that_nobody_asked_for_is_bounded(store):
    for i in range(3):
        keep(store, {"output": os.urandom(ctx.MIB) + b"%d" % i})
    age_all(store, 2 * DAY)
    assert ctx.MIB < collected(store, compress=5 * ctx.MIB // 2)["compressed"] <= 5 * ctx.MIB // 2


def test_damaged_bytes_are_not_compressed(store):
    run = keep(store, {"output": LARGE})
    digest = run.manifest["streams"]["output"][0]
    harm(store.path(digest), "flipped")
    age_all(store, 2 * DAY)
    assert collected(store)["compressed"] == 0
    assert os.path.exists(store.path(digest)) and not os.path.exists(store.path(digest) + ".z")
    assert len(ctx.verify_store(store)[1]) == 1


def test_a_run_that_is_committed_while_its_blob_is_compressed_keeps_it_warm(store, monkeypatch):
    run = keep(store, {"output": LARGE})
    digest = run.manifest["streams"]["output"][0]
    age_all(store, 2 * DAY)
    mtime = os.stat(store.path(digest)).st_mtime_ns
    keep(store, {"output": LARGE})
    ctx.freeze_blob(store, digest, mtime)  # what a collection does that looked before
    assert os.path.exists(store.path(digest))


def test_only_one_collection_runs_and_no_writer_is_waited_for(store):
    run = keep(store, {"output": SMALL})
    age_all(store, 20 * DAY)
    with ctx.Lock(store.root + "/gc.lock", exclusive=True):
        assert collected(store)["runs"] == 0
    with store.lock():  # somebody commits
        assert collected(store)["blobs"] == 0
    assert "collected" in error_of(ctx.resolve_run, run.digest[:12])
    assert collected(store)["blobs"] == 2  # what was left then is collected now


def test_strays_are_swept_when_they_are_old(store):
    keep(store, {"output": SMALL})
    paths = [store.root + name for name in ("/runs/.tmp-1", "/objects/ab/.tmp-2", "/spool/lost.stdout", "/.tmp-3")]
    for path in paths:
        ctx.make_dirs(path.rsplit("/", 1)[0])
        ctx.write_atomic(path, b"x")
    collected(store)
    assert all(map(os.path.exists, paths))
    for path in paths:
        age(path, 2 * HOUR)
    collected(store)
    assert not any(map(os.path.exists, paths)) and len(store.occurrences()) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes a record that another user cannot read")
def test_a_record_that_cannot_be_read_keeps_what_it_may_name(store, monkeypatch):
    keep(store, {"output": SMALL})
    age_all(store, 2 * HOUR)
    real = ctx.read_file

    def refuse(path):
        if "/runs/" in path:
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(ctx, "read_file", refuse)
    with pytest.raises(OSError):
        collected(store)
    monkeypatch.undo()
    assert ctx.verify_store(store)[1] == []


@pytest.mark.once
def test_retention_runs_by_itself_at_most_once_an_hour(box):
    box.run(["seq", "5000"])
    old = box.last()
    age_all(box.inside, 20 * DAY)
    box.run(["echo", "hi"])
    assert len(box.names()) == 2  # it ran less than an hour ago
    age(box.store / "collected", 2 * HOUR)
    box.run(["echo", "hi"])
    assert "collected" in error_of(ctx.resolve_run, old.digest[:12])


def test_the_store_of_last_resort_is_small(box, monkeypatch):
    store = ctx.Store(ctx.temp_root())
    store.prepare()
    spool = ctx.Spool(store, {"kind": "run", "argv": [], "cwd": "."}, {"workspace": "/w", "session": ""})
    assert spool.limit <= ctx.TEMP_QUOTA
    monkeypatch.setattr(ctx, "TEMP_QUOTA", 50_000)
    for _ in range(4):
        keep(store, {"output": os.urandom(20_000)})
        time.sleep(0.002)
    age_all(store, 2 * HOUR)
    assert collected(store)["runs"] == 2


# ── whose store it is, and which format


def test_a_store_of_a_newer_format_is_read_and_never_written(box, store):
    run = keep(store, {"output": LARGE})
    (box.store / "format").write_text("99\n")
    age_all(store, 20 * DAY)

    def picture():
        return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in box.store.rglob("*"))

    before = picture()
    assert data_of(ctx.resolve_run(run.digest[:12])) == LARGE
    assert box.ctx("get", run.handle + "#output:3-4").stdout.startswith(b"line 2 ")
    assert box.ctx("gc").returncode != 0
    assert ctx.resolve_blob(ctx.keep_derived(run, b"x")[:12])[0].root == ctx.temp_root()
    ctx.collect_if_due(store, 14, 1)
    done = box.run(["seq", "30000"])
    assert done.stdout.startswith(b"[ctx run:") and picture() == before  # kept in the next root
    (box.tmp / ("ctx-%d" % os.getuid())).rename(box.tmp / "aside")
    (box.tmp / ("ctx-%d" % os.getuid())).write_text("")
    done = box.run(["seq", "30000"])
    assert done.stdout.count(b"\n") == 30000 and b"newer ctx" in done.stderr and picture() == before


@pytest.mark.parametrize("text", ["", "x", "0\n1", "-1"])
def test_a_format_that_is_none_is_not_written_over(box, store, text):
    (box.store / "format").write_text(text)
    with pytest.raises(OSError):
        store.prepare()


def test_a_root_that_is_half_made_is_made_whole(box):
    for made in ([], ["objects"], ["objects", "spool", "pins", "runs"]):
        shutil.rmtree(box.store, ignore_errors=True)
        for name in made:
            (box.store / name).mkdir(parents=True)
        keep(ctx.writable_store(), {"output": SMALL})
        assert len(box.names()) == 1 and box.problems() == []


@pytest.mark.once
def test_many_may_make_the_same_root(box):
    for _ in range(10):
        shutil.rmtree(box.store, ignore_errors=True)
        errors = []

        def make(errors=errors):
            try:
                box.inside.prepare()
            except OSError as error:
                errors.append(error)

        threads = [threading.Thread(target=make) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not errors


@pytest.mark.once
@pytest.mark.parametrize("trap", ["link", "open", "file", "foreign"])
def test_a_temporary_root_that_is_not_ours_alone_is_refused(box, trap, tmp_path):
    root = box.tmp / ("ctx-%d" % os.getuid())
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if trap == "link":
        root.symlink_to(elsewhere)
    elif trap == "file":
        root.write_text("")
    else:
        ctx.Store(str(root)).prepare()
        keep(ctx.Store(str(root)), {"output": SMALL})
        if trap == "open":
            root.chmod(0o777)
        elif os.getuid() == 0:
            os.chown(root, 12345, 12345)
        else:
            pytest.skip("only root can give a directory away")
    assert ctx.stores() == []
    with pytest.raises(OSError):
        ctx.Store(str(root)).prepare()
    (box.work / "file").write_text("")
    done = box.run(["seq", "30000"], env={"CTX_HOME": str(box.work / "file")})
    assert done.stdout.count(b"\n") == 30000 and b"nothing is kept" in done.stderr
    assert os.listdir(elsewhere) == []


# ── the ring


@given(st.integers(1, 60), st.integers(1, 3000), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_what_a_ring_keeps_is_the_head_and_the_tail(shared, lines, limit, rng):
    data = b"".join(b"%d" % i * rng.randrange(1, 30) + b"\n" for i in range(lines))
    data = data if rng.random() < 0.7 else data[:-1]
    file = ctx.StreamFile("%s/spool/%s.output" % (shared.root, ctx.urandom_hex()), max(4, limit))
    at = 0
    while at < len(data):
        step = rng.randrange(1, 200)
        file.write(memoryview(data[at : at + step]))
        at += step
    digest, gap = file.finish()
    kept = ctx.read_span(file.fd, 0, file.size)
    assert ctx.sha256(kept).hexdigest() == digest
    file.discard()
    if gap is None:
        assert kept == data
    else:
        head, tail = kept[: gap["at"]], kept[gap["at"] :]
        assert data.startswith(head) and data.endswith(tail) and len(kept) <= max(4, limit)
        assert len(head) + gap["bytes"] + len(tail) == len(data) and gap["bytes"] > 0
        assert gap["lines"] == data.count(b"\n") - kept.count(b"\n")
        assert gap["bytes"] == len(data) - len(kept)


# ── doctor


@pytest.mark.once
def test_doctor_finds_each_damage(box, store):
    runs = [keep(store, {"output": os.urandom(70_000) + b"%d" % i}) for i in range(7)]
    digests = [run.manifest["streams"]["output"][0] for run in runs]
    total = sum(run.source("output").size + os.stat(store.path(run.digest)).st_size for run in runs)
    assert ctx.verify_store(store) == ({"runs": 7, "blobs": 14, "bytes": total}, [])
    harm(store.path(digests[0]), "flipped")
    harm(store.path(digests[1]), "truncated")
    harm(store.path(digests[2]), "missing")
    harm(store.path(runs[3].digest), "flipped")
    harm(store.path(runs[4].digest), "missing")
    (name,) = [name for name in store.occurrences() if name.endswith(runs[5].digest[:12])]
    ctx.write_atomic("%s/runs/%s" % (store.root, name), b'{"run":"')
    age(store.path(digests[6]), 2 * DAY)
    collected(store)
    harm(store.path(digests[6]) + ".z", "truncated")
    done = box.ctx("doctor", "--store")
    text = done.stdout.decode()
    assert done.returncode == 1 and done.stderr == b""
    for wanted in (digests[0], digests[1], digests[2], runs[3].digest, runs[4].digest, runs[5].digest, digests[6]):
        assert wanted[:12] in text
    assert text.count("damaged") == 4 and text.count("missing") == 2 and text.count("torn") == 1
    report = json.loads(box.ctx("doctor", "--store", "--json").stdout)
    assert sum(len(entry["problems"]) for entry in report) == 7


# ── several processes


@pytest.mark.once
def test_many_writers_and_a_collection_lose_nothing(box):
    """20 processes capture while collections and compressions run: every handle that was acknowledged resolves to its bytes."""
    many_writers(box, 20, 6)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_many_more_writers_and_a_collection_lose_nothing(box):
    many_writers(box, 20, 50)


WRITER = (
    "import sys, random\nsys.path.insert(0, sys.argv[1])\nimport ctx\n"
    "seed, count = int(sys.argv[2]), int(sys.argv[3])\n"
    "rng = random.Random(seed)\n"
    "for i in range(count):\n"
    "    store = ctx.writable_store()\n"
    "    manifest = {'kind': 'run', 'argv': [str(seed % 5), str(i)], 'cwd': '.'}\n"
    "    spool = ctx.Spool(store, manifest, {'workspace': '/w', 'session': ''})\n"
    "    text = (b'%d ' % rng.randrange(7)) * (10_000 * rng.randrange(10))\n"
    "    names = rng.choice([['output'], ['stdout', 'stderr']])\n"
    "    for piece in (text[:5000], text[5000:]):\n"
    "        for name in names: spool.write(name, memoryview(piece))\n"
    "    run = spool.commit(names, 0, '')\n"
    "    spool.discard()\n"
    "    for name in names: print(run.digest, run.alias, name, ctx.sha256(text).hexdigest(), flush=True)\n"
)


def many_writers(box, writers, count):
    box.inside.prepare()
    stop = threading.Event()
    failures = []

    rng = random.Random(1)

    def collect():
        with box.inside.lock(exclusive=True):  # nobody commits meanwhile
            for _ in range(20):  # leave garbage that somebody is about to need, and let all blobs be old
                box.inside.put((b"%d " % rng.randrange(7)) * (10_000 * rng.randrange(10)))
            for folder in ctx.list_dir(box.inside.root + "/objects"):
                for name in ctx.list_dir("%s/objects/%s" % (box.inside.root, folder)):
                    age("%s/objects/%s/%s" % (box.inside.root, folder, name), 3 * DAY)
        done = box.ctx("gc", "--json", timeout=100)
        if done.returncode:
            failures.append(done.stderr)
        else:
            counts.append(json.loads(done.stdout))

    def collect_on():
        while not stop.is_set():
            collect()

    counts: list = []
    thread = threading.Thread(target=collect_on)
    thread.start()
    words = [program()[0], "-c", WRITER, os.path.dirname(ctx.__file__)]
    options = {"env": box.env, "cwd": str(box.work), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [subprocess.Popen([*words, str(seed), str(count)], **options) for seed in range(writers)]
    outputs = [process.communicate() for process in processes]
    stop.set()
    thread.join()
    collect()  # nobody is in its way now: of what is left, something is compressed
    told = [line.split() for out, _ in outputs for line in out.decode().splitlines()]
    assert [error for _, error in outputs] == [b""] * writers and failures == []
    assert sum(count["blobs"] for count in counts) and sum(count["compressed"] for count in counts)  # there was something to lose
    assert len({alias for _, alias, _, _ in told}) == writers * count == len(box.names())
    for digest, alias, name, wanted in told:
        for word in (digest[:12], alias):
            source = ctx.resolve_run(word).source(name)
            assert ctx.sha256(source.read(0, source.size)).hexdigest() == wanted
    assert box.problems() == [] and box.spooled() == []


# ── other machines


@pytest.fixture
def other(tmp_path):
    """A store on another machine."""
    store = ctx.Store(str(tmp_path / "other"))
    store.prepare()
    return store


def exported(runs, raw=True):
    out, told = io.BytesIO(), []
    secrets = ctx.export_runs(runs, out, raw, told.append)
    return out.getvalue(), secrets, told


@pytest.mark.parametrize("raw", [True, False])
def test_runs_travel(store, other, raw):
    first = keep(store, [("stdout", LARGE), ("stderr", SMALL), ("stdout", b"end\n")], status=3, argv=["make", "é", "\udcff"])
    second = keep(store, {"output": b""}, status=None, partial="timeout", kind="tap")
    keep(store, [("stdout", LARGE), ("stderr", SMALL), ("stdout", b"end\n")], status=3, argv=["make", "é", "\udcff"])
    data, secrets, told = exported([first, second], raw)
    assert secrets == 0 and told == []
    assert ctx.import_runs(other, io.BytesIO(data)) == [first.handle, second.handle]
    assert other.occurrences() == store.occurrences() and ctx.verify_store(other)[1] == []
    run = ctx.load_occurrence(other, other.occurrences()[0])
    assert run.manifest == first.manifest and data_of(run) == LARGE + SMALL + b"end\n"
    assert ctx.import_runs(other, io.BytesIO(data)) == [first.handle, second.handle]  # again changes nothing
    assert other.occurrences() == store.occurrences()
    assert exported([first, second], raw)[0] == data  # the same bytes whenever
    assert ctx.import_runs(other, io.BytesIO(gzip.compress(data))) == [first.handle, second.handle]


def test_a_cold_run_travels(store, other):
    run = keep(store, {"output": LARGE})
    age_all(store, 2 * DAY)
    collected(store)
    ctx.import_runs(other, io.BytesIO(exported([run])[0]))
    assert data_of(ctx.load_occurrence(other, other.occurrences()[0])) == LARGE


def test_an_imported_run_is_young_however_old_it_is(store, other):
    run = keep(store, {"output": SMALL})
    (name,) = store.occurrences()
    old = "20200101T000000000" + name[18:]
    os.rename("%s/runs/%s" % (store.root, name), "%s/runs/%s" % (store.root, old))
    ctx.import_runs(other, io.BytesIO(exported([run])[0]))
    assert other.occurrences() == [old] and collected(other)["runs"] == 0


def test_a_gap_travels(store, other):
    run = keep(store, [("output", LARGE[at : at + 5000]) for at in range(0, len(LARGE), 5000)], limit=ctx.MIB)
    assert run.manifest["gaps"]
    for raw in (True, False):
        ctx.import_runs(other, io.BytesIO(exported([run], raw)[0]))
    assert ctx.load_occurrence(other, other.occurrences()[0]).manifest == run.manifest


def test_secrets_do_not_travel(store, other):
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"[:36]
    text = LARGE + b"token " + token.encode() + b"\n" + LARGE
    run = keep(store, {"output": text}, argv=["login", token])
    data, secrets, told = exported([run], raw=False)
    assert secrets == 2 and len(told) == 1 and run.handle in told[0] and token.encode() not in data
    (handle,) = ctx.import_runs(other, io.BytesIO(data))
    assert handle != run.handle and handle in told[0]
    there = ctx.load_occurrence(other, other.occurrences()[0])
    assert token.encode() not in data_of(there) and len(data_of(there)) > 2 * len(LARGE)
    assert token not in "".join(there.manifest["argv"])
    assert ctx.verify_store(other)[1] == []
    raw, secrets, told = exported([run], raw=True)
    assert secrets == 0 and ctx.import_runs(other, io.BytesIO(raw)) == [run.handle]


def test_a_gap_travels_to_where_it_is_once_secrets_are_redacted(store, other):
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"[:36]
    text = b"token " + token.encode() + b"\n" + LARGE
    run = keep(store, [("output", text[at : at + 5000]) for at in range(0, len(text), 5000)], limit=ctx.MIB)
    data, secrets, _ = exported([run], raw=False)
    assert secrets == 1 and len(ctx.import_runs(other, io.BytesIO(data))) == 1
    there = ctx.load_occurrence(other, other.occurrences()[0])
    before, after = run.manifest["gaps"]["output"], there.manifest["gaps"]["output"]
    assert after["at"] != before["at"] and dict(after, at=before["at"]) == before
    assert data_of(there)[after["at"] :] == data_of(run)[before["at"] :]


def test_the_verbs_travel_too(box, store):
    run = keep(store, {"output": LARGE})
    assert box.ctx("export", run.handle, "-o", "runs.tar").returncode == 0
    there = {"CTX_HOME": str(box.work / "there")}
    done = box.ctx("import", "runs.tar", env=there)
    assert (done.returncode, done.stdout.strip()) == (0, run.handle.encode())
    assert box.ctx("get", run.handle + "#output:7-7", env=there).stdout == b"line 6 of a large stream\n"
    piped = box.ctx("export", run.handle).stdout
    assert piped == (box.work / "runs.tar").read_bytes()
    assert box.ctx("import", input=piped, env={"CTX_HOME": str(box.work / "third")}).returncode == 0


def tar_of(members):
    """A tar file of (name, bytes) or TarInfo members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def parts_of(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(member.name, tar.extractfile(member).read()) for member in tar]


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def occurrences(parts, name=lambda name: name, data=lambda data: data):
    """The parts, those that are occurrences changed."""
    return [(name(path), data(body)) if path.startswith("runs/") else (path, body) for path, body in parts]


HOSTILE = {
    "nothing": lambda parts: [],
    "no mark": lambda parts: parts[1:],
    "two marks": lambda parts: parts[:1] + parts,
    "parent": lambda parts: parts + [("../evil", b"x")],
    "parent in a folder": lambda parts: parts + [("objects/../../evil", b"x")],
    "parent as occurrence": lambda parts: parts + [("runs/../../evil", b"{}")],
    "absolute": lambda parts: parts + [("/tmp/evil", b"x")],
    "dots": lambda parts: parts + [("runs/..", b"{}")],
    "another folder": lambda parts: parts + [("pins/0123456789ab", b"")],
    "a symbolic link": lambda parts: parts + [special("objects/" + "0" * 64, tarfile.SYMTYPE, "/etc/passwd")],
    "a hard link": lambda parts: parts + [special("objects/" + "0" * 64, tarfile.LNKTYPE, parts[1][0])],
    "a directory": lambda parts: parts + [special("objects", tarfile.DIRTYPE)],
    "a device": lambda parts: parts + [special("objects/" + "0" * 64, tarfile.CHRTYPE)],
    "a fifo": lambda parts: parts + [special("runs/x", tarfile.FIFOTYPE)],
    "a wrong hash": lambda parts: [(name, data + b"x" if name.startswith("objects/") else data) for name, data in parts],
    "a name that is no hash": lambda parts: parts + [("objects/evil", b"x")],
    "an occurrence without run": lambda parts: [part for part in parts if not part[0].startswith("objects/")],
    "a run without stream": lambda parts: [part for part in parts if len(part[1]) < 5000 or not part[0].startswith("objects/")],
    "an occurrence that is no JSON": lambda parts: occurrences(parts, data=lambda data: b"{"),
    "an occurrence that is a list": lambda parts: occurrences(parts, data=lambda data: b"[]"),
    "an occurrence nested deeply": lambda parts: occurrences(parts, data=lambda data: b"[" * 100_000),
    "an occurrence without time": lambda parts: occurrences(parts, data=lambda data: data.replace(b'"time":', b'"tame":')),
    "an occurrence of another run": lambda parts: occurrences(parts, name=lambda name: name[:-12] + "0" * 12),
    "an occurrence with an odd name": lambda parts: occurrences(parts, name=lambda name: "runs/" + "x" * 18 + name[23:]),
    "an order without hash": lambda parts: parts + [("orders/../x", b"x"), ("orders/x", b"x")],
}


@pytest.mark.once
@pytest.mark.parametrize("trick", sorted(HOSTILE))
def test_a_hostile_file_is_refused_and_changes_nothing_outside(box, store, other, trick, tmp_path):
    run = keep(store, {"output": LARGE[:10_000]})
    data = tar_of(HOSTILE[trick](parts_of(exported([run])[0])))
    before = {str(path) for path in tmp_path.rglob("*") if "other" not in str(path)}
    text = error_of(ctx.import_runs, other, io.BytesIO(data))
    assert text and other.occurrences() == [] and ctx.verify_store(other)[1] == []
    assert {str(path) for path in tmp_path.rglob("*") if "other" not in str(path)} == before
    assert {path.name for path in (tmp_path / "other").iterdir()} <= {"objects", "runs", "spool", "pins", "format", "lock"}
    assert not [path for path in (tmp_path / "other").rglob("*") if path.is_symlink() or ".tmp-" in path.name]
    (box.work / "evil.tar").write_bytes(data)
    done = box.ctx("import", "evil.tar", env={"CTX_HOME": str(tmp_path / "fourth")})
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"internal" not in done.stderr


def test_a_sparse_member_of_any_size_is_refused(other):
    info = tarfile.TarInfo("objects/" + "0" * 64)
    info.size, info.type = 0, tarfile.GNUTYPE_SPARSE
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[386:398], header[398:410] = b"00000000000\0", b"00000000000\0"
    header[483:495] = b"77777777777\0"
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    data = tar_of([("ctx-export", b"1\n")])[:1024] + bytes(header) + bytes(1024)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        assert tar.getmembers()[1].issparse() and tar.getmembers()[1].size == 8 * ctx.GIB - 1
    assert "not a member" in error_of(ctx.import_runs, other, io.BytesIO(data))


@pytest.mark.once
def test_a_file_that_was_cut_is_refused_wherever(store, other):
    run = keep(store, [("stdout", LARGE[:3000]), ("stderr", SMALL)])
    data = exported([run])[0]
    end = len(data.rstrip(b"\0"))
    rng = random.Random(7)
    for cut in [0, 1, 511, 512, 513, 1024] + [rng.randrange(end) for _ in range(60)]:
        try:
            assert ctx.import_runs(other, io.BytesIO(data[:cut])) == []  # between two members nothing tells that more should follow
        except ctx.CtxError:
            pass
        assert other.occurrences() == [] and ctx.verify_store(other)[1] == []


@given(st.binary(max_size=3000))
def test_what_is_no_tar_file_is_refused(shared, data):
    with pytest.raises(ctx.CtxError):
        ctx.import_runs(shared, io.BytesIO(data))


@pytest.mark.once
def test_flipped_bytes_are_refused_or_change_nothing(store, other):
    run = keep(store, {"output": LARGE[:3000]})
    data = exported([run])[0]
    rng = random.Random(11)
    for _ in range(150):
        wrong = bytearray(data)
        wrong[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            ctx.import_runs(other, io.BytesIO(bytes(wrong)))
        except ctx.CtxError:
            pass
        assert ctx.verify_store(other)[1] == []
