"""A model that follows a script: the wire protocols of five agents on loopback, standard library only.

A script is a list of steps. Step n answers the request whose history holds n turns of tool calls, so that retries and side requests
never advance it. What a client sent after turn n, which is what a model would have seen next, is kept in `Model.seen[n]`.
"""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Type, Union

Json = Dict[str, Any]


class Call(NamedTuple):
    """A tool call of the model. `input` is an object; a text makes it one of the free-form tools of the responses protocol."""

    name: str
    input: Union[Json, str]
    namespace: str = ""


class Result(NamedTuple):
    """What the model was told that a call came to; `error` where the protocol has such a mark, else None."""

    text: str
    error: Optional[bool] = None


class Seen:
    """What a client sent after a turn of calls: their results, and every other text that came with them."""

    def __init__(self) -> None:
        self.results: List[Result] = []
        self.notes: List[str] = []

    @property
    def text(self) -> str:
        """The text of the only result."""
        (result,) = self.results
        return result.text

    def __str__(self) -> str:
        return "\n".join([result.text for result in self.results] + self.notes)


Step = Union[str, Call, Callable[[Dict[int, Seen]], Union[str, Call]]]  # what to say, what to call, or what decides that from what was seen
Frame = Tuple[str, Any]  # the name of a server-sent event ("" for none) and its data


def texts(content: Any) -> str:
    """The text of a content field: a string as it is, the text parts of a list joined."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


class Messages:
    """POST …/messages: Claude."""

    path = "/messages"

    @staticmethod
    def offers_tools(body: Json) -> bool:
        return bool(body.get("tools"))

    @staticmethod
    def read(body: Json) -> Tuple[int, Seen]:
        turn, seen = 0, Seen()
        for message in body["messages"]:
            content = message["content"]
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            if message["role"] == "assistant":
                if any(part["type"] == "tool_use" for part in parts):
                    turn, seen = turn + 1, Seen()
                continue
            for part in parts:
                if part["type"] == "tool_result":
                    seen.results.append(Result(texts(part.get("content")), bool(part.get("is_error"))))
                elif part["type"] == "text":
                    seen.notes.append(part["text"])
        return turn, seen

    @staticmethod
    def answer(body: Json, step: Union[str, Call], name: str) -> Iterator[Frame]:
        usage = {"input_tokens": 10, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 5}
        if isinstance(step, Call):
            block = {"type": "tool_use", "id": "toolu_" + name, "name": step.name, "input": step.input}
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(step.input)}
        else:
            block = {"type": "text", "text": step}
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": step}
        stop = {"stop_reason": "tool_use" if isinstance(step, Call) else "end_turn", "stop_sequence": None}
        whole = {"id": "msg_" + name, "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
        if not body.get("stream"):
            yield "", {**whole, **stop, "content": [block]}
            return
        start: Json = {**whole, "content": [], "stop_reason": None, "stop_sequence": None}
        for event in (
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ):
            yield str(event["type"]), event


class Responses:
    """POST …/responses: Codex. Its newer models are sent their tools as an item of the input."""

    path = "/responses"
    calls = ("function_call", "custom_tool_call")
    outputs = ("function_call_output", "custom_tool_call_output")

    @staticmethod
    def offers_tools(body: Json) -> bool:
        return bool(body.get("tools")) or any(item.get("type") == "additional_tools" for item in body["input"])

    @classmethod
    def read(cls, body: Json) -> Tuple[int, Seen]:
        turn, seen = 0, Seen()
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind in cls.calls:
                turn, seen = turn + 1, Seen()
            elif kind in cls.outputs:
                seen.results.append(Result(texts(item["output"])))
            elif kind == "message" and item.get("role") != "assistant":
                seen.notes.append(texts(item["content"]))
        return turn, seen

    @staticmethod
    def answer(body: Json, step: Union[str, Call], name: str) -> Iterator[Frame]:
        item: Json
        if isinstance(step, str):
            content = [{"type": "output_text", "text": step, "annotations": []}]
            item = {"type": "message", "id": "msg_" + name, "role": "assistant", "status": "completed", "content": content}
        elif isinstance(step.input, str):
            item = {"type": "custom_tool_call", "id": "ctc_" + name, "call_id": "call_" + name, "name": step.name, "input": step.input}
        else:
            arguments = json.dumps(step.input)
            item = {"type": "function_call", "id": "fc_" + name, "call_id": "call_" + name, "name": step.name, "arguments": arguments}
            if step.namespace:
                item["namespace"] = step.namespace
        item["status"] = "completed"
        counts = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        whole = {"id": "resp_" + name, "object": "response", "created_at": 0, "model": body.get("model"), "error": None}
        done = {**whole, "status": "completed", "output": [item], "usage": {**counts, **details}}
        for event in (
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ):
            yield str(event["type"]), event


class Chat:
    """POST …/chat/completions: Copilot with a provider of one's own, the Antigravity engine."""

    path = "/chat/completions"

    @staticmethod
    def offers_tools(body: Json) -> bool:
        return bool(body.get("tools"))

    @staticmethod
    def read(body: Json) -> Tuple[int, Seen]:
        turn, seen = 0, Seen()
        for message in body["messages"]:
            if message["role"] == "assistant":
                if message.get("tool_calls"):
                    turn, seen = turn + 1, Seen()
            elif message["role"] == "tool":
                seen.results.append(Result(texts(message["content"])))
            else:
                seen.notes.append(texts(message["content"]))
        return turn, seen

    @staticmethod
    def answer(body: Json, step: Union[str, Call], name: str) -> Iterator[Frame]:
        message: Json = {"role": "assistant", "content": ""}
        if isinstance(step, Call):
            function = {"name": step.name, "arguments": json.dumps(step.input)}
            message["tool_calls"] = [{"index": 0, "id": "call_" + name, "type": "function", "function": function}]
        else:
            message["content"] = step
        finish = "tool_calls" if isinstance(step, Call) else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        whole = {"id": "chatcmpl-" + name, "created": 0, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            yield "", {**whole, "object": "chat.completion", "choices": [choice], "usage": usage}
            return
        whole["object"] = "chat.completion.chunk"
        yield "", {**whole, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        yield "", {**whole, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
        yield "", {**whole, "choices": [], "usage": usage}
        yield "", "[DONE]"


class Gemini:
    """POST …:generateContent and …:streamGenerateContent: Gemini CLI."""

    path = "enerateContent"

    @staticmethod
    def offers_tools(body: Json) -> bool:
        return any("functionDeclarations" in tool for tool in body.get("tools") or [])

    @staticmethod
    def read(body: Json) -> Tuple[int, Seen]:
        turn, seen = 0, Seen()
        for content in body["contents"]:
            parts = content["parts"]
            if content.get("role") == "model":
                if any("functionCall" in part for part in parts):
                    turn, seen = turn + 1, Seen()
                continue
            for part in parts:
                if "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    text = response.get("output", response.get("error", ""))
                    seen.results.append(Result(text if isinstance(text, str) else json.dumps(text), "error" in response))
                elif "text" in part:
                    seen.notes.append(part["text"])
        return turn, seen

    @staticmethod
    def answer(body: Json, step: Union[str, Call], name: str) -> Iterator[Frame]:
        part: Json = {"text": step}
        if isinstance(step, Call):
            part = {"functionCall": {"id": name, "name": step.name, "args": step.input}}
        elif body.get("generationConfig", {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1})}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        yield "", {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted", "responseId": name}


Protocol = Union[Type[Messages], Type[Responses], Type[Chat], Type[Gemini]]
PROTOCOLS: Sequence[Protocol] = (Messages, Responses, Chat, Gemini)
MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []}


class Model:
    """The server, on a port of its own until the `with` ends.

    `bodies` are the requests with tools, in order; `seen` what came after each turn (0: before the first call); `side` counts
    requests without tools, which are answered "side"; `strange` holds what no protocol here knows."""

    def __init__(self, script: Sequence[Step]) -> None:
        self.script = script
        self.bodies: List[Json] = []
        self.seen: Dict[int, Seen] = {}
        self.side = 0
        self.strange: List[str] = []
        self.failure: Optional[Exception] = None
        self._lock = threading.Lock()
        self._served = 0

    def __enter__(self) -> Model:
        handler = type("Handler", (_Handler,), {"model": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self.failure:
            raise self.failure

    def decided(self, step: Callable[[Dict[int, Seen]], Union[str, Call]]) -> Union[str, Call]:
        """The step that a function decides on; what it raises ends the script, and is raised again when the `with` ends."""
        try:
            return step(self.seen)
        except Exception as error:
            self.failure = error
            return "no idea"

    def frames(self, protocol: Protocol, body: Json) -> List[Frame]:
        """The answer to one request."""
        with self._lock:
            self._served += 1
            name = "%016x" % self._served
            if not protocol.offers_tools(body):
                self.side += 1
                return list(protocol.answer(body, "side", name))
            turn, seen = protocol.read(body)
            self.bodies.append(body)
            self.seen[turn] = seen
            step = self.script[turn] if turn < len(self.script) else "done"
            if callable(step):
                step = self.decided(step)
            return list(protocol.answer(body, step, name))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send([("", {})], False)

    def do_GET(self) -> None:
        self._send([("", MODELS if "models" in self.path else {})], False)

    def do_POST(self) -> None:
        raw = self._chunks() if "chunked" in self.headers.get("transfer-encoding", "") else self._sized()
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        body, path = json.loads(raw or b"{}"), self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            return self._send([("", {"input_tokens": 10, "totalTokens": 10})], False)
        for protocol in PROTOCOLS:
            if path.endswith(protocol.path):
                streams = bool(body.get("stream")) or ":stream" in path
                return self._send(self.model.frames(protocol, body), streams)
        self.model.strange.append(path)
        self._send([("", {})], False)

    def _sized(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def _chunks(self) -> bytes:
        raw, size = b"", 1
        while size:
            size = int(self.rfile.readline().split(b";")[0], 16)
            raw += self.rfile.read(size)
            self.rfile.readline()
        return raw

    def _send(self, frames: List[Frame], streams: bool) -> None:
        if streams:
            events = (("event: %s\n" % name if name else "") + "data: %s\n\n" % _text(data) for name, data in frames)
            answer, kind = "".join(events).encode(), "text/event-stream"
        else:
            answer, kind = _text(frames[-1][1]).encode(), "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(answer)))
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(answer)


def _text(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data)
