#!/usr/bin/env python3
"""Make the pytest and unittest cases of this corpus by running the real tools on small projects written here.

    python3 make_pytest.py OUT [NAME …] --venv LABEL=PYTHON [--venv …]

LABEL is the first word of a case's row in CASES (p62, p74, p83, p9); PYTHON is an interpreter that has that pytest and the plugins
below. Each case gets OUT/NAME/{cmd,stdout,stderr,exit,truth.json}; files over 200 KB are stored as stdout.gz. The truth comes from a
plugin that runs inside the same session, prints nothing and writes pytest's own report objects to a file; for unittest from a
TestResult of a second run. Paths of the interpreter are replaced by /venv and /usr; everything runs in /tmp/proj.

Versions used for the stored cases: p62 = pytest 6.2.5, xdist 2.5.0, subtests 0.5.0 (Python 3.9.18); p74 = pytest 7.4.4, xdist 3.5.0,
rerunfailures 13.0, subtests 0.11.0, cov 4.1.0 (Python 3.11.7); p83 = pytest 8.3.5, xdist 3.8.0, rerunfailures 16.7, cov 7.1.0,
timeout 2.4.0, subtests 0.14.2, hypothesis 6.170.17, asyncio 1.3.0 (Python 3.12.1); p9 = pytest 9.2.0, xdist 3.8.0, rerunfailures 16.7,
cov 7.1.0, timeout 2.4.0, hypothesis 6.170.17 (Python 3.11.7).
"""
import gzip
import json
import os
import shutil
import subprocess
import sys

PROJ = "/tmp/proj"

TRUTH_PLUGIN = r'''
import json, os
_out = os.environ.get("CTX_TRUTH")
_cwd = os.getcwd()
_root = "/tmp/proj"
_config = None
_depth = 0

def pytest_configure(config):
    global _config, _depth
    _depth += 1
    if _depth == 1:
        _config = config

def _write(record):
    if _out and _depth == 1 and not hasattr(_config, "workerinput"):
        with open(_out, "a") as f:
            f.write(json.dumps(record) + "\n")

def _own(path):
    return str(path).startswith(_root + os.sep)

def pytest_runtest_makereport(item, call):
    if call.excinfo is not None:
        try:
            tb = call.excinfo.traceback
            try:
                tb = tb.filter(call.excinfo)
            except TypeError:
                tb = tb.filter()
            frames = ["%s:%d" % (os.path.relpath(str(e.path), _cwd), e.lineno + 1) for e in tb if _own(e.path)]
        except Exception:
            frames = []
        item.user_properties.append(("ctx_frames_" + call.when, frames))

def _record(rep, kind):
    rid = getattr(rep, "id", None) or rep.nodeid
    try:
        nid = str(_config.cwd_relative_nodeid(rid))
    except Exception:
        nid = str(rep.nodeid)
    message = None
    crash = getattr(getattr(rep, "longrepr", None), "reprcrash", None)
    if crash is not None:
        message = crash.message.split("\n")[0]
    sub = None
    ctx = getattr(rep, "context", None)
    if ctx is not None:
        sub = rep.head_line
    frames = dict(getattr(rep, "user_properties", [])).get("ctx_frames_%s" % getattr(rep, "when", ""), [])
    return {"kind": kind, "id": nid, "when": getattr(rep, "when", None), "head": rep.head_line if sub else None, "message": message,
            "location": frames[-1] if frames and not sub and crash is not None else None}

def pytest_runtest_logreport(report):
    if report.failed:
        _write(["report", _record(report, "failed" if report.when == "call" else "error")])

def pytest_runtest_logstart(nodeid):
    _write(["start", str(nodeid)])

def pytest_unconfigure(config):
    global _depth
    if _depth > 1 or hasattr(config, "workerinput"):
        _depth -= 1
        return
    tr = config.pluginmanager.get_plugin("terminalreporter")
    if tr is None:
        return
    counts = {k: len([r for r in v if getattr(r, "count_towards_summary", True)]) for k, v in tr.stats.items() if k and v}
    failures = []
    for key in ("failed", "error", "subtests failed"):
        for rep in tr.stats.get(key, []):
            failures.append(_record(rep, "error" if key == "error" else "failed"))
    _write(["end", {"counts": counts, "failures": failures}])
    _depth -= 1
'''

FAKE = r'''
=================================== FAILURES ===================================
__________________________________ test_ghost __________________________________

    def test_ghost():
>       assert ghost == 1
E       AssertionError: ghost

tests/test_ghost.py:99: AssertionError
________________________ ERROR at setup of test_phantom ________________________
E   fixture 'phantom' not found
tests/test_ghost.py:77: OSError
=========================== short test summary info ============================
FAILED tests/test_ghost.py::test_ghost - AssertionError: ghost
FAILED tests/test_ghost.py::test_ghost2 - KeyError: 'amount'
ERROR tests/test_ghost.py - ImportError: no module
==================== 2 failed, 9 passed, 1 error in 0.12s ======================
1 passed in 0.01s
============================== 3 passed in 1.00s ===============================
FAILED tests/test_ghost.py::test_ghost3
tests/test_ghost.py::test_ghost4 FAILED                                  [ 50%]
'''

FILES = {
    "shop/__init__.py": "",
    "shop/pricing.py": '''
import json


class OutOfStock(Exception):
    """Raised when nothing is left."""


def price(item, depth=0):
    if depth:
        return price(item, depth - 1)
    if item == "none":
        raise OutOfStock("no stock of %r - reorder [now]" % item)
    return {"pen": 2, "ink": 7}[item]


def parse(text):
    return json.loads(text)


def checked(value):
    """Check a value.

    >>> checked(1)
    1
    """
    assert value > 10, "too small: %d" % value
    return value
''',
    "shop/docs.py": '''
def double(x):
    """Double it.

    >>> double(2)
    5
    """
    return x * 2


def broken(x):
    """
    >>> broken(0)
    1
    """
    return 1 / x


class Cart:
    def total(self):
        """
        >>> 1 + 1
        2
        >>> Cart().total()
        3
        """
        return 4
''',
    "tests/test_basic.py": '''
import sys

import pytest
from shop.pricing import checked, parse, price


def test_ok():
    assert price("pen") == 2


def test_plain():
    total = price("pen") + price("ink")
    assert total == 10, "totals differ"


def test_diff():
    assert {"a": 1, "b": [1, 2, 3], "c": "x" * 30} == {"a": 1, "b": [1, 2, 4], "c": "x" * 29}


def test_deep():
    price("none", depth=3)


def test_library_frame():
    parse("{broken")


def test_helper_assert():
    checked(3)


def test_chained():
    try:
        price("cup")
    except KeyError as exc:
        raise RuntimeError("cannot price the cart") from exc


def test_context():
    try:
        {}["tenant"]
    except KeyError:
        raise ValueError("second error while handling the first")


def test_multiline_message():
    raise ValueError("first line of it\\nsecond line\\n\\n    indented third")


def test_message_dash():
    raise ValueError("left - right - [x] - FAILED tests/test_ghost.py::test_ghost - no")


def test_message_long():
    raise ValueError("a long message that is certainly cut in the summary because it is much longer than eighty columns - really")


def test_unicode():
    raise ValueError("naïve café – 日本語 ☃")


def test_no_message():
    raise ValueError


def test_recursive():
    def f(n):
        return f(n + 1)
    sys.setrecursionlimit(120)
    try:
        f(0)
    finally:
        sys.setrecursionlimit(1000)


def test_fail_pytrace():
    pytest.fail("explicit: no traceback wanted", pytrace=False)


def test_fail():
    pytest.fail("explicit with traceback")


def test_exit_call():
    raise SystemExit(3)


def test_string_compare():
    assert "one\\ntwo\\nthree\\n" == "one\\n2\\nthree\\n"
''',
    "tests/test_group.py": '''
from shop.pricing import price


def test_group():
    errors = []
    for item in ("none", "cup"):
        try:
            price(item)
        except Exception as exc:
            errors.append(exc)
    raise ExceptionGroup("several items", errors)


def test_note():
    exc = ValueError("has notes")
    exc.add_note("a note about it")
    raise exc
''',
    "tests/test_params.py": '''
import pytest

IDS = ["plain", "with space", "a[b]c", "x::y", "x - y", "a] - b", "é-ü-ß", "日本語", "tab\\there", "new\\nline", "", "]", "[", "a/b\\\\c", "a.b.c",
       "FAILED tests/test_ghost.py::test_ghost - no", "%s {} \\\\x00", "\\x00nul", "\\x1b[31mred", "it's \\"quoted\\"", "_ x _", "= 3 passed in 1.00s =",
       "trailing ", " leading", "in 0.01s", "p" * 120]


@pytest.mark.parametrize("value", IDS, ids=IDS)
def test_ids(value):
    assert value == "plain"


class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("n", [1.5, None, "a.b"])
        @pytest.mark.parametrize("m", [True])
        def test_nested(self, n, m):
            assert n == m
''',
    "tests/test_marks.py": '''
import pytest


@pytest.mark.skip(reason="needs a - b [c]")
def test_skip():
    pass


@pytest.mark.xfail(reason="known: FAILED tests/test_ghost.py::test_ghost")
def test_xfail():
    assert 1 == 2


@pytest.mark.xfail(reason="passes now")
def test_xpass():
    pass


@pytest.mark.xfail(strict=True, reason="must fail")
def test_strict():
    pass


@pytest.mark.xfail(raises=KeyError)
def test_xfail_wrong():
    raise ValueError("not the known one")


@pytest.mark.skipif(False, reason="never")
def test_runs():
    pytest.skip("inside: 3 failed")
''',
    "tests/test_fixtures.py": '''
import pytest


@pytest.fixture
def broken():
    raise OSError(28, "No space left on device")


@pytest.fixture
def leaky():
    yield 1
    raise RuntimeError("teardown broke: connection already closed")


@pytest.fixture
def both():
    print("set up")
    yield 1
    raise RuntimeError("both: teardown")


def test_setup_error(broken):
    pass


def test_teardown_error(leaky):
    pass


def test_fail_and_teardown(leaky):
    assert leaky == 2


@pytest.mark.parametrize("n", ["a b", "c"])
def test_param_setup(broken, n):
    pass


def test_unknown(no_such_fixture):
    pass


class TestIn:
    def test_class_teardown(self, both):
        print("in the call")


def test_setup_and_teardown(leaky, broken):
    pass
''',
    "tests/base_checks.py": '''
class Base:
    value = 0

    def test_inherited(self):
        assert self.value == 1
''',
    "tests/test_cls.py": '''
import unittest

from tests.base_checks import Base


class TestDerived(Base):
    value = 2


class TestMoney(unittest.TestCase):
    def test_sum(self):
        self.assertEqual([1, 2], [1, 3], "sums differ")

    @unittest.expectedFailure
    def test_expected(self):
        self.fail("known")

    def test_ok(self):
        pass


class TestSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("database is down")

    def test_a(self):
        pass

    def test_b(self):
        pass
''',
    "tests/__init__.py": "",
    "tests/test_decoys.py": '''
import logging
import sys

import pytest

FAKE = """%(fake)s"""


class Sly:
    def __repr__(self):
        return "Sly()\\nE       AssertionError: ghost repr\\n\\ntests/test_ghost.py:55: AssertionError"


@pytest.fixture
def noisy():
    print("setup says:" + FAKE)
    yield 1
    print("teardown says:" + FAKE)


def test_prints(noisy):
    print(FAKE)
    sys.stderr.write(FAKE)
    logging.getLogger("shop").error("FAILED tests/test_ghost.py::test_logged - boom")
    assert "a" == "b"


def test_passes(noisy):
    print(FAKE)


def test_repr_of_argument():
    def inner(sly):
        assert sly is None
    inner(Sly())


def test_docstring():
    """Fake:
=================================== FAILURES ===================================
_________________________________ test_ghost __________________________________
E       AssertionError: ghost docstring
tests/test_ghost.py:66: AssertionError
=========================== short test summary info ============================
FAILED tests/test_ghost.py::test_ghost5
    """
    raise ZeroDivisionError("real one")


def test_last(noisy):
    raise KeyError("last")
''',
    "tests/test_message_decoys.py": '''
import pytest

FAKE = """%(fake)s"""


def test_fail_with_fake():
    raise ValueError("real first line\\n" + FAKE)


def test_pytrace_with_fake():
    pytest.fail("bare first line\\n" + FAKE, pytrace=False)


def test_assert_fake():
    assert FAKE == "x"


def test_after():
    assert 1 == 3
''',
    "tests/test_atexit.py": '''
import atexit
import sys

FAKE = """%(fake)s"""


def test_one():
    atexit.register(lambda: sys.__stderr__.write("E       AssertionError: printed after the end\\nFAILED tests/test_ghost.py::test_late\\n"))
    assert 1 == 2
''',
    "tests/test_progress.py": "def test_many_passed():\n    pass\n" + "".join("def test_n%d():\n    pass\n" % n for n in range(150)) + "def test_bad():\n    assert 0\n",
    "tests/test_warn.py": '''
import threading
import warnings


def test_warns():
    warnings.warn("old call: FAILED tests/test_ghost.py::test_warned", DeprecationWarning)


def test_thread():
    t = threading.Thread(target=lambda: 1 / 0)
    t.start()
    t.join()


class Bad:
    def __del__(self):
        raise ValueError("in del")


def test_unraisable():
    Bad()


def test_fails():
    warnings.warn("second")
    assert 0
''',
    "tests/test_subtests.py": '''
import unittest


def test_sub(subtests):
    for i in range(4):
        with subtests.test(msg="order", i=i):
            assert i %% 2 == 0
    with subtests.test("name with [brackets] and - dash"):
        raise KeyError("tenant")


def test_sub_then_fail(subtests):
    with subtests.test("inner"):
        assert 1 == 2
    assert 3 == 4


def test_all_fine(subtests):
    with subtests.test("fine"):
        assert 1


class TestU(unittest.TestCase):
    def test_u(self):
        for n in ("a", "b", "c"):
            with self.subTest("letter", n=n):
                self.assertEqual(n, "b")
'''.replace("%%", "%"),
    "tests/test_pytester.py": '''
pytest_plugins = ["pytester"]


def test_inner_run(pytester):
    pytester.makepyfile(test_ghost="""
        import pytest
        def test_ghost(): assert 1 == 2
        def test_inner_run(): assert 3 == 4
        def test_after_inner(): assert 5 == 6
        def test_fine(): pass
    """)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1, failed=1)


def test_after_inner():
    assert "after" == "inner"


def test_inner_quiet(pytester):
    pytester.makepyfile(test_ghost="def test_ghost(): assert 1 == 2")
    result = pytester.runpytest("-q")
    assert result.ret == 0


def test_inner_passes(pytester):
    pytester.makepyfile(test_ghost="def test_ghost(): assert 1 == 2")
    result = pytester.runpytest("-v")
    result.assert_outcomes(failed=1)
''',
    "tests/test_one_inner.py": '''
pytest_plugins = ["pytester"]


def test_inner_run(pytester):
    pytester.makepyfile(test_ghost="def test_ghost(): assert 1 == 2")
    result = pytester.runpytest()
    assert result.ret == 0
''',
    "tests/test_crash.py": '''
import os
import signal
import sys
import time


def test_before():
    assert 1 == 2


def test_segfault():
    os.kill(os.getpid(), signal.SIGSEGV)


def test_never():
    assert 0
''',
    "tests/test_exit.py": '''
import os


def test_before():
    assert 1 == 2


def test_vanishes():
    print("about to go")
    os._exit(7)
''',
    "tests/test_slow.py": '''
import time


def test_before():
    assert 1 == 2


def test_hangs():
    print("waiting for the lock")
    time.sleep(30)


def test_never():
    pass
''',
    "tests/test_interrupt.py": '''
def test_before():
    assert 1 == 2


def test_interrupts():
    raise KeyboardInterrupt


def test_never():
    pass
''',
    "tests/test_bad_import.py": "import no_such_module_xyz\n\n\ndef test_x():\n    pass\n",
    "tests/test_bad_import2.py": "import shop.pricing as p\n\nVALUE = p.price('none')\n",
    "tests/test_bad_syntax.py": "def test_x(:\n    pass\n",
    "tests/test_flaky.py": '''
import os

COUNT = {"n": 0}


def test_flaky():
    COUNT["n"] += 1
    assert COUNT["n"] == 2, "attempt %d" % COUNT["n"]


def test_always():
    assert 0, "always"


def test_fine():
    pass
''',
    "tests/test_async.py": '''
import asyncio

import pytest


@pytest.mark.asyncio
async def test_async_fail():
    await asyncio.sleep(0)
    assert 1 == 2


async def helper():
    raise ValueError("from a coroutine")


@pytest.mark.asyncio
async def test_async_helper():
    await asyncio.gather(helper(), helper())
''',
    "tests/test_hypo.py": '''
from hypothesis import given, settings, strategies as st


@settings(database=None, derandomize=True)
@given(st.integers())
def test_small(n):
    assert n < 100


@settings(database=None, derandomize=True)
@given(st.integers())
def test_two_bugs(n):
    if n > 1000:
        raise ValueError("big")
    if n < -1000:
        raise TypeError("small")
''',
    "tests/test_many.py": '''
import pytest


@pytest.mark.parametrize("n", range(%(many)d))
def test_many(n):
    value = n * 2
    assert value == n, "number %%d" %% n
''',
    "tests/test_passes.py": "def test_a():\n    pass\n\n\ndef test_b():\n    print('hello')\n",
    "tests/test_locals.py": '''
def helper(order):
    rows = ["E   AssertionError: ghost", "tests/test_ghost.py:1: KeyError"]
    limit = 3
    assert len(order) < limit


def test_locals():
    big = {"key%d" % i: "v" * 20 for i in range(6)}
    text = "_____ test_ghost _____"
    helper(big)
''',
    "tests/test_logs.py": '''
import logging

log = logging.getLogger("shop.sync")


def test_logs_and_fails():
    log.warning("retrying: FAILED tests/test_ghost.py::test_logged - boom")
    log.error("E   AssertionError: ghost log")
    log.error("\\n=== 9 failed, 1 passed in 0.10s ===")
    assert "x" == "y"


def test_logs_and_passes():
    log.error("1 failed, 2 passed in 0.33s")
''',
    "tests/test_cov.py": "from shop import pricing\n\n\ndef test_c():\n    assert pricing.price('pen') == 2\n",
    "tests/test_custom.py": "def test_py():\n    assert 0\n",
    "tests/conftest_custom.py": '''
import pytest


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".spec":
        return SpecFile.from_parent(parent, path=file_path)


class SpecFile(pytest.File):
    def collect(self):
        for name in self.path.read_text().split():
            yield SpecItem.from_parent(self, name=name)


class SpecItem(pytest.Item):
    def runtest(self):
        if self.name.startswith("bad"):
            raise ValueError(self.name)

    def repr_failure(self, excinfo):
        return "spec execution failed\\n   spec: %s" % excinfo.value

    def reportinfo(self):
        return self.path, 0, "spec: " + self.name
''',
    "tests/conftest_ie.py": "def pytest_runtest_logreport(report):\n    if report.failed:\n        raise AttributeError('hook is broken')\n",
    "tests/conftest_bad.py": "import no_such_module_conftest\n",
    "tests/conftest_exit.py": "import pytest\n\n\ndef pytest_runtest_setup(item):\n    if item.name == 'test_diff':\n        pytest.exit('enough of it: FAILED', returncode=5)\n",
    "tests/conftest_after.py": '''
def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        print("report written: 3 failed, 4 passed")
        print("FAILED tests/test_ghost.py::test_after_summary")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("my plugin: 2 failed")
    terminalreporter.line("FAILED tests/test_ghost.py::test_in_plugin_section")
''',
    "tests/data.spec": "good1 bad1 bad_two good2\n",
    "tests/test_timeouts.py": '''
import time

import pytest


@pytest.mark.timeout(0.3)
def test_times_out():
    time.sleep(5)


def test_after():
    assert 1 == 2
''',
    "tests/test_capture_huge.py": '''
def test_huge():
    for n in range(%(huge)d):
        print("line %%d of captured output = with some text in it" %% n)
    assert 0, "after the flood"


def test_next():
    assert 0, "next"
''',
    "tests/test_pass_flood.py": '''
import pytest


@pytest.mark.parametrize("n", range(3000))
def test_p(n):
    assert n != 1500
''',
    "pytest.ini": "[pytest]\nmarkers =\n    timeout\n    asyncio\n",
}

DECOYS = ["tests/test_ghost.py", "test_ghost"]

# name, venv, command, files of tests/, options {unsure, env, partial, note, extra files, truth_only}
ALL = "test_basic test_params test_marks test_fixtures test_cls"
CASES = [
    ("pt_auto", "p9", "pytest tests", ALL, {}),
    ("pt_long", "p9", "pytest --tb=long tests", ALL, {}),
    ("pt_short", "p9", "pytest --tb=short tests", ALL, {}),
    ("pt_line", "p9", "pytest --tb=line tests", ALL, {}),
    ("pt_native", "p9", "pytest --tb=native tests", ALL, {}),
    ("pt_no", "p9", "pytest --tb=no tests", ALL, {"ambiguous": True}),
    ("pt_q", "p9", "pytest -q tests", ALL, {}),
    ("pt_qq", "p9", "pytest -qq tests", ALL, {"unsure": True}),
    ("pt_v", "p9", "pytest -v tests", ALL, {}),
    ("pt_vv", "p9", "pytest -vv tests", ALL, {}),
    ("pt_v_no", "p9", "pytest -v --tb=no tests", ALL, {}),
    ("pt_v_rN", "p9", "pytest -v -rN tests", ALL, {}),
    ("pt_rN", "p9", "pytest -rN tests", ALL, {}),
    ("pt_q_rN", "p9", "pytest -q -rN tests/test_basic.py", "test_basic", {"heads": True}),
    ("pt_rA", "p9", "pytest -rA tests", ALL, {}),
    ("pt_rA_v_short", "p9", "pytest -rA -v --tb=short tests", ALL, {}),
    ("pt_color", "p9", "pytest --color=yes tests", ALL, {}),
    ("pt_color_v_short", "p9", "pytest --color=yes -v --tb=short tests", ALL, {}),
    ("pt_color_q", "p9", "pytest --color=yes -q tests/test_basic.py", "test_basic", {}),
    ("pt_x", "p9", "pytest -x tests", ALL, {}),
    ("pt_maxfail", "p9", "pytest --maxfail=3 tests", ALL, {}),
    ("pt_xdist", "p9", "pytest -n2 tests", ALL, {}),
    ("pt_xdist_v", "p9", "pytest -n2 -v --tb=short tests", ALL, {}),
    ("pt_locals", "p9", "pytest --showlocals tests/test_locals.py tests/test_decoys.py", "test_locals test_decoys", {}),
    ("pt_narrow", "p9", "pytest tests/test_basic.py tests/test_params.py", "test_basic test_params", {"env": {"COLUMNS": "40"}}),
    ("pt_wide", "p9", "pytest tests/test_basic.py tests/test_params.py", "test_basic test_params", {"env": {"COLUMNS": "200"}}),
    ("pt_ci", "p9", "pytest tests/test_basic.py tests/test_message_decoys.py", "test_basic test_message_decoys", {"env": {"CI": "true"}}),
    ("pt_group", "p9", "pytest tests/test_group.py", "test_group", {}),
    ("pt_group_83", "p83", "pytest tests/test_group.py", "test_group", {}),
    ("pt_decoys", "p9", "pytest tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_rA", "p9", "pytest -rA tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_s", "p9", "pytest -s tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_q_s", "p9", "pytest -q -s tests/test_decoys.py", "test_decoys", {"may_unsure": True}),
    ("pt_decoys_v_s", "p9", "pytest -v -s tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_no", "p9", "pytest --tb=no -rA tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_rN", "p9", "pytest -rN tests/test_decoys.py", "test_decoys", {"may_unsure": True}),
    ("pt_decoys_short", "p9", "pytest --tb=short tests/test_decoys.py", "test_decoys", {}),
    ("pt_decoys_xdist", "p9", "pytest -n2 tests/test_decoys.py tests/test_basic.py", "test_decoys test_basic", {}),
    ("pt_message_decoys", "p9", "pytest tests/test_message_decoys.py", "test_message_decoys", {}),
    ("pt_message_decoys_vv", "p9", "pytest -vv tests/test_message_decoys.py", "test_message_decoys", {"may_unsure": True}),
    ("pt_message_decoys_line", "p9", "pytest --tb=line tests/test_message_decoys.py", "test_message_decoys", {}),
    ("pt_message_decoys_native", "p9", "pytest --tb=native tests/test_message_decoys.py", "test_message_decoys", {}),
    ("pt_log_cli", "p9", "pytest -o log_cli=true -o log_cli_level=INFO tests/test_logs.py", "test_logs", {}),
    ("pt_log_cli_v", "p9", "pytest -v -o log_cli=true -o log_cli_level=INFO tests/test_logs.py", "test_logs", {}),
    ("pt_logs", "p9", "pytest tests/test_logs.py", "test_logs", {}),
    ("pt_atexit_merged", "p9", "pytest tests/test_atexit.py 2>&1", "test_atexit", {}),
    ("pt_after_plugin", "p9", "pytest tests/test_basic.py", "test_basic", {"conftest": "conftest_after"}),
    ("pt_pytester", "p9", "pytest tests/test_pytester.py", "test_pytester", {}),
    ("pt_pytester_rA", "p9", "pytest -rA tests/test_pytester.py", "test_pytester", {}),
    ("pt_pytester_q", "p9", "pytest -q tests/test_pytester.py", "test_pytester", {}),
    ("pt_pytester_s", "p9", "pytest -s tests/test_pytester.py", "test_pytester", {"may_unsure": True}),
    ("pt_pytester_one", "p9", "pytest tests/test_one_inner.py", "test_one_inner", {}),
    ("pt_pytester_one_q", "p9", "pytest -q tests/test_one_inner.py", "test_one_inner", {}),
    ("pt_subtests", "p9", "pytest tests/test_subtests.py", "test_subtests", {}),
    ("pt_subtests_v", "p9", "pytest -v tests/test_subtests.py", "test_subtests", {}),
    ("pt_subtests_no", "p9", "pytest --tb=no -q tests/test_subtests.py", "test_subtests", {}),
    ("pt_subtests_83", "p83", "pytest tests/test_subtests.py", "test_subtests", {}),
    ("pt_subtests_74", "p74", "pytest -v tests/test_subtests.py", "test_subtests", {}),
    ("pt_subtests_62", "p62", "pytest tests/test_subtests.py", "test_subtests", {}),
    ("pt_warn", "p9", "pytest tests/test_warn.py", "test_warn", {}),
    ("pt_warn_pass", "p9", "pytest tests/test_warn.py -k 'not fails'", "test_warn", {}),
    ("pt_collect", "p9", "pytest tests", "test_bad_import test_bad_import2 test_bad_syntax test_basic", {}),
    ("pt_collect_continue", "p9", "pytest --continue-on-collection-errors -q tests", "test_bad_import test_bad_import2 test_bad_syntax test_basic", {}),
    ("pt_collect_short", "p9", "pytest --tb=short tests", "test_bad_import test_bad_import2 test_bad_syntax", {}),
    ("pt_collect_no", "p9", "pytest --tb=no tests", "test_bad_import test_bad_import2 test_bad_syntax", {}),
    ("pt_collect_native", "p9", "pytest --tb=native tests", "test_bad_import test_bad_import2 test_bad_syntax", {}),
    ("pt_doctest", "p9", "pytest --doctest-modules shop", "", {}),
    ("pt_doctest_v", "p9", "pytest -v --doctest-modules shop tests/test_basic.py", "test_basic", {}),
    ("pt_crash", "p9", "pytest tests/test_crash.py", "test_crash", {"unsure": True, "partial": True}),
    ("pt_crash_v", "p9", "pytest -v tests/test_crash.py", "test_crash", {"unsure": True, "partial": True, "crashed": "tests/test_crash.py::test_segfault"}),
    ("pt_crash_merged", "p9", "pytest -v tests/test_crash.py 2>&1", "test_crash", {"unsure": True, "partial": True, "crashed": "tests/test_crash.py::test_segfault"}),
    ("pt_crash_xdist", "p9", "pytest -n2 tests/test_crash.py tests/test_basic.py", "test_crash test_basic", {}),
    ("pt_exit_v", "p9", "pytest -v tests/test_exit.py", "test_exit", {"unsure": True, "partial": True}),
    ("pt_kill", "p9", "timeout -s KILL 2 python -m pytest tests/test_slow.py", "test_slow", {"unsure": True, "partial": True}),
    ("pt_kill_v", "p9", "timeout -s KILL 2 python -m pytest -v tests/test_basic.py tests/test_slow.py", "test_slow test_basic", {"unsure": True, "partial": True}),
    ("pt_sigint", "p9", "timeout -s INT 2 python -m pytest tests/test_slow.py", "test_slow", {}),
    ("pt_interrupt", "p9", "pytest tests/test_interrupt.py", "test_interrupt", {}),
    ("pt_interrupt_full", "p9", "pytest --full-trace tests/test_interrupt.py", "test_interrupt", {}),
    ("pt_timeout_signal", "p9", "pytest tests/test_timeouts.py", "test_timeouts", {}),
    ("pt_timeout_thread", "p9", "pytest -v --timeout=1 --timeout-method=thread tests/test_slow.py", "test_slow", {"unsure": True, "partial": True, "crashed": "tests/test_slow.py::test_hangs"}),
    ("pt_internalerror", "p9", "pytest tests", "test_basic", {"conftest": "conftest_ie", "unsure": True, "unnamed": True}),
    ("pt_conftest", "p9", "pytest tests", "test_basic", {"conftest": "conftest_bad", "only": "conftest"}),
    ("pt_usage", "p9", "pytest --no-such-option tests", "test_basic", {"only": "usage"}),
    ("pt_usage_file", "p9", "pytest tests/test_missing.py", "test_basic", {"only": "usage"}),
    ("pt_usage_k", "p9", "pytest -k 'a and' tests", "test_basic", {"only": "usage"}),
    ("pt_usage_node", "p9", "pytest tests/test_basic.py::test_nope", "test_basic", {"only": "usage"}),
    ("pt_exit_call", "p9", "pytest tests", "test_basic", {"conftest": "conftest_exit"}),
    ("pt_none", "p9", "pytest -k nothing tests", "test_basic", {}),
    ("pt_none_q", "p9", "pytest -q -k nothing tests", "test_basic", {}),
    ("pt_co", "p9", "pytest --co tests", "test_basic test_params", {}),
    ("pt_co_q", "p9", "pytest --co -q tests", "test_basic test_params", {}),
    ("pt_co_bad", "p9", "pytest --co -q tests", "test_basic test_bad_import", {}),
    ("pt_fixtures", "p9", "pytest --fixtures tests", "test_fixtures", {}),
    ("pt_version", "p9", "pytest --version --version", "", {"only": "none"}),
    ("pt_help", "p9", "pytest --help", "", {"only": "none"}),
    ("pt_pass", "p9", "pytest tests", "test_passes", {}),
    ("pt_pass_q", "p9", "pytest -q tests", "test_passes", {}),
    ("pt_pass_q_s", "p9", "pytest -q -s tests", "test_passes", {}),
    ("pt_pass_rA", "p9", "pytest -rA tests", "test_passes", {}),
    ("pt_pass_v", "p9", "pytest -v tests", "test_passes", {}),
    ("pt_tbno_rN", "p9", "pytest -q --tb=no -rN tests", ALL, {"unsure": True, "unnamed": True}),
    ("pt_no_terminal", "p9", "pytest -p no:terminal tests", ALL, {"only": "none"}),
    ("pt_no_summary", "p9", "pytest --no-summary tests", "test_basic", {"unsure": True, "unnamed": True}),
    ("pt_rerun", "p9", "pytest --reruns 2 -rR tests/test_flaky.py", "test_flaky", {}),
    ("pt_rerun_74", "p74", "pytest --reruns 1 -v tests/test_flaky.py", "test_flaky", {}),
    ("pt_cov", "p9", "pytest --cov=shop --cov-report=term-missing tests/test_cov.py tests/test_flaky.py", "test_cov test_flaky", {}),
    ("pt_cov_fail", "p9", "pytest --cov=shop --cov-fail-under=90 tests/test_cov.py", "test_cov", {}),
    ("pt_cov_fail_74", "p74", "pytest --cov=shop --cov-fail-under=90 tests/test_cov.py", "test_cov", {}),
    ("pt_cov_fail_q", "p83", "pytest -q --cov=shop --cov-fail-under=90 tests/test_cov.py", "test_cov", {}),
    ("pt_durations", "p9", "pytest --durations=5 -vv tests/test_basic.py", "test_basic", {}),
    ("pt_junit", "p9", "pytest --junitxml=/tmp/proj/out.xml tests/test_flaky.py", "test_flaky", {}),
    ("pt_hypo", "p9", "pytest tests/test_hypo.py", "test_hypo", {}),
    ("pt_hypo_83", "p83", "pytest --tb=short tests/test_hypo.py", "test_hypo", {}),
    ("pt_async", "p83", "pytest tests/test_async.py", "test_async", {}),
    ("pt_custom", "p9", "pytest tests", "test_custom data.spec", {"conftest": "conftest_custom"}),
    ("pt_progress_count", "p9", "pytest -o console_output_style=count tests", "test_progress test_basic", {}),
    ("pt_classic", "p9", "pytest -o console_output_style=classic tests", "test_progress test_basic", {}),
    ("pt_stepwise", "p9", "pytest --sw tests", "test_basic", {}),
    ("pt_lf", "p9", "pytest --lf tests", "test_basic", {}),
    ("pt_subdir", "p9", "cd tests && pytest test_basic.py test_fixtures.py", "test_basic test_fixtures", {}),
    ("pt_62", "p62", "pytest tests", ALL, {}),
    ("pt_62_v_short", "p62", "pytest -v --tb=short tests", ALL, {}),
    ("pt_62_q", "p62", "pytest -q tests", ALL, {}),
    ("pt_62_color", "p62", "pytest --color=yes tests", ALL, {}),
    ("pt_62_xdist", "p62", "pytest -n2 tests", ALL, {}),
    ("pt_62_line", "p62", "pytest --tb=line tests", ALL, {}),
    ("pt_62_rA", "p62", "pytest -rA tests", ALL, {}),
    ("pt_62_decoys", "p62", "pytest tests/test_decoys.py tests/test_message_decoys.py", "test_decoys test_message_decoys", {}),
    ("pt_62_collect", "p62", "pytest tests", "test_bad_import test_bad_import2 test_bad_syntax test_basic", {}),
    ("pt_62_native", "p62", "pytest --tb=native tests", ALL, {}),
    ("pt_74", "p74", "pytest tests", ALL, {}),
    ("pt_74_vv", "p74", "pytest -vv tests", ALL, {}),
    ("pt_74_no", "p74", "pytest --tb=no -v tests", ALL, {}),
    ("pt_74_xdist_v", "p74", "pytest -n2 -v tests", ALL, {}),
    ("pt_74_decoys_s", "p74", "pytest -s tests/test_decoys.py", "test_decoys", {}),
    ("pt_74_native", "p74", "pytest --tb=native tests", ALL, {}),
    ("pt_83", "p83", "pytest tests", ALL, {}),
    ("pt_83_rA", "p83", "pytest -rA tests", ALL, {}),
    ("pt_83_color", "p83", "pytest --color=yes --tb=short tests", ALL, {}),
    ("pt_83_xdist", "p83", "pytest -n2 -q tests", ALL, {}),
    ("pt_83_line_q", "p83", "pytest -q --tb=line tests", ALL, {}),
    ("pt_83_pytester", "p83", "pytest -rA tests/test_pytester.py", "test_pytester", {}),
    ("pt_83_crash_xdist", "p83", "pytest -n2 -v tests/test_crash.py tests/test_basic.py", "test_crash test_basic", {}),
    ("pt_many", "p9", "pytest tests/test_many.py", "test_many", {"many": 4000}),
    ("pt_many_q_no", "p9", "pytest -q --tb=no tests/test_many.py", "test_many", {"many": 2500}),
    ("pt_capture_huge", "p9", "pytest tests/test_capture_huge.py", "test_capture_huge", {"huge": 30000}),
    ("pt_pass_flood_v", "p9", "pytest -v tests/test_pass_flood.py", "test_pass_flood", {}),
    ("pt_two_runs", "p9", "pytest -q tests/test_passes.py; pytest tests/test_flaky.py; pytest -q tests/test_cov.py", "test_passes test_flaky test_cov", {"may_unsure": True}),
    ("pt_make", "p9", "printf 'test:\\n\\tpython -m pytest tests/test_flaky.py\\n' > Makefile; make test", "test_flaky", {}),
    ("pt_gha", "p9", "pytest tests/test_basic.py tests/test_decoys.py 2>&1 | sed 's/^/2026-01-01T00:00:00.1234567Z /'", "test_basic test_decoys", {"status": None}),
    ("pt_docker_prefix", "p9", "pytest -v tests/test_basic.py tests/test_fixtures.py 2>&1 | sed 's/^/web-1  | /'", "test_basic test_fixtures", {"status": None}),
    ("pt_or_true", "p9", "pytest -q tests/test_flaky.py || true", "test_flaky", {"unsure": True}),
]

UNITTEST = {
    "test_money.py": '''
import unittest


class TestMoney(unittest.TestCase):
    def test_fail(self):
        """Adds two amounts."""
        self.assertEqual([1, 2], [1, 3], "amounts differ")

    def test_error(self):
        {}["tenant"]

    def test_ok(self):
        pass

    @unittest.skip("needs a database")
    def test_skip(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    def test_sub(self):
        for i in range(4):
            with self.subTest("line", i=i):
                self.assertNotEqual(i % 2, 1)

    def test_multi(self):
        raise ValueError("first line\\nFAIL: test_ghost (test_ghost.TestGhost.test_ghost)\\nsecond")

    def test_chained(self):
        try:
            int("x")
        except ValueError as exc:
            raise RuntimeError("cannot read the amount") from exc


class TestSetup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("db down")

    def test_a(self):
        pass
''',
    "test_unexpected.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_unexpected(self):\n        pass\n",
    "test_import.py": "import no_such_module_xyz\n",
    "test_ok.py": "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n\n    def test_b(self):\n        pass\n",
    "test_prints.py": '''
import sys
import unittest

FAKE = """
======================================================================
FAIL: test_ghost (test_ghost.TestGhost.test_ghost)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/tmp/proj/test_ghost.py", line 9, in test_ghost
    self.fail()
AssertionError: ghost

----------------------------------------------------------------------
Ran 9 tests in 0.001s

FAILED (failures=1)
"""


class T(unittest.TestCase):
    def test_prints(self):
        print(FAKE)
        sys.stderr.write(FAKE)
        self.assertEqual(1, 2)

    def test_prints_and_passes(self):
        sys.stderr.write(FAKE)

    def test_message(self):
        self.fail("real\\n" + FAKE)
''',
    "test_slow.py": "import time\nimport unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 2)\n\n    def test_hangs(self):\n        time.sleep(30)\n",
    "test_many.py": "import unittest\n\n\nclass T(unittest.TestCase):\n" + "".join("    def test_n%04d(self):\n        self.assertEqual(%d, -1)\n\n" % (n, n) for n in range(400)),
}

UT_CASES = [
    ("un_all", "p9", "python -m unittest test_money test_import test_ok", {}),
    ("un_v", "p9", "python -m unittest -v test_money test_import test_ok", {}),
    ("un_buffer", "p9", "python -m unittest -b test_money test_prints", {"may_unsure": True}),
    ("un_unexpected", "p9", "python -m unittest test_unexpected test_ok", {}),
    ("un_unexpected_v", "p9", "python -m unittest -v test_unexpected test_money", {}),
    ("un_ok", "p9", "python -m unittest test_ok", {}),
    ("un_prints", "p9", "python -m unittest test_prints", {"may_unsure": True}),
    ("un_prints_merged", "p9", "python -m unittest test_prints test_money 2>&1", {"may_unsure": True}),
    ("un_failfast", "p9", "python -m unittest -f test_money", {}),
    ("un_kill", "p9", "timeout -s KILL 2 python -m unittest -v test_slow", {"unsure": True, "partial": True}),
    ("un_sigint", "p9", "timeout -s INT 2 python -m unittest -v test_slow", {"unsure": True, "partial": True}),
    ("un_none", "p9", "python -m unittest discover -p 'nothing*'", {}),
    ("un_none_312", "p83", "python -m unittest discover -p 'nothing*'", {"status": 5}),
    ("un_many", "p9", "python -m unittest test_many", {}),
    ("un_39", "p62", "python -m unittest test_money test_import test_unexpected", {"unsure": True, "unnamed": True}),
    ("un_39_v", "p62", "python -m unittest -v test_money test_import", {}),
    ("un_312", "p83", "python -m unittest test_money test_import test_unexpected", {}),
    ("un_312_v", "p83", "python -m unittest -v --durations 3 test_money", {}),
    ("un_locals", "p9", "python -m unittest --locals test_money", {}),
]

UT_TRUTH = r'''
import contextlib, io, json, sys, unittest
records = []
names = sys.argv[2:]
class R(unittest.TextTestResult):
    def _rec(self, kind, test, err):
        records.append({"kind": kind, "id": str(test), "message": None if err is None else "".join(__import__("traceback").format_exception_only(err[0], err[1])).split("\n")[0]})
    def addError(self, test, err):
        super().addError(test, err); self._rec("error", test, err)
    def addFailure(self, test, err):
        super().addFailure(test, err); self._rec("failed", test, err)
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._rec("failed" if issubclass(err[0], test.failureException) else "error", subtest, err)
    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test); self._rec("failed", test, None)
with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(stream=io.StringIO(), resultclass=R, failfast="-f" in sys.argv[1]).run(suite)
counts = {"run": result.testsRun, "failures": len(result.failures), "errors": len(result.errors), "skipped": len(result.skipped),
          "expected failures": len(result.expectedFailures), "unexpected successes": len(result.unexpectedSuccesses)}
json.dump({"counts": counts, "failures": records}, sys.stdout)
'''


def scrub(data, python):
    venv = os.path.dirname(os.path.dirname(python))
    base = subprocess.run([python, "-c", "import sys; print(sys.base_prefix)"], stdout=subprocess.PIPE, check=True).stdout.strip()
    data = data.replace(venv.encode(), b"/venv").replace(base, b"/usr")
    return data


def fill(text, options):
    for key, value in (("%(fake)s", FAKE), ("%(many)d", str(options.get("many", 40))), ("%(huge)d", str(options.get("huge", 3000)))):
        text = text.replace(key, value)
    return text.replace("%%", "%")


def environment(python, truth, options):
    env = {"PATH": os.path.dirname(python) + ":/usr/bin:/bin", "HOME": "/tmp/home", "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
           "PYTHONPATH": "/tmp/proj_plugin", "PYTEST_PLUGINS": "ctx_truth", "CTX_TRUTH": truth, "PYTHONHASHSEED": "0"}
    env.update(options.get("env", {}))
    return env


def lay(files):
    shutil.rmtree(PROJ, ignore_errors=True)
    os.makedirs(PROJ)
    for path, text in files.items():
        full = os.path.join(PROJ, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text.lstrip("\n"))


def run(command, env):
    done = subprocess.run(["bash", "-c", command], cwd=PROJ, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout, done.stderr, done.returncode if done.returncode >= 0 else 128 - done.returncode


def save(out, name, command, stdout, stderr, status, truth):
    where = os.path.join(out, name)
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    for stream, data in (("stdout", stdout), ("stderr", stderr)):
        if len(data) > 200_000:
            with open(os.path.join(where, stream + ".gz"), "wb") as f:
                f.write(gzip.compress(data, 9, mtime=0))
        else:
            with open(os.path.join(where, stream), "wb") as f:
                f.write(data)
    many = sum(len(session["failures"]) for session in truth.get("sessions", ())) > 300
    facts = json.dumps(truth, indent=None if many else 1, ensure_ascii=False)
    for file, text in (("cmd", command), ("exit", str(status)), ("truth.json", facts)):
        with open(os.path.join(where, file), "w", encoding="utf-8") as f:
            f.write(text + "\n")


def make_pytest_case(out, name, python, command, tests, options):
    files = {k: fill(v, options) for k, v in FILES.items() if not k.startswith("tests/")}
    for test in (tests + " base_checks").split():
        path = "tests/" + (test if "." in test else test + ".py")
        files[path] = fill(FILES[path], options)
    files["tests/__init__.py"] = "\n"
    if options.get("conftest"):
        files["tests/conftest.py"] = FILES["tests/%s.py" % options["conftest"]]
    lay(files)
    truth_file = "/tmp/proj_truth"
    if os.path.exists(truth_file):
        os.remove(truth_file)
    stdout, stderr, status = run(command, environment(python, truth_file, options))
    sessions, started = [], []
    session = {"counts": {}, "failures": []}
    if os.path.exists(truth_file):
        with open(truth_file, encoding="utf-8") as lines:
            for line in lines:
                kind, value = json.loads(line)
                if kind == "start":
                    started.append(value)
                elif kind == "report":
                    session["failures"].append(value)
                else:
                    sessions.append(value)
                    session = {"counts": {}, "failures": []}
    if not sessions and "only" not in options:
        session["last_started"] = started[-1] if started else None
        sessions.append(session)
    truth = {"family": "pytest", "exit": status, "sessions": sessions, "decoys": DECOYS, "source": "report objects of the same session, by a plugin"}
    truth.update({k: v for k, v in options.items() if k in ("unsure", "may_unsure", "partial", "unnamed", "crashed", "only", "heads", "status", "ambiguous")})
    save(out, name, command, scrub(stdout, python), scrub(stderr, python), status, truth)


def make_unittest_case(out, name, python, command, options):
    lay(UNITTEST)
    env = environment(python, "", options)
    del env["PYTEST_PLUGINS"]
    stdout, stderr, status = run(command, env)
    truth = {"family": "unittest", "exit": status, "decoys": ["test_ghost"], "source": "TestResult of a second run"}
    if "discover" in command or options.get("partial"):
        failures = [{"kind": "failed", "id": "test_a (test_slow.T.test_a)", "message": None}] if options.get("partial") else []
        truth["sessions"] = [{"counts": {}, "failures": failures}]
    else:
        words = command.replace("2>&1", "").split()[3:]
        names = [w for w in words if w.startswith("test_")]
        done = subprocess.run([python, "-c", UT_TRUTH, " ".join(w for w in words if w.startswith("-"))] + names, cwd=PROJ, env=env, stdout=subprocess.PIPE, check=True)
        truth["sessions"] = [json.loads(done.stdout)]
    truth.update({k: v for k, v in options.items() if k in ("unsure", "may_unsure", "partial", "status", "unnamed")})
    save(out, name, command, scrub(stdout, python), scrub(stderr, python), status, truth)


def main(argv):
    venvs, names = {}, []
    words = iter(argv[1:])
    for word in words:
        if word == "--venv":
            label, _, path = next(words).partition("=")
            venvs[label] = path
        else:
            names.append(word)
    shutil.rmtree("/tmp/proj_plugin", ignore_errors=True)
    os.makedirs("/tmp/proj_plugin")
    with open("/tmp/proj_plugin/ctx_truth.py", "w") as f:
        f.write(TRUTH_PLUGIN)
    for name, venv, command, tests, options in CASES:
        if venv in venvs and (not names or name in names):
            make_pytest_case(argv[0], name, venvs[venv], command, tests, options)
            print(name, file=sys.stderr)
    for name, venv, command, options in UT_CASES:
        if venv in venvs and (not names or name in names):
            make_unittest_case(argv[0], name, venvs[venv], command, options)
            print(name, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
