"""An MCP server over stdio whose one tool, `report`, answers with as many numbered lines as it is asked for."""

from __future__ import annotations

import json
import sys

TOOL = {"name": "report", "description": "a report", "inputSchema": {"type": "object", "properties": {"lines": {"type": "integer"}}}}


def report(lines):
    """The text of a report: 40 bytes a line."""
    return "".join("%06d %s\n" % (number, "reported value " * 2 + "ok") for number in range(lines))


def answer(method, parameters):
    if method == "initialize":
        version = parameters.get("protocolVersion", "2025-06-18")
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "reports", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": report(parameters["arguments"]["lines"])}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
