"""Test runners other than pytest and unittest: what their reports say, as facts."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_corpus import Case

import ctx

pytestmark = pytest.mark.once  # much data: on the main Python only

CORPUS = Path(__file__).parent / "corpus"
REPORTS = {row.name + "/v1" for row in ctx._RECORDS} | {"junit-xml/v1", "sarif/v1", "checkstyle/v1"}
PROFILES = {row.name + "/v1" for row in ctx.RUNNERS} | REPORTS
CASES = sorted(path.parent.name for path in CORPUS.glob("*/truth.json") if json.loads(path.read_text("utf8")).get("profile") in PROFILES)


def sources(**streams):
    """Sources over texts."""
    return [ctx.Source.of_bytes(name, data if isinstance(data, bytes) else data.encode()) for name, data in streams.items()]


def parse(text, status=1):
    """The evidence in a text on stdout."""
    return ctx.parse_runners(sources(stdout=text), status)


def only(text, status=1):
    """The one evidence in a text."""
    (evidence,) = parse(text, status)
    return evidence


def reported(text):
    """The one machine report in a text."""
    (evidence,) = ctx.parse_reports(sources(stdout=text), 1)
    return evidence


def names(evidence, kinds=("failed", "error", "suite")):
    """The identities of an evidence, as text, in order."""
    return [fact.identity.decode("utf8", "replace") for fact in evidence.facts if fact.kind in kinds]


@pytest.mark.parametrize("name", CASES)
def test_corpus_case(name):
    case = Case(name)
    streams = [ctx.Source.of_bytes(stream, data) for stream, data in case.streams.items() if data]
    found = (ctx.parse_reports if case.truth["profile"] in REPORTS else ctx.parse_runners)(streams, case.status)
    assert sorted(evidence.profile for evidence in found) == sorted([case.truth["profile"], *case.truth.get("also", ())])
    evidence = next(evidence for evidence in found if evidence.profile == case.truth["profile"])
    assert evidence.unsure == case.truth.get("unsure", "")
    told = set(case.told("identities"))
    facts = [fact.identity.decode("utf8", "replace") for fact in evidence.facts]
    assert len(set(facts)) == len(facts)
    tests = names(evidence, ("failed", "error", "warning", "style"))
    for identity in told:  # spelt whole, or as the end of a name that tells more
        assert any(fact == identity or identity in fact for fact in facts), identity
    for fact in tests:
        assert any(identity in fact for identity in told), fact
    assert len(facts) >= len(told)
    assert evidence.outcome == ("failed" if ctx.failing_facts(evidence) else "" if told else "passed")
    if case.truth["profile"] in REPORTS:
        assert evidence.claimed == len(told)
    for fact in evidence.facts:
        source = next(source for source in streams if source.name == fact.stream)
        assert 0 < fact.first <= fact.last <= source.lines
        if fact.quoted:
            assert ctx.clean(fact.message) in ctx.normal(source.line(fact.quoted))
        assert all(quote.text == said(case.truth["profile"], source.line(quote.first)) for quote in fact.context)
    locations = [fact.location.decode("utf8", "replace") for fact in evidence.facts]
    failures = {failure.get("location") for failure in case.truth.get("failures", ())} - {None}
    assert all(any(place in location for location in locations) for place in failures)
    assert all(evidence.totals.get(label, count) == count for label, count in case.truth.get("outcome", {}).items())


def said(profile, line):
    """What a line quotes: itself, of an event of go's the output that it tells."""
    return json.loads(line)["Output"].rstrip("\n").encode() if profile == "go-json/v1" else line


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith(("_fail", "_small", "_spec"))])
@pytest.mark.parametrize("change", ["crlf", "stamped", "columns", "merged"])
def test_looks_through(name, change):
    """Windows line ends, timestamps and columns of CI systems, and merged streams change nothing."""
    case = Case(name)
    before = ctx.parse_runners([ctx.Source.of_bytes(stream, data) for stream, data in case.streams.items() if data], case.status)
    lines = [line for data in (case.streams["stdout"], case.streams["stderr"]) for line in data.splitlines()]
    wrap = {
        "crlf": b"%s\r\n",
        "stamped": b"2026-11-30T07:57:02.3165360Z %s\n",
        "columns": b"build\tRun tests\t2026-11-30T07:57:02.3165360Z %s\n",
        "merged": b"%s\n",
    }[change]
    after = ctx.parse_runners(sources(output=b"".join(wrap % line for line in lines)), case.status)
    assert [(sorted(names(evidence)), evidence.unsure) for evidence in after] == [(sorted(names(evidence)), evidence.unsure) for evidence in before]


JEST = """FAIL {0}
  ● a › works

    expect(received).toBe(expected)

    Expected: 1
    Received: 2

      at Object.toBe ({0}:3:5)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 total
Time:        1 s
"""


def test_two_runs_of_one_tool_each_count():
    evidence = only(JEST.format("src/a.test.js") + JEST.format("src/b.test.js"))
    assert names(evidence) == ["src/a.test.js › a › works", "src/b.test.js › a › works", "src/a.test.js", "src/b.test.js"]
    assert (evidence.claimed, evidence.unsure, evidence.totals["failed"]) == (4, "", 2)


def test_the_same_run_twice_names_each_once():
    evidence = only(JEST.format("src/a.test.js") * 2)
    assert names(evidence) == ["a › works", "src/a.test.js"]
    assert evidence.claimed == 2


def test_more_names_than_the_tool_counts_is_unsure():
    fake = "  ● ghost › printed\n\n    boo\n\n"
    assert only("FAIL src/a.test.js\n" + fake + JEST.format("src/a.test.js")).unsure


def test_a_cut_report_does_not_pass_for_whole():
    evidence = only("Test Suites: 3 failed, 3 total\nTests:       9 failed, 9 total\nTime:        1 s\n")
    assert (evidence.facts, evidence.claimed, evidence.outcome) == ([], 12, "failed")


@pytest.mark.parametrize(
    "text",
    [
        "ok 1 - this is prose\nnot ok, he said\n",
        "    const text = '--- FAIL: TestX (0.00s)';\n",
        "+--- FAIL: TestX (0.00s)\n-  1) Failure:\n",
        "  1) first\n  2) second\n",
        "12 failing\n",
        "Tests run: many, Failures: few\n",
        "running 3 tests of patience\n",
        "1..3 is a range\n",
    ],
)
def test_what_only_looks_like_a_report(text):
    assert parse(text) == []


def test_go_crash_names_package_and_test():
    text = "--- FAIL: TestBoom (0.00s)\npanic: assignment to entry in nil map\n\ngoroutine 7 [running]:\nm.TestBoom(0x0)\n\t/src/m/m_test.go:9 +0x2\nFAIL\tm\t0.1s\nFAIL\n"
    evidence = only(text)
    assert [(fact.kind, fact.identity) for fact in evidence.facts] == [("failed", b"TestBoom"), ("suite", b"m")]
    assert (evidence.facts[0].location, evidence.facts[0].message) == (b"/src/m/m_test.go:9", b"panic: assignment to entry in nil map")


def test_tap_that_stops_early_is_unsure():
    evidence = only("TAP version 13\n1..4\nok 1 - a\nnot ok 2 - b\n")
    assert names(evidence) == ["b"]
    assert "4 tests were planned" in evidence.unsure


def test_go_events_explain_all_of_themselves_and_what_a_test_printed():
    event = lambda action, test, said=None: json.dumps({"Time": "2026-01-01T00:00:00Z", "Action": action, "Package": "ex/p", "Test": test, **({} if said is None else {"Output": said})}, separators=(",", ":"))  # noqa: E731
    lines = [event("run", "TestA"), event("output", "TestA", "=== RUN   TestA\n"), event("pass", "TestA"), event("run", "TestB")]
    lines += [event("output", "TestB", "    p_test.go:%d: %s\n" % (number, words)) for number, words in ((4, "before"), (5, "got 1"), (6, 'got "x"'))]
    lines += [event("fail", "TestB"), event("run", "TestC"), event("pass", "TestC")]
    evidence = only("\n".join(lines) + "\n")
    assert evidence.span == [("stdout", 1, len(lines))]
    (fact,) = evidence.facts
    assert (fact.identity, fact.location, fact.message) == (b"TestB", b"p_test.go:4", b"before")
    assert [(quote.first, quote.text.strip()) for quote in fact.context][0] == (6, b"p_test.go:5: got 1")


def test_tap_todo_and_skip_do_not_fail():
    assert only("1..3\nnot ok 1 - a # TODO later\nok 2 - b # SKIP\nok 3 - c\n", 0).outcome == "passed"


JUNIT = (
    '<?xml version="1.0"?>\n<testsuite name="s" tests="3" failures="1" errors="1">\n<testcase classname="a.B" name="x"/>\n'
    '<testcase classname="a.B" name="y &lt;z&gt;"><failure message="1 &amp; 2 differ">at B.java:3</failure></testcase>\n'
    '<testcase classname="a.B" name="w"><error><![CDATA[boom\nmore]]></error><system-out><![CDATA[<failure/></testcase>]]></system-out></testcase>\n</testsuite>\n'
)


def test_junit_xml_in_the_output():
    evidence = reported("what was printed before\n" + JUNIT)
    assert [(fact.identity, fact.message, fact.first) for fact in evidence.facts] == [(b"a.B::y <z>", b"1 & 2 differ", 5), (b"a.B::w", b"boom", 6)]
    assert (evidence.claimed, evidence.unsure, evidence.span) == (2, "", [("stdout", 2, 8)])


def test_junit_xml_that_is_cut_is_unsure():
    assert reported(JUNIT[: JUNIT.index("</testsuite>")]).unsure


def test_junit_messages_are_not_the_name_again():
    """PHPUnit begins the text of a failure with the name of its test."""
    text = JUNIT.replace("<![CDATA[boom\nmore]]>", "a.B::w with data set #1 (1)\n\nFailed asserting that 1 is 0.\n\n/t/B.php:5")
    assert [fact.message for fact in reported(text).facts] == [b"1 & 2 differ", b"Failed asserting that 1 is 0."]
    assert [fact.message for fact in reported(JUNIT.replace("<![CDATA[boom\nmore]]>", "a.B::w")).facts][1] == b"a.B::w"


def test_junit_counts_of_several_suites():
    text = "<testsuites>\n" + JUNIT.split("\n", 1)[1] + JUNIT.split("\n", 1)[1].replace('errors="1"', 'errors="3"').replace("a.B", "c.D") + "</testsuites>\n"
    evidence = reported(text)
    assert (len(evidence.facts), evidence.claimed) == (4, 6)


def test_junit_suites_inside_of_a_suite():
    text = '<testsuite failures="2">\n<testsuite failures="1">\n<testcase name="x"><failure/></testcase>\n</testsuite>\n<testcase name="y"><failure/></testcase>\n</testsuite>\n'
    evidence = reported(text)
    assert ([fact.identity for fact in evidence.facts], evidence.claimed, evidence.unsure, evidence.span) == ([b"x", b"y"], 2, "", [("stdout", 1, 6)])


@pytest.mark.parametrize("run", [{"results": {"a": 1}}, {"results": ["x"]}, {"results": None}, {"tool": {"driver": {"name": "t", "rules": 3}}, "results": [{}]}])
def test_sarif_of_any_form(run):
    ctx.parse_reports(sources(stdout=json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, **run}]}) + "\n"), 1)


SARIF = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "t", "rules": [{"id": "R1", "defaultConfiguration": {"level": "error"}}, {"id": "R2"}]}},
            "results": [
                {"ruleId": "R1", "message": {"text": "broken\nmore"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///a%20b.c"}, "region": {"startLine": 3}}}]},
                {"ruleId": "R2", "message": {"text": "odd"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "c.c"}, "region": {"startLine": 4, "startColumn": 2}}}]},
                {"ruleId": "R2", "message": {"text": "known"}, "suppressions": [{"kind": "inSource"}]},
                {"ruleId": "R2", "message": {"text": "fine"}, "kind": "pass"},
            ],
        }
    ],
}


@pytest.mark.parametrize("indent", [None, 2])
def test_sarif_levels_and_suppressions(indent):
    text = json.dumps(SARIF, indent=indent)
    evidence = reported("$ scan\n" + text + "\n")
    assert [(fact.kind, fact.identity, fact.message) for fact in evidence.facts] == [("error", b"/a b.c:3 R1", b"broken"), ("warning", b"c.c:4:2 R2", b"odd")]
    assert evidence.totals == {"errors": 1, "warnings": 1, "suppressed": 2}
    assert evidence.facts[1].first == (2 if not indent else 2 + text[: text.index('"odd"')].count("\n"))


def test_a_json_report_among_other_lines():
    report = {"numFailedTests": 2, "numPassedTests": 0, "testResults": [{"name": "/a.js", "status": "failed", "message": "", "assertionResults": [
        {"ancestorTitles": ["a"], "fullName": "a é", "status": "failed", "title": "é", "failureMessages": ["Error: boom\n    at f (/a.js:3:4)"], "location": None}]}]}  # fmt: skip
    evidence = reported("> app@1 test\n[info] x\n" + json.dumps(report) + "\nnpm error\n")
    assert [(fact.identity, fact.location, fact.message, fact.first) for fact in evidence.facts] == [("a é".encode(), b"/a.js:3:4", b"Error: boom", 3)]
    assert (evidence.claimed, evidence.span) == (2, [("stdout", 3, 3)])


@pytest.mark.parametrize(
    "document",
    [
        {"runs": [{"id": 1, "status": "failed"}], "total_count": 1},
        {"event": "batch", "passed": 3, "failed": 2},
        {"type": "login", "event": "failed", "name": "bob"},
        {"nodeid": "x", "outcome": "failed"},
        {"expected": 1, "unexpected": 2, "flaky": 0, "expectedStatus": None},
    ],
)
def test_json_that_only_looks_like_a_report(document):
    assert ctx.parse_reports(sources(stdout=json.dumps(document) + "\n"), 1) == []


def test_events_without_their_end_are_unsure():
    assert reported('{"type": "test", "event": "failed", "name": "a::b", "stdout": "x"}\n').unsure == "the tool's own totals are missing"


@pytest.mark.parametrize(
    "line",
    [
        "- generated xml file: /home/dev/project/report.xml -",
        "Results written to out/scan.sarif",
        "JUnit report saved to 'junit-results.xml'",
        "  Report: file:///srv/app/index.html",
        "2026-11-30T07:57:02.3165360Z wrote report to ./r.tap",
    ],
)
def test_a_report_that_is_only_named(line):
    """The line is told; the file is not read."""
    found = ctx.examine(sources(stdout=JEST.format("src/a.test.js") + line + "\n"), 1)
    assert [note.text.decode() for evidence in found for note in evidence.notes] == [line]


DOCUMENTED = {  # formats of tools that were not run, from their documentation
    "gradle-test": (
        "> Task :test FAILED\n\ncom.acme.CalcTest > adds() FAILED\n    org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n        at app//com.acme.CalcTest.adds(CalcTest.java:7)\n\n"
        "CalcTest > rows(int) > [2] 2 FAILED\n    java.lang.IllegalStateException at CalcTest.java:12\n\n5 tests completed, 2 failed, 1 skipped\n\nFAILURE: Build failed with an exception.\n",
        ["com.acme.CalcTest > adds()", "CalcTest > rows(int) > [2] 2"], ["CalcTest.java:7", "CalcTest.java:12"],
    ),
    "dotnet-test": (
        "  Failed Calc.Tests.CalcTests.Adds(a: 1, b: 2) [12 ms]\n  Error Message:\n   Assert.Equal() Failure\nExpected: 3\nActual:   2\n  Stack Trace:\n     at Calc.Tests.CalcTests.Adds(Int32 a) in /home/dev/project/CalcTests.cs:line 12\n\n"
        "Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 20 ms - Calc.Tests.dll (net8.0)\n",
        ["Calc.Tests.CalcTests.Adds(a: 1, b: 2)"], ["/home/dev/project/CalcTests.cs:12"],
    ),
    "xctest": (
        "Test Suite 'All tests' started at 2026-01-01 10:00:00.000\nTest Case 'CalcTests.testAdds' started at 2026-01-01 10:00:00.000\n/home/dev/project/Tests/CalcTests.swift:12: error: CalcTests.testAdds : XCTAssertEqual failed: (\"3\") is not equal to (\"4\") - \n"
        "Test Case 'CalcTests.testAdds' failed (0.01 seconds)\nTest Suite 'All tests' failed at 2026-01-01 10:00:01.000\n\t Executed 3 tests, with 1 failure (0 unexpected) in 0.02 (0.02) seconds\n",
        ["CalcTests.testAdds"], ["/home/dev/project/Tests/CalcTests.swift:12"],
    ),
    "swift-testing": (
        "✘ Test adds() recorded an issue at CalcTests.swift:5:3: Expectation failed: (1 + 1 → 2) == 3\n✘ Test adds() failed after 0.001 seconds with 1 issue.\n✔ Test fine() passed after 0.001 seconds.\n✘ Test run with 2 tests failed after 0.002 seconds with 1 issue.\n",
        ["adds()"], ["CalcTests.swift:5:3"],
    ),
    "scalatest": (
        "[info] CalcSpec:\n[info] Calc\n[info] - should add *** FAILED ***\n[info]   2 did not equal 3 (CalcSpec.scala:10)\n[info] - is fine\n[info] Run completed in 200 milliseconds.\n[info] Total number of tests run: 2\n"
        "[info] Suites: completed 1, aborted 0\n[info] Tests: succeeded 1, failed 1, canceled 0, ignored 0, pending 0\n[info] *** 1 TEST FAILED ***\n",
        ["should add"], ["CalcSpec.scala:10"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_documented_formats(name):
    text, identities, locations = DOCUMENTED[name]
    evidence = only(text)
    assert evidence.profile == name + "/v1"
    assert (names(evidence), evidence.unsure) == (identities, "")
    assert [fact.location.decode() for fact in evidence.facts] == locations


PIECES = [
    b"FAIL ", b"  \xe2\x97\x8f ", b"Test Suites: 1 failed\nTests: ", b"not ok ", b"1..3\n", b"--- FAIL: ", b"test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n", b"---- a stdout ----\n",
    b"  1) ", b"  3 failing\n", b"  1 passing (3ms)\n", b"\n\n", b"\xe2\x84\xb9 tests 1\n", b"[  FAILED  ] ", b"[ RUN      ] A.b\n", b"[==========] ", b"The following tests FAILED:\n\t  1 - a (Failed)\n", b"<testsuite><testcase>",
    b"</testsuite>\n", b"{\"Action\":\"fail\"}\n", b" FAIL  a > b\n", b"Test Files  1 failed\n", b"\xff\x00", b"(0.00s)\n", b"x" * 50, b"\r", b"\x1b[31m", b"Finished in 1 s\n1 example, 1 failure\n",
]  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from([0, 1, None]))
def test_any_bytes(pieces, status):
    """Whatever is printed: no exception, every line number real, each identity once, the same answer again."""
    data = b"".join(pieces)
    found = ctx.parse_runners(sources(output=data), status)
    lines = data.count(b"\n") + 1
    for evidence in found:
        pairs = [(fact.identity, fact.location) for fact in evidence.facts]
        assert len(pairs) == len(set(pairs))
        for fact in evidence.facts:
            assert 0 < fact.first <= fact.last <= lines
    assert [names(evidence) for evidence in ctx.parse_runners(sources(output=data), status)] == [names(evidence) for evidence in found]


def test_large_output_is_read_in_part():
    """Of an output beyond the window, failures and totals are found all the same; what cannot be confirmed is unsure."""
    noise = b"=== RUN   TestFine\n    fine_test.go:5: a line of log that says nothing\n--- PASS: TestFine (0.00s)\n" * 120_000
    evidence = only(noise + b"=== RUN   TestBad\n    bad_test.go:7: it broke\n--- FAIL: TestBad (0.00s)\n" + noise + b"FAIL\nFAIL\texample.com/m\t9.1s\nFAIL\n")
    assert names(evidence) == ["TestBad", "example.com/m"]
    assert evidence.facts[0].location == b"bad_test.go:7"


def test_spans_leave_out_what_stands_between_two_runs():
    """What another tool says between two runs is not the runner's."""
    between = "gcc: error: no input files\n" * 6
    evidence = only(JEST.format("src/a.test.js") + between + JEST.format("src/b.test.js"))
    lines = JEST.count("\n")
    assert [(first, last) for _, first, last in evidence.span] == [(1, lines), (lines + 7, 2 * lines + 6)]


GO = "--- FAIL: TestA (0.00s)\n    a_test.go:3: bad\nFAIL\nFAIL\texample.com/a\t0.01s\n"


@pytest.mark.parametrize("head", ["packages/a test: ", "@org/a:test: ", "web:test:unit: ", "@org/a: ", "[@org/a]: ", "web-1  | ", "2024-05-01T12:00:00.123456Z 01O "])
def test_task_before_every_line(head):
    evidence = only("".join(head + line + "\n" for line in GO.splitlines()))
    assert names(evidence) == ["TestA", "example.com/a"]
    assert evidence.facts[0].location == b"a_test.go:3"


def test_tap_out_of_turn():
    evidence = only("1..3\nok 1 - a\nnot ok 7 - fake\nnot ok 2 - b\nnot ok 1 - fake\nok 3 - c\n")
    assert names(evidence) == ["b"]
    assert evidence.totals["failed"] == 1 and not evidence.unsure


def test_close_that_a_test_printed():
    fake = "\n  1 failed\n    fake.ts:1:1 › fake\n  3 passed (1s)\n"
    real = "\n  1) a.ts:2:1 › b › step ───\n\n    Error: x\n\n  1 failed\n    a.ts:2:1 › b ───\n  2 passed (1s)\n"
    evidence = only("Running 3 tests using 1 worker\n" + fake + real)
    assert names(evidence) == ["a.ts:2:1 › b"]
    assert evidence.totals == {"failed": 1, "passed": 2}


def test_go_heads_stand_as_deep_as_their_names():
    assert names(only(GO.replace("bad\n", "bad\n        --- FAIL: TestFake (0.00s)\n"))) == ["TestA", "example.com/a"]
