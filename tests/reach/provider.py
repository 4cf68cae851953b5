#!/usr/bin/env python3
"""A model provider that plays a script, for tests of real agents: Anthropic messages, OpenAI chat and responses, Gemini.

    python3 provider.py SCRIPT.json [--port N] [--log FILE]     prints its URL, then serves until it is killed
    with Provider(steps) as provider: …                         the same inside a test

A script is a list of steps. Step N answers a request whose conversation holds N turns of tool calls, so side requests, repeats and
resumed sessions get the right step. A client that drops calls with a known id gets a step at most three times. A step is one call {"tool": NAME, "input": {…}, "id": ID}, several as
{"calls": [CALL, …]}, or the last words {"text": WORDS}; a call without an id gets a random one. After the last step, and for
requests without tools, the answer is "done".
Codex 0.169.0 takes a call of an MCP server's tool with a "namespace" beside "tool".

Point clients at it with
    Claude Code     ANTHROPIC_BASE_URL=URL, ANTHROPIC_API_KEY=any
    Codex, OpenAI   base_url = "URL/v1"
    Gemini CLI      GOOGLE_GEMINI_BASE_URL=URL, GEMINI_API_KEY=any, and --model, or it asks a model to choose one

Uses only the standard library. Listens on loopback only.
"""

import argparse
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def text_of(content):
    """Returns the words of a tool's result in any dialect."""
    if isinstance(content, list):
        return "".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return content["text"] if isinstance(content.get("text"), str) else json.dumps(content)
    return "" if content is None else str(content)


def pieces(dialect, body):
    """Returns turns of tool calls so far, the words of each tool result, whether tools are offered."""
    turns, results = 0, []
    if dialect == "anthropic":
        for message in body.get("messages", []):
            blocks = message["content"] if isinstance(message["content"], list) else []
            turns += any(block.get("type") == "tool_use" for block in blocks)
            results += [text_of(block.get("content")) for block in blocks if block.get("type") == "tool_result"]
    elif dialect == "chat":
        for message in body.get("messages", []):
            turns += bool(message.get("tool_calls"))
            if message.get("role") == "tool":
                results.append(text_of(message.get("content")))
    elif dialect == "responses":
        within = False
        for item in body["input"] if isinstance(body.get("input"), list) else []:
            is_call = item.get("type", "").endswith("_call")
            turns += is_call and not within
            within = is_call
            if item.get("type", "").endswith("_call_output"):
                results.append(text_of(item.get("output")))
    else:
        for content in body.get("contents", []):
            parts = content.get("parts", [])
            turns += any("functionCall" in part for part in parts)
            results += [text_of(part["functionResponse"].get("response")) for part in parts if "functionResponse" in part]
    return turns, results, bool(body.get("tools"))


def anthropic(step, model):
    """Returns the events of one message, and the whole message."""
    blocks = [{"type": "tool_use", "id": call["id"], "name": call["tool"], "input": call["input"]} for call in step["calls"]]
    blocks = blocks or [{"type": "text", "text": step["text"]}]
    stop = "tool_use" if step["calls"] else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_" + uuid.uuid4().hex[:12], "type": "message", "role": "assistant", "model": model,
               "stop_sequence": None, "usage": usage}
    events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
    for n, block in enumerate(blocks):
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            start = {**block, "input": {}}
        else:
            delta = {"type": "text_delta", "text": block["text"]}
            start = {**block, "text": ""}
        events.append({"type": "content_block_start", "index": n, "content_block": start})
        events.append({"type": "content_block_delta", "index": n, "delta": delta})
        events.append({"type": "content_block_stop", "index": n})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
    events.append({"type": "message_stop"})
    return [(event["type"], event) for event in events], {**message, "content": blocks, "stop_reason": stop}


def chat(step, model):
    calls = [{"index": n, "id": call["id"], "type": "function",
              "function": {"name": call["tool"], "arguments": json.dumps(call["input"])}}
             for n, call in enumerate(step["calls"])]
    said = {"role": "assistant", "content": None if calls else step["text"], **({"tool_calls": calls} if calls else {})}
    end = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "chatcmpl-" + uuid.uuid4().hex[:12], "created": 0, "model": model}

    def chunk(delta, why=None):
        return (None, {**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]})
    whole = {**head, "object": "chat.completion", "usage": usage, "choices": [{"index": 0, "message": said, "finish_reason": end}]}
    last = (None, {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    return [chunk(said), chunk({}, end), last, (None, "[DONE]")], whole


def responses(step, model):
    items = [{"type": "function_call", "id": "fc_" + uuid.uuid4().hex[:12], "call_id": call["id"], "name": call["tool"],
              **({"namespace": call["namespace"]} if "namespace" in call else {}),
              "arguments": json.dumps(call["input"]), "status": "completed"} for call in step["calls"]]
    items = items or [{"type": "message", "id": "msg_" + uuid.uuid4().hex[:12], "role": "assistant", "status": "completed",
                       "content": [{"type": "output_text", "text": step["text"], "annotations": []}]}]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}
    head = {"id": "resp_" + uuid.uuid4().hex[:12], "object": "response", "created_at": 0, "model": model, "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
            "tool_choice": "auto", "tools": []}
    whole = {**head, "status": "completed", "output": items, "usage": usage}
    events = [{"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}]
    for n, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": n, "item": item})
        events.append({"type": "response.output_item.done", "output_index": n, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [(event["type"], {**event, "sequence_number": n}) for n, event in enumerate(events)], whole


def gemini(step, model):
    # Gemini's calls have no reliable ids.
    parts = [{"functionCall": {"name": call["tool"], "args": call["input"]}} for call in step["calls"]]
    whole = {"candidates": [{"index": 0, "finishReason": "STOP",
                             "content": {"role": "model", "parts": parts or [{"text": step["text"]}]}}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": model}
    return [(None, whole)], whole


DIALECTS = {"anthropic": anthropic, "chat": chat, "responses": responses, "gemini": gemini}


def dialect_of(path):
    """Returns the dialect of a path without its query; None for other paths."""
    if path.endswith("/count_tokens") or path.endswith(":countTokens"):
        return None
    for end, dialect in (("/messages", "anthropic"), ("/chat/completions", "chat"), ("/responses", "responses")):
        if path.endswith(end):
            return dialect
    return "gemini" if path.endswith((":generateContent", ":streamGenerateContent")) else None


class Provider:
    """Serves on loopback until close()."""

    def __init__(self, steps, port=0, log=None):
        self.steps = steps
        # Every request that offered tools: {"dialect", "turns", "results", "body"}.
        self.requests = []
        self.log = log
        self.played = {}
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), type("Bound", (Handler,), {"provider": self}))
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def step(self, turns):
        with self.lock:
            self.played[turns] = self.played.get(turns, 0) + 1
            given = self.steps[turns] if turns < len(self.steps) and self.played[turns] <= 3 else {}
        calls = given.get("calls") or ([given] if "tool" in given else [])
        calls = [{"input": {}, "id": "call_" + uuid.uuid4().hex[:12], **call} for call in calls]
        return {"calls": calls, "text": given.get("text", "done")}

    def note(self, request):
        with self.lock:
            self.requests.append(request)
            if self.log:
                self.log.write(json.dumps(request) + "\n")
                self.log.flush()

    def results(self):
        """Returns the results that the model read in the longest conversation."""
        with self.lock:
            return max((request["results"] for request in self.requests), key=len, default=[])

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Handler(BaseHTTPRequestHandler):
    provider = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer({})

    def do_GET(self):
        self.answer({"object": "list", "data": [], "models": []})

    def do_POST(self):
        path = self.path.split("?")[0]
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        dialect = dialect_of(path)
        if dialect is None:
            return self.answer({"input_tokens": 1, "totalTokens": 1})
        turns, results, offers = pieces(dialect, body)
        step = {"calls": [], "text": "done"}
        if offers:
            step = self.provider.step(turns)
            self.provider.note({"dialect": dialect, "turns": turns, "results": results, "body": body})
        events, whole = DIALECTS[dialect](step, body.get("model", "scripted"))
        if body.get("stream") or path.endswith(":streamGenerateContent"):
            return self.stream(events)
        return self.answer(whole)

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        lines = []
        for name, event in events:
            lines += ["event: " + name] if name else []
            lines += ["data: " + (event if isinstance(event, str) else json.dumps(event)), ""]
        data = ("\n".join(lines) + "\n").encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("script", help="a file of JSON; - is standard input")
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--log", type=argparse.FileType("a"), help="each request that offered tools, one JSON object a line")
    given = arguments.parse_args()
    with (sys.stdin if given.script == "-" else open(given.script)) as file:
        steps = json.load(file)
    with Provider(steps, given.port, given.log) as provider:
        print(provider.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
