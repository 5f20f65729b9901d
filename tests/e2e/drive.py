"""Drivers: each runs one agent's program against the scripted model, in a home and a repository of its own, and tells what was seen.

A host is a class that differs from the others in data: where its files are, how it is started, how its shell tool is called.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import clients
from model import Call, Json, Model, Result, Seen, Step

LIMIT = 60  # seconds for one run of a client
PATH = "/usr/local/bin:/usr/bin:/bin"


class Session:
    """What one run of a client came to."""

    def __init__(self, model: Model, status: int, out: str, err: str, seconds: float) -> None:
        self.model, self.status, self.out, self.err, self.seconds = model, status, out, err, seconds
        self.seen: Dict[int, Seen] = model.seen

    def text(self, turn: int = 1) -> str:
        """The only result of a turn."""
        assert turn in self.seen, "the client never got to turn %d (status %s): %s%s" % (turn, self.status, self.out[-1500:], self.err[-1500:])
        return self.seen[turn].text


class Host:
    """A client with a fresh HOME and a fresh git repository as working directory, under `place`."""

    name = ""
    modes: Dict[str, List[str]] = {"default": []}  # permission mode → arguments
    usual = "default"  # the mode in which what `allow` names runs, and nothing is bypassed
    frame = re.compile(r"(?P<output>.*)", re.S)  # what stands around an output in the result of the shell tool

    def __init__(self, place: Path, program: Optional[str] = None) -> None:
        self.place, self.home, self.work = place, place / "home", place / "work"
        for folder in (self.home, self.work):
            folder.mkdir(parents=True, exist_ok=True)
        self.program = program or clients.program(self.name)
        self.variables: Dict[str, str] = {}  # beside those of `environment`
        self.arguments: List[str] = []  # beside those of `words`
        subprocess.run(["git", "init", "-q", str(self.work)], check=True, env={"PATH": PATH, "HOME": str(self.home)})

    def write(self, path: str, content: Any) -> Path:
        """Write a file below the home (`~/…`) or the repository; what is no text is written as JSON."""
        file = self.home / path[2:] if path.startswith("~/") else self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return file

    def environment(self, url: str) -> Dict[str, str]:
        """The variables that point the client at the model."""
        raise NotImplementedError

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        """The command that runs one prompt."""
        raise NotImplementedError

    def shell(self, command: str, **more: Any) -> Call:
        """The call of the client's shell tool."""
        raise NotImplementedError

    def output(self, result: Result) -> Tuple[str, int]:
        """What a command printed, without white space at its end, which some hosts cut, and its exit status as the model was told."""
        found = self.frame.fullmatch(result.text)
        assert found, result.text
        status = found.groupdict().get("status")
        return found.group("output").replace("\r\n", "\n").rstrip(), int(status or 0)

    def serve(self, name: str, words: Sequence[str]) -> None:
        """Have the user configure an MCP server."""
        raise NotImplementedError

    def tool(self, server: str, name: str, **arguments: Any) -> Call:
        """The call of a tool of an MCP server."""
        raise NotImplementedError

    def allow(self, *programs: str) -> None:
        """Have the user allow every call of these programs."""

    def deny(self, program: str) -> None:
        """Have the user forbid every call of a program, and allow all the others that the tests use."""
        raise NotImplementedError

    def hook(self, command: str, **more: Any) -> None:
        """Make `command` the client's hook before each call of the shell tool: for experiments; ctx has its setup."""
        raise NotImplementedError

    def run(self, script: Sequence[Step], mode: str = "", prompt: str = "go", more: Sequence[str] = ()) -> Session:
        """Run the client on one prompt. A run that exceeds the limit fails the test."""
        with Model(script) as model:
            variables = {"PATH": PATH, "HOME": str(self.home), "TERM": "dumb", "LANG": "C.UTF-8", **self.environment(model.url), **self.variables}
            words = [*self.words(prompt, mode or self.usual, model.url), *self.arguments, *more]
            started = time.monotonic()
            done = subprocess.run(
                words, cwd=str(self.work), env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT
            )
            return Session(model, done.returncode, done.stdout, done.stderr, time.monotonic() - started)


class Claude(Host):
    name = "claude"
    modes = {
        **{mode: ["--permission-mode", mode] for mode in ("acceptEdits", "auto", "dontAsk", "plan")},
        "default": [],
        "bypass": ["--dangerously-skip-permissions"],
    }
    frame = re.compile(r"(?:Exit code (?P<status>\d+)(?:\n|$))?(?P<output>.*)", re.S)
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")

    def environment(self, url: str) -> Dict[str, str]:
        keys = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1"}
        return {**keys, **dict.fromkeys(self.quiet, "1")}

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        return [self.program, "-p", prompt, "--output-format", "stream-json", "--verbose", *self.modes[mode]]

    def shell(self, command: str, **more: Any) -> Call:
        return Call("Bash", {"command": command, "description": "a step", **more})

    def settings(self, changes: Json, path: str = "~/.claude/settings.json") -> None:
        """Merge into a settings file."""
        file = self.home / path[2:] if path.startswith("~/") else self.work / path
        self.write(path, {**(json.loads(file.read_text()) if file.exists() else {}), **changes})

    def rules(self, **lists: List[str]) -> None:
        """The user's permission rules: allow=[…], ask=[…], deny=[…]."""
        self.settings({"permissions": lists})

    def serve(self, name: str, words: Sequence[str]) -> None:
        file = self.place / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {name: {"command": words[0], "args": words[1:]}}}))
        self.arguments += ["--mcp-config", str(file), "--strict-mcp-config"]

    def tool(self, server: str, name: str, **arguments: Any) -> Call:
        return Call("mcp__%s__%s" % (server, name), arguments)

    def allow(self, *programs: str) -> None:
        self.rules(allow=["Bash(%s:*)" % program for program in programs])

    def deny(self, program: str) -> None:
        self.rules(deny=["Bash(%s:*)" % program], allow=["Bash"])

    def hook(self, command: str, **more: Any) -> None:
        self.settings({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command, **more}]}]}})

    def onboarded(self) -> None:
        """Have behind us what the terminal client asks on its first start."""
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        keys = {"approved": ["dummy"], "rejected": []}
        known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": keys, "projects": {str(self.work): project}}
        self.write("~/.claude.json", known)

    def terminal(self, arguments: Sequence[str], url: str) -> Terminal:
        """The client in a terminal."""
        self.onboarded()
        variables = {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", **self.environment(url), **self.variables}
        return Terminal([self.program, *arguments], self.work, variables, self.place / "tmux")


class Codex(Host):
    """`model` is "scripted" for function tools, or one of its own names for what that model is offered: "gpt-6.2-sol" has code mode."""

    name = "codex"
    modes = {
        "default": [],
        "read-only": ["-s", "read-only"],
        "workspace-write": ["-s", "workspace-write"],
        "bypass": ["-s", "danger-full-access"],
    }
    usual = "workspace-write"
    frame = re.compile(r".*Process exited with code (?P<status>\d+)\n.*?Output:\n(?P<output>.*)", re.S)
    model = "scripted"
    approval = "never"
    trusting = True  # that hooks may run which nobody has reviewed
    resuming = False  # the last session

    def environment(self, url: str) -> Dict[str, str]:
        return {"SCRIPTED_KEY": "dummy"}

    def config(self, url: str) -> List[str]:
        provider = "model_providers.scripted."
        values = {
            "model": self.model,
            "model_provider": "scripted",
            provider + "name": "scripted",
            provider + "base_url": url + "/v1",
            provider + "wire_api": "responses",
            provider + "env_key": "SCRIPTED_KEY",
            provider + "request_max_retries": 0,
            provider + "stream_max_retries": 0,
        }
        return [word for key, value in values.items() for word in ("-c", "%s=%s" % (key, json.dumps(value)))]

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        trust = ["--dangerously-bypass-hook-trust"] if self.trusting else []
        approval = ["-c", "approval_policy=" + json.dumps(self.approval)]
        more = ["resume", "--last"] if self.resuming else []
        return [self.program, "exec", "--skip-git-repo-check", "--json", *self.config(url), *approval, *self.modes[mode], *trust, *more, prompt]

    def shell(self, command: str, **more: Any) -> Call:
        if self.model == "scripted":
            return Call("exec_command", {"cmd": command, "yield_time_ms": 30000, **more})  # by itself it waits for 10 s
        return Call("exec", "const r = await tools.exec_command(%s); text(r.output);" % json.dumps({"cmd": command, **more}))

    def serve(self, name: str, words: Sequence[str]) -> None:
        values = {"command": words[0], "args": words[1:]}
        self.write("~/.codex/config.toml", "[mcp_servers.%s]\n" % name + "".join("%s = %s\n" % (k, json.dumps(v)) for k, v in values.items()))

    def tool(self, server: str, name: str, **arguments: Any) -> Call:
        return Call(name, arguments, "mcp__" + server)

    def deny(self, program: str) -> None:
        self.write("~/.codex/rules/default.rules", 'prefix_rule(pattern=["%s"], decision="forbidden")\n' % program)

    def hook(self, command: str, **more: Any) -> None:
        hook = {"type": "command", "command": command, **more}
        self.write("~/.codex/hooks.json", {"hooks": {"PreToolUse": [{"matcher": "^Bash$", "hooks": [hook]}]}})

    def trust(self) -> List[str]:
        """Do what a user does who reviews the hooks: write down that each may run. What their trust was before."""
        with AppServer(self, "http://127.0.0.1:9") as server:
            listed = server.call("hooks/list", {"cwds": [str(self.work)]})["data"][0]["hooks"]
        records = ['[hooks.state."%s"]\ntrusted_hash = "%s"\n' % (hook["key"], hook["currentHash"]) for hook in listed]
        file = self.home / ".codex" / "config.toml"
        file.write_text((file.read_text() if file.exists() else "") + "\n".join(records))
        return [hook["trustStatus"] for hook in listed]

    def converse(self, script: Sequence[Step], sandbox: str, decision: Any = "accept") -> Tuple[Session, List[str]]:
        """Run one prompt as an editor does, answering what it asks the user; the commands it asked about. Hooks run when trusted."""
        with Model(script) as model, AppServer(self, model.url) as server:
            started = time.monotonic()
            thread = {"cwd": str(self.work), "sandbox": sandbox, "approvalPolicy": self.approval}
            server.decision = decision
            name = server.call("thread/start", thread)["thread"]["id"]
            server.call("turn/start", {"threadId": name, "input": [{"type": "text", "text": "go"}]})
            server.wait("turn/completed")
            return Session(model, 0, "", "", time.monotonic() - started), server.asked


class AppServer:
    """`codex app-server`: JSON-RPC over its stdin and stdout. `asked` are the commands that the user was asked about."""

    def __init__(self, host: Codex, url: str) -> None:
        self.host, self.url = host, url
        self.decision: Any = "accept"  # of the user, about everything
        self.asked: List[str] = []
        self.count = 0

    def __enter__(self) -> AppServer:
        variables = {"PATH": PATH, "HOME": str(self.host.home), **self.host.environment(self.url), **self.host.variables}
        words = [self.host.program, "app-server", *self.host.config(self.url)]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen(words, cwd=str(self.host.work), env=variables, **pipes)
        self.watch = threading.Timer(LIMIT, self.process.kill)
        self.watch.daemon = True
        self.watch.start()
        self.call("initialize", {"clientInfo": {"name": "ctx-tests", "version": "1"}})
        self.send({"method": "initialized"})
        return self

    def __exit__(self, *exception: object) -> None:
        self.watch.cancel()
        self.process.kill()
        self.process.communicate()

    def send(self, message: Json) -> None:
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def call(self, method: str, parameters: Json) -> Any:
        """The result of a call."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": parameters})
        answer = self._until(lambda message: message.get("id") == self.count and "method" not in message)
        assert "result" in answer, answer
        return answer["result"]

    def wait(self, method: str) -> Json:
        """The next notification of that name."""
        return self._until(lambda message: message.get("method") == method)

    def _until(self, wanted: Callable[[Json], bool]) -> Json:
        for line in self.process.stdout or ():
            message: Json = json.loads(line)
            if wanted(message):
                return message
            if "id" in message and "method" in message:
                self.asked.append(str(message["params"].get("command", message["method"])))
                self.send({"id": message["id"], "result": {"decision": self.decision}})
        raise AssertionError("the app server ended, or took more than %d s" % LIMIT)


class Gemini(Host):
    name = "gemini"
    modes = {"default": [], "bypass": ["--yolo"]}
    frame = re.compile(
        r"<untrusted_context>\nOutput: (?P<output>.*?)(?:\nExit Code: (?P<status>\d+))?\nProcess Group PGID: \d+\n</untrusted_context>", re.S
    )

    basis: Json = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }

    def environment(self, url: str) -> Dict[str, str]:
        return {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true", "NO_COLOR": "1"}

    def __init__(self, place: Path, program: Optional[str] = None) -> None:
        super().__init__(place, program)
        self.write("~/.gemini/settings.json", self.basis)

    def settings(self, changes: Json) -> None:
        """Merge into the user's settings."""
        file = self.home / ".gemini" / "settings.json"
        self.write("~/.gemini/settings.json", {**json.loads(file.read_text()), **changes})

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        node = shutil.which("node") or "node"
        return [node, self.program, "-p", prompt, "--output-format", "stream-json", "-m", "gemini-2.5-pro", *self.modes[mode]]

    def shell(self, command: str, **more: Any) -> Call:
        return Call("run_shell_command", {"command": command, "description": "a step", **more})

    def serve(self, name: str, words: Sequence[str]) -> None:
        self.settings({"mcpServers": {name: {"command": words[0], "args": words[1:]}}})

    def tool(self, server: str, name: str, **arguments: Any) -> Call:
        return Call("mcp_%s_%s" % (server, name), arguments)

    def allow(self, *programs: str) -> None:
        self.settings({"tools": {"allowed": ["run_shell_command(%s)" % program for program in programs]}})

    def deny(self, program: str) -> None:
        rule = '[[rule]]\ntoolName = "run_shell_command"\n%sdecision = "%s"\npriority = %d\n'
        rules = rule % ('commandPrefix = "%s"\n' % program, "deny", 200), rule % ("", "allow", 100)
        self.write("~/.gemini/policies/rules.toml", "\n".join(rules))

    def hook(self, command: str, **more: Any) -> None:
        hook = {"type": "command", "command": command, **more}
        self.settings({"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [hook]}]}})


class Copilot(Host):
    name = "copilot"
    modes = {"default": [], "bypass": ["--allow-all-tools"]}
    frame = re.compile(r"(?P<output>.*)\n<shellId: \d+ completed with exit code (?P<status>\d+)>", re.S)

    def environment(self, url: str) -> Dict[str, str]:
        provider = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url + "/v1", "COPILOT_MODEL": "gpt-4.1"}
        return {**provider, "COPILOT_AUTO_UPDATE": "false"}

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        return [self.program, "-p", prompt, "--no-color", *self.modes[mode]]

    def shell(self, command: str, **more: Any) -> Call:
        return Call("bash", {"command": command, "description": "a step", **more})

    def allow(self, *programs: str) -> None:
        self.arguments = [word for program in programs for word in ("--allow-tool", "shell(%s:*)" % program)]

    def deny(self, program: str) -> None:
        self.arguments = ["--allow-all-tools", "--deny-tool", "shell(%s:*)" % program]

    def hook(self, command: str, **more: Any) -> None:
        hook = {"type": "command", "bash": command, "timeoutSec": 10, **more}
        self.write("~/.copilot/hooks/test.json", {"version": 1, "hooks": {"preToolUse": [hook]}})


class Antigravity(Host):
    """The engine, through its SDK. It reads no hooks.json there, so the driver runs the lines of the one in the home at the SDK's hooks,
    in the dialect that the guide inside the engine describes: what is not covered is whether agy itself reads that file."""

    name = "antigravity"
    modes = {"default": ["ask"], "bypass": ["allow"]}
    frame = re.compile(r".*The command exited with code (?P<status>\d+)\.\n(?:Output|Stdout):\n(?P<output>.*)", re.S)

    def environment(self, url: str) -> Dict[str, str]:
        return {"GEMINI_API_KEY": "dummy"}

    def words(self, prompt: str, mode: str, url: str) -> List[str]:
        bridge = str(Path(__file__).resolve().parent / "engine.py")
        return [self.program, bridge, url + "/v1", str(self.work), str(self.home / ".gemini/config/hooks.json"), *self.modes[mode], prompt]

    def shell(self, command: str, **more: Any) -> Call:
        return Call("run_command", {"CommandLine": command, "Cwd": str(self.work), "WaitMsBeforeAsync": 50000, **more})

    def hook(self, command: str, **more: Any) -> None:
        hook = {"type": "command", "command": command, **more}
        self.write("~/.gemini/config/hooks.json", {"test": {"PreToolUse": [{"matcher": "run_command", "hooks": [hook]}]}})


class Terminal:
    """A program in a terminal of 140 columns, by tmux with a server of its own."""

    def __init__(self, words: Sequence[str], folder: Path, variables: Dict[str, str], socket: Path) -> None:
        self.tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        given = ["%s=%s" % item for item in {**variables, "TERM": "xterm-256color"}.items()]
        self.start = ["new-session", "-d", "-x", "140", "-y", "50", "-c", str(folder), shlex.join(["env", "-i", *given, *words])]

    def _do(self, *words: str) -> str:
        return subprocess.run([*self.tmux, *words], capture_output=True, text=True, check=True, timeout=LIMIT).stdout

    def __enter__(self) -> Terminal:
        self._do(*self.start)
        return self

    def __exit__(self, *exception: object) -> None:
        self._do("kill-server")

    def keys(self, *names: str) -> None:
        self._do("send-keys", *names)

    def wait(self, true: Callable[[str], object]) -> str:
        """The screen, once `true` of it."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            screen = self._do("capture-pane", "-p")
            if true(screen):
                return screen
            time.sleep(0.1)
        raise AssertionError("the terminal still shows: " + screen)


HOSTS = {host.name: host for host in (Claude, Codex, Antigravity, Gemini, Copilot)}
