"""seq: steps known beforehand, one digest; a killed or signalled sequence loses nothing. plan: a bounded graph, checked before it runs. ask: a question
that becomes one."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest
import receipts
from harness import program, wait_for

import ctx

SCHEMA = Path(__file__).resolve().parent.parent / "docs" / "plan.schema.json"
PAGE = SCHEMA.parent / "plans.md"


def seq(box, *steps, flags=(), **options):
    words = [word for step in steps for word in ("--step", step)]
    done = box.ctx("seq", *flags, *words, **options)
    assert b"Traceback" not in done.stderr
    return done


FAILING = "def test_a():\n    assert 1 == 2\n" + "".join("def test_b%d():\n    pass\n" % i for i in range(200))


def test_small_outputs_stand_below_their_steps(box):
    done = seq(box, "echo one; echo two >&2", "printf 'no end'")
    lines = done.stdout.decode().split("\n")
    assert done.returncode == 0 and done.stderr == b""
    assert lines[:3] == ["[ctx seq 2 steps]", "exit: 0", "steps:"]
    assert lines[3].startswith("  1  ok  run:") and lines[3].endswith("  <1 s  echo one; echo two >&2")
    assert lines[4:6] == ["    1: one", "    stderr 1: two"] and lines[7] == "    1: no end"
    assert lines[8:] == ["coverage:", "  steps: 2 ok", "  omitted: 0 lines", ""]


def test_it_halts_at_the_first_failure_and_shows_its_digest(box):
    (box.work / "test_x.py").write_text(FAILING)
    done = seq(box, "seq 3000", "%s -m pytest -v -p no:cacheprovider test_x.py" % sys.executable, "touch never")
    text = done.stdout.decode()
    assert done.returncode == 1 and not (box.work / "never").exists()
    assert "  steps: 1 ok · 1 failed · 1 not run\n  omitted: 3,000 lines\n" in text
    head, _, digest = text.partition("first failure: step 2, with a receipt of its own\n")
    assert "test_x.py::test_a" in digest and receipts.check(digest.encode(), box.last().sources())
    for name in box.names():
        assert ctx.load_occurrence(box.inside, name).handle in head


def test_keep_going_runs_all_and_returns_the_first_failure(box):
    done = seq(box, "exit 3", "exit 4", "touch late", flags=["--keep-going"])
    assert done.returncode == 3 and (box.work / "late").exists()
    assert "steps: 1 ok · 2 failed\n" in done.stdout.decode()


def test_the_status_of_a_step_that_cannot_be_found_or_is_killed(box):
    assert seq(box, "no-such-program").returncode == 127
    done = seq(box, "kill -9 $$")
    assert done.returncode == 137 and "  1  killed by SIGKILL  run:" in done.stdout.decode()


def test_parallel_steps_run_together(box):
    wait = "touch %s; i=0; while [ ! -e %s ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done; [ -e %s ]"
    done = seq(box, wait % ("a", "b", "b"), wait % ("b", "a", "a"), flags=["--parallel", "2"])
    assert done.returncode == 0 and "steps: 2 ok" in done.stdout.decode()


def test_parallel_and_serial_give_the_same_digest(box):
    steps = ["seq %d" % n for n in range(1, 9)]
    assert seq(box, *steps).stdout == seq(box, *steps, flags=["--parallel", "4"]).stdout


def test_a_time_limit_ends_a_step(box):
    done = seq(box, "echo early; sleep 600", flags=["--timeout", "1"])
    assert done.returncode == 124
    assert "  1  timeout  run:" in done.stdout.decode() and "    1: early\n" in done.stdout.decode()


@pytest.mark.parametrize("text", ["echo a\n# no step\n\n   \necho b\n", "echo a\necho b"])
def test_steps_from_a_file_and_from_stdin(box, text):
    (box.work / "steps").write_text(text)
    done = box.ctx("seq", "steps")
    assert "steps: 2 ok" in done.stdout.decode()
    assert box.ctx("seq", input=text.encode()).stdout == done.stdout == box.ctx("seq", "-", input=text.encode()).stdout


@pytest.mark.parametrize("words", [[], ["/nowhere"], ["--step", "true", "word"], ["--step", " "], ["--parallel", "0", "--step", "true"],
                                   [word for _ in range(65) for word in ("--step", "true")]])  # fmt: skip
def test_what_cannot_be_taken_is_said_and_nothing_runs(box, words):
    done = box.ctx("seq", *words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.startswith(b"ctx seq: ") and done.stderr.count(b"\n") == 1
    assert not box.store.exists() or not box.names()


def test_json(box):
    done = seq(box, "echo x", "exit 3", "true", flags=["--json"])
    answer = json.loads(done.stdout)
    assert [(step["outcome"], step["exit"]) for step in answer["steps"]] == [("ok", 0), ("exit 3", 3), ("not run", None)]
    assert box.bytes(answer["steps"][0]["handle"][4:]) == b"x\n" and answer["steps"][2]["handle"] is None


def test_secrets_and_controls_of_steps_are_not_shown(box):
    token = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    done = seq(box, "echo %s; printf '\\033[31m'" % token)
    assert token.encode() not in done.stdout and b"[redacted:github-token:" in done.stdout and b"\033" not in done.stdout


def test_output_cannot_pass_for_a_step_or_a_receipt(box):
    done = seq(box, "printf '[ctx seq 9 steps]\\nexit: 0\\n  2  ok  run:000000000000\\n'; exit 1")
    assert [line for line in done.stdout.split(b"\n") if line.startswith((b"[ctx", b"exit:", b"  2"))] == [b"[ctx seq 1 step]", b"exit: 1"]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_reaches_the_step_and_ends_the_sequence(box, name):
    process = box.start("seq", "--step", "echo early; : > ready; exec sleep 600", "--step", "touch never")
    wait_for(lambda: (box.work / "ready").exists())
    process.send_signal(getattr(signal, name))
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 128 + getattr(signal, name) and not (box.work / "never").exists()
    assert "    1: early\n" in out and "1 not run" in out


@pytest.mark.parametrize("keep_going", [(), ("--keep-going",)])
def test_steps_that_a_signal_kept_from_being_begun_are_no_success(box, keep_going):
    """Though the step that it found ended well."""
    process = box.start("seq", *keep_going, "--step", "trap '' TERM; touch ready; while [ ! -e go ]; do sleep 0.05; done", "--step", "touch never")
    wait_for(lambda: (box.work / "ready").exists())
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    (box.work / "go").touch()
    out = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 143 and not (box.work / "never").exists()
    assert "\nexit: 143\n" in out and "steps: 1 ok · 1 not run" in out


def test_an_interrupt_from_the_terminal(box):
    terminal = box.terminal(*program(), "seq", "--step", "echo early; : > ready; exec sleep 600", "--step", "touch never")
    wait_for(lambda: (box.work / "ready").exists())
    terminal.type(b"\x03")
    assert terminal.finish() == 130 and b"1 not run" in terminal.seen and not (box.work / "never").exists()


def test_what_a_killed_sequence_had_captured_stays(box):
    process = box.start("seq", "--step", "echo first", "--step", "echo $$ > ready; exec sleep 600")
    wait_for(lambda: (box.work / "ready").exists() and (box.work / "ready").read_text())
    process.kill()
    process.wait()
    assert box.bytes(ctx.load_occurrence(box.inside, box.names()[0]), "stdout") == b"first\n"
    os.kill(int((box.work / "ready").read_text()), signal.SIGKILL)


def test_without_a_store_the_steps_run_and_their_output_passes(box):
    (box.work / "file").write_text("")
    env = {"CTX_HOME": str(box.work / "file" / "no"), "TMPDIR": str(box.work / "file"), "HOME": ""}
    done = seq(box, "seq 3000", "exit 5", env=env)
    assert done.returncode == 5 and b"2999\n3000\n" in done.stdout and b"set CTX_HOME" in done.stdout


# ── plan


def plan_of(*nodes, **more):
    return dict({"schema": "ctx.plan/v1", "nodes": list(nodes)}, **more)


def plan(box, action, value, *flags, **options):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    done = box.ctx("plan", action, "-", *flags, input=text, **options)
    assert b"Traceback" not in done.stderr
    return done


def answer_of(box, *nodes, **more):
    """A plan's answer as data, its commands allowed."""
    return json.loads(plan(box, "run", plan_of(*nodes, **more), "--allow-run", "--json").stdout)


def outcomes(answer):
    return {node["id"]: node["outcome"] for node in answer["nodes"]}


@pytest.fixture
def shop(box):
    (box.work / "shop.py").write_text(SHOP)
    (box.work / "test_shop.py").write_text(SHOP_TESTS)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=u", "-c", "user.email=u@x", "commit", "-qm", "a shop"]):
        assert box.plain(["git", *words]).returncode == 0
    return box


SHOP = """\
class Cart:
    def __init__(self):
        self.items = []

    def total(self, rate):
        return price_of(self.items, rate)


def price_of(items, rate):
    return sum(items) / rate
"""
SHOP_TESTS = """\
from shop import Cart, price_of


def test_total():
    assert Cart().total(0) == 0


class TestPrice:
    def test_price(self):
        assert price_of([1], 0) == 1

    def test_sum(self):
        assert 3 == (
            price_of([2], 1))
"""
TESTS = {"id": "tests", "run": "%s -B -m pytest -p no:cacheprovider" % sys.executable}


def test_the_schema_that_is_published_is_what_the_code_reads():
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == ctx.PLAN_SCHEMA, "run: python3 tests/test_plans.py --write"
    words, schemas = set(), [ctx.PLAN_SCHEMA]
    while schemas:
        schema = schemas.pop()
        words.update(schema)
        schemas += [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    assert words == {"$schema", "title", "type", "const", "enum", "pattern", "required", "additionalProperties", "properties", "oneOf", "items",
                     "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}  # fmt: skip


Q = {"id": "q", "query": "files"}
MISTAKES = [
    (b"{", [""]),
    ([], [""]),
    ({}, ["", ""]),
    ({"schema": "ctx.plan/v2", "nodes": [Q], "more": 1}, ["/schema", "/more"]),
    (plan_of(), ["/nodes"]),
    (plan_of(*[dict(Q, id="q%d" % i) for i in range(25)]), ["/nodes"]),
    (plan_of(Q, limits={"seconds": 0, "tokens": 10**6, "nodes": 3}), ["/limits/seconds", "/limits/tokens", "/limits/nodes"]),
    (plan_of(Q, dict(Q, id="r"), limits={"tokens": 100}), ["/limits/tokens"]),
    (plan_of(Q, limits={"seconds": True}), ["/limits/seconds"]),
    (plan_of({"id": "a"}, {"id": "B", "query": ""}, {"id": "c", "query": "files", "run": "x"}), ["/nodes/0", "/nodes/1/id", "/nodes/1/query", "/nodes/2"]),
    (plan_of(Q, Q), ["/nodes/1/id"]),
    (plan_of(dict(Q, query="fles"), dict(Q, id="r", query="files | grup x")), ["/nodes/0/query", "/nodes/1/query"]),
    (plan_of(dict(Q, query="@r | count"), dict(Q, id="r")), ["/nodes/0/query"]),
    (plan_of(Q, dict(Q, id="r", query="@q | where nope = 1")), ["/nodes/1/query"]),
    (plan_of(Q, dict(Q, id="r", query="fails @q")), ["/nodes/1/query"]),
    (plan_of(Q, {"id": "d", "diff": ["@q", "run:zz"]}), ["/nodes/1/diff/0", "/nodes/1/diff/1"]),
    (plan_of(dict(Q, needs=["x"], against="q", when={"node": "y", "count": "> 0"})), ["/nodes/0/needs/0", "/nodes/0/when/node", "/nodes/0/against"]),
    (plan_of(Q, dict(Q, id="r", when={"node": "q"}), dict(Q, id="s", when={"node": "q", "count": "many"})), ["/nodes/1/when", "/nodes/2/when/count"]),
    (plan_of(Q, dict(Q, id="r", when={"node": "q", "outcome": "good"})), ["/nodes/1/when/outcome"]),
    (plan_of(Q, {"id": "r", "query": "files", "foreach": {"node": "q", "field": "paht", "most": 65}}), ["/nodes/1/foreach/most", "/nodes/1/query", "/nodes/1/foreach/field"]),
    (plan_of(Q, {"id": "r", "query": "files", "foreach": {"node": "q", "field": "paht"}}), ["/nodes/1/query", "/nodes/1/foreach/field"]),
    (plan_of(Q, {"id": "r", "seq": ["a", "b"], "foreach": {"node": "q", "field": "path"}}), ["/nodes/1/foreach", "/nodes/1/seq/0", "/nodes/1/seq/1"]),
    (plan_of({"id": "r", "run": "touch here"}), ["/nodes/0/run"]),
    # what is wrong with one node hides nothing of it nor of others, and makes nothing else wrong
    (plan_of(dict(Q, need=[]), dict(Q, id="r", query="@q | count"), dict(Q, id="s", query="files | nope", when={"node": "z", "count": ">0"})),
     ["/nodes/0/need", "/nodes/2/when/count", "/nodes/2/when/node", "/nodes/2/query"]),
    (plan_of({"id": "a", "query": 5}, dict(Q, id="r", query="@a | outline", needs=["a"], against="a"), {"id": "d", "diff": ["@a", "last"]}), ["/nodes/0/query"]),
    (plan_of(dict(Q, query="fles"), dict(Q, id="r", query="@q | outline"), dict(Q, id="s", query="@r | outline")), ["/nodes/0/query"]),
    (plan_of({"id": "a"}, dict(Q, id="r", query="fails @a")), ["/nodes/0"]),
    (plan_of(dict(Q, foreach={"node": "z"}, needs=[1, "q"])), ["/nodes/0/foreach", "/nodes/0/needs/0", "/nodes/0/foreach/node", "/nodes/0/query"]),
    (plan_of(dict(Q, id="a", query="@b | count"), dict(Q, id="b", query="@a | count")), ["/nodes/0/query"]),
    (plan_of(5, {"id": 5, "query": "files"}, {"query": "fles"}), ["/nodes/0", "/nodes/1/id", "/nodes/2"]),
    # of a key that is there twice a reader of JSON sees but the last
    (b'{"schema": "x", "schema": "ctx.plan/v1", "nodes": [ {"id": "a", "query": "files"}, {"id": "b", "run": "touch here",\n "query": "files", "run": "touch here"}]}',
     ["/schema", "/nodes/1/run", "/nodes/1"]),
    (b'{"schema": "ctx.plan/v1", "nodes": [{"id": "a", "query": "files", "when": {"node": "a", "node": "b", "count": "> 0"}, "~/": {"x": 1}, "~/": 2}]}',
     ["/nodes/0/when/node", "/nodes/0/~0~1", "/nodes/0/~0~1"]),
    (plan_of(dict(Q, query="\n"), dict(Q, id="r", query=" | | ")), ["/nodes/0/query", "/nodes/1/query"]),
    (plan_of(dict(Q, query="files '\ud800 \ud83d\ude00'"), {"id": "r\udbff", "query": "files", "\ud800": 1}), ["/nodes/1/id", "/nodes/1/\ufffd"]),
]  # fmt: skip


@pytest.mark.parametrize("value, places", MISTAKES, ids=range(len(MISTAKES)))
def test_every_mistake_is_told_at_once_with_its_place_and_nothing_runs(box, value, places):
    done = plan(box, "check", value, "--json")
    rows = json.loads(done.stdout)
    assert done.returncode == 1 and [row["at"] for row in rows] == places and all(row["what"] and row["fix"] for row in rows)
    lines = plan(box, "check", value).stdout.decode().split("\n")[:-1]
    assert [line.split(": ")[0] for line in lines] == [place or "/" for place in places]
    for action in ("run", "price"):
        done = plan(box, action, value)
        assert done.returncode == 2 and done.stdout == b"" and done.stderr.count(b"\nctx plan: ") == len(places) - 1
    assert not (box.work / "here").exists()


def test_an_edge_to_a_later_node_is_told_as_one(box):
    value = plan_of(dict(Q, id="a", query="@b | count"), dict(Q, id="b"))
    assert plan(box, "check", value).stdout.startswith(b"/nodes/0/query: 'b' is no earlier node: ")
    assert plan(box, "check", b"").stdout.startswith(b"/: not JSON: ")


def test_the_price_is_known_before_anything_runs(box):
    nodes = [{"id": "a", "seq": ["touch x", "touch y"]}, {"id": "b", "run": "touch {item}", "foreach": {"node": "a", "field": "command", "most": 7}}]
    done = plan(box, "price", plan_of(*nodes, limits={"seconds": 60, "tokens": 900}), "--allow-run", "--json")
    price = json.loads(done.stdout)
    assert (price["commands"], price["seconds"], price["tokens"]) == (9, 60, 900) and price["nodes"][1]["rests_on"] == ["a"]
    assert not (box.work / "x").exists() and "in all at most: 9 commands" in plan(box, "price", plan_of(*nodes), "--allow-run").stdout.decode()


def test_a_plan_from_captured_failures_to_their_causes(shop):
    causes = {"id": "causes", "query": "@tests | shared-cause", "when": {"node": "tests", "outcome": "failed"}}
    code = {"id": "code", "query": "fails @tests | def", "needs": ["causes"]}
    green = {"id": "green", "query": "files", "when": {"node": "tests", "outcome": "ok"}}
    late = {"id": "late", "query": "@green | count"}
    wrong = {"id": "wrong", "query": "def {item}", "foreach": {"node": "tests", "field": "message", "most": 1}}
    against = {"id": "changed", "query": "fails @tests | in-changed", "against": "code"}
    answer = answer_of(shop, TESTS, causes, code, green, late, wrong, against)
    assert outcomes(answer) == {"tests": "failed", "causes": "ok", "code": "ok", "green": "skipped", "late": "skipped", "wrong": "error", "changed": "none"}
    assert answer["findings"] == ["code"]
    head, findings, counter, evidence, idle = [part.split("\n") for part in answer["text"].partition("\nnext:")[0].replace("counter-evidence:", "\0").replace(
        "findings:", "\0").replace("evidence:", "\0").replace("not done:", "\0").split("\0")]  # fmt: skip
    assert head == ["[ctx %s plan]" % answer["handle"], "nodes: 2 ok · 1 none · 1 failed · 1 error · 2 skipped", ""]
    assert findings[1].startswith("  code  ok  3 rows  run:") and findings[1].endswith("  ← causes, tests")
    assert any("TestPrice.test_sum" in line for line in findings[2:])
    assert counter[1].startswith("  changed  none  run:") and "against code" in counter[1]
    assert [line.split()[0] for line in evidence[1:-1]] == ["tests", "causes"]
    assert "  green  skipped  when tests is ok, and it is failed" in idle and "  late  skipped  ← green  it rests on green, which is skipped" in idle
    for node in answer["nodes"]:
        assert not node["handle"] or shop.ctx("get", node["handle"]).returncode == 0
    kept = shop.ctx("get", answer["handle"] + "#output", "--pointer", "/nodes/1/handle")
    assert kept.stdout.decode().strip('"\n') == answer["nodes"][1]["handle"]


def test_findings_with_rows_stand_before_those_without_and_those_contested_behind(box):
    (box.work / "a.py").write_text("def f():\n    return f\n")
    nodes = [{"id": "no", "query": "refs nowhere"}, {"id": "doubted", "query": "files"}, {"id": "one", "query": "files | count"}, {"id": "base", "query": "refs f"},
             {"id": "deep", "query": "@base | count"}, {"id": "counter", "query": "files", "against": "doubted"}]  # fmt: skip
    assert answer_of(box, *nodes)["findings"] == ["deep", "one", "doubted", "no"]
    assert "counter-evidence: none was searched for" in plan(box, "run", plan_of(nodes[1])).stdout.decode()
    assert plan(box, "run", plan_of(nodes[0])).returncode == 1


def test_independent_nodes_run_together_and_dependent_ones_do_not(box):
    wait = "touch %s; i=0; while [ ! -e %s ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done; [ -e %s ]"
    nodes = [{"id": "a", "run": wait % ("x", "y", "y")}, {"id": "b", "run": wait % ("y", "x", "x")}, {"id": "c", "run": "[ ! -e z ]", "needs": ["a"]},
             {"id": "d", "run": "touch z", "needs": ["c"]}]  # fmt: skip
    assert set(outcomes(answer_of(box, *nodes)).values()) == {"ok"}


def test_the_same_tree_and_runs_give_the_same_digest(shop):
    nodes = [{"id": "a", "query": "refs total"}, {"id": "b", "query": "files | outline"}, {"id": "c", "run": "cat shop.py"}, {"id": "d", "query": "@a | group file"}]
    first, second = [plan(shop, "run", plan_of(*nodes), "--allow-run").stdout for _ in range(2)]
    assert first == second and b"nodes: 4 ok" in first


def test_foreach_goes_through_values_up_to_its_cap_and_quotes_them(box):
    for name in ("a b", "c;touch never", "d'$(touch never)"):
        (box.work / name).write_text("1\n")
    answer = answer_of(box, {"id": "f", "query": "files"}, {"id": "g", "run": "cat ./{item}", "foreach": {"node": "f", "field": "path"}})
    assert outcomes(answer) == {"f": "ok", "g": "ok"} and not (box.work / "never").exists() and answer["nodes"][1]["rows"] == 3
    answer = answer_of(box, {"id": "f", "query": "files"}, {"id": "g", "query": "search 1 {item}", "foreach": {"node": "f", "field": "path", "most": 2}})
    assert answer["nodes"][1]["rows"] == 2 and "2 of 3 values: the cap is 2" in answer["nodes"][1]["why"]
    (box.work / "-x").write_text("")
    answer = answer_of(box, {"id": "f", "query": "files"}, {"id": "g", "run": "cat {item}", "foreach": {"node": "f", "field": "path"}})
    assert outcomes(answer)["g"] == "error"


def test_counts_decide_what_runs(box):
    (box.work / "a").write_text("")
    nodes = [{"id": "f", "query": "files"}] + [
        {"id": "n%d" % i, "query": "files", "when": {"node": "f", "count": count}} for i, count in enumerate(["= 1", "> 1", "<= 1", "!= 1"])]  # fmt: skip
    assert list(outcomes(answer_of(box, *nodes)).values()) == ["ok", "ok", "skipped", "ok", "skipped"]


def test_sequences_and_comparisons(box):
    nodes = [{"id": "s", "seq": ["true", "exit 3", "touch never"]}, {"id": "k", "seq": ["exit 3", "touch late"], "keep_going": True},
             {"id": "a", "run": "echo one; echo two"}, {"id": "b", "run": "echo one; exit 4"}, {"id": "d", "diff": ["@a", "@b"]}, {"id": "e", "diff": ["@a", "@a"]}]  # fmt: skip
    answer = answer_of(box, *nodes)
    assert outcomes(answer) == {"s": "failed", "k": "failed", "a": "ok", "b": "failed", "d": "ok", "e": "none"}
    assert not (box.work / "never").exists() and (box.work / "late").exists()
    assert "    exit  0 → 4" in answer["text"] and "    gone  two" in answer["text"]


@pytest.mark.parametrize("tokens", [300, 1000])
def test_the_digest_keeps_to_its_tokens_and_counts_what_it_leaves_out(box, tokens):
    (box.work / "a.py").write_text("".join("name_%d = shared + 'a text of some length'\n" % i for i in range(500)))
    nodes = [{"id": "a", "query": "refs shared"}, {"id": "b", "query": "search length"}, {"id": "c", "run": "seq 5000; exit 1"}]
    done = plan(box, "run", plan_of(*nodes, limits={"tokens": tokens}), "--allow-run")
    assert ctx.estimate_tokens(done.stdout) <= tokens
    assert "  a  ok  500 rows  run:" in done.stdout.decode() and "more rows" in done.stdout.decode()


def test_every_node_has_its_line_within_the_fewest_tokens(box):
    ids = ["quite-a-long-name-%d" % i for i in range(24)]
    nodes = [{"id": name, "query": "refs %s %s" % (name, "nowhere/" * 9), "needs": ids[max(0, i - 5) : i] * (i > 18)} for i, name in enumerate(ids)]
    done = plan(box, "run", plan_of(*nodes, limits={"tokens": 26 * ctx.NODE_TOKENS}, title="t" * 200))
    assert ctx.estimate_tokens(done.stdout) <= 26 * ctx.NODE_TOKENS
    assert all("\n  %s  " % name in done.stdout.decode() for name in ids)


def test_rows_for_which_there_is_no_room_are_left_out(shop):
    nodes = [{"id": "n%d" % at, "query": "refs price_of"} for at in range(24)]
    done = plan(shop, "run", plan_of(*nodes, limits={"tokens": 26 * ctx.NODE_TOKENS}), timeout=60)
    assert done.returncode == 0 and ctx.estimate_tokens(done.stdout) <= 26 * ctx.NODE_TOKENS


def test_the_time_limit_ends_a_command_and_keeps_what_it_said(box):
    nodes = [{"id": "a", "run": "echo early; sleep 600"}, {"id": "b", "query": "files", "needs": ["a"]}]
    answer = answer_of(box, *nodes, limits={"seconds": 1})
    assert outcomes(answer) == {"a": "failed", "b": "skipped"} and box.bytes(answer["nodes"][0]["handle"][4:], "stdout") == b"early\n"
    assert answer["nodes"][1]["why"] == "not begun: the time ran out"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_plan_that_is_ended_tells_what_it_has(box, name):
    nodes = [{"id": "a", "query": "files"}, {"id": "b", "run": ": > ready; exec sleep 600", "needs": ["a"]}, {"id": "c", "query": "files", "needs": ["b"]}]
    (box.work / "p.json").write_text(json.dumps(plan_of(*nodes)))
    process = box.start("plan", "run", "p.json", "--allow-run", "--json")
    wait_for(lambda: (box.work / "ready").exists())
    process.send_signal(getattr(signal, name))
    answer = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 128 + getattr(signal, name)
    assert outcomes(answer)["a"] == "ok" and outcomes(answer)["c"] == "skipped" and answer["nodes"][1]["handle"]


def test_a_plan_that_is_killed_leaves_what_had_finished(box):
    nodes = [{"id": "a", "query": "files"}, {"id": "b", "run": "echo $$ > ready; exec sleep 600", "needs": ["a"]}]
    (box.work / "p.json").write_text(json.dumps(plan_of(*nodes)))
    process = box.start("plan", "run", "p.json", "--allow-run")
    wait_for(lambda: (box.work / "ready").exists() and (box.work / "ready").read_text())
    process.kill()
    process.wait()
    os.kill(int((box.work / "ready").read_text()), signal.SIGKILL)
    (row,) = json.loads(box.ctx("runs", "--answers", "--json").stdout)
    assert row["command"] == "plan a files" and box.ctx("get", row["handle"] + "#output").stdout == b"p.json  1\n"


# ── what a plan may run


def may_run(box, **options):
    """Whether a plan may run `touch here`, without being told so."""
    done = plan(box, "run", plan_of({"id": "a", "run": "touch here"}), **options)
    ran = (box.work / "here").exists()
    assert ran == (done.returncode != 2)
    if ran:
        (box.work / "here").unlink()
    return ran


ALLOW = "[plan]\nallow_commands = ['touch here']\n"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="reads TOML")
def test_the_user_s_own_configuration_allows_commands(box, tmp_path):
    assert not may_run(box)
    (tmp_path / "user" / ".config" / "ctx").mkdir(parents=True)
    (tmp_path / "user" / ".config" / "ctx" / "config.toml").write_text(ALLOW)
    assert may_run(box)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="reads TOML")
def test_a_workspace_allows_itself_nothing_until_it_is_trusted(box, tmp_path):
    box.config(ALLOW)
    assert not may_run(box)
    shown = box.ctx("plan", "trust")
    assert shown.returncode == 0 and shown.stdout.startswith(b"touch here\n")
    assert may_run(box)
    box.config(ALLOW.replace("here'", "here', 'rm -r x'"))
    assert not may_run(box)
    box.config(ALLOW)
    assert may_run(box)
    other = tmp_path / "other"
    other.mkdir()
    (other / "ctx.toml").write_text(ALLOW)
    assert plan(box, "run", plan_of({"id": "a", "run": "touch here"}), cwd=other).returncode == 2
    assert box.ctx("plan", "trust", "--remove").returncode == 0 and not may_run(box)
    box.config("")
    assert box.ctx("plan", "trust").returncode == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="reads TOML")
@pytest.mark.parametrize("text", ["allow_commands = 'make'", "allow_commands = [1]", "allow_commands = ['']", "allow = ['make']"])
def test_what_is_no_list_of_commands_is_told(box, text):
    box.config("[plan]\n%s\n" % text)
    done = box.ctx("runs")
    assert done.returncode == 2 and b"ctx.toml:2: " in done.stderr


# ── ask


def ask(box, *words, **options):
    done = box.ctx("ask", *words, **options)
    assert b"Traceback" not in done.stderr
    return done


@pytest.fixture
def failed(shop):
    """A shop whose tests were captured, and have failed; its handle."""
    assert shop.run(TESTS["run"].split()).returncode == 1
    return shop.last().handle


def test_diagnose_shows_each_cause_with_its_frame_its_last_change_and_what_it_calls(shop, failed):
    done = ask(shop, "--intent", "diagnose")
    text = done.stdout.decode()
    assert done.returncode == 0 and ctx.estimate_tokens(done.stdout) <= 1000
    first, second = text.partition("findings:\n")[2].split("counter-evidence:")[0].split("    1 failure: ")
    assert first.split("\n")[1:3] == ["    2 failures: ZeroDivisionError: division by zero", "      test_shop.py::test_total, …::TestPrice::test_price"]
    assert "  in function price_of, lines 9-10\n" in first and ": a shop\n" in first and "\n      > 10      return sum(items) / rate\n" in first
    assert "called from shop.py:6: return price_of(self.items, rate)\n        from test_shop.py:5\n" in first
    address = next(word for word in first.split() if word.startswith("repo:shop.py:9-10@"))
    assert shop.ctx("get", address).stdout == b"def price_of(items, rate):\n    return sum(items) / rate\n"
    assert "> 13          assert 3 == (" in second and "last change" not in second  # which is that of the first
    assert second.count("repo:") == 1 and "callees  none" in second  # what it calls is what the first is in
    assert "written-since  none" in text and "no row" not in text


def test_diagnose_tells_what_was_written_since_the_run_and_what_is_not_committed(shop, failed):
    path = shop.work / "shop.py"
    path.write_text(SHOP.replace("sum(items) / rate", "sum(items) // rate"))
    os.utime(path, (2**31, 2**31))
    text = ask(shop, "--intent", "diagnose", "--run", failed).stdout.decode()
    assert "    shop.py  1" in text.partition("counter-evidence:")[2] and "last change: not committed" in text


def test_diagnose_shows_what_a_wrong_value_comes_from(shop):
    path = shop.work / "shop.py"
    path.write_text(SHOP.replace("sum(items) / rate", "sum(items) - rate"))
    (shop.work / "test_shop.py").write_text("from shop import Cart\n\n\ndef test_total():\n    total = Cart().total(1)\n    assert total == 1\n")
    assert shop.run(TESTS["run"].split()).returncode == 1
    text = ask(shop, "--intent", "diagnose").stdout.decode().partition("  callees  ")[2]
    assert "    function price_of  repo:shop.py:9-10@" in text and "called at shop.py:6: return price_of(self.items, rate)\n      last change: not committed\n" in text
    assert "        10      return sum(items) - rate\n" in text


def test_diagnose_takes_the_newest_run_of_a_command_and_names_other_failures(shop, failed):
    assert shop.run(["sh", "-c", "exit 3"]).returncode == 3
    done = ask(shop, "--intent", "diagnose", "--plan")
    assert json.loads(done.stdout)["nodes"][0]["query"] == "fails %s | shared-cause" % shop.last().handle and b"failed, too: %s" % failed.encode() in done.stderr
    (shop.work / "test_shop.py").write_text("def test():\n    pass\n")
    assert shop.run(TESTS["run"].split()).returncode == 0
    assert failed.encode() not in ask(shop, "--intent", "diagnose", "--plan").stderr


def test_where_nothing_has_failed_diagnose_says_so(box):
    done = ask(box, "--intent", "diagnose")
    assert (done.returncode, done.stdout) == (1, b"nothing that was captured in this workspace has failed\n")


@pytest.mark.parametrize("question, symbol", [
    ("where is price_of defined?", "price_of"), ("where is `total` defined, and Cart?", "total"), ("what is total() for, price_of?", "total"),
    ("where is the total made?", "total"), ("where does Cart.total come from?", "Cart.total"), ("what of Cart::total?", "Cart.total")])  # fmt: skip
def test_the_subject_is_the_one_identifier_of_the_question(shop, question, symbol):
    plan = json.loads(ask(shop, question, "--intent", "locate", "--plan").stdout)
    assert plan["nodes"][0]["query"] == "def " + symbol
    assert not list(ctx.shape_mistakes(plan, ctx.PLAN_SCHEMA))


def test_an_ambiguous_question_is_answered_with_its_candidates(shop):
    done = ask(shop, "does price_of use the total?", "--intent", "impact")
    assert done.returncode == 1 and done.stdout == b"it may be about:\n  price_of\n  total\nask again with --symbol NAME\n"


def test_a_run_that_has_not_failed_is_said_to_have_not(box):
    assert box.run(["true"]).returncode == 0
    done = ask(box, "--intent", "diagnose", "--run", "last")
    assert done.returncode == 1 and done.stdout == b"%s has not failed: exit 0\n" % box.last().handle.encode()


@pytest.mark.parametrize("intent", ["locate", "impact"])
def test_outside_of_a_workspace_nothing_is_known(shop, intent):
    done = ask(shop, "--intent", intent, "--symbol", "price_of", cwd="/")
    assert (done.returncode, done.stdout) == (2, b"") and b"no workspace here" in done.stderr and done.stderr.count(b"\n") == 1


def test_locate_and_impact(shop):
    text = ask(shop, "--symbol", "price_of", "--intent", "locate").stdout.decode()
    assert "function price_of" in text and "    test_shop.py  3" in text and "other-mentions  none" in text
    text = ask(shop, "--symbol", "Cart.total", "--intent", "impact").stdout.decode()
    assert "test_shop.py:5: assert Cart().total(0) == 0" in text and "changed-together" in text


def test_compare_tells_what_two_runs_of_a_command_differ_in(shop, failed):
    (shop.work / "shop.py").write_text(SHOP.replace("/ rate", "/ rate if rate else 0"))
    assert shop.run(TESTS["run"].split()).returncode == 1
    for words in ([], ["--run", failed, "--run", "last"]):
        text = ask(shop, "--intent", "compare", *words).stdout.decode()
        assert "fixed  test_shop.py::test_total" in text and text.startswith("[ctx run:")


@pytest.mark.parametrize("words", [[], ["--intent", "guess"], ["x", "y", "--intent", "locate"], ["what?", "--intent", "locate"], ["--intent", "locate", "--run", "last"],
                                   ["--intent", "diagnose", "--symbol", "x"], ["--intent", "locate", "--symbol", "a b"]])  # fmt: skip
def test_what_cannot_be_asked_is_said(shop, words):
    done = ask(shop, *words)
    assert done.returncode == 2 and done.stdout == b"" and done.stderr.startswith(b"ctx ask: ") and done.stderr.count(b"\n") == 1


def test_every_example_of_the_page_runs(shop, failed, tmp_path):
    program = tmp_path / "bin" / "ctx"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nexec "%s" "%s" "$@"\n' % (sys.executable, SCHEMA.parent.parent / "ctx.py"))
    program.chmod(0o755)
    text = PAGE.read_text(encoding="utf-8")
    for name, content in re.findall(r"`([a-z]+\.json)`:\n\n```json\n(.*?)```", text, re.S):
        (shop.work / name).write_text(content)
    examples = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S) for line in block.split("\n") if line]
    assert len(examples) >= 8
    for example in examples:
        done = shop.plain(["sh", "-c", "PATH=%s:$PATH; %s" % (program.parent, example)])
        assert done.returncode == 0 and done.stdout, "%s: exit %d\n%s" % (example, done.returncode, done.stderr.decode())


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python3 tests/test_plans.py --write")
    SCHEMA.write_text(json.dumps(ctx.PLAN_SCHEMA, indent=1) + "\n", encoding="utf-8")
