#!/usr/bin/env python3
"""Does the text profile's ranking keep what explains a failure? Measured on CI logs of 0.1 to 20 MB with known facts.

    python3 evals/ranking.py [--write] [--part dev|held] [--fast] [--misses]

Each log is composed, the same way every time, from real tool outputs of tests/corpus and from outputs written after documented formats:
a CI system's frame (GitHub Actions raw and `gh run view --log`, GitLab, Azure, Jenkins, none), steps that succeed, thousands of benign lines that
name errors, verbose passing tests, echoed scripts and environments, one or two failing tools, now and then a retry, and a teardown.
The facts are the identity, the message and the location of the first failures of each failing tool, from truth.json, as far as printed.
A fact counts as kept when it is in the text of the chosen lines, whitespace folded. Of tools marked `held`, neither
outputs nor lost facts were looked at while the ranking was tuned. Arms of the same size: `tail` of the log, and grep for error words + 2 lines of context + tail, on the
stored lines and on lines without timestamps and colours.
"""

# ruff: noqa: W291  (outputs are quoted as the tools print them)
from __future__ import annotations

import argparse
import datetime
import gzip
import json
import random
import re
import statistics
import sys
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ctx  # noqa: E402

CORPUS = ROOT / "tests" / "corpus"
SIZES = (400, 600, 800, 1400)
FRAME_COST = 80  # tokens of a digest's header and receipt, paid out of each budget

# Real outputs, by family; a family is wholly in one half.
DEV = {
    "jest": ["js_jest_small", "js_jest_flood"],
    "cargo": ["cargo_build_errors", "cargo_test_fail", "cargo_test_nofailfast_flood"],
    "go": ["go_build_errors", "go_test_fail", "go_test_vet_stops", "go_test_json"],
    "gcc": ["gcc_color", "clang_small", "gxx_template_flood"],
    "mypy": ["mypy_flood", "mypy_pretty"],
    "npm": ["npm_eresolve", "npm_etarget"],
    "eslint": ["js_eslint_stylish", "js_eslint_flood"],
    "pytest": [
        "py_toolz_q",
        "py_attrs_x",
        "py_subdir_rootdir",
        "py_param_ids_vv_color",
        "py_networkx_showlocals_flood",
        "py_captured_fake",
    ],
    "linker": ["ld_errors"],
    "mocha": ["js_mocha_spec"],
    "node-test": ["js_node_test_tap"],
}
HELD = {
    "tsc": ["ts_tsc_small", "ts_tsc_flood"],
    "ruff": ["ruff_grouped"],
    "pylint": ["pylint_small"],
    "pyright": ["pyright_toolz"],
    "javac": ["javac_semantic"],
    "make": ["make_zlib_stop"],
    "cmake": ["cmake_configure_error"],
    "flake8": ["flake8_flood"],
    "prettier": ["js_prettier_check"],
    "shellcheck": ["shellcheck_small"],
    "unittest": ["ut_small", "ut_moreit"],
    "pip": ["pip_resolver_conflict"],
    "pytest-plugins": [
        "py_flask_xdist_v",
        "py_werkzeug_xdist",
        "py_click_tbnative",
        "py_jinja2_tblong_v",
        "py_internalerror",
        "py_timeout_thread",
    ],
    "traceback": ["py_traceback", "py_syntaxerror"],
}

# Facts by hand, where truth.json lists warnings or names tests without their messages.
FACTS = {
    "cargo_test_fail": ["test_basic", "tests/test_version_req.rs:41:5", "matched 0.9.9", "test_caret", "tests/test_version_req.rs:203:5", "11 passed; 8 failed"],
    "cargo_test_nofailfast_flood": [
        "core::tests::display_width_emojis", "src/core.rs:431:9", "assertion `left == right` failed", "left: 30",
        "core::tests::display_width_narrow_emojis", "src/core.rs:416:9",
    ],
    "go_test_fail": ["--- FAIL: TestShorthand (0.00s)", "flag_test.go:486: f.Parse() = true before Parse", "TestShorthandLookup", "flag_test.go:546", "TestParse", "int_slice_test.go:51"],
    "js_node_test_tap": ['fails for "quoted" › arrow > names [x] (y)', "order 2 has no tenant", "src/cart.js:4:28"],
    "go_test_json": ["TestShorthand", "flag_test.go:486: f.Parse() = true before Parse", "TestShorthandLookup", "flag_test.go:546", "TestParse"],
}  # fmt: skip

# Outputs written after the tools' documented formats: (name, facts, output).
MADE_DEV: List[Tuple[str, List[str], str]] = [
    (
        "gradle",
        [
            ":app:compileJava FAILED",
            "Account.java:17: error: cannot find symbol",
            "Compilation failed; see the compiler error output",
        ],
        """\
> Task :app:processResources UP-TO-DATE
> Task :app:compileJava FAILED
/builds/shop/app/src/main/java/com/shop/Account.java:17: error: cannot find symbol
        ledger.setle(amount);
              ^
  symbol:   method setle(BigDecimal)
  location: variable ledger of type Ledger
1 error

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':app:compileJava'.
> Compilation failed; see the compiler error output for details.

* Try:
> Run with --info option to get more log output.
> Run with --scan to get full insights.

BUILD FAILED in 14s
3 actionable tasks: 2 executed, 1 up-to-date
""",
    ),
    (
        "rspec",
        ["Invoice#total rounds half up", "expected: 10.13", "./spec/invoice_spec.rb:22", "rspec ./spec/invoice_spec.rb:18"],
        """\
.....................F..........

Failures:

  1) Invoice#total rounds half up
     Failure/Error: expect(invoice.total).to eq(10.13)

       expected: 10.13
            got: 10.12

       (compared using ==)
     # ./spec/invoice_spec.rb:22:in `block (3 levels) in <top (required)>'
     # /usr/local/bundle/gems/rspec-core-3.12.2/lib/rspec/core/runner.rb:92:in `run'

Finished in 0.81 seconds (files took 1.2 seconds to load)
32 examples, 1 failure

Failed examples:

rspec ./spec/invoice_spec.rb:18 # Invoice#total rounds half up
""",
    ),
    (
        "docker-build",
        [
            "RUN npm ci --omit=dev",
            "did not complete successfully: exit code: 1",
            "npm ERR! code EUSAGE",
            "lock file's left-pad@1.1.0 does not satisfy left-pad@1.3.0",
        ],
        """\
#9 [stage-1 3/6] COPY package*.json ./
#9 DONE 0.1s

#10 [stage-1 4/6] RUN npm ci --omit=dev
#10 2.214 npm ERR! code EUSAGE
#10 2.215 npm ERR!
#10 2.215 npm ERR! `npm ci` can only install packages when your package.json and package-lock.json are in sync.
#10 2.216 npm ERR! Invalid: lock file's left-pad@1.1.0 does not satisfy left-pad@1.3.0
#10 2.219 npm ERR! A complete log of this run can be found in: /root/.npm/_logs/2026-03-02T09_10_11_123Z-debug-0.log
#10 ERROR: process "/bin/sh -c npm ci --omit=dev" did not complete successfully: exit code: 1
------
 > [stage-1 4/6] RUN npm ci --omit=dev:
2.216 npm ERR! Invalid: lock file's left-pad@1.1.0 does not satisfy left-pad@1.3.0
------
Dockerfile:12
--------------------
  11 |     COPY package*.json ./
  12 | >>> RUN npm ci --omit=dev
  13 |     COPY . .
--------------------
ERROR: failed to solve: process "/bin/sh -c npm ci --omit=dev" did not complete successfully: exit code: 1
""",
    ),
    (
        "segfault",
        ["[ RUN      ] Codec.DecodesTruncatedFrame", "Segmentation fault (core dumped)"],
        """\
[----------] 14 tests from Codec
[ RUN      ] Codec.RejectsBadErrorCode
[       OK ] Codec.RejectsBadErrorCode (0 ms)
[ RUN      ] Codec.DecodesTruncatedFrame
./run_tests.sh: line 14:  4711 Segmentation fault      (core dumped) "$BIN" --gtest_color=no
./run_tests.sh: Segmentation fault (core dumped)
""",
    ),
    (
        "oom",
        ["FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"],
        """\
> shop@1.0.0 build
> vite build

transforming (4111) src/pages/report/index.tsx
<--- Last few GCs --->

[2204:0x5d3f0]    91042 ms: Mark-sweep 2041.1 (2083.3) -> 2040.2 (2084.1) MB, 1612.3 / 0.0 ms  (average mu = 0.11, current mu = 0.02) allocation failure
<--- JS stacktrace --->

FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory
 1: 0xb7a940 node::Abort() [node]
 2: 0xa8e823  [node]
 3: 0xd5c940 v8::Utils::ReportOOMFailure(v8::internal::Isolate*, char const*, bool) [node]
Aborted (core dumped)
npm ERR! Lifecycle script `build` failed with error:
npm ERR! code 134
""",
    ),
    (
        "missing-command",
        ["./ci/deploy.sh: line 9: kustomize: command not found"],
        """\
+ ./ci/deploy.sh staging
rendering manifests for staging
./ci/deploy.sh: line 9: kustomize: command not found
""",
    ),
    (
        "go-race",
        [
            "WARNING: DATA RACE",
            "cache_test.go:41",
            "--- FAIL: TestCacheParallel (0.02s)",
            "testing.go:1465: race detected during execution of test",
        ],
        """\
=== RUN   TestCacheParallel
==================
WARNING: DATA RACE
Write at 0x00c00012e018 by goroutine 9:
  example.com/shop/cache.(*Cache).Put()
      /srv/shop/cache/cache.go:52 +0x64
  example.com/shop/cache.TestCacheParallel.func1()
      /srv/shop/cache/cache_test.go:41 +0x7a

Previous read at 0x00c00012e018 by goroutine 8:
  example.com/shop/cache.(*Cache).Get()
      /srv/shop/cache/cache.go:38 +0x4c
==================
    testing.go:1465: race detected during execution of test
--- FAIL: TestCacheParallel (0.02s)
FAIL
FAIL\texample.com/shop/cache\t0.041s
ok  \texample.com/shop/money\t0.008s
FAIL
""",
    ),
    (
        "ctest",
        ["codec_roundtrip", "***Failed", "67% tests passed, 1 tests failed out of 3"],
        """\
Test project /builds/codec/build
    Start 1: codec_header
1/3 Test #1: codec_header .....................   Passed    0.01 sec
    Start 2: codec_roundtrip
2/3 Test #2: codec_roundtrip ..................***Failed    0.02 sec
    Start 3: codec_errors
3/3 Test #3: codec_errors .....................   Passed    0.01 sec

67% tests passed, 1 tests failed out of 3

Total Test time (real) =   0.05 sec

The following tests FAILED:
\t  2 - codec_roundtrip (Failed)
Errors while running CTest
""",
    ),
    (
        "terraform",
        ["Error: Unsupported argument", "on modules/db/main.tf line 23", 'An argument named "storage_typ" is not expected here.'],
        """\
Initializing modules...
Terraform has been successfully initialized!
╷
│ Error: Unsupported argument
│ 
│   on modules/db/main.tf line 23, in resource "aws_db_instance" "main":
│   23:   storage_typ = "gp3"
│ 
│ An argument named "storage_typ" is not expected here. Did you mean "storage_type"?
╵
""",
    ),
    (
        "deploy-denied",
        ["AccessDeniedException", "is not authorized to perform: ecr:InitiateLayerUpload"],
        """\
The push refers to repository [111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop]
5f70bf18a086: Preparing
a41d8f4c2f7e: Preparing
An error occurred (AccessDeniedException) when calling the InitiateLayerUpload operation: User: arn:aws:sts::111122223333:assumed-role/ci/run is not authorized to perform: ecr:InitiateLayerUpload on resource: arn:aws:ecr:eu-west-1:111122223333:repository/shop
""",
    ),
    (
        "java-service-log",
        [
            "ERROR [main] com.shop.Boot - cannot start",
            'Caused by: java.sql.SQLException: relation "orders_v2" does not exist',
            "OrderRepo.java:88",
        ],
        """\
2026-03-02 09:11:02,114 INFO  [main] com.shop.Boot - profile ci
2026-03-02 09:11:02,519 WARN  [main] com.shop.Pool - maximumPoolSize not set, using 10
2026-03-02 09:11:03,001 ERROR [main] com.shop.Boot - cannot start
java.lang.IllegalStateException: repository check failed
\tat com.shop.OrderRepo.check(OrderRepo.java:91)
\tat com.shop.Boot.main(Boot.java:31)
\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(DirectMethodHandleAccessor.java:103)
Caused by: java.sql.SQLException: relation "orders_v2" does not exist
\tat org.postgresql.core.v3.QueryExecutorImpl.receiveErrorResponse(QueryExecutorImpl.java:2725)
\tat com.shop.OrderRepo.check(OrderRepo.java:88)
\t... 2 more
""",
    ),
    (
        "silent",
        ["waiting for db:5432 (60/60)"],
        "".join("waiting for db:5432 (%d/60)\n" % n for n in range(1, 61)) + "giving up on db:5432\n",
    ),
]
MADE_HELD: List[Tuple[str, List[str], str]] = [
    (
        "maven",
        [
            "InvoiceTest.roundsHalfUp:44 expected: <10.13> but was: <10.12>",
            "Tests run: 31, Failures: 1, Errors: 0, Skipped: 2",
            "There are test failures.",
        ],
        """\
[INFO] Running com.shop.InvoiceTest
[ERROR] Tests run: 9, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.12 s <<< FAILURE! -- in com.shop.InvoiceTest
[ERROR] com.shop.InvoiceTest.roundsHalfUp -- Time elapsed: 0.008 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <10.13> but was: <10.12>
\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
\tat com.shop.InvoiceTest.roundsHalfUp(InvoiceTest.java:44)
[INFO] Results:
[INFO] 
[ERROR] Failures: 
[ERROR]   InvoiceTest.roundsHalfUp:44 expected: <10.13> but was: <10.12>
[INFO] 
[ERROR] Tests run: 31, Failures: 1, Errors: 0, Skipped: 2
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project shop: There are test failures.
[ERROR] -> [Help 1]
""",
    ),
    (
        "phpunit",
        ["1) Tests\\InvoiceTest::testRoundsHalfUp", "Failed asserting that 10.12 matches expected 10.13.", "InvoiceTest.php:31"],
        """\
PHPUnit 10.5.9 by Sebastian Bergmann and contributors.

..............F......                                             21 / 21 (100%)

Time: 00:00.214, Memory: 10.00 MB

There was 1 failure:

1) Tests\\InvoiceTest::testRoundsHalfUp
Failed asserting that 10.12 matches expected 10.13.

/app/tests/InvoiceTest.php:31

FAILURES!
Tests: 21, Assertions: 58, Failures: 1.
""",
    ),
    (
        "dotnet",
        [
            "Failed Shop.Tests.InvoiceTests.RoundsHalfUp [9 ms]",
            "Assert.Equal() Failure: Values differ",
            "InvoiceTests.cs:line 27",
            "Failed!  - Failed:     1, Passed:    40",
        ],
        """\
  Determining projects to restore...
  Shop.Tests -> /src/tests/bin/Debug/net8.0/Shop.Tests.dll
[xUnit.net 00:00:00.91]     Shop.Tests.InvoiceTests.RoundsHalfUp [FAIL]
  Failed Shop.Tests.InvoiceTests.RoundsHalfUp [9 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 10.13
Actual:   10.12
  Stack Trace:
     at Shop.Tests.InvoiceTests.RoundsHalfUp() in /src/tests/InvoiceTests.cs:line 27

Failed!  - Failed:     1, Passed:    40, Skipped:     0, Total:    41, Duration: 311 ms - Shop.Tests.dll (net8.0)
""",
    ),
    (
        "gtest",
        ["codec_test.cc:88: Failure", "Codec.DecodesTruncatedFrame", "1 FAILED TEST"],
        """\
[==========] Running 15 tests from 2 test suites.
[ RUN      ] Codec.DecodesTruncatedFrame
/src/codec_test.cc:88: Failure
Expected equality of these values:
  frame.size()
    Which is: 12
  16
[  FAILED  ] Codec.DecodesTruncatedFrame (1 ms)
[==========] 15 tests from 2 test suites ran. (31 ms total)
[  PASSED  ] 14 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Codec.DecodesTruncatedFrame

 1 FAILED TEST
""",
    ),
    (
        "bazel",
        ["//money:money_test", "FAILED in 1.2s", "Executed 12 out of 12 tests: 11 tests pass and 1 fails locally."],
        """\
INFO: Analyzed 41 targets (12 packages loaded, 300 targets configured).
FAIL: //money:money_test (see /var/cache/bazel/x/execroot/_main/bazel-out/k8-fastbuild/testlogs/money/money_test/test.log)
//money:error_codes_test                                        PASSED in 0.4s
//money:money_test                                              FAILED in 1.2s
  /var/cache/bazel/x/execroot/_main/bazel-out/k8-fastbuild/testlogs/money/money_test/test.log

Executed 12 out of 12 tests: 11 tests pass and 1 fails locally.
""",
    ),
    (
        "asan",
        [
            "ERROR: AddressSanitizer: heap-buffer-overflow",
            "decode.c:57",
            "SUMMARY: AddressSanitizer: heap-buffer-overflow /src/decode.c:57 in read_varint",
        ],
        """\
=================================================================
==512==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000031 at pc 0x55d0 bp 0x7ffc sp 0x7ffb
READ of size 1 at 0x602000000031 thread T0
    #0 0x55d0b1 in read_varint /src/decode.c:57:12
    #1 0x55d0c2 in decode_frame /src/decode.c:102:9
    #2 0x7f11aa in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x29d8f)
0x602000000031 is located 0 bytes to the right of 1-byte region
SUMMARY: AddressSanitizer: heap-buffer-overflow /src/decode.c:57:12 in read_varint
==512==ABORTING
""",
    ),
    (
        "pre-commit",
        ["end-of-file-fixer", "files were modified by this hook"],
        """\
trim trailing whitespace.................................................Passed
fix end of files.........................................................Failed
- hook id: end-of-file-fixer
- exit code: 1
- files were modified by this hook

Fixing docs/errors.md

check yaml...............................................................Passed
""",
    ),
    (
        "vitest",
        ["src/money.test.ts > round > rounds half up", "AssertionError: expected 10.12 to be 10.13", "src/money.test.ts:14:31"],
        """\
 ✓ src/errors.test.ts (14 tests) 12ms
 ❯ src/money.test.ts (6 tests | 1 failed) 9ms
   × round > rounds half up 4ms
     → expected 10.12 to be 10.13 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/money.test.ts > round > rounds half up
AssertionError: expected 10.12 to be 10.13 // Object.is equality

- Expected
+ Received

- 10.13
+ 10.12

 ❯ src/money.test.ts:14:31
     12|   it('rounds half up', () => {
     13|     const total = round(10.125);
     14|     expect(total).toBe(10.13);
       |                   ^

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 19 passed (20)
""",
    ),
    (
        "timeout",
        ["The job running on runner ci-12 has exceeded the maximum execution time of 60 minutes."],
        """\
running integration suite against http://localhost:8080
waiting for worker to become idle
##[error]The job running on runner ci-12 has exceeded the maximum execution time of 60 minutes.
##[error]The operation was canceled.
""",
    ),
    (
        "helm",
        ['UPGRADE FAILED: cannot patch "shop" with kind Deployment', "field is immutable"],
        """\
Release "shop" exists; upgrading it
Error: UPGRADE FAILED: cannot patch "shop" with kind Deployment: Deployment.apps "shop" is invalid: spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"app":"shop-v2"}}: field is immutable
""",
    ),
    (
        "elixir",
        ["1) test rounds half up (Shop.MoneyTest)", "test/money_test.exs:12", "left:  10.12", "41 tests, 1 failure"],
        """\
...............

  1) test rounds half up (Shop.MoneyTest)
     test/money_test.exs:12
     Assertion with == failed
     code:  assert Money.round(10.125) == 10.13
     left:  10.12
     right: 10.13
     stacktrace:
       test/money_test.exs:13: (test)

Finished in 0.2 seconds (0.1s async, 0.1s sync)
41 tests, 1 failure
""",
    ),
    (
        "git-conflict",
        ["CONFLICT (content): Merge conflict in src/money.py", "Automatic merge failed; fix conflicts"],
        """\
From https://git.example.com/shop/shop
   1f2e3d4..5a6b7c8  main       -> origin/main
Auto-merging src/errors.py
Auto-merging src/money.py
CONFLICT (content): Merge conflict in src/money.py
Automatic merge failed; fix conflicts and then commit the result.
""",
    ),
    (
        "ansible",
        ["fatal: [web-2]: FAILED!", "No package matching 'libpq5-dev' is available", "failed=1"],
        """\
TASK [common : install packages] ***********************************************
ok: [web-1]
fatal: [web-2]: FAILED! => {"changed": false, "msg": "No package matching 'libpq5-dev' is available"}

PLAY RECAP *********************************************************************
web-1                      : ok=12   changed=0    unreachable=0    failed=0    skipped=2    rescued=0    ignored=0
web-2                      : ok=4    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0
""",
    ),
]


# ── facts ──


def stored(name: str, stream: str) -> bytes:
    """One file of a corpus case, unpacked where it is kept packed; empty where the case has none."""
    path = CORPUS / name / stream
    if path.exists():
        return path.read_bytes()
    packed = path.with_name(stream + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else b""


def output(name: str) -> bytes:
    """What a CI log would hold of a case: both streams, the compiler's before the tests'."""
    streams = ("stderr", "stdout") if name.startswith("cargo") else ("stdout", "stderr")
    parts = [part if part.endswith(b"\n") or not part else part + b"\n" for part in (stored(name, stream) for stream in streams)]
    return b"".join(parts)


def fold(text: str) -> str:
    """Whitespace runs as one space."""
    return " ".join(text.split())


def critical(name: str, most: int = 3) -> List[str]:
    """Identity, location and message of a case's first failures, as its output prints them."""
    if name in FACTS:
        return [fold(fact) for fact in FACTS[name]]
    truth = json.loads(stored(name, "truth.json") or b"{}")
    text = ctx.strip_ansi(output(name)).decode("utf-8", "replace")
    flat, rows = fold(text), text.split("\n")
    printed: Dict[str, str] = truth.get("locations_as_printed", {})
    facts: List[str] = []

    def add(fact: Optional[str]) -> None:
        fact = fold(printed.get(fact or "", fact or "").split("\n")[0])
        if len(fact) > 2 and fact not in facts and fact in flat:
            facts.append(fact)

    failures = truth.get("failures") or []
    if failures and isinstance(failures[0], dict):
        for failure in failures[:most]:
            for key in ("id", "message", "location"):
                add(str(failure.get(key) or ""))
        return facts
    messages = [m for m in truth.get("messages", []) if m in text]
    wrong = [row for row in rows if re.search(r"\berror(?::|\[|  | TS\d)", row, re.I)]  # as a severity, not in a message
    severe = [m for m in messages if any(m in row for row in wrong)] or messages
    first = sorted(
        severe,
        key=lambda m: min((at for at, row in enumerate(rows) if m in row and (row in wrong or not wrong)), default=len(rows)),
    )
    for message in first[:most]:
        add(message)
        at = next((at for at, row in enumerate(rows) if message in row), 0)
        near = "\n".join(rows[at : at + 2])
        add(next((place for place in truth.get("locations", []) if printed.get(place, place) in near), ""))
    if len(facts) < 2:
        for identity in truth.get("identities", [])[:most]:
            add(identity)
    return facts


# ── logs ──

NAMES = "ledger invoice order cart tenant token session cache codec parser router mailer search upload report audit".split()
BENIGN = [
    "Compiling %(n)s-error v0.%(i)d.3",
    "Collecting %(n)s-exceptions==1.%(i)d",
    "  Downloading %(n)s_errors-1.%(i)d-py3-none-any.whl (%(i)d kB)",
    "gcc -O2 -Wall -Werror=format -fno-exceptions -c src/%(n)s_error.c -o build/%(n)s_error.o",
    "[INFO] %(n)s: 0 errors, 0 failures",
    "INFO %(n)s.errors: error handler registered for code %(i)d",
    "DEBUG %(n)s: retry policy on_error=continue, max_failures=%(i)d",
    "tests/test_%(n)s.py::test_error_%(i)d PASSED                  [ %(p)d%%]",
    "ok %(i)d - %(n)s reports an error for invalid input",
    "  ✓ %(n)s throws an error when the token is invalid (%(i)d ms)",
    "=== RUN   Test%(n)sErrorPath%(i)d",
    "--- PASS: Test%(n)sErrorPath%(i)d (0.0%(p)ds)",
    "test %(n)s::tests::fails_on_error_%(i)d ... ok",
    "GET /api/%(n)s/error/404 200 %(i)dms",
    "copying %(n)s/exceptions.py -> build/lib/%(n)s/exceptions.py",
    "npm warn deprecated %(n)s-error@1.%(i)d.0: this version is no longer supported",
    "[%(i)d/4096] Building CXX object CMakeFiles/%(n)s.dir/error_%(i)d.cc.o",
    "add errors/%(n)s_%(i)d.md",
    "warning: unused variable: `error_%(n)s`",
    "Fetched %(i)d kB in 2s (no errors)",
    "%(n)s: up to date",
    "Writing %(n)s chunk %(i)d of 4096",
]
SCRIPT = [
    "set -euo pipefail",
    'if ! make check; then echo "FATAL: check failed"; exit 1; fi',
    "trap 'echo error: build failed on line $LINENO' ERR",
    "pytest -q || (echo 'ERROR: tests failed' && exit 1)",
]
ENV = [
    "CI: true",
    "FAIL_FAST: false",
    "ERROR_WEBHOOK: https://hooks.example.com/error",
    "SENTRY_LEVEL: error",
    "pythonLocation: /opt/hostedtoolcache/Python/3.11.9/x64",
]
TEARDOWN = [
    "Post job cleanup.",
    "[command]/usr/bin/git config --local --unset-all http.extraheader",
    "Cache not saved: error code 409 (already exists)",
    "warning: could not remove temp dir: no such file or directory",
    "Stopping services: db redis mail",
    "Uploading artifacts: no files to upload",
    "Cleaning up orphan processes",
]


class Log(NamedTuple):
    """One log with what it should tell; `part` is dev or held."""

    name: str
    part: str
    data: bytes
    facts: List[str]


def benign(rng: random.Random, size: int, flood: bytes = b"") -> Iterator[bytes]:
    """About `size` bytes of lines that announce no failure; `flood` is the output of a passing tool to take some from."""
    lines, done = flood.split(b"\n") if flood else [], 0
    while done < size:
        if lines and rng.random() < 0.3:
            at = int(rng.random() * len(lines))
            block = lines[at : at + 40]
        else:
            shape = BENIGN[int(rng.random() * len(BENIGN))]
            block = [
                (
                    shape
                    % {"n": NAMES[int(rng.random() * len(NAMES))], "i": int(rng.random() * 4096), "p": int(rng.random() * 100)}
                ).encode()
                for _ in range(1 + int(rng.random() * 30))
            ]
        for line in block:
            done += len(line) + 30
            yield line


Step = Tuple[str, List[bytes], int]  # title, lines, exit status


def compose(system: str, steps: Sequence[Step], rng: random.Random) -> bytes:
    """The steps as one log of `system`."""
    clock = [1_772_442_000.0]

    def stamp(form: str = "%Y-%m-%dT%H:%M:%S", digits: int = 7) -> str:
        clock[0] += rng.random() * 0.4
        when = datetime.datetime.fromtimestamp(clock[0], datetime.timezone.utc)
        return when.strftime(form) + (".%07d" % int(when.microsecond * 10))[: digits + 1] + "Z"

    out: List[bytes] = []

    def put(line: bytes, column: str = "") -> None:
        if system == "github":
            out.append(stamp().encode() + b" " + line)
        elif system == "gh-view":
            out.append(("build (ubuntu, 3.11)\t%s\t%s " % (column, stamp())).encode() + line)
        elif system == "azure":
            out.append(stamp().encode() + b" " + line)
        elif system == "jenkins":
            out.append(b"[" + stamp(digits=3).encode() + b"] " + line)
        elif system == "gitlab":
            out.append(stamp(digits=6).encode() + b" 00O " + line)
        else:
            out.append(line)

    def frame(title: str, lines: List[bytes], status: int) -> Iterator[bytes]:
        command = title.encode()
        if system in ("github", "gh-view"):
            yield b"##[group]Run " + command
            for row in [title] + SCRIPT:
                yield b"\x1b[36;1m" + row.encode() + b"\x1b[0m"
            yield b"shell: /usr/bin/bash -e {0}"
            yield b"env:"
            for row in ENV:
                yield b"  " + row.encode()
            yield b"##[endgroup]"
            yield from lines
            if status:
                yield b"##[error]Process completed with exit code %d." % status
        elif system == "gitlab":
            slug = re.sub(r"\W+", "_", title).encode()
            yield b"section_start:%d:%s\r\x1b[0K\x1b[0K\x1b[36;1m%s\x1b[0;m" % (int(clock[0]), slug, command)
            yield b"\x1b[32;1m$ " + command + b"\x1b[0;m"
            yield from lines
            yield b"section_end:%d:%s\r\x1b[0K" % (int(clock[0]), slug)
        elif system == "azure":
            yield b"##[section]Starting: " + command
            yield b"=============================================================================="
            yield b"Task         : Command line"
            yield b"Description  : Run a command line script; fails on error if failOnStderr is set"
            yield b"=============================================================================="
            yield b"Generating script."
            yield b"Script contents:"
            yield command
            yield b"========================== Starting Command Output ==========================="
            yield from lines
            if status:
                yield b"##[error]Bash exited with code '%d'." % status
            yield b"##[section]Finishing: " + command
        elif system == "jenkins":
            yield b"[Pipeline] sh"
            yield b"+ " + command
            yield from lines
            if status:
                yield b"[Pipeline] }"
                yield b"script returned exit code %d" % status
        else:
            yield b"+ " + command
            yield from lines

    for title, lines, status in steps:
        for line in frame(title, lines, status):
            put(line, title)
        if status and system == "gitlab":
            put(
                b"section_start:%d:cleanup_file_variables\r\x1b[0K\x1b[0K\x1b[36;1mCleaning up project directory and file based variables\x1b[0;m"
                % clock[0]
            )
            put(b"section_end:%d:cleanup_file_variables\r\x1b[0K" % clock[0])
            put(b"\x1b[31;1mERROR: Job failed: exit code %d\x1b[0;m" % status)
        if status and system == "jenkins":
            put(b"[Pipeline] End of Pipeline")
            put(b"ERROR: script returned exit code %d" % status)
            put(b"Finished: FAILURE")
    if system in ("github", "gh-view", "azure"):
        for row in TEARDOWN:
            put(row.encode(), "Post checkout")
    return b"\n".join(out) + b"\n"


SYSTEMS = ("github", "gh-view", "gitlab", "azure", "jenkins", "none")
VOLUMES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000)


def logs(fast: bool) -> Iterator[Log]:
    """All logs: each failing tool once or twice, the systems and sizes taken in turn."""
    floods = [
        stored(name, "stdout") for name in ("py_click_v_pass_flood", "log_syslog", "log_dpkg_real", "tree", "ls_lR", "git_log_stat")
    ]
    for part, real, made in (("dev", DEV, MADE_DEV), ("held", HELD, MADE_HELD)):
        tools = [(name, critical(name), output(name)) for names in real.values() for name in names if (CORPUS / name).is_dir()]
        tools += [(name, [fold(fact) for fact in facts], text.encode()) for name, facts, text in made]
        tools = [tool for tool in tools if tool[1]]
        for turn, (name, facts, data) in enumerate(tools):
            rng = random.Random("%s/%s" % (part, name))
            system = SYSTEMS[turn % len(SYSTEMS)]
            volume = VOLUMES[turn // 2 % (3 if fast else len(VOLUMES))]
            flood = floods[turn % len(floods)]
            failing = data.split(b"\n")[:-1]
            steps: List[Step] = [
                ("actions/checkout@v4", list(benign(rng, volume // 20)), 0),
                ("pip install -r requirements.txt", list(benign(rng, volume // 4)), 0),
            ]
            wanted, title = list(facts), name
            if turn % 3 == 1:  # a second tool fails too; where the system marks it, in a step that is allowed to
                other, more, text = tools[(turn + 5) % len(tools)]
                if len(text) < 100_000:
                    wanted += [fact for fact in more[:3] if fact not in wanted]
                    title += "+" + other
                    lint = list(benign(rng, volume // 8, flood)) + text.split(b"\n")[:-1]
                    if system in SYSTEMS[:2]:
                        steps.append(("make lint", lint, 2))
                    else:
                        failing = lint + failing
            before, after = list(benign(rng, volume // 2, flood)), list(benign(rng, 2000 if turn % 2 else 0))
            if turn % 5 == 2 and len(failing) < 2000:  # the runner tries again
                before += failing + [b"Attempt 1 failed, trying again", b""]
            steps.append(("make test", before + failing + after, 1))
            yield Log("%s @%s %s" % (title, system, ctx.human(volume)), part, compose(system, steps, rng), wanted)


# ── arms ──


def tokens(line: bytes) -> float:
    """Estimated tokens, by the four byte classes."""
    return float(ctx.estimate_tokens(line)) if hasattr(ctx, "estimate_tokens") else four_classes(line)


def four_classes(line: bytes) -> float:
    letters = len(line) - len(line.translate(None, bytes(range(65, 91)) + bytes(range(97, 123))))
    high = len(line) - len(line.translate(None, bytes(range(128, 256))))
    space = len(line) - len(line.translate(None, b" \t\r\n"))
    return 0.29 * letters + 0.59 * (len(line) - letters - high - space) + 0.04 * len(line.split()) + 0.31 * high


WIDTH = 400  # bytes shown of a line


def ranked(log: Log, budget: int) -> bytes:
    """What a renderer buys of the profile's quotes."""
    source = ctx.Source.of_bytes("output", log.data)
    evidence = EVIDENCE.get(log.name) or EVIDENCE.setdefault(log.name, ctx.parse_text([source], 1))
    left, shown = float(budget - FRAME_COST), []
    for quote in sorted(evidence.notes, key=lambda q: q.first) + sorted(evidence.quotes, key=lambda q: (-q.value, q.first)):
        text = ctx.clip(ctx.normal(quote.text), WIDTH)
        cost = tokens(b"  %d: %s\n" % (quote.first, text))
        if cost <= left:
            left -= cost
            shown.append((quote.first, text))
    return b"\n".join(text for _, text in sorted(shown))


EVIDENCE: Dict[str, ctx.Evidence] = {}


def take(lines: Sequence[bytes], order: Sequence[int], budget: float) -> bytes:
    """The lines in `order` until the budget is spent."""
    kept = set()
    for at in order:
        if at in kept:
            continue
        budget -= tokens(lines[at] + b"\n")
        if budget < 0:
            break
        kept.add(at)
    return b"\n".join(lines[at] for at in sorted(kept))


def tail(log: Log, budget: int) -> bytes:
    lines = log.data.split(b"\n")
    return take(lines, range(len(lines) - 1, -1, -1), budget - FRAME_COST)


def grep(data: bytes, budget: int) -> bytes:
    """Error words with two lines of context, last hits first since a log ends with its failure; a third goes to the tail."""
    lines = data.split(b"\n")
    word = re.compile(rb"(?i)error|fail|exception|fatal|panic|traceback")
    hits = [at for at, line in enumerate(lines) if word.search(line)][-2000:]
    last = take(lines, range(len(lines) - 1, -1, -1), (budget - FRAME_COST) / 3)
    order = [near for at in reversed(hits) for near in range(max(at - 2, 0), min(at + 3, len(lines)))]
    return take(lines, order, (budget - FRAME_COST) * 2 / 3) + b"\n" + last


def grep_stored(log: Log, budget: int) -> bytes:
    return grep(log.data, budget)


def grep_cleaned(log: Log, budget: int) -> bytes:
    data = re.sub(rb"(?m)^(?:[^\t\n]+\t[^\t\n]+\t)?\[?\d{4}-\d\d-\d\dT[\d:.]+Z\]? ?(?:00O )?", b"", ctx.strip_ansi(log.data))
    return grep(data, budget)


ARMS: Dict[str, Callable[[Log, int], bytes]] = {"ctx": ranked, "tail": tail, "grep": grep_stored, "grep, cleaned": grep_cleaned}


# ── report ──


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="write evals/results/ranking.md")
    parser.add_argument("--part", choices=("dev", "held"), help="one half only")
    parser.add_argument("--fast", action="store_true", help="logs of at most 1 MB")
    parser.add_argument("--misses", action="store_true", help="print each fact that the ranking lost")
    options = parser.parse_args()
    kept: Dict[Tuple[str, str, int], List[int]] = {}
    sizes, spent, speed, per_log = [], [], [], []
    count = 0
    for log in logs(options.fast):
        if options.part not in (None, log.part):
            continue
        count += 1
        begin = time.process_time()
        ctx.parse_text([ctx.Source.of_bytes("output", log.data)], 1)
        took = time.process_time() - begin
        sizes.append(len(log.data))
        if len(log.data) > ctx.MIB:  # a small one measures how long the expressions take to compile
            speed.append(len(log.data) / max(took, 1e-9) / 1e6)
        row = []
        for arm, choose in ARMS.items():
            if options.misses and arm != "ctx":
                continue
            for size in SIZES:
                text = fold(ctx.strip_ansi(choose(log, size)).decode("utf-8", "replace"))
                lost = [fact for fact in log.facts if fact not in text]
                pair = kept.setdefault((log.part, arm, size), [0, 0])
                pair[0] += len(log.facts) - len(lost)
                pair[1] += len(log.facts)
                if arm == "ctx":
                    row.append("%d/%d" % (len(log.facts) - len(lost), len(log.facts)))
                    if size == SIZES[-1]:
                        spent.append(tokens(text.encode()) + FRAME_COST)
                    if options.misses:
                        for fact in lost:
                            print("%4d  %-50s %s" % (size, log.name[:50], fact[:120]))
        per_log.append((log.name, row))
        EVIDENCE.clear()
    lines = ["# Ranking of failure logs", ""]
    lines.append(
        "%s, ctx %s, CPython %s, `evals/ranking.py%s`"
        % (datetime.date.today().isoformat(), ctx.VERSION, sys.version.split()[0], " --fast" if options.fast else "")
    )
    lines += [
        "",
        "%d logs, %s to %s; share of critical facts in the lines chosen, header and receipt (%d tokens) paid out of each size."
        % (count, ctx.human(min(sizes)), ctx.human(max(sizes)), FRAME_COST),
        "",
    ]
    lines += [
        "| tools | arm | " + " | ".join("%s tokens" % ctx.commas(size) for size in SIZES) + " |",
        "|---|---|" + "---|" * len(SIZES),
    ]
    for part in ("dev", "held"):
        for arm in ARMS:
            cells = [kept.get((part, arm, size)) for size in SIZES]
            if cells[0]:
                lines.append(
                    "| %s | %s | %s |"
                    % (part, arm, " | ".join("%.0f%% (%d/%d)" % (100 * c[0] / c[1], c[0], c[1]) for c in cells if c))
                )
    lines += [
        "",
        "Tokens spent at the largest size: median %.0f. CPU speed of the profile on the %d logs over 1 MiB: median %.0f MB/s, slowest %.0f MB/s."
        % (statistics.median(spent), len(speed), statistics.median(speed), min(speed)),
        "",
    ]
    lines += ["| log | " + " | ".join(map(str, SIZES)) + " |", "|---|" + "---|" * len(SIZES)]
    lines += ["| %s | %s |" % (name, " | ".join(row)) for name, row in per_log]
    text = "\n".join(lines) + "\n"
    print(text if not options.misses else "\n".join(lines[:12]))
    if options.write:
        target = ROOT / "evals" / "results" / "ranking.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
