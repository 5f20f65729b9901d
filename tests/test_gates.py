"""What the hook answers after a tool, at a session's start and before a compaction; the payloads are those of test_hosts.py."""
from __future__ import annotations

import json
import subprocess

import pytest
from test_hosts import NESTED, claude, codex, copilot, copilot_pascal, gemini, ledger, process

import ctx

FLOOD = "".join("cc -c module%d.c -o module%d.o\n" % (i, i) for i in range(2000))
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def gate(home, monkeypatch, tmp_path):
    """gate(host, payload): what the hook answers, as JSON if that is what it is; it works in a directory of its own."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)

    def ask(host, payload):
        data = json.dumps(dict(payload, cwd=str(work))).encode()
        answer = ctx.hook(host, "", data, {})
        answer = ctx.gate_answer(host, "", data, {}) if answer is None else answer
        return json.loads(answer) if answer.startswith(b"{") else answer

    return ask


def bash(stdout=FLOOD, **more):
    return {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False, **more}


def ran(command="make", **more):
    return claude("PostToolUse", command=command, tool_response=bash(**more), duration_ms=53)


def kept(text):
    """The run whose handle stands in a text, the first one that does."""
    return ctx.resolve_run(text.split("run:", 1)[1][:12])


def stored(run):
    source = run.source("output")
    return source.read(0, source.size)


# ── entry: what a tool gave ──


def test_a_flood_of_claude_s_shell_becomes_a_digest_in_the_same_shape(gate):
    answer = gate("claude", ran())
    assert set(answer) == {NESTED} and set(answer[NESTED]) == {"hookEventName", "updatedToolOutput"}
    output = answer[NESTED]["updatedToolOutput"]
    digest = output.pop("stdout")
    assert output == {"stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
    run = kept(digest)
    assert digest.startswith("[ctx run:") and "exit: 0\n" in digest and len(digest) < 1000
    assert stored(run).decode() == FLOOD
    assert (run.manifest["kind"], run.manifest["argv"], run.manifest["cwd"]) == ("shell", ["make"], ".")
    entry = ledger()[-1]
    assert (entry["did"], entry["handle"], entry["bytes"], entry["shown"]) == ("replaced", run.handle, len(FLOOD), len(digest.encode()))


def test_the_host_s_own_file_has_all_of_it(gate, tmp_path):
    file = tmp_path / "persisted.txt"
    file.write_text(FLOOD)
    answer = gate("claude", ran(stdout=FLOOD[:1000], persistedOutputPath=str(file), persistedOutputSize=len(FLOOD)))
    output = answer[NESTED]["updatedToolOutput"]
    assert not any(key.startswith("persisted") for key in output)
    assert stored(kept(output["stdout"])).decode() == FLOOD


def test_a_persisted_file_that_is_gone_is_an_error_and_nothing_is_replaced(home, tmp_path):
    payload = ran(stdout=FLOOD[:5000], persistedOutputPath=str(tmp_path / "gone"), persistedOutputSize=len(FLOOD))
    done = process(["claude", "PostToolUse"], json.dumps(payload).encode(), home)
    assert (done.returncode, done.stdout) == (0, b"") and ledger()[-1]["did"] == "failed"


def test_errors_follow_the_output(gate):
    output = gate("claude", ran(stdout=FLOOD, stderr="warning: x\n"))[NESTED]["updatedToolOutput"]
    assert stored(kept(output["stdout"])).decode() == FLOOD + "warning: x\n" and output["stderr"] == ""


def test_a_character_that_the_host_has_cut_in_two(gate):
    for text in (FLOOD + "\ud83d", "\ude00" + FLOOD):
        output = gate("claude", ran(stdout=text))[NESTED]["updatedToolOutput"]
        assert stored(kept(output["stdout"])).decode().strip("?") == FLOOD
        assert gate("gemini", gemini("AfterTool", tool_response={"llmContent": text, "returnDisplay": ""}))["decision"] == "deny"


def test_no_success_is_claimed_for_a_status_that_is_not_told(gate):
    output = gate("claude", ran(returnCodeInterpretation="No matches found"))[NESTED]["updatedToolOutput"]
    assert kept(output["stdout"]).status is None and "exit: 0" not in output["stdout"]


@pytest.mark.parametrize("more", [{"backgroundTaskId": "b1"}, {"isImage": True}], ids=["background", "image"])
def test_what_is_no_output_is_left(gate, more):
    assert gate("claude", ran(**more)) == b"" and not ctx.all_occurrences()


def test_a_read_passes_up_to_the_content_budget(gate):
    text = "".join("line %d of a text\n" % i for i in range(600))
    assert 4096 < len(text) < 16384
    assert gate("claude", ran("cat notes.txt", stdout=text)) == b"" and ledger()[-1]["did"] == "left"


def test_an_interrupted_command_is_kept_but_not_replaced(gate):
    assert gate("claude", ran(interrupted=True)) == b""
    assert ledger()[-1]["did"] == "stored" and ctx.resolve_run(ledger()[-1]["handle"][4:]).partial == "interrupted"


# searches


def source_files(count=40):
    for i in range(count):
        with open("f%02d.py" % i, "w") as file:
            file.write("# Symbol\n" + "x = Symbol(%d)\n" % i * 30 + "def Symbol(x):\n    pass\n")


@pytest.mark.parametrize("command", ["grep -rn 'Symbol' .", "grep -rn Symbol . | grep -v none | grep -i SYM", "grep -rnE '(Symbol)' ."])
def test_a_flood_of_hits_is_seen_definitions_first(gate, command):
    source_files()
    found = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, check=True).stdout.decode()
    view = gate("claude", ran(command, stdout=found))[NESTED]["updatedToolOutput"]["stdout"]
    assert stored(kept(view)).decode() == found
    assert ": 1,280 lines, 1,280 hits in 40 files\n" in view and "\nhits in each file:\n" in view and len(view) < len(found) // 2
    by_name = "(" not in command
    assert ("\ndefinitions:\n" in view) == by_name and ("\nother hits:\n" in view) != by_name
    entry = ledger()[-1]
    assert (entry["did"], entry["rung"], entry["collapse_fires"]) == ("replaced", "reuse-index" if by_name else "bounded-search", 1)
    other = gate("gemini", gemini("AfterTool", command=command, tool_response={"llmContent": found, "returnDisplay": ""}))["reason"]
    assert other.replace(kept(other).handle, "run:") == view.replace(kept(view).handle, "run:")


@pytest.mark.parametrize("command", ["grep -rn Symbol . | sort", "cd /; grep -rn Symbol .", "grep -rn Symbol . > f", "bash -lc 'grep -rn Symbol .'"])
def test_what_more_than_a_search_printed_is_a_digest(gate, command):
    source_files()
    found = "".join("./f%02d.py:1:# Symbol\n" % (i % 40) for i in range(2000))
    gate("claude", ran(command, stdout=found))
    assert "collapse_fires" not in ledger()[-1]


def test_hits_in_other_places_are_a_digest(gate):
    found = "".join("./gone%02d.py:1:# Symbol\n" % (i % 40) for i in range(2000))
    gate("claude", ran("grep -rn Symbol .", stdout=found))
    assert "collapse_fires" not in ledger()[-1]


def test_a_few_hits_are_as_they_were(gate):
    source_files(8)
    found = "".join("./f%02d.py:%d:x = Symbol(1)\n" % (i % 8, i) for i in range(300))
    assert 4096 < len(found) < 16384
    assert gate("claude", ran("grep -rn Symbol .", stdout=found)) == b"" and ledger()[-1]["did"] == "left"


# our own


def test_what_ctx_printed_is_left(gate, run_ctx, tmp_path):
    (tmp_path / "flood").write_text(FLOOD * 30)
    digest = run_ctx("digest", str(tmp_path / "flood"), cwd=str(tmp_path)).stdout.decode()
    assert gate("claude", ran("./wrapper.sh", stdout=digest + "x" * 5000)) == b""
    for command in ("ctx get run:123456", "make 2>&1 | ctx tap --for make | tail -300", "cd x && python3 /opt/ctx.pyz search a", "bash -lc 'ctx run -- make'"):
        assert gate("claude", ran(command)) == b""
    assert not any(entry["did"] == "replaced" for entry in ledger())


def test_a_header_without_a_handle_in_the_store_is_somebody_else_s_text(gate):
    text = "[ctx run:0123456789ab profile=text/v1]\nexit: 0\n" + FLOOD
    output = gate("claude", ran(stdout=text))[NESTED]["updatedToolOutput"]
    assert stored(kept(output["stdout"])).decode() == text


# other tools


def test_a_long_file_is_cut_behind_a_line_and_the_rest_is_named(gate):
    text = "".join("%d: a line of a long file\ndef function_%d():\n" % (i, i) for i in range(1, 2501))
    file = {"filePath": "/w/f", "content": text, "numLines": 5000, "startLine": 1, "totalLines": 9000}
    answer = gate("claude", claude("PostToolUse", "Read", tool_input={"file_path": "/w/f"}, tool_response={"type": "text", "file": file}))[NESTED]
    shown = answer["updatedToolOutput"]["file"]
    assert text.startswith(shown["content"]) and shown["content"].endswith("\n") and 15_000 < len(shown["content"]) <= 16_384
    assert shown["numLines"] == shown["content"].count("\n")
    assert {**shown, "content": 0, "numLines": 0} == {**file, "content": 0, "numLines": 0}
    said = answer["additionalContext"]
    assert "--lines %d:\n" % (shown["numLines"] + 1) in said and stored(kept(said)).decode() == text
    assert "def function_2" in said and len(said) < 5000


@pytest.mark.parametrize(
    "tool, response, place",
    [
        ("Grep", {"mode": "content", "numFiles": 1, "filenames": [], "content": FLOOD, "numLines": 2000}, "content"),
        ("WebFetch", {"bytes": 9, "code": 200, "codeText": "OK", "result": FLOOD, "durationMs": 1, "url": "u"}, "result"),
    ],
)
def test_searches_and_pages(gate, tool, response, place):
    output = gate("claude", claude("PostToolUse", tool, tool_input={"pattern": "cc"}, tool_response=response))[NESTED]["updatedToolOutput"]
    assert {**output, place: 0} == {**response, place: 0} and stored(kept(output[place])).decode() == FLOOD


@pytest.mark.parametrize("response", [FLOOD * 5, [{"type": "text", "text": FLOOD * 2}, {"type": "text", "text": FLOOD * 3}]], ids=["text", "parts"])
def test_results_of_other_servers_keep_their_type(gate, response):
    payload = claude("PostToolUse", "mcp__srv__list", tool_input={"limit": 9, "token": SECRET}, tool_response=response)
    output = gate("claude", payload)[NESTED]["updatedToolOutput"]
    digest = output if isinstance(response, str) else output[0]["text"]
    assert type(output) is type(response) and (isinstance(output, str) or output == [{"type": "text", "text": digest}])
    run = kept(digest)
    assert stored(run).decode().replace("\n", "") == (FLOOD * 5).replace("\n", "")
    assert run.manifest["kind"] == "tool" and run.manifest["argv"][:2] == ["mcp__srv__list", "limit=9"]
    assert SECRET not in ctx.run_row(run)["command"]


def test_parts_that_are_no_text_are_left(gate):
    parts = [{"type": "text", "text": FLOOD}, {"type": "image", "data": "x" * 9000}]
    assert gate("claude", claude("PostToolUse", "mcp__srv__shot", tool_response=parts)) == b"" and not ctx.all_occurrences()


# other hosts


def test_codex_shows_the_digest_of_a_server_s_result_as_a_reason(gate):
    payload = codex("PostToolUse", tool_name="mcp__srv__list", tool_input={}, tool_response={"content": [{"type": "text", "text": FLOOD}]})
    answer = gate("codex", payload)
    assert set(answer) == {"decision", "reason"} and answer["decision"] == "block"  # it refuses an answer with any other key
    assert stored(kept(answer["reason"])).decode() == FLOOD


@pytest.mark.parametrize(
    "more",
    [
        {"tool_response": FLOOD},  # the exit status would go with the header
        {"tool_response": "Warning: truncated output (original token count: 88473)\n" + FLOOD},
        {"tool_name": "mcp__srv__list", "tool_use_id": "exec-1", "tool_response": {"content": [{"type": "text", "text": FLOOD}]}},  # code mode
    ],
    ids=["shell", "cut", "code mode"],
)
def test_what_codex_would_lose_is_only_stored(gate, more):
    assert gate("codex", codex("PostToolUse", **more)) == b""
    entry = ledger()[-1]
    assert entry["did"] == "stored" and bool(ctx.resolve_run(entry["handle"][4:]).partial) == ("truncated" in str(more))


@pytest.mark.parametrize(
    "head, foot, status",
    [
        ("<untrusted_context>\nOutput: ", "\nProcess Group PGID: 77\n</untrusted_context>", 0),
        ("<untrusted_context>\nOutput: ", "\nExit Code: 2\nProcess Group PGID: 77\n</untrusted_context>", 2),
        ("Output: ", "\nExit Code: 2\nProcess Group PGID: 77", 2),
        ("Output: ", "\nSignal: SIGKILL\nProcess Group PGID: 77\nmore", None),
        ("", "\nProcess Group PGID: 77", None),
    ],
)
def test_gemini_is_given_the_digest_for_success_and_failure(gate, head, foot, status):
    answer = gate("gemini", gemini("AfterTool", tool_response={"llmContent": head + FLOOD + foot, "returnDisplay": FLOOD}))
    assert set(answer) == {"decision", "reason"} and answer["decision"] == "deny"
    run = kept(answer["reason"])
    assert run.status == status and stored(run).decode() == (FLOOD if status is not None else head + FLOOD + foot)


def test_gemini_s_parts(gate):
    answer = gate("gemini", gemini("AfterTool", tool_name="mcp_srv_list", tool_input={}, tool_response={"llmContent": [{"text": FLOOD}], "returnDisplay": ""}))
    assert stored(kept(answer["reason"])).decode() == FLOOD


@pytest.mark.parametrize(
    "foot, status", [("", None), ("\n<shellId: 3 completed with exit code 1>", 1), ("\n<exited with exit code 0>\n", 0), ("\n<shellId: 3 is running>", None)]
)
def test_copilot_s_result_keeps_its_type(gate, foot, status):
    answer = gate("copilot", copilot(toolResult={"resultType": "success", "textResultForLlm": FLOOD + foot}))
    assert set(answer) == {"modifiedResult"} and answer["modifiedResult"]["resultType"] == "success"
    run = kept(answer["modifiedResult"]["textResultForLlm"])
    assert run.status == status and stored(run).decode() == FLOOD + (foot if status is None else "")


def saved_text(path, status):
    return "Output too large to read at once (334.0 KB). Saved to: %s\nConsider using tools.\n\nPreview:\ncc\n<shellId: 0 completed with exit code %d>" % (path, status)


def test_a_result_that_copilot_saved_is_read_from_its_file(gate, tmp_path):
    file = tmp_path / "1796-copilot-tool-output-11243-8bb1fcef-0e97.txt"
    file.write_text(FLOOD)
    result = {"resultType": "success", "textResultForLlm": saved_text(file, 2)}
    run = kept(gate("copilot", copilot(toolResult=result))["modifiedResult"]["textResultForLlm"])
    assert run.status == 2 and stored(run).decode() == FLOOD


def test_a_text_that_names_another_file_does_not_have_it_read(gate, tmp_path):
    (tmp_path / "secret.txt").write_text(FLOOD)
    for text in (saved_text(tmp_path / "secret.txt", 0), "x\n" + saved_text(tmp_path / "1-copilot-tool-output-1.txt", 0)):
        assert gate("copilot", copilot(toolResult={"resultType": "success", "textResultForLlm": text})) == b""
    assert not any(b"module" in stored(ctx.resolve_run(entry["handle"][4:])) for entry in ledger())


def test_copilot_under_claude_s_names_has_no_way_to_replace(gate):
    assert gate("", copilot_pascal("PostToolUse", tool_result={"text_result_for_llm": FLOOD})) == b""


# failures


def test_a_failure_of_claude_cannot_be_replaced_but_its_handle_is_told(gate):
    answer = gate("claude", claude("PostToolUseFailure", error="Exit code 3\n" + FLOOD, is_interrupt=False))
    assert set(answer[NESTED]) == {"hookEventName", "additionalContext"}
    run = kept(answer[NESTED]["additionalContext"])
    assert (run.status, run.partial) == (3, "") and stored(run).decode() == FLOOD


def test_a_failure_that_the_host_has_cut_is_partial(gate):
    answer = gate("claude", claude("PostToolUseFailure", error="Exit code 1\n%s\n\n[20012 characters truncated]\n\nx" % FLOOD[:9000]))
    assert "as far as the host tells it" in answer[NESTED]["additionalContext"]
    assert kept(answer[NESTED]["additionalContext"]).partial == "cut by the host"


def test_a_failure_that_is_short_or_ours_needs_no_word(gate, run_ctx, tmp_path):
    assert gate("claude", claude("PostToolUseFailure", error="Exit code 1\nno")) == b""
    (tmp_path / "flood").write_text(FLOOD * 30)
    digest = run_ctx("digest", str(tmp_path / "flood"), cwd=str(tmp_path)).stdout.decode()
    assert gate("claude", claude("PostToolUseFailure", command="./w.sh", error="Exit code 1\n" + digest + "x" * 5000)) == b""
    assert gate("claude", claude("PostToolUseFailure", command="ctx run -- make", error="Exit code 1\n" + FLOOD)) == b""


# ── residence ──

START = {"session_id": "06d4", "hook_event_name": "SessionStart", "transcript_path": "/t"}


def test_after_a_compaction_the_evidence_so_far_is_told(gate):
    for number in range(60):
        gate("claude", ran("make target%d" % (number % 50), stdout=FLOOD + str(number)))
    gate("claude", dict(ran("make other"), session_id="another"))
    for source in ("compact", "resume"):
        told = gate("claude", dict(START, source=source))[NESTED]["additionalContext"]
        lines = told.split("\n")
        assert lines[1].startswith("  exit 0  run:") and lines[1].endswith("  make target9") and "make other" not in told
        assert len({line.split("  ")[-1] for line in lines[1:]}) == len(lines) - 1 > 10  # the last of each command
        assert 300 < ctx.estimate_tokens(told.encode()) <= 400
    for source in ("startup", "clear", "", None):
        assert gate("claude", dict(START, source=source)) == b""


def test_another_session_in_the_same_workspace_is_told_what_there_is(gate):
    gate("claude", ran("curl -H 'Authorization: Bearer %s' x" % SECRET))
    told = gate("codex", {**START, "session_id": "new", "source": "resume", "turn_id": "t"})[NESTED]["additionalContext"]
    assert "curl" in told and SECRET not in told


def test_nothing_was_kept_nothing_is_told(gate):
    assert gate("claude", dict(START, source="compact")) == b""
    assert gate("claude", dict(START, hook_event_name="PreCompact", trigger="auto")) == b""


def test_the_summary_is_asked_to_keep_the_handles(gate):
    gate("claude", ran())
    text = gate("claude", dict(START, hook_event_name="PreCompact", trigger="auto")).decode()
    assert text.startswith("Keep these handles") and kept(text).manifest["argv"] == ["make"]


# ── as a process ──


def test_a_result_of_five_megabytes(gate):
    payload = claude("PostToolUse", "mcp__srv__list", tool_input={}, tool_response=[{"type": "text", "text": FLOOD * 84}])
    digest = gate("", payload)[NESTED]["updatedToolOutput"][0]["text"]
    assert stored(kept(digest)).decode() == FLOOD * 84 and len(digest) < 2000


def test_a_replaced_result_as_the_host_is_told_it(home):
    done = process([], json.dumps(ran()).encode(), home)
    assert (done.returncode, done.stderr) == (0, b"")
    assert stored(kept(json.loads(done.stdout)[NESTED]["updatedToolOutput"]["stdout"])).decode() == FLOOD


def test_a_store_that_cannot_be_written_leaves_the_result(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    done = process([], json.dumps(ran()).encode(), tmp_path / "file" / "store", TMPDIR=str(tmp_path / "file"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
