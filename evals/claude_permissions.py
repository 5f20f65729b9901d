#!/usr/bin/env python3
"""What Claude Code itself does with command lines under rules: the oracle of tests/test_permissions.py.

    npm i --no-save --ignore-scripts @anthropic-ai/claude-code-linux-x64@2.1.332
    python3 evals/claude_permissions.py node_modules/@anthropic-ai/claude-code-linux-x64/claude

Drives the real client, in `-p` mode with a fresh home, against a model on loopback that asks for one command after the other, and
writes what became of each to tests/corpus/claude_permissions.json: "ran", "asked" (which -p refuses) or "denied".
The commands are those of claude_permissions_cases.json, every option in the table that section 5 of ctx.py has of programs that run unasked,
and the noisy runs among the real command lines of tests/corpus, under a rule for each of their programs: what runs then, ctx should capture.
"""
from __future__ import annotations

import datetime
import gzip
import json
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
import ctx  # noqa: E402

DATA = ROOT / "tests" / "corpus" / "claude_permissions.json"
CORPUS = ROOT / "tests" / "corpus" / "commands.jsonl.gz"
CASES = json.loads((ROOT / "evals" / "claude_permissions_cases.json").read_text())
REFUSALS = {"has been denied": "denied", "requires approval": "asked", "require approval": "asked", "haven't granted": "asked"}
RESET = "cd @WS@"  # the shell keeps its directory from one call to the next


class Model(BaseHTTPRequestHandler):
    """A model that calls Bash with `commands`, one after the other, and keeps the `results`."""

    commands: List[str] = []
    results: List[Dict[str, Any]] = []

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
        results = [b for b in blocks if b.get("type") == "tool_result"]
        self.results[len(self.results) :] = results[len(self.results) :]
        at = len(results)
        if body.get("tools") and at < len(self.commands):
            call = {"type": "tool_use", "id": "toolu_%d" % at, "name": "Bash"}
            given = {"command": self.commands[at], "description": "a case"}
            start: Dict[str, Any] = dict(call, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
        else:
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [], "usage": usage}
        reason = "tool_use" if start["type"] == "tool_use" else "end_turn"
        events: List[Dict[str, Any]] = [
            {"type": "message_start", "message": dict(message, stop_reason=None, stop_sequence=None)},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            self.wfile.write(("event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event))).encode())


def make_places(root: Path, programs: List[str]) -> Dict[str, Path]:
    """A project with files, a directory outside, links from one to the other, programs that do nothing."""
    places = {"@WS@": root / "ws", "@OUT@": root / "outside"}
    for folder in (root / "ws" / "src", root / "outside", root / "bin", root / "home" / ".claude"):
        folder.mkdir(parents=True)
    for name in ("ws/a.txt", "ws/.env", "outside/b.txt"):
        (root / name).write_text("a\n")
    (root / "ws" / "link").symlink_to(root / "outside")
    (root / "ws" / "lf").symlink_to(root / "outside" / "b.txt")
    subprocess.run(["git", "init", "-q", str(root / "ws")], check=True)
    for name in programs:
        (root / "bin" / name).write_text("#!/bin/sh\nexit 0\n")
        (root / "bin" / name).chmod(0o755)
    return places


def filled(text: str, places: Dict[str, Path]) -> str:
    for mark, path in places.items():
        text = text.replace(mark, str(path))
    return text


def session(client: str, rules: Dict[str, Any], commands: List[str], programs: List[str], mode: str) -> List[List[str]]:
    """[command, outcome] for each command, from one run of the client."""
    asked = [line for command in commands for line in ([command, RESET] if "cd" in command else [command])]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        places = make_places(root, programs)
        (root / "home" / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))
        Model.commands, Model.results = [filled(line, places) for line in asked], []
        server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        env = {
            "PATH": "%s:/usr/bin:/bin" % (root / "bin"), "HOME": str(root / "home"), "TERM": "dumb", "LANG": "C.UTF-8", "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % server.server_port, "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
        }  # fmt: skip
        argv = [client, "-p", "go", "--permission-mode", mode]
        subprocess.run(argv, cwd=root / "ws", env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
        server.shutdown()
        outcomes = [[line, outcome(result)] for line, result in zip(asked, Model.results)]
    assert len(outcomes) == len(asked), "the client asked %d times of %d" % (len(outcomes), len(asked))
    return [pair for pair in outcomes if pair[0] != RESET]


def outcome(result: Dict[str, Any]) -> str:
    """What became of a command, from what the model was told."""
    text = json.dumps(result["content"], ensure_ascii=False)
    if not result.get("is_error") or "Exit code " in text:
        return "ran"
    return next((kind for sign, kind in REFUSALS.items() if sign in text), "asked")


OPERANDS = {"echo": "x", "tr": "a b", "sleep": "0", "cd": "src", "find": "src", "ls": "src", "diff": "a.txt a.txt", "git/show": "HEAD", "git/rev-parse": "HEAD"}
OPERANDS.update(dict.fromkeys(("grep", "egrep", "fgrep", "rg"), "x a.txt"), **dict.fromkeys(("git/status", "git/diff", "git/log", "git/shortlog"), ""))


def table_cases() -> List[str]:
    """A command for each option of each program, and each value of each variable, that ctx takes to run unasked."""
    lines = []
    for name, row in ctx.CLAUDE_READS.items():
        letters, *whole = row.split(" ")
        operands = "" if "-" in whole else OPERANDS.get(name, "a.txt")
        options = ["-" + letter.replace("#", "3") for letter in letters] + [option for option in whole if option not in ("", "-")]
        values = [option.replace("#", n).replace("=", v) for option in options for n, v in (("3", "=x" if option.startswith("--") else "x"), (" 5", "=y"))]
        for option in ["", *sorted(set(values))]:
            words = [*name.split("/"), operands, option, "x" * (name == "find")] if name == "find" and option else [*name.split("/"), option, operands]
            lines.append(" ".join(word for word in words if word))
    return lines + ["%s=%s alpha" % (name, value) for name, values in ctx.CLAUDE_VARIABLES.items() for value in values.split()]


CHANGES_TO = re.compile(r"(?:^|[;&|\n]\s*)cd\s+([/~][^\s;&|]*)")
FORMS = (
    "{}", "cd src && {}", "cd src; {}", "cd @WS@/src && {}", "CI=1 {}", "FOO=1 {}", "env A=1 {}", "timeout 60 {}", "timeout -k 5 1m {}",
    "nice -n 5 {}", "time {}", "{} 2>&1", "{} 2>&1 | tail -40", "{}; echo $?", '{}; echo "EXIT: $?"', "{} || true", "{} && echo ok", "{} || exit 1",
    "{}\necho done", "{} 2>/dev/null", "{} </dev/null", "set -e\n{}", "set -o pipefail; {} | tail", "source .venv/bin/activate && {}", "nohup {}",
    "stdbuf -oL {}", "# a comment\n{}", "echo '--- run ---'; {}", "{} \\\n  --x", "! {}", "command {}", "bash -lc '{}'", "sh -c 'cd src && {}'",
)  # fmt: skip
RUNS = (
    "pytest -q", "python -m pytest tests/a.py::test_x[1] -v", "npm test", "npx tsc --noEmit", "go test ./...", "cargo build", "make -C src",
    "mvn -q test -Dtest=A", "javac -cp .:lib/* A.java", "uv run pytest", "docker compose build", "./gradlew test",
)  # fmt: skip


def at_home(line: str) -> str:
    """A line as it is typed in the directory that it changes to, where that is named in full: mostly the project."""
    found = CHANGES_TO.search(line)
    return line.replace(found.group(1).rstrip("/"), "@WS@") if found else line


def noisy_case() -> Dict[str, Any]:
    """The real noisy runs, and every form of some runs, with a rule for each program that they start, and for what goes with them."""
    with gzip.open(CORPUS, "rt", encoding="utf8") as file:
        rows = [json.loads(row) for row in file]
    lines = [at_home(row["command"]) for row in rows if row["cls"] == "3 noisy run" and len(row["command"]) <= ctx.COMMAND_LIMIT]
    lines += [form.format(run) for run in RUNS for form in FORMS]
    started = {command.words[0].value or "" for line in lines for command in ctx.scan(line).commands if command.words}
    named = sorted(name for name in started if re.fullmatch(r"[\w./+-]+", name) and name not in ctx.BUILTINS)
    programs = [name for name in named if "/" not in name and name not in ctx.CLAUDE_READS]
    return {"noisy": True, "rules": {"allow": ["Bash(%s:*)" % name for name in [*named, "echo"]]}, "programs": programs, "mode": "default",
            "commands": list(dict.fromkeys(lines))}  # fmt: skip


def main(client: str) -> None:
    version = subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
    sessions = [*CASES, {"rules": {"allow": ["Bash(alpha:*)"]}, "programs": ["alpha"], "mode": "default", "commands": table_cases()}, noisy_case()]
    seen = []
    for case in sessions:
        outcomes = []
        for i in range(0, len(case["commands"]), 100):
            outcomes += session(client, case["rules"], case["commands"][i : i + 100], case["programs"], case["mode"])
        seen.append({"rules": case["rules"], "mode": case["mode"], "noisy": "noisy" in case, "outcomes": outcomes})
        print(case["mode"], len(outcomes), {kind: sum(o == kind for _, o in outcomes) for kind in ("ran", "asked", "denied")})
    kept = {"client": version, "date": datetime.date.today().isoformat(), "sessions": seen}
    DATA.write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
