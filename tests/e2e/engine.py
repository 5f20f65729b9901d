"""Runs one prompt in the Antigravity engine: engine.py URL WORKSPACE HOOKS.JSON ask|allow PROMPT, with the Python that has its SDK.

The engine reads no hooks.json when the SDK drives it, so the lines of that file are run here, as the guide that is shipped in the engine
says: their answers become those of the SDK's own hook. Who is asked says yes; what was asked is printed, an `asked: COMMAND` a line.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys

from google.antigravity import Agent, types
from google.antigravity.connections.local.local_openai_connection_config import LocalOpenAIAgentConfig
from google.antigravity.hooks import hooks, policy

URL, WORKSPACE, FILE, MODE, PROMPT = sys.argv[1:]
SECONDS = 30  # the default of a hook's time limit


def lines(event, tool):
    """The hook commands of an event that are meant for a tool, with their time limits."""
    try:
        with open(FILE) as file:
            named = json.load(file)
    except OSError:
        return
    for events in named.values():
        for group in events.get(event, []):
            if re.fullmatch(group.get("matcher", "*").replace("*", ".*") or ".*", tool):
                for hook in group["hooks"]:
                    yield hook["command"], hook.get("timeout", SECONDS)


def told(command, limit, payload):
    """What a hook answers; nothing where it fails."""
    where = os.path.dirname(FILE)
    try:
        done = subprocess.run(["sh", "-c", command], input=json.dumps(payload), capture_output=True, text=True, timeout=limit, cwd=where)
        return json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired):
        return {"decision": "ask"}


@hooks.pre_tool_call_decide
async def before(call):
    arguments, changed = dict(call.args), False
    payload = {"stepIdx": 1, "conversationId": "0", "workspacePaths": [WORKSPACE], "modelName": "scripted"}
    for command, limit in lines("PreToolUse", str(call.name)):
        answer = told(command, limit, {**payload, "toolCall": {"name": str(call.name), "args": arguments}})
        if answer.get("decision") not in ("allow", "ask"):
            return types.HookResult(allow=False, message=answer.get("reason", ""))
        if MODE == "ask" and answer["decision"] == "ask":
            print("asked: %s" % {**arguments, **answer.get("overwrite", {})}.get("CommandLine", call.name))
        changed = changed or "overwrite" in answer
        arguments.update(answer.get("overwrite", {}))
    return types.HookResult(allow=True, modified_args=arguments if changed else None)


async def main():
    configuration = LocalOpenAIAgentConfig(
        model="scripted", base_url=URL, workspaces=[WORKSPACE], hooks=[before], policies=[policy.allow_all()]
    )
    async with Agent(configuration) as agent:
        print(await (await agent.chat(PROMPT)).text())


asyncio.run(main())
