"""`placet mcp` in front of real servers. tests/reach/mcp.sh runs this and lists its needs.

    proxy.py --scripted     is a scripted server, for behaviour that real ones do not have
    proxy.py --new          is a server of Python's SDK, which also speaks MCP 2026-07-28

Every wait is for a condition, with a limit.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REACH = ROOT / "target" / "reach"
PLACET = os.environ.get("PLACET", str(ROOT / "target" / "debug" / "placet"))
LIMIT = 60.0
FILESYSTEM = REACH / "server-filesystem/node_modules/.bin/mcp-server-filesystem"
EVERYTHING = REACH / "server-everything/node_modules/.bin/mcp-server-everything"
SCRIPTED = [sys.executable, str(Path(__file__).resolve()), "--scripted"]


def scripted():
    """A server with one tool `do`, whose argument says: answer, die, or hold until cancelled."""
    held = None
    seen = sys.argv[2] if len(sys.argv) > 2 else os.devnull

    def say(message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    for line in sys.stdin:
        with open(seen, "a") as log:
            log.write(line)
        message = json.loads(line)
        method, params = message.get("method"), message.get("params", {})
        if method == "initialize":
            say({"id": message["id"], "result": {
                "protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted-server", "version": repr(time.monotonic())}}})
        elif method == "tools/list":
            say({"id": message["id"], "result": {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}})
        elif method == "tools/call":
            what = params["arguments"]["what"]
            if what == "die":
                os._exit(3)
            elif what == "hold":
                held = message["id"]
            else:
                say({"id": message["id"], "result": {"content": [{"type": "text", "text": what}]}})
        elif method == "notifications/cancelled" and params["requestId"] == held:
            say({"id": held, "result": {"content": [{"type": "text", "text": "cancelled in the middle"}]}})


if __name__ == "__main__" and sys.argv[1:2] == ["--scripted"]:
    scripted()
    sys.exit()

if __name__ == "__main__" and sys.argv[1:2] == ["--new"]:
    sys.path = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
    from typing import Annotated

    from mcp.server import MCPServer
    from mcp.server.mcpserver import Elicit, Resolve
    from pydantic import BaseModel

    class Sure(BaseModel):
        sure: bool

    def ask(path: str) -> Elicit[Sure]:
        return Elicit(f"Really remove {path}?", Sure)

    server = MCPServer("files-server")

    @server.tool()
    def remove(path: str) -> str:
        return f"removed {path}"

    @server.tool()
    def break_it(path: str) -> str:
        raise ValueError(f"{path} is in use")

    @server.tool()
    def ask_back(path: str, sure: Annotated[Sure, Resolve(ask)]) -> str:
        return f"removed {path} {sure.sure}"

    server.run("stdio")
    sys.exit()

from provider import Provider  # noqa: E402

# This file has the name of the package.
sys.path = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]

from mcp import Client, ClientSession, MCPError, StdioServerParameters, types  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402


def eventually(what, probe, limit=LIMIT):
    started, pause = time.monotonic(), threading.Event()
    while time.monotonic() - started < limit:
        found = probe()
        if found:
            return found
        pause.wait(0.05)
    raise AssertionError(f"never happened: {what}")


async def soon(what, probe, limit=LIMIT):
    """The same, while the client continues."""
    return await asyncio.to_thread(eventually, what, probe, limit)


class Gate:
    """A gate on loopback."""

    def __init__(self, state):
        self.state = Path(state)
        self.state.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen([PLACET, "gate", "serve", "--listen", "127.0.0.1:0"], env=environment(self.state),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        note = eventually("the gate is there", lambda: next(iter(self.state.glob("*.json")), None))
        self.note = eventually("its note is whole", lambda: json.loads(note.read_text() or "null"))
        self.token = Path(self.note["tokenFile"]).read_text().strip()

    def ask(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"{self.note['url']}/api/pending-actions{path}"
        with direct.open(urllib.request.Request(url, data, headers, method=method), timeout=LIMIT) as reply:
            return json.load(reply)

    def actions(self, status):
        return self.ask("GET", f"?status={status}")["items"]

    def pending(self):
        """Returns the only pending action, in full."""
        items = eventually("an action waits", lambda: self.actions("pending"))
        assert len(items) == 1, items
        return self.ask("GET", f"/{items[0]['id']}")

    def action(self, id, status):
        """Returns the action once it has this status."""
        def there():
            action = self.ask("GET", f"/{id}")
            return action if action["status"] == status else None
        return eventually(f"{id} is {status}", there)

    def approve(self, id, edits=None):
        self.ask("POST", f"/{id}/approve", {"userEdits": edits} if edits else {})

    def reject(self, id, reason):
        self.ask("POST", f"/{id}/reject", {"reason": reason})

    def close(self):
        self.process.terminate()
        self.process.wait(LIMIT)


def environment(state, **more):
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
    return {**kept, "HOME": str(state), "PLACET_STATE_DIR": str(state), "PLACET_CONFIG": str(Path(state) / "config.toml"), **more}


class Case(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        # asyncio would log the slow calls that wait for the gate.
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        self.state, self.work = self.home / "state", self.home / "work"
        self.state.mkdir()
        self.work.mkdir()
        (self.state / "config.toml").write_text("")

    def gate(self):
        gate = Gate(self.state)
        self.addCleanup(gate.close)
        return gate

    def server(self, *options, server=None):
        server = server or [str(FILESYSTEM), str(self.work)]
        return [PLACET, "mcp", *options, "--", *server]

    @asynccontextmanager
    async def client(self, *options, server=None, **callbacks):
        command, *arguments = self.server(*options, server=server)
        how = StdioServerParameters(command=command, args=arguments, env=environment(self.state), cwd=str(self.work))
        with open(self.home / "stderr", "a") as said:
            async with stdio_client(how, errlog=said) as (read, write):
                async with ClientSession(read, write, **callbacks) as session:
                    await session.initialize()
                    await session.list_tools()
                    yield session

    def write(self, session, text="agent", **more):
        path = str(self.work / "note.txt")
        return asyncio.create_task(session.call_tool("write_file", {"path": path, "content": text}, **more))

    @property
    def note(self):
        path = self.work / "note.txt"
        return path.read_text() if path.exists() else None


def words(result):
    return [block.text for block in result.content]


class Filesystem(Case):
    async def test_reading_needs_no_gate_and_writing_is_refused_without_one(self):
        (self.work / "a.txt").write_text("read me")
        async with self.client("--name", "fs") as session:
            read = await session.call_tool("read_text_file", {"path": str(self.work / "a.txt")})
            self.assertEqual(words(read), ["read me"])
            self.assertTrue(read.structured_content, "an open tool is as it was")
            refused = await self.write(session)
            self.assertTrue(refused.is_error)
            self.assertEqual(words(refused), ["No gate on this machine. Start `placet`."])
        self.assertIsNone(self.note)

    async def test_the_list_marks_what_is_gated_and_has_our_tool_last(self):
        async with self.client() as session:
            tools = (await session.list_tools()).tools
        self.assertEqual(tools[-1].name, "placet_result")
        self.assertEqual(len(tools), 15)
        gated = [tool.name for tool in tools[:-1] if not tool.output_schema]
        self.assertEqual(gated, ["write_file", "edit_file", "create_directory", "move_file"])

    async def test_an_approved_call_writes_and_its_result_is_kept(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = self.write(session)
            action = await asyncio.to_thread(gate.pending)
            self.assertEqual(action["toolName"], "fs.write_file")
            self.assertEqual(action["toolInput"], {"path": str(self.work / "note.txt"), "content": "agent"})
            self.assertTrue(action["missionId"].startswith("work-"), action)
            self.assertIsNone(self.note)
            gate.approve(action["id"])
            result = await call
            self.assertFalse(result.is_error)
            self.assertIn("Successfully wrote", words(result)[0])
            done = await asyncio.to_thread(gate.action, action["id"], "executed")
            self.assertIn("structuredContent", done["result"])
        self.assertEqual(self.note, "agent")

    async def test_an_edited_call_writes_the_edit_and_the_model_reads_of_it(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = self.write(session)
            action = await asyncio.to_thread(gate.pending)
            gate.approve(action["id"], {"content": "human\u2028"})
            said = words(await call)
        self.assertTrue(said[0].startswith("A human changed this call before it ran. It ran with: {"), said)
        self.assertIn("human", said[0])
        self.assertEqual(self.note, "human\u2028")

    async def test_a_rejected_call_does_not_write(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = self.write(session)
            action = await asyncio.to_thread(gate.pending)
            gate.reject(action["id"], "not today")
            result = await call
            self.assertTrue(result.is_error)
            self.assertEqual(words(result), ["A human rejected this call: not today. Do not repeat it unchanged."])
        self.assertIsNone(self.note)

    async def test_a_refusal_of_the_server_is_kept(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = asyncio.create_task(session.call_tool("create_directory", {"path": "/nowhere/else"}))
            action = await asyncio.to_thread(gate.pending)
            gate.approve(action["id"])
            result = await call
            self.assertTrue(result.is_error)
            self.assertIn("Access denied", words(result)[0])
            done = await asyncio.to_thread(gate.action, action["id"], "failed")
            self.assertIn("Access denied", done["error"])

    async def test_a_client_that_times_out_withdraws_its_call(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = self.write(session, read_timeout_seconds=2)
            action = await asyncio.to_thread(gate.pending)
            with self.assertRaises(MCPError):
                await call
            await asyncio.to_thread(gate.action, action["id"], "withdrawn")

    async def test_a_client_that_ends_withdraws_what_waits(self):
        gate = self.gate()
        async with self.client("--name", "fs") as session:
            call = self.write(session)
            action = await asyncio.to_thread(gate.pending)
            call.cancel()
        await asyncio.to_thread(gate.action, action["id"], "withdrawn")

    async def test_a_parked_call_runs_once_when_its_outcome_is_asked_for(self):
        gate = self.gate()
        async with self.client("--name", "fs", "--wait", "1") as session:
            parked = await self.write(session)
            id = (await asyncio.to_thread(gate.pending))["id"]
            self.assertFalse(parked.is_error)
            self.assertEqual(words(parked), [f"This call did not run. It waits for a human as {id}. "
                                             "Ask placet_result with this id for the outcome."])
            still = await session.call_tool("placet_result", {"id": id})
            self.assertEqual(words(still), words(parked))
            gate.approve(id)
            self.assertIsNone(self.note, "nobody asked")
            for _ in range(2):
                result = await session.call_tool("placet_result", {"id": id})
                self.assertIn("Successfully wrote", words(result)[0])
                self.assertEqual(self.note, "agent")
                (self.work / "note.txt").write_text("agent")
            await asyncio.to_thread(gate.action, id, "executed")
            unknown = await session.call_tool("placet_result", {"id": "x"})
            self.assertEqual((unknown.is_error, words(unknown)), (True, ["No call of this session waits as x."]))

    async def test_a_parked_call_that_was_approved_ends_with_its_client(self):
        gate = self.gate()
        async with self.client("--name", "fs", "--wait", "1") as session:
            await self.write(session)
            id = (await asyncio.to_thread(gate.pending))["id"]
            gate.approve(id)
        done = await asyncio.to_thread(gate.action, id, "failed")
        self.assertEqual(done["error"], "The agent ended before this call ran.")
        self.assertIsNone(self.note)

    async def test_the_same_call_of_the_model_runs_once(self):
        gate = self.gate()
        meta = {"callId": "call_1", "sessionId": "one"}
        for n in range(2):
            async with self.client("--name", "fs") as session:
                call = self.write(session, meta=meta)
                if n == 0:
                    action = await asyncio.to_thread(gate.pending)
                    gate.approve(action["id"])
                    await call
                    await asyncio.to_thread(gate.action, action["id"], "executed")
                    (self.work / "note.txt").write_text("changed since")
                else:
                    self.assertIn("This call ran already and was not run again.", words(await call)[0])
        self.assertEqual(self.note, "changed since")

    async def test_the_configuration_opens_and_gates(self):
        gate = self.gate()
        (self.state / "config.toml").write_text('[mcp.fs]\nopen = ["write_file"]\ngated = ["list_directory"]\n')
        async with self.client("--name", "fs") as session:
            await self.write(session)
            self.assertEqual(self.note, "agent")
            call = asyncio.create_task(session.call_tool("list_directory", {"path": str(self.work)}))
            action = await asyncio.to_thread(gate.pending)
            self.assertEqual(action["toolName"], "fs.list_directory")
            gate.approve(action["id"])
            self.assertIn("note.txt", words(await call)[0])

    async def test_progress_keeps_the_client_waiting(self):
        gate = self.gate()
        told = []

        async def progress(done, total, message):
            told.append(message)
        async with self.client("--name", "fs") as session:
            call = self.write(session, progress_callback=progress)
            action = await asyncio.to_thread(gate.pending)
            await soon("progress is told", lambda: told)
            self.assertEqual(told[0], f"Waits for a human as {action['id']}.")
            gate.approve(action["id"])
            await call


NEW = [sys.executable, str(Path(__file__).resolve()), "--new"]
DISPOSITION = "io.modelcontextprotocol/tool-approval-disposition"


class Python(Case):
    """Python's client, with its own choice of protocol."""

    MODE = "2026-07-28"
    IS_NEW = True

    @asynccontextmanager
    async def connected(self, *options, **callbacks):
        command, *arguments = self.server(*options, server=NEW)
        how = StdioServerParameters(command=command, args=arguments, env=environment(self.state), cwd=str(self.work))
        with open(self.home / "stderr", "a") as said:
            async with Client(stdio_client(how, errlog=said), mode=self.MODE, **callbacks) as client:
                yield client

    async def outcome(self, decide, *options, tool="remove", name="files", status, **callbacks):
        """Returns what the client reads of a call that a person decides."""
        gate = self.gate()
        async with self.connected(*options, **callbacks) as client:
            call = asyncio.create_task(client.call_tool(tool, {"path": "x"}))
            action = await asyncio.to_thread(gate.pending)
            self.assertEqual((action["toolName"], action["agent"]), (f"{name}.{tool}", "mcp"))
            await asyncio.to_thread(decide, gate, action["id"])
            result = await call
        await asyncio.to_thread(gate.action, action["id"], status)
        disposition = (result.meta or {}).get(DISPOSITION)
        self.assertEqual(disposition is not None, self.IS_NEW)
        return words(result), result.is_error, disposition

    async def test_an_approved_call(self):
        told = await self.outcome(lambda gate, id: gate.approve(id), status="executed")
        self.assertEqual(told[:2], (["removed x"], False))
        self.assertIn(told[2], ("approved-executed", None))

    async def test_an_edited_call(self):
        told = await self.outcome(lambda gate, id: gate.approve(id, {"path": "y"}), status="executed")
        self.assertEqual(told[0], ['A human changed this call before it ran. It ran with: {"path":"y"}', "removed y"])

    async def test_a_rejected_call(self):
        told = await self.outcome(lambda gate, id: gate.reject(id, "not today"), status="rejected")
        begin = "This call did not run. A human rejected it" if self.IS_NEW else "A human rejected this call"
        self.assertEqual(told[:2], ([f"{begin}: not today. Do not repeat it unchanged."], True))
        self.assertIn(told[2], ("denied-not-executed", None))

    async def test_a_call_that_fails(self):
        told = await self.outcome(lambda gate, id: gate.approve(id), tool="break_it", status="failed")
        self.assertEqual(told[:2], (["Error executing tool break_it"], True))
        self.assertIn(told[2], ("execution-error", None))

    async def test_a_parked_call_and_one_without_a_gate(self):
        async with self.connected() as client:
            refused = await client.call_tool("remove", {"path": "x"})
            self.assertIn("No gate on this machine.", words(refused)[0])
        gate = self.gate()
        async with self.connected("--wait", "1") as client:
            parked = await client.call_tool("remove", {"path": "x"})
            id = (await asyncio.to_thread(gate.pending))["id"]
            self.assertIn(f"It waits for a human as {id}.", words(parked)[0])
            gate.approve(id)
            self.assertEqual(words(await client.call_tool("placet_result", {"id": id})), ["removed x"])


    async def test_a_tool_that_asks_back(self):
        async def elicit(context, params):
            return types.ElicitResult(action="accept", content={"sure": True})
        status = "failed" if self.IS_NEW else "executed"
        told = await self.outcome(lambda gate, id: gate.approve(id), tool="ask_back", status=status, elicitation_callback=elicit)
        unknown = "This call was started and nobody knows whether it ran. It is not run again. Ask a human to check it."
        self.assertEqual(told, ([unknown], True, "outcome-unknown") if self.IS_NEW else (["removed x True"], False, None))


class FirstLine(Case):
    """A client of MCP 2026-07-28 without a request before its first call."""

    def test_a_call_as_the_first_line_has_its_names_and_its_id_comes_again(self):
        gate = self.gate()
        process = subprocess.Popen(self.server(server=NEW), env=environment(self.state), cwd=self.work, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for stop in (process.stdout.close, lambda: process.wait(LIMIT), process.kill, process.stdin.close):
            self.addCleanup(stop)
        meta = {"protocolVersion": "2026-07-28", "clientInfo": {"name": "raw-mcp-client", "version": "1"}, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}
        for n in (1, 2):
            Scripted.say(process, id=7, method="tools/call", params={"name": "remove", "arguments": {"path": "x"}, "_meta": meta})
            action = gate.pending()
            self.assertEqual((action["toolName"], action["agent"], action["toolCallId"]), ("files.remove", "raw", f"7-{n}"))
            gate.approve(action["id"])
            answer = json.loads(process.stdout.readline())
            self.assertEqual((answer["id"], answer["result"]["content"][0]["text"]), (7, "removed x"))
            gate.action(action["id"], "executed")


class PythonAuto(Python):
    """The same with a probe first."""

    MODE = "auto"


class PythonLegacy(Python):
    MODE = "legacy"
    IS_NEW = False


class TypeScript(Case):
    """The clients of the TypeScript SDKs; `client.mjs` makes one call and prints its result."""

    async def outcome(self, gate, sdk, mode, decide, tool="remove"):
        process = subprocess.Popen(
            ["node", str(Path(__file__).with_name("client.mjs")), sdk, mode, tool, *self.server(server=NEW)], cwd=self.work,
            env={**environment(self.state), "MODULES": str(REACH / "typescript-mcp/node_modules/@modelcontextprotocol")},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        action = await asyncio.to_thread(gate.pending)
        self.assertEqual((action["toolName"], action["agent"]), (f"files.{tool}", "ts-agent"))
        await asyncio.to_thread(decide, gate, action["id"])
        said, failed = await asyncio.to_thread(process.communicate, timeout=LIMIT)
        self.assertEqual(process.returncode, 0, failed)
        result = json.loads(said)
        return result["content"][0]["text"], result.get("isError", False), result.get("_meta", {}).get(DISPOSITION)

    async def test_new_answers_are_read(self):
        gate = self.gate()
        for decide, tool, text, failed, disposition in (
            (lambda gate, id: gate.approve(id), "remove", "removed x", False, "approved-executed"),
            (lambda gate, id: gate.reject(id, "no"), "remove", "This call did not run. A human rejected it: no.", True, "denied-not-executed"),
            (lambda gate, id: gate.approve(id), "break_it", "Error executing tool break_it", True, "execution-error"),
        ):
            told = await self.outcome(gate, "client", "auto", decide, tool)
            self.assertIn(text, told[0])
            self.assertEqual(told[1:], (failed, disposition))

    async def test_old_answers_are_read(self):
        gate = self.gate()
        for sdk in ("client", "sdk"):
            told = await self.outcome(gate, sdk, "legacy", lambda gate, id: gate.reject(id, "no"))
            self.assertEqual(told, ("A human rejected this call: no. Do not repeat it unchanged.", True, None))


class Scripted(Case):
    def scripted(self):
        return [*SCRIPTED, str(self.home / "seen")]

    def seen(self):
        return [json.loads(line) for line in (self.home / "seen").read_text().splitlines()]

    def raw(self, *options):
        """The proxy, driven line by line."""
        process = subprocess.Popen(self.server(*options, server=self.scripted()), env=environment(self.state), cwd=self.work,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdin.close)
        self.say(process, id=0, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {},
                                                             "clientInfo": {"name": "raw", "version": "1"}})
        return process, json.loads(process.stdout.readline())

    @staticmethod
    def say(process, **message):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def call(self, process, what, id=1):
        self.say(process, id=id, method="tools/call", params={"name": "do", "arguments": {"what": what}})

    def test_a_server_that_dies_in_a_call_fails_it(self):
        gate = self.gate()
        process, _ = self.raw()
        self.call(process, "die")
        action = gate.pending()
        self.assertEqual(action["toolName"], "scripted.do")
        gate.approve(action["id"])
        ended = "The MCP server ended before it answered. The call may have run."
        self.assertEqual(json.loads(process.stdout.readline())["error"]["message"], ended)
        self.assertEqual(gate.action(action["id"], "failed")["error"], ended)
        self.assertEqual(process.wait(LIMIT), 1)

    def test_a_running_call_is_cancelled_at_the_server(self):
        gate = self.gate()
        process, _ = self.raw()
        self.call(process, "hold")
        action = gate.pending()
        gate.approve(action["id"])
        eventually("the server has it", lambda: any(it.get("method") == "tools/call" for it in self.seen()))
        self.say(process, method="notifications/cancelled", params={"requestId": 1})
        done = gate.action(action["id"], "executed")
        self.assertIn("cancelled in the middle", json.dumps(done["result"]))
        self.say(process, id=2, method="tools/list")
        self.assertEqual(json.loads(process.stdout.readline())["id"], 2, "no answer to what was cancelled")

    def test_a_signal_ends_it_within_seconds(self):
        gate = self.gate()
        for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process, _ = self.raw()
            self.call(process, "hold", id=1)
            action = gate.pending()
            gate.approve(action["id"])
            eventually("the server has it", lambda: any(it.get("method") == "tools/call" for it in self.seen()))
            self.call(process, "answer", id=2)
            waits = gate.pending()
            process.send_signal(end)
            self.assertEqual(process.wait(LIMIT), 0)
            self.assertEqual(gate.ask("GET", f"/{waits['id']}")["status"], "withdrawn")
            self.assertIn("It may have run", gate.ask("GET", f"/{action['id']}")["error"])
            (self.home / "seen").write_text("")

    def test_what_is_piped_in_is_answered_like_without_the_proxy(self):
        lines = b"".join(json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/list"}).encode() + b"\n" for n in range(20))
        done = subprocess.run(self.server(server=self.scripted()), env=environment(self.state), input=lines,
                              capture_output=True, timeout=LIMIT, check=True)
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], list(range(20)))

    def test_hostile_lines_reach_no_server(self):
        process, _ = self.raw()
        call = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"do","arguments":{"what":"owned"}}}'
        for line in (
            '{"method":"x","params":\r%s\r}' % call,
            '[%s]' % call,
            call.replace('"method"', '"method":"ping","method"'),
            call.replace('"method"', '"Method"'),
            call + call,
            call[:-1],
            "\ufeff" + call,
            '{"method":"x","params":"%s' % ("y" * (17 << 20)) + '"}',
        ):
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            self.assertIn(b'"error"', process.stdout.readline(), line[:100])
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT), 0)
        self.assertEqual([it["method"] for it in self.seen()], ["initialize"])

    def test_initialize_is_passed_on_at_once(self):
        process, answer = self.raw()
        passed = (time.monotonic() - float(answer["result"]["serverInfo"]["version"])) * 1000
        print(f"initialize: {passed:.1f} ms after the server's own answer", file=sys.stderr)


ALL = "REACH_ALL" in os.environ


@unittest.skipUnless(ALL, "only with --all")
class Everything(Case):
    @asynccontextmanager
    async def everything(self, **callbacks):
        async with self.client("--name", "every", server=[str(EVERYTHING)], **callbacks) as session:
            # It adds tools once it knows the client's capabilities.
            async def names():
                return [tool.name for tool in (await session.list_tools()).tools]
            yield session, names

    async def test_what_the_server_asks_of_its_client_passes(self):
        (self.state / "config.toml").write_text(
            '[mcp.every]\nopen = ["trigger-sampling-request", "trigger-elicitation-request", "get-roots-list"]\n')
        asked = []

        async def sample(context, params):
            asked.append("sampling")
            return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text="sampled words"), model="m")

        async def elicit(context, params):
            asked.append("elicitation")
            return types.ElicitResult(action="decline")

        async def roots(context):
            asked.append("roots")
            return types.ListRootsResult(roots=[types.Root(uri="file:///srv/root", name="a root")])
        async with self.everything(sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=roots) as (session, names):
            for tool, arguments, word in (("trigger-sampling-request", {"prompt": "hi"}, "sampled words"),
                                          ("trigger-elicitation-request", {}, "decline"), ("get-roots-list", {}, "a root")):
                for _ in range(100):
                    if tool in await names():
                        break
                said = words(await session.call_tool(tool, arguments))
                self.assertIn(word, "\n".join(said), tool)
        self.assertLessEqual({"sampling", "elicitation", "roots"}, set(asked))

    async def test_a_gated_call_asks_its_client_while_it_runs(self):
        gate = self.gate()

        async def sample(context, params):
            return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text="sampled words"), model="m")
        async with self.everything(sampling_callback=sample) as (session, names):
            for _ in range(100):
                if "trigger-sampling-request" in await names():
                    break
            call = asyncio.create_task(session.call_tool("trigger-sampling-request", {"prompt": "hi"}))
            action = await asyncio.to_thread(gate.pending)
            self.assertEqual(action["toolName"], "every.trigger-sampling-request")
            gate.approve(action["id"])
            self.assertIn("sampled words", "\n".join(words(await call)))
            await asyncio.to_thread(gate.action, action["id"], "executed")

    async def test_its_other_tools_are_as_they_were(self):
        async with self.everything() as (session, names):
            self.assertIn("placet_result", await names())
            self.assertEqual(words(await session.call_tool("echo", {"message": "é\u2028"})), ["Echo: é\u2028"])
            self.assertEqual(len((await session.list_resources()).resources) > 0, True)
            self.assertEqual(len((await session.list_prompts()).prompts) > 0, True)
            structured = await session.call_tool("get-structured-content", {"location": "New York"})
            self.assertIn("temperature", structured.structured_content)


class Agent:
    """Tests for every agent. Its server is set up by its manual, then wrapped by `placet mcp wrap`."""

    NAME = AGENT = WRITE = RESULT = None
    MORE = {}

    def setUp(self):
        super().setUp()
        self.state = self.home / ".local/state/placet"
        self.state.mkdir(parents=True)
        (self.state / "config.toml").write_text("")
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "dumb", "LANG": "C.UTF-8"}
        self.provider = Provider([])
        self.addCleanup(self.provider.close)
        self.configure()
        self.own = self.settings().read_text()
        self.placet("wrap")

    def placet(self, word):
        subprocess.run([PLACET, "mcp", word, self.NAME, "fs", "--yes"], env=self.environment, cwd=self.work, check=True,
                       capture_output=True, timeout=LIMIT)

    def calls(self, tool, given):
        """Sets the model's next step."""
        self.provider.steps.append({"tool": tool, "input": given, **self.MORE})

    def begin(self, text):
        self.calls(self.WRITE, {"path": str(self.work / "note.txt"), "content": text})
        said = open(self.home / "said", "w")
        self.addCleanup(said.close)
        process = subprocess.Popen(self.command(), cwd=self.work, env={**self.environment, **self.more()}, stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=said, start_new_session=True)

        def end():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.addCleanup(end)
        return process

    def more(self):
        return {}

    def proposed(self, gate):
        try:
            return gate.pending()
        except AssertionError as error:
            raise AssertionError((self.home / "said").read_text()[-4000:]) from error

    def test_an_edited_call_runs_and_the_model_reads_of_it(self):
        gate = self.gate()
        process = self.begin("agent")
        action = self.proposed(gate)
        self.assertEqual((action["agent"], action["toolName"]), (self.AGENT, "fs.write_file"))
        gate.approve(action["id"], {"content": "human"})
        process.wait(2 * LIMIT)
        self.assertEqual(self.note, "human")
        gate.action(action["id"], "executed")
        self.assertIn("A human changed this call before it ran.", self.provider.results()[0])

    def test_a_parked_call_runs_when_the_model_asks_for_it(self):
        settings = self.settings()
        text = settings.read_text()
        self.assertIn('"fs", "--", ', text)
        settings.write_text(text.replace('"fs", "--", ', '"fs", "--wait", "10", "--", '))
        gate = self.gate()
        process = self.begin("agent")
        id = self.proposed(gate)["id"]
        self.calls(self.RESULT, {"id": id})
        results = eventually("the call is parked", self.provider.results)
        self.assertIn(f"It waits for a human as {id}.", results[0])
        gate.approve(id)
        process.wait(2 * LIMIT)
        self.assertEqual(self.note, "agent")
        gate.action(id, "executed")
        self.assertIn("Successfully wrote", self.provider.results()[1])

    def test_unwrapped_its_settings_are_as_before(self):
        self.placet("wrap")
        self.assertNotEqual(self.settings().read_text(), self.own)
        self.placet("unwrap")
        self.assertEqual(self.settings().read_text(), self.own)

    def program(self, package, name):
        return str(REACH / package / "node_modules/.bin" / name)


@unittest.skipUnless(ALL, "only with --all")
class ClaudeCode(Agent, Case):
    NAME, AGENT, WRITE, RESULT = "claude-code", "claude-code", "mcp__fs__write_file", "mcp__fs__placet_result"

    def settings(self):
        return self.home / ".claude.json"

    def configure(self):
        self.settings().write_text(json.dumps({"mcpServers": {"fs": {"command": str(FILESYSTEM), "args": [str(self.work)]}}}))

    def command(self):
        return [self.program("claude-code", "claude"), "-p", "--allowedTools", "mcp__fs", "--", "go"]

    def more(self):
        return {"ANTHROPIC_BASE_URL": self.provider.url, "ANTHROPIC_API_KEY": "x", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "MCP_CONNECTION_NONBLOCKING": "0"}


@unittest.skipUnless(ALL, "only with --all")
class Codex(Agent, Case):
    NAME, AGENT, WRITE, RESULT = "codex", "codex", "write_file", "placet_result"
    MORE = {"namespace": "mcp__fs"}

    def settings(self):
        return self.home / ".codex/config.toml"

    def configure(self):
        self.settings().parent.mkdir()
        self.settings().write_text(
            '# ours\nmodel = "scripted"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
            f'base_url = "{self.provider.url}/v1"\nwire_api = "responses"\n\n'
            f"[mcp_servers.fs]\ncommand = '{FILESYSTEM}' # the server\nargs = ['{self.work}']\nrequired = true\n")

    def command(self):
        return [self.program("codex", "codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"]


@unittest.skipUnless(ALL, "only with --all")
class GeminiCli(Agent, Case):
    NAME, AGENT, WRITE, RESULT = "gemini", "gemini-cli", "mcp_fs_write_file", "mcp_fs_placet_result"

    def settings(self):
        return self.home / ".gemini/settings.json"

    def configure(self):
        self.settings().parent.mkdir()
        server = {"command": str(FILESYSTEM), "args": [str(self.work)]}
        security = {"auth": {"selectedType": "gemini-api-key"}}
        self.settings().write_text(json.dumps({"security": security, "mcpServers": {"fs": server}}, indent=2))

    def command(self):
        return [self.program("gemini-cli", "gemini"), "-p", "go", "--yolo", "--skip-trust", "--model", "gemini-2.5-pro"]

    def more(self):
        return {"GOOGLE_GEMINI_BASE_URL": self.provider.url, "GEMINI_API_KEY": "x"}


@unittest.skipUnless(ALL, "only with --all")
class Opencode(Agent, Case):
    NAME, AGENT, WRITE, RESULT = "opencode", "opencode", "fs_write_file", "fs_placet_result"

    def settings(self):
        return self.work / "opencode.json"

    def configure(self):
        provider = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "models": {"scripted": {"name": "scripted"}},
                    "options": {"baseURL": self.provider.url + "/v1", "apiKey": "x"}}
        server = {"type": "local", "command": [str(FILESYSTEM), str(self.work)], "enabled": True}
        self.settings().write_text(json.dumps({
            "$schema": "https://opencode.ai/config.json", "model": "scripted/scripted", "small_model": "scripted/scripted",
            "autoupdate": False, "share": "disabled", "provider": {"scripted": provider}, "mcp": {"fs": server}}, indent=1))

    def command(self):
        return [self.program("opencode", "opencode"), "run", "go"]


if __name__ == "__main__":
    unittest.main(verbosity=2)
